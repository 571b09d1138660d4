r"""Model selection: the test figures of the variants that validation measures choose.

Of N variants of a method, each validation measure j chooses the best one on the validation split. Each test measure t
judges the choices. Ties (within 1e-12) are broken by lot: figures are means over the tied variants.

*Z-score* (Fig. 8 of the paper): :math:`z_{j t} = (x_{j t} - \bar x_t) / s_t` over the choices (ddof 0), 0 where all are
equal. *Regret*: the best of all N figures minus that of the choice. For measures where less is better, both have the
opposite sign. The choices are repeated on resamples of the validation videos. Guide: ``docs/meta.md``. Source: AxIoU
(Togashi et al. 2022), section 6.6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.uncertainty import ROUNDING, interval95, resample_figures
from truemoment.report.words import few
from truemoment.studies.meta.systems import Systems

SATURATED = "R@10,IoU=0.3"
"""What the paper leaves out of the test measures, since nearly everything scores it."""


@dataclass(frozen=True, eq=False)
class Selection:
    """What Mv validation measures chose of N variants, under Mt test measures. Figures are fractions, NaN undefined.

    Parameters
    ----------
    variants
        Names of the variants.
    validation_figures : (N, Mv)
    test_figures : (N, Mt)
    selected : (Mv,)
        Number of the variant that each validation measure chooses; the first of those that tie.
    tied : (Mv,)
        How many variants share the best figure; 1 where none ties.
    selected_figures : (Mv, Mt)
        Figure of each choice under each test measure; the mean over those that tie.
    z, regret : (Mv, Mt)
        Z-score of each choice among all choices, higher is better; and what it loses to the best variant, 0 or more.
    by_lot : (Mt,)
        Mean regret of all variants: what one drawn by lot loses.
    regret_mean : (Mv, Mt)
        Mean regret of the choices on resamples of the validation videos.
    regret_interval : (Mv, Mt, 2)
        95 % interval of the regret over the resamples.
    lost : (resamples, Mv)
        Mean over the test measures of the regret in each resample, the same resamples for all: differences are paired.
    stays : (Mv,)
        How often a resample chooses the same variant as the whole split, where either chooses by lot among those that
        tie; mean over the resamples.
    """

    validation_systems: Systems
    test_systems: Systems
    validation_figures: Floats
    test_figures: Floats
    selected: Ints
    tied: Ints
    selected_figures: Floats
    z: Floats
    regret: Floats
    by_lot: Floats
    regret_mean: Floats
    regret_interval: Floats
    lost: Floats
    stays: Floats
    resamples: int

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants."""
        return self.validation_systems.names

    @property
    def validation(self) -> tuple[Measure, ...]:
        """The measures that choose."""
        return self.validation_systems.measures

    @property
    def test(self) -> tuple[Measure, ...]:
        """The measures that judge the choices."""
        return self.test_systems.measures

    @property
    def mean_lost(self) -> Floats:
        """What the choices of each validation measure lose on average over the resamples, (Mv,)."""
        return np.asarray(self.lost.mean(axis=0))

    @property
    def mean_lost_interval(self) -> Floats:
        """Where 95 % of the resamples lie, (Mv, 2)."""
        return interval95(self.lost)

    @property
    def order(self) -> Ints:
        """Numbers of the validation measures, the one whose choices lose least (`lost`, on average) first, (Mv,)."""
        return np.asarray(np.argsort(self.mean_lost, kind="stable"))

    @property
    def behind(self) -> Floats:
        """95 % interval of how much more each validation measure loses than the first of `order`, (Mv, 2)."""
        return interval95(self.lost - self.lost[:, self.order[:1]])

    @property
    def worse_than_first(self) -> Floats:
        """Share of resamples in which each validation measure loses more than the first of `order`, (Mv,)."""
        return np.asarray((self.lost > self.lost[:, self.order[:1]] + ROUNDING).mean(axis=0))


def select(
    validation: Systems, test: Systems, rng: np.random.Generator, *, resamples: int = 1000, progress: bool = False
) -> Selection:
    """Let each validation measure choose a variant, and judge the choices on the test split.

    Both sides have the same variants in the same order; their measures may differ.

    Examples
    --------
    >>> from truemoment import Annotations, Predictions
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> def scores(end_s, measures):
    ...     return evaluate(a, Predictions.from_lists({"v#0": [(2.0, end_s)]}), measures)
    >>> ends = {"far": 4.5, "near": 5.5}
    >>> found = select(
    ...     Systems({name: scores(end_s, "R@1,IoU=0.5; mIoU") for name, end_s in ends.items()}),
    ...     Systems({name: scores(end_s, "mIoU") for name, end_s in ends.items()}),
    ...     np.random.default_rng(0),
    ...     resamples=2,
    ... )
    >>> [found.variants[number] for number in found.selected], found.tied.tolist(), found.regret.tolist()
    (['far', 'near'], [2, 1], [[0.125], [0.0]])
    """
    _check_same(validation.names, test.names)
    good = validation.figures * validation.direction
    _check_defined(good, validation.measures, "validation")
    test_good = test.figures * test.direction
    _check_defined(test_good, test.measures, "test")
    among = best_of(good)  # (N, Mv)
    selected = np.argmax(among, axis=0)
    loss = np.nanmax(test_good, axis=0) - test_good  # (N, Mt)
    figures = mean_over(among, test_good)
    drawn = resample_figures(list(validation.scores.values()), rng, resamples=resamples, progress=progress)
    drawn *= validation.direction
    among_resampled = best_of(drawn.swapaxes(0, 1))  # (N, resamples, Mv)
    regret = mean_over(among_resampled, loss)  # (resamples, Mv, Mt)
    regret[np.isnan(drawn).all(axis=1)] = np.nan  # a resample without any weight chooses nothing
    return Selection(
        validation_systems=validation,
        test_systems=test,
        validation_figures=validation.figures,
        test_figures=test.figures,
        selected=selected,
        tied=among.sum(axis=0),
        selected_figures=figures * test.direction,
        z=z_scores(figures),
        regret=mean_over(among, loss),
        by_lot=np.nanmean(loss, axis=0),
        regret_mean=regret.mean(axis=0),
        regret_interval=interval95(regret),
        lost=regret.mean(axis=2),
        stays=same_by_lot(among, among_resampled).mean(axis=0),
        resamples=resamples,
    )


def best_of(figures: Floats) -> Bools:
    """Which variants have the highest figure within 1e-12, (N, ...); an undefined figure (NaN) is never the best."""
    return np.asarray(figures >= np.fmax.reduce(figures, axis=0) - ROUNDING)  # NaN is in no order


def mean_over(among: Bools, figures: Floats) -> Floats:
    """Mean figures, (N, Mt), over the variants that share the best place, (N, ...): (..., Mt).

    NaN where one of them is undefined, or none shares the place.
    """
    share = np.moveaxis(among, 0, -1).astype(np.float64)
    total, undefined = share @ np.nan_to_num(figures, nan=0.0), share @ np.isnan(figures)
    counts = share.sum(axis=-1)[..., None]
    known = (undefined == 0) & (counts > 0)
    return np.asarray(np.where(known, total / np.maximum(counts, 1), np.nan))


def same_by_lot(among: Bools, among_resampled: Bools) -> Floats:
    """Chance that two choices are the same variant, each by lot among those that share its best place.

    Parameters
    ----------
    among : (N, Mv)
        Which of N variants share it in one choice.
    among_resampled : (N, R, Mv)
        And in R others.

    Returns
    -------
    array, shape (R, Mv)
        0 where one of the two chooses nothing.
    """
    both = (among[:, None] & among_resampled).sum(axis=0)
    n_pairs = among.sum(axis=0) * among_resampled.sum(axis=0)
    return np.asarray(np.where(n_pairs > 0, both / np.maximum(n_pairs, 1), 0.0))


def z_scores(figures: Floats) -> Floats:
    """Z-scores down each column of figures, (Mv, Mt), with their standard deviation (ddof 0); 0 where all are equal.

    NaN where a column contains NaN.
    """
    away = figures - figures.mean(axis=0)
    spread = figures.std(axis=0)
    differ = ~(spread <= ROUNDING)  # NaN stays
    return np.asarray(np.where(differ, away / np.where(differ, spread, 1), 0.0))


def _check_same(validation: tuple[str, ...], test: tuple[str, ...]) -> None:
    for side, ours, theirs in (("validation", validation, set(test)), ("test", test, set(validation))):
        if alone := [name for name in ours if name not in theirs]:
            raise UsageError(f"got {few(alone)} on the {side} side only, expected the same variants on both")
    if validation != test:
        at = next(at for at, (ours, theirs) in enumerate(zip(validation, test, strict=True)) if ours != theirs)
        raise UsageError(
            f"got variant {validation[at]!r} of the validation side where the test side has {test[at]!r}, expected the "
            "same order on both"
        )


def _check_defined(figures: Floats, measures: tuple[Measure, ...], side: str) -> None:
    undefined: Bools = np.asarray(np.isnan(figures).all(axis=0))
    for measure, nowhere in zip(measures, undefined, strict=True):
        if nowhere:
            raise UsageError(f"{measure}: is defined for no variant on the {side} side, so nothing is best by it")


def without_saturated(systems: Systems) -> Systems:
    """Leave out the measure that gives all variants the same value (:data:`SATURATED`), if others are left."""
    kept = [measure for measure in systems.measures if str(measure) != SATURATED]
    if not kept or len(kept) == len(systems.measures):
        return systems
    return Systems({name: one.only(kept) for name, one in systems.scores.items()})
