"""Zero-shot search for every query of a split: predictions of an index, or of features and sentence vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.base.records import Annotations
from truemoment.baselines.proposals import WindowedGrid, read_proposals
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.formats import write_predictions
from truemoment.media.features import FeatureStore
from truemoment.media.features.alignment import ends_elsewhere
from truemoment.media.features.sentences import SentenceFile, SentenceStore
from truemoment.searching.index import Index
from truemoment.searching.opening import open_features
from truemoment.searching.retrieval import EncodedSentences, IndexSearch
from truemoment.searching.session import Note, SearchTarget, cut_short
from truemoment.searching.zero_shot import SHOWN, ZeroShot


@dataclass(frozen=True)
class SplitSearch:
    """How every query of a split is searched for.

    Parameters
    ----------
    sentences
        File of sentence vectors; None for those of the index's model.
    proposals
        Candidate moments; None for those of the index, or MAD's.
    fps
        Rows per second of features that state none.
    nms, top
        As for :class:`~truemoment.searching.ZeroShot`.
    half_s
        Discount for short moments of an index (:mod:`truemoment.searching.discount`); 0 for mean pooling alone (MAD).
    """

    sentences: Path | None = None
    proposals: str | None = None
    fps: float | None = None
    nms: float = 0.3
    top: int = 100
    half_s: float = 0.0


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
    target: SearchTarget,
    source: AnnotationSource,
    search: SplitSearch,
    out: Path,
    *,
    note: Note = lambda _: None,
    track: Callable[[Any], Iterable[Any]] = list,
) -> SearchPrediction:
    """Search for every query of a split, and write the predictions.

    Parameters
    ----------
    target
        The index, video or features to search.
    source
        The split.
    search
        How it is searched.
    out
        File of predictions.
    note
        Receives a line on videos whose rows end elsewhere, and on sentences that are too long.
    track
        Wraps the videos that are searched, e.g. in a progress bar.
    """
    opened = open_split(target, source, search, note=note)
    index, annotations, store, sentences = opened.index, opened.annotations, opened.store, opened.sentences
    if index is not None and search.proposals is None:
        found = IndexSearch(index, sentences, search.nms, search.half_s, track=track)
        predictions = found.ground(annotations.queries, search.top)
    elif search.half_s:
        raise UsageError("--discount: goes with an index and its own moments, not with features or --proposals")
    else:
        method = ZeroShot(store, sentences, _scheme(index, search), search.nms, opened.encoder, track=track)
        predictions = method.ground(annotations.queries, search.top)
    made_by = {
        "method": f"zero-shot {opened.encoder}",
        "features": store.name,
        "sentences": sentences.name,
        "proposals": search.proposals or (index.settings.proposals if index is not None else "windowed-grid"),
        "nms": search.nms,
        "discount_s": search.half_s,
        "top": search.top,
    }
    write_predictions(out, predictions, annotations, made_by=made_by)
    return SearchPrediction(opened.encoder, annotations, made_by, len(predictions), out)


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


def open_split(target: SearchTarget, source: AnnotationSource, search: SplitSearch, *, note: Note) -> OpenedSplit:
    """Open what is searched and read the queries; refuse videos without rows. Parameters: :func:`search_split`."""
    index = target.store()
    if index is None:
        _refuse_no_features(target.path, search.sentences)
    annotations = source.read()
    store = _store(target.path, index, annotations, search, source.data_dir)
    sentences = _sentences(target, index, annotations, search, note)
    _note_other_ends(store, annotations, refused=index is None, note=note)
    return OpenedSplit(index, annotations, store, sentences)


def _scheme(index: Index | None, search: SplitSearch) -> Any:  # noqa: ANN401 - any proposals
    if search.proposals:
        return read_proposals(search.proposals)
    return WindowedGrid() if index is None else index.proposals


def _store(
    path: Path, index: Index | None, annotations: Annotations, search: SplitSearch, data_dir: Path | None
) -> FeatureStore:
    """Return the index, or open the features; refuse queries of videos without rows."""
    scheme = _scheme(index, search)
    if index is None:
        rate = getattr(scheme, "fps", None) if search.fps is None else search.fps
        return open_features(path, annotations, data_dir=data_dir, fps=rate)
    _refuse_missing(index, annotations)
    return index


def _sentences(
    target: SearchTarget, index: Index | None, annotations: Annotations, search: SplitSearch, note: Note
) -> SentenceStore:
    """Return the vectors of the sentences: a file's, or those of the index's model."""
    if search.sentences is not None or index is None:
        return SentenceFile(search.sentences or Path())
    encoder = target.options.encoder_of(index)
    if line := cut_short(encoder, annotations.queries.sentence.tolist()):
        note(line)
    return EncodedSentences(encoder)


def _refuse_no_features(path: Path, sentences: Path | None) -> None:
    """Refuse a missing file, and features without vectors of the sentences."""
    if not path.exists():
        raise MissingFileError(f"{path}: no such index, video or features")
    if sentences is None:
        what = "is no index (truemoment index makes one), and as features contains" if path.is_dir() else "contains"
        raise UsageError(f"{path}: {what} frames, and no sentence vectors; give --sentences FILE.h5")


def _refuse_missing(index: Index, annotations: Annotations) -> None:
    """Refuse queries of videos that are not in the index."""
    videos = list(dict.fromkeys(annotations.queries.video_id))
    missing = [video_id for video_id in videos if video_id not in index]
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
    ends_s = {of: ends_elsewhere(store, of, seconds) for of, seconds in duration_s.items() if of in store}
    off = {video_id: end_s for video_id, end_s in ends_s.items() if end_s is not None}
    if not off:
        return
    if refused and len(off) > len(ends_s) / 2:
        problem = _ends_in_words(off, duration_s, len(ends_s))
        raise InputError(problem, path=store.name, hint=f"are there {store.fps:g} rows a second? see --fps")
    early = {of: end_s for of, end_s in off.items() if end_s < duration_s[of]}
    late = {of: end_s for of, end_s in off.items() if of not in early}
    effects = ((early, "no moment after the last row is found"), (late, "moments after its end may be found"))
    for some, effect in effects:
        if some:
            note(f"{_ends_in_words(some, duration_s, len(ends_s))}; {effect}")


def _ends_in_words(ends_s: dict[str, float], duration_s: dict[str, float], of_all: int) -> str:
    first, end_s = next(iter(ends_s.items()))
    many = f"{len(ends_s):,} of {of_all:,} videos: {first!r} has rows up to {end_s:g} s"
    return f"rows end elsewhere than the video, in {many}, it lasts {duration_s[first]:g} s"
