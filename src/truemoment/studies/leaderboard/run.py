"""``truemoment.leaderboard``: systems of a folder, measured, compared and audited together, and written as a site.

The site is a page, a page a file, and the same as JSON and CSV; it needs no server and no network.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from truemoment.base.boundary.documents import json_text
from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.folders import TEMPORARY, temporary_folder
from truemoment.base.boundary.inputs import writing
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.tables import csv_of
from truemoment.base.errors import UsageError
from truemoment.base.request import function_of
from truemoment.report.model import Report
from truemoment.report.render import html
from truemoment.report.result import Result
from truemoment.report.words import counted
from truemoment.studies.audit import report as audit_reports
from truemoment.studies.audit.findings import Outcome
from truemoment.studies.leaderboard import report as reports
from truemoment.studies.leaderboard.entries import read_entries
from truemoment.studies.leaderboard.request import LeaderboardRequest
from truemoment.studies.leaderboard.running import Leaderboard, run_leaderboard
from truemoment.studies.request import path_of

INDEX, JSON, CSV = "index.html", "leaderboard.json", "leaderboard.csv"


def write_site(board: Leaderboard, out: Path, *, command: str = "") -> None:
    """Write the pages of a leaderboard into a folder; earlier ones of the same name are replaced.

    Parameters
    ----------
    board, out
        The leaderboard, and a folder that is new, empty or an earlier site.
    command
        The command that makes the site again; "" for none.
    """
    refuse_folder(out)
    texts = {
        JSON: json_text(reports.document(board)),  # the first: it says whose folder this is
        INDEX: html.page(reports.report(board), command=command),
        CSV: csv_of(reports.rows(board)),
    }
    for system, files, addresses in zip(board.systems, board.entries.files, reports.pages(board), strict=True):
        for audit, file, address in zip(system.audits, files, addresses, strict=True):
            page = replace(audit_reports.report(audit), browse=reports.browse_command(board, system.entry, file))
            texts[address] = html.page(page)
    folder = OwnPath(out)
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _replace_files(folder, texts)
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):  # it is not empty
                folder.rmdir()
        raise


def _replace_files(folder: OwnPath, texts: Mapping[str, str]) -> None:
    """Write the files of a site, none before all of them are on the disk."""
    with temporary_folder(folder) as fresh:
        (fresh / reports.SYSTEMS).mkdir()
        for name, text in texts.items():
            write_text(fresh / name, text)
        (folder / reports.SYSTEMS).mkdir(exist_ok=True)
        for name in texts:
            (fresh / name).rename(writing(folder / name))


def refuse_folder(out: Path) -> None:
    """Refuse a folder with other files, and links in it, before any work."""
    others = [path for path in out.iterdir() if not TEMPORARY.fullmatch(path.name)] if out.is_dir() else []
    if others and not (out / JSON).is_file():
        raise UsageError(f"{out}: contains other files, expected a new or empty folder, or an earlier leaderboard")
    OwnPath(out).refuse_links()


def outcomes(board: Leaderboard) -> Iterator[tuple[str, Outcome]]:
    """Return the outcome of each condition of the gate, with the name of the system."""
    for system in board.systems:
        for audit in system.audits:
            for outcome in audit.outcomes:
                yield system.entry.name, outcome


@dataclass(frozen=True, repr=False, eq=False)
class LeaderboardResult(Result):
    """A leaderboard, with report, document and rows.

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
    board = run_leaderboard(
        read_entries(Path(request.folder), path_of(request.data_dir)),
        testing=request.draws,
        gate=request.gate,
        cache=request.cache(request.on_warning),
        on_status=request.on_status,
    )
    return LeaderboardResult(board)


leaderboard = function_of(LeaderboardRequest, run, "leaderboard")
