"""What every store promises, and when its rows are."""

import dataclasses

import numpy as np
import pytest

from truemoment import worlds
from truemoment.base.errors import InputError
from truemoment.media.features import Features, FeatureStore
from truemoment.media.features import base as features_base
from truemoment.media.features.base import edges_of


def test_a_row_is_one_part_of_a_second_where_the_rate_is_stated(store):
    # Row i stands for i / fps to (i + 1) / fps.
    edges = store.edges_s("b", 999.0)
    assert len(edges) == 41
    for i in range(41):
        assert edges[i] == i / 2.0


def test_rows_cover_the_video_evenly_where_no_rate_is_stated():
    edges = edges_of(7, None, 21.0)
    assert edges[-1] == 21.0
    assert edges == pytest.approx([3.0 * i for i in range(8)], abs=1e-12)


@pytest.mark.parametrize("duration_s", [float("nan"), 0.0, -3.0, float("inf")])
def test_without_rate_and_duration_there_is_no_time(duration_s):
    with pytest.raises(InputError, match="expected a duration above 0"):
        edges_of(7, None, duration_s)


def test_a_video_without_rows_has_no_times(store):
    with pytest.raises(InputError, match="no features of video 'x'"):
        store.edges_s("x", 3.0)


def test_features_in_memory_are_a_store(store):
    assert isinstance(store, FeatureStore)
    assert (list(store), len(store), store.n_dimensions, store.name) == (["a", "b", "c"], 3, 4, "memory")
    assert dataclasses.replace(store, by_video={}).n_dimensions == 0


def test_worlds_give_the_same_class():
    assert worlds.Features is Features is features_base.Features


def test_of_what_was_given_nothing_can_be_exchanged(tables):
    store = Features(tables, fps=2.0)
    tables["d"] = np.zeros((1, 4), dtype=np.float32)
    assert "d" not in store
