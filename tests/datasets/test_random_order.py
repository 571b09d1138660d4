"""Queries in random order: the same queries and references, and nothing left of the order of the file."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations
from truemoment.data.datasets.random_order import without_order
from truemoment.data.language.paragraphs import order_of_starts

# Few words, so that sentences of a video are repeated; each sentence has one to three reference moments.
moments = st.lists(st.integers(0, 90), min_size=1, max_size=3)
sentences = st.tuples(st.sampled_from(["a door opens", "she sits", "\ud800 [\x00]"]), moments)
worlds = st.lists(st.lists(sentences, min_size=1, max_size=5), min_size=1, max_size=5)
seeds = st.integers(0, 10**9)


def annotations_of(world):
    return Annotations.from_rows(
        (f"v{v}#{q}", f"v{v}", 100.0, sentence, float(start), start + 5.0, f"w{number}")
        for v, queries in enumerate(world)
        for q, (sentence, starts) in enumerate(queries)
        for number, start in enumerate(starts)
    )


def paragraphs(n_videos=200, per_video=5):
    """Videos of sentences in the order of their moments, with running numbers as ids."""
    return Annotations.from_rows(
        (f"v{v}#{k}", f"v{v}", 60.0, f"she waits {k * v % 7} {k}", 10.0 * k, 10.0 * k + 9)
        for v in range(n_videos)
        for k in range(per_video)
    )


def contents(annotations):
    """Each query without its id, with all its references in their order."""
    columns = (annotations.start_s.tolist(), annotations.end_s.tolist(), annotations.annotator.tolist())
    rows = list(zip(*columns, strict=True))
    queries, offsets = annotations.queries, annotations.offsets.tolist()
    about = zip(queries.video_id, queries.duration_s.tolist(), queries.sentence, strict=True)
    return Counter((*of, *rows[offsets[q] : offsets[q + 1]]) for q, of in enumerate(about))


@given(worlds, seeds)
def test_the_queries_and_references_are_the_same_under_new_unique_ids(world, seed):
    annotations = annotations_of(world)
    found = without_order(annotations, seed)
    assert contents(found) == contents(annotations)
    ids = found.queries.query_id.tolist()
    assert len(set(ids)) == annotations.n_queries
    assert not set(ids) & set(annotations.query_id)
    # Video after video, as they first occur in the file.
    assert list(dict.fromkeys(found.video_id)) == list(dict.fromkeys(annotations.video_id))


@given(worlds, seeds)
def test_the_same_seed_gives_the_same_and_another_one_other_ids(world, seed):
    annotations = annotations_of(world)
    assert without_order(annotations, seed).sha256 == without_order(annotations, seed).sha256
    assert set(without_order(annotations, seed).query_id).isdisjoint(without_order(annotations, seed + 1).query_id)


@given(st.randoms(use_true_random=False), seeds)
def test_nothing_is_left_of_the_order_of_the_file(random, seed):
    """Whatever the order and the ids of the file: the result is the same, where a video's sentences differ."""
    annotations = paragraphs(4, 5)
    order = [5 * v + k for v in range(4) for k in random.sample(range(5), 5)]
    shuffled = annotations.select_rows(np.array(order))
    shuffled = replace(shuffled, query_id=[f"q{at}" for at in range(len(order))])
    assert without_order(shuffled, seed).sha256 == without_order(annotations, seed).sha256


def test_neither_the_order_nor_the_ids_predict_the_moments():
    annotations = paragraphs()
    assert order_of_starts(annotations).later == 1  # so it is made
    found = without_order(annotations, 0)
    by_id = found.in_order(sorted(found.query_id))
    for copy in (found, by_id):
        order = order_of_starts(copy)
        assert not order.informs
        assert abs(order.later - 0.5) < 0.06  # 800 pairs by chance: half, with a standard error below 0.018
    number = np.array([int(query_id.partition("#")[2], 16) for query_id in found.query_id], dtype=np.float64)
    # 1,000 independent pairs: a correlation with a standard error of 1 / sqrt(1000) = 0.032.
    assert abs(np.corrcoef(number, found.start_s)[0, 1]) < 0.1
