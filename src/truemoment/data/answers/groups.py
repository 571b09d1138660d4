"""Moments listed together are one answer; moments in separate sentences are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from truemoment.data.answers import words
from truemoment.data.answers.moments import REACH, Moment
from truemoment.data.answers.part import Extract

_WORD = re.compile(r"[a-z_]+|[^\sa-z_]")
_TAG = re.compile(r"</?[a-z_]{1,20}>")
_VALUES = re.compile(
    r'"[^"\n]{0,300}"(?=\s*[,}\]])|"[a-z0-9_ ]{1,40}"\s?:|:\s?[\d.]+(?=\s*[,}\]])|(?<=[:\s])[\d.]+(?=\s*[,}])'
)
_SCORE = re.compile(r"\((?:conf|score|prob|certain|iou|p\b)[^()]{0,24}\)")
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)")
_LINE_BEGINS = re.compile(r"(?:\A|\n)[ \t]{0,4}(?:(?:[-•]|\(?\d{1,2}[.):])[ \t]{1,4})?[\[(]?\Z")
_END_OF_SENTENCE = re.compile(r"\A[^.!?\n]{0,24}[.!?\n]+\s*")
_SENTENCE_BEGINS = re.compile(r"(?:\A|[.\n])[ \t]{0,2}\Z")
_IS_CUE = re.compile(r"\n[^\n]+(?:\n[^\n]+)?\n\n(?:\d+\n)?")
"""The text of a cue of subtitles, and the number of the next."""
_BULLET = re.compile(
    r"(?:^|(?<=\n))[ \t]{0,4}(?:\(?\d{1,2}[.):]|[-•])[ \t]{0,4}|\(\d{1,2}\)|(?<=[\s,;])\d{1,2}[.)](?=\s)"
)
_NUMBERED = re.compile(rf"\b({words.COUNTED_MOMENT}) ?#?\d{{1,2}}\b")


def group(text: str, moments: Sequence[Moment]) -> list[list[Moment]]:
    """Group moments that only connecting words separate."""
    groups: list[list[Moment]] = [[moment] for moment in moments[:1]]
    for last, moment in pairwise(moments):
        between = text[last.stop : moment.begin]
        if _connects(between) or _are_listed(text, last, moment) or _have_one_text(text, last, moment):
            if not _is_repeated(last, moment, between):
                groups[-1].append(moment)
            else:
                groups[-1][-1] = last._replace(stop=moment.stop)
        else:
            groups.append([moment])
    return groups


def _is_repeated(last: Moment, moment: Moment, between: str) -> bool:
    """Whether a moment is the last one repeated, to the digit or in brackets: "12.3 to 20.5 s (0:12 - 0:20)"."""
    if (last.start, last.end) == (moment.start, moment.end):
        return True
    near = abs(last.start - moment.start) < 1 and abs(last.end - moment.end) < 1
    return near and bool(re.search(r"[(\[=]|\bor\b|i\.e", between))


def _are_listed(text: str, last: Moment, moment: Moment) -> bool:
    """Whether both moments begin a line or cue, the one right below the other, or a sentence right after the other."""
    between = text[last.stop : moment.begin]
    if len(between) > 4 * REACH:
        return False
    if _IS_CUE.fullmatch(between) is not None:
        return True
    if between.count("\n") == 1:
        return all(_begins(_LINE_BEGINS, text, member) for member in (last, moment))
    if "\n" in between:
        return False
    one_sentence = len(_SENTENCE_END.findall(between.rstrip())) == 1
    return one_sentence and all(_begins(_SENTENCE_BEGINS, text, member) for member in (last, moment))


def _begins(pattern: re.Pattern[str], text: str, moment: Moment) -> bool:
    return pattern.search(text, max(moment.begin - 16, 0), moment.begin) is not None


def _have_one_text(text: str, last: Moment, moment: Moment) -> bool:
    """Whether two moments have the same words behind them ("1 - 2 s, he sits. 5 - 6 s, he sits."), or before them."""
    between = text[last.stop : moment.begin]
    follows = between.strip(" ,:.\n")
    if len(follows) > 3 and text[moment.stop :].lstrip(" ,:.\n").startswith(follows):
        return True
    sentence = _END_OF_SENTENCE.sub("", between)
    return len(sentence) > 8 and text[: last.begin].endswith(sentence)


def _connects(between: str) -> bool:
    if len(between) > 4 * REACH:
        return False
    if "(" in between:
        between = _SCORE.sub(" ", between)
    if "}" in between or '"' in between:
        between = _VALUES.sub(" ", between)
    between = _NUMBERED.sub(r"\1", _BULLET.sub(" ", _TAG.sub(" ", between)))
    if _SENTENCE_END.search(between.rstrip()) and between.strip(" \n") != ".":
        between = between if "\n" in between else f"{between} never"
    tokens = _WORD.findall(between.replace(".", " ") if "\n" in between else between)
    return words.CONNECTING.issuperset(tokens)


def alternatives(text: str, moments: Sequence[Moment]) -> bool:
    """Whether "or" separates two moments."""
    return any(
        re.fullmatch(r"\W{0,4}(?:or|either|maybe|possibly)\b[\w ]{0,30}", text[a.stop : b.begin].strip(" ,"))
        for a, b in pairwise(moments)
    )


def is_chosen(part: Extract, groups: Sequence[Sequence[Moment]], selected: Sequence[Moment]) -> bool:
    """Whether a text with several groups of moments says that the selected one is the answer.

    It is marked, named by keys, repeated, within another one, or a word such as "so" or "actually" leads to it.
    """
    if part.marked or all(moment.how == "a start and an end" for moment in selected):
        return True
    last = selected[-1]
    others = [moment for of_group in groups if of_group is not selected for moment in of_group]
    if any(moment.start <= last.start and last.end <= moment.end for moment in others):
        return True
    before = max((moment.stop for moment in others if moment.stop <= selected[0].begin), default=0)
    return _CHOICE.search(part.text, before) is not None


def undecided(text: str) -> bool:
    """Whether a text with several moments leaves open which of them is the answer."""
    return _UNDECIDED.search(text) is not None


_CHOICE = re.compile(words.CHOICE)
_UNDECIDED = re.compile(words.UNDECIDED)
