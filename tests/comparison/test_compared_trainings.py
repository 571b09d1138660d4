"""Differences over other videos and other trainings, against plain loops, SciPy and simulations."""

import numpy as np
import pytest
from scipy import stats

from truemoment.studies.compare.trainings import over_trainings

VIDEOS = ["a", "a", "a", "b", "c", "c", "d", "e", "e"]


def looped(first, second, video):
    """The variance of a difference, its degrees of freedom and shares, by the formulas, one number at a time."""
    names = sorted(set(video))
    n_videos = len(names)
    parts = []  # of each method: mean, parts of videos, of queries, B, C, S
    for runs in (first, second):
        figures = [sum(run.numerator[0]) / sum(run.weight[0]) for run in runs]
        of_query = [
            [(x - figure * w) / sum(run.weight[0]) for x, w in zip(run.numerator[0], run.weight[0], strict=True)]
            for run, figure in zip(runs, figures, strict=True)
        ]
        of_video = [[sum(u for u, v in zip(us, video, strict=True) if v == name) for name in names] for us in of_query]
        mean_video = [sum(column) / len(runs) for column in zip(*of_video, strict=True)]
        squares = sum((u - m) ** 2 for us in of_video for u, m in zip(us, mean_video, strict=True))
        count = len(runs)
        parts.append(
            (
                sum(figures) / count,
                mean_video,
                [sum(column) / count for column in zip(*of_query, strict=True)],
                np.var(figures, ddof=1) / count,
                squares * n_videos / (n_videos - 1) / (count * (count - 1)),
                count,
            )
        )
    (mean_a, video_a, query_a, b_a, c_a, s_a), (mean_b, video_b, query_b, b_b, c_b, s_b) = parts
    sampled = n_videos / (n_videos - 1) * sum((x - y) ** 2 for x, y in zip(video_a, video_b, strict=True))
    trained = max(b_a - c_a, 0) + max(b_b - c_b, 0)
    within, several = 0.0, 0
    for name in names:
        of = [x - y for x, y, v in zip(query_a, query_b, video, strict=True) if v == name]
        if len(of) > 1:
            within += len(of) * np.var(of, ddof=1)
            several += len(of)
    within = min(within * len(video) / several, sampled)
    total = sampled + trained
    freedom = max(total**2 / (sampled**2 / (n_videos - 1) + b_a**2 / (s_a - 1) + b_b**2 / (s_b - 1)), 1)
    return mean_a - mean_b, total, freedom, [within / total, (sampled - within) / total, trained / total]


def test_as_by_the_formulas(made_scores):
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 3, len(VIDEOS)).astype(float)
    methods = [
        [made_scores(VIDEOS, weight * rng.random(len(VIDEOS)) * shift, weight) for _ in range(runs)]
        for runs, shift in ((3, 1.0), (2, 0.5), (2, 0.8))
    ]
    pairs = [(0, 1), (0, 2)]
    tested = over_trainings(methods, pairs)
    for at, (i, j) in enumerate(pairs):
        difference, variance, freedom, share = looped(methods[i], methods[j], VIDEOS)
        p = 2 * stats.t.sf(abs(difference) / variance**0.5, freedom)
        margin = stats.t.isf(0.05 / 2 / 2, freedom) * variance**0.5  # two tests
        assert tested.p[at, 0] == pytest.approx(p, rel=1e-5)
        assert tested.p_corrected[at, 0] == pytest.approx(min(2 * p, 1), rel=1e-5)
        assert tested.interval[at, 0] == pytest.approx([difference - margin, difference + margin], rel=1e-5)
        assert tested.freedom[at, 0] == pytest.approx(freedom)
        assert tested.share[at, 0] == pytest.approx(share)


def simulated(rng, made_scores, *, n_videos, n_runs, video, run, rest, query):
    """Runs of one method: figures with normal effects of these standard deviations, two queries a video."""
    names = np.repeat([f"v{i}" for i in range(n_videos)], 2)
    of_video = rng.normal(0, video, n_videos)
    of_query = rng.normal(0, query, 2 * n_videos)
    return [
        made_scores(
            names,
            np.repeat(of_video + rng.normal(0, run) + rng.normal(0, rest, n_videos), 2) + of_query,
        )
        for _ in range(n_runs)
    ]


def test_the_variance_is_that_of_the_difference(made_scores):
    """Over worlds with known effects: 2 (video²/V + query²/2V + run²/S + rest²/SV), and each part of it."""
    rng, effects = np.random.default_rng(2), {"video": 0.3, "run": 0.06, "rest": 0.2, "query": 0.4}
    n_videos, n_runs = 30, 3
    errors, shares = [], []
    for _ in range(300):
        methods = [simulated(rng, made_scores, n_videos=n_videos, n_runs=n_runs, **effects) for _ in range(2)]
        tested = over_trainings(methods, [(0, 1)])
        margin = (tested.interval[0, 0, 1] - tested.interval[0, 0, 0]) / 2
        errors.append((margin / stats.t.isf(0.025, tested.freedom[0, 0])) ** 2)
        shares.append(tested.share[0, 0] * errors[-1])
    video, query, run, rest = (effects[name] ** 2 for name in ("video", "query", "run", "rest"))
    sampled = 2 * (video / n_videos + rest / (n_runs * n_videos))
    queries = 2 * query / (2 * n_videos)
    trained = 2 * run / n_runs
    found = np.mean(shares, axis=0)
    assert found[0] == pytest.approx(queries, rel=0.1)
    assert found[1] == pytest.approx(sampled, rel=0.1)
    assert found[2] == pytest.approx(trained, rel=0.2)
    assert np.mean(errors) == pytest.approx(queries + sampled + trained, rel=0.1)


def test_equal_methods_with_unequal_luck_are_not_told_apart(made_scores):
    """Trainings that differ by 5 points: a test over videos alone finds differences that another training undoes."""
    rng, found = np.random.default_rng(3), []
    for _ in range(200):
        methods = [
            simulated(rng, made_scores, n_videos=50, n_runs=3, video=0.0, run=0.05, rest=0.05, query=0.1)
            for _ in range(2)
        ]
        found.append(over_trainings(methods, [(0, 1)]).p[0, 0] <= 0.05)
    assert sum(found) <= stats.binom.isf(1e-4, 200, 0.05)


def test_one_run_counts_as_it_is(made_scores):
    # With one run of the other method the variance is that of the videos and of the two runs; with one of both, nothing
    # is known of trainings.
    runs = [made_scores(VIDEOS, np.arange(9) % 2 == side) for side in (0, 1)]
    both, one = over_trainings([runs, runs], [(0, 1)]), over_trainings([runs, runs[:1]], [(0, 1)])
    assert np.isfinite(one.p).all()
    assert (one.p != both.p).all()
    neither = over_trainings([runs[:1], runs[1:]], [(0, 1)])
    assert np.isnan(neither.p).all()
    assert np.isnan(neither.share).all()


def test_a_lucky_training_of_one_method_is_not_told_apart(made_scores):
    """One method has three trainings, the other a single one whose own training brings no luck."""
    rng, found = np.random.default_rng(4), []
    for _ in range(200):
        methods = [
            simulated(rng, made_scores, n_videos=50, n_runs=n, video=0.0, run=run, rest=0.05, query=0.1)
            for n, run in ((3, 0.05), (1, 0.0))
        ]
        found.append(over_trainings(methods, [(0, 1)]).p[0, 0] <= 0.05)
    assert sum(found) <= stats.binom.isf(1e-4, 200, 0.05)


def test_a_larger_family_widens_intervals(made_scores):
    runs = [made_scores(VIDEOS, np.arange(9) % 2 == side) for side in (0, 1)]
    alone, many = (over_trainings([runs, runs[:1]], [(0, 1)], family=family) for family in (1, 10))
    assert many.p_corrected[0, 0] == pytest.approx(min(1, 10 * alone.p[0, 0]))
    assert np.diff(many.interval) > np.diff(alone.interval)


def test_one_video_and_equal_runs_have_no_interval(made_scores):
    one = [made_scores(["a", "a"], [1, 0]), made_scores(["a", "a"], [1, 1])]
    assert np.isnan(over_trainings([one, one], [(0, 1)]).p).all()
    same = [made_scores(VIDEOS, [1] * 9)] * 2
    assert np.isnan(over_trainings([same, same], [(0, 1)]).interval).all()
