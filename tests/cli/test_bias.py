"""truemoment bias: datasets in, tables, JSON, figures and a page out."""

import json
import re
from itertools import islice
from pathlib import Path

import pytest

from truemoment.data.datasets.all_splits import splits_of_dataset
from truemoment.worlds import make_world, write_world

QUICK = ["--permutations", "10", "--draws", "10", "--quiet"]
JSON_MD = Path(__file__).resolve().parents[2] / "docs" / "json-datasets.md"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A built-in world in a file, with its four splits."""
    folder = tmp_path_factory.mktemp("world")
    write_world(make_world(60, location_prior=0.8, query_prior=0.8, seed=1), folder)
    return folder / "annotations.jsonl"


def test_sentences_tables_and_signature(call, world):
    status, out, err = call("bias", "--annotations", world, *QUICK, "--full")
    assert (status, err) == (0, "")
    assert out.startswith("What a guess can learn\n======================\nannotations.jsonl\n- ")
    for caption in ("Biases.", "Locations of moments:", "Distance between the moments", "Durations, queries and words"):
        assert f"\n{caption}" in out
    assert re.search(r"\ntest-ood ", out)
    assert "\nOrder of sentences\n===" in out
    _, out, _ = call("bias", "--annotations", world, *QUICK[:-1])
    assert out.splitlines()[-1].startswith("bias|data:annotations.jsonl/train#")


def test_every_field_of_the_json_is_explained(call, world):
    _, out, _ = call("bias", "--annotations", world, *QUICK, "--json", "-")
    document = json.loads(out)
    [dataset] = document["datasets"]
    names = set(document) | {f"datasets.{key}" for key in dataset}
    names |= {f"splits.{key}" for split in (*dataset["splits"], dataset["whole"]) for key in split}
    names |= {f"statistics.{key}" for key in dataset["whole"]["statistics"]}
    for field in ("distances", "order", "shared_words", "uniqueness"):
        names |= {f"{field}.{key}" for entry in dataset[field] for key in entry}
    for field in ("verbs", "information", "long_tail"):
        names |= {f"{field}.{key}" for key in dataset[field]}
    below = JSON_MD.read_text(encoding="utf-8").partition("\n## What `bias` writes\n")[2]
    table = re.search(r"^\|(?:.*\n)+?(?=\n)", below, re.MULTILINE)[0]
    explained = [name for line in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", line.split("|")[1])]
    assert sorted(explained) == sorted(names)


# ------------------------------------------------------------------------------------------ which splits


def write_lines(path, *lines):
    rows = ({"duration_s": 40, "moments": [[n, 9 + n]], **line} for n, line in enumerate(lines))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def splits_of(call, *words):
    status, out, err = call("bias", *words, *QUICK, "--json", "-")
    assert status == 0, err
    return [
        {split["split"]: split["n_queries"] for split in dataset["splits"]} for dataset in json.loads(out)["datasets"]
    ]


def test_lines_without_a_split_are_a_split_of_their_own_and_count_once(call, tmp_path):
    lines = [{"video_id": f"v{n}", "sentence": f"a man opens door {n}"} for n in range(6)]
    for number, split in enumerate(("train", "train", "zeta", None, "test", None)):
        lines[number] |= {"split": split} if split else {}
    path = write_lines(tmp_path / "mine.jsonl", *lines)
    assert splits_of(call, "--annotations", path) == [{"train": 2, "test": 1, "zeta": 1, "no split": 2}]
    assert splits_of(call, "--annotations", path, "--split", "test") == [{"test": 1}]


def test_a_file_that_names_no_split_is_one(call, tmp_path):
    path = write_lines(tmp_path / "mine.jsonl", {"video_id": "v", "sentence": "a"}, {"video_id": "w", "sentence": "b"})
    assert splits_of(call, "--annotations", path) == [{"all": 2}]


def test_several_files_are_several_datasets(call, tmp_path, world):
    path = write_lines(tmp_path / "mine.jsonl", {"video_id": "v", "sentence": "a man runs"})
    assert len(splits_of(call, "--annotations", path, "--annotations", world)) == 2


@pytest.mark.data
def test_a_split_that_is_made_of_others_stands_for_them(data_dir):
    title, splits, notes = splits_of_dataset("activitynet-captions", data_dir=data_dir)
    assert title == "ActivityNet Captions"
    assert {name: of.n_queries for name, of in splits.items()} == {"train": 37_421, "test": 34_536}  # Closer Look
    assert notes == ("test contains val_1 and val_2",)
    _, splits, notes = splits_of_dataset("activitynet-captions", ("val_2",), data_dir=data_dir)
    assert (list(splits), notes) == (["val_2"], ())


@pytest.mark.data
def test_missing_splits_are_named(call, data_dir, tmp_path):
    (tmp_path / "qvhighlights").mkdir()
    for file in (data_dir / "qvhighlights").glob("highlight_*.jsonl"):  # the first lines are enough
        with file.open(encoding="utf-8") as lines:
            (tmp_path / "qvhighlights" / file.name).write_text("".join(islice(lines, 100)), encoding="utf-8")
    status, out, _ = call("bias", "--dataset", "qvhighlights", "--data-dir", tmp_path, *QUICK, "--full")
    assert status == 0
    assert "\nTest is missing.\n" in out


# ------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "which datasets? give --dataset NAME or --annotations FILE, once or more"),
        (["--dataset", "nowhere", "--data-dir", "."], "unknown dataset 'nowhere', expected one that "),
        (["--dataset", "tacos", "--dataset", "tacos"], "got a dataset twice, expected each once"),
        (["--annotations", "mine.jsonl", "--open"], "--html: expected the name of a file"),
        (["--annotations", "mine.jsonl", "--html", "-"], "--html: expected the name of a file"),
        (["--annotations", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--annotations", "mine.jsonl", "--engine", "ear"], "unknown language engine 'ear'"),
        (["--annotations", "mine.jsonl", "--split", "dev"], "mine.jsonl: its lines name no split, expected no --split"),
        (["--annotations", "mine.jsonl", "--html", "mine.jsonl"], "mine.jsonl: is read or written already"),
        (
            ["--dataset", "activitynet-captions", "--data-dir", ".", "--split", "test", "--split", "val_1"],
            "activitynet-captions: test is made of val_1, expected only one of them",
        ),
        (["--dataset", "tacos", "--data-dir", ".", "--split", "dev"], "tacos has no split 'dev', expected one of"),
    ],
)
def test_mistakes_are_reported_in_a_line(fails, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "mine.jsonl", {"video_id": "v", "sentence": "a man runs"})
    before = (tmp_path / "mine.jsonl").read_bytes()
    assert message in fails(2, "bias", *words)
    assert (tmp_path / "mine.jsonl").read_bytes() == before


def test_a_split_that_nobody_has_is_refused(fails, world):
    line = fails(2, "bias", "--annotations", world, "--split", "dev")
    assert line.endswith("has no split 'dev', expected one of train, val, test-iid, test-ood")
