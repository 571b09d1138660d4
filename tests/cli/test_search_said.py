"""truemoment index --subtitles and search --said: what is said, alone and with what is seen."""

import json
import shutil
from pathlib import Path

import pytest

import truemoment as tm
from truemoment.cli import run
from truemoment.searching import extraction

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_colours")]

SRT = """1
00:00:02,000 --> 00:00:04,500
Look at the red door.

2
00:00:24,000 --> 00:00:30,000
Nobody opens it.
"""


@pytest.fixture(scope="module")
def indexed(painted, colours, tmp_path_factory):
    """An index of three films where they were made."""
    folder = tmp_path_factory.mktemp("indexed") / "all.index"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truemoment.media.video.encoders.load_encoder", colours.load_encoder)
        extraction._load.cache_clear()
        assert run(["index", str(painted), "-o", str(folder), "--model", "colours", "--quiet"]) == 0
    return folder


@pytest.fixture
def said_index(films, indexed):
    """A copy of the index without speech, beside films of which a has subtitles."""
    shutil.copytree(indexed, "all.index")
    (films / "a.srt").write_text(SRT)
    return Path("all.index")


def test_speech_is_added_without_a_look_at_a_frame(call, fails, said_index, films, monkeypatch):
    assert fails(2, "search", "door", said_index, "--said") == (
        "all.index: has no speech; add that of the files of subtitles beside the videos: "
        "truemoment index VIDEO... -o INDEX --subtitles"
    )
    monkeypatch.setattr(extraction, "embed", None)
    words = ("index", films, "-o", said_index, "--subtitles", "--json", "-")
    status, out, err = call(*words)
    document = json.loads(out)
    assert (status, document["n_frames"]) == (0, 0)
    assert document["speech"] == {
        "files": {"a": "a.srt"},
        "n_words": 8,
        "notes": [],
        "failed": [],
        "without": ["b", "c"],
    }
    assert document["no_videos"] == []
    assert err.splitlines()[0] == "search it:"
    (films / "b.vtt").write_text("WEBVTT\n\n00:00:01.000 -> 00:00:02.000\nno\n")
    status, out, err = call(*words)
    assert (status, json.loads(out)["speech"]["n_words"]) == (1, 0)
    assert f"not indexed: {films / 'b.vtt'}:3: got" in err
    monkeypatch.setattr("truemoment.searching.encoder_options.EncoderOptions.encoder_of", None)  # nobody needs a model
    status, out, _ = call("search", "who opens the door", said_index, "--said")
    assert (status, [line.split()[0:2] for line in out.splitlines()[2:4]]) == (0, [["1", "a"], ["2", "a"]])
    assert [line.partition("said: ")[2] for line in out.splitlines()[2:4]] == [
        '"Look at the red door."',
        '"Nobody opens it."',
    ]
    status, out, err = call("search", "** zebra", said_index, "--said", "--json", "-")
    assert (status, json.loads(out)["moments"]) == (0, [])
    assert err == 'note: no moment: no word of "** zebra" is said in the videos\n'


def test_both_together_say_why(call, said_index, films):
    call("index", films, "-o", said_index, "--subtitles", "--quiet")
    status, out, _ = call("search", "red door opens", said_index, "--said", "--seen", "--json", "-")
    moments = json.loads(out)["moments"]
    assert status == 0
    best = moments[0]  # red is seen from 20 s to 28 s, and "Nobody opens it." is said from 24 s to 30 s
    assert (best["why"], best["start_s"], best["end_s"]) == ("both", pytest.approx(20, abs=1), pytest.approx(28, abs=1))
    assert best["said"] == {
        "text": "Nobody opens it.",
        "words": [{"text": "opens", "start_s": 24.0, "end_s": 30.0}],
    }
    assert best["match"] is not None
    found = tm.search("red door opens", said_index, said=True, seen=True)
    assert [row["why"] for row in found.rows()] == [moment["why"] for moment in moments]
    assert tm.search("red", said_index).rows()[0]["why"] == "seen"


def test_a_video_without_an_index_is_not_indexed_to_be_refused(fails, films):
    line = fails(2, "search", "door", films / "a.mp4", "--said")
    assert line == (
        f"{films / 'a.mp4'}: has no index with speech; make one: truemoment index {films / 'a.mp4'} --subtitles"
    )
