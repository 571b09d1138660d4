"""Kinds of file that are opened, and what they state about their own length."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular, path_of_opened
from truemoment.base.errors import InputError, MissingFileError, MissingPackageError, TrueMomentError

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.video.stream import VideoStream

CONTAINERS = "mov,mp4,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg,mxf,gif,apng,nut,ivf,dv,yuv4mpegpipe,rm,wtv"
"""Kinds of file that are opened. Playlists are not: they name other files, and addresses."""

RAW_STREAMS: Mapping[str, str] = MappingProxyType(
    {
        "h264": "H.264",
        "hevc": "HEVC",
        "mpegvideo": "MPEG-2",
        "m4v": "MPEG-4",
        "obu": "AV1",
    }
)
"""Streams without a container, which have no time stamps, by the name that FFmpeg gives them."""

WITHOUT_LENGTH = ("aac", "ac3", "eac3", "dts", "truehd", "amr")
"""Kinds of file that state no length; FFmpeg estimates one from the bit rate."""

MOST_PIXELS = 1 << 27
"""Of one picture: 16 thousand by 8 thousand. What says it is larger is not decoded."""


@contextmanager
def opened_container(path: AnyPath, formats: str = CONTAINERS) -> Iterator[InputContainer]:
    """Open a file that is one of some formats; errors other than those below are PyAV's.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InputError
        If it is another kind of file or a raw stream, with the command of FFmpeg that makes one that is opened.
    """
    try:
        import av  # noqa: PLC0415 - only videos need it
    except ModuleNotFoundError:
        raise MissingPackageError("av", "served", "reading videos") from None
    try:
        stream = open_regular(reading(path))  # FFmpeg would wait for a pipe
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file") from None
    # A full path cannot be read as an address. Messages of FFmpeg have the name of a file that the user named.
    real = str(path.resolve()) if isinstance(path, Path) else path_of_opened(stream, path)
    with stream:
        try:
            container = _open(real, formats)
        except av.ArgumentError:  # of no allowed format
            raise _raw_stream(path, real) or _other_kind(path, formats) from None
        with container:
            yield container


def creation_time(path: AnyPath) -> str:
    """Return the creation time that a video states, in ISO 8601 with its time zone; "" for none, and for no video."""
    try:
        import av  # noqa: PLC0415 - as above
    except ModuleNotFoundError:
        return ""
    with suppress(TrueMomentError, av.FFmpegError, ValueError, OSError), opened_container(path) as container:
        created = datetime.fromisoformat(container.metadata.get("creation_time", ""))
        if created.tzinfo is not None and 1970 < created.year < 9999:  # a clock that nobody has set starts with 1970
            return created.isoformat()
    return ""


def _open(real: str, formats: str) -> InputContainer:
    """Open a file of some formats: what is no video is not tried as one; text beside the pictures need not be UTF-8."""
    import av  # noqa: PLC0415 - only videos need it

    options = {"format_whitelist": formats, "max_pixels": str(MOST_PIXELS)}
    return av.open(real, options=options, metadata_errors="replace")


def _raw_stream(path: AnyPath, real: str) -> InputError | None:
    """Describe a stream without a container; None if a file is none."""
    import av  # noqa: PLC0415 - as above

    try:
        with _open(real, ",".join(RAW_STREAMS)) as container:
            codec = RAW_STREAMS.get(container.format.name)
    except (av.FFmpegError, ValueError):
        return None
    if codec is None:
        return None
    # A copy (-c copy) would give frames of H.264 and HEVC, which are stored out of order, wrong times.
    return InputError(
        f"is a raw {codec} stream, which has no time stamps; expected a container",
        path=path,
        hint=f"make one, with its frames per second: `ffmpeg -framerate 25 {_from_and_to(path, 'mp4')}`",
    )


def _other_kind(path: AnyPath, formats: str) -> InputError:
    """Describe a file that is of none of the formats."""
    wanted, ending = ("a video", "mp4") if formats == CONTAINERS else ("sound", "m4a")
    return InputError(
        f"cannot be read as {wanted} (another kind of file)",
        path=path,
        hint=f"if FFmpeg reads it, `ffmpeg {_from_and_to(path, ending)}` makes one that is read",
    )


def _from_and_to(path: AnyPath, ending: str) -> str:
    return f"-i {shlex.quote(path.name)} {shlex.quote(f'{path.stem}.{ending}')}"


def estimates_length(container: InputContainer, stream: VideoStream | AudioStream) -> bool:
    """Whether a length is no statement of the file: FFmpeg estimates one where it knows a bit rate."""
    name = container.format.name
    # Matroska states a length for the whole file and never for a stream.
    return name in WITHOUT_LENGTH or ("matroska" in name and stream.duration is not None)
