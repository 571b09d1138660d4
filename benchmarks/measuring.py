"""Measuring in memory: 72,044 queries x 100 answers, 36 measures, beside the straightforward loop.

The loop is what most evaluators of the field do: for each query, each answer, each threshold. It runs on the first
1,000 queries; its figures must equal ours there, and the ratio compares time a query, both taken in this run.

Run: OMP_NUM_THREADS=1 python benchmarks/measuring.py
"""

from __future__ import annotations

import resource
import time

import numpy as np

from truemoment import Annotations, Predictions
from truemoment.evaluation.evaluate import evaluate
from world import film_world

RANKS, THRESHOLDS = (1, 5, 10, 50, 100), (0.1, 0.3, 0.5)
MEASURES = "; ".join(
    [f"R@{n},IoU={m}" for n in RANKS for m in THRESHOLDS]
    + [f"dR@{n},IoU={m}" for n in RANKS for m in THRESHOLDS]
    + [f"AxIoU@{n}" for n in RANKS]
    + ["mIoU"]
)
N_LOOPED = 1000


def by_loop(annotations: Annotations, predictions: Predictions, n_queries: int) -> dict[str, float]:
    """Compute every measure query by query, answer by answer."""
    totals: dict[str, float] = {}
    answers = [column.tolist() for column in (predictions.start_s, predictions.end_s)]
    offsets = predictions.offsets.tolist()
    for q in range(n_queries):
        ref_start, ref_end = float(annotations.start_s[q]), float(annotations.end_s[q])
        duration = float(annotations.duration_s[q])
        best, best_so_far, discounted = 0.0, [], dict.fromkeys(THRESHOLDS, 0.0)
        for rank, k in enumerate(range(offsets[q], offsets[q + 1]), start=1):
            start, end = answers[0][k], answers[1][k]
            overlap = max(0.0, min(end, ref_end) - max(start, ref_start))
            iou = overlap / (max(end, ref_end) - min(start, ref_start)) if overlap > 0 else 0.0
            if rank == 1:
                totals["mIoU"] = totals.get("mIoU", 0.0) + iou
            best = max(best, iou)
            best_so_far.append(best)
            for m in THRESHOLDS:
                if iou > m + 1e-9:
                    alpha_start = max(0.0, 1 - abs(start - ref_start) / duration)
                    alpha_end = max(0.0, 1 - abs(end - ref_end) / duration)
                    discounted[m] = max(discounted[m], alpha_start * alpha_end)
            if rank in RANKS:
                for m in THRESHOLDS:
                    name = f"R@{rank},IoU={m}"
                    totals[name] = totals.get(name, 0.0) + (best > m + 1e-9)
                    totals[f"d{name}"] = totals.get(f"d{name}", 0.0) + discounted[m]
                name = f"AxIoU@{rank}"
                totals[name] = totals.get(name, 0.0) + sum(best_so_far) / rank
    return {name: total / n_queries for name, total in totals.items()}


def median_s(annotations: Annotations, predictions: Predictions, *, measures: str | None) -> float:
    """Median of five evaluations, seconds."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        evaluate(annotations, predictions, measures, "default")
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def main() -> None:
    """Print times, the ratio and the peak of memory."""
    medium = median_s(*film_world(17_031, 10, n_videos=4_885), measures=None)
    annotations, predictions = film_world(72_044, 100)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours = median_s(annotations, predictions, measures=MEASURES)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    few = annotations.select_queries(np.arange(annotations.n_queries) < N_LOOPED)
    scores = evaluate(few, predictions, MEASURES, "default", on_unknown="ignore")
    began = time.perf_counter()
    looped = by_loop(annotations, predictions, N_LOOPED)
    loop = time.perf_counter() - began
    worst = max(abs(scores.value(name) - value) for name, value in looped.items())
    ratio = (loop / N_LOOPED) / (ours / annotations.n_queries)
    print(f"ours: {medium:.2f} s (median of 5) for 17,031 queries x 10 answers, the default measures")
    print(f"ours: {ours:.2f} s (median of 5) for 72,044 queries x 100 answers, 36 measures")
    print(f"loop: {loop:.2f} s for {N_LOOPED:,} of the queries; ours is {ratio:.0f} times faster a query")
    print(f"largest difference between the two: {worst:.1e}")
    print(f"peak memory {peak / 1e3:.0f} MB, of which {before / 1e3:.0f} MB before measuring")


if __name__ == "__main__":
    main()
