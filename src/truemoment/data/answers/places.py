"""Whether a range lies somewhere in the video: "from 5 to 8 seconds" does, "he waited 5 to 8 seconds" does not."""

from __future__ import annotations

import functools
import re
from enum import Enum, auto

from truemoment.data.answers.words import FOLLOWERS, VIDEO, one_of


class Wording(Enum):
    """What kind of text a moment is.

    "5 to 8 seconds" has one unit, behind its second time, as lengths and counts have. "5 s to 8 s" and "0:05 - 0:08"
    have two. "(5, 8)" is a pair, as a point is. "9:00 - 10:30" may be hours of a day. A start
    and an end that are named are none of these.
    """

    BARE = auto()
    PAIR = auto()
    OTHER = auto()
    TWO_UNITS = auto()
    ONE_UNIT = auto()
    ONE_UNIT_SECOND = auto()
    ONE_UNIT_OF_MINUTES = auto()
    OF_A_DAY = auto()
    OF_ROUND_HOURS = auto()


NAMED_SPAN = one_of("mark range interval window segment span period portion timeframe frame part section stretch")
_HAS_ONE_UNIT = re.compile(r"(?:[\d.,]+|[a-z-]+) ?(?:-+|~|to|and|until|till)\b")
_OF_MINUTES = re.compile(r"\b(?:min|minutes?|hours?)\Z")
_HOUR = r"(?:0?[6-9]|1\d|2[0-3])"
MAY_BE_OF_A_DAY = re.compile(rf"{_HOUR}:[0-5]\d(?![\d:.])")
_ROUND_HOURS = re.compile(rf"{_HOUR}:[0-5][05](?![\d:.]).*\D{_HOUR}:[0-5][05]")
_OF_THE_VIDEO = re.compile(
    rf"\b(?:{VIDEO}|happen|occur|appear|{NAMED_SPAN}|moment|event|action|seen|visible|shown|answer)"
)
"""Beside round hours: they are minutes of the video."""
_LABELLED = re.compile(
    r"(?:\A|[\n{,.;(|]\s?)(?:[\"'](?P<key>[a-z][\w ]{0,30})[\"']|(?P<label>[a-z_]{1,20}(?: [a-z]{1,20})?))"
    r"\s?[:=]\s?[\"'\[({\s]*\Z"
)
_OF_A_MOMENT = re.compile(
    r"time|stamp|start|begin|from|onset|(?:\A|_)(?:st?|t\d?|in|ed?)(?:_|\Z)|segment|moment|window|interval|span|range"
    r"|period|section|clip|scene|part|event|action|occur|instance|answer|result|pred|output|estimate|guess|final|match"
    r"|locat|locali|ground|relevant|correct|sec|minute|percent|frame|bound|approx"
    r"|(?:\A| )(?:so|thus|therefore|hence|that|it|here|is|are|for|better)\Z"
)
"""Part of a label or key of moments."""

_PLACES = one_of(
    """from between at is are was be during amid via on and but or to as like say confirm i.e. namely form second
    seconds sec minute minutes frame frames timestamp timestamps time times span spans covers covering occupies matches
    match answer clip segment moment interval range window period section part scene event events result prediction
    output it's that's either both then then_from first happens occurs happening occurring located seen visible
    somewhere answered_by followed_by given_by that estimate runs go_for approximate t so therefore thus hence
    da dal dalle tra fra antara ab von vom zeitraum_von em en nos nas no los las el la aux aos a pendant durante im
    den in_den während nei nel nello pada di trong vào op w na"""
)
"""Words before a range that place it; the last lines are of languages other than English."""
_ABOUT = one_of(
    """about around approximately roughly circa ca ~ only just exactly maybe perhaps probably possibly likely the
    actually really rather instead indeed most_likely"""
)
_PLACED = re.compile(
    rf"(?:\A|[^a-z \t]|\b{_PLACES}|\b(?:happen|occur|locat|found|lie|place|seen|shown|visible|falls?)[a-z]* (?:with)?in"
    rf"|\b{NAMED_SPAN} of)[ \t]*(?:\b{_ABOUT}[ \t]*)*\Z"
)
_SENTENCE_BEGINS = re.compile(r"(?:\A|[.!?\n])[ \t]*\Z")
_IN = re.compile(r"(?:\A|[.!?\n] ?)in[ \t]*\Z")
_WORD_BEHIND = re.compile(r" ([a-z']+)")
_NAMED_BEHIND = re.compile(rf"[ -]{{0,2}}{NAMED_SPAN}\b|(?:'[a-z]{{1,3}})? kadar\b| into the {VIDEO}\b")
_IS = re.compile(r"\b(?:is|are|was|were)(?P<from> from| between)?[ \t]*\Z")
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
    if MAY_BE_OF_A_DAY.match(moment):
        return Wording.OF_ROUND_HOURS if how == "a range" and _ROUND_HOURS.fullmatch(moment) else Wording.OF_A_DAY
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
    if kind is Wording.OF_ROUND_HOURS and not _OF_THE_VIDEO.search(before + behind):
        return not before.strip()
    if kind is Wording.PAIR:
        before = before.rstrip(" \n\t([{<\"'")
    if kind in (Wording.ONE_UNIT, Wording.ONE_UNIT_OF_MINUTES) and _SENTENCE_BEGINS.search(before):
        word = _WORD_BEHIND.match(behind)
        if word is not None and word[1] not in FOLLOWERS:
            return False  # "12 to 15 seconds pass"
    if _is_of_another(before, kind):
        return False
    return _PLACED.search(before[-40:]) is not None or (kind is Wording.TWO_UNITS and _IN.search(before) is not None)


def _is_of_another(before: str, kind: Wording) -> bool:
    """Whether what has the numbers is no moment: "steps: 3-5", "the delay is 5 to 8 seconds"."""
    labelled = _LABELLED.search(before) if kind in (Wording.PAIR, Wording.BARE) else None
    if labelled is not None and not _OF_A_MOMENT.search(labelled["key"] or labelled["label"]):
        return True
    verb = _IS.search(before)
    return verb is not None and (kind is Wording.BARE or not verb["from"]) and not _A_MOMENT_IS.search(before)
