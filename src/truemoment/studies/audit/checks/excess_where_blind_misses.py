"""What the method finds where the sentence network misses: its excess over a second network, and over every floor.

The excess is that of :mod:`truemoment.baselines.network_row`. For a method that finds a share t of the moments and
guesses the others as well as the networks do, it is t times the share that the second network misses of what the first
one misses.

A blind method of another kind hits more of what the networks miss: on Charades-STA a constant, by luck, 11 points more.
So the method is compared with every floor as with the second network, and the least of these differences is the figure.

A hit is R@1 at the IoU of the headline measure. Networks are fitted on the training split; where there is none, out of
fold on the audited split itself: each fifth of its videos is answered by networks that learned from the others.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.base.boundary.arrays import Array
from truemoment.base.boundary.documents import Measured
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Predictions
from truemoment.baselines import ExpectedValue
from truemoment.baselines.base import deal_folds
from truemoment.baselines.floors import NETWORK, pack_answers, unpack_answers
from truemoment.baselines.network_row import count_hits, hit_of, hits_beside, shares_of_hits
from truemoment.baselines.sentence_network import SentenceNetwork, Training
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Measure, Recall
from truemoment.evaluation.scores import Scores
from truemoment.report.drawing import FLOOR, METHOD, OTHER, PAPER, drawing_style, new_figure
from truemoment.report.model import Block, Drawing, Level
from truemoment.report.words import counted, interval95_points, points
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "excess-where-blind-misses"

N_FOLDS, TRAINING = 5, Training(members=(1, 1))
"""Parts of the audited split where networks learn from it, and how: ten in all, so one member each."""

N_CLASSES = 10
"""Classes of queries by the probability that the network is right."""


class FloorWhereBlindMisses(NamedTuple):
    """Share of the queries that the first network misses that a floor hits, and the method's excess over it there."""

    name: str
    where_missed: float
    excess: float
    ci95: Floats

    @property
    def low(self) -> float:
        """Lower end of the interval; the excess itself where it does not vary from video to video."""
        return float(self.ci95[0] if np.isfinite(self.ci95[0]) else self.excess)


class WhereBlindMisses(NamedTuple):
    """Hits of the method, the first and the second network, by those of the first one; fractions.

    Parameters
    ----------
    out_of_fold
        Whether the networks learned from the audited split.
    where_missed, where_hit : (3,)
        Share of the queries that the first network misses, and hits, that each of the three hits.
    excess, ci95
        Method less second network where the first one misses, and its 95 % interval.
    floor
        The floor over which the lower end of the method's excess is lowest; None without floors.
    probability, n_queries, hits : (D,), (D,), (D, 3)
        By class of queries: mean probability that the first network is right, number of queries, share of hits.
    """

    measure: Measure
    out_of_fold: bool
    n_missed: int
    n_hit: int
    where_missed: Floats
    where_hit: Floats
    excess: float
    ci95: Floats
    floor: FloorWhereBlindMisses | None
    probability: Floats
    n_queries: Ints
    hits: Floats

    @property
    def least(self) -> float:
        """The excess over the second network or over the floor, whichever is less."""
        return self.excess if self.floor is None else min(self.excess, self.floor.excess)

    @property
    def low(self) -> float:
        """Lower end of the interval against the second network or the floor, whichever is less."""
        low = float(self.ci95[0])
        return low if self.floor is None else min(low, self.floor.low)


def where_blind_misses(results: Results) -> WhereBlindMisses | None:
    """Compare the hits of the method with those of two sentence networks; None where none can be fitted."""
    setup, measure = results.setup, hit_of(results.measure)
    answers = results.cached(network_answers)
    if answers is None:
        return None
    results.on_status("where the sentence network misses")
    of_method, first, second = (_hits(results, of, measure) for of in (setup.predictions, *answers))
    of_floors = [_hits(results, floor.predictions, measure) for floor in results.floors]
    rng = results.stream(NAME)
    found, *beside = hits_beside([of_method], first, [second, *of_floors], rng, resamples=setup.resamples)
    floors = [
        FloorWhereBlindMisses(floor.title, shares_of_hits([hits], first)[0], of.excess, of.ci95)
        for floor, hits, of in zip(results.floors, of_floors, beside, strict=True)
    ]
    systems = [shares_of_hits([of], first) for of in (of_method, first, second)]
    n_missed, n_hit = count_hits(first)
    row = answers[0].rows_of(setup.annotations.queries.query_id)
    probability = answers[0].score[answers[0].offsets[row]]
    hits = np.stack([of.numerator[0] for of in (of_method, first, second)], axis=1)
    classes = [of for of in np.array_split(np.argsort(probability, kind="stable"), N_CLASSES) if len(of)]
    return WhereBlindMisses(
        measure=measure,
        out_of_fold=setup.splits.train is None,
        n_missed=n_missed,
        n_hit=n_hit,
        where_missed=np.array([missed for missed, _ in systems]),
        where_hit=np.array([hit for _, hit in systems]),
        excess=found.excess,
        ci95=found.ci95,
        floor=min(floors, key=lambda of: of.low, default=None),
        probability=np.array([probability[of].mean() for of in classes]),
        n_queries=np.array([len(of) for of in classes]),
        hits=np.stack([hits[of].mean(axis=0) for of in classes]),
    )


def _hits(results: Results, predictions: Predictions, measure: Recall) -> Scores:
    return evaluate(results.annotations, predictions, [measure], results.setup.protocol)


def network_answers(results: Results) -> tuple[Predictions, Predictions] | None:
    """Return the answers of two networks of different seeds by R@1; None where none can be fitted."""
    measure, found = hit_of(results.measure), []
    network = results.floor(NETWORK)
    if network is not None and network.floor is not None and measure in results.setup.measures:
        column = results.setup.measures.index(measure)
        first, second, *_ = network.floor.answers(results.annotations)
        return first[column], second[column]
    for number in range(2):
        fitted = results.networks[number] if results.networks else None
        if fitted is not None:
            (by_hits,) = fitted.for_measures([measure])
            found.append(by_hits.ground(results.annotations.queries))
        elif results.setup.splits.train is None:
            try:
                found.append(_out_of_fold(results, measure, f"{NETWORK} out of fold {number}"))
            except InputError:
                return None
        else:
            return None
    return found[0], found[1]


def _out_of_fold(results: Results, measure: Recall, name: str) -> Predictions:
    """Answer each part of the audited split by a network that learned from the other parts; `name` seeds them."""
    annotations, protocol = results.annotations, results.setup.protocol
    for_folds, *children = results.stream(name).spawn(1 + N_FOLDS)
    fold = deal_folds(annotations.queries.video_id, N_FOLDS, for_folds)

    def predict() -> dict[str, Array]:
        parts = []
        for number, child in enumerate(children):
            if (fold == number).any():
                results.on_status(f"sentence network out of fold, {100 * number / N_FOLDS:.0f} %")
                network = ExpectedValue(SentenceNetwork(child, TRAINING), measure, protocol)
                fitted = network.fit(annotations.select_queries(fold != number))
                parts.append(fitted.ground(annotations.select_queries(fold == number).queries))
        return pack_answers([[Predictions.joined(parts)]])

    key = {"annotations": annotations.sha256, "measure": str(measure), "protocol": protocol.signature()}
    packed = results.setup.cache.arrays("out-of-fold", key | {"network": name, "seed": results.stream_seed}, predict)
    return unpack_answers(packed, annotations.queries.query_id[np.argsort(fold, kind="stable")])[0][0]


def look(results: Results) -> AuditFinding | None:
    """State what the method finds where the sentence network misses."""
    found = results.cached(where_blind_misses)
    if found is None:
        return None
    if not found.n_missed or not np.all(np.isfinite(found.ci95)):
        why = "misses no query" if not found.n_missed else "differs too little from video to video"
        return AuditFinding(NAME, "note", f"There is no excess to state: the sentence network {why}.")
    missed, hit = 100 * found.where_missed, 100 * found.where_hit
    right = f"; where it is right, {hit[0]:.0f} %" if found.n_hit else ""
    verdict = (
        f"Where the sentence network misses, the method finds {missed[0]:.0f} %{right}. A second sentence network "
        f"finds {missed[2]:.0f} % of what the first one misses, so the excess is "
        f"{points(found.excess, sign='+')} points, {interval95_points(found.ci95, sign='+')}."
    )
    if (of := found.floor) is not None and of.low < found.ci95[0]:
        verdict += (
            f" The closest floor, {of.name}, finds {100 * of.where_missed:.0f} %: {points(of.excess, sign='+')} "
            f"points, {interval95_points(of.ci95, sign='+')}."
        )
    low, high = found.low, found.ci95[1]
    level: Level = "good" if low > 0.1 else "note" if low > 0 else "warning" if high > 0.1 else "serious"
    fitted = "fitted on the training split"
    if found.out_of_fold:
        split = results.annotations.split
        fitted = f"each fifth of the videos of {split} answered by networks that learned from the others"
    lines = [
        f"{found.measure}; {counted(found.n_missed, 'query', 'queries')} that the first network misses, "
        f"{found.n_hit:,} that it hits",
        f"networks of two seeds, {fitted}",
    ]
    lines += [
        f"probability {100 * p:.0f} % that the network is right ({n:,} queries): method {100 * own:.0f} %, network "
        f"{100 * first:.0f} %, second network {100 * second:.0f} %"
        for p, n, (own, first, second) in zip(
            found.probability.tolist(), found.n_queries.tolist(), found.hits.tolist(), strict=True
        )
    ]
    return AuditFinding(NAME, level, verdict, tuple(lines), found.least, bool(low > 0), (low, float(high)))


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Draw the hits by the probability that the network is right."""
    found = results.cached(where_blind_misses)
    if found is None:
        return {}
    drawing = Drawing(
        "where-blind-misses",
        "Hits by the probability that the sentence network is right",
        "Queries in ten classes by the probability that a network that reads only the sentence and the duration is "
        "right. A method that guesses follows the networks; one that looks at the video also hits where they miss, at "
        "the left.",
        partial(excess_figure, found.probability, found.hits, found.measure),
    )
    return {SCORE: (drawing,)}


def document(results: Results) -> dict[str, Any]:
    """Return the hits of the method and of both networks where the first one misses, and the excess."""
    found = results.cached(where_blind_misses)
    if found is None:
        return {"where_blind_misses": None}
    systems, no_query = ("method", "network", "second_network"), "the network misses no query"
    floor = found.floor and {
        "name": found.floor.name,
        "where_missed": found.floor.where_missed,
        "excess": Measured(found.floor.excess, no_query, found.floor.ci95.tolist()),
    }
    return {
        "where_blind_misses": {
            "measure": str(found.measure),
            "out_of_fold": found.out_of_fold,
            "n_missed": found.n_missed,
            "n_hit": found.n_hit,
            "where_missed": dict(zip(systems, found.where_missed, strict=True)),
            "where_hit": dict(zip(systems, found.where_hit, strict=True)),
            "excess": Measured(found.excess, no_query, found.ci95.tolist()),
            "floor": floor,
            "by_probability": [
                {"probability": p, "n_queries": n, **dict(zip(systems, hits, strict=True))}
                for p, n, hits in zip(found.probability, found.n_queries, found.hits, strict=True)
            ],
        }
    }


def excess_figure(probability: Floats, hits: Floats, measure: Measure) -> Figure:
    """Draw the hits of the method and two networks, (D, 3), by the probability that the first one is right, (D,)."""
    looks = (
        ("the method", METHOD, "o", METHOD),
        ("sentence network", FLOOR, "D", FLOOR),
        ("a second network", OTHER, "^", PAPER),
    )
    with drawing_style():
        figure = new_figure(3.2)
        axes = figure.add_subplot()
        for (label, colour, marker, face), of_system in zip(looks, hits.T, strict=True):
            axes.plot(100 * probability, 100 * of_system, color=colour, marker=marker, mfc=face, label=label)
        axes.set_xlim(left=0)
        axes.set_ylim(0, max(1.0, 105 * float(hits.max(initial=0))))
        axes.set_xlabel("probability that the sentence network is right, %")
        axes.set_ylabel(f"hits at {measure}, %")
        axes.grid(axis="both")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


CHECK = Check(
    name=NAME,
    title="Where the sentence network misses",
    looks_at="hits where the sentence network misses, less those of a second sentence network and of every floor",
    look=look,
    passes="the 95 % intervals against all of them lie above 0",
    figure="the least of these differences",
    blocks=blocks,
    document=document,
    against_floors=True,
)
