"""Gains by class: a loop over the formula, a planted effect in worlds, and labels dealt by lot."""

import math
from dataclasses import replace

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.records import Predictions
from truemoment.data.language import get_engine
from truemoment.data.language.marks import marks_of
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.uncertainty import LEVEL, q_values
from truemoment.studies.audit.checks.language_classes import FEWEST_VIDEOS, classes_of, gains_by_class
from truemoment.studies.evaluate.slices import Membership
from truemoment.worlds import ToyGrounder, make_world

R = parse_measures("R@1,IoU=0.5")


def scored(hits, video):
    """Scores of R@1 with these hits, by query."""
    rows = [(f"q{q}", f"v{v}", 10.0, "a door opens", 0.0, 5.0) for q, v in enumerate(video)]
    annotations = Annotations.from_rows(rows, dataset="invented", split="test")
    answers = {f"q{q}": [(0.0, 5.0) if hit else (6.0, 9.0)] for q, hit in enumerate(hits)}
    return evaluate(annotations, Predictions.from_lists(answers), R)


def with_hits(scores, hits):
    return replace(scores, numerator=hits[None])


@pytest.fixture(scope="module")
def pair():
    """Two methods on 200 queries of 50 videos, and a class."""
    rng = np.random.default_rng(0)
    video = np.sort(rng.integers(50, size=200))
    own, blind = rng.random(200) < 0.6, rng.random(200) < 0.3
    return own, blind, video, rng.random(200) < 0.4


def test_figures_are_those_of_a_loop(pair):
    own, blind, video, inside = pair
    (found,) = gains_by_class(
        scored(own, video), scored(blind, video), [("family", "yes", inside)], np.random.default_rng(0)
    )
    sums = {True: [0, 0, 0], False: [0, 0, 0]}
    for a, b, c in zip(own.tolist(), blind.tolist(), inside.tolist(), strict=True):
        sums[c] = [sums[c][0] + a, sums[c][1] + b, sums[c][2] + 1]
    (a, b, n), (x, y, k) = sums[True], sums[False]
    assert (found.value, found.blind, found.n_queries) == pytest.approx((a / n, b / n, n))
    assert (found.gain.value, found.elsewhere) == pytest.approx(((a - b) / n, (x - y) / k))
    assert found.contrast.value == pytest.approx((a - b) / n - (x - y) / k)
    assert found.n_videos == len({v for v, c in zip(video.tolist(), inside.tolist(), strict=True) if c})


def test_the_error_of_the_contrast_is_that_of_redrawn_videos(pair):
    """Standard deviation over 4,000 draws of videos, against the width of the interval: within 15 %, of 50 videos."""
    own, blind, video, inside = pair
    (found,) = gains_by_class(
        scored(own, video), scored(blind, video), [("family", "yes", inside)], np.random.default_rng(0)
    )
    rng, d = np.random.default_rng(1), own.astype(float) - blind
    rows = [np.flatnonzero(video == v) for v in np.unique(video)]
    drawn = []
    for _ in range(4000):
        q = np.concatenate([rows[v] for v in rng.integers(len(rows), size=len(rows))])
        drawn.append(d[q][inside[q]].mean() - d[q][~inside[q]].mean())
    width = found.contrast.ci95[1] - found.contrast.ci95[0]
    assert width == pytest.approx(2 * 1.96 * np.std(drawn), rel=0.15)


def test_a_class_and_the_rest_of_two_are_one_test(pair):
    *_, inside = pair
    number = inside.astype(int)
    assert [of[:2] for of in classes_of([Membership("negation", ("no", "yes"), number)])] == [("negation", "yes")]
    three = Membership("verb", ("a", "b", "c"), np.arange(len(inside)) % 3)
    assert [of[1] for of in classes_of([three])] == ["a", "b", "c"]


def test_a_class_of_few_videos_is_left_out(pair):
    own, blind, video, _ = pair
    for n_videos, n_found in ((FEWEST_VIDEOS - 1, 0), (FEWEST_VIDEOS, 1)):
        inside = np.isin(video, np.unique(video)[:n_videos])
        scores = scored(own, video), scored(blind, video)
        assert len(gains_by_class(*scores, [("", "yes", inside)], np.random.default_rng(0))) == n_found


def test_worse_perception_of_sentences_with_order_is_found_in_a_world():
    """The method sees less only where the sentence orders events: that class alone is found, and on its own side."""
    sharp, blurred = (make_world(600, location_prior=0.4, query_prior=0.5, perception=p) for p in (0.8, 0.1))
    test = Annotations.joined([sharp.splits["test-iid"], sharp.splits["test-ood"]], split="test")
    order = marks_of(test.queries.sentence.tolist(), get_engine())["temporal order"]
    both = []
    for world in (sharp, blurred):
        toy = ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"])
        both.append(evaluate(test, toy.ground(test.queries), R))
    lot = np.random.default_rng(0).random(len(order)) < 0.3
    own = np.where(order, both[1].numerator[0], both[0].numerator[0])
    guess = Predictions.from_lists({q: [(0.0, 10.0)] for q in test.queries.query_id})
    classes = [("", "order", order), ("", "lot", lot)]
    found = gains_by_class(with_hits(both[0], own), evaluate(test, guess, R), classes, np.random.default_rng(0))
    assert [(of.label, of.contrast.q <= LEVEL) for of in found] == [("order", True), ("lot", False)]
    assert found[0].contrast.value < 0


def test_classes_by_lot_are_seldom_found():
    """A run with any class found is a false discovery: 5 % of 300 runs, and 3 standard errors (8.8 %) at most."""
    false, video = 0, np.repeat(np.arange(60), 3)
    template = scored(np.zeros(180, dtype=bool), video)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        difficulty = rng.random(60)[video]  # queries of a video are alike
        own, blind = rng.random(180) < difficulty, rng.random(180) < 0.5 * difficulty
        one = rng.random(180) < 0.3
        classes = [("", "one", one), ("", "wider", one | (rng.random(180) < 0.1)), ("", "of videos", video % 2 == 0)]
        scores = [with_hits(template, of.astype(float)) for of in (own, blind)]
        found = gains_by_class(*scores, classes, rng, resamples=200)
        false += any(of.contrast.q <= LEVEL for of in found)
    assert false <= (0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)) * 300


def test_q_values_are_those_of_the_definition():
    """Benjamini and Yekutieli (2001), theorem 1.3: the largest i with p(i) <= i rate / (K c) is kept, and all below."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(6) ** 3
        rate = float(rng.uniform(0.01, 0.5))
        bound = rate / (6 * sum(1 / k for k in range(1, 7)))
        kept = [i for i, of in enumerate(sorted(p.tolist()), 1) if of <= i * bound]
        assert int((q_values(p) <= rate).sum()) == max(kept, default=0)
