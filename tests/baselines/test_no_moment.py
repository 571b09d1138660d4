"""Baselines where some queries have no moment: nothing is learned from them, and only the oracle abstains."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.errors import InputError, MeasureError
from truemoment.baselines import BASELINES, BestConstant, Choices, Oracle, make_baseline
from truemoment.evaluation.evaluate import evaluate

nan = float("nan")

LEARNING = [name for name, of in BASELINES.items() if of.learns and of.kind == "floor"]


def with_more(annotations):
    """The same queries, and as many without a moment among them, some of videos whose duration is not known."""
    rows = []
    for q, row in enumerate(zip(annotations.query_id, annotations.video_id, annotations.duration_s, strict=True)):
        query_id, video_id, duration_s = row
        moment = (annotations.start_s[q], annotations.end_s[q])
        rows.append((query_id, video_id, duration_s, annotations.sentence[q], *moment))
        rows.append((f"{query_id}/none", f"{video_id}/none", nan if q % 2 else 9.0, "she opens it", nan, nan))
    return Annotations.from_rows(rows, split=annotations.split)


@pytest.mark.parametrize("name", LEARNING)
def test_nothing_is_learned_from_queries_without_a_moment(name, at_shares):
    rng = np.random.default_rng(5)
    train = at_shares(np.sort(rng.random((60, 2)), axis=1).tolist(), sentence=["he walks", "she opens it"] * 30)
    asked = at_shares([(0.0, 0.5)] * 9, split="test").queries
    answers = []
    for of in (train, with_more(train)):
        fitted = make_baseline(name, Choices(rng=np.random.default_rng(0))).fit(of)
        answers.append(fitted.ground(asked, 3))
    assert answers[0].start_s.tolist() == answers[1].start_s.tolist()
    assert answers[0].score.tolist() == answers[1].score.tolist()


@pytest.mark.parametrize("name", LEARNING)
def test_a_split_without_any_moment_teaches_nothing(name):
    train = Annotations.from_rows([(f"q{q}", "v", 30.0, "s", nan, nan) for q in range(5)])
    with pytest.raises(InputError):
        make_baseline(name, Choices()).fit(train)


def test_no_constant_is_best_for_abstaining(at_shares):
    with pytest.raises(MeasureError, match="CorrectAbstention: undefined"):
        BestConstant("CorrectAbstention").fit(with_more(at_shares([(0.0, 0.5)] * 4)))


def test_the_oracle_abstains_where_there_is_nothing(at_shares):
    asked = with_more(at_shares([(0.0, 0.5), (0.25, 0.5)]))
    predictions = Oracle(asked).ground(asked.queries, 2)
    assert predictions.abstains.tolist() == asked.without_moment.tolist()
    scores = evaluate(asked, predictions, "SetIoU; CorrectAbstention; FalseAbstention", "sets,top=1")
    # Both moments are proposals of the map (64 rows a video at most), so the first answer is exact.
    assert [scores.value(m) for m in scores.measures] == [1, 1, 0]
