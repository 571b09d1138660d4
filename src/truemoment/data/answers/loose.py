"""Times that nothing joins: two of them, rising, are a start and an end if they are all that a text has."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence

from truemoment.base.records import MAX_TIME_S
from truemoment.data.answers import words
from truemoment.data.answers.contexts import NEAR, excluded
from truemoment.data.answers.groups import undecided
from truemoment.data.answers.judging import another_unit
from truemoment.data.answers.moments import REACH, Moment, label_of
from truemoment.data.answers.part import Extract
from truemoment.data.answers.places import MAY_BE_OF_A_DAY, Wording, kind_of
from truemoment.data.answers.reading import ParsedAnswer, Reading
from truemoment.data.answers.times import RELATIVE, Time

NOTHING = ParsedAnswer("failed", (), None, "nothing that could be a moment")

_LATER = re.compile(words.LATER)
_ONLY_AND = re.compile(r",? and (?:at |again )*")
_AND = re.compile(r"[^.;:!?\n]{0,40}\band [^.;:!?\n]*\Z")
_NO_PLACE = re.compile(
    r"\b(?:of|for|in|are|were|(?<!earlier )(?<!later )than|at least|at most|next|last|within) (?:about |around )?\Z"
)
_OR = re.compile(r"\bor\b(?! so\b)")
_TWICE = re.compile(words.TWICE)
_STATES_LENGTH = re.compile(words.STATES_LENGTH)
_IS_THE_LENGTH = re.compile(words.IS_THE_LENGTH)
_AFTER = re.compile(r"\b(?:after|since|past) (?:about |around |the )?\Z")
_OF_THE_VIDEO = re.compile(r"\s*(?:of|into|through|mark|point)\b")
_CUT_OFF = re.compile(r"\s*(?:-+|to|until|and)\s*\Z")


def read_loose(part: Extract, times: Sequence[Time], reading: Reading) -> ParsedAnswer:
    """Read a text whose times nothing joins."""
    candidates = _candidates(part.text, times)
    if not candidates:
        return _read_no_time(part, times, reading)
    first, last = candidates[0], candidates[-1]
    start_s, end_s, how = first.value, last.value, "two times"
    why = next((time.fault for time in candidates if time.fault), "")
    if not why and len(candidates) == 1 and reading.one_sided == "extend" and _AFTER.search(part.text, 0, first.begin):
        end_s, how = math.inf, "a start"
    elif why == RELATIVE and len(candidates) == 2 and not first.fault and _LATER.match(part.text, last.end):
        why, end_s = "", start_s + last.value
    elif not why:
        why = _doubt(part.text, candidates, reading)
    span = part.place(first.begin, last.end)
    if why:
        return ParsedAnswer("ambiguous", (), span, why)
    return ParsedAnswer("parsed", ((start_s, end_s),), span, how)


def join_halves(part: Extract, moments: Sequence[Moment], times: Sequence[Time]) -> Moment | None:
    """Return the moment that a lone start and a lone end are, or one of both and the only other time; or None."""
    hows = [moment.how for moment in moments]
    if hows == ["a start", "an end"] and moments[0].start < moments[1].end:
        return moments[0]._replace(stop=moments[1].stop, end=moments[1].end, how="a start and an end")
    others = [time for time in outside(times, moments) if time.unit == "s"] if len(hows) == 1 else []
    if len(others) != 1 or others[0].fault or _is_aside(part.text, 0, others[0]):
        return None
    (half,), (time,) = moments, others
    between = part.text[half.stop : time.begin]
    if MAY_BE_OF_A_DAY.match(part.text, time.begin) and MAY_BE_OF_A_DAY.search(part.text, half.begin, half.stop):
        return None
    if half.how == "an end" and time.end <= half.begin and time.value < half.end:
        return half._replace(begin=time.begin, start=time.value, how="two times")
    if half.how == "a start" and 0 < len(between) <= REACH and _AND.match(between) and half.start < time.value:
        return half._replace(stop=time.end, end=time.value, how="two times")
    return None


def outside(times: Sequence[Time], moments: Sequence[Moment]) -> list[Time]:
    """Return the times that are in no moment; both are in the order of the text."""
    begins = [moment.begin for moment in moments]
    last = [bisect_right(begins, time.begin) - 1 for time in times]
    return [time for time, at in zip(times, last, strict=True) if at < 0 or time.begin >= moments[at].stop]


def _candidates(text: str, times: Sequence[Time]) -> list[Time]:
    """Return the times with a unit of time that may be of the answer."""
    lows = [0, *(time.end for time in times)]
    return [
        time
        for low, time in zip(lows, times, strict=False)
        if time.unit == "s"
        and label_of(text[max(low, time.begin - 40) : time.begin]) != "length"
        and not _is_aside(text, low, time)
    ]


def _is_aside(text: str, low: int, time: Time) -> bool:
    """Whether a time is no answer: the length of the video ("in the 0:30 video", "out of 30 s"), an example."""
    before = text[max(low, time.begin - NEAR) : time.begin]
    if _NO_PLACE.search(before) or _STATES_LENGTH.search(before[-40:]) or _IS_THE_LENGTH.match(text, time.end):
        return True
    return bool(excluded(before, _kind(text, time), text[time.end : time.end + NEAR]))


def _kind(text: str, time: Time) -> Wording:
    return kind_of(text[time.begin : time.end])


def _doubt(text: str, candidates: Sequence[Time], reading: Reading) -> str:
    """Return why times that nothing joins are no start and end; "" if they are."""
    if len(candidates) != 2:
        return "a single time" if len(candidates) == 1 else f"{len(candidates)} times that nothing joins"
    first, last = candidates
    twice = _TWICE.search(text, max(first.begin - 40, 0), last.begin)
    if twice or _ONLY_AND.fullmatch(text, first.end, last.begin):
        why = "two times, each may be a moment"
    elif _OR.search(text, first.end, last.begin) or "?" in text or undecided(text):
        why = "one time or another"
    elif _kind(text, first) is _kind(text, last) is Wording.OF_A_DAY:
        why = "two times of a day, or of a long video"
    elif not first.value < last.value:
        why = "two times that do not rise"
    elif reading.on.kind != "seconds":
        why = another_unit("s", reading.on)
    else:
        why = "beyond the axis" if last.value > MAX_TIME_S else ""
    return why


def _read_no_time(part: Extract, times: Sequence[Time], reading: Reading) -> ParsedAnswer:
    """Read a text without a single time of its own: half a moment, another axis, or nothing."""
    if not times:
        return NOTHING
    span = part.place(times[0].begin, times[-1].end)
    relative = [time for time in times if time.unit in ("%", "frame")]
    of_frames = bool(relative) and relative[0].unit == "frame" and len(times) > 1
    if len(relative) > 1 or of_frames or (relative and _OF_THE_VIDEO.match(part.text, relative[0].end)):
        return ParsedAnswer("ambiguous", (), span, another_unit(relative[-1].unit, reading.on))
    if any(time.unit == "s" for time in times):
        return ParsedAnswer("ambiguous", (), span, "a length without a start")
    rest = part.text[: times[0].begin] + part.text[times[-1].end :]
    if len(times) == 1 and not any(map(str.isalnum, rest)):
        return ParsedAnswer("ambiguous", (), span, "a single number")
    if _CUT_OFF.match(part.text, times[-1].end):
        return ParsedAnswer("ambiguous", (), span, "cut off after a start")
    return NOTHING
