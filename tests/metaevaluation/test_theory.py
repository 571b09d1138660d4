"""Errors under noise of the IoU: closed forms from the formulas and SciPy, simulation against closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from truemoment.base.errors import UsageError
from truemoment.studies.meta.theory import (
    GAMMAS,
    THRESHOLDS,
    Errors,
    cut_axiou_errors,
    discounted_recall,
    noisy_lists,
    normal_cdf,
    recall_errors,
    theory,
)

DRAWS = 20_000
TOLERANCE_SE = 4
"""Of a comparison with a seed chosen blindly one in 16,000 is farther off."""


@pytest.fixture(scope="module")
def result():
    return theory(np.random.default_rng(7), draws=DRAWS)


def within_flips(simulated, exact, draws=DRAWS):
    """Shares of flips: binomial standard errors of the closed form, and one flip where less than one is expected."""
    return np.abs(simulated - exact) <= TOLERANCE_SE * np.sqrt(exact * (1 - exact) / draws) + 1 / draws


# -------------------------------------------------------------------------------------- closed form


def test_normal_distribution_is_scipys():
    x = np.linspace(-30, 10, 401)
    np.testing.assert_allclose(normal_cdf(x), norm.cdf(x), rtol=1e-12)


@given(st.floats(0, 1), st.floats(0.01, 1), st.floats(0, 1))
def test_recall_has_the_errors_of_the_papers_formulas(iou, gamma, threshold):
    """AxIoU paper, appendix C: bias P(r' >= theta) - 1{r >= theta}, variance P(r' >= theta) P(r' < theta)."""
    p = norm.sf(threshold, loc=iou, scale=gamma)
    truth = 1.0 if iou >= threshold - 1e-9 else 0.0
    found = recall_errors(iou, np.array(gamma), np.array(threshold))
    assert found.bias == pytest.approx(p - truth, abs=1e-12)
    assert found.variance == pytest.approx(p * (1 - p), abs=1e-12)
    assert found.mse == pytest.approx((p - truth) ** 2 + p * (1 - p), abs=1e-12)


@given(st.floats(0, 1), st.floats(0.01, 1), st.floats(0, 1))
def test_the_squared_error_of_recall_is_the_chance_of_a_flip(iou, gamma, threshold):
    """Bias squared and variance of an observation of 0 or 1 add up to the probability that it is wrong."""
    p = norm.sf(threshold, loc=iou, scale=gamma)
    flip = 1 - p if iou >= threshold - 1e-9 else p
    assert recall_errors(iou, np.array(gamma), np.array(threshold)).mse == pytest.approx(flip, abs=1e-12)


def test_axiou_is_unbiased_with_the_variance_of_the_noise(result):
    """AxIoU paper, appendix C."""
    assert (result.axiou.bias == 0).all()
    np.testing.assert_array_equal(result.axiou.variance, np.square(GAMMAS))
    np.testing.assert_array_equal(result.axiou.mse, np.square(GAMMAS))


def test_recall_errs_most_where_the_threshold_is_the_iou(result):
    """The paper: a severe error even with small noise, where the threshold is close to r = 0.5."""
    at = THRESHOLDS.index(0.5)
    np.testing.assert_allclose(result.recall.mse[:, at], 0.5)
    assert (result.recall.mse.argmax(axis=1) == at).all()
    assert (result.recall.mse[:, at] > result.axiou.mse).all()


@pytest.mark.parametrize("iou", [0.0, 0.02, 0.3, 0.5, 0.93, 1.0])
@pytest.mark.parametrize("gamma", [0.03, 0.1, 0.5, 2.0])
def test_cut_noise_has_the_moments_of_an_integral(iou, gamma):
    """Mean and second moment by SciPy's quadrature inside [0, 1], with the mass beyond it at the ends."""

    def moment(power):
        inside = quad(lambda x: x**power * norm.pdf(x, iou, gamma), 0, 1, points=[iou], epsabs=1e-13)[0]
        return inside + norm.sf(1, iou, gamma)

    found = cut_axiou_errors(np.array(iou), np.array(gamma))
    assert found.bias == pytest.approx(moment(1) - iou, abs=1e-10)
    assert found.variance == pytest.approx(moment(2) - moment(1) ** 2, abs=1e-10)


def test_cut_noise_drives_inwards():
    """At an IoU of 0 the mean of the positive half of the noise stays: gamma / sqrt(2 pi) = 0.0399 for 0.1."""
    ious = np.array([0.0, 0.5, 1.0])
    found = cut_axiou_errors(ious, np.array(0.1))
    np.testing.assert_allclose(found.bias, [0.1 / math.sqrt(2 * math.pi), 0, -0.1 / math.sqrt(2 * math.pi)], atol=1e-7)
    assert (found.variance <= 0.1**2 + 1e-12).all()


# --------------------------------------------------------------------------------------- simulation


def test_simulated_recall_is_the_closed_form(result):
    assert within_flips(result.simulated_recall.mse, result.recall.mse).all()
    off = np.abs(result.simulated_recall.bias - result.recall.bias)
    assert (off <= TOLERANCE_SE * np.sqrt(result.recall.variance / DRAWS) + 1 / DRAWS).all()


@pytest.mark.parametrize("part", ["bias", "variance", "mse"])
def test_simulated_axiou_is_the_closed_form(result, part):
    for simulated, exact in (
        (result.simulated_axiou, result.axiou),
        (result.cut.simulated_axiou, result.cut.axiou),
    ):
        off = np.abs(getattr(simulated, part) - getattr(exact, part))
        assert (off <= TOLERANCE_SE * getattr(simulated, f"{part}_se")).all()


def test_standard_errors_are_those_of_means_over_draws():
    """Four errors 1, 1, -1, 3: mean 1, squared 1, 1, 1, 9; by hand."""
    found = Errors.from_draws(np.array([1.0, 1.0, -1.0, 3.0]))
    assert (found.bias, found.variance, found.mse) == (1.0, 2.0, 3.0)
    assert found.bias_se == pytest.approx(math.sqrt(2.0) / 2)
    assert found.variance_se == pytest.approx(2.0 / 2)  # 0, 0, 4, 4 about 2
    assert found.mse_se == pytest.approx(math.sqrt(12) / 2)  # 1, 1, 1, 9 about 3


def test_squared_bias_and_variance_add_up(result):
    for errors in (result.simulated_recall, result.lists.axiou, result.lists.recall, result.discounted.errors):
        np.testing.assert_allclose(errors.bias**2 + errors.variance, errors.mse, atol=1e-12)


# -------------------------------------------------------------------------------------------- lists


def test_with_noise_of_its_own_recall_of_a_list_is_a_product(result):
    """P(max < theta) is the product of P(r_k + noise < theta) over ranks, each by SciPy."""
    lists = result.lists
    for g, gamma in enumerate(result.gammas):
        misses = np.cumprod(norm.cdf(lists.thresholds, lists.ious[:, None], gamma), axis=0)
        exact = np.where(lists.true_recall > 0, misses, 1 - misses)
        assert within_flips(lists.recall.mse[g, 0], exact).all()


def test_with_noise_common_to_all_ranks_a_list_is_its_best_answer(result):
    """The order of the ranks stays, so AxIoU@K is unbiased with the noise's variance and R@K that of the best."""
    lists = result.lists
    common = list(lists.correlations).index(1.0)
    for g, gamma in enumerate(result.gammas):
        off = np.abs(lists.axiou.bias[g, common])
        assert (off <= TOLERANCE_SE * lists.axiou.bias_se[g, common]).all()
        np.testing.assert_allclose(lists.axiou.bias_se[g, common], gamma / math.sqrt(DRAWS), rtol=0.05)
        exact = recall_errors(lists.ious[0], np.array(gamma), lists.thresholds).mse
        assert within_flips(lists.recall.mse[g, common], exact).all()


def test_two_equal_answers_with_noise_of_their_own_gain_the_mean_of_the_larger():
    """The larger of two standard normals has mean 1 / sqrt(pi), so AxIoU@2 gains half of it; by the formula."""
    found = noisy_lists(np.array([0.4, 0.4]), np.array([0.1]), np.random.default_rng(0), draws=DRAWS)
    expected = 0.1 / math.sqrt(math.pi) / 2
    assert abs(found.axiou.bias[0, 0, 1] - expected) <= TOLERANCE_SE * found.axiou.bias_se[0, 0, 1]


def test_correlations_are_those_asked_for():
    """With two equal answers E max = gamma sqrt((1 - rho) / pi); the gain of AxIoU@2 is half of it."""
    for rho in (0.2, 0.8):
        found = noisy_lists(
            np.array([0.4, 0.4]), np.array([0.2]), np.random.default_rng(1), correlations=[rho], draws=DRAWS
        )
        expected = 0.2 * math.sqrt((1 - rho) / math.pi) / 2
        assert abs(found.axiou.bias[0, 0, 1] - expected) <= TOLERANCE_SE * found.axiou.bias_se[0, 0, 1]


def test_true_values_of_a_list_by_hand():
    """IoUs 0.2, 0.6, 0.4: bests 0.2, 0.6, 0.6, whose means so far are 0.2, 0.4, 1.4 / 3."""
    found = noisy_lists(np.array([0.2, 0.6, 0.4]), np.array([0.1]), np.random.default_rng(0), draws=10)
    np.testing.assert_allclose(found.true_axiou, [0.2, 0.4, 1.4 / 3])
    assert found.true_recall.tolist() == [[0, 0, 0], [1, 1, 0], [1, 1, 0]]  # at 0.3, 0.5, 0.7


def test_a_list_falls_evenly_from_the_iou(result):
    np.testing.assert_allclose(result.lists.ious, [0.5 * (10 - k) / 10 for k in range(10)])
    given_list = theory(np.random.default_rng(0), ious=[0.3, 0.9], draws=10)
    assert given_list.lists.ious.tolist() == [0.3, 0.9]


# ------------------------------------------------------------------------------------ discounted recall


def test_discounted_recall_is_that_of_shifted_moments():
    """Moments [0.2, 0.5] and [0.3, 0.6] of the video: IoU 0.2 / 0.4, both ends 0.1 off, so 0.9 squared."""
    assert discounted_recall(np.array(0.5), np.array(0.5), 0.3) == pytest.approx(0.81)
    assert discounted_recall(np.array(0.49), np.array(0.5), 0.3) == 0
    assert discounted_recall(np.array(1.0), np.array(0.5), 0.3) == 1


def test_simulated_discounted_recall_is_an_integral(result):
    """Mean and mean squared error by SciPy's quadrature over the noise, cut to [0, 1]."""
    length, iou = result.discounted.length_norm, result.iou
    truth = (1 - length * (1 - iou) / (1 + iou)) ** 2
    for g, gamma in enumerate(result.gammas):
        for threshold in (0.3, 0.5, 0.7):
            t = THRESHOLDS.index(threshold)
            true = truth if iou >= threshold else 0.0

            def squared_error(x, threshold=threshold, true=true, gamma=gamma):
                value = (1 - length * (1 - x) / (1 + x)) ** 2 if x >= threshold else 0.0
                return (value - true) ** 2 * norm.pdf(x, iou, gamma)

            inside = quad(squared_error, 0, 1, points=[threshold, iou], epsabs=1e-12)[0]
            exact = inside + true**2 * norm.cdf(0, iou, gamma) + (1 - true) ** 2 * norm.sf(1, iou, gamma)
            errors = result.discounted.errors
            assert abs(errors.mse[g, t] - exact) <= TOLERANCE_SE * errors.mse_se[g, t] + 1 / DRAWS


# ------------------------------------------------------------------------------------------ refusals


def test_the_same_seed_gives_the_same_result():
    one, other = (theory(np.random.default_rng(3), draws=50) for _ in range(2))
    np.testing.assert_array_equal(one.simulated_recall.mse, other.simulated_recall.mse)
    np.testing.assert_array_equal(one.lists.axiou.bias, other.lists.axiou.bias)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"iou": 1.5}, "got an IoU of 1.5, expected 0 to 1"),
        ({"iou": math.nan}, "got an IoU of nan, expected 0 to 1"),
        ({"ious": [0.5, -1.0]}, "got an IoU of -1, expected 0 to 1"),
        ({"ious": []}, "got an empty list of IoUs"),
        ({"ious": 0}, "got an empty list of IoUs"),
        ({"gammas": [0.0]}, "got noise of 0, expected standard deviations from 1e-06"),
        ({"gammas": []}, "got no noise"),
        ({"thresholds": []}, "got no thresholds"),
        ({"thresholds": [2.0]}, "got a threshold of 2, expected 0 to 1"),
        ({"length_norm": 0.0}, "got a length of 0 of the video"),
        ({"draws": 1}, "got 1 draws of 10 answers, expected 2 or more"),
        ({"draws": 2_000_000}, "got 2000000 draws of 10 answers, expected 2 or more, 10,000,000 numbers at most"),
    ],
)
def test_numbers_out_of_their_range_are_refused(words, problem):
    with pytest.raises(UsageError, match=problem):
        theory(np.random.default_rng(0), **words)
