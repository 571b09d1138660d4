"""The contract of a task: a kind of models checks recipes, prepares data, and writes and measures answers.

:mod:`~truemoment.learning.training.grounding` answers queries with moments, and
:mod:`~truemoment.learning.training.ranking` ranks clips by text. Another task is another module with a ``TASK``, which
a base class of models names in `task`. Everything outside these modules is the same for all models.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.intervals import Bools, Floats
from truemoment.base.records import Annotations, Strings
from truemoment.learning.models.base import Need
from truemoment.learning.training.checkpoints import RunRecord
from truemoment.learning.training.examples import Pairs
from truemoment.learning.training.network import Network
from truemoment.learning.training.progress import Track
from truemoment.learning.training.recipes import Recipe, Text
from truemoment.learning.training.run import Run
from truemoment.learning.training.vocabulary import TokenVocabulary
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.sentences import SentenceStore
from truemoment.searching.opening import open_features


class EpochData(Protocol):
    """Training pairs of each epoch, and the validation of a network."""

    @property
    def query_id(self) -> Strings:
        """The query of each pair."""
        ...

    @property
    def video_id(self) -> Strings:
        """The video of each pair."""
        ...

    @property
    def measure(self) -> str:
        """The measure that chooses the epoch."""
        ...

    def epoch(self, number: int) -> tuple[Pairs, dict[str, float]]:
        """Return the pairs of an epoch, and figures of them for its log."""
        ...

    def validate(self, network: Network) -> dict[str, float]:
        """Return the figures of a network on the validation split; the one that chooses comes first."""
        ...


class SplitFigure(NamedTuple):
    """A figure on a test split.

    Parameters
    ----------
    split, measure
        Names of both.
    value
        Fraction, or rank; None where it is undefined.
    n_queries
        Number of queries that it is the mean of.
    """

    split: str
    measure: str
    value: float | None
    n_queries: int


@dataclass(frozen=True)
class BesideZeroShot:
    """A figure of a trained model beside that of the same model before training.

    Parameters
    ----------
    split, measure
        Names of both.
    value, zero_shot
        Fractions, or ranks.
    ci95
        95 % interval of the difference, by resampling films; NaN for one film.
    """

    split: str
    measure: str
    value: float
    zero_shot: float
    ci95: tuple[float, float]

    @property
    def difference(self) -> float:
        """Figure after training less that before."""
        return self.value - self.zero_shot


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to the test splits, which lie in the folder of the run.

    Parameters
    ----------
    network
        Network of the best epoch.
    figures
        Figures by split and measure.
    beside_zero_shot
        The same beside those before training, for a model that has some.
    notes
        What a reader has to know of the answers.
    """

    network: Network
    figures: tuple[SplitFigure, ...]
    beside_zero_shot: tuple[BesideZeroShot, ...] = ()
    notes: tuple[str, ...] = ()


class Task(abc.ABC):
    """The task of a kind of models: it checks recipes, prepares data, and writes and measures answers."""

    measures: ClassVar[str]
    """Measures on test splits, unless others are named."""

    trained: ClassVar[type]
    """Class of the trained method, a :class:`~truemoment.learning.training.trained.TrainedNetwork`."""

    use: ClassVar[str]
    """What its models do, and the command that uses them, for messages."""

    loads_encoder: ClassVar[bool] = False
    """Whether a model loads an encoder when it is built."""

    # ------------------------------------------------------------------------------------------- options

    @abc.abstractmethod
    def check_recipe(self, recipe: Recipe, path: AnyPath | None) -> None:
        """Refuse a recipe with a measure or a block that is not of this task."""

    @abc.abstractmethod
    def parse_measures(self, text: str) -> tuple[Any, ...]:
        """Return the measures that a text names; `str` of each is its name."""

    @abc.abstractmethod
    def mixture_measures(self, text: str | None) -> tuple[str, ...]:
        """Return the measures of a study of mixtures by name, None for the default; the first is the headline."""

    # ---------------------------------------------------------------------------------------------- data

    def open_features(
        self, text: str, recipe: Recipe, dataset: str, data_dir: Path | None, *, seed: int, fps: float | None
    ) -> FeatureStore:
        """Open features of whole videos; see :func:`truemoment.searching.opening.open_features`."""
        del recipe
        return open_features(text, dataset=dataset, data_dir=data_dir, seed=seed, fps=fps)

    def open_texts(self, sentences: Sequence[str]) -> SentenceStore | None:
        """Open the vectors of sentences that trained models read; None if they read words."""
        del sentences
        return None

    @abc.abstractmethod
    def with_features(self, split: Annotations, store: FeatureStore, *, skip_missing: bool) -> Bools:
        """Return which queries have features, (Q,); refuse a split without, unless videos may be skipped."""

    @abc.abstractmethod
    def learnable(self, split: Annotations, needs: frozenset[Need]) -> Bools:
        """Return which queries a model with these needs can learn from, (Q,)."""

    def check_run(self, run: Run) -> None:
        """Refuse data that the task cannot use."""
        del run

    def notes(self, run: Run) -> tuple[str, ...]:
        """Return notes for results on how the model learns."""
        del run
        return ()

    # -------------------------------------------------------------------------------- training and answers

    @abc.abstractmethod
    def vocabulary(self, run: Run, text: Text) -> TokenVocabulary:
        """Return the words that the network knows."""

    @abc.abstractmethod
    def prepare(self, run: Run, network: Network, track: Track) -> EpochData:
        """Return what the network learns from in each epoch, and what validates it."""

    @abc.abstractmethod
    def answer(self, run: Run, record: RunRecord, folder: OwnPath, measures: str | None, track: Track) -> Answers:
        """Answer the test splits with the best epoch, write the answers to the folder, and measure them."""

    @abc.abstractmethod
    def sums_by_film(self, folder: OwnPath, name: str, split: Annotations, measure: str) -> Floats:
        """Return sums of a measure and of its weights by film, (V, 2), of the answers to a split in the folder."""
