"""Whether the answers are alike for many queries, more than the references are."""

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
"""Share of the queries by which answers may be more alike than references are."""

MOST_NEAR = {1: 0.5, 3: 0.8}
"""Maximum share of the answers near one place, or near one of three, unless more references are."""


def pattern(results: Results) -> AnswerPattern:
    """Return the pattern of the first answers: grids, repetitions, common places."""
    setup = results.setup
    return answer_pattern(setup.annotations, setup.predictions, ranking=setup.protocol.ranking)


def reference_pattern(results: Results) -> AnswerPattern:
    """Return the pattern of the references."""
    return answer_pattern(results.setup.annotations, results.ceiling("perfect").predictions)


def look(results: Results) -> AuditFinding:
    """Compare the pattern of the answers with that of the references."""
    answers, references = results.cached(pattern), results.cached(reference_pattern)
    if answers.n_answered == 0 or not answers.most_common:
        return AuditFinding(NAME, "serious", "No query is answered.", _same_text(results), None, holds=False)
    common = answers.most_common[0]
    expected = references.most_common[0].share if references.most_common else 0.0
    place = f"{100 * common.start_norm:.0f}-{100 * common.end_norm:.0f} % of the video"
    problems, lines = [], []
    if common.share > expected + EXCESS:
        problems.append(f"{100 * common.share:.0f} % of the first answers are {place}")
    else:
        problems += _near(answers.near, references.near)
    for name, share in answers.on_grid.items():
        reference_share = references.on_grid[name]
        lines.append(f"{name}: {100 * share:.1f} % of first answers, {100 * reference_share:.1f} % of references")
        if share > max(0.5, reference_share + EXCESS):
            problems.append(
                f"{100 * share:.0f} % of the first answers are {name} (references: {100 * reference_share:.0f} %)"
            )
    lines += [
        f"{100 * answer.start_norm:.0f}-{100 * answer.end_norm:.0f} % of the video: {100 * answer.share:.1f} %"
        for answer in answers.most_common
    ]
    lines.append(
        f"near 1 or 3 places (IoU of {NEAR_IOU:g} or more): {_shares(answers.near)} of first answers, "
        f"{_shares(references.near)} of references"
    )
    different = counted(answers.n_distinct, "different answer", "different answers")
    lines.append(f"{different} to {counted(answers.n_answered, 'query', 'queries')}, at 1 % of the video")
    if answers.n_comparable:
        lines.append(
            f"same answer as another sentence of the same video: {100 * answers.repeated:.1f} % of "
            f"{answers.n_comparable:,} queries; same reference: {100 * answers.repeated_references:.1f} %"
        )
        if answers.repeated > answers.repeated_references + EXCESS:
            problems.append(
                f"for {100 * answers.repeated:.0f} % of queries the answer equals that to another query on the same "
                f"video (references: {100 * answers.repeated_references:.0f} %)"
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


def _near(answers: tuple[NearPlace, ...], references: tuple[NearPlace, ...]) -> list[str]:
    """Return a problem if more answers than references are near one place, or near one of three."""
    for n, most in MOST_NEAR.items():
        share, reference_share = (sum(place.share for place in places[:n]) for places in (answers, references))
        if share > max(most, reference_share + EXCESS):
            named = ", ".join(f"{100 * place.start_norm:.0f}-{100 * place.end_norm:.0f} %" for place in answers[:n])
            problem = f"{100 * share:.0f} % of the first answers are near {named} of the video"
            return [f"{problem} (IoU of {NEAR_IOU:g} or more; references: {100 * reference_share:.0f} %)"]
    return []


def _shares(places: tuple[NearPlace, ...]) -> str:
    return " or ".join(f"{100 * sum(place.share for place in places[:n]):.1f} %" for n in MOST_NEAR)


def _identical_share(results: Results) -> float | None:
    """Return the share of the answers with the most frequent text; None if no answers in words were read."""
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
    """Return the pattern of the first answers, and the statuses of answers in words."""
    answers = results.cached(pattern)
    no_pair = "no video has two queries"
    return {
        "answers": {
            "n_queries": answers.n_queries,
            "n_answered": answers.n_answered,
            "n_different": answers.n_distinct,
            "on_grid": {name: Measured(share, "no query is answered") for name, share in answers.on_grid.items()},
            "n_comparable": answers.n_comparable,
            "repeated": Measured(answers.repeated, no_pair),
            "repeated_references": Measured(answers.repeated_references, no_pair),
            "most_common": answers.most_common,
            "near": answers.near,
            "statuses": statuses(results.whole.predictions),
        }
    }


CHECK = Check(
    name=NAME,
    title="Pattern of the answers",
    looks_at="answers on a coarse grid, and answers that are equal or nearly equal for many queries, for several "
    "sentences of a video, or word by word",
    look=look,
    passes="none of these more than among references",
    figure="share of the most frequent answer",
    document=document,
)
