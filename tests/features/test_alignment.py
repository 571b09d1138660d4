"""Whether features fit annotations: every video is accounted for."""

import math

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.errors import InputError
from truemoment.media.features import Features, FolderStore, check


def test_features_that_fit(store, annotations):
    found = check(store, annotations)
    assert found.video_ids == found.usable == found.require() == ("a", "b", "c")
    assert (found.missing, dict(found.damaged), dict(found.off), dict(found.zero_rows)) == ((), {}, {}, {})
    assert (found.n_rows, found.implied_fps, found.fps, found.complete) == (125, 2.0, 2.0, True)
    assert (found.features, found.annotations) == ("memory", "own/all")


def test_missing_videos_are_named_and_left_out_only_if_asked(tables, annotations):
    del tables["b"]
    found = check(Features(tables, fps=2.0), annotations)
    assert found.missing == ("b",)
    assert not found.complete
    with pytest.raises(InputError, match=r"memory: 1 of 3 videos of own/all have no features: b$"):
        found.require()
    assert found.require(skip_missing=True) == ("a", "c")


def test_without_any_video_there_is_nothing_to_skip(tables, annotations):
    found = check(Features({"x": tables["a"]}, fps=2.0), annotations)
    assert found.missing == ("a", "b", "c")
    assert math.isnan(found.implied_fps)
    with pytest.raises(InputError, match="3 of 3 videos of own/all have no features"):
        found.require(skip_missing=True)


def test_damaged_features_are_named_with_the_reason(tmp_path, tables, annotations):
    tables["b"][3] = np.nan
    tables["b"][5, 1] = np.inf
    in_memory = check(Features(tables, fps=2.0), annotations)
    assert dict(in_memory.damaged) == {"b": "2 of 40 rows have numbers that are not finite"}
    for name, table in tables.items():
        np.save(tmp_path / f"{name}.npy", table)
    (tmp_path / "c.npy").write_bytes(b"x")
    found = check(FolderStore(tmp_path), annotations)
    assert found.damaged["b"] == in_memory.damaged["b"]
    assert set(found.damaged) == {"b", "c"}
    assert (found.usable, found.n_rows, found.complete) == (("a",), 60, False)
    with pytest.raises(
        InputError, match=r"2 of 3 videos of own/all have damaged features: 'b': 2 of 40 .* \(and 1 more\)"
    ):
        found.require()
    assert found.require(skip_missing=True) == ("a",)


def test_a_video_of_another_width_is_damaged(tmp_path, tables, annotations):
    tables["b"] = tables["b"][:, :3]
    for name, table in tables.items():
        np.save(tmp_path / f"{name}.npy", table)
    assert check(FolderStore(tmp_path), annotations).damaged["b"] == "got 3 numbers a row, expected 4 as in the others"


def rows_of(lengths):
    return Features({name: np.ones((n, 2), dtype=np.float32) for name, n in lengths.items()}, fps=2.0)


@pytest.mark.parametrize(
    ("n_rows", "off"),
    [
        (60, False),  # 30 s
        (57, False),  # 28.5 s: 1.5 s short, which is 5 % of 30 s
        (56, True),
        (63, False),
        (64, True),
    ],
)
def test_rows_that_end_elsewhere_are_told(n_rows, off, annotations):
    found = check(rows_of({"a": n_rows, "b": 40, "c": 25}), annotations)
    assert dict(found.off) == ({"a": (n_rows / 2, 30.0)} if off else {})
    assert found.complete  # one video in three


def test_two_rows_are_allowed_in_any_case():
    # A video of 4 s: 5 % are 0.2 s, two rows 1 s.
    annotations = Annotations.from_rows([("v#0", "v", 4.0, "x", 0.0, 1.0)])
    assert [bool(check(rows_of({"v": n}), annotations).off) for n in (5, 6, 8, 10, 11)] == [
        True,
        False,
        False,
        False,
        True,
    ]


def test_a_wrong_rate_is_refused_with_the_one_that_would_fit(tables, annotations):
    found = check(Features(tables, fps=25.0), annotations)
    assert set(found.off) == {"a", "b", "c"}
    assert not found.complete
    with pytest.raises(InputError, match=r"3 of 3 videos .* at 25 rows a second; by the durations there are about 2$"):
        found.require()


def test_without_a_stated_rate_nothing_is_off(tmp_path, tables, annotations):
    for name, table in tables.items():
        np.save(tmp_path / f"{name}.npy", table)
    found = check(FolderStore(tmp_path), annotations)
    assert (dict(found.off), found.implied_fps, found.fps, found.complete) == ({}, 2.0, None, True)


def test_where_no_duration_is_known_nothing_is_compared(store):
    found = check(store, Annotations.from_rows([("a#0", "a", float("nan"), "x", 0.0, 1.0)]))
    assert (dict(found.off), found.complete) == ({}, True)
    assert math.isnan(found.implied_fps)


def test_rows_of_zeros_are_counted_and_no_obstacle(tables, annotations):
    tables["c"][[1, 4]] = 0
    found = check(Features(tables, fps=2.0), annotations)
    assert dict(found.zero_rows) == {"c": 2}
    assert found.require() == ("a", "b", "c")


def test_videos_under_another_name_are_told(tmp_path, tables, annotations):
    for name, table in tables.items():
        np.save(tmp_path / f"v_{name}.mp4.npy" if name == "b" else tmp_path / f"{name}.npy", table)
    found = check(FolderStore(tmp_path), annotations)
    assert (found.renamed, found.complete) == (("b",), True)
