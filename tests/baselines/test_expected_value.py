"""Answers of the highest expected value, against every answer tried one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemoment import Annotations, Queries
from truemoment.base.errors import UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.baselines.base import grid_of_moments
from truemoment.baselines.expected_value import (
    FIRST_STEP_NORM,
    NEXT_STEP_NORM,
    ExpectedValue,
    Places,
    best_answers,
    first_answers,
    values_of,
)
from truemoment.evaluation.measures import parse_measure
from truemoment.evaluation.protocols import PROTOCOLS

pytestmark = pytest.mark.slow


DEFAULT = PROTOCOLS["default"]


def moments(seed, n=40):
    """Annotations of n queries in videos of 100 s, several of them in the same cells."""
    rng = np.random.default_rng(seed)
    start = rng.choice([0.0, 12.0, 41.0, 60.0], n) + rng.uniform(0, 5, n)
    end = np.minimum(start + rng.choice([8.0, 21.0, 38.0], n) + rng.uniform(0, 5, n), 100.0)
    return Annotations.from_rows(
        [(f"q{i}", f"v{i}", 100.0, f"word{i % 3}", s, e) for i, (s, e) in enumerate(zip(start, end, strict=True))]
    )


class Told:
    """A model whose probabilities are given."""

    name = "told"

    def __init__(self, probabilities):
        self.given, self.places = probabilities, None

    def fit(self, train):
        fitted = Told(self.given)
        fitted.places = Places.of(train)[0]
        return fitted

    def probabilities(self, queries):
        n = len(self.places.cells)
        rng = np.random.default_rng(self.given)
        return rng.dirichlet(np.full(n, 0.3), len(queries))


def asked(n=5):
    return Queries([f"a{i}" for i in range(n)], ["v"] * n, [200.0] * n, ["x"] * n)


def test_places_are_the_occupied_cells():
    # By hand: 0-10 % and 1-9.9 % share a cell of 5 % steps, 50-100 % has one of its own.
    rows = [("a", "v", 10.0, "x", 0.0, 1.0), ("b", "v", 10.0, "x", 0.1, 0.99), ("c", "w", 20.0, "x", 10.0, 20.0)]
    places, target, row = Places.of(Annotations.from_rows(rows))
    assert target.tolist() == [0, 0, 1]
    assert row.tolist() == [0, 1, 2]
    assert places.prior.tolist() == [2 / 3, 1 / 3]
    assert places.samples.start_s.tolist() == [0.0, 0.1, 10.0]


def test_constants_of_one_split_are_measured_once():
    measures, other = (parse_measure("mIoU"),), (parse_measure("R@1,IoU=0.5"),)
    places, again, of_other_moments = (Places.of(moments(seed))[0] for seed in (3, 3, 4))
    values = values_of(places, measures, DEFAULT)
    assert values_of(again, measures, DEFAULT) is values
    for unlike in (values_of(of_other_moments, measures, DEFAULT), values_of(places, other, DEFAULT)):
        assert not np.array_equal(unlike[0].mean, values[0].mean)


@pytest.mark.parametrize("measure", ["R@1,IoU=0.3", "R@1,IoU=0.7", "mIoU", "dR@1,IoU=0.5"])
@given(seed=st.integers(0, 50))
@settings(max_examples=5)
def test_the_first_answer_is_the_best_of_all(measure, seed):
    # Slow: every constant of the grid, its value on each training moment by the measure's formula, weighted by the
    # probability of the moment's cell. All moments are samples: no cell holds more than 16.
    train = moments(seed)
    model = Told(seed).fit(train)
    places, target, _ = Places.of(train)
    queries = asked()
    probabilities = model.probabilities(queries)
    values = values_of(places, (parse_measure(measure),), DEFAULT)[0]
    start, end = train.start_s / 100, train.end_s / 100
    expected = []
    for s, e in grid_of_moments(FIRST_STEP_NORM):
        iou = temporal_iou(s, e, start, end)
        if measure == "mIoU":
            value = iou
        else:
            value = (iou > float(measure.rpartition("=")[2]) + 1e-9).astype(float)
            if measure.startswith("dR"):
                value *= (1 - np.abs(start - s)) * (1 - np.abs(end - e))
        expected.append(np.bincount(target, value) / np.bincount(target))
    table = probabilities @ np.array(expected).T
    answers = best_answers(queries, probabilities, values, top=1, name="x")
    np.testing.assert_allclose(answers.score, table.max(axis=1), atol=1e-9)
    np.testing.assert_allclose(
        first_answers(probabilities, values),
        grid_of_moments(FIRST_STEP_NORM)[np.round(table, 9).argmax(axis=1)],
    )


def test_further_answers_add_what_is_not_covered_yet():
    # Slow, for R@3 and cells of at most 4 moments, which are then all samples: greedy by the chance of a first hit.
    train = moments(7, n=12)
    places, target, _ = Places.of(train)
    assert np.bincount(target).max() <= 4
    queries, probabilities = asked(3), Told(1).fit(train).probabilities(asked(3))
    values = values_of(places, (parse_measure("R@3,IoU=0.5"),), DEFAULT)[0]
    answers = best_answers(queries, probabilities, values, top=3, name="x")
    coarse, start, end = grid_of_moments(NEXT_STEP_NORM), train.start_s / 100, train.end_s / 100
    for q in range(3):
        weight = probabilities[q][target] / np.bincount(target)[target]
        given = np.stack([answers.start_s, answers.end_s], axis=1)[3 * q : 3 * q + 3] / 200
        covered = np.zeros(12, dtype=bool)
        for k, (s, e) in enumerate(given):
            gain = weight[(temporal_iou(s, e, start, end) > 0.5) & ~covered].sum()
            best = max(weight[(temporal_iou(a, b, start, end) > 0.5) & ~covered].sum() for a, b in coarse)
            assert gain >= best - 1e-9 or k == 0  # the first comes from the finer grid
            assert answers.score[3 * q + k] == pytest.approx(gain, abs=1e-8)
            covered |= temporal_iou(s, e, start, end) > 0.5


@pytest.mark.parametrize("measure", ["R@5,IoU=0.5", "AxIoU@10", "mAP", "dR@5,IoU=0.3", "DCG@10"])
def test_lists(measure):
    train = moments(3)
    fitted = ExpectedValue(Told(0), measure).fit(train)
    answers = fitted.ground(asked(), 10)
    assert answers.lengths.tolist() == [10] * 5
    assert not answers.rises.any()
    for low, high in zip(answers.offsets, answers.offsets[1:], strict=False):
        pairs = list(zip(answers.start_s[low:high], answers.end_s[low:high], strict=True))
        assert len(set(pairs)) == len(pairs)  # nothing is answered twice


def test_a_measure_of_whole_lists_gets_one_answer():
    answers = ExpectedValue(Told(0), "SetIoU").fit(moments(3)).ground(asked(), 10)
    assert answers.lengths.tolist() == [1] * 5


def test_each_measure_has_its_own_answer_and_the_model_is_fitted_once():
    fitted = ExpectedValue(Told(0)).fit(moments(3))
    tight, loose = fitted.for_measures([parse_measure("R@1,IoU=0.7"), parse_measure("R@1,IoU=0.3")])
    assert tight.model is loose.model is fitted.model
    assert tight.ground(asked()).score.sum() < loose.ground(asked()).score.sum()  # a looser hit is more probable


def test_unfitted():
    with pytest.raises(UsageError, match=r"^told has to be fitted first$"):
        ExpectedValue(Told(0)).for_measures([parse_measure("mIoU")])


def test_scores_are_probabilities_that_hold():
    # Where the model is right about the cells, the score of R@1 is the share of hits: a world of two cells and a coin.
    rng = np.random.default_rng(0)
    rows = [(f"q{i}", f"v{i}", 100.0, "x", *((2.0, 28.0) if rng.random() < 0.7 else (61.0, 89.0))) for i in range(4000)]
    annotations = Annotations.from_rows(rows)
    train, test = (annotations.select_queries(np.arange(4000) % 2 == of) for of in (0, 1))

    class Prior(Told):
        def fit(self, train):
            fitted = Prior(0)
            fitted.places = Places.of(train)[0]
            return fitted

        def probabilities(self, queries):
            return np.tile(self.places.prior, (len(queries), 1))

    answers = ExpectedValue(Prior(0)).fit(train).ground(test.queries)
    hits = temporal_iou(answers.start_s, answers.end_s, test.start_s, test.end_s) > 0.5
    assert answers.score[0] == pytest.approx(hits.mean(), abs=4 * math.sqrt(0.7 * 0.3 / 2000))
