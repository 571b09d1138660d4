"""The figures of docs/sweep.md are those that `truemoment sweep --results` wrote into results/."""

from __future__ import annotations

import csv
import re
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sweep.md").read_text(encoding="utf-8")
RECIPES = {"2D-TAN": "tan2d", "Blind-TAN": "blind-tan", "TCN-DCM": "tcn-dcm", "MDD": "mdd"}


def kept() -> dict[tuple[str, str, str, str, str], float]:
    """Figures in percent by recipe, split, measure, quality and seed; quality "" for a method that sees no video."""
    figures = {}
    with (ROOT / "results" / "charades-cd.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            quality = re.match(r"perception:([\d.]+)", row["features"])
            key = (row["recipe"], row["split"], row["measure"], quality[1] if quality else "", row["seed"])
            figures[key] = 100 * float(row["value"])
    return figures


FIGURES = kept()


def tables(split: str) -> list[list[list[str]]]:
    """Tables of the page whose first cell names the split, as cells."""
    blocks = re.findall(rf"(?m)^\| {split}[ ,|].*\n(?:\|.*\n)+", PAGE)
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()] for block in blocks]


@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_the_dial(split):
    head, _, *rows = tables(split)[1]
    assert [row[0] for row in rows] == ["2D-TAN", "TCN-DCM", "MDD", "Blind-TAN"]
    for method, *cells in rows:
        for quality, cell in zip(head[1:], cells, strict=True):
            seen = "" if method == "Blind-TAN" else quality
            assert cell == f"{FIGURES[RECIPES[method], split, 'R@1,IoU=0.5', seen, '0']:.2f}"


@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_the_interval_rules(split):
    head, _, *rows = tables(split)[2]
    assert [row[0].partition(" (")[0] for row in rows] == ["random interval", "likeliest interval", "named interval"]
    for rule, *cells in rows:
        for quality, cell in zip(head[1:], cells, strict=True):
            name = rule.partition(" (")[0].replace(" ", "-")
            assert cell == f"{FIGURES[name, split, 'R@1,IoU=0.5', quality, '0']:.2f}"


@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_three_seeds(split):
    head, _, *rows = tables(split)[0]
    for measure, *cells in rows:
        for method, cell in zip(head[1:], cells, strict=True):
            if method not in RECIPES:
                continue
            seen = "" if method == "Blind-TAN" else "0.3"
            of_seeds = [FIGURES[RECIPES[method], split, measure.strip("`"), seen, seed] for seed in "012"]
            assert cell == f"{statistics.mean(of_seeds):.2f} ± {statistics.stdev(of_seeds):.2f}", (method, measure)
