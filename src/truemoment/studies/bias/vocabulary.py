"""The words of a dataset: their number, the long tail, the words that train and test share, and the verbs.

A *word* is a token of the language engine with a letter or a digit; the two halves of *doesn't* are two words. Words
are distinguished in one of three ways:

=========  ===========================================================================================
form       in lower case, as spelt: *opens* and *opened* are two, *Opens* and *opens* one; the default
written    as written: *Opens* and *opens* are two; as in MAD's Table 1 (``truemoment reproduce mad-1``)
lemma      by base form: *opens* and *opened* are one
=========  ===========================================================================================

Each word counts under its most frequent part of speech, so that parts add up to the whole and rare mistakes of a tagger
do not count. Misspelt words are words.

References
----------
Soldan et al. (2022), "MAD: A Scalable Dataset for Language Grounding in Videos from Movie Audio Descriptions", Table 1,
A.1.1 (overlap) and A.1.3 (long tail). Verbs: Closer Look (Yuan et al. 2021), Fig. 5; Hidden Challenges (Otani et al.
2020), section 3.1; :mod:`truemoment.data.language.verbs` defines verbs.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

import numpy as np

from truemoment.base.intervals import Ints
from truemoment.data.language.base import Tag, Token
from truemoment.data.language.verbs import coverage, verb_counts

N_FREQUENT = 10
"""Number of words, the most frequent ones, that are listed if two splits do not share them."""

Spelling = Literal["form", "written", "lemma"]
"""Ways to distinguish words."""

_TAG_ORDER: Mapping[Tag, int] = {tag: rank for rank, tag in enumerate(get_args(Tag))}


def is_word(token: Token) -> bool:
    """Whether a token is a word: it has a letter or a digit.

    Examples
    --------
    >>> [is_word(Token(text, text, "OTHER")) for text in ("door", "3", "n't", ".", "--", "\N{DOOR}")]
    [True, True, True, False, False, False]
    """
    return any(character.isalnum() for character in token.text)


class VocabularySizes(NamedTuple):
    """Number of distinct words by most frequent part of speech; the parts add up to `total`.

    Forms of *be*, modals, and *have* and *do* before a verb are not verbs.
    """

    adjectives: int
    nouns: int
    verbs: int
    other: int
    total: int


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words of some sentences: the number of occurrences of each token, and how words are distinguished.

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> readings = get_engine().analyse(["A door opens.", "The doors open, they opened a door."])
    >>> vocabulary(readings).sizes
    VocabularySizes(adjectives=0, nouns=2, verbs=3, other=3, total=8)
    >>> vocabulary(readings).spelt("lemma").counts.most_common(2)
    [('door', 3), ('open', 3)]
    """

    uses: Counter[Token]
    spelling: Spelling = "form"

    def spelt(self, spelling: Spelling) -> Vocabulary:
        """Return the same words, distinguished in another way."""
        return Vocabulary(self.uses, spelling)

    def _word(self, token: Token) -> str:
        if self.spelling == "lemma":
            return token.lemma
        return token.text if self.spelling == "written" else token.text.lower()

    @functools.cached_property
    def counts(self) -> Counter[str]:
        """Number of occurrences of each word, the most frequent first, ties in alphabetical order."""
        counts: Counter[str] = Counter()
        for token, n in self.uses.items():
            counts[self._word(token)] += n
        return Counter(dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))))

    @functools.cached_property
    def tag_of(self) -> dict[str, Tag]:
        """The most frequent part of speech of each word; ties in the order VERB, AUX, NOUN, ADJ, OTHER."""
        uses: Counter[tuple[str, Tag]] = Counter()
        for token, n in self.uses.items():
            uses[self._word(token), token.tag] += n
        ordered = sorted(uses.items(), key=lambda item: (item[1], -_TAG_ORDER[item[0][1]]))
        return {word: tag for (word, tag), _ in ordered}

    @functools.cached_property
    def sizes(self) -> VocabularySizes:
        """Number of words by part of speech."""
        counts = Counter(self.tag_of.values())
        return VocabularySizes(
            counts["ADJ"], counts["NOUN"], counts["VERB"], counts["AUX"] + counts["OTHER"], counts.total()
        )

    @property
    def n_words(self) -> int:
        """Number of distinct words."""
        return len(self.counts)

    @functools.cached_property
    def n_occurrences(self) -> int:
        """Number of all occurrences of words."""
        return self.uses.total()


def vocabulary(readings: Iterable[Sequence[Token]]) -> Vocabulary:
    """Count the words of sentences that ``engine.analyse`` has read."""
    uses = Counter(chain.from_iterable(readings))
    return Vocabulary(Counter({token: n for token, n in uses.items() if is_word(token)}))


# ------------------------------------------------------------------------------------------ long tail


@dataclass(frozen=True, eq=False)
class LongTail:
    """The long tail of words (MAD A.1.3).

    Parameters
    ----------
    at_least, share_below
        Number of occurrences -> number of words with at least that many, and share of the vocabulary with fewer.
    covered_by_top
        Number of most frequent words -> their share of all occurrences. Shares are NaN without words.
    rank, count : (R,)
        All ranks, or some evenly spaced in the logarithm, and the number of occurrences of the word at each rank.
    """

    n_words: int
    n_occurrences: int
    at_least: Mapping[int, int]
    share_below: Mapping[int, float]
    covered_by_top: Mapping[int, float]
    n_once: int
    rank: Ints
    count: Ints


def long_tail(
    words: Vocabulary, at_least: Sequence[int] = (50, 1000), top: Sequence[int] = (10, 100, 1000), *, n_ranks: int = 200
) -> LongTail:
    """Count words with `at_least` these numbers of occurrences, and the share of the `top` most frequent words.

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> readings = get_engine().analyse(["a door opens", "a door closes", "a man waits"])
    >>> tail = long_tail(vocabulary(readings), at_least=(2, 3), top=(1,))
    >>> tail.at_least, tail.n_once, round(tail.covered_by_top[1], 3), tail.count.tolist()
    ({2: 2, 3: 1}, 4, 0.333, [3, 2, 1, 1, 1, 1])
    """
    counts = np.fromiter(words.counts.values(), dtype=np.int64, count=words.n_words)
    total, n_words = words.n_occurrences, len(counts)
    numbers = {least: int((counts >= least).sum()) for least in at_least}
    rank = np.arange(1, n_words + 1)
    if n_words > n_ranks:
        rank = np.unique(np.geomspace(1, n_words, n_ranks).round().astype(np.int64))
    return LongTail(
        n_words=n_words,
        n_occurrences=total,
        at_least=numbers,
        share_below={least: _share(n_words - n, n_words) for least, n in numbers.items()},
        covered_by_top={n: _share(int(counts[:n].sum()), total) for n in top},
        n_once=int((counts == 1).sum()),
        rank=rank,
        count=counts[rank - 1],
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


# -------------------------------------------------------------------------------------------- overlap


class NotShared(NamedTuple):
    """The words of one vocabulary that are not in another; shares are 0 to 1, NaN without words."""

    n_words: int
    share_of_vocabulary: float
    share_of_occurrences: float
    frequent: tuple[str, ...]


class Overlap(NamedTuple):
    """The words that two vocabularies share (MAD A.1.1)."""

    n_shared: int
    share_of_test: float
    not_in_train: NotShared
    not_in_test: NotShared


def overlap(train: Vocabulary, test: Vocabulary) -> Overlap:
    """Compare the words of a test with those of train, with the same spelling.

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> engine = get_engine()
    >>> train, test = (vocabulary(engine.analyse([s])) for s in ("a man opens a door", "a man closes a door"))
    >>> result = overlap(train, test)
    >>> result.n_shared, result.share_of_test, result.not_in_train
    (3, 0.75, NotShared(n_words=1, share_of_vocabulary=0.25, share_of_occurrences=0.2, frequent=('closes',)))
    """
    n_shared = len(train.counts.keys() & test.counts.keys())
    return Overlap(n_shared, _share(n_shared, test.n_words), _not_shared(test, train), _not_shared(train, test))


def _not_shared(words: Vocabulary, reference: Vocabulary) -> NotShared:
    missing = [word for word in words.counts if word not in reference.counts]
    n = sum(words.counts[word] for word in missing)
    shares = _share(len(missing), words.n_words), _share(n, words.n_occurrences)
    return NotShared(len(missing), *shares, tuple(missing[:N_FREQUENT]))


@dataclass(frozen=True, eq=False)
class VerbUse:
    """The verbs of a dataset's queries: number of occurrences of each verb by split.

    Parameters
    ----------
    top, coverage
        The most frequent verbs over all splits, ties in order of first occurrence, and their share of all occurrences;
        NaN if there is none.
    per_sentence : (K + 1,)
        Number of sentences with 0, 1, ..., K verbs, over all splits.
    """

    counts: Mapping[str, Counter[str]]
    top: tuple[str, ...]
    coverage: float
    per_sentence: Ints

    @property
    def n_sentences(self) -> int:
        """Number of sentences in all splits."""
        return int(self.per_sentence.sum())

    @property
    def mean_per_sentence(self) -> float:
        """Mean number of verbs per sentence; NaN if there is no sentence."""
        n_verbs = int(self.per_sentence @ np.arange(len(self.per_sentence)))
        return n_verbs / self.n_sentences if self.n_sentences else float("nan")


def verb_use(verbs_by_split: Mapping[str, Sequence[Sequence[str]]], n: int = 30) -> VerbUse:
    """Count the verbs (:func:`truemoment.data.language.verbs_of`) of each split, and list the `n` most frequent ones.

    Examples
    --------
    >>> use = verb_use({"train": [("open", "close"), ("open",)], "test": [(), ("sit",)]}, n=2)
    >>> use.top, use.coverage, use.per_sentence.tolist(), use.mean_per_sentence
    (('open', 'close'), 0.75, [1, 2, 1], 1.0)
    """
    counts = {split: verb_counts(sentences) for split, sentences in verbs_by_split.items()}
    total: Counter[str] = sum(counts.values(), Counter())
    lengths = np.array([len(verbs) for sentences in verbs_by_split.values() for verbs in sentences], dtype=np.int64)
    return VerbUse(
        counts=MappingProxyType(counts),
        top=tuple(verb for verb, _ in total.most_common(n)),
        coverage=coverage(total, n),
        per_sentence=np.bincount(lengths, minlength=1),
    )
