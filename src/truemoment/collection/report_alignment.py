"""The report of an alignment: rate, delay and agreement of each piece, and the paper's check."""

from __future__ import annotations

from truemoment.base.version import __version__ as version
from truemoment.media.audio.aligning import Method
from truemoment.media.audio.alignment import Alignment, Piece, Span
from truemoment.report.model import Block, Cell, Finding, Level, Paragraph, Report, Section, Table
from truemoment.report.words import clock, counted, number

LEVELS: dict[str, Level] = {
    "aligned": "good",
    "aligned in pieces": "good",
    "partly": "warning",
    "other speed": "serious",
    "not this film": "serious",
}

MOST_LISTED = 20


def report(alignment: Alignment, method: Method = "robust") -> Report:
    """Return what people read."""
    return Report(
        title=f"{alignment.track.path} in {alignment.film.path}",
        question="Where does each part of the described track lie in the film?",
        facts=(
            ("film", f"{alignment.film.path}, stream {alignment.film.stream}, {clock(alignment.film.duration_s)}"),
            ("track", f"{alignment.track.path}, stream {alignment.track.stream}, {clock(alignment.track.duration_s)}"),
            ("method", method),
        ),
        headline=Finding(_headline(alignment, method), level=LEVELS[alignment.verdict]),
        sections=(
            Section("pieces", "Pieces of the track that follow the film (ours)", _pieces(alignment)),
            Section("paper", "The check of MAD's paper: 20 windows within 0.1 s of their median", _paper(alignment)),
        ),
        notes=("film time = rate x track time + delay; a track that starts 3 s late has a delay of -3 s",),
        signature=f"align|method:{method}|film:{alignment.film.identity}|track:{alignment.track.identity}|truemoment:{version}",
    )


def _headline(alignment: Alignment, method: Method) -> tuple[str, ...]:
    why = f"{alignment.why[:1].upper()}{alignment.why[1:]}." if alignment.why else ""
    verdict = f"{alignment.verdict.capitalize()}."
    if method == "paper" and alignment.paper is not None and not alignment.paper.passed:
        verdict = "The paper's check fails: it would discard this film."
    return (verdict, why) if why else (verdict,)


def _pieces(alignment: Alignment) -> tuple[Block, ...]:
    if not alignment.pieces:
        return (Paragraph("There are none."),)
    headings = ["track", "film", "rate", "delay, s", "error, ms", "ends, ± s", "bridged, s"]
    if not any(piece.bridged_s for piece in alignment.pieces):
        del headings[-1]
    rows = tuple(tuple(map(Cell, _piece_row(piece)[: len(headings)])) for piece in alignment.pieces)
    blocks: list[Block] = [Table("", tuple(headings), (("", rows),))]
    for side, spans in (("track", alignment.unmatched.track_s), ("film", alignment.unmatched.film_s)):
        if spans:
            blocks.append(Paragraph(f"Without a match in the {side}: {_listed(spans)}."))
    return tuple(blocks)


def _piece_row(piece: Piece) -> tuple[str, ...]:
    bridged = sum(high - low for low, high in piece.bridged_s)
    return (
        _span(piece.track_s),
        _span(piece.film_s),
        number(piece.rate, 7),
        number(piece.delay_s, 4),
        number(1000 * piece.error_s, 2),
        " and ".join(number(error_s, 2) if error_s else "0" for error_s in piece.edge_error_s),
        number(bridged, 0) if bridged else "",
    )


def _span(span: Span) -> str:
    return f"{clock(span[0])} to {clock(span[1])}"


def _listed(spans: tuple[Span, ...]) -> str:
    listed = ", ".join(_span(span) for span in spans[:MOST_LISTED])
    return listed + (f" and {len(spans) - MOST_LISTED} more" if len(spans) > MOST_LISTED else "")


def _paper(alignment: Alignment) -> tuple[Block, ...]:
    check = alignment.paper
    if check is None:
        return (Paragraph("It was not computed."),)
    delay = "is not found" if check.delay_s is None else f"is {number(check.delay_s, 4)} s"
    agreeing = f"{check.within} of {counted(len(check.windows), 'window')} lie within the tolerance of the median"
    sentences = (
        f"{'Passed' if check.passed else 'Failed'}: {agreeing}, {number(check.median_s, 4)} s.",
        f"The delay of the whole {delay}: its peak is {number(check.peak_ratio, 2)} times the next one.",
    )
    return (Finding(sentences, level="good" if check.passed else "warning"),)
