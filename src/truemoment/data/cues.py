"""Cues of subtitles: SRT, WebVTT, ASS or SSA, and MicroDVD.

What looks like a cue and cannot be read is refused with its line: a line of times that is none, a text without times,
and a number of SRT whose times are missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError

ARROW = "-->"
BLINK_S = 0.02
"""Of the cues that end a line of rolling captions: 10 ms."""

MOST_REPEATED = 100
"""Lines or words that a cue repeats of the one before: more than a screen shows."""

LEAST_GROWN = 3
"""Cues in a row that each go on after words of the one before: live captions, which grow word by word."""

EVENTS = "[Events]"
"""The section of ASS and SSA with the cues."""

_TIMES = re.compile(r"\s*(?P<start>\S+)\s*-->\s*(?P<end>\S+)(?:\s.*)?")
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:[.,\N{FULLWIDTH COMMA}]\d*)?)")
_LIKE_TIMES = re.compile(r"\s*\d+:\d+:\d+\S*\s*[^\w\s:]+\s*\d+:\d+:\d+\S*\s*")
_MARKUP = re.compile(r"<[^<>]*>|\{\\[^}]*\}")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(rf"(?:{_MARKUP.pattern}|\S)+")
_WORD_TIME = re.compile(r"<\d+(?::\d+)+\.\d+>")
_VTT_BLOCKS = re.compile(r"(NOTE|STYLE|REGION)(\s|$)")

_IN_FRAMES = re.compile(r"\{(\d+)\}\{(\d+)\}(.*)")
_FPS = re.compile(r"\d+(?:[.,]\d+)?")

_ASS_FIELDS = ("Layer", "Start", "End", "Style", "Name", "MarginL", "MarginR", "MarginV", "Effect", "Text")
_ASS_KINDS = ("Dialogue", "Comment", "Picture", "Sound", "Movie", "Command")
_OVERRIDES = re.compile(r"(?<!\\)\{([^}]*)\}")
_DRAWING = re.compile(r"\\p(\d+)")
_ASS_BREAK = re.compile(r"\\[Nn]")
_ASS_BRACE = re.compile(r"\\(?=[{}])")


class TimedText(NamedTuple):
    """A cue: line of its times, start and end in seconds, and its text, in lines and with the markup of its form."""

    line: int
    start_s: float
    end_s: float
    text: str

    @property
    def plain(self) -> str:
        """The text without markup, on one line."""
        return _without_markup(self.text)


def _without_markup(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).split())


def read_clock(text: str, path: AnyPath, line: int) -> float:
    """Return the seconds of ``HH:MM:SS.mmm`` or ``MM:SS.mmm``, with a dot or a comma and any number of digits."""
    parts = _CLOCK.fullmatch(text)
    if parts is None:
        raise InputError(f"got the time {text[:40]!r}, expected HH:MM:SS.mmm", path=path, line=line)
    hours, minutes, seconds = parts.groups(default="0")
    return 3600 * float(hours) + 60 * float(minutes) + float(re.sub("[,\N{FULLWIDTH COMMA}]", ".", seconds))


def times_of(line: str, path: AnyPath, number: int) -> tuple[float, float] | None:
    """Return start and end of a line of times; None for another line, and a refusal where it cannot be read."""
    if ARROW not in line and not _LIKE_TIMES.fullmatch(line):
        return None
    times = _TIMES.fullmatch(line)
    if times is None:
        raise InputError(f"got {line.strip()[:60]!r}, expected START --> END", path=path, line=number)
    return read_clock(times["start"], path, number), read_clock(times["end"], path, number)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text of subtitles."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def cues_of(text: str, path: AnyPath, fps: float | None = None) -> Iterator[TimedText]:
    """Yield every cue of a text, in file order; none for another text than subtitles.

    Parameters
    ----------
    text
        The form is recognised by it.
    fps
        Frames per second of MicroDVD, which counts frames; None for those that the file states.
    """
    lines = lines_of(text)
    begin = next((line.strip() for line in lines if line.strip()), "")
    if any(line.strip().lower() == EVENTS.lower() for line in lines):
        yield from _of_ass(lines, path)
    elif re.match(r"\{\d", begin):
        yield from _of_microdvd(lines, path, fps)
    else:
        cues = list(_of_webvtt(lines, path) if begin.startswith("WEBVTT") else _of_srt(lines, path))
        if _WORD_TIME.search(text) or _is_rolling(cues):
            yield from _unrolled(cues, _LINE, [True] * len(cues))
        else:
            runs = ((goes_on, len(list(run))) for goes_on, run in groupby(_go_on(cues, _WORD)))
            grows = [goes_on and length >= LEAST_GROWN for goes_on, length in runs for _ in range(length)]
            yield from _unrolled(cues, _WORD, grows)


def _of_webvtt(lines: list[str], path: AnyPath) -> Iterator[TimedText]:
    """Yield the cues of WebVTT: blocks with a line of times, between blank lines; a name above it is no text."""
    block: list[tuple[int, str]] = []
    is_header = True
    for number, line in [*enumerate(lines, start=1), (len(lines) + 1, "")]:
        if line:
            block.append((number, line))
            continue
        has_times = any(ARROW in line for _, line in block)
        if has_times or not (is_header or not block or _VTT_BLOCKS.match(block[0][1])):
            yield from _of_block(block, path)
        is_header, block = is_header and not block, []


def _of_block(block: list[tuple[int, str]], path: AnyPath) -> Iterator[TimedText]:
    """Yield the cues of a block of WebVTT."""
    starts = [(k, times) for k, (number, line) in enumerate(block) if (times := times_of(line, path, number))]
    if not starts:
        number, line = block[0]
        raise InputError(f"got {line[:60]!r} after a blank line, expected the times of a cue", path=path, line=number)
    for (k, times), below in zip(starts, [*(k for k, _ in starts[1:]), len(block)], strict=True):
        yield TimedText(block[k][0], *times, "\n".join(line for _, line in block[k + 1 : below]))


def _is_rolling(cues: Sequence[TimedText]) -> bool:
    """Whether captions roll: most go on after lines of the one before, or one that repeats it is too short to read.

    The latter are those of a recogniser, the former those of live television.
    """
    pairs = list(pairwise(cues))
    return (len(cues) > 2 and 2 * sum(_go_on(cues, _LINE)) >= len(pairs)) or any(
        0 < cue.end_s - cue.start_s <= BLINK_S and cue.plain and cue.plain in before.plain for before, cue in pairs
    )


def _go_on(cues: Sequence[TimedText], unit: re.Pattern[str]) -> list[bool]:
    """Return whether each cue repeats the end of the one before, in lines or words, and goes on."""
    texts = [[text for _, text in _parts(cue, unit)] for cue in cues]
    return [0 < _n_repeated(before, after) < len(after) for before, after in pairwise([[], *texts])]


def _parts(cue: TimedText, unit: re.Pattern[str]) -> list[tuple[int, str]]:
    """Return where each line or word of a cue begins, and its text without markup; none of markup alone."""
    parts = ((part.start(), _without_markup(part[0])) for part in unit.finditer(cue.text))
    return [(at, text) for at, text in parts if text]


def _n_repeated(before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many parts a cue repeats at its start from the end of the one before."""
    most = min(len(before), len(after), MOST_REPEATED)
    return next((n for n in range(most, 0, -1) if before[-n:] == after[:n]), 0)


def _unrolled(cues: Sequence[TimedText], unit: re.Pattern[str], rolls: Sequence[bool]) -> Iterator[TimedText]:
    """Yield captions, those that roll without the lines or words that each repeats of the one before."""
    before: list[str] = []
    for cue, is_rolling in zip(cues, rolls, strict=True):
        if not is_rolling:
            yield cue
        parts = _parts(cue, unit)
        texts = [text for _, text in parts]
        fresh = parts[_n_repeated(before, texts) :]
        before = texts or before
        if is_rolling and fresh:
            yield cue._replace(text=cue.text[fresh[0][0] :])


def _of_srt(lines: list[str], path: AnyPath) -> Iterator[TimedText]:
    """Yield the cues of SRT, whose text goes up to the number of the next cue, or to its times where it has none."""
    starts = [(k, times) for k, line in enumerate(lines) if (times := times_of(line, path, k + 1))]
    if not starts:
        return
    above = [(k, line.strip()) for k, line in enumerate(lines[: starts[0][0]]) if line.strip()]
    is_numbered = bool(above) and above[-1][1].isdecimal()
    for k, line in above[: len(above) - is_numbered]:
        raise InputError(f"got {line[:60]!r} above the first cue, expected its times", path=path, line=k + 1)
    counter = int(above[-1][1]) if is_numbered else None
    for (k, times), below in zip(starts, [*(k for k, _ in starts[1:]), len(lines)], strict=True):
        words = [line.strip() for line in lines[k + 1 : below]]
        following = _counter_in(words, counter) if is_numbered and below < len(lines) else None
        if following is not None:
            words.pop()
        if counter is not None and following != counter + 1:
            for n, (before, word) in enumerate(pairwise(words), start=k + 3):
                if word == str(counter + 1) and not before:
                    raise InputError(f"got cue {word} without times", path=path, line=n)
        yield TimedText(k + 1, *times, "\n".join(words).strip())
        counter = following


def _counter_in(words: list[str], before: int | None) -> int | None:
    """Return the number of the next cue, the last line below a cue; None if that is text."""
    if not words or not words[-1].isdecimal():
        return None
    number = int(words[-1])
    return number if words[-2:-1] == [""] or before is None or number == before + 1 else None


def _of_microdvd(lines: list[str], path: AnyPath, fps: float | None) -> Iterator[TimedText]:
    """Yield the cues of MicroDVD, ``{FRAME}{FRAME}TEXT``; a first one of a number states frames per second."""
    is_first = True
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        cue = _IN_FRAMES.fullmatch(line.strip())
        if cue is None:
            raise InputError(f"got {line.strip()[:60]!r}, expected {{FRAME}}{{FRAME}}TEXT", path=path, line=number)
        states_rate = is_first and int(cue[2]) <= 1 and _FPS.fullmatch(cue[3].strip())
        is_first = False
        if states_rate:
            fps = float(cue[3].replace(",", ".")) if fps is None else fps
            continue
        if not fps:
            problem = "counts frames (MicroDVD) without frames per second"
            raise InputError(problem, path=path, hint="give them: --subtitle-fps F")
        text = re.sub(r"\{[^}]*\}", "", cue[3]).replace("|", "\n")
        yield TimedText(number, int(cue[1]) / fps, int(cue[2]) / fps, text)


def _of_ass(lines: list[str], path: AnyPath) -> Iterator[TimedText]:
    """Yield the lines of dialogue of ASS or SSA; comments are not shown, and are no cues."""
    section = ""
    fields: tuple[str, ...] = _ASS_FIELDS
    for number, line in enumerate(lines, start=1):
        if line.strip().startswith("["):
            section = line.strip().lower()
        kind, mark, rest = line.partition(":")
        kind = kind.strip()
        if section != EVENTS.lower() or not line.strip() or line.lstrip()[0] in ";![":
            continue
        if kind == "Format":
            fields = tuple(name.strip() for name in rest.split(","))
            if fields[-1:] != ("Text",) or not {"Start", "End"} <= set(fields):
                raise InputError(f"got {rest.strip()[:60]!r}, expected Start, End and Text", path=path, line=number)
        elif not mark or kind not in _ASS_KINDS:
            raise InputError(f"got {line.strip()[:60]!r}, expected Dialogue: or Comment:", path=path, line=number)
        elif kind == "Dialogue":
            parts = rest.split(",", len(fields) - 1)
            if len(parts) < len(fields):
                raise InputError(f"got {len(parts)} fields, expected {len(fields)}", path=path, line=number)
            start, end = (parts[fields.index(name)].strip() for name in ("Start", "End"))
            times = read_clock(start, path, number), read_clock(end, path, number)
            yield TimedText(number, *times, ass_text(parts[-1].strip()))


def ass_text(text: str) -> str:
    r"""Return what the text of a line of ASS shows, in lines: overrides, comments in braces and drawings are left out.

    Examples
    --------
    >>> ass_text(r"{\i1}Who{\i0} is\Nthere?"), ass_text(r"{\pos(4,5)\p1}m 0 0 l 9 0{\p0} Stop")
    ('Who is\nthere?', ' Stop')
    """
    shown, is_drawing = [], False
    for k, part in enumerate(_OVERRIDES.split(text)):
        if k % 2:
            for scale in _DRAWING.findall(part):
                is_drawing = int(scale) > 0
        elif not is_drawing:
            shown.append(part)
    return _ASS_BRACE.sub("", _ASS_BREAK.sub("\n", "".join(shown)).replace("\\h", " "))
