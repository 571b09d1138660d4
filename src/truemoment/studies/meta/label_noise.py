"""Models of label noise by name, and loaded systems under each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.request import InDataset, Request, option
from truemoment.base.rules import OnUnknown
from truemoment.data.datasets import DATASETS, load_annotations, read_own_annotations
from truemoment.evaluation.agreement import Annotators
from truemoment.studies.meta.ambiguity import Ambiguity, ambiguity
from truemoment.studies.meta.loading import LoadedSystems
from truemoment.studies.meta.noise import (
    ANNOTATOR_LEVELS,
    DEVIATIONS_S,
    VARIANCES_S2,
    AnnotatorNoise,
    LongerNoise,
    NoiseModel,
    PublishedNoise,
    ShiftNoise,
)

NOISE = ("published", "shift", "annotators", "longer")
"""Names of the models of label noise."""


@dataclass(frozen=True, kw_only=True)
class NoiseSource(Request):
    """Which models of label noise are used."""

    HEADING = "Noise"

    kinds: tuple[str, ...] = option(
        "Model of label noise; may be given several times.", ("published", "shift"), name="--noise", choices=NOISE
    )
    marked_by: InDataset[str | None] = option(
        "Learn noise from a dataset with several annotators, e.g. human-charades, or from your own annotations.",
        name="--annotators",
        metavar="NAME|FILE",
    )

    def models(self, data_dir: Path | None) -> dict[str, Sequence[NoiseModel]]:
        """Return the levels of each model by its name."""
        kinds = self.kinds if self.marked_by is None else (*self.kinds, "annotators")
        return {kind: self._levels(kind, data_dir) for kind in kinds}

    def _levels(self, kind: str, data_dir: Path | None) -> Sequence[NoiseModel]:
        if kind == "longer":
            return [LongerNoise(deviation_s) for deviation_s in DEVIATIONS_S]
        if kind != "annotators":
            model = PublishedNoise if kind == "published" else ShiftNoise
            return [model(variance) for variance in VARIANCES_S2]
        if self.marked_by is None:
            raise UsageError("--noise annotators: also give --annotators NAME, e.g. human-charades, or FILE")
        if self.marked_by in DATASETS:
            marked = load_annotations(self.marked_by, "test", data_dir=data_dir)
        else:
            marked = read_own_annotations(Path(self.marked_by), None)
        learned = AnnotatorNoise.learn(Annotators.of(marked))
        return [replace(learned, n_raters=n_raters) for n_raters in ANNOTATOR_LEVELS]


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
    """Measure the systems that have predictions under each model; each model has its own generator."""
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
