"""What a model that ranks clips learns from in each epoch, and what validates it: pairs of a sentence and its clip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Ints
from truemoment.base.records import Annotations, Strings, numbers_of
from truemoment.learning.models.retrieval_model import RetrievalModel
from truemoment.learning.training.examples import (
    ClipTable,
    FloatTable,
    Pairs,
    RowTable,
    SentenceTable,
    drawn_pairs,
    empty_table,
    normalised,
)
from truemoment.learning.training.network import Network, NotFiniteError
from truemoment.learning.training.progress import Track
from truemoment.learning.training.recipe_sources import Clipping
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.run import Run
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.media.features.sentences import SentenceStore
from truemoment.searching.clips.clip_frames import RowReader, clips_by_name, each_clip, rows_of_clip
from truemoment.searching.clips.clips import Clips, clips_of
from truemoment.searching.clips.measures import RetrievalMeasure, parse_retrieval_measures
from truemoment.searching.clips.ranking import Similarities, places_both_ways

SHOWN = ("t2c:R@1", "t2c:R@5", "t2c:R@10", "c2t:R@1")
"""Measured after every epoch, beside the one that chooses."""

STREAM_OF_POOL = 2
"""Separates the draw of validation clips from other draws of a seed."""


@dataclass(frozen=True, eq=False)
class LazyClips:
    """Clips whose frames are read when they are picked, because all of them would not fit into memory.

    Parameters
    ----------
    store, clips
        Features, and the clips in them.
    name
        What the features call each clip or its video.
    max_frames
        Largest number of frames.
    """

    store: FeatureStore
    clips: Clips
    name: Sequence[str]
    max_frames: int

    def take(self, numbers: Ints) -> FloatTable:
        """Return the frames of clips (B,), (B, F, D), padded with zeros."""
        table = np.zeros((len(numbers), self.max_frames, self.store.n_dimensions), dtype=np.float32)
        for row, clip in zip(table, numbers.tolist(), strict=True):
            rows, _ = rows_of_clip(self.store, self.clips, clip, self.name[clip], self.max_frames)
            frames = (
                self.store.some_rows(self.name[clip], rows)
                if isinstance(self.store, RowReader)
                else self.store[self.name[clip]][rows]
            )
            row[: len(frames)] = frames
        return table


def make_clip_table(
    store: FeatureStore, clips: Clips, recipe: Recipe, track: Callable[[list[str]], Iterable[str]] = list
) -> tuple[RowTable, int]:
    """Return the frames of all clips, and how many clips are shorter than a frame; pictures are read when needed."""
    if isinstance(store, RowReader):
        names = {clip: name for name, rows in clips_by_name(store, clips).items() for clip in rows}
        return LazyClips(store, clips, [names[clip] for clip in range(len(clips))], recipe.rows), 0
    rows = empty_table((len(clips), recipe.rows, store.n_dimensions))
    n_short = 0
    for clip, frames, is_short in each_clip(store, clips, recipe.rows, track):
        if not np.isfinite(frames).all():
            problem = f"features of clip {clips.clip_id[clip]!r} have numbers that are not finite"
            raise InputError(problem, field="features")
        rows[clip, : len(frames)] = normalised(frames, store, recipe)
        rows[clip, len(frames) :] = 0
        n_short += is_short
    return ClipTable(rows, {}), n_short


def clipping_of(recipe: Recipe) -> Clipping:
    """Return how a recipe makes clips."""
    return recipe.clips or Clipping()


class ClipTexts(Pairs):
    """Pairs of a sentence and its clip.

    Parameters
    ----------
    clips
        The clips and their sentences.
    table
        Frames of the clips.
    texts : (T, ...)
        The sentences as the model sees them.
    """

    def __init__(self, clips: Clips, table: RowTable, texts: npt.NDArray[Any]) -> None:
        n_texts = clips.n_texts
        no_words = SentenceTable(np.zeros((n_texts, 1), dtype=np.int64), np.ones(n_texts, dtype=np.int64))
        super().__init__(no_words, clips.clip_of, table, columns={"sentence": texts})
        self.clips, self.frames, self.text = clips, table, numbers_of(clips.sentence)

    def order(self, size: int, rng: np.random.Generator) -> Ints:
        """Return pairs in batches of `size`, which contain each clip and each sentence once."""
        texts = one_text_a_clip(rng.permutation(len(self)), self.clips.clip_of)
        weights = None if self.weights is None else self.weights[texts]
        draws = texts[drawn_pairs(len(texts), weights, rng)]
        return contrastive_batches(draws, self.clips.clip_of, self.text, size)


def contrastive_batches(order: Ints, clip: Ints, text: Ints, size: int) -> Ints:
    """Return pairs in batches of `size` with distinct clips and texts, from a drawn order.

    A batch with two texts of one clip, or one sentence twice, would call a right answer wrong.

    Each pair joins the first open batch that has neither its clip nor its text. Batches that do not become full are
    left out, unless there is no full one: then the largest is the only batch.

    Parameters
    ----------
    order
        Pairs in a drawn order.
    clip, text : (P,)
        Clip and sentence of each pair, as numbers: equal sentences have one number.
    size
        Pairs of a batch.

    Examples
    --------
    >>> clip, text = np.array([0, 1, 2, 3]), np.array([0, 0, 1, 2])  # pairs 0 and 1 have one sentence
    >>> contrastive_batches(np.arange(4), clip, text, 2).tolist()
    [0, 2, 1, 3]
    """
    full: list[int] = []
    opened: list[_Open] = []
    for pair in order.tolist():
        its_clip, its_text = int(clip[pair]), int(text[pair])
        fitting = next((batch for batch in opened if its_clip not in batch.clips and its_text not in batch.texts), None)
        if fitting is None:
            fitting = _Open([], set(), set())
            opened.append(fitting)
        fitting.pairs.append(pair)
        fitting.clips.add(its_clip)
        fitting.texts.add(its_text)
        if len(fitting.pairs) == size:
            full += fitting.pairs
            opened = [batch for batch in opened if batch is not fitting]
    if not full and opened:
        full = max((batch.pairs for batch in opened), key=len)
    return np.array(full, dtype=np.int64)


class _Open(NamedTuple):
    """A batch that is not full."""

    pairs: list[int]
    clips: set[int]
    texts: set[int]


def one_text_a_clip(order: Ints, clip: Ints) -> Ints:
    """Return the first pair of each clip in a drawn order, in that order."""
    _, first = np.unique(clip[order], return_index=True)
    return order[np.sort(first)]


def make_clip_texts(
    annotations: Annotations,
    store: FeatureStore | None,
    texts: SentenceStore | None,
    recipe: Recipe,
    model: RetrievalModel,
    *,
    track: Callable[[list[str]], Iterable[str]] = list,
) -> tuple[ClipTexts, int]:
    """Return the clips and sentences of a split, and how many clips are shorter than a frame.

    Parameters
    ----------
    annotations
        The split; queries without a moment are left out.
    store, texts
        Features, and vectors of sentences.
    recipe, model
        What they are read for.
    track
        Goes through the videos.
    """
    if store is None:
        raise UsageError(f"{model.name} sees clips: give --features, e.g. --features FILE.hdf5")
    clips = clips_of(annotations, clipping_of(recipe).margin_s)
    sentence = model.see_texts(clips.queries(), texts)
    table, n_short = make_clip_table(store, clips, recipe, track)
    return ClipTexts(clips, table, sentence), n_short


@dataclass(frozen=True, eq=False)
class ClipPairs:
    """Training pairs of each epoch, and a pool of validation clips; fields as in :class:`ClipTexts`."""

    run: Run
    pairs: ClipTexts
    val_pairs: ClipTexts
    log: dict[str, float]

    @classmethod
    def prepare(cls, run: Run, model: RetrievalModel, track: Track) -> ClipPairs:
        """Prepare the pairs of the training queries, which have a moment each."""

        def shown(items: Any) -> Any:  # noqa: ANN401 - as Track has it
            return track(items, "features")

        recipe = run.recipe
        pairs, n_short = make_clip_texts(run.train, run.store, run.texts, recipe, model, track=shown)
        pairs.weights = run.weights
        val = run.val.with_moments()
        val = val.select_queries(_in_pool(val, clipping_of(recipe).pool, run.seed))
        val_pairs, _ = make_clip_texts(val, run.store, run.texts, recipe, model, track=shown)
        return cls(run, pairs, val_pairs, {"clips shorter than a frame": n_short / max(1, len(pairs.clips))})

    @property
    def query_id(self) -> Strings:
        """The query of each pair."""
        return self.pairs.clips.text_id

    @property
    def video_id(self) -> Strings:
        """The video of each pair."""
        return self.pairs.clips.video_id[self.pairs.clips.clip_of]

    @property
    def measure(self) -> str:
        """The measure that chooses the epoch."""
        return str(self._measures()[0])

    def _measures(self) -> tuple[RetrievalMeasure, ...]:
        return parse_retrieval_measures("; ".join((self.run.recipe.select.measure, *SHOWN)))

    def epoch(self, number: int) -> tuple[Pairs, dict[str, float]]:
        """Return the same pairs in every epoch; batches are drawn anew."""
        del number
        return self.pairs, self.log

    def validate(self, network: Network) -> dict[str, float]:
        """Return the figures of a network on the pool of validation clips."""
        texts, clips = vectors_of(network, self.val_pairs, self.run.recipe.train.batch)
        places = places_both_ways(Similarities.of_vectors(texts, clips), self.val_pairs.clips.clip_of)
        by_way = dict(zip(("t2c", "c2t"), places, strict=True))
        measured = ((measure, measure.of_each(by_way[measure.direction])) for measure in self._measures())
        return {str(measure): measure.figure(values) for measure, values in measured}


def _in_pool(val: Annotations, size: int, seed: int) -> Bools:
    """Return which queries are of the first `size` clips in a drawn order, (Q,)."""
    clip_of = clips_of(val).clip_of
    n_clips = int(clip_of.max()) + 1
    pool = np.random.default_rng([seed, STREAM_OF_POOL]).permutation(n_clips)[:size]
    return np.isin(clip_of, pool)


def vectors_of(network: Network, pairs: ClipTexts, size: int) -> tuple[Frames, Frames]:
    """Return the vectors of sentences (T, D) and of clips (N, D), of length 1, computed in batches of `size`."""
    model = network.retrieval_model
    network.eval()
    device = next(network.parameters()).device
    texts, clips = [], []
    with torch.inference_mode():
        for low in range(0, pairs.clips.n_texts, size):
            columns = torch.from_numpy(pairs.columns["sentence"][low : low + size]).to(device)
            texts.append(model.text_vectors(columns).float().cpu().numpy())
        for low in range(0, len(pairs.clips), size):
            frames = pairs.frames.take(np.arange(low, min(low + size, len(pairs.clips))))
            clips.append(model.clip_vectors(torch.from_numpy(frames).to(device)).float().cpu().numpy())
    vectors = np.concatenate(texts), np.concatenate(clips)
    if not all(np.isfinite(part).all() for part in vectors):
        raise NotFiniteError("vectors")
    return vectors
