"""Leaderboards: the systems of a folder, measured, compared and audited together.

:mod:`~truemoment.studies.leaderboard.entries` reads ``leaderboard.yaml``;
:mod:`~truemoment.studies.leaderboard.running` computes.
"""

from __future__ import annotations

from truemoment.studies.leaderboard.entries import Entries, SystemEntry, read_entries
from truemoment.studies.leaderboard.running import Leaderboard, RankedSystem, run_leaderboard

__all__ = [
    "Entries",
    "Leaderboard",
    "RankedSystem",
    "SystemEntry",
    "read_entries",
    "run_leaderboard",
]
