"""truemoment index calibrate and serve, --codes, and a search of several machines."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from truemoment.cli import run
from truemoment.searching.index import Index
from truemoment.searching.sharding import IndexShard

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
    (films / "a.mp4").rename("serve")
    status, out, _ = call("index", "serve", "-o", "of.index", "--model", "colours")
    assert (status, list(Index("of.index"))) == (0, ["serve"])
    assert "1 video (1 indexed now)" in out


@pytest.fixture
def served(index):
    """Start a shard as a user does: served("2/3") -> its address and process."""
    processes = []

    def start(shard):
        words = ["index", "serve", str(index), "--shard", shard, "--port", "0"]
        code = f"import sys; from truemoment.cli import main; main({words!r})"
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=os.environ, text=True)
        processes.append(process)
        return process.stdout.readline().rsplit(" ", 1)[1].strip(), process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_search_of_two_machines(call, fails, index, served):
    shares = [IndexShard(number, 2).videos_of(Index(index)) for number in (1, 2)]
    assert sorted(map(len, shares)) == [0, 3]  # by their hashes; a machine without a video is asked too
    (one, _), (two, process) = served("1/2"), served("2/2")
    alone = call("search", "red", index, "--exact", "--quiet")
    together = call("search", "red", index, "--exact", "--shards", f"{one},{two}", "--quiet")
    assert together == alone
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    status, out, err = call("search", "red", index, "--shards", f"{one},{two}", "--wait-s", "5", "--json", "-")
    assert status == 1
    assert json.loads(out)["silent_shards"] == [two]
    assert f"note: no answer from {two}: moments of their videos are missing" in err
    assert fails(2, "search", "red", index, "--shards", one) == (
        "--shards: got shards 1/2, expected all of 2: 2/2 missing"
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--shard", "4/3"), "--shard: got '4/3', expected K/N with K from 1 to N, N up to 4,096: 3/8"),
        (("--host", "8.8.8.8"), "--host: 8.8.8.8 is no loopback or private address; whoever reaches a shard"),
    ],
)
def test_shards_that_cannot_be_served(fails, index, options, told):
    assert fails(2, "index", "serve", index, *options).startswith(told)


def test_help_of_both_commands():
    for word in ("calibrate", "serve"):
        assert run(["index", word, "--help"]) == 0
