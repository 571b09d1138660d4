"""``truemoment.index``: an index of videos, which can be searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.errors import InputError
from truemoment.base.request import function_of, ignore, several
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.report.words import counted
from truemoment.searching import report as reports
from truemoment.searching.building import IndexReport, Progress, ignore_progress
from truemoment.searching.index import indexed_videos
from truemoment.searching.indexing import index_videos
from truemoment.searching.layout import Settings
from truemoment.searching.request import IndexRequest


@dataclass(frozen=True, repr=False, eq=False)
class IndexedVideos(Result):
    """An index that was made or extended, with report, document and rows.

    Parameters
    ----------
    folder
        The index.
    settings
        Its model and frame rate.
    done
        Videos that were indexed now and before, and those that could not be read.
    durations_s
        Duration of each video of the index.
    """

    folder: Path
    settings: Settings
    done: IndexReport
    durations_s: Mapping[str, float]

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report_of_index(self.done, self.settings, str(self.folder), len(self.durations_s))

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment index --json`` writes it."""
        return reports.document_of_index(self.done, self.settings, str(self.folder), self.durations_s)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a video of the index: its duration in seconds, and whether it was indexed now."""
        return [
            {"video": name, "duration_s": duration_s, "indexed_now": name in self.done.indexed}
            for name, duration_s in self.durations_s.items()
        ]

    def __repr__(self) -> str:
        """Return the folder and the number of videos, in one line."""
        failed = f", {len(self.done.failed):,} not readable" if self.done.failed else ""
        return f"Index {self.folder}: {counted(len(self.durations_s), 'video')}{failed}"


def run(
    request: IndexRequest, *, on_progress: Progress = ignore_progress, on_status: Callable[[str], None] = ignore
) -> IndexedVideos:
    """Index videos for search: decode, embed every frame, and store the embeddings; a second call resumes.

    Parameters
    ----------
    videos
        A file, a folder, or several.

    Returns
    -------
    IndexedVideos
        The index, which :func:`truemoment.search` searches; ``done.failed`` names videos that could not be read.

    Raises
    ------
    UsageError
        If the options do not fit the index.
    MissingFileError, InputError, MissingPackageError
        If no video can be read, or a package of the extra ``search`` is missing.
    """
    settings, done = index_videos(
        request.paths,
        request.folder,
        request.encoder,
        add_models=several(request.add_model),
        engine=request.engine,
        workers=request.workers,
        partial=request.partial,
        codes=request.codes,
        subtitles=request.subtitles,
        on_progress=on_progress,
        on_status=on_status,
    )
    durations_s = {name: about.duration_s for name, (_, about) in indexed_videos(request.folder).items()}
    if done.failed and not durations_s:
        others = f" (and {len(done.failed) - 1:,} others)" if len(done.failed) > 1 else ""
        raise InputError(next(iter(done.failed.values())) + others)
    return IndexedVideos(request.folder, settings, done, durations_s)


index = function_of(IndexRequest, run, "index")
