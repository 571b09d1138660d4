"""Moments in an answer that are not the answer: lengths, other numbers, denied or additional moments."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from truemoment.data.answers import words
from truemoment.data.answers.moments import LABEL_REACH, Moment
from truemoment.data.answers.times import in_seconds

_ANY_SIGN = re.compile(words.ASIDE_SIGN)
_NOTHING_OF_IT = re.compile(words.OTHER_RANGE)
_OF_THE_VIDEO = re.compile(words.EXTENT_OF_VIDEO)
_LENGTH = re.compile(words.LENGTH_RANGE)
_LONG = re.compile(r"[\s-]{1,2}long\b")
_DENIED = re.compile(words.DENIED_RANGE)
_BESIDE = re.compile(words.BESIDE)
_EXAMPLE = re.compile(words.EXAMPLE)
_UNIT = re.compile(words.UNIT_BEFORE)
_KEY_UNIT = re.compile(r"_(?P<unit>ms|msec|millis|milliseconds?|minutes?)[\"']?\s?[:=]\s?[\"']?\Z")
_UNIT_KEY = re.compile(
    r"\"units?\"\s?:\s?\"(?:(?P<frame>frames?|frame_ind\w+)|(?P<percent>percent(?:ages?)?|%)"
    r"|(?P<other>ms|msec|milliseconds?|minutes?|mins?|hours?))\""
)
_FROM_A_TIME = re.compile(r"\s(?:before|after)\s(?:the )?\d")
_OF_A_TIME = re.compile(r"\sof\s(?:the )?\d")
_WITHIN = re.compile(r"\bwithin \Z")


class Sorted(NamedTuple):
    """Moments that may be the answer, and asides, which are the answer only if there is no other."""

    moments: list[Moment]
    asides: list[Moment]


def sort_out(text: str, moments: Sequence[Moment]) -> Sorted:
    """Separate moments that may be the answer from asides, whose `fault` is the reason.

    The extent of the whole video, ranges of scores and the like are dropped.

    Examples
    --------
    >>> from truemoment.data.answers.times import find_times
    >>> from truemoment.data.answers.moments import find_moments
    >>> text = "12 to 20 s, instead of 30 to 40 s (confidence: 0.8 to 0.9)"
    >>> moments, aside = sort_out(text, find_moments(text, find_times(text)))
    >>> [moment.start for moment in moments], [(moment.start, moment.fault) for moment in aside]
    ([12.0], [(30.0, 'a moment that is denied')])
    """
    groups = Sorted([], [])
    used_to = 0
    for moment in moments:
        before = text[max(used_to, moment.begin - LABEL_REACH) : moment.begin]
        used_to = moment.stop
        behind = _FROM_A_TIME.match(text, moment.stop) or _LONG.match(text, moment.stop)
        if not behind and not _ANY_SIGN.search(before) and '"unit' not in text:
            groups.moments.append(moment)  # most by far; the patterns below take time
            continue
        if _NOTHING_OF_IT.search(before) or _OF_THE_VIDEO.search(before):
            continue
        why = _why_aside(text, moment, before)
        if why:
            groups.asides.append(moment._replace(fault=moment.fault or why))
        else:
            groups.moments.append(_in_named_unit(text, moment, before))
    return groups


def _why_aside(text: str, moment: Moment, before: str) -> str:
    """Return why a moment is not part of the answer; "" if it is not."""
    if (_LENGTH.search(before) or _LONG.match(text, moment.stop)) and moment.how == "a range":
        return "a length"
    if _DENIED.search(before):
        return "a moment that is denied"
    if _BESIDE.search(before):
        return "a moment beside it"
    if _EXAMPLE.search(before):
        return "an example"
    relative = _FROM_A_TIME.match(text, moment.stop) or (_WITHIN.search(before) and _OF_A_TIME.match(text, moment.stop))
    return "relative to another time" if relative else ""


def _in_named_unit(text: str, moment: Moment, before: str) -> Moment:
    """Return a moment of bare numbers in the unit that is named before it: "frames from 12 to 20"."""
    named = None if moment.unit else _UNIT.search(before) or _UNIT_KEY.search(text)
    if named is None:
        return moment
    key = _KEY_UNIT.search(before)
    if key is not None and (math.isinf(moment.end) or f"_{key['unit']}" in text[moment.begin : moment.stop]):
        factor = 60 if key["unit"].startswith("minute") else 0.001
        return moment._replace(unit="s", start=in_seconds(moment.start, factor), end=in_seconds(moment.end, factor))
    if named["frame"] or named["percent"]:
        return moment._replace(unit="frame" if named["frame"] else "%")
    return moment._replace(fault=moment.fault or f"counts {named['other']}, which --axis does not know")
