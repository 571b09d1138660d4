"""Pages and requests of the owner of a study: figures, decisions and exports."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Annotated, Any

import msgspec
from starlette.responses import FileResponse, Response

from truemoment.base.boundary.documents import as_json
from truemoment.base.boundary.processes import RestartingPool, begin_quietly
from truemoment.base.errors import TrueMomentError, UsageError
from truemoment.web.annotating.events import append, last_event
from truemoment.web.annotating.exporting import write_archive
from truemoment.web.annotating.figures import StudyFigures
from truemoment.web.annotating.people import OWNER, Link, add_people, number_of, replace, revoke
from truemoment.web.annotating.reading import read_study_answers
from truemoment.web.annotating.routes import StudyService
from truemoment.web.pages.app import RouteOf, Visit, page_route, route
from truemoment.web.pages.errors import PageError
from truemoment.web.pages.jobs import PageJob

CANCEL_S = 0.5
"""How often an export looks whether it was cancelled."""


class CountRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /api/owner/people``."""

    count: Annotated[int, msgspec.Meta(ge=1, le=200)]


class WhyRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Body of a decision: the reason, for the datasheet."""

    why: Annotated[str, msgspec.Meta(max_length=500)] = ""


class OwnerService:
    """Handlers of the owner.

    Parameters
    ----------
    service
        What all handlers of the study share.
    base
        Beginning of links, e.g. ``http://127.0.0.1:8790``.
    """

    def __init__(self, service: StudyService, base: str) -> None:
        self.service, self.base = service, base
        self._processes = RestartingPool(1, begin_quietly)
        self.figures = StudyFigures(service.study, service.settings, service.store, service.tables)

    # ------------------------------------------------------------------------------------------- figures

    def summary(self, visit: Visit) -> object:
        """Return everything of the owner's table; 304 if nothing happened since an event."""
        since = visit.query_number("since", 0)
        last = self.service.store.read(last_event)
        if since and since == last:
            return Response(status_code=304)
        return self.figures.latest().document

    def queries(self, visit: Visit) -> object:
        """Return queries with their agreement, the least agreed first."""
        offset = visit.query_number("offset", 0)
        limit = visit.query_number("limit", 100, least=1, highest=500)
        queries = self.figures.latest().queries
        texts = self.service.store.read(
            lambda connection: {
                row["query_id"]: (row["id"], row["sentence"])
                for row in connection.execute("SELECT id, query_id, sentence FROM queries")
            }
        )
        rows = [
            {
                "id": texts[query.query_id][0],
                "query_id": query.query_id,
                "sentence": texts[query.query_id][1],
                "verdicts": query.verdicts,
                "mean_iou": query.mean_iou,
            }
            for query in queries[offset : offset + limit]
        ]
        return as_json({"total": len(queries), "rows": rows})

    def query(self, visit: Visit) -> object:
        """Return all answers to a query."""
        number = visit.number("query")

        def read(connection: sqlite3.Connection) -> dict[str, Any]:
            row = connection.execute("SELECT query_id, sentence, video FROM queries WHERE id = ?", (number,)).fetchone()
            if row is None:
                raise PageError(404, "there is no such query")
            answers = read_study_answers(connection, self.service.tables, query=number)
            return {
                "query_id": row["query_id"],
                "sentence": row["sentence"],
                "video": row["video"],
                "answers": [{"task": answer.task, **msgspec.to_builtins(answer.line)} for answer in answers],
            }

        return self.service.store.read(read)

    # ----------------------------------------------------------------------------------------- decisions

    def add(self, visit: Visit) -> object:
        """Add people; their links are shown once."""
        body: CountRequest = visit.body
        return self._links(self._change(lambda connection: add_people(connection, body.count, self.service.settings)))

    def revoke(self, visit: Visit) -> None:
        """End a person's link."""
        self._change(lambda connection: revoke(connection, visit.request.path_params["name"]))

    def replace(self, visit: Visit) -> object:
        """Replace a person by a new one."""
        name = visit.request.path_params["name"]
        return self._links([self._change(lambda connection: replace(connection, name, self.service.settings))])

    def set_aside(self, visit: Visit) -> None:
        """Exclude an answer from exports; it is kept and counted."""
        task, body = visit.number("task"), visit.body

        def write(connection: sqlite3.Connection) -> None:
            if connection.execute("SELECT 1 FROM answers WHERE task = ?", (task,)).fetchone() is None:
                raise PageError(404, "there is no such answer")
            append(connection, "set aside", {"why": body.why}, task=task)

        self._change(write)

    def set_aside_person(self, visit: Visit) -> None:
        """Exclude all answers of a person."""
        name, body = visit.request.path_params["name"], visit.body

        def write(connection: sqlite3.Connection) -> None:
            number = number_of(connection, name)
            rows = connection.execute(
                "SELECT t.id FROM tasks t JOIN answers a ON a.task = t.id "
                "WHERE t.person = ? AND t.state != 'set aside'",
                (number,),
            ).fetchall()
            for row in rows:
                append(connection, "set aside", {"why": body.why}, task=row["id"])

        self._change(write)

    def close(self, visit: Visit) -> None:
        """Close the study: from now on it is read only."""
        del visit
        self._change(lambda connection: append(connection, "close", {}))

    def _change(self, function: Any) -> Any:  # noqa: ANN401 - whatever the function returns
        try:
            result = self.service.write(function)
        except UsageError as error:
            raise PageError(400, str(error)) from None
        self.figures.forget()
        return result

    def _links(self, links: Sequence[Link]) -> object:
        return {"links": [{"name": link.name, "link": f"{self.base}/in#{link.token}"} for link in links]}

    # -------------------------------------------------------------------------------------------- export

    def export(self, visit: Visit) -> Response:
        """Start an export."""
        del visit
        job = self.service.jobs.start(self._export)
        return Response(msgspec.json.encode(job.as_json()), status_code=202, media_type="application/json")

    def _export(self, job: PageJob) -> Path:
        """Export in a process: requests are answered as quickly as before, and its memory is free afterwards."""
        with tempfile.NamedTemporaryFile(suffix=".zip", delete=False) as stream:
            path = Path(stream.name)
        try:
            task = self._processes.submit(write_archive, self.service.study.path.absolute(), path)
            while not wait([task], CANCEL_S).done:
                job.progress(0, 1)
            task.result()
        except BrokenProcessPool:
            path.unlink()
            raise TrueMomentError("the process of the export ended; perhaps memory ran out") from None
        except BaseException:
            self._processes.restart()
            path.unlink()
            raise
        self.figures.forget()  # they have the state of the study
        return path

    def end(self) -> None:
        """End an export under way."""
        self._processes.close()

    def job(self, visit: Visit) -> object:
        """Return how far an export is."""
        return self.service.jobs.find(visit.request.path_params["job"]).as_json()

    def job_file(self, visit: Visit) -> Response:
        """Return the file of an export."""
        job = self.service.jobs.find(visit.request.path_params["job"])
        if job.result is None:
            raise PageError(404, "the export is not ready")
        return FileResponse(job.result, media_type="application/zip", filename=f"{self.service.settings.name}.zip")

    def values(self, visit: Visit) -> Mapping[str, object]:
        """Return what the pages of the owner need."""
        del visit
        return {"settings": self.service.settings}

    def routes(self) -> list[RouteOf]:
        """Return the routes of the owner."""
        owner = (OWNER,)
        return [
            page_route("/owner", "owner.html.j2", roles=owner, values=self.values),
            page_route("/owner/query/{query:number}", "query.html.j2", roles=owner, values=self.values),
            route("GET", "/api/owner/summary", self.summary, roles=owner),
            route("GET", "/api/owner/queries", self.queries, roles=owner),
            route("GET", "/api/owner/queries/{query:number}", self.query, roles=owner),
            route("POST", "/api/owner/people", self.add, roles=owner, body=CountRequest),
            route("POST", "/api/owner/people/{name}/revoke", self.revoke, roles=owner),
            route("POST", "/api/owner/people/{name}/replace", self.replace, roles=owner),
            route("POST", "/api/owner/people/{name}/set-aside", self.set_aside_person, roles=owner, body=WhyRequest),
            route("POST", "/api/owner/tasks/{task:number}/set-aside", self.set_aside, roles=owner, body=WhyRequest),
            route("POST", "/api/owner/close", self.close, roles=owner),
            route("POST", "/api/owner/export", self.export, roles=owner),
            route("GET", "/api/jobs/{job}", self.job, roles=owner),
            route("GET", "/api/jobs/{job}/file", self.job_file, roles=owner),
        ]
