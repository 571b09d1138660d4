"""What every baseline of the list keeps to."""

from __future__ import annotations

import math

import numpy as np
import pytest

import truemoment.baselines
from truemoment import Annotations, Grounder, Queries
from truemoment.base.errors import InputError, UsageError
from truemoment.baselines import BASELINES, ActionAware, Choices, make_baseline
from truemoment.baselines.proposals import SparseMap, WindowedGrid

pytestmark = pytest.mark.slow


NAMES = tuple(BASELINES)
LEARNING = tuple(name for name in NAMES if BASELINES[name].learns)
DRAWING = tuple(name for name in NAMES if BASELINES[name].random and "network" not in name)
"""They draw when they answer; networks draw when they are fitted."""


@pytest.fixture(scope="module")
def kept():
    """Baselines that were made already, by name and whether they are fitted: those that never draw when they answer."""
    return {}


@pytest.fixture
def made(asked, train, engine, monkeypatch, kept):
    """Give a maker of fitted baselines: made(name, train, seed=...), asked about `asked`."""
    monkeypatch.setattr(truemoment.baselines, "get_engine", lambda _: engine)

    def make(name, learned, *, seed=None, **choices) -> Grounder:
        key = name, learned is train
        is_usual = seed is None and not choices and (learned is None or learned is train)
        if is_usual and key in kept:
            return kept[key]
        grounder = make_baseline(name, Choices(np.random.default_rng(seed or 0), references=asked, **choices))
        grounder = grounder if learned is None else grounder.fit(learned)
        if is_usual and name not in DRAWING:
            kept[key] = grounder
        return grounder

    return make


def lists(predictions):
    """Answers by query id."""
    return {
        query_id: list(
            zip(predictions.start_s[low:high], predictions.end_s[low:high], predictions.score[low:high], strict=True)
        )
        for query_id, low, high in zip(
            predictions.query_id, predictions.offsets[:-1], predictions.offsets[1:], strict=True
        )
    }


def test_the_list():
    # DESIGN.md, layout: blind ones are floors, the oracle is a ceiling.
    kinds = {name: entry.kind for name, entry in BASELINES.items()}
    assert kinds == {
        "predict-all": "floor",
        "best-constant": "floor",
        "bias-based": "floor",
        "mean-map": "floor",
        "prior-only": "floor",
        "action-aware": "floor",
        "sentence-neighbours": "floor",
        "sentence-network": "floor",
        "order-table": "floor",
        "paragraph-network": "floor",
        "uniform": "floor",
        "random-chance": "floor",
        "order-by-start": "ceiling",
        "split-constant": "ceiling",
        "oracle": "ceiling",
    }
    assert all(entry.meaning for entry in BASELINES.values())


def test_an_unknown_name(asked):
    with pytest.raises(UsageError) as caught:
        make_baseline("prior", Choices(references=asked))
    assert str(caught.value) == f"unknown baseline 'prior', expected one of {', '.join(NAMES)}"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_grounder(made, train, name):
    grounder = made(name, None)
    assert isinstance(grounder, Grounder)
    fitted = grounder.fit(train)
    assert isinstance(fitted, Grounder)
    assert isinstance(fitted.name, str)
    assert fitted.name.strip() == fitted.name != ""
    assert fitted.ground(Queries(["q0"], ["v"], [10.0], ["it OPENS"])).name == fitted.name


@pytest.mark.parametrize("top", [1, 3, 10])
@pytest.mark.parametrize("name", NAMES)
def test_every_query_is_answered_within_its_video(made, train, asked, name, top):
    queries = asked.queries
    predictions = made(name, train).ground(queries, top)
    assert predictions.query_id.tolist() == queries.query_id.tolist()
    assert predictions.lengths.min() >= 1
    assert predictions.lengths.max() <= top
    duration_s = np.repeat(queries.duration_s, predictions.lengths)
    assert np.all(predictions.start_s >= 0)
    assert np.all(predictions.start_s < predictions.end_s)
    assert np.all(predictions.end_s <= duration_s * (1 + 1e-15))
    # Best first: scores never rise within a list, so ranking by score changes nothing.
    assert not predictions.rises.any()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("uniform", "random-chance")])
def test_fewer_answers_are_the_first_of_more(made, train, asked, name):
    # The two left out draw as many as are asked for, so another number is another draw.
    many, few = (lists(made(name, train).ground(asked.queries, top)) for top in (10, 2))
    assert few == {query_id: answers[:2] for query_id, answers in many.items()}


@pytest.mark.parametrize("name", NAMES)
def test_the_default_number_of_answers(made, train, asked, name):
    # Hidden Challenges keeps ten answers of its two blind baselines (its notebooks); the others give one.
    longest = made(name, train).ground(asked.queries).lengths.max()
    assert longest == 1 if name not in ("prior-only", "action-aware") else 1 < longest <= 10


@pytest.mark.parametrize("name", NAMES)
def test_no_query(made, train, name):
    predictions = made(name, train).ground(Queries([], [], [], []), 5)
    assert (len(predictions), len(predictions.start_s)) == (0, 0)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_duration_is_refused(made, train, name):
    queries = Queries(["q0", "q1"], ["v", "w"], [10.0, math.nan], ["it OPENS", "it RAINS"])
    with pytest.raises(InputError) as caught:
        made(name, train).ground(queries, 3)
    message = str(caught.value)
    assert "\n" not in message
    assert "duration" in message
    assert "'q1'" in message  # which query, so that it can be looked up
    assert "'q0'" not in message


@pytest.mark.parametrize("name", NAMES)
def test_unfitted(made, asked, name):
    grounder = made(name, None)
    if name not in LEARNING:
        assert len(grounder.ground(asked.queries)) == 25
        return
    with pytest.raises(UsageError) as caught:
        grounder.ground(asked.queries)
    assert str(caught.value) == f"{grounder.name} has to be fitted first"


@pytest.mark.parametrize("name", LEARNING)
def test_fitting_changes_nothing_in_place(made, train, asked, name):
    grounder = made(name, None)
    assert grounder.fit(train) is not grounder
    with pytest.raises(UsageError):
        grounder.ground(asked.queries)


@pytest.mark.parametrize("name", NAMES)
def test_seeds(made, train, asked, name):
    first, second, other = (lists(made(name, train, seed=seed).ground(asked.queries, 5)) for seed in (3, 3, 4))
    assert first == second
    assert (first != other) == BASELINES[name].random


@pytest.mark.parametrize("name", DRAWING)
def test_a_generator_goes_on(made, train, asked, name):
    # Repeats on one generator are independent draws, not the same one again.
    grounder = made(name, train)
    assert lists(grounder.ground(asked.queries, 5)) != lists(grounder.ground(asked.queries, 5))


@pytest.mark.parametrize("name", [name for name in NAMES if BASELINES[name].kind == "floor"])
def test_a_floor_sees_no_reference(made, train, asked, name):
    # Choices hold the references for two baselines: with others in their place a floor answers the same.
    others = Annotations.from_rows([("x", "x", 5.0, "x", 1.0, 2.0)])
    floor = make_baseline(name, Choices(np.random.default_rng(0), references=others)).fit(train)
    assert lists(floor.ground(asked.queries, 5)) == lists(made(name, train).ground(asked.queries, 5))


@pytest.mark.parametrize("name", ["bias-based", "prior-only", "action-aware"])
def test_rows_without_a_duration_teach_nothing(made, train, asked, name):
    rows = [("n0", "n", math.nan, "it CLOSES", 0.0, 5.0), ("n1", "z", 0.0, "it CLOSES", 0.0, 5.0)]
    rows += list(
        zip(train.query_id, train.video_id, train.duration_s, train.sentence, train.start_s, train.end_s, strict=True)
    )
    found = lists(made(name, Annotations.from_rows(rows)).ground(asked.queries, 5))
    assert found == lists(made(name, train).ground(asked.queries, 5))


@pytest.mark.parametrize("name", LEARNING)
def test_nothing_to_learn_from(made, name):
    nowhere = Annotations.from_rows([("a", "v", 10.0, "it RAINS", 12.0, 15.0), ("b", "v", 10.0, "it RAINS", 4.0, 4.0)])
    if name == "best-constant":
        # Every constant scores 0 there: the first of them all stands (BestConstant: "the earliest, then the shortest").
        assert made(name, nowhere).ranked[0].tolist() == [0.0, 0.05, 0.0]
        return
    with pytest.raises(InputError) as caught:
        made(name, nowhere)
    assert str(caught.value) == "own/all: no moment within a video of known duration to learn from"


@pytest.mark.parametrize("name", ["bias-based", "prior-only", "action-aware"])
def test_too_little_to_learn_from(made, at_shares, name):
    with pytest.raises(InputError, match="expected 2 or more"):
        made(name, at_shares([(0.1, 0.3)]))
    with pytest.raises(InputError, match="lie on one line"):
        made(name, at_shares([(0.1, 0.3), (0.1, 0.4), (0.1, 0.5), (0.1, 0.9)]))


def test_choices_reach_the_baselines(made, asked, train):
    assert made("best-constant", None, measure="mIoU", protocol="closer-look").measure == "mIoU"
    assert made("best-constant", None, measure="mIoU", protocol="closer-look").protocol == "closer-look"
    for name in ("random-chance", "oracle"):
        assert made(name, None).proposals == SparseMap(16)
        assert made(name, None, proposals=WindowedGrid()).proposals == WindowedGrid()
    assert made("oracle", None).references is asked
    assert isinstance(made("action-aware", train), ActionAware)


def test_the_engine_is_asked_for_by_name(asked):
    with pytest.raises(UsageError, match="unknown language engine 'parrot'"):
        make_baseline("action-aware", Choices(engine="parrot"))
    assert make_baseline("action-aware", Choices(references=asked)).engine.name == "lexicon"


@pytest.mark.parametrize("name", NAMES)
def test_equality_is_answered(made, train, name):
    # A frozen value may be compared; with arrays inside "==" must not fail.
    assert isinstance(made(name, train) == made(name, train), bool)
