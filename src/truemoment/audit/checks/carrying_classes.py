"""Classes of queries that carry the score: on which the method scores far above the rest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truemoment.audit.checks import slices
from truemoment.audit.checks.base import Check
from truemoment.audit.checks.below_floor import FEWEST_VIDEOS
from truemoment.audit.findings import Finding
from truemoment.audit.results import Results
from truemoment.audit.words import some
from truemoment.records import numbers_of
from truemoment.studentised import resample_ratios
from truemoment.uncertainty import LEVEL, false_discoveries

NAME = "carrying-classes"

TWICE = 1.5
"""A class carries the score where its share of the score is this many times its share of the queries."""

N_NAMED = 3


class Carrying(NamedTuple):
    """A class that carries the score; fractions.

    Parameters
    ----------
    family, label
        The class.
    value, elsewhere
        The headline figure in it, and on all other queries.
    floor
        The strongest floor's figure in it.
    of_queries, of_score
        Its share of the queries, and of the score.
    """

    family: str
    label: str
    value: float
    elsewhere: float
    floor: float
    of_queries: float
    of_score: float


def carrying(results: Results) -> tuple[Carrying, ...]:
    """Find the classes, largest share of the score over share of the queries first."""
    m, video = results.headline, numbers_of(results.scores.video_id)
    own, weight = results.scores.numerator[m], results.scores.weight[m]
    floor = results.strongest_scores.numerator[m]
    n_videos, total = int(video.max(initial=-1)) + 1, own.sum()
    found, p = [], []
    for member in results.part(slices.members):
        for label, mask in zip(member.labels, member.masks, strict=True):
            inside, outside = weight[mask].sum(), weight[~mask].sum()
            if len(np.unique(video[mask])) < FEWEST_VIDEOS or not (inside > 0 and outside > 0 and total > 0):
                continue
            value, elsewhere = own[mask].sum() / inside, own[~mask].sum() / outside
            # Above the rest: the mean of the score less the figure elsewhere, over the queries of the class.
            above, count = (
                np.bincount(video[mask], of[mask], n_videos)[:, None].astype(np.float64)
                for of in (own - elsewhere * weight, weight)
            )
            drawn = resample_ratios(
                above,
                count,
                results.stream(f"{NAME} {member.family} {label}"),
                resamples=results.case.resamples,
            )
            p.append(drawn.p_values()[1, 0])
            shares = float(inside / weight.sum()), float(own[mask].sum() / total)
            found.append(
                Carrying(
                    member.family, label, float(value), float(elsewhere), float(floor[mask].sum() / inside), *shares
                )
            )
    kept = false_discoveries(np.array(p), LEVEL)
    carry = [of for of, is_kept in zip(found, kept, strict=True) if is_kept and of.of_score > TWICE * of.of_queries]
    return tuple(sorted(carry, key=lambda of: of.of_queries / of.of_score))


def look(results: Results) -> Finding | None:
    """Name the classes that carry the score."""
    found, percent = results.part(carrying), results.case.protocol.percent
    if not found:
        return None
    lines = tuple(
        f"{of.family} {of.label}: {percent(of.value)} against {percent(of.elsewhere)} elsewhere (strongest floor: "
        f"{percent(of.floor)}); {100 * of.of_queries:.0f} % of the queries, {100 * of.of_score:.0f} % of the score"
        for of in found
    )
    named = "; ".join(lines[:N_NAMED])
    classes = some(len(found), "class carries", "classes carry")
    verdict = f"{classes} more of {results.measure} than {'its' if len(found) == 1 else 'their'} share: {named}."
    return Finding(NAME, "note", verdict, lines, found[0].of_score)


CHECK = Check(
    NAME,
    look,
    "classes of queries whose share of the score is far above their share of the queries",
    figure="share of the score of the first such class",
)
