"""The report of clips that were moved to the time of their films."""

from __future__ import annotations

from typing import Any

import numpy as np

from truemoment.base.boundary.documents import document_head
from truemoment.base.version import __version__ as version
from truemoment.collection.transfer import Transfer, TransferredFilm
from truemoment.report.model import Cell, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, few, number

SCHEMA = "truemoment/clip-transfer/1"

MOST_FILMS = 50
"""Films of the table; JSON has all."""


def report(transfer: Transfer, written: str) -> Report:
    """Return what people read; `written` names the file."""
    n_lines = sum(len(film.lines) for film in transfer.films)
    size = f"{counted(n_lines, 'sentence')} of {counted(len(transfer.films), 'film')}, in MAD's form"
    headings = ("film", "clips", "delay, s", "spread, s", "flagged", "in edits")
    rows = tuple(tuple(map(Cell, _row(film))) for film in transfer.films[:MOST_FILMS])
    return Report(
        title="Clips in the time of their films",
        facts=(("written", f"{written}: {size}"),),
        sections=(Section("films", "Films", (Table("", headings, (("", rows),)),)),),
        reading=(
            ("delay", "place of the clips in the film, less that in their names: the median over the clips"),
            ("spread", "median distance of a clip's own delay from the delay that it gets"),
            ("flagged", "clips whose own delay differs by more than 0.5 s; they get the delay of their film or edit"),
            ("in edits", "clips of five or more neighbours that agree on another delay"),
        ),
        notes=tuple(_notes(transfer)),
        signature=f"clip-transfer|spans:15-150 s|truemoment:{version}",
    )


def _row(film: TransferredFilm) -> tuple[str, ...]:
    placed = film.placed
    spread = _spread(film)
    return (
        film.film,
        f"{len(film.lines):,}",
        number(placed.film_delay_s, 2, sign="+"),
        UNDEFINED if np.isnan(spread) else f"{spread:.2f}",
        f"{int(placed.flagged.sum()):,}",
        f"{placed.n_edited:,}",
    )


def _spread(film: TransferredFilm) -> float:
    off = np.abs(film.placed.found_s - film.placed.delay_s)
    return float(np.nanmedian(off)) if np.isfinite(off).any() else float("nan")


def _notes(transfer: Transfer) -> list[str]:
    notes = []
    if transfer.without_film:
        names = few(transfer.without_film)
        notes.append(f"{counted(len(transfer.without_film), 'film')} without vectors, left out: {names}")
    if transfer.without_clip:
        names = few(transfer.without_clip)
        notes.append(f"{counted(len(transfer.without_clip), 'clip')} without vectors, left out: {names}")
    if len(transfer.films) > MOST_FILMS:
        notes.append(f"the table has the first {MOST_FILMS} films; --json has all")
    return notes


def document(transfer: Transfer) -> dict[str, Any]:
    """Return what programs read."""
    return {
        **document_head(SCHEMA),
        "seed": None,
        "films": [
            {
                "film": film.film,
                "duration_s": film.duration_s,
                "delay_s": film.placed.film_delay_s,
                "spread_s": _spread(film),
                "n_flagged": int(film.placed.flagged.sum()),
                "n_edited": film.placed.n_edited,
                "clips": [
                    {"clip": line.clip, "found_s": place, "delay_s": delay, "flagged": flagged}
                    for line, place, delay, flagged in zip(
                        film.lines,
                        film.placed.found_s.tolist(),
                        film.placed.delay_s.tolist(),
                        film.placed.flagged.tolist(),
                        strict=True,
                    )
                ],
            }
            for film in transfer.films
        ],
        "without_film": transfer.without_film,
        "without_clip": transfer.without_clip,
    }
