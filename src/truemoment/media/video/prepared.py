"""Files of a video for a page: a copy that browsers play, the frame table, small pictures and peaks of the sound."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import write_bytes, write_json
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.media.video.files import identity_of
from truemoment.media.video.peaks import make_peaks
from truemoment.media.video.playable import why_copy, write_playable
from truemoment.media.video.stamps import FrameRuns, FrameTable, frame_table
from truemoment.media.video.strips import StripLayout, make_strip

FRAMES, STRIP, PEAKS, COPY = "frames.json", "strip.jpg", "peaks.bin", "copy.mp4"
"""Names of the files of a video in its folder."""


class VideoFrames(FrameRuns, forbid_unknown_fields=True):
    """``frames.json``: the frame table, the layout of the pictures, and whether a copy is played."""

    identity: str
    """Identity of the original file."""

    copy_why: str
    """Why a copy is played; "" if the file itself is."""

    strip: StripLayout | None
    """None as long as the pictures are being made."""

    has_peaks: bool
    """Whether there is sound, and so peaks of it."""


@dataclass(frozen=True)
class PreparedVideo:
    """A video that is ready to be shown.

    Parameters
    ----------
    played
        The file that browsers get: the original or its copy.
    identity, played_identity
        Identity of the original and of the file that is played.
    table
        Frame table of the file that is played.
    copy_why
        Why a copy is played; "" if the original is.
    """

    played: AnyPath
    identity: str
    played_identity: str
    table: FrameTable
    copy_why: str


def prepare_video(path: Path, folder: AnyPath, *, copy_slow: bool = True) -> PreparedVideo:
    """Make the files of a video for a page in a folder; existing ones of the same video are kept.

    The frame table is written first, so that a page can use it while pictures and peaks are made.

    Parameters
    ----------
    copy_slow
        Whether a file that browsers play exactly, but slowly, gets a copy too.

    Raises
    ------
    InputError
        If the video cannot be read or copied.
    """
    folder, identity = OwnPath.of(folder), identity_of(path)
    ready = read_prepared(path, folder, identity)
    if ready is not None:
        return ready
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FRAMES).unlink(missing_ok=True)
    table, outline = frame_table(path)
    why = why_copy(path, table, outline, slow=copy_slow)
    played: AnyPath = path
    if why:
        played = folder / COPY
        write_playable(path, played, table, outline)
        table, outline = frame_table(played)
    runs = table.runs()
    frames = VideoFrames(runs.tick, runs.runs, runs.end, identity=identity, copy_why=why, strip=None, has_peaks=False)
    write_json(folder / FRAMES, frames, indent=None)
    strip = make_strip(played, outline)
    write_bytes(folder / STRIP, strip.jpeg)
    peaks = make_peaks(played, outline)
    (folder / PEAKS).unlink(missing_ok=True)
    if peaks is not None:
        write_bytes(folder / PEAKS, peaks)
    frames = msgspec.structs.replace(frames, strip=strip.layout, has_peaks=peaks is not None)
    write_json(folder / FRAMES, frames, indent=None)
    return PreparedVideo(played, identity, identity_of(played), table, why)


def read_frames(folder: OwnPath) -> VideoFrames | None:
    """Return the frame table in the folder of a prepared video; None if there is none, or it is damaged."""
    try:
        return msgspec.json.decode((folder / FRAMES).content(), type=VideoFrames)
    except (OSError, msgspec.DecodeError):
        return None


def read_prepared(path: Path, folder: OwnPath, identity: str) -> PreparedVideo | None:
    """Return a video that was prepared in a folder; None if it was not, or another file was."""
    table = read_frames(folder)
    if table is None:
        return None
    played: AnyPath = folder / COPY if table.copy_why else path
    if table.identity != identity or not played.is_file() or table.strip is None or not (folder / STRIP).is_file():
        return None
    return PreparedVideo(played, identity, identity_of(played), FrameTable.of_runs(table), table.copy_why)
