"""Frames by time: every video is made here, and each of its pictures says which one it is."""

import io
from fractions import Fraction

import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.media.video import Frames, Sampling, sample_frames

from .conftest import Image, make_sound, make_video, number_in

EVERY_100_MS = [100 * k for k in range(60)]
UNEVEN_MS = [0, 40, 90, 1000, 1010, 2500, 2600, 2700, 4900, 5000]


def numbers(frames):
    return [number_in(image) for image in frames.images]


def shown(times_ms, times_s):
    """By the definition: the last frame whose time stamp is not after t, else the first."""
    return [max([k for k, ms in enumerate(times_ms) if ms <= round(1000 * t)], default=0) for t in times_s]


@pytest.mark.parametrize(
    ("name", "codec", "b_frames"),
    [
        ("a.mp4", "libx264", 2),
        ("a.mkv", "libx264", 2),
        ("a.avi", "mpeg4", 0),
        ("a.webm", "libvpx", 0),
        ("a.mov", "mpeg4", 0),
    ],
)
def test_the_frame_shown_at_each_time(tmp_path, name, codec, b_frames):
    path = make_video(tmp_path / name, EVERY_100_MS, codec=codec, b_frames=b_frames)
    frames = sample_frames(path, Sampling(fps=2))
    assert frames.times_s.tolist() == [0.5 * k for k in range(12)]
    assert numbers(frames) == [5 * k for k in range(12)]
    assert frames.duration_s == pytest.approx(6.0, abs=0.1)  # the last frame lasts a tick, or as long as the others


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
@pytest.mark.parametrize("sampling", [Sampling(fps=3), Sampling(fps=0.7), Sampling(n_frames=7), Sampling(fps=50)])
def test_a_variable_frame_rate(tmp_path, name, sampling):
    frames = sample_frames(make_video(tmp_path / name, UNEVEN_MS, codec="libx264", b_frames=1), sampling)
    assert numbers(frames) == shown(UNEVEN_MS, frames.times_s)


def test_middles_of_equal_parts(tmp_path):
    frames = sample_frames(make_video(tmp_path / "a.mp4", EVERY_100_MS), Sampling(n_frames=4))
    width = frames.duration_s / 4
    assert frames.times_s == pytest.approx([width / 2 + width * k for k in range(4)])


def test_seconds_below_the_duration_only(tmp_path):
    frames = sample_frames(make_video(tmp_path / "a.mp4", [500 * k for k in range(4)]), Sampling(fps=1))
    assert frames.duration_s == 2.0
    assert frames.times_s.tolist() == [0.0, 1.0]  # 2.0 is the end, at which nothing is shown


@pytest.mark.parametrize("codec", ["libx264", "mpeg4"])
@pytest.mark.parametrize("gop", [1, 7, 250])
def test_seeking_changes_nothing(tmp_path, codec, gop, monkeypatch):
    # 250 frames of 0.4 s: most key frames lie further on than what is worth seeking.
    times_ms = [400 * k for k in range(250)]
    path = make_video(tmp_path / "a.mkv", times_ms, codec=codec, gop=gop, b_frames=2 if codec == "libx264" else 0)
    sampling = Sampling(n_frames=9)
    sought = sample_frames(path, sampling)
    monkeypatch.setattr("truemoment.media.video.frames.WORTH_SEEKING_S", np.inf)
    assert sample_frames(path, sampling).images == sought.images
    assert numbers(sought) == shown(times_ms, sought.times_s)


def test_seeking_is_done_where_it_saves_decoding(tmp_path, monkeypatch):
    path = make_video(tmp_path / "a.mp4", [400 * k for k in range(250)], gop=10)
    decoded = []
    timed = __import__("truemoment.media.video.frames", fromlist=["_timed"])._timed

    def counted(*of, plan=None):
        for item in timed(*of, plan=plan):
            decoded.append(item[0])
            yield item

    monkeypatch.setattr("truemoment.media.video.frames._timed", counted)
    sample_frames(path, Sampling(n_frames=4))
    assert len(decoded) < 4 * 13  # at most a group of pictures for each, not all 250


def test_a_file_whose_seeks_lead_elsewhere_is_decoded_from_its_start(tmp_path, monkeypatch):
    path = make_video(tmp_path / "a.mp4", [400 * k for k in range(100)], gop=10)
    expected = numbers(sample_frames(path, Sampling(n_frames=5)))
    monkeypatch.setattr("truemoment.media.video.frames._seek", lambda *_, **__: None)
    assert (
        numbers(sample_frames(path, Sampling(n_frames=5)))
        == expected
        == shown([400 * k for k in range(100)], [4, 12, 20, 28, 36])
    )


def test_the_clock_starts_where_the_file_does(tmp_path):
    # A transport stream's clock starts at 1.4 s or so; the first frame is still at 0.
    frames = sample_frames(make_video(tmp_path / "a.ts", EVERY_100_MS, codec="libx264"), Sampling(fps=1))
    assert numbers(frames) == [0, 10, 20, 30, 40, 50]


def test_pictures_that_start_after_the_sound(tmp_path):
    path = make_video(tmp_path / "a.mp4", [1000 + 100 * k for k in range(40)], audio_s=5.0)
    frames = sample_frames(path, Sampling(fps=1))
    assert numbers(frames)[:4] == [0, 0, 10, 20]  # before its first frame a video shows that frame


@pytest.mark.parametrize(
    ("degrees", "size", "red"),
    [
        (90, (64, 128), "left"),
        (180, (128, 64), "bottom"),
        (-90, (64, 128), "right"),
        ((0, "vflip"), (128, 64), "bottom"),
        ((90, "hflip"), (64, 128), "right"),
        ((90, "vflip"), (64, 128), "left"),
    ],
)
def test_rotation_is_applied(tmp_path, degrees, size, red):
    # Red is the top of the picture as coded; turned counter-clockwise by 90 degrees it is at the left.
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5], rotation=degrees)
    image = Image.open(io.BytesIO(sample_frames(path, Sampling(fps=1)).images[0])).convert("RGB")
    assert image.size == size
    pixels = np.asarray(image).astype(int)
    edge = {"left": pixels[:, 4], "right": pixels[:, -5], "bottom": pixels[-5]}[red].mean(axis=0)
    assert edge[0] > 200
    assert edge[1] < 60


@pytest.mark.parametrize(("longest", "size"), [(448, (128, 64)), (64, (64, 32)), (100, (100, 50))])
def test_pictures_are_made_smaller_never_larger(tmp_path, longest, size):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5])
    frames = sample_frames(path, Sampling(fps=1, longest_side=longest))
    assert Image.open(io.BytesIO(frames.images[0])).size == size


def test_pixels_that_are_not_square(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5], aspect=Fraction(3, 2))
    frames = sample_frames(path, Sampling(fps=1))
    assert Image.open(io.BytesIO(frames.images[0])).size == (192, 64)  # 128 * 3 / 2


def test_the_same_file_gives_the_same_bytes(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS)
    one, other = (sample_frames(path, Sampling(fps=4)) for _ in range(2))
    assert isinstance(one, Frames)
    assert one.images == other.images


# ---- What is no video


def refused(path, sampling=Sampling(fps=1)):  # noqa: B008 - a frozen value
    with pytest.raises(InputError) as error:
        sample_frames(path, sampling)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_no_file(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        sample_frames(tmp_path / "a.mp4", Sampling(fps=1))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a text, and no video\n" * 50,
        b"\x00" * 5000,
        b"1\n00:00:00,000 --> 00:00:05,000\nwords\n\n" * 20,
        b"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nother.ts\n#EXT-X-ENDLIST\n",
    ],
)
def test_text_that_is_named_as_a_video(tmp_path, content):
    path = tmp_path / "a.mp4"
    path.write_bytes(content)
    assert "cannot be read as a video" in refused(path)


def test_a_playlist_does_not_open_other_files(tmp_path):
    make_video(tmp_path / "other.ts", EVERY_100_MS, codec="libx264")
    path = tmp_path / "a.mp4"
    path.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nother.ts\n#EXT-X-ENDLIST\n")
    assert "cannot be read as a video" in refused(path)


def test_a_folder(tmp_path):
    assert "cannot be read as a video" in refused(tmp_path)


def test_sound_alone(tmp_path):
    assert "has no video stream" in refused(make_sound(tmp_path / "a.mp4"))


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_a_file_that_is_cut_off(tmp_path, name, share):
    options = {"movflags": "faststart"} if name == "a.mp4" else None  # the table stands in front, and stays whole
    whole = make_video(tmp_path / f"whole-{name}", [40 * k for k in range(250)], options=options).read_bytes()
    path = tmp_path / name
    path.write_bytes(whole[: int(share * len(whole))])
    refused(path)


def test_an_avi_that_is_cut_off(tmp_path):
    whole = make_video(tmp_path / "whole.avi", list(range(75)), gop=1, rate=25).read_bytes()
    path = tmp_path / "a.avi"
    path.write_bytes(whole[: len(whole) // 3])
    assert "of the 3.0 s that it states: truncated?" in refused(path)


def test_no_time_stamps(tmp_path):
    # A bare stream of H.264 has none. It is not opened at all, as it is no container.
    path = make_video(tmp_path / "a.h264", EVERY_100_MS, codec="libx264")
    refused(path)


def test_time_stamps_that_fall(tmp_path):
    # AVI keeps the order of decoding only; with frames that lean on later ones nobody knows when each is shown.
    path = make_video(tmp_path / "a film.avi", EVERY_100_MS, codec="libx264", b_frames=2)
    told = refused(path)
    assert "time stamps that fall" in told
    assert told.endswith("; encode it again, e.g. `ffmpeg -r 1000 -i 'a film.avi' whole.mp4`")


def test_more_frames_than_anybody_takes(tmp_path):
    path = make_video(tmp_path / "a.mp4", [2000 * k for k in range(6)])
    assert "12000 frames, expected up to 10000" in refused(path, Sampling(fps=1000))


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {"fps": 1, "n_frames": 4},
        {"fps": 0},
        {"fps": float("nan")},
        {"fps": -1},
        {"n_frames": 0},
        {"n_frames": 10**6},
        {"fps": 1, "longest_side": 0},
    ],
)
def test_impossible_samplings(numbers):
    with pytest.raises(UsageError):
        Sampling(**numbers)
