"""evaluate_relabelled: the same figures as evaluate() on annotations whose moments were marked otherwise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from truemoment import Annotations, Predictions, get_protocol, parse_measures
from truemoment.base.errors import InputError, MeasureError, ProtocolError, UsageError
from truemoment.evaluation.evaluate import evaluate, evaluate_relabelled
from truemoment.evaluation.protocols import PROTOCOLS

pytestmark = pytest.mark.slow

nan = float("nan")

MEASURES = [
    "R@1,IoU=0.3", "R@5,IoU=0.5", "R@1,IoU=0", "dR@1,IoU=0.3", "dR@3,IoU=0.1", "mIoU", "AxIoU@1", "AxIoU@10",
    "NCxIoU@3,p=weights(1,2,3)", "AP@10,IoU=0.3", "mAP", "mAP,IoU=0.5", "DCG@10", "F1,IoU=0.5", "SetIoU",
    "CorrectAbstention", "FalseAbstention", "R@1,IoU=0.3[ref=first]", "mIoU[ref=representative]", "mIoU[ref=merged]",
    "mIoU[ref=rows]", "mIoU[ref=pooled]", "dR@1,IoU=0.1[ref=rows]",
]  # fmt: skip
CLASSES = [f"{m},length={of}" for m in ("R@1,IoU=0.3", "mAP", "mAP,IoU=0.5") for of in ("short", "middle", "long")]
CHANGED = [
    "default,missing=drop",
    "default,clip_references=yes,clip_predictions=yes",
    "default,times=normalised,precision=float32",
    "default,references=rows,missing=drop",
    "default,nms_threshold=0.5,top=2",
    "default,epsilon=0.5,denominator=union",
    "sets,missing=drop",
]


def measures_of(protocol: str) -> list[str]:
    """All measures but those that a protocol's own reference rule leaves without a definition."""
    pooled = get_protocol(protocol).references == "pooled"
    return [m for m in MEASURES + CLASSES if not (pooled and ("length=" in m or m.startswith("dR@")) and "[" not in m)]


def with_holes(annotations: Annotations) -> Annotations:
    """Two more queries in whose videos there is no such moment, one of unknown duration."""
    rows = zip(
        annotations.query_id,
        annotations.video_id,
        annotations.duration_s,
        annotations.sentence,
        annotations.start_s,
        annotations.end_s,
        annotations.annotator,
        strict=True,
    )
    return Annotations.from_rows([("n#0", "n", 9.0, "a", nan, nan), *rows, ("n#1", "m", nan, "b", nan, nan)])


def with_more(predictions: Predictions, more: dict[str, list[tuple[float, ...]]]) -> Predictions:
    """The same answers, and some of other queries; an empty list is an abstention."""
    lists = {
        query_id: [
            (float(predictions.start_s[i]), float(predictions.end_s[i]), float(predictions.score[i]))
            for i in range(predictions.offsets[q], predictions.offsets[q + 1])
        ]
        for q, query_id in enumerate(predictions.query_id)
    }
    return Predictions.from_lists(lists | more)


def noisy(annotations: Annotations, n: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Times moved by whole and by odd seconds: before the video, past its end, swapped, empty, as they were."""
    rng = np.random.default_rng(seed)
    start_s = annotations.start_s + rng.normal(0, 4, (n, len(annotations)))
    end_s = annotations.end_s + rng.normal(0, 4, (n, len(annotations)))
    start_s[1], end_s[1] = annotations.start_s, annotations.end_s
    end_s[2, ::3] = start_s[2, ::3]
    start_s[3] = annotations.start_s + rng.integers(-8, 9, len(annotations)) / 4
    end_s[3] = start_s[3] + 12 * rng.random(len(annotations))
    return start_s, end_s


def by_evaluate(annotations, predictions, times, measures, protocol) -> list[list[float]]:
    """Figures the long way: annotations made anew for every set."""
    figures = []
    for start, end in zip(*times, strict=True):
        other = dataclasses.replace(annotations, start_s=start, end_s=end)
        scores = evaluate(other, predictions, measures, protocol)
        figures.append([scores.value(measure) for measure in measures])
    return figures


@pytest.mark.parametrize("protocol", [*PROTOCOLS, *CHANGED])
def test_equals_evaluate(world, protocol) -> None:
    """This world holds several references, empty and swapped ones, missing queries and 4 empty lists."""
    drawn = world(30)
    annotations, predictions = drawn.annotations, drawn.predictions
    if "refuse" in (get_protocol(protocol).missing, get_protocol(protocol).unreadable):
        protocol += ",missing=worst" if "," not in protocol else ""
    measures = measures_of(protocol)
    start_s, end_s = noisy(annotations)
    found = evaluate_relabelled(annotations, predictions, start_s, end_s, measures, protocol=protocol)
    expected = by_evaluate(annotations, predictions, (start_s, end_s), measures, protocol)
    assert found.shape == (4, len(measures))
    for m, measure in enumerate(measures):
        # Both add the same per-query numbers, in another order.
        np.testing.assert_allclose(found[:, m], np.array(expected)[:, m], rtol=0, atol=1e-14, err_msg=measure)


@pytest.mark.parametrize("protocol", ["default", "sets", "sets,missing=drop", "closer-look", "default,missing=drop"])
def test_equals_evaluate_where_queries_have_no_moment(world, protocol) -> None:
    drawn = world(23)
    annotations = with_holes(drawn.annotations)
    predictions = with_more(drawn.predictions, {"n#1": [], "n#0": [(1.0, 2.0, 0.5)]})
    measures = [m for m in measures_of(protocol) if not m.startswith("dR@") and "length=" not in m]
    start_s, end_s = noisy(annotations)
    found = evaluate_relabelled(annotations, predictions, start_s, end_s, measures, protocol=protocol)
    expected = np.array(by_evaluate(annotations, predictions, (start_s, end_s), measures, protocol))
    for m, measure in enumerate(measures):
        np.testing.assert_allclose(found[:, m], expected[:, m], rtol=0, atol=1e-14, err_msg=measure)


def test_as_they_are_gives_the_figures_of_evaluate(world) -> None:
    drawn = world(24)
    annotations = drawn.annotations
    measures = MEASURES + CLASSES
    scores = evaluate(annotations, drawn.predictions, measures)
    found = evaluate_relabelled(
        annotations, drawn.predictions, annotations.start_s[None], annotations.end_s[None], measures
    )
    np.testing.assert_allclose(found[0], [scores.value(m) for m in measures], rtol=0, atol=1e-14)


def test_lengths_are_those_of_the_other_references(one_video) -> None:
    """A moment of 4 s is short (up to 10 s: measures/base.py), one of 12 s is not: its class goes with the label."""
    annotations, predictions = one_video({"v#0": [(2.0, 6.0)]}, {"v#0": [(2.0, 14.0)]})
    start_s, end_s = np.array([[2.0], [2.0]]), np.array([[6.0], [14.0]])
    asked = ["R@1,IoU=0.5,length=short", "R@1,IoU=0.5,length=middle"]
    found = evaluate_relabelled(annotations, predictions, start_s, end_s, asked)
    np.testing.assert_array_equal(found, [[0, nan], [nan, 1]])


def test_clips_other_references_where_the_protocol_clips(one_video) -> None:
    """A label from -10 to 10 s is 0 to 10 s for a protocol that clips references, so that the answer is exact."""
    annotations, predictions = one_video({"v#0": [(2.0, 6.0)]}, {"v#0": [(0.0, 10.0)]})
    times = np.array([[-10.0]]), np.array([[10.0]])
    clipped = evaluate_relabelled(annotations, predictions, *times, ["mIoU"], protocol="default,clip_references=yes")
    assert clipped.tolist() == [[1.0]]
    assert evaluate_relabelled(annotations, predictions, *times, ["mIoU"]).tolist() == [[0.5]]


def test_measures_are_given_as_asked_for(world) -> None:
    """In their order, twice where asked for twice, in words or as values."""
    drawn = world(25)
    annotations = drawn.annotations
    asked = ["AxIoU@5", parse_measures("mIoU")[0], "AxIoU@05"]
    found = evaluate_relabelled(annotations, drawn.predictions, *noisy(annotations), asked)
    assert found.shape == (4, 3)
    np.testing.assert_array_equal(found[:, 0], found[:, 2])
    alone = evaluate_relabelled(annotations, drawn.predictions, *noisy(annotations), ["mIoU"])
    np.testing.assert_allclose(found[:, 1], alone[:, 0], atol=1e-14)


def test_more_queries_than_a_block(world, monkeypatch) -> None:
    """Answers are held against references some queries at a time; it must not matter how many."""
    drawn = world(26)
    args = drawn.annotations, drawn.predictions, *noisy(drawn.annotations), MEASURES
    whole = evaluate_relabelled(*args)
    monkeypatch.setattr("truemoment.evaluation.evaluate.BLOCK_MOMENTS", 20)
    np.testing.assert_allclose(evaluate_relabelled(*args), whole, rtol=0, atol=1e-14)


def test_leaves_annotations_as_they_are(world) -> None:
    drawn = world(27)
    before = drawn.annotations.start_s.copy()
    start_s, end_s = noisy(drawn.annotations)
    kept = start_s.copy()
    evaluate_relabelled(
        drawn.annotations, drawn.predictions, start_s, end_s, ["mIoU"], protocol="default,clip_references=yes"
    )
    np.testing.assert_array_equal(drawn.annotations.start_s, before)
    np.testing.assert_array_equal(start_s, kept)


# ------------------------------------------------------------------------------------------- refusals


@pytest.fixture
def given(world):
    drawn = world(28)
    return drawn.annotations, drawn.predictions, *noisy(drawn.annotations)


def test_refuses_other_rows_than_the_annotations_have(given) -> None:
    annotations, predictions, start_s, end_s = given
    for start, end in (
        (start_s[:, :-1], end_s[:, :-1]),
        (start_s[:, :1], end_s[:, :1]),  # would be spread over all rows
        (start_s[0], end_s[0]),  # one set without its axis
        (start_s[None], end_s[None]),
        (start_s, end_s[:2]),
    ):
        with pytest.raises(InputError):
            evaluate_relabelled(annotations, predictions, start, end, ["mIoU"])


def test_refuses_rows_that_gain_or_lose_a_moment(given) -> None:
    annotations, predictions, start_s, end_s = given
    holed = start_s.copy()
    holed[1, 3] = nan
    with pytest.raises(InputError, match="a moment wherever the annotations have one"):
        evaluate_relabelled(annotations, predictions, holed, end_s, ["mIoU"])
    half = end_s.copy()
    half[1, 3] = nan
    with pytest.raises(InputError, match="a moment wherever the annotations have one"):
        evaluate_relabelled(annotations, predictions, start_s, half, ["mIoU"])
    without = with_holes(annotations)
    with pytest.raises(InputError, match="a moment wherever the annotations have one"):
        evaluate_relabelled(without, predictions, np.ones((1, len(without))), np.ones((1, len(without))), ["mIoU"])


def test_refuses_clip_ratings(given) -> None:
    with pytest.raises(MeasureError, match="have no clip ratings"):
        evaluate_relabelled(*given, ["mIoU", "HL-mAP,min=Good"])


def test_refuses_unknown_queries_unless_told(given) -> None:
    annotations, predictions, start_s, end_s = given
    more = with_more(predictions, {"z#0": [(1.0, 2.0, 0.5)]})
    with pytest.raises(InputError, match="z#0"):
        evaluate_relabelled(annotations, more, start_s, end_s, ["mIoU"])
    found = evaluate_relabelled(annotations, more, start_s, end_s, ["mIoU"], on_unknown="ignore")
    np.testing.assert_array_equal(found, evaluate_relabelled(*given, ["mIoU"]))
    with pytest.raises(UsageError, match="expected refuse or ignore"):
        evaluate_relabelled(annotations, more, start_s, end_s, ["mIoU"], on_unknown="drop")


def test_refuses_silence_where_the_protocol_does(given) -> None:
    with pytest.raises(ProtocolError, match="missing=worst"):
        evaluate_relabelled(*given, ["mIoU"], protocol="default,missing=refuse")


def test_refuses_nothing_to_evaluate(given) -> None:
    annotations, predictions, *_ = given
    none = annotations.select_queries(np.zeros(annotations.n_queries, dtype=bool))
    nothing = np.zeros((1, 0))
    with pytest.raises(InputError, match="has no query"):
        evaluate_relabelled(none, predictions, nothing, nothing, ["mIoU"])
    with pytest.raises(MeasureError, match="at least one"):
        evaluate_relabelled(*given, [])


def test_needs_durations_where_evaluate_does() -> None:
    annotations = Annotations.from_rows([("v#0", "v", nan, "a", 1.0, 2.0)])
    predictions = Predictions.from_lists({"v#0": [(1.0, 2.0)]})
    times = annotations.start_s[None], annotations.end_s[None]
    assert evaluate_relabelled(annotations, predictions, *times, ["mIoU"]).tolist() == [[1.0]]
    with pytest.raises(MeasureError, match="needs every video's duration"):
        evaluate_relabelled(annotations, predictions, *times, ["dR@1,IoU=0.5"])
