"""Simulated features are opened by name."""

import json

import numpy as np
import pytest

from truemoment import load_annotations
from truemoment.base.errors import MissingFileError, UsageError
from truemoment.media.features import FeatureStore, check
from truemoment.searching.opening import open_features


@pytest.mark.data
@pytest.mark.thorough
def test_perception_is_a_store_of_every_video_of_charades(data_dir):
    annotations = load_annotations("charades-cd", "test-iid", data_dir=data_dir)
    store = open_features("perception:0.5", annotations, data_dir=data_dir, seed=3)
    assert isinstance(store, FeatureStore)
    assert store.name.startswith("perception:0.5")
    assert "seed=3" in store.name
    assert check(store, annotations).complete


@pytest.fixture
def activitynet(tmp_path):
    """Give a data folder with an ActivityNet Captions of one video a file."""
    folder = tmp_path / "activitynet-captions"
    folder.mkdir()
    for name in ("train", "val_1", "val_2"):
        video = {"duration": 12.5, "timestamps": [[2.0, 6.0]], "sentences": ["A man jumps."]}
        (folder / f"{name}.json").write_text(json.dumps({f"v_{name}": video}))
    return tmp_path


def test_the_dataset_decides_what_is_simulated(activitynet):
    train = load_annotations("activitynet-captions", "train", data_dir=activitynet)
    named = open_features("perception:1", dataset="activitynet-captions", data_dir=activitynet, seed=3)
    assert named.name == "perception:1 (2 concepts of activitynet-captions), seed=3"
    # Both concepts, "man" and "jump", are visible from second 2 to second 6, and nothing else is.
    assert np.array_equal(named["v_val_2"], np.repeat([0, 1, 0], [2, 4, 7])[:, None] * np.ones(2))
    of_annotations = open_features("perception:1", train, data_dir=activitynet, seed=3)
    assert (of_annotations.name, check(of_annotations, train).complete) == (named.name, True)
    for dataset in ("charades-cd", None):
        with pytest.raises(MissingFileError, match="charades-sta"):
            open_features("perception:1", dataset=dataset, data_dir=activitynet)


def test_it_needs_the_data_folder(monkeypatch):
    monkeypatch.delenv("TRUEMOMENT_DATA", raising=False)
    with pytest.raises(UsageError, match="where are the datasets"):
        open_features("perception:0.5")


def test_it_states_its_rate():
    with pytest.raises(UsageError, match="states its rows per second"):
        open_features("perception:0.5", fps=3.0)
