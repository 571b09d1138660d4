"""truemoment index calibrate, --codes, and a search by a cluster."""

import importlib.metadata
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.boundary.distribution.cluster import ray_cluster
from truemoment.cli import run
from truemoment.searching.index import Index

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_colours")]


@pytest.fixture
def index(call, films):
    """An index of three films with codes, made by the command without a subcommand."""
    status, _, err = call("index", films, "-o", "all.index", "--model", "colours", "--codes", "--quiet")
    assert (status, err) == (0, "")
    return Path("all.index")


def test_codes_and_their_options(call, fails, index):
    assert {file.name for file in (index / "codes").iterdir()} == {"0000.codes", "codebook.npz", "pieces.npz"}
    with_codes = call("search", "red", index, "--candidates", "2", "--per-video", "1")[1]
    exact = call("search", "red", index, "--exact")[1]
    assert with_codes.splitlines()[2] == exact.splitlines()[2]
    assert fails(2, "search", "red", index, "--exact", "--per-video", "2") == (
        "got --exact and --per-video, expected one of them"
    )
    for file in (index / "codes").iterdir():
        file.unlink()
    told = fails(2, "search", "red", index, "--candidates", "2", "--per-video", "2")
    assert told.startswith("--per-video: chooses pieces by their codes, and the index has none")


def test_codes_are_kept_up_with_new_videos(call, index, films, paint):
    paint(films / "d.mp4", [((200, 30, 30), 16)])
    assert call("index", films, "-o", index, "--quiet")[0] == 0
    assert call("search", "red", index, "--candidates", "2", "--quiet")[0] == 0


def test_a_calibrated_index_says_what_ended_a_search(call, index):
    Path("sentences.txt").write_text("red\n\ngreen\nblue\n")
    status, out, err = call("index", "calibrate", index, "--sentences", "sentences.txt")
    assert (status, err) == (0, "")
    assert "3 videos, 3 sentences of sentences.txt#" in out
    made = json.loads((index / "index.json").read_text())["calibration"]
    assert (made["n_videos"], made["n_sentences"], made["quantile"]) == (3, 3, 0.99)
    document = json.loads(call("search", "blue", index, "--top", "1", "--json", "-")[1])
    assert document["ended_by"] in {"rule", "all"}
    assert document["n_scored"] <= 3
    stopped = call("search", "red", index, "--top", "5", "--candidates", "1")[2]
    assert stopped.startswith("note: stopped at 1 of 3 videos, before the search was complete as calibrated")
    exact = call("search", "red", index, "--top", "1", "--exact", "--json", "-")[1]
    assert json.loads(exact)["ended_by"] == "all"


def test_vectors_to_calibrate_with(call, fails, index):
    np.save("vectors.npy", np.eye(3, dtype=np.float32))
    status, out, _ = call("index", "calibrate", index, "--sentences", "vectors.npy", "--json", "-")
    assert status == 0
    assert json.loads(out)["schema"] == "truemoment/calibration/1"
    np.save("vectors.npy", np.ones((2, 5), dtype=np.float32))
    assert "vectors of 5 numbers" in fails(2, "index", "calibrate", index, "--sentences", "vectors.npy")
    np.save("vectors.npy", np.array([object()]), allow_pickle=True)
    assert "vectors.npy: " in fails(2, "index", "calibrate", index, "--sentences", "vectors.npy")
    Path("empty.txt").write_text("\n")
    assert fails(2, "index", "calibrate", index, "--sentences", "empty.txt") == (
        "empty.txt: has 0 sentences, expected 1 to 100,000, one a line"
    )
    np.save("vectors.npy", np.eye(3, dtype=np.float32))
    assert "quantile 2" in fails(2, "index", "calibrate", index, "--sentences", "vectors.npy", "--quantile", "2")


def test_a_file_that_is_called_as_a_command_is_a_video(call, films):
    (films / "a.mp4").rename("calibrate")
    status, out, _ = call("index", "calibrate", "-o", "of.index", "--model", "colours")
    assert (status, list(Index("of.index"))) == (0, ["calibrate"])
    assert "1 video (1 indexed now)" in out


@pytest.mark.thorough
@pytest.mark.usefixtures("no_cluster")
def test_a_search_by_a_cluster_is_the_search_of_one_process(call, index):
    alone = call("search", "red", index, "--exact", "--quiet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Ray's own
        with ray_cluster(2):
            assert call("search", "red", index, "--exact", "--quiet", "--engine", "ray", "--workers", "2") == alone


def test_a_cluster_that_cannot_be_used_is_one_line(fails, index, monkeypatch):
    assert fails(2, "search", "red", index, "--workers", "2") == "--workers: goes with --engine ray"
    assert fails(2, "search", "page", index, "--engine", "ray").startswith("No such option '--engine'")

    def version(_):
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(importlib.metadata, "version", version)
    told = fails(2, "search", "red", index, "--engine", "ray")
    assert told == "--engine ray needs the package ray: pip install 'truemoment[scale]'"


def test_help():
    assert run(["index", "calibrate", "--help"]) == 0
