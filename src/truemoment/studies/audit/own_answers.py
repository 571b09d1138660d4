"""The method's own answers as floors: each query gets the answers that the method gave for another video.

A prediction that ignores the video can be right by luck. On Charades-CD test-ood, whose moments differ from those of
training, the constant from 30 to 90 % of the video has R@1,IoU=0.5 of 34.2; the strongest baseline that learns from
training has 22.0. The score of a method's answers on other videos does not depend on the video, so it does not show
that the method looks at it. It is the agreement by chance of Cohen's kappa (Cohen 1960): the score that is expected if
answers have the same places but are independent of the video.

Answers are moved as shares of the video, so a constant share keeps its whole score. Two floors: answers from any other
video, the mean of several draws; and answers to the most similar sentence of another video. A method that reads only
the sentence keeps the score of the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.errors import InputError
from truemoment.base.intervals import Ints
from truemoment.base.records import Annotations, Predictions, Queries, Strings, numbers_of, positions_in_lists
from truemoment.baselines.floors import FloorResult
from truemoment.baselines.sentence_neighbours import LEAST, Sentences, unit_weights
from truemoment.data.language.bags import bags_of, terms_of
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.report.words import counted

DRAWS = 10
"""Number of draws of the other video."""

OWN_ANSWERS = OTHER_VIDEOS, SIMILAR_SENTENCES = "own-answers", "own-answers-similar"

TITLES = {
    OTHER_VIDEOS: "its own prediction for another video",
    SIMILAR_SENTENCES: "its own prediction for a similar sentence",
}


def own_answers_floors(
    annotations: Annotations,
    predictions: Predictions,
    measures: Sequence[Measure],
    protocol: Protocol,
    rng: np.random.Generator,
    *,
    cache: Cache = NO_CACHE,
) -> list[FloorResult]:
    """Measure the method's answers on other videos.

    Raises
    ------
    InputError
        If one video has more than half of the queries, so that there are not enough answers of other videos.
    """
    queries = annotations.queries
    sources = [another_video(queries.video_id, rng) for _ in range(DRAWS)]
    drawn = [moved_answers(predictions, queries, source, TITLES[OTHER_VIDEOS]) for source in sources]
    scored = [evaluate(annotations, answers, measures, protocol) for answers in drawn]
    mean = replace(scored[0], numerator=np.mean([scores.numerator for scores in scored], axis=0))
    key = {"annotations": annotations.sha256}
    nearest = cache.arrays("similar", key, lambda: {"row": similar_sentence(queries)})["row"]
    source = np.where(nearest >= 0, nearest, sources[0])
    similar = moved_answers(predictions, queries, source, TITLES[SIMILAR_SENTENCES])
    return [
        FloorResult(OTHER_VIDEOS, TITLES[OTHER_VIDEOS], "floor", mean, drawn[0], draws=tuple(scored)),
        FloorResult(
            SIMILAR_SENTENCES,
            TITLES[SIMILAR_SENTENCES],
            "floor",
            evaluate(annotations, similar, measures, protocol),
            similar,
        ),
    ]


def moved_answers(predictions: Predictions, queries: Queries, source: Ints, name: str) -> Predictions:
    """Give each query the answers to another one, as the same shares of the video.

    Parameters
    ----------
    source : (Q,)
        Row of the query whose answers each query gets.
    """
    rows = predictions.rows_of(queries.query_id.tolist())[source]
    lengths = np.append(predictions.lengths, 0)[rows]  # -1: no prediction
    at = positions_in_lists(predictions.offsets, rows[lengths > 0])
    scale = np.repeat(queries.duration_s / queries.duration_s[source], lengths)
    return Predictions(
        queries.query_id,
        np.concatenate([[0], np.cumsum(lengths)]),
        predictions.start_s[at] * scale,
        predictions.end_s[at] * scale,
        predictions.score[at],
        name=name,
    )


def another_video(video_id: Strings, rng: np.random.Generator) -> Ints:
    """Draw a permutation of the queries, (Q,), in which no query comes from its own video.

    The queries of a video stay together, videos and queries are in random order, and all move by as many places as the
    largest video has queries, or more.

    Raises
    ------
    InputError
        If one video has more than half of the queries.
    """
    video = numbers_of(video_id)
    n_queries, largest = len(video), int(np.bincount(video).max(initial=0))
    if 2 * largest > n_queries:
        raise InputError(
            f"one video has {largest:,} of {counted(n_queries, 'query', 'queries')}, expected at most half"
        )
    order = np.lexsort((rng.random(n_queries), rng.permutation(int(video.max()) + 1)[video]))
    source = np.empty(n_queries, dtype=np.int64)
    source[order] = np.roll(order, int(rng.integers(largest, n_queries - largest + 1)))
    return source


def similar_sentence(queries: Queries) -> Ints:
    """Return for each query the row of the most similar sentence of another video, (Q,); the first of equal ones.

    It is -1 for a sentence that has no word in common with those of other videos.
    """
    sentences = queries.sentence.tolist()
    known = Sentences.of(sentences, most=1.0)
    bags = bags_of([terms_of(sentence) for sentence in sentences], known.terms)
    weights = unit_weights(bags, known.idf)
    video = numbers_of(queries.video_id)
    source = np.full(len(sentences), -1)
    for q in range(len(sentences)):
        terms = slice(bags.offsets[q], bags.offsets[q + 1])
        cosine = known.cosines(bags.terms[terms], weights[terms], len(sentences))
        cosine[video == video[q]] = 0.0
        nearest = int(cosine.argmax())
        if cosine[nearest] > LEAST:
            source[q] = nearest
    return source
