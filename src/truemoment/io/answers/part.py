"""Which part of a text is the answer: not the reasoning, and what tags, boxes or "answer:" mark as it."""

from __future__ import annotations

import re
from typing import NamedTuple

from truemoment.io.answers import words
from truemoment.io.answers.times import any_of

_THOUGHT_ENDS = re.compile(rf"</{words.THOUGHT}>")
_THOUGHT_BEGINS = re.compile(rf"<{words.THOUGHT}>")
_ANSWER = re.compile(rf"<(?P<end>/?){words.ANSWER_TAG}>|<\|begin_of_box\|>|(?P<box>\\boxed\{{)")
_TIMES = re.compile(rf"<(?P<end>/?)(?P<tag>{words.TIME_TAG})>")
_BRACE = re.compile(r"[{}]")
_MARK = re.compile(words.ANSWER_MARK)


class Part(NamedTuple):
    """The part of a text that is looked at.

    Parameters
    ----------
    begin
        Where it begins in the whole text.
    text
        Its characters; what lies between marked parts is blanked.
    marked
        Whether something marks it as the answer.
    first
        Whether the answer stands at its beginning, as behind "answer:"; what follows explains it.
    fault
        Why it cannot be trusted; "" if it can.
    """

    begin: int
    text: str
    marked: bool = False
    first: bool = False
    fault: str = ""


def parts(text: str) -> list[Part]:
    """Return the parts of a text that may be the answer, best first; the next is looked at if one tells nothing.

    Parameters
    ----------
    text
        Written by :func:`~truemoment.io.answers.times.plain`.

    Examples
    --------
    >>> [part.text for part in parts("<think>from 1 to 2</think> the answer is: 3 to 4")]
    [' 3 to 4', ' the answer is: 3 to 4']
    """
    if "<" not in text and "boxed" not in text:
        return [*_behind_mark(text, 0), Part(0, text)]
    thought = _last(_THOUGHT_ENDS, text, 0)
    begin = 0 if thought is None else thought.end()
    opened = _last(_THOUGHT_BEGINS, text, begin)
    rest = text[begin:]
    tagged = _tagged(rest)
    timed = _timed(rest)
    of_times = [] if timed is None else [Part(begin, timed, marked=True)]
    if tagged is not None:
        return [tagged._replace(begin=begin + tagged.begin), *of_times]
    if opened is not None:
        return [Part(begin, rest, fault="reasoning that is cut off before an answer")]
    return [*of_times, *_behind_mark(rest, begin), Part(begin, rest)]


def _behind_mark(text: str, begin: int) -> list[Part]:
    """Return what stands behind the last "answer:", if there is one."""
    if not any_of(words.ANSWER_WORDS, text):
        return []
    mark = _last(_MARK, text, 0)
    return [] if mark is None else [Part(begin + mark.end(), text[mark.end() :], marked=True, first=True)]


def _last(pattern: re.Pattern[str], text: str, begin: int) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text, begin):
        found = match
    return found


def _tagged(text: str) -> Part | None:
    """Return what stands in the last answer tag or box; one that is not closed runs to the end of the text."""
    opening = closing = None
    for tag in _ANSWER.finditer(text):
        if not tag["end"]:
            opening, closing = tag, None
        elif opening is not None and closing is None:
            closing = tag
    if opening is None:
        return None
    end = closing.start() if closing is not None else len(text)
    if opening["box"]:
        end = _closing(text, opening.end())
    return Part(opening.end(), text[opening.end() : end], marked=True)


def _closing(text: str, begin: int) -> int:
    """Return where the brace that is open at `begin` closes, or the text's end."""
    depth = 1
    for brace in _BRACE.finditer(text, begin):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.start()
    return len(text)


def _timed(text: str) -> str | None:
    """Blank all but what stands in tags of times; None if there are none."""
    pieces, at, opening = [], 0, None
    for tag in _TIMES.finditer(text):
        if not tag["end"]:
            opening = opening or tag
        elif opening is not None and opening["tag"] == tag["tag"]:
            pieces += ["\n" * (opening.end() - at), text[opening.end() : tag.start()]]
            at, opening = tag.start(), None
    return "".join(pieces) if pieces else None
