"""Does the item-response model recover what it should, and does it say anything of people?

1. Simulated hits with known difficulties: correlation of the estimated difficulty with the true one, beside that of the
   share of systems that fail, and coverage of 95 % intervals.
2. People: of the five workers of Human-Charades who marked each query anew, three are the systems, which hit the
   official moment or do not. Does the difficulty predict the disagreement (1 - IoU) of the other two? Beside it: the
   share of the three who miss, and the number of words. Spearman's rho, intervals over videos.

Run: TRUEMOMENT_DATA=data python benchmarks/items.py
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from truemoment.base.intervals import temporal_iou
from truemoment.base.records import numbers_of
from truemoment.data.datasets import load_annotations
from truemoment.studies.evaluate.calibration import rank_correlation
from truemoment.studies.meta.items import fit_items

CASES = ((5, 1000, 0.0), (10, 1000, 0.0), (20, 1000, 0.0), (10, 1000, 0.25), (20, 4250, 0.2))
WITHIN, BETWEEN, PER_VIDEO = 1.2, 0.8, 4
RESAMPLES = 1000


def simulated() -> None:
    """Print how well difficulties are recovered."""
    print("| systems | queries | guessed | r of difficulty | r of misses | coverage | sd within, between | time |")
    print("|---|---|---|---|---|---|---|---|")
    for n_systems, n_videos, guess in CASES:
        rng = np.random.default_rng([n_systems, n_videos])
        video = np.repeat(np.arange(n_videos), PER_VIDEO)
        difficulty = rng.normal(0, WITHIN, len(video)) + rng.normal(0, BETWEEN, n_videos)[video]
        guessability = rng.uniform(0, 2 * guess, len(video))
        ability = np.linspace(-1.5, 1.5, n_systems)[:, None]
        chance = guessability + (1 - guessability) / (1 + np.exp(difficulty - ability))
        hits = (rng.random(chance.shape) < chance).astype(float)
        began = time.process_time()
        model = fit_items(hits, video, guessability)
        took = time.process_time() - began
        inside = np.abs(model.difficulty - difficulty) < 1.96 * model.difficulty_sd
        print(
            f"| {n_systems} | {len(video):,} | {guess:.0%} | {np.corrcoef(model.difficulty, difficulty)[0, 1]:.3f} | "
            f"{np.corrcoef(-hits.mean(axis=0), difficulty)[0, 1]:.3f} | {inside.mean():.1%} | "
            f"{model.variance_within**0.5:.2f}, {model.variance_between**0.5:.2f} | {took:.1f} s |"
        )


def people(data_dir: Path) -> None:
    """Print how well three people predict the disagreement of two others."""
    marked = load_annotations("human-charades", "test", data_dir=data_dir)
    official = load_annotations("charades-sta", "test", data_dir=data_dir)
    place = {name: at for at, name in enumerate(official.queries.query_id)}
    at = official.offsets[[place[name] for name in marked.queries.query_id]]
    start, end = official.start_s[at], official.end_s[at]
    of_query = marked.offsets[:-1][:, None] + np.arange(5)
    given_start, given_end = marked.start_s[of_query], marked.end_s[of_query]  # (Q, 5)
    iou = temporal_iou(given_start, given_end, start[:, None], end[:, None])
    apart = 1 - temporal_iou(given_start[:, 3], given_end[:, 3], given_start[:, 4], given_end[:, 4])
    video = numbers_of(marked.queries.video_id)
    words = np.array([len(sentence.split()) for sentence in marked.queries.sentence])
    predictors = {"number of words": words}
    for threshold in (0.3, 0.5, 0.7):
        hits = (iou[:, :3] > threshold).T.astype(float)
        model = fit_items(hits, video)
        shared = model.variance_between / (model.variance_between + model.variance_within)
        predictors[f"misses of three people at IoU {threshold}"] = 1 - hits.mean(axis=0)
        predictors[f"difficulty at IoU {threshold} ({shared:.0%} of its variance shared by a video)"] = model.difficulty
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(video == one) for one in range(video.max() + 1)]
    drawn = [
        np.concatenate([members[one] for one in rng.integers(0, len(members), len(members))]) for _ in range(RESAMPLES)
    ]
    print("\n| predictor of the disagreement of two other people | rho | 95 % interval |\n|---|---|---|")
    for name, values in predictors.items():
        low, high = np.quantile([rank_correlation(values[of], apart[of]) for of in drawn], [0.025, 0.975])
        print(f"| {name} | {rank_correlation(values, apart):.2f} | {low:.2f} to {high:.2f} |")


if __name__ == "__main__":
    simulated()
    people(Path(os.environ["TRUEMOMENT_DATA"]))
