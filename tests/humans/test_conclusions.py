"""Which differences between systems survive re-annotation: against single evaluations, and in words."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import Predictions
from truemoment.base.errors import UsageError
from truemoment.evaluation.agreement import Annotators
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.humans.conclusions import Conclusion, PairDifference, conclusions, system_scores
from truemoment.studies.humans.report import in_words
from truemoment.studies.humans.scores import draw_annotators, same_queries
from truemoment.worlds import make_world

MEASURES = "R@1,IoU=0.5; mIoU"


class TestSystems:
    def test_ways_are_as_evaluate_says(self, drawn, drawn_answers):
        annotators, official = drawn(1)
        rng = np.random.default_rng(0)
        ids = annotators.annotations.queries.query_id
        answers = drawn_answers(ids, rng)
        found = system_scores(annotators, answers, MEASURES, official=official)
        for rule in ("nearest", "representative", "rows"):
            protocol = get_protocol(f"default,references={rule}")
            expected = evaluate(annotators.annotations, answers, MEASURES, protocol)
            of = found.scores["another" if rule == "rows" else rule]
            if rule == "rows":  # every query counts once, however many annotators it has
                expected_value = np.mean(expected.numerator / annotators.counts, axis=1)
            else:
                expected_value = [expected.value(measure) for measure in expected.measures]
            np.testing.assert_allclose([of.value(measure) for measure in of.measures], expected_value, atol=1e-12)
        assert found.scores["official"].value("mIoU") == evaluate(official, answers, "mIoU").value("mIoU")

    def test_answers_to_other_queries_are_refused(self, drawn):
        annotators, _ = drawn(1)
        with pytest.raises(UsageError, match=r"^preds: answers none of the 30 queries of own/all that several"):
            system_scores(annotators, Predictions.from_lists({"x": [(0.0, 1.0)]}, name="preds"))

    def test_an_annotator_as_a_system_wins_and_the_claim_survives(self):
        world = make_world(150, n_annotators=3, annotator_noise=0.1, seed=2)
        humans, official = world.humans["test-iid"], world.splits["test-iid"]
        annotators, official = same_queries(Annotators.of(humans), official)
        queries = official.queries
        perfect = dict(zip(queries.query_id, zip(official.start_s, official.end_s, strict=True), strict=True))
        right = Predictions.from_lists({q: [moment] for q, moment in perfect.items()})
        durations = zip(queries.query_id, queries.duration_s, strict=True)
        wrong = Predictions.from_lists({q: [(0.0, d)] for q, d in durations})
        systems = {
            name: system_scores(annotators, of, "R@1,IoU=0.5", official=official)
            for name, of in (("right", right), ("wrong", wrong))
        }
        (found,) = conclusions(annotators, systems, np.random.default_rng(0), draws=20, permutations=500)
        assert found.confirmation == "survives"
        assert found.share_alike == 1
        assert min(one.difference for one in found.differences) > 0
        (turned,) = conclusions(
            annotators, dict(reversed(systems.items())), np.random.default_rng(0), draws=20, permutations=500
        )
        assert turned.confirmation == "survives"
        assert turned.differences[0].difference == -found.differences[0].difference

    def test_two_are_needed(self, drawn):
        annotators, _ = drawn(1)
        with pytest.raises(UsageError, match=r"^got 0 system\(s\), expected two or more to compare$"):
            conclusions(annotators, {}, np.random.default_rng(0))


def conclusion(*ways, alike=1.0):
    """Build a conclusion of (way, difference, p); `alike` of the draws agree."""
    n = round(100 * alike)
    drawn_ = np.array([0.1] * n + [-0.1] * (100 - n)) * np.sign(ways[0][1])
    return Conclusion("mIoU", "a", "b", tuple(PairDifference(*way) for way in ways), drawn_, np.full(100, 0.01))


@pytest.mark.parametrize(
    ("ways", "alike", "fate", "said"),
    [
        (
            (("official", 0.1, 0.01), ("nearest", 0.1, 0.01), ("representative", 0.1, 0.05)),
            0.95,
            "survives",
            "survives: a leads b against the official references and against the annotators",
        ),
        (
            (("official", -0.1, 0.01), ("nearest", -0.1, 0.01)),
            0.94,
            "not confirmed",
            "not confirmed: b leads a against the official references, but not significantly against drawn annotators "
            "(only in 94 % of draws)",
        ),
        (
            (("official", 0.1, 0.01), ("nearest", -0.1, 0.2)),
            1.0,
            "not confirmed",
            "not confirmed: a leads b against the official references, but not significantly against the nearest "
            "annotator; against the nearest annotator b leads, not significantly",
        ),
        (
            (("official", 0.1, 0.01), ("nearest", -0.1, 0.01), ("representative", 0.1, 0.2)),
            1.0,
            "contradicted",
            "contradicted: a leads b against the official references, b leads against the nearest annotator",
        ),
        (
            (("official", 0.1, 0.06), ("nearest", 0.1, 0.01)),
            1.0,
            "nothing to confirm",
            "nothing to confirm: +10.0 points against the official references, not significant, which does not show "
            "that they are equal",
        ),
        ((("official", np.nan, np.nan), ("nearest", 0.1, 0.01)), 1.0, "nothing to confirm", "undefined"),
    ],
)
def test_verdicts(ways, alike, fate, said):
    found = conclusion(*ways, alike=alike)
    assert found.confirmation == fate
    assert in_words(found) == said


def test_draws_are_tested_as_single_comparisons_would_be(drawn, drawn_answers):
    annotators, official = drawn(2)
    ids = annotators.annotations.queries.query_id
    rng = np.random.default_rng(0)
    systems = {
        name: system_scores(
            annotators,
            drawn_answers(ids, rng),
            "mIoU",
            official=official,
        )
        for name in "xy"
    }
    (found,) = conclusions(annotators, systems, np.random.default_rng(1), draws=7, permutations=100)
    picks = draw_annotators(annotators.present.T, np.random.default_rng(1).spawn(6)[0], 7)
    query = np.arange(len(ids))
    x, y = (of.numerator[picks, 0, query].mean(axis=1) for of in systems.values())
    np.testing.assert_allclose(found.draws, x - y, atol=1e-12)
    assert np.all((found.p_draws > 0) & (found.p_draws <= 1))
