"""Ambiguity: figures and rankings under noisy labels, against evaluate() and slow loops."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from truemoment import Annotations, Predictions, parse_measures
from truemoment.base.errors import InputError, MeasureError, ProtocolError, UsageError
from truemoment.base.intervals import Floats
from truemoment.evaluation.evaluate import evaluate
from truemoment.studies.meta.ambiguity import NoiseLevel, ambiguity
from truemoment.studies.meta.noise import PublishedNoise, ShiftNoise

nan = float("nan")
MEASURES = "R@1,IoU=0.3; FalseAbstention; AxIoU@5; mAP; R@1,IoU=0.5,length=short; mIoU[ref=rows]; SetIoU"


@dataclass(frozen=True)
class Known:
    """Noise that is known: every set moves all labels by one number of seconds, start and end alike."""

    by_s: tuple[float, ...]
    name: str = "known"
    level: str = "known"
    source: str = ""

    def draw(self, annotations: Annotations, rngs: Sequence[np.random.Generator]) -> tuple[Floats, Floats]:
        by_s = np.array(self.by_s)[: len(rngs), None]
        return annotations.start_s + by_s, annotations.end_s + by_s


@pytest.fixture(scope="module")
def annotations(world) -> Annotations:
    return world(1).annotations


@pytest.fixture(scope="module")
def answers(world) -> dict[str, Predictions]:
    """Three systems: answers of worlds whose queries have the same ids."""
    return {f"system {seed}": world(seed).predictions for seed in (1, 2, 3)}


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


# ------------------------------------------------------------------------------- figures


@pytest.mark.parametrize("protocol", [None, "closer-look", "hidden-challenges", "default,missing=drop"])
def test_figures_are_those_of_evaluate_on_the_noisy_labels(annotations, answers, protocol) -> None:
    """The labels that a model draws are drawn once more here, from the seeds that the study takes of its generator."""
    models = [ShiftNoise(1), ShiftNoise(4)]
    found = ambiguity(annotations, answers, models, rng(), measures=MEASURES, protocol=protocol, sets=3)
    assert found.names == tuple(answers)
    assert found.measures == parse_measures(MEASURES)
    assert (found.model, found.sets, len(found.levels)) == ("shift", 3, 2)

    def figures(of: Annotations) -> list[list[float]]:
        every = [evaluate(of, predictions, MEASURES, protocol) for predictions in answers.values()]
        return [[scores.value(measure) for measure in found.measures] for scores in every]

    np.testing.assert_allclose(found.original, figures(annotations), rtol=0, atol=1e-14)
    seeds = rng().integers(1 << 62, size=3)
    for model, level in zip(models, found.levels, strict=True):
        start_s, end_s = model.draw(annotations, [np.random.default_rng(seed) for seed in seeds])
        assert (level.model, level.level) == (model.name, model.level)
        np.testing.assert_array_equal(level.original, found.original)
        for n in range(3):
            noisy = dataclasses.replace(annotations, start_s=start_s[n], end_s=end_s[n])
            np.testing.assert_allclose(level.figures[n], figures(noisy), rtol=0, atol=1e-14)


def test_ious_are_told_over_sets_and_labels() -> None:
    """By hand: labels of 10 s moved by 0, 2 and 5 s overlap with 1, 2/3 and 1/3; the one without a moment is none."""
    annotations = Annotations.from_rows(
        [("v#0", "v", 60.0, "a", 10.0, 20.0), ("v#1", "v", 60.0, "b", nan, nan), ("v#2", "v", 60.0, "c", 30.0, 35.0)]
    )
    predictions = Predictions.from_lists({"v#0": [(10.0, 20.0)]})
    found = ambiguity(
        annotations, {"a": predictions, "b": predictions}, [Known((0.0, 2.0, 5.0))], rng(), measures="mIoU", sets=3
    )
    level = found.levels[0]
    ten, five = (1, 8 / 12, 5 / 15), (1, 3 / 7, 0)
    assert level.mean_iou == pytest.approx((sum(ten) + sum(five)) / 6)
    assert level.median_iou == pytest.approx((8 / 12 + 3 / 7) / 2)
    # One of two queries that count is answered, and its label moves.
    assert level.figures[:, 0, 0].tolist() == pytest.approx([value / 2 for value in ten])


@pytest.mark.parametrize("model", [ShiftNoise(0), Known((0.0,) * 4)])
def test_no_noise_changes_nothing(annotations, answers, model) -> None:
    measures = "R@1,IoU=0.3; AxIoU@5; mAP; FalseAbstention"
    found = ambiguity(annotations, answers, [model], rng(), measures=measures, sets=4)
    level = found.levels[0]
    ordered = [len(set(found.original[:, m].round(12))) == 3 for m in range(4)]
    assert sum(ordered) >= 2  # else there would be nothing to keep
    assert (level.rmse == 0).all()
    assert (level.bias == 0).all()
    assert (level.flips[:, ordered] == 0).all()
    assert level.tau[ordered].tolist() == [1.0] * sum(ordered)


def test_empty_labels_have_no_overlap_with_themselves() -> None:
    """An empty moment overlaps nothing (Closer Look, section 3.2), itself included: told so, without a warning."""
    annotations = Annotations.from_rows([("v#0", "v", 60.0, "a", 5.0, 5.0), ("v#1", "v", 60.0, "b", 10.0, 20.0)])
    predictions = Predictions.from_lists({"v#0": [(1.0, 2.0)]})
    found = ambiguity(
        annotations,
        {"a": predictions, "b": predictions},
        [PublishedNoise(0), PublishedNoise(1)],
        rng(),
        measures="mIoU",
    )
    assert 0 < found.levels[0].mean_iou < 0.5
    assert found.sets == 100


def test_levels_are_from_the_same_draws(annotations, answers) -> None:
    """The same level twice gives the same figures: levels differ by their noise alone."""
    found = ambiguity(annotations, answers, [ShiftNoise(2), ShiftNoise(2)], rng(), measures="mIoU; AxIoU@5", sets=5)
    np.testing.assert_array_equal(found.levels[0].figures, found.levels[1].figures)


@pytest.mark.parametrize("workers", [2, 3, None])
def test_is_the_same_for_any_number_of_workers(annotations, answers, workers) -> None:
    models = [PublishedNoise(1), PublishedNoise(2), PublishedNoise(3)]
    one, many = (
        ambiguity(annotations, answers, models, rng(), measures=MEASURES, sets=4, workers=n) for n in (1, workers)
    )
    np.testing.assert_array_equal(one.original, many.original)
    for a, b in zip(one.levels, many.levels, strict=True):
        np.testing.assert_array_equal(a.figures, b.figures)
        assert (a.mean_iou, a.median_iou, a.level) == (b.mean_iou, b.median_iou, b.level)


def test_seeds_draw_differently(annotations, answers) -> None:
    one, two, again = (
        ambiguity(annotations, answers, [ShiftNoise(2)], np.random.default_rng(seed), measures="AxIoU@5", sets=3)
        for seed in (1, 2, 1)
    )
    np.testing.assert_array_equal(one.levels[0].figures, again.levels[0].figures)
    assert (one.levels[0].figures != two.levels[0].figures).any()
    figures = one.levels[0].figures[:, :, 0]
    assert all((a != b).any() for a, b in combinations(figures, 2))  # sets too


# ------------------------------------------------------------------------------------- what becomes of them


def a_level(seed: int, *, n_sets: int = 9, n_systems: int = 4, levels: int = 6) -> NoiseLevel:
    """Figures of three measures, of the last of which less is better; few values, so that systems tie."""
    draws = np.random.default_rng(seed)
    original = draws.integers(levels, size=(n_systems, 3)) / 10
    figures = original + draws.integers(-1, 2, size=(n_sets, n_systems, 3)) / 10
    return NoiseLevel("shift", "variance 1 s²", 0.8, 0.8, original, figures, np.array([1.0, 1.0, -1.0]))


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(2, 8))
def test_errors_flips_and_tau_are_the_slow_loops(seed, n_systems, levels) -> None:
    level = a_level(seed, n_systems=n_systems, levels=levels)
    n_sets = len(level.figures)
    pairs = list(combinations(range(n_systems), 2))
    assert level.rmse.shape == level.bias.shape == (n_systems, 3)
    assert level.flips.shape == (len(pairs), 3)
    for m in range(3):
        before = level.original[:, m]
        for s in range(n_systems):
            errors = [float(level.figures[n, s, m]) - float(before[s]) for n in range(n_sets)]
            assert level.rmse[s, m] == pytest.approx(math.sqrt(sum(e * e for e in errors) / n_sets), abs=1e-12)
            assert level.bias[s, m] == pytest.approx(sum(errors) / n_sets, abs=1e-12)
        for p, (i, j) in enumerate(pairs):
            was = round(float(before[i] - before[j]), 9)
            now = [round(float(of[i, m] - of[j, m]), 9) for of in level.figures]
            expected = nan if was == 0 else sum(was * difference < 0 for difference in now) / n_sets
            assert level.flips[p, m] == pytest.approx(expected, abs=1e-12, nan_ok=True)
        taus = [float(kendalltau(before.round(9), of[:, m].round(9)).statistic) for of in level.figures]
        expected = sum(0 if math.isnan(tau) else tau for tau in taus) / n_sets
        assert level.tau[m] == pytest.approx(expected, abs=1e-12)


def test_relative_error_is_in_deviations_of_the_systems() -> None:
    """By hand: figures 0.2 and 0.4 lie 0.1 about their mean; errors of 0.1 and of 0.3 are 2 of these in the mean."""
    original = np.array([[0.2], [0.4]])
    figures = original + np.array([[[0.1], [0.3]], [[-0.1], [-0.3]]])
    level = NoiseLevel("shift", "", 0.8, 0.8, original, figures, np.ones(1))
    assert level.rmse.ravel().tolist() == pytest.approx([0.1, 0.3])
    assert level.bias.ravel().tolist() == pytest.approx([0, 0])
    assert level.relative_rmse.tolist() == pytest.approx([2.0])
    assert level.error.shape == (2, 2, 1)


@pytest.mark.parametrize("figure", [0.0, 0.5, 0.1, 0.7])  # the deviation of three 0.1 is 1e-17 in float64, not 0
def test_relative_error_is_undefined_where_all_systems_are_equal(figure) -> None:
    original = np.full((3, 1), figure)
    level = NoiseLevel("shift", "", 0.8, 0.8, original, np.stack([original + 0.02] * 2), np.ones(1))
    assert math.isnan(level.relative_rmse[0])
    assert np.isnan(level.flips).all()


def test_mean_of_flips_leaves_ties_out() -> None:
    """By hand: pair 01 ties as it is; of the others 02 turns in one set of two, and 12 ties there."""
    original = np.array([[0.5, 0.5], [0.5, 0.5], [0.2, 0.5]])
    level = NoiseLevel("shift", "", 0.8, 0.8, original, np.stack([original, original[::-1]]), np.ones(2))
    np.testing.assert_array_equal(level.mean_flips, [0.25, nan])


def test_lower_is_better_turns_rankings_not_flips(annotations, answers) -> None:
    """Changing places does not hang on which end is better."""
    level = a_level(5)
    turned = dataclasses.replace(level, direction=-level.direction)
    np.testing.assert_array_equal(level.flips, turned.flips)
    np.testing.assert_array_equal(level.tau, turned.tau)
    found = ambiguity(annotations, answers, [ShiftNoise(1)], rng(), measures="mIoU; FalseAbstention", sets=2)
    assert found.levels[0].direction.tolist() == [1, -1]


# ------------------------------------------------------------------------------------------- refusals


def test_refuses_what_is_no_study(annotations, answers) -> None:
    shift = ShiftNoise(1)

    def study(of=answers, models=(shift,), **more: object) -> None:
        ambiguity(annotations, of, models, rng(), **({"measures": "mIoU", "sets": 2} | more))

    study()
    for said, arguments in (
        ("got systems: 0,", {"of": {}}),
        ("levels of noise: 0;", {"models": ()}),
        ("got published, shift, expected levels of one model", {"models": (shift, PublishedNoise(1))}),
        ("got 1 noisy sets, expected 2 or more", {"sets": 1}),
        ("expected 1 or more", {"workers": 0}),
    ):
        with pytest.raises(UsageError, match=said):
            study(**arguments)
    for kind, arguments in (
        (MeasureError, {"measures": "nonsense"}),
        (MeasureError, {"measures": "HL-mAP,min=Good"}),
        (MeasureError, {"measures": ()}),
        (ProtocolError, {"protocol": "nonsense"}),
        (ProtocolError, {"protocol": "default,missing=refuse"}),
        (InputError, {"of": dict.fromkeys("ab", Predictions.from_lists({"z#0": [(1.0, 2.0)]}))}),
    ):
        with pytest.raises(kind):
            study(**arguments)


def test_measures_may_be_values(annotations, answers) -> None:
    """Text and values give the same; each measure stands once however often it is asked for in words."""
    as_text = ambiguity(annotations, answers, [ShiftNoise(1)], rng(), measures="mIoU; AxIoU@5; mIoU", sets=2)
    values = parse_measures("mIoU; AxIoU@5")
    as_values = ambiguity(annotations, answers, [ShiftNoise(1)], rng(), measures=values, sets=2)
    assert as_text.measures == as_values.measures == values
    np.testing.assert_array_equal(as_text.levels[0].figures, as_values.levels[0].figures)


def test_says_where_a_model_was_learned(annotations, answers) -> None:
    @dataclass(frozen=True)
    class Learned(Known):
        source: str = "people/test"

    found = ambiguity(annotations, answers, [Learned((0.0, 1.0))], rng(), measures="mIoU", sets=2)
    assert found.source == "people/test"
    assert ambiguity(annotations, answers, [ShiftNoise(1)], rng(), measures="mIoU", sets=2).source == ""
