"""The report of an evaluation: a JSON document for programs, a table and a few lines for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from truemoment.io import MatchReport, Parsing
from truemoment.io.base import Sample
from truemoment.reports.head import head
from truemoment.reports.tables import TableStyle, render
from truemoment.scores import Measured, Scores
from truemoment.text import one_line

SCHEMA = "truemoment/evaluation/1"


@dataclass(frozen=True)
class Evaluation:
    """All there is to say of one evaluated prediction file.

    Parameters
    ----------
    scores
        Per-query statistics.
    figures
        Figures of the measures, with intervals where they were asked for.
    match
        How the file's rows found their queries.
    source
        The prediction file: path and sha256.
    depth
        Length of the longest list of answers.
    resamples, seed
        Of the intervals; 0 resamples if none were asked for.
    """

    scores: Scores
    figures: list[Measured]
    match: MatchReport
    source: dict[str, str]
    depth: int
    resamples: int = 0
    seed: int = 0


def document(evaluation: Evaluation) -> dict[str, Any]:
    """Return the JSON document."""
    scores = evaluation.scores
    return {
        **head(SCHEMA, scores),
        "predictions": evaluation.source,
        "match": evaluation.match.as_dict(),
        "touched": scores.touched,
        "measures": [_measured(figure) for figure in evaluation.figures],
        "resamples": evaluation.resamples,
        "seed": evaluation.seed,
        "notes": notes(evaluation),
    }


def _measured(figure: Measured) -> dict[str, Any]:
    entry: dict[str, Any] = {"measure": figure.measure, "value": figure.value, "unit": "fraction"}
    if figure.value is None:
        entry["why"] = figure.why
    if figure.ci95 is not None:
        entry["ci95"] = list(figure.ci95)
    entry["n_queries"] = figure.n_queries
    entry["n_videos"] = figure.n_videos
    if figure.on_threshold is not None:
        entry["on_threshold"] = figure.on_threshold
    entry["signature"] = figure.signature
    return entry


def table(evaluation: Evaluation, *, style: TableStyle = "plain") -> str:
    """Return the table of figures, in percent as the protocol prints them."""
    percent = evaluation.scores.protocol.percent
    headings = ["measure", "%"]
    if evaluation.resamples:
        headings.append("95 % interval")
    headings += ["queries", "on the threshold"]
    rows = []
    for figure in evaluation.figures:
        row = [figure.measure, "-" if figure.value is None else percent(figure.value)]
        if evaluation.resamples:
            row.append("-" if figure.ci95 is None else f"{percent(figure.ci95[0])} to {percent(figure.ci95[1])}")
        row += [f"{figure.n_queries:,}", "" if figure.on_threshold is None else f"{figure.on_threshold:,}"]
        rows.append(row)
    return render(headings, rows, style=style, numbers=range(1, len(headings)))


def preamble(evaluation: Evaluation) -> list[str]:
    """Say what was evaluated on what, and how rows found their queries."""
    scores, match = evaluation.scores, evaluation.match
    ways = [
        (match.by_id, "by id"),
        (match.by_text, "by video and sentence"),
        (match.by_position, "by position in the video"),
    ]
    matched = ", ".join(f"{count:,} matched {way}" for count, way in ways if count) or "none matched"
    differs = f" ({match.text_differs:,} sentences differ in punctuation or case)" if match.text_differs else ""
    lines = [
        f"{scores.dataset}/{scores.split}: {len(scores):,} queries, {len(set(scores.video_id)):,} videos",
        f"{evaluation.source['path']}: {match.format} ({match.recognised}); {match.rows:,} rows, {matched}{differs}",
    ]
    return lines if match.parsing is None else [*lines, read_in_words(match.parsing)]


def read_in_words(parsing: Parsing) -> str:
    """Say in a line how the answers in words of a file were read."""
    counts = ", ".join(f"{count:,} {status}" for status, count in parsing.counts.items() if count)
    return f"answers in words: {counts or 'none'} (reader {parsing.version}, {parsing.reading})"


def answers(parsing: Parsing, n_shown: int) -> list[str]:
    """Show some answers with what was read of them, the words it rests on in brackets, and all reasons with counts."""
    lines = ["how answers were read:"]
    lines += [f"  {count:,} {why}" for why, count in parsing.whys.items()]
    for title, samples in (("read", parsing.sample), ("not read", parsing.failures)):
        if shown := samples[:n_shown]:
            lines += ["", f"{title}:", *(f"  {_shown(sample)}" for sample in shown)]
    return lines


def _shown(sample: Sample) -> str:
    """One answer in a line: its query, its text with what was read marked, and what came of it."""
    text = sample.text
    if sample.span is not None:
        begin, end = sample.span
        text = f"{text[:begin]}[[{text[begin:end]}]]{text[end:]}"
    ends = ((start, "the end" if end is None else f"{end:g}") for start, end in sample.moments)
    moments = ", ".join(f"{start:g} to {end}" for start, end in ends) or sample.why
    return one_line(f"{sample.place}: {sample.status} ({moments}): {text}")


def notes(evaluation: Evaluation) -> list[str]:
    """Say aloud what a reader of the figures should know, most serious first."""
    match, scores = evaluation.match, evaluation.scores
    said = [one_line(f"the file says: {note}") for note in match.told]
    said += _counted(
        (match.unmatched, "row belongs to no query and is left out", "rows belong to no query and are left out"),
        (match.missing, "query has no row", "queries have no row"),
        (match.empty, "query is answered with no moment", "queries are answered with no moment"),
    )
    of_moments = (
        (match.swapped, "end before they start"),
        (match.zero_length, "have zero length"),
        (match.past_end, "end past the end of the video"),
        (match.clipped, "had a negative time lifted to 0"),
    )
    said += _counted(
        (match.refused, "answer declines", "answers decline"),
        (match.ambiguous, "answer can be read in more than one way", "answers can be read in more than one way"),
        (match.failed, "answer holds nothing that could be a moment", "answers hold nothing that could be a moment"),
    )
    said += [f"{count:,} of {match.moments:,} predicted moments {what}" for count, what in of_moments if count]
    said += match.signs
    said += _counted(
        (
            match.shared,
            "query shares its answer with another of the same video and sentence",
            "queries share their answer with another of the same video and sentence",
        ),
        (match.reordered, "list does not stand by falling score", "lists do not stand by falling score"),
        (match.ties, "list holds equal scores, ranked in file order", "lists hold equal scores, ranked in file order"),
    )
    of_protocol = ((count, f"query with {what}", f"queries with {what}") for what, count in scores.touched.items())
    said += [f"protocol {scores.protocol.name}: {line}" for line in _counted(*of_protocol)]
    deeper = [str(m) for m in scores.measures if m.depth is not None and m.depth > max(evaluation.depth, 1)]
    if deeper:
        plural = "" if evaluation.depth == 1 else "s"
        look = "looks" if len(deeper) == 1 else "look"
        said.append(
            f"lists hold at most {evaluation.depth} answer{plural}, so {', '.join(deeper)} {look} no further than that"
        )
    undefined: dict[str, list[str]] = {}
    for figure in evaluation.figures:
        if figure.value is None:
            undefined.setdefault(figure.why, []).append(figure.measure)
    return said + [f"undefined, as {why}: {', '.join(measures)}" for why, measures in undefined.items()]


def _counted(*things: tuple[int, str, str]) -> list[str]:
    """Write (count, of one, of many) as text, leaving out what does not occur."""
    return [f"{count:,} {one if count == 1 else many}" for count, one, many in things if count]


def closing(evaluation: Evaluation) -> str:
    """Return the signature that belongs to every figure of the table."""
    return evaluation.scores.signature() + (
        f"|intervals:{evaluation.resamples} resamples of videos, seed {evaluation.seed}" if evaluation.resamples else ""
    )
