"""The script of a simulated film: what is shown, and who says what when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from truemoment.worlds.described.voices import SpokenWord

Kind = Literal["description", "dialogue", "song"]


@dataclass(frozen=True)
class Line:
    """A sentence that is spoken.

    Parameters
    ----------
    kind
        ``description`` (the narrator's, not in the film's own sound), ``dialogue`` or ``song``.
    text
        As written: a large first letter and a full stop.
    voice
        0 is the narrator.
    start_s, end_s
        Start of the first word and end of the last, film seconds.
    scene
        Number of the scene that it lies in.
    words
        Each word as spoken, film seconds.
    """

    kind: Kind
    text: str
    voice: int
    start_s: float
    end_s: float
    scene: int
    words: tuple[SpokenWord, ...] = ()
