"""Names of persons in sentences, and SOMEONE in their place, as LSMDC writes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from truemoment.base.boundary.files import read_text
from truemoment.base.errors import InputError
from truemoment.data.language.words import word_set

SOMEONE = "SOMEONE"

LEAST_LARGE = 3
"""Occurrences inside sentences with a capital letter from which a word is a name."""

TITLES = word_set("mr mrs ms miss dr prof sir lady lord captain detective officer aunt uncle father sister")

NO_NAMES = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december christmas easter halloween thanksgiving ramadan god lord i i'm i'll i've i'd "
    "africa america asia europe australia antarctica england scotland wales ireland britain france germany spain italy "
    "portugal greece russia china japan india korea vietnam canada mexico brazil argentina egypt israel iran iraq "
    "turkey poland sweden norway denmark finland austria switzerland belgium holland netherlands hungary ukraine cuba "
    "london paris rome berlin madrid lisbon vienna moscow tokyo beijing delhi mumbai sydney cairo istanbul athens "
    "dublin york angeles chicago boston washington texas california florida nevada vegas hollywood manhattan brooklyn "
    "broadway american english british french german spanish italian russian chinese japanese indian mexican african "
    "european irish scottish latin arabic jewish christian muslim catholic tv dvd cd fbi cia nypd usa uk us ok"
)
"""Words with a capital letter that are no names of persons: places, days, peoples, abbreviations."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_END = re.compile(r"[.!?…][\"'’”)\]]*\s*$")


class FoundName(NamedTuple):
    """A name: how often it occurs, and whether the cast list has it."""

    name: str
    occurrences: int
    in_cast: bool


def read_cast(path: Path) -> tuple[str, ...]:
    """Read a cast list: a name a line."""
    names = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            raise InputError("is empty, expected a name", path=path, line=number)
        names.append(" ".join(line.split()))
    if not names:
        raise InputError("has no names, expected a name a line", path=path)
    return tuple(names)


def find_names(sentences: Iterable[str], cast: Collection[str] = ()) -> list[FoundName]:
    """Return the names in sentences, by count.

    A name is a word of the cast list; or a word that is written with a capital letter inside sentences at least 3
    times, never in small letters, and that is no place or day of a list.

    Examples
    --------
    >>> sentences = ["Then Anna sits.", "And Anna sees Bob.", "He and Anna go to Rome."]
    >>> [name.name for name in find_names(sentences, ["Bob Hat"])]
    ['Anna', 'Bob']
    """
    in_cast = {word.lower() for name in cast for word in _WORD.findall(name)} - TITLES
    inside: Counter[str] = Counter()
    every: Counter[str] = Counter()
    small: set[str] = set()
    for sentence in sentences:
        for match in _WORD.finditer(sentence):
            word = _without_s(match[0])
            if word[0].islower():
                small.add(word.lower())
                continue
            every[word] += 1
            first = not sentence[: match.start()].strip(" \"'“‘-–—") or bool(_END.search(sentence[: match.start()]))
            inside[word] += not first
    names = [
        FoundName(word, count, word.lower() in in_cast)
        for word, count in every.items()
        if word.lower() in in_cast
        or (inside[word] >= LEAST_LARGE and word.lower() not in small | NO_NAMES | TITLES and not word.isupper())
    ]
    return sorted(names, key=lambda name: (-name.occurrences, name.name))


def _without_s(word: str) -> str:
    return re.sub(r"['’]s$", "", word)


def with_someone(sentence: str, names: Collection[str]) -> str:
    """Return a sentence with SOMEONE in place of each run of names, with titles before it.

    Examples
    --------
    >>> with_someone("Mr. Bob Hat sees Anna's door.", {"Bob", "Hat", "Anna"})
    "SOMEONE sees SOMEONE's door."
    """
    if not names:
        return sentence
    name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    title = "|".join(sorted(TITLES))
    run = re.compile(rf"\b(?:(?i:{title})\.?\s+)?(?:{name})\b(?:\s+(?:{name})\b)*")
    return run.sub(SOMEONE, sentence)


def large_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that texts write with a capital letter inside sentences, and never in small letters.

    Examples
    --------
    >>> sorted(large_words(["He went to Paris with Anna.", "The dog saw the Dog."]))
    ['Anna', 'Paris']
    """
    large: set[str] = set()
    small: set[str] = set()
    for text in texts:
        for match in _WORD.finditer(text):
            before = text[: match.start()]
            if match[0][0].islower():
                small.add(match[0].lower())
            elif before.strip(" \"'“‘-–—") and not _END.search(before):
                large.add(_without_s(match[0]))
    return frozenset(word for word in large if word.lower() not in small)
