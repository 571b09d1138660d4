"""Public predictions, audited: every file of ``public_predictions.csv`` beside the floors of its split.

FOLDER gets a leaderboard a split: the prediction files as they were published, and a site. Files that are there are
kept; others are fetched from their repository at the commit that the list names. A file with another checksum is
refused. Needs the data folder (TRUEMOMENT_DATA) with qvhighlights, charades-sta, charades-cd and activitynet-cd.

Run: python benchmarks/audited.py FOLDER [--only BOARD] [--results results/audited.csv]
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import shutil
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import yaml

import truemoment as tm
from truemoment.base.boundary.documents import as_json
from truemoment.base.boundary.tables import csv_of
from truemoment.data.datasets import load_annotations
from truemoment.data.formats import read_predictions
from truemoment.data.references import read_annotations, write_splits

LIST = Path(__file__).with_name("public_predictions.csv")
ADDRESS = "https://raw.githubusercontent.com/{repository}/{commit}/{path}"
VUE_TR = {"fields": "moments=gt, sentence=query", "measures": "Area,of=IoU; Area,of=precision; Area,of=recall"}
MOMENT_DETR = {"measures": "R@1,IoU=0.5; R@1,IoU=0.7; mAP"}

BOARDS: Mapping[str, Mapping[str, str]] = {
    "qvhighlights-val": {"dataset": "qvhighlights", "split": "val", **MOMENT_DETR},
    "qvhighlights-test": {"split": "test", "protocol": "moment-detr", **MOMENT_DETR},
    "charades-cd-test-ood": {"dataset": "charades-cd", "split": "test-ood"},
    "activitynet-cd-test-ood": {"dataset": "activitynet-cd", "split": "test-ood"},
    "charades-sta-test": {"split": "test"},
    "vue-tr": VUE_TR,
    "vue-tr-v2": VUE_TR,
}
"""Fields of the leaderboards, without title and systems."""


class Source(NamedTuple):
    """A published file; without a system it has the references. `stated` is the figure by the repository, in %."""

    board: str
    system: str
    repository: str
    commit: str
    path: str
    sha256: str
    paper: str
    reads: str
    stated: str


def read_list() -> list[Source]:
    """Read the list of published files."""
    with LIST.open(newline="", encoding="utf-8") as rows:
        return [Source(**row) for row in csv.DictReader(rows)]


def fetched(source: Source, folder: Path) -> Path:
    """Return the file, from the folder or its repository."""
    file = folder / f"{source.sha256[:12]}{Path(source.path).suffix}"
    if not file.is_file():
        address = ADDRESS.format(**source._asdict() | {"path": quote(source.path)})
        partial = file.with_suffix(".partial")
        with urllib.request.urlopen(address, timeout=60) as answer, partial.open("wb") as out:  # noqa: S310
            shutil.copyfileobj(answer, out)
        partial.replace(file)
    if hashlib.sha256(file.read_bytes()).hexdigest() != source.sha256:
        raise SystemExit(f"{file}: not the file of {source.repository} at {source.commit}: another checksum")
    return file


def qvhighlights_test(file: Path, folder: Path) -> None:
    """Write the references of the test split, which were published later, beside the training split."""
    train = load_annotations("qvhighlights", "train")
    write_splits(folder / "references.jsonl", [train, read_annotations(file, split="test")])


def answered_of_charades(file: Path, folder: Path) -> None:
    """Write the references of the queries that an example file answers, beside the training split."""
    test = load_annotations("charades-sta", "test")
    answers, _ = read_predictions(file, test)
    rows = np.isin(test.queries.query_id, answers.query_id)
    write_splits(folder / "references.jsonl", [load_annotations("charades-sta", "train"), test.select_queries(rows)])


REFERENCES: Mapping[str, Callable[[Path, Path], None]] = {
    "qvhighlights-test": qvhighlights_test,
    "charades-sta-test": answered_of_charades,
}


def write_board(board: str, sources: list[Source], folder: Path) -> None:
    """Fetch the files of a leaderboard and write its ``leaderboard.yaml``."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {source: fetched(source, folder) for source in sources}
    entry: dict[str, Any] = {"title": f"Public predictions: {board}", **BOARDS[board]}
    references = next((file for source, file in files.items() if not source.system), None)
    if board in REFERENCES:
        REFERENCES[board](references or next(iter(files.values())), folder)
        entry["annotations"] = "references.jsonl"
    elif references is not None:
        entry |= {"annotations": references.name, "fit_split": "none"}
    entry["systems"] = [
        {"name": source.system, "files": file.name, "paper": source.paper, "sees_video": True}
        | ({"reads": source.reads} if source.reads else {})
        | ({"prediction_fields": "moments=answer"} if board.startswith("vue-tr") else {})
        for source, file in files.items()
        if source.system
    ]
    (folder / "leaderboard.yaml").write_text(yaml.safe_dump(entry, sort_keys=False), "utf-8")


def rows_of(board: str, site: Any, sources: list[Source]) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - a result
    """Return a row a system and measure, and of floors and ceilings, with verdict and skill."""
    systems = {system["name"]: system for system in as_json(site.document())["systems"]}
    stated = {source.system: source.stated for source in sources}
    for row in site.rows():
        system = systems.get(row["system"])
        low, high = ("", "") if system is None else system["skill"]["ci95"]
        yield {
            "board": board,
            **row,
            "skill_low": low,
            "skill_high": high,
            "verdict": "" if system is None else system["verdict"],
            "stated": stated.get(row["system"], ""),
        }


def main() -> None:
    """Audit the files of each leaderboard."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=BOARDS)
    parser.add_argument("--results", type=Path)
    choices = parser.parse_args()
    boards = [choices.only] if choices.only else list(BOARDS)
    rows: list[dict[str, Any]] = []
    if choices.results and choices.results.is_file():
        with choices.results.open(newline="", encoding="utf-8") as kept:
            rows = [row for row in csv.DictReader(kept) if row["board"] not in boards]
    for board in boards:
        sources = [source for source in read_list() if source.board == board]
        write_board(board, sources, choices.folder / board)
        site = tm.leaderboard(choices.folder / board)
        site.write_site(choices.folder / board / "site")
        print(f"{site!r}: {choices.folder / board / 'site' / 'index.html'}", flush=True)
        rows += rows_of(board, site, sources)
    if choices.results:
        choices.results.write_text(csv_of(rows), "utf-8")


if __name__ == "__main__":
    main()
