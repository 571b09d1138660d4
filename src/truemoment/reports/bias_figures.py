"""Figures of a survey, for papers and for the page.

Of each dataset, under its name:

==================  ==================================================================================================
``start-end``       density of (start, end) by split (Closer Look, Fig. 2 and 4)
``start-length``    density of (start, length) by split (Hidden Challenges, Fig. 3)
``histograms``      start, end and length as shares of the video, by split (MAD, Fig. 3 and 5)
``seconds``         the same in seconds
``longer``          share of moments longer than x (Closer Look, Fig. 3)
``distances``       how far splits lie apart, and what chance gives
``verbs``           how often the frequent verbs occur, by split (Closer Look, Fig. 5)
``verb-densities``  density of (start, length) by verb (Hidden Challenges, Fig. C and D)
``verb-shift``      the most frequent verbs in train and in the test (Closer Look, Fig. 4c)
``verb-places``     how far each verb's moments lie from all others', and what chance gives
``verbs-a-query``   how many verbs a query has
``words-a-query``   how many words a query has (MAD, Fig. 6)
``ranks``           how often the word of each rank occurs
==================  ==================================================================================================

Of several datasets together: ``datasets-histograms``, ``datasets-longer``, ``datasets-constant``, ``datasets-words``
and ``datasets-ranks``. Each is a function that returns a :class:`matplotlib.figure.Figure` in the style of
:mod:`truemoment.reports.drawing`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from truemoment.bias.surveys import OVER, SplitSurvey, Survey
from truemoment.intervals import Floats
from truemoment.reports.drawing import (
    CEILING,
    DENSITY_BOUNDS,
    FLOOR,
    INK,
    METHOD,
    OTHER,
    PAPER,
    SMALL,
    SOFT,
    density_on_grid,
    draw_contours,
    draw_density,
    drawing_style,
    new_figure,
    save_drawings,
    scale_legend,
    shortened,
    wrapped,
    write_beside,
)
from truemoment.reports.model import Drawing
from truemoment.text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_SHOWN = 6
"""Splits, or datasets, that a figure can tell apart; further ones stand in the tables."""

N_VERB_DENSITIES = 30
N_SHIFTED = 3
"""Verbs whose densities are shown, and shown in two splits."""

FEW = 30
"""A density of fewer moments shows their number more than their places: it is not drawn."""

SCALE_MEANS = "times as dense as evenly spread moments"


class Look(NamedTuple):
    """How a split, or a dataset, is drawn: colour, line and marker."""

    colour: str
    line: Literal["-", ""] | tuple[float, tuple[float, ...]]
    marker: str
    hollow: bool = False


_LOOKS = (
    Look(METHOD, "-", "o"),
    Look(FLOOR, (0, (5, 1.6)), "D", hollow=True),
    Look(CEILING, (0, (1.2, 1.2)), "s"),
    Look(OTHER, "-", "v"),
    Look(INK, (0, (6, 1.6, 1.2, 1.6)), "^", hollow=True),
    Look(METHOD, (0, (2.5, 2)), "P", hollow=True),
)

_OF_SPLIT = {"train": 0, "test-ood": 1, "test": 1, "test-iid": 2, "val": 3}
"""Looks of the usual splits, the same in every dataset; others take what is left."""


class Named(NamedTuple):
    """Something to be drawn under a name, in a look of its own."""

    name: str
    of: SplitSurvey
    look: Look


def drawings(surveys: Sequence[Survey], *, top_verbs: int = 30) -> list[Drawing]:
    """List the figures of surveys: of all together, if there are several, then of each dataset.

    Parameters
    ----------
    surveys
        One a dataset.
    top_verbs
        Frequent verbs that are shown.

    Returns
    -------
    list of Drawing
        Those that do not apply are not there.
    """
    listed = together_drawings(surveys) if len(surveys) > 1 else []
    for survey, name in zip(surveys, names_of(surveys), strict=True):
        listed += dataset_drawings(survey, name, top_verbs=top_verbs)
    return listed


def names_of(surveys: Sequence[Survey]) -> list[str]:
    """Names of datasets fit for files and links, each different: ``charades-sta``, ``mine-jsonl``, ``mine-jsonl-2``.

    Parameters
    ----------
    surveys
        One a dataset.
    """
    seen: Counter[str] = Counter({"datasets": 1})  # figures of several together are called so
    names = []
    for survey in surveys:
        name = re.sub(r"[^a-z0-9]+", "-", survey.dataset.lower()).strip("-")[:40].strip("-") or "dataset"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return names


def save_figures(
    surveys: Sequence[Survey], folder: Path, formats: Sequence[str] = ("png", "svg", "pdf"), *, top_verbs: int = 30
) -> list[Path]:
    """Save every figure in each format; the same surveys give the same bytes.

    Parameters
    ----------
    surveys
        One a dataset.
    folder
        Made if it is not there; files of the same name are replaced.
    formats
        Any of ``png`` (300 dots an inch), ``svg`` and ``pdf`` (fonts embedded).
    top_verbs
        Frequent verbs that are shown.

    Returns
    -------
    list of Path
        The files, complete or not at all.
    """
    return save_drawings(drawings(surveys, top_verbs=top_verbs), folder, formats)


def together_drawings(surveys: Sequence[Survey]) -> list[Drawing]:
    """List the figures of several datasets side by side."""
    with_places = _datasets(surveys)
    listed = []
    if with_places:
        moments = _counted(with_places)
        listed += [
            Drawing(
                "datasets-histograms",
                "Where moments begin, where they end, how long they are",
                "A peak at 0 or at 1 is a place where a guess pays. Shares of the video in cells of 1/40, the lengths "
                f"in seconds on a logarithmic axis. After MAD, Fig. 3. Moments: {moments}.",
                partial(side_by_side_figure, with_places),
            ),
            Drawing(
                "datasets-longer",
                "How many moments are longer than x",
                "The further to the upper right, the more a long answer hits by its length. Marks at 30, 50 and 70 % "
                f"of the video. After Closer Look, Fig. 3. Moments: {moments}.",
                partial(longer_figure, with_places),
            ),
        ]
        if any(one.of.constant.value is not None for one in with_places):
            listed.append(
                Drawing(
                    "datasets-constant",
                    "What one answer to every query hits",
                    "The best constant answer (dot), and what the best one would hit if moments as long began "
                    f"anywhere (hollow diamond), % of the moments at IoU > 0.5. Moments: {moments}.",
                    partial(constant_figure, with_places),
                )
            )
    listed += [
        Drawing(
            "datasets-words",
            "How many words a query has",
            "% of the queries. After MAD, Fig. 6.",
            partial(words_of_datasets_figure, surveys),
        ),
        Drawing(
            "datasets-ranks",
            "How rare words are",
            "Each word by its rank: the longer the flat end at the right, the more words occur once or twice. Share of "
            "all words, both axes logarithmic.",
            partial(ranks_of_datasets_figure, surveys),
        ),
    ]
    return listed


def dataset_drawings(survey: Survey, name: str, *, top_verbs: int = 30) -> list[Drawing]:
    """List the figures of one dataset, their names beginning with `name`."""
    places = _splits(survey)
    listed: list[Drawing] = []

    def add(kind: str, title: str, caption: str, draw: partial[Figure]) -> None:
        listed.append(Drawing(f"{name}-{kind}", title, caption, draw))

    if places:
        moments, left_out = _counted(places), _not_shown(survey)
        grid = survey.whole.grid
        even = "of one colour" if grid is None else f"of one colour, but for their grid of {grid.name}"
        add(
            "start-end",
            "Start and end",
            "Each place is a moment, by its start and end as shares of the video: short ones lie along the diagonal, "
            "the whole video in the upper left corner. The circle is the best constant answer. An even spread would be "
            f"{even}. After Closer Look, Fig. 2 and 4. Moments: {moments}.{left_out}",
            partial(densities_figure, _with_all(survey, places)),
        )
        add(
            "start-length",
            "Start and length",
            "The same by start and length: moments that end with the video lie along the slope. After Hidden "
            f"Challenges, Fig. 3. Moments: {moments}.{left_out}",
            partial(densities_figure, _with_all(survey, places), of_length=True),
        )
        add(
            "histograms",
            "Start, end and length, as shares of the video",
            f"In cells of 1/40 of the video, % of the moments. After MAD, Fig. 3 and 5. Moments: {moments}.{left_out}",
            partial(histograms_figure, places),
        )
        add(
            "seconds",
            "Start, end and length, in seconds",
            f"In 40 cells up to the 99th percentile, % of the moments. Moments: {moments}.{left_out}",
            partial(seconds_figure, places),
        )
        add(
            "longer",
            "How many moments are longer than x",
            "Marks at 30, 50 and 70 % of the video: what is longer than x has an IoU of at least x with the whole "
            f"video. After Closer Look, Fig. 3. Moments: {moments}.{left_out}",
            partial(longer_figure, places),
        )
    if any(between.distance.value is not None for between in survey.between):
        add(
            "distances",
            "How far splits lie apart",
            "A dot right of its hollow diamond: further apart than splits that differ by chance in which videos they "
            f"hold ({survey.permutations:,} permutations of the videos).",
            partial(distances_figure, survey),
        )
    if survey.verb_use.value is not None:
        shown = min(top_verbs, len(survey.verb_use.value.top))
        add(
            "verbs",
            f"The {shown} most frequent verbs",
            f"They make up {100 * survey.verb_use.value.coverage:.1f} % of all verbs. % of the verbs of each split. "
            "After Closer Look, Fig. 5.",
            partial(verbs_figure, survey, top_verbs),
        )
    if densities := _verbs_with_places(survey, N_VERB_DENSITIES):
        add(
            "verb-densities",
            "Start and length, by verb",
            "Start (to the right) and length (up) as shares of the video, for the frequent verbs with at least "
            f"{FEW} moments, whose number stands behind the verb; all splits. Verbs that differ let a model guess from "
            "the sentence. After Hidden Challenges, Fig. C and D.",
            partial(verb_densities_figure, densities),
        )
    if shifted := _shifted(survey):
        train, test, verbs = shifted
        add(
            "verb-shift",
            f"The same verbs in {shortened(one_line(train.name), 30)} and {shortened(one_line(test.name), 30)}",
            f"Start and end of the {len(verbs)} most frequent verbs that have at least {FEW} moments in both; numbers "
            "are moments. Where the rows differ, what was learnt of a verb misleads. After Closer Look, Fig. 4c.",
            partial(verb_shift_figure, train, test, verbs),
        )
    if survey.information.value is not None and survey.information.value.of_verb:
        add(
            "verb-places",
            "How much each verb tells about the place",
            "How far the moments of a verb lie from all others, in bits (dot), and what moments dealt to verbs at "
            "random give (hollow diamond); queries at the right.",
            partial(verb_places_figure, survey, top_verbs),
        )
    words = _splits(survey, with_places=False)
    add(
        "verbs-a-query",
        "How many verbs a query has",
        f"% of the queries. Queries: {_counted(words, queries=True)}.",
        partial(verbs_a_query_figure, words),
    )
    add(
        "words-a-query",
        "How many words a query has",
        f"% of the queries. After MAD, Fig. 6. Queries: {_counted(words, queries=True)}.",
        partial(words_a_query_figure, survey, words),
    )
    if survey.tail.value is not None:
        add(
            "ranks",
            "How rare words are",
            "How often the word of each rank occurs, both axes logarithmic: the flat end at the right are words that "
            "occur once.",
            partial(ranks_figure, survey, words),
        )
    return listed


def _splits(survey: Survey, *, with_places: bool = True) -> list[Named]:
    """Splits of a survey that are drawn, each in the look of its name or in one that is left."""
    looks: dict[str, Look] = {}
    shown = survey.splits[:N_SHOWN]
    for split in sorted(shown, key=lambda split: split.name not in _OF_SPLIT):  # the usual ones choose first
        free = [look for look in _LOOKS if look not in looks.values()]
        usual = _LOOKS[_OF_SPLIT.get(split.name, len(_LOOKS) - 1)]
        looks[split.name] = usual if usual in free else free[0]
    return [
        Named(one_line(split.name), split, looks[split.name])
        for split in shown
        if split.locations.value is not None or not with_places
    ]


def _with_all(survey: Survey, named: Sequence[Named]) -> list[Named]:
    """Add all splits together where a panel would be left empty."""
    odd = len(named) % 2 == 1 and len(named) > 1
    return [*named, *([Named("all splits", survey.whole, _LOOKS[0])] if odd else [])]


def _datasets(surveys: Sequence[Survey]) -> list[Named]:
    """Datasets that are drawn."""
    return [
        Named(one_line(survey.title), survey.whole, look)
        for survey, look in zip(surveys, _LOOKS, strict=False)
        if survey.whole.locations.value is not None
    ]


def _counted(named: Sequence[Named], *, queries: bool = False) -> str:
    return ", ".join(
        f"{shortened(one.name, 30)} {one.of.n_queries if queries else len(one.of.points):,}" for one in named
    )


def _not_shown(survey: Survey) -> str:
    n = len(survey.splits) - N_SHOWN
    return f" {n} more split{'s' if n > 1 else ''} stand{'s' if n == 1 else ''} in the tables." if n > 0 else ""


# ------------------------------------------------------------------------------------------ densities


def densities_figure(named: Sequence[Named], *, of_length: bool = False) -> Figure:
    """Draw the density of moments by split, two a row; by start and end, or by start and length."""
    rows = (len(named) + 1) // 2
    columns = min(len(named), 2)
    with drawing_style():
        figure = new_figure(0.75 + 2.05 * rows if columns == 2 else 4.0)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes in panels[len(named) :]:
            axes.set_axis_off()
        for number, (axes, one) in enumerate(zip(panels, named, strict=False)):
            axes.set_title(f"{shortened(one.name, 18)} ({len(one.of.points):,})", fontsize=SMALL)
            _density(axes, one.of.points, of_length=of_length)
            constant = one.of.constant.value
            if constant is not None and not of_length:
                axes.plot(constant.start_norm, constant.end_norm, "o", ms=8, mfc="none", mec=FLOOR, mew=1.6)
            if number % columns == 0:
                axes.set_ylabel("length" if of_length else "end")
            if number >= len(named) - columns:
                axes.set_xlabel("start, share of the video")
        scale_legend(figure, DENSITY_BOUNDS, SCALE_MEANS)
    return figure


def _density(axes: Axes, points: Floats, *, of_length: bool) -> None:
    """Draw a density on a square of its own, or say that there are too few moments."""
    axes.set_aspect("equal")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.plot([0, 1], [1, 0] if of_length else [0, 1], color=SOFT, linewidth=0.7)
    if len(points) < FEW:
        height = points[:, 1] - points[:, 0] if of_length else points[:, 1]
        axes.plot(points[:, 0], height, ".", color=METHOD, ms=4, clip_on=False)
    else:
        draw_density(axes, points, of_duration=of_length)


def _verbs_with_places(survey: Survey, most: int) -> list[tuple[str, Floats]]:
    """The most frequent verbs that have enough moments for a density, and these moments."""
    if survey.verb_use.value is None or survey.whole.locations.value is None:
        return []
    found = ((verb, survey.whole.of_verb(verb)) for verb in survey.verb_use.value.top[:most])
    return [(verb, points) for verb, points in found if len(points) >= FEW]


def verb_densities_figure(densities: Sequence[tuple[str, Floats]]) -> Figure:
    """Draw the density of (start, length) of each verb as small multiples (Hidden Challenges, Fig. C and D)."""
    columns = 5
    rows = -(-len(densities) // columns)
    with drawing_style():
        figure = new_figure(0.6 + 0.84 * rows)
        axes = figure.add_subplot()  # one for all, which is laid out at once
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.set_xlim(-0.02, columns * 1.16 - 0.12)
        axes.set_ylim(1.04 - rows * 1.2, 1.04)
        for number, (verb, points) in enumerate(densities):
            x, y = number % columns * 1.16, -(number // columns) * 1.2
            density = density_on_grid(points, of_duration=True, cells=32)
            if density is None:
                axes.plot(x + points[:, 0], y + points[:, 1] - points[:, 0], ".", color=METHOD, ms=2)
            else:
                draw_contours(axes, density, of_duration=True, corner=(x, y))
            axes.plot([x, x, x + 1, x], [y, y + 1, y, y], color=SOFT, linewidth=0.7)
            axes.text(x + 1.04, y + 1, shortened(one_line(verb), 11), ha="right", va="top", fontsize=SMALL)
            axes.text(x + 1.04, y + 0.8, f"{len(points):,}", ha="right", va="top", fontsize=SMALL, color=SOFT)
        scale_legend(figure, DENSITY_BOUNDS, SCALE_MEANS)
    return figure


def _shifted(survey: Survey) -> tuple[SplitSurvey, SplitSurvey, list[str]] | None:
    """Train, the test, and the frequent verbs with enough moments in both; None if there is nothing to compare."""
    train, test = survey.split("train"), survey.tested
    if train is None or test is train or survey.verb_use.value is None:
        return None
    verbs = [
        verb for verb in survey.verb_use.value.top if min(len(train.of_verb(verb)), len(test.of_verb(verb))) >= FEW
    ]
    return (train, test, verbs[:N_SHIFTED]) if verbs else None


def verb_shift_figure(train: SplitSurvey, test: SplitSurvey, verbs: Sequence[str]) -> Figure:
    """Draw where moments of the same verbs lie in two splits, one above the other (Closer Look, Fig. 4c)."""
    with drawing_style():
        figure = new_figure(3.75)
        panels = figure.subplots(2, len(verbs), squeeze=False)
        for row, split in zip(panels, (train, test), strict=True):
            for axes, verb in zip(row, verbs, strict=True):
                points = split.of_verb(verb)
                _density(axes, points, of_length=False)
                axes.set_title(f"{shortened(one_line(verb), 10)} ({len(points):,})", fontsize=SMALL)
            row[0].set_ylabel(f"{shortened(one_line(split.name), 16)}\nend")
        for axes in panels[1]:
            axes.set_xlabel("start")
        scale_legend(figure, DENSITY_BOUNDS, SCALE_MEANS)
    return figure


# ----------------------------------------------------------------------------------------- histograms

_CELLS = 40


def histograms_figure(named: Sequence[Named]) -> Figure:
    """Draw start, end and length as shares of the video (MAD, Fig. 3 and 5)."""
    bounds = np.linspace(0, 1, _CELLS + 1)
    columns = ("start, share of the video", "end, share of the video", "length, share of the video")
    with drawing_style():
        figure = _with_legend(5.2, named)
        panels = figure.subplots(3, 1)
        for number, (axes, label) in enumerate(zip(panels, columns, strict=True)):
            for one in named:
                _outline(axes, _columns_of(one.of.points)[number], bounds, one)
            axes.set_xlim(0, 1)
            _percent_upward(axes, label)
        _legend(figure, named)
    return figure


def seconds_figure(named: Sequence[Named]) -> Figure:
    """Draw start, end and length in seconds, each up to the 99th percentile."""
    with drawing_style():
        figure = _with_legend(5.2, named)
        panels = figure.subplots(3, 1)
        for number, (axes, label) in enumerate(zip(panels, ("start, s", "end, s", "length, s"), strict=True)):
            columns = [_columns_of(one.of.points)[number] * one.of.duration_s for one in named]
            last = float(np.percentile(np.concatenate(columns), 99)) or 1.0
            bounds = np.linspace(0, last, _CELLS + 1)
            for one, column in zip(named, columns, strict=True):
                _outline(axes, column, bounds, one)
            axes.set_xlim(0, last)
            _percent_upward(axes, label)
        _legend(figure, named)
    return figure


def side_by_side_figure(named: Sequence[Named]) -> Figure:
    """Draw start and end as shares of the video and length in seconds, a line a dataset (MAD, Fig. 3)."""
    with drawing_style():
        figure = _with_legend(5.4, named)
        panels = figure.subplots(3, 1)
        bounds = np.linspace(0, 1, _CELLS + 1)
        for number, label in enumerate(("start, share of the video", "end, share of the video")):
            for one in named:
                _outline(panels[number], _columns_of(one.of.points)[number], bounds, one)
            panels[number].set_xlim(0, 1)
            _percent_upward(panels[number], label)
        seconds = [_columns_of(one.of.points)[2] * one.of.duration_s for one in named]
        every = np.concatenate(seconds)
        low, high = np.percentile(every[every > 0], [0.1, 99.9])
        bounds = np.geomspace(low, high if high > low else 2 * low, _CELLS + 1)
        for one, column in zip(named, seconds, strict=True):
            _outline(panels[2], column, bounds, one)
        panels[2].set_xscale("log")
        _plain_ticks(panels[2])
        panels[2].set_xlim(bounds[0], bounds[-1])
        _percent_upward(panels[2], "length, s")
        _legend(figure, named)
    return figure


def _columns_of(points: Floats) -> tuple[Floats, Floats, Floats]:
    """Start, end and length of moments."""
    return points[:, 0], points[:, 1], points[:, 1] - points[:, 0]


def _outline(axes: Axes, values: Floats, bounds: Floats, one: Named) -> None:
    """Draw a histogram as an outline, % of all values; what lies outside the bounds counts in the whole."""
    share = 100 * np.histogram(values, bounds)[0] / max(len(values), 1)
    axes.stairs(share, bounds, color=one.look.colour, linestyle=one.look.line, linewidth=1.3, baseline=None)


def _percent_upward(axes: Axes, label: str) -> None:
    axes.set_ylim(bottom=0)
    axes.set_xlabel(label)
    axes.set_ylabel("%")
    axes.grid(axis="y")


def _plain_ticks(axes: Axes) -> None:
    """Write numbers on a logarithmic axis as numbers."""
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415 - see drawing_style

    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _legend(figure: Figure, named: Sequence[Named], *, markers: bool = False) -> None:
    """Say above a figure what its lines are; one line needs no words."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - see drawing_style

    handles = [
        Line2D(
            [],
            [],
            color=one.look.colour,
            linestyle="" if markers else one.look.line,
            marker=one.look.marker if markers else "",
            mfc=PAPER if one.look.hollow else one.look.colour,
            label=shortened(one.name, 24),
        )
        for one in named
    ]
    columns = _legend_columns(named)
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, columnspacing=1.2, handletextpad=0.5)


def _legend_columns(named: Sequence[Named]) -> int:
    """How many names stand beside each other in a legend."""
    longest = max((len(shortened(one.name, 24)) for one in named), default=0)
    return max(1, min(len(named), 58 // (longest + 6)))


def _with_legend(height_in: float, named: Sequence[Named]) -> Figure:
    """Make a figure that keeps its height where its legend has several rows."""
    return new_figure(height_in + 0.17 * (-(-len(named) // _legend_columns(named)) - 1))


def longer_figure(named: Sequence[Named]) -> Figure:
    """Draw the share of moments longer than x, x a share of the video, marked at 30, 50, 70 % (Closer Look, Fig. 3)."""
    over = np.linspace(0, 1, 101)
    with drawing_style():
        figure = _with_legend(3.2, named)
        axes = figure.add_subplot()
        for one in named:
            length = np.sort(_columns_of(one.of.points)[2])
            share = 100 * (len(length) - np.searchsorted(length, over + 1e-9, side="right")) / max(len(length), 1)
            axes.plot(over, share, color=one.look.colour, linestyle=one.look.line)
            axes.plot(
                OVER,
                100 * one.of.longer,
                one.look.marker,
                color=one.look.colour,
                mfc=PAPER if one.look.hollow else one.look.colour,
            )
        for at in OVER:
            axes.axvline(at, color=SOFT, linewidth=0.7, linestyle=(0, (2, 2)), zorder=0.5)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 100)
        axes.set_xticks([0, 0.3, 0.5, 0.7, 1], ["0", "0.3", "0.5", "0.7", "1"])
        axes.set_xlabel("x, share of the video")
        axes.set_ylabel("% of the moments longer than x")
        axes.grid(axis="y")
        _legend(figure, named)
    return figure


# ------------------------------------------------------------------------- figures beside what chance gives


def _beside_chance(axes: Axes, rows: Sequence[tuple[str, float, float]]) -> None:
    """Draw a row a thing: its figure as a dot, what chance gives as a hollow diamond."""
    at = np.arange(len(rows))
    axes.hlines(
        at, [chance for *_, chance in rows], [value for _, value, _ in rows], color=OTHER, linewidth=0.9, zorder=0.8
    )
    axes.plot([chance for *_, chance in rows], at, "D", color=FLOOR, mfc=PAPER, mew=1.2, ms=4.5, label="chance")
    axes.plot([value for _, value, _ in rows], at, "o", color=METHOD, label="found")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(at, [name for name, *_ in rows])
    axes.tick_params(axis="y", length=0, pad=7)
    axes.grid(axis="both")
    highest = max((max(value, chance) for _, value, chance in rows), default=0.0)
    axes.set_xlim(-0.03 * highest, highest * 1.1 or 1)


def constant_figure(named: Sequence[Named]) -> Figure:
    """Draw what one answer to every query hits, and what it would hit if moments were spread evenly."""
    rows = [
        (wrapped(one.name, 20), 100 * one.of.constant.value.value, 100 * one.of.constant.value.even_value)
        for one in named
        if one.of.constant.value is not None
    ]
    with drawing_style():
        figure = new_figure(0.95 + 0.36 * len(rows))
        axes = figure.add_subplot()
        _beside_chance(axes, rows)
        axes.set_xlim(left=0)
        axes.set_xlabel("% of the moments, IoU > 0.5")
        handles, _ = axes.get_legend_handles_labels()
        figure.legend(handles, ["if they began anywhere", "as they are"], loc="outside upper center", ncols=2)
    return figure


def distances_figure(survey: Survey) -> Figure:
    """Draw how far splits lie apart, energy distance and Jensen-Shannon divergence, beside what chance gives."""
    pairs = [between for between in survey.between if between.distance.value is not None][:15]
    names = [f"{shortened(one_line(between.a), 12)} to\n{shortened(one_line(between.b), 14)}" for between in pairs]
    found = [between.distance.value for between in pairs if between.distance.value is not None]
    with drawing_style():
        figure = new_figure(1.2 + 0.42 * len(pairs))
        energy, divergence = figure.subplots(1, 2, sharey=True)
        _beside_chance(energy, [(n, of.energy, of.energy_by_chance) for n, of in zip(names, found, strict=True)])
        rows = [(n, of.jensen_shannon_bits, of.jensen_shannon_by_chance) for n, of in zip(names, found, strict=True)]
        _beside_chance(divergence, rows)
        energy.set_xlabel("energy distance")
        divergence.set_xlabel("Jensen-Shannon,\nbits")
        handles, _ = energy.get_legend_handles_labels()
        figure.legend(handles, ["by chance", "these splits"], loc="outside upper center", ncols=2)
    return figure


def verb_places_figure(survey: Survey, top_verbs: int) -> Figure:
    """Draw how far the moments of each verb lie from all others, beside what chance gives."""
    information = survey.information.value
    of_verb = () if information is None else information.of_verb[:top_verbs]
    rows = [(shortened(one_line(of.verb), 18), of.raw_bits, of.by_chance_bits) for of in of_verb]
    with drawing_style():
        figure = new_figure(0.95 + 0.185 * len(rows))
        axes = figure.add_subplot()
        _beside_chance(axes, rows)
        for row, of in enumerate(of_verb):
            write_beside(axes, f"{of.n_queries:,}", 1, row, share_of_width=True, color=SOFT)
        axes.set_xlabel("bits")
        handles, _ = axes.get_legend_handles_labels()
        figure.legend(handles, ["by chance", "this verb"], loc="outside upper center", ncols=2)
    return figure


# ---------------------------------------------------------------------------------------------- words


def verbs_figure(survey: Survey, top_verbs: int) -> Figure:
    """Draw how often the frequent verbs occur, % of the verbs of each split (Closer Look, Fig. 5)."""
    named = _splits(survey, with_places=False)
    use = survey.verb_use.value
    top = () if use is None else use.top[:top_verbs]
    shares = np.array([_verb_shares(one.of, top) for one in named]).reshape(len(named), len(top))
    at = np.arange(len(top))
    with drawing_style():
        figure = _with_legend(0.95 + 0.185 * max(len(top), 1), named)
        axes = figure.add_subplot()
        axes.hlines(at, np.min(shares, axis=0), np.max(shares, axis=0), color=OTHER, linewidth=0.9, zorder=0.8)
        for one, share in zip(named, shares, strict=True):
            axes.plot(
                share,
                at,
                one.look.marker,
                color=one.look.colour,
                mfc=PAPER if one.look.hollow else one.look.colour,
                ms=4.2,
                mew=1.1,
                clip_on=False,
            )
        axes.set_yticks(at, [shortened(one_line(verb), 18) for verb in top])
        axes.set_ylim(len(top) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, pad=7)
        axes.set_xlim(0, float(np.max(shares, initial=1)) * 1.05)
        axes.set_xlabel("% of the split's verbs")
        axes.grid(axis="both")
        _legend(figure, named, markers=True)
    return figure


def _verb_shares(split: SplitSurvey, verbs: Sequence[str]) -> list[float]:
    counts = Counter(verb for of_query in split.verbs for verb in of_query)
    return [100 * counts[verb] / max(counts.total(), 1) for verb in verbs]


def verbs_a_query_figure(named: Sequence[Named]) -> Figure:
    """Draw how many verbs a query has, % of the queries of each split."""
    return _counts_figure(
        [(one, np.bincount([len(verbs) for verbs in one.of.verbs])) for one in named], "verbs of the query"
    )


def words_a_query_figure(survey: Survey, named: Sequence[Named]) -> Figure:
    """Draw how many words a query has, % of the queries of each split (MAD, Fig. 6)."""
    of_split = survey.statistics.of_split
    return _counts_figure(
        [(one, of_split[one.of.name].sentences.words_histogram) for one in named], "words of the query"
    )


def words_of_datasets_figure(surveys: Sequence[Survey]) -> Figure:
    """Draw how many words a query has, a line a dataset (MAD, Fig. 6)."""
    named = [
        (Named(one_line(survey.title), survey.whole, look), survey.statistics.whole.sentences.words_histogram)
        for survey, look in zip(surveys, _LOOKS, strict=False)
    ]
    return _counts_figure(named, "words of the query")


def _counts_figure(counted: Sequence[tuple[Named, np.ndarray]], label: str) -> Figure:
    """Draw histograms over whole numbers up to the 99.5th percentile, % each."""
    last = max(int(np.searchsorted(np.cumsum(counts), 0.995 * counts.sum())) for _, counts in counted)
    with drawing_style():
        figure = _with_legend(2.7, [one for one, _ in counted])
        axes = figure.add_subplot()
        for one, counts in counted:
            share = 100 * np.pad(counts, (0, max(0, last + 1 - len(counts))))[: last + 1] / max(counts.sum(), 1)
            axes.plot(
                np.arange(last + 1),
                share,
                color=one.look.colour,
                linestyle=one.look.line,
                marker=one.look.marker if last <= 40 else "",
                mfc=PAPER if one.look.hollow else one.look.colour,
                ms=4,
            )
        axes.set_xlim(-0.02 * max(last, 1), max(last, 1) * 1.02)
        axes.locator_params(axis="x", integer=True)
        _percent_upward(axes, label)
        _legend(figure, [one for one, _ in counted])
    return figure


def ranks_figure(survey: Survey, named: Sequence[Named]) -> Figure:
    """Draw how often the word of each rank occurs, by split."""
    of_split = survey.statistics.of_split
    return _ranks_figure([(one, list(of_split[one.of.name].sentences.vocabulary.counts.values())) for one in named])


def ranks_of_datasets_figure(surveys: Sequence[Survey]) -> Figure:
    """Draw the share that the word of each rank has of all words, a line a dataset."""
    named = [
        (
            Named(one_line(survey.title), survey.whole, look),
            list(survey.statistics.whole.sentences.vocabulary.counts.values()),
        )
        for survey, look in zip(surveys, _LOOKS, strict=False)
    ]
    return _ranks_figure(named, share=True)


def _ranks_figure(ranked: Sequence[tuple[Named, Sequence[int]]], *, share: bool = False) -> Figure:
    with drawing_style():
        figure = _with_legend(3.0, [one for one, _ in ranked])
        axes = figure.add_subplot()
        for one, counts in ranked:
            if not counts:
                continue
            rank = np.unique(np.geomspace(1, len(counts), 120).round().astype(int))
            column = np.array(counts, dtype=float)[rank - 1] / (sum(counts) / 100 if share else 1)
            axes.plot(rank, column, color=one.look.colour, linestyle=one.look.line)
        axes.set_xscale("log")
        axes.set_yscale("log")
        _plain_ticks(axes)
        axes.yaxis.set_major_formatter(axes.xaxis.get_major_formatter())
        axes.yaxis.set_minor_formatter(axes.xaxis.get_minor_formatter())
        axes.set_xlabel("rank of the word")
        axes.set_ylabel("% of all words" if share else "occurrences")
        axes.grid(axis="both")
        _legend(figure, [one for one, counts in ranked if counts])
    return figure
