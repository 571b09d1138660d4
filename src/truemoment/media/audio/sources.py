"""The sound of a file to read: ``film.mp4``, ``film.mkv#2`` (stream 2), ``film.mkv#eng-ad`` (by language)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from truemoment.base.errors import InputError, UsageError
from truemoment.media.video.containers import CONTAINERS, opened_container
from truemoment.media.video.frames import error_in_words, has_decoder, read_errors

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer

SOUND_CONTAINERS = f"{CONTAINERS},mp3,wav,w64,flac,aac,ac3,eac3,dts,truehd,wv,tta,au,amr,aiff,caf"
"""Kinds of file that are opened for their sound. Playlists are not: they name other files, and addresses."""

_DESCRIBED = re.compile(r"descri|\bad\b|\bdvs\b|narrat", re.IGNORECASE)


class SoundStream(NamedTuple):
    """A stream of sound in a file.

    Parameters
    ----------
    number
        Its number among all streams of the file.
    language
        As the file states it, such as ``eng``; "" for none.
    title
        As the file states it; "" for none.
    describes
        Whether the file marks it as audio description, or its title says so.
    """

    number: int
    language: str
    title: str
    describes: bool

    def __str__(self) -> str:
        """Return its name in messages: ``#2 eng-ad "Described"``."""
        kind = f"{self.language or 'und'}{'-ad' if self.describes else ''}"
        return f"#{self.number} {kind}" + (f' "{self.title}"' if self.title else "")


class Source(NamedTuple):
    """A file and one of its sounds: the stream's number, its language (``eng``, ``eng-ad``), or "" for the only one."""

    path: Path
    stream: str = ""

    def __str__(self) -> str:
        """Return it as :func:`parse_source` reads it."""
        return f"{self.path}#{self.stream}" if self.stream else str(self.path)


def parse_source(text: str) -> Source:
    """Read ``FILE``, ``FILE#NUMBER`` or ``FILE#LANGUAGE``; a file whose whole name this is comes first.

    Examples
    --------
    >>> parse_source("film.mkv#eng-ad").stream
    'eng-ad'
    """
    name, mark, stream = text.rpartition("#")
    if not mark or Path(text).exists():
        return Source(Path(text))
    if not name or not re.fullmatch(r"\d{1,4}|[A-Za-z]{2,8}(-ad)?", stream):
        raise UsageError(f"{text}: got #{stream}, expected FILE#NUMBER or FILE#LANGUAGE[-ad]")
    return Source(Path(name), stream)


@contextmanager
def reading_sound(path: Path) -> Iterator[None]:
    """Raise an InputError in one line for any error of PyAV."""
    try:
        yield
    except read_errors() as error:
        raise InputError(f"cannot be read as sound ({error_in_words(error)})", path=path) from None


@contextmanager
def opened_sound(source: Source) -> Iterator[tuple[InputContainer, AudioStream]]:
    """Open a file and the sound of it that is named; errors are reported in one line."""
    with reading_sound(source.path), opened_container(source.path, SOUND_CONTAINERS) as container:
        yield container, chosen_stream(source, container)


def stated_length_s(source: Source) -> float:
    """Return how long a file lasts by what it states, without reading it; 0 where it states nothing."""
    with opened_sound(source) as (container, _):
        return (container.duration or 0) / 1_000_000


def chosen_stream(source: Source, container: InputContainer) -> AudioStream:
    """Return the stream of an open file that a source names.

    Raises
    ------
    InputError
        If there is no sound, none that is so named, or several and none is named.
    """
    streams = [stream for stream in container.streams.audio if has_decoder(stream) and stream.rate and stream.channels]
    if not streams:
        raise InputError("has no sound", path=source.path, hint="name a file with a sound stream")
    described = [described_stream(stream) for stream in streams]
    fits = [stream for stream, about in zip(streams, described, strict=True) if _is_named(about, source.stream)]
    if len(fits) == 1:
        return fits[0]
    listed = ", ".join(map(str, described))
    hint = f"name one by its number, such as {source.path.name}#{(fits or streams)[0].index}"
    if not fits:
        raise InputError(f"has no sound #{source.stream}, expected one of {listed}", path=source.path, hint=hint)
    raise InputError(f"has {len(fits)} sounds that fit: {listed}", path=source.path, hint=hint)


def described_stream(stream: AudioStream) -> SoundStream:
    """Return the statements of a file about a stream of sound."""
    import av  # noqa: PLC0415 - only sound needs it

    disposition = av.stream.Disposition
    title = stream.metadata.get("title", "") or stream.metadata.get("handler_name", "")
    title = "" if title == "SoundHandler" else title
    marked = bool(stream.disposition & (disposition.visual_impaired | disposition.descriptions))
    return SoundStream(stream.index, stream.language or "", title, marked or bool(_DESCRIBED.search(title)))


def _is_named(about: SoundStream, name: str) -> bool:
    """Whether a stream is the one of a name; "" is any, and a language without -ad is a stream without description."""
    if not name:
        return True
    if name.isdigit():
        return about.number == int(name)
    language, _, kind = name.partition("-")
    return about.language.lower() == language.lower() and about.describes == (kind == "ad")
