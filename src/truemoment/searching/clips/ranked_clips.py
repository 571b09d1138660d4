"""Ranked clips: from features and sentence vectors of a split, or from a file of similarities."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from truemoment.base.boundary.files import sha256_of
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError, MeasureError
from truemoment.base.intervals import Ints
from truemoment.base.records import Annotations, Strings
from truemoment.data.datasets.source import AnnotationSource
from truemoment.evaluation.uncertainty import stream
from truemoment.media.features.sentences import SentenceFile
from truemoment.searching.clips.blind import by_lengths
from truemoment.searching.clips.clip_frames import pooled_clips
from truemoment.searching.clips.clips import Clips, clips_of
from truemoment.searching.clips.measures import DEFAULT_MEASURES, RetrievalMeasure, parse_retrieval_measures
from truemoment.searching.clips.ranking import Similarities
from truemoment.searching.clips.results import RetrievalResult, evaluate_retrieval
from truemoment.searching.clips.similarity_file import read_similarities, write_similarities
from truemoment.searching.opening import open_features
from truemoment.searching.unit_vectors import unit

MOST_TIE = 1e30
"""Largest difference that counts as equal: the similarities are numbers of 32 bits."""


@dataclass(frozen=True)
class RetrievalChoices:
    """How clips are ranked and measured.

    Parameters
    ----------
    measures
        See :mod:`truemoment.searching.clips.measures`.
    fit_split
        Split whose moments the blind floor learns; None for ``train``, where there is one.
    margin_s
        Seconds added to a moment on each side.
    fps
        Rows per second of features that state none.
    tie
        Largest difference of two similarities that counts as equal.
    resamples, seed
        Of the intervals.
    save
        File of all similarities; None for none.
    """

    measures: tuple[RetrievalMeasure, ...] = parse_retrieval_measures(DEFAULT_MEASURES)
    fit_split: str | None = None
    margin_s: float = 0.0
    fps: float | None = None
    tie: float = 0.0
    resamples: int = 1000
    seed: int = 0
    save: Path | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.tie <= MOST_TIE:
            raise MeasureError(f"--tie: got {self.tie:g}, expected a difference of 0 or more, up to {MOST_TIE:g}")


@dataclass(frozen=True, eq=False)
class RankedClips:
    """Clips that were ranked by texts, and texts by clips.

    Parameters
    ----------
    result
        The figures.
    floor
        Figures of the blind floor, which matches long sentences with long clips; None without a training split.
    pool
        Number of texts, clips and videos.
    source
        What the similarities come from, as (label, words).
    clips
        The clips; None for a file of similarities.
    n_short
        Number of clips shorter than a frame.
    """

    result: RetrievalResult
    floor: RetrievalResult | None
    pool: tuple[int, int, int]
    source: tuple[tuple[str, str], ...]
    choices: RetrievalChoices
    clips: Clips | None = None
    n_short: int = 0


def rank_similarities(path: Path, choices: RetrievalChoices) -> RankedClips:
    """Rank by the similarities of a file.

    Raises
    ------
    MissingFileError, InputError
        If the file is missing or malformed.
    """
    given = read_similarities(path)
    similarities = given.similarities
    result = _evaluate(similarities, given.clip_of, given.video_id, choices)
    pool = (similarities.n_texts, similarities.n_clips, len(np.unique(given.video_id)))
    source = (("similarities", f"{as_text(path.name)}#{sha256_of(path)[:8]}"),)
    return RankedClips(result, None, pool, source, choices)


def rank_features(
    features: Path,
    sentences: Path,
    data: AnnotationSource,
    choices: RetrievalChoices,
    track: Callable[[list[str]], Iterable[str]] = list,
) -> RankedClips:
    """Rank the moments of a split as clips, by frame features and sentence vectors of one image-text model.

    Parameters
    ----------
    features
        Features of the videos; see :mod:`truemoment.media.features`.
    sentences
        Vectors of the sentences; see :mod:`truemoment.media.features.sentences`.
    data
        The split.
    track
        Goes through the videos, e.g. under a progress bar.

    Raises
    ------
    UsageError, MissingFileError, InputError
        If a file is missing, malformed or of another width, or videos or sentences have no vectors.
    """
    annotations = data.read()
    clips = clips_of(annotations, choices.margin_s)
    store = open_features(features, annotations, data_dir=data.data_dir, fps=choices.fps)
    texts = SentenceFile(sentences)
    if texts.n_dimensions != store.n_dimensions:
        raise InputError(
            f"found vectors of {texts.n_dimensions} dimensions, expected {store.n_dimensions} as in {store.name}",
            path=sentences,
        )
    vectors, n_short = pooled_clips(store, clips, track)
    similarities = Similarities.of_vectors(unit(texts.vectors(clips.queries())), vectors)
    source = (
        ("clips", f"mean of at most 12 frames of {store.name}, margin {choices.margin_s:g} s"),
        ("texts", texts.name),
    )
    return rank_clips(similarities, clips, data, annotations, choices, source=source, n_short=n_short)


def rank_clips(
    similarities: Similarities,
    clips: Clips,
    data: AnnotationSource,
    annotations: Annotations,
    choices: RetrievalChoices,
    *,
    source: tuple[tuple[str, str], ...],
    n_short: int = 0,
) -> RankedClips:
    """Rank the clips of a split by similarities, beside the blind floor.

    Parameters
    ----------
    similarities, clips
        Of the sentences and the clips.
    data, annotations
        The split.
    source
        What the similarities come from, as (label, words).
    n_short
        Number of clips shorter than a frame.
    """
    result = _evaluate(similarities, clips.clip_of, clips.video_id, choices)
    asked = choices.fit_split
    train = data.beside("train") if asked is None else data.training(annotations, asked)
    floor = None if train is None else _evaluate(by_lengths(train, clips), clips.clip_of, clips.video_id, choices)
    if choices.save is not None:
        matrix = np.concatenate([block for _, block in similarities.blocks()])
        write_similarities(choices.save, matrix, clips.clip_of, clips.video_id)
    of_data = ("data", f"{annotations.dataset}/{annotations.split}#{annotations.sha256[:8]}")
    pool = (clips.n_texts, len(clips), len(np.unique(clips.video_id)))
    return RankedClips(result, floor, pool, (of_data, *source), choices, clips, n_short)


def _evaluate(
    similarities: Similarities, clip_of: Ints, video_id: Strings, choices: RetrievalChoices
) -> RetrievalResult:
    return evaluate_retrieval(
        similarities,
        clip_of,
        video_id,
        choices.measures,
        tie=choices.tie,
        resamples=choices.resamples,
        rng=stream(choices.seed, "retrieval"),
    )
