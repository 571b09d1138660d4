"""docs/bench*.json, from which pages are made, have the figures of `bench --results`."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEPT = json.loads((ROOT / "docs" / "bench.json").read_text(encoding="utf-8"))
with (ROOT / "results" / "closer-look-bench.csv").open(encoding="utf-8", newline="") as stream:
    ROWS = {(row["recipe"], row["split"], row["measure"]): row for row in csv.DictReader(stream)}

FIGURES = [
    (of, figure["split"], figure["measure"], figure["mean"])
    for of in KEPT["methods"]
    for figure in of["figures"]
    if figure["mean"] is not None
]


def test_every_figure_is_kept():
    assert {(of["name"], split, measure) for of, split, measure, _ in FIGURES} == set(ROWS)
    for of, split, measure, mean in FIGURES:
        assert mean == pytest.approx(float(ROWS[of["name"], split, measure]["value"]), abs=1e-6), of["name"]


@pytest.mark.parametrize("name", ["bench-later", "bench-later-activitynet"])
def test_every_figure_of_the_later_methods_is_kept(name):
    """Means over seeds; the rules on intervals have a row a seed, too."""
    kept = json.loads((ROOT / "docs" / f"{name}.json").read_text(encoding="utf-8"))
    values: dict[tuple[str, str, str], list[float]] = {}
    with (ROOT / "results" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            values.setdefault((row["recipe"], row["split"], row["measure"]), []).append(float(row["value"]))
    figures = {
        (of["name"], figure["split"], figure["measure"]): figure["mean"]
        for of in kept["methods"]
        for figure in of["figures"]
        if figure["mean"] is not None
    }
    assert figures == pytest.approx({place: statistics.mean(of) for place, of in values.items()}, abs=1e-6)
    trained = {of["name"] for of in kept["methods"] if of["kind"] == "method"}
    assert trained == {"moment-detr", "qd-detr", "flash-vtg"}
    runs = {(of["recipe"], of["seed"]) for of in kept["left"]}
    runs |= {(of["name"], int(seed)) for of in kept["methods"] for seed in of["seconds"]}
    assert runs == {(name, seed) for name in trained for seed in kept["seeds"]}


def test_runs_are_of_one_kind():
    trained = [row for row in ROWS.values() if row["config"] != "floor"]
    assert {row["seed"] for row in trained} == {"0"}
    seen = {row["recipe"]: row["features"].split(" ")[0] for row in trained}
    assert set(seen.values()) <= {"perception:0.3", "none"}
    assert {name for name, features in seen.items() if features == "none"} <= {"blind-tan"}
    assert all("Simulated perception" in row["notes"] for row in trained if row["features"] != "none")


def test_every_method_is_trained_or_left():
    methods = {of["name"] for of in KEPT["methods"] if of["kind"] == "method"}
    left = {of["recipe"] for of in KEPT["left"]}
    assert len(methods) == 12
    assert {of["name"] for of, *_ in FIGURES if of["kind"] == "method"} == methods - left


# ------------------------------------------------------------------------------- what the page says of them

HEADLINE = KEPT["headline"]
METHODS = [of for of in KEPT["methods"] if of["kind"] == "method" and any(f["mean"] is not None for f in of["figures"])]


def score(name: str, split: str) -> float:
    return 100 * float(ROWS[name, split, HEADLINE]["value"])


def verdict(name: str, split: str) -> int:
    [of] = [of for of in METHODS if of["name"] == name]
    return next(one["verdict"] for one in of["less_sentence_network"] if one["split"] == split)


def test_which_methods_are_above_what_needs_no_video():
    assert max(verdict(of["name"], "test-iid") for of in METHODS) == 0
    floors = ("random-interval", "likeliest-interval", "split-constant")
    above = {
        of["name"]
        for of in METHODS
        if verdict(of["name"], "test-ood") == 1
        and all(score(of["name"], "test-ood") > score(floor, "test-ood") for floor in floors)
    }
    assert above == {"drn"}
    for name in ("ablr", "tsp-prl", "vlg-net"):
        assert verdict(name, "test-ood") == 1
        assert score(name, "test-ood") < score("split-constant", "test-ood")


@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_the_named_interval_is_above_every_method(split):
    assert score("named-interval", split) > max(score(of["name"], split) for of in METHODS)


def test_the_published_changes():
    changes = {of["name"]: score(of["name"], "test-ood") - score(of["name"], "test-iid") for of in METHODS}
    published = {}
    for of in METHODS:
        by_split = {one["split"]: one["value"] for one in of["published"]}
        if by_split:
            published[of["name"]] = by_split["test-ood"] - by_split["test-iid"]
    assert all(changes[name] < 0 > published[name] for name in ("tan2d", "scdm", "drn", "acrn", "mdd"))
    assert changes["wssl"] > 0 < published["wssl"]
    assert changes["ctrl"] < 0 < published["ctrl"]
    assert changes["ablr"] > 0 > published["ablr"]
    assert abs(changes["tsp-prl"]) < 1
    assert round(100 * published["tsp-prl"]) == -16
    assert score("sentence-network", "test-ood") < score("sentence-network", "test-iid")


def test_the_spread_of_three_seeds():
    """The page names the largest standard deviation of the methods that have three seeds."""
    values: dict[tuple[str, str], list[float]] = {}
    with (ROOT / "results" / "closer-look-methods.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["measure"] == "R@1,IoU=0.5" and row["config"] != "floor":
                values.setdefault((row["recipe"], row["split"]), []).append(100 * float(row["value"]))
    spreads = {place: statistics.stdev(of) for place, of in values.items() if len(of) == 3}
    assert len({recipe for recipe, _ in spreads}) == 5
    assert round(max(spreads.values()), 1) == 4.1


def test_published_figures_beside_what_needs_no_video():
    rows = [row for table in KEPT["published"]["tables"] for row in table["figures"] if "published" in row]
    ood = {
        row["method"]: 100 * row["published"]
        for row in rows
        if (row["split"], row["measure"]) == ("test-ood", HEADLINE)
        and row["method"] not in ("PredictAll", "Bias-based")
    }
    assert len(ood) == 10
    assert min(ood.values()) > score("sentence-network", "test-ood")
    below = {method for method, value in ood.items() if value < score("split-constant", "test-ood")}
    assert below == {"TSP-PRL", "WSSL"}
