"""Damaged files, and files that claim what cannot be: each is refused in one line, or costs what its frames cost."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from truemoment.base.errors import InputError
from truemoment.media.video import Sampling, cut_clip, sample_frames, thumbnail
from truemoment.media.video import frames as under_test
from truemoment.media.video.frames import duration_of, jpeg_of, outline_of, stream_frames

from .conftest import av, make_video, number_in, picture

pytestmark = pytest.mark.slow


EVERY_100_MS = [100 * k for k in range(60)]
CODECS = {
    "a.mp4": ("libx264", b"avc1", b"XYZ1"),
    "a.mov": ("libx264", b"avc1", b"XYZ1"),
    "a.avi": ("mpeg4", b"FMP4", b"XYZ4"),
    "a.mkv": ("libx264", b"V_MPEG4/ISO/AVC", b"V_MPEG4/ISO/XYZ"),
}
"""What each kind of file calls a codec, and what no codec is called."""


def numbers(path, fps, **options):
    return [number_in(jpeg_of(pixels)) for _, pixels in stream_frames(path, fps, **options)]


def changed(path, before, after):
    """Replace bytes of a file by as many others."""
    data = path.read_bytes()
    assert before in data
    assert len(before) == len(after)
    path.write_bytes(data.replace(before, after))
    return path


def late_sound(path, seconds=15):
    """Write an FLV file whose head tells of pictures alone, and whose sound starts at 10 s, behind what is probed."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("flv", rate=10)
        stream.width, stream.height, stream.pix_fmt = 128, 64, "yuv420p"
        sound = container.add_stream("pcm_s16le", rate=44100, layout="mono")
        for k in range(10 * seconds):
            frame = av.VideoFrame.from_ndarray(picture(k), format="rgb24")
            frame.pts, frame.time_base = k, Fraction(1, 10)
            container.mux(stream.encode(frame))
            if k >= 100:
                silence = av.AudioFrame.from_ndarray(np.zeros((1, 4410), np.int16), "s16", "mono")
                silence.sample_rate, silence.pts, silence.time_base = 44100, 4410 * k, Fraction(1, 44100)
                container.mux(sound.encode(silence))
        container.mux([*stream.encode(), *sound.encode()])
    data = bytearray(path.read_bytes())
    data[4] = 1  # of the flags 4, sound, and 1, pictures
    path.write_bytes(data)
    return path


def with_time_stamp(path, number, pts):
    """Give the frame of a number, of a transport stream with pictures alone, another time stamp: 33 bits in 5 bytes."""
    data = bytearray(path.read_bytes())
    at = -1
    for _ in range(number + 1):
        at = data.index(b"\x00\x00\x01\xe0", at + 1)
    parts = (pts >> 30 & 7) << 1 | 1, pts >> 22 & 255, (pts >> 15 & 127) << 1 | 1, pts >> 7 & 255, (pts & 127) << 1 | 1
    data[at + 9] = data[at + 9] & 0xF0 | parts[0]
    data[at + 10 : at + 14] = bytes(parts[1:])
    path.write_bytes(data)
    return path


def with_long_picture(path):
    """Let the last pictures of an MP4 file, those that last less than the others, each last 2**31 - 1 ticks."""
    data = bytearray(path.read_bytes())
    clock, table = data.index(b"mdhd") + 16, data.index(b"stts") + 8
    assert int.from_bytes(data[clock : clock + 4]) == 16_000  # ticks a second
    assert int.from_bytes(data[table : table + 4]) == 2  # runs: so many pictures, ticks of each
    data[table + 16 : table + 20] = (2**31 - 1).to_bytes(4)
    path.write_bytes(data)
    return path


# ---- What cannot be decoded


@pytest.mark.parametrize("name", CODECS)
def test_a_video_of_an_unknown_codec_is_refused_in_one_line(tmp_path, name):
    codec, known, unknown = CODECS[name]
    path = changed(make_video(tmp_path / name, list(range(50)), codec=codec, rate=25), known, unknown)
    for look in (
        outline_of,
        lambda path: outline_of(path, partial=True),
        lambda path: next(stream_frames(path, 1)),
        lambda path: sample_frames(path, Sampling(fps=1)),
        lambda path: thumbnail(path, 1.0),
        lambda path: cut_clip(path, tmp_path / "clip.mp4", 0, 1),
    ):
        with pytest.raises(InputError) as error:
            look(path)
        assert str(error.value) == f"{path}: has pictures of an unknown codec, expected one that FFmpeg decodes"


def test_a_clip_of_a_video_whose_sound_is_of_an_unknown_codec_is_silent(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS, codec="libx264", audio_s=5.0)
    changed(changed(path, b"mp4a", b"XYZa"), b"\x40\x15", b"\xfe\x15")  # AAC as a sound in MPEG-4 has the number 0x40
    cut_clip(path, tmp_path / "clip.mp4", 1.0, 2.0)
    assert duration_of(tmp_path / "clip.mp4") == pytest.approx(1.0)
    with av.open(str(tmp_path / "clip.mp4")) as container:
        assert [of.type for of in container.streams] == ["video"]


def test_sound_that_appears_far_behind_the_start_of_the_file(tmp_path):
    path = late_sound(tmp_path / "a.flv")
    assert duration_of(path) == pytest.approx(15.0, abs=0.11)  # the last frame may have no duration
    assert numbers(path, 1) == [10 * k for k in range(15)]


def test_text_beside_the_pictures_that_is_not_utf_8(tmp_path):
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        container.metadata["title"] = "XXXX"
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 128, 64, "yuv420p"
        for k in range(20):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture(k), format="rgb24")))
        container.mux(stream.encode())
    assert numbers(changed(path, b"XXXX", b"\xe9t\xe9!"), 2) == [0, 5, 10, 15]


def test_pixels_of_an_absurd_form_are_not_made_square(tmp_path):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5], aspect=Fraction(3, 2))
    changed(path, b"pasp" + bytes([0, 0, 0, 3, 0, 0, 0, 2]), b"pasp" + (30_000).to_bytes(4) + (1).to_bytes(4))
    for look in (
        lambda: next(stream_frames(path, 1)),
        lambda: sample_frames(path, Sampling(fps=1)),
        lambda: thumbnail(path, 0.1),
        lambda: cut_clip(path, tmp_path / "clip.mp4", 0, 0.3),
    ):
        with pytest.raises(
            InputError, match=r"has pictures of 3,840,000 x 64 pixels, expected up to 134,217,728 in all"
        ):
            look()


@pytest.mark.parametrize("error", [TypeError, OverflowError, ZeroDivisionError, IndexError, MemoryError, RuntimeError])
def test_whatever_the_decoder_raises_names_the_file(tmp_path, monkeypatch, error):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS[:5])

    def breaks(*_):
        raise error

    for name in ("packets_of", "pixels_of"):
        with monkeypatch.context() as made:
            made.setattr(under_test, name, breaks)
            with pytest.raises(InputError) as told:
                next(stream_frames(path, 1))
        assert str(told.value) == f"{path}: cannot be read as a video ({error.__name__})"


# ---- Clocks that are broken


def test_a_file_of_a_few_pictures_that_claims_days_is_refused(tmp_path):
    path = with_long_picture(make_video(tmp_path / "a.mp4", [0, 40, 80, 120, 160, 170]))
    with pytest.raises(InputError) as error:
        outline_of(path)
    told = "shows one picture from 0.2 to 134217.9 s, expected up to 3600 s of one: a broken clock?"
    assert str(error.value) == f"{path}: {told}"
    outline = outline_of(path, partial=True)
    assert outline.fault == told
    assert outline.duration_s == pytest.approx(0.2)  # five pictures of 40 ms each
    assert numbers(path, 25, outline=outline) == [0, 1, 2, 3, 4]


def test_a_slide_show_is_no_broken_clock(tmp_path):
    path = make_video(tmp_path / "a.mp4", [0, 5_000, 1_800_000, 3_600_000, 7_200_000 - 1000, 7_200_000])
    outline = outline_of(path)
    assert outline.duration_s == pytest.approx(7201.0)
    np.testing.assert_allclose(outline.stills_s, [(5, 1800), (1800, 3600), (3600, 7199)])
    assert numbers(path, 1 / 1799) == [0, 1, 2, 3, 3]
    assert outline.is_still(6, 1799)
    assert not outline.is_still(6, 1800)
    assert not outline.is_still(4, 6)
    assert not outline.is_still(0, 4)  # too short to be told


def test_a_transport_stream_with_a_time_stamp_of_another_day(tmp_path):
    # Its clock counts 90,000 a second: 2**32 ticks are 13 h.
    path = with_time_stamp(make_video(tmp_path / "a.ts", EVERY_100_MS, codec="libx264", gop=10), 30, 2**32)
    with pytest.raises(InputError, match=r"shows one picture from 5\.9 to 477\d\d"):
        outline_of(path)
    outline = outline_of(path, partial=True)
    assert outline.duration_s == pytest.approx(6.0)
    shown = numbers(path, 10, outline=outline)
    assert shown == [k if k != 30 else 29 for k in range(60)]  # what comes after it is there, too


def test_a_file_whose_index_leads_back_is_decoded_once(tmp_path, monkeypatch):
    times_ms = [400 * k for k in range(200)]
    path = make_video(tmp_path / "a.mp4", times_ms, gop=10)
    timed = under_test._timed
    decoded = []

    def counted(*of, plan=None):
        for item in timed(*of, plan=plan):
            decoded.append(item[0])
            yield item

    monkeypatch.setattr(under_test, "_timed", counted)
    monkeypatch.setattr(under_test, "_seek", lambda *of, **_: under_test._from_start(*of[2:4]))
    assert [time_s for time_s, _ in stream_frames(path, 0.2)] == [5 * k for k in range(16)]
    assert len(decoded) <= 2 * 200  # the place it led back to is the start


# ---- Noise in any file


@pytest.mark.parametrize("name", ["a.avi", "a.mkv", "a.mov", "a.ts", "a.flv"])
def test_noise_in_the_head_of_any_file_ends_in_one_line_or_in_frames(tmp_path, name):
    codec = {"a.ts": "libx264", "a.flv": "flv"}.get(name, "mpeg4")
    whole = make_video(tmp_path / f"whole-{name}", list(range(50)), codec=codec, rate=25).read_bytes()
    path = tmp_path / name
    for seed in range(0, 12, 2):
        rng = np.random.default_rng(seed)
        data = bytearray(whole)
        for at in rng.integers(0, min(len(data), 1200), 1 + seed):
            data[at] = rng.integers(0, 256)
        path.write_bytes(data)
        for partial in (False, True):
            try:
                outline = outline_of(path, partial=partial)
                pictures = [pixels for _, pixels in itertools.islice(stream_frames(path, 4, outline=outline), 50)]
            except InputError as error:
                assert str(error).startswith(f"{path}: ")  # noqa: PT017 - either end is right
                assert "\n" not in str(error)  # noqa: PT017 - as above
            else:
                assert pictures
