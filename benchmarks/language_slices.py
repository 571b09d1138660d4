"""How often the audit finds classes of sentences on which a method gains less over the sentence network.

``python benchmarks/language_slices.py [runs]``

Two built-in worlds differ in their frame features alone. A toy method and a sentence network learn on the training
split. A run draws videos of both test splits with replacement and compares the two at R@1,IoU=0.5, with 400 resamples,
on five classes of sentences:

* ``temporal order``: found in the sentences (:mod:`truemoment.data.language.marks`);
* ``5 %``, ``15 %``, ``40 %``: that share of the drawn queries, by lot in each run;
* ``with order``: all with temporal order, and those of the second class.

*Planted*: the method answers sentences with temporal order from the features of the second world, which are less clear.
The true effect is that on all queries of the splits. A class by lot that is found is a false discovery.

*Permuted*: the method has one world's features everywhere, and the labels of all five classes are dealt anew in each
run, query by query or video by video.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from truemoment.base.intervals import Bools
from truemoment.base.records import Annotations, numbers_of
from truemoment.baselines import ExpectedValue
from truemoment.baselines.sentence_network import SentenceNetwork
from truemoment.data.language import get_engine
from truemoment.data.language.marks import marks_of
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import LEVEL
from truemoment.studies.audit.checks.language_classes import FEWEST_VIDEOS, ClassGain, gains_by_class
from truemoment.worlds import ToyGrounder, World, make_world

MEASURES, PROTOCOL = parse_measures("R@1,IoU=0.5"), get_protocol("default")
SIZES, RESAMPLES = (100, 300, 900), 400
SHARES = {"5 %": 0.05, "15 %": 0.15, "40 %": 0.4}


def world_of(perception: float) -> World:
    """Make a world; all have the same annotations."""
    return make_world(3000, location_prior=0.4, query_prior=0.5, perception=perception, seed=0)


def tested_split(world: World) -> Annotations:
    """Return both test splits as one."""
    iid, ood = (world.splits[name] for name in ("test-iid", "test-ood"))
    return Annotations.joined([iid, ood], split="test")


def scores_of(annotations: Annotations, world: World) -> Scores:
    """Scores of the toy method, which learns and answers with a world's features."""
    toy = ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"])
    return evaluate(annotations, toy.ground(annotations.queries), MEASURES, PROTOCOL)


def drawn(scores: Scores, queries: np.ndarray, names: np.ndarray) -> Scores:
    """Scores on drawn videos: a video that is drawn twice is two videos."""
    return replace(
        scores,
        query_id=names,
        video_id=names,
        numerator=scores.numerator[:, queries],
        weight=scores.weight[:, queries],
    )


class Simulation:
    """The scores of a split and its sentences with temporal order, from which runs draw videos."""

    def __init__(self, own: Scores, network: Scores, order: Bools) -> None:
        self.own, self.network, self.order = own, network, order
        video = numbers_of(own.video_id)
        self.videos = [np.flatnonzero(video == v) for v in range(video.max() + 1)]

    def run(self, n_videos: int, rng: np.random.Generator, permuted: str = "") -> list[ClassGain]:
        """Compare on drawn videos; labels are dealt anew by ``"query"`` or by ``"video"`` where `permuted` says so."""
        chosen = rng.integers(len(self.videos), size=n_videos)
        queries = np.concatenate([self.videos[v] for v in chosen])
        names = np.concatenate([np.full(len(self.videos[v]), f"v{k}", dtype=object) for k, v in enumerate(chosen)])
        order, lots = self.order[queries], [rng.random(len(queries)) < share for share in SHARES.values()]
        labels = np.stack([order, *lots, order | lots[0]])
        if permuted == "query":
            labels = labels[:, rng.permutation(len(queries))]
        elif permuted == "video":  # each video has the labels of one query of another
            first = np.unique(numbers_of(names), return_index=True)[1]
            labels = labels[:, rng.permutation(first)[numbers_of(names)]]
        classes = [("", name, of) for name, of in zip(("order", *SHARES, "with order"), labels, strict=True)]
        own, network = (drawn(of, queries, names) for of in (self.own, self.network))
        return gains_by_class(own, network, classes, rng, resamples=RESAMPLES)

    @property
    def truth(self) -> float:
        """The true difference of temporal order from elsewhere."""
        gain, weight = self.own.numerator[0] - self.network.numerator[0], self.own.weight[0]
        inside, outside = (gain[of].sum() / weight[of].sum() for of in (self.order, ~self.order))
        return float(inside - outside)


def main(runs: int) -> None:
    """Print the shares found."""
    sharp = world_of(0.8)
    annotations = tested_split(sharp)
    blank = ExpectedValue(SentenceNetwork(np.random.default_rng(1)), MEASURES[0], PROTOCOL)
    answers = blank.fit(sharp.splits["train"]).ground(annotations.queries)
    network = evaluate(annotations, answers, MEASURES, PROTOCOL)
    order = marks_of(annotations.queries.sentence.tolist(), get_engine())["temporal order"]
    own = scores_of(annotations, sharp)
    print(f"{annotations.n_queries} queries, {100 * order.mean():.1f} % with temporal order; method ", end="")
    print(f"{100 * own.value(MEASURES[0]):.1f}, network {100 * network.value(MEASURES[0]):.1f}")
    for perception in (0.8, 0.5, 0.2):
        less = scores_of(annotations, world_of(perception))
        planted = replace(own, numerator=np.where(order, less.numerator, own.numerator))
        simulation = Simulation(planted, network, order)
        true = simulation.truth
        print(f"\nperception {perception} on temporal order: true difference {100 * true:+.1f} points")
        for size in SIZES:
            results = [simulation.run(size, np.random.default_rng([0, size, k])) for k in range(runs)]
            found = [{of.label for of in run if of.contrast.q <= LEVEL} for run in results]
            every = [of.contrast for run in results for of in run if of.label == "order"]
            covered = np.mean([of.ci95[0] <= true <= of.ci95[1] for of in every])
            false = np.mean([len(of & set(SHARES)) / max(len(of), 1) for of in found])
            print(
                f"  {size} videos: temporal order found in {100 * np.mean(['order' in of for of in found]):.1f} % "
                f"of {runs} runs, false discoveries {100 * false:.1f} %, interval covers {100 * covered:.1f} %"
            )
    print(f"\nlabels permuted (classes of fewer than {FEWEST_VIDEOS} videos are not tested)")
    simulation = Simulation(own, network, order)
    for how in ("query", "video"):
        for size in SIZES:
            results = [simulation.run(size, np.random.default_rng([1, size, k]), how) for k in range(runs)]
            any_found = np.array([any(of.contrast.q <= LEVEL for of in run) for run in results])
            p = np.array([of.contrast.p for run in results for of in run])
            print(
                f"  by {how}, {size} videos: {any_found.sum()} of {runs} runs find a class, "
                f"{100 * any_found.mean():.1f} % "
                f"(error {100 * np.sqrt(LEVEL * (1 - LEVEL) / runs):.1f}); {len(p)} tests, "
                f"p <= 0.05 in {100 * np.mean(p <= LEVEL):.1f} %"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
