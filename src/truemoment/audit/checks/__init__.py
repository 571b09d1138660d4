"""The checks of an audit: each looks at the material and returns a finding, or None where it does not apply.

To add one, write a function in this folder and name it in :data:`CHECKS`. A check never says that two things are equal
because no difference was found: it gives the difference, its interval, and what the split can resolve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from truemoment.audit.checks.answers import abstention, unread_share
from truemoment.audit.checks.files import answer_pattern, leakage, references, validity
from truemoment.audit.checks.guessing import (
    better_than_guessing,
    gap,
    looks_at_video,
    shortcut_share,
    text_only,
    uses_video,
)
from truemoment.audit.checks.score import (
    conventions,
    errors,
    long_moments,
    loose_threshold,
    resolution,
    shallow_lists,
)
from truemoment.audit.findings import Condition, Finding
from truemoment.audit.material import Material
from truemoment.exceptions import MeasureError, UsageError
from truemoment.measures import Measure, parse_measure


@dataclass(frozen=True)
class Check:
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
        "the same method on shuffled videos (`--shuffled`, `--model`)",
        "its figure falls, significantly",
        "the fall",
    ),
    Check(
        "looks-at-video",
        looks_at_video,
        "the same model on videos shuffled, reversed, frozen and exchanged (`--model`)",
        "its figure falls on each, significantly, and the file is what the model answers",
        "the smallest fall",
    ),
    Check(
        "text-only",
        text_only,
        "the same model asked without the frames (`--text-only`)",
        "shown to be better with them",
        "difference between the two",
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
        "answers on a coarse grid, the same for many queries, in the same words, or for other sentences of a video",
        "none of these more than among references",
        "share of the most frequent answer",
    ),
    Check(
        "unread-share",
        unread_share,
        "answers in words that could not be read: refused, ambiguous or failed",
        "at most 5 %",
        "share of the answers",
    ),
    Check(
        "abstention",
        abstention,
        "where the method says that there is no such moment, and where there is none",
        "more often where there is none, significantly",
        "CorrectAbstention less FalseAbstention",
    ),
    Check(
        "validity",
        validity,
        "queries without an answer, rows without a query, answers past the end, empty, swapped or negative, and "
        "times that do not look like seconds",
        "none of the former; a look proves nothing",
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
            example = f", give a number, e.g. {name}>=0.4" if check is None else ""
            example = (
                f", give a number, e.g. {name}<0.1 ({check.figure})" if check is not None and check.figure else example
            )
            raise UsageError(f"gate {condition.text!r}: is no question of passing{example}")
        if condition.comparison and check is None and not 0 <= condition.limit <= 1:
            raise UsageError(f"gate {condition.text!r}: figures are fractions from 0 to 1, not percent")
        if condition.comparison and check is not None and not check.figure:
            raise UsageError(f"gate {condition.text!r}: {name} has no figure to compare")
        found.append(condition._replace(name=name))
    return tuple(found)
