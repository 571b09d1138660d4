"""Videos made here, by PyAV: each frame says in its picture which one it is."""

import io
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

av = pytest.importorskip("av")
Image = pytest.importorskip("PIL.Image")

BITS = 8


def picture(number, *, width=128, height=64):
    """A picture of 8 vertical bars that spell a number in binary, the lowest bit left; the top quarter is red."""
    pixels = np.zeros((height, width, 3), np.uint8)
    bar = width // BITS
    for bit in range(BITS):
        pixels[:, bit * bar : (bit + 1) * bar] = 255 * (number >> bit & 1)
    pixels[: height // 4] = (255, 0, 0)
    return pixels


def number_in(jpeg):
    """Which number the bars of a picture spell."""
    pixels = np.asarray(Image.open(io.BytesIO(jpeg)).convert("L"))
    row = pixels[pixels.shape[0] * 3 // 4]
    bar = len(row) / BITS
    return sum(int(row[int((bit + 0.5) * bar)] > 128) << bit for bit in range(BITS))


MADE = {}
"""Videos that were encoded here, by how: their bytes."""


def make_video(path, times_ms, **how):
    """Write a video as `encode_video` does, which encodes each once."""
    key = (Path(path).suffix, tuple(times_ms), repr(sorted(how.items())))
    if key not in MADE:
        MADE[key] = encode_video(path, times_ms, **how).read_bytes()
    else:
        Path(path).write_bytes(MADE[key])
    return path


def encode_video(
    path,
    times_ms,
    *,
    codec="mpeg4",
    gop=12,
    rotation=0,
    aspect=None,
    audio_s=0.0,
    options=None,
    b_frames=0,
    x264="",
    rate=1000,
):
    """Write a video whose frame k is shown from times_ms[k] on; the last for as long as the one before it.

    With another `rate`, times are in as many parts of a second. `rotation` may hold more than degrees: "hflip" or
    "vflip".
    """
    with av.open(str(path), "w", options=options or {}) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = 128, 64, "yuv420p"
        stream.codec_context.time_base = Fraction(1, rate)
        stream.codec_context.gop_size = gop
        stream.codec_context.max_b_frames = b_frames
        stream.codec_context.thread_count = 1  # pictures are small: threads would take most of the time
        if codec == "libx264":
            options = {"preset": "ultrafast", "bf": str(b_frames), "sc_threshold": "0", "x264-params": x264}
            stream.codec_context.options = options
        if aspect:
            stream.codec_context.sample_aspect_ratio = aspect
        if rotation:
            degrees, *mirrored = rotation if isinstance(rotation, tuple) else (rotation,)
            stream.set_display_rotation(degrees, **dict.fromkeys(mirrored, True))
        if audio_s:
            sound = container.add_stream("aac", rate=16000, layout="mono")
        steps_ms = [after - before for before, after in pairwise(times_ms)]
        lasts_ms = dict(zip(times_ms, [*steps_ms, *steps_ms[-1:], 40], strict=False))

        def put(packets):
            for packet in packets:
                packet.duration = lasts_ms[packet.pts]
                container.mux(packet)

        for number, ms in enumerate(times_ms):
            frame = av.VideoFrame.from_ndarray(picture(number), format="rgb24")
            frame.pts, frame.time_base = ms, Fraction(1, rate)
            put(stream.encode(frame))
        put(stream.encode())
        if audio_s:
            silence = av.AudioFrame.from_ndarray(np.zeros((1, int(16000 * audio_s)), np.float32), "fltp", "mono")
            silence.sample_rate, silence.pts = 16000, 0
            for packet in [*sound.encode(silence), *sound.encode()]:
                container.mux(packet)
    return path


def trimmed(whole, path, start_ms):
    """Write an MP4 file that starts within another: its frames are all there, those before are not to be shown.

    The table of its pictures tells the length of them all, as phones write it.
    """
    options = {"avoid_negative_ts": "disabled", "use_editlist": "1"}
    with av.open(str(whole)) as source, av.open(str(path), "w", options=options) as container:
        stream = source.streams.video[0]
        whole_ms = round(1000 * stream.duration * stream.time_base)
        copy = container.add_stream_from_template(stream)
        for packet in source.demux(stream):
            if packet.dts is not None:
                ticks = round(start_ms / 1000 / packet.time_base)
                packet.pts, packet.dts, packet.stream = packet.pts - ticks, packet.dts - ticks, copy
                container.mux(packet)
    data = bytearray(path.read_bytes())
    table = data.index(b"mdhd") + 4  # version, two dates, ticks a second, ticks
    data[table + 16 : table + 20] = (int.from_bytes(data[table + 12 : table + 16]) * whole_ms // 1000).to_bytes(4)
    path.write_bytes(data)
    return path


def make_sound(path, seconds=1.0):
    """Write a file of sound alone."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=16000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, int(16000 * seconds)), np.float32), "fltp", "mono")
        frame.sample_rate, frame.pts = 16000, 0
        for packet in [*stream.encode(frame), *stream.encode()]:
            container.mux(packet)
    return path
