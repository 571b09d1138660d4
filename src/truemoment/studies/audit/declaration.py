"""What a method is declared to read, and whether its answers contradict that.

Files list a video's sentences as their moments follow each other, so floors that read all sentences of a video are
strong guessers. A method that answers each sentence alone cannot know the order: its author declares so, and the
verdict is against the floors that read one sentence, too. The declaration is tested on the answers
(:mod:`truemoment.studies.audit.order_following`), and on the model where there is one: it is asked each query
without the others of its video, and all in shuffled order. What contradicts it takes it back.
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
from truemoment.studies.audit.order_following import UNTESTED, OrderFollowing, follow_order, shuffled_rows, terms_beside
from truemoment.studies.audit.setup import ORIGINAL, AuditSetup
from truemoment.studies.audit.shuffled import MAY_DIFFER, n_differing
from truemoment.studies.evaluate.first_answers import first_answers

MOST_VIDEOS, SHUFFLES, PERMUTATIONS = 1000, 4, 2000
"""Videos that are tested, drawn if there are more; orders that the floors are asked in; permutations of the test."""


class Declaration(NamedTuple):
    """The declaration that a method reads one sentence at a time, tested.

    Parameters
    ----------
    following
        How far misses follow the order.
    otherwise
        Share of the first answers that the model gives otherwise, by how it is asked; empty without a model.
    context
        Floors that read the video's other sentences.
    is_of_model
        Whether the file is what the model answers, so that the model decides.
    """

    following: OrderFollowing
    otherwise: Mapping[str, float]
    context: tuple[FloorResult, ...]
    is_of_model: bool

    @property
    def stands(self) -> bool:
        """Whether nothing contradicts it."""
        if any(share > MAY_DIFFER for share in self.otherwise.values()):
            return False
        return self.is_of_model or not self.following.contradicts


def tested(setup: AuditSetup, floors: Sequence[FloorResult], rng: np.random.Generator) -> Declaration:
    """Test the declaration on the answers to the audited split, with the fitted floors."""
    context = tuple(of for of in floors if of.reads == "paragraph")
    network = next((of for of in floors if of.name == NETWORK), None)
    asked = otherwise(setup)
    is_of_model = bool(asked) and _differ(setup, setup.predictions) <= MAY_DIFFER
    return Declaration(_following(setup, network, context, rng), asked, context, is_of_model)


def otherwise(setup: AuditSetup) -> dict[str, float]:
    """Return the share of the first answers that the model gives otherwise, by how it is asked; empty without one."""
    return {how: _differ(setup, answers) for how, answers in setup.controls.orders.items()}


def _differ(setup: AuditSetup, answers: Predictions) -> float:
    """Return the share of first answers that are not what the model answers to all queries, in their order."""
    now, annotations = setup.controls.changed[ORIGINAL], setup.annotations
    return n_differing(annotations, now, answers, ranking=setup.protocol.ranking) / annotations.n_queries


def _following(
    setup: AuditSetup, network: FloorResult | None, context: Sequence[FloorResult], rng: np.random.Generator
) -> OrderFollowing:
    """Return how far the misses of the method follow the order, in up to :data:`MOST_VIDEOS` videos."""
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
    of = queries.select(row)
    at = annotations.offsets[row]
    cells = cell_bounds(CELLS)[model.places.cells] + [0, 1] if model.places is not None else np.zeros((0, 2))
    answer = network.predictions if network is not None else setup.predictions
    terms = terms_beside(
        _shares(annotations.start_s[at], annotations.end_s[at], of.duration_s),
        model.probabilities(of),
        cells / CELLS,
        _first_of(answer, of),
        hit.iou,
    )
    centre = _shares(first.start_s[row], first.end_s[row], of.duration_s).mean(axis=1)
    return follow_order(centre, moved, terms, video[row], rng, permutations=PERMUTATIONS)


def _network_of(network: FloorResult, headline: int) -> SentenceNetwork | None:
    """Return the model of a fitted sentence network."""
    grounder = None if network.floor is None else network.floor.fitted[0][headline]
    model = grounder.model if isinstance(grounder, ExpectedValue) else None
    return model if isinstance(model, SentenceNetwork) else None


def moves_by_order(context: Sequence[FloorResult], queries: Queries, headline: int, rng: np.random.Generator) -> Floats:
    """Return how far the order of the file moves the centres of the floors' answers, shares of the video, (Q,)."""
    orders = [shuffled_rows(queries, rng) for _ in range(SHUFFLES)]
    moved = np.zeros(len(queries))
    for of in context:
        if of.floor is not None:
            grounder = of.floor.fitted[0][headline]
            centres = [
                _first_of(grounder.ground(queries.select(order), 1), queries).mean(axis=1)
                for order in (np.arange(len(queries)), *orders)
            ]
            moved += (centres[0] - np.mean(centres[1:], axis=0)) / len(context)
    return moved


def _first_of(answers: Predictions, queries: Queries) -> Floats:
    """Return the first answer to each query as shares of the video, (Q, 2); every query has one."""
    at = answers.offsets[answers.rows_of(queries.query_id)]
    return _shares(answers.start_s[at], answers.end_s[at], queries.duration_s)


def _shares(start_s: Array, end_s: Array, duration_s: Array) -> Floats:
    return np.clip(np.stack([seconds_to_norm(of, duration_s) for of in (start_s, end_s)], axis=1), 0, 1)
