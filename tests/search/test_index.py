"""The index on disk: what it holds, what is read again, what is refused, and what a kill leaves."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from truemoment.exceptions import InputError, MissingFileError, UsageError
from truemoment.features import FeatureStore
from truemoment.search import extraction
from truemoment.search.index import (
    ABOUT,
    NORMS,
    PIECES,
    ROWS,
    SETTINGS,
    VIDEOS,
    Index,
    IndexWriter,
    default_proposals,
    folder_name,
    list_videos,
    piece_means,
)
from truemoment.video.frames import stream_frames


@pytest.fixture
def index(tmp_path, films, build):
    build([films])
    return Index(tmp_path / "index")


def test_rows_are_what_the_encoder_sees_at_each_time(index, films, colours):
    for name, n_frames in (("a", 80), ("b", 80), ("c", 120)):  # durations of 40, 40 and 60 s at 2 frames a second
        frames = [pixels for _, pixels in stream_frames(films / f"{name}.mp4", 2.0)]
        expected = np.stack([colours.Colours().prepare(pixels).reshape(3) for pixels in frames])
        assert expected.shape == (n_frames, 3)
        np.testing.assert_array_equal(index[name], expected.astype(np.float16).astype(np.float32))
        assert index[name].dtype == np.float32
        assert index.about(name).duration_s == pytest.approx(n_frames / 2)


def test_it_is_a_feature_store(index):
    assert isinstance(index, FeatureStore)
    assert (list(index), len(index), index.n_dimensions, index.fps) == (["a", "b", "c"], 3, 3, 2.0)
    assert "a" in index
    assert "d" not in index
    assert index.edges_s("a", 40.0)[-1] == 40.0
    assert index.name.startswith("index:index#")


def test_norms_are_those_of_pooled_moments(index):
    first, end = index.spans("a")
    pooled = [np.linalg.norm(index["a"][a:b].astype(np.float64).mean(axis=0)) for a, b in zip(first, end, strict=True)]
    np.testing.assert_allclose(index.norms("a"), pooled, rtol=1e-6)
    assert end.max() == 80  # the tail is covered
    assert (end - first).min() == 2


def test_pieces_are_means_of_four_seconds(index):
    pieces = index.pieces("a").astype(np.float64)
    assert pieces.shape == (10, 3)
    for k, piece in enumerate(pieces):
        mean = index["a"][8 * k : 8 * (k + 1)].mean(axis=0)
        np.testing.assert_allclose(piece, mean / np.linalg.norm(mean), atol=1e-3)
    zeros = np.zeros((5, 3), np.float16)
    assert piece_means(zeros, 2.0).tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize(("fps", "windows"), [(0.5, (64, 256)), (2.0, (128, 512)), (5.0, (320, 1280))])
def test_default_proposals_fit_the_rate(fps, windows):
    """Clips of a second, and of a frame where that is longer; 64 clips a window."""
    grids = default_proposals(fps).split("+")
    assert [int(grid.partition("window=")[2].partition(",")[0]) for grid in grids] == list(windows)


# ------------------------------------------------------------------------------------------- what is read again


def test_what_is_there_is_not_read_again(index, films, build, monkeypatch):
    before = index.name
    monkeypatch.setattr(extraction, "see", None)  # nobody may look at a frame
    report = build([films])
    assert [film.video_id for film in report.plan.unchanged] == ["a", "b", "c"]
    assert (report.plan.to_read, report.indexed, report.n_frames) == ((), {}, 0)
    assert Index(index.path).name == before


def test_a_moved_file_keeps_its_rows_and_a_changed_one_is_read_again(index, films, build, paint):
    rows = index["a"]
    (films / "a.mp4").rename(films / "renamed.mp4")
    old = index["b"]
    paint(films / "b.mp4", [((200, 30, 30), 6)])
    report = build([films])
    assert ([film.video_id for film in report.plan.changed], report.plan.moved) == (["b"], 1)
    again = Index(index.path)
    assert list(again) == ["a", "b", "c"]
    assert again.path_of("a") == films / "renamed.mp4"
    np.testing.assert_array_equal(again["a"], rows)
    assert len(again["b"]) == 12
    assert len(old) == 80
    assert not list((index.path / VIDEOS).glob(".*"))


def test_names_of_files_that_are_called_alike(tmp_path, films, build):
    other = films / "other"
    other.mkdir()
    shutil.copy(films / "b.mp4", other / "a.mp4")  # content of b
    shutil.copy(films / "c.mp4", other / "copy of c.mp4")
    (films / "b.mp4").unlink()
    report = build([films])
    assert list(Index(tmp_path / "index")) == ["a", "c", "other/a"]
    assert report.plan.copies == (other / "copy of c.mp4",)
    assert folder_name("other/a") != folder_name("other_a")


def test_videos_are_found_in_folders(films, tmp_path):
    (films / "notes.txt").write_text("x")
    (films / ".hidden.mp4").write_bytes(b"")
    assert [path.name for path in list_videos([films])] == ["a.mp4", "b.mp4", "c.mp4"]
    with pytest.raises(MissingFileError, match=r"none\.mp4: no such file"):
        list_videos([tmp_path / "none.mp4"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingFileError, match="holds no video"):
        list_videos([tmp_path / "empty"])


def test_a_video_is_found_beside_its_index(index, films, tmp_path):
    for name in ("a.mp4", "b.mp4"):
        (films / name).rename(tmp_path / name)
    assert index.path_of("a") == tmp_path / "a.mp4"
    (tmp_path / "b.mp4").unlink()
    with pytest.raises(MissingFileError, match="pictures need the video itself"):
        index.path_of("b")


# ------------------------------------------------------------------------------------------- broken off


def test_what_is_broken_off_goes_on(tmp_path, films, build, monkeypatch):
    """Ctrl-C after three parts of 10 s: the other eleven are done by the next command, and the index is the same."""
    build([films], out="whole", part_s=10.0)
    done = []

    def see(shard, encoder, original=extraction.see):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append((shard.film.video_id, shard.number))
        return original(shard, encoder)

    monkeypatch.setattr(extraction, "see", see)
    with pytest.raises(KeyboardInterrupt):
        build([films], part_s=10.0)
    kept = done.copy()
    monkeypatch.undo()
    seen = []
    monkeypatch.setattr(
        extraction, "see", lambda s, e, o=extraction.see: seen.append((s.film.video_id, s.number)) or o(s, e)
    )
    report = build([films], part_s=10.0)
    assert (report.parts_kept, len(seen)) == (3, 11)
    assert not set(seen) & set(kept)
    whole = Index(tmp_path / "whole")
    for name, rows in ((name, Index(tmp_path / "index")[name]) for name in whole):
        np.testing.assert_array_equal(rows, whole[name])
    assert sorted(p.name for p in (tmp_path / "index").iterdir()) == [".lock", SETTINGS, VIDEOS]


def test_a_killed_program_loses_no_part(tmp_path, films, build, colours):
    """SIGKILL after four parts: they are there, and nothing half-written is taken for whole."""
    script = f"""
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {str(Path(colours.__file__).parent)!r})
from colours_of_tests import ColourLoader
from truemoment.search.extraction import build_index
from truemoment.search.index import IndexWriter, Settings, default_proposals, list_videos
made = Settings(model="colours", encoder="colours", fingerprint="c01075c01075c010", n_dimensions=3, fps=2.0,
                proposals=default_proposals(2.0))
parts = []
def follow(name, share, before):
    parts.append(before)
    if parts.count(False) == 5:  # the fourth part made the first film whole; of the second one part is there
        os.kill(os.getpid(), signal.SIGKILL)
with IndexWriter(Path({str(tmp_path / "index")!r}), made) as writer:
    (writer.path / "videos" / ".writing-left").mkdir()
    build_index(writer, list_videos([Path({str(films)!r})]), ColourLoader("colours"), part_s=10.0, follow=follow)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -9
    assert list(Index(tmp_path / "index")) == ["a"]
    report = build([films], part_s=10.0)
    assert (report.parts_kept, sorted(report.indexed)) == (1, ["b", "c"])
    build([films], out="whole")
    index, whole = Index(tmp_path / "index"), Index(tmp_path / "whole")
    for name in whole:
        np.testing.assert_array_equal(index[name], whole[name])
    assert not list((tmp_path / "index" / VIDEOS).glob(".*"))


def test_one_writer_at_a_time(tmp_path, settings):
    with IndexWriter(tmp_path / "index", settings()):
        with pytest.raises(UsageError, match="is being written by another command"):
            IndexWriter(tmp_path / "index", settings()).__enter__()
        assert (tmp_path / "index" / SETTINGS).exists()
    assert not (tmp_path / "index").exists()  # nothing came of it


# ------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ({"fps": 4.0}, "was made with --fps 2, got 4"),
        ({"fingerprint": "another"}, "was made with --model colours#c01075c0, got colours#another"),
        ({"proposals": "windowed-grid:fps=2"}, "was made with --proposals windowed-grid:fps=2,window=128"),
        ({"dtype": "float32"}, "was made with --dtype float16, got float32"),
    ],
)
def test_an_index_made_otherwise_is_refused(index, settings, others, told):
    with pytest.raises(UsageError, match=told):
        IndexWriter(index.path, settings(**others))


def test_proposals_must_count_the_frames_of_the_index(tmp_path, settings):
    for text in ("sparse-map:16", "windowed-grid:fps=5"):
        with pytest.raises(UsageError, match="expected windowed-grid:fps=2"):
            IndexWriter(tmp_path / "new", settings(proposals=text))


def test_a_folder_of_something_else_is_refused(tmp_path, settings):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "mine.txt").write_text("x")
    with pytest.raises(InputError, match="is there already and no index"):
        IndexWriter(tmp_path / "x", settings())
    with pytest.raises(MissingFileError, match=r"is no index, it holds no index\.json of one"):
        Index(tmp_path / "x")
    with pytest.raises(MissingFileError, match="no such file"):
        Index(tmp_path / "y")
    (tmp_path / "x" / "index.json").write_text('{"pages": 3}')
    with pytest.raises(MissingFileError, match=r"is no index"):
        Index(tmp_path / "x")


def _change(file, **fields):
    file.write_bytes(msgspec.json.encode(json.loads(file.read_bytes()) | fields))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda at: _change(at / SETTINGS, schema="other/1"), "got 'other/1', expected 'truemoment/index/1'"),
        (lambda at: (at / SETTINGS).write_text("{"), "index.json"),
        (lambda at: _change(at / SETTINGS, fps=-1.0), "expected frames a second"),
        (lambda at: _change(at / SETTINGS, fps="x"), "field fps"),
        (lambda at: _change(_of_a(at) / ABOUT, n_frames=0), "expected a frame or more"),
        (lambda at: _change(_of_a(at) / ABOUT, video_id="b"), "tells of 'b', as"),
        (lambda at: (_of_a(at) / ABOUT).write_text("[]"), "expected an object"),
        (lambda at: shutil.rmtree(at / VIDEOS), "holds no video yet"),
    ],
)
def test_damaged_words_are_told(index, damage, told):
    damage(index.path)
    with pytest.raises(InputError, match=told):
        Index(index.path)


def _of_a(path):
    return path / VIDEOS / folder_name("a")


@pytest.mark.parametrize("file", [ROWS, NORMS, PIECES])
def test_damaged_tables_are_told(index, file):
    read = {ROWS: index.rows, NORMS: index.norms, PIECES: index.pieces}[file]
    path = _of_a(index.path) / file
    np.save(path, np.load(path)[:-1])
    with pytest.raises(InputError, match=rf"{file}: holds float\d+ of shape .*, expected"):
        read("a")
    path.write_bytes(b"no table")
    with pytest.raises(InputError, match="is not a table of numbers"):
        read("a")
    path.unlink()
    with pytest.raises(MissingFileError, match="index the video again"):
        read("a")


def test_a_name_that_is_no_text_is_refused(films, build):
    bad = films / "bad\udcff.mp4"
    (films / "a.mp4").rename(bad)
    with pytest.raises(InputError, match="its name is no UTF-8 text"):
        build([films])
