"""Which part of a text is the answer: not the reasoning; marked by tags, boxes or "answer:"."""

from __future__ import annotations

import re
from typing import NamedTuple

from truemoment.data.answers import words
from truemoment.data.answers.times import any_of

_THOUGHT_ENDS = re.compile(rf"</{words.THOUGHT}>")
_THOUGHT_BEGINS = re.compile(rf"<{words.THOUGHT}>")
_ANSWER = re.compile(rf"<(?P<end>/?){words.ANSWER_TAG}>|<\|begin_of_box\|>|(?P<box>\\boxed\{{)")
_TIMES = re.compile(rf"<(?P<end>/?)(?P<tag>{words.TIME_TAG})>")
_LETTER = re.compile(r"\W{0,4}[a-h]\W{0,4}")
_BRACE = re.compile(r"[{}]")
_MARK = re.compile(words.ANSWER_MARK)


class Extract(NamedTuple):
    """A part of a text, from `begin`; text between marked parts is blanked.

    `marked` as the answer; `first` if the answer is at its start, as after "answer:". `fault` is why it cannot be
    trusted.
    """

    begin: int
    text: str
    marked: bool = False
    first: bool = False
    fault: str = ""

    def place(self, begin: int, end: int) -> tuple[int, int]:
        """Return the positions in the whole text of characters of this part."""
        return self.begin + begin, self.begin + end


def parts(text: str) -> list[Extract]:
    """Return the parts of a plain text that may be the answer, best first.

    Examples
    --------
    >>> [part.text for part in parts("<think>from 1 to 2</think> the answer is: 3 to 4")]
    [' 3 to 4', ' the answer is: 3 to 4']
    """
    if "<" not in text and "boxed" not in text:
        whole = Extract(0, text)
        return [*_behind_mark(whole), whole]
    thought = _last(_THOUGHT_ENDS, text, 0)
    begin = 0 if thought is None else thought.end()
    opened = _last(_THOUGHT_BEGINS, text, begin)
    rest = text[begin:]
    tagged = _tagged(rest)
    timed = _timed(rest)
    of_times = [] if timed is None else [Extract(begin, timed, marked=True)]
    if tagged is not None:
        return [tagged._replace(begin=begin + tagged.begin), *of_times]
    whole = Extract(begin, rest)
    if opened is not None:
        return [whole._replace(fault="reasoning that is cut off before an answer")]
    return [*of_times, *_behind_mark(whole), whole]


def _behind_mark(part: Extract) -> list[Extract]:
    """Return what is after the last "answer:", if there is one."""
    if not any_of(words.ANSWER_WORDS, part.text):
        return []
    mark = _last(_MARK, part.text, 0)
    if mark is None:
        return []
    at = mark.end()
    fault = "a letter of an option" if _LETTER.fullmatch(part.text, at) else ""
    return [Extract(part.begin + at, part.text[at:], marked=True, first=True, fault=fault)]


def _last(pattern: re.Pattern[str], text: str, begin: int) -> re.Match[str] | None:
    last = None
    for match in pattern.finditer(text, begin):
        last = match
    return last


def _tagged(text: str) -> Extract | None:
    """Return what is in the last answer tag or box; one that is not closed runs to the end of the text."""
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
    return Extract(opening.end(), text[opening.end() : end], marked=True)


def _closing(text: str, begin: int) -> int:
    """Return where the brace that is open at `begin` closes, or the text's end."""
    depth = 1
    for brace in _BRACE.finditer(text, begin):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.start()
    return len(text)


def _timed(text: str) -> str | None:
    """Blank all but what is in tags of times; None if there are none."""
    pieces, at, opening = [], 0, None
    for tag in _TIMES.finditer(text):
        if not tag["end"]:
            opening = opening or tag
        elif opening is not None and opening["tag"] == tag["tag"]:
            pieces += ["\n" * (opening.end() - at), text[opening.end() : tag.start()]]
            at, opening = tag.start(), None
    return "".join(pieces) if pieces else None
