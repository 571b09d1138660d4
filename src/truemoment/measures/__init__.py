"""The measures, and the one grammar in which they are written.

==============================  =====================================================================
``R@5,IoU=0.7``                 recall, also ``R@1,IoU=0.5,length=short``
``dR@1,IoU=0.5``                discounted recall
``mIoU``                        mean IoU of the first answer
``AxIoU@10``                    average max IoU
``NCxIoU@10,p=geometric(0.5)``  the same with another distribution of stopping ranks
``AP@10,IoU=0.5``               mean precision over ranks (AxIoU paper, eq. 12)
``mAP``, ``mAP,IoU=0.5``        QVHighlights' interpolated average precision, also ``,length=short``
``DCG@10``                      discounted cumulative gain
``F1,IoU=0.5``                  F1 of the set of answers
``HIT@1,min=VeryGood``          QVHighlights' highlight hit
``HL-mAP,min=Good``             QVHighlights' highlight average precision
==============================  =====================================================================

A suffix ``[ref=nearest|representative|first|merged|pooled|rows]`` chooses how several references count;
without it the protocol's rule holds. Several measures are separated by ``;``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from truemoment.exceptions import MeasureError
from truemoment.measures.average_precision import AveragePrecisionAt, MeanAveragePrecision
from truemoment.measures.base import (
    HitRule,
    Measure,
    OverlapMeasure,
    Overlaps,
    SaliencyMeasure,
    SaliencyPair,
    Statistic,
)
from truemoment.measures.discounted_recall import DiscountedRecall
from truemoment.measures.gain import DCG
from truemoment.measures.highlight import HighlightAveragePrecision, HighlightHit
from truemoment.measures.matched_f1 import MatchedF1
from truemoment.measures.max_iou import AxIoU, MeanIoU, NCxIoU
from truemoment.measures.recall import Recall
from truemoment.references import REFERENCE_RULES, ReferenceRule

__all__ = [
    "DCG",
    "EXAMPLES",
    "FAMILIES",
    "AveragePrecisionAt",
    "AxIoU",
    "DiscountedRecall",
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
    "Statistic",
    "parse_measure",
    "parse_measures",
]

T = TypeVar("T")

_TEXT = re.compile(
    r"(?P<name>[A-Za-z0-9-]+)(?:@(?P<rank>[^,\[\]]*))?(?P<options>(?:,[^\[\]]*)?)(?:\[(?P<suffix>.*)\])?"
)
_OPTION = re.compile(r"\s*([A-Za-z]+)\s*=\s*((?:[^,()]|\([^()]*\))+)")


class Written:
    """The parts of a measure's text; each is taken once, and what is left over is refused.

    Option names may be written in any case.

    Parameters
    ----------
    text
        The measure as it is written.

    Raises
    ------
    MeasureError
        If the text has not the form of a measure, or an option stands twice.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        parts = _TEXT.fullmatch(text)
        if parts is None:
            raise MeasureError(f"{text!r}: expected a measure such as R@1,IoU=0.5 or AxIoU@10")
        self.name = parts["name"]
        self._rank: str | None = parts["rank"]
        self._suffix: str | None = parts["suffix"]
        self._options: dict[str, tuple[str, str]] = {}
        rest = parts["options"]
        while rest:
            option = _OPTION.match(rest, 1) if rest[0] == "," else None
            if option is None or option[1].lower() in self._options:
                raise MeasureError(f"{text!r}: got {rest.removeprefix(',')!r}, expected NAME=VALUE once each")
            self._options[option[1].lower()] = (option[1], option[2].strip())
            rest = rest[option.end() :]

    def rank(self) -> int:
        """Take the whole number behind the @.

        Raises
        ------
        MeasureError
            If there is none of at most six digits.
        """
        if self._rank is None or not re.fullmatch(r"\d{1,6}", self._rank):
            got = "nothing" if self._rank is None else repr(self._rank)
            raise MeasureError(f"{self.text!r}: got {got} behind @, expected a whole number as in {self.name}@5")
        rank, self._rank = int(self._rank), None
        return rank

    def option(self, name: str, read: Callable[[str], T], default: T | None = None) -> T:
        """Take an option; without a default it must be there.

        Parameters
        ----------
        name
            Name of the option.
        read
            Makes its value of its text; a ValueError says that the text is none.
        default
            Value of an option that is absent; None for one that must be there.

        Raises
        ------
        MeasureError
            If it must be there and is not, or its text cannot be read.
        """
        if name.lower() not in self._options:
            if default is None:
                raise MeasureError(f"{self.text!r}: option {name} is missing, expected {name}=...")
            return default
        _, value = self._options.pop(name.lower())
        try:
            return read(value)
        except ValueError:
            raise MeasureError(f"{self.text!r}: got {name}={value}, expected a number") from None

    def maybe(self, name: str, read: Callable[[str], T]) -> T | None:
        """Take an option that may be absent, None then.

        Raises
        ------
        MeasureError
            If its text cannot be read.
        """
        return self.option(name, read) if name.lower() in self._options else None

    def ref(self) -> ReferenceRule | None:
        """Take the reference rule of the suffix; None without one.

        Raises
        ------
        MeasureError
            If the suffix names no reference rule.
        """
        if self._suffix is None:
            return None
        rule = next((rule for rule in REFERENCE_RULES if self._suffix == f"ref={rule}"), None)
        if rule is None:
            raise MeasureError(f"{self.text!r}: got [{self._suffix}], expected [ref={'|'.join(REFERENCE_RULES)}]")
        self._suffix = None
        return rule

    def finish(self) -> None:
        """Refuse whatever nobody took.

        Raises
        ------
        MeasureError
            Naming the option, rank or suffix that the measure does not have.
        """
        if self._options:
            raise MeasureError(
                f"{self.text!r}: {self.name} has no option {', '.join(name for name, _ in self._options.values())}"
            )
        if self._rank is not None:
            raise MeasureError(f"{self.text!r}: {self.name} takes no @{self._rank}")
        if self._suffix is not None:
            raise MeasureError(f"{self.text!r}: {self.name} looks at all references and takes no [{self._suffix}]")


def _read_distribution(text: str) -> tuple[str | float, ...]:
    name, _, values = text.partition("(")
    numbers = [float(value) for value in values.removesuffix(")").split(",")] if values else []
    return (name, *numbers)


def _read_hit(written: Written) -> HighlightHit:
    if written.rank() != 1:
        raise MeasureError(f"{written.text!r}: QVHighlights defines HIT@1 only")
    return HighlightHit(written.option("min", str))


FAMILIES: Mapping[str, tuple[Callable[[Written], Measure], str]] = {
    "R": (
        lambda w: Recall(w.rank(), w.option("IoU", float), w.maybe("length", str), w.ref()),
        "recall: a hit among the first n answers (Closer Look, eq. 1)",
    ),
    "dR": (
        lambda w: DiscountedRecall(w.rank(), w.option("IoU", float), w.ref()),
        "discounted recall: hits count less the further their ends are off (Closer Look, eq. 2)",
    ),
    "mIoU": (lambda w: MeanIoU(w.ref()), "mean IoU of the first answer"),
    "AxIoU": (
        lambda w: AxIoU(w.rank(), w.ref()),
        "average max IoU: mean over k = 1..K of the best IoU so far (AxIoU paper, eq. 5)",
    ),
    "NCxIoU": (
        lambda w: NCxIoU(w.rank(), w.option("p", _read_distribution, ("uniform",)), w.ref()),
        "best IoU at the rank where a user stops; p=uniform|geometric(s)|weights(...) (AxIoU paper, eq. 4)",
    ),
    "AP": (
        lambda w: AveragePrecisionAt(w.rank(), w.option("IoU", float), w.ref()),
        "mean precision over ranks 1..K (AxIoU paper, eq. 12)",
    ),
    "mAP": (
        lambda w: MeanAveragePrecision(w.maybe("IoU", float), w.maybe("length", str)),
        "interpolated average precision over several windows (QVHighlights)",
    ),
    "DCG": (lambda w: DCG(w.rank(), w.ref()), "discounted cumulative gain of the IoU (AxIoU paper, eq. 15)"),
    "F1": (lambda w: MatchedF1(w.option("IoU", float)), "F1 of the set of answers, matched one to one"),
    "HIT": (_read_hit, "is the clip rated highest a highlight? min=Fair|Good|VeryGood (QVHighlights)"),
    "HL-mAP": (
        lambda w: HighlightAveragePrecision(w.option("min", str)),
        "average precision of ranking clips; min=Fair|Good|VeryGood (QVHighlights)",
    ),
}
"""Every family by name: how it is read from text, and what it is in a line."""

EXAMPLES: Mapping[str, str] = {
    "R": "R@5,IoU=0.7",
    "dR": "dR@1,IoU=0.5",
    "mIoU": "mIoU",
    "AxIoU": "AxIoU@10",
    "NCxIoU": "NCxIoU@10,p=geometric(0.5)",
    "AP": "AP@10,IoU=0.5",
    "mAP": "mAP,IoU=0.5",
    "DCG": "DCG@10",
    "F1": "F1,IoU=0.5",
    "HIT": "HIT@1,min=VeryGood",
    "HL-mAP": "HL-mAP,min=Good",
}
"""A measure of each family as it is written."""


def parse_measure(text: str) -> Measure:
    """Read one measure.

    Raises
    ------
    MeasureError
        Naming the text, what came and what was expected.

    Examples
    --------
    >>> parse_measure("R@5,IoU=0.7[ref=merged]")
    Recall(n=5, iou=0.7, length=None, ref='merged')
    >>> str(parse_measure("NCxIoU@10,p=geometric(0.5)"))
    'NCxIoU@10,p=geometric(0.5)'
    """
    written = Written(text.strip())
    if written.name not in FAMILIES:
        raise MeasureError(f"{text!r}: unknown measure {written.name}, expected one of {', '.join(FAMILIES)}")
    measure = FAMILIES[written.name][0](written)
    written.finish()
    return measure


def parse_measures(text: str) -> tuple[Measure, ...]:
    """Read measures separated by ``;``; a repeated one counts once.

    Raises
    ------
    MeasureError
        If the text holds no measure, or one that cannot be read.

    Examples
    --------
    >>> [str(m) for m in parse_measures("mIoU; R@1,IoU=0.5; mIoU")]
    ['mIoU', 'R@1,IoU=0.5']
    """
    measures = tuple(dict.fromkeys(parse_measure(part) for part in text.split(";") if part.strip()))
    if not measures:
        raise MeasureError(f"{text!r}: got no measure, expected some separated by ';'")
    return measures
