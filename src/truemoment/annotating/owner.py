"""Pages and requests of the owner of a study: who is done, where people disagree, who may not be looking."""

from __future__ import annotations

import math
import sqlite3
import tempfile
import threading
import time
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from starlette.responses import FileResponse, Response

from truemoment.annotating.control_scores import PersonScores, person_scores
from truemoment.annotating.events import append, is_closed, last_event, now
from truemoment.annotating.exporting import export_study
from truemoment.annotating.people import OWNER, Link, add_people, number_of, replace, revoke
from truemoment.annotating.reading import TaskAnswer, read_study_answers
from truemoment.annotating.results import read_state
from truemoment.annotating.routes import StudyService
from truemoment.annotating.store import connect
from truemoment.datasets.answer_file import PersonAnswer
from truemoment.diagnosis.answer_agreement import QueryAgreement, answer_agreement
from truemoment.documents import as_json
from truemoment.exceptions import UsageError
from truemoment.pages.app import RouteOf, Visit, page_route, route
from truemoment.pages.errors import PageError
from truemoment.pages.jobs import PageJob

EVERY_S = 10.0
"""The figures are computed at most that often."""

Figures = tuple[int, float, dict[str, Any], tuple[QueryAgreement, ...]]
"""Last event, when the figures were computed, the owner's table, and the agreement on each query."""


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
        self._lock = threading.Lock()
        self._summary: Figures | None = None

    # ------------------------------------------------------------------------------------------- figures

    def summary(self, visit: Visit) -> object:
        """Return everything of the owner's table; 304 if nothing happened since an event."""
        since = visit.query_number("since", 0)
        last = self.service.store.read(last_event)
        if since and since == last:
            return Response(status_code=304)
        return self._figures()[2]

    def _figures(self) -> Figures:
        with self._lock:
            known = self._summary
            last = self.service.store.read(last_event)
            if known is None or (known[0] != last and time.monotonic() - known[1] > EVERY_S) or known[2]["open"]:
                known = self._summary = self.service.store.read(self._compute)
            return known

    def _compute(self, connection: sqlite3.Connection) -> Figures:
        settings, service = self.service.settings, self.service
        state = read_state(connection)
        rows = read_study_answers(connection, service.tables)
        agreement = answer_agreement(_counted(rows), np.random.default_rng(0), resamples=0)
        scores = person_scores(rows, agreement.queries, state.references, settings.gold_iou)
        people = [self._person(row, scores.get(row["name"])) for row in connection.execute(_PEOPLE).fetchall()]
        needed = state.n_queries * settings.per_query
        last = last_event(connection)
        document: dict[str, Any] = {
            "seq": last,
            "title": settings.title,
            "task": settings.task,
            "closed": is_closed(connection),
            "open": len(rows) < 200,  # figures of few answers cost nothing, and are always new
            "answers": agreement.n_answers,
            "needed": needed,
            "verdicts": agreement.verdicts,
            "mean_iou": agreement.mean_iou,
            "at_half": agreement.at_least_half,
            "disjoint": agreement.disjoint,
            "pairs": agreement.n_pairs,
            "presence": agreement.presence and agreement.presence.share,
            "videos": state.videos,
            "not_playable": state.not_playable,
            "people": people,
        }
        return last, time.monotonic(), as_json(document), agreement.queries

    @staticmethod
    def _person(row: sqlite3.Row, scores: PersonScores | None) -> dict[str, Any]:
        found: dict[str, Any] = {
            "name": row["name"],
            "state": row["state"],
            "tasks": row["tasks"],
            "done": row["done"],
            "seen_s": None if row["seen_at"] is None else max(0, now() - row["seen_at"]),
        }
        if scores is None:
            return found
        count = len(scores.agreement)
        mean = sum(scores.agreement) / count if count else None
        spread = float(np.std(scores.agreement)) if count else 0.0
        return found | {
            "median_s": scores.median_s,
            "self_iou": scores.self_iou,
            "self_count": scores.self_count,
            "gold": [scores.gold.right, scores.gold.total],
            "absent": [scores.absent.right, scores.absent.total],
            "agreement": mean,
            "agreement_error": 1.96 * spread / math.sqrt(count) if count > 1 else None,
            "flags": list(scores.flags),
        }

    def queries(self, visit: Visit) -> object:
        """Return queries with their agreement, the least agreed first."""
        offset = visit.query_number("offset", 0)
        limit = visit.query_number("limit", 100, least=1, most=500)
        found = self._figures()[3]
        ranked = sorted(found, key=_disagreement)
        part = ranked[offset : offset + limit]
        texts = self.service.store.read(
            lambda connection: {
                row["query_id"]: (row["id"], row["sentence"])
                for row in connection.execute("SELECT id, query_id, sentence FROM queries")
            }
        )
        rows = [
            {
                "id": texts[of.query_id][0],
                "query_id": of.query_id,
                "sentence": texts[of.query_id][1],
                "verdicts": of.verdicts,
                "mean_iou": of.mean_iou,
            }
            for of in part
        ]
        return as_json({"total": len(found), "rows": rows})

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
                "answers": [{"task": of.task, **msgspec.to_builtins(of.line)} for of in answers],
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
            found = self.service.write(function)
        except UsageError as error:
            raise PageError(400, str(error)) from None
        with self._lock:
            self._summary = None
        return found

    def _links(self, links: Sequence[Link]) -> object:
        return {"links": [{"name": of.name, "link": f"{self.base}/in#{of.token}"} for of in links]}

    # -------------------------------------------------------------------------------------------- export

    def export(self, visit: Visit) -> Response:
        """Start an export."""
        del visit
        job = self.service.jobs.start(self._export)
        return Response(msgspec.json.encode(job.as_json()), status_code=202, media_type="application/json")

    def _export(self, job: PageJob) -> Path:
        study = self.service.study
        connection = connect(study.database, read_only=True)
        try:
            with tempfile.TemporaryDirectory() as folder:
                export_study(study, connection, Path(folder))
                job.progress(1, 2)
                with tempfile.NamedTemporaryFile(suffix=".zip", delete=False) as stream:
                    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                        for path in sorted(Path(folder).iterdir()):
                            archive.write(path, path.name)
                    return Path(stream.name)
        finally:
            connection.close()

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
            page_route("/owner/query/{query:int}", "query.html.j2", roles=owner, values=self.values),
            route("GET", "/api/owner/summary", self.summary, roles=owner),
            route("GET", "/api/owner/queries", self.queries, roles=owner),
            route("GET", "/api/owner/queries/{query:int}", self.query, roles=owner),
            route("POST", "/api/owner/people", self.add, roles=owner, body=CountRequest),
            route("POST", "/api/owner/people/{name}/revoke", self.revoke, roles=owner),
            route("POST", "/api/owner/people/{name}/replace", self.replace, roles=owner),
            route("POST", "/api/owner/people/{name}/set-aside", self.set_aside_person, roles=owner, body=WhyRequest),
            route("POST", "/api/owner/tasks/{task:int}/set-aside", self.set_aside, roles=owner, body=WhyRequest),
            route("POST", "/api/owner/close", self.close, roles=owner),
            route("POST", "/api/owner/export", self.export, roles=owner),
            route("GET", "/api/jobs/{job}", self.job, roles=owner),
            route("GET", "/api/jobs/{job}/file", self.job_file, roles=owner),
        ]


_PEOPLE = (
    "SELECT p.name, p.state, p.seen_at, count(t.id) AS tasks, "
    "coalesce(sum(t.state IN ('submitted', 'set aside')), 0) AS done FROM people p LEFT JOIN tasks t "
    "ON t.person = p.id AND t.state != 'taken back' WHERE p.role = 'person' GROUP BY p.id ORDER BY p.id"
)


def _counted(rows: Sequence[TaskAnswer]) -> dict[str, list[PersonAnswer]]:
    """Return the answers that count, by query."""
    found: defaultdict[str, list[PersonAnswer]] = defaultdict(list)
    for of in rows:
        if of.line.counts:
            found[of.line.query_id].append(of.line)
    return dict(found)


def _disagreement(query: QueryAgreement) -> tuple[float, str]:
    """Return what queries are sorted by: agreement, and a dispute about presence before all else."""
    verdicts = query.verdicts
    if len(verdicts) > 1:
        return -1.0 * min(verdicts.values()), query.query_id
    return (2.0 if math.isnan(query.mean_iou) else query.mean_iou), query.query_id
