"""What is left to guess on a split made anew: in words, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truemoment.baselines import BASELINES
from truemoment.bias.guarantees import Inspection, Promise
from truemoment.bias.guessing import MEASURES, Guessing, is_less, new_tests, rising
from truemoment.bias.splitting import Plan
from truemoment.intervals import Floats
from truemoment.reports.render.tabular import TableStyle, escaped, render
from truemoment.reports.text import counted
from truemoment.reports.words import interval95_points, points

UNKNOWN = "What is left to guess cannot be measured: a split has too few moments or durations."


def with_guessing(inspection: Inspection, guessing: Sequence[Guessing], plan: Plan) -> Inspection:
    """Add what guessing gains to what was found of a split: a promise of splits by location, and a warning.

    Parameters
    ----------
    inspection
        What was found of the split.
    guessing
        What floors reach on its tests.
    plan
        How it was made. One by words alone promises nothing of guessing.
    """
    promises = [] if plan.location is None else [_promise(guessing)]
    return replace(
        inspection,
        promises=(*inspection.promises, *promises),
        warnings=(*inspection.warnings, *_warnings(guessing)),
    )


def _promise(guessing: Sequence[Guessing]) -> Promise:
    name, tests = "less-to-guess", new_tests(guessing)
    if tests is None or "undefined" in {of.shown(0) for of in tests}:
        return Promise(name, None, UNKNOWN)
    kept = is_less(*tests)
    said = {
        True: "Guessing gains less on test-ood than on test-iid",
        None: "Guessing is not shown to gain less on test-ood than on test-iid",
        False: "Guessing gains more on test-ood than on test-iid",
    }[kept]
    iid, ood = (
        f"{points(of.left[0], sign='+')} points ({interval95_points(of.left_ci95[0], sign='+')})" for of in tests
    )
    figures = f"the strongest floor less Uniform is {iid} on test-iid and {ood} on test-ood"
    return Promise(name, kept, f"{said}: at {MEASURES[0]} {figures}.")


def _warnings(guessing: Sequence[Guessing]) -> list[str]:
    """Name floors that could not be fitted, and those that score more on test-ood than on test-iid, where most."""
    left_out = list(dict.fromkeys(f"{why}." for of in guessing for why in of.left_out))
    tests = new_tests(guessing)
    risen = [] if tests is None else rising(*tests)
    if tests is None or not risen:
        return left_out
    iid, ood = (of.values for of in tests)
    floors = tests[1].floors
    figures = [f"{floors[f].title} {points(iid[f, m])} to {points(ood[f, m])} at {MEASURES[m]}" for f, m in risen]
    said = f"Floors that score more on test-ood than on test-iid: {'; '.join(figures)}."
    if any(floors[f].name == "predict-all" for f, _ in risen):
        said += (
            " PredictAll hits moments longer than the threshold: measure above it, or keep their videos out of "
            "test-ood (--longest)."
        )
    return [*left_out, said]


def what_is_left(guessing: Sequence[Guessing]) -> str:
    """Say in words what is left to guess on test-ood, at the headline measure."""
    ood = next((of for of in guessing if not of.original and of.test.split == "test-ood"), None)
    if ood is None or ood.shown(0) == "undefined":
        return UNKNOWN
    strongest, gain = ood.floors[ood.strongest[0]], ood.left[0]
    score = f"{points(ood.values[ood.strongest[0], 0])} at {MEASURES[0]}"
    if ood.shown(0) == "left":
        said = (
            f"Guessing still helps on test-ood: {strongest.title}, which never sees a video, scores {score}, "
            f"{points(gain)} points above Uniform, which has learned nothing ({interval95_points(ood.left_ci95[0])})."
        )
    else:
        size = f"{counted(ood.test.n_queries, 'query', 'queries')} in {counted(ood.test.n_videos, 'video')}"
        said = (
            f"No floor is shown to be above Uniform, which has learned nothing, on test-ood ({size}): the strongest of "
            f"the others, {strongest.title}, scores {score}, a difference of {points(gain, sign='+')} points "
            f"({interval95_points(ood.left_ci95[0], sign='+')})."
        )
    if not BASELINES[strongest.name].learns:
        said += f" {strongest.title} has learned nothing from training either."
    beside = [
        f"{points(of.left[0], sign='+')} on {_name(of)} ({of.floors[of.strongest[0]].title})"
        for of in guessing
        if of is not ood and of.shown(0) != "undefined"
    ]
    return said + (f" The strongest floor less Uniform elsewhere: {', '.join(beside)}." if beside else "")


def _name(of: Guessing) -> str:
    return f"the original {of.test.split}" if of.original else of.test.split


def table(guessing: Sequence[Guessing], measure: str, *, style: TableStyle = "plain") -> str:
    """Lay out what floors reach on each test, those that score most on test-ood first.

    Parameters
    ----------
    guessing
        One test or more.
    measure
        One of those measured.
    style
        How tables look.
    """
    m = MEASURES.index(measure)
    by_name = [{floor.name: f for f, floor in enumerate(of.floors)} for of in guessing]
    last = next((t for t, of in enumerate(guessing) if of.test.split == "test-ood" and not of.original), 0)
    ordered = sorted(by_name[last], key=lambda name: -np.nan_to_num(guessing[last].values[by_name[last][name], m]))
    ordered += [name for name in BASELINES if name not in ordered and any(name in of for of in by_name)]
    rows = []
    for name in ordered:
        title = next(of.floors[at[name]].title for of, at in zip(guessing, by_name, strict=True) if name in at)
        cells = [
            _percent(of.values[at[name], m]) if name in at else "-" for of, at in zip(guessing, by_name, strict=True)
        ]
        at = by_name[last].get(name)
        rows.append([title, *cells, "-" if at is None else _gain(guessing[last], at, m)])
    gap = "\n" if style == "plain" else " "  # keeps columns narrow in a terminal
    names = [f"original{gap}{of.test.split}" if of.original else of.test.split for of in guessing]
    headings = [f"{escaped(measure, style)}, %", *names, f"{names[last]}{gap}less Uniform"]
    return render(headings, rows, style=style, numbers=range(1, len(headings)))


def _gain(of: Guessing, f: int, m: int) -> str:
    low, high = of.gain_ci95[f, m]
    if not (np.isfinite(low) and np.isfinite(high)):
        return "-"
    return f"{points(of.gain[f, m], sign='+')} ({points(low, sign='+')} to {points(high, sign='+')})"


def _percent(value: float) -> str:
    return f"{100 * value:.2f}" if np.isfinite(value) else "undefined"


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
                    "over_uniform": _or_none(of.left[m]),
                    "over_uniform_ci95": _pair(of.left_ci95[m]),
                    "shown": of.shown(m),
                }
                for m, measure in enumerate(MEASURES)
            ],
            "floors": [
                {
                    "floor": floor.name,
                    "title": floor.title,
                    "measure": measure,
                    "value": _or_none(of.values[f, m]),
                    "spread": _or_none(floor.spread[m]),
                    "over_uniform": _or_none(of.gain[f, m]),
                    "over_uniform_ci95": _pair(of.gain_ci95[f, m]),
                }
                for f, floor in enumerate(of.floors)
                for m, measure in enumerate(MEASURES)
            ],
            "left_out": list(of.left_out),
        }
        for of in guessing
    ]


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _pair(ci95: Floats) -> list[float] | None:
    return [float(end) for end in ci95] if np.all(np.isfinite(ci95)) else None
