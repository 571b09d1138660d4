"""Are sentence networks that are kept back called better? python benchmarks/kept_back.py FOLDER [PLACE...]

PLACE is DATASET/SPLIT, e.g. charades-sta/test. Each file is the answers of `truemoment baseline sentence-network`, or
of the first of its networks alone, with 32, 64 or 128 hidden units, of seeds 0 to 19: 120 files a split, judged at
R@1,IoU=0.5 as the audit does with `--reads sentence`. FOLDER keeps the hits of each file, so that the networks are
trained once; `--train` only trains, `--judge` judges those that are there.
"""

import os
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from truemoment.base.boundary.caching import Cache
from truemoment.base.records import Annotations
from truemoment.baselines import Choices, ExpectedValue, SentenceNetwork, make_baseline
from truemoment.baselines.floors import NETWORK, Setting, run_floors
from truemoment.baselines.sentence_network import Training
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit.verdict import judge_floors

DATA = os.environ.get("TRUEMOMENT_DATA", "../shared/data")
PLACES = {
    "charades-sta": ("test",),
    "charades-cd": ("test-iid", "test-ood"),
    "tacos": ("test",),
    "activitynet-cd": ("test-iid", "test-ood"),
    "activitynet-captions": ("val_2",),
}
MEASURES, PROTOCOL = parse_measures("R@1,IoU=0.5"), get_protocol("default")
HIDDEN, SEEDS, MEMBERS = (32, 64, 128), range(20), ("one", "default")


def train_all(folder: Path, dataset: str, seeds: range) -> None:
    """Train the networks of a dataset that the folder lacks, and keep the hits of each on each split."""
    train = load_annotations(dataset, "train", data_dir=DATA)
    tests = {split: load_annotations(dataset, split, data_dir=DATA) for split in PLACES[dataset]}
    for seed in seeds:
        for hidden in HIDDEN:
            missing = [split for split in tests if not (folder / name_of(dataset, split, hidden, seed)).exists()]
            if not missing:
                continue
            model = SentenceNetwork(np.random.default_rng(seed), Training(hidden=(hidden, hidden))).fit(train)
            (method,) = ExpectedValue(model, protocol=PROTOCOL).for_measures(MEASURES)
            for split in missing:
                np.save(folder / name_of(dataset, split, hidden, seed), hits_of(method, model, tests[split]))
            print(f"{dataset}: {hidden} units, seed {seed}", flush=True)


def hits_of(method: ExpectedValue, model: SentenceNetwork, test: Annotations) -> np.ndarray:
    """Return what the first member and all members find, (2, Q)."""
    members = model.members(test.queries)
    answered = [method.answer(test.queries, of.mean(axis=0), 1) for of in (members[:1], members)]
    return np.stack([evaluate(test, of, MEASURES, PROTOCOL).numerator[0] for of in answered])


def name_of(dataset: str, split: str, hidden: int, seed: int) -> str:
    """Return the name of the file with the hits of a network."""
    return f"{dataset}.{split}.{hidden}.{seed}.npy"


def judge_all(folder: Path, dataset: str, split: str) -> None:
    """Print for each size how many files get which verdict, and between which figures they lie."""
    train, test = (load_annotations(dataset, name, data_dir=DATA) for name in ("train", split))
    every, _ = run_floors(Setting(test, MEASURES, PROTOCOL, train=train, cache=Cache.of_user()))
    floors = [of for of in every if of.reads != "paragraph"]  # as with --reads sentence
    oracle = make_baseline("oracle", Choices(references=test)).ground(test.queries, 1)
    best = evaluate(test, oracle, MEASURES, PROTOCOL)
    errors, margin = np.array([of.standard_error for of in floors]), np.array([of.margin for of in floors])
    (network,) = (of for of in floors if of.name == NETWORK)
    value, spread = 100 * network.scores.value(MEASURES[0]), 100 * network.training_spread
    print(f"{dataset}/{split}: sentence network {value:.2f}, spread {spread:.2f}", flush=True)
    for number, members in enumerate(MEMBERS):
        for hidden in HIDDEN:
            kinds: dict[str, list[float]] = defaultdict(list)
            for seed in SEEDS:
                path = folder / name_of(dataset, split, hidden, seed)
                if path.exists():
                    scores = replace(best, numerator=np.load(path)[number][None])
                    rng = np.random.default_rng(seed)
                    of_floors = [of.scores for of in floors]
                    judged = judge_floors(scores, of_floors, best, errors, rng, resamples=1000, margin=margin)
                    kinds[judged.kind(0)].append(100 * scores.value(MEASURES[0]))
            figures = [figure for of in kinds.values() for figure in of]
            counts = Counter({kind: len(of) for kind, of in kinds.items()})
            row = " | ".join(str(counts[kind]) for kind in ("better", "not decided", "worse"))
            span = f"{min(figures):.2f} to {max(figures):.2f}" if figures else "none"
            print(f"| {dataset}/{split} | {members} | {hidden} | {row} | {span} |", flush=True)


def main(folder: Path, places: list[str], only_train: bool, only_judge: bool) -> None:
    """Train what is missing, seed by seed, then judge."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [place.split("/") for place in places] or [[d, s] for d, splits in PLACES.items() for s in splits]
    for seed in () if only_judge else SEEDS:
        for dataset in dict.fromkeys(dataset for dataset, _ in wanted):
            train_all(folder, dataset, range(seed, seed + 1))
    for dataset, split in () if only_train else wanted:
        judge_all(folder, dataset, split)


if __name__ == "__main__":
    arguments = [of for of in sys.argv[1:] if of not in ("--train", "--judge")]
    main(Path(arguments[0]), arguments[1:], "--train" in sys.argv, "--judge" in sys.argv)
