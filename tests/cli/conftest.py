"""The command line in this process: run words, get status, standard output and standard error."""

import json
import re

import numpy as np
import pytest

from truemoment.cli import run
from truemoment.searching import extraction


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    """The variable of whoever runs the tests is not seen here."""
    monkeypatch.delenv("TRUEMOMENT_DATA", raising=False)


@pytest.fixture
def call(capfd):
    """Run the command line: call("measures", "list") -> (status, standard output, standard error).

    How long the command takes is left out of standard error: tests/cli/test_expected.py.
    """

    def run_words(*words, debug=False):
        capfd.readouterr()
        status = run([str(word) for word in words], debug=debug)
        out, err = capfd.readouterr()
        return status, out, re.sub(r"^this takes .*\n", "", err, flags=re.MULTILINE)

    return run_words


@pytest.fixture
def fails(call):
    """Run words that must fail: fails(2, ...) -> the one line on standard error, without its "truemoment: "."""

    def run_words(expected_status, *words):
        status, out, err = call(*words)
        assert status == expected_status
        assert out == ""
        lines = err.splitlines()
        assert len(lines) == 1, err  # DESIGN.md, command line: one clear line on standard error
        assert lines[0].startswith("truemoment: ")
        return lines[0].removeprefix("truemoment: ")

    return run_words


@pytest.fixture
def annotations(tmp_path):
    """Four queries of two videos of 40 s; one in a split of its own."""
    path = tmp_path / "mine.jsonl"
    rows = [
        ("v", "a door opens", [10, 20], "test"),
        ("v", "a dog barks", [0, 8], "test"),
        ("w", "somebody laughs", [20, 40], "test"),
        ("w", "it rains", [0, 40], "train"),
    ]
    path.write_text(
        "".join(
            json.dumps({"video_id": v, "sentence": s, "duration_s": 40, "moments": [m], "split": split}) + "\n"
            for v, s, m, split in rows
        )
    )
    return path


@pytest.fixture
def predictions(tmp_path):
    """Answers to the three test queries, by hand: IoU of the first 1, 1/2 and 3/4; of the best of two 1, 1 and 3/4."""
    path = tmp_path / "preds.jsonl"
    answers = {"v#0": [[10, 20, 0.9]], "v#1": [[0, 4, 0.9], [0, 8, 0.5]], "w#0": [[20, 35, 0.9], [0, 5, 0.5]]}
    path.write_text("".join(json.dumps({"query_id": q, "moments": m}) + "\n" for q, m in answers.items()))
    return path


@pytest.fixture
def evaluate(call, annotations, predictions):
    """Evaluate these predictions on these annotations, with options."""
    return lambda *options: call("evaluate", predictions, "--annotations", annotations, "--split", "test", *options)


@pytest.fixture
def evaluate_fails(fails, annotations, predictions):
    """Evaluate these predictions on these annotations, with options that must fail."""
    return lambda *options: fails(2, "evaluate", predictions, "--annotations", annotations, *options)


@pytest.fixture
def three_runs(tmp_path, monkeypatch):
    """24 test queries of 12 videos of 40 s, as many to train on, and files that answer 20, 14 and 8 rightly."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = []
    for split in ("test", "train"):
        for i in range(24):
            start = int(rng.integers(0, 30))
            video = f"{split}{i // 2}"
            moment = [start, start + int(rng.integers(4, 11))]
            rows.append(
                {"video_id": video, "sentence": f"door {i % 2}", "duration_s": 40, "moments": [moment], "split": split}
            )
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "runs").mkdir()
    for name, right in (("a", 20), ("b", 14), ("c", 8)):
        lines = []
        for i, row in enumerate(rows[:24]):
            moments = [[*row["moments"][0], 1.0], [0, 40, 0.5]]
            if (i * 7) % 24 >= right:
                moments = [[0, 2, 1.0], [0, 40, 0.5]]
            lines.append(json.dumps({"query_id": f"{row['video_id']}#{i % 2}", "moments": moments}))
        (tmp_path / "runs" / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def in_colours(colours, tmp_path, monkeypatch):
    """Where a model is loaded, it is the encoder of mean colours; the folder is an empty one."""
    monkeypatch.setattr("truemoment.media.video.encoders.load_encoder", colours.load_encoder)
    extraction._load.cache_clear()
    monkeypatch.chdir(tmp_path)
    yield
    extraction._load.cache_clear()
