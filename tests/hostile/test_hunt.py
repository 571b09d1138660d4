"""The hunt in CI: 2,000 inputs of one seed, and 200 requests to each server; more by `python -m tests.hostile`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("options", "seconds"), [(["--inputs", "2000", "--workers", "2"], 900), (["--requests", "200"], 300)]
)
def test_nothing_is_handled_badly(tmp_path, options, seconds):
    # A process of its own: it imports all commands once, and forks for each input.
    words = [sys.executable, "-m", "tests.hostile", *options, "--keep", tmp_path / "kept"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
