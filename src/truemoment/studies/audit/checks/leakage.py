"""Whether other splits contain videos or sentences of the audited one."""

from __future__ import annotations

from typing import Any, NamedTuple

from truemoment.data.datasets.faults import normalised_sentence
from truemoment.report.model import Level
from truemoment.report.words import listed
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

NAME = "leakage"


class Leak(NamedTuple):
    """Videos and sentences that another split shares with the audited one."""

    split: str
    n_videos: int
    n_sentences: int  # audited queries whose sentence is in it, ignoring case, outer blanks and a last full stop


def leaks(results: Results) -> tuple[Leak, ...]:
    """Compare the audited split with every other split."""
    whole = results.whole
    videos = set(whole.annotations.video_id)
    sentences = [normalised_sentence(sentence) for sentence in whole.annotations.queries.sentence]
    leaks = []
    for other in whole.splits.others:
        known = {normalised_sentence(sentence) for sentence in other.queries.sentence}
        shared = sum(sentence in known for sentence in sentences)
        leaks.append(Leak(other.split, len(videos & set(other.video_id)), shared))
    return tuple(leaks)


def look(results: Results) -> AuditFinding | None:
    """State which splits share videos or sentences."""
    split, overlaps = results.whole.annotations, results.cached(leaks)
    if not overlaps:
        return None
    n_queries, n_videos = split.n_queries, split.n_videos
    shared = [leak for leak in overlaps if leak.n_videos]
    worst = max(overlaps, key=lambda leak: leak.n_sentences)
    verbatim = worst.n_sentences / n_queries
    lines = tuple(
        f"{leak.split}: {leak.n_videos:,} of {n_videos:,} videos, {leak.n_sentences:,} of {n_queries:,} sentences"
        for leak in overlaps
    )
    if shared:
        names = " and ".join(f"{leak.split} ({leak.n_videos:,} of {n_videos:,})" for leak in shared)
        verdict = (
            f"Videos of {split.split} are also in {names}, so a model that is trained or selected there has seen "
            "videos under test."
        )
        most = max(leak.n_videos for leak in shared)
        return AuditFinding(NAME, "serious", verdict, lines, most / n_videos, holds=False)
    level: Level = "warning" if verbatim > 0.2 else "note" if verbatim > 0 else "good"
    others = listed([leak.split for leak in overlaps], "or")
    verdict = (
        f"No video of {split.split} is in {others}; {100 * verbatim:.0f} % of its sentences ({worst.n_sentences:,} of "
        f"{n_queries:,}) are verbatim in {worst.split}."
    )
    return AuditFinding(NAME, level, verdict, lines, 0.0, holds=True)


def document(results: Results) -> dict[str, Any]:
    """Return the numbers of videos and sentences that each other split shares with the audited one."""
    return {"leaks": results.cached(leaks)}


CHECK = Check(
    name=NAME,
    title="Other splits",
    looks_at="videos and sentences of this split in other splits",
    look=look,
    passes="no video is in another split",
    figure="share of the videos that are",
    document=document,
)
