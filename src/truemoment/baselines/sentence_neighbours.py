r"""Sentence neighbours: the place of a moment from the training sentences that are most alike.

Sentences are compared by the cosine of their bags of words and word pairs, weighted by TF-IDF with a TF of 1
(:math:`\mathrm{idf}_t = \log(N / n_t)` for a term in :math:`n_t` of N training sentences). The moments of the nearest
sentences count by a power of the cosine and are mixed with the prior:

.. math:: p_k \propto \sum_{i \in \mathrm{nearest}} \cos(q, i)^a \, [m_i \in k] + b \, \mathrm{prior}_k

over the occupied cells k of 5 % x 5 % of the video. It answers as the sentence network does
(:mod:`~truemoment.baselines.expected_value`), but learns nothing and does not look at durations: a blind floor of
another kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Queries
from truemoment.baselines.expected_value import Places
from truemoment.data.language.bags import Bags, bags_of, frequent_terms, terms_of

FEWEST, MOST = 2, 0.2
"""Least number of training sentences with a term, and largest share of them."""

NEAREST, LEAST = 128, 1e-9
"""Training sentences whose moments count (and all that are as near as the last of them), and their least cosine."""

SAMPLED = 16
"""One of this many cosines is read first, to bound the nearest sentences."""

POWER = 2.0
"""Power of the cosine by which a sentence counts (a)."""

PRIOR = 1.0
"""Weight of the prior (b), where a sentence that is the same counts 1."""


@dataclass(frozen=True, eq=False)
class Sentences:
    """Training sentences, to be looked up by their terms.

    ``rows[offsets[t]:offsets[t + 1]]`` are the sentences that contain term t, and `weights` its weight in each:
    sentences have length 1.
    """

    terms: tuple[str, ...]
    idf: Floats
    rows: Ints
    weights: Floats
    offsets: Ints

    @classmethod
    def of(cls, sentences: Sequence[str], most: float = MOST) -> Sentences:
        """Arrange N sentences by term; terms in more than the share `most` of them are left out."""
        words = [terms_of(sentence) for sentence in sentences]
        terms = frequent_terms(words, FEWEST, most)
        bags = bags_of(words, terms)
        count = np.bincount(bags.terms, minlength=len(terms))
        idf = np.log(len(bags) / count)
        owner = np.repeat(np.arange(len(bags)), bags.lengths)
        order = np.argsort(bags.terms, kind="stable")
        weights = unit_weights(bags, idf)[order]
        return cls(terms, idf, owner[order], weights, np.concatenate([[0], np.cumsum(count)]))

    def cosines(self, bag: Ints, weights: Floats, n_sentences: int) -> Floats:
        """Return the cosine of one sentence, given its terms and weights (B,), with each training sentence, (N,)."""
        parts = list(map(slice, self.offsets[bag].tolist(), self.offsets[bag + 1].tolist()))
        if not parts:
            return np.zeros(n_sentences)
        rows = np.concatenate([self.rows[part] for part in parts])
        products = [self.weights[part] * weight for part, weight in zip(parts, weights.tolist(), strict=True)]
        return np.asarray(np.bincount(rows, np.concatenate(products), minlength=n_sentences), dtype=np.float64)


def unit_weights(bags: Bags, idf: Floats) -> Floats:
    """Return the TF-IDF weight of each term of each bag, (B,), scaled so that every bag has length 1."""
    weight = idf[bags.terms]
    owner = np.repeat(np.arange(len(bags)), bags.lengths)
    length = np.sqrt(np.bincount(owner, weight**2, minlength=len(bags)))
    return np.asarray(weight / np.where(length > 0, length, 1.0)[owner])


@dataclass(frozen=True, eq=False)
class SentenceNeighbours:
    """Probabilities of places from the most similar training sentences.

    `cell`, once fitted, is the cell of each training moment, as a position in ``places.cells``.
    """

    sentences: Sentences | None = None
    places: Places | None = None
    cell: Ints | None = None
    name: str = "Sentence neighbours"

    def fit(self, train: Annotations) -> SentenceNeighbours:
        """Store the sentences of `train` and the places of their moments."""
        places, target, rows = Places.of(train)
        return replace(self, sentences=Sentences.of(train.sentence[rows].tolist()), places=places, cell=target)

    def probabilities(self, queries: Queries) -> Floats:
        """Return the probability of each occupied cell for each query, (Q, K)."""
        if self.sentences is None or self.places is None or self.cell is None:
            raise UsageError(f"{self.name} has to be fitted first")
        distinct, row = np.unique(queries.sentence, return_inverse=True)
        bags = bags_of([terms_of(sentence) for sentence in distinct.tolist()], self.sentences.terms)
        weights = unit_weights(bags, self.sentences.idf)
        table = np.tile(PRIOR * self.places.prior, (len(distinct), 1))
        for q in range(len(distinct)):
            part = slice(bags.offsets[q], bags.offsets[q + 1])
            cosine = self.sentences.cosines(bags.terms[part], weights[part], len(self.cell))
            threshold = max(nth_largest(cosine, NEAREST), LEAST)
            nearest = np.flatnonzero(cosine >= threshold)
            table[q] += np.bincount(self.cell[nearest], cosine[nearest] ** POWER, minlength=table.shape[1])
        return np.asarray(table / table.sum(axis=1, keepdims=True))[row]


def nth_largest(values: Floats, n: int) -> float:
    """Return the n-th largest of values of at least 0; a sample of them bounds it, so that few have to be put in order.

    Examples
    --------
    >>> nth_largest(np.array([0.1, 0.9, 0.4, 0.2]), 2)
    0.4
    """
    sample, rank = values[::SAMPLED], 2 * n // SAMPLED + 1
    least = np.partition(sample, -rank)[-rank] if len(sample) >= rank else 0.0
    high = values[values >= least] if least > 0 else values[:0]
    high = high if len(high) >= n else values[values > 0]
    return float(np.partition(high, -n)[-n]) if len(high) >= n else 0.0
