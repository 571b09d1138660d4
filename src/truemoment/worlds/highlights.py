"""A world of QVHighlights' form: videos of 150 s in clips of 2 s, and queries with one to five rated moments.

Sizes and the shares of queries with one to five moments are those of QVHighlights' training split; a query has a video
of its own. Events and sentences are those of :func:`~truemoment.worlds.make_world`, but each event, asked for or not,
happens one to five times. Its moments do not overlap and have no bias of place: their lengths are drawn first, and the
rest of the video is divided evenly at random into the gaps around them. The rating of a clip is the share of it that
lies in the moments of its query, in quarters; three annotators agree.

`perception` changes the features only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import MAX_RATING, Annotations, Saliency, as_strings
from truemoment.worlds.features import Features, coverage, frame_features, prototypes
from truemoment.worlds.grammar import ACTIONS, N_CHOICES, OBJECTS, describe
from truemoment.worlds.timelines import MOST_EVENTS, Events, compose

QUERIES: Mapping[str, int] = MappingProxyType({"train": 7218, "val": 1550, "test": 1542})
"""Queries of each split of QVHighlights."""

N_WITH_MOMENTS = (4855, 1230, 466, 266, 401)
"""Training queries of QVHighlights with one, two, three, four, and five or more moments."""

DURATION_S, CLIP_S, N_ANNOTATORS = 150.0, 2.0, 3
SHORTEST_S, LONGEST_S = 4.0, 60.0
"""Lengths of moments: their logarithms are even between these."""

MOST_SHARE = 2 / 3
"""Share of a video that the moments of an event cover at most; longer ones are shortened alike."""

STREAMS = ("time lines", "counts", "lengths", "gaps", "sentences", "prototypes", "frames")
"""Each has random numbers of its own, in this order."""


@dataclass(frozen=True, eq=False)
class HighlightsWorld:
    """The splits ``train``, ``val`` and ``test`` with ratings of clips, and the features of all videos."""

    splits: Mapping[str, Annotations]
    features: Features


def make_highlights(
    queries: Mapping[str, int] = QUERIES, *, perception: float = 1.0, n_dimensions: int = 64, seed: int = 0
) -> HighlightsWorld:
    """Make a world of QVHighlights' form.

    Parameters
    ----------
    queries
        Number of queries, and of videos, of each split.
    perception
        Clarity of the features, 0 (noise) to 1 (clean).
    n_dimensions
        Numbers of a row.
    seed
        The same seed gives the same world.

    Examples
    --------
    >>> world = make_highlights({"train": 6, "val": 2, "test": 2})
    >>> train = world.splits["train"]
    >>> train.n_queries, world.features[train.video_id[0]].shape
    (6, (75, 64))
    """
    if not 0 <= perception <= 1:
        raise UsageError(f"perception: got {perception}, expected a number from 0 to 1")
    n_videos = sum(queries.values())
    streams = np.random.SeedSequence(seed).spawn(len(STREAMS))
    rng = {name: np.random.default_rng(stream) for name, stream in zip(STREAMS, streams, strict=True)}
    video, action, thing, _ = compose(rng["time lines"].random((n_videos, 1 + MOST_EVENTS, 4)))
    asked = np.zeros(len(video), dtype=bool)
    asked[np.searchsorted(video, np.arange(n_videos))] = True  # the first event of a video, whose pair occurs once
    start_s, end_s, n_moments = _moments(len(video), rng)
    happens = np.repeat(np.arange(len(video)), n_moments)
    events = Events(video[happens], action[happens], thing[happens], asked[happens], start_s, end_s)
    vectors = prototypes(len(ACTIONS) + len(OBJECTS), n_dimensions, rng["prototypes"])
    frames = frame_features(
        events,
        np.full(n_videos, DURATION_S),
        vectors[: len(ACTIONS)],
        vectors[len(ACTIONS) :],
        fps=1 / CLIP_S,
        perception=perception,
        rng=rng["frames"],
    )
    video_ids = [f"highlight{number:05d}" for number in range(n_videos)]
    choices = rng["sentences"].random((n_videos, N_CHOICES))
    pairs = zip(action[asked].tolist(), thing[asked].tolist(), choices, strict=True)
    sentences = [describe(number, OBJECTS[of_object], drawn) for number, of_object, drawn in pairs]
    split_of_video = np.repeat(np.arange(len(queries)), list(queries.values()))
    return HighlightsWorld(
        MappingProxyType(
            {
                name: _annotations(events, video_ids, sentences, np.asarray(split_of_video == at), name)
                for at, name in enumerate(queries)
            }
        ),
        Features(dict(zip(video_ids, frames, strict=True)), 1 / CLIP_S),
    )


def _moments(n_events: int, rng: Mapping[str, np.random.Generator]) -> tuple[Floats, Floats, Ints]:
    """Return starts and ends of the moments of each event, one event after the other, and how many each has."""
    most = len(N_WITH_MOMENTS)
    shares = np.cumsum(N_WITH_MOMENTS) / sum(N_WITH_MOMENTS)
    count = 1 + np.searchsorted(shares, rng["counts"].random(n_events), side="right")
    is_used = np.arange(most) < count[:, None]
    length_s = SHORTEST_S * (LONGEST_S / SHORTEST_S) ** rng["lengths"].random((n_events, most)) * is_used
    length_s *= np.minimum(1, MOST_SHARE * DURATION_S / length_s.sum(axis=1, keepdims=True))
    free_s = DURATION_S - length_s.sum(axis=1, keepdims=True)
    before = np.sort(np.where(is_used, rng["gaps"].random((n_events, most)), 1), axis=1)  # share of the free seconds
    end_s = before * free_s + np.cumsum(length_s, axis=1)
    return np.round((end_s - length_s)[is_used], 2), np.round(end_s[is_used], 2), count


def _annotations(events: Events, video_ids: list[str], sentences: list[str], in_split: Bools, name: str) -> Annotations:
    """Return the queries of the videos of a split, with the ratings of their clips."""
    rows = np.flatnonzero(events.queried & in_split[events.video])
    video, start_s, end_s = events.video[rows], events.start_s[rows], events.end_s[rows]
    numbers = np.flatnonzero(in_split)
    first = np.searchsorted(video, numbers)
    shares = coverage(start_s, end_s, int(DURATION_S / CLIP_S), 1 / CLIP_S)
    shares = np.add.reduceat(shares, first, axis=0) if len(numbers) else shares
    of_query, clip = np.nonzero(shares > 0)
    rating = np.rint(MAX_RATING * np.minimum(shares[of_query, clip], 1)).astype(np.int64)
    offsets = np.searchsorted(of_query, np.arange(len(numbers) + 1))
    of_row = [video_ids[number] for number in video.tolist()]
    return Annotations(
        query_id=as_strings([f"{video_id}#0" for video_id in of_row], "query_id"),
        video_id=as_strings(of_row, "video_id"),
        duration_s=np.full(len(rows), DURATION_S),
        sentence=as_strings([sentences[number] for number in video.tolist()], "sentence"),
        start_s=start_s,
        end_s=end_s,
        annotator=as_strings([""] * len(rows), "annotator"),
        dataset="highlights-world",
        split=name,
        saliency=Saliency(offsets, clip, np.repeat(rating[:, None], N_ANNOTATORS, axis=1), CLIP_S),
    )
