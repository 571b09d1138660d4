"""What is said in the videos of an index: the words of their subtitles or transcripts, and passages ranked for words.

A passage is a sentence: it ends at punctuation or at a pause, and after 30 s or 60 words at most
(:mod:`truemoment.media.speech.sentences`).

::

    INDEX/videos/VIDEO-HASH/said.npz    about (the file of the words), the words as written, start_ms and end_ms (W,),
                                        and first_words (P,): the first word of each passage
    INDEX/said.npz                      the passages of all videos (truemoment.searching.passages), with their times

A video keeps its words until its file of words changes. The second file is made of the first ones when all are
complete; a search reads the words of a passage from the first and refuses those of another file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.arrays import pack_json, read_npz, refusing_damage, unpack_json, write_npz
from truemoment.base.boundary.files import sha256_of
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Ints
from truemoment.media.speech.sentences import sentences_of
from truemoment.media.speech.transcripts import UnknownTranscriptError
from truemoment.report.words import counted
from truemoment.searching.fusion import without_near
from truemoment.searching.index import Index, indexed_videos
from truemoment.searching.layout import SAID, VIDEOS, VideoRecord, folder_name
from truemoment.searching.passages import Passages, best_first
from truemoment.searching.retrieval import FoundMoment
from truemoment.searching.sidecars import SidecarSpeech, read_sidecar, sidecars_of
from truemoment.searching.spoken_words import Quote, QuotedWord, spoken_words
from truemoment.searching.writing import VideoFile

RENEW = "truemoment index VIDEO... -o INDEX --subtitles makes it again"


class SpokenVideo(msgspec.Struct, frozen=True, kw_only=True):
    """A video with words.

    Parameters
    ----------
    video_id, identity
        Its name, and the identity of its file.
    file, sha256
        Name of the file of its words, and the hash of its bytes.
    notes
        What a person should know about the file.
    n_passages
        Number of its passages.
    """

    video_id: str
    identity: str
    file: str
    sha256: str
    n_passages: int
    notes: tuple[str, ...] = ()


@dataclass
class SpeechReport:
    """What indexing of speech came to.

    Parameters
    ----------
    files, paths
        Name of the file of the words of each video, and the files beside the videos.
    n_words
        Words of the videos whose file was read now.
    notes, failed
        Notes on files, and why files could not be used, each with its path.
    without
        Videos without a usable file.
    """

    files: dict[str, str] = field(default_factory=dict)
    paths: set[Path] = field(default_factory=set)
    n_words: int = 0
    notes: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Return what programs read of it."""
        return {name: value for name, value in vars(self).items() if name != "paths"}

    @property
    def line(self) -> str:
        """Return what it came to, in words."""
        words = f"{counted(len(self.files), 'video')} with speech, {counted(self.n_words, 'word')} read now"
        return f"{words}, {len(self.without):,} without" if self.without else words


def index_speech(path: Path, videos: Iterable[VideoFile]) -> SpeechReport:
    """Read the words beside videos of an index; a file that was read before and has not changed is skipped."""
    report, indexed = SpeechReport(), indexed_videos(path)
    known = [video for video in videos if video.video_id in indexed]
    beside = sidecars_of(video.path for video in known)
    report.paths.update(*beside.values())
    for video in known:
        folder, about = indexed[video.video_id]
        kept = _kept_words(folder, report)
        for file in beside[video.path]:
            try:
                if kept is None or kept.sha256 != sha256_of(file):
                    speech = read_sidecar(file, about.duration_s)
                    kept = _write_words(folder, about, speech)
                    report.n_words += len(speech.words)
                    report.notes += [f"{file}: {note}" for note in speech.notes]
                break
            except UnknownTranscriptError:  # JSON of another kind, such as annotations
                continue
            except InputError as error:
                report.failed.append(str(error))
        if kept is None:
            report.without.append(video.video_id)
        else:
            report.files[video.video_id] = kept.file
    return report


def _kept_words(folder: OwnPath, report: SpeechReport) -> SpokenVideo | None:
    """Return what words a video has; None if it has none. Damaged ones are removed, with a note."""
    try:
        words = read_words(folder)
    except InputError as error:
        report.notes.append(f"{error}; it is removed")
        (folder / SAID).unlink()
        return None
    return None if words is None else words.about


def _write_words(folder: OwnPath, video: VideoRecord, speech: SidecarSpeech) -> SpokenVideo:
    """Write the words of a video, in passages."""
    passages = sentences_of(speech.words)
    words = [word for passage in passages for word in passage]
    times_ms = np.array([(1000 * word.start_s, 1000 * word.end_s) for word in words]).round().astype(np.int32)
    lengths = np.array([len(passage) for passage in passages])
    about = SpokenVideo(
        video_id=video.video_id,
        identity=video.identity,
        file=speech.file,
        sha256=speech.sha256,
        n_passages=len(passages),
        notes=speech.notes,
    )
    write_npz(
        folder / SAID,
        about=pack_json(about),
        words=pack_json(["\N{NO-BREAK SPACE}".join(word.text.split()) for word in words]),
        start_ms=times_ms[:, 0],
        end_ms=np.minimum(times_ms[:, 1], round(1000 * video.duration_s)),
        first_words=(np.cumsum(lengths) - lengths).astype(np.int32),
    )
    return about


@dataclass(frozen=True, eq=False)
class VideoWords:
    """The words of a video.

    Parameters
    ----------
    about
        The video, and the file of the words.
    words
        As they are written.
    start_ms, end_ms : (W,)
        Time of each word.
    first_words : (P,)
        The first word of each passage.
    """

    about: SpokenVideo
    words: list[str]
    start_ms: Ints
    end_ms: Ints
    first_words: Ints

    def passage(self, number: int) -> slice:
        """Return which words a passage has."""
        end = self.first_words[number + 1] if number + 1 < len(self.first_words) else len(self.words)
        return slice(int(self.first_words[number]), int(end))


def read_words(folder: OwnPath) -> VideoWords | None:
    """Read the words of a video; None if it has none."""
    file = folder / SAID
    if not file.is_file():
        return None
    with refusing_damage(file, "is not what indexing writes", msgspec.DecodeError, hint=RENEW):
        about, words, *columns = read_npz(file, "about", "words", "start_ms", "end_ms", "first_words")
        read = VideoWords(unpack_json(about, SpokenVideo), unpack_json(words, list[str]), *map(_whole_numbers, columns))
        n_words, first = len(read.words), read.first_words
        _expect(len(read.start_ms) == len(read.end_ms) == n_words and len(first) == read.about.n_passages > 0)
        _expect(first[0] == 0 and (np.diff(first) > 0).all() and first[-1] < n_words)
        _expect((read.start_ms >= 0).all() and (read.start_ms <= read.end_ms).all())
    return read


def _about(file: OwnPath) -> SpokenVideo:
    with refusing_damage(file, "is not what indexing writes", msgspec.DecodeError, hint=RENEW):
        return unpack_json(read_npz(file, "about")[0], SpokenVideo)


def write_passages(index: Index) -> None:
    """Write the passages of all videos of an index that have words, unless the index has them."""
    folders = [index.folder / VIDEOS / folder_name(name) for name in index]
    folders = [folder for folder in folders if (folder / SAID).is_file()]
    file, columns = index.folder / SAID, []
    if not folders:
        file.unlink(missing_ok=True)
        return
    videos = [_about(folder / SAID) for folder in folders]
    with contextlib.suppress(InputError):
        if has_speech(index) and Speech(index).videos == videos:
            return

    def passages() -> Iterator[list[str]]:
        for folder in folders:
            spoken = read_words(folder)
            assert spoken is not None  # noqa: S101 - its file is there
            start_ms = spoken.start_ms[spoken.first_words]
            end_ms = np.maximum(np.maximum.reduceat(spoken.end_ms, spoken.first_words), start_ms + 1)
            columns.append((start_ms, end_ms))
            for number in range(spoken.about.n_passages):
                yield spoken_words(" ".join(spoken.words[spoken.passage(number)]))

    made = Passages.of(passages())
    start_ms, end_ms = (np.concatenate(column) for column in zip(*columns, strict=True))
    write_npz(
        file,
        videos=pack_json(videos),
        vocabulary=pack_json(made.vocabulary),
        begins=made.begins,
        numbers=made.numbers,
        counts=made.counts,
        lengths=made.lengths,
        start_ms=start_ms,
        end_ms=end_ms,
    )


class Speech:
    """What is said in the videos of an index, to be searched.

    Parameters
    ----------
    index
        The index.

    Raises
    ------
    UsageError
        If it has no speech.
    """

    def __init__(self, index: Index) -> None:
        self.index, file = index, index.folder / SAID
        if not has_speech(index):
            raise UsageError(
                f"{index.path}: has no speech; add that of the files of subtitles beside the videos: "
                "truemoment index VIDEO... -o INDEX --subtitles"
            )
        names = ("videos", "vocabulary", "begins", "numbers", "counts", "lengths", "start_ms", "end_ms")
        with refusing_damage(file, "is not what indexing writes", msgspec.DecodeError, hint=RENEW):
            videos, vocabulary, *arrays = read_npz(file, *names)
            self.videos = unpack_json(videos, list[SpokenVideo])
            begins, numbers, counts, lengths, start_ms, end_ms = map(_whole_numbers, arrays)
            self.passages = Passages(unpack_json(vocabulary, list[str]), begins, numbers, counts, lengths)
            self._start_ms, self._end_ms = start_ms, end_ms
            n_of_video = np.array([video.n_passages for video in self.videos], dtype=np.int64)
            _expect(len(lengths) == len(start_ms) == len(end_ms) == n_of_video.sum() and (n_of_video > 0).all())
            _expect(len(begins) == len(self.passages.vocabulary) + 1 and len(numbers) == len(counts) == begins[-1])
            _expect(begins[0] == 0 and (np.diff(begins) >= 0).all() and (counts > 0).all() and (lengths >= 0).all())
            _expect(int(numbers.min(initial=0)) >= 0 and int(numbers.max(initial=-1)) < len(lengths))
            _expect((start_ms >= 0).all() and (start_ms <= end_ms).all())
        # A video that has changed since has other words, or none.
        identities = {name: index.about(name).identity for name in index}
        self._known = [
            video.video_id if identities.get(video.video_id) == video.identity else None for video in self.videos
        ]
        self._video_of = np.repeat(np.arange(len(self.videos)), n_of_video)
        self._first = np.cumsum(n_of_video) - n_of_video

    def find(
        self, query: str, top: int, apart_s: float = 0.0, videos: Iterable[str] | None = None
    ) -> list[FoundMoment]:
        """Return the passages that contain words of a query, best first; of equal ones by video and time.

        Parameters
        ----------
        query
            Its words, in any order; other characters are ignored.
        top
            Number of passages, at most.
        apart_s
            Seconds between two passages of a video at least, else the worse one goes.
        videos
            Which videos; None for all.
        """
        words = spoken_words(query)
        scores = self.passages.scores(words)
        searched = set(self.index if videos is None else videos)
        is_searched = np.array([name in searched for name in self._known])
        if not is_searched.all():
            scores[~is_searched[self._video_of]] = 0
        many = 4 * top
        while True:
            numbers = best_first(scores, many).tolist()
            moments = without_near((self._moment(number, float(scores[number])) for number in numbers), apart_s, top)
            if len(moments) == top or len(numbers) < many:
                return moments
            many *= 4

    def quoted(self, moments: Iterable[FoundMoment], query: str) -> list[FoundMoment]:
        """Return moments with the text of their passages, and their words that a query has."""
        words = frozenset(spoken_words(query))
        return [
            moment if moment.quote is None else moment._replace(quote=self._quote(moment.quote.passage, words))
            for moment in moments
        ]

    def _moment(self, number: int, score: float) -> FoundMoment:
        name = self.videos[self._video_of[number]].video_id
        start_s, end_s = int(self._start_ms[number]) / 1000, int(self._end_ms[number]) / 1000
        return FoundMoment(name, start_s, end_s, score, why="said", quote=Quote(number))

    def _quote(self, number: int, query: frozenset[str]) -> Quote:
        """Return a passage, and the words in it that a query has."""
        at = self._video_of[number]
        folder = self.index.folder / VIDEOS / folder_name(self.videos[at].video_id)
        spoken = read_words(folder)
        if spoken is None or spoken.about != self.videos[at]:
            raise InputError(f"has other words than {SAID} of the index", path=folder / SAID, hint=RENEW)
        passage = spoken.passage(number - int(self._first[at]))
        words, start_ms, end_ms = spoken.words[passage], spoken.start_ms[passage], spoken.end_ms[passage]
        quoted = (
            QuotedWord(word, start / 1000, end / 1000)
            for word, start, end in zip(words, start_ms.tolist(), end_ms.tolist(), strict=True)
            if not query.isdisjoint(spoken_words(word))
        )
        return Quote(number, " ".join(words), tuple(quoted))


def has_speech(index: Index) -> bool:
    """Whether an index has passages of speech."""
    return (index.folder / SAID).is_file()


def _whole_numbers(array: npt.NDArray[Any]) -> Ints:
    _expect(array.ndim == 1 and array.dtype.kind == "i")
    return array


def _expect(condition: object) -> None:
    if not condition:
        raise ValueError("numbers do not fit together")
