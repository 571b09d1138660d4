"""The report of a comparison: figures by method, differences by pair, hits beside the sentence network."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Floats
from truemoment.baselines.equal_depth import protocol_at
from truemoment.baselines.floors import NETWORK
from truemoment.evaluation.head import head
from truemoment.evaluation.repeated_measures import caption_without_repeats, repeated_measures
from truemoment.evaluation.uncertainty import LEVEL, smallest_p
from truemoment.report.model import Cell, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, few, listed, low_to_high, p_number, p_value, points
from truemoment.studies.compare.comparison import Comparison, PublishedFigure
from truemoment.studies.compare.files import ComparedFiles
from truemoment.studies.compare.ranking import distinct_measures, rank_intervals, rank_text, ranking
from truemoment.studies.compare.report_beside import (
    changed_document,
    changed_table,
    runs_beside,
    splits_document,
    splits_table,
)
from truemoment.studies.compare.report_figures import drawings
from truemoment.studies.compare.report_lengths import lengths_document
from truemoment.studies.compare.report_ranking import below_blind, findings, headline, lead_sentence, ranked_table
from truemoment.studies.compare.trainings import (
    EXPLANATION,
    POWER,
    has_trainings,
    trainings_entry,
    trainings_notes,
    trainings_table,
)
from truemoment.studies.compare.undefined import what_counts, why_undefined_figure, why_unresolved
from truemoment.studies.evaluate import report as evaluation

SCHEMA = "truemoment/comparison/2"

MOST_PAIRS = 45
"""Pairs of ten methods; a table of more has only those with the first and with the blind methods."""

MOST_LETTERS = 10
"""Methods that letters mark; a figure among more has the ranks that the tests allow."""

FEW_VIDEOS = 30
"""With fewer, intervals by resampling are too narrow (simulated: 90 % in place of 95 % at 10 videos, 93 % at 30)."""


def report(compared: ComparedFiles) -> Report:
    """Return the report of a comparison."""
    comparison = compared.comparison
    scores = comparison.first
    is_pair, ranked = len(comparison.pairs) == 1, ranked_table(compared)
    tables = [*([] if is_pair else [ranked]), methods_table(compared), differences_table(compared)]
    if has_trainings(comparison):
        tables.append(trainings_table(comparison, distinct_measures(compared)))
    if compared.network is not None:
        tables.append(hits_table(compared))
    if compared.splits:
        tables.append(splits_table(compared))
    if compared.changed:
        tables.append(changed_table(compared))
    strip, *figures = drawings(compared)
    remarked = tuple(findings(compared))
    in_findings = {line for finding in remarked for line in finding.evidence}
    sources = [run.source for runs in compared.runs.values() for run in runs]
    sources += [run.source for _, run in runs_beside(compared)]
    hashes = [(source["path"], source["sha256"]) for source in sources]
    return Report(
        title=f"Comparison of {few(list(compared.runs))} on {scores.dataset}, {scores.split}",
        question="Which methods are better, and do they look at the video?",
        facts=facts(compared),
        headline=headline(compared),
        answer=(strip, *lead_sentence(compared), _pair_table(compared) if is_pair else ranked),
        sections=(
            *([Section("findings", "Findings", remarked)] if remarked else []),
            Section("comparison", "Comparison", tuple(tables)),
            Section("figures", "Figures", tuple(figures)),
        ),
        notes=(*(note for note in notes(compared) if note not in in_findings), *explanations(compared)),
        signature=(
            f"{scores.signature()}|compared:{comparison.resamples} resamples and {comparison.permutations} "
            f"permutations of videos, seed {compared.seed}"
        ),
        hashes=(*hashes, ("annotations", scores.annotations_sha256)),
    )


# ------------------------------------------------------------------------------------------- document


def document(compared: ComparedFiles) -> dict[str, Any]:
    """Return the JSON document of a comparison."""
    comparison = compared.comparison
    return {
        **head(SCHEMA, comparison.first),
        "methods": [
            {
                "method": method,
                "kind": "file" if method in compared.runs else "floor",
                "runs": [
                    {"predictions": run.source, "match": run.match.as_dict(), "touched": run.scores.touched}
                    for run in compared.runs.get(method, ())
                ],
                "measures": _measures_of(compared, number),
            }
            for number, method in enumerate(comparison.methods)
        ],
        "reads_sentence": sorted(compared.reads_sentence),
        "network": _network_document(compared),
        "against": comparison.baseline,
        "comparisons": [
            _pair_document(comparison, pair, row)
            for row in range(len(comparison.measures))
            for pair in range(len(comparison.pairs))
        ],
        "level": LEVEL,
        "correction": {"videos": "max-t", "trainings": "bonferroni"},
        "family": comparison.family,
        "published": None if compared.published is None else _published_document(compared),
        "splits": splits_document(compared),
        "changed": changed_document(compared),
        "by_length": lengths_document(compared),
        "resamples": comparison.resamples,
        "permutations": comparison.permutations,
        "seed": compared.seed,
        "notes": notes(compared),
    }


def _network_document(compared: ComparedFiles) -> dict[str, Any] | None:
    network = compared.network
    if network is None:
        return None
    n_missed, n_hit = network.counts()
    train = network.train
    return {
        "fitted_on": {
            "dataset": train.dataset,
            "split": train.split,
            "sha256": train.sha256,
            "n_queries": train.n_queries,
        },
        "hit": str(network.hit),
        "n_missed": n_missed,
        "n_hit": n_hit,
        "second": dict(zip(("where_missed", "where_hit"), network.second, strict=True)),
        "methods": [
            {
                "method": method,
                "where_missed": hits.where_missed,
                "where_hit": hits.where_hit,
                "excess": {"value": hits.excess, "unit": "fraction", **_defined(hits.ci95)},
            }
            for method, hits in compared.network_hits.items()
        ],
    }


def _defined(ci95: Floats) -> dict[str, Floats]:
    """Return the interval as an entry, or nothing where it is undefined."""
    return {"ci95": ci95} if np.isfinite(ci95).all() else {}


def _measures_of(compared: ComparedFiles, method: int) -> list[dict[str, Any]]:
    comparison = compared.comparison
    scores = comparison.first
    video = np.unique(scores.video_id.astype(str), return_inverse=True)[1]
    entries = []
    for row, measure in enumerate(comparison.measures):
        value, values = float(comparison.mean[method, row]), comparison.values[method][:, row]
        ci95 = comparison.interval[method, row]
        depth, counts = compared.depth(row), comparison.counts[row]
        cut = replace(scores, protocol=protocol_at(scores.protocol, depth))
        figure = Measured(
            value,
            why=why_undefined_figure(comparison, row),
            ci95=ci95.tolist() if np.isfinite(ci95).all() else None,
            measure=str(measure),
            n_queries=int(counts.sum()),
            n_videos=len(np.unique(video[counts])),
            signature=f"{measure}|{cut.signature()}",
        )
        spread = {"spread": comparison.spread[method, row]} if len(values) > 1 and figure.defined else {}
        entries.append({**figure.as_dict(), **spread, "values": values, "depth": depth})
    return entries


def _pair_document(comparison: Comparison, pair: int, row: int) -> dict[str, Any]:
    p = float(comparison.p[pair, row])
    is_defined = not math.isnan(p)
    why = why_undefined_figure(comparison, row)
    resolves = Measured(float(comparison.resolves[pair, row]), why=why_unresolved(comparison, pair, row) or why)
    return {
        "measure": str(comparison.measures[row]),
        "methods": [comparison.methods[number] for number in comparison.pairs[pair]],
        "difference": comparison.difference[pair, row],
        "unit": "fraction",
        **_defined(comparison.difference_interval[pair, row]),
        "p": p,
        "p_corrected": comparison.p_corrected[pair, row],
        "significant": bool(comparison.verdict[pair, row]) if is_defined else None,
        **({} if is_defined else {"why": why}),
        "resolves": {**resolves.as_dict(), "level": comparison.level(pair, row), "power": POWER},
        "over_trainings": trainings_entry(comparison, pair, row),
    }


def _published_document(compared: ComparedFiles) -> dict[str, Any]:
    measures = compared.comparison.measures
    return {
        "sources": compared.published_sources,
        "checked": False,
        "figures": [
            {
                "method": figure.method,
                "measure": str(measures[row]),
                "value": figure.fraction,
                "unit": "fraction",
                "printed": f"{figure.value} {figure.unit}",
                "source": figure.source,
                "table": figure.table,
                "note": figure.note,
            }
            for row, figure in compared.published or ()
            if compared.depth(row) is None
        ],
    }


# --------------------------------------------------------------------------------------------- tables


def methods_table(compared: ComparedFiles) -> Table:
    """Return the table of methods: a row a method, a column a measure, published figures below.

    Figures are in percent as the protocol prints them, with the spread over several runs and marks of significance.
    """
    comparison = compared.comparison
    letters = [string.ascii_lowercase[at : at + 1] for at in range(len(comparison.methods))]  # "" after z
    measures = range(len(comparison.measures))
    several = any(len(values) > 1 for values in comparison.values)
    ranks = _ranks(compared)
    columns = [_cells(comparison, row, letters, ranks) for row in measures]
    rows = []
    for number, (letter, method) in enumerate(zip(letters, comparison.methods, strict=True)):
        name = Cell(f"{letter}: {method}" if comparison.baseline is None and not ranks else method)
        runs = [Cell(str(len(comparison.values[number])))] if several else []
        rows.append((name, *runs, *(column[number] for column in columns)))
    published: dict[str, list[tuple[Cell, ...]]] = {}
    for line in _published_rows(compared):
        figure = next(iter(line.values()))
        published.setdefault(f"Published, unchecked: {figure.origin}", []).append(
            (
                Cell(figure.method or "unnamed"),
                *([Cell("")] if several else []),
                *(Cell(line[row].percent if row in line else "") for row in measures),
            )
        )
    first = 1 + several
    marked = [first + row for row, column in enumerate(columns) if any(" " in cell.text for cell in column)]
    return Table(
        "Measures in percent",
        ("method", *(["runs"] if several else []), *map(compared.heading, measures)),
        (("", tuple(rows)), *((title, tuple(of_table)) for title, of_table in published.items())),
        text_columns=(0, *marked),
        repeats=repeated_measures(comparison.measures, rows, first),
    )


def _ranks(compared: ComparedFiles) -> dict[str, list[str]]:
    """Return the ranks of each method by measure, where there are too many methods for letters; else none."""
    comparison, methods = compared.comparison, ranking(compared).methods
    if len(comparison.methods) <= MOST_LETTERS or comparison.baseline is not None:
        return {}
    intervals = rank_intervals(comparison, methods).tolist()
    return {
        name: [rank_text(*ends) for ends in by_measure] for name, by_measure in zip(methods, intervals, strict=True)
    }


def _cells(comparison: Comparison, row: int, letters: Sequence[str], ranks: Mapping[str, Sequence[str]]) -> list[Cell]:
    """Return the figures of a measure: the mean, the spread and the marks of each method, or its ranks."""
    protocol = comparison.first.protocol
    marks_of_method: list[list[str]] = [[] for _ in letters]
    for (i, j), verdict in zip(comparison.pairs, comparison.verdict[:, row].tolist(), strict=True):
        if verdict and comparison.methods[j] == comparison.baseline:
            marks_of_method[i].append("↑" if verdict > 0 else "↓")
        elif verdict and comparison.baseline is None and not ranks:
            winner, loser = (i, j) if verdict > 0 else (j, i)
            marks_of_method[winner].append(letters[loser])
    values = comparison.mean[:, row].tolist()
    figures = [UNDEFINED if math.isnan(value) else protocol.percent(value) for value in values]
    best = max((value for value in values if not math.isnan(value)), default=None)
    largest = None if best is None else protocol.percent(best)
    spreads = [
        "" if math.isnan(value) else f"± {points(value, protocol.decimals)}" for value in comparison.spread[:, row]
    ]
    return [
        Cell(
            " ".join(filter(None, (figure, spread, "".join(marks)))),
            ranks[method][row] if method in ranks and figure != UNDEFINED else "",
            marked=figure == largest,
        )
        for method, figure, spread, marks in zip(comparison.methods, figures, spreads, marks_of_method, strict=True)
    ]


def _published_rows(compared: ComparedFiles) -> list[dict[int, PublishedFigure]]:
    """Return published figures by measure: a row a method and table of a paper, a second for a second figure."""
    rows: dict[tuple[str, str, str], list[dict[int, PublishedFigure]]] = {}
    for measure, figure in compared.published or ():
        if compared.depth(measure) is not None:
            continue
        lines = rows.setdefault((figure.source, figure.table, figure.method), [{}])
        line = next((line for line in lines if measure not in line), None)
        if line is None:
            lines.append(line := {})
        line[measure] = figure
    return [line for lines in rows.values() for line in lines]


def differences_table(compared: ComparedFiles) -> Table:
    """Return the table of differences by measure: a row a pair, in points, with interval, p-values and resolution."""
    comparison = compared.comparison
    decimals, corrected = comparison.first.protocol.decimals, comparison.family > 1

    def cells(name: str, pair: int, row: int) -> tuple[Cell, ...]:
        texts = [
            name,
            points(comparison.difference[pair, row], decimals, sign="+"),
            low_to_high(comparison.difference_interval[pair, row], decimals, times=100) or UNDEFINED,
            p_number(comparison.p[pair, row]),
            *([p_number(comparison.p_corrected[pair, row])] if corrected else []),
            points(comparison.resolves[pair, row], decimals),
        ]
        return tuple(map(Cell, texts))

    shown, left_out = _shown_pairs(compared)
    names = [f"{comparison.methods[i]} - {comparison.methods[j]}" for i, j in comparison.pairs]
    measures = {row: compared.heading(row) for row in distinct_measures(compared)}
    named = f", {names[0]}" if len(names) == 1 else ""
    caption = f"Differences in percentage points{named}{left_out}"
    caption = caption_without_repeats(caption, [*measures], comparison.measures)
    columns = ("difference", "95 % interval", "p", *(["corrected p"] if corrected else []), "detectable")
    if len(names) == 1:
        rows = tuple(cells(measure, 0, row) for row, measure in measures.items())
        return Table(caption, ("measure", *columns), (("", rows),))
    groups = [(measure, tuple(cells(names[pair], pair, row) for pair in shown)) for row, measure in measures.items()]
    return Table(caption, ("methods", *columns), tuple(groups))


def _shown_pairs(compared: ComparedFiles) -> tuple[list[int], str]:
    """Return the pairs of the table: of very many only those with the first and with blind methods; and the remark."""
    pairs, methods = compared.comparison.pairs, compared.comparison.methods
    if len(pairs) <= MOST_PAIRS:
        return list(range(len(pairs))), ""
    ranked = ranking(compared)
    kept = {methods.index(name) for name in (ranked.methods[0], *ranked.blind)}
    shown = [pair for pair, numbers in enumerate(pairs) if kept & set(numbers)]
    return shown, f"; of {len(pairs):,} pairs, those with {listed([ranked.methods[0], *ranked.blind])} (JSON has all)"


def hits_table(compared: ComparedFiles) -> Table:
    """Return the table of hits where the sentence network misses and where it hits."""
    protocol, network = compared.comparison.first.protocol, compared.network
    n_missed, n_hit = (0, 0) if network is None else network.counts()

    def share(value: float) -> str:
        return UNDEFINED if math.isnan(value) else protocol.percent(value)

    rows: list[tuple[str, ...]] = [
        (
            method,
            share(hits.where_missed),
            share(hits.where_hit),
            points(hits.excess, protocol.decimals, sign="+"),
            low_to_high(hits.ci95, protocol.decimals, times=100) or UNDEFINED,
        )
        for method, hits in compared.network_hits.items()
    ]
    if network is not None:
        rows.append(("a second network", *map(share, network.second), "", ""))
    headings = ("method", f"network misses ({n_missed:,})", f"network hits ({n_hit:,})", "excess", "95 % interval")
    return Table(
        "Hits by those of the sentence network, in percent",
        headings,
        (("", tuple(tuple(map(Cell, row)) for row in rows)),),
    )


# ---------------------------------------------------------------------------------------------- words


def _pair_table(compared: ComparedFiles) -> Table:
    """Return the figures of two methods and their difference: a row a measure."""
    differences, percent = differences_table(compared), compared.comparison.first.protocol.percent
    means = [
        tuple(Cell(UNDEFINED if math.isnan(mean) else percent(mean)) for mean in column)
        for column in compared.comparison.mean.T[distinct_measures(compared)].tolist()
    ]
    ((_, of_measures),) = differences.groups
    p = len(differences.headings) - 2  # the corrected one, where several are tested
    rows = tuple((row[0], *figures, *row[1:3], row[p]) for figures, row in zip(means, of_measures, strict=True))
    first, second = (compared.comparison.methods[number] for number in compared.comparison.pairs[0])
    headings = ("measure", "a", "b", *differences.headings[1:3], differences.headings[p])
    return Table(f"Percent; differences in percentage points. a: {first}, b: {second}", headings, (("", rows),))


def facts(compared: ComparedFiles) -> tuple[tuple[str, str], ...]:
    """Return the data and files of a comparison, and how their rows matched queries."""
    lines: dict[str, str] = {}
    rows: list[tuple[str, str]] = []
    for method, runs in compared.runs.items():
        for run in runs:
            data, predictions = (value for _, value in evaluation.facts(run.scores, run.match, run.source)[:2])
            lines["data"] = data
            rows.append((method, predictions))
    if compared.network is not None:
        train = compared.network.train
        for name in compared.comparison.blind:
            reads = "the sentence and the duration of the video" if name == NETWORK else "all sentences of a video"
            fits = counted(len(compared.comparison.groups[name]), "time")
            rows.append(
                (name, f"a blind baseline, which reads {reads}; fitted on {train.dataset}/{train.split}, {fits}")
            )
    rows += [(name, evaluation.facts(run.scores, run.match, run.source)[1][1]) for name, run in runs_beside(compared)]
    return (*lines.items(), *rows)


def notes(compared: ComparedFiles) -> list[str]:
    """Return remarks on the figures: of each file, then of the comparison."""
    runs = [run for of_method in compared.runs.values() for run in of_method]
    evaluations = (evaluation.Evaluation.of(run.scores, run.match, run.source, run.depth) for run in runs)
    of_each = [(result.source["path"], note) for result in evaluations for note in evaluation.notes(result)]
    count = Counter(note for _, note in of_each)
    lines = [f"{path}: {note}" for path, note in of_each if count[note] < len(runs)]
    lines += [f"every file: {note}" for note in count if count[note] == len(runs)]
    comparison = compared.comparison
    return [
        *lines,
        *_identical_runs(compared),
        *_equal_depths(compared),
        *compared.remarks,
        *below_blind(compared),
        *_declared(compared),
        *_limits(comparison),
        *_unresolved(comparison),
        *trainings_notes(comparison),
        *_published_notes(compared),
    ]


def _identical_runs(compared: ComparedFiles) -> Iterator[str]:
    for method, runs in compared.runs.items():
        first_with: dict[str, str] = {}
        for run in runs:
            path, first = run.source["path"], first_with.setdefault(run.source["sha256"], run.source["path"])
            if first != path:
                yield f"{method}: {path} and {first} are identical; they are one run, not two"


def _declared(compared: ComparedFiles) -> Iterator[str]:
    if compared.reads_sentence:
        yield (
            f"{listed(sorted(compared.reads_sentence))}: declared to read one sentence at a time, which truemoment "
            "audit --reads sentence tests"
        )


def _equal_depths(compared: ComparedFiles) -> Iterator[str]:
    """Name the measures at which lists are cut to equal depth."""
    depths = compared.depths
    runs = {method: [max(run.depth, 1) for run in of_method] for method, of_method in compared.runs.items()}
    for depth in sorted({limit for limit in depths if limit is not None}):
        names = [str(m) for m, limit in zip(compared.comparison.measures, depths, strict=True) if limit == depth]
        short = [method for method, lengths in runs.items() if min(lengths) <= depth]
        counts = (
            "first prediction of every list counts" if depth == 1 else f"first {depth} predictions of every list count"
        )
        yield f"{', '.join(names)}: only the {counts}, since lists of {listed(short)} have no more"


def _limits(comparison: Comparison) -> Iterator[str]:
    """Name what limits a comparison: different queries, few videos, few permutations, undefined intervals."""
    scores = comparison.first
    if comparison.weights_differ:
        yield (
            f"protocol {scores.protocol.name} measures each file on the queries that it answers, so the queries "
            "differ; missing=worst measures all files on the same queries"
        )
    if scores.n_videos < FEW_VIDEOS:
        yield f"{scores.n_videos} videos are few: the smallest detectable difference is underestimated"
    least = smallest_p(scores.n_videos, comparison.permutations)
    if least > LEVEL and not comparison.over_trainings.all():
        remedy = "" if 2**scores.n_videos <= comparison.permutations else "; use more --permutations"
        yield f"no difference can be significant here: the smallest possible value is {p_value(least)}{remedy}"
    defined = np.isfinite(comparison.mean).all(axis=0)
    unbounded = np.asarray(defined & ~np.isfinite(comparison.difference_interval).all(axis=(0, 2)))
    if unbounded.any() and least <= LEVEL:
        measures = [comparison.measures[row] for row in np.flatnonzero(unbounded)]
        names, counts = ", ".join(map(str, measures)), what_counts(measures)
        yield f"{names}: no interval, since too few videos have a {counts} that counts"


def _unresolved(comparison: Comparison) -> Iterator[str]:
    for pair, (i, j) in enumerate(comparison.pairs):
        why = [why_unresolved(comparison, pair, row) for row in range(len(comparison.measures))]
        for reason in dict.fromkeys(filter(None, why)):
            measures = [str(measure) for measure, text in zip(comparison.measures, why, strict=True) if text == reason]
            names = f"{comparison.methods[i]} and {comparison.methods[j]}"
            yield f"{names}: {reason} in {', '.join(measures)}, so the smallest detectable difference there is unknown"


def _published_notes(compared: ComparedFiles) -> Iterator[str]:
    if compared.published is None:
        return
    scores = compared.comparison.first
    names = dict.fromkeys(str(scores.measures[row]) for row, _ in compared.published if compared.depth(row) is not None)
    if names:
        yield f"published figures of {', '.join(names)} are not shown, since they are of longer lists"
    if compared.published:
        yield "published figures are as printed, unchecked, and perhaps of another convention; they are not tested"
    else:
        yield f"no published figure of {scores.dataset}/{scores.split} and these measures"


def explanations(compared: ComparedFiles) -> list[str]:
    """Explain the marks and columns of the tables."""
    comparison = compared.comparison
    level = f"{'corrected p' if comparison.family > 1 else 'p'} at most {LEVEL}"
    if _ranks(compared):
        marks = f"below a figure: the ranks that the tests allow ({level}) among the methods that see the video"
    elif comparison.baseline is None:
        marks = f"a letter after a figure: significantly above the method of that letter ({level})"
    else:
        marks = f"↑ ↓ after a figure: significantly above or below {comparison.baseline} ({level})"
    lines = [
        marks if _ranks(compared) else f"{marks}; figures without a mark may differ too",
        "the largest figure of a measure has a *, or is bold",
    ]
    if comparison.family > 1:
        is_trained = has_trainings(comparison)
        correction = (
            "max-t, over trainings Bonferroni" if is_trained and not comparison.over_trainings.all() else "Bonferroni"
        )
        lines.append(
            f"corrected p-values and intervals apply to all {comparison.family} comparisons together "
            f"({correction if is_trained else 'max-t'}): an interval contains 0 exactly where the corrected p is above "
            f"{LEVEL}"
        )
    if comparison.blind and any(len(values) == 1 for values in comparison.values):
        lines.append(
            "a method with one run is above or below a blind one only if the interval also lies beyond twice the "
            "standard deviation between trainings of the blind one: "
            f"{', '.join(f'{name} {points(margin)}' for name, margin in comparison.margin.items())} points"
        )
    lines.append(
        f"detectable: the smallest true difference, in points, that would be significant in {100 * POWER:.0f} % of "
        "such splits; a smaller one may exist and not be found"
    )
    if compared.network is not None:
        lines.append(
            f"network misses, network hits: share of these queries that a method hits ({compared.network.hit}); "
            "excess: the share where the network misses, minus that of a second such network"
        )
    if any(len(values) > 1 for values in comparison.values):
        lines.append("±: standard deviation over runs")
    if has_trainings(comparison):
        lines.append(EXPLANATION)
    return lines
