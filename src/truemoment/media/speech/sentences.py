"""Sentences from words: at punctuation and at pauses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from truemoment.data.language import get_engine
from truemoment.data.language.words import word_set
from truemoment.media.speech.base import HeardWord

PAUSE_S = 0.8
"""Pause that ends a sentence, if there is no punctuation before it."""

JOIN_S = 0.35
"""A fragment joins the sentence before it if that ends within so many seconds."""

BEFORE_S = 3.0
"""A word that cannot end a sentence joins the one after it across a pause of so many seconds."""

FRAGMENT_WORDS = 3
"""Fewer words without a verb are a fragment."""

LONGEST_S, MOST_WORDS = 30.0, 60
"""Longer sentences are cut at their longest pause."""

_STOP = re.compile(r"[.!?…]+[\"'’”)\]]*$")
_INITIAL = re.compile(r"(?:[A-Za-z]\.)+")
_NUMBER = re.compile(r"\d+\.")

ABBREVIATIONS = word_set("mr mrs ms dr prof st sr jr vs etc capt col gen lt sgt rev hon messrs mt ft no")
"""Words with a full stop that ends no sentence."""

NEVER_LAST = word_set(
    "a an the his her its their my your our this that these those some another each every and but or as at by for from "
    "in into of on onto over through to under with then while when"
)
"""Words without a full stop that are no sentence: engines place the first word of a segment too early."""


def sentences_of(words: Iterable[HeardWord], *, pause_s: float = PAUSE_S) -> list[tuple[HeardWord, ...]]:
    """Return the words of each sentence, in order of time.

    A sentence ends after ``.``, ``!`` or ``?`` (not after abbreviations, initials, and numbers before a small letter),
    at a pause of more than `pause_s`, and where the speaker changes. A word that is no sentence, such as *a*, joins the
    one after it, and a fragment the one before it. What is longer than 30 s or 60 words is cut at its longest pause.
    """
    pieces: list[list[HeardWord]] = []
    before: HeardWord | None = None
    for word in words:
        if before is None or _ends(before, word, pause_s):
            pieces.append([])
        pieces[-1].append(word)
        before = word
    joined: list[list[HeardWord]] = []
    for piece in _with_first_words(pieces):
        if joined and _belongs_to(joined[-1], piece):
            joined[-1].extend(piece)
        else:
            joined.append(piece)
    return [part for piece in joined for part in _cut(tuple(piece))]


def _ends(word: HeardWord, following: HeardWord, pause_s: float) -> bool:
    """Whether a sentence ends between two words."""
    if following.start_s - word.end_s > pause_s:
        return True
    if word.voice is not None and following.voice is not None and word.voice != following.voice:
        return True
    return is_last(word.text, following.text)


def is_last(text: str, following: str) -> bool:
    """Whether the punctuation of a word ends its sentence.

    Examples
    --------
    >>> is_last("door.", "He"), is_last('door."', "he"), is_last("Mr.", "Hat"), is_last("J.", "Hat")
    (True, True, False, False)
    """
    if not _STOP.search(text):
        return False
    bare = text.strip("\"'’”([)]")
    if bare.rstrip(".").lower() in ABBREVIATIONS or _INITIAL.fullmatch(bare):
        return False
    return not (_NUMBER.fullmatch(bare) and following[:1].islower())


def _with_first_words(pieces: Iterable[list[HeardWord]]) -> Iterator[list[HeardWord]]:
    """Yield pieces; a word before a pause that cannot be a sentence, such as *a*, is a part of the piece after it."""
    first: list[HeardWord] = []
    for piece in pieces:
        if first and _begins(first[-1], piece[0]):
            piece = [*first, *piece]  # noqa: PLW2901 - the piece with its first word
            first = []
        if first:
            yield first
            first = []
        if len(piece) == 1 and piece[0].text.lower() in NEVER_LAST:
            first = piece
        else:
            yield piece
    if first:
        yield first


def _begins(word: HeardWord, following: HeardWord) -> bool:
    """Whether a word that cannot end a sentence begins that of the word after it."""
    same = word.voice is None or following.voice is None or word.voice == following.voice
    return same and following.start_s - word.end_s <= BEFORE_S


def _belongs_to(before: Sequence[HeardWord], piece: Sequence[HeardWord]) -> bool:
    """Whether a piece is a fragment that continues the sentence before it."""
    near = piece[0].start_s - before[-1].end_s <= JOIN_S
    same = before[-1].voice is None or piece[0].voice is None or before[-1].voice == piece[0].voice
    if not (near and same and len(piece) < FRAGMENT_WORDS):
        return False
    (tokens,) = get_engine().analyse([" ".join(word.text for word in piece)])
    return all(token.tag not in ("VERB", "AUX") for token in tokens)


def _cut(words: tuple[HeardWord, ...]) -> list[tuple[HeardWord, ...]]:
    """Cut a sentence that is too long at its longest pause, again and again."""
    if len(words) < 2 or (words[-1].end_s - words[0].start_s <= LONGEST_S and len(words) <= MOST_WORDS):
        return [words]
    pauses = [b.start_s - a.end_s for a, b in pairwise(words)]
    at = max(range(len(pauses)), key=lambda k: (pauses[k], -abs(k + 1 - len(words) / 2))) + 1
    return [*_cut(words[:at]), *_cut(words[at:])]


def count_finite_verbs(sentences: Sequence[str]) -> list[int]:
    """Return the number of finite verbs of each sentence: verbs and auxiliaries but forms in -ing and after *to*.

    An auxiliary and the verb after it count as one.
    """
    counts = []
    for tokens in get_engine().analyse(sentences):
        count, before = 0, ""
        for token in tokens:
            verbal = token.tag in ("VERB", "AUX")
            finite = verbal and not token.text.lower().endswith("ing") and before not in ("to", "AUX")
            count += finite
            if token.tag != "OTHER" or token.text.lower() == "to":
                before = "to" if token.text.lower() == "to" else token.tag
        counts.append(count)
    return counts
