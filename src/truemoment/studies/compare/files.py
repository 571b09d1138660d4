"""Comparison of prediction files, on lists of equal depth, with each other and with the sentence network."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.boundary.files import source_of
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines.equal_depth import answers_compared, equal_depths
from truemoment.baselines.floors import MARGIN, MOST_ANSWERS, NETWORK, PARAGRAPH, Setting, headline_of
from truemoment.baselines.network_row import (
    FloorRow,
    HitsBesideNetwork,
    NetworkRow,
    hit_of,
    run_floor,
    run_network,
    why_no_network,
)
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.formats import MatchReport, Reader, read_predictions
from truemoment.data.language.paragraphs import order_of_starts
from truemoment.evaluation.evaluate import evaluate, note_on_durations, resolve_measures, resolve_protocol
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import DEFAULT_DRAW_SETTINGS, DrawSettings, stream
from truemoment.studies.compare.changes import ChangedMethod, compare_changed
from truemoment.studies.compare.comparison import Comparison, PublishedFigure, compare, published_beside, read_published
from truemoment.studies.compare.request import PredictionInput
from truemoment.studies.compare.runs import FileRun as FileRun  # noqa: PLC0414 - a part of ComparedFiles
from truemoment.studies.compare.runs import longest_list, mean_figures, mean_interval, measure_runs
from truemoment.studies.compare.splits import (
    OtherSplit,
    SplitResult,
    check_floors,
    check_known,
    floors_beside,
    measure_split,
)


@dataclass(frozen=True, eq=False)
class Additions:
    """Additional parts of the report of a comparison.

    Parameters
    ----------
    floors
        Blind baselines (:data:`truemoment.baselines.floors.FLOORS`) beside the sentence network; they are not tested.
    splits
        Predictions of the same methods on other splits.
    changed
        Predictions of the same methods on changed videos of the compared split, by (way, method).
    """

    floors: tuple[str, ...] = ()
    splits: Sequence[OtherSplit] = ()
    changed: Mapping[tuple[str, str], Sequence[PredictionInput]] = field(default_factory=dict)

    def check(self, methods: Sequence[str]) -> None:
        """Refuse unknown floors, predictions of methods that are not compared, and missing files."""
        check_floors(self.floors)
        for split in self.splits:
            check_known(f"--on {split.name}", list(split.files), methods)
        for way, method in self.changed:
            check_known(f"--changed {way}", [method], methods)
        files = itertools.chain(self.changed.values(), *(split.files.values() for split in self.splits))
        for path in itertools.chain.from_iterable(files):
            if isinstance(path, Path) and not path.is_file():
                raise InputError("no such file", path=path)


NO_ADDITIONS = Additions()


@dataclass(frozen=True, eq=False)
class ComparedFiles:
    """A comparison of prediction files.

    Parameters
    ----------
    published
        Published figures of the same measures, each with the row of its measure; None if none were requested.
    depths
        Number of predictions to which every list is cut, by measure; None where lists are not cut.
    remarks
        Measures and methods that are left out, with the reason.
    annotations, answers
        The references, and the predictions of the first run of each method.
    network, network_hits
        The sentence network, None if it is not compared, and hits of each other method by those of the network.
    hits
        Scores of each run of each method and floor at R@1 and the IoU of the headline measure; empty where none of the
        measures is of moments.
    floors
        Names of the blind baselines that are shown beside the methods, the sentence network first.
    reads_sentence
        Names of the methods that are declared to read one sentence at a time.
    splits
        Figures on other splits and, last, on the compared one; empty where there are no others.
    changed
        The methods on changed videos.
    """

    comparison: Comparison
    runs: Mapping[str, Sequence[FileRun]]
    annotations: Annotations
    answers: Mapping[str, Predictions]
    published: Sequence[tuple[int, PublishedFigure]] | None = None
    published_sources: Sequence[dict[str, str]] = ()
    seed: int = 0
    depths: Sequence[int | None] = ()
    remarks: Sequence[str] = ()
    network: NetworkRow | None = None
    network_hits: Mapping[str, HitsBesideNetwork] = field(default_factory=dict)
    hits: Mapping[str, Sequence[Scores]] = field(default_factory=dict)
    floors: tuple[str, ...] = ()
    reads_sentence: frozenset[str] = frozenset()
    splits: Sequence[SplitResult] = ()
    changed: Sequence[ChangedMethod] = ()

    def depth(self, row: int) -> int | None:
        """Return the number of predictions to which lists are cut at a measure; None where they are not cut."""
        return self.depths[row] if self.depths else None

    def heading(self, row: int) -> str:
        """Return a measure as tables name it, with the depth where lists are cut."""
        depth = self.depth(row)
        return f"{self.comparison.measures[row]}" + ("" if depth is None else f" (top {depth})")


def compare_files(
    files: Mapping[str, Sequence[PredictionInput]],
    annotations: Annotations,
    *,
    train: Annotations | None = None,
    network: bool = True,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    against: str | None = None,
    published: Path | None = None,
    reads_sentence: Collection[str] = (),
    additions: Additions = NO_ADDITIONS,
    testing: DrawSettings = DEFAULT_DRAW_SETTINGS,
    read: Reader = read_predictions,
    cache: Cache = NO_CACHE,
    progress: bool = False,
    on_status: Callable[[str], None] = lambda _: None,
) -> ComparedFiles:
    """Compare prediction files, by method, with each other and with the sentence network, on lists of equal depth.

    The network is a method if `network` is true and `train`, on which it is fitted, is given. With `against` all others
    are compared with that method (and the network) only. `published` is a CSV file of published figures, or a folder.

    Where the order of a video's sentences predicts their moments, the paragraph network, which reads all of them, is a
    method too, unless all methods are in `reads_sentence`: declared to read one sentence at a time.
    """
    check_methods(list(files), against, network=network, reads_sentence=reads_sentence)
    additions.check(list(files))
    figures = None if published is None else read_published(published)
    inputs = {method: [read(path, annotations, progress=progress) for path in paths] for method, paths in files.items()}
    answers = [predictions for runs in inputs.values() for predictions, _ in runs]
    convention = resolve_protocol(protocol, annotations)
    common, remarks = _common_measures(measures, convention, annotations, answers)
    lengths = [longest_list(predictions) for predictions in answers]
    why = why_no_network(annotations, common, train if network else None)
    depths = equal_depths(common, [*lengths, *([] if why else [MOST_ANSWERS])], convention)
    setting = Setting(
        annotations=annotations,
        measures=common,
        protocol=convention,
        headline=headline_of(common),
        top=answers_compared(common, [*lengths, MOST_ANSWERS], convention),
        seed=testing.seed,
        cache=cache,
        on_status=on_status,
    )
    row, why = _fit_network(setting, train, depths, why)
    if why and against == NETWORK:
        raise UsageError(f"--against {NETWORK}: it is not compared: {why}")
    if why and network:
        remarks.append(f"{NETWORK} is not compared: {why}")
    blind: dict[str, FloorRow | NetworkRow] = {} if row is None else {NETWORK: row}
    if row is not None and set(reads_sentence) != set(files) and order_of_starts(row.train).informs:
        blind[PARAGRAPH] = run_floor(PARAGRAPH, setting, row.train, depths)
    runs = {
        method: measure_runs(pairs, files[method], setting, depths, progress=progress)
        for method, pairs in inputs.items()
    }
    hits = _hits(inputs, setting)
    compared = ComparedFiles(
        comparison=_compared(runs, blind, against, testing, progress=progress),
        runs=runs,
        annotations=annotations,
        answers={method: pairs[0][0] for method, pairs in inputs.items()},
        published=None if figures is None else published_beside(figures, next(iter(runs.values()))[0].scores),
        published_sources=[source_of(path) for path in dict.fromkeys(figure.path for figure in figures or ())],
        seed=testing.seed,
        depths=depths,
        remarks=remarks,
        network=row,
        network_hits={} if row is None else _network_hits(row, hits, setting, testing.resamples),
        hits={**hits, **{name: floor.hits for name, floor in blind.items()}},
        floors=tuple(blind),
        reads_sentence=frozenset(reads_sentence),
    )
    measuring = _FileMeasuring(setting, depths, testing, read, progress)
    return _with_additions(compared, additions, train, figures or (), measuring)


class _FileMeasuring(NamedTuple):
    """Settings by which files are read and measured."""

    setting: Setting
    depths: Sequence[int | None]
    testing: DrawSettings
    read: Reader
    progress: bool


def _with_additions(
    compared: ComparedFiles,
    additions: Additions,
    train: Annotations | None,
    published: Sequence[PublishedFigure],
    measuring: _FileMeasuring,
) -> ComparedFiles:
    """Add floors, other splits and changed videos."""
    names = [name for name in additions.floors if name not in compared.floors]
    rows, remarks = floors_beside(names, measuring.setting, train, measuring.depths)
    floors = (*compared.floors, *rows)
    splits = [
        measure_split(
            split,
            measuring.setting,
            measuring.depths,
            floors=(*compared.floors, *names),
            published=published,
            resamples=measuring.testing.resamples,
            read=measuring.read,
            progress=measuring.progress,
        )
        for split in additions.splits
    ]
    if splits:
        splits.append(_own_split(compared, rows, measuring))
    originals = {method: (runs, compared.answers[method]) for method, runs in compared.runs.items()}
    return replace(
        compared,
        remarks=[*compared.remarks, *remarks, *(remark for split in splits for remark in split.remarks)],
        hits={**compared.hits, **({name: row.hits for name, row in rows.items()} if compared.hits else {})},
        floors=floors,
        splits=splits,
        changed=compare_changed(
            additions.changed,
            originals,
            measuring.setting,
            measuring.depths,
            testing=measuring.testing,
            read=measuring.read,
            progress=measuring.progress,
        ),
    )


def _own_split(compared: ComparedFiles, rows: Mapping[str, FloorRow], measuring: _FileMeasuring) -> SplitResult:
    """Return the figures on the compared split."""
    comparison = compared.comparison
    value = dict(zip(comparison.methods, comparison.mean, strict=True))
    ci95 = dict(zip(comparison.methods, comparison.interval, strict=True))
    for name, row in rows.items():
        rng = stream(measuring.setting.seed, f"figures on {compared.annotations.sha256}")
        value[name] = mean_figures(row.runs)
        ci95[name] = mean_interval(row.runs, rng, resamples=measuring.testing.resamples)
    published = [(row, figure) for row, figure in compared.published or () if compared.depth(row) is None]
    name = compared.annotations.split
    return SplitResult(name, compared.annotations, value, ci95, compared.runs, (*compared.floors, *rows), published)


def _hits(inputs: Mapping[str, Sequence[tuple[Predictions, MatchReport]]], setting: Setting) -> dict[str, list[Scores]]:
    """Return the scores of each run at R@1 and the IoU of the headline measure; empty for other measures."""
    if not all(measure.needs in ("overlaps", "sets") for measure in setting.measures):
        return {}
    hit = hit_of(setting.measures[setting.headline])
    return {
        method: [evaluate(setting.annotations, predictions, [hit], setting.protocol) for predictions, _ in runs]
        for method, runs in inputs.items()
    }


def _compared(
    runs: Mapping[str, Sequence[FileRun]],
    blind: Mapping[str, FloorRow | NetworkRow],
    against: str | None,
    testing: DrawSettings,
    *,
    progress: bool,
) -> Comparison:
    """Return the comparison of all methods, the blind ones included."""
    scores: dict[str, Sequence[Scores]] = {method: [run.scores for run in group] for method, group in runs.items()}
    return compare(
        {**scores, **{name: row.runs for name, row in blind.items()}},
        np.random.default_rng(testing.seed),
        baseline=against,
        blind={name: MARGIN * row.training_spread for name, row in blind.items()},
        resamples=testing.resamples,
        permutations=testing.permutations,
        progress=progress,
    )


def _fit_network(
    setting: Setting, train: Annotations | None, depths: Sequence[int | None], why: str
) -> tuple[NetworkRow | None, str]:
    """Return the fitted sentence network, or None and the reason; a reason in `why` is passed on."""
    if train is None or why:
        return None, why
    try:
        return run_network(setting, train, depths), ""
    except InputError as error:
        return None, f"it could not be fitted: {error}"


def _network_hits(
    row: NetworkRow, hits: Mapping[str, Sequence[Scores]], setting: Setting, resamples: int
) -> dict[str, HitsBesideNetwork]:
    """Return the hits of each method by those of the network."""
    result = {}
    for method, of_method in hits.items():
        rng = stream(setting.seed, "excess-where-blind-misses")  # as in an audit; the same draws for every method
        result[method] = row.compare(of_method, rng, resamples=resamples)
    return result


def check_methods(
    names: Sequence[str], against: str | None, *, network: bool, reads_sentence: Collection[str] = ()
) -> None:
    """Refuse a method with the name of a blind one, and methods to compare with, or declared, that are none of them."""
    clash = [name for name in (NETWORK, PARAGRAPH) if name in names]
    if clash and network:
        raise UsageError(
            f"got a method called {clash[0]!r}, which is the name of a blind baseline; give NAME=FILE with another "
            "name, or --fit-split none"
        )
    if against not in (None, NETWORK, PARAGRAPH, *names):
        raise UsageError(f"--against: got {against!r}, expected {one_of_known(str(against), names)} or {NETWORK}")
    for name in reads_sentence:
        if name not in names:
            raise UsageError(f"--reads: got {name!r}, expected {one_of_known(name, names)}")


def training_split(
    source: AnnotationSource, annotations: Annotations, split: str | None, file: Path | None
) -> Annotations | None:
    """Return the split on which the sentence network is fitted; None where none was named and there is none."""
    try:
        return source.training(annotations, split, file)
    except MissingFileError:
        if split is not None or file is not None:
            raise
        return None


def _common_measures(
    measures: str | Sequence[Measure | str] | None,
    protocol: Protocol,
    annotations: Annotations,
    answers: Sequence[Predictions],
) -> tuple[tuple[Measure, ...], list[str]]:
    """Return the measures that every file has, and notes on those that are left out."""
    of_files = [resolve_measures(measures, protocol, annotations, predictions) for predictions in answers]
    longest = max(of_files, key=len)
    common = tuple(measure for measure in longest if all(measure in of_file for of_file in of_files))
    on_durations = note_on_durations(protocol, annotations, common) if measures is None else ""
    return common, [
        *filter(None, [on_durations]),
        *(f"{measure} is left out: not every file rates clips" for measure in longest if measure not in common),
    ]
