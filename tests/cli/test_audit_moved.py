"""truemoment features change, and audit --changed: answers of any method on videos in which moments move."""

import json

import numpy as np
import pytest

from truemoment import Annotations, Predictions, read_annotations
from truemoment.data.formats import write_predictions
from truemoment.data.references import write_annotations
from truemoment.media.features import Features, write_features

VIDEOS = range(60)


def write_answers(path, annotations, moment):
    answers = Predictions.from_lists({query_id: [moment] for query_id in annotations.query_id})
    write_predictions(path, answers, annotations)


@pytest.fixture
def place(tmp_path):
    """Write 60 videos of 40 s with a row a second, a moment at 10 to 20 s of each, and answers."""
    rows = [(f"v{v}#0", f"v{v}", 40.0, "a person opens a door", 10.0, 20.0) for v in VIDEOS]
    annotations = Annotations.from_rows(rows)
    write_annotations(tmp_path / "mine.jsonl", annotations)
    frames = {f"v{v}": np.random.default_rng(v).normal(size=(40, 2)).astype(np.float32) for v in VIDEOS}
    write_features(tmp_path / "features.npz", Features(frames, 1.0))
    write_answers(tmp_path / "preds.jsonl", annotations, (10.0, 20.0))
    return tmp_path


@pytest.mark.slow
def test_foreign_answers_are_audited_with_a_folder_of_changed_videos(call, place):
    words = ["features", "change", place / "features.npz", "--annotations", place / "mine.jsonl"]
    status, out, err = call(*words, "--change", "prepended-noise:10", "-o", place / "noise")
    assert (status, out) == (0, f"{place / 'noise'}: 60 videos, as float32\n"), err
    words = ["audit", place / "preds.jsonl", "--annotations", place / "mine.jsonl", "--fit-split", "none"]
    words += ["--measures", "R@1,IoU=0.5", "--resamples", "200", "--permutations", "99", "--quiet", "--json", "-"]
    found = {}
    for name, moment in {"stay": (10.0, 20.0), "follow": (20.0, 30.0)}.items():
        write_answers(place / f"{name}.jsonl", read_annotations(place / "noise" / "annotations.jsonl"), moment)
        status, out, err = call(*words, "--changed", place / "noise", place / f"{name}.jsonl")
        assert status == 0, err
        document = json.loads(out)
        (found[name],) = document["moved"]
        assert document["predictions"]["beside"][f"changed {place / 'noise'}"]["path"] == str(place / f"{name}.jsonl")
    assert [found[name]["measures"][0]["value"] for name in ("stay", "follow")] == [0, 1]
    assert [found[name]["against"][0]["difference"]["value"] for name in ("stay", "follow")] == [-1, 1]
    assert found["follow"]["change"] == str(place / "noise")


def test_changes_are_refused_before_any_work(fails, place):
    words = ["audit", place / "preds.jsonl", "--annotations", place / "mine.jsonl"]
    assert fails(2, *words, "--change", "truncated").startswith("--change: only a model reads these")
    assert "unknown change 'cut'" in fails(2, *words, "--model", place, "--change", "cut")
    changed = ["--changed", place / "noise", place / "follow.jsonl"]
    assert "expected one file of predictions each" in fails(2, *words, *changed, *changed)
    assert "noise" in fails(2, *words, *changed)
