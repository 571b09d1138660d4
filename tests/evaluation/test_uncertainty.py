"""Intervals by resampling videos, against slow loops."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from truemoment import Annotations, Predictions, Scores, evaluate, get_protocol, parse_measures
from truemoment.exceptions import UsageError
from truemoment.uncertainty import bootstrap, interval95, sums_by_video

nan = float("nan")


def made_scores(video_id, numerator, weight=None, measures="mIoU"):
    """Scores with given per-query statistics."""
    numerator = np.atleast_2d(np.array(numerator, float))
    weight = np.ones_like(numerator) if weight is None else np.atleast_2d(np.array(weight, float))
    parsed = parse_measures(measures)
    return Scores(
        measures=parsed,
        protocol=get_protocol("default"),
        query_id=np.array([f"q{i}" for i in range(len(video_id))], dtype=object),
        video_id=np.array(video_id, dtype=object),
        numerator=numerator,
        weight=weight,
        on_threshold=np.full(len(parsed), -1),
    )


def test_sums_by_video_by_hand():
    # Videos in order of first appearance: b has queries 0 and 2, a query 1.
    scores = made_scores(["b", "a", "b"], [[1, 0, 0.5], [2, 1, 0]], [[1, 1, 1], [2, 2, 1]], "mIoU; mIoU[ref=rows]")
    numerator, weight = sums_by_video(scores)
    assert numerator.tolist() == [[1.5, 2], [0, 1]]
    assert weight.tolist() == [[2, 3], [1, 2]]


@pytest.mark.parametrize("block", [None, 1, 30])
def test_bootstrap_against_a_slow_loop(world, monkeypatch, block):
    w = world(8, n_queries=25)
    measures = "R@1,IoU=0.3; mIoU; R@1,IoU=0.3[ref=rows]; mAP,length=middle"
    scores = evaluate(w.annotations, w.predictions, measures)
    if block is not None:
        monkeypatch.setattr("truemoment.uncertainty.BLOCK_DRAWS", block)  # cutting the work changes no draw
    figures = bootstrap(scores, np.random.default_rng(42), resamples=60)
    # The same draws: how often each video comes, videos in order of first appearance.
    videos = list(dict.fromkeys(scores.video_id))
    draws = np.random.default_rng(42).multinomial(len(videos), [1 / len(videos)] * len(videos), size=60)
    expected = np.full((60, 4), nan)
    for i, draw in enumerate(draws.tolist()):
        for row in range(4):
            total = weight = Fraction(0)
            for times, video in zip(draw, videos, strict=True):
                for q in np.flatnonzero(scores.video_id == video):
                    total += times * Fraction(scores.numerator[row, q])
                    weight += times * Fraction(scores.weight[row, q])
            if weight:
                expected[i, row] = float(total / weight)
    # 1e-13: sums over five videos in float64 against exact ones.
    assert figures == pytest.approx(expected, rel=1e-13, abs=1e-15, nan_ok=True)


def test_the_same_seed_gives_the_same_figures(world):
    w = world(9)
    scores = evaluate(w.annotations, w.predictions, "mIoU; R@1,IoU=0.5")
    one, same, other = (bootstrap(scores, np.random.default_rng(seed), resamples=50) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_one_video_gives_zero_width(one_video):
    # There is one video to draw, so every resample is the split itself.
    scores = evaluate(*one_video({q: [(0, 10)] for q in "abc"}, {"a": [(0.0, 7.0)], "b": [(0.0, 3.0)]}), "mIoU")
    interval = interval95(bootstrap(scores, np.random.default_rng(0), resamples=30))
    assert interval == pytest.approx(np.array([[1 / 3, 1 / 3]]), rel=1e-15)
    assert interval[0, 0] == interval[0, 1]


def test_queries_of_a_video_move_together():
    # Two videos, all queries of one right, all of the other wrong: a resample draws 0, 1/2 or 1, never in between.
    scores = made_scores(["a"] * 5 + ["b"] * 5, [1.0] * 5 + [0.0] * 5)
    figures = bootstrap(scores, np.random.default_rng(0), resamples=400)[:, 0]
    values, counts = np.unique(figures, return_counts=True)
    assert values.tolist() == [0.0, 0.5, 1.0]
    # Binomial(2, 1/2): 1/4, 1/2, 1/4 of 400. Five standard deviations of 100 draws' count: 5 sqrt(400 / 4 x 3 / 4).
    assert np.all(np.abs(counts - [100, 200, 100]) < 5 * np.sqrt([75, 100, 75]))


def test_a_resample_without_weight_is_undefined():
    # Only video b has a reference of the class; about (1/2)^2 of the resamples do not draw it.
    scores = made_scores(["a", "b"], [0, 1], [0, 1])
    figures = bootstrap(scores, np.random.default_rng(0), resamples=200)[:, 0]
    assert set(figures[~np.isnan(figures)].tolist()) == {1.0}
    assert 20 < np.isnan(figures).sum() < 80
    assert np.isnan(interval95(figures[:, None])).all()


def test_a_measure_without_any_weight_stays_undefined():
    scores = made_scores(["a", "b"], [0, 0], [0, 0])
    figures = bootstrap(scores, np.random.default_rng(0), resamples=10)
    assert np.isnan(figures).all()
    (figure,) = scores.measured(interval95(figures))
    assert (figure.value, figure.ci95) == (None, None)


@pytest.mark.parametrize("resamples", [-1, 0, 1])
def test_too_few_resamples(resamples):
    with pytest.raises(UsageError) as caught:
        bootstrap(made_scores(["a"], [1]), np.random.default_rng(0), resamples=resamples)
    assert str(caught.value) == f"got {resamples} resamples, expected 2 or more"


def test_two_resamples_are_enough():
    assert bootstrap(made_scores(["a"], [1]), np.random.default_rng(0), resamples=2).tolist() == [[1.0], [1.0]]


def test_interval95_by_hand():
    # 0..1000: the 2.5th percentile is 25, the 97.5th 975; a column that is ever undefined has none.
    figures = np.stack([np.arange(1001.0)[::-1], np.where(np.arange(1001) == 5, nan, 1.0)], axis=1)
    assert interval95(figures).tolist()[0] == [25.0, 975.0]
    assert np.isnan(interval95(figures)[1]).all()


def test_coverage_is_near_95_percent():
    # 60 videos of 3 queries; a video's own chance of success is drawn first, so its queries depend on each other.
    # The true mean is 1/2. Of 200 worlds 95 % = 190 should hold it in their interval; the percentile interval of 60
    # clusters covers a little less. Bounds: 5 standard deviations of a binomial of 200 at 0.95 below, all above.
    rng = np.random.default_rng(11)
    held = width = narrower = 0
    for _ in range(200):
        chance = np.repeat(rng.uniform(0, 1, 60), 3)
        hits = (rng.random(180) < chance).astype(float)
        scores = made_scores([f"v{i // 3}" for i in range(180)], hits)
        low, high = interval95(bootstrap(scores, rng, resamples=200))[0]
        held += low <= 0.5 <= high
        width += high - low
        alone = dataclasses.replace(scores, video_id=scores.query_id)  # as if queries were independent
        low, high = interval95(bootstrap(alone, rng, resamples=200))[0]
        narrower += high - low
    assert held >= 190 - 5 * np.sqrt(200 * 0.95 * 0.05)
    # Variance of a mean of 3 dependent queries: (1/4 + 2 x 1/12) / 3 against (1/4) / 3, so sqrt(5/3) = 1.29 as wide.
    assert width / narrower == pytest.approx(np.sqrt(5 / 3), abs=0.05)


def test_intervals_stand_beside_the_figures(world):
    w = world(10)
    scores = evaluate(w.annotations, w.predictions, "mIoU; R@5,IoU=0.3")
    intervals = interval95(bootstrap(scores, np.random.default_rng(0), resamples=100))
    for figure, (low, high) in zip(scores.measured(intervals), intervals.tolist(), strict=True):
        assert figure.ci95 == (low, high)
        assert low <= figure.value <= high


def test_the_bootstrap_of_an_evaluation_needs_no_second_matching():
    # The statistic is linear in the sums by video: one resample by hand, drawn as video b twice.
    rows = [("a#0", "a", 20.0, "s", 0.0, 10.0), ("b#0", "b", 20.0, "s", 0.0, 10.0)]
    answers = Predictions.from_lists({"a#0": [(0.0, 10.0)], "b#0": [(0.0, 4.0)]})
    figures = bootstrap(evaluate(Annotations.from_rows(rows), answers, "mIoU"), np.random.default_rng(3), resamples=50)
    # Draws of two videos: a twice 1, one each 0.7, b twice 0.4.
    assert sorted(set(figures[:, 0].round(12).tolist())) == [0.4, 0.7, 1.0]
