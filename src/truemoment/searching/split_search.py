"""Zero-shot search for every query of a split: predictions of an index, or of features and sentence vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.base.intervals import best_kept
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines.proposals import WindowedGrid, read_proposals
from truemoment.data.formats import write_predictions
from truemoment.evaluation.grounders import Grounder
from truemoment.media.features import FeatureStore
from truemoment.media.features.alignment import ends_elsewhere
from truemoment.media.features.sentences import SentenceFile, SentenceStore
from truemoment.searching.fusion import fuse
from truemoment.searching.index import Index
from truemoment.searching.opening import open_features
from truemoment.searching.request import SplitSearch, SplitTarget
from truemoment.searching.retrieval import EncodedSentences, FoundMoment, IndexSearch
from truemoment.searching.session import Note, SearchTarget, cut_short
from truemoment.searching.several_models import IndexModel
from truemoment.searching.zero_shot import SHOWN, ZeroShot


@dataclass(frozen=True, eq=False)
class SearchPrediction:
    """Predictions of zero-shot search for a split.

    Parameters
    ----------
    name
        Name of the encoder.
    annotations
        The split.
    made_by
        How the predictions were made.
    n_predicted
        Number of queries.
    out
        File of predictions.
    """

    name: str
    annotations: Annotations
    made_by: dict[str, Any]
    n_predicted: int
    out: Path


def search_split(
    request: SplitSearch, target: SearchTarget, *, track: Callable[[Any], Iterable[Any]] = list
) -> SearchPrediction:
    """Search for every query of a split, and write the predictions.

    Parameters
    ----------
    request
        The queries, and how they are searched for.
    target
        The index, video or features to search.
    track
        Wraps the videos that are searched, e.g. in a progress bar.
    """
    opened = open_split(request, target)
    methods = [_method(split, request, track) for split in opened]
    annotations, encoder = opened[0].annotations, " + ".join(split.encoder for split in opened)
    predictions = [method.ground(annotations.queries, request.top) for method in methods]
    fused = predictions[0] if len(opened) == 1 else fuse_predictions(predictions, annotations, request, encoder)
    schemes = dict.fromkeys(split.index.settings.proposals for split in opened if split.index is not None)
    made_by = {
        "method": f"zero-shot {encoder}",
        "features": " + ".join(split.store.name for split in opened),
        "sentences": " + ".join(split.sentences.name for split in opened),
        "proposals": request.proposals or " and ".join(schemes) or "windowed-grid",
        "nms": request.nms,
        "discount_s": request.discount_s,
        "top": request.top,
    }
    write_predictions(request.out, fused, annotations, made_by=made_by)
    return SearchPrediction(encoder, annotations, made_by, len(fused), request.out)


def _method(opened: OpenedSplit, request: SplitSearch, track: Callable[[Any], Iterable[Any]]) -> Grounder:
    """Return what searches by one model."""
    index, sentences = opened.index, opened.sentences
    if index is not None and request.proposals is None:
        return IndexSearch(index, sentences, request.nms, request.discount_s, track=track)
    if request.discount_s:
        raise UsageError("--discount: goes with an index and its own moments, not with features or --proposals")
    scheme = _scheme(index, request.proposals)
    return ZeroShot(opened.store, sentences, scheme, request.nms, opened.encoder, track=track)


def fuse_predictions(
    predictions: Sequence[Predictions], annotations: Annotations, request: SplitSearch, name: str
) -> Predictions:
    """Return one list of those of several models for each query (:mod:`truemoment.searching.fusion`), after NMS."""
    videos = annotations.queries.video_id.tolist()
    lists: list[dict[str, list[FoundMoment]]] = [{} for _ in videos]
    for number, by_model in enumerate(predictions):
        columns = (column.tolist() for column in (by_model.start_s, by_model.end_s, by_model.score))
        moments = list(zip(*columns, strict=True))
        for of_query, video, (low, high) in zip(lists, videos, pairwise(by_model.offsets.tolist()), strict=True):
            of_query[str(number)] = [FoundMoment(video, *moment) for moment in moments[low:high]]
    answers: dict[str, Sequence[Sequence[float]]] = {}
    for query_id, of_query in zip(annotations.queries.query_id, lists, strict=True):
        fused = np.array([moment[1:4] for moment in fuse(of_query)]).reshape(-1, 3)
        start_s, end_s, score = fused.T
        answers[query_id] = fused[best_kept(score, start_s, end_s, threshold=request.nms, top=request.top)].tolist()
    return Predictions.from_lists(answers, name=name)


@dataclass(frozen=True, eq=False)
class OpenedSplit:
    """What the queries of a split are searched in: an index or features, and vectors of the sentences."""

    index: Index | None
    annotations: Annotations
    store: FeatureStore
    sentences: SentenceStore

    @property
    def encoder(self) -> str:
        """Name of the model of images and sentences."""
        return "CLIP" if self.index is None else self.index.settings.encoder


def open_split(request: SplitTarget, target: SearchTarget) -> list[OpenedSplit]:
    """Open what is searched, by each model of an index, and read the queries; refuse videos without rows."""
    models, source = target.stores(), request.source
    if not models:
        _refuse_no_features(target.path, request.sentences)
    elif len(models) > 1 and request.sentences is not None:
        raise UsageError(f"--sentences: are vectors of one model, name it: --model {models[0].name}")
    annotations, opened = source.read(), list[OpenedSplit]()
    searched: list[IndexModel | None] = [*models] or [None]
    for model in searched:
        store = _store(request, model, annotations, source.data_dir)
        sentences = _sentences(target, model, annotations, request.sentences)
        _note_other_ends(store, annotations, refused=model is None, note=target.note)
        opened.append(OpenedSplit(None if model is None else model.index, annotations, store, sentences))
    return opened


def _scheme(index: Index | None, proposals: str | None) -> Any:  # noqa: ANN401 - any proposals
    if proposals:
        return read_proposals(proposals)
    return WindowedGrid() if index is None else index.proposals


def _store(
    request: SplitTarget, model: IndexModel | None, annotations: Annotations, data_dir: Path | None
) -> FeatureStore:
    """Return the index, or open the features; refuse queries of videos without rows."""
    if model is None:
        scheme = _scheme(None, request.proposals)
        rate = getattr(scheme, "fps", None) if request.fps is None else request.fps
        return open_features(request.target, annotations, data_dir=data_dir, fps=rate)
    _refuse_missing(model, annotations)
    return model.index


def _sentences(
    target: SearchTarget, model: IndexModel | None, annotations: Annotations, file: Path | None
) -> SentenceStore:
    """Return the vectors of the sentences: a file's, or those of the index's model."""
    if file is not None or model is None:
        return SentenceFile(file or Path())
    if line := cut_short(model.encoder, annotations.queries.sentence.tolist()):
        target.note(line)
    return EncodedSentences(model.encoder)


def _refuse_no_features(path: Path, sentences: Path | None) -> None:
    """Refuse a missing file, and features without vectors of the sentences."""
    if not path.exists():
        raise MissingFileError(f"{path}: no such index, video or features")
    if sentences is None:
        what = "is no index (truemoment index makes one), and as features contains" if path.is_dir() else "contains"
        raise UsageError(f"{path}: {what} frames, and no sentence vectors; give --sentences FILE.h5")


def _refuse_missing(model: IndexModel, annotations: Annotations) -> None:
    """Refuse queries of videos that are not in the index."""
    index, searched = model.index, model.videos
    videos = list(dict.fromkeys(annotations.queries.video_id))
    missing = [video for video in videos if video not in index or (searched is not None and video not in searched)]
    if missing:
        some = ", ".join(map(repr, missing[:SHOWN])) + (", ..." if len(missing) > SHOWN else "")
        alike = " and ".join(map(repr, index.names.alike(missing[0])[:3]))
        raise InputError(
            f"{len(missing):,} of {len(videos):,} videos have no frame vectors: {some}",
            path=index.path,
            hint=f"{alike} could be meant" if alike else None,
        )


def _note_other_ends(store: FeatureStore, annotations: Annotations, *, refused: bool, note: Note) -> None:
    """Note videos whose rows end far from the video's end; refuse features where most do."""
    queries = annotations.queries
    duration_s = dict(zip(queries.video_id, queries.duration_s.tolist(), strict=True))
    ends_s = {
        video_id: ends_elsewhere(store, video_id, seconds)
        for video_id, seconds in duration_s.items()
        if video_id in store
    }
    off = {video_id: end_s for video_id, end_s in ends_s.items() if end_s is not None}
    if not off:
        return
    if refused and len(off) > len(ends_s) / 2:
        problem = _ends_in_words(off, duration_s, len(ends_s))
        raise InputError(problem, path=store.name, hint=f"are there {store.fps:g} rows a second? see --fps")
    early = {video_id: end_s for video_id, end_s in off.items() if end_s < duration_s[video_id]}
    late = {video_id: end_s for video_id, end_s in off.items() if video_id not in early}
    effects = ((early, "no moment after the last row is found"), (late, "moments after its end may be found"))
    for some, effect in effects:
        if some:
            note(f"{_ends_in_words(some, duration_s, len(ends_s))}; {effect}")


def _ends_in_words(ends_s: dict[str, float], duration_s: dict[str, float], of_all: int) -> str:
    first, end_s = next(iter(ends_s.items()))
    many = f"{len(ends_s):,} of {of_all:,} videos: {first!r} has rows up to {end_s:g} s"
    return f"rows end elsewhere than the video, in {many}, it lasts {duration_s[first]:g} s"
