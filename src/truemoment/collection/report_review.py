"""Reports of a review by people: the sample before it, and the estimates after it."""

from __future__ import annotations

from typing import Any

import msgspec

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
        notes.append(f"{counted(len(sample.full), 'film')} with less than their share of the sample: {names}")
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
        "sentences": [{"id": of.id, "film": of.film, "film_s": list(of.film_s)} for of in sample.sentences],
    }


def report_of_estimates(found: Review, where: str) -> Report:
    """Return what people read of a review."""
    rows = tuple(
        (
            Cell(of.name),
            Cell(of.statistic),
            Cell(figure_text(of.value, of.unit)),
            Cell(interval_text(of.ci95, of.unit)),
            Cell(f"{of.n_sentences:,}"),
        )
        for of in found.figures
    )
    headings = ("estimate", "", "value", "95 % interval", "sentences")
    sections = [Section("estimates", "Estimates", (Table("", headings, (("", rows),), text_columns=(0, 1)),))]
    if found.agreement:
        sections.append(Section("agreement", "Agreement of reviewers", (_agreement(found),)))
    notes = ["times and pictures count for sentences of description"]
    if found.n_films < 2:
        notes.append("one film gives no interval")
    return Report(
        title=f"Review of {where}",
        question="How good are the collected sentences?",
        facts=(
            ("reviewed", f"{found.n_sentences:,} of {counted(found.n_kept, 'sentence')}"),
            ("films", f"{found.n_films:,}"),
            ("reviewers", few(found.reviewers)),
        ),
        sections=tuple(sections),
        notes=tuple(notes),
        signature=f"collection-review|intervals:{found.resamples} resamples of films, seed {found.seed}"
        f"|truemoment:{version}",
    )


def _agreement(found: Review) -> Block:
    rows = tuple(
        (
            Cell(" and ".join(of.reviewers)),
            Cell(f"{of.n_sentences:,}"),
            Cell(figure_text(of.kind, "fraction")),
            Cell(_or_undefined(of.kind_kappa)),
            Cell(figure_text(of.words, "fraction")),
            Cell(_or_undefined(of.words_kappa)),
            Cell(_or_undefined(of.said_iou)),
            Cell(_or_undefined(of.seen_iou)),
        )
        for of in found.agreement
    )
    headings = ("reviewers", "sentences", "kind equal", "kappa", "words equal", "kappa", "said, IoU", "seen, IoU")
    return Table("", headings, (("", rows),))


def _or_undefined(value: float | None) -> str:
    return UNDEFINED if value is None else number(value, 2)


def document_of_estimates(found: Review) -> dict[str, Any]:
    """Return what programs read of a review."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    return document
