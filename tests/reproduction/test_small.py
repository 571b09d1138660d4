"""Tables on data of a few videos, where every figure can be told by hand."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from truemoment.base.errors import MissingFileError, UsageError
from truemoment.data.language import get_engine, verbs_of
from truemoment.reproduction import TABLES, get_table, reproduce
from truemoment.reproduction.hidden_challenges import OnlyVerbs


def test_names_are_keys():
    assert all(table.name == name for name, table in TABLES.items())
    assert {"closer-look-1", "closer-look-2", "closer-look-text", "hidden-challenges-blind", "bandwidth-search"} <= set(
        TABLES
    )


def test_an_unknown_table():
    with pytest.raises(UsageError, match="unknown table 'table 2', expected one of closer-look-1, closer-look-2"):
        get_table("table 2")


def test_counts(publish, small_data):
    publish(
        "closer_look_table1.csv",
        ("Table 1", "Charades-CD", "val", "", "videos", 2, "count"),
        ("Table 1", "Charades-CD", "val", "", "query-moment pairs", 4, "count"),
    )
    videos, queries = reproduce("closer-look-1", small_data)
    assert (videos.ours, videos.status) == (2, "exact")
    assert (queries.ours, queries.difference, queries.status) == (3, -1, "outside")
    assert videos.signature.startswith("data:charades-cd/val#")


def test_predict_all_and_methods_nobody_ran(publish, small_data):
    # By hand: IoU of (0, 20) with (0, 10) is 1/2; dR = hit x (1 - 0) x (1 - 1/2).
    publish(
        "closer_look_table2.csv",
        ("Table 2", "Charades-CD", "test-iid", "PredictAll", "dR@1,IoU=0.5", "50.00", "percent"),
        ("Table 2", "Charades-CD", "test-iid", "PredictAll", "dR@1,IoU=0.7", "0.00", "percent"),
        ("Table 2", "Charades-CD", "test-iid", "CTRL", "dR@1,IoU=0.5", "29.80", "percent"),
    )
    half, none, ctrl = reproduce("closer-look-2", small_data)
    assert [(row.ours, row.status) for row in (half, none)] == [(50.0, "exact"), (0.0, "exact")]
    assert (ctrl.ours, ctrl.status) == (None, "published, unchecked")
    assert "protocol:closer-look|" in half.signature


def test_the_mean_difference_of_bias_based(publish, small_data):
    figures = (("dR@1,IoU=0.1", "60.00"), ("dR@1,IoU=0.9", "1.00"))
    publish(
        "closer_look_table2.csv",
        *(
            ("Table 2", "Charades-CD", "test-iid", "Bias-based", measure, value, "percent")
            for measure, value in figures
        ),
    )
    first, second, mean = reproduce("closer-look-2", small_data)
    assert mean.ours == pytest.approx(float(abs(first.difference) + abs(second.difference)) / 2, abs=1e-9)
    assert (mean.unit, mean.published, mean.status) == ("points", None, "outside")


@pytest.mark.slow
def test_the_search_finds_the_constant_that_was_published(publish, small_data):
    # The published figures are those of the constant 0-50 %, which is the reference: dR = 1. No setting can do better.
    publish(
        "closer_look_table2.csv",
        *(
            ("Table 2", "Charades-CD", "test-iid", "Bias-based", f"dR@1,IoU={m}", "100.00", "percent")
            for m in (0.1, 0.3, 0.5, 0.7, 0.9)
        ),
    )
    *settings, best = reproduce("bandwidth-search", small_data)
    assert len(settings) == 12
    assert (best.measure.endswith("answer 0-50 %"), best.ours) == (True, pytest.approx(0, abs=1e-9))
    assert {row.status for row in (*settings, best)} == {"informational"}


BLIND = [("text", "Charades-STA", "test", method, "R@1,IoU=0.5") for method in ("Uniform random", "Prior-Only Blind")]


def blind(data, seed, runs):
    return reproduce("hidden-challenges-blind", data, np.random.default_rng(seed), runs=runs)


def test_uniform(publish, small_data):
    # The reference is the whole video, so the IoU is the length |u - v| of the answer: P(|u - v| > 1/2) = (1/2)^2.
    # Standard deviation of the mean of 400 runs of 30 queries: 0.4 points.
    publish("hidden_challenges_blind.csv", (*BLIND[0], "25", "percent"))
    (row,) = blind(small_data, 0, 400)
    assert row.ours == pytest.approx(25, abs=1.6)
    assert (row.runs, row.tolerance) == (400, Decimal("0.3"))
    assert row.spread == pytest.approx(100 * math.sqrt(0.25 * 0.75 / 30), rel=0.2)


def test_draws_are_fixed_by_the_generator(publish, small_data, monkeypatch):
    monkeypatch.setattr("truemoment.reproduction.hidden_challenges.ENOUGH_QUERIES", 90)  # 3 runs of 30
    publish("hidden_challenges_blind.csv", *((*place, "25", "percent") for place in BLIND))
    uniform, prior_only = blind(small_data, 3, 5)
    assert prior_only.runs == 3
    assert blind(small_data, 3, 5) == [uniform, prior_only]
    other_uniform, same = blind(small_data, 3, 6)
    assert other_uniform.ours != uniform.ours
    assert same == prior_only  # what one method draws is nothing to the others
    assert blind(small_data, 4, 5)[0].ours != uniform.ours


def test_verbs_beside_theirs(publish, small_data, monkeypatch):
    # By hand: all 20 training sentences hold "open" and no other verb. Theirs 18 + 2, ours 20 + 0: 2 + 2 apart, of 20.
    monkeypatch.setattr("truemoment.reproduction.hidden_challenges.ENOUGH_QUERIES", 30)
    verbs = (("open", 18), ("sit", 2))
    publish(
        "hidden_challenges_verbs.csv",
        *(("n", "Charades-STA", "train", "spaCy", f"queries with the verb {verb}", n, "count") for verb, n in verbs),
    )
    publish(
        "hidden_challenges_blind.csv",
        ("n", "Charades-STA", "test", "Action-Aware Blind", "R@1,IoU=0.5", "28.06", "percent"),
    )
    summed, by_verb, both, blind = reproduce("verb-engine", small_data)
    assert (summed.published, summed.printed, summed.unit) == (20, 20, "count")
    assert (by_verb.ours, by_verb.unit) == (pytest.approx(20.0), "percent")
    assert by_verb.reason == "ours (theirs): open 20 (18), sit 0 (2)"
    assert (both.published, both.printed, both.reason) == (2, 1, "theirs alone: sit; ours alone: none")
    assert (blind.method, blind.status) == ("Action-Aware Blind, their 50 verbs", "informational")


def test_coverage(publish, small_data):
    # One verb only: the most frequent ones cover all.
    publish("verb_coverage.csv", ("text", "Charades-STA", "all", "", "share of verbs", "93.2", "percent"))
    (row,) = reproduce("verb-coverage", small_data)
    assert (row.ours, row.status) == (100.0, "outside")


def test_engine_of_some_verbs():
    engine = OnlyVerbs(get_engine(), {"open", "sit"})
    assert verbs_of(["A person opens the door, walks in and sits down."], engine) == [("open", "sit")]
    assert engine.name == f"{get_engine().name}, 2 verbs"


def test_a_missing_dataset(publish, small_data):
    publish("closer_look_table1.csv", ("Table 1", "Charades-CD", "test-ood", "", "videos", 2, "count"))
    with pytest.raises(MissingFileError, match=r"charades_test_ood\.json is missing"):
        reproduce("closer-look-1", small_data)
