"""Time of the calibration of scores, and what it says of simulated scores whose calibration is known.

``OMP_NUM_THREADS=1 python benchmarks/calibration.py [runs]``

Simulated scores are alike within a video: 300 videos of five moments. *Perfect*: the score is the mean of what it
estimates. *Overconfident*: that mean is half the score. IoUs follow a beta distribution; hits are drawn.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np

from truemoment import Annotations, Predictions
from truemoment.studies.evaluate.calibration import HIT, IOU, JudgedScores, Reliability, calibration, reliabilities

N_VIDEOS, N_MOMENTS = 300, 5


def drawn_scores(n_videos: int, rng: np.random.Generator) -> np.ndarray:
    """Scores from 0 to 1 with a part of their video."""
    return (0.6 * rng.random(n_videos)[:, None] + 0.4 * rng.random((n_videos, N_MOMENTS))).ravel()


def simulated(seed: int, target: str, factor: float) -> Reliability:
    """Return the reliability of scores whose target has `factor` times the score as its mean."""
    rng = np.random.default_rng(seed)
    score = drawn_scores(N_VIDEOS, rng)
    mean = np.clip(factor * score, 1e-6, 1 - 1e-6)
    outcome = rng.beta(4 * mean, 4 * (1 - mean)) if target == IOU else (rng.random(len(mean)) < mean).astype(float)
    video = np.repeat(np.arange(N_VIDEOS), N_MOMENTS)
    return reliabilities([JudgedScores("all", target, score, outcome, video)], rng, resamples=400)[0]


def main(runs: int) -> None:
    """Print times and shares."""
    score = np.random.default_rng(0).uniform(0.05, 0.95, (17_031, 5)).tolist()
    rows = [(f"q{q}", f"v{q // 4}", 40.0, "a door opens", 0.0, 10.0) for q in range(len(score))]
    annotations = Annotations.from_rows(rows)
    predictions = Predictions.from_lists({f"q{q}": [(0.0, 10 * s, s) for s in of] for q, of in enumerate(score)})
    times = []
    for _ in range(5):
        start = time.process_time()
        calibration(annotations, predictions, np.random.default_rng(0))
        times.append(time.process_time() - start)
    print(f"17,031 queries x 5 moments, 1,000 resamples: {np.median(times):.2f} s of processor time")
    bins = np.sort(drawn_scores(2_000_000, np.random.default_rng(1))).reshape(10, -1).mean(axis=1)
    for factor in (1.0, 0.5):
        ece, rmsce = (1 - factor) * bins.mean(), (1 - factor) * math.sqrt((bins**2).mean())
        for target in (IOU, HIT):
            found = [simulated(seed, target, factor) for seed in range(runs)]
            covered = np.mean([of.rmsce.ci95[0] <= rmsce <= of.rmsce.ci95[1] for of in found])
            print(
                f"{target}, mean {factor:g} x score: ECE {np.mean([of.ece_size for of in found]):.3f} (true {ece:.3f}, "
                f"by chance {np.mean([of.by_chance for of in found]):.3f}), RMSCE "
                f"{np.mean([of.rmsce.value for of in found]):.3f} (true {rmsce:.3f}, interval contains it in "
                f"{100 * covered:.1f} % of {runs} runs)"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
