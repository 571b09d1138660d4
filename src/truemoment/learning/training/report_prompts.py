"""The report on several prompts of a served model: figures per prompt, their spread and differences, and agreement."""

from __future__ import annotations

from typing import Any

from truemoment.base.boundary.documents import Measured, document_head
from truemoment.evaluation.uncertainty import LEVEL
from truemoment.learning.served.prediction import Price, tokens_of
from truemoment.learning.served.prompt_study import PromptStudy
from truemoment.learning.training import report_prediction as prediction
from truemoment.report.model import Cell, Finding, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, low_to_high, number, p_number, percent, points
from truemoment.studies.compare.comparison import Comparison

SCHEMA = "truemoment/predict-prompts/1"


def document(study: PromptStudy, price: Price | None) -> dict[str, Any]:
    """Return the study as a JSON document."""
    comparison = study.comparison
    return {
        **document_head(SCHEMA),
        "prompts": [
            {
                "prompt": name,
                "unread": study.unread(name),
                "no_moment": study.abstained(name),
                "figures": [] if comparison is None else _figures_document(comparison, row),
                "predict": prediction.document(predicted, price),
            }
            for row, (name, predicted) in enumerate(study.predictions.items())
        ],
        "spread": []
        if comparison is None
        else [
            {"measure": str(measure), "range": range_, "deviation": deviation}
            for measure, range_, deviation in zip(comparison.measures, study.spread, study.deviation, strict=True)
        ],
        "differences": [] if comparison is None else _differences_document(comparison),
        "agreement": study.agreement,
        "correction": "max-t",
        **vars(study.draws),
    }


def _figures_document(comparison: Comparison, row: int) -> list[dict[str, Any]]:
    return [
        Measured(
            float(comparison.mean[row, column]),
            why="no query counts",
            ci95=comparison.interval[row, column],
            measure=str(measure),
        ).as_dict()
        for column, measure in enumerate(comparison.measures)
    ]


def _differences_document(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "prompts": [comparison.methods[a], comparison.methods[b]],
            "measure": str(measure),
            "difference": Measured(
                float(comparison.difference[pair, column]),
                why="no query counts",
                ci95=comparison.difference_interval[pair, column],
            ),
            "p_corrected": comparison.p_corrected[pair, column],
        }
        for pair, (a, b) in enumerate(comparison.pairs)
        for column, measure in enumerate(comparison.measures)
    ]


def report(study: PromptStudy, price: Price | None) -> Report:
    """Return the report of a study."""
    first = next(iter(study.predictions.values()))
    split = f"{first.annotations.dataset}/{first.annotations.split}"
    facts = [("data", f"{split}: {counted(len(first.answers.queries), 'query', 'queries')}")]
    facts += [(name, f"{predicted.out}; raw answers: {predicted.raw}") for name, predicted in study.predictions.items()]
    if price is not None:
        cost = sum(price.cost(tokens_of(predicted.new)) for predicted in study.predictions.values())
        facts.append(("cost", f"{cost:.4g}"))
    blocks: list[Finding | Table] = [_answers_table(study)]
    notes = []
    if study.comparison is not None:
        blocks = [Finding((_summary(study, study.comparison),)), _figures_table(study, study.comparison), *blocks]
        blocks.append(_differences_table(study.comparison))
        notes.append(
            "Intervals of differences are valid for all pairs and measures together, so also for the best prompt "
            "here. The figure of the best prompt is too high: report the mean, or all prompts."
        )
    blocks.append(_agreement_table(study))
    return Report(
        title=f"Predictions with {counted(len(study.predictions), 'prompt')} on {split}",
        facts=tuple(facts),
        sections=(Section("prompts", "How much do figures depend on the prompt?", tuple(blocks)),),
        notes=tuple(notes),
    )


def _summary(study: PromptStudy, comparison: Comparison) -> str:
    """Return the spread of the measure with the largest one, in a sentence."""
    column = int(study.spread.argmax())
    figures = comparison.mean[:, column]
    low, high = comparison.methods[int(figures.argmin())], comparison.methods[int(figures.argmax())]
    significant = any(
        comparison.p_corrected[pair, column] <= LEVEL
        for pair, (a, b) in enumerate(comparison.pairs)
        if {comparison.methods[a], comparison.methods[b]} == {low, high}
    )
    return (
        f"{comparison.measures[column]} differs by {points(study.spread[column])} points between the prompts: from "
        f"{percent(figures.min(), 1)} ({low}) to {percent(figures.max(), 1)} ({high}); this difference is "
        f"{'significant' if significant else 'not significant'}."
    )


def _figures_table(study: PromptStudy, comparison: Comparison) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for row, name in enumerate(comparison.methods):
        figures = zip(comparison.mean[row], comparison.interval[row], strict=True)
        rows.append((Cell(name), *(Cell(number(100 * mean), low_to_high(ci95, times=100)) for mean, ci95 in figures)))
    for label, values in (
        ("mean", comparison.mean.mean(axis=0)),
        ("deviation", study.deviation),
        ("highest - lowest", study.spread),
    ):
        rows.append((Cell(label), *(Cell(number(100 * value)) for value in values)))
    headings = ("prompt", *map(str, comparison.measures))
    return Table("Measures in percent by prompt, with 95 % intervals over videos", headings, (("", tuple(rows)),))


def _answers_table(study: PromptStudy) -> Table:
    rows = []
    for name, predicted in study.predictions.items():
        n = len(predicted.answers.queries)
        shares = (number(100 * count / n, 1) for count in (study.abstained(name), study.unread(name)))
        texts = (name, f"{n:,}", f"{len(predicted.answers.unanswered):,}", *shares)
        rows.append(tuple(map(Cell, texts)))
    headings = ("prompt", "queries", "missing", "no moment, %", "not read, %")
    caption = "Answers; no moment: not in the video; not read: missing, or no moment could be read from it"
    return Table(caption, headings, (("", tuple(rows)),))


def _differences_table(comparison: Comparison) -> Table:
    rows = []
    for pair, (a, b) in enumerate(comparison.pairs):
        for column, measure in enumerate(comparison.measures):
            texts = (
                f"{comparison.methods[a]} - {comparison.methods[b]}",
                str(measure),
                number(100 * comparison.difference[pair, column], sign="+"),
                low_to_high(comparison.difference_interval[pair, column], times=100, sign="+") or UNDEFINED,
                p_number(float(comparison.p_corrected[pair, column])),
            )
            rows.append(tuple(map(Cell, texts)))
    headings = ("prompts", "measure", "difference", "95 % interval", "p")
    caption = "Differences in points; intervals and p are corrected over all pairs and measures"
    return Table(caption, headings, (("", tuple(rows)),), text_columns=(0, 1))


def _agreement_table(study: PromptStudy) -> Table:
    rows = [
        tuple(
            map(
                Cell,
                (f"{two.first}, {two.second}", f"{two.n_both:,}", number(two.mean_iou, 3), number(100 * two.same, 1)),
            )
        )
        for two in study.agreement
    ]
    headings = ("prompts", "queries", "mean IoU", "same answer, %")
    return Table("Agreement of the first answers of two prompts", headings, (("", tuple(rows)),))
