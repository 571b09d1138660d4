"""Vectors of sentences: read by query id from any form, and what is damaged or hostile refused in one line."""

import pickle

import h5py
import msgspec
import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingFileError, MissingPackageError, UsageError
from truemoment.base.records import Queries
from truemoment.media.features.sentences import SentenceFile, SentenceStore, SentenceVectors, write_sentences

WIDTH = 6


def asked(*query_ids):
    return Queries(list(query_ids), ["film"] * len(query_ids), np.full(len(query_ids), 60.0), ["s"] * len(query_ids))


@pytest.fixture
def vectors():
    rng = np.random.default_rng(0)
    return {query_id: rng.standard_normal(WIDTH).astype(np.float32) for query_id in ("7", "20", "3")}


def write_hdf5(path, vectors):
    with h5py.File(path, "w") as file:
        for query_id, vector in vectors.items():
            file[query_id] = vector
    return path


def made(kind, tmp_path, vectors):
    """The same vectors in each form."""
    if kind == "memory":
        return SentenceVectors(vectors)
    path = tmp_path / ("s.npz" if kind == "npz" else "s.h5")
    if kind == "npz":
        write_sentences(path, list(vectors), np.stack(list(vectors.values())))
    elif kind == "hdf5 groups":
        write_hdf5(path, {f"{query_id}/clip": vector[None] for query_id, vector in vectors.items()})
    else:
        write_hdf5(
            path, {query_id: vector.reshape(int(kind[-1]) * (1,) + (-1,)) for query_id, vector in vectors.items()}
        )
    return SentenceFile(path)


KINDS = ("memory", "npz", "hdf5 0", "hdf5 1", "hdf5 2", "hdf5 groups")


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_gives_the_same_vectors_in_the_order_asked(kind, tmp_path, vectors):
    found = made(kind, tmp_path, vectors)
    assert isinstance(found, SentenceStore)
    assert found.n_dimensions == WIDTH
    got = found.vectors(asked("20", "7"))
    assert np.array_equal(got, np.stack([vectors["20"], vectors["7"]]))
    assert got.dtype == np.float32
    assert found.vectors(asked()).shape == (0, WIDTH)


@pytest.mark.parametrize("kind", KINDS)
def test_queries_without_a_vector_are_counted_and_the_first_named(kind, tmp_path, vectors):
    found = made(kind, tmp_path, vectors)
    with pytest.raises(InputError, match=r"no vector of 1 of 2 queries: '9'(;|$)"):
        found.vectors(asked("7", "9"))
    with pytest.raises(InputError, match=r"no vector of 1,200 of 1,201 queries: 'x0', 'x1', 'x2', \.\.\.(;|$)"):
        found.vectors(asked("7", *(f"x{n}" for n in range(1200))))


def test_ids_are_taken_as_they_are(tmp_path):
    # Names of videos may differ in a prefix and an ending; ids of queries are names of nothing.
    found = SentenceFile(write_hdf5(tmp_path / "s.h5", {"v_7.mp4": np.ones(3)}))
    for query_id in ("7", "v_7", "7.mp4"):
        with pytest.raises(InputError, match="no vector of 1 of 1 queries"):
            found.vectors(asked(query_id))


@pytest.mark.parametrize("dtype", ["float16", "float64", ">f4"])
def test_other_floating_point_numbers_are_converted(dtype, tmp_path, vectors):
    cast = {query_id: vector.astype(dtype) for query_id, vector in vectors.items()}
    got = SentenceFile(write_hdf5(tmp_path / "s.h5", cast)).vectors(asked("3"))
    assert np.array_equal(got[0], cast["3"].astype(np.float32))


def test_names_tell_versions_apart(tmp_path, vectors):
    first = SentenceFile(write_hdf5(tmp_path / "s.h5", vectors)).name
    assert first == SentenceFile(tmp_path / "s.h5").name
    other = SentenceFile(write_hdf5(tmp_path / "s.h5", vectors | {"7": vectors["7"] + 1})).name
    assert other != first
    assert first.startswith("hdf5:s.h5#")


def test_a_store_goes_to_other_processes(tmp_path, vectors):
    sent = pickle.dumps(SentenceFile(write_hdf5(tmp_path / "s.h5", vectors)))
    found = pickle.loads(sent)  # noqa: S301 - written the line before
    assert np.array_equal(found.vectors(asked("7"))[0], vectors["7"])


HOSTILE = {
    "features of words": (np.zeros((4, WIDTH), dtype=np.float32), r"got 4 rows \(features of words\?\)"),
    "two long axes": (np.zeros((2, 1, 3), dtype=np.float32), r"got shape \(2, 1, 3\), expected one vector"),
    "a number": (np.float32(3), r"got shape \(\), expected one vector"),
    "none": (np.zeros(0, dtype=np.float32), r"got shape \(0,\), expected one vector"),
    "text": (np.array([b"a", b"b"]), "expected float16, float32 or float64"),
    "whole numbers": (np.zeros(WIDTH, dtype=np.int64), "got numbers of type int64"),
    "complex": (np.zeros(WIDTH, dtype=np.complex64), "got numbers of type complex64"),
    "not finite": (np.array([1, np.nan], dtype=np.float32), "numbers that are not finite"),
    "beyond float32": (np.array([1e300, 2.0]), "numbers that are not finite"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_vector_is_refused(what, tmp_path):
    array, said = HOSTILE[what]
    path = write_hdf5(tmp_path / "s.h5", {"7": array})
    with pytest.raises(InputError, match=rf"s\.h5: field 7: .*{said}") as caught:
        SentenceFile(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=said):
        SentenceVectors({"7": np.asarray(array)})


@pytest.mark.parametrize("kind", ["memory", "hdf5 0"])
def test_another_width_is_refused(kind, tmp_path, vectors):
    with pytest.raises(InputError, match="got 2 numbers, expected 6 as in the others"):
        made(kind, tmp_path, vectors | {"9": np.ones(2, dtype=np.float32)}).vectors(asked("7", "9"))


def test_claims_beyond_belief_are_refused_before_they_are_read(tmp_path):
    with h5py.File(tmp_path / "s.h5", "w") as file:
        file.create_dataset("7", shape=(1 << 21,), dtype="f4", chunks=(1 << 16,))
    with pytest.raises(InputError, match=r"got 2,097,152 numbers"):
        SentenceFile(tmp_path / "s.h5")


def test_links_out_of_the_file_are_not_followed(tmp_path, vectors):
    write_hdf5(tmp_path / "other.h5", {"7": vectors["7"]})
    with h5py.File(tmp_path / "s.h5", "w") as file:
        file["3"] = vectors["3"]
        file["7"] = h5py.ExternalLink("other.h5", "/7")
    with pytest.raises(InputError, match="no vector of 1 of 1 queries: '7'"):
        SentenceFile(tmp_path / "s.h5").vectors(asked("7"))


@pytest.mark.parametrize("kind", ["npz", "hdf5 0"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_truncated_files_are_refused(kind, share, tmp_path, vectors):
    path = made(kind, tmp_path, vectors).path
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(InputError) as caught:
        SentenceFile(path).vectors(asked("7", "20", "3"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["npz", "hdf5 0"])
def test_flipped_bytes_are_read_or_refused_but_nothing_else_happens(kind, tmp_path, vectors):
    path = made(kind, tmp_path, vectors).path
    original = path.read_bytes()
    rng = np.random.default_rng(0)
    refusals = []
    for _ in range(60):
        data = bytearray(original)
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(data)
        try:
            SentenceFile(path).vectors(asked("7", "20", "3"))
        except InputError as error:
            refusals.append(str(error))
    assert refusals
    assert not any("\n" in line for line in refusals)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"vectors": np.ones((2, 3))}, "query_id"),
        ({"vectors": np.ones((2, 3)), "query_id": b'["a"]'}, r"got shape \(2, 3\) for 1 queries"),
        ({"vectors": np.ones((2, 3)), "query_id": b'["a", "a"]'}, "appears twice"),
        ({"vectors": np.ones((0, 3)), "query_id": b"[]"}, "has no sentence vectors"),
        ({"vectors": np.ones((2, 3)), "query_id": b'{"a": 1}'}, "array"),
        ({"vectors": np.ones(2), "query_id": b'["a", "b"]'}, r"got shape \(2,\)"),
    ],
)
def test_npz_whose_parts_do_not_fit_is_refused(members, said, tmp_path):
    arrays = {
        name: np.frombuffer(value, dtype=np.uint8) if isinstance(value, bytes) else value
        for name, value in members.items()
    }
    np.savez(tmp_path / "s.npz", **arrays)
    with pytest.raises(InputError, match=rf"s\.npz: .*{said}"):
        SentenceFile(tmp_path / "s.npz")


def test_no_pickle_is_loaded(tmp_path):
    query_id = np.frombuffer(msgspec.json.encode(["a"]), dtype=np.uint8)
    np.savez(tmp_path / "s.npz", vectors=np.array([[object()]], dtype=object), query_id=query_id)
    with pytest.raises(InputError, match="contains Python objects"):
        SentenceFile(tmp_path / "s.npz")


def test_paths_that_are_none(tmp_path):
    for name in ("s.h5", "s.npz"):
        with pytest.raises(MissingFileError, match="no such file"):
            SentenceFile(tmp_path / name)
    with pytest.raises(UsageError, match=r"expected a file \.hdf5, \.h5, \.hdf, \.npz"):
        SentenceFile(tmp_path / "s.txt")
    with pytest.raises(UsageError, match=r"ends in \.npz"):
        write_sentences(tmp_path / "s.h5", ["a"], np.ones((1, 2)))
    with pytest.raises(InputError, match="appears twice"):
        write_sentences(tmp_path / "s.npz", ["a", "a"], np.ones((2, 2)))
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_told_in_one_line(tmp_path, vectors, monkeypatch):
    path = write_hdf5(tmp_path / "s.h5", vectors)
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingPackageError, match="h5py"):
        SentenceFile(path)
