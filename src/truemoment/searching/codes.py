r"""Codes of all pieces of a large index: an eighth of half precision, scanned as a whole for every sentence.

Pieces less their mean (which changes all scores of a sentence by one number) are divided into parts of 2 numbers, and
each part is replaced by the nearest of 16 centroids: 4 bits. A sentence is compared with the centroids once, and the
score of a piece is a sum of numbers that are looked up (product quantisation, Jégou et al. 2011; the scan is faiss's
``PQ256x4fs`` at 512 numbers). There are no inverted lists: every piece is scanned, and no parameter depends on the
size of a collection. The best pieces are then compared exactly, see :mod:`truemoment.searching.first_stage`.

::

    INDEX/codes/codebook.npz    mean (D,) and centroids (M, 16, 2) float32, an odd D padded by 0
    INDEX/codes/NNNN.codes      codes of up to 2^20 pieces, M / 2 bytes each, in the order of the names of the videos
    INDEX/codes/pieces.npz      the videos and how many pieces each has, as JSON, and the hash of the codebook

faiss's own files are not read, since it does not check them: these are checked, and handed to faiss as arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.arrays import pack_json, read_npz, refusing_damage, unpack_json, write_npz
from truemoment.base.boundary.distribution import free_memory_mb
from truemoment.base.boundary.files import atomic_write
from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import OwnPath, open_regular
from truemoment.base.errors import InputError, MissingPackageError
from truemoment.base.intervals import Ints, ranked
from truemoment.media.features.base import Frames
from truemoment.searching.index import Index
from truemoment.searching.layout import CODES

LEAST_PIECES = 200_000
"""Pieces from which on an index gets codes by itself: 220 hours."""

FILE_PIECES = 1 << 20
"""Pieces of a file of codes."""

SCAN_PIECES = 1 << 19
"""Pieces that faiss gets at a time; it briefly has three copies of them, 67 MB each at 512 numbers."""

TRAINED_ON = 30_000
"""Pieces that the centroids are found on."""

N_CENTROIDS, PART_NUMBERS = 16, 2

CODEBOOK, PIECES = "codebook.npz", "pieces.npz"

MAKE = "truemoment index VIDEO... -o INDEX --codes makes them again"

Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Codebook:
    """The centroids that pieces are coded with.

    Parameters
    ----------
    mean : (D,) float32
        Mean of the pieces of the training sample.
    centroids : (M, 16, 2) float32
        Centroids of each part.
    """

    mean: Frames
    centroids: Frames

    @property
    def n_parts(self) -> int:
        """M, parts of a piece, an even number."""
        return len(self.centroids)

    @property
    def n_bytes(self) -> int:
        """Bytes of a code."""
        return self.n_parts // 2

    @property
    def digest(self) -> str:
        """Hash of all numbers."""
        return hashlib.sha256(self.mean.tobytes() + self.centroids.tobytes()).hexdigest()

    def pad(self, vectors: Frames) -> Frames:
        """Return vectors (N, D) as (N, 2 M), padded by 0."""
        width = self.n_parts * PART_NUMBERS
        return np.ascontiguousarray(np.pad(vectors, ((0, 0), (0, width - vectors.shape[1]))), dtype=np.float32)

    def encode(self, pieces: npt.NDArray[Any]) -> Codes:
        """Return the codes of pieces (N, D), (N, M / 2)."""
        quantiser = self.quantiser()
        codes: Codes = quantiser.compute_codes(self.pad(pieces.astype(np.float32) - self.mean))
        return codes

    def quantiser(self) -> Any:  # noqa: ANN401 - of an optional package
        """Return the quantiser of faiss with these centroids."""
        faiss = _faiss()
        quantiser = faiss.ProductQuantizer(self.n_parts * PART_NUMBERS, self.n_parts, 4)
        faiss.copy_array_to_vector(np.ascontiguousarray(self.centroids).ravel(), quantiser.centroids)
        return quantiser


def train_codebook(sample: npt.NDArray[Any], seed: int = 0) -> Codebook:
    """Find the centroids of each part by k-means.

    Parameters
    ----------
    sample : (N, D)
        Pieces, :data:`N_CENTROIDS` or more.
    seed
        Of k-means.
    """
    faiss = _faiss()
    mean = sample.mean(axis=0, dtype=np.float64).astype(np.float32)
    n_parts = -(-sample.shape[1] // (2 * PART_NUMBERS)) * 2  # two codes are a byte
    quantiser = faiss.ProductQuantizer(n_parts * PART_NUMBERS, n_parts, 4)
    quantiser.cp.seed, quantiser.cp.min_points_per_centroid = seed + 1, 1
    empty = Codebook(mean, np.zeros((n_parts, N_CENTROIDS, PART_NUMBERS), dtype=np.float32))
    quantiser.train(empty.pad(sample.astype(np.float32) - mean))
    centroids: Frames = faiss.vector_to_array(quantiser.centroids).reshape(n_parts, N_CENTROIDS, PART_NUMBERS)
    return Codebook(mean, centroids)


class CodedVideo(msgspec.Struct, frozen=True, array_like=True):
    """A video whose pieces are coded: its name, the identity of its file, and the number of its pieces."""

    video_id: str
    identity: str
    n_pieces: int


def coded_videos(index: Index) -> list[CodedVideo]:
    """Return the videos of an index with the number of their pieces, in the order of their names."""
    return [CodedVideo(name, index.about(name).identity, index.n_pieces(name)) for name in sorted(index)]


def make_codes(
    index: Index, *, seed: int = 0, track: Callable[[Iterable[int]], Iterable[int]] = iter
) -> tuple[int, int]:
    """Code all pieces of an index; existing codes of the same pieces are kept, with their codebook.

    Parameters
    ----------
    index
        The index.
    seed
        Of the sample and the centroids of a new codebook.
    track
        Wraps the numbers of the files that are written, e.g. in a progress bar.

    Returns
    -------
    n_pieces, n_coded
        Pieces of the index, and how many of them were coded now.
    """
    folder = index.folder / CODES
    videos = coded_videos(index)
    n_pieces = sum(video.n_pieces for video in videos)
    if n_pieces < N_CENTROIDS:
        raise InputError(f"has {n_pieces} pieces of video, expected {N_CENTROIDS} or more for codes", path=index.path)
    old = _usable(index)
    codebook, kept = (_new_codebook(index, videos, seed), 0) if old is None else (old[0], _count_same(old[1], videos))
    first_file = kept // FILE_PIECES
    try:
        folder.mkdir(exist_ok=True)
        (folder / PIECES).unlink(missing_ok=True)  # until all codes are there
        for file in folder.glob("*.codes"):
            if not file.stem.isdecimal() or int(file.stem) >= first_file:
                file.unlink()
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", path=folder) from None
    write_npz(folder / CODEBOOK, mean=codebook.mean, centroids=codebook.centroids)
    numbers = range(first_file, -(-n_pieces // FILE_PIECES))
    rows = _from_piece(index, videos, first_file * FILE_PIECES)
    for number, blocks in zip(track(numbers), _in_files(rows), strict=False):
        with atomic_write(folder / f"{number:04}.codes") as stream:
            for block in blocks:
                stream.write(codebook.encode(block).tobytes())
    write_npz(folder / PIECES, about=pack_json({"codebook": codebook.digest, "videos": videos}))
    return n_pieces, n_pieces - first_file * FILE_PIECES


class PieceCodes:
    """The codes of an index in memory, to be scanned.

    Parameters
    ----------
    index
        The index.
    videos
        Which of its videos; by default all.
    """

    def __init__(self, index: Index, videos: Iterable[str] | None = None) -> None:
        path = index.folder / CODES
        self.codebook, known = _read(index)
        if known != coded_videos(index):
            raise InputError("are codes of other pieces than the index has", path=path / PIECES, hint=MAKE)
        wanted = set(index if videos is None else videos)
        taken = np.array([video.video_id in wanted for video in known], dtype=np.bool_)
        lengths = np.array([video.n_pieces for video in known], dtype=np.int64)
        self.video_ids = [video.video_id for video in known if video.video_id in wanted]
        self._ends = np.cumsum(lengths[taken])
        _refuse_too_large(int(lengths[taken].sum()) * self.codebook.n_bytes, path)
        self._scans = [
            _scan_of(self.codebook, block)
            for block in _select(_blocks(path, self.codebook, int(lengths.sum())), np.repeat(taken, lengths))
        ]

    @property
    def n_pieces(self) -> int:
        """Number of pieces."""
        return int(self._ends[-1]) if len(self._ends) else 0

    def best(self, vectors: Frames, many: int) -> Ints:
        """Return the numbers of the `many` best pieces of each sentence by their codes, best first; -1 for none.

        Parameters
        ----------
        vectors : (S, D)
            Of the sentences.
        many
            Pieces a sentence.
        """
        queries = self.codebook.pad(vectors)
        scores, numbers, first = [], [], 0
        for scan in self._scans:
            score, number = scan.search(queries, min(many, scan.ntotal))
            scores.append(np.where(number < 0, -np.inf, score))
            numbers.append(np.where(number < 0, -1, number + first))
            first += scan.ntotal
        score, number = np.concatenate(scores, axis=1), np.concatenate(numbers, axis=1)
        if len(self._scans) > 1:
            number = np.stack(
                [numbers_of_row[ranked(row, many)] for row, numbers_of_row in zip(score, number, strict=True)]
            )
        return np.asarray(number, dtype=np.int64)

    def places(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Return the video, counted among `video_ids`, and the place in it of pieces."""
        video = np.searchsorted(self._ends, numbers, side="right")
        return video, numbers - np.concatenate([[0], self._ends])[video]


def has_codes(index: Index) -> bool:
    """Whether an index has codes that are complete."""
    return (index.folder / CODES / PIECES).is_file()


# --------------------------------------------------------------------------------------- files


class _CodedPieces(msgspec.Struct, frozen=True):
    """The JSON of :data:`PIECES`."""

    codebook: str
    videos: list[CodedVideo]


def _read(index: Index) -> tuple[Codebook, list[CodedVideo]]:
    """Read the codebook and the videos that are coded; refuse codes of another codebook or width."""
    path = index.folder / CODES
    with refusing_damage(path / CODEBOOK, "is no codebook", hint=MAKE):
        mean, centroids = read_npz(path / CODEBOOK, "mean", "centroids")
    n_parts = -(-index.n_dimensions // (2 * PART_NUMBERS)) * 2
    expected = {"mean": (index.n_dimensions,), "centroids": (n_parts, N_CENTROIDS, PART_NUMBERS)}
    for name, array in (("mean", mean), ("centroids", centroids)):
        if array.shape != expected[name] or array.dtype != np.float32 or not np.isfinite(array).all():
            problem = (
                f"contains {array.dtype} of shape {array.shape}, expected finite float32 of shape {expected[name]}"
            )
            raise InputError(problem, path=path / CODEBOOK, field=name, hint=MAKE)
    with refusing_damage(path / PIECES, "is no list of coded pieces", hint=MAKE):
        about = unpack_json(read_npz(path / PIECES, "about")[0], _CodedPieces)
    codebook = Codebook(mean, centroids)
    if about.codebook != codebook.digest:
        raise InputError("lists codes of another codebook", path=path / PIECES, field="codebook", hint=MAKE)
    return codebook, about.videos


def _usable(index: Index) -> tuple[Codebook, list[CodedVideo]] | None:
    """Return the existing codes; None if they cannot be used."""
    if not has_codes(index):
        return None
    try:
        return _read(index)
    except InputError:
        return None


def _count_same(before: Sequence[CodedVideo], now: Sequence[CodedVideo]) -> int:
    """Return how many pieces at the beginning are the same as before."""
    n_pieces = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        n_pieces += new.n_pieces
    return n_pieces


def _blocks(path: OwnPath, codebook: Codebook, n_pieces: int) -> Iterator[Codes]:
    """Read the codes in the order of the pieces, some at a time."""
    for first in range(0, n_pieces, FILE_PIECES):
        file = path / f"{first // FILE_PIECES:04}.codes"
        length = min(FILE_PIECES, n_pieces - first)
        with refusing_damage(file, "is no file of codes", hint=MAKE), open_regular(reading(file)) as stream:
            size = stream.seek(0, 2)
            if size != length * codebook.n_bytes:
                raise InputError(f"has {size:,} bytes, expected {length * codebook.n_bytes:,}", path=file, hint=MAKE)
            stream.seek(0)
            for low in range(0, length, SCAN_PIECES):
                wanted = min(SCAN_PIECES, length - low) * codebook.n_bytes
                yield np.frombuffer(stream.read(wanted), dtype=np.uint8).reshape(-1, codebook.n_bytes)


def _select(blocks: Iterator[Codes], taken: npt.NDArray[np.bool_]) -> Iterator[Codes]:
    """Return the codes of some pieces."""
    first = 0
    for block in blocks:
        some = taken[first : first + len(block)]
        first += len(block)
        if some.any():
            yield block if some.all() else np.ascontiguousarray(block[some])


def _from_piece(index: Index, videos: Sequence[CodedVideo], first: int) -> Iterator[npt.NDArray[Any]]:
    """Read the pieces of videos one after the other, from a piece on."""
    begins = 0
    for video in videos:
        if begins + video.n_pieces > first:
            yield index.pieces(video.video_id)[max(first - begins, 0) :]
        begins += video.n_pieces


def _in_files(rows: Iterator[npt.NDArray[Any]]) -> Iterator[list[npt.NDArray[Any]]]:
    """Group pieces: :data:`FILE_PIECES` a group, the last perhaps fewer."""
    group: list[npt.NDArray[Any]] = []
    room = FILE_PIECES
    for some in rows:
        left = some
        while len(left) >= room:
            yield [*group, left[:room]]
            group, left, room = [], left[room:], FILE_PIECES
        if len(left):
            group.append(left)
            room -= len(left)
    if group:
        yield group


# --------------------------------------------------------------------------------------- faiss


def _new_codebook(index: Index, videos: Sequence[CodedVideo], seed: int) -> Codebook:
    """Find a codebook on pieces that are drawn evenly."""
    ends = np.cumsum([video.n_pieces for video in videos])
    n_pieces = int(ends[-1])
    rng = np.random.default_rng(seed)
    drawn = np.sort(rng.choice(n_pieces, size=min(TRAINED_ON, n_pieces), replace=False))
    video = np.searchsorted(ends, drawn, side="right")
    sample = np.empty((len(drawn), index.n_dimensions), dtype=np.float32)
    for number in np.unique(video).tolist():
        rows = video == number
        begins = int(ends[number]) - videos[number].n_pieces
        sample[rows] = index.pieces(videos[number].video_id)[drawn[rows] - begins]
    return train_codebook(sample, seed)


def _scan_of(codebook: Codebook, codes: Codes) -> Any:  # noqa: ANN401 - of an optional package
    """Return faiss's scan of codes (N, M / 2)."""
    faiss = _faiss()
    plain = faiss.IndexPQ(codebook.n_parts * PART_NUMBERS, codebook.n_parts, 4, faiss.METRIC_INNER_PRODUCT)
    plain.pq = codebook.quantiser()
    plain.is_trained = True
    plain.add_sa_codes(np.ascontiguousarray(codes))
    return faiss.IndexPQFastScan(plain)


def _refuse_too_large(n_bytes: int, path: OwnPath) -> None:
    """Refuse codes that do not fit into memory, before they are read."""
    free_mb = free_memory_mb()
    if free_mb is not None and n_bytes / 1e6 > free_mb:
        raise InputError(
            f"needs {n_bytes:,} bytes of memory for the codes, {free_mb:,} MB are free",
            path=path,
            hint="search it on several machines: truemoment search QUERY INDEX --engine ray",
        )


def _faiss() -> Any:  # noqa: ANN401 - an optional package
    try:
        import faiss  # noqa: PLC0415 - only a collection needs it
    except ModuleNotFoundError:
        raise MissingPackageError("faiss-cpu", "search", "the first stage of a search in many videos") from None
    return faiss
