"""The hunt in CI: 500 inputs of one seed, and 200 requests to each server; more by `python -m tests.hostile`.

Sweeps over every command run each week; in CI, links in a study.
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
        (["--inputs", "500", "--workers", "2"], 900),
        (["--requests", "200"], 300),
        (["--sweep", "links", "--only", "annotate", "--most", "2"], 300),
        pytest.param(["--inputs", "4000", "--seed", "1", "--workers", "2"], 1800, marks=pytest.mark.thorough),
        pytest.param(["--sweep", "modules", "--workers", "2"], 1800, marks=pytest.mark.thorough),
        pytest.param(["--sweep", "links"], 3600, marks=pytest.mark.thorough),
        pytest.param(["--sweep", "pipes,huge"], 1800, marks=pytest.mark.thorough),
    ],
)
def test_nothing_is_handled_badly(tmp_path, options, seconds):
    # A process of its own: it imports all commands once, and forks for each input.
    words = [sys.executable, "-m", "tests.hostile", *options, "--keep", tmp_path / "kept"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_every_verb_is_swept():
    """A new verb gets words in tests/hostile/every.py."""
    assert uncovered() == []
