"""truemoment annotate status: progress, agreement and controls of a study."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.cli.annotate.shared import folder_of, study_argument
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, output_options


@click.command("status", cls=Command)
@study_argument
@output_options
def command(study: Path, output: Output) -> None:
    """Report the progress of STUDY, agreement, and answers to controls; it may be served meanwhile."""
    from truemoment.web.annotating import status_report as reports
    from truemoment.web.annotating.status import read_status
    from truemoment.web.annotating.store import opened

    folder = folder_of(study)
    folder.settings()
    with opened(folder.database) as connection:
        found = read_status(folder, connection)
    deliver(reports.report(found), lambda: reports.document(found), output)
