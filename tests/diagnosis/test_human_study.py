"""The whole study of annotators: who is in it."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment.diagnosis.human_study import study_humans
from truemoment.diagnosis.humans import WAYS
from truemoment.exceptions import UsageError

MEASURES = "R@1,IoU=0.5; mIoU"


def test_a_study_has_everybody(drawn):
    annotators, official = drawn(8)
    few = {"measures": MEASURES, "draws": 5, "resamples": 20}
    study = study_humans(annotators, np.random.default_rng(0), official=official, **few)
    people = [(of.way, of.person, of.rank) for of in study.performances]
    assert people[0] == ("official", "random", 0)
    assert len(people) == 1 + 5 + 5 + 4  # a random one, two orders of five; then a random one in four ways
    assert study.ceiling("nearest").drawn.shape == (5, 2)
    assert study.conclusions == ()
    alone = study_humans(annotators, np.random.default_rng(0), **few)
    assert {of.way for of in alone.performances} == set(WAYS[1:])
    with pytest.raises(UsageError, match="nobody was held against 'official' references"):
        alone.ceiling("official")
