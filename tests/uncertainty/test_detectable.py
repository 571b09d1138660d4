"""The smallest difference a split can resolve: the formula, its promise, and when it says nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from truemoment.base.errors import UsageError
from truemoment.evaluation.uncertainty import (
    minimum_detectable_difference,
    paired_permutation,
    resample_figures,
    videos_that_differ,
)

nan = float("nan")


@pytest.mark.parametrize(("level", "power"), [(0.05, 0.8), (0.01, 0.8), (0.05, 0.9), (0.005, 0.5)])
def test_the_formula(level, power):
    # Bloom 1995: the sum of two normal quantiles, times the standard error; the quantiles from SciPy.
    differences = np.random.default_rng(0).normal(size=(50, 2, 3))
    times = stats.norm.ppf(1 - level / 2) + stats.norm.ppf(power)
    expected = times * differences.std(axis=0, ddof=1)
    assert minimum_detectable_difference(differences, level=level, power=power) == pytest.approx(expected, rel=1e-12)


def test_power_by_simulation(two_systems):
    # Standard error of the difference on 80 videos, see two_systems; 2.8016 times it is found in 80 % of test sets.
    rng = np.random.default_rng(41)
    error = np.sqrt((0.01 + 0.01 / 3) / 80)
    resolved = (1.959964 + 0.841621) * error
    said, found = np.empty(200), np.empty(200)
    for i in range(200):
        a, b = two_systems(rng, 80, resolved)
        figures = resample_figures([a, b], rng, resamples=200)
        said[i] = minimum_detectable_difference(figures[:, 0] - figures[:, 1])[0]
        found[i] = paired_permutation(a, b, rng, permutations=399)[0] <= 0.05
    assert abs(found.sum() - 160) < 5 * np.sqrt(200 * 0.8 * 0.2)
    # Each estimate errs by some 1 / sqrt(2 x 79) = 8 % from the videos and 5 % from the resamples; their mean by
    # 0.7 %, and it is low by the factor sqrt(79/80).
    assert said.mean() == pytest.approx(resolved * np.sqrt(79 / 80), rel=5 * 0.007)


def test_smaller_with_more_videos(two_systems):
    # Standard errors fall with the square root of the number of videos; tolerance as above, for single estimates.
    rng = np.random.default_rng(42)
    values = []
    for n_videos in (100, 1600):
        figures = resample_figures(two_systems(rng, n_videos, 0.0), rng, resamples=2000)
        values.append(minimum_detectable_difference(figures[:, 0] - figures[:, 1])[0])
    assert values[0] / values[1] == pytest.approx(4, rel=0.3)


def test_alike_on_every_video_is_not_zero_but_undefined(made_scores):
    rng = np.random.default_rng(0)
    values = rng.random((2, 30))
    videos = [f"v{i % 10}" for i in range(30)]
    one = made_scores(videos, values, measures="mIoU; AP@1,IoU=0.5")
    other = values.copy()
    other[1] += rng.random(30)
    figures = resample_figures([one, made_scores(videos, other, measures="mIoU; AP@1,IoU=0.5")], rng, resamples=100)
    resolved = minimum_detectable_difference(figures[:, 0] - figures[:, 1])
    assert np.isnan(resolved).tolist() == [True, False]


def test_one_video_resolves_nothing(made_scores):
    figures = resample_figures(
        [made_scores(["v"] * 2, [1, 0]), made_scores(["v"] * 2, [0, 0])], np.random.default_rng(0)
    )
    assert np.isnan(minimum_detectable_difference(figures[:, 0] - figures[:, 1])).all()


def test_systems_that_differ_on_few_videos_resolve_nothing(made_scores):
    # One hit more in 1000 videos: 2.8 standard errors of 1/1000 would seem resolved, three hits. But three videos that
    # differ, all to one side, have p = 2 / 2^3.
    videos = [f"v{i}" for i in range(1000)]
    none, one = made_scores(videos, [0] * 1000), made_scores(videos, [1] + [0] * 999)
    three = made_scores(videos, [1] * 3 + [0] * 997)
    rng = np.random.default_rng(3)
    figures = resample_figures([none, one], rng, resamples=4000)
    differences = figures[:, 1] - figures[:, 0]
    # 5 Monte Carlo errors of a Poisson variable's standard deviation: its kurtosis 4 makes them sqrt(3 / 4N) = 1.4 %.
    assert minimum_detectable_difference(differences) == pytest.approx([0.0028], rel=0.07)
    assert paired_permutation(three, none, rng).tolist() == [0.25]
    n_differing = videos_that_differ(none, one)
    assert n_differing.tolist() == [1]
    assert np.isnan(minimum_detectable_difference(differences, n_differing=n_differing)).all()
    for count, undefined in ((9, True), (10, False)):
        value = minimum_detectable_difference(differences, n_differing=np.array([count]))
        assert np.isnan(value).tolist() == [undefined]


def test_videos_that_differ(made_scores):
    videos = ["a", "a", "b", "c"]
    one = made_scores(videos, [[1, 0, 1, 0], [1, 1, 1, 0]], [[1] * 4, [1, 1, 1, 0]], "mIoU; AP@1,IoU=0.5")
    other = made_scores(videos, [[0, 1, 0, 0], [1, 0, 1, 0]], [[1] * 4, [1, 1, 1, 1]], "mIoU; AP@1,IoU=0.5")
    # First measure: a's queries differ but not its sum, so only b. Second: a's numerators, and c's weights.
    assert videos_that_differ(one, other).tolist() == [1, 2]
    with pytest.raises(UsageError, match="scores 1 have measures mIoU, expected mIoU; AP@1"):
        videos_that_differ(one, made_scores(videos, [0] * 4))


def test_an_undefined_resample_leaves_it_undefined():
    assert np.isnan(minimum_detectable_difference(np.array([[0.1], [nan], [0.2]]))).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"level": 0.0}, "got level 0.0, expected more than 0 and less than 1"),
        ({"level": 1.0}, "got level 1.0, expected more than 0 and less than 1"),
        ({"power": 1.5}, "got power 1.5, expected more than 0 and less than 1"),
        ({"power": nan}, "got power nan, expected more than 0 and less than 1"),
    ],
)
def test_impossible_options(options, said):
    with pytest.raises(UsageError) as caught:
        minimum_detectable_difference(np.zeros((3, 1)), **options)
    assert str(caught.value) == said


def test_one_resample_has_no_spread():
    with pytest.raises(UsageError, match="got 1 resamples, expected 2 or more"):
        minimum_detectable_difference(np.zeros((1, 1)))
