"""The method and the strongest floor on classes of queries, which several checks look at."""

from __future__ import annotations

from truemoment.evaluation.scores import Scores
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.slices import Membership, Slice, membership, slices


def members(results: Results) -> list[Membership]:
    """Divide the queries into classes, family by family."""
    setup = results.setup
    sentences = None if setup.splits.train is None else setup.splits.train.queries.sentence
    return membership(setup.annotations, train_sentences=sentences, verbs=results.verbs)


def of_method(results: Results) -> list[Slice]:
    """Return the method's figures, class by class."""
    return _slices(results, results.scores)


def of_floor(results: Results) -> list[Slice]:
    """Return the strongest floor's figures, class by class, under the same draws."""
    return _slices(results, results.strongest_scores)


def _slices(results: Results, scores: Scores) -> list[Slice]:
    setup = results.setup
    results.on_status("slices")
    return slices(
        scores, setup.annotations, results.stream("slices"), results.cached(members), resamples=setup.resamples
    )
