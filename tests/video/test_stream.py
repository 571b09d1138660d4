"""Frames as they are decoded: every video is made here, and each of its pictures says which one it is."""

import itertools
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.media.video import Sampling, sample_frames
from truemoment.media.video.frames import duration_of, jpeg_of, outline_of, stream_frames

from ..thorough import quick_are
from .conftest import av, make_sound, make_video, number_in, trimmed

pytestmark = pytest.mark.slow


EVERY_100_MS = [100 * k for k in range(60)]
UNEVEN_MS = [0, 40, 90, 1000, 1010, 2500, 2600, 2700, 4900, 5000]


def numbers(path, fps, **part):
    return [number_in(jpeg_of(pixels)) for _, pixels in stream_frames(path, fps, **part)]


def shown(times_ms, times_s):
    """By the definition: the last frame whose time stamp is not after t, else the first."""
    return [max([k for k, ms in enumerate(times_ms) if ms <= round(1000 * t)], default=0) for t in times_s]


@pytest.mark.parametrize(
    ("name", "codec", "b_frames"),
    [("a.mp4", "libx264", 2), ("a.mkv", "libx264", 2), ("a.avi", "mpeg4", 0), ("a.webm", "libvpx", 0)],
)
@pytest.mark.parametrize("fps", quick_are([7.3], [7.3, 30]))
def test_the_frame_shown_at_each_time(tmp_path, name, codec, b_frames, fps):
    path = make_video(tmp_path / name, EVERY_100_MS, codec=codec, b_frames=b_frames)
    times_s = [time_s for time_s, _ in stream_frames(path, fps)]
    assert times_s == [k / fps for k in range(len(times_s))]
    assert times_s[-1] < duration_of(path) <= times_s[-1] + 1 / fps + 1e-6
    assert len(times_s) == outline_of(path).n_frames(fps)
    assert numbers(path, fps) == shown(EVERY_100_MS, times_s)


@pytest.mark.parametrize("fps", [1, 3, 50])
def test_a_variable_frame_rate_and_the_same_frames_as_sampled(tmp_path, fps):
    path = make_video(tmp_path / "a.mp4", UNEVEN_MS, codec="libx264", b_frames=1)
    sampled = sample_frames(path, Sampling(fps=fps, longest_side=448))
    streamed = list(stream_frames(path, fps))
    assert [time_s for time_s, _ in streamed] == sampled.times_s.tolist()
    assert [jpeg_of(pixels) for _, pixels in streamed] == list(sampled.images)


@pytest.mark.parametrize(
    ("start_s", "end_s"), [(0, 2), (0.95, 3.05), (2, 2), (1, 1.05), (4.4, None), (5.9, 99), (6, None), (77, 99)]
)
def test_a_part_is_a_part_of_the_whole(tmp_path, start_s, end_s):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS, gop=10)
    whole = list(stream_frames(path, 3))
    part = list(stream_frames(path, 3, start_s=start_s, end_s=end_s))
    expected = [(t, of) for t, of in whole if start_s - 1e-9 <= t and (end_s is None or t < end_s - 1e-9)]
    assert [t for t, _ in part] == [t for t, _ in expected]
    assert all(np.array_equal(one, other) for (_, one), (_, other) in zip(part, expected, strict=True))


@pytest.mark.parametrize("fps", [2, 5, 24, 29.97])
def test_parts_that_follow_each_other_make_the_whole(tmp_path, fps):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS, gop=10)
    outline = outline_of(path)
    edges_s = [0, 1.3, 2.0, 2.00001, 4.7, None]
    parts = [
        [t for t, _ in stream_frames(path, fps, start_s=start_s, end_s=end_s, outline=outline)]
        for start_s, end_s in itertools.pairwise(edges_s)
    ]
    assert [t for part in parts for t in part] == [t for t, _ in stream_frames(path, fps)]


def test_rotated_pictures_stand_upright(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5], rotation=90)
    _, pixels = next(stream_frames(path, 1))
    assert pixels.shape == (128, 64, 3)
    assert pixels[:, 4, 0].mean() > 200  # the top of the coded picture, red, is turned to the left
    assert pixels[:, 4, 1].mean() < 60


@pytest.mark.parametrize(
    ("side", "shape"), [(None, (64, 128, 3)), (32, (32, 64, 3)), (64, (64, 128, 3)), (500, (64, 128, 3))]
)
def test_pictures_are_made_smaller_by_their_shorter_side(tmp_path, side, shape):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5])
    assert [pixels.shape for _, pixels in stream_frames(path, 2, shortest_side=side)] == [shape]
    assert numbers(path, 10, shortest_side=side) == [0, 1, 2, 3, 4]


def test_made_smaller_by_means_not_by_leaving_pixels_out(tmp_path):
    lines = np.zeros((64, 128, 3), np.uint8)
    lines[:, ::2] = 255
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=10)  # nothing of a picture is lost
        stream.width, stream.height, stream.pix_fmt = 128, 64, "yuv444p"
        for _ in range(2):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(lines, format="rgb24")))
        container.mux(stream.encode())
    _, pixels = next(stream_frames(path, 1, shortest_side=32))
    assert pixels.shape == (32, 64, 3)
    assert np.abs(pixels.astype(int) - 127).max() <= 4


def test_many_frames_need_no_more_memory_than_few(tmp_path):
    path = make_video(tmp_path / "a.mp4", [40 * k for k in range(400)])

    def most_bytes(end_s):
        tracemalloc.start()
        held = sum(1 for _ in stream_frames(path, 25, end_s=end_s))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return held, most

    (few, little), (many, much) = most_bytes(1.0), most_bytes(16.0)
    assert (few, many) == (25, 400)
    assert much < little + 20 * 64 * 128 * 3  # garbage that waits has twenty pictures' room; 375 more were streamed


def test_the_clock_starts_where_the_file_does(tmp_path):
    path = make_video(tmp_path / "a.ts", EVERY_100_MS, codec="libx264")
    assert numbers(path, 1) == [0, 10, 20, 30, 40, 50]
    assert numbers(path, 1, start_s=3) == [30, 40, 50]


def test_the_clock_of_an_avi_starts_with_its_first_picture(tmp_path):
    # Where frames lean on later ones, decoding starts before showing, and AVI tells of decoding only.
    path = make_video(tmp_path / "a.avi", list(range(60)), b_frames=2, rate=25)
    assert numbers(path, 25) == list(range(60))
    assert numbers(path, 5, start_s=1) == list(range(25, 60, 5))
    assert duration_of(path) == pytest.approx(60 / 25)


def test_a_matroska_file_whose_clock_starts_late(tmp_path):
    # Its head tells when the last frame ends, an hour and 10 s, not how long all of them last.
    whole = make_video(tmp_path / "whole.mkv", [3_600_000 + 40 * k for k in range(250)])
    assert duration_of(whole) == pytest.approx(10.0, abs=0.01)
    assert numbers(whole, 1) == [25 * k for k in range(10)]
    path = tmp_path / "a.mkv"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(InputError, match=r"ends at \d\.\d s of the 10\.0 s that it states: truncated\?"):
        outline_of(path)


def test_frames_in_front_of_what_is_to_be_shown(tmp_path):
    # 6 of 10 s are cut away, as phones do: the frames from the last key frame on are decoded, and not shown.
    path = trimmed(make_video(tmp_path / "whole.mp4", [40 * k for k in range(250)], gop=250), tmp_path / "a.mp4", 6000)
    assert duration_of(path) == pytest.approx(4.0)
    assert numbers(path, 5) == [150 + 5 * k for k in range(20)]
    assert numbers(path, 5, start_s=3) == [225, 230, 235, 240, 245]


def test_frames_that_lean_on_both_sides_of_a_key_frame(tmp_path):
    path = make_video(
        tmp_path / "a.mkv", EVERY_100_MS, codec="libx264", gop=10, b_frames=3, x264="open-gop=1:b-adapt=0"
    )
    assert len(outline_of(path).keyframes_s) > 3
    assert numbers(path, 10) == list(range(60))
    assert [numbers(path, 10, start_s=k / 10, end_s=k / 10 + 0.1) for k in range(60)] == [[k] for k in range(60)]


@pytest.mark.parametrize("name", quick_are(["a.ts", "a.webm"], ["a.ts", "a.mkv", "a.avi", "a.webm"]))
def test_far_on_in_any_container(tmp_path, name):
    codec, b_frames = {"a.avi": ("mpeg4", 0), "a.webm": ("libvpx", 0)}.get(name, ("libx264", 2))
    path = make_video(tmp_path / name, [100 * k for k in range(120)], codec=codec, b_frames=b_frames, gop=15)
    for start_s in (0, 3, 7.2, 9.5, 11):
        (time_s, pixels) = next(stream_frames(path, 10, start_s=start_s))
        assert number_in(jpeg_of(pixels)) == round(10 * time_s) == round(10 * start_s)


def test_pictures_beside_sound(tmp_path):
    path = make_video(tmp_path / "a.mp4", [1000 + 100 * k for k in range(40)], audio_s=5.0)
    assert numbers(path, 1)[:4] == [0, 0, 10, 20]


@pytest.mark.parametrize(
    "wrong",
    [
        {"fps": 0},
        {"fps": float("nan")},
        {"fps": 1001},
        {"start_s": -1},
        {"start_s": float("nan")},
        {"start_s": float("inf")},
        {"start_s": 2, "end_s": 1},
        {"end_s": float("nan")},
        {"shortest_side": 0},
    ],
)
def test_impossible_wishes(tmp_path, wrong):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5])
    with pytest.raises(UsageError):
        next(stream_frames(path, **{"fps": 1, **wrong}))


# ---- What is no video, or a damaged one


def test_no_file(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        next(stream_frames(tmp_path / "a.mp4", 1))


def test_no_pictures(tmp_path):
    path = make_sound(tmp_path / "a.mp4")
    with pytest.raises(InputError, match="has no video stream"):
        duration_of(path)


def cut_off(tmp_path, name, share):
    """A video of 10 s, 25 frames a second, and a copy of which only a share of the bytes is left."""
    options = {"movflags": "faststart"} if name == "a.mp4" else None  # the table stands in front, and stays whole
    whole = make_video(tmp_path / f"whole-{name}", [40 * k for k in range(250)], options=options)
    path = tmp_path / name
    path.write_bytes(whole.read_bytes()[: int(share * whole.stat().st_size)])
    return whole, path


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_a_cut_off_file_is_refused_or_taken_in_part_as_asked(tmp_path, name, share):
    whole, path = cut_off(tmp_path, name, share)
    with pytest.raises(InputError) as error:
        duration_of(path)
    assert "\n" not in str(error.value)
    outline = outline_of(path, partial=True)
    assert "of the 10.0 s that it states: truncated?" in outline.fault
    assert 10 * share - 1.5 < outline.duration_s < 10 * share + 1.5
    taken = list(stream_frames(path, 5, outline=outline))
    assert len(taken) == outline.n_frames(5)
    expected = [pixels for _, pixels in stream_frames(whole, 5)]
    alike = [np.array_equal(pixels, of) for (_, pixels), of in zip(taken, expected, strict=False)]
    assert all(alike[:-1])  # of the last frame there may be half
    assert len(alike) > 5 * 10 * share - 8


def test_a_whole_file_has_no_fault(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS)
    assert outline_of(path, partial=True) == outline_of(path)
    assert not outline_of(path).fault


def test_a_file_without_its_table_shows_nothing(tmp_path):
    whole = make_video(tmp_path / "whole.mp4", EVERY_100_MS)  # the table stands at the end
    path = tmp_path / "a.mp4"
    path.write_bytes(whole.read_bytes()[:-3000])
    with pytest.raises(InputError, match="cannot be read as a video"):
        outline_of(path, partial=True)


def test_noise_in_the_middle(tmp_path):
    # Whatever the decoder makes of the frames that are hit: none is out of order, none is lost behind it.
    whole = make_video(tmp_path / "whole.mkv", [40 * k for k in range(250)], gop=25)
    data = bytearray(whole.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 3000] = np.random.default_rng(0).bytes(3000)
    path = tmp_path / "a.mkv"
    path.write_bytes(data)
    outline = outline_of(path, partial=True)
    times_s = [t for t, _ in stream_frames(path, 5, outline=outline)]
    assert times_s == [k / 5 for k in range(outline.n_frames(5))]


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bytes_end_in_one_line_or_in_frames(tmp_path, seed):
    whole = make_video(tmp_path / "whole.mp4", EVERY_100_MS, codec="libx264", b_frames=1).read_bytes()
    rng = np.random.default_rng(seed)
    data = np.frombuffer(whole, np.uint8).copy()
    hit = rng.integers(0, len(data), 1 + seed * 3)
    data[hit] = rng.integers(0, 256, len(hit))
    path = tmp_path / "a.mp4"
    path.write_bytes(data.tobytes())
    for partial in (False, True):
        try:
            outline = outline_of(path, partial=partial)
            pictures = [pixels for _, pixels in itertools.islice(stream_frames(path, 4, outline=outline), 100)]
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017 - either end is right
            assert str(path) in str(error)  # noqa: PT017 - as above
        else:
            assert pictures
            assert all(of.ndim == 3 and of.dtype == np.uint8 for of in pictures)


def test_a_clock_that_is_broken(tmp_path):
    path = make_video(tmp_path / "a.mkv", [0, 40, 4_000_000_000], codec="libx264")
    with pytest.raises(InputError, match=r"lasts \de\+06 s, expected more than 0 and up to 3.6e\+06"):
        duration_of(path)


def test_a_picture_that_is_too_large_is_not_decoded(tmp_path, monkeypatch):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5], codec="libx264")
    monkeypatch.setattr("truemoment.media.video.frames.MOST_PIXELS", 128 * 64 - 1)
    with pytest.raises(InputError):
        next(stream_frames(path, 1))


def test_a_name_with_odd_characters(tmp_path):
    folder = tmp_path / "a folder: with, an é"
    folder.mkdir()
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:20]).rename(folder / "film %d [1].mp4")
    assert isinstance(path, Path)
    assert numbers(path, 5) == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]
