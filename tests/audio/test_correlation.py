import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.media.audio.correlation import correlate, good_length, peak_of
from truemoment.media.audio.recording import Recording
from truemoment.media.audio.resampling import values_at

RATE_HZ = 16_000


@given(
    n_film=st.integers(200, 5000),
    n_track=st.integers(200, 5000),
    most_lag=st.integers(1, 700),
    block=st.integers(50, 3000),
    seed=st.integers(0, 99),
)
def test_blocks_equal_one_transform(n_film, n_track, most_lag, block, seed):
    rng = np.random.default_rng(seed)
    film, track = (Recording.of(rng.standard_normal(n).astype(np.float32) / 8, 1000) for n in (n_film, n_track))
    found = correlate(film, track, most_lag, block=block)
    a, o = film.between(0, n_film), track.between(0, n_track)
    n = n_film + n_track  # one transform, so long that nothing wraps around
    whole = np.fft.irfft(np.conj(np.fft.rfft(o.astype(float), n)) * np.fft.rfft(a.astype(float), n), n)
    padded = np.zeros(2 * most_lag + 1)
    for at, lag in enumerate(range(-most_lag, most_lag + 1)):
        padded[at] = whole[lag] if -n_track < lag < n_film else 0.0
    assert np.abs(found - padded).max() <= 1e-4 * np.abs(whole).max()  # tolerance: specification, section 15


@pytest.mark.parametrize("shift", [0.0, 0.25, -0.4, 123.37, -80.81])
def test_delay_between_samples_is_found_to_a_fiftieth_of_a_sample(shift):
    noise = np.random.default_rng(3).standard_normal(60_000)
    spectrum = np.fft.rfft(noise)
    spectrum[int(len(spectrum) * 0.4) :] = 0  # band-limited: up to 3.2 kHz of 8
    film = np.fft.irfft(spectrum, 60_000).astype(np.float32) / 8
    track = values_at(film, np.arange(60_000) + shift)  # track(t) = film(t + shift)
    found = correlate(Recording.of(film, RATE_HZ), Recording.of(track, RATE_HZ), 200, block=20_000)
    peak = peak_of(found, 320)
    assert peak.position - 200 == pytest.approx(shift, abs=0.02)  # specification, section 15
    assert peak.ratio > 2


def test_good_length_is_the_least_product_of_2_3_and_5():
    products = sorted(2**a * 3**b * 5**c for a in range(13) for b in range(9) for c in range(7))
    for n in range(1, 4000):
        assert good_length(n) == next(of for of in products if of >= n)


def test_peak_ratio_ignores_neighbours():
    values = np.array([0, 1, 4, 5, 4, 1, 2, 0], float)
    peak = peak_of(values, 3)
    assert peak.value / peak.ratio == 2  # the 4s beside it belong to the peak
