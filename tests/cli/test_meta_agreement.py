"""truemoment meta agreement: from prediction files to the terminal, JSON, figures and a page."""

from __future__ import annotations

import json

import pytest

from truemoment import get_protocol, read_annotations, read_predictions
from truemoment.evaluation.evaluate import evaluate


@pytest.fixture
def other(tmp_path):
    """Answers to the same queries: better on the first, worse on the others."""
    path = tmp_path / "other.jsonl"
    answers = {"v#0": [[10, 20, 0.9]], "v#1": [[20, 30, 0.9]], "w#0": [[0, 5, 0.9]]}
    path.write_text("".join(json.dumps({"query_id": q, "moments": m}) + "\n" for q, m in answers.items()))
    return path


@pytest.fixture
def words(annotations, predictions, other):
    """Two systems on three queries by three measures, few resamples."""
    return (
        *("meta", "agreement", f"ours={predictions}", f"theirs={other}", "--annotations", annotations),
        *("--split", "test", "--measures", "R@1,IoU=0.7; R@5,IoU=0.7; AxIoU@5", "--resamples", "20"),
    )


def test_it_tells_what_the_measures_say(call, words):
    """By R@1,IoU=0.7: hits on two of three queries and one; IoU 1, 1/2, 3/4 and 1, 0, 0 (fixtures)."""
    status, out, err = call(*words, "--full")
    assert (status, err) == (0, "")
    assert out.startswith("data     mine.jsonl/test: 3 queries, 2 videos\n")
    assert "Best system by every measure: ours." in " ".join(out.split())
    row = next(line.split() for line in out.splitlines() if line.startswith("theirs"))
    assert row[1] == "33.33"
    assert max(map(len, out.splitlines()[:-1])) <= 100  # the signature is one line


def test_figures_are_those_of_evaluate(call, words, tmp_path, annotations, predictions):
    """The figures of a system are what `truemoment evaluate` gives it."""
    call(*words, "--json", tmp_path / "x.json")
    reference = read_annotations(annotations, split="test")
    answers, _ = read_predictions(predictions, reference)
    scores = evaluate(reference, answers, "R@1,IoU=0.7; R@5,IoU=0.7; AxIoU@5", get_protocol("default"))
    found = json.loads((tmp_path / "x.json").read_text())["studies"]["agreement"]["systems"][0]["measures"]
    assert [one["value"] for one in found] == [scores.value(measure) for measure in scores.measures]


def test_saved_scores_are_systems_too(call, words, tmp_path):
    """What `evaluate --save-scores` saves gives the same taus as the prediction files."""
    for name, word in (("a", words[2]), ("b", words[3])):
        status, _, _ = call(
            *("evaluate", word.partition("=")[2], *words[4:8], "--measures"),
            *("R@1,IoU=0.7; R@5,IoU=0.7; AxIoU@5", "--save-scores", tmp_path / f"{name}.npz"),
        )
        assert status == 0
    _, out, _ = call("meta", "agreement", tmp_path / "a.npz", tmp_path / "b.npz", "--resamples", "20", "--json", "-")
    ours = json.loads(out)["studies"]["agreement"]
    theirs = json.loads(call(*words, "--json", "-")[1])["studies"]["agreement"]
    assert ours["pairs"] == theirs["pairs"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--resamples", "1"], "1 is not in the range"),
        (["--measures", "XYZ"], "unknown measure XYZ"),
    ],
)
def test_mistakes_are_told_in_one_line(fails, words, more, said):
    assert said in fails(2, *words, *more)


def test_one_system_is_too_few(fails, annotations, predictions):
    said = fails(2, "meta", "agreement", predictions, "--annotations", annotations, "--split", "test")
    assert "expected two or more" in said
