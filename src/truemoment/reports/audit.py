"""The report of an audit: a JSON document for programs, findings and a table for the terminal.

The page is made by :mod:`truemoment.reports.page`, its figures by :mod:`truemoment.reports.figures`.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truemoment.audit import Audit, Finding, Material, Outcome
from truemoment.audit.floors import TEXT_ONLY
from truemoment.audit.material import Paired
from truemoment.diagnosis.answers import first_answers
from truemoment.diagnosis.curves import Curves, LengthCounts
from truemoment.diagnosis.slices import Slice
from truemoment.intervals import Floats
from truemoment.measures import why_undefined
from truemoment.records import STATUSES, Annotations, Predictions
from truemoment.reports import evaluation as of_run
from truemoment.reports.tables import TableStyle, escaped, render
from truemoment.reports.text import WIDTH, tightened
from truemoment.scores import Scores
from truemoment.text import one_line
from truemoment.version import __version__ as version

SCHEMA = "truemoment/audit/1"

LEVELS = ("serious", "warning", "note", "good")
"""Levels of findings, in the order of a report."""

NO_INTERVAL = "some resamples hold no query that counts"
NO_QUERY = "no query counts"
NO_SELECTION = "there is no split to choose the floor on"
NEVER_CHOSEN = "its answers are of the audited split alone"


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """The findings as a report lists them: the first one, which answers the main question, then the most serious."""
    return [*findings[:1], *sorted(findings[1:], key=lambda finding: LEVELS.index(finding.level))]


# ------------------------------------------------------------------------------------------- document


def document(audit: Audit, *, source: Mapping[str, Any], seed: int, outcomes: Sequence[Outcome] = ()) -> dict[str, Any]:
    """Return the JSON document.

    Parameters
    ----------
    audit
        What was looked at, and what was found.
    source
        Files that were read: ``path`` and ``sha256`` of the predictions, and what else there is to say.
    seed
        Of all draws.
    outcomes
        What became of the conditions of a gate.

    Returns
    -------
    dict
        Fractions, never percent. What is undefined is None, and ``why`` beside it says why.
    """
    material = audit.material
    case, scores = material.case, material.scores
    return {
        "schema": SCHEMA,
        "truemoment": version,
        "dataset": scores.dataset,
        "split": scores.split,
        "annotations": _annotations(material.split)
        | {"n_without_moment": int(material.split.without_moment.sum()), "measured_sha256": scores.annotations_sha256},
        "fit": None if case.train is None else _annotations(case.train),
        "selection": None if case.selection is None else _annotations(case.selection),
        "protocol": scores.protocol.name,
        "convention": scores.protocol.convention(),
        "predictions": dict(source),
        "match": None if case.match is None else case.match.as_dict(),
        "touched": scores.touched,
        "headline": str(case.measures[case.headline]),
        "measures": _measured(scores, material.ci95[0]),
        "floors": [_rival(material, number) for number in range(len(material.floors))],
        "ceilings": [_rival(material, len(material.floors) + number) for number in range(len(material.ceilings))],
        "versus": [_versus(material, m) for m in range(len(case.measures))],
        "shortcut_share": [_shortcut(material, m) for m in range(len(case.measures))],
        "slices": [
            _slice(material, own, floor) for own, floor in zip(material.slices, material.floor_slices, strict=True)
        ],
        "errors": _errors(material),
        "curves": [{"of": name, **_curves(curves)} for name, curves in material.curves],
        "by_length": _by_length(material),
        "answers": _answers(material),
        "conventions": [
            {"protocol": name, **_figure(value, why_undefined(case.measures[case.headline]))}
            for name, value in material.conventions.items()
        ],
        "leaks": [leak._asdict() for leak in material.leaks],
        "gap": _gap(material),
        "shuffled": _shuffled(material),
        "changed": _changed(material),
        "caution": case.caution,
        "text_only": _text_only(material),
        "abstention": _abstention(material),
        "findings": [_finding(finding) for finding in audit.findings],
        "gate": [
            {"condition": outcome.condition.text, "passed": outcome.passed, "why": outcome.why} for outcome in outcomes
        ],
        "resamples": case.resamples,
        "permutations": case.permutations,
        "seed": seed,
    }


def _annotations(annotations: Annotations) -> dict[str, Any]:
    return {
        "split": annotations.split,
        "sha256": annotations.sha256,
        "n_queries": annotations.n_queries,
        "n_videos": annotations.n_videos,
        "n_references": len(annotations),
    }


def _figure(value: float, why: str) -> dict[str, Any]:
    """A fraction, or None and why."""
    defined = math.isfinite(value)
    entry: dict[str, Any] = {"value": float(value) if defined else None, "unit": "fraction"}
    return entry if defined else entry | {"why": why}


def _with_interval(entry: dict[str, Any], ci95: Floats, why: str = NO_INTERVAL) -> dict[str, Any]:
    """Add an interval, or None and why."""
    if np.all(np.isfinite(ci95)):
        return entry | {"ci95": [float(end) for end in ci95]}
    return entry | {"ci95": None, "why": entry.get("why", why)}


def _measured(scores: Scores, ci95: Floats) -> list[dict[str, Any]]:
    entries = []
    for row, figure in enumerate(scores.measured()):
        value = math.nan if figure.value is None else figure.value
        entry = {"measure": figure.measure} | _with_interval(_figure(value, figure.why), ci95[row])
        entry |= {"n_queries": figure.n_queries, "n_videos": figure.n_videos}
        if figure.on_threshold is not None:
            entry["on_threshold"] = figure.on_threshold
        entries.append(entry | {"signature": figure.signature})
    return entries


def _rival(material: Material, number: int) -> dict[str, Any]:
    """A floor or, counted on, a ceiling."""
    measures = material.case.measures
    rival = (*material.floors, *material.ceilings)[number]
    figures = _measured(rival.scores, material.ci95[1 + number])
    if rival.kind == "floor":
        for m, entry in enumerate(figures):
            entry["answers"] = rival.called(m)
            why = NEVER_CHOSEN if rival.name == TEXT_ONLY else NO_SELECTION
            entry["selection"] = _figure(float(rival.selection[m]), why)
    entry = {"name": rival.name, "title": rival.title, "kind": rival.kind, "measures": figures}
    if rival.kind == "floor":
        chosen_for = [str(measure) for m, measure in enumerate(measures) if material.chosen[m] == number]
        entry["chosen_for"] = chosen_for
    return entry


def _versus(material: Material, m: int) -> dict[str, Any]:
    floor = material.floors[int(material.chosen[m])]
    entry = {"measure": str(material.case.measures[m]), "floor": floor.name, "answers": floor.called(m)}
    return entry | _paired(material, material.versus, m)


def _paired(material: Material, paired: Paired, m: int) -> dict[str, Any]:
    difference = float(paired.difference[m])
    entry = _with_interval(_figure(difference, why_undefined(material.case.measures[m])), paired.ci95[m])
    entry = {"difference": entry.pop("value")} | entry
    p = {"p": float(paired.p[m]), "p_holm": float(paired.p_holm[m])}
    entry |= {name: value if math.isfinite(value) else None for name, value in p.items()}
    if None in entry.values():
        entry.setdefault("why", NO_INTERVAL)
    why = "the difference does not vary from video to video" if entry["ci95"] else NO_INTERVAL
    return entry | {"resolves": _figure(float(paired.resolves[m]), why)}


def _shortcut(material: Material, m: int) -> dict[str, Any]:
    why = "the method's figure is 0 or undefined"
    entry = _figure(float(material.shortcut[m]), why)
    entry = {"measure": str(material.case.measures[m])} | entry
    return _with_interval(entry, material.shortcut_ci95[m], "the method's figure is 0 in some resamples")


def _slice(material: Material, own: Slice, floor: Slice) -> dict[str, Any]:
    measures = material.case.measures
    few = "fewer than 2 videos" if own.n_videos < 2 else NO_INTERVAL
    entry: dict[str, Any] = {"family": own.family, "class": own.label}
    entry |= {"n_queries": own.n_queries, "n_videos": own.n_videos}
    for name, one in (("measures", own), ("floor", floor)):
        entry[name] = [
            {"measure": str(measure)}
            | _with_interval(_figure(float(one.value[m]), why_undefined(measure)), one.ci95[m], few)
            for m, measure in enumerate(measures)
        ]
    return entry


def _errors(material: Material) -> dict[str, Any]:
    errors = material.errors
    return {
        "threshold": errors.threshold,
        "depth": errors.depth,
        "references": errors.references,
        "measures": list(errors.measures),
        "figures": _numbers(errors.figures),
        "kinds": [
            {
                "kind": line.kind,
                "n_queries": line.n_queries,
                "share": _number(line.share),
                "mended": _numbers(line.mended),
                "gain": _numbers(line.gain),
            }
            for line in errors.table
        ],
        **({} if np.all(np.isfinite(errors.figures)) else {"why": NO_QUERY}),
    }


def _curves(curves: Curves) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "thresholds": _numbers(curves.thresholds),
        "ranks": list(curves.ranks),
        "recall": [_numbers(row) for row in curves.recall],
        "discounted": [_numbers(row) for row in curves.discounted],
    }
    undefined = not (np.all(np.isfinite(curves.recall)) and np.all(np.isfinite(curves.discounted)))
    return entry | ({"why": curves.why or NO_QUERY} if undefined else {})


def _by_length(material: Material) -> dict[str, Any] | None:
    if material.by_length is None or material.floor_by_length is None:
        return None

    def counts(of: LengthCounts) -> dict[str, Any]:
        return {
            "bounds": _numbers(of.bounds),
            "success": _numbers(of.success),
            "failure": _numbers(of.failure),
            "left_out": of.left_out,
        }

    both = {"method": material.by_length, "floor": material.floor_by_length}
    return {
        "measure": material.by_length.measure,
        **{name: {"share_of_video": counts(of.norm), "seconds": counts(of.seconds)} for name, of in both.items()},
    }


def _answers(material: Material) -> dict[str, Any]:
    pattern = material.pattern
    return {
        "n_queries": pattern.n_queries,
        "n_answered": pattern.n_answered,
        "n_different": pattern.n_distinct,
        "on_grid": {name: _figure(share, "no query is answered") for name, share in pattern.on_grid.items()},
        "n_comparable": pattern.n_comparable,
        "repeated": _figure(pattern.repeated, "no video is asked two sentences"),
        "repeated_references": _figure(pattern.repeated_references, "no video is asked two sentences"),
        "most_common": [answer._asdict() for answer in pattern.most_common],
        "statuses": _statuses(material.answers),
    }


def _gap(material: Material) -> dict[str, Any] | None:
    if material.gap is None or material.case.iid is None:
        return None
    gap, case = material.gap, material.case
    annotations, _ = material.case.iid
    entries = []
    for m, measure in enumerate(case.measures):
        fall, why = float(gap.iid[m]) - material.scores.value(measure), why_undefined(measure)
        entries.append(
            {
                "measure": str(measure),
                "iid": _figure(float(gap.iid[m]), why),
                "floor_iid": _figure(float(gap.floor_iid[m]), why),
                "fall": _with_interval(_figure(fall, why), gap.fall_ci95[m]),
            }
        )
    return {"annotations": _annotations(annotations), "measures": entries}


def _shuffled(material: Material) -> dict[str, Any] | None:
    if material.shuffled is None:
        return None
    answers, scores, moved, fall = material.shuffled
    why = "no query is answered in both files"
    return {
        "unchanged": _figure(moved.share_unchanged, why),
        "slightly_changed": _figure(moved.share_within(), why),
        "n_queries": int(moved.compared.sum()),
        "left_out": dict(moved.left_out),
        "statuses": _statuses(answers),
        "measures": [figure | {"fall": _paired(material, fall, m)} for m, figure in enumerate(_plain_figures(scores))],
    }


def _changed(material: Material) -> dict[str, Any] | None:
    """The same model on the original videos and on changed ones."""
    changed = material.changed
    if changed is None:
        return None
    why = "no query is answered on both videos"
    return {
        "n_differing": changed.n_differing,
        "agrees": changed.agrees,
        "original": _measured(changed.scores, changed.ci95),
        "ways": [
            {
                "way": one.way,
                "measures": [
                    figure | {"fall": _paired(material, one.fall, m)}
                    for m, figure in enumerate(_measured(one.scores, one.ci95))
                ],
                "unchanged": _figure(one.displacement.share_unchanged, why),
                "slightly_changed": _figure(one.displacement.share_within(), why),
                "n_queries": int(one.displacement.compared.sum()),
                "left_out": dict(one.displacement.left_out),
            }
            for one in changed.ways
        ],
    }


def _text_only(material: Material) -> dict[str, Any] | None:
    """The same model without the frames; its figures stand among the floors."""
    if material.text_only is None:
        return None
    rival, paired = material.floors[material.text_only], material.against[material.text_only]
    first = first_answers(material.case.annotations, rival.predictions, ranking=material.case.protocol.ranking)
    return {
        "n_queries": material.case.annotations.n_queries,
        "n_answered": int(first.answered.sum()),
        "statuses": _statuses(rival.predictions),
        "versus": [
            {"measure": str(measure)} | _paired(material, paired, m) for m, measure in enumerate(material.case.measures)
        ],
    }


def _statuses(answers: Predictions) -> dict[str, int] | None:
    """How many answers in words were understood in which way; None where moments were given as numbers."""
    if answers.status is None:
        return None
    counts = Counter(answers.status.tolist())
    return {status: counts[status] for status in STATUSES}


def _abstention(material: Material) -> dict[str, Any] | None:
    found = material.abstaining
    if found is None:
        return None
    measures = [
        {"measure": figure.measure}
        | _with_interval(_figure(math.nan if figure.value is None else figure.value, figure.why), ci95)
        | {"n_queries": figure.n_queries, "n_videos": figure.n_videos, "signature": figure.signature}
        for figure, ci95 in zip(found.scores.measured(), found.ci95[:2], strict=True)
    ]
    why = next((figure.why for figure in found.scores.measured() if figure.why), "")
    return {
        "n_without_moment": found.n_without,
        "n_rightly": found.n_rightly,
        "n_with_moment": found.n_with,
        "n_wrongly": found.n_wrongly,
        "measures": measures,
        "worth": _with_interval(_figure(found.worth, why), found.ci95[2]),
    }


def _plain_figures(scores: Scores) -> list[dict[str, Any]]:
    return [
        {"measure": figure.measure, **_figure(math.nan if figure.value is None else figure.value, figure.why)}
        for figure in scores.measured()
    ]


def _finding(finding: Finding) -> dict[str, Any]:
    figure = None if finding.figure is None or not math.isfinite(finding.figure) else finding.figure
    return {
        "check": finding.check,
        "level": finding.level,
        "verdict": finding.verdict,
        "evidence": list(finding.evidence),
        "figure": figure,
        "holds": finding.holds,
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _numbers(values: Floats) -> list[float | None]:
    return [_number(value) for value in values.tolist()]


# ---------------------------------------------------------------------------------------------- words


def lines(audit: Audit, *, source: Mapping[str, Any], seed: int, style: TableStyle = "plain") -> list[str]:
    """Say what was audited, what was found, and the figures behind it.

    Parameters
    ----------
    audit
        What was looked at, and what was found.
    source
        ``path`` and ``sha256`` of the predictions.
    seed
        Of all draws.
    style
        ``plain`` for the terminal, wrapped at 100 columns; ``md`` and ``latex`` for documents.

    Returns
    -------
    list of str
        Lines without line ends.
    """
    marked = f"* the floor to beat: {_chosen_on(audit.material)}"
    said = [_as_prose(line, style) for line in preamble(audit, source)]
    said += ["", *(_marked(one.level, one.verdict, style) for one in in_order(audit.findings))]
    return [
        *(line for paragraph in said for line in paragraph.split("\n")),
        *("", *table(audit, style=style).splitlines(), ""),
        *(_as_prose(marked, style), _as_prose(closing(audit, seed), style)),
    ]


def preamble(audit: Audit, source: Mapping[str, Any]) -> list[str]:
    """Say what was audited, and against what."""
    case, scores = audit.material.case, audit.material.scores
    if case.match is None:
        said = [f"{scores.dataset}/{scores.split}: {len(scores):,} queries, {case.annotations.n_videos:,} videos"]
        said.append(str(source.get("path", case.predictions.name)))
    else:
        said = of_run.preamble(of_run.Evaluation(scores, [], case.match, dict(source), depth=0))
    fitted = (
        "no fit split, so only floors that learn nothing" if case.train is None else f"fitted on {_name(case.train)}"
    )
    nothing = int(audit.material.split.without_moment.sum())
    if nothing:
        queries = "query without a moment takes" if nothing == 1 else "queries without a moment take"
        said.append(f"{nothing:,} more {queries} part only in what is said of abstaining")
    said.append(f"floors: {fitted}; the one to beat is {_chosen_on(audit.material)}")
    annotated = audit.material.n_annotated
    if annotated:
        said.append(f"ceilings of annotators: over {annotated:,} of {len(scores):,} queries, which several marked")
    said += [f"left out: {line}" for line in audit.material.left_out]
    if "model" in source:
        said.append(
            f"model: {source['model']['name']} ({source['model']['path']}), looking at {source['model']['features']}"
        )
    if case.caution:
        said.append(f"caution: {case.caution}")
    return [one_line(line) for line in said]


def _name(annotations: Annotations) -> str:
    """Name a split; a file that is all one split by its name."""
    return annotations.dataset if annotations.split == "all" else annotations.split


def _chosen_on(material: Material) -> str:
    case = material.case
    chosen_on = case.train if case.selection is None else case.selection
    if chosen_on is None:
        return "PredictAll, for want of a split to choose it on"
    return f"the best of {material.n_candidates} on {one_line(_name(chosen_on))}"


def headline(audit: Audit) -> str:
    """Return the verdict on the main question, which the first check answers."""
    return audit.findings[0].verdict if audit.findings else ""


def figures_by_name(audit: Audit) -> dict[str, float]:
    """Figure of each measure by its text, as a gate names it; NaN where undefined."""
    return {str(measure): audit.material.scores.value(measure) for measure in audit.material.case.measures}


def _marked(mark: str, text: str, style: TableStyle) -> str:
    """Write a sentence with a mark before it; in the terminal marks stand in a column of their own."""
    text = one_line(text)
    if style == "md":
        return f"- **{mark}** {escaped(text, style)}"
    if style == "latex":
        return rf"\paragraph{{{mark}}} {escaped(text, style)}"
    margin = " " * (max(map(len, LEVELS)) + 2)
    wrapped = textwrap.wrap(text, WIDTH - len(margin), break_on_hyphens=False)
    return "\n".join(f"{mark if number == 0 else '':{len(margin)}}{line}" for number, line in enumerate(wrapped))


def _as_prose(text: str, style: TableStyle) -> str:
    return text if style == "plain" else f"{escaped(text, style)}\n"


def table(audit: Audit, *, style: TableStyle = "plain") -> str:
    """Return the table: a row a measure, a column a method, floor or ceiling; percent as the protocol prints them.

    The floor to beat of each measure is marked with a star.
    """
    material = audit.material
    rivals = (*material.floors, *material.ceilings)
    of_systems: list[Scores] = [material.scores, *(rival.scores for rival in rivals)]
    headings = ["measure, %", one_line(material.case.predictions.name), *(rival.title for rival in rivals)]
    if style == "plain":
        headings = [headings[0], "method", *(_narrow(rival.title) for rival in rivals)]
    elif style == "md":
        headings = [escaped(heading, style) for heading in headings]
    rows = []
    for m, measure in enumerate(material.case.measures):
        figures = [scores.value(measure) for scores in of_systems]
        cells = [percent(material, value) for value in figures]
        to_beat = 1 + int(material.chosen[m])
        marks = ["*" if system == to_beat and math.isfinite(figures[system]) else "" for system in range(len(cells))]
        if style == "plain":  # so that figures stand below each other
            cells = [f"{cell}{mark or ' '}" for cell, mark in zip(cells, marks, strict=True)]
        else:
            cells = [cell + escaped(mark, style) for cell, mark in zip(cells, marks, strict=True)]
        rows.append([str(measure), *cells])
    text = render(headings, rows, style=style, numbers=range(1, len(headings)))
    return tightened(text) if style == "plain" else text


def percent(material: Material, value: float) -> str:
    """Print a fraction in percent as the protocol does; a dash where it is undefined."""
    return material.case.protocol.percent(value) if math.isfinite(value) else "-"


def _narrow(heading: str) -> str:
    """Break a heading into short lines."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=-)(?=\w)", " ", heading.partition(" (")[0])
    return "\n".join(textwrap.wrap(words, 8, break_long_words=False, break_on_hyphens=False))


def closing(audit: Audit, seed: int) -> str:
    """Return the signature that belongs to every figure."""
    case = audit.material.case
    draws = f"intervals:{case.resamples} resamples of videos|tests:{case.permutations} swaps|seed:{seed}"
    return one_line(f"{audit.material.scores.signature()}|{draws}")
