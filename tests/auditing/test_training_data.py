"""Whether the floors had enough to learn from: what the training split covers, and what follows."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from truemoment import Annotations, Predictions
from truemoment.base.errors import UsageError
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit import AuditSetup, Splits, audit, read_gate
from truemoment.studies.audit.training_data import FEWEST_QUERIES, training_coverage

WORDS = ("opens", "door", "closes", "sits", "walks", "eats", "drinks", "reads", "book", "cup", "runs", "waits")


def made(name, n_videos, seed=0, *, suffix="", duration_s=30.0, constant=False, early=False):
    """Videos of two sentences of two words, whose moments lie anywhere: or in one place, or all at the beginning."""
    rng = np.random.default_rng(seed)
    rows = []
    for v in range(n_videos):
        for k in range(2):
            start = 5.0 if constant else rng.uniform(0, 2 if early else 20)
            end = start + (10.0 if constant else 1.0 if early else rng.uniform(3, 10))
            sentence = " ".join(f"{word}{suffix}" for word in rng.choice(WORDS, 2))
            scale = duration_s / 30
            rows.append((f"{name}{v}#{k}", f"{name}{v}", duration_s, sentence, scale * start, scale * end))
    return Annotations.from_rows(rows, split=name)


GOOD = made("train", 150, 1)
WEAK = {
    "tiny": (made("train", 2, 1), "4 training queries, below 100"),
    "other words": (made("train", 150, 1, suffix="x"), "training sentences cover 0 % of the words, below 80 %"),
    "other sentences": (
        dataclasses.replace(GOOD, sentence=np.array(["opens door"] * 294 + [" ".join(WORDS)] * 6, dtype=object)),
        "training sentences are of other words: 0.",
    ),
    "other durations": (made("train", 150, 1, duration_s=90.0), "0 % of the videos are about as long"),
    "constant": (made("train", 150, 1, constant=True), "100 % of the training moments are in one place, above 90 %"),
    "other moments": (made("train", 150, 1, early=True), "the training moments have an energy distance of 0."),
}


def audited(train, conditions="", *, foreign=True):
    test = made("test", 60)
    answers = {q: [(s, e)] for q, s, e in zip(test.query_id.tolist(), test.start_s, test.end_s, strict=True)}
    setup = AuditSetup(
        test,
        Predictions.from_lists(answers, name="all right"),
        parse_measures("R@1,IoU=0.5"),
        get_protocol("default"),
        splits=Splits(train=train, foreign=foreign),
        resamples=200,
        permutations=999,
    )
    return audit(setup, conditions=read_gate(conditions) if conditions else ())


def scipy_divergence(one, other):
    return jensenshannon(one, other, base=2) ** 2


def test_what_is_covered_by_hand():
    # "door" and "opens" are in three training sentences, "sits" in two: 3 of the 4 words below are known. Videos of
    # 33 s are 1.1 times as long as the training videos, those of 34 s longer. Both splits have one moment.
    train = Annotations.from_rows(
        [(f"a{v}", f"a{v}", 30.0, text, 0.0, 15.0) for v, text in enumerate(["door opens"] * 3 + ["she sits"] * 2)]
    )
    test = Annotations.from_rows(
        [("b0", "b0", 33.0, "door opens", 0.0, 16.5), ("b1", "b1", 34.0, "door sits", 0.0, 17.0)]
    )
    found = training_coverage(train, test)
    assert (found.n_queries, found.n_videos, found.n_shared) == (5, 5, 0)
    assert (found.words, found.durations) == (3 / 4, 1 / 2)
    # Shares of the words: door 3/10 and 1/2, opens 3/10 and 1/4, sits 2/10 and 1/4, she 2/10 and 0.
    assert found.divergence == pytest.approx(scipy_divergence([0.3, 0.3, 0.2, 0.2], [0.5, 0.25, 0.25, 0.0]))
    assert found.distance == pytest.approx(0.0, abs=1e-12)
    assert training_coverage(train, train).n_shared == 5


def test_the_energy_distance_by_hand():
    # Two single moments: twice the distance of (start, end), 0 to 0.5 and 0.5 to 1: 2 sqrt(0.25 + 0.25).
    one, other = (Annotations.from_rows([("q", "v", 10.0, "x", start, start + 5.0)]) for start in (0.0, 5.0))
    assert training_coverage(one, other).distance == pytest.approx(2 * np.sqrt(0.5))


@pytest.mark.usefixtures("few_floors")
@pytest.mark.parametrize("kind", WEAK)
def test_nothing_is_decided_where_floors_had_too_little_to_learn_from(kind):
    train, words = WEAK[kind]
    found = audited(train, "better-than-guessing; skill>0; shortcut-share<0.9")
    verdict = found.findings[0]
    assert verdict.verdict.startswith("Not decided: the floors had too little to learn from (")
    assert words in verdict.verdict
    assert (verdict.level, verdict.holds) == ("warning", None)
    assert found.results.verdict.kind(0) == "not decided"
    assert not any(outcome.passed for outcome in found.outcomes)


@pytest.mark.usefixtures("few_floors")
def test_the_splits_of_a_dataset_may_have_other_moments():
    found = audited(WEAK["other moments"][0], foreign=False)
    assert found.results.training.distance > 0.065
    assert found.results.training.faults == ()
    assert found.findings[0].holds is True


@pytest.mark.usefixtures("few_floors")
def test_the_same_answers_are_better_where_they_had_enough():
    found = audited(GOOD, "better-than-guessing; skill>0; shortcut-share<0.9")
    assert found.results.training.faults == ()
    assert found.findings[0].holds is True
    assert [outcome.why for outcome in found.outcomes if not outcome.passed] == []
    assert any("100.0 % of the words" in line for line in found.findings[0].evidence)


def test_an_empty_training_split_is_refused():
    with pytest.raises(UsageError, match="no query has a reference moment"):
        audited(dataclasses.replace(GOOD, start_s=np.full(len(GOOD), np.nan), end_s=np.full(len(GOOD), np.nan)))


def test_few_resamples_are_refused():
    test = made("test", 3)
    with pytest.raises(UsageError, match="--resamples: got 199, a verdict needs 200 or more"):
        AuditSetup(test, Predictions.from_lists({}), parse_measures("mIoU"), get_protocol("default"), resamples=199)


def test_the_limit_of_size():
    assert training_coverage(made("train", FEWEST_QUERIES // 2, 1), made("test", 60)).faults == ()
    assert training_coverage(made("train", FEWEST_QUERIES // 2 - 1, 1), made("test", 60)).faults == (
        "98 training queries, below 100",
    )
