"""Figures of the method and the strongest floor by class of queries, for several checks."""

from __future__ import annotations

from truemoment.evaluation.scores import Scores
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.slices import Membership, Slice, membership, slices


def members(results: Results) -> list[Membership]:
    """Divide the queries into classes, family by family."""
    setup = results.setup
    sentences = None if setup.splits.train is None else setup.splits.train.queries.sentence
    return membership(setup.annotations, train_sentences=sentences, verbs=results.verbs)


def method_slices(results: Results) -> list[Slice]:
    """Return the method's figures by class."""
    return _slices(results, results.scores)


def floor_slices(results: Results) -> list[Slice]:
    """Return the strongest floor's figures by class, with the same draws."""
    return _slices(results, results.strongest_scores)


def _slices(results: Results, scores: Scores) -> list[Slice]:
    setup = results.setup
    results.on_status("slices")
    return slices(
        scores, setup.annotations, results.stream("slices"), results.cached(members), resamples=setup.resamples
    )
