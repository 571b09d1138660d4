"""From words and evidence to the sentences of a film, each with its verdicts and the reason why it is kept or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from truemoment.collection.layout import CollectSettings, StoredSentence, StoredVerdict
from truemoment.collection.names import FoundName, find_names, large_words, with_someone
from truemoment.collection.narration import Candidate, Evidence, dropped_by, judge
from truemoment.collection.spans import Span, touches
from truemoment.media.audio.alignment import Alignment
from truemoment.media.speech.base import HeardWord
from truemoment.media.speech.punctuation import written
from truemoment.media.speech.sentences import sentences_of

DECIMALS = 4
"""Times in files are rounded to a tenth of a millisecond."""

EDGE_S = 1.0
"""An edge of a piece so near to an end of the film is no cut."""

BESIDE_S = 0.1
"""A sentence that starts or ends so near to a cut may be cut off."""

NEAR_S = 0.6
"""Maximum seconds between the end of a narrator run and that of the words, for the run's end to be the sentence's."""


@dataclass(frozen=True)
class FilmSentences:
    """The sentences of a film, and the names in those that are kept."""

    stored: tuple[StoredSentence, ...]
    names: tuple[FoundName, ...]


def make_sentences(
    film: str,
    words: Sequence[HeardWord],
    evidence: Evidence,
    alignment: Alignment,
    settings: CollectSettings,
    *,
    punctuated: bool,
) -> FilmSentences:
    """Return the sentences of a film.

    Parameters
    ----------
    film
        Name of the film, for ids.
    words
        In film time, in order.
    evidence
        Evidence that separates description from dialogue.
    alignment
        Where the track lies in the film.
    settings
        How sentences are made.
    punctuated
        Whether the words carry punctuation.
    """
    pieces = sentences_of(words, pause_s=settings.pause_s)
    texts = _texts(pieces, evidence, settings, punctuated=punctuated)
    spans = [(piece[0].start_s, max(word.end_s for word in piece)) for piece in pieces]
    bounds = bounded(spans, evidence.runs)
    cuts = cuts_of(alignment)
    has_evidence = any(
        source is not None for source in (evidence.runs, evidence.cues, evidence.voice, evidence.narrator)
    )
    rows = []
    for text, piece, span, bound in zip(texts, pieces, spans, bounds, strict=True):
        verdicts = judge(Candidate(text, piece), evidence)
        why = _outside(bound, cuts, alignment.film.duration_s, settings)
        if not why and (has_evidence or not settings.keep_all):
            why = dropped_by(verdicts, settings.dialogue) or ""
        rows.append((text, piece, span, bound, verdicts, why))
    names = find_names((text for text, *_, why in rows if not why), settings.cast)
    bare = {name.name for name in names}
    stored = tuple(
        StoredSentence(
            id=f"{film}#{k}",
            sentence=text,
            sentence_someone=text if settings.names == "keep" else with_someone(text, bare),
            heard=" ".join(word.text for word in piece),
            word_s=_rounded(span),
            film_s=_rounded(bound),
            kept=not why,
            dropped_by=why,
            verdicts=tuple(
                StoredVerdict(
                    verdict.rule,
                    verdict.keep,
                    None if verdict.value is None else round(verdict.value, DECIMALS),
                    verdict.evidence,
                )
                for verdict in verdicts
            ),
            voice=next((word.voice for word in piece if word.voice is not None), None),
        )
        for k, (text, piece, span, bound, verdicts, why) in enumerate(rows)
    )
    return FilmSentences(stored, tuple(names))


def _texts(
    pieces: Sequence[tuple[HeardWord, ...]], evidence: Evidence, settings: CollectSettings, *, punctuated: bool
) -> list[str]:
    """Return the text of each sentence as written."""
    if punctuated:
        return [" ".join(word.text for word in piece) for piece in pieces]
    large = large_words(cue.text for cue in evidence.cues or ()) | {
        part for name in settings.cast for part in name.split()
    }
    return [written([word.text for word in piece], large) for piece in pieces]


def cuts_of(alignment: Alignment) -> list[Span]:
    """Return where the track was cut, or begins or ends within the film, in film time, each as wide as its error."""
    cuts = []
    for piece in alignment.pieces:
        for film_s, error_s in zip(piece.film_s, piece.edge_error_s, strict=True):
            if EDGE_S < film_s < alignment.film.duration_s - EDGE_S:
                within_s = max(error_s, BESIDE_S)
                cuts.append((film_s - within_s, film_s + within_s))
    return cuts


def _outside(span: Span, cuts: Sequence[Span], duration_s: float, settings: CollectSettings) -> str:
    """Return why a place in the film gives no sentences; "" if it does."""
    if span[0] < settings.skip_opening_s:
        return "opening"
    if settings.skip_credits_s and span[1] > duration_s - settings.skip_credits_s:
        return "credits"
    return "cut" if touches(span, cuts, 0.0) else ""


def _rounded(span: Span) -> Span:
    return round(span[0], DECIMALS), round(span[1], DECIMALS)


def bounded(words_s: Sequence[Span], runs: Sequence[Span] | None) -> list[Span]:
    """Return start and end of each sentence in film time.

    Sentences next to each other in one run part in the middle of their pause.

    Parameters
    ----------
    words_s
        Start of the first word and end of the last of each sentence, rising.
    runs
        Narrator runs, disjoint and rising; None for the words' times alone.

    Examples
    --------
    >>> bounded([(1.2, 2.0), (2.2, 3.1)], [(1.0, 3.2)])
    [(1.0, 2.1), (2.1, 3.2)]
    """
    if not runs:
        return list(words_s)
    starts = [_nearest(start, [low for low, _ in runs]) for start, _ in words_s]
    ends = [_nearest(end, [high for _, high in runs]) for _, end in words_s]
    for k, ((_, end), (start, _)) in enumerate(pairwise(words_s)):
        if end <= start and any(low <= end and start <= high for low, high in runs):
            ends[k] = starts[k + 1] = (end + start) / 2
    return [
        (low, high) if low < high else (float(word[0]), float(word[1]))
        for low, high, word in zip(starts, ends, words_s, strict=True)
    ]


def _nearest(time_s: float, edges: Sequence[float]) -> float:
    """Return the nearest edge within :data:`NEAR_S`, or the time itself."""
    edge = min(edges, key=lambda edge: abs(edge - time_s))
    return edge if abs(edge - time_s) <= NEAR_S else time_s
