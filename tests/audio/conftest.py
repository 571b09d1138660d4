"""Made sounds: a short described film in memory, whose delays and narrator are known."""

from dataclasses import dataclass

import numpy as np
import pytest

from truemoment.media.audio.recording import Recording
from truemoment.worlds.described.damage import Damage, damage_track
from truemoment.worlds.described.mixing import mix_film, mix_track
from truemoment.worlds.described.script import Script, write_script
from truemoment.worlds.described.voices import Tones

RATE_HZ = 16_000


@dataclass(frozen=True)
class MadeFilm:
    """A script and the film's own sound."""

    script: Script
    film: np.ndarray

    def damaged(self, damage=None, *, seed=1, **mix):
        """The described track with a damage: its recording, and the true pieces."""
        track = mix_track(self.film, self.script, Tones(), RATE_HZ, **mix)
        made = damage_track(np.random.default_rng(seed), track, damage or Damage(), RATE_HZ)
        return Recording.of(made.samples, RATE_HZ), made.pieces

    @property
    def recording(self):
        return Recording.of(self.film, RATE_HZ)


def make_film(minutes, seed=0):
    rng = np.random.default_rng(seed)
    script = write_script(rng, minutes, Tones())
    return MadeFilm(script, mix_film(rng, script, Tones(), RATE_HZ))


@pytest.fixture(scope="session")
def film_of():
    """Makes a film of some minutes with a seed."""
    return make_film


@pytest.fixture(scope="session")
def made_film():
    """Four minutes: long enough for pieces of two minutes."""
    return make_film(4)
