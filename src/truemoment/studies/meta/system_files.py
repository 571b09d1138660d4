"""Files of systems: names and folders on the command line, saved scores and prediction files to read and measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from truemoment.base.boundary.files import source_of
from truemoment.base.errors import MeasureError, MissingFileError, UsageError
from truemoment.base.records import Annotations, Predictions
from truemoment.data.formats.prediction_files import PredictionOptions
from truemoment.data.named_file import NamedFile
from truemoment.evaluation.evaluate import evaluate, resolve_protocol
from truemoment.evaluation.measures import Measure, parse_measures
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import check_paired
from truemoment.studies.meta.systems import DEFAULT_MEASURES, Systems

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
        inside = sorted(of for of in named.path.iterdir() if not of.name.startswith(".") and not of.is_dir())
        if not inside:
            raise UsageError(f"{path}: contains no file, expected predictions or saved scores")
        if unread := next((of for of in inside if not of.is_file()), None):
            raise UsageError(f"{unread}: cannot be read as a file, expected predictions or saved scores")
        files += [NamedFile.checked(NamedFile.own_name(of), of, is_named=False) for of in inside]
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
    """Load saved scores, then read and measure prediction files, whose references are `annotations`.

    `measures` are by default those of the saved scores, or else those of all studies. `keep` collects the predictions.
    """
    scores: dict[str, Scores] = {}
    for file in sorted(files, key=has_predictions):
        on_status(f"reading {file.name}")
        if not has_predictions(file):
            one = _saved_scores(file.path, measures, protocol)
        else:
            assert annotations is not None  # noqa: S101 - callers with prediction files read their annotations
            predictions, _ = how.read(file.path, annotations, progress=False)
            selected = measures or measures_for(scores, resolve_protocol(protocol, annotations))
            one = evaluate(annotations, predictions, selected, protocol, on_unknown=how.on_unknown)
            if keep is not None:
                keep[file.name] = predictions
        scores[file.name] = _sharing(one, next(iter(scores.values()), one))
    return scores


def measures_for(scores: Mapping[str, Scores], protocol: Protocol) -> tuple[Measure, ...]:
    """Return the measures of the given scores, or else those of all studies that the protocol can compute."""
    if scores:
        return next(iter(scores.values())).measures
    pooled = protocol.references == "pooled"  # pooled references have no ends, which some measures need
    return tuple(of for of in parse_measures(DEFAULT_MEASURES) if not (pooled and of.needs_duration))


def paired_systems(scores: Mapping[str, Scores], files: Sequence[NamedFile]) -> Systems:
    """Pair scores; an error names the file of the system that does not fit."""
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
    for name, of_system in scores.items():
        touched = [f"{words}: {n:,} of {len(of_system):,} queries" for words, n in of_system.touched.items() if n]
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


def _sharing(one: Scores, first: Scores) -> Scores:
    """Return the same scores; what hundreds of systems have in common is in memory once."""
    if not np.array_equal(one.query_id, first.query_id) or not np.array_equal(one.video_id, first.video_id):
        return one
    weight = first.weight if np.array_equal(one.weight, first.weight) else one.weight
    return replace(one, query_id=first.query_id, video_id=first.video_id, weight=weight)
