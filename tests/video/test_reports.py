"""Right values of public reports on video decoders: every frame at its time, whatever was shown before."""

import numpy as np
import pytest

from truemoment.media.video.frames import outline_of, shown_at
from truemoment.media.video.open_video import OpenVideo

from .conftest import Image, av, make_video, number_in, picture, trimmed


def number_of(frame):
    """Which number a decoded frame spells."""
    import io

    stream = io.BytesIO()
    Image.fromarray(frame.to_ndarray(format="rgb24")).save(stream, "PNG")
    return number_in(stream.getvalue())


def numbers_in_any_order(path, times_s):
    """Show frames of one open video in an order that jumps back and forth."""
    video = OpenVideo(path)
    try:
        return [number_of(video.frame_at(time_s)[1]) for time_s in times_s]
    finally:
        video.close()


@pytest.mark.parametrize(
    ("codec", "name", "x264"),
    [
        ("libx265", "a.mp4", ""),  # meta-pytorch/torchcodec 1339: a frame near the end, then an earlier one
        ("libx264", "a.mp4", "open-gop=1:keyint=6"),  # dwbuiten/d2vsource 2: groups that need the group before
        ("libx264", "a.ts", "open-gop=1:keyint=6"),
    ],
)
def test_jumps_back_and_forth(tmp_path, codec, name, x264):
    path = make_video(tmp_path / name, [100 * k for k in range(161)], codec=codec, gop=6, b_frames=2, x264=x264)
    wanted = [159, 35, 160, 0, 7, 6, 5, 36, 100, 18, 17]
    start_s = outline_of(path).duration_s - 16.1  # a transport stream may begin with its clock, before its pictures
    times_s = [start_s + 0.1 * number + 0.05 for number in wanted]
    assert numbers_in_any_order(path, times_s) == wanted
    rising = sorted(times_s)
    assert [number_of(frame) for _, frame in shown_at(path, outline_of(path), rising)] == sorted(wanted)


def test_the_first_frame_after_a_key_frame_that_is_not_shown(tmp_path):
    # meta-pytorch/torchcodec 1502: frames before the start of the edit list are decoded and not shown.
    whole = make_video(tmp_path / "whole.mp4", [100 * k for k in range(60)], codec="libx264", gop=30, b_frames=2)
    path = trimmed(whole, tmp_path / "part.mp4", 1200)
    assert numbers_in_any_order(path, [0.05, 2.05, 0.0, 4.05]) == [12, 32, 12, 52]


def test_a_cover_is_no_video(tmp_path):
    # UltraStar-Deluxe/USDX 902: the picture of a cover is the first stream.
    path = tmp_path / "a.mp4"
    with av.open(str(path), "w") as container:
        cover = container.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 128, 64, "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        film = container.add_stream("mpeg4", rate=10)
        film.width, film.height = 128, 64
        for stream, numbers in ((cover, [255]), (film, range(20))):
            for number in numbers:
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture(number), format="rgb24")))
            container.mux(stream.encode())
    assert numbers_in_any_order(path, [1.05, 0.55]) == [10, 5]


def test_a_gif_without_delays_shows_ten_frames_a_second(tmp_path):
    # lecram/gifdec 6 and bitbank2/AnimatedGIF 7: players show a frame without a delay for a tenth of a second.
    path = tmp_path / "a.gif"
    first, *rest = (Image.fromarray(np.asarray(picture(number))) for number in range(8))
    first.save(path, save_all=True, append_images=rest, duration=0)
    assert outline_of(path).duration_s == pytest.approx(0.8)
    assert numbers_in_any_order(path, [0.75, 0.05, 0.45]) == [7, 0, 4]
