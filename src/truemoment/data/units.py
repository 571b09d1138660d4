"""Unit of times that are read as seconds: a look at the numbers before anything is computed from them.

Times in frames, milliseconds, per cent or fractions give figures that look like those of a poor method. The unit is
never guessed: a :class:`Suspicion` names the axis that fits, and the person decides.

Seconds are improbable if many moments end after the end of their video, if all times are at most 1, or if the latest
ends are at 100 and those of the references are not. An axis fits if the moments then lie in their videos and overlap
the references more. Answers that are far off overlap the references as little in either unit. Where they lie between 0
and 100, three signs decide. They end after the end of videos shorter than that, or of many such videos never. They do
not end at 100 where the references are later, as answers in seconds do that stop there. They overlap the references of
their own queries, as seconds, no more than those of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Bools, Floats, Ints, temporal_iou
from truemoment.base.records import Annotations
from truemoment.data.axes import SECONDS, Axis

RATES = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 16.0, 20.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 90.0, 120.0)
"""Common rates of frames and of features."""
NTSC = {24.0: "23.976", 30.0: "29.97", 60.0: "59.94"}
MILLISECONDS = Axis("milliseconds")

ENOUGH = 10
"""Moments below which nothing is certain."""
SHORT_S = 4.0
"""Median duration of videos so short that times up to 1 are seconds."""
TOO_SHORT_S, SOME = 70.0, 3
"""Duration of videos that times up to 100 pass, and number of moments in them that shows it."""
SLACK = 1.02
"""Share of the duration up to which an end, a second later still, is not past the end."""
MANY_PAST, SOME_PAST = 1 / 3, 0.2
"""Share of moments past the end above which seconds are improbable, and the same where few are above 100."""
FITS = 0.3
"""Mean IoU from which answers and references have one unit, whatever the durations are."""
EXPECTED = 20
"""Number of references above 100 s that answers in seconds would not all miss."""
AT_LIMIT = 0.75
"""Share of later references whose answers end at 100 s, from which answers in seconds may stop there."""
OWN, MOST_OWN = 3.0, 500
"""Standard errors from which answers are nearer to references of their own queries, and number of queries compared."""
NEAR = 1.5
"""Factor by which the late ends on an axis that fits may miss the ends of the videos."""
SURE = 2.5
"""Standard errors by which moments on an axis that fits overlap the references more than in seconds."""


@dataclass(frozen=True)
class Suspicion:
    """Times that are improbable as seconds.

    Parameters
    ----------
    unit
        What they look like, in words.
    axis
        The axis that fits; None if no usual one does.
    why
        What is improbable.
    certain
        Whether there are enough moments to refuse them.
    """

    unit: str
    axis: Axis | None
    why: str
    certain: bool

    def __str__(self) -> str:
        doubt = "" if self.certain else "; too few to be sure"
        return f"the times look like {self.unit}: {self.why}{doubt}{'' if self.axis is None else f' ({self.option})'}"

    @property
    def option(self) -> str:
        """The option that reads the times on this axis."""
        return f"--axis {self.axis or 'A'}"


@dataclass(frozen=True)
class ReferenceTimes:
    """References of N answers, flat: answer n has ``offsets[n]:offsets[n + 1]``, NaN for a query without one."""

    offsets: Ints
    start_s: Floats
    end_s: Floats

    @classmethod
    def of(cls, annotations: Annotations, query: Ints) -> ReferenceTimes:
        """Return the references of queries, by their position."""
        lengths = np.diff(annotations.offsets)[query]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        at = np.repeat(annotations.offsets[:-1][query] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return cls(offsets, annotations.start_s[at], annotations.end_s[at])

    def best_iou(self, start_s: Floats, end_s: Floats) -> Floats:
        """Return the IoU of each moment with the reference that it overlaps most, (N,); 0 without one."""
        lengths = np.diff(self.offsets)
        answer_s = np.repeat(start_s, lengths), np.repeat(end_s, lengths)
        iou = temporal_iou(*answer_s, self.start_s, self.end_s)
        return np.asarray(np.maximum.reduceat(np.nan_to_num(iou), self.offsets[:-1]))

    def latest_s(self) -> Floats:
        """Return the latest end of the references of each moment, (N,); NaN without one."""
        return np.asarray(np.fmax.reduceat(self.end_s, self.offsets[:-1]))

    def earliest_s(self) -> Floats:
        """Return the earliest end of the references of each moment, (N,); NaN without one."""
        return np.asarray(np.fmin.reduceat(self.end_s, self.offsets[:-1]))


def look_at_units(
    start: Floats, end: Floats, duration_s: Floats, references: ReferenceTimes | None = None
) -> Suspicion | None:
    """Return what moments look like if they are improbable as seconds, else None.

    Parameters
    ----------
    start, end : (N,)
        Moments, the first answer to each query or the references of a split.
    duration_s : (N,)
        Duration of each moment's video; where it is NaN, twice the end of the last reference replaces it.
    references
        References of the same queries; None if the moments are references.

    Examples
    --------
    >>> print(look_at_units(np.full(20, 30.0), np.full(20, 810.0), np.full(20, 28.0)))
    the times look like frames at about 30 (or 29.97) a second: 100 % end after the end of their video (--axis fps=30)
    """
    if references is not None:
        duration_s = np.where(duration_s > 0, duration_s, 2 * references.latest_s())
    known = (duration_s > 0) & np.isfinite(start) & np.isfinite(end)
    if not known.any():
        return None
    look = _Look(start, end, duration_s, known, references)
    return look.fractions() or look.scaled()


def refuse_units(suspicion: Suspicion, path: object, on_warning: Callable[[str], None]) -> None:
    """Refuse times that are certainly no seconds, before a verdict on them; else warn."""
    if not suspicion.certain:
        on_warning(f"{path}: {suspicion}")
        return
    reads = f"{suspicion.option} reads them so" if suspicion.axis else "--axis names their unit"
    problem = f"the times look like {suspicion.unit}: {suspicion.why}"
    raise InputError(problem, path=path, hint=f"{reads}, --axis seconds insists on seconds")


@dataclass(frozen=True)
class _Look:
    """Moments and what is known of their videos; `known` marks those that are looked at."""

    start: Floats
    end: Floats
    duration_s: Floats
    known: Bools
    references: ReferenceTimes | None

    @property
    def enough(self) -> bool:
        """Whether there are enough moments to refuse them."""
        return int(self.known.sum()) >= ENOUGH

    @property
    def whole(self) -> bool:
        """Whether all times are whole numbers."""
        times = np.concatenate([self.start[self.known], self.end[self.known]])
        return bool(np.all(times == np.round(times)))

    @property
    def longest(self) -> float:
        """The largest time."""
        return float(max(self.start[self.known].max(), self.end[self.known].max()))

    def most(self, share: float, unit: Floats | float = 1.0) -> float:
        """Return the end, in some unit, that a share of the moments do not pass."""
        return float(np.quantile((self.end / unit)[self.known], share))

    def past_end(self) -> float:
        """Return the share of moments that end clearly after the end of their video, read as seconds."""
        return float(np.mean((self.end > SLACK * self.duration_s + 1.0)[self.known]))

    def sure_of_hundredths(self) -> float:
        """Return the standard errors that times up to 100 need to be no seconds.

        None, where one answer to all queries is centred on the middle of the video. Infinitely many, if none of many
        ends after the end of a video shorter than 100 s, as hundredths would.
        """
        if self.is_constant_middle():
            return -np.inf
        short = self.known & (self.duration_s < TOO_SHORT_S)
        past = self.end[short] > SLACK * self.duration_s[short] + 1.0
        if len(past) >= SOME and float(past.mean()) > MANY_PAST:
            return -SURE
        if len(past) >= ENOUGH and not past.any():
            return np.inf
        return SURE if self.stops_at_limit() or self.own_in_seconds() >= OWN else -SURE

    def is_constant_middle(self) -> bool:
        """Return whether every answer is the same moment around 50, such as 0 to 100 or 25 to 75."""
        start, end = self.start[self.known], self.end[self.known]
        return bool(np.ptp(start) == 0 and np.ptp(end) == 0 and abs(start[0] + end[0] - 100) <= 1)

    def stops_at_limit(self) -> bool:
        """Return whether most answers to queries with later references end at 100 s, or there are no such queries."""
        if self.references is None:
            return True
        later = self.known & (self.references.earliest_s() > 105)
        return not later.any() or float(np.mean(self.end[later] >= self.most(0.99) - 1)) >= AT_LIMIT

    def own_in_seconds(self) -> float:
        """Return by how many standard errors answers, as seconds, overlap references of their own queries more.

        The sum of IoUs is compared with its mean and deviation over all permutations of the answers among the queries
        whose references end within 100 s (Hoeffding 1951, DOI 10.1214/aoms/1177729593).
        """
        if self.references is None:
            return np.inf
        early = np.flatnonzero(self.known & (self.references.latest_s() <= 100))
        if len(early) < 2:
            return 0.0
        early = early[:: -(-len(early) // MOST_OWN)]
        first = self.references.offsets[:-1][early]
        answer_s = self.start[early, None], self.end[early, None]
        iou = np.nan_to_num(temporal_iou(*answer_s, self.references.start_s[first], self.references.end_s[first]))
        centred = iou - iou.mean(axis=0) - iou.mean(axis=1, keepdims=True) + iou.mean()
        deviation = float(np.sqrt(np.sum(centred**2) / (len(early) - 1)))
        return float(np.trace(centred)) / deviation if deviation > 0 else 0.0

    def iou(self, axis: Axis, references: ReferenceTimes) -> Floats:
        """Return the IoU of each moment with its references."""
        return references.best_iou(*axis.to_seconds(self.start, self.end, self.duration_s))[self.known]

    def best(self, axes: Sequence[Axis], sure: float = SURE) -> Axis | None:
        """Return the axis on which moments overlap the references most, and more than as seconds; None without one.

        The mean gain in IoU is more than `sure` standard errors, a negative number for no clear loss; of few moments it
        is no loss.
        """
        if self.references is None:
            return axes[0] if axes else None
        in_seconds = self.iou(SECONDS, self.references)
        gains = {axis: self.iou(axis, self.references) - in_seconds for axis in axes}
        means = {axis: float(gain.mean()) for axis, gain in gains.items()}
        errors = {axis: float(gain.std()) / np.sqrt(len(gain)) for axis, gain in gains.items()}
        few = not self.enough
        fitting = [axis for axis, mean in means.items() if (few and mean >= 0) or mean > sure * errors[axis]]
        return max(fitting, key=means.__getitem__, default=None)

    def fractions(self) -> Suspicion | None:
        """Return whether nearly all times are at most 1, and not those of videos of a few seconds."""
        limit = 1.05 if self.references is None or not self.enough else 2.0
        if self.most(0.97) > limit or self.longest > 10 or np.median(self.duration_s[self.known]) < SHORT_S:
            return None
        axis = self.best([Axis("fraction")])
        if axis is None:
            return None
        shortest_s, longest_s = (f"{extreme(self.duration_s[self.known]):.0f}" for extreme in (np.min, np.max))
        lasting = f"{shortest_s} s" if shortest_s == longest_s else f"{shortest_s} to {longest_s} s"
        why = f"the largest is {self.longest:.3g}, and the videos last {lasting}"
        certain = self.enough and not (self.whole and self.references is None)
        return Suspicion("fractions of the video", axis, why, certain)

    def scaled(self) -> Suspicion | None:
        """Return the unit of times that are too large, or all too small, to be seconds."""
        past, late = self.past_end(), self.most(0.97)
        middle = self.is_constant_middle()
        hundredths = Axis("bins", 100.0) if self.whole and self.longest < 100 and not middle else Axis("percent")
        expected, whose = self.expected_above_100()
        above = int(np.sum(self.end[self.known] > 105))
        if (
            self.enough
            and (95 <= self.most(0.99) <= 102 or middle)
            and above < expected / 4
            and self.best([hundredths], self.sure_of_hundredths())
        ):
            why = f"{above:,} are above 105, and {expected:,} {whose}"
            return Suspicion("hundredths of the video", hundredths, why, certain=True)
        axes = self.rates() if past > MANY_PAST else []
        highest = 101 if self.references is None else 100 * NEAR
        if past > SOME_PAST and (late >= 100 / NEAR or not self.enough) and late <= highest:
            axes = [hundredths, *axes]
        if self.references is not None and float(self.iou(SECONDS, self.references).mean()) >= FITS:
            axes = [axis for axis in axes if axis == hundredths]
            past = past if axes else 0.0
        axis = self.best(axes)
        why = f"{100 * past:.0f} % end after the end of their video"
        if axis is None:
            hopeless = past > 0.5 and self.enough
            return Suspicion("no seconds", None, f"{why}, and no usual unit fits", certain=True) if hopeless else None
        about = "about " if self.references is None and axis.kind == "fps" else ""
        return Suspicion(_in_words(axis, about), axis, why, self.enough)

    def expected_above_100(self) -> tuple[int, str]:
        """Return how many times in seconds would be above 100, and why; 0 for too few."""
        if self.references is None:
            long = int(np.sum(self.duration_s[self.known] > 150)) // 5
            return (long if long >= EXPECTED else 0), "or more of videos of more than 150 s would be"
        late = int(np.sum(self.references.latest_s()[self.known] > 105))
        return (late if late >= EXPECTED else 0), "references are"

    def rates(self) -> list[Axis]:
        """Return the rates at which late moments end near the end of their video, the nearest first."""
        filled = self.most(0.95, self.duration_s)
        if filled > 2 * RATES[-1]:
            return [MILLISECONDS]
        far = {rate: abs(np.log(filled / rate)) for rate in RATES}
        return [Axis("fps", rate) for rate in sorted(RATES, key=far.__getitem__) if far[rate] <= np.log(NEAR)]


def _in_words(axis: Axis, about: str) -> str:
    if axis == MILLISECONDS:
        return "milliseconds"
    if axis.kind != "fps":
        return "hundredths of the video"
    return f"frames at {about}{axis.number:g}{f' (or {NTSC[axis.number]})' if axis.number in NTSC else ''} a second"
