"""Figures of a survey, for papers and for the page.

Figures of each dataset, under its name:

==================  ==================================================================================================
``start-end``       density of (start, end) by split (Closer Look, Fig. 2 and 4)
``start-length``    density of (start, length) by split (Hidden Challenges, Fig. 3)
``histograms``      start, end and length as shares of the video, by split (MAD, Fig. 3 and 5)
``seconds``         the same in seconds
``longer``          share of moments longer than x (Closer Look, Fig. 3)
``distances``       distances between splits, and by chance
``verbs``           frequency of the frequent verbs, by split (Closer Look, Fig. 5)
``verb-densities``  density of (start, length) by verb (Hidden Challenges, Fig. C and D)
``verb-shift``      the most frequent verbs in train and in the test (Closer Look, Fig. 4c)
``verb-1`` ...      start and end for each requested verb, by split (Closer Look, Fig. 4c)
``verb-places``     distance of each verb's moments from all others, and by chance
``verbs-a-query``   number of verbs per query
``words-a-query``   number of words per query (MAD, Fig. 6)
``ranks``           number of occurrences of words by rank
==================  ==================================================================================================

Figures of several datasets: ``datasets-histograms``, ``datasets-longer``, ``datasets-constant``, ``datasets-words`` and
``datasets-ranks``; ``datasets-scatter`` is in
:mod:`truemoment.studies.bias.report_scatter`. Each is drawn in the style of :mod:`truemoment.report.drawing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.report.density_classes import DENSITY_BOUNDS, SCALE_MEANS, density_on_grid
from truemoment.report.drawing import (
    FLOOR,
    METHOD,
    OTHER,
    SMALL,
    draw_contours,
    draw_density,
    drawing_style,
    new_figure,
    scale_legend,
    shortened,
    unit_square,
    wrapped,
    write_beside,
)
from truemoment.report.model import Drawing
from truemoment.report.roles import ROLES, SERIES, SOFT, MarkLook
from truemoment.report.words import counted, percent
from truemoment.studies.bias.surveys import OVER, SplitSurvey, Survey

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_SHOWN = 6
"""Splits, or datasets, that a figure can distinguish; tables list all."""

N_VERB_DENSITIES = 30
"""Verbs whose densities are shown."""

N_SHIFTED = 3
"""Verbs whose densities are shown in two splits."""

FEW = 30
"""Fewer moments are drawn as dots: their density would depend on their number more than on their locations."""

_OF_SPLIT = {
    "train": SERIES[0],
    "test-ood": ROLES["ood"].look,
    "test": ROLES["ood"].look,
    "test-iid": ROLES["iid"].look,
    "val": ROLES["other"].look,
}
"""Looks of the usual splits, the same in every dataset; other splits use the rest."""


class DrawnSplit(NamedTuple):
    """A split, or a whole dataset, with its name and style in a figure."""

    name: str
    split: SplitSurvey
    style: MarkLook


# ---------------------------------------------------------------------------------------- list of figures


def drawings_of_datasets(surveys: Sequence[Survey]) -> list[Drawing]:
    """Return the figures of several datasets side by side."""
    entries = _datasets(surveys)
    drawings = []
    if entries:
        moments = f"Moments: {_sizes(entries)}."
        drawings += [
            Drawing(
                "datasets-histograms",
                "Start, end and length of moments",
                "A guess gains at a peak at 0 or 1. Shares of the video in cells of 1/40; lengths in seconds on a "
                f"logarithmic axis. After MAD, Fig. 3. {moments}",
                partial(side_by_side_figure, entries),
            ),
            Drawing(
                "datasets-longer",
                "Moments longer than x",
                "The further a curve is to the upper right, the more a long prediction hits. Marks at 30, 50 and 70 % "
                f"of the video. After Closer Look, Fig. 3. {moments}",
                partial(longer_figure, entries),
            ),
        ]
        if any(entry.split.constant.value is not None for entry in entries):
            drawings.append(
                Drawing(
                    "datasets-constant",
                    "The best constant prediction",
                    "% of the moments that it hits at IoU > 0.5 (dot), and by chance, if moments of the same lengths "
                    f"started anywhere (hollow triangle). {moments}",
                    partial(constant_figure, entries),
                )
            )
    return [
        *drawings,
        Drawing(
            "datasets-words",
            "Words per query",
            "% of the queries. After MAD, Fig. 6.",
            partial(words_of_datasets_figure, surveys),
        ),
        Drawing(
            "datasets-ranks",
            "Frequency of words by rank",
            "Share of all words, both axes logarithmic. A long flat end at the right: many words occur once or twice.",
            partial(ranks_of_datasets_figure, surveys),
        ),
    ]


def location_drawings(survey: Survey, name: str) -> list[Drawing]:
    """Return the figures of the locations of a dataset's moments; names of the figures begin with `name`."""
    entries, drawings = _splits(survey), []
    if entries:
        left_out = counted(len(survey.splits) - N_SHOWN, "more split is", "more splits are")
        tables_only = f" {left_out} in the tables only." if len(survey.splits) > N_SHOWN else ""
        moments = f"Moments: {_sizes(entries)}.{tables_only}"
        grid = "" if survey.whole.grid is None else f", except for the grid of {survey.whole.grid.name}"
        kinds: tuple[tuple[str, str, str, Callable[[], Figure]], ...] = (
            (
                "start-end",
                "Start and end",
                "Start and end of moments as shares of the video. Short moments are near the diagonal; the whole video "
                "is the upper left corner. The circle is the best constant prediction. An even spread would have one "
                f"colour{grid}. After Closer Look, Fig. 2 and 4.",
                partial(densities_figure, _with_all(survey, entries)),
            ),
            (
                "start-length",
                "Start and length",
                "Start and length as shares of the video. Moments that end with the video are on the slope. After "
                "Hidden Challenges, Fig. 3.",
                partial(densities_figure, _with_all(survey, entries), of_length=True),
            ),
            (
                "histograms",
                "Start, end and length, as shares of the video",
                "% of the moments, in cells of 1/40 of the video. After MAD, Fig. 3 and 5.",
                partial(histograms_figure, entries),
            ),
            (
                "seconds",
                "Start, end and length, in seconds",
                "% of the moments, in 40 cells up to the 99th percentile.",
                partial(seconds_figure, entries),
            ),
            (
                "longer",
                "Moments longer than x",
                "Marks at 30, 50 and 70 % of the video. A moment longer than x has an IoU of at least x with the whole "
                "video. After Closer Look, Fig. 3.",
                partial(longer_figure, entries),
            ),
        )
        drawings = [Drawing(f"{name}-{kind}", title, f"{text} {moments}", draw) for kind, title, text, draw in kinds]
    if any(pair.distance.value is not None for pair in survey.pairs):
        drawings.append(
            Drawing(
                f"{name}-distances",
                "Distances between splits",
                "Distance (dot) and distance by chance (hollow triangle), when whole videos are exchanged between the "
                f"splits ({survey.permutations:,} permutations).",
                partial(distances_figure, survey),
            )
        )
    return drawings


def verb_drawings(survey: Survey, name: str, top_verbs: int = 30, extra_verbs: Sequence[str] = ()) -> list[Drawing]:
    """Return the figures of the verbs of a dataset, first those of `extra_verbs`; their names begin with `name`."""
    use, drawings = survey.verb_use.value, []
    for number, verb in enumerate(extra_verbs, start=1):
        entries = [entry for entry in _with_all(survey, _splits(survey)) if len(entry.split.points_of_verb(verb))]
        if entries:
            drawings.append(
                Drawing(
                    f"{name}-verb-{number}",
                    f"Moments of {verb}",
                    f"Start and end as shares of the video for the queries with the verb {verb}, with their "
                    "number. After Closer Look, Fig. 4c.",
                    partial(verb_figure, entries, verb),
                )
            )
    if use is not None:
        drawings.append(
            Drawing(
                f"{name}-verbs",
                f"The {min(top_verbs, len(use.top))} most frequent verbs",
                f"{percent(use.coverage, 1)} of all verbs. % of the verbs of each split. After Closer Look, Fig. 5.",
                partial(verbs_figure, survey, top_verbs),
            )
        )
    densities: list[tuple[str, Floats]] = []  # of verbs with enough moments
    if use is not None and survey.whole.locations.value is not None:
        moments = ((verb, survey.whole.points_of_verb(verb)) for verb in use.top[:N_VERB_DENSITIES])
        densities = [(verb, points) for verb, points in moments if len(points) >= FEW]
    if densities:
        drawings.append(
            Drawing(
                f"{name}-verb-densities",
                "Start and length, by verb",
                "Start (to the right) and length (up) as shares of the video, for frequent verbs with at least "
                f"{FEW} moments, in all splits. The number of moments is below the verb. Where verbs differ, a model "
                "can guess from the sentence. After Hidden Challenges, Fig. C and D.",
                partial(verb_densities_figure, densities),
            )
        )
    if shift := _shifted(survey):
        train, test, verbs = shift
        drawings.append(
            Drawing(
                f"{name}-verb-shift",
                f"The same verbs in {shortened(train.name, 30)} and {shortened(test.name, 30)}",
                f"Start and end for the {len(verbs)} most frequent verbs with at least {FEW} moments in both splits, "
                "with the number of moments. Where the rows differ, the locations learned for a verb mislead. After "
                "Closer Look, Fig. 4c.",
                partial(verb_shift_figure, train, test, verbs),
            )
        )
    if survey.information.value is not None and survey.information.value.by_verb:
        drawings.append(
            Drawing(
                f"{name}-verb-places",
                "Information of each verb about the location",
                "Divergence between the moments of a verb and all others, in bits (dot), and by chance, when moments "
                "are exchanged between sentences (hollow triangle). Number of queries at the right.",
                partial(verb_information_figure, survey, top_verbs),
            )
        )
    return drawings


def word_drawings(survey: Survey, name: str) -> list[Drawing]:
    """Return the figures of the words of a dataset; names of the figures begin with `name`."""
    entries = _splits(survey, with_moments=False)
    queries = f"Queries: {_sizes(entries, queries=True)}."
    drawings = [
        Drawing(
            f"{name}-verbs-a-query",
            "Verbs per query",
            f"% of the queries. {queries}",
            partial(verbs_per_query_figure, entries),
        ),
        Drawing(
            f"{name}-words-a-query",
            "Words per query",
            f"% of the queries. After MAD, Fig. 6. {queries}",
            partial(words_per_query_figure, survey, entries),
        ),
    ]
    if survey.tail.value is not None:
        ranks = Drawing(
            f"{name}-ranks",
            "Frequency of words by rank",
            "Number of occurrences, both axes logarithmic. The flat end at the right: words that occur once.",
            partial(ranks_figure, survey, entries),
        )
        drawings.append(ranks)
    return drawings


def _splits(survey: Survey, *, with_moments: bool = True) -> list[DrawnSplit]:
    """Return the splits that are drawn, each in the style of its name or in an unused one."""
    styles: dict[str, MarkLook] = {}
    splits = survey.splits[:N_SHOWN]
    for split in sorted(splits, key=lambda split: split.name not in _OF_SPLIT):  # the usual names first
        unused = [look for look in (*_OF_SPLIT.values(), *SERIES[1:]) if look not in styles.values()]
        usual = _OF_SPLIT.get(split.name, SERIES[-1])
        styles[split.name] = usual if usual in unused else unused[0]
    return [
        DrawnSplit(split.name, split, styles[split.name])
        for split in splits
        if split.locations.value is not None or not with_moments
    ]


def _with_all(survey: Survey, entries: Sequence[DrawnSplit]) -> list[DrawnSplit]:
    """Add all splits together where a panel would be empty."""
    is_odd = len(entries) % 2 == 1 and len(entries) > 1
    return [*entries, *([DrawnSplit("all splits", survey.whole, SERIES[0])] if is_odd else [])]


def _datasets(surveys: Sequence[Survey], *, with_moments: bool = True) -> list[DrawnSplit]:
    """Return the datasets that are drawn."""
    return [
        DrawnSplit(survey.title, survey.whole, style)
        for survey, style in zip(surveys, SERIES, strict=False)
        if survey.whole.locations.value is not None or not with_moments
    ]


def _sizes(entries: Sequence[DrawnSplit], *, queries: bool = False) -> str:
    return ", ".join(
        f"{shortened(entry.name, 30)} {entry.split.n_queries if queries else len(entry.split.points):,}"
        for entry in entries
    )


# ------------------------------------------------------------------------------------------ densities


def densities_figure(entries: Sequence[DrawnSplit], *, of_length: bool = False) -> Figure:
    """Draw the density of moments by split, two a row; by start and end, or by start and length."""
    with drawing_style():
        figure, panels = _square_panels(len(entries))
        for axes, entry in zip(panels, entries, strict=True):
            axes.set_title(f"{shortened(entry.name, 18)} ({len(entry.split.points):,})", fontsize=SMALL)
            draw_locations(axes, entry.split.points, of_length=of_length)
            constant = entry.split.constant.value
            if constant is not None and not of_length:
                axes.plot(constant.start_norm, constant.end_norm, "o", ms=8, mfc="none", mec=FLOOR, mew=1.6)
        _label_panels(panels, "length" if of_length else "end")
        scale_legend(figure, DENSITY_BOUNDS, SCALE_MEANS)
    return figure


def _square_panels(count: int) -> tuple[Figure, list[Axes]]:
    """Make a figure with a panel for each of `count` splits, two a row."""
    columns, rows = min(count, 2), -(-count // 2)
    figure = new_figure(0.75 + 2.05 * rows if columns == 2 else 4.0)
    panels = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes in panels[count:]:
        axes.set_axis_off()
    return figure, panels[:count]


def _label_panels(panels: Sequence[Axes], y_label: str) -> None:
    """Name the axes at the left and at the bottom of panels that are two a row."""
    columns = min(len(panels), 2)
    for axes in panels[::columns]:
        axes.set_ylabel(y_label)
    for axes in panels[-columns:]:
        axes.set_xlabel("start, share of the video")


def draw_locations(axes: Axes, points: Floats, *, of_length: bool = False) -> None:
    """Draw the density of moments on a square, or a dot a moment if there are few."""
    unit_square(axes)
    axes.plot([0, 1], [1, 0] if of_length else [0, 1], color=SOFT, linewidth=0.7)
    if len(points) >= FEW:
        draw_density(axes, points, of_duration=of_length)
    elif len(points):  # a line without points and without clipping would break the layout
        height = points[:, 1] - points[:, 0] if of_length else points[:, 1]
        axes.plot(points[:, 0], height, ".", color=METHOD, ms=4, clip_on=False)


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
            axes.text(x + 1.04, y + 1, shortened(verb, 11), ha="right", va="top", fontsize=SMALL)
            axes.text(x + 1.04, y + 0.8, f"{len(points):,}", ha="right", va="top", fontsize=SMALL, color=SOFT)
        scale_legend(figure, DENSITY_BOUNDS, SCALE_MEANS)
    return figure


def _shifted(survey: Survey) -> tuple[SplitSurvey, SplitSurvey, list[str]] | None:
    """Return train, the test, and the frequent verbs with enough moments in both; None if there are none."""
    train, test = survey.split("train"), survey.tested
    if train is None or test is train or survey.verb_use.value is None:
        return None
    verbs = [
        verb
        for verb in survey.verb_use.value.top
        if min(len(train.points_of_verb(verb)), len(test.points_of_verb(verb))) >= FEW
    ]
    return (train, test, verbs[:N_SHIFTED]) if verbs else None


def verb_shift_figure(train: SplitSurvey, test: SplitSurvey, verbs: Sequence[str]) -> Figure:
    """Draw the locations of moments with the same verbs in two splits, one above the other (Closer Look, Fig. 4c)."""
    with drawing_style():
        figure = new_figure(3.75)
        panels = figure.subplots(2, len(verbs), squeeze=False)
        for row, split in zip(panels, (train, test), strict=True):
            for axes, verb in zip(row, verbs, strict=True):
                points = split.points_of_verb(verb)
                draw_locations(axes, points)
                axes.set_title(f"{shortened(verb, 10)} ({len(points):,})", fontsize=SMALL)
            row[0].set_ylabel(f"{shortened(split.name, 16)}\nend")
        for axes in panels[1]:
            axes.set_xlabel("start")
        scale_legend(figure, DENSITY_BOUNDS, SCALE_MEANS)
    return figure


def verb_figure(entries: Sequence[DrawnSplit], verb: str) -> Figure:
    """Draw the locations of the moments of one verb in each split (Closer Look, Fig. 4c)."""
    with drawing_style():
        figure, panels = _square_panels(len(entries))
        figure.suptitle(f"verb: {shortened(verb, 40)}", fontsize=SMALL)
        for axes, entry in zip(panels, entries, strict=True):
            points = entry.split.points_of_verb(verb)
            draw_locations(axes, points)
            axes.set_title(f"{shortened(entry.name, 16)} ({len(points):,})", fontsize=SMALL)
        _label_panels(panels, "end")
        scale_legend(figure, DENSITY_BOUNDS, SCALE_MEANS)
    return figure


# ----------------------------------------------------------------------------------------- histograms

_CELLS = 40


def histograms_figure(entries: Sequence[DrawnSplit]) -> Figure:
    """Draw start, end and length as shares of the video (MAD, Fig. 3 and 5)."""
    bounds = np.linspace(0, 1, _CELLS + 1)
    columns = ("start, share of the video", "end, share of the video", "length, share of the video")
    with drawing_style():
        figure = _with_legend(5.2, entries)
        for number, (axes, label) in enumerate(zip(figure.subplots(3, 1), columns, strict=True)):
            _outlines(axes, [_columns_of(entry.split.points)[number] for entry in entries], bounds, entries, label)
        _legend(figure, entries)
    return figure


def seconds_figure(entries: Sequence[DrawnSplit]) -> Figure:
    """Draw start, end and length in seconds, each up to the 99th percentile."""
    with drawing_style():
        figure = _with_legend(5.2, entries)
        for number, (axes, label) in enumerate(
            zip(figure.subplots(3, 1), ("start, s", "end, s", "length, s"), strict=True)
        ):
            columns = [_columns_of(entry.split.points)[number] * entry.split.duration_s for entry in entries]
            last = float(np.percentile(np.concatenate(columns), 99)) or 1.0
            _outlines(axes, columns, np.linspace(0, last, _CELLS + 1), entries, label)
        _legend(figure, entries)
    return figure


def side_by_side_figure(entries: Sequence[DrawnSplit]) -> Figure:
    """Draw start and end as shares of the video and length in seconds, a line a dataset (MAD, Fig. 3)."""
    with drawing_style():
        figure = _with_legend(5.4, entries)
        panels = figure.subplots(3, 1)
        bounds = np.linspace(0, 1, _CELLS + 1)
        for number, label in enumerate(("start, share of the video", "end, share of the video")):
            columns = [_columns_of(entry.split.points)[number] for entry in entries]
            _outlines(panels[number], columns, bounds, entries, label)
        seconds = [_columns_of(entry.split.points)[2] * entry.split.duration_s for entry in entries]
        values = np.concatenate(seconds)
        low, high = np.percentile(values[values > 0], [0.1, 99.9])
        bounds = np.geomspace(low, high if high > low else 2 * low, _CELLS + 1)
        panels[2].set_xscale("log")
        _plain_ticks(panels[2])
        _outlines(panels[2], seconds, bounds, entries, "length, s")
        _legend(figure, entries)
    return figure


def _columns_of(points: Floats) -> tuple[Floats, Floats, Floats]:
    """Return start, end and length of moments."""
    return points[:, 0], points[:, 1], points[:, 1] - points[:, 0]


def _outlines(axes: Axes, columns: Sequence[Floats], bounds: Floats, entries: Sequence[DrawnSplit], label: str) -> None:
    """Draw a histogram of each column as an outline, % of all values; values outside the bounds count in the total."""
    for values, entry in zip(columns, entries, strict=True):
        share = 100 * np.histogram(values, bounds)[0] / max(len(values), 1)
        axes.stairs(share, bounds, color=entry.style.colour, linestyle=entry.style.line, linewidth=1.3, baseline=None)
    axes.set_xlim(bounds[0], bounds[-1])
    _percent_upward(axes, label)


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


def _legend(figure: Figure, entries: Sequence[DrawnSplit], *, markers: bool = False) -> None:
    """Draw the legend of lines above a figure; a single line has none."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - see drawing_style

    handles = [
        Line2D(
            [],
            [],
            color=entry.style.colour,
            linestyle="" if markers else entry.style.line,
            marker=entry.style.marker if markers else "",
            mfc=entry.style.face,
            label=shortened(entry.name, 24),
        )
        for entry in entries
    ]
    columns = _legend_columns(entries)
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, columnspacing=1.2, handletextpad=0.5)


def _legend_columns(entries: Sequence[DrawnSplit]) -> int:
    """Return the number of columns of a legend."""
    longest = max((len(shortened(entry.name, 24)) for entry in entries), default=0)
    return max(1, min(len(entries), 58 // (longest + 6)))


def _with_legend(height_in: float, entries: Sequence[DrawnSplit]) -> Figure:
    """Make a figure whose panels keep their height if its legend has several rows."""
    return new_figure(height_in + 0.17 * (-(-len(entries) // _legend_columns(entries)) - 1))


def longer_figure(entries: Sequence[DrawnSplit]) -> Figure:
    """Draw the share of moments longer than x, x a share of the video, marked at 30, 50, 70 % (Closer Look, Fig. 3)."""
    over = np.linspace(0, 1, 101)
    with drawing_style():
        figure = _with_legend(3.2, entries)
        axes = figure.add_subplot()
        for entry in entries:
            length = np.sort(_columns_of(entry.split.points)[2])
            share = 100 * (len(length) - np.searchsorted(length, over + 1e-9, side="right")) / max(len(length), 1)
            axes.plot(over, share, color=entry.style.colour, linestyle=entry.style.line)
            axes.plot(
                OVER, 100 * entry.split.longer, entry.style.marker, color=entry.style.colour, mfc=entry.style.face
            )
        for at in OVER:
            axes.axvline(at, color=SOFT, linewidth=0.7, linestyle=(0, (2, 2)), zorder=0.5)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 100)
        axes.set_xticks([0, 0.3, 0.5, 0.7, 1], ["0", "0.3", "0.5", "0.7", "1"])
        axes.set_xlabel("x, share of the video")
        axes.set_ylabel("% of the moments longer than x")
        axes.grid(axis="y")
        _legend(figure, entries)
    return figure


# ------------------------------------------------------------------------- figures beside values by chance


def _beside_chance(axes: Axes, rows: Sequence[tuple[str, float, float]]) -> None:
    """Draw a row for each name: its value as a dot, the value by chance as a hollow triangle."""
    at = np.arange(len(rows))
    axes.hlines(
        at, [chance for *_, chance in rows], [value for _, value, _ in rows], color=OTHER, linewidth=0.9, zorder=0.8
    )
    chance_look = ROLES["chance"].look
    axes.plot(
        [chance for *_, chance in rows],
        at,
        chance_look.marker,
        color=chance_look.colour,
        mfc=chance_look.face,
        mew=1.2,
        label=ROLES["chance"].word,
    )
    axes.plot([value for _, value, _ in rows], at, "o", color=METHOD, label="found")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(at, [name for name, *_ in rows])
    axes.tick_params(axis="y", length=0, pad=7)
    axes.grid(axis="both")
    highest = max((max(value, chance) for _, value, chance in rows), default=0.0)
    axes.set_xlim(-0.03 * highest, highest * 1.1 or 1)


def constant_figure(entries: Sequence[DrawnSplit]) -> Figure:
    """Draw the share of moments that the best constant hits, and its value by chance."""
    rows = [
        (wrapped(entry.name, 20), 100 * entry.split.constant.value.value, 100 * entry.split.constant.value.even_value)
        for entry in entries
        if entry.split.constant.value is not None
    ]
    with drawing_style():
        figure = new_figure(0.95 + 0.36 * len(rows))
        axes = figure.add_subplot()
        _beside_chance(axes, rows)
        axes.set_xlim(left=0)
        axes.set_xlabel("% of the moments, IoU > 0.5")
        handles, _ = axes.get_legend_handles_labels()
        figure.legend(handles, ["by chance", "found"], loc="outside upper center", ncols=2)
    return figure


def distances_figure(survey: Survey) -> Figure:
    """Draw the distances between splits, energy distance and Jensen-Shannon divergence, and their values by chance."""
    pairs = [pair for pair in survey.pairs if pair.distance.value is not None][:15]
    names = [f"{shortened(pair.a, 12)} to\n{shortened(pair.b, 14)}" for pair in pairs]
    distances = [pair.distance.value for pair in pairs if pair.distance.value is not None]
    with drawing_style():
        figure = new_figure(1.2 + 0.42 * len(pairs))
        energy, divergence = figure.subplots(1, 2, sharey=True)
        _beside_chance(
            energy,
            [(n, distance.energy, distance.energy_by_chance) for n, distance in zip(names, distances, strict=True)],
        )
        rows = [
            (n, distance.jensen_shannon_bits, distance.jensen_shannon_by_chance)
            for n, distance in zip(names, distances, strict=True)
        ]
        _beside_chance(divergence, rows)
        energy.set_xlabel("energy distance")
        divergence.set_xlabel("Jensen-Shannon,\nbits")
        handles, _ = energy.get_legend_handles_labels()
        figure.legend(handles, ["by chance", "these splits"], loc="outside upper center", ncols=2)
    return figure


def verb_information_figure(survey: Survey, top_verbs: int) -> Figure:
    """Draw the divergence of the moments of each verb from all others, and its value by chance."""
    information = survey.information.value
    divergences = () if information is None else information.by_verb[:top_verbs]
    rows = [
        (shortened(divergence.verb, 18), divergence.raw_bits, divergence.by_chance_bits) for divergence in divergences
    ]
    with drawing_style():
        figure = new_figure(0.95 + 0.185 * len(rows))
        axes = figure.add_subplot()
        _beside_chance(axes, rows)
        for row, divergence in enumerate(divergences):
            write_beside(axes, f"{divergence.n_queries:,}", 1, row, share_of_width=True, color=SOFT)
        axes.set_xlabel("bits")
        handles, _ = axes.get_legend_handles_labels()
        figure.legend(handles, ["by chance", "this verb"], loc="outside upper center", ncols=2)
    return figure


# ---------------------------------------------------------------------------------------------- words


def verbs_figure(survey: Survey, top_verbs: int) -> Figure:
    """Draw how often the frequent verbs occur, % of the verbs of each split (Closer Look, Fig. 5)."""
    entries = _splits(survey, with_moments=False)
    use = survey.verb_use.value
    top = () if use is None else use.top[:top_verbs]
    counts = [Counter(verb for of_query in entry.split.verbs for verb in of_query) for entry in entries]
    shares = np.array([[100 * count[verb] / max(count.total(), 1) for verb in top] for count in counts])
    shares = shares.reshape(len(entries), len(top))
    at = np.arange(len(top))
    with drawing_style():
        figure = _with_legend(0.95 + 0.185 * max(len(top), 1), entries)
        axes = figure.add_subplot()
        axes.hlines(at, np.min(shares, axis=0), np.max(shares, axis=0), color=OTHER, linewidth=0.9, zorder=0.8)
        for entry, share in zip(entries, shares, strict=True):
            axes.plot(
                share,
                at,
                entry.style.marker,
                color=entry.style.colour,
                mfc=entry.style.face,
                ms=4.2,
                mew=1.1,
                clip_on=False,
            )
        axes.set_yticks(at, [shortened(verb, 18) for verb in top])
        axes.set_ylim(len(top) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, pad=7)
        axes.set_xlim(0, float(np.max(shares, initial=1)) * 1.05)
        axes.set_xlabel("% of the split's verbs")
        axes.grid(axis="both")
        _legend(figure, entries, markers=True)
    return figure


def verbs_per_query_figure(entries: Sequence[DrawnSplit]) -> Figure:
    """Draw how many verbs a query has, % of the queries of each split."""
    return _counts_figure(
        [(entry, np.bincount([len(verbs) for verbs in entry.split.verbs])) for entry in entries], "verbs per query"
    )


def words_per_query_figure(survey: Survey, entries: Sequence[DrawnSplit]) -> Figure:
    """Draw how many words a query has, % of the queries of each split (MAD, Fig. 6)."""
    of_split = survey.statistics.of_split
    return _counts_figure(
        [(entry, of_split[entry.split.name].sentences.words_histogram) for entry in entries], "words per query"
    )


def words_of_datasets_figure(surveys: Sequence[Survey]) -> Figure:
    """Draw how many words a query has, a line a dataset (MAD, Fig. 6)."""
    entries = zip(_datasets(surveys, with_moments=False), surveys, strict=False)
    return _counts_figure(
        [(entry, survey.statistics.whole.sentences.words_histogram) for entry, survey in entries], "words per query"
    )


def _counts_figure(histograms: Sequence[tuple[DrawnSplit, np.ndarray]], label: str) -> Figure:
    """Draw histograms over whole numbers up to the 99.5th percentile, % each."""
    last = max(int(np.searchsorted(np.cumsum(counts), 0.995 * counts.sum())) for _, counts in histograms)
    with drawing_style():
        figure = _with_legend(2.7, [entry for entry, _ in histograms])
        axes = figure.add_subplot()
        for entry, counts in histograms:
            share = 100 * np.pad(counts, (0, max(0, last + 1 - len(counts))))[: last + 1] / max(counts.sum(), 1)
            axes.plot(
                np.arange(last + 1),
                share,
                color=entry.style.colour,
                linestyle=entry.style.line,
                marker=entry.style.marker if last <= 40 else "",
                mfc=entry.style.face,
                ms=4,
            )
        axes.set_xlim(-0.02 * max(last, 1), max(last, 1) * 1.02)
        axes.locator_params(axis="x", integer=True)
        _percent_upward(axes, label)
        _legend(figure, [entry for entry, _ in histograms])
    return figure


def ranks_figure(survey: Survey, entries: Sequence[DrawnSplit]) -> Figure:
    """Draw how often the word of each rank occurs, by split."""
    of_split = survey.statistics.of_split
    return _ranks_figure(
        [(entry, list(of_split[entry.split.name].sentences.vocabulary.counts.values())) for entry in entries]
    )


def ranks_of_datasets_figure(surveys: Sequence[Survey]) -> Figure:
    """Draw the share that the word of each rank has of all words, a line a dataset."""
    entries = zip(_datasets(surveys, with_moments=False), surveys, strict=False)
    return _ranks_figure(
        [(entry, list(survey.statistics.whole.sentences.vocabulary.counts.values())) for entry, survey in entries],
        share=True,
    )


def _ranks_figure(ranked: Sequence[tuple[DrawnSplit, Sequence[int]]], *, share: bool = False) -> Figure:
    with drawing_style():
        figure = _with_legend(3.0, [entry for entry, _ in ranked])
        axes = figure.add_subplot()
        for entry, counts in ranked:
            if not counts:
                continue
            rank = np.unique(np.geomspace(1, len(counts), 120).round().astype(int))
            column = np.array(counts, dtype=float)[rank - 1] / (sum(counts) / 100 if share else 1)
            axes.plot(rank, column, color=entry.style.colour, linestyle=entry.style.line)
        axes.set_xscale("log")
        axes.set_yscale("log")
        _plain_ticks(axes)
        axes.yaxis.set_major_formatter(axes.xaxis.get_major_formatter())
        axes.yaxis.set_minor_formatter(axes.xaxis.get_minor_formatter())
        axes.set_xlabel("rank of the word")
        axes.set_ylabel("% of all words" if share else "occurrences")
        axes.grid(axis="both")
        _legend(figure, [entry for entry, counts in ranked if counts])
    return figure
