"""Looking at videos: from files to rows of features, by one process, several, or many machines.

The work is cut into *shards*, parts of a video of a few minutes, and one function, :func:`see`, turns a shard into
rows. An engine only hands shards out and takes rows back; whoever asked writes them (:func:`build_index`). So the rows
are the same for any number of workers, and a worker that dies takes with it no more than the shard it was at, which is
done again.

==========  ========================================================================================================
``local``   this process for 1 worker, else a pool of processes
``ray``     a Ray cluster: the one of the variable ``RAY_ADDRESS``, or one that is started here
==========  ========================================================================================================
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import os
import queue
import signal
import socket
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np

from truemoment.exceptions import InputError, MissingPackageError, TrueMomentError, UsageError
from truemoment.features.base import Frames
from truemoment.processes import end_with_parent, processes
from truemoment.search.index import Film, IndexWriter, Intake
from truemoment.video.frames import Outline, outline_of, stream_frames

if TYPE_CHECKING:
    from truemoment.video.encoders import Encoder, Preparation

Engine = Literal["local", "ray"]
T = TypeVar("T")

PART_S = 120.0
"""Seconds of a video that are done at a time, and lost at most."""

BATCH = 32
"""Frames that an encoder is shown at once."""

AHEAD = 3
"""Batches that are decoded while the encoder is at one."""

TRIES = 2
"""How often a shard that runs alone may end its worker before its video is given up."""

CONNECT_S = 10.0
"""How long a cluster may take to answer."""


@dataclass(frozen=True)
class Loader:
    """Which encoder a worker loads.

    Parameters
    ----------
    model, device
        As for :func:`~truemoment.video.encoders.load_encoder`.
    """

    model: str
    device: str | None = None

    def load(self) -> Encoder:
        """Load it, once a process.

        Raises
        ------
        UsageError, MissingFileError, InputError, MissingPackageError
            As :func:`~truemoment.video.encoders.load_encoder`.
        """
        return _loaded(self)


@functools.lru_cache(maxsize=1)
def _loaded(loader: Loader) -> Encoder:
    from truemoment.video.encoders import load_encoder  # noqa: PLC0415 - needs PyTorch

    return load_encoder(loader.model, device=loader.device)


@dataclass(frozen=True)
class Shard:
    """A part of a video.

    Parameters
    ----------
    film
        Of which video.
    number
        Which part of it.
    first_row, end_row
        Rows of it: row k is the frame at k / fps.
    fps
        Frames a second.
    outline
        What is known of the file.
    """

    film: Film
    number: int
    first_row: int
    end_row: int
    fps: float
    outline: Outline


@dataclass(frozen=True, eq=False)
class Seen:
    """What came out of a shard.

    Parameters
    ----------
    shard
        Which.
    rows : (N, D) float32
        A row a frame.
    decode_s, prepare_s, encode_s
        Seconds that each stage took; decoding and preparing go on beside encoding.
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
class Failed:
    """A shard that could not be done.

    Parameters
    ----------
    shard
        Which.
    why
        One line for people.
    """

    shard: Shard
    why: str


# ------------------------------------------------------------------------------------------------- one shard


def see(shard: Shard, encoder: Encoder) -> Seen:
    """Turn a shard into rows: decode and prepare in one thread, encode in another.

    Parameters
    ----------
    shard
        A part of a video.
    encoder
        What looks at its frames.

    Returns
    -------
    Seen

    Raises
    ------
    InputError, MissingFileError, MissingPackageError
        If the file cannot be read or decoded.
    """
    clock: dict[str, float] = defaultdict(float)
    rows: list[Frames] = []
    with _ahead(_batches(shard, encoder, clock)) as batches:
        while True:
            began = time.perf_counter()
            batch = next(batches, None)
            waited = time.perf_counter()
            clock["wait"] += waited - began
            if batch is None:
                break
            rows.append(encoder.images(batch))
            clock["encode"] += time.perf_counter() - waited
    table = np.concatenate(rows)
    if len(table) != shard.end_row - shard.first_row:
        expected = f"{shard.end_row - shard.first_row} from {shard.first_row / shard.fps:.1f} s on"
        raise InputError(f"gave {len(table)} frames, expected {expected}", path=shard.film.path)
    return Seen(
        shard,
        table,
        decode_s=clock["decode"],
        prepare_s=clock["prepare"],
        encode_s=clock["encode"],
        waited_s=clock["wait"],
        worker=f"{socket.gethostname()}:{os.getpid()}",
        fingerprint=encoder.fingerprint,
    )


def _batches(shard: Shard, encoder: Encoder, clock: dict[str, float]) -> Iterator[Frames]:
    """Decode and prepare the frames of a shard, some at a time; a picture that stays is prepared once."""
    frames = stream_frames(
        shard.film.path,
        shard.fps,
        start_s=shard.first_row / shard.fps,
        end_s=shard.end_row / shard.fps,
        shortest_side=_decoded_side(encoder),
        outline=shard.outline,
    )
    last = prepared = None
    batch: list[Frames] = []
    while True:
        began = time.perf_counter()
        frame = next(frames, None)
        decoded = time.perf_counter()
        clock["decode"] += decoded - began
        if frame is None:
            break
        if prepared is None or frame[1] is not last:
            last, prepared = frame[1], encoder.prepare(frame[1])
        batch.append(prepared)
        if len(batch) == BATCH:
            stacked, batch = np.stack(batch), []
            clock["prepare"] += time.perf_counter() - decoded
            yield stacked
        else:
            clock["prepare"] += time.perf_counter() - decoded
    if batch:
        yield np.stack(batch)


def _decoded_side(encoder: Encoder) -> int | None:
    """Return the size that pictures are decoded at: twice what the model takes, so that its own filter still counts."""
    preparation: Preparation | None = getattr(encoder, "preparation", None)
    if preparation is None:
        return None
    return 2 * (preparation.shortest_side or max(preparation.height, preparation.width))


@contextlib.contextmanager
def _ahead(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """Make items in a thread of their own, a few ahead of who takes them; what is raised there is raised here."""
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

    def taken() -> Iterator[T]:
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
        yield taken()
    finally:
        stopped.set()
        thread.join(timeout=10)


def _attempt(shard: Shard, loader: Loader) -> Seen | Failed:
    """Do a shard; what is wrong with its video comes back as a value.

    Raises
    ------
    InputError
        If the encoder cannot be loaded, or its device has no memory left: that is no fault of the video.
    """
    try:
        encoder = loader.load()
    except TrueMomentError as error:
        raise InputError(str(error)) from None  # an error of one argument, which travels between processes
    try:
        return see(shard, encoder)
    except (UsageError, MissingPackageError) as error:
        raise InputError(str(error)) from None
    except TrueMomentError as error:
        return Failed(shard, str(error))


# ------------------------------------------------------------------------------------------------- engines


class Distribute(Protocol):
    """An engine: hands shards out, and gives back what comes of each, in any order."""

    def __call__(self, shards: Iterator[Shard], loader: Loader, workers: int | None) -> Iterator[Seen | Failed]:
        """Do shards; each comes back exactly once."""
        ...


def by_local(shards: Iterator[Shard], loader: Loader, workers: int | None) -> Iterator[Seen | Failed]:
    """Do shards on this machine: here for one worker, else in a pool of processes.

    When a worker dies, the shards that were under way are done again one by one, so that the blame is clear: one that
    ends its worker :data:`TRIES` times alone is given up.
    """
    if workers is None or workers == 1:
        for shard in shards:
            yield _attempt(shard, loader)
        return
    threads = max(1, (os.cpu_count() or 1) // workers)
    again: deque[Shard] = deque()
    deaths: Counter[tuple[str, int]] = Counter()
    while True:
        running: dict[Future[Seen | Failed], Shard] = {}
        with processes(workers, _begin, threads) as pool:
            try:
                yield from _in_pool(pool, shards, loader, again=again, running=running, most=2 * workers)
            except BrokenProcessPool:
                pass
            else:
                return
        alone = len(running) == 1
        for future, shard in running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                yield future.result()
                continue
            deaths[_key(shard)] += alone
            if deaths[_key(shard)] == TRIES:
                yield Failed(shard, f"{shard.film.path}: a worker died of it, {TRIES} times")
            else:
                again.append(shard)


def _in_pool(
    pool: ProcessPoolExecutor,
    shards: Iterator[Shard],
    loader: Loader,
    *,
    again: deque[Shard],
    running: dict[Future[Seen | Failed], Shard],
    most: int,
) -> Iterator[Seen | Failed]:
    """Keep a pool busy until all is done; those that are done again run alone, and first."""
    suspect = False
    while True:
        while len(running) < (1 if again or suspect else most):
            suspect = bool(again)
            shard = again.popleft() if again else next(shards, None)
            if shard is None:
                break
            try:
                running[pool.submit(_attempt, shard, loader)] = shard
            except BrokenProcessPool:
                again.append(shard)
                raise
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            result = future.result()
            del running[future]
            suspect = False
            yield result


def _key(shard: Shard) -> tuple[str, int]:
    return shard.film.video_id, shard.number


def _begin(threads: int) -> None:
    """Begin a worker: Ctrl-C is for who started it, and it ends with that process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when PyTorch is imported, with the model
    end_with_parent()


def by_ray(shards: Iterator[Shard], loader: Loader, workers: int | None) -> Iterator[Seen | Failed]:
    """Do shards on a Ray cluster: that of the variable ``RAY_ADDRESS``, or one that is started on this machine.

    Without a number of workers, all cores of the cluster work, or all its GPUs where the loader names ``cuda``.

    A worker or machine that dies is made up for by Ray; only rows travel back. Every machine needs TrueMoment, the
    videos under the same paths, and the model.

    Raises
    ------
    MissingPackageError
        If Ray is not installed.
    InputError
        If the cluster cannot be reached.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise MissingPackageError("ray", "scale", "--engine ray") from None
    address = os.environ.get("RAY_ADDRESS")
    ours = not ray.is_initialized()
    if ours:
        _refuse_unreachable(address)
        where: dict[str, Any] = {"address": address} if address else {"num_cpus": workers, "include_dashboard": False}
        try:
            ray.init(**where, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise InputError(f"the cluster at {address or 'this machine'} cannot be reached ({error})") from None
    n_gpus = 1 if (loader.device or "").startswith("cuda") else 0
    task = ray.remote(num_cpus=1, num_gpus=n_gpus, max_retries=TRIES + 1)(_attempt)
    running: dict[Any, Shard] = {}
    try:
        resources: dict[str, float] = ray.cluster_resources()
        most = 2 * (workers or max(1, int(resources.get("GPU" if n_gpus else "CPU", 1))))
        while True:
            while len(running) < most and (shard := next(shards, None)) is not None:
                running[task.remote(shard, loader)] = shard
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1, timeout=1.0)
            for reference in done:
                yield _came(ray, reference, running.pop(reference))
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
        if ours:
            ray.shutdown()


def _refuse_unreachable(address: str | None) -> None:
    """Refuse a cluster at HOST:PORT that does not answer; Ray itself would go on trying for minutes.

    Raises
    ------
    InputError
        If it does not answer in time.
    """
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"the cluster at {address} cannot be reached ({error})", field="RAY_ADDRESS") from None


def _came(ray: Any, reference: Any, shard: Shard) -> Seen | Failed:  # noqa: ANN401 - an optional package
    """Return what came of a shard.

    Raises
    ------
    InputError
        If a machine of the cluster cannot do the work at all.
    """
    try:
        result: Seen | Failed = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        reason = str(error).strip().rpartition("\n")[2]
        hint = "every machine needs TrueMoment, the videos under the same paths, and the model"
        raise InputError(f"a worker of the cluster failed: {reason}", hint=hint) from None
    except ray.exceptions.RayError:
        return Failed(shard, f"{shard.film.path}: its workers died, {TRIES + 2} in a row")
    return result


ENGINES: dict[Engine, Distribute] = {"local": by_local, "ray": by_ray}


# ------------------------------------------------------------------------------------------------- the index


@dataclass
class Report:
    """What building an index came to.

    Parameters
    ----------
    plan
        What there was to do.
    indexed
        Videos that were read to their end, and seconds of each.
    failed
        Videos that could not be read, and why.
    notes
        What a person should know of some videos.
    parts_kept
        Parts that an earlier command had done.
    n_frames
        Frames that were looked at.
    decode_s, prepare_s, encode_s, waited_s
        Seconds of each stage, over all workers.
    wall_s
        Seconds that passed.
    """

    plan: Intake = field(default_factory=Intake)
    indexed: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    parts_kept: int = 0
    n_frames: int = 0
    decode_s: float = 0.0
    prepare_s: float = 0.0
    encode_s: float = 0.0
    waited_s: float = 0.0
    wall_s: float = 0.0

    def add(self, seen: Seen) -> None:
        """Count a shard."""
        self.n_frames += len(seen.rows)
        for name in ("decode_s", "prepare_s", "encode_s", "waited_s"):
            setattr(self, name, getattr(self, name) + getattr(seen, name))

    @property
    def rates(self) -> dict[str, float]:
        """Frames a second of each stage, of one worker; what was not measured is left out."""
        stages = {"decode": self.decode_s, "prepare": self.prepare_s, "encode": self.encode_s}
        return {name: self.n_frames / seconds for name, seconds in stages.items() if seconds > 0 and self.n_frames}

    @property
    def bound_by(self) -> str | None:
        """Which stage the others wait for: pictures are decoded and prepared beside the encoder."""
        if not self.n_frames:
            return None
        if self.decode_s + self.prepare_s <= self.encode_s:
            return "encode"
        return "decode" if self.decode_s > self.prepare_s else "prepare"


Progress = Callable[[str, float, bool], None]
"""Told which video is at work, which share of all the work is done now, and whether it was done before."""


def unseen(video_id: str, share: float, before: bool) -> None:
    """Tell nobody."""
    del video_id, share, before


def build_index(
    writer: IndexWriter,
    paths: Sequence[Path],
    loader: Loader,
    *,
    engine: Engine = "local",
    workers: int | None = None,
    partial: bool = False,
    part_s: float = PART_S,
    follow: Progress = unseen,
) -> Report:
    """Look at all videos that an index does not hold yet, and write what was seen.

    Videos that cannot be read are left out and named in the report. Whatever ends the work, parts that are done stay.

    Parameters
    ----------
    writer
        The index, open for writing.
    paths
        Video files.
    loader
        The encoder that the index is made with.
    engine, workers
        Who does the work; without a number of workers ``local`` is this process, and ``ray`` all there is.
    partial
        Whether to take videos that are damaged or cut off for what they still show.
    part_s
        Seconds of a video that are done at a time.
    follow
        Told of progress.

    Returns
    -------
    Report

    Raises
    ------
    UsageError
        If there is no such engine, or no worker.
    InputError
        If the index cannot be written, or a worker's encoder cannot be loaded or is another one than the index's.
    MissingPackageError
        If what the engine needs is not installed.
    """
    if engine not in ENGINES:
        raise UsageError(f"unknown engine {engine!r}, expected {' or '.join(ENGINES)}")
    if (workers is not None and workers < 1) or not part_s > 0:
        raise UsageError(f"got {workers} workers and parts of {part_s} s, expected more than 0")
    began = time.perf_counter()
    plan = writer.plan(paths)
    report = Report(plan, failed=dict(plan.unreadable), notes=dict(plan.notes))
    work = _Work(writer, report, max(1, round(part_s * writer.settings.fps)), partial, follow)
    for result in ENGINES[engine](work.shards(), loader, workers):
        work.take(result)
    report.wall_s = time.perf_counter() - began
    return report


class _Work:
    """What is to be done of each video, and what is left of it."""

    def __init__(self, writer: IndexWriter, report: Report, part_rows: int, partial: bool, follow: Progress) -> None:
        self.writer, self.report, self.follow = writer, report, follow
        self.part_rows, self.partial = part_rows, partial
        self.left: dict[str, set[int]] = {}
        self.sizes = {film.video_id: film.n_bytes for film in report.plan.to_read}
        self.whole = max(1, sum(self.sizes.values()))

    def shards(self) -> Iterator[Shard]:
        """Go through the parts that are not there yet, video by video; files are opened as they come."""
        for film in self.report.plan.to_read:
            name = film.video_id
            try:
                outline = outline_of(film.path, partial=self.partial)
            except TrueMomentError as error:
                self._fail(film, str(error))
                continue
            n_rows = outline.n_frames(self.writer.settings.fps)
            numbers = range(-(-n_rows // self.part_rows))
            kept = self.writer.kept_parts(film, self.part_rows, n_rows)
            self.report.parts_kept += len(kept)
            self.left[name] = set(numbers) - kept
            self.follow(name, self._share(film, len(kept) / len(numbers)), True)
            if outline.fault:
                self._note(name, outline.fault)
            if not self.left[name]:
                self._finish(film, outline)
            for number in sorted(self.left[name]):
                if name in self.report.failed:
                    break
                first = number * self.part_rows
                end = min(first + self.part_rows, n_rows)
                yield Shard(film, number, first, end, self.writer.settings.fps, outline)

    def take(self, result: Seen | Failed) -> None:
        """Keep what came of a shard; the last one of a video makes it whole."""
        film, outline = result.shard.film, result.shard.outline
        name = film.video_id
        if name in self.report.failed:
            return
        if isinstance(result, Failed):
            self._fail(film, result.why)
            return
        self._refuse_other_encoder(result)
        self.writer.keep_part(film, self.part_rows, result.shard.number, result.rows)
        self.report.add(result)
        self.left[name].discard(result.shard.number)
        share = len(result.rows) / outline.n_frames(self.writer.settings.fps)
        self.follow(name, self._share(film, share), False)
        if not self.left[name]:
            self._finish(film, outline)

    def _finish(self, film: Film, outline: Outline) -> None:
        n_rows, notes = outline.n_frames(self.writer.settings.fps), [outline.fault] if outline.fault else []
        self.writer.finish(film, self.part_rows, n_rows, outline.duration_s, notes)
        self.report.indexed[film.video_id] = outline.duration_s

    def _refuse_other_encoder(self, seen: Seen) -> None:
        """Refuse rows of another encoder than the index's.

        Raises
        ------
        InputError
            If they are.
        """
        made, n_dimensions = self.writer.settings, seen.rows.shape[1]
        if (seen.fingerprint, n_dimensions) != (made.fingerprint, made.n_dimensions):
            came = f"a model of fingerprint {seen.fingerprint[:8]}, {n_dimensions} numbers a row"
            raise InputError(
                f"the worker {seen.worker} has {came}, expected {made.fingerprint[:8]}, {made.n_dimensions} numbers",
                hint="every worker needs the same files of the model",
            )

    def _note(self, video_id: str, note: str) -> None:
        before = self.report.notes.get(video_id)
        self.report.notes[video_id] = f"{before}; {note}" if before else note

    def _fail(self, film: Film, why: str) -> None:
        self.report.failed[film.video_id] = why
        self.follow(film.video_id, 0.0, False)

    def _share(self, film: Film, of_film: float) -> float:
        """Share of all the work: videos are weighed by the size of their files, which is known before any is opened."""
        return self.sizes[film.video_id] / self.whole * of_film
