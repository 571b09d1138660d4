"""Axioms of measures: the paper's table, what it leaves open, and every counterexample recomputed from the formulas."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from truemoment.base.errors import MeasureError, ProtocolError, UsageError
from truemoment.evaluation.measures import Statistic, parse_measure
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.meta import axioms
from truemoment.studies.meta.axioms import MEASURES, check_axioms

from ..thorough import quick_are

pytestmark = pytest.mark.slow


N_PAIRS = 400


@pytest.fixture(autouse=True)
def _one_start(monkeypatch):
    """Shrink one counterexample each: it need not be the very smallest here, and takes a tenth of the time."""
    monkeypatch.setattr(axioms, "STARTS", 1)


def check(measures, *, seed=0, **options):
    found = check_axioms(measures, np.random.default_rng(seed), **({"pairs": N_PAIRS} | options))
    return {(str(one.measure), one.axiom): one for one in found}


# ----------------------------------------------------------------------------- what holds, and what does not

PAPER = {
    # AxIoU (Togashi et al. 2022), appendix A: Properties 1, 2 (R@K), 3, 4 (AP@K), 5, 6 (DCG@K), 7 and 8 (AxIoU@K).
    "R@5,IoU=0.5": (True, False),
    "R@3,IoU=0.7": (True, False),
    "AP@5,IoU=0.5": (False, False),
    "DCG@5": (False, True),
    "AxIoU@5": (True, True),
    "AxIoU@10": (True, True),
    # NCxIoU (eq. 4) by the proofs of Properties 7 and 8, which ask for P_A(k) > 0 in MON-k only.
    "NCxIoU@5,p=uniform": (True, True),
    "NCxIoU@5,p=geometric(0.5)": (True, True),
}

OPEN = {
    # One reference. What holds is argued below each; what breaks is recomputed in the tests of counterexamples.
    "mIoU": (True, True),  # AxIoU@1
    "dR@1,IoU=0.5": (True, False),  # one answer: INV asks nothing
    "dR@5,IoU=0.5": (False, False),
    "mAP": (True, False),  # 1 / rank of the first hit: a moment that is not the best so far is never the first hit
    "mAP,IoU=0.5": (True, False),
    "F1,IoU=0.5": (True, False),  # any hit, over as many answers as before
    "SetIoU": (False, False),
}

OPEN_OF_TWO = {
    # Two references.
    "R@5,IoU=0.5": (True, False),  # relevance is what the measure looks at: as with one
    "AxIoU@5": (True, True),
    "DCG@5": (False, True),
    "mAP": (False, False),  # a second reference found is not redundant
    "mAP,IoU=0.5": (False, False),
    "F1,IoU=0.5": (False, False),
    "SetIoU": (False, False),
    "dR@5,IoU=0.5": (False, False),
    "R@5,IoU=0.5[ref=merged]": (False, False),
    "AxIoU@5[ref=merged]": (False, False),
    "mIoU[ref=merged]": (True, False),
    "AxIoU@5[ref=rows]": (False, False),
    "AxIoU@5[ref=first]": (False, False),
}


@pytest.mark.parametrize(("references", "expected"), [(1, PAPER | OPEN), (2, OPEN_OF_TWO)], ids=["one", "two"])
@pytest.mark.parametrize("seed", quick_are([0], [0, 1]))
def test_which_axioms_hold(references, expected, seed):
    found = check("; ".join(expected), references=references, seed=seed, pairs=1500)
    holds = {measure: (found[measure, "INV"].holds, found[measure, "MON"].holds) for measure in expected}
    assert holds == expected


def test_merged_references_are_one_where_there_is_one():
    found = check("AxIoU@5[ref=merged]; R@5,IoU=0.5[ref=merged]; AxIoU@5[ref=rows]")
    assert [key for key, one in found.items() if not one.holds] == [("R@5,IoU=0.5[ref=merged]", "MON")]


def test_ncxiou_breaks_mon_just_where_nobody_stops():
    # P_A(2) = 0: a better rank 2 that rank 3 outdoes reaches nobody.
    one = check("NCxIoU@3,p=weights(1,0,1)")["NCxIoU@3,p=weights(1,0,1)", "MON"]
    assert one.rank.tolist() == [1, 2, 3]
    assert [bool(n) for n in one.broken] == [False, True, False]
    assert one.counterexample is not None
    assert one.counterexample.rank == 2


def test_dcg_rewards_every_redundant_answer():
    # Property 5: the difference is g(r') - g(r) over d(k), never 0.
    one = check("DCG@5")["DCG@5", "INV"]
    assert one.n_broken == one.n_pairs == N_PAIRS
    assert one.n_worse == 0


def test_recall_never_falls_when_the_best_gets_better():
    assert check("R@5,IoU=0.5")["R@5,IoU=0.5", "MON"].n_worse == 0


# ------------------------------------------------------------------- counterexamples, recomputed from the formulas


def seconds(moments):
    """Whole seconds that moments cover."""
    return {second for start, end in moments for second in range(int(start), int(end))}


def jaccard(one, other):
    return len(one & other) / len(one | other)


def ious(moments, references):
    """IoU of each moment with each reference, by counting seconds."""
    return [[jaccard(seconds([moment]), seconds([reference])) for reference in references] for moment in moments]


def mean_precision(hits, depth):
    """Eq. 12."""
    hits = hits + [0] * (depth - len(hits))
    return sum(sum(hits[:k]) / k for k in range(1, depth + 1)) / depth


def interpolated(table, threshold, n_references):
    """QVHighlights' AP of one query: each answer takes the free reference of largest IoU above the threshold."""
    free, right = set(range(n_references)), []
    for row in table:
        possible = [r for r in free if row[r] > threshold + 1e-9]
        taken = max(possible, key=lambda r: row[r]) if possible else None
        free -= {taken}
        right.append(taken is not None)
    precision = [sum(right[: k + 1]) / (k + 1) for k in range(len(right))]
    return sum(max(precision[k:]) for k in range(len(right)) if right[k]) / n_references


def largest_matching(table, threshold):
    """By trying every choice."""
    if not table:
        return 0
    row, rest = table[0], table[1:]
    best = largest_matching(rest, threshold)
    for r, iou in enumerate(row):
        if iou > threshold + 1e-9:
            without = [[-1 if at == r else of for at, of in enumerate(other)] for other in rest]
            best = max(best, 1 + largest_matching(without, threshold))
    return best


def by_formula(measure, pair, moments):  # noqa: PLR0911 - a formula a family
    """A measure's value on one list, from its definition."""
    name, _, rest = measure.partition("@")
    name = name.partition(",")[0]
    table = ious(moments, pair.references)
    r = [max(row) for row in table]
    depth = int(re.match(r"\d+", rest)[0]) if rest else len(moments)
    threshold = float(re.search(r"IoU=([\d.]+)", measure)[1]) if "IoU=" in measure else None
    if name == "R":
        return float(max(r[:depth]) > threshold + 1e-9)
    if name == "dR":
        d = pair.duration_s
        hits = [
            (1 - abs(start - a) / d) * (1 - abs(end - b) / d)
            for (start, end), row in zip(moments[:depth], table, strict=False)
            for (a, b), iou in zip(pair.references, row, strict=True)
            if iou > threshold + 1e-9
        ]
        return max(hits, default=0.0)
    if name == "AP":
        return mean_precision([int(iou > threshold + 1e-9) for iou in r[:depth]], depth)
    if name == "DCG":
        return sum(iou / math.log2(k + 2) for k, iou in enumerate(r[:depth]))
    if name == "NCxIoU":  # p=weights(1,0,1)
        best = [max(r[: k + 1]) for k in range(3)]
        return (best[0] + best[2]) / 2
    if name == "mAP":
        thresholds = [threshold] if threshold is not None else [0.5 + 0.05 * i for i in range(10)]
        return sum(interpolated(table, m, len(pair.references)) for m in thresholds) / len(thresholds)
    if name == "F1":
        return 2 * largest_matching(table, threshold) / (len(moments) + len(pair.references))
    assert name == "SetIoU"
    return jaccard(seconds(moments), seconds(pair.references))


@pytest.mark.parametrize(("references", "seed"), [(1, 0), (1, 7), (2, 0)])
def test_every_counterexample_is_one_by_the_formulas(references, seed):
    found = check_axioms(MEASURES, np.random.default_rng(seed), pairs=N_PAIRS, references=references)
    broken = [one for one in found if not one.holds]
    assert len(broken) >= 13  # the two tables above
    for one in broken:
        pair = one.counterexample
        before, after = (by_formula(str(one.measure), pair, moments) for moments in (pair.before, pair.after))
        assert pair.value_before == pytest.approx(before, abs=1e-12), one.measure
        assert pair.value_after == pytest.approx(after, abs=1e-12), one.measure
        if one.axiom == "INV":
            assert abs(after - before) > 1e-12
        elif one.n_worse:
            assert after < before - 1e-12
        else:
            assert after == pytest.approx(before, abs=1e-12)
        k = pair.rank - 1
        r_before, r_after = ([max(row) for row in ious(m, pair.references)] for m in (pair.before, pair.after))
        np.testing.assert_allclose(pair.iou_before, r_before)
        np.testing.assert_allclose(pair.iou_after, r_after)
        assert r_before[k] < r_after[k]  # A.1
        ahead = max(r_after[:k], default=-1)
        assert (r_after[k] <= ahead) if one.axiom == "INV" else (r_after[k] > ahead)  # A.2, A.3
        same = np.arange(len(pair.before)) != k
        np.testing.assert_array_equal(pair.before[same], pair.after[same])


def test_a_result_without_a_counterexample_holds():
    for one in check("R@5,IoU=0.5; AxIoU@5; DCG@5").values():
        assert (one.counterexample is None) == one.holds


def test_counterexamples_are_small(monkeypatch):
    monkeypatch.setattr(axioms, "STARTS", 12)
    # R@K breaks MON on one answer: 0-20 s for the reference 0-10 s is no worse than 10-20 s by the threshold 0.5.
    pair = check("R@5,IoU=0.5")["R@5,IoU=0.5", "MON"].counterexample
    assert len(pair.before) == 1
    assert pair.duration_s <= 30
    assert set(np.ravel([*pair.references, *pair.before, *pair.after])) <= {0.0, 10.0, 20.0, 30.0}
    # What needs two references keeps both.
    pair = check("mAP,IoU=0.5", references=2)["mAP,IoU=0.5", "INV"].counterexample
    assert len(pair.references) == 2
    assert len(pair.before) == 2


# -------------------------------------------------------------------------------------------- ranks and counts


def test_ranks_are_those_a_measure_looks_at():
    found = check("R@3,IoU=0.5; SetIoU; mIoU", length=4)
    assert found["R@3,IoU=0.5", "INV"].rank.tolist() == [2, 3]
    assert found["R@3,IoU=0.5", "MON"].rank.tolist() == [1, 2, 3]
    assert found["SetIoU", "MON"].rank.tolist() == [1, 2, 3, 4]
    assert found["mIoU", "INV"].rank.tolist() == []
    assert found["mIoU", "MON"].rank.tolist() == [1]


def test_pairs_are_spread_evenly_over_the_ranks():
    assert check("R@3,IoU=0.5", pairs=100)["R@3,IoU=0.5", "MON"].pairs.tolist() == [34, 33, 33]


def test_a_measure_that_looks_at_very_many_answers_is_tried_on_the_first_hundred():
    assert check("AxIoU@5000", pairs=200)["AxIoU@5000", "MON"].rank.tolist() == list(range(1, 101))


def test_pairs_on_which_a_measure_is_undefined_do_not_count():
    # Only references of more than 30 s are long.
    found = check("R@5,IoU=0.5; R@5,IoU=0.5,length=long")
    assert 0 < found["R@5,IoU=0.5,length=long", "INV"].n_pairs < found["R@5,IoU=0.5", "INV"].n_pairs == N_PAIRS
    assert found["R@5,IoU=0.5,length=long", "INV"].holds


def test_a_result_does_not_depend_on_what_else_is_asked_for():
    alone, among = check("dR@5,IoU=0.5"), check("mIoU; SetIoU; dR@5,IoU=0.5; R@5,IoU=0.5")
    for axiom in ("INV", "MON"):
        one, other = alone["dR@5,IoU=0.5", axiom], among["dR@5,IoU=0.5", axiom]
        assert one.broken.tolist() == other.broken.tolist()
        np.testing.assert_array_equal(one.counterexample.before, other.counterexample.before)


def test_results_stand_in_the_order_asked_for_and_each_once():
    assert list(check("SetIoU; mIoU; SetIoU")) == [
        ("SetIoU", "INV"),
        ("SetIoU", "MON"),
        ("mIoU", "INV"),
        ("mIoU", "MON"),
    ]


# --------------------------------------------------------------------------------------------- conventions


@pytest.mark.parametrize("protocol", ["closer-look", "moment-detr", "videomind", "mmaction2"])
def test_floating_point_decides_nothing_under_other_conventions(protocol):
    # Normalised times, other denominators, >=, float32: the paper's table all the same.
    found = check("; ".join(PAPER), protocol=protocol)
    assert {measure: (found[measure, "INV"].holds, found[measure, "MON"].holds) for measure in PAPER} == PAPER


def test_suppression_takes_both_axioms_from_axiou():
    # A near copy at rank k is dropped before anything is measured, and what follows moves up.
    found = check("AxIoU@5", protocol=get_protocol("default,nms_threshold=0.5"))
    assert not found["AxIoU@5", "INV"].holds
    assert not found["AxIoU@5", "MON"].holds


# --------------------------------------------------------------------------------------- measures of one's own


@dataclass(frozen=True)
class Own:
    """A measure of a user: a function of the IoUs of a list."""

    name: str
    depth: int | None = 4
    lower_is_better: bool = False

    needs: ClassVar[str] = "overlaps"
    needs_duration: ClassVar[bool] = False
    ref: ClassVar[None] = None

    def __str__(self):
        return self.name

    def per_unit(self, overlaps):
        iou = np.where(overlaps.filled, overlaps.iou, 0)
        last = np.take_along_axis(iou, overlaps.n_predicted[:, None] - 1, axis=1)[:, 0]
        value = {
            "sum": iou.sum(axis=1),
            "last": last,
            "miss": 1 - iou.max(axis=1),
            "penalised": iou.max(axis=1) - 0.1 * iou.sum(axis=1),
            "average miss": 1 - np.maximum.accumulate(iou, axis=1).mean(axis=1),
        }[self.name]
        return Statistic(value, np.ones(len(value)))


@pytest.mark.parametrize(
    ("measure", "inv", "mon"),
    [
        (Own("sum"), False, True),  # a DCG without discount: Properties 5 and 6
        (Own("last"), False, False),  # the last answer may be redundant, and the best need not be last
        (Own("penalised"), False, False),  # redundancy costs score, and so does a better moment that is outdone later
        (Own("miss", lower_is_better=True), True, False),  # a later answer may be as good
        (Own("average miss", lower_is_better=True), True, True),  # 1 - AxIoU, of which less is better
        (Own("average miss"), True, False),  # the same, taken for better where it is worse
    ],
)
def test_a_measure_of_ones_own(measure, inv, mon):
    found = check([measure, "AxIoU@4"])
    assert (found[str(measure), "INV"].holds, found[str(measure), "MON"].holds) == (inv, mon)


def test_the_last_answer_changes_at_the_last_rank_only():
    one = check([Own("last", depth=2)])["last", "MON"]
    assert one.broken[0] > 0  # rank 1 of lists of two
    assert one.broken[1] == 0


def test_inv_is_broken_by_a_fall_too():
    one = check([Own("penalised")])["penalised", "INV"]
    assert one.n_broken == one.n_worse == one.n_pairs  # by 0.1 of what the redundant moment gained


def test_a_measure_that_is_worse_where_it_is_better_is_counted_so():
    one = check([Own("average miss")])["average miss", "MON"]
    assert one.n_worse == one.n_broken == one.n_pairs


# ------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("measure", ["FalseAbstention", "CorrectAbstention", "HIT@1,min=VeryGood", "HL-mAP,min=Good"])
def test_measures_of_something_else_are_refused(measure):
    message = f"{parse_measure(measure)} is not a measure of ranked moments, and the axioms are only about these"
    with pytest.raises(MeasureError, match=re.escape(message)):
        check(f"mIoU; {measure}")


@pytest.mark.parametrize("options", [{"pairs": 0}, {"length": 0}, {"length": 101}, {"references": 0}])
def test_numbers_out_of_range_are_refused(options):
    with pytest.raises(UsageError, match=r"expected pairs and references of 1 or more and a length from 1 to 100"):
        check("mIoU", **options)


def test_no_measure_and_no_such_measure_are_refused():
    with pytest.raises(MeasureError, match="got no measure, expected at least one"):
        check([])
    with pytest.raises(MeasureError, match="did you mean R@1,IoU"):
        check("Recall@1")
    with pytest.raises(ProtocolError, match="unknown protocol 'none'"):
        check("mIoU", protocol="none")
