"""The datasheet of a study: how queries were dealt, what people read, what was left out and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from truemoment.base.boundary.documents import document_head
from truemoment.base.boundary.files import sha256_of
from truemoment.base.boundary.text import one_line
from truemoment.data.datasets.random_order import ORDERS
from truemoment.report.words import counted
from truemoment.web.annotating.results import Exported, StudyState
from truemoment.web.annotating.study import StudyFolder

SCHEMA = "truemoment/study-datasheet/1"


def datasheet_document(
    study: StudyFolder, exported: Exported, state: StudyState, moments: str, decisions: Sequence[Mapping[str, object]]
) -> dict[str, Any]:
    """Return the datasheet as programs read it."""
    agreement, answers = exported.agreement, exported.answers.answers
    controls = Counter(answer.control for answer in answers if answer.control and answer.submitted)
    return {
        **document_head(SCHEMA),
        "settings": msgspec.to_builtins(exported.settings),
        "instructions_sha256_now": sha256_of(study.instructions),
        "moments": moments,
        "order": exported.order,
        "counts": {
            "queries": state.n_queries,
            "queries_answered": len(exported.answers.by_query()),
            "answers": agreement.n_answers,
            "answers_begun": sum(not answer.submitted for answer in answers),
            "set_aside": sum(answer.set_aside for answer in answers),
            "people": len(state.people),
            "verdicts": dict(agreement.verdicts),
            "several_moments": agreement.n_several,
            "controls": dict(controls),
            "videos": dict(state.videos),
            "copies_shown": sum(answer.copy for answer in answers),
        },
        "agreement": agreement_document(exported),
        "false_fits": false_fits(exported),
        "people": [_person_document(name, exported, state) for name in state.people],
        "decisions": list(decisions),
        "videos_not_playable": dict(state.not_playable),
        "closed": state.closed,
    }


def agreement_document(exported: Exported) -> dict[str, Any]:
    """Return the agreement of people as JSON."""
    agreement = exported.agreement
    presence = agreement.presence
    return {
        "mean_iou": {"value": agreement.mean_iou, "ci95": agreement.mean_iou_ci95, "n_queries": agreement.n_queries},
        "pairs_at_half": agreement.at_least_half,
        "pairs_disjoint": agreement.disjoint,
        "n_pairs": agreement.n_pairs,
        "presence": None
        if presence is None
        else {
            "share": {"value": presence.share, "ci95": presence.share_ci95},
            "alpha": presence.alpha,
            "disputed": presence.disputed,
            "all_absent": presence.unanimous_absent,
            "n_queries": presence.n_queries,
        },
    }


def false_fits(exported: Exported) -> dict[str, Any] | None:
    """Return the share of "fits" on queries, and on controls that do not fit; None in a study that marks moments."""
    if exported.settings.task != "verify":
        return None
    submitted = [answer for answer in exported.answers.answers if answer.submitted and not answer.set_aside]
    queries = [answer.verdict == "fits" for answer in submitted if not answer.control]
    wrong = [answer.verdict == "fits" for answer in submitted if answer.control in ("moved", "other")]
    return {
        "fits": sum(queries) / len(queries) if queries else None,
        "n_answers": len(queries),
        "false_fits": sum(wrong) / len(wrong) if wrong else None,
        "n_controls": len(wrong),
    }


def _person_document(name: str, exported: Exported, state: StudyState) -> dict[str, Any]:
    scores = exported.people.get(name)
    entry = {"person": name, "state": state.people[name].state, "answers": 0 if scores is None else scores.done}
    return entry if scores is None else entry | scores.document()


def datasheet_text(document: Mapping[str, Any], instructions: str) -> str:
    """Return the datasheet as Markdown."""
    settings, counts, agreement = document["settings"], document["counts"], document["agreement"]
    spacing = "at least 20 tasks apart where possible" if settings["same_video"] == "apart" else "in any order"
    several = "allowed" if settings["several"] else "not allowed"
    dealt = (
        f"dealt to {counted(settings['people'], 'person', 'people')}"
        if settings["people"]
        else "given to whoever came next"
    )
    controls = ", ".join(f"{name} {100 * share:g} %" for name, share in settings["controls"].items())
    lines = [
        f"# Datasheet: {one_line(settings['title'])}",
        "",
        f"Made by TrueMoment {document['truemoment']} from {one_line(settings['source'])}, seed {settings['seed']}.",
        "",
        "## How it was made",
        "",
        f"- Task: {settings['task']}. {counted(counts['queries'], 'query', 'queries')}, "
        f"{counted(settings['per_query'], 'answer')} each, {dealt}.",
        f"- Two queries of one video: {spacing}.",
        f"- Several moments in an answer: {several}. Playing a moment before "
        f"submitting: {settings['review']}. Sound: {'on' if settings['sound'] else 'off'}.",
        f"- Controls, as a share of a person's tasks: {controls}. Practice tasks: {settings['practice']}.",
        "",
        "## What came back",
        "",
        f"- {counted(counts['answers'], 'answer')} to {counted(counts['queries_answered'], 'query', 'queries')}: "
        f"{_counts(counts['verdicts'])}.",
        f"- Order: {ORDERS[document['order']]}.",
        f"- {counted(counts['several_moments'], 'answer has', 'answers have')} several moments. In "
        f"`annotations.jsonl`: {document['moments']}.",
        f"- Begun and not submitted: {counts['answers_begun']:,}. Set aside by the owner: {counts['set_aside']:,}.",
        f"- Control answers, never part of the annotations: {_counts(counts['controls'])}.",
        f"- Videos: {_counts(counts['videos'])}. Answers on a playable copy: {counts['copies_shown']:,}.",
        "",
        "## Agreement",
        "",
        *_agreement_lines(agreement),
        *_fits_lines(document["false_fits"]),
        "",
        "## People",
        "",
        "| person | state | answers | median s | repeats | gold | absent | agrees with others | flags |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *map(_person_line, document["people"]),
        "",
        "## Decisions of the owner",
        "",
        *(_decision_line(decision) for decision in document["decisions"]),
        *([] if document["decisions"] else ["None."]),
        "",
        f"## What people read (SHA-256 {settings['instructions_sha256'][:16]}...)",
        "",
        *(f"> {line}".rstrip() for line in instructions.splitlines()),
        "",
    ]
    return "\n".join(lines)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name or 'no answer'} {count:,}" for name, count in sorted(counts.items())) or "none"


def _figure(value: float | None, digits: int = 2) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def _agreement_lines(agreement: Mapping[str, Any]) -> list[str]:
    mean, presence = agreement["mean_iou"], agreement["presence"]
    low, high = mean["ci95"]
    lines = [
        f"- Mean SetIoU of two people: {_figure(mean['value'], 3)} (95 % interval {_figure(low, 3)} to "
        f"{_figure(high, 3)}), over {mean['n_queries']:,} queries and {agreement['n_pairs']:,} pairs.",
        f"- Pairs with 0.5 or more: {_figure(agreement['pairs_at_half'])}. Pairs without overlap: "
        f"{_figure(agreement['pairs_disjoint'])}.",
    ]
    if presence is not None:
        lines.append(
            f"- Presence: two people agree on {_figure(presence['share']['value'], 3)} of pairs, alpha "
            f"{_figure(presence['alpha'])}; {presence['disputed']:,} queries are disputed, {presence['all_absent']:,} "
            "are absent for everybody."
        )
    return lines


def _fits_lines(fits: Mapping[str, Any] | None) -> list[str]:
    if fits is None:
        return []
    return [
        f"- Fits: {_figure(fits['fits'])} of {fits['n_answers']:,} answers. False fits on controls: "
        f"{_figure(fits['false_fits'])} of {fits['n_controls']:,}."
    ]


def _person_line(person: Mapping[str, Any]) -> str:
    if not person["answers"]:
        return f"| {person['person']} | {person['state']} | 0 | - | - | - | - | - | |"
    gold, absent = ("/".join(map(str, person[name])) for name in ("gold", "absent"))
    cells = (
        person["person"],
        person["state"],
        person["answers"],
        _figure(person["median_s"], 0),
        _figure(person["self_iou"]),
        gold,
        absent,
        _figure(person["agreement"]),
        ", ".join(person["flags"]),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _decision_line(decision: Mapping[str, Any]) -> str:
    where = f", query {decision['query_id']}" if decision["query_id"] else ""
    why = f": {one_line(decision['why'])}" if decision["why"] else ""
    return f"- {decision['what']}: {decision['person'] or 'the study'}{where}{why}"
