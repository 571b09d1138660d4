"""The methods of a comparison on other splits, and blind floors beside them on each split.

Nothing is tested across splits: other splits have other queries. Figures have intervals by resampling the videos of
their split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats
from truemoment.base.known_names import one_of_known
from truemoment.base.records import Annotations
from truemoment.baselines.equal_depth import equal_depths
from truemoment.baselines.floors import FLOORS, MOST_ANSWERS, NETWORK, Setting
from truemoment.baselines.network_row import FloorRow, run_floor, why_no_network
from truemoment.data.formats import Reader
from truemoment.evaluation.uncertainty import stream
from truemoment.report.words import listed
from truemoment.studies.compare.comparison import PublishedFigure, published_beside
from truemoment.studies.compare.request import PredictionInput
from truemoment.studies.compare.runs import FileRun, longest_list, mean_figures, mean_interval, measure_runs


@dataclass(frozen=True, eq=False)
class OtherSplit:
    """Predictions on another split, by method, and the split on which floors are fitted for it; None for none.

    `name` is its name in figures, such as ``test-iid`` or ``charades-sta/test``.
    """

    name: str
    annotations: Annotations
    files: Mapping[str, Sequence[PredictionInput]]
    train: Annotations | None = None


@dataclass(frozen=True, eq=False)
class SplitResult:
    """Figures of methods and floors on a split, (M,) and (M, 2) by method; NaN where a measure is undefined.

    Parameters
    ----------
    runs
        Runs of each method that has predictions on it.
    floors
        Names of the floors among the methods.
    published
        Published figures of the split, each with the row of its measure.
    remarks
        Omitted methods and measures, with the reason.
    """

    name: str
    annotations: Annotations
    value: Mapping[str, Floats]
    ci95: Mapping[str, Floats]
    runs: Mapping[str, Sequence[FileRun]] = field(default_factory=dict)
    floors: tuple[str, ...] = ()
    published: Sequence[tuple[int, PublishedFigure]] = ()
    remarks: Sequence[str] = ()


def check_floors(names: Sequence[str]) -> None:
    """Refuse names that are no blind baselines."""
    for name in names:
        if name not in FLOORS:
            raise UsageError(f"--floor: got {name!r}, expected {one_of_known(name, FLOORS)}")


def check_known(option: str, names: Sequence[str], methods: Sequence[str]) -> None:
    """Refuse predictions of a method that is not compared."""
    for name in names:
        if name not in methods:
            raise UsageError(
                f"{option}: got predictions of {name!r}, expected of one of the compared methods: {', '.join(methods)} "
                "(give NAME=FILE)"
            )


def floors_beside(
    names: Sequence[str], setting: Setting, train: Annotations | None, depths: Sequence[int | None]
) -> tuple[dict[str, FloorRow], list[str]]:
    """Fit and measure floors by name; return them, and remarks on those that could not be fitted."""
    rows, remarks = {}, []
    why = why_no_network(setting.annotations, setting.measures, train)
    place = f"on {setting.annotations.dataset}/{setting.annotations.split}"
    for name in dict.fromkeys(names):
        if train is None or why:
            remarks.append(f"{name} is not shown {place}: {why}")
            continue
        setting.on_status(f"floor {name} {place}")
        try:
            rows[name] = run_floor(name, setting, train, depths)
        except InputError as error:
            remarks.append(f"{name} is not shown {place}: it could not be fitted: {error}")
    return rows, remarks


def measure_split(
    other: OtherSplit,
    setting: Setting,
    depths: Sequence[int | None],
    *,
    floors: Sequence[str] = (),
    published: Sequence[PublishedFigure] = (),
    resamples: int = 1000,
    read: Reader,
    progress: bool = False,
) -> SplitResult:
    """Measure the methods and floors on another split.

    Parameters
    ----------
    other
        The split and the files.
    setting
        Measures and protocol of the compared split, which apply here too.
    depths
        Number of predictions to which lists are cut on the compared split. A measure whose lists have another depth
        here is undefined.
    floors
        Names of the floors to fit.
    published, resamples, read, progress
        As for :func:`truemoment.studies.compare.files.compare_files`.
    """
    annotations = other.annotations
    setting = replace(setting, annotations=annotations)
    inputs = {
        method: [read(path, annotations, progress=progress) for path in paths] for method, paths in other.files.items()
    }
    lengths = [longest_list(predictions) for runs in inputs.values() for predictions, _ in runs]
    own_depths = equal_depths(
        setting.measures, [*lengths, *([MOST_ANSWERS] if NETWORK in floors else [])], setting.protocol
    )
    runs = {
        method: measure_runs(pairs, other.files[method], setting, own_depths, progress=progress)
        for method, pairs in inputs.items()
    }
    rows, remarks = floors_beside(floors, setting, other.train, own_depths)
    scores = {method: [run.scores for run in group] for method, group in runs.items()}
    scores |= {name: list(row.runs) for name, row in rows.items()}
    is_same = np.array([depth_here == depth for depth_here, depth in zip(own_depths, depths, strict=True)])
    if not is_same.all():
        names = listed(
            [str(measure) for measure, flag in zip(setting.measures, is_same.tolist(), strict=True) if not flag]
        )
        remarks.append(f"{names} on {other.name}: not shown, since lists are of another depth than those compared")
    value, ci95 = {}, {}
    for method, group in scores.items():
        rng = stream(setting.seed, f"figures on {annotations.sha256}")  # the same draws for every method
        value[method] = np.where(is_same, mean_figures(group), np.nan)
        ci95[method] = np.where(is_same[:, None], mean_interval(group, rng, resamples=resamples), np.nan)
    first = next(iter(scores.values()))[0]
    figures = [(row, figure) for row, figure in published_beside(published, first) if own_depths[row] is None]
    return SplitResult(other.name, annotations, value, ci95, runs, tuple(rows), figures, remarks)
