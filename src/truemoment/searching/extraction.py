"""Embedding of a part of a video: from its file to rows of features.

The work of indexing is cut into *shards*, parts of a video of a few minutes. A shard becomes pictures, and these become
rows, 32 at a time: in two threads of one process (:func:`embed`), or the pictures in worker processes
(:func:`prepare`) and the rows in the process that has the model (:func:`embed_prepared`). So the rows are the same for
any number of workers, and a worker that dies loses only its shard. :mod:`truemoment.searching.building` distributes
shards and writes the rows.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import os
import queue
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from truemoment.base.boundary.distribution.handing import HandedArray
from truemoment.base.errors import InputError, MissingPackageError, TrueMomentError, UsageError
from truemoment.media.features.base import Frames
from truemoment.media.video import encoders
from truemoment.media.video.encoders import Encoder, Preparation, Prepared
from truemoment.media.video.frames import Outline, Pixels, stream_frames
from truemoment.searching.writing import VideoFile

T = TypeVar("T")

Batch = tuple["Prepared", list[int]]  # pictures as the encoder takes them, and the number of rows that show each

BATCH = 32
"""Pictures of a batch."""

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
    return encoders.load_encoder(loader.model, device=loader.device)


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
    workers
        Number of processes that prepared pictures for it.
    worker, fingerprint
        Machine and number of the process that encoded, and the fingerprint of its encoder.
    """

    shard: Shard
    rows: Frames
    decode_s: float
    prepare_s: float
    encode_s: float
    waited_s: float
    worker: str
    fingerprint: str
    workers: int = 1


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


@dataclass(frozen=True)
class PreparedShard:
    """The pictures of a shard, as an encoder takes them.

    Parameters
    ----------
    shard
        The shard.
    pictures : (N, h, w, 3)
        Its pictures, each once.
    counts
        Number of successive rows that show each.
    seconds
        Seconds of each stage.
    """

    shard: Shard
    pictures: HandedArray
    counts: list[int]
    seconds: dict[str, float]


def embed(shard: Shard, encoder: Encoder) -> EmbeddedShard:
    """Turn a shard into rows: decode and prepare in one thread, encode in another."""
    seconds: dict[str, float] = defaultdict(float)
    with _prefetch(_batches(shard, encoder.preparation, seconds)) as batches:
        return _encode(shard, batches, encoder, seconds)


def prepare(shard: Shard, preparation: Callable[[Pixels], Prepared], folder: Path) -> PreparedShard | FailedShard:
    """Decode and prepare all pictures of a shard, by one thread; an error of its video is returned as a value."""
    seconds: dict[str, float] = defaultdict(float)
    batches = unless_damaged(shard, lambda: list(_batches(shard, preparation, seconds, threads=1)))
    if isinstance(batches, FailedShard):
        return batches
    pictures = HandedArray.write(folder, np.concatenate([pictures for pictures, _ in batches]))
    return PreparedShard(shard, pictures, [many for _, counts in batches for many in counts], dict(seconds))


def embed_prepared(prepared: PreparedShard, encoder: Encoder, workers: int) -> EmbeddedShard:
    """Turn pictures that one of so many workers has prepared into rows, in the batches of :func:`embed`."""
    pictures, counts = prepared.pictures.take(), prepared.counts
    step = _batch_size(encoder.preparation)
    batches = ((pictures[k : k + step], counts[k : k + step]) for k in range(0, len(counts), step))
    return _encode(prepared.shard, batches, encoder, defaultdict(float, prepared.seconds), workers)


def _encode(
    shard: Shard, batches: Iterator[Batch], encoder: Encoder, seconds: dict[str, float], workers: int = 1
) -> EmbeddedShard:
    """Encode the pictures of a shard."""
    rows: list[Frames] = []
    while True:
        began = time.perf_counter()
        batch = next(batches, None)
        waited = time.perf_counter()
        seconds["wait"] += waited - began
        if batch is None:
            break
        pictures, counts = batch
        rows.append(np.repeat(encoder.images(pictures), counts, axis=0))
        seconds["encode"] += time.perf_counter() - waited
    table = np.concatenate(rows)
    if len(table) != shard.end_row - shard.first_row:
        expected = f"{shard.end_row - shard.first_row} from {shard.first_row / shard.fps:.1f} s on"
        raise InputError(f"gave {len(table)} frames, expected {expected}", path=shard.video.path)
    return EmbeddedShard(
        shard,
        table,
        decode_s=seconds["decode"],
        prepare_s=seconds["prepare"],
        encode_s=seconds["encode"],
        waited_s=seconds["wait"],
        worker=f"{socket.gethostname()}:{os.getpid()}",
        fingerprint=encoder.fingerprint,
        workers=workers,
    )


def _batches(
    shard: Shard, preparation: Callable[[Pixels], Prepared], seconds: dict[str, float], threads: int = 0
) -> Iterator[Batch]:
    """Decode and prepare the pictures of a shard, some at a time, and count the rows that show each.

    A picture that stays is prepared and encoded once: a file may claim to last for days with a few of them. For a model
    of clips, a row is a clip of 1 / fps seconds: n pictures at equal distances, the first at the time of the row.
    """
    n = frames_of(preparation)
    frames = stream_frames(
        shard.video.path,
        n * shard.fps,
        start_s=shard.offset_s + shard.first_row / shard.fps,
        end_s=shard.offset_s + shard.end_row / shard.fps,
        shortest_side=decoded_side(preparation),
        outline=shard.outline,
        offset_s=shard.offset_s,
        threads=threads,
    )
    last: list[Pixels] = []
    pictures: list[Prepared] = []
    counts: list[int] = []
    while True:
        began = time.perf_counter()
        row = [pixels for _, pixels in itertools.islice(frames, n)]
        decoded = time.perf_counter()
        seconds["decode"] += decoded - began
        if not row:
            break
        row += row[-1:] * (n - len(row))  # the video ends within its last clip
        if last and all(map(operator.is_, row, last)):
            counts[-1] += 1
            continue
        if len(pictures) == _batch_size(preparation):
            batch = np.stack(pictures), counts
            seconds["prepare"] += time.perf_counter() - decoded
            yield batch
            pictures, counts, decoded = [], [], time.perf_counter()
        last = row
        pictures.append(preparation(row[0]) if n == 1 else _clip(row, preparation))
        counts.append(1)
        seconds["prepare"] += time.perf_counter() - decoded
    if pictures:
        yield np.stack(pictures), counts


def _clip(row: list[Pixels], preparation: Callable[[Pixels], Prepared]) -> Prepared:
    """Prepare the pictures of a clip (n, h, w, 3), each once where it stays."""
    pictures: list[Prepared] = []
    for before, pixels in zip([None, *row], row, strict=False):
        pictures.append(pictures[-1] if pixels is before else preparation(pixels))
    return np.stack(pictures)


def frames_of(preparation: Callable[[Pixels], Prepared]) -> int:
    """Return the number of pictures that a model sees at once."""
    frames: int = getattr(preparation, "frames", 1)
    return frames


def _batch_size(preparation: Callable[[Pixels], Prepared]) -> int:
    return max(1, BATCH // frames_of(preparation))


def decoded_side(preparation: Callable[[Pixels], Prepared]) -> int | None:
    """Return the size that pictures are decoded at: twice what the model takes, so that its own filter still counts."""
    if not hasattr(preparation, "shortest_side"):
        return None
    sides = cast("Preparation", preparation)
    return 2 * (sides.shortest_side or max(sides.height, sides.width))


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
    """Load the encoder and embed a shard; an error of its video is returned as a value."""
    try:
        encoder = loader.load()
    except TrueMomentError as error:
        raise InputError(str(error)) from None  # an error of one argument, which travels between processes
    return unless_damaged(shard, lambda: embed(shard, encoder))


def unless_damaged(shard: Shard, work: Callable[[], T]) -> T | FailedShard:
    """Return the result of work on a shard; an error of its video as a value."""
    try:
        return work()
    except (UsageError, MissingPackageError) as error:
        raise InputError(str(error)) from None
    except TrueMomentError as error:
        return FailedShard(shard, str(error))
