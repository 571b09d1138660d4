"""Published figures, data and run folders of one's own: publish(name, rows), trained(name, model), small datasets."""

import csv
import json
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.results import ResultRow
from truemoment.studies.compare.comparison import PublishedFigure

COLUMNS = ["source", "table", "dataset", "split", "method", "measure", "value", "unit", "note"]


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """Publish other figures than the package's: rows (table, dataset, split, method, measure, value, unit)."""
    folder = tmp_path / "published"
    folder.mkdir()
    monkeypatch.setattr("truemoment.reproduction.base.PUBLISHED", folder)

    def write(name, *rows):
        with (folder / name).open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(COLUMNS)
            writer.writerows(["a paper", *row, ""] for row in rows)

    return write


@pytest.fixture
def figure():
    """Make a published figure."""

    def make(value, unit="percent", *, method="m", measure="R@1,IoU=0.5", table="Table 1"):
        place = ("a paper", table, "a dataset", "test", method, measure)
        return PublishedFigure(*place, value=Decimal(value), unit=unit, note="", path=Path("figures.csv"), line=2)

    return make


@pytest.fixture
def small_data(tmp_path):
    """Write a data folder with some of Charades-CD and all of Charades-STA.

    Charades-CD: videos of 20 s; test-iid moments are the first half. Charades-STA: videos of 30 s; test moments are the
    whole video, training moments start everywhere.
    """
    folder = tmp_path / "data"

    def of_charades_cd(split, videos):
        entries = {
            video: {"video_duration": 20.0, "timestamps": moments, "sentences": ["a"] * len(moments)}
            for video, moments in videos.items()
        }
        (folder / "charades-cd").mkdir(parents=True, exist_ok=True)
        (folder / "charades-cd" / f"charades_{split}.json").write_text(json.dumps(entries))

    of_charades_cd("train", {"t0": [[0, 10], [1, 9]], "t1": [[2, 8], [0, 14]]})
    of_charades_cd("val", {"v": [[0, 10], [0, 10]], "w": [[0, 10]]})
    of_charades_cd("test_iid", {"x": [[0, 10], [0, 10]]})

    (folder / "charades-sta").mkdir()
    for split, moments in (("train", [(i, i + 10 - i % 3) for i in range(20)]), ("test", [(0, 30)] * 30)):
        lines = "".join(f"{split}{i} {start} {end}##person opens a door.\n" for i, (start, end) in enumerate(moments))
        (folder / "charades-sta" / f"charades_sta_{split}.txt").write_text(lines)
        lengths = "".join(f"{split}{i},30\n" for i in range(len(moments)))
        (folder / "charades-sta" / f"Charades_v1_{split}.csv").write_text(f"id,length\n{lengths}")
    return folder


@pytest.fixture
def trained(tmp_path):
    """Write a run folder: trained(name, model, settings, seed, features, figures, answers, ...)."""

    def write(
        name,
        model,
        settings=None,
        *,
        seed=0,
        features="i3d.hdf5",
        dataset="charades-cd",
        figures=(),
        answers=(),
        split="test-iid",
        finished=True,
        **more,
    ):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        recipe = Recipe(model, about=f"{model} of a test", settings=settings or {})
        data = {"dataset": dataset, "split": "train", "sha256": "0" * 64, "n_queries": 1, "n_videos": 1}
        named = f"{features} (frame mAP 0.3), seed={seed}" if features.startswith("perception:") else "hdf5:i3d.hdf5#12"
        request = {"recipe": msgspec.to_builtins(recipe), "seed": seed, "train": data, "val": data}
        request |= {"features": features, "features_name": named, "n_dimensions": 8, "n_vector": 8}
        (folder / "run.json").write_text(json.dumps(request | {"schema": "truemoment/run/1"} | more))
        rows = [
            ResultRow(model, recipe.hash, seed, dataset, split, "0" * 8, named, measure, value, 2, "", 1, 1, *[""] * 4)
            for measure, value in figures
        ]
        if finished:
            (folder / "result.json").write_bytes(msgspec.json.encode({"figures": rows, "epochs": [], "seed": seed}))
        if answers:
            lines = ({"query_id": query, "moments": moments} for query, moments in answers)
            (folder / f"{split}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return folder

    write.folder = tmp_path / "runs"
    return write
