"""One file with the records of all videos of a large index, so that opening reads no folder of a video.

``INDEX/manifest.msgpack`` is written after indexing, from :data:`LEAST_VIDEOS` videos on. It has the time of the last
change of the folder ``videos`` and is ignored if that has changed since: then the folders are read, and the next
``truemoment index`` writes it again. When a video is scored, its record is compared with its folder.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from truemoment.base.boundary.files import DATA_BYTES, read_bytes, write_bytes
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError
from truemoment.searching.layout import ABOUT, MANIFEST, VIDEOS, VideoRecord, folder_name, read_about

LEAST_VIDEOS = 1000
"""Videos from which on a manifest is written: the folders of fewer are read in some 30 ms."""

SCHEMA = "truemoment/index-manifest/1"

REMOVE = "remove it: truemoment index writes it again"


class IndexManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The records of all videos.

    Parameters
    ----------
    changed_ns
        Time of the last change of the folder ``videos``.
    videos
        In the order of their names.
    """

    changed_ns: int
    videos: list[VideoRecord]
    schema: str = SCHEMA


def write_manifest(index: AnyPath, abouts: Mapping[str, VideoRecord]) -> None:
    """Write the manifest of an index, or remove it where the index is small."""
    path = OwnPath.of(index)
    if len(abouts) < LEAST_VIDEOS:
        (path / MANIFEST).unlink(missing_ok=True)
        return
    videos = [abouts[name] for name in sorted(abouts)]
    manifest = IndexManifest(changed_ns=(path / VIDEOS).stat().st_mtime_ns, videos=videos)
    write_bytes(path / MANIFEST, msgspec.msgpack.encode(manifest))


def read_manifest(index: AnyPath) -> dict[str, tuple[OwnPath, VideoRecord]] | None:
    """Return the folder and the record of each video; None if there is no manifest or it is too old."""
    path = OwnPath.of(index)
    file = path / MANIFEST
    if not file.is_file():
        return None
    try:
        manifest = msgspec.msgpack.decode(read_bytes(file, most=DATA_BYTES), type=IndexManifest)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"is no manifest of an index ({error})", path=file, hint=REMOVE) from None
    if manifest.schema != SCHEMA:
        raise InputError(f"got {manifest.schema!r}, expected {SCHEMA!r}", path=file, field="schema", hint=REMOVE)
    if manifest.changed_ns != (path / VIDEOS).stat().st_mtime_ns:
        return None
    folders = {folder.name: folder for folder in (path / VIDEOS).folders()}
    videos: dict[str, tuple[OwnPath, VideoRecord]] = {}
    for about in manifest.videos:
        name = folder_name(about.video_id)
        if name not in folders:
            raise InputError(f"names video {about.video_id!r}, which has no folder", path=file, hint=REMOVE)
        videos[about.video_id] = (folders[name], about)
    return videos


def refuse_newer(path: OwnPath, folder: OwnPath, about: VideoRecord) -> None:
    """Refuse a manifest whose record of a video differs from that of its folder."""
    if read_about(folder / ABOUT) != about:
        raise InputError(f"has another record of video {about.video_id!r} than its folder", path=path, hint=REMOVE)
