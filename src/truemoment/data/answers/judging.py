"""The answer that some moments are, and what may be wrong with them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from truemoment.base.records import MAX_TIME_S
from truemoment.data.answers.denials import declines, denies
from truemoment.data.answers.groups import alternatives, undecided
from truemoment.data.answers.moments import Moment
from truemoment.data.answers.part import Extract
from truemoment.data.answers.reading import ParsedAnswer, Reading
from truemoment.data.axes import Axis

_UNITS_OF = {"seconds": ("", "s"), "fraction": ("",), "percent": ("", "%"), "bins": ("", "frame")}
_UNITS_OF |= {"frames": _UNITS_OF["bins"], "fps": _UNITS_OF["bins"]}
_CALLED = {"s": "seconds", "%": "per cent", "frame": "frames"}

_CHOICE = {
    "chosen": ", chosen among several",
    "last": ", the last of several",
    "first": ", the first of several",
    "all": "",
}
_OPTION_LETTER = re.compile(r"\b(?:choose|pick|select|option|choice|answer)(?: is)?:? (?:option )?\(?[a-h]\)?\W*\Z")
_OPTION_BEFORE = re.compile(r"(?:\A|\n)\W{0,2}[a-h][).:]")
_OPTIONS = re.compile(r"(?:\A|\n)[ (]{0,2}[a-h][.):] [^\n]*\d[^\n]*\n[ (]{0,2}[a-h][.):] [^\n]*\d[^\n]*\s*\Z")
_CORRECTED = re.compile(r"\b(?:correction|no wait|wait,|scratch that)\b[^\n]*\d")


def judged(part: Extract, moments: Sequence[Moment], reading: Reading, *, n_groups: int) -> ParsedAnswer:
    """Return the answer that some moments of a part are, unless something is wrong with them."""
    span = span_of(part, moments)
    faults = (why for moment in moments if (why := _fault(moment, reading)))
    why = next(faults, "") or _doubt(part.text, moments, n_groups)
    if why:
        return ParsedAnswer("ambiguous", (), span, why)
    recognition = moments[0].how if len(moments) == 1 else "several moments"
    marked = " marked as the answer" if part.marked else ""
    choice = _CHOICE[reading.which] if n_groups > 1 else ""
    read = tuple((moment.start, moment.end) for moment in moments)
    if reading.swapped == "sort":
        read = tuple((min(ends), max(ends)) for ends in read)
    return ParsedAnswer("parsed", read, span, f"{recognition}{marked}{choice}")


def span_of(part: Extract, moments: Sequence[Moment]) -> tuple[int, int] | None:
    """Return the characters of the answer from the first to the last of some moments; None without any."""
    if not moments:
        return None
    return part.place(min(m.begin for m in moments), max(m.stop for m in moments))


def is_of_axis(unit: str, axis: Axis) -> bool:
    """Whether numbers of a unit can be on an axis."""
    return unit in _UNITS_OF[axis.kind]


def another_unit(unit: str, axis: Axis) -> str:
    """Return why numbers of a unit are not read on an axis."""
    return f"{_CALLED[unit]}, and the axis is {axis}"


def _doubt(text: str, moments: Sequence[Moment], n_groups: int) -> str:
    """Return why a text leaves open whether moments in it are the answer; "" if it does not."""
    begin, stop = moments[0].begin, moments[-1].stop
    of_options = moments[-1].how == "the whole video" and _OPTION_BEFORE.search(text)
    if alternatives(text, moments) or (max(n_groups, len(moments)) > 1 and undecided(text)):
        why = "one moment or another"
    elif of_options or _OPTION_LETTER.search(text, stop) or _OPTIONS.search(text):
        why = "a letter of an option"
    elif _CORRECTED.search(text, stop):
        why = "a moment that is corrected"
    elif declines(text, begin):
        why = "a moment, and that the model declines"
    elif denies(text, begin, stop):
        why = "a moment, and that there is none"
    else:
        why = ""
    return why


def _fault(moment: Moment, reading: Reading) -> str:
    """Return why a moment cannot be read on an axis; "" if it can."""
    if moment.fault:
        return moment.fault
    if moment.end < moment.start and reading.swapped == "ambiguous":
        return "it ends before it starts"
    if not is_of_axis(moment.unit, reading.on):
        return another_unit(moment.unit, reading.on)
    largest = moment.start if math.isinf(moment.end) else max(moment.start, moment.end)
    return "beyond the axis" if largest > _longest(reading.on) else ""


def _longest(axis: Axis) -> float:
    """Return the largest number there can be on an axis."""
    if axis.kind in ("bins", "frames"):
        return axis.number - 1
    return {"fraction": 1.0, "percent": 100.0}.get(axis.kind, MAX_TIME_S)
