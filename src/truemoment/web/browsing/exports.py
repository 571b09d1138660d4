"""Exports of a page: moments as text for other programs, or as clips, several in a ZIP."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import msgspec
from starlette.responses import FileResponse, Response

from truemoment.base.boundary.files import atomic_write, write_bytes
from truemoment.base.boundary.own_path import OwnPath, open_regular
from truemoment.base.boundary.processes import RestartingPool, begin_quietly
from truemoment.base.errors import TrueMomentError, UsageError
from truemoment.media.video.clips import cut_clip
from truemoment.searching.exporting.formats import ENDINGS, annotations_text, export_text, predictions_text
from truemoment.searching.exporting.moments import ExportedFilm, ExportedMoment, film_of
from truemoment.searching.pictures import SearchResult, name_of_files
from truemoment.searching.retrieval import FoundMoment
from truemoment.web.browsing.kept import Collections, KeptMoment
from truemoment.web.browsing.kept_routes import SentMoment
from truemoment.web.browsing.video_routes import OWNER, VideoService
from truemoment.web.pages.app import RouteOf, Visit, route
from truemoment.web.pages.errors import PageError
from truemoment.web.pages.jobs import JobCancelledError, Jobs, PageJob

CLIPS = "clips"

RECORDS: Mapping[str, tuple[str, Callable[[Sequence[ExportedMoment]], str]]] = MappingProxyType(
    {"predictions": ("predictions.jsonl", predictions_text), "annotations": ("annotations.jsonl", annotations_text)}
)
"""The package's own files: ending of the name, and how the text is made."""

FORMATS = (*(ending.removeprefix(".") for ending in ENDINGS), *RECORDS, CLIPS)


class ExportOptions(msgspec.Struct, forbid_unknown_fields=True):
    """Options of timelines: names without folders, and the time code of the first frame."""

    names: bool = False
    start: str | None = None


class ExportBody(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /api/export``: a collection by name, or moments."""

    format: str
    collection: str | None = None
    moments: list[SentMoment] | None = None
    options: ExportOptions = msgspec.field(default_factory=ExportOptions)


@dataclass(frozen=True)
class ChosenMoment:
    """A moment to be exported: number of its video and identity of the file, "" where it is that of the index."""

    v: int
    identity: str
    start_s: float
    end_s: float
    sentence: str
    score: float | None
    match: float | None
    note: str = ""


def cut(path: str, out: str, start_s: float, end_s: float) -> str:
    """Cut a clip; return why it cannot be cut, "" if it is; runs in a worker."""
    try:
        cut_clip(Path(path), Path(out), start_s, end_s)
    except (TrueMomentError, OSError) as error:
        return str(error)
    return ""


@dataclass
class ExportService:
    """Exports for pages.

    Parameters
    ----------
    collections, videos
        Collections and videos of the page.
    folder
        Folder that exports are written to; None to send them to the browser.
    """

    collections: Collections
    videos: VideoService
    folder: Path | None = None
    jobs: Jobs = field(default_factory=Jobs)

    def __post_init__(self) -> None:
        """Make the folder of files under way, and the worker."""
        self._own = Path(tempfile.mkdtemp(prefix="truemoment-exports-"))
        self._pool = RestartingPool(1, begin_quietly)

    def close(self) -> None:
        """Cancel what runs, and remove what was not written to a folder."""
        self._pool.close()
        self.jobs.close()
        shutil.rmtree(self._own, ignore_errors=True)

    # ------------------------------------------------------------------------------------------ handlers

    def export(self, visit: Visit) -> Response | Mapping[str, object]:
        """Return a file, or start the job that makes one."""
        body: ExportBody = visit.body
        if body.format not in FORMATS:
            raise PageError(400, f"got {body.format[:40]!r}, expected {', '.join(FORMATS)}", "format")
        name = body.collection or "moments"
        moments = self._chosen(body)
        if body.format == CLIPS:
            job = self.jobs.start(lambda job: self._clips(job, moments, name))
            return Response(msgspec.json.encode(job.as_json()), status_code=202, media_type="application/json")
        try:
            text = self._text(moments, body)
        except TrueMomentError as error:
            raise PageError(422, str(error)) from None
        file = f"{name}.{RECORDS[body.format][0] if body.format in RECORDS else body.format}"
        if self.folder is not None:
            return {"written": self._written(file, text.encode())}
        headers = {"Content-Disposition": f'attachment; filename="{file}"'}
        return Response(text.encode("utf-8", "replace"), media_type="application/octet-stream", headers=headers)

    def job(self, visit: Visit) -> Mapping[str, object]:
        """Return how far a job is."""
        return self.jobs.find(visit.request.path_params["id"]).as_json()

    def cancel(self, visit: Visit) -> None:
        """Cancel a job."""
        self.jobs.find(visit.request.path_params["id"]).cancel()

    def file(self, visit: Visit) -> Response:
        """Return the file of a job."""
        job = self.jobs.find(visit.request.path_params["id"])
        if job.result is None or not job.result.is_file():
            raise PageError(404, "not ready")
        kind = "application/zip" if job.result.suffix == ".zip" else "video/mp4"
        return FileResponse(job.result, media_type=kind, filename=job.result.name)

    def routes(self) -> list[RouteOf]:
        """Return the routes of exports."""
        owner = (OWNER,)
        return [
            route("POST", "/api/export", self.export, roles=owner, body=ExportBody),
            route("GET", "/api/jobs/{id}", self.job, roles=owner),
            route("DELETE", "/api/jobs/{id}", self.cancel, roles=owner),
            route("GET", "/api/jobs/{id}/file", self.file, roles=owner),
        ]

    # ------------------------------------------------------------------------------------------- private

    def _chosen(self, body: ExportBody) -> list[ChosenMoment]:
        if (body.collection is None) == (body.moments is None):
            raise PageError(400, "expected a collection or moments", "collection")
        if body.collection is not None:
            return [self._of_kept(moment) for moment in self.collections.read(body.collection).moments]
        moments = []
        for moment in body.moments or []:
            video = self.videos.shown.at(-1 if moment.v is None else moment.v)
            if moment.end_s <= moment.start_s:
                raise PageError(400, f"got {moment.start_s:g} to {moment.end_s:g} s, expected start < end", "moments")
            moments.append(
                ChosenMoment(
                    video.number,
                    "",
                    moment.start_s,
                    moment.end_s,
                    moment.sentence or moment.like or "",
                    moment.score,
                    moment.match,
                    moment.note,
                )
            )
        return moments

    def _of_kept(self, moment: KeptMoment) -> ChosenMoment:
        video = self.videos.shown.by_id.get(moment.video_id)
        number = -1 if video is None else video.number
        return ChosenMoment(
            number,
            moment.identity,
            moment.start_s,
            moment.end_s,
            moment.sentence or moment.like or "",
            moment.score,
            moment.match,
            moment.note,
        )

    def _path(self, moment: ChosenMoment) -> Path:
        """Return the file of a moment's video; refuse one that was exchanged since the moment was kept."""
        video = self.videos.shown.at(moment.v)
        if moment.identity and self.videos.shown.identity(video) != moment.identity:
            raise PageError(404, f"{video.video_id}: the video was changed since the moment was kept")
        return self.videos.shown.path(video)

    def _text(self, selection: Sequence[ChosenMoment], body: ExportBody) -> str:
        videos: dict[int, ExportedFilm] = {}
        moments = []
        for moment in selection:
            path = self._path(moment)
            if moment.v not in videos:
                video = self.videos.shown.at(moment.v)
                table = self.videos.media.own_table(video)
                videos[moment.v] = film_of(video.video_id, path, body.options.start, table=table)
            first, last = videos[moment.v].table.frames_of(moment.start_s, moment.end_s)
            moments.append(
                ExportedMoment(videos[moment.v], first, last, moment.sentence, moment.score, moment.match, moment.note)
            )
        if body.format in RECORDS:
            return RECORDS[body.format][1](moments)
        return export_text(moments, f".{body.format}", names_only=body.options.names)

    def _written(self, name: str, data: bytes) -> str:
        """Write a file into the folder of exports, and return its name."""
        assert self.folder is not None  # noqa: S101 - callers look
        folder = OwnPath(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / name, data)
        return name

    def _clips(self, job: PageJob, moments: Sequence[ChosenMoment], name: str) -> Path:
        """Cut the clip of a moment, or those of several into a ZIP: what fails is named, and the others are there."""
        failed = []
        folder = Path(tempfile.mkdtemp(dir=self._own))
        if len(moments) == 1:
            why, clip = self._cut(job, moments[0], 1, folder)
            if why:
                raise UsageError(f"the clip could not be cut; {why}")
            job.progress(1, 1)
            return self._delivered(clip)
        target = folder / f"{name}.zip"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
            for number, moment in enumerate(moments):
                job.progress(number, len(moments))
                why, clip = self._cut(job, moment, number + 1, folder)
                if why:
                    failed.append(f"{number + 1}: {why}")
                else:
                    archive.write(clip, clip.name)
                    clip.unlink()
        job.progress(len(moments), len(moments))
        if len(failed) == len(moments):
            raise UsageError(f"no clip could be cut; {failed[0]}" if failed else "there is no moment to cut")
        if failed:
            job.why = f"{len(failed)} of {len(moments)} moments are left out; {failed[0]}"
        return self._delivered(target)

    def _delivered(self, target: Path) -> Path:
        """Copy a file into the folder of exports, if there is one; return the file."""
        if self.folder is not None:
            out = OwnPath(self.folder)
            out.mkdir(parents=True, exist_ok=True)
            with atomic_write(out / target.name) as stream, open_regular(target) as source:
                shutil.copyfileobj(source, stream)
        return target

    def _cut(self, job: PageJob, moment: ChosenMoment, rank: int, folder: Path) -> tuple[str, Path]:
        try:
            path = self._path(moment)
        except PageError as error:
            return error.problem, folder
        video_id = self.videos.shown.at(moment.v).video_id
        result = SearchResult(rank, FoundMoment(video_id, moment.start_s, moment.end_s, moment.score or 0.0), path)
        clip = folder / f"{name_of_files(result)}.mp4"
        task = self._pool.submit(cut, str(path), str(clip), moment.start_s, moment.end_s)
        while True:
            try:
                return task.result(0.2), clip
            except TimeoutError:
                try:
                    job.progress(job.done, job.total)
                except JobCancelledError:
                    self._pool.restart()
                    raise
            except BrokenProcessPool:
                return "cutting it ended its process", clip
