"""The data card: what the data is, where it comes from, how it was made, and what may not be passed on.

It names identities of files and never paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from truemoment.base.boundary.documents import document_head
from truemoment.collection.layout import Collection, FoundFilm
from truemoment.collection.review_file import Review
from truemoment.report.words import counted

SCHEMA = "truemoment/collection-card/1"

MAY_NOT = (
    "picture and sound of the films, and the described tracks",
    "subtitles",
    "transcripts and sentences: the describers' text is protected",
    "features of frames, where the terms of the films' owners do not allow it",
)

MAY = ("identities of files", "times", "counts", "this card")

CAUTIONS = (
    "Times are those at which a sentence is said. Description may be ahead of or behind the picture.",
    "Sentences come from a recogniser and may contain wrong words.",
    "Which sentences are description was decided by rules; some dialogue may be left.",
)


NOT_REVIEWED = "not reviewed"


def card_of(
    collection: Collection, films: Sequence[FoundFilm], splits: Mapping[str, str], review: Review | None = None
) -> dict[str, Any]:
    """Return the content of card.json; `review` is what people found, None before any review."""
    reports = [film.report for film in films]
    dropped: Counter[str] = Counter()
    for report in reports:
        dropped.update(report.dropped)
    used = [report for report in reports if not report.discarded]
    return {
        **document_head(SCHEMA),
        "what": "Sentences of audio description with the times at which they are said, from described films.",
        "why": "Temporal sentence grounding in long videos, after Soldan et al. 2022 (MAD).",
        "settings": msgspec.to_builtins(collection.settings),
        "engine": msgspec.to_builtins(collection.engine),
        "films": {
            "total": len(reports),
            "by_verdict": dict(sorted(Counter(report.verdict for report in reports).items())),
            "discarded": {report.name: report.discarded for report in reports if report.discarded},
            "passed_the_paper_s_check": sum(bool(report.paper_passed) for report in reports),
            "in_several_pieces": sum(report.n_pieces > 1 for report in reports),
            "hours": sum(report.duration_s for report in used) / 3600,
        },
        "sentences": {
            "kept": sum(report.n_kept for report in reports),
            "dropped": dict(sorted(dropped.items())),
            "with_two_finite_verbs": sum(report.two_verbs for report in reports),
        },
        "splits": dict(sorted(Counter(splits.values()).items())) if splits else None,
        "review": NOT_REVIEWED if review is None else _review(review),
        "sources": [_source(film) for film in films],
        "may_not_be_passed_on": list(MAY_NOT),
        "may_be_passed_on": list(MAY),
        "cautions": list(CAUTIONS),
        "biases": "truemoment bias --annotations annotations.jsonl",
    }


def _review(review: Review) -> dict[str, Any]:
    """Return the estimates of a review, without the names of the reviewers."""
    record = msgspec.to_builtins(review)
    return {
        **{name: record[name] for name in ("n_sentences", "n_films", "n_kept", "resamples", "seed", "figures")},
        "n_reviewers": len(review.reviewers),
        "agreement": [
            {name: agreement[name] for name in agreement if name != "reviewers"} for agreement in record["agreement"]
        ],
    }


def _source(film: FoundFilm) -> dict[str, Any]:
    """Return where the sentences of a film come from: identities and figures."""
    about, report = film.about(), film.report
    return {
        "name": about.name,
        "group": about.group,
        "film": about.film,
        "described": about.described,
        "subtitles_sha256": about.subtitles or None,
        "transcript_sha256": about.transcript or None,
        "verdict": report.verdict,
        "rate": report.rate,
        "delay_s": report.delay_s,
        "error_s": report.error_s,
        "n_pieces": report.n_pieces,
        "rules": list(report.deciding),
        "n_kept": report.n_kept,
    }


def card_text(card: Mapping[str, Any]) -> str:
    """Return the card as Markdown."""
    films, sentences, engine = card["films"], card["sentences"], card["engine"]
    review = reviewed = card["review"]
    if not isinstance(review, str):
        sample = f"{review['n_sentences']:,} of {review['n_kept']:,} sentences, in {counted(review['n_films'], 'film')}"
        reviewed = f"{sample}, by {counted(review['n_reviewers'], 'reviewer')}"
    lines = [
        "# Data card",
        "",
        f"{card['what']} {card['why']}",
        "",
        f"- Films: {films['total']:,} ({_counts(films['by_verdict'])}); {len(films['discarded']):,} give no sentences.",
        f"- Films that pass the check of MAD's paper: {films['passed_the_paper_s_check']:,}.",
        f"- Sentences: {sentences['kept']:,} kept; dropped: {_counts(sentences['dropped'])}.",
        f"- Splits, in films: {_counts(card['splits'] or {})}.",
        f"- Recogniser: {engine['name']} (files {engine['fingerprint'] or 'by film'}); "
        f"punctuation: {engine['punctuation'] or 'by rules or the recogniser'}.",
        f"- Rules for dialogue: {card['settings']['dialogue']}.",
        f"- Review by people: {reviewed}.",
        f"- Biases: `{card['biases']}`.",
        "",
        *_review_lines(review),
        "## What may not be passed on",
        "",
        *(f"- {file}" for file in card["may_not_be_passed_on"]),
        "",
        f"What may be passed on: {', '.join(card['may_be_passed_on'])}.",
        "",
        "## Cautions",
        "",
        *(f"- {caution}" for caution in card["cautions"]),
        "",
        "## Sources",
        "",
        "| film | identity of the film | identity of the described track | alignment | sentences |",
        "|---|---|---|---|---|",
        *(
            f"| {_cell(source['name'])} | {source['film']} | {source['described']} | {source['verdict']} "
            f"| {source['n_kept']:,} |"
            for source in card["sources"]
        ),
        "",
        f"Made by TrueMoment {card['truemoment']}, which fetches nothing.",
    ]
    return "\n".join(lines) + "\n"


def _review_lines(review: Any) -> list[str]:  # noqa: ANN401 - a text, or the figures
    """Return the estimates of a review as a section; nothing before a review."""
    if isinstance(review, str):
        return []
    rows = [
        f"| {figure['name']}: {figure['statistic']} | {figure_text(figure['value'], figure['unit'])} "
        f"| {interval_text(figure['ci95'], figure['unit'])} | {figure['n_sentences']:,} |"
        for figure in review["figures"]
    ]
    agreement = [
        f"- Two reviewers of {pair['n_sentences']:,} sentences: {figure_text(pair['kind'], 'fraction')} equal about "
        f"dialogue, {figure_text(pair['words'], 'fraction')} about the words."
        for pair in review["agreement"]
    ]
    return [
        "## Review",
        "",
        "| estimate | value | 95 % interval over films | sentences |",
        "|---|---|---|---|",
        *rows,
        "",
        *([*agreement, ""] if agreement else []),
    ]


def figure_text(value: float | None, unit: str) -> str:
    """Return a figure of a review; "-" where it is undefined."""
    if value is None:
        return "-"
    return {"fraction": f"{100 * value:.1f} %", "s": f"{value:.2f} s"}.get(unit, f"{value:.3f}")


def interval_text(ci95: Sequence[float] | None, unit: str) -> str:
    """Return an interval of a review; "-" where it is undefined."""
    return "-" if ci95 is None else " to ".join(figure_text(end, unit) for end in ci95)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
