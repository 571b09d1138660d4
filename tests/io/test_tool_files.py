"""Files that tools write, in the form that their own writers give them."""

import json

import pytest

from truemoment import Annotations
from truemoment.base.errors import InputError
from truemoment.data.answers import Reading
from truemoment.data.formats import read_predictions
from truemoment.evaluation.evaluate import evaluate

THREE = Annotations.from_rows(
    [
        ("11", "AAAAA", 31.0, "person drinks from a mug.", 2.0, 8.0),
        ("12", "BBBBB", 30.0, "person laughs while eating.", 21.0, 30.0),
        ("13", "CCCCC", 33.0, "a person opens a door.", 0.0, 9.0),
    ]
)
TIMECHAT = {
    "11": {"timestamp": [], "query": "person drinks from a mug.", "vid": "AAAAA.mp4"},
    "12": {"timestamp": [[20.8, 30.0]], "query": "person laughs while eating.", "vid": "BBBBB.mp4"},
    "13": {"timestamp": [[0.0, 18.0]], "query": "a person opens a door.", "vid": "CCCCC.mp4"},
}


@pytest.mark.parametrize("indent", [None, 1])
def test_timechat(tmp_path, indent):
    """The third moment has IoU 0.5 exactly, a hit where the threshold itself is one (Charades-STA by TimeChat)."""
    path = tmp_path / "fmt_charades_test_f96_result.json"
    path.write_text(json.dumps(TIMECHAT, indent=indent))
    answers, report = read_predictions(path, THREE)
    assert (report.format, report.by_id, report.failed) == ("timechat", 3, 1)
    scores = evaluate(THREE, answers, "R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7", "default,comparison=>=")
    assert [round(100 * figure.value, 2) for figure in scores.measured()] == [66.67, 66.67, 33.33]


def test_numbers_of_timechats_own(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps({str(int(key) - 11): entry for key, entry in TIMECHAT.items()}))
    _, report = read_predictions(path, THREE)
    assert report.by_text == 3


TWO = Annotations.from_rows(
    [("v_A#0", "v_A", 100.0, "three people stand", 10.0, 90.0), ("v_A#1", "v_A", 100.0, "one starts", 40.0, 60.0)]
)


def log(video="v_A", task="grounding", prompt=0, sentence=0, answer="They stand from 17 to 34."):
    about = {} if task == "captioning" else {"info": {"sentence_id": sentence, "iou": 0.2}}
    return json.dumps({"video_id": video, "task": task, "query_id": prompt, "answer": answer, **about}) + "\n"


def test_vtimellm(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        log(task="captioning", answer="[]")
        + log(sentence=1, answer="It starts from 28 to 71.")
        + log(prompt=1, sentence=0, answer="from 0 to 99")
        + log(video="A")
    )
    answers, report = read_predictions(path, TWO, reading=Reading(axis="bins=100"))
    assert (report.format, report.rows, report.by_position) == ("vtimellm", 2, 2)
    assert answers.start_s.tolist() == [17.0, 28.0]
    assert answers.end_s.tolist() == [35.0, 72.0]
    assert "; 1 row of another task is left out; 1 row of another prompt is left out" in report.recognised


def test_a_sentence_that_the_video_has_not(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(log(sentence=7))
    with pytest.raises(InputError, match="the first is video 'v_A', sentence number 7"):
        read_predictions(path, TWO)


def test_a_log_without_grounding(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(log(task="captioning"))
    with pytest.raises(InputError, match="task grounding: has no predictions"):
        read_predictions(path, TWO)


def test_actionformers_headings(tmp_path):
    path = tmp_path / "eval_results.csv"
    path.write_text("video-id,t-start,t-end,label,score\nBBBBB,20.8,30,person laughs while eating.,0.9\n")
    answers, report = read_predictions(path, THREE)
    assert (report.format, answers.query_id.tolist(), answers.end_s.tolist()) == ("csv", ["12"], [30.0])


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ({"video2idx": {"AAAAA": 0}, "VCMR": [{"desc_id": 11, "predictions": []}]}, "field SVMR: is missing"),
        (
            {"video2idx": {"AAAAA": 0, "B": 1}, "SVMR": [{"desc_id": 11, "predictions": [[0, 1, 2, 3], [1, 1, 2, 3]]}]},
            r"SVMR\[0\].predictions: got videos \[0, 1\], expected one video of video2idx",
        ),
    ],
)
def test_a_tvr_submission_of_no_single_video(tmp_path, file, said):
    path = tmp_path / "p.json"
    path.write_text(json.dumps(file))
    with pytest.raises(InputError, match=said):
        read_predictions(path, THREE)
