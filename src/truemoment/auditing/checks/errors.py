"""What the wrong first answers are, and what correcting each kind would give."""

from __future__ import annotations

from truemoment.auditing.checks.base import Check
from truemoment.auditing.findings import Finding
from truemoment.auditing.results import Results
from truemoment.auditing.words import points
from truemoment.diagnosis.errors import ErrorKinds, error_kinds
from truemoment.measures import DiscountedRecall, Recall

NAME = "errors"

ERRORS = {
    "too long": "of top-1 predictions contain the reference but are too long",
    "too short": "of top-1 predictions lie within the reference but are too short",
    "shifted": "of top-1 predictions are in the right place with the wrong extent",
    "wrong place": "of top-1 predictions miss the reference",
    "empty or swapped": "of top-1 predictions do not end after they start",
    "no answer": "of the queries have no prediction that could be read",
    "hidden": "of the queries have a right prediction that is not ranked first",
    "hidden by duplicates": "of the queries have a right prediction behind repetitions of a wrong one",
}
"""What kinds of error are, in words behind a share."""


def errors(results: Results) -> ErrorKinds:
    """Classify the first answers at the headline's threshold."""
    case, headline = results.case, results.measure
    threshold = headline.iou if isinstance(headline, Recall | DiscountedRecall) else 0.5
    return error_kinds(case.annotations, case.predictions, threshold, case.protocol)


def look(results: Results) -> Finding:
    """Name the main error."""
    kinds = results.part(errors)
    measure = kinds.measures[0]
    lines = tuple(
        f"{kind.kind}: {kind.n_queries:,} ({100 * kind.share:.1f} %)"
        + (f", correcting them adds {points(kind.gain[0])} points of {measure}" if kind.gain[0] > 0 else "")
        for kind in kinds.table
    )
    wrong = [kind for kind in kinds.table if kind.gain[0] > 0]
    if not wrong:
        sound = kinds.figures[0] == 1
        verdict = "No first answer is wrong." if sound else "No first answer can be corrected: references are faulty."
        return Finding(NAME, "good" if sound else "note", verdict, lines)
    largest = max(wrong, key=lambda kind: kind.gain[0])
    verdict = (
        f"Main error: {100 * largest.share:.0f} % {ERRORS.get(largest.kind, largest.kind)} ('{largest.kind}'). "
        f"Correcting them would add {points(largest.gain[0])} points of {measure}."
    )
    return Finding(NAME, "note", verdict, lines, float(largest.share))


CHECK = Check(
    NAME,
    look,
    "kinds of wrong first answers, and what correcting each would give",
    figure="share of the queries of the main error",
)
