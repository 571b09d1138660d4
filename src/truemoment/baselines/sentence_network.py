r"""Sentence network: the place of a moment from the words of its sentence and the duration of its video.

Small networks (:mod:`~truemoment.baselines.bag_network`) read the words and word pairs of a sentence and the tenth of
the training durations that the video falls in; they give the probability of each cell of 5 % x 5 % of the video that
contains a training moment, and :mod:`~truemoment.baselines.expected_value` predicts the list of the highest expected
value. It never sees a video and uses no pretrained vectors. A model that sees the video has to beat its score.

Training: several members with different initial weights; each leaves out one of two tenths of the training videos.
Probabilities are averaged over members.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from truemoment.base.boundary.arrays import Array, pack_json, unpack_json
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Queries, Strings
from truemoment.baselines.bag_network import PARTS, BagNetworks, train
from truemoment.baselines.base import deal_folds
from truemoment.baselines.expected_value import Places, alone
from truemoment.data.language.bags import Bags, bags_of, frequent_terms, terms_of
from truemoment.data.language.paragraphs import Paragraphs

Reads = Callable[[Queries], list[set[str]]]
"""Terms that a network reads of each query; the class of the duration is added."""

LONGEST_PART = 24
"""Largest number of sentences that a network with a memory learns from together; longer paragraphs are cut."""

N_FOLDS, N_LEFT_OUT = 10, 2
"""Parts of the training videos; a member leaves out one of the first two, on which others can be chosen."""

SMALL = 20_000
"""Training sentences below which a split is small: more members then, as chance matters more, and more epochs."""


@dataclass(frozen=True)
class Training:
    """Settings of a training, chosen on held-out training videos of Charades-STA, ActivityNet Captions and TACoS.

    Parameters
    ----------
    fewest
        Sentences of the training split that must contain a term.
    n_durations
        Classes of duration, with equally many training moments each.
    hidden
        Hidden units, for a small and for a large training split.
    dropout, rate, batch
        As :func:`truemoment.baselines.bag_network.train` takes them.
    epochs, fewest_steps
        Epochs, for a small and for a large training split; and minimum number of steps, which is at most half of the
        number of sentences.
    members
        Networks whose probabilities are averaged, for a small and for a large training split.
    """

    fewest: int = 3
    n_durations: int = 10
    hidden: tuple[int, int] = (64, 64)
    dropout: float = 0.5
    rate: float = 8e-3
    batch: int = 128
    epochs: tuple[int, int] = (12, 5)
    fewest_steps: int = 150
    members: tuple[int, int] = (8, 5)


def words_of(queries: Queries) -> list[set[str]]:
    """Return the words and pairs of neighbouring words of each sentence."""
    return [terms_of(sentence) for sentence in queries.sentence.tolist()]


@dataclass(frozen=True, eq=False)
class SentenceNetwork:
    """Probabilities of places from the words of the sentence and the duration of the video.

    Once fitted: `terms` are those that are read, `edges_s` the durations at which one class ends and the next begins,
    `networks` the members, and `places` the cells, one per class. Member g has learned from no video of part g modulo
    2: `fold` is the part of each training query. With `has_memory` a network also reads the other sentences of its
    video (:mod:`~truemoment.baselines.paragraph_memory`).
    """

    rng: np.random.Generator
    training: Training = Training()
    on_progress: Callable[[float], None] = lambda _: None
    reads: Reads = words_of
    has_memory: bool = False
    terms: tuple[str, ...] = ()
    edges_s: Floats | None = None
    networks: BagNetworks | None = None
    places: Places | None = None
    fold: Ints | None = None
    name: str = "Sentence network"

    def fit(self, train_split: Annotations) -> SentenceNetwork:
        """Learn from a training split."""
        settings, (for_folds, child) = self.training, self.rng.spawn(2)
        places, target, rows = Places.of(train_split)
        query = train_split.query_of_row[rows]
        order = self._order(train_split.video_id[rows])
        target, rows, query = target[order.rows], rows[order.rows], query[order.rows]
        words = self.reads(train_split.queries)
        duration_s = train_split.duration_s[rows]
        edges_s = np.quantile(duration_s, np.arange(1, settings.n_durations) / settings.n_durations)
        terms = frequent_terms([words[q] for q in query], settings.fewest)
        fold = self.fold
        if fold is None:  # of the video of each query; that of a video without a moment is N_FOLDS
            video_id, queries = train_split.queries.video_id, np.unique(query)
            part = deal_folds(video_id[queries], N_FOLDS, for_folds)
            of_video = dict(zip(video_id[queries].tolist(), part.tolist(), strict=True))
            fold = np.array([of_video.get(video, N_FOLDS) for video in video_id.tolist()], dtype=np.int64)
        is_large = len(rows) >= SMALL
        n_members = settings.members[is_large]
        learns = np.array([fold[query] != g % N_LEFT_OUT for g in range(n_members)])
        learns[~learns.any(axis=1)] = True  # a single video: nothing can be left out
        bags = with_durations(bags_of(words, terms).select(query), duration_s, edges_s, len(terms))
        fewest = min(settings.fewest_steps, len(bags) // 2)
        networks = BagNetworks.initial(
            len(terms) + settings.n_durations,
            settings.hidden[is_large],
            n_members,
            places.prior,
            child,
            has_memory=self.has_memory,
        )
        with threadpool_limits(limits=1, user_api="blas"):  # its products are small: threads would only wait
            train(
                networks,
                bags,
                target,
                learns,
                child,
                first=order.cut(LONGEST_PART).first,
                epochs=max(settings.epochs[is_large], math.ceil(fewest / math.ceil(len(bags) / settings.batch))),
                batch=settings.batch,
                rate=settings.rate,
                dropout=settings.dropout,
                on_progress=self.on_progress,
            )
        return replace(self, terms=terms, edges_s=edges_s, networks=networks.rounded(), places=places, fold=fold)

    def packed(self) -> dict[str, Array]:
        """Return what it has learned as arrays; it has to be fitted."""
        if self.edges_s is None or self.places is None or self.networks is None or self.fold is None:
            raise UsageError(f"{self.name} has to be fitted first")
        packed: dict[str, Array] = {"terms": pack_json(self.terms), "edges_s": self.edges_s, "fold": self.fold}
        packed |= {name: getattr(self.places, name) for name in ("cells", "prior", "rows", "cell")}
        return packed | dict(zip(PARTS, self.networks.parts, strict=True))

    def unpacked(self, packed: Mapping[str, Array], train_split: Annotations) -> SentenceNetwork:
        """Return the network that has learned what :meth:`packed` returned, from the same split."""
        rows = packed["rows"]
        return replace(
            self,
            terms=tuple(unpack_json(packed["terms"], list[str])),
            edges_s=packed["edges_s"],
            networks=BagNetworks(*(packed[name] for name in PARTS)),
            places=Places(packed["cells"], packed["prior"], rows, alone(train_split, rows), packed["cell"]),
            fold=packed["fold"],
        )

    def members(self, queries: Queries) -> Floats:
        """Return the probability of each occupied cell for each query by each member, (G, Q, K)."""
        if self.edges_s is None or self.networks is None:
            raise UsageError(f"{self.name} has to be fitted first")
        bags = with_durations(
            bags_of(self.reads(queries), self.terms), queries.duration_s, self.edges_s, len(self.terms)
        )
        order = self._order(queries.video_id)
        with threadpool_limits(limits=1, user_api="blas"):
            return self.networks.members(bags.select(order.rows), order.first)[:, np.argsort(order.rows)]

    def _order(self, video_id: Strings) -> Paragraphs:
        """Return which sentences are read together: those of a video with a memory, else each alone."""
        return Paragraphs.of_videos(video_id if self.has_memory else np.arange(len(video_id)).astype(str))

    def probabilities(self, queries: Queries) -> Floats:
        """Return the probability of each occupied cell for each query, (Q, K)."""
        return np.asarray(self.members(queries).mean(axis=0))

    def new_to_members(self, queries: Queries, fold: Ints) -> Floats:
        """Return the probabilities of training queries, (Q, K), by members that have not learned from their video.

        `fold` is the part of each query, (Q,), which is left out by some.
        """
        of_members = self.members(queries)
        probabilities = np.empty(of_members.shape[1:])
        for part in range(N_LEFT_OUT):
            members = of_members[part::N_LEFT_OUT] if len(of_members) > part else of_members
            probabilities[fold == part] = members[:, fold == part].mean(axis=0)
        return probabilities


def with_durations(bags: Bags, duration_s: Floats, edges_s: Floats, n_terms: int) -> Bags:
    """Add the class of the video's duration to each bag, as a last term."""
    of_duration = n_terms + np.searchsorted(edges_s, duration_s, side="right")
    return Bags(np.insert(bags.terms, bags.offsets[1:], of_duration), bags.offsets + np.arange(len(bags.offsets)))
