"""What lies in the folder of a collection.

::

    OUT/collection.json        settings, engine and its fingerprint; schema truemoment/collection/1
    OUT/films/NAME-HASH/       a film, complete or not there at all
        about.json             name, group, identities of both files, durations
        alignment.json         where each part of the described track lies in the film
        bands.npy              bands of the film's sound, by which the same film is recognised
        speech.json            where the narrator speaks
        words.jsonl            recognised words, in film time
        sentences.jsonl        every sentence, kept or not, with its verdicts
        report.json            counts
    OUT/parts/NAME-HASH/       the same of a film that is not done yet: finished stages
    OUT/annotations.jsonl      kept sentences of all films, with split
    OUT/mad/MAD_{split}.json   the same in MAD's form
    OUT/splits.jsonl           split, group and number of sentences of each film
    OUT/card.md, card.json     what the data is, where it comes from, and what may not be passed on
    OUT/discarded.json         counts by rule and film
    OUT/review.json            what people found who reviewed a sample

The hash of a film's folder is made of the identities of its files and of the settings. A film whose folder exists is
not done again; a stage whose file exists is not done again.
"""

from __future__ import annotations

import hashlib
import json
from typing import Literal

import msgspec

from truemoment.base.boundary.files import read_json, read_json_lines
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError, MissingFileError
from truemoment.base.version import __version__ as version
from truemoment.collection.names import SOMEONE as SOMEONE  # noqa: PLC0414 - the word that replaces names in files
from truemoment.collection.narration import Mode
from truemoment.data import split_file
from truemoment.searching.layout import folder_name

SCHEMA = "truemoment/collection/1"
COLLECTION, SPLITS = split_file.COLLECTION, split_file.SPLITS
FILMS, PARTS = "films", "parts"
ABOUT, ALIGNMENT, SPEECH = "about.json", "alignment.json", "speech.json"
WORDS, SENTENCES, REPORT = "words.jsonl", "sentences.jsonl", "report.json"
ANNOTATIONS, DISCARDED = "annotations.jsonl", "discarded.json"
CARD_TEXT, CARD, MAD, REVIEW = "card.md", "card.json", "mad", "review.json"

Method = Literal["robust", "paper"]
Hear = Literal["narrator", "track"]
Naming = Literal["keep", "someone", "both"]
TranscriptTimes = Literal["track", "film"]


class CollectSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a collection, from films to sentences.

    Parameters
    ----------
    method
        ``paper`` keeps only films whose two sounds pass the paper's check; ``robust`` maps a film piece by piece.
    dialogue
        The rules that decide which sentences are the narrator's.
    hear
        ``narrator``: engines hear the track with everything silenced but narrator runs; ``track``: all of it.
    pause_s, overlap_s
        Pause that ends a sentence; seconds that a sentence may share with a cue of speech.
    names
        Whether sentences keep names, have SOMEONE in their place, or both are stored (and names kept).
    cast
        Names of the cast.
    keep_all
        Whether sentences are kept where nothing separates description from dialogue.
    fit_subtitles
        Whether doubted subtitles are moved to where they fit the voice activity.
    subtitle_fps
        Frames per second of MicroDVD subtitles.
    language
        Language that is spoken.
    transcript_times
        Whether the times of a transcript are of the track or of the film.
    delay_s
        Delay of a track that is the narrator alone; None for other tracks.
    skip_opening_s, skip_credits_s
        Seconds at both ends of the film whose sentences are left out.
    rate_hz, windows, window_s, search_s, within_s
        The paper's check: sampling rate, number and length of windows, largest delay, largest distance.
    rates
        Speeds that are tried; empty for the usual ones.
    """

    method: Method = "robust"
    dialogue: Mode = "both"
    hear: Hear = "narrator"
    pause_s: float = 0.8
    overlap_s: float = 0.0
    names: Naming = "both"
    cast: tuple[str, ...] = ()
    keep_all: bool = False
    fit_subtitles: bool = False
    subtitle_fps: float | None = None
    language: str = "en"
    transcript_times: TranscriptTimes = "track"
    delay_s: float | None = None
    skip_opening_s: float = 0.0
    skip_credits_s: float = 0.0
    rate_hz: int = 16_000
    windows: int = 20
    window_s: float = 30.0
    search_s: float = 30.0
    within_s: float = 0.1
    rates: tuple[str, ...] = ()


class HearingEngine(msgspec.Struct, frozen=True):
    """What heard the words: its name, the hash of its files, and what added punctuation ("" for rules)."""

    name: str
    fingerprint: str
    punctuation: str = ""


class Collection(msgspec.Struct, frozen=True, kw_only=True):
    """The file collection.json."""

    settings: CollectSettings
    engine: HearingEngine
    schema: str = SCHEMA
    truemoment: str = version


class FilmAbout(msgspec.Struct, frozen=True, kw_only=True):
    """The film before any work: identities, not paths.

    Parameters
    ----------
    name, group
        Its name in the collection, and the group that lies in one split ("" for none).
    film, described
        Identity of each file, and the chosen streams ("" for the only one).
    subtitles, transcript
        SHA-256 of the file; "" for none.
    duration_s
        Duration of the film.
    """

    name: str
    group: str
    film: str
    film_stream: str
    described: str
    described_stream: str
    subtitles: str
    transcript: str
    duration_s: float


class StoredVerdict(msgspec.Struct, frozen=True):
    """A verdict of a rule, see :class:`~truemoment.collection.narration.RuleVerdict`."""

    rule: str
    keep: bool | None
    value: float | None
    evidence: str


class StoredSentence(msgspec.Struct, frozen=True, kw_only=True):
    """A line of sentences.jsonl.

    Parameters
    ----------
    id
        ``FILM#K``, K in order of time among all sentences of the film.
    sentence, sentence_someone, heard
        As written; with SOMEONE for names; as the engine wrote it.
    word_s, film_s
        Start of the first word and end of the last; start and end by narrator runs.
    kept, dropped_by
        Whether it is in the dataset, and the rule that dropped it ("" for none).
    verdicts
        Verdicts of all rules.
    voice
        Speaker, where the transcript names one.
    """

    id: str
    sentence: str
    sentence_someone: str
    heard: str
    word_s: tuple[float, float]
    film_s: tuple[float, float]
    kept: bool
    dropped_by: str
    verdicts: tuple[StoredVerdict, ...]
    voice: str | None = None


class FilmReport(msgspec.Struct, frozen=True, kw_only=True):
    """The file report.json: counts and notes of a film.

    Parameters
    ----------
    name, group, duration_s
        The film.
    verdict, why
        Verdict of its alignment.
    paper_passed
        Whether the paper's check passed; None if it was not computed.
    n_pieces, rate, delay_s, error_s
        Number of pieces, rate and delay of the longest, largest error.
    n_words, n_sentences, n_kept
        Words heard, sentences made of them, sentences kept.
    dropped
        Sentences by what dropped them.
    words_lost
        Words in parts of the track that belong to no part of the film.
    invented
        Words and segments dropped as invented text.
    deciding
        The rules that decided.
    narrator_s
        Seconds of narrator runs; None where they are unknown.
    words_per_sentence, two_verbs
        Mean words of a kept sentence, and kept sentences with two finite verbs or more.
    names
        Names found, with counts.
    notes
        What a person should know.
    discarded
        Why the film gives no sentences; "" if it does.
    """

    name: str
    group: str
    duration_s: float
    verdict: str
    why: str
    paper_passed: bool | None
    n_pieces: int
    rate: float | None
    delay_s: float | None
    error_s: float | None
    n_words: int = 0
    n_sentences: int = 0
    n_kept: int = 0
    dropped: dict[str, int] = {}
    words_lost: int = 0
    invented: int = 0
    deciding: tuple[str, ...] = ()
    narrator_s: float | None = None
    words_per_sentence: float | None = None
    two_verbs: int = 0
    names: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    discarded: str = ""


class FoundFilm(msgspec.Struct, frozen=True):
    """A finished film: its folder and its report."""

    folder: OwnPath
    report: FilmReport

    @classmethod
    def at(cls, folder: OwnPath) -> FoundFilm:
        """Read the film of a folder."""
        return cls(folder, read_json(folder / REPORT, FilmReport))

    def sentences(self) -> list[StoredSentence]:
        """Return its sentences, kept or not."""
        return [sentence for _, sentence in read_json_lines(self.folder / SENTENCES, StoredSentence)]

    def about(self) -> FilmAbout:
        """Return what was known before any work."""
        return read_json(self.folder / ABOUT, FilmAbout)


def film_folder(about: FilmAbout, collection: Collection) -> str:
    """Name the folder of a film: what a person recognises, and a hash of its files and the settings."""
    request = msgspec.to_builtins([about, collection.settings, collection.engine])
    digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:12]
    return f"{folder_name(about.name).rpartition('-')[0]}-{digest}"


def read_collection(out: AnyPath) -> Collection:
    """Read collection.json."""
    file = OwnPath.of(out) / COLLECTION
    if not file.is_file():
        raise MissingFileError(f"{out}: is no collection, it has no {COLLECTION}")
    collection = read_json(file, Collection)
    if collection.schema != SCHEMA:
        raise InputError(f"got {collection.schema!r}, expected {SCHEMA!r}", path=file, field="schema")
    return collection


def films_in(out: AnyPath) -> list[FoundFilm]:
    """Return the finished films of a collection, by name."""
    films_folder = OwnPath.of(out) / FILMS
    films = [FoundFilm.at(folder) for folder in films_folder.folders()] if films_folder.is_dir() else []
    return sorted(films, key=lambda film: film.report.name)
