"""Ego4D NLQ by its form, as the owners' evaluation reads it; nothing of the files themselves is here."""

import pytest

from truemoment.data.datasets import get_dataset
from truemoment.data.datasets.faults import find_faults
from truemoment.data.formats import read_predictions

RELEASES = ["ego4d-nlq-v1", "ego4d-nlq-v2"]


def asked(query, start_s, end_s, **more):
    # Times in the long video differ from those in the clip, so that a mix-up shows.
    return {
        "clip_start_sec": start_s,
        "clip_end_sec": end_s,
        "video_start_sec": start_s + 100.0,
        "video_end_sec": end_s + 100.0,
        "query": query,
        "template": "Objects: Where is object X?",
        **more,
    }


def nlq(*annotations, clip="c1", **more):
    clips = [{"clip_uid": clip, "video_start_sec": 100.0, "video_end_sec": 580.5, "annotations": list(annotations)}]
    return {"version": "1", "videos": [{"video_uid": "long", "clips": clips}], **more}


def annotation(uid, *queries):
    return {"annotation_uid": uid, "language_queries": list(queries)}


@pytest.mark.parametrize("name", RELEASES)
def test_times_are_those_in_the_clip(put, load, rows, name):
    file = nlq(
        annotation("a", asked("Where is the cup?", 4.5, 6.0), asked("Who left?", 0.0, 0.0)),
        annotation("b", asked("Where is the cup?", 4.0, 7.0)),
    )
    put(name, "nlq_val.json", file)
    assert rows(load(name, "val")) == [
        ("a_0", "c1", 480.5, "Where is the cup?", 4.5, 6.0, ""),
        ("a_1", "c1", 480.5, "Who left?", 0.0, 0.0, ""),
        ("b_0", "c1", 480.5, "Where is the cup?", 4.0, 7.0, ""),
    ]


@pytest.mark.parametrize("text", [{"query": None}, {"query": ""}, {}])
def test_a_question_without_text_keeps_its_place(put, load, text):
    # facebookresearch/Ego4d, issue 64: six questions of release 1 have none; later ones keep their number.
    without = asked("x", 1.0, 2.0)
    del without["query"]
    put("ego4d-nlq-v1", "nlq_train.json", nlq(annotation("a", without | text, asked("Who left?", 3.0, 4.0))))
    read = load("ego4d-nlq-v1", "train")
    assert list(zip(read.query_id, read.sentence, strict=True)) == [("a_0", ""), ("a_1", "Who left?")]
    found = {finding.kind: finding.query_ids for finding in find_faults(read)}
    assert found["empty sentence"] == ("a_0",)


def test_the_challenges_own_predictions_fit(put, load):
    put("ego4d-nlq-v2", "nlq_val.json", nlq(annotation("a", asked("Where?", 4.5, 6.0), asked("Who?", 7.0, 9.0))))
    results = [
        {"clip_uid": "c1", "annotation_uid": "a", "query_idx": k, "predicted_times": [[k, k + 1.5]]} for k in (1, 0)
    ]
    path = put("ego4d-nlq-v2", "answers.json", {"version": "1.0", "challenge": "x", "results": results})
    predictions, match = read_predictions(path, load("ego4d-nlq-v2", "val"))
    assert (match.format, match.by_id, match.missing) == ("ego4d-nlq", 2, 0)
    assert predictions.start_s.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"videos": [{}]}, ":1: field videos[0].clips: is missing"),
        (
            nlq(annotation("a", asked("x", 1.0, 2.0, clip_end_sec=None))),
            ":1: field videos[0].clips[0].annotations[0].language_queries[0].clip_end_sec: got null, expected a number",
        ),
        (
            nlq(annotation(3, asked("x", 1.0, 2.0))),
            ":1: field videos[0].clips[0].annotations[0].annotation_uid: got a whole number, expected text",
        ),
        (
            nlq(annotation("a", asked("x", 1.0, 2.0)), annotation("a", asked("y", 1.0, 2.0))),
            ": field annotation_uid: 'a_0' appears twice, expected each query once",
        ),
    ],
)
def test_malformed(put, refused, content, said):
    put("ego4d-nlq-v1", "nlq_val.json", content)
    assert refused("ego4d-nlq-v1", "val") == f"ego4d-nlq-v1/nlq_val.json{said}"


def test_published_counts():
    # facebookresearch/Ego4d, issues 64 (release 1) and 432 (release 2).
    counts = {name: [split.n_queries for split in get_dataset(name).splits] for name in RELEASES}
    assert counts == {"ego4d-nlq-v1": [11_296, 3_875], "ego4d-nlq-v2": [13_849, 4_554]}
