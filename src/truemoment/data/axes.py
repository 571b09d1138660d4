"""Units of the numbers in a prediction file; seconds by default.

Video language models are often trained on another axis (0 to 99 of a hundred frames, per cent, fractions). The axis is
never guessed: ``--axis`` sets it, and :mod:`truemoment.data.units` only reports signs of another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from truemoment.base.boundary.keyed import read_value, split_pair
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, frames_to_seconds, norm_to_seconds, segments_to_seconds

Kind = Literal["seconds", "milliseconds", "fraction", "percent", "bins", "frames", "fps"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COUNTED = ("bins", "frames", "fps")
"""Kinds that need a number: how many, or how many a second."""

LEAST, MOST = 1e-6, 1e6
COARSE_S = 5.0


@dataclass(frozen=True)
class Axis:
    """The unit of a file's numbers.

    ================  =====================================================================================
    ``seconds``       seconds from the video's start
    ``milliseconds``  milliseconds from the video's start
    ``fraction``      fractions of the video, 0 to 1
    ``percent``       per cent of the video, 0 to 100
    ``bins=N``        first and last of N equal parts of the video, from 0 to N - 1, both included: the answer
                      runs from the start of the first to the end of the last (VTimeLLM's 00 to 99: ``bins=100``)
    ``frames=N``      the same for N frames sampled evenly over the video (Perception LM: ``frames=32``)
    ``fps=F``         frame numbers from 0, F frames per second
    ================  =====================================================================================

    Parameters
    ----------
    kind
        One of these.
    number
        N (a whole number from 1) or F (above 0); 1 for the others.
    """

    kind: Kind = "seconds"
    number: float = 1.0

    def __post_init__(self) -> None:
        """Refuse impossible numbers."""
        in_range = LEAST <= self.number <= MOST
        if self.kind not in KINDS or not in_range or (self.kind != "fps" and self.number != round(self.number)):
            raise UsageError(f"got axis {self.kind}={self.number:g}, expected {expected()}")

    def __str__(self) -> str:
        return f"{self.kind}={self.number:g}" if self.kind in COUNTED else self.kind

    @property
    def needs_duration(self) -> bool:
        """Whether the conversion needs the video's duration."""
        return self.kind not in ("seconds", "milliseconds", "fps")

    def to_seconds(self, start: Floats, end: Floats, duration_s: Floats) -> tuple[Floats, Floats]:
        """Return moments in seconds; `duration_s` (M,) is NaN where unknown."""
        if self.kind == "fps":
            return frames_to_seconds(start, self.number), frames_to_seconds(end, self.number)
        if self.kind in ("bins", "frames"):
            return segments_to_seconds(start, end, duration_s / self.number)
        if self.kind == "seconds":
            return start, end
        if self.kind == "milliseconds":
            return frames_to_seconds(start, 1000.0), frames_to_seconds(end, 1000.0)
        unit_s = duration_s if self.kind == "fraction" else duration_s / 100
        return norm_to_seconds(start, unit_s), norm_to_seconds(end, unit_s)


SECONDS = Axis()


def expected() -> str:
    """Return the possible axes in words."""
    return ", ".join(f"{kind}={'F' if kind == 'fps' else 'N'}" if kind in COUNTED else kind for kind in KINDS)


def parse_axis(text: str) -> Axis:
    """Read an axis from its text.

    Examples
    --------
    >>> str(parse_axis("bins=100")), parse_axis("fps=2.5").number
    ('bins=100', 2.5)
    """
    name, number = split_pair(text)
    kind = next((kind for kind in KINDS if kind == name), None)
    if kind is None or (number is not None) != (kind in COUNTED):
        raise UsageError(f"got axis {text!r}, expected {expected()}")
    return Axis(kind, 1.0 if number is None else read_value("axis", number, float))


def is_coarse(start_s: Floats, end_s: Floats) -> Bools:
    """Return which moments start and end on multiples of 5 s, (M,)."""
    return np.asarray((start_s % COARSE_S == 0) & (end_s % COARSE_S == 0))
