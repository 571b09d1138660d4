"""The report of predictions: what a served model or a trained run answered, and what it cost."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from truemoment.base.boundary.documents import document_head
from truemoment.base.records import Predictions
from truemoment.learning.served.prediction import Price, ServedPrediction, tokens_of
from truemoment.report.model import Report
from truemoment.report.words import counted

if TYPE_CHECKING:  # it loads PyTorch
    from truemoment.learning.training.prediction import RunPrediction

SCHEMA, SCHEMA_OF_RUN = "truemoment/predict/1", "truemoment/predict-run/1"

SHOWN = 5
"""Unanswered queries that are named; the JSON document names all."""


def rows(predictions: Predictions) -> list[dict[str, Any]]:
    """Return a row a moment: query, rank, start and end in seconds, score."""
    lists = zip(predictions.query_id.tolist(), pairwise(predictions.offsets.tolist()), strict=True)
    return [
        {
            "query_id": query_id,
            "rank": rank,
            "start_s": float(predictions.start_s[row]),
            "end_s": float(predictions.end_s[row]),
            "score": float(predictions.score[row]),
        }
        for query_id, (first, end) in lists
        for rank, row in enumerate(range(first, end), start=1)
    ]


def report(predicted: ServedPrediction, price: Price | None) -> Report:
    """Return the report of the predictions of a served model."""
    answers, split = predicted.answers, f"{predicted.annotations.dataset}/{predicted.annotations.split}"
    size = counted(len(answers.queries), "query", "queries")
    facts = [
        ("method", predicted.name),
        ("data", f"{split}: {size}, {counted(len(set(answers.queries.video_id)), 'video')}"),
        (
            "queries",
            f"new answers: {len(answers.new)}; earlier answers: {len(answers.answers) - len(answers.new)}; "
            f"not answered: {len(answers.unanswered)}",
        ),
    ]
    if predicted.parsing is not None:
        read = ", ".join(f"{n} {status}" for status, n in predicted.statuses.items() if n)
        facts.append(("answers read", f"{read or 'none'} (parser {predicted.parsing.version})"))
    if predicted.new:
        facts += [("tokens", _tokens(predicted, price)), ("time", _time(predicted))]
    facts += [("predictions", str(predicted.out)), ("raw answers", str(predicted.raw))]
    return Report(title=f"Predictions of {predicted.name} on {split}", facts=tuple(facts), sections=())


def _tokens(predicted: ServedPrediction, price: Price | None) -> str:
    tokens = tokens_of(predicted.new)
    cost = "" if price is None else f"; cost {price.cost(tokens):.4g}"
    unknown = f" ({tokens['not_told']} answers without a count)" if tokens["not_told"] else ""
    return f"{tokens['prompt']:,} in, {tokens['completion']:,} out{unknown}{cost}"


def _time(predicted: ServedPrediction) -> str:
    times, repeated = predicted.times, predicted.answers.n_requests - len(predicted.answers.new)
    of_query = f"a query {times['median_s']:.2f} s (median), {times['p95_s']:.2f} s (95 %)"
    return f"{times['total_s']:.1f} s; {of_query}" + (f"; {repeated} requests were repeated" if repeated else "")


def warnings(predicted: ServedPrediction) -> list[str]:
    """Return lines on queries that could not be asked, answers that were cut off, and durations that differ."""
    answers, lines = predicted.answers, []
    if answers.dropped_bytes:
        lines.append(f"{predicted.raw}: the last line was incomplete ({answers.dropped_bytes} bytes) and is sent again")
    if predicted.cut_off:
        lines.append(f"answers that were cut off at --max-tokens: {predicted.cut_off}")
    if odd := answers.odd_durations:
        video, file_s, annotated_s = odd[0]
        lines.append(
            f"videos whose file has another duration than the annotations: {len(odd)}, e.g. {video} {file_s:.1f} s, "
            f"annotated {annotated_s:.1f} s"
        )
    if unanswered := answers.unanswered:
        lines.append(f"{len(unanswered)} of {len(answers.queries)} queries are not answered, and will count as wrong:")
        lines += [f"  {query.query_id}: {query.why}" for query in unanswered[:SHOWN]]
        if len(unanswered) > SHOWN:
            lines.append(f"  ... and {len(unanswered) - SHOWN} more (--json names them)")
        lines.append("the same command asks these again, and only these")
    return lines


def document(predicted: ServedPrediction, price: Price | None) -> dict[str, Any]:
    """Return the predictions of a served model as a JSON document."""
    answers, annotations = predicted.answers, predicted.annotations
    tokens, everything = tokens_of(predicted.new), tokens_of(answers.answers.values())
    return {
        **document_head(SCHEMA),
        "dataset": annotations.dataset,
        "split": annotations.split,
        "annotations": {
            "sha256": annotations.sha256,
            "n_queries": annotations.n_queries,
            "n_videos": annotations.n_videos,
        },
        "name": predicted.name,
        "made_by": predicted.made_by,
        "predictions": str(predicted.out),
        "raw": str(predicted.raw),
        "queries": {
            "asked": len(answers.new),
            "from_raw": len(answers.answers) - len(answers.new),
            "unanswered": len(answers.unanswered),
        },
        "requests": answers.n_requests,
        "statuses": predicted.statuses,
        "cut_off": predicted.cut_off,
        "tokens": {"now": tokens, "all": everything},
        "cost": None if price is None else {"now": price.cost(tokens), "all": price.cost(everything)},
        "price_per_million": price,
        "time": predicted.times,
        "unanswered": answers.unanswered,
    }


def report_of_run(predicted: RunPrediction) -> Report:
    """Return the report of the predictions of a trained run."""
    split = f"{predicted.annotations.dataset}/{predicted.annotations.split}"
    size = counted(len(predicted.predictions), "query", "queries")
    facts = (("method", predicted.name), ("predictions", f"{size} of {split} answered in {predicted.out}"))
    return Report(title=f"Predictions of {predicted.name} on {split}", facts=facts, sections=())


def document_of_run(predicted: RunPrediction) -> dict[str, Any]:
    """Return the predictions of a trained run as a JSON document."""
    return {
        **document_head(SCHEMA_OF_RUN),
        "dataset": predicted.annotations.dataset,
        "split": predicted.annotations.split,
        "annotations_sha256": predicted.annotations.sha256,
        "made_by": predicted.made_by,
        "seed": predicted.seed,
        "answered": len(predicted.predictions),
        "predictions": str(predicted.out),
    }
