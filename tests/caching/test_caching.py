"""The cache: what is kept and recalled, damage, limits of size, folders that cannot be written, parallel runs."""

import os
import subprocess
import sys

import numpy as np
import pytest

from truemoment.base.boundary import caching
from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.boundary.inputs import command_inputs


class Counted:
    """Computes arrays, and counts how often."""

    def __init__(self, value=1.0):
        self.value, self.calls = value, 0

    def __call__(self):
        self.calls += 1
        return {"a": np.full(1000, self.value), "b": np.arange(3)}


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def entries(cache):
    return sorted(path.name for path in cache.folder.iterdir())


def test_what_was_computed_is_recalled(cache):
    compute = Counted()
    first = cache.arrays("answers", {"of": 1}, compute)
    again = Cache(cache.folder).arrays("answers", {"of": 1}, compute)  # as another command does
    assert compute.calls == 1
    assert list(again) == ["a", "b"]
    for name, array in first.items():
        assert again[name].dtype == array.dtype
        np.testing.assert_array_equal(again[name], array)
    assert len(entries(cache)) == 1


def test_a_command_keeps_what_it_looked_for_in_vain(tmp_path):
    """Commands refuse to write what they read; an entry of the cache is looked for first, and then written."""
    told, compute = [], Counted()
    with command_inputs():
        Cache(tmp_path / "cache", told.append).arrays("answers", {}, compute)
    with command_inputs():
        Cache(tmp_path / "cache", told.append).arrays("answers", {}, compute)
    assert (told, compute.calls) == ([], 1)


def test_another_key_kind_or_code_is_another_entry(cache, monkeypatch):
    compute = Counted()
    cache.arrays("answers", {"of": 1}, compute)
    cache.arrays("answers", {"of": 2}, compute)
    cache.arrays("verbs", {"of": 1}, compute)
    monkeypatch.setattr(caching, "code_hash", lambda: "other code")
    cache.arrays("answers", {"of": 1}, compute)
    assert (compute.calls, len(entries(cache))) == (4, 4)


def test_a_change_of_a_module_that_computes_is_other_code(tmp_path, monkeypatch):
    """One byte more in such a module, or another name of it, is other code; a page is not."""
    package = tmp_path / "package"
    for room in ("baselines", "data/language", "evaluation/measures", "evaluation/protocols", "web/pages"):
        (package / room).mkdir(parents=True)
    for name in caching.COMPUTING:
        if name.endswith(".py"):
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            (package / name).write_text("")
    module, page = package / "baselines" / "module.py", package / "web" / "pages" / "page.py"
    module.write_text("x = 1")
    page.write_text("x = 1")
    monkeypatch.setattr(caching, "__file__", str(package / "base" / "boundary" / "caching.py"))
    found = []

    def look():
        caching.code_hash.cache_clear()
        found.append(caching.code_hash())

    try:
        look()
        page.write_text("x = 2")
        look()
        module.write_text("x = 2")
        look()
        module.rename(module.with_name("renamed.py"))
        look()
    finally:
        caching.code_hash.cache_clear()
    assert found[0] == found[1]
    assert len(set(found)) == 3


BESIDE = (
    *("base/boundary", "base/errors", "base/known_names", "base/lazy", "base/papers", "base/version", "data/answers"),
    *("base/registry", "base/rules", "data/axes", "data/datasets", "data/formats", "evaluation/grounders"),
    *("evaluation/progress", "report"),
)
"""What floors import and no figure of theirs depends on: reading, names, words, files."""


def test_every_module_that_computes_floors_is_in_the_hash_of_the_code():
    listing = "import sys, truemoment.baselines.floors; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True).stdout.split()
    modules = {name.replace(".", "/").removeprefix("truemoment/") for name in loaded if name.startswith("truemoment.")}
    hashed = [name.removesuffix(".py") for name in caching.COMPUTING]
    left = {name for name in modules if not any(f"{name}/".startswith(f"{room}/") for room in (*hashed, *BESIDE))}
    assert {name for name in left if not any(other.startswith(f"{name}/") for other in modules)} == set()


def test_no_cache_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compute = Counted()
    NO_CACHE.arrays("answers", {}, compute)
    NO_CACHE.arrays("answers", {}, compute)
    assert (compute.calls, list(tmp_path.iterdir())) == (2, [])


def test_the_folder_is_the_users_unless_the_environment_names_another(tmp_path, monkeypatch):
    monkeypatch.setenv(caching.VARIABLE, str(tmp_path / "named"))
    assert Cache.of_user().folder == tmp_path / "named"
    monkeypatch.delenv(caching.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))  # the XDG base directory specification
    monkeypatch.setattr("sys.platform", "linux")
    assert Cache.of_user().folder.name == "truemoment"


# ---- Damage


def damage_by_cutting(path):
    path.write_bytes(path.read_bytes()[:-200])


def damage_by_emptying(path):
    path.write_bytes(b"")


def damage_by_words(path):
    path.write_text("this is no archive")


def damage_in_the_middle(path):
    data = bytearray(path.read_bytes())
    data[400:500] = bytes(100)
    path.write_bytes(bytes(data))


def damage_by_objects(path):
    """Python objects, which nothing loads: reading them could run what they contain."""
    with path.open("wb") as stream:
        np.savez(stream, a=np.array([{"of": "objects"}], dtype=object), allow_pickle=True)


@pytest.mark.parametrize(
    "damage", [damage_by_cutting, damage_by_emptying, damage_by_words, damage_in_the_middle, damage_by_objects]
)
def test_a_damaged_entry_is_computed_again(cache, damage):
    cache.arrays("answers", {}, Counted())
    (path,) = cache.folder.iterdir()
    damage(path)
    compute = Counted()
    found = cache.arrays("answers", {}, compute)
    assert compute.calls == 1
    assert found["a"].tolist() == [1.0] * 1000
    assert cache.arrays("answers", {}, compute)["b"].tolist() == [0, 1, 2]
    assert compute.calls == 1  # it is whole again


def test_whole_arrays_that_are_not_those_of_the_entry_are_computed_again(cache):
    """Another entry under this name, other arrays, or some of another type: all were taken for what was computed."""
    cache.arrays("answers", {"of": 1}, Counted(1.0))
    cache.arrays("answers", {"of": 2}, Counted(2.0))
    one, two = (cache.folder / name for name in entries(cache))
    with np.load(one) as archive:
        arrays = dict(archive)
    compute = Counted(1.0 if arrays["a"][0] == 1 else 2.0)
    key = {"of": int(compute.value)}
    others = [{"c": arrays["a"]}, arrays | {"a": arrays["a"].astype("f4")}, arrays | {"b": arrays["b"][:2]}, {}]
    others += [{name: array for name, array in arrays.items() if name != "sha256"}, arrays | {"sha256": np.array(3)}]
    for number, other in enumerate(others, start=1):
        np.savez(one, **other)
        assert cache.arrays("answers", key, compute)["a"].dtype == np.float64
        assert compute.calls == number
    one.write_bytes(two.read_bytes())
    assert cache.arrays("answers", key, compute)["a"][0] == compute.value
    assert compute.calls == len(others) + 1
    assert cache.arrays("answers", key, compute)["b"].tolist() == [0, 1, 2]
    assert compute.calls == len(others) + 1


def test_a_link_is_neither_read_nor_written_through(cache, tmp_path):
    """Who may write to the folder could otherwise let a command read, or write over, a file elsewhere."""
    cache.arrays("answers", {}, Counted())
    (path,) = cache.folder.iterdir()
    elsewhere = tmp_path / "elsewhere.npz"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    before, compute, told = elsewhere.read_bytes(), Counted(2.0), []
    assert Cache(cache.folder, told.append).arrays("answers", {}, compute)["a"][0] == 2.0
    assert (compute.calls, elsewhere.read_bytes() == before, len(told)) == (1, True, 1)


def test_what_fails_leaves_nothing(cache):
    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.arrays("answers", {}, fail)
    assert not cache.folder.exists() or not entries(cache)


def test_an_entry_appears_whole_or_not_at_all(cache, monkeypatch):
    """The disk is full in the middle of writing: the result is there, the entry is not, nor is a part of it."""
    told = []

    def full(stream, **_):
        stream.write(b"PK\x03\x04")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    found = Cache(cache.folder, told.append).arrays("answers", {}, Counted())
    assert found["a"][0] == 1.0
    assert (entries(cache), len(told)) == ([], 1)


# ---- Limits


def test_the_least_recently_used_entries_are_removed(cache, monkeypatch):
    """Room for three entries: the fourth removes the one that was looked at last of all the longest ago."""
    compute = Counted()
    paths = {}
    for key in "abc":
        cache.arrays("answers", {"of": key}, compute)
        (paths[key],) = set(cache.folder.iterdir()) - set(paths.values())
    other = cache.folder / "notes.txt"
    other.write_text("x" * 100_000)  # not an entry: neither counted nor removed
    named_alike = cache.folder / f"my-results-{'0' * 32}.npz"  # somebody's, with a hash in its name
    named_alike.touch()
    os.utime(named_alike, (0, 0))
    size = paths["a"].stat().st_size
    monkeypatch.setattr(caching, "MOST_BYTES", 3 * size)
    for number, key in enumerate("abc"):
        os.utime(paths[key], (number, number))
    cache.arrays("answers", {"of": "a"}, compute)  # used: b is now the one used least recently
    cache.arrays("answers", {"of": "d"}, compute)
    assert not paths["b"].exists()
    assert paths["a"].exists()
    assert paths["c"].exists()
    assert other.exists()
    assert named_alike.exists()
    assert sum(path.stat().st_size for path in cache.folder.glob("*.npz")) == 3 * size


def test_a_folder_that_cannot_be_written_is_only_warned_about_once(tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("")
    told = []
    cache, compute = Cache(tmp_path / "file", told.append), Counted()
    for key in range(3):
        assert cache.arrays("answers", {"of": key}, compute)["a"][0] == 1.0
    assert compute.calls == 3
    [words] = told
    assert words.startswith("results are not kept for the next time (")
    assert "\n" not in words


# ---- Side by side

ASK = """
import sys
from pathlib import Path

import numpy as np

from truemoment.base.boundary import caching

folder, seed, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
caching.MOST_BYTES = most
cache = caching.Cache(Path(folder), lambda why: sys.exit(why))
for key in np.random.default_rng(seed).permutation(np.repeat(np.arange(12), 8)).tolist():
    found = cache.arrays("answers", {"of": key}, lambda: {"a": np.full(1000, float(key)), "b": np.arange(3)})
    assert found["a"].tolist() == [key] * 1000, key
"""


@pytest.mark.slow
def test_commands_side_by_side_disturb_each_other_in_nothing(cache):
    """Four write, read and remove the same twelve entries, with room for five."""
    cache.arrays("answers", {}, Counted())
    (path,) = cache.folder.iterdir()
    most = 5 * path.stat().st_size
    running = [
        subprocess.Popen([sys.executable, "-c", ASK, cache.folder, str(seed), str(most)], stderr=subprocess.PIPE)
        for seed in range(4)
    ]
    assert [(process.communicate(timeout=60)[1], process.returncode) for process in running] == [(b"", 0)] * 4
    left = list(cache.folder.iterdir())
    assert 1 <= len(left) <= 8  # five, and one more for each other command that wrote when the last one counted
    assert all(path.suffix == ".npz" and len(np.load(path)["a"]) == 1000 for path in left)  # nothing half-written
