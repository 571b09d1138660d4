"""Floors that take long say so before they begin, and nothing is said of those that are in the cache."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from truemoment import get_protocol, parse_measures
from truemoment.base.boundary.caching import Cache
from truemoment.baselines import floors
from truemoment.worlds import make_world

MEASURED = (  # seconds of one core on Charades-CD and ActivityNet-CD, benchmarks/README.md
    ("sentence-network", 11_071, 3_375, 10.4),
    ("sentence-network", 51_415, 13_578, 34.7),
    ("paragraph-network", 51_415, 13_578, 22.7),
    ("sentence-neighbours", 51_415, 13_578, 17.5),
    ("action-aware", 51_415, 13_578, 13.1),
    ("prior-only", 51_415, 13_578, 3.8),
)


@pytest.mark.parametrize(("name", "n_train", "n_queries", "seconds"), MEASURED)
def test_rates_are_those_that_were_measured(name, n_train, n_queries, seconds):
    assert 0.6 * seconds < floors.expected_s(name, n_train, n_queries) < 1.6 * seconds


def test_a_long_floor_is_announced_once(tmp_path, monkeypatch):
    monkeypatch.setattr(floors, "QUERY_S", MappingProxyType({"action-aware": 0.5}))
    world, said = make_world(40, location_prior=0.4, seed=0), []
    setting = floors.Setting(
        world.splits["test-iid"],
        parse_measures("R@1,IoU=0.5"),
        get_protocol("default"),
        train=world.splits["train"],
        cache=Cache(tmp_path),
        on_status=said.append,
    )
    for name in ("action-aware", "bias-based"):
        floors.Floor(name, setting).answers(world.splits["test-iid"])
    count = len(world.splits["train"])
    assert said == [f"floor action-aware, {floors.about(0.5 * count)}"]
    said.clear()
    floors.Floor("action-aware", replace(setting)).answers(world.splits["test-iid"])
    assert said == []
