"""How far answers follow the order of sentences: the share itself, its errors, what it does not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.records import Annotations, Predictions
from truemoment.studies.audit.order_following import (
    ALONE,
    SHUFFLED,
    UNTESTED,
    follow_order,
    in_other_orders,
    terms_beside,
    weights_of_places,
)

NO_TERMS = np.zeros((40, 0))


def drawn(seed, n_videos=10, n=4):
    rng = np.random.default_rng(seed)
    return rng, np.repeat(np.arange(n_videos), n), rng.normal(size=(n_videos * n, 2))


@given(share=st.floats(-2, 2), seed=st.integers(0, 99))
def test_the_share_is_that_by_which_answers_are_made(share, seed):
    # Answers are made as the formula says, with a constant of each video and no rest: b comes back.
    rng, video, moved = drawn(seed)
    answer = share * moved + rng.normal(size=(10, 2))[video]
    found = follow_order(answer, moved, NO_TERMS, video, rng, permutations=99)
    assert found.share == pytest.approx(share, abs=1e-9)
    assert (found.n_queries, found.n_videos) == (40, 10)
    assert found.ci95 == pytest.approx((share, share), abs=1e-6)


def test_the_p_value_is_the_share_of_permutations():
    # By hand: eight videos of two queries, moves -1 and 1 in each. One of the 256 equally likely orders in them has
    # as large a sum as the answers that follow, so p is near 1/256; and near 1 where they go against the moves.
    video, moved = np.array([0, 0, 1, 1, 2]), np.array([[-1.0], [1.0], [-1.0], [1.0], [5.0]])
    assert follow_order(moved, moved, NO_TERMS[:5], video, np.random.default_rng(0), permutations=99) == (
        UNTESTED._replace(n_queries=4, n_videos=2)  # the fifth is alone, and four are too few
    )
    video, moved = np.repeat(np.arange(8), 2), np.tile([-1.0, 1.0], 8)[:, None]
    p, against = (
        follow_order(sign * moved, moved, NO_TERMS[:16], video, np.random.default_rng(0), permutations=4000).p
        for sign in (1, -1)
    )
    assert p == pytest.approx(1 / 256, abs=0.003)
    assert against == 1.0


def test_answers_without_the_order_rarely_contradict():
    # 150 sets of answers that do not depend on the moves: by the level, 1 in 400 has p <= 0.003, and at most 3 of 150
    # have it with probability 0.9994 (binomial).
    contradicted = 0
    for seed in range(150):
        rng, video, moved = drawn(seed, n_videos=20)
        terms = rng.normal(size=(80, 5))
        answer = terms @ rng.normal(size=(5, 2)) + rng.normal(size=(20, 2))[video] + rng.normal(size=(80, 2))
        contradicted += follow_order(answer, moved, terms, video, rng, permutations=399).contradicts
    assert contradicted <= 3


def test_terms_take_away_what_answers_owe_to_the_truth():
    # Answers are where the moment is, which the order tells, too: without terms the answers seem to follow it.
    rng, video, _ = drawn(1, n_videos=50)
    true = rng.uniform(0.1, 0.9, 200)
    true_norm = np.stack([true - 0.05, true + 0.05], axis=1)
    answer = weights_of_places(np.clip(true_norm + 0.01 * rng.normal(size=(200, 1)), 0, 1))
    moved = weights_of_places(np.clip(true_norm + 0.1 * rng.normal(size=(200, 1)), 0, 1))
    probability, cells = np.full((200, 2), 0.5), np.array([[0.0, 0.5], [0.5, 1.0]])
    terms = terms_beside(true_norm, probability, cells, np.tile([[0.0, 0.5]], (200, 1)), 0.5)
    assert terms.shape[0] == 200
    bare = follow_order(answer, moved, np.zeros((200, 0)), video, rng, permutations=999)
    beside = follow_order(answer, moved, terms, video, rng, permutations=999)
    assert (bare.contradicts, beside.contradicts) == (True, False)


@given(moment=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_weights_give_start_and_end_back(moment):
    # Linear interpolation: weights sum to 1, and the mean of the places that they weigh is what they were made of.
    weights = weights_of_places(np.array([moment]))[0].reshape(2, -1)
    assert weights.sum(axis=1) == pytest.approx(1)
    assert weights @ np.linspace(0, 1, weights.shape[1]) == pytest.approx(moment)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_close_answers_agree_where_centres_do_not(share):
    # A long and a short moment around one centre: the order moves the answer from one to the other.
    rng, video, _ = drawn(2, n_videos=30)
    is_long = rng.random((120, 1)) < 0.5
    other = np.where(rng.random((120, 1)) < share, is_long, rng.random((120, 1)) < 0.5)
    of_order, own = (weights_of_places(np.where(long, [0.1, 0.9], [0.4, 0.6])) for long in (is_long, other))
    assert follow_order(own, of_order, np.zeros((120, 0)), video, rng, permutations=999).contradicts == (share > 0)


class ReadsOthers:
    """Answers at the place of the query among those it is asked with."""

    name = "reads others"

    def ground(self, queries, _top=1):
        video = queries.video_id.tolist()
        place = [video[:row].count(of) for row, of in enumerate(video)]
        return Predictions.from_lists(
            {query: [(float(k), k + 1.0)] for query, k in zip(queries.query_id.tolist(), place, strict=True)}
        )


def test_a_model_is_asked_alone_and_in_shuffled_order():
    annotations = Annotations.from_rows(
        [(f"v{v}#{k}", f"v{v}", 9.0, "x", 1.0, 2.0) for v in range(20) for k in (0, 1, 2)]
    )
    queries = annotations.queries
    found = in_other_orders(ReadsOthers(), queries, top=1, rng=np.random.default_rng(0))
    alone, shuffled = (
        found[how].select_queries(found[how].rows_of(queries.query_id) >= 0) for how in (ALONE, SHUFFLED)
    )
    assert set(alone.start_s.tolist()) == {0.0}  # each is the first that it sees
    assert sorted(shuffled.start_s.tolist()) == sorted([0.0, 1.0, 2.0] * 20)
    assert shuffled.rows_of(queries.query_id).tolist() != list(range(60))
    single = annotations.select_queries(np.arange(60) % 3 == 0)
    assert in_other_orders(ReadsOthers(), single.queries, top=1, rng=np.random.default_rng(0)) == {}
