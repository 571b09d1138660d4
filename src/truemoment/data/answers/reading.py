"""Options for reading answers, and the result for one answer."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple, get_args

from truemoment.base.errors import UsageError
from truemoment.base.records import Status
from truemoment.base.rules import OneSided, Swapped, Which
from truemoment.data.axes import Axis, parse_axis

VERSION = 6
"""Version of the reader: rises when the reading of some answer changes."""


@dataclass(frozen=True)
class Reading:
    """How answers in words are read.

    Parameters
    ----------
    axis
        Axis of bare numbers, as :func:`truemoment.data.axes.parse_axis` reads it.
    which
        Which of several groups of moments: the one that the text has ``chosen``, the ``last``, the ``first`` or
        ``all``. Moments listed together are one group. Without a sign of a choice, ``chosen`` makes the answer
        ambiguous.
    one_sided
        A start without an end, or an end without a start: ``ambiguous``, or ``extend`` it to the video's end or from
        its start.
    swapped
        A moment that ends before it starts: ``ambiguous``, ``keep`` it (it overlaps nothing), or ``sort`` it.

    Examples
    --------
    >>> str(Reading(axis="percent", which="all"))
    'axis=percent,which=all,one_sided=ambiguous,swapped=ambiguous'
    """

    axis: str = "seconds"
    which: Which = "chosen"
    one_sided: OneSided = "ambiguous"
    swapped: Swapped = "ambiguous"

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        parse_axis(self.axis)
        for name, choices in (("which", Which), ("one_sided", OneSided), ("swapped", Swapped)):
            if getattr(self, name) not in get_args(choices):
                raise UsageError(f"{name}: got {getattr(self, name)!r}, expected {' or '.join(get_args(choices))}")

    @functools.cached_property
    def on(self) -> Axis:
        """The axis as a value."""
        return parse_axis(self.axis)

    def __str__(self) -> str:
        return f"axis={self.axis},which={self.which},one_sided={self.one_sided},swapped={self.swapped}"


class ParsedAnswer(NamedTuple):
    """The reading of one answer.

    Parameters
    ----------
    status
        Result of the reading.
    moments
        (start, end) on the axis, in the order of the text; an infinite end is the end of the video. Empty unless
        parsed.
    span
        First character, and the one after the last, of the evidence; None if there is none.
    why
        Kind of moment that was read, or the reason why none was, in a few words.
    """

    status: Status
    moments: tuple[tuple[float, float], ...]
    span: tuple[int, int] | None
    why: str
