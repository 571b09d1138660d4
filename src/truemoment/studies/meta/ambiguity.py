r"""Label ambiguity: the change of figures and rankings under noisy labels.

For a measure :math:`\mu` and a system :math:`\sigma`, with :math:`\mu_0` on the labels as they are and :math:`\mu_n` on
N sets of noisy labels (:mod:`~truemoment.studies.meta.noise`),

.. math:: \mathrm{RMSE} = \sqrt{\frac{1}{N} \sum_{n=1}^N (\mu_n(\sigma) - \mu_0(\sigma))^2}

A low RMSE alone is no merit, so it is also given relative to the spread of the systems, with the share of pairs of
systems that change places. Guide: ``docs/meta.md``. Source: AxIoU (Togashi et al. 2022), section 6.4, Fig. 7.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats, temporal_iou
from truemoment.base.records import Annotations, Predictions
from truemoment.base.rules import OnUnknown
from truemoment.evaluation.evaluate import evaluate_relabelled, resolve_protocol
from truemoment.evaluation.measures import Measure, parse_measures
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.studies.meta.noise import NoiseModel
from truemoment.studies.meta.rankings import Signs, kendall_tau_b, order_of_pairs
from truemoment.studies.meta.systems import direction_of
from truemoment.studies.meta.workers import done_in_order


@dataclass(frozen=True, eq=False)
class NoiseLevel:
    """S systems by M measures on N sets of noisy labels.

    Parameters
    ----------
    model, level
        Which noise, and how much.
    mean_iou
        Mean IoU of a noisy label with the label itself, over queries and sets.
    median_iou
        Each label's median IoU over the sets, then the mean over labels: what the paper seems to quote.
    original : (S, M)
        Figures on the labels as they are.
    figures : (N, S, M)
        Figures on each noisy set, fractions.
    direction : (M,)
        1 for measures where more is better, -1 where less is.
    """

    model: str
    level: str
    mean_iou: float
    median_iou: float
    original: Floats
    figures: Floats
    direction: Floats

    @functools.cached_property
    def error(self) -> Floats:
        """Difference from the figures on the labels as they are, (N, S, M)."""
        return np.asarray(self.figures - self.original)

    @functools.cached_property
    def rmse(self) -> Floats:
        """Root mean squared error of each figure, (S, M)."""
        return np.asarray(np.sqrt((self.error**2).mean(axis=0)))

    @functools.cached_property
    def bias(self) -> Floats:
        """Mean error of each figure, (S, M): how far noise moves it one way."""
        return np.asarray(self.error.mean(axis=0))

    @functools.cached_property
    def relative_rmse(self) -> Floats:
        """Mean RMSE over the systems, in standard deviations of the systems' figures; (M,), NaN where all are equal."""
        spread = self.original.std(axis=0)
        differs = spread > ROUNDING  # of equal figures, the deviation is only nearly 0
        return np.where(differs, self.rmse.mean(axis=0) / np.where(differs, spread, 1), np.nan)

    @property
    def _orders(self) -> tuple[Signs, Signs]:
        """Who is better of each pair on the labels as they are, (M, P), and on each noisy set, (N, M, P)."""
        tables = (self.original.T, self.figures.transpose(0, 2, 1))
        before, after = (order_of_pairs(self.direction[:, None] * table) for table in tables)
        return before, after

    @functools.cached_property
    def flips(self) -> Floats:
        """Share of sets in which each pair of systems changes places, (P, M); NaN where the two tie as they are."""
        before, after = self._orders
        turned = (after == -before).mean(axis=0)
        return np.where(before != 0, turned, np.nan).T

    @functools.cached_property
    def mean_flips(self) -> Floats:
        """Share of sets in which a pair changes places, mean over the pairs that do not tie as they are; (M,)."""
        counts = (~np.isnan(self.flips)).sum(axis=0)
        return np.where(counts > 0, np.nansum(self.flips, axis=0) / np.maximum(counts, 1), np.nan)

    @functools.cached_property
    def tau(self) -> Floats:
        """Kendall's tau-b of rankings on noisy labels with that as they are, mean over sets, (M,); undefined is 0."""
        before, after = self._orders
        return np.asarray(np.nan_to_num(kendall_tau_b(after, before[None]), nan=0.0).mean(axis=0))


@dataclass(frozen=True, eq=False)
class Ambiguity:
    """Systems under one model of label noise.

    Parameters
    ----------
    levels
        From little noise to much.
    source
        Where the model was learned, or "".
    """

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    levels: tuple[NoiseLevel, ...]
    source: str = ""
    dataset: str = ""

    @property
    def model(self) -> str:
        """Which noise."""
        return self.levels[0].model

    @property
    def original(self) -> Floats:
        """Figures on the labels as they are, (S, M)."""
        return self.levels[0].original

    @property
    def sets(self) -> int:
        """Noisy sets of a level."""
        return len(self.levels[0].figures)


def ambiguity(
    annotations: Annotations,
    answers: Mapping[str, Predictions],
    models: Sequence[NoiseModel],
    rng: np.random.Generator,
    *,
    measures: str | Sequence[Measure],
    protocol: str | Protocol | None = None,
    on_unknown: OnUnknown = "refuse",
    sets: int = 100,
    workers: int | None = 1,
    progress: bool = False,
) -> Ambiguity:
    """Compare figures of systems on noisy labels with those on the labels as they are.

    `models` are one kind of noise at rising levels. A set has a generator of its own, with the same seed at every
    level, so the result does not depend on `workers`. Other parameters are as for :func:`truemoment.evaluate`.
    """
    if len(answers) < 2 or not models:
        raise UsageError(
            f"got {len(answers)} of the two systems or more, {len(models)} of the one level of noise or more"
        )
    if np.isnan(annotations.start_s).all():
        raise InputError(f"{annotations.dataset}/{annotations.split}: no query has a moment")
    if len({model.name for model in models}) > 1:
        raise UsageError(f"got {', '.join(sorted({m.name for m in models}))}, expected levels of one model of noise")
    if sets < 2:
        raise UsageError(f"got {sets} noisy sets, expected 2 or more")
    measure_list = parse_measures(measures) if isinstance(measures, str) else tuple(measures)
    protocol = resolve_protocol(protocol, annotations)
    seeds = rng.integers(1 << 62, size=sets)
    direction = direction_of(measure_list)

    def drawn(model: NoiseModel) -> tuple[Floats, Floats]:
        return model.draw(annotations, [np.random.default_rng(seed) for seed in seeds])

    labels = list(done_in_order(drawn, models, workers=workers, what="drawing labels", progress=False))
    as_they_are = annotations.start_s[None], annotations.end_s[None]

    def figures_of(piece: tuple[Predictions, tuple[Floats, Floats]]) -> Floats:
        predictions, (start_s, end_s) = piece
        return evaluate_relabelled(
            annotations, predictions, start_s, end_s, measure_list, protocol=protocol, on_unknown=on_unknown
        )

    pieces = [(predictions, of) for of in (as_they_are, *labels) for predictions in answers.values()]
    found = list(done_in_order(figures_of, pieces, workers=workers, what=f"{models[0].name} noise", progress=progress))
    n = len(answers)
    original = np.concatenate(found[:n])
    levels = []
    for at, (model, (start_s, end_s)) in enumerate(zip(models, labels, strict=True), start=1):
        iou = temporal_iou(start_s, end_s, annotations.start_s, annotations.end_s)[:, ~np.isnan(annotations.start_s)]
        levels.append(
            NoiseLevel(
                model=model.name,
                level=model.level,
                mean_iou=float(iou.mean()),
                median_iou=float(np.median(iou, axis=0).mean()),
                original=original,
                figures=np.stack(found[at * n : (at + 1) * n], axis=1),
                direction=direction,
            )
        )
    return Ambiguity(tuple(answers), measure_list, tuple(levels), models[0].source, annotations.dataset)
