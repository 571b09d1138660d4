"""The report of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Floats
from truemoment.data.formats import MatchReport, Parsing
from truemoment.data.formats.base import Sample
from truemoment.evaluation.head import head
from truemoment.evaluation.scores import Scores
from truemoment.report.model import Block, Cell, Finding, Report, Section, Table
from truemoment.report.result import Result
from truemoment.report.words import UNDEFINED, counted
from truemoment.studies.evaluate import report_calibration as calibration
from truemoment.studies.evaluate.calibration import ScoreCalibration

SCHEMA = "truemoment/evaluation/1"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Scores, Result):
    """Scores, with what was read and how: it reports itself.

    Parameters
    ----------
    match
        How rows of the file matched queries.
    source
        ``path`` and ``sha256`` of the prediction file.
    depth
        Number of predictions of the query that has most.
    ci95 : (M, 2)
        95 % intervals; None if none were computed.
    resamples, seed
        Resamples of the videos, 0 if no intervals were requested, and their seed.
    calibration
        Calibration of the scores; None if it was not requested.
    order
        Order of a video's sentences, where it predicts their moments: ``by start``.
    n_answers
        Number of answers in words that the report shows, with what was read in them.
    """

    match: MatchReport = field(default_factory=lambda: MatchReport("record", "no file", 0))
    source: Mapping[str, str] = field(default_factory=dict)
    depth: int = 0
    ci95: Floats | None = None
    resamples: int = 0
    seed: int = 0
    calibration: ScoreCalibration | None = None
    order: str = ""
    n_answers: int = 0

    @classmethod
    def of(cls, scores: Scores, match: MatchReport, source: Mapping[str, str], depth: int, **more: Any) -> Evaluation:  # noqa: ANN401 - fields
        """Return the evaluation of scores; without a file, its source is empty."""
        own = {field.name: getattr(scores, field.name) for field in fields(Scores)}
        return cls(**own, match=match, source=source or {"path": "predictions", "sha256": ""}, depth=depth, **more)

    @property
    def figures(self) -> list[Measured]:
        """Figures of the measures, with intervals where they were requested."""
        return self.measured(self.ci95)

    def report(self) -> Report:
        """Return the report for people."""
        return report(self)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment evaluate --json`` writes it."""
        return document(self)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a measure: value, ends of its interval, number of queries."""
        return [
            {
                "measure": figure.measure,
                "value": figure.value,
                **({} if figure.ci95 is None else dict(zip(("low", "high"), figure.ci95, strict=True))),
                "n_queries": figure.n_queries,
            }
            for figure in self.figures
        ]

    def __repr__(self) -> str:
        """Return data and first figures, in one line."""
        figures = [
            f"{one.measure} {'undefined' if one.value is None else self.protocol.percent(one.value)}"
            for one in self.measured()[:3]
        ]
        more = ", ..." if len(self.measures) > len(figures) else ""
        return f"Evaluation on {self.dataset}/{self.split}: {', '.join(figures)}{more}"


def document(evaluation: Evaluation) -> dict[str, Any]:
    """Return what programs read."""
    return {
        **head(SCHEMA, evaluation),
        "predictions": evaluation.source,
        "match": evaluation.match.as_dict(),
        "touched": evaluation.touched,
        "measures": evaluation.figures,
        "resamples": evaluation.resamples,
        "seed": evaluation.seed,
        **({"order": evaluation.order} if evaluation.order else {}),
        "notes": notes(evaluation),
        **({} if evaluation.calibration is None else {"calibration": calibration.document(evaluation.calibration)}),
    }


def report(evaluation: Evaluation) -> Report:
    """Return what people read."""
    parsing = evaluation.match.parsing
    blocks: list[Block] = [table(evaluation)]
    if evaluation.n_answers and parsing is not None:
        blocks += _answers(parsing, evaluation.n_answers)
    of_scores = () if evaluation.calibration is None else (calibration.section(evaluation.calibration),)
    return Report(
        title=f"Evaluation of {evaluation.source['path']} on {evaluation.dataset}, {evaluation.split}",
        facts=facts(evaluation, evaluation.match, evaluation.source),
        sections=(Section("measures", "Measures", tuple(blocks)), *of_scores),
        notes=tuple(notes(evaluation)),
        signature=signature(evaluation),
        hashes=tuple(
            (label, sha256)
            for label, sha256 in (
                ("predictions", evaluation.source["sha256"]),
                ("annotations", evaluation.annotations_sha256),
            )
            if sha256
        ),
    )


def table(evaluation: Evaluation) -> Table:
    """Return the table of the measures, in percent as the protocol prints them."""
    percent = evaluation.protocol.percent
    intervals = ["95 % interval"] if evaluation.resamples else []
    headings = ["measure", "%", *intervals, "queries", "ties at the threshold"]
    rows = []
    for figure in evaluation.figures:
        row = [figure.measure, UNDEFINED if figure.value is None else percent(figure.value)]
        if evaluation.resamples:
            row.append(UNDEFINED if figure.ci95 is None else " to ".join(map(percent, figure.ci95)))
        row += [f"{figure.n_queries:,}", "" if figure.on_threshold is None else f"{figure.on_threshold:,}"]
        rows.append(tuple(map(Cell, row)))
    return Table("", tuple(headings), (("", tuple(rows)),))


def facts(scores: Scores, match: MatchReport, source: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return what was evaluated on what, and how rows matched queries."""
    counts = [
        (match.by_id, "by id"),
        (match.by_text, "by video and sentence"),
        (match.by_position, "by position in the video"),
    ]
    matched = ", ".join(f"{count:,} matched {how}" for count, how in counts if count) or "none matched"
    differs = f" ({match.text_differs:,} sentences differ in punctuation or case)" if match.text_differs else ""
    data = f"{scores.dataset}/{scores.split}: {counted(len(scores), 'query', 'queries')}, "
    found = [
        ("data", data + counted(scores.n_videos, "video")),
        (
            "predictions",
            f"{source['path']}: {match.format} ({match.recognised}); {match.rows:,} rows, {matched}{differs}",
        ),
    ]
    if match.parsing is not None:
        found.append(("answers", read_in_words(match.parsing)))
    return tuple(found)


def read_in_words(parsing: Parsing) -> str:
    """Return in a line how the answers in words of a file were read."""
    counts = ", ".join(f"{count:,} {status}" for status, count in parsing.counts.items() if count)
    return f"answers in words: {counts or 'none'} (parser {parsing.version}, {parsing.reading})"


def _answers(parsing: Parsing, n_shown: int) -> list[Block]:
    """Show answers with what was read in them, the decisive words in brackets, and all reasons with their counts."""
    whys = tuple((Cell(f"{count:,}"), Cell(why)) for why, count in parsing.whys.items())
    blocks: list[Block] = [Table("How the answers were read", ("answers", "reason"), (("", whys),), text_columns=(1,))]
    for title, samples in (("Read", parsing.sample), ("Not read", parsing.failures)):
        if shown := samples[:n_shown]:
            blocks.append(Finding(tuple(map(_shown, shown)), title=title))
    return blocks


def _shown(sample: Sample) -> str:
    """One answer in a line: its query, its text with what was read marked, and what came of it."""
    text = sample.text
    if sample.span is not None:
        begin, end = sample.span
        text = f"{text[:begin]}[[{text[begin:end]}]]{text[end:]}"
    ends = ((start, "the end" if end is None else f"{end:g}") for start, end in sample.moments)
    moments = ", ".join(f"{start:g} to {end}" for start, end in ends) or sample.why
    return f"{sample.place}: {sample.status} ({moments}): {text}"


def notes(evaluation: Evaluation) -> list[str]:
    """Return what a reader of the figures has to know, most serious first."""
    match = evaluation.match
    found = [f"the file states: {note}" for note in match.notes]
    found += _counted(
        (match.unmatched, "row matches no query and is ignored", "rows match no query and are ignored"),
        (match.missing, "query has no prediction", "queries have no prediction"),
        (match.empty, "query has an empty prediction", "queries have an empty prediction"),
    )
    found += _counted(
        (match.refused, "answer declines", "answers decline"),
        (match.ambiguous, "answer has more than one possible reading", "answers have more than one possible reading"),
        (match.failed, "answer contains no moment", "answers contain no moment"),
    )
    of_moments = (
        (match.swapped, "end before they start"),
        (match.zero_length, "have zero length"),
        (match.past_end, "end after the end of the video"),
        (match.clipped, "had a negative time, which was set to 0"),
    )
    found += [f"{count:,} of {match.moments:,} predicted moments {what}" for count, what in of_moments if count]
    found += match.signs
    found += _counted(
        (
            match.shared,
            "query has the same row as another query with the same video and sentence",
            "queries have the same row as another query with the same video and sentence",
        ),
        (match.reordered, "list is not sorted by score", "lists are not sorted by score"),
        (match.ties, "list has tied scores, ranked in file order", "lists have tied scores, ranked in file order"),
    )
    of_protocol = ((count, f"query with {what}", f"queries with {what}") for what, count in evaluation.touched.items())
    found += [f"protocol {evaluation.protocol.name}: {line}" for line in _counted(*of_protocol)]
    deeper = [str(m) for m in evaluation.measures if m.depth is not None and m.depth > max(evaluation.depth, 1)]
    if deeper:
        uses = "uses" if len(deeper) == 1 else "use"
        most = counted(evaluation.depth, "prediction")
        found.append(f"each query has at most {most}, so {', '.join(deeper)} {uses} no more than that")
    undefined: dict[str, list[str]] = {}
    for figure in evaluation.figures:
        if figure.value is None:
            undefined.setdefault(figure.why, []).append(figure.measure)
    return found + [f"undefined, since {why}: {', '.join(measures)}" for why, measures in undefined.items()]


def _counted(*things: tuple[int, str, str]) -> list[str]:
    """Write (count, of one, of many) as text, leaving out what does not occur."""
    return [f"{count:,} {one if count == 1 else many}" for count, one, many in things if count]


def signature(evaluation: Evaluation) -> str:
    """Return the signature that belongs to every figure of the table."""
    windows = f"|windows:{evaluation.match.windows}" if evaluation.match.windows else ""
    order = f"|order:{evaluation.order}" if evaluation.order else ""
    return f"{evaluation.signature()}{order}{windows}" + (
        f"|intervals:{evaluation.resamples} resamples of videos, seed {evaluation.seed}" if evaluation.resamples else ""
    )
