"""Figures of an audit, for papers and for the page.

======================  ======================================================================================
``floors``              the headline measure of the method, the floors and the ceilings, as bars
``measures``            every measure: the method beside the strongest floor
``curves``              R@1 and dR@1 against the threshold (Closer Look, Fig. 8)
``where-blind-misses``  hits of the method by the probability that the sentence network is right
``by-length``           hits and misses by length of the reference (Hidden Challenges, Fig. 6)
``slices-...``          the headline measure by class of query, a figure a family
``densities``           where moments lie: train, references, answers (Closer Look, Fig. 2 and 4)
``changed``             the model on changed videos: original, each change, the floor (Hidden Challenges, Fig. 5)
``displacement``        how answers move when the video is shuffled (Hidden Challenges, Fig. F)
``errors``              in which way first answers are wrong, and what mending adds
``conventions``         the same answers under each named protocol
======================  ======================================================================================

Each is a function of the audit's results that returns a :class:`matplotlib.figure.Figure`, in the style of
:mod:`truemoment.reports.drawing`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truemoment.auditing import Audit, Results
from truemoment.auditing.checks import changed_videos, conventions, curves, errors, excess_where_blind_misses, slices
from truemoment.diagnosis.answers import first_answers
from truemoment.diagnosis.curves import LengthCounts
from truemoment.exceptions import UsageError
from truemoment.floors import BaselineResult
from truemoment.intervals import Floats
from truemoment.records import Annotations
from truemoment.reports.drawing import (
    CEILING,
    CEILING_FAINT,
    DENSITY_BOUNDS,
    FLOOR,
    FLOOR_FAINT,
    INK,
    METHOD,
    METHOD_FAINT,
    OTHER,
    OTHER_FAINT,
    PAPER,
    SMALL,
    SOFT,
    TEXT,
    draw_cells,
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

FAMILIES: MappingProxyType[str, str] = MappingProxyType(
    {
        "reference length": "By length of the reference, share of the video",
        "reference length (s)": "By length of the reference, seconds",
        "position": "By place of the reference's middle in the video",
        "video length": "By length of the video",
        "sentence length": "By length of the sentence",
        "references": "By number of references",
        "shared moment": "By whether the very moment is asked for by other sentences",
        "first verb": "By first verb",
        "in train": "By whether the sentence stands in the training set",
    }
)
"""Titles of the figures of slices."""


def drawings(audit: Audit) -> list[Drawing]:
    """List the figures of an audit, in the order of a report; those that do not apply are not there."""
    results = audit.results
    measure = results.measure
    listed = [
        Drawing(
            "floors",
            f"{measure}: method, floors, ceilings",
            "Floors never see the video, and what they reach is no merit of a method. Lines are 95 % intervals by "
            "resampling videos; the dashed line is the strongest floor.",
            partial(floors_figure, results),
        ),
        Drawing(
            "measures",
            "Every measure, beside the strongest floor",
            "Where a hollow diamond reaches its dot, the measure does not tell the method from a method without the "
            "video. The short stroke is the best of the ceilings.",
            partial(measures_figure, results),
        ),
        Drawing(
            "curves",
            "R@1 and dR@1 against the threshold",
            "Where a solid line (R@1) and its dashed one (dR@1) part, hits have ends far off. After Closer Look, "
            "Fig. 8.",
            partial(curves_figure, results),
        ),
    ]
    if results.part(curves.by_length) is not None:
        listed.append(
            Drawing(
                "by-length",
                f"{measure}: hits and misses by length of the reference",
                "A method that hits where its floor hits, and nowhere else, has learnt lengths. After Hidden "
                "Challenges, Fig. 6.",
                partial(by_length_figure, results),
            )
        )
    if results.part(excess_where_blind_misses.where_blind_misses) is not None:
        listed.append(
            Drawing(
                "where-blind-misses",
                "Hits by the probability that the sentence network is right",
                "Queries in ten classes by the probability that a network that reads only the sentence and the "
                "duration is right. A method that guesses follows the networks; one that looks at the video also hits "
                "where they miss, at the left.",
                partial(where_blind_misses_figure, results),
            )
        )
    listed.append(
        Drawing(
            "densities",
            "Where moments lie",
            "Each place is a start and an end as shares of the video. A method that finds moments "
            "spreads its first answers as the references are spread; one that guesses, as the training moments. "
            "After Closer Look, Fig. 2 and 4.",
            partial(densities_figure, results),
        )
    )
    if results.part(changed_videos.changed) is not None:
        listed.append(
            Drawing(
                "changed",
                f"{measure} on changed videos",
                "The same model asked the same of videos that are shuffled, reversed, frozen or exchanged. One that "
                "looks loses on each; the dashed line is the strongest floor. After Hidden Challenges, Fig. 5.",
                partial(changed_figure, results),
            )
        )
    control = results.part(changed_videos.shuffled)
    if control is not None and control.displacement.compared.any():
        listed.append(
            Drawing(
                "displacement",
                "How answers move when the video is shuffled",
                "Answers in the corner at 0 stay where they are though the video is another one. After Hidden "
                "Challenges, Fig. F.",
                partial(displacement_figure, results),
            )
        )
    listed += [
        Drawing(
            "errors",
            "In which way first answers are wrong",
            "What each measure would gain if one kind of error were mended and all else stayed; queries in brackets. "
            "'Hidden' are hits at a lower rank, brought to rank 1; they are counted among the other kinds too.",
            partial(errors_figure, results),
        ),
        Drawing(
            "conventions",
            f"{measure} under each named convention",
            "The same answers, measured as published evaluators do. Figures of different evaluators cannot be "
            "compared more finely than this.",
            partial(conventions_figure, results),
        ),
    ]
    families = Counter(one.family for one in results.part(slices.of_method))
    for family in (family for family, n_classes in families.items() if n_classes > 1):
        listed.append(
            Drawing(
                f"slices-{re.sub(r'[^a-z]+', '-', family).strip('-')}",
                FAMILIES.get(family, f"By {family}"),
                f"{measure} of the method (dot) and of the strongest floor (hollow diamond) with 95 % intervals, and "
                "how many queries there are.",
                partial(slices_figure, results, family),
            )
        )
    return listed


# --------------------------------------------------------------------------------------- drawing them


def save_figures(audit: Audit, folder: Path, formats: Sequence[str] = ("png", "svg", "pdf")) -> list[Path]:
    """Save every figure in each format; the same audit gives the same bytes.

    Parameters
    ----------
    audit
        What was found.
    folder
        Made if it is not there; files of the same name are replaced.
    formats
        Any of ``png`` (300 dots an inch), ``svg`` and ``pdf`` (fonts embedded).

    Returns
    -------
    list of Path
        The files, complete or not at all.
    """
    return save_drawings(drawings(audit), folder, formats)


# ------------------------------------------------------------------------------------------ the figures


def floors_figure(results: Results) -> Figure:
    """Draw the headline measure of the method, the floors and the ceilings as bars with 95 % intervals."""
    case, m = results.case, results.case.headline
    baselines = [*results.floors, *results.ceilings]
    floor = results.floors[int(results.verdict.strongest[m])]
    names = [wrapped(case.predictions.name), *(wrapped(baseline.called(m)) for baseline in baselines)]
    names[1 + baselines.index(floor)] += "\n(strongest floor)"
    values = 100 * np.array(
        [results.scores.value(case.measures[m]), *(r.scores.value(case.measures[m]) for r in baselines)]
    )
    with drawing_style():
        lines = np.array([name.count("\n") + 1 for name in names])
        heights = np.maximum(0.62 + 0.38 * lines, 1)
        at = np.cumsum(heights) - heights / 2
        figure = new_figure(0.62 + 0.26 * float(heights.sum()))
        axes = figure.add_subplot()
        for row, value in enumerate(values):
            face, edge, hatch = _bar_look(None if row == 0 else baselines[row - 1], floor)
            end = 0.0
            if np.isfinite(value):
                axes.barh(at[row], value, height=0.62, color=face, edgecolor=edge, hatch=hatch, linewidth=0.8)
                end = max(value, _strokes(axes, at[row], 100 * results.ci95[row, m]))
            text = f"{value:.1f}" if np.isfinite(value) else "undefined"
            write_beside(axes, text, end, at[row])
        to_beat = values[1 + baselines.index(floor)]
        if np.isfinite(to_beat):
            axes.axvline(to_beat, color=FLOOR, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0.5)
        axes.set_yticks(at, names)
        axes.get_yticklabels()[0].set_fontweight("bold")
        axes.set_ylim(float(heights.sum()), 0)
        axes.tick_params(axis="y", length=0, pad=7)
        _percent_axis(axes, values, results.ci95[:, m], f"{case.measures[m]}, %")
    return figure


def _bar_look(baseline: BaselineResult | None, strongest: BaselineResult) -> tuple[str, str, str | None]:
    """Face, edge and hatch of a bar; None is the method."""
    if baseline is None:
        return METHOD, METHOD, None
    if baseline is strongest:
        return FLOOR_FAINT, FLOOR, "////"
    return (CEILING_FAINT, CEILING, "\\\\\\\\") if baseline.kind == "ceiling" else (OTHER_FAINT, OTHER, None)


def measures_figure(results: Results) -> Figure:
    """Draw every measure: the method (dot), the strongest floor (hollow diamond), the best ceiling (stroke)."""
    case = results.case
    rows = range(len(case.measures))
    own = 100 * np.array([results.scores.value(measure) for measure in case.measures])
    floor = 100 * np.array([results.strongest_scores.value(measure) for measure in case.measures])
    ceilings = 100 * np.array(
        [[baseline.scores.value(measure) for measure in case.measures] for baseline in results.ceilings]
    ).reshape(-1, len(own))
    with drawing_style():
        figure = new_figure(0.95 + 0.27 * len(own))
        axes = figure.add_subplot()
        for row in rows:
            interval_of_floor = 100 * results.ci95[1 + int(results.verdict.strongest[row]), row]
            _strokes(axes, row + 0.12, interval_of_floor, colour=FLOOR)
            _strokes(axes, row - 0.12, 100 * results.ci95[0, row], colour=METHOD)
        _dots(axes, own, floor, apart=0.12)
        best = np.max(np.nan_to_num(ceilings, nan=-1.0), axis=0, initial=-1.0)
        shown = best >= 0
        axes.plot(best[shown], np.arange(len(own))[shown], "|", color=CEILING, ms=9, mew=2, label="ceiling")
        _undefined(axes, own)
        axes.set_yticks(list(rows), [wrapped(str(measure), 22) for measure in case.measures])
        axes.set_ylim(len(own) - 0.5, -0.5)
        axes.set_xlim(-1, 104)
        axes.set_xlabel("%")
        axes.grid(axis="both")
        axes.tick_params(axis="y", length=0, pad=7)
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2, handletextpad=0.3)
    return figure


def curves_figure(results: Results) -> Figure:
    """Draw R@1 and dR@1 against the threshold m (Closer Look, Fig. 8): the method, the strongest floor, PredictAll.

    The same model without the frames is a fourth, where there are its answers.
    """
    looks = ((METHOD, "o"), (FLOOR, "D"), (OTHER, "^"), (INK, "s"))
    with drawing_style():
        figure = new_figure(3.4)
        axes = figure.add_subplot()
        highest, listed = 0.0, results.part(curves.curves)
        for number, (name, of) in enumerate(listed):
            colour, marker = looks[number]
            every = (number, len(listed) + 1)
            title = shortened(one_line(name), 24)
            recall, discounted = 100 * of.recall[0], 100 * of.discounted[0]
            axes.plot(of.thresholds, recall, color=colour, marker=marker, markevery=every, label=title)
            axes.plot(
                of.thresholds,
                discounted,
                color=colour,
                marker=marker,
                mfc=PAPER,
                markevery=every,
                linestyle=(0, (3, 2)),
            )
            highest = max(highest, float(np.nanmax(recall, initial=0)))
        axes.plot([], [], color=SOFT, label="R@1")
        axes.plot([], [], color=SOFT, linestyle=(0, (3, 2)), mfc=PAPER, label="dR@1")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, max(highest * 1.03, 1))
        axes.set_xlabel("threshold m on the IoU")
        axes.set_ylabel("% of the queries")
        axes.grid(axis="both")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2)  # within, it would cover high scores
    return figure


def by_length_figure(results: Results) -> Figure:
    """Draw hits and misses by length of the reference: the method beside the floor (Hidden Challenges, Fig. 6)."""
    own, of_floor = results.part(curves.by_length), results.part(curves.floor_by_length)
    if own is None or of_floor is None:
        raise UsageError("hits and misses are counted of R@n only, and the headline measure is another")
    panels = (("the method", own.norm, METHOD), ("strongest floor", of_floor.norm, FLOOR))
    with drawing_style():
        figure = new_figure(2.7)
        both = figure.subplots(1, 2, sharey=True)
        for axes, (title, counts, colour) in zip(both, panels, strict=True):
            _stacked(axes, counts, colour)
            axes.set_title(title)
            axes.set_xlim(0, 1)
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.grid(axis="y")
            axes.legend(loc="upper right", handlelength=1.2, handletextpad=0.4)
        both[0].set_ylabel("queries")
        both[0].yaxis.get_major_locator().set_params(integer=True)
        figure.supxlabel("length of the reference, share of the video", fontsize=TEXT)
    return figure


def where_blind_misses_figure(results: Results) -> Figure:
    """Draw the hits of the method and of two sentence networks by the probability that the network is right."""
    found = results.part(excess_where_blind_misses.where_blind_misses)
    if found is None:
        raise UsageError("there is no sentence network to compare with")
    looks = (
        ("the method", METHOD, "o", METHOD),
        ("sentence network", FLOOR, "D", FLOOR),
        ("another seed", OTHER, "^", PAPER),
    )
    with drawing_style():
        figure = new_figure(3.2)
        axes = figure.add_subplot()
        for (label, colour, marker, face), hits in zip(looks, found.hits.T, strict=True):
            axes.plot(100 * found.probability, 100 * hits, color=colour, marker=marker, mfc=face, label=label)
        axes.set_xlim(left=0)
        axes.set_ylim(0, max(1.0, 105 * float(found.hits.max(initial=0))))
        axes.set_xlabel("probability that the sentence network is right, %")
        axes.set_ylabel(f"hits at {found.measure}, %")
        axes.grid(axis="both")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def _stacked(axes: Axes, counts: LengthCounts, colour: str) -> None:
    left, width = counts.bounds[:-1], np.diff(counts.bounds)
    axes.bar(left, counts.success, width, align="edge", color=colour, edgecolor=PAPER, linewidth=0.4, label="hits")
    axes.bar(
        left,
        counts.failure,
        width,
        counts.success,
        align="edge",
        color=PAPER,
        edgecolor=OTHER,
        hatch="/////",
        linewidth=0.5,
        label="misses",
    )


def slices_figure(results: Results, family: str) -> Figure:
    """Draw the headline measure by class of one family: the method, the strongest floor, and the number of queries."""
    m, measure = results.case.headline, results.measure
    every = results.part(slices.of_method)
    own = [one for one in every if one.family == family]
    floor = [one for one in results.part(slices.of_floor) if one.family == family]
    if not own:
        raise UsageError(f"got family {family!r}, expected one of {', '.join({one.family for one in every})}")
    with drawing_style():
        figure = new_figure(1.05 + 0.235 * len(own))
        axes = figure.add_subplot()
        for row, (one, other) in enumerate(zip(own, floor, strict=True)):
            _strokes(axes, row + 0.14, 100 * other.ci95[m], colour=FLOOR)
            _strokes(axes, row - 0.14, 100 * one.ci95[m], colour=METHOD)
            write_beside(axes, f"{one.n_queries:,}", 1, row, share_of_width=True, color=SOFT)
        values = 100 * np.array([one.value[m] for one in own])
        of_floor = 100 * np.array([one.value[m] for one in floor])
        _dots(axes, values, of_floor, apart=0.14)
        _undefined(axes, values)
        write_beside(axes, "queries", 1, -0.85, share_of_width=True, color=SOFT)
        axes.set_yticks(range(len(own)), [wrapped(one.label, 20) for one in own])
        axes.set_ylim(len(own) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, pad=7)
        intervals = np.stack([one.ci95[m] for one in (*own, *floor)])
        _percent_axis(axes, np.concatenate([values, of_floor]), intervals, f"{measure}, %")
        axes.grid(axis="y")
        figure.legend(loc="outside upper center", ncols=2, columnspacing=1.2, handletextpad=0.3)
    return figure


class _Cloud(NamedTuple):
    """Moments as shares of the video, (N, 2), under a title."""

    title: str
    points: Floats


def _clouds(results: Results) -> list[_Cloud]:
    """Collect the moments whose places are shown: train, references, first answers, the floor's."""
    case = results.case
    found = [] if case.train is None else [_Cloud(f"references of {case.train.split}", _references_norm(case.train))]
    found.append(_Cloud(f"references of {case.annotations.split}", _references_norm(case.annotations)))
    duration_s = case.annotations.queries.duration_s
    for title, answers in (
        ("first answers", case.predictions),
        ("first answers of the floor", results.floors[int(results.verdict.strongest[results.headline])].predictions),
    ):
        first = first_answers(case.annotations, answers, ranking=case.protocol.ranking)
        found.append(_Cloud(title, _norm(first.start_s, first.end_s, duration_s)))
    return found


def _references_norm(annotations: Annotations) -> Floats:
    return _norm(annotations.start_s, annotations.end_s, annotations.duration_s)


def _norm(start_s: Floats, end_s: Floats, duration_s: Floats) -> Floats:
    """Moments as shares of the video, held to it, (N, 2); those that are not there, empty or swapped are left out."""
    proper = (end_s > start_s) & (duration_s > 0)  # NaN is neither
    times = np.stack([start_s[proper], end_s[proper]], axis=1) / duration_s[proper, None]
    return np.asarray(np.clip(times, 0, 1))


def densities_figure(results: Results) -> Figure:
    """Draw where moments lie, (start, end) as shares of the video, all on one scale (Closer Look, Fig. 2 and 4)."""
    clouds = _clouds(results)
    with drawing_style():
        figure = new_figure(4.75)
        panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
        for axes, cloud in zip(panels, clouds, strict=False):
            _cloud(axes, cloud)
        for axes in panels[len(clouds) :]:
            axes.set_axis_off()
        for axes in panels[: len(clouds)]:
            axes.set_aspect("equal")
            axes.set_xlim(0, 1)
            axes.set_ylim(0, 1)
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.plot([0, 1], [0, 1], color=SOFT, linewidth=0.7)
            axes.tick_params(labelbottom=True, labelleft=True)
        for axes in panels[[0, 2]]:
            axes.set_ylabel("end, share of the video")
        for axes in panels[[len(clouds) - 2, len(clouds) - 1]]:
            axes.set_xlabel("start, share of the video")
        scale_legend(figure, DENSITY_BOUNDS, "times as dense as evenly spread moments")
    return figure


def _cloud(axes: Axes, cloud: _Cloud) -> None:
    axes.set_title(shortened(one_line(cloud.title), 28), fontsize=SMALL)
    if not len(cloud.points):
        axes.text(0.5, 0.5, "none", ha="center", va="center", color=SOFT)
        return
    draw_density(axes, cloud.points)
    values, counts = np.unique(np.rint(cloud.points * 100), axis=0, return_counts=True)
    if counts.max() > 0.5 * len(cloud.points):
        place = values[counts.argmax()] / 100
        axes.plot(*place, "o", ms=11, mfc="none", mec=FLOOR, mew=1.5, clip_on=False)
        share = f"{100 * counts.max() / len(cloud.points):.0f} % at {place[0]:.2f} to {place[1]:.2f}"
        axes.text(0.97, 0.06, share, ha="right", fontsize=SMALL)


def changed_figure(results: Results) -> Figure:
    """Draw the headline measure on original and on changed videos, the floor beside (Hidden Challenges, Fig. 5)."""
    changed, m = results.part(changed_videos.changed), results.case.headline
    if changed is None:
        raise UsageError("there are no answers on changed videos to show")
    measure = results.case.measures[m]
    names = ["original", *(one.words for one in changed.ways)]
    values = 100 * np.array([of.value(measure) for of in (changed.scores, *(one.scores for one in changed.ways))])
    intervals = np.stack([changed.ci95[m], *(one.ci95[m] for one in changed.ways)])
    floor = 100 * results.strongest_scores.value(measure)
    with drawing_style():
        figure = new_figure(0.85 + 0.3 * len(names))
        axes = figure.add_subplot()
        for row, value in enumerate(values.tolist()):
            face, hatch = (METHOD, None) if row == 0 else (METHOD_FAINT, "////")
            end = 0.0
            if np.isfinite(value):
                axes.barh(row, value, height=0.62, color=face, edgecolor=METHOD, hatch=hatch, linewidth=0.8)
                end = max(value, _strokes(axes, row, 100 * intervals[row]))
            write_beside(axes, f"{value:.1f}" if np.isfinite(value) else "undefined", end, row)
        if np.isfinite(floor):
            label = f"strongest floor, {shortened(one_line(results.strongest(m)), 30)}"
            axes.axvline(floor, color=FLOOR, linewidth=1.1, linestyle=(0, (4, 3)), zorder=0.5, label=label)
            figure.legend(loc="outside upper center", handletextpad=0.5)
        axes.set_yticks(range(len(names)), [wrapped(name, 20) for name in names])
        axes.get_yticklabels()[0].set_fontweight("bold")
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0, pad=7)
        _percent_axis(axes, np.append(values, floor), intervals, f"{measure}, %")
    return figure


DISPLACEMENT_BOUNDS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Classes of the displacements' density, times an even spread over the square."""


def displacement_figure(results: Results) -> Figure:
    """Draw how far start and end move when the video is shuffled, with marginals (Hidden Challenges, Fig. F)."""
    control = results.part(changed_videos.shuffled)
    if control is None:
        raise UsageError("there are no answers on shuffled videos to show")
    moved = control.displacement
    density = moved.density()
    n_queries = int(density.counts.sum())
    with drawing_style():
        figure = new_figure(4.3)
        grid = figure.add_gridspec(2, 2, width_ratios=(4, 1), height_ratios=(1, 4))
        axes = figure.add_subplot(grid[1, 0])
        draw_cells(axes, density.density, density.bounds, DISPLACEMENT_BOUNDS)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_xlabel("|s - s'|, share of the video")
        axes.set_ylabel("|e - e'|, share of the video")
        axes.grid(axis="both")
        shares = f"{100 * moved.share_unchanged:.1f} % unchanged\n{100 * moved.share_within():.1f} % within 0.1"
        axes.text(0.97, 0.97, shares, ha="right", va="top", fontsize=SMALL)
        above = figure.add_subplot(grid[0, 0], sharex=axes)
        beside = figure.add_subplot(grid[1, 1], sharey=axes)
        of_start, of_end = (100 * density.counts.sum(axis=axis) / max(n_queries, 1) for axis in (1, 0))
        above.stairs(of_start, density.bounds, fill=True, color=METHOD_FAINT, edgecolor=METHOD)
        beside.stairs(of_end, density.bounds, fill=True, color=METHOD_FAINT, edgecolor=METHOD, orientation="horizontal")
        above.set_ylabel("%")
        beside.set_xlabel("%")
        above.tick_params(labelbottom=False)
        beside.tick_params(labelleft=False)
        scale_legend(figure, DISPLACEMENT_BOUNDS, "times as dense as evenly spread displacements")
    return figure


def errors_figure(results: Results) -> Figure:
    """Draw what mending each kind of error would add to R@1, mIoU and AxIoU."""
    kinds = results.part(errors.errors)
    lines = [line for line in kinds.table if line.n_queries and line.kind != "hit"]
    looks = ((METHOD, METHOD, None), (METHOD_FAINT, METHOD, "////"), (PAPER, OTHER, "\\\\\\\\"))
    with drawing_style():
        figure = new_figure(1.1 + 0.42 * max(len(lines), 1))
        axes = figure.add_subplot()
        for number, (measure, (face, edge, hatch)) in enumerate(zip(kinds.measures, looks, strict=True)):
            gains = [100 * line.gain[number] for line in lines]
            at = np.arange(len(lines)) + 0.26 * (number - 1)
            label = measure.removesuffix(f"[ref={kinds.references}]")
            axes.barh(at, gains, 0.26, color=face, edgecolor=edge, hatch=hatch, linewidth=0.7, label=label)
        for row, line in enumerate(lines):
            write_beside(axes, f"{100 * line.gain[0]:+.1f}", 100 * line.gain[0], row - 0.26)
        if not lines:
            axes.text(0.5, 0, "no first answer is wrong", ha="center", va="center", color=SOFT)
            axes.set_xticks([])
        axes.set_yticks(range(len(lines)), [f"{wrapped(line.kind, 16)} ({line.n_queries:,})" for line in lines])
        axes.set_ylim(max(len(lines), 1) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0, pad=7)
        axes.set_xlim(0, max(1.0, 114 * max((float(np.max(line.gain)) for line in lines), default=0)))
        axes.set_xlabel("what mending adds, points of percent")
        axes.grid(axis="x")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.0, handlelength=1.2, handletextpad=0.4)
    return figure


def conventions_figure(results: Results) -> Figure:
    """Draw the headline measure of the same answers under each named protocol."""
    case, m = results.case, results.case.headline
    defined = {name: 100 * value for name, value in results.part(conventions.conventions).items() if np.isfinite(value)}
    names = sorted(defined, key=lambda name: (defined[name], name))
    with drawing_style():
        figure = new_figure(0.75 + 0.185 * max(len(names), 1))
        axes = figure.add_subplot()
        for row, name in enumerate(names):
            own = name == case.protocol.name
            axes.plot(defined[name], row, "o" if own else "D", color=METHOD, mfc=METHOD if own else PAPER)
            weight = "bold" if own else "normal"
            write_beside(axes, f"{defined[name]:.2f}", 1, row, share_of_width=True, fontweight=weight)
        if not names:
            axes.text(0.5, 0, "undefined under every convention", ha="center", va="center", color=SOFT)
            axes.set_xticks([])
        axes.set_yticks(range(len(names)), [wrapped(name, 24) for name in names])
        for label, name in zip(axes.get_yticklabels(), names, strict=True):
            label.set_fontweight("bold" if name == case.protocol.name else "normal")
        axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
        axes.margins(x=0.08)
        axes.tick_params(axis="y", length=0, pad=7)
        axes.set_xlabel(f"{case.measures[m]}, %")
        axes.grid(axis="both")
    return figure


# ----------------------------------------------------------------------------------------- what they share


def _strokes(axes: Axes, at: float, ci95: Floats, *, colour: str = INK) -> float:
    """Draw an interval, where there is one; returns its upper end, 0 where there is none."""
    if not np.all(np.isfinite(ci95)):
        return 0.0
    axes.hlines(at, ci95[0], ci95[1], color=PAPER, linewidth=2.4)
    axes.hlines(at, ci95[0], ci95[1], color=colour, linewidth=1.2)
    return float(ci95[1])


def _dots(axes: Axes, own: Floats, floor: Floats, *, apart: float) -> None:
    """Draw figures of the method and of the strongest floor, a row each, the one a little above the other."""
    rows = np.arange(len(own))
    axes.plot(own, rows - apart, "o", color=METHOD, label="the method", clip_on=False)
    axes.plot(floor, rows + apart, "D", color=FLOOR, mfc=PAPER, mew=1.2, ms=4.5, label="strongest floor", clip_on=False)


def _undefined(axes: Axes, values: Floats) -> None:
    """Write "undefined" where a figure has no place."""
    for row in np.flatnonzero(~np.isfinite(values)).tolist():
        write_beside(axes, "undefined", 0, row, share_of_width=True, color=SOFT)


def _percent_axis(axes: Axes, values: Floats, intervals: Floats, label: str) -> None:
    """Let the axis of a figure in percent begin at 0 and leave room for a number at its end."""
    reached = np.concatenate([np.ravel(values), 100 * np.ravel(intervals)])
    highest = float(np.max(reached[np.isfinite(reached)], initial=1.0))
    axes.set_xlim(0, highest * 1.14)
    axes.set_xlabel(label)
    axes.grid(axis="x")
