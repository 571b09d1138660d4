"""Pairs of a query and its video that a grounding model learns from and is validated on: whole videos, or windows."""

from __future__ import annotations

import copy
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from truemoment.base.errors import InputError
from truemoment.base.records import Annotations, Strings
from truemoment.baselines.targets import cell_ious, clip_ratings, moment_shares, moments_of_queries, usable
from truemoment.learning.models.base import MapModel, TrainableModel
from truemoment.learning.models.decoding import on_grid
from truemoment.learning.models.window_model import WindowModel
from truemoment.learning.training.answering import pairs_to_answer, score
from truemoment.learning.training.examples import (
    FloatTable,
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
from truemoment.learning.training.recipes import Windowing
from truemoment.learning.training.run import Run
from truemoment.learning.training.validation import Validation
from truemoment.learning.training.window_pairs import windows_to_learn
from truemoment.learning.training.windows import AllCandidates, in_windows
from truemoment.searching.windows import WindowDraws

STREAM_OF_WINDOWS, STREAM_OF_MOMENTS = 1, 2
"""Separate the draws of windows and of moments from those of an epoch's order."""

CHECKED_VIDEOS = 64
"""Videos of a split whose features are looked at, evenly over it, for the clock of its rated clips."""

MOST_MISSING_CLIPS = 2
"""Rows by which features may differ from the rated clips of a video, whose length is rounded differently."""


def first_references(split: Annotations) -> Annotations:
    """Return the first reference of each query."""
    return split.select_rows(split.offsets[:-1])


def make_targets(split: Annotations, model: TrainableModel, n_rows: int) -> dict[str, npt.NDArray[Any]]:
    """Return what a model learns from references, a row a query, by name; nothing that it does not need.

    Parameters
    ----------
    split
        The queries with all their references.
    model
        The model.
    n_rows
        Rows of a video, for a model that needs ratings.
    """
    first = first_references(split)
    columns: dict[str, npt.NDArray[Any]] = {}
    if "cell ious" in model.needs and isinstance(model, MapModel):
        columns["iou"] = cell_ious(first, model.proposals)
    if "moment" in model.needs:
        columns["moment"] = moment_shares(first)
    if "moments" in model.needs:
        columns["moments"] = moments_of_queries(split)
    if "ratings" in model.needs:
        columns["ratings"] = clip_ratings(split, n_rows)
    return columns


def drawn_moments(moments: FloatTable, most: int, rng: np.random.Generator) -> FloatTable:
    """Return at most `most` of the moments (Q, M, 2) of each query, drawn evenly, in their order.

    Examples
    --------
    >>> moments = np.array([[[0.0, 0.1], [0.2, 0.3], [0.4, 0.5]], [[0.6, 0.7], [np.nan] * 2, [np.nan] * 2]])
    >>> drawn_moments(moments, 2, np.random.default_rng(0))[..., 0]
    array([[0.2, 0.4],
           [0.6, nan]])
    """
    order = np.where(np.isnan(moments[..., 0]), 1.0, rng.random(moments.shape[:2]))
    chosen = np.sort(np.argsort(order, axis=1, kind="stable")[:, :most], axis=1)
    return np.take_along_axis(moments, chosen[..., None], axis=1)


def refuse_other_clips(split: Annotations, pairs: Pairs) -> None:
    """Refuse videos whose rows are not the clips that people rated, one for one but for the last two.

    At most :data:`CHECKED_VIDEOS` are looked at, evenly from the first to the last: another clock is in all of them.
    """
    saliency, table = split.saliency, pairs.table
    if saliency is None or table is None:
        return
    _, query = np.unique(pairs.video, return_index=True)
    query = query[np.linspace(0, len(query) - 1, min(CHECKED_VIDEOS, len(query))).astype(np.int64)]
    n_rows = (~np.isnan(table.take(pairs.video[query])[..., 0])).sum(axis=1)
    video_id, duration_s = split.queries.video_id[query], split.queries.duration_s[query]
    expected = np.ceil(duration_s / saliency.clip_length_s)
    other = np.abs(n_rows - expected) > MOST_MISSING_CLIPS
    if other.any():
        row = int(np.argmax(other))
        raise InputError(
            f"video {video_id[row]!r}: got {n_rows[row]} rows for {duration_s[row]:g} s, "
            f"expected {expected[row]:.0f}, one for each rated clip of {saliency.clip_length_s:g} s: give features of "
            "this clock, with --fps if the file states none, and rows as long as the longest video",
            field="features",
        )


@dataclass(frozen=True, eq=False)
class WholeVideos:
    """Every query with its whole video, or with each window that a model learns from.

    Parameters
    ----------
    run
        What is learned from.
    query_id, video_id : (P,)
        Query and video of each pair.
    pairs, val_pairs
        What is learned from, and what the epoch is chosen by.
    watch
        Measures answers to the validation split.
    log
        Figures of the pairs for the log of an epoch.
    most_moments
        Largest number of references of a query in an epoch.
    """

    run: Run
    query_id: Strings
    video_id: Strings
    pairs: Pairs
    val_pairs: Pairs
    watch: Validation
    log: dict[str, float]
    most_moments: int = 1

    @classmethod
    def prepare(cls, run: Run, network: Network, track: Track) -> WholeVideos:
        """Prepare the pairs of the training queries, each with its references."""
        recipe, model, store, first = run.recipe, network.model, run.store, first_references(run.train)

        def shown(items: Any) -> Any:  # noqa: ANN401 - as Track has it
            return track(items, "features")

        val_pairs = pairs_to_answer(run.val.queries, store, run.vocabulary, recipe, model, track=shown)
        watch = Validation(run.val, recipe.select.measure)
        if isinstance(model, WindowModel) and store is not None:
            sentences = read_sentences(first.queries, run.vocabulary, recipe, model.needs)
            windows, log = windows_to_learn(first, store, sentences, recipe, model, track=shown)
            of_query = windows.query
            windows.weights = None if run.weights is None else run.weights[of_query]
            return cls(run, first.query_id[of_query], first.video_id[of_query], windows, val_pairs, watch, log)
        pairs = make_pairs(first.queries, store, run.vocabulary, recipe, model, track=shown)
        pairs.columns, pairs.weights = {**pairs.columns, **make_targets(run.train, model, recipe.rows)}, run.weights
        if "ratings" in model.needs:
            refuse_other_clips(run.train, pairs)
        most = network.grounding_model.most_moments
        return cls(run, first.query_id, first.video_id, pairs, val_pairs, watch, {}, most)

    @property
    def measure(self) -> str:
        """The measure that chooses the epoch."""
        return self.watch.measure

    def epoch(self, number: int) -> tuple[Pairs, dict[str, float]]:
        """Return the same pairs in every epoch, with other moments of a query that has more than a model takes."""
        moments = self.pairs.columns.get("moments")
        if moments is None or moments.shape[1] <= self.most_moments:
            return self.pairs, self.log
        drawn = drawn_moments(
            moments, self.most_moments, np.random.default_rng([self.run.seed, number, STREAM_OF_MOMENTS])
        )
        pairs = copy.copy(self.pairs)
        pairs.columns = {**self.pairs.columns, "moments": drawn}
        return pairs, self.log

    def validate(self, network: Network) -> dict[str, float]:
        """Return the figures of a network on the validation split."""
        recipe = self.run.recipe
        scored = score(network, self.val_pairs, recipe.train.batch)
        decode = recipe.decode
        return self.watch.of_scores(scored, nms=decode.nms, top=decode.top, grid_s=decode.grid_s or None)


@dataclass(frozen=True, eq=False)
class VideoWindows:
    """Every query with a window of its video, drawn anew in every epoch.

    Parameters
    ----------
    run
        What is learned from.
    first
        A usable reference of each query.
    windowing
        What is drawn, and how videos are answered.
    draws
        The queries and their videos.
    sentences
        Sentences of the queries.
    table
        Features of the videos; None where the model sees no video.
    network
        Whose candidates the targets are of.
    watch
        Measures answers to the validation split.
    track
        Shows how far validation is.
    """

    run: Run
    first: Annotations
    windowing: Windowing
    draws: WindowDraws
    sentences: SentenceTable
    table: LongVideoTable | None
    network: Network
    watch: Validation
    track: Track

    @classmethod
    def prepare(cls, run: Run, network: Network, track: Track) -> VideoWindows:
        """Prepare the draws of windows for the training queries, each with its first usable reference."""
        recipe, windowing = run.recipe, run.recipe.windows or Windowing()
        first = first_references(run.train.select_rows(usable(run.train)))
        draws = WindowDraws.of(
            first, run.store, window_s=windowing.seconds, negatives=windowing.negatives, rule=windowing.negatives_from
        )
        table: LongVideoTable | None = None
        if run.store is not None:
            table = make_long_video_table(run.store, draws.videos, recipe, lambda videos: track(videos, "features"))
        sentences = read_sentences(first.queries, run.vocabulary, recipe, network.model.needs)
        watch = Validation(run.val, recipe.select.measure)
        return cls(run, first, windowing, draws, sentences, table, network, watch, track)

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
        draw = self.draws.draw(np.random.default_rng([self.run.seed, number, STREAM_OF_WINDOWS]))
        model, recipe, table = self.network.model, self.run.recipe, None
        duration_s = (draw.end - draw.first) / self.draws.fps
        if self.table is not None:
            begins = np.array([self.table.begins[video.video_id] for video in self.draws.videos], dtype=np.int64)
            see = functools.partial(model.see, n_rows=recipe.rows)
            table = WindowTable(self.table.rows, begins + draw.first, begins + draw.end, duration_s, see)
        columns = make_targets(self.draws.on_windows(draw), model, recipe.rows)
        if "duration" in model.needs:
            columns["duration_s"] = duration_s
        log = {
            "windows without the moment": float(draw.negative.mean()),
            "moments longer than a window": float(self.draws.longer.mean()),
        }
        pairs = Pairs(self.sentences, np.arange(len(draw.first)), table, columns=columns)
        pairs.weights = self.run.weights
        return pairs, log

    @property
    def measure(self) -> str:
        """The measure that chooses the epoch."""
        return self.watch.measure

    def validate(self, network: Network) -> dict[str, float]:
        """Return the figures of a network on whole videos of the validation split."""
        run = self.run
        method = AllCandidates(run.recipe.model, network, run.vocabulary, run.recipe, run.store)
        videos = in_windows(method, self.windowing, track=self.track)
        answers = videos.ground(run.val.queries, run.recipe.decode.top)
        return self.watch.of_predictions(on_grid(answers, run.recipe.decode.grid_s or None))
