"""The figures of docs/sweep-results.md are those that `truemoment sweep --results` wrote into results/."""

from __future__ import annotations

import csv
import re
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sweep-results.md").read_text(encoding="utf-8")
FLOORS = {
    "sentence network": "sentence-network",
    "Random Chance": "random-chance",
    "Action-Aware Blind": "action-aware",
    "best constant": "best-constant",
}
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
HEADLINE = "R@1,IoU=0.5"


def tables(split: str) -> list[list[list[str]]]:
    """Tables of the page whose first cell names the split, as cells."""
    blocks = re.findall(rf"(?m)^\| {split}[ ,|].*\n(?:\|.*\n)+", PAGE)
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()] for block in blocks]


@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_the_dial(split):
    head, _, *rows = tables(split)[1]
    *rows, network = rows
    assert network == [
        "sentence network (floor)",
        *[f"{FIGURES['sentence-network', split, HEADLINE, '', '0']:.2f}"] * 5,
    ]
    assert [row[0] for row in rows] == ["2D-TAN", "TCN-DCM", "MDD", "Blind-TAN"]
    for method, *cells in rows:
        for quality, cell in zip(head[1:], cells, strict=True):
            seen = "" if method == "Blind-TAN" else quality
            assert cell == f"{FIGURES[RECIPES[method], split, HEADLINE, seen, '0']:.2f}"


@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_the_interval_rules(split):
    head, _, *rows = tables(split)[2]
    assert [row[0].partition(" (")[0] for row in rows] == ["random interval", "likeliest interval", "named interval"]
    for rule, *cells in rows:
        for quality, cell in zip(head[1:], cells, strict=True):
            name = rule.partition(" (")[0].replace(" ", "-")
            assert cell == f"{FIGURES[name, split, HEADLINE, quality, '0']:.2f}"


@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_three_seeds(split):
    head, _, *rows = tables(split)[0]
    assert set(head[1:]) == RECIPES.keys() | FLOORS.keys()
    for measure, *cells in rows:
        for method, cell in zip(head[1:], cells, strict=True):
            if method in FLOORS:
                assert cell == f"{FIGURES[FLOORS[method], split, measure.strip('`'), '', '0']:.2f}"
                continue
            seen = "" if method == "Blind-TAN" else "0.3"
            of_seeds = [FIGURES[RECIPES[method], split, measure.strip("`"), seen, seed] for seed in "012"]
            assert cell == f"{statistics.mean(of_seeds):.2f} ± {statistics.stdev(of_seeds):.2f}", (method, measure)


@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_which_methods_lie_below_the_sentence_network(split):
    # The page called 10 points above the best constant what sentences tell; the network is above nearly all methods.
    for measure in ("R@1,IoU=0.5", "R@1,IoU=0.7", "dR@1,IoU=0.5", "dR@1,IoU=0.7", "mIoU", "AxIoU@10"):
        network = FIGURES["sentence-network", split, measure, "", "0"]
        for recipe in RECIPES.values():
            seen = "" if recipe == "blind-tan" else "0.3"
            of_seeds = [FIGURES[recipe, split, measure, seen, seed] for seed in "012"]
            above = statistics.mean(of_seeds) - network
            if recipe == "tcn-dcm" and measure in ("R@1,IoU=0.5", "dR@1,IoU=0.5"):
                assert 0.1 < above < min(0.9, statistics.stdev(of_seeds))
            else:
                assert above < 0


ONE_SEED = {"VLG-Net": "vlg-net", "TSP-PRL": "tsp-prl", "WSSL": "wssl"}
METHODS = (ROOT / "docs" / "methods" / "index.md").read_text(encoding="utf-8")


def of_methods() -> dict[tuple[str, str, str], dict[str, float]]:
    """Figures of results/closer-look-methods.csv in percent by recipe, split and measure, and by seed."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    with (ROOT / "results" / "closer-look-methods.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            key = (row["recipe"], row["split"], row["measure"])
            found.setdefault(key, {})[row["seed"]] = 100 * float(row["value"])
    return found


@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_the_methods_of_closer_look(split):
    figures = of_methods()
    [block] = re.findall(rf"(?m)^\| {split}, % .*\n(?:\|.*\n)+", METHODS)
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines())
    recipes = {"CTRL": "ctrl", "ACRN": "acrn", "ABLR": "ablr", "SCDM": "scdm", "DRN": "drn"}
    recipes |= ONE_SEED
    assert {name for name, *_ in rows} == recipes.keys() | {"sentence network", "Random Chance", "best constant"}
    for name, *cells in rows:
        recipe = recipes.get(name, name.lower().replace(" ", "-"))
        for measure, cell in zip(head[1:], cells, strict=True):
            values = list(figures[recipe, split, measure.strip("`")].values())
            assert len(values) == (3 if name in recipes and name not in ONE_SEED else 1)
            spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
            assert cell == f"{statistics.mean(values):.2f}{spread}", (name, measure)


def test_the_methods_on_worlds():
    figures: dict[tuple[str, str, int], float] = {}
    worlds = {"query_prior=0.0": 0, "query_prior=1.0": 1, "train#f6d02ff6": 0, "train#34ec713f": 1}
    with (ROOT / "results" / "new-methods-worlds.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["measure"] == HEADLINE:
                [world] = [number for text, number in worlds.items() if text in row["notes"]]
                recipe = "best floor" if row["config"] == "floor" else row["recipe"]
                key = (recipe, row["split"], world)
                figures[key] = max(figures.get(key, 0.0), 100 * float(row["value"]))
    [block] = re.findall(r"(?m)^\| method \| full view.*\n(?:\|.*\n)+", METHODS)
    _, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines())
    assert len(rows) == 5
    for name, *cells in rows:
        recipe = name if name == "best floor" else (ONE_SEED | RECIPES)[name]
        for cell, (world, split) in zip(cells, [(w, s) for w in (0, 1) for s in ("test-iid", "test-ood")], strict=True):
            value = figures.get((recipe, split, world))
            assert cell == ("-" if value is None else f"{value:.2f}"), (name, split, world)
