"""Ranking both ways, in blocks, beside one matrix that is sorted: ``python benchmarks/retrieval.py [N]``."""

import resource
import sys
import time

import numpy as np

from truemoment.base.records import as_strings
from truemoment.searching.clips.measures import DEFAULT_MEASURES, parse_retrieval_measures
from truemoment.searching.clips.ranking import Similarities
from truemoment.searching.clips.results import evaluate_retrieval
from truemoment.searching.unit_vectors import unit


def main(n: int) -> None:
    """Print seconds of both ways, and the most memory, on N random texts and clips of 512 numbers."""
    rng = np.random.default_rng(0)
    texts, clips = (unit(rng.normal(size=(n, 512)).astype(np.float32)) for _ in range(2))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, cpu = time.perf_counter(), time.process_time()
    evaluate_retrieval(
        Similarities.of_vectors(texts, clips),
        np.arange(n),
        as_strings([f"film {k % 100}" for k in range(n)], "video_id"),
        parse_retrieval_measures(DEFAULT_MEASURES),
    )
    cpu = time.process_time() - cpu
    ours, most = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    matrix = texts @ clips.T
    for turned in (matrix, matrix.T):
        order = np.argsort(-turned, axis=1)
        (order == np.arange(n)[:, None]).argmax(axis=1)
    naive = time.perf_counter() - started
    all_of_it = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{n:,} x {n:,} x 512: {ours:.2f} s ({cpu:.2f} s of processor time)")
    print(f"{most / 1024:.0f} MB in all ({(most - before) / 1024:.0f} MB for ranking)")
    print(f"one matrix, sorted both ways: {naive:.2f} s, {all_of_it / 1024:.0f} MB in all")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_053)
