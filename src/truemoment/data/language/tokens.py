"""Sentences as tokens of word vectors: words without punctuation, or text between blanks.

``words`` splits punctuation off and drops it, so that the last word of "She opens the door." is *door* and not *door.*,
which no table of word vectors contains. ``blanks`` and ``blanks-no-stop`` are what the code of 2D-TAN does, dataset by
dataset (microsoft/VideoX at 9058921, ``2D-TAN/lib/datasets``; TCN-DCM's does the same): lower case, split at white
space. Its reader of Charades-STA cuts the full stop that ends a sentence (``blanks-no-stop``). Those of ActivityNet
Captions and TACoS keep it (``blanks``): the last word of most sentences is then unknown, exactly where an LSTM is read
out. ``sentence`` keeps the sentence whole, for encoders that make one vector of it.
"""

from __future__ import annotations

import functools
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from truemoment.base.errors import UsageError
from truemoment.base.known_names import one_of_known
from truemoment.data.language.lexicon import TOKEN

How = Literal["words", "blanks", "blanks-no-stop", "sentence"]
"""Ways to make tokens of a sentence."""

_BETWEEN_BLANKS = re.compile(r"\S+")
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")


class Span(NamedTuple):
    """A token and its position in the sentence.

    Parameters
    ----------
    text
        The token, in lower case.
    start, end
        ``sentence[start:end]`` is the token as it was written.
    """

    text: str
    start: int
    end: int


def spans(sentence: str, how: How = "words") -> list[Span]:
    """Return the tokens of a sentence with their places.

    Examples
    --------
    >>> spans("He sits.")
    [Span(text='he', start=0, end=2), Span(text='sits', start=3, end=7)]
    """
    if how not in get_args(How):
        raise UsageError(f"unknown tokens {how!r}, expected {one_of_known(how, get_args(How))}")
    if how == "sentence":
        return [Span(sentence.lower(), 0, len(sentence))] if sentence.strip() else []
    if how in ("blanks", "blanks-no-stop"):
        read = sentence if how == "blanks" else sentence.rstrip().removesuffix(".")
        return [Span(match[0].lower(), *match.span()) for match in _BETWEEN_BLANKS.finditer(read)]
    matches = TOKEN.finditer(sentence.translate(_APOSTROPHES))  # of the same length
    return [Span(match[0].lower(), *match.span()) for match in matches if _is_word(match[0])]


def _is_word(text: str) -> bool:
    return text.isalnum() or any(map(str.isalnum, text))


@functools.lru_cache(maxsize=1 << 17)
def tokenise(sentence: str, how: How = "words") -> tuple[str, ...]:
    """Return the tokens of a sentence; those of the last 131,072 sentences are kept for the next reader.

    Parameters
    ----------
    how
        ``words``: in lower case, contractions split (*person's* is *person* and *'s*), punctuation dropped, inner
        hyphens kept. ``blanks``: in lower case, split at white space and nothing else. ``blanks-no-stop``: the same
        without the full stop that ends the sentence. ``sentence``: all of it, in lower case, as one.

    Returns
    -------
    tuple of text
        Not empty for a sentence that contains a letter.

    Examples
    --------
    >>> tokenise("The person's T-shirt... it's on the door.")
    ('the', 'person', "'s", 't-shirt', 'it', "'s", 'on', 'the', 'door')
    >>> tokenise("It's on the door.", "blanks")
    ("it's", 'on', 'the', 'door.')
    >>> tokenise("It's on the door.", "blanks-no-stop")
    ("it's", 'on', 'the', 'door')
    """
    if how == "words":  # as `spans`, in a third of its time
        texts = TOKEN.findall(sentence.translate(_APOSTROPHES))
        return tuple([sys.intern(text.lower()) for text in texts if _is_word(text)])
    return tuple(sys.intern(span.text) for span in spans(sentence, how))


def places(sentence: str, texts: Sequence[str], how: How = "words") -> Iterator[int | None]:
    """Yield, for each token that an engine found in a sentence, the number of our token that contains it.

    Yields
    ------
    int or None
        Position in :func:`tokenise`; -1 for a token outside all of ours, None for one that is not in the sentence.

    Examples
    --------
    >>> list(places("She can't sit.", ["She", "ca", "n't", "sit", "."], "blanks"))
    [0, 1, 1, 2, 2]
    """
    ours = spans(sentence, how)
    starts = [span.start for span in ours]
    at = 0
    for text in texts:
        begin = sentence.find(text, at)
        if begin < 0 or not text:
            yield None  # of an engine that rewrites what it reads
            continue
        at = begin + len(text)
        number = bisect_right(starts, begin) - 1
        if number < 0 or ours[number].end <= begin:  # the token begins between two of ours
            number = number + 1 if number + 1 < len(ours) and ours[number + 1].start < at else -1
        yield number
