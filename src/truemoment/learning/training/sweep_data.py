"""The data of a sweep: a dataset with simulated perception, or worlds written as files, one for each place."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from truemoment.base.boundary.files import decode_json, read_bytes
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations
from truemoment.data.datasets import get_dataset, made_of
from truemoment.data.datasets.source import AnnotationSource
from truemoment.learning.training.run import Run, RunSources
from truemoment.learning.training.sweep import DIALS, Dial, SweepGrid, dial_text
from truemoment.learning.training.sweep_results import Place
from truemoment.learning.training.trials import TrainingTrial
from truemoment.worlds import WorldSettings, make_world, write_world
from truemoment.worlds.concepts import WITH_SENTENCES
from truemoment.worlds.perception import WITH_ACTIONS
from truemoment.worlds.world import SPLITS, read_settings

SIMULATED_DATASETS = (*WITH_ACTIONS, *WITH_SENTENCES)
"""Datasets whose features can be simulated at a stated quality."""

WORLD_NOTE = "synthetic world: "

LEAST_VIDEOS = 10
"""Fewer leave a split of a world with next to nothing."""


def read_world(text: str, dial: Dial) -> WorldSettings:
    """Read ``NAME=VALUE,...``: settings of a world, without the one that the dial changes."""
    options = read_settings(text, within="--world")
    if DIALS[dial.name] in options:
        raise UsageError(f"--world: {dial.name} is what --dial changes, expected it in one of them")
    settings = WorldSettings(**options)
    if settings.n_videos < LEAST_VIDEOS:
        raise UsageError(f"--world videos: got {settings.n_videos}, expected {LEAST_VIDEOS} or more: four splits")
    return settings


@dataclass(frozen=True)
class SweepData:
    """The data of the cells of a grid; it is sent to the processes that train.

    Parameters
    ----------
    grid
        What is trained.
    dataset, data_dir
        A dataset; None for a world.
    world
        Settings of the world, except the dial's.
    each_seed
        Whether each seed of training has another world.
    """

    grid: SweepGrid
    dataset: str | None
    data_dir: Path | None
    world: WorldSettings | None
    each_seed: bool

    def __post_init__(self) -> None:
        """Refuse options with no data or two kinds of data, and a dial that the data do not have."""
        if (self.dataset is None) == (self.world is None):
            raise UsageError("on what? give --dataset charades-cd, or --world 'videos=600', expected one of them")
        if self.dataset is None:
            return
        if self.each_seed:
            raise UsageError("--world-seeds: is for --world, a dataset is the same for every seed")
        if self.grid.dial.name != "perception":
            raise UsageError(f"--dial {self.grid.dial.name}: needs --world; with --dataset only perception can change")
        if made_of(self.dataset) not in SIMULATED_DATASETS:
            raise UsageError(
                f"--dataset {self.dataset}: its features cannot be simulated, expected one of "
                f"{', '.join(SIMULATED_DATASETS)}"
            )

    def __call__(self, cell: TrainingTrial) -> Run:
        """Read what a cell learns from and what it predicts, as ``truemoment train`` does."""
        sources = RunSources(self.source(cell.value, cell.seed), self.features(cell) or None)
        run = Run.resolve(self.grid.recipe_of(cell), sources, cell.seed)
        return dataclasses.replace(run, notes=(*run.notes, *self.notes(cell)))

    @property
    def changes_annotations(self) -> bool:
        """Whether the dial changes the annotations, and so the figures of floors."""
        return self.grid.dial.name != "perception"

    @property
    def world_seeds(self) -> tuple[int, ...]:
        """The seeds that have a world: each, or the first."""
        return self.grid.seeds if self.each_seed else self.grid.seeds[:1]

    @property
    def places(self) -> list[Place]:
        """Value and seed of each set of annotations; None for one that is the same at all values."""
        values = self.grid.dial.values if self.changes_annotations else (None,)
        return [(value, seed) for value in values for seed in self.world_seeds]

    def place_of(self, cell: TrainingTrial) -> Place:
        """Return the place of a cell's annotations."""
        return cell.value if self.changes_annotations else None, cell.seed if self.each_seed else self.grid.seeds[0]

    def settings(self, value: float, seed: int) -> WorldSettings:
        """Return the settings of the world of a cell."""
        world = self.world or WorldSettings()
        number = world.seed + seed if self.each_seed else world.seed
        changed: dict[str, Any] = {DIALS[self.grid.dial.name]: value, "seed": number}
        return dataclasses.replace(world, **changed)

    def world_folder(self, value: float | None, seed: int) -> OwnPath:
        """Return the folder of the world of a cell; that of the first value where the value changes nothing."""
        value = self.grid.dial.values[0] if value is None else value
        number = self.settings(value, seed).seed
        return OwnPath(self.grid.folder) / "worlds" / f"{self.grid.dial.name}={dial_text(value)}" / f"seed-{number}"

    def source(self, value: float | None, seed: int) -> AnnotationSource:
        """Return the annotations of a place."""
        if self.world is None:
            return AnnotationSource(self.dataset, None, None, self.data_dir)
        file = self.world_folder(value, seed) / "annotations.jsonl"
        return AnnotationSource(None, file.checked(), None, self.data_dir)

    def features(self, cell: TrainingTrial) -> str:
        """Return the source of a cell's features; "" for a method that sees no video."""
        if not self.grid.recipe_of(cell).family.sees_video:
            return ""
        if self.world is None:
            return f"perception:{dial_text(cell.value)}"
        return str(self.world_folder(cell.value, cell.seed) / "features.npz")

    def notes(self, cell: TrainingTrial) -> tuple[str, ...]:
        """Return a note on the world of a cell."""
        if self.world is None:
            return ()
        settings = dataclasses.asdict(self.settings(self.grid.dial.values[0], cell.seed))
        settings[self.grid.dial.name.replace("-", "_")] = "any" if cell.value is None else cell.value
        return (WORLD_NOTE + ", ".join(f"{name}={value}" for name, value in settings.items()),)

    def write_worlds(self, on_status: Callable[[str], None]) -> None:
        """Write the worlds that do not exist yet."""
        if self.world is None:
            return
        for value in self.grid.dial.values:
            for seed in self.world_seeds:
                folder, settings = self.world_folder(value, seed), self.settings(value, seed)
                path = folder / "world.json"
                if path.is_file():
                    world = decode_json(read_bytes(path), dict[str, Any], path=path)
                    expected = msgspec.to_builtins(dataclasses.asdict(settings))
                    if {name: world.get(name) for name in expected} != expected:
                        raise UsageError(f"{folder}: contains another world; give -o another folder")
                    continue
                on_status(f"world {self.grid.dial.name}={value:g}")
                write_world(make_world(**dataclasses.asdict(settings)), folder)

    def read(self, place: Place) -> dict[str, Annotations]:
        """Read the splits of a place: training, validation if there is one, and every test split."""
        names = (
            list(SPLITS) if self.world is not None else [split.name for split in get_dataset(self.dataset or "").splits]
        )
        source = self.source(*place)
        return {name: source.read(name) for name in names if name in ("train", "val") or name.startswith("test")}

    def document(self) -> dict[str, Any]:
        """Return the data as JSON: a dataset's name, or the settings of the world."""
        if self.world is None:
            return {"dataset": self.dataset}
        settings = dataclasses.asdict(self.world)
        del settings[self.grid.dial.name.replace("-", "_")]
        return {"world": settings, "world_seeds": "each" if self.each_seed else "same"}
