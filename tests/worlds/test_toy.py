"""The toy method: its parts against slow ones, and that it sees when there is something to see and guesses when not."""

import dataclasses
import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Grounder, Predictions, Queries
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.evaluation.evaluate import evaluate
from truemoment.worlds import Features, ToyGrounder, make_world
from truemoment.worlds.toy import N_STEPS, _gain, candidates, ranked, stem

from ..thorough import quick_are

pytestmark = pytest.mark.slow

MEASURE = "R@1,IoU=0.5"
PERCEPTION = (0.0, 0.5, 1.0)


@functools.cache
def fitted(seed=0, n_videos=400, **dials):
    """A world, and the toy method fitted on it."""
    world = make_world(n_videos, seed=seed, **dials)
    return world, ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"])


def hits(world, toy, split="test-iid"):
    """Whether each query of a split is hit by the first answer."""
    part = world.splits[split]
    return evaluate(part, toy.ground(part.queries, 1), MEASURE).numerator[0]


def floor(world, split="test-iid"):
    """Best constant on a grid of 5 % of the video, chosen on train: hits of each query."""
    edges = np.arange(21) / 20
    first, last = np.triu_indices(21, k=1)

    def iou(part):
        start, end = part.start_s / part.duration_s, part.end_s / part.duration_s
        return temporal_iou(edges[first], edges[last], start[:, None], end[:, None])

    best = np.argmax((iou(world.splits["train"]) > 0.5).mean(axis=0))
    return iou(world.splits[split])[:, best] > 0.5


# --- the parts ---------------------------------------------------------------------------------------------------


def test_candidates_are_every_moment_of_the_grid():
    grid = candidates()
    assert sorted(zip(grid.first.tolist(), grid.last.tolist(), strict=True)) == [
        (first, last) for first in range(N_STEPS) for last in range(first + 1, N_STEPS + 1)
    ]
    assert grid.smoothing.sum(axis=1) == pytest.approx(np.ones(len(grid)))
    assert np.diag(grid.utility).tolist() == [1.0] * len(grid)


@given(st.floats(0, 1), st.floats(0, 1))
def test_nearest_candidate(start, end):
    # Each boundary is within half a step; where both round to one step, the end goes one step on (at the video's end
    # the start one back).
    grid = candidates()
    start, end = min(start, end), max(start, end)
    at = int(grid.nearest(np.array([start]), np.array([end]))[0])
    first, last = grid.first[at] / N_STEPS, grid.last[at] / N_STEPS
    slack = 0.5 if end - start > 1 / N_STEPS else 1.5
    assert abs(first - start) <= slack / N_STEPS + 1e-12
    assert abs(last - end) <= slack / N_STEPS + 1e-12


@given(st.integers(0, 1000))
def test_gain_is_the_profile_likelihood(seed):
    # -n/2 log(1 - rho^2), rho = NumPy's correlation of relevance and candidate, frame by frame; 2 frames a step.
    rng = np.random.default_rng(seed)
    n = 2 * N_STEPS
    relevance = rng.standard_normal(n) + 2.0 * (np.arange(n) // 7 == 2)
    relevance -= relevance.mean()
    sums = np.concatenate([[0.0], np.cumsum(relevance)])[::2]
    found = _gain(sums[None, :], np.array([relevance.var()]), np.array([float(n)]))[0]
    grid = candidates()
    for c in rng.integers(0, len(grid), 40):
        inside = (np.arange(n) >= 2 * grid.first[c]) & (np.arange(n) < 2 * grid.last[c])
        if inside.all():
            assert found[c] == 0
            continue
        rho = np.corrcoef(relevance, inside)[0, 1]
        assert found[c] == pytest.approx(-n / 2 * np.log(1 - rho**2) if rho > 0 else 0.0, rel=1e-9, abs=1e-9)


def test_gain_of_a_relevance_without_spread():
    # A video whose frames are all alike says nothing of any candidate.
    assert _gain(np.zeros((1, N_STEPS + 1)), np.zeros(1), np.array([5.0])).tolist() == [[0.0] * len(candidates())]


@given(st.integers(0, 1000), st.integers(1, 12))
def test_ranking_and_suppression(seed, top):
    grid = candidates()
    worth = np.random.default_rng(seed).random((2, len(grid)))
    found = ranked(worth, top)
    for row in range(2):
        slow = []
        for c in sorted(range(len(grid)), key=lambda c: -worth[row, c]):
            if len(slow) < top and all(grid.iou[c, kept] <= 0.45 for kept in slow):
                slow.append(c)
        assert found[row][found[row] >= 0].tolist() == slow


def test_stems_of_the_worlds_verbs():
    from truemoment.worlds.grammar import ACTIONS

    stems = {}
    for number, action in enumerate(ACTIONS):
        for verb in action.verbs:
            for form in (verb.base, verb.third, verb.gerund):
                stems.setdefault(stem(form), set()).add(number)
    assert all(len(numbers) == 1 for numbers in stems.values())  # no stem stands for two actions


# --- what it is good for -----------------------------------------------------------------------------------------


def test_it_is_a_grounder():
    world, toy = fitted()
    assert isinstance(toy, Grounder)
    assert toy.name == "toy"
    part = world.splits["test-iid"]
    answers = toy.ground(part.queries, 10)
    assert answers.query_id.tolist() == part.query_id.tolist()
    assert answers.name == "toy"
    assert answers.lengths.min() >= 1
    assert answers.lengths.max() == 10
    assert not answers.rises.any()  # best first
    assert np.all(answers.end_s <= np.repeat(part.duration_s, answers.lengths) + 1e-9)
    for low, high in zip(answers.offsets[:-1], answers.offsets[1:], strict=True):
        start, end = answers.start_s[low:high], answers.end_s[low:high]
        iou = temporal_iou(start[:, None], end[:, None], start, end)
        assert np.triu(iou, k=1).max() <= 0.45 + 1e-9
    first = toy.ground(part.queries, 1)
    assert first.start_s.tolist() == answers.start_s[answers.offsets[:-1]].tolist()


def test_the_same_fit_gives_the_same_answers():
    world, toy = fitted()
    again = ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"])
    queries = world.splits["test-ood"].queries
    one, other = toy.ground(queries), again.ground(queries)
    assert (one.start_s.tolist(), one.score.tolist()) == (other.start_s.tolist(), other.score.tolist())


DIALS_OF_WORLDS = {
    "no priors": {"location_prior": 0.0, "query_prior": 0.0},
    "middle": {},
    "clumped": {"location_prior": 1.0, "query_prior": 0.0},
}


@pytest.mark.parametrize("dials", quick_are(["middle"], DIALS_OF_WORLDS))
def test_it_rises_above_the_floor_with_perception(dials):
    # Mean over three worlds of 180 queries: a standard error is at most 0.5 / sqrt(540) = 0.022.
    error = 0.5 / np.sqrt(540)
    scores, floors = [], []
    for perception in PERCEPTION:
        made = [fitted(seed, perception=perception, **dials) for seed in range(3)]
        scores.append(np.mean([hits(world, toy).mean() for world, toy in made]))
        floors.append(np.mean([floor(world).mean() for world, _ in made]))
    assert len(set(floors)) == 1  # perception changes no annotation
    assert np.all(np.diff(scores) > -error)
    share = floors[0] / np.array(scores)
    assert np.all(np.diff(share) < error / min(scores))
    assert scores[-1] > floors[0] + 5 * error
    assert scores[-1] > scores[0] + 5 * error
    assert scores[-1] > 0.8


@pytest.mark.parametrize("query_prior", quick_are([0.5], [0.0, 0.5, 1.0]))
def test_without_perception_it_is_its_own_prior(query_prior):
    # Taking the evidence away changes nothing beyond noise: paired difference within three standard errors.
    differences = []
    for seed in range(4):
        world, toy = fitted(seed, perception=0.0, query_prior=query_prior)
        guesser = dataclasses.replace(toy, model=dataclasses.replace(toy.model, evidence_weight=0.0))
        differences.append(hits(world, toy) - hits(world, guesser))
    difference = np.concatenate(differences)
    assert abs(difference.mean()) <= 3 * difference.std() / np.sqrt(len(difference))


def test_without_perception_it_falls_out_of_distribution_as_a_guesser_does():
    world, toy = fitted(perception=0.0, query_prior=1.0)
    assert hits(world, toy).mean() > 0.8
    assert hits(world, toy, "test-ood").mean() < 0.1


def test_with_perception_it_stands_out_of_distribution():
    world, toy = fitted(perception=1.0)
    assert hits(world, toy, "test-ood").mean() > 0.8
    assert floor(world, "test-ood").mean() < 0.1


def shuffled(features, seed=0):
    """Frames of each video in random order."""
    rng = np.random.default_rng(seed)
    return dataclasses.replace(features, by_video={name: rng.permutation(features[name]) for name in features})


def test_shuffled_frames_change_the_answers_of_a_method_that_looks():
    changed = {}
    for perception in (0.0, 1.0):
        world, toy = fitted(perception=perception, location_prior=0.5, query_prior=1.0 if perception == 0 else 0.0)
        queries = world.splits["test-iid"].queries
        one = toy.ground(queries, 1)
        other = toy.with_features(shuffled(world.features)).ground(queries, 1)
        changed[perception] = np.mean((one.start_s != other.start_s) | (one.end_s != other.end_s))
    assert changed[0.0] < 0.3
    assert changed[1.0] > 0.9


# --- what it is given --------------------------------------------------------------------------------------------


def small(rows, **frames):
    features = Features({name: np.asarray(table, dtype=np.float32) for name, table in frames.items()}, 1.0)
    return Annotations.from_rows(rows), features


def test_faulty_annotations_are_stood():
    # Past the end, swapped, of no length, without duration: the first and the last count, 10 frames at 1 a second.
    rng = np.random.default_rng(0)
    rows = [
        ("a", "v", 10.0, "a door opens", 2.0, 90.0),
        ("b", "v", 10.0, "a door opens", 5.0, 2.0),
        ("c", "v", 10.0, "a door opens", 3.0, 3.0),
        ("d", "v", 10.0, "a door opens", 20.0, 30.0),
        ("e", "w", float("nan"), "a door opens", 1.0, 4.0),
    ]
    train, features = small(rows, v=rng.random((10, 4)), w=rng.random((10, 4)))
    toy = ToyGrounder(features).fit(train)
    answers = toy.ground(train.queries, 3)
    assert len(answers) == 5
    assert np.all(np.isfinite(answers.score))
    assert answers.end_s.max() <= 10.0
    only = train.select_queries(np.array([True, False, False, False, True]))
    assert toy.model.prior.tolist() == ToyGrounder(features).fit(only).model.prior.tolist()


def test_a_single_word_that_shows():
    # Two words, each marked by a number of its own in the frames: the method must find the frames of each word.
    rng = np.random.default_rng(0)
    rows, frames = [], {}
    for number in range(60):
        table = 0.1 * rng.standard_normal((32, 2))
        low, high = rng.integers(0, 12), rng.integers(16, 24)
        table[low : low + 8, 0] += 1
        table[high : high + 8, 1] += 1
        frames[f"v{number}"] = table
        rows.append((f"a{number}", f"v{number}", 32.0, "alpha", float(low), float(low + 8)))
        rows.append((f"b{number}", f"v{number}", 32.0, "beta", float(high), float(high + 8)))
    annotations, features = small(rows, **frames)
    order = np.arange(120)
    toy = ToyGrounder(features).fit(annotations.select_queries(order < 90), annotations.select_queries(order >= 90))
    answers = toy.ground(annotations.queries, 1)
    iou = temporal_iou(answers.start_s, answers.end_s, annotations.start_s, annotations.end_s)
    assert iou.mean() > 0.9


def test_without_a_validation_split_some_of_train_is_kept():
    world, _ = fitted()
    alone = ToyGrounder(world.features).fit(world.splits["train"])
    assert hits(world, alone).mean() > floor(world).mean()
    empty = world.splits["val"].select_queries(np.zeros(world.splits["val"].n_queries, dtype=bool))
    with_empty = ToyGrounder(world.features).fit(world.splits["train"], empty)
    assert with_empty.model.prior.tolist() == alone.model.prior.tolist()


def test_a_world_of_one_video():
    world = make_world(1)
    toy = ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"])
    assert len(toy.ground(world.splits["train"].queries)) == len(world.splits["train"])
    assert len(toy.ground(world.splits["test-iid"].queries)) == 0


def test_words_never_heard():
    world, toy = fitted()
    queries = Queries(["x"], [world.video_ids[0]], [30.0], ["Zzz 123 — !"])
    assert isinstance(toy.ground(queries), Predictions)


def test_no_word_twice():
    # No word is learned; what is left is the prior: every answer of every query is the same fraction of its video.
    rows = [("a", "v", 10.0, "one", 2.0, 5.0), ("b", "v", 10.0, "two", 2.0, 5.0)]
    train, features = small(rows, v=np.random.default_rng(0).random((10, 4)))
    toy = ToyGrounder(features).fit(train)
    answers = toy.ground(train.queries, 1)
    assert len(toy.model.column) == 0
    assert answers.start_s[0] == answers.start_s[1] == pytest.approx(2.0, abs=0.5)
    assert answers.end_s[0] == answers.end_s[1] == pytest.approx(5.0, abs=0.5)


def test_refusals():
    world, toy = fitted()
    queries = world.splits["val"].queries
    with pytest.raises(UsageError, match=r"^the toy method is not fitted; use what its fit\(train, val\) returns$"):
        ToyGrounder(world.features).ground(queries)
    with pytest.raises(UsageError, match=r"^got top=0, expected 1 or more$"):
        toy.ground(queries, 0)
    with pytest.raises(InputError, match="there are no features of video 'nowhere'"):
        toy.ground(Queries(["x"], ["nowhere"], [30.0], ["a door opens"]))
    nothing, features = small([("a", "v", 10.0, "a door opens", 5.0, 5.0)], v=np.ones((10, 2)))
    with pytest.raises(InputError, match="field train: has no moments of positive length"):
        ToyGrounder(features).fit(nothing)
