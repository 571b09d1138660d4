"""The stages of a film. Each reads the files of the stages before it and returns the content of its file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from truemoment.base.boundary.documents import json_text
from truemoment.base.boundary.files import read_json, read_json_lines
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError
from truemoment.collection import layout
from truemoment.collection.hearing import hear
from truemoment.collection.layout import CollectSettings, FilmAbout, FilmReport, StoredSentence
from truemoment.collection.names import find_names
from truemoment.collection.narration import Candidate, Evidence, deciding, judge, narrator_of, refuse_without_evidence
from truemoment.collection.same_film import bands_of
from truemoment.collection.sentencing import make_sentences
from truemoment.collection.soundtracks import NarratorRuns, align_film, find_runs
from truemoment.collection.subtitle_fit import fitted
from truemoment.collection.tasks import FilmTask
from truemoment.media.audio.alignment import Alignment, read_alignment
from truemoment.media.audio.recording import Recording, record
from truemoment.media.audio.sources import Source, parse_source
from truemoment.media.speech.base import HeardWord, Recogniser
from truemoment.media.speech.punctuation import Punctuator
from truemoment.media.speech.sentences import count_finite_verbs
from truemoment.media.speech.subtitles import Subtitles, read_subtitles, with_doubts
from truemoment.media.speech.transcripts import Transcript, refuse_past_end


class StoredWord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of words.jsonl, in film time."""

    text: str
    start_s: float
    end_s: float
    probability: float | None = None
    voice: str | None = None
    timed: bool = True


class StoredWords(msgspec.Struct, frozen=True):
    """The words that were heard: words lost because no part of the film has them, and invented text."""

    words: tuple[StoredWord, ...]
    n_lost: int
    n_invented: int
    punctuated: bool


@dataclass
class Film:
    """A film at work: its task, its folder, and what is read only when a stage needs it.

    Parameters
    ----------
    task
        What is to be done.
    about
        What is known before any work.
    folder
        Where its files lie while it is not complete.
    settings
        How sentences are made.
    engine
        What hears words; None where a transcript has them.
    transcript
        Words that another program heard.
    punctuator
        What adds punctuation; None for rules.
    subtitles
        The cues of its file; None without one.
    """

    task: FilmTask
    about: FilmAbout
    folder: OwnPath
    settings: CollectSettings
    engine: Recogniser | None
    transcript: Transcript | None
    punctuator: Punctuator | None
    subtitles: Subtitles | None

    @property
    def film(self) -> Source:
        """File and stream of the film's own sound."""
        return parse_source(self.task.film)

    @property
    def described(self) -> Source:
        """File and stream of the described track."""
        return parse_source(self.task.described)

    @cached_property
    def own_sound(self) -> Recording:
        """The film's own sound."""
        return record(self.film)

    @cached_property
    def track_sound(self) -> Recording:
        """The described track."""
        return record(self.described)

    @cached_property
    def alignment(self) -> Alignment:
        """Where the track lies in the film."""
        return read_alignment(self.folder / layout.ALIGNMENT)

    @cached_property
    def runs(self) -> NarratorRuns:
        """Where the narrator speaks."""
        return read_json(self.folder / layout.SPEECH, NarratorRuns)

    @cached_property
    def cues(self) -> Subtitles | None:
        """The subtitles as they are used, with doubts; None without any."""
        if self.subtitles is None:
            return None
        move, length_s = self.settings.fit_subtitles, self.about.duration_s
        return with_doubts(fitted(self.subtitles, self.runs.voice, length_s, move=move), length_s)

    @cached_property
    def evidence(self) -> Evidence:
        """The evidence that separates description from dialogue."""
        usable = self.cues is not None and not self.cues.doubts
        cues = self.cues.spoken if self.cues is not None and usable else None
        runs = self.runs.spans if self.runs.why == "" else None
        words = [_word(word) for word in self.stored_words.words]
        return Evidence(
            runs=runs,
            cues=cues,
            voice=self.runs.voice,
            narrator=narrator_of(words, runs, cues),
            overlap_s=self.settings.overlap_s,
        )

    @property
    def unused(self) -> list[str]:
        """Unused evidence on description and dialogue, with the reason."""
        runs = [f"narrator runs are not used: {self.runs.why}"] if self.runs.why else []
        doubts = self.cues.doubts if self.cues is not None else ()
        return [*runs, *(f"subtitles are not used: {doubt}" for doubt in doubts)]

    @cached_property
    def stored_words(self) -> StoredWords:
        """The words of the film."""
        return read_json(self.folder / layout.WORDS, StoredWords)

    @property
    def discarded(self) -> str:
        """Why the film gives no sentences; "" if it does."""
        alignment = self.alignment
        if self.settings.method == "paper" and self.settings.delay_s is None:
            passed = alignment.paper is not None and alignment.paper.passed
            return "" if passed else f"the paper's check failed: {alignment.why or alignment.verdict}"
        return "" if alignment.pieces else f"{alignment.verdict}: {alignment.why}"


def align_stage(film: Film) -> bytes:
    """Align the described track with the film."""
    aligned = align_film(film.film, film.described, film.own_sound, film.track_sound, film.settings)
    return json_text(aligned.document()).encode()


def bands_stage(film: Film) -> bytes:
    """Keep the bands of the film's own sound, by which the same film is recognised."""
    return bands_of(film.own_sound)


def speech_stage(film: Film) -> bytes:
    """Find where the narrator speaks."""
    speech = find_runs(
        film.own_sound, film.track_sound, film.alignment, film.settings, has_subtitles=film.subtitles is not None
    )
    return msgspec.json.encode(speech) + b"\n"


def words_stage(film: Film) -> bytes:
    """Hear the narrator, or take the words of a transcript; in film time."""
    words, n_lost, n_invented = _words(film)
    punctuated = film.transcript.punctuates if film.transcript else bool(film.engine and film.engine.punctuates)
    if film.punctuator is not None and not punctuated:
        words, punctuated = film.punctuator.punctuate(words), True
    stored = StoredWords(tuple(StoredWord(*_rounded(word)) for word in words), n_lost, n_invented, punctuated)
    return msgspec.json.encode(stored) + b"\n"


def _words(film: Film) -> tuple[list[HeardWord], int, int]:
    """Return words in film time, the number that lie in no part of the film, and the number of invented ones."""
    if film.transcript is None:
        if film.engine is None:
            raise InputError("has no words: no recogniser and no transcript", path=film.film.path)
        runs = film.runs.spans if film.settings.hear == "narrator" and film.runs.why == "" else None
        transcript = hear(film.engine, film.track_sound, film.alignment, runs)
        return transcript.words, 0, transcript.n_invented
    path = film.task.transcript or film.film.path
    if film.settings.transcript_times == "film":
        refuse_past_end(film.transcript.words, film.about.duration_s, path)
        return list(film.transcript.words), 0, 0
    refuse_past_end(film.transcript.words, film.alignment.track.duration_s, path)
    starts = film.alignment.to_film([word.start_s for word in film.transcript.words])
    ends = film.alignment.to_film([word.end_s for word in film.transcript.words])
    moved = [
        word._replace(start_s=start, end_s=end)
        for word, start, end in zip(film.transcript.words, starts.tolist(), ends.tolist(), strict=True)
        if start <= end  # not where one of them lies in no piece
    ]
    return moved, len(film.transcript.words) - len(moved), 0


def sentences_stage(film: Film) -> bytes:
    """Make sentences, and judge each of them."""
    path = film.film.path
    settings = film.settings
    refuse_without_evidence(film.evidence, settings.dialogue, keep_all=settings.keep_all, unused=film.unused, path=path)
    words = [_word(word) for word in film.stored_words.words]
    sentences = make_sentences(
        film.about.name, words, film.evidence, film.alignment, film.settings, punctuated=film.stored_words.punctuated
    )
    encoder = msgspec.json.Encoder()
    return b"".join(encoder.encode(sentence) + b"\n" for sentence in sentences.stored)


def report_stage(film: Film) -> bytes:
    """Count the sentences and words of the film."""
    return msgspec.json.format(msgspec.json.encode(_report(film))) + b"\n"


def _report(film: Film) -> FilmReport:
    alignment, about = film.alignment, film.about
    longest = max(alignment.pieces, key=lambda piece: piece.track_s[1] - piece.track_s[0], default=None)
    start = FilmReport(
        name=about.name,
        group=about.group,
        duration_s=about.duration_s,
        verdict=alignment.verdict,
        why=alignment.why,
        paper_passed=None if alignment.paper is None else alignment.paper.passed,
        n_pieces=len(alignment.pieces),
        rate=None if longest is None else longest.rate,
        delay_s=None if longest is None else longest.delay_s,
        error_s=None if longest is None else alignment.error_s,
        discarded=film.discarded,
    )
    if film.discarded:
        return start
    stored = [sentence for _, sentence in read_json_lines(film.folder / layout.SENTENCES, StoredSentence)]
    used = [sentence for sentence in stored if sentence.kept]
    texts = [sentence.sentence for sentence in used]
    verbs = count_finite_verbs(texts)
    rules: tuple[str, ...] = ()
    if stored:
        words = tuple(_word(word) for word in film.stored_words.words[:1])
        rules = deciding(judge(Candidate(stored[0].sentence, words), film.evidence), film.settings.dialogue)
    return msgspec.structs.replace(
        start,
        n_words=len(film.stored_words.words),
        n_sentences=len(stored),
        n_kept=len(used),
        dropped=dict(sorted(Counter(sentence.dropped_by for sentence in stored if not sentence.kept).items())),
        words_lost=film.stored_words.n_lost,
        invented=film.stored_words.n_invented,
        deciding=rules,
        narrator_s=None if film.runs.why else round(sum(high - low for low, high in film.runs.spans), 3),
        words_per_sentence=sum(len(text.split()) for text in texts) / len(texts) if texts else None,
        two_verbs=sum(count >= 2 for count in verbs),
        names=tuple((name.name, name.occurrences) for name in find_names(texts, film.settings.cast)),
        notes=tuple(_notes(film)),
    )


def _notes(film: Film) -> list[str]:
    """Return what a person should know about a film."""
    notes = list(film.runs.notes)
    if film.cues is not None:
        notes += [f"subtitles: {note}" for note in film.cues.notes]
    return [*notes, *film.unused]


def _word(stored: StoredWord) -> HeardWord:
    return HeardWord(stored.text, stored.start_s, stored.end_s, stored.probability, stored.voice, stored.timed)


def _rounded(word: HeardWord) -> tuple[Any, ...]:
    sure = None if word.probability is None else round(word.probability, 4)
    return word.text, round(word.start_s, 4), round(word.end_s, 4), sure, word.voice, word.timed


def subtitles_of(task: FilmTask, settings: CollectSettings) -> Subtitles | None:
    """Read the subtitles of a film."""
    return None if task.subtitles is None else read_subtitles(task.subtitles, fps=settings.subtitle_fps)
