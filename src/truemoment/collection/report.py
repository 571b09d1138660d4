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
    reports = [film.report for film in collected.done]
    n_kept = sum(of.n_kept for of in reports)
    before = sum(film.before for film in collected.done)
    engine = collected.collection.engine
    facts = [
        ("collection", f"{where}: {counted(len(reports), 'film')}, {counted(n_kept, 'sentence')} kept"),
        ("recogniser", f"{engine.name}{'#' + engine.fingerprint if engine.fingerprint else ''}"),
        ("rules", f"--dialogue {collected.collection.settings.dialogue}"),
    ]
    if before:
        facts.append(("done before", counted(before, "film")))
    blocks: list[Block] = [films_table(reports)]
    if any(of.dropped for of in reports):
        blocks.append(dropped_table(reports))
    blocks += [Finding((f"{of.name}: {of.discarded}",), level="warning") for of in reports if of.discarded]
    notes = [f"{of.name}: {note}" for of in reports for note in notes_of(of)]
    return Report(
        title="Collection",
        question="Which sentences of description were found, and where?",
        facts=tuple(facts),
        sections=(Section("films", "Films", tuple(blocks)),),
        notes=tuple(notes),
    )


def notes_of(of: FilmReport) -> list[str]:
    """Return what a reader of the figures has to know about a film."""
    notes = list(of.notes)
    if of.words_lost:
        notes.append(f"{counted(of.words_lost, 'word')} of the transcript lie in no part of the film")
    if of.invented:
        notes.append(f"{of.invented:,} words or segments were dropped as invented text")
    if of.why and not of.discarded:
        notes.append(of.why)
    return notes


def films_table(reports: Sequence[FilmReport]) -> Table:
    """Return a row for each film."""
    rows = tuple(
        (
            Cell(of.name),
            Cell(of.verdict),
            Cell({True: "passed", False: "failed", None: "-"}[of.paper_passed]),
            Cell(str(of.n_pieces)),
            Cell("-" if of.delay_s is None else number(of.delay_s, 3)),
            Cell("-" if of.rate is None else f"{of.rate:.5f}"),
            Cell(clock(of.duration_s)),
            Cell(f"{of.n_words:,}"),
            Cell(f"{of.n_kept:,} of {of.n_sentences:,}"),
        )
        for of in reports
    )
    headings = ("film", "alignment", "paper's check", "pieces", "delay, s", "rate", "length", "words", "kept")
    return Table("", headings, (("", rows),), text_columns=(0, 1, 2))


def dropped_table(reports: Sequence[FilmReport]) -> Table:
    """Return the number of sentences by what dropped them."""
    total: dict[str, int] = {}
    for of in reports:
        for reason, count in of.dropped.items():
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
        "films": [msgspec.to_builtins(film.report) | {"done_before": film.before} for film in collected.done],
        "failed": [{"name": film.task.name, "why": film.why} for film in collected.failed],
    }


def report_of_splits(made: MadeSplits, where: str) -> Report:
    """Return what people read of splits."""
    total = sum(made.counts.values())
    rows = tuple(
        (
            Cell(name),
            Cell(f"{made.n_films(name):,}"),
            Cell(f"{made.n_sentences(name):,}"),
            Cell(percent(made.n_sentences(name) / total, 1)),
        )
        for name in NAMES
    )
    table = Table("", ("split", "films", "sentences", "share"), (("", rows),))
    findings = tuple(Finding((f"shared: {warning}",), level="warning") for warning in made.warnings)
    findings += tuple(Finding((f"the same film: {a} and {b}",), level="note") for a, b in made.same)
    groups = len(set(made.groups.values()))
    return Report(
        title=f"Splits of {where}",
        facts=(("collection", f"{where}: {counted(len(made.films), 'film')}, {counted(groups, 'group')}"),),
        sections=(Section("splits", "Splits", (table, *findings)),),
        signature=f"seed {made.seed}",
    )


def document_of_splits(made: MadeSplits) -> dict[str, Any]:
    """Return what programs read of splits."""
    return {
        **document_head("truemoment/collection-splits/1"),
        "seed": made.seed,
        "splits": {name: {"n_films": made.n_films(name), "n_sentences": made.n_sentences(name)} for name in NAMES},
        "films": made.films,
        "groups": made.groups,
        "same_film": [list(pair) for pair in made.same],
        "warnings": list(made.warnings),
    }
