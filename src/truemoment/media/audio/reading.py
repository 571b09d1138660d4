"""Sound of a file on the video's clock, as blocks of mono samples, by PyAV.

Convention
    Time 0 is the start of the file's own clock, as in :mod:`truemoment.media.video.frames`. Time stamps place the
    samples: a stream that starts late is preceded by silence, gaps of more than 20 ms are filled with it, overlaps of
    more than 20 ms are cut. The delay of an encoder is taken off where the file states it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.own_path import open_regular
from truemoment.base.errors import InputError, UsageError
from truemoment.media.audio.mp3 import stated_frames
from truemoment.media.audio.sources import Source, opened_sound
from truemoment.media.video.containers import estimates_length
from truemoment.media.video.frames import LONGEST_S, origin_s, packets_of, read_errors

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer

Samples = npt.NDArray[np.float32]  # mono sound from -1 to 1, (N,)

RATE_HZ = 16_000

LOWEST_HZ = 1000
"""Samples a second; a header that states 1 would make days of a few minutes."""

BLOCK_S = 30.0

JUMP_S = 0.02
"""A time stamp that differs by more from the end of the sound so far is a gap or an overlap."""

CHUNK_S = 1.0
"""Amount of sound that is resampled at a time."""

SEEKS = ("mov", "matroska")
"""Containers whose index leads to exact times; others are decoded from the start."""


class Block(NamedTuple):
    """A part of a sound; the next block starts where it ends.

    Parameters
    ----------
    start_s
        Time of the first sample.
    samples : (N,)
        Mono sound.
    filled_s, cut_s
        Seconds of it that are silence in place of missing sound, and seconds of repeated sound that were left out.
    """

    start_s: float
    samples: Samples
    filled_s: float = 0.0
    cut_s: float = 0.0


def sound_of(
    path: Path, rate_hz: int = RATE_HZ, stream: str = "", start_s: float = 0.0, end_s: float | None = None
) -> Iterator[Block]:
    """Yield the sound of a file in blocks of :data:`BLOCK_S`, mixed down to one channel.

    Parameters
    ----------
    rate_hz
        Samples per second.
    stream
        Which sound of the file: the number of its stream or its language
        (:class:`~truemoment.media.audio.sources.Source`); "" for its only one.
    start_s, end_s
        The part; None for the end of the sound.

    Raises
    ------
    InputError
        If the file has no sound, or several and none is named, or ends long before its stated end.
    """
    if not LOWEST_HZ <= rate_hz <= 192_000:
        raise UsageError(f"got {rate_hz} samples a second, expected {LOWEST_HZ:,} to 192,000")
    if not 0 <= start_s < LONGEST_S or (end_s is not None and not start_s <= end_s):
        raise UsageError(f"got the part from {start_s} to {end_s} s, expected 0 <= start <= end")
    placed = _PlacedBlock(rate_hz, start_s, end_s)
    with opened_sound(Source(path, stream)) as (container, sound):
        first_s = float((sound.start_time or 0) * (sound.time_base or 0))
        clock_s = origin_s(container, first_s) if container.format.name != "avi" else 0.0
        stated_s = stated_end_s(path, container, sound, clock_s)
        runs = _Runs(placed, sound, clock_s)
        for frame in _frames(container, sound, clock_s, start_s):
            if frame.sample_rate < LOWEST_HZ:
                fault = f"has {frame.sample_rate} samples a second, expected {LOWEST_HZ:,} or more: a broken header?"
                raise InputError(fault, path=path)
            runs.add(frame)
            if runs.end_s > LONGEST_S:
                raise InputError(f"lasts {runs.end_s:g} s, expected up to {LONGEST_S:g}: a broken clock?", path=path)
            yield from placed.full_blocks()
            if placed.is_done:
                break
        runs.flush()
        if not placed.is_done and stated_s and runs.end_s < stated_s - max(1.0, 0.05 * stated_s):
            fault = f"has sound up to {runs.end_s:.1f} s of the {stated_s:.1f} s that it states: truncated?"
            raise InputError(fault, path=path)
        yield from placed.full_blocks()
        yield from placed.rest()


def stated_end_s(path: Path, container: InputContainer, sound: AudioStream, clock_s: float = 0.0) -> float | None:
    """Return where the file states that the sound ends; None where it states nothing."""
    if sound.duration is None or not sound.time_base or estimates_length(container, sound):
        return None
    if container.format.name == "mp3":
        with open_regular(path) as stream:
            if stated_frames(stream) is None:
                return None
    return float(((sound.start_time or 0) + sound.duration) * sound.time_base) - clock_s


def _frames(container: InputContainer, sound: AudioStream, clock_s: float, start_s: float) -> Iterator[AudioFrame]:
    """Decode from a second before a time on; packets that cannot be decoded leave a gap."""
    if start_s > 1 and sound.time_base and any(name in container.format.name for name in SEEKS):
        container.seek(int((start_s - 1 + clock_s) / sound.time_base), stream=sound)
    errors = read_errors()
    for packet in packets_of(container, sound):
        try:
            yield from packet.decode()
        except errors:
            continue


class _PlacedBlock:
    """Resampled sound in the order of its clock, cut into blocks."""

    def __init__(self, rate_hz: int, start_s: float, end_s: float | None) -> None:
        self.rate_hz = rate_hz
        self.first = self.position = round(start_s * rate_hz)  # number of the next sample
        self.end = None if end_s is None else round(end_s * rate_hz)
        self.parts: list[Samples] = []
        self.held = 0
        self.filled = self.cut = 0

    @property
    def is_done(self) -> bool:
        """Whether the requested part is complete."""
        return self.end is not None and self.position >= self.end

    def put(self, at: int, samples: Samples, *, new: bool) -> None:
        """Add samples that begin at a number; `new` after a gap or an overlap."""
        if at > self.position:
            if self.end is not None:
                at = min(at, self.end)
            self._append(np.zeros(at - self.position, np.float32))
            self.filled += at - self.position if new else 0
            self.position = at
        elif at < self.position:
            late = min(self.position - at, len(samples))
            self.cut += late if new and self.position > self.first else 0
            samples = samples[late:]
        samples = samples if self.end is None else samples[: max(0, self.end - self.position)]
        self._append(samples)
        self.position += len(samples)

    def _append(self, samples: Samples) -> None:
        if len(samples):
            self.parts.append(samples)
            self.held += len(samples)

    def full_blocks(self) -> Iterator[Block]:
        """Yield the blocks that are complete."""
        size = round(BLOCK_S * self.rate_hz)
        if self.held < size:
            return
        held = np.concatenate(self.parts)
        start = self.position - len(held)
        n_full = len(held) // size * size
        for low in range(0, n_full, size):
            yield self._block(start + low, held[low : low + size])
        self.parts, self.held = [held[n_full:]], len(held) - n_full

    def rest(self) -> Iterator[Block]:
        """Yield the last block."""
        if self.held:
            yield self._block(self.position - self.held, np.concatenate(self.parts))

    def _block(self, first: int, samples: Samples) -> Block:
        filled, cut, self.filled, self.cut = self.filled, self.cut, 0, 0
        return Block(first / self.rate_hz, samples, filled / self.rate_hz, cut / self.rate_hz)


class _Runs:
    """Decoded frames as runs without gaps, each resampled by itself so that its first sample has an exact time."""

    def __init__(self, placed: _PlacedBlock, sound: AudioStream, clock_s: float) -> None:
        self.placed, self.clock_s = placed, clock_s
        self.tick_s = float(sound.time_base or 0)
        self.form: tuple[str, str, int] | None = None
        self.end_s = 0.0
        self.n_read = 0
        self.at = 0

    def add(self, frame: AudioFrame) -> None:
        """Add a decoded frame; a jump of its time stamp or a change of its form starts a run."""
        import av  # noqa: PLC0415 - only sound needs it

        form = (frame.format.name, frame.layout.name, frame.sample_rate)
        time_s = self.end_s if frame.pts is None else frame.pts * self.tick_s - self.clock_s
        is_new = form != self.form or abs(time_s - self.end_s) > JUMP_S
        if is_new:
            self.flush()
            self.form, self.start_s, self.n_read = form, time_s, 0
            self.fifo = av.AudioFifo()
            self.resampler = av.AudioResampler("flt", "mono", self.placed.rate_hz)
            self.at, self.is_first = round(time_s * self.placed.rate_hz), True
        self.n_read += frame.samples
        self.end_s = self.start_s + self.n_read / frame.sample_rate
        frame.pts = None
        self.fifo.write(frame)
        chunk = round(CHUNK_S * frame.sample_rate)
        while self.fifo.samples >= chunk:
            self._resample(self.fifo.read(chunk))

    def flush(self) -> None:
        """Pass on the rest of the run."""
        if self.form is None:
            return
        if self.fifo.samples:
            self._resample(self.fifo.read())
        self._resample(None)
        self.form = None

    def _resample(self, frame: AudioFrame | None) -> None:
        for resampled in self.resampler.resample(frame):
            samples = np.asarray(resampled.to_ndarray()[0], np.float32)
            self.placed.put(self.at, samples, new=self.is_first)
            self.at += len(samples)
            self.is_first = False
