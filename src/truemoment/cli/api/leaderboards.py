"""``truemoment.leaderboard``: systems of a folder, measured, compared and audited together."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.boundary.caching import Cache
from truemoment.evaluation.uncertainty import DrawSettings
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.report.words import counted
from truemoment.studies.leaderboard import Leaderboard, read_entries, run_leaderboard
from truemoment.studies.leaderboard import report as reports
from truemoment.studies.leaderboard.site import write_site


@dataclass(frozen=True, repr=False, eq=False)
class LeaderboardResult(Result):
    """A leaderboard that reports itself.

    Parameters
    ----------
    leaderboard
        The comparison, the audits and the ranks.
    """

    leaderboard: Leaderboard

    @property
    def passed(self) -> bool:
        """Whether every condition of the gate holds for every system that sees the video."""
        return self.leaderboard.passed

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.leaderboard)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment leaderboard --json`` writes it."""
        return reports.document(self.leaderboard)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a system and measure, also of floors and ceilings."""
        return reports.rows(self.leaderboard)

    def write_site(self, folder: str | os.PathLike[str]) -> None:
        """Write the pages, and the same as JSON and CSV."""
        write_site(self.leaderboard, Path(folder))

    def __repr__(self) -> str:
        """Return title and size, in one line."""
        return f"Leaderboard {self.leaderboard.entries.title}: {counted(len(self.leaderboard.systems), 'system')}"


def leaderboard(
    folder: str | os.PathLike[str],
    *,
    data_dir: str | os.PathLike[str] | None = None,
    gate: str | None = None,
    resamples: int = 1000,
    permutations: int = 10_000,
    seed: int = 0,
    on_status: Callable[[str], None] = lambda _: None,
) -> LeaderboardResult:
    """Measure, compare and audit the systems that ``leaderboard.yaml`` of a folder names.

    Parameters
    ----------
    folder
        Folder with ``leaderboard.yaml`` and the prediction files, see :mod:`truemoment.studies.leaderboard.entries`.
    data_dir
        The folder with the datasets (or the variable ``TRUEMOMENT_DATA``).
    gate
        Conditions of an audit, which every system that sees the video must pass; see ``passed``.
    resamples, permutations, seed
        Number of resamples of the videos and of swaps of a permutation test; seed of all draws.
    on_status
        Called with what is being done.

    Returns
    -------
    LeaderboardResult
        It shows its report in a notebook, and writes the site.

    Raises
    ------
    UsageError, InputError, MissingFileError
        If ``leaderboard.yaml`` or a prediction file is missing or malformed.
    """
    found = run_leaderboard(
        read_entries(Path(folder), None if data_dir is None else Path(data_dir)),
        testing=DrawSettings(resamples, permutations, seed),
        gate=gate,
        cache=Cache.of_user(),
        on_status=on_status,
    )
    return LeaderboardResult(found)
