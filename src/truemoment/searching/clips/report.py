"""The report of clip retrieval."""

from __future__ import annotations

from typing import Any

from truemoment.base.boundary.documents import Measured, document_head
from truemoment.base.version import __version__ as version
from truemoment.report.model import Cell, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, low_to_high
from truemoment.searching.clips.measures import largest_depth
from truemoment.searching.clips.ranked_clips import RankedClips
from truemoment.searching.clips.results import RetrievalFigure

SCHEMA = "truemoment/retrieval/1"


def report(ranked: RankedClips) -> Report:
    """Return what people read."""
    n_texts, n_clips, n_videos = ranked.pool
    pool = f"{counted(n_texts, 'text')}, {counted(n_clips, 'clip')} of {counted(n_videos, 'video')}"
    return Report(
        title="Clip retrieval",
        facts=(("pool", pool), *ranked.source),
        sections=(Section("measures", "Measures", (_table(ranked),)),),
        reading=(
            ("t2c, c2t", "text to clip: all clips are ranked by a text; clip to text: all texts by a clip"),
            ("R@K", "share of queries whose right item is among the first K, %; equal similarities are decided by lot"),
            ("MdR, MnR", "median and mean rank of the right item; lower is better"),
            ("chance", "what ranking at random is expected to reach"),
            ("blind floor", "a ranking that knows only how long texts and clips are"),
        ),
        notes=tuple(_notes(ranked)),
        signature=_signature(ranked),
    )


def _table(ranked: RankedClips) -> Table:
    floor = ["blind floor"] if ranked.floor else []
    headings = ("measure", "value", "95 % interval", "chance", *floor, "best ties", "worst ties", "clip4clip")
    rows = []
    for number, figure in enumerate(ranked.result.figures):
        cells = [str(figure.measure), _format(figure, figure.value)]
        cells += [low_to_high(figure.ci95, 2, times=_factor(figure)) or UNDEFINED, _format(figure, figure.chance)]
        cells += [_format(figure, ranked.floor.figures[number].value)] if ranked.floor else []
        cells += [_format(figure, value) for value in (figure.best, figure.worst, figure.clip4clip)]
        rows.append(tuple(map(Cell, cells)))
    return Table("", headings, (("", tuple(rows)),))


def _factor(figure: RetrievalFigure) -> float:
    return 100.0 if figure.measure.is_fraction else 1.0


def _format(figure: RetrievalFigure, value: float) -> str:
    return UNDEFINED if value != value else f"{_factor(figure) * value:.2f}"  # noqa: PLR0124 - NaN


def _notes(ranked: RankedClips) -> list[str]:
    n_texts, n_clips, _ = ranked.pool
    notes = []
    if sum(ranked.result.n_added):
        text, clip = ranked.result.n_added
        notes.append(
            f"ties: clip4clip, the evaluator in circulation, counts {n_texts + text:,} text queries instead of "
            f"{n_texts:,}, and {clip:,} clip queries too many; its column is not comparable"
        )
    depth = largest_depth([figure.measure for figure in ranked.result.figures])
    if depth > min(n_texts, n_clips):
        notes.append(f"R@{depth}: there are only {min(n_texts, n_clips):,} items to rank")
    if ranked.n_short:
        notes.append(f"{counted(ranked.n_short, 'clip')} shorter than a frame: the nearest frame was used")
    if ranked.clips is not None:
        if same := ranked.clips.n_same_text:
            notes.append(
                f"{counted(same, 'text')} are identical to a text of another clip; each counts as wrong for the other"
            )
        if overlapping := int(ranked.clips.overlapping.sum()):
            notes.append(f"{counted(overlapping, 'clip')} overlap another clip with an IoU above 0.5")
    return notes


def _signature(ranked: RankedClips) -> str:
    source = "|".join(f"{name}:{text}" for name, text in ranked.source)
    drawn = f"resamples:{ranked.choices.resamples}|seed:{ranked.choices.seed}"
    return f"retrieval|ties:lot|pool:{ranked.pool[1]}|{source}|truemoment:{version}|{drawn}"


def document(ranked: RankedClips) -> dict[str, Any]:
    """Return what programs read; fractions, and ranks from 1."""
    n_texts, n_clips, n_videos = ranked.pool
    return {
        **document_head(SCHEMA),
        "pool": {"n_texts": n_texts, "n_clips": n_clips, "n_videos": n_videos},
        "source": dict(ranked.source),
        "measures": [
            {
                **Measured(
                    figure.value,
                    "no query",
                    figure.ci95.tolist(),
                    str(figure.measure),
                    "fraction" if figure.measure.is_fraction else "rank",
                    signature=_signature(ranked),
                ).as_dict(),
                "chance": figure.chance,
                "ties": {"best": figure.best, "worst": figure.worst, "clip4clip": figure.clip4clip},
                "blind_floor": ranked.floor.figures[number].value if ranked.floor else None,
            }
            for number, figure in enumerate(ranked.result.figures)
        ],
        "resamples": ranked.choices.resamples,
        "seed": ranked.choices.seed,
        "notes": _notes(ranked),
    }
