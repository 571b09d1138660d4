"""Searches of an index for a page: the model in the background, answers with matches, and the last ones remembered.

An answer has the moments that :func:`~truemoment.searching.retrieval.search_index` finds with the same settings, as
``truemoment search`` does.
"""

from __future__ import annotations

import functools
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.pictures import decode_picture
from truemoment.base.errors import TrueMomentError
from truemoment.media.features.base import Frames
from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.index import Index
from truemoment.searching.layout import ABOUT, MODELS, SAID, SETTINGS, VIDEOS
from truemoment.searching.listing import BEST, MomentListing
from truemoment.searching.median_scores import median_scores
from truemoment.searching.moment_rows import vector_of
from truemoment.searching.narrowing import ALL_VIDEOS, Narrowing
from truemoment.searching.query_picture import QueryPicture
from truemoment.searching.report import notes_on_pictures
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import FoundMoment, Why, checked_vectors, moment_scores
from truemoment.searching.searcher import IndexSearcher
from truemoment.searching.selecting import find_listed
from truemoment.searching.session import cut_short
from truemoment.searching.several_models import IndexModel, answer_of, fuse_answers, ranking_of_lists
from truemoment.searching.speech import Speech
from truemoment.searching.stopping import RetrievedMoments
from truemoment.searching.unknown_words import unknown_words
from truemoment.searching.unrelated import Matching, Unrelated, unrelated_of, with_matches
from truemoment.searching.unrelated_pictures import UnrelatedPictures, unrelated_pictures_of
from truemoment.web.browsing.like import others, score_of
from truemoment.web.browsing.strip import best_by_column

if TYPE_CHECKING:
    from truemoment.media.video.encoders import Encoder

MOST_RECORDS, MOST_VECTORS, MOST_SEARCHERS = 50, 200, 4
"""Answers, vectors of sentences and searchers of selected videos that are remembered."""

EXAMPLES = (
    "a person opens a door",
    "a dog runs",
    "people sit at a table",
    "a car at night",
    "a red circle",
    "a blue square moves left",
    "a yellow triangle on grass",
    "a star near the water",
)
"""Sentences that a page offers: the first ones whose words a model knows."""

MOST_EXAMPLES = 4

MOST_SHOWN = 200
"""Moments that a page shows."""

_ONE_AT_A_TIME = threading.Lock()

ModelState = Literal["waiting", "loading", "ready", "failed"]


@dataclass(frozen=True)
class VideoMoment:
    """A moment of a video of the index."""

    video_id: str
    start_s: float
    end_s: float


class PictureVector(NamedTuple):
    """A picture that is searched for: the name of its file, and its vector (D,) by each model."""

    name: str
    vectors: tuple[Frames, ...]


@dataclass(frozen=True)
class SearchRequest:
    """A search: the sentence, moment or picture, and its options.

    Parameters
    ----------
    sentence
        The sentence; "" for more like a moment or a picture.
    like
        The moment that others resemble; None for a sentence.
    picture
        The picture that moments resemble; None for a sentence.
    top, apart_s
        Number of moments, and the minimum time between two of a video.
    videos
        ShownVideos; None for all.
    exact
        Whether all videos are scored, and not only those that a first stage selects.
    listing, narrowing
        Which moments of a sentence are listed, and which of the videos are searched.
    by
        Whether the sentence is searched in what is seen, in what is said, or in both.
    """

    sentence: str
    like: VideoMoment | None = None
    top: int = 12
    apart_s: float = 5.0
    videos: tuple[str, ...] | None = None
    exact: bool = False
    picture: PictureVector | None = None
    listing: MomentListing = BEST
    narrowing: Narrowing = ALL_VIDEOS
    by: Why = "seen"

    @property
    def is_sentence(self) -> bool:
        """Whether a sentence is searched for."""
        return self.like is None and self.picture is None

    def ranking(self, top: int) -> RankingOptions:
        """Return how so many moments are ranked."""
        said, seen = self.by != "seen", self.by != "said"
        return RankingOptions(top=top, apart=self.apart_s, exact=self.exact, said=said, seen=seen)


@dataclass(frozen=True, eq=False)
class SearchAnswer:
    """The answer to a search.

    Parameters
    ----------
    name
        Name of the search, by which a page requests strips.
    moments
        Moments, best first.
    median, best_seen
        Median score of the pieces of the index, and score of the best moment that the first model sees.
    n_scored, n_videos
        ShownVideos that were scored exactly, and that were searched.
    notes
        Notes on the sentence: that it is too long, and which of its words the model does not know.
    result
        The moments as they were found, with what ended the search.
    times_ms
        Milliseconds of the steps.
    """

    name: str
    request: SearchRequest
    vector: Frames
    moments: tuple[FoundMoment, ...]
    median: float
    n_scored: int
    n_videos: int
    notes: tuple[str, ...]
    result: RetrievedMoments
    best_seen: float
    times_ms: dict[str, int]

    @property
    def best(self) -> float:
        """Score of the best moment; the median where there is none."""
        return self.moments[0].score if self.moments else self.median


class SentenceVector(NamedTuple):
    """Vector of a sentence (D,), and a note if the sentence is longer than the model reads."""

    vector: Frames
    cut: str = ""


class Model:
    """The model of an index, loaded in a thread.

    Parameters
    ----------
    index, options
        The index, and the model and device as far as a user names them.
    """

    def __init__(self, index: Index, options: EncoderOptions) -> None:
        self._index, self._options = index, options
        self.state: ModelState = "waiting"
        self.why = ""
        self.examples: list[str] = []
        self._encoder: Encoder | None = None
        self._vectors: OrderedDict[str, SentenceVector] = OrderedDict()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to load."""
        self.state = "loading"
        threading.Thread(target=self._load, name="model", daemon=True).start()

    def _load(self) -> None:
        try:
            with _ONE_AT_A_TIME:  # libraries of models are imported while the first is loaded
                self._encoder = self._options.encoder_of(self._index)
            self.vector("a")  # the first sentence takes longest
        except TrueMomentError as error:
            self.why, self.state = str(error), "failed"
        except Exception as error:  # of a library: videos can be browsed without a model
            self.why, self.state = f"{type(error).__name__}: {error}", "failed"
        else:
            known = (sentence for sentence in EXAMPLES if not unknown_words(self._encoder, sentence).words)
            self.examples = list(islice(known, MOST_EXAMPLES))
            self.state = "ready"

    @property
    def encoder(self) -> Encoder:
        """The loaded model; callers ask for the state first."""
        assert self._encoder is not None  # noqa: S101
        return self._encoder

    def vector(self, sentence: str) -> SentenceVector:
        """Return the vector of a sentence, with what is noted on the sentence."""
        with self._lock:
            if sentence in self._vectors:
                self._vectors.move_to_end(sentence)
                return self._vectors[sentence]
        encoder = self.encoder
        vector = encoder.sentences([sentence])[0]
        embedded = SentenceVector(vector, cut_short(encoder, [sentence]))
        with self._lock:
            self._vectors[sentence] = embedded
            if len(self._vectors) > MOST_VECTORS:
                self._vectors.popitem(last=False)
        return embedded


class ModelSearches:
    """Searches of an index by one model.

    Parameters
    ----------
    of_index
        The model of the index.
    model
        The model, loaded in a thread.
    """

    def __init__(self, of_index: IndexModel, model: Model) -> None:
        self.of_index, self.index, self.model = of_index, of_index.index, model
        self._searchers: OrderedDict[tuple[tuple[str, ...], bool], IndexSearcher] = OrderedDict()

    def find(self, request: SearchRequest, videos: tuple[str, ...], ranking: RankingOptions) -> RetrievedMoments:
        """Return the moments of a sentence in some videos."""
        listing, sentences = request.listing, [request.sentence, *request.listing.later]
        vectors = np.stack([self.model.vector(sentence).vector for sentence in sentences])
        avoided = [self.model.vector(sentence).vector for sentence in listing.avoided]
        searcher = self.searcher(videos, exact=request.exact, ranking=ranking)
        answer = find_listed(searcher, self.unrelated, listing, vectors, np.stack(avoided) if avoided else None)
        return replace(answer, unknown=unknown_words(self.model.encoder, " ".join(sentences)))

    def find_like(
        self, request: SearchRequest, vector: Frames, videos: tuple[str, ...], ranking: RankingOptions
    ) -> RetrievedMoments:
        """Return the moments that are like a picture or moment."""
        median, like = median_scores(self.index, vector)[0], request.like
        searcher = self.searcher(videos, exact=request.exact, ranking=ranking)
        answers: list[RetrievedMoments] = []

        def find(top: int) -> list[FoundMoment]:
            answers.append(searcher.find_like(checked_vectors(self.index, vector), [median], top)[0])
            return list(answers[-1].moments)

        if like is None:
            moments = find(ranking.top)
        else:
            moments = others(find, (like.video_id, like.start_s, like.end_s), ranking.top)
        moments = with_matches(self.index, self.unrelated_pictures, vector, median, moments)
        return replace(answers[-1], moments=moments)

    def searcher(self, videos: tuple[str, ...], *, exact: bool, ranking: RankingOptions) -> IndexSearcher:
        """Return the searcher of some videos, which only the thread that searches asks for."""
        key = videos, exact
        if key not in self._searchers:
            self._searchers[key] = IndexSearcher(self.index, ranking, self.of_index.searched(videos))
            if len(self._searchers) > MOST_SEARCHERS:
                self._searchers.popitem(last=False)
        self._searchers.move_to_end(key)
        self._searchers[key].ranking = ranking
        return self._searchers[key]

    @functools.cached_property
    def unrelated(self) -> Unrelated | None:
        """How unrelated sentences fit the index."""
        return unrelated_of(self.index, self.model.encoder)

    @functools.cached_property
    def unrelated_pictures(self) -> UnrelatedPictures | None:
        """How frames of the index fit its other videos."""
        return unrelated_pictures_of(self.index)


class Searches:
    """Searches of one index.

    Parameters
    ----------
    index
        The index.
    by_model
        Searches by each of its models that search, the first one first; strips and scores are its.
    notes
        Notes on the models.
    """

    def __init__(self, index: Index, by_model: Sequence[ModelSearches], notes: Sequence[str] = ()) -> None:
        self.index, self.by_model, self.notes = index, by_model, notes
        self.first = by_model[0]
        self.signature = signature_of(self.index.path)
        self._records: OrderedDict[str, SearchAnswer] = OrderedDict()
        self._count = 0
        self._lock = threading.Lock()

    def find(self, request: SearchRequest) -> SearchAnswer:
        """Return the answer to a request; the models must be ready for a sentence."""
        began = time.perf_counter()
        like, picture, listing = request.like, request.picture, request.listing
        line, cut = "", ""
        searches = list(self.by_model) if like is None else [self.first]
        if picture is not None:
            vectors = picture.vectors
        elif like is not None:
            vectors = (vector_of(self.first.index, like.video_id, like.start_s, like.end_s),)
        else:
            if len(searches) > 1 and (line := listing.line_on_models(self.first.of_index.name)):
                searches = [self.first]
            embedded = [
                each.model.vector(sentence)
                for each in searches
                for sentence in (request.sentence, *listing.later, *listing.avoided)
            ]
            vectors, cut = (embedded[0].vector,), next((sentence.cut for sentence in embedded if sentence.cut), "")
        encoded = time.perf_counter()
        narrowed = request.narrowing.videos(self.index, request.videos)
        names = tuple(sorted(self.index if narrowed is None else narrowed))
        median = median_scores(self.first.index, vectors[0])[0]
        ranking = request.ranking(request.top)
        if request.by == "said":
            searches = []
        lists = ranking_of_lists(ranking, len(searches))
        if request.is_sentence:
            seen = {each.of_index.name: each.find(request, names, lists) for each in searches}
            result = answer_of(seen, None if request.by == "seen" else self.speech, request.sentence, ranking, names)
        else:
            seen = {
                each.of_index.name: each.find_like(request, vector, names, lists)
                for each, vector in zip(searches, vectors, strict=True)
            }
            result = fuse_answers(seen, ranking)
        moments, best = result.moments, next((answer.moments[:1] for answer in seen.values()), [])
        most = f"the best {MOST_SHOWN} of {len(moments):,} moments are shown" if len(moments) > MOST_SHOWN else ""
        known = result.lines_on_words(listing.title(request.sentence))
        scored = time.perf_counter()
        times_ms = {
            "encode": round(1000 * (encoded - began)),
            "score": round(1000 * (scored - encoded)),
            "all": round(1000 * (scored - began)),
        }
        return self._keep(
            SearchAnswer(
                self._name(),
                request,
                vectors[0],
                tuple(moments[:MOST_SHOWN]),
                median,
                result.n_videos if seen else 0,
                len(names),
                ()
                if request.by == "said"
                else (
                    *filter(None, [*self.notes, line, cut, *known, most]),
                    *(() if picture is None else notes_on_pictures(self.first.index)),
                ),
                result,
                best[0].score if best else median,
                times_ms,
            )
        )

    @functools.cached_property
    def speech(self) -> Speech:
        """What is said in the index."""
        return Speech(self.index)

    def _compared(self, request: SearchRequest) -> Matching | None:
        """Return what the moments of a request are compared with."""
        return self.first.unrelated if request.is_sentence else self.first.unrelated_pictures

    def embed(self, name: str, data: bytes) -> PictureVector:
        """Return the content of a picture file as a query; the models must be ready."""
        path = Path(name)
        picture = QueryPicture(path, decode_picture(data, path))
        return PictureVector(name, tuple(picture.embed(each.model.encoder) for each in self.by_model))

    def record(self, name: str) -> SearchAnswer | None:
        """Return one of the last answers; None if it is forgotten."""
        with self._lock:
            return self._records.get(name)

    def strip(self, answer: SearchAnswer, video_id: str) -> Frames:
        """Return the best score at each column of a video, for the sentence of an answer."""
        score = moment_scores(self.first.index, video_id, answer.vector, [answer.median])[0]
        first, end = self.first.index.spans(video_id)
        return best_by_column(score, first, end, len(self.first.index.rows(video_id)))

    def score(self, moment: VideoMoment, vector: Frames, request: SearchRequest) -> tuple[FoundMoment, bool]:
        """Return any moment of a video with its score and match for a request, and whether it contains a row."""
        median, times = median_scores(self.first.index, vector)[0], (moment.video_id, moment.start_s, moment.end_s)
        score, is_whole = score_of(self.first.index, times, vector, median)
        compared = self._compared(request)
        (scored,) = with_matches(self.first.index, compared, vector, median, [FoundMoment(*times, score)])
        return scored, is_whole

    def _name(self) -> str:
        with self._lock:
            self._count += 1
            return f"s{self._count}"

    def _keep(self, answer: SearchAnswer) -> SearchAnswer:
        with self._lock:
            self._records[answer.name] = answer
            if len(self._records) > MOST_RECORDS:
                self._records.popitem(last=False)
        return answer


def signature_of(path: Path) -> tuple[tuple[str, int], ...]:
    """Return which files an index consists of and when each was written, to notice that it changes on disk."""
    folder = OwnPath(path)
    times = []
    models = ((folder / MODELS).glob(f"[!.]*/{name}") for name in (SETTINGS, f"{VIDEOS}/[!.]*/{ABOUT}"))
    for file in itertools.chain((folder / SETTINGS, folder / SAID), (folder / VIDEOS).glob(f"[!.]*/{ABOUT}"), *models):
        try:
            times.append(("/".join(file.parts), file.stat().st_mtime_ns))
        except OSError:
            times.append(("/".join(file.parts), 0))
    return tuple(sorted(times))


def half_precision(strip: Frames) -> bytes:
    """Return a strip as float16, little endian."""
    return np.ascontiguousarray(strip, dtype="<f2").tobytes()
