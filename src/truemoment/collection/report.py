"""The report of a collection: films, how their tracks are aligned, what was kept and why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from truemoment.base.boundary.documents import document_head
from truemoment.collection.layout import FilmReport
from truemoment.collection.pipeline import Collected
from truemoment.collection.splits import NAMES
from truemoment.collection.splitting import MadeSplits
from truemoment.report.model import Block, Cell, Finding, Report, Section, Table
from truemoment.report.words import clock, counted, number, percent

REASONS: Mapping[str, str] = {
    "overlap": "overlap: shares time with a cue of speech (the paper's rule)",
    "difference": "difference: under half of it lies where only the track has sound",
    "text": "text: its words are those of a cue nearby",
    "voice": "voice: the film's own sound has a voice there",
    "speaker": "speaker: another speaker than the narrator",
    "nowhere": "nowhere: its words touch no narrator run",
    "cut": "cut: the track is cut there",
    "opening": "opening: within --skip-opening-s",
    "credits": "credits: within --skip-credits-s",
}
"""What each reason means."""


def report(collected: Collected, where: str) -> Report:
    """Return what people read of a run."""
    reports = [film.report for film in collected.films]
    n_kept = sum(film.n_kept for film in reports)
    n_before = sum(film.done_before for film in collected.films)
    engine = collected.collection.engine
    facts = [
        ("collection", f"{where}: {counted(len(reports), 'film')}, {counted(n_kept, 'sentence')} kept"),
        ("recogniser", f"{engine.name}{'#' + engine.fingerprint if engine.fingerprint else ''}"),
        ("rules", f"--dialogue {collected.collection.settings.dialogue}"),
    ]
    if n_before:
        facts.append(("done before", counted(n_before, "film")))
    blocks: list[Block] = [films_table(reports)]
    if any(film.dropped for film in reports):
        blocks.append(dropped_table(reports))
    blocks += [Finding((f"{film.name}: {film.discarded}",), level="warning") for film in reports if film.discarded]
    notes = [f"{film.name}: {note}" for film in reports for note in notes_of(film)]
    return Report(
        title="Collection",
        question="Which sentences of description were found, and where?",
        facts=tuple(facts),
        sections=(Section("films", "Films", tuple(blocks)),),
        notes=tuple(notes),
    )


def notes_of(film: FilmReport) -> list[str]:
    """Return what a reader of the figures has to know about a film."""
    notes = list(film.notes)
    if film.words_lost:
        notes.append(f"{counted(film.words_lost, 'word')} of the transcript lie in no part of the film")
    if film.invented:
        notes.append(f"{film.invented:,} words or segments were dropped as invented text")
    if film.why and not film.discarded:
        notes.append(film.why)
    return notes


def films_table(reports: Sequence[FilmReport]) -> Table:
    """Return a row for each film."""
    rows = tuple(
        (
            Cell(film.name),
            Cell(film.verdict),
            Cell({True: "passed", False: "failed", None: "-"}[film.paper_passed]),
            Cell(str(film.n_pieces)),
            Cell("-" if film.delay_s is None else number(film.delay_s, 3)),
            Cell("-" if film.rate is None else f"{film.rate:.5f}"),
            Cell(clock(film.duration_s)),
            Cell(f"{film.n_words:,}"),
            Cell(f"{film.n_kept:,} of {film.n_sentences:,}"),
        )
        for film in reports
    )
    headings = ("film", "alignment", "paper's check", "pieces", "delay, s", "rate", "length", "words", "kept")
    return Table("", headings, (("", rows),), text_columns=(0, 1, 2))


def dropped_table(reports: Sequence[FilmReport]) -> Table:
    """Return the number of sentences by what dropped them."""
    total: dict[str, int] = {}
    for film in reports:
        for reason, count in film.dropped.items():
            total[reason] = total.get(reason, 0) + count
    rows = tuple((Cell(REASONS.get(reason, reason)), Cell(f"{total[reason]:,}")) for reason in sorted(total))
    return Table("Sentences that were not kept", ("why", "sentences"), (("", rows),))


def document(collected: Collected, where: str) -> dict[str, Any]:
    """Return what programs read of a run."""
    return {
        **document_head("truemoment/collection-run/1"),
        "collection": where,
        "engine": msgspec.to_builtins(collected.collection.engine),
        "settings": msgspec.to_builtins(collected.collection.settings),
        "seed": None,
        "films": [msgspec.to_builtins(film.report) | {"done_before": film.done_before} for film in collected.films],
        "failed": [{"name": film.task.name, "why": film.why} for film in collected.failed],
    }


def report_of_splits(splits: MadeSplits, where: str) -> Report:
    """Return what people read of splits."""
    total = sum(splits.counts.values())
    rows = tuple(
        (
            Cell(name),
            Cell(f"{splits.n_films(name):,}"),
            Cell(f"{splits.n_sentences(name):,}"),
            Cell(percent(splits.n_sentences(name) / total, 1)),
        )
        for name in NAMES
    )
    table = Table("", ("split", "films", "sentences", "share"), (("", rows),))
    findings = tuple(Finding((f"shared: {warning}",), level="warning") for warning in splits.warnings)
    findings += tuple(Finding((f"the same film: {a} and {b}",), level="note") for a, b in splits.same_films)
    groups = len(set(splits.groups.values()))
    return Report(
        title=f"Splits of {where}",
        facts=(("collection", f"{where}: {counted(len(splits.films), 'film')}, {counted(groups, 'group')}"),),
        sections=(Section("splits", "Splits", (table, *findings)),),
        signature=f"seed {splits.seed}",
    )


def document_of_splits(splits: MadeSplits) -> dict[str, Any]:
    """Return what programs read of splits."""
    return {
        **document_head("truemoment/collection-splits/1"),
        "seed": splits.seed,
        "splits": {name: {"n_films": splits.n_films(name), "n_sentences": splits.n_sentences(name)} for name in NAMES},
        "films": splits.films,
        "groups": splits.groups,
        "same_film": [list(pair) for pair in splits.same_films],
        "warnings": list(splits.warnings),
    }
