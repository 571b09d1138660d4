"""Whether the answers contradict the declaration of what the method reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truemoment.base.boundary.documents import Measured
from truemoment.report.model import Level
from truemoment.report.words import counted, low_to_high, number, p_value, percent
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.declaration import Declaration, differing_shares
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.order_following import CONTRADICTED, FEWEST, LEAST_BOUND, LEAST_SHARE, REACH
from truemoment.studies.audit.results import Results

NAME = "reads"

UNTESTED_BECAUSE = f"videos with two sentences or more have fewer than {FEWEST} answers, or the training split too few"
"""Why there is no test of the answers."""

SENTENCE = "declared to read one sentence at a time"


def look(results: Results) -> AuditFinding | None:
    """State the declaration, and whether the answers and the model contradict it."""
    setup, declaration = results.setup, results.declaration
    n_context = sum(floor.reads == "paragraph" for floor in results.floors) + len(results.context)
    shares = results.cached(_differing_shares)
    lines = tuple(_lines(shares, declaration))
    if declaration is None:
        if setup.reads is None and n_context:
            verdict = (
                "It is not declared what the method reads, so the verdict also counts "
                f"{counted(n_context, 'floor that reads', 'floors that read')} the video's other sentences. If the "
                "method reads one sentence at a time, declare it: --reads sentence."
            )
            return AuditFinding(NAME, "note", verdict, lines)
        return AuditFinding(NAME, "note", f"{_model_sentence(shares)}.", lines) if shares else None
    if not declaration.context:
        return AuditFinding(
            NAME, "note", "No floor tried reads more than one sentence, so --reads has no effect.", lines
        )
    following = declaration.following
    follows = (
        f"of its {following.n_queries:,} answers in {following.n_videos:,} videos, a share of "
        f"{number(following.share)} ({low_to_high(following.ci95, 2)}) follows the order of sentences, "
        f"{p_value(following.p)}"
        if following.n_queries >= FEWEST
        else f"{UNTESTED_BECAUSE}, so this cannot be tested"
    )
    if shares:
        follows += f". {_model_sentence(shares)}"
    level, holds, result = _judgement(declaration)
    verdict = f"The method is {SENTENCE}; {follows}. {result}"
    return AuditFinding(NAME, level, verdict, lines, following.share, holds=holds, ci95=following.ci95)


def _judgement(declaration: Declaration) -> tuple[Level, bool | None, str]:
    """Return the level of the finding, whether the declaration holds, and why."""
    if not declaration.holds:
        why = "A method that reads one sentence does not know the order, so the verdict counts all floors."
        return "serious", False, why
    if declaration.matches_model:
        return "good", True, "The model does not contradict it."
    if declaration.following.n_queries < FEWEST:
        return "note", None, "Nothing contradicts it."
    if declaration.following.p <= CONTRADICTED:
        why = (
            "This is more than chance gives, but too little to contradict it: see the floors that read other sentences."
        )
        return "warning", True, why
    return "good", True, "The answers do not contradict it."


def _differing_shares(results: Results) -> dict[str, float]:
    return differing_shares(results.setup)


def _model_sentence(shares: dict[str, float]) -> str:
    queries = " and ".join(f"{percent(share, 1)} of the queries {order}" for order, share in shares.items())
    return f"The model gives other answers for {queries} than in the order of the file"


def _lines(shares: dict[str, float], declaration: Declaration | None) -> Iterator[str]:
    if declaration is not None and declaration.context:
        titles = " and ".join(floor.title for floor in declaration.context)
        yield (
            f"contradicted if p is at most {CONTRADICTED:g} and the share at least {LEAST_SHARE:g}, or its lower bound "
            f"{LEAST_BOUND:g}; the share is about 1 for {titles}, and 0 for a method that does not know the order"
        )
        yield (
            "the test compares the place of each sentence with other places that are as likely, given its annotated "
            "moment and the expectation of the sentence network; annotations may err, so an answer whose start and end "
            f"are within {percent(REACH)} of the video of the annotated ones may be right"
        )
    if shares:
        yield "alone: the model gets each query without the others of its video"


def document(results: Results) -> dict[str, Any]:
    """Return the declaration and its tests."""
    declaration, shares = results.declaration, results.cached(_differing_shares)
    following = None if declaration is None or not declaration.context else declaration.following
    entry = following and {
        "share": Measured(following.share, UNTESTED_BECAUSE, following.ci95),
        "p": following.p,
        "n_queries": following.n_queries,
        "n_videos": following.n_videos,
    }
    return {
        "reads": {
            "declared": results.setup.reads,
            "stands": None if declaration is None else declaration.holds,
            "following": entry,
            "answered_otherwise": shares,
        }
    }


CHECK = Check(
    name=NAME,
    title="What the method reads",
    looks_at="whether a method declared to read one sentence at a time follows the order of sentences (`--reads`)",
    look=look,
    passes="nothing contradicts the declaration",
    figure="share of the answers that follow the order",
    document=document,
)
