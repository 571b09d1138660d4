"""What do training splits cover of audited ones? python benchmarks/training_data.py

Each audited split beside its own training split, subsets of that, and the training splits of other datasets. A line has
what the audit looks at before its verdict, and what is below its limits.
"""

import os

import numpy as np

from truemoment.base.records import Annotations
from truemoment.data.datasets import load_annotations
from truemoment.studies.audit.training_data import training_coverage

DATA = os.environ.get("TRUEMOMENT_DATA", "../shared/data")
AUDITED = {
    "charades-sta": ("test",),
    "charades-cd": ("test-iid", "test-ood"),
    "tacos": ("test",),
    "activitynet-cd": ("test-iid", "test-ood"),
    "activitynet-captions": ("val_2",),
}
SIZES = (3000, 1000, 300, 100, 30, 5)


def line(name: str, train: Annotations, audited: Annotations, *, foreign: bool = False) -> str:
    """Return a row of the table."""
    of = training_coverage(train, audited, foreign=foreign)
    shares = " | ".join(f"{100 * share:.0f}" for share in (of.words, of.durations, of.alike))
    return f"| {name} | {shares} | {of.divergence:.3f} | {of.distance:.3f} | {'; '.join(of.faults) or '-'} |"


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    trains = {dataset: load_annotations(dataset, "train", data_dir=DATA) for dataset in AUDITED}
    print("| audited, training | words, % | durations, % | in one place, % | bits | distance | below a limit |")
    print("|---|---|---|---|---|---|---|")
    for dataset, splits in AUDITED.items():
        for split in splits:
            audited, train = load_annotations(dataset, split, data_dir=DATA), trains[dataset]
            print(line(f"{dataset}/{split}, its own", train, audited, foreign=True), flush=True)
            for size in SIZES:
                few = train.select_queries(np.isin(np.arange(train.n_queries), rng.permutation(train.n_queries)[:size]))
                print(line(f"{dataset}/{split}, {size} queries of it", few, audited), flush=True)
            for other, foreign in trains.items():
                if other[:4] != dataset[:4]:
                    print(line(f"{dataset}/{split}, {other}", foreign, audited, foreign=True), flush=True)


if __name__ == "__main__":
    main()
