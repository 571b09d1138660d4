"""The site of a leaderboard: its page, a page a file, and the same as JSON and CSV; no server and no network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from truemoment.base.boundary.documents import json_text
from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.tables import csv_of
from truemoment.base.errors import UsageError
from truemoment.report.render import html
from truemoment.studies.audit import report as audit_reports
from truemoment.studies.audit.findings import Outcome
from truemoment.studies.leaderboard import Leaderboard
from truemoment.studies.leaderboard import report as reports

INDEX, JSON, CSV = "index.html", "leaderboard.json", "leaderboard.csv"


def write_site(found: Leaderboard, out: Path, *, command: str = "") -> None:
    """Write the pages of a leaderboard into a folder; earlier ones of the same name are replaced.

    Parameters
    ----------
    found, out
        The leaderboard, and a folder that is new, empty or an earlier site.
    command
        The command that makes the site again; "" for none.
    """
    refuse_folder(out)
    texts = {
        INDEX: html.page(reports.report(found), command=command),
        JSON: json_text(reports.document(found)),
        CSV: csv_of(reports.rows(found)),
    }
    for system, files, addresses in zip(found.systems, found.entries.files, reports.pages(found), strict=True):
        for audit, file, address in zip(system.audits, files, addresses, strict=True):
            page = replace(audit_reports.report(audit), browse=reports.browse_command(found, file))
            texts[address] = html.page(page)
    folder = OwnPath(out)
    (folder / reports.SYSTEMS).mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_text(folder / name, text)


def refuse_folder(out: Path) -> None:
    """Refuse a folder with files of something else, and links in it, before any work."""
    if out.is_dir() and any(out.iterdir()) and not (out / JSON).is_file():
        raise UsageError(f"{out}: holds other files, expected a new or empty folder, or an earlier leaderboard")
    OwnPath(out).refuse_links()


def outcomes(found: Leaderboard) -> Iterator[tuple[str, Outcome]]:
    """Return the outcome of each condition of the gate, with the name of the system."""
    for system in found.systems:
        for audit in system.audits:
            for outcome in audit.outcomes:
                yield system.entry.name, outcome
