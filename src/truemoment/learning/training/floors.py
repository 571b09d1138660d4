"""Figures of blind baselines as rows beside those of trained methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from truemoment.base.boundary.caching import Cache
from truemoment.base.records import Annotations
from truemoment.base.version import __version__
from truemoment.baselines.floors import Setting, run_floors
from truemoment.evaluation.measures import parse_measure
from truemoment.evaluation.protocols import protocol_for_dataset
from truemoment.evaluation.scores import Scores
from truemoment.learning.training.hardware import commit
from truemoment.learning.training.results import ResultRow

CONFIG = "floor"
"""Text in place of the hash of a recipe."""


@dataclass(frozen=True, eq=False)
class FloorFigures:
    """What a floor scores on a split.

    Parameters
    ----------
    name, title
        In files, and in reports.
    split
        Test split.
    scores
        Its scores.
    rows
        The same as rows of a file of figures.
    """

    name: str
    title: str
    split: str
    scores: Scores
    rows: tuple[ResultRow, ...]


def measure_floors(
    splits: Mapping[str, Annotations],
    measures: Sequence[str],
    *,
    top: int,
    seed: int,
    cache: Cache,
    on_status: Callable[[str], None],
    on_left_out: Callable[[str], None],
) -> Iterator[FloorFigures]:
    """Run every floor on every test split and yield its figures.

    Parameters
    ----------
    splits
        Annotations by name: "train", which floors are fitted on, and the test splits.
    measures
        What is measured.
    top
        Most answers a query.
    seed
        Of all draws.
    cache, on_status
        Keeps what floors learned, and receives what is done.
    on_left_out
        Receives the reason why a floor could not be fitted.
    """
    for split in (name for name in splits if name.startswith("test")):
        setting = Setting(
            annotations=splits[split],
            measures=tuple(parse_measure(measure) for measure in measures),
            protocol=protocol_for_dataset(splits[split].dataset),
            top=top,
            train=splits["train"],
            seed=seed,
            cache=cache,
            on_status=on_status,
        )
        floors, left_out = run_floors(setting)
        for why in left_out:
            on_left_out(why)
        for floor in floors:
            rows = floor_rows(floor.name, floor.scores, seed=seed, fitted_on=splits["train"])
            yield FloorFigures(floor.name, floor.title, split, floor.scores, rows)


def floor_rows(name: str, scores: Scores, *, seed: int, fitted_on: Annotations | None) -> tuple[ResultRow, ...]:
    """Return the figures of a floor as rows, one a measure.

    Parameters
    ----------
    name
        As ``truemoment baseline`` calls it.
    scores
        On one split.
    seed
        Of its draws.
    fitted_on
        What it learned from; None for nothing.
    """
    fitted = "" if fitted_on is None else f"fitted on {fitted_on.dataset}/{fitted_on.split}#{fitted_on.sha256[:8]}"
    made_by = commit()
    return tuple(
        ResultRow(
            recipe=name,
            config=CONFIG,
            seed=seed,
            dataset=scores.dataset,
            split=scores.split,
            data=scores.annotations_sha256[:8],
            features="none",
            measure=figure.measure,
            value="" if figure.value is None else f"{figure.value:.6f}",
            n_queries=figure.n_queries or 0,
            chosen_on="",
            epoch=0,
            seconds=0.0,
            commit=made_by,
            hardware="",
            truemoment=__version__,
            notes=fitted,
        )
        for figure in scores.measured()
    )
