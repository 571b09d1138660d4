"""Whether a range lies somewhere in the video: "from 5 to 8 seconds" does, "he waited 5 to 8 seconds" does not."""

from __future__ import annotations

import functools
import re
from enum import Enum, auto

from truemoment.data.answers.words import FOLLOWERS, VIDEO, one_of


class Wording(Enum):
    """What kind of text a moment is.

    "5 to 8 seconds" has one unit, behind its second time, as lengths and counts have. "5 s to 8 s" and "0:05 - 0:08"
    have two. "(5, 8)" is a pair, as a point is. A start and an end that are named are neither.
    """

    BARE = auto()
    PAIR = auto()
    OTHER = auto()
    TWO_UNITS = auto()
    ONE_UNIT = auto()
    ONE_UNIT_SECOND = auto()
    ONE_UNIT_OF_MINUTES = auto()
    OF_A_DAY = auto()


_HAS_ONE_UNIT = re.compile(r"(?:[\d.,]+|[a-z-]+) ?(?:-+|~|to|and|until|till)\b")
_OF_MINUTES = re.compile(r"\b(?:min|minutes?|hours?)\Z")
_MAY_BE_OF_A_DAY = re.compile(r"(?:[6-9]|1\d|2[0-3]):[0-5]\d(?![\d:.])")

NAMED_SPAN = one_of("mark range interval window segment span period portion timeframe frame part section stretch")
_PLACES = one_of(
    """from between at is are was be during amid via on and but or to as like say confirm i.e. namely form second
    seconds sec minute minutes frame frames timestamp timestamps time times span spans covers covering occupies matches
    match answer clip segment moment interval range window period section part scene event events result prediction
    output it's that's either both then then_from first happens occurs happening occurring located seen visible
    somewhere by that estimate runs go_for approximate t so therefore thus hence
    da dal dalle tra fra antara ab von vom zeitraum_von em en nos nas no los las el la aux aos a pendant durante im
    den in_den während nei nel nello pada di trong vào op w na"""
)
"""Words before a range that place it; the last lines are of languages other than English."""
_ABOUT = one_of(
    """about around approximately roughly circa ca ~ only just exactly maybe perhaps probably possibly likely the
    actually really rather instead indeed most_likely"""
)
_PLACED = re.compile(
    rf"(?:\A|[^a-z \t]|\b{_PLACES}|\b(?:happen|occur|locat|found|lie|place|seen|shown|visible|falls?)[a-z]* in"
    rf"|\b{NAMED_SPAN} of)[ \t]*(?:\b{_ABOUT}[ \t]*)*\Z"
)
_SENTENCE_BEGINS = re.compile(r"(?:\A|[.!?\n])[ \t]*\Z")
_WORD_BEHIND = re.compile(r" ([a-z']+)")
_NAMED_BEHIND = re.compile(rf"[ -]{{0,2}}{NAMED_SPAN}\b|(?:'[a-z]{{1,3}})? kadar\b| into the {VIDEO}\b")
_IS = re.compile(r"\b(?:is|are|was|were)[ \t]+\Z")
_A_MOMENT = one_of(
    "it this that one answer match candidate candidates event prediction result clip action activity scene time times"
)
_A_MOMENT_IS = re.compile(
    rf"\b{_A_MOMENT}"
    r"\b[^.;\n]{0,40}\b(?:is|are|was|be)\b[a-z ]*\Z"
    rf"|\b(?:moment|timestamp|{NAMED_SPAN})s?\b[^.;\n]{{0,40}}\b(?:is|are|was|be)\b[a-z ]*\Z"
)


def kind_of(moment: str, how: str = "a range", *, is_bare: bool = False) -> Wording:
    """Return the kind of a moment, given its text, how it was recognised, and whether it has no unit.

    Examples
    --------
    >>> kind_of("5 to 8 minutes").name
    'ONE_UNIT_OF_MINUTES'
    """
    if _MAY_BE_OF_A_DAY.match(moment):
        return Wording.OF_A_DAY
    if how != "a range":
        return Wording.PAIR if is_bare and how == "a pair in brackets" else Wording.OTHER
    if is_bare:
        return Wording.BARE
    if not _HAS_ONE_UNIT.match(moment):
        return Wording.TWO_UNITS
    if moment.endswith("second"):
        return Wording.ONE_UNIT_SECOND
    return Wording.ONE_UNIT_OF_MINUTES if _OF_MINUTES.search(moment) else Wording.ONE_UNIT


@functools.lru_cache(maxsize=4096)
def is_placed(before: str, kind: Wording, behind: str) -> bool:
    """Whether a moment lies somewhere, as far as the words directly before and behind it say.

    Examples
    --------
    >>> is_placed("the man waited ", Wording.ONE_UNIT, "."), is_placed("in the ", Wording.ONE_UNIT_SECOND, " window")
    (False, True)
    """
    if kind is Wording.OTHER or _NAMED_BEHIND.match(behind):
        return True
    if kind is Wording.PAIR:
        before = before.rstrip(" \n\t([{<\"'")
    if kind in (Wording.ONE_UNIT, Wording.ONE_UNIT_OF_MINUTES) and _SENTENCE_BEGINS.search(before):
        word = _WORD_BEHIND.match(behind)
        if word is not None and word[1] not in FOLLOWERS:
            return False  # "12 to 15 seconds pass"
    if _IS.search(before) and not _A_MOMENT_IS.search(before):
        return False
    return _PLACED.search(before[-40:]) is not None
