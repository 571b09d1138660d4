r"""Model selection: the test figures of the variants that validation measures choose.

Each validation measure j chooses the best of N variants of a method on the validation split. Each test measure t
judges the choices. Ties (within 1e-12) are broken at random: figures are means over the tied variants.

*Z-score* (Fig. 8 of the paper): :math:`z_{j t} = (x_{j t} - \bar x_t) / s_t` over the choices (ddof 0), 0 if all are
equal. *Regret*: the best of all N figures minus that of the choice. For measures for which less is better, both have
the opposite sign. The choices are repeated on resamples of the validation videos. Guide: ``docs/meta.md``. Source:
AxIoU (Togashi et al. 2022), section 6.6.
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
"""The measure that the paper leaves out of the test measures, because nearly every variant reaches its maximum."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Choices of Mv validation measures among N variants, judged by Mt test measures; fractions, NaN if undefined.

    Parameters
    ----------
    variants
        Names of the variants.
    validation_figures : (N, Mv)
    test_figures : (N, Mt)
    selected : (Mv,)
        Row of the variant that each validation measure chooses; the first one of a tie.
    tied : (Mv,)
        Number of variants with the best figure; 1 without a tie.
    selected_figures : (Mv, Mt)
        Figure of each choice under each test measure; the mean over those that tie.
    z, regret : (Mv, Mt)
        Z-score of each choice among all choices, higher is better; and its loss to the best variant, 0 or more.
    by_lot : (Mt,)
        Mean regret of all variants: the loss of a random choice.
    regret_mean : (Mv, Mt)
        Mean regret of the choices on resamples of the validation videos.
    regret_interval : (Mv, Mt, 2)
        95 % interval of the regret over the resamples.
    lost : (resamples, Mv)
        Mean over the test measures of the regret in each resample, the same resamples for all: differences are paired.
    stays : (Mv,)
        Probability that a resample chooses the same variant as the whole split, with ties broken at random; mean over
        the resamples.
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
        """Mean loss of the choices of each validation measure over the resamples, (Mv,)."""
        return np.asarray(self.lost.mean(axis=0))

    @property
    def mean_lost_interval(self) -> Floats:
        """95 % interval of the loss over the resamples, (Mv, 2)."""
        return interval95(self.lost)

    @property
    def order(self) -> Ints:
        """Rows of the validation measures, smallest mean loss first, (Mv,)."""
        return np.asarray(np.argsort(self.mean_lost, kind="stable"))

    @property
    def behind(self) -> Floats:
        """95 % interval of the loss of each validation measure less that of the first of `order`, (Mv, 2)."""
        return interval95(self.lost - self.lost[:, self.order[:1]])

    @property
    def worse_than_first(self) -> Floats:
        """Share of resamples in which each validation measure loses more than the first of `order`, (Mv,)."""
        return np.asarray((self.lost > self.lost[:, self.order[:1]] + ROUNDING).mean(axis=0))


def select(
    validation: Systems, test: Systems, rng: np.random.Generator, *, resamples: int = 1000, progress: bool = False
) -> Selection:
    """Choose a variant by each validation measure, and judge the choices on the test split.

    Both sides have the same variants in the same order; their measures may differ.

    Examples
    --------
    >>> from truemoment import Annotations, Predictions
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> def scores(end_s, measures):
    ...     return evaluate(a, Predictions.from_lists({"v#0": [(2.0, end_s)]}), measures)
    >>> ends = {"far": 4.5, "near": 5.5}
    >>> result = select(
    ...     Systems({name: scores(end_s, "R@1,IoU=0.5; mIoU") for name, end_s in ends.items()}),
    ...     Systems({name: scores(end_s, "mIoU") for name, end_s in ends.items()}),
    ...     np.random.default_rng(0),
    ...     resamples=2,
    ... )
    >>> [result.variants[number] for number in result.selected], result.tied.tolist(), result.regret.tolist()
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
    """Return which variants have the highest figure within 1e-12, (N, ...); an undefined figure is never the best."""
    return np.asarray(figures >= np.fmax.reduce(figures, axis=0) - ROUNDING)  # NaN is in no order


def mean_over(among: Bools, figures: Floats) -> Floats:
    """Return the means of figures, (N, Mt), over the variants that tie as the best, (N, ...): (..., Mt).

    They are NaN if one of these figures is undefined, or no variant is the best.
    """
    share = np.moveaxis(among, 0, -1).astype(np.float64)
    total, undefined = share @ np.nan_to_num(figures, nan=0.0), share @ np.isnan(figures)
    counts = share.sum(axis=-1)[..., None]
    known = (undefined == 0) & (counts > 0)
    return np.asarray(np.where(known, total / np.maximum(counts, 1), np.nan))


def same_by_lot(among: Bools, among_resampled: Bools) -> Floats:
    """Return the probability that two choices are the same variant, with ties broken at random.

    Parameters
    ----------
    among : (N, Mv)
        Which of N variants tie as the best in one choice.
    among_resampled : (N, R, Mv)
        Which of N variants tie as the best in R other choices.

    Returns
    -------
    array, shape (R, Mv)
        0 if one of the two chooses nothing.
    """
    shared = (among[:, None] & among_resampled).sum(axis=0)
    n_pairs = among.sum(axis=0) * among_resampled.sum(axis=0)
    return np.asarray(np.where(n_pairs > 0, shared / np.maximum(n_pairs, 1), 0.0))


def z_scores(figures: Floats) -> Floats:
    """Return the Z-scores within each column of figures, (Mv, Mt), with ddof 0; 0 if all are equal.

    They are NaN if a column contains NaN.
    """
    away = figures - figures.mean(axis=0)
    spread = figures.std(axis=0)
    differ = ~(spread <= ROUNDING)  # NaN stays
    return np.asarray(np.where(differ, away / np.where(differ, spread, 1), 0.0))


def _check_same(validation: tuple[str, ...], test: tuple[str, ...]) -> None:
    for side, names, others in (("validation", validation, set(test)), ("test", test, set(validation))):
        if unpaired := [name for name in names if name not in others]:
            raise UsageError(f"got {few(unpaired)} on the {side} side only, expected the same variants on both")
    if validation != test:
        at = next(at for at, (name, other) in enumerate(zip(validation, test, strict=True)) if name != other)
        raise UsageError(
            f"got variant {validation[at]!r} of the validation side where the test side has {test[at]!r}, expected the "
            "same order on both"
        )


def _check_defined(figures: Floats, measures: tuple[Measure, ...], side: str) -> None:
    undefined: Bools = np.asarray(np.isnan(figures).all(axis=0))
    for measure, nowhere in zip(measures, undefined, strict=True):
        if nowhere:
            raise UsageError(f"{measure}: is defined for no variant on the {side} side, so it can choose none")


def without_saturated(systems: Systems) -> Systems:
    """Leave out the measure that gives all variants the same value (:data:`SATURATED`), if there are others."""
    measures = [measure for measure in systems.measures if str(measure) != SATURATED]
    if not measures or len(measures) == len(systems.measures):
        return systems
    return Systems({name: scores.only(measures) for name, scores in systems.scores.items()})
