"""The report of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Floats
from truemoment.data.formats import MatchReport, Parsing
from truemoment.data.formats.base import Sample
from truemoment.evaluation.head import head
from truemoment.evaluation.scores import Scores
from truemoment.report.drawing import FLOOR, METHOD, METHOD_FAINT, SOFT, drawing_style, new_figure
from truemoment.report.model import Block, Cell, Drawing, Finding, Paragraph, Report, Section, Table
from truemoment.report.result import Result
from truemoment.report.words import UNDEFINED, counted, low_to_high, number
from truemoment.studies.evaluate.calibration import HIT, IOU, FigureWithInterval, Reliability, ScoreCalibration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    unhittable
        Number of queries whose references all have zero length.
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
    unhittable: int = 0

    @classmethod
    def of(cls, scores: Scores, match: MatchReport, source: Mapping[str, str], depth: int, **more: Any) -> Evaluation:  # noqa: ANN401 - fields
        """Return the evaluation of scores; without a file, its source is empty."""
        own = {field.name: getattr(scores, field.name) for field in fields(Scores)}
        return cls(**own, match=match, source=source or {"path": "predictions", "sha256": ""}, depth=depth, **more)

    @property
    def figures(self) -> list[Measured]:
        """Figures of the measures, with intervals where they were requested."""
        return self.measured(self.ci95)

    @property
    def warnings(self) -> list[str]:
        """What is seen before anything is computed: times of an improbable unit."""
        return [] if self.match.units is None else [str(self.match.units)]

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
        "notes": [*evaluation.warnings, *notes(evaluation)],
        **({} if evaluation.calibration is None else {"calibration": calibration_document(evaluation.calibration)}),
    }


def report(evaluation: Evaluation) -> Report:
    """Return what people read."""
    parsing = evaluation.match.parsing
    first = [Finding(tuple(evaluation.warnings), level="warning")] if evaluation.warnings else []
    blocks: list[Block] = [*first, table(evaluation)]
    if evaluation.n_answers and parsing is not None:
        blocks += _answers(parsing, evaluation.n_answers)
    of_scores = () if evaluation.calibration is None else (calibration_section(evaluation.calibration),)
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
    found += match.signs[len(evaluation.warnings) :]
    found += _counted(
        (
            evaluation.unhittable,
            "query has only references of zero length, which no prediction overlaps",
            "queries have only references of zero length, which no prediction overlaps",
        )
    )
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


# ------------------------------------------------------------------------------------ calibration

ONE_KIND = "all moments are hits, or none is"
CONSTANT = "the scores or the IoUs are all equal"


def calibration_section(found: ScoreCalibration) -> Section:
    """Return the tables and the figure."""
    blocks: list[Block] = [
        Paragraph(_words(found)),
        _means(found),
        _errors(found),
        Paragraph(ERRORS),
        _discriminations(found),
        _coverage(found),
        Drawing(
            "reliability",
            "Reliability of the scores",
            "Mean IoU, and share of moments with an IoU above 0.5, by score; below, the number of moments. A "
            "calibrated score lies on the diagonal." + (" Scores are mapped." if found.mapped else ""),
            partial(reliability_figure, found),
        ),
    ]
    return Section("calibration", "Calibration of the scores", tuple(blocks))


ERRORS = (
    "ECE is the expected calibration error in ten bins of equal width or of equal size; by chance is the ECE of a "
    "perfect score of the same data, bins of equal size. RMSCE is the root mean square calibration error, debiased."
)


def _words(found: ScoreCalibration) -> str:
    left_out = (
        f" {counted(found.left_out, 'query', 'queries')} without a prediction or a reference moment are left out."
        if found.left_out
        else ""
    )
    if not found.mapped:
        return f"A score is read as an estimate of the IoU, and of the probability that the IoU is above 0.5.{left_out}"
    return (
        f"The scores lie from {found.lowest:.4g} to {found.highest:.4g}, not within 0 to 1, so they estimate nothing "
        "by themselves. They are MAPPED: isotonic regression on one half of the videos maps the scores of the other "
        f"half. Calibration errors are those of the mapped scores.{left_out}"
    )


def _cell(of: FigureWithInterval, decimals: int = 3, *, sign: str = "") -> Cell:
    if math.isnan(of.value):
        return Cell(UNDEFINED, ONE_KIND)
    return Cell(number(of.value, decimals, sign=sign), low_to_high(of.ci95, decimals, sign=sign))


def _means(found: ScoreCalibration) -> Table:
    rows = [
        (
            Cell(f"{of.moments}: {of.target}"),
            Cell(number(of.mean_score, 3)),
            Cell(number(of.mean_target, 3)),
            _cell(of.overconfidence, sign="+"),
        )
        for of in found.reliabilities
    ]
    headings = ("scores as estimates of", "mean score", "mean", "score less mean")
    return Table("Mapped scores" if found.mapped else "Scores", headings, (("", tuple(rows)),))


def _errors(found: ScoreCalibration) -> Table:
    rows = [
        (
            Cell(f"{of.moments}: {of.target}"),
            *(Cell(number(error, 3)) for error in (of.ece_width, of.ece_size, of.by_chance)),
            _cell(of.rmsce),
        )
        for of in found.reliabilities
    ]
    headings = ("scores as estimates of", "ECE, width", "ECE, size", "by chance", "RMSCE")
    return Table(f"Calibration errors{' of mapped scores' * found.mapped}", headings, (("", tuple(rows)),))


def _discriminations(found: ScoreCalibration) -> Table:
    rows = [
        (
            Cell(of.moments),
            Cell(f"{of.n_moments:,}"),
            Cell(UNDEFINED, CONSTANT) if math.isnan(of.rank_correlation) else Cell(number(of.rank_correlation)),
            _cell(of.auc),
        )
        for of in found.discriminations
    ]
    headings = ("scores of", "moments", "rank correlation with IoU", f"AUC of {HIT}")
    return Table("Better from worse moments, by the scores of the file", headings, (("", tuple(rows)),))


def _coverage(found: ScoreCalibration) -> Table:
    rows = [
        (Cell(f"{100 * share:.0f} %"), Cell(f"{100 * iou:.2f}"), Cell(f"{100 * hits:.2f}"))
        for share, iou, hits in zip(found.coverage, found.iou_at, found.hits_at, strict=True)
    ]
    headings = ("queries with the highest top-1 score", "mean IoU, %", f"{HIT}, %")
    return Table("Top-1 moments if only the most certain queries are answered", headings, (("", tuple(rows)),))


def reliability_figure(found: ScoreCalibration) -> Figure:
    """Draw means by score of all moments, and their number."""
    last = found.reliabilities[-1].moments
    shown = [of for of in found.reliabilities if of.moments == last]
    looks = {IOU: (METHOD, "o"), HIT: (FLOOR, "D")}
    with drawing_style():
        figure = new_figure(4.4)
        axes, below = figure.subplots(2, sharex=True, height_ratios=(3, 1))
        axes.plot([0, 1], [0, 1], color=SOFT, linestyle=(0, (3, 2)), label="calibrated")
        for of in shown:
            colour, marker = looks[of.target]
            axes.plot(of.score, of.outcome, color=colour, marker=marker, label=of.target)
        width = 1 / 10
        left = np.minimum((shown[0].score / width).astype(int), 9) * width
        below.bar(left + width / 2, shown[0].count, width * 0.9, color=METHOD_FAINT)
        axes.set_ylim(0, 1)
        axes.set_xlim(0, 1)
        axes.set_ylabel("mean IoU; share of hits")
        axes.grid(axis="both")
        below.set_ylabel("moments")
        below.set_xlabel("score, mapped to IoU or hits" if found.mapped else "score")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def calibration_document(found: ScoreCalibration) -> dict[str, Any]:
    """Return what programs read."""
    return {
        "mapped": found.mapped,
        "scores": {"lowest": found.lowest, "highest": found.highest},
        "n_queries": found.n_queries,
        "left_out": found.left_out,
        "resamples": found.resamples,
        "reliability": [_reliability(of) for of in found.reliabilities],
        "discrimination": [
            {
                "moments": of.moments,
                "n_moments": of.n_moments,
                "rank_correlation": Measured(of.rank_correlation, CONSTANT, unit=""),
                "auc": Measured(of.auc.value, ONE_KIND, of.auc.ci95.tolist()),
            }
            for of in found.discriminations
        ],
        "coverage": [
            {"share": share, "iou": iou, "hits": hits}
            for share, iou, hits in zip(found.coverage, found.iou_at, found.hits_at, strict=True)
        ],
    }


def _reliability(of: Reliability) -> dict[str, Any]:
    return {
        "moments": of.moments,
        "estimates": of.target,
        "mean_score": of.mean_score,
        "mean": of.mean_target,
        "overconfidence": Measured(of.overconfidence.value, ci95=of.overconfidence.ci95.tolist()),
        "ece_equal_width": of.ece_width,
        "ece_equal_size": of.ece_size,
        "ece_equal_size_by_chance": of.by_chance,
        "rmsce": Measured(of.rmsce.value, ci95=of.rmsce.ci95.tolist()),
        "bins": [
            {"score": score, "mean": mean, "n_moments": count}
            for score, mean, count in zip(of.score, of.outcome, of.count, strict=True)
        ],
    }
