"""Subtitles and transcripts that lie beside videos, and the words in them.

A file belongs to a video of its folder if it has its name, with or without a language and a kind behind it:
``film.srt``, ``film.en.vtt``, ``film.en.sdh.srt``, ``film.json`` or ``film.mp4.json`` beside ``film.mp4``. Of several,
transcripts come first, since they have the times of words, and then the shortest name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from truemoment.base.boundary.files import sha256_of
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.media.speech.base import HeardWord
from truemoment.media.speech.subtitles import ends_early, ends_late, read_subtitles
from truemoment.media.speech.transcripts import read_transcript

TRANSCRIPTS, SUBTITLES = (".json", ".jsonl", ".ctm"), (".vtt", ".srt", ".ass", ".ssa", ".sub")

_TAIL = re.compile(r"\.(?:[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]+)*|forced|default|orig|auto)")
"""A language, or a kind of subtitles (sdh, cc, hi, ...), behind the name of a video."""


@dataclass(frozen=True)
class SidecarSpeech:
    """The words of a file beside a video.

    Parameters
    ----------
    file, sha256
        Its name, and the hash of its bytes.
    words
        In order of time; those of a cue have the time of the cue.
    notes
        What a person should know about the file.
    """

    file: str
    sha256: str
    words: tuple[HeardWord, ...]
    notes: tuple[str, ...] = ()


def sidecars_of(videos: Iterable[Path]) -> dict[Path, list[Path]]:
    """Return the files of subtitles and transcripts beside each video, the preferred one first."""
    endings = (*TRANSCRIPTS, *SUBTITLES)
    beside: dict[Path, list[Path]] = {video: [] for video in videos}
    by_name: dict[Path, list[Path]] = {}
    for video in beside:
        for name in (video, video.with_suffix("")):
            by_name.setdefault(name, []).append(video)
    for folder in {video.parent for video in beside}:
        for file in sorted(folder.iterdir()) if folder.is_dir() else ():
            if file.suffix.lower() in endings and file.is_file():
                of_file = next((by_name[name] for name in _names_before(file) if name in by_name), [])
                for video in of_file:
                    beside[video].append(file)
    for files in beside.values():
        files.sort(key=lambda file: (endings.index(file.suffix.lower()), file.name.count("."), file.name))
    return beside


def _names_before(file: Path) -> Iterator[Path]:
    """Yield what the video of a file may be named, the longest name first."""
    name = file.with_suffix("")
    yield name
    while _TAIL.fullmatch(name.suffix):
        name = name.with_suffix("")
        yield name


def read_sidecar(path: Path, duration_s: float) -> SidecarSpeech:
    """Read the words of a file beside a video of this duration.

    Raises
    ------
    InputError
        If the file is damaged or has no words, or its words end long after the video: those of another film do.
    """
    words, notes = _words_of(path)
    end_s = max(word.end_s for word in words)
    if ends_late(end_s, duration_s):
        raise InputError(
            f"the last words end at {end_s:,.0f} s, after the end of the video at {duration_s:,.0f} s",
            path=path,
            hint="are they of another film?",
        )
    if ends_early(end_s, duration_s):
        notes.append(f"the last words end at {end_s:,.0f} s of {duration_s:,.0f} s: are they of another film?")
    within = tuple(word for word in words if word.start_s < duration_s)
    if not within:
        raise InputError(f"all words start after the end of the video at {duration_s:,.0f} s", path=path)
    if len(within) < len(words):
        notes.append(f"left out {len(words) - len(within):,} words after the end of the video at {duration_s:,.0f} s")
    return SidecarSpeech(as_text(path.name), sha256_of(path), within, tuple(notes))


def _words_of(path: Path) -> tuple[list[HeardWord], list[str]]:
    """Return the words of a transcript, of WebVTT with the times of words, or of the cues of subtitles."""
    if path.suffix.lower() in TRANSCRIPTS:
        return list(read_transcript(path).words), []
    if path.suffix.lower() == ".vtt":
        try:
            return list(read_transcript(path).words), []
        except InputError:  # it has no times of words, or the reader of subtitles names the fault
            pass
    subtitles = read_subtitles(path)
    by_word = ((word, cue) for cue in subtitles.spoken for word in cue.text.split())
    words = [HeardWord(word, cue.start_s, cue.end_s, timed=False) for word, cue in by_word]
    return words, list(subtitles.notes)
