"""Whether the method is better than every blind baseline tried: the verdict."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truemoment.baselines.floors import why_order_predicts_nothing
from truemoment.evaluation.uncertainty import LEVEL, smallest_p
from truemoment.report.model import Level
from truemoment.report.words import counted, interval95, interval95_points, number, p_value, points
from truemoment.studies.audit.checks import verdict_section
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.checks.order import orders
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.training_data import LEAST_DURATIONS, LEAST_WORDS, MOST_DISTANCE, MOST_DIVERGENCE
from truemoment.studies.audit.verdict import LITTLE

NAME = "better-than-guessing"

FEW_VIDEOS = 50
"""Number of videos below which a verdict has a warning."""

OFTEN = 0.05
"""Minimum share of resamples in which a floor is the strongest for it to be named."""


def look(results: Results) -> AuditFinding:
    """Compare the method with every floor at once."""
    setup, verdict, m = results.setup, results.verdict, results.headline
    if not np.isfinite(verdict.difference[m]):
        return AuditFinding(NAME, "note", f"{results.measure} is undefined here, so there is no verdict.")
    where, tried = comparison(results, m), baselines(results)
    level: Level
    holds: bool | None
    if why := why_undecided(results):
        level, holds, words = "warning", None, f"Not decided: {why}; {where}."
    elif verdict.training_faults:
        level, holds = "warning", None
        words = f"Not decided: the floors had too little to learn from ({'; '.join(verdict.training_faults)}); {where}."
    elif verdict.kind(m) == "worse":
        level, holds, words = "serious", False, f"Worse than the strongest of the {tried}: {where}."
    elif verdict.kind(m) == "better" and verdict.is_little(m):
        level, holds, words = "warning", True, f"Better than the {tried}, but little: {where}."
    elif verdict.kind(m) == "better":
        level, holds, words = "good", True, f"Better than the {tried}: {where}."
    else:
        level, holds = "serious", False
        words = "Not decided, and at most a little better than" if verdict.is_little(m) else "Not decided against"
        words += f" the {tried}: {where}; {_why_not_decided(results)}."
    if setup.splits.train is None:
        level, holds = ("warning", None) if holds else (level, holds)
        words += (
            " No floor has learned where moments usually are, because there is no training split (--fit-split, "
            "--fit-annotations)."
        )
    n_videos = setup.annotations.n_videos
    if n_videos < FEW_VIDEOS and holds is not None:
        level = "warning" if level == "good" else level
        words += f" With only {n_videos} videos, the verdict depends much on the choice of videos."
    low, high = verdict.ci95[m].tolist()
    figure = float(verdict.difference[m])
    return AuditFinding(NAME, level, words, tuple(_evidence(results)), figure, holds, (low, high))


def baselines(results: Results) -> str:
    """Return the number of floors, and of those that read more than the sentence, in words."""
    tried = counted(len(results.floors), "blind baseline tried", "blind baselines tried")
    if results.context:
        return f"{tried} that read one sentence at most, as declared"
    n_context = sum(floor.reads == "paragraph" for floor in results.floors)
    return f"{tried}, {n_context} of which read the video's other sentences" if n_context else tried


def _why_not_decided(results: Results) -> str:
    """Return why nothing is decided: another training of a floor may explain the difference, or it is too small."""
    verdict, m = results.verdict, results.headline
    close = verdict.within_margin(m)
    if close is None:
        return detectable_difference(float(verdict.resolves[m]))
    return (
        f"another training of {results.floors[close].name_at(m)} could cause this difference: its interval does not "
        f"exceed {points(float(verdict.margin[close]))} points, twice the standard deviation between trainings"
    )


def comparison(results: Results, m: int) -> str:
    """Return the difference between the method and the strongest floor at measure m, in words."""
    verdict, percent = results.verdict, results.setup.protocol.percent
    difference, measure = float(verdict.difference[m]), results.setup.measures[m]
    own, floor = results.scores.value(measure), results.strongest_scores.value(measure)
    skill = (
        f"; skill {number(verdict.skill[m])}, {interval95(verdict.skill_ci95[m])}"
        if np.isfinite(verdict.skill[m])
        else ""
    )
    return (
        f"{points(abs(difference))} points {'above' if difference >= 0 else 'below'} {results.strongest(m)} at "
        f"{measure} ({percent(own)} against {percent(floor)}), {interval95_points(verdict.ci95[m])}{skill}"
    )


def why_undecided(results: Results) -> str:
    """Return why even a large difference could not be shown; "" if it could."""
    n_videos, permutations = len(set(results.scores.video_id)), results.setup.permutations
    if smallest_p(n_videos, 10_000) >= LEVEL:
        return f"{counted(n_videos, 'video is', 'videos are')} too few for any difference to be shown"
    if smallest_p(n_videos, permutations) >= LEVEL:
        return f"{permutations} permutations are too few for any difference to be shown (--permutations)"
    if results.verdict.kind(results.headline) == "undefined":
        return "some resamples of the videos have no query that counts"
    return ""


def detectable_difference(resolves: float) -> str:
    """Return the smallest difference that a split can show, in words."""
    if not np.isfinite(resolves):
        return "the smallest detectable difference is undefined"
    return f"the smallest difference that can be detected with 80 % power is {points(resolves)} points"


def _evidence(results: Results) -> Iterator[str]:
    setup, verdict, m = results.setup, results.verdict, results.headline
    percent = setup.protocol.percent
    for i, measure in enumerate(setup.measures):
        if np.isfinite(verdict.difference[i]):
            yield f"{measure}: {verdict.kind(i)}, {comparison(results, i)}, {p_value(float(results.p[i]))}"
    for f, floor in enumerate(results.floors):
        if np.isfinite(verdict.against[f, m]):
            drawn = f", spread over {len(floor.draws)} draws {points(float(floor.spread[m]))}" if floor.draws else ""
            if floor.training_spread:
                drawn = f", spread between single trainings {points(floor.training_spread)}"
            yield (
                f"{floor.name_at(m)}: {percent(floor.scores.value(results.measure))}{drawn}; the method is "
                f"{points(verdict.against[f, m], sign='+')} points from it, "
                f"{interval95_points(verdict.against_ci95[f, m], sign='+')}, {p_value(float(results.p_values[f, m]))}"
            )
    for floor in results.context:
        value = floor.scores.value(results.measure)
        difference = results.scores.value(results.measure) - value
        yield (
            f"not counted, because it reads the video's other sentences: {floor.name_at(m)}: {percent(value)}; the "
            f"method is {points(difference, sign='+')} points from it"
        )
    often = [(share, f) for f, share in enumerate(verdict.strongest_in[:, m].tolist()) if share >= OFTEN]
    names = (f"{results.floors[f].name_at(m)} in {100 * share:.0f} %" for share, f in sorted(often, reverse=True))
    yield f"the strongest floor in resamples of the videos: {', '.join(names)}"
    if setup.splits.validation is not None:
        yield _validation(results)
    yield (
        f"the interval against the strongest floor has the lowest lower end of all {len(results.floors)} comparisons "
        f"at level {LEVEL:g}, and the lowest upper end at level {LEVEL:g} / {len(results.floors)}"
    )
    yield f"little: a skill below {LITTLE:g}, fewer than one in five of the moments that the strongest floor misses"
    if (train := setup.splits.train) is not None:
        yield f"floors were fitted on {train.dataset}/{train.split} ({train.n_queries:,} queries)"
        yield from _coverage(results)
        _, order = results.cached(orders)
        if order is not None and not order.informs:
            yield f"floors that read the video's other sentences were not run: {why_order_predicts_nothing(order)}"
    yield from (f"left out: {line}" for line in results.left_out)


def _coverage(results: Results) -> Iterator[str]:
    """Return how well the training split covers the audited one, with the limits."""
    if (coverage := results.training) is not None:
        yield (
            f"the training split contains {100 * coverage.words:.1f} % of the words of the audited split, in three "
            f"sentences or more (limit {100 * LEAST_WORDS:.0f} %), a video about as long for "
            f"{100 * coverage.durations:.1f} % of its videos (limit {100 * LEAST_DURATIONS:.0f} %), and "
            f"{coverage.n_shared:,} of its videos"
        )
        yield (
            f"Jensen-Shannon divergence of the words {coverage.divergence:.3f} bits (limit {MOST_DIVERGENCE:g}); "
            f"energy distance of the moments {coverage.distance:.4f} (limit {MOST_DISTANCE:g} for annotations of "
            "another file)"
        )


def _validation(results: Results) -> str:
    """Return the strongest floor on the validation split, and the method's difference to it, in words."""
    setup, m = results.setup, results.headline
    values = [np.nan if floor.validated is None else floor.validated.value(results.measure) for floor in results.floors]
    if setup.splits.validation is None or not np.isfinite(values).any():
        return "no floor has a figure on the validation split"
    strongest = int(np.nanargmax(values))
    return (
        f"the strongest floor on {setup.splits.validation.split} is {results.floors[strongest].name_at(m)} "
        f"({setup.protocol.percent(values[strongest])}); on {setup.annotations.split} the method is "
        f"{points(results.verdict.against[strongest, m], sign='+')} points from it"
    )


CHECK = Check(
    name=NAME,
    title="Better than guessing",
    looks_at="the difference to every blind baseline tried, and the skill",
    look=look,
    passes="the 95 % interval against every one lies above 0, and above two standard deviations between its trainings",
    figure="difference to the strongest floor on the audited split",
    blocks=verdict_section.blocks,
    document=verdict_section.document,
    against_floors=True,
)
