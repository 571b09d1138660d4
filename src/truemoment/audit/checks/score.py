"""Where the score comes from, and how much it depends on the measure, the evaluator and the split."""

from __future__ import annotations

import numpy as np

from truemoment.audit.checks.words import points, some
from truemoment.audit.findings import Finding, Level
from truemoment.audit.material import EVALUATORS, Material
from truemoment.diagnosis.slices import reference_lengths
from truemoment.intervals import Bools
from truemoment.measures import Recall

LOOSE = 0.4
"""A figure of the whole video as the answer from which a threshold is called loose."""

HALF_THE_VIDEO = 0.5

LOSSES = {
    "too long": "first answers that hold the reference and more",
    "too short": "first answers within the reference",
    "shifted": "first answers in the right place, with the wrong extent",
    "wrong place": "first answers that miss the reference",
    "empty or swapped": "first answers that do not end after they start",
    "no answer": "queries without an answer, or without one that could be read",
    "hidden": "right answers that do not stand first",
    "hidden by duplicates": "right answers behind repetitions of a wrong one",
}
"""What kinds of error are, in words."""


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


def shallow_lists(material: Material) -> Finding | None:
    """Tell which measures look further down the lists than these reach."""
    depth = max(int(material.case.predictions.lengths.max(initial=0)), 1)
    deeper = [str(m) for m in material.case.measures if m.depth is not None and m.depth > depth]
    if not deeper:
        return None
    answers = some(depth, "answer", "answers")
    say = "says" if len(deeper) == 1 else "say"
    verdict = (
        f"Lists hold at most {answers}, so {', '.join(deeper)} {say} no more than at that depth; floors were held to "
        f"{answers} too."
    )
    return Finding("shallow-lists", "note", verdict)


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


def conventions(material: Material) -> Finding:
    """Tell how much the figure depends on the evaluator."""
    case = material.case
    measure = case.measures[case.headline]
    figures = {name: value for name, value in material.conventions.items() if np.isfinite(value)}
    silent = [protocol.name for protocol in EVALUATORS if protocol.name not in figures]
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
    where = f"{some(n_queries, 'query', 'queries')} in {some(n_videos, 'video', 'videos')}"
    if not np.isfinite(value):
        why = f"differ on {some(n_differing, 'video', 'videos')} only"
        if n_differing == 0:
            why = "score every video alike"
        elif n_differing == n_videos:
            why = "differ by the same on every video"
        verdict = f"What {where} can resolve is undefined: the method and {material.to_beat(m)} {why}."
        return Finding("resolution", "note", verdict)
    verdict = (
        f"With {where} a true difference of {points(value)} points to the floor at {case.measures[m]} is found in 80 "
        f"of 100 such splits; a smaller one often is not."
    )
    return Finding("resolution", "note", verdict, (), value)


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
