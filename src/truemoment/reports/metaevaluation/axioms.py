"""The chapter on axioms: what each measure holds to, and the smallest counterexample where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.intervals import Floats, Ints
from truemoment.metaevaluation.axioms import AxiomResult, MinimalPair
from truemoment.metaevaluation.minimal_pairs import Axiom
from truemoment.reports.drawing import FLOOR, GRID, INK, METHOD, METHOD_FAINT, OTHER, SMALL, SOFT, new_figure, shortened
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.model import Cell, Drawing, Table
from truemoment.reports.text import counted, few, listed
from truemoment.text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Which measures ignore redundant answers, and reward every better one?"

MOST_DRAWN = 5
"""Counterexamples that are drawn; all stand in the tables."""

_MEANING = {
    "INV": "a better answer that is not the best so far changes nothing",
    "MON": "a better answer that is the best so far raises the figure",
}


def chapter(results: Sequence[AxiomResult]) -> Chapter:
    """Say what was found of axioms.

    Parameters
    ----------
    results
        One or more, as :func:`truemoment.metaevaluation.axioms.check_axioms` returns them.

    Returns
    -------
    Chapter
    """
    cases = _cases(results)
    return Chapter(
        name="axioms",
        title=TITLE,
        said=tuple(_said(results)),
        tables=(_overview(results), *(_of_case(case) for case in cases)),
        drawings=(_drawing(cases),) if cases else (),
        document=_document(results),
        notes=tuple(_notes(results)),
    )


# ---------------------------------------------------------------------------------------------- words


_FOUND: dict[tuple[bool | None, bool | None], tuple[str, str]] = {
    (True, True): (
        "{} holds to both axioms on all pairs tried: redundant answers leave it alone, better best ones raise it.",
        "{} hold to both axioms on all pairs tried: redundant answers leave them alone, better best ones raise them.",
    ),
    (None, True): (
        "{} looks at one answer, so that none is redundant, and rewards every better one (MON).",
        "{} look at one answer, so that none is redundant, and reward every better one (MON).",
    ),
    (True, False): (
        "{} ignores redundant answers (INV), but does not reward every better best one (MON is broken).",
        "{} ignore redundant answers (INV), but do not reward every better best one (MON is broken).",
    ),
    (None, False): (
        "{} looks at one answer, and does not reward every better one (MON is broken).",
        "{} look at one answer, and do not reward every better one (MON is broken).",
    ),
    (False, True): (
        "{} rewards every better best answer (MON), but redundant answers change it (INV is broken).",
        "{} reward every better best answer (MON), but redundant answers change them (INV is broken).",
    ),
    (False, False): ("{} breaks both axioms.", "{} break both axioms."),
}
"""What is said of one measure, and of several, by whether INV and MON hold; None where there is nothing to try."""


def _said(results: Sequence[AxiomResult]) -> Iterable[str]:
    """What was found: the measures by what they hold to, then what is worst."""
    verdicts: dict[str, dict[Axiom, bool | None]] = {}
    for one in results:
        verdicts.setdefault(str(one.measure), {})[one.axiom] = _verdict(one)
    yield from said_of_axioms(verdicts)
    if worse := [one for one in results if one.axiom == "MON" and one.n_worse]:
        whose = few([f"{one.measure} ({one.n_worse:,} of {counted(one.n_pairs, 'pair')})" for one in worse])
        yield f"A better best answer can even make the figure worse: that of {whose}."
    for one in results:
        if not one.holds and np.any(one.broken[one.pairs > 0] == 0):
            yield f"{one.measure} breaks {one.axiom} at {_ranks(one.rank[one.broken > 0])} only."
    if undefined := [f"{one.measure} ({one.axiom})" for one in results if len(one.rank) and not one.n_pairs]:
        yield f"Undefined on every pair: {few(undefined)}."


def said_of_axioms(verdicts: Mapping[str, Mapping[Axiom, bool | None]]) -> Iterable[str]:
    """Say what measures hold to, those that hold to the same together.

    Parameters
    ----------
    verdicts
        Of each measure by axiom; None, or nothing, where there was nothing to try.
    """
    for group, (of_one, of_several) in _FOUND.items():
        if names := [name for name, of in verdicts.items() if (of.get("INV"), of.get("MON")) == group]:
            yield (of_one if len(names) == 1 else of_several).format(few(names))


def _verdict(result: AxiomResult) -> bool | None:
    """Whether the axiom holds; None where there was nothing to try."""
    return result.holds if result.n_pairs else None


def _notes(results: Sequence[AxiomResult]) -> Iterable[str]:
    references = max((one.references for one in results), default=1)
    yield (
        "A pair is two lists for one query that differ at rank k only. INV-k: " + _MEANING["INV"] + "; MON-k: "
        f"{_MEANING['MON']} (Togashi et al. 2022, section 5 and appendix A). Relevance is the IoU with the nearest "
        "reference; the ranks tried are those a measure looks at."
    )
    yield (
        "A counterexample settles that an axiom is broken; that none was found proves nothing. The paper proves INV "
        "for R@K and AxIoU@K, MON for AxIoU@K and DCG@K, and that R@K breaks MON, DCG@K breaks INV, AP@K (eq. 12) both."
    )
    yield (
        "How often an axiom is broken depends on how pairs are drawn: moments near a reference, copies of others, and "
        "anywhere in the video, alike at each rank. Compare measures by it with care."
    )
    if any(one.protocol.references != "nearest" or one.measure.ref not in (None, "nearest") for one in results):
        yield "Measures under another reference rule are judged by the nearest reference too."
    if references > 1:
        yield (
            f"Queries have {references} references here. The axioms know only the best moment: an answer that finds "
            "another reference counts as redundant, so that measures that reward finding all references break INV "
            "because of what they are for."
        )
    if any(one.protocol.nms_threshold is not None for one in results):
        yield (
            "The convention suppresses near copies before anything is measured, so that a change at one rank can bring "
            "back or remove answers at others; the axioms speak of the list as it is handed in."
        )
    if results:
        yield f"Convention: {results[0].protocol.name}."


def _ranks(ranks: Ints) -> str:
    """Write ranks: ``rank 2``, ``ranks 2-5``, ``ranks 1, 3``."""
    numbers = [int(rank) for rank in ranks]
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"ranks {numbers[0]}-{numbers[-1]}"
    return f"ranks {', '.join(map(str, numbers))}"


# --------------------------------------------------------------------------------------------- tables


def _overview(results: Sequence[AxiomResult]) -> Table:
    """Measure by axiom."""
    of_measure: dict[str, dict[Axiom, AxiomResult]] = {}
    for one in results:
        of_measure.setdefault(str(one.measure), {})[one.axiom] = one
    rows = tuple(
        (
            Cell(measure),
            _result(of["INV"]),
            _result(of["MON"]),
            Cell(f"{of['MON'].n_worse:,}" if of["MON"].n_worse else ""),
        )
        for measure, of in of_measure.items()
    )
    caption = (
        "Axioms that each measure holds to on the pairs tried; * marks those it breaks, with the share of pairs. "
        "Worse: pairs on which a better best answer makes the figure worse."
    )
    return Table(caption, ("measure", "INV", "MON", "worse"), (("", rows),), text_columns=(0, 1, 2))


def _result(one: AxiomResult) -> Cell:
    if not one.n_pairs:
        return Cell("undefined" if len(one.rank) else "one answer only")
    if one.holds:
        return Cell(f"holds on {one.n_pairs:,}")
    ranks = _ranks(one.rank[one.broken > 0]) if np.any(one.broken[one.pairs > 0] == 0) else ""
    return Cell(f"broken by {one.n_broken:,} of {one.n_pairs:,}", ranks, marked=True)


class _Case(NamedTuple):
    """A counterexample, and the results that share it."""

    axiom: Axiom
    pair: MinimalPair
    results: list[AxiomResult]

    @property
    def heading(self) -> str:
        """The axiom with its rank, as in ``MON-1``."""
        return f"{self.axiom}-{self.pair.rank}"

    @property
    def measures(self) -> str:
        return listed([str(one.measure) for one in self.results])


def _cases(results: Sequence[AxiomResult]) -> list[_Case]:
    """Counterexamples, each once; first those on which a better list counts as worse."""
    cases: dict[tuple[object, ...], _Case] = {}
    for one in results:
        pair = one.counterexample
        if pair is None:
            continue
        times = (pair.references.tobytes(), pair.before.tobytes(), pair.after.tobytes())
        case = cases.setdefault((one.axiom, pair.rank, pair.duration_s, *times), _Case(one.axiom, pair, []))
        case.results.append(one)
    return sorted(cases.values(), key=lambda case: (case.axiom == "INV", not case.results[0].n_worse))


def _of_case(case: _Case) -> Table:
    """Two lists side by side, and below them what measures say."""
    pair = case.pair
    caption = (
        f"{case.heading} is broken by {case.measures}: {_references(pair)} of a {pair.duration_s:g} s video; "
        f"* marks rank {pair.rank}, where the lists differ."
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
    said = tuple(
        (Cell(str(one.measure)), Cell(before), Cell(""), Cell(after), Cell(""))
        for one, (before, after) in ((one, _shown(one.counterexample)) for one in case.results)
    )
    headings = ("rank", "before", "IoU", "after", "IoU")
    return Table(caption, headings, (("", (*moments, *said)),), text_columns=(0, 1, 3))


def _references(pair: MinimalPair) -> str:
    word = "reference" if len(pair.references) == 1 else "references"
    return f"{word} {listed([_moment(moment) for moment in pair.references])}"


def _moment(moment: Floats) -> str:
    return f"{moment[0]:g}-{moment[1]:g} s"


def _shown(pair: MinimalPair | None) -> tuple[str, str]:
    """Both values with as many decimals as tell them apart, three at least."""
    if pair is None:
        return "", ""
    both = (pair.value_before, pair.value_after)
    for decimals in range(3, 13):
        before, after = (f"{value:.{decimals}f}" for value in both)
        if before != after:
            return before, after
    return f"{both[0]:.3f}", f"{both[1]:.3f}"


# --------------------------------------------------------------------------------------------- figure


def _drawing(cases: Sequence[_Case]) -> Drawing:
    drawn = _to_draw(cases)
    left_out = f" {len(cases) - len(drawn)} more stand in the tables." if len(drawn) < len(cases) else ""
    return Drawing(
        "axioms-counterexamples",
        "Smallest counterexamples",
        "Each list by rank before and after a change at one rank (hatched), the reference above them; to the right the "
        f"IoU of each moment, in the title what the figure does.{left_out}",
        _drawer(drawn),
    )


def _to_draw(cases: Sequence[_Case]) -> list[_Case]:
    """Choose a handful, of either axiom."""
    of_mon, of_inv = ([case for case in cases if case.axiom == axiom] for axiom in ("MON", "INV"))
    n_mon = max(MOST_DRAWN - 2, MOST_DRAWN - len(of_inv))
    return of_mon[:n_mon] + of_inv[: MOST_DRAWN - min(n_mon, len(of_mon))]


def _drawer(cases: Sequence[_Case]) -> Callable[[], Figure]:
    def draw() -> Figure:
        heights = [len(case.pair.before) * 2 + 2.6 for case in cases]
        figure = new_figure(0.2 + sum(0.17 * height + 0.42 for height in heights))
        rows = figure.subplots(len(cases), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
        for axes, case in zip(rows, cases, strict=True):
            _draw_case(axes, case)
        rows[-1].set_xlabel("seconds")
        return figure

    return draw


def _draw_case(axes: Axes, case: _Case) -> None:
    """Draw reference, list before and list after as bars, from top to bottom."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - see truemoment.reports.drawing.drawing_style

    pair = case.pair
    beside = axes.get_yaxis_transform()
    axes.set_title(_title_of(case), loc="left", fontsize=SMALL, color=INK)
    for start, end in pair.references:
        axes.barh(0, end - start, left=start, height=0.7, color=FLOOR)
    axes.text(1.02, 0, "IoU", transform=beside, va="center", fontsize=SMALL, color=SOFT)
    ticks, labels, at = [0.0], ["reference"], 0.0
    for word, moments, iou in (("before", pair.before, pair.iou_before), ("after", pair.after, pair.iou_after)):
        at += 0.3
        for k, (start, end) in enumerate(moments):
            at += 1.0
            look = _CHANGED if k + 1 == pair.rank else _SAME
            axes.barh(at, end - start, left=start, height=0.7, linewidth=0.7, **look)
            axes.text(1.02, at, f"{iou[k]:.3f}", transform=beside, va="center", fontsize=SMALL, color=SOFT)
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


def _title_of(case: _Case) -> str:
    before, after = _shown(case.pair)
    moves = f"stays {before}" if before == after else f"goes from {before} to {after}"
    name = shortened(one_line(str(case.results[0].measure)), 26)
    others = f"; {len(case.results) - 1} more" if len(case.results) > 1 else ""
    return f"{case.heading}: {name} {moves}{others}"


# ------------------------------------------------------------------------------------------- document


def _document(results: Sequence[AxiomResult]) -> dict[str, Any]:
    return {
        "protocol": results[0].protocol.signature() if results else None,
        "references": results[0].references if results else None,
        "results": [_entry(one) for one in results],
    }


def _entry(one: AxiomResult) -> dict[str, Any]:
    entry: dict[str, Any] = {"measure": str(one.measure), "axiom": one.axiom, "holds": _verdict(one)}
    if entry["holds"] is None:
        entry["why"] = "the measure looks at one answer" if not len(one.rank) else "undefined on every pair"
    entry |= {
        "n_pairs": one.n_pairs,
        "n_broken": one.n_broken,
        "n_worse": one.n_worse,
        "by_rank": [
            {"rank": int(rank), "pairs": int(pairs), "broken": int(broken), "worse": int(worse)}
            for rank, pairs, broken, worse in zip(one.rank, one.pairs, one.broken, one.worse, strict=True)
        ],
    }
    pair = one.counterexample
    if pair is not None:
        entry["counterexample"] = {
            "duration_s": pair.duration_s,
            "references": pair.references.tolist(),
            "rank": pair.rank,
            "before": pair.before.tolist(),
            "after": pair.after.tolist(),
            "iou_before": pair.iou_before.tolist(),
            "iou_after": pair.iou_after.tolist(),
            "value_before": pair.value_before,
            "value_after": pair.value_after,
        }
    return entry
