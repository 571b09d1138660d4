"""PredictAll, BestConstant, Bias-based: one answer for all queries; and the helpers they share."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions, Queries, parse_measure, parse_measures
from truemoment.base.density import Density
from truemoment.base.errors import InputError, MeasureError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.baselines import BestConstant, BiasBased, PredictAll
from truemoment.baselines.base import NMS_THRESHOLD, answers, grid_of_moments, locations, rank_constants
from truemoment.baselines.best_constant import best_constants
from truemoment.baselines.bias_based import reflected
from truemoment.baselines.targets import moment_shares
from truemoment.evaluation.evaluate import evaluate

nan = float("nan")


def shares(predictions, queries):
    """Answers as (start, end) shares of the video, by query."""
    duration_s = np.repeat(queries.duration_s, predictions.lengths)
    table = np.stack([predictions.start_s / duration_s, predictions.end_s / duration_s], axis=1)
    return [table[low:high].tolist() for low, high in zip(predictions.offsets, predictions.offsets[1:], strict=False)]


def greedy(moments, threshold=NMS_THRESHOLD):
    """Non-maximum suppression one by one: drop what overlaps a kept one by more than the threshold.

    Moments on a grid stand on the threshold often, e.g. 9/20 of the video in the whole; 1e-9 decides these as exact
    arithmetic does, since other quotients of such numbers differ from 0.45 by more.
    """
    kept = []
    for k, (start, end) in enumerate(moments):
        if all(slow_iou(start, end, *moments[j]) <= threshold + 1e-9 for j in kept):
            kept.append(k)
    return kept


def slow_iou(a_start, a_end, b_start, b_end):
    """Intersection over hull, with which two overlapping moments have the union too."""
    overlap = min(a_end, b_end) - max(a_start, b_start)
    return overlap / (max(a_end, b_end) - min(a_start, b_start)) if overlap > 0 else 0.0


# ---- What they share


def test_locations_against_a_slow_loop(world):
    rows = [("n#0", "n", nan, "s", 1.0, 2.0), ("z#0", "z", 0.0, "s", 1.0, 2.0)]
    for seed in range(8):  # these hold swapped, empty and past-the-end moments, several a query
        a = world(seed).annotations
        rows += [
            (f"{seed}{q}", f"{seed}{v}", d, "s", s, e, r)
            for q, v, d, s, e, r in zip(
                a.query_id, a.video_id, a.duration_s, a.start_s, a.end_s, a.annotator, strict=True
            )
        ]
    annotations = Annotations.from_rows([(*row, "")[:7] for row in rows])
    expected, kept = [], []
    for number, (_, _, duration_s, _, start_s, end_s, _) in enumerate((*row, "")[:7] for row in rows):
        if not duration_s > 0:
            continue
        start, end = (min(max(t / duration_s, 0.0), 1.0) for t in (start_s, end_s))
        if start < end:
            expected.append([start, end])
            kept.append(number)
    points, row = locations(annotations)
    assert points.tolist() == expected
    assert row.tolist() == kept
    assert 100 < len(kept) < len(rows) - 40  # the worlds hold both kinds


def test_locations_clip_negative_times():
    annotations = Annotations.from_rows([("a", "v", 10.0, "s", -4.0, 5.0), ("b", "v", 10.0, "s", -4.0, -1.0)])
    points, row = locations(annotations)
    assert (points.tolist(), row.tolist()) == ([[0.0, 0.5]], [0])


@pytest.mark.parametrize(("step", "n"), [(0.05, 20), (0.1, 10), (0.25, 4), (1.0, 1), (0.01, 100)])
def test_grid(step, n):
    # All pairs of n + 1 ends; in order of start, then of end.
    expected = [[i / n, j / n] for i in range(n + 1) for j in range(i + 1, n + 1)]
    np.testing.assert_allclose(grid_of_moments(step), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("step", [0.0, 0.001, 1.5, -0.1, nan])
def test_impossible_steps(step):
    with pytest.raises(UsageError, match=r"expected 0\.01 to 1$"):
        grid_of_moments(step)


@pytest.mark.parametrize("step", [0.03, 0.07, 0.7])
def test_a_step_that_does_not_divide_the_video_is_kept_or_refused(step):
    # "All moments whose ends are multiples of `step_norm`": not of another step nearby.
    try:
        grid = grid_of_moments(step)
    except UsageError:
        return
    assert np.allclose(np.round(grid / step) * step, grid, rtol=0, atol=1e-12)


@given(st.integers(0, 9999), st.integers(1, 40))
def test_rank_constants_against_a_slow_loop(seed, n):
    rng = np.random.default_rng(seed)
    moments = np.sort(rng.integers(0, 12, (n, 2)) / 12, axis=1) + np.array([0.0, 1 / 24])
    score = rng.integers(0, 6, n).astype(float)
    score[rng.random(n) < 0.2] = nan
    order = sorted(range(n), key=lambda k: math.inf if math.isnan(score[k]) else -score[k])  # sorted() is stable
    ranked = [moments[k].tolist() for k in order]
    expected = [[*ranked[k], 0.0 if math.isnan(score[order[k]]) else score[order[k]]] for k in greedy(ranked)]
    assert rank_constants(moments, score).tolist() == expected


def test_answers_keep_the_first_of_those_kept():
    queries = Queries(["a", "b"], ["v", "w"], [10.0, 20.0], ["s", "s"])
    start, end, score = (np.array([row]) for row in ([0.0, 0.1, 0.2, 0.3], [0.5, 0.6, 0.7, 0.8], [4.0, 3.0, 2.0, 1.0]))
    kept = np.array([[True, False, True, True], [False, False, False, True]])
    predictions = answers(queries, start, end, score, kept, top=2, name="it")
    assert predictions.offsets.tolist() == [0, 2, 3]
    assert predictions.start_s.tolist() == pytest.approx([0.0, 2.0, 6.0])  # 0, 0.2 of 10 s; 0.3 of 20 s
    assert predictions.end_s.tolist() == pytest.approx([5.0, 7.0, 16.0])
    assert predictions.score.tolist() == [4.0, 2.0, 1.0]
    assert predictions.name == "it"


# ---- PredictAll


def test_predict_all(asked):
    queries = asked.queries
    predictions = PredictAll().ground(queries, top=7)
    assert predictions.start_s.tolist() == [0.0] * len(queries)
    assert predictions.end_s.tolist() == queries.duration_s.tolist()


# ---- BestConstant


@pytest.mark.parametrize("protocol", ["default", "closer-look", "moment-detr", "default,references=rows"])
def test_the_best_constant_by_trying_each(asked, protocol):
    measures = parse_measures("R@1,IoU=0.3; dR@1,IoU=0.3; mIoU; R@1,IoU=0.5[ref=first]; mAP")
    grid = grid_of_moments(0.1)
    queries = asked.queries
    tried = []
    for start, end in grid:
        lists = {
            q: [(start * duration_s, end * duration_s)]
            for q, duration_s in zip(queries.query_id, queries.duration_s, strict=True)
        }
        scores = evaluate(asked, Predictions.from_lists(lists), measures, protocol)
        tried.append([scores.value(measure) for measure in measures])
    found = best_constants(measures, asked, protocol=protocol, step_norm=0.1)
    for m, (measure, fitted) in enumerate(zip(measures, found, strict=True)):
        figures = [row[m] for row in tried]
        best = max(figures)
        first = next(c for c, figure in enumerate(figures) if figure >= best - 1e-12)
        assert fitted.ranked[0].tolist() == pytest.approx([*grid[first], best], abs=1e-12)
        of_grid = {tuple(moment): figure for moment, figure in zip(grid.tolist(), figures, strict=True)}
        assert fitted.ranked[:, 2].tolist() == pytest.approx([of_grid[s, e] for s, e, _ in fitted.ranked], abs=1e-12)
        assert np.all(np.diff(fitted.ranked[:, 2]) <= 0)
        alone = BestConstant(str(measure), protocol, 0.1).fit(asked)
        assert np.array_equal(alone.ranked, fitted.ranked)
        assert alone.measure == measure


def test_ties_go_to_the_earliest_then_the_shortest(at_shares):
    # By hand: two references that no answer can hit both, so every constant scores 0 or 1/2. Of those that start at 0,
    # (0, 0.15) is the first with an IoU over 1/2 with (0, 0.25): 0.6; (0, 0.1) has 0.4.
    fitted = BestConstant("R@1,IoU=0.5").fit(at_shares([(0.0, 0.25), (0.5, 0.75)]))
    assert fitted.ranked[0].tolist() == pytest.approx([0.0, 0.15, 0.5])
    assert fitted.name == "best constant (0-15 % of the video)"
    assert BestConstant("mIoU").name == "best constant for mIoU"


def test_its_answers_are_the_ranked_ones(asked):
    fitted = BestConstant("mIoU", step_norm=0.1).fit(asked)
    found = shares(fitted.ground(asked.queries, 3), asked.queries)
    expected = fitted.ranked[:3, :2]
    for query in found:
        np.testing.assert_allclose(query, expected, rtol=0, atol=1e-15)
    for a in range(3):
        for b in range(a):
            assert slow_iou(*expected[a], *expected[b]) <= 0.45 + 1e-9  # module docstring of base: NMS at 0.45


def test_best_on_its_own_split():
    # "Nothing that never looks at video and query can beat it there": no other constant of its grid does.
    rng = np.random.default_rng(2)
    rows = [(f"q{k}", f"v{k}", 50.0, "s", 50 * a, 50 * a + 12.5) for k, a in enumerate(0.4 * rng.random(40) ** 2)]
    train = Annotations.from_rows(rows)
    fitted = BestConstant("R@1,IoU=0.7").fit(train)
    best = evaluate(train, fitted.ground(train.queries, 1), "R@1,IoU=0.7").value("R@1,IoU=0.7")
    assert best == fitted.ranked[0, 2]
    for start, end in grid_of_moments(0.05)[::7]:
        other = Predictions.from_lists({f"q{k}": [(50 * start, 50 * end)] for k in range(40)})
        assert evaluate(train, other, "R@1,IoU=0.7").value("R@1,IoU=0.7") <= best


def test_a_measure_that_is_undefined_there_is_refused(at_shares):
    # No reference is longer than 30 s, so every constant's figure is NaN: none is best.
    with pytest.raises(MeasureError):
        BestConstant("R@1,IoU=0.5,length=long").fit(at_shares([(0.0, 0.25), (0.5, 0.75)]))


def test_no_annotations_have_no_best_constant(at_shares):
    nothing = at_shares([(0.0, 0.25)]).select_queries(np.array([False]))
    with pytest.raises((InputError, MeasureError)):
        BestConstant("mIoU").fit(nothing)


def test_what_it_cannot_be_best_for(at_shares):
    train = at_shares([(0.0, 0.25), (0.5, 0.75)])
    with pytest.raises(MeasureError, match="rates no clips"):
        BestConstant("HL-mAP,min=Good").fit(train)
    with pytest.raises(MeasureError, match="nonsense"):
        BestConstant("nonsense").fit(train)
    with pytest.raises(MeasureError, match="duration"):
        BestConstant("mIoU").fit(Annotations.from_rows([("a", "v", nan, "s", 0.0, 5.0)]))


def test_the_same_measure_twice(at_shares):
    train, measure = at_shares([(0.0, 0.25), (0.5, 0.75)]), parse_measure("mIoU")
    twice = best_constants([measure, measure], train)
    assert [fitted.name for fitted in twice] == [BestConstant("mIoU").fit(train).name] * 2


def test_the_name_says_which_constant_it_is(at_shares):
    # On a grid of 2.5 % the best is (0.225, 0.475), the reference itself.
    fitted = BestConstant("mIoU", step_norm=0.025).fit(at_shares([(0.225, 0.475)] * 2))
    assert fitted.ranked[0].tolist() == pytest.approx([0.225, 0.475, 1.0])
    assert fitted.name == "best constant (22.5-47.5 % of the video)"


# ---- Bias-based


def slow_density(points, place):
    """Kernel density with SciPy's bandwidth at one place: the formula of truemoment.base.density, term by term."""
    n = len(points)
    covariance = np.cov(points, rowvar=False) * n ** (-1 / 3)
    inverse = np.linalg.inv(covariance)
    total = 0.0
    for point in points:
        z = place - point
        total += math.exp(-float(z @ inverse @ z) / 2)
    return total / (n * math.tau * math.sqrt(np.linalg.det(covariance)))


def slow_reflected(points, s, e):
    """The four images of the module's formula, one by one."""
    images = [(s, e), (-s, e), (s, 2 - e), (-s, 2 - e)]
    return sum(slow_density(points, np.array(image)) for image in images)


@pytest.fixture(scope="session")
def at_the_edges():
    """30 moments: a third begin at 0, a third end at 1, one is the whole video."""
    rng = np.random.default_rng(3)
    points = np.sort(0.05 + 0.9 * rng.random((30, 2)), axis=1)
    points[:10, 0] = 0
    points[10:20, 1] = 1
    points[20] = (0, 1)
    return points


def test_reflected_against_a_slow_loop(at_the_edges):
    density = Density.fit(at_the_edges)
    rng = np.random.default_rng(4)
    places = np.concatenate([np.sort(rng.random((15, 2)), axis=1), [[0, 0], [0, 1], [1, 1], [0.3, 0.3]]])
    expected = [slow_reflected(at_the_edges, s, e) for s, e in places.tolist()]
    np.testing.assert_allclose(reflected(density, *places.T), expected, rtol=1e-12)


def test_reflection_puts_all_the_mass_back(at_the_edges):
    """Two mirrors at right angles: the images of the quadrant start >= 0, end <= 1 fill the plane, each place once.

    So the reflected density integrates to 1 over it. 200 Gauss-Legendre nodes an axis on a box of two reach far enough
    for kernels of these widths, and integrate them to rounding.
    """
    points = np.concatenate([at_the_edges, [[0.0, 0.02], [0.98, 1.0], [0.9, 0.95]]])
    density = Density(points, np.array([[0.08**2, 0.003], [0.003, 0.12**2]]))
    node, weight = np.polynomial.legendre.leggauss(200)
    node = node + 1  # from (-1, 1) to (0, 2)
    start, end = np.meshgrid(node, 1 - node, indexing="ij")
    values = reflected(density, start.ravel(), end.ravel()).reshape(start.shape)
    assert float(weight @ values @ weight) == pytest.approx(1, abs=1e-12)


def test_nothing_is_reflected_at_the_diagonal():
    """Far from the mirrors the reflected density is the plain one, short moments included."""
    density = Density(np.array([[0.5, 0.505], [0.3, 0.7]]), np.diag([0.02**2, 0.02**2]))
    places = np.array([[0.5, 0.51], [0.5, 0.5], [0.3, 0.7], [0.45, 0.6]])
    np.testing.assert_allclose(reflected(density, *places.T), density.evaluate(places), rtol=1e-12)


@pytest.mark.parametrize("reflect", [True, False])
def test_the_mode_by_a_slow_search(at_shares, at_the_edges, reflect):
    height = slow_reflected if reflect else lambda points, s, e: slow_density(points, np.array([s, e]))
    grid = [(i / 20, j / 20) for i in range(21) for j in range(i + 1, 21)]
    found = [height(at_the_edges, s, e) for s, e in grid]
    order = sorted(range(len(grid)), key=lambda c: -found[c])
    kept = greedy([grid[c] for c in order])
    expected = [[*grid[order[k]], found[order[k]]] for k in kept]
    fitted = BiasBased(reflect=reflect, step_norm=0.05).fit(at_shares(at_the_edges.tolist()))
    np.testing.assert_allclose(fitted.ranked, expected, rtol=1e-9, atol=1e-15)
    assert not np.allclose(fitted.ranked[0, :2], expected[1][:2])


def test_the_bandwidth_is_used(at_shares, at_the_edges):
    # A narrow kernel finds the commonest moment to a percent; Scott's finds the middle of a broad heap.
    commonest = [(0.37, 0.62)] * 8
    train = at_shares([*at_the_edges.tolist(), *commonest])
    assert BiasBased(bandwidth=0.02).fit(train).ranked[0, :2].tolist() == [0.37, 0.62]


def test_its_answers_are_the_mode_then_the_next(at_shares, at_the_edges, asked):
    fitted = BiasBased(step_norm=0.05).fit(at_shares(at_the_edges.tolist()))
    found = shares(fitted.ground(asked.queries, 4), asked.queries)
    for query in found:
        np.testing.assert_allclose(query, fitted.ranked[:4, :2], rtol=0, atol=1e-15)
    start, end = fitted.ranked[:, 0], fitted.ranked[:, 1]
    iou = temporal_iou(start[:, None], end[:, None], start, end)
    assert iou[~np.eye(len(start), dtype=bool)].max() <= 0.45 + 1e-9  # the docstring of ground()


def test_references_as_shares_are_clipped_to_the_video():
    rows = [("a", "v", 40.0, "s", 10.0, 50.0), ("b", "v", 40.0, "s", 45.0, 50.0)]
    shares = moment_shares(Annotations.from_rows(rows))
    assert shares[0].tolist() == [0.25, 1.0]
    assert np.isnan(shares[1]).all()
