"""Requests of the page of answers: lists of queries, one query, notes."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from starlette.responses import RedirectResponse, Response

from truemoment.base.boundary.files import read_number
from truemoment.evaluation.error_kinds import KINDS
from truemoment.searching.index import Index
from truemoment.searching.median_scores import median_scores
from truemoment.searching.retrieval import moment_scores
from truemoment.web.browsing.filters import RANGES, SORTS, VIEWS, WRONG_BELOW, QuerySelection, select
from truemoment.web.browsing.lanes import lanes_of, row_of
from truemoment.web.browsing.looking import AnswerColumns
from truemoment.web.browsing.notes import NoteConflictError, Notes, QueryNote, SentNote
from truemoment.web.browsing.searches import Model, half_precision
from truemoment.web.browsing.strip import best_by_column
from truemoment.web.browsing.video_routes import BOTH, OWNER, VideoService
from truemoment.web.pages.app import RouteOf, Visit, page_route, route
from truemoment.web.pages.errors import PageError

MOST_ROWS = 200
"""Queries that one request returns."""


@dataclass(frozen=True)
class Commands:
    """Commands that the page shows: the one that opened it, and words that name the annotations and videos."""

    browse: tuple[str, ...]
    data: tuple[str, ...]
    videos: tuple[str, ...]


@dataclass
class LookingService:
    """The page of answers.

    Parameters
    ----------
    looked
        All columns.
    videos
        Videos of the queries; those without a file cannot be played.
    notes
        Notes and tags.
    commands
        Commands that the page shows.
    index, model
        Index of the videos, and its model, for a lane of what a sentence resembles; None for none.
    view
        View that the page begins with; None for all queries.
    """

    looked: AnswerColumns
    videos: VideoService
    notes: Notes
    commands: Commands
    index: Index | None = None
    model: Model | None = None
    view: str | None = None

    # ------------------------------------------------------------------------------------------ handlers

    def about(self, visit: Visit) -> Mapping[str, object]:
        """Return what is looked at: data, systems, figures, kinds."""
        looked = self.looked
        annotations = looked.annotations
        videos = self.commands.videos or ("--videos", "DIR")
        why = self.notes.read_only if visit.visitor.role == OWNER else "this link is for looking only"
        return {
            "dataset": annotations.dataset,
            "split": annotations.split,
            "queries": looked.n_queries,
            "videos": annotations.n_videos,
            "without_moment": looked.n_without_moment,
            "measure": str(looked.measure),
            "protocol": looked.protocol.name,
            "systems": [
                {"name": system.name, "figure": finite(system.figure), "match": system.match}
                for system in looked.systems
            ],
            "floors": [
                {"name": floor.title, "figure": finite(figure)}
                for floor, figure in zip(looked.floors, looked.floor_figures, strict=True)
            ],
            "left_out": list(looked.left_out),
            "kinds": list(KINDS),
            "sorts": list(SORTS),
            "wrong_below": WRONG_BELOW,
            "has_confidence": [bool(np.isfinite(system.confidence).any()) for system in looked.systems],
            "has_agreement": bool(np.isfinite(looked.agreement).any()),
            "has_verdicts": bool(looked.verdicts),
            "has_videos": any(self.videos.shown.state(video) == "here" for video in self.videos.shown.rows),
            "has_model": self.index is not None,
            "read_only": why,
            "command": shlex.join(self.commands.browse),
            "mark_anew": shlex.join(  # hands the tagged queries to annotators
                ["truemoment", "annotate", "new", "STUDY", *self.commands.data, "--only", str(self.notes.path), *videos]
            ),
        }

    def queries(self, visit: Visit) -> Mapping[str, object]:
        """Return a part of the list of queries, and the facets."""
        visit.require_same_site()
        tagged = self.notes.tagged()
        selected, facets = select(self.looked, self._selection(visit), tagged)
        offset = visit.query_number("offset", 0)
        limit = visit.query_number("limit", 100, highest=MOST_ROWS)
        some = map(int, selected[offset : offset + limit])
        rows = [row_of(self.looked, query) | self._beside(query) for query in some]
        return {"total": len(selected), "offset": offset, "facets": dataclasses.asdict(facets), "rows": rows}

    def query(self, visit: Visit) -> Mapping[str, object]:
        """Return all lanes of a query."""
        query = self._number(visit)
        return lanes_of(self.looked, query) | self._beside(query)

    def strip(self, visit: Visit) -> Response:
        """Return what the sentence of a query resembles in its video, by the index of features."""
        visit.require_same_site()
        query = self._number(visit)
        queries = self.looked.annotations.queries
        video_id = str(queries.video_id[query])
        if self.index is None or self.model is None or video_id not in self.index:
            raise PageError(404, "there is no index of this video")
        if self.model.state != "ready":
            waiting = PageError(503, self.model.why or "the model is being loaded", "model").response()
            waiting.headers["Retry-After"] = "1"
            return waiting
        vector = self.model.vector(str(queries.sentence[query])).vector
        median = median_scores(self.index, vector)[0]
        score = moment_scores(self.index, video_id, vector, [median])[0]
        columns = best_by_column(score, *self.index.spans(video_id), len(self.index.rows(video_id)))
        best = float(score.max()) if len(score) else median
        headers = {"X-Median": f"{median:.6f}", "X-Best": f"{best:.6f}"}
        return Response(half_precision(columns), media_type="application/octet-stream", headers=headers)

    def note(self, visit: Visit) -> Response | Mapping[str, object]:
        """Replace the note on a query; 409 with what is there if another tab was first."""
        query = self._number(visit)
        try:
            note, revision = self.notes.write(query, visit.body)
        except NoteConflictError as conflict:
            answer = {"error": "the note was changed in another tab", **_note(conflict.current, conflict.revision)}
            return Response(msgspec.json.encode(answer), status_code=409, media_type="application/json")
        return _note(note, revision)

    def page(self, visit: Visit) -> Mapping[str, object]:
        """Return what the page of a query shows first."""
        query = self._number(visit)
        queries = self.looked.annotations.queries
        return {"query": query, "query_id": str(queries.query_id[query]), "sentence": str(queries.sentence[query])}

    def routes(self) -> list[RouteOf]:
        """Return the routes of the page of answers."""
        first = "/queries" if self.view is None else f"/queries?view={self.view}"
        return [
            page_route("/", lambda visit: RedirectResponse(f"{visit.site.root}{first}", status_code=303), roles=BOTH),
            page_route("/queries", "queries.html.j2", roles=BOTH, values=lambda _: {"looked": self.looked}),
            page_route("/query/{n:number}", "one_query.html.j2", roles=BOTH, values=self.page),
            route("GET", "/api/about", self.about, roles=BOTH),
            route("GET", "/api/queries", self.queries, roles=BOTH),
            route("GET", "/api/query/{n:number}", self.query, roles=BOTH),
            route("GET", "/api/query/{n:number}/strip", self.strip, roles=BOTH),
            route("PUT", "/api/notes/{n:number}", self.note, roles=(OWNER,), body=SentNote),
        ]

    # ------------------------------------------------------------------------------------------- private

    def _number(self, visit: Visit) -> int:
        query = visit.number("n")
        if query >= self.looked.n_queries:
            raise PageError(404, "there is no such query", "n")
        return query

    def _beside(self, query: int) -> dict[str, Any]:
        """Return the note on a query, and the number and state of its video."""
        video = self.videos.shown.by_id[str(self.looked.annotations.queries.video_id[query])]
        state = self.videos.shown.state(video)
        return {"v": video.number if state == "here" else None, "file": state, **_note(*self.notes.note(query))}

    def _selection(self, visit: Visit) -> QuerySelection:
        query = visit.request.query_params
        systems = len(self.looked.systems)
        names = [name for name in query.get("kind", "").split(",") if name]
        unknown = next((name for name in names if name not in KINDS), None)
        if unknown is not None:
            raise PageError(400, f"got {unknown[:40]!r}, expected {', '.join(KINDS)}", "kind")
        floor, view = query.get("floor", ""), query.get("view", "")
        sort = query.get("sort") or VIEWS.get(view, "kind")
        if view and view not in VIEWS:
            raise PageError(400, f"got {view[:40]!r}, expected {', '.join(VIEWS)}", "view")
        if floor not in ("", "hit", "miss"):
            raise PageError(400, f"got {floor[:40]!r}, expected hit or miss", "floor")
        if sort.removeprefix("-") not in SORTS:
            raise PageError(400, f"got {sort[:40]!r}, expected {', '.join(SORTS)}", "sort")
        return QuerySelection(
            system=visit.query_number("system", 0, highest=systems - 1),
            kinds=tuple(KINDS.index(name) for name in names),
            hidden=visit.query_number("hidden", 0, highest=1) == 1,
            floor="hit" if floor == "hit" else "miss" if floor else "",
            words=visit.query_text("words"),
            verb=visit.query_text("verb"),
            ranges={name: _range(query[name], name) for name in RANGES if query.get(name)},
            wrong=visit.query_number("wrong", 0, highest=systems - 1) if query.get("wrong") else None,
            right=visit.query_number("right", 0, highest=systems - 1) if query.get("right") else None,
            noted=visit.query_number("noted", 0, highest=1) == 1,
            tag=visit.query_text("tag"),
            view=view,
            sort=sort.removeprefix("-"),
            falling=sort.startswith("-"),
        )


def _range(text: str, name: str) -> tuple[float, float]:
    """Read a range, LOW..HIGH, where either may be missing."""
    low, dots, high = text.partition("..")
    ends = (read_number(low) if low.strip() else -math.inf, read_number(high) if high.strip() else math.inf)
    if not dots or any(math.isnan(end) for end in ends):
        raise PageError(400, f"got {text[:40]!r}, expected LOW..HIGH", name)
    return ends


def _note(note: QueryNote, revision: int) -> dict[str, Any]:
    return {"note": note.note, "tags": note.tags, "revision": revision}


def finite(value: float) -> float | None:
    """Return a number; None where it is undefined."""
    return value if math.isfinite(value) else None
