r"""How well a film explains a track along a line, frame by frame, as a log-likelihood ratio.

A frame of the track is the film's sound at some gain, plus other sound: the narrator, or noise. In a narrow band the
power of the other sound is unknown, so it is estimated by the rest of the track after the film. Then the film with the
gain g makes the frame more likely than no film by

.. math:: -\sum_b n_b \log \frac{\sum_{k \in b} |X_k - g H_k O_k|^2}{\sum_{k \in b} |X_k|^2}

with the spectra X of the track and O of the film, and the transfer H of the film's sound to the track. The likelihood
is averaged over gains from -24 to 6 dB, because the film is softer under the narrator. A frame in which the film can be
heard is evidence for the line. A frame without a loud film is evidence against it. A frame in which the film is silent,
or covered by the narrator in every band, is neither.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from truemoment.base.intervals import Floats
from truemoment.media.audio.recording import Sound
from truemoment.media.audio.refining import DelayLine, film_along

Spectra = npt.NDArray[np.complex64]
Number = TypeVar("Number", np.float32, np.complex64)

LOWEST_HZ = 80.0

GAINS = 10 ** (np.arange(-24, 7, 3) / 20)

TRANSFER_HZ = 170.0
"""Width of the bands in which the transfer is constant."""

FLOOR_DB = -85.0
"""Level of the noise that any sound may have, from rounding and codecs."""

INDEPENDENT = 0.4
"""Number of independent values per bin: neighbouring bins and overlapping windows share much of their sound."""

CHUNK_S = 60.0

GIVEN_UP = 1000.0
"""A line ends at a time from which its evidence has fallen by this much."""

WOBBLE_STEP_S = 0.0005


class FrameForm(NamedTuple):
    """How two sounds are compared in short frames.

    Parameters
    ----------
    hop_s, window_s
        Distance and duration of frames.
    band_hz, highest_hz
        Width of a band, and the highest frequency.
    wobble_s
        How far the sound of a frame may lie from its line; the likelihood is averaged over these places.
    excess
        How many times the evidence is too large: it is divided by this to judge how likely a place is.
    decisive
        Evidence that decides against the simpler case.
    least_error_s
        Least error of a place that was found in these frames.
    """

    hop_s: float
    window_s: float
    band_hz: float
    highest_hz: float
    wobble_s: float
    excess: float
    decisive: float
    least_error_s: float

    @property
    def lags_s(self) -> Floats:
        """The places beside the line at which a frame is compared, (L,)."""
        n = round(self.wobble_s / WOBBLE_STEP_S)
        return np.arange(-n, n + 1) * WOBBLE_STEP_S


EXACT = FrameForm(0.05, 0.1, 50.0, 3500.0, 0.0, 1.0, 30.0, 0.1)
"""For tracks whose waveform follows the film. Evidence per second, measured on simulated films through MP3 at 64
kbit/s: 16,000 where the film is alone and 2 to 270 under the narrator; along a wrong line -160 to -2,000 and -5 to
-75."""

WOBBLING = FrameForm(0.02, 0.04, 75.0, 1000.0, 0.008, 5.0, 150.0, 1.0)
"""For time-stretched tracks: the stretcher moves each window of the sound by some milliseconds, which high frequencies
do not survive. Measured per second: 146 where the film is alone, 5 under the narrator, -136 along a wrong line, and
-17 in noise, which a stretcher makes incoherent: there a wrong place had evidence of 23 more than the true one."""


class Explained:
    """A track as a film along a line explains it.

    Parameters
    ----------
    film, track
        The sounds.
    line
        From track time to film time.
    form
        The frames.
    sure_s
        Part of the track in which the line is certain; it gives the transfer.
    """

    def __init__(
        self, film: Sound, track: Sound, line: DelayLine, form: FrameForm, sure_s: tuple[float, float]
    ) -> None:
        self.film, self.track, self.line, self.form = film, track, line, form
        rate_hz = track.rate_hz
        self.hop, self.window = round(form.hop_s * rate_hz), round(form.window_s * rate_hz)
        hz = np.arange(self.window // 2 + 1) * rate_hz / self.window
        self.inside = (hz >= LOWEST_HZ) & (hz <= form.highest_hz)
        self.hz = hz[self.inside]
        self.transfer = self._transfer(sure_s)

    def evidence_up_to(self, start_s: float, n_frames: int) -> Floats:
        """Return the evidence of all frames from a time up to each frame, (N + 1,); the first value is 0.

        Parameters
        ----------
        start_s
            Where the frames start on the track.
        n_frames
            Number of frames after that time; below 0, before it. After the certain end of the line, the rest is
            minus infinity.
        """
        total = np.full(abs(n_frames) + 1, -np.inf)
        total[0] = 0.0
        chunk = round(CHUNK_S / self.form.hop_s)
        for low in range(0, abs(n_frames), chunk):
            n = min(chunk, abs(n_frames) - low)
            part = self.evidence(start_s + (low if n_frames > 0 else -low - n) * self.form.hop_s, n)
            total[low + 1 : low + n + 1] = total[low] + np.cumsum(part if n_frames > 0 else part[::-1])
            if total[low + n] < total[: low + n].max() - GIVEN_UP:
                break
        return total

    def evidence(self, start_s: float, n_frames: int) -> Floats:
        """Return the log-likelihood ratio of each frame of the track from a time on, (F,)."""
        track, film = self._spectra(start_s, n_frames)
        film *= self.transfer
        width = max(1, round(self.form.band_hz * self.form.window_s))
        noise = width * 0.375 * self.window * 10 ** (FLOOR_DB / 10)  # 0.375: mean square of a Hann window
        own, of_film = _sums(_power(track), width) + noise, _sums(_power(film), width)
        product = track * np.conjugate(film)
        total = np.full(n_frames, -np.inf)
        for lag_s in self.form.lags_s.tolist():
            common = _sums((product * np.exp(-2j * np.pi * self.hz * lag_s)).real, width)
            for gain in GAINS.tolist():
                residual = np.maximum(own - 2 * gain * common + gain**2 * of_film, noise)
                total = np.logaddexp(total, -width * INDEPENDENT * np.sum(np.log(residual / own), axis=1))
        return np.asarray(total - np.log(len(self.form.lags_s) * len(GAINS)))

    def _transfer(self, span_s: tuple[float, float]) -> Spectra:
        """Return the transfer of the film to the track, (bins,): the median over the louder half of the film's frames.

        Its phase takes up what is left of the delay, unless frames wobble.
        """
        track, film = self._spectra(span_s[0], max(1, round((span_s[1] - span_s[0]) / self.form.hop_s)))
        width = max(1, round(TRANSFER_HZ * self.form.window_s))
        power = np.maximum(_sums(_power(film), width), TINY)
        cross = _sums(track * np.conjugate(film), width)
        if self.form.wobble_s:
            cross = np.sqrt(_sums(_power(track), width) * power)
        ratio = np.where(power >= np.median(power, axis=0), cross / power, np.nan)
        transfer = np.nanmedian(ratio.real, axis=0) + 1j * np.nanmedian(ratio.imag, axis=0)
        return np.asarray(transfer[np.minimum(np.arange(len(self.hz)) // width, len(transfer) - 1)], np.complex64)

    def _spectra(self, start_s: float, n_frames: int) -> tuple[Spectra, Spectra]:
        """Return the spectra of frames of the track and of the film from a time of the track on, (F, bins) each."""
        first = round(start_s * self.track.rate_hz) - (self.window - self.hop) // 2
        n = (n_frames - 1) * self.hop + self.window
        hann = np.hanning(self.window + 1)[:-1].astype(np.float32)
        track, film = (
            np.fft.rfft(np.lib.stride_tricks.sliding_window_view(samples, self.window)[:: self.hop] * hann, axis=1)
            for samples in (self.track.between(first, first + n), film_along(self.film, self.line, first, n))
        )
        return track[:, self.inside].astype(np.complex64), film[:, self.inside].astype(np.complex64)


TINY = 1e-12


def _power(spectra: Spectra) -> npt.NDArray[np.float32]:
    return np.asarray(np.square(spectra.real) + np.square(spectra.imag))


def _sums(values: npt.NDArray[Number], width: int) -> npt.NDArray[Number]:
    """Return the sums of `width` neighbouring bins, (F, bands); bins that fill no band are left out."""
    n = values.shape[1] // width
    return np.asarray(values[:, : n * width].reshape(len(values), n, width).sum(axis=2))
