"""What guessing reaches on a new split: a finding, tables, and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.baselines import BASELINES
from truemoment.data.datasets.random_order import Order
from truemoment.report.model import Block, Cell, Finding, Table
from truemoment.report.words import UNDEFINED, counted, interval95_points, low_to_high, points
from truemoment.studies.bias.guarantees import UNKNOWN_GUESSING
from truemoment.studies.bias.guessing import MEASURES, Guessing
from truemoment.studies.bias.order import SplitOrder
from truemoment.studies.bias.report_order import orders_table


def summary(guessing: Sequence[Guessing]) -> str:
    """Return what guessing still reaches on test-ood, at the headline measure."""
    ood = next((of for of in guessing if not of.original and of.test.split == "test-ood"), None)
    if ood is None or ood.shown(0) == "undefined":
        return UNKNOWN_GUESSING
    strongest, gain = ood.floors[ood.strongest[0]], ood.left[0]
    score = f"{points(ood.values[ood.strongest[0], 0])} at {MEASURES[0]}"
    if ood.shown(0) == "left":
        found = (
            f"Guessing still helps on test-ood: {strongest.title}, which never sees a video, scores {score}, "
            f"{points(gain)} points above Uniform, which has learned nothing ({interval95_points(ood.left_ci95[0])})."
        )
    else:
        size = f"{counted(ood.test.n_queries, 'query', 'queries')} in {counted(ood.test.n_videos, 'video')}"
        found = (
            f"No floor is shown to be above Uniform, which has learned nothing, on test-ood ({size}): the strongest "
            f"other floor, {strongest.title}, scores {score}, a difference of {points(gain, sign='+')} points "
            f"({interval95_points(ood.left_ci95[0], sign='+')})."
        )
    if not BASELINES[strongest.name].learns:
        found += f" {strongest.title} has learned nothing from training either."
    others = [
        f"{points(of.left[0], sign='+')} on {'the original ' if of.original else ''}{of.test.split} "
        f"({of.floors[of.strongest[0]].title})"
        for of in guessing
        if of is not ood and of.shown(0) != "undefined"
    ]
    return found + (f" The strongest floor minus Uniform on other tests: {', '.join(others)}." if others else "")


def table(guessing: Sequence[Guessing], measure: str) -> Table:
    """Return what floors reach on each test, ordered by their value on test-ood.

    Parameters
    ----------
    guessing
        One test or more.
    measure
        One of :data:`~truemoment.studies.bias.guessing.MEASURES`.
    """
    m = MEASURES.index(measure)
    at = [{floor.name: f for f, floor in enumerate(of.floors)} for of in guessing]
    last = next((t for t, of in enumerate(guessing) if of.test.split == "test-ood" and not of.original), 0)
    ordered = sorted(at[last], key=lambda name: -np.nan_to_num(guessing[last].values[at[last][name], m]))
    ordered += [name for name in BASELINES if name not in ordered and any(name in of for of in at)]
    rows = []
    for name in ordered:
        title = next(of.floors[f[name]].title for of, f in zip(guessing, at, strict=True) if name in f)
        values = [
            points(of.values[f[name], m], 2) if name in f else UNDEFINED for of, f in zip(guessing, at, strict=True)
        ]
        gain = _gain(guessing[last], at[last][name], m) if name in at[last] else UNDEFINED
        rows.append(tuple(map(Cell, (title, *values, gain))))
    tests = [f"original {of.test.split}" if of.original else of.test.split for of in guessing]
    return Table("", (f"{measure}, %", *tests, f"{tests[last]} minus Uniform"), (("", tuple(rows)),))


def _gain(of: Guessing, f: int, m: int) -> str:
    ends = low_to_high(of.gain_ci95[f, m], 1, times=100, sign="+")
    return f"{points(of.gain[f, m], sign='+')} ({ends})" if ends else UNDEFINED


def document(guessing: Sequence[Guessing]) -> list[dict[str, Any]]:
    """Return what floors reach as JSON, one object a test; fractions, never percent."""
    return [
        {
            "dataset": of.test.dataset,
            "split": of.test.split,
            "original": of.original,
            "fitted_on_sha256": of.train.sha256,
            "n_queries": of.test.n_queries,
            "n_videos": of.test.n_videos,
            "left": [
                {
                    "measure": measure,
                    "strongest": of.floors[of.strongest[m]].name,
                    "over_uniform": of.left[m],
                    "over_uniform_ci95": _defined(of.left_ci95[m]),
                    "shown": of.shown(m),
                }
                for m, measure in enumerate(MEASURES)
            ],
            "floors": [
                {
                    "floor": floor.name,
                    "title": floor.title,
                    "measure": measure,
                    "value": of.values[f, m],
                    "spread": floor.spread[m],
                    "over_uniform": of.gain[f, m],
                    "over_uniform_ci95": _defined(of.gain_ci95[f, m]),
                }
                for f, floor in enumerate(of.floors)
                for m, measure in enumerate(MEASURES)
            ],
            "left_out": of.left_out,
        }
        for of in guessing
    ]


def order_blocks(orders: Sequence[SplitOrder], written: Order) -> tuple[Block, ...]:
    """Return what the order of sentences alone predicts; nothing where no video has several sentences."""
    if not orders:
        return ()
    table = orders_table([("", orders)])
    if not any(of.starts.informs for of in orders):
        return (table,)
    verdict = {
        "file": "The order of a video's sentences predicts their moments. --order random writes the split without it.",
        "random": "The order of a video's sentences in the source predicts their moments. This split does not have it.",
    }
    return (Finding((verdict[written],)), table)


def _defined(ci95: Floats) -> Floats | None:
    return ci95 if np.all(np.isfinite(ci95)) else None
