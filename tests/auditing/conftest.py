"""Audits of the toy method on built-in worlds, small ones, made once; results whose floors are given, not fitted."""

import dataclasses
import functools
from collections.abc import Mapping

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.base.boundary.caching import Cache
from truemoment.baselines.floors import FloorResult
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit import Audit, AuditSetup, Controls, Results, Splits, audit
from truemoment.studies.audit.shuffled import shuffle_features
from truemoment.worlds import ToyGrounder, make_world


@functools.cache
def audit_of_world(
    *,
    location_prior: float,
    query_prior: float,
    perception: float,
    split: str = "test-iid",
    n_videos: int = 600,
    shuffled: bool = False,
    seed: int = 0,
) -> Audit:
    """Fit the toy method on a world and audit it there."""
    world = make_world(
        n_videos, location_prior=location_prior, query_prior=query_prior, perception=perception, seed=seed
    )
    train, val, test = (world.splits[name] for name in ("train", "val", split))
    toy = ToyGrounder(world.features).fit(train, val)
    blinded = None
    if shuffled:
        frames = shuffle_features(world.features.by_video, np.random.default_rng(seed), segment_rows=4)
        blinded = toy.with_features(dataclasses.replace(world.features, by_video=frames)).ground(test.queries)
    case = AuditSetup(
        annotations=test,
        predictions=toy.ground(test.queries),
        measures=parse_measures("R@1,IoU=0.3; R@1,IoU=0.5; dR@1,IoU=0.5; mIoU; AxIoU@10"),
        protocol=get_protocol("default"),
        splits=Splits(train=train, validation=val, others=(train, val)),
        iid=(world.splits["test-iid"], toy.ground(world.splits["test-iid"].queries)) if split == "test-ood" else None,
        controls=Controls(shuffled=blinded),
        resamples=300,
        permutations=999,
        cache=Cache.of_user(),  # worlds that differ in perception alone have the same annotations, hence floors
    )
    return audit(case, seed=seed)


@pytest.fixture(scope="session")
def world_audit():
    return audit_of_world


@pytest.fixture(scope="session")
def plain_audit():
    """A method that sees, audited out of distribution, with test-iid and shuffled videos."""
    return audit_of_world(
        location_prior=0.4, query_prior=0.5, perception=0.5, split="test-ood", n_videos=300, shuffled=True
    )


@pytest.fixture(scope="session")
def invented():
    """Give a maker of splits: moments at 0-20 % of 50-s videos or, two of five, at 50-70 %; two queries a video."""

    def make(split: str, n_videos: int, seed: int) -> Annotations:
        rng, rows = np.random.default_rng(seed), []
        for v in range(n_videos):
            for k in range(2):
                start = 0.0 if rng.random() < 0.6 else 25.0
                rows.append((f"{split}{v}#{k}", f"{split}{v}", 50.0, "a person opens a door", start, start + 10.0))
        return Annotations.from_rows(rows, dataset="invented", split=split)

    return make


@pytest.fixture(scope="session")
def constant():
    """Give the maker of one answer to every query of a split."""

    def make(annotations: Annotations, start_s: float, end_s: float) -> Predictions:
        return Predictions.from_lists({q: [(start_s, end_s, 1.0)] for q in annotations.queries.query_id})

    return make


@pytest.fixture(scope="session")
def references_as_answers():
    """Give the maker of answers that are the references, one a query."""

    def make(annotations: Annotations) -> Predictions:
        times = zip(annotations.query_id, annotations.start_s, annotations.end_s, strict=True)
        return Predictions.from_lists({q: [(start, end, 1.0)] for q, start, end in times})

    return make


@pytest.fixture(scope="session")
def with_floors():
    """Give a maker of results whose floors are given as answers: nothing is fitted or trained."""

    def make(
        annotations: Annotations,
        predictions: Predictions,
        floors: Mapping[str, Predictions],
        *,
        measures: str = "R@1,IoU=0.5",
        seed: int = 0,
        **more: object,
    ) -> Results:
        fields = {"resamples": 200, "permutations": 99, "cache": Cache.of_user()} | more
        case = AuditSetup(annotations, predictions, parse_measures(measures), get_protocol("default"), **fields)
        results = Results(case, seed)
        found = [FloorResult(name, name, "floor", results.evaluate(of), of) for name, of in floors.items()]
        results.__dict__["_floors"] = tuple(found), ()  # what functools.cached_property would have kept
        return results

    return make
