"""What the searches share: what is searched, which is indexed first if it is a video, and notes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.cli.index.videos import indexing
from truemoment.cli.outputs import say

if TYPE_CHECKING:
    from truemoment.searching.building import IndexReport
    from truemoment.searching.request import VideoIndexing
    from truemoment.searching.session import SearchTarget


def target_of(request: VideoIndexing, path: Path, *, quiet: bool = False) -> SearchTarget:
    """Return what is searched; a video is indexed with a progress bar, and notes go to standard error."""

    def make_index(video: Path, out: Path) -> IndexReport:
        from truemoment.searching.indexing import index_videos

        with indexing(show=not quiet) as (on_status, on_progress):
            return index_videos(
                (video,), out, request.encoder, partial=request.partial, on_progress=on_progress, on_status=on_status
            )[1]

    return request.search_target(path, (lambda _: None) if quiet else note, make_index)


def note(line: str) -> None:
    """Write a note on standard error."""
    say(f"note: {line}", err=True)
