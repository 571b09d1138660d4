"""Kinds of error, against drawn examples, slow loops, and predictions that are really mended."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions, read_predictions
from truemoment.base.errors import MeasureError, ProtocolError
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.error_kinds import KINDS, error_kinds
from truemoment.evaluation.evaluate import evaluate


def kind_of(one_video, references, answers, *args, **kwargs):
    """Kind of the one query of a video of 100 s."""
    found = error_kinds(*one_video({"q": references}, answers, duration_s=100.0), *args, **kwargs)
    assert found.kind.shape == (1,)
    return KINDS[found.kind[0]]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        # The reference is 40 to 60; hits are IoU > 0.5.
        ((41, 59), "hit"),
        ((50, 60), "too short"),  # IoU exactly 1/2 is no hit
        ((40, 80), "too long"),  # again 1/2
        ((0, 100), "too long"),
        ((42, 100), "too long"),  # 18 of the reference's 20 s, nine tenths, lie within
        ((42.1, 100), "shifted"),
        ((45, 46), "too short"),
        ((59.1, 60.1), "too short"),  # nine tenths of the answer lie within
        ((59.11, 60.11), "shifted"),
        ((30, 50), "shifted"),
        ((20, 40), "wrong place"),  # they touch
        ((70, 90), "wrong place"),
        ((50, 50), "empty or swapped"),
        ((59, 41), "empty or swapped"),
    ],
)
def test_kinds_as_drawn(one_video, answer, kind):
    assert kind_of(one_video, [(40, 60)], {"q": [(float(answer[0]), float(answer[1]))]}) == kind


def test_kinds_that_no_answer_has(one_video):
    assert kind_of(one_video, [(40, 60)], {}) == "no answer"
    assert kind_of(one_video, [(40, 60)], {"q": []}) == "no answer"
    assert kind_of(one_video, [(40, 40)], {"q": [(40.0, 40.0)]}) == "faulty reference"
    assert kind_of(one_video, [(40, 30)], {"q": []}) == "faulty reference"
    assert kind_of(one_video, [(40, 30), (10, 20)], {"q": [(40.0, 50.0)]}) == "wrong place"


def test_where_everything_hits_everything_is_a_hit(one_video):
    # IoU >= 0 holds of an empty answer and a faulty reference too; of silence it does not, as in R.
    for references, answers in (([(40, 60)], [(9.0, 9.0)]), ([(40, 40)], [(0.0, 9.0)])):
        assert kind_of(one_video, references, {"q": answers}, 0.0, "default,comparison=>=") == "hit"
    assert kind_of(one_video, [(40, 60)], {}, 0.0, "default,comparison=>=") == "no answer"
    pair = one_video({"q": [(40, 60)], "silent": [(40, 60)]}, {"q": [(0.0, 9.0)]})
    assert error_kinds(*pair, 0.0, "default,comparison=>=").rank_of_hit.tolist() == [1, 0]


def test_a_threshold_above_the_nearness_leaves_kinds_apart(one_video):
    # IoU 18/22 = 0.818: nine tenths of each lie in the other, at a threshold of 0.9 no hit. The lengths are equal, so
    # neither is too long.
    assert kind_of(one_video, [(40, 60)], {"q": [(42.0, 62.0)]}, 0.9) == "shifted"
    assert kind_of(one_video, [(40, 60)], {"q": [(41.0, 62.0)]}, 0.9) == "too long"
    assert kind_of(one_video, [(40, 60)], {"q": [(42.0, 61.0)]}, 0.9) == "too short"


def test_the_reference_with_the_largest_iou_tells_the_kind(one_video):
    # 0-50 holds 30-40 (IoU 0.2) and overlaps 45-90 (5/90): too long, though the second reference says shifted.
    references = [(45, 90), (30, 40)]
    answers = {"q": [(0.0, 50.0)]}
    assert kind_of(one_video, references, answers) == "too long"
    assert kind_of(one_video, references, answers, 0.5, "default,references=first") == "shifted"


def test_hidden_hits_and_duplicates(one_video):
    # Reference 40-60. First answer 0-20; 1-20 repeats it (IoU 0.95), 10-20 does (0.5), 12-20 does not (0.4).
    hit, wrong, twin, half, other = (40.0, 60.0), (0.0, 20.0), (1.0, 20.0), (10.0, 20.0), (12.0, 20.0)
    lists = {
        "first": [hit, wrong],
        "second": [wrong, hit],  # hidden, but nothing repeats
        "twin": [wrong, twin, hit],
        "twins": [wrong, twin, half, hit, other],
        "mixed": [wrong, twin, other, hit],
        "empty": [(20.0, 20.0), (20.0, 20.0), hit],  # empty moments overlap nothing, themselves included
        "never": [wrong, twin, half],
        "deep": [wrong] * 4 + [hit],
    }
    pair = one_video({query: [(40, 60)] for query in lists}, lists, duration_s=100.0)
    found = error_kinds(*pair, depth=4)
    assert found.rank_of_hit.tolist() == [1, 2, 3, 4, 4, 3, 0, 0]
    assert found.duplicates.tolist() == [False, False, True, True, False, False, False, False]
    counts = {line.kind: line.n_queries for line in found.table}
    assert (counts["hidden"], counts["hidden by duplicates"]) == (5, 2)
    assert error_kinds(*pair, depth=5).rank_of_hit[-1] == 5
    assert error_kinds(*pair, depth=5).duplicates[-1]


# ---- Against slow loops


def slow_kind(slow, answers, references, comparison):
    """The definition at the top of the module for m = 0.5, one moment at a time, in exact numbers."""
    if not answers:
        return "no answer" if any(e > s for s, e in references) else "faulty reference"
    start, end = answers[0]
    ious = [slow.iou(answers[0], reference) for reference in references]

    def distance(reference):
        return abs(sum(reference) / 2 - (start + end) / 2)

    nearest = min(range(len(references)), key=lambda r: (-ious[r], distance(references[r])))
    ref_start, ref_end = references[nearest]
    overlap = min(end, ref_end) - max(start, ref_start)
    if slow.reaches(max(ious), "0.5", comparison):
        kind = "hit"
    elif all(e <= s for s, e in references):
        kind = "faulty reference"
    elif end <= start:
        kind = "empty or swapped"
    elif max(ious) == 0:
        kind = "wrong place"
    elif overlap * 10 >= 9 * (ref_end - ref_start) and end - start > ref_end - ref_start:
        kind = "too long"
    elif overlap * 10 >= 9 * (end - start) and end - start < ref_end - ref_start:
        kind = "too short"
    else:
        kind = "shifted"
    return kind


def under(rule, slow, references):
    """References that count under a rule."""
    if rule == "first":
        return references[:1]
    return [references[slow.representative(references)]] if rule == "representative" else references


@pytest.mark.parametrize("rule", ["nearest", "first", "representative"])
@pytest.mark.parametrize("comparison", [">", ">="])
def test_kinds_against_a_slow_loop(world, slow, rule, comparison):
    seen = set()
    for seed in range(25):
        w = world(seed)
        protocol = f"default,comparison={comparison},references={rule}"
        found = error_kinds(w.annotations, w.predictions, 0.5, protocol, depth=4)
        assert found.references == rule
        for row, (query, annotated) in enumerate(w.references.items()):
            references, answers = under(rule, slow, annotated), w.ranked(query)
            assert KINDS[found.kind[row]] == slow_kind(slow, answers, references, comparison), query
            ranks = [
                rank
                for rank, answer in enumerate(answers[:4], start=1)
                if any(slow.reaches(slow.iou(answer, r), "0.5", comparison) for r in references)
            ]
            rank = min(ranks, default=0)
            assert found.rank_of_hit[row] == rank
            between = answers[1 : max(rank - 1, 1)]
            assert found.duplicates[row] == (
                rank > 2 and all(slow.iou(answer, answers[0]) > Fraction("0.45") for answer in between)
            )
        seen |= {KINDS[k] for k in found.kind}
    assert seen == set(KINDS)


# ---- Invariants


def rebuilt(w, change):
    """The world's predictions with each list changed: change(query, ranked answers) -> answers."""
    lists = {query: change(query, w.ranked(query)) for query in w.references}
    return Predictions.from_lists(
        {query: [(float(s), float(e)) for s, e in moments] for query, moments in lists.items() if moments is not None}
    )


@given(st.integers(0, 10_000), st.sampled_from([0.1, 0.5, 0.7]), st.sampled_from([">", ">="]))
@pytest.mark.slow
def test_kinds_divide_the_queries_and_gains_add_up(world, seed, threshold, comparison):
    w = world(seed)
    protocol = f"default,comparison={comparison}"
    found = error_kinds(w.annotations, w.predictions, threshold, protocol)
    kinds, hidden, duplicates = found.table[:-2], found.table[-2], found.table[-1]
    assert tuple(line.kind for line in kinds) == KINDS
    assert [line.n_queries for line in kinds] == np.bincount(found.kind, minlength=len(KINDS)).tolist()
    assert sum(line.n_queries for line in kinds) == w.annotations.n_queries
    assert sum(line.share for line in kinds) == pytest.approx(1, abs=1e-12)
    scores = evaluate(w.annotations, w.predictions, f"R@1,IoU={threshold}; mIoU; AxIoU@10", protocol)
    assert found.figures.tolist() == pytest.approx([scores.value(m) for m in scores.measures], rel=1e-14, abs=1e-15)
    assert kinds[0].n_queries == scores.numerator[0].sum()
    faulty = kinds[KINDS.index("faulty reference")]
    gains = sum(line.gain for line in kinds)
    # What R@1 misses to 1 is what mending every kind gives, but for queries that no answer can hit.
    assert found.figures[0] + gains[0] + faulty.share == pytest.approx(1, abs=1e-12)
    for line in found.table:
        assert np.all(line.gain >= -1e-15)
        assert line.mended == pytest.approx(found.figures + line.gain, abs=1e-15)
        assert np.all(line.mended <= 1 + 1e-12)
    assert duplicates.n_queries <= hidden.n_queries
    assert np.all(duplicates.gain <= hidden.gain + 1e-15)
    assert hidden.gain[0] == pytest.approx(hidden.share, abs=1e-15)
    assert np.array_equal(found.rank_of_hit == 1, found.kind == 0)


@given(st.integers(0, 10_000), st.sampled_from(["too long", "too short", "shifted", "wrong place", "no answer"]))
@pytest.mark.slow
def test_gains_are_those_of_mended_predictions(world, seed, kind):
    w = world(seed)
    found = error_kinds(w.annotations, w.predictions)
    of_kind = dict(zip(w.references, found.kind == KINDS.index(kind), strict=True))

    def mended(query, answers):
        proper = [reference for reference in w.references[query] if reference[1] > reference[0]]
        return [proper[0], *answers[1:]] if of_kind[query] else answers

    after = evaluate(w.annotations, rebuilt(w, mended), "R@1,IoU=0.5; mIoU; AxIoU@10")
    (line,) = (line for line in found.table if line.kind == kind)
    expected = [after.value(measure) for measure in after.measures]
    assert line.mended.tolist() == pytest.approx(expected, rel=0, abs=1e-12)


@given(st.integers(0, 10_000), st.sampled_from(["hidden", "hidden by duplicates"]))
@pytest.mark.slow
def test_gains_of_hidden_hits_are_those_of_lists_with_the_hit_first(world, seed, kind):
    w = world(seed)
    found = error_kinds(w.annotations, w.predictions)
    marked = found.rank_of_hit > 1 if kind == "hidden" else found.duplicates
    rank = dict(zip(w.references, np.where(marked, found.rank_of_hit, 1).tolist(), strict=True))

    def hit_first(query, answers):
        at = rank[query] - 1
        return [*answers[at : at + 1], *answers[:at], *answers[at + 1 :]]

    after = evaluate(w.annotations, rebuilt(w, hit_first), "R@1,IoU=0.5; mIoU; AxIoU@10")
    (line,) = (line for line in found.table if line.kind == kind)
    assert line.mended.tolist() == pytest.approx([after.value(m) for m in after.measures], rel=0, abs=1e-12)


# ---- The protocol holds


def test_suppression_clipping_and_normalised_times_hold(one_video):
    # After suppression at 0.45 nothing that repeats the first is left, so no hit is hidden by duplicates.
    answers = {"q": [(0.0, 20.0), (1.0, 20.0), (40.0, 60.0)]}
    pair = one_video({"q": [(40, 60)]}, answers, duration_s=50.0)
    plain, suppressed = (error_kinds(*pair, 0.3, f"default{more}") for more in ("", ",nms_threshold=0.45"))
    assert (plain.rank_of_hit.tolist(), plain.duplicates.tolist()) == ([3], [True])
    assert (suppressed.rank_of_hit.tolist(), suppressed.duplicates.tolist()) == ([2], [False])
    # Clipped to the 50 s of the video the answer 45-80 is 45-50: too short for 40-60; unclipped it is shifted.
    pair = one_video({"q": [(40, 60)]}, {"q": [(45.0, 80.0)]}, duration_s=50.0)
    for protocol, kind in (("default", "shifted"), ("default,clip_predictions=yes", "too short")):
        for times in ("seconds", "normalised"):
            found = error_kinds(*pair, 0.5, f"{protocol},times={times}")
            assert KINDS[found.kind[0]] == kind


@pytest.mark.parametrize("rule", ["merged", "pooled", "rows"])
def test_references_that_are_not_one_by_one_are_taken_nearest(world, rule):
    w = world(4)
    plain, other = (
        error_kinds(w.annotations, w.predictions, 0.5, f"default,references={r}") for r in ("nearest", rule)
    )
    assert other.references == "nearest"
    assert other.measures == ("R@1,IoU=0.5[ref=nearest]", "mIoU[ref=nearest]", "AxIoU@10[ref=nearest]")
    assert np.array_equal(other.kind, plain.kind)
    assert np.array_equal(other.figures, plain.figures)


def test_dropped_silence_does_not_count(world):
    w = world(6)
    found = error_kinds(w.annotations, w.predictions, 0.5, "default,missing=drop")
    silent = [not w.ranked(query) for query in w.references]
    assert 0 < sum(silent) < len(silent)
    assert found.counts.tolist() == [not s for s in silent]
    lines = {line.kind: line for line in found.table}
    assert lines["no answer"].n_queries == 0
    assert sum(line.n_queries for line in found.table[:-2]) == len(silent) - sum(silent)
    scores = evaluate(w.annotations, w.predictions, "R@1,IoU=0.5; mIoU; AxIoU@10", "default,missing=drop")
    assert found.figures.tolist() == pytest.approx([scores.value(m) for m in scores.measures], rel=1e-14)


def test_nothing_counts():
    annotations = Annotations.from_rows([("q", "v", 9.0, "s", 0, 5)])
    found = error_kinds(annotations, Predictions.from_lists({}), 0.5, "default,missing=drop")
    assert np.isnan(found.figures).all()
    assert [line.n_queries for line in found.table] == [0] * 10
    assert np.isnan([line.share for line in found.table]).all()


def test_what_is_refused(world):
    w = world(6)
    with pytest.raises(MeasureError, match="R: got IoU=2, expected a threshold from 0 to 1"):
        error_kinds(w.annotations, w.predictions, 2.0)
    with pytest.raises(MeasureError, match="AxIoU@0: got 0 answers, expected 1 or more"):
        error_kinds(w.annotations, w.predictions, depth=0)
    with pytest.raises(ProtocolError, match="refuses predictions without an answer"):
        error_kinds(w.annotations, w.predictions, 0.5, "default,missing=refuse")


# ---- Real files


@pytest.mark.data
def test_a_published_run_on_charades_cd_test_ood(data_dir):
    annotations = load_annotations("charades-cd", "test-ood", data_dir=data_dir)
    answers, _ = read_predictions(data_dir / "predictions" / "hao2022_charades_cd_test_ood.json", annotations)
    found = error_kinds(annotations, answers)
    counts = {line.kind: line.n_queries for line in found.table}
    # The project's third issue: five answers of zero length; one answer a query, so nothing is hidden.
    assert (counts["empty or swapped"], counts["no answer"], counts["hidden"]) == (5, 0, 0)
    iou = evaluate(annotations, answers, "mIoU").numerator[0]
    assert counts["hit"] == np.count_nonzero(iou > 0.5 + 1e-9)
    assert counts["wrong place"] + counts["empty or swapped"] + counts["faulty reference"] == np.count_nonzero(iou == 0)
    assert sum(line.n_queries for line in found.table[:-2]) == 3375


@pytest.mark.data
def test_the_whole_video_is_too_long_and_nothing_else(data_dir):
    annotations = load_annotations("charades-cd", "test-ood", data_dir=data_dir)
    queries = annotations.queries
    whole = {query: [(0.0, duration)] for query, duration in zip(queries.query_id, queries.duration_s, strict=True)}
    found = error_kinds(annotations, Predictions.from_lists(whole), 0.5, "default,clip_references=yes")
    # References held to the video lie within it; those that start past its end are empty then.
    assert {line.kind for line in found.table if line.n_queries} <= {"hit", "too long", "faulty reference"}
    (line,) = (line for line in found.table if line.kind == "too long")
    assert line.share > 0.9
