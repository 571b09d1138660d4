"""The report of a table of methods: ours beside blind baselines and published figures, and what is left to train."""

from __future__ import annotations

import math
from typing import Any

from truemoment.base.boundary.documents import document_head
from truemoment.base.boundary.files import lower_first
from truemoment.baselines.floors import NETWORK
from truemoment.learning.training.sweep_results import IID, OOD, Curve
from truemoment.learning.training.trials import TrialOutcome
from truemoment.report.model import Block, Cell, Finding, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, few, in_points, listed, low_to_high, points
from truemoment.reproduction import report as published_tables
from truemoment.reproduction.bench.report_figures import drawings
from truemoment.reproduction.bench.result import SPLIT_CONSTANT, BenchResult
from truemoment.reproduction.closer_look import METHODS

SCHEMA = "truemoment/bench/1"


def report(result: BenchResult) -> Report:
    """Return what people read: figures by split, what they show, a bar figure, and the published tables."""
    blocks: list[Block] = [table(result)]
    if sentences := findings(result):
        blocks.append(Finding(tuple(sentences)))
    published = published_tables.report(result.published)
    n_runs = sum(len(curve.points) for curve in result.methods)
    return Report(
        title=f"Methods of {result.table.name} on {result.dataset}",
        facts=(
            ("data", result.dataset),
            ("features", result.source),
            ("runs", f"{n_runs} of {len(result.methods) * len(result.seeds)} finished"),
        ),
        sections=(
            Section("methods", "Methods beside blind baselines", (*blocks, *drawings(result))),
            Section("time", "Training time", (times(result),)),
            *published.sections,
        ),
        notes=(*unfinished(result), *result.notes, *published.notes),
    )


def table(result: BenchResult) -> Table:
    """Return scores by split and method, with features and the published figure."""
    headings = ("method", "features", *result.measures, f"published {result.headline}", "less sentence network")
    groups = tuple(
        (split, tuple(_row(result, curve, split) for curve in (*result.trained, *result.references)))
        for split in result.splits
    )
    spread = f"± standard deviation over {len(result.seeds)} seeds" if len(result.seeds) > 1 else "one seed"
    caption = f"Figures in % ({spread}); less sentence network: {result.headline} in points, with its 95 % interval"
    return Table(caption, headings, groups, text_columns=(0, 1))


def _row(result: BenchResult, curve: Curve, split: str) -> tuple[Cell, ...]:
    whole = math.isfinite(result.by_seed(curve, split).sum())
    scores = [_score(result, curve, split, measure, whole=whole) for measure in result.measures]
    published = result.published_value(curve.title, split) if curve.kind == "method" else None
    beside = result.beside(curve, split)
    difference = "" if beside is None else f"{points(beside[0].mean, 2, sign='+')} ({_ends(beside[0])})"
    name = curve.title + ("" if curve.kind == "method" else f" ({curve.kind})")
    features = result.features_of(curve)
    return (Cell(name), Cell(features), *scores, Cell("" if published is None else f"{published:f}"), Cell(difference))


def _score(result: BenchResult, curve: Curve, split: str, measure: str, *, whole: bool) -> Cell:
    mean, spread = result.mean(curve, split, measure), result.spread(curve, split, measure)
    text = f"{points(mean, 2)} ± {points(spread, 2)}" if math.isfinite(spread) else points(mean, 2)
    return Cell(text, marked=math.isfinite(mean) and not whole)


def _ends(difference: Any) -> str:  # noqa: ANN401 - a Difference
    return low_to_high((difference.low, difference.high), times=100)


def times(result: BenchResult) -> Table:
    """Return the training time of each run."""
    minutes = {run: f"{seconds / 60:.1f}" for run, seconds in result.seconds.items()}
    rows = tuple(
        (Cell(curve.title), *(Cell(minutes.get((curve.name, seed), UNDEFINED)) for seed in result.seeds))
        for curve in result.trained
    )
    total = sum(result.seconds.values())
    headings = ("method", *(f"seed {seed}" for seed in result.seeds))
    return Table(f"Minutes of training, {total / 3600:.2f} hours in total", headings, (("", rows),))


# ------------------------------------------------------------------------------------------- what is seen


def findings(result: BenchResult) -> list[str]:
    """Return how the methods compare with the sentence network, the interval rules and the published pattern."""
    if not result.trained:
        return ["No run is finished."]
    sentences = [sentence for split in result.splits for sentence in _of_split(result, split)]
    if result.has_two:
        sentences += _pattern(result)
    if len(result.seeds) == 1:
        sentences.append("There is one seed: the intervals include other test videos, but no other training.")
    if result.is_simulated:
        sentences.append(
            f"Features are simulated ({result.features}): no figure here is a reproduction of a published one, and the "
            "published figures are those of other features and larger networks."
        )
    return sentences


def _of_split(result: BenchResult, split: str) -> list[str]:
    return [
        *_network(result, split),
        *_constant(result, split),
        *_published_below(result, split),
        *_rules(result, split),
    ]


def _published_below(result: BenchResult, split: str) -> list[str]:
    """Return which published figures of trained methods do not exceed references without a video."""
    published = {
        row.method: float(row.published)
        for table in result.published.tables
        for row in table.rows
        if (row.split, row.measure) == (split, result.headline) and row.published and row.method not in METHODS
    }
    parts = []
    for name in (NETWORK, SPLIT_CONSTANT):
        reference = result.reference(name)
        if reference is not None and published:
            score = 100 * result.mean(reference, split)
            below = [method for method, value in published.items() if value <= score]
            names = f" ({listed(below)})" if below else ""
            parts.append(f"{len(below)} of {len(published)} are at or below the {lower_first(reference.title)}{names}")
    return [f"Published figures on {split}: {'; '.join(parts)}."] if parts else []


def _constant(result: BenchResult, split: str) -> list[str]:
    """Return which methods do not exceed the constant that is best on the split itself."""
    constant = result.reference(SPLIT_CONSTANT)
    if constant is None:
        return []
    score = result.mean(constant, split)
    below = [curve.title for curve in result.trained if not result.mean(curve, split) > score]
    opening = (
        f"On {split}, the constant that is best on the other videos of the split itself scores {points(score, 2)} %. "
    )
    if not below:
        return [f"{opening}Every method scores more."]
    return [
        f"{opening}{listed(below)} {_is(below)} not above it: predictions that only lie in the right part of the video "
        "can reach such a score."
    ]


def _network(result: BenchResult, split: str) -> list[str]:
    """Return which methods are significantly above and below the sentence network."""
    network = result.reference(NETWORK)
    compared = [(curve, beside) for curve in result.trained if (beside := result.beside(curve, split))]
    if network is None or not compared:
        return []
    by_verdict = {verdict: [curve.title for curve, (_, sign) in compared if sign == verdict] for verdict in (1, -1, 0)}
    words = {1: "significantly above", -1: "significantly below", 0: "not significantly different from"}
    parts = [f"{listed(names)} {_is(names)} {words[verdict]} it" for verdict, names in by_verdict.items() if names]
    score = points(result.mean(network, split), 2)
    return [
        f"On {split}, the sentence network, which sees no video, scores {score} % ({result.headline}). "
        f"{'; '.join(parts)}."
    ]


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _rules(result: BenchResult, split: str) -> list[str]:
    """Return which methods are above the rules that only pick one of the intervals in simulated features."""
    rules = [curve for curve in result.references if curve.sees]
    seeing = [curve for curve in result.trained if curve.sees]
    if not rules or not seeing:
        return []
    parts = []
    for rule in rules:
        above = [curve.title for curve in seeing if result.mean(curve, split) > result.mean(rule, split)]
        reads = "reads the sentence" if rule.kind == "ceiling" else "does not read the sentence"
        names = f" ({few(above, 12)})" if above else ""
        parts.append(
            f"the {rule.title}, which {reads}, {points(result.mean(rule, split), 2)} %, {len(above)} of {len(seeing)} "
            f"methods score more{names}"
        )
    return [f"On {split}, rules that only pick an interval from the same features score: {'; '.join(parts)}."]


def _pattern(result: BenchResult) -> list[str]:
    """Return how the methods change from test-iid to test-ood, beside the published changes."""
    changes = {curve: result.mean(curve, OOD) - result.mean(curve, IID) for curve in result.trained}
    parts, n_same, n_published = [], 0, 0
    for curve, change in changes.items():
        iid, ood = (result.published_value(curve.title, split) for split in (IID, OOD))
        text = f"{curve.title} {points(change, 2, sign='+')}"
        if iid is not None and ood is not None:
            published = ood - iid
            text += f" (published {published:+f})"
            n_published += 1
            n_same += (published > 0) == (change > 0)
        parts.append(text)
    sentences = [f"From {IID} to {OOD}, {result.headline} changes by points: {'; '.join(parts)}."]
    if n_published:
        sentences.append(f"The change has the published sign for {n_same} of {counted(n_published, 'method')}.")
    if (network := result.reference(NETWORK)) is not None:
        lost = result.mean(network, IID) - result.mean(network, OOD)
        sentences.append(f"The sentence network loses {in_points(lost)}, without a video.")
    return sentences


def unfinished(result: BenchResult) -> list[str]:
    """Return notes on the runs that are left, and on those without figures."""
    notes = []
    if result.unfinished:
        names = [f"{_run(outcome)} ({outcome.unfinished})" for outcome in result.unfinished]
        notes.append(
            f"the time is over: {counted(len(names), 'run')} left: {few(names, 20)}; run the same command again to "
            "resume"
        )
    if result.failed:
        names = [f"{_run(outcome)}: {outcome.failed}" for outcome in result.failed]
        notes.append(f"{counted(len(names), 'run')} without figures (* marks a mean of fewer seeds): {few(names, 20)}")
    return notes


def _run(outcome: TrialOutcome) -> str:
    return f"{outcome.trial.method}, seed {outcome.trial.seed}"


# ------------------------------------------------------------------------------------------------- JSON


def document(result: BenchResult) -> dict[str, Any]:
    """Return what programs read; fractions, never percent."""
    return {
        **document_head(SCHEMA),
        "table": result.table.name,
        "dataset": result.dataset,
        "features": result.features,
        "simulated": result.is_simulated,
        "seeds": result.seeds,
        "splits": result.splits,
        "measures": result.measures,
        "headline": result.headline,
        "unit": "fraction",
        "methods": [_method(result, curve) for curve in (*result.methods, *result.references)],
        "left": [_outcome(outcome, outcome.unfinished) for outcome in result.unfinished],
        "failed": [_outcome(outcome, outcome.failed) for outcome in result.failed],
        "said": findings(result),
        "notes": result.notes,
        "published": published_tables.document(result.published),
    }


def _outcome(outcome: TrialOutcome, why: str) -> dict[str, Any]:
    return {"recipe": outcome.trial.method, "seed": outcome.trial.seed, "why": why}


def _method(result: BenchResult, curve: Curve) -> dict[str, Any]:
    """Return the figures of a method, floor or ceiling, and what is published of it."""
    figures = [
        {
            "split": split,
            "measure": measure,
            "mean": result.mean(curve, split, measure),
            "standard_deviation": result.spread(curve, split, measure),
            "by_seed": [float(value) for value in result.by_seed(curve, split, measure)],
        }
        for split in result.splits
        for measure in result.measures
    ]
    return {
        "name": curve.name,
        "title": curve.title,
        "kind": curve.kind,
        "hash": curve.config,
        "features": result.features_of(curve),
        "simulated": result.is_simulated and curve.sees,
        "figures": figures,
        "published": [
            {"split": row.split, "source": row.source, "value": float(row.published) / 100}
            for split in result.splits
            if curve.kind == "method" and (row := result.published_figure(curve.title, split)) and row.published
        ],
        "less_sentence_network": [
            {"split": split, "value": difference.mean, "ci95": [difference.low, difference.high], "verdict": verdict}
            for split in result.splits
            if (beside := result.beside(curve, split))
            for difference, verdict in [beside]
        ],
        "seconds": {
            str(seed): result.seconds[curve.name, seed] for seed in result.seeds if (curve.name, seed) in result.seconds
        },
    }
