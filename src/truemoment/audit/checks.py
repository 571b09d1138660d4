"""The checks of an audit: each looks at the material and returns a finding, or None where it does not apply.

To add one, write a function here and name it in :data:`CHECKS`. A check never says that two things are equal because
no difference was found: it gives the difference, its interval, and what the split can resolve.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truemoment.audit.findings import Finding, Level
from truemoment.audit.floors import answers_a_query
from truemoment.audit.material import Material, Paired
from truemoment.diagnosis.slices import reference_lengths
from truemoment.intervals import Floats

MOSTLY = 0.8
"""A floor that reaches this share of a score makes it mostly a guesser's."""

HALF_THE_VIDEO = 0.5
SIGNIFICANT = 0.05


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


def _is_better(paired: Paired, m: int) -> bool:
    """Whether the first system is shown to be better at the headline measure m: p below 5 %, the interval above 0.

    The headline is named beforehand and is one comparison; the corrected p values are for reading the others.
    """
    return bool(paired.p[m] < SIGNIFICANT and paired.ci95[m, 0] > 0)


def better_than_guessing(material: Material) -> Finding:
    """Tell whether the method is shown to be better than the floor to beat, and how much of it the floor reaches."""
    case, versus, m = material.case, material.versus, material.case.headline
    percent, measure = case.protocol.percent, case.measures[m]
    own, floor = material.scores.value(measure), material.floor_scores.value(measure)
    name = "better-than-guessing"
    if not np.isfinite(versus.difference[m]):
        return Finding(name, "note", f"{measure} is undefined here, so nothing can be said of guessing.")
    difference, share = versus.difference[m], material.shortcut[m]
    where = (
        f"{points(abs(difference))} points {'above' if difference >= 0 else 'below'} {material.to_beat(m)} at "
        f"{measure} ({percent(own)} against {percent(floor)}), {_interval(versus.ci95[m])}, "
        f"{_p(versus.p[m])}"
    )
    unmoved = material.shuffled is not None and not _is_better(material.shuffled.fall, m)
    level: Level = "good"
    if not _is_better(versus, m):
        level = "serious"
        verdict = f"A guesser, as far as this split shows: {where}; {_resolves(versus, m)}: not shown to be better."
    elif unmoved:
        level = "serious"
        verdict = f"A guesser, as far as this split shows: {where}, but shuffling its videos is not shown to cost it."
    elif share >= MOSTLY:
        level = "warning"
        verdict = f"Mostly a guesser: {where}; {100 * share:.0f} % of the score comes without the video."
    else:
        verdict = f"Better than guessing: {where}."
    lines = [
        f"{measure}: {percent(material.scores.value(measure))} against {percent(material.floor_scores.value(measure))} "
        f"of {material.to_beat(i)}: {points(versus.difference[i], sign=True)}, "
        f"{_interval(versus.ci95[i], sign=True)}, {_p(versus.p_holm[i])} (Holm, {len(case.measures)} measures)"
        for i, measure in enumerate(case.measures)
        if np.isfinite(versus.difference[i])
    ]
    chosen_on = case.selection if case.selection is not None else case.train
    lines.append(
        f"the floor to beat is the best of {len(material.floors)} on {chosen_on.split}, not on {case.annotations.split}"
        if chosen_on is not None
        else "without a fit split the floor to beat is PredictAll; a fitted floor would be harder to beat"
    )
    return Finding(name, level, verdict, tuple(lines), float(difference), level == "good")


def stronger_floor(material: Material) -> Finding | None:
    """Tell whether a floor that was not chosen does better on the audited split itself."""
    case, m = material.case, material.case.headline
    measure, percent = case.measures[m], case.protocol.percent
    figures = [floor.scores.value(measure) for floor in material.floors]
    if not np.any(np.isfinite(figures)):
        return None
    best = int(np.nanargmax(figures))
    to_beat = material.floor_scores.value(measure)
    own = material.scores.value(measure)
    if not figures[best] > to_beat:
        return None
    above = own - figures[best]
    place = f"{points(abs(above))} points {'below' if above > 0 else 'above'} the method" if above else "as the method"
    verdict = (
        f"On this split itself {material.floors[best].title} is the strongest floor: {percent(figures[best])} at "
        f"{measure}, {place}. It was not chosen, since the split under test must not choose."
    )
    return Finding("stronger-floor", "serious" if above <= 0 else "note", verdict, (), float(above), above > 0)


def shortcut_share(material: Material) -> Finding:
    """Tell how much of each figure the floor to beat reaches."""
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
    bounds: tuple[tuple[float, Level], ...] = ((0.5, "good"), (MOSTLY, "note"), (1.0, "warning"))
    level: Level = next((level for bound, level in bounds if share[m] < bound), "serious")
    within = f", 95 % interval {ci95[m, 0]:.2f} to {ci95[m, 1]:.2f}" if np.all(np.isfinite(ci95[m])) else ""
    verdict = (
        f"{material.to_beat(m)} reaches {100 * share[m]:.0f} % of the score at {case.measures[m]} without the video "
        f"(shortcut share {share[m]:.2f}{within})."
    )
    verdict = verdict[0].upper() + verdict[1:]
    return Finding("shortcut-share", level, verdict, tuple(lines), float(share[m]), bool(share[m] < MOSTLY))


def shallow_lists(material: Material) -> Finding | None:
    """Tell which measures look further down the lists than these reach."""
    depth = answers_a_query(material.case.predictions)
    deeper = [str(m) for m in material.case.measures if m.depth is not None and m.depth > depth]
    if not deeper:
        return None
    answers = "1 answer" if depth == 1 else f"{depth} answers"
    verdict = (
        f"Lists hold at most {answers}, so {', '.join(deeper)} say no more than at that depth; floors and ceilings "
        f"were held to {answers} too."
    )
    return Finding("shallow-lists", "note", verdict)


def loose_threshold(material: Material) -> Finding:
    """Tell what the whole video as the answer scores at the lowest threshold."""
    case = material.case
    percent = case.protocol.percent
    recall, discounted = material.loose
    whole, whole_discounted = material.loose_whole
    floor_is_high = whole >= 0.4
    verdict = (
        f"At {recall} the whole video as the answer alone reaches {percent(whole)}; "
        f"{discounted}, which counts how far its ends are off, puts it at {percent(whole_discounted)}."
    )
    lines = (
        "Closer Look (2021), section 3.2: low thresholds reward long answers where references are long",
        f"references longer than half the video: {100 * _share_of_long(material):.1f} % of the queries",
    )
    return Finding(
        "loose-threshold", "warning" if floor_is_high else "note", verdict, lines, float(whole), not floor_is_high
    )


def _is_long(material: Material) -> Floats:
    length = reference_lengths(material.case.annotations).length_norm
    return np.asarray(np.nan_to_num(length, nan=0.0) > HALF_THE_VIDEO)


def _share_of_long(material: Material) -> float:
    return float(np.mean(_is_long(material)))


def long_moments(material: Material) -> Finding:
    """Tell how much of the score comes from references longer than half the video."""
    case, m = material.case, material.case.headline
    measure = case.measures[m]
    earned = material.scores.numerator[m]
    if not earned.sum() > 0:
        return Finding("long-moments", "note", f"There is no score at {measure} to say where it comes from.")
    of_score = float(earned[_is_long(material) > 0].sum() / earned.sum())
    of_queries = _share_of_long(material)
    what = "hits" if str(measure).startswith("R@") else "score"
    verdict = (
        f"{100 * of_score:.0f} % of the {what} at {measure} {'are' if what == 'hits' else 'is'} on references longer "
        f"than half the video, which are {100 * of_queries:.0f} % of the queries."
    )
    level: Level = "warning" if of_score > HALF_THE_VIDEO else "note" if of_score > of_queries else "good"
    return Finding("long-moments", level, verdict, (), of_score, of_score <= HALF_THE_VIDEO)


def shuffled_videos(material: Material) -> Finding | None:
    """Tell whether the method noticed that its videos were shuffled."""
    if material.shuffled is None:
        return None
    case, m = material.case, material.case.headline
    measure, percent = case.measures[m], case.protocol.percent
    moved, fall = material.shuffled.displacement, material.shuffled.fall
    if not np.isfinite(moved.share_unchanged):
        return Finding("uses-video", "note", "No query is answered in both files, so shuffling says nothing.")
    falls = _is_better(fall, m)
    before, after = material.scores.value(measure), material.shuffled.scores.value(measure)
    verdict = (
        f"Shuffling the video changes {100 * (1 - moved.share_unchanged):.0f} % of the predictions "
        f"({100 * moved.share_within():.0f} % move by less than a tenth of the video); {measure} goes from "
        f"{percent(before)} to {percent(after)}, {_interval(-fall.ci95[m][::-1], sign=True)}"
        + ("." if falls else f"; {_resolves(fall, m)}: not shown to use the video.")
    )
    lines = [
        f"{name}: {points(-fall.difference[i], sign=True)}, {_interval(-fall.ci95[i][::-1], sign=True)}, "
        f"{_p(fall.p_holm[i])} (Holm)"
        for i, name in enumerate(case.measures)
        if np.isfinite(fall.difference[i])
    ]
    lines += [f"left out: {count:,} {why}" for why, count in moved.left_out.items() if count]
    lines.append(
        "2D-TAN: 41.9 % of predictions unchanged on Charades-STA, 67.9 % on ActivityNet (Hidden Challenges, 4)"
    )
    level: Level = "good" if falls else "serious"
    return Finding("uses-video", level, verdict, tuple(lines), float(moved.share_unchanged), falls)


def gap(material: Material) -> Finding | None:
    """Tell how far the method falls from test-iid to this split."""
    case, m = material.case, material.case.headline
    if material.gap is None or case.iid is None:
        return None
    measure, percent = case.measures[m], case.protocol.percent
    there, here = material.gap.iid[m], material.scores.value(measure)
    floor_there, floor_here = material.gap.floor_iid[m], material.floor_scores.value(measure)
    fall, ci95 = there - here, material.gap.fall_ci95[m]
    verdict = (
        f"From {case.iid[0].split} to {case.annotations.split} {measure} falls by {points(fall)} points "
        f"({percent(there)} to {percent(here)}), {_interval(ci95)}; {material.to_beat(m)} falls by "
        f"{points(floor_there - floor_here)} ({percent(floor_there)} to {percent(floor_here)})."
    )
    falls = bool(ci95[0] > 0)
    return Finding("iid-ood-gap", "warning" if falls else "note", verdict, (), float(fall), not falls)


def conventions(material: Material) -> Finding:
    """Tell how much the figure depends on the evaluator."""
    case = material.case
    measure = case.measures[case.headline]
    figures = {name: value for name, value in material.conventions.items() if np.isfinite(value)}
    if not figures:
        return Finding("conventions", "note", f"{measure} is undefined under every named convention.")
    low, high = min(figures, key=figures.__getitem__), max(figures, key=figures.__getitem__)
    spread = figures[high] - figures[low]
    level: Level = "warning" if spread >= 0.01 else "note"
    verdict = (
        f"The same predictions score from {100 * figures[low]:.2f} ({low}) to {100 * figures[high]:.2f} ({high}) at "
        f"{measure}, depending on the evaluator: {100 * spread:.2f} points."
    )
    lines = tuple(f"{name}: {100 * value:.2f}" for name, value in sorted(figures.items(), key=lambda item: item[1]))
    return Finding("conventions", level, verdict, lines, spread, spread < 0.01)


def resolution(material: Material) -> Finding:
    """Tell which differences this split can resolve at all."""
    case, m = material.case, material.case.headline
    value = material.versus.resolves[m]
    where = f"{len(material.scores):,} queries in {len(set(material.scores.video_id)):,} videos"
    if not np.isfinite(value):
        return Finding("resolution", "note", f"What {where} can resolve is undefined: method and floor do not differ.")
    verdict = (
        f"With {where} a true difference of {points(value)} points to the floor at {case.measures[m]} is found in 80 "
        f"of 100 such splits; a smaller one often is not."
    )
    return Finding("resolution", "note", verdict, (), float(value))


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
        return Finding("leakage", "serious", verdict, lines, shared[0].n_videos / n_videos, holds=False)
    level: Level = "warning" if verbatim > 0.2 else "note" if verbatim > 0 else "good"
    verdict = (
        f"No video of {case.annotations.split} stands in another split; {100 * verbatim:.0f} % of its sentences "
        f"({worst.n_sentences:,} of {n_queries:,}) stand verbatim in {worst.split}."
    )
    return Finding("leakage", level, verdict, lines, verbatim, holds=True)


def answer_pattern(material: Material) -> Finding:
    """Tell whether the answers look as if they did not depend on video and sentence."""
    pattern = material.pattern
    if pattern.n_answered == 0 or not pattern.most_common:
        return Finding("answer-pattern", "serious", "No query is answered.", (), None, holds=False)
    common = pattern.most_common[0]
    place = f"{100 * common.start_norm:.0f}-{100 * common.end_norm:.0f} % of the video"
    coarse = pattern.on_grid["multiples of 5 s"]
    lines = [f"{name}: {100 * share:.1f} % of first answers" for name, share in pattern.on_grid.items()]
    lines += [
        f"{100 * answer.start_norm:.0f}-{100 * answer.end_norm:.0f} % of the video: {100 * answer.share:.1f} %"
        for answer in pattern.most_common
    ]
    lines.append(f"{pattern.n_distinct:,} different answers to {pattern.n_answered:,} queries, at 1 % of the video")
    problems = []
    if common.share > 0.2:
        problems.append(f"{100 * common.share:.0f} % of first answers are the same {place}")
    if coarse > 0.5:
        problems.append(f"{100 * coarse:.0f} % of first answers lie on multiples of 5 s")
    elif pattern.on_grid["multiples of 1 s"] > 0.9:
        problems.append(f"{100 * pattern.on_grid['multiples of 1 s']:.0f} % of first answers are whole seconds")
    if pattern.n_comparable and pattern.repeated > max(2 * pattern.repeated_references, 0.3):
        problems.append(
            f"{100 * pattern.repeated:.0f} % of queries get the answer of another sentence of the same video "
            f"(references: {100 * pattern.repeated_references:.0f} %)"
        )
    if pattern.n_comparable:
        lines.append(
            f"same answer as another sentence of the same video: {100 * pattern.repeated:.1f} % of "
            f"{pattern.n_comparable:,} queries; same reference: {100 * pattern.repeated_references:.1f} %"
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
    problems = [
        f"{count:,} {what}"
        for count, what in (
            (match.missing, "queries have no row"),
            (match.empty, "queries are answered with no moment"),
            (match.unmatched, "rows belong to no query"),
            (match.past_end, "answers end past the end of their video"),
            (match.zero_length, "answers have zero length"),
            (match.swapped, "answers end before they start"),
            (match.clipped, "answers had a negative time"),
            (match.ties, "lists hold equal scores"),
            (match.reordered, "lists do not stand by falling score"),
        )
        if count
    ]
    bad = match.missing + match.empty + match.swapped + match.zero_length + match.past_end
    share = bad / max(match.moments, 1)
    if not problems:
        return Finding("validity", "good", "Every query is answered with moments of its video.", (), 0.0, holds=True)
    level: Level = "warning" if bad else "note"
    verdict = f"{'; '.join(problems[:3])}; of {match.moments:,} answers to {len(material.scores):,} queries."
    return Finding("validity", level, verdict, tuple(problems), share, holds=not bad)


def references(material: Material) -> Finding | None:
    """Tell whether the references are moments of their videos."""
    annotations = material.case.annotations
    past = annotations.end_s > annotations.duration_s + 1e-6
    empty = annotations.end_s <= annotations.start_s
    outside = annotations.start_s >= annotations.duration_s
    lines = tuple(
        f"{int(marked.sum()):,} of {len(annotations):,} references {what}"
        for marked, what in (
            (past, "end past the end of their video"),
            (empty, "are empty or swapped"),
            (outside, "start after the end of their video"),
        )
        if marked.any()
    )
    if not lines:
        return None
    m = material.case.headline
    measure = material.case.measures[m]
    perfect = next(rival for rival in material.ceilings if rival.name == "perfect").scores.value(measure)
    verdict = (
        f"{lines[0]}; an answer that is right but held to the video's length scores "
        f"{material.case.protocol.percent(perfect)} at {measure}."
    )
    return Finding("references", "note", verdict, lines, float((past | empty).mean()))


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
        return Finding("errors", "note", "No first answer is wrong.", lines)
    largest = max(wrong, key=lambda kind: kind.gain[0])
    verdict = (
        f"The largest loss is '{largest.kind}': {100 * largest.share:.0f} % of the queries; mending it adds "
        f"{points(largest.gain[0])} points of {measure}."
    )
    return Finding("errors", "note", verdict, lines, float(largest.share))


CHECKS: tuple[Callable[[Material], Finding | None], ...] = (
    better_than_guessing,
    stronger_floor,
    shortcut_share,
    shuffled_videos,
    gap,
    loose_threshold,
    shallow_lists,
    long_moments,
    answer_pattern,
    validity,
    leakage,
    conventions,
    resolution,
    references,
    errors,
)
"""Every check, in the order of a report; the first one is its headline."""
