"""The checks of an audit, one file each, with its computation, finding, tables, figures and JSON keys.

To add one, write a file with a ``CHECK`` and name it in :data:`CHECKS`. A check returns a finding, or None if it does
not apply. It never calls two figures equal because no difference was found: it reports the difference, its interval,
and the smallest difference that the split can show.
"""

from __future__ import annotations

from collections.abc import Sequence

from truemoment.base.errors import MeasureError, UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.registry import Registry
from truemoment.evaluation.measures import Measure, parse_measure
from truemoment.studies.audit.checks import (
    abstention,
    answer_pattern,
    below_floor,
    better_than_guessing,
    carrying_classes,
    conventions,
    errors,
    excess_where_blind_misses,
    follows_moments,
    iid_ood_gap,
    language_classes,
    leakage,
    long_moments,
    looks_at_video,
    loose_threshold,
    order,
    reads,
    references,
    resolution,
    shallow_lists,
    shortcut_share,
    skill,
    text_only,
    training_places,
    unread_share,
    uses_video,
    validity,
    without_right_video,
)
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.findings import Condition

_OWN = (
    better_than_guessing,
    reads,
    skill,
    shortcut_share,
    excess_where_blind_misses,
    without_right_video,
    uses_video,
    looks_at_video,
    follows_moments,
    text_only,
    iid_ood_gap,
    below_floor,
    training_places,
    order,
    language_classes,
    carrying_classes,
    loose_threshold,
    shallow_lists,
    long_moments,
    answer_pattern,
    unread_share,
    abstention,
    validity,
    leakage,
    conventions,
    resolution,
    references,
    errors,
)
CHECKS: tuple[Check, ...] = tuple(
    Registry("checks", {module.CHECK.name: module.CHECK for module in _OWN}, Check).values()
)
"""Every check, in the order of a report; the first one is its headline."""


def resolve_conditions(conditions: Sequence[Condition], measures: Sequence[Measure]) -> tuple[Condition, ...]:
    """Return a gate's conditions with the canonical names of checks and measures.

    Raises
    ------
    UsageError
        If a condition names neither a check nor a measure of this audit, has no number for a measure or for a check
        that cannot fail, or compares the figure of a check that has none.
    """
    checks = {check.name: check for check in CHECKS}
    known = [str(measure) for measure in measures]
    resolved = []
    for condition in conditions:
        check, name = checks.get(condition.name), condition.name
        if check is None:
            try:
                name = str(parse_measure(name))
            except MeasureError:
                name = ""
            if name not in known:
                names = one_of_known(condition.name, [*checks, *known])
                raise UsageError(f"gate {condition.text!r}: unknown {condition.name!r}, expected {names}")
        if not condition.comparison and (check is None or not check.passes):
            example = ""
            if check is None:
                example = f", give a number, e.g. {name}>=0.4"
            elif check.figure:
                example = f", give a number, e.g. {name}<0.1 ({check.figure})"
            raise UsageError(f"gate {condition.text!r}: it cannot pass or fail{example}")
        if condition.comparison and check is None and not 0 <= condition.limit <= 1:
            raise UsageError(f"gate {condition.text!r}: figures are fractions from 0 to 1, not percent")
        if condition.comparison and check is not None and not check.figure:
            raise UsageError(f"gate {condition.text!r}: {name} has no figure to compare")
        resolved.append(condition._replace(name=name))
    return tuple(resolved)
