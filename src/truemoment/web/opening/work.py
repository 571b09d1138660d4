"""Audits and comparisons that the page starts: each in a process of its own, as the command of the same name.

The document and the page of a result are written beside its first prediction file, under a name that is free.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from truemoment.base.boundary.documents import write_document
from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.processes import run_apart
from truemoment.data.datasets.source import AnnotationSource
from truemoment.learning.training import load_model
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.audit.request import AuditRequest
from truemoment.studies.compare.request import CompareRequest
from truemoment.web.pages.errors import PageError
from truemoment.web.pages.jobs import MOST_JOBS, Jobs, PageJob

Study = Literal["audit", "compare"]

MOST_NAME = 80
"""Characters of the name of a result."""


@dataclass
class StartedStudy:
    """An audit or a comparison that was started.

    Parameters
    ----------
    study, files, source
        What it is: prediction files by the name of each method, and their annotations.
    job
        Its state.
    started_s
        When it was started.
    """

    study: Study
    files: Sequence[tuple[str, OwnPath]]
    source: AnnotationSource
    job: PageJob
    started_s: float = field(default_factory=time.time)

    @property
    def title(self) -> str:
        """What it is, for people."""
        names = ", ".join(name for name, _ in self.files)
        return f"{'Audit of' if self.study == 'audit' else 'Comparison of'} {names}"


class StartedStudies:
    """What the page has started; one runs at a time."""

    def __init__(self) -> None:
        self.jobs = Jobs()
        self.started: list[StartedStudy] = []

    def start(self, study: Study, files: Sequence[tuple[str, OwnPath]], source: AnnotationSource) -> StartedStudy:
        """Start a study of prediction files, by the name of each method."""
        names = [name for name, _ in files]

        def work(job: PageJob) -> Path:
            def show(words: str) -> None:
                job.doing = words

            out = free_name(files[0][1].parent, study, names)
            run_apart(
                perform, study, files, source, out, on_status=show, check=lambda: job.progress(job.done, job.total)
            )
            return out.with_name(f"{out.name}.json").path

        started = StartedStudy(study, files, source, self.jobs.start(work))
        self.started = [*self.started[1 - MOST_JOBS :], started]
        return started

    def resume(self, job: str) -> StartedStudy:
        """Start a study again that was cancelled or failed: what it had computed comes from the cache."""
        ended = next((started for started in self.started if started.job.name == job), None)
        if ended is None or ended.job.state not in ("cancelled", "failed"):
            raise PageError(404, "there is no such study that was cancelled or failed")
        self.started.remove(ended)
        return self.start(ended.study, ended.files, ended.source)

    def close(self) -> None:
        """End what runs."""
        self.jobs.close()


def free_name(folder: OwnPath, study: Study, names: Sequence[str]) -> OwnPath:
    """Return a path, without its end, under which there is neither a document nor a page."""
    plain = re.sub(r"[^\w.=+-]+", "_", "+".join(names)).strip("._")[:MOST_NAME] or "results"
    stem = f"{plain}.{study}"
    for number in range(1, 10_000):
        path = folder / (stem if number == 1 else f"{stem}-{number}")
        if not any(path.with_name(f"{path.name}{end}").exists() for end in (".json", ".html")):
            break
    return path


def perform(
    study: Study,
    files: Sequence[tuple[str, OwnPath]],
    source: AnnotationSource,
    out: OwnPath,
    on_status: Callable[[str], None],
) -> None:
    """Audit or compare prediction files, and write the document and the page."""
    paths = {name: path.checked() for name, path in files}
    page, document = out.with_name(f"{out.name}.html"), out.with_name(f"{out.name}.json")
    result, report = (_audit if study == "audit" else _compare)(paths, source, on_status)
    named = (
        [f"{name}={path}" for name, path in paths.items()]
        if study == "compare"
        else [str(path) for path in paths.values()]
    )
    command = ["truemoment", study, *named, *source.words(), "--html", str(page), "--json", str(document)]

    from truemoment.report.render import html  # noqa: PLC0415 - it loads matplotlib

    on_status("writing the page")
    write_text(page, html.page(report, command=shlex.join(command)))
    write_document(document, result.document())


def _audit(paths: dict[str, Path], source: AnnotationSource, on_status: Callable[[str], None]) -> tuple[Result, Report]:
    from truemoment.studies.audit import reading  # noqa: PLC0415 - as above
    from truemoment.studies.audit.report import confident_and_wrong  # noqa: PLC0415 - as above

    (path,) = paths.values()
    request = AuditRequest(
        path,
        dataset=source.dataset,
        annotations=source.annotations,
        split=source.split,
        data_dir=source.data_dir,
        on_status=on_status,
    )
    result = reading.run(request, load=load_model)
    return result, replace(result.report(), browse=confident_and_wrong(str(path), source.words()))


def _compare(
    paths: dict[str, Path], source: AnnotationSource, on_status: Callable[[str], None]
) -> tuple[Result, Report]:
    from truemoment.studies.compare.run import run  # noqa: PLC0415 - as above

    request = CompareRequest(
        dict(paths),
        dataset=source.dataset,
        annotations=source.annotations,
        split=source.split,
        data_dir=source.data_dir,
        on_status=on_status,
    )
    result = run(request)
    return result, result.report()
