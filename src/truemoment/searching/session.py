"""A search from what a user names to moments: indexes are made where there are none, models loaded once."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.base.boundary.distribution import Engine
from truemoment.base.errors import InputError, MissingFileError, MissingPackageError, UsageError
from truemoment.media.video import identity_of, is_video
from truemoment.media.video.frames import opened
from truemoment.searching.building import IndexReport, Progress, build_index, ignore_progress
from truemoment.searching.codes import LEAST_PIECES, has_codes, make_codes
from truemoment.searching.encoder_options import EncoderOptions, index_of
from truemoment.searching.extraction import Loader
from truemoment.searching.fusion import DEPTH
from truemoment.searching.index import Index, indexed_videos
from truemoment.searching.layout import Settings, is_index
from truemoment.searching.listing import BEST, MomentListing
from truemoment.searching.manifest import write_manifest
from truemoment.searching.median_scores import median_scores
from truemoment.searching.narrowing import ALL_VIDEOS, Narrowing
from truemoment.searching.query_picture import QueryPicture
from truemoment.searching.request import RankingOptions
from truemoment.searching.searcher import IndexSearcher
from truemoment.searching.selecting import find_listed
from truemoment.searching.shards import searched_by_ray
from truemoment.searching.speech import Speech, index_speech, write_passages
from truemoment.searching.stopping import RetrievedMoments
from truemoment.searching.unknown_words import unknown_words
from truemoment.searching.unrelated import Unrelated, unrelated_of, with_matches, write_unrelated
from truemoment.searching.unrelated_pictures import unrelated_pictures_of, write_unrelated_pictures
from truemoment.searching.writing import IndexWriter, list_videos

if TYPE_CHECKING:
    from truemoment.media.video.encoders import Encoder

Note = Callable[[str], None]
"""Receives a line for people."""


def index_videos(
    videos: Iterable[Path],
    out: Path,
    options: EncoderOptions,
    *,
    engine: Engine = "local",
    workers: int | None = None,
    partial: bool = False,
    codes: bool = False,
    subtitles: bool = False,
    on_progress: Progress = ignore_progress,
    on_status: Note = lambda _: None,
) -> tuple[Settings, IndexReport]:
    """Make or extend an index of videos.

    Parameters
    ----------
    videos
        Files, and folders of them.
    out
        Folder of the index.
    options
        Model and frame rate.
    engine, workers, partial, on_progress
        As for :func:`~truemoment.searching.building.build_index`.
    codes
        Whether codes of the pieces are made (:mod:`truemoment.searching.codes`); a large index has them anyway.
    subtitles
        Whether what is said is read from files beside the videos (:mod:`truemoment.searching.sidecars`).
    on_status
        Receives what is being done.
    """
    files = list_videos(videos)
    if not out.absolute().parent.is_dir():
        raise UsageError(f"-o {out}: cannot be made, {out.parent} is no folder")
    on_status("loading the model")
    settings = options.settings(out)
    on_status("")
    with IndexWriter(out, settings) as writer:
        report = build_index(
            writer,
            files.videos,
            Loader(settings.model, options.device),
            engine=engine,
            workers=workers,
            partial=partial,
            on_progress=on_progress,
        )
        report.others = tuple(files.others)
        if subtitles:
            on_status("reading subtitles")
            report.speech = index_speech(out, (*report.plan.unchanged, *report.plan.to_read))
            report.others = tuple(file for file in files.others if file.resolve() not in report.speech.paths)
            on_status("")
        _make_for_all(out, options, codes=codes, on_status=on_status)
    return settings, report


def _make_for_all(out: Path, options: EncoderOptions, *, codes: bool, on_status: Note) -> None:
    """Make what an index has beside its videos: unrelated sentences; if it is large, a manifest and codes."""
    indexed = indexed_videos(out)
    write_manifest(out, {name: about for name, (_, about) in indexed.items()})
    if not indexed:
        return
    index = Index(out)
    write_passages(index)
    on_status("comparing with unrelated sentences and pictures")
    write_unrelated(index, options.encoder_of(index))
    write_unrelated_pictures(index)
    on_status("")
    if codes or has_codes(index) or sum(map(index.n_pieces, index)) >= LEAST_PIECES:
        on_status("coding the pieces")
        make_codes(index)
        on_status("")


class SearchTarget:
    """What is searched: an index, a video that gets one, or features.

    Parameters
    ----------
    path
        The index, video or features.
    options
        Model and frame rate.
    index_path
        Where the index of a video goes; None: beside it.
    partial
        Whether the readable part of a damaged video is indexed.
    note
        Receives lines on an index that is made.
    make_index
        Indexes a video into a folder; None for :func:`index_videos`.
    """

    def __init__(
        self,
        path: Path,
        options: EncoderOptions,
        index_path: Path | None = None,
        *,
        partial: bool = False,
        note: Note = lambda _: None,
        make_index: Callable[[Path, Path], IndexReport] | None = None,
    ) -> None:
        self.path, self.options, self.index_path, self.partial = path, options, index_path, partial
        self.note = note
        self._make_index = make_index or self._index

    def _index(self, video: Path, out: Path) -> IndexReport:
        return index_videos([video], out, self.options, partial=self.partial)[1]

    def open_index(self) -> tuple[Index, list[str] | None]:
        """Open the index; return it with the videos to search, None for all."""
        where = str(self.path)
        if is_index(self.path):
            if self.index_path is not None or self.partial:
                raise UsageError(f"{where} is an index, expected --index and --partial with a video")
            index = Index(self.path)
            if self.options.fps not in (None, index.settings.fps):
                raise UsageError(f"--fps: {where} was made with {index.settings.fps:g}, got {self.options.fps:g}")
            return index, None
        if self.path.is_dir():
            inside = "videos in it" if any(f.is_file() and is_video(f) for f in self.path.iterdir()) else "it"
            words = ["truemoment", "index", where, "-o", str(index_of(self.path))]
            raise UsageError(f"{where}: is no index; index {inside} first: {shlex.join(words)}")
        if not self.path.exists():
            raise MissingFileError(f"{where}: no such video or index")
        return self._of_video()

    def _of_video(self) -> tuple[Index, list[str]]:
        """Open the index of a video, which is made if it does not exist."""
        out = self.index_path or index_of(self.path)
        identity = identity_of(self.path)
        if is_index(out) and self.options.fps is None:
            mine = [name for name, (_, about) in indexed_videos(out).items() if about.identity == identity]
            if mine:
                return Index(out), mine
        # A file that is no video is refused before a model is loaded; a missing package, by the model.
        with suppress(MissingPackageError), opened(self.path):
            pass
        self.note(f"indexing {self.path} once, into {out}")
        report = self._make_index(self.path, out)
        for why in report.failed.values():
            raise InputError(why)
        for note in report.notes.values():
            self.note(note)
        index = Index(out)
        return index, [name for name in index if index.about(name).identity == identity]

    def store(self) -> Index | None:
        """Open the index, or return None for a file of features."""
        if is_index(self.path) or (not self.path.is_dir() and is_video(self.path)):
            return self.open_index()[0]
        return None

    def files(self) -> list[Path]:
        """Return what a search reads: a file, or an index and the videos that it was made of."""
        index = self.path if is_index(self.path) else self.index_path or index_of(self.path)
        if not is_index(index):
            return [self.path]
        videos = [Path(about.path) for _, about in indexed_videos(index).values()]
        return [self.path, index, *videos, *(index.absolute().parent / path.name for path in videos)]


class SearchSession:
    """Searches of one index: its model and its first stage are loaded once.

    Parameters
    ----------
    searcher
        Searches the index.
    options
        Model and device.
    note
        Receives a line on a sentence that is too long for the model.
    ranking
        How moments are ranked; None for the ranking of the searcher, which has more moments where lists are fused.
    speech
        What is said in the index; None where that is not searched.
    """

    def __init__(
        self,
        searcher: IndexSearcher,
        options: EncoderOptions,
        note: Note = lambda _: None,
        ranking: RankingOptions | None = None,
        speech: Speech | None = None,
    ) -> None:
        self.searcher, self.options, self._note = searcher, options, note
        self.ranking, self.speech = ranking or searcher.ranking, speech
        self._encoder: Encoder | None = None

    @property
    def index(self) -> Index:
        """The index."""
        return self.searcher.index

    @property
    def encoder(self) -> Encoder:
        """The model of the index."""
        if self._encoder is None:
            self._encoder = self.options.encoder_of(self.index)
        return self._encoder

    @functools.cached_property
    def unrelated(self) -> Unrelated | None:
        """How unrelated sentences fit the index."""
        return unrelated_of(self.index, self.encoder)

    @property
    def n_videos(self) -> int:
        """Number of videos that are searched."""
        return len(self.searcher.videos)

    def load(self) -> None:
        """Load the model and the first stage, so that no search waits for them."""
        if self.speech is None or self.ranking.seen:
            _ = self.unrelated
            self.searcher.load()

    def find(self, sentence: str, listing: MomentListing = BEST) -> RetrievedMoments:
        """Return the moments that a sentence describes, as a listing asks for them, or in which its words are said."""
        if self.speech is None:
            return self._find_seen(sentence, listing)
        ranking, videos = self.ranking, self.searcher.videos
        seen = self._find_seen(sentence, listing) if ranking.seen else RetrievedMoments([], len(videos), "all")
        return replace(seen, moments=self.speech.answer(sentence, ranking, videos, seen.moments))

    def _find_seen(self, sentence: str, listing: MomentListing) -> RetrievedMoments:
        sentences, avoided = [sentence, *listing.later], list(listing.avoided)
        if line := cut_short(self.encoder, [*sentences, *avoided]):
            self._note(line)
        answer = find_listed(
            self.searcher,
            self.unrelated,
            listing,
            self.encoder.sentences(sentences),
            self.encoder.sentences(avoided) if avoided else None,
        )
        return replace(answer, unknown=unknown_words(self.encoder, " ".join(sentences)))

    def find_like(self, picture: QueryPicture) -> RetrievedMoments:
        """Return the moments that are like a picture, best first."""
        vector = picture.embed(self.encoder)
        medians = median_scores(self.index, vector)
        answer = self.searcher.find_like(vector[None], medians)[0]
        unrelated = unrelated_pictures_of(self.index)
        return replace(answer, moments=with_matches(self.index, unrelated, vector, medians[0], answer.moments))


@contextmanager
def open_session(
    target: SearchTarget,
    ranking: RankingOptions,
    engine: Engine = "local",
    workers: int | None = None,
    narrowing: Narrowing = ALL_VIDEOS,
) -> Iterator[SearchSession]:
    """Open the videos to search, for this process or for so many workers of a cluster, None for all its cores."""
    if engine == "local" and workers is not None:
        raise UsageError("--workers: goes with --engine ray")
    if ranking.said and target.path.is_file() and not is_index(target.index_path or index_of(target.path)):
        words = shlex.join(["truemoment", "index", str(target.path), "--subtitles"])
        raise UsageError(f"{target.path}: has no index with speech; make one: {words}")
    index, videos = target.open_index()
    videos = narrowing.videos(index, videos, target.note)
    speech = Speech(index) if ranking.said else None
    listed = replace(ranking, top=max(ranking.top, DEPTH)) if ranking.is_fused else ranking
    if engine == "local":
        yield SearchSession(IndexSearcher(index, listed, videos), target.options, target.note, ranking, speech)
        return
    with searched_by_ray(index, listed, videos, workers) as searcher:
        yield SearchSession(searcher, target.options, target.note, ranking, speech)


def cut_short(encoder: Encoder, sentences: list[str]) -> str:
    """Return a note on sentences that are too long for the model to read whole; "" if there are none."""
    rows_cut: Callable[[list[str]], list[int]] | None = getattr(encoder, "cut_short", None)
    cut = rows_cut(sentences) if rows_cut else []
    if not cut:
        return ""
    many = "the sentence is" if len(sentences) == 1 else f"{len(cut):,} sentences are"
    return f"{many} longer than {encoder.name} reads: only the start counts"
