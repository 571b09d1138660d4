"""Whether the answers look as if they did not depend on video and sentence, more than the references do."""

from __future__ import annotations

from typing import Any

from truemoment.base.boundary.documents import Measured
from truemoment.report.words import counted
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.entries import statuses
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.first_answers import NEAR_IOU, AnswerPattern, NearPlace, answer_pattern

NAME = "answer-pattern"

EXCESS = 0.2
"""Answers may be that much more alike than references are, as a share of the queries."""

MOST_NEAR = {1: 0.5, 3: 0.8}
"""Share of the answers that may be near one place, or one of three, unless more references are."""


def pattern(results: Results) -> AnswerPattern:
    """Return what the first answers have in common."""
    setup = results.setup
    return answer_pattern(setup.annotations, setup.predictions, ranking=setup.protocol.ranking)


def reference_pattern(results: Results) -> AnswerPattern:
    """Return what the references have in common."""
    return answer_pattern(results.setup.annotations, results.ceiling("perfect").predictions)


def look(results: Results) -> AuditFinding:
    """Compare the pattern of the answers with that of the references."""
    found, of_references = results.cached(pattern), results.cached(reference_pattern)
    if found.n_answered == 0 or not found.most_common:
        return AuditFinding(NAME, "serious", "No query is answered.", _same_text(results), None, holds=False)
    common = found.most_common[0]
    expected = of_references.most_common[0].share if of_references.most_common else 0.0
    place = f"{100 * common.start_norm:.0f}-{100 * common.end_norm:.0f} % of the video"
    problems, lines = [], []
    if common.share > expected + EXCESS:
        problems.append(f"{100 * common.share:.0f} % of the first answers are {place}")
    else:
        problems += _near(found.near, of_references.near)
    for name, share in found.on_grid.items():
        there = of_references.on_grid[name]
        lines.append(f"{name}: {100 * share:.1f} % of first answers, {100 * there:.1f} % of references")
        if share > max(0.5, there + EXCESS):
            problems.append(f"{100 * share:.0f} % of the first answers are {name} (references: {100 * there:.0f} %)")
    lines += [
        f"{100 * answer.start_norm:.0f}-{100 * answer.end_norm:.0f} % of the video: {100 * answer.share:.1f} %"
        for answer in found.most_common
    ]
    lines.append(
        f"near 1 or 3 places (IoU of {NEAR_IOU:g} or more): {_shares(found.near)} of first answers, "
        f"{_shares(of_references.near)} of references"
    )
    different = counted(found.n_distinct, "different answer", "different answers")
    lines.append(f"{different} to {counted(found.n_answered, 'query', 'queries')}, at 1 % of the video")
    if found.n_comparable:
        lines.append(
            f"same answer as another sentence of the same video: {100 * found.repeated:.1f} % of "
            f"{found.n_comparable:,} queries; same reference: {100 * found.repeated_references:.1f} %"
        )
        if found.repeated > found.repeated_references + EXCESS:
            problems.append(
                f"for {100 * found.repeated:.0f} % of queries the answer equals that to another query on the same "
                f"video (references: {100 * found.repeated_references:.0f} %)"
            )
    same_text = _identical_share(results)
    lines += _same_text(results)
    if same_text is not None and same_text > expected + float(results.whole.annotations.without_moment.mean()) + EXCESS:
        problems.append(f"{100 * same_text:.0f} % of the answers are the same text, character by character")
    if problems:
        verdict = "; ".join(problems)
        verdict = f"{verdict[0].upper()}{verdict[1:]}."
        return AuditFinding(NAME, "warning", verdict, tuple(lines), common.share, holds=False)
    verdict = f"The most frequent first answer ({place}) is given to {100 * common.share:.1f} % of the queries."
    return AuditFinding(NAME, "good", verdict, tuple(lines), common.share, holds=True)


def _near(found: tuple[NearPlace, ...], of_references: tuple[NearPlace, ...]) -> list[str]:
    """Return what to report if the answers are near one place, or near three, more than references are."""
    for n, most in MOST_NEAR.items():
        share, there = (sum(place.share for place in places[:n]) for places in (found, of_references))
        if share > max(most, there + EXCESS):
            named = ", ".join(f"{100 * place.start_norm:.0f}-{100 * place.end_norm:.0f} %" for place in found[:n])
            near = f"{100 * share:.0f} % of the first answers are near {named} of the video"
            return [f"{near} (IoU of {NEAR_IOU:g} or more; references: {100 * there:.0f} %)"]
    return []


def _shares(places: tuple[NearPlace, ...]) -> str:
    return " or ".join(f"{100 * sum(place.share for place in places[:n]):.1f} %" for n in MOST_NEAR)


def _identical_share(results: Results) -> float | None:
    """Share of the answers whose text is the most frequent one; None where no answers in words were read."""
    match = results.setup.match
    if match is None or match.parsing is None:
        return None
    return match.parsing.identical / max(sum(match.parsing.counts.values()), 1)


def _same_text(results: Results) -> tuple[str, ...]:
    share = _identical_share(results)
    if share is None:
        return ()
    return (f"answers whose text is the most frequent one, character by character: {100 * share:.1f} %",)


def document(results: Results) -> dict[str, Any]:
    """Return what the first answers have in common, and how answers in words were read."""
    found = results.cached(pattern)
    no_pair = "no video has two queries"
    return {
        "answers": {
            "n_queries": found.n_queries,
            "n_answered": found.n_answered,
            "n_different": found.n_distinct,
            "on_grid": {name: Measured(share, "no query is answered") for name, share in found.on_grid.items()},
            "n_comparable": found.n_comparable,
            "repeated": Measured(found.repeated, no_pair),
            "repeated_references": Measured(found.repeated_references, no_pair),
            "most_common": found.most_common,
            "near": found.near,
            "statuses": statuses(results.whole.predictions),
        }
    }


CHECK = Check(
    name=NAME,
    title="Pattern of the answers",
    looks_at="answers on a coarse grid, the same or nearly the same for many queries, in the same words, or for other "
    "sentences of a video",
    look=look,
    passes="none of these more than among references",
    figure="share of the most frequent answer",
    document=document,
)
