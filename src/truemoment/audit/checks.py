"""The checks of an audit: each looks at the material and returns a finding, or None where it does not apply.

To add one, write a function here and name it in :data:`CHECKS`. A check never says that two things are equal because
no difference was found: it gives the difference, its interval, and what the split can resolve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from truemoment.audit.findings import Condition, Finding, Level
from truemoment.audit.material import Material, Paired
from truemoment.diagnosis.slices import reference_lengths
from truemoment.exceptions import MeasureError, UsageError
from truemoment.intervals import Bools, Floats
from truemoment.measures import Measure, Recall, parse_measure
from truemoment.protocols import PROTOCOLS
from truemoment.uncertainty import smallest_p

MOSTLY = 0.8
"""A floor that reaches this share of a score makes it mostly a guesser's."""

EXCESS = 0.2
"""Answers may be that much more alike than references are, as a share of the queries."""

LOOSE = 0.4
"""A figure of the whole video as the answer from which a threshold is called loose."""

HALF_THE_VIDEO = 0.5
SIGNIFICANT = 0.05

LOSSES = {
    "too long": "first answers that hold the reference and more",
    "too short": "first answers within the reference",
    "shifted": "first answers in the right place, with the wrong extent",
    "wrong place": "first answers that miss the reference",
    "hidden": "right answers that do not stand first",
    "hidden by duplicates": "right answers behind repetitions of a wrong one",
}
"""What kinds of error are, in words."""


def points(fraction: float, *, sign: bool = False) -> str:
    """Write a difference of two figures in percentage points.

    Examples
    --------
    >>> points(0.0123, sign=True)
    '+1.2'
    """
    rounded = round(100 * fraction, 1) + 0.0  # no "-0.0"
    return f"{rounded:{'+' if sign else ''}.1f}"


def _interval(ci95: Floats, *, sign: bool = False) -> str:
    low, high = ci95
    if not np.all(np.isfinite(ci95)):
        return "interval undefined"
    return f"95 % interval {points(low, sign=sign)} to {points(high, sign=sign)}"


def _p(p: float) -> str:
    return "p undefined" if not np.isfinite(p) else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _resolves(paired: Paired, m: int) -> str:
    value = paired.resolves[m]
    return f"this split can resolve {points(value)}" if np.isfinite(value) else "what it can resolve is undefined"


def _some(count: int, one: str, many: str) -> str:
    """Write a count with the words for one or for many."""
    return f"{count:,} {one if count == 1 else many}"


def _is_better(paired: Paired, m: int) -> bool:
    """Whether the first system is shown to be better at the headline measure m: p below 5 %, the interval above 0.

    The headline is named beforehand and is one comparison; the corrected p values are for reading the others.
    """
    return bool(paired.p[m] < SIGNIFICANT and paired.ci95[m, 0] > 0)


def better_than_guessing(material: Material) -> Finding:
    """Tell whether the method is shown to be better than every floor.

    The difference quoted is the one to the floor to beat, which was chosen elsewhere. To be called better the method
    must also be shown to be above each of the other floors: all tests must succeed, so none needs a correction, and the
    audited split can only take the title away.
    """
    case, versus, m = material.case, material.versus, material.case.headline
    percent, measure = case.protocol.percent, case.measures[m]
    name = "better-than-guessing"
    if not np.isfinite(versus.difference[m]):
        return Finding(name, "note", f"{measure} is undefined here, so nothing can be said of guessing.")
    difference, share = float(versus.difference[m]), material.shortcut[m]
    where = (
        f"{points(abs(difference))} points {'above' if difference >= 0 else 'below'} {material.to_beat(m)} at "
        f"{measure} ({percent(material.scores.value(measure))} against "
        f"{percent(material.floor_scores.value(measure))}), {_interval(versus.ci95[m])}, {_p(versus.p[m])}"
    )
    unbeaten = [f for f in range(len(material.floors)) if not _is_better(material.against[f], m)]
    strongest = min(range(len(material.floors)), key=lambda f: material.against[f].difference[m])
    has = percent(material.floors[strongest].scores.value(measure))
    stronger = f"{material.floors[strongest].grounders[m].name} has {has} on this very split"
    fall = None if material.shuffled is None else material.shuffled.fall
    n_videos = len(set(material.scores.video_id))
    level: Level = "serious"
    holds: bool | None = False
    if smallest_p(n_videos, case.permutations) >= SIGNIFICANT or not np.all(np.isfinite(versus.ci95[m])):
        level, holds = "warning", None
        few = _some(n_videos, "video is", "videos are")
        verdict = f"Cannot be told: {few} too few for any difference to be shown; {where}."
    elif versus.ci95[m, 1] < 0 and versus.p[m] < SIGNIFICANT:
        verdict = f"Worse than guessing: {where}."
    elif unbeaten:
        guesses = _strongest_share(material) >= MOSTLY
        title = "A guesser, as far as this split shows" if guesses else "Not shown to be better than guessing"
        beaten = _is_better(versus, m)
        verdict = f"{title}: {where}; " + (
            f"but {stronger}: not shown to be better than that."
            if beaten
            else f"{_resolves(versus, m)}: not shown to be better."
        )
    elif fall is not None and not _is_better(fall, m):
        verdict = (
            f"A guesser, as far as this split shows: {where}, but what shuffling its videos costs, "
            f"{points(fall.difference[m])} points ({_interval(fall.ci95[m])}), is not shown to be a loss."
        )
    elif _strongest_share(material) >= MOSTLY:
        level = "warning"
        verdict = f"Mostly a guesser: {where}; a method without the video has {100 * share:.0f} % of its score."
        if share < MOSTLY:
            verdict = (
                f"Mostly a guesser: {where}; but {stronger}, {100 * _strongest_share(material):.0f} % of its score."
            )
    else:
        level, holds = "good", True
        verdict = f"Better than guessing: {where}."
    return Finding(name, level, verdict, tuple(_against_floors(material)), difference, holds)


def _strongest_share(material: Material) -> float:
    """Largest share of the method's headline figure that any floor has on the audited split; NaN if that is 0."""
    measure = material.case.measures[material.case.headline]
    own = material.scores.value(measure)
    return max(floor.scores.value(measure) for floor in material.floors) / own if own > 0 else float("nan")


def _against_floors(material: Material) -> list[str]:
    """Every measure against the floor to beat, then every floor at the headline, then how they were fitted."""
    case, versus, m = material.case, material.versus, material.case.headline
    percent, headline = case.protocol.percent, case.measures[m]
    over = f"Holm, {_some(len(case.measures), 'measure', 'measures')}"
    lines = [
        f"{measure}: {percent(material.scores.value(measure))} against {percent(material.floor_scores.value(measure))} "
        f"of {material.to_beat(i)}: {points(versus.difference[i], sign=True)}, "
        f"{_interval(versus.ci95[i], sign=True)}, {_p(versus.p_holm[i])} ({over})"
        for i, measure in enumerate(case.measures)
        if np.isfinite(versus.difference[i])
    ]
    lines += [
        f"{headline} against {floor.grounders[m].name}: {percent(floor.scores.value(headline))}, "
        f"{points(paired.difference[m], sign=True)}, {_interval(paired.ci95[m], sign=True)}, {_p(paired.p[m])}"
        for floor, paired in zip(material.floors, material.against, strict=True)
        if np.isfinite(paired.difference[m])
    ]
    chosen_on = case.selection if case.selection is not None else case.train
    if chosen_on is None:
        lines.append("without a fit split the floor to beat is PredictAll; a fitted one would be harder (--fit-split)")
    else:
        lines.append(f"the floor to beat is the best of {len(material.floors)} on {chosen_on.split}")
    return [*lines, *material.left_out]


def shortcut_share(material: Material) -> Finding:
    """Tell how much of each figure a method without the video has."""
    case, m = material.case, material.case.headline
    share, ci95 = material.shortcut, material.shortcut_ci95
    lines = []
    for i, measure in enumerate(case.measures):
        if np.isfinite(share[i]):
            interval = "interval undefined" if np.isnan(ci95[i]).any() else f"{ci95[i, 0]:.2f} to {ci95[i, 1]:.2f}"
            lines.append(f"{measure}: {share[i]:.2f}, 95 % {interval}, {material.to_beat(i)}")
        else:
            lines.append(f"{measure}: undefined, as the method's figure is 0 or undefined")
    if not np.isfinite(share[m]):
        verdict = f"The shortcut share is undefined at {case.measures[m]}: the method's figure is 0 or undefined."
        return Finding("shortcut-share", "note", verdict, tuple(lines))
    strongest = _strongest_share(material)
    bounds: tuple[tuple[float, Level], ...] = ((0.5, "good"), (MOSTLY, "note"), (1.0, "warning"))
    level: Level = next((level for bound, level in bounds if max(share[m], strongest) < bound), "serious")
    within = f", 95 % interval {ci95[m, 0]:.2f} to {ci95[m, 1]:.2f}" if np.all(np.isfinite(ci95[m])) else ""
    name = material.to_beat(m)
    verdict = (
        f"{name[0].upper()}{name[1:]} has {100 * share[m]:.0f} % of the method's figure at {case.measures[m]} without "
        f"the video (shortcut share {share[m]:.2f}{within})"
        + (f"; on this very split another floor has {100 * strongest:.0f} %." if strongest > share[m] + 0.005 else ".")
    )
    return Finding(
        "shortcut-share", level, verdict, tuple(lines), float(share[m]), bool(max(share[m], strongest) < MOSTLY)
    )


def shallow_lists(material: Material) -> Finding | None:
    """Tell which measures look further down the lists than these reach."""
    depth = max(int(material.case.predictions.lengths.max(initial=0)), 1)
    deeper = [str(m) for m in material.case.measures if m.depth is not None and m.depth > depth]
    if not deeper:
        return None
    answers = _some(depth, "answer", "answers")
    say = "says" if len(deeper) == 1 else "say"
    verdict = (
        f"Lists hold at most {answers}, so {', '.join(deeper)} {say} no more than at that depth; floors were held to "
        f"{answers} too."
    )
    return Finding("shallow-lists", "note", verdict)


def loose_threshold(material: Material) -> Finding:
    """Tell what the whole video as the answer scores at the lowest threshold."""
    percent = material.case.protocol.percent
    recall, discounted = material.loose
    whole, whole_discounted = (float(value) for value in material.loose_whole)
    verdict = f"At {recall} the whole video as the answer alone reaches {percent(whole)}"
    if np.isfinite(whole_discounted):
        verdict += f"; {discounted}, which counts how far its ends are off, puts it at {percent(whole_discounted)}"
    lines = (
        "Closer Look (2021), section 3.2: low thresholds reward long answers where references are long",
        f"references longer than half the video: {100 * np.mean(_is_long(material)):.1f} % of the queries",
    )
    return Finding("loose-threshold", "warning" if whole >= LOOSE else "note", f"{verdict}.", lines, whole)


def _is_long(material: Material) -> Bools:
    length = reference_lengths(material.case.annotations).length_norm
    return np.asarray(np.nan_to_num(length, nan=0.0) > HALF_THE_VIDEO)


def long_moments(material: Material) -> Finding:
    """Tell how much of the score comes from references longer than half the video."""
    case, m = material.case, material.case.headline
    measure = case.measures[m]
    earned = material.scores.numerator[m]
    if not earned.sum() > 0:
        return Finding("long-moments", "note", f"There is no score at {measure} to say where it comes from.")
    of_score = float(earned[_is_long(material)].sum() / earned.sum())
    of_queries = float(np.mean(_is_long(material)))
    what = "hits" if isinstance(measure, Recall) else "score"
    verdict = (
        f"{100 * of_score:.0f} % of the {what} at {measure} {'are' if what == 'hits' else 'is'} on references longer "
        f"than half the video, which are {100 * of_queries:.0f} % of the queries."
    )
    leans = of_score > HALF_THE_VIDEO and of_score > of_queries + 0.1
    level: Level = "warning" if leans else "note" if of_score > of_queries + 0.1 else "good"
    return Finding("long-moments", level, verdict, (), of_score, not leans)


def uses_video(material: Material) -> Finding | None:
    """Tell whether the method is shown to gain from its videos' order: does it lose when they are shuffled."""
    if material.shuffled is None:
        return None
    case, m = material.case, material.case.headline
    measure, percent = case.measures[m], case.protocol.percent
    moved, fall = material.shuffled.displacement, material.shuffled.fall
    if not np.isfinite(moved.share_unchanged) or not np.isfinite(fall.difference[m]):
        return Finding("uses-video", "note", "No query is answered on both videos, so shuffling says nothing.")
    falls = _is_better(fall, m)
    before, after = material.scores.value(measure), material.shuffled.scores.value(measure)
    verdict = (
        f"Shuffling the video changes {100 * (1 - moved.share_unchanged):.0f} % of the first answers; "
        f"{100 * moved.share_within():.0f} % stay or move by less than a tenth of the video, start and end together. "
        f"{measure} goes from {percent(before)} to {percent(after)}: {points(after - before, sign=True)}, "
        f"{_interval(-fall.ci95[m][::-1], sign=True)}, {_p(fall.p[m])}"
        + ("." if falls else f"; {_resolves(fall, m)}: not shown to gain from the video.")
    )
    lines = [
        f"{name}: {points(-fall.difference[i], sign=True)}, {_interval(-fall.ci95[i][::-1], sign=True)}, "
        f"{_p(fall.p_holm[i])} (Holm)"
        for i, name in enumerate(case.measures)
        if np.isfinite(fall.difference[i])
    ]
    lines += [f"left out: {count:,} {why}" for why, count in moved.left_out.items() if count]
    lines.append(
        "2D-TAN: 67.9 % of first answers unchanged on ActivityNet Captions (Hidden Challenges, section 4), 41.9 % on "
        "Charades-STA (its authors' notebook)"
    )
    return Finding(
        "uses-video", "good" if falls else "serious", verdict, tuple(lines), float(fall.difference[m]), falls
    )


def gap(material: Material) -> Finding | None:
    """Tell how far the method falls from test-iid to this split."""
    case, m = material.case, material.case.headline
    if material.gap is None or case.iid is None:
        return None
    measure, percent = case.measures[m], case.protocol.percent
    there, here = float(material.gap.iid[m]), material.scores.value(measure)
    floor_there, floor_here = float(material.gap.floor_iid[m]), material.floor_scores.value(measure)
    fall, ci95 = there - here, material.gap.fall_ci95[m]
    if not np.isfinite(fall):
        return Finding(
            "iid-ood-gap", "note", f"{measure} is undefined on one of the splits, so there is no gap to tell."
        )

    def moves(one: float, other: float) -> str:
        change = f"{'falls' if one >= other else 'rises'} by {points(abs(one - other))}"
        return f"{change} points ({percent(one)} to {percent(other)})"

    verdict = f"From {case.iid[0].split} to {case.annotations.split} {measure} {moves(there, here)}, {_interval(ci95)}"
    if np.isfinite(floor_there) and np.isfinite(floor_here):
        verdict += f"; {material.to_beat(m)} {moves(floor_there, floor_here)}"
    falls = bool(ci95[0] > 0)
    holds = None if not np.all(np.isfinite(ci95)) else not falls
    return Finding("iid-ood-gap", "warning" if falls else "note", f"{verdict}.", (), fall, holds)


def conventions(material: Material) -> Finding:
    """Tell how much the figure depends on the evaluator."""
    case = material.case
    measure = case.measures[case.headline]
    figures = {name: value for name, value in material.conventions.items() if np.isfinite(value)}
    silent = [name for name in PROTOCOLS if name not in figures]
    lines = [f"{name}: {100 * value:.2f}" for name, value in sorted(figures.items(), key=lambda item: item[1])]
    lines += [f"not told by {', '.join(silent)}: undefined there, or they refuse these predictions"] if silent else []
    if not figures:
        return Finding("conventions", "note", f"{measure} is undefined under every named convention.", tuple(lines))
    low, high = min(figures, key=figures.__getitem__), max(figures, key=figures.__getitem__)
    spread = figures[high] - figures[low]
    verdict = (
        f"The same predictions score from {100 * figures[low]:.2f} ({low}) to {100 * figures[high]:.2f} ({high}) at "
        f"{measure}, depending on the evaluator: {100 * spread:.2f} points."
        if round(spread, 4)
        else f"All {len(figures)} evaluators that take these predictions give {100 * figures[low]:.2f} at {measure}."
    )
    return Finding("conventions", "warning" if spread >= 0.01 else "note", verdict, tuple(lines), spread)


def resolution(material: Material) -> Finding:
    """Tell which differences this split can resolve at all."""
    case, m = material.case, material.case.headline
    value, n_differing = float(material.versus.resolves[m]), int(material.versus.n_differing[m])
    n_queries, n_videos = len(material.scores), len(set(material.scores.video_id))
    where = f"{_some(n_queries, 'query', 'queries')} in {_some(n_videos, 'video', 'videos')}"
    if not np.isfinite(value):
        why = (
            "score every video alike" if n_differing == 0 else f"differ on {_some(n_differing, 'video', 'videos')} only"
        )
        verdict = f"What {where} can resolve is undefined: the method and {material.to_beat(m)} {why}."
        return Finding("resolution", "note", verdict)
    verdict = (
        f"With {where} a true difference of {points(value)} points to the floor at {case.measures[m]} is found in 80 "
        f"of 100 such splits; a smaller one often is not."
    )
    return Finding("resolution", "note", verdict, (), value)


def leakage(material: Material) -> Finding | None:
    """Tell whether other splits hold the audited videos or sentences."""
    case = material.case
    if not material.leaks:
        return None
    n_queries, n_videos = case.annotations.n_queries, case.annotations.n_videos
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
            f"Videos of {case.annotations.split} also stand in {which}: whatever was trained or chosen there was "
            f"trained or chosen on the videos under test."
        )
        most = max(leak.n_videos for leak in shared)
        return Finding("leakage", "serious", verdict, lines, most / n_videos, holds=False)
    level: Level = "warning" if verbatim > 0.2 else "note" if verbatim > 0 else "good"
    looked_at = ", ".join(leak.split for leak in material.leaks)
    verdict = (
        f"No video of {case.annotations.split} stands in {looked_at}; {100 * verbatim:.0f} % of its sentences "
        f"({worst.n_sentences:,} of {n_queries:,}) stand verbatim in {worst.split}."
    )
    return Finding("leakage", level, verdict, lines, 0.0, holds=True)


def answer_pattern(material: Material) -> Finding:
    """Tell whether the answers look as if they did not depend on video and sentence, more than the references do."""
    pattern, of_references = material.pattern, material.reference_pattern
    if pattern.n_answered == 0 or not pattern.most_common:
        return Finding("answer-pattern", "serious", "No query is answered.", (), None, holds=False)
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
    different = _some(pattern.n_distinct, "different answer", "different answers")
    lines.append(f"{different} to {_some(pattern.n_answered, 'query', 'queries')}, at 1 % of the video")
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
    if problems:
        return Finding("answer-pattern", "warning", f"{'; '.join(problems)}.", tuple(lines), common.share, holds=False)
    verdict = f"The most frequent first answer ({place}) is given to {100 * common.share:.1f} % of the queries."
    return Finding("answer-pattern", "good", verdict, tuple(lines), common.share, holds=True)


def validity(material: Material) -> Finding | None:
    """Tell whether the answers are moments of their videos, and every query is answered."""
    match = material.case.match
    if match is None:
        return None
    faults = (
        (match.missing, "query has no row", "queries have no row"),
        (match.empty, "query is answered with no moment", "queries are answered with no moment"),
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
    problems = [_some(*fault) for fault in faults if fault[0]]
    said = [*problems, *(_some(*remark) for remark in remarks if remark[0])]
    astray = match.past_end + match.zero_length + match.swapped
    share = astray / match.moments if match.moments else None
    if not said:
        return Finding("validity", "good", "Every query is answered with moments of its video.", (), share, holds=True)
    of = f"{_some(match.moments, 'answer', 'answers')} to {_some(len(material.scores), 'query', 'queries')}"
    level: Level = "warning" if problems else "note"
    return Finding("validity", level, f"{'; '.join(said[:3])}; of {of}.", tuple(said), share, not problems)


def references(material: Material) -> Finding:
    """Tell whether the references are moments of their videos."""
    annotations = material.case.annotations
    past = annotations.end_s > annotations.duration_s + 1e-6
    empty = annotations.end_s <= annotations.start_s
    outside = annotations.start_s >= annotations.duration_s
    total = f"of {len(annotations):,} references"
    lines = tuple(
        f"{int(marked.sum()):,} {total} {one if marked.sum() == 1 else many}"
        for marked, one, many in (
            (past, "ends past the end of its video", "end past the end of their video"),
            (empty, "is empty or swapped", "are empty or swapped"),
            (outside, "starts after the end of its video", "start after the end of their video"),
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


def errors(material: Material) -> Finding:
    """Tell what the wrong first answers are, and what mending each kind would give."""
    kinds = material.errors
    measure = kinds.measures[0]
    lines = tuple(
        f"{kind.kind}: {kind.n_queries:,} ({100 * kind.share:.1f} %)"
        + (f", mending them adds {points(kind.gain[0])} points of {measure}" if kind.gain[0] > 0 else "")
        for kind in kinds.table
    )
    wrong = [kind for kind in kinds.table if kind.gain[0] > 0]
    if not wrong:
        sound = kinds.figures[0] == 1
        verdict = "No first answer is wrong." if sound else "No first answer can be mended: the references are faulty."
        return Finding("errors", "good" if sound else "note", verdict, lines)
    largest = max(wrong, key=lambda kind: kind.gain[0])
    verdict = (
        f"The largest loss: {LOSSES.get(largest.kind, largest.kind)} ('{largest.kind}'), {100 * largest.share:.0f} % "
        f"of the queries; mending it adds {points(largest.gain[0])} points of {measure}."
    )
    return Finding("errors", "note", verdict, lines, float(largest.share))


class Check(NamedTuple):
    """A check by name.

    Parameters
    ----------
    name
        As a gate writes it.
    look
        What it does.
    looks_at
        What that is, in words.
    passes
        When it holds; "" where that is no question.
    figure
        What its figure is, a fraction; "" where it has none.
    """

    name: str
    look: Callable[[Material], Finding | None]
    looks_at: str
    passes: str = ""
    figure: str = ""


CHECKS: tuple[Check, ...] = (
    Check(
        "better-than-guessing",
        better_than_guessing,
        "the difference to every floor, what of the score they have, and shuffled videos where given",
        "shown to be better than every floor, none has 80 % of the score, and shuffling costs",
        "difference to the floor to beat",
    ),
    Check(
        "shortcut-share",
        shortcut_share,
        "the floor's figure over the method's",
        "below 0.8, for every floor",
        "the share",
    ),
    Check(
        "uses-video",
        uses_video,
        "the same method on shuffled videos (`--shuffled`)",
        "its figure falls, significantly",
        "the fall",
    ),
    Check(
        "iid-ood-gap",
        gap,
        "the fall from test-iid to test-ood (`--iid`), of the method and of the floor",
        "no fall is shown",
        "the fall",
    ),
    Check(
        "loose-threshold",
        loose_threshold,
        "what the whole video as the answer scores at the lowest threshold",
        figure="that score",
    ),
    Check("shallow-lists", shallow_lists, "measures that look further than the lists reach"),
    Check(
        "long-moments",
        long_moments,
        "what of the score is on references longer than half the video",
        "at most half, or hardly more than the share of such queries",
        "the share of the score",
    ),
    Check(
        "answer-pattern",
        answer_pattern,
        "answers on a coarse grid, the same for many queries or for other sentences of a video",
        "none of these more than among references",
        "share of the most frequent answer",
    ),
    Check(
        "validity",
        validity,
        "queries without an answer, rows without a query, answers past the end, empty, swapped or negative",
        "none",
        "share of answers past the end, empty or swapped",
    ),
    Check(
        "leakage",
        leakage,
        "videos and sentences of this split in other splits",
        "no video stands in another split",
        "share of the videos that do",
    ),
    Check(
        "conventions",
        conventions,
        "the same predictions under every named protocol that takes them",
        figure="largest less smallest",
    ),
    Check("resolution", resolution, "which differences this split can resolve", figure="that difference"),
    Check(
        "references",
        references,
        "references past the end, empty, swapped or outside their video",
        figure="share of these",
    ),
    Check(
        "errors",
        errors,
        "kinds of wrong first answers, and what mending each would give",
        figure="share of the queries of the largest loss",
    ),
)
"""Every check, in the order of a report; the first one is its headline."""


def settled(conditions: Sequence[Condition], measures: Sequence[Measure]) -> tuple[Condition, ...]:
    """Return a gate's conditions with the names of checks and measures as they are written here.

    Raises
    ------
    UsageError
        If a condition names neither a check nor a measure of this audit, asks a measure or a check that is no question
        of passing to hold, or asks for a figure that a check does not have.
    """
    checks = {check.name: check for check in CHECKS}
    known = [str(measure) for measure in measures]
    found = []
    for condition in conditions:
        check, name = checks.get(condition.name), condition.name
        if check is None:
            try:
                name = str(parse_measure(name))
            except MeasureError:
                name = ""
            if name not in known:
                names = ", ".join([*checks, *known])
                raise UsageError(f"gate {condition.text!r}: unknown {condition.name!r}, expected one of {names}")
        if not condition.comparison and (check is None or not check.passes):
            raise UsageError(f"gate {condition.text!r}: is no question of passing, give a number, e.g. {name}>=0.4")
        if condition.comparison and check is not None and not check.figure:
            raise UsageError(f"gate {condition.text!r}: {name} has no figure to compare")
        found.append(condition._replace(name=name))
    return tuple(found)
