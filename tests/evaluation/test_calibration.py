"""Calibration: simulated scores whose calibration is known, loops over the definitions, and files without scores."""

import math

import numpy as np
import pytest
from scipy import stats

from truemoment import Annotations, Predictions
from truemoment.base.errors import UsageError
from truemoment.studies.evaluate.calibration import (
    FIRST,
    JudgedScores,
    auc,
    calibration,
    isotonic,
    rank_correlation,
    reliabilities,
)

N_VIDEOS, N_MOMENTS = 200, 5


def simulated(seed, mean_of):
    """Scores alike within videos, and IoUs of a beta distribution whose mean is a function of the score."""
    rng = np.random.default_rng(seed)
    video = np.repeat(np.arange(N_VIDEOS), N_MOMENTS)
    score = 0.6 * rng.random(N_VIDEOS)[video] + 0.4 * rng.random(len(video))
    mean = np.clip(mean_of(score), 1e-6, 1 - 1e-6)
    return reliability(score, rng.beta(4 * mean, 4 * (1 - mean)), video, rng, 200)


def reliability(score, outcome, video, rng, resamples):
    (found,) = reliabilities([JudgedScores("all", "IoU", score, outcome, video)], rng, resamples=resamples)
    return found


def test_a_perfect_score_has_no_error_beyond_chance():
    """The interval contains 0 in 95 % or more of 60 runs; ECE is that of chance on average, to 4 standard errors."""
    runs = [simulated(seed, lambda score: score) for seed in range(60)]
    assert sum(of.rmsce.ci95[0] > 0 for of in runs) <= (0.05 + 3 * math.sqrt(0.05 * 0.95 / 60)) * 60
    excess = np.array([of.ece_size - of.by_chance for of in runs])
    assert abs(excess.mean()) <= 4 * excess.std() / math.sqrt(60)


def test_an_overconfident_score_has_its_known_error():
    """Means are half the score: the error is half the mean score, 0.25 (scores have mean 0.5)."""
    runs = [simulated(seed, lambda score: score / 2) for seed in range(60)]
    assert np.mean([of.ece_size for of in runs]) == pytest.approx(0.25, abs=0.005)
    assert np.mean([of.overconfidence.value for of in runs]) == pytest.approx(0.25, abs=0.005)
    # Root of the mean square of half the bin means: each a tenth of 10 million scores, drawn as above.
    rng = np.random.default_rng(0)
    bins = np.sort(0.6 * rng.random(10**6) + 0.4 * rng.random(10**6)).reshape(10, -1).mean(axis=1)
    true = math.sqrt(np.mean((bins / 2) ** 2))
    assert np.mean([of.rmsce.value for of in runs]) == pytest.approx(true, abs=0.005)
    missed = sum(not of.rmsce.ci95[0] <= true <= of.rmsce.ci95[1] for of in runs)
    assert missed <= (0.05 + 3 * math.sqrt(0.05 * 0.95 / 60)) * 60


def test_errors_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    score, outcome, video = rng.random(300), rng.random(300), np.arange(300) // 3
    found = reliability(score, outcome, video, rng, 20)
    by_width = [[i for i in range(300) if min(int(10 * score[i]), 9) == b] for b in range(10)]
    by_size = np.argsort(score).reshape(10, 30).tolist()
    for bins, ece in ((by_width, found.ece_width), (by_size, found.ece_size)):
        expected = sum(abs(sum(outcome[i] - score[i] for i in of)) / 300 for of in bins)
        assert ece == pytest.approx(expected)
    assert found.count.tolist() == [len(of) for of in by_width]
    assert found.outcome == pytest.approx([np.mean(outcome[of]) for of in by_width])


def test_rank_correlation_and_auc_are_those_of_scipy():
    """scipy.stats: spearmanr; Mann-Whitney's U over the product of the counts."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(8, size=200).astype(float), rng.random(200).round(1)
    assert rank_correlation(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
    hit = b > 0.5
    u = stats.mannwhitneyu(a[hit], a[~hit]).statistic
    assert auc(a, hit, np.arange(200)).value == pytest.approx(u / (hit.sum() * (~hit).sum()))


def test_the_interval_of_the_auc_is_that_of_redrawn_videos():
    rng = np.random.default_rng(0)
    video = np.repeat(np.arange(80), 4)
    level = rng.normal(size=80)[video]
    score, hit = level + rng.normal(size=320), level + rng.normal(size=320) > 0.5
    found = auc(score, hit, video)
    drawn = []
    for _ in range(1000):
        rows = (4 * rng.integers(80, size=80)[:, None] + np.arange(4)).ravel()
        drawn.append(auc(score[rows], hit[rows], video[rows]).value)
    assert found.ci95[1] - found.ci95[0] == pytest.approx(2 * 1.96 * np.std(drawn), rel=0.1)


def test_the_map_is_that_of_scipy_from_the_other_half():
    """scipy.optimize.isotonic_regression over the classes, here one a score."""
    from scipy.optimize import isotonic_regression

    rng = np.random.default_rng(0)
    score = np.repeat(np.arange(20.0), 10)
    outcome, half = score / 20 + rng.normal(0, 0.3, 200), np.arange(200) % 2 == 0
    found = isotonic(score, outcome, half)
    means = [outcome[half & (score == of)].mean() for of in range(20)]
    fitted = isotonic_regression(means).x
    assert found[~half] == pytest.approx(fitted[score[~half].astype(int)])


def split(n_queries, n_moments, scores):
    rows, lists = [], {}
    for q in range(n_queries):
        rows.append((f"q{q}", f"v{q // 4}", 40.0, "a door opens", 0.0, 10.0))
        ends = (10.0 * scores[q]).tolist() if n_moments else []
        lists[f"q{q}"] = [(0.0, end, float(score)) for end, score in zip(ends, scores[q], strict=True)]
    return Annotations.from_rows(rows), lists


def test_scores_that_are_the_iou_are_perfect_and_shifted_ones_are_mapped():
    """Moments 0 to 10 s times the score have the score as their IoU; logits order the same moments."""
    scores = np.random.default_rng(0).uniform(0.05, 0.95, (200, 3))
    annotations, lists = split(200, 3, scores)
    own = calibration(annotations, Predictions.from_lists(lists), np.random.default_rng(0), resamples=50)
    assert not own.mapped
    assert [of.ece_width for of in own.reliabilities if of.target == "IoU"] == pytest.approx([0, 0], abs=1e-12)
    assert [of.rank_correlation for of in own.discriminations] == pytest.approx([1, 1])
    assert own.iou_at[0] > own.iou_at[-1] == pytest.approx(scores.max(axis=1).mean())
    logits = {q: [(s, e, math.log(p / (1 - p))) for s, e, p in of] for q, of in lists.items()}
    other = calibration(annotations, Predictions.from_lists(logits), np.random.default_rng(0), resamples=50)
    assert other.mapped
    assert [of.ece_width for of in other.reliabilities if of.target == "IoU"] == pytest.approx([0, 0], abs=0.03)
    assert [of.rank_correlation for of in other.discriminations] == pytest.approx([1, 1])


def test_queries_without_a_prediction_are_left_out():
    annotations, lists = split(8, 1, np.full((8, 1), 0.5))
    lists["q0"] = []
    del lists["q1"]
    found = calibration(annotations, Predictions.from_lists(lists), np.random.default_rng(0), resamples=20)
    assert (found.n_queries, found.left_out) == (6, 2)
    assert [of.moments for of in found.reliabilities] == [FIRST, FIRST]  # one moment each: all are top-1
    assert math.isnan(found.discriminations[0].rank_correlation)


def test_no_scores_and_a_single_video_are_refused():
    annotations, lists = split(4, 1, np.full((4, 1), 0.5))
    bare = Predictions.from_lists({q: [moment[:2] for moment in of] for q, of in lists.items()})
    with pytest.raises(UsageError, match="have no scores"):
        calibration(annotations, bare, np.random.default_rng(0))
    with pytest.raises(UsageError, match="found 1 videos"):
        calibration(annotations, Predictions.from_lists(lists), np.random.default_rng(0))
    with pytest.raises(UsageError, match="found 0 videos"):
        calibration(annotations, Predictions.from_lists({"q0": [], "q1": []}), np.random.default_rng(0))
