"""The measures of newer test sets against their owners' evaluators, which were run on the file that `made` makes.

=========  =====================================================================================================
QV-M2      Zhuo-Cao/QV-M2 d5d4038, standalone_eval/eval.py: compute_mr_all, compute_mr_ap_by_gt
NExT-GQA   doc-doc/NExT-GQA 63772e0, code/TempGQA/eval_ground.py: eval_ground, first answers
E.T.       PolyU-ChenLab/ETBench, evaluation/compute_metrics.py: tal_eval, tem_eval, evs_eval, as public repositories
           copy it; vhd_eval on the file that its test makes
Seeker     yhy-2000/MomentSeeker cc1090a, evaluation_code/evaluate_uniir.py: evaluate_recall, evaluate_map, on the files
           that its test makes
VUE-TR     bytedance/vidi fc30c87, VUE_TR/qa_eval.py: compute_precision_recall, success_overlap, answers that
           overlap no other
=========  =====================================================================================================
"""

from __future__ import annotations

import json
import random
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import truemoment as tm
from truemoment import Annotations, Predictions
from truemoment.base.errors import MeasureError
from truemoment.evaluation.evaluate import evaluate

AT_LEAST = "default,comparison=>=,tolerance=none,missing=drop,ranking=file"


def made() -> tuple[dict[str, list[tuple[float, float]]], dict[str, list[tuple[float, float]]]]:
    """Return references and ranked answers of 60 queries; times in half seconds of a video of 120 s."""
    draw, references, answers = random.Random(46), {}, {}  # noqa: S311 - no secret
    for number in range(60):
        cuts = sorted(draw.sample(range(200), 2 * draw.randint(1, 4)))
        wanted = [(first / 2, last / 2) for first, last in zip(cuts[::2], cuts[1::2], strict=True)]
        ranked = []
        for _ in range(draw.randint(0, 5)):
            start, end = draw.choice(wanted) if draw.random() < 0.7 else (draw.randint(0, 90), 110.0)
            start = max(0.0, start + draw.randint(-6, 6) / 2)
            ranked.append((start, max(start + 0.5, end + draw.randint(-6, 6) / 2)))
        references[f"q{number}"], answers[f"q{number}"] = wanted, ranked
    return references, answers


def apart(ranked):
    """Return the answers that overlap none before them, in order of time: VUE-TR's precision needs such lists."""
    kept = []
    for start, end in ranked:
        if all(np.ceil(end) <= np.floor(low) or np.ceil(high) <= np.floor(start) for low, high in kept):
            kept.append((start, end))
    return sorted(kept)


def as_annotations(references):
    return Annotations.from_rows(
        [
            (name, f"v-{name}", 120.0, "a dog barks", *moment)
            for name, moments in references.items()
            for moment in moments
        ]
    )


def percent(measures, references, answers, protocol=AT_LEAST):
    scores = evaluate(as_annotations(references), Predictions.from_lists(answers), measures, protocol)
    return [100 * scores.value(measure) for measure in scores.measures]


def test_qv_m2() -> None:
    # The means over thresholds are of figures that the evaluator rounds to two decimals.
    assert percent("mR@1; mR@2; mR@3", *made()) == pytest.approx([48.3821, 31.5657, 33.3329], abs=0.005)
    one = percent("mR@1,IoU=0.5; mR@2,IoU=0.5; mR@3,IoU=0.7; mIoU@1; mIoU@2; mIoU@3; mAP", *made())
    assert one == pytest.approx([62.26, 43.55, 33.33, 56.35, 36.35, 38.47, 30.22], abs=0.005)


def test_next_gqa() -> None:
    figures = percent("mIoP; R@1,IoP=0.3; R@1,IoP=0.5; mIoU; R@1,IoU=0.3; R@1,IoU=0.5", *made())
    assert figures == pytest.approx([61.3, 69.8, 62.3, 56.4, 69.8, 62.3], abs=0.05)


def test_e_t_bench() -> None:
    thresholds = (0.1, 0.3, 0.5, 0.7)
    measures = "; ".join(f"{name},IoU={m}" for name in ("R@1", "CoverF1") for m in thresholds)
    recalls, covered = [76.667, 61.667, 55.0, 43.333], [63.613, 50.470, 44.527, 33.690]
    # The protocol of VideoMind, which takes its IoU from the same library, is that of E.T. Bench.
    assert percent(measures, *made(), "videomind") == pytest.approx([*recalls, *covered], abs=0.0005)
    assert percent("SecondsF1", *made(), "videomind,missing=drop") == pytest.approx([56.142], abs=0.0005)


def test_highlights_of_e_t_bench(tmp_path) -> None:
    draw, samples = random.Random(48), []  # noqa: S311 - no secret
    forms = ("{}", "{} seconds.", "It is at {}s.", "[{}]", "-{}", "I would pick {} - 60.0", "at +{} or so", "No idea.")
    for number in range(60):
        people = []
        for _ in range(draw.randint(1, 3)):
            cuts = sorted(draw.sample(range(120), 2 * draw.randint(1, 2)))
            people.append([[first / 2, last / 2] for first, last in zip(cuts[::2], cuts[1::2], strict=True)])
        time = draw.choice(people[0][0]) if draw.random() < 0.4 else draw.randint(0, 120) / 2
        about = {"task": "vhd", "source": "made", "idx": number, "video": f"v{number % 9}.mp4", "q": f"Best {number}?"}
        target = people[0] if len(people) == 1 else people
        samples.append({**about, "duration": 60.0, "tgt": target, "a": draw.choice(forms).format(time)})
    file = tmp_path / "vhd.json"
    file.write_text(json.dumps(samples))
    scores = tm.evaluate(file, annotations=file, split="vhd", protocol="videomind", measures="R@1,IoP=1")
    assert 100 * scores.value("R@1,IoP=1") == pytest.approx(63.333, abs=0.0005)


def test_momentseeker(tmp_path) -> None:
    draw, queries, answers = random.Random(47), [], {}  # noqa: S311 - no secret
    for number in range(40):
        cuts = sorted(draw.sample(range(1, 400), 12))
        clips = [f"long_video/movie_{number % 7}/{first / 4:.2f}_{last / 4:.2f}.mp4" for first, last in pairwise(cuts)]
        right = sorted(draw.sample(range(11), draw.choice([1, 1, 1, 2, 3])))
        order = list(range(11))
        draw.shuffle(order)
        if draw.random() < 0.6:
            order.remove(right[0])
            order.insert(draw.randint(0, 3), right[0])
        ranked = [clips[place] for place in order[: draw.randint(1, 11)]]
        candidates = [{"output_path": clip} for clip in clips]
        queries.append({"qry_text": f"what {number}?", "candidate_video_list": candidates, "gt_indices": right})
        answers[f"what {number}?"] = {"gt": [clips[place] for place in right], "pred": ranked}
    (tmp_path / "queries.json").write_text(json.dumps(queries))
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    names = ("R@1,IoU=1", "R@3,IoU=1", "R@5,IoU=1", "R@10,IoU=1", "SpanAP@5")
    scores = tm.evaluate(
        tmp_path / "answers.json",
        annotations=tmp_path / "queries.json",
        protocol="videomind",
        measures="; ".join(names),
    )
    figures = [100 * scores.value(name) for name in names]
    assert figures == pytest.approx([15.0, 55.0, 77.5, 77.5, 12.72], abs=0.005)


def test_vue_tr() -> None:
    references, answers = made()
    sets = {name: apart(ranked) for name, ranked in answers.items()}
    figures = percent("Area,of=precision; Area,of=recall; Area,of=IoU", references, sets, "default")
    assert figures == pytest.approx([60.8679, 60.2917, 41.35], abs=0.0001)


def test_by_hand() -> None:
    references = {"q": [(0.0, 10.0), (20.0, 30.0)]}
    # (5, 15): half inside. (12, 12): a point outside. (25, 25): a point inside. IoP of the best of two: 1.
    # 3.5 to 7.5 s is 4 to 8, halves to the even second; 20 to 30 is right: 2 * (4 + 10) of 14 + 20.
    assert percent("SecondsF1", references, {"q": [(3.5, 7.5), (20.0, 30.0)]}) == pytest.approx([2800 / 34])
    assert percent("mIoP; R@2,IoP=0.6", references, {"q": [(5.0, 15.0), (25.0, 25.0)]}) == [50.0, 100.0]
    assert percent("mIoP", references, {"q": [(12.0, 12.0)]}) == [0.0]
    assert percent("mIoP", references, {"q": [(9.0, 1.0)]}) == [0.0]
    # Both answers reach the first reference: all right, half found. One to one, one answer is wrong.
    twice = {"q": [(0.0, 10.0), (0.0, 9.0)]}
    assert percent("CoverF1,IoU=0.5; F1,IoU=0.5; mR@2,IoU=0.5", references, twice) == pytest.approx([200 / 3, 50, 50])
    # The span is 0 to 30 s: IoUs of 1/3, 0 and 1, each times the mean so far.
    spans = {"q": [(0.0, 10.0), (40.0, 50.0), (0.0, 30.0)]}
    assert percent("SpanAP@3; SpanAP@1", references, spans) == pytest.approx([100 * (1 / 9 + 4 / 9), 100 / 9])
    # The second answer takes the second reference; the first one, which is far from both, has an IoU of 0.
    assert percent("mIoU@2", references, {"q": [(40.0, 50.0), (20.0, 30.0)]}) == [50.0]
    # From 0 to 10 s: recall and IoU are 0.5, which reaches 51 thresholds and exceeds 50; the first counts half.
    assert percent("Area,of=recall; Area,of=IoU", references, {"q": [(0.2, 9.7)]}) == pytest.approx([50.5, 49.5])


halves = st.integers(0, 200).map(lambda number: number / 2)
moments = st.tuples(halves, halves.map(lambda length: length + 0.5)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(moments, min_size=1, max_size=3), st.lists(moments, min_size=1, max_size=3), st.floats(0.05, 1))
def test_bounds_and_relations(references, answers, threshold) -> None:
    m = round(threshold, 2)
    measures = (
        f"mIoP; mIoU; CoverF1,IoU={m}; F1,IoU={m}; mR@1,IoU={m}; R@1,IoU={m}; mIoU@1; Area,of=IoU; Area,of=precision; "
        "Area,of=recall"
    )
    wanted = {"q": references}
    figures = percent(measures, wanted, {"q": answers})
    assert all(0 <= figure <= 100 for figure in figures)
    iop, iou, covered, paired, several, recall, one, *areas = figures
    assert iop >= iou - 1e-9
    assert covered >= paired - 1e-9  # pairs are right answers and found references
    assert (several, one) == (recall, pytest.approx(iou))
    assert areas[0] <= min(areas[1:]) + 1e-9
    for order in permutations(answers):
        again = percent(measures, wanted, {"q": list(order)})
        assert again[2] == pytest.approx(covered)
        assert again[-3:] == pytest.approx(areas)


def test_a_query_with_fewer_references_or_answers_is_left_out() -> None:
    references = {"a": [(0.0, 5.0)], "b": [(0.0, 5.0), (6.0, 9.0)]}
    scores = evaluate(as_annotations(references), Predictions.from_lists({"b": [(0.0, 5.0)]}), "mR@2; mIoU@2")
    assert np.isnan([scores.value("mR@2"), scores.value("mIoU@2")]).all()


@pytest.mark.parametrize(
    ("measures", "says"),
    [
        ("mIoP[ref=merged]", "references that are merged have no moments"),
        ("R@1,IoP=1.5", "got IoP=1.5, expected a threshold from 0 to 1"),
        ("Area,of=F1", r"expected of=IoU\|precision\|recall"),
        ("mR@0", "expected 1 or more"),
        ("mIoU@2[ref=first]", "takes no"),
    ],
)
def test_refusals(measures: str, says: str) -> None:
    with pytest.raises(MeasureError, match=says):
        percent(measures, *made())
