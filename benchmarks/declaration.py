"""How often is "reads one sentence at a time" contradicted, rightly and wrongly?

python benchmarks/declaration.py [PLACE...]

PLACE is DATASET/SPLIT, e.g. tacos/test. Each kind of answers is tested on draws of 20, 50 and 200 videos, and once on
200 to 1,500 videos, as many as there are. Those above the first line do not know the order, 200, 100 and 50 draws:
sentence networks kept back, other blind methods that read a sentence, methods that see 40 or 90 of 100 moments, or all
of them badly. Those below do, in half of their answers or all, 150, 80 and 40 draws. Then come methods that see, where
the annotations err, and people: the re-annotations of ActivityNet Captions, in the order of the file, and their median.
"""

import os
import sys
from dataclasses import replace

import numpy as np

from truemoment.base.boundary.caching import Cache
from truemoment.base.errors import MissingFileError
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
from truemoment.studies.audit.order_following import ComparedPlaces, order_following
from truemoment.studies.audit.place_law import PlaceLaw, shares_of_video, true_shares

DATA = os.environ.get("TRUEMOMENT_DATA", "../shared/data")
PLACES = ("tacos/test", "activitynet-cd/test-ood", "activitynet-captions/val_2")
MEASURES, MOST_VIDEOS = parse_measures("R@1,IoU=0.5"), 1500
SIZES, WITHOUT, INFORMED = (20, 50, 200), (200, 100, 50), (150, 80, 40)
SEES, SEES_MOST, ERRORS = 0.4, 0.9, (0.05, 0.1, 0.2)
SEEING = (f"sees {SEES:.0%}, else network", f"sees {SEES_MOST:.0%}, else network", "sees all, spread 0.03")
PEOPLE = {"activitynet-captions/val_2": "human-activitynet"}


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


def row(kind: str, answers: Floats, places: ComparedPlaces, rng: np.random.Generator, repeats: tuple[int, ...]) -> None:
    """Print in which per cent of draws of videos the declaration is contradicted, and the result on all videos."""
    usable = np.flatnonzero(~np.isnan(np.column_stack([answers, places.annotated])).any(axis=1))
    answers, places = answers[usable], places.select(usable)
    rates, videos = [], np.unique(places.video)
    for size, n in zip(SIZES, repeats, strict=True):
        found = 0
        for _ in range(n if size < len(videos) else 0):
            rows = np.flatnonzero(np.isin(places.video, rng.choice(videos, size, replace=False)))
            found += order_following(answers[rows], places.select(rows), rng, draws=DRAWS).contradicts
        rates.append(f"{100 * found / n:5.1f}" if size < len(videos) else "    -")
    following = order_following(answers, places, rng, draws=DRAWS)
    (low, high), contradicts = following.ci95, "contradicted" if following.contradicts else "holds"
    print(f"  {kind:56}", *rates, f"{contradicts:12} {following.share:.2f} ({low:.2f} to {high:.2f})", flush=True)


def moved(annotations: Annotations, error: float, rng: np.random.Generator) -> Annotations:
    """Annotations whose starts and ends err by a normal error, as a share of the video."""
    times = np.stack([annotations.start_s, annotations.end_s]) / annotations.duration_s
    start, end = np.sort(np.clip(times + error * rng.normal(size=times.shape), 0, 1), axis=0) * annotations.duration_s
    return replace(annotations, start_s=start, end_s=np.maximum(end, start + 1e-3))


def people(dataset: str, split: str, queries: Queries) -> dict[str, Floats]:
    """Answers of people to some of the queries, and their median; NaN for the others."""
    marked = load_annotations(dataset, split, data_dir=DATA)
    at = {query: number for number, query in enumerate(marked.queries.query_id.tolist())}
    moments = np.stack([marked.start_s, marked.end_s], axis=1)
    answers = np.full((6, len(queries), 2), np.nan)
    for row, query in enumerate(queries.query_id.tolist()):
        if query in at:
            of_query = moments[marked.offsets[at[query]] :][: np.diff(marked.offsets)[at[query]]]
            answers[: len(of_query[:5]), row] = of_query[:5]
            answers[5, row] = np.median(of_query, axis=0)
    names = (*(f"person {number}" for number in range(1, 6)), "median of people")
    return {
        name: shares_of_video(start, end, queries.duration_s)
        for name, (start, end) in zip(names, answers.transpose(0, 2, 1), strict=True)
    }


def main(names: list[str]) -> None:
    """Print a table a split."""
    for name in names or PLACES:
        dataset, _, split = name.partition("/")
        train, whole = (load_annotations(dataset, part, data_dir=DATA) for part in ("train", split))
        rng, video = np.random.default_rng(0), numbers_of(whole.queries.video_id)
        several = np.flatnonzero(np.bincount(video) > 1)
        test = whole.select_queries(np.isin(video, rng.permutation(several)[:MOST_VIDEOS]))
        places, floors, model = fitted(test, train)
        print(f"{name}: {', '.join(f'{size} videos' for size in SIZES)}, all, share followed", flush=True)
        groups = kinds(floors, train, test.queries, places.annotated, rng)
        for group, repeats in zip(groups, (WITHOUT, INFORMED), strict=True):
            for kind, answers in group.items():
                row(kind, answers, places, rng, repeats)
            print("  --")
        for error in ERRORS:
            law, annotated = PlaceLaw.of_training(model, moved(train, error, rng)), true_shares(moved(test, error, rng))
            assert law is not None  # noqa: S101 - the unmoved split has one
            for kind in SEEING:
                erring = places._replace(law=law, annotated=annotated)
                row(f"{kind}; annotations err by {error}", groups[0][kind], erring, rng, WITHOUT)
        if name in PEOPLE:
            print("  --")
            try:
                again = load_annotations(PEOPLE[name], split, data_dir=DATA).queries.video_id
            except MissingFileError as error:
                print(f"  without people: {error}")
                continue
            test = whole.select_queries(np.isin(whole.queries.video_id, again) & np.isin(video, several))
            places, *_ = fitted(test, train)
            for kind, answers in people(PEOPLE[name], split, test.queries).items():
                row(kind, answers, places, rng, WITHOUT)


def fitted(test: Annotations, train: Annotations) -> tuple[ComparedPlaces, list[FloorResult], SentenceNetwork]:
    """The places of sentences, the floors, and the sentence network among them."""
    floors, _ = run_floors(Setting(test, MEASURES, get_protocol("default"), train=train, cache=Cache.of_user()))
    context = [floor for floor in floors if floor.reads == "paragraph"]
    (network,) = (floor for floor in floors if floor.name == NETWORK)
    places = places_for(test, network, context, 0, np.random.default_rng(1))
    assert places is not None and network.floor is not None  # noqa: S101, PT018 - the splits are large
    grounder = network.floor.fitted[0][0]
    assert isinstance(grounder, ExpectedValue) and isinstance(grounder.model, SentenceNetwork)  # noqa: S101, PT018
    return places, floors, grounder.model


if __name__ == "__main__":
    main(sys.argv[1:])
