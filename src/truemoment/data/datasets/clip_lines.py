"""LSMDC's annotations of clips: six fields between tabs, and the times in the names of the clips.

A line has the clip, its start and end aligned, its start and end extracted, and the sentence. Times are written
``HH.MM.SS.mmm``, and a clip is called ``FILM_HH.MM.SS.mmm-HH.MM.SS.mmm``: its extracted times on the original disc.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from truemoment.base.boundary.files import iterate_lines
from truemoment.base.errors import InputError

FIELDS = ("clip", "start_aligned", "end_aligned", "start_extracted", "end_extracted", "sentence")

TIME = r"(\d\d)\.(\d\d)\.(\d\d)\.(\d\d\d)"

NAME = re.compile(rf"(?P<film>.+)_(?P<start>{TIME})-(?P<end>{TIME})")


@dataclass(frozen=True)
class ClipLine:
    """A line: a clip of a film, its times in seconds on the original disc, and the sentence."""

    clip: str
    film: str
    named_s: tuple[float, float]
    aligned_s: tuple[float, float]
    extracted_s: tuple[float, float]
    sentence: str


def read_clip_lines(path: Path) -> list[ClipLine]:
    """Read LSMDC's annotations.

    Raises
    ------
    MissingFileError, InputError
        If the file is missing, or a line has other fields, no times in its name, or times that run backwards.
    """
    lines = []
    for number, line in enumerate(iterate_lines(path), start=1):
        try:
            text = line.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise InputError("is no text in UTF-8", path=path, line=number) from None
        if text.strip():
            lines.append(_line(text, path, number))
    if not lines:
        raise InputError("has no clip, expected six fields between tabs in each line", path=path)
    return lines


def _line(text: str, path: Path, number: int) -> ClipLine:
    fields = text.split("\t")
    if len(fields) != len(FIELDS):
        expected = f"expected {len(FIELDS)}: {', '.join(FIELDS)}"
        raise InputError(f"found {len(fields)} fields between tabs, {expected}", path=path, line=number)
    name = NAME.fullmatch(fields[0].strip())
    if name is None:
        raise InputError(
            f"found {fields[0]!r}, expected a name with times: FILM_00.01.02.345-00.01.06.789",
            path=path,
            line=number,
            field="clip",
        )
    times = [_seconds(value, path, number, field) for field, value in zip(FIELDS[1:5], fields[1:5], strict=True)]
    named_s, aligned_s, extracted_s = (
        (seconds_of(name["start"]), seconds_of(name["end"])),
        (times[0], times[1]),
        (times[2], times[3]),
    )
    for field, (start_s, end_s) in (("clip", named_s), ("end_aligned", aligned_s), ("end_extracted", extracted_s)):
        if not start_s < end_s:
            problem = f"found {start_s:g} to {end_s:g} s, expected an end after the start"
            raise InputError(problem, path=path, line=number, field=field)
    return ClipLine(fields[0].strip(), name["film"], named_s, aligned_s, extracted_s, fields[5].strip())


def seconds_of(time: str) -> float:
    """Return ``HH.MM.SS.mmm`` in seconds.

    Examples
    --------
    >>> seconds_of("01.00.02.250")
    3602.25
    """
    hours, minutes, seconds, ms = map(int, time.split("."))
    return 3600 * hours + 60 * minutes + seconds + ms / 1000


def _seconds(value: str, path: Path, number: int, field: str) -> float:
    if not re.fullmatch(TIME, value.strip()):
        raise InputError(f"found {value!r}, expected a time HH.MM.SS.mmm", path=path, line=number, field=field)
    return seconds_of(value.strip())
