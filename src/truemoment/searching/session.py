"""A search from what a user names to moments: indexes are made where there are none, models loaded once."""

from __future__ import annotations

import contextlib
import functools
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.base.boundary.distribution import Engine
from truemoment.base.errors import InputError, MissingFileError, MissingPackageError, UsageError
from truemoment.media.video import identity_of, is_video
from truemoment.media.video.frames import opened
from truemoment.searching.building import IndexReport
from truemoment.searching.encoder_options import EncoderOptions, index_of
from truemoment.searching.index import Index, indexed_videos
from truemoment.searching.indexing import index_videos
from truemoment.searching.layout import Settings, is_index
from truemoment.searching.listing import BEST, MomentListing
from truemoment.searching.median_scores import median_scores
from truemoment.searching.narrowing import ALL_VIDEOS, Narrowing
from truemoment.searching.query_picture import QueryPicture
from truemoment.searching.request import RankingOptions
from truemoment.searching.searcher import IndexSearcher
from truemoment.searching.selecting import find_listed
from truemoment.searching.several_models import IndexModel, answer_of, fuse_answers, models_of, ranking_of_lists
from truemoment.searching.shards import searched_by_ray
from truemoment.searching.speech import Speech
from truemoment.searching.stopping import RetrievedMoments
from truemoment.searching.unknown_words import unknown_words
from truemoment.searching.unrelated import Unrelated, unrelated_of, with_matches
from truemoment.searching.unrelated_pictures import unrelated_pictures_of

if TYPE_CHECKING:
    from truemoment.media.video.encoders import Encoder

Note = Callable[[str], None]
"""Receives a line for people."""


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
    models
        The models of the index that are searched, as a user names them; none for all.
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
        models: tuple[str, ...] = (),
        partial: bool = False,
        note: Note = lambda _: None,
        make_index: Callable[[Path, Path], IndexReport] | None = None,
    ) -> None:
        self.path, self.options, self.index_path, self.partial = path, options, index_path, partial
        self.models, self.note = models, note
        self._make_index = make_index or self._index

    def _index(self, video: Path, out: Path) -> IndexReport:
        return index_videos([video], out, self.options, partial=self.partial)[1]

    def open_index(self) -> tuple[Index, list[str] | None]:
        """Open the index by its first model; return it with the videos to search, None for all."""
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
        if len(self.models) > 1:
            raise UsageError(
                f"{self.path}: has no index, expected one --model; truemoment index --add-model adds others"
            )
        # A file that is no video is refused before a model is loaded; a missing package, by the model.
        with contextlib.suppress(MissingPackageError), opened(self.path):
            pass
        self.note(f"indexing {self.path} once, into {out}")
        report = self._make_index(self.path, out)
        for why in report.failed.values():
            raise InputError(why)
        for note in report.notes.values():
            self.note(note)
        index = Index(out)
        return index, [name for name in index if index.about(name).identity == identity]

    def stores(self) -> list[IndexModel]:
        """Open the index by each of its models that is searched; nothing for a file of features."""
        if is_index(self.path) or (not self.path.is_dir() and is_video(self.path)):
            return models_of(self.open_index()[0], self.options, self.models, self.note)
        return []

    def files(self) -> list[Path]:
        """Return what a search reads: a file, or an index and the videos that it was made of."""
        index = self.path if is_index(self.path) else self.index_path or index_of(self.path)
        if not is_index(index):
            return [self.path]
        videos = [Path(about.path) for _, about in indexed_videos(index).values()]
        return [self.path, index, *videos, *(index.absolute().parent / path.name for path in videos)]


class ModelSearch:
    """Searches of an index by one model, which is loaded once, as the first stage is.

    Parameters
    ----------
    searcher
        Searches the index.
    model
        The model of the index.
    note
        Receives a line on a sentence that is too long for the model.
    """

    def __init__(self, searcher: IndexSearcher, model: IndexModel, note: Note = lambda _: None) -> None:
        self.searcher, self.model, self._note = searcher, model, note

    @functools.cached_property
    def unrelated(self) -> Unrelated | None:
        """How unrelated sentences fit the index."""
        return unrelated_of(self.model.index, self.model.encoder)

    def load(self) -> None:
        """Load the model and the first stage, so that no search waits for them."""
        _ = self.unrelated
        self.searcher.load()

    def find(self, sentence: str, ranking: RankingOptions, listing: MomentListing = BEST) -> RetrievedMoments:
        """Return the moments that a sentence describes, as a listing asks for them."""
        self.searcher.ranking = ranking
        encoder, sentences, avoided = self.model.encoder, [sentence, *listing.later], list(listing.avoided)
        if line := cut_short(encoder, [*sentences, *avoided]):
            self._note(line)
        answer = find_listed(
            self.searcher,
            self.unrelated,
            listing,
            encoder.sentences(sentences),
            encoder.sentences(avoided) if avoided else None,
        )
        return replace(answer, unknown=unknown_words(encoder, " ".join(sentences)))

    def find_like(self, picture: QueryPicture, ranking: RankingOptions) -> RetrievedMoments:
        """Return the moments that are like a picture, best first."""
        self.searcher.ranking = ranking
        index, vector = self.model.index, picture.embed(self.model.encoder)
        medians = median_scores(index, vector)
        answer = self.searcher.find_like(vector[None], medians)[0]
        unrelated = unrelated_pictures_of(index)
        return replace(answer, moments=with_matches(index, unrelated, vector, medians[0], answer.moments))


@dataclass(frozen=True, eq=False)
class SearchSession:
    """Searches of one index.

    Parameters
    ----------
    index, videos
        The index, and which of its videos are searched.
    searches
        Searches by each of its models that search, the first one first.
    ranking
        How moments are ranked.
    speech
        What is said in the index; None where that is not searched.
    note
        Receives lines for people.
    """

    index: Index
    videos: tuple[str, ...]
    searches: tuple[ModelSearch, ...]
    ranking: RankingOptions
    speech: Speech | None = None
    note: Note = lambda _: None

    @property
    def models(self) -> dict[str, Settings]:
        """Name and settings of each model."""
        return {search.model.name: search.model.index.settings for search in self.searches}

    def load(self) -> None:
        """Load the models and their first stages, so that no search waits for them."""
        if self.speech is None or self.ranking.seen:
            for search in self.searches:
                search.load()

    def find(self, sentence: str, listing: MomentListing = BEST) -> RetrievedMoments:
        """Return the moments that a sentence describes, as a listing asks for them, or in which its words are said."""
        searches = self.searches
        if len(searches) > 1 and (line := listing.line_on_models(searches[0].model.name)):
            self.note(line)
            searches = searches[:1]
        if self.speech is not None and not self.ranking.seen:
            searches = ()
        ranking = ranking_of_lists(self.ranking, len(searches))
        seen = {search.model.name: search.find(sentence, ranking, listing) for search in searches}
        return answer_of(seen, self.speech, sentence, self.ranking, self.videos)

    def find_like(self, picture: QueryPicture) -> RetrievedMoments:
        """Return the moments that are like a picture, best first."""
        ranking = ranking_of_lists(self.ranking, len(self.searches))
        seen = {search.model.name: search.find_like(picture, ranking) for search in self.searches}
        return fuse_answers(seen, self.ranking)


@contextlib.contextmanager
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
    models = models_of(index, target.options, target.models, target.note)
    videos = narrowing.videos(index, videos, target.note)
    speech = Speech(index) if ranking.said else None
    with contextlib.ExitStack() as stack:
        if engine == "local":
            searchers = [IndexSearcher(model.index, ranking, model.searched(videos)) for model in models]
        elif len(models) == 1:
            listed = ranking_of_lists(ranking, 1)
            searchers = [
                stack.enter_context(searched_by_ray(models[0].index, listed, models[0].searched(videos), workers))
            ]
        else:
            raise UsageError(f"--engine {engine}: searches by one model; name it: --model {models[0].name}")
        searches = (ModelSearch(*of_model, target.note) for of_model in zip(searchers, models, strict=True))
        searched = tuple(sorted(index if videos is None else videos))
        yield SearchSession(index, searched, tuple(searches), ranking, speech, target.note)


def cut_short(encoder: Encoder, sentences: list[str]) -> str:
    """Return a note on sentences that are too long for the model to read whole; "" if there are none."""
    rows_cut: Callable[[list[str]], list[int]] | None = getattr(encoder, "cut_short", None)
    cut = rows_cut(sentences) if rows_cut else []
    if not cut:
        return ""
    many = "the sentence is" if len(sentences) == 1 else f"{len(cut):,} sentences are"
    return f"{many} longer than {encoder.name} reads: only the start counts"
