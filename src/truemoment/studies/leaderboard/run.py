"""``truemoment.leaderboard``: systems of a folder, measured, compared and audited together."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.request import function_of
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.report.words import counted
from truemoment.studies.leaderboard import Leaderboard, read_entries, run_leaderboard
from truemoment.studies.leaderboard import report as reports
from truemoment.studies.leaderboard.request import LeaderboardRequest
from truemoment.studies.leaderboard.site import write_site
from truemoment.studies.request import path_of


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


def run(request: LeaderboardRequest) -> LeaderboardResult:
    """Measure, compare and audit the systems that ``leaderboard.yaml`` of a folder names.

    Parameters
    ----------
    folder
        Folder with ``leaderboard.yaml`` and the prediction files, see :mod:`truemoment.studies.leaderboard.entries`.

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
        read_entries(Path(request.folder), path_of(request.data_dir)),
        testing=request.draws,
        gate=request.gate,
        cache=request.cache(request.on_warning),
        on_status=request.on_status,
    )
    return LeaderboardResult(found)


leaderboard = function_of(LeaderboardRequest, run, "leaderboard")
