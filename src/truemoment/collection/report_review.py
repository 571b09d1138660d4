"""Reports of a review by people: the sample before it, and the estimates after it."""

from __future__ import annotations

from typing import Any

from truemoment.base.boundary.documents import document_head
from truemoment.base.version import __version__ as version
from truemoment.collection.card import figure_text, interval_text
from truemoment.collection.review_file import Review
from truemoment.collection.review_sample import RHO, SHARE, WITHIN, ReviewSample, half_width, sample_size
from truemoment.report.model import Block, Cell, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, few, number, percent

SCHEMA = "truemoment/collection-review-sample/1"


def report_of_sample(sample: ReviewSample, where: str) -> Report:
    """Return what people read before a review."""
    n, films = len(sample.sentences), len(sample.films)
    within = half_width(n, sample.per_film)
    rows = tuple(
        (Cell(f"{m:.2g}"), Cell(f"{sample_size(m):,}"))
        for m in sorted({1.0, 5.0, float(sample.most_per_film), sample.per_film})
    )
    caption = (
        f"Sentences that are needed to know a share of {percent(SHARE)} to within {number(100 * WITHIN, 0)} points"
    )
    notes = [f"correlation within a film of {RHO:g} is assumed", "the page contains sentences: do not pass it on"]
    if n < sample.requested:
        why = "--most-per-film allows more" if sample.full else "the collection has no more"
        notes.append(f"{sample.requested:,} sentences were requested; {why}")
    if sample.full:
        names = few(sample.full)
        notes.append(f"{counted(len(sample.full), 'film')} with fewer sentences in the sample than planned: {names}")
    return Report(
        title=f"Review of {where}",
        facts=(
            ("sample", f"{n:,} of {counted(sample.n_kept, 'sentence')}, {counted(films, 'film')}"),
            ("precision", f"a share of {percent(SHARE)} to within {number(100 * within, 1)} points"),
        ),
        sections=(Section("size", "Sample size", (Table(caption, ("per film", "sentences"), (("", rows),)),)),),
        notes=tuple(notes),
        signature=f"seed {sample.seed}",
    )


def document_of_sample(sample: ReviewSample) -> dict[str, Any]:
    """Return what programs read of a sample; it has no sentences."""
    return {
        **document_head(SCHEMA),
        "seed": sample.seed,
        "requested": sample.requested,
        "most_per_film": sample.most_per_film,
        "n_kept": sample.n_kept,
        "films_with_less_than_their_share": list(sample.full),
        "needed": sample_size(sample.per_film),
        "half_width": half_width(len(sample.sentences), sample.per_film),
        "sentences": [
            {"id": sentence.id, "film": sentence.film, "film_s": list(sentence.film_s)} for sentence in sample.sentences
        ],
    }


def report_of_estimates(review: Review, where: str) -> Report:
    """Return what people read of a review."""
    rows = tuple(
        (
            Cell(figure.name),
            Cell(figure.statistic),
            Cell(figure_text(figure.value, figure.unit)),
            Cell(interval_text(figure.ci95, figure.unit)),
            Cell(f"{figure.n_sentences:,}"),
        )
        for figure in review.figures
    )
    headings = ("estimate", "", "value", "95 % interval", "sentences")
    sections = [Section("estimates", "Estimates", (Table("", headings, (("", rows),), text_columns=(0, 1)),))]
    if review.agreement:
        sections.append(Section("agreement", "Agreement of reviewers", (_agreement(review),)))
    notes = ["times and pictures count for sentences of description"]
    if review.n_films < 2:
        notes.append("one film gives no interval")
    return Report(
        title=f"Review of {where}",
        question="How good are the collected sentences?",
        facts=(
            ("reviewed", f"{review.n_sentences:,} of {counted(review.n_kept, 'sentence')}"),
            ("films", f"{review.n_films:,}"),
            ("reviewers", few(review.reviewers)),
        ),
        sections=tuple(sections),
        notes=tuple(notes),
        signature=f"collection-review|intervals:{review.resamples} resamples of films, seed {review.seed}"
        f"|truemoment:{version}",
    )


def _agreement(review: Review) -> Block:
    rows = tuple(
        (
            Cell(" and ".join(pair.reviewers)),
            Cell(f"{pair.n_sentences:,}"),
            Cell(figure_text(pair.kind, "fraction")),
            Cell(_or_undefined(pair.kind_kappa)),
            Cell(figure_text(pair.words, "fraction")),
            Cell(_or_undefined(pair.words_kappa)),
            Cell(_or_undefined(pair.said_iou)),
            Cell(_or_undefined(pair.seen_iou)),
        )
        for pair in review.agreement
    )
    headings = ("reviewers", "sentences", "kind equal", "kappa", "words equal", "kappa", "said, IoU", "seen, IoU")
    return Table("", headings, (("", rows),))


def _or_undefined(value: float | None) -> str:
    return UNDEFINED if value is None else number(value, 2)
