"""Rules that answer simulated perception with action intervals, and learn nothing from features.

Nearly all moments of Charades are one of the action intervals from which features are simulated
(:mod:`truemoment.worlds.perception`), with a median of 7 intervals per video. So a rule that picks one of them scores
high. The same is true of ActivityNet (:mod:`truemoment.worlds.concepts`): 95 % of the moments are an interval of a
concept (both ends within 0.5 s), with a median of 15 intervals per video. Compare a result on simulated features with
these Grounders:

==================  ========  =====================================================================================
random-interval     floor     a random interval; the sentence is not used
likeliest-interval  floor     the interval whose location is most frequent in training; the sentence is not used
named-interval      ceiling   Charades: the interval whose class name shares most verbs and nouns with the sentence
concept-interval    ceiling   ActivityNet: the interval on which the concepts of the sentence agree most
==================  ========  =====================================================================================

R@1 at IoU 0.5 / 0.7 on Charades-CD with the annotated intervals (perception 1), in percent; for random intervals the
expected value (``tests/worlds/test_interval_rules.py`` computes all of them):

==================  =============  =============
rule                test-iid       test-ood
==================  =============  =============
random-interval     29.1 / 22.4    30.8 / 22.8
likeliest-interval  39.7 / 32.9    26.7 / 21.0
named-interval      89.9 / 87.5    91.1 / 88.2
==================  =============  =============

On ActivityNet-CD, likewise (``tests/worlds/test_concepts.py``):

==================  =============  =============
rule                test-iid       test-ood
==================  =============  =============
random-interval     30.1 / 24.4    19.1 / 16.8
likeliest-interval  30.4 / 21.6    17.0 / 15.8
concept-interval    84.0 / 78.1    83.6 / 78.6
==================  =============  =============

The rules know the intervals exactly; a method reads them from scores. The ceiling is no upper bound: a method that
learns which words belong to which class can exceed it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from truemoment.base.cells import cell_of, n_cells
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats, Ints, temporal_iou
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.base import locations
from truemoment.data.language import Engine, get_engine
from truemoment.worlds.concepts import Concept, concepts_of
from truemoment.worlds.perception import WITHIN_S, AnnotatedActions

Intervals = Callable[[str], AnnotatedActions]
"""Returns the intervals of a video, such as :meth:`~truemoment.worlds.perception.Perception.intervals`."""

N_STEPS = 16
"""Steps of start and of end within which training moments are counted: the 16 clips of 2D-TAN on Charades."""


@dataclass(frozen=True, eq=False)
class RandomInterval:
    """Answer with the intervals of the video in random order; the sentence is not used."""

    intervals: Intervals
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    name: str = "random interval"

    def fit(self, train: Annotations, val: Annotations | None = None) -> RandomInterval:
        """Return itself."""
        del train, val
        return self

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Draw `top` intervals per query, each at most once; none if the video has none."""
        return _answers(
            queries, self.intervals, lambda _, intervals: self.rng.random(len(intervals)), top=top, name=self.name
        )


@dataclass(frozen=True, eq=False)
class LikeliestInterval:
    """Answer with the intervals whose locations are most frequent among the training moments; the sentence is not used.

    Locations are cells of 16 steps of start and end; `share` (136,) is the share of the training moments in each
    (:func:`~truemoment.base.cells.cell_of`), None before fitting.
    """

    intervals: Intervals
    share: Floats | None = None
    name: str = "likeliest interval"

    def fit(self, train: Annotations, val: Annotations | None = None) -> LikeliestInterval:
        """Count the training moments of each cell."""
        del val
        start_end_norm, _ = locations(train)
        count = np.bincount(cell_of(start_end_norm, N_STEPS), minlength=n_cells(N_STEPS))
        return replace(self, share=count / count.sum())

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Rank the intervals by the share of their cell."""
        share = self.share
        if share is None:
            raise UsageError(f"{self.name} has to be fitted first")
        duration_s = queries.duration_s
        if not np.all(duration_s > 0):
            query_id = queries.query_id[~(duration_s > 0)][0]
            raise InputError(f"{self.name} needs every video's duration, and that of query {query_id!r} is not known")

        def score(row: int, intervals: _Found) -> Floats:
            return np.asarray(share[cell_of(np.minimum(intervals.start_end_s / duration_s[row], 1), N_STEPS)])

        return _answers(queries, self.intervals, score, top=top, name=self.name)


@dataclass(frozen=True, eq=False)
class NamedInterval:
    """Answer with the intervals whose class names share most verbs and nouns (base forms) with the sentence: a ceiling.

    Parameters
    ----------
    intervals
        Intervals of each video.
    class_names
        Name of each class, e.g. "Closing a door".
    engine
        Finds verbs and nouns.
    """

    intervals: Intervals
    class_names: Sequence[str]
    engine: Engine = field(default_factory=get_engine)
    name: str = "named interval"

    def fit(self, train: Annotations, val: Annotations | None = None) -> NamedInterval:
        """Return itself."""
        del train, val
        return self

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Rank the intervals by the number of shared words."""
        of_class = self._words([name.replace("/", " ") for name in self.class_names])
        of_query = self._words(queries.sentence.tolist())

        def score(row: int, intervals: _Found) -> Floats:
            return np.array([len(of_query[row] & of_class[k]) for k in intervals.klass.tolist()], dtype=np.float64)

        return _answers(queries, self.intervals, score, top=top, name=self.name)

    def _words(self, texts: Sequence[str]) -> list[set[str]]:
        """Return the base forms of the verbs and nouns of each text."""
        return [
            {token.lemma for token in tokens if token.tag in ("VERB", "NOUN")} for tokens in self.engine.analyse(texts)
        ]


@dataclass(frozen=True, eq=False)
class ConceptInterval:
    r"""Answer with the intervals on which the concepts of the sentence agree most: a ceiling for ActivityNet.

    Each interval there has one concept. The score of an interval i of a concept of the sentence s is

    .. math:: \sum_{c \in s} \max_{j \in I_c} \mathrm{IoU}(i, j), \qquad I_c \text{ the intervals of concept } c.

    All other intervals score 0.

    Parameters
    ----------
    intervals
        Intervals of each video.
    concepts
        Concept of each class.
    engine
        Finds verbs and nouns.
    """

    intervals: Intervals
    concepts: Sequence[Concept]
    engine: Engine = field(default_factory=get_engine)
    name: str = "concept interval"

    def fit(self, train: Annotations, val: Annotations | None = None) -> ConceptInterval:
        """Return itself."""
        del train, val
        return self

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Rank the intervals by their agreement."""
        number = {concept: at for at, concept in enumerate(self.concepts)}
        of_query = [
            [number[concept] for concept in concepts if concept in number]
            for concepts in concepts_of(queries.sentence.tolist(), self.engine)
        ]

        def score(row: int, intervals: _Found) -> Floats:
            named = np.flatnonzero(np.isin(intervals.klass, of_query[row]))
            scores = np.zeros(len(intervals))
            if len(named):
                start, end = intervals.start_end_s[named].T
                alike = temporal_iou(start[:, None], end[:, None], start, end)
                begins = np.flatnonzero(np.diff(intervals.klass[named], prepend=-1))  # intervals are sorted by class
                scores[named] = np.maximum.reduceat(alike, begins, axis=1).sum(axis=1)
            return scores

        return _answers(queries, self.intervals, score, top=top, name=self.name)


def interval_share(annotations: Annotations, intervals: Intervals, within_s: float = WITHIN_S) -> float:
    """Return the share of the reference moments that equal an interval of their video up to `within_s` seconds."""
    n_alike = 0
    for video_id, start_s, end_s in zip(
        annotations.video_id.tolist(), annotations.start_s.tolist(), annotations.end_s.tolist(), strict=True
    ):
        video_intervals = intervals(video_id)
        distance_s = np.maximum(np.abs(video_intervals.start_s - start_s), np.abs(video_intervals.end_s - end_s))
        n_alike += bool((distance_s <= within_s).any())
    return n_alike / len(annotations)


@dataclass(frozen=True, eq=False)
class _Found:
    """N intervals of a video, sorted by class, start and end; none starts before the video."""

    klass: Ints
    start_end_s: Floats

    @classmethod
    def of(cls, actions: AnnotatedActions) -> _Found:
        """Return the intervals clipped to the start of the video; those outside are left out.

        A detector lists true intervals first. Ties keep their order, so the order is sorted away.
        """
        start_s, end_s = np.maximum(actions.start_s, 0), actions.end_s
        order = np.lexsort((end_s, start_s, actions.klass))
        order = order[(end_s > start_s)[order] & (start_s < actions.duration_s)[order]]
        return cls(actions.klass[order], np.stack([start_s, end_s], axis=1)[order])

    def __len__(self) -> int:
        return len(self.klass)


def _answers(
    queries: Queries, intervals: Intervals, score: Callable[[int, _Found], Floats], *, top: int, name: str
) -> Predictions:
    """Rank the intervals of each query's video by a score of (row of the query, intervals); ties keep their order."""
    intervals_of = cache(lambda video_id: _Found.of(intervals(video_id)))
    moments: list[Floats] = []
    for row, video_id in enumerate(queries.video_id.tolist()):
        video_intervals = intervals_of(video_id)
        scores = score(row, video_intervals)
        best = np.argsort(-scores, kind="stable")[:top]
        moments.append(np.column_stack([video_intervals.start_end_s[best], scores[best]]))
    offsets = np.concatenate([[0], np.cumsum([len(rows) for rows in moments])]).astype(np.int64)
    start_s, end_s, scores = np.concatenate([np.zeros((0, 3)), *moments]).T
    return Predictions(queries.query_id, offsets, start_s, end_s, scores, name=name)
