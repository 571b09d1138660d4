"""The answer of a comparison: the ranked methods, and which are above the strongest one without the video."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from truemoment.base.boundary.documents import NO_INTERVAL
from truemoment.base.intervals import Floats
from truemoment.report.charts import StripChart, StripMark, StripRow, percent_mark
from truemoment.report.model import Cell, Finding, Paragraph, Table
from truemoment.report.roles import RoleName
from truemoment.report.words import UNDEFINED, few, low_to_high, p_value, points
from truemoment.studies.compare.comparison import Comparison
from truemoment.studies.compare.files import ComparedFiles
from truemoment.studies.compare.ranking import MethodRanking, blind_for, distinct_measures, ranking
from truemoment.studies.compare.report_beside import published_name
from truemoment.studies.compare.report_lengths import method_looks
from truemoment.studies.compare.undefined import why_undefined_figure

UNSEEN = "never sees the video"

MOST_STRIPS = 6
"""Measures that are drawn; the table has all of them."""


# ---------------------------------------------------------------------------------------------- words


def headline(compared: ComparedFiles) -> Finding:
    """Return the verdict: how many methods are above the strongest blind one, or how the first two compare."""
    ranked = ranking(compared)
    comparison, first = compared.comparison, ranked.methods[0]
    if not ranked.blind or math.isnan(ranked.value(first)):
        return Finding((_first_two(ranked),))
    blind, n, above = ranked.blind[0], len(ranked.methods), len(ranked.above_blind)
    if n == above:
        count = {1: f"{first} is", 2: "Both methods are"}.get(n, f"All {n} methods are")
    else:
        count = f"{first} is not" if n == 1 else f"{above or 'None'} of {n} methods {'is' if above < 2 else 'are'}"
    figures = _figures(comparison, first, blind, ranked.row)
    return Finding((f"{count} significantly above {blind}, which {UNSEEN}: the best, {first}, has {figures}.",))


def lead_sentence(compared: ComparedFiles) -> tuple[Paragraph, ...]:
    """Return how the first two methods compare, where the headline is about a blind one."""
    ranked = ranking(compared)
    if not ranked.blind or len(ranked.methods) < 2 or math.isnan(ranked.value(ranked.methods[0])):
        return ()
    return (Paragraph(_first_two(ranked)),)


def _first_two(ranked: MethodRanking) -> str:
    """Return whether the first method is above the second, above all others, or from which it is not distinguished."""
    first, second = ranked.methods[:2] if len(ranked.methods) > 1 else (ranked.methods[0], ranked.blind[0])
    comparison, row = ranked.compared.comparison, ranked.row
    if not ranked.ranks and not {first, second} & {*ranked.blind, comparison.baseline}:
        second = str(comparison.baseline)
    names, measure = f"{first} and {second}", comparison.measures[row]
    if math.isnan(ranked.value(first)) or math.isnan(ranked.value(second)):
        return f"{names} cannot be compared at {measure}: {why_undefined_figure(comparison, row)}."
    level = ranked.level_with(first) if ranked.ranks else []
    figures = _figures(comparison, first, second, row)
    if len(level) > 1:
        return f"{first} has the highest {measure}; it is not shown to be above {few(level)}."
    if len(ranked.methods) > 2 and ranked.ranks and not level:
        return f"{first} is significantly above all other methods; above {second}, the next one, with {figures}."
    is_shown = ranked.verdict(first, second)
    return f"{first} {'is significantly' if is_shown else 'is not shown to be'} above {second}: {figures}."


def _figures(comparison: Comparison, first: str, second: str, row: int) -> str:
    """Return the figures of two methods at a measure, and their difference with its interval and p-value."""
    i, j = comparison.methods.index(first), comparison.methods.index(second)
    percent, decimals = comparison.first.protocol.percent, comparison.first.protocol.decimals
    difference, interval, pair = _difference(comparison, first, second, row)
    p = float((comparison.p_corrected if comparison.family > 1 else comparison.p)[pair, row])
    details = [
        f"95 % interval {low_to_high(interval, decimals, times=100)}" if np.isfinite(interval).all() else NO_INTERVAL,
        f"{'corrected ' if comparison.family > 1 else ''}{p_value(p)}",
    ]
    return (
        f"{percent(float(comparison.mean[i, row]))} against {percent(float(comparison.mean[j, row]))} at "
        f"{comparison.measures[row]}, {points(difference, decimals, sign='+')} points ({', '.join(details)})"
    )


def _difference(comparison: Comparison, first: str, second: str, row: int) -> tuple[float, Floats, int]:
    """Return the first method less the second, a fraction, with its interval and the number of their pair."""
    pair, sign = comparison.pair_of(first, second)
    interval = np.sort(sign * comparison.difference_interval[pair, row])
    return sign * float(comparison.difference[pair, row]), interval, pair


def findings(compared: ComparedFiles) -> Iterator[Finding]:
    """Yield the methods that are not above a blind one, and those that the tests do not distinguish."""
    ranked, comparison = ranking(compared), compared.comparison
    measure = comparison.measures[ranked.row]
    others = [name for name in ranked.methods if name not in ranked.above_blind]
    if below := tuple(below_blind(compared)):
        blind = f"significantly above {ranked.blind[0]}, which {UNSEEN}"
        if others:
            text = (
                f"{few(others)}: not {blind}, at {measure}. Such a score does not show that a method looks at videos."
            )
            yield Finding((text,), "Not above a method without the video", "warning", below)
        else:
            text = f"At some other measures, methods are not {blind}."
            yield Finding((text,), "Not above a method without the video", "note", below)
    lines = [f"{name}: {few(level, 8)}" for name in ranked.ranks if (level := ranked.level_with(name))]
    if lines:
        text = f"At {measure}, {len(lines)} of {len(ranked.methods)} methods are not distinguished from some other."
        yield Finding((text,), "Methods that are not distinguished", "note", tuple(lines))


def below_blind(compared: ComparedFiles) -> Iterator[str]:
    """Name the measures in which a method is not significantly above a method without the video."""
    comparison = compared.comparison
    for blind in comparison.blind:
        for method in comparison.methods:
            if method in comparison.blind or blind not in blind_for(compared, method):
                continue
            verdict = comparison.above(method, blind)
            for sign, words in ((0, "not significantly above"), (-1, "significantly below")):
                names = [str(m) for m, at in zip(comparison.measures, verdict.tolist(), strict=True) if at == sign]
                if names:
                    yield f"{method} is {words} {blind}, which {UNSEEN}, in {', '.join(names)}"


# --------------------------------------------------------------------------------------------- table


def ranked_table(compared: ComparedFiles) -> Table:
    """Return the methods by the headline measure, with their ranks and differences; the second group is below blind."""
    ranked, comparison = ranking(compared), compared.comparison
    protocol, decimals = comparison.first.protocol, comparison.first.protocol.decimals
    blind = ranked.blind[0] if ranked.blind else ""

    def row(name: str) -> tuple[Cell, ...]:
        value, ci95 = ranked.value(name), comparison.interval[comparison.methods.index(name), ranked.row]
        texts = [
            name,
            *([ranked.ranks.get(name, "")] if ranked.ranks else []),
            UNDEFINED if math.isnan(value) else protocol.percent(value),
            low_to_high(ci95, decimals, times=100) or UNDEFINED,
        ]
        if blind:
            texts += ["", ""] if name in ranked.blind else over(name)
        return tuple(map(Cell, texts))

    def over(name: str) -> list[str]:
        difference, interval, _ = _difference(comparison, name, blind, ranked.row)
        return [points(difference, decimals, sign="+"), low_to_high(interval, decimals, times=100) or UNDEFINED]

    groups = [("", tuple(map(row, ranked.above_blind if blind else ranked.methods)))]
    if blind:
        below = [blind, *(name for name in ranked.methods if name not in ranked.above_blind), *ranked.blind[1:]]
        groups.append((f"Not significantly above {blind}, which {UNSEEN}", tuple(map(row, below))))
    headings = [
        "method",
        *(["rank"] if ranked.ranks else []),
        compared.heading(ranked.row),
        "95 % interval",
        *([f"over {blind}", "95 % interval"] if blind else []),
    ]
    rank = "; ranks are those that the corrected tests allow" if ranked.ranks else ""
    return Table(
        f"Methods by {comparison.measures[ranked.row]}, in percent, differences in points{rank}",
        tuple(headings),
        tuple((title, rows) for title, rows in groups if rows),
    )


# -------------------------------------------------------------------------------------------- charts


def ranked_strip(compared: ComparedFiles) -> StripChart:
    """Return the methods by the headline measure: those above the strongest blind one, a line, and the others."""
    ranked, comparison = ranking(compared), compared.comparison
    row, measure = ranked.row, comparison.measures[ranked.row]
    own, blind = ranked.methods, ranked.blind
    notes = {**dict.fromkeys(own, ""), **ranked.ranks}
    above = ranked.above_blind if blind else own
    rows = [_row(compared, name, row, notes[name]) for name in above]
    if blind:
        rows.append(_row(compared, blind[0], row, "blind")._replace(is_main=True, is_cut=True))
        rows += [_row(compared, name, row, notes[name]) for name in own if name not in above]
        rows += [_row(compared, name, row, "blind") for name in blind[1:]]
    caption = ""
    if blind:
        caption = f"Methods below the dashed line are not significantly above {blind[0]}, which {UNSEEN}."
    if ranked.ranks and len(own) > 1:
        caption = f"{caption} Methods whose ranks overlap may be equal.".strip()
    return StripChart(
        "methods",
        f"{compared.heading(row)} of each method",
        caption,
        f"{measure}, %",
        (("", tuple(rows)), *_published_group(compared, row)),
        note="rank" if ranked.ranks else "",
        line=_mark(compared, blind[0], row) if blind else None,
        decimals=comparison.first.protocol.decimals,
    )


def measure_strips(compared: ComparedFiles) -> list[StripChart]:
    """Return a strip chart for each other measure that repeats none, the methods in the order of the ranking."""
    ranked, comparison = ranking(compared), compared.comparison
    rows = [row for row in distinct_measures(compared) if row != ranked.row][: MOST_STRIPS - 1]
    names = [*ranked.methods, *ranked.blind]
    return [
        StripChart(
            f"methods-{row + 1}",
            f"{compared.heading(row)} of each method",
            "",
            f"{comparison.measures[row]}, %",
            (("", tuple(_row(compared, name, row) for name in names)), *_published_group(compared, row)),
            decimals=comparison.first.protocol.decimals,
        )
        for row in rows
    ]


def _row(compared: ComparedFiles, name: str, row: int, note: str = "") -> StripRow:
    return StripRow(name, (_mark(compared, name, row),), note)


def _mark(compared: ComparedFiles, name: str, row: int) -> StripMark:
    comparison = compared.comparison
    number, blind = comparison.methods.index(name), ranking(compared).blind
    role: RoleName = "method" if name not in blind else "floor" if name == blind[0] else "other"
    look = method_looks(compared)[name]
    return percent_mark(role, float(comparison.mean[number, row]), comparison.interval[number, row], look)


def _published_group(compared: ComparedFiles, row: int) -> tuple[tuple[str, tuple[StripRow, ...]], ...]:
    """Return published figures of a measure, in percent."""
    rows = tuple(
        StripRow(published_name(compared, figure), (StripMark("published", 100 * figure.fraction),))
        for at, figure in compared.published or ()
        if at == row and figure.unit in ("percent", "fraction") and compared.depth(row) is None
    )
    return (("Published, unchecked", rows),) if rows else ()
