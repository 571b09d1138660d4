"""Test of the declaration that a method reads one sentence at a time.

Files list a video's sentences in the order of their moments, so floors that read all sentences of a video guess well.
A method that answers each sentence alone cannot know the order. If its author declares so, the verdict compares it only
with floors that read one sentence too. The declaration is tested on the answers
(:mod:`truemoment.studies.audit.order_following`). If there is a model, it answers each query without the others of its
video, and all queries in shuffled order. A test that contradicts the declaration cancels it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from truemoment.base.boundary.arrays import Array
from truemoment.base.cells import cell_bounds
from truemoment.base.intervals import Floats, seconds_to_norm
from truemoment.base.records import Predictions, Queries, numbers_of
from truemoment.baselines import ExpectedValue
from truemoment.baselines.expected_value import CELLS
from truemoment.baselines.floors import NETWORK, FloorResult
from truemoment.baselines.network_row import hit_of
from truemoment.baselines.sentence_network import SentenceNetwork
from truemoment.evaluation.evaluate import evaluate
from truemoment.studies.audit.order_following import (
    STEPS,
    UNTESTED,
    OrderFollowing,
    follow_order,
    shuffled_rows,
    terms_beside,
    weights_of_places,
)
from truemoment.studies.audit.setup import ORIGINAL, AuditSetup
from truemoment.studies.audit.shuffled import MAY_DIFFER, n_differing
from truemoment.studies.evaluate.first_answers import first_answers

MOST_VIDEOS, SHUFFLES, PERMUTATIONS = 500, 4, 1000
"""Maximum number of videos in the test, number of orders in which floors answer, and of permutations of the test."""


class Declaration(NamedTuple):
    """The declaration that a method reads one sentence at a time, and the results of its tests.

    Parameters
    ----------
    following
        How far misses follow the order.
    differing_shares
        Share of the queries whose first answer differs, by the order in which the model gets them; empty without a
        model.
    context
        Floors that read the video's other sentences.
    matches_model
        Whether the file contains the model's answers, so that the model decides.
    """

    following: OrderFollowing
    differing_shares: Mapping[str, float]
    context: tuple[FloorResult, ...]
    matches_model: bool

    @property
    def holds(self) -> bool:
        """Whether no test contradicts it."""
        if any(share > MAY_DIFFER for share in self.differing_shares.values()):
            return False
        return self.matches_model or not self.following.contradicts


def check_declaration(setup: AuditSetup, floors: Sequence[FloorResult], rng: np.random.Generator) -> Declaration:
    """Test the declaration on the answers for the audited split, with the fitted floors."""
    context = tuple(floor for floor in floors if floor.reads == "paragraph")
    network = next((floor for floor in floors if floor.name == NETWORK), None)
    shares = differing_shares(setup)
    matches_model = bool(shares) and _differing_share(setup, setup.predictions) <= MAY_DIFFER
    return Declaration(_following(setup, network, context, rng), shares, context, matches_model)


def differing_shares(setup: AuditSetup) -> dict[str, float]:
    """Return the share of the queries whose first answer differs, by the order in which the model gets them."""
    return {order: _differing_share(setup, answers) for order, answers in setup.controls.orders.items()}


def _differing_share(setup: AuditSetup, answers: Predictions) -> float:
    """Return the share of the queries whose first answer differs from the model's in the order of the file."""
    model, annotations = setup.controls.changed[ORIGINAL], setup.annotations
    return n_differing(annotations, model, answers, ranking=setup.protocol.ranking) / annotations.n_queries


def _following(
    setup: AuditSetup, network: FloorResult | None, context: Sequence[FloorResult], rng: np.random.Generator
) -> OrderFollowing:
    """Return how closely the misses of the method follow the order, in up to :data:`MOST_VIDEOS` videos."""
    annotations, queries = setup.annotations, setup.annotations.queries
    hit = hit_of(setup.measures[setup.headline])
    judged = evaluate(annotations, setup.predictions, [hit], setup.protocol)
    first = first_answers(annotations, setup.predictions, ranking=setup.protocol.ranking)
    missed = first.answered & (judged.weight[0] > 0) & (judged.numerator[0] == 0)
    video = numbers_of(queries.video_id)
    several = np.flatnonzero(np.bincount(video, missed, minlength=1) > 1)
    model = None if network is None else _network_of(network, setup.headline)
    if model is None or not context or not len(several):
        return UNTESTED
    drawn = np.isin(video, rng.permutation(several)[:MOST_VIDEOS])
    rows = np.flatnonzero(drawn)  # all sentences of the videos: the order is that of the file
    moved = moves_by_order(context, queries.select(rows), setup.headline, rng)[missed[rows]]
    row = rows[missed[rows]]
    missed_queries = queries.select(row)
    at = annotations.offsets[row]
    cells = cell_bounds(CELLS)[model.places.cells] + [0, 1] if model.places is not None else np.zeros((0, 2))
    answer = network.predictions if network is not None else setup.predictions
    terms = terms_beside(
        _shares(annotations.start_s[at], annotations.end_s[at], missed_queries.duration_s),
        model.probabilities(missed_queries),
        cells / CELLS,
        _first_shares(answer, missed_queries),
        hit.iou,
    )
    own = weights_of_places(_shares(first.start_s[row], first.end_s[row], missed_queries.duration_s))
    return follow_order(own, moved, terms, video[row], rng, permutations=PERMUTATIONS)


def _network_of(network: FloorResult, headline: int) -> SentenceNetwork | None:
    """Return the model of a fitted sentence network."""
    grounder = None if network.floor is None else network.floor.fitted[0][headline]
    model = grounder.model if isinstance(grounder, ExpectedValue) else None
    return model if isinstance(model, SentenceNetwork) else None


def moves_by_order(context: Sequence[FloorResult], queries: Queries, headline: int, rng: np.random.Generator) -> Floats:
    """Return how the order of the file changes the floors' answers, as weights of places, (Q, W)."""
    orders = [shuffled_rows(queries, rng) for _ in range(SHUFFLES)]
    moved = np.zeros((len(queries), 2 * (STEPS + 1)))
    for floor in context:
        if floor.floor is not None:
            grounder = floor.floor.fitted[0][headline]
            own, *others = (
                weights_of_places(_first_shares(grounder.ground(queries.select(order), 1), queries))
                for order in (np.arange(len(queries)), *orders)
            )
            moved += (own - np.mean(others, axis=0)) / len(context)
    return moved


def _first_shares(answers: Predictions, queries: Queries) -> Floats:
    """Return the first answer for each query as shares of the video, (Q, 2); every query has one."""
    at = answers.offsets[answers.rows_of(queries.query_id)]
    return _shares(answers.start_s[at], answers.end_s[at], queries.duration_s)


def _shares(start_s: Array, end_s: Array, duration_s: Array) -> Floats:
    return np.clip(np.stack([seconds_to_norm(times, duration_s) for times in (start_s, end_s)], axis=1), 0, 1)
