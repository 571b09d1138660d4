"""What is spoken in the text of a caption: dialogue, a song, or a sound, which is no speech.

Sounds are in brackets or between asterisks. Where a file is written in small letters, a line of capitals without a
full stop is one too; a file of capitals alone, as of US television, says nothing by them. Letters without capitals,
numbers and short words are speech.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Literal

CaptionKind = Literal["speech", "song", "sound"]

MOST_NAME_WORDS = 4
"""Of a speaker before a colon."""

LEAST_SOUND_LETTERS = 4
"""Shorter words in capitals are abbreviations and cries: OK, FBI, NO."""

_TAG = re.compile(r"<[^<>]*>|\{(?:\\[^}]*|/?[bius])\}")
_BRACKETS = re.compile(
    r"\[[^\]]*(?:\]|$)|\([^)]*(?:\)|$)|［[^］]*(?:］|$)|（[^）]*(?:）|$)|【[^】]*(?:】|$)|〔[^〕]*(?:〕|$)"
)
_ASTERISKS = re.compile(r"(?<![\w*])\*[^*\n]+\*(?![\w*])")
_NAMED_SOUND = re.compile(rf"^[^:：\n]{{1,40}}[:：]\s*(?:{_BRACKETS.pattern}|{_ASTERISKS.pattern})\s*$", re.MULTILINE)
"""A sound with the name of who makes it."""
_NOTES = re.compile("[♩♪♫♬¶🎵🎶]")
_SPEAKER = re.compile(r"(?P<name>[^:：]{1,40})[:：](?!\d)\s*")
_EDGES = " -–—#>\t"
_STOPS = (".", "!", "?", "…", ",", ";", ":", '"', "”", "。", "！", "？")


def classify(raw: str, *, in_capitals: bool = False) -> tuple[str, CaptionKind]:
    r"""Return the spoken text of a caption, on one line, and its kind.

    ``MAN:`` before words and ``>>`` are left out; songs have notes, or ``#`` at both ends.

    Parameters
    ----------
    raw
        The text, in lines.
    in_capitals
        Whether the file is written in capitals.

    Examples
    --------
    >>> classify("[door slams]"), classify("MAN: Who is there?"), classify("# La la #")
    (('', 'sound'), ('Who is there?', 'speech'), ('La la', 'song'))
    >>> classify("- I see.\n(SIGHS) Go."), classify("TIRES SCREECH"), classify("OK.")
    (('I see. Go.', 'speech'), ('', 'sound'), ('OK.', 'speech'))
    >>> classify(">> I WENT HOME", in_capitals=True)
    ('I WENT HOME', 'speech')
    """
    text = html.unescape(_TAG.sub("", raw))
    bare = text.strip()
    song = bool(_NOTES.search(text)) or (len(bare) > 2 and bare[0] == bare[-1] == "#")
    lines = _without_sounds(text)
    if not song:
        lines = [_without_speaker(line) for line in lines]
        lines = [line for line in lines if in_capitals or not _is_sound(line)]
    words = " ".join(" ".join(lines).split())
    if not any(map(str.isalnum, words)):
        return "", "sound"
    return words, "song" if song else "speech"


def are_in_capitals(texts: Iterable[str]) -> bool:
    """Whether captions are written in capitals: half of their lines of speech or more have no small letter.

    Examples
    --------
    >>> are_in_capitals(["WHERE IS HE?", "[Door slams]", "MAN: I know."]), are_in_capitals(["[DOOR SLAMS]", "I know."])
    (True, False)
    """
    n_lines = n_capitals = 0
    for raw in texts:
        text = html.unescape(_TAG.sub("", raw))
        if _NOTES.search(text):
            continue
        for line in map(_without_speaker, _without_sounds(text)):
            if any(letter.isupper() or letter.islower() for letter in line):
                n_lines += 1
                n_capitals += _is_capital(line)
    return 2 * n_capitals >= n_lines > 0


def _without_sounds(text: str) -> list[str]:
    """Return the lines of a text without what stands in brackets, and marks at their edges."""
    bare = _ASTERISKS.sub(" ", _BRACKETS.sub(" ", _NAMED_SOUND.sub(" ", _NOTES.sub(" ", text))))
    return [line.strip(_EDGES).lstrip(":： ") for line in bare.split("\n")]


def _without_speaker(line: str) -> str:
    """Return a line without the name of capitals before it."""
    speaker = _SPEAKER.match(line)
    if speaker is None or len(speaker["name"].split()) > MOST_NAME_WORDS or not _is_capital(speaker["name"]):
        return line
    return line[speaker.end() :].strip(_EDGES)


def _is_sound(line: str) -> bool:
    """Whether a line of a file in small letters is the caption of a sound: capitals without a full stop."""
    longest = max(map(len, re.findall(r"[^\W\d_]+", line)), default=0)
    return _is_capital(line) and longest >= LEAST_SOUND_LETTERS and not line.endswith(_STOPS)


def _is_capital(line: str) -> bool:
    """Whether all letters are capitals; letters of scripts without capitals are none."""
    letters = [letter for letter in line if letter.isalpha()]
    return bool(letters) and all(map(str.isupper, letters))
