r"""Bias, variance and mean squared error of measures under noise in the IoU, in closed form and simulated.

The true IoU r is observed as :math:`\hat r = r + \epsilon`, :math:`\epsilon \sim N(0, \gamma^2)`. The closed
forms for R@1 and AxIoU@1 (AxIoU, Togashi et al. 2022, appendix C, Fig. 10) are in ``docs/meta-theory.md``. Beyond the
paper:

* *Noise clipped to [0, 1].* With :math:`a = -r/\gamma`, :math:`b = (1 - r)/\gamma`,
  :math:`\Phi_{ab} = \Phi(b) - \Phi(a)`,

  .. math::

     E[\hat r] &= r\,\Phi_{ab} + \gamma\,(\varphi(a) - \varphi(b)) + 1 - \Phi(b) \\
     E[\hat r^2] &= (r^2 + \gamma^2)\,\Phi_{ab} + 2 r \gamma\,(\varphi(a) - \varphi(b))
                    + \gamma^2 (a\varphi(a) - b\varphi(b)) + 1 - \Phi(b)

* *Lists.* Noise that correlates by :math:`\rho` between ranks:
  :math:`\epsilon_k = \gamma (\sqrt\rho\, z_0 + \sqrt{1 - \rho}\, z_k)`. Simulated.
* *Discounted recall.* Prediction and reference of one length L, shifted by d = L (1 - r) / (1 + r): dR@1,IoU=θ is
  :math:`1\{r \ge \theta\} (1 - d)^2`. Simulated, with clipped noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import TIE, Floats, running_best
from truemoment.evaluation.uncertainty import normal_tail

GAMMAS = (0.05, 0.1, 0.2)
"""Standard deviations of the noise."""

THRESHOLDS = tuple(k / 20 for k in range(21))
"""Thresholds of R@1 and dR@1."""

LIST_THRESHOLDS = (0.3, 0.5, 0.7)
"""Thresholds of R@K, those of the paper."""

CORRELATIONS = (0.0, 0.5, 1.0)
"""Correlations of the noise between ranks: independent, half in common, the same at all."""

CUT_IOUS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""True IoUs for clipped noise."""

LEAST_NOISE = 1e-6
"""Minimum standard deviation of noise: below it, rounding errors are larger."""

MOST_NOISE = 10.0
"""Maximum standard deviation of noise; IoUs lie from 0 to 1."""

MOST_NUMBERS = 10_000_000
"""Maximum number of draws times answers: half a gigabyte."""

DRAWS = 20_000
"""Default number of draws of the noise."""

LENGTH_NORM = 0.3
"""Length of prediction and reference, as a share of the video, in the geometry of dR; about that of Charades-STA."""


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of an estimate: arrays of one shape, with Monte-Carlo standard errors where they are simulated.

    Parameters
    ----------
    bias, variance, mse
        Mean error, variance, and mean squared error (squared bias plus variance).
    bias_se, variance_se, mse_se
        Standard errors of the three; 0 in closed form.
    """

    bias: Floats
    variance: Floats
    mse: Floats
    bias_se: Floats
    variance_se: Floats
    mse_se: Floats

    @classmethod
    def exact(cls, bias: Floats, variance: Floats) -> Errors:
        """Return errors in closed form."""
        none = np.zeros(np.broadcast_shapes(np.shape(bias), np.shape(variance)))
        bias, variance = bias + none, variance + none
        return cls(bias, variance, bias**2 + variance, none, none, none)

    @classmethod
    def from_draws(cls, error: Floats) -> Errors:
        """Return the errors of N draws, shape (N, ...)."""
        bias, mse = error.mean(axis=0), (error**2).mean(axis=0)
        spread = (error - bias) ** 2
        root = math.sqrt(len(error))
        return cls(
            bias,
            spread.mean(axis=0),
            mse,
            error.std(axis=0) / root,
            spread.std(axis=0) / root,
            (error**2).std(axis=0) / root,
        )

    @classmethod
    def stack(cls, parts: Sequence[Errors]) -> Errors:
        """Return several errors along a new first axis."""
        names = ("bias", "variance", "mse", "bias_se", "variance_se", "mse_se")
        return cls(*(np.stack([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True, eq=False)
class CutNoise:
    """AxIoU@1 if the noisy IoU is clipped to [0, 1]: true IoUs (R,), errors (G, R)."""

    ious: Floats
    axiou: Errors
    simulated_axiou: Errors


@dataclass(frozen=True, eq=False)
class NoisyLists:
    """AxIoU@k and R@k of a list, for every k up to K, simulated.

    Parameters
    ----------
    ious : (K,)
        True IoUs, by rank.
    correlations : (C,)
        Of the noise between ranks.
    thresholds : (T,)
        Of R@k.
    true_axiou : (K,)
    axiou
        Errors, (G, C, K).
    true_recall : (K, T)
    recall
        Errors, (G, C, K, T).
    """

    ious: Floats
    correlations: Floats
    thresholds: Floats
    true_axiou: Floats
    axiou: Errors
    true_recall: Floats
    recall: Errors


@dataclass(frozen=True, eq=False)
class DiscountedErrors:
    """dR@1 of an answer of length `length_norm`, shifted: true values (T,), errors (G, T), simulated."""

    length_norm: float
    truth: Floats
    errors: Errors


@dataclass(frozen=True, eq=False)
class Theory:
    """Errors of measures under noise in the IoU; the docstring of this module describes the model.

    Parameters
    ----------
    iou
        True IoU of the answer.
    gammas : (G,)
        Standard deviations of the noise.
    thresholds : (T,)
        Of R@1 and dR@1.
    recall, axiou
        R@1, (G, T), and AxIoU@1, (G,), in closed form.
    simulated_recall, simulated_axiou
        The same, simulated.
    cut, lists, discounted
        Results beyond the paper.
    """

    iou: float
    gammas: Floats
    thresholds: Floats
    draws: int
    recall: Errors
    axiou: Errors
    simulated_recall: Errors
    simulated_axiou: Errors
    cut: CutNoise
    lists: NoisyLists
    discounted: DiscountedErrors


def theory(
    rng: np.random.Generator,
    *,
    iou: float = 0.5,
    gammas: Sequence[float] = GAMMAS,
    thresholds: Sequence[float] = THRESHOLDS,
    ious: Sequence[float] | int = 10,
    length_norm: float = LENGTH_NORM,
    draws: int = DRAWS,
) -> Theory:
    """Compute the errors of measures under noise of the IoU.

    `ious` are the true IoUs of a list, by rank; or its length K, of a list that falls evenly from `iou` to `iou` / K.
    `length_norm` is the length of prediction and reference in the geometry of dR, as a share of the video.
    """
    if not (ious if isinstance(ious, int) else len(ious)) >= 1:
        raise UsageError("got an empty list of IoUs, expected one or more")
    listed = [iou * (1 - k / ious) for k in range(ious)] if isinstance(ious, int) else list(ious)
    _check_ious([iou, *listed], thresholds)
    _check_noise(gammas, length_norm, draws, len(listed))
    noise, levels = rng.standard_normal(draws), np.array(gammas, dtype=np.float64)
    at, true_ious = np.array(thresholds, dtype=np.float64), np.array(listed, dtype=np.float64)
    noisy, cut = [iou + gamma * noise for gamma in levels], np.array(CUT_IOUS)
    noisy_cut = [Errors.from_draws(np.clip(cut + gamma * noise[:, None], 0, 1) - cut) for gamma in levels]
    return Theory(
        iou=iou,
        gammas=levels,
        thresholds=at,
        draws=draws,
        recall=recall_errors(iou, levels[:, None], at),
        axiou=Errors.exact(np.zeros_like(levels), levels**2),
        simulated_recall=Errors.stack(
            [Errors.from_draws((observed[:, None] >= at) - is_hit(iou, at).astype(np.float64)) for observed in noisy]
        ),
        simulated_axiou=Errors.stack([Errors.from_draws(observed - iou) for observed in noisy]),
        cut=CutNoise(cut, cut_axiou_errors(cut, levels[:, None]), Errors.stack(noisy_cut)),
        lists=noisy_lists(true_ious, levels, rng, draws=draws),
        discounted=_discounted(iou, levels, at, length_norm, noise),
    )


def is_hit(iou: Floats | float, threshold: Floats | float) -> Floats:
    """Return whether an IoU is at least the threshold, as in the paper, with a tolerance for rounding."""
    return np.asarray(np.asarray(iou) >= np.asarray(threshold) - TIE)


def normal_cdf(x: Floats) -> Floats:
    """Return the distribution function of the standard normal, accurate in its lower tail."""
    return normal_tail(-np.asarray(x))


def normal_density(x: Floats) -> Floats:
    """Return the density of the standard normal."""
    return np.asarray(np.exp(-(np.asarray(x) ** 2) / 2) / math.sqrt(math.tau))


def recall_errors(iou: float, gamma: Floats, threshold: Floats) -> Errors:
    r"""Return errors of R@1,IoU=θ in closed form: bias :math:`p - 1\{r \ge \theta\}`, variance :math:`p (1 - p)`."""
    lower, upper = normal_cdf((threshold - iou) / gamma), normal_cdf((iou - threshold) / gamma)  # 1 - p and p
    truth = is_hit(iou, threshold)
    return Errors.exact(np.where(truth, -lower, upper), lower * upper)


def cut_axiou_errors(iou: Floats, gamma: Floats) -> Errors:
    """Return errors of AxIoU@1 in closed form if the noisy IoU is clipped to [0, 1]; `iou` and `gamma` broadcast."""
    a, b = -iou / gamma, (1 - iou) / gamma
    share_inside, share_above = normal_cdf(b) - normal_cdf(a), normal_cdf(-b)
    slope = normal_density(a) - normal_density(b)
    mean = iou * share_inside + gamma * slope + share_above
    square = (iou**2 + gamma**2) * share_inside + 2 * iou * gamma * slope + share_above
    square = square + gamma**2 * (a * normal_density(a) - b * normal_density(b))
    return Errors.exact(mean - iou, np.maximum(square - mean**2, 0))


def noisy_lists(
    ious: Floats,
    gammas: Floats,
    rng: np.random.Generator,
    *,
    correlations: Sequence[float] = CORRELATIONS,
    thresholds: Sequence[float] = LIST_THRESHOLDS,
    draws: int = DRAWS,
) -> NoisyLists:
    """Simulate AxIoU@k and R@k of a list under noise that correlates between ranks (:class:`NoisyLists`).

    All `gammas` and correlations have the same draws of noise.
    """
    at = np.array(thresholds, dtype=np.float64)
    common, independent = rng.standard_normal((draws, 1)), rng.standard_normal((draws, len(ious)))
    true_best = running_best(ious[None])
    true_axiou, true_recall = _mean_so_far(true_best)[0], is_hit(true_best[0, :, None], at).astype(np.float64)
    axiou, recall = [], []
    for gamma in gammas:
        axious, recalls = [], []
        for rho in correlations:
            best = running_best(ious + gamma * (math.sqrt(rho) * common + math.sqrt(1 - rho) * independent))
            axious.append(Errors.from_draws(_mean_so_far(best) - true_axiou))
            by_threshold = [
                Errors.from_draws((best >= threshold) - true_recall[:, t]) for t, threshold in enumerate(at)
            ]
            recalls.append(Errors(*(np.moveaxis(table, 0, -1) for table in vars(Errors.stack(by_threshold)).values())))
        axiou.append(Errors.stack(axious))
        recall.append(Errors.stack(recalls))
    return NoisyLists(
        ious, np.array(correlations), at, true_axiou, Errors.stack(axiou), true_recall, Errors.stack(recall)
    )


def _mean_so_far(best: Floats) -> Floats:
    """Return AxIoU@k for every k, of running bests (N, K)."""
    return np.asarray(np.cumsum(best, axis=1) / np.arange(1, best.shape[1] + 1))


def discounted_recall(iou: Floats, threshold: Floats, length_norm: float) -> Floats:
    """Return dR@1 of a prediction that is shifted until its IoU is `iou`, 0 to 1; shapes broadcast."""
    shift_norm = length_norm * (1 - iou) / (1 + iou)
    return np.asarray(is_hit(iou, threshold) * (1 - shift_norm) ** 2)


def _discounted(iou: float, gammas: Floats, thresholds: Floats, length_norm: float, noise: Floats) -> DiscountedErrors:
    truth = discounted_recall(np.array(iou), thresholds, length_norm)
    simulated = [
        Errors.from_draws(
            discounted_recall(np.clip(iou + gamma * noise[:, None], 0, 1), thresholds, length_norm) - truth
        )
        for gamma in gammas
    ]
    return DiscountedErrors(length_norm, truth, Errors.stack(simulated))


def _check_ious(ious: Sequence[float], thresholds: Sequence[float]) -> None:
    for name, several, values in (("an IoU", "IoUs", ious), ("a threshold", "thresholds", thresholds)):
        wrong = [value for value in values if not 0 <= value <= 1]
        if wrong or not values:
            got = f"{name} of {wrong[0]:g}" if wrong else f"no {several}"
            raise UsageError(f"got {got}, expected 0 to 1")


def _check_noise(gammas: Sequence[float], length_norm: float, draws: int, n_ranks: int) -> None:
    wrong = [gamma for gamma in gammas if not LEAST_NOISE <= gamma <= MOST_NOISE]
    if wrong or not gammas:
        got = f"noise of {wrong[0]:g}" if wrong else "no noise"
        raise UsageError(f"got {got}, expected standard deviations from {LEAST_NOISE:g} to {MOST_NOISE:g}")
    if not 0 < length_norm <= 1:
        raise UsageError(f"got a length of {length_norm:g} of the video, expected above 0, up to 1")
    if draws < 2 or draws * n_ranks > MOST_NUMBERS:
        raise UsageError(
            f"got {draws} draws of {n_ranks} answers, expected 2 or more, {MOST_NUMBERS:,} numbers at most"
        )
