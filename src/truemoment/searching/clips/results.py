"""Results of ranking clips by text and texts by clip: figures, intervals over videos, chance, ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Strings, numbers_of
from truemoment.evaluation.uncertainty import draw_videos, interval95
from truemoment.searching.clips.chance import chance
from truemoment.searching.clips.clip4clip import of_each_entry
from truemoment.searching.clips.measures import RetrievalMeasure
from truemoment.searching.clips.ranking import RightPlaces, Similarities, places_both_ways


@dataclass(frozen=True)
class RetrievalFigure:
    """A figure of a measure.

    Parameters
    ----------
    value
        With ties decided by lot, in expectation.
    best, worst
        With the right item before, and behind, all items of equal similarity.
    clip4clip
        By the evaluator in circulation, where ties add entries.
    chance
        Expected of a ranking at random.
    ci95
        95 % interval over videos, (2,); NaN ends for one video.
    """

    measure: RetrievalMeasure
    value: float
    best: float
    worst: float
    clip4clip: float
    chance: float
    ci95: Floats


@dataclass(frozen=True, eq=False)
class RetrievalResult:
    """Figures, and the places that they come from.

    Parameters
    ----------
    to_clip, to_text
        RightPlaces of each text's clip, and of each clip's best text.
    n_added
        Entries that ``clip4clip`` adds, by direction.
    """

    figures: tuple[RetrievalFigure, ...]
    to_clip: RightPlaces
    to_text: RightPlaces
    n_added: tuple[int, int]


def evaluate_retrieval(
    similarities: Similarities,
    clip_of: Ints,
    video_of_clip: Strings,
    measures: Sequence[RetrievalMeasure],
    *,
    tie: float = 0.0,
    resamples: int = 1000,
    rng: np.random.Generator | None = None,
) -> RetrievalResult:
    """Rank both ways and measure.

    Parameters
    ----------
    clip_of : (T,)
        The right clip of each text.
    video_of_clip : (N,)
        Video of each clip: intervals resample videos, since clips of a video share its difficulties.
    measures
        See :mod:`truemoment.searching.clips.measures`.
    tie
        Largest difference of two similarities that counts as equal.
    resamples, rng
        Resamples of the videos, and the generator that draws them.
    """
    to_clip, to_text = places_both_ways(similarities, clip_of, tie)
    asked = np.unique(clip_of)
    video = numbers_of(video_of_clip)
    drawn = draw_videos(int(video.max()) + 1, np.random.default_rng(0) if rng is None else rng, resamples)
    n_texts_of = np.bincount(clip_of, minlength=similarities.n_clips)[asked]
    figures = []
    for measure in measures:
        places = to_clip if measure.direction == "t2c" else to_text
        of_video = video[clip_of] if measure.direction == "t2c" else video[asked]
        n_right = np.ones(len(clip_of), dtype=np.int64) if measure.direction == "t2c" else n_texts_of
        each = measure.of_each(places)
        figures.append(
            RetrievalFigure(
                measure,
                measure.figure(each),
                measure.figure(measure.of_each(places, "best")),
                measure.figure(measure.of_each(places, "worst")),
                measure.figure(of_each_entry(measure, places)[0]),
                chance(measure, places.n_items, n_right),
                _interval(measure, each, of_video, drawn),
            )
        )
    return RetrievalResult(tuple(figures), to_clip, to_text, (int(to_clip.equal.sum()), int(to_text.equal.sum())))


def _interval(measure: RetrievalMeasure, each: Floats, of_video: Ints, drawn: Floats) -> Floats:
    """Return the 95 % percentile interval over resamples of the videos, (2,)."""
    if drawn.shape[1] < 2:
        return np.full(2, np.nan)
    if measure.statistic == "MdR":
        order = np.argsort(each, kind="stable")
        values, video = each[order], of_video[order]
        medians = [measure.figure(values, times[video]) for times in drawn if times[video].any()]
        return interval95(np.array(medians))
    sums = np.bincount(of_video, each, minlength=drawn.shape[1])
    counts = np.bincount(of_video, minlength=drawn.shape[1])
    total = drawn @ counts
    return interval95((drawn @ sums)[total > 0] / total[total > 0])
