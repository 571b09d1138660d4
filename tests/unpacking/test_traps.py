"""Packed files that unpack to far more than they are, as a trap does, are refused before they fill the memory."""

import gzip
import tracemalloc
import zipfile

import numpy as np
import pytest

from truemoment import Scores, read_own_annotations
from truemoment.exceptions import InputError
from truemoment.features import FolderStore, SentenceFile, read_features
from truemoment.files import iterate_lines, read_bytes, read_text
from truemoment.io import read_rows
from truemoment.language.vectors import read_glove

FREE_BYTES = 1 << 20
"""What may be unpacked in any case, for these tests: a megabyte in place of many, so that a trap is made in no time."""

UNPACKED = 1 << 26
"""The traps hold 64 MB in less than 300 kB."""


@pytest.fixture(autouse=True)
def _a_megabyte_is_free(monkeypatch):
    monkeypatch.setattr("truemoment.arrays.FREE_BYTES", FREE_BYTES)
    monkeypatch.setattr("truemoment.unpacking.FREE_TEXT_BYTES", FREE_BYTES)


def refused(read, path):
    """Read a trap; return what is said, and the most memory it took."""
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            read(path)
        return str(caught.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# ------------------------------------------------------------------------------------------------- ZIP


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("trap") / "trap.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("frames.npy", "w") as stream:
        for _ in range(UNPACKED >> 20):
            stream.write(bytes(1 << 20))
    return path


@pytest.mark.parametrize("read", [read_features, SentenceFile, Scores.load, lambda path: FolderStore(path.parent)["trap"]])
def test_an_archive_that_swells_is_refused_before_it_is_unpacked(read, archive):
    said, peak = refused(read, archive)
    assert "unpacks to 67,108,864 bytes from " in said
    assert "trap" in said
    assert peak < 1e6


def test_what_is_packed_tightly_and_small_is_taken(tmp_path):
    np.savez_compressed(tmp_path / "v.npz", features=np.ones((1000, 200), dtype=np.float32))  # 800 kB in 1 kB
    assert FolderStore(tmp_path)["v"].shape == (1000, 200)


def test_what_is_large_and_packed_as_numbers_are_is_taken(tmp_path):
    rows = np.random.default_rng(0).random((5000, 100), dtype=np.float32)  # 2 MB
    np.savez_compressed(tmp_path / "v.npz", features=rows)
    assert np.array_equal(FolderStore(tmp_path)["v"], rows)


# ------------------------------------------------------------------------------------------------ gzip

LINE = b'{"query_id":"a","moments":[[0,1,1]]}\n'
READERS = {
    "bytes": (bytes(1000), read_bytes),
    "text": (b"x" * 1000, read_text),
    "one line without an end": (bytes(1000), lambda path: list(iterate_lines(path))),
    "JSON Lines": (LINE, read_rows),
    "CSV": (b"a,1,2\n", read_rows),
    "annotations": (b'{"video_id":"v","sentence":"s","moments":[[0,1]]}\n', read_own_annotations),
    "word vectors": (b"word 1 2 3\n", read_glove),
}


@pytest.mark.parametrize("case", READERS)
def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(case, tmp_path):
    text, read = READERS[case]
    path = tmp_path / "trap.csv.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(b"query_id,start,end\n" if case == "CSV" else b"")
        block = text * (100_000 // len(text))
        for _ in range(UNPACKED // len(block)):
            stream.write(block)
    said, peak = refused(read, path)
    assert said.startswith(f"{path}: unpacks to ")
    assert peak < 40 * FREE_BYTES  # rows as Python objects are up to 34 times as large as their text


def test_a_gzip_bomb_behind_an_honest_beginning_is_refused(tmp_path):
    path = tmp_path / "trap.gz"
    honest = np.random.default_rng(0).bytes(10_000)
    path.write_bytes(gzip.compress(honest) + gzip.compress(bytes(UNPACKED)))
    said, peak = refused(read_bytes, path)
    assert said.startswith(f"{path}: unpacks to ")
    assert peak < 10 * FREE_BYTES


def test_a_large_gzip_file_that_is_packed_as_text_is_is_taken(tmp_path):
    lines = b"".join(b'{"query_id":"%d","moments":[[%d,%d,0.5]]}\n' % (k, k, k + 7) for k in range(60_000))
    path = tmp_path / "p.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    assert len(lines) > 2 * FREE_BYTES
    assert read_bytes(path) == lines
    assert b"".join(iterate_lines(path)) == lines
