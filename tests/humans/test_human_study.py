"""The whole study of annotators: who is in it."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.data.formats import write_predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.studies.humans.scores import REFERENCES, consensus_scores
from truemoment.studies.humans.study import study_files, study_humans

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


@pytest.mark.parametrize("made_for", ["official", "marked"])
def test_files_may_answer_the_official_queries_or_the_marked_ones(drawn, drawn_answers, tmp_path, made_for):
    """`baseline --dataset human-charades` writes the second, whose hash is another."""
    annotators, official = drawn(3)
    marked = annotators.annotations
    answers = drawn_answers(official.query_id, np.random.default_rng(0))
    path = OwnPath(tmp_path / "mine.jsonl")
    write_predictions(path, answers, official if made_for == "official" else marked)
    few = {"measures": "R@1,IoU=0.5; mIoU", "draws": 2, "resamples": 10}
    found = study_files(marked, {"mine": path.path}, official=official, **few)
    expected = evaluate(official, answers, "mIoU").value("mIoU")
    assert found.study.systems["mine"].scores["official"].value("mIoU") == expected
