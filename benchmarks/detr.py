"""An epoch of Moment-DETR and QD-DETR on QVHighlights, reading its features, beside an epoch of the authors' code.

Queries, windows and ratings are those of QVHighlights; features are random numbers of the published sizes: 2,304 and
512 for each clip of 2 s, and 5 to 20 words with 512. The authors' code reads NPZ files of a video, of a query and of a
source, as published; ours memory-maps the rows that `truemoment features convert` makes of them, and reads the same
files of queries. Both train with their own options, loop and loader: the authors' `start_training`, and the recipes
moment-detr-full and qd-detr-full. Each has a process of its own and as many threads as the machine has cores.

Times are those of the epoch, from the first batch that is requested to the last step, with the processes that load
data; ours reads the words once a run and theirs in each epoch, which the time of the whole process has in both. Memory
is the most of all processes together, pages that they share counted once. That the losses are equal is a test
(tests/models/test_set_models_authors.py).

Run: python benchmarks/detr.py DATA AUTHORS FOLDER [--share 0.1] [--methods moment-detr,qd-detr]

DATA has highlight_train_release.jsonl and highlight_val_release.jsonl. AUTHORS has checkouts of the authors' code,
`moment_detr` of github.com/jayleicn/moment_detr at b7e553a and `QD-DETR` of github.com/wjun0830/QD-DETR at 56c63b2,
which needs SciPy, tqdm and tensorboard. FOLDER is made, with 13 GB of features for a share of 1, and kept for the next
run.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import logging
import math
import os
import re
import resource
import subprocess
import sys
import time
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from truemoment.learning.training import examples
from truemoment.learning.training.performing import perform
from truemoment.learning.training.request import TrainRequest
from truemoment.learning.training.run import Run
from truemoment.media.features import FolderStore, JoinedFeatures, write_store

SOURCES = {"slowfast_features": 2304, "clip_features": 512}
WORDS, VECTOR = "clip_text_features", 512
NAME, TRAIN, VAL = "qvhighlights", "highlight_train_release.jsonl", "highlight_val_release.jsonl"
N_VAL = 8
"""Validation queries; validation is not timed."""

CLIP_S = 2.0
SAMPLED_S = 0.5
"""Seconds between two looks at the memory."""

AUTHORS = {"moment-detr": ("moment_detr", "moment_detr"), "qd-detr": ("QD-DETR", "qd_detr")}
"""Folder and package of the authors' code."""

T = TypeVar("T")


def make(data: Path, folder: Path, share: float) -> None:
    """Write annotations and features."""
    rng = np.random.default_rng(0)
    for part in (*SOURCES, WORDS, NAME):
        (folder / part).mkdir(parents=True)
    videos: dict[str, int] = {}
    for name, n_queries in ((TRAIN, None), (VAL, N_VAL)):
        lines = (data / name).read_text().splitlines()
        lines = lines[: round(share * len(lines)) if n_queries is None else n_queries]
        (folder / NAME / name).write_text("\n".join(lines) + "\n")
        for query in map(json.loads, lines):
            videos[query["vid"]] = math.ceil(query["duration"] / CLIP_S)
            rows = rng.standard_normal((rng.integers(5, 21), VECTOR), dtype=np.float32)
            np.savez(folder / WORDS / f"qid{query['qid']}.npz", last_hidden_state=rows, pooler_output=rows[-1])
    for video, n_clips in videos.items():
        for source, width in SOURCES.items():
            rows = rng.standard_normal((n_clips, width), dtype=np.float32)
            np.savez(folder / source / f"{video}.npz", features=rows)
    stores = tuple(FolderStore(folder / source, fps=1 / CLIP_S) for source in SOURCES)
    write_store(folder / "features", JoinedFeatures(stores))


class Epoch:
    """Clock, and processor time of this process and of those that it started and that ended."""

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        began, used = time.perf_counter(), self._used()
        yield
        self.figures |= {"clock": time.perf_counter() - began, "processor": self._used() - used}

    @staticmethod
    def _used() -> float:
        parts = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(part.ru_utime + part.ru_stime for part in parts)


def ours(method: str, folder: Path, _: Path, epoch: Epoch) -> None:
    """Train for an epoch by the recipe, as `truemoment train` does."""

    def follow(items: Iterable[T], what: str) -> Iterable[T]:
        return timed(items) if what == "epoch 1" else items

    def timed(batches: Iterable[T]) -> Iterator[T]:
        with epoch.timed():
            yield from batches

    examples.ON_DEMAND_BYTES = 0  # a share is read from the files, as the whole is
    request = TrainRequest(
        f"{method}-full",
        dataset=NAME,
        data_dir=folder,
        features=str(folder / "features"),
        queries=folder / WORDS,
        test="none",
        set={"train.epochs": 1},
    )
    run = Run.resolve(request.resolved_recipe(), request.run_sources(), 0)
    result = perform(run, folder / "runs" / f"{method}-{os.getpid()}", track=follow)
    epoch.figures |= {"waited": result.history[0].waited * result.history[0].seconds}


class Waited(logging.Handler):
    """Reads the mean time that the authors' loop waited for a batch from its log."""

    mean = math.nan

    def emit(self, record: logging.LogRecord) -> None:
        if found := re.search(r"dataloading_time ==> .*'avg': '([\d.]+)'", record.getMessage()):
            self.mean = float(found[1])


def theirs(method: str, folder: Path, authors: Path, epoch: Epoch) -> None:
    """Train for an epoch by the authors' code and the options of their script, on processors."""
    checkout, package = AUTHORS[method]
    os.chdir(authors / checkout)
    sys.path.insert(0, str(authors / checkout))
    setattr(torch.Tensor, "cuda", lambda tensor: tensor)  # noqa: B010 - a line moves the slots to a GPU
    evaluator: Any = types.ModuleType("standalone_eval.eval")  # it needs scikit-learn, and an epoch does not use it
    sys.modules[evaluator.__name__] = evaluator
    evaluator.eval_submission = None
    program: Any = importlib.import_module(f"{package}.train")
    log, one_epoch, batches = Waited(), program.train_epoch, 0

    def timed(*words: Any) -> None:  # noqa: ANN401 - theirs
        nonlocal batches
        batches = len(words[2])
        with epoch.timed():
            one_epoch(*words)

    program.train_epoch = timed
    program.logger.addHandler(log)
    options = {
        "dset_name": "hl",
        "ctx_mode": "video_tef",
        "train_path": folder / NAME / TRAIN,
        "v_feat_dirs": [folder / source for source in SOURCES],
        "v_feat_dim": sum(SOURCES.values()),
        "t_feat_dir": f"{folder / WORDS}/",
        "t_feat_dim": VECTOR,
        "bsz": 32,
        "results_root": folder / "runs",
        "exp_id": os.getpid(),
        "n_epoch": 1,
        "device": -1,
    }
    words = [[f"--{name}", *(value if isinstance(value, list) else [value])] for name, value in options.items()]
    sys.argv[1:] = [str(word) for option in words for word in option]
    program.start_training()
    epoch.figures |= {"waited": batches * log.mean}


def memory_mb(group: int) -> float:
    """Return the memory of the processes of a group; a page that several have counts once in all."""
    total_kb = 0
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            if int((process / "stat").read_text().rpartition(")")[2].split()[2]) == group:
                total_kb += int(re.findall(r"Pss:\s+(\d+)", (process / "smaps_rollup").read_text())[0])
    return total_kb / 1024


def measured(side: str, method: str, folder: Path, authors: Path) -> dict[str, float]:
    """Return the figures of an epoch in a process of its own."""
    words = [sys.executable, __file__, side, method, folder, authors]
    with (folder / f"{side}.log").open("w") as log:
        process = subprocess.Popen(
            list(map(str, words)), stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )
    began, most_mb = time.perf_counter(), 0.0
    try:
        while process.poll() is None:
            most_mb = max(most_mb, memory_mb(process.pid))
            time.sleep(SAMPLED_S)
    finally:
        process.kill()
    output = process.communicate()[0]
    if process.returncode:
        raise SystemExit(f"{side} {method}: see {log.name}")
    figures: dict[str, float] = json.loads(output.splitlines()[-1])
    return figures | {"whole process": time.perf_counter() - began, "memory": most_mb}


def main() -> None:
    if sys.argv[1] in ("ours", "theirs"):
        side, method, folder, authors = sys.argv[1:]
        epoch = Epoch()
        {"ours": ours, "theirs": theirs}[side](method, Path(folder), Path(authors), epoch)
        print(json.dumps(epoch.figures))
        return
    parser = argparse.ArgumentParser()
    for name in ("data", "authors", "folder"):
        parser.add_argument(name, type=lambda path: Path(path).resolve())
    parser.add_argument("--share", type=float, default=1.0, help="of the training queries")
    parser.add_argument("--methods", default=",".join(AUTHORS))
    given = parser.parse_args()
    if not (given.folder / "features").exists():
        make(given.data, given.folder, given.share)
    n_queries = len((given.folder / NAME / TRAIN).read_text().splitlines())
    print(f"{n_queries:,} queries, {torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f}", flush=True)
    for method in given.methods.split(","):
        figures = {side: measured(side, method, given.folder, given.authors) for side in ("theirs", "ours")}
        for side, of_side in figures.items():
            shown = ", ".join(f"{name} {value:,.1f} s" for name, value in of_side.items() if name != "memory")
            print(f"{method}, {side}: {shown}, memory {of_side['memory']:,.0f} MB")
        ratios = {
            name: figures["theirs"][name] / figures["ours"][name] for name in ("clock", "processor", "whole process")
        }
        print(f"{method}: {', '.join(f'{ratio:.2f} times by {name}' for name, ratio in ratios.items())}", flush=True)


if __name__ == "__main__":
    main()
