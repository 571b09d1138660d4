"""Studentised intervals of ratios against their formulas and their promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from truemoment.base.errors import UsageError
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import resample_sums


def videos(rng, n_videos):
    """Hits less hits, and queries, by video: methods that differ by 10 points, more in some videos than in others."""
    n = rng.poisson(8, n_videos) + 1
    share = rng.beta(2, 3, n_videos)
    effect = rng.normal(0.1, 0.15, n_videos)
    a, b = rng.binomial(n, np.clip(share + effect, 0, 1)), rng.binomial(n, share)
    return (a - b)[:, None].astype(float), n[:, None].astype(float)


def slow(x, y):
    """Ratio and its linearised standard error, written out."""
    value = sum(x) / sum(y)
    n = len(x)
    return value, math.sqrt(n / (n - 1) * sum((a - value * b) ** 2 for a, b in zip(x, y, strict=True))) / sum(y)


def test_value_error_and_draws():
    x, y = videos(np.random.default_rng(4), 12)
    found = resample_ratios(x, y, np.random.default_rng(1), resamples=20)
    value, error = slow(x[:, 0].tolist(), y[:, 0].tolist())
    assert found.value[0] == pytest.approx(value)
    assert found.error[0] == pytest.approx(error)
    # The same draws, video by video: how often each is drawn is read off sums of ones.
    times = resample_sums(np.eye(12), np.random.default_rng(1), resamples=20).round().astype(int)
    for b in range(20):
        drawn = np.repeat(np.arange(12), times[b])
        of_draw, its_error = slow(x[drawn, 0].tolist(), y[drawn, 0].tolist())
        assert found.t[b, 0] == pytest.approx((of_draw - value) / its_error)


def test_the_interval_is_missed_as_often_as_it_says():
    # 20 videos, 600 worlds, true difference of this world by 10 million draws of its formula: 9.85 points. At 5 % a
    # side is missed in 2.5 % of worlds; 3 Monte Carlo standard errors of 600 worlds are 1.9 points more.
    truth, missed = 0.0985, 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        lower, upper = resample_ratios(*videos(rng, 20), rng, resamples=200).bounds(0.05)
        missed += int(lower[0] > truth)
        assert lower[0] < upper[0]
    assert missed / 600 <= 0.025 + 0.019


def test_a_spread_widens_it():
    x, y = videos(np.random.default_rng(0), 30)
    found = resample_ratios(x, y, np.random.default_rng(0))
    (lower,), (upper,) = found.bounds(0.05)
    (lower_with,), (upper_with,) = found.bounds(0.05, np.array([0.02]))
    # Independent errors add as squares; 1.96 is the normal quantile of 5 %.
    assert found.value[0] - lower_with == pytest.approx(math.hypot(found.value[0] - lower, 1.96 * 0.02), rel=1e-4)
    assert upper_with - found.value[0] == pytest.approx(math.hypot(upper - found.value[0], 1.96 * 0.02), rel=1e-4)


def test_a_spread_widens_both_ends_where_nothing_varies():
    """The lower end went up with the upper one: a distance of 0 has no sign to follow."""
    found = resample_ratios(np.ones((3, 1)), np.full((3, 1), 2.0), np.random.default_rng(0))
    ends = np.array(found.bounds(0.05, np.array([0.02]))).ravel()
    assert ends == pytest.approx([0.5 - 1.96 * 0.02, 0.5 + 1.96 * 0.02], abs=1e-6)  # 1.96: normal quantile of 5 %


def test_a_stricter_level_is_wider():
    x, y = videos(np.random.default_rng(0), 30)
    found = resample_ratios(x, y, np.random.default_rng(0), resamples=2000)
    assert found.bounds(0.01)[0][0] < found.bounds(0.05)[0][0] < found.bounds(0.05)[1][0] < found.bounds(0.01)[1][0]


def test_a_single_video_or_no_weight_has_no_interval():
    for x, y in (([1.0], [2.0]), ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])):
        found = resample_ratios(np.array(x)[:, None], np.array(y)[:, None], np.random.default_rng(0))
        assert np.isnan(found.bounds(0.05)).all()


def test_what_does_not_vary_is_what_it_is():
    # Three videos that gain one hit on two queries each: no resample is another.
    found = resample_ratios(np.ones((3, 1)), np.full((3, 1), 2.0), np.random.default_rng(0))
    assert np.array(found.bounds(0.05)).ravel().tolist() == [0.5, 0.5]


def test_one_video_unlike_all_others_leaves_an_interval():
    # A third of the draws miss it and have no error: the percentile end takes the place of an infinite one.
    x = np.ones((30, 1))
    x[0] = 0
    lower, upper = resample_ratios(x, np.ones((30, 1)), np.random.default_rng(0)).bounds(0.05)
    assert 0.8 < lower[0] < 29 / 30 < upper[0] < 1.1


def test_p_values_agree_with_the_interval():
    # One-sided: below 0.025 exactly where the 95 % interval lies on that side of 0.
    rng = np.random.default_rng(0)
    x = rng.normal(np.linspace(-0.5, 0.5, 41), 1.0, (60, 41))
    found = resample_ratios(x, np.ones((60, 41)), rng)
    lower, upper = found.bounds(0.05)
    below, above = found.p_values()
    assert ((below < 0.025) == (upper < 0)).all()
    assert ((above < 0.025) == (lower > 0)).all()
    assert 0 < (below < 0.025).sum() < 41


def test_one_draw_is_refused():
    with pytest.raises(UsageError):
        resample_ratios(np.ones((3, 1)), np.ones((3, 1)), np.random.default_rng(0), resamples=1)
