"""The task of models that rank clips by text, and the trained method: it ranks the clips of a split.

The vectors of a test split are written to ``RUN/SPLIT.npz``, which ``truemoment retrieve`` ranks
(:mod:`truemoment.searching.clips.similarity_file`); its figures lie beside those of the ranking before training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from msgspec import UNSET

from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.boundary.yaml_files import naming
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations, Strings, numbers_of
from truemoment.data.datasets.source import AnnotationSource
from truemoment.evaluation.uncertainty import interval95, resample_sums, stream
from truemoment.learning.models.base import Need
from truemoment.learning.training import checkpoints
from truemoment.learning.training.clip_pairs import ClipPairs, ClipTexts, make_clip_texts, vectors_of
from truemoment.learning.training.network import Network, build_network
from truemoment.learning.training.progress import Track
from truemoment.learning.training.recipes import Recipe, Text
from truemoment.learning.training.run import Run
from truemoment.learning.training.stores import open_clip_features, open_sentences
from truemoment.learning.training.task import Answers, BesideZeroShot, EpochData, SplitFigure, Task
from truemoment.learning.training.trained import TrainedNetwork
from truemoment.learning.training.vocabulary import NO_WORDS, TokenVocabulary
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.media.features.sentences import SentenceStore
from truemoment.searching.clips.clips import Clips, clip_name, own_id
from truemoment.searching.clips.measures import RetrievalMeasure, parse_retrieval_measures
from truemoment.searching.clips.ranked_clips import RankedClips, RetrievalChoices, rank_clips
from truemoment.searching.clips.ranking import RightPlaces, Similarities, places_both_ways
from truemoment.searching.clips.similarity_file import read_similarities, write_vectors


@dataclass(frozen=True, eq=False)
class TrainedRetriever(TrainedNetwork):
    """A trained method that ranks clips by text."""

    features: FeatureStore

    def pairs(self, annotations: Annotations) -> tuple[ClipTexts, int]:
        """Return clips and sentences of a split, and how many clips are shorter than a frame."""
        self.run.refuse_other_width(self.features)
        return make_clip_texts(
            annotations,
            self.features,
            self.texts,
            self.run.recipe,
            self.network.retrieval_model,
            track=lambda names: self.track(names, "features"),
        )

    def vectors(self, pairs: ClipTexts) -> tuple[Frames, Frames]:
        """Return the vectors of sentences and of clips."""
        return vectors_of(self.network, pairs, self.run.recipe.train.batch)


class RankingTask(Task):
    """The clips of a split are ranked by their similarity to a sentence."""

    trained = TrainedRetriever
    use = "ranks clips: use truemoment retrieve --model"
    loads_encoder = True

    measures: ClassVar[str] = "t2c:R@1; t2c:R@5; t2c:R@10; t2c:MdR; c2t:R@1; c2t:R@5; c2t:R@10"

    def check_recipe(self, recipe: Recipe, path: AnyPath | None) -> None:
        """Refuse a measure of which less is better, and a block `windows`."""
        with naming(path, "select.measure"):
            measures = parse_retrieval_measures(recipe.select.measure)
            if len(measures) != 1 or not measures[0].is_fraction:
                problem = f"got {recipe.select.measure}, expected one measure of which more is better, e.g. t2c:R@1"
                raise UsageError(problem)
        if recipe.windows is not UNSET:
            raise InputError(f"got windows, but {recipe.model} ranks clips", path=path, field="windows")

    def parse_measures(self, text: str) -> tuple[RetrievalMeasure, ...]:
        """Return measures of ranks."""
        return parse_retrieval_measures(text)

    def mixture_measures(self, text: str | None) -> tuple[str, ...]:
        """Return the measures of a study of mixtures; of the first, more must be better."""
        measures = parse_retrieval_measures(text or self.measures)
        if not measures[0].is_fraction:
            raise UsageError(f"--measures: got {measures[0]} first, expected one of which more is better")
        return tuple(map(str, measures))

    def open_features(
        self, text: str, recipe: Recipe, dataset: str, data_dir: Path | None, *, seed: int, fps: float | None
    ) -> FeatureStore:
        """Open vectors of frames, or pictures for encoders that learn."""
        return open_clip_features(text, recipe, dataset, data_dir, seed=seed, fps=fps)

    def open_texts(self, sentences: Sequence[str]) -> SentenceStore | None:
        """Open vectors of sentences: files, or an encoder."""
        return open_sentences(sentences)

    def with_features(self, split: Annotations, store: FeatureStore, *, skip_missing: bool) -> Bools:
        """Return which queries have features of their clip or its video; refuse a split that has none."""
        names = zip(split.queries.query_id.tolist(), split.queries.video_id.tolist(), strict=True)
        has_clip = np.array(
            [clip_name(own_id(query), video) in store or video in store for query, video in names], dtype=bool
        )
        if not has_clip.any() or (not has_clip.all() and not skip_missing):
            video_id = split.queries.video_id[~has_clip][0]
            raise InputError(
                f"has no features of {int((~has_clip).sum()):,} of {len(has_clip):,} clips of "
                f"{split.dataset}/{split.split}, e.g. of video {video_id!r}",
                path=store.name,
            )
        return has_clip

    def learnable(self, split: Annotations, needs: frozenset[Need]) -> Bools:
        """Return which queries have a moment; a clip needs no duration of its video."""
        del needs
        first = split.offsets[:-1]
        return np.asarray(split.end_s[first] > split.start_s[first])

    def vocabulary(self, run: Run, text: Text) -> TokenVocabulary:
        """Return no words: the model compares whole sentences."""
        del run, text
        return NO_WORDS

    def prepare(self, run: Run, network: Network, track: Track) -> EpochData:
        """Return pairs of a sentence and its clip."""
        return ClipPairs.prepare(run, network.retrieval_model, track)

    def answer(
        self, run: Run, record: checkpoints.RunRecord, folder: OwnPath, measures: str | None, track: Track
    ) -> Answers:
        """Rank the clips of the test splits, write their vectors to ``SPLIT.npz``, and measure the ranks."""
        retriever = TrainedRetriever.load(folder, store=run.store, texts=run.texts, track=track)
        torch.manual_seed(run.seed)
        start = build_network(run.recipe, NO_WORDS, record.n_dimensions)
        start = start.to(next(retriever.network.parameters()).device)
        figures: list[SplitFigure] = []
        beside: list[BesideZeroShot] = []
        for name, split in run.tests.items():
            ranked, n_texts = rank_split(retriever, start, split, folder / f"{name}.npz", measures or self.measures)
            figures += [SplitFigure(name, figure.measure, figure.value, n_texts) for figure in ranked]
            beside += ranked
        return Answers(retriever.network, tuple(figures), tuple(beside))

    def sums_by_film(self, folder: OwnPath, name: str, split: Annotations, measure: str) -> Floats:
        """Return sums of a measure and of its weights by film, of the vectors in ``SPLIT.npz``."""
        del split
        saved = read_similarities(folder / f"{name}.npz")
        (parsed,) = parse_retrieval_measures(measure)
        to_clip, to_text = places_both_ways(saved.similarities, saved.clip_of)
        values = parsed.of_each(to_clip if parsed.direction == "t2c" else to_text)
        return _film_sums(values, parsed, saved.video_id, saved.clip_of)


TASK = RankingTask()


def rank_split(
    retriever: TrainedRetriever, start: Network, split: Annotations, path: OwnPath, measures: str
) -> tuple[list[BesideZeroShot], int]:
    """Rank the clips of a split, write their vectors, and measure beside the network before training.

    Parameters
    ----------
    retriever
        The trained model.
    start
        The same network before training.
    split
        The split.
    path
        File of the vectors.
    measures
        What is measured.

    Returns
    -------
    figures, n_texts
        In the order of the measures, and the number of sentences.
    """
    pairs, _ = retriever.pairs(split)
    texts, clips = retriever.vectors(pairs)
    write_vectors(path, texts, clips, pairs.clips.clip_of, pairs.clips.video_id)
    start_vectors = vectors_of(start, pairs, retriever.run.recipe.train.batch)
    trained, zero_shot = (_places(vectors, pairs.clips) for vectors in ((texts, clips), start_vectors))
    rng = stream(retriever.run.seed, f"zero-shot {split.split}")
    draws = int(rng.integers(2**32))
    figures = []
    for measure in parse_retrieval_measures(measures):
        values_of = [measure.of_each(places[measure.direction]) for places in (trained, zero_shot)]
        value, start_value = (measure.figure(values) for values in values_of)
        ci95 = (np.nan, np.nan) if measure.statistic == "MdR" else _paired(values_of, measure, pairs.clips, draws)
        figures.append(BesideZeroShot(split.split, str(measure), value, start_value, ci95))
    return figures, pairs.clips.n_texts


def _places(vectors: tuple[Frames, Frames], clips: Clips) -> Mapping[str, RightPlaces]:
    places = places_both_ways(Similarities.of_vectors(*vectors), clips.clip_of)
    return dict(zip(("t2c", "c2t"), places, strict=True))


def _paired(values: Sequence[Floats], measure: RetrievalMeasure, clips: Clips, seed: int) -> tuple[float, float]:
    """Return the interval of the difference of two means, by resampling films."""
    sums = _film_sums(values[0] - values[1], measure, clips.video_id, clips.clip_of)
    if len(sums) < 2:
        return (np.nan, np.nan)
    totals = resample_sums(sums, np.random.default_rng(seed))
    low, high = interval95(totals[:, 0] / np.maximum(totals[:, 1], 1)).tolist()
    return low, high


def _film_sums(values: Floats, measure: RetrievalMeasure, video_id: Strings, clip_of: Ints) -> Floats:
    """Return sums by film of the values of each sentence or clip, and their numbers, (V, 2)."""
    film = numbers_of(video_id)
    film = film[clip_of] if measure.direction == "t2c" else film[np.unique(clip_of)]
    n_films = int(film.max()) + 1
    return np.stack([np.bincount(film, values, n_films), np.bincount(film, minlength=n_films)], axis=1)


def rank_with_run(
    run: Path,
    features: str,
    sentences: Path | None,
    data: AnnotationSource,
    choices: RetrievalChoices,
    *,
    track: Callable[[list[str]], Iterable[str]] = list,
) -> RankedClips:
    """Rank the moments of a split as clips by a trained model. The margin is that of its recipe.

    Parameters
    ----------
    run
        Folder of the run.
    features, sentences
        Features, and vectors of sentences; None for those of the run.
    data
        The split.
    choices
        How clips are ranked and measured.
    track
        Goes through the videos.

    Raises
    ------
    UsageError, MissingFileError, InputError
        If the folder contains no run of such a model, or a file is missing, malformed or of another width.
    """
    annotations = data.read()
    retriever = TrainedRetriever.load(
        run,
        features=features,
        sentences=() if sentences is None else (str(sentences),),
        data_dir=data.data_dir,
        fps=choices.fps,
        track=lambda names, _: track(names),
    )
    pairs, n_short = retriever.pairs(annotations)
    similarities = Similarities.of_vectors(*retriever.vectors(pairs))
    made_by = retriever.run
    source = (
        ("model", f"{made_by.recipe.model}, recipe {made_by.recipe.hash}, seed {made_by.seed}"),
        ("clips", retriever.features.name),
        *((("texts", retriever.texts.name),) if retriever.texts else ()),
        *(("note", note) for note in made_by.notes),
    )
    return rank_clips(similarities, pairs.clips, data, annotations, choices, source=source, n_short=n_short)
