"""Pages and requests of the people of a study."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec
from starlette.responses import RedirectResponse, Response

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.media.video.prepared import COPY, FRAMES, PEAKS, STRIP
from truemoment.web.annotating.answers import AnswerRequest
from truemoment.web.annotating.events import append, identity_of_study
from truemoment.web.annotating.instructions import DEFAULT, as_html, read_instructions
from truemoment.web.annotating.leases import AliveRequest, NextTask, next_task, record_alive
from truemoment.web.annotating.people import OWNER, PERSON
from truemoment.web.annotating.practice import Feedback, practice_feedback
from truemoment.web.annotating.progress import Progress, progress_of
from truemoment.web.annotating.reading import StudyFrameTables
from truemoment.web.annotating.store import StorageError, Store
from truemoment.web.annotating.study import StudyFolder, StudySettings
from truemoment.web.annotating.tasks import ConflictError, SaveResult, TaskView, save, view
from truemoment.web.pages.app import RouteOf, Visit, page_route, route
from truemoment.web.pages.errors import PageError
from truemoment.web.pages.jobs import Jobs
from truemoment.web.pages.media import Identities, Streams, VideoResponse, small_file

T = TypeVar("T")

BOTH = (PERSON, OWNER)


class NextRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /api/next``: the task that the person leaves; None for none."""

    after: int | None = None


class Me(msgspec.Struct):
    """Answer of ``GET /api/me``."""

    progress: Progress
    settings: Mapping[str, object]


@dataclass
class StudyService:
    """What the handlers of a study share.

    Parameters
    ----------
    jobs
        Exports under way.
    """

    study: StudyFolder
    settings: StudySettings
    store: Store
    jobs: Jobs = field(default_factory=Jobs)
    identities: Identities = field(default_factory=Identities)
    streams: Streams = field(default_factory=Streams)

    def __post_init__(self) -> None:
        """Make the reader of frame tables, and read which study it is: another one may have the same name."""
        self.tables = StudyFrameTables(self.study)
        self.identity = self.store.read(identity_of_study)

    def write(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of a write that is stored; a full disk is an answer in words."""
        try:
            return self.store.write(function)
        except StorageError as error:
            raise PageError(503, f"the change is not stored ({error.reason}); inform the owner of the study") from None
        except InputError as error:
            raise PageError(400, error.problem, error.field or "") from None

    # ------------------------------------------------------------------------------------------ handlers

    def me(self, visit: Visit) -> Me:
        """Return how far a person is."""
        progress = self.store.read(lambda connection: progress_of(connection, visit.visitor.number, self.settings))
        settings = {
            "study": self.identity,
            "task": self.settings.task,
            "dealt": self.settings.people > 0,
            "several": self.settings.several,
            "review": self.settings.review,
            "sound": self.settings.sound,
        }
        return Me(progress, settings)

    def has_read(self, visit: Visit) -> None:
        """Record that a person has read the instructions."""

        def write(connection: sqlite3.Connection) -> None:
            number = visit.visitor.number
            changed = connection.execute(
                "UPDATE people SET state = 'read' WHERE id = ? AND state = 'invited'", (number,)
            )
            if changed.rowcount:
                append(connection, "read", {}, person=number)

        self.write(write)

    def next(self, visit: Visit) -> TaskView | NextTask | None:
        """Return the next task; while videos are prepared, how many."""
        body: NextRequest = visit.body
        person = visit.visitor.number

        def find(connection: sqlite3.Connection) -> TaskView | NextTask | None:
            task = next_task(connection, person, self.settings, after=body.after)
            if task.task is not None:
                return view(connection, person, task.task)
            return task if task.preparing else None

        return self.store.read(find) if self.settings.people else self.write(find)

    def task(self, visit: Visit) -> TaskView:
        """Return a task of the person."""
        return self.store.read(lambda connection: view(connection, visit.visitor.number, visit.number("task")))

    def save(self, visit: Visit) -> SaveResult | Response:
        """Store an answer."""
        task, person = visit.number("task"), visit.visitor.number
        try:
            saved = self.write(lambda connection: save(connection, person, task, visit.body, self.settings))
        except ConflictError as conflict:
            body = {
                "error": "this answer was changed in another tab",
                "field": "base",
                "version": conflict.version,
                "answer": conflict.answer,
            }
            return Response(msgspec.json.encode(body), status_code=409, media_type="application/json")
        if saved.state == "submitted":
            saved.feedback = self._feedback(task)
        return saved

    def _feedback(self, task: int) -> Feedback | None:
        def read(connection: sqlite3.Connection) -> Feedback | None:
            row = connection.execute(
                "SELECT q.video FROM tasks t JOIN queries q ON q.id = t.query "
                "WHERE t.id = ? AND t.control = 'practice'",
                (task,),
            ).fetchone()
            if row is None:
                return None
            return practice_feedback(connection, task, self.tables.table(row["video"]), self.settings.gold_iou)

        return self.store.read(read)

    def alive(self, visit: Visit) -> None:
        """Record a sign of life."""
        self.write(lambda connection: record_alive(connection, visit.visitor.number, visit.number("task")))

    # --------------------------------------------------------------------------------------------- media

    def _video(self, visit: Visit) -> sqlite3.Row:
        """Return a video that the visitor may see: one of an own task; the owner may see all."""
        video, visitor = visit.number("video"), visit.visitor

        def read(connection: sqlite3.Connection) -> sqlite3.Row | None:
            row: sqlite3.Row | None = connection.execute(
                "SELECT id, played, played_identity, state FROM videos v WHERE id = ? AND (? OR EXISTS (SELECT 1 FROM "
                "tasks t JOIN queries q ON q.id = t.query WHERE q.video = v.id AND t.person = ?))",
                (video, visitor.role == OWNER, visitor.number),
            ).fetchone()
            return row

        row = self.store.read(read)
        if row is None or row["state"] != "ready":
            raise PageError(404, "there is no such video")
        return row

    def video(self, visit: Visit) -> Response:
        """Return a video, whole or in ranges."""
        row = self._video(visit)
        path: AnyPath = Path(row["played"]) if row["played"] else self.study.media(row["id"]) / COPY
        return VideoResponse(path, self.identities.open_video(path, row["played_identity"]), self.streams)

    def file_of_video(self, name: str, kind: str) -> Callable[[Visit], Response]:
        """Return the handler of a file that belongs to a video."""
        return lambda visit: small_file(self.study.media(self._video(visit)["id"]) / name, kind)

    # --------------------------------------------------------------------------------------------- pages

    def home(self, visit: Visit) -> Mapping[str, object]:
        """Return what the first page shows."""
        text = read_instructions(self.study.instructions)
        progress = None
        if visit.visitor.role == PERSON:
            progress = self.me(visit).progress
        own_words = text != DEFAULT[self.settings.task]
        values = {"instructions": as_html(text), "own_words": own_words}
        return {**values, "progress": progress, "settings": self.settings}

    def routes(self) -> list[RouteOf]:
        """Return the routes of people."""
        person = (PERSON,)
        values = {"settings": self.settings}

        def home_page(visit: Visit) -> str | Response:
            return RedirectResponse("/owner", status_code=303) if visit.visitor.role == OWNER else "home.html.j2"

        return [
            page_route("/", home_page, roles=BOTH, values=self.home),
            *(
                page_route(path, "task.html.j2", roles=person, values=lambda _: values)
                for path in ("/task", "/task/{task:number}", "/verify/{task:number}")
            ),
            route("GET", "/api/me", self.me, roles=person),
            route("POST", "/api/read", self.has_read, roles=person),
            route("POST", "/api/next", self.next, roles=person, body=NextRequest),
            route("GET", "/api/tasks/{task:number}", self.task, roles=person),
            route("PUT", "/api/tasks/{task:number}/answer", self.save, roles=person, body=AnswerRequest),
            route("POST", "/api/tasks/{task:number}/alive", self.alive, roles=person, body=AliveRequest),
            route("GET", "/media/{video:number}", self.video, roles=BOTH),
            route(
                "GET", "/media/{video:number}/frames.json", self.file_of_video(FRAMES, "application/json"), roles=BOTH
            ),
            route("GET", "/media/{video:number}/strip.jpg", self.file_of_video(STRIP, "image/jpeg"), roles=BOTH),
            route(
                "GET",
                "/media/{video:number}/peaks.bin",
                self.file_of_video(PEAKS, "application/octet-stream"),
                roles=BOTH,
            ),
        ]
