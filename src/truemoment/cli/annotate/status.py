"""truemoment annotate status: progress, agreement and controls of a study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.request import Request, argument
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.parts import Output
from truemoment.web.annotating.store import opened
from truemoment.web.annotating.study import StudyFolder


@dataclass(frozen=True, kw_only=True)
class StatusRequest(Request):
    """The study."""

    study: Path = argument(metavar="STUDY")


@binder.command("status")
def command(request: StatusRequest, output: Output) -> None:
    """Report the progress of STUDY, agreement, and answers to controls; it may be served meanwhile."""
    from truemoment.web.annotating import status_report as reports
    from truemoment.web.annotating.status import read_status

    folder = StudyFolder(request.study)
    folder.settings()
    with opened(folder.database) as connection:
        status = read_status(folder, connection)
    deliver(reports.report(status), lambda: reports.document(status), output)
