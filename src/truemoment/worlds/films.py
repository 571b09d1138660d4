"""Simulated films in the format of MAD's files: hours of frame embeddings, and sentences about a few seconds of them.

MAD's films may not be redistributed, and its features need an agreement. These films have the same format and size, so
that everything that runs on MAD can be run, timed and tested. :data:`CAUTION` states what a figure on them means.

A film is a sequence of *shots* in *scenes*; each scene has a *place*, and places recur. *Events* of about 4 s, each
with a sentence, lie anywhere. Everything has a random vector: places and shots belong to one film, actions and objects
(:mod:`truemoment.worlds.grammar`) are the same in all films. The embedding of a frame is ::

    10 * (common + place + shot + events active in it + noise),

with `common` the mean direction of all embeddings of an encoder; as CLIP's, embeddings are not normalised. The
embedding of a sentence is ::

    10 * (nearness * content + (1 - nearness) * noise),

where `content` is the direction of place + shot + event, averaged over the frames of the moment, and the noise has
length 1. With `style`, a part of the noise lies in a few directions that are the same for all sentences, as how
something is worded does; a model can learn to ignore them. Without it, the cosine is the best ranking there is. The
default `nearness` lets the zero-shot baseline score about as on MAD (R@1 and R@100 at an IoU of 0.1: 6.6 % and 47.7 %
there, 6.3 % and 48.1 % in a film of 107 minutes with 638 sentences here).

Sentences can be as an automatic collection finds them (:mod:`truemoment.worlds.film_noise`); the vector of a sentence
that lost words is nearer to noise.

Durations, numbers of sentences and lengths of moments have the means of MAD (Soldan et al. 2022, Tables 1 and 7,
section A.1.3); films end 0 to 2 frames before their annotated duration, as feature files do.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import msgspec
import numpy as np

from truemoment.base.boundary.documents import document_head
from truemoment.base.boundary.files import atomic_folder, write_bytes, write_json
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Queries
from truemoment.media.features.base import Frames, edges_of
from truemoment.worlds.features import prototypes
from truemoment.worlds.film_noise import CollectionNoise, Described, collect
from truemoment.worlds.grammar import ACTIONS, FREQUENCY, N_CHOICES, OBJECTS, describe

CAUTION = (
    "Simulated films: frames, sentences and moments are drawn at random in the form of MAD's files. A figure on them "
    "tests how a method runs and what it costs; it says nothing about MAD, about films or about CLIP."
)
"""What every figure on these films must say."""

FPS = 5.0
"""Frames a second, as in MAD."""

FRAMES = "CLIP_B32_frames_features_5fps.h5"
SENTENCES = "CLIP_B32_language_features_MAD_{split}.h5"
ANNOTATIONS = "MAD_{split}.json"
MANIFEST = "simulated.json"
"""Names of the files, those of MAD but for the last, which says that the others are simulated."""

SPLITS = ("train", "val", "test")

COMMON, PLACE, SHOT, EVENT, NOISE = 1.0, 0.6, 0.6, 0.5, 0.6
"""Lengths of what a frame is the sum of; an event has an action and an object, each of this length."""

SCALE = 10.0
"""Length of a sentence's embedding at a nearness of 0 or 1, and of the parts of a frame's."""

SPREAD = 0.6
"""Standard deviation of the logarithm of the lengths of shots, scenes and moments."""

DURATION_SPREAD, DURATION_NORM = 0.18, (0.5, 1.6)
"""Standard deviation of the duration of films over their mean, and how short and long they get."""

MOMENT_S = (0.6, 30.0)
"""Shortest and longest moment (Soldan et al. 2022, Fig. 5: up to 30 s in val and test)."""

PLACES = 0.4
"""Places a scene: each is seen again and again."""

STYLES = 16
"""Directions of style; half of the dimensions where that is less."""

BLOCK_FRAMES = 4096


@dataclass(frozen=True)
class FilmSettings:
    """Settings of simulated films.

    Parameters
    ----------
    minutes
        Mean duration of a film (default: MAD's val and test); durations range from half to 1.6 times that.
    n_sentences
        Mean number of sentences per film, 1 or more.
    nearness
        Similarity of a sentence to its moment, from 0 (none) to 1.
    style
        Share of the noise of sentences that lies in :data:`STYLES` directions, the same in all films; from 0 to 1.
    moment_s, shot_s, scene_s
        Mean length of a moment, of a shot and of a scene.
    n_dimensions
        Dimensions of an embedding, 2 or more.
    """

    minutes: float = 116.85
    n_sentences: int = 640
    nearness: float = 0.09
    style: float = 0.0
    moment_s: float = 4.1
    shot_s: float = 5.0
    scene_s: float = 90.0
    n_dimensions: int = 512

    def __post_init__(self) -> None:
        if not 0 <= self.nearness <= 1:
            raise UsageError(f"nearness: got {self.nearness}, expected a number from 0 to 1")
        if not 0 <= self.style <= 1:
            raise UsageError(f"style: got {self.style}, expected a number from 0 to 1")
        for name, least, most in (
            ("minutes", 0.1, 600.0),
            ("n_sentences", 1, 100_000),
            ("moment_s", 0.1, 600.0),
            ("shot_s", 0.1, 3600.0),
            ("scene_s", 0.1, 36_000.0),
            ("n_dimensions", 2, 16_384),
        ):
            if not least <= getattr(self, name) <= most:
                raise UsageError(f"{name}: got {getattr(self, name)}, expected {least:g} to {most:g}")


@dataclass(frozen=True, eq=False)
class SimulatedFilm:
    """Shots and events of one film.

    Parameters
    ----------
    n_frames
        Number of frames, up to 2 fewer than the annotated `duration_s` has.
    cut_s : (N + 1,)
        Edges of the shots.
    place : (N,)
        Number of the place of each shot.
    action, thing : (M,)
        Events, as positions in the lists of :mod:`truemoment.worlds.grammar`, in order of start.
    start_s, end_s : (M,)
        Their times.
    sentence
        The sentence of each.
    first_query
        Number of the first event's query; the others follow.
    seed
        Seed of its vectors.
    noise
        Faults of the collection of its sentences; None for none.
    """

    film_id: str
    split: str
    duration_s: float
    n_frames: int
    cut_s: Floats
    place: Ints
    action: Ints
    thing: Ints
    start_s: Floats
    end_s: Floats
    sentence: tuple[str, ...]
    first_query: int
    seed: int
    noise: CollectionNoise | None = None

    @functools.cached_property
    def described(self) -> Described:
        """The sentences as they were collected; without noise, one for each event."""
        true = Described.without_noise(self.start_s, self.end_s, self.sentence)
        return true if self.noise is None else collect(true, self.noise, self.duration_s, self.seed)

    @functools.cached_property
    def shot_of_frame(self) -> Ints:
        """Number of the shot at the middle of each frame, (F,)."""
        middle_s = (np.arange(self.n_frames) + 0.5) / FPS
        shot = np.searchsorted(self.cut_s, middle_s, side="right") - 1
        return np.asarray(np.minimum(shot, len(self.place) - 1), dtype=np.int64)

    @functools.cached_property
    def frames_of_events(self) -> tuple[Ints, Ints]:
        """First frame of each event and the frame after its last, (M,): frames whose middle lies within, or one."""
        first = np.clip(np.ceil(self.start_s * FPS - 0.5), 0, self.n_frames - 1).astype(np.int64)
        end = np.clip(np.ceil(self.end_s * FPS - 0.5), first + 1, self.n_frames).astype(np.int64)
        return first, end


class SimulatedFilms:
    """Films as a :class:`.FeatureStore` of frames and a `SentenceStore`, computed on demand.

    Parameters
    ----------
    shared : (1 + actions + objects, D)
        The common vector, then prototypes of actions and of objects.
    """

    fps = FPS
    caution = CAUTION

    def __init__(self, settings: FilmSettings, films: Iterable[SimulatedFilm], shared: Floats) -> None:
        self.settings = settings
        self.films: Mapping[str, SimulatedFilm] = MappingProxyType({film.film_id: film for film in films})
        self.n_dimensions = settings.n_dimensions
        self.name = f"simulated films (nearness {settings.nearness:g})"
        self._common, self._of_action, self._of_object = np.split(
            shared.astype(np.float32), [1, 1 + len(ACTIONS)], axis=0
        )

    def __contains__(self, film_id: object) -> bool:
        return film_id in self.films

    def __iter__(self) -> Iterator[str]:
        return iter(self.films)

    def __len__(self) -> int:
        return len(self.films)

    def __getitem__(self, film_id: str) -> Frames:
        """Return the embeddings of the frames of a film, (F, D)."""
        film = self._film(film_id)
        shots = self._common + self._setting(film)
        rng = np.random.default_rng([film.seed, 1])
        frames = np.empty((film.n_frames, self.n_dimensions), dtype=np.float32)
        noise_length = np.float32(NOISE / np.sqrt(self.n_dimensions))
        for low in range(0, film.n_frames, BLOCK_FRAMES):
            block = frames[low : low + BLOCK_FRAMES]
            rng.standard_normal(dtype=np.float32, out=block)
            block *= noise_length
            block += shots[film.shot_of_frame[low : low + BLOCK_FRAMES]]
        for first, end, vector in zip(*film.frames_of_events, self._events(film), strict=True):
            frames[first:end] += vector
        frames *= np.float32(SCALE)
        frames.flags.writeable = False
        return frames

    def edges_s(self, film_id: str, duration_s: float) -> Floats:
        """Return the edges of the frames in seconds, (F + 1,); `duration_s` is not used."""
        return edges_of(self._film(film_id).n_frames, FPS, duration_s)

    def annotations(self, split: str) -> Annotations:
        """Return the sentences of a split with their moments."""
        rows = [
            (
                str(film.first_query + k),
                film.film_id,
                film.duration_s,
                described.sentence[k],
                described.start_s[k],
                described.end_s[k],
            )
            for film in self._of_split(split)
            for described in (film.described,)
            for k in range(len(described))
        ]
        return Annotations.from_rows(rows, dataset="mad", split=split)

    def collected(self, noise: CollectionNoise, film_ids: Iterable[str] | None = None) -> SimulatedFilms:
        """Return the same films, whose sentences were collected with noise; None for those of all films."""
        ids = set(self.films if film_ids is None else film_ids)
        films = (dataclasses.replace(film, noise=noise) if name in ids else film for name, film in self.films.items())
        shared = np.concatenate([self._common, self._of_action, self._of_object])
        return SimulatedFilms(self.settings, films, shared)

    def vectors(self, queries: Queries) -> Frames:
        """Return the embeddings of queries by their ids, (Q, D)."""
        vectors = np.empty((len(queries), self.n_dimensions), dtype=np.float32)
        rows_of: dict[str, list[tuple[int, int]]] = {}
        for row, query_id in enumerate(queries.query_id):
            film_id, number = self._film_of(query_id)
            rows_of.setdefault(film_id, []).append((row, number))
        for film_id, pairs in rows_of.items():
            rows, numbers = zip(*pairs, strict=True)
            vectors[list(rows)] = self.sentences_of(film_id)[list(numbers)]
        return vectors

    def sentences_of(self, film_id: str) -> Frames:
        """Return the embeddings of the sentences of a film, (M, D)."""
        film = self._film(film_id)
        setting = self._setting(film)
        events = self._events(film)
        for row, (first, end) in enumerate(zip(*film.frames_of_events, strict=True)):
            events[row] += setting[film.shot_of_frame[first:end]].mean(axis=0)
        events /= np.linalg.norm(events, axis=1, keepdims=True)
        noise = self._noise_of_sentences(film, len(events))
        described = film.described
        embedding, noise = events[described.first], noise[described.first]
        joined = described.last > described.first
        embedding[joined] += events[described.last[joined]]
        embedding[joined] /= np.linalg.norm(embedding[joined], axis=1, keepdims=True)
        nearness = (np.float32(self.settings.nearness) * described.share.astype(np.float32))[:, None]
        return np.asarray(np.float32(SCALE) * (nearness * embedding + (1 - nearness) * noise), dtype=np.float32)

    def _noise_of_sentences(self, film: SimulatedFilm, n_sentences: int) -> Frames:
        """Return noise of length 1, (M, D), of which a share lies in the directions of style."""
        rng = np.random.default_rng([film.seed, 2])
        noise = prototypes(n_sentences, self.n_dimensions, rng)
        if self.settings.style:
            n_styles = min(STYLES, self.n_dimensions // 2)
            styles = prototypes(n_styles, self.n_dimensions, np.random.default_rng([STYLES, self.n_dimensions]))
            drawn = prototypes(n_sentences, n_styles, rng) @ np.linalg.qr(styles.T)[0].T
            share = self.settings.style
            noise = np.sqrt(1 - share) * noise + np.sqrt(share) * drawn
        return np.asarray(noise, dtype=np.float32)

    def _film(self, film_id: str) -> SimulatedFilm:
        try:
            return self.films[film_id]
        except KeyError:
            raise InputError(f"found no film {film_id!r} among {len(self.films)} simulated ones") from None

    def _of_split(self, split: str) -> list[SimulatedFilm]:
        films = [film for film in self.films.values() if film.split == split]
        if not films:
            raise UsageError(f"got split {split!r}, expected one with films")
        return films

    def _film_of(self, query_id: str) -> tuple[str, int]:
        """Film that a query asks about, and its number there."""
        number = int(query_id) if query_id.isdecimal() else -1
        at = int(np.searchsorted(self._first_queries, number, side="right")) - 1
        film = self._in_order[at] if at >= 0 else None
        if film is None or number - film.first_query >= len(film.described):
            raise InputError(f"there is no query {query_id!r} about these films", field="query_id")
        return film.film_id, number - film.first_query

    @functools.cached_property
    def _first_queries(self) -> Ints:
        return np.array([film.first_query for film in self._in_order], dtype=np.int64)

    @functools.cached_property
    def _in_order(self) -> tuple[SimulatedFilm, ...]:
        return tuple(self.films.values())

    def _setting(self, film: SimulatedFilm) -> Frames:
        """Place + shot of each shot, (N, D)."""
        rng = np.random.default_rng([film.seed, 0])
        places = prototypes(int(film.place.max()) + 1, self.n_dimensions, rng)
        shots = prototypes(len(film.place), self.n_dimensions, rng)
        return np.asarray(PLACE * places[film.place] + SHOT * shots, dtype=np.float32)

    def _events(self, film: SimulatedFilm) -> Frames:
        """Action + object of each event, (M, D)."""
        return np.asarray(np.float32(EVENT) * (self._of_action[film.action] + self._of_object[film.thing]))


def make_films(n_films: Mapping[str, int], settings: FilmSettings, rng: np.random.Generator) -> SimulatedFilms:
    """Draw films, `n_films` in each split (train, val, test); their frames are computed on demand, the same each time.

    Examples
    --------
    >>> films = make_films({"test": 2}, FilmSettings(minutes=3, n_sentences=4), np.random.default_rng(0))
    >>> list(films), films["simulated-0001"].shape, films.annotations("test").n_videos
    (['simulated-0001', 'simulated-0002'], (628, 512), 2)
    """
    for split, n in n_films.items():
        if split not in SPLITS:
            raise UsageError(f"unknown split {split!r}, expected {', '.join(SPLITS)}")
        if n < 1:
            raise UsageError(f"got {n} films for {split}, expected 1 or more")
    if not n_films:
        raise UsageError("got no split, expected the number of films of one or more")
    shared = prototypes(1 + len(ACTIONS) + len(OBJECTS), settings.n_dimensions, rng)
    shared[0] *= COMMON
    films: list[SimulatedFilm] = []
    for split in (split for split, n in n_films.items() for _ in range(n)):
        n_queries = films[-1].first_query + len(films[-1].sentence) if films else 0
        films.append(_film(f"simulated-{len(films) + 1:04}", split, settings, n_queries, rng))
    return SimulatedFilms(settings, films, shared)


def _film(
    film_id: str, split: str, settings: FilmSettings, first_query: int, rng: np.random.Generator
) -> SimulatedFilm:
    factor = float(np.clip(1 + DURATION_SPREAD * rng.standard_normal(), *DURATION_NORM))
    duration_s = round(60 * settings.minutes * factor, 2)
    n_frames = max(int(np.ceil(duration_s * FPS)) - int(rng.integers(3)), 1)
    cut_s = _edges(settings.shot_s, duration_s, rng)
    scene_s = _edges(settings.scene_s, duration_s, rng)
    n_scenes = len(scene_s) - 1
    place_of_scene = rng.integers(max(round(PLACES * n_scenes), 1), size=n_scenes)
    place = place_of_scene[np.searchsorted(scene_s[:-1], cut_s[:-1], side="right") - 1]
    n_events = max(int(rng.poisson(settings.n_sentences)), 1)
    length_s = np.minimum(np.clip(_lengths(settings.moment_s, n_events, rng), *MOMENT_S), duration_s)
    start_s = np.sort(rng.random(n_events) * (duration_s - length_s))
    action = rng.choice(len(ACTIONS), size=n_events, p=FREQUENCY)
    choices = rng.random((n_events, 1 + N_CHOICES))
    objects = [ACTIONS[number].objects for number in action]
    names = [of_action[int(u * len(of_action))] for of_action, u in zip(objects, choices[:, 0].tolist(), strict=True)]
    start_s = np.round(start_s, 2)
    return SimulatedFilm(
        film_id,
        split,
        duration_s,
        n_frames,
        cut_s,
        place=np.asarray(place, dtype=np.int64),
        action=np.asarray(action, dtype=np.int64),
        thing=np.array([OBJECTS.index(name) for name in names], dtype=np.int64),
        start_s=start_s,
        end_s=np.minimum(np.round(start_s + length_s, 2), duration_s),
        sentence=tuple(describe(int(a), name, row) for a, name, row in zip(action, names, choices[:, 1:], strict=True)),
        first_query=first_query,
        seed=int(rng.integers(2**63)),
    )


def _lengths(mean_s: float, n: int, rng: np.random.Generator) -> Floats:
    """Draw lengths with this mean, a few of them long: logarithms are normal."""
    return np.asarray(mean_s * np.exp(SPREAD * rng.standard_normal(n) - SPREAD**2 / 2))


def _edges(mean_s: float, duration_s: float, rng: np.random.Generator) -> Floats:
    """Edges of pieces with this mean length that make up the film, from 0 to the duration."""
    cut_s = np.cumsum(_lengths(mean_s, int(2 * duration_s / mean_s) + 8, rng))
    return np.concatenate([[0.0], cut_s[cut_s < duration_s], [duration_s]])


# ------------------------------------------------------------------------------------------- files


def write_films(
    folder: Path | str,
    films: SimulatedFilms,
    *,
    dtype: Literal["float16", "float32"] = "float32",
    progress: Callable[[Iterable[str]], Iterable[str]] = lambda film_ids: film_ids,
) -> Path:
    """Write films as the files of MAD into the new or empty folder ``mad`` of a data folder, and return that folder.

    ``ext_timestamps`` is the moment, as MAD's baselines read it; ``timestamps`` is a tenth shorter at either end, so
    that reading the wrong ones shows. `progress` wraps the film ids, e.g. in a progress bar.

    Examples
    --------
    >>> import tempfile
    >>> films = make_films({"test": 1}, FilmSettings(minutes=1, n_sentences=4), np.random.default_rng(0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(list(write_films(folder, films).iterdir()))
    4
    """
    try:
        import h5py  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        raise MissingPackageError("h5py", "models", "writing HDF5") from None
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", path=folder) from None
    with atomic_folder(folder / "mad") as new_folder:
        _write_vectors(
            h5py, new_folder / FRAMES, ((film_id, films[film_id]) for film_id in progress(list(films))), dtype
        )
        for split in dict.fromkeys(film.split for film in films.films.values()):
            of_split = [film for film in films.films.values() if film.split == split]
            write_bytes(new_folder / ANNOTATIONS.format(split=split), msgspec.json.encode(_entries(of_split)))
            vectors = (
                (str(film.first_query + k), vector)
                for film in of_split
                for k, vector in enumerate(films.sentences_of(film.film_id))
            )
            _write_vectors(h5py, new_folder / SENTENCES.format(split=split), vectors, dtype)
        about = {
            **document_head("truemoment/simulated-films/1"),
            "caution": CAUTION,
            **dataclasses.asdict(films.settings),
        }
        write_json(new_folder / MANIFEST, about)
    return folder / "mad"


def _write_vectors(hdf5: Any, path: OwnPath, vectors: Iterable[tuple[str, Frames]], dtype: str) -> None:  # noqa: ANN401 - a library without types
    with hdf5.File(path.checked(), "w") as file:
        for name, vector in vectors:
            file[name] = vector.astype(dtype, copy=False)


def _entries(films: Iterable[SimulatedFilm]) -> dict[str, dict[str, object]]:
    entries: dict[str, dict[str, object]] = {}
    for film in films:
        for k, sentence in enumerate(film.described.sentence):
            start_s, end_s = float(film.described.start_s[k]), float(film.described.end_s[k])
            inner_s = (end_s - start_s) / 10
            entries[str(film.first_query + k)] = {
                "movie": film.film_id,
                "sentence": sentence,
                "timestamps": [round(start_s + inner_s, 3), round(end_s - inner_s, 3)],
                "ext_timestamps": [start_s, end_s],
                "movie_duration": film.duration_s,
            }
    return entries
