"""The order of sentences in docs/datasets.md, made again: ``TRUEMOMENT_DATA=... python docs/order.py``.

Measures every split whose files are there, a few seconds a dataset, and writes ``docs/order.json``, from which
docs/refresh.py makes the table. Datasets without files keep the figures that they have.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from truemoment.base.boundary.documents import as_json, json_text
from truemoment.base.errors import MissingFileError
from truemoment.base.records import Annotations
from truemoment.data.datasets import DATASETS, data_folder
from truemoment.data.datasets.base import Dataset
from truemoment.studies.bias.order import orders_of_splits
from truemoment.studies.bias.report_order import order_document

KEPT = Path(__file__).resolve().parent / "order.json"


def splits_of(dataset: Dataset, folder: Path) -> dict[str, Annotations]:
    """Read the splits whose files are there, also those that another split contains."""
    splits = {}
    for split in dataset.splits:
        try:
            splits[split.name] = dataset.read(folder / dataset.name, split.name)
        except MissingFileError as error:
            sys.stderr.write(f"{dataset.name}, {split.name}: left out: {error}\n")
    return splits


def measured(dataset: Dataset, folder: Path) -> Any:  # noqa: ANN401 - what JSON holds
    """Return the splits of a dataset as JSON values; an empty list without files."""
    return as_json(order_document(orders_of_splits(splits_of(dataset, folder))))


if __name__ == "__main__":
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    here = {name: measured(dataset, data_folder(None)) for name, dataset in DATASETS.items()}
    found = {name: here[name] or kept.get(name) for name in DATASETS}
    KEPT.write_text(json_text({name: of for name, of in found.items() if of}), encoding="utf-8")
