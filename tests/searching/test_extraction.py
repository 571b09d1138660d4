"""Extraction: a shard to rows, engines that hand shards out, and workers that die."""

import contextlib
import multiprocessing
import os
import re
import signal
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.boundary import distribution
from truemoment.base.boundary.distribution import handing
from truemoment.base.errors import InputError, UsageError
from truemoment.media.video.frames import outline_of, stream_frames
from truemoment.searching import building
from truemoment.searching.building import IndexReport, build_index, embed_shards
from truemoment.searching.extraction import FailedShard, Shard, embed
from truemoment.searching.index import Index
from truemoment.searching.writing import IndexWriter, VideoFile

pytestmark = pytest.mark.slow


def check(results, expected):
    """Every shard came back once, with its rows."""
    keys = [(result.shard.video.video_id, result.shard.number) for result in results]
    assert len(keys) == len(set(keys))
    assert set(keys) == set(expected)
    for key, result in zip(keys, results, strict=True):
        np.testing.assert_allclose(result.rows, expected[key], atol=1e-6)


def test_a_shard_is_the_frames_of_its_part(films, colours):
    path = films / "a.mp4"
    frames = [frame.mean(axis=(0, 1)) / 255 - 0.5 for _, frame in stream_frames(path, 5.0)]
    shard = Shard(VideoFile("a", path, "x"), 2, 20, 120, 5.0, outline_of(path))
    seen = embed(shard, colours.Colours())  # 100 frames are four batches
    np.testing.assert_allclose(seen.rows, frames[20:120], atol=1e-6)
    assert min(seen.decode_s, seen.prepare_s, seen.encode_s, seen.waited_s) > 0
    assert seen.worker.endswith(f":{os.getpid()}")


def test_a_model_gets_pictures_of_twice_its_size(films, colours):
    """Large frames are made smaller while they are decoded; the model's own filter does the rest."""
    sizes = set()

    class Sized(colours.Mean):
        shortest_side, height, width = 16, 16, 16

        def __call__(self, rgb):
            sizes.add(rgb.shape)
            return super().__call__(rgb)

    path = films / "a.mp4"  # 64 x 48
    embed(Shard(VideoFile("a", path, "x"), 0, 0, 4, 2.0, outline_of(path)), colours.Colours(Sized()))
    assert sizes == {(32, 43, 3)}


def test_a_row_of_a_model_of_clips_is_the_pictures_from_its_time_on(films, colours, slides):
    class Clips(colours.Colours):
        n_dimensions = 12

        def images(self, batch):
            return batch.reshape(len(batch), 12)  # four pictures of three colours

    class OfFour(colours.Mean):
        frames = 4

    path = films / "a.mp4"
    clips = Clips(OfFour())
    frames = [frame.mean(axis=(0, 1)) / 255 - 0.5 for _, frame in stream_frames(path, 2.0)]
    rows = embed(Shard(VideoFile("a", path, "x"), 1, 3, 20, 0.5, outline_of(path)), clips).rows
    np.testing.assert_allclose(rows, np.reshape(frames, (20, 12))[3:], atol=1e-6)
    # 40 s are 13.3 clips of 3 s: the last one ends with the last picture of the film, at 39.75 s.
    frames = [frame.mean(axis=(0, 1)) / 255 - 0.5 for _, frame in stream_frames(path, 4 / 3)]
    rows = embed(Shard(VideoFile("a", path, "x"), 0, 0, 14, 1 / 3, outline_of(path)), clips).rows
    np.testing.assert_allclose(rows.reshape(56, 3), [*frames, *frames[-1:] * (56 - len(frames))], atol=1e-6)
    rows = embed(Shard(VideoFile("s", slides, "x"), 0, 0, 900, 1.0, outline_of(slides)), clips).rows
    assert rows.reshape(900, 4, 3).argmax(axis=2).tolist() == [[0] * 4] * 300 + [[1] * 4] * 300 + [[2] * 4] * 300


@pytest.fixture
def slides(tmp_path, paint):
    """Three pictures of 5 minutes each."""
    shots = [((200, 30, 30), 300), ((30, 200, 30), 300), ((30, 30, 200), 300)]
    return paint(tmp_path / "slides.mp4", shots, fps=Fraction(1, 300))


@pytest.fixture
def encoded(colours, monkeypatch):
    """Number of pictures of each batch that the encoder sees."""
    sizes = []
    images = colours.Colours.images

    def counted(self, batch):
        sizes.append(len(batch))
        return images(self, batch)

    monkeypatch.setattr(colours.Colours, "images", counted)
    return sizes


def test_a_picture_that_stays_is_encoded_once(slides, films, colours, encoded):
    rows = embed(Shard(VideoFile("s", slides, "x"), 0, 0, 1800, 2.0, outline_of(slides)), colours.Colours()).rows
    assert encoded == [3]
    assert rows.shape == (1800, 3)
    assert rows.argmax(axis=1).tolist() == [0] * 600 + [1] * 600 + [2] * 600
    encoded.clear()
    path = films / "a.mp4"  # 5 pictures a second, 40 s: one after the other in batches of 32
    embed(Shard(VideoFile("a", path, "x"), 0, 0, 400, 10.0, outline_of(path)), colours.Colours())
    assert encoded == [32] * 6 + [8]


def test_parts_that_show_no_new_picture_are_not_looked_at(tmp_path, slides, build, encoded):
    report = build([slides], part_s=10.0)
    assert report.failed == {}
    assert sum(encoded) <= 6  # 90 parts; a picture that goes on behind the end of a part is encoded for both
    rows = Index(tmp_path / "index")["slides"]
    assert rows.argmax(axis=1).tolist() == [0] * 600 + [1] * 600 + [2] * 600
    encoded.clear()
    build([slides], out="whole", part_s=1000.0)
    assert encoded == [3]
    assert np.array_equal(rows, Index(tmp_path / "whole")["slides"])


def test_more_frames_than_can_be_put_together_are_refused_before_they_are_decoded(films, build, encoded, monkeypatch):
    monkeypatch.setattr(building, "MOST_ROWS", 80)
    report = build([films])
    assert list(report.indexed) == ["a", "b"]
    told = "2 frames a second of 60 s are 120, expected up to 80; take fewer frames a second, or cut the video"
    assert report.failed == {"c": f"{films / 'c.mp4'}: {told}"}
    assert sum(encoded) == 160


def test_what_is_wrong_in_the_decoding_thread_is_told_here(films, colours):
    path = films / "a.mp4"
    shard = Shard(VideoFile("a", path, "x"), 0, 78, 84, 2.0, outline_of(path))  # the film has 80 frames
    with pytest.raises(InputError, match=r"gave 2 frames, expected 6 from 39\.0 s on"):
        embed(shard, colours.Colours())

    class Broken(colours.Mean):
        def __call__(self, _):
            raise RuntimeError("no pictures today")

    with pytest.raises(RuntimeError, match="no pictures today"):
        embed(shard, colours.Colours(Broken()))
    time.sleep(0.01)
    assert not [thread for thread in threading.enumerate() if "work" in thread.name]


def test_an_encoder_that_fails_stops_the_decoding(films, colours):
    class Broken(colours.Colours):
        def images(self, _):
            raise RuntimeError("out of memory")

    n_threads = threading.active_count()
    path = films / "c.mp4"
    with pytest.raises(RuntimeError, match="out of memory"):
        embed(Shard(VideoFile("c", path, "x"), 0, 0, 300, 5.0, outline_of(path)), Broken())
    assert threading.active_count() == n_threads


def test_one_process_does_each_shard_once(shards, colours):
    made, expected = shards
    check(list(embed_shards("local", iter(made), colours.ColourLoader("colours"), None)), expected)


def test_parts_of_any_length_and_any_number_of_workers_make_the_same_index(
    painted_index, tmp_path, films, build, encoded
):
    build([films / "a.mp4"], part_s=3.0, workers=2)
    assert sum(encoded) == 80  # the model is in this process
    np.testing.assert_array_equal(Index(tmp_path / "index")["a"], Index(painted_index)["a"])


def test_a_killed_worker_is_replaced(shards, colours):
    """SIGKILL a worker of the pool: its shards are done again, and none comes twice."""
    made, expected = shards
    results, killed = [], []
    for result in embed_shards("local", iter(made), colours.ColourLoader("slow"), 2):
        results.append(result)
        if len(results) == 3:
            killed += [process.pid for process in multiprocessing.active_children()]
            os.kill(killed[0], signal.SIGKILL)
    check(results, expected)
    assert not _is_there(killed[0])


@pytest.fixture
def pools(monkeypatch):
    """Pools without processes, which do a task when one is waited for; give deaths left by shard, and what was begun.

    As in a true pool, the death of a worker breaks all tasks that are under way.
    """
    deaths, begun = Counter(), []

    class Pool:
        broken = False

        def submit(self, _, shard):
            if self.broken:
                raise BrokenProcessPool
            future = Future()
            future.shard = shard
            return future

    @contextlib.contextmanager
    def processes(*_):
        begun.append(Pool())
        yield begun[-1]

    def wait(running, return_when):
        assert return_when == "FIRST_COMPLETED"
        first = next(iter(running))
        if deaths[first.shard.number]:
            deaths[first.shard.number] -= 1
            begun[-1].broken = True
            for future in running:
                future.set_exception(BrokenProcessPool())
        else:
            first.set_result(first.shard.number)
        return {future for future in running if future.done()}, set()

    monkeypatch.setattr(distribution, "processes", processes)
    monkeypatch.setattr(distribution, "wait", wait)
    return deaths, begun


def test_a_death_in_company_is_nobodys_blame(shards, colours, pools):
    """It dies with others beside it, then once alone, then it is done: it was not given up."""
    deaths, begun = pools
    deaths[2] = 2
    results = list(embed_shards("local", iter(shards[0][:6]), colours.ColourLoader("colours"), 2))
    assert sorted(results) == [0, 1, 2, 3, 4, 5]
    assert (deaths[2], len(begun)) == (0, 3)


def test_only_the_one_to_blame_is_given_up(shards, colours, pools):
    deaths, begun = pools
    deaths[1] = 99
    results = list(embed_shards("local", iter(shards[0][:6]), colours.ColourLoader("colours"), 2))
    failed = [result for result in results if isinstance(result, FailedShard)]
    assert [(result.shard.number, result.why) for result in failed] == [
        (1, f"{shards[0][1].video.path}: a worker died of it, 2 times")
    ]
    assert sorted(result for result in results if isinstance(result, int)) == [0, 2, 3, 4, 5]
    assert (99 - deaths[1], len(begun)) == (3, 4)  # once in company, twice alone


@pytest.mark.parametrize("workers", [None, 2])
def test_a_model_that_cannot_be_loaded_ends_the_work(tmp_path, films, build, workers):
    """No film is to blame, and no other worker goes on and eats the queue."""
    with pytest.raises(InputError, match=r"^the encoder needs the package colours: pip install 'truemoment\[paint\]'$"):
        build([films], model="none", workers=workers)
    assert not (tmp_path / "index").exists()


def test_a_device_without_memory_ends_the_work(tmp_path, films, build, colours, monkeypatch):
    def images(*_):
        raise UsageError("the model colours needs more memory than is free on cuda:0")

    monkeypatch.setattr(colours.Colours, "images", images)
    with pytest.raises(InputError, match=r"^the model colours needs more memory than is free on cuda:0$"):
        build([films])
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("others", [{"fingerprint": "f" * 16}, {"n_dimensions": 5}])
def test_another_encoder_than_the_indexs_is_refused(tmp_path, films, build, others):
    told = (
        r"the worker .*:\d+ has a model of fingerprint c01075c0, 3 numbers a row, expected (ffffffff, 3|c01075c0, 5) n"
    )
    with pytest.raises(InputError, match=told):
        build([films], made=others)
    assert not (tmp_path / "index").exists()


def test_breaking_off_ends_the_workers(shards, colours, tmp_path, monkeypatch):
    made, _ = shards
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    results = embed_shards("local", iter(made), colours.ColourLoader("slow"), 2)
    next(results)
    pids = [process.pid for process in multiprocessing.active_children()]
    assert len(pids) == 2
    results.close()
    assert not any(map(_is_there, pids))
    assert list(tmp_path.iterdir()) == []  # the pictures that nobody took


def _is_there(pid):
    """Whether a process runs (one that ended and was not asked for its status is not there)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# ------------------------------------------------------------------------------------------------- the report


def test_videos_that_cannot_be_read_are_named_and_the_others_done(tmp_path, films, build):
    whole = (films / "c.mp4").read_bytes()
    (films / "cut.mp4").write_bytes(whole[: len(whole) // 3])
    (films / "text.mp4").write_text("no film")
    report = build([films])
    assert sorted(report.failed) == ["cut", "text"]
    assert "cut.mp4: cannot be read as a video" in report.failed["cut"]
    assert list(Index(tmp_path / "index")) == ["a", "b", "c"]


def test_a_damaged_video_is_taken_for_what_it_shows(tmp_path, paint, build):
    """A Matroska file cut in its middle; `--partial` says what is wrong with it."""
    path = paint(tmp_path / "film.mkv", [((200, 30, 30), 30), ((30, 30, 200), 30)])
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    report = build([path])
    assert "film" in report.failed
    assert not (tmp_path / "index").exists()
    report = build([path], partial=True)
    assert report.failed == {}
    assert "truncated?" in report.notes["film"]
    index = Index(tmp_path / "index")
    assert 4 <= len(index["film"]) < 120
    assert index.about("film").notes == (report.notes["film"],)
    assert index.notes == (f"film: {report.notes['film']}",)
    again = build([path], partial=True)  # it may have been mended where nobody looked
    assert ([film.video_id for film in again.plan.changed], again.indexed) == (["film"], report.indexed)
    path.write_bytes(data)
    assert list(build([path]).indexed) == ["film"]
    assert Index(index.path).notes == ()
    assert build([path]).indexed == {}


def test_progress_adds_up_to_all(films, build):
    told = []
    build([films / "a.mp4", films / "b.mp4"], part_s=10.0, on_progress=lambda *of: told.append(of))
    assert sum(share for _, share, _, _ in told) == pytest.approx(1.0)
    assert [name for name, _, _, _ in told if name == "a"] == ["a"] * 5
    assert not any(before for _, share, before, _ in told if share)
    assert told[0][3] == ""
    assert re.fullmatch(r"[\d,]+ frames/s, waits for (decoding|preparing pictures|the encoder)", told[-1][3])


def test_what_bounds_it():
    report = IndexReport(n_frames=100, decode_s=1.0, prepare_s=2.0, encode_s=4.0)
    assert report.bound_by == "encode"
    assert report.rates == {"decode": 100.0, "prepare": 50.0, "encode": 25.0}
    report.encode_s = 2.5
    assert report.bound_by == "prepare"
    report.decode_s, report.wall_s = 3.0, 5.0
    assert report.bound_by == "decode"
    assert report.pace == "20 frames/s, waits for decoding"  # 100 in 5 s
    report.workers = 2
    assert report.bound_by == "encode"  # two of them need 2.5 s, as it does
    assert IndexReport().bound_by is None


def test_processes_start_where_much_is_to_do(films, build, monkeypatch):
    started = []
    distribute = building.distribute

    def counted(engine, jobs, work, workers):
        started.append(workers)
        return distribute(engine, jobs, work, 1)

    monkeypatch.setattr(building, "distribute", counted)
    monkeypatch.setattr(building, "available_cores", lambda: 7)
    build([films / "a.mp4"])
    monkeypatch.setattr(building, "WORTH_WORKERS", 200)
    build([films], out="all")  # 280 frames
    assert started == [1, 7]


def test_a_disk_without_room_is_one_line(films, build, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(handing.tempfile, "NamedTemporaryFile", full)
    monkeypatch.setattr(building, "distribute", lambda _, jobs, work, __: (work.do(job) for job in jobs))
    with pytest.raises(
        InputError, match=r"cannot be written \(No space left on device\); set TMPDIR to a folder with more"
    ):
        build([films / "a.mp4"], workers=2)


def test_impossible_work_is_refused(tmp_path, settings, colours):
    loader = colours.ColourLoader("colours")
    with IndexWriter(tmp_path / "index", settings()) as writer:
        with pytest.raises(UsageError, match="unknown engine 'gpu', expected local or ray"):
            build_index(writer, [], loader, engine="gpu")
        with pytest.raises(UsageError, match="got 0 workers"):
            build_index(writer, [], loader, workers=0)


def test_numbers_that_are_not_finite_are_not_kept(films, settings, tmp_path, colours):
    class Endless(colours.Colours):
        def images(self, batch):
            return np.full((len(batch), 3), 1e6, dtype=np.float32)  # too large for float16

    class Loads(colours.ColourLoader):
        def load(self):
            return Endless()

    with (
        pytest.raises(InputError, match="gives numbers that are not finite, or too large"),
        IndexWriter(tmp_path / "index", settings()) as writer,
    ):
        build_index(writer, [films / "a.mp4"], Loads("x"))
