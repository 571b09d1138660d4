"""Pictures and parts of videos: every video is made here, and each of its pictures says which one it is."""

import io
import resource
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.media.video.clips import cut_clip, thumbnail
from truemoment.media.video.frames import duration_of, jpeg_of, outline_of, stream_frames

from .conftest import Image, av, make_sound, make_video, number_in

pytestmark = pytest.mark.slow


EVERY_100_MS = [100 * k for k in range(60)]
UNEVEN_MS = [0, 40, 90, 1000, 1010, 2500, 2600, 2700, 4900, 5000]


def stamped(path):
    """Each picture of a video: from when it is shown, in seconds, and its number."""
    with av.open(str(path)) as container:
        return [
            (float(frame.pts * frame.time_base), number_in(jpeg_of(frame.to_ndarray(format="rgb24"))))
            for frame in container.decode(video=0)
        ]


# ---- Thumbnails


@pytest.mark.parametrize(("time_s", "number"), [(0, 0), (1.25, 12), (3, 30), (5.99, 59), (-4, 0), (99, 59)])
def test_the_picture_at_a_time(tmp_path, time_s, number):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS, codec="libx264", b_frames=2)
    assert number_in(thumbnail(path, time_s)) == number
    assert number_in(thumbnail(path, time_s, outline=outline_of(path))) == number


@pytest.mark.parametrize(("longest", "size"), [(320, (128, 64)), (64, (64, 32)), (100, (100, 50))])
def test_thumbnails_are_made_smaller_never_larger(tmp_path, longest, size):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5])
    assert Image.open(io.BytesIO(thumbnail(path, 0.2, longest))).size == size


def test_a_turned_thumbnail_stands_upright(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5], rotation=90)
    assert Image.open(io.BytesIO(thumbnail(path, 0.2, 32))).size == (16, 32)


@pytest.mark.parametrize(("time_s", "side"), [(float("nan"), 320), (1, 0), (1, 100_000)])
def test_impossible_thumbnails(tmp_path, time_s, side):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5])
    with pytest.raises(UsageError):
        thumbnail(path, time_s, side)


# ---- Clips


@pytest.mark.parametrize(
    ("source", "start_s", "end_s"),
    [
        *(("a.mp4", *ends) for ends in [(1.25, 3.05), (0, 0.3), (2, 4), (5.55, 6), (0, 6)]),
        *((source, *ends) for source in ("a.mkv", "a.ts") for ends in [(1.25, 3.05), (5.55, 6)]),
    ],
)
def test_a_clip_shows_each_picture_as_long_as_the_video(tmp_path, source, start_s, end_s):
    path = make_video(tmp_path / source, EVERY_100_MS, codec="libx264", b_frames=2, gop=20)
    out = tmp_path / "out.mp4"
    cut_clip(path, out, start_s, end_s)
    first = int(start_s * 10 + 1e-9)
    expected = [(max(0, k / 10 - start_s), k) for k in range(first, 60) if k / 10 < end_s - 1e-9]
    found = stamped(out)
    assert [number for _, number in found] == [number for _, number in expected]
    assert [t for t, _ in found] == pytest.approx([t for t, _ in expected], abs=1e-4)
    assert duration_of(out) == pytest.approx(end_s - start_s, abs=1e-3)


def test_a_variable_frame_rate(tmp_path):
    path = make_video(tmp_path / "a.mp4", UNEVEN_MS, codec="libx264", b_frames=1)
    cut_clip(path, tmp_path / "out.mp4", 0.05, 4.95)
    expected = [(max(0, ms / 1000 - 0.05), k) for k, ms in enumerate(UNEVEN_MS) if k >= 1 and ms < 4950]
    assert stamped(tmp_path / "out.mp4") == [(pytest.approx(t, abs=1e-4), k) for t, k in expected]


def test_pictures_that_start_after_the_sound(tmp_path):
    # Before its first frame a video shows that frame; 1.0 to 1.3 s are frames 0 to 2.
    path = make_video(tmp_path / "a.mp4", [1000 + 100 * k for k in range(40)], audio_s=5.0)
    cut_clip(path, tmp_path / "out.mp4", 0.5, 1.3)
    assert stamped(tmp_path / "out.mp4") == [(pytest.approx(t, abs=1e-4), k) for t, k in ((0, 0), (0.6, 1), (0.7, 2))]
    cut_clip(path, tmp_path / "out.mp4", 0.2, 0.7)
    assert stamped(tmp_path / "out.mp4") == [(0, 0)]
    assert duration_of(tmp_path / "out.mp4") == pytest.approx(0.5, abs=1e-3)


def test_what_lies_outside_the_video_is_left_out(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS)
    cut_clip(path, tmp_path / "out.mp4", -3, 0.45)
    assert [number for _, number in stamped(tmp_path / "out.mp4")] == [0, 1, 2, 3, 4]
    cut_clip(path, tmp_path / "out.mp4", 5.8, 99)  # the file that was there is replaced
    assert [number for _, number in stamped(tmp_path / "out.mp4")] == [58, 59]


@pytest.mark.parametrize(("rotation", "aspect", "shape"), [(90, None, (128, 64)), (0, Fraction(3, 2), (64, 192))])
def test_a_clip_is_upright_with_square_pixels(tmp_path, rotation, aspect, shape):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS, rotation=rotation, aspect=aspect)
    cut_clip(path, tmp_path / "out.mp4", 1, 2)
    with av.open(str(tmp_path / "out.mp4")) as container:
        frame = next(container.decode(video=0))
        assert (frame.height, frame.width) == shape
        assert frame.rotation == 0
        assert container.streams.video[0].sample_aspect_ratio in {None, 1}


def test_odd_sides(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:9], aspect=Fraction(127, 128))
    cut_clip(path, tmp_path / "out.mp4", 0, 0.5)
    assert next(stream_frames(tmp_path / "out.mp4", 1))[1].shape == (64, 128, 3)


def beep(path, rate, layout, at_s, clock_s=0):
    """Write 4 s of pictures beside silence in which a tone sounds for half a second; their clock may start late."""
    n_channels = {"mono": 1, "stereo": 2}[layout]
    with av.open(str(path), "w") as container:
        pictures = container.add_stream("libx264", rate=10)
        pictures.width, pictures.height, pictures.pix_fmt = 32, 32, "yuv420p"
        sound = container.add_stream("aac", rate=rate, layout=layout)
        for number in range(40):
            frame = av.VideoFrame.from_ndarray(np.full((32, 32, 3), number, np.uint8), format="rgb24")
            frame.pts, frame.time_base = number + 10 * clock_s, Fraction(1, 10)
            container.mux(pictures.encode(frame))
        container.mux(pictures.encode())
        time_s = np.arange(4 * rate) / rate
        tone = np.sin(2 * np.pi * 440 * time_s) * ((time_s >= at_s) & (time_s < at_s + 0.5))
        frame = av.AudioFrame.from_ndarray(np.tile(tone.astype(np.float32), (n_channels, 1)), "fltp", layout)
        frame.sample_rate, frame.pts, frame.time_base = rate, clock_s * rate, Fraction(1, rate)
        container.mux([*sound.encode(frame), *sound.encode()])
    return path


@pytest.mark.parametrize(
    ("name", "rate", "layout", "clock_s"),
    [
        ("a.mp4", 16000, "mono", 0),
        ("a.mp4", 44100, "stereo", 0),
        ("a.mp4", 48000, "stereo", 0),
        ("a.mkv", 48000, "mono", 60),
    ],
)
def test_sound_stays_beside_its_pictures(tmp_path, name, rate, layout, clock_s):
    path = beep(tmp_path / name, rate, layout, 2.0, clock_s)
    assert outline_of(path).origin_s == pytest.approx(clock_s, abs=0.2)
    cut_clip(path, tmp_path / "out.mp4", 1.37, 3.2)
    with av.open(str(tmp_path / "out.mp4")) as container:
        sound = container.streams.audio[0]
        assert (sound.rate, sound.layout.name) == (rate, layout)
        parts = [(frame.pts * frame.time_base, frame.to_ndarray()[0]) for frame in container.decode(audio=0)]
    samples = np.concatenate([of for _, of in parts])
    loud = float(parts[0][0]) + np.flatnonzero(np.abs(samples) > 0.3) / rate
    assert loud[0] == pytest.approx(2.0 - 1.37, abs=0.02)  # a sixtieth of a second: no eye sees it
    assert loud[-1] == pytest.approx(2.5 - 1.37, abs=0.02)
    assert len(samples) / rate == pytest.approx(3.2 - 1.37, abs=0.1)  # whole packets of 1024 samples
    assert duration_of(tmp_path / "out.mp4") == pytest.approx(3.2 - 1.37, abs=1e-3)


@pytest.mark.parametrize(("name", "clock_s"), [("a.mp4", 0), ("a.ts", 60), ("a.mkv", 60)])
def test_sound_is_decoded_where_it_is_needed(tmp_path, name, clock_s, monkeypatch):
    path = beep(tmp_path / name, 48000, "mono", 2.0, clock_s)  # 188 frames of sound
    decoded = []

    class Counting:
        def __init__(self, real):
            self.real = real

        def resample(self, frame):
            decoded.append(frame)
            return self.real.resample(frame)

    resampler = av.AudioResampler
    monkeypatch.setattr(av, "AudioResampler", lambda **of: Counting(resampler(**of)))
    cut_clip(path, tmp_path / "out.mp4", 3.0, 3.4)  # 19 of them
    assert 19 <= len(decoded) < 19 + 25


def test_a_silent_video_gives_a_silent_clip(tmp_path):
    cut_clip(make_video(tmp_path / "a.mp4", EVERY_100_MS), tmp_path / "out.mp4", 1, 2)
    with av.open(str(tmp_path / "out.mp4")) as container:
        assert [stream.type for stream in container.streams] == ["video"]


def test_a_clip_has_the_colours_of_the_video(tmp_path):
    # Large pictures are coded by BT.709, and players take a clip that does not tell for whichever they guess.
    colours = np.zeros((64, 96, 3), np.uint8)
    colours[:, :32], colours[:, 32:64], colours[:, 64:] = (200, 40, 40), (40, 200, 40), (40, 40, 200)
    path = tmp_path / "a.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        context = stream.codec_context
        context.options = {"crf": "4"}
        context.colorspace, context.color_range, context.color_primaries, context.color_trc = 9, 1, 9, 18  # HLG
        for number in range(10):
            frame = av.VideoFrame.from_ndarray(colours, format="rgb24")
            frame = frame.reformat(format="yuv420p", dst_colorspace="BT2020", dst_color_range="MPEG")
            frame.pts, frame.time_base = number, Fraction(1, 10)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    cut_clip(path, tmp_path / "out.mp4", 0, 0.5)
    with av.open(str(tmp_path / "out.mp4")) as container:
        frame = next(container.decode(video=0))
    assert (frame.colorspace, frame.color_range, frame.color_primaries, frame.color_trc) == (1, 1, 9, 18)
    _, pixels = next(stream_frames(tmp_path / "out.mp4", 1))
    for column in (16, 48, 80):
        assert np.abs(pixels[32, column].astype(int) - colours[32, column]).max() <= 6


@contextmanager
def largest_file(n_bytes):
    """Let no file grow beyond a size, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_one_line_and_no_file(tmp_path, capfd):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS, audio_s=6.0)
    cut_clip(path, tmp_path / "out.mp4", 0, 4)
    whole = (tmp_path / "out.mp4").read_bytes()
    for lacking in range(1, len(whole), len(whole) // 5):
        with largest_file(len(whole) - lacking), pytest.raises(InputError) as error:
            cut_clip(path, tmp_path / "out.mp4", 0, 4)
        assert str(error.value).startswith(f"{tmp_path / 'out.mp4'}: cannot be written (")
        assert "\n" not in str(error.value)
    assert (tmp_path / "out.mp4").read_bytes() == whole
    assert sorted(of.name for of in tmp_path.iterdir()) == ["a.mp4", "out.mp4"]
    assert len(list(stream_frames(path, 10))) == 60  # no error is left behind in PyAV
    assert capfd.readouterr().err == ""


def test_what_does_not_fit_is_not_encoded_to_its_end(tmp_path, monkeypatch):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS)
    rng = np.random.default_rng(0)
    drawn = []

    def noise(*_):  # several kilobytes each
        drawn.append(rng.integers(0, 256, (64, 128, 3), np.uint8))
        return drawn[-1]

    monkeypatch.setattr("truemoment.media.video.clips.pixels_of", noise)
    with largest_file(50_000), pytest.raises(InputError, match="cannot be written"):
        cut_clip(path, tmp_path / "out.mp4", 0, 6)
    assert len(drawn) < 60


def test_a_damaged_file_shows_what_is_left(tmp_path):
    whole = make_video(tmp_path / "whole.mkv", [40 * k for k in range(250)])
    path = tmp_path / "a.mkv"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(InputError, match="truncated"):
        cut_clip(path, tmp_path / "out.mp4", 1, 2)
    assert not (tmp_path / "out.mp4").exists()
    cut_clip(path, tmp_path / "out.mp4", 1, 2, outline=outline_of(path, partial=True))
    assert [number for _, number in stamped(tmp_path / "out.mp4")] == list(range(25, 50))


@pytest.mark.parametrize(("start_s", "end_s"), [(2, 2), (3, 2), (6, 7), (-2, -1), (float("nan"), 2), (1, float("nan"))])
def test_impossible_parts(tmp_path, start_s, end_s):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS)
    with pytest.raises(UsageError):
        cut_clip(path, tmp_path / "out.mp4", start_s, end_s)
    assert sorted(of.name for of in tmp_path.iterdir()) == ["a.mp4"]


def test_the_video_is_never_written_over(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS)
    before = path.read_bytes()
    (tmp_path / "link.mp4").symlink_to(path)
    for out in (path, tmp_path / "link.mp4"):
        with pytest.raises(UsageError, match="is the video itself"):
            cut_clip(path, out, 1, 2)
    assert path.read_bytes() == before


def test_other_names_files_and_folders(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS)
    with pytest.raises(UsageError, match=r"expected a name that ends in .mp4"):
        cut_clip(path, tmp_path / "out.gif", 1, 2)
    with pytest.raises(InputError, match="cannot be written"):
        cut_clip(path, tmp_path / "none" / "out.mp4", 1, 2)
    with pytest.raises(MissingFileError):
        cut_clip(tmp_path / "none.mp4", tmp_path / "out.mp4", 1, 2)
    with pytest.raises(InputError, match="no video stream"):
        cut_clip(make_sound(tmp_path / "sound.mp4"), tmp_path / "out.mp4", 0, 1)
