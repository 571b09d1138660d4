r"""The verdict: a method against every floor at once, and its skill.

A *floor* is a baseline that never sees the video; f is the figure of the strongest one on the audited split, s that of
the method, c that of the oracle.

.. math:: \mathrm{skill} = \frac{s - f}{c - f}

is 0 for a method that scores as the strongest floor and 1 for the oracle. A method that finds a share t of the queries
and guesses the others as that floor does has skill t, whatever the measure.

The strongest floor is chosen on the very split that the method is tested on, so an interval of the difference to it
alone would be too short. Intervals come from those of every floor, by the studentised bootstrap of videos
(:mod:`truemoment.evaluation.studentised`):

- the lower end is the lowest of their lower ends at level 0.05. "Better" means that all of them are above 0, an
  intersection-union test (Berger 1982), which needs no correction;
- the upper end is the lowest of their upper ends at level 0.05 / N for N floors: Bonferroni's correction.

Floors that are drawn or trained by chance are means over draws, and the standard error of such a mean is added.

Another training of the same network, or of one of another size, scores otherwise: a lucky one is not better than
guessing, and an unlucky one is not worse. So "better" needs every lower end to be above a margin, and "worse" some
upper end to be below the negative margin: two standard deviations between single networks of that floor, at the
headline measure (:data:`truemoment.baselines.floors.MARGIN`).
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
strongest floor does not."""

NO_SKILL = "the oracle is not above the strongest floor"
"""Why the skill is undefined."""

DRAWS = 5
"""Draws of videos for a verdict, times those for other intervals: level 0.05 / N looks further into the tails."""

Kind = Literal["better", "worse", "not decided", "undefined"]


@dataclass(frozen=True, eq=False)
class Verdict:
    """A method against F floors by M measures; figures are fractions, NaN where undefined.

    Parameters
    ----------
    strongest : (M,)
        Number of the floor with the highest figure on the audited split; the first of equal ones.
    strongest_in : (F, M)
        Share of resamples of the videos in which each floor is the strongest.
    difference : (M,)
        Method less strongest floor.
    against : (F, M)
        Method less each floor.
    against_ci95 : (F, M, 2)
        Their 95 % intervals, each alone.
    highest : (F, M)
        Their upper ends at level 0.05 / F.
    resolves : (M,)
        Difference to the strongest floor that such a split finds in 80 of 100 cases.
    skill : (M,)
        NaN where the ceiling is not above the strongest floor.
    skill_ci95 : (M, 2)
        Its 95 % interval, which allows for the choice of the strongest.
    margin : (F,)
        Difference to each floor that another training of it would make.
    untaught
        Why the floors had too little to learn from, so that nothing is decided; empty where they had enough.
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
    untaught: tuple[str, ...] = ()

    @property
    def ci95(self) -> Floats:
        """95 % interval of the difference, (M, 2), which allows for the choice of the strongest."""
        return np.stack([self.against_ci95[:, :, 0].min(axis=0), self.highest.min(axis=0)], axis=-1)

    def kind(self, m: int) -> Kind:
        """Return what is shown at measure m."""
        low, high = self.ci95[m]
        if not (np.isfinite(low) and np.isfinite(high)):
            return "undefined"
        if self.untaught or self.within_margin(m) is not None:
            return "not decided"
        return "better" if low > 0 else "worse" if high < 0 else "not decided"

    def within_margin(self, m: int) -> int | None:
        """Return the floor whose margin keeps a difference at measure m from being shown; None where none does."""
        low, high = self.ci95[m]
        if low > 0:  # above every floor
            beyond = self.against_ci95[:, m, 0] - self.margin
            floor = int(beyond.argmin())
        elif high < 0:  # below one floor or more
            beyond = -self.highest[:, m] - self.margin
            floor = int(beyond.argmax())
        else:
            return None
        return floor if beyond[floor] <= 0 else None

    def is_little(self, m: int) -> bool:
        """Return whether the skill at measure m is shown to be below :data:`LITTLE`."""
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
    untaught: tuple[str, ...] = (),
) -> Verdict:
    """Compare a method with F floors by M measures of the same queries.

    `spread` is the standard error of each floor's figure over its draws, (F, M), 0 for one that draws nothing, and
    `margin` the difference to it that another training would make, (F,); None for none. With `untaught` nothing is
    decided.
    """
    own, weight = sums_by_video(method)
    best, _ = sums_by_video(ceiling)
    of_floors = np.stack([sums_by_video(of)[0] for of in floors])  # (F, V, M)
    n_floors, _, n_measures = of_floors.shape
    gains, room = own - of_floors, best - of_floors
    n_gains = n_floors * n_measures
    weights, rooms = np.tile(np.arange(n_measures), n_floors), n_measures + np.arange(n_gains)
    both = resample_ratios(
        np.concatenate(gains, axis=1),
        np.concatenate([weight, *room], axis=1),
        rng,
        resamples=DRAWS * resamples,
        above=np.tile(np.arange(n_gains), 2),
        below=np.concatenate([weights, rooms]),
    )
    difference, skill = both[:n_gains], both[n_gains:]
    total = weight.sum(axis=0)
    strongest = (of_floors.sum(axis=1) / np.maximum(total, NO_WEIGHT)).argmax(axis=0)
    at = strongest, np.arange(n_measures)
    slope = _slope(own.sum(axis=0), of_floors.sum(axis=1), best.sum(axis=0), total)
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
        untaught=untaught,
        skill_ci95=np.where(has_room[:, None], interval_of_least(skill, n_floors, (spread * slope).ravel()), np.nan),
    )


def _slope(own: Floats, floors: Floats, best: Floats, total: Floats) -> Floats:
    """How much the skill changes with a floor's figure, |(s - c) / (c - f)^2|, (F, M); sums over all queries."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.abs((own - best) * total / (best - floors) ** 2), nan=0.0, posinf=0.0)
