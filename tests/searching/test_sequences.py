"""Sequences of moments in order: equal to comparing all of them, in one video and in an index."""

import itertools

import numpy as np
import pytest
from drawn_indexes import sentences_near
from hypothesis import given
from hypothesis import strategies as st

from truemoment.searching.median_scores import median_scores
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import moment_scores
from truemoment.searching.searcher import IndexSearcher
from truemoment.searching.sequences import NONE, best_sequences, search_sequences

SPANS = st.tuples(st.integers(0, 9), st.integers(1, 5))


@given(
    spans=st.lists(SPANS, min_size=1, max_size=7, unique=True),
    gap=st.integers(0, 15),
    n_sentences=st.integers(1, 3),
    data=st.data(),
)
def test_the_best_sequence_from_each_moment_is_that_of_all_sequences(spans, gap, n_sentences, data):
    # Few scores, so that ties occur: of equal sequences the next moment begins early, then is long.
    scores = data.draw(
        st.lists(
            st.lists(st.integers(-3, 3), min_size=len(spans), max_size=len(spans)),
            min_size=n_sentences,
            max_size=n_sentences,
        )
    )
    first = np.array([start for start, _ in spans])
    end = first + np.array([length for _, length in spans])
    best = best_sequences(np.array(scores), first, end, gap)
    for begin in range(len(spans)):
        expected = [
            (-sum(scores[s][p] for s, p in enumerate(path)), [(first[p], -end[p]) for p in path], list(path))
            for path in itertools.product([begin], *[range(len(spans))] * (n_sentences - 1))
            if all(0 <= first[b] - end[a] <= gap for a, b in itertools.pairwise(path))
        ]
        if not expected:
            assert best.total[begin] == NONE
            continue
        total, _, path = min(expected)
        assert (best.total[begin], best.moments(begin)) == (-total, path)


@pytest.fixture(scope="module")
def drawn(drawn_once):
    from truemoment.searching.index import Index

    return Index(drawn_once(4))


def all_pairs(index, vectors, medians, gap_s):
    """Return the best pair from each first moment, by a table of all pairs of each video; of equal ones any."""
    found = []
    for name in index:
        first, end = index.spans(name)
        a, b = moment_scores(index, name, vectors, medians)
        apart = first[None, :] - end[:, None]
        table = np.where((apart >= 0) & (apart <= gap_s * 2), a[:, None] + b[None, :], -np.inf)
        found += [
            (round(total / 2, 6), name, first[p] / 2, end[p] / 2)
            for p, total in enumerate(table.max(axis=1).tolist())
            if total > -np.inf
        ]
    return sorted(found, key=lambda row: (-row[0], row[1], row[2] - row[3]))


@pytest.mark.parametrize(("gap_s", "apart_s"), [(0.0, 5.0), (3.0, 2.0), (1e6, 30.0)])
def test_an_index_gives_what_all_pairs_and_suppression_give(drawn, gap_s, apart_s):
    vectors = sentences_near(drawn, 2, seed=3)
    medians = median_scores(drawn, vectors)
    expected = []
    for score, name, start_s, end_s in all_pairs(drawn, vectors, medians, gap_s):
        if all(n != name or end_s + apart_s <= s or e + apart_s <= start_s for _, n, s, e in expected):
            expected.append((score, name, start_s, end_s))
    found = search_sequences(drawn, vectors, 8, gap_s=gap_s, apart_s=apart_s, medians=medians)
    assert len(found) == 8
    assert [round(moment.score, 6) for moment in found] == pytest.approx([row[0] for row in expected[:8]], abs=2e-6)
    for moment in found:
        first, second = moment.parts
        assert first.video_id == second.video_id == moment.video_id
        assert 0 <= second.start_s - first.end_s <= gap_s
        assert (moment.start_s, moment.end_s) == (first.start_s, second.end_s)
        assert moment.score == pytest.approx((first.score + second.score) / 2, abs=1e-9)
        for part, vector, median in zip(moment.parts, vectors, medians, strict=True):
            span = np.array([round(part.start_s * 2)]), np.array([round(part.end_s * 2)])
            again = moment_scores(drawn, part.video_id, vector, [median], spans=span)[0, 0]
            assert part.score == pytest.approx(again, abs=2e-4)  # of the norms on disk, which are float32


def test_a_first_stage_of_all_videos_changes_nothing_and_a_small_one_is_told(draw):
    index = draw(30)
    vectors = sentences_near(index, 2, seed=9)
    medians = median_scores(index, vectors)
    exact, most, few = (
        IndexSearcher(index, RankingOptions(**options)).find_sequences(vectors, medians, 30.0)
        for options in ({"exact": True}, {"candidates": 29}, {"candidates": 5})
    )
    assert (exact.n_videos, exact.ended_by) == (30, "all")
    assert (few.n_videos, few.ended_by, len(few.moments)) == (5, "limit", 5)
    assert {moment.video_id for moment in exact.moments[:3]} <= {moment.video_id for moment in most.moments}
    assert few.moments[0].score <= most.moments[0].score <= exact.moments[0].score
