"""Systems: what is set side by side, and the sums that every study starts from."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from truemoment import parse_measures
from truemoment.base.errors import UsageError
from truemoment.evaluation.evaluate import evaluate
from truemoment.studies.meta.systems import DEFAULT_MEASURES, Systems, figures_of

MEASURES = "R@1,IoU=0.3; FalseAbstention; R@5,IoU=0.5,length=short; AxIoU@5"


@pytest.fixture(scope="module")
def systems(world) -> Systems:
    """Two systems: the answers of two worlds whose queries have the same ids, held against the first's references."""
    annotations = world(1).annotations
    found = {name: evaluate(annotations, world(seed).predictions, MEASURES) for name, seed in (("a", 1), ("b", 2))}
    return Systems(found)


def test_says_who_is_there(systems) -> None:
    assert len(systems) == 2
    assert systems.names == ("a", "b")
    assert systems.measures == parse_measures(MEASURES)
    assert systems.first is systems.scores["a"]


def test_direction_is_down_for_what_should_be_low(systems) -> None:
    """FalseAbstention is the one of these of which less is better (measures/abstention.py)."""
    assert systems.direction.tolist() == [1, -1, 1, 1]


def test_figures_are_those_of_the_scores(systems) -> None:
    expected = [[scores.value(str(m)) for m in systems.measures] for scores in systems.scores.values()]
    np.testing.assert_array_equal(systems.figures, expected)


def test_units_are_queries(systems) -> None:
    numerator, weight = systems.units("query")
    n_queries = len(systems.first)
    assert numerator.shape == weight.shape == (n_queries, 2, 4)
    for s, scores in enumerate(systems.scores.values()):
        for m in range(4):
            assert numerator[:, s, m].tolist() == scores.numerator[m].tolist()
            assert weight[:, s, m].tolist() == scores.weight[m].tolist()


def test_units_are_videos_in_the_order_in_which_they_come(systems) -> None:
    numerator, weight = systems.units("video")
    videos = list(dict.fromkeys(systems.first.video_id.tolist()))
    assert numerator.shape == weight.shape == (len(videos), 2, 4)
    for v, video in enumerate(videos):
        of = [at for at, one in enumerate(systems.first.video_id) if one == video]
        for s, scores in enumerate(systems.scores.values()):
            for m in range(4):
                assert numerator[v, s, m] == pytest.approx(sum(scores.numerator[m, at] for at in of), abs=1e-12)
                assert weight[v, s, m] == sum(scores.weight[m, at] for at in of)


@pytest.mark.parametrize("unit", ["query", "video"])
def test_sums_over_all_units_give_the_figures(systems, unit) -> None:
    numerator, weight = systems.units(unit)
    np.testing.assert_allclose(figures_of(numerator.sum(axis=0), weight.sum(axis=0)), systems.figures, atol=1e-12)


def test_figures_without_weight_are_undefined() -> None:
    found = figures_of(np.array([[1.0, 0.0, 3.0]]), np.array([[2.0, 0.0, 4.0]]))
    np.testing.assert_array_equal(found, [[0.5, np.nan, 0.75]])
    np.testing.assert_array_equal(figures_of(np.ones((2, 3)), np.array([[2.0], [0.0]])), [[0.5] * 3, [np.nan] * 3])


def test_refuses_fewer_than_two(systems) -> None:
    with pytest.raises(UsageError, match=r"got one system \(a\), expected two or more"):
        Systems({"a": systems.scores["a"]})
    with pytest.raises(UsageError, match=r"got no system, expected two or more"):
        Systems({})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"measures": parse_measures("mIoU; SetIoU; R@5,IoU=0.5; AxIoU@5")}, "measures"),
        ({"split": "train"}, "split"),
        ({"annotations_sha256": "f" * 64}, "annotations"),
    ],
)
def test_refuses_what_cannot_be_compared(systems, change, said) -> None:
    other = dataclasses.replace(systems.scores["b"], **change)
    with pytest.raises(UsageError, match=said):
        Systems({"a": systems.scores["a"], "b": other})


def test_default_measures_are_the_papers_twelve_and_discounted_recall() -> None:
    """AxIoU paper, section 6.2: R@K at three thresholds and AxIoU@K for K = 1, 5, 10."""
    names = {str(measure) for measure in parse_measures(DEFAULT_MEASURES)}
    papers = {f"R@{k},IoU={theta}" for k in (1, 5, 10) for theta in (0.3, 0.5, 0.7)} | {
        f"AxIoU@{k}" for k in (1, 5, 10)
    }
    assert names == papers | {"dR@1,IoU=0.5", "dR@1,IoU=0.7"}
    assert len(parse_measures(DEFAULT_MEASURES)) == 14
