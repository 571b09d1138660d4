"""Simulated features are opened by name."""

import pytest

from truemoment import load_annotations
from truemoment.exceptions import UsageError
from truemoment.features import FeatureStore, check
from truemoment.features.opening import open_features


@pytest.mark.data
def test_perception_is_a_store_of_every_video_of_charades(data_dir):
    annotations = load_annotations("charades-cd", "test-iid", data_dir=data_dir)
    store = open_features("perception:0.5", annotations, data_dir=data_dir, seed=3)
    assert isinstance(store, FeatureStore)
    assert store.name.startswith("perception:0.5")
    assert "seed=3" in store.name
    assert check(store, annotations).complete


def test_it_needs_the_data_folder(monkeypatch):
    monkeypatch.delenv("TRUEMOMENT_DATA", raising=False)
    with pytest.raises(UsageError, match="where are the datasets"):
        open_features("perception:0.5")


def test_it_states_its_rate():
    with pytest.raises(UsageError, match="states its rows per second"):
        open_features("perception:0.5", fps=3.0)
