"""A grid of runs: methods, values of one dial, seeds; each cell is a run, which can be resumed.

::

    DIR/worlds/DIAL=VALUE/seed-W/          a synthetic world as files, where the sweep is on one
    DIR/cells/METHOD/DIAL=VALUE/seed-S/    a training run, as ``truemoment train`` makes it
    DIR/cells/METHOD/DIAL=any/seed-S/      of a method that the dial does not reach

A cell is a trial, see :mod:`truemoment.learning.training.trials`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from truemoment.base.boundary.files import read_number
from truemoment.base.boundary.keyed import split_pair
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.known_names import one_of_known
from truemoment.learning.training.grounding import require_grounding
from truemoment.learning.training.recipes import Recipe, read_recipe
from truemoment.learning.training.run import is_test
from truemoment.learning.training.trials import TrainingTrial

DIALS = MappingProxyType({"perception": "perception", "location-prior": "location_prior", "query-prior": "query_prior"})
"""What can be turned, and the setting of a world that it is."""

ANY = "any"
"""Placeholder of the value in the folder of a method that the dial does not reach."""

_FIT_FOR_A_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,79}")


@dataclass(frozen=True)
class Dial:
    """A dial and its values.

    Parameters
    ----------
    name
        One of :data:`DIALS`.
    values
        From 0 to 1, rising.
    """

    name: str
    values: tuple[float, ...]

    @classmethod
    def read(cls, text: str) -> Dial:
        """Read ``NAME=V1,V2,...``; the values are sorted.

        Examples
        --------
        >>> Dial.read("perception=0,1,0.3")
        Dial(name='perception', values=(0.0, 0.3, 1.0))
        """
        name, listed = split_pair(text)
        if name not in DIALS:
            raise UsageError(f"--dial: unknown dial {name!r}, expected {one_of_known(name, DIALS)}")
        if not listed:
            raise UsageError(f"--dial: got {text!r}, expected {name}=V1,V2,... with values from 0 to 1")
        values = []
        for part in listed.split(","):
            value = read_number(part) + 0.0  # -0 is 0
            if not 0 <= value <= 1:
                raise UsageError(f"--dial {name}: got {part.strip()!r}, expected a number from 0 to 1")
            values.append(value)
        if len({dial_text(value) for value in values}) < len(values):
            raise UsageError(f"--dial {name}: got {listed}, expected each value once")
        return cls(name, tuple(sorted(values)))


def dial_text(value: float | None) -> str:
    """Return a dial's value as text for folders and tables.

    Examples
    --------
    >>> dial_text(0.30), dial_text(1.0), dial_text(None)
    ('0.3', '1', 'any')
    """
    return ANY if value is None else f"{value:.12g}"


@dataclass(frozen=True)
class Method:
    """A recipe under a name.

    Parameters
    ----------
    name
        The recipe's, or its file's without ending.
    recipe
        All of it.
    """

    name: str
    recipe: Recipe


def read_methods(recipes: Sequence[str], changes: Sequence[str] = ()) -> tuple[Method, ...]:
    """Read recipes by name or file, and change them.

    Parameters
    ----------
    recipes
        Names or files.
    changes
        ``KEY=VALUE`` for all recipes, or ``NAME:KEY=VALUE`` for one of them.
    """
    if not recipes:
        raise UsageError("which recipes? name one or more, e.g. tan2d blind-tan")
    methods: list[Method] = []
    names = [Path(text).stem if text.lower().endswith((".yaml", ".yml")) else text for text in recipes]
    of_one = [change for change in changes if _of_one(change)]
    if unknown := [change for change in of_one if _of_one(change) not in names]:
        raise UsageError(f"--set {unknown[0]}: no recipe {_of_one(unknown[0])!r}, expected one of {', '.join(names)}")
    for text, name in zip(recipes, names, strict=True):
        own_changes = [change.partition(":")[2] for change in of_one if _of_one(change) == name]
        recipe = read_recipe(text, [*(change for change in changes if change not in of_one), *own_changes])
        if not _FIT_FOR_A_FOLDER.fullmatch(name):
            raise UsageError(f"recipe {text!r}: its name becomes a folder's, expected letters, digits, '.', '_', '-'")
        if any(name.lower() == other.name.lower() for other in methods):
            raise UsageError(f"recipe {name!r} occurs twice, expected each name once; give the file another name")
        require_grounding(recipe, f"recipe {name!r} ranks clips, expected recipes of models that answer with moments")
        if is_test(recipe.select.split):
            raise UsageError(f"recipe {name!r} chooses its epoch on {recipe.select.split}, expected no test split")
        methods.append(Method(name, recipe))
    precisions = sorted({method.recipe.train.precision for method in methods})
    if len(precisions) > 1:
        raise UsageError(f"recipes differ in train.precision ({', '.join(precisions)}): give --set train.precision=no")
    return tuple(methods)


def _of_one(change: str) -> str:
    """Return the recipe that a change is for; "" for all."""
    name, colon, _ = change.partition("=")[0].partition(":")
    return name if colon else ""


@dataclass(frozen=True)
class SweepGrid:
    """The cells of a sweep.

    Parameters
    ----------
    methods, dial, seeds
        The three sides of the grid.
    folder
        Folder of the sweep.
    """

    methods: tuple[Method, ...]
    dial: Dial
    seeds: tuple[int, ...]
    folder: Path

    def reaches(self, method: Method) -> bool:
        """Whether the dial changes what a method learns from: perception changes nothing for one that is blind."""
        return self.dial.name != "perception" or method.recipe.family.sees_video

    def cells(self) -> list[TrainingTrial]:
        """List every cell, seed by seed, so that a sweep that is cut off has whole curves of the first seeds."""
        reached = {method.name: self.reaches(method) for method in self.methods}
        return [
            TrainingTrial(method.name, value if reached[method.name] else None, seed)
            for seed in self.seeds
            for number, value in enumerate(self.dial.values)
            for method in self.methods
            if reached[method.name] or number == 0
        ]

    def folder_of(self, cell: TrainingTrial) -> OwnPath:
        """Return the folder of a cell's run."""
        cells = OwnPath(self.folder) / "cells"
        return cells / cell.method / f"{self.dial.name}={dial_text(cell.value)}" / f"seed-{cell.seed}"

    def recipe_of(self, cell: TrainingTrial) -> Recipe:
        """Return the recipe of a cell."""
        return next(method.recipe for method in self.methods if method.name == cell.method)
