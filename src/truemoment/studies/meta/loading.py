"""Load the systems of a study: files, simulated systems and baselines, or variants of one system on two splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from truemoment.base.boundary.files import source_of
from truemoment.base.errors import MeasureError, UsageError
from truemoment.base.records import Annotations, Predictions
from truemoment.data.formats.prediction_files import PredictionOptions
from truemoment.data.named_file import NamedFile
from truemoment.data.references.base import warn
from truemoment.evaluation.evaluate import evaluate, resolve_protocol
from truemoment.evaluation.measures import Measure, parse_measures
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import check_paired
from truemoment.studies.meta.systems import DEFAULT_MEASURES, Systems

SAVED = ".npz"
"""Ending of saved scores; every other file has predictions."""


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
        return (
            *([f"{len(self.systems)} systems, of which {' and '.join(counts)}."] if counts else []),
            *self.incomplete,
        )
