"""Predictions of a trained run for the queries of a split, computed and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import UNSET

from truemoment.base.boundary.distribution import Engine
from truemoment.base.boundary.documents import document_head
from truemoment.base.boundary.files import sha256_of
from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.data.formats import write_predictions
from truemoment.learning.models.decoding import grid_note
from truemoment.learning.training import report_prediction as reports
from truemoment.learning.training.film_parts import predict_films, remove_parts
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.network import NotFiniteError
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.run_options import RunOptions
from truemoment.learning.training.windows import windows_of
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.report.words import counted
from truemoment.searching.chunks import chunk_annotations
from truemoment.searching.first_look import FirstLook, FirstLookSummary, summarise_first_look


@dataclass(frozen=True, repr=False, eq=False)
class RunPrediction(Result):
    """Predictions of a trained run, with report, document and rows.

    Parameters
    ----------
    name
        Name of the method.
    annotations
        The split.
    made_by
        Recipe, data and features of the run, and the change of the videos if there is one.
    seed
        Seed of the change.
    predictions
        The predictions.
    out
        File of predictions.
    notes
        What a reader of the predictions has to know.
    """

    name: str
    annotations: Annotations
    made_by: dict[str, Any]
    seed: int
    predictions: Predictions
    out: Path
    notes: tuple[str, ...]

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report_of_run(self)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment predict run --json`` writes it."""
        return reports.document_of_run(self)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a moment: query, rank, start and end in seconds, score."""
        return reports.rows(self.predictions)

    def __repr__(self) -> str:
        """Return the method, the data and the file, in one line."""
        split = f"{self.annotations.dataset}/{self.annotations.split}"
        return f"{self.name} on {split}: {counted(len(self.predictions), 'query', 'queries')} answered in {self.out}"


def predict_with_run(
    options: RunOptions,
    read: Callable[[], Annotations],
    out: Path,
    *,
    chunk_s: float | None = None,
    limit: int | None = None,
    engine: Engine = "local",
    workers: int | None = None,
    track: Track = unseen,
) -> RunPrediction:
    """Predict the queries of a split with a trained run, and write the predictions.

    A run on windows of films predicts in parts (:mod:`truemoment.learning.training.film_parts`), which the same call
    resumes.

    Parameters
    ----------
    options
        The run, and how it predicts.
    read
        Reads the split, after the run.
    out
        File of predictions.
    chunk_s
        Length of the chunks that videos are cut into, in seconds (:mod:`truemoment.searching.chunks`); times then count
        from the start of a chunk. None for whole videos.
    limit
        Number of queries to predict; None for all.
    engine, workers
        Who predicts the parts of films, see :func:`~truemoment.learning.training.film_parts.predict_films`.
    track
        Shows progress.
    """
    method = options.load(track)
    recipe, made_by, notes = method.run.recipe, dict(method.run.made_by), list(method.run.notes)
    if options.changes:
        made_by |= {"videos": f"{options.change}, seed {options.seed}"}
    annotations = read()
    in_parts = recipe.windows is not UNSET and chunk_s is None
    if not in_parts and (engine != "local" or workers is not None):
        raise UsageError("--workers and --engine: are of a run on windows of whole films")
    if chunk_s is not None:
        method, annotations = _in_chunks(method, annotations, chunk_s)
        made_by |= {"chunks": f"{chunk_s:g} s; times count from the start of a chunk"}
    queries = annotations.queries.first(limit)
    if method.ranking is not None:
        looked = _looked_at(method, annotations, queries)
        made_by |= {"windows": looked.name, "references_in_windows": looked.share}
        note = f"windows: {looked.name}; {100 * looked.share:.1f} % of the references lie in them"
        made_by |= {"notes": [*made_by.get("notes", []), note]}
        notes.append(note)
    if in_parts:
        request = _request(method, options, annotations, queries)
        predictions = predict_films(
            options, request, annotations, queries, out, engine=engine, workers=workers, track=track
        )
    else:
        try:
            predictions = method.ground(queries, top=recipe.decode.top)
        except NotFiniteError as error:
            problem = f"gives {error.args[0]} that are not finite; is the file damaged?"
            raise InputError(problem, path=options.run / "best.safetensors") from None
    notes += grid_note(predictions, recipe.decode.grid_s or None)
    write_predictions(out, predictions, annotations, made_by=made_by)
    remove_parts(out)
    unknown, n_words = method.unknown_words(queries)
    if unknown:
        notes.insert(0, f"{unknown:,} of {n_words:,} words are unknown to {method.name}")
    return RunPrediction(method.name, annotations, made_by, options.seed, predictions, out, tuple(notes))


def _in_chunks(
    method: TrainedGrounder, annotations: Annotations, chunk_s: float
) -> tuple[TrainedGrounder, Annotations]:
    """Return the method with the features of chunks, and the queries of chunks that have rows."""
    if method.features is None:
        raise UsageError(f"--chunks: {method.name} sees no video")
    if method.ranking is not None:
        raise UsageError("--chunks: is of short videos, and a first look of whole films: expected one of them")
    chunks = chunk_annotations(annotations, chunk_s)
    store = chunks.features(method.features)
    has_rows = np.array([video_id in store for video_id in chunks.annotations.queries.video_id], dtype=bool)
    return method.with_features(store), chunks.annotations.select_queries(has_rows)


def _looked_at(method: TrainedGrounder, annotations: Annotations, queries: Queries) -> FirstLookSummary:
    """Return what the first look leaves of the references of the queries that are predicted."""
    windowing, features = method.run.recipe.windows, method.features
    if windowing is UNSET or features is None:
        raise UsageError(f"{method.name} has no windows")
    answered = annotations.select_queries(np.arange(annotations.n_queries) < len(queries))
    return summarise_first_look(answered, windows_of(windowing), features, method.ranking)


def _request(
    method: TrainedGrounder, options: RunOptions, annotations: Annotations, queries: Queries
) -> dict[str, Any]:
    """Return what is predicted; parts of another request are not used."""
    look = method.ranking if isinstance(method.ranking, FirstLook) else None
    return {
        **document_head("truemoment/prediction-parts/1"),
        "run": sha256_of(options.run / "best.safetensors"),
        "recipe": method.run.recipe.hash,
        "annotations": annotations.sha256,
        "queries": len(queries),
        "features": "" if method.features is None else method.features.name,
        "first_look": look.most if look else 0,
        "sentences": look.sentences.name if look else "",
        "seed": options.seed,
    }
