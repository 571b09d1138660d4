"""Whether the answers look as if they did not depend on video and sentence, more than the references do."""

from __future__ import annotations

from truemoment.auditing.checks.base import Check
from truemoment.auditing.findings import Finding
from truemoment.auditing.results import Results
from truemoment.auditing.words import some
from truemoment.diagnosis.answers import AnswerPattern, answer_pattern

NAME = "answer-pattern"

EXCESS = 0.2
"""Answers may be that much more alike than references are, as a share of the queries."""


def pattern(results: Results) -> AnswerPattern:
    """Return what the first answers have in common."""
    case = results.case
    return answer_pattern(case.annotations, case.predictions, ranking=case.protocol.ranking)


def reference_pattern(results: Results) -> AnswerPattern:
    """Return what the references have in common."""
    return answer_pattern(results.case.annotations, results.ceiling("perfect").predictions)


def look(results: Results) -> Finding:
    """Compare the pattern of the answers with that of the references."""
    found, of_references = results.part(pattern), results.part(reference_pattern)
    if found.n_answered == 0 or not found.most_common:
        return Finding(NAME, "serious", "No query is answered.", _same_text(results), None, holds=False)
    common = found.most_common[0]
    expected = of_references.most_common[0].share if of_references.most_common else 0.0
    place = f"{100 * common.start_norm:.0f}-{100 * common.end_norm:.0f} % of the video"
    problems, lines = [], []
    if common.share > expected + EXCESS:
        problems.append(f"{100 * common.share:.0f} % of the first answers are {place}")
    for name, share in found.on_grid.items():
        there = of_references.on_grid[name]
        lines.append(f"{name}: {100 * share:.1f} % of first answers, {100 * there:.1f} % of references")
        if share > max(0.5, there + EXCESS):
            problems.append(f"{100 * share:.0f} % of the first answers are {name} (references: {100 * there:.0f} %)")
    lines += [
        f"{100 * answer.start_norm:.0f}-{100 * answer.end_norm:.0f} % of the video: {100 * answer.share:.1f} %"
        for answer in found.most_common
    ]
    different = some(found.n_distinct, "different answer", "different answers")
    lines.append(f"{different} to {some(found.n_answered, 'query', 'queries')}, at 1 % of the video")
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
    if same_text is not None and same_text > expected + float(results.split.without_moment.mean()) + EXCESS:
        problems.append(f"{100 * same_text:.0f} % of the answers are the same text, character by character")
    if problems:
        verdict = "; ".join(problems)
        verdict = f"{verdict[0].upper()}{verdict[1:]}."
        return Finding(NAME, "warning", verdict, tuple(lines), common.share, holds=False)
    verdict = f"The most frequent first answer ({place}) is given to {100 * common.share:.1f} % of the queries."
    return Finding(NAME, "good", verdict, tuple(lines), common.share, holds=True)


def _identical_share(results: Results) -> float | None:
    """Share of the answers whose text is the most frequent one; None where no answers in words were read."""
    match = results.case.match
    if match is None or match.parsing is None:
        return None
    return match.parsing.identical / max(sum(match.parsing.counts.values()), 1)


def _same_text(results: Results) -> tuple[str, ...]:
    share = _identical_share(results)
    if share is None:
        return ()
    return (f"answers whose text is the most frequent one, character by character: {100 * share:.1f} %",)


CHECK = Check(
    NAME,
    look,
    "answers on a coarse grid, the same for many queries, in the same words, or for other sentences of a video",
    "none of these more than among references",
    "share of the most frequent answer",
)
