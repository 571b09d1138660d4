"""Differences between systems that other annotators confirm.

A system is measured against the official references, and against annotators as in
:mod:`truemoment.studies.humans.scores`: ``nearest``, ``representative``, ``another``. A conclusion is a significant
difference of two systems (paired permutation test by video, corrected over the pairs) against the official references;
where there are none, against the nearest annotator. It is one of:

``survives``
    the same sign, and significant, against all references, and in 95 % of draws of one annotator a query as reference;
``contradicted``
    the opposite sign, and significant, against some references;
``not confirmed``
    neither. A difference that is not significant may still exist.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Predictions
from truemoment.evaluation.agreement import Annotators
from truemoment.evaluation.evaluate import evaluate, resolve_protocol
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import LEVEL, holm, permutation_p_values, ratio, sums_by_video
from truemoment.studies.humans.scores import Reference, check_same_queries, draw_annotators, measures_of_one_answer

ENOUGH_DRAWS = 0.95
"""Share of draws of one annotator a query in which a conclusion must be significant."""


# ------------------------------------------------------------------------------------------------- systems


@dataclass(frozen=True, eq=False)
class SystemScores:
    """Scores of a system on the queries that several annotators marked.

    Parameters
    ----------
    scores
        Scores by reference: ``official`` where there are such references, ``nearest``, ``representative``, ``another``
        (the mean over annotators).
    numerator, weight : (A, M, Q)
        With each annotator's moment as the only reference.
    """

    scores: Mapping[Reference, Scores]
    numerator: Floats
    weight: Floats

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return self.scores["nearest"].measures


def system_scores(
    annotators: Annotators,
    predictions: Predictions,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    *,
    official: Annotations | None = None,
) -> SystemScores:
    """Measure predictions of a system against the official references, and against annotators.

    Predictions of other queries are ignored. `measures`, `protocol` and `official` are as for :func:`human_scores`.
    """
    marked = annotators.annotations
    protocol = resolve_protocol(protocol, marked)
    measure_list = measures_of_one_answer(measures, protocol)
    if np.all(predictions.rows_of(marked.queries.query_id) < 0):
        raise UsageError(
            f"{predictions.name}: answers none of the {marked.n_queries:,} queries of {marked.dataset}/{marked.split} "
            "that several annotators marked"
        )
    by_reference: dict[Reference, Scores] = {}
    if official is not None:
        check_same_queries(marked, official)
        by_reference["official"] = evaluate(official, predictions, measure_list, protocol, on_unknown="ignore")
    for reference in ("nearest", "representative"):
        by_rule = dataclasses.replace(protocol, references=reference)
        by_reference[reference] = evaluate(marked, predictions, measure_list, by_rule, on_unknown="ignore")
    numerator, weight = np.zeros((2, annotators.start_s.shape[1], len(measure_list), len(annotators)))
    column = np.concatenate([np.arange(count) for count in annotators.counts])
    for k, present in enumerate(annotators.present.T):
        single = dataclasses.replace(marked.select_rows(column == k), saliency=None)
        scores = evaluate(single, predictions, measure_list, protocol, on_unknown="ignore")
        numerator[k][:, present], weight[k][:, present] = scores.numerator, scores.weight
    template = by_reference["nearest"]
    by_reference["another"] = dataclasses.replace(
        template,
        protocol=dataclasses.replace(protocol, references="rows"),
        numerator=numerator.sum(axis=0) / annotators.counts,
        weight=weight.sum(axis=0) / annotators.counts,
        on_threshold=np.full(len(measure_list), -1, dtype=np.int64),
    )
    return SystemScores(by_reference, numerator, weight)


# --------------------------------------------------------------------------------------------- conclusions

Confirmation = Literal["survives", "not confirmed", "contradicted", "nothing to confirm"]


@dataclass(frozen=True)
class PairDifference:
    """The difference of two systems against one kind of references; fractions.

    Parameters
    ----------
    reference
        ``official``, ``nearest``, ``representative`` or ``another`` (the mean over annotators).
    difference
        First less second system.
    p_holm
        p-value of the paired permutation test by video, corrected over the pairs of systems.
    """

    reference: Reference
    difference: float
    p_holm: float

    @property
    def significant(self) -> bool:
        """Whether the two differ significantly at the level of 5 %."""
        return bool(self.p_holm <= LEVEL)  # NaN is not


@dataclass(frozen=True, eq=False)
class Conclusion:
    """A difference between two systems, against the official references and against annotators.

    Parameters
    ----------
    differences
        The difference against each kind of references; the conclusion is drawn from the first.
    draws : (D,)
        Differences with one annotator drawn for each query as the reference.
    p_draws : (D,)
        Their p-values, corrected like the others.
    """

    measure: str
    first: str
    second: str
    differences: tuple[PairDifference, ...]
    draws: Floats
    p_draws: Floats

    @property
    def share_alike(self) -> float:
        """Share of draws with a significant difference of the same sign as the conclusion's."""
        same = np.sign(self.draws) == np.sign(self.differences[0].difference)
        return float(np.mean(same & (self.p_draws <= LEVEL)))

    @property
    def confirmation(self) -> Confirmation:
        """Whether annotators confirm the conclusion, as at the top of this module."""
        base, *others = self.differences
        if not base.significant:
            return "nothing to confirm"
        same = [np.sign(pair.difference) == np.sign(base.difference) for pair in others]
        if any(pair.significant and not alike for pair, alike in zip(others, same, strict=True)):
            return "contradicted"
        if all(pair.significant for pair in others) and self.share_alike >= ENOUGH_DRAWS:
            return "survives"
        return "not confirmed"


def conclusions(
    annotators: Annotators,
    systems: Mapping[str, SystemScores],
    rng: np.random.Generator,
    *,
    draws: int = 100,
    permutations: int = 10_000,
) -> list[Conclusion]:
    """Compare systems against the official references and against annotators: measure by measure, pair by pair.

    Without official references, the conclusions are those for the nearest annotator. `systems` are two or more from
    :func:`system_scores`; `draws` draw one annotator for each query.
    """
    if len(systems) < 2:
        raise UsageError(f"got {len(systems)} system(s), expected two or more to compare")
    names, groups = list(systems), list(systems.values())
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    first = groups[0]
    for_picks, for_picked, *for_tests = rng.spawn(2 + len(first.scores))
    tests = {
        reference: _compared([system.scores[reference] for system in groups], pairs, child, permutations)
        for reference, child in zip(first.scores, for_tests, strict=True)
    }
    picks = draw_annotators(annotators.present.T, for_picks, draws)
    differences, p_values = _compared_in_draws(groups, pairs, picks, for_picked, permutations)
    return [
        Conclusion(
            str(measure),
            names[i],
            names[j],
            tuple(
                PairDifference(reference, float(difference[row, m]), float(p[row, m]))
                for reference, (difference, p) in tests.items()
            ),
            differences[:, row, m],
            p_values[:, row, m],
        )
        for m, measure in enumerate(first.measures)
        for row, (i, j) in enumerate(pairs)
    ]


def _compared(
    scores: Sequence[Scores], pairs: Sequence[tuple[int, int]], rng: np.random.Generator, permutations: int
) -> tuple[Floats, Floats]:
    """Return differences of pairs and their corrected p-values, each (P, M)."""
    numerator, weight = (np.stack(part) for part in zip(*map(sums_by_video, scores), strict=True))
    p = permutation_p_values(numerator, weight, pairs, rng, permutations=permutations)
    return _differences(numerator, weight, pairs), holm(p)


def _compared_in_draws(
    systems: Sequence[SystemScores],
    pairs: Sequence[tuple[int, int]],
    picks: Ints,
    rng: np.random.Generator,
    permutations: int,
) -> tuple[Floats, Floats]:
    """Return differences and corrected p-values in each draw of annotators, each (D, P, M).

    Each draw counts as a system of its own, so that one test of many pairs serves all draws.
    """
    template = systems[0].scores["nearest"]
    query = np.arange(picks.shape[1])
    sums = [
        sums_by_video(
            dataclasses.replace(
                template, numerator=system.numerator[pick, :, query].T, weight=system.weight[pick, :, query].T
            )
        )
        for system in systems
        for pick in picks
    ]
    numerator, weight = (np.stack(part) for part in zip(*sums, strict=True))
    draws = len(picks)
    in_draws = [(i * draws + d, j * draws + d) for i, j in pairs for d in range(draws)]
    p = permutation_p_values(numerator, weight, in_draws, rng, permutations=permutations)
    shape = (len(pairs), draws, -1)
    difference = _differences(numerator, weight, in_draws).reshape(shape)
    return difference.transpose(1, 0, 2), holm(p.reshape(shape)).transpose(1, 0, 2)


def _differences(numerator: Floats, weight: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    """Return differences of pairs of systems, given sums by video (S, V, M); shape (P, M)."""
    figure = ratio(numerator.sum(axis=1), weight.sum(axis=1))
    first, second = np.array(pairs).T
    return np.asarray(figure[first] - figure[second])
