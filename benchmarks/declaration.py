"""How often is "reads one sentence at a time" contradicted, rightly and wrongly?

python benchmarks/declaration.py [PLACE...]

PLACE is DATASET/SPLIT, e.g. tacos/test. Each kind of answers is tested on draws of 20, 50 and 200 videos, and once on
200 to 1,500 videos, as many as there are. Those above the line do not know the order, 400, 200 and 100 draws: sentence
networks kept back, other blind methods that read a sentence, methods that see 40 or 90 of 100 moments, or all of them
badly. Those below do, in half of their answers or all, 150, 100 and 40 draws. The last lines are methods that see,
where the annotations err.
"""

import os
import sys
from dataclasses import replace

import numpy as np

from truemoment.base.boundary.caching import Cache
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions, Queries, numbers_of
from truemoment.baselines import ExpectedValue, ParagraphNetwork, SentenceNetwork
from truemoment.baselines.floors import NETWORK, FloorResult, Setting, run_floors
from truemoment.baselines.sentence_network import Training
from truemoment.data.datasets import load_annotations
from truemoment.data.language.paragraphs import Paragraphs
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit.declaration import DRAWS, places_for
from truemoment.studies.audit.order_following import OrderEvidence
from truemoment.studies.audit.place_law import PlaceLaw, moment_terms, places_of, true_shares

DATA = os.environ.get("TRUEMOMENT_DATA", "../shared/data")
PLACES = ("tacos/test", "activitynet-cd/test-ood", "activitynet-captions/val_2")
MEASURES, MOST_VIDEOS = parse_measures("R@1,IoU=0.5"), 1500
SIZES, WITHOUT, INFORMED = (20, 50, 200), (400, 200, 100), (150, 100, 40)
SEES, SEES_MOST, ERRORS = 0.4, 0.9, (0.1, 0.2)


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


def nearly(true: Floats, rng: np.random.Generator) -> Floats:
    """Moments with normal errors of start and end, of 0.03 of the video."""
    return np.sort(np.clip(true + 0.03 * rng.normal(size=true.shape), 0, 1), axis=1)


def means_by_place(train: Annotations, queries: Queries) -> Floats:
    """The mean start and end of the training moments whose sentences have the same place, among as many."""
    true, seen = true_shares(train), np.stack(Paragraphs.of(train.queries).place, axis=1).tolist()
    moments: dict[tuple[int, int], list[Floats]] = {}
    for (place, size), moment in zip(seen, true, strict=True):
        moments.setdefault((place, size), []).append(moment)
    means = {key: np.nanmean(values, axis=0) for key, values in moments.items()}
    places = np.stack(Paragraphs.of(queries).place, axis=1).tolist()
    return np.array([means.get((k, n), [k / n, (k + 1) / n]) for k, n in places])


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
    sees, most, half = (rng.random((3, len(video))) < [[SEES], [SEES_MOST], [0.5]])[:, :, None]
    seeing = {
        f"sees {SEES:.0%}, else network": np.where(sees, true, networks[0]),
        f"sees {SEES_MOST:.0%}, else network": np.where(most, true, networks[0]),
        f"sees {SEES:.0%}, else another event": np.where(sees, true, true[event]),
        "sees all, spread 0.2": around(centre, length, rng, 0.2),
        "sees all, spread 0.1": around(centre, length, rng, 0.1),
        "sees all, spread 0.03": nearly(true, rng),
        "half way to the network": around((centre + networks[0].mean(axis=1)) / 2, 0.3 * length, rng, 0.1),
    }
    blind = {name: of[name] for name in ("action-aware", "sentence-neighbours", "random-chance", "uniform")}
    without = blind | {"network 5": networks[0], "network 6": networks[1]} | seeing
    informed = {"order table": of["order-table"], "paragraph network 7": paragraph}
    informed["means by place"] = means_by_place(train, queries)
    halves = {"network": networks[0]} | {kind: seeing[kind] for kind in list(seeing)[:1]}
    halves["spread 0.2"] = seeing["sees all, spread 0.2"]
    mixed = {
        f"half {name}, half {other}": np.where(half, answers, with_order)
        for name, answers in halves.items()
        for other, with_order in informed.items()
    }
    return without, informed | mixed


def contradicted(evidence: OrderEvidence, size: int, rng: np.random.Generator, repeats: int) -> float:
    """Return on which share of draws of videos the declaration is contradicted, in per cent."""
    n_videos = len(evidence.total)
    drawn = (evidence.select(rng.choice(n_videos, size, replace=False)).following() for _ in range(repeats))
    return 100 * float(np.mean([following.contradicts for following in drawn]))


def outcome(evidence: OrderEvidence) -> str:
    """All videos in words."""
    following = evidence.following()
    contradicts = "contradicted" if following.contradicts else "holds"
    low, high = following.ci95
    return f"{contradicts:12} {following.share:.2f} ({low:.2f} to {high:.2f})"


def moved(annotations: Annotations, error: float, rng: np.random.Generator) -> Annotations:
    """Annotations whose starts and ends err by a normal error, as a share of the video."""
    times = np.stack([annotations.start_s, annotations.end_s]) / annotations.duration_s
    start, end = np.sort(np.clip(times + error * rng.normal(size=times.shape), 0, 1), axis=0) * annotations.duration_s
    return replace(annotations, start_s=start, end_s=np.maximum(end, start + 1e-3))


def main(names: list[str]) -> None:
    """Print a table a split."""
    for name in names or PLACES:
        dataset, _, split = name.partition("/")
        train, test = (load_annotations(dataset, part, data_dir=DATA) for part in ("train", split))
        rng, video = np.random.default_rng(0), numbers_of(test.queries.video_id)
        several = np.flatnonzero(np.bincount(video) > 1)
        test = test.select_queries(np.isin(video, rng.permutation(several)[:MOST_VIDEOS]))
        protocol, queries = get_protocol("default"), test.queries
        floors, _ = run_floors(Setting(test, MEASURES, protocol, train=train, cache=Cache.of_user()))
        context = [of for of in floors if of.reads == "paragraph"]
        (network,) = (of for of in floors if of.name == NETWORK)
        places = places_for(test, network, context, 0, np.random.default_rng(1))
        n_videos = min(len(several), MOST_VIDEOS)
        sizes = [size for size in SIZES if size < n_videos]
        print(f"{name}: {', '.join(f'{size} videos' for size in sizes)}, {n_videos}, share followed", flush=True)
        groups = kinds(floors, train, queries, places.true, rng)
        for group, repeats in zip(groups, (WITHOUT, INFORMED), strict=True):
            for kind, answers in group.items():
                evidence = OrderEvidence.of(answers, places, rng, draws=DRAWS)
                rates = [contradicted(evidence, size, rng, n) for size, n in zip(sizes, repeats, strict=False)]
                print(f"  {kind:44}", *(f"{rate:5.1f}" for rate in rates), outcome(evidence), flush=True)
            print("  --")
        sees, near = groups[0][f"sees {SEES:.0%}, else network"], groups[0]["sees all, spread 0.03"]
        model = network.floor.fitted[0][0].model
        place, size = Paragraphs.of(queries).place
        for error in ERRORS:
            erring, law = true_shares(moved(test, error, rng)), PlaceLaw.of_training(model, moved(train, error, rng))
            terms = moment_terms(erring, model.probabilities(queries), model.places.cells)
            log_p = law.log_probabilities(terms, places_of(place, size, np.random.default_rng(1)), size)
            annotated = places._replace(true=erring, log_p=log_p)
            for kind, answers in ((f"sees {SEES:.0%}, else network", sees), ("sees all, spread 0.03", near)):
                evidence = OrderEvidence.of(answers, annotated, rng, draws=DRAWS)
                print(f"  {kind}; annotations err by {error}:", outcome(evidence), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
