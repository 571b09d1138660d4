"""The measures, and the one grammar in which they are written.

==============================  =====================================================================
``R@5,IoU=0.7``                 recall, also ``R@1,IoU=0.5,length=short``
``dR@1,IoU=0.5``                discounted recall
``mIoU``                        mean IoU of the first answer
``mIoP``, ``R@1,IoP=0.5``       share of the first answer inside a reference, and its recall (NExT-GQA)
``AxIoU@10``                    average max IoU
``NCxIoU@10,p=geometric(0.5)``  the same with another distribution of stopping ranks
``AP@10,IoU=0.5``               mean precision over ranks (AxIoU paper, eq. 12)
``mAP``, ``mAP,IoU=0.5``        QVHighlights' interpolated average precision, also ``,length=short``
``DCG@10``                      discounted cumulative gain
``F1,IoU=0.5``                  F1 of the set of answers
``CoverF1,IoU=0.5``             F1 of the set without pairing (E.T. Bench)
``SecondsF1``                   F1 of the whole seconds that the set covers (E.T. Bench)
``mR@2``, ``mR@2,IoU=0.5``      share of a query's moments that the first k answers find (QV-M2)
``mIoU@2``                      mean IoU of the first k answers, each with a reference of its own (QV-M2)
``SetIoU``                      IoU of all answers together with all references together
``Area,of=IoU``                 area over thresholds of IoU, precision or recall of the set (VUE-TR)
``SpanAP@5``                    graded average precision, references as one span (MomentSeeker)
``CorrectAbstention``           abstentions where there is no moment
``FalseAbstention``             abstentions where there is one; lower is better
``HIT@1,min=VeryGood``          QVHighlights' highlight hit
``HL-mAP,min=Good``             QVHighlights' highlight average precision
==============================  =====================================================================

A suffix ``[ref=nearest|representative|first|merged|pooled|rows]`` chooses how several references count;
without it the protocol's rule holds. Several measures are separated by ``;``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from truemoment.base.errors import MeasureError
from truemoment.base.known_names import one_of_known
from truemoment.base.registry import Registry
from truemoment.evaluation.measures.abstention import CorrectAbstention, FalseAbstention
from truemoment.evaluation.measures.average_precision import AveragePrecisionAt, MeanAveragePrecision
from truemoment.evaluation.measures.base import (
    AbstentionMeasure,
    Abstentions,
    HitRule,
    Measure,
    OverlapMeasure,
    Overlaps,
    SaliencyMeasure,
    SaliencyPair,
    Statistic,
    is_of_sets,
    lower_is_better,
    papers_of,
    why_undefined,
)
from truemoment.evaluation.measures.covered_f1 import CoveredF1
from truemoment.evaluation.measures.discounted_recall import DiscountedRecall
from truemoment.evaluation.measures.gain import DCG
from truemoment.evaluation.measures.grammar import Written
from truemoment.evaluation.measures.highlight import HighlightAveragePrecision, HighlightHit
from truemoment.evaluation.measures.iop import MeanIoP, RecallIoP
from truemoment.evaluation.measures.matched_f1 import MatchedF1
from truemoment.evaluation.measures.max_iou import AxIoU, MeanIoU, NCxIoU
from truemoment.evaluation.measures.recall import Recall
from truemoment.evaluation.measures.seconds_f1 import SecondsF1
from truemoment.evaluation.measures.set_iou import SetIoU
from truemoment.evaluation.measures.several_moments import MeanIoUOfSeveral, MomentRecall
from truemoment.evaluation.measures.span_precision import SpanPrecision
from truemoment.evaluation.measures.spellings import in_our_grammar
from truemoment.evaluation.measures.threshold_area import ThresholdArea

__all__ = [
    "DCG",
    "FAMILIES",
    "AbstentionMeasure",
    "Abstentions",
    "AveragePrecisionAt",
    "AxIoU",
    "CorrectAbstention",
    "DiscountedRecall",
    "FalseAbstention",
    "HighlightAveragePrecision",
    "HighlightHit",
    "HitRule",
    "MatchedF1",
    "MeanAveragePrecision",
    "MeanIoU",
    "Measure",
    "NCxIoU",
    "OverlapMeasure",
    "Overlaps",
    "Recall",
    "SaliencyMeasure",
    "SaliencyPair",
    "SetIoU",
    "Statistic",
    "as_measure",
    "as_measures",
    "is_of_sets",
    "lower_is_better",
    "papers_of",
    "parse_measure",
    "parse_measures",
    "why_undefined",
]


class MeasureFamily(NamedTuple):
    """Measures that differ only in their options."""

    read: Callable[[Written], Measure]
    written: str
    """Example of its text."""
    meaning: str
    """Summary in a line."""


def _read_distribution(text: str) -> tuple[str | float, ...]:
    name, _, values = text.partition("(")
    numbers = [float(value) for value in values.removesuffix(")").split(",")] if values else []
    return (name, *numbers)


def _read_hit(written: Written) -> HighlightHit:
    if written.rank() != 1:
        raise MeasureError(f"{written.text!r}: QVHighlights defines HIT@1 only")
    return HighlightHit(written.option("min", str))


def _read_recall(written: Written) -> Recall | RecallIoP:
    if (iop := written.maybe("IoP", float)) is not None:
        return RecallIoP(written.rank(), iop, written.ref())
    return Recall(written.rank(), written.option("IoU", float), written.maybe("length", str), written.ref())


FAMILIES = Registry[MeasureFamily](
    "measures",
    {
        "R": MeasureFamily(
            _read_recall,
            "R@5,IoU=0.7",
            "recall: a hit among the first n answers (Closer Look, eq. 1); IoP=m in place of IoU: NExT-GQA's",
        ),
        "dR": MeasureFamily(
            lambda w: DiscountedRecall(w.rank(), w.option("IoU", float), w.ref()),
            "dR@1,IoU=0.5",
            "discounted recall: hits count less the further their ends are off (Closer Look, eq. 2)",
        ),
        "mIoU": MeasureFamily(
            lambda w: MeanIoUOfSeveral(w.rank()) if w.has_rank else MeanIoU(w.ref()),
            "mIoU",
            "mean IoU of the first answer; mIoU@k: of k answers, each with a reference of its own (QV-M2)",
        ),
        "mIoP": MeasureFamily(
            lambda w: MeanIoP(w.ref()), "mIoP", "mean share of the first answer that lies inside a reference (NExT-GQA)"
        ),
        "AxIoU": MeasureFamily(
            lambda w: AxIoU(w.rank(), w.ref()),
            "AxIoU@10",
            "average max IoU: mean over k = 1..K of the best IoU so far (AxIoU paper, eq. 5)",
        ),
        "NCxIoU": MeasureFamily(
            lambda w: NCxIoU(w.rank(), w.option("p", _read_distribution, ("uniform",)), w.ref()),
            "NCxIoU@10,p=geometric(0.5)",
            "best IoU at the rank where a user stops; p=uniform|geometric(s)|weights(...) (AxIoU paper, eq. 4)",
        ),
        "AP": MeasureFamily(
            lambda w: AveragePrecisionAt(w.rank(), w.option("IoU", float), w.ref()),
            "AP@10,IoU=0.5",
            "mean precision over ranks 1..K (AxIoU paper, eq. 12)",
        ),
        "mAP": MeasureFamily(
            lambda w: MeanAveragePrecision(w.maybe("IoU", float), w.maybe("length", str)),
            "mAP,IoU=0.5",
            "interpolated average precision over several windows (QVHighlights)",
        ),
        "DCG": MeasureFamily(
            lambda w: DCG(w.rank(), w.ref()), "DCG@10", "discounted cumulative gain of the IoU (AxIoU paper, eq. 15)"
        ),
        "F1": MeasureFamily(
            lambda w: MatchedF1(w.option("IoU", float)), "F1,IoU=0.5", "F1 of the set of answers, matched one to one"
        ),
        "CoverF1": MeasureFamily(
            lambda w: CoveredF1(w.option("IoU", float)),
            "CoverF1,IoU=0.5",
            "F1 of answers that reach a reference and references that are reached, unpaired (E.T. Bench)",
        ),
        "SecondsF1": MeasureFamily(
            lambda _: SecondsF1(), "SecondsF1", "F1 of the whole seconds that the set of answers covers (E.T. Bench)"
        ),
        "mR": MeasureFamily(
            lambda w: MomentRecall(w.rank(), w.maybe("IoU", float)),
            "mR@2",
            "share of a query's moments that its first k answers find, over IoU 0.3 to 0.95 or at one (QV-M2)",
        ),
        "SetIoU": MeasureFamily(
            lambda _: SetIoU(), "SetIoU", "IoU of all answers together with all references together"
        ),
        "Area": MeasureFamily(
            lambda w: ThresholdArea(w.option("of", str)),
            "Area,of=IoU",
            "area over thresholds of the set's IoU, precision or recall; of=IoU|precision|recall (VUE-TR)",
        ),
        "SpanAP": MeasureFamily(
            lambda w: SpanPrecision(w.rank()),
            "SpanAP@5",
            "average precision of the first K answers, graded by IoU with the references' span (MomentSeeker)",
        ),
        "CorrectAbstention": MeasureFamily(
            lambda _: CorrectAbstention(),
            "CorrectAbstention",
            "share of abstentions on queries without a moment in the video",
        ),
        "FalseAbstention": MeasureFamily(
            lambda _: FalseAbstention(),
            "FalseAbstention",
            "share of abstentions on queries with a moment in the video; lower is better",
        ),
        "HIT": MeasureFamily(
            _read_hit,
            "HIT@1,min=VeryGood",
            "is the clip rated highest a highlight? min=Fair|Good|VeryGood (QVHighlights)",
        ),
        "HL-mAP": MeasureFamily(
            lambda w: HighlightAveragePrecision(w.option("min", str)),
            "HL-mAP,min=Good",
            "average precision of ranking clips; min=Fair|Good|VeryGood (QVHighlights)",
        ),
    },
    MeasureFamily,
)
"""Every family by name."""


def parse_measure(text: str) -> Measure:
    """Return a measure by its text.

    Raises
    ------
    MeasureError
        With the text, what was found and what was expected.

    Examples
    --------
    >>> parse_measure("R@5,IoU=0.7[ref=merged]")
    Recall(n=5, iou=0.7, length=None, ref='merged')
    >>> str(parse_measure("NCxIoU@10,p=geometric(0.5)"))
    'NCxIoU@10,p=geometric(0.5)'
    """
    try:
        return _parse(text)
    except MeasureError as error:
        meant = in_our_grammar(text)
        if meant is None or meant == text.strip():
            raise
        is_known = Written(text.strip()).name in FAMILIES
        why = str(error) if is_known else f"{text!r} is not in the grammar of measures"
        raise MeasureError(f"{why}; did you mean {meant}?") from None


def as_measure(measure: Measure | str) -> Measure:
    """Return a measure by its text, or the measure itself."""
    return parse_measure(measure) if isinstance(measure, str) else measure


def as_measures(measures: str | Iterable[Measure | str]) -> tuple[Measure, ...]:
    """Return distinct measures by one text, or by texts and measures; refuse none."""
    if isinstance(measures, str):
        return parse_measures(measures)
    if distinct := tuple(dict.fromkeys(map(as_measure, measures))):
        return distinct
    raise MeasureError("got no measure, expected at least one")


def _parse(text: str) -> Measure:
    written = Written(text.strip())
    if written.name not in FAMILIES:
        raise MeasureError(f"{text!r}: unknown measure {written.name}, expected {one_of_known(written.name, FAMILIES)}")
    measure = FAMILIES[written.name].read(written)
    written.finish()
    return measure


def parse_measures(text: str) -> tuple[Measure, ...]:
    """Return distinct measures by their texts, separated by ``;``, or by commas where the next text is no option.

    Raises
    ------
    MeasureError
        If the text has no measure, or an invalid one.

    Examples
    --------
    >>> [str(m) for m in parse_measures("mIoU; R@1,IoU=0.5; mIoU")]
    ['mIoU', 'R@1,IoU=0.5']
    >>> [str(m) for m in parse_measures("R@1,IoU=0.5, mIoU")]
    ['R@1,IoU=0.5', 'mIoU']
    """
    texts = re.split(r";|,(?![^()]*\))(?=[^,;=]*(?:[,;]|$))", text)  # options have an equals sign
    measures = tuple(dict.fromkeys(parse_measure(part) for part in texts if part.strip()))
    if not measures:
        raise MeasureError(f"{text!r}: got no measure, expected some separated by ';'")
    return measures
