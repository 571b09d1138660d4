"""truemoment annotate export: write what people marked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import Request, argument, option
from truemoment.cli import binder
from truemoment.cli.outputs import refuse_files, say
from truemoment.report.words import counted
from truemoment.web.annotating.store import opened
from truemoment.web.annotating.study import StudyFolder


@dataclass(frozen=True, kw_only=True)
class StudyExportRequest(Request):
    """The study, and the files."""

    study: Path = argument(metavar="STUDY")
    out: Path = option("Output folder.", name="-o --out", metavar="DIR", required=True)
    moments: Literal["all", "longest", "hull"] = option(
        "Moments of an answer that are written: all, the longest, or their hull.", "all"
    )
    order: Literal["file", "random"] | None = option(
        "Order of a video's queries: random, with new ids that do not reveal that of the source; or as in the "
        "source, with its ids. [default: random; file if queries had moments before]"
    )
    quiet: bool = option("Do not list the written files.", False)


@binder.command("export")
def command(request: StudyExportRequest) -> None:
    """Write annotations.jsonl, answers.jsonl, hidden-challenges.csv and a datasheet of STUDY.

    It may be served meanwhile. Other commands read the files:

    \b
    truemoment humans --annotations marked/answers.jsonl
    truemoment evaluate preds.jsonl --annotations marked/annotations.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.datasets.random_order import ORDERS
    from truemoment.web.annotating.exporting import export_study

    folder = StudyFolder(request.study)
    folder.settings()
    refuse_files({"-o": request.out})
    if request.out.resolve() == request.study.resolve():
        raise UsageError(f"-o {request.out}: is the study itself, expected another folder")
    with opened(folder.database) as connection:
        export = export_study(folder, connection, request.out, moments=request.moments, order=request.order)
    if request.quiet:
        return
    for name, count in export.files.items():
        say(f"{request.out / name}: {counted(count, 'line')}")
    say(f"{request.out / 'datasheet.md'}")
    say(f"order: {ORDERS[export.order]}")
    verdicts = ", ".join(f"{name} {count:,}" for name, count in sorted(export.agreement.verdicts.items()))
    say(f"answers: {verdicts or 'none'}")
    if export.not_single:
        say(
            f"note: {counted(export.not_single, 'query has', 'queries have')} several moments of one person; --moments "
            "longest or hull makes one of them"
        )
