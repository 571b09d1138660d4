"""The report of a sweep: score against the dial, floors beside, what each method has without it, what it loses."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from truemoment.intervals import Floats
from truemoment.reports.drawing import (
    CEILING,
    FLOOR,
    INK,
    METHOD,
    OTHER,
    PAPER,
    SMALL,
    SOFT,
    drawing_style,
    new_figure,
    shortened,
)
from truemoment.reports.model import Drawing
from truemoment.reports.render.tabular import TableStyle, escaped, render
from truemoment.reports.text import WIDTH, counted, few, listed, number
from truemoment.version import __version__ as version

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCHEMA = "truemoment/sweep/2"

IID, OOD = "test-iid", "test-ood"

Place = tuple[float | None, int]
"""Value of the dial (None where it changes nothing) and seed."""

Figures = Mapping[tuple[str, str], float]
"""Fraction by split and measure; NaN where it is undefined."""


@dataclass(frozen=True, eq=False)
class Series:
    """What a method, a floor or a ceiling scores.

    Parameters
    ----------
    name, title
        In files, and in reports.
    kind
        Which of the three it is.
    sees
        Whether it sees the video; a floor that does reads no sentence.
    points
        Its figures at each place that it was run at.
    config
        Hash of its recipe; ``floor`` for a floor or a ceiling.
    """

    name: str
    title: str
    kind: Literal["method", "floor", "ceiling"]
    sees: bool
    points: Mapping[Place, Figures]
    config: str

    @property
    def level(self) -> bool:
        """Whether the dial changes nothing for it."""
        return all(value is None for value, _ in self.points)

    def table(self, values: Sequence[float], seeds: Sequence[int], split: str, measure: str) -> Floats:
        """Return its fractions by value and seed, (V, S); NaN where there is none."""
        key = (split, measure)
        return np.array(
            [[self._at(value, seed).get(key, math.nan) for seed in seeds] for value in values], dtype=np.float64
        ).reshape(len(values), len(seeds))

    def _at(self, value: float, seed: int) -> Figures:
        return self.points.get((value, seed)) or self.points.get((None, seed)) or {}


@dataclass(frozen=True, eq=False)
class Swept:
    """A sweep, as far as it came.

    Parameters
    ----------
    dial, values, seeds
        What was turned, where to, and the seeds of training.
    source
        Of the data: a dataset's name, or the settings of a world.
    splits
        Test splits.
    measures, headline
        All of them, and the one that is told.
    methods, floors, ceilings
        What was trained, and what it is compared with.
    failed
        Cells that are empty, and why: method, value, seed, reason.
    notes
        What must be said.
    """

    dial: str
    values: tuple[float, ...]
    seeds: tuple[int, ...]
    source: Mapping[str, Any]
    splits: tuple[str, ...]
    measures: tuple[str, ...]
    headline: str
    methods: tuple[Series, ...]
    floors: tuple[Series, ...]
    ceilings: tuple[Series, ...] = ()
    failed: tuple[tuple[str, float | None, int, str], ...] = ()
    notes: tuple[str, ...] = ()

    def table(self, series: Series, split: str, measure: str | None = None) -> Floats:
        """Return fractions by value and seed, (V, S); by its own seeds, for a floor or a ceiling."""
        seeds = self.seeds if series.kind == "method" else sorted({seed for _, seed in series.points})
        return series.table(self.values, seeds, split, measure or self.headline)

    def losses(self, series: Series) -> Floats:
        """Return what is lost from test-iid to test-ood by value and seed, fractions, (V, S)."""
        return self.table(series, IID) - self.table(series, OOD)

    @property
    def has_two(self) -> bool:
        """Whether there is a loss to tell of."""
        return IID in self.splits and OOD in self.splits


def mean_and_spread(table: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation (n - 1) over the seeds that there are.

    Parameters
    ----------
    table : (V, S)
        NaN where there is no figure.

    Returns
    -------
    mean, spread : (V,)
        NaN where there is no figure, and where there is but one.

    Examples
    --------
    >>> mean, spread = mean_and_spread(np.array([[0.25, 0.75], [0.5, np.nan]]))
    >>> mean.tolist(), spread.round(4).tolist()
    ([0.5, 0.5], [0.3536, nan])
    """
    there = np.isfinite(table)
    count = there.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(there, table, 0).sum(axis=1) / count
        square = np.where(there, (table - mean[:, None]) ** 2, 0).sum(axis=1) / (count - 1)
    return np.where(count > 0, mean, np.nan), np.where(count > 1, np.sqrt(np.where(count > 1, square, 0)), np.nan)


_ROUNDING = 1e-9
"""Figures are kept to six decimals."""


class Difference(NamedTuple):
    """Mean of a difference over seeds, and its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def told(self) -> bool:
        """Whether the interval leaves 0 out, and what rounding makes of 0."""
        return self.low > _ROUNDING or self.high < -_ROUNDING


# fmt: off
_T95 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)
# fmt: on
"""97.5 % quantiles of Student's t by degrees of freedom, from 1; the last is taken beyond."""


def difference(a: Floats, b: Floats) -> Difference | None:
    r"""Difference of two methods, paired by seed, with its 95 % interval by Student's t.

    .. math:: \bar d \pm t_{0.975, S - 1} \, s_d / \sqrt{S}, \quad d_s = a_s - b_s

    Parameters
    ----------
    a, b : (S,)
        A figure a seed; NaN where there is none.

    Returns
    -------
    Difference
        None if fewer than two seeds have both.

    Examples
    --------
    >>> difference(np.array([0.3, 0.5, 0.4]), np.array([0.1, 0.2, 0.3])).told
    False
    """
    paired = (a - b)[np.isfinite(a - b)]
    if len(paired) < 2:
        return None
    half = _T95[min(len(paired) - 1, len(_T95)) - 1] * float(paired.std(ddof=1)) / math.sqrt(len(paired))
    mean = float(paired.mean())
    return Difference(mean, mean - half, mean + half)


# ------------------------------------------------------------------------------------------------ words


def lines(swept: Swept, *, style: TableStyle = "plain") -> list[str]:
    """Return the report: a table of scores, then what is to be seen in it."""
    if style != "plain":
        return [_table(swept, style)]
    told = [_filled(f"{swept.headline} on {_of(swept)}, %{_spread_means(swept)}"), "", _table(swept, style)]
    for paragraph in [*said(swept), *(f"note: {note}" for note in [*_failures(swept), *swept.notes])]:
        told += ["", _filled(paragraph)]
    return told


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _spread_means(swept: Swept) -> str:
    return f" (± standard deviation over {len(swept.seeds)} seeds)" if len(swept.seeds) > 1 else " (one seed)"


def _of(swept: Swept) -> str:
    world = swept.source.get("world")
    if world is None:
        return str(swept.source["dataset"])
    return "a synthetic world of " + ", ".join(
        f"{name.removeprefix('n_').replace('_', ' ')} {value:g}" for name, value in world.items()
    )


def _table(swept: Swept, style: TableStyle) -> str:
    """Lay out scores by split, method and value, and below them what is lost from test-iid to test-ood."""
    first, *others = (f"{value:g}" for value in swept.values)
    headings = [escaped(text, style) for text in ("split", "method", f"{swept.dial} {first}", *others)]
    rows = []
    for split in swept.splits:
        rows += _block(split, {series: swept.table(series, split) for series in _all(swept)}, style)
    if swept.has_two:
        rows += _block("loss", {series: swept.losses(series) for series in _all(swept)}, style)
    return render(headings, rows, style=style, numbers=range(2, len(headings)))


def _all(swept: Swept) -> tuple[Series, ...]:
    return (*swept.methods, *_references(swept))


def _references(swept: Swept) -> tuple[Series, ...]:
    """Return the floors and ceilings."""
    return (*swept.floors, *swept.ceilings)


def _block(split: str, tables: Mapping[Series, Floats], style: TableStyle) -> list[list[str]]:
    rows = []
    for series, table in tables.items():
        mean, spread = mean_and_spread(table)
        title = series.title + ("" if series.kind == "method" else f" ({series.kind})")
        complete = [bool(np.isfinite(row).all()) for row in table]
        figures = [
            _figure(*of, several=table.shape[1] > 1, complete=whole)
            for *of, whole in zip(mean.tolist(), spread.tolist(), complete, strict=True)
        ]
        rows.append([escaped(text, style) for text in (split, title, *figures)])
    return rows


def _figure(mean: float, spread: float, *, several: bool, complete: bool) -> str:
    if not math.isfinite(mean):
        return "-"
    shown = number(100 * mean, 2)
    if several and math.isfinite(spread):
        shown += f" ± {number(100 * spread, 2)}"
    return shown if complete else f"{shown} *"


def said(swept: Swept) -> list[str]:
    """Say what is to be seen: what each method has without the dial, what that gains it, what it loses."""
    told = [*_without_seeing(swept), *_given_away(swept)] if swept.dial == "perception" else _with_prior(swept)
    return [*told, *(_lost(swept) if swept.has_two else [])]


def _without_seeing(swept: Swept) -> list[str]:
    """Say what each method that sees scores at perception 0, and what perception gains it."""
    seeing = [series for series in swept.methods if series.sees]
    if not seeing:
        return []
    if swept.values[0] > 0:
        return ["Perception 0 is not in the sweep: what the methods score without seeing it cannot tell."]
    told = []
    for series, split in itertools.product(seeing, swept.splits):
        mean, spread = mean_and_spread(swept.table(series, split))
        if not math.isfinite(mean[0]):
            continue
        beside = [f"{of.title} {_figure_at(swept, of, split, 0)}" for of in swept.methods if not of.sees]
        if floor := strongest_floor(swept, split, 0):
            beside.insert(0, f"strongest floor, {floor.title}: {_figure_at(swept, floor, split, 0)}")
        others = f" ({'; '.join(beside)})" if beside else ""
        sentence = (
            f"At perception 0 {series.title} scores {_figure(mean[0], spread[0], several=True, complete=True)} % on "
            f"{split}: that is what it has without seeing{others}."
        )
        if len(mean) > 1 and math.isfinite(mean[-1]):
            gain = number(100 * (mean[-1] - mean[0]), 2, sign="+")
            sentence += f" Perception {swept.values[-1]:g} changes that by {gain} points."
        told.append(sentence)
    return told


def _given_away(swept: Swept) -> list[str]:
    """Say what rules that only pick an action interval score at the highest perception."""
    rules = [series for series in _references(swept) if series.sees]
    told = []
    for split in swept.splits:
        figures = [
            f"{of.title}{' (ceiling)' if of.kind == 'ceiling' else ''} {_figure_at(swept, of, split, -1)}"
            for of in rules
        ]
        if figures:
            told.append(
                f"On {split}, rules that only pick one of the action intervals which the features of perception "
                f"{swept.values[-1]:g} show score: {', '.join(figures)}. Floors do not read the sentence."
            )
    return told


def _with_prior(swept: Swept) -> list[str]:
    """Say what turning a prior up does to each method."""
    low, high = swept.values[0], swept.values[-1]
    told = []
    if low == high:
        return []
    for series, split in itertools.product(swept.methods, swept.splits):
        mean, _ = mean_and_spread(swept.table(series, split))
        if math.isfinite(mean[0]) and math.isfinite(mean[-1]):
            told.append(
                f"From {swept.dial} {low:g} to {high:g} {series.title} goes from {number(100 * mean[0], 2)} % to "
                f"{number(100 * mean[-1], 2)} % on {split} ({number(100 * (mean[-1] - mean[0]), 2, sign='+')} points)."
            )
    return told


def _figure_at(swept: Swept, series: Series, split: str, at: int) -> str:
    mean, _ = mean_and_spread(swept.table(series, split))
    return f"{number(100 * mean[at], 2)} %" if math.isfinite(mean[at]) else "-"


def strongest_floor(swept: Swept, split: str, at: int) -> Series | None:
    """Return the floor with the highest figure on a test split, at a value."""
    found = [(mean_and_spread(swept.table(floor, split))[0][at], floor) for floor in swept.floors]
    defined = [(mean, floor) for mean, floor in found if math.isfinite(mean)]
    return max(defined, key=lambda pair: pair[0])[1] if defined else None


def _lost(swept: Swept) -> list[str]:
    """Say which of two methods loses less from test-iid to test-ood, where that can be told."""
    compared = [of for of in swept.methods if of.sees] if swept.dial == "perception" else swept.methods
    pairs = list(itertools.combinations(compared, 2))
    if not pairs:
        return []
    if len(swept.seeds) < 2:
        return [f"Which method loses less from {IID} to {OOD} one seed cannot tell."]
    told = []
    for a, b in pairs:
        found = [difference(*both) for both in zip(swept.losses(a), swept.losses(b), strict=True)]
        sayings = []
        for less, more, sign in ((a, b, -1), (b, a, 1)):
            at = [
                f"{value:g} (by {number(100 * abs(of.mean), 2)} points, {_ends(of)})"
                for value, of in zip(swept.values, found, strict=True)
                if of is not None and of.told and of.mean * sign > 0
            ]
            if at:
                sayings.append(f"{less.title} loses less than {more.title} at {swept.dial} {listed(at)}")
        untold = [f"{value:g}" for value, of in zip(swept.values, found, strict=True) if of is None or not of.told]
        if untold:
            which = f"which of {a.title} and {b.title} loses less cannot be told"
            sayings.append(f"{which} at {swept.dial} {listed(untold)}" if sayings else f"{which} at any {swept.dial}")
        text = "; ".join(sayings)
        told.append(f"{text[:1].upper()}{text[1:]}.")
    told.append(
        f"(Lost from {IID} to {OOD}, {counted(len(swept.seeds), 'seed')} paired, 95 % intervals by Student's t: they "
        "are of training alone, other test videos would widen them. A method that scores less has less to lose.)"
    )
    return told


def _ends(of: Difference) -> str:
    low, high = sorted(100 * abs(end) for end in (of.low, of.high))
    return f"{number(low, 2)} to {number(high, 2)}"


def _failures(swept: Swept) -> list[str]:
    """Name the cells that are empty."""
    if not swept.failed:
        return []
    titles = {series.name: series.title for series in swept.methods}
    cells = [
        titles[name] + ("" if value is None else f" at {swept.dial} {value:g}") + f", seed {seed}: {why}"
        for name, value, seed, why in swept.failed
    ]
    return [f"{counted(len(cells), 'cell')} empty (* marks a mean of fewer seeds): {few(cells)}"]


# ------------------------------------------------------------------------------------------------- JSON


def document(swept: Swept) -> dict[str, Any]:
    """Return the sweep as JSON; fractions, never percent."""
    return {
        "schema": SCHEMA,
        "truemoment": version,
        "source": dict(swept.source),
        "dial": swept.dial,
        "values": list(swept.values),
        "seeds": list(swept.seeds),
        "splits": list(swept.splits),
        "measures": list(swept.measures),
        "headline": swept.headline,
        "unit": "fraction",
        "methods": [
            {"recipe": of.name, "title": of.title, "hash": of.config, "sees_video": of.sees, "level": of.level}
            for of in swept.methods
        ],
        "cells": [entry for of in swept.methods for entry in _entries(swept, of)],
        "floors": [entry for of in swept.floors for entry in _entries(swept, of)],
        "ceilings": [entry for of in swept.ceilings for entry in _entries(swept, of)],
        "summary": [entry for of in _all(swept) for entry in _summary(swept, of)],
        "empty": [
            {"recipe": name, "dial_value": value, "seed": seed, "why": why} for name, value, seed, why in swept.failed
        ],
        "said": said(swept),
        "notes": list(swept.notes),
    }


def _entries(swept: Swept, series: Series) -> list[dict[str, Any]]:
    """Every figure of a method or floor; the dial's value is null where it changes nothing."""
    return [
        {
            "recipe": series.name,
            "hash": series.config,
            "dial_value": value,
            "seed": seed,
            "split": split,
            "measure": measure,
            "value": _or_none(figures.get((split, measure), math.nan)),
        }
        for (value, seed), figures in series.points.items()
        for split in swept.splits
        for measure in swept.measures
    ]


def _summary(swept: Swept, series: Series) -> list[dict[str, Any]]:
    """Mean and standard deviation over seeds."""
    told = []
    for split, measure in itertools.product(swept.splits, swept.measures):
        table = swept.table(series, split, measure)
        for value, *of, row in zip(swept.values, *mean_and_spread(table), table, strict=True):
            mean, spread = (_or_none(float(one)) for one in of)
            told.append(
                {
                    "name": series.name,
                    "kind": series.kind,
                    "dial_value": value,
                    "split": split,
                    "measure": measure,
                    "mean": mean,
                    "standard_deviation": spread,
                    "n_seeds": int(np.isfinite(row).sum()),
                }
            )
    return told


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


# ---------------------------------------------------------------------------------------------- figures


class Look(NamedTuple):
    """How a method is drawn."""

    colour: str
    line: Literal["-"] | tuple[float, tuple[float, ...]]
    marker: str
    hollow: bool = False


LOOKS = (
    Look(METHOD, "-", "o"),
    Look(FLOOR, "-", "D", hollow=True),
    Look(CEILING, "-", "s"),
    Look(INK, (0, (6, 1.6, 1.2, 1.6)), "^", hollow=True),
    Look(METHOD, (0, (2.5, 2)), "P", hollow=True),
    Look(FLOOR, (0, (1.2, 1.2)), "v"),
)
"""Methods that a figure can tell apart; further ones stand in the tables."""

_PANEL_IN, _NAMES_IN = 2.35, 1.0
_HEIGHT_IN, _AROUND_IN, _LEGEND_LINE_IN = 3.5, 0.75, 0.18
"""Least height of a figure; what a panel leaves of it to its title and axis, and to each line of the legend."""

_LINE_PT, _LETTER_PT = 10.0, 4.2
"""Height of a name beside a panel, and width of a letter of it."""

_LONGEST_NAME = 24
"""Letters of a name; a longer one is cut."""


def drawings(swept: Swept) -> list[Drawing]:
    """List the figure of each measure, the headline first."""
    ordered = dict.fromkeys([swept.headline, *swept.measures])
    return [
        Drawing(
            f"sweep-{_for_a_file(measure)}",
            f"{measure} against {swept.dial}",
            f"Score on {listed(swept.splits)} of {_of(swept)}. "
            + "".join(f"{line}. " for line in _legend_title(swept)).rstrip()
            + ("" if len(swept.seeds) > 1 else " One seed."),
            partial(figure, swept, measure),
        )
        for measure in ordered
    ]


def _for_a_file(measure: str) -> str:
    kept = "".join(c if c.isalnum() or c in ".-" else "-" for c in measure.lower().replace("@", ""))
    return "-".join(part for part in kept.split("-") if part)


def figure(swept: Swept, measure: str) -> Figure:
    """Draw a measure against the dial, a panel a test split: methods with their spread over seeds, floors dashed."""
    methods = swept.methods[: len(LOOKS)]
    with drawing_style():
        drawn = new_figure(_HEIGHT_IN)
        drawn.set_size_inches(*_size_in(swept))
        panels = drawn.subplots(1, len(swept.splits), sharey=True, squeeze=False)[0]
        for axes, split in zip(panels, swept.splits, strict=True):
            axes.set_title(split, loc="left")
            for series in _references(swept):
                _draw_reference(axes, swept, series, split, measure)
            for series, look in zip(methods, LOOKS, strict=False):
                _draw_method(axes, swept, series, look, (split, measure))
            axes.set_xlabel(_axis(swept))
            axes.set_xticks(_ticks(swept.values), [f"{value:g}" for value in _ticks(swept.values)])
            axes.grid(axis="y")
        panels[0].set_ylabel(f"{measure}, %")
        panels[0].set_ylim(bottom=0)
        handles, labels = panels[0].get_legend_handles_labels()
        drawn.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=_legend_columns(methods, drawn.get_figwidth()),
            title="\n".join(_legend_title(swept)),
            title_fontsize=SMALL,
        )
        for axes, split in zip(panels, swept.splits, strict=True):
            _name_references(axes, drawn, swept, split, measure)
    return drawn


def _size_in(swept: Swept) -> tuple[float, float]:
    """Width and height that the panels, the names beside them and the legend need, inches."""
    names = [shortened(of.title, _LONGEST_NAME) for of in _references(swept)]
    names_in = max([_NAMES_IN, *(len(name) * _LETTER_PT / 72 for name in names)])
    width_in = (_PANEL_IN + names_in) * len(swept.splits) + 0.3
    methods = swept.methods[: len(LOOKS)]
    n_lines = len(_legend_title(swept)) + math.ceil(len(methods) / _legend_columns(methods, width_in))
    height_in = len(names) * _LINE_PT / 72 + _AROUND_IN + n_lines * _LEGEND_LINE_IN
    return width_in, max(_HEIGHT_IN, height_in)


def _legend_columns(methods: Sequence[Series], width_in: float) -> int:
    """How many entries of the legend fit beside each other."""
    longest = max((len(shortened(of.title, _LONGEST_NAME)) for of in methods), default=0)
    return max(1, min(len(methods), int(width_in / (0.55 + longest * 5.0 / 72))))


def _legend_title(swept: Swept) -> list[str]:
    """Say what lines without markers are, and the bars."""
    or_read = " or read no sentence" if any(of.sees for of in swept.floors) else ""
    told = [f"Dashed: floors, which see no video{or_read}"]
    if swept.ceilings:
        told.append("Dotted: ceiling")
    if len(swept.seeds) > 1:
        told.append(f"Bars: ± standard deviation over {len(swept.seeds)} seeds")
    return told


def _axis(swept: Swept) -> str:
    """Name the dial with its unit."""
    if swept.dial != "perception":
        return f"{swept.dial} (0 none, 1 strongest)"
    return "perception (0 noise, 1 clean)" if "world" in swept.source else "perception, frame mAP"


def _ticks(values: Sequence[float]) -> list[float]:
    """Values that are far enough apart to be written below an axis; both ends are."""
    width = (values[-1] - values[0]) or 1.0
    kept = list(values[:1])
    for value in values[1:]:
        if value - kept[-1] >= 0.09 * width:
            kept.append(value)
        elif value == values[-1]:
            kept[-1:] = [value] if len(kept) > 1 else [*kept[-1:], value]
    return kept


def _draw_reference(axes: Axes, swept: Swept, series: Series, split: str, measure: str) -> None:
    mean, _ = mean_and_spread(swept.table(series, split, measure))
    line = (0, (1, 1.5)) if series.kind == "ceiling" else (0, (4, 2))
    axes.plot(swept.values, 100 * mean, color=OTHER, linestyle=line, linewidth=0.9, zorder=1.5)


def _draw_method(axes: Axes, swept: Swept, series: Series, look: Look, which: tuple[str, str]) -> None:
    mean, spread = mean_and_spread(swept.table(series, *which))
    axes.errorbar(
        swept.values,
        100 * mean,
        yerr=None if np.isnan(spread).all() else 100 * np.nan_to_num(spread),
        label=shortened(series.title, _LONGEST_NAME),
        color=look.colour,
        linestyle=look.line,
        marker="none" if series.level else look.marker,
        markerfacecolor=PAPER if look.hollow else look.colour,
        capsize=2,
        elinewidth=0.9,
        zorder=2.5,
    )


def _name_references(axes: Axes, drawn: Figure, swept: Swept, split: str, measure: str) -> None:
    """Write names of floors and ceilings at the right end of their lines, apart, with a thread to each."""
    ends = [
        (100 * float(mean_and_spread(swept.table(of, split, measure))[0][-1]), shortened(of.title, _LONGEST_NAME))
        for of in _references(swept)
    ]
    ends = sorted((end for end in ends if math.isfinite(end[0])), key=lambda end: end[0])
    if not ends:
        return
    drawn.draw_without_rendering()  # only now is the panel's height known
    low, high = axes.get_ylim()
    height_pt = axes.get_window_extent().height * 72 / drawn.dpi
    step = _LINE_PT * (high - low) / height_pt
    for (value, title), place in zip(ends, spread_out([value for value, _ in ends], step, low, high), strict=True):
        axes.annotate(
            title,
            (swept.values[-1], value),
            (1.08, place),
            xycoords=axes.transData,
            textcoords=axes.get_yaxis_transform(),
            va="center",
            fontsize=SMALL - 1,
            color=SOFT,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": OTHER,
                "linewidth": 0.5,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def spread_out(values: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Move rising places apart until each lies a step or more above the one before it, within bounds if they fit.

    Examples
    --------
    >>> spread_out([1.0, 1.0, 5.0], 2.0, 0.0, 10.0)
    [0.0, 2.0, 5.0]
    """
    groups: list[tuple[float, int]] = []  # middle and size of each group of places that touch
    for value in values:
        groups.append((value, 1))
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < step * (groups[-1][1] + groups[-2][1]) / 2:
            (lower, m), (upper, n) = groups[-2:]
            groups[-2:] = [((m * lower + n * upper) / (m + n), m + n)]
    places = [middle + step * (k - (size - 1) / 2) for middle, size in groups for k in range(size)]
    for k in range(len(places)):  # nothing below the lowest place
        places[k] = max(places[k], low if k == 0 else places[k - 1] + step)
    for k in reversed(range(len(places))):
        places[k] = min(places[k], high if k == len(places) - 1 else places[k + 1] - step)
    return places
