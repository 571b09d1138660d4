"""The report of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.boundary.own_path import AnyPath, any_path
from truemoment.base.intervals import Floats
from truemoment.data.formats import MatchReport, Parsing
from truemoment.data.formats.base import Sample
from truemoment.evaluation.head import head
from truemoment.evaluation.scores import Scores
from truemoment.report.drawing import METHOD_FAINT, drawing_style, new_figure
from truemoment.report.model import Block, Cell, Drawing, Finding, Paragraph, Report, Section, Table
from truemoment.report.result import Result
from truemoment.report.roles import SERIES, SOFT
from truemoment.report.words import UNDEFINED, counted, low_to_high, number
from truemoment.studies.evaluate.calibration import HIT, IOU, FigureWithInterval, Reliability, ScoreCalibration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMA = "truemoment/evaluation/1"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Scores, Result):
    """Scores with their input and settings, and the report of both.

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
    on_durations
        Note on measures that are left out because durations are unknown; "" for none.
    n_answers
        Number of answers in words that the report shows, with the moments read from them.
    no_length, outside
        Number of queries whose references all end where or before they start, and of those whose references do so or
        lie outside the video.
    equal_scores
        Whether all scores of the predictions are equal.
    """

    match: MatchReport = field(default_factory=lambda: MatchReport("record", "no file", 0))
    source: Mapping[str, str] = field(default_factory=dict)
    depth: int = 0
    ci95: Floats | None = None
    resamples: int = 0
    seed: int = 0
    calibration: ScoreCalibration | None = None
    order: str = ""
    on_durations: str = ""
    n_answers: int = 0
    no_length: int = 0
    outside: int = 0
    equal_scores: bool = False

    @classmethod
    def of(cls, scores: Scores, match: MatchReport, source: Mapping[str, str], depth: int, **more: Any) -> Evaluation:  # noqa: ANN401 - fields
        """Return the evaluation of scores; without a file, its source is empty."""
        values = {field.name: getattr(scores, field.name) for field in fields(Scores)}
        return cls(**values, match=match, source=source or {"path": "predictions", "sha256": ""}, depth=depth, **more)

    def save(self, path: AnyPath | str) -> None:
        """Write the report as other results do (``.html``, ``.json``, ``.md``, ``.tex``), or the scores (``.npz``)."""
        save = Scores.save if any_path(path).suffix.lower() == ".npz" else Result.save
        save(self, path)

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
            f"{figure.measure} {'undefined' if figure.value is None else self.protocol.percent(figure.value)}"
            for figure in self.measured()[:3]
        ]
        more = ", ..." if len(self.measures) > len(figures) else ""
        return f"Evaluation on {self.dataset}/{self.split}: {', '.join(figures)}{more}"


def document(evaluation: Evaluation) -> dict[str, Any]:
    """Return the JSON document of an evaluation."""
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
    """Return the report of an evaluation."""
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
        files=(evaluation.source["path"],),
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
    """Return the data, the predictions, and how their rows match queries."""
    counts = [
        (match.by_id, "by id"),
        (match.by_text, "by video and sentence"),
        (match.by_position, "by position in the video"),
    ]
    matched = ", ".join(f"{count:,} matched {manner}" for count, manner in counts if count) or "none matched"
    differs = (
        f" ({counted(match.text_differs, 'sentence differs', 'sentences differ')} in punctuation or case)"
        if match.text_differs
        else ""
    )
    data = f"{scores.dataset}/{scores.split}: {counted(len(scores), 'query', 'queries')}, "
    rows = [
        ("data", data + counted(scores.n_videos, "video")),
        (
            "predictions",
            f"{source['path']}: {match.format} ({match.recognised}); {counted(match.rows, 'row')}, {matched}{differs}",
        ),
    ]
    if match.parsing is not None:
        rows.append(("answers", read_in_words(match.parsing)))
    return tuple(rows)


def read_in_words(parsing: Parsing) -> str:
    """Return in a line how the answers in words of a file were read."""
    counts = ", ".join(f"{count:,} {status}" for status, count in parsing.counts.items() if count)
    return f"answers in words: {counts or 'none'} (parser {parsing.version}, {parsing.reading})"


def _answers(parsing: Parsing, n_shown: int) -> list[Block]:
    """Show answers with the moments read from them, the decisive words in brackets, and counts of all reasons."""
    reasons = tuple((Cell(f"{count:,}"), Cell(reason)) for reason, count in parsing.whys.items())
    blocks: list[Block] = [
        Table("How the answers were read", ("answers", "reason"), (("", reasons),), text_columns=(1,))
    ]
    for title, samples in (("Read", parsing.sample), ("Not read", parsing.failures)):
        if part := samples[:n_shown]:
            blocks.append(Finding(tuple(map(_shown, part)), title=title))
    return blocks


def _shown(sample: Sample) -> str:
    """Return an answer in a line: its query, status, moments, and text with the decisive words in brackets."""
    text = sample.text
    if sample.span is not None:
        begin, end = sample.span
        text = f"{text[:begin]}[[{text[begin:end]}]]{text[end:]}"
    ends = ((start, "the end" if end is None else f"{end:g}") for start, end in sample.moments)
    moments = ", ".join(f"{start:g} to {end}" for start, end in ends) or sample.why
    return f"{sample.place}: {sample.status} ({moments}): {text}"


def notes(evaluation: Evaluation) -> list[str]:
    """Return remarks on the figures, most serious first."""
    match = evaluation.match
    lines = [*filter(None, [evaluation.on_durations]), *(f"the file states: {note}" for note in match.notes)]
    lines += _counted(
        (match.unmatched, "row matches no query and is ignored", "rows match no query and are ignored"),
        (match.missing, "query has no prediction", "queries have no prediction"),
        (match.empty, "query has an empty prediction", "queries have an empty prediction"),
    )
    lines += _counted(
        (match.refused, "answer declines", "answers decline"),
        (match.ambiguous, "answer has more than one possible reading", "answers have more than one possible reading"),
        (match.failed, "answer contains no moment", "answers contain no moment"),
    )
    of_moments = (
        (match.swapped, "ends before it starts", "end before they start"),
        (match.zero_length, "has zero length", "have zero length"),
        (match.past_end, "ends after the end of the video", "end after the end of the video"),
        (match.clipped, *2 * ("had a negative time, which was set to 0",)),
    )
    lines += [
        f"{count:,} of {match.moments:,} predicted moments {singular if count == 1 else plural}"
        for count, singular, plural in of_moments
        if count
    ]
    lines += match.signs[len(evaluation.warnings) :]
    lines += _counted(
        (
            evaluation.no_length,
            "query has only references that end where or before they start, which no prediction overlaps",
            "queries have only references that end where or before they start, which no prediction overlaps",
        ),
        (
            evaluation.outside,
            "query has only references outside its video, which no prediction inside it overlaps",
            "queries have only references outside their video, which no prediction inside it overlaps",
        ),
    )
    lines += _counted(
        (
            match.shared,
            "query has the same row as another query with the same video and sentence",
            "queries have the same row as another query with the same video and sentence",
        ),
        (match.reordered, "list is not sorted by score", "lists are not sorted by score"),
    )
    if match.ties and evaluation.equal_scores:
        lines.append("all scores of the file are equal, so the ranking is the order of the file")
    else:
        tied = "tied scores, ranked in file order"
        lines += _counted((match.ties, f"list has {tied}", f"lists have {tied}"))
    of_protocol = (
        (count, f"query with {condition}", f"queries with {condition}")
        for condition, count in evaluation.touched.items()
    )
    lines += [f"protocol {evaluation.protocol.name}: {line}" for line in _counted(*of_protocol)]
    names = [str(m) for m in evaluation.measures if m.depth is not None and m.depth > max(evaluation.depth, 1)]
    if names:
        uses = "uses" if len(names) == 1 else "use"
        most = counted(evaluation.depth, "prediction")
        lines.append(f"each query has at most {most}, so {', '.join(names)} {uses} no more than that")
    undefined: dict[str, list[str]] = {}
    for figure in evaluation.figures:
        if figure.value is None:
            undefined.setdefault(figure.why, []).append(figure.measure)
    return lines + [f"undefined, since {reason}: {', '.join(measures)}" for reason, measures in undefined.items()]


def _counted(*counts: tuple[int, str, str]) -> list[str]:
    """Write (count, singular, plural) as text, without counts of 0."""
    return [f"{count:,} {singular if count == 1 else plural}" for count, singular, plural in counts if count]


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


def calibration_section(calibration: ScoreCalibration) -> Section:
    """Return the tables and the figure."""
    blocks: list[Block] = [
        Paragraph(_words(calibration)),
        _means(calibration),
        _errors(calibration),
        Paragraph(ERRORS),
        _discriminations(calibration),
        _coverage(calibration),
        Drawing(
            "reliability",
            "Reliability of the scores",
            "Mean IoU, and share of moments with an IoU above 0.5, by score; below, the number of moments. A "
            "calibrated score lies on the diagonal." + (" Scores are mapped." if calibration.mapped else ""),
            partial(reliability_figure, calibration),
        ),
    ]
    return Section("calibration", "Calibration of the scores", tuple(blocks))


ERRORS = (
    "ECE is the expected calibration error in ten bins of equal width or of equal size; by chance is the ECE of a "
    "perfect score of the same data, bins of equal size. RMSCE is the root mean square calibration error, debiased."
)


def _words(calibration: ScoreCalibration) -> str:
    left_out = (
        f" {counted(calibration.left_out, 'query', 'queries')} without a prediction or a reference moment are left out."
        if calibration.left_out
        else ""
    )
    if not calibration.mapped:
        return f"A score is read as an estimate of the IoU, and of the probability that the IoU is above 0.5.{left_out}"
    return (
        f"The scores lie from {calibration.lowest:.4g} to {calibration.highest:.4g}, not within 0 to 1, so they "
        "estimate nothing "
        "by themselves. They are MAPPED: isotonic regression on one half of the videos maps the scores of the other "
        f"half. Calibration errors are those of the mapped scores.{left_out}"
    )


def _cell(figure: FigureWithInterval, decimals: int = 3, *, sign: str = "") -> Cell:
    if math.isnan(figure.value):
        return Cell(UNDEFINED, ONE_KIND)
    return Cell(number(figure.value, decimals, sign=sign), low_to_high(figure.ci95, decimals, sign=sign))


def _means(calibration: ScoreCalibration) -> Table:
    rows = [
        (
            Cell(f"{estimate.moments}: {estimate.target}"),
            Cell(number(estimate.mean_score, 3)),
            Cell(number(estimate.mean_target, 3)),
            _cell(estimate.overconfidence, sign="+"),
        )
        for estimate in calibration.reliabilities
    ]
    headings = ("scores as estimates of", "mean score", "mean", "score less mean")
    return Table("Mapped scores" if calibration.mapped else "Scores", headings, (("", tuple(rows)),))


def _errors(calibration: ScoreCalibration) -> Table:
    rows = [
        (
            Cell(f"{estimate.moments}: {estimate.target}"),
            *(Cell(number(error, 3)) for error in (estimate.ece_width, estimate.ece_size, estimate.by_chance)),
            _cell(estimate.rmsce),
        )
        for estimate in calibration.reliabilities
    ]
    headings = ("scores as estimates of", "ECE, width", "ECE, size", "by chance", "RMSCE")
    return Table(f"Calibration errors{' of mapped scores' * calibration.mapped}", headings, (("", tuple(rows)),))


def _discriminations(calibration: ScoreCalibration) -> Table:
    rows = [
        (
            Cell(part.moments),
            Cell(f"{part.n_moments:,}"),
            Cell(UNDEFINED, CONSTANT) if math.isnan(part.rank_correlation) else Cell(number(part.rank_correlation)),
            _cell(part.auc),
        )
        for part in calibration.discriminations
    ]
    headings = ("scores of", "moments", "rank correlation with IoU", f"AUC of {HIT}")
    return Table("How well the scores of the file separate better from worse moments", headings, (("", tuple(rows)),))


def _coverage(calibration: ScoreCalibration) -> Table:
    rows = [
        (Cell(f"{100 * share:.0f} %"), Cell(f"{100 * iou:.2f}"), Cell(f"{100 * hits:.2f}"))
        for share, iou, hits in zip(calibration.coverage, calibration.iou_at, calibration.hits_at, strict=True)
    ]
    headings = ("queries with the highest top-1 score", "mean IoU, %", f"{HIT}, %")
    return Table("Top-1 moments if only the most certain queries are answered", headings, (("", tuple(rows)),))


def reliability_figure(calibration: ScoreCalibration) -> Figure:
    """Draw means by score of all moments, and their number."""
    last = calibration.reliabilities[-1].moments
    estimates = [estimate for estimate in calibration.reliabilities if estimate.moments == last]
    looks = dict(zip((IOU, HIT), SERIES, strict=False))
    with drawing_style():
        figure = new_figure(4.4)
        axes, bars = figure.subplots(2, sharex=True, height_ratios=(3, 1))
        axes.plot([0, 1], [0, 1], color=SOFT, linestyle=(0, (3, 2)), label="calibrated")
        for estimate in estimates:
            look = looks[estimate.target]
            axes.plot(estimate.score, estimate.outcome, color=look.colour, marker=look.marker, label=estimate.target)
        width = 1 / 10
        low = np.minimum((estimates[0].score / width).astype(int), 9) * width
        bars.bar(low + width / 2, estimates[0].count, width * 0.9, color=METHOD_FAINT)
        axes.set_ylim(0, 1)
        axes.set_xlim(0, 1)
        axes.set_ylabel("mean IoU; share of hits")
        axes.grid(axis="both")
        bars.set_ylabel("moments")
        bars.set_xlabel("score, mapped to IoU or hits" if calibration.mapped else "score")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def calibration_document(calibration: ScoreCalibration) -> dict[str, Any]:
    """Return the calibration as JSON values."""
    return {
        "mapped": calibration.mapped,
        "scores": {"lowest": calibration.lowest, "highest": calibration.highest},
        "n_queries": calibration.n_queries,
        "left_out": calibration.left_out,
        "resamples": calibration.resamples,
        "reliability": [_reliability(estimate) for estimate in calibration.reliabilities],
        "discrimination": [
            {
                "moments": part.moments,
                "n_moments": part.n_moments,
                "rank_correlation": Measured(part.rank_correlation, CONSTANT, unit=""),
                "auc": Measured(part.auc.value, ONE_KIND, part.auc.ci95.tolist()),
            }
            for part in calibration.discriminations
        ],
        "coverage": [
            {"share": share, "iou": iou, "hits": hits}
            for share, iou, hits in zip(calibration.coverage, calibration.iou_at, calibration.hits_at, strict=True)
        ],
    }


def _reliability(estimate: Reliability) -> dict[str, Any]:
    return {
        "moments": estimate.moments,
        "estimates": estimate.target,
        "mean_score": estimate.mean_score,
        "mean": estimate.mean_target,
        "overconfidence": Measured(estimate.overconfidence.value, ci95=estimate.overconfidence.ci95.tolist()),
        "ece_equal_width": estimate.ece_width,
        "ece_equal_size": estimate.ece_size,
        "ece_equal_size_by_chance": estimate.by_chance,
        "rmsce": Measured(estimate.rmsce.value, ci95=estimate.rmsce.ci95.tolist()),
        "bins": [
            {"score": score, "mean": mean, "n_moments": count}
            for score, mean, count in zip(estimate.score, estimate.outcome, estimate.count, strict=True)
        ],
    }
