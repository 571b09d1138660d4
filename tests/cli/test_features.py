"""truemoment features: what a store holds, and how it fits annotations."""

import json
import re

import numpy as np
import pytest

from truemoment import __version__
from truemoment.media.features import OwnStore
from truemoment.worlds.perception import CAUTION


@pytest.fixture
def folder(tmp_path):
    """Rows of both videos (40 s), two a second."""
    path = tmp_path / "clip"
    path.mkdir()
    for name in ("v", "w"):
        np.save(path / f"{name}.npy", np.ones((80, 4), dtype=np.float32))
    return path


@pytest.fixture
def features(call, annotations, folder):
    return lambda *options: call("features", folder, "--annotations", annotations, "--split", "test", *options)


def test_features_that_fit(features, folder):
    status, out, err = features("--fps", "2", "--full")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert re.fullmatch(r"features  folder:clip#[0-9a-f]{8}: 2 videos, 4 numbers a row, 2 rows a second", lines[0])
    rate = "2 a second of video (median)"
    assert lines[1:] == [
        f"data      mine.jsonl/test: 2 of 2 videos have features, 160 rows, {rate}",
        "",
        "good     every video has features",
    ]
    assert folder.is_dir()


def test_without_annotations_the_store_is_described(call, folder):
    status, out, _ = call("features", folder)
    assert status == 0
    assert out.endswith("2 videos, 4 numbers a row, rows cover each video evenly\n")


def test_what_does_not_fit_is_listed_and_is_status_1(features, folder):
    (folder / "w.npy").rename(folder / "x.npy")
    status, out, _ = features()
    assert status == 1
    assert "serious  missing: 1: w\n" in out
    np.save(folder / "w.npy", np.full((80, 4), np.nan, dtype=np.float32))
    status, out, _ = features("--quiet")
    assert (status, out) == (1, "serious  damaged: 1: w (80 of 80 rows have numbers that are not finite)\n")


def test_a_wrong_rate_is_status_1(features):
    status, out, _ = features("--fps", "10", "--quiet")
    assert status == 1
    assert out.splitlines() == [
        "serious  rows end elsewhere than the video: 2: v (8.0 of 40.0 s), w (8.0 of 40.0 s)",
        "serious  wrong rows a second: stated 10, by the durations about 2",
    ]


def test_twenty_videos_are_listed_and_json_names_all(call, tmp_path, folder):
    rows = [{"video_id": f"m{k:02}", "sentence": "x", "duration_s": 40, "moments": [[1, 2]]} for k in range(30)]
    rows.append(rows[0] | {"video_id": "v"})
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, out, _ = call("features", folder, "--annotations", path, "--json", tmp_path / "found.json")
    assert status == 1
    shown = " ".join(out.split())
    assert "missing: 30: m00, m01" in shown
    assert "m19, ... (--json lists all)" in shown
    assert "m20" not in out
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["missing"] == [f"m{k:02}" for k in range(30)]


def test_json(features, folder):
    zeros = np.ones((70, 4), dtype=np.float32)
    zeros[:3] = 0
    np.save(folder / "v.npy", zeros)
    (folder / "w.npy").rename(folder / "v_w.npy")
    status, out, err = features("--fps", "2", "--json", "-", "--quiet")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found.pop("features").startswith("folder:clip#")
    assert len(found["annotations"].pop("sha256")) == 64
    assert found == {
        "schema": "truemoment/features-check/1",
        "truemoment": __version__,
        "seed": None,
        "n_videos": 2,
        "n_dimensions": 4,
        "fps": 2.0,
        "notes": [],
        "caution": "",
        "interval_share": None,
        "annotations": {"dataset": "mine.jsonl", "split": "test", "n_videos": 2},
        "complete": True,
        "n_usable": 2,
        "n_rows": 150,
        "implied_fps": (1.75 + 2) / 2,
        "missing": [],
        "damaged": {},
        "off": {"v": {"rows_end_s": 35.0, "duration_s": 40.0}},
        "zero_rows": {"v": 3},
        "renamed": ["w"],
    }


def test_it_is_written_in_our_own_format(features, call, tmp_path):
    status, out, _ = features("--fps", "2", "-o", tmp_path / "own", "--dtype", "float16")
    assert status == 0
    assert f"{tmp_path / 'own'}: 2 videos as float16" in " ".join(out.split())
    assert OwnStore(tmp_path / "own")["v"].tolist() == np.ones((80, 4)).tolist()
    status, out, _ = call("features", tmp_path / "own")
    assert status == 0
    assert re.search(r"^note: made of folder:clip#[^§]*2 rows a second$", out, re.MULTILINE)


def test_nothing_is_written_where_something_is(fails, folder, tmp_path):
    assert "is there already" in fails(2, "features", folder, "-o", folder)
    assert "cannot be made" in fails(2, "features", folder, "-o", tmp_path / "no" / "own")


@pytest.mark.thorough
def test_simulated_features_say_what_they_are(call, data_dir):
    """811 of 823 moments, as in tests/worlds/test_interval_rules.py."""
    words = ["perception:1", "--dataset", "charades-cd", "--split", "test-iid", "--data-dir", data_dir]
    status, out, _ = call("features", *words)
    assert status == 0
    assert f"caution {CAUTION}" in " ".join(out.split())
    assert "98.54 % of the moments are an action interval that the features show (both ends within 0.15 s)" in out
    found = json.loads(call("features", *words, "--json", "-", "--quiet")[1])
    assert found["interval_share"] == pytest.approx(811 / 823, abs=1e-12)
    assert found["caution"] == CAUTION


def test_without_data_there_is_no_perception(fails):
    assert "where are the datasets" in fails(2, "features", "perception:0.5")


def test_bad_sources_are_one_line(fails, tmp_path, annotations):
    (tmp_path / "broken.h5").write_bytes(b"no HDF5")
    assert "broken.h5: is not an HDF5 file that can be read" in fails(2, "features", tmp_path / "broken.h5")
    assert "no such file" in fails(2, "features", tmp_path / "none.h5")
    assert "unknown kind of features" in fails(2, "features", annotations)
