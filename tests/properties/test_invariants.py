"""What must hold for any world: bounds, orders, symmetries, and the axioms of the AxIoU paper."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions
from truemoment.base.intervals import temporal_iou
from truemoment.evaluation.evaluate import evaluate

pytestmark = pytest.mark.slow

# Times in quarters of a second: exact in float64, so exact statements can be tested exactly.
quarters = st.integers(0, 120)
moments = st.tuples(quarters, quarters)  # swapped and zero-length ones included
answers = st.lists(st.tuples(moments, st.integers(0, 4)), max_size=6)  # with few scores: ties are common
references = st.lists(moments, min_size=1, max_size=4)
queries = st.tuples(references, st.none() | answers)  # None: the query is missing
worlds = st.lists(queries, min_size=1, max_size=6)

MEASURES = "R@1,IoU=0.5; R@3,IoU=0.3; dR@1,IoU=0.3; mIoU; AxIoU@5; NCxIoU@4,p=geometric(0.5); AP@3,IoU=0.3; mAP; DCG@5"
OTHERS = "R@1,IoU=0.5[ref=rows]; mIoU[ref=merged]; mIoU[ref=pooled]; mIoU[ref=representative]; F1,IoU=0.3"
ALL = f"{MEASURES}; {OTHERS}"


def build(world, order=None):
    """Make annotations and predictions; `order` lays the queries out in another order, in both."""
    order = range(len(world)) if order is None else order
    rows = [
        (f"q{q}", f"v{q % 3}", 25.0 + q % 3, f"s{q}", start / 4, end / 4) for q in order for start, end in world[q][0]
    ]
    lists = {
        f"q{q}": [(start / 4, end / 4, score / 4) for (start, end), score in world[q][1]]
        for q in order
        if world[q][1] is not None
    }
    return Annotations.from_rows(rows), Predictions.from_lists(lists)


# ---- IoU


def iou_of(a, b, denominator="hull"):
    return float(temporal_iou(*(np.array(float(t)) for t in (*a, *b)), denominator=denominator))


@given(moments, moments, st.sampled_from(["hull", "union"]))
def test_iou_is_symmetric_and_bounded(a, b, denominator):
    value = iou_of(a, b, denominator)
    assert value == iou_of(b, a, denominator)
    assert 0 <= value <= 1
    assert (value == 1) == (a == b and a[0] < a[1])


@given(moments, moments, quarters, st.sampled_from(["hull", "union"]))
def test_iou_ignores_a_common_shift(a, b, shift, denominator):
    # Whole numbers: all differences are exact before and after the shift.
    moved = [(start + shift, end + shift) for start, end in (a, b)]
    assert iou_of(*moved, denominator) == iou_of(a, b, denominator)


@given(moments, moments, st.integers(1, 1000), st.integers(-20, 20), st.sampled_from(["hull", "union"]))
def test_iou_ignores_a_common_scale(a, b, times, power, denominator):
    # Whole multiples and powers of two keep every difference exact, and a quotient of scaled numbers is the same.
    scale = times * 2.0**power
    scaled = [(start * scale, end * scale) for start, end in (a, b)]
    assert iou_of(*scaled, denominator) == iou_of(a, b, denominator)


@given(moments, moments)
def test_both_denominators_agree_on_exact_times(a, b):
    assert iou_of(a, b, "hull") == iou_of(a, b, "union")


# ---- Orders and bounds


@given(worlds, st.sampled_from([">", ">="]), st.sampled_from(["nearest", "rows", "merged", "first", "representative"]))
def test_recall_never_falls_with_n_nor_rises_with_m(world, comparison, rule):
    thresholds = (0.1, 0.3, 0.5, 0.7, 0.9)
    ranks = (1, 2, 3, 5, 10)
    measures = "; ".join(f"{name}@{n},IoU={m}[ref={rule}]" for name in ("R", "dR") for n in ranks for m in thresholds)
    assume(rule != "merged" or all(any(e > s for s, e in query[0]) for query in world))
    scores = evaluate(*build(world), measures, f"default,comparison={comparison}")
    tables = scores.numerator.reshape(2, len(ranks), len(thresholds), -1)
    assert np.all(np.diff(tables, axis=1) >= 0)  # n
    assert np.all(np.diff(tables, axis=2) <= 0)  # m
    recall, discounted = tables
    assert np.all(discounted >= 0)
    assert np.all(discounted <= recall)


@given(worlds)
def test_figures_lie_between_zero_and_one(world):
    # All but DCG, which the paper leaves unnormalised, and pooled references, which count overlaps twice.
    measures = "; ".join(m for m in ALL.split("; ") if "DCG" not in m and "pooled" not in m)
    scores = evaluate(*build(world), measures)
    assert np.all(scores.numerator >= 0)
    # 4 ulp: a mean of IoUs of 1 under weights that sum to 1 only up to rounding.
    assert np.all(scores.numerator <= scores.weight * (1 + 1e-15))


@given(worlds)
def test_axiou_never_falls_with_rank_and_stays_between_first_and_best(world):
    scores = evaluate(*build(world), "mIoU; AxIoU@1; AxIoU@2; AxIoU@5; AxIoU@50")
    first, *means = scores.numerator
    assert np.array_equal(first, means[0])
    # The mean of k sorted values never falls with k; 1e-15 for the rounding of the two sums.
    assert np.all(np.diff(means, axis=0) >= -1e-15)


@given(worlds)
def test_axiou_at_1_is_miou_with_one_reference_and_with_several(world):
    for rule in ("nearest", "first", "representative", "rows"):
        scores = evaluate(*build(world), f"AxIoU@1[ref={rule}]; mIoU[ref={rule}]")
        assert np.array_equal(scores.numerator[0], scores.numerator[1])


@given(worlds, st.integers(1, 12))
def test_uniform_ncxiou_is_axiou(world, k):
    scores = evaluate(*build(world), f"AxIoU@{k}; NCxIoU@{k},p=uniform")
    # The same mean, summed in two orders: at most 12 additions of numbers up to 1.
    assert scores.numerator[0] == pytest.approx(scores.numerator[1], rel=0, abs=1e-14)


@given(queries.filter(lambda query: query[1]), st.integers(1, 6))
def test_recall_averaged_over_thresholds_is_the_best_iou(query, k):
    # AxIoU paper, eq. 7: the expectation of R@k over uniform thresholds is the best IoU. On the midpoints of a grid of
    # n cells the mean is off by at most half a cell.
    n = 200
    measures = "; ".join(f"R@{k},IoU={(i + 0.5) / n!r}" for i in range(n))
    pair = build([query])
    hits = evaluate(*pair, measures, "default,tolerance=none").numerator.sum()
    best = max_iou(query, k)
    assert abs(hits / n - best) <= 1 / (2 * n) + 1e-12


def ranked(query):
    return [moment for moment, _ in sorted(query[1], key=lambda answer: -answer[1])]


def max_iou(query, k):
    """Best IoU among the first k answers, in exact numbers (AxIoU paper, eq. 3)."""
    return max((exact_iou(a, r) for a in ranked(query)[:k] for r in query[0]), default=Fraction(0))


def exact_iou(a, b):
    overlap = min(a[1], b[1]) - max(a[0], b[0])
    if overlap <= 0 or a[1] <= a[0] or b[1] <= b[0]:
        return Fraction(0)
    return Fraction(overlap, max(a[1], b[1]) - min(a[0], b[0]))


@given(queries.filter(lambda query: query[1]), st.integers(1, 10))
def test_axiou_is_the_average_over_k_of_the_best_iou(query, k):
    # AxIoU paper, eq. 8, with each best IoU measured as the mIoU of a list that holds the best answer alone.
    best_alone = []
    for j in range(1, k + 1):
        best = max(ranked(query)[:j], key=lambda a: max(exact_iou(a, r) for r in query[0]))
        best_alone.append(evaluate(*build([(query[0], [(best, 0)])]), "mIoU").value("mIoU"))
    value = evaluate(*build([query]), f"AxIoU@{k}").value(f"AxIoU@{k}")
    assert value == pytest.approx(sum(best_alone) / k, rel=0, abs=1e-14)


# ---- Nothing depends on where a query stands or how work is cut


@given(worlds, st.randoms(use_true_random=False))
def test_the_order_of_queries_does_not_matter(world, random):
    order = list(range(len(world)))
    random.shuffle(order)
    plain, permuted = evaluate(*build(world), ALL), evaluate(*build(world, order), ALL)
    assert np.array_equal(permuted.numerator, plain.numerator[:, order])
    assert np.array_equal(permuted.weight, plain.weight[:, order])
    assert permuted.query_id.tolist() == plain.query_id[order].tolist()
    assert np.array_equal(permuted.on_threshold, plain.on_threshold)
    # Sums in another order: a few ulp.
    for measure in plain.measures:
        assert permuted.value(measure) == pytest.approx(plain.value(measure), rel=1e-14, abs=1e-15, nan_ok=True)


@given(worlds, st.randoms(use_true_random=False))
def test_the_order_of_the_prediction_file_does_not_matter(world, random):
    annotations, predictions = build(world)
    ids = predictions.query_id.tolist()
    random.shuffle(ids)
    lists = {
        q: [(start / 4, end / 4, score / 4) for (start, end), score in world[int(q.removeprefix("q"))][1]] for q in ids
    }
    plain, shuffled = evaluate(annotations, predictions, ALL), evaluate(annotations, Predictions.from_lists(lists), ALL)
    assert np.array_equal(shuffled.numerator, plain.numerator)


@pytest.mark.parametrize(
    "protocol", ["default", "default,nms_threshold=0.5", "default,top=2,missing=drop", "default,precision=float32"]
)
@pytest.mark.parametrize("measure", ALL.split("; "))
def test_block_size_changes_nothing(world, monkeypatch, measure, protocol):
    # To the last bit: a figure must not depend on how the work was cut, nor a saved file on the machine's cache.
    w = world(0, n_queries=20)
    whole = evaluate(w.annotations, w.predictions, measure, protocol)
    for block in (1, 7, 40):
        monkeypatch.setattr("truemoment.evaluation.evaluate.BLOCK_MOMENTS", block)
        pieces = evaluate(w.annotations, w.predictions, measure, protocol)
        assert pieces.numerator.tolist() == whole.numerator.tolist()
        assert pieces.weight.tolist() == whole.weight.tolist()
        assert pieces.on_threshold.tolist() == whole.on_threshold.tolist()


@given(worlds)
def test_measures_do_not_disturb_each_other(world):
    together = evaluate(*build(world), ALL)
    for row, measure in enumerate(together.measures):
        alone = evaluate(*build(world), str(measure))
        assert np.array_equal(alone.numerator[0], together.numerator[row])
        assert np.array_equal(alone.weight[0], together.weight[row])


@given(worlds, st.integers(1, 40), st.integers(-3, 3))
def test_figures_ignore_the_unit_of_time(world, times, power):
    # All times and durations scaled alike; a scale of whole numbers and powers of two keeps differences exact.
    annotations, predictions = build(world)
    scale = times * 2.0**power
    stretched = (
        dataclasses.replace(
            annotations,
            duration_s=annotations.duration_s * scale,
            start_s=annotations.start_s * scale,
            end_s=annotations.end_s * scale,
        ),
        dataclasses.replace(predictions, start_s=predictions.start_s * scale, end_s=predictions.end_s * scale),
    )
    plain, other = evaluate(annotations, predictions, ALL), evaluate(*stretched, ALL)
    # dR divides distances by durations: quotients of scaled numbers, exact or one ulp off.
    assert other.numerator == pytest.approx(plain.numerator, rel=1e-14, abs=1e-15)


# ---- The axioms of the AxIoU paper, appendix A.1

K = 5
RANKED = [*(f"R@{K},IoU={m}" for m in (0.3, 0.5, 0.7)), f"AxIoU@{K}", f"AP@{K},IoU=0.5", f"DCG@{K}"]


def figures_of(relevances):
    """Figures of a list whose k-th answer has relevance relevances[k] / 100: (0, 100) is the reference."""
    pair = (
        Annotations.from_rows([("q", "v", 100.0, "s", 0.0, 100.0)]),
        Predictions.from_lists({"q": [(0.0, float(relevance)) for relevance in relevances]}),
    )
    scores = evaluate(*pair, "; ".join(RANKED))
    return dict(zip(RANKED, scores.numerator[:, 0].tolist(), strict=True))


lists_of_relevances = st.lists(st.integers(0, 100), min_size=K, max_size=K)


@given(lists_of_relevances, st.integers(1, K - 1), st.data())
def test_inv_better_but_redundant_moments_change_nothing(relevances, k, data):
    # Axiom 1 (INV-k): conditions A.1 (better than before) and A.2 (not better than the best above it).
    best_above = max(relevances[:k])
    assume(relevances[k] < best_above)
    better = data.draw(st.integers(relevances[k] + 1, best_above))
    before, after = figures_of(relevances), figures_of([*relevances[:k], better, *relevances[k + 1 :]])
    for measure in RANKED[:4]:  # R and AxIoU satisfy it (properties 2 and the paper's section 5)
        assert after[measure] == before[measure]
    assert after[f"DCG@{K}"] > before[f"DCG@{K}"]  # property 5: DCG does not
    assert after[f"AP@{K},IoU=0.5"] >= before[f"AP@{K},IoU=0.5"]


@given(lists_of_relevances, st.integers(0, K - 1), st.data())
def test_mon_a_better_best_moment_counts(relevances, k, data):
    # Axiom 2 (MON-k): conditions A.1 (better than before) and A.3 (the best of the first k).
    best_above = max(relevances[:k], default=-1)
    low = max(best_above, relevances[k]) + 1
    assume(low <= 100)
    better = data.draw(st.integers(low, 100))
    before, after = figures_of(relevances), figures_of([*relevances[:k], better, *relevances[k + 1 :]])
    assert after[f"AxIoU@{K}"] > before[f"AxIoU@{K}"]
    assert after[f"DCG@{K}"] > before[f"DCG@{K}"]
    assert all(after[measure] >= before[measure] for measure in RANKED)


def test_where_recall_and_ap_break_the_axioms():
    # Properties 1 and 4: the best moment improves from 60 to 65, no threshold is crossed, nothing changes.
    before, after = figures_of([60, 0, 0, 0, 0]), figures_of([65, 0, 0, 0, 0])
    assert [after[m] - before[m] for m in (*RANKED[:3], f"AP@{K},IoU=0.5")] == [0, 0, 0, 0]
    # Property 3: a second hit behind a better first one raises AP, by 1/5 (1/2 + 1/3 + 1/4 + 1/5).
    before, after = figures_of([90, 0, 0, 0, 0]), figures_of([90, 80, 0, 0, 0])
    expected = (1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5
    assert after[f"AP@{K},IoU=0.5"] - before[f"AP@{K},IoU=0.5"] == pytest.approx(expected, rel=1e-14)


@given(queries.filter(lambda query: query[1]), st.data())
def test_copies_at_the_end_of_a_list_gain_nothing(query, data):
    # A list shorter than K keeps its last best, so copies of its own answers behind it change neither R nor AxIoU.
    listed = ranked(query)
    copies = data.draw(st.lists(st.sampled_from(listed), min_size=1, max_size=4))
    measures = "R@1,IoU=0.5; R@5,IoU=0.5; R@5,IoU=0.3; dR@5,IoU=0.3; mIoU; AxIoU@3; AxIoU@10"
    plain = evaluate(*build([(query[0], [(moment, 0) for moment in listed])]), measures)
    longer = evaluate(*build([(query[0], [(moment, 0) for moment in [*listed, *copies]])]), measures)
    # 1e-14: AxIoU sums ten values in two ways.
    assert longer.numerator == pytest.approx(plain.numerator, rel=0, abs=1e-14)


@given(queries.filter(lambda query: query[1]), st.data())
def test_a_copy_behind_its_original_only_costs_a_rank(query, data):
    # Copy the j-th answer behind itself. The best so far U(k) is then U'(k) = U(k) up to j and U(k - 1) behind, so
    # R@(n + 1) of the longer list is R@n (n >= j) and (K + 1) AxIoU@(K + 1) = K AxIoU@K + U(j) (K >= j).
    listed = ranked(query)
    j = data.draw(st.integers(1, len(listed)))
    n = data.draw(st.integers(j, 8))
    doubled = [*listed[:j], listed[j - 1], *listed[j:]]
    measures = f"R@{j},IoU=0.3; R@{n},IoU=0.3; R@{n + 1},IoU=0.3; AxIoU@{n}; AxIoU@{n + 1}"
    plain, longer = (evaluate(*build([(query[0], [(m, 0) for m in ms])]), measures) for ms in (listed, doubled))
    assert longer.value(f"R@{n + 1},IoU=0.3") == plain.value(f"R@{n},IoU=0.3")
    assert longer.value(f"R@{j},IoU=0.3") == plain.value(f"R@{j},IoU=0.3")
    expected = (n * plain.value(f"AxIoU@{n}") + float(max_iou(query, j))) / (n + 1)
    assert longer.value(f"AxIoU@{n + 1}") == pytest.approx(expected, rel=0, abs=1e-14)
