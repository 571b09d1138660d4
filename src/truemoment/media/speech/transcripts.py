"""Transcripts of other programs: words with times, from the files that they write.

==========  ==============================================================================================
Whisper     JSON, ``segments[].words[]`` with ``word``, ``start``, ``end``, ``probability``
whisperX    the same with ``score`` and ``speaker``; words may have no time
pipelines   JSON of the pipelines of transformers, ``chunks[]`` with ``text`` and ``timestamp``, one a word
Azure       JSON, ``NBest[].Words[]`` or ``recognizedPhrases[].nBest[].words[]``; offsets in 100 ns
Vosk        JSON, ``result[]`` with ``word``, ``start``, ``end``, ``conf``
CTM         lines ``FILE CHANNEL START DURATION WORD [CONFIDENCE]``
WebVTT      cues with time stamps between the words: ``the <00:00:01.500>door``
==========  ==============================================================================================

Azure and Vosk write an object for each utterance: one a file, a list, or one a line.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from truemoment.base.boundary.files import DATA_BYTES, decode_json, read_bytes, read_number, read_text, sha256_of
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import DataWarning, InputError
from truemoment.data.cues import cues_of, read_clock
from truemoment.media.speech.base import HeardWord

TICKS = 1e-7
"""Unit of Azure's offsets, in seconds."""

HEARD = "Success"
"""Azure's status of an utterance with words."""

BACK_S = 1.0
"""How far a word may start before the word before it: engines that work in segments overlap a little."""

PAST_END_S = 1.0
"""How far words may end after the end of the sound."""


LONGEST_WORD_S = 5.0
"""A longer word is spoken in a part of its time only: engines stretch the first word of a file, or one at a pause."""


class UnknownTranscriptError(InputError):
    """A file is no transcript of a known form."""


class _Timed(msgspec.Struct):
    """A word of Whisper, whisperX or Vosk."""

    word: str
    start: float | None = None
    end: float | None = None
    probability: float | None = None
    score: float | None = None
    conf: float | None = None
    speaker: str | None = None


class _Segment(msgspec.Struct):
    words: list[_Timed] | None = None
    text: str | None = None
    speaker: str | None = None


class _PipelineWord(msgspec.Struct):
    text: str
    timestamp: tuple[float | None, float | None]


class _AzureWord(msgspec.Struct):
    word: str | None = msgspec.field(name="Word", default=None)
    offset: float | None = msgspec.field(name="Offset", default=None)
    duration: float | None = msgspec.field(name="Duration", default=None)


class _AzureShown(msgspec.Struct):
    word: str | None = msgspec.field(name="DisplayText", default=None)
    offset: float | None = msgspec.field(name="Offset", default=None)
    duration: float | None = msgspec.field(name="Duration", default=None)


class _AzureBest(msgspec.Struct):
    confidence: float | None = msgspec.field(name="Confidence", default=None)
    words: list[_AzureWord] | None = msgspec.field(name="Words", default=None)
    shown: list[_AzureShown] | None = msgspec.field(name="DisplayWords", default=None)


class _BatchWord(msgspec.Struct):
    word: str | None = msgspec.field(name="word", default=None)
    shown: str | None = msgspec.field(name="displayText", default=None)
    offset: float | None = msgspec.field(name="offsetInTicks", default=None)
    duration: float | None = msgspec.field(name="durationInTicks", default=None)
    confidence: float | None = None


class _BatchBest(msgspec.Struct):
    words: list[_BatchWord] | None = None
    shown: list[_BatchWord] | None = msgspec.field(name="displayWords", default=None)


class _Phrase(msgspec.Struct):
    best: list[_BatchBest] = msgspec.field(name="nBest", default_factory=list)
    speaker: int | str | None = None
    offset: float = msgspec.field(name="offsetInTicks", default=0.0)
    status: str | None = msgspec.field(name="recognitionStatus", default=None)

    @property
    def has_words(self) -> bool:
        """Whether its best version has words."""
        return any(best.shown or best.words for best in self.best[:1])


class _Document(msgspec.Struct):
    """Any of the JSON forms, which differ by their key."""

    segments: list[_Segment] | None = None
    result: list[_Timed] | None = None
    chunks: list[_PipelineWord] | None = None
    best: list[_AzureBest] | None = msgspec.field(name="NBest", default=None)
    phrases: list[_Phrase] | None = msgspec.field(name="recognizedPhrases", default=None)
    text: str | None = None
    speaker: int | str | None = msgspec.field(name="SpeakerId", default=None)
    status: str | None = msgspec.field(name="RecognitionStatus", default=None)
    partial: str | None = None

    @property
    def is_without_words(self) -> bool:
        """Whether it says that something was heard, or is no document of a transcript, and has no words."""
        if (
            self.segments is not None or self.chunks is not None or self.partial is not None
        ):  # a partial result comes again, whole
            return False
        if self.phrases is not None:
            return any(phrase.status == HEARD and not phrase.has_words for phrase in self.phrases)
        if self.best is not None or self.status is not None:
            return self.status == HEARD and not any(best.shown or best.words for best in (self.best or ())[:1])
        return not self.result and ((self.result is None and self.text is None) or bool(self.text))


@dataclass(frozen=True)
class Transcript:
    """Words that another program heard.

    Parameters
    ----------
    name
        Form and file name.
    fingerprint
        SHA-256 of the file.
    punctuates
        Whether words carry punctuation.
    words
        In order of time.
    """

    name: str
    fingerprint: str
    punctuates: bool
    words: tuple[HeardWord, ...]


def read_transcript(path: Path) -> Transcript:
    """Read a transcript; the form is recognised from the content."""
    form, words = _words_of(path)
    words = _between_neighbours(words, path)
    _refuse_backwards(words, path)
    if not words:
        raise InputError("has no words with times", path=path, hint="expected a transcript with a time for each word")
    words.sort(key=lambda word: word.start_s)
    _warn_of_long_words(words, path)
    punctuated = sum(word.text[-1:] in ".!?" for word in words) * 60 > len(words)
    return Transcript(f"{form} {as_text(path.name)}", sha256_of(path), punctuated, tuple(words))


def refuse_past_end(words: tuple[HeardWord, ...], duration_s: float, path: Path) -> None:
    """Refuse words that end after their sound."""
    late = next((word for word in words if word.end_s > duration_s + PAST_END_S), None)
    if late is not None:
        problem = f"got the word {late.text!r} at {late.end_s:.2f} s, expected times up to {duration_s:.2f} s"
        raise InputError(problem, path=path, hint="is it the transcript of another sound?")


def _words_of(path: Path) -> tuple[str, list[HeardWord]]:
    """Return the form of a file, and its words in file order."""
    suffix = path.suffix.lower()
    is_text = suffix not in (".json", ".jsonl")
    text = read_text(path, most=DATA_BYTES) if is_text else ""
    if suffix == ".vtt" or text.startswith("WEBVTT"):
        return "WebVTT", list(_of_webvtt(text, path))
    if suffix == ".ctm":
        return "CTM", list(_of_ctm(text, path))
    is_json = not is_text or text.lstrip()[:1] in ("{", "[")
    documents = _documents(path) if is_json else []
    form = _form_of(documents)
    if not form:
        hint = "Whisper, whisperX, pipelines of transformers, Azure, Vosk, CTM and WebVTT are read"
        raise UnknownTranscriptError("is no transcript that TrueMoment knows", path=path, hint=hint)
    for k, document in enumerate(documents, start=1):
        if document.is_without_words:
            hint = "let the program write the time of each word"
            raise InputError(f"utterance {k} of {len(documents)} has no words", path=path, hint=hint)
    return form, [word for document in documents for word in _of_document(document, path)]


def _documents(path: Path) -> list[_Document]:
    """Return the objects of a JSON file: one, a list, or one a line."""
    data = read_bytes(path, most=DATA_BYTES)
    if data.lstrip().startswith(b"["):
        return decode_json(data, list[_Document], path=path)
    lines = [(number, line) for number, line in enumerate(data.splitlines(), start=1) if line.strip()]
    if len(lines) > 1 and all(line.startswith(b"{") and line.rstrip().endswith(b"}") for _, line in lines):
        return [decode_json(line, _Document, path=path, line=number) for number, line in lines]
    return [decode_json(data, _Document, path=path)]


def _form_of(documents: list[_Document]) -> str:
    segments = [segment for document in documents for segment in document.segments or ()]
    if any(document.segments is not None for document in documents):
        words = [word for segment in segments for word in segment.words or ()]
        aligned = any(word.score is not None or word.speaker is not None for word in words)
        return "whisperX" if aligned else "Whisper"
    if any(document.chunks is not None for document in documents):
        return "pipeline"
    if any(document.best is not None or document.phrases is not None for document in documents):
        return "Azure"
    return "Vosk" if any(document.result is not None for document in documents) else ""


def _of_document(document: _Document, path: Path) -> Iterator[HeardWord]:
    n_without = 0
    for segment in document.segments or ():
        if segment.words is None and segment.text != "":
            hint = "let the program write word times, e.g. whisper --word_timestamps True"
            raise InputError("has segments without words", path=path, field="segments", hint=hint)
        n_without += not segment.words and bool((segment.text or "").strip())
        yield from (_timed(word, segment.speaker) for word in segment.words or ())
    if n_without:
        left_out = f"left out {n_without:,} of {len(document.segments or ()):,} segments, which have text and no words"
        warnings.warn(f"{path}: {left_out}", DataWarning, stacklevel=2)
    yield from (_timed(word, None) for word in document.result or ())
    yield from _of_chunks(document.chunks or [], path)
    speaker = None if document.speaker is None else str(document.speaker)
    for best in (document.best or [])[:1]:
        yield from _ticks(list(best.shown or best.words or ()), best.confidence, speaker, path)
    for phrase in document.phrases or ():
        speaker = None if phrase.speaker is None else str(phrase.speaker)
        for version in phrase.best[:1]:
            yield from _ticks(list(version.shown or version.words or ()), None, speaker, path)


def _of_chunks(chunks: list[_PipelineWord], path: Path) -> Iterator[HeardWord]:
    """Yield the words of a pipeline of transformers; refuse its other chunks, which are sentences."""
    words = [chunk.text.strip() for chunk in chunks]
    if sum(" " in word for word in words) * 10 > len(words):
        hint = 'let the pipeline write the time of each word: return_timestamps="word"'
        raise InputError("has chunks of several words", path=path, field="chunks", hint=hint)
    for word, chunk in zip(words, chunks, strict=True):
        start_s, end_s = (math.nan if time is None else time for time in chunk.timestamp)
        yield HeardWord(word, start_s, end_s, timed=not math.isnan(start_s + end_s))


def _timed(word: _Timed, speaker: str | None) -> HeardWord:
    """Return a word of Whisper, whisperX or Vosk; NaN for a time that is missing."""
    sure = next(
        (confidence for confidence in (word.probability, word.score, word.conf) if confidence is not None), None
    )
    start_s = math.nan if word.start is None else word.start
    end_s = math.nan if word.end is None else word.end
    return HeardWord(word.word.strip(), start_s, end_s, sure, word.speaker or speaker, not math.isnan(start_s + end_s))


def _ticks(words: list[Any], confidence: float | None, speaker: str | None, path: Path) -> Iterator[HeardWord]:
    """Yield words of Azure."""
    for word in words:
        text = getattr(word, "shown", None) or word.word
        if text is None:
            raise InputError("has a word without text", path=path, field="words")
        start_s = math.nan if word.offset is None else word.offset * TICKS
        end_s = start_s + (math.nan if word.duration is None else word.duration * TICKS)
        sure = getattr(word, "confidence", None)
        yield HeardWord(
            text.strip(), start_s, end_s, confidence if sure is None else sure, speaker, not math.isnan(end_s)
        )


def _of_ctm(text: str, path: Path) -> Iterator[HeardWord]:
    """Yield the words of a CTM file."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith(";;"):
            continue
        parts = line.split()
        start_s, length_s = (read_number(part) for part in [*parts, "", "", "", ""][2:4])
        if len(parts) not in (5, 6) or math.isnan(start_s + length_s):
            problem = f"got {line.strip()[:60]!r}, expected FILE CHANNEL START DURATION WORD [CONFIDENCE]"
            raise InputError(problem, path=path, line=number)
        sure = read_number(parts[5]) if len(parts) == 6 else math.nan
        yield HeardWord(parts[4], start_s, start_s + length_s, None if math.isnan(sure) else sure)


_MARK = re.compile(r"<(\d+(?::\d+)+\.\d+)>")
_TAG = re.compile(r"<[^<>]*>")


def _of_webvtt(text: str, path: Path) -> Iterator[HeardWord]:
    """Yield the words of WebVTT with time stamps between words."""
    if not _MARK.search(text):
        hint = "expected cues such as: the <00:00:01.500>door"
        raise InputError("has no time stamps between words", path=path, hint=hint)
    for cue in cues_of(text, path):
        for line in cue.text.split("\n"):
            yield from _of_line(line, cue.start_s, cue.end_s, path, cue.line)


def _of_line(line: str, start_s: float, end_s: float, path: Path, number: int) -> Iterator[HeardWord]:
    """Yield the words of a line of a cue: each part between two stamps has the time between them."""
    parts = _MARK.split(line)
    times = [start_s, *(read_clock(stamp, path, number) for stamp in parts[1::2]), end_s]
    for k, part in enumerate(parts[0::2]):
        words = _TAG.sub("", part).split()
        for i, word in enumerate(words):
            step = (times[k + 1] - times[k]) / len(words)
            yield HeardWord(word, times[k] + i * step, times[k] + (i + 1) * step, timed=len(words) == 1)


def _between_neighbours(words: list[HeardWord], path: Path) -> list[HeardWord]:
    """Give words without a time an even share of the time between their neighbours; drop empty words."""
    words = [word for word in words if word.text]
    timed: list[HeardWord] = []
    k = 0
    while k < len(words):
        end = k
        while end < len(words) and math.isnan(words[end].start_s + words[end].end_s):
            end += 1
        if end > k:
            low = timed[-1].end_s if timed else (words[end].start_s if end < len(words) else math.nan)
            high = words[end].start_s if end < len(words) else low
            if math.isnan(low):
                raise InputError("has no word with a time", path=path)
            step = max(0.0, high - low) / (end - k)
            timed += [
                word._replace(start_s=low + i * step, end_s=low + (i + 1) * step, timed=False)
                for i, word in enumerate(words[k:end])
            ]
        else:
            timed.append(words[k])
            end = k + 1
        k = end
    return timed


def _warn_of_long_words(words: list[HeardWord], path: Path) -> None:
    """Warn of words that are longer than a word is spoken: their sentences seem to begin or end where nobody speaks."""
    long = [word for word in words if word.end_s - word.start_s > LONGEST_WORD_S]
    if long:
        first = f"the first is {long[0].text!r} from {long[0].start_s:.2f} to {long[0].end_s:.2f} s"
        n_words = f"{len(long):,} of {len(words):,} words last longer than {LONGEST_WORD_S:g} s"
        warnings.warn(f"{path}: {n_words}; {first}", DataWarning, stacklevel=2)


def _refuse_backwards(words: list[HeardWord], path: Path) -> None:
    """Refuse times that are negative or run backwards."""
    before = 0.0
    for k, word in enumerate(words, start=1):
        if not (0 <= word.start_s <= word.end_s and math.isfinite(word.end_s)):
            problem = f"got the word {word.text!r} from {word.start_s:.2f} to {word.end_s:.2f} s, expected rising times"
            raise InputError(problem, path=path, field=f"word {k}")
        if word.start_s < before - BACK_S:
            problem = f"got the word {word.text!r} at {word.start_s:.2f} s after one at {before:.2f} s"
            raise InputError(f"{problem}, expected rising times", path=path, field=f"word {k}")
        before = max(before, word.start_s)
