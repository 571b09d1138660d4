"""Audits of the toy method on built-in worlds, small ones, made once."""

import dataclasses
import functools

import numpy as np
import pytest

from truemoment.audit import Audit, Case, audit
from truemoment.diagnosis.shuffled import shuffle_features
from truemoment.measures import parse_measures
from truemoment.protocols import get_protocol
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
    case = Case(
        annotations=test,
        predictions=toy.ground(test.queries),
        measures=parse_measures("R@1,IoU=0.3; R@1,IoU=0.5; dR@1,IoU=0.5; mIoU; AxIoU@10"),
        protocol=get_protocol("default"),
        train=train,
        selection=val,
        others=(train, val),
        iid=(world.splits["test-iid"], toy.ground(world.splits["test-iid"].queries)) if split == "test-ood" else None,
        shuffled=blinded,
        resamples=300,
        permutations=999,
    )
    return audit(case, np.random.default_rng(seed))


@pytest.fixture(scope="session")
def world_audit():
    return audit_of_world


@pytest.fixture(scope="session")
def plain_audit():
    """A method that sees, audited out of distribution, with test-iid and shuffled videos."""
    return audit_of_world(location_prior=0.4, query_prior=0.5, perception=0.5, split="test-ood", shuffled=True)
