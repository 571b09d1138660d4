"""The fall of the method's figures from test-iid to the audited split."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import why_undefined
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import bootstrap, interval95
from truemoment.report.words import interval95_points, points
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.entries import split
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.own_answers import OWN_ANSWERS, own_answers_floors
from truemoment.studies.audit.resampling import figures
from truemoment.studies.audit.results import Results

NAME = "iid-ood-gap"


class Gap(NamedTuple):
    """Figures on test-iid, and the fall to the audited split, by measure; the two are resampled independently."""

    iid: Floats  # (M,), of the method
    floor_iid: Floats  # (M,), of the floor that is the strongest on the audited split
    fall_ci95: Floats  # (M, 2), of the method's fall from test-iid to the audited split


def gap(results: Results) -> Gap | None:
    """Measure the method and the strongest floor on test-iid; None without predictions on it."""
    setup = results.setup
    if setup.iid is None:
        return None
    results.on_status("test-iid")
    annotations, predictions = setup.iid
    iid = evaluate(annotations, predictions, setup.measures, setup.protocol)
    drawn = [
        bootstrap(scores, results.stream(f"{NAME} {name}"), resamples=setup.resamples)
        for name, scores in (("iid", iid), ("here", results.scores))
    ]
    few = min(annotations.n_videos, setup.annotations.n_videos) < 2
    ci95 = interval95(drawn[0] - drawn[1])
    return Gap(figures(iid), _floor_iid(results, annotations, predictions), np.full_like(ci95, np.nan) if few else ci95)


def _floor_iid(results: Results, annotations: Annotations, predictions: Predictions) -> Floats:
    """Measure the strongest floors of the audited split on test-iid, (M,); NaN for a text-only model."""
    setup, values = results.setup, np.full(len(results.setup.measures), np.nan)
    strongest = [results.floors[f] for f in results.verdict.strongest.tolist()]
    own: dict[str, Scores] = {}
    if {floor.name for floor in strongest} & set(OWN_ANSWERS):
        try:
            drawn = results.stream(f"{NAME} own answers")
            floors = own_answers_floors(annotations, predictions, setup.measures, setup.protocol, drawn)
        except InputError:
            floors = []
        own = {floor.name: floor.scores for floor in floors}
    for m, (measure, floor) in enumerate(zip(setup.measures, strongest, strict=True)):
        if floor.floor is not None:
            answers = floor.floor.answers(annotations)[0][m]
            values[m] = evaluate(annotations, answers, [measure], setup.protocol).value(measure)
        elif floor.name in own:
            values[m] = own[floor.name].value(measure)
    return values


def look(results: Results) -> AuditFinding | None:
    """State the fall of the method and of the strongest floor."""
    gaps, setup, m = results.cached(gap), results.setup, results.headline
    if gaps is None or setup.iid is None:
        return None
    measure, percent = results.measure, setup.protocol.percent
    iid, value = float(gaps.iid[m]), results.scores.value(measure)
    floor_iid, floor_value = float(gaps.floor_iid[m]), results.strongest_scores.value(measure)
    fall, ci95 = iid - value, gaps.fall_ci95[m]
    if not np.isfinite(fall):
        return AuditFinding(NAME, "note", f"{measure} is undefined on one of the splits, so the gap is undefined.")

    def moves(first: float, second: float) -> str:
        change = f"{'falls' if first >= second else 'rises'} by {points(abs(first - second))}"
        return f"{change} points ({percent(first)} to {percent(second)})"

    splits = f"From {setup.iid[0].split} to {setup.annotations.split}"
    verdict = f"{splits} {measure} {moves(iid, value)}, {interval95_points(ci95)}"
    if np.isfinite(floor_iid) and np.isfinite(floor_value):
        verdict += f"; {results.strongest(m)} {moves(floor_iid, floor_value)}"
    falls = bool(ci95[0] > 0)
    holds = None if not np.all(np.isfinite(ci95)) else not falls
    return AuditFinding(NAME, "warning" if falls else "note", f"{verdict}.", (), fall, holds)


def document(results: Results) -> dict[str, Any]:
    """Return the figures on test-iid and the fall to the audited split."""
    gaps, setup = results.cached(gap), results.setup
    if gaps is None or setup.iid is None:
        return {"gap": None}
    measures = []
    for m, measure in enumerate(setup.measures):
        fall, why = float(gaps.iid[m]) - results.scores.value(measure), why_undefined(measure)
        measures.append(
            {
                "measure": str(measure),
                "iid": Measured(float(gaps.iid[m]), why),
                "floor_iid": Measured(float(gaps.floor_iid[m]), why),
                "fall": Measured(fall, why, gaps.fall_ci95[m].tolist()),
            }
        )
    return {"gap": {"annotations": split(setup.iid[0]), "measures": measures}}


CHECK = Check(
    name=NAME,
    title="From test-iid to this split",
    looks_at="the fall from test-iid to test-ood (`--iid`), of the method and of the floor",
    look=look,
    passes="no fall is shown",
    figure="the fall",
    document=document,
)
