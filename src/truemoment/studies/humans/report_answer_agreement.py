"""The report on answers that may be "not in the video", or several moments: a table and its JSON."""

from __future__ import annotations

from typing import Any

from truemoment.base.boundary.documents import Measured
from truemoment.report.model import Cell, Table
from truemoment.report.words import UNDEFINED, low_to_high, number
from truemoment.studies.humans.answer_agreement import AnswerAgreement


def answers_table(found: AnswerAgreement) -> Table:
    """Return the table of all answers of a study: verdicts, presence, and place by SetIoU."""
    rows = [(f"answers: {verdict or 'none'}", f"{count:,}", "") for verdict, count in sorted(found.verdicts.items())]
    rows.append(("answers with several moments", f"{found.n_several:,}", ""))
    presence = found.presence
    if presence is not None:
        rows += [
            (
                "two annotators agree on presence, %",
                number(100 * presence.share, 1),
                low_to_high(presence.share_ci95, 1, times=100),
            ),
            ("Krippendorff's alpha, presence", number(presence.alpha, 3), ""),
            ("queries: annotators disagree on presence", f"{presence.disputed:,}", ""),
            ("queries: absent for all annotators", f"{presence.unanimous_absent:,}", ""),
        ]
    if found.n_pairs:
        rows += [
            ("mean SetIoU of two annotators", number(found.mean_iou, 3), low_to_high(found.mean_iou_ci95, 3)),
            ("pairs with SetIoU of 0.5 or more, %", number(100 * found.at_least_half, 1), ""),
            ("pairs that do not overlap, %", number(100 * found.disjoint, 1), ""),
        ]
    cells = tuple((Cell(label), Cell(value), Cell(interval or UNDEFINED)) for label, value, interval in rows)
    return Table("All answers", ("", "value", "95 % interval"), (("", cells),), text_columns=(0, 2))


def answers_document(found: AnswerAgreement) -> dict[str, Any]:
    """Return the same as JSON."""
    presence = found.presence
    no_two = "no query has two such answers"
    return {
        "verdicts": dict(found.verdicts),
        "n_answers": found.n_answers,
        "several_moments": found.n_several,
        "presence": None
        if presence is None
        else {
            "agreement": Measured(presence.share, ci95=presence.share_ci95),
            "alpha": Measured(presence.alpha, why="all answers are equal", unit=""),
            "disputed": presence.disputed,
            "all_absent": presence.unanimous_absent,
            "n_queries": presence.n_queries,
        },
        "set_iou": {
            "mean": Measured(found.mean_iou, why=no_two, ci95=found.mean_iou_ci95),
            "at_least_half": Measured(found.at_least_half, why=no_two),
            "disjoint": Measured(found.disjoint, why=no_two),
            "n_pairs": found.n_pairs,
            "n_queries": found.n_queries,
        },
    }
