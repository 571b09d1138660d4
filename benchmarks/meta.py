"""Studies of measures at full size, beside the straightforward way, and how their cost grows.

Stability: 6 systems, 12 measures, 17,031 queries, 10 sizes of subsets, 5,000 trials. The straightforward way draws each
subset, averages every measure over it and asks SciPy for each tau; it runs on a few trials, and the ratio compares time
a trial. Label noise: 100 noisy sets at 4 levels, 10 answers a query; the straightforward way evaluates every system
anew on every set, and runs on a few of them.

Run: OMP_NUM_THREADS=1 python benchmarks/meta.py
"""

from __future__ import annotations

import dataclasses
import resource
import time

import numpy as np
from scipy.stats import kendalltau

from truemoment import Annotations
from truemoment.base.records import Predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.studies.meta.ambiguity import ambiguity
from truemoment.studies.meta.noise import VARIANCES_S2, ShiftNoise
from truemoment.studies.meta.population import default_population
from truemoment.studies.meta.simulation import simulate_all
from truemoment.studies.meta.stability import default_sizes, stability
from truemoment.studies.meta.systems import RECALLS, Systems
from world import film_world

MEASURES = "; ".join((*RECALLS, "AxIoU@1", "AxIoU@5", "AxIoU@10"))
N_QUERIES, N_VIDEOS = 17_031, 4_885
SIZES, TRIALS, SETS = 10, 5_000, 100
FEW_TRIALS, FEW_SETS = 10, 3


def systems_of(n_queries: int, n_systems: int) -> tuple[Annotations, dict[str, Predictions], Systems]:
    """Simulated systems on made-up annotations."""
    annotations, _ = film_world(n_queries, 1, n_videos=max(2, n_queries * N_VIDEOS // N_QUERIES))
    train, _ = film_world(2_000, 1, n_videos=200, seed=1)
    answers = simulate_all(default_population()[:n_systems], annotations, np.random.default_rng(0), fit=train)
    scores = {name: evaluate(annotations, of, MEASURES) for name, of in answers.items()}
    return annotations, answers, Systems(scores)


def stability_by_hand(systems: Systems, sizes: np.ndarray, trials: int) -> float:
    """Seconds a trial of the straightforward way."""
    values = np.stack([one.numerator for one in systems.scores.values()])  # (S, M, Q)
    rng = np.random.default_rng(0)
    began = time.perf_counter()
    for _ in range(trials):
        for size in sizes:
            drawn = rng.permutation(values.shape[2])
            one, other = (values[:, :, rows].mean(axis=2) for rows in (drawn[:size], drawn[size : 2 * size]))
            for m in range(values.shape[1]):
                kendalltau(one[:, m], other[:, m])
    return (time.perf_counter() - began) / trials


def noise_by_hand(annotations: Annotations, answers: dict[str, Predictions], sets: int) -> float:
    """Seconds a noisy set of the straightforward way."""
    began = time.perf_counter()
    for n in range(sets):
        start_s, end_s = ShiftNoise(1.0).draw(annotations, [np.random.default_rng(n)])
        noisy = dataclasses.replace(annotations, start_s=start_s[0], end_s=end_s[0])
        for of_system in answers.values():
            evaluate(noisy, of_system, MEASURES)
    return (time.perf_counter() - began) / sets


def timed_stability(systems: Systems, *, trials: int, workers: int | None = 1) -> float:
    """Seconds of a stability study."""
    began = time.perf_counter()
    stability(systems, np.random.default_rng(0), trials=trials, workers=workers)
    return time.perf_counter() - began


def timed_noise(
    annotations: Annotations, answers: dict[str, Predictions], *, levels: int, sets: int, workers: int | None = 1
) -> float:
    """Seconds of an ambiguity study."""
    models = [ShiftNoise(variance) for variance in VARIANCES_S2[:levels]]
    began = time.perf_counter()
    ambiguity(annotations, answers, models, np.random.default_rng(0), measures=MEASURES, sets=sets, workers=workers)
    return time.perf_counter() - began


def main() -> None:
    """Print times, ratios, growth and the peak of memory."""
    annotations, answers, systems = systems_of(N_QUERIES, 6)
    print(f"6 systems, 12 measures, {N_QUERIES:,} queries")
    for workers in (1, None):
        told = "one worker" if workers == 1 else "a worker a core"
        seconds = timed_stability(systems, trials=TRIALS, workers=workers)
        print(f"stability, {SIZES} sizes x {TRIALS:,} trials, {told}: {seconds:.1f} s")
        if workers == 1:
            by_hand = stability_by_hand(systems, default_sizes(N_QUERIES), FEW_TRIALS)
            print(f"  by hand {by_hand:.2f} s a trial: {by_hand / (seconds / TRIALS):.0f} times as long")
        seconds = timed_noise(annotations, answers, levels=4, sets=SETS, workers=workers)
        print(f"label noise, 4 levels x {SETS} sets x 10 answers, {told}: {seconds:.1f} s")
        if workers == 1:
            by_hand = noise_by_hand(annotations, answers, FEW_SETS)
            print(f"  by hand {by_hand:.2f} s a set: {by_hand / (seconds / (4 * SETS)):.1f} times as long")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")
    print("\ngrowth, one worker: seconds of stability (500 trials) and of label noise (1 level x 10 sets)")
    for n_queries, n_systems in ((4_000, 6), (8_000, 6), (16_000, 6), (4_000, 12), (4_000, 24)):
        annotations, answers, systems = systems_of(n_queries, n_systems)
        took = timed_stability(systems, trials=500), timed_noise(annotations, answers, levels=1, sets=10)
        print(f"  {n_queries:6,} queries, {n_systems:2} systems: {took[0]:5.2f} s  {took[1]:5.2f} s")
    annotations, answers, systems = systems_of(4_000, 6)
    for times in (1, 2, 4):
        took = (
            timed_stability(systems, trials=500 * times),
            timed_noise(annotations, answers, levels=1, sets=10 * times),
        )
        print(f"  {500 * times:6,} trials, {10 * times:3} sets: {took[0]:5.2f} s  {took[1]:5.2f} s")


if __name__ == "__main__":
    main()
