r"""Measures, classes of queries and protocols on which the method is below a floor.

A method that is above every floor on the whole split may be below one on short moments, or at another measure. Each
item is compared with every floor. Benjamini and Hochberg's procedure (1995) selects the reported comparisons at a false
discovery rate of 5 %: at most one in twenty of them is expected to be wrong. One-sided p-values are computed by the
studentised bootstrap of videos (:meth:`truemoment.evaluation.studentised.Ratios.p_values`). A measure is also reported
if its own verdict is "worse".
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from truemoment.base.boundary.arrays import Array
from truemoment.base.errors import MeasureError, ProtocolError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Predictions, numbers_of
from truemoment.baselines.floors import FloorResult
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import LEVEL, false_discoveries
from truemoment.report.words import counted, points
from truemoment.studies.audit.checks import slices
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.checks.conventions import EVALUATORS
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

NAME = "below-floor"

FEWEST_VIDEOS = 20
"""Minimum number of videos of a class that is compared."""


class AgainstFloor(NamedTuple):
    """The figures of the method and a floor on one item: a measure, class or protocol."""

    item: str
    floor: str
    method: float
    of_floor: float
    p: float  # one-sided: the method is below the floor


class BelowFloor(NamedTuple):
    """Number of items and comparisons, and those on which the method is below a floor.

    One comparison is kept for each item, with the floor that is furthest above; the largest difference comes first.
    """

    n_items: int
    n_comparisons: int
    below: tuple[AgainstFloor, ...]


class _Item(NamedTuple):
    """Sums by video of the method and F floors, (1 + F, V), and their weights, (V,)."""

    name: str
    floors: list[str]
    sums: Floats
    weight: Floats


def below_floor(results: Results) -> BelowFloor:
    """Compare the method with every floor on every item, all under the same draws of videos."""
    results.on_status("measures and classes below a floor")
    items = [*_measures(results), *_classes(results), *_protocols(results)]
    if not items:
        return BelowFloor(0, 0, ())
    drawn = resample_ratios(
        np.concatenate([item.sums[0] - item.sums[1:] for item in items]).T,
        np.stack([item.weight for item in items]).T,
        results.stream(NAME),
        resamples=results.setup.resamples,
        below=np.repeat(np.arange(len(items)), [len(item.floors) for item in items]),
    )
    p_values = iter(drawn.p_values()[0].tolist())
    comparisons: list[AgainstFloor] = []
    for item in items:
        own, *figures = (float(sums.sum() / item.weight.sum()) for sums in item.sums)
        floors = zip(item.floors, figures, strict=True)
        comparisons += [AgainstFloor(item.name, floor, own, figure, next(p_values)) for floor, figure in floors]
    discoveries = false_discoveries(np.array([comparison.p for comparison in comparisons]), LEVEL)
    worst: dict[str, AgainstFloor] = {}
    for comparison in (comparison for comparison, is_kept in zip(comparisons, discoveries, strict=True) if is_kept):
        if comparison.item not in worst or comparison.of_floor > worst[comparison.item].of_floor:
            worst[comparison.item] = comparison
    by_place = {(comparison.item, comparison.floor): comparison for comparison in comparisons}
    for m, measure in enumerate(results.setup.measures):
        if results.verdict.kind(m) == "worse":
            strongest = results.floors[results.verdict.strongest[m]].name_at(m)
            worst.setdefault(str(measure), by_place[str(measure), strongest])
    below = sorted(worst.values(), key=lambda comparison: comparison.method - comparison.of_floor)
    return BelowFloor(len(items), len(comparisons), tuple(below))


def _by_video(results: Results, values: Iterable[Floats], queries: Ints | slice = slice(None)) -> Floats:
    """Return sums over the queries of each video, or over some of them: (S, Q) -> (S, V)."""
    video = results.cached(_numbers_of_videos)
    n_videos, video = int(video.max(initial=-1)) + 1, video[queries]
    return np.stack([np.bincount(video, row[queries], n_videos).astype(np.float64) for row in values])


def _numbers_of_videos(results: Results) -> Ints:
    return numbers_of(results.scores.video_id)


def _measures(results: Results) -> Iterator[_Item]:
    systems = (results.scores, *(floor.scores for floor in results.floors))
    for m, measure in enumerate(results.setup.measures):
        (weight,) = _by_video(results, results.scores.weight[[m]])
        if weight.any():
            names = [floor.name_at(m) for floor in results.floors]
            yield _Item(str(measure), names, _by_video(results, [scores.numerator[m] for scores in systems]), weight)


def _classes(results: Results) -> Iterator[_Item]:
    m = results.headline
    names = [floor.name_at(m) for floor in results.floors]
    tables = [results.scores.numerator[m], *(floor.scores.numerator[m] for floor in results.floors)]
    for member in results.cached(slices.members):
        for label, mask in zip(member.labels, member.masks, strict=True):
            queries = np.flatnonzero(mask)
            (weight,) = _by_video(results, results.scores.weight[[m]], queries)
            if np.count_nonzero(weight) >= FEWEST_VIDEOS:
                item = f"{results.measure} on {member.family} {label}"
                yield _Item(item, names, _by_video(results, tables, queries), weight)


def _protocols(results: Results) -> Iterator[_Item]:
    m = results.headline
    names = [floor.name_at(m) for floor in results.floors]
    systems = [_by_protocol(results, results.setup.predictions), *(_of_floor(results, f) for f in results.floors)]
    for name, sums in systems[0].items():
        if name != results.setup.protocol.name and all(name in system for system in systems) and sums[1].any():
            yield _Item(
                f"{results.measure} by {name}", names, np.stack([system[name][0] for system in systems]), sums[1]
            )


def _of_floor(results: Results, result: FloorResult) -> Mapping[str, Array]:
    """Return what :func:`_by_protocol` does for a floor; it is kept with the floor's answers."""
    compute = functools.partial(_by_protocol, results, result.predictions)
    if result.floor is None:
        return compute()
    key = result.floor.key_of_answers(results.annotations) | {
        "measure": str(results.measure),
        "protocols": [protocol.signature() for protocol in EVALUATORS],
    }
    return result.floor.cache.arrays("protocols", key, compute)


def _by_protocol(results: Results, predictions: Predictions) -> Mapping[str, Array]:
    """Return sums and weights by video under each protocol that accepts the predictions, (2, V) each."""
    sums = {}
    for protocol in EVALUATORS:
        if protocol.references == "pooled":
            continue
        try:
            scores = evaluate(results.annotations, predictions, [results.measure], protocol)
        except (ProtocolError, MeasureError):  # it refuses missing answers, or the measure is not defined in it
            continue
        sums[protocol.name] = _by_video(results, [scores.numerator[0], scores.weight[0]])
    return sums


def look(results: Results) -> AuditFinding:
    """State where the method is below a floor."""
    result, percent = results.cached(below_floor), results.setup.protocol.percent
    items = counted(result.n_items, "measure, class and protocol", "measures, classes and protocols")
    rule = (
        f"an item is below at a false discovery rate of {100 * LEVEL:.0f} % over {result.n_comparisons:,} comparisons "
        'with floors; a measure also if its verdict is "worse"'
    )
    if not result.n_items:
        return AuditFinding(NAME, "note", "No measure is defined here, so the method is compared with no floor.")
    if not result.below:
        return AuditFinding(
            NAME, "good", f"The method is not shown to be below a floor on any of {items}.", (rule,), 0.0, holds=True
        )
    lines = tuple(
        f"{comparison.item}: {percent(comparison.method)} against {percent(comparison.of_floor)} ({comparison.floor}), "
        f"{points(comparison.method - comparison.of_floor, sign='+')} points"
        for comparison in result.below
    )
    first = lines[0]
    others = len(lines) - 1
    more = f"; {counted(others, 'other', 'others')} in the evidence" if others else ""
    verdict = f"The method is below a floor on {len(lines):,} of {items}: {first}{more}."
    largest = result.below[0].method - result.below[0].of_floor
    return AuditFinding(NAME, "warning", verdict, (*lines, rule), float(-largest), holds=False)


def document(results: Results) -> dict[str, Any]:
    """Return every item on which the method is below a floor."""
    result = results.cached(below_floor)
    return {
        "below_floor": {
            "n_items": result.n_items,
            "n_comparisons": result.n_comparisons,
            "false_discovery_rate": LEVEL,
            "found": result.below,
        }
    }


CHECK = Check(
    name=NAME,
    title="Below a floor",
    looks_at="every measure, class of queries and protocol on which the method is below a floor",
    look=look,
    passes='on none of them, at a false discovery rate of 5 %; no measure\'s verdict is "worse"',
    figure="the largest difference",
    document=document,
)
