"""The frame table of a video: when each frame is shown, exactly, in the package's clock.

A moment of frames `first` to `last`, both included, starts when the first is shown and ends when the frame after the
last is shown, or at the end of the video. So one frame has a positive length, and two moments that touch do not
overlap. Times are whole ticks of the video's clock, stored as runs of equal steps: a constant rate is one run.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import msgspec
import numpy as np

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.media.video.frames import SAME_TIME_S, Outline, outline_and_shown

COARSEST_TICK = Fraction(1, 10_000)
"""Seconds; coarser clocks are divided, so that a clock that starts between two ticks is still exact."""

MOST_FRAMES_OF_TABLE = 50_000_000


class FrameRuns(msgspec.Struct, forbid_unknown_fields=True):
    """A frame table as JSON.

    `tick` is numerator and denominator of a tick in seconds, `runs` are [first tick, step, count] each, and `end` is
    the tick at which the last frame ends.
    """

    tick: tuple[int, int]
    runs: list[tuple[int, int, int]]
    end: int


@dataclass(frozen=True, eq=False)
class FrameTable:
    """When each frame of a video is shown.

    Parameters
    ----------
    tick
        Length of a tick, seconds.
    starts : (N,)
        Tick at which each frame is first shown, rising.
    end
        Tick at which the last frame ends.

    Examples
    --------
    >>> table = FrameTable(Fraction(1, 10), np.array([0, 4, 8]), 12)
    >>> len(table), table.moment_s(1, 1), table.moment_s(0, 2), table.frame_at(0.79)
    (3, (0.4, 0.8), (0.0, 1.2), 1)
    >>> table.runs().runs
    [(0, 4, 3)]
    """

    tick: Fraction
    starts: Ints
    end: int

    def __post_init__(self) -> None:
        """Check that times rise."""
        if not len(self.starts) or np.any(np.diff(self.starts) <= 0) or self.end <= self.starts[-1]:
            raise InputError("got frame times that do not rise, expected each frame to be shown after the one before")

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def edges_s(self) -> Floats:
        """Start of each frame, and the end of the last, seconds, (N + 1,)."""
        ticks = np.append(self.starts, self.end).astype(np.float64)
        return np.asarray(ticks * self.tick.numerator / self.tick.denominator)

    @property
    def duration_s(self) -> float:
        """End of the last frame, seconds."""
        return float(self.edges_s[-1])

    def moment_s(self, first: int, last: int) -> tuple[float, float]:
        """Return start and end in seconds of frames `first` to `last`, both included."""
        if not 0 <= first <= last < len(self):
            raise UsageError(f"got frames {first} to {last}, expected 0 <= first <= last < {len(self)}")
        return float(self.edges_s[first]), float(self.edges_s[last + 1])

    def frame_at(self, time_s: float) -> int:
        """Return the frame shown at a time: before the first it is the first, after the end the last."""
        return max(0, bisect.bisect_right(self.edges_s[:-1], time_s + SAME_TIME_S) - 1)

    def frames_of(self, start_s: float, end_s: float) -> tuple[int, int]:
        """Return the first and last frame of a moment in seconds: those that :meth:`moment_s` gives back."""
        first = self.frame_at(start_s)
        last = max(first, self.frame_at(max(start_s, end_s - 2 * SAME_TIME_S)))
        return first, last

    def runs(self) -> FrameRuns:
        """Return the table as runs of equal steps."""
        runs: list[tuple[int, int, int]] = []
        steps = np.diff(self.starts)
        at = 0
        while at < len(self.starts):
            if at == len(self.starts) - 1:
                runs.append((int(self.starts[at]), 1, 1))
                break
            changes = np.flatnonzero(steps[at:] != steps[at])
            count = int(changes[0]) + 1 if len(changes) else len(self.starts) - at
            runs.append((int(self.starts[at]), int(steps[at]), count))
            at += count
        return FrameRuns((self.tick.numerator, self.tick.denominator), runs, self.end)

    @classmethod
    def of_runs(cls, table: FrameRuns) -> FrameTable:
        """Return a table from its runs."""
        if min(table.tick) <= 0 or sum(count for _, _, count in table.runs) > MOST_FRAMES_OF_TABLE:
            raise InputError("got a tick of no length, or too many frames", field="runs")
        parts = [first + step * np.arange(count, dtype=np.int64) for first, step, count in table.runs]
        starts = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        return cls(Fraction(*table.tick), starts, table.end)


def frame_table(path: AnyPath) -> tuple[FrameTable, Outline]:
    """Return the frame table and the outline of a video, which is read without being decoded."""
    outline, shown_s, tick = outline_and_shown(path)
    if tick > COARSEST_TICK:
        tick /= -(-tick // COARSEST_TICK)  # rounded up
    return table_of(shown_s, outline.duration_s, tick), outline


def table_of(shown_s: Floats | Sequence[float], duration_s: float, tick: Fraction) -> FrameTable:
    """Return the frame table of times in seconds, rounded to ticks; frames of one tick are one frame."""
    starts = np.unique(_ticks(shown_s, tick))
    return FrameTable(tick, starts, max(int(_ticks([duration_s], tick)[0]), int(starts[-1]) + 1))


def _ticks(times_s: Iterable[float], tick: Fraction) -> Ints:
    scaled = np.asarray(list(times_s), np.float64) * tick.denominator / tick.numerator
    return np.asarray(np.round(scaled).astype(np.int64))
