"""Where answers lie, against training moments and references: distances by slow loops, planted answers, words."""

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.studies.audit import Splits
from truemoment.studies.audit.checks import training_places as check

PLACES = {"early": (0.0, 10.0), "late": (30.0, 38.0), "long": (5.0, 35.0)}
"""Moments in seconds of videos of 40 s, each in a cell of its own."""


def split_of(name, counts, *, per_video=2):
    """Annotate a split with so many moments of each place."""
    moments = [PLACES[place] for place, count in counts.items() for _ in range(count)]
    order = np.random.default_rng(0).permutation(len(moments))
    rows = [
        (f"{name}#{n}", f"{name}{n // per_video}", 40.0, "a door opens", *moments[at]) for n, at in enumerate(order)
    ]
    return Annotations.from_rows(rows, dataset="invented", split=name)


def answers_of(split, counts):
    moments = [PLACES[place] for place, count in counts.items() for _ in range(count)]
    order = np.random.default_rng(1).permutation(len(moments))
    return Predictions.from_lists(
        {q: [moments[at]] for q, at in zip(split.queries.query_id, order.tolist(), strict=True)}
    )


def energy(a, b):
    """Energy distance by its definition, 2 E|X - Y| - E|X - X'| - E|Y - Y'| (Szekely and Rizzo 2013), by loops."""

    def mean(of, other):
        apart = [np.hypot(x[0] - y[0], x[1] - y[1]) / 40 for x in of for y in other]
        return sum(apart) / len(apart)

    return 2 * mean(a, b) - mean(a, a) - mean(b, b)


def moments_of(counts):
    return [PLACES[place] for place, count in counts.items() for _ in range(count)]


@pytest.fixture
def looked(with_floors):
    def make(answers, references, training):
        test = split_of("test", references)
        results = with_floors(test, answers_of(test, answers), {}, splits=Splits(train=split_of("train", training)))
        return results.cached(check.places), check.look(results)

    return make


def test_distances_are_those_of_loops(looked):
    counts = {"early": 40, "late": 50, "long": 30}, {"early": 20, "late": 60, "long": 40}, {"early": 50, "late": 10}
    found, finding = looked(*counts)
    answers, references, training = map(moments_of, counts)
    assert found.to_references == pytest.approx(energy(answers, references))
    assert found.to_training == pytest.approx(energy(answers, training))
    assert found.between == pytest.approx(energy(references, training))
    assert finding.figure == pytest.approx(found.to_references - found.to_training)
    for value, ci95 in (
        (found.to_references, found.references_ci95),
        (found.to_training, found.training_ci95),
        (finding.figure, found.difference_ci95),
    ):
        assert ci95[0] <= value <= ci95[1]


def test_answers_like_the_training_moments_are_a_warning(looked):
    like_train, like_test = {"early": 90, "late": 30}, {"early": 30, "late": 90}
    _, finding = looked(like_train, like_test, like_train)
    assert (finding.level, finding.holds) == ("warning", False)
    assert finding.verdict.startswith(
        "The first answers are distributed like the moments of train, not like those of test: energy distance "
    )


def test_answers_like_the_references_are_good(looked):
    like_train, like_test = {"early": 90, "late": 30}, {"early": 30, "late": 90}
    _, finding = looked(like_test, like_test, like_train)
    assert (finding.level, finding.holds) == ("good", True)
    assert finding.verdict.startswith("The first answers are distributed like the references of test, not like ")


def test_where_both_are_alike_nothing_is_shown(looked):
    same = {"early": 60, "late": 60}
    _, finding = looked(same, same, same)
    assert (finding.level, finding.holds, finding.figure) == ("note", True, pytest.approx(0, abs=1e-12))
    assert "not shown to be nearer to the moments of train" in finding.verdict


def test_answers_that_are_no_moment_of_the_video_have_no_place(with_floors):
    """Every second query has no answer, or one that is empty, swapped or past the end."""
    test, train = split_of("test", {"early": 60, "late": 60}), split_of("train", {"early": 30, "long": 30})
    right = answers_of(test, {"early": 60, "late": 60})
    faulty = [[], [(5.0, 5.0)], [(9.0, 3.0)], [(41.0, 50.0)]]
    lists = {
        q: [(float(start), float(end))] if n % 2 else faulty[n // 2 % 4]
        for n, (q, start, end) in enumerate(zip(right.query_id, right.start_s, right.end_s, strict=True))
    }
    results = with_floors(test, Predictions.from_lists(lists), {}, splits=Splits(train=train))
    kept = [(start, end) for n, (start, end) in enumerate(zip(right.start_s, right.end_s, strict=True)) if n % 2]
    found = results.cached(check.places)
    assert found.to_training == pytest.approx(energy(kept, moments_of({"early": 30, "long": 30})))


def test_without_training_moments_or_answers_it_does_not_apply(with_floors):
    test, train = split_of("test", {"early": 20}), split_of("train", {"early": 20})
    assert check.look(with_floors(test, answers_of(test, {"early": 20}), {})) is None
    assert check.look(with_floors(test, Predictions.from_lists({}), {}, splits=Splits(train=train))) is None


@pytest.mark.slow
def test_a_method_that_spreads_its_answers_as_the_references_is_seldom_warned(with_floors):
    """Answers drawn as references and training moments alike are: in 200 worlds a warning in 2.5 %.

    The standard error of that rate in 200 worlds is 1.1 %: at most 2.5 + 3 * 1.1 = 5.8 %.
    """
    warned = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        counts = []
        for n in (80, 80, 300):
            early, late = rng.multinomial(n, [0.5, 0.3, 0.2])[:2]
            counts.append({"early": early, "late": late, "long": n - early - late})
        test = split_of("test", counts[1])
        results = with_floors(
            test,
            answers_of(test, counts[0]),
            {},
            splits=Splits(train=split_of("train", counts[2])),
            resamples=200,
            seed=seed,
        )
        warned += check.look(results).holds is False
    assert warned <= 200 * 0.058
