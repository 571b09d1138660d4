"""Annotations and features as tensors.

Features are resampled once, when a run begins, into one table: a video's rows do not change from epoch to epoch, so
that a step only picks rows from memory (or, where the table is larger than :data:`MOST_BYTES`, from a temporary file).
Rows that a model sees as they are need no such work: beyond :data:`ON_DEMAND_BYTES` a step reads them from their files.
Windows of videos change from epoch to epoch: their table contains the rows of whole videos, and a step resamples some.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import Dataset

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Queries, numbers_of
from truemoment.data.language import get_engine
from truemoment.data.language.heads import CHAIN, word_heads
from truemoment.data.language.phrases import phrase_trees
from truemoment.learning.models.base import Need, TrainableModel, VideoRows
from truemoment.learning.training.network import TokenBatch
from truemoment.learning.training.query_rows import WordTable
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.vocabulary import PADDING, UNKNOWN, TokenVocabulary, word_numbers
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.joined import source_widths
from truemoment.media.features.reading import fault_of_numbers
from truemoment.media.features.resampling import normalise, normalise_each
from truemoment.searching.windows import LongVideo

MOST_BYTES = 4_000_000_000
"""A larger table of features is kept in a temporary file."""

ON_DEMAND_BYTES = 1_000_000_000
"""A larger table of rows that a model sees as they are is not made: a step reads its videos."""

FloatTable = npt.NDArray[np.float32]


class RowTable(Protocol):
    """Features of videos that are picked by number."""

    def take(self, numbers: Ints) -> FloatTable:
        """Return videos (B,) as the model sees them, (B, ...)."""
        ...


@dataclass(frozen=True, eq=False)
class ClipTable:
    """V videos as a model sees them.

    Parameters
    ----------
    rows : (V, T, D) float32
    number
        Row of each video.
    """

    rows: FloatTable
    number: dict[str, int]

    def take(self, numbers: Ints) -> FloatTable:
        """Return the rows of videos (B,) as (B, T, D)."""
        return self.rows[numbers]


@dataclass(frozen=True, eq=False)
class OnDemandTable:
    """V videos as a model sees them, each read when it is picked.

    Parameters
    ----------
    store
        Features.
    duration_s
        Duration of each video by its id, in the order of their numbers.
    recipe, model
        As for :func:`make_table`.
    """

    store: FeatureStore
    duration_s: Mapping[str, float]
    recipe: Recipe
    model: TrainableModel

    @functools.cached_property
    def video_ids(self) -> tuple[str, ...]:
        """Videos by number."""
        return tuple(self.duration_s)

    @functools.cached_property
    def number(self) -> dict[str, int]:
        """Number of each video."""
        return {video_id: at for at, video_id in enumerate(self.video_ids)}

    def take(self, numbers: Ints) -> FloatTable:
        """Return the rows of videos (B,) as (B, T, D)."""
        picked = [self.video_ids[number] for number in numbers.tolist()]
        seen = (see_video(self.store, name, self.duration_s[name], self.recipe, self.model) for name in picked)
        return np.stack(list(seen))


@dataclass(frozen=True, eq=False)
class LongVideoTable:
    """Features of whole videos, one after the other.

    Parameters
    ----------
    rows : (R, D) float32
    begins
        First row of each video.
    """

    rows: FloatTable
    begins: dict[str, int]


@dataclass(frozen=True, eq=False)
class WindowTable:
    """Windows of videos, resampled on demand to the rows that a model sees.

    Parameters
    ----------
    rows : (R, D) float32
        Rows of whole videos.
    low, high : (P,)
        Each window is the rows ``low`` to ``high - 1``.
    duration_s : (P,)
        Duration of each window.
    see
        What the model sees of a video of features.
    """

    rows: FloatTable
    low: Ints
    high: Ints
    duration_s: Floats
    see: Callable[[VideoRows], FloatTable]

    def take(self, numbers: Ints) -> FloatTable:
        """Return windows (B,) as the model sees them, (B, T, D); those of one length lie side by side in one call."""
        low, high, duration_s = self.low[numbers], self.high[numbers], self.duration_s[numbers]
        table: FloatTable | None = None
        for length in np.unique(high - low).tolist():
            alike = np.flatnonzero(high - low == length)
            beside = np.stack([self.rows[at : at + length] for at in low[alike].tolist()], axis=1)
            seconds = float(duration_s[alike[0]])
            edges_s = np.linspace(0.0, seconds, length + 1)
            seen = self.see(VideoRows(beside.reshape(length, -1), edges_s, seconds))
            if table is None:
                table = np.empty((len(numbers), len(seen), self.rows.shape[1]), dtype=np.float32)
            table[alike] = seen.reshape(len(seen), len(alike), -1).swapaxes(0, 1)
        if table is None:
            raise UsageError("got no window, expected one or more")
        return table


def make_table(
    store: FeatureStore,
    queries: Queries,
    recipe: Recipe,
    model: TrainableModel,
    track: Callable[[Sequence[str]], Iterable[str]] = lambda ids: ids,
) -> ClipTable | OnDemandTable:
    """Return the videos of queries as a model sees them.

    Parameters
    ----------
    store
        Features.
    queries
        Queries, whose videos have the stated durations.
    recipe
        Its `rows` and `normalise` are used.
    model
        States how it sees a video.
    track
        Wraps the list of videos, e.g. in a progress bar.
    """
    duration_s = queries.video_duration_s
    videos = list(duration_s)
    if model.sees_rows and 4 * len(videos) * recipe.rows * store.n_dimensions > ON_DEMAND_BYTES:
        return OnDemandTable(store, duration_s, recipe, model)
    rows: FloatTable | None = None
    for at, video_id in enumerate(track(videos)):
        seen = see_video(store, video_id, duration_s[video_id], recipe, model)
        if rows is None:
            rows = empty_table((len(videos), *seen.shape))
        rows[at] = seen
    if rows is None:
        raise UsageError("there is no query to answer")
    return ClipTable(rows, {video_id: at for at, video_id in enumerate(videos)})


def make_long_video_table(
    store: FeatureStore,
    videos: Iterable[LongVideo],
    recipe: Recipe,
    track: Callable[[Sequence[LongVideo]], Iterable[LongVideo]] = lambda videos: videos,
) -> LongVideoTable:
    """Put the features of whole videos one after the other.

    They are as many numbers as in the files: 67 MB for a video of 110 minutes at 5 rows a second and 512 dimensions,
    and beyond :data:`MOST_BYTES` a temporary file.

    Parameters
    ----------
    store
        Where features come from.
    videos
        Which videos, each once or more.
    recipe
        `normalise` of it.
    track
        Wraps the list of videos, e.g. in a progress bar.
    """
    distinct = list(dict.fromkeys(videos))
    ends = np.cumsum([video.n_rows for video in distinct])
    rows = empty_table((int(ends[-1]) if len(ends) else 0, store.n_dimensions))
    for video, end in zip(track(distinct), ends.tolist(), strict=True):
        rows[end - video.n_rows : end] = _frames(store, video.video_id, recipe)[: video.n_rows]
    begins = (end - video.n_rows for video, end in zip(distinct, ends.tolist(), strict=True))
    return LongVideoTable(rows, {video.video_id: begin for video, begin in zip(distinct, begins, strict=True)})


def see_video(
    store: FeatureStore, video_id: str, duration_s: float, recipe: Recipe, model: TrainableModel
) -> FloatTable:
    """Return a video as a model sees it, (T, D)."""
    return model.see(read_rows(store, video_id, duration_s, recipe), recipe.rows)


def read_rows(store: FeatureStore, video_id: str, duration_s: float, recipe: Recipe) -> VideoRows:
    """Return the features of a video, checked, and normalised if the recipe sets it."""
    return VideoRows(_frames(store, video_id, recipe), store.edges_s(video_id, duration_s), duration_s)


def _frames(store: FeatureStore, video_id: str, recipe: Recipe) -> FloatTable:
    """Return a video's rows, checked, and of length 1 where the recipe wants that."""
    frames = store[video_id]
    if fault := fault_of_numbers(frames):
        raise InputError(f"video {video_id!r}: {fault}", field="features")
    return normalised(frames, store, recipe)


def normalised(frames: FloatTable, store: FeatureStore, recipe: Recipe) -> FloatTable:
    """Return rows of a store (n, D), each divided by its length as the recipe sets it."""
    if recipe.normalise == "each":
        return normalise_each(frames, source_widths(store))
    return normalise(frames) if recipe.normalise else frames


def empty_table(shape: tuple[int, ...]) -> FloatTable:
    """Return a table to fill, in memory or, beyond :data:`MOST_BYTES`, in a temporary file."""
    if 4 * int(np.prod(shape)) <= MOST_BYTES:
        return np.empty(shape, dtype=np.float32)
    with tempfile.TemporaryFile() as file:  # it has no name on POSIX systems: it is gone with the process
        _reserve(file.fileno(), 4 * int(np.prod(shape)))
        return np.memmap(file, dtype=np.float32, mode="w+", shape=shape)


def _reserve(number: int, n_bytes: int) -> None:
    """Reserve the space of a temporary file: mapped memory that the disk has no room for ends the process by SIGBUS."""
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(number, 0, n_bytes)
    except OSError as error:
        problem = f"has no room for {n_bytes:,} bytes of features ({error.strerror})"
        hint = "name a folder with more room by the variable TMPDIR"
        raise InputError(problem, path=tempfile.gettempdir(), hint=hint) from None


@dataclass(frozen=True, eq=False)
class SentenceTable:
    """Q sentences as arrays, see :class:`~truemoment.learning.training.network.TokenBatch`.

    Parameters
    ----------
    numbers : (Q, L)
    n_words : (Q,)
    verbs : (Q, V) or None
    nouns : (Q, V, K) or None
    heads : (Q, L) or None
    rows
        Rows of the words of each sentence, where they have no vectors by number.
    """

    numbers: Ints
    n_words: Ints
    verbs: Ints | None = None
    nouns: Ints | None = None
    heads: Ints | None = None
    rows: WordTable | None = None

    def select(self, rows: Ints) -> SentenceTable:
        """Return rows of the table, each as often as it is named."""
        columns: dict[str, Any] = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        columns = {name: column if column is None else column[rows] for name, column in columns.items()}
        return SentenceTable(**columns)


def read_sentences(
    queries: Queries, vocabulary: TokenVocabulary, recipe: Recipe, needs: frozenset[Need]
) -> SentenceTable:
    """Number the words of queries and, where a model needs them, find their phrases or heads; or read their rows."""
    if vocabulary.rows is not None:
        table = vocabulary.rows.of(queries)
        is_word = np.arange(int(table.n_words.max(initial=1))) < table.n_words[:, None]
        return SentenceTable(np.where(is_word, UNKNOWN, PADDING), table.n_words, rows=table)
    sentences = queries.sentence.tolist()
    if "phrases" in needs and recipe.text.tokens == "sentence":
        raise UsageError(f"text.tokens: got sentence, expected words: {recipe.model} listens to phrases")
    numbers, n_words = word_numbers(sentences, vocabulary, recipe.text.tokens, recipe.text.most)
    if "heads" in needs:
        return SentenceTable(numbers, n_words, heads=_read_heads(sentences, n_words, numbers.shape[1], recipe))
    if "phrases" not in needs:
        return SentenceTable(numbers, n_words)
    trees = phrase_trees(sentences, get_engine(recipe.text.engine), how=recipe.text.tokens)
    most_verbs = max([1, *(len(tree.verbs) for tree in trees)])
    most_nouns = max([1, *(len(nouns) for tree in trees for nouns in tree.nouns)])
    verbs = np.full((len(trees), most_verbs), -1, dtype=np.int64)
    nouns = np.full((len(trees), most_verbs, most_nouns), -1, dtype=np.int64)
    for row, tree in enumerate(trees):
        verbs[row, : len(tree.verbs)] = tree.verbs
        for at, of_verb in enumerate(tree.nouns):
            nouns[row, at, : len(of_verb)] = of_verb
    return SentenceTable(numbers, n_words, verbs, nouns)


def _read_heads(sentences: Sequence[str], n_words: Ints, length: int, recipe: Recipe) -> Ints:
    """Return the position of each word's head, (Q, L); -1 for none, and where the sentence is cut before it."""
    positions = np.full((len(sentences), length), -1, dtype=np.int64)
    for row, heads in enumerate(word_heads(sentences, recipe.text.heads or CHAIN, recipe.text.tokens)):
        positions[row, : n_words[row]] = heads[: n_words[row]]
    return np.where(positions < n_words[:, None], positions, -1)


class Pairs(Dataset[TokenBatch]):
    """Pairs of a sentence and a video, read in batches.

    Parameters
    ----------
    sentences
        Q sentences.
    video : (Q,)
        Row of each pair's video in the table.
    table
        Features; None where the model sees no video.
    columns
        Arrays (Q, ...) of further inputs by name, see :class:`~truemoment.learning.models.base.PairTensors`.
    other : (Q,) or None
        Row of another video for each pair.

    Attributes
    ----------
    weights : (Q,) or None
        How often each pair is drawn in an epoch; None for once.
    """

    def __init__(
        self,
        sentences: SentenceTable,
        video: Ints,
        table: RowTable | None,
        *,
        columns: Mapping[str, npt.NDArray[Any]] = MappingProxyType({}),
        other: Ints | None = None,
    ) -> None:
        self.sentences, self.video, self.table, self.columns, self.other = sentences, video, table, columns, other
        self.weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.video)

    def __getitem__(self, row: int) -> TokenBatch:
        """Return one pair."""
        return self.__getitems__([row])

    def __getitems__(self, rows: Sequence[int]) -> TokenBatch:
        """Return a batch, its sentences cut to the longest of them."""
        at = np.asarray(rows, dtype=np.int64)
        sentences = self.sentences
        longest = int(sentences.n_words[at].max(initial=1))
        return TokenBatch(
            numbers=torch.from_numpy(sentences.numbers[at, :longest]),
            pair=torch.from_numpy(at),
            n_words=torch.from_numpy(sentences.n_words[at]),
            video=None if self.table is None else torch.from_numpy(self.table.take(self.video[at])),
            verbs=None if sentences.verbs is None else torch.from_numpy(sentences.verbs[at]),
            nouns=None if sentences.nouns is None else torch.from_numpy(sentences.nouns[at]),
            heads=None if sentences.heads is None else torch.from_numpy(sentences.heads[at, :longest]),
            words=None if sentences.rows is None else torch.from_numpy(sentences.rows[at].padded()),
            other_video=None
            if self.table is None or self.other is None
            else torch.from_numpy(self.table.take(self.other[at])),
            **{name: torch.from_numpy(column[at]) for name, column in self.columns.items()},
        )

    def order(self, size: int, rng: np.random.Generator) -> Ints:
        """Return the pairs in a drawn order, each as often as its weight says; each run of `size` is a batch."""
        del size
        return drawn_pairs(len(self), self.weights, rng)

    def with_others(self, video_ids: Sequence[str], rng: np.random.Generator) -> Pairs:
        """Return the pairs with another video each, drawn evenly from the pairs of another video."""
        other = self.video[other_videos(video_ids, rng)]
        return Pairs(self.sentences, self.video, self.table, columns=self.columns, other=other)


def drawn_pairs(n_pairs: int, weights: Floats | None, rng: np.random.Generator) -> Ints:
    """Return pairs in a drawn order; one of weight 2.3 occurs twice, and three times in 3 of 10 draws.

    Examples
    --------
    >>> np.bincount(drawn_pairs(4, np.array([1.0, 2.0, 0.5, 0.5]), np.random.default_rng(0)), minlength=4)[:2].tolist()
    [1, 2]
    """
    if weights is None:
        return rng.permutation(n_pairs)
    times = np.floor(weights).astype(np.int64)
    fraction = weights - times
    n_more = round(float(fraction.sum()))  # the same in every epoch
    if n_more:
        more = rng.choice(n_pairs, size=n_more, replace=False, p=fraction / fraction.sum())
        times[more] += 1
    return rng.permutation(np.repeat(np.arange(n_pairs), times))


def make_pairs(
    queries: Queries,
    store: FeatureStore | None,
    vocabulary: TokenVocabulary,
    recipe: Recipe,
    model: TrainableModel,
    *,
    track: Callable[[Sequence[str]], Iterable[str]] = lambda ids: ids,
) -> Pairs:
    """Return queries and their whole videos as pairs without references."""
    if not len(queries):
        raise UsageError("there is no query to answer")
    table = None if store is None else make_table(store, queries, recipe, model, track)
    numbers = [0 if table is None else table.number[video_id] for video_id in queries.video_id.tolist()]
    sentences = read_sentences(queries, vocabulary, recipe, model.needs)
    columns = {"duration_s": np.asarray(queries.duration_s, dtype=np.float64)} if "duration" in model.needs else {}
    return Pairs(sentences, np.array(numbers, dtype=np.int64), table, columns=columns)


def other_videos(video_id: Sequence[str], rng: np.random.Generator) -> Ints:
    """Return for each pair another pair, drawn evenly from those of another video, (Q,).

    Examples
    --------
    >>> ids = ["a", "a", "b"]
    >>> others = other_videos(ids, np.random.default_rng(0))
    >>> [ids[at] for at in others]
    ['b', 'b', 'a']
    """
    video = numbers_of(video_id)
    if len(video) == 0 or (video == video[0]).all():
        raise UsageError("another video is needed to train this model, and all pairs are of one")
    other = rng.integers(len(video), size=len(video))
    while (equal := video[other] == video).any():
        other[equal] = rng.integers(len(video), size=int(equal.sum()))
    return other
