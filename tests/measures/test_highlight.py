"""HL-mAP and HIT@1 against slow loops written from highlight.py's description."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.base.errors import InputError, MeasureError, ProtocolError
from truemoment.base.records import Saliency
from truemoment.evaluation.evaluate import evaluate

RATINGS = {"Fair": 2, "Good": 3, "VeryGood": 4}


def make(durations, rated, predicted, *, n_annotators=3):
    """Annotations and predictions of ratings only.

    durations: seconds by query; rated: {query: {clip: [rating an annotator]}}; predicted: {query: [rating a clip]}.
    """
    rows = [(query_id, query_id, duration, "s", 0.0, 1.0) for query_id, duration in durations.items()]
    clips = [(clip, ratings) for query_id in durations for clip, ratings in rated.get(query_id, {}).items()]
    offsets = np.cumsum([0, *(len(rated.get(query_id, {})) for query_id in durations)])
    saliency = Saliency(
        offsets, [c for c, _ in clips], np.array([r for _, r in clips], int).reshape(-1, n_annotators), 2.0
    )
    bare = Annotations.from_rows(rows)
    annotations = Annotations(
        bare.query_id,
        bare.video_id,
        bare.duration_s,
        bare.sentence,
        bare.start_s,
        bare.end_s,
        bare.annotator,
        saliency=saliency,
    )
    n_lists = len(predicted)
    predictions = Predictions(
        list(predicted),
        np.zeros(n_lists + 1, int),
        [],
        [],
        [],
        saliency_offsets=np.cumsum([0, *map(len, predicted.values())]),
        saliency=np.array([value for values in predicted.values() for value in values], float),
    )
    return annotations, predictions


def slow_average_precision(scores, positive):
    """Mean over the steps of recall of the best precision at that recall or beyond, equal scores together."""
    if not any(positive):
        return Fraction(0)
    points = []  # (found, precision) as the threshold falls
    for threshold in sorted(set(scores), reverse=True):
        taken = [right for score, right in zip(scores, positive, strict=True) if score >= threshold]
        points.append((sum(taken), Fraction(sum(taken), len(taken))))
    steps = []
    before = 0
    for i, (found, _) in enumerate(points):
        if found > before:
            steps.append(max(precision for _, precision in points[i:]))
        before = found
    return sum(steps) / len(steps)


def slow_hl_map(duration, rated, predicted, minimum, n_annotators=3):
    n_clips = int(duration / 2)
    scores = [predicted[c] if c < len(predicted) else 0.0 for c in range(n_clips)]
    total = Fraction(0)
    for annotator in range(n_annotators):
        positive = [c in rated and rated[c][annotator] >= RATINGS[minimum] for c in range(n_clips)]
        total += slow_average_precision(scores, positive)
    return total / n_annotators


def slow_hit(duration, rated, predicted, minimum):
    first = predicted.index(max(predicted))
    return first < int(duration / 2) and first in rated and max(rated[first]) >= RATINGS[minimum]


@pytest.mark.parametrize("minimum", RATINGS)
@pytest.mark.parametrize("seed", range(8))
def test_against_slow_loops(agrees, seed, minimum):
    rng = np.random.default_rng(seed)
    durations, rated, predicted = {}, {}, {}
    for number in range(12):
        query_id = f"q{number}"
        durations[query_id] = float(rng.integers(4, 31))  # odd durations: the last second makes no clip
        n_clips = int(durations[query_id] / 2)
        chosen = rng.permutation(n_clips)[: int(rng.integers(0, n_clips + 1))]
        rated[query_id] = {int(c): rng.integers(0, 5, size=3).tolist() for c in chosen}
        length = max(1, n_clips + int(rng.integers(-3, 4)))  # shorter and longer than the video
        predicted[query_id] = (rng.integers(-4, 5, size=length) / 4).tolist()  # few values: many ties, some below 0
    predicted = {query_id: predicted[query_id] for query_id in rng.permutation(list(predicted)).tolist()}
    annotations, predictions = make(durations, rated, predicted)
    scores = evaluate(annotations, predictions, f"HL-mAP,min={minimum}; HIT@1,min={minimum}")
    hl_map = {q: (slow_hl_map(durations[q], rated[q], predicted[q], minimum), 1) for q in durations}
    hit = {q: (int(slow_hit(durations[q], rated[q], predicted[q], minimum)), 1) for q in durations}
    agrees(scores, f"HL-mAP,min={minimum}", hl_map)
    agrees(scores, f"HIT@1,min={minimum}", hit)


# By hand: a video of 6 s has clips 0, 1, 2; one annotator.
@pytest.mark.parametrize(
    ("rated", "predicted", "hl_map", "hit"),
    [
        ({0: [4]}, [0.9, 0.5, 0.1], 1.0, 1),
        ({2: [4]}, [0.9, 0.5, 0.1], 1 / 3, 0),
        ({0: [4], 2: [4]}, [0.9, 0.5, 0.1], (1 + 2 / 3) / 2, 1),
        ({1: [4], 2: [4]}, [0.9, 0.5, 0.1], 2 / 3, 0),  # precisions 0, 1/2, 2/3: both steps at 2/3
        ({0: [3]}, [0.9, 0.5, 0.1], 0.0, 0),  # Good is not VeryGood: nothing positive
        ({}, [0.9, 0.5, 0.1], 0.0, 0),  # clips not rated are not positive
        ({2: [4]}, [0.1, 0.2, 0.5], 1, 1),  # the last clip of the longest video
        ({1: [4]}, [0.5, 0.5, 0.1], 1 / 2, 0),  # equal ratings enter together; HIT takes the first
        ({0: [4]}, [0.5, 0.5, 0.1], 1 / 2, 1),
        ({0: [4], 1: [4]}, [0.5, 0.5, 0.5], 2 / 3, 1),  # three tied, two positive: one step
        ({2: [4]}, [-0.9, -0.5], 1.0, 0),  # the missing third counts 0 and outranks the negative ones
        ({0: [4]}, [0.5, 0.1, 0.2, 0.9], 1.0, 0),  # a fourth clip does not exist: dropped, but it is the first choice
    ],
)
def test_by_hand(rated, predicted, hl_map, hit):
    annotations, predictions = make({"q": 6.0}, {"q": rated}, {"q": predicted}, n_annotators=1)
    scores = evaluate(annotations, predictions, "HL-mAP,min=VeryGood; HIT@1,min=VeryGood")
    assert scores.numerator[:, 0] == pytest.approx([hl_map, hit], rel=1e-15)


def test_annotators_are_averaged_for_hl_map_and_any_counts_for_hit():
    # Clip 0 is positive for the second annotator only: average precision 0, 1, 0.
    annotations, predictions = make({"q": 6.0}, {"q": {0: [1, 3, 2]}}, {"q": [0.9, 0.5, 0.1]})
    scores = evaluate(annotations, predictions, "HL-mAP,min=Good; HIT@1,min=Good; HL-mAP,min=Fair")
    assert scores.numerator[:, 0] == pytest.approx([1 / 3, 1, 2 / 3], rel=1e-15)


def test_a_query_without_ratings_scores_the_worst_value():
    # The default protocol: a query without any answer scores the worst value, which is 0 for both measures.
    annotations, predictions = make(
        {"q": 6.0, "silent": 6.0}, {"q": {0: [4]}, "silent": {0: [4]}}, {"q": [1.0, 0, 0]}, n_annotators=1
    )
    scores = evaluate(annotations, predictions, "HIT@1,min=Good; HL-mAP,min=Good")
    assert scores.weight.tolist() == [[1, 1], [1, 1]]
    assert scores.numerator.tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("missing", "weight", "touched"),
    [("worst", [1, 1, 1], {"no answer (worst value)": 2}), ("drop", [1, 0, 0], {"no answer (left out)": 2})],
)
def test_queries_without_ratings_are_treated_as_the_protocol_says(missing, weight, touched):
    # Of three queries one has ratings, one an empty list, one is not there.
    durations = {"q": 6.0, "empty": 6.0, "absent": 6.0}
    rated = {query_id: {0: [4]} for query_id in durations}
    annotations, predictions = make(durations, rated, {"q": [0.9, 0.5], "empty": []}, n_annotators=1)
    scores = evaluate(annotations, predictions, "HL-mAP,min=Good; HIT@1,min=Good", f"default,missing={missing}")
    assert scores.numerator.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert scores.weight.tolist() == [weight, weight]
    assert scores.touched == touched


def test_queries_without_ratings_are_refused_where_the_protocol_refuses():
    durations = {"q": 6.0, "absent": 6.0}
    annotations, predictions = make(durations, {}, {"q": [0.9]}, n_annotators=1)
    with pytest.raises(ProtocolError, match=r"refuses predictions without .* for 1 of 2 queries \(absent"):
        evaluate(annotations, predictions, "HIT@1,min=Good", "moment-detr")


def test_ratings_alone_are_an_answer_to_what_asks_for_ratings():
    # moment_detr's evaluator scores highlights where there are ratings, with or without windows: a file of ratings
    # alone is complete for these measures, and nothing in it is missing.
    annotations, predictions = make({"q": 6.0}, {"q": {0: [4]}}, {"q": [0.9, 0.5, 0.1]}, n_annotators=1)
    for protocol in ("moment-detr", "moment-detr,missing=drop"):
        scores = evaluate(annotations, predictions, "HL-mAP,min=Good; HIT@1,min=Good", protocol)
        assert scores.weight.tolist() == [[1], [1]]
        assert scores.numerator.tolist() == [[1], [1]]


def test_ratings_beyond_the_video_are_refused():
    annotations, predictions = make({"q": 7.9}, {"q": {3: [1, 1, 1]}}, {"q": [0.5]})
    message = "field saliency: query 'q' rates clip 3, expected less than 3"
    with pytest.raises(InputError, match=re.escape(message)):
        evaluate(annotations, predictions, "HIT@1,min=Fair")


@pytest.mark.parametrize("side", ["annotations", "predictions"])
def test_ratings_are_needed_on_both_sides(one_video, side):
    rated = make({"a": 6.0}, {"a": {0: [4, 4, 4]}}, {"a": [0.5]})
    bare = one_video({"a": [(0, 5)]}, {"a": [(0.0, 5.0)]}, duration_s=6.0)
    pair = (bare[0], rated[1]) if side == "annotations" else (rated[0], bare[1])
    with pytest.raises(MeasureError, match=f"HL-mAP and HIT@1 need clip ratings, and the {side} have none"):
        evaluate(*pair, "HL-mAP,min=Good")


def test_durations_are_needed():
    annotations, predictions = make({"q": float("nan")}, {}, {"q": [0.5]})
    with pytest.raises(MeasureError, match="HL-mAP,min=Good needs every video's duration; 1 video has none"):
        evaluate(annotations, predictions, "HL-mAP,min=Good")


def test_the_protocols_own_measures_leave_ratings_out_where_there_are_none(one_video):
    annotations, predictions = one_video({"a": [(0, 5)]}, {"a": [(0.0, 5.0)]})
    names = [str(measure) for measure in evaluate(annotations, predictions, protocol="moment-detr").measures]
    assert "mAP" in names
    assert not any("min=" in name for name in names)
    rated = make({"a": 6.0}, {"a": {0: [4, 4, 4]}}, {"a": [0.5]})
    names = [str(measure) for measure in evaluate(*rated, protocol="moment-detr,missing=worst").measures]
    assert {"HL-mAP,min=Fair", "HIT@1,min=VeryGood"} <= set(names)
