"""Are sentence networks that are kept back called better? python benchmarks/kept_back.py [PLACE...]

PLACE is DATASET/SPLIT, e.g. charades-sta/test. Each file is the answers of one network, of an ensemble of three, or of
as many as `truemoment baseline` trains, with 32, 64 or 128 hidden units, of seven seeds: 63 files a split, judged at
R@1,IoU=0.5 as the audit does with `--reads sentence`.
"""

import os
import sys
from collections import defaultdict

import numpy as np

from truemoment.base.boundary.caching import Cache
from truemoment.baselines import Choices, ExpectedValue, SentenceNetwork, make_baseline
from truemoment.baselines.floors import NETWORK, Setting, run_floors
from truemoment.baselines.sentence_network import Training
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit.verdict import judge_floors

DATA = os.environ.get("TRUEMOMENT_DATA", "../shared/data")
PLACES = ("charades-sta/test", "charades-cd/test-iid", "charades-cd/test-ood", "tacos/test")
MEASURES = parse_measures("R@1,IoU=0.5")
HIDDEN, SEEDS, MEMBERS = (32, 64, 128), range(100, 107), (1, 3, None)


def main(places: list[str]) -> None:
    """Print for each split and size how many files get which verdict, and between which figures they lie."""
    protocol = get_protocol("default")
    for place in places or PLACES:
        dataset, _, split = place.partition("/")
        train, test = (load_annotations(dataset, name, data_dir=DATA) for name in ("train", split))
        every, _ = run_floors(Setting(test, MEASURES, protocol, train=train, cache=Cache.of_user()))
        floors = [of for of in every if of.reads != "paragraph"]  # as with --reads sentence
        oracle = make_baseline("oracle", Choices(references=test)).ground(test.queries, 1)
        best = evaluate(test, oracle, MEASURES, protocol)
        errors = np.array([of.standard_error for of in floors])
        margin = np.array([of.training_spread for of in floors])
        (network,) = (of for of in floors if of.name == NETWORK)
        value, spread = 100 * network.scores.value(MEASURES[0]), 100 * network.training_spread
        print(f"{place}: sentence network {value:.2f}, spread {spread:.2f}", flush=True)
        found = defaultdict(list)
        for hidden in HIDDEN:
            for seed in SEEDS:
                for members in MEMBERS:
                    several = Training().members if members is None else (members, members)
                    training = Training(hidden=hidden, members=several)
                    model = SentenceNetwork(np.random.default_rng(seed), training).fit(train)
                    (method,) = ExpectedValue(model, protocol=protocol).for_measures(MEASURES)
                    scores = evaluate(test, method.ground(test.queries), MEASURES, protocol)
                    of_floors = [of.scores for of in floors]
                    rng = np.random.default_rng(seed)
                    judged = judge_floors(scores, of_floors, best, errors, rng, resamples=1000, margin=margin)
                    found[hidden, several[1], judged.kind(0)].append(100 * scores.value(MEASURES[0]))
        for (hidden, members, kind), figures in found.items():
            low, high = min(figures), max(figures)
            print(f"  {hidden} units, {members} members, {kind}: {len(figures)}, {low:.2f} to {high:.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
