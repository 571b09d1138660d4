"""Whole processes, as a user starts them: import, help, evaluate from files, demo and audit.

Each command runs several times after a warm-up; median and range of wall time, and its largest memory. Files are made
in a temporary folder, by a process of their own so that the memory of making them is not counted. With TRUEMOMENT_DATA
or ../shared/data at hand the QVHighlights sample is measured too.

Run: python benchmarks/whole_process.py
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 5
RANKS, THRESHOLDS = (1, 5, 10, 50, 100), (0.1, 0.3, 0.5)
MEASURES = "; ".join(
    [f"{name}@{n},IoU={m}" for name in ("R", "dR") for n in RANKS for m in THRESHOLDS]
    + [f"AxIoU@{n}" for n in RANKS]
    + ["mIoU"]
)
CLI = [sys.executable, "-m", "truemoment"]


SIZES = ((17_031, 10, "native"), (72_044, 100, "parquet"), (72_044, 100, "native"))


def timed(command: list[str]) -> tuple[float, float, float, float]:
    """Median, least and most wall seconds, and the largest memory in MB."""
    walls, peaks = [], []
    for run in range(RUNS + 1):
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command} failed with {process.returncode}")
        if run:
            walls.append(time.perf_counter() - began)
            peaks.append(usage.ru_maxrss / 1e3)
    walls.sort()
    return walls[RUNS // 2], walls[0], walls[-1], max(peaks)


def make_files(folder: Path) -> None:
    """Write annotations and predictions of every size."""
    from truemoment.data.formats import write_predictions  # noqa: PLC0415 - the same
    from world import film_world  # noqa: PLC0415 - only the process that makes files holds them in memory

    for n_queries, n_answers, name in SIZES:
        annotations, predictions = film_world(n_queries, n_answers)
        reference = folder / f"annotations_{n_queries}.jsonl"
        with reference.open("w", encoding="utf-8") as stream:
            for row in range(len(annotations)):
                line = {
                    "query_id": annotations.query_id[row],
                    "video_id": annotations.video_id[row],
                    "duration_s": annotations.duration_s[row],
                    "sentence": annotations.sentence[row],
                    "moments": [[annotations.start_s[row], annotations.end_s[row]]],
                }
                stream.write(json.dumps(line) + "\n")
        annotations = dataclasses.replace(annotations, dataset=reference.name, split="all")
        write_predictions(folder / f"predictions_{n_queries}.{name}", predictions, annotations, format=name)


def main() -> None:
    """Print a line a command."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        subprocess.run([sys.executable, __file__, str(folder)], check=True)
        commands: dict[str, list[str]] = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import truemoment": [sys.executable, "-c", "import truemoment"],
            "truemoment --help": [*CLI, "--help"],
        }
        data = Path(os.environ.get("TRUEMOMENT_DATA", Path(__file__).parents[2] / "shared" / "data"))
        if data.is_dir():
            sample = data / "qvhighlights" / "sample_val_preds.jsonl"
            where = ["--dataset", "qvhighlights", "--split", "val", "--data-dir", str(data)]
            commands["evaluate QVHighlights sample, 1,550 x 10"] = [*CLI, "evaluate", str(sample), *where]
        for n_queries, n_answers, name in SIZES:
            path = folder / f"predictions_{n_queries}.{name}"
            where = ["--annotations", str(folder / f"annotations_{n_queries}.jsonl")]
            extra = ["--measures", MEASURES] if n_answers == 100 else []
            what = f"evaluate {n_queries:,} x {n_answers} from {name} ({path.stat().st_size / 1e6:.0f} MB)"
            commands[what] = [*CLI, "evaluate", str(path), *where, *extra]
        commands["demo"] = [*CLI, "demo", "--out", str(folder / "demo"), "--no-open"]
        if data.is_dir():
            where = ["--dataset", "activitynet-cd", "--split", "test-ood", "--data-dir", str(data)]
            answers = str(folder / "random.jsonl")  # ten answers a query
            subprocess.run([*CLI, "baseline", "random-chance", *where, "-o", answers, "--quiet"], check=True)
            what = "audit ActivityNet-CD test-ood, 13,578 x 10, with its page"
            commands[what] = [*CLI, "audit", answers, *where, "--html", str(folder / "audit.html")]
        for what, command in commands.items():
            median, least, most, peak = timed(command)
            print(f"{what:58} {median:6.2f} s ({least:.2f} to {most:.2f}), {peak:5.0f} MB", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make_files(Path(sys.argv[1]))
    else:
        main()
