"""Films with known truth for a study of mixtures: a clean set, a noisy one, and the noisy films without their noise.

::

    DIR/films/annotations.jsonl    splits clean, noisy, noiseless, val and test (truemoment.data.datasets.own)
    DIR/films/features.npz         frames of all films (truemoment.media.features.npz)
    DIR/films/sentences.npz        vectors of all sentences (truemoment.media.features.sentences)
    DIR/films/films.json           the settings
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from truemoment.base.boundary.documents import document_head
from truemoment.base.boundary.files import atomic_folder, read_json, write_json
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations, as_strings
from truemoment.data.datasets import own
from truemoment.learning.training.recipe_sources import MixtureSource
from truemoment.media.features.base import Features, Frames
from truemoment.media.features.npz import write_features
from truemoment.media.features.sentences import write_sentences
from truemoment.worlds.film_noise import CollectionNoise
from truemoment.worlds.films import CAUTION, FPS, FilmSettings, SimulatedFilms, make_films

SCHEMA = "truemoment/simulated-mixtures/1"

ANNOTATIONS, FEATURES, SENTENCES, MANIFEST = "annotations.jsonl", "features.npz", "sentences.npz", "films.json"


SETTINGS = FilmSettings(minutes=4, n_sentences=22, n_dimensions=64, nearness=0.2, style=0.8)
"""Short films, so that a model sees all of one in a second."""

NOISE = CollectionNoise(jitter_s=1.0, shift_s=0.6, dialogue_share=0.25, joined_share=0.1, word_error=0.3)
"""Stronger than the default: a small study must show what a large one would."""


@dataclass(frozen=True)
class StudyFilms:
    """Films of a study.

    Parameters
    ----------
    n_clean
        Films of the clean set; the noisy set has 3.1 times as many, as MAD beside LSMDC-G.
    n_val, n_test
        Films that choose the epoch, and that are measured.
    settings
        Settings of each film.
    noise
        Faults of the noisy set.
    seed
        Seed of all draws.
    """

    n_clean: int = 30
    n_val: int = 3
    n_test: int = 24
    settings: FilmSettings = SETTINGS
    noise: CollectionNoise = NOISE
    seed: int = 0

    @property
    def n_noisy(self) -> int:
        """Films of the noisy set."""
        return round(3.1 * self.n_clean)


def study_sources(folder: Path) -> tuple[MixtureSource, ...]:
    """Return the three sources of the films in a folder; shares are of films, so that sizes are equal."""
    path = str(folder / ANNOTATIONS)
    return tuple(
        MixtureSource(annotations=path, split=split, by="films", name=split)
        for split in ("clean", "noisy", "noiseless")
    )


def write_study_films(folder: AnyPath, films: StudyFilms, on_status: Callable[[str], None] = lambda _: None) -> None:
    """Write the films of a study, if they are not there.

    Raises
    ------
    UsageError
        If the folder has other films.
    """
    about = {**document_head(SCHEMA), "caution": CAUTION, **dataclasses.asdict(films)}
    record = msgspec.json.decode(msgspec.json.encode(about))
    folder = OwnPath.of(folder)
    manifest = folder / MANIFEST
    if manifest.is_file():
        earlier = read_json(manifest, dict[str, object])
        if {**earlier, "truemoment": ""} != {**record, "truemoment": ""}:
            raise UsageError(f"{folder}: has films of other settings; give -o another folder")
        return
    on_status("simulated films")
    simulated = make_films(
        {"train": films.n_clean + films.n_noisy, "val": films.n_val, "test": films.n_test},
        films.settings,
        np.random.default_rng(films.seed),
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(folder) as new:
        splits = _splits(simulated, films)
        own.write(new / ANNOTATIONS, [split for split, _ in splits.values()])
        ids = [query_id for split, _ in splits.values() for query_id in split.queries.query_id.tolist()]
        write_sentences(new / SENTENCES, ids, np.concatenate([vectors for _, vectors in splits.values()]))
        write_features(new / FEATURES, Features({name: simulated[name] for name in simulated}, fps=FPS))
        write_json(new / MANIFEST, about)


def _splits(simulated: SimulatedFilms, films: StudyFilms) -> dict[str, tuple[Annotations, Frames]]:
    """Return the five splits with the vectors of their sentences."""
    train = [name for name, film in simulated.films.items() if film.split == "train"]
    noisy = simulated.collected(films.noise, train[films.n_clean :])
    in_clean = simulated.annotations("train")
    is_clean = np.isin(in_clean.queries.video_id, train[: films.n_clean])
    of_noisy = noisy.annotations("train")
    is_noisy = ~np.isin(of_noisy.queries.video_id, train[: films.n_clean])
    named = {
        "clean": in_clean.select_queries(is_clean),
        "noisy": of_noisy.select_queries(is_noisy),
        "noiseless": in_clean.select_queries(~is_clean),
        "val": simulated.annotations("val"),
        "test": simulated.annotations("test"),
    }
    stores = {"noisy": noisy}
    return {
        split: (_renamed(annotated, split), stores.get(split, simulated).vectors(annotated.queries))
        for split, annotated in named.items()
    }


def _renamed(annotated: Annotations, split: str) -> Annotations:
    """Return a split under its name; ids begin with it, since two sets have the same films."""
    ids = as_strings((f"{split}-{query_id}" for query_id in annotated.query_id), "query_id")
    return dataclasses.replace(annotated, query_id=ids, dataset="films", split=split)
