"""Equal depth: lists of answers are compared to the depth that all of them have.

R@5 gives a method with ten answers a query five tries, and a method with one answer a single try. Their difference is
a difference of depth. So the *depth* of a comparison at a measure is the smallest number of answers that the measure
reads in the longest list of any file, and every list is cut to it, as the protocol ranks answers.

Measures of a list as a set, in which each wrong answer lowers the value, are not cut: the number of answers is part of
what they measure. Measures of abstention and of clip ratings are not cut either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from truemoment.base.records import Annotations, Predictions
from truemoment.baselines.floors import join_measures
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Measure, is_of_sets
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores


def equal_depths(measures: Sequence[Measure], longest: Sequence[int], protocol: Protocol) -> tuple[int | None, ...]:
    """Return the number of answers to which lists are cut at each measure; None where all have the same depth.

    Parameters
    ----------
    measures, protocol
        Measures, and the protocol that ranks answers.
    longest
        Length of the longest list of each file.

    Examples
    --------
    >>> from truemoment import get_protocol, parse_measures
    >>> equal_depths(parse_measures("R@1,IoU=0.5; R@5,IoU=0.5; mAP"), [10, 3], get_protocol("default"))
    (None, 3, 3)
    """
    depths: list[int | None] = []
    for measure in measures:
        reach = _reaches(measure, longest, protocol)
        is_pooled = measure.needs == "overlaps" and measure.ref is None and protocol.references == "pooled"
        grows = measure.needs in ("overlaps", "sets") and not is_of_sets(measure) and not is_pooled  # with more answers
        depths.append(min(reach) if len(reach) > 1 and grows else None)
    return tuple(depths)


def answers_compared(measures: Sequence[Measure], longest: Sequence[int], protocol: Protocol) -> int:
    """Return the number of predictions of a floor beside several files: as many as a measure reads in all of them.

    Examples
    --------
    >>> from truemoment import get_protocol, parse_measures
    >>> answers_compared(parse_measures("R@1,IoU=0.5; R@5,IoU=0.5"), [10, 3], get_protocol("default"))
    3
    """
    return max(min(_reaches(measure, longest, protocol)) for measure in measures)


def _reaches(measure: Measure, longest: Sequence[int], protocol: Protocol) -> set[int]:
    """Return the number of answers that a measure reads in the longest list of each file."""
    limits = [limit for limit in (measure.depth, protocol.top) if limit is not None]
    return {min([max(length, 1), *limits]) for length in longest}


def evaluate_to_depths(
    annotations: Annotations,
    predictions: Predictions,
    measures: Sequence[Measure],
    depths: Sequence[int | None],
    protocol: Protocol,
    *,
    progress: bool = False,
) -> Scores:
    """Measure predictions, each measure on lists that are cut to its depth.

    Parameters
    ----------
    annotations, predictions, measures, protocol, progress
        As for :func:`truemoment.evaluate`; M measures.
    depths
        M numbers of answers, as :func:`equal_depths` returns them.

    Returns
    -------
    Scores
        Scores under the given protocol; :func:`protocol_at` names the protocol with the cut.

    Raises
    ------
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    parts: dict[int, tuple[Scores, int]] = {}
    touched: dict[str, int] = {}
    for depth in dict.fromkeys(depths):
        rows = [m for m, limit in enumerate(depths) if limit == depth]
        cut = protocol_at(protocol, depth)
        scores = evaluate(annotations, predictions, [measures[m] for m in rows], cut, progress=progress)
        parts |= {m: (scores, row) for row, m in enumerate(rows)}
        touched |= {words: max(n, touched.get(words, 0)) for words, n in scores.touched.items()}
    joined = join_measures([parts[m] for m in range(len(measures))])
    return dataclasses.replace(joined, protocol=protocol, touched=touched)


def protocol_at(protocol: Protocol, depth: int | None) -> Protocol:
    """Return a protocol whose lists are cut to a depth; itself where they are not cut."""
    return protocol if depth is None else dataclasses.replace(protocol, top=depth)
