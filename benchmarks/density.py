"""Kernel density: 20,000 clumpy points on themselves, and Prior-Only for a test set, beside the straightforward way.

`scipy.stats.gaussian_kde` sums one kernel a pair, in compiled code. Prior-Only evaluates one density once for the
draws of all queries; the straightforward way evaluates it once a query, which is timed on some of the queries and
compared by time a query. Both ways of each pair run in this process and must agree.

Run: OMP_NUM_THREADS=1 python benchmarks/density.py
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np
from scipy.stats import gaussian_kde

from truemoment.base.density import Density
from truemoment.base.records import Annotations, as_strings
from truemoment.baselines import PriorOnly
from truemoment.baselines.prior_only import N_DRAWS, draws, start_duration_norm

N_POINTS = 20_000
N_TRAIN, N_QUERIES = 37_421, 17_031
"""Pairs of ActivityNet Captions train and val_2."""
N_ONE_BY_ONE, N_SCIPY = 200, 20
"""Queries on which the straightforward ways are timed."""


def clumps(n: int, rng: np.random.Generator) -> np.ndarray:
    """Moments (start, end) as fractions of the video, many of them at an edge as in the field's datasets."""
    ends = np.sort(rng.beta(0.6, 0.6, (n, 2)), axis=1)
    ends[rng.random(n) < 0.3, 0] = 0
    ends[rng.random(n) < 0.3, 1] = 1
    short = rng.random(n) < 0.3
    ends[short] = np.array([0.0, 0.2]) + np.abs(rng.normal(0, 0.02, (int(short.sum()), 2)))
    return ends


def as_annotations(ends: np.ndarray, rng: np.random.Generator, split: str) -> Annotations:
    """One query a moment, three a video of 20 to 240 s."""
    n = len(ends)
    duration_s = np.repeat(rng.uniform(20, 240, n // 3 + 1), 3)[:n]
    ids = as_strings([f"{split}{row}" for row in range(n)], "query_id")
    videos = as_strings([f"{split}_video{row // 3}" for row in range(n)], "video_id")
    blank = as_strings([""] * n, "sentence")
    start_s, end_s = ends.T * duration_s
    return Annotations(ids, videos, duration_s, blank, start_s, end_s, blank, "invented", split)


def timed(function: Callable[[], object], runs: int) -> float:
    """Median of some runs, seconds."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def points_on_themselves(rng: np.random.Generator) -> None:
    """Print times of ours and SciPy's, and how far they differ."""
    points = clumps(N_POINTS, rng)
    scipy, density = gaussian_kde(points.T), Density.fit(points)
    ours = timed(lambda: density.evaluate(points), 5)
    theirs = timed(lambda: scipy(points.T), 3)
    worst = np.abs(density.evaluate(points) / scipy(points.T) - 1).max()
    print(f"{N_POINTS:,} points on themselves: ours {ours:.3f} s (median of 5), SciPy {theirs:.2f} s (median of 3)")
    print(f"ours is {theirs / ours:.0f} times faster; largest relative difference {worst:.1e}")


def prior_only(rng: np.random.Generator) -> None:
    """Print times of Prior-Only, and of its draws with one evaluation of the density a query."""
    train = as_annotations(clumps(N_TRAIN, rng), rng, "train")
    test = as_annotations(clumps(N_QUERIES, rng), rng, "test")
    fitted = PriorOnly(np.random.default_rng(1)).fit(train)
    whole = timed(lambda: fitted.ground(test.queries, 10), 3)
    density = Density.fit(start_duration_norm(train)[0])
    at_once = timed(lambda: draws(density, N_QUERIES, np.random.default_rng(1)), 3)
    print(f"Prior-Only, {N_TRAIN:,} training moments, {N_QUERIES:,} queries, top 10: {whole:.2f} s (median of 3)")
    print(f"of this, {N_DRAWS} draws a query and their likelihoods: {at_once:.2f} s")

    drawn = density.sample(N_ONE_BY_ONE * N_DRAWS, np.random.default_rng(1)).reshape(-1, N_DRAWS, 2)
    scipy = gaussian_kde(density.points.T)
    ours_s = timed(lambda: [density.evaluate(places) for places in drawn], 1) / N_ONE_BY_ONE
    scipy_s = timed(lambda: [scipy(places.T) for places in drawn[:N_SCIPY]], 1) / N_SCIPY
    for who, many, a_query_s in (("ours", N_ONE_BY_ONE, ours_s), ("SciPy's", N_SCIPY, scipy_s)):
        ratio = a_query_s / (at_once / N_QUERIES)
        print(f"{who} once a query: {1e3 * a_query_s:.1f} ms a query on {many} of them, {ratio:.0f} times as long")
    some = drawn[:N_SCIPY].reshape(-1, 2)
    print(f"largest relative difference of likelihoods: {np.abs(density.evaluate(some) / scipy(some.T) - 1).max():.1e}")


def main() -> None:
    """Print times, ratios, differences and the peak of memory."""
    rng = np.random.default_rng(0)
    points_on_themselves(rng)
    prior_only(rng)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


if __name__ == "__main__":
    main()
