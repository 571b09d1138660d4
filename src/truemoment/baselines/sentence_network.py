r"""Sentence network: the place of a moment from the words of its sentence and the duration of its video.

A small network (:mod:`~truemoment.baselines.bag_network`) reads the words and word pairs of a sentence and the tenth of
the training durations that the video falls in; it gives the probability of each cell of 5 % x 5 % of the video that
contains a training moment, and :mod:`~truemoment.baselines.expected_value` predicts the list of the highest expected
value. It never sees a video and uses no pretrained vectors. What it scores, a model that sees the video has to beat.

Training: several members, each with other weights to start from and another tenth of the training videos held out. A
member keeps the weights of the epoch whose answers on these score best (R@1 at IoU 0.3, 0.5 and 0.7, averaged).
Probabilities are averaged over members.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from truemoment.arrays import Array
from truemoment.baselines.bag_network import N_PARTS, Adam, BagNetwork, train_epoch
from truemoment.baselines.base import deal_folds, locations
from truemoment.baselines.expected_value import Places, Values, alone, first_answers, values_of
from truemoment.caching import pack_text, unpack_text
from truemoment.exceptions import UsageError
from truemoment.intervals import Bools, Floats, Ints, temporal_iou
from truemoment.language.bags import Bags, bags_of, frequent_terms
from truemoment.measures import Recall
from truemoment.protocols import PROTOCOLS
from truemoment.records import Annotations, Queries

JUDGED_BY = (Recall(1, 0.3), Recall(1, 0.5), Recall(1, 0.7))
"""What the epoch is chosen by."""


@dataclass(frozen=True)
class Training:
    """How the network is trained. Chosen on held-out training videos of Charades-STA, ActivityNet Captions and TACoS.

    Parameters
    ----------
    fewest
        Sentences of the training split that must contain a term.
    n_durations
        Classes of duration, with equally many training moments each.
    hidden
        Hidden units.
    dropout, rate, batch
        As :mod:`truemoment.baselines.bag_network` takes them.
    fewest_steps
        Steps between two looks at the held-out videos: one epoch, or several of a small training split.
    most_looks, patience
        Looks at most, and looks without a better one after which training ends.
    members
        Networks whose probabilities are averaged.
    held_out
        Share of the training videos on which a member chooses its epoch.
    """

    fewest: int = 3
    n_durations: int = 10
    hidden: int = 64
    dropout: float = 0.5
    rate: float = 2e-3
    batch: int = 128
    fewest_steps: int = 50
    most_looks: int = 24
    patience: int = 5
    members: int = 3
    held_out: float = 0.1


@dataclass(frozen=True, eq=False)
class SentenceNetwork:
    """Probabilities of places from the words of the sentence and the duration of the video.

    Once fitted: `terms` are the words and pairs that are read, `edges_s` the durations at which one class ends and the
    next begins, `members` the networks, and `places` the cells, one per class.
    """

    rng: np.random.Generator
    training: Training = Training()
    on_progress: Callable[[float], None] = lambda _: None
    terms: tuple[str, ...] = ()
    edges_s: Floats | None = None
    members: tuple[BagNetwork, ...] = ()
    places: Places | None = None
    name: str = "Sentence network"

    def fit(self, train: Annotations) -> SentenceNetwork:
        """Learn from `train`."""
        for_folds, *for_members = self.rng.spawn(1 + self.training.members)
        places, target, rows = Places.of(train)
        sentences, duration_s = train.sentence[rows].tolist(), train.duration_s[rows]
        terms = frequent_terms(sentences, self.training.fewest)
        edges_s = np.quantile(duration_s, np.arange(1, self.training.n_durations) / self.training.n_durations)
        examples = TrainingSentences(
            read(sentences, duration_s, terms, edges_s),
            target,
            locations(train)[0],
            values_of(places, JUDGED_BY, PROTOCOLS["default"]),
        )
        n_folds = max(self.training.members, round(1 / self.training.held_out))
        fold = deal_folds(train.video_id[rows], n_folds, for_folds)
        n_terms = len(terms) + self.training.n_durations
        members = []
        for number, child in enumerate(for_members):
            network = BagNetwork.initial(n_terms, self.training.hidden, places.prior, child)
            with threadpool_limits(limits=1, user_api="blas"):  # its products are small: threads would only wait
                members.append(trained(network, examples, fold == number, self.training, child).rounded())
            self.on_progress((number + 1) / len(for_members))
        return replace(self, terms=terms, edges_s=edges_s, members=tuple(members), places=places)

    def packed(self) -> dict[str, Array]:
        """Return what it has learned as arrays; it has to be fitted."""
        if self.edges_s is None or self.places is None:
            raise UsageError(f"{self.name} has to be fitted first")
        packed: dict[str, Array] = {"terms": pack_text(self.terms), "edges_s": self.edges_s}
        packed |= {name: getattr(self.places, name) for name in ("cells", "prior", "rows", "cell")}
        for number, member in enumerate(self.members):
            packed |= {f"member{number}-{part}": array for part, array in enumerate(member.parts)}
        return packed

    def unpacked(self, packed: Mapping[str, Array], train: Annotations) -> SentenceNetwork:
        """Return the network that has learned what :meth:`packed` returned, from the same split."""
        rows = packed["rows"]
        places = Places(packed["cells"], packed["prior"], rows, alone(train, rows), packed["cell"])
        members = tuple(
            BagNetwork(*(packed[f"member{number}-{part}"] for part in range(N_PARTS)))
            for number in range(self.training.members)
        )
        terms = tuple(unpack_text(packed["terms"]))
        return replace(self, terms=terms, edges_s=packed["edges_s"], members=members, places=places)

    def probabilities(self, queries: Queries) -> Floats:
        """Return the probability of each occupied cell for each query, (Q, K)."""
        if self.edges_s is None:
            raise UsageError(f"{self.name} has to be fitted first")
        bags = read(queries.sentence.tolist(), queries.duration_s, self.terms, self.edges_s)
        return np.asarray(np.mean([member.probabilities(bags) for member in self.members], axis=0))


def read(sentences: Sequence[str], duration_s: Floats, terms: tuple[str, ...], edges_s: Floats) -> Bags:
    """Return the bag of each sentence with the class of its video's duration as a last term."""
    bags = bags_of(sentences, terms)
    of_duration = len(terms) + np.searchsorted(edges_s, duration_s, side="right")
    return Bags(np.insert(bags.terms, bags.offsets[1:], of_duration), bags.offsets + np.arange(len(bags.offsets)))


@dataclass(frozen=True, eq=False)
class TrainingSentences:
    """The N sentences of a training split, with the class and the moment of each, (N,) and (N, 2).

    `values` are those of answers by each measure of `JUDGED_BY`.
    """

    bags: Bags
    target: Ints
    start_end_norm: Floats
    values: Sequence[Values]

    def recall(self, network: BagNetwork, rows: Ints) -> float:
        """Mean of R@1 at IoU 0.3, 0.5 and 0.7 of the network's answers to some of the sentences."""
        probabilities = network.probabilities(self.bags.select(rows))
        ious = (temporal_iou(*first_answers(probabilities, of).T, *self.start_end_norm[rows].T) for of in self.values)
        return float(np.mean([iou > measure.iou for iou, measure in zip(ious, JUDGED_BY, strict=True)]))


def trained(
    network: BagNetwork, examples: TrainingSentences, held_out: Bools, training: Training, rng: np.random.Generator
) -> BagNetwork:
    """Train on the examples that are not held out; return the weights of the epoch that is best on those that are."""
    learned, judged = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    if not (len(learned) and len(judged)):  # a single video: nothing can be held out
        learned = judged = np.arange(len(held_out))
    adam, bags, target = Adam(network, training.rate), examples.bags.select(learned), examples.target[learned]
    best, highest, since = network.copy(), -math.inf, 0
    epochs = math.ceil(training.fewest_steps / math.ceil(len(bags) / training.batch))
    for _ in range(training.most_looks):
        for _ in range(epochs):
            train_epoch(network, adam, bags, target, rng, batch=training.batch, dropout=training.dropout)
        recall = examples.recall(network, judged)
        since = 0 if recall > highest else since + 1
        if since == 0:
            best, highest = network.copy(), recall
        if since >= training.patience:
            break
    return best
