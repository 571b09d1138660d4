"""The study of docs/study.md, made again: ``TRUEMOMENT_DATA=... python docs/study.py``.

Runs the commands of the page (about a quarter of an hour on two cores) and keeps what the page shows of them:
``docs/study.json``, from which docs/refresh.py makes its tables, and figures in ``docs/_static/study``. Needs the
annotations of Charades-STA, Charades-CD, ActivityNet Captions and human-charades; nothing of them is kept but figures.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
KEPT = DOCS / "study.json"
PICTURES = DOCS / "_static" / "study"

RECIPE = """\
truemoment meta report --population --baselines --dataset charades-sta --split test --data-dir data \\
    --annotators human-charades --json charades-sta.json --figures charades-sta --html charades-sta.html
truemoment meta report --population --baselines --dataset activitynet-captions --split val_2 --data-dir data \\
    --json activitynet-captions.json --figures activitynet-captions --html activitynet-captions.html
truemoment meta population --variants 160 --dataset charades-cd --split val --data-dir data -o charades-val
truemoment meta population --variants 160 --dataset charades-cd --split test-iid --data-dir data -o charades-test
truemoment meta selection --validation charades-val --test charades-test --data-dir data \\
    --dataset charades-cd --validation-split val --split test-iid \\
    --json charades-cd-selection.json --figures charades-cd-selection
truemoment meta population --variants 64 --dataset activitynet-captions --split val_1 --data-dir data -o anet-val
truemoment meta population --variants 64 --dataset activitynet-captions --split val_2 --data-dir data -o anet-test
truemoment meta selection --validation anet-val --test anet-test --data-dir data \\
    --dataset activitynet-captions --validation-split val_1 --split val_2 \\
    --json activitynet-captions-selection.json --figures activitynet-captions-selection
TEST="R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7; R@5,IoU=0.3; R@5,IoU=0.5; R@5,IoU=0.7; R@10,IoU=0.5; R@10,IoU=0.7"
VALIDATION="$TEST; R@10,IoU=0.3; AxIoU@1; AxIoU@5; AxIoU@10"
truemoment meta selection --validation charades-val --test charades-test --data-dir data \\
    --dataset charades-cd --validation-split val --split test-iid \\
    --measures "$VALIDATION" --test-measures "$TEST" --json charades-cd-paper.json
"""
"""The commands, as the page shows them, in an empty folder in which ``data`` holds the annotations."""

REPORTS = ("charades-sta", "activitynet-captions")
PAPER = "charades-cd-paper"
"""Selection by the paper's 12 validation measures, judged by its 8 test measures (section 6.6, Fig. 8)."""

SELECTIONS = ("charades-cd-selection", "activitynet-captions-selection")
SHOWN = {
    "charades-sta": ("agreement-tau", "stability-mean", "ambiguity-annotators-rmse", "ambiguity-annotators-places"),
    "activitynet-captions": ("agreement-tau", "stability-mean"),
    "charades-cd-selection": ("selection-z-scores",),
}
"""Figures that the page shows."""


def commands() -> list[list[str]]:
    """Each command of the recipe as words, with the values of its variables."""
    values: dict[str, str] = {}
    found = []
    for line in RECIPE.replace("\\\n", " ").splitlines():
        for name, value in values.items():
            line = line.replace(f"${name}", value)  # noqa: PLW2901 - as a shell does
        name, _, value = line.partition("=")
        if name.isupper():
            values[name] = shlex.split(value)[0]
        else:
            found.append(shlex.split(line))
    return found


def kept_of_report(document: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of a report."""
    studies = document["studies"]
    noise = {name: study for name, study in studies.items() if name.startswith("ambiguity")}
    return {
        "dataset": document["dataset"],
        "split": document["split"],
        "annotations": document["annotations"],
        "convention": document["convention"],
        "seed": document["seed"],
        "n_systems": studies["stability"]["n_systems"],
        "verdict": document["verdict"],
        "claims": studies["claims"]["claims"],
        "noise": [
            {"model": study["model"], "level": level["level"]}
            | {key: level[key] for key in ("mean_iou", "mean_of_median_iou")}
            for study in noise.values()
            for level in study["levels"]
        ],
    }


def kept_of_selection(document: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of a study of selection."""
    study = document["studies"]["selection"]
    return {
        "dataset": document["dataset"],
        "split": document["split"],
        "seed": document["seed"],
        "n_variants": len(study["variants"]),
        "said": study["said"],
        "order": study["order"],
        "by_lot": study["by_lot"],
        "validation": [
            {key: of[key] for key in ("measure", "chosen", "tied", "mean_regret")} for of in study["validation"]
        ],
    }


def kept_of_paper(document: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of a selection by the paper's measures: by how many each choice is above average."""
    study = document["studies"]["selection"]
    return {
        "dataset": document["dataset"],
        "split": document["split"],
        "seed": document["seed"],
        "n_variants": len(study["variants"]),
        "n_tests": len(study["validation"][0]["test"]),
        "validation": [
            {
                "measure": of["measure"],
                "above": sum(test["z"] > 0 for test in of["test"]),
                "lowest_z": min(test["z"] for test in of["test"]),
                "mean_regret": of["mean_regret"]["value"],
            }
            for of in study["validation"]
        ],
    }


def main() -> None:
    """Run the recipe and keep what the page shows."""
    data = os.environ.get("TRUEMOMENT_DATA")
    if not data:
        raise SystemExit("set TRUEMOMENT_DATA to the folder that holds a folder a dataset")
    program = Path(sys.executable).parent / "truemoment"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").symlink_to(Path(data).resolve())
        for words in commands():
            print(shlex.join(words), flush=True)  # noqa: T201 - a quarter of an hour's work says where it is
            done = subprocess.run(  # noqa: S603 - our own program, with the words above
                [program, *words[1:], "--quiet"], cwd=folder, stdout=subprocess.DEVNULL, check=False
            )
            if done.returncode:
                raise SystemExit(f"failed with status {done.returncode}")
        kept: dict[str, Any] = {"recipe": RECIPE}
        kept |= {of: kept_of_report(json.loads((folder / f"{of}.json").read_text("utf-8"))) for of in REPORTS}
        kept |= {of: kept_of_selection(json.loads((folder / f"{of}.json").read_text("utf-8"))) for of in SELECTIONS}
        kept[PAPER] = kept_of_paper(json.loads((folder / f"{PAPER}.json").read_text("utf-8")))
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        shutil.rmtree(PICTURES, ignore_errors=True)
        PICTURES.mkdir(parents=True)
        for of, figures in SHOWN.items():
            for figure in figures:
                shutil.copy(folder / of / f"{figure}.svg", PICTURES / f"{of}-{figure}.svg")


if __name__ == "__main__":
    main()
