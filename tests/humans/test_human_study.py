"""The whole study of annotators: who is in it."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment.base.errors import UsageError
from truemoment.studies.humans.scores import REFERENCES, consensus_scores
from truemoment.studies.humans.study import study_humans

MEASURES = "R@1,IoU=0.5; mIoU"


def test_a_study_has_everybody(drawn):
    annotators, official = drawn(8)
    few = {"measures": MEASURES, "draws": 5, "resamples": 20}
    study = study_humans(annotators, np.random.default_rng(0), official=official, **few)
    people = [(of.reference, of.person, of.rank) for of in study.performances]
    assert people[0] == ("official", "random", 0)
    # A random one, two orders of five; a random one in four ways; against one annotator the consensus, too.
    assert len(people) == 1 + 5 + 5 + 4 + 1
    assert people[-2:] == [("another", "random", 0), ("another", "consensus", 0)]
    consensus = study.performances[-1]
    assert consensus.scores.value("mIoU") == consensus_scores(annotators, "mIoU").scores.value("mIoU")
    assert consensus.draws is None
    assert np.all(consensus.ci95[:, 0] < consensus.ci95[:, 1])
    assert study.ceiling("nearest").draws.shape == (5, 2)
    assert study.conclusions == ()
    alone = study_humans(annotators, np.random.default_rng(0), **few)
    assert {of.reference for of in alone.performances} == set(REFERENCES[1:])
    with pytest.raises(UsageError, match="nobody was measured against 'official' references"):
        alone.ceiling("official")
