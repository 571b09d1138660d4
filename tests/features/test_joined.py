"""Features of several encoders joined row by row, as those that were published for QVHighlights."""

import json

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.errors import InputError, UsageError
from truemoment.learning.training.mixed_stores import MixedFeatures
from truemoment.media.features import (
    ChangedFeatures,
    Features,
    FeatureStore,
    JoinedFeatures,
    OwnStore,
    check,
    write_store,
)
from truemoment.media.features.joined import source_widths
from truemoment.media.features.resampling import normalise_each
from truemoment.searching.opening import open_features
from truemoment.searching.windows import WindowedFeatures, Windows


def random_rows(seed, n_rows, width):
    return np.random.default_rng(seed).standard_normal((n_rows, width)).astype(np.float32)


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Folders as published: motion (3 numbers) and pictures (2), NPZ files with the key features, one row every 2 s."""
    monkeypatch.chdir(tmp_path)
    for number, (name, width, key) in enumerate((("motion", 3, "features"), ("pictures", 2, "features"))):
        (tmp_path / name).mkdir()
        for video, n_rows in (("a", 75), ("b", 60 + number)):
            np.savez(tmp_path / name / f"{video}.npz", **{key: random_rows([number, n_rows], n_rows, width)})
    return tmp_path


@pytest.mark.usefixtures("sources")
def test_rows_lie_side_by_side_and_are_cut_to_the_shortest():
    joined, motion, pictures = (open_features(name, fps=0.5) for name in ("motion,pictures", "motion", "pictures"))
    assert isinstance(joined, FeatureStore)
    assert list(joined) == ["a", "b"]
    assert (len(joined), joined.n_dimensions, joined.fps) == (2, 5, 0.5)
    for video, n_rows in (("a", 75), ("b", 60)):  # pictures has 61 rows of b
        np.testing.assert_array_equal(joined[video], np.hstack([motion[video], pictures[video][:n_rows]]))
        assert joined.edges_s(video, 150.0)[-1] == 2.0 * n_rows


@pytest.mark.usefixtures("sources")
def test_the_order_is_part_of_the_name():
    one, other = (open_features(text, fps=0.5) for text in ("motion,pictures", "pictures,motion"))
    assert one.name != other.name
    np.testing.assert_array_equal(one["a"][:, :3], other["a"][:, 2:])


def test_rows_of_other_clocks_are_refused_with_the_name_of_the_video(sources):
    np.savez(sources / "pictures" / "b.npz", features=random_rows(0, 63, 2))  # three rows more than motion
    joined = open_features("motion,pictures", fps=0.5)
    for read in (joined.__getitem__, lambda video: joined.edges_s(video, 120.0)):
        with pytest.raises(InputError, match=r"field b: has 60 and 63 rows in these sources"):
            read("b")
    with pytest.raises(InputError, match="1 rows per second, expected 2 rows per second as in one"):
        JoinedFeatures((Features({}, 2.0, "one"), Features({}, 1.0, "two")))


def test_a_video_that_one_source_does_not_have_is_named_with_that_source(sources):
    (sources / "pictures" / "b.npz").unlink()
    joined = open_features("motion,pictures", fps=0.5)
    assert list(joined) == ["a"]
    assert any("motion" in note and "1 video left out" in note for note in joined.notes)
    rows = [(f"{video}#0", video, 150.0, "a door opens", 2.0, 5.0) for video in ("a", "b", "c")]
    found = check(joined, Annotations.from_rows(rows))
    assert found.missing == ("c",)
    assert "in folder:pictures" in found.damaged["b"]
    assert "motion" not in found.damaged["b"]


@pytest.mark.usefixtures("sources")
@pytest.mark.parametrize("text", ["motion,", ",pictures", "motion,,pictures"])
def test_an_empty_source_is_refused(text):
    with pytest.raises(UsageError, match="on each side of a comma"):
        open_features(text, fps=0.5)


def test_a_file_with_a_comma_in_its_name_is_one_source(sources):
    (sources / "motion").rename(sources / "motion,old")
    assert open_features("motion,old", fps=0.5).n_dimensions == 3


def test_each_source_is_normalised_by_itself_with_the_published_epsilon():
    """x / (|x| + 1e-5), moment_detr at b7e553a, start_end_dataset.py: a row of length 1e-3 gets length 1 / 1.01."""
    rows = np.array([[0.6e-3, 0.8e-3, 5.0], [3.0, 4.0, 0.0]], dtype=np.float32)
    expected = [[0.6 / 1.01, 0.8 / 1.01, 5 / 5.00001], [3 / 5.00001, 4 / 5.00001, 0.0]]
    np.testing.assert_allclose(normalise_each(rows, (2, 1)), expected, rtol=1e-6)


@pytest.mark.usefixtures("sources")
def test_whoever_passes_rows_on_knows_the_sources(tmp_path):
    """Otherwise the sources of changed, windowed, mixed or copied features would be normalised together."""
    joined = open_features("motion,pictures", fps=0.5)
    write_store(tmp_path / "own", joined, dtype="float16")
    windows = WindowedFeatures.of(joined, Windows(window_s=10.0, stride_s=10.0), {"a": 150.0})
    for store in (ChangedFeatures(joined, "reversed"), MixedFeatures((joined,)), windows, OwnStore(tmp_path / "own")):
        assert source_widths(store) == (3, 2)
    assert source_widths(JoinedFeatures((OwnStore(tmp_path / "own"), joined))) == (3, 2, 3, 2)
    with pytest.raises(InputError, match=r"found features of 5 dimensions, expected 3 \+ 2"):
        MixedFeatures((joined, Features({"a": joined["a"]}, 0.5)))


@pytest.mark.usefixtures("sources")
@pytest.mark.parametrize("widths", [[3, 3], [5, 0], [-1, 6]])
def test_widths_that_are_not_those_of_the_rows_are_refused(tmp_path, widths):
    write_store(tmp_path / "own", open_features("motion,pictures", fps=0.5))
    about = json.loads((tmp_path / "own" / "features.json").read_text())
    assert about["source_widths"] == [3, 2]
    (tmp_path / "own" / "features.json").write_text(json.dumps(about | {"source_widths": widths}))
    with pytest.raises(InputError, match="whose sum is 5"):
        OwnStore(tmp_path / "own")


@pytest.mark.usefixtures("sources")
def test_a_table_that_is_mapped_anew_has_the_same_rows(tmp_path, monkeypatch):
    joined = open_features("motion,pictures", fps=0.5)
    write_store(tmp_path / "own", joined)
    monkeypatch.setattr("truemoment.media.features.own.MAPPED_BYTES", 1000)  # less than video a has
    own = OwnStore(tmp_path / "own")
    for video in ("a", "b", "a"):
        np.testing.assert_array_equal(own[video], joined[video])
