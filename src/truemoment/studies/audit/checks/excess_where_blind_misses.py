"""Hits of the method where the sentence network misses: its excess there over a second network, and over every floor.

:mod:`truemoment.baselines.network_row` defines the excess. For a method that finds a share t of the moments and guesses
the others as well as the networks do, it is t times the share of the first network's misses that the second one misses.

A blind method of another kind hits more of the networks' misses: on Charades-STA a constant hits 11 points more, by
luck. So the method is also compared with every floor, and the smallest of these differences is the figure.

A hit is R@1 at the IoU of the headline measure. Networks are fitted on the training split. Without one they are fitted
out of fold on the audited split: networks that learned from four fifths of its videos answer the other fifth.
"""

from __future__ import annotations

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
from truemoment.report.charts import Plot, PlotCurve
from truemoment.report.model import Block, Level
from truemoment.report.roles import ROLES
from truemoment.report.words import counted, interval95_points, points
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

if TYPE_CHECKING:
    pass

NAME = "excess-where-blind-misses"

N_FOLDS, TRAINING = 5, Training(members=(1, 1))
"""Number of folds of the audited split if networks learn from it, and their training: one member per network."""

N_CLASSES = 10
"""Number of classes of queries by the probability that the network is right."""


class FloorExcess(NamedTuple):
    """A floor's share of hits on the queries that the first network misses, and the method's excess over it."""

    name: str
    where_missed: float
    excess: float
    ci95: Floats

    @property
    def low(self) -> float:
        """Lower end of the interval; the excess itself if it does not vary from video to video."""
        return float(self.ci95[0] if np.isfinite(self.ci95[0]) else self.excess)


class NetworkExcess(NamedTuple):
    """Hits of the method and of two networks, where the first network misses and where it hits; fractions.

    Parameters
    ----------
    out_of_fold
        Whether the networks learned from the audited split.
    where_missed, where_hit : (3,)
        Share of the queries that the first network misses, and hits, that each of the three hits.
    excess, ci95
        Method less second network on the queries that the first one misses, and its 95 % interval.
    floor
        The floor for which the lower end of the method's excess is lowest; None without floors.
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
    floor: FloorExcess | None
    probability: Floats
    n_queries: Ints
    hits: Floats

    @property
    def least(self) -> float:
        """The smaller of the excesses over the second network and over the floor."""
        return self.excess if self.floor is None else min(self.excess, self.floor.excess)

    @property
    def low(self) -> float:
        """The smaller lower end of the intervals against the second network and the floor."""
        low = float(self.ci95[0])
        return low if self.floor is None else min(low, self.floor.low)


def network_excess(results: Results) -> NetworkExcess | None:
    """Compare the hits of the method with those of two sentence networks; None if none can be fitted."""
    setup, measure = results.setup, hit_of(results.measure)
    answers = results.cached(network_answers)
    if answers is None:
        return None
    results.on_status("where the sentence network misses")
    method, first, second = (_hits(results, predictions, measure) for predictions in (setup.predictions, *answers))
    floor_hits = [_hits(results, floor.predictions, measure) for floor in results.floors]
    rng = results.stream(NAME)
    excess, *floor_excesses = hits_beside([method], first, [second, *floor_hits], rng, resamples=setup.resamples)
    floors = [
        FloorExcess(floor.title, shares_of_hits([hits], first)[0], over_floor.excess, over_floor.ci95)
        for floor, hits, over_floor in zip(results.floors, floor_hits, floor_excesses, strict=True)
    ]
    systems = [shares_of_hits([system], first) for system in (method, first, second)]
    n_missed, n_hit = count_hits(first)
    row = answers[0].rows_of(setup.annotations.queries.query_id)
    probability = answers[0].score[answers[0].offsets[row]]
    hits = np.stack([system.numerator[0] for system in (method, first, second)], axis=1)
    classes = [rows for rows in np.array_split(np.argsort(probability, kind="stable"), N_CLASSES) if len(rows)]
    return NetworkExcess(
        measure=measure,
        out_of_fold=setup.splits.train is None,
        n_missed=n_missed,
        n_hit=n_hit,
        where_missed=np.array([missed for missed, _ in systems]),
        where_hit=np.array([hit for _, hit in systems]),
        excess=excess.excess,
        ci95=excess.ci95,
        floor=min(floors, key=lambda floor: floor.low, default=None),
        probability=np.array([probability[rows].mean() for rows in classes]),
        n_queries=np.array([len(rows) for rows in classes]),
        hits=np.stack([hits[rows].mean(axis=0) for rows in classes]),
    )


def _hits(results: Results, predictions: Predictions, measure: Recall) -> Scores:
    return evaluate(results.annotations, predictions, [measure], results.setup.protocol)


def network_answers(results: Results) -> tuple[Predictions, Predictions] | None:
    """Return the answers of two networks with different seeds by R@1; None if none can be fitted."""
    measure, answers = hit_of(results.measure), []
    network = results.floor(NETWORK)
    if network is not None and network.floor is not None and measure in results.setup.measures:
        column = results.setup.measures.index(measure)
        first, second, *_ = network.floor.answers(results.annotations)
        return first[column], second[column]
    for number in range(2):
        fitted = results.networks[number] if results.networks else None
        if fitted is not None:
            (by_hits,) = fitted.for_measures([measure])
            answers.append(by_hits.ground(results.annotations.queries))
        elif results.setup.splits.train is None:
            try:
                answers.append(_out_of_fold(results, measure, f"{NETWORK} out of fold {number}"))
            except InputError:
                return None
        else:
            return None
    return answers[0], answers[1]


def _out_of_fold(results: Results, measure: Recall, name: str) -> Predictions:
    """Return answers for each fold of the audited split by a network that learned from the other folds.

    `name` seeds the networks.
    """
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
    packed = results.setup.cache.arrays("out-of-fold", key | {"network": name, "seed": results.seed}, predict)
    return unpack_answers(packed, annotations.queries.query_id[np.argsort(fold, kind="stable")])[0][0]


def look(results: Results) -> AuditFinding | None:
    """State how many queries the method hits where the sentence network misses."""
    result = results.cached(network_excess)
    if result is None:
        return None
    if not result.n_missed or not np.all(np.isfinite(result.ci95)):
        why = "misses no query" if not result.n_missed else "differs too little from video to video"
        return AuditFinding(NAME, "note", f"The excess is undefined: the sentence network {why}.")
    missed, hit = 100 * result.where_missed, 100 * result.where_hit
    right = f" (where it hits: {hit[0]:.0f} %)" if result.n_hit else ""
    verdict = (
        f"The method hits {missed[0]:.0f} % of the queries that the sentence network misses{right}. A second sentence "
        f"network hits {missed[2]:.0f} % of them, so the excess is "
        f"{points(result.excess, sign='+')} points, {interval95_points(result.ci95, sign='+')}."
    )
    if (floor := result.floor) is not None and floor.low < result.ci95[0]:
        verdict += (
            f" The closest floor, {floor.name}, hits {100 * floor.where_missed:.0f} %: "
            f"{points(floor.excess, sign='+')} points, {interval95_points(floor.ci95, sign='+')}."
        )
    low, high = result.low, result.ci95[1]
    level: Level = "good" if low > 0.1 else "note" if low > 0 else "warning" if high > 0.1 else "serious"
    fitted = "fitted on the training split"
    if result.out_of_fold:
        split = results.annotations.split
        fitted = f"which learned from four fifths of the videos of {split} and answered the other fifth"
    lines = [
        f"{result.measure}; {counted(result.n_missed, 'query', 'queries')} that the first network misses, "
        f"{result.n_hit:,} that it hits",
        f"networks of two seeds, {fitted}",
    ]
    lines += [
        f"probability {100 * p:.0f} % that the network is right ({n:,} queries): method {100 * own:.0f} %, network "
        f"{100 * first:.0f} %, second network {100 * second:.0f} %"
        for p, n, (own, first, second) in zip(
            result.probability.tolist(), result.n_queries.tolist(), result.hits.tolist(), strict=True
        )
    ]
    return AuditFinding(NAME, level, verdict, tuple(lines), result.least, bool(low > 0), (low, float(high)))


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Draw the hits by the probability that the network is right."""
    result = results.cached(network_excess)
    if result is None:
        return {}
    looks = {
        results.setup.predictions.name: ROLES["method"].look,
        "sentence network": ROLES["floor"].look,
        "a second network": ROLES["other"].look._replace(marker="^"),
    }
    x = tuple((100 * result.probability).tolist())
    chart = Plot(
        "where-blind-misses",
        "Hits by the probability that the sentence network is right",
        "Ten classes of queries by the probability that the sentence network, which reads only the sentence and the "
        "duration, is right. A method that guesses follows the networks. A method that looks at the video also hits "
        "where they miss, at the left.",
        "probability that the sentence network is right, %",
        f"hits at {result.measure}, %",
        tuple(
            PlotCurve(name, look, x, tuple((100 * hits).tolist()))
            for (name, look), hits in zip(looks.items(), result.hits.T, strict=True)
        ),
    )
    return {SCORE: (chart,)}


def document(results: Results) -> dict[str, Any]:
    """Return the hits of the method and of both networks where the first network misses, and the excess."""
    result = results.cached(network_excess)
    if result is None:
        return {"where_blind_misses": None}
    systems, no_query = ("method", "network", "second_network"), "the network misses no query"
    floor = result.floor and {
        "name": result.floor.name,
        "where_missed": result.floor.where_missed,
        "excess": Measured(result.floor.excess, no_query, result.floor.ci95.tolist()),
    }
    return {
        "where_blind_misses": {
            "measure": str(result.measure),
            "out_of_fold": result.out_of_fold,
            "n_missed": result.n_missed,
            "n_hit": result.n_hit,
            "where_missed": dict(zip(systems, result.where_missed, strict=True)),
            "where_hit": dict(zip(systems, result.where_hit, strict=True)),
            "excess": Measured(result.excess, no_query, result.ci95.tolist()),
            "floor": floor,
            "by_probability": [
                {"probability": p, "n_queries": n, **dict(zip(systems, hits, strict=True))}
                for p, n, hits in zip(result.probability, result.n_queries, result.hits, strict=True)
            ],
        }
    }


CHECK = Check(
    name=NAME,
    title="Where the sentence network misses",
    looks_at="hits where the sentence network misses, less those of a second sentence network and of every floor",
    look=look,
    passes="the 95 % intervals against all of them lie above 0",
    figure="the smallest of these differences",
    blocks=blocks,
    document=document,
    against_floors=True,
)
