"""What ``truemoment search TARGET --dataset ...`` does: answer every query of a split, for evaluate."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truemoment.cli.options import STANDARD_OUTPUT, told_path, write_json
from truemoment.datasets.source import AnnotationSource
from truemoment.exceptions import InputError, MissingFileError, UsageError
from truemoment.text import printable

if TYPE_CHECKING:
    from truemoment.features import FeatureStore
    from truemoment.features.sentences import SentenceStore
    from truemoment.records import Annotations
    from truemoment.searching.index import Index
    from truemoment.video.encoders import Encoder


def answer_queries(
    target: Path,
    index: Index | None,
    load: Callable[[Index], Encoder],
    data: AnnotationSource,
    *,
    fps: float | None,
    sentences: Path | None,
    proposals: str | None,
    nms: float,
    top: int,
    out: Path | None,
    json_path: Path | None,
    quiet: bool,
) -> None:
    """Write what zero-shot search answers to the queries of a split.

    Parameters
    ----------
    target, index
        What is searched; None for features, which are opened here.
    load
        Loads the model of an index, for its sentences.
    data
        Whose queries.
    fps
        Rows a second, of features that state none.
    sentences
        File of their vectors; by default the index's model makes them.
    proposals
        Candidate moments; by default those of the index, or MAD's.
    nms, top
        As for :class:`~truemoment.searching.ZeroShot`.
    out
        Where the predictions go.
    json_path, quiet
        As for all commands.
    """
    from truemoment.features.opening import open_features
    from truemoment.features.sentences import SentenceFile
    from truemoment.io import write_predictions
    from truemoment.proposals import WindowedGrid, read_proposals
    from truemoment.searching import ZeroShot
    from truemoment.searching.retrieval import EncodedSentences, IndexSearch
    from truemoment.version import __version__

    if out is None:
        raise UsageError("where do the answers go? give -o FILE.jsonl")
    if out.suffix.lower() not in (".jsonl", ".json"):
        raise UsageError(f"-o: got {told_path(out)}, expected a name that ends in .jsonl")
    if index is None:
        _refuse_no_features(target, sentences)
    reference = data.read()
    scheme = read_proposals(proposals) if proposals else index.proposals if index is not None else WindowedGrid()
    store: FeatureStore
    if index is None:
        rate = getattr(scheme, "fps", None) if fps is None else fps
        store = open_features(target, reference, data_dir=data.data_dir, fps=rate)
    else:
        store = index
        _refuse_missing(index, reference)
    of_queries: SentenceStore
    if sentences is not None:
        of_queries = SentenceFile(sentences)
    elif index is not None:
        encoder = load(index)
        tell_of_long_ones(encoder, reference.queries.sentence.tolist())
        of_queries = EncodedSentences(encoder)
    _tell_of_other_ends(store, reference, refused=index is None, quiet=quiet)
    name = "CLIP" if index is None else index.settings.encoder
    show = not quiet and sys.stderr.isatty()
    if index is not None and proposals is None:  # what a person who searches is told
        found = IndexSearch(index, of_queries, nms, follow=_follow_names if show else iter)
        answers = found.ground(reference.queries, top)
    else:
        method = ZeroShot(store, of_queries, scheme, nms, name, follow=_follow if show else _as_they_are)
        answers = method.ground(reference.queries, top)
    made_by = {
        "method": f"zero-shot {name}",
        "features": store.name,
        "sentences": of_queries.name,
        "proposals": proposals or (index.settings.proposals if index is not None else "windowed-grid"),
        "nms": nms,
        "top": top,
    }
    write_predictions(out, answers, reference, made_by=made_by)
    if json_path is not None:
        document: dict[str, Any] = {
            "schema": "truemoment/search-run/1",
            "truemoment": __version__,
            "dataset": reference.dataset,
            "split": reference.split,
            "annotations_sha256": reference.sha256,
            "made_by": made_by,
            "seed": None,
            "answered": len(answers),
            "predictions": told_path(out),
        }
        write_json(json_path, document)
    if quiet:
        return
    to_error = json_path == STANDARD_OUTPUT
    asked = printable(f"{len(answers):,} queries of {reference.dataset}/{reference.split}")
    click.echo(f"{name}: {asked} answered in {told_path(out)}, up to {top} moments each", err=to_error)
    click.echo(f"measure them:\n  {_evaluate(out, data)}", err=to_error)


def tell_of_long_ones(encoder: Encoder, sentences: Sequence[str]) -> None:
    """Say which sentences the model sees the start of only."""
    cut_short: Callable[[Sequence[str]], list[int]] | None = getattr(encoder, "cut_short", None)
    cut = cut_short(sentences) if cut_short else []
    if cut:
        many = "the sentence is" if len(sentences) == 1 else f"{len(cut):,} sentences are"
        click.echo(f"note: {many} longer than {encoder.name} reads: only the start counts", err=True)


def _refuse_no_features(target: Path, sentences: Path | None) -> None:
    """Refuse what is not there, and features without vectors of the sentences."""
    if not target.exists():
        raise MissingFileError(f"{told_path(target)}: no such index, video or features")
    if sentences is None:
        what = "is no index (truemoment index makes one), and as features holds" if target.is_dir() else "holds"
        raise UsageError(f"{told_path(target)}: {what} frames, and of sentences nothing; give --sentences FILE.h5")


def _refuse_missing(index: Index, reference: Annotations) -> None:
    """Refuse queries of videos that are not in the index."""
    from truemoment.searching.zero_shot import SHOWN

    videos = list(dict.fromkeys(reference.queries.video_id))
    missing = [video_id for video_id in videos if video_id not in index]
    if missing:
        some = ", ".join(map(repr, missing[:SHOWN])) + (", ..." if len(missing) > SHOWN else "")
        alike = " and ".join(map(repr, index.names.alike(missing[0])[:3]))
        raise InputError(
            f"{len(missing):,} of {len(videos):,} videos have no frame vectors: {some}",
            path=index.path,
            hint=f"{alike} could be meant" if alike else None,
        )


def _tell_of_other_ends(store: FeatureStore, reference: Annotations, *, refused: bool, quiet: bool) -> None:
    """Say which videos' rows end far from the video's end, and what it means for what is found."""
    from truemoment.features.alignment import ends_elsewhere

    queries = reference.queries
    duration_s = dict(zip(queries.video_id, queries.duration_s.tolist(), strict=True))
    ends_s = {of: ends_elsewhere(store, of, seconds) for of, seconds in duration_s.items() if of in store}
    off = {video_id: end_s for video_id, end_s in ends_s.items() if end_s is not None}
    if not off:
        return
    if refused and len(off) > len(ends_s) / 2:
        told = _told_ends(off, duration_s, len(ends_s))
        raise InputError(told, path=store.name, hint=f"are there {store.fps:g} rows a second? see --fps")
    if quiet:
        return
    early = {of: end_s for of, end_s in off.items() if end_s < duration_s[of]}
    late = {of: end_s for of, end_s in off.items() if of not in early}
    for some, so in ((early, "no moment behind the last row is found"), (late, "moments behind its end may be found")):
        if some:
            click.echo(f"note: {_told_ends(some, duration_s, len(ends_s))}; {so}", err=True)


def _told_ends(ends_s: dict[str, float], duration_s: dict[str, float], of_all: int) -> str:
    """Say of how many videos the rows end elsewhere, and where those of the first do."""
    first, end_s = next(iter(ends_s.items()))
    many = f"{len(ends_s):,} of {of_all:,} videos: {first!r} has rows up to {end_s:g} s"
    return f"rows end elsewhere than the video, in {many}, it lasts {duration_s[first]:g} s"


def _evaluate(out: Path, data: AnnotationSource) -> str:
    """Return the command that measures what was written."""
    words = ["truemoment", "evaluate", told_path(out), *data.words()]
    words += ["--protocol", "mad-clip,nms_threshold=none"] if data.dataset == "mad" else []
    return shlex.join(words)


def _follow(videos: list[tuple[str, float]]) -> Iterable[tuple[str, float]]:
    from tqdm import tqdm

    return tqdm(videos, desc="searching", unit="video", leave=False)


def _follow_names(video_ids: list[str]) -> Iterable[str]:
    from tqdm import tqdm

    return tqdm(video_ids, desc="searching", unit="video", leave=False)


def _as_they_are(videos: list[tuple[str, float]]) -> Iterable[tuple[str, float]]:
    return videos
