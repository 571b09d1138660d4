"""LSMDC's clips moved to the time of whole films: MAD's val and test sets, in the authors' form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.boundary.files import write_json
from truemoment.base.errors import InputError, UsageError
from truemoment.collection.clips import PlacedClips, place_clips
from truemoment.data.datasets.clip_lines import ClipLine, read_clip_lines
from truemoment.media.features.base import FeatureStore
from truemoment.report.words import few
from truemoment.searching.index import Index
from truemoment.searching.layout import is_index
from truemoment.searching.opening import open_features


@dataclass(frozen=True, eq=False)
class TransferredFilm:
    """A film, the lines of its clips, and where they were found."""

    film: str
    duration_s: float
    lines: tuple[ClipLine, ...]
    placed: PlacedClips


@dataclass(frozen=True, eq=False)
class Transfer:
    """The result of the transfer of a file of annotations.

    Parameters
    ----------
    without_film, without_clip
        Films that have no vectors, and clips of the other films that have none; their sentences are left out.
    """

    films: tuple[TransferredFilm, ...]
    without_film: tuple[str, ...]
    without_clip: tuple[str, ...]


def transfer_clips(
    films: Path,
    clips: Path,
    annotations: Path,
    *,
    fps: float | None = None,
    track: Callable[[list[str]], Iterable[str]] = list,
) -> Transfer:
    """Place all clips of a file of annotations in their films.

    Parameters
    ----------
    films, clips
        An index, or features, of the films and of the clips, by one model at one rate.
    fps
        Rows per second of features that state none.
    track
        Goes through the films, e.g. under a progress bar.

    Raises
    ------
    UsageError, MissingFileError, InputError
        If a file is missing or malformed, vectors or rates differ, or no clip has both vectors.
    """
    lines = read_clip_lines(annotations)
    of_films, of_clips = _opened(films, fps), _opened(clips, fps)
    rate = _common_rate(of_films, of_clips)
    named = list(dict.fromkeys(line.film for line in lines))
    only = next(iter(of_films)) if len(named) == len(of_films) == 1 else None  # whatever its name is
    name_of = {film: name for film in named if (name := film if film in of_films else only) is not None}
    without_clip = tuple(line.clip for line in lines if line.film in name_of and line.clip not in of_clips)
    placed = []
    for film in track([film for film in named if film in name_of]):
        of_film = tuple(line for line in lines if line.film == film and line.clip in of_clips)
        if not of_film:
            continue
        rows = of_films[name_of[film]]
        named_s = np.array([line.named_s[0] for line in of_film])
        places = place_clips(rows, [of_clips[line.clip] for line in of_film], named_s, rate)
        placed.append(TransferredFilm(film, len(rows) / rate, of_film, places))
    if not placed:
        raise InputError(
            f"none of its {len(lines):,} clips has vectors of clip and film; clips are called {lines[0].clip!r} and "
            f"films {lines[0].film!r}, and the films that are there {few(sorted(of_films)[:3])}",
            path=annotations,
        )
    return Transfer(tuple(placed), tuple(film for film in named if film not in name_of), without_clip)


def _opened(path: Path, fps: float | None) -> FeatureStore:
    return Index(path) if is_index(path) else open_features(path, fps=fps)


def _common_rate(films: FeatureStore, clips: FeatureStore) -> float:
    if films.n_dimensions != clips.n_dimensions:
        raise UsageError(
            f"found vectors of {clips.n_dimensions} dimensions of clips and {films.n_dimensions} of films, expected "
            "one model"
        )
    if films.fps is None or films.fps != clips.fps:
        raise UsageError(
            f"found {clips.fps or 'unknown'} rows per second of clips and {films.fps or 'unknown'} of films, expected "
            "one rate: index both with --fps 5, or give --fps for features"
        )
    return films.fps


def mad_entries(transfer: Transfer) -> dict[str, dict[str, Any]]:
    """Return the sentences in MAD's form, by query id; times lie in the film."""
    entries = {}
    for film in transfer.films:
        for k, (line, delay_s) in enumerate(zip(film.lines, film.placed.delay_s.tolist(), strict=True)):
            entries[f"{film.film}#{k}"] = {
                "movie": film.film,
                "sentence": line.sentence,
                "timestamps": _moved(line.aligned_s, delay_s, film.duration_s),
                "ext_timestamps": _moved(line.extracted_s, delay_s, film.duration_s),
                "movie_duration": film.duration_s,
            }
    return entries


def _moved(times_s: Sequence[float], delay_s: float, duration_s: float) -> list[float]:
    return [round(min(max(time_s + delay_s, 0.0), duration_s), 3) for time_s in times_s]


def write_transfer(path: Path, transfer: Transfer) -> None:
    """Write the sentences in MAD's form, as ``MAD_val.json`` of the authors."""
    write_json(path, mad_entries(transfer), indent=1)
