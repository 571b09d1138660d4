"""Requests of the search page: the index, searches, strips and scores."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, get_args

import msgspec
from starlette.responses import Response

from truemoment.searching.index import Index
from truemoment.searching.listing import BEST, GAP_S, MomentListing
from truemoment.searching.moment_rows import vector_of
from truemoment.searching.narrowing import Narrowing
from truemoment.searching.report import place_and_score, reason
from truemoment.searching.retrieval import Why
from truemoment.searching.several_models import IndexModel
from truemoment.searching.speech import has_speech
from truemoment.web.browsing.searches import (
    Model,
    ModelSearches,
    PictureVector,
    SearchAnswer,
    Searches,
    SearchRequest,
    VideoMoment,
    half_precision,
    signature_of,
)
from truemoment.web.browsing.serving import SearchThread
from truemoment.web.browsing.video_routes import BOTH, OWNER, VideoService
from truemoment.web.browsing.videos import ShownVideos
from truemoment.web.pages.app import RouteOf, Visit, page_route, route
from truemoment.web.pages.errors import PageError, error_response

MOST_CHARACTERS = 2000
"""Characters of a sentence that is searched."""

MOST_TOP, MOST_APART_S = 200, 1e6

LOOKED_AT_S = 2.0
"""Seconds between two looks at whether the index has changed on disk."""

RETRY_S = "1"


class SentPicture(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /api/search/picture``: the name of a picture file, and its content (in JSON as base64)."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    data: bytes


@dataclass
class SearchService:
    """What the handlers of the search page share.

    Parameters
    ----------
    searches
        Searches of the index.
    videos
        Its videos.
    open_models
        Returns the models of the index, opened anew, and notes on them.
    """

    searches: Searches
    videos: VideoService
    open_models: Callable[[Index], tuple[list[IndexModel], list[str]]]
    thread: SearchThread[SearchAnswer] = field(default_factory=SearchThread)
    _looked_at: float = 0.0
    _has_changed: bool = False
    _reloading: threading.Lock = field(default_factory=threading.Lock)

    @property
    def model(self) -> Model:
        """The model that is not ready, or else the first one."""
        models = [each.model for each in self.searches.by_model]
        return next((model for model in models if model.state != "ready"), models[0])

    def close(self) -> None:
        """Stop the thread."""
        self.thread.close()

    # ------------------------------------------------------------------------------------------ handlers

    def index(self, visit: Visit) -> Mapping[str, object]:
        """Return the videos, and whether sentences can be searched."""
        settings = self.searches.first.index.settings
        shown_videos = self.videos.shown
        videos = [
            {
                "v": video.number,
                "video_id": video.video_id,
                "folder": video.folder,
                "duration_s": video.duration_s,
                "file": shown_videos.state(video),
            }
            for video in shown_videos.rows
        ]
        return {
            "model": settings.encoder,
            "fingerprint": settings.fingerprint,
            "fps": settings.fps,
            "videos": videos,
            "ready": self.model.state == "ready",
            "state": self.model.state,
            "why": self.model.why,
            "models": [each.of_index.name for each in self.searches.by_model],
            "examples": self.searches.first.model.examples,
            "has_speech": has_speech(self.searches.index),
            "changed": self._changed(),
            "role": visit.visitor.role,
        }

    def search(self, visit: Visit) -> Response | Mapping[str, object]:
        """Return the moments of a sentence."""
        visit.require_same_site()
        sentence = visit.query_text("q", MOST_CHARACTERS)
        if not sentence:
            raise PageError(400, "got an empty sentence, expected what to look for", "q")
        request = self._request(visit, sentence)
        refusal = self._refusal()
        return self._answered(visit, lambda: request) if refusal is None else refusal

    def picture(self, visit: Visit) -> Response | Mapping[str, object]:
        """Return moments that resemble a picture, which comes with the request."""
        sent, request, searches = visit.body, self._request(visit), self.searches
        refusal = self._refusal()
        if refusal is not None:
            return refusal
        return self._answered(visit, lambda: replace(request, picture=searches.embed(sent.name, sent.data)))

    def like(self, visit: Visit) -> Mapping[str, object]:
        """Return moments that resemble one, or the picture of one of the last searches."""
        visit.require_same_site()
        if "picture" in visit.request.query_params:
            request = replace(self._request(visit), picture=self._picture(visit))
        else:
            request = self._request(visit, like=self._moment(visit))
        return self._answered(visit, lambda: request)

    def score(self, visit: Visit) -> Response | Mapping[str, object]:
        """Return the score of any moment of a video, for a sentence or a moment."""
        visit.require_same_site()
        moment = self._moment(visit)
        record = self.searches.record(visit.query_text("search"))
        if record is not None:
            vector, request = record.vector, record.request
        elif "like" in visit.request.query_params:
            like = self._like_text(visit.query_text("like"))
            vector = vector_of(self.searches.first.index, like.video_id, like.start_s, like.end_s)
            request = SearchRequest("", like)
        elif "picture" in visit.request.query_params:
            picture = self._picture(visit)
            vector, request = picture.vectors[0], SearchRequest("", picture=picture)
        else:
            refusal = self._refusal()
            if refusal is not None:
                return refusal
            sentence = visit.query_text("q", MOST_CHARACTERS)
            vector, request = self.searches.first.model.vector(sentence).vector, SearchRequest(sentence)
        scored, is_whole = self.searches.score(moment, vector, request)
        return {"score": scored.score, "match": scored.match, "shorter_than_a_row": not is_whole}

    def strip(self, visit: Visit) -> Response:
        """Return the strip of a video for one of the last searches."""
        record = self.searches.record(visit.request.path_params["search"])
        if record is None:
            raise PageError(404, "this search is forgotten; search again")
        video = self.videos.video_of(visit)
        columns = self.searches.strip(record, video.video_id)
        headers = {
            "X-Median": f"{record.median:.6f}",
            "X-Best": f"{record.best_seen:.6f}",
            "Cache-Control": "private, max-age=3600",
        }
        return Response(half_precision(columns), media_type="application/octet-stream", headers=headers)

    def reload(self, visit: Visit) -> None:
        """Load the index anew, after it has changed on disk."""
        del visit
        with self._reloading:
            old = self.searches.by_model
            index = Index(self.searches.index.path)
            models, notes = self.open_models(index)
            if [each.index.settings.fingerprint for each in models] != [
                each.index.settings.fingerprint for each in old
            ]:
                raise PageError(409, "the index is now of another model; start the server again")
            by_model = [ModelSearches(each, before.model) for each, before in zip(models, old, strict=True)]
            self.searches = Searches(index, by_model, notes)
            self.videos.replace(ShownVideos.of_index(index))
            self._has_changed = False

    def video_page(self, visit: Visit) -> Mapping[str, object]:
        """Return what the page of a video shows first."""
        return {"video": self.videos.video_of(visit)}

    def routes(self) -> list[RouteOf]:
        """Return the routes of searches."""
        return [
            page_route("/", "search.html.j2", roles=BOTH),
            page_route("/film/{v:number}", "video.html.j2", roles=BOTH, values=self.video_page),
            route("GET", "/api/index", self.index, roles=BOTH),
            route("POST", "/api/index/reload", self.reload, roles=(OWNER,)),
            route("GET", "/api/search", self.search, roles=BOTH),
            route("POST", "/api/search/picture", self.picture, roles=BOTH, body=SentPicture),
            route("GET", "/api/like", self.like, roles=BOTH),
            route("GET", "/api/score", self.score, roles=BOTH),
            route("GET", "/api/strip/{search}/{v:number}", self.strip, roles=BOTH),
        ]

    # ------------------------------------------------------------------------------------------- private

    def _refusal(self) -> Response | None:
        """Return the answer while no sentence can be searched."""
        state = self.model.state
        if state == "ready":
            return None
        if state == "failed":
            return error_response(422, f"the model cannot be loaded: {self.model.why}", "model")
        waiting = error_response(503, "the model is being loaded", "model")
        waiting.headers["Retry-After"] = RETRY_S
        return waiting

    def _request(self, visit: Visit, sentence: str = "", like: VideoMoment | None = None) -> SearchRequest:
        top = visit.query_number("top", 12, least=1, highest=MOST_TOP)
        apart_s = visit.query_seconds("apart", 5.0)
        if apart_s > MOST_APART_S:
            raise PageError(400, f"got {apart_s:g}, expected seconds up to {MOST_APART_S:,.0f}", "apart")
        exact = visit.query_number("exact", 0, highest=1) == 1
        videos, shown = self._videos(visit), visit.query_text("list")
        if shown not in ("", "every", "first"):
            raise PageError(400, f"got {shown!r}, expected every or first", "list")
        listing = (
            BEST
            if like
            else MomentListing(
                then=_texts(visit, "then"),
                gap=visit.query_seconds("gap", GAP_S),
                every=shown == "every",
                first=shown == "first",
                avoid=_texts(visit, "avoid"),
            )
        )
        narrowing = Narrowing(
            file=_texts(visit, "file"),
            folder=_texts(visit, "folder"),
            date=visit.query_text("date") or None,
            time=visit.query_text("time") or None,
            length=visit.query_text("length") or None,
        )
        text = visit.query_text("by") or "seen" if like is None else "seen"
        by: Why | None = next((way for way in get_args(Why) if way == text), None)
        if by is None:
            raise PageError(400, "expected seen, said or both", "by")
        listing.check_beside(said=by != "seen")
        return SearchRequest(sentence, like, top, apart_s, videos, exact, listing=listing, narrowing=narrowing, by=by)

    def _videos(self, visit: Visit) -> tuple[str, ...] | None:
        text = visit.request.query_params.get("videos")
        if not text:
            return None
        parts = text.split(",")
        if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
            raise PageError(400, "expected numbers of videos with commas between them", "videos")
        return tuple(self.videos.shown.at(int(part)).video_id for part in dict.fromkeys(parts))

    def _moment(self, visit: Visit) -> VideoMoment:
        video = self.videos.shown.at(visit.query_number("v", -1) if "v" in visit.request.query_params else -1)
        return VideoMoment(video.video_id, visit.query_seconds("start"), visit.query_seconds("end"))

    def _picture(self, visit: Visit) -> PictureVector:
        """Return the picture of one of the last searches."""
        record = self.searches.record(visit.query_text("picture"))
        if record is None or record.request.picture is None:
            raise PageError(404, "the picture is forgotten; choose it again", "picture")
        return record.request.picture

    def _like_text(self, text: str) -> VideoMoment:
        parts = text.split(":")
        try:
            v, start_s, end_s = int(parts[0]), float(parts[1]), float(parts[2])
        except (IndexError, ValueError):
            raise PageError(400, "expected VIDEO:START:END", "like") from None
        if not 0 <= start_s < end_s < MOST_APART_S:
            raise PageError(400, "expected start < end, in seconds", "like")
        return VideoMoment(self.videos.shown.at(v).video_id, start_s, end_s)

    def _answered(self, visit: Visit, request: Callable[[], SearchRequest]) -> Mapping[str, object]:
        """Return the answer to a request, which is made in the thread that searches."""
        tab, number = visit.query_text("tab", 40), visit.query_number("n", 0)
        searches = self.searches
        future = self.thread.submit(tab or str(id(request)), number, lambda: searches.find(request()))
        return self._as_json(future.result())

    def _as_json(self, answer: SearchAnswer) -> dict[str, Any]:
        by_id = self.videos.shown.by_id
        moments = [
            {
                "rank": rank,
                "v": by_id[moment.video_id].number,
                **place_and_score(moment),
                "parts": [{"start_s": part.start_s, "end_s": part.end_s} for part in moment.parts],
                **reason(moment),
            }
            for rank, moment in enumerate(answer.moments, start=1)
        ]
        like = answer.request.like
        return {
            "search": answer.name,
            "q": answer.request.sentence,
            "title": answer.request.listing.title(answer.request.sentence),
            "by": answer.request.by,
            "like": None
            if like is None
            else {"v": by_id[like.video_id].number, "start_s": like.start_s, "end_s": like.end_s},
            "picture": answer.request.picture and answer.request.picture.name,
            "notes": list(answer.notes),
            "unknown_words": list(answer.result.unknown.words),
            "no_word_known": answer.result.unknown.every,
            "nothing_stands_out": answer.result.nothing_stands_out
            or (answer.request.listing.must_stand_out and not moments),
            "best_match": answer.result.best_match,
            "scored": answer.n_scored,
            "videos": answer.n_videos,
            "ms": answer.times_ms,
            "median": answer.median,
            "best": answer.best,
            "changed": self._changed(),
            "moments": moments,
        }

    def _changed(self) -> bool:
        """Whether the index on disk is another one than was loaded; looked at every few seconds."""
        now_s = time.monotonic()
        if now_s - self._looked_at > LOOKED_AT_S:
            self._looked_at = now_s
            self._has_changed = signature_of(self.searches.index.path) != self.searches.signature
        return self._has_changed


def _texts(visit: Visit, name: str) -> tuple[str, ...]:
    return tuple(filter(None, [visit.query_text(name, MOST_CHARACTERS)]))
