"""docs/bench.json, from which docs/bench.md is made, has the figures that `truemoment bench --results` wrote."""

from __future__ import annotations

import csv
import json
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
