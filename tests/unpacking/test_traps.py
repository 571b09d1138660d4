"""Packed files that unpack to far more than they are, as a trap does, are refused before they fill the memory."""

import gzip
import re
import resource
import tracemalloc
import zipfile
import zlib

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from truemoment import Scores, read_annotations
from truemoment.base.boundary.files import iterate_lines, read_bytes, read_text
from truemoment.base.errors import InputError
from truemoment.data.formats import read_rows
from truemoment.data.language.vectors import read_glove
from truemoment.media.features import FolderStore, HDF5Store, SentenceFile, read_features

from ..thorough import quick_are

pytestmark = pytest.mark.slow


FREE_BYTES, FREE_TEXT_BYTES = 1 << 20, 1 << 17
"""What may be unpacked in any case, for these tests: little, so that a trap is made and refused in no time."""

UNPACKED = 1 << 24
"""The traps hold 16 MB in less than 80 kB."""


@pytest.fixture(autouse=True)
def _little_is_free(monkeypatch):
    monkeypatch.setattr("truemoment.base.boundary.arrays.FREE_BYTES", FREE_BYTES)
    monkeypatch.setattr("truemoment.media.features.hdf5.FREE_BYTES", FREE_BYTES)
    monkeypatch.setattr("truemoment.data.formats.parquet.FREE_BYTES", FREE_BYTES)
    monkeypatch.setattr("truemoment.data.formats.parquet.FREE_TEXT_BYTES", FREE_TEXT_BYTES)
    monkeypatch.setattr("truemoment.base.boundary.unpacking.FREE_TEXT_BYTES", FREE_TEXT_BYTES)


def refused(read, *path):
    """Read a trap; return what is said, and how many bytes it says were unpacked, or would have been."""
    with pytest.raises(InputError) as caught:
        read(*path)
    said = str(caught.value)
    return said, int(re.search(r"unpacks to ([\d,]+) bytes from", said)[1].replace(",", ""))


# ------------------------------------------------------------------------------------------------- ZIP


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("trap") / "trap.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("frames.npy", "w") as stream:
        for _ in range(UNPACKED >> 20):
            stream.write(bytes(1 << 20))
    return path


@pytest.mark.parametrize(
    "read", [read_features, SentenceFile, Scores.load, lambda path: FolderStore(path.parent)["trap"]]
)
def test_an_archive_that_swells_is_refused_before_it_is_unpacked(read, archive):
    tracemalloc.start()
    said, n_bytes = refused(read, archive)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_bytes == UNPACKED
    assert said.startswith(str(archive.parent))
    assert peak < 1e6


def test_what_is_packed_tightly_and_small_is_taken(tmp_path):
    np.savez_compressed(tmp_path / "v.npz", features=np.ones((1000, 200), dtype=np.float32))  # 800 kB in 1 kB
    assert FolderStore(tmp_path)["v"].shape == (1000, 200)


def test_what_is_large_and_packed_as_numbers_are_is_taken(tmp_path):
    rows = np.random.default_rng(0).random((5000, 100), dtype=np.float32)  # 2 MB
    np.savez_compressed(tmp_path / "v.npz", features=rows)
    assert np.array_equal(FolderStore(tmp_path)["v"], rows)


# ------------------------------------------------------------------------------------------------ HDF5


@pytest.mark.parametrize(
    ("rows", "chunk_rows"),
    [(10, 1 << 17), (1 << 17, 1 << 11)],  # a chunk far larger than what is in it; many chunks of zeros
)
def test_an_hdf5_file_that_swells_is_refused_before_it_is_unpacked(rows, chunk_rows, tmp_path):
    path = tmp_path / "trap.h5"
    with h5py.File(path, "w") as file:
        layout = {"maxshape": (None, 128), "chunks": (chunk_rows, 128), "compression": "gzip"}
        table = file.create_dataset("v", shape=(rows, 128), dtype="f4", **layout)
        for start in range(0, rows, chunk_rows):
            table.id.write_direct_chunk((start, 0), zlib.compress(bytes(chunk_rows * 128 * 4), 9))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    said, n_bytes = refused(lambda: HDF5Store(path)["v"])
    assert said.startswith(f"{path}: field v: ")
    assert n_bytes >= UNPACKED
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB: HDF5 takes memory of its own


def test_hdf5_features_packed_as_people_pack_them_are_taken(tmp_path):
    rows = np.random.default_rng(0).random((5000, 100), dtype=np.float32)  # 2 MB
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("v", data=rows, compression="gzip")
    assert np.array_equal(HDF5Store(tmp_path / "f.h5")["v"], rows)


# --------------------------------------------------------------------------------------------- Parquet


def predictions(n_rows, n_moments, text):
    """Make a table in which every row and every moment is the same."""
    n = n_rows * n_moments
    flat = pa.StructArray.from_arrays([pa.array(np.ones(n))] * 2, names=["start_s", "end_s"])
    offsets = pa.array(np.arange(n_rows + 1, dtype=np.int64) * n_moments)
    ids = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_rows, dtype=np.int32)), [text])
    return pa.table({"query_id": ids, "moments": pa.LargeListArray.from_arrays(offsets, flat)})


@pytest.mark.parametrize(
    ("n_rows", "n_moments", "text"), [(1 << 20, 1, "a"), (1, 1 << 22, "a"), (500, 1, "a" * 100_000)]
)
def test_a_parquet_file_that_swells_is_refused_before_it_is_read(n_rows, n_moments, text, tmp_path):
    path = tmp_path / "p.parquet"
    pq.write_table(predictions(n_rows, n_moments, text), path, compression="zstd", store_schema=False)
    said, n_bytes = refused(read_rows, path)
    assert said.startswith(f"{path}: unpacks to ")
    assert n_bytes > 4e7


# ------------------------------------------------------------------------------------------------ gzip

READERS = {
    "bytes": (bytes(1000), read_bytes),
    "text": (b"x" * 1000, read_text),
    "one line without an end": (bytes(1000), lambda path: list(iterate_lines(path))),
    "JSON Lines": (b'{"query_id":"a","moments":[[0,1,1],[0,1,1],[0,1,1]]}\n', read_rows),
    "CSV": (b"a,1,2\n", read_rows),
    "annotations": (b'{"video_id":"v","sentence":"s","moments":[[0,1]]}\n', read_annotations),
    "word vectors": (b"word" + b" 1" * 1000 + b"\n", read_glove),
}


@pytest.mark.parametrize("case", quick_are(READERS.keys() - {"JSON Lines"}, list(READERS)))
def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(case, tmp_path):
    text, read = READERS[case]
    path = tmp_path / "trap.csv.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(b"query_id,start,end\n" if case == "CSV" else b"")
        block = text * (100_000 // len(text))
        for _ in range(UNPACKED // len(block)):
            stream.write(block)
    said, n_bytes = refused(read, path)
    assert said.startswith(f"{path}: unpacks to ")
    assert n_bytes < UNPACKED / 3  # 200 times the block that is read ahead, which from Python 3.12 on is the whole trap


def test_a_gzip_bomb_behind_an_honest_beginning_is_refused(tmp_path):
    path = tmp_path / "trap.gz"
    honest = np.random.default_rng(0).bytes(10_000)
    path.write_bytes(gzip.compress(honest) + gzip.compress(bytes(UNPACKED)))
    said, n_bytes = refused(read_bytes, path)
    assert said.startswith(f"{path}: unpacks to ")
    assert n_bytes < UNPACKED / 3


def test_a_large_gzip_file_that_is_packed_as_text_is_is_taken(tmp_path):
    lines = b"".join(b'{"query_id":"%d","moments":[[%d,%d,0.5]]}\n' % (k, k, k + 7) for k in range(10_000))
    path = tmp_path / "p.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    assert len(lines) > 2 * FREE_TEXT_BYTES
    assert read_bytes(path) == lines
    assert b"".join(iterate_lines(path)) == lines
