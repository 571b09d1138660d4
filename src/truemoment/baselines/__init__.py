"""Baselines to compare a score with. All of them are Grounders.

A *floor* never sees the video; a *ceiling* uses the references. `fit` raises an InputError if there is no moment
within a video of known duration. `ground` raises a UsageError if a baseline that learns is not fitted, and an
InputError if the duration of a video is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.papers import CLOSER_LOOK, HIDDEN_CHALLENGES, MAD, TAN_2D, Paper
from truemoment.base.records import Annotations
from truemoment.base.registry import Registry
from truemoment.baselines.action_aware import ActionAware
from truemoment.baselines.best_constant import BestConstant
from truemoment.baselines.bias_based import BiasBased
from truemoment.baselines.expected_value import ExpectedValue
from truemoment.baselines.mean_map import MeanMap
from truemoment.baselines.oracle import Oracle
from truemoment.baselines.order_table import OrderTable
from truemoment.baselines.paragraph_network import ParagraphNetwork
from truemoment.baselines.predict_all import PredictAll
from truemoment.baselines.prior_only import PriorOnly
from truemoment.baselines.proposals import Proposals, SparseMap
from truemoment.baselines.random_chance import RandomChance
from truemoment.baselines.sentence_neighbours import SentenceNeighbours
from truemoment.baselines.sentence_network import SentenceNetwork
from truemoment.baselines.split_constant import SplitConstant, split_constants
from truemoment.baselines.uniform import Uniform
from truemoment.data.language import get_engine
from truemoment.evaluation.grounders import Grounder
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol

__all__ = [
    "BASELINES",
    "ActionAware",
    "Baseline",
    "BestConstant",
    "BiasBased",
    "Choices",
    "ExpectedValue",
    "MeanMap",
    "Oracle",
    "OrderTable",
    "ParagraphNetwork",
    "PredictAll",
    "PriorOnly",
    "RandomChance",
    "Reads",
    "SentenceNeighbours",
    "SentenceNetwork",
    "SplitConstant",
    "Uniform",
    "get_baseline",
    "make_baseline",
    "split_constants",
]


@dataclass(frozen=True)
class Choices:
    """Settings of baselines; each uses those that it needs.

    Parameters
    ----------
    rng
        Generator of draws.
    measure, protocol
        Measure and protocol that the best constant, the sentence neighbours and the sentence network maximise.
    proposals
        Proposals of random chance, the mean map and the oracle.
    on_progress
        Called with the finished share of the training of the sentence network.
    engine
        Language engine that finds verbs.
    references
        Annotations of the queries; only ceilings use them.
    """

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    measure: str | Measure = "R@1,IoU=0.5"
    protocol: str | Protocol | None = None
    proposals: Proposals = field(default_factory=SparseMap)
    on_progress: Callable[[float], None] = lambda _: None
    engine: str = "lexicon"
    references: Annotations | None = None


Reads = Literal["nothing", "sentence", "paragraph"]


class Baseline(NamedTuple):
    """Kind, meaning and needs of a baseline."""

    kind: Literal["floor", "ceiling"]
    meaning: str
    make: Callable[[Choices], Grounder]
    random: bool = False
    """Whether its predictions depend on the seed."""
    learns: bool = False
    """Whether it has to be fitted."""
    takes: tuple[str, ...] = ()
    """Settings that its predictions depend on, except generator and references."""
    reads: Reads = "nothing"
    """Input from a query: nothing, its sentence (and the video's duration), or all sentences of its video."""
    papers: tuple[Paper, ...] = ()
    """The paper that introduces it; none for ours."""


BASELINES = Registry[Baseline](
    "baselines",
    {
        "predict-all": Baseline("floor", "the whole video", lambda _: PredictAll(), papers=(CLOSER_LOOK,)),
        "best-constant": Baseline(
            "floor",
            "the one share of the video that is best on the fit split for a measure",
            lambda c: BestConstant(c.measure, c.protocol),
            learns=True,
            takes=("measure",),
        ),
        "bias-based": Baseline(
            "floor",
            "the mode of the training moments' density (Closer Look)",
            lambda _: BiasBased(),
            learns=True,
            papers=(CLOSER_LOOK,),
        ),
        "mean-map": Baseline(
            "floor",
            "the best cell of 2D-TAN's mean training map: what Blind-TAN has to beat",
            lambda c: MeanMap(_map(c.proposals)),
            learns=True,
            takes=("proposals",),
            papers=(TAN_2D, HIDDEN_CHALLENGES),
        ),
        "prior-only": Baseline(
            "floor",
            "draws from the training moments' density (Hidden Challenges)",
            lambda c: PriorOnly(c.rng),
            random=True,
            learns=True,
            papers=(HIDDEN_CHALLENGES,),
        ),
        "action-aware": Baseline(
            "floor",
            "draws from the density of the query's verb (Hidden Challenges)",
            lambda c: ActionAware(c.rng, get_engine(c.engine)),
            random=True,
            learns=True,
            takes=("engine",),
            reads="sentence",
            papers=(HIDDEN_CHALLENGES,),
        ),
        "sentence-neighbours": Baseline(
            "floor",
            "the places of the most similar training sentences",
            lambda c: ExpectedValue(SentenceNeighbours(), c.measure, c.protocol),
            learns=True,
            takes=("measure",),
            reads="sentence",
        ),
        "sentence-network": Baseline(
            "floor",
            "a small network that reads the sentence and the video's duration",
            lambda c: ExpectedValue(SentenceNetwork(c.rng, on_progress=c.on_progress), c.measure, c.protocol),
            random=True,
            learns=True,
            takes=("measure",),
            reads="sentence",
        ),
        "order-table": Baseline(
            "floor",
            "the best constant for each place of a sentence among those of its video, in the order of the file",
            lambda c: OrderTable(c.measure, c.protocol),
            learns=True,
            takes=("measure",),
            reads="paragraph",
        ),
        "paragraph-network": Baseline(
            "floor",
            "small networks and a chain that read all sentences of a video in their order",
            lambda c: ExpectedValue(ParagraphNetwork.of(c.rng, c.on_progress), c.measure, c.protocol),
            random=True,
            learns=True,
            takes=("measure",),
            reads="paragraph",
        ),
        "uniform": Baseline(
            "floor",
            "start and end drawn evenly (Hidden Challenges)",
            lambda c: Uniform(c.rng),
            random=True,
            papers=(HIDDEN_CHALLENGES,),
        ),
        "random-chance": Baseline(
            "floor",
            "proposals drawn evenly (MAD)",
            lambda c: RandomChance(c.proposals, c.rng),
            random=True,
            takes=("proposals",),
            papers=(MAD,),
        ),
        "order-by-start": Baseline(
            "ceiling",
            "the order table with the sentences of a video sorted by their true start, as some loaders do",
            lambda c: OrderTable(c.measure, c.protocol, _needed(c.references, "order-by-start")),
            learns=True,
            takes=("measure",),
            reads="paragraph",
        ),
        "split-constant": Baseline(
            "ceiling",
            "the one share of the video that is best on the other videos of the same split for a measure",
            lambda c: split_constants([c.measure], _needed(c.references, "split-constant"), protocol=c.protocol)[0],
            takes=("measure",),
        ),
        "oracle": Baseline(
            "ceiling",
            "the proposals that fit the reference best (MAD)",
            lambda c: Oracle(_needed(c.references, "the oracle"), c.proposals),
            takes=("proposals",),
            papers=(MAD,),
        ),
    },
    Baseline,
)
"""Every baseline by name."""


def _map(proposals: Proposals) -> SparseMap:
    if not isinstance(proposals, SparseMap):
        raise UsageError(f"got {proposals!r}, expected a map: sparse-map:N, e.g. --proposals sparse-map:16")
    return proposals


def _needed(references: Annotations | None, name: str) -> Annotations:
    if references is None:
        raise UsageError(f"{name} needs the references of the queries")
    return references


def get_baseline(name: str) -> Baseline:
    """Return a baseline by name."""
    if name not in BASELINES:
        raise UsageError(f"unknown baseline {name!r}, expected {one_of_known(name, BASELINES)}")
    return BASELINES[name]


def make_baseline(name: str, choices: Choices) -> Grounder:
    """Return the grounder of a baseline by name, not yet fitted."""
    return get_baseline(name).make(choices)
