"""The rows of a study of mixtures: a share of each source, several seeds, a training run for each.

::

    DIR/runs/ROW/seed-S/      a training run, as ``truemoment train`` makes it
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.yaml_files import read_yaml
from truemoment.base.errors import InputError, UsageError
from truemoment.learning.training.mixtures import read_mixture
from truemoment.learning.training.recipe_sources import MixtureSource
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.run import Run, RunSources
from truemoment.learning.training.trials import TrainingTrial

GRIDS: Mapping[str, tuple[tuple[float, ...], ...]] = MappingProxyType(
    {
        "table5": ((1, 0), (0, 0.32), (0, 1), (1, 0.32), (1, 0.64), (1, 1)),
        "table6": ((1, 0), (0, 0.36), (0, 1), (1, 0.36), (1, 0.72), (1, 1)),
        "study": ((1, 0, 0), (0, 0.32, 0), (0, 0, 0.32), (0, 1, 0), (1, 0.32, 0), (1, 0.64, 0), (1, 1, 0)),
    }
)
"""Shares of the sources of a recipe, in its order: the tables of MAD have a clean and a noisy one, ``study`` also the
noisy films without noise."""


@dataclass(frozen=True)
class MixtureRow:
    """A row of a study.

    Parameters
    ----------
    shares
        Share of each source, in the order of the recipe; 0 for none.
    titles
        Names of the sources.
    """

    shares: tuple[float, ...]
    titles: tuple[str, ...]

    @property
    def name(self) -> str:
        """What tables call it.

        Examples
        --------
        >>> MixtureRow((1.0, 0.32), ("clean", "noisy")).name
        'clean + 32 % noisy'
        """
        used = [(title, share) for title, share in zip(self.titles, self.shares, strict=True) if share]
        return " + ".join(title if share == 1 else f"{100 * share:g} % {title}" for title, share in used)

    @property
    def folder(self) -> str:
        """Name of its folder."""
        used = [(title, share) for title, share in zip(self.titles, self.shares, strict=True) if share]
        names = (f"{re.sub(r'[^A-Za-z0-9._-]', '_', title)}-{100 * share:g}" for title, share in used)
        return "+".join(names)

    def share_of(self, title: str) -> float:
        """Return the share of a source."""
        return self.shares[self.titles.index(title)]


def read_grid(text: str, sources: Sequence[MixtureSource]) -> tuple[MixtureRow, ...]:
    """Read rows by the name of a grid, or from a YAML file with a list of shares by source.

    ::

        - {clean: 1}
        - {clean: 1, noisy: 0.32}

    Parameters
    ----------
    text
        ``table5``, ``table6``, ``study``, or a file.
    sources
        Epochs of the recipe.
    """
    titles = tuple(source.title for source in sources)
    if text in GRIDS:
        n_needed = len(GRIDS[text][0])
        if len(titles) < n_needed:
            raise UsageError(f"--grid {text}: mixes {n_needed} sources, but the recipe states {len(titles)}: see data")
        zeros = (0.0,) * (len(titles) - n_needed)
        return tuple(MixtureRow((*map(float, shares), *zeros), titles) for shares in GRIDS[text])
    if not text.lower().endswith((".yaml", ".yml")):
        raise UsageError(f"--grid: unknown {text!r}, expected {', '.join(GRIDS)}, or a file FILE.yaml")
    path = Path(text)
    try:
        rows = msgspec.convert(read_yaml(path), list[dict[str, float]], strict=False)
    except msgspec.ValidationError:
        raise InputError("expected a list of shares by source, e.g. - {clean: 1, noisy: 0.32}", path=path) from None
    mixed = []
    for number, row in enumerate(rows):
        for title, share in row.items():
            if title not in titles:
                problem = f"names the source {title!r}, expected one of {', '.join(titles)}"
                raise InputError(problem, path=path, field=f"[{number}]")
            if not 0 <= share <= 1:
                raise InputError(f"got a share of {share:g}, expected 0 to 1", path=path, field=f"[{number}].{title}")
        mixed.append(MixtureRow(tuple(row.get(title, 0.0) for title in titles), titles))
        if not any(mixed[-1].shares):
            raise InputError("uses no source, expected a share above 0", path=path, field=f"[{number}]")
    if len(set(mixed)) < max(len(mixed), 1):
        raise InputError("has no row, or one twice", path=path)
    return tuple(mixed)


@dataclass(frozen=True)
class MixtureGrid:
    """Rows and seeds of a study; it is sent to the processes that train.

    Parameters
    ----------
    recipe
        With its sources, each with a share of 1.
    rows, seeds
        What is trained, and how often.
    folder
        Folder of the study.
    sources
        The test and validation data, features and vectors.
    epochs
        Factor of the epochs of each row, by name; it is 1 unless every row takes as many steps.
    """

    recipe: Recipe
    rows: tuple[MixtureRow, ...]
    seeds: tuple[int, ...]
    folder: Path
    sources: RunSources
    epochs: tuple[tuple[str, float], ...] = ()

    def trials(self) -> list[TrainingTrial]:
        """List every trial, seed by seed."""
        return [TrainingTrial(row.name, None, seed) for seed in self.seeds for row in self.rows]

    def row_of(self, trial: TrainingTrial) -> MixtureRow:
        """Return the row of a trial."""
        return next(row for row in self.rows if row.name == trial.method)

    def folder_of(self, trial: TrainingTrial) -> OwnPath:
        """Return the folder of a trial's run."""
        return OwnPath(self.folder) / "runs" / self.row_of(trial).folder / f"seed-{trial.seed}"

    def recipe_of(self, trial: TrainingTrial) -> Recipe:
        """Return the recipe of a trial: the sources with a share of the row, and its epochs."""
        row = self.row_of(trial)
        sources = tuple(
            msgspec.structs.replace(source, share=share * source.share)
            for source, share in zip(self.recipe.data or (), row.shares, strict=True)
            if share
        )
        recipe = msgspec.structs.replace(self.recipe, data=sources)
        return with_epochs(recipe, dict(self.epochs).get(row.name, 1.0))

    def __call__(self, trial: TrainingTrial) -> Run:
        """Read what a trial learns from and what it predicts, as ``truemoment train`` does."""
        return Run.resolve(self.recipe_of(trial), self.sources, trial.seed)

    def with_equal_steps(self) -> MixtureGrid:
        """Return the grid in which every row takes as many steps as the largest: smaller ones take more epochs."""
        sizes = {row.name: self._size(row) for row in self.rows}
        largest = max(sizes.values())
        return dataclasses.replace(self, epochs=tuple((name, largest / size) for name, size in sizes.items()))

    def _size(self, row: MixtureRow) -> int:
        recipe = self.recipe_of(TrainingTrial(row.name, None, self.seeds[0]))
        return read_mixture(recipe.data or (), self.seeds[0], self.sources.data.data_dir).annotations.n_queries


def with_epochs(recipe: Recipe, factor: float) -> Recipe:
    """Return a recipe whose epochs are multiplied by a factor, in all stages."""
    if factor == 1:
        return recipe
    train = recipe.train

    def times(epochs: int | None) -> int | None:
        return None if epochs is None else max(1, round(factor * epochs))

    stages = train.stages and tuple(
        msgspec.structs.replace(stage, epochs=times(stage.epochs)) for stage in train.stages
    )
    return msgspec.structs.replace(
        recipe, train=msgspec.structs.replace(train, epochs=times(train.epochs), stages=stages)
    )
