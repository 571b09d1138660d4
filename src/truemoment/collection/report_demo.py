"""The page of ``truemoment demo --collect``: alignment, rules beside each other, what was kept and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truemoment.base.version import __version__ as version
from truemoment.collection.demo import TO_PASS, DemoResult
from truemoment.collection.report import REASONS, dropped_table
from truemoment.media.audio.alignment import Alignment
from truemoment.report.drawing import METHOD, OTHER, drawing_style, new_figure
from truemoment.report.model import (
    CAUTION_LABEL,
    Block,
    Cell,
    Details,
    Drawing,
    Finding,
    KeyFigure,
    KeyFigures,
    Level,
    Paragraph,
    Report,
    Section,
    Table,
)
from truemoment.report.roles import ROLES, SERIES
from truemoment.report.words import clock, number
from truemoment.worlds.described.film import CAUTION

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def report(result: DemoResult) -> Report:
    """Return what people read."""
    score = result.score
    n_passed = sum(result.passed.values())
    level: Level = "good" if n_passed == len(TO_PASS) else "warning"
    headline = Finding(
        (
            f"{score.n_matched} of {score.n_true} described sentences were collected, and {score.n_dialogue} sentences "
            "of dialogue.",
            f"{n_passed} of {len(TO_PASS)} figures are as good as they must be.",
        ),
        level=level,
    )
    figures = KeyFigures(
        (
            KeyFigure("recall", Cell(number(score.recall, 3)), owner="method"),
            KeyFigure("precision", Cell(number(score.precision, 3)), owner="method"),
            KeyFigure("alignment error", Cell(number(1000 * result.aligned.error_s, 1)), "ms"),
            KeyFigure("dialogue left", Cell(str(score.n_dialogue)), "sentences"),
        )
    )
    return Report(
        title="Collecting a simulated film",
        question="Are the described sentences found, with their times, and no dialogue?",
        facts=(
            ("film", f"{clock(result.truth.duration_s)}, {len(result.truth.lines)} spoken sentences"),
            (CAUTION_LABEL, CAUTION),
        ),
        headline=headline,
        answer=(figures,),
        sections=(_figures(result), _alignment(result), _rules(result), _kept(result)),
        reading=(
            ("recall", "true sentences that are matched / true sentences"),
            ("precision", "kept sentences that are matched / kept sentences"),
            ("boundary IoU", "overlap of a sentence's time with the true one / their union, mean over matched pairs"),
            ("dialogue leakage", "kept sentences over half of whose time is dialogue / kept sentences"),
        ),
        signature=f"TrueMoment {version}, seed {result.truth.settings.get('seed')}",
    )


def _figures(result: DemoResult) -> Section:
    """Return the figures beside what they must be."""
    score, aligned = result.score, result.aligned
    values = (
        f"{1000 * aligned.error_s:.1f} ms",
        f"{aligned.n_pieces} of {aligned.n_true_pieces}",
        number(score.recall, 3),
        number(score.precision, 3),
        number(score.word_error, 3),
        f"{number(score.mean_iou, 3)}; {number(score.share_above(0.5), 3)}, {number(score.share_above(0.7), 3)}",
        number(score.leakage, 3),
    )
    rows = tuple(
        (Cell(name), Cell(value), Cell(must), Cell("yes" if ok else "no", marked=not ok))
        for (name, must), value, ok in zip(TO_PASS, values, result.passed.values(), strict=True)
    )
    headings = ("figure", "here", "must be", "holds")
    table = Table("Boundary IoU: mean; share with at least 0.5 and 0.7", headings, (("", rows),), (0, 2, 3))
    return Section("figures", "How good is it?", (table,))


def _alignment(result: DemoResult) -> Section:
    """Return the alignment."""
    alignment = result.alignment
    rows = tuple(
        (
            Cell(f"{clock(piece.track_s[0])} to {clock(piece.track_s[1])}"),
            Cell(f"{clock(piece.film_s[0])} to {clock(piece.film_s[1])}"),
            Cell(f"{piece.rate:.7f}"),
            Cell(number(piece.delay_s, 4)),
            Cell(number(1000 * piece.error_s, 2)),
        )
        for piece in alignment.pieces
    )
    table = Table("Pieces", ("on the track", "in the film", "rate", "delay, s", "error, ms"), (("", rows),), (0, 1))
    paper = alignment.paper
    text = "The paper's check was not made."
    if paper is not None:
        verdict = "passes" if paper.passed else "fails"
        within = f"{paper.within} of {len(paper.windows)} windows lie within 0.1 s of their median"
        text = f"The paper's check {verdict}: {within}."
    drawing = Drawing(
        "delays",
        "Delay of the windows",
        "The paper's windows, and the pieces found.",
        lambda: _delays_figure(alignment),
    )
    finding = Finding((f"{alignment.verdict.capitalize()}.", text))
    return Section("alignment", "Is the track aligned?", (finding, table, drawing))


LEAST_RANGE_S = 0.15
"""Least range of the delays that a figure shows on both sides: the paper allows 0.1 s."""


def _delays_figure(alignment: Alignment) -> Figure:
    """Draw the delay of each window of the paper's check, and of the pieces."""
    with drawing_style():
        figure = new_figure(2.4)
        axes = figure.add_subplot()
        if alignment.paper is not None:
            windows = alignment.paper.windows
            axes.plot(
                [window.film_s / 60 for window in windows],
                [window.delay_s for window in windows],
                color=SERIES[1].colour,
                marker="o",
                linestyle="",
                label="windows of the paper's check",
            )
        for number_, piece in enumerate(alignment.pieces):
            track = np.array(piece.track_s)
            film = piece.rate * track + piece.delay_s
            label = "pieces" if number_ == 0 else None
            axes.plot(film / 60, film - track, color=METHOD, label=label)
        low, high = axes.get_ylim()
        half = max((high - low) / 2, LEAST_RANGE_S)
        axes.set_ylim((low + high) / 2 - half, (low + high) / 2 + half)
        axes.ticklabel_format(axis="y", useOffset=False)
        axes.set_xlabel("film, minutes")
        axes.set_ylabel("delay, s")
        axes.grid(axis="both")
        figure.legend(loc="outside upper center", ncols=2)
    return figure


def _rules(result: DemoResult) -> Section:
    """Return every rule beside the others."""
    rows = tuple(
        (
            Cell(rule.title),
            Cell(number(rule.score.recall, 3)),
            Cell(number(rule.score.precision, 3)),
            Cell(str(rule.score.n_dialogue)),
            Cell(number(rule.score.mean_iou, 3)),
        )
        for rule in result.rules
    )
    headings = ("rule", "recall", "precision", "dialogue left", "boundary IoU")
    table = Table("All of the track is heard, and each rule drops what it takes for dialogue", headings, (("", rows),))
    return Section("rules", "Which rule drops dialogue best?", (table,))


def _kept(result: DemoResult) -> Section:
    """Return what was kept, and why other sentences were not."""
    spans = Drawing(
        "spans",
        "What is where",
        "Subtitles of speech, narrator runs, kept sentences and the truth along the film.",
        lambda: _spans_figure(result),
    )
    rows = tuple(
        (
            Cell(f"{clock(sentence.film_s[0])} to {clock(sentence.film_s[1])}"),
            Cell(sentence.sentence),
            Cell(
                "kept" if sentence.kept else REASONS.get(sentence.dropped_by, sentence.dropped_by),
                marked=not sentence.kept,
            ),
        )
        for sentence in result.sentences
    )
    every = Table("", ("when", "sentence", "kept, or why not"), (("", rows),), (0, 1, 2))
    blocks: list[Block] = [spans]
    if result.film.dropped:
        blocks.append(dropped_table([result.film]))
    else:
        blocks.append(Paragraph("Every sentence that was heard is kept: only narrator runs are heard."))
    return Section("kept", "What was kept, and why not?", (*blocks, Details("All sentences", (every,))))


def _spans_figure(result: DemoResult) -> Figure:
    """Draw spans of speech along the film, a row each."""
    kept_spans = [sentence.film_s for sentence in result.sentences if sentence.kept]
    truth = [(line.start_s, line.end_s) for line in result.truth.descriptions]
    rows = (
        ("subtitles", [(cue.start_s, cue.end_s) for cue in result.evidence.cues or ()], OTHER),
        ("narrator runs", list(result.runs.spans), SERIES[1].colour),
        ("kept sentences", kept_spans, METHOD),
        ("true description", truth, ROLES["reference"].look.colour),
    )
    with drawing_style():
        figure = new_figure(2.2)
        axes = figure.add_subplot()
        for at, (_, spans, colour) in enumerate(rows):
            axes.broken_barh([(low / 60, (high - low) / 60) for low, high in spans], (at - 0.35, 0.7), color=colour)
        axes.set_yticks(range(len(rows)), [title for title, _, _ in rows])
        axes.invert_yaxis()
        axes.set_xlim(0, result.truth.duration_s / 60)
        axes.set_xlabel("film, minutes")
    return figure
