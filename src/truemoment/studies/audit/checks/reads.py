"""What the method is declared to read of a video's sentences, and whether its answers contradict that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truemoment.base.boundary.documents import Measured
from truemoment.report.words import counted, low_to_high, number, p_value, percent
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.declaration import Declaration, otherwise
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.order_following import CONTRADICTED, LEAST_SHARE
from truemoment.studies.audit.results import Results

NAME = "reads"

SENTENCE = "declared to read one sentence at a time"


def look(results: Results) -> AuditFinding | None:
    """State what is declared, and what the answers and the model say of it."""
    setup, declaration = results.setup, results.declaration
    n_context = sum(of.reads == "paragraph" for of in results.floors) + len(results.context)
    asked = results.cached(_asked)
    lines = tuple(_lines(asked, declaration))
    if declaration is None:
        if setup.reads is None and n_context:
            verdict = (
                "It is not declared what the method reads, so the verdict is also against "
                f"{counted(n_context, 'floor that reads', 'floors that read')} the video's other sentences. If it "
                "reads one sentence at a time: --reads sentence."
            )
            return AuditFinding(NAME, "note", verdict, lines)
        return AuditFinding(NAME, "note", f"{_of_model(asked)}.", lines) if asked else None
    if not declaration.context:
        return AuditFinding(
            NAME, "note", "No floor tried reads more than one sentence, so --reads has no effect.", lines
        )
    found = declaration.following
    follows = (
        f"its {found.n_queries:,} misses in {found.n_videos:,} videos follow the order of sentences by "
        f"{number(found.share)} ({low_to_high(found.ci95, 2)}) of what floors of order do, {p_value(found.p)}"
        if found.n_queries
        else "it has no video with two misses to test that with"
    )
    if asked:
        follows += f". {_of_model(asked)}"
    if declaration.stands:
        verdict = f"The method is {SENTENCE}; {follows}. The answers do not contradict it."
        return AuditFinding(NAME, "good", verdict, lines, found.share, holds=True, ci95=found.ci95)
    verdict = (
        f"The method is {SENTENCE}, but {follows}. A method that reads one sentence does not know the order: the "
        "verdict is against all floors."
    )
    return AuditFinding(NAME, "serious", verdict, lines, found.share, holds=False, ci95=found.ci95)


def _asked(results: Results) -> dict[str, float]:
    return otherwise(results.setup)


def _of_model(asked: dict[str, float]) -> str:
    shares = " and ".join(f"{percent(share, 1)} of the queries {how}" for how, share in asked.items())
    return f"The model answers {shares} otherwise than in the order of the file"


def _lines(asked: dict[str, float], declaration: Declaration | None) -> Iterator[str]:
    if declaration is not None and declaration.context:
        yield (
            f"contradicted: p at most {CONTRADICTED:g} and a share of {LEAST_SHARE:g} or more; 1 is what "
            f"{' and '.join(of.title for of in declaration.context)} do, 0 what a method does that does not know the "
            "order"
        )
        yield (
            "only queries that the method misses count, given where the true moment is and what the sentence network "
            "expects; where annotations err by a tenth of the video, a method that sees much better follows the "
            "order too"
        )
    if asked:
        yield "alone: the model is asked each query without the others of its video"


def document(results: Results) -> dict[str, Any]:
    """Return what is declared, and the tests of it."""
    declaration, asked = results.declaration, results.cached(_asked)
    found = None if declaration is None or not declaration.context else declaration.following
    why = "no video has two misses"
    following = found and {
        "share": Measured(found.share, why, found.ci95),
        "p": found.p,
        "n_queries": found.n_queries,
        "n_videos": found.n_videos,
    }
    return {
        "reads": {
            "declared": results.setup.reads,
            "stands": None if declaration is None else declaration.stands,
            "following": following,
            "answered_otherwise": asked,
        }
    }


CHECK = Check(
    name=NAME,
    title="What the method reads",
    looks_at="whether a method declared to read one sentence at a time follows the order of sentences (`--reads`)",
    look=look,
    passes="nothing contradicts the declaration",
    figure="share of the move by the order that misses follow",
    document=document,
)
