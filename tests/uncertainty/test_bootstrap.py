"""Intervals by resampling videos, against slow loops."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from truemoment import Annotations, Predictions, get_protocol, parse_measures
from truemoment.base.errors import UsageError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.uncertainty import (
    bootstrap,
    check_paired,
    interval95,
    resample_figures,
    resample_sums,
    sums_by_video,
)

nan = float("nan")


def test_sums_by_video_by_hand(made_scores):
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
        monkeypatch.setattr("truemoment.evaluation.uncertainty.BLOCK_DRAWS", block)  # cutting the work changes no draw
    figures = bootstrap(scores, np.random.default_rng(42), resamples=60)
    # The same draws: numbers of videos, in order of first appearance.
    videos = list(dict.fromkeys(scores.video_id))
    rng = np.random.default_rng(42)
    draws = [rng.integers(len(videos), size=len(videos)).tolist() for _ in range(60)]
    expected = np.full((60, 4), nan)
    for i, draw in enumerate(draws):
        for row in range(4):
            total = weight = Fraction(0)
            for number in draw:
                for q in np.flatnonzero(scores.video_id == videos[number]):
                    total += Fraction(scores.numerator[row, q])
                    weight += Fraction(scores.weight[row, q])
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


def test_queries_of_a_video_move_together(made_scores):
    # Two videos, all queries of one right, all of the other wrong: a resample draws 0, 1/2 or 1, never in between.
    scores = made_scores(["a"] * 5 + ["b"] * 5, [1.0] * 5 + [0.0] * 5)
    figures = bootstrap(scores, np.random.default_rng(0), resamples=400)[:, 0]
    values, counts = np.unique(figures, return_counts=True)
    assert values.tolist() == [0.0, 0.5, 1.0]
    # Binomial(2, 1/2): 1/4, 1/2, 1/4 of 400. Five standard deviations of 100 draws' count: 5 sqrt(400 / 4 x 3 / 4).
    assert np.all(np.abs(counts - [100, 200, 100]) < 5 * np.sqrt([75, 100, 75]))


def test_a_resample_without_weight_is_undefined(made_scores):
    # Only video b has a reference of the class; about (1/2)^2 of the resamples do not draw it.
    scores = made_scores(["a", "b"], [0, 1], [0, 1])
    figures = bootstrap(scores, np.random.default_rng(0), resamples=200)[:, 0]
    assert set(figures[~np.isnan(figures)].tolist()) == {1.0}
    assert 20 < np.isnan(figures).sum() < 80
    assert np.isnan(interval95(figures[:, None])).all()


def test_a_measure_without_any_weight_stays_undefined(made_scores):
    scores = made_scores(["a", "b"], [0, 0], [0, 0])
    figures = bootstrap(scores, np.random.default_rng(0), resamples=10)
    assert np.isnan(figures).all()
    (figure,) = scores.measured(interval95(figures))
    assert (figure.value, figure.ci95) == (None, None)


@pytest.mark.parametrize("resamples", [-1, 0, 1])
def test_too_few_resamples(made_scores, resamples):
    with pytest.raises(UsageError) as caught:
        bootstrap(made_scores(["a"], [1]), np.random.default_rng(0), resamples=resamples)
    assert str(caught.value) == f"got {resamples} resamples, expected 2 or more"


def test_sums_are_resampled_as_figures_are(made_scores):
    scores = made_scores(["b", "a", "b", "c"], [[1, 0, 0.5, 0.25]], [[1, 1, 1, 1]], "mIoU")
    sums = np.concatenate(sums_by_video(scores), axis=1)
    numerator, weight = resample_sums(sums, np.random.default_rng(3), resamples=20).T
    figures = resample_figures([scores], np.random.default_rng(3), resamples=20)
    np.testing.assert_allclose(numerator / weight, figures[:, 0, 0], rtol=1e-13)  # the same draws
    with pytest.raises(UsageError, match=r"^got 1 resamples, expected 2 or more$"):
        resample_sums(sums, np.random.default_rng(3), resamples=1)


def test_two_resamples_are_enough(made_scores):
    assert bootstrap(made_scores(["a"], [1]), np.random.default_rng(0), resamples=2).tolist() == [[1.0], [1.0]]


def test_interval95_by_hand():
    # 0..1000: the 2.5th percentile is 25, the 97.5th 975; a column that is ever undefined has none.
    figures = np.stack([np.arange(1001.0)[::-1], np.where(np.arange(1001) == 5, nan, 1.0)], axis=1)
    assert interval95(figures).tolist()[0] == [25.0, 975.0]
    assert np.isnan(interval95(figures)[1]).all()


def test_coverage_is_near_95_percent(made_scores):
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


# ------------------------------------------------------------------------------------ several systems


MEASURES = "R@1,IoU=0.3; mIoU; R@1,IoU=0.3[ref=rows]; mAP,length=middle"


def three_systems(world, seed, protocol=None):
    """Scores of three prediction files on the same annotations: those of a world, the same moved, and none at all."""
    w = world(seed, n_queries=25)
    moved = {q: [(float(s) + 1, float(e) + 1, score) for s, e, score in m] for q, m in w.filed.items()}
    files = (w.predictions, Predictions.from_lists(moved), Predictions.from_lists({}))
    return [evaluate(w.annotations, answers, MEASURES, protocol) for answers in files]


@pytest.mark.parametrize("protocol", ["default", "default,missing=drop"])
def test_paired_figures_are_those_of_each_system_alone(world, protocol):
    # The same seed draws the same videos however many systems there are. 1e-13: other order of summation.
    systems = three_systems(world, 12, protocol)
    together = resample_figures(systems, np.random.default_rng(5), resamples=40)
    assert together.shape == (40, 3, 4)
    for s, scores in enumerate(systems):
        alone = bootstrap(scores, np.random.default_rng(5), resamples=40)
        assert together[:, s] == pytest.approx(alone, rel=1e-13, abs=1e-15, nan_ok=True)


def test_a_paired_difference_against_a_slow_loop(world):
    a, b, _ = three_systems(world, 13, "default,missing=drop")
    figures = resample_figures([a, b], np.random.default_rng(1), resamples=30)
    videos = list(dict.fromkeys(a.video_id))
    rng = np.random.default_rng(1)
    draws = [rng.integers(len(videos), size=len(videos)).tolist() for _ in range(30)]
    for i, draw in enumerate(draws):
        drawn = [videos[number] for number in draw]
        for row in range(4):
            means = []
            for scores in (a, b):
                queries = [q for v in drawn for q in np.flatnonzero(scores.video_id == v)]
                weight = sum(Fraction(scores.weight[row, q]) for q in queries)
                total = sum(Fraction(scores.numerator[row, q]) for q in queries)
                means.append(total / weight if weight else None)
            expected = nan if None in means else float(means[0] - means[1])
            # 1e-14: two quotients near 1, each rounded.
            assert figures[i, 0, row] - figures[i, 1, row] == pytest.approx(expected, abs=1e-14, nan_ok=True)


def test_a_paired_interval_is_narrower_than_one_of_independent_figures(made_scores):
    # b is a and 0.01 more on every query: the difference does not vary at all, the figures do.
    rng = np.random.default_rng(3)
    values = rng.random(50)
    videos = [f"v{i}" for i in range(50)]
    a, b = made_scores(videos, values), made_scores(videos, values + 0.01)
    figures = resample_figures([a, b], rng, resamples=200)
    low, high = interval95(figures[:, 1] - figures[:, 0])[0]
    assert (low, high) == pytest.approx((0.01, 0.01), abs=1e-14)
    low, high = interval95(figures[:, 0])[0]
    assert high - low > 0.05


def test_interval95_over_several_axes():
    figures = np.random.default_rng(0).random((101, 3, 2))
    figures[7, 2, 1] = nan
    intervals = interval95(figures)
    assert intervals.shape == (3, 2, 2)
    for s in range(3):
        assert np.array_equal(intervals[s], interval95(figures[:, s]), equal_nan=True)
    assert np.isnan(intervals).sum() == 2


def test_intervals_against_scipy(made_scores):
    # One query a video: SciPy's paired percentile bootstrap draws rows as we draw videos. Each end has a Monte Carlo
    # error of sqrt(0.025 x 0.975 / 20000) / 0.058 = 0.019 standard errors of the mean (0.058: the normal density at
    # the quantile); 5 of its two-sample kind are 0.13.
    from scipy import stats

    rng = np.random.default_rng(8)
    x, y = rng.random(200), rng.random(200) ** 2

    def difference(x, y, axis):
        return x.mean(axis=axis) - y.mean(axis=axis)

    wanted = stats.bootstrap(
        (x, y), difference, paired=True, vectorized=True, n_resamples=20_000, method="percentile", rng=rng
    )
    videos = [f"v{i}" for i in range(200)]
    figures = resample_figures([made_scores(videos, x), made_scores(videos, y)], rng, resamples=20_000)
    differences = figures[:, 0] - figures[:, 1]
    error = (x - y).std() / np.sqrt(200)
    assert interval95(differences)[0] == pytest.approx(tuple(wanted.confidence_interval), abs=0.13 * error)
    # Relative Monte Carlo error of a standard deviation of N draws: 1 / sqrt(2 N) = 0.005, five of its two-sample kind.
    assert differences.std(ddof=1) == pytest.approx(wanted.standard_error, rel=5 * 0.005 * np.sqrt(2))


def test_coverage_of_a_paired_difference(two_systems):
    # 200 worlds of 60 videos with a true difference of 0.03; bounds as in test_coverage_is_near_95_percent.
    rng = np.random.default_rng(21)
    held = 0
    for _ in range(200):
        figures = resample_figures(two_systems(rng, 60, 0.03), rng, resamples=200)
        low, high = interval95(figures[:, 0] - figures[:, 1])[0]
        held += low <= 0.03 <= high
    assert held >= 190 - 5 * np.sqrt(200 * 0.95 * 0.05)


def test_progress_only_where_asked_and_where_there_is_much_to_do(made_scores, monkeypatch, capsys):
    scores = made_scores(["a", "b"], [1, 0])
    for block, progress, shown in ((4, True, True), (4, False, False), (1000, True, False)):
        monkeypatch.setattr("truemoment.evaluation.uncertainty.BLOCK_DRAWS", block)
        resample_figures([scores], np.random.default_rng(0), resamples=40, progress=progress)
        out, err = capsys.readouterr()
        assert out == ""
        assert ("resampling" in err) is shown


def test_the_order_of_a_video_s_queries_does_not_matter(made_scores):
    rng = np.random.default_rng(2)
    values, weight = rng.random((1, 12)), rng.integers(0, 3, (1, 12))
    videos = np.array(list("aabbccabcabc"))
    order = [1, 0, 3, 2, 4, 9, 6, 10, 8, 5, 7, 11]  # videos still come first in the order a, b, c
    one = bootstrap(made_scores(videos, values, weight), np.random.default_rng(0), resamples=20)
    other = bootstrap(
        made_scores(videos[order], values[:, order], weight[:, order]), np.random.default_rng(0), resamples=20
    )
    assert other == pytest.approx(one, rel=1e-14)


class TestWhatCannotBePaired:
    @pytest.fixture
    def scores(self, made_scores):
        return made_scores(["a", "b"], [1, 0])

    def test_the_same_can(self, scores):
        check_paired([scores, dataclasses.replace(scores, numerator=scores.numerator * 0, touched={"x": 1})])

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"dataset": "tacos"}, "scores 2 have dataset tacos, expected own as in scores 0; only answers to"),
            ({"split": "val"}, "scores 2 have split val, expected all as in scores 0;"),
            ({"annotations_sha256": "ab" * 32}, "scores 2 have annotations #abababab, expected # as in scores 0;"),
            ({"measures": parse_measures("AP@1,IoU=0.5")}, "scores 2 have measures AP@1,IoU=0.5, expected mIoU as"),
            (
                {"protocol": get_protocol("default,top=1")},
                "scores 2 have convention protocol:default,top=1|hit:IoU>m|tie:1e-09|iou:hull,float64|times:seconds|"
                "top:1|rank:score|ref:nearest|missing:worst, expected protocol:default|hit:IoU>m|",
            ),
            (
                {"query_id": np.array(["q0", "x"], dtype=object)},
                "scores 2 have query 'x' in place 1, expected 'q1' as in scores 0; only answers to the same queries,",
            ),
            (
                {"query_id": np.array(["q1", "q0"], dtype=object)},
                "scores 2 have query 'q1' in place 0, expected 'q0' as in scores 0;",
            ),
        ],
    )
    def test_what_differs_is_named(self, scores, changes, said):
        with pytest.raises(UsageError) as caught:
            check_paired([scores, scores, dataclasses.replace(scores, **changes)])
        assert str(caught.value).startswith(said)

    def test_number_of_queries(self, scores, made_scores):
        with pytest.raises(UsageError, match="scores 1 have queries 1 in number, expected 2 in number as in scores 0"):
            resample_figures([scores, made_scores(["a"], [1])], np.random.default_rng(0))

    def test_nothing(self):
        with pytest.raises(UsageError, match="got no scores, expected one or more"):
            resample_figures([], np.random.default_rng(0))
