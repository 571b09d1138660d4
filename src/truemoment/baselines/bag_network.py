r"""Networks from bags of terms to probabilities of classes, trained together: one hidden layer each, in NumPy.

.. math:: h = \max\left(0,\; b + \frac{1}{\sqrt{|B|}} \sum_{t \in B} E_t\right), \qquad p = \mathrm{softmax}(h W + c)

with B the terms of a sentence, :math:`E_t` their embeddings. They are trained by Adam (Kingma and Ba 2015) on the cross
entropy, with dropout on h, at a rate that rises for a twentieth of the steps and then falls to 0. Embeddings are
updated where a batch contains their term, and their moments decay only then.

With a memory (:mod:`~truemoment.baselines.paragraph_memory`) the sum over embeddings also reads other sentences.

The G members of an ensemble read the same batches, so each term is looked up once for all of them; they differ by
initial weights, dropout and the sentences that each leaves out.

Everything is float64: rounding then changes no printed figure, whatever machine or number of threads computes it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import positions_in_lists
from truemoment.baselines.paragraph_memory import N_EMBEDDINGS, Memory
from truemoment.data.language.bags import Bags

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
"""Decay of Adam's moments, and the constant that keeps its division finite (Kingma and Ba 2015)."""

PARTS = ("embedding", "hidden_bias", "output", "output_bias")
"""Arrays of weights."""

EMBEDDING_SCALE, OUTPUT_SCALE = 0.05, 0.3
"""Standard deviation of initial embeddings; that of initial output weights, times the square root of H."""

RISING = 0.05
"""Share of the steps in which the rate rises."""

BLOCK_BAGS, BLOCK_ROWS = 512, 32
"""Number of sentences, and of rows, that are processed at a time, to stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class BagNetworks:
    """Weights of G members with T terms, H hidden units and K classes: (T, G, H), (G, H), (G, H, K) and (G, K).

    The embedding of a network with a memory is (T, G, 3 H).
    """

    embedding: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    @classmethod
    def initial(
        cls,
        n_terms: int,
        n_hidden: int,
        n_members: int,
        prior: Floats,
        rng: np.random.Generator,
        *,
        has_memory: bool = False,
    ) -> BagNetworks:
        """Draw initial weights; the output bias is the logarithm of `prior` (K,), so that training starts from it."""
        width = N_EMBEDDINGS * n_hidden if has_memory else n_hidden
        return cls(
            rng.standard_normal((n_terms, n_members, width)) * EMBEDDING_SCALE,
            np.zeros((n_members, n_hidden)),
            rng.standard_normal((n_members, n_hidden, len(prior))) * (OUTPUT_SCALE / np.sqrt(n_hidden)),
            np.tile(np.log(prior), (n_members, 1)),
        )

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self.output)

    @property
    def parts(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The four arrays, in order."""
        return self.embedding, self.hidden_bias, self.output, self.output_bias

    def rounded(self) -> BagNetworks:
        """Return the weights in float16, a quarter of the size; computations with them use float64."""
        return BagNetworks(*(part.astype(np.float16) for part in self.parts))

    @property
    def has_memory(self) -> bool:
        """Whether hidden units read the sentences before and after."""
        return bool(self.embedding.shape[2] > self.hidden_bias.shape[1])

    def members(self, bags: Bags, first: Ints) -> Floats:
        """Return the probability of each class for each sentence by each member, (G, Q, K).

        Paragraphs start at the sentences `first`, (P + 1,).
        """
        wide = BagNetworks(*(part.astype(np.float64) for part in self.parts))
        members: list[Floats] = [np.empty((len(self), 0, self.output.shape[2]))]
        for low, high in itertools.pairwise(blocks_of(first)):
            part = bags.select(np.arange(first[low], first[high]))
            hidden = hidden_layers(wide, part, first[low : high + 1] - first[low])
            members.append(classes(wide, hidden))
        return np.concatenate(members, axis=1)


def blocks_of(first: Ints) -> list[int]:
    """Return the paragraphs with which blocks of about ``BLOCK_BAGS`` sentences begin, and their number at the end."""
    blocks = [0]
    while blocks[-1] < len(first) - 1:
        below = int(np.searchsorted(first, first[blocks[-1]] + BLOCK_BAGS, side="right")) - 1
        blocks.append(max(below, blocks[-1] + 1))
    return blocks


def hidden_layers(networks: BagNetworks, bags: Bags, first: Ints) -> Floats:
    """Return the hidden units of each member, (G, B, H); every bag has a term or more.

    Paragraphs start at the bags `first`, (P + 1,).
    """
    table = networks.embedding.reshape(len(networks.embedding), -1)
    sums = sums_of_rows(table, bags.terms, bags.offsets[:-1], bags.lengths)
    sums /= np.sqrt(bags.lengths)[:, None]
    units = sums.reshape(len(bags), *networks.embedding.shape[1:])
    units = Memory.of(first).read(units) if networks.has_memory else units
    units += networks.hidden_bias
    np.maximum(units, 0, out=units)
    return units.transpose(1, 0, 2)


def sums_of_rows(table: Floats, rows: Ints, first: Ints, lengths: Ints) -> Floats:
    """Return the sum of some rows of a table (T, C) for each of L lists of them, (L, C).

    List l is ``rows[first[l] : first[l] + lengths[l]]``, and none is empty. Lists of similar length are summed side by
    side: ``np.add.reduceat`` along the first axis takes ten times as long.
    """
    sums, buffer = (np.empty((n, table.shape[1])) for n in (len(lengths), BLOCK_ROWS))
    longest_first = np.argsort(-lengths, kind="stable")
    for low in range(0, len(lengths), BLOCK_ROWS):
        lists = longest_first[low : low + BLOCK_ROWS]
        start, length = first[lists], lengths[lists]
        block = table.take(rows[start], axis=0)
        n_longer = np.searchsorted(-length, -np.arange(1, length[0]))  # than 1, 2, ... rows
        for k, n in enumerate(n_longer.tolist(), 1):
            table.take(rows[start[:n] + k], axis=0, out=buffer[:n], mode="clip")
            block[:n] += buffer[:n]
        sums[lists] = block
    return sums


def softmax(logits: Floats) -> Floats:
    """Turn logits into probabilities along the last axis, in place, and return them.

    Examples
    --------
    >>> softmax(np.array([[0.0, np.log(3.0)]])).round(4).tolist()
    [[0.25, 0.75]]
    """
    logits -= logits.max(axis=-1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=-1, keepdims=True)
    return logits


def classes(networks: BagNetworks, hidden: Floats) -> Floats:
    """Return the probability of each class for each bag by each member, (G, B, K), given hidden units, (G, B, H)."""
    logits = hidden @ networks.output
    logits += networks.output_bias[:, None]
    return softmax(logits)


@dataclass(frozen=True, eq=False)
class Gradient:
    """Derivatives of the loss of a batch: those of the weights, and of the sums of embeddings of each bag, (B, G * H).

    The derivative of a term's embedding is the sum of those of the bags that contain it.
    """

    hidden_bias: Floats
    output: Floats
    output_bias: Floats
    sums: Floats


def gradient(networks: BagNetworks, bags: Bags, target: Ints, mask: Floats, weight: Floats, *, first: Ints) -> Gradient:
    """Return the gradient of the weighted sum of the cross entropies of a batch.

    `target` has the class of each bag, (B,); `mask` the factors of hidden units by dropout, (G, B, H); `weight` that
    of each bag for each member, (G, B). Paragraphs start at the bags `first`, (P + 1,). Every bag has a term.
    """
    active = hidden_layers(networks, bags, first)
    mask = mask * (active > 0)
    hidden = active * mask
    error = classes(networks, hidden)
    error[:, np.arange(len(bags)), target] -= 1
    error *= weight[:, :, None]
    of_hidden = (error @ networks.output.transpose(0, 2, 1)) * mask
    of_units: Floats = of_hidden.transpose(1, 0, 2)
    of_units = Memory.of(first).gradient(of_units) if networks.has_memory else of_units
    of_sums = of_units.reshape(len(bags), -1) / np.sqrt(bags.lengths)[:, None]
    return Gradient(of_hidden.sum(axis=1), hidden.transpose(0, 2, 1) @ error, error.sum(axis=1), of_sums)


class Adam:
    """Adam on the weights of networks, which are changed in place."""

    def __init__(self, networks: BagNetworks) -> None:
        self.networks, self.n_steps = networks, 0
        self._mean = [np.zeros_like(part) for part in networks.parts]
        self._square = [np.zeros_like(part) for part in networks.parts]

    def step(self, bags: Bags, derivatives: Gradient, rate: float) -> None:
        """Take one step against the gradient of a batch."""
        self.n_steps += 1
        rate *= math.sqrt(1 - BETA2**self.n_steps) / (1 - BETA1**self.n_steps)
        small = (derivatives.hidden_bias, derivatives.output, derivatives.output_bias)
        for part, mean, square, derivative in zip(
            self.networks.parts[1:], self._mean[1:], self._square[1:], small, strict=True
        ):
            np.subtract(part, _moved(mean, square, derivative, rate), out=part)
        embedding, mean, square = (
            part[0].reshape(len(part[0]), -1) for part in (self.networks.parts, self._mean, self._square)
        )
        order = np.argsort(bags.terms, kind="stable")
        in_order, bag = bags.terms[order], np.repeat(np.arange(len(bags)), bags.lengths)[order]
        first = np.flatnonzero(np.diff(in_order, prepend=-1))
        n_bags = np.diff(first, append=len(bag))
        most_first = np.argsort(-n_bags, kind="stable")  # terms of a block are then in about as many bags
        for low in range(0, len(first), BLOCK_ROWS):
            block = most_first[low : low + BLOCK_ROWS]
            terms = in_order[first[block]]
            derivative = sums_of_rows(derivatives.sums, bag, first[block], n_bags[block])
            weights, old_mean, old_square = (part.take(terms, axis=0) for part in (embedding, mean, square))
            weights -= _moved(old_mean, old_square, derivative, rate)
            embedding[terms], mean[terms], square[terms] = weights, old_mean, old_square


def _moved(mean: Floats, square: Floats, derivative: Floats, rate: float) -> Floats:
    """Update the moments of some weights in place, and return how far the weights move."""
    change = derivative * (1 - BETA1)
    mean *= BETA1
    mean += change
    np.multiply(derivative, derivative, out=change)
    change *= 1 - BETA2
    square *= BETA2
    square += change
    np.sqrt(square, out=change)
    change += EPSILON
    np.divide(mean, change, out=change)
    change *= rate
    return change


def train(
    networks: BagNetworks,
    bags: Bags,
    target: Ints,
    learns: Bools,
    rng: np.random.Generator,
    *,
    first: Ints,
    epochs: int,
    batch: int,
    rate: float,
    dropout: float,
    on_progress: Callable[[float], None] = lambda _: None,
) -> None:
    """Train on all bags several times, each time in another order, and change the weights in place.

    Parameters
    ----------
    target : (N,)
        Class of each bag.
    learns : (G, N)
        Whether a member learns from a bag.
    rng
        Draws orders and dropout.
    first : (P + 1,)
        Bags at which paragraphs start; the bags of a paragraph are read together.
    epochs, batch
        Times that all bags are read, and approximate number of bags a step.
    rate
        Highest rate of Adam.
    dropout
        Share of hidden units that a step leaves out.
    on_progress
        Called with the finished share.
    """
    adam, shape = Adam(networks), networks.hidden_bias.shape
    n_paragraphs = len(first) - 1
    together = max(1, round(batch * n_paragraphs / len(bags)))
    n_steps = epochs * math.ceil(n_paragraphs / together)
    for epoch in range(epochs):
        order = rng.permutation(n_paragraphs)
        for low in range(0, n_paragraphs, together):
            paragraphs = order[low : low + together]
            rows = positions_in_lists(first, paragraphs)
            starts = np.concatenate([[0], np.cumsum(np.diff(first)[paragraphs])])
            mask = (rng.random((shape[0], len(rows), shape[1]), np.float32) >= dropout) / (1 - dropout)
            weight = learns[:, rows] / np.maximum(learns[:, rows].sum(axis=1, keepdims=True), 1)
            part = bags.select(rows)
            progress = adam.n_steps / n_steps
            step_rate = rate * min(1.0, (adam.n_steps + 1) / (RISING * n_steps + 1)) * (1 - progress)
            adam.step(part, gradient(networks, part, target[rows], mask, weight, first=starts), step_rate)
        on_progress((epoch + 1) / epochs)
