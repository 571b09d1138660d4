"""Stores of files: what the field ships is read as it is, and what is damaged or hostile is refused in one line."""

import io
import pickle
import zipfile

import h5py
import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingFileError, MissingPackageError, UsageError
from truemoment.media.features import (
    FeatureStore,
    FolderStore,
    HDF5Store,
    OwnStore,
    write_features,
    write_store,
)
from truemoment.searching.opening import open_features


def write_hdf5(path, tables):
    with h5py.File(path, "w") as file:
        for name, table in tables.items():
            file[name] = table
    return path


def write_folder(path, tables, *, key=None):
    path.mkdir(parents=True)
    for name, table in tables.items():
        if key is None:
            np.save(path / f"{name}.npy", table)
        else:
            np.savez(path / f"{name}.npz", **{key: table})
    return path


def made(kind, tmp_path, store, tables):
    """The same features in each form."""
    path = tmp_path / "made"
    if kind == "hdf5":
        return write_hdf5(path.with_suffix(".hdf5"), tables)
    if kind == "hdf5 groups":
        return write_hdf5(path.with_suffix(".h5"), {f"{name}/c3d_features": table for name, table in tables.items()})
    if kind == "npy":
        return write_folder(path, tables)
    if kind.startswith("npz of"):
        return write_folder(path, tables, key=kind.removeprefix("npz of "))
    if kind == "npz":
        write_features(path.with_suffix(".npz"), store)
        return path.with_suffix(".npz")
    write_store(path, store)
    return path


KINDS = ("hdf5", "hdf5 groups", "npy", "npz of features", "npz of x", "npz", "own")


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_gives_the_same_rows(kind, tmp_path, store, tables, annotations):
    states_rate = kind in ("npz", "own")
    path = made(kind, tmp_path, store, tables)
    found = open_features(path, annotations, fps=None if states_rate else 2.0)
    assert isinstance(found, FeatureStore)
    assert (sorted(found), len(found), found.n_dimensions, found.fps) == (["a", "b", "c"], 3, 4, 2.0)
    for name, table in tables.items():
        assert np.array_equal(found[name], table)
        assert found[name].dtype == np.float32
        assert np.array_equal(found.edges_s(name, 77.0), store.edges_s(name, 77.0))
    assert "x" not in found
    assert 3 not in found
    with pytest.raises(InputError, match="no features of video 'x'"):
        found["x"]


@pytest.mark.parametrize("kind", ["hdf5", "npy", "npz of features"])
def test_without_a_rate_rows_cover_the_video(kind, tmp_path, store, tables):
    found = open_features(made(kind, tmp_path, store, tables))
    assert found.fps is None
    assert found.edges_s("c", 50.0) == pytest.approx([2.0 * i for i in range(26)], abs=1e-12)


def test_an_index_json_of_another_tool_is_passed_over(tmp_path, store, tables):
    path = made("npy", tmp_path, store, tables)
    (path / "index.json").write_text('{"videos": ["a", "b"]}')
    assert sorted(open_features(path)) == ["a", "b", "c"]


@pytest.mark.parametrize("kind", KINDS)
def test_names_tell_versions_apart(kind, tmp_path, store, tables):
    path = made(kind, tmp_path, store, tables)
    name = open_features(path).name
    assert name == open_features(path).name
    file = path if path.is_file() else next(one for one in sorted(path.iterdir()) if one.suffix in (".npy", ".npz"))
    data = bytearray(file.read_bytes())
    assert f":{path.name}#" in name
    data[-100 if file.suffix == ".npz" else -1] ^= 1
    file.write_bytes(data)
    try:
        assert open_features(path).name != name
    except InputError:
        assert kind == "npz"  # it is read at once, and the archive has checksums of its own


@pytest.mark.parametrize("dtype", ["float16", "float64", ">f4", ">f8"])
@pytest.mark.parametrize("kind", ["hdf5", "npy", "npz of features"])
def test_other_floating_point_numbers_are_converted(kind, dtype, tmp_path, store, tables):
    cast = {name: table.astype(dtype) for name, table in tables.items()}
    found = open_features(made(kind, tmp_path, store, cast))
    assert found["a"].dtype == np.dtype("float32").newbyteorder("=")
    assert np.array_equal(found["a"], cast["a"].astype(np.float32))


@pytest.mark.parametrize("shape", [(25, 1, 1, 4), (1, 25, 4), (25, 4, 1, 1)])
def test_axes_of_length_one_are_left_out(shape, tmp_path, tables):
    path = write_hdf5(tmp_path / "f.h5", {"c": tables["c"].reshape(shape)})
    assert np.array_equal(HDF5Store(path)["c"], tables["c"])


def test_one_row_is_a_video(tmp_path):
    path = write_folder(tmp_path / "f", {"v": np.ones((1, 4), dtype=np.float32), "w": np.ones((1, 1, 4))})
    assert [FolderStore(path)[name].shape for name in "vw"] == [(1, 4), (1, 4)]


def test_prefix_and_ending_of_a_name_do_not_matter_unless_two_could_be_meant(tmp_path, tables):
    store = HDF5Store(
        write_hdf5(tmp_path / "f.h5", {"v_abc.mp4": tables["a"], "v_d": tables["b"], "d.mp4": tables["c"]})
    )
    for name in ("v_abc.mp4", "abc", "v_abc", "abc.avi"):
        assert np.array_equal(store[name], tables["a"])
    assert np.array_equal(store["v_d"], tables["b"])  # its own name
    assert "d" not in store
    with pytest.raises(InputError, match=r"no features of video 'd'; .*'d.mp4' and 'v_d' could be meant"):
        store["d"]


def refused(open_and_read):
    """The one line that says what is wrong."""
    with pytest.raises((InputError, MissingFileError)) as caught:
        open_and_read()
    line = str(caught.value)
    assert "\n" not in line
    return line


class Bomb:
    def __reduce__(self):
        raise AssertionError("must not be pickled")


HOSTILE = {
    "one axis": (np.zeros(5, dtype=np.float32), "got shape (5,)"),
    "three long axes": (np.zeros((2, 3, 4), dtype=np.float32), "got shape (2, 3, 4)"),
    "no row": (np.zeros((0, 4), dtype=np.float32), ""),
    "no number": (np.zeros((4, 0), dtype=np.float32), ""),
    "text": (np.array([[b"a", b"b"]]), "expected float16, float32 or float64"),
    "whole numbers": (np.zeros((5, 4), dtype=np.int64), "got numbers of type int64"),
    "complex": (np.zeros((5, 4), dtype=np.complex64), "got numbers of type complex64"),
    "fields": (np.zeros((5, 4), dtype=[("x", "f4")]), "got numbers of type [('x', '<f4')]"),
    "not finite": (np.array([[1, 2], [np.nan, 1], [np.inf, 1]], dtype=np.float32), "2 of 3 rows have numbers"),
    "beyond float32": (np.array([[1e300, 2.0]]), "1 of 1 rows have numbers that are not finite"),
    # 2e19 squared is 4e38; float32 ends at 3.4e38.
    "squares beyond float32": (np.array([[1.0, -2e19], [1.0, 2.0]]), "1 of 2 rows have numbers whose squares overflow"),
}


@pytest.mark.parametrize("kind", ["hdf5", "hdf5 groups", "npy", "npz of features"])
@pytest.mark.parametrize("what", HOSTILE)
def test_what_are_no_rows_is_refused(kind, what, tmp_path, store):
    table, said = HOSTILE[what]
    line = refused(lambda: open_features(made(kind, tmp_path, store, {"v": table}))["v"])
    if kind == "hdf5 groups" and what in ("one axis", "three long axes"):
        said = "got a group of 0 tables, expected one"
    assert said in line


@pytest.mark.parametrize("kind", ["hdf5", "npy", "npz of features"])
def test_another_width_is_refused(kind, tmp_path, store, tables):
    path = made(kind, tmp_path, store, tables | {"d": np.ones((5, 3), dtype=np.float32)})
    assert "got 3 numbers a row, expected 4 as in the others" in refused(lambda: open_features(path)["d"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_files_are_refused(kind, share, tmp_path, store, tables):
    path = made(kind, tmp_path, store, tables)
    for file in [path] if path.is_file() else sorted(path.iterdir()):
        file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])

    def read_all():
        found = open_features(path)
        for name in found:
            found[name]

    refused(read_all)


@pytest.mark.parametrize("kind", KINDS)
def test_flipped_bytes_are_read_or_refused_but_nothing_else_happens(kind, tmp_path, store, tables):
    path = made(kind, tmp_path, store, tables)
    file = path if path.is_file() else sorted(path.iterdir())[0]
    original = file.read_bytes()
    rng = np.random.default_rng(0)
    n_refused = 0
    for trial in range(60):
        data = bytearray(original)
        limit = len(data) if trial % 2 else 200
        for at in rng.integers(limit, size=int(rng.integers(1, 20))).tolist():
            data[at] = int(rng.integers(256))
        file.write_bytes(data)
        try:
            found = open_features(path)
            for name in found:
                assert np.isfinite(found[name]).all()
            del found
        except (InputError, MissingFileError, UsageError) as error:
            assert "\n" not in str(error)  # noqa: PT017 - either outcome is right
            n_refused += 1
    assert n_refused > 0


def test_pickles_are_not_loaded(tmp_path):
    folder = tmp_path / "f"
    folder.mkdir()
    np.save(folder / "object.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.savez(folder / "packed.npz", features=np.array([{"a": 1}], dtype=object))
    (folder / "plain.npy").write_bytes(pickle.dumps([1.0]))
    np.save(folder / "good.npy", np.ones((2, 2), dtype=np.float32))
    store = FolderStore(folder)
    assert store["good"].shape == (2, 2)
    for name in ("object", "packed", "plain"):
        refused(lambda name=name: store[name])


def test_huge_claims_are_refused_before_memory_is_taken(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:  # a few kilobytes that say they are 2 TB
        file.create_dataset("v", shape=(1 << 30, 512), dtype="f4", chunks=(1024, 512))
        file["w"] = np.ones((2, 512), dtype=np.float32)
    assert "unpacks to 2,199,025,352,704 bytes from 0, expected" in refused(lambda: HDF5Store(tmp_path / "f.h5")["v"])

    folder = tmp_path / "f"
    folder.mkdir()
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": (1 << 28, 8)})
    (folder / "v.npy").write_bytes(head.getvalue() + bytes(64))
    with zipfile.ZipFile(folder / "w.npz", "w") as archive:
        archive.writestr("features.npy", head.getvalue() + bytes(64))
    np.save(folder / "x.npy", np.ones((2, 8), dtype=np.float32))
    for name in ("v", "w"):
        refused(lambda name=name: FolderStore(folder)[name])


def test_nothing_outside_an_hdf5_file_is_read(tmp_path, tables):
    secret = write_hdf5(tmp_path / "secret.h5", {"v": tables["a"]})
    (tmp_path / "raw.bin").write_bytes(tables["a"].tobytes())
    layout = h5py.VirtualLayout(shape=tables["a"].shape, dtype="f4")
    layout[...] = h5py.VirtualSource(secret, "v", shape=tables["a"].shape)
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["good"] = tables["b"]
        file["linked"] = h5py.ExternalLink("secret.h5", "/v")
        file["soft"] = h5py.SoftLink("/good")
        file["group/inside"] = h5py.ExternalLink("secret.h5", "/v")
        file.create_virtual_dataset("virtual", layout)
        file.create_dataset("raw", tables["a"].shape, "f4", external=[("raw.bin", 0, h5py.h5f.UNLIMITED)])
    store = HDF5Store(tmp_path / "f.h5")
    assert np.array_equal(store["good"], tables["b"])
    assert "linked" not in store
    assert "soft" not in store
    assert store.notes == ("not followed, since they may lead out of the file: 2 links",)
    assert "got a group of 0 tables and 1 links, which are not followed" in refused(lambda: store["group"])
    for name in ("virtual", "raw"):
        assert "its numbers lie in other files, which are not read" in refused(lambda name=name: store[name])


def test_a_group_of_two_tables_is_ambiguous(tmp_path, tables):
    path = write_hdf5(tmp_path / "f.h5", {"v/x": tables["a"], "v/y": tables["a"], "w": tables["b"]})
    assert "got a group of 2 tables, expected one" in refused(lambda: HDF5Store(path)["v"])
    path = write_hdf5(tmp_path / "g.h5", {"v/x": tables["a"], "v/times": np.arange(60.0)})  # one table beside times
    assert np.array_equal(HDF5Store(path)["v"], tables["a"])


def test_an_hdf5_file_goes_to_another_process(tmp_path, tables):
    store = HDF5Store(write_hdf5(tmp_path / "f.h5", tables))
    again = pickle.loads(pickle.dumps(store))  # noqa: S301 - our own
    assert np.array_equal(again["a"], tables["a"])
    store.close()
    assert np.array_equal(store["b"], tables["b"])


def test_without_h5py_the_package_is_named(tmp_path, tables, monkeypatch):
    path = write_hdf5(tmp_path / "f.h5", tables)
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingPackageError, match=r"h5py: pip install 'truemoment\[models\]'"):
        open_features(path)


def test_files_of_other_kinds_in_a_folder_are_noted(tmp_path, tables):
    for name in ("v_a.npy", "v_b.npy"):
        np.save(tmp_path / name, next(iter(tables.values())))
    (tmp_path / "v_c.pt").write_bytes(b"x")
    assert FolderStore(tmp_path).notes == ("left out, which is no NPY or NPZ: v_c.pt",)


def test_a_folder_with_a_video_twice_is_refused(tmp_path, tables):
    folder = write_folder(tmp_path / "f", tables)
    np.savez(folder / "a.npz", features=tables["a"])
    assert "'a' is there as NPY and as NPZ" in refused(lambda: FolderStore(folder))


def test_an_archive_of_several_arrays_needs_one_called_features(tmp_path, tables):
    folder = tmp_path / "f"
    folder.mkdir()
    np.savez(folder / "a.npz", features=tables["a"], times=np.arange(60.0))
    np.savez(folder / "b.npz", x=tables["b"], y=tables["b"])
    store = FolderStore(folder)
    assert np.array_equal(store["a"], tables["a"])
    assert "has 'x', 'y', expected 'features' or one array only" in refused(lambda: store["b"])


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("nothing.hdf5", MissingFileError, "no such file"),
        ("nothing", MissingFileError, "features are FILE.hdf5"),
        ("nothing.npz", MissingFileError, "no such file"),
        ("text.txt", UsageError, "unknown kind of features"),
        ("empty", InputError, "has no features"),
        ("folder.h5", InputError, "has no features"),
        ("perception:high", UsageError, "expected perception:Q with a quality Q from 0 to 1"),
        ("perception:2", UsageError, "from 0 to 1"),
        ("perception:-1", UsageError, "from 0 to 1"),
    ],
)
def test_what_names_no_features_is_told(text, error, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder.h5").mkdir()
    with pytest.raises(error) as caught:
        open_features(text)
    assert said in str(caught.value)


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_rates_are_refused(fps, tmp_path, tables):
    with pytest.raises(InputError, match="fps"):
        open_features(write_folder(tmp_path / "f", tables), fps=fps)


@pytest.mark.parametrize("kind", ["npz", "own"])
def test_a_rate_other_than_the_stated_one_is_refused(kind, tmp_path, store, tables):
    path = made(kind, tmp_path, store, tables)
    assert open_features(path, fps=2.0).fps == 2.0
    with pytest.raises(UsageError, match="got 3 rows per second, but it states 2"):
        open_features(path, fps=3.0)


def test_features_of_none_of_the_videos_are_refused_at_once(tmp_path, tables, annotations):
    path = write_folder(tmp_path / "f", {"other": tables["a"]})
    with pytest.raises(
        InputError, match=r"has no features of any video of own/all, e\.g\. of 'a'; its videos have names such as"
    ):
        open_features(path, annotations)


class TestOwnFormat:
    def test_half_precision_halves_the_file_and_keeps_three_digits(self, tmp_path, store):
        write_store(tmp_path / "full", store)
        write_store(tmp_path / "half", store, dtype="float16")
        full, half = (open_features(tmp_path / name) for name in ("full", "half"))
        assert half["a"] == pytest.approx(full["a"], rel=1e-3, abs=1e-4)
        assert not np.array_equal(half["a"], full["a"])
        sizes = [(tmp_path / name / "rows.npy").stat().st_size for name in ("full", "half")]
        assert sizes == [128 + 125 * 4 * 4, 128 + 125 * 4 * 2]

    def test_rows_are_what_numpy_reads(self, tmp_path, store, tables):
        write_store(tmp_path / "own", store)
        assert np.array_equal(np.load(tmp_path / "own" / "rows.npy"), np.concatenate(list(tables.values())))

    def test_without_a_rate_a_caller_may_give_one(self, tmp_path, tables):
        write_store(tmp_path / "own", FolderStore(write_folder(tmp_path / "f", tables)))
        assert open_features(tmp_path / "own").fps is None
        assert open_features(tmp_path / "own", fps=4.0).fps == 4.0

    def test_chosen_videos_go_by_the_names_asked_for(self, tmp_path, tables):
        write_store(tmp_path / "own", HDF5Store(write_hdf5(tmp_path / "f.h5", tables)), video_ids=["v_b", "v_b", "a"])
        again = OwnStore(tmp_path / "own")
        assert list(again) == ["v_b", "a"]
        assert np.array_equal(again["v_b"], tables["b"])

    def test_it_goes_to_another_process(self, tmp_path, store, tables):
        write_store(tmp_path / "own", store)
        again = pickle.loads(pickle.dumps(OwnStore(tmp_path / "own")))  # noqa: S301 - our own
        assert np.array_equal(again["b"], tables["b"])

    def test_nothing_half_written_remains(self, tmp_path, tables):
        damaged = tables | {"d": np.full((3, 4), np.nan, dtype=np.float32)}
        with pytest.raises(InputError, match="not finite"):
            write_store(tmp_path / "own", FolderStore(write_folder(tmp_path / "f", damaged)))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["f"]

    def test_numbers_too_large_for_half_precision_are_refused(self, tmp_path):
        store = FolderStore(write_folder(tmp_path / "f", {"v": np.full((2, 2), 1e5)}))
        with pytest.raises(InputError, match="too large for float16"):
            write_store(tmp_path / "own", store, dtype="float16")
        write_store(tmp_path / "own", store)
        assert OwnStore(tmp_path / "own")["v"][0, 0] == np.float32(1e5)

    @pytest.mark.parametrize(
        ("before", "after", "said"),
        [
            ('"truemoment/features/1"', '"truemoment/features/9"', "field schema: got 'truemoment/features/9'"),
            ('"n_dimensions": 4', '"n_dimensions": 5', "expected float32 of shape (125, 5)"),
            ('"float32"', '"float16"', "expected float16 of shape (125, 4)"),
            ('"float32"', '"object"', "field dtype"),
            ('"c"', '"a"', "field video_id: a video appears twice"),
            ("25\n", "26\n", "expected float32 of shape (126, 4)"),
            ("60,", "0,", "field n_rows"),
            ("60,", "-60,", "field n_rows"),
            ("60,", "", "field n_rows"),
            ('"fps": 2.0', '"fps": -2.0', "field fps"),
            ('"fps": 2.0', '"fps": "2"', "field fps"),
        ],
    )
    def test_parts_that_do_not_fit_are_refused(self, before, after, said, tmp_path, store):
        write_store(tmp_path / "own", store)
        path = tmp_path / "own" / "features.json"
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after, 1))
        assert said in refused(lambda: OwnStore(tmp_path / "own"))

    def test_a_type_that_there_is_not_and_an_empty_store(self, tmp_path, store):
        with pytest.raises(UsageError, match="float16 or float32"):
            write_store(tmp_path / "own", store, dtype="float64")
        with pytest.raises(InputError, match="no video to write"):
            write_store(tmp_path / "own", store, video_ids=[])
