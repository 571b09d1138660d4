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
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Predictions, Queries, numbers_of
from truemoment.baselines import ExpectedValue
from truemoment.baselines.floors import NETWORK, Floor, FloorResult
from truemoment.baselines.sentence_network import SentenceNetwork
from truemoment.data.language.paragraphs import Paragraphs
from truemoment.studies.audit.order_following import (
    UNTESTED,
    ComparedPlaces,
    OrderFollowing,
    order_following,
    rotated_rows,
)
from truemoment.studies.audit.place_law import PlaceLaw, expected_centre, places_of, shares_of_video, true_shares
from truemoment.studies.audit.setup import ORIGINAL, AuditSetup
from truemoment.studies.audit.shuffled import MAY_DIFFER, n_differing
from truemoment.studies.evaluate.first_answers import first_answers

MOST_VIDEOS, ROTATIONS, DRAWS = 200, 8, 1000
"""Maximum number of videos in the test, of orders in which floors answer, and number of draws of the test."""


class Declaration(NamedTuple):
    """The declaration that a method reads one sentence at a time, and the results of its tests.

    Parameters
    ----------
    following
        How closely answers follow the order.
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
    """Return how closely the answers of the method follow the order, in up to :data:`MOST_VIDEOS` videos."""
    annotations = setup.annotations
    first = first_answers(annotations, setup.predictions, ranking=setup.protocol.ranking)
    video = numbers_of(annotations.queries.video_id)
    several = np.flatnonzero(np.bincount(video, minlength=1) > 1)
    if network is None or not context or not len(several):
        return UNTESTED
    drawn = np.isin(video, rng.permutation(several)[:MOST_VIDEOS])  # with all sentences of each
    places = places_for(annotations.select_queries(drawn), network, context, setup.headline, rng)
    if places is None:
        return UNTESTED
    answer = shares_of_video(first.start_s[drawn], first.end_s[drawn], annotations.queries.duration_s[drawn])
    usable = np.flatnonzero(~np.isnan(answer).any(axis=1) & ~np.isnan(places.annotated).any(axis=1))
    return order_following(answer[usable], places.select(usable), rng, draws=DRAWS)


def places_for(
    annotations: Annotations,
    network: FloorResult,
    context: Sequence[FloorResult],
    headline: int,
    rng: np.random.Generator,
) -> ComparedPlaces | None:
    """Return what answers to videos are tested with, from the fitted floors; None if they have learned too little."""
    floor, queries = network.floor, annotations.queries
    if floor is None or floor.setting.train is None:
        return None
    grounder = floor.fitted[0][headline]
    model = grounder.model if isinstance(grounder, ExpectedValue) else None
    if not isinstance(model, SentenceNetwork) or model.places is None:
        return None
    law = _law(model, floor, floor.setting.train)
    if law is None:
        return None
    place, size = Paragraphs.of(queries).place
    compared = places_of(place, size, rng)
    return ComparedPlaces(
        law=law,
        compared=compared,
        size=size,
        expected=expected_centre(model.probabilities(queries), model.places.cells),
        by_order=_answers_by_order(context, queries, compared, headline),
        network=_first_shares(network.predictions, queries),
        annotated=true_shares(annotations),
        video=numbers_of(queries.video_id),
    )


def _law(model: SentenceNetwork, floor: Floor, train: Annotations) -> PlaceLaw | None:
    """Return the law of places in a training split, or read it from the cache; None if its sentences are few."""

    def fit() -> dict[str, Array]:
        law = PlaceLaw.of_training(model, train)
        return {"none": np.zeros(0)} if law is None else law.packed()

    packed = floor.cache.arrays("place-law", floor.setting.key(floor.name), fit)
    return None if "none" in packed else PlaceLaw.unpacked(packed)


def _answers_by_order(context: Sequence[FloorResult], queries: Queries, compared: Ints, headline: int) -> Floats:
    """Return the floors' answers as shares of the video to queries (N,) at each place that is compared, (N, P, F, 2).

    They are those in the rotation of the video's sentences that is nearest to the place.
    """
    floors = [floor.floor.fitted[0][headline] for floor in context if floor.floor is not None]
    moved = np.full((len(queries), ROTATIONS), np.inf)
    answer = np.zeros((len(queries), ROTATIONS, len(floors), 2))
    for turn in range(ROTATIONS):
        rows, place = rotated_rows(queries, turn, ROTATIONS)
        rotated = queries.select(rows)
        moved[rows, turn] = place
        for number, grounder in enumerate(floors if len(rows) else ()):
            answer[rows, turn, number] = _first_shares(grounder.ground(rotated, 1), rotated)
    nearest = np.abs(moved[:, None, :] - compared[:, :, None]).argmin(axis=2)
    return np.asarray(answer[np.arange(len(queries))[:, None], nearest])


def _first_shares(answers: Predictions, queries: Queries) -> Floats:
    """Return the first answer for each query as shares of the video, (Q, 2); every query has one."""
    at = answers.offsets[answers.rows_of(queries.query_id)]
    return shares_of_video(answers.start_s[at], answers.end_s[at], queries.duration_s)
