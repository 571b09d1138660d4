"""Ties: on how many queries all systems score the same, held against a loop over queries and pairs."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest

from truemoment import get_protocol, parse_measures
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import as_strings
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import interval95
from truemoment.studies.meta.systems import Systems
from truemoment.studies.meta.ties import Ties, ties


def systems_of(numerator: Floats, weight: Floats | None = None, measures: str = "R@1,IoU=0.5; mIoU") -> Systems:
    """Systems of numerators and weights (S, M, Q); three queries a video."""
    parsed = parse_measures(measures)
    weight = np.ones_like(numerator) if weight is None else weight
    n_queries = numerator.shape[2]
    return Systems(
        {
            f"s{number}": Scores(
                measures=parsed,
                protocol=get_protocol("default"),
                query_id=as_strings([f"q{at}" for at in range(n_queries)], "query_id"),
                video_id=as_strings([f"v{at % (n_queries // 3)}" for at in range(n_queries)], "video_id"),
                numerator=numerator[number],
                weight=weight[number],
                on_threshold=np.full(len(parsed), -1),
            )
            for number in range(len(numerator))
        }
    )


def drawn(seed: int, *, n_systems: int = 4) -> Systems:
    """Hits, and coarse values that tie now and then; some queries without weight, for all systems or for some."""
    rng = np.random.default_rng(seed)
    weight = (rng.random((n_systems, 2, 30)) < 0.95).astype(np.float64)
    weight[:, :, :3] = 0
    numerator = np.stack([rng.integers(0, 2, (n_systems, 30)), rng.integers(0, 3, (n_systems, 30)) / 2], axis=1)
    return systems_of(numerator * weight, weight)


def study(systems: Systems, seed: int = 0, resamples: int = 50) -> Ties:
    return ties(systems, np.random.default_rng(seed), resamples=resamples)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_systems", [2, 4, 7])
def test_shares_are_those_of_a_loop_over_queries_and_pairs(seed, n_systems):
    systems = drawn(seed, n_systems=n_systems)
    found = study(systems)
    for row in range(2):
        all_tied, zero, one, pairs, counted = 0, 0, 0, 0.0, 0
        for query in range(30):
            values = [
                scores.numerator[row, query] / scores.weight[row, query] if scores.weight[row, query] else None
                for scores in systems.scores.values()
            ]
            if all(value is None for value in values):
                continue
            counted += 1
            tied = [a is not None and b is not None and abs(a - b) <= 1e-12 for a, b in combinations(values, 2)]
            pairs += sum(tied) / len(tied)
            all_tied += all(tied)
            zero += all(tied) and values[0] == 0
            one += all(tied) and values[0] == 1
        assert found.n_queries[row] == counted
        assert found.all_tied[row] == pytest.approx(all_tied / counted, abs=1e-15)
        assert found.at_zero[row] == pytest.approx(zero / counted, abs=1e-15)
        assert found.at_one[row] == pytest.approx(one / counted, abs=1e-15)
        assert found.pairs_tied[row] == pytest.approx(pairs / counted, abs=1e-15)


def test_the_interval_is_that_of_the_share_as_a_measure_of_its_own():
    systems = drawn(1)
    found = study(systems, resamples=400)
    values = np.stack([scores.numerator for scores in systems.scores.values()])
    weight = np.stack([scores.weight for scores in systems.scores.values()])
    counts = weight.any(axis=0)
    tied = (values == values[0]).all(axis=0) & weight.all(axis=0)
    videos = systems.first.video_id
    rng = np.random.default_rng(7)
    drawn_shares = []
    for _ in range(400):
        rows = np.concatenate([np.flatnonzero(videos == video) for video in rng.choice(np.unique(videos), 10)])
        drawn_shares.append(tied[:, rows].sum(axis=1) / counts[:, rows].sum(axis=1))
    # Two independent sets of 400 resamples: quantiles of a share that varies by some 0.05 to 0.1.
    assert found.interval == pytest.approx(interval95(np.array(drawn_shares)), abs=0.04)
    assert (found.interval[:, 0] <= found.all_tied).all()
    assert (found.all_tied <= found.interval[:, 1]).all()


def test_the_order_of_the_systems_does_not_matter():
    systems = drawn(2)
    turned = Systems(dict(reversed(systems.scores.items())))
    for name in ("all_tied", "interval", "at_zero", "at_one", "pairs_tied"):
        assert getattr(study(systems), name).tolist() == getattr(study(turned), name).tolist()


def test_a_copy_of_a_system_changes_no_all_tied_share():
    systems = drawn(3)
    with_copy = Systems({**systems.scores, "copy": systems.scores["s1"]})
    assert study(with_copy).all_tied.tolist() == study(systems).all_tied.tolist()
    assert (study(with_copy).pairs_tied > study(systems).pairs_tied).all()


def test_a_system_more_never_raises_the_share():
    systems = drawn(4, n_systems=6)
    shares = [study(Systems(dict(list(systems.scores.items())[:count]))).at_one for count in range(2, 7)]
    assert (np.diff(shares, axis=0) <= 0).all()
    assert shares[0][0] > shares[-1][0]


def test_copies_tie_on_every_query():
    scores = systems_of(np.random.default_rng(0).random((2, 2, 30))).first
    found = study(Systems({"a": scores, "b": scores, "c": scores}))
    assert found.all_tied.tolist() == found.pairs_tied.tolist() == [1, 1]
    assert found.interval.tolist() == [[1, 1], [1, 1]]


def test_values_as_close_as_rounding_tie_and_others_do_not():
    values = np.full((2, 2, 30), 0.1 + 0.2)  # 0.30000000000000004
    values[1, 0] = 0.3
    values[1, 1] = 0.3 + 1e-9
    assert study(systems_of(values)).all_tied.tolist() == [1, 0]


def test_a_measure_without_weight_has_no_share():
    values = np.ones((2, 2, 30))
    weight = np.ones_like(values)
    weight[:, 1] = 0
    found = study(systems_of(values * weight, weight))
    assert np.isnan([found.all_tied[1], found.pairs_tied[1], *found.interval[1]]).all()
    assert found.n_queries.tolist() == [30, 0]


def test_the_same_seed_gives_the_same_intervals():
    systems = drawn(5)
    assert study(systems, 1).interval.tolist() == study(systems, 1).interval.tolist()
    assert study(systems, 1).interval.tolist() != study(systems, 2).interval.tolist()


def test_too_few_resamples_are_refused():
    with pytest.raises(UsageError, match="got 1 resamples, expected 2 or more"):
        study(drawn(0), resamples=1)


def test_other_queries_are_refused():
    systems = drawn(0)
    other = dataclasses.replace(systems.first, split="val")
    with pytest.raises(UsageError, match="scores 1 have split val"):
        Systems({"a": systems.first, "b": other})
