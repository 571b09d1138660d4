"""Leaderboards: the systems of a folder, measured, compared and audited together.

:mod:`~truemoment.leaderboards.entries` reads ``leaderboard.yaml``; :mod:`~truemoment.leaderboards.running` computes.
"""

from __future__ import annotations

from truemoment.leaderboards.entries import Entries, SystemEntry, read_entries
from truemoment.leaderboards.running import Leaderboard, RankedSystem, rank_intervals, run_leaderboard

__all__ = [
    "Entries",
    "Leaderboard",
    "RankedSystem",
    "SystemEntry",
    "rank_intervals",
    "read_entries",
    "run_leaderboard",
]
