"""Kinds of file that are read, and those that are refused with a command that makes one that is."""

from fractions import Fraction

import numpy as np
import pytest

from truemoment.base.errors import InputError
from truemoment.media.video import Sampling, sample_frames
from truemoment.media.video.frames import outline_and_shown

from .conftest import av, number_in, picture

SECONDS = 6


def written(path, codec, *, container_name=None, rate=25, pixels="yuv420p", b_frames=0, options=None):
    """Write a video of a constant rate, each of whose pictures spells its number."""
    with av.open(str(path), "w", format=container_name, options=options or {}) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = 128, 64, pixels
        stream.codec_context.gop_size, stream.codec_context.max_b_frames = 12, b_frames
        for number in range(SECONDS * rate):
            frame = av.VideoFrame.from_ndarray(picture(number), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@pytest.mark.parametrize(
    ("name", "codec", "more"),
    [
        (
            "a.mxf",
            "mpeg2video",
            {"b_frames": 2},
        ),  # groups of pictures are open: the first of them need the group before
        ("a.gif", "gif", {"pixels": "rgb8"}),
        ("a.apng", "apng", {"pixels": "rgb24"}),
        ("a.nut", "mpeg4", {}),
        ("a.ivf", "libvpx", {}),
        ("a.y4m", "wrapped_avframe", {}),
        ("a.rm", "rv20", {}),
        ("a.wtv", "mpeg2video", {}),
    ],
)
def test_each_kind_shows_its_frames_at_their_times(tmp_path, name, codec, more):
    path = written(tmp_path / name, codec, **more)
    outline, shown_s, _ = outline_and_shown(path)
    np.testing.assert_allclose(shown_s - shown_s[0], np.arange(25 * SECONDS) / 25, atol=0.006)  # GIF: hundredths
    assert outline.duration_s == pytest.approx(SECONDS, abs=0.05)
    frames = sample_frames(path, Sampling(n_frames=4))  # frames 0.75, 2.25, 3.75 and 5.25 s after the start
    got = [number_in(image) for image in frames.images]
    assert got == pytest.approx([18, 56, 93, 131], abs=1)


@pytest.mark.parametrize(
    ("name", "codec", "container_name", "words"),
    [
        ("film 1.h264", "libx264", "h264", "a raw H.264 stream"),
        ("film 1.265", "libx265", "hevc", "a raw HEVC stream"),
        ("film 1.m2v", "mpeg2video", "mpeg2video", "a raw MPEG-2 stream"),
    ],
)
def test_a_raw_stream_is_named_with_the_command_that_gives_it_times(tmp_path, name, codec, container_name, words):
    path = written(tmp_path / name, codec, container_name=container_name)
    with pytest.raises(InputError) as refused:
        sample_frames(path, Sampling(n_frames=4))
    assert f"{words}, which has no time stamps; expected a container" in str(refused.value)
    assert f"`ffmpeg -framerate 25 -i '{name}' 'film 1.mp4'`" in str(refused.value)


def test_another_kind_of_file_is_one_line_with_a_command(tmp_path):
    path = written(tmp_path / "a.swf", "flv")
    with pytest.raises(InputError, match=r"cannot be read as a video .*another kind of file.*`ffmpeg -i a.swf a.mp4`"):
        sample_frames(path, Sampling(n_frames=4))


def test_matroska_that_was_written_to_a_pipe_states_no_length(tmp_path):
    path = written(tmp_path / "a.mkv", "mpeg4", container_name="matroska", options={"live": "1"})
    assert outline_and_shown(path)[0].duration_s == pytest.approx(SECONDS, abs=0.05)
