"""Reading one answer: its relevant part, times, moments, and faults."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence

from truemoment.base.records import MAX_TIME_S
from truemoment.data.answers import words
from truemoment.data.answers.asides import sort_out
from truemoment.data.answers.contexts import LOOKED_AT, NEAR, NOT_PLACED, context_of
from truemoment.data.answers.denials import declines, denies, silence
from truemoment.data.answers.groups import alternatives, group, undecided
from truemoment.data.answers.moments import NEGATIVE, REACH, Moment, find_moments, label_of, whole_video
from truemoment.data.answers.part import Extract, parts
from truemoment.data.answers.reading import ParsedAnswer, Reading
from truemoment.data.answers.rewriting import rewritten
from truemoment.data.answers.times import RELATIVE, Time, find_times
from truemoment.data.axes import Axis

_UNITS_OF = {"seconds": ("", "s"), "fraction": ("",), "percent": ("", "%"), "bins": ("", "frame")}
_UNITS_OF |= {"frames": _UNITS_OF["bins"], "fps": _UNITS_OF["bins"]}
_CALLED = {"s": "seconds", "%": "per cent", "frame": "frames"}


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
    answer = ParsedAnswer("failed", (), None, "nothing that could be a moment")
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
    moments, aside = sort_out(part.text, find_moments(part.text, times))
    whole = None if moments or aside else whole_video(part.text)
    moments += [whole] if whole else []
    if part.fault:
        return ParsedAnswer("ambiguous", (), _span(part, moments), part.fault)
    if moments and all(moment.fault == NEGATIVE for moment in moments) and silence(part.text)[0] == "no answer":
        return _of_silence(part, [], reading)
    complete = [moment for moment in moments if not moment.one_sided or reading.one_sided == "extend"]
    if complete:
        return _of_moments(part, complete, reading)
    silent, _ = silence(part.text)
    looked_at = bool(aside) and all(moment.fault == LOOKED_AT for moment in aside)
    if aside and not moments and silent != "refused" and not (silent and looked_at):
        loose = _of_loose(part, _outside(times, aside), reading)
        if loose.status == "parsed":
            return loose
        return ParsedAnswer("ambiguous", (), _span(part, aside[-1:]), aside[-1].fault)
    if (joined := _joined_halves(part, moments, times)) is not None:
        return _judged(part, [joined], reading, n_groups=1)
    if moments and not (silent and all(moment.unit == "frame" for moment in moments)):  # "... from the 8 frames given"
        why = "a start without an end" if math.isinf(moments[-1].end) else "an end without a start"
        return ParsedAnswer("ambiguous", (), _span(part, moments[-1:]), why)
    return _of_silence(part, times, reading) if silent else _of_loose(part, times, reading)


def _best_stated(text: str, moments: Sequence[Moment]) -> Sequence[Moment]:
    """Return moments without those that say less: "up to 2 s", and numbers that nothing places, unless an "or" may do."""
    best = [moment for moment in moments if moment.how != "the start to an end"] or moments
    if _SECOND_THOUGHT.search(text):
        return best
    return [moment for moment in best if moment.fault != NOT_PLACED] or best


def _joined_halves(part: Extract, moments: Sequence[Moment], times: Sequence[Time]) -> Moment | None:
    """Return the moment of a lone start and a lone end, or of an end and the only time before it; None if there is none."""
    hows = [moment.how for moment in moments]
    if hows == ["a start", "an end"] and moments[0].start < moments[1].end:
        return moments[0]._replace(stop=moments[1].stop, end=moments[1].end, how="a start and an end")
    if hows not in (["a start"], ["an end"]):
        return None
    others = [time for time in _outside(times, moments) if time.unit == "s"]
    if len(others) != 1 or others[0].fault or _is_aside(part.text, 0, others[0]):
        return None
    (half,), (time,) = moments, others
    if half.how == "an end" and time.end <= half.begin and time.value < half.end:
        return half._replace(begin=time.begin, start=time.value, how="two times")
    between = part.text[half.stop : time.begin]
    if half.how == "a start" and 0 < len(between) <= REACH and _AND.match(between) and half.start < time.value:
        return half._replace(stop=time.end, end=time.value, how="two times")
    return None


def _outside(times: Sequence[Time], moments: Sequence[Moment]) -> list[Time]:
    """Return the times that are in no moment; both are in the order of the text."""
    begins = [moment.begin for moment in moments]
    last = [bisect_right(begins, time.begin) - 1 for time in times]
    return [time for time, at in zip(times, last, strict=True) if at < 0 or time.begin >= moments[at].stop]


def _of_moments(part: Extract, moments: Sequence[Moment], reading: Reading) -> ParsedAnswer:
    """Choose among the moments of a part, and judge them."""
    of_axis = [moment for moment in moments if moment.unit in _UNITS_OF[reading.on.kind]]
    groups = group(part.text, _best_stated(part.text, of_axis or moments))
    if reading.which == "all":
        selected = [moment for of_group in groups for moment in of_group]
    else:
        selected = groups[-1] if reading.which == "last" and not part.first else groups[0]
    return _judged(part, selected, reading, n_groups=len(groups))


def _of_silence(part: Extract, times: Sequence[Time], reading: Reading) -> ParsedAnswer:
    """Read a text that denies a moment, or declines: two times that nothing joins may still be one."""
    kind, span = silence(part.text)
    evidence = None if span is None else part.place(*span)
    if kind == "refused":
        return ParsedAnswer("refused", (), evidence, "declines")
    aside = _of_loose(part, times, reading)
    if aside.status == "parsed" and not _denied(part, aside):
        return aside
    return ParsedAnswer("no answer", (), evidence, "says that there is no such moment")


def _denied(part: Extract, answer: ParsedAnswer) -> bool:
    """Whether a part of a text denies the moment that was read in it."""
    begin, end = answer.span or (part.begin, part.begin)
    return denies(part.text, begin - part.begin, min(end - part.begin, len(part.text)))


def _judged(part: Extract, moments: Sequence[Moment], reading: Reading, *, n_groups: int) -> ParsedAnswer:
    """Return the answer that some moments are, unless something is wrong with them."""
    span = _span(part, moments)
    read = [_ordered(moment, reading) for moment in moments]
    fault = next((why for moment in moments if (why := _fault(moment, reading))), "")
    if not fault and (alternatives(part.text, moments) or (max(n_groups, len(moments)) > 1 and undecided(part.text))):
        fault = "one moment or another"
    if not fault and (
        _OPTION_LETTER.search(part.text, moments[-1].stop)
        or _OPTIONS.search(part.text)
        or (moments[-1].how == "the whole video" and _OPTION_BEFORE.search(part.text))
    ):
        fault = "a letter of an option"
    if not fault and _CORRECTED.search(part.text, moments[-1].stop):
        fault = "a moment that is corrected"
    if not fault and declines(part.text, moments[0].begin):
        fault = "a moment, and that the model declines"
    if not fault and denies(part.text, moments[0].begin, moments[-1].stop):
        fault = "a moment, and that there is none"
    if fault:
        return ParsedAnswer("ambiguous", (), span, fault)
    recognition = moments[0].how if len(moments) == 1 else "several moments"
    marked = " marked as the answer" if part.marked else ""
    choice = f", the {reading.which} of several" if n_groups > 1 and reading.which != "all" else ""
    return ParsedAnswer("parsed", tuple(read), span, f"{recognition}{marked}{choice}")


def _ordered(moment: Moment, reading: Reading) -> tuple[float, float]:
    if reading.swapped == "sort" and moment.end < moment.start:
        return moment.end, moment.start
    return moment.start, moment.end


def _fault(moment: Moment, reading: Reading) -> str:
    """Return why a moment cannot be read on an axis; "" if it can."""
    if moment.fault:
        return moment.fault
    if moment.end < moment.start and reading.swapped == "ambiguous":
        return "it ends before it starts"
    axis = reading.on
    if moment.unit not in _UNITS_OF[axis.kind]:
        return f"{_CALLED[moment.unit]}, and the axis is {axis}"
    largest = moment.start if math.isinf(moment.end) else max(moment.start, moment.end)
    return "beyond the axis" if largest > _longest(axis) else ""


def _longest(axis: Axis) -> float:
    """Return the largest number there can be on an axis."""
    if axis.kind in ("bins", "frames"):
        return axis.number - 1
    return {"fraction": 1.0, "percent": 100.0}.get(axis.kind, MAX_TIME_S)


def _of_loose(part: Extract, times: Sequence[Time], reading: Reading) -> ParsedAnswer:
    """Read a text whose times nothing joins: two of them, rising, are a start and an end."""
    ends = [0, *(time.end for time in times)]
    labels = [
        label_of(part.text[max(low, time.begin - 40) : time.begin]) for low, time in zip(ends, times, strict=False)
    ]
    candidates = [
        time
        for low, time, label in zip(ends, times, labels, strict=False)
        if time.unit == "s" and label != "length" and not _is_aside(part.text, low, time)
    ]
    if not candidates:
        return _of_halves(part, times, reading)
    start_s, end_s = candidates[0].value, candidates[-1].value
    why = next((time.fault for time in candidates if time.fault), "")
    if (
        len(candidates) == 1
        and not why
        and reading.one_sided == "extend"
        and _AFTER.search(part.text, 0, candidates[0].begin)
    ):
        end_s = math.inf
    elif (
        why == RELATIVE
        and len(candidates) == 2
        and not candidates[0].fault
        and _LATER.match(part.text, candidates[1].end)
    ):
        why, end_s = "", start_s + candidates[1].value
    elif not why and len(candidates) != 2:
        why = "a single time" if len(candidates) == 1 else f"{len(candidates)} times that nothing joins"
    elif not why and _ONLY_AND.fullmatch(part.text, candidates[0].end, candidates[1].begin):
        why = "two times, each may be a moment"
    elif not why and _TWICE.search(part.text, max(candidates[0].begin - 40, 0), candidates[1].begin):
        why = "two times, each may be a moment"
    elif not why and _OR.search(part.text, candidates[0].end, candidates[1].begin):
        why = "one time or another"
    elif not why and ("?" in part.text or undecided(part.text)):
        why = "one time or another"
    elif not why and not start_s < end_s:
        why = "two times that do not rise"
    elif not why and reading.on.kind != "seconds":
        why = f"seconds, and the axis is {reading.on}"
    elif not why and end_s > MAX_TIME_S:
        why = "beyond the axis"
    span = part.place(candidates[0].begin, candidates[-1].end)
    if why:
        return ParsedAnswer("ambiguous", (), span, why)
    return ParsedAnswer("parsed", ((start_s, end_s),), span, "a start" if math.isinf(end_s) else "two times")


def _is_aside(text: str, low: int, time: Time) -> bool:
    """Whether a time is no answer: the length of the video ("in the 0:30 video", "out of 30 s"), an example."""
    before = text[max(low, time.begin - NEAR) : time.begin]
    if _NO_PLACE.search(before):
        return True
    if _STATES_LENGTH.search(before[-40:]) or _IS_THE_LENGTH.match(text, time.end):
        return True
    return bool(context_of(before, text[time.begin : time.end], text[time.end : time.end + NEAR], is_range=True))


def _of_halves(part: Extract, times: Sequence[Time], reading: Reading) -> ParsedAnswer:
    """Read a text without a single time of its own: half a moment, another axis, or nothing."""
    if not times:
        return ParsedAnswer("failed", (), None, "nothing that could be a moment")
    span = part.place(times[0].begin, times[-1].end)
    relative = [time for time in times if time.unit in ("%", "frame")]
    of_frames = bool(relative) and relative[0].unit == "frame" and len(times) > 1
    if len(relative) > 1 or of_frames or (relative and _OF_THE_VIDEO.match(part.text, relative[0].end)):
        return ParsedAnswer("ambiguous", (), span, f"{_CALLED[relative[-1].unit]}, and the axis is {reading.on}")
    if any(time.unit == "s" for time in times):
        return ParsedAnswer("ambiguous", (), span, "a length without a start")
    rest = part.text[: times[0].begin] + part.text[times[-1].end :]
    if len(times) == 1 and not any(map(str.isalnum, rest)):
        return ParsedAnswer("ambiguous", (), span, "a single number")
    if _CUT_OFF.match(part.text, times[-1].end):
        return ParsedAnswer("ambiguous", (), span, "cut off after a start")
    return ParsedAnswer("failed", (), None, "nothing that could be a moment")


_OPTION_LETTER = re.compile(r"\b(?:choose|pick|select|option|choice|answer)(?: is)?:? (?:option )?\(?[a-h]\)?\W*\Z")
_LATER = re.compile(words.LATER)
_ONLY_AND = re.compile(r",? and (?:at |again )*")
_AND = re.compile(r"[^.;:!?\n]{0,40}\band [^.;:!?\n]*\Z")
_SECOND_THOUGHT = re.compile(r"\b(?:or|either|wait|no|actually|correction|sorry|rather|but)\b")
_NO_PLACE = re.compile(r"\b(?:of|for|are|were|(?<!earlier )(?<!later )than|next|last|within) (?:about |around )?\Z")
_OPTION_BEFORE = re.compile(r"(?:\A|\n)\W{0,2}[a-h][).:]")
_OPTIONS = re.compile(r"(?:\A|\n)[ (]{0,2}[a-h][.):] [^\n]*\d[^\n]*\n[ (]{0,2}[a-h][.):] [^\n]*\d[^\n]*\s*\Z")
_CORRECTED = re.compile(r"\b(?:correction|no wait|wait,|scratch that)\b[^\n]*\d")
_OR = re.compile(r"\bor\b(?! so\b)")
_TWICE = re.compile(words.TWICE)
_STATES_LENGTH = re.compile(words.STATES_LENGTH)
_IS_THE_LENGTH = re.compile(words.IS_THE_LENGTH)
_AFTER = re.compile(r"\b(?:after|since|past) (?:about |around |the )?\Z")
_OF_THE_VIDEO = re.compile(r"\s*(?:of|into|through|mark|point)\b")
_CUT_OFF = re.compile(r"\s*(?:-+|to|until|and)\s*\Z")


def _span(part: Extract, moments: Sequence[Moment]) -> tuple[int, int] | None:
    if not moments:
        return None
    return part.place(min(m.begin for m in moments), max(m.stop for m in moments))
