r"""Memory of the sentences of a video: what a network adds to its hidden units from those before and after.

Each term has three embeddings: for its own sentence, for the later ones and for the earlier ones. With u, f and g the
sums of these over the terms of a sentence, the hidden units of sentence i read

.. math:: u_i + \sqrt{1 - d^2} \left( \sum_{k \ge 1} d^{k - 1} f_{i - k} + \sum_{k \ge 1} d^{k - 1} g_{i + k} \right)

with a decay d of its own for each unit: leaky integrators, a recurrent network that is linear in time (Mozer 1992). The
gradient of a sum over earlier sentences is a sum over later ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Floats, Ints

N_EMBEDDINGS = 3
"""Embeddings of a term."""

WIDEST = 2.0
"""Decays are logistic functions of evenly spaced numbers from its negative: 0.12 to 0.88."""


@dataclass(frozen=True, eq=False)
class Memory:
    """N sentences, paragraph after paragraph: the number of those before and of those after each in its own, (N,)."""

    before: Ints
    after: Ints

    @classmethod
    def of(cls, first: Ints) -> Memory:
        """Return the memory of paragraphs that start at some sentences, (P + 1,)."""
        sizes = np.diff(first)
        before = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
        return cls(before, np.repeat(sizes, sizes) - 1 - before)

    def read(self, sums: Floats) -> Floats:
        """Return what the hidden units read, (N, G, H), given the sums of the three embeddings, (N, G, 3 H)."""
        own, earlier, later = np.split(sums, N_EMBEDDINGS, axis=2)
        decay = decays(own.shape[2])
        return np.asarray(own + np.sqrt(1 - decay**2) * (self._from_earlier(earlier) + self._from_later(later)))

    def gradient(self, derivative: Floats) -> Floats:
        """Return the derivatives of the sums, (N, G, 3 H), given those of what the units read, (N, G, H)."""
        scaled = np.sqrt(1 - decays(derivative.shape[2]) ** 2) * derivative
        return np.concatenate([derivative, self._from_later(scaled), self._from_earlier(scaled)], axis=2)

    def _from_earlier(self, values: Floats) -> Floats:
        return _decayed(values, self.before)

    def _from_later(self, values: Floats) -> Floats:
        return _decayed(values[::-1], self.after[::-1])[::-1]


def decays(n_hidden: int) -> Floats:
    """Return the decay of each hidden unit."""
    return np.asarray(1 / (1 + np.exp(-np.linspace(-WIDEST, WIDEST, n_hidden))))


def _decayed(values: Floats, before: Ints) -> Floats:
    """Return the decayed sum of the values of earlier sentences of the paragraph, for each sentence.

    Sums over 1, 2, 4, ... sentences are each made of two.
    """
    decay, total, n = decays(values.shape[2]), values.copy(), 1
    while n <= before.max(initial=0):
        total[n:] += np.where((before[n:] >= n)[:, None, None], total[:-n] * decay**n, 0.0)
        n *= 2
    shifted = np.zeros_like(total)
    shifted[1:] = np.where((before[1:] >= 1)[:, None, None], total[:-1], 0.0)
    return shifted
