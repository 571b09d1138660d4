r"""Gain of a method over a blind one on classes of queries, beside its gain on all other queries.

With d the method's numerators less the blind one's and w the weights, the gain in class c is

.. math:: g_c = \sum_{q \in c} d_q / \sum_{q \in c} w_q,

the gain elsewhere :math:`g_{\bar c}` is the same over the other queries, and the contrast is
:math:`g_c - g_{\bar c}`. A hard class has a low figure and a class that is easy to guess a high one; neither moves the
contrast unless the method gains more or less there.

Intervals and p values come from the studentised bootstrap of videos (:mod:`truemoment.evaluation.studentised`). That of
the contrast uses its linearised value of each video,
:math:`\sum_{q \in v \cap c} (d_q - g_c w_q) / \sum_c w - \sum_{q \in v \setminus c} (d_q - g_{\bar c} w_q) / \sum_{\bar
c} w`. A query is often in several classes, and videos join all of them, so q values are those of Benjamini and
Yekutieli, which are valid however the tests depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Bools, Floats
from truemoment.base.records import numbers_of
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.studentised import Ratios, resample_ratios
from truemoment.evaluation.uncertainty import LEVEL, NO_WEIGHT, check_paired, q_values
from truemoment.studies.evaluate.slices import Membership

FEWEST_VIDEOS = 20
"""Videos inside and outside a class below which it is not compared."""


class Tested(NamedTuple):
    """A difference of two figures with its 95 % interval (2,), two-sided p value and q value; fractions."""

    value: float
    ci95: Floats
    p: float
    q: float


class ClassGain(NamedTuple):
    """A method and a blind one on a class of queries; fractions.

    Parameters
    ----------
    value, blind
        Figures of the two.
    gain
        The method less the blind one.
    elsewhere
        That difference on all other queries.
    contrast
        `gain` less `elsewhere`.
    """

    family: str
    label: str
    n_queries: int
    n_videos: int
    value: float
    blind: float
    gain: Tested
    elsewhere: float
    contrast: Tested


def gains_by_class(
    own: Scores,
    blind: Scores,
    classes: Sequence[tuple[str, str, Bools]],
    rng: np.random.Generator,
    *,
    m: int = 0,
    resamples: int = 1000,
) -> list[ClassGain]:
    """Compare a method with a blind one on classes of queries, and each class with all other queries.

    Parameters
    ----------
    own, blind
        Scores of the two over the same queries.
    classes
        Family, label and members (Q,) of each class; see :func:`classes_of`. Those with fewer than 20 videos inside or
        outside are left out.
    m
        Row of the measure in both scores.
    """
    check_paired([own, blind])
    weight, video = own.weight[m], numbers_of(own.video_id)
    weighs = weight > NO_WEIGHT
    classes = [
        of for of in classes if min(len(np.unique(video[weighs & part])) for part in (of[2], ~of[2])) >= FEWEST_VIDEOS
    ]
    if not classes:
        return []
    difference, n_videos = own.numerator[m] - blind.numerator[m], int(video.max()) + 1

    def by_video(row: Floats) -> Floats:
        return np.asarray(np.bincount(video, row, n_videos), dtype=np.float64)

    elsewhere, columns = [], []
    for _, _, inside in classes:
        shares, linear = [], []
        for part in (inside, ~inside):
            total = weight[part].sum()
            shares.append(difference[part].sum() / total)
            linear.append(by_video((difference - shares[-1] * weight) * part) / total)
        elsewhere.append(shares[1])
        columns.append(shares[0] - shares[1] + n_videos * (linear[0] - linear[1]))
    for_gains, for_contrasts = rng.spawn(2)
    gains, weights = (
        np.stack([by_video(row * inside) for _, _, inside in classes], axis=1) for row in (difference, weight)
    )
    contrasts = np.stack(columns, axis=1)
    tested = [
        _tested(resample_ratios(numerator, denominator, stream, resamples=resamples))
        for numerator, denominator, stream in (
            (gains, weights, for_gains),
            (contrasts, np.ones_like(contrasts), for_contrasts),
        )
    ]
    return [
        ClassGain(
            family=family,
            label=label,
            n_queries=int((weighs & inside).sum()),
            n_videos=len(np.unique(video[weighs & inside])),
            value=float(own.numerator[m][inside].sum() / weight[inside].sum()),
            blind=float(blind.numerator[m][inside].sum() / weight[inside].sum()),
            gain=gain,
            elsewhere=float(other),
            contrast=contrast,
        )
        for (family, label, inside), other, gain, contrast in zip(classes, elsewhere, *tested, strict=True)
    ]


def classes_of(members: Sequence[Membership]) -> list[tuple[str, str, Bools]]:
    """List the classes of families; of a family of two, the last, as the first is all other queries."""
    return [
        (member.family, label, mask)
        for member in members
        for label, mask in zip(member.labels, member.masks, strict=True)
        if len(member.labels) != 2 or label == member.labels[1]
    ]


def _tested(drawn: Ratios) -> list[Tested]:
    p = np.minimum(2 * drawn.p_values().min(axis=0), 1)
    ci95 = np.stack(drawn.bounds(LEVEL), axis=-1)
    return [Tested(*of) for of in zip(drawn.value.tolist(), ci95, p.tolist(), q_values(p).tolist(), strict=True)]
