"""Simulated described films, which the tests of a process share."""

import pytest

from truemoment.worlds.described.film import DescribedSettings, make_described


@pytest.fixture(scope="session")
def described(tmp_path_factory):
    """A film of two minutes without pictures, its described track and subtitles."""
    out = tmp_path_factory.mktemp("described")
    return make_described(out, minutes=2, seed=3, settings=DescribedSettings(pictures=False))
