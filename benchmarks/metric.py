"""An epoch of validation, 17,031 queries x 10 moments in batches of 32, beside a loop over queries.

The loop is what training code of the field does: for each query of a batch, each moment, each threshold. Its figures
must equal ours. Times are medians of five epochs: updates and compute together.

Run: OMP_NUM_THREADS=1 python benchmarks/metric.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch

import truemoment as tm
from truemoment.evaluation.metric import TorchMomentMetric
from world import film_world

N_QUERIES, N_MOMENTS, BATCH, EPOCHS = 17_031, 10, 32, 5
RANKS, THRESHOLDS = (1, 5, 10), (0.3, 0.5, 0.7)
MEASURES = "; ".join([f"R@{n},IoU={m}" for n in RANKS for m in THRESHOLDS] + ["mIoU"])
Batch = tuple[torch.Tensor, torch.Tensor, list[str]]


def by_loop(batches: Iterator[Batch]) -> dict[str, float]:
    """Compute every measure query by query, moment by moment."""
    totals = dict.fromkeys(MEASURES.split("; "), 0.0)
    n_queries = 0
    for predictions, references, ids in batches:
        for q in range(len(ids)):
            n_queries += 1
            ref_start, ref_end = references[q].tolist()
            best = 0.0
            for rank, (start, end, _) in enumerate(predictions[q].tolist(), start=1):
                overlap = max(0.0, min(end, ref_end) - max(start, ref_start))
                best = max(best, overlap / (max(end, ref_end) - min(start, ref_start)))
                if rank == 1:
                    totals["mIoU"] += best
                if rank in RANKS:
                    for m in THRESHOLDS:
                        totals[f"R@{rank},IoU={m}"] += best > m + 1e-9
    return {name: total / n_queries for name, total in totals.items()}


def by_metric(metric: tm.MomentMetric | TorchMomentMetric) -> Callable[[Iterator[Batch]], dict[str, float]]:
    """Return a function that runs an epoch through a metric."""

    def epoch(batches: Iterator[Batch]) -> dict[str, float]:
        metric.reset()
        for batch in batches:
            metric.update(*batch)
        return metric.compute()

    return epoch


def main() -> None:
    annotations, predictions = film_world(N_QUERIES, N_MOMENTS)
    columns = [predictions.start_s, predictions.end_s, predictions.score]
    moments = torch.from_numpy(np.stack(columns, axis=1).reshape(N_QUERIES, N_MOMENTS, 3))
    references = torch.from_numpy(np.stack([annotations.start_s, annotations.end_s], axis=1))
    ids = annotations.query_id.tolist()
    parts = [slice(low, low + BATCH) for low in range(0, N_QUERIES, BATCH)]
    ways = {
        "MomentMetric": by_metric(tm.MomentMetric(MEASURES)),
        "TorchMomentMetric": by_metric(TorchMomentMetric(MEASURES)),
        "query by query, moment by moment": by_loop,
    }
    expected = tm.evaluate(predictions, annotations=annotations, measures=MEASURES)
    for name, way in ways.items():
        seconds, figures = [], {}
        for _ in range(EPOCHS):
            batches = [(moments[part], references[part], ids[part]) for part in parts]
            began = time.perf_counter()
            figures = way(iter(batches))
            seconds.append(time.perf_counter() - began)
        off = max(abs(figures[measure] - expected.value(measure)) for measure in figures)
        print(f"{name:34} {statistics.median(seconds):.2f} s an epoch, off by at most {off:.1e}")


if __name__ == "__main__":
    main()
