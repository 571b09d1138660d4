"""Whether the method does better than those that never see the video."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from truemoment.audit.checks.words import SIGNIFICANT, interval, is_better, p_value, points, resolves, some
from truemoment.audit.findings import Finding, Level
from truemoment.audit.material import ChangedVideos, Material, Paired
from truemoment.diagnosis.answers import first_answers
from truemoment.records import STATUSES
from truemoment.uncertainty import smallest_p

FEW_ANSWERED = 0.8
"""Share of the queries that a text-only model must answer for its figure to say much."""

MOSTLY = 0.8
"""A floor that reaches this share of a score makes it mostly a guesser's."""


WAYS_IN_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "shuffled": "segments shuffled",
        "reversed": "played backwards",
        "frozen": "frozen",
        "other-video": "another video",
    }
)
"""How videos are changed, in words; other ways by their name."""


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
        f"{percent(material.floor_scores.value(measure))}), {interval(versus.ci95[m])}, {p_value(versus.p[m])}"
    )
    unbeaten = [f for f in range(len(material.floors)) if not is_better(material.against[f], m)]
    strongest = min(range(len(material.floors)), key=lambda f: material.against[f].difference[m])
    has = percent(material.floors[strongest].scores.value(measure))
    stronger = f"{material.floors[strongest].called(m)} has {has} on this very split"
    fall = None if material.shuffled is None else material.shuffled.fall
    level: Level = "serious"
    holds: bool | None = False
    if why := _too_few(material, versus):
        level, holds = "warning", None
        verdict = f"Cannot be told: {why}; {where}."
    elif versus.ci95[m, 1] < 0 and versus.p[m] < SIGNIFICANT:
        verdict = f"Worse than guessing: {where}."
    elif unbeaten:
        guesses = _strongest_share(material) >= MOSTLY
        title = "A guesser, as far as this split shows" if guesses else "Not shown to be better than guessing"
        if is_better(versus, m):
            verdict = f"{title}: {where}; but {stronger}: not shown to be better than that."
        else:
            verdict = f"{title}: {where}; {resolves(versus, m)}" + (": not shown to be better." if guesses else ".")
    elif fall is not None and not is_better(fall, m):
        verdict = (
            f"A guesser, as far as this split shows: {where}, but what shuffling its videos costs, "
            f"{points(fall.difference[m])} points ({interval(fall.ci95[m])}), is not shown to be a loss."
        )
    elif _strongest_share(material) >= MOSTLY:
        level = "warning"
        verdict = f"Mostly a guesser: {where}; a method without the video has {100 * share:.0f} % of its score."
        if share < MOSTLY:
            verdict = (
                f"Mostly a guesser: {where}; but {stronger}, {100 * _strongest_share(material):.0f} % of its score."
            )
    elif case.train is None:
        level, holds = "warning", None
        verdict = (
            f"Better than answers that learned nothing: {where}; without a fit split no floor that knows where moments "
            "usually are was tried (--fit-split, --fit-annotations)."
        )
    else:
        level, holds = "good", True
        verdict = f"Better than guessing: {where}."
    return Finding(name, level, verdict, tuple(_against_floors(material)), difference, holds)


def _too_few(material: Material, paired: Paired) -> str:
    """Say why no difference could be shown, however large; "" where one could."""
    case, n_videos = material.case, len(set(material.scores.video_id))
    few = smallest_p(n_videos, case.permutations) >= SIGNIFICANT
    if not few and np.all(np.isfinite(paired.ci95[case.headline])):
        return ""
    if smallest_p(n_videos, 10_000) < SIGNIFICANT and n_videos > 1:
        return f"{case.permutations} permutations are too few for any difference to be shown (--permutations)"
    return f"{some(n_videos, 'video is', 'videos are')} too few for any difference to be shown"


def _strongest_share(material: Material) -> float:
    """Largest share of the method's headline figure that any floor has on the audited split; NaN if that is 0."""
    measure = material.case.measures[material.case.headline]
    own = material.scores.value(measure)
    return max(floor.scores.value(measure) for floor in material.floors) / own if own > 0 else float("nan")


def _against_floors(material: Material) -> list[str]:
    """Every measure against the floor to beat, then every floor at the headline, then how they were fitted."""
    case, versus, m = material.case, material.versus, material.case.headline
    percent, headline = case.protocol.percent, case.measures[m]
    over = f"Holm, {some(len(case.measures), 'measure', 'measures')}"
    lines = [
        f"{measure}: {percent(material.scores.value(measure))} against {percent(material.floor_scores.value(measure))} "
        f"of {material.to_beat(i)}: {points(versus.difference[i], sign=True)}, "
        f"{interval(versus.ci95[i], sign=True)}, {p_value(versus.p_holm[i])} ({over})"
        for i, measure in enumerate(case.measures)
        if np.isfinite(versus.difference[i])
    ]
    lines += [
        f"{headline} against {floor.called(m)}: {percent(floor.scores.value(headline))}, "
        f"{points(paired.difference[m], sign=True)}, {interval(paired.ci95[m], sign=True)}, {p_value(paired.p[m])}"
        for floor, paired in zip(material.floors, material.against, strict=True)
        if np.isfinite(paired.difference[m])
    ]
    chosen_on = case.selection if case.selection is not None else case.train
    if chosen_on is None:
        lines.append("without a fit split the floor to beat is PredictAll; a fitted one would be harder (--fit-split)")
    else:
        lines.append(f"the floor to beat is the best of {material.n_candidates} on {chosen_on.split}")
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


def uses_video(material: Material) -> Finding | None:
    """Tell whether the method is shown to gain from its videos' order: does it lose when they are shuffled."""
    if material.shuffled is None:
        return None
    case, m = material.case, material.case.headline
    measure, percent = case.measures[m], case.protocol.percent
    moved, fall = material.shuffled.displacement, material.shuffled.fall
    if not np.isfinite(moved.share_unchanged) or not np.isfinite(fall.difference[m]):
        return Finding("uses-video", "note", "No query is answered on both videos, so shuffling says nothing.")
    falls = is_better(fall, m)
    before, after = material.scores.value(measure), material.shuffled.scores.value(measure)
    verdict = (
        f"Shuffling the video changes {100 * (1 - moved.share_unchanged):.0f} % of the first answers; "
        f"{100 * moved.share_within():.0f} % stay or move by less than a tenth of the video, start and end together. "
        f"{measure} goes from {percent(before)} to {percent(after)}: {points(after - before, sign=True)}, "
        f"{interval(-fall.ci95[m][::-1], sign=True)}, {p_value(fall.p[m])}"
        + ("." if falls else f"; {resolves(fall, m)}: not shown to gain from the video.")
    )
    lines = [
        f"{name}: {points(-fall.difference[i], sign=True)}, {interval(-fall.ci95[i][::-1], sign=True)}, "
        f"{p_value(fall.p_holm[i])} (Holm)"
        for i, name in enumerate(case.measures)
        if np.isfinite(fall.difference[i])
    ]
    unread = int(material.shuffled.answers.unreadable.sum())
    if unread:
        lines.append(
            f"answers on shuffled videos that could not be read, and cost score for that: {unread:,} (on the original "
            f"ones: {int(case.predictions.unreadable.sum()):,})"
        )
    lines += [f"left out: {count:,} {why}" for why, count in moved.left_out.items() if count]
    lines.append(
        "2D-TAN: 67.9 % of first answers unchanged on ActivityNet Captions (Hidden Challenges, section 4), 41.9 % on "
        "Charades-STA (its authors' notebook)"
    )
    return Finding(
        "uses-video", "good" if falls else "serious", verdict, tuple(lines), float(fall.difference[m]), falls
    )


def looks_at_video(material: Material) -> Finding | None:
    """Tell whether the model is shown to lose on every kind of changed videos: all tests must succeed."""
    changed = material.changed
    if changed is None:
        return None
    case, m = material.case, material.case.headline
    name, measure, percent = "looks-at-video", case.measures[m], case.protocol.percent
    told = [one for one in changed.ways if np.isfinite(one.fall.difference[m])]
    if not told:
        return Finding(name, "note", f"{measure} is undefined here, so changed videos cannot be told to cost anything.")
    costs = {one.way: is_better(one.fall, m) for one in told}
    least = min(told, key=lambda one: one.fall.difference[m])
    level: Level = "good" if all(costs.values()) else "serious"
    holds: bool | None = all(costs.values())
    figures = ", ".join(f"{percent(one.scores.value(measure))} ({WAYS_IN_WORDS.get(one.way, one.way)})" for one in told)
    verdict = (
        f"On changed videos {measure} goes from {percent(changed.scores.value(measure))} to {figures}. The least costs "
        f"{points(least.fall.difference[m])} points, {interval(least.fall.ci95[m])}, {p_value(least.fall.p[m])}"
    )
    if why := _too_few(material, least.fall):
        level, holds = "warning", None
        verdict += f"; {why}."
    elif holds:
        verdict += "."
    else:
        blind = [WAYS_IN_WORDS.get(way, way) for way, cost in costs.items() if not cost]
        verdict += f"; {resolves(least.fall, m)}: not shown to lose by these changes: {', '.join(blind)}."
    if not changed.agrees:
        level, holds = "warning" if level == "good" else level, None
        verdict += (
            f" The file is not what the model answers now: {changed.n_differing:,} of "
            f"{some(len(changed.scores), 'first answer differs', 'first answers differ')}, so this says nothing of it."
        )
    return Finding(name, level, verdict, tuple(_by_way(material, changed)), float(least.fall.difference[m]), holds)


def _by_way(material: Material, changed: ChangedVideos) -> Iterator[str]:
    """What each kind of changed videos costs and moves, and how far the answers are the model's."""
    case, m = material.case, material.case.headline
    for one in changed.ways:
        words = WAYS_IN_WORDS.get(one.way, one.way)
        for i in (m, *(i for i in range(len(case.measures)) if i != m)):
            if np.isfinite(one.fall.difference[i]):
                yield (
                    f"{words}: {case.measures[i]} {points(-one.fall.difference[i], sign=True)}, "
                    f"{interval(-one.fall.ci95[i][::-1], sign=True)}, {p_value(one.fall.p_holm[i])} (Holm)"
                )
        moved = one.displacement
        if np.isfinite(moved.share_unchanged):
            yield (
                f"{words}: {100 * moved.share_unchanged:.1f} % of the first answers unchanged, "
                f"{100 * moved.share_within():.1f} % stay or move by less than a tenth of the video"
            )
        yield from (f"{words}, left out: {count:,} {why}" for why, count in moved.left_out.items() if count)
    yield (
        f"first answers of the file that are not the model's of now: {changed.n_differing:,} of {len(changed.scores):,}"
    )


def text_only(material: Material) -> Finding | None:
    """Tell how much of its score the same model has without the frames."""
    if material.text_only is None:
        return None
    case, m = material.case, material.case.headline
    measure, percent = case.measures[m], case.protocol.percent
    rival, paired = material.floors[material.text_only], material.against[material.text_only]
    own, without = material.scores.value(measure), rival.scores.value(measure)
    if not np.isfinite(paired.difference[m]):
        return Finding("text-only", "note", f"{measure} is undefined here, so the frames cannot be told to help.")
    of_it = f"{100 * without / own:.0f} %" if own > 0 else "share undefined"
    verdict = (
        f"Without the frames the same model has {percent(without)} of {percent(own)} at {measure} ({of_it}): the "
        f"frames add {points(paired.difference[m], sign=True)} points, {interval(paired.ci95[m], sign=True)}, "
        f"{p_value(paired.p[m])}"
    )
    better, mostly = is_better(paired, m), own > 0 and without / own >= MOSTLY
    level: Level = "serious" if not better else "warning" if mostly else "good"
    holds: bool | None = better
    if why := _too_few(material, paired):
        level, holds = "warning", None
        verdict += f"; {why}."
    else:
        verdict += "." if better else f"; {resolves(paired, m)}: not shown to be better with the video than without it."
    answered = int(first_answers(case.annotations, rival.predictions).answered.sum())
    if answered < FEW_ANSWERED * case.annotations.n_queries:
        level = "note" if level == "good" else level
        queries = some(case.annotations.n_queries, "query", "queries")
        verdict += f" It names a moment for only {answered:,} of {queries} without them, so little can be made of this."
    over = f"Holm, {some(len(case.measures), 'measure', 'measures')}"
    lines = [
        f"{name}: {percent(rival.scores.value(name))} without the frames, {percent(material.scores.value(name))} with: "
        f"{points(paired.difference[i], sign=True)}, {interval(paired.ci95[i], sign=True)}, "
        f"{p_value(paired.p_holm[i])} ({over})"
        for i, name in enumerate(case.measures)
        if np.isfinite(paired.difference[i])
    ]
    if rival.predictions.status is not None:
        fates = Counter(rival.predictions.status.tolist())
        said = (f"{fates[fate]:,} {fate}" for fate in STATUSES if fates[fate])
        lines.append(f"answers without the frames: {', '.join(said)}")
    return Finding("text-only", level, verdict, tuple(lines), float(paired.difference[m]), holds)


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

    verdict = f"From {case.iid[0].split} to {case.annotations.split} {measure} {moves(there, here)}, {interval(ci95)}"
    if np.isfinite(floor_there) and np.isfinite(floor_here):
        verdict += f"; {material.to_beat(m)} {moves(floor_there, floor_here)}"
    falls = bool(ci95[0] > 0)
    holds = None if not np.all(np.isfinite(ci95)) else not falls
    return Finding("iid-ood-gap", "warning" if falls else "note", f"{verdict}.", (), fall, holds)
