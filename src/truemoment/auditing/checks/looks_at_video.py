"""Whether the model loses on every kind of changed videos."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truemoment.auditing.checks.base import Check
from truemoment.auditing.checks.better_than_guessing import too_few
from truemoment.auditing.checks.changed_videos import Changed, changed
from truemoment.auditing.findings import Finding, Level
from truemoment.auditing.results import Results
from truemoment.auditing.words import detectable, interval, p_value, points, some

NAME = "looks-at-video"


def look(results: Results) -> Finding | None:
    """State what each kind of changed videos costs: all tests must succeed."""
    found = results.part(changed)
    if found is None:
        return None
    case, m = results.case, results.headline
    measure, percent = results.measure, case.protocol.percent
    known = [one for one in found.ways if np.isfinite(one.fall.difference[m])]
    if not known:
        return Finding(NAME, "note", f"{measure} is undefined here, so changed videos show nothing.")
    costs = {one.words: bool(one.fall.ci95[m, 0] > 0) for one in known}
    least = min(known, key=lambda one: one.fall.difference[m])
    level: Level = "good" if all(costs.values()) else "serious"
    holds: bool | None = all(costs.values())
    figures = ", ".join(f"{percent(one.scores.value(measure))} ({one.words})" for one in known)
    verdict = (
        f"On changed videos {measure} changes from {percent(found.scores.value(measure))} to {figures}. The smallest "
        f"loss is {points(least.fall.difference[m])} points, {interval(least.fall.ci95[m])}"
    )
    if why := too_few(results):
        level, holds = "warning", None
        verdict += f"; {why}."
    elif holds:
        verdict += "."
    else:
        blind = ", ".join(words for words, cost in costs.items() if not cost)
        verdict += f". No loss is shown by these changes: {blind}; {detectable(float(least.fall.resolves[m]))}."
    if not found.agrees:
        level, holds = "warning" if level == "good" else level, None
        verdict += (
            f" The file is not what the model answers now: {found.n_differing:,} of "
            f"{some(len(found.scores), 'first answer differs', 'first answers differ')}, so this is not about the file."
        )
    return Finding(NAME, level, verdict, tuple(_by_way(results, found)), float(least.fall.difference[m]), holds)


def _by_way(results: Results, found: Changed) -> Iterator[str]:
    """Write what each kind of changed videos costs and moves, and how far the answers are the model's."""
    case, m = results.case, results.headline
    for one in found.ways:
        for i in (m, *(i for i in range(len(case.measures)) if i != m)):
            if np.isfinite(one.fall.difference[i]):
                yield (
                    f"{one.words}: {case.measures[i]} {points(-one.fall.difference[i], sign=True)}, "
                    f"{interval(-one.fall.ci95[i][::-1], sign=True)}, {p_value(one.fall.p_holm[i])} (Holm)"
                )
        moved = one.displacement
        if np.isfinite(moved.share_unchanged):
            yield (
                f"{one.words}: {100 * moved.share_unchanged:.1f} % of the first answers unchanged, "
                f"{100 * moved.share_within():.1f} % stay or move by less than a tenth of the video"
            )
        yield from (f"{one.words}, left out: {count:,} {why}" for why, count in moved.left_out.items() if count)
    yield f"first answers of the file that are not the model's now: {found.n_differing:,} of {len(found.scores):,}"


CHECK = Check(
    NAME,
    look,
    "the same model on videos shuffled, reversed, frozen and exchanged (`--model`)",
    "its figure falls on each, and the file is what the model answers",
    "the smallest fall",
)
