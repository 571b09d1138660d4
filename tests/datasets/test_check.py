"""Checking a dataset on small files: checksums, counts and faults against what is published and recorded."""

import dataclasses
import hashlib
import json

import pytest

from truemoment.base.errors import MissingFileError
from truemoment.data.datasets import get_dataset
from truemoment.data.datasets.base import SourceFile, Split
from truemoment.data.datasets.check import check_annotations, check_dataset
from truemoment.data.datasets.own import read


def entry(*times, duration=30.0):
    return {
        "duration": duration,
        "timestamps": [list(t) for t in times],
        "sentences": [f"s{i}." for i in range(len(times))],
    }


@pytest.fixture
def small(put):
    """ActivityNet Captions in small: its reader, files of one or two videos, and their true counts and checksums."""
    contents = {
        "train.json": {"v_t": entry((1, 9), (2, 8))},
        "val_1.json": {"v_a": entry((1, 5)), "v_b": entry((3, 9))},
        "val_2.json": {"v_c": entry((1, 5))},
    }
    files = []
    for name, content in contents.items():
        path = put("activitynet-captions", name, content)
        files.append(SourceFile(name, hashlib.sha256(path.read_bytes()).hexdigest(), f"https://example.org/{name}"))
    return dataclasses.replace(
        get_dataset("activitynet-captions"),
        files=tuple(files),
        splits=(
            Split("train", 2, 1, "this test"),
            Split("val_1", 2, 2, "this test"),
            Split("val_2", 1, 1, "this test"),
            Split("test", 3, 3, "this test", merges=("val_1", "val_2")),
        ),
    )


@pytest.fixture(autouse=True)
def no_record(monkeypatch):
    """No faults are recorded."""
    monkeypatch.setattr("truemoment.data.datasets.faults.known_faults", lambda _: {})


def test_nothing_unexpected(small, tmp_path):
    told = []
    report = check_dataset(small, tmp_path, on_status=told.append)
    assert report.unexpected == ()
    assert report.missing == ()
    assert report.dataset == "activitynet-captions"
    assert report.counts == {"train": (2, 1), "val_1": (2, 2), "val_2": (1, 1), "test": (3, 3)}
    assert not any(finding.fault for finding in report.findings)
    # A merged split is made of the others: its videos are theirs, and that is no fault.
    assert told == [
        "reading activitynet-captions train",
        "reading activitynet-captions val_1",
        "reading activitynet-captions val_2",
        "reading activitynet-captions test",
        "comparing train with val_1",
        "comparing train with val_2",
        "comparing train with test",
        "comparing val_1 with val_2",
    ]


def test_another_content(small, put, tmp_path):
    path = put("activitynet-captions", "train.json", {"v_t": entry((1, 9), (2, 8)), "v_u": entry((9, 1))})
    report = check_dataset(small, tmp_path)
    assert report.unexpected == (
        f"{path}: content differs from the published file (checksum)",
        "train: 3 queries, published 2 (this test)",
        "train: 2 videos, published 1 (this test)",
        "train: swapped: 1 moment, none recorded",
    )


def test_another_layout_of_the_same_content_is_told_by_its_checksum_alone(small, put, tmp_path):
    path = put("activitynet-captions", "val_2.json", json.dumps({"v_c": entry((1, 5))}, indent=1))
    assert check_dataset(small, tmp_path).unexpected == (f"{path}: content differs from the published file (checksum)",)


def test_a_file_known_by_git_only(small, tmp_path):
    # Git's name of a content: SHA-1 of "blob LENGTH", a zero byte and the bytes (git hash-object).
    data = (tmp_path / "activitynet-captions" / "train.json").read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    right = SourceFile("train.json", git_blob=blob)
    wrong = SourceFile("train.json", git_blob="0" * 40)
    unknown = SourceFile("train.json")
    for file, n_problems in ((right, 0), (wrong, 1), (unknown, 0)):
        dataset = dataclasses.replace(small, files=(file,))
        assert len(check_dataset(dataset, tmp_path).unexpected) == n_problems


def test_a_checksum_of_git_is_git_s(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"hello\n")
    # printf 'hello\n' | git hash-object --stdin
    assert SourceFile("a", git_blob="ce013625030ba8dba906f756967f9e9ca394464a").agrees(path) is True
    assert SourceFile("a", git_blob="ce013625030ba8dba906f756967f9e9ca394464b").agrees(path) is False
    assert SourceFile("a").agrees(path) is None


def test_shared_videos_are_unexpected(small, put, tmp_path):
    put("activitynet-captions", "val_2.json", {"v_a": entry((1, 5))})
    small = dataclasses.replace(small, files=())
    assert check_dataset(small, tmp_path).unexpected == (
        "test: 2 videos, published 3 (this test)",
        "test: exact duplicate: 1 query, none recorded",
        "val_1 -> val_2: videos in both splits: 1 video, none recorded",
    )


def test_a_missing_split_is_told_and_no_problem(small, tmp_path):
    (tmp_path / "activitynet-captions" / "train.json").unlink()
    report = check_dataset(small, tmp_path)
    assert report.unexpected == ()
    assert list(report.counts) == ["val_1", "val_2", "test"]
    (line,) = report.missing
    assert line.startswith("train: activitynet-captions: ")
    assert "train.json is missing" in line


def test_no_split_at_all(small, tmp_path):
    with pytest.raises(MissingFileError) as caught:
        check_dataset(small, tmp_path / "elsewhere")
    assert str(caught.value).startswith(
        f"activitynet-captions: {tmp_path / 'elsewhere' / 'activitynet-captions'} (no such"
    )


def test_splits_whose_counts_nobody_published(small, tmp_path):
    splits = tuple(dataclasses.replace(split, n_queries=None, n_videos=None) for split in small.splits)
    assert check_dataset(dataclasses.replace(small, splits=splits), tmp_path).unexpected == ()


def test_own_annotations(tmp_path):
    path = tmp_path / "own.jsonl"
    lines = [
        {"video_id": "v", "sentence": "a", "duration_s": 30, "moments": [[1, 40]]},
        {"video_id": "v", "sentence": " b", "duration_s": 30, "moments": [[5, 2]]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = check_annotations(read(path))
    assert report.dataset == "own.jsonl"
    assert report.counts == {"all": (2, 1)}
    # Nothing is recorded for them, so each fault is unexpected; remarks are not.
    assert report.unexpected == ("all: past the end: 1 moment", "all: swapped: 1 moment")
    assert {"leading blank", "past the end by more than 1 s"} <= {finding.kind for finding in report.findings}
