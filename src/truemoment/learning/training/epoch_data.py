"""What a network learns from in each epoch, and what validates it: whole videos, or windows of long videos."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import UNSET

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats
from truemoment.base.records import Annotations, Strings
from truemoment.baselines.targets import cell_ious, moment_shares, usable
from truemoment.learning.models.base import TIMES, MapModel, Need, TrainableModel
from truemoment.learning.models.retrieval_model import RetrievalModel
from truemoment.learning.models.window_model import WindowModel
from truemoment.learning.training.answering import pairs_to_answer
from truemoment.learning.training.clip_pairs import ClipPairs
from truemoment.learning.training.examples import (
    LongVideoTable,
    Pairs,
    SentenceTable,
    WindowTable,
    make_long_video_table,
    make_pairs,
    read_sentences,
)
from truemoment.learning.training.network import Network
from truemoment.learning.training.progress import Track
from truemoment.learning.training.recipes import Recipe, Windowing
from truemoment.learning.training.scoring import score
from truemoment.learning.training.validation import Validation
from truemoment.learning.training.vocabulary import TokenVocabulary
from truemoment.learning.training.window_pairs import windows_to_learn
from truemoment.learning.training.windows import AllCandidates, in_windows
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.sentences import SentenceStore
from truemoment.searching.windows import WindowDraws

STREAM_OF_WINDOWS = 1
"""Keeps the draws of windows apart from those of an epoch's order."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a run learns from.

    Parameters
    ----------
    recipe
        The recipe.
    train, val
        What is learned from, and what the epoch is chosen by.
    store
        Features; None for a model that sees no video.
    vocabulary
        The words known.
    seed
        Of all draws.
    texts
        Vectors of the sentences, for a model that compares them; None for others.
    weights : (Q,)
        How often each training query is drawn in an epoch; None for once.
    """

    recipe: Recipe
    train: Annotations
    val: Annotations
    store: FeatureStore | None
    vocabulary: TokenVocabulary
    seed: int
    texts: SentenceStore | None = None
    weights: Floats | None = None


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


def queries_kept(annotations: Annotations, needs: frozenset[Need]) -> Bools:
    """Which queries can be learned from, shape (Q,): those with a usable first reference.

    Where a model does not need times, those of videos with a duration: no time of a reference is read. Where it ranks
    clips, those with a moment.
    """
    first = annotations.offsets[:-1]
    if "sentence" in needs:  # a clip needs no duration of its video
        return np.asarray(annotations.end_s[first] > annotations.start_s[first])
    if not needs & TIMES:
        return np.asarray(annotations.duration_s[first] > 0)
    return np.asarray(usable(annotations)[first])


def make_targets(first: Annotations, model: TrainableModel) -> dict[str, npt.NDArray[Any]]:
    """Return what a model learns from references, a row a query, by name; nothing that it does not need."""
    columns: dict[str, npt.NDArray[Any]] = {}
    if "cell ious" in model.needs and isinstance(model, MapModel):
        columns["iou"] = cell_ious(first, model.proposals)
    if "moment" in model.needs:
        columns["moment"] = moment_shares(first)
    return columns


def make_epoch_data(data: TrainingData, network: Network, track: Track) -> EpochData:
    """Prepare the pairs of a recipe: windows if it has a block ``windows``, else whole videos."""
    is_kept = queries_kept(data.train, network.model.needs)
    kept = data.train.select_queries(is_kept)
    if not kept.n_queries:
        raise UsageError(f"{data.train.dataset}/{data.train.split} holds no query that can be learned from")
    if data.weights is not None:
        data = dataclasses.replace(data, weights=data.weights[is_kept])
    if isinstance(network.model, RetrievalModel):
        return ClipPairs.of(data, kept, network.model, track)
    first = kept.select_rows(kept.offsets[:-1])
    windowing = data.recipe.windows
    if windowing is UNSET:
        return WholeVideos.of(data, first, network, track)
    return VideoWindows.of(data, windowing, first, network, track=track)


@dataclass(frozen=True, eq=False)
class WholeVideos:
    """Every query with all of its video, or with each window that a model learns from.

    Parameters
    ----------
    data
        What a run learns from.
    query_id, video_id : (P,)
        Query and video of each pair.
    pairs, val_pairs
        What is learned from, and what the epoch is chosen by.
    watch
        Measures answers to the validation split.
    log
        Figures of the pairs for the log of an epoch.
    """

    data: TrainingData
    query_id: Strings
    video_id: Strings
    pairs: Pairs
    val_pairs: Pairs
    watch: Validation
    log: dict[str, float]

    @classmethod
    def of(cls, data: TrainingData, first: Annotations, network: Network, track: Track) -> WholeVideos:
        """Prepare the pairs of `first`, a usable row a query."""
        recipe, model, store = data.recipe, network.model, data.store

        def shown(items: Any) -> Any:  # noqa: ANN401 - as Track has it
            return track(items, "features")

        val_pairs = pairs_to_answer(data.val.queries, store, data.vocabulary, recipe, model, track=shown)
        watch = Validation(data.val, recipe.select.measure)
        if isinstance(model, WindowModel) and store is not None:
            sentences = read_sentences(first.sentence.tolist(), data.vocabulary, recipe, model.needs)
            windows, log = windows_to_learn(first, store, sentences, recipe, model, track=shown)
            of_query = windows.query
            windows.weights = None if data.weights is None else data.weights[of_query]
            return cls(data, first.query_id[of_query], first.video_id[of_query], windows, val_pairs, watch, log)
        pairs = make_pairs(first.queries, store, data.vocabulary, recipe, model, track=shown)
        pairs.columns, pairs.weights = {**pairs.columns, **make_targets(first, model)}, data.weights
        return cls(data, first.query_id, first.video_id, pairs, val_pairs, watch, {})

    @property
    def measure(self) -> str:
        """The measure that chooses the epoch."""
        return self.watch.measure

    def epoch(self, number: int) -> tuple[Pairs, dict[str, float]]:
        """Return the same pairs in every epoch."""
        del number
        return self.pairs, self.log

    def validate(self, network: Network) -> dict[str, float]:
        """Return the figures of a network on the validation split."""
        recipe = self.data.recipe
        found = score(network, self.val_pairs, recipe.train.batch)
        return self.watch.of_scores(found, nms=recipe.decode.nms, top=recipe.decode.top)


@dataclass(frozen=True, eq=False)
class VideoWindows:
    """Every query with a window of its video, another one in every epoch.

    Parameters
    ----------
    data
        What a run learns from.
    first
        A usable reference of each query.
    windowing
        What is drawn, and how videos are answered.
    draws
        The queries and their videos.
    sentences
        Of the queries.
    table
        Features of the videos; None where the model sees no video.
    network
        Whose candidates the targets are of.
    watch
        Measures answers to the validation split.
    track
        Shows how far validation is.
    """

    data: TrainingData
    first: Annotations
    windowing: Windowing
    draws: WindowDraws
    sentences: SentenceTable
    table: LongVideoTable | None
    network: Network
    watch: Validation
    track: Track

    @classmethod
    def of(
        cls, data: TrainingData, windowing: Windowing, first: Annotations, network: Network, *, track: Track
    ) -> VideoWindows:
        """Prepare the draws for `first`, a usable row a query."""
        recipe = data.recipe
        draws = WindowDraws.of(
            first,
            data.store,
            window_s=windowing.seconds,
            negatives=windowing.negatives,
            rule=windowing.negatives_from,
        )
        table: LongVideoTable | None = None
        if data.store is not None:
            table = make_long_video_table(data.store, draws.videos, recipe, lambda videos: track(videos, "features"))
        sentences = read_sentences(first.sentence.tolist(), data.vocabulary, recipe, network.model.needs)
        watch = Validation(data.val, recipe.select.measure)
        return cls(data, first, windowing, draws, sentences, table, network, watch, track)

    @property
    def query_id(self) -> Strings:
        """The query of each pair."""
        return self.first.query_id

    @property
    def video_id(self) -> Strings:
        """The video of each pair."""
        return self.first.video_id

    def epoch(self, number: int) -> tuple[Pairs, dict[str, float]]:
        """Draw a window for each query; a resumed run draws the same windows."""
        drawn = self.draws.draw(np.random.default_rng([self.data.seed, number, STREAM_OF_WINDOWS]))
        model, recipe, table = self.network.model, self.data.recipe, None
        duration_s = (drawn.end - drawn.first) / self.draws.fps
        if self.table is not None:
            begins = np.array([self.table.begins[video.video_id] for video in self.draws.videos], dtype=np.int64)
            see = functools.partial(model.see, n_rows=recipe.rows)
            table = WindowTable(self.table.rows, begins + drawn.first, begins + drawn.end, duration_s, see)
        columns = make_targets(self.draws.moved(drawn), model)
        if "duration" in model.needs:
            columns["duration_s"] = duration_s
        log = {
            "windows without the moment": float(drawn.negative.mean()),
            "moments longer than a window": float(self.draws.longer.mean()),
        }
        pairs = Pairs(self.sentences, np.arange(len(drawn.first)), table, columns=columns)
        pairs.weights = self.data.weights
        return pairs, log

    @property
    def measure(self) -> str:
        """The measure that chooses the epoch."""
        return self.watch.measure

    def validate(self, network: Network) -> dict[str, float]:
        """Return the figures of a network on whole videos of the validation split."""
        data = self.data
        method = AllCandidates(data.recipe.model, network, data.vocabulary, data.recipe, data.store)
        videos = in_windows(method, self.windowing, track=self.track)
        return self.watch.of_predictions(videos.ground(data.val.queries, data.recipe.decode.top))
