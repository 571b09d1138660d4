"""Files of simulated films: sound alone, and pictures with sound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, cast

import numpy as np

from truemoment.base.boundary.files import atomic_write
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, MissingPackageError
from truemoment.media.audio.reading import Samples
from truemoment.worlds.scenes import SceneVideo, video_frames

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import OutputContainer

FRAME = 1024
"""Samples in a frame that is given to an encoder."""

FORMS = {"aac": ("mp4", "aac"), "mp3": ("mp3", "libmp3lame"), "wav": ("wav", "pcm_s16le")}
"""Container and encoder of each codec."""

FILM_BITRATE = 128_000

HEIGHT, WIDTH = 120, 160


def frames_of(samples: Samples, rate_hz: int) -> Iterator[AudioFrame]:
    """Yield mono sound as frames of PyAV."""
    import av  # noqa: PLC0415 - only sound needs it

    for low in range(0, len(samples), FRAME):
        part = np.ascontiguousarray(samples[None, low : low + FRAME], np.float32)
        frame = av.AudioFrame.from_ndarray(part, "flt", "mono")
        frame.sample_rate, frame.pts, frame.time_base = rate_hz, low, Fraction(1, rate_hz)
        yield frame


def write_sound(path: AnyPath, samples: Samples, rate_hz: int, codec: str = "aac", bitrate: int = 64_000) -> None:
    """Write mono sound, (N,), as a file of a codec of :data:`FORMS`."""
    container_name, encoder = FORMS[codec]
    with _written(path, container_name) as container:
        sound = cast("AudioStream", container.add_stream(encoder, rate=rate_hz, layout="mono"))
        if codec != "wav":
            sound.bit_rate = bitrate
        for frame in frames_of(samples, rate_hz):
            container.mux(sound.encode(frame))
        container.mux(sound.encode())


def write_film(path: AnyPath, samples: Samples, rate_hz: int, videos: Sequence[SceneVideo]) -> None:
    """Write an MP4 of sound, (N,), and of pictures; no videos for a film without pictures."""
    with _written(path, "mp4") as container:
        pictures = _RenderedPictures(container, videos) if videos else None
        sound = container.add_stream("aac", rate=rate_hz, layout="mono")
        sound.bit_rate = FILM_BITRATE
        for frame in frames_of(samples, rate_hz):
            if pictures is not None:
                pictures.encode_until((frame.pts or 0) / rate_hz)
            container.mux(sound.encode(frame))
        if pictures is not None:
            pictures.end()
        container.mux(sound.encode())


@contextmanager
def _written(path: AnyPath, container_name: str) -> Iterator[OutputContainer]:
    """Open a container to write, which appears under its name when it is complete."""
    try:
        import av  # noqa: PLC0415 - only sound needs it
    except ModuleNotFoundError:
        raise MissingPackageError("av", "collect", "writing sound") from None
    with atomic_write(path) as file:
        try:
            with av.open(file, "w", format=container_name) as container:
                yield container
        except av.FFmpegError as error:
            raise InputError(f"cannot be written as sound ({error})", path=path) from None


class _RenderedPictures:
    """The pictures of a film, encoded in step with its sound."""

    def __init__(self, container: OutputContainer, videos: Sequence[SceneVideo]) -> None:
        self.container, self.fps = container, videos[0].fps
        self.shown = chain.from_iterable(video_frames(video, HEIGHT, WIDTH) for video in videos)
        self.number = 0
        self.stream = container.add_stream("libx264", rate=self.fps)
        self.stream.height, self.stream.width, self.stream.pix_fmt = HEIGHT, WIDTH, "yuv420p"
        self.stream.codec_context.options = {"preset": "veryfast", "crf": "20", "bf": "0"}
        self.stream.codec_context.thread_count = 1  # with more, the bytes depend on how many cores there are

    def encode_until(self, time_s: float) -> None:
        """Encode the pictures that are shown up to a time."""
        import av  # noqa: PLC0415 - only videos need it

        while self.number <= time_s * self.fps and (pixels := next(self.shown, None)) is not None:
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = self.number, Fraction(1, self.fps)
            self.number += 1
            self.container.mux(self.stream.encode(frame))

    def end(self) -> None:
        """Encode the rest."""
        self.encode_until(np.inf)
        self.container.mux(self.stream.encode())
