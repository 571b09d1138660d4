"""Embedding of a part of a video: from its file to rows of features.

The work of indexing is cut into *shards*, parts of a video of a few minutes, and one function, :func:`embed`, turns a
shard into rows. So the rows are the same for any number of workers, and a worker that dies loses only its
shard. :mod:`truemoment.searching.building` distributes shards and writes the rows.
"""

from __future__ import annotations

import contextlib
import functools
import os
import queue
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from truemoment.base.errors import InputError, MissingPackageError, TrueMomentError, UsageError
from truemoment.media.features.base import Frames
from truemoment.media.video.frames import Outline, stream_frames
from truemoment.searching.writing import VideoFile

if TYPE_CHECKING:
    from truemoment.media.video.encoders import Encoder, Preparation

T = TypeVar("T")

BATCH = 32
"""Frames of a batch."""

AHEAD = 3
"""Batches that are decoded ahead of the encoder."""


@dataclass(frozen=True)
class Loader:
    """Which encoder a worker loads.

    Parameters
    ----------
    model, device
        As for :func:`~truemoment.media.video.encoders.load_encoder`.
    """

    model: str
    device: str | None = None

    def load(self) -> Encoder:
        """Load the encoder, once a process."""
        return _load(self)


@functools.lru_cache(maxsize=1)
def _load(loader: Loader) -> Encoder:
    from truemoment.media.video.encoders import load_encoder  # noqa: PLC0415 - needs PyTorch

    return load_encoder(loader.model, device=loader.device)


@dataclass(frozen=True)
class Shard:
    """A part of a video.

    Parameters
    ----------
    video
        The video.
    number
        Number of the part.
    first_row, end_row
        Its rows: row k is the frame at offset + k / fps.
    fps
        Frames a second.
    outline
        Streams and duration of the file.
    offset_s
        Time of the first frame of the video.
    """

    video: VideoFile
    number: int
    first_row: int
    end_row: int
    fps: float
    outline: Outline
    offset_s: float = 0.0


@dataclass(frozen=True, eq=False)
class EmbeddedShard:
    """The rows of a shard.

    Parameters
    ----------
    shard
        The shard.
    rows : (N, D) float32
        A row a frame.
    decode_s, prepare_s, encode_s
        Seconds of each stage; decoding and preparing run beside encoding.
    waited_s
        Seconds that the encoder waited for pictures.
    worker, fingerprint
        Machine and number of the process, and the fingerprint of its encoder.
    """

    shard: Shard
    rows: Frames
    decode_s: float
    prepare_s: float
    encode_s: float
    waited_s: float
    worker: str
    fingerprint: str


@dataclass(frozen=True)
class FailedShard:
    """A shard that could not be embedded.

    Parameters
    ----------
    shard
        The shard.
    why
        One line for people.
    """

    shard: Shard
    why: str


def embed(shard: Shard, encoder: Encoder) -> EmbeddedShard:
    """Turn a shard into rows: decode and prepare in one thread, encode in another.

    Parameters
    ----------
    shard
        A part of a video.
    encoder
        The model that embeds its frames.

    Returns
    -------
    EmbeddedShard
    """
    clock: dict[str, float] = defaultdict(float)
    rows: list[Frames] = []
    with _prefetch(_batches(shard, encoder, clock)) as batches:
        while True:
            began = time.perf_counter()
            batch = next(batches, None)
            waited = time.perf_counter()
            clock["wait"] += waited - began
            if batch is None:
                break
            pictures, counts = batch
            rows.append(np.repeat(encoder.images(pictures), counts, axis=0))
            clock["encode"] += time.perf_counter() - waited
    table = np.concatenate(rows)
    if len(table) != shard.end_row - shard.first_row:
        expected = f"{shard.end_row - shard.first_row} from {shard.first_row / shard.fps:.1f} s on"
        raise InputError(f"gave {len(table)} frames, expected {expected}", path=shard.video.path)
    return EmbeddedShard(
        shard,
        table,
        decode_s=clock["decode"],
        prepare_s=clock["prepare"],
        encode_s=clock["encode"],
        waited_s=clock["wait"],
        worker=f"{socket.gethostname()}:{os.getpid()}",
        fingerprint=encoder.fingerprint,
    )


def _batches(shard: Shard, encoder: Encoder, clock: dict[str, float]) -> Iterator[tuple[Frames, list[int]]]:
    """Decode and prepare the pictures of a shard, some at a time, and count the frames that show each.

    A picture that stays is prepared and encoded once: a file may claim to last for days with a few of them.
    """
    frames = stream_frames(
        shard.video.path,
        shard.fps,
        start_s=shard.offset_s + shard.first_row / shard.fps,
        end_s=shard.offset_s + shard.end_row / shard.fps,
        shortest_side=decoded_side(encoder),
        outline=shard.outline,
        offset_s=shard.offset_s,
    )
    last = None
    pictures: list[Frames] = []
    counts: list[int] = []
    while True:
        began = time.perf_counter()
        frame = next(frames, None)
        decoded = time.perf_counter()
        clock["decode"] += decoded - began
        if frame is None:
            break
        if frame[1] is last:
            counts[-1] += 1
            continue
        if len(pictures) == BATCH:
            batch = np.stack(pictures), counts
            clock["prepare"] += time.perf_counter() - decoded
            yield batch
            pictures, counts, decoded = [], [], time.perf_counter()
        last = frame[1]
        pictures.append(encoder.prepare(last))
        counts.append(1)
        clock["prepare"] += time.perf_counter() - decoded
    if pictures:
        yield np.stack(pictures), counts


def decoded_side(encoder: Encoder) -> int | None:
    """Return the size that pictures are decoded at: twice what the model takes, so that its own filter still counts."""
    preparation: Preparation | None = getattr(encoder, "preparation", None)
    if preparation is None:
        return None
    return 2 * (preparation.shortest_side or max(preparation.height, preparation.width))


@contextlib.contextmanager
def _prefetch(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """Make items in a thread of their own, a few ahead of the consumer, which gets an error of the thread."""
    ready: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(AHEAD)
    stopped = threading.Event()

    def put(item: T | None, error: BaseException | None) -> None:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                ready.put((item, error), timeout=0.1)
                return

    def work() -> None:
        error = None
        try:
            for item in items:
                put(item, None)
                if stopped.is_set():
                    break
        except BaseException as raised:
            error = raised  # it is raised where the items are taken
        put(None, error)

    def take() -> Iterator[T]:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield take()
    finally:
        stopped.set()
        thread.join(timeout=10)


def attempt(shard: Shard, loader: Loader) -> EmbeddedShard | FailedShard:
    """Embed a shard; an error of its video is returned as a value."""
    try:
        encoder = loader.load()
    except TrueMomentError as error:
        raise InputError(str(error)) from None  # an error of one argument, which travels between processes
    try:
        return embed(shard, encoder)
    except (UsageError, MissingPackageError) as error:
        raise InputError(str(error)) from None
    except TrueMomentError as error:
        return FailedShard(shard, str(error))
