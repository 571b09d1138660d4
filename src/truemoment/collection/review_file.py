"""The file review.json of a collection: the result of its review by people."""

from __future__ import annotations

import msgspec

from truemoment.base.boundary.files import Seed, read_json
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError
from truemoment.base.version import __version__ as version
from truemoment.collection.layout import REVIEW

SCHEMA = "truemoment/collection-review/1"


class ReviewFigure(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate.

    Parameters
    ----------
    name, statistic, unit
        What it is about; ``share``, ``mean``, ``median`` or ``90th percentile``; ``fraction``, ``s`` or "" (IoU).
    value, ci95
        The figure and its 95 % interval over resampled films; None where undefined.
    n_sentences, n_films
        Sentences that count, and their films.
    """

    name: str
    statistic: str
    unit: str
    value: float | None
    ci95: tuple[float, float] | None
    n_sentences: int
    n_films: int


class ReviewAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of two reviewers on the sentences that both answered.

    Parameters
    ----------
    reviewers
        Their names.
    n_sentences
        Sentences that both answered.
    kind, words
        Share of equal answers.
    kind_kappa, words_kappa
        Cohen's kappa (J. Cohen, A coefficient of agreement for nominal scales, 1960); None where chance alone makes all
        answers equal.
    said_iou, seen_iou
        Mean IoU of their times, where both marked them; None where none did.
    """

    reviewers: tuple[str, str]
    n_sentences: int
    kind: float
    kind_kappa: float | None
    words: float
    words_kappa: float | None
    said_iou: float | None
    seen_iou: float | None


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """The file review.json."""

    n_sentences: int
    n_films: int
    n_kept: int
    reviewers: tuple[str, ...]
    figures: tuple[ReviewFigure, ...]
    agreement: tuple[ReviewAgreement, ...]
    resamples: int
    seed: Seed
    schema: str = SCHEMA
    truemoment: str = version


def read_review(out: AnyPath) -> Review | None:
    """Return the review of a collection; None if there is none."""
    file = OwnPath.of(out) / REVIEW
    if not file.is_file():
        return None
    review = read_json(file, Review)
    if review.schema != SCHEMA:
        raise InputError(f"got {review.schema!r}, expected {SCHEMA!r}", path=file, field="schema")
    return review
