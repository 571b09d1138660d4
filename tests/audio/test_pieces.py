"""Runs of windows that the path leaves out because a cut follows soon."""

import numpy as np
import pytest

from truemoment.media.audio.bands import COARSE_PER_S
from truemoment.media.audio.pieces import run_within
from truemoment.media.audio.windows import N_CANDIDATES, WINDOW_S, Candidates


class Found:
    """Stands for the search of a film: windows from 0 s on every 15 s have the delays and scores of a table."""

    n_window = round(WINDOW_S * COARSE_PER_S)

    def __init__(self, delays, scores):
        self.delays, self.scores = np.array(delays), np.array(scores)

    def candidates(self, _track, starts, **_part):
        at = np.rint(starts / COARSE_PER_S / 15).astype(int) % len(self.delays)
        return Candidates(starts / COARSE_PER_S, self.delays[at], self.scores[at])


def searched(delays, scores, span_s):
    rng = np.random.default_rng(0)
    shape = len(delays), N_CANDIDATES
    others, low = rng.uniform(-500, 500, shape), rng.uniform(0.1, 0.2, shape)
    others[:, 0], low[:, 0] = delays, scores
    track = np.zeros((8, round(200 * COARSE_PER_S)), np.float32)
    return run_within(Found(others, low), track, span_s, (0.0, 500.0), 0.0)


def test_windows_of_one_delay_are_a_run_though_each_score_is_low():
    # Delays and scores of a track of 8 minutes through MP3 at 32 kbit/s, before an insertion.
    run = searched(
        [45.0, -50.98, -50.98, -50.97, 175.6, -50.98, 86.8], [0.09, 0.43, 0.49, 0.48, 0.3, 0.45, 0.22], (0, 135)
    )
    assert run.start_s.tolist() == [15.0, 30.0, 45.0, 75.0]
    assert run.delay_s == pytest.approx([-50.98, -50.98, -50.97, -50.98])


def test_windows_of_low_scores_are_no_run():
    assert searched([41.2, 115.8, 51.2, 118.8, 165.1, 169.2], [0.2, 0.24, 0.21, 0.22, 0.2, 0.24], (0, 120)) is None
