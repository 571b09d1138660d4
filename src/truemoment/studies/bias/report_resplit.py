"""The report of a new split, and its folder with the datasheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from truemoment.base.boundary.documents import document_head, json_text
from truemoment.base.boundary.files import atomic_folder, write_text
from truemoment.base.cells import cell_bounds, cell_of, n_cells
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations
from truemoment.base.version import __version__ as version
from truemoment.baselines.base import locations
from truemoment.baselines.floors import DRAWS, FITS, NETWORK
from truemoment.data.datasets.random_order import ORDERS
from truemoment.data.datasets.resplit_folder import ASIDE, COPY, DATASHEET, SPLITS, ResplitSource, write_members
from truemoment.data.references import write_splits
from truemoment.report.density_classes import DENSITY_BOUNDS, SCALE_MEANS
from truemoment.report.drawing import drawing_style, new_figure, save_drawings, scale_legend
from truemoment.report.model import Block, Cell, Details, Drawing, Finding, Level, Paragraph, Report, Section, Table
from truemoment.report.render import markdown
from truemoment.report.words import UNDEFINED, counted, number, p_number, percent, points
from truemoment.studies.bias import guessing as guesses
from truemoment.studies.bias.distances import SplitDistance
from truemoment.studies.bias.guarantees import Promise
from truemoment.studies.bias.guessing import MEASURES
from truemoment.studies.bias.report_figures import draw_locations
from truemoment.studies.bias.report_order import order_blocks, order_document
from truemoment.studies.bias.resplitting import MeasuredResplit
from truemoment.studies.bias.shifts import LEAST_QUERIES, MOST_VIDEOS
from truemoment.studies.bias.splitting import Plan, Resplit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMA = "truemoment/resplit/2"

STEPS = 10
"""Cells of the densities that the datasheet lists: steps of 10 % of the video."""

# -------------------------------------------------------------------------------------------- document


def document(result: MeasuredResplit, source: ResplitSource) -> dict[str, Any]:
    """Return the JSON document, which is also the datasheet of the folder; shares are fractions, never percent."""
    split, inspection = result.split, result.inspection
    parts = {name: split.part(name) for name in split.members}
    places = {name: points for name in SPLITS if (points := _points(parts[name])) is not None}
    return {
        **document_head(SCHEMA),
        "seed": result.seed,
        "order": result.order,
        "source": msgspec.to_builtins(source),
        "n_queries": split.annotations.n_queries,
        "n_videos": split.annotations.n_videos,
        "plan": _plan(split.plan, result.engine),
        "n_marked": split.marked.sum(),
        "new_terms": split.terms,
        "splits": {
            name: {
                "n_queries": part.n_queries,
                "n_videos": part.n_videos,
                "share": split.members[name].mean(),
                "sha256": part.sha256,
            }
            for name, part in parts.items()
        },
        "promises": [
            {"promise": promise.name, "kept": promise.is_kept, "said": promise.finding}
            for promise in inspection.promises
        ],
        "distances": [{"a": a, "b": b, **_distance(distance)} for (a, b), distance in inspection.distances.items()],
        "permutations": result.permutations,
        "guessing": guesses.document(result.guessing),
        "order_alone": order_document(result.orders),
        "densities": {
            "step_norm": 1 / STEPS,
            "cells": cell_bounds(STEPS),
            "share": {name: _shares(points) for name, points in places.items()},
        },
        "warnings": inspection.warnings,
    }


def _plan(plan: Plan, engine: str) -> dict[str, Any]:
    return {
        "ood": plan.ood,
        "val": plan.val,
        "iid": plan.iid,
        "location": plan.location,
        "new": None if plan.new is None else plan.new.new,
        "engine": None if plan.new is None else engine,
        "marked": plan.least_dense,
        "longest_norm": None if plan.location is None else plan.longest_norm,
        "ties": plan.ties_go,
    }


def _distance(distance: SplitDistance | None) -> dict[str, Any]:
    if distance is None:
        return {"energy": None, "why": "a split has no moment with a place"}
    return {
        "energy": distance.energy,
        "energy_by_chance": distance.energy_by_chance,
        "energy_p": distance.energy_p,
        "jensen_shannon_bits": distance.jensen_shannon_bits,
        "jensen_shannon_by_chance": distance.jensen_shannon_by_chance,
        "jensen_shannon_p": distance.jensen_shannon_p,
    }


def _points(part: Annotations) -> Floats | None:
    """Return the locations of its moments, (N, 2); None if it has none."""
    try:
        return locations(part)[0]
    except InputError:
        return None


def _shares(points: Floats) -> Floats:
    return np.asarray(np.bincount(cell_of(points, STEPS), minlength=n_cells(STEPS)) / len(points))


# ---------------------------------------------------------------------------------------------- folder


def write_folder(
    folder: Path,
    result: MeasuredResplit,
    source: ResplitSource,
    copied: Sequence[Annotations] = (),
    *,
    command: str = "",
    on_complete: Callable[[], None] = lambda: None,
) -> None:
    """Write the new split as a folder that can be used as a dataset, complete or not at all.

    Parameters
    ----------
    folder
        A new or empty folder.
    result, source
        The split, and the origin of its queries.
    copied
        Splits whose queries the folder contains, where it refers to no file or dataset.
    command
        The command that makes the folder; "" for none.
    on_complete
        Called when everything is written, before the folder gets its name; if it raises an error, there is no folder.
    """
    datasheet = report(result, source, name=folder.name)
    texts = {
        "datasheet.md": markdown.document(datasheet, command=command),
        DATASHEET: json_text(document(result, source)),
    }
    with atomic_folder(folder, on_complete) as draft:
        write_members(draft, {name: result.split.part(name) for name in result.split.members})
        if copied:
            write_splits(draft / COPY, copied)
        save_drawings(datasheet.drawings, draft, ("png", "svg"))
        for name, text in texts.items():
            write_text(draft / name, text)


# ---------------------------------------------------------------------------------------------- report


def report(result: MeasuredResplit, source: ResplitSource, *, name: str) -> Report:
    """Return the report for the terminal and for the datasheet of the folder.

    Parameters
    ----------
    result, source
        The split, and the origin of its queries.
    name
        Name of the folder.
    """
    split, origin = result.split, source.dataset or source.annotations or ""
    hashes = {part: split.part(part).sha256 for part in split.members}
    size = (
        f"{counted(split.annotations.n_queries, 'query', 'queries')} in {counted(split.annotations.n_videos, 'video')}"
    )
    warnings = (Finding((warning,), title="Warning", level="warning") for warning in result.inspection.warnings)
    usage = f"use the folder as --dataset{', with the same --data-dir' if source.dataset else ''}; its .jsonl files "
    usage += f"only name the queries, which are {'' if source.annotations == COPY else 'still '}read from {origin}"
    return Report(
        title=f"{name}: a new split of {origin}",
        facts=(("data", f"{size} of {origin}"), ("test-ood", _shift(split.plan)), ("order", ORDERS[result.order])),
        answer=_answer(result),
        sections=(
            Section("splits", "Splits", (_splits_table(split),)),
            Section("method", "How it was made", _method(split)),
            Section("guarantees", "Guarantees", (*map(_guarantee, result.inspection.promises), *warnings)),
            Section("guessing", "What guessing still reaches", _guessing(result)),
            Section("locations", "Locations of moments", (densities(split), _distances_table(result))),
        ),
        notes=(usage,),
        signature=f"resplit|data:{origin}|order:{result.order}|engine:{result.engine}|"
        f"permutations:{result.permutations} of videos|seed:{result.seed}|truemoment:{version}",
        hashes=(*((f"{origin}, {part}", sha256) for part, sha256 in source.splits.items()), *hashes.items()),
        files=(origin,),
    )


def _answer(result: MeasuredResplit) -> tuple[Paragraph | Table, ...]:
    """Return the sizes of the new splits, and what guessing still reaches."""
    split, guessing = result.split, result.guessing
    sizes = (f"{name} {part.sum():,} ({percent(part.mean(), 1)})" for name, part in split.members.items())
    tables = (guesses.table(guessing, MEASURES[0]),) if guessing else ()
    return Paragraph(f"Queries: {', '.join(sizes)}."), Paragraph(guesses.summary(guessing)), *tables


def _shift(plan: Plan) -> str:
    if plan.location is None:
        return "its queries contain words or compositions that no training query contains"
    return (
        "its moments are where few training moments are (Yuan et al., A Closer Look at Temporal Sentence Grounding in "
        "Videos, 2021, section 4.1)"
    )


def _splits_table(split: Resplit) -> Table:
    parts = ((name, split.part(name), member.mean()) for name, member in split.members.items())
    rows = tuple(
        tuple(map(Cell, (name, f"{part.n_queries:,}", points(share), f"{part.n_videos:,}")))
        for name, part, share in parts
    )
    return Table("", ("split", "queries", "%", "videos"), (("", rows),))


def _method(split: Resplit) -> tuple[Block, ...]:
    steps: list[Block] = [Finding(tuple(method(split)))]
    if split.terms and split.plan.new is not None:
        new = Finding((", ".join(split.terms),), title=f"New {split.plan.new.new}")
        steps.append(Details(f"New {split.plan.new.new}", (new,)))
    return tuple(steps)


def method(split: Resplit) -> list[str]:
    """Return how the split was made, a sentence a step."""
    plan, steps = split.plan, []
    if plan.location is not None:
        width = "Scott's bandwidth, as in SciPy"
        if plan.location.width is not None:
            width = f"standard deviation {plan.location.width:g}"
        steps.append(
            f"All queries were ranked by the density of their moments' {plan.location.place.replace('-', ' and ', 1)} "
            f"(Gaussian kernels, {width}; times as annotated)."
        )
    if plan.new is not None:
        steps.append(
            f"{len(split.terms):,} {plan.new.new} were drawn at random to be new in test-ood, as many as fill it, of "
            f"{len(split.ranking.candidates):,} that occur in at least {LEAST_QUERIES} queries and at most "
            f"{100 * MOST_VIDEOS:g} % of the videos."
        )
    steps.append(f"{percent(split.marked.mean(), 1)} of the queries were marked: {_marked(plan)}.")
    half = "also moved" if plan.ties_go == "ood" else "not moved"
    steps.append(
        "Videos with more than half of their queries marked were moved to test-ood; videos with exactly half were "
        f"{half}."
    )
    if plan.location is not None and plan.longest_norm is not None:
        steps.append(
            f"Videos with a moment of at least {100 * plan.longest_norm:g} % of the video were kept out of test-ood."
        )
    steps.append("The other videos were assigned at random to val, test-iid and train.")
    if ASIDE in split.members and plan.new is not None:
        steps.append(
            f"{int(split.members[ASIDE].sum()):,} queries were put aside: queries with new {plan.new.new} outside "
            "test-ood, and the other queries of the videos of test-ood."
        )
    return steps


def _marked(plan: Plan) -> str:
    least_dense = None if plan.least_dense is None else f"the {100 * plan.least_dense:g} % least dense"
    if plan.new is not None:
        return "those with a new one" + ("" if least_dense is None else f" that are among {least_dense}")
    return least_dense or "the least dense, as many as fill test-ood"


GUARANTEES = {
    "no-shared-video": "No shared video",
    "every-query-once": "Every query once",
    "fractions": "Shares of the splits",
    "iid-alike": "test-iid is alike",
    "ood-differs": "test-ood differs",
    "new-words": "New words",
    "less-to-guess": "Less to guess",
}
"""Title of each guarantee on a page."""


def _guarantee(promise: Promise) -> Finding:
    verdicts: dict[bool | None, tuple[str, Level]] = {
        True: ("Kept", "good"),
        False: ("Not kept", "serious"),
        None: ("Unknown", "note"),
    }
    verdict, level = verdicts[promise.is_kept]
    return Finding((f"{verdict}: {promise.finding}",), title=GUARANTEES[promise.name], level=level)


def _guessing(result: MeasuredResplit) -> tuple[Block, ...]:
    guessing = result.guessing
    summary = Finding((guesses.summary(guessing),))
    if not guessing:
        return (summary,)
    explanation = Paragraph(
        "Floors are baselines that never see a video. They are fitted on train (for the original tests, on the "
        "original train) and measured by the protocol default. Uniform draws start and end evenly. Values of floors "
        f"that draw their predictions are means of {DRAWS} draws; of the sentence network, of {FITS[NETWORK]} "
        "trainings. 95 % intervals resample videos; those in tables are for each floor alone, the one above is "
        "corrected for the selection of the strongest floor on the same test."
    )
    first, *others = (guesses.table(guessing, measure) for measure in MEASURES)
    order = order_blocks(result.orders, result.order)
    return (summary, first, *order, Details("Other measures", (explanation, *others)))


def _distances_table(result: MeasuredResplit) -> Table:
    rows = tuple(
        tuple(map(Cell, (f"{a}, {b}", *_distance_row(distance))))
        for (a, b), distance in result.inspection.distances.items()
    )
    return Table(
        "Energy distance and Jensen-Shannon divergence of (start, end) as shares of the video; by chance: "
        f"{result.permutations:,} permutations of whole videos.",
        ("splits", "energy distance", "by chance", "p", "Jensen-Shannon, bits", "by chance", "p"),
        (("", rows),),
    )


def _distance_row(distance: SplitDistance | None) -> list[str]:
    if distance is None:
        return [UNDEFINED] * 6
    return [
        *(number(distance.energy, 4), number(distance.energy_by_chance, 4), p_number(distance.energy_p)),
        *(
            number(distance.jensen_shannon_bits, 3),
            number(distance.jensen_shannon_by_chance, 3),
            p_number(distance.jensen_shannon_p),
        ),
    ]


def densities(split: Resplit) -> Drawing:
    """Return the figure of the locations of moments by split (Closer Look, Fig. 4)."""
    return Drawing("densities", "Density of start and end, by split", "", lambda: densities_figure(split))


def densities_figure(split: Resplit) -> Figure:
    """Draw the densities of (start, end) of the four splits, as shares of the video, on one scale."""
    with drawing_style():
        figure = new_figure(5.1)
        panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
        for axes, name in zip(panels, SPLITS, strict=True):
            points = _points(split.part(name)) if split.members[name].any() else None
            points = np.zeros((0, 2)) if points is None else points
            axes.set_title(f"{name}\n{len(points):,} moments")
            draw_locations(axes, points)
            axes.tick_params(labelbottom=True, labelleft=True)
        for axes in panels[[0, 2]]:
            axes.set_ylabel("end, share of the video")
        for axes in panels[2:]:
            axes.set_xlabel("start, share of the video")
        scale_legend(figure, DENSITY_BOUNDS, SCALE_MEANS)
    return figure
