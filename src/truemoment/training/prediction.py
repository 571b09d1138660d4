"""Predictions of a trained run for the queries of a split, computed and written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.datasets.source import AnnotationSource
from truemoment.exceptions import UsageError
from truemoment.features.changed import CHANGES, ChangedFeatures
from truemoment.io import write_predictions
from truemoment.records import Annotations
from truemoment.searching.chunks import chunked
from truemoment.training.grounder import load_grounder
from truemoment.training.progress import Track, unseen


@dataclass(frozen=True, eq=False)
class RunPrediction:
    """Predictions of a trained run.

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
    n_predicted
        Number of queries.
    out
        File of predictions.
    notes
        What a reader of the predictions has to know.
    """

    name: str
    annotations: Annotations
    made_by: dict[str, Any]
    seed: int
    n_predicted: int
    out: Path
    notes: tuple[str, ...]


def predict_with_run(
    run: Path,
    source: AnnotationSource,
    out: Path,
    *,
    features: str | None = None,
    change: str | None = None,
    chunk_s: float | None = None,
    seed: int = 0,
    limit: int | None = None,
    track: Track = unseen,
) -> RunPrediction:
    """Predict the queries of a split with a trained run, and write the predictions.

    Parameters
    ----------
    run
        Folder of the run.
    source
        The split.
    out
        File of predictions.
    features
        Source of features; None for that of the run.
    change, seed
        How the videos are changed, and the seed of the change; None for not at all.
    chunk_s
        Length of the chunks that videos are cut into, in seconds (:func:`~truemoment.searching.chunks.chunked`); times
        then count from the start of a chunk. None for whole videos.
    limit
        Number of queries to predict; None for all.
    track
        Shows progress.
    """
    if change is not None and change not in CHANGES:
        raise UsageError(f"--change: unknown {change!r}, expected one of {', '.join(CHANGES)}")
    method = load_grounder(run, features=features, data_dir=source.data_dir, track=track)
    made_by = method.run.made_by
    if change is not None and change != "original":
        if method.features is None:
            raise UsageError(f"--change {change}: {method.name} sees no video")
        method = method.with_features(ChangedFeatures(method.features, change, seed))
        made_by |= {"videos": f"{change}, seed {seed}"}
    annotations = source.read()
    if chunk_s is not None:
        if method.features is None:
            raise UsageError(f"--chunks: {method.name} sees no video")
        chunks = chunked(annotations, chunk_s)
        store = chunks.features(method.features)
        has_rows = np.array([video_id in store for video_id in chunks.annotations.queries.video_id], dtype=bool)
        method, annotations = method.with_features(store), chunks.annotations.select_queries(has_rows)
        made_by |= {"chunks": f"{chunk_s:g} s; times count from the start of a chunk"}
    queries = annotations.queries.first(limit)
    predictions = method.ground(queries, top=method.run.recipe.decode.top)
    write_predictions(out, predictions, annotations, made_by=made_by)
    unknown, n_words = method.unknown_words(queries)
    note = f"{unknown:,} of {n_words:,} words are unknown to {method.name}"
    notes = (*((note,) if unknown else ()), *method.run.notes)
    return RunPrediction(method.name, annotations, made_by, seed, len(predictions), out, notes)
