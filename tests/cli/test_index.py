"""truemoment index: what it says, what it goes on with, and what it refuses."""

import json
import re
import shutil
from pathlib import Path

import pytest

from truemoment import __version__
from truemoment.searching import extraction
from truemoment.searching.index import Index

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_colours")]


def test_a_film_in_one_command(call, films):
    status, out, err = call("index", films / "a.mp4", "--model", "colours")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    index = films / "a.mp4.index"
    assert " ".join(lines).split("time ")[0].split() == (
        f"index {index}: 1 video (1 indexed now) model colours, 3 dimensions frames 2 a second".split()
    )
    facts = {line.split()[0]: " ".join(line.split()[1:]) for line in lines}
    assert facts["time"].startswith("0:00:40.0 of video, 80 frames in ")
    assert re.fullmatch(r"frames a second of a worker: decode .*; slowest: (decode|prepare|encode)", facts["stages"])
    assert lines[-2:] == ["search it:", f"  truemoment search 'a man opens a door' {index}"]
    assert list(Index(index)) == ["a"]


def test_a_folder_goes_on_as_it_was_begun(call, films, paint):
    """Neither --model nor --fps has to be said again, and only what is new is looked at."""
    status, _, _ = call("index", films, "-o", "all.index", "--model", "colours", "--fps", "4", "--quiet")
    assert status == 0
    paint(films / "d.mp4", [((200, 30, 30), 6)])
    (films / "a.mp4").rename(films / "moved.mp4")
    status, out, _ = call("index", films, "-o", "all.index")
    assert status == 0
    assert out.splitlines()[:3] == [
        "index   all.index: 4 videos (1 indexed now, 3 indexed before, 1 of these moved)",
        "model   colours, 3 dimensions",
        "frames  4 a second",
    ]
    assert "24 frames in " in out.splitlines()[3]
    status, out, _ = call("index", films, "-o", "all.index")
    assert (status, out.splitlines()[0]) == (0, "index   all.index: 4 videos (4 indexed before)")


def test_json(call, films):
    shutil.copy(films / "a.mp4", films / "z.mp4")
    status, out, err = call("index", films, "-o", "all.index", "--model", "colours", "--json", "-")
    assert status == 0
    document = json.loads(out)
    assert document["schema"] == "truemoment/index-report/1"
    assert document["truemoment"] == __version__
    assert document["videos"] == [
        {"video_id": "a", "duration_s": 40.0},
        {"video_id": "b", "duration_s": 40.0},
        {"video_id": "c", "duration_s": 60.0},
    ]
    assert (document["new"], document["changed"], document["unchanged"]) == (["a", "b", "c"], [], [])
    assert document["copies"] == [str(films / "z.mp4")]
    assert (document["encoder"], document["fps"], document["n_frames"], document["failed"]) == ("colours", 2.0, 280, {})
    assert set(document["frames_a_second"]) == {"decode", "prepare", "encode"}
    assert err.splitlines()[-2:] == ["search it:", "  truemoment search 'a man opens a door' all.index"]


def test_an_index_goes_wherever_features_are_asked_for(call, fails, films):
    call("index", films, "-o", "all.index", "--model", "colours", "--quiet")
    status, out, _ = call("features", "all.index")
    assert (status, out.partition(": ")[2]) == (0, "3 videos, 3 numbers a row, 2 rows a second\n")
    assert fails(2, "features", "all.index", "--fps", "5") == "all.index: got 5 rows per second, but it states 2"


def test_videos_that_cannot_be_read_are_status_1(call, films):
    (films / "text.mp4").write_text("no film")
    status, out, err = call("index", films, "-o", "all.index", "--model", "colours", "--quiet")
    assert (status, out) == (1, "")
    assert err.startswith(f"not indexed: {films / 'text.mp4'}: cannot be read as a video")
    assert len(Index("all.index")) == 3


def test_a_video_of_an_unknown_codec_does_not_end_the_index_of_a_folder(call, films):
    data = (films / "a.mp4").read_bytes()
    assert b"avc1" in data
    (films / "a.mp4").write_bytes(data.replace(b"avc1", b"XYZ1"))
    status, out, err = call("index", films, "-o", "all.index", "--model", "colours", "--quiet")
    assert (status, out) == (1, "")
    told = "has pictures of an unknown codec, expected one that FFmpeg decodes"
    assert err == f"not indexed: {films / 'a.mp4'}: {told}\n"
    assert list(Index("all.index")) == ["b", "c"]  # what comes behind it is there


def test_a_single_one_that_cannot_be_read_is_status_2_and_leaves_nothing(fails, tmp_path):
    (tmp_path / "text.mp4").write_text("no film")
    assert "text.mp4: cannot be read as a video" in fails(2, "index", "text.mp4", "--model", "colours")
    assert not (tmp_path / "text.mp4.index").exists()


def test_a_damaged_film_with_partial(call, fails, paint):
    path = paint(Path("film.mkv"), [((200, 30, 30), 30), ((30, 30, 200), 30)])
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "truncated?" in fails(2, "index", "film.mkv", "--model", "colours")
    status, _, err = call("index", "film.mkv", "--model", "colours", "--partial", "--quiet")
    assert status == 0
    assert err.startswith("note: film: ends at ")


def test_ctrl_c_says_that_it_goes_on(call, films, monkeypatch):
    def see(shard, encoder, original=extraction.embed):
        if shard.video.video_id == "b":
            raise KeyboardInterrupt
        return original(shard, encoder)

    monkeypatch.setattr(extraction, "embed", see)
    status, out, err = call("index", films, "-o", "all.index", "--model", "colours")
    assert (status, out) == (130, "")
    assert err.splitlines() == [
        "truemoment: finished parts are saved; the same command resumes from there",
        "truemoment: interrupted; nothing half-written remains",
    ]
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["films", "missing.mp4", "-o", "x"], "missing.mp4: no such file"),
        (["films/a.mp4", "films/b.mp4"], "got 2 videos, expected -o INDEX: where does their index go?"),
        (["films", "-o", "no/where"], "-o no/where: cannot be made, no is no folder"),
        (["films", "-o", "x", "--fps", "1000"], "--fps: got 1000, expected 0.01 to 120 frames a second"),
        (["films", "-o", "x", "--fps", "0"], "--fps: got 0, expected 0.01 to 120 frames a second"),
        (["films", "-o", "x", "--model", "other"], "no model other"),
        (["films", "-o", "films"], "films: exists already and is no index, expected a new folder"),
        (["films", "-o", "x", "--proposals", "sparse-map:16"], "got proposals sparse-map:16, expected windowed-grid"),
    ],
)
@pytest.mark.usefixtures("films")
def test_mistakes_are_one_line(fails, words, told):
    words = words if "--model" in words else [*words, "--model", "colours"]
    assert fails(2, "index", *words).startswith(told)


def test_another_rate_is_refused(call, fails, films):
    call("index", films, "-o", "x.index", "--model", "colours")
    told = fails(2, "index", films, "-o", "x.index", "--fps", "5")
    assert told == "x.index: was made with --fps 2, got 5; name another folder, or the same --fps"
