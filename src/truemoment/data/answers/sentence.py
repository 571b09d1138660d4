"""Reading one answer: its relevant part, its times and moments, and which of them is the answer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from truemoment.data.answers import words
from truemoment.data.answers.contexts import LOOKED_AT, NEAR, NO_MOMENT, NOT_PLACED, context_of
from truemoment.data.answers.denials import denies, silence
from truemoment.data.answers.groups import group, is_chosen
from truemoment.data.answers.judging import is_of_axis, judged, span_of
from truemoment.data.answers.loose import NOTHING, join_halves, outside, read_loose
from truemoment.data.answers.moments import FIRST, NEGATIVE, Moment, find_moments, whole_video
from truemoment.data.answers.part import Extract, parts
from truemoment.data.answers.reading import ParsedAnswer, Reading
from truemoment.data.answers.rewriting import rewritten
from truemoment.data.answers.times import Time, find_times, in_seconds

_SCORE = re.compile(r"\d+ ?- ?\d+")
_KEY = re.compile(r"[:=,\[] ?\"\Z")
_SECOND_THOUGHT = re.compile(r"\b(?:or|either|wait|no|actually|correction|sorry|rather|but)\b")
_UNIT = re.compile(words.UNIT_BEFORE)
_KEY_UNIT = re.compile(r"_(?P<unit>ms|msec|millis|milliseconds?|minutes?)[\"']?\s?[:=]\s?[\"']?\Z")
_UNIT_KEY = re.compile(
    r"\"units?\"\s?:\s?\"(?:(?P<frame>frames?|frame_ind\w+)|(?P<percent>percent(?:ages?)?|%)"
    r"|(?P<other>ms|msec|milliseconds?|minutes?|mins?|hours?|fractions?))\""
)


def parse_answer(text: str, reading: Reading = Reading()) -> ParsedAnswer:  # noqa: B008 - a frozen value
    """Read one answer.

    Examples
    --------
    >>> parse_answer("It carries 2 bags from 0:12.5 to 0:20.5.").moments
    ((12.5, 20.5),)
    >>> parse_answer("The event does not occur in the video.").status
    'no answer'
    >>> answer = parse_answer("It starts at 12 seconds.")
    >>> answer.status, answer.why
    ('ambiguous', 'a start without an end')
    """
    plain_text = rewritten(text)
    answer = NOTHING
    for part in parts(plain_text.text):
        answer = _read(part, reading)
        if answer.status != "failed":
            break
    return answer if answer.span is None else answer._replace(span=plain_text.place(*answer.span))


def _read(part: Extract, reading: Reading) -> ParsedAnswer:
    """Read a part of a text; positions count from the whole text's beginning."""
    if not part.text.strip():
        return ParsedAnswer("failed", (), None, "no text")
    times = find_times(part.text)
    moments, asides = sort_out(part.text, find_moments(part.text, times))
    whole = None if moments or asides else whole_video(part.text)
    moments += [whole] if whole else []
    if part.fault:
        return ParsedAnswer("ambiguous", (), span_of(part, moments), part.fault)
    if moments and all(moment.fault == NEGATIVE for moment in moments) and silence(part.text)[0] == "no answer":
        return _read_silence(part, [], reading)
    complete = [moment for moment in moments if not moment.one_sided or reading.one_sided == "extend"]
    if complete:
        return _choose(part, complete, reading)
    return _read_halves(part, moments, times, reading) if moments else _read_asides(part, asides, times, reading)


def _choose(part: Extract, moments: Sequence[Moment], reading: Reading) -> ParsedAnswer:
    """Choose among the moments of a part, and judge them."""
    of_axis = [moment for moment in moments if is_of_axis(moment.unit, reading.on)]
    groups = _best_groups(part.text, group(part.text, _best_stated(part.text, of_axis or moments)))
    if reading.which == "all":
        selected = [moment for of_group in groups for moment in of_group]
    else:
        selected = groups[0] if reading.which == "first" or part.first else groups[-1]
    if reading.which == "chosen" and len(groups) > 1 and not is_chosen(part, groups, selected):
        return ParsedAnswer("ambiguous", (), span_of(part, selected), "several moments, none of which is chosen")
    return judged(part, selected, reading, n_groups=len(groups))


def _best_stated(text: str, moments: Sequence[Moment]) -> Sequence[Moment]:
    """Return moments without numbers that nothing places, if there are others.

    They stay beside words such as "or", "wait" and "but": they may be one of two.
    """
    if len(moments) == 1 or _SECOND_THOUGHT.search(text):
        return moments
    return [moment for moment in moments if moment.fault != NOT_PLACED] or moments


def _best_groups(text: str, groups: list[list[Moment]]) -> list[list[Moment]]:
    """Return groups without those that say less than others: "the first 2 s"; quoted; bare as scores are ("2-1")."""
    if len(groups) == 1:
        return groups
    groups = [of_group for of_group in groups if any(moment.how != FIRST for moment in of_group)] or groups
    best = [of_group for of_group in groups if not all(_is_weak(text, moment) for moment in of_group)]
    return groups if not best or _SECOND_THOUGHT.search(text) else best


def _is_weak(text: str, moment: Moment) -> bool:
    quoted = text[moment.begin - 1 : moment.begin] == '"' and text[moment.stop : moment.stop + 1] == '"'
    in_prose = quoted and _KEY.search(text, max(moment.begin - 8, 0), moment.begin) is None
    return in_prose or (not moment.unit and _SCORE.fullmatch(text, moment.begin, moment.stop) is not None)


def _read_halves(part: Extract, moments: Sequence[Moment], times: Sequence[Time], reading: Reading) -> ParsedAnswer:
    """Read a text that has only starts and ends."""
    joined = join_halves(part, moments, times)
    if joined is not None:
        return judged(part, [joined], reading, n_groups=1)
    if silence(part.text)[0] and all(moment.unit == "frame" for moment in moments):  # "... from the 8 frames given"
        return _read_silence(part, times, reading)
    why = "a start without an end" if math.isinf(moments[-1].end) else "an end without a start"
    return ParsedAnswer("ambiguous", (), span_of(part, moments[-1:]), why)


def _read_asides(part: Extract, asides: Sequence[Moment], times: Sequence[Time], reading: Reading) -> ParsedAnswer:
    """Read a text whose moments, if it has any, are not the answer."""
    silent, _ = silence(part.text)
    is_only_looked_at = all(moment.fault == LOOKED_AT for moment in asides)
    if asides and silent != "refused" and not (silent and is_only_looked_at):
        loose = read_loose(part, outside(times, asides), reading)
        return loose if loose.moments else ParsedAnswer("ambiguous", (), span_of(part, asides[-1:]), asides[-1].fault)
    return _read_silence(part, times, reading) if silent else read_loose(part, times, reading)


def _read_silence(part: Extract, times: Sequence[Time], reading: Reading) -> ParsedAnswer:
    """Read a text that denies a moment, or declines: two times that nothing joins may still be one."""
    kind, span = silence(part.text)
    evidence = None if span is None else part.place(*span)
    if kind == "refused":
        return ParsedAnswer("refused", (), evidence, "declines")
    loose = read_loose(part, times, reading)
    begin, end = loose.span or (part.begin, part.begin)
    if loose.moments and not denies(part.text, begin - part.begin, min(end - part.begin, len(part.text))):
        return loose
    return ParsedAnswer("no answer", (), evidence, "says that there is no such moment")


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
