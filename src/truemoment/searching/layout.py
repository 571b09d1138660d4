"""The files of an index, and functions that read them and refuse damage.

::

    INDEX/index.json               {"schema": "truemoment/index/1", "truemoment": VERSION, "model": "scenes",
                                    "encoder": NAME, "fingerprint": "...", "n_dimensions": D, "fps": 2.0,
                                    "dtype": "float16", "proposals": "windowed-grid:..."}
    INDEX/videos/VIDEO-HASH/       a video; the folder exists only when it is complete
        about.json                 {"video_id": ..., "path": ..., "identity": "SIZE:SHA256", "duration_s": ...,
                                    "n_frames": F, "notes": [], "created": "..."}
        features.npy               (F, D): row k is the frame shown at k / fps
        norms.npy                  (P,): length of the mean of each proposal's rows, which no query changes
        pieces.npy                 (C, D): means of pieces of 4 s, of length 1: for the first stage of a search
    INDEX/parts/VIDEO-HASH-KEY/    parts of an unfinished video, a few minutes each
    INDEX/manifest.msgpack         of a large index: what the files about.json say of all videos
    INDEX/codes/                   of a large index: codes of all pieces, see truemoment.searching.codes
    INDEX/said.npz                 what is said, with said.npz in the folder of a video, see truemoment.searching.speech
    INDEX/unrelated.npz            how unrelated sentences fit the videos, see truemoment.searching.unrelated
    INDEX/unrelated_pictures.npz   from 5 videos on: how their frames fit the others, see unrelated_pictures
    INDEX/models/NAME-HASH/        an index of the same videos, made with another model, see several_models

Every file gets its name when it is complete, so an interrupted command loses at most the parts in work, and the same
command resumes. A search refuses damaged files, and ``truemoment index`` makes them again. A video is identified by its
content: a file that was renamed or moved keeps its rows, and one that was changed is read again.
"""

from __future__ import annotations

import functools
import hashlib
import math
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import UNSET, UnsetType

from truemoment.base.boundary.arrays import map_npy, refusing_damage
from truemoment.base.boundary.files import Seed, read_json
from truemoment.base.boundary.own_path import AnyPath, OwnPath, open_regular
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.base.intervals import Ints
from truemoment.base.version import __version__ as version
from truemoment.baselines.proposals import FrameProposals, read_proposals
from truemoment.media.features.own import DType

SCHEMA = "truemoment/index/1"

SETTINGS, ABOUT, ROWS, NORMS, PIECES = "index.json", "about.json", "features.npy", "norms.npy", "pieces.npy"

VIDEOS, PARTS = "videos", "parts"

MANIFEST, CODES = "manifest.msgpack", "codes"
"""Of a large index: see :mod:`truemoment.searching.manifest` and :mod:`truemoment.searching.codes`."""

MODELS = "models"
"""See :mod:`truemoment.searching.several_models`."""

UNRELATED, UNRELATED_PICTURES = "unrelated.npz", "unrelated_pictures.npz"
"""See :mod:`truemoment.searching.unrelated` and :mod:`truemoment.searching.unrelated_pictures`."""

SAID = "said.npz"
"""See :mod:`truemoment.searching.speech`."""

FOLDER_NAME = r"[A-Za-z0-9_-]{1,80}-[0-9a-f]{8}"
"""Names that :func:`folder_name` gives."""

MEND = "delete its folder and index the video again"
"""Advice for a damaged video; indexing again is often enough."""

HEAD = 1 << 14
"""Bytes of a file in which the schema is looked for; settings are shorter."""

PIECE_S = 4.0
"""Length of the pieces whose means are searched first: the mean moment of MAD lasts 4.1 s."""

LOOKED_AT, NEAR = 16, 1e-3
"""Number of moments whose norm is compared with their rows, and the tolerance."""

ROWS_AT_ONCE = 256
"""Rows that are read at a time, which fit into the cache of a processor."""

CLIP_S, CLIPS, LONGER = 1.0, 64, 4
"""Of the proposals for one's own videos: clips of about a second, 64 a window, and windows 4 times as long too."""

Rows = npt.NDArray[np.floating[Any]]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of an index: how its videos were read.

    Parameters
    ----------
    model
        Argument of :func:`~truemoment.media.video.encoders.load_encoder`; a model of the hub by name and commit.
    encoder, fingerprint, n_dimensions
        Name of the encoder, hash of its weights and preprocessing, numbers a row.
    fps
        Frames a second, a row each.
    dtype
        Type of the rows on disk.
    proposals
        Candidate moments, as :func:`~truemoment.baselines.proposals.read_proposals` reads them.
    calibration
        When a search may stop; unset until ``truemoment index calibrate`` measures it.
    """

    model: str
    encoder: str
    fingerprint: str
    n_dimensions: int
    fps: float
    proposals: str
    dtype: DType = "float16"
    schema: str = SCHEMA
    truemoment: str = version
    calibration: Calibration | UnsetType = UNSET


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """When a search may stop, measured on a sample, see :mod:`truemoment.searching.stopping`.

    Parameters
    ----------
    delta
        How far the k-th best moment may score above the best piece of the next video before a search stops.
    quantile
        Share of the sentences for which searches of the sample were complete.
    top
        k, moments of a sentence.
    n_videos, n_sentences, seed
        The sample.
    sentences
        Name of the file of sentences, and the first digits of its hash.
    """

    delta: float
    quantile: float
    top: int
    n_videos: int
    n_sentences: int
    sentences: str
    seed: Seed = 0


class VideoRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a video in an index.

    Parameters
    ----------
    video_id, path
        Its name, and the path of its file.
    identity
        Size and hash of the file, see :func:`~truemoment.media.video.identity_of`.
    duration_s, n_frames
        Its length.
    notes
        Notes on how it was read.
    created
        Creation time that the file states, in ISO 8601 with its time zone; "" for none.
    """

    video_id: str
    path: str
    identity: str
    duration_s: float
    n_frames: int
    notes: tuple[str, ...] = ()
    created: str = ""


def default_proposals(fps: float) -> str:
    """Write the candidate moments for one's own videos: windows of about 64 s and 256 s that cover all of a video.

    Examples
    --------
    >>> default_proposals(2.0)
    'windowed-grid:fps=2,window=128,stride=64,tail=covered+windowed-grid:fps=2,window=512,stride=256,tail=covered'
    """
    frames = max(1, round(CLIP_S * fps)) * CLIPS
    grids = (f"window={n},stride={n // 2},tail=covered" for n in (frames, frames * LONGER))
    return "+".join(f"windowed-grid:fps={_number(fps)},{grid}" for grid in grids)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def is_index(path: AnyPath) -> bool:
    """Whether a folder is an index, damaged perhaps: other tools call files index.json too."""
    folder = OwnPath.of(path)
    try:
        with open_regular(folder / SETTINGS) as file:
            return b"truemoment/index" in file.read(HEAD) or (folder / VIDEOS).is_dir()
    except OSError:
        return False


def read_settings(path: AnyPath) -> Settings:
    """Read the settings of an index."""
    folder = OwnPath.of(path)
    if folder.is_dir() and not is_index(folder):
        raise MissingFileError(f"{path}: is no index, it contains no {SETTINGS} of one")
    file = folder / SETTINGS
    settings = read_json(file, Settings)
    if settings.schema != SCHEMA:
        raise InputError(f"got {settings.schema!r}, expected {SCHEMA!r}", path=file, field="schema")
    calibration = settings.calibration
    if calibration and not (
        math.isfinite(calibration.delta)
        and calibration.delta >= 0
        and 0 < calibration.quantile < 1
        and calibration.top >= 1
    ):
        raise InputError(
            "expected delta of 0 or more, a quantile between 0 and 1, and top of 1 or more",
            path=file,
            field="calibration",
        )
    if not (math.isfinite(settings.fps) and settings.fps > 0) or settings.n_dimensions < 1:
        raise InputError("expected frames a second and numbers a row above 0", path=file)
    try:
        refuse_other_frames(settings)
    except UsageError as error:
        raise InputError(str(error), path=file, field="proposals") from None
    return settings


def refuse_other_frames(settings: Settings) -> None:
    """Refuse candidate moments that do not count the frames of the index."""
    scheme = read_proposals(settings.proposals)
    if not isinstance(scheme, FrameProposals) or scheme.fps != settings.fps:
        raise UsageError(f"got proposals {settings.proposals}, expected windowed-grid:fps={settings.fps:g},...")


def folder_name(video_id: str) -> str:
    """Return the name of the folder of a video: readable letters, and a hash of the whole name.

    Examples
    --------
    >>> folder_name("summer/beach 1")
    'summer_beach_1-8799399a'
    """
    digest = hashlib.sha256(video_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', video_id)[:80].strip('_') or 'video'}-{digest}"


def read_about(file: OwnPath) -> VideoRecord:
    """Read the record of a video."""
    try:
        about = read_json(file, VideoRecord)
    except InputError as error:
        raise InputError(error.problem, path=file, line=error.line, field=error.field, hint=MEND) from None
    if folder_name(about.video_id) != file.parent.name:
        raise InputError(f"found video {about.video_id!r}, expected the video of its folder", path=file, hint=MEND)
    if about.n_frames < 1 or not (math.isfinite(about.duration_s) and about.duration_s > 0):
        raise InputError("expected a frame or more, and a duration above 0", path=file, hint=MEND)
    return about


def rows_in(folder: OwnPath, about: VideoRecord, settings: Settings) -> Rows:
    """Return the rows of a video (F, D), memory-mapped."""
    return map_table(folder / ROWS, (about.n_frames, settings.n_dimensions), settings.dtype)


def norms_in(folder: OwnPath, n_spans: int) -> Rows:
    """Return the length of the mean of each candidate moment's rows (P,), memory-mapped."""
    return map_table(folder / NORMS, (n_spans,), "float32")


def mapped_pieces(folder: OwnPath, about: VideoRecord, settings: Settings) -> Rows:
    """Return the means of the pieces of a video (C, D), memory-mapped; they are not checked for finite numbers."""
    shape = (count_pieces(about.n_frames, settings.fps), settings.n_dimensions)
    return map_table(folder / PIECES, shape, "float16")


def pieces_in(folder: OwnPath, about: VideoRecord, settings: Settings) -> Rows:
    """Return the means of the pieces of a video, of length 1, (C, D), memory-mapped."""
    pieces = mapped_pieces(folder, about, settings)
    if not all_finite(pieces):
        raise InputError("contains numbers that are not finite", path=folder / PIECES, hint=MEND)
    return pieces


def map_table(path: OwnPath, shape: tuple[int, ...], dtype: str) -> Rows:
    """Map a table that must have a shape and type."""
    with refusing_damage(path, "is not a table of numbers", hint=MEND):
        array = map_npy(path)
    if array.shape != shape or array.dtype != np.dtype(dtype):
        came = f"contains {array.dtype} of shape {array.shape}"
        raise InputError(f"{came}, expected {dtype} of shape {shape}", path=path, hint=MEND)
    return array


def all_finite(table: Rows) -> bool:
    """Whether all numbers of a table are finite; of half precision by their bits, a tenth of NumPy's own time."""
    if table.dtype != np.float16:
        return bool(np.isfinite(table).all())
    blocks = (table[k : k + ROWS_AT_ONCE].view(np.uint16) & 0x7FFF for k in range(0, len(table), ROWS_AT_ONCE))
    return all(int(block.max()) < 0x7C00 for block in blocks)  # from there on: infinite, and not a number


def refuse_other_norms(folder: OwnPath, rows: Rows, spans: tuple[Ints, Ints]) -> None:
    """Refuse norms that are not those of the rows; a sample of them is compared."""
    first, end = spans
    norms = norms_in(folder, len(first))
    some = np.unique(np.linspace(0, len(first) - 1, LOOKED_AT).astype(np.int64)) if len(first) else np.array([], int)
    means = (rows[a:b].mean(axis=0, dtype=np.float64) for a, b in zip(first[some], end[some], strict=True))
    lengths = np.array([np.linalg.norm(mean) for mean in means])
    near = NEAR * lengths.max(initial=0.0)
    if not (np.isfinite(norms).all() and (norms >= 0).all() and (np.abs(norms[some] - lengths) <= near).all()):
        raise InputError(f"contains other lengths than the moments of {ROWS} have", path=folder / NORMS, hint=MEND)


def is_file(path: Path) -> bool:
    """Whether there is a file; where that is unknown, reading it will fail with the reason."""
    try:
        return path.is_file()
    except OSError:
        return True


@functools.lru_cache(maxsize=8)
def spans_of(proposals: str, n_frames: int) -> tuple[Ints, Ints]:
    """Return the first frame, and the one after the last, of each candidate moment of so many frames, (P,) each."""
    scheme = read_proposals(proposals)
    if not isinstance(scheme, FrameProposals):
        raise UsageError(f"got proposals {proposals}, expected windowed-grid: an index counts frames")
    first, end = scheme.spans(n_frames)
    first.flags.writeable = end.flags.writeable = False  # they are shared
    return first, end


def piece_starts(n_frames: int, fps: float) -> Ints:
    """Return the first frame of each piece of about 4 s; the last piece is the longest.

    Examples
    --------
    >>> piece_starts(20, 2.0).tolist(), piece_starts(3, 2.0).tolist()
    ([0, 8], [0])
    """
    return np.arange(count_pieces(n_frames, fps), dtype=np.int64) * _piece_frames(fps)


def count_pieces(n_frames: int, fps: float) -> int:
    """Return the number of pieces of so many frames."""
    return max(1, n_frames // _piece_frames(fps))


def _piece_frames(fps: float) -> int:
    return max(1, round(PIECE_S * fps))


def piece_means(rows: Rows, fps: float) -> npt.NDArray[np.float16]:
    """Return the mean row of each piece of a video, of length 1 (0 where the mean is 0), shape (C, D)."""
    starts = piece_starts(len(rows), fps)
    sums = np.add.reduceat(rows.astype(np.float32), starts, axis=0, dtype=np.float64)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(lengths > 0, lengths, 1.0)).astype(np.float16)
