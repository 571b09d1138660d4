"""Frames that are not decoded: those that are, are the same to the byte as when every frame is decoded."""

import numpy as np
import pytest

from truemoment.base.errors import InputError
from truemoment.media.video import frames
from truemoment.media.video.frames import jpeg_of, outline_of, shown_at, stream_frames

from ..thorough import quick_are
from .conftest import av, make_video, number_in, trimmed

pytestmark = pytest.mark.slow

EVERY_100_MS = [100 * k for k in range(60)]
UNEVEN_MS = [0, 40, 90, 1000, 1010, 2500, 2600, 2700, 4900, 5000, 5040, 5080, 6900, 7000, 7100]


@pytest.fixture
def treated(monkeypatch):
    """How each packet was treated: decoded, decoded if another frame needs it, or left out; never all again."""
    seen = []
    prepare = frames._Skipping.prepare

    def noted(self, stream, packet):
        is_decoded = prepare(self, stream, packet)
        seen.append("left out" if not is_decoded else stream.codec_context.skip_frame)
        return is_decoded

    def again(*_, **__):
        raise AssertionError("decoded again")

    monkeypatch.setattr(frames._Skipping, "prepare", noted)
    monkeypatch.setattr(frames, "shown_at", again)
    return seen


def assert_equal_to_all_decoded(path, wanted_s, treated):
    """Compare the frames shown at some times with those of plain decoding; return how packets were treated."""
    outline = outline_of(path)
    before = len(treated)
    every = [frame.to_ndarray() for _, frame in shown_at(path, outline, wanted_s, skips=False)]
    assert len(treated) == before
    for threads in (0, 1):
        some = [frame.to_ndarray() for _, frame in shown_at(path, outline, wanted_s, threads=threads)]
        assert np.array_equal(every, some)
    return set(treated[before:])


@pytest.mark.parametrize(("b_frames", "x264"), [(0, ""), (1, ""), (3, ""), (3, "b-pyramid=strict"), (3, "open-gop=1")])
@pytest.mark.parametrize("times_ms", [EVERY_100_MS, UNEVEN_MS])
def test_frames_that_nobody_needs(tmp_path, treated, b_frames, x264, times_ms):
    path = make_video(tmp_path / "a.mp4", times_ms, codec="libx264", b_frames=b_frames, gop=20, x264=x264)
    ways = assert_equal_to_all_decoded(path, [k / 3 for k in range(15)], treated)
    if b_frames == 3 and times_ms is EVERY_100_MS:
        assert "NONREF" in ways
    if b_frames == 0:
        assert "NONREF" not in ways


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("a.mp4", {"codec": "libx264", "x264": "ref=4:b-pyramid=normal"}),
        ("a.mkv", {"codec": "libx264", "x264": "ref=4:b-pyramid=strict"}),
        ("a.ts", {"codec": "libx264", "x264": "ref=4"}),
        ("a.mp4", {"codec": "libx265"}),
    ],
)
@pytest.mark.parametrize(
    "times_ms", quick_are([UNEVEN_MS], [EVERY_100_MS, UNEVEN_MS, [80 + 100 * k for k in range(60)]])
)
def test_the_end_of_a_group_without_a_wanted_frame(tmp_path, treated, name, how, times_ms):
    path = make_video(tmp_path / name, times_ms, b_frames=3, gop=5, **how)
    for wanted_s in ([k / 2 + 0.05 for k in range(9)], [0.0, 1.4, 2.4, 2.5, 4.3], [0.7, 2.6, 3.01, 4.999], [4.0]):
        ways = assert_equal_to_all_decoded(path, wanted_s, treated)
        if "x264" in how and times_ms is EVERY_100_MS and len(wanted_s) > 1:
            assert "left out" in ways


@pytest.mark.parametrize(
    ("x264", "is_left_out"),
    [("keyint=60", False), ("open-gop=1:keyint=6", False), ("intra-refresh=1:keyint=10", False), ("keyint=6", True)],
)
def test_no_frame_is_left_out_before_a_key_frame_that_others_look_back_past(tmp_path, treated, x264, is_left_out):
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS, codec="libx264", b_frames=3, gop=60, x264=f"b-adapt=0:{x264}")
    assert len(outline_of(path).restarts_s) == (10 if is_left_out else 1)
    assert ("left out" in assert_equal_to_all_decoded(path, [0.0, 1.0, 2.0, 3.0, 4.0], treated)) == is_left_out


def test_frames_before_an_edit_list(tmp_path, treated):
    whole = make_video(tmp_path / "whole.mp4", EVERY_100_MS, codec="libx264", b_frames=3, gop=10)
    path = trimmed(whole, tmp_path / "a.mp4", 1200)
    assert "left out" in assert_equal_to_all_decoded(path, [0.0, 0.1, 1.1, 2.2, 4.0], treated)
    shown = [frame.to_ndarray(format="rgb24") for _, frame in shown_at(path, outline_of(path), [0.0, 1.0, 2.0])]
    assert [number_in(jpeg_of(pixels)) for pixels in shown] == [12, 22, 32]


def test_times_far_apart_are_sought(tmp_path, treated):
    path = make_video(tmp_path / "a.mp4", [100 * k for k in range(200)], codec="libx264", b_frames=3, gop=10)
    assert "left out" not in assert_equal_to_all_decoded(path, [0.0, 8.0, 16.0], treated)
    assert len(treated) < 2 * 100  # twice 200 packets would be read without


def test_a_decoder_that_drops_a_frame_that_is_shown_decodes_it_again(tmp_path, monkeypatch):
    """As if the decoder took a frame for one that nobody needs, and dropped it."""
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS, codec="libx264", b_frames=3, gop=20)

    def prepare(self, stream, packet):
        if packet.pts is not None:
            self.seen_s = sorted([*self.seen_s, packet.pts * float(stream.time_base)])
        stream.codec_context.skip_frame = "NONREF"
        return True

    monkeypatch.setattr(frames._Skipping, "prepare", prepare)
    numbers = [number_in(jpeg_of(pixels)) for _, pixels in stream_frames(path, 10)]
    assert numbers == list(range(60))


def test_packets_out_of_place_are_decoded_again(tmp_path, monkeypatch):
    """As if a file stated places in the order of decoding that are too late: wanted frames are left out at first."""
    path = make_video(tmp_path / "a.mp4", EVERY_100_MS, codec="libx264", b_frames=3, gop=5)
    is_past = frames._Skipping._is_past
    monkeypatch.setattr(
        frames._Skipping, "_is_past", lambda self, time_s, place_s: is_past(self, time_s, place_s + 0.3)
    )
    assert [number_in(jpeg_of(pixels)) for _, pixels in stream_frames(path, 2)] == list(range(0, 60, 5))


@pytest.mark.usefixtures("treated")
def test_from_a_damaged_picture_on_every_frame_is_decoded(tmp_path):
    path = make_video(tmp_path / "a.mkv", EVERY_100_MS, codec="libx264", b_frames=3, gop=20)
    with av.open(str(path)) as source:
        key = [packet for packet in source.demux(video=0) if packet.is_keyframe][1]
        at = path.read_bytes().index(bytes(key)) + key.size // 2
    data = bytearray(path.read_bytes())
    data[at : at + 20] = bytes(range(20))
    path.write_bytes(data)
    with pytest.raises(AssertionError, match="decoded again"):
        list(shown_at(path, outline_of(path), [k / 2 for k in range(10)]))


def test_damaged_packets_end_in_frames_of_their_times(tmp_path):
    data = bytearray(make_video(tmp_path / "a.mkv", EVERY_100_MS, codec="libx264", b_frames=3, gop=5).read_bytes())
    rng = np.random.default_rng(0)
    for at in rng.integers(len(data) // 4, len(data) * 3 // 4, 20):
        data[at] ^= 255
    path = tmp_path / "b.mkv"
    path.write_bytes(data)
    try:
        outline = outline_of(path, partial=True)
        taken = [time_s for time_s, _ in shown_at(path, outline, [k / 2 for k in range(10)])]
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - either end is right
    else:
        assert taken == [k / 2 for k in range(10)]


def test_a_file_without_times_is_refused_as_before(tmp_path):
    path = tmp_path / "a.h264"
    with av.open(str(make_video(tmp_path / "a.mp4", EVERY_100_MS, codec="libx264"))) as source:
        stream = source.streams.video[0]
        to_plain = av.bitstream.BitStreamFilterContext("h264_mp4toannexb", stream)
        path.write_bytes(b"".join(bytes(part) for p in source.demux(stream) if p.size for part in to_plain.filter(p)))
    with pytest.raises(InputError, match="time stamp"):
        list(stream_frames(path, 1))
