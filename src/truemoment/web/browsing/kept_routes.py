"""Requests of collections: read, replace, remove."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.responses import Response

from truemoment.web.browsing.kept import Collections, KeptMoment, MomentCollection, RevisionError, Text, Time, today
from truemoment.web.browsing.video_routes import BOTH, OWNER, VideoService
from truemoment.web.pages.app import RouteOf, Visit, page_route, route
from truemoment.web.pages.errors import PageError


class SentMoment(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A moment as a page sends it: `v` is the number of a video, None for one that is not in the index."""

    id: str
    v: int | None = None
    start_s: Time
    end_s: Time
    sentence: Text = ""
    like: Text | None = None
    score: float | None = None
    match: float | None = None
    note: Text = ""


class SentCollection(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``PUT /api/collections/{name}``."""

    revision: int
    moments: list[SentMoment]


@dataclass
class KeptService:
    """Collections for pages.

    Parameters
    ----------
    collections
        The folder.
    videos
        The videos.
    """

    collections: Collections
    videos: VideoService
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def names(self, visit: Visit) -> Mapping[str, object]:
        """Return the collections, and why they cannot be changed."""
        why = self.collections.read_only if visit.visitor.role == OWNER else "this link is for looking only"
        return {"collections": self.collections.names(), "read_only": why}

    def read(self, visit: Visit) -> Mapping[str, object]:
        """Return a collection."""
        return self.as_json(self.collections.read(visit.request.path_params["name"]))

    def write(self, visit: Visit) -> Response | Mapping[str, object]:
        """Replace a collection; 409 with what is there if another tab was first."""
        name, body = visit.request.path_params["name"], visit.body
        with self._lock:
            by_id = {moment.id: moment for moment in self.collections.read(name).moments}
            try:
                moments = [self._kept(moment, by_id.get(moment.id)) for moment in body.moments]
                return self.as_json(self.collections.write(name, body.revision, moments))
            except RevisionError as conflict:
                answer = {"error": "the collection was changed in another tab", **self.as_json(conflict.current)}
                return Response(msgspec.json.encode(answer), status_code=409, media_type="application/json")

    def remove(self, visit: Visit) -> None:
        """Remove a collection."""
        with self._lock:
            self.collections.remove(visit.request.path_params["name"])

    def page(self, visit: Visit) -> Mapping[str, object]:
        """Return what the page of a collection shows first."""
        name = visit.request.path_params["name"]
        self.collections.read(name)
        return {"collection": name}

    def routes(self) -> list[RouteOf]:
        """Return the routes of collections."""
        return [
            page_route("/collection/{name}", "collection.html.j2", roles=BOTH, values=self.page),
            route("GET", "/api/collections", self.names, roles=BOTH),
            route("GET", "/api/collections/{name}", self.read, roles=BOTH),
            route("PUT", "/api/collections/{name}", self.write, roles=(OWNER,), body=SentCollection),
            route("DELETE", "/api/collections/{name}", self.remove, roles=(OWNER,)),
        ]

    def as_json(self, collection: MomentCollection) -> dict[str, Any]:
        """Return a collection with the number and the state of each video."""
        return {
            "name": collection.name,
            "revision": collection.revision,
            "moments": [self._shown(moment) for moment in collection.moments],
        }

    def _shown(self, moment: KeptMoment) -> dict[str, Any]:
        video = self.videos.shown.by_id.get(moment.video_id)
        values: dict[str, Any] = msgspec.to_builtins(moment)
        del values["identity"]
        if video is None:
            return values | {"v": None, "file": "gone"}
        state = self.videos.shown.state(video)
        if video.identity and video.identity != moment.identity:
            state = "changed"
        return values | {"v": video.number, "file": state, "duration_s": video.duration_s}

    def _kept(self, sent: SentMoment, earlier: KeptMoment | None) -> KeptMoment:
        """Return a moment to be stored: of one that is known, video and day stay."""
        if sent.end_s <= sent.start_s:
            raise PageError(400, f"got {sent.start_s:g} to {sent.end_s:g} s, expected start < end", "end_s")
        if earlier is None:
            video = self.videos.shown.at(-1 if sent.v is None else sent.v)
            video_id, identity, at_day = video.video_id, self.videos.shown.identity(video), today()
            if sent.start_s >= video.duration_s:
                raise PageError(400, f"got {sent.start_s:g} s, expected a time within the video", "start_s")
        else:
            video_id, identity, at_day = earlier.video_id, earlier.identity, earlier.at_day
        values = {name: value for name, value in msgspec.to_builtins(sent).items() if name != "v"}
        values |= {"video_id": video_id, "identity": identity, "at_day": at_day}
        values["frames"] = self._frames(video_id, sent.start_s, sent.end_s)
        try:
            return msgspec.convert(values, KeptMoment)
        except msgspec.ValidationError as error:
            raise PageError(400, str(error)) from None

    def _frames(self, video_id: str, start_s: float, end_s: float) -> tuple[int, int] | None:
        """Return first and last frame, where the frame table of the video is known."""
        video = self.videos.shown.by_id.get(video_id)
        try:
            table = None if video is None else self.videos.media.table(video)
        except PageError:
            return None
        return None if table is None else table.frames_of(start_s, end_s)
