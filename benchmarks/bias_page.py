"""The bias page of ActivityNet Captions and TACoS with all its figures, as a user makes it; and where its time goes.

The command runs three times after a warm-up; median and range of wall time, and its largest memory. Then once in this
process, a line a part: reading, each part of the survey, each figure that takes a second or more. Needs the real files
(TRUEMOMENT_DATA or ../shared/data).

Run: OMP_NUM_THREADS=2 python benchmarks/bias_page.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

RUNS = 3
DATASETS = {"activitynet-captions": ("train", "test"), "tacos": ("train", "val", "test")}
LIMIT_S = 60.0


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


def parts(data: Path) -> dict[str, float]:
    """Seconds of each part, in this process."""
    import numpy as np  # noqa: PLC0415 - only the process that is measured holds them in memory

    from truemoment.data.datasets import load_annotations  # noqa: PLC0415 - the same
    from truemoment.data.language import get_engine  # noqa: PLC0415 - the same
    from truemoment.report.drawing import inline_svg  # noqa: PLC0415 - the same
    from truemoment.report.model import Drawing  # noqa: PLC0415 - the same
    from truemoment.studies.bias.report import report  # noqa: PLC0415 - the same
    from truemoment.studies.bias.surveys import survey  # noqa: PLC0415 - the same

    seconds: dict[str, float] = defaultdict(float)
    began, part = time.perf_counter(), "reading files"

    def on_status(what: str) -> None:
        nonlocal began, part
        now = time.perf_counter()
        seconds[part] += now - began
        began, part = now, what

    surveys = []
    for name, splits in DATASETS.items():
        on_status("reading files")
        annotations = {split: load_annotations(name, split, data_dir=data) for split in splits}
        surveys.append(survey(annotations, np.random.default_rng(0), get_engine(), on_status=on_status))
    for drawing in report(surveys, seed=0).drawings:
        if isinstance(drawing, Drawing):  # the page's templates draw charts
            on_status(f"figure {drawing.name}")
            inline_svg(drawing)
    on_status("")
    return seconds


def main() -> None:
    """Print the time of the command, and a line a part."""
    data = Path(os.environ.get("TRUEMOMENT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not data.is_dir():
        raise SystemExit(f"no real data at {data}; set TRUEMOMENT_DATA")
    with tempfile.TemporaryDirectory() as temporary:
        page = Path(temporary) / "bias.html"
        words = [word for name in DATASETS for word in ("--dataset", name)]
        command = [sys.executable, "-m", "truemoment", "bias", *words, "--data-dir", str(data), "--html", str(page)]
        median, least, most, peak = timed(command)
        size = page.stat().st_size / 1e6
    kept = "kept" if median <= LIMIT_S else "NOT kept"
    print(f"truemoment bias, {', '.join(DATASETS)}, with its page of {size:.2f} MB")
    print(f"{median:6.1f} s ({least:.1f} to {most:.1f}), {peak:5.0f} MB; limit of {LIMIT_S:.0f} s {kept}")
    seconds = parts(data)
    figures = sum(taken for what, taken in seconds.items() if what.startswith("figure "))
    for what, taken in sorted(seconds.items(), key=lambda of: -of[1]):
        if taken >= 1 or not what.startswith("figure "):
            print(f"  {taken:6.2f} s  {what}")
    print(f"  {figures:6.2f} s  all figures")


if __name__ == "__main__":
    main()
