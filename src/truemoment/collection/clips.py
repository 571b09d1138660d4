r"""LSMDC's clips found in a film by what they show (MAD, Soldan et al. 2022, section 3.2).

Frames of clip and film are vectors of an image-text model, 5 a second. With unit vectors less the film's mean vector,
:math:`c_i` of a clip of n frames and :math:`f_j` of the film, a place o of the film scores

.. math:: \mathrm{score}(o) = \sum_{i=0}^{n-1} \langle c_i, f_{o+i} \rangle ,

the cross-correlation of eq. 1 with vectors in place of sound. The best place is searched within 15, 30, ..., 150 s of
where the clip's name says (the paper's "10 window lengths", which it does not state; these spans are ours), and the
clip's delay is the median of the ten. Taking the clip's own mean off would remove what a still clip shows, so the
film's is taken off.

The film's delay is the median over its clips. A clip that is off by more than 0.5 s gets it and is flagged; five or
more neighbours that agree on another delay are an edit and keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Bools, Floats
from truemoment.media.features.base import Frames
from truemoment.searching.unit_vectors import unit

SPANS_S = tuple(15.0 * k for k in range(1, 11))
"""Distances from the nominal place that are searched, one after the other."""

WITHIN_S = 0.5
"""Distance from the film's delay beyond which a clip is flagged."""

EDIT_CLIPS = 5
"""Neighbouring clips that make an edit where they agree."""


@dataclass(frozen=True, eq=False)
class PlacedClips:
    """The clips of a film.

    Parameters
    ----------
    found_s : (C,)
        Delay of each clip by what it shows: where it is in the film, less the place in its name; NaN for a clip that is
        longer than the film.
    delay_s : (C,)
        Delay that is used: that of the film, or of an edit.
    flagged : (C,)
        Whether a clip's own delay differs from it by more than 0.5 s.
    film_delay_s
        Median over the clips.
    """

    found_s: Floats
    delay_s: Floats
    flagged: Bools
    film_delay_s: float

    @property
    def n_edited(self) -> int:
        """Number of clips with the delay of an edit."""
        return int((self.delay_s != self.film_delay_s).sum())


def place_clips(film: Frames, clips: Sequence[Frames], named_s: Floats, fps: float) -> PlacedClips:
    """Place clips in their film.

    Parameters
    ----------
    film : (F, D)
        Vectors of the film's frames.
    clips
        Vectors of each clip's frames, (n, D).
    named_s : (C,)
        Start of each clip by its name, seconds.
    fps
        Frames per second of both.
    """
    mean = unit(film).mean(axis=0)
    centred = unit(film) - mean
    found_s = np.array(
        [clip_delay_s(centred, unit(clip) - mean, start_s, fps) for clip, start_s in zip(clips, named_s, strict=True)]
    )
    film_delay_s = float(np.nanmedian(found_s)) if np.isfinite(found_s).any() else np.nan
    delay_s = delays_of_edits(found_s, named_s, film_delay_s)
    flagged = ~(np.abs(found_s - delay_s) <= WITHIN_S)
    return PlacedClips(found_s, delay_s, flagged, film_delay_s)


def clip_delay_s(film: Frames, clip: Frames, named_s: float, fps: float) -> float:
    """Return the delay of one clip: median over spans of the best place, refined by a parabola; NaN if it is too long.

    Parameters
    ----------
    film, clip : (F, D), (n, D)
        Vectors less the film's mean.
    """
    n, places = len(clip), len(film) - len(clip) + 1
    if places < 1:
        return np.nan
    nominal = named_s * fps
    low = min(max(0, int(np.floor(nominal - SPANS_S[-1] * fps))), places - 1)
    high = min(max(low + 1, int(np.ceil(nominal + SPANS_S[-1] * fps)) + 1), places)
    products = clip @ film[low : high + n - 1].T  # (n, high - low + n - 1)
    score = np.zeros(high - low)
    for i in range(n):
        score += products[i, i : i + high - low]
    distance_s = np.abs(np.arange(low, high) - nominal) / fps
    best = [_peak(score, distance_s <= max(span_s, float(distance_s.min()))) for span_s in SPANS_S]
    return float(np.median(best) + low - nominal) / fps


def _peak(score: Floats, allowed: Bools) -> float:
    """Return the place of the largest score among those allowed, refined by a parabola through its neighbours."""
    at = int(np.where(allowed, score, -np.inf).argmax())
    if not 0 < at < len(score) - 1:
        return float(at)
    before, peak, after = score[at - 1 : at + 2]
    curve = before - 2 * peak + after
    return at if curve >= 0 else at + float(np.clip((before - after) / (2 * curve), -0.5, 0.5))


def delays_of_edits(found_s: Floats, named_s: Floats, film_delay_s: float) -> Floats:
    """Return the delay that each clip gets, (C,): the film's, or that of an edit it belongs to.

    An edit is five or more clips, one after the other in time, that agree within 0.5 s on a delay that is more than 0.5
    s from the film's.

    Examples
    --------
    >>> delays_s = np.array([1.0, 1.0, 1.0, 9.0, 1.0, 1.0, 1.0, 4.0, 4.0, 4.1, 4.0, 4.0])
    >>> delays_of_edits(delays_s, np.arange(12.0), 1.0).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0]
    """
    order = np.argsort(named_s, kind="stable")
    delays = np.full(len(found_s), film_delay_s)
    values = found_s[order]
    off = np.abs(values - film_delay_s) > WITHIN_S
    start = 0
    while start < len(values):
        if not off[start]:
            start += 1
            continue
        stop = start
        while stop < len(values) and abs(values[stop] - np.median(values[start : stop + 1])) <= WITHIN_S:
            stop += 1
        if stop - start >= EDIT_CLIPS:
            delays[order[start:stop]] = float(np.median(values[start:stop]))
        start = max(stop, start + 1)
    return delays
