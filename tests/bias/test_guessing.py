"""What is left to guess: every floor beside Uniform, and an interval that allows for the choice of the strongest."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.boundary.caching import Cache
from truemoment.baselines import BASELINES, BestConstant, BiasBased, PredictAll
from truemoment.baselines.floors import FLOORS as EVERY_FLOOR
from truemoment.evaluation.evaluate import evaluate
from truemoment.studies.bias.guessing import MEASURES, guess, guess_on_split, is_less, rising
from truemoment.studies.bias.splitting import resplit
from truemoment.worlds import make_world

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_networks")]

PLACES = {"opens": (0.1, 0.4), "closes": (0.6, 0.9)}


def told_by_the_verb(split, n_videos, places=PLACES):
    """Two queries a video of 30 s, whose verbs alone say where their moments lie."""
    return Annotations.from_rows(
        [
            (f"{split}{v}#{verb}", f"{split}{v}", 30.0, f"a man {verb} the door", 30 * start, 30 * end)
            for v in range(n_videos)
            for verb, (start, end) in places.items()
        ],
        split=split,
    )


@pytest.fixture(scope="module")
def split():
    """Give a built-in world, split anew by location."""
    splits = make_world(90, location_prior=0.8, seed=3).splits
    whole = Annotations.joined([splits[name] for name in ("train", "val", "test-iid")])
    return resplit(whole, np.random.default_rng(0))


FLOORS = tuple(name for name in EVERY_FLOOR if BASELINES[name].reads != "paragraph")
"""Those that are run: the sentences of these worlds are in no order."""


@pytest.fixture(scope="module")
def cache():
    """Keep what floors learn; other tests split this world anew too."""
    return Cache.of_user()


@pytest.fixture(scope="module")
def both(split, cache):
    """Give what floors reach on test-iid and on test-ood."""
    return guess_on_split(split, cache=cache)


def test_every_floor_is_measured_on_both_tests(split, both):
    # Two floors were run, PredictAll and Bias-based, which are the weakest on test-ood.
    assert [of.test.split for of in both] == ["test-iid", "test-ood"]
    for of in both:
        assert tuple(floor.name for floor in of.floors) == FLOORS
        assert of.left_out == ()
        assert of.test.sha256 == split.part(of.test.split).sha256


def test_figures_are_those_of_evaluate(split, both):
    train = split.part("train")
    for of in both:
        for m, measure in enumerate(MEASURES):
            methods = {
                "predict-all": PredictAll(),
                "bias-based": BiasBased().fit(train),
                "best-constant": BestConstant(measure, "default").fit(train),
            }
            for name, method in methods.items():
                value = evaluate(of.test, method.ground(of.test.queries), [measure], "default").value(measure)
                assert of.values[FLOORS.index(name), m] == pytest.approx(value, abs=1e-12)
        uniform = of.values[FLOORS.index("uniform")]
        assert of.gain == pytest.approx(of.values - uniform, abs=1e-12)


def test_a_second_test_is_measured_as_if_it_were_the_only_one(split, both):
    (alone,) = guess(split.part("train"), [split.part("test-ood")])
    assert alone.values.tolist() == both[1].values.tolist()
    assert alone.best_gain_ci95.tolist() == both[1].best_gain_ci95.tolist()


def test_the_interval_of_the_strongest_allows_for_its_choice(both):
    for of in both:
        others = [f for f, name in enumerate(FLOORS) if name != "uniform"]
        for m in range(len(MEASURES)):
            at = of.strongest[m]
            assert of.best_gain[m] == of.gain[others, m].max() == of.gain[at, m]
            # The upper end is the highest of all at level 0.05; the lower one is the highest at level 0.05 / 9.
            assert of.best_gain_ci95[m, 1] == of.gain_ci95[others, m, 1].max()
            assert of.best_gain_ci95[m, 0] <= of.gain_ci95[others, m, 0].max()
        low, high = of.best_gain_ci95[0]
        assert low < of.best_gain[0] < high
        assert np.isnan(of.gain_ci95[FLOORS.index("uniform")]).all()


def test_what_the_sentence_tells_is_left_to_guess():
    # Moments of test-ood lie elsewhere than most of training, and the verb tells where: a network that reads it hits.
    train = Annotations.joined(
        [told_by_the_verb("most", 60, {"sits": (0.3, 0.5)}), told_by_the_verb("few", 10)], split="train"
    )
    (ood,) = guess(train, [told_by_the_verb("test-ood", 30)])
    assert ood.status(0) == "left"
    assert ood.floors[ood.strongest[0]].name in ("sentence-network", "sentence-neighbours", "action-aware")
    assert ood.values[ood.strongest[0], 0] == 1.0
    assert ood.gain[FLOORS.index("bias-based"), 0] < 0


def test_where_training_tells_nothing_no_floor_is_shown_to_be_above_uniform():
    # All of training lies in one place, and no moment of test-ood there: what was learned never hits.
    rng = np.random.default_rng(0)
    train, ood = (
        Annotations.from_rows(
            [
                (f"{split}{v}", f"{split}{v}", 30.0, "a man opens the door", 30 * start, 30 * (start + length))
                for v, (start, length) in enumerate(rng.uniform(low, high, size=(40, 2)).tolist())
            ],
            split=split,
        )
        for split, low, high in (("train", (0.0, 0.08), (0.05, 0.12)), ("test-ood", (0.3, 0.25), (0.7, 0.3)))
    )
    (ood,) = guess(train, [ood])
    assert ood.floors[ood.strongest[0]].name == "random-chance"
    assert ood.status(0) == "not shown"
    assert ood.values[FLOORS.index("sentence-network"), 0] == 0


def test_on_a_few_videos_a_stricter_interval_is_not_a_shorter_one(both, cache):
    # With 5 videos and more draws in the tail than have an error, the stricter interval was that of the percentiles.
    (few,) = guess(both[0].train, [both[0].test.select_queries(np.arange(both[0].test.n_queries) < 8)], cache=cache)
    for of in (few, *both):
        others = [f for f, name in enumerate(FLOORS) if name != "uniform"]
        assert np.all(of.best_gain_ci95[:, 0] <= of.gain_ci95[others, :, 0].max(axis=0))


def test_queries_without_a_moment_or_duration_are_left_out(split, cache):
    train, part = split.part("train"), split.part("test-ood")
    missing = np.isin(part.query_id, part.query_id[:3])
    for column in ("duration_s", "start_s"):
        columns = {column: np.where(missing, math.nan, getattr(part, column))}
        if column == "start_s":
            columns["end_s"] = np.where(missing, math.nan, part.end_s)
        (of,) = guess(train, [replace(part, **columns)], cache=cache)
        assert of.test.query_id.tolist() == part.query_id[~missing].tolist()
    nowhere = replace(part, duration_s=np.full(len(part.duration_s), math.nan))
    assert guess(train, [nowhere]) == ()
    assert guess(replace(train, duration_s=np.full(len(train.duration_s), math.nan)), [part]) == ()


def test_the_original_tests_are_measured_too(split, cache):
    world = make_world(90, location_prior=0.8, seed=3).splits
    found = guess_on_split(split, original=(world["train"], [world["test-iid"]]), cache=cache)
    assert [(of.test.split, of.original) for of in found] == [
        ("test-iid", False),
        ("test-ood", False),
        ("test-iid", True),
    ]
    assert found[2].train.sha256 == world["train"].sha256
    assert found[2].test.sha256 == world["test-iid"].sha256


def test_less_is_said_only_where_the_intervals_are_apart(both):
    def between(low, high):
        return replace(both[0], best_gain_ci95=np.array([[low, high]] * len(MEASURES)))

    assert is_less(between(0.3, 0.4), between(0.1, 0.2)) is True
    assert is_less(between(0.1, 0.3), between(0.0, 0.2)) is None
    assert is_less(between(0.1, 0.2), between(0.3, 0.4)) is False
    assert is_less(between(math.nan, math.nan), between(0.3, 0.4)) is None


def test_floors_that_rise_by_more_than_chance_are_found(both):
    iid, _ = both
    assert rising(iid, iid) == []
    higher = iid.floors[0].scores
    raised = replace(higher, numerator=np.where(higher.weight > 0, 1.0, 0.0) * higher.weight)
    assert rising(iid, replace(iid, floors=(replace(iid.floors[0], scores=raised), *iid.floors[1:]))) == [
        (0, int((1 - iid.values[0]).argmax()))
    ]
