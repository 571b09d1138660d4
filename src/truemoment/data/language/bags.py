"""Sentences as bags of words and word pairs: what a network reads that has no order and no pretrained vectors.

The terms of a sentence are its distinct words (:func:`~truemoment.data.language.tokens.tokenise`) and its distinct
pairs of neighbouring words; the first word forms a pair with the start of the sentence. Terms that are rare in training
are ignored, as are terms that training does not contain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from truemoment.base.intervals import Ints
from truemoment.base.records import positions_in_lists
from truemoment.data.language.tokens import tokenise

START = ""
"""Symbol before the first word of a sentence."""


@dataclass(frozen=True, eq=False)
class Bags:
    """The terms of Q sentences, by number, stored flat.

    Parameters
    ----------
    terms : (T,)
        Numbers of terms, sentence after sentence, rising within a sentence.
    offsets : (Q + 1,)
        ``terms[offsets[q]:offsets[q + 1]]`` are the terms of sentence q.
    """

    terms: Ints
    offsets: Ints

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ints:
        """Number of terms of each sentence, (Q,)."""
        return np.diff(self.offsets)

    def select(self, rows: Ints) -> Bags:
        """Return the bags of some sentences, in the order of `rows`."""
        offsets = np.concatenate([[0], np.cumsum(self.lengths[rows])])
        return Bags(self.terms[positions_in_lists(self.offsets, rows)], offsets)


def terms_of(sentence: str) -> set[str]:
    """Return the words and pairs of neighbouring words of a sentence.

    Examples
    --------
    >>> sorted(terms_of("A door opens."))
    [' a', 'a', 'a door', 'door', 'door opens', 'opens']
    """
    words = tokenise(sentence)
    return {*words, *map(" ".join, pairwise((START, *words)))}


def frequent_terms(read: Sequence[Set[str]], fewest: int, largest_share: float = 1.0) -> tuple[str, ...]:
    """Return the terms that `fewest` sentences or more contain, in alphabetical order; `read` has those of each."""
    count = Counter(chain.from_iterable(read))
    return tuple(sorted(term for term, n in count.items() if fewest <= n <= largest_share * len(read)))


def bags_of(read: Sequence[Set[str]], terms: Sequence[str]) -> Bags:
    """Return the bag of each sentence over a list of distinct terms; `read` has the terms of each sentence."""
    number = {term: i for i, term in enumerate(terms)}
    rows = [[n for n in map(number.get, words) if n is not None] for words in read]
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    bag = np.repeat(np.arange(len(rows)), lengths)
    by_bag = np.sort(bag * len(terms) + np.fromiter(chain.from_iterable(rows), np.int64, len(bag)))
    return Bags(by_bag - bag * len(terms), np.concatenate([[0], np.cumsum(lengths)]))
