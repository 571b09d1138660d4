"""docs/order.json, from which the table of docs/datasets.md is made, has the figures of the real files."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from truemoment.data.datasets import DATASETS

from ..thorough import quick_are

DOCS = Path(__file__).resolve().parents[2] / "docs"
KEPT = json.loads((DOCS / "order.json").read_text(encoding="utf-8"))
_spec = importlib.util.spec_from_file_location("order_of_docs", DOCS / "order.py")
order_of_docs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(order_of_docs)


def rounded(value):
    """JSON values, numbers to 9 decimals: the last bits depend on the machine."""
    if isinstance(value, dict):
        return {name: rounded(of) for name, of in value.items()}
    if isinstance(value, list):
        return [rounded(of) for of in value]
    return round(value, 9) if isinstance(value, float) else value


@pytest.mark.data
@pytest.mark.parametrize("name", quick_are({"tacos", "didemo"}, tuple(KEPT)))
def test_kept_figures_are_those_of_the_files(data_dir, name):
    if not (data_dir / name).is_dir():
        pytest.skip(f"no real files in {data_dir / name}")
    found = {of["split"]: of for of in order_of_docs.measured(DATASETS[name], data_dir)}
    kept = {of["split"]: of for of in KEPT[name]}
    assert found
    assert rounded({split: kept[split] for split in found}) == rounded(found)
