"""The report on axioms: which measures ignore redundant predictions and reward better ones, with counterexamples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.report.drawing import METHOD, METHOD_FAINT, OTHER, SMALL, new_figure, shortened
from truemoment.report.model import Block, Cell, Details, Drawing, Finding, Paragraph, Section, Table
from truemoment.report.roles import GRID, INK, SERIES, SOFT
from truemoment.report.words import few, listed
from truemoment.studies.meta.axioms import AxiomResult, MinimalPair
from truemoment.studies.meta.minimal_pairs import Axiom

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXIOMS: tuple[Axiom, ...] = ("INV", "MON")

MOST_DRAWN = 5
"""Maximum number of counterexamples in the figure; tables show all."""

OUTCOMES: Mapping[Axiom, Mapping[bool | None, str]] = {
    "INV": {
        True: "redundant predictions change nothing (INV)",
        False: "redundant predictions change the figure (INV)",
        None: "one prediction only, so none is redundant (INV)",
    },
    "MON": {
        True: "every better prediction raises the figure (MON)",
        False: "some better predictions do not raise the figure (MON)",
        None: "no better prediction was tried (MON)",
    },
}
"""Words for the outcome of an axiom; None if there was nothing to check."""


def section(results: Sequence[AxiomResult]) -> Section:
    """Return the section of the results of :func:`truemoment.studies.meta.axioms.check_axioms`."""
    cases = _cases(results)
    blocks: list[Block] = [Finding(tuple(sentences(outcomes(results)))), _overview(results)]
    if cases:
        mon, inv = ([case for case in cases if case.axiom == axiom] for axiom in ("MON", "INV"))
        n_mon = max(MOST_DRAWN - 2, MOST_DRAWN - len(inv))
        drawn = mon[:n_mon] + inv[: MOST_DRAWN - min(n_mon, len(mon))]
        left_out = f" {len(cases) - len(drawn)} more are in the tables." if len(drawn) < len(cases) else ""
        blocks.append(
            Drawing(
                "axioms-counterexamples",
                "Smallest counterexamples",
                "Each list by rank before and after a change at one rank (hatched), with the reference above; right: "
                f"the IoU of each moment; title: the change of the figure.{left_out}",
                partial(_figure, drawn),
            )
        )
        blocks.append(Details("All counterexamples", tuple(_case_table(case) for case in cases)))
    return Section(
        "axioms",
        "Which measures ignore redundant predictions, and reward every better one?",
        (*blocks, *map(Paragraph, _notes(results))),
        "Axioms",
    )


# ---------------------------------------------------------------------------------------------- words


def outcomes(results: Iterable[AxiomResult]) -> dict[str, dict[Axiom, bool | None]]:
    """Return for each measure whether it satisfies each axiom in all checks; None without a check."""
    table: dict[str, dict[Axiom, bool | None]] = {}
    for result in results:
        row = table.setdefault(str(result.measure), {})
        earlier = row.get(result.axiom)
        row[result.axiom] = earlier if not result.n_pairs else result.holds and earlier is not False
    return table


def sentences(table: Mapping[str, Mapping[Axiom, bool | None]]) -> Iterable[str]:
    """Return the axioms that hold, grouped by measures with equal outcomes."""
    groups: dict[tuple[bool | None, ...], list[str]] = {}
    for measure, row in table.items():
        groups.setdefault(tuple(row.get(axiom) for axiom in AXIOMS), []).append(measure)
    for group, measures in sorted(groups.items(), key=lambda item: (item[0].count(False), -item[0].count(True))):
        outcomes = [OUTCOMES[axiom][outcome] for axiom, outcome in zip(AXIOMS, group, strict=True)]
        yield f"{few(measures)}: {'; '.join(outcomes)}."


def _notes(results: Sequence[AxiomResult]) -> Iterable[str]:
    yield (
        "A pair is two lists for one query that differ at rank k only. INV-k: a better prediction that is not the best "
        "so far changes nothing. MON-k: a better prediction that is the best so far raises the figure (Togashi et al. "
        "2022, section 5 and appendix A). Relevance is the IoU with the nearest reference."
    )
    yield (
        "A counterexample proves that an axiom is broken; that none was found proves nothing. The paper proves INV for "
        "R@K and AxIoU@K, MON for AxIoU@K and DCG@K, and that R@K breaks MON, DCG@K breaks INV, AP@K (eq. 12) both. "
        "The share of pairs depends on how pairs are drawn."
    )
    if any(
        result.protocol.references != "nearest" or result.measure.ref not in (None, "nearest") for result in results
    ):
        yield "Measures with another rule for references are judged by the nearest reference too."
    if any(result.references > 1 for result in results):
        yield (
            "Queries have several references here. The axioms know only the nearest one, so measures that reward "
            "finding all references break INV by design."
        )
    if any(result.protocol.nms_threshold is not None for result in results):
        yield (
            "The protocol suppresses near copies first, so a change at one rank can change other ranks; the axioms "
            "compare the lists before suppression."
        )
    if results:
        yield f"Protocol: {results[0].protocol.name}."


def _ranks(ranks: Ints) -> str:
    """Return ranks in words: ``rank 2``, ``ranks 2-5``, ``ranks 1, 3``."""
    numbers = [int(rank) for rank in ranks]
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"ranks {numbers[0]}-{numbers[-1]}"
    return f"ranks {', '.join(map(str, numbers))}"


# --------------------------------------------------------------------------------------------- tables


def _overview(results: Sequence[AxiomResult]) -> Table:
    table: dict[str, dict[Axiom, AxiomResult]] = {}
    for result in results:
        table.setdefault(str(result.measure), {})[result.axiom] = result
    rows = tuple(
        (
            Cell(measure),
            *(_result(row[axiom]) for axiom in AXIOMS),
            Cell(f"{row['MON'].n_worse:,}" if row["MON"].n_worse else ""),
        )
        for measure, row in table.items()
    )
    return Table(
        "Axioms on the pairs that were tried; marked: broken, with the number of pairs. Worse: pairs on which a better "
        "best prediction lowers the figure.",
        ("measure", *AXIOMS, "worse"),
        (("", rows),),
        text_columns=(0, 1, 2),
    )


def _result(result: AxiomResult) -> Cell:
    if not result.n_pairs:
        return Cell("undefined" if len(result.rank) else "one prediction only")
    if result.holds:
        return Cell(f"holds on {result.n_pairs:,}")
    ranks = _ranks(result.rank[result.broken > 0]) if np.any(result.broken[result.pairs > 0] == 0) else ""
    return Cell(f"broken by {result.n_broken:,} of {result.n_pairs:,}", ranks, marked=True)


class _Case(NamedTuple):
    """A counterexample, and the results that share it."""

    axiom: Axiom
    pair: MinimalPair
    results: list[AxiomResult]

    @property
    def heading(self) -> str:
        """The axiom with its rank, as in ``MON-1``."""
        return f"{self.axiom}-{self.pair.rank}"


def _cases(results: Sequence[AxiomResult]) -> list[_Case]:
    """Return the counterexamples, each once; those that rank the better list lower come first."""
    cases: dict[tuple[object, ...], _Case] = {}
    for result in results:
        pair = result.counterexample
        if pair is None:
            continue
        times = (pair.references.tobytes(), pair.before.tobytes(), pair.after.tobytes())
        case = cases.setdefault((result.axiom, pair.rank, pair.duration_s, *times), _Case(result.axiom, pair, []))
        case.results.append(result)
    return sorted(cases.values(), key=lambda case: (case.axiom == "INV", not case.results[0].n_worse))


def _case_table(case: _Case) -> Table:
    """Return a table of the two lists side by side, with the figures of the measures below."""
    pair = case.pair
    word = "reference" if len(pair.references) == 1 else "references"
    references = f"{word} {listed([_moment(moment) for moment in pair.references])}"
    caption = (
        f"{case.heading} is broken by {listed([str(result.measure) for result in case.results])}: {references} of a "
        f"{pair.duration_s:g} s video; marked: rank {pair.rank}, where the lists differ."
    )
    moments = tuple(
        (
            Cell(f"rank {k + 1}", marked=k + 1 == pair.rank),
            Cell(_moment(pair.before[k])),
            Cell(f"{pair.iou_before[k]:.3f}"),
            Cell(_moment(pair.after[k])),
            Cell(f"{pair.iou_after[k]:.3f}"),
        )
        for k in range(len(pair.before))
    )
    cells = tuple(
        (Cell(str(result.measure)), Cell(before), Cell(""), Cell(after), Cell(""))
        for result, (before, after) in ((result, _shown(result.counterexample)) for result in case.results)
    )
    headings = ("rank", "before", "IoU", "after", "IoU")
    return Table(caption, headings, (("", (*moments, *cells)),), text_columns=(0, 1, 3))


def _moment(moment: Floats) -> str:
    return f"{moment[0]:g}-{moment[1]:g} s"


def _shown(pair: MinimalPair | None) -> tuple[str, str]:
    """Return both values with as many decimals as distinguish them, three at least."""
    if pair is None:
        return "", ""
    values = (pair.value_before, pair.value_after)
    for decimals in range(3, 13):
        before, after = (f"{value:.{decimals}f}" for value in values)
        if before != after:
            return before, after
    return f"{values[0]:.3f}", f"{values[1]:.3f}"


def _figure(cases: Sequence[_Case]) -> Figure:
    heights = [len(case.pair.before) * 2 + 2.6 for case in cases]
    figure = new_figure(0.2 + sum(0.17 * height + 0.42 for height in heights))
    rows = figure.subplots(len(cases), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axes, case in zip(rows, cases, strict=True):
        _draw_case(axes, case)
    rows[-1].set_xlabel("seconds")
    return figure


def _draw_case(axes: Axes, case: _Case) -> None:
    """Draw reference, list before and list after as bars, from top to bottom."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style

    pair = case.pair
    transform = axes.get_yaxis_transform()
    before, after = _shown(pair)
    moves = f"stays {before}" if before == after else f"goes from {before} to {after}"
    name = shortened(str(case.results[0].measure), 26)
    others = f"; {len(case.results) - 1} more" if len(case.results) > 1 else ""
    axes.set_title(f"{case.heading}: {name} {moves}{others}", loc="left", fontsize=SMALL, color=INK)
    for start, end in pair.references:
        axes.barh(0, end - start, left=start, height=0.7, color=SERIES[2].colour)
    axes.text(1.02, 0, "IoU", transform=transform, va="center", fontsize=SMALL, color=SOFT)
    ticks, labels, at = [0.0], ["reference"], 0.0
    for word, moments, iou in (("before", pair.before, pair.iou_before), ("after", pair.after, pair.iou_after)):
        at += 0.3
        for k, (start, end) in enumerate(moments):
            at += 1.0
            look = _CHANGED if k + 1 == pair.rank else _SAME
            axes.barh(at, end - start, left=start, height=0.7, linewidth=0.7, **look)
            axes.text(1.02, at, f"{iou[k]:.3f}", transform=transform, va="center", fontsize=SMALL, color=SOFT)
            ticks.append(at)
            labels.append(f"{word} {k + 1}")
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
    axes.set_xlim(0, pair.duration_s)
    axes.set_ylim(at + 0.6, -0.6)
    axes.grid(axis="x", color=GRID)
    axes.spines["left"].set_visible(False)


_CHANGED: dict[str, Any] = {"facecolor": METHOD_FAINT, "edgecolor": METHOD, "hatch": "////"}
_SAME: dict[str, Any] = {"facecolor": OTHER, "edgecolor": OTHER}


# ------------------------------------------------------------------------------------------- document


def document(results: Sequence[AxiomResult]) -> dict[str, Any]:
    """Return the JSON document."""
    return {
        "protocol": results[0].protocol.signature() if results else None,
        "references": results[0].references if results else None,
        "results": [_entry(result) for result in results],
    }


def _entry(result: AxiomResult) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "measure": str(result.measure),
        "axiom": result.axiom,
        "holds": result.holds if result.n_pairs else None,
    }
    if not result.n_pairs:
        entry["why"] = "undefined on every pair" if len(result.rank) else "the measure uses one answer"
    entry |= {name: getattr(result, name) for name in ("n_pairs", "n_broken", "n_worse")}
    entry["by_rank"] = [
        {"rank": rank, "pairs": pairs, "broken": broken, "worse": worse}
        for rank, pairs, broken, worse in zip(result.rank, result.pairs, result.broken, result.worse, strict=True)
    ]
    if result.counterexample is not None:
        entry["counterexample"] = result.counterexample
    return entry
