r"""Label ambiguity: the change of figures and rankings under models of label noise.

For a measure :math:`\mu` and a system :math:`\sigma`, with :math:`\mu_0` on the original labels and :math:`\mu_n` on N
sets of noisy labels (:mod:`~truemoment.studies.meta.noise`),

.. math:: \mathrm{RMSE} = \sqrt{\frac{1}{N} \sum_{n=1}^N (\mu_n(\sigma) - \mu_0(\sigma))^2}

A low RMSE alone does not make a good measure, so it is also divided by the spread of the systems, and reported with the
share of pairs of systems that change places. Guide: ``docs/meta.md``. Source: AxIoU (Togashi et al. 2022), section 6.4,
Fig. 7.
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
from truemoment.evaluation.measures import Measure, as_measures
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.studies.meta.loading import LoadedSystems
from truemoment.studies.meta.noise import NoiseModel
from truemoment.studies.meta.rankings import Signs, kendall_tau_b, order_of_pairs
from truemoment.studies.meta.request import NOISE
from truemoment.studies.meta.systems import direction_of
from truemoment.studies.meta.workers import map_in_order


@dataclass(frozen=True, eq=False)
class NoiseLevel:
    """S systems by M measures on N sets of noisy labels.

    Parameters
    ----------
    model, level
        Names of the model of noise and of its level.
    mean_iou
        Mean IoU of a noisy label with the original label, over queries and sets.
    median_iou
        Each label's median IoU over the sets, then the mean over labels: probably the figure that the paper quotes.
    original : (S, M)
        Figures on the original labels.
    figures : (N, S, M)
        Figures on each noisy set, fractions.
    direction : (M,)
        1 for measures for which more is better, -1 for the others.
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
        """Difference from the figures on the original labels, (N, S, M)."""
        return np.asarray(self.figures - self.original)

    @functools.cached_property
    def rmse(self) -> Floats:
        """Root mean squared error of each figure, (S, M)."""
        return np.asarray(np.sqrt((self.error**2).mean(axis=0)))

    @functools.cached_property
    def bias(self) -> Floats:
        """Mean error of each figure, (S, M)."""
        return np.asarray(self.error.mean(axis=0))

    @functools.cached_property
    def relative_rmse(self) -> Floats:
        """Mean RMSE over the systems, in standard deviations of the systems' figures; (M,), NaN if all are equal."""
        spread = self.original.std(axis=0)
        differs = spread > ROUNDING  # of equal figures, the deviation is only nearly 0
        return np.where(differs, self.rmse.mean(axis=0) / np.where(differs, spread, 1), np.nan)

    @property
    def _orders(self) -> tuple[Signs, Signs]:
        """Order of each pair of systems on the original labels, (M, P), and on each noisy set, (N, M, P)."""
        tables = (self.original.T, self.figures.transpose(0, 2, 1))
        original, noisy = (order_of_pairs(self.direction[:, None] * table) for table in tables)
        return original, noisy

    @functools.cached_property
    def flips(self) -> Floats:
        """Share of sets in which each pair of systems changes places, (P, M); NaN for ties on the original labels."""
        original, noisy = self._orders
        turned = (noisy == -original).mean(axis=0)
        return np.where(original != 0, turned, np.nan).T

    @functools.cached_property
    def mean_flips(self) -> Floats:
        """Share of sets in which a pair changes places, mean over pairs without a tie on the original labels; (M,)."""
        counts = (~np.isnan(self.flips)).sum(axis=0)
        return np.where(counts > 0, np.nansum(self.flips, axis=0) / np.maximum(counts, 1), np.nan)

    @functools.cached_property
    def tau(self) -> Floats:
        """Kendall's tau-b of the rankings on noisy and original labels, mean over sets, (M,); undefined counts as 0."""
        original, noisy = self._orders
        return np.asarray(np.nan_to_num(kendall_tau_b(noisy, original[None]), nan=0.0).mean(axis=0))


@dataclass(frozen=True, eq=False)
class Ambiguity:
    """Systems under one model of label noise.

    Parameters
    ----------
    levels
        Levels of noise, from low to high.
    source
        Dataset and split from which the model was learned, or "".
    """

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    levels: tuple[NoiseLevel, ...]
    source: str = ""
    dataset: str = ""

    @property
    def model(self) -> str:
        """Name of the model of noise."""
        return self.levels[0].model

    @property
    def original(self) -> Floats:
        """Figures on the original labels, (S, M)."""
        return self.levels[0].original

    @property
    def sets(self) -> int:
        """Number of noisy sets per level."""
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
    """Compare figures of systems on noisy labels with those on the original labels.

    `models` are one model of noise at rising levels. Each set has its own generator, with the same seed at every level,
    so the result does not depend on `workers`. Other parameters are as for :func:`truemoment.evaluate`.
    """
    if len(answers) < 2 or not models:
        raise UsageError(
            f"got systems: {len(answers)}, levels of noise: {len(models)}; expected two systems or more and one level "
            "or more"
        )
    if np.isnan(annotations.start_s).all():
        raise InputError(f"{annotations.dataset}/{annotations.split}: no query has a moment")
    if len({model.name for model in models}) > 1:
        raise UsageError(f"got {', '.join(sorted({m.name for m in models}))}, expected levels of one model of noise")
    if sets < 2:
        raise UsageError(f"got {sets} noisy sets, expected 2 or more")
    measure_list = as_measures(measures)
    protocol = resolve_protocol(protocol, annotations)
    seeds = rng.integers(1 << 62, size=sets)
    direction = direction_of(measure_list)

    def drawn(model: NoiseModel) -> tuple[Floats, Floats]:
        return model.draw(annotations, [np.random.default_rng(seed) for seed in seeds])

    labels = list(map_in_order(drawn, models, workers=workers, description="drawing labels", progress=False))
    original_times = annotations.start_s[None], annotations.end_s[None]

    def figures_of(piece: tuple[Predictions, tuple[Floats, Floats]]) -> Floats:
        predictions, (start_s, end_s) = piece
        return evaluate_relabelled(
            annotations, predictions, start_s, end_s, measure_list, protocol=protocol, on_unknown=on_unknown
        )

    pieces = [(predictions, times) for times in (original_times, *labels) for predictions in answers.values()]
    figures = list(
        map_in_order(figures_of, pieces, workers=workers, description=f"{models[0].name} noise", progress=progress)
    )
    n = len(answers)
    original = np.concatenate(figures[:n])
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
                figures=np.stack(figures[at * n : (at + 1) * n], axis=1),
                direction=direction,
            )
        )
    return Ambiguity(tuple(answers), measure_list, tuple(levels), models[0].source, annotations.dataset)


def under_noise(
    loaded: LoadedSystems,
    models: Mapping[str, Sequence[NoiseModel]],
    rng: np.random.Generator,
    *,
    on_unknown: OnUnknown = "refuse",
    sets: int = 100,
    workers: int | None = None,
    progress: bool = False,
) -> list[Ambiguity]:
    """Study the systems with predictions under each model of noise; each model has its own generator."""
    if loaded.annotations is None:
        raise UsageError("noisy labels need annotations: give --dataset NAME with --split NAME, or --annotations FILE")
    return [
        ambiguity(
            loaded.annotations,
            loaded.predictions,
            models[kind],
            child,
            measures=loaded.systems.measures,
            protocol=loaded.systems.first.protocol,
            on_unknown=on_unknown,
            sets=sets,
            workers=workers,
            progress=progress,
        )
        for kind, child in zip(NOISE, rng.spawn(len(NOISE)), strict=True)
        if kind in models
    ]
