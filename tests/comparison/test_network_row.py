"""Hits beside the sentence network, by hand; and why there may be none."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import Annotations, parse_measures
from truemoment.baselines.network_row import NetworkRow, why_no_network

VIDEOS = ["v", "v", "w", "w", "x", "x", "y", "y"]
ONE = [("v#0", "v", 9.0, "a door opens", 1.0, 2.0)]


@pytest.fixture
def row(made_scores):
    """A first network that hits 2 of 8 queries, and a second that hits one of these and one other."""
    (hit,) = parse_measures("R@1,IoU=0.5")
    hits = tuple(
        made_scores(VIDEOS, of, measures=str(hit)) for of in ([1, 1, 0, 0, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0, 0, 0])
    )
    return NetworkRow(hits, hit, hits, 0.0, Annotations.from_rows(ONE))


def test_both_numbers_and_the_excess_by_hand(row, made_scores):
    # Runs that hit 4 and 2 of the 6 queries that the first network misses, and 1 and 1 of the two that it hits.
    runs = [made_scores(VIDEOS, of) for of in ([1, 0, 1, 1, 1, 1, 0, 0], [0, 1, 1, 1, 0, 0, 0, 0])]
    found = row.compare(runs, np.random.default_rng(0), resamples=200)
    assert row.counts() == (6, 2)
    assert (found.where_missed, found.where_hit) == pytest.approx((3 / 6, 1 / 2))
    assert row.second == pytest.approx((1 / 6, 1 / 2))
    assert found.excess == pytest.approx(3 / 6 - 1 / 6)


def test_queries_without_weight_are_left_out(row, made_scores):
    run = made_scores(VIDEOS, [1, 0, 1, 1, 0, 0, 0, 0], [1] * 4 + [0] * 4)
    found = row.compare([run], np.random.default_rng(0), resamples=200)
    assert (found.where_missed, found.where_hit, found.excess) == pytest.approx((1, 1 / 2, 1 / 2))


@pytest.mark.parametrize(
    ("rows", "measures", "train", "why"),
    [
        (ONE, "mIoU", ONE, ""),
        (ONE, "mIoU", None, "there is no training split to fit it on (--fit-split, --fit-annotations)"),
        (
            ONE,
            "mIoU; HIT@1,min=Good",
            ONE,
            "it finds moments only, and HIT@1,min=Good is no measure of them (--measures)",
        ),
        (
            [("v#0", "v", np.nan, "s", 1.0, 2.0)],
            "mIoU",
            ONE,
            "it answers with shares of the video, and 1 queries have no duration",
        ),
        (
            ONE,
            "mIoU",
            [("v#0", "v", np.nan, "s", 1.0, 2.0)],
            "no query of all has a moment and a duration to learn from",
        ),
    ],
)
def test_why_there_may_be_none(rows, measures, train, why):
    learned = None if train is None else Annotations.from_rows(train)
    assert why_no_network(Annotations.from_rows(rows), parse_measures(measures), learned) == why
