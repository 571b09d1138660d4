"""The report of a comparison: a JSON document for programs, two tables and a few lines for people.

The first table has a row a method, the second a row a pair of methods and measure. Published figures
stand below ours on request, marked as what they are.
"""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truemoment.comparison import POWER, Comparison, PublishedFigure
from truemoment.equal_depth import protocol_at
from truemoment.intervals import Floats
from truemoment.measures import Measure, why_undefined
from truemoment.network_row import HitsBesideNetwork, NetworkRow
from truemoment.reports import evaluation as of_run
from truemoment.reports.evaluation import Evaluation
from truemoment.reports.head import head
from truemoment.reports.render.tabular import TableStyle, escaped, render
from truemoment.text import one_line
from truemoment.uncertainty import FEW_DIFFERING, LEVEL, smallest_p

SCHEMA = "truemoment/comparison/2"

FEW_VIDEOS = 30
"""With fewer, intervals by resampling are too narrow (simulated: 90 % in place of 95 % at 10 videos, 93 % at 30)."""

_ABOVE, _BELOW, _PLUS_MINUS, _MINUS, _PUBLISHED, _BOLD, _END_BOLD, _RAISED, _END_RAISED = map(
    chr, range(0xE000, 0xE009)
)
"""Private characters that stand for mark-up in a cell, since each style writes it in its own way."""

_SIGNS = {_ABOVE: "▲", _BELOW: "▼", _PLUS_MINUS: "±", _MINUS: "-", _PUBLISHED: "†"}
_MARKUP: dict[TableStyle, dict[str, str]] = {
    "plain": _SIGNS | dict.fromkeys((_BOLD, _END_BOLD, _RAISED, _END_RAISED), ""),
    "md": _SIGNS | {_BOLD: "**", _END_BOLD: "**", _RAISED: "<sup>", _END_RAISED: "</sup>"},
    "latex": {
        _ABOVE: r"\uparrow",
        _BELOW: r"\downarrow",
        _PLUS_MINUS: r"$\pm$",
        _MINUS: "$-$",
        _PUBLISHED: r"$^\dagger$",
        _BOLD: r"\textbf{",
        _END_BOLD: "}",
        _RAISED: "$^{",
        _END_RAISED: "}$",
    },
}


@dataclass(frozen=True, eq=False)
class ComparedFiles:
    """All there is to say of compared prediction files.

    Parameters
    ----------
    comparison
        Figures, differences, intervals, p values.
    runs
        Of each method, what was read and measured, a file a run.
    published
        Published figures to set beside ours, each with the row of its measure; None if not asked for.
    published_sources
        Files they were read from: path and sha256.
    seed
        Of resamples and swaps.
    depths
        Number of answers that every list is cut to, by measure; None where lists are not cut.
    remarks
        What else a reader should know.
    network
        The sentence network, the method of the comparison that is no file; None if there is none.
    beside
        Of each other method, its hits where the network is right and where it misses.
    """

    comparison: Comparison
    runs: Mapping[str, Sequence[Evaluation]]
    published: Sequence[tuple[int, PublishedFigure]] | None = None
    published_sources: Sequence[dict[str, str]] = ()
    seed: int = 0
    depths: Sequence[int | None] = ()
    remarks: Sequence[str] = ()
    network: NetworkRow | None = None
    beside: Mapping[str, HitsBesideNetwork] = field(default_factory=dict)

    def depth(self, row: int) -> int | None:
        """Return the number of answers that lists are cut to at a measure; None where they are not cut."""
        return self.depths[row] if self.depths else None

    def heading(self, row: int) -> str:
        """Return a measure as tables name it, with the depth where lists are cut."""
        depth = self.depth(row)
        return f"{self.comparison.measures[row]}" + ("" if depth is None else f" (top {depth})")


# ------------------------------------------------------------------------------------------- document


def document(compared: ComparedFiles) -> dict[str, Any]:
    """Return the JSON document."""
    comparison = compared.comparison
    scores = comparison.first
    return {
        **head(SCHEMA, scores),
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
        "network": _network_document(compared),
        "against": comparison.baseline,
        "comparisons": [
            _compared(comparison, row, measure)
            for measure in range(len(comparison.measures))
            for row in range(len(comparison.pairs))
        ],
        "level": LEVEL,
        "correction": "max-t",
        "family": comparison.family,
        "published": None if compared.published is None else _published_document(compared),
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
    return {
        "fitted_on": {
            "dataset": network.train.dataset,
            "split": network.train.split,
            "sha256": network.train.sha256,
            "n_queries": network.train.n_queries,
        },
        "hit": str(network.hit),
        "n_missed": n_missed,
        "n_hit": n_hit,
        "second": {"where_missed": _number(network.second[0]), "where_hit": _number(network.second[1])},
        "methods": [
            {
                "method": method,
                "where_missed": _number(found.where_missed),
                "where_hit": _number(found.where_hit),
                "excess": {"value": _number(found.excess), "unit": "fraction"}
                | ({"ci95": found.ci95.tolist()} if np.isfinite(found.ci95).all() else {}),
            }
            for method, found in compared.beside.items()
        ],
    }


def _measures_of(compared: ComparedFiles, method: int) -> list[dict[str, Any]]:
    comparison = compared.comparison
    scores = comparison.first
    video = np.unique(scores.video_id.astype(str), return_inverse=True)[1]
    entries = []
    for row, measure in enumerate(comparison.measures):
        value = float(comparison.mean[method, row])
        entry: dict[str, Any] = {"measure": str(measure), "value": _number(value), "unit": "fraction"}
        if math.isnan(value):
            entry["why"] = _why_undefined(comparison, row)
        if np.isfinite(comparison.interval[method, row]).all():
            entry["ci95"] = comparison.interval[method, row].tolist()
        if len(comparison.values[method]) > 1 and not math.isnan(value):
            entry["spread"] = float(comparison.spread[method, row])
        counts = comparison.counts[row]
        entry["values"] = [_number(one) for one in comparison.values[method][:, row].tolist()]
        entry["n_queries"] = int(counts.sum())
        entry["n_videos"] = len(np.unique(video[counts]))
        depth = compared.depth(row)
        entry["depth"] = depth
        cut = replace(scores, protocol=protocol_at(scores.protocol, depth))
        entry["signature"] = f"{measure}|{cut.signature()}"
        entries.append(entry)
    return entries


def _compared(comparison: Comparison, pair: int, row: int) -> dict[str, Any]:
    names = [comparison.methods[number] for number in comparison.pairs[pair]]
    difference, p = float(comparison.difference[pair, row]), float(comparison.p[pair, row])
    entry: dict[str, Any] = {
        "measure": str(comparison.measures[row]),
        "methods": names,
        "difference": _number(difference),
        "unit": "fraction",
    }
    if np.isfinite(comparison.difference_interval[pair, row]).all():
        entry["ci95"] = comparison.difference_interval[pair, row].tolist()
    entry["p"] = _number(p)
    entry["p_corrected"] = _number(float(comparison.p_corrected[pair, row]))
    entry["significant"] = None if math.isnan(p) else bool(comparison.verdict[pair, row])
    if math.isnan(p):
        entry["why"] = _why_undefined(comparison, row)
    resolves = float(comparison.resolves[pair, row])
    entry["resolves"] = {"value": _number(resolves), "unit": "fraction"}
    if math.isnan(resolves):
        entry["resolves"]["why"] = _why_unresolved(comparison, pair, row) or _why_undefined(comparison, row)
    entry["resolves"] |= {"level": comparison.resolved_level, "power": POWER}
    return entry


def _why_unresolved(comparison: Comparison, pair: int, row: int) -> str:
    """Why `resolves` is undefined where the difference and the figures' intervals are not; else ""."""
    figures = comparison.interval[list(comparison.pairs[pair]), row]
    if not (math.isnan(comparison.resolves[pair, row]) and np.isfinite(figures).all()):
        return ""
    count = int(comparison.n_differing[pair, row])
    if count < FEW_DIFFERING:
        return f"they differ on {count or 'no'} video{'' if count == 1 else 's'}"
    if not comparison.resolved_level:
        return "no difference can come out significant"
    return "they differ by the same on every video"


def _why_undefined(comparison: Comparison, row: int) -> str:
    if np.isnan(comparison.mean[:, row]).any():
        return why_undefined(comparison.measures[row])
    counts = _what_counts([comparison.measures[row]])
    return f"so few videos have a {counts} that counts that some resamples or swaps hold none"


def _what_counts(measures: Iterable[Measure]) -> str:
    """What must be there for a figure to be defined, in a word."""
    return "query" if any(measure.needs == "abstentions" for measure in measures) else "reference"


def _published_document(compared: ComparedFiles) -> dict[str, Any]:
    measures = compared.comparison.measures
    shown = [(row, figure) for row, figure in compared.published or () if compared.depth(row) is None]
    return {
        "sources": list(compared.published_sources),
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
            for row, figure in shown
        ],
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


# --------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True)
class _Column:
    """A column of a table: its heading, its cells from top to bottom, and whether it stands to the right."""

    heading: str
    cells: list[str]
    is_number: bool = True


def table(compared: ComparedFiles, *, style: TableStyle = "plain") -> str:
    """Return the table of methods: a row a method, a column a measure, published rows below.

    Figures are in percent as the protocol prints them, with their spread where a method has several
    runs and marks of significance. In Markdown and LaTeX the best figure of a measure is bold.
    """
    comparison = compared.comparison
    below = _published_rows(compared)
    blank = [""] * len(below)
    letters = _letters(comparison)
    columns = [_Column("method", [*comparison.methods, *map(_published_name, below)], is_number=False)]
    if comparison.baseline is None:
        columns.insert(0, _Column("", letters + blank, is_number=False))
    if any(len(values) > 1 for values in comparison.values):
        columns.append(_Column("runs", [str(len(values)) for values in comparison.values] + blank))
    for row in range(len(comparison.measures)):
        published = [line[row].percent if row in line else "" for line in below]
        figures, spreads, marks = _cells(comparison, row, letters)
        if style == "plain":  # in columns of their own, so that figures stand below each other
            columns.append(_Column(compared.heading(row), figures + published))
            columns += [_Column("", extra + blank, is_number=False) for extra in (spreads, marks) if any(extra)]
        else:
            best = _best(comparison, row)
            shown = [f"{_BOLD}{figure}{_END_BOLD}" if figure == best else figure for figure in figures]
            shown = [f"{figure} {spread}".rstrip() for figure, spread in zip(shown, spreads, strict=True)]
            raised = [f"{_RAISED}{mark}{_END_RAISED}" if mark else "" for mark in marks]
            together = [figure + mark for figure, mark in zip(shown, raised, strict=True)]
            columns.append(_Column(compared.heading(row), together + published))
    return _laid_out(columns, style)


def differences(compared: ComparedFiles, *, style: TableStyle = "plain") -> str:
    """Return the table of differences: a row a measure and pair, in points, with interval, p values, resolution."""
    comparison = compared.comparison
    measures, names = comparison.measures, comparison.methods
    rows = [(row, pair) for row in range(len(measures)) for pair in range(len(comparison.pairs))]

    def points(values: Floats, *, sign: str = "-") -> list[str]:
        return [_points(comparison, float(values[pair, row]), sign=sign) for row, pair in rows]

    low, high = (points(comparison.difference_interval[..., end]) for end in (0, 1))
    pair_names = [f"{names[i]} {_MINUS} {names[j]}" for i, j in comparison.pairs]
    columns = [
        _Column("measure", [compared.heading(row) for row, _ in rows], is_number=False),
        _Column("methods", [pair_names[pair] for _, pair in rows], is_number=False),
        _Column("difference", points(comparison.difference, sign="+")),
        _Column("95 % interval", ["-" if a == "-" else f"{a} to {b}" for a, b in zip(low, high, strict=True)]),
        _Column("p", [_p(float(comparison.p[pair, row])) for row, pair in rows]),
    ]
    if comparison.family > 1:
        columns.append(_Column("corrected p", [_p(float(comparison.p_corrected[pair, row])) for row, pair in rows]))
    columns.append(_Column("resolves", points(comparison.resolves)))
    return _laid_out(columns, style)


def hits_beside_network(compared: ComparedFiles, *, style: TableStyle = "plain") -> str:
    """Return the table of hits where the sentence network is right and where it misses; "" where there is none."""
    comparison, network = compared.comparison, compared.network
    if network is None:
        return ""
    n_missed, n_hit = network.counts()
    found = compared.beside.values()
    percent = comparison.first.protocol.percent

    def shares(values: Iterable[float]) -> list[str]:
        return ["-" if math.isnan(value) else percent(value) for value in values]

    ends = [[_points(comparison, float(end)) for end in of.ci95] for of in found]
    columns = [
        _Column("method", [*compared.beside, "a second network"], is_number=False),
        _Column(f"network misses ({n_missed:,})", shares([*(of.where_missed for of in found), network.second[0]])),
        _Column(f"network hits ({n_hit:,})", shares([*(of.where_hit for of in found), network.second[1]])),
        _Column("excess", [*(_points(comparison, of.excess, sign="+") for of in found), ""]),
        _Column("95 % interval", [*(" to ".join(pair) if "-" not in pair else "-" for pair in ends), ""]),
    ]
    return _laid_out(columns, style)


def _laid_out(columns: Sequence[_Column], style: TableStyle) -> str:
    headings = [column.heading for column in columns]
    rows = [list(cells) for cells in zip(*(column.cells for column in columns), strict=True)]
    numbers = [at for at, column in enumerate(columns) if column.is_number]
    if style == "latex":  # what is laid out is escaped, so mark-up comes after
        return _marked_up(render(headings, rows, style=style, numbers=numbers), style)
    if style == "md":
        rows = [[escaped(cell, style) for cell in cells] for cells in rows]
    rows = [[_marked_up(cell, style) for cell in cells] for cells in rows]
    return render(headings, rows, style=style, numbers=numbers)


def _marked_up(text: str, style: TableStyle) -> str:
    return text.translate({ord(sign): written for sign, written in _MARKUP[style].items()})


def _cells(comparison: Comparison, row: int, letters: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Figure, spread and marks of each method in a measure."""
    percent = comparison.first.protocol.percent
    figures = ["-" if math.isnan(value) else percent(value) for value in comparison.mean[:, row].tolist()]
    spread = comparison.spread[:, row].tolist()
    spreads = ["" if math.isnan(value) else f"{_PLUS_MINUS} {_points(comparison, value)}" for value in spread]
    above: list[list[str]] = [[] for _ in letters]
    for (i, j), verdict in zip(comparison.pairs, comparison.verdict[:, row].tolist(), strict=True):
        if verdict and comparison.methods[j] == comparison.baseline:
            above[i].append(_ABOVE if verdict > 0 else _BELOW)
        elif verdict and comparison.baseline is None:
            winner, loser = (i, j) if verdict > 0 else (j, i)
            above[winner].append(letters[loser])
    separator = "" if max(map(len, letters)) == 1 else ","
    return figures, spreads, [separator.join(marks) for marks in above]


def _best(comparison: Comparison, row: int) -> str:
    """The largest figure as printed; all that print alike are best."""
    values = comparison.mean[:, row]
    return "" if np.isnan(values).all() else comparison.first.protocol.percent(float(np.nanmax(values)))


def _letters(comparison: Comparison) -> list[str]:
    """A letter a method, or its number where letters do not reach."""
    count = len(comparison.methods)
    return list(string.ascii_lowercase[:count]) if count <= 26 else [str(number + 1) for number in range(count)]


def _published_rows(compared: ComparedFiles) -> list[dict[int, PublishedFigure]]:
    """Published figures by measure: a row a method and table of a paper, a second for a second figure."""
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


def _published_name(line: Mapping[int, PublishedFigure]) -> str:
    figure = next(iter(line.values()))
    where = ", ".join(word for word in (figure.source, figure.table) if word)
    return one_line(f"{_PUBLISHED} {figure.method or 'unnamed'} ({where})")


def _points(comparison: Comparison, value: float, *, sign: str = "-") -> str:
    """A fraction in points of percent, with a sign in front of negative or ("+") all numbers."""
    if math.isnan(value):
        return "-"
    sign = sign if value else "-"
    return f"{100 * value:{sign}.{comparison.first.protocol.decimals}f}".replace("-", _MINUS)


def _p(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.4f}" if value >= 0.00005 else "<0.0001"


# ---------------------------------------------------------------------------------------------- words


def preamble(compared: ComparedFiles) -> list[str]:
    """Say what was compared on what, and how the rows of each file found their queries."""
    lines: list[str] = []
    for method, runs in compared.runs.items():
        for run in runs:
            of_all, of_file = (value for _, value in of_run.facts(run.scores, run.match, run.source)[:2])
            lines += [f"{method}: {of_file}"] if lines else [of_all, f"{method}: {of_file}"]
    if compared.network is not None:
        train, fits = compared.network.train, len(compared.network.runs)
        lines.append(
            f"{compared.comparison.blind}: a blind baseline, which reads the sentence and the duration of the video; "
            f"fitted on {train.dataset}/{train.split}, {fits} times"
        )
    return lines


def notes(compared: ComparedFiles) -> list[str]:
    """Say aloud what a reader of the figures should know: of each file, then of the comparison."""
    runs = [run for of_method in compared.runs.values() for run in of_method]
    of_each = [(run.source["path"], note) for run in runs for note in of_run.notes(run)]
    count = Counter(note for _, note in of_each)
    said = [f"{path}: {note}" for path, note in of_each if count[note] < len(runs)]
    said += [f"every file: {note}" for note in count if count[note] == len(runs)]
    said += [*_of_copies(compared), *_of_depths(compared), *compared.remarks]
    comparison = compared.comparison
    return [*said, *_of_network(comparison), *_of_comparison(comparison), *_of_published(compared)]


def _of_copies(compared: ComparedFiles) -> Iterator[str]:
    """Runs of one method that are one file: their spread says nothing."""
    for method, runs in compared.runs.items():
        first_with: dict[str, str] = {}
        for run in runs:
            path, first = run.source["path"], first_with.setdefault(run.source["sha256"], run.source["path"])
            if first != path:
                yield f"{method}: {path} holds the same bytes as {first}; they are one run, not two"


def _of_network(comparison: Comparison) -> Iterator[str]:
    """Measures at which a method is not shown to be above the method without the video."""
    if comparison.blind is None:
        return
    for method in comparison.methods:
        if method != comparison.blind:
            verdict = comparison.above(method, comparison.blind)
            for sign, words in ((0, "not shown to be above"), (-1, "significantly below")):
                names = [str(m) for m, of in zip(comparison.measures, verdict.tolist(), strict=True) if of == sign]
                if names:
                    yield f"{method} is {words} {comparison.blind}, which never sees the video, in {', '.join(names)}"


def _of_depths(compared: ComparedFiles) -> Iterator[str]:
    """Measures at which lists are cut to equal depth."""
    depths = compared.depths
    for depth in sorted({of for of in depths if of is not None}):
        names = [str(m) for m, of in zip(compared.comparison.measures, depths, strict=True) if of == depth]
        runs = {method: [max(run.depth, 1) for run in of_method] for method, of_method in compared.runs.items()}
        short = [method for method, lengths in runs.items() if min(lengths) <= depth]
        counts = "first answer of every list counts" if depth == 1 else f"first {depth} answers of every list count"
        yield f"{', '.join(names)}: only the {counts}, since lists of {' and '.join(short)} have no more"


def _of_comparison(comparison: Comparison) -> Iterator[str]:
    """What limits a comparison: too few videos, too few permutations, methods measured on different queries."""
    scores = comparison.first
    n_videos = len(set(scores.video_id))
    if comparison.weights_differ:
        yield (
            f"protocol {scores.protocol.name} measures the files on different queries, those that each answers; "
            "missing=worst holds them against the same"
        )
    if n_videos < FEW_VIDEOS:
        yield f"{n_videos} videos are few: what the split resolves comes out too small"
    least = smallest_p(n_videos, comparison.permutations)
    if least > LEVEL:
        remedy = "" if 2**n_videos <= comparison.permutations else "; ask for more --permutations"
        yield f"no difference can come out significant here: the smallest p is {_p(least)}{remedy}"
    defined = np.isfinite(comparison.mean).all(axis=0)
    endless = np.asarray(defined & ~np.isfinite(comparison.difference_interval).all(axis=(0, 2)))
    if endless.any() and least <= LEVEL:
        measures = [comparison.measures[row] for row in np.flatnonzero(endless)]
        names, counts = ", ".join(map(str, measures)), _what_counts(measures)
        yield f"{names}: no interval, since too few videos have a {counts} that counts"
    for pair, (i, j) in enumerate(comparison.pairs):
        why = [_why_unresolved(comparison, pair, row) for row in range(len(comparison.measures))]
        for reason in dict.fromkeys(filter(None, why)):
            of = [str(measure) for measure, given in zip(comparison.measures, why, strict=True) if given == reason]
            names = f"{comparison.methods[i]} and {comparison.methods[j]}"
            yield f"{names}: {reason} in {', '.join(of)}, so what the split resolves there is not known"


def _of_published(compared: ComparedFiles) -> Iterator[str]:
    if compared.published is None:
        return
    scores = compared.comparison.first
    deeper = dict.fromkeys(
        str(scores.measures[row]) for row, _ in compared.published if compared.depth(row) is not None
    )
    if deeper:
        yield f"published figures of {', '.join(deeper)} are not shown, since they are of longer lists"
    if compared.published:
        yield "published figures are as printed and unchecked, perhaps by another convention; nothing is tested on them"
    else:
        yield f"no published figure of {scores.dataset}/{scores.split} and these measures"


def closing(compared: ComparedFiles) -> list[str]:
    """Explain the marks and columns, and give the signature that belongs to every figure."""
    comparison = compared.comparison
    family, level = comparison.family, f"p at most {LEVEL}"
    if family > 1:
        level = f"corrected p at most {LEVEL}"
    if comparison.baseline is None:
        marks = f"a letter behind a figure: significantly above the method of that letter ({level})"
    else:
        signs = f"{_SIGNS[_ABOVE]} {_SIGNS[_BELOW]}"
        marks = f"{signs} behind a figure: significantly above or below {comparison.baseline} ({level})"
    lines = [
        f"{marks}; no mark does not say that two are equal",
        f"resolves: a true difference of so many points would be found significant in {100 * POWER:.0f} % of such "
        "splits; a smaller one may be there and not be found",
    ]
    if family > 1:
        of_measures = len(comparison.measures)
        lines.insert(
            1,
            f"corrected p values and intervals are for all {family} comparisons together, those of "
            f"{'all measures' if of_measures > 1 else 'the measure'} (max-t): an interval contains 0 just where the "
            "difference is not significant",
        )
    if compared.network is not None:
        lines.append(
            f"network misses, network hits: share of these queries on which a method hits ({compared.network.hit}); "
            "excess: what it hits where the network misses, less what a second such network hits there"
        )
    if any(len(values) > 1 for values in comparison.values):
        lines.append(
            f"{_SIGNS[_PLUS_MINUS]}: standard deviation over runs; intervals and p values are about other videos, not "
            "about other trainings"
        )
    drawn = f"{comparison.resamples} resamples and {comparison.permutations} permutations of videos"
    return [*lines, f"{comparison.first.signature()}|compared:{drawn}, seed {compared.seed}"]
