"""Filters of videos: which fit, and that a search of them is a search of an index of these videos alone."""

import json
import os
import shutil
import time

import av
import pytest
from drawn_indexes import sentences_near

from truemoment.base.errors import InputError, UsageError
from truemoment.media.video import creation_time
from truemoment.searching.index import Index
from truemoment.searching.median_scores import median_scores
from truemoment.searching.narrowing import Narrowing
from truemoment.searching.request import RankingOptions
from truemoment.searching.searcher import IndexSearcher

VIDEOS = {
    "v000": ("/films/2023/Winter/Beach 1.mp4", "2023-12-31T23:30:00+00:00", 60.0),
    "v001": ("/films/2024/summer/beach2.mov", "2024-05-01T06:00:00+00:00", 600.0),
    "v002": ("/films/2024/summer/late/dog.mp4", "2024-05-31T22:15:00+00:00", 90.5),
    "v003": ("/gone/dog.mp4", "", 61.0),
}
"""Path, creation time and length."""


@pytest.fixture
def index(draw, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    folder = draw(4).path
    for about in folder.glob("videos/*/about.json"):
        stored = json.loads(about.read_text())
        path, created, duration_s = VIDEOS[stored["video_id"]]
        about.write_text(json.dumps(stored | {"path": path, "created": created, "duration_s": duration_s}))
    yield Index(folder)
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("options", "videos", "undated"),
    [
        ({"file": "beach*"}, "01", 0),
        ({"file": ["*.MOV", "dog.*"]}, "123", 0),
        ({"folder": "summer"}, "12", 0),
        ({"folder": ("2024/summer/late", "/gone")}, "23", 0),
        ({"folder": "films", "file": "dog*"}, "2", 0),
        ({"date": "2024"}, "12", 1),
        ({"date": "2023-12-31..2024-05-01"}, "01", 1),
        ({"date": "..2024-05"}, "012", 1),
        ({"time": "22:15..23:30"}, "02", 1),
        ({"time": "22..06"}, "012", 1),  # over midnight
        ({"time": "06"}, "1", 1),
        ({"length": "61..600"}, "123", 0),
        ({"length": "..60.0"}, "0", 0),
        ({"length": "90..", "date": "2024-05-31.."}, "2", 0),
    ],
)
def test_which_videos_fit(index, options, videos, undated):
    notes = []
    assert Narrowing(**options).videos(index, note=notes.append) == [f"v00{number}" for number in videos]
    without = "; 1 others have no date, because their files are gone" if undated else ""
    assert notes == [f"{len(videos)} of 4 videos are searched{without}"]


def test_the_time_of_the_file_is_the_date_of_a_video_that_states_none(index):
    beside = index.path.parent / "dog.mp4"
    beside.touch()
    os.utime(beside, (0, 86_400 * 366))  # 1971-01-02
    assert Narrowing(date="1971-01-02").videos(index) == ["v003"]


def test_indexing_keeps_the_creation_time_that_a_video_states(tmp_path, paint, build):
    paint(tmp_path / "plain.mp4", [((200, 30, 30), 4)])
    for name, stated in (("dated", "2024-05-01T12:00:00Z"), ("unset", "1970-01-01T00:00:00Z")):
        with av.open(tmp_path / "plain.mp4") as source, av.open(tmp_path / f"{name}.mp4", "w") as target:
            target.metadata["creation_time"] = stated
            stream = target.add_stream_from_template(source.streams.video[0])
            for packet in source.demux(video=0):
                if packet.dts is not None:
                    packet.stream = stream
                    target.mux(packet)
    build([tmp_path / "dated.mp4", tmp_path / "plain.mp4"])
    index = Index(tmp_path / "index")
    assert [index.about(name).created for name in ("dated", "plain")] == ["2024-05-01T12:00:00+00:00", ""]
    assert [creation_time(tmp_path / name) for name in ("unset.mp4", "none.mp4")] == ["", ""]


def test_no_filter_reads_nothing(index, monkeypatch):
    monkeypatch.setattr(Index, "about", None)
    assert Narrowing().videos(index) is None
    assert Narrowing().videos(index, ["v001"]) == ["v001"]


def test_a_filtered_search_is_that_of_an_index_of_these_videos_alone(draw, tmp_path):
    """Also where a first stage selects videos: it selects among those that fit."""
    whole = draw(30)
    wanted = [f"v{number:03}" for number in range(3, 30, 4)]
    alone_at = shutil.copytree(whole.path, tmp_path / "alone")
    for folder in alone_at.glob("videos/*"):
        if folder.name[:4] not in wanted:
            shutil.rmtree(folder)
    alone = Index(alone_at)
    names = Narrowing(file=[f"{name}.mp4" for name in wanted]).videos(whole)
    assert names == list(alone) == wanted
    vectors = sentences_near(whole, 6, seed=2)
    medians = median_scores(whole, vectors)
    for options in ({"exact": True}, {"candidates": 3}):
        ranking = RankingOptions(top=6, **options)
        part, own = IndexSearcher(whole, ranking, names), IndexSearcher(alone, ranking)
        assert part.find(vectors, medians) == own.find(vectors, medians)
        assert part.find_sequences(vectors[:2], medians[:2], 20.0) == own.find_sequences(vectors[:2], medians[:2], 20.0)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"file": " "}, "--file: got an empty name"),
        ({"folder": "a\0b"}, "--folder: got an empty name"),
        ({"date": "2024-02-30"}, "--date: got '2024-02-30', expected a year"),
        ({"date": "2024-05..2024-04"}, "which ends before it begins"),
        ({"date": ".."}, "--date: got '..'"),
        ({"time": "24:00"}, "--time: got '24:00', expected hours"),
        ({"length": "90..60"}, "--length: got 90..60, which ends before"),
        ({"length": ""}, "--length: got ''"),
        ({"length": "nan"}, "--length: got 'nan', expected seconds"),
    ],
)
def test_what_is_no_filter(options, problem):
    with pytest.raises(UsageError) as error:
        Narrowing(**options)
    assert problem in str(error.value)


def test_nothing_fits_and_a_damaged_date(index):
    with pytest.raises(UsageError, match=r"--file 'x \*': no video of 4 fits"):
        Narrowing(file="x *").videos(index)
    about = next(index.path.glob("videos/v001*/about.json"))
    about.write_text(about.read_text().replace("2024-05-01T06", "2024-99-01T06"))
    with pytest.raises(InputError, match=r"created of v001: got '2024-99-01T06"):
        Narrowing(date="2024").videos(Index(index.path))
