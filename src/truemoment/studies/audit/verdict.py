r"""The verdict: the difference of a method to every floor at once, and its skill.

A *floor* is a baseline that never sees the video; f is the figure of the strongest one on the audited split, s that of
the method, c that of the references themselves, clipped to their videos.

.. math:: \mathrm{skill} = \frac{s - f}{c - f}

is 0 for a method with the score of the strongest floor and 1 for the references. A method that finds a share t of the
moments and guesses the others as that floor does has skill t at every measure.

The strongest floor is chosen on the split under test, so an interval of the difference to it alone would be too short.
Intervals are computed from those of every floor, by the studentised bootstrap of videos
(:mod:`truemoment.evaluation.studentised`):

- the lower end is the lowest of their lower ends at level 0.05. "Better" means that all of them are above 0, an
  intersection-union test (Berger 1982), which needs no correction;
- the upper end is the lowest of their upper ends at level 0.05 / N for N floors: Bonferroni's correction.

Floors that are drawn or trained by chance are means over draws, and the standard error of such a mean is added.

Another training of the same network, or of one of another size, has another score: a lucky one is not better than
guessing, and an unlucky one is not worse. So "better" means that every lower end is above a margin, and "worse" that
some upper end is below the negative margin. The margin is two standard deviations between single networks of that
floor, at the headline measure (:data:`truemoment.baselines.floors.MARGIN`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.studentised import ends_of_each, interval_of_least, resample_ratios
from truemoment.evaluation.uncertainty import NO_WEIGHT, minimum_detectable_difference, sums_by_video

LITTLE = 0.2
"""Skill below which a method is called better by little: it finds fewer than one in five of the moments that the
strongest floor misses."""

NO_SKILL = "the references are not above the strongest floor"
"""Reason for an undefined skill."""

DRAWS = 5
"""Factor on the number of resamples for a verdict: level 0.05 / N needs more draws in the tails."""

Kind = Literal["better", "worse", "not decided", "undefined"]


@dataclass(frozen=True, eq=False)
class Verdict:
    """The differences of a method to F floors at M measures; figures are fractions, NaN if undefined.

    Parameters
    ----------
    strongest : (M,)
        Row of the floor with the highest figure on the audited split; the first one if several are equal.
    strongest_in : (F, M)
        Share of resamples of the videos in which each floor is the strongest.
    difference : (M,)
        Method less strongest floor.
    against : (F, M)
        Method less each floor.
    against_ci95 : (F, M, 2)
        95 % intervals of these differences, without correction for F floors.
    highest : (F, M)
        Upper ends of these differences at level 0.05 / F.
    resolves : (M,)
        Smallest difference to the strongest floor that can be detected with 80 % power.
    skill : (M,)
        NaN if the ceiling is not above the strongest floor.
    skill_ci95 : (M, 2)
        Its 95 % interval, which allows for the choice of the strongest.
    margin : (F,)
        Difference to each floor that another training of it may cause.
    training_faults
        Reasons why the floors had too little to learn from, so that nothing is decided; empty if they had enough.
    """

    strongest: Ints
    strongest_in: Floats
    difference: Floats
    against: Floats
    against_ci95: Floats
    highest: Floats
    resolves: Floats
    skill: Floats
    skill_ci95: Floats
    margin: Floats
    training_faults: tuple[str, ...] = ()

    @property
    def ci95(self) -> Floats:
        """95 % interval of the difference, (M, 2), which allows for the choice of the strongest."""
        return np.stack([self.against_ci95[:, :, 0].min(axis=0), self.highest.min(axis=0)], axis=-1)

    def kind(self, m: int) -> Kind:
        """Return the verdict at measure m."""
        low, high = self.ci95[m]
        if not (np.isfinite(low) and np.isfinite(high)):
            return "undefined"
        if self.training_faults or self.within_margin(m) is not None:
            return "not decided"
        return "better" if low > 0 else "worse" if high < 0 else "not decided"

    def within_margin(self, m: int) -> int | None:
        """Return the row of the floor whose margin includes the difference at measure m; None if none does."""
        low, high = self.ci95[m]
        if low > 0:  # above every floor
            excess = self.against_ci95[:, m, 0] - self.margin
            floor = int(excess.argmin())
        elif high < 0:  # below one floor or more
            excess = -self.highest[:, m] - self.margin
            floor = int(excess.argmax())
        else:
            return None
        return floor if excess[floor] <= 0 else None

    def is_little(self, m: int) -> bool:
        """Return whether the interval of the skill at measure m lies below :data:`LITTLE`."""
        return bool(self.skill_ci95[m, 1] < LITTLE)


def judge_floors(
    method: Scores,
    floors: Sequence[Scores],
    ceiling: Scores,
    spread: Floats,
    rng: np.random.Generator,
    *,
    resamples: int,
    margin: Floats | None = None,
    training_faults: tuple[str, ...] = (),
) -> Verdict:
    """Compare a method with F floors at M measures over the same queries.

    `spread` is the standard error of each floor's figure over its draws, (F, M); 0 for a floor without draws. `margin`
    is the difference to each floor that another training of it may cause, (F,); None for none. With `training_faults`
    nothing is decided.
    """
    own, weight = sums_by_video(method)
    best, _ = sums_by_video(ceiling)
    floor_sums = np.stack([sums_by_video(floor)[0] for floor in floors])  # (F, V, M)
    n_floors, _, n_measures = floor_sums.shape
    gains, room = own - floor_sums, best - floor_sums
    n_gains = n_floors * n_measures
    weights, rooms = np.tile(np.arange(n_measures), n_floors), n_measures + np.arange(n_gains)
    ratios = resample_ratios(
        np.concatenate(gains, axis=1),
        np.concatenate([weight, *room], axis=1),
        rng,
        resamples=DRAWS * resamples,
        above=np.tile(np.arange(n_gains), 2),
        below=np.concatenate([weights, rooms]),
    )
    difference, skill = ratios[:n_gains], ratios[n_gains:]
    total = weight.sum(axis=0)
    strongest = (floor_sums.sum(axis=1) / np.maximum(total, NO_WEIGHT)).argmax(axis=0)
    at = strongest, np.arange(n_measures)
    slope = _slope(own.sum(axis=0), floor_sums.sum(axis=1), best.sum(axis=0), total)
    has_room = room.sum(axis=1)[at] > 0
    drawn = difference.drawn.reshape(-1, n_floors, n_measures)
    differ = (gains != 0).sum(axis=1)[at]
    lower, upper, highest = ends_of_each(difference, n_floors, spread.ravel())
    return Verdict(
        strongest=strongest,
        strongest_in=np.stack([(drawn.argmin(axis=1) == f).mean(axis=0) for f in range(n_floors)]),
        difference=difference.value.reshape(n_floors, n_measures)[at],
        against=difference.value.reshape(n_floors, n_measures),
        against_ci95=np.stack([lower, upper], axis=-1),
        highest=highest,
        resolves=minimum_detectable_difference(drawn[:, *at], n_differing=differ),
        skill=np.where(has_room, skill.value.reshape(n_floors, n_measures)[at], np.nan),
        margin=np.zeros(n_floors) if margin is None else margin,
        training_faults=training_faults,
        skill_ci95=np.where(has_room[:, None], interval_of_least(skill, n_floors, (spread * slope).ravel()), np.nan),
    )


def _slope(own: Floats, floors: Floats, best: Floats, total: Floats) -> Floats:
    """Return the slope of the skill by a floor's figure, |(s - c) / (c - f)^2|, (F, M), from sums over all queries."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.abs((own - best) * total / (best - floors) ** 2), nan=0.0, posinf=0.0)
