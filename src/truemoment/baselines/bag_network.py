r"""A network from bags of terms to probabilities of classes: one hidden layer, in NumPy.

.. math:: h = \max\left(0,\; b + \frac{1}{\sqrt{|B|}} \sum_{t \in B} E_t\right), \qquad p = \mathrm{softmax}(h W + c)

with B the terms of a sentence, :math:`E_t` their embeddings. It is trained by Adam (Kingma and Ba 2015) on the cross
entropy, with dropout on h. Embeddings are updated where a batch contains their term, and their moments decay only then.

Everything is float64: rounding then changes no printed figure, whatever machine or number of threads computes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.intervals import Floats, Ints
from truemoment.language.bags import Bags

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
"""Decay of Adam's moments, and what keeps its division finite (Kingma and Ba 2015)."""

N_PARTS = 4
"""Arrays of weights."""

EMBEDDING_SCALE, OUTPUT_SCALE = 0.05, 0.3
"""Standard deviation of initial embeddings; that of initial output weights, times the square root of H."""

BLOCK_BAGS = 4096
"""Sentences that are read at a time, to bound memory."""


@dataclass(frozen=True, eq=False)
class BagNetwork:
    """Weights of T terms, H hidden units and K classes: shapes (T, H), (H,), (H, K) and (K,)."""

    embedding: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    @classmethod
    def initial(cls, n_terms: int, n_hidden: int, prior: Floats, rng: np.random.Generator) -> BagNetwork:
        """Draw initial weights; the output bias is the logarithm of `prior` (K,), so that training starts from it."""
        return cls(
            rng.standard_normal((n_terms, n_hidden)) * EMBEDDING_SCALE,
            np.zeros(n_hidden),
            rng.standard_normal((n_hidden, len(prior))) * (OUTPUT_SCALE / np.sqrt(n_hidden)),
            np.log(prior),
        )

    def copy(self) -> BagNetwork:
        """Return the same weights in new arrays."""
        return BagNetwork(*(part.copy() for part in self.parts))

    def rounded(self) -> BagNetwork:
        """Return the weights in float32, half as large to keep; what is computed from them is float64 again."""
        return BagNetwork(*(part.astype(np.float32) for part in self.parts))

    @property
    def parts(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The four arrays, in order."""
        return self.embedding, self.hidden_bias, self.output, self.output_bias

    def probabilities(self, bags: Bags) -> Floats:
        """Return the probability of each class for each sentence, (Q, K)."""
        found = [
            self._of(bags.select(rows)) for rows in np.split(np.arange(len(bags)), range(0, len(bags), BLOCK_BAGS))
        ]
        return np.concatenate(found)

    def _of(self, bags: Bags) -> Floats:
        return softmax(hidden_layer(self, bags) @ self.output + self.output_bias)


def hidden_layer(network: BagNetwork, bags: Bags) -> Floats:
    """Return the hidden units, (B, H); every bag has a term or more."""
    if not len(bags):
        return np.empty((0, len(network.hidden_bias)))
    sums = np.add.reduceat(network.embedding[bags.terms], bags.offsets[:-1], axis=0, dtype=np.float64)
    return np.asarray(np.maximum(sums / np.sqrt(bags.lengths)[:, None] + network.hidden_bias, 0))


def softmax(logits: Floats) -> Floats:
    """Return probabilities along the last axis.

    Examples
    --------
    >>> softmax(np.array([[0.0, np.log(3.0)]])).round(4).tolist()
    [[0.25, 0.75]]
    """
    found = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def gradient(network: BagNetwork, bags: Bags, target: Ints, kept: Floats) -> tuple[Ints, BagNetwork]:
    """Return the distinct terms of a batch, and the gradient of its mean cross entropy, with embeddings of these only.

    `target` has the class of each bag, (B,); `kept` is what dropout multiplies hidden units with, (B, H). Every bag has
    a term.
    """
    active = hidden_layer(network, bags)
    hidden = active * kept
    error = softmax(hidden @ network.output + network.output_bias)
    error[np.arange(len(bags)), target] -= 1
    error /= len(bags)
    of_hidden = (error @ network.output.T) * kept * (active > 0)
    of_terms = np.repeat(of_hidden / np.sqrt(bags.lengths)[:, None], bags.lengths, axis=0)
    order = np.argsort(bags.terms, kind="stable")
    in_order = bags.terms[order]
    first = np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]]))
    of_embedding = np.add.reduceat(of_terms[order], first, axis=0)
    return in_order[first], BagNetwork(of_embedding, of_hidden.sum(axis=0), hidden.T @ error, error.sum(axis=0))


class Adam:
    """Adam on the weights of a network, which are changed in place."""

    def __init__(self, network: BagNetwork, rate: float) -> None:
        self.network, self.rate, self.n_steps = network, rate, 0
        self._mean = [np.zeros_like(part) for part in network.parts]
        self._square = [np.zeros_like(part) for part in network.parts]

    def step(self, terms: Ints, derivatives: BagNetwork) -> None:
        """Take one step against a gradient, whose embeddings are those of some terms."""
        self.n_steps += 1
        rate = self.rate * np.sqrt(1 - BETA2**self.n_steps) / (1 - BETA1**self.n_steps)
        columns = zip(self.network.parts, self._mean, self._square, derivatives.parts, strict=True)
        for part, mean, square, derivative in columns:
            at = terms if part is self.network.embedding else slice(None)
            new_mean = BETA1 * mean[at] + (1 - BETA1) * derivative
            new_square = BETA2 * square[at] + (1 - BETA2) * derivative**2
            mean[at], square[at] = new_mean, new_square
            part[at] -= rate * new_mean / (np.sqrt(new_square) + EPSILON)


def train_epoch(
    network: BagNetwork,
    adam: Adam,
    bags: Bags,
    target: Ints,
    rng: np.random.Generator,
    *,
    batch: int,
    dropout: float,
) -> None:
    """Train on all bags once, in an order drawn by `rng`, and change the weights in place.

    `target` has the class of each bag, (N,). In each step a share of hidden units, `dropout`, is left out.
    """
    order = rng.permutation(len(bags))
    for low in range(0, len(order), batch):
        rows = order[low : low + batch]
        kept = (rng.random((len(rows), len(network.hidden_bias))) >= dropout) / (1 - dropout)
        adam.step(*gradient(network, bags.select(rows), target[rows], kept))
