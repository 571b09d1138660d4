"""How often recall of official annotations is found, and how often an honest method is called a memoriser.

``TRUEMOMENT_DATA=data python benchmarks/contamination.py [runs]``

Simulated methods answer Charades-STA's test split. Errors of honest methods, start and end together:

* ``human-like``: differences between Human-Charades and official moments, drawn with replacement, plus a normal
  deviate of 0.3 s that smooths them;
* ``normal 2 s``, ``Laplace 1 s`` (with a common part), ``Laplace 0.5 s``;
* ``edges``: human-like, half of the starts at 0 and half of the ends at the end of the video.

Times are then rounded, or not. Memorisers answer a share of the queries with the official moment, also with noise or
rounded, and the others with human-like errors. Beside it: the annotators of Human-Charades, and a public prediction
file. A file is called a memoriser if any p value is at most 0.05 after Holm's correction.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.uncertainty import DrawSettings, holm
from truemoment.studies.contamination.exact_recall import SIDES, exact_recall, rounded_recall
from truemoment.studies.contamination.study import detect_contamination, detect_in_file, pairs_of
from truemoment.studies.evaluate.first_answers import FirstAnswers

DATA = Path(os.environ.get("TRUEMOMENT_DATA", "../shared/data"))
SHARES, SIZES = (0.02, 0.05, 0.1, 0.2), (0, 1000, 300)
Rounder = Callable[[Floats, Floats], Floats]
ROUNDERS: dict[str, Rounder] = {
    "as they are": lambda time_s, _: time_s,
    "0.1 s": lambda time_s, _: np.round(time_s, 1),
    "0.5 s": lambda time_s, _: np.round(2 * time_s) / 2,
    "1 s": lambda time_s, _: np.round(time_s),
    "5 s": lambda time_s, _: 5 * np.round(time_s / 5),
    "1/64 of the video": lambda time_s, duration_s: np.round(time_s / duration_s * 64) * duration_s / 64,
}
RECALL: dict[str, Callable[[Floats, np.random.Generator], Floats]] = {
    "exact": lambda time_s, _: time_s,
    "noise of 0.05 s": lambda time_s, rng: time_s + rng.normal(0, 0.05, len(time_s)),
    "noise of 0.1 s": lambda time_s, rng: time_s + rng.normal(0, 0.1, len(time_s)),
    "noise of 0.2 s": lambda time_s, rng: time_s + rng.normal(0, 0.2, len(time_s)),
    "rounded to 1 s": lambda time_s, _: np.round(time_s),
}
ERRORS = ("human-like", "normal 2 s", "Laplace 1 s", "Laplace 0.5 s", "edges")


def human_errors(official: Annotations, marked: Annotations) -> Floats:
    """Differences of annotators' and official moments away from the ends of the video, (N, 2)."""
    row = np.repeat(np.arange(marked.n_queries), np.diff(marked.offsets))
    found = official.in_order(marked.queries.query_id)
    start_s, end_s = found.start_s[row], found.end_s[row]
    inner = (start_s > 1.1) & (end_s < marked.duration_s - 1.1)
    inner &= (marked.start_s > 0.1) & (marked.end_s < marked.duration_s - 0.1)
    return np.stack([marked.start_s - start_s, marked.end_s - end_s], axis=1)[inner]


def errors(kind: str, humans: Floats, rng: np.random.Generator, n: int) -> Floats:
    """Draw errors of an honest method, (n, 2)."""
    if kind == "normal 2 s":
        return rng.normal(0, 2, (n, 2))
    if kind == "Laplace 1 s":
        return rng.laplace(0, 1, (n, 1)) + rng.normal(0, 0.5, (n, 2))
    if kind == "Laplace 0.5 s":
        return rng.laplace(0, 0.5, (n, 2))
    return np.asarray(humans[rng.integers(len(humans), size=n)] + rng.normal(0, 0.3, (n, 2)))


def is_called(official: Annotations, start_s: Floats, end_s: Floats, rng: np.random.Generator) -> bool:
    """Return whether a file would be called a memoriser."""
    pairs = pairs_of(official, FirstAnswers(start_s, end_s, 0))
    tests = [exact_recall(pairs, side, rng, resamples=0) for side in SIDES]
    found = [test.p for test in [*tests, rounded_recall(pairs, rng, resamples=0)] if test is not None]
    return bool((holm(np.array(found)) <= 0.05).any())


def simulate(
    official: Annotations,
    humans: Floats,
    seed: int,
    *,
    kind: str = "human-like",
    rounder: str = "0.1 s",
    share: float = 0.0,
    recall: str = "exact",
    size: int = 0,
) -> bool:
    """Answer a draw of `size` queries (0 for all), and return whether the file is called a memoriser."""
    rng = np.random.default_rng(seed)
    if size:
        keep = np.isin(np.arange(official.n_queries), rng.permutation(official.n_queries)[:size])
        official = official.select_queries(keep)
    n, duration_s = official.n_queries, official.duration_s
    wrong = errors(kind, humans, rng, n)
    remembered = rng.random(n) < share
    answers = []
    for side, true_s in enumerate((official.start_s, official.end_s)):
        time_s = true_s + wrong[:, side]
        if kind == "edges":
            time_s = np.where(rng.random(n) < 0.5, side * duration_s, time_s)
        seen = np.clip(ROUNDERS[rounder](time_s, duration_s), 0, duration_s)
        answers.append(np.where(remembered, np.clip(RECALL[recall](true_s, rng), 0, None), seen))
    return is_called(official, answers[0], answers[1], rng)


def rate(runs: int, run: Callable[[int], bool]) -> str:
    """Percent of the runs that are called."""
    return f"{100 * np.mean([run(seed) for seed in range(runs)]):.0f}"


def main(runs: int) -> None:
    """Print the tables."""
    official = load_annotations("charades-sta", "test", data_dir=DATA)
    marked = load_annotations("human-charades", "test", data_dir=DATA)
    humans = human_errors(official, marked)
    print(f"honest methods that are called memorisers, % of {runs} runs")
    print(f"{'':16}" + "".join(f"{name:>20}" for name in ROUNDERS))
    for kind in ERRORS:
        rates = [rate(runs, partial(simulate, official, humans, kind=kind, rounder=name)) for name in ROUNDERS]
        print(f"{kind:16}" + "".join(f"{of:>20}" for of in rates), flush=True)
    for size in SIZES:
        print(f"memorisers that are found, % of {runs // 2} runs, {size or official.n_queries} queries")
        print(f"{'':16}" + "".join(f"{share:>8.0%}" for share in SHARES))
        for recall in RECALL:
            rounder = "1 s" if recall == "rounded to 1 s" else "0.1 s"
            rates = [
                rate(
                    runs // 2,
                    partial(simulate, official, humans, rounder=rounder, share=share, recall=recall, size=size),
                )
                for share in SHARES
            ]
            print(f"{recall:16}" + "".join(f"{of:>8}" for of in rates), flush=True)
    draws = DrawSettings(100, 100, 0)
    for name in sorted(set(marked.annotator)):
        own = marked.select_rows(marked.annotator == name)
        rows = zip(own.query_id, own.start_s.tolist(), own.end_s.tolist(), strict=True)
        answers = Predictions.from_lists({query: [(start_s, end_s)] for query, start_s, end_s in rows})
        print(name, dict(detect_contamination(official, answers, draws=draws).p_holm))
    ood = load_annotations("charades-cd", "test-ood", data_dir=DATA)
    path = DATA / "predictions" / "hao2022_charades_cd_test_ood.json"
    print(path.name, dict(detect_in_file(ood, path, draws=draws).p_holm))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
