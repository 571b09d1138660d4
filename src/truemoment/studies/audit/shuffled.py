"""The randomised-video check: the change of the answers if the video is shuffled, or changed in another way.

If a method uses the video, its figures fall and its answers move on shuffled segments. References do not move.

With :math:`d^s = |s - s'|` and :math:`d^e = |e - e'|` between the first answers to the original and to the shuffled
video, as fractions of the duration, an answer is *unchanged* if both are exactly 0. It is at most *slightly changed* if
:math:`d^s + d^e` is below a bound (0.1, as in the authors' notebook for SCDM; 0.05 for 2D-TAN). Source: Hidden
Challenges (Otani et al. 2020), section 4; supplement, Fig. F; mayu-ot/hidden-challenges-MR at e0c4546.

:class:`~truemoment.media.features.changed.ChangedFeatures` lists the changes, and :func:`predict_on_changed` runs a
model on them. :func:`~truemoment.media.features.shuffling.shuffle_features` shuffles features; :func:`segment_order`
returns the order in which to join the segments of a real video.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints, seconds_to_norm
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.evaluation.protocols.base import Ranking
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.changed import CHANGES, ChangedFeatures
from truemoment.media.features.shuffling import generator_of, shuffle_features, shuffle_segments
from truemoment.studies.evaluate.first_answers import first_answers

__all__ = [
    "SLIGHT_NORM",
    "Displacement",
    "DisplacementDensity",
    "compare_shuffled",
    "generator_of",
    "segment_order",
    "shuffle_features",
    "shuffle_segments",
]

SAME_PLACE_NORM = 0.001
"""Two first answers count as the same if their ends differ by at most this share of the video."""

MAY_DIFFER = 0.01
"""Share of the first answers of a file that may differ from the model's: machines round differently."""

SLIGHT_NORM = 0.1
"""Displacement of start and end together, as a fraction of the video, below which an answer changed slightly."""


@dataclass(frozen=True, eq=False)
class Displacement:
    """The displacement of first answers if the video is shuffled.

    Parameters
    ----------
    shift_start_norm, shift_end_norm : (Q,)
        Start and end on the shuffled video less those on the original, as fractions of the video; NaN for queries that
        are left out.
    unchanged : (Q,)
        Whether both are exactly 0.
    left_out
        Number of queries that cannot be compared, by reason.
    """

    shift_start_norm: Floats
    shift_end_norm: Floats
    unchanged: Bools
    left_out: Mapping[str, int]

    @property
    def d_start(self) -> Floats:
        """Displacement of the start, a fraction of the video, (Q,)."""
        return np.abs(self.shift_start_norm)

    @property
    def d_end(self) -> Floats:
        """Displacement of the end, a fraction of the video, (Q,)."""
        return np.abs(self.shift_end_norm)

    @property
    def compared(self) -> Bools:
        """Which queries are compared, (Q,)."""
        return ~np.isnan(self.shift_start_norm)

    @property
    def share_unchanged(self) -> float:
        """Share of the compared queries whose answer is the same; NaN if none is compared."""
        return _mean(self.unchanged[self.compared])

    def share_within(self, bound: float = SLIGHT_NORM) -> float:
        """Share whose answer is the same or moved by less than `bound` of the video, start and end together."""
        if not bound > 0:
            raise UsageError(f"got {bound}, expected a fraction of the video above 0")
        return _mean((self.d_start + self.d_end)[self.compared] < bound)

    def density(self, bins: int = 50) -> DisplacementDensity:
        """Joint density of the displacements of start and end, on a grid (Fig. F)."""
        if bins < 1:
            raise UsageError(f"got {bins} cells, expected 1 or more")
        start, end = (np.minimum(d[self.compared], 1) for d in (self.d_start, self.d_end))
        bounds = np.linspace(0, 1, bins + 1)
        counts = np.histogram2d(start, end, bins=(bounds, bounds))[0]
        total = counts.sum()
        density = counts * (bins**2 / total) if total else np.full_like(counts, np.nan)
        return DisplacementDensity(bounds, counts.astype(np.int64), density)


class DisplacementDensity(NamedTuple):
    """Joint density of the displacements of start and end.

    Parameters
    ----------
    bounds : (B + 1,)
        Of the cells, on both axes, fractions of the video. Moves by more than the video are in the last cell.
    counts : (B, B)
        Queries by displacement of the start (rows) and of the end (columns).
    density : (B, B)
        The same with integral 1 over the square; NaN if there is no query.
    """

    bounds: Floats
    counts: Ints
    density: Floats


def compare_shuffled(
    annotations: Annotations, original: Predictions, shuffled: Predictions, *, ranking: Ranking = "score"
) -> Displacement:
    """Compare a method's first answers to the same queries on the original and on the shuffled videos.

    References are not used. `ranking` is as for :func:`~truemoment.studies.evaluate.first_answers.first_answers`.

    Examples
    --------
    >>> a = Annotations.from_rows([("v#0", "v", 40.0, "a door opens", 10.0, 30.0)])
    >>> before, after = (Predictions.from_lists({"v#0": [m]}) for m in [(10.0, 20.0), (10.0, 24.0)])
    >>> moved = compare_shuffled(a, before, after)
    >>> moved.d_start.tolist(), moved.d_end.tolist(), moved.share_unchanged, moved.share_within(0.2)
    ([0.0], [0.1], 0.0, 1.0)
    """
    original_answers, shuffled_answers = (
        first_answers(annotations, answers, ranking=ranking) for answers in (original, shuffled)
    )
    duration_s = annotations.queries.duration_s
    known = duration_s > 0
    answered = original_answers.answered & shuffled_answers.answered
    compared = answered & known
    shifts = np.full((2, len(answered)), np.nan)
    for row, (first, second) in enumerate(
        ((original_answers.start_s, shuffled_answers.start_s), (original_answers.end_s, shuffled_answers.end_s))
    ):
        shifts[row, compared] = seconds_to_norm((second - first)[compared], duration_s[compared])
    reasons = {
        "answered on neither video": ~original_answers.answered & ~shuffled_answers.answered,
        "answered on the original video only": original_answers.answered & ~shuffled_answers.answered,
        "answered on the shuffled video only": ~original_answers.answered & shuffled_answers.answered,
        "duration not known": answered & ~known,
    }
    left_out = {reason: int(queries.sum()) for reason, queries in reasons.items() if queries.any()}
    if unknown := original_answers.n_unknown + shuffled_answers.n_unknown:
        left_out["not a query of the annotations"] = unknown
    return Displacement(shifts[0], shifts[1], np.all(shifts == 0, axis=0), left_out)


def n_differing(
    annotations: Annotations, original: Predictions, changed: Predictions, *, ranking: Ranking = "score"
) -> int:
    """Count the queries whose first answers differ by more than :data:`SAME_PLACE_NORM`, or of which one is missing."""
    moved = compare_shuffled(annotations, original, changed, ranking=ranking)
    stays = np.maximum(moved.d_start, moved.d_end) <= SAME_PLACE_NORM  # NaN does not
    silent = moved.left_out.get("answered on neither video", 0)
    return annotations.n_queries - int(stays.sum()) - silent


def segment_order(duration_s: float, segment_s: float, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Draw a random order of the segments of a real video: (start_s, end_s) of every segment once.

    The last segment may be shorter. The original order is returned only if there is one segment.
    :func:`~truemoment.media.features.shuffling.generator_of` returns a generator for each video.
    """
    if not (0 < duration_s < math.inf and 0 < segment_s < math.inf):
        raise UsageError(f"got {duration_s} s and {segment_s} s a segment, expected seconds above 0")
    n_segments = max(1, math.ceil(duration_s / segment_s - 1e-6))  # no segment of a microsecond by rounding
    bounds = [*(segment_s * k for k in range(n_segments)), duration_s]
    order = shuffle_segments(n_segments, rng, segment_rows=1)
    return [(bounds[k], bounds[k + 1]) for k in order.tolist()]


def _mean(marked: Bools) -> float:
    return float(marked.mean()) if len(marked) else float("nan")


@runtime_checkable
class SeesVideo(Protocol):
    """A fitted method that reads frame features, which can be replaced."""

    @property
    def name(self) -> str:
        """Name of the method in reports."""
        ...

    @property
    def features(self) -> FeatureStore | None:
        """Features that the method reads; None for a method that sees no video."""
        ...

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Answer each query with ranked moments."""
        ...

    def with_features(self, features: FeatureStore, /) -> Self:
        """Return the same fitted method with other features."""
        ...


def predict_on_changed(
    grounder: SeesVideo,
    queries: Queries,
    *,
    top: int,
    seed: int,
    changes: Sequence[str] = CHANGES,
    on_status: Callable[[str], None] = lambda _: None,
) -> dict[str, Predictions]:
    """Return the answers of a method to the same queries on original and on changed videos, in the order of `changes`.

    `changes` are any of :data:`~truemoment.media.features.changed.CHANGES`. `seed` and the id of a video determine how
    it changes.
    """
    unknown = [change for change in changes if change not in CHANGES]
    if unknown:
        raise UsageError(f"got change {unknown[0]!r}, expected one of {', '.join(CHANGES)}")
    features = grounder.features
    if features is None:
        raise UsageError(f"{grounder.name} sees no video, so there is none to change")
    answers = {}
    for change in changes:
        on_status(f"{change} videos")
        store = features if change == "original" else ChangedFeatures(features, change, seed)
        answers[change] = grounder.with_features(store).ground(queries, top)
    return answers
