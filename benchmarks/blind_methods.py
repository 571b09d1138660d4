"""Are methods that never look called better than guessing? Seven splits, and blind methods of other kinds and seeds.

On each split the sentence network's figure stands beside the one that issue 19 asks for; then four methods that only
read sentences are judged by R@1,IoU=0.5, as ``truemoment audit`` does: networks of another seed and of other widths,
and the nearest 32 neighbours in place of 128. None of them may be better.

Needs the annotations in the folder that TRUEMOMENT_DATA names; floors are kept in the user's cache folder. About a
quarter of an hour on one core, most of it networks of other widths on ActivityNet.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace

import numpy as np

from truemoment.base.boundary.caching import Cache
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines import Choices, ExpectedValue, make_baseline, sentence_neighbours
from truemoment.baselines.floors import NETWORK, Setting, run_floors
from truemoment.baselines.sentence_network import SentenceNetwork, Training
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import stream
from truemoment.studies.audit.floors import run_ceilings
from truemoment.studies.audit.verdict import judge_floors

DATA = os.environ.get("TRUEMOMENT_DATA", "../shared/data")
MEASURES = parse_measures("R@1,IoU=0.5")
SPLITS = {
    "charades-sta": {"test": 41.34},
    "charades-cd": {"test-iid": 42.04, "test-ood": 22.04},
    "tacos": {"test": 8.60},
    "activitynet-captions": {"val_2": 47.37},
    "activitynet-cd": {"test-iid": 49.40, "test-ood": 22.36},
}
"""What issue 19 asks of the sentence network, R@1,IoU=0.5 in percent."""


def methods(train: Annotations) -> dict[str, ExpectedValue]:
    """Fit blind methods that are not among the floors."""
    protocol = get_protocol("default")
    fitted = {}
    for name, seed, training in (
        ("another seed", 11, Training()),
        ("32 hidden units", 12, Training(hidden=32)),
        ("128 hidden units, one member", 13, Training(hidden=128, members=(1, 1))),
    ):
        fitted[name] = SentenceNetwork(stream(seed, NETWORK), training).fit(train)
    blank = make_baseline("sentence-neighbours", Choices(stream(0, "neighbours"), protocol=protocol))
    few = blank.fit(train)
    answering = {
        name: replace(few, model=model, protocol=protocol).for_measures(MEASURES)[0] for name, model in fitted.items()
    }
    return answering | {"neighbours": few.for_measures(MEASURES)[0]}


def main(names: list[str]) -> None:
    """Print the figures and the verdicts."""
    protocol = get_protocol("default")
    for dataset, targets in SPLITS.items():
        if names and dataset not in names:
            continue
        train = load_annotations(dataset, "train", data_dir=DATA)
        started = time.perf_counter()
        sentence_neighbours.NEAREST = 32
        others = methods(train)
        for split, target in targets.items():
            test = load_annotations(dataset, split, data_dir=DATA)
            sentence_neighbours.NEAREST = 32
            answers: dict[str, Predictions] = {name: of.ground(test.queries, 1) for name, of in others.items()}
            sentence_neighbours.NEAREST = 128
            setting = Setting(test, MEASURES, protocol, train=train, cache=Cache.of_user())
            floors, _ = run_floors(setting)
            oracle = run_ceilings(test, MEASURES, protocol, top=1, on_status=lambda _: None)[0].scores
            errors = np.array([floor.standard_error for floor in floors])[:, :1]
            network = next(floor for floor in floors if floor.name == NETWORK)
            value = 100 * network.scores.value(MEASURES[0])
            strongest = max(floors, key=lambda floor: floor.scores.value(MEASURES[0]))
            print(
                f"\n{dataset} {split}: sentence network {value:.2f} (asked for: {target}), strongest floor "
                f"{strongest.title} {100 * strongest.scores.value(MEASURES[0]):.2f}, "
                f"{time.perf_counter() - started:.0f} s"
            )
            for name, of in answers.items():
                scores: Scores = evaluate(test, of, MEASURES, protocol)
                of_floors = [floor.scores for floor in floors]
                judged = judge_floors(scores, of_floors, oracle, errors, np.random.default_rng(0), resamples=1000)
                print(f"  {name:30}{100 * scores.value(MEASURES[0]):6.2f}  {judged.kind(0)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
