"""truemoment datasets: list, info, check and fetch."""

import json
import re

import pytest

from truemoment import __version__
from truemoment.base.errors import DownloadError
from truemoment.data.datasets import DATASETS, NO_DATA_FOLDER


def test_list(call):
    status, out, err = call("datasets", "list")
    assert (status, err) == (0, "")
    rows = [re.split("  +", line) for line in out.splitlines()[2:] if not line.startswith(" ")]  # no row's second line
    assert [row[0] for row in rows] == list(DATASETS)
    assert [row[1] for row in rows] == [dataset.access for dataset in DATASETS.values()]
    # Closer Look (2021), Table 1.
    assert "train 12,408, test 3,720" in out
    assert "test-ood 13,578" in out


@pytest.mark.parametrize("name", DATASETS)
def test_info(call, name):
    status, out, err = call("datasets", "info", name)
    assert (status, err) == (0, "")
    dataset = DATASETS[name]
    words = " ".join(out.split())
    assert words.startswith(f"dataset {dataset.title} ({name}) cite ")
    for text in (*dataset.references(), dataset.licence, dataset.homepage, *dataset.notes, *dataset.steps):
        assert text in words
    for file in dataset.files:
        assert file.name in out
        assert file.sha256 in out
        assert file.url in out
    for split in dataset.splits:
        assert split.name in out
        assert split.counted_in in words
    assert max(map(len, out.splitlines())) < 200


@pytest.fixture
def faulty(tmp_path):
    """Annotations of one's own with a fault and a remark."""
    path = tmp_path / "own.jsonl"
    lines = [
        {"video_id": "v", "sentence": "a", "duration_s": 30, "moments": [[5, 2]]},
        {"video_id": "v", "sentence": " b", "duration_s": 30, "moments": [[3, 9]]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def small_tacos(tmp_path):
    """A data folder with a val.json of TACoS that is not the published one."""
    (tmp_path / "tacos").mkdir()
    entry = {"timestamps": [[10, 50]], "sentences": ["He cuts."], "fps": 10.0, "num_frames": 100}
    (tmp_path / "tacos" / "val.json").write_text(json.dumps({"v.avi": entry}))
    return tmp_path


class TestCheck:
    def test_faults_of_own_annotations(self, call, faulty):
        status, out, err = call("datasets", "check", faulty, "--full")
        assert (status, err) == (1, "")
        lines = out.splitlines()
        assert [line.split(maxsplit=1) for line in lines[:2]] == [
            ["dataset", "own.jsonl"],
            ["all", "2 queries, 1 video"],
        ]
        assert lines[-1].split(maxsplit=1) == ["serious", "unexpected: all: swapped: 1 moment"]
        assert any(line.split() == ["all", "fault", "swapped", "1", "moment", "v#0"] for line in lines)
        assert any(line.split() == ["all", "remark", "leading", "blank", "1", "moment", "v#1"] for line in lines)

    def test_quiet_tells_only_what_is_unexpected(self, call, faulty):
        assert call("datasets", "check", faulty, "--quiet") == (1, "serious  unexpected: all: swapped: 1 moment\n", "")

    def test_json(self, call, faulty):
        status, out, err = call("datasets", "check", faulty, "--json", "-")
        assert (status, err) == (1, "")
        document = json.loads(out)  # the whole of standard output
        assert document["schema"] == "truemoment/dataset-check/1"
        assert document["truemoment"] == __version__
        assert document["counts"] == {"all": {"n_queries": 2, "n_videos": 1}}
        assert document["unexpected"] == ["all: swapped: 1 moment"]
        assert {(f["kind"], f["fault"], tuple(f["ids"])) for f in document["findings"]} == {
            ("swapped", True, ("v#0",)),
            ("leading blank", False, ("v#1",)),
        }

    def test_order_of_sentences(self, call, tmp_path):
        # By hand: in 3 of 4 pairs the second moment starts later, in 1 earlier; forty such videos are enough to inform.
        path = tmp_path / "own.jsonl"
        starts = (1, 2, 3, 5, 4)
        lines = [
            {"video_id": f"v{n}", "sentence": f"s{k}", "duration_s": 30, "moments": [[start, 9]]}
            for n in range(40)
            for k, start in enumerate(starts)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        _, out, _ = call("datasets", "check", path)
        assert re.search(r"^all +160 +75\.0 +50\.0 +75\.0 to 75\.0$", out, re.MULTILINE)
        assert "warning  In all, sentences are in the order of their moments" in out
        assert "In all" not in call("datasets", "check", path, "--quiet")[1]
        document = json.loads(call("datasets", "check", path, "--json", "-")[1])
        assert document["order"]["all"]["later"] == {"value": 0.75, "unit": "fraction", "ci95": [0.75, 0.75]}
        path.write_text(json.dumps(lines[0]) + "\n")
        status, out, err = call("datasets", "check", path)
        assert (status, err) == (0, "")
        assert "warning" not in out
        assert json.loads(call("datasets", "check", path, "--json", "-")[1])["order"]["all"]["later"]["why"]

    def test_clean_own_annotations(self, call, annotations):
        status, out, _ = call("datasets", "check", annotations, "--quiet")
        assert status == 0
        assert len(out.splitlines()) == 1
        assert "nothing unexpected" in out

    def test_a_dataset_that_differs(self, call, small_tacos):
        status, out, err = call("datasets", "check", "tacos", "--data-dir", small_tacos, "--full")
        assert status == 1
        assert re.search("^val +1 query, 1 video$", out, re.MULTILINE)
        lines = [" ".join(part.split()) for part in re.split("^(?:serious|warning) +", out, flags=re.MULTILINE)]
        assert f"unexpected: {small_tacos}/tacos/val.json: content differs from the published file (checksum)" in lines
        assert "unexpected: val: 1 queries, published 4,436 (counted in the file 2D-TAN released)" in lines
        assert "unexpected: val: exact duplicate: none, 521 recorded" in lines
        assert sum(line.startswith("not checked: ") for line in lines) == 2  # train and test are not there
        assert err.splitlines() == ["reading tacos train", "reading tacos val", "reading tacos test"]

    def test_its_progress_is_silenced(self, call, small_tacos):
        status, out, err = call("datasets", "check", "tacos", "--data-dir", small_tacos, "--quiet")
        assert (status, err) == (1, "")
        assert all(line.startswith(("serious", "warning", " ")) for line in out.splitlines())

    def test_a_dataset_that_is_not_there(self, call, tmp_path):
        status, out, err = call("datasets", "check", "tacos", "--data-dir", tmp_path, "--quiet")
        assert (status, out) == (2, "")
        assert err == (
            f"truemoment: tacos: {tmp_path}/tacos (no such folder) is missing, expected train.json; "
            "'truemoment datasets fetch tacos' downloads it or prints the steps\n"
        )

    def test_a_malformed_file(self, call, small_tacos):
        (small_tacos / "tacos" / "train.json").write_text('{"v": 3}')
        status, out, err = call("datasets", "check", "tacos", "--data-dir", small_tacos, "--quiet")
        assert (status, out) == (2, "")
        assert err == f"truemoment: {small_tacos}/tacos/train.json:1: field v: got a whole number, expected an object\n"


class TestFetch:
    def test_by_hand(self, call):
        status, out, err = call("datasets", "fetch", "charades-timelens")
        assert (status, err) == (2, "truemoment: charades-timelens cannot be downloaded; the steps are printed above\n")
        why = "is public, but has no recorded checksum to verify a download"
        assert out.splitlines()[:2] == [f"Charades-TimeLens {why}:", f"  1. {DATASETS['charades-timelens'].steps[0]}"]

    @pytest.mark.parametrize("options", [[], ["--quiet"], ["--data-dir", "/no/such"]])
    def test_an_agreement(self, call, options):
        # Its steps need no folder.
        status, out, err = call("datasets", "fetch", "mad", *options)
        assert status == 2
        assert err == "truemoment: mad cannot be downloaded; the steps are printed above\n"
        assert out.splitlines()[0] == "MAD needs an agreement with its owner:"
        for number, step in enumerate(DATASETS["mad"].steps, start=1):
            assert f"  {number}. {step}\n" in out

    def test_a_folder_that_is_not_there_yet_is_made(self, call, tmp_path, monkeypatch):
        monkeypatch.setattr("truemoment.data.datasets.fetch._download", lambda *_, **__: None)
        status, _, err = call("datasets", "fetch", "tacos", "--data-dir", tmp_path / "new", "--quiet")
        assert (status, err) == (0, "")
        assert (tmp_path / "new" / "tacos").is_dir()

    def test_no_folder(self, fails):
        assert fails(2, "datasets", "fetch", "tacos") == (NO_DATA_FOLDER)

    def test_what_it_hands_on(self, call, tmp_path, monkeypatch):
        asked = []

        def record(dataset, folder, *, progress, on_status):
            asked.append((dataset.name, folder, progress))
            on_status("a line a file")

        monkeypatch.setattr("truemoment.data.datasets.fetch.fetch", record)
        assert call("datasets", "fetch", "tacos", "--data-dir", tmp_path) == (0, "a line a file\n", "")
        assert call("datasets", "fetch", "tacos", "--data-dir", tmp_path, "--quiet") == (0, "", "")
        assert asked == [("tacos", tmp_path, True), ("tacos", tmp_path, False)]

    def test_a_failure(self, fails, tmp_path, monkeypatch):
        def fail(*_, **__):
            raise DownloadError("cannot be fetched", path="x.json")

        monkeypatch.setattr("truemoment.data.datasets.fetch.fetch", fail)
        assert fails(2, "datasets", "fetch", "tacos", "--data-dir", tmp_path) == "x.json: cannot be fetched"
