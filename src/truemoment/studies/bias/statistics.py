"""Statistics of videos, moments, sentences and words, as in MAD's Tables 1 and 7, and more.

Conventions, on which papers differ:

- A *video* counts once, even if several splits annotate it (val_1 and val_2 of ActivityNet Captions), with its first
  known duration.
- A *moment* is a row of the annotations; several moments of a query, or of several annotators, count each. Its length
  is as annotated; `within_mean_s` is the mean length of the part within the video, which MAD prints for Charades-STA.
- A *word* is a token of the engine with a letter or digit; *tokens* include punctuation. MAD prints tokens per query
  and calls them words. See :mod:`truemoment.studies.bias.vocabulary` for distinct words.

References
----------
Soldan et al. (2022), "MAD: A Scalable Dataset for Language Grounding in Videos from Movie Audio Descriptions", Fig. 1
(coverage), Tables 1 and 7, A.1.3 (sentence lengths).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations
from truemoment.data.language.base import Engine
from truemoment.data.language.remembered import Remembered
from truemoment.studies.bias.vocabulary import Vocabulary, vocabulary


@dataclass(frozen=True)
class VideoStatistics:
    """The videos of some splits; undefined values are NaN."""

    n: int
    n_unknown: int  # of unknown duration, left out of durations
    n_differing: int  # with different durations in different rows; the first one counts
    total_h: float
    mean_min: float
    median_min: float


@dataclass(frozen=True)
class MomentStatistics:
    """The moments of some splits; undefined values are NaN.

    Parameters
    ----------
    n
        Number of moments with a length above 0.
    n_without_length
        Number of moments that do not end after they start, which are left out of lengths and coverage.
    n_outside
        Number of moments that are partly or completely outside a video of known duration.
    mean_s, median_s, max_s
        Lengths as annotated.
    within_mean_s
        Mean length of the part within the video, of moments with such a part.
    coverage_mean, coverage_median
        Share of the video that this part covers, 0 to 1.
    """

    n: int
    n_without_length: int
    n_outside: int
    n_queries_without: int
    mean_s: float
    median_s: float
    max_s: float
    within_mean_s: float
    coverage_mean: float
    coverage_median: float


@dataclass(frozen=True, eq=False)
class SentenceStatistics:
    """The queries of some splits and their words; undefined values are NaN.

    Parameters
    ----------
    n_repeated
        Number of queries in several of the splits (same id, video and sentence), which count once.
    n_words, words_mean, words_std, words_median
        Number of words, and its distribution over queries (population standard deviation).
    words_histogram : (L,)
        Number of queries with 0, 1, 2, ... words.
    n_tokens, tokens_mean
        Number of words and punctuation marks, and mean per query.
    vocabulary
        Words by form; see ``vocabulary.spelt("lemma")`` and ``spelt("written")``.
    """

    n: int
    n_repeated: int
    per_video: float
    n_words: int
    words_mean: float
    words_std: float
    words_median: float
    words_histogram: Ints
    n_tokens: int
    tokens_mean: float
    vocabulary: Vocabulary


@dataclass(frozen=True, eq=False)
class Statistics:
    """The statistics of a split, or of several splits together."""

    videos: VideoStatistics
    moments: MomentStatistics
    sentences: SentenceStatistics


@dataclass(frozen=True, eq=False)
class DatasetStatistics:
    """The statistics of a dataset, of each split, and of groups of splits."""

    whole: Statistics
    of_split: Mapping[str, Statistics]
    of_group: Mapping[str, Statistics]
    engine: str


def dataset_statistics(
    annotations_by_split: Mapping[str, Annotations],
    engine: Engine,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> DatasetStatistics:
    """Compute the statistics of a dataset; queries that a split repeats of another one count once in the whole.

    `groups` are splits that are also counted together, by a name: ``{"val+test": ("val", "test")}``.

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> rows = [("v#0", "v", 30.0, "A door opens.", 0.0, 6.0), ("v#1", "v", 30.0, "A man in a coat waits.", 6.0, 24.0)]
    >>> whole = dataset_statistics({"train": Annotations.from_rows(rows)}, get_engine()).whole
    >>> whole.videos.n, whole.videos.mean_min, whole.moments.mean_s, whole.moments.coverage_mean
    (1, 0.5, 12.0, 0.4)
    >>> whole.sentences.words_mean, whole.sentences.tokens_mean, whole.sentences.vocabulary.sizes.total
    (4.5, 5.5, 7)
    """
    engine = engine if isinstance(engine, Remembered) else Remembered(engine)
    splits = list(annotations_by_split.values())
    of_split = {name: _statistics([split], engine) for name, split in annotations_by_split.items()}
    of_group = {
        group: _statistics([annotations_by_split[name] for name in names], engine)
        for group, names in (groups or {}).items()
    }
    whole = next(iter(of_split.values())) if len(splits) == 1 else _statistics(splits, engine)
    return DatasetStatistics(whole, of_split, of_group, engine.name)


def _statistics(splits: Sequence[Annotations], engine: Engine) -> Statistics:
    parts, n_repeated = each_query_once(splits)
    videos = _of_videos(parts)
    texts = [sentence for split in parts for sentence in split.queries.sentence]
    return Statistics(videos, _of_moments(parts), _of_sentences(texts, engine, videos.n, n_repeated))


def each_query_once(splits: Sequence[Annotations]) -> tuple[list[Annotations], int]:
    """Leave out queries of an earlier split (same id, video and sentence), and return their number.

    Examples
    --------
    >>> val = Annotations.from_rows([("v#0", "v", 30.0, "A door opens.", 0.0, 6.0)])
    >>> parts, n_repeated = each_query_once([val, val])
    >>> [split.n_queries for split in parts], n_repeated
    ([1, 0], 1)
    """
    all_keys: set[tuple[str, str, str]] = set()
    parts, n_repeated = [], 0
    for split in splits:
        queries = split.queries
        keys = list(zip(queries.query_id, queries.video_id, queries.sentence, strict=True))
        is_new: Bools = np.array([key not in all_keys for key in keys], dtype=bool)
        n_repeated += int((~is_new).sum())
        all_keys.update(keys)
        parts.append(split if is_new.all() else split.select_queries(is_new))
    return parts, n_repeated


def _of_videos(splits: Sequence[Annotations]) -> VideoStatistics:
    durations: dict[str, float] = {}
    differing: set[str] = set()
    for split in splits:
        for video, duration_s in zip(split.queries.video_id, split.queries.duration_s.tolist(), strict=True):
            value = durations.setdefault(video, float("nan"))
            if duration_s > 0 and not value > 0:
                durations[video] = duration_s
            elif duration_s > 0 and duration_s != value:
                differing.add(video)
    durations_s = np.array([duration_s for duration_s in durations.values() if duration_s > 0], dtype=np.float64)
    return VideoStatistics(
        n=len(durations),
        n_unknown=len(durations) - len(durations_s),
        n_differing=len(differing),
        total_h=float(durations_s.sum()) / 3600 if len(durations_s) else float("nan"),
        mean_min=_mean(durations_s) / 60,
        median_min=_median(durations_s) / 60,
    )


def _of_moments(splits: Sequence[Annotations]) -> MomentStatistics:
    start_s, end_s, duration_s = (
        np.concatenate([getattr(split, name) for split in splits]) for name in ("start_s", "end_s", "duration_s")
    )
    has_length = end_s > start_s
    length_s = (end_s - start_s)[has_length]
    is_known = has_length & (duration_s > 0)
    within_s = np.minimum(end_s, duration_s)[is_known] - np.maximum(start_s, 0)[is_known]
    share = (within_s / duration_s[is_known])[within_s > 0]
    return MomentStatistics(
        n=len(length_s),
        n_without_length=int((~np.isnan(start_s) & ~has_length).sum()),
        n_outside=int(((start_s < 0) | (end_s > duration_s))[is_known].sum()),
        n_queries_without=sum(int(split.without_moment.sum()) for split in splits),
        mean_s=_mean(length_s),
        median_s=_median(length_s),
        max_s=float(length_s.max()) if len(length_s) else float("nan"),
        within_mean_s=_mean(within_s[within_s > 0]),
        coverage_mean=_mean(share),
        coverage_median=_median(share),
    )


def _of_sentences(sentences: Sequence[str], engine: Engine, n_videos: int, n_repeated: int) -> SentenceStatistics:
    readings = engine.analyse(sentences)
    n_tokens = sum(map(len, readings))
    words = vocabulary(readings)
    words_of_query = np.array([sum(token in words.uses for token in tokens) for tokens in readings], dtype=np.int64)
    return SentenceStatistics(
        n=len(sentences),
        n_repeated=n_repeated,
        per_video=len(sentences) / n_videos if n_videos else float("nan"),
        n_words=words.n_occurrences,
        words_mean=_mean(words_of_query),
        words_std=float(words_of_query.std()) if sentences else float("nan"),
        words_median=_median(words_of_query),
        words_histogram=np.bincount(words_of_query),
        n_tokens=n_tokens,
        tokens_mean=n_tokens / len(sentences) if sentences else float("nan"),
        vocabulary=words,
    )


def _mean(values: Floats | Ints) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _median(values: Floats | Ints) -> float:
    return float(np.median(values)) if len(values) else float("nan")
