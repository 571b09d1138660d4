"""Classes of queries that carry the score: the method scores far more on them than on other queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import NO_INTERVAL, Measured
from truemoment.base.records import numbers_of
from truemoment.evaluation.measures import Measure, why_undefined
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import LEVEL, NO_WEIGHT, false_discoveries
from truemoment.report.charts import StripChart, StripRow, percent_mark
from truemoment.report.model import Block
from truemoment.report.words import counted
from truemoment.studies.audit.checks import slices
from truemoment.studies.audit.checks.base import CLASSES, Check
from truemoment.studies.audit.checks.below_floor import FEWEST_VIDEOS
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.slices import Slice

NAME = "carrying-classes"

TIMES = 1.5
"""A class carries the score if its share of the score is at least this multiple of its share of the queries."""

N_NAMED = 3

FEW_VIDEOS = "fewer than 2 videos"
"""Reason for a class without an interval."""


class CarryingClass(NamedTuple):
    """A class of queries that carries the score; fractions."""

    family: str
    label: str
    value: float
    elsewhere: float  # the figure on all other queries
    floor: float  # the strongest floor's figure on the class
    of_queries: float  # its share of the queries
    of_score: float


def carrying_classes(results: Results) -> tuple[CarryingClass, ...]:
    """Return the classes, largest ratio of share of the score to share of the queries first."""
    m, video = results.headline, numbers_of(results.scores.video_id)
    own, weight = results.scores.numerator[m], results.scores.weight[m]
    floor = results.strongest_scores.numerator[m]
    n_videos, total = int(video.max(initial=-1)) + 1, own.sum()
    overall = own - own.sum() / max(weight.sum(), NO_WEIGHT) * weight  # what each query has above the whole score
    classes, above = [], []
    for member in results.cached(slices.members):
        for label, mask in zip(member.labels, member.masks, strict=True):
            inside, outside = weight[mask].sum(), weight[~mask].sum()
            if not (inside > 0 and outside > 0 and total > 0) or len(np.unique(video[mask])) < FEWEST_VIDEOS:
                continue
            elsewhere = own[~mask].sum() / outside
            classes.append(
                CarryingClass(
                    family=member.family,
                    label=label,
                    value=float(own[mask].sum() / inside),
                    elsewhere=float(elsewhere),
                    floor=float(floor[mask].sum() / inside),
                    of_queries=float(inside / weight.sum()),
                    of_score=float(own[mask].sum() / total),
                )
            )
            # Sums to (value - elsewhere) inside outside / (inside + outside), and varies as that difference does.
            share = np.where(mask, outside, -inside) / weight.sum()
            above.append(np.bincount(video, overall * share, n_videos))
    if not classes:
        return ()
    drawn = resample_ratios(
        np.array(above, dtype=np.float64).T,
        np.broadcast_to(np.bincount(video, weight, n_videos)[:, None], (n_videos, len(classes))),
        results.stream(NAME),
        resamples=results.setup.resamples,
    )
    discoveries = false_discoveries(drawn.p_values()[1], LEVEL)
    carry = [
        part
        for part, is_kept in zip(classes, discoveries, strict=True)
        if is_kept and part.of_score > TIMES * part.of_queries
    ]
    return tuple(sorted(carry, key=lambda part: part.of_queries / part.of_score))


def look(results: Results) -> AuditFinding | None:
    """Name the classes that carry the score."""
    parts, percent = results.cached(carrying_classes), results.setup.protocol.percent
    if not parts:
        return None
    lines = tuple(
        f"{part.family} {part.label}: {percent(part.value)} against {percent(part.elsewhere)} elsewhere (strongest "
        f"floor: {percent(part.floor)}); {100 * part.of_queries:.0f} % of the queries, "
        f"{100 * part.of_score:.0f} % of the score"
        for part in parts
    )
    named = "; ".join(lines[:N_NAMED])
    classes = counted(len(parts), "class carries", "classes carry")
    verdict = f"{classes} more of {results.measure} than {'its' if len(parts) == 1 else 'their'} share: {named}."
    return AuditFinding(NAME, "note", verdict, lines, parts[0].of_score)


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the headline measure by class of query."""
    own, floor = results.cached(slices.method_slices), results.cached(slices.floor_slices)
    return {CLASSES: tuple(slice_strips(own, floor, results.headline, results.setup.predictions.name, results.measure))}


def document(results: Results) -> dict[str, Any]:
    """Return the classes that carry the score, and the figures of every class."""
    pairs = zip(results.cached(slices.method_slices), results.cached(slices.floor_slices), strict=True)
    return {
        "carrying_classes": results.cached(carrying_classes),
        "slices": [
            {
                "family": own.family,
                "class": own.label,
                "n_queries": own.n_queries,
                "n_videos": own.n_videos,
                "measures": _figures(results, own),
                "floor": _figures(results, floor),
            }
            for own, floor in pairs
        ],
    }


def _figures(results: Results, part: Slice) -> list[Measured]:
    why = FEW_VIDEOS if part.n_videos < 2 else NO_INTERVAL
    return [
        Measured(float(value), why_undefined(measure), ci95.tolist(), measure=str(measure), no_interval=why)
        for measure, value, ci95 in zip(results.setup.measures, part.value, part.ci95, strict=True)
    ]


FAMILIES = {
    "reference length": "By length of the reference, share of the video",
    "reference length (s)": "By length of the reference, seconds",
    "position": "By place of the middle of the reference",
    "video length": "By length of the video",
    "sentence length": "By length of the sentence",
    "references": "By number of references",
    "shared moment": "By whether other sentences have the same moment",
    "in train": "By whether the sentence is in the training set",
}
"""Titles of the figures."""


def slice_strips(
    own: Sequence[Slice], floor: Sequence[Slice], m: int, name: str, measure: Measure
) -> Iterator[StripChart]:
    """Yield a chart of measure m per family with several classes: the method, its strongest floor, and queries."""
    for family in dict.fromkeys(part.family for part in own):
        rows = tuple(
            StripRow(
                part.label,
                (
                    percent_mark("method", part.value[m], part.ci95[m]),
                    percent_mark("floor", floor_part.value[m], floor_part.ci95[m]),
                ),
                note=f"{part.n_queries:,}",
            )
            for part, floor_part in zip(own, floor, strict=True)
            if part.family == family
        )
        if len(rows) > 1:
            file = f"slices-{re.sub(r'[^a-z]+', '-', family).strip('-')}"
            title = FAMILIES.get(family, f"By {family}")
            yield StripChart(file, title, "", f"{measure}, %", (("", rows),), note="queries", method=name)


CHECK = Check(
    name=NAME,
    title="What carries the score",
    looks_at="classes of queries whose share of the score is far above their share of the queries",
    look=look,
    figure="share of the score of the first such class",
    blocks=blocks,
    document=document,
)
