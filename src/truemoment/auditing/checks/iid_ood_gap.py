"""How far the method falls from test-iid to the audited split."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truemoment.auditing.checks.base import Check
from truemoment.auditing.findings import Finding
from truemoment.auditing.results import Results, figures
from truemoment.auditing.words import interval, points
from truemoment.evaluation import evaluate
from truemoment.intervals import Floats
from truemoment.uncertainty import bootstrap, interval95

NAME = "iid-ood-gap"


class Gap(NamedTuple):
    """The test-iid split beside the audited test-ood one; a row a measure, fractions.

    Parameters
    ----------
    iid, floor_iid : (M,)
        Figures there: of the method, and of the strongest floor here.
    fall_ci95 : (M, 2)
        95 % interval of the method's fall from there to here; the two splits are resampled independently.
    """

    iid: Floats
    floor_iid: Floats
    fall_ci95: Floats


def gap(results: Results) -> Gap | None:
    """Measure the method and the strongest floor on test-iid; None where it was not given."""
    case = results.case
    if case.iid is None:
        return None
    results.tell("test-iid")
    annotations, predictions = case.iid
    there = evaluate(annotations, predictions, case.measures, case.protocol)
    floor_iid = np.full(len(case.measures), np.nan)
    for m, f in enumerate(results.verdict.strongest.tolist()):
        floor = results.floors[f].floor
        if floor is not None:
            answers = floor.answers(annotations)[0][m]
            floor_iid[m] = evaluate(annotations, answers, [case.measures[m]], case.protocol).value(case.measures[m])
    drawn = [
        bootstrap(of, results.stream(f"{NAME} {name}"), resamples=case.resamples)
        for name, of in (("iid", there), ("here", results.scores))
    ]
    few = min(annotations.n_videos, case.annotations.n_videos) < 2
    ci95 = interval95(drawn[0] - drawn[1])
    return Gap(figures(there), floor_iid, np.full_like(ci95, np.nan) if few else ci95)


def look(results: Results) -> Finding | None:
    """State how far the method falls."""
    found, case, m = results.part(gap), results.case, results.headline
    if found is None or case.iid is None:
        return None
    measure, percent = results.measure, case.protocol.percent
    there, here = float(found.iid[m]), results.scores.value(measure)
    floor_there, floor_here = float(found.floor_iid[m]), results.strongest_scores.value(measure)
    fall, ci95 = there - here, found.fall_ci95[m]
    if not np.isfinite(fall):
        return Finding(NAME, "note", f"{measure} is undefined on one of the splits, so there is no gap to state.")

    def moves(one: float, other: float) -> str:
        change = f"{'falls' if one >= other else 'rises'} by {points(abs(one - other))}"
        return f"{change} points ({percent(one)} to {percent(other)})"

    verdict = f"From {case.iid[0].split} to {case.annotations.split} {measure} {moves(there, here)}, {interval(ci95)}"
    if np.isfinite(floor_there) and np.isfinite(floor_here):
        verdict += f"; {results.strongest(m)} {moves(floor_there, floor_here)}"
    falls = bool(ci95[0] > 0)
    holds = None if not np.all(np.isfinite(ci95)) else not falls
    return Finding(NAME, "warning" if falls else "note", f"{verdict}.", (), fall, holds)


CHECK = Check(
    NAME,
    look,
    "the fall from test-iid to test-ood (`--iid`), of the method and of the floor",
    "no fall is shown",
    "the fall",
)
