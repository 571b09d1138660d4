"""Estimates from a review: dialogue that is left, wrong words, errors of boundaries, and agreement of reviewers.

A sentence counts once: several answers about it are averaged. Intervals resample films
(:mod:`truemoment.evaluation.uncertainty`), because sentences of one film are alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from truemoment.base.boundary.files import write_json
from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.inputs import updating
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.intervals import Floats, Ints, temporal_iou
from truemoment.base.records import numbers_of
from truemoment.collection import layout
from truemoment.collection.assembling import assemble
from truemoment.collection.layout import films_in
from truemoment.collection.review_answers import AnsweredSentence, ReviewAnswer, read_answers
from truemoment.collection.review_file import Review, ReviewAgreement, ReviewFigure
from truemoment.evaluation.uncertainty import interval95, ratio, resample_sums, stream
from truemoment.media.audio.alignment import Span

Value = Callable[[ReviewAnswer], float | None]


class Estimate(NamedTuple):
    """An estimate: its name, statistic and unit, and the value of an answer (None where it does not count)."""

    name: str
    statistic: str
    unit: str
    value: Value


PERCENTILES = {"median": 0.5, "90th percentile": 0.9}


def _is(field: str, value: str) -> Value:
    return lambda answer: float(getattr(answer, field) == value)


def _not_seen(answer: ReviewAnswer) -> float | None:
    marked = answer.kind == "description" and (answer.not_seen or answer.seen_s is not None)
    return float(answer.not_seen) if marked else None


def _error(field: str, end: int) -> Value:
    def value(answer: ReviewAnswer) -> float | None:
        span: Span | None = getattr(answer, field)
        return None if span is None or answer.kind == "dialogue" else abs(span[end] - answer.film_s[end])

    return value


def _said_and_seen(answer: ReviewAnswer) -> float | None:
    if answer.said_s is None or answer.seen_s is None or answer.kind == "dialogue":
        return None
    return iou(answer.said_s, answer.seen_s)


ERRORS = tuple(
    Estimate(f"{text}, {edge}", name, "s", _error(field, end))
    for field, text in (("said_s", "collected and said"), ("seen_s", "collected and seen"))
    for end, edge in enumerate(("start", "end"))
    for name in PERCENTILES
)

FIGURES = (
    Estimate("dialogue", "share", "fraction", _is("kind", "dialogue")),
    Estimate("wrong words", "share", "fraction", _is("words", "wrong")),
    Estimate("slightly wrong words", "share", "fraction", _is("words", "slightly wrong")),
    Estimate("not in the picture", "share", "fraction", _not_seen),
    *ERRORS,
    Estimate("IoU of said and seen", "mean", "", _said_and_seen),
)
"""Every estimate; times and pictures count for description alone."""


def estimate_review(out: Path, paths: Sequence[Path], *, resamples: int = 1000, seed: int = 0) -> Review:
    """Estimate the quality of a collection from answers, store it as review.json, and write the card again.

    Parameters
    ----------
    out
        Folder of the collection.
    paths
        Answers of one or more reviewers.
    resamples, seed
        Draws of the films, and their seed.
    """
    answered = read_answers(out, paths)
    folder = OwnPath(updating(out))
    folder.refuse_links()
    with lock_folder(folder):
        n_kept = sum(film.report.n_kept for film in films_in(folder) if not film.report.discarded)
        review = estimates_of(answered, n_kept, resamples=resamples, seed=seed)
        write_json(folder / layout.REVIEW, review)
        assemble(folder)
    return review


def estimates_of(answered: Sequence[AnsweredSentence], n_kept: int, *, resamples: int = 1000, seed: int = 0) -> Review:
    """Return the estimates from answered sentences of a collection with `n_kept` sentences."""
    film = numbers_of([sentence.film for sentence in answered])
    n_films = int(film.max()) + 1
    draws = resample_sums(np.eye(n_films), stream(seed, "review"), resamples=resamples)
    weight = np.concatenate([np.ones((1, n_films)), draws])[:, film]  # the sample itself first
    return Review(
        n_sentences=len(answered),
        n_films=n_films,
        n_kept=n_kept,
        reviewers=tuple(sorted({answer.reviewer for sentence in answered for answer in sentence.answers})),
        figures=tuple(
            _figure(estimate, mean_of_answers(answered, estimate.value), weight, film) for estimate in FIGURES
        ),
        agreement=tuple(agreements(answered)),
        resamples=resamples,
        seed=seed,
    )


def mean_of_answers(answered: Sequence[AnsweredSentence], value: Value) -> Floats:
    """Return the mean value of the answers about each sentence, (N,); NaN where no answer has one."""
    values = [[number for number in map(value, sentence.answers) if number is not None] for sentence in answered]
    return np.array([sum(ones) / len(ones) if ones else np.nan for ones in values])


def _figure(estimate: Estimate, values: Floats, weight: Floats, film: Ints) -> ReviewFigure:
    counts = np.isfinite(values)
    n_films = len(set(film[counts].tolist()))
    figures = _statistic(estimate.statistic, values[counts], weight[:, counts])
    low, high = interval95(figures[1:]).tolist()
    defined = n_films > 1 and np.isfinite(low) and np.isfinite(high)
    return ReviewFigure(
        name=estimate.name,
        statistic=estimate.statistic,
        unit=estimate.unit,
        value=float(figures[0]) if counts.any() else None,
        ci95=(low, high) if defined else None,
        n_sentences=int(counts.sum()),
        n_films=n_films,
    )


def _statistic(statistic: str, values: Floats, weight: Floats) -> Floats:
    """Return a statistic of values (N,) for each row of weights (R, N): (R,); NaN where a row has no weight."""
    if statistic not in PERCENTILES or not len(values):
        return ratio((weight @ values)[:, None], weight.sum(axis=1)[:, None])[:, 0]
    return weighted_quantile(values, weight, PERCENTILES[statistic])


def weighted_quantile(values: Floats, weight: Floats, q: float) -> Floats:
    """Return the smallest value that at least a share `q` of the weight does not exceed, for each row of weights.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([[1.0, 1, 1], [5, 1, 1]]), 0.5).tolist()
    [2.0, 3.0]
    """
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[:, order], axis=1)
    at = np.argmax(below >= q * below[:, -1:] - 1e-9, axis=1)
    return np.where(below[:, -1] > 0, values[order][at], np.nan)


def agreements(answered: Sequence[AnsweredSentence]) -> list[ReviewAgreement]:
    """Return the agreement of every two reviewers who answered the same sentences."""
    shared: dict[tuple[str, str], list[tuple[ReviewAnswer, ReviewAnswer]]] = {}
    for sentence in answered:
        for a, b in itertools.combinations(sorted(sentence.answers, key=lambda answer: answer.reviewer), 2):
            shared.setdefault((a.reviewer, b.reviewer), []).append((a, b))
    return [_agreement(names, pairs) for names, pairs in sorted(shared.items())]


def _agreement(names: tuple[str, str], pairs: Sequence[tuple[ReviewAnswer, ReviewAnswer]]) -> ReviewAgreement:
    kinds, words = [(a.kind, b.kind) for a, b in pairs], [(a.words, b.words) for a, b in pairs]
    return ReviewAgreement(
        reviewers=names,
        n_sentences=len(pairs),
        kind=_equal(kinds),
        kind_kappa=kappa(kinds),
        words=_equal(words),
        words_kappa=kappa(words),
        said_iou=_mean_iou([(a.said_s, b.said_s) for a, b in pairs]),
        seen_iou=_mean_iou([(a.seen_s, b.seen_s) for a, b in pairs]),
    )


def _equal(pairs: Sequence[tuple[str, str]]) -> float:
    return sum(a == b for a, b in pairs) / len(pairs)


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of two people's answers; None where both always give one answer.

    Examples
    --------
    >>> kappa([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")])
    0.5
    """
    n = len(pairs)
    answers = {answer for pair in pairs for answer in pair}
    chance = sum(sum(a == answer for a, _ in pairs) * sum(b == answer for _, b in pairs) for answer in answers) / n**2
    return None if chance == 1 else (_equal(pairs) - chance) / (1 - chance)


def _mean_iou(pairs: Sequence[tuple[Span | None, Span | None]]) -> float | None:
    overlaps = [iou(a, b) for a, b in pairs if a is not None and b is not None]
    return sum(overlaps) / len(overlaps) if overlaps else None


def iou(a: Span, b: Span) -> float:
    """Return the temporal IoU of two spans."""
    ends = (np.array([time]) for time in (*a, *b))
    return float(temporal_iou(*ends)[0])
