"""Moments in an answer that are not the answer, and the unit that is named beside a moment."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from truemoment.data.answers import words
from truemoment.data.answers.contexts import NEAR, NO_MOMENT, NOT_PLACED, context_of
from truemoment.data.answers.moments import Moment
from truemoment.data.answers.times import in_seconds

_UNIT = re.compile(words.UNIT_BEFORE)
_KEY_UNIT = re.compile(r"_(?P<unit>ms|msec|millis|milliseconds?|minutes?)[\"']?\s?[:=]\s?[\"']?\Z")
_UNIT_KEY = re.compile(
    r"\"units?\"\s?:\s?\"(?:(?P<frame>frames?|frame_ind\w+)|(?P<percent>percent(?:ages?)?|%)"
    r"|(?P<other>ms|msec|milliseconds?|minutes?|mins?|hours?|fractions?))\""
)


class Sorted(NamedTuple):
    """Moments that may be the answer, and asides, which make an answer without others ambiguous."""

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
        before = text[max(used_to, moment.begin - NEAR) : moment.begin]
        behind = text[moment.stop : moment.stop + NEAR]
        used_to = moment.stop
        why = context_of(before, text[moment.begin : moment.stop], behind, moment.how, is_bare=not moment.unit)
        if why == NOT_PLACED:  # what it is remains open, so that an answer of it is ambiguous
            groups.moments.append(moment._replace(fault=moment.fault or why))
        elif not why:
            groups.moments.append(_in_named_unit(text, moment, before))
        elif why != NO_MOMENT:
            groups.asides.append(moment._replace(fault=moment.fault or why))
    return groups


def _in_named_unit(text: str, moment: Moment, before: str) -> Moment:
    """Return a moment of bare numbers in the unit that is named before it: "frames from 12 to 20"."""
    named = None if moment.unit else _UNIT.search(before) or (_UNIT_KEY.search(text) if '"unit' in text else None)
    if named is None:
        return moment
    key = _KEY_UNIT.search(before)
    if key is not None and (math.isinf(moment.end) or f"_{key['unit']}" in text[moment.begin : moment.stop]):
        factor = 60 if key["unit"].startswith("minute") else 0.001
        return moment._replace(unit="s", start=in_seconds(moment.start, factor), end=in_seconds(moment.end, factor))
    if named["frame"] or named["percent"]:
        return moment._replace(unit="frame" if named["frame"] else "%")
    return moment._replace(fault=moment.fault or f"counts {named['other']}, which --axis does not know")
