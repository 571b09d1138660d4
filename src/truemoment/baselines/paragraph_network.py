r"""Paragraph network: the place of a moment from all sentences of its video and their order, without the video.

Two networks (:mod:`~truemoment.baselines.sentence_network`) give probabilities of cells: the sentence network s, and a
network c that also reads the place of the sentence among those of its video, and has a memory of the sentences before
and after (:mod:`~truemoment.baselines.paragraph_memory`). Files list sentences as moments follow each other, so the
end of one moment predicts the start of the next one: with :math:`e_i, b_i` the steps in which the cell of sentence i
ends and starts,

.. math::

    p(z_1 \ldots z_n) \propto \prod_i s_i(z_i)^a \, c_i(z_i)^{1 - a}
    \prod_i \left( \frac{P(e_i, b_{i+1})}{P(e_i) P(b_{i+1})} \right)^g

a chain whose marginals :math:`p(z_i)` the forward-backward algorithm gives exactly (Rabiner 1989). P is counted over
the neighbouring sentences of the training split. The best weights a and g are those whose answers have the highest
R@1,IoU=0.5 on training videos that the members have not learned from. Others are nearly as good there, and differ by
points on a test split that was re-made. So a single pair of members takes the best weights of a resample of these
videos: the spread between trainings contains the luck of the choice.

A step is 5 % of the video, as in the networks, or 2.5 % where half of the training moments are shorter than four such
steps: a cell of the networks is then divided by the shares of its training moments.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from truemoment.base.boundary.arrays import Array
from truemoment.base.cells import cell_bounds, cell_of, coarser
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Queries
from truemoment.baselines.base import locations
from truemoment.baselines.expected_value import CELLS, Places, best_answers, values_of
from truemoment.baselines.sentence_network import N_LEFT_OUT, SentenceNetwork, Training, words_of
from truemoment.data.language.paragraphs import Paragraphs, part_of_paragraph
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.evaluation.uncertainty import draw_videos, sums_by_video

LONGEST = 30
"""Largest number of a sentence, and of sentences, that has a term of its own; larger ones share one."""

N_PARTS = 20
"""Parts of a paragraph that a sentence lies in."""

TRAINING = Training(hidden=(32, 32), fewest=5)
"""How the network with a memory is trained: half of the hidden units, as each term has three embeddings. Settings and
steps were chosen on a third of the training videos of TACoS, given the others."""

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Values of both weights that are tried."""

MOST_QUERIES = 2500
"""Approximate number of held-out training sentences on which the weights are chosen."""

RESAMPLES = 8
"""Resamples of the held-out training videos, for the weights of single members."""

COUNT, KERNEL_STEPS = 0.05, 0.5
"""Added to each count of a pair of steps; standard deviation of the kernel that smooths them, in steps."""

SHORT_NORM = 0.1
"""Median length of the training moments, as a share of the video, below which steps are halved."""

CRITERION = "R@1,IoU=0.5"
"""Measure by which the weights are chosen."""


def paragraph_terms(queries: Queries) -> list[set[str]]:
    """Return the terms of each sentence, and its place among those of its video.

    Terms of the latter begin with a sign that no word has.
    """
    place, size = Paragraphs.of(queries).place
    part = part_of_paragraph(place, size, N_PARTS)
    rows = words_of(queries)
    for terms, k, n, m in zip(rows, place.tolist(), size.tolist(), part.tolist(), strict=True):
        terms |= {f"#{k}" if k < LONGEST else "#", f"/{n}" if n < LONGEST else "/", f"%{m}"}
        terms |= {f"-{n - k}" if n - k < LONGEST else "-", f"#{k}/{n}"}
    return rows


@dataclass(frozen=True, eq=False)
class ParagraphNetwork:
    """Probabilities of places from all sentences of a video.

    `sentence` may be fitted before. Once fitted: `context` is the network with a memory, `places` the cells of the
    chain, `ratios` (S, S) how much more often a moment that ends in a step is followed by one that starts in a step
    than by chance, and `weights` a and g: the best on the held-out videos, then those of each resample, (1 + R, 2).
    """

    rng: np.random.Generator
    sentence: SentenceNetwork
    context: SentenceNetwork = field(
        default_factory=lambda: SentenceNetwork(
            np.random.default_rng(0), TRAINING, reads=paragraph_terms, has_memory=True, name="context"
        )
    )
    places: Places | None = None
    ratios: Floats | None = None
    weights: Floats = field(default_factory=lambda: np.array([[0.5, 0.0], [0.5, 0.0]]))
    name: str = "Paragraph network"

    @classmethod
    def of(cls, rng: np.random.Generator, on_progress: Callable[[float], None] = lambda _: None) -> ParagraphNetwork:
        """Return a paragraph network that fits its own sentence network."""
        return cls(rng, SentenceNetwork(rng, on_progress=on_progress))

    def fit(self, train: Annotations) -> ParagraphNetwork:
        """Learn from `train`."""
        for_sentence, for_context, for_held_out = self.rng.spawn(3)
        sentence = self.sentence
        if sentence.places is None:
            sentence = replace(sentence, rng=for_sentence).fit(train)
        context = replace(self.context, rng=for_context, fold=sentence.fold).fit(train)
        n_steps = steps_of(train)
        places, *_ = Places.of(train, n_steps)
        ratios = ratios_of_pairs(train, n_steps)
        fitted = replace(self, sentence=sentence, context=context, places=places, ratios=ratios)
        return replace(fitted, weights=fitted._best_weights(train, for_held_out))

    def packed(self) -> dict[str, Array]:
        """Return what it has learned beside the sentence network, as arrays; it has to be fitted."""
        if self.ratios is None:
            raise UsageError(f"{self.name} has to be fitted first")
        return self.context.packed() | {"ratios": self.ratios, "weights": self.weights}

    def unpacked(self, packed: Mapping[str, Array], train: Annotations) -> ParagraphNetwork:
        """Return the network that has learned what :meth:`packed` returned, from the same split."""
        context, ratios = self.context.unpacked(packed, train), packed["ratios"]
        places, *_ = Places.of(train, len(ratios))
        return replace(self, context=context, places=places, ratios=ratios, weights=packed["weights"])

    def probabilities(self, queries: Queries) -> Floats:
        """Return the probability of each occupied cell for each query, (Q, K)."""
        if self.places is None:
            raise UsageError(f"{self.name} has to be fitted first")
        own, context = self.sentence.probabilities(queries), self.context.probabilities(queries)
        return self._joined(own, context, Paragraphs.of(queries), self.weights[0])

    def members(self, queries: Queries) -> Floats:
        """Return the probabilities by pairs of members of the two networks, (G, Q, K)."""
        order = Paragraphs.of(queries)
        members = self.sentence.members(queries), self.context.members(queries), itertools.cycle(self.weights[1:])
        rows = zip(*members, strict=False)
        return np.stack([self._joined(own, context, order, weights) for own, context, weights in rows])

    def _joined(self, own: Floats, context: Floats, order: Paragraphs, weights: Floats) -> Floats:
        """Return the marginals of the chain, given the probabilities by both networks, (Q, K)."""
        if self.ratios is None or self.places is None or self.sentence.places is None:
            raise UsageError(f"{self.name} has to be fitted first")
        a, g = weights
        n_steps, cells, whole = len(self.ratios), self.places.cells, self.sentence.places
        within = np.searchsorted(whole.cells, coarser(n_steps, n_steps // CELLS)[cells])
        mixed = _scaled(own**a * context ** (1 - a))[:, within] * (self.places.prior / whole.prior[within])
        start, end = cell_bounds(n_steps)[cells].T
        return marginals(mixed, order, self.ratios[end] ** g, start) if g else mixed

    def _best_weights(self, train: Annotations, rng: np.random.Generator) -> Floats:
        """Return the weights that hit most often on videos new to the members, and on resamples of them, (1 + R, 2)."""
        places, fold = self.places, self.sentence.fold
        if places is None or fold is None or self.ratios is None:
            raise UsageError(f"{self.name} has to be fitted first")
        new = np.flatnonzero(fold < N_LEFT_OUT)
        video = train.queries.video_id[new].astype(str)
        names = rng.permutation(np.unique(video))
        n_videos = max(1, round(MOST_QUERIES / max(len(new), 1) * len(names)))
        keep = np.zeros(train.n_queries, dtype=bool)
        keep[new] = np.isin(video, names[:n_videos])
        if not (keep & ~train.without_moment).any():
            return self.weights
        held_out = train.select_queries(keep)
        measures, protocol = parse_measures(CRITERION), get_protocol("default")
        (values,) = values_of(places, measures, protocol)
        own, context = (
            network.new_to_members(held_out.queries, fold[keep]) for network in (self.sentence, self.context)
        )
        order, hits = Paragraphs.of(held_out.queries), []
        tried = np.array(list(itertools.product(WEIGHTS, WEIGHTS)))[::-1]  # the largest of equally good ones
        for weights in tried:
            probabilities = self._joined(own, context, order, weights)
            answers = best_answers(held_out.queries, probabilities, values, top=1, name=self.name)
            hits.append(sums_by_video(evaluate(held_out, answers, measures, protocol))[0][:, 0])
        n_videos = len(hits[0])
        times_drawn = np.concatenate([np.ones((1, n_videos)), draw_videos(n_videos, rng, RESAMPLES)])
        return np.asarray(tried[np.argmax(times_drawn @ np.stack(hits, axis=1), axis=1)])


def steps_of(train: Annotations) -> int:
    """Return the number of steps of the chain."""
    points, _ = locations(train)
    return CELLS if np.median(points[:, 1] - points[:, 0]) >= SHORT_NORM else 2 * CELLS


def ratios_of_pairs(train: Annotations, n_steps: int) -> Floats:
    """Return how often a moment that ends in step i is followed by one that starts in step j, by chance 1, (S, S)."""
    points, row = locations(train)
    query = train.query_of_row[row]
    start, end = np.full((2, train.n_queries), -1, dtype=np.int64)
    start[query], end[query] = cell_bounds(n_steps)[cell_of(points, n_steps)].T  # of several references, the last
    first, second = Paragraphs.of(train.queries).pairs
    has_both = (end[first] >= 0) & (start[second] >= 0)
    count = np.full((n_steps, n_steps), COUNT)
    np.add.at(count, (end[first[has_both]], start[second[has_both]]), 1.0)
    step = np.arange(n_steps)
    kernel = np.exp(-0.5 * ((step[:, None] - step) / KERNEL_STEPS) ** 2)
    kernel /= kernel.sum(axis=1, keepdims=True)
    joint = kernel.T @ count @ kernel
    return np.asarray(joint * joint.sum() / (joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)))


def marginals(probabilities: Floats, order: Paragraphs, ratios: Floats, start: Ints) -> Floats:
    """Return the probability of each cell for each sentence given all sentences of its video, (Q, K).

    `probabilities` (Q, K) are those of each sentence alone, `ratios` (K, S) what those of a cell and of the next
    sentence's cell are multiplied with if that one starts in a step, and `start` (K,) the step in which a cell starts.
    Videos with as many sentences are computed side by side.
    """
    result = np.array(probabilities, dtype=np.float64)
    starts = np.eye(ratios.shape[1])[start]  # (K, S)
    sizes = np.diff(order.first)
    for size in np.unique(sizes[sizes > 1]).tolist():
        rows = order.rows[order.first[:-1][sizes == size][:, None] + np.arange(size)]  # (V, n)
        forward = probabilities[rows]  # (V, n, K)
        for i in range(1, size):
            forward[:, i] *= (_scaled(forward[:, i - 1]) @ ratios)[:, start]
        backward = np.ones_like(forward[:, 0])
        for i in range(size - 1, -1, -1):
            result[rows[:, i]] = _scaled(forward[:, i] * backward)
            backward = _scaled((probabilities[rows[:, i]] * backward) @ starts @ ratios.T)
    return result


def _scaled(table: Floats) -> Floats:
    return np.asarray(table / table.sum(axis=-1, keepdims=True))
