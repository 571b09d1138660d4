"""Damaged files of arrays: whatever an NPY header says, every loader refuses the file by its name, in one line."""

import io
import os
import struct
import zipfile
from pathlib import Path

import msgspec
import numpy as np
import pytest

from truemoment import Annotations, Predictions, Scores
from truemoment.base.boundary.arrays import map_npy, read_npz, write_npz
from truemoment.base.errors import InputError
from truemoment.evaluation.evaluate import evaluate
from truemoment.media.features import (
    Features,
    FolderStore,
    OwnStore,
    SentenceFile,
    read_features,
    write_features,
    write_sentences,
    write_store,
)

HEADERS = {
    "no header": b"{",
    "absurd shape": b"{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976, 8), }",
    "shape beyond 64 bits": b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999999,), }",
    "shape beyond 64 bits, and 0": b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 99999999999999999999), }",
    "shape below 0": b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 8), }",
    "more than there is": b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 8), }",
    "70 axes": b"{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }" % (b"1," * 70),
    "text of 8 GB": b"{'descr': '<U2000000000', 'fortran_order': False, 'shape': (3,), }",
    "nothing, often": b"{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,), }",
    "Python objects": b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "parentheses": b"(" * 5000,
    "signs": b"-" * 9000 + b"1",
    "a number that runs into a word": b"{'descr': '<f8', 'fortran_order': False, 'shape': (0if 1else 2,), }",
    "too long": b"{" + b" " * 20_000 + b"}",
}


def npy(header):
    """Make an NPY file of a header and 64 bytes of numbers."""
    header += b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(64)


FEATURES = Features({"v": np.ones((5, 4), dtype=np.float32)}, 2.0)
ROWS = [("v#0", "v", 30.0, "a door opens", 2.0, 5.0)]


def make_scores(folder):
    evaluate(Annotations.from_rows(ROWS), Predictions.from_lists({"v#0": [(2.0, 5.0)]})).save(folder / "s.npz")
    return folder / "s.npz"


def make_features(folder):
    write_features(folder / "f.npz", FEATURES)
    return folder / "f.npz"


def make_sentences(folder):
    write_sentences(folder / "q.npz", ["v#0"], np.ones((1, 8), dtype=np.float32))
    return folder / "q.npz"


def make_archive(folder):
    np.savez_compressed(folder / "v.npz", features=FEATURES["v"])
    return folder / "v.npz"


def make_array(folder):
    np.save(folder / "v.npy", FEATURES["v"])
    return folder / "v.npy"


def make_store(folder):
    write_store(folder / "own", FEATURES)
    return folder / "own" / "rows.npy"


LOADERS = {
    "saved scores": (make_scores, Scores.load),
    "features": (make_features, read_features),
    "sentences": (make_sentences, SentenceFile),
    "a folder's NPZ": (make_archive, lambda path: FolderStore(path.parent)["v"]),
    "a folder's NPY": (make_array, lambda path: FolderStore(path.parent)["v"]),
    "our own format": (make_store, lambda path: OwnStore(path.parent)),
}


def with_member(path, name, content):
    """Put another file in the place of one in an archive."""
    with zipfile.ZipFile(path) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for one, data in (members | {name: content}).items():
            archive.writestr(one, data)


def refused(load, path):
    with pytest.raises(InputError) as caught:
        load(path)
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert said.startswith(str(path.parent))  # the store or the file
    return said


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("kind", LOADERS)
def test_a_damaged_header_is_refused(kind, header, tmp_path):
    make, load = LOADERS[kind]
    path = make(tmp_path)
    if path.suffix == ".npy":
        path.write_bytes(npy(HEADERS[header]))
        refused(load, path)
        return
    original = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    for name in names:
        path.write_bytes(original)
        with_member(path, name, npy(HEADERS[header]))
        refused(load, path)


@pytest.mark.parametrize("content", [b"not JSON", b"{", b"[" * 100_000, b'{"schema": 3}', b"\xff"])
def test_saved_scores_with_a_damaged_description_are_refused(content, tmp_path):
    path = make_scores(tmp_path)
    stream = io.BytesIO()
    np.save(stream, np.frombuffer(content, dtype=np.uint8))
    with_member(path, "header.npy", stream.getvalue())
    assert refused(Scores.load, path).startswith(f"{path}: is not a file of saved scores (")


def test_an_array_that_ends_before_its_size_is_refused(tmp_path):
    # The archive says that there are 100 numbers, and holds 10 with a right checksum: the rest would be any memory.
    path = tmp_path / "a.npz"
    np.savez(path, x=np.ones(10))
    long = io.BytesIO()
    np.save(long, np.ones(100))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", long.getvalue()[:208])
        archive.filelist[0].file_size = 928
    with pytest.raises((InputError, zipfile.BadZipFile, EOFError)):
        read_npz(path, "x")


def test_an_array_that_claims_more_bytes_than_its_file_has_is_refused(tmp_path):
    whole = io.BytesIO()
    np.save(whole, np.ones(100))
    (tmp_path / "a.npy").write_bytes(whole.getvalue()[:-8])
    with pytest.raises(InputError, match=r"a\.npy: claims 800 bytes, has 792$"):
        map_npy(tmp_path / "a.npy")
    (tmp_path / "a.npy").write_bytes(whole.getvalue())
    np.testing.assert_array_equal(map_npy(tmp_path / "a.npy"), np.ones(100))


def test_another_version_of_npy_is_named(tmp_path):
    whole = io.BytesIO()
    np.lib.format.write_array(whole, np.ones(10), version=(3, 0))  # NumPy writes it for names that are not Latin-1
    (tmp_path / "a.npy").write_bytes(whole.getvalue())
    with pytest.raises(InputError, match=r"got an array of NPY version 3\.0, expected 1\.0 or 2\.0$"):
        map_npy(tmp_path / "a.npy")


def test_arrays_come_back_as_they_were_written(tmp_path):
    arrays = {
        "rows": np.arange(6.0).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "one": np.array(2.5),
        "none": np.zeros((0, 4), dtype=np.float32),
        "bytes": np.frombuffer(msgspec.json.encode(["a"]), dtype=np.uint8),
    }
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **arrays)
        for array, name in zip(read_npz(tmp_path / "a.npz", *arrays), arrays, strict=True):
            np.testing.assert_array_equal(array, arrays[name], strict=True)
            assert array.flags.writeable  # as numpy.load gives them


def test_arrays_can_be_written_to_a_device():
    write_npz(Path(os.devnull), x=np.ones(3))  # its place is 0 after any write, which the end of an archive cannot be
    assert Path(os.devnull).is_char_device()


def test_a_pipe_gets_whole_arrays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
    write_npz(tmp_path / "pipe", x=np.ones(3))  # fewer bytes than a pipe takes before they are read
    with np.load(io.BytesIO(os.read(reader, 1 << 16))) as arrays:
        np.testing.assert_array_equal(arrays["x"], np.ones(3))
    os.close(reader)
