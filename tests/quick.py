"""What takes most of the time of tests that do not look at it: the training of floors, and the drawing of figures."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from truemoment.baselines.sentence_network import Training

EMPTY_PICTURES = {"svg": b'<svg viewBox="0 0 1 1"></svg>', "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-1.4\n"}


@contextlib.contextmanager
def quick_networks(cache: Path) -> Iterator[None]:
    """Train the networks of floors for a few steps, and keep them in a cache of theirs: its keys have no settings."""
    quick = Training(hidden=(4, 4), epochs=(1, 1), fewest_steps=4, members=(2, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truemoment.baselines.floors.TRAININGS", (quick, quick))
        patch.setattr("truemoment.baselines.paragraph_network.TRAINING", quick)
        patch.setattr("truemoment.studies.audit.checks.excess_where_blind_misses.TRAINING", quick)
        patch.setenv("TRUEMOMENT_CACHE", str(cache))
        yield


@contextlib.contextmanager
def empty_pictures() -> Iterator[None]:
    """Build figures, but save them as empty pictures."""
    from matplotlib.figure import Figure

    def savefig(_: object, stream: Any, *, format: str, **__: object) -> None:  # noqa: A002 - matplotlib's name
        stream.write(EMPTY_PICTURES[format])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", savefig)
        yield
