"""Frequency of verbs in queries, by split: Closer Look (Yuan et al. 2021), Fig. 5; Hidden Challenges, section 3.1.

See :mod:`truemoment.data.language.verbs` for what counts as a verb.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from truemoment.base.intervals import Ints
from truemoment.data.language.verbs import coverage, verb_counts


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
    together: Counter[str] = sum(counts.values(), Counter())
    lengths = np.array([len(verbs) for sentences in verbs_by_split.values() for verbs in sentences], dtype=np.int64)
    return VerbUse(
        counts=MappingProxyType(counts),
        top=tuple(verb for verb, _ in together.most_common(n)),
        coverage=coverage(together, n),
        per_sentence=np.bincount(lengths, minlength=1),
    )
