"""A trained model that ranks clips: it ranks the clips of a split, beside the ranking before training.

The vectors of a test split are written to ``RUN/SPLIT.npz``, which ``truemoment retrieve`` ranks
(:mod:`truemoment.searching.clips.similarity_file`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, numbers_of
from truemoment.evaluation.uncertainty import interval95, resample_sums, stream
from truemoment.learning.models import get_family
from truemoment.learning.models.base import Inputs
from truemoment.learning.models.retrieval_model import RetrievalModel
from truemoment.learning.training import checkpoints
from truemoment.learning.training.clip_features import open_clip_features
from truemoment.learning.training.clip_pairs import ClipTexts, make_clip_texts, vectors_of
from truemoment.learning.training.hardware import prediction_device
from truemoment.learning.training.network import Network
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.recipes import resolve
from truemoment.learning.training.sentence_vectors import open_sentences
from truemoment.learning.training.vocabulary import NO_WORDS
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.media.features.sentences import SentenceStore
from truemoment.searching.clips.clips import Clips
from truemoment.searching.clips.measures import RetrievalMeasure, parse_retrieval_measures
from truemoment.searching.clips.ranking import RightPlaces, Similarities, places_both_ways
from truemoment.searching.clips.similarity_file import write_vectors

RETRIEVAL_MEASURES = "t2c:R@1; t2c:R@5; t2c:R@10; t2c:MdR; c2t:R@1; c2t:R@5; c2t:R@10"
"""Measured on test splits."""


@dataclass(frozen=True, eq=False)
class TrainedRetriever:
    """A trained network with the features and the vectors of sentences that it sees.

    Parameters
    ----------
    run
        What it was trained for.
    network
        The best epoch's.
    features, texts
        Features of films or clips, and vectors of sentences; None for a model that reads words.
    track
        Shows how far it is.
    """

    run: checkpoints.Run
    network: Network
    features: FeatureStore
    texts: SentenceStore | None
    track: Track = unseen

    def pairs(self, annotations: Annotations) -> tuple[ClipTexts, int]:
        """Return clips and sentences of a split, and how many clips are shorter than a frame."""
        if self.features.n_dimensions != self.run.n_dimensions:
            raise InputError(
                f"got {self.features.n_dimensions} numbers a row, expected {self.run.n_dimensions} as in training",
                field="features",
            )
        model = self.network.model
        if not isinstance(model, RetrievalModel):
            raise UsageError(f"{self.run.recipe.model} answers with moments, expected a run that ranks clips")
        return make_clip_texts(
            annotations,
            self.features,
            self.texts,
            self.run.recipe,
            model,
            track=lambda names: self.track(names, "features"),
        )

    def vectors(self, pairs: ClipTexts) -> tuple[Frames, Frames]:
        """Return the vectors of sentences and of clips."""
        return vectors_of(self.network, pairs, self.run.recipe.train.batch)


def load_retriever(
    folder: AnyPath,
    *,
    features: str | None = None,
    sentences: Sequence[str] = (),
    store: FeatureStore | None = None,
    texts: SentenceStore | None = None,
    data_dir: Path | None = None,
    fps: float | None = None,
    track: Track = unseen,
) -> TrainedRetriever:
    """Load a trained model that ranks clips from a run's folder.

    Parameters
    ----------
    folder
        Made by ``truemoment train``.
    features, sentences
        Sources of features and of vectors of sentences; none for what it was trained on.
    store, texts
        What is open already, in place of these.
    data_dir, fps
        As for :func:`~truemoment.learning.training.clip_features.open_clip_features`.
    track
        Shows how far it is.
    """
    folder = OwnPath.of(folder)
    run = checkpoints.read_run(folder)
    recipe = resolve(msgspec.to_builtins(run.recipe), folder / "run.json")
    family = get_family(recipe.model)
    if not family.retrieves:
        raise UsageError(f"{folder}: is a run of {recipe.model}, which answers with moments: use truemoment predict")
    settings = msgspec.convert(recipe.settings, family.settings)
    network = Network(NO_WORDS, run.n_vector, family.build(settings, Inputs(run.n_dimensions, run.n_vector)))
    weights = folder / "best.safetensors"
    tensors = checkpoints.read_tensors(weights)
    checkpoints.refuse_other_shapes(network, tensors, weights)
    checkpoints.load_into(network, tensors, weights)
    network.to(prediction_device())
    if store is None:
        source = run.features if features is None else features
        store = open_clip_features(source, recipe, run.train.dataset, data_dir, seed=run.seed, fps=fps or run.fps)
    return TrainedRetriever(run, network, store, texts or open_sentences(sentences or run.sentences), track)


@dataclass(frozen=True)
class BesideZeroShot:
    """A figure of a trained model beside that of the same model before training.

    Parameters
    ----------
    split, measure
        Of which.
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
        """Trained less zero-shot."""
        return self.value - self.zero_shot


def rank_split(
    retriever: TrainedRetriever, start: Network, of: Annotations, path: OwnPath, measures: str
) -> tuple[list[BesideZeroShot], int]:
    """Rank the clips of a split, write their vectors, and measure beside the network before training.

    Parameters
    ----------
    retriever
        The trained model.
    start
        The same network before training.
    of
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
    pairs, _ = retriever.pairs(of)
    texts, clips = retriever.vectors(pairs)
    of_clips = pairs.clips
    write_vectors(path, texts, clips, of_clips.clip_of, of_clips.video_id)
    before = vectors_of(start, pairs, retriever.run.recipe.train.batch)
    trained, zero_shot = (_places(vectors, of_clips) for vectors in ((texts, clips), before))
    rng = stream(retriever.run.seed, f"zero-shot {of.split}")
    draws = int(rng.integers(2**32))
    found = []
    for measure in parse_retrieval_measures(measures):
        each = [measure.of_each(places[measure.direction]) for places in (trained, zero_shot)]
        value, start_value = (measure.figure(one) for one in each)
        ci95 = (np.nan, np.nan) if measure.statistic == "MdR" else _paired(each, measure, of_clips, draws)
        found.append(BesideZeroShot(of.split, str(measure), value, start_value, ci95))
    return found, of_clips.n_texts


def _places(vectors: tuple[Frames, Frames], clips: Clips) -> Mapping[str, RightPlaces]:
    both = places_both_ways(Similarities.of_vectors(*vectors), clips.clip_of)
    return dict(zip(("t2c", "c2t"), both, strict=True))


def _paired(each: Sequence[Floats], measure: RetrievalMeasure, clips: Clips, seed: int) -> tuple[float, float]:
    """Return the interval of the difference of two means, by resampling films."""
    film = numbers_of(clips.video_id)
    film = film[clips.clip_of] if measure.direction == "t2c" else film[np.unique(clips.clip_of)]
    n_films = int(film.max()) + 1
    if n_films < 2:
        return (np.nan, np.nan)
    sums = np.stack(
        [np.bincount(film, each[0] - each[1], n_films), np.bincount(film, minlength=n_films)], axis=1
    ).astype(float)
    totals = resample_sums(sums, np.random.default_rng(seed))
    low, high = interval95(totals[:, 0] / np.maximum(totals[:, 1], 1)).tolist()
    return low, high
