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

from truemoment.auditing import Audit, Finding, Outcome, Results
from truemoment.auditing.checks import (
    abstention,
    answer_pattern,
    below_floor,
    carrying_classes,
    changed_videos,
    conventions,
    curves,
    errors,
    excess_where_blind_misses,
    iid_ood_gap,
    leakage,
    shortcut_share,
    skill,
    slices,
    text_only,
    training_places,
    without_right_video,
)
from truemoment.auditing.results import Paired
from truemoment.diagnosis.answers import first_answers
from truemoment.diagnosis.curves import Curves, LengthCounts
from truemoment.diagnosis.errors import ErrorKinds
from truemoment.diagnosis.slices import Slice
from truemoment.intervals import Floats
from truemoment.measures import why_undefined
from truemoment.records import STATUSES, Annotations, Predictions
from truemoment.reports import evaluation as of_run
from truemoment.reports.render.tabular import TableStyle, escaped, render, tightened
from truemoment.reports.text import WIDTH, folded
from truemoment.scores import Scores
from truemoment.text import one_line
from truemoment.uncertainty import LEVEL
from truemoment.version import __version__ as version

SCHEMA = "truemoment/audit/2"

LEVELS = ("serious", "warning", "note", "good")
"""Levels of findings, in the order of a report."""

NO_INTERVAL = "it does not vary from video to video, or some resamples hold no query that counts"
NO_QUERY = "no query counts"
NO_VALIDATION = "there is no validation split"
ONLY_HERE = "its answers are of the audited split alone"


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """The findings as a report lists them: the first one, which answers the main question, then the most serious."""
    return [*findings[:1], *sorted(findings[1:], key=lambda finding: LEVELS.index(finding.level))]


# ------------------------------------------------------------------------------------------- document


def document(audit: Audit, *, source: Mapping[str, Any], seed: int, outcomes: Sequence[Outcome] = ()) -> dict[str, Any]:
    """Return the JSON document.

    Parameters
    ----------
    audit
        What is known, and what was found.
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
    results = audit.results
    case, scores = results.case, results.scores
    return {
        "schema": SCHEMA,
        "truemoment": version,
        "dataset": scores.dataset,
        "split": scores.split,
        "annotations": _annotations(results.split)
        | {"n_without_moment": int(results.split.without_moment.sum()), "measured_sha256": scores.annotations_sha256},
        "fit": None if case.train is None else _annotations(case.train),
        "validation": None if case.selection is None else _annotations(case.selection),
        "protocol": scores.protocol.name,
        "convention": scores.protocol.convention(),
        "predictions": dict(source),
        "match": None if case.match is None else case.match.as_dict(),
        "touched": scores.touched,
        "headline": str(results.measure),
        "measures": _measured(scores, results.ci95[0]),
        "floors": [_floor(results, number) for number in range(len(results.floors))],
        "ceilings": [_ceiling(results, number) for number in range(len(results.ceilings))],
        "verdict": [_verdict(results, m) for m in range(len(case.measures))],
        "human_skill": [_human_skill(of) for of in results.part(skill.against_people)],
        "shortcut_share": [_shortcut(results, m) for m in range(len(case.measures))],
        "where_blind_misses": _where_blind_misses(results),
        "controls": [_control(results, of) for of in results.part(without_right_video.remaining)],
        "below_floor": _below_floor(results),
        "carrying_classes": [of._asdict() for of in results.part(carrying_classes.carrying)],
        "places": _places(results),
        "slices": [
            _slice(results, own, floor)
            for own, floor in zip(results.part(slices.of_method), results.part(slices.of_floor), strict=True)
        ],
        "errors": _errors(results.part(errors.errors)),
        "curves": [{"of": name, **_curves(of)} for name, of in results.part(curves.curves)],
        "by_length": _by_length(results),
        "answers": _answers(results),
        "conventions": [
            {"protocol": name, **_figure(value, why_undefined(results.measure))}
            for name, value in results.part(conventions.conventions).items()
        ],
        "leaks": [leak._asdict() for leak in results.part(leakage.leaks)],
        "gap": _gap(results),
        "shuffled": _shuffled(results),
        "changed": _changed(results),
        "caution": case.caution,
        "text_only": _text_only(results),
        "abstention": _abstention(results),
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


def _with_interval(entry: dict[str, Any], ci95: Floats | Sequence[float], why: str = NO_INTERVAL) -> dict[str, Any]:
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


def _floor(results: Results, number: int) -> dict[str, Any]:
    floor, verdict = results.floors[number], results.verdict
    entries = _measured(floor.scores, results.ci95[1 + number])
    for m, entry in enumerate(entries):
        validated = math.nan if floor.validated is None else floor.validated.value(results.case.measures[m])
        against = _with_interval(
            _figure(float(verdict.against[number, m]), why_undefined(results.case.measures[m])),
            verdict.against_ci95[number, m],
        )
        entry["answers"] = floor.called(m)
        entry["validation"] = _figure(validated, NO_VALIDATION if floor.floor is not None else ONLY_HERE)
        entry["strongest_in"] = float(verdict.strongest_in[number, m])
        entry["difference"] = against | {"p": _number(float(results.p_values[number, m]))}
        if floor.draws:
            entry |= {"draws": len(floor.draws), "spread": _number(float(floor.spread[m]))}
    strongest_for = [str(of) for m, of in enumerate(results.case.measures) if verdict.strongest[m] == number]
    return {
        "name": floor.name,
        "title": floor.title,
        "kind": "floor",
        "measures": entries,
        "strongest_for": strongest_for,
    }


def _ceiling(results: Results, number: int) -> dict[str, Any]:
    ceiling = results.ceilings[number]
    figures = _measured(ceiling.scores, results.ci95[1 + len(results.floors) + number])
    return {"name": ceiling.name, "title": ceiling.title, "kind": "ceiling", "measures": figures}


def _verdict(results: Results, m: int) -> dict[str, Any]:
    verdict, measure = results.verdict, results.case.measures[m]
    floor = results.floors[int(verdict.strongest[m])]
    difference = _with_interval(_figure(float(verdict.difference[m]), why_undefined(measure)), verdict.ci95[m])
    return {
        "measure": str(measure),
        "verdict": verdict.kind(m),
        "little": verdict.is_little(m),
        "floor": floor.name,
        "answers": floor.called(m),
        "n_floors": len(results.floors),
        "difference": difference | {"p": _number(float(results.p[m]))},
        "resolves": _figure(float(verdict.resolves[m]), NO_INTERVAL),
        "skill": _with_interval(
            _figure(float(verdict.skill[m]), "the oracle is not above the strongest floor"), verdict.skill_ci95[m]
        ),
    }


def _human_skill(of: skill.HumanSkill) -> dict[str, Any]:
    return {"ceiling": of.title} | _with_interval(_figure(of.value, of.why), of.ci95)


def _paired(results: Results, paired: Paired, m: int) -> dict[str, Any]:
    difference = float(paired.difference[m])
    entry = _with_interval(_figure(difference, why_undefined(results.case.measures[m])), paired.ci95[m])
    entry = {"difference": entry.pop("value")} | entry
    entry |= {"p": _number(float(paired.p[m])), "p_holm": _number(float(paired.p_holm[m]))}
    if None in entry.values():
        entry.setdefault("why", NO_INTERVAL)
    return entry | {"resolves": _figure(float(paired.resolves[m]), NO_INTERVAL)}


def _shortcut(results: Results, m: int) -> dict[str, Any]:
    share = results.part(shortcut_share.shares)
    entry = {"measure": str(results.case.measures[m])}
    entry |= _figure(float(share.value[m]), "the method's figure is 0 or undefined")
    return _with_interval(entry, share.ci95[m], "the method's figure is 0 in some resamples")


def _where_blind_misses(results: Results) -> dict[str, Any] | None:
    found = results.part(excess_where_blind_misses.where_blind_misses)
    if found is None:
        return None
    systems = ("method", "network", "second_network")
    return {
        "measure": str(found.measure),
        "out_of_fold": found.out_of_fold,
        "n_missed": found.n_missed,
        "n_hit": found.n_hit,
        "where_missed": dict(zip(systems, _numbers(found.where_missed), strict=True)),
        "where_hit": dict(zip(systems, _numbers(found.where_hit), strict=True)),
        "excess": _with_interval(_figure(found.excess, "the network misses no query"), found.ci95),
        "floor": None
        if (floor := found.floor) is None
        else {
            "name": floor.name,
            "where_missed": _number(floor.where_missed),
            "excess": _with_interval(_figure(floor.excess, "the network misses no query"), floor.ci95),
        },
        "by_probability": [
            {"probability": p, "n_queries": int(n), **dict(zip(systems, hits, strict=True))}
            for p, n, hits in zip(
                _numbers(found.probability), found.n_queries.tolist(), found.hits.tolist(), strict=True
            )
        ],
    }


def _control(results: Results, of: without_right_video.Remaining) -> dict[str, Any]:
    share = _with_interval(_figure(of.share, "the figure on the original videos is 0"), of.ci95)
    return {
        "way": of.control.way,
        "measures": _measured(of.control.scores, of.control.ci95),
        "share": {"measure": str(results.measure)} | share,
    }


def _below_floor(results: Results) -> dict[str, Any]:
    found = results.part(below_floor.below_floor)
    return {
        "n_items": found.n_items,
        "n_comparisons": found.n_comparisons,
        "false_discovery_rate": LEVEL,
        "found": [of._asdict() for of in found.found],
    }


def _places(results: Results) -> dict[str, Any] | None:
    found = results.part(training_places.places)
    if found is None:
        return None
    return {
        "to_references": _with_interval(_figure(found.to_references, ""), found.references_ci95),
        "to_training": _with_interval(_figure(found.to_training, ""), found.training_ci95),
        "difference": _with_interval(_figure(found.to_references - found.to_training, ""), found.difference_ci95),
        "references_to_training": _figure(found.between, ""),
    }


def _slice(results: Results, own: Slice, floor: Slice) -> dict[str, Any]:
    measures = results.case.measures
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


def _errors(found: ErrorKinds) -> dict[str, Any]:
    return {
        "threshold": found.threshold,
        "depth": found.depth,
        "references": found.references,
        "measures": list(found.measures),
        "figures": _numbers(found.figures),
        "kinds": [
            {
                "kind": line.kind,
                "n_queries": line.n_queries,
                "share": _number(line.share),
                "mended": _numbers(line.mended),
                "gain": _numbers(line.gain),
            }
            for line in found.table
        ],
        **({} if np.all(np.isfinite(found.figures)) else {"why": NO_QUERY}),
    }


def _curves(found: Curves) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "thresholds": _numbers(found.thresholds),
        "ranks": list(found.ranks),
        "recall": [_numbers(row) for row in found.recall],
        "discounted": [_numbers(row) for row in found.discounted],
    }
    undefined = not (np.all(np.isfinite(found.recall)) and np.all(np.isfinite(found.discounted)))
    return entry | ({"why": found.why or NO_QUERY} if undefined else {})


def _by_length(results: Results) -> dict[str, Any] | None:
    own, floor = results.part(curves.by_length), results.part(curves.floor_by_length)
    if own is None or floor is None:
        return None

    def counts(of: LengthCounts) -> dict[str, Any]:
        return {
            "bounds": _numbers(of.bounds),
            "success": _numbers(of.success),
            "failure": _numbers(of.failure),
            "left_out": of.left_out,
        }

    both = {"method": own, "floor": floor}
    return {
        "measure": own.measure,
        **{name: {"share_of_video": counts(of.norm), "seconds": counts(of.seconds)} for name, of in both.items()},
    }


def _answers(results: Results) -> dict[str, Any]:
    pattern = results.part(answer_pattern.pattern)
    return {
        "n_queries": pattern.n_queries,
        "n_answered": pattern.n_answered,
        "n_different": pattern.n_distinct,
        "on_grid": {name: _figure(share, "no query is answered") for name, share in pattern.on_grid.items()},
        "n_comparable": pattern.n_comparable,
        "repeated": _figure(pattern.repeated, "no video is asked two sentences"),
        "repeated_references": _figure(pattern.repeated_references, "no video is asked two sentences"),
        "most_common": [answer._asdict() for answer in pattern.most_common],
        "statuses": _statuses(results.answers),
    }


def _gap(results: Results) -> dict[str, Any] | None:
    found, case = results.part(iid_ood_gap.gap), results.case
    if found is None or case.iid is None:
        return None
    annotations, _ = case.iid
    entries = []
    for m, measure in enumerate(case.measures):
        fall, why = float(found.iid[m]) - results.scores.value(measure), why_undefined(measure)
        entries.append(
            {
                "measure": str(measure),
                "iid": _figure(float(found.iid[m]), why),
                "floor_iid": _figure(float(found.floor_iid[m]), why),
                "fall": _with_interval(_figure(fall, why), found.fall_ci95[m]),
            }
        )
    return {"annotations": _annotations(annotations), "measures": entries}


def _shuffled(results: Results) -> dict[str, Any] | None:
    control = results.part(changed_videos.shuffled)
    if control is None:
        return None
    moved, why = control.displacement, "no query is answered in both files"
    return {
        "unchanged": _figure(moved.share_unchanged, why),
        "slightly_changed": _figure(moved.share_within(), why),
        "n_queries": int(moved.compared.sum()),
        "left_out": dict(moved.left_out),
        "statuses": _statuses(control.answers),
        "measures": [
            figure | {"fall": _paired(results, control.fall, m)}
            for m, figure in enumerate(_plain_figures(control.scores))
        ],
    }


def _changed(results: Results) -> dict[str, Any] | None:
    """The same model on the original videos and on changed ones."""
    found = results.part(changed_videos.changed)
    if found is None:
        return None
    why = "no query is answered on both videos"
    return {
        "n_differing": found.n_differing,
        "agrees": found.agrees,
        "original": _measured(found.scores, found.ci95),
        "ways": [
            {
                "way": one.way,
                "measures": [
                    figure | {"fall": _paired(results, one.fall, m)}
                    for m, figure in enumerate(_measured(one.scores, one.ci95))
                ],
                "unchanged": _figure(one.displacement.share_unchanged, why),
                "slightly_changed": _figure(one.displacement.share_within(), why),
                "n_queries": int(one.displacement.compared.sum()),
                "left_out": dict(one.displacement.left_out),
            }
            for one in found.ways
        ],
    }


def _text_only(results: Results) -> dict[str, Any] | None:
    """The same model without the frames; its figures stand among the floors."""
    paired = results.part(text_only.with_frames)
    if paired is None or results.text_only is None:
        return None
    floor, case = results.floors[results.text_only], results.case
    first = first_answers(case.annotations, floor.predictions, ranking=case.protocol.ranking)
    return {
        "n_queries": case.annotations.n_queries,
        "n_answered": int(first.answered.sum()),
        "statuses": _statuses(floor.predictions),
        "versus": [{"measure": str(of)} | _paired(results, paired, m) for m, of in enumerate(case.measures)],
    }


def _statuses(answers: Predictions) -> dict[str, int] | None:
    """How many answers in words were understood in which way; None where moments were given as numbers."""
    if answers.status is None:
        return None
    counts = Counter(answers.status.tolist())
    return {status: counts[status] for status in STATUSES}


def _abstention(results: Results) -> dict[str, Any] | None:
    found = results.part(abstention.abstaining)
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
    marked = "* the strongest floor on this split"
    said = [_as_prose(line, style) for line in preamble(audit, source)]
    said += ["", *(_marked(one.level, one.verdict, style) for one in in_order(audit.findings))]
    return [
        *(line for paragraph in said for line in paragraph.split("\n")),
        *("", *table(audit, style=style).splitlines(), ""),
        *(_as_prose(marked, style), _as_prose(closing(audit, seed), style)),
    ]


def preamble(audit: Audit, source: Mapping[str, Any]) -> list[str]:
    """Return what was audited, and against what."""
    results = audit.results
    case, scores = results.case, results.scores
    if case.match is None:
        said = [f"{scores.dataset}/{scores.split}: {len(scores):,} queries, {case.annotations.n_videos:,} videos"]
        said.append(str(source.get("path", case.predictions.name)))
    else:
        said = [value for _, value in of_run.facts(scores, case.match, dict(source))]
    nothing = int(results.split.without_moment.sum())
    if nothing:
        queries = "query without a moment counts" if nothing == 1 else "queries without a moment count"
        said.append(f"{nothing:,} more {queries} only where the method abstains")
    fitted = "no training split, so only those that learn nothing"
    if case.train is not None:
        fitted = f"fitted on {_name(case.train)}"
    said.append(f"floors (baselines that never see the video): {len(results.floors)}, {fitted}")
    if results.n_annotated:
        said.append(
            f"people as ceilings: on {results.n_annotated:,} of {len(scores):,} queries, which several annotated"
        )
    said += [f"left out: {line}" for line in results.left_out]
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


def headline(audit: Audit) -> str:
    """Return the verdict on the main question, which the first check answers."""
    return audit.findings[0].verdict if audit.findings else ""


def figures_by_name(audit: Audit) -> dict[str, float]:
    """Figure of each measure by its text, as a gate names it; NaN where undefined."""
    return {str(measure): audit.results.scores.value(measure) for measure in audit.results.case.measures}


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

    The strongest floor of each measure is marked with a star. In the terminal, columns that do not fit are below.
    """
    results = audit.results
    baselines = (*results.floors, *results.ceilings)
    of_systems: list[Scores] = [results.scores, *(of.scores for of in baselines)]
    headings = ["measure, %", one_line(results.case.predictions.name), *(of.title for of in baselines)]
    if style == "plain":
        headings = [headings[0], "method", *(_narrow(of.title) for of in baselines)]
    elif style == "md":
        headings = [escaped(heading, style) for heading in headings]
    rows = []
    for m, measure in enumerate(results.case.measures):
        figures = [scores.value(measure) for scores in of_systems]
        cells = [percent(results, value) for value in figures]
        strongest = 1 + int(results.verdict.strongest[m])
        marks = ["*" if system == strongest and math.isfinite(figures[system]) else "" for system in range(len(cells))]
        if style == "plain":  # so that figures stand below each other
            cells = [f"{cell}{mark or ' '}" for cell, mark in zip(cells, marks, strict=True)]
        else:
            cells = [cell + escaped(mark, style) for cell, mark in zip(cells, marks, strict=True)]
        rows.append([str(measure), *cells])
    text = render(headings, rows, style=style, numbers=range(1, len(headings)))
    return folded(tightened(text)) if style == "plain" else text


def percent(results: Results, value: float) -> str:
    """Print a fraction in percent as the protocol does; a dash where it is undefined."""
    return results.case.protocol.percent(value) if math.isfinite(value) else "-"


def _narrow(heading: str) -> str:
    """Break a heading into short lines."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=-)(?=\w)", " ", heading.partition(" (")[0])
    return "\n".join(textwrap.wrap(words, 8, break_long_words=False, break_on_hyphens=False))


def closing(audit: Audit, seed: int) -> str:
    """Return the signature that belongs to every figure."""
    case = audit.results.case
    draws = f"intervals:{case.resamples} resamples of videos|tests:{case.permutations} swaps|seed:{seed}"
    return one_line(f"{audit.results.scores.signature()}|{draws}")
