"""How often the verdict is right: simulated methods on resampled test splits.

``TRUEMOMENT_DATA=data python benchmarks/verdict.py [runs]``

The hits of all floors, of further sentence networks and of the references on Charades-CD are computed once. A run draws
videos of a split with replacement, so that the truth is known, lets a simulated method answer them, and asks for the
audit's verdict at R@1,IoU=0.5. Methods:

* ``another seed``: a sentence network of another seed, which never sees a video;
* ``finds 20 %``: finds each moment with a chance of 20 %, and answers the others as that network does;
* ``uneven``: as good as the strongest floor over all queries, better than it in videos with many queries and worse in
  those with few.

Beside it: how often the excess where the blind network misses covers its true value, how often a percentile interval of
the difference misses the truth on either side, how often a gate passes whose limit is the true value, and what the
skill of a method is that finds a share of the moments, by measure.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from truemoment.base.boundary.caching import Cache, say_nothing
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, numbers_of
from truemoment.baselines import ExpectedValue, SentenceNetwork
from truemoment.baselines.floors import NETWORK, Setting, run_floors
from truemoment.baselines.network_row import excess
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import interval95, resample_figures, stream
from truemoment.studies.audit.floors import run_ceilings
from truemoment.studies.audit.verdict import Kind, Verdict, judge_floors

DATA = Path(os.environ.get("TRUEMOMENT_DATA", "../shared/data"))
MEASURES = parse_measures("R@1,IoU=0.5; R@5,IoU=0.5; mAP; dR@1,IoU=0.5; mIoU")
SIZES = (20, 50, 200, 0)
METHODS = ("another seed", "finds 20 %", "uneven")
RESAMPLES, SHARE, MOVED = 400, 0.2, 0.1


def network(setting: Setting, train: Annotations, seed: int) -> Scores:
    """Scores of a sentence network of another seed, by its best answers for the first measure."""
    blank = SentenceNetwork(stream(seed, NETWORK))
    packed = setting.cache.arrays(
        NETWORK, {"benchmark": seed, "train": train.sha256}, lambda: blank.fit(train).packed()
    )
    fitted = ExpectedValue(blank.unpacked(packed, train), protocol=setting.protocol)
    (by_hits,) = fitted.for_measures(setting.measures[:1])
    answers = by_hits.ground(setting.annotations.queries, setting.top)
    return evaluate(setting.annotations, answers, setting.measures, setting.protocol)


class Split:
    """A split with the hits of everything on it, by query."""

    def __init__(self, name: str) -> None:
        train, annotations = (load_annotations("charades-cd", of, data_dir=DATA) for of in ("train", name))
        setting = Setting(annotations, MEASURES, get_protocol("default"), top=5, train=train, cache=Cache.of_user())
        floors, _ = run_floors(setting)
        self.floors, self.titles = [floor.scores for floor in floors], [floor.title for floor in floors]
        self.errors = np.array([floor.standard_error for floor in floors])[:, :1]
        ceilings = run_ceilings(
            annotations, MEASURES, setting.protocol, top=5, cache=setting.cache, on_status=say_nothing
        )
        self.references = ceilings[1].scores
        self.guesses = [network(setting, train, seed).numerator[0] for seed in range(100, 104)]
        self.pair = [network(setting, train, seed).numerator[0] for seed in (200, 201)]
        video = numbers_of(annotations.queries.video_id)
        self.videos = [np.flatnonzero(video == v) for v in range(video.max() + 1)]
        self.has_many = np.bincount(video)[video] > np.median(np.bincount(video)[video])
        self.strongest = max((of.numerator[0] for of in self.floors), key=np.mean)
        # What must be taken away, as a share, from hits where there are few queries, for as many to be added elsewhere.
        self.lost = MOVED * len(video) / (self.strongest[~self.has_many]).sum()
        self.won = MOVED * len(video) / (1 - self.strongest[self.has_many]).sum()

    def draw(self, n_videos: int, rng: np.random.Generator) -> tuple[Ints, np.ndarray]:
        """Draw videos with replacement: the queries, and a name for each drawn video."""
        chosen = rng.integers(len(self.videos), size=n_videos or len(self.videos))
        names = [np.full(len(self.videos[v]), f"v{k}", dtype=object) for k, v in enumerate(chosen)]
        return np.concatenate([self.videos[v] for v in chosen]), np.concatenate(names)

    def hits(self, method: str, queries: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Hits of a simulated method on drawn queries, and those of the network that it guesses with."""
        guess = self.guesses[int(rng.integers(len(self.guesses)))][queries]
        if method == "another seed":
            return guess, guess
        if method == "finds 20 %":
            return np.where(rng.random(len(queries)) < SHARE, 1.0, guess), guess
        floor, many, chance = self.strongest[queries], self.has_many[queries], rng.random(len(queries))
        return np.where(many, np.where(chance < self.won, 1.0, floor), np.where(chance < self.lost, 0.0, floor)), floor

    def on(self, queries: Ints, names: np.ndarray, numerator: Floats) -> Scores:
        """Scores of one measure on drawn videos: a video that is drawn twice is two videos."""
        return replace(
            self.references,
            measures=MEASURES[:1],
            query_id=names,
            video_id=names,
            numerator=numerator[None],
            weight=np.ones((1, len(queries))),
            on_threshold=self.references.on_threshold[:1],
        )

    def judged(self, queries: Ints, names: np.ndarray, hits: Floats, rng: np.random.Generator) -> Verdict:
        """Return the audit's verdict of hits on drawn videos."""
        *floors, best = [self.on(queries, names, of.numerator[0][queries]) for of in (*self.floors, self.references)]
        return judge_floors(self.on(queries, names, hits), floors, best, self.errors, rng, resamples=RESAMPLES)


def verdicts(split: Split, n_videos: int, method: str, runs: int, rng: np.random.Generator) -> list[Kind]:
    """Return the verdict of each run."""
    found = []
    for _ in range(runs):
        queries, names = split.draw(n_videos, rng)
        hits, _ = split.hits(method, queries, rng)
        found.append(split.judged(queries, names, hits, rng).kind(0))
    return found


def skill_passes(split: Split, n_videos: int, runs: int, rng: np.random.Generator) -> float:
    """Return the share of runs in which the gate ``skill>0.2`` passes though the skill is 0.2."""
    best, passes = split.references.numerator[0], 0
    for _ in range(runs):
        queries, names = split.draw(n_videos, rng)
        hits = np.where(rng.random(len(queries)) < SHARE, best[queries], split.strongest[queries])
        passes += split.judged(queries, names, hits, rng).skill_ci95[0, 0] > SHARE
    return passes / runs


def coverage(split: Split, n_videos: int, runs: int, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Shares of runs in which the excess is covered, and a percentile interval of the difference is below or above.

    The last one is that in which a gate at the true excess passes.
    """
    (first, second), inside, passes, missed = split.pair, 0, 0, np.zeros(2)
    floor = split.floors[split.titles.index("Sentence network")].numerator[0]
    for _ in range(runs):
        queries, names = split.draw(n_videos, rng)
        number = int(rng.integers(len(split.guesses)))
        guess = split.guesses[number]
        hits = np.where(rng.random(len(queries)) < SHARE, 1.0, guess[queries])
        lost = first == 0
        truth = SHARE * (1 - guess[lost].mean()) + guess[lost].mean() - second[lost].mean()
        table = np.stack([hits, first[queries], second[queries]], axis=1)
        _, ((low, high),) = excess(table, names, rng, resamples=RESAMPLES)
        inside += low <= truth <= high
        passes += low > truth
        systems = [split.on(queries, names, of) for of in (hits, floor[queries])]
        drawn = resample_figures(systems, rng, resamples=RESAMPLES)[:, :, 0]
        low, high = interval95(drawn[:, 0] - drawn[:, 1])
        true = SHARE + (1 - SHARE) * guess.mean() - floor.mean()
        missed += high < true, low > true
    return inside / runs, missed[0] / runs, missed[1] / runs, passes / runs


def skills(split: Split, rng: np.random.Generator) -> None:
    """Print the skill of a method that finds a share of the moments and guesses the others as a floor does."""
    for m, measure in enumerate(MEASURES):
        floor, best = max((of.numerator[m] for of in split.floors), key=np.mean), split.references.numerator[m]
        found = []
        for share in (0.1, SHARE, 0.5):
            own = np.where(rng.random((200, len(floor))) < share, best, floor).mean(axis=1)
            found.append(((own - floor.mean()) / (best.mean() - floor.mean())).mean())
        print(f"{measure!s:14} found 0.1, 0.2, 0.5: skill {', '.join(f'{of:.3f}' for of in found)}")


def main(runs: int) -> None:
    """Print the rates."""
    rng = np.random.default_rng(0)
    for name in ("test-iid", "test-ood"):
        split = Split(name)
        strongest = max(zip(split.floors, split.titles, strict=True), key=lambda of: of[0].numerator[0].mean())
        print(f"\n{name}: strongest floor {strongest[1]} {100 * strongest[0].numerator[0].mean():.2f}, {runs} runs")
        print(f"{'videos':>7}  {'method':14}{'better, %':>10}{'worse, %':>10}{'not decided, %':>16}")
        for n_videos in SIZES:
            for method in METHODS:
                kinds = verdicts(split, n_videos, method, runs, rng)
                better, worse = (100 * kinds.count(kind) / runs for kind in ("better", "worse"))
                print(
                    f"{n_videos or 'all':>7}  {method:14}{better:10.1f}{worse:10.1f}{100 - better - worse:16.1f}",
                    flush=True,
                )
            inside, below, above, passes = (100 * share for share in coverage(split, n_videos, runs, rng))
            print(
                f"{n_videos or 'all':>7}  excess covered in {inside:.1f} % of runs; percentile interval of the "
                f"difference too low in {below:.1f} %, too high in {above:.1f} %",
                flush=True,
            )
            by_skill = 100 * skill_passes(split, n_videos, runs, np.random.default_rng(2))
            gates = f"skill in {by_skill:.1f} %, at the true excess in {passes:.1f} %"
            print(f"{n_videos or 'all':>7}  a gate passes at the true {gates} of runs", flush=True)
    print("\nskill of a method that finds a share of the moments and guesses the others as the strongest floor does")
    skills(Split("test-iid"), np.random.default_rng(1))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
