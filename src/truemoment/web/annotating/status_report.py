"""The report on a study: who is done, how well people agree, and how controls were answered."""

from __future__ import annotations

import math
from typing import Any

from truemoment.base.boundary.documents import document_head
from truemoment.report.model import Cell, Paragraph, Report, Section, Table
from truemoment.web.annotating.status import StudyStatus

SCHEMA = "truemoment/study-status/1"


def document(status: StudyStatus) -> dict[str, Any]:
    """Return the status as programs read it."""
    agreement, presence = status.agreement, status.agreement.presence
    return {
        **document_head(SCHEMA),
        "study": status.settings.name,
        "seed": status.settings.seed,
        "answers": agreement.n_answers,
        "needed": status.needed,
        "state": status.state.state,
        "closed": status.state.closed,
        "verdicts": agreement.verdicts,
        "mean_iou": {"value": agreement.mean_iou, "ci95": agreement.mean_iou_ci95},
        "presence": None if presence is None else {"share": presence.share, "alpha": presence.alpha},
        "videos": status.state.videos,
        "not_playable": status.state.not_playable,
        "people": [_person(name, status) for name in status.state.people],
    }


def _person(name: str, status: StudyStatus) -> dict[str, Any]:
    person = status.state.people[name]
    entry: dict[str, Any] = {"person": name, "state": person.state, "done": person.done, "tasks": person.tasks}
    scores = status.people.get(name)
    return entry if scores is None else entry | scores.document()


def report(status: StudyStatus) -> Report:
    """Return the status for people."""
    agreement = status.agreement
    share = 100 * agreement.n_answers / status.needed if status.needed else 0.0
    lines = [
        f"{status.settings.name}: {agreement.n_answers:,} of {status.needed:,} answers ({share:.0f} %), "
        f"{status.state.state}.",
        "Videos: "
        + (", ".join(f"{name} {count:,}" for name, count in sorted(status.state.videos.items())) or "none")
        + ".",
    ]
    if agreement.verdicts:
        verdicts = ", ".join(f"{name} {count:,}" for name, count in sorted(agreement.verdicts.items()))
        lines.append(f"Answers: {verdicts}.")
    if agreement.n_pairs:
        lines.append(
            f"Mean SetIoU of two people: {agreement.mean_iou:.3f}; pairs at 0.5 or more "
            f"{100 * agreement.at_least_half:.0f} %; without overlap {100 * agreement.disjoint:.0f} %."
        )
    if agreement.presence is not None:
        lines.append(f"Two people agree on presence in {100 * agreement.presence.share:.0f} % of pairs.")
    lines += [f"Not playable: {name}: {why}" for name, why in status.state.not_playable.items()]
    rows = tuple(_row(_person(name, status)) for name in status.state.people)
    headings = ("person", "state", "done", "median s", "repeats", "gold", "absent", "with others", "flags")
    blocks: list[Paragraph | Table] = [Paragraph(line) for line in lines]
    if rows:
        blocks.append(Table("People", headings, (("", rows),), text_columns=(0, 1, 8)))
    return Report(title=f"Study {status.settings.name}", sections=(Section("status", "Status", tuple(blocks)),))


def _row(person: dict[str, Any]) -> tuple[Cell, ...]:
    def figure(name: str, digits: int) -> str:
        value = person.get(name)
        return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"

    def of_controls(name: str) -> str:
        right, total = person.get(name, (0, 0))
        return f"{right}/{total}" if total else "-"

    texts = (
        person["person"],
        person["state"],
        f"{person['done']}/{person['tasks']}",
        figure("median_s", 0),
        figure("self_iou", 2),
        of_controls("gold"),
        of_controls("absent"),
        figure("agreement", 2),
        ", ".join(person.get("flags", ())),
    )
    return tuple(map(Cell, texts))
