"""Which verbs queries use, by split: Closer Look (Yuan et al. 2021), Fig. 5; Hidden Challenges, section 3.1.

What a verb is stands in :mod:`truemoment.language.verbs`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from truemoment.exceptions import UsageError
from truemoment.intervals import Floats, Ints
from truemoment.language.verbs import coverage, verb_counts


@dataclass(frozen=True, eq=False)
class VerbUse:
    """The verbs of a dataset's queries.

    Parameters
    ----------
    counts
        Occurrences of each verb by split; a verb that stands twice in a sentence counts twice.
    top : n verbs
        The most frequent ones over all splits together, ties in order of first occurrence.
    coverage
        Share of all occurrences that are of `top`; NaN if there is none.
    per_sentence : (K + 1,)
        Sentences with 0, 1, ..., K verbs, over all splits.
    """

    counts: Mapping[str, Counter[str]]
    top: tuple[str, ...]
    coverage: float
    per_sentence: Ints

    @property
    def n_sentences(self) -> int:
        """Sentences of all splits."""
        return int(self.per_sentence.sum())

    @property
    def mean_per_sentence(self) -> float:
        """Mean number of verbs a sentence; NaN if there is no sentence."""
        n_verbs = int(self.per_sentence @ np.arange(len(self.per_sentence)))
        return n_verbs / self.n_sentences if self.n_sentences else float("nan")

    def shares(self, split: str) -> Floats:
        """Share of each of `top` among all verbs of a split, shape (n,); NaN if it has none.

        Raises
        ------
        UsageError
            Naming the splits there are.
        """
        if split not in self.counts:
            raise UsageError(f"unknown split {split!r}, expected one of {', '.join(self.counts)}")
        counts = self.counts[split]
        found = np.array([counts[verb] for verb in self.top], dtype=np.float64)
        return found / counts.total() if counts else np.full(len(self.top), np.nan)


def verb_use(verbs_by_split: Mapping[str, Sequence[Sequence[str]]], n: int = 30) -> VerbUse:
    """Count the verbs of each split's sentences.

    Parameters
    ----------
    verbs_by_split
        Verbs of each sentence of each split, as :func:`truemoment.language.verbs_of` gives them.
    n
        How many of the most frequent verbs, 1 or more.

    Raises
    ------
    UsageError
        If `n` is less than 1.

    Examples
    --------
    >>> use = verb_use({"train": [("open", "close"), ("open",)], "test": [(), ("sit",)]}, n=2)
    >>> use.top, use.coverage, use.per_sentence.tolist(), use.mean_per_sentence
    (('open', 'close'), 0.75, [1, 2, 1], 1.0)
    >>> use.shares("test").tolist()
    [0.0, 0.0]
    """
    counts = {split: verb_counts(sentences) for split, sentences in verbs_by_split.items()}
    together: Counter[str] = sum(counts.values(), Counter())
    lengths = np.array([len(verbs) for sentences in verbs_by_split.values() for verbs in sentences], dtype=np.int64)
    return VerbUse(
        counts=MappingProxyType(counts),
        top=tuple(verb for verb, _ in together.most_common(n)),
        coverage=coverage(together, n),
        per_sentence=np.bincount(lengths, minlength=1),
    )
