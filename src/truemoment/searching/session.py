"""A search from what a user names to moments: indexes are made where there are none, models loaded once."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.distribution import Engine
from truemoment.exceptions import InputError, MissingFileError, MissingPackageError, UsageError
from truemoment.searching.building import IndexReport, Progress, build_index, unseen
from truemoment.searching.encoder_options import EncoderOptions, index_of
from truemoment.searching.extraction import Loader
from truemoment.searching.index import Index, found_in
from truemoment.searching.layout import Settings, is_index
from truemoment.searching.retrieval import CANDIDATES, FirstStage, FoundMoment, search_index
from truemoment.searching.writing import IndexWriter, list_videos
from truemoment.text import printable
from truemoment.video import VIDEO_SUFFIXES, identity_of
from truemoment.video.frames import opened

if TYPE_CHECKING:
    from truemoment.video.encoders import Encoder

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
    on_progress: Progress = unseen,
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
    on_status
        Receives what is being done.
    """
    paths = list_videos(videos)
    if not out.absolute().parent.is_dir():
        raise UsageError(f"-o {printable(str(out))}: cannot be made, {printable(str(out.parent))} is no folder")
    on_status("loading the model")
    settings = options.settings(out)
    on_status("")
    with IndexWriter(out, settings) as writer:
        report = build_index(
            writer,
            paths,
            Loader(settings.model, options.device),
            engine=engine,
            workers=workers,
            partial=partial,
            on_progress=on_progress,
        )
    return settings, report


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
        self._note = note
        self._make_index = make_index or self._index

    def _index(self, video: Path, out: Path) -> IndexReport:
        return index_videos([video], out, self.options, partial=self.partial)[1]

    def open(self) -> tuple[Index, list[str] | None]:
        """Open the index; return it with the videos to search, None for all."""
        where = printable(str(self.path))
        if is_index(self.path):
            if self.index_path is not None or self.partial:
                raise UsageError(f"{where} is an index, expected --index and --partial with a video")
            index = Index(self.path)
            if self.options.fps not in (None, index.settings.fps):
                raise UsageError(f"--fps: {where} was made with {index.settings.fps:g}, got {self.options.fps:g}")
            return index, None
        if self.path.is_dir():
            inside = "videos in it" if any(of.suffix.lower() in VIDEO_SUFFIXES for of in self.path.iterdir()) else "it"
            words = ["truemoment", "index", where, "-o", printable(str(index_of(self.path)))]
            raise UsageError(f"{where}: is no index; index {inside} first: {shlex.join(words)}")
        if not self.path.exists():
            raise MissingFileError(f"{where}: no such video or index")
        return self._of_video()

    def _of_video(self) -> tuple[Index, list[str]]:
        """Open the index of a video, which is made if it does not exist."""
        out = self.index_path or index_of(self.path)
        identity = identity_of(self.path)
        if is_index(out) and self.options.fps is None:
            mine = [name for name, (_, about) in found_in(out).items() if about.identity == identity]
            if mine:
                return Index(out), mine
        # A file that is no video is refused before a model is loaded; a missing package, by the model.
        with suppress(MissingPackageError), opened(self.path):
            pass
        self._note(f"indexing {printable(str(self.path))} once, into {printable(str(out))}")
        report = self._make_index(self.path, out)
        for why in report.failed.values():
            raise InputError(why)
        for note in report.notes.values():
            self._note(note)
        index = Index(out)
        return index, [name for name in index if index.about(name).identity == identity]

    def store(self) -> Index | None:
        """Open the index, or return None for a file of features."""
        if self.path.suffix.lower() in VIDEO_SUFFIXES or is_index(self.path):
            return self.open()[0]
        return None

    def files(self) -> list[Path]:
        """Return what a search reads: a file, or an index and the videos that it was made of."""
        index = self.path if is_index(self.path) else self.index_path or index_of(self.path)
        if not is_index(index):
            return [self.path]
        videos = [Path(about.path) for _, about in found_in(index).values()]
        return [self.path, index, *videos, *(index.absolute().parent / path.name for path in videos)]


@dataclass(frozen=True)
class RankingOptions:
    """How moments are ranked and selected.

    Parameters
    ----------
    top
        Number of moments.
    apart_s
        Minimum time between two of them, seconds.
    exact
        Whether all videos are scored exactly.
    candidates
        Number of videos that are scored exactly after the first stage; None for the default.
    """

    top: int
    apart_s: float
    exact: bool = False
    candidates: int | None = None

    def __post_init__(self) -> None:
        """Refuse a number of candidates where all videos are scored."""
        if self.exact and self.candidates is not None:
            raise UsageError("got --exact and --candidates, expected one of them")


class SearchSession:
    """Searches of one index: its model and its first stage are loaded once.

    Parameters
    ----------
    index
        The index.
    options
        Model and device.
    ranking
        How moments are ranked.
    videos
        Videos to search; None for all.
    """

    def __init__(
        self, index: Index, options: EncoderOptions, ranking: RankingOptions, videos: list[str] | None = None
    ) -> None:
        self.index, self.options, self.ranking, self.videos = index, options, ranking, videos
        self._encoder: Encoder | None = None
        self._first_stage: FirstStage | None = None

    @property
    def encoder(self) -> Encoder:
        """The model of the index."""
        if self._encoder is None:
            self._encoder = self.options.encoder_of(self.index)
        return self._encoder

    @property
    def n_videos(self) -> int:
        """Number of videos that are searched."""
        return len(self.index if self.videos is None else self.videos)

    @property
    def n_scored(self) -> int:
        """Number of videos that are scored exactly."""
        if self.ranking.exact:
            return self.n_videos
        return min(self.ranking.candidates or CANDIDATES, self.n_videos)

    def load(self) -> None:
        """Load the model and the first stage, so that no search waits for them."""
        _ = self.encoder
        if self.n_scored < self.n_videos:
            self._first_stage = FirstStage(self.index, sorted(self.index if self.videos is None else self.videos))

    def find(self, sentence: str) -> list[FoundMoment]:
        """Return the moments that a sentence describes, best first."""
        many = None if self.ranking.exact else self.ranking.candidates or CANDIDATES
        return search_index(
            self.index,
            self.encoder.sentences([sentence]),
            self.ranking.top,
            apart_s=self.ranking.apart_s,
            candidates=many,
            videos=self.videos,
            first_stage=self._first_stage,
        )[0]


def cut_short(encoder: Encoder, sentences: list[str]) -> str:
    """Return a note on sentences that are too long for the model to read whole; "" if there are none."""
    rows_cut: Callable[[list[str]], list[int]] | None = getattr(encoder, "cut_short", None)
    cut = rows_cut(sentences) if rows_cut else []
    if not cut:
        return ""
    many = "the sentence is" if len(sentences) == 1 else f"{len(cut):,} sentences are"
    return f"{many} longer than {encoder.name} reads: only the start counts"
