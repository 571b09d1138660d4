"""Clips of a split, ranked by a trained model: ``truemoment retrieve --model RUN``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from truemoment.data.datasets.source import AnnotationSource
from truemoment.learning.training.retriever import load_retriever
from truemoment.searching.clips.ranked_clips import RankedClips, RetrievalChoices, rank_clips
from truemoment.searching.clips.ranking import Similarities


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
    retriever = load_retriever(
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
