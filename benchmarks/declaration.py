"""How often is "reads one sentence at a time" contradicted, rightly and wrongly?

python benchmarks/declaration.py [PLACE...]

PLACE is DATASET/SPLIT, e.g. tacos/test. Each kind of answers is tested on 100 draws of 20, 50 and 200 videos, and once
on all. Those above the line do not know the order: sentence networks kept back, other blind methods that read a
sentence, methods that see 40 of 100 moments, or all of them badly. Those below do, in half of their answers or all.
The last lines are methods that see, where the annotations err.
"""

import os
import sys
from typing import NamedTuple

import numpy as np

from truemoment.base.boundary.caching import Cache
from truemoment.base.cells import cell_bounds
from truemoment.base.intervals import Floats, Ints, temporal_iou
from truemoment.base.records import Annotations, Predictions, Queries, numbers_of
from truemoment.baselines import ExpectedValue, ParagraphNetwork, SentenceNetwork
from truemoment.baselines.expected_value import CELLS
from truemoment.baselines.floors import NETWORK, FloorResult, Setting, run_floors
from truemoment.baselines.sentence_network import Training
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit.declaration import PERMUTATIONS, moves_by_order
from truemoment.studies.audit.order_following import follow_order, terms_beside, weights_of_places

DATA = os.environ.get("TRUEMOMENT_DATA", "../shared/data")
PLACES = ("tacos/test", "activitynet-cd/test-ood", "activitynet-captions/val_2")
MEASURES, IOU = parse_measures("R@1,IoU=0.5"), 0.5
SIZES, REPEATS, SEES, FEW, ERRORS = (20, 50, 200), 100, 0.4, 400, (0.1, 0.2)


def shares(predictions: Predictions, queries: Queries) -> Floats:
    """First answers as shares of the video, (Q, 2)."""
    at = predictions.offsets[predictions.rows_of(queries.query_id)]
    return np.stack([predictions.start_s[at], predictions.end_s[at]], axis=1) / queries.duration_s[:, None]


def kept_back(model: SentenceNetwork | ParagraphNetwork, train: Annotations, queries: Queries) -> Floats:
    """First answers of a network that is no floor."""
    (method,) = ExpectedValue(model.fit(train), protocol=get_protocol("default")).for_measures(MEASURES)
    return shares(method.ground(queries), queries)


def around(centre: Floats, length: Floats, rng: np.random.Generator, spread: float) -> Floats:
    """Moments with normal errors of the centre and of the logarithm of the length."""
    centre = centre + spread * rng.normal(size=len(centre))
    length = np.clip(length * np.exp(0.4 * rng.normal(size=len(length))), 0.02, 1)
    return np.clip(np.stack([centre - length / 2, centre + length / 2], axis=1), 0, 1)


def kinds(
    floors: list[FloorResult], train: Annotations, queries: Queries, true: Floats, rng: np.random.Generator
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Answers by kind, without the order and with it, and the true moments that they are held against."""
    of = {floor.name: shares(floor.predictions, queries) for floor in floors}
    centre, length = true.mean(axis=1), true[:, 1] - true[:, 0]
    two = Training(members=(2, 2))
    networks = [kept_back(SentenceNetwork(np.random.default_rng(seed), two), train, queries) for seed in (5, 6)]
    sentence = SentenceNetwork(np.random.default_rng(7), two)
    paragraph = kept_back(ParagraphNetwork(np.random.default_rng(7), sentence), train, queries)
    video = numbers_of(queries.video_id)
    order = np.argsort(video, kind="stable")
    counts = np.bincount(video)
    event = order[(np.cumsum(counts) - counts)[video] + (rng.random(len(video)) * counts[video]).astype(int)]
    sees, half = (rng.random((2, len(video))) < [[SEES], [0.5]])[:, :, None]
    seeing = {
        f"sees {SEES:.0%}, else network": np.where(sees, true, networks[0]),
        f"sees {SEES:.0%}, else another event": np.where(sees, true, true[event]),
        "sees all, spread 0.2": around(centre, length, rng, 0.2),
        "sees all, spread 0.1": around(centre, length, rng, 0.1),
        "half way to the network": around((centre + networks[0].mean(axis=1)) / 2, 0.3 * length, rng, 0.1),
    }
    blind = {name: of[name] for name in ("action-aware", "sentence-neighbours", "random-chance", "uniform")}
    without = blind | {"network 5": networks[0], "network 6": networks[1]} | seeing
    informed = {"order table": of["order-table"], "paragraph network 7": paragraph}
    mixed = {
        f"half {name}, half {other}": np.where(half, answers, with_order)
        for name, answers in (("network", networks[0]), *list(seeing.items())[:1], ("spread", list(seeing.values())[2]))
        for other, with_order in informed.items()
    }
    return without, informed | mixed


class Tested(NamedTuple):
    """What answers are tested with: true moments (Q, 2), changes by the order (Q, W), terms (Q, Z), videos (Q,)."""

    true: Floats
    moved: Floats
    terms: Floats
    video: Ints

    def contradicted(self, answers: Floats, size: int, rng: np.random.Generator, repeats: int) -> tuple[float, float]:
        """Return on which share of draws of videos the declaration is contradicted, and the mean share followed."""
        found, n_videos = [], int(self.video.max()) + 1
        missed = temporal_iou(*answers.T, *self.true.T) < IOU
        for _ in range(repeats):
            drawn = np.isin(self.video, rng.choice(n_videos, min(size, n_videos), replace=False))
            rows = np.flatnonzero(missed & drawn)
            own, n = weights_of_places(answers[rows]), FEW if repeats > 1 else PERMUTATIONS
            of = (own, self.moved[rows], self.terms[rows], self.video[rows])
            found.append(follow_order(*of, rng, permutations=n))
        return float(np.mean([of.contradicts for of in found])), float(np.mean([of.share for of in found]))


def main(places: list[str]) -> None:
    """Print a table a split."""
    for place in places or PLACES:
        dataset, _, split = place.partition("/")
        train, test = (load_annotations(dataset, name, data_dir=DATA) for name in ("train", split))
        protocol, queries = get_protocol("default"), test.queries
        floors, _ = run_floors(Setting(test, MEASURES, protocol, train=train, cache=Cache.of_user()))
        context = [of for of in floors if of.reads == "paragraph"]
        (network,) = (of for of in floors if of.name == NETWORK)
        model, rng = network.floor.fitted[0][0].model, np.random.default_rng(0)
        at = test.offsets[:-1]
        true = np.clip(np.stack([test.start_s[at], test.end_s[at]], axis=1) / queries.duration_s[:, None], 0, 1)
        video = numbers_of(queries.video_id)
        cells = (cell_bounds(CELLS)[model.places.cells] + [0, 1]) / CELLS
        probability = model.probabilities(queries)
        terms = terms_beside(true, probability, cells, shares(network.predictions, queries), IOU)
        tested = Tested(true, moves_by_order(context, queries, 0, rng), terms, video)
        sizes = [size for size in SIZES if size < video.max() + 1]
        print(f"{place}: {', '.join(f'{size} videos' for size in sizes)}, all, share", flush=True)
        groups = kinds(floors, train, queries, true, rng)
        for group in groups:
            for name, answers in group.items():
                rates = [tested.contradicted(answers, size, rng, REPEATS)[0] for size in sizes]
                whole, share = tested.contradicted(answers, len(video), rng, 1)
                print(f"  {name:46}", *(f"{rate:5.2f}" for rate in rates), f"{whole:3.0f} {share:+.2f}", flush=True)
            print("  --")
        sees = next(answers for name, answers in groups[0].items() if name.endswith("else network"))
        for error in ERRORS:
            moved_true = np.sort(np.clip(true + error * rng.normal(size=true.shape), 0, 1), axis=1)
            beside = terms_beside(moved_true, probability, cells, shares(network.predictions, queries), IOU)
            annotated = tested._replace(true=moved_true, terms=beside)
            nearly = np.sort(np.clip(true + 0.03 * rng.normal(size=true.shape), 0, 1), axis=1)
            for name, answers in ((f"sees {SEES:.0%}, else network", sees), ("sees all, spread 0.03", nearly)):
                whole, share = annotated.contradicted(answers, len(video), rng, 1)
                print(f"  {name}; annotations err by {error}: {whole:.0f} {share:+.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
