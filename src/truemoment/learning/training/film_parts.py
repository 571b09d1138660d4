"""Predictions on films in parts that an engine hands out: one film and up to 256 of its queries a part.

A part that is done is a file of predictions by itself, so that whatever ends the work, the same command resumes it.
The predictions do not depend on the number of workers, the engine, or where the work was interrupted: each part is
computed by one thread, in the same way.

::

    OUT.parts/request.json    what is predicted: another request is refused
    OUT.parts/000001.jsonl    the predictions of a part
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from truemoment.base.boundary.distribution import Engine, JobRunner, begin_worker, distribute
from truemoment.base.boundary.documents import write_document
from truemoment.base.boundary.files import read_json
from truemoment.base.boundary.folders import lock_folder, remove_leftovers
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, TrueMomentError, UsageError
from truemoment.base.records import Annotations, Predictions, Queries, numbers_of
from truemoment.data.formats import read_predictions, write_predictions
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.run_options import RunOptions
from truemoment.learning.training.trials import use_threads

PART_QUERIES = 256
"""Queries of a film that are answered together, and lost at most."""

REQUEST = "request.json"


@dataclass(frozen=True, eq=False)
class FilmPart:
    """Some queries of a film.

    Parameters
    ----------
    number
        From 1, in the order of the films and of their queries.
    queries
        The queries.
    """

    number: int
    queries: Queries

    @property
    def film(self) -> str:
        """The film."""
        return str(self.queries.video_id[0])

    @property
    def work(self) -> float:
        """Seconds of film times queries, to which the time of the part is proportional."""
        return float(self.queries.duration_s[0]) * len(self.queries)


@dataclass(frozen=True, eq=False)
class DonePart:
    """The outcome of a part: its predictions, or why there are none."""

    part: FilmPart
    predictions: Predictions | None = None
    failed: str = ""


@dataclass(frozen=True)
class FilmPredictor:
    """Predicts a part; it is sent to other processes, which load the run once.

    Parameters
    ----------
    options
        The run, and how it predicts.
    """

    options: RunOptions

    def __call__(self, part: FilmPart) -> DonePart:
        """Predict a part; errors become text, which every process can send."""
        try:
            method = _loaded(self.options)
            with use_threads(1):
                predictions = method.ground(part.queries, top=method.run.recipe.decode.top)
        except TrueMomentError as error:
            return DonePart(part, failed=str(error))
        return DonePart(part, predictions)


@functools.lru_cache(maxsize=1)
def _loaded(options: RunOptions) -> TrainedGrounder:
    """Load a run once a process."""
    return options.load()


def predict_films(
    options: RunOptions,
    request: Mapping[str, Any],
    annotations: Annotations,
    queries: Queries,
    out: Path,
    *,
    engine: Engine = "local",
    workers: int | None = None,
    track: Track = unseen,
) -> Predictions:
    """Predict queries of films in parts; those that an earlier command has done are read.

    Parameters
    ----------
    options
        The run, and how it predicts.
    request
        What is predicted, as JSON; parts of another request are refused.
    annotations, queries
        The split, and the queries of it that are predicted.
    out
        File of predictions; the parts lie in the folder ``OUT.parts`` until :func:`remove_parts` removes them.
    engine, workers
        Who does the work. Without a number of workers, ``local`` has one for each core, or one if there is a GPU, and
        ``ray`` all there is.
    track
        Shows how many parts are done.
    """
    folder = OwnPath(parts_folder(out))
    folder.refuse_links()
    parts = list(parts_of(queries))
    with lock_folder(folder):
        remove_leftovers(folder)
        _claim(folder, request)
        predictions_of = {
            part.number: saved for part in parts if (saved := _kept(folder, part, annotations)) is not None
        }
        remaining = [part for part in parts if part.number not in predictions_of]
        work = JobRunner(
            do=FilmPredictor(options),
            begin=begin_worker,
            given_up=_given_up,
            needs="the run and the features under the same paths",
            threads=1,
            on_gpu=options.on_gpu,
            seconds=lambda part: part.work,
        )
        results = distribute(engine, iter(remaining), work, _workers(engine, workers, len(remaining)))
        for _, result in zip(track(range(len(remaining)), "parts of films"), results, strict=True):
            if result.predictions is None:
                raise InputError(result.failed)
            write_predictions(_file_of(folder, result.part), result.predictions, annotations)
            predictions_of[result.part.number] = result.predictions
    _loaded.cache_clear()
    return _joined([predictions_of[part.number] for part in parts], queries)


def _workers(engine: Engine, workers: int | None, n_parts: int) -> int | None:
    """Return the number of processes: on this machine, one a core if there is no GPU, and not more than parts."""
    if workers is None and engine == "local":
        workers = 1 if torch.cuda.is_available() else os.cpu_count()
    return workers and max(1, min(workers, n_parts))


def parts_folder(out: Path) -> Path:
    """Return the folder of the parts of a file of predictions."""
    return out.with_suffix(".parts")


def remove_parts(out: Path) -> None:
    """Remove the parts of a file of predictions that is complete, and their folder unless it contains other files."""
    folder = OwnPath(parts_folder(out))
    for file in (folder / REQUEST, *folder.glob("[0-9]*.jsonl")):
        file.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # it does not exist, or contains other files
        folder.rmdir()


def parts_of(queries: Queries) -> Iterator[FilmPart]:
    """Divide queries into parts, film by film in the order of their first queries."""
    film = numbers_of(queries.video_id)
    number = 0
    for rows in np.split(np.argsort(film, kind="stable"), np.cumsum(np.bincount(film))[:-1]) if len(film) else []:
        for low in range(0, len(rows), PART_QUERIES):
            number += 1
            yield FilmPart(number, queries.select(rows[low : low + PART_QUERIES]))


def _given_up(part: FilmPart, times: int) -> DonePart:
    why = f"a worker died {times} times of {len(part.queries)} queries of {part.film!r}"
    return DonePart(part, failed=f"{why}, perhaps for memory: use fewer workers")


def _claim(folder: OwnPath, request: Mapping[str, Any]) -> None:
    """Write what is predicted; refuse a folder with parts of other predictions."""
    file = folder / REQUEST
    if file.exists():
        earlier = read_json(file, dict[str, Any])
        ours = msgspec.json.decode(msgspec.json.encode(dict(request)))
        differing = [name for name in {**ours, **earlier} if earlier.get(name) != ours.get(name)]
        if differing:
            raise UsageError(
                f"{folder}: contains parts of other predictions ({', '.join(differing)} differ): remove it"
            )
        return
    write_document(file, dict(request))


def _file_of(folder: OwnPath, part: FilmPart) -> OwnPath:
    return folder / f"{part.number:06}.jsonl"


def _kept(folder: OwnPath, part: FilmPart, annotations: Annotations) -> Predictions | None:
    """Read a part that is complete; None for a missing or damaged one, which is predicted again."""
    file = _file_of(folder, part)
    if not file.exists():
        return None
    try:
        predictions, _ = read_predictions(file, annotations)
    except TrueMomentError:
        return None
    return predictions if predictions.query_id.tolist() == part.queries.query_id.tolist() else None


def _joined(parts: Sequence[Predictions], queries: Queries) -> Predictions:
    """Return the predictions of all parts in the order of the queries."""
    columns = {
        name: np.concatenate([np.zeros(0), *(getattr(part, name) for part in parts)])
        for name in ("start_s", "end_s", "score")
    }
    query_id = np.concatenate([part.query_id for part in parts])
    lengths = np.concatenate([part.lengths for part in parts])
    place = {name: row for row, name in enumerate(query_id.tolist())}
    rows = np.array([place[name] for name in queries.query_id.tolist()], dtype=np.int64)
    begins = (np.cumsum(lengths) - lengths)[rows]
    ends = np.cumsum(lengths[rows])
    moments = np.repeat(begins - (ends - lengths[rows]), lengths[rows]) + np.arange(lengths.sum())
    flat = {name: column[moments] for name, column in columns.items()}
    return Predictions(queries.query_id, np.append(0, ends), name=parts[0].name, **flat)
