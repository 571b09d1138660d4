"""The datasheet of a split made anew: how it was made, what it promises, where its moments lie."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from truemoment.baselines.base import locations
from truemoment.bias.guarantees import Inspection
from truemoment.bias.guessing import MEASURES, Guessing
from truemoment.bias.shifts import LEAST_QUERIES, MOST_VIDEOS
from truemoment.bias.splitting import Resplit
from truemoment.cells import cell_bounds, cell_of, n_cells
from truemoment.datasets.resplit_folder import ASIDE, SPLITS, ResplitSource
from truemoment.exceptions import InputError
from truemoment.floors import DRAWS, FITS
from truemoment.intervals import Floats
from truemoment.records import Annotations
from truemoment.reports import guessing as guesses
from truemoment.reports.drawing import draw_density, drawing_style, new_figure, scale_legend
from truemoment.reports.model import Drawing
from truemoment.reports.render.tabular import TableStyle, escaped, render
from truemoment.reports.text import WIDTH
from truemoment.text import one_line
from truemoment.version import __version__ as version

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMA = "truemoment/resplit/2"

STEPS = 10
"""Cells of the densities that the datasheet lists: steps of 10 % of the video."""

DENSITY_BOUNDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

FLOORS = (
    "Floors are baselines that never see a video, fitted on `train` (for the original tests, on the original `train`) "
    "and measured by the protocol `default`. Uniform draws start and end evenly. Floors that draw their answers are "
    f"means of {DRAWS} draws, the sentence network of {FITS} trainings. Intervals: 95 %, by resampling videos, each "
    "floor alone; the interval of the strongest floor above allows for its choice on the same test."
)
"""What stands above the tables of floors."""

FEW = 30
"""Fewer moments are drawn one by one."""


def document(
    found: Resplit,
    inspection: Inspection,
    guessing: Sequence[Guessing],
    *,
    source: ResplitSource,
    seed: int,
    permutations: int,
    engine: str,
) -> dict[str, Any]:
    """Return the datasheet as a JSON document; fractions, never percent.

    Parameters
    ----------
    found, inspection, guessing
        The split, what was found of it, and what floors reach on its tests.
    source
        Where its queries come from.
    seed, permutations
        Of all draws, and of each test.
    engine
        What found words.
    """
    plan, whole = found.plan, found.annotations
    places = {name: part for name in SPLITS if (part := _points(found.part(name))) is not None}
    return {
        "schema": SCHEMA,
        "truemoment": version,
        "seed": seed,
        "source": msgspec.to_builtins(source),
        "n_queries": whole.n_queries,
        "n_videos": whole.n_videos,
        "plan": {
            "ood": plan.ood,
            "val": plan.val,
            "iid": plan.iid,
            "location": None if plan.location is None else {"place": plan.location.place, "width": plan.location.width},
            "new": None if plan.new is None else plan.new.new,
            "engine": None if plan.new is None else engine,
            "marked": plan.least_dense,
            "longest_norm": None if plan.location is None else plan.longest_norm,
            "ties": plan.ties_go,
        },
        "n_marked": int(found.marked.sum()),
        "new_terms": list(found.terms),
        "splits": {
            name: {
                "n_queries": part.n_queries,
                "n_videos": part.n_videos,
                "share": float(found.members[name].mean()),
                "sha256": part.sha256,
            }
            for name in found.members
            for part in (found.part(name),)
        },
        "promises": [{"promise": of.name, "kept": of.kept, "said": of.said} for of in inspection.promises],
        "distances": [
            {"a": a, "b": b}
            | (
                {"energy": None, "why": "a split has no moment with a place"}
                if of is None
                else {
                    "energy": of.energy,
                    "energy_by_chance": of.energy_by_chance,
                    "energy_p": of.energy_p,
                    "jensen_shannon_bits": of.jensen_shannon_bits,
                    "jensen_shannon_by_chance": of.jensen_shannon_by_chance,
                    "jensen_shannon_p": of.jensen_shannon_p,
                }
            )
            for (a, b), of in inspection.distances.items()
        ],
        "permutations": permutations,
        "guessing": guesses.document(guessing),
        "densities": {
            "step_norm": 1 / STEPS,
            "cells": cell_bounds(STEPS).tolist(),
            "share": {name: _shares(points).tolist() for name, points in places.items()},
        },
        "warnings": list(inspection.warnings),
    }


def _points(part: Annotations) -> Floats | None:
    """Places of its moments, (N, 2); None where it has none."""
    try:
        return locations(part)[0]
    except InputError:
        return None


def _shares(points: Floats) -> Floats:
    return np.asarray(np.bincount(cell_of(points, STEPS), minlength=n_cells(STEPS)) / len(points))


# ------------------------------------------------------------------------------------------- for people


def how(found: Resplit) -> list[str]:
    """Say how it was made, a line a step."""
    plan = found.plan
    said = []
    if plan.location is not None:
        width = (
            "Scott's bandwidth, as SciPy has it"
            if plan.location.width is None
            else f"kernels of standard deviation {plan.location.width:g}"
        )
        said.append(
            f"All queries were ranked by the density of their moments' {plan.location.place.replace('-', ' and ', 1)} "
            f"among all moments (Gaussian kernels, {width}; times as annotated)."
        )
    if plan.new is not None:
        said.append(
            f"{len(found.terms):,} {plan.new.new} were drawn at random to be new in test-ood, as many as it takes to "
            f"fill it, of {len(found.ranking.drawn):,} that stand in {LEAST_QUERIES} queries or more and in "
            f"{100 * MOST_VIDEOS:g} % of the videos or less."
        )
    least_dense = None if plan.least_dense is None else f"the {100 * plan.least_dense:g} % least dense"
    if plan.new is not None:
        why = "those that hold one" if least_dense is None else f"those that hold one and are among {least_dense}"
    else:
        why = "the least dense, as many as it takes to fill test-ood" if least_dense is None else least_dense
    said.append(f"{100 * found.marked.mean():.1f} % of the queries were marked: {why}.")
    said.append(
        "A video went whole to test-ood if more than half of its queries were marked; of exactly half, "
        + ("too." if plan.ties_go == "ood" else "not.")
    )
    if plan.location is not None and plan.longest_norm is not None:
        said.append(f"Videos with a moment of {100 * plan.longest_norm:g} % of them or more stayed out of test-ood.")
    said.append("The other videos were dealt at random to val, test-iid and train.")
    if ASIDE in found.members and plan.new is not None:
        said.append(
            f"{int(found.members[ASIDE].sum()):,} queries were put aside: new {plan.new.new} "
            "outside test-ood, and what else its videos hold."
        )
    return said


def splits_table(found: Resplit, *, style: TableStyle = "plain") -> str:
    """Lay out how much each split holds."""
    rows = []
    for name, member in found.members.items():
        part = found.part(name)
        rows.append([name, f"{part.n_queries:,}", f"{100 * member.mean():.1f}", f"{part.n_videos:,}"])
    return render(["split", "queries", "%", "videos"], rows, style=style, numbers=[1, 2, 3])


def distances_table(inspection: Inspection, *, style: TableStyle = "plain") -> str:
    """Lay out how far apart the moments of the splits lie."""
    rows = [
        [f"{a}, {b}"]
        + (
            ["-"] * 6
            if of is None
            else [
                f"{of.energy:.4f}",
                f"{of.energy_by_chance:.4f}",
                f"{of.energy_p:.3f}",
                f"{of.jensen_shannon_bits:.3f}",
                f"{of.jensen_shannon_by_chance:.3f}",
                f"{of.jensen_shannon_p:.3f}",
            ]
        )
        for (a, b), of in inspection.distances.items()
    ]
    headings = ["splits", "energy distance", "by chance", "p", "JS, bits", "by chance", "p"]
    return render(headings, rows, style=style, numbers=range(1, 7))


def lines(
    found: Resplit, inspection: Inspection, guessing: Sequence[Guessing], *, style: TableStyle = "plain"
) -> list[str]:
    """Return what the command prints: splits, promises, what is left to guess, warnings."""
    said = [splits_table(found, style=style), ""]
    for promise in inspection.promises:
        said += _marked({True: "kept", False: "NOT KEPT", None: "unknown"}[promise.kept], promise.said)
    said += ["", *_marked("to guess", guesses.what_is_left(guessing))]
    if guessing:
        said += ["", guesses.table(guessing, MEASURES[0], style=style)]
    if inspection.warnings:
        said.append("")
    for warning in inspection.warnings:
        said += _marked("warning", warning)
    return said


def _marked(mark: str, text: str) -> list[str]:
    """Wrap a text behind a mark."""
    return textwrap.wrap(text, WIDTH, initial_indent=f"{mark:10}", subsequent_indent=" " * 10, break_on_hyphens=False)


def datasheet(
    found: Resplit,
    inspection: Inspection,
    guessing: Sequence[Guessing],
    *,
    source: ResplitSource,
    seed: int,
    permutations: int,
    name: str,
    command: str,
) -> str:
    """Return the datasheet as Markdown, to be read beside the files.

    Parameters
    ----------
    found, inspection, guessing, source, seed, permutations
        As for :func:`document`.
    name
        Of the folder.
    command
        What makes it again; "" where there is none.
    """
    of = source.dataset or source.annotations or ""
    whole = found.annotations
    hashes = render(
        ["split", "content hash (SHA-256)"], [[f"`{n}`", f"`{h}`"] for n, h in source.splits.items()], style="md"
    )
    own = render(
        ["split", "content hash (SHA-256)"],
        [[f"`{split}`", f"`{found.part(split).sha256}`"] for split in found.members],
        style="md",
    )
    parts = [
        f"# {_plain(name)}: {_plain(of)}, split anew",
        f"{whole.n_queries:,} queries in {whole.n_videos:,} videos of {_plain(of)}, split so that moments of "
        "`test-ood` lie where few of training do. After Yuan et al., A Closer Look at Temporal Sentence "
        "Grounding in Videos (2021), section 4.1."
        if found.plan.location is not None
        else f"{whole.n_queries:,} queries in {whole.n_videos:,} videos of {_plain(of)}, split so that the queries of "
        "`test-ood` hold what no training query does.",
        splits_table(found, style="md"),
        "## How it was made",
        "\n".join(f"{number}. {step}" for number, step in enumerate(how(found), start=1)),
        f"Seed {seed}; truemoment {version}." + (f" Made again by:\n\n    {one_line(command)}" if command else ""),
        "## What it promises",
        "\n".join(
            f"- **{ {True: 'kept', False: 'not kept', None: 'cannot be told'}[of.kept] }**: {of.said}"
            for of in inspection.promises
        ),
        *(["## Warnings", "\n".join(f"- {warning}" for warning in inspection.warnings)] if inspection.warnings else []),
        "## What is left to guess",
        guesses.what_is_left(guessing),
        *([FLOORS] if guessing else []),
        *(guesses.table(guessing, measure, style="md") for measure in MEASURES if guessing),
        "## Where moments lie",
        "![Densities of start and end by split](densities.png)",
        f"Energy distance and Jensen-Shannon divergence between the splits' (start, end) as shares of the video; "
        f"chance: {permutations:,} permutations of whole videos.",
        distances_table(inspection, style="md"),
        "## What it was made of",
        hashes,
        "## What came of it",
        own,
    ]
    if found.terms:
        kind = "words" if found.plan.new is None else found.plan.new.new
        parts += [f"## New {kind}", ", ".join(escaped(one_line(term), "md") for term in found.terms)]
    parts += [
        "## How to use it",
        "Each line of a `.jsonl` file names a query. The queries themselves stay where they are: give this folder as "
        "`--dataset`"
        + (", and `--data-dir`." if source.dataset else f"; `{_plain(of)}` is looked for here, then where it lay."),
    ]
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    return escaped(one_line(text), "md")


def densities(found: Resplit) -> Drawing:
    """Draw where the moments of each split lie (Closer Look, Fig. 4)."""
    return Drawing("densities", "Where the moments of each split lie", "", lambda: densities_figure(found))


def densities_figure(found: Resplit) -> Figure:
    """Draw the densities of (start, end) of the four splits, as shares of the video, on one scale."""
    with drawing_style():
        figure = new_figure(5.1)
        panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
        for axes, name in zip(panels, SPLITS, strict=True):
            points = _points(found.part(name)) if found.members[name].any() else None
            n_moments = 0 if points is None else len(points)
            axes.set_title(f"{name}\n{n_moments:,} moments")
            axes.set_aspect("equal")
            axes.set_xlim(0, 1)
            axes.set_ylim(0, 1)
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.tick_params(labelbottom=True, labelleft=True)
            axes.axline((0, 0), (1, 1), linewidth=0.7, color="#5f6068")
            if points is not None and n_moments >= FEW:
                draw_density(axes, points)
            elif points is not None:
                axes.plot(*points.T, ".")
        for axes in panels[[0, 2]]:
            axes.set_ylabel("end, share of the video")
        for axes in panels[2:]:
            axes.set_xlabel("start, share of the video")
        scale_legend(figure, DENSITY_BOUNDS, "times as dense as evenly spread moments")
    return figure
