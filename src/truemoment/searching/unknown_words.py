"""Words of a sentence that a model does not know, for models that have a vocabulary.

The included model, ``scenes``, was trained on 83 words, and a file with them is part of it. Sentences of other words
get vectors, too, and such a vector can be nearer to some frames than that of any described event. Models of the hub
have no such file: their tokenizers split any word into pieces that they know, so nothing is reported for them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truemoment.media.video.encoders import Encoder

_WORD = re.compile(r"\w+")

MOST_LISTED, LONGEST = 6, 80
"""Words that a line lists, and characters of a word or sentence in it."""


@dataclass(frozen=True)
class UnknownWords:
    """Words of a sentence that a model does not know.

    Parameters
    ----------
    words
        The unknown words, in small letters, in the order of the sentence; each once.
    every
        Whether the sentence has no other word.
    model
        Name of the model.

    Examples
    --------
    >>> UnknownWords(("zzz",), True, "scenes").line('zzz')
    'no word of "zzz" is known to the model scenes'
    >>> UnknownWords(("tall", "fir"), False, "scenes").line("a tall green fir")
    'the model scenes does not know "tall" and "fir"'
    """

    words: tuple[str, ...] = ()
    every: bool = False
    model: str = ""

    def line(self, sentence: str) -> str:
        """Return one line for people; "" if all words are known."""
        if self.every:
            shown = sentence if len(sentence) <= LONGEST else f"{sentence[:LONGEST]}..."
            return f'no word of "{shown}" is known to the model {self.model}'
        return f"the model {self.model} does not know {_list(self.words)}" if self.words else ""


ALL_KNOWN = UnknownWords()


def unknown_words(encoder: Encoder, sentence: str) -> UnknownWords:
    """Return the words of a sentence that a model does not know; none for a model without a vocabulary."""
    vocabulary: frozenset[str] | None = getattr(encoder, "vocabulary", None)
    if vocabulary is None:
        return ALL_KNOWN
    words = dict.fromkeys(_WORD.findall(sentence.lower()))
    unknown = tuple(word for word in words if word not in vocabulary)
    return UnknownWords(unknown, len(unknown) == len(words), encoder.name)


def _list(words: Sequence[str]) -> str:
    quoted = [f'"{word[:LONGEST]}"' for word in words[:MOST_LISTED]]
    if len(words) > MOST_LISTED:
        quoted.append(f"{len(words) - MOST_LISTED:,} other words")
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]
