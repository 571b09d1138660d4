"""What was collected of a simulated film against its truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import MissingPackageError
from truemoment.base.intervals import Floats
from truemoment.collection.layout import StoredSentence
from truemoment.collection.matching import best_pairs
from truemoment.collection.narration import words_of
from truemoment.collection.spans import Span, covered_s, merged, overlap_s
from truemoment.media.audio.alignment import Alignment, Piece
from truemoment.worlds.described.film import Truth
from truemoment.worlds.described.script import Line

LEAST_RATIO = 0.5
"""Similarity of words from which a collected sentence may be a true one."""

EDGE_S = 0.15
"""How far the edge of a piece may be off."""

STEP_S = 0.1
"""The alignment is compared every tenth of a second of description."""


@dataclass(frozen=True)
class AlignmentScore:
    """How far an alignment is off.

    Parameters
    ----------
    error_s
        Largest distance of mapped from true film time over described seconds; NaN where nothing is mapped.
    unmapped_s
        Described seconds that the alignment leaves out.
    n_pieces, n_true_pieces
        Pieces found, and those there are.
    edge_error_s
        Largest distance of an edge from the true one; infinite where the number of pieces differs.
    """

    error_s: float
    unmapped_s: float
    n_pieces: int
    n_true_pieces: int
    edge_error_s: float

    @property
    def pieces_right(self) -> bool:
        """Whether the number is right and edges lie within 0.15 s."""
        return self.n_pieces == self.n_true_pieces and self.edge_error_s <= EDGE_S


@dataclass(frozen=True)
class SentenceScore:
    """How well sentences match the truth.

    Parameters
    ----------
    n_true, n_kept, n_matched
        True sentences of description that the track has, kept ones, and pairs of both.
    word_error
        (substitutions + deletions + insertions) / true words over matched pairs; NaN without any.
    iou
        Intersection over union of the times of each matched pair, (n_matched,).
    n_dialogue
        Kept sentences over half of whose time is dialogue.
    """

    n_true: int
    n_kept: int
    n_matched: int
    word_error: float
    iou: Floats
    n_dialogue: int

    @property
    def recall(self) -> float:
        """Matched / true."""
        return self.n_matched / self.n_true if self.n_true else float("nan")

    @property
    def precision(self) -> float:
        """Matched / kept."""
        return self.n_matched / self.n_kept if self.n_kept else float("nan")

    @property
    def leakage(self) -> float:
        """Kept sentences in dialogue / kept."""
        return self.n_dialogue / self.n_kept if self.n_kept else 0.0

    @property
    def mean_iou(self) -> float:
        """Mean IoU of matched pairs."""
        return float(self.iou.mean()) if len(self.iou) else float("nan")

    def share_above(self, threshold: float) -> float:
        """Return the share of matched pairs with at least this IoU."""
        return float((self.iou >= threshold).mean()) if len(self.iou) else float("nan")


def score_alignment(alignment: Alignment, truth: Truth) -> AlignmentScore:
    """Compare an alignment with the true pieces."""
    times = [
        np.arange(line.start_s, line.end_s, STEP_S)
        for line in truth.descriptions
        if _in_track((line.start_s, line.end_s), truth.pieces)
    ]
    film_s = np.concatenate(times) if times else np.zeros(0)
    track_s = _to_track(film_s, truth.pieces)
    valid = ~np.isnan(track_s)
    mapped = alignment.to_film(track_s[valid])
    off = np.abs(mapped - film_s[valid])
    edges = np.array([piece.track_s for piece in alignment.pieces])
    true_edges = np.array([piece.track_s for piece in truth.pieces])
    equal = edges.shape == true_edges.shape
    return AlignmentScore(
        error_s=float(np.nanmax(off)) if np.isfinite(off).any() else float("nan"),
        unmapped_s=float(np.isnan(mapped).sum() * STEP_S),
        n_pieces=len(alignment.pieces),
        n_true_pieces=len(truth.pieces),
        edge_error_s=float(np.abs(edges - true_edges).max()) if equal and len(edges) else float("inf"),
    )


def _to_track(film_s: Floats, pieces: Sequence[Piece]) -> Floats:
    """Return film times in true track time; NaN where the track has nothing of them."""
    track_s = np.full(film_s.shape, np.nan)
    for piece in pieces:
        inside = (film_s >= piece.film_s[0]) & (film_s <= piece.film_s[1])
        track_s[inside] = (film_s[inside] - piece.delay_s) / piece.rate
    return track_s


def _in_track(span: Span, pieces: Iterable[Piece]) -> bool:
    """Whether the track has all of a part of the film, in one piece."""
    return any(piece.film_s[0] <= span[0] and span[1] <= piece.film_s[1] for piece in pieces)


def score_sentences(sentences: Sequence[StoredSentence], truth: Truth) -> SentenceScore:
    """Compare kept sentences with the true description of the track."""
    lines = [line for line in truth.descriptions if _in_track((line.start_s, line.end_s), truth.pieces)]
    pairs = best_pairs(_similarities(sentences, lines)) if sentences and lines else []
    spoken = merged((line.start_s, line.end_s) for line in truth.lines if line.kind != "description")
    errors = 0
    if pairs:
        from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - optional, and there: similarities need it too

        errors = sum(Levenshtein.distance(words_of(lines[b].text), words_of(sentences[a].sentence)) for a, b in pairs)
    n_words = sum(len(words_of(lines[b].text)) for _, b in pairs)
    iou = [_iou(sentences[a].film_s, (lines[b].start_s, lines[b].end_s)) for a, b in pairs]
    in_dialogue = [
        covered_s(sentence.film_s, spoken) > (sentence.film_s[1] - sentence.film_s[0]) / 2 for sentence in sentences
    ]
    return SentenceScore(
        len(lines),
        len(sentences),
        len(pairs),
        errors / n_words if n_words else float("nan"),
        np.array(iou, np.float64),
        sum(in_dialogue),
    )


def _similarities(sentences: Sequence[StoredSentence], lines: Sequence[Line]) -> Floats:
    """Return the similarity of words of each pair that overlaps in time; 0 for others, (kept, true)."""
    try:
        from rapidfuzz.distance import Indel  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        raise MissingPackageError("rapidfuzz", "collect", "comparing sentences") from None
    similarity = np.zeros((len(sentences), len(lines)))
    for a, sentence in enumerate(sentences):
        for b, line in enumerate(lines):
            if overlap_s(sentence.film_s, (line.start_s, line.end_s)) > 0:
                ratio = Indel.normalized_similarity(words_of(sentence.sentence), words_of(line.text))
                similarity[a, b] = ratio if ratio >= LEAST_RATIO else 0.0
    return similarity


def _iou(a: Span, b: Span) -> float:
    shared = overlap_s(a, b)
    return shared / (a[1] - a[0] + b[1] - b[0] - shared)
