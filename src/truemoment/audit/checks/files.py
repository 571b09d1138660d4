"""Whether answers, references and splits are what they must be."""

from __future__ import annotations

from truemoment.audit.checks.words import some
from truemoment.audit.findings import Finding, Level
from truemoment.audit.material import Material

EXCESS = 0.2
"""Answers may be that much more alike than references are, as a share of the queries."""


def answer_pattern(material: Material) -> Finding:
    """Tell whether the answers look as if they did not depend on video and sentence, more than the references do."""
    pattern, of_references = material.pattern, material.reference_pattern
    if pattern.n_answered == 0 or not pattern.most_common:
        return Finding("answer-pattern", "serious", "No query is answered.", _same_text(material), None, holds=False)
    common = pattern.most_common[0]
    expected = of_references.most_common[0].share if of_references.most_common else 0.0
    place = f"{100 * common.start_norm:.0f}-{100 * common.end_norm:.0f} % of the video"
    problems, lines = [], []
    if common.share > expected + EXCESS:
        problems.append(f"{100 * common.share:.0f} % of first answers are the same {place}")
    for name, share in pattern.on_grid.items():
        of_them = of_references.on_grid[name]
        lines.append(f"{name}: {100 * share:.1f} % of first answers, {100 * of_them:.1f} % of references")
        if share > max(0.5, of_them + EXCESS):
            problems.append(f"{100 * share:.0f} % of first answers lie on {name} (references: {100 * of_them:.0f} %)")
    lines += [
        f"{100 * answer.start_norm:.0f}-{100 * answer.end_norm:.0f} % of the video: {100 * answer.share:.1f} %"
        for answer in pattern.most_common
    ]
    different = some(pattern.n_distinct, "different answer", "different answers")
    lines.append(f"{different} to {some(pattern.n_answered, 'query', 'queries')}, at 1 % of the video")
    if pattern.n_comparable:
        lines.append(
            f"same answer as another sentence of the same video: {100 * pattern.repeated:.1f} % of "
            f"{pattern.n_comparable:,} queries; same reference: {100 * pattern.repeated_references:.1f} %"
        )
        if pattern.repeated > pattern.repeated_references + EXCESS:
            problems.append(
                f"{100 * pattern.repeated:.0f} % of queries get the answer of another sentence of the same video "
                f"(references: {100 * pattern.repeated_references:.0f} %)"
            )
    same_text = _identical_share(material)
    lines += _same_text(material)
    if same_text is not None and same_text > expected + float(material.split.without_moment.mean()) + EXCESS:
        problems.append(f"{100 * same_text:.0f} % of the answers are the same text, to the letter")
    if problems:
        return Finding("answer-pattern", "warning", f"{'; '.join(problems)}.", tuple(lines), common.share, holds=False)
    verdict = f"The most frequent first answer ({place}) is given to {100 * common.share:.1f} % of the queries."
    return Finding("answer-pattern", "good", verdict, tuple(lines), common.share, holds=True)


def _identical_share(material: Material) -> float | None:
    """Share of the answers whose text is the most frequent one, to the letter; None where no answers were read."""
    match = material.case.match
    if match is None or match.parsing is None:
        return None
    return match.parsing.identical / max(sum(match.parsing.counts.values()), 1)


def _same_text(material: Material) -> tuple[str, ...]:
    share = _identical_share(material)
    if share is None:
        return ()
    return (f"answers whose text is the most frequent one, to the letter: {100 * share:.1f} %",)


def validity(material: Material) -> Finding | None:
    """Tell whether the answers are moments of their videos, and every query is answered."""
    match = material.case.match
    if match is None:
        return None
    n_silent = match.empty if material.abstaining is None else material.abstaining.n_wrongly
    faults = (
        (match.missing, "query has no row", "queries have no row"),
        (n_silent, "query is answered with no moment", "queries are answered with no moment"),
        (match.unmatched, "row belongs to no query", "rows belong to no query"),
        (match.past_end, "answer ends past the end of its video", "answers end past the end of their video"),
        (match.zero_length, "answer has zero length", "answers have zero length"),
        (match.swapped, "answer ends before it starts", "answers end before they start"),
        (match.clipped, "answer had a negative time", "answers had a negative time"),
    )
    remarks = (
        (match.ties, "list holds equal scores", "lists hold equal scores"),
        (match.reordered, "list does not stand by falling score", "lists do not stand by falling score"),
    )
    not_seconds = [sign for sign in match.signs if "--axis" in sign]
    problems = [some(*fault) for fault in faults if fault[0]]
    said = [*not_seconds, *problems, *(some(*remark) for remark in remarks if remark[0])]
    astray = match.past_end + match.zero_length + match.swapped
    share = astray / match.moments if match.moments else None
    if not said:
        return Finding("validity", "good", "Every query is answered with moments of its video.", (), share, holds=True)
    of = f"{some(match.moments, 'answer', 'answers')} to {some(material.split.n_queries, 'query', 'queries')}"
    level: Level = "warning" if problems or not_seconds else "note"
    verdict = f"{'; '.join(said[:3])}; of {of}."
    return Finding("validity", level, f"{verdict[0].upper()}{verdict[1:]}", tuple(said), share, not problems)


def leakage(material: Material) -> Finding | None:
    """Tell whether other splits hold the audited videos or sentences."""
    split = material.split
    if not material.leaks:
        return None
    n_queries, n_videos = split.n_queries, split.n_videos
    shared = [leak for leak in material.leaks if leak.n_videos]
    worst = max(material.leaks, key=lambda leak: leak.n_sentences)
    verbatim = worst.n_sentences / n_queries
    lines = tuple(
        f"{leak.split}: {leak.n_videos:,} of {n_videos:,} videos, {leak.n_sentences:,} of {n_queries:,} sentences"
        for leak in material.leaks
    )
    if shared:
        which = " and ".join(f"{leak.split} ({leak.n_videos:,} of {n_videos:,})" for leak in shared)
        verdict = (
            f"Videos of {split.split} also stand in {which}: whatever was trained or chosen there was "
            f"trained or chosen on the videos under test."
        )
        most = max(leak.n_videos for leak in shared)
        return Finding("leakage", "serious", verdict, lines, most / n_videos, holds=False)
    level: Level = "warning" if verbatim > 0.2 else "note" if verbatim > 0 else "good"
    looked_at = ", ".join(leak.split for leak in material.leaks)
    verdict = (
        f"No video of {split.split} stands in {looked_at}; {100 * verbatim:.0f} % of its sentences "
        f"({worst.n_sentences:,} of {n_queries:,}) stand verbatim in {worst.split}."
    )
    return Finding("leakage", level, verdict, lines, 0.0, holds=True)


def references(material: Material) -> Finding:
    """Tell whether the references are moments of their videos."""
    annotations = material.case.annotations
    past = annotations.end_s > annotations.duration_s + 1e-6
    empty = annotations.end_s <= annotations.start_s
    outside = (annotations.start_s >= annotations.duration_s) | (annotations.start_s < 0)
    total = f"of {len(annotations):,} references"
    lines = tuple(
        f"{int(marked.sum()):,} {total} {one if marked.sum() == 1 else many}"
        for marked, one, many in (
            (past, "ends past the end of its video", "end past the end of their video"),
            (empty, "is empty or swapped", "are empty or swapped"),
            (outside, "starts outside its video", "start outside their video"),
        )
        if marked.any()
    )
    if not lines:
        return Finding("references", "good", "Every reference is a moment of its video.", (), 0.0)
    verdict = lines[0]
    m = material.case.headline
    if past.any() and material.case.protocol.references in ("nearest", "first", "representative", "rows"):
        measure = material.case.measures[m]
        perfect = next(rival for rival in material.ceilings if rival.name == "perfect").scores.value(measure)
        verdict += (
            f"; an answer that is right but held to the video's length scores "
            f"{material.case.protocol.percent(perfect)} at {measure}"
        )
    return Finding("references", "note", f"{verdict}.", lines, float((past | empty | outside).mean()))
