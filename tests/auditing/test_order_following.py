"""How closely answers follow the order of sentences: the share itself, its errors, what it does not depend on."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment.base.records import Annotations, Predictions
from truemoment.studies.audit import order_following as module
from truemoment.studies.audit.order_following import (
    ALONE,
    CONTRADICTED,
    SHUFFLED,
    UNTESTED,
    ComparedPlaces,
    in_other_orders,
    order_following,
    rotated_rows,
)
from truemoment.studies.audit.place_law import PlaceLaw, moment_terms, places_of

MOMENTS = np.array([[0.0, 0.1], [0.3, 0.4], [0.6, 0.7], [0.9, 1.0]])
FAR = np.array([0.0, 1.0])
N_TERMS = moment_terms(FAR[None], FAR[None]).shape[1]
EVEN = PlaceLaw(np.zeros((5, N_TERMS)), 0.0, np.zeros(N_TERMS), np.ones(N_TERMS))
"""A law by which all places are as likely as each other."""


def places(by_order, annotated=FAR):
    """Places that are as likely as each other, the own one first; one floor, and a network that answers FAR."""
    n, p = by_order.shape[:2]
    far = np.tile(FAR, (n, 1))
    return ComparedPlaces(
        law=EVEN,
        compared=np.tile(np.arange(p), (n, 1)),
        size=np.full(n, p),
        expected=np.full((n, 2), 0.5),
        by_order=by_order[:, :, None, :],
        network=far,
        annotated=np.broadcast_to(annotated, far.shape),
        video=np.arange(n) // 4,
    )


def following(answer, tested, seed=0, draws=999):
    return order_following(answer, tested, np.random.default_rng(seed), draws=draws)


def by_chance(seed, n=80):
    """A floor that answers with one of four moments at each of four places, in random order."""
    rng = np.random.default_rng(seed)
    return rng, MOMENTS[rng.permuted(np.tile(np.arange(4), (n, 1)), axis=1)]


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_share_is_that_by_which_answers_are_made(share):
    # The own place is the first. Other answers are uniform on the moments: 400 of them leave an error of 0.05 or less.
    rng, by_order = by_chance(1, 400)
    answer = np.where(rng.random((400, 1)) < share, by_order[:, 0], MOMENTS[rng.integers(4, size=400)])
    found = following(answer, places(by_order))
    assert found.share == pytest.approx(share, abs=0.15)
    assert found.ci95[0] <= found.share <= found.ci95[1]
    assert found.contradicts == (share > 0)
    assert (found.n_queries, found.n_videos) == (400, 100)


def test_the_p_value_is_the_share_of_draws():
    # By hand: eight queries with two places that are as likely as each other, and eight whose places do not differ. One
    # of 256 equally likely draws has as large a sum as answers at the own places, and all as large a one as the others.
    differing = np.where(np.arange(16)[:, None, None] < 8, MOMENTS[:2], MOMENTS[0])
    own, other = (following(differing[:, at], places(differing), draws=4000) for at in (0, 1))
    assert own.p == pytest.approx(1 / 256, abs=0.003)
    assert other.p == 1.0
    few = following(differing[:8, 0], places(differing[:8]))
    assert few == UNTESTED._replace(n_queries=8, n_videos=2)


def test_answers_without_the_order_rarely_contradict():
    # 100 sets of answers that do not depend on the place: by the level, at most 5 contradict with probability 0.996
    # (binomial, 100 at 0.015), and the share excludes most of these.
    contradicted = 0
    for seed in range(100):
        rng, by_order = by_chance(seed)
        contradicted += following(MOMENTS[rng.integers(4, size=80)], places(by_order), seed, 399).contradicts
    assert contradicted <= 5


def test_a_place_that_the_moment_tells_is_no_evidence():
    # Answers are near the floor's at the own place. They follow the order if the true moment is elsewhere; if it is
    # there, too, a method that sees it answers so, and the law finds that the moment gives the place away.
    rng, by_order = by_chance(2)
    answer = np.clip(by_order[:, 0] + 0.03 * rng.normal(size=(80, 1)), 0, 1)
    assert following(answer, places(by_order)).contradicts
    assert not following(answer, places(by_order, by_order[:, 0])).contradicts


def in_order(seed, error):
    """Eight sentences of each of 100 videos in the order of their moments, which annotations miss by `error`."""
    rng = np.random.default_rng(seed)
    start = np.sort(rng.uniform(0, 0.8, (100, 8)), axis=1).ravel()
    true = np.stack([start, start + 0.2], axis=1)
    place, size = np.tile(np.arange(8), 100), np.full(800, 8)
    annotated = np.sort(np.clip(true + error * rng.normal(size=true.shape), 0, 1), axis=1)
    table = np.array([true[place == k].mean(axis=0) for k in range(8)])
    compared = places_of(place, size, rng)
    law = PlaceLaw.fit(moment_terms(annotated, np.full((800, 2), 0.5)), compared, size)
    return rng, true, places(table[compared], annotated)._replace(law=law, compared=compared, video=np.arange(800) // 8)


@pytest.mark.parametrize("error", [0.0, 0.1])
def test_a_method_that_sees_is_not_contradicted_where_annotations_err(error, monkeypatch):
    # The answers are the true moments, which tell the place better than annotations that miss them. That is evidence of
    # the order if answers near the annotation cannot be right. Answers half of which are the table's are found.
    rng, true, tested = in_order(3, error)
    assert following(true, tested).p > CONTRADICTED
    blind = MOMENTS[rng.integers(4, size=800)]
    assert not following(blind, tested).contradicts
    assert following(np.where(rng.random((800, 1)) < 0.5, tested.by_order[:, 0, 0], blind), tested).contradicts
    monkeypatch.setattr(module, "REACH", 0)
    assert (following(true, tested).p <= CONTRADICTED) == (error > 0)


def test_answers_agree_by_start_and_end():
    # A long and a short moment around one centre: the place decides which of them the floor predicts.
    rng = np.random.default_rng(2)
    lengths = np.array([[0.1, 0.9], [0.4, 0.6]])
    by_order = lengths[rng.permuted(np.tile([0, 1], (120, 1)), axis=1)]
    assert following(by_order[:, 0], places(by_order)).contradicts
    assert not following(np.tile([0.45, 0.55], (120, 1)), places(by_order)).contradicts


def test_rotations_put_each_sentence_at_each_place():
    # By hand: three sentences have three rotations, the third of which leaves nothing to the fourth; ten sentences have
    # eight, which are 1 or 2 places apart. Each sentence has the neighbours that it had.
    annotations = Annotations.from_rows(
        [(f"v{v}#{k}", f"v{v}", 9.0, "x", 1.0, 2.0) for v, n in ((0, 3), (1, 10)) for k in range(n)]
    )
    turned = [[values.tolist() for values in rotated_rows(annotations.queries, turn, 8)] for turn in (0, 1, 3)]
    assert turned[0] == [list(range(13)), [*range(3), *range(10)]]
    assert turned[1] == [[2, 0, 1, 12, *range(3, 12)], [*range(3), *range(10)]]
    assert turned[2] == [[10, 11, 12, *range(3, 10)], list(range(10))]


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
