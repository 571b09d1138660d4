"""The hunt in CI: 20 inputs of one seed, and 5 requests to each server: all still run, and the hunt itself.

Each week many more, and sweeps over every command; more at will by `python -m tests.hostile`. Links in a study:
tests/annotating/test_foreign.py.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.hostile.every import uncovered

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ("--inputs 20 --workers 1 --requests 5", 900),  # in one process, which makes the whole files once
        pytest.param("--inputs 4000 --seed 1 --workers 2", 1800, marks=pytest.mark.thorough),
        pytest.param("--requests 1000 --connections 1000", 1800, marks=pytest.mark.thorough),
        pytest.param("--sweep modules --workers 2", 1800, marks=pytest.mark.thorough),
        pytest.param("--sweep links", 3600, marks=pytest.mark.thorough),
        pytest.param("--sweep pipes,huge", 1800, marks=pytest.mark.thorough),
    ],
)
def test_nothing_is_handled_badly(tmp_path, options, seconds):
    # A process of its own: it imports all commands once, and forks for each input.
    words = [sys.executable, "-m", "tests.hostile", *options.split(), "--keep", tmp_path / "kept"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_every_verb_is_swept():
    """A new verb gets words in tests/hostile/every.py."""
    assert uncovered() == []
