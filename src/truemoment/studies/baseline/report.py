"""The report of a baseline: what its runs score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from truemoment.baselines import BASELINES
from truemoment.baselines.running import BaselineRun
from truemoment.evaluation.head import head
from truemoment.report.model import Cell, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, points

SCHEMA = "truemoment/baseline/1"


def document(run: BaselineRun, out: str | None = None) -> dict[str, Any]:
    """Return what programs read.

    Parameters
    ----------
    run
        The runs.
    out
        Path of the predictions of the first run; None if they were not written.
    """
    return {
        **head(SCHEMA, run.runs[0]),
        "baseline": run.name,
        "title": run.title,
        "kind": BASELINES[run.name].kind,
        "fitted_on": None if run.train is None else f"{run.train.dataset}/{run.train.split}",
        "fitted_on_sha256": None if run.train is None else run.train.sha256,
        "choices": run.choices,
        "predictions": out,
        "top": run.top,
        "runs": len(run.runs),
        "seed": run.seed,
        "measures": [
            replace(figure, value=mean, on_threshold=None).as_dict()
            | ({"spread": spread} if np.isfinite(spread) else {})
            for figure, mean, spread in zip(run.runs[0].measured(), run.mean, run.spread, strict=True)
        ],
    }


def report(run: BaselineRun, out: str | None = None) -> Report:
    """Return what people read; parameters as for :func:`document`."""
    scores = run.runs[0]
    fitted = "" if run.train is None else f", fitted on {run.train.dataset}/{run.train.split}"
    data = f"{scores.dataset}/{scores.split}: {counted(len(scores), 'query', 'queries')}, "
    facts = [
        ("baseline", f"{run.name} ({BASELINES[run.name].kind}): {run.title}{fitted}"),
        ("data", data + counted(scores.n_videos, "video")),
    ]
    if out is not None:
        facts.append(("predictions", f"{out} (first run)" if len(run.runs) > 1 else out))
    return Report(
        title=f"{run.title} on {scores.dataset}, {scores.split}",
        facts=tuple(facts),
        sections=(Section("measures", "Measures", (table(run),)),),
        signature=signature(run),
    )


def table(run: BaselineRun) -> Table:
    """Return the table of measures, in percent as the protocol prints them."""
    scores = run.runs[0]
    several = len(run.runs) > 1
    headings = ("measure", f"mean % of {len(run.runs)} runs", "spread") if several else ("measure", "%")
    rows = []
    for measure, mean, spread in zip(scores.measures, run.mean.tolist(), run.spread.tolist(), strict=True):
        figure = UNDEFINED if np.isnan(mean) else scores.protocol.percent(mean)
        rows.append(tuple(map(Cell, (str(measure), figure, *([points(spread, 2)] if several else [])))))
    return Table("", headings, (("", tuple(rows)),))


def signature(run: BaselineRun) -> str:
    """Return the signature of the figures."""
    parts = [run.runs[0].signature(), f"baseline:{run.name}"]
    if run.train is not None:
        parts.append(f"fit:{run.train.dataset}/{run.train.split}#{run.train.sha256[:8]}")
    parts += [f"{name}:{choice}" for name, choice in run.choices.items()]
    parts += [f"top:{run.top}", f"seed:{run.seed}"]
    return "|".join([*parts, f"runs:{len(run.runs)}"] if len(run.runs) > 1 else parts)
