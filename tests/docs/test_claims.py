"""Sentences that repeat a figure of a kept result (docs/blind.json, order.json, study.json) have that figure.

``python tools/list_claims.py`` lists every sentence with a number or a comparison; those that no kept result has are
held by the test of their page, by a benchmark, or by whoever reads the list.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLIND, ORDER, STUDY = (
    json.loads((ROOT / "docs" / f"{name}.json").read_text(encoding="utf-8")) for name in ("blind", "order", "study")
)
FLOORS = {
    (row["dataset"], row["split"], row["measure"], row["method"]): 100 * row["ours"]
    for row in BLIND["tables"][0]["figures"]
    if row["source"] == "truemoment"
}
STA, ANET, TACOS = ("Charades-STA", "test"), ("ActivityNet Captions", "val_2"), ("TACoS", "test")
OOD, ANET_OOD = ("Charades-CD", "test-ood"), ("ActivityNet-CD", "test-ood")
NETWORK, TABLE, PARAGRAPH = "sentence network", "order table", "paragraph network"
BY_START, CONSTANT, OF_SPLIT = "order table, sorted by true start", "best constant", "best constant of this split"


def floor(place, name, measure="R@1,IoU=0.5", decimals=1):
    """Write a figure of a floor."""
    return f"{FLOORS[*place, measure, name]:.{decimals}f}"


def later(dataset, split, decimals=1):
    """Write in how many pairs of sentences the second moment starts later."""
    (of_split,) = (one for one in ORDER[dataset] if one["split"] == split)
    return f"{100 * of_split['later']['value']:.{decimals}f}"


def column(dataset, name, measure, decimals=1):
    """Write a figure of merit of a measure in the study."""
    (of_measure,) = (one for one in STUDY[dataset]["verdict"]["measures"] if one["measure"] == measure)
    return f"{100 * of_measure[name]:.{decimals}f}"


def regret(dataset, measure):
    """Write what the choices of a measure lose."""
    (of_measure,) = (one for one in STUDY[f"{dataset}-selection"]["validation"] if one["measure"] == measure)
    return f"{100 * of_measure['mean_regret']['over_resamples']:.2f}"


of_today = f"ensembles have {floor(OOD, NETWORK, decimals=2)} and {floor(OOD, NETWORK, 'R@1,IoU=0.7', 2)} on test-ood"
A_TABLE = f"reaches {floor(ANET, TABLE)} at `R@1,IoU=0.5` on ActivityNet Captions `val_2`"
CLAIMS = [
    ("README.md", f"never sees a video scores {floor(STA, NETWORK)} at `R@1,IoU=0.5` on Charades-STA"),
    *((page, of_today) for page in ("bench.md", "methods/index.md", "sweep-results.md")),
    *((page, A_TABLE) for page in ("annotate.md", "resplit.md")),
    ("audit-floors.md", f"they score {floor(ANET, TABLE)} and {floor(ANET, PARAGRAPH)} at `R@1,IoU=0.5`"),
    ("audit-floors.md", f"the sentence network scores {floor(ANET, NETWORK, decimals=0)}. They are run"),
    ("audit-floors.md", f"scores {floor(STA, BY_START)} on Charades-STA and {floor(TACOS, BY_START)} on TACoS"),
    ("audit-floors.md", f"of the video scores {floor(OOD, OF_SPLIT)} at `R@1,IoU=0.5`; the sentence network scores"),
    ("audit-floors.md", f"the sentence network scores {floor(OOD, NETWORK)}. Two more"),
    (
        "audit-floors.md",
        f"starts later in {later('activitynet-captions', 'val_2')} % of pairs on ActivityNet Captions `val_2`, "
        f"{later('activitynet-cd', 'test-ood')} % on ActivityNet-CD `test-ood` and "
        f"{later('tacos', 'test')} % on TACoS, but in {later('charades-sta', 'test', 0)} % on Charades-STA",
    ),
    ("bench.md", f"today's network, with {floor(OOD, NETWORK, 'dR@1,IoU=0.5', 2)}, is above TSP-PRL"),
    (
        "blind.md",
        f"TACoS it scores {floor(TACOS, BY_START, decimals=2)} at `R@1,IoU=0.5` "
        f"instead of {floor(TACOS, TABLE, decimals=2)}",
    ),
    (
        "blind.md",
        f"Charades-STA {floor(STA, BY_START, decimals=2)}, where the best constant scores "
        f"{floor(STA, CONSTANT, decimals=2)}",
    ),
    ("blind.md", f"it reaches {floor(OOD, OF_SPLIT, 'dR@1,IoU=0.5')} at `dR@1,IoU=0.5`"),
    ("study.md", f"selection by AxIoU@10 loses {regret('charades-cd', 'AxIoU@10')} points per test measure"),
    ("study.md", f"On ActivityNet Captions it loses {regret('activitynet-captions', 'AxIoU@10')} points"),
    ("study.md", f"second on Charades-STA ({column('charades-sta', 'separated', 'AxIoU@10')} %)"),
    ("study.md", f"fourth on ActivityNet Captions ({column('activitynet-captions', 'separated', 'AxIoU@10')} %"),
    (
        "study.md",
        f"in {column('charades-sta', 'change_places', 'AxIoU@1')} % of the cases in AxIoU@1, and in "
        f"{column('charades-sta', 'change_places', 'R@10,IoU=0.7')} % in R@10,IoU=0.7",
    ),
]


@pytest.mark.parametrize(("page", "claim"), CLAIMS)
def test_a_sentence_has_the_figure_of_the_result(page, claim):
    path = ROOT / page if page == "README.md" else ROOT / "docs" / page
    assert claim in re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))


def test_the_order_in_which_the_study_names_measures():
    """docs/study.md: pairs that are separated."""
    for dataset, place in (("charades-sta", 2), ("activitynet-captions", 4)):
        by_pairs = sorted(STUDY[dataset]["verdict"]["measures"], key=lambda one: -one["separated"])
        names = [one["measure"] for one in by_pairs]
        assert (names[0], names.index("AxIoU@10") + 1) == ("AxIoU@5", place)
