"""Load the systems of a study: files, simulated systems and baselines, or variants of one system on two splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path

import numpy as np

from truemoment.base.boundary.files import source_of
from truemoment.base.errors import MeasureError, MissingFileError, UsageError
from truemoment.base.records import Annotations, Predictions
from truemoment.base.request import In, InDataset, argument, option
from truemoment.baselines import BASELINES, Choices, make_baseline
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.formats.prediction_files import PredictionOptions
from truemoment.data.named_file import NamedFile
from truemoment.data.references.base import warn
from truemoment.evaluation.evaluate import evaluate, resolve_protocol
from truemoment.evaluation.measures import Measure, parse_measures
from truemoment.evaluation.protocols import Protocol, get_protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import check_paired
from truemoment.report.words import few
from truemoment.studies.meta.population import default_population
from truemoment.studies.meta.selection import without_saturated
from truemoment.studies.meta.simulation import TOP, simulate_all
from truemoment.studies.meta.systems import DEFAULT_MEASURES, Systems
from truemoment.studies.request import (
    FittedOn,
    MappedData,
    Measuring,
    ReadingAnnotations,
    ReadingPredictions,
    VerbEngine,
    data_dir,
    dataset,
    measures,
    protocol,
)

SAVED = ".npz"
"""Ending of saved scores; every other file has predictions."""


def named_files(words: Sequence[str]) -> tuple[NamedFile, ...]:
    """Read SYSTEM or NAME=SYSTEM: a file, or a folder whose files are all systems, in the order of their names."""
    files: list[NamedFile] = []
    for named in map(NamedFile.read, words):
        path = named.path
        if not named.path.exists():
            raise MissingFileError(f"{path}: there is no such file or folder")
        if not named.path.is_dir():
            files.append(named)
            continue
        if named.is_named:
            raise UsageError(f"{path}: is a folder, whose files have their own names; leave out NAME=")
        paths = sorted(file for file in named.path.iterdir() if not file.name.startswith(".") and not file.is_dir())
        if not paths:
            raise UsageError(f"{path}: contains no file, expected predictions or saved scores")
        if unread := next((file for file in paths if not file.is_file()), None):
            raise UsageError(f"{unread}: cannot be read as a file, expected predictions or saved scores")
        files += [NamedFile.checked(NamedFile.own_name(file), file, is_named=False) for file in paths]
    by_name: dict[str, NamedFile] = {}
    for file in files:
        if file.name in by_name:
            raise UsageError(
                f"{by_name[file.name].path} and {file.path} would both be called {file.name!r}; give NAME=SYSTEM"
            )
        by_name[file.name] = file
    return tuple(files)


def folders_of(words: Sequence[str]) -> list[Path]:
    """Return the folders among some words."""
    return [named.path for named in map(NamedFile.read, words) if named.path.is_dir()]


def has_predictions(file: NamedFile) -> bool:
    """Return whether a file has predictions; else it has saved scores."""
    return file.path.suffix.lower() != SAVED


def sources_of(files: Sequence[NamedFile], **more: str) -> tuple[dict[str, str], ...]:
    """Return name, path and SHA-256 of each file."""
    return tuple({"name": file.name, **more, **source_of(file.path)} for file in files)


def measured_files(
    files: Sequence[NamedFile],
    annotations: Annotations | None,
    how: PredictionOptions,
    *,
    measures: Sequence[Measure] | None,
    protocol: Protocol | None,
    on_status: Callable[[str], None],
    keep: dict[str, Predictions] | None = None,
) -> dict[str, Scores]:
    """Load saved scores, then read and measure prediction files with the references `annotations`.

    Files whose times are improbable as seconds are refused.
    The default of `measures` is the measures of the saved scores, or those of all studies. `keep` collects the
    predictions.
    """
    scores: dict[str, Scores] = {}
    for file in sorted(files, key=has_predictions):
        on_status(f"reading {file.name}")
        if not has_predictions(file):
            result = _saved_scores(file.path, measures, protocol)
        else:
            assert annotations is not None  # noqa: S101 - callers with prediction files read their annotations
            predictions, match = how.read(file.path, annotations, progress=False)
            how.refuse_units(match, file.path, warn)
            selected = measures or measures_for(scores, resolve_protocol(protocol, annotations))
            result = evaluate(annotations, predictions, selected, protocol, on_unknown=how.on_unknown)
            if keep is not None:
                keep[file.name] = predictions
        first = next(iter(scores.values()), result)
        if np.array_equal(result.query_id, first.query_id) and np.array_equal(result.video_id, first.video_id):
            weight = first.weight if np.array_equal(result.weight, first.weight) else result.weight
            result = replace(result, query_id=first.query_id, video_id=first.video_id, weight=weight)  # saves memory
        scores[file.name] = result
    return scores


def measures_for(scores: Mapping[str, Scores], protocol: Protocol) -> tuple[Measure, ...]:
    """Return the measures of `scores`; if it is empty, the measures of all studies that the protocol can compute."""
    if scores:
        return next(iter(scores.values())).measures
    pooled = protocol.references == "pooled"  # pooled references have no ends, which some measures need
    return tuple(measure for measure in parse_measures(DEFAULT_MEASURES) if not (pooled and measure.needs_duration))


def paired_systems(scores: Mapping[str, Scores], files: Sequence[NamedFile]) -> Systems:
    """Return systems with paired scores; an error names the file of the system that does not match."""
    names, paths = list(scores), {file.name: str(file.path) for file in files}
    for name in names[1:]:
        try:
            check_paired([scores[names[0]], scores[name]])
        except UsageError as error:
            why = str(error).replace("scores 1 have", "has").replace("as in scores 0", f"as {names[0]} has")
            raise UsageError(f"{paths.get(name, name)}: {why}") from None
    return Systems(scores)


def incomplete(scores: Mapping[str, Scores]) -> tuple[str, ...]:
    """Return a note for each system with unanswered queries, or with queries that the protocol changes."""
    notes = []
    for name, result in scores.items():
        touched = [f"{words}: {n:,} of {len(result):,} queries" for words, n in result.touched.items() if n]
        notes += [f"{name}: {'; '.join(touched)}."] if touched else []
    return tuple(notes)


def _saved_scores(path: Path, measures: Sequence[Measure] | None, protocol: Protocol | None) -> Scores:
    scores = Scores.load(path)
    if protocol is not None and scores.protocol.signature() != protocol.signature():
        raise UsageError(
            f"{path}: has scores by protocol {scores.protocol.name} and no predictions to measure by "
            f"{protocol.name}; expected predictions, or no --protocol"
        )
    try:
        return scores if measures is None else scores.only(measures)
    except MeasureError as error:
        raise UsageError(f"{path}: {error}") from None


def ignore(_: str) -> None:
    """Ignore a status line."""


@dataclass(frozen=True, eq=False)
class LoadedSystems:
    """Systems with their predictions, annotations and sources.

    Parameters
    ----------
    predictions
        Predictions by name of system; saved scores have none.
    annotations
        The references; None if all systems are saved scores.
    fitted_on
        Annotations from which baselines and simulated systems learned; None for none.
    sources
        ``name``, ``path`` and ``sha256`` of each file.
    incomplete
        A note for each file with unanswered queries.
    """

    systems: Systems
    predictions: Mapping[str, Predictions] = field(default_factory=dict)
    annotations: Annotations | None = None
    fitted_on: Annotations | None = None
    sources: tuple[dict[str, str], ...] = ()
    incomplete: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the systems for the reader of a report."""
        kinds = ((len(self.simulated), "simulated (see 'meta population')"), (len(self.baselines), "blind baselines"))
        counts = [f"{n} {'is' if n == 1 else 'are'} {kind}" for n, kind in kinds if n]
        return (*([f"Of the {len(self.systems)} systems {' and '.join(counts)}."] if counts else []), *self.incomplete)


@dataclass(frozen=True)
class SystemSource(MappedData, ReadingPredictions, FittedOn, VerbEngine, Measuring):
    """The systems of a study, and how they are measured.

    Prediction files of any format, saved scores (.npz), or folders of these; ``NAME=FILE`` names a system. Measures and
    protocol are text; None for the dataset's protocol and the measures of all studies.

    Examples
    --------
    >>> source = SystemSource(("ours.jsonl", "runs/"), annotations="mine.jsonl", split="test")
    >>> systems = source.load(seed=0).systems  # doctest: +SKIP
    """

    HEADING = "Systems"

    systems: tuple[str, ...] = argument(metavar="[NAME=]SYSTEM...", required=False)
    _: KW_ONLY
    protocol: str | None = protocol()
    measures: str | None = measures()
    population: bool = option("Add the simulated systems, see 'meta population'.", False)
    baselines: bool = option("Add every blind baseline.", False)

    @property
    def files(self) -> tuple[NamedFile, ...]:
        """The files of the systems."""
        return named_files(self.systems)

    def inputs(self) -> list[Path]:
        """Return the files of the systems."""
        return [file.path for file in self.files]

    @property
    def folders(self) -> list[Path]:
        """Folders whose files are all read as systems."""
        return folders_of(self.systems)

    def load(
        self, seed: int = 0, *, on_status: Callable[[str], None] = ignore, need_predictions: bool = False
    ) -> LoadedSystems:
        """Read, simulate and measure the systems; with `need_predictions`, refuse saved scores."""
        files = self.files
        saved = [file for file in files if not has_predictions(file)]
        if need_predictions and saved:
            raise UsageError(
                f"{saved[0].path}: saved scores contain no predictions, which this study compares with "
                "other references; expected prediction files"
            )
        protocol = None if self.protocol is None else get_protocol(self.protocol)
        measures = None if self.measures is None else parse_measures(self.measures)
        with_made = self.population or self.baselines
        annotations, fitted_on = None, None
        if len(saved) < len(files) or with_made or self.dataset is not None or self.annotations is not None:
            annotations = self.source.read()
            fitted_on = self.training(self.source, annotations) if with_made else None
        predictions: dict[str, Predictions] = {}
        scores = measured_files(
            files, annotations, self.how, measures=measures, protocol=protocol, on_status=on_status, keep=predictions
        )
        scores = {file.name: scores[file.name] for file in files}
        notes = incomplete(scores)
        simulated: dict[str, Predictions] = {}
        blind: dict[str, Predictions] = {}
        if annotations is not None and with_made:
            simulated, blind = self._make_systems(annotations, fitted_on, seed, on_status)
            if repeated := sorted((simulated | blind).keys() & scores.keys()):
                raise UsageError(f"{repeated[0]!r} is the name of a simulated system or baseline; give NAME=FILE")
            selected = measures or measures_for(scores, resolve_protocol(protocol, annotations))
            for name, answers in (simulated | blind).items():
                on_status(f"measuring {name}")
                scores[name] = evaluate(annotations, answers, selected, protocol)
        return LoadedSystems(
            systems=paired_systems(scores, files),
            predictions=predictions | simulated | blind,
            annotations=annotations,
            fitted_on=fitted_on,
            sources=sources_of(files),
            incomplete=notes,
            simulated=tuple(simulated),
            baselines=tuple(blind),
        )

    def _make_systems(
        self, annotations: Annotations, train: Annotations | None, seed: int, on_status: Callable[[str], None]
    ) -> tuple[dict[str, Predictions], dict[str, Predictions]]:
        for_population, for_baselines = np.random.default_rng(seed).spawn(2)
        simulated: dict[str, Predictions] = {}
        blind: dict[str, Predictions] = {}
        if self.population:
            on_status("simulating systems")
            simulated = dict(simulate_all(default_population(), annotations, for_population, fit=train))
        if self.baselines:
            on_status("running baselines")
            floors = [name for name, baseline in BASELINES.items() if baseline.kind == "floor"]
            for name, child in zip(floors, for_baselines.spawn(len(floors)), strict=True):
                if BASELINES[name].learns and train is None:
                    continue
                grounder = make_baseline(name, Choices(child, engine=self.engine))
                fitted = grounder if train is None else grounder.fit(train)
                blind[name] = fitted.ground(annotations.queries, TOP)
        return simulated, blind


@dataclass(frozen=True, kw_only=True)
class VariantSource(ReadingPredictions, ReadingAnnotations):
    """Variants of one system on a validation and a test split, for model selection; equal names are one variant.

    The measures for selection and for the test are text; None for the defaults.
    """

    HEADING = "Variants"

    validation: tuple[str, ...] = option(
        "Variants on the validation split: a folder, or files one by one.", metavar="DIR|FILE", required=True
    )
    test: tuple[str, ...] = option(
        "The same variants on the test split, with the same names.", metavar="DIR|FILE", required=True
    )
    dataset: InDataset[str | None] = dataset()
    validation_split: str | None = option("Split of the validation files, e.g. val.", metavar="NAME")
    split: str | None = option("Split of the test files, e.g. test.", metavar="NAME")
    validation_annotations: In[Path | None] = option(
        "Your own annotations for validation, in place of --dataset.", metavar="FILE"
    )
    annotations: In[Path | None] = option("Your own annotations for the test.", metavar="FILE")
    data_dir: Path | None = data_dir()
    measures: str | None = option(
        "Measures that select. [default: those of all studies, or all saved]", metavar="'A; B'"
    )
    test_measures: str | None = option(
        "Measures that judge. [default: the same without R@10,IoU=0.3]", metavar="'A; B'"
    )
    protocol: str | None = option("Evaluation convention. [default: the dataset's]", metavar="NAME[,FIELD=VALUE...]")

    def inputs(self) -> list[Path]:
        """Return the files of both sides; refuse names on one side only."""
        validation, test = named_files(self.validation), named_files(self.test)
        for side, files, others in (("--validation", validation, test), ("--test", test, validation)):
            known = {file.name for file in others}
            if unpaired := [file.name for file in files if file.name not in known]:
                raise UsageError(
                    f"{side}: {few(unpaired)} {'is' if len(unpaired) == 1 else 'are'} on this side only, "
                    "expected files of the same names on both"
                )
        return [file.path for file in (*validation, *test)]

    @property
    def folders(self) -> list[Path]:
        """Folders whose files are all read as variants."""
        return folders_of([*self.validation, *self.test])

    def load(self, on_status: Callable[[str], None] = ignore) -> tuple[Systems, LoadedSystems]:
        """Read and measure the variants on the validation and test splits."""
        selecting = None if self.measures is None else parse_measures(self.measures)
        judging = selecting if self.test_measures is None else parse_measures(self.test_measures)
        files = named_files(self.validation), named_files(self.test)
        file, split = self.validation_annotations, self.validation_split
        validation, _ = self._side("validation-", files[0], file, split, measures=selecting, on_status=on_status)
        test, annotations = self._side(
            "", files[1], self.annotations, self.split, measures=judging, on_status=on_status
        )
        if self.test_measures is None:
            test = without_saturated(test)
        sources = (*sources_of(files[0], side="validation"), *sources_of(files[1], side="test"))
        return validation, LoadedSystems(test, annotations=annotations, sources=sources)

    def _side(
        self,
        option: str,
        files: Sequence[NamedFile],
        file: Path | None,
        split: str | None,
        *,
        measures: Sequence[Measure] | None,
        on_status: Callable[[str], None],
    ) -> tuple[Systems, Annotations | None]:
        protocol = None if self.protocol is None else get_protocol(self.protocol)
        annotations = None
        if any(map(has_predictions, files)):
            if file is None and (self.dataset is None or split is None):
                raise UsageError(
                    f"which annotations? prediction files need --dataset NAME with --{option}split NAME, or "
                    f"--{option}annotations FILE"
                )
            dataset = None if file is not None else self.dataset
            annotations = AnnotationSource(dataset, file, split, self.data_dir, self.how_references).read()
        scores = measured_files(files, annotations, self.how, measures=measures, protocol=protocol, on_status=on_status)
        return paired_systems({name: scores[name] for name in sorted(scores)}, files), annotations
