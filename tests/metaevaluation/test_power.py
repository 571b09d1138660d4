"""Discriminative power: tests held against permutations and loops, numbers of queries against simulated test sets."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest

from truemoment import Annotations, Predictions, get_protocol, parse_measures
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import as_strings
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import holm, paired_permutation, permutation_p_values, sums_by_video
from truemoment.studies.meta.power import Power, power, queries_needed
from truemoment.studies.meta.systems import Systems

MEASURES = "R@1,IoU=0.5; R@1,IoU=0.7; R@2,IoU=0.5; AxIoU@2"


def answered(seed: int, *, n_systems: int = 4, n_videos: int = 60, each: int = 3, step: float = 0.15) -> Systems:
    """Evaluate systems of two answers a query on random annotations; errors are larger on hard videos for all."""
    rng = np.random.default_rng(seed)
    start = rng.uniform(0, 20, n_videos * each)
    end = start + rng.uniform(2, 9, n_videos * each)
    names = [(f"v{at % n_videos}#{at // n_videos}", f"v{at % n_videos}") for at in range(n_videos * each)]
    annotations = Annotations.from_rows(
        [(*name, 40.0, "it rains", float(s), float(e)) for name, s, e in zip(names, start, end, strict=True)]
    )
    hard = rng.uniform(0.5, 2, n_videos)[np.arange(n_videos * each) % n_videos, None, None]
    systems = {}
    for number in range(n_systems):
        moved = np.stack([start, end], axis=1)[:, None] + hard * rng.normal(0, 1 + step * number, (len(start), 2, 2))
        answers = {name: np.abs(moved[at]).tolist() for at, (name, _) in enumerate(names)}
        systems[f"s{number}"] = evaluate(annotations, Predictions.from_lists(answers), MEASURES)
    return Systems(systems)


def systems_of(numerator: Floats, weight: Floats | None = None, *, each: int = 1, measures: str = "mIoU") -> Systems:
    """Systems of numerators and weights (S, M, Q), `each` queries a video."""
    parsed = parse_measures(measures)
    weight = np.ones_like(numerator) if weight is None else weight
    query_id = as_strings([f"q{at}" for at in range(numerator.shape[2])], "query_id")
    video_id = as_strings([f"v{at // each}" for at in range(numerator.shape[2])], "video_id")
    return Systems(
        {
            f"s{number}": Scores(
                measures=parsed,
                protocol=get_protocol("default"),
                query_id=query_id,
                video_id=video_id,
                numerator=numerator[number],
                weight=weight[number],
                on_threshold=np.full(len(parsed), -1),
            )
            for number in range(len(numerator))
        }
    )


def ragged(seed: int) -> Systems:
    """Systems with weights of their own: some leave queries out."""
    rng = np.random.default_rng(seed)
    weight = (rng.random((3, 1, 200)) < 0.9).astype(np.float64)
    return systems_of(weight * rng.random((3, 1, 200)) * [[[1]], [[0.95]], [[1]]], weight, each=4)


SYSTEMS = answered(0)


def study(systems: Systems = SYSTEMS, seed: int = 0, **choices: object) -> Power:
    return power(systems, np.random.default_rng(seed), **{"repetitions": 10, **choices})


def slow(a: Scores, b: Scores, row: int) -> tuple[float, float, float]:
    """Difference, p and variance of a pair by one measure, video by video, from the formulas of the module."""
    sums = {}
    for name, one in (("a", a), ("b", b)):
        for video, x, w in zip(one.video_id, one.numerator[row], one.weight[row], strict=True):
            of_video = sums.setdefault(video, {"a": [0.0, 0.0], "b": [0.0, 0.0]})
            of_video[name][0] += x
            of_video[name][1] += w
    total = {name: [sum(of[name][part] for of in sums.values()) for part in (0, 1)] for name in "ab"}
    figure = {name: total[name][0] / total[name][1] for name in "ab"}
    middle = (figure["a"] + figure["b"]) / 2
    swapped = around = 0.0
    for of in sums.values():
        (xa, wa), (xb, wb) = of["a"], of["b"]
        swapped += ((xa - middle * wa) / total["a"][1] - (xb - middle * wb) / total["b"][1]) ** 2
        around += ((xa - figure["a"] * wa) / total["a"][1] - (xb - figure["b"] * wb) / total["b"][1]) ** 2
    difference = figure["a"] - figure["b"]
    counts = all(x == round(x) for one in (a, b) for x in one.numerator[row])  # half a step for measures that count
    away = max(abs(difference) - counts / total["a"][1], 0)
    p = 2 * NormalDist().cdf(-away / math.sqrt(swapped)) if swapped else 1.0
    return difference, p, around * len(sums) / (len(sums) - 1)


@pytest.mark.parametrize("systems", [SYSTEMS, answered(1, each=1), ragged(0)], ids=["clustered", "single", "ragged"])
def test_tests_of_all_pairs_are_those_of_a_loop_over_videos(systems):
    found = study(systems)
    for pair, (a, b) in enumerate(combinations(systems.scores.values(), 2)):
        for row in range(len(systems.measures)):
            expected = slow(a, b, row)
            came = (found.whole.difference[pair, row], found.whole.p[pair, row], found.whole.variance[pair, row])
            assert came == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert found.p_holm.tolist() == holm(found.whole.p).tolist()


@pytest.mark.slow
def test_p_values_are_near_those_of_permutations_on_data_of_real_size():
    systems = answered(2, n_systems=6, n_videos=1334, each=3, step=0.01)  # as Charades-STA's test split: 1,334 videos
    numerator, weight = (
        np.stack(part) for part in zip(*(sums_by_video(one) for one in systems.scores.values()), strict=True)
    )
    pairs = list(combinations(range(6), 2))
    exact = permutation_p_values(numerator, weight, pairs, np.random.default_rng(0), permutations=10_000)
    away = np.abs(study(systems, repetitions=2, sizes=[4002]).whole.p - exact)
    # 10,000 permutations alone leave a standard deviation of up to 0.005; swaps of whole queries are steps, too.
    assert away.mean() < 0.004
    assert away.max() < 0.03
    assert (exact > 0.01).sum() > 10  # or all p were 0 and nothing were shown


def test_p_values_of_weights_of_their_own_are_near_those_of_permutations():
    systems = ragged(1)
    a, b, c = systems.scores.values()
    exact = [paired_permutation(x, y, np.random.default_rng(0))[0] for x, y in ((a, b), (a, c), (b, c))]
    assert study(systems).whole.p[:, 0] == pytest.approx(exact, abs=0.03)


def test_subsets_are_tested_as_if_they_were_all_there_is():
    found = study(repetitions=2, sizes=[100])
    rng = np.random.default_rng(0)
    videos = np.array(list(dict.fromkeys(SYSTEMS.first.video_id)))
    shares = []
    for _ in range(2):
        first = set(videos[rng.permutation(60)][:33])  # 33 videos of 3 queries come closest to 100
        rows = np.array([video in first for video in SYSTEMS.first.video_id])
        part = {
            name: replace(
                one,
                query_id=one.query_id[rows],
                video_id=one.video_id[rows],
                numerator=one.numerator[:, rows],
                weight=one.weight[:, rows],
            )
            for name, one in SYSTEMS.scores.items()
        }
        p = np.array([[slow(a, b, row)[1] for row in range(4)] for a, b in combinations(part.values(), 2)])
        shares.append((holm(p) <= 0.05).mean(axis=0))
    assert (found.queries[0], found.units[0]) == (99, 33)
    assert found.separated[0] == pytest.approx(np.mean(shares, axis=0))


def test_the_last_size_is_the_whole_split():
    found = study(sizes=[100, 150])
    assert found.sizes.tolist() == [100, 150, 180]
    assert found.queries[-1] == 180
    assert found.separated[-1] == pytest.approx((found.p_holm <= 0.05).mean(axis=0))
    assert found.separated_interval[-1, :, 0].tolist() == found.separated_interval[-1, :, 1].tolist()
    assert not found.wrong_way[-1].any()


def test_default_sizes_hold_thirty_videos_or_more():
    assert study(answered(0, n_videos=400)).sizes.tolist() == [100, 200, 500, 1000, 1200]
    assert study(answered(0, n_videos=100, each=10)).sizes.tolist() == [500, 1000]


def test_more_queries_separate_more():
    found = study(answered(3, n_videos=1000), repetitions=20)
    by_size = found.separated.mean(axis=1)
    assert (np.diff(by_size) > 0).all()


def test_videos_are_kept_together_and_single_queries_are_not():
    rng = np.random.default_rng(0)
    values = np.repeat(rng.random((2, 1, 100)), 5, axis=2)  # five queries of a video are alike in all
    systems = systems_of(values, each=5)
    by_video, by_query = study(systems), study(systems, unit="query")
    # Five copies of a query carry the information of one: the variance of a mean is five times as large.
    assert by_video.whole.variance == pytest.approx(5 * by_query.whole.variance, rel=0.02)
    assert by_video.clustering == pytest.approx(5, rel=0.02)
    assert by_query.units[-1] == 500
    assert by_video.units[-1] == 100


def test_the_order_of_the_systems_turns_differences_and_leaves_the_rest():
    turned = Systems(dict(reversed(SYSTEMS.scores.items())))
    ours, theirs = study(), study(turned)
    assert theirs.separated == pytest.approx(ours.separated)
    assert theirs.needed_median == pytest.approx(ours.needed_median)
    assert theirs.planned() == pytest.approx(ours.planned())
    pairs = list(combinations(range(4), 2))
    same = [pairs.index((3 - b, 3 - a)) for a, b in pairs]  # a is now number 3 - a, and the second of its pair
    assert theirs.whole.difference[same] == pytest.approx(-ours.whole.difference)
    assert theirs.p_holm[same] == pytest.approx(ours.p_holm)


def test_copies_are_never_separated_and_no_number_of_queries_would_do():
    found = study(Systems({"a": SYSTEMS.first, "b": SYSTEMS.first, "c": SYSTEMS.scores["s1"]}))
    assert found.whole.p[0].tolist() == [1] * 4
    assert not found.whole.difference[0].any()
    assert np.isinf(found.needed[0]).all()
    assert np.isfinite(found.planned()).all()  # of the pairs that differ


def test_less_is_better_where_the_measure_says_so():
    values = np.stack([np.full((1, 60), 0.1), np.full((1, 60), 0.3)])
    values[0, 0, 0] = 0.2
    found = study(systems_of(values, measures="FalseAbstention"))
    assert found.whole.difference[0, 0] > 0  # the first abstains wrongly less often


def test_a_measure_without_weight_has_no_tests():
    values = np.random.default_rng(0).random((3, 2, 60))
    weight = np.ones_like(values)
    weight[:, 1] = 0
    found = study(systems_of(values * weight, weight, measures="mIoU; R@1,IoU=0.5"))
    assert np.isnan([found.whole.p[:, 1], found.whole.difference[:, 1], found.needed[:, 1]]).all()
    assert np.isnan(found.planned()[:, 1]).all()
    assert np.isnan(found.separated[:, 1]).all()
    assert np.isinf(found.needed_median[1])


def test_queries_needed_are_those_of_the_textbook():
    # (1.959964 + 0.841621)^2 = 7.8489; Bonferroni for 10: (2.807034 + 0.841621)^2 = 13.3127 (normal quantiles).
    assert float(queries_needed(np.array(0.02), np.array(0.6))) == pytest.approx(7.8489 * 900, rel=1e-4)
    ten = queries_needed(np.array(0.02), np.array(0.6), comparisons=10)
    assert float(ten) == pytest.approx(13.3127 * 900, rel=1e-4)


def test_the_planning_table_is_made_of_the_median_and_the_90_percent_pair():
    found = study(comparisons=3, power=0.9, level=0.01)
    expected = [
        [
            [
                float(queries_needed(np.array(d), quantile, level=0.01, power=0.9, comparisons=3))
                for quantile in np.quantile(sigma, [0.5, 0.9])
            ]
            for sigma in found.sigma.T
        ]
        for d in (0.01, 0.05)
    ]
    assert found.planned((0.01, 0.05)) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("each", [1, 4])
def test_with_as_many_queries_as_planned_four_of_five_test_sets_find_the_difference(each):
    """Two systems on 2,000 videos; test sets of other videos of the kind are drawn from them with replacement."""
    rng = np.random.default_rng(each)
    hard = np.repeat(rng.normal(0, 1, 2000), each)
    likes = np.repeat(rng.normal(0, 0.6, 2000), each)  # videos on which the first does better, so that queries cluster
    values = np.stack([hard + likes + 0.16, hard]) + rng.normal(0, 1, (2, 2000 * each)) > 0
    values = values[:, None].astype(np.float64)
    found = study(systems_of(values, each=each), repetitions=2, sizes=[2000 * each])
    n_videos = round(float(found.needed[0, 0]) / each)
    assert 100 < n_videos < 700  # or little were simulated
    by_video = values[:, 0].reshape(2, 2000, each).sum(axis=2)
    d = by_video[0] - by_video[1]
    drawn = d[rng.integers(0, 2000, (4000, n_videos))]
    z = (np.abs(drawn.sum(axis=1)) - 1) / np.sqrt((drawn**2).sum(axis=1))  # the module's test
    found_in = (z > NormalDist().inv_cdf(0.975)).mean()
    assert 0.75 < found_in < 0.85  # planned: 0.80
    if each > 1:
        assert found.clustering[0] > 1.2


def test_the_same_seed_gives_the_same_subsets():
    assert study(seed=1).separated.tolist() == study(seed=1).separated.tolist()
    assert study(seed=1).separated.tolist() != study(seed=2).separated.tolist()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"sizes": [60]}, r"subsets of 60 queries, which are of 20 videos; expected 30 videos or more \(90 queries\)"),
        ({"sizes": [181]}, "subsets of 181 queries, expected at most the 180 that there are"),
        ({"repetitions": 1}, "got 1 repetitions, expected 2 or more"),
        ({"level": 1.0}, "got level 1.0, expected more than 0"),
        ({"power": 0.0}, "got power 0.0, expected more than 0"),
        ({"comparisons": 0}, "got 0 comparisons, expected 1 or more"),
    ],
)
def test_what_cannot_be_asked_is_refused(choices, message):
    with pytest.raises(UsageError, match=message):
        study(**choices)


def test_too_few_videos_are_refused():
    with pytest.raises(UsageError, match="got 20 videos, expected 30 or more"):
        study(answered(0, n_videos=20))
