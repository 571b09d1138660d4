"""A synthetic dataset with known causes: :func:`make_world`.

:mod:`truemoment.worlds.locations` defines locations, :mod:`truemoment.worlds.timelines` time lines,
:mod:`truemoment.worlds.grammar` sentences and :mod:`truemoment.worlds.features` frame features. Each part has its own
stream of random numbers, so a dial changes only its own part: `perception` changes no annotation, and the two priors
change no durations, time lines, sentences or noise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_type_hints

import numpy as np

from truemoment.base.boundary.keyed import read_pairs, read_value
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations, as_strings
from truemoment.data.datasets.base import numbered
from truemoment.worlds.features import Features, frame_features, prototypes
from truemoment.worlds.grammar import ACTIONS, FREQUENCY, N_CHOICES, OBJECTS, describe
from truemoment.worlds.locations import Clump, cells, locate, moved, places
from truemoment.worlds.timelines import MOST_EVENTS, Events, compose

SPLITS: Mapping[str, float] = MappingProxyType({"train": 0.6, "val": 0.1, "test-iid": 0.15, "test-ood": 0.15})
"""The splits in order, and the share of the videos in each."""

STREAMS = ("durations", "time lines", "cells", "places", "bound", "sentences", "prototypes", "frames", "annotators")
"""Each has random numbers of its own, in this order."""

DURATION_S = (20.0, 40.0, 120.0)
"""Shortest, commonest and longest video: logarithms of durations follow the triangular law between these."""

NOISE_LIMIT = 0.45
"""Annotators' boundaries move by less than this fraction of the moment's length, so no moment is turned round."""


@dataclass(frozen=True)
class WorldSettings:
    """Settings of a world.

    Parameters
    ----------
    n_videos
        Videos of all splits, 1 or more; with fewer than four, some splits are empty.
    location_prior
        Unevenness of locations, 0 (even) to 1 (clumped).
    query_prior
        Dependence of location on the verb, 0 (none) to 1 (nearly complete).
    perception
        Clarity of the frame features, 0 (noise) to 1 (clean).
    n_annotators
        Annotators per query of the test splits, 1 or more.
    annotator_noise
        Standard deviation of an annotator's boundaries, as a fraction of the event's length, 0 to 1; a boundary moves
        by at most 45 % of the length.
    seed
        0 or more; the same settings give the same world.
    """

    n_videos: int = 600
    location_prior: float = 0.5
    query_prior: float = 0.5
    perception: float = 0.8
    n_annotators: int = 1
    annotator_noise: float = 0.1
    fps: float = 2.0
    n_dimensions: int = 32
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("location_prior", "query_prior", "perception", "annotator_noise"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name}: got {getattr(self, name)}, expected a number from 0 to 1")
        for name, least in (("n_videos", 1), ("n_annotators", 1), ("n_dimensions", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < least:
                raise UsageError(f"{name}: got {value!r}, expected a whole number, {least} or more")
        if not 0.1 <= self.fps <= 100:
            raise UsageError(f"fps: got {self.fps}, expected 0.1 to 100 frames a second")


def read_settings(text: str, *, within: str = "world") -> dict[str, Any]:
    """Read settings of a world from ``key=value,...``, by field; ``videos`` or ``n-videos`` is short for `n_videos`.

    Errors begin with `within`.

    Examples
    --------
    >>> read_settings("videos=40, query-prior=0.3")
    {'n_videos': 40, 'query_prior': 0.3}
    """
    hints = {name.removeprefix("n_"): hint for name, hint in get_type_hints(WorldSettings).items()}
    names = {name.removeprefix("n_"): name for name in get_type_hints(WorldSettings)}
    parts = [part.replace("-", "_", part.partition("=")[0].count("-")).strip() for part in text.split(",")]
    pairs = read_pairs((part.removeprefix("n_") for part in parts if part), hints, within=within)
    return {names[key]: read_value(f"{within} {key}", value, hints[key]) for key, value in pairs.items()}


@dataclass(frozen=True, eq=False)
class World:
    """A synthetic dataset.

    Parameters
    ----------
    splits
        Annotations of ``train``, ``val``, ``test-iid`` and ``test-ood``: one reference per query, the event itself. In
        ``test-ood`` the centres of both priors have moved.
    humans
        ``test-iid`` and ``test-ood`` as several annotators mark them: a row per annotator (``annotator-1`` ...).
    events
        Events of all videos. The queries are the requested events, in this order.
    """

    settings: WorldSettings
    splits: Mapping[str, Annotations]
    humans: Mapping[str, Annotations]
    features: Features
    events: Events
    video_ids: tuple[str, ...]


def make_world(
    n_videos: int = 600,
    *,
    location_prior: float = 0.5,
    query_prior: float = 0.5,
    perception: float = 0.8,
    n_annotators: int = 1,
    annotator_noise: float = 0.1,
    fps: float = 2.0,
    n_dimensions: int = 32,
    seed: int = 0,
) -> World:
    """Make a world; the parameters are those of :class:`WorldSettings`.

    Examples
    --------
    >>> world = make_world(n_videos=20, seed=1)
    >>> {name: split.n_videos for name, split in world.splits.items()}
    {'train': 12, 'val': 2, 'test-iid': 3, 'test-ood': 3}
    >>> world.splits["train"].sentence[0]
    'A man washes a glass.'
    """
    return world_of(
        WorldSettings(
            n_videos,
            location_prior=location_prior,
            query_prior=query_prior,
            perception=perception,
            n_annotators=n_annotators,
            annotator_noise=annotator_noise,
            fps=fps,
            n_dimensions=n_dimensions,
            seed=seed,
        )
    )


def world_of(settings: WorldSettings) -> World:
    """Make the world of some settings."""
    n_videos = settings.n_videos
    streams = np.random.SeedSequence(settings.seed).spawn(len(STREAMS))
    rng = {name: np.random.default_rng(stream) for name, stream in zip(STREAMS, streams, strict=True)}
    low, middle, high = np.log(DURATION_S)
    duration_s = np.round(np.exp(rng["durations"].triangular(low, middle, high, n_videos)), 2)
    split_of_video = np.repeat(np.arange(len(SPLITS)), videos_by_split(n_videos))
    events = _events(settings, duration_s, np.asarray(split_of_video == list(SPLITS).index("test-ood")), rng)
    vectors = prototypes(len(ACTIONS) + len(OBJECTS), settings.n_dimensions, rng["prototypes"])
    frames = frame_features(
        events,
        duration_s,
        vectors[: len(ACTIONS)],
        vectors[len(ACTIONS) :],
        fps=settings.fps,
        perception=settings.perception,
        rng=rng["frames"],
    )
    video_ids = tuple(f"world{number:05d}" for number in range(n_videos))
    annotations = _annotations(events, duration_s, video_ids, rng["sentences"])
    marked = _marked(annotations, settings, rng["annotators"])
    split_of_query = split_of_video[events.video[events.queried]]
    rows = {name: np.asarray(split_of_query == at) for at, name in enumerate(SPLITS)}
    return World(
        settings=settings,
        splits=MappingProxyType({name: _split(annotations, keep, name) for name, keep in rows.items()}),
        humans=MappingProxyType(
            {name: _split(marked, keep, name) for name, keep in rows.items() if name.startswith("test")}
        ),
        features=Features(dict(zip(video_ids, frames, strict=True)), settings.fps),
        events=events,
        video_ids=video_ids,
    )


def videos_by_split(n_videos: int) -> Ints:
    """Return the number of videos in each of :data:`SPLITS`; at least one if there are four.

    Examples
    --------
    >>> videos_by_split(600).tolist(), videos_by_split(4).tolist(), videos_by_split(1).tolist()
    ([360, 60, 90, 90], [1, 1, 1, 1], [1, 0, 0, 0])
    """
    up_to = np.round(np.cumsum(list(SPLITS.values())) * n_videos).astype(np.int64)
    counts = np.diff(up_to, prepend=0)
    if n_videos >= len(SPLITS):
        for at in np.flatnonzero(counts == 0):
            counts[np.argmax(counts)] -= 1
            counts[at] = 1
    return counts


def _events(
    settings: WorldSettings, duration_s: Floats, shifted: Bools, rng: Mapping[str, np.random.Generator]
) -> Events:
    numbers = rng["time lines"].random((len(duration_s), 1 + MOST_EVENTS, 4))
    video, action, thing, queried = compose(numbers)
    order = rng["cells"].permutation(len(ACTIONS))
    within = rng["places"].random((len(video), 2))
    bound = rng["bound"].random(len(video)) < settings.query_prior
    start_norm, end_norm = np.empty(len(video)), np.empty(len(video))
    halves: tuple[tuple[Bools, Ints, Clump], ...] = (
        (~shifted[video], order, "beginning"),
        (shifted[video], moved(order), "end"),
    )
    for rows, filled, clump in halves:
        cell = cells(FREQUENCY, filled)
        place = places(within[rows], cell[action[rows]], bound[rows])
        start_norm[rows], end_norm[rows] = locate(place, settings.location_prior, clump)
    duration = duration_s[video]
    return Events(video, action, thing, queried, np.round(start_norm * duration, 2), np.round(end_norm * duration, 2))


def _annotations(
    events: Events, duration_s: Floats, video_ids: tuple[str, ...], rng: np.random.Generator
) -> Annotations:
    """One query for each event requested."""
    rows = np.flatnonzero(events.queried)
    video = events.video[rows]
    names = [video_ids[number] for number in video.tolist()]
    choices = rng.random((len(rows), N_CHOICES))
    pairs = zip(events.action[rows].tolist(), events.thing[rows].tolist(), choices, strict=True)
    return Annotations(
        query_id=as_strings(numbered(names), "query_id"),
        video_id=as_strings(names, "video_id"),
        duration_s=duration_s[video],
        sentence=as_strings([describe(action, OBJECTS[thing], drawn) for action, thing, drawn in pairs], "sentence"),
        start_s=events.start_s[rows],
        end_s=events.end_s[rows],
        annotator=as_strings([""] * len(rows), "annotator"),
        dataset="world",
    )


def _split(annotations: Annotations, keep: Bools, split: str) -> Annotations:
    return dataclasses.replace(annotations.select_queries(keep), split=split)


def _marked(annotations: Annotations, settings: WorldSettings, rng: np.random.Generator) -> Annotations:
    """Mark the same queries as several annotators do, each boundary a little off."""
    n_annotators, n_queries = settings.n_annotators, annotations.n_queries
    length = annotations.end_s - annotations.start_s
    shift = rng.standard_normal((n_queries, n_annotators, 2)) * settings.annotator_noise
    shift = np.clip(shift, -NOISE_LIMIT, NOISE_LIMIT) * length[:, None, None]
    duration = annotations.duration_s[:, None]
    start = np.clip(annotations.start_s[:, None] + shift[:, :, 0], 0, duration)
    end = np.clip(annotations.end_s[:, None] + shift[:, :, 1], 0, duration)
    rows = np.repeat(np.arange(n_queries), n_annotators)
    names = [f"annotator-{number}" for number in range(1, n_annotators + 1)]
    return dataclasses.replace(
        annotations,
        **{name: getattr(annotations, name)[rows] for name in ("query_id", "video_id", "duration_s", "sentence")},
        start_s=np.round(start, 2).ravel(),
        end_s=np.round(end, 2).ravel(),
        annotator=as_strings(names * n_queries, "annotator"),
    )
