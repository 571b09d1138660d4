"""Feature files of one's own videos and sentences, in the layout of the published features of QVHighlights.

::

    FOLDER/VIDEO.npz      features (T, D): a row a clip of some seconds, by the image tower, projected
    FOLDER/qidQUERY.npz   last_hidden_state (L, H): a row a token, by the text tower after its last norm, not projected;
                          pooler_output (D,): the vector of the sentence

A row of a video is the last frame before the middle of its clip, which is the frame that FFmpeg's filter ``fps`` shows.
Each file also has ``made_of``, what it was made of as JSON. By it the same command resumes: what is there stays, and a
file that was made of anything else is refused.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from truemoment.base.boundary.arrays import names_in_npz, pack_json, read_npz, refusing_damage, unpack_json, write_npz
from truemoment.base.boundary.distribution import Engine
from truemoment.base.boundary.folders import lock_folder, remove_leftovers
from truemoment.base.boundary.new_folder import refuse_folder
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, TrueMomentError, UsageError
from truemoment.base.records import Queries
from truemoment.media.features.base import Frames
from truemoment.media.features.folder import KEY, FolderStore
from truemoment.media.features.own import DType, write_store
from truemoment.media.video.encoders import Encoder, TokenEncoder
from truemoment.media.video.files import identity_of
from truemoment.media.video.frames import SAME_TIME_S, outline_of
from truemoment.searching.building import (
    PART_S,
    Progress,
    count_rows,
    embed_shards,
    ignore_progress,
    refuse_other_encoder,
    rows_of_part,
)
from truemoment.searching.extraction import FailedShard, Loader, Shard, frames_of
from truemoment.searching.writing import VideoFile, list_videos

MADE_OF = "made_of"
"""Name of the array that states what a file was made of."""

LONGEST_NAME = 200
"""Characters of the name of a video or query that become a file's name."""


class MadeOf(msgspec.Struct, frozen=True):
    """What a file was made of.

    Parameters
    ----------
    model, fingerprint
        The encoder.
    source
        Identity of the video, or the sentence.
    dtype
        Type of the numbers.
    every_s
        Length of a clip; None for a sentence.
    """

    model: str
    fingerprint: str
    source: str
    dtype: DType
    every_s: float | None = None


@dataclass
class ExtractionReport:
    """What became of each video.

    Parameters
    ----------
    made, kept
        Videos whose rows were made now, and those whose rows were there.
    failed
        Videos that could not be read, and why.
    """

    made: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


LEAST_EVERY_S = 1e-6
"""Shortest clip, seconds: no video has more frames than one in that time."""


@dataclass(frozen=True)
class Extraction:
    """How rows are made.

    Parameters
    ----------
    loader
        The encoder.
    every_s
        Length of a clip, seconds.
    dtype
        Type of the numbers.
    engine, workers
        As for :func:`~truemoment.searching.building.build_index`.
    """

    loader: Loader
    every_s: float = 2.0
    dtype: DType = "float32"
    engine: Engine = "local"
    workers: int | None = None

    def __post_init__(self) -> None:
        if not self.every_s >= LEAST_EVERY_S:
            raise UsageError(f"--every: got {self.every_s:g}, expected seconds, {LEAST_EVERY_S:g} or more")

    @property
    def fps(self) -> float:
        """Rows a second."""
        return 1 / self.every_s

    @property
    def first_s(self) -> float:
        """Time of the frame of the first row: the middle of its clip; its start for a model that sees all of it."""
        return self.every_s / 2 - 2 * SAME_TIME_S if frames_of(self.loader.load().preparation) == 1 else 0.0

    def videos(self, paths: Iterable[Path], folder: Path, on_progress: Progress = ignore_progress) -> ExtractionReport:
        """Write the rows of videos, a file each; files and folders of them as for an index.

        A video that cannot be read is named in the report, and the others are written.
        """
        videos, report, encoder = _named_once(list_videos(paths).videos), ExtractionReport(), self.loader.load()
        tables: dict[str, Frames] = {}
        seen: Counter[str] = Counter()
        with _writing(folder) as own:
            for result in embed_shards(
                self.engine, self._missing(videos, own, encoder, report, on_progress), self.loader, self.workers
            ):
                shard, name = result.shard, result.shard.video.video_id
                if name in report.failed:
                    continue
                if isinstance(result, FailedShard):
                    report.failed[name] = result.why
                    tables.pop(name, None)
                else:
                    refuse_other_encoder(result, encoder.fingerprint, encoder.n_dimensions)
                    if name not in tables:
                        n_rows = count_rows(shard.video, shard.outline, self.fps, self.first_s)
                        tables[name] = np.empty((n_rows, encoder.n_dimensions), np.float32)
                    tables[name][shard.first_row : shard.end_row] = result.rows
                    seen[name] += len(result.rows)
                    if seen[name] < len(tables[name]):
                        continue
                    made_of = self._made_of(encoder, shard.video.identity, self.every_s)
                    _write(own / f"{name}.npz", made_of, **{KEY: tables.pop(name)})
                    report.made.append(name)
                on_progress(name, 1 / len(videos), False, "")
        return report

    def _missing(
        self,
        videos: Sequence[VideoFile],
        folder: OwnPath,
        encoder: Encoder,
        report: ExtractionReport,
        on_progress: Progress,
    ) -> Iterator[Shard]:
        """Yield the parts of each video without a file; each is opened when its turn comes."""
        part_rows = rows_of_part(self.loader, PART_S * self.fps)
        for video in videos:
            if _is_made(folder / f"{video.video_id}.npz", self._made_of(encoder, video.identity, self.every_s)):
                report.kept.append(video.video_id)
                on_progress(video.video_id, 1 / len(videos), True, "")
                continue
            try:
                outline = outline_of(video.path)
                n_rows = count_rows(video, outline, self.fps, self.first_s)
            except TrueMomentError as error:
                report.failed[video.video_id] = str(error)
                on_progress(video.video_id, 1 / len(videos), False, "")
                continue
            for number, first in enumerate(range(0, n_rows, part_rows)):
                end = min(first + part_rows, n_rows)
                yield Shard(video, number, first, end, self.fps, outline, self.first_s)

    def mapped(self, paths: Iterable[Path], folder: Path, on_progress: Progress = ignore_progress) -> ExtractionReport:
        """Write the rows of videos as one folder of our own format, complete or not at all.

        The files of single videos lie beside it in ``FOLDER.parts`` until then, from which the same command resumes.
        """
        refuse_folder(folder)
        parts = folder.with_name(f"{folder.name}.parts")
        report = self.videos(paths, parts, on_progress)
        if report.failed:
            return report
        store = FolderStore(parts, fps=self.fps)
        encoder = self.loader.load()
        store.name = f"{encoder.name}#{encoder.fingerprint[:8]} every {self.every_s:g} s"
        write_store(folder, store, video_ids=sorted((*report.made, *report.kept)), dtype=self.dtype)
        for video_id in (*report.made, *report.kept):
            (OwnPath(parts) / f"{video_id}.npz").unlink()
        with contextlib.suppress(OSError):  # it has other files
            OwnPath(parts).rmdir()
        return report

    def sentences(
        self,
        queries: Queries,
        folder: Path,
        progress: Callable[[Iterable[int]], Iterable[int]] = lambda rows: rows,
    ) -> ExtractionReport:
        """Write the rows of the tokens of each query's sentence, a file each."""
        report, encoder = ExtractionReport(), self.loader.load()
        if not isinstance(encoder, TokenEncoder):
            raise UsageError(f"{encoder.name} makes no rows of words, expected a CLIP model")
        with _writing(folder) as own:
            for at in progress(range(len(queries))):
                query_id, sentence = str(queries.query_id[at]), str(queries.sentence[at])
                path = own / f"qid{_file_name(query_id)}.npz"
                made_of = self._made_of(encoder, sentence, None)
                if _is_made(path, made_of):
                    report.kept.append(query_id)
                    continue
                rows, vector = encoder.tokens([sentence])[0], encoder.sentences([sentence])[0]
                _write(path, made_of, last_hidden_state=rows, pooler_output=vector)
                report.made.append(query_id)
        return report

    def _made_of(self, encoder: Encoder, source: str, every_s: float | None) -> MadeOf:
        return MadeOf(encoder.name, encoder.fingerprint, source, self.dtype, every_s)


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[OwnPath]:
    """Make a folder, in which this command alone writes."""
    with lock_folder(folder):
        own = OwnPath(folder)
        own.refuse_links()
        remove_leftovers(own)
        yield own


def _named_once(paths: Sequence[Path]) -> list[VideoFile]:
    """Return video files by the names of their features; refuse two of one name."""
    named: dict[str, Path] = {}
    for path in paths:
        if (other := named.setdefault(_file_name(path.stem), path)) is not path:
            raise UsageError(f"{other} and {path}: their features would have one name; rename one of them")
    return [VideoFile(name, path, identity_of(path)) for name, path in named.items()]


def _file_name(name: str) -> str:
    """Return the name of a video or query; refuse one that no file can have everywhere."""
    if not name.isprintable() or "/" in name or name.startswith(".") or not 0 < len(name) <= LONGEST_NAME:
        raise InputError(f"got the name {name!r}, expected one that a file can have")
    return name


def _is_made(path: OwnPath, made_of: MadeOf) -> bool:
    """Whether a file is there and was made of this; refuse one that was made of anything else."""
    if not path.exists():
        return False
    earlier = None
    with refusing_damage(path, "is no file of features", hint="remove it"):
        if MADE_OF in names_in_npz(path):
            (packed,) = read_npz(path, MADE_OF)
            earlier = unpack_json(packed, MadeOf)
    if earlier != made_of:
        differing = [
            name for name in MadeOf.__struct_fields__ if getattr(earlier, name, None) != getattr(made_of, name)
        ]
        problem = f"was made of something else (another {', '.join(differing)})"
        raise InputError(problem, path=path, hint="give -o another folder, or remove the file")
    return True


def _write(path: OwnPath, made_of: MadeOf, **arrays: Frames) -> None:
    """Write arrays with what they were made of."""
    with np.errstate(over="ignore"):
        cast: dict[str, Any] = {name: array.astype(made_of.dtype) for name, array in arrays.items()}
    if not all(np.isfinite(array).all() for array in cast.values()):
        raise InputError(f"{made_of.model} gives numbers that are not finite, or too large", path=path)
    write_npz(path, **cast | {MADE_OF: pack_json(made_of)})
