"""What both pages have: requests of a video (its pictures, its file, what belongs to it), and links of who looks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from starlette.responses import Response

from truemoment.base.records import MAX_TIME_S
from truemoment.media.video.prepared import FRAMES, PEAKS, STRIP
from truemoment.web.browsing.pictures import SIDE, SIDES, MomentPicture, MomentPictures
from truemoment.web.browsing.playing import Playing, VideoMedia
from truemoment.web.browsing.videos import ShownVideo, ShownVideos
from truemoment.web.pages.app import RouteOf, Visit, route
from truemoment.web.pages.errors import PageError
from truemoment.web.pages.sessions import Visitor, new_token, sha256_of_token

OWNER, GUEST = "owner", "guest"
BOTH = (OWNER, GUEST)
"""Who looks: the owner, and whoever has the read-only link."""

CACHED = "private, max-age=86400"

MOST_MS = int(MAX_TIME_S * 1000)


class VideoService:
    """Handlers of pages for the videos shown.

    Parameters
    ----------
    shown
        The videos.
    cache
        Folder of pictures and of what is prepared.
    """

    def __init__(self, videos: ShownVideos, cache: Path) -> None:
        self.shown = videos
        self.pictures = MomentPictures(videos, cache)
        self.media = VideoMedia(videos, cache)

    def start(self) -> None:
        """Start the workers."""
        self.pictures.start()
        self.media.start()

    def close(self) -> None:
        """End the workers."""
        self.media.close()
        self.pictures.close()

    def replace(self, videos: ShownVideos) -> None:
        """Replace the videos by those of an index that was loaded anew."""
        self.shown = self.pictures.shown = self.media.shown = videos

    def video_of(self, visit: Visit) -> ShownVideo:
        """Return the video that a path names."""
        return self.shown.at(visit.number("v"))

    # ------------------------------------------------------------------------------------------ handlers

    def picture(self, visit: Visit) -> Response:
        """Return a picture of a moment: `ms` is its middle, ``half`` half its length in milliseconds."""
        visit.require_same_site()
        middle_ms = _ms(visit, "ms")
        half_ms = visit.query_number("half", 0, highest=MOST_MS)
        side = visit.query_number("side", SIDE, highest=SIDES[-1])
        side = next(size for size in SIDES if size >= side)
        is_exact = visit.query_number("exact", 0, highest=1) == 1
        start_s, end_s = max(0, middle_ms - half_ms) / 1000, (middle_ms + half_ms) / 1000
        picture = self.pictures.picture(self.video_of(visit), start_s, end_s, side=side, exact=is_exact)
        return _jpeg(visit, picture)

    def preview(self, visit: Visit) -> Response:
        """Return pictures of a moment side by side."""
        visit.require_same_site()
        start_ms, end_ms = _ms(visit, "start"), _ms(visit, "end")
        if start_ms >= end_ms:
            raise PageError(400, "expected start < end", "start")
        return _jpeg(visit, self.pictures.sheet(self.video_of(visit), start_ms / 1000, end_ms / 1000))

    def playing(self, visit: Visit) -> Playing:
        """Return how a video is played."""
        return self.media.playing(self.video_of(visit))

    def video(self, visit: Visit) -> Response:
        """Return the file of a video, whole or in ranges."""
        return self.media.video(self.video_of(visit))

    def file(self, name: str, kind: str) -> Callable[[Visit], Response]:
        """Return the handler of a file that belongs to a video."""
        return lambda visit: self.media.file(self.video_of(visit), name, kind)

    def routes(self) -> list[RouteOf]:
        """Return the routes of videos."""
        return [
            route("GET", "/picture/{v:number}/{ms:number}.jpg", self.picture, roles=BOTH),
            route("GET", "/preview/{v:number}/{start:number}-{end:number}.jpg", self.preview, roles=BOTH),
            route("GET", "/api/videos/{v:number}", self.playing, roles=BOTH),
            route("GET", "/media/{v:number}", self.video, roles=BOTH),
            route("GET", "/media/{v:number}/frames.json", self.file(FRAMES, "application/json"), roles=BOTH),
            route("GET", "/media/{v:number}/strip.jpg", self.file(STRIP, "image/jpeg"), roles=BOTH),
            route("GET", "/media/{v:number}/peaks.bin", self.file(PEAKS, "application/octet-stream"), roles=BOTH),
        ]


def _ms(visit: Visit, name: str) -> int:
    value = visit.number(name)
    if value > MOST_MS:
        raise PageError(400, f"got {value}, expected milliseconds up to {MOST_MS}", name)
    return value


def _jpeg(visit: Visit, picture: MomentPicture) -> Response:
    etag = f'"{hashlib.sha256(picture.jpeg).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": CACHED, "X-Time": f"{picture.time_s:.3f}"}
    if visit.request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(picture.jpeg, media_type="image/jpeg", headers=headers)


class LinkTokens:
    """Random tokens of the links of one start of a server.

    Parameters
    ----------
    guests
        Whether there is a link for guests.
    """

    def __init__(self, *, guests: bool = False) -> None:
        self.owner = new_token()
        self.guest = new_token() if guests else None
        self._roles = {sha256_of_token(self.owner): Visitor(OWNER)}
        if self.guest is not None:
            self._roles[sha256_of_token(self.guest)] = Visitor(GUEST)

    def find(self, digest: bytes) -> Visitor | None:
        """Return who has the token with a SHA-256."""
        return self._roles.get(digest)
