"""Text as the words that a search of speech compares: small letters without accents, apostrophes and punctuation."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from truemoment.report.words import columns_of

WORDS_BEFORE = 3
"""Words of an excerpt before the first one that the query has."""

_APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}\N{MODIFIER LETTER APOSTROPHE}"

_ACCENTS = (range(0x300, 0x370), range(0x3099, 0x309B))
"""Combining marks of Latin, Greek and Cyrillic letters, and of kana."""

_BY_CHARACTER = (range(0x3041, 0x3100), range(0x3400, 0xA000), range(0x20000, 0x32400))
"""Kana and Chinese characters, which are written without blanks: each is a word."""


class _Characters(dict[int, str]):
    """What takes the place of each character."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in _APOSTROPHES or any(code in codes for codes in _ACCENTS):
            new = ""
        elif any(code in codes for codes in _BY_CHARACTER):
            new = f" {character} "
        else:
            new = character if unicodedata.category(character)[0] in "LMN" else " "
        self[code] = new
        return new


_CHARACTERS = _Characters()


def spoken_words(text: str) -> list[str]:
    """Return the words of a text.

    Examples
    --------
    >>> spoken_words("'Don't' OPEN the café-door!"), spoken_words("東京 Tower"), spoken_words('" * NEAR(')
    (['dont', 'open', 'the', 'cafe', 'door'], ['東', '京', 'tower'], ['near'])
    """
    return unicodedata.normalize("NFKD", text.casefold()).translate(_CHARACTERS).split()


class QuotedWord(NamedTuple):
    """A word of a passage that the query has, and its time; that of its cue where the file has no times of words."""

    text: str
    start_s: float
    end_s: float


class Quote(NamedTuple):
    """A passage of speech: its number in the index, its text, and its words that the query has."""

    passage: int
    text: str = ""
    words: tuple[QuotedWord, ...] = ()

    def excerpt(self, columns: int) -> str:
        """Return the text, or the part of it from shortly before the first word that the query has.

        Examples
        --------
        >>> Quote(0, "so now look at the red door over there", (QuotedWord("red", 7.0, 7.5),)).excerpt(20)
        '…look at the red do…'
        """
        if columns_of(self.text) <= columns or not self.words:
            return self.text
        words = self.text.split(" ")
        begin = max(0, words.index(self.words[0].text) - WORDS_BEFORE)
        text = ("…" if begin else "") + " ".join(words[begin:])
        if columns_of(text) <= columns:
            return text
        while columns_of(text) >= columns:
            text = text[:-1]
        return f"{text}…"
