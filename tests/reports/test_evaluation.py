"""The report of an evaluation: the document for programs, and the words for people."""

import dataclasses
import json
import math

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.base.boundary.documents import as_json
from truemoment.data.formats import MatchReport
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.uncertainty import bootstrap, interval95
from truemoment.studies.evaluate import report


def made(
    measures="mIoU", protocol=None, *, resamples=0, seed=0, answers=None, duration_s=30.0, **counts
) -> report.Evaluation:
    """An evaluation of two queries of two videos; `counts` go into the match report."""
    annotations = Annotations.from_rows(
        [("v#0", "v", duration_s, "a", 0.0, 8.0), ("w#0", "w", duration_s, "b", 0.0, 10.0)],
        dataset="made",
        split="test",
    )
    predictions = Predictions.from_lists(answers or {"v#0": [(0.0, 4.0)], "w#0": [(0.0, 10.0)]})
    scores = evaluate(annotations, predictions, measures, protocol)
    intervals = None
    if resamples:
        intervals = interval95(bootstrap(scores, np.random.default_rng(seed), resamples=resamples))
    return report.Evaluation.of(
        scores,
        ci95=intervals,
        match=MatchReport(**{"format": "native", "recognised": "as asked", "rows": 2, "moments": 2} | counts),
        source={"path": "preds.jsonl", "sha256": "ab" * 32},
        depth=int(predictions.lengths.max(initial=0)),
        resamples=resamples,
        seed=seed,
    )


def rows_of(evaluation) -> list[list[str]]:
    """Rows of the table, as text."""
    ((_, rows),) = report.table(evaluation).groups
    return [[cell.text for cell in row] for row in rows]


# ---------------------------------------------------------------------------------------------- notes


def test_nothing_to_note():
    assert report.notes(made()) == []


@pytest.mark.parametrize(
    ("counts", "note"),
    [
        ({"swapped": 3}, "3 of 2,000 predicted moments end before they start"),
        ({"zero_length": 5}, "5 of 2,000 predicted moments have zero length"),
        ({"past_end": 1598}, "1,598 of 2,000 predicted moments end after the end of the video"),
        ({"clipped": 2}, "2 of 2,000 predicted moments had a negative time, which was set to 0"),
        ({"unmatched": 1200}, "1,200 rows match no query and are ignored"),
        ({"missing": 4}, "4 queries have no prediction"),
        ({"empty": 4}, "4 queries have an empty prediction"),
        ({"shared": 2}, "2 queries have the same row as another query with the same video and sentence"),
        ({"reordered": 7}, "7 lists are not sorted by score"),
        ({"ties": 1000}, "1,000 lists have tied scores, ranked in file order"),
    ],
)
def test_each_count_has_its_words(counts, note):
    assert report.notes(made(moments=2000, **counts)) == [note]


def test_the_most_serious_comes_first():
    counts = {
        "ties": 2,
        "reordered": 2,
        "shared": 2,
        "past_end": 2,
        "swapped": 2,
        "empty": 2,
        "missing": 2,
        "unmatched": 2,
    }
    words = [note.split(" ", 1)[1] for note in report.notes(made(**counts))]
    assert words == [
        "rows match no query and are ignored",
        "queries have no prediction",
        "queries have an empty prediction",
        "of 2 predicted moments end before they start",
        "of 2 predicted moments end after the end of the video",
        "queries have the same row as another query with the same video and sentence",
        "lists are not sorted by score",
        "lists have tied scores, ranked in file order",
    ]


@pytest.mark.parametrize("count", ["missing", "empty", "shared", "reordered", "ties", "unmatched"])
def test_one_is_not_written_as_many(count):
    (note,) = report.notes(made(**{count: 1}))
    assert note.startswith("1 ")
    assert not note.startswith(("1 queries", "1 rows", "1 lists"))


def test_what_the_protocol_touched():
    evaluation = made(protocol="default,clip_references=yes", duration_s=9.0)
    # The second reference, 0-10, ends past the 9 s of its video.
    assert report.notes(evaluation) == ["protocol default,clip_references=yes: 1 query with a clipped reference"]
    assert as_json(report.document(evaluation))["touched"] == {"a clipped reference": 1}


def of_nothing(protocol, measures="mIoU") -> report.Evaluation:
    """An evaluation of five queries: one has a moment; of the others two are abstained from, one is not to be read."""
    nan = math.nan
    rows = [("v#0", "v", 30.0, "a", 0.0, 8.0)] + [(f"v#{k}", "v", 30.0, f"b{k}", nan, nan) for k in range(1, 5)]
    status = np.array(["failed", "no answer", "no answer", "refused"], dtype=object)
    nothing = np.zeros(0)
    predictions = Predictions(
        [f"v#{k}" for k in range(4)], np.zeros(5, dtype=int), nothing, nothing, nothing, status=status
    )
    scores = evaluate(Annotations.from_rows(rows), predictions, measures, protocol)
    match = MatchReport(format="native", recognised="as asked", rows=4, moments=0)
    return report.Evaluation.of(scores, match, {"path": "p", "sha256": ""}, depth=0)


def test_queries_without_a_moment_are_counted_aloud():
    assert report.notes(of_nothing("default")) == [
        "protocol default: 4 queries with no reference moment (left out)",
        "protocol default: 1 query with no answer that could be read (worst value)",
    ]
    assert report.notes(of_nothing("sets")) == [
        "protocol sets: 4 queries with no reference moment (right if abstained)",
        "protocol sets: 2 queries with no reference moment and an abstention (right)",
        "protocol sets: 1 query with no answer (worst value)",
        "protocol sets: 2 queries with no answer that could be read (worst value)",
    ]


def test_each_undefined_figure_has_its_own_reason():
    evaluation = made("CorrectAbstention; FalseAbstention; R@1,IoU=0.5,length=long; mAP,length=long")
    assert report.notes(evaluation) == [
        "undefined, since no query that counts is without a reference moment: CorrectAbstention",
        "undefined, since no query has a reference that counts: R@1,IoU=0.5,length=long, mAP,length=long",
    ]
    assert (
        as_json(report.document(evaluation))["measures"][0]["why"]
        == "no query that counts is without a reference moment"
    )


@pytest.mark.parametrize(
    ("answers", "note"),
    [
        (
            {"v#0": [(0, 4)], "w#0": [(0, 5)]},
            "each query has at most 1 prediction, so R@5,IoU=0.5, AxIoU@10 use no more than that",
        ),
        (
            {"v#0": [(0, 4)], "w#0": [(0, 5)] * 7},
            "each query has at most 7 predictions, so AxIoU@10 uses no more than that",
        ),
    ],
)
def test_measures_deeper_than_the_lists(answers, note):
    assert report.notes(made("R@1,IoU=0.5; R@5,IoU=0.5; AxIoU@10", answers=answers)) == [note]


def test_lists_that_are_deep_enough():
    answers = {"v#0": [(0, 4)] * 5, "w#0": [(0, 5)]}
    assert report.notes(made("R@5,IoU=0.5; mIoU", answers=answers)) == []


# ------------------------------------------------------------------------------------------ undefined


def test_undefined_is_null_with_why_and_never_nan():
    # No reference lasts more than 30 s.
    evaluation = made("mIoU; R@1,IoU=0.5,length=long; mAP,length=long", resamples=20)
    document = as_json(report.document(evaluation))
    assert [figure["value"] for figure in document["measures"]] == [0.75, None, None]
    for figure in document["measures"][1:]:
        assert figure["why"] == "no query has a reference that counts"
        assert "ci95" not in figure
        assert (figure["n_queries"], figure["n_videos"]) == (0, 0)
    assert "why" not in document["measures"][0]
    json.dumps(document, allow_nan=False)
    note = "undefined, since no query has a reference that counts: R@1,IoU=0.5,length=long, mAP,length=long"
    assert report.notes(evaluation)[-1] == note
    assert document["notes"] == report.notes(evaluation)
    assert rows_of(evaluation)[1][:3] == ["R@1,IoU=0.5,length=long", "-", "-"]


def test_no_part_of_a_document_is_nan():
    def walk(value):
        if isinstance(value, dict):
            return all(map(walk, value.values()))
        if isinstance(value, list | tuple):
            return all(map(walk, value))
        return not isinstance(value, float) or math.isfinite(value)

    # Few resamples of two videos, of which one carries no weight: some resamples are undefined.
    evaluation = made("R@1,IoU=0.5,length=short; R@1,IoU=0.5,length=middle; AxIoU@10", resamples=10)
    assert walk(as_json(report.document(evaluation)))


# -------------------------------------------------------------------------------------- table and words


def test_the_table():
    evaluation = made("mIoU; R@1,IoU=0.5")
    assert rows_of(evaluation) == [
        ["mIoU", "75.00", "2", ""],  # IoU 1/2 and 1
        ["R@1,IoU=0.5", "50.00", "2", "1"],  # 1/2 does not exceed 0.5, and is a tie at the threshold
    ]


def test_the_table_with_intervals():
    evaluation = made("mIoU", resamples=200, seed=3)
    document = as_json(report.document(evaluation))
    low, high = document["measures"][0]["ci95"]
    assert (low, high) == (0.5, 1.0)  # either video alone is drawn in half of the resamples
    assert rows_of(evaluation)[0][2] == "50.00 to 100.00"
    assert (document["resamples"], document["seed"]) == (200, 3)


def test_the_facts():
    evaluation = made(by_id=1, by_text=1200, by_position=3, text_differs=17, rows=1204)
    assert report.report(evaluation).facts == (
        ("data", "made/test: 2 queries, 2 videos"),
        (
            "predictions",
            "preds.jsonl: native (as asked); 1,204 rows, 1 matched by id, 1,200 matched by video and sentence, "
            "3 matched by position in the video (17 sentences differ in punctuation or case)",
        ),
    )
    assert report.report(made()).facts[1][1] == "preds.jsonl: native (as asked); 2 rows, none matched"


def test_the_signature():
    evaluation = made()
    assert report.report(evaluation).signature == evaluation.signature()
    with_intervals = dataclasses.replace(evaluation, resamples=1000, seed=4)
    assert report.report(with_intervals).signature == (
        evaluation.signature() + "|intervals:1000 resamples of videos, seed 4"
    )


def test_the_document_holds_all_counts():
    evaluation = made(ties=3)
    document = as_json(report.document(evaluation))
    assert document["match"] == evaluation.match.as_dict()
    assert document["match"]["ties"] == 3
    assert document["predictions"] == {"path": "preds.jsonl", "sha256": "ab" * 32}
    assert document["annotations"] == {
        "sha256": evaluation.annotations_sha256,
        "n_queries": 2,
        "n_videos": 2,
    }
    assert document["convention"] == evaluation.protocol.convention()
