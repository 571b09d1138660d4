"""How often equal methods are called different: tests over videos, and tests over videos and trainings.

Two methods of equal quality are trained several times. A run hits a query with the chance logit⁻¹(query + video +
method's own query and video + run + run's video); a video has 1 to many queries (geometric, 4.3 on average). Both
methods have the same distribution, so every difference that is found is an error. It is tested as `compare` does over
videos alone, by a t test of the linearised sums, and over videos and trainings.

Run: python benchmarks/trainings.py [--times 2000]
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np

from truemoment import Scores, get_protocol, parse_measures
from truemoment.evaluation.student import two_sided_p
from truemoment.evaluation.uncertainty import LEVEL, sums_by_video
from truemoment.studies.compare.trainings import over_trainings

VIDEOS, RUNS, RUN_SD = (20, 50, 200), (2, 3, 5), (0.0, 0.1, 0.3)
MEASURE = parse_measures("R@1,IoU=0.5")


def scores_of(hits: np.ndarray, video: np.ndarray) -> Scores:
    """Return scores with these hits, (Q,)."""
    ids = np.arange(len(hits)).astype(str).astype(object)
    weight, on_threshold = np.ones((1, len(hits))), np.zeros(1, dtype=np.int64)
    return Scores(MEASURE, get_protocol("default"), ids, video, hits[None].astype(float), weight, on_threshold)


def two_methods(rng: np.random.Generator, n_videos: int, n_runs: int, run_sd: float) -> list[list[Scores]]:
    """Return the runs of two methods of equal quality."""
    number = np.repeat(np.arange(n_videos), 1 + rng.geometric(0.3, n_videos))
    video, count = number.astype(str).astype(object), len(number)
    shared = rng.normal(-0.3, 1, count) + rng.normal(0, 0.7, n_videos)[number]
    methods = []
    for _ in range(2):
        own = shared + rng.normal(0, 0.7, count) + rng.normal(0, 0.5, n_videos)[number]
        logits = [own + rng.normal(0, run_sd) + rng.normal(0, 0.4, n_videos)[number] for _ in range(n_runs)]
        methods.append([scores_of(rng.random(count) < 1 / (1 + np.exp(-logit)), video) for logit in logits])
    return methods


def over_videos(methods: list[list[Scores]]) -> float:
    """Return the p value of the difference of the means over videos alone."""
    parts = []
    for runs in methods:
        sums = [sums_by_video(run) for run in runs]
        parts.append(np.mean([(x - x.sum() / w.sum() * w) / w.sum() for x, w in sums], axis=0))
    first, second = (np.mean([run.value(MEASURE[0]) for run in runs]) for runs in methods)
    n_videos = len(parts[0])
    error = np.sqrt(n_videos / (n_videos - 1) * ((parts[0] - parts[1]) ** 2).sum())
    return float(two_sided_p((first - second) / error, n_videos - 1))


def errors(case: tuple[int, int, float, int]) -> str:
    """Return a row of the table: shares of false findings, and the parts of the variance."""
    n_videos, n_runs, run_sd, times = case
    rng = np.random.default_rng([n_videos, n_runs, int(100 * run_sd)])
    alone, both, parts, spreads = [], [], [], []
    for _ in range(times):
        methods = two_methods(rng, n_videos, n_runs, run_sd)
        tested = over_trainings(methods, [(0, 1)])
        alone.append(over_videos(methods) <= LEVEL)
        both.append(tested.p[0, 0] <= LEVEL)
        parts.append(tested.share[0, 0])
        spreads.append(np.std([run.value(MEASURE[0]) for run in methods[0]], ddof=1))
    shares = " / ".join(f"{100 * part:.0f}" for part in np.nanmean(parts, axis=0))
    return (
        f"| {n_videos} | {n_runs} | {100 * np.mean(spreads):.1f} | {100 * np.mean(alone):.1f} % | "
        f"{100 * np.mean(both):.1f} % | {shares} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=2000)
    times = parser.parse_args().times
    print("| videos | runs a method | spread of runs | over videos | over videos and trainings | parts |")
    print("|---|---|---|---|---|---|")
    with ProcessPoolExecutor() as pool:
        for row in pool.map(errors, [(*case, times) for case in product(VIDEOS, RUNS, RUN_SD)]):
            print(row, flush=True)


if __name__ == "__main__":
    main()
