"""The index on disk: what it holds, what is read again, what is refused, and what a kill leaves."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.media.features import FeatureStore
from truemoment.media.video import identity_of
from truemoment.media.video.frames import stream_frames
from truemoment.searching import extraction, writing
from truemoment.searching.encoder_options import names_model
from truemoment.searching.index import Index
from truemoment.searching.layout import (
    ABOUT,
    NORMS,
    PIECES,
    ROWS,
    SETTINGS,
    VIDEOS,
    default_proposals,
    folder_name,
    piece_means,
)
from truemoment.searching.writing import IndexWriter, VideoFile, list_videos, remove_index

pytestmark = pytest.mark.slow


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
    monkeypatch.setattr(extraction, "embed", None)  # nobody may look at a frame
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


def test_a_new_film_under_an_old_name_takes_nothing_away(index, films, build, paint):
    """Day by day: latest.mp4 becomes monday.mp4, and another one is called latest.mp4."""
    rows = index["a"]
    (films / "a.mp4").rename(films / "monday.mp4")
    paint(films / "a.mp4", [((200, 30, 30), 6)])
    report = build([films])
    assert ([film.video_id for film in report.plan.new], report.plan.changed) == (["films/a"], ())
    assert report.plan.moved == 1
    again = Index(index.path)
    assert list(again) == ["a", "b", "c", "films/a"]
    assert [again.path_of(name).name for name in ("a", "films/a")] == ["monday.mp4", "a.mp4"]
    np.testing.assert_array_equal(again["a"], rows)
    assert len(again["films/a"]) == 12


def test_films_that_exchange_their_names(index, films, build):
    for old, now in (("a", "x"), ("b", "a"), ("x", "b")):
        (films / f"{old}.mp4").rename(films / f"{now}.mp4")
    report = build([films])
    assert (report.plan.to_read, report.plan.moved) == ((), 2)
    again = Index(index.path)
    assert [again.path_of(name).name for name in ("a", "b", "c")] == ["b.mp4", "a.mp4", "c.mp4"]


def test_a_copy_elsewhere_is_not_where_a_film_lies(index, films, tmp_path, build):
    (tmp_path / "copies").mkdir()
    shutil.copy(films / "a.mp4", tmp_path / "copies" / "copy.mp4")
    report = build([tmp_path / "copies"])
    assert (len(report.plan.unchanged), report.plan.moved) == (1, 0)
    assert Index(index.path).about("a").path == str(films / "a.mp4")


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
    assert [path.name for path in list_videos([films]).videos] == ["a.mp4", "b.mp4", "c.mp4"]
    assert [path.name for path in list_videos([films]).others] == ["notes.txt"]
    with pytest.raises(MissingFileError, match=r"none\.mp4: no such file"):
        list_videos([tmp_path / "none.mp4"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingFileError, match="contains no video"):
        list_videos([tmp_path / "empty"])


def test_a_video_that_cannot_be_looked_at_is_listed(films, monkeypatch):
    """Why it cannot be read, its reading tells."""

    def is_file(path, original=Path.is_file):
        if path.name == "b.mp4":
            raise PermissionError(13, "Permission denied")
        return original(path)

    monkeypatch.setattr(Path, "is_file", is_file)
    assert [path.name for path in list_videos([films]).videos] == ["a.mp4", "b.mp4", "c.mp4"]


def test_a_video_is_found_beside_its_index(index, films, tmp_path):
    for name in ("a.mp4", "b.mp4"):
        (films / name).rename(tmp_path / name)
    assert index.path_of("a") == tmp_path / "a.mp4"
    (tmp_path / "b.mp4").unlink()
    with pytest.raises(MissingFileError, match=r"pictures need the video, .* has only its embeddings"):
        index.path_of("b")


def test_another_film_is_not_taken_for_the_one_that_was_indexed(index, films, tmp_path, paint):
    whole = shutil.copy(films / "a.mp4", tmp_path / "kept")
    paint(films / "a.mp4", [((30, 30, 200), 40)])
    with pytest.raises(MissingFileError, match=r"a\.mp4: was changed since it was indexed: index it again"):
        index.path_of("a")
    paint(tmp_path / "a.mp4", [((30, 200, 30), 40)])  # beside the index
    with pytest.raises(MissingFileError, match="was changed since"):
        index.path_of("a")
    shutil.copy(whole, tmp_path / "a.mp4")
    assert index.path_of("a") == tmp_path / "a.mp4"


def test_files_that_cannot_be_read_do_not_stop_the_others(tmp_path, films, build, monkeypatch):
    """A name that is no text, a file that the disk does not give, and one that goes while the others are done."""
    (films / "a.mp4").rename(films / "bad\udcff.mp4")
    shutil.copy(films / "b.mp4", films / "x.mp4")

    monkeypatch.setattr(writing, "identity_of", _unreadable("x.mp4"))
    report = build([films], on_progress=lambda *_: (films / "c.mp4").unlink(missing_ok=True))
    assert {name: why.removeprefix(f"{films}/") for name, why in report.failed.items()} == {
        "bad\\xff": "bad\\xff.mp4: its name is no UTF-8 text, rename it",
        "c": "c.mp4: no such file",
        "x": "x.mp4: cannot be read (Input/output error)",
    }
    assert list(Index(tmp_path / "index")) == ["b"]


def test_a_known_film_that_cannot_be_read_stays(index, films, build, monkeypatch):
    monkeypatch.setattr(writing, "identity_of", _unreadable("a.mp4"))
    report = build([films])
    assert (list(report.failed), report.indexed) == (["a"], {})
    assert list(Index(index.path)) == ["a", "b", "c"]


@pytest.mark.usefixtures("index")
def test_files_that_cannot_be_read_take_no_names_of_others(films, build, monkeypatch):
    (films / "deep" / "sub").mkdir(parents=True)
    (films / "sub").mkdir()
    (films / "a.mp4").rename(films / "monday.mp4")
    for folder in (films, films / "sub", films / "deep" / "sub"):
        (folder / "a.mp4").touch()
    monkeypatch.setattr(writing, "identity_of", _unreadable("a.mp4"))
    report = build([films])
    assert sorted(report.failed) == ["films/a", "films/sub/a", "sub/a"]
    assert [film.path.name for film in report.plan.unchanged] == ["b.mp4", "c.mp4", "monday.mp4"]


def _unreadable(name, original=identity_of):
    """What tells files apart, on a disk that does not give those of a name."""

    def identity(path):
        if path.name == name:
            raise InputError("cannot be read (Input/output error)", path=path)
        return original(path)

    return identity


def _cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    "damage",
    [
        lambda at: (at / ROWS).unlink(),
        lambda at: (at / ROWS).write_bytes(b""),
        lambda at: _cut(at / NORMS),
        lambda at: np.save(at / NORMS, np.zeros_like(np.load(at / NORMS))),
        lambda at: np.save(at / PIECES, np.load(at / PIECES)[1:]),
        lambda at: np.save(at / PIECES, np.load(at / PIECES) * np.nan),
        lambda at: _cut(at / ABOUT),
        lambda at: (at / ABOUT).unlink(),
        lambda at: _change(at / ABOUT, n_frames=10**9),
        lambda at: _change(at / ABOUT, video_id="b"),
    ],
)
def test_what_is_damaged_is_made_again(index, films, build, damage):
    expected = index["a"]
    damage(_of_a(index.path))
    report = build([films])
    assert [film.video_id for film in report.plan.unchanged] == ["b", "c"]
    assert list(report.indexed) == ["a"]
    assert report.notes == {"a": "its part of the index was damaged, and is made again"}
    again = Index(index.path)
    np.testing.assert_array_equal(again["a"], expected)
    for name in again:
        again.check(name)
    assert build([films]).indexed == {}


# ------------------------------------------------------------------------------------------- broken off


def test_what_is_broken_off_goes_on(tmp_path, films, build, monkeypatch):
    """Ctrl-C after three parts of 10 s: the other eleven are done by the next command, and the index is the same."""
    build([films], out="whole", part_s=10.0)
    done = []

    def embed(shard, encoder, original=extraction.embed):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append((shard.video.video_id, shard.number))
        return original(shard, encoder)

    monkeypatch.setattr(extraction, "embed", embed)
    with pytest.raises(KeyboardInterrupt):
        build([films], part_s=10.0)
    kept = done.copy()
    monkeypatch.undo()
    seen = []
    monkeypatch.setattr(
        extraction, "embed", lambda s, e, o=extraction.embed: seen.append((s.video.video_id, s.number)) or o(s, e)
    )
    report = build([films], part_s=10.0)
    assert (report.parts_kept, len(seen)) == (3, 11)
    assert not set(seen) & set(kept)
    whole = Index(tmp_path / "whole")
    for name, rows in ((name, Index(tmp_path / "index")[name]) for name in whole):
        np.testing.assert_array_equal(rows, whole[name])
    assert sorted(p.name for p in (tmp_path / "index").iterdir()) == [SETTINGS, VIDEOS]


def test_a_killed_program_loses_no_part(tmp_path, films, build, colours):
    """SIGKILL after four parts: they are there, and nothing half-written is taken for whole."""
    script = f"""
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {str(Path(colours.__file__).parent)!r})
from colours_of_tests import ColourLoader
from truemoment.searching.building import build_index
from truemoment.searching.layout import Settings, default_proposals
from truemoment.searching.writing import IndexWriter, list_videos
made = Settings(model="colours", encoder="colours", fingerprint="c01075c01075c010", n_dimensions=3, fps=2.0,
                proposals=default_proposals(2.0))
parts = []
def follow(name, share, before, pace):
    parts.append(before)
    if parts.count(False) == 5:  # the fourth part made the first film whole; of the second one part is there
        os.kill(os.getpid(), signal.SIGKILL)
with IndexWriter(Path({str(tmp_path / "index")!r}), made) as writer:
    (writer.path / "videos" / ".writing-killed_1").mkdir()
    videos = list_videos([Path({str(films)!r})]).videos
    build_index(writer, videos, ColourLoader("colours"), part_s=10.0, on_progress=follow)
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


@pytest.fixture
def begun(tmp_path, films, build, monkeypatch):
    """Break the reading of the first film off after three of its four parts of 10 s; return the index's folder."""

    def embed(shard, encoder, original=extraction.embed):
        if shard.number == 3:
            raise KeyboardInterrupt
        return original(shard, encoder)

    monkeypatch.setattr(extraction, "embed", embed)
    with pytest.raises(KeyboardInterrupt):
        build([films / "a.mp4"], part_s=10.0)
    monkeypatch.undo()
    return tmp_path / "index"


def _film_of(path):
    return VideoFile("a", path, identity_of(path))


def _kept(path, settings, film, part_rows=20, n_rows=80):
    with IndexWriter(path, settings) as writer:
        return writer.kept_parts(film, part_rows, n_rows)


def test_parts_are_those_of_one_film_and_one_way_to_read_it(begun, films, settings, paint):
    """Parts that were made of another film, by another encoder, at another rate ... are not taken."""
    film = _film_of(films / "a.mp4")
    assert _kept(begun, settings(), film) == {0, 1, 2}
    assert _kept(begun, settings(), film, part_rows=10) == set()
    paint(films / "other.mp4", [((30, 30, 200), 40)])
    assert _kept(begun, settings(), _film_of(films / "other.mp4")) == set()
    as_it_was = (begun / SETTINGS).read_bytes()
    for others in ({"fingerprint": "f" * 16}, {"fps": 4.0, "proposals": default_proposals(4.0)}, {"dtype": "float32"}):
        _change(begun / SETTINGS, **others)
        assert _kept(begun, settings(**others), film) == set()
        (begun / SETTINGS).write_bytes(as_it_was)
    assert _kept(begun, settings(), film) == {0, 1, 2}


@pytest.mark.parametrize(
    ("damage", "n_kept"),
    [
        (lambda part: np.save(part, np.load(part)[:7]), 2),
        (lambda part: part.write_bytes(b""), 2),
        (_cut, 2),
        (lambda part: np.save(part, np.load(part)[:, :2]), 2),
        (lambda part: np.save(part.with_name("000099.npy"), np.load(part)), 3),  # more than there can be
    ],
)
def test_damaged_parts_are_done_again(begun, painted_index, films, build, damage, n_kept):  # noqa: PLR0917 - fixtures
    damage(next(begun.glob("parts/*/000001.npy")))
    assert build([films / "a.mp4"], part_s=10.0).parts_kept == n_kept
    np.testing.assert_array_equal(Index(begun)["a"], Index(painted_index)["a"])


def test_parts_of_fewer_rows_than_were_due_are_refused(tmp_path, settings):
    film = VideoFile("v", tmp_path / "v.mp4", "1:x")
    with IndexWriter(tmp_path / "index", settings()) as writer:
        writer.keep_part(film, 8, 0, np.ones((8, 3)))
        writer.keep_part(film, 8, 1, np.ones((5, 3)))
        with pytest.raises(InputError, match=r"v\.mp4: a part of it was damaged \(13 rows of 16\); index it again"):
            writer.finish(film, 8, 16, 8.0)
        assert not list((writer.path / "parts").iterdir())
        with pytest.raises(InputError, match="a part of it was damaged"):
            writer.finish(film, 8, 16, 8.0)
    assert not (tmp_path / "index").exists()


@pytest.fixture(params=["norms", "swap"])
def full_disk(request):
    """The disk is full when a film is put together, or when its folder is put in place; give what makes it so."""

    def rename(path, target, original=OwnPath.rename):
        if target.name == NORMS if request.param == "norms" else path.name.startswith(".new-"):
            raise OSError(28, "No space left on device")
        return original(path, target)

    return OwnPath, "rename", rename


def test_a_full_disk_takes_nothing_away(index, films, build, full_disk, monkeypatch):
    """A film that was changed: what was seen of the old one stays until the new one is there."""
    rows, now = index["a"], index["b"]
    shutil.rmtree(index.path / VIDEOS / folder_name("b"))
    (films / "b.mp4").replace(films / "a.mp4")
    monkeypatch.setattr(*full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        build([films])
    monkeypatch.undo()
    assert list(Index(index.path)) == ["a", "c"]
    np.testing.assert_array_equal(Index(index.path)["a"], rows)
    assert not list((index.path / VIDEOS).glob(".*"))
    assert build([films]).parts_kept == 1
    np.testing.assert_array_equal(Index(index.path)["a"], now)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no names of open files")
def test_a_video_is_on_the_disk_before_its_parts_go(tmp_path, films, build, monkeypatch):
    written, parts = [], tmp_path / "index" / "parts"

    def fsync(number, original=os.fsync):
        if list(parts.glob("*/000000.npy")):
            written.append(Path(f"/proc/self/fd/{number}").readlink().name)
        original(number)

    monkeypatch.setattr(os, "fsync", fsync)
    build([films / "a.mp4"])
    assert {ROWS, NORMS, PIECES, ABOUT} <= set(written)


def test_killed_while_a_folder_takes_the_place_of_another(index, settings):
    """The old one is put back if the new one is not there, and goes if it is."""
    folder = _of_a(index.path)
    folder.rename(folder.with_name(f".old-{folder.name}"))
    shutil.copytree(_of_a(index.path).with_name(folder_name("b")), folder.with_name(f".old-{folder_name('b')}"))
    folder.with_name(f".new-{folder.name}").mkdir()
    with IndexWriter(index.path, settings()):
        pass
    assert list(Index(index.path)) == ["a", "b", "c"]
    assert not list((index.path / VIDEOS).glob(".*"))


def test_one_writer_at_a_time(tmp_path, settings):
    with IndexWriter(tmp_path / "index", settings()):
        with pytest.raises(UsageError, match="is being written by another command"):
            IndexWriter(tmp_path / "index", settings()).__enter__()
        assert (tmp_path / "index" / SETTINGS).exists()
    assert not (tmp_path / "index").exists()  # nothing came of it


def test_nobody_begins_while_another_one_ends(tmp_path, settings, monkeypatch):
    """A second writer comes while the first removes what it made, and one whose lock file goes as it takes it."""
    first, second = (IndexWriter(tmp_path / "index", settings()) for _ in range(2))
    refused = []

    def rmdir(path, original=OwnPath.rmdir):
        if path.name == "videos":
            with pytest.raises(UsageError, match="is being written by another command"):
                second.__enter__()
            refused.append(path)
        return original(path)

    first.__enter__()
    monkeypatch.setattr(OwnPath, "rmdir", rmdir)
    first.__exit__()
    monkeypatch.undo()
    assert len(refused) == 1
    assert not (tmp_path / "index").exists()
    fcntl = pytest.importorskip("fcntl")

    def flock(lock, how, original=fcntl.flock):
        first.__exit__()
        return original(lock, how)

    first.__enter__()
    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(UsageError, match="is being written by another command"):
        second.__enter__()


@pytest.fixture
def home(tmp_path):
    """A folder of somebody's, to which a link of a foreign index leads; home() -> what is in it."""
    folder = tmp_path / "home"
    for name in (".ssh/key", ".config/settings", ".old-letters/mine", ".writing-k1ll3d_1/mine", "thesis.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")

    def contents():
        return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    contents.path = folder
    return contents


@pytest.mark.parametrize("link", ["videos", "parts", "videos/a-ca978112", "parts/a-ca978112-0123456789ab"])
def test_a_foreign_index_deletes_nothing_through_a_linked_folder(index, settings, home, link):
    """Point 1: videos -> ~ emptied every hidden folder of the home, and wrote rows there."""
    path = index.path / link
    path.parent.mkdir(exist_ok=True)
    shutil.rmtree(path, ignore_errors=True)
    path.symlink_to(home.path)
    before = home()
    with pytest.raises(InputError, match=rf"{link}: is a link, expected"):
        IndexWriter(index.path, settings()).__enter__()
    assert home() == before
    if link.startswith("videos"):
        with pytest.raises(InputError, match=rf"{link}: is a link, expected"):
            Index(index.path)


@pytest.mark.parametrize("link", ["index.json", ".lock", f"videos/a-ca978112/{ABOUT}", f"videos/a-ca978112/{ROWS}"])
def test_a_foreign_index_changes_nothing_through_a_linked_file(index, settings, home, link):
    path = index.path / link
    target = home.path / "thesis.txt"
    target.write_bytes(path.read_bytes() if path.exists() else b"mine")  # what is read of it is as it should be
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    before = home()
    with pytest.raises(InputError, match=rf"{link}: is a link, expected"):
        IndexWriter(index.path, settings()).__enter__()
    assert home() == before


def test_a_linked_part_is_not_written_through(begun, films, build, home):
    part = next((begun / "parts").glob("*/000000.npy"))
    part.unlink()
    part.symlink_to(home.path / "thesis.txt")
    before = home()
    with pytest.raises(InputError, match=r"000000\.npy: is a link, expected"):
        build([films / "a.mp4"], part_s=10.0)
    assert home() == before


def test_the_index_itself_and_videos_may_be_links(index, films, build, tmp_path):
    """People link to large disks."""
    disk = tmp_path / "disk"
    index.path.rename(disk)
    index.path.symlink_to(disk)
    (films / "linked.mp4").symlink_to(films / "b.mp4")
    (films / "c.mp4").rename(disk / "c.mp4")
    (films / "c.mp4").symlink_to(disk / "c.mp4")
    assert build([films]).plan.to_read == ()
    assert list(Index(index.path)) == ["a", "b", "c"]


def test_only_folders_that_an_index_names_are_removed_or_renamed(index, settings):
    """What the user keeps in an index stays, hidden or not."""
    mine = ["videos/.notes/x", "videos/.old-notes/x", "videos/.new-notes/x", "videos/notes/x", "parts/.notes/x"]
    mine += [".writing-notes", ".writing-of-a-novel", "videos/.writing-notes/x", "parts/notes-0123456789ab/x"]
    for name in mine:
        (index.path / name).parent.mkdir(parents=True, exist_ok=True)
        (index.path / name).write_text("mine")
    with IndexWriter(index.path, settings()):
        pass
    assert [name for name in mine if not (index.path / name).is_file()] == []
    remove_index(index.path)
    assert sorted(str(path.relative_to(index.path)) for path in index.path.rglob("*") if path.is_file()) == sorted(mine)


def test_parts_of_a_film_whose_name_begins_alike_stay(begun, films, settings):
    """Film "a-ca978112-x": its folder of parts begins as that of film "a" does, whose folder is a-ca978112."""
    ours = _film_of(films / "a.mp4")
    other = VideoFile(f"{folder_name('a')}-x", films / "b.mp4", identity_of(films / "b.mp4"))
    with IndexWriter(begun, settings()) as writer:
        writer.keep_part(other, 20, 0, np.zeros((20, 3)))
        writer.forget_parts(ours)
        assert writer.kept_parts(ours, 20, 80) == set()
        assert writer.kept_parts(other, 20, 80) == {0}


def test_an_index_is_removed_whole(index):
    (index.path / "parts" / f"{folder_name('a')}-0123456789ab").mkdir(parents=True)
    remove_index(index.path)
    assert not index.path.exists()


def test_settings_are_held_against_what_is_there_when_writing_begins(tmp_path, films, settings, build):
    waiting = IndexWriter(tmp_path / "index", settings(fingerprint="f" * 16))
    build([films / "a.mp4"])
    with pytest.raises(UsageError, match="was made with --model colours#c01075c0, got colours#ffffffff"):
        waiting.__enter__()
    build([films / "a.mp4"])  # nobody holds the lock


def test_a_command_that_was_killed_at_once_goes_on(tmp_path, films, build, settings):
    """Of a folder that holds only what is made first, one is free to make an index."""
    folder = tmp_path / "index"
    for inside in (folder, folder / VIDEOS, folder / "parts"):
        inside.mkdir()
    (folder / ".lock").touch()
    (folder / ".writing-killed_1").touch()
    build([films / "a.mp4"])
    assert list(Index(folder)) == ["a"]
    assert sorted(path.name for path in folder.iterdir()) == [SETTINGS, VIDEOS]
    (folder / SETTINGS).unlink()  # nobody knows how these videos were read
    with pytest.raises(InputError, match="exists already and is no index"):
        IndexWriter(folder, settings())


# ------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ({"fps": 4.0}, "was made with --fps 2, got 4"),
        ({"fingerprint": "another"}, "was made with --model colours#c01075c0, got colours#another"),
        ({"proposals": "windowed-grid:fps=2"}, "was made with --proposals windowed-grid:fps=2,window=128"),
        ({"dtype": "float32"}, "was made with dtype float16, got float32"),
    ],
)
def test_an_index_made_otherwise_is_refused(index, settings, others, told):
    with pytest.raises(UsageError, match=told):
        IndexWriter(index.path, settings(**others))


def test_an_index_that_says_other_numbers_a_row_is_refused(index, settings):
    _change(index.path / SETTINGS, n_dimensions=512)
    with pytest.raises(InputError, match=r"index\.json: found 512 numbers per row, expected 3 of colours; index into"):
        IndexWriter(index.path, settings())


def test_proposals_must_count_the_frames_of_the_index(tmp_path, settings):
    for text in ("sparse-map:16", "windowed-grid:fps=5"):
        with pytest.raises(UsageError, match="expected windowed-grid:fps=2"):
            IndexWriter(tmp_path / "new", settings(proposals=text))


def test_a_folder_of_something_else_is_refused(tmp_path, settings):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "mine.txt").write_text("x")
    with pytest.raises(InputError, match="exists already and is no index"):
        IndexWriter(tmp_path / "x", settings())
    with pytest.raises(MissingFileError, match=r"is no index, it contains no index\.json of one"):
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
        (lambda at: _change(at / SETTINGS, fps=4.0), "index.json: field proposals: got proposals .*:fps=2,.*:fps=4,"),
        (lambda at: _change(at / SETTINGS, proposals="x"), "index.json: field proposals: got proposals 'x'"),
        (lambda at: _change(_of_a(at) / ABOUT, n_frames=0), "expected a frame or more"),
        (
            lambda at: _change(_of_a(at) / ABOUT, video_id="b"),
            r"a-ca978112/about.json: found video 'b', expected the video of its folder; delete",
        ),
        (lambda at: (_of_a(at) / ABOUT).write_text("[]"), "expected an object; delete its folder and index the video"),
        (lambda at: (_of_a(at) / ABOUT).write_text(""), "expected JSON; delete its folder and index the video again"),
        (lambda at: _cut(_of_a(at) / ABOUT), "expected JSON; delete its folder and index the video again"),
        (lambda at: shutil.rmtree(at / VIDEOS), "contains no video yet"),
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
    with pytest.raises(InputError, match=rf"{file}: contains float\d+ of shape .*, expected"):
        read("a")
    path.write_bytes(b"no table")
    with pytest.raises(InputError, match=r"is not a table of numbers .*; delete its folder and index the video again"):
        read("a")
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"is not a table of numbers .*; delete its folder and index the video again"):
        read("a")
    path.unlink()
    with pytest.raises(MissingFileError, match="index the video again"):
        read("a")


def test_damaged_rows_are_told_as_features(index):
    path = _of_a(index.path) / ROWS
    rows = np.load(path)
    np.save(path, np.where(np.arange(len(rows))[:, None] < 3, np.float16(np.inf), rows))
    with pytest.raises(InputError, match="field a: 3 of 80 rows have numbers that are not finite; delete its folder"):
        index["a"]
    path.write_bytes(b"")
    for read in (index.__getitem__, lambda name: index.edges_s(name, 40.0)):
        with pytest.raises(
            InputError, match=r"field a: is not a table .*; delete its folder and index the video again"
        ):
            read("a")


def test_a_number_of_frames_is_not_believed(index):
    """Of a thousand million frames nothing is made before the table of rows was looked at."""
    _change(_of_a(index.path) / ABOUT, n_frames=10**12)
    claims = Index(index.path)
    for read in (claims.rows, claims.spans, claims.norms, claims.pieces, claims.check):
        with pytest.raises(InputError, match=r"contains float16 of shape \(\d+, 3\), expected float16 of shape"):
            read("a")


@pytest.mark.parametrize("name", ["x" * 70_000, "~nobody-of-this-name/model"])
def test_a_model_that_no_system_opens_is_another(name):
    assert not names_model("scenes", name)
