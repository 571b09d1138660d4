"""A protocol: all evaluation choices that published figures depend on, as one frozen value.

A protocol prints and parses: ``default``, or ``default,comparison=>=,tolerance=none`` with changed fields. Each named
protocol is a small file that gives the source of every field.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_type_hints

from truemoment.base.boundary.keyed import expected, is_allowed, print_number, read_pairs, read_value, write_value
from truemoment.base.errors import ProtocolError
from truemoment.base.intervals import TIE, Denominator
from truemoment.base.papers import Paper
from truemoment.evaluation.measures.base import Comparison, HitRule
from truemoment.evaluation.references import ReferenceRule

Times = Literal["seconds", "normalised"]
Precision = Literal["float64", "float32"]
Ranking = Literal["score", "file"]
Missing = Literal["worst", "refuse", "drop"]
Empty = Literal["drop", "abstain"]
Rounding = Literal["nearest", "truncate"]

OURS: Mapping[str, str] = MappingProxyType(
    {
        "unreadable": "not read in a source; ours: it costs score, as a wrong answer does",
        "empty": "not read in a source; ours: left out, as in data where every query has a moment",
    }
)
"""Reasons for the fields that no published evaluator settles."""


@dataclass(frozen=True)
class Protocol:
    """An evaluation convention.

    Parameters
    ----------
    name
        Its name.
    summary
        Description in a line.
    source
        Paper and section, or repository, commit and files.
    comparison
        A hit is an IoU ``>`` m or ``>=`` m.
    tolerance
        IoUs this close to m count as equal to it, 0 to below 0.5; None compares plain floating-point numbers.
    precision
        Floating-point type in which IoUs are computed.
    denominator
        Form of the IoU's denominator: ``hull`` or ``union``.
    ap_denominator
        The same for mAP; None for `denominator`.
    epsilon
        Added to the denominator, in the unit of the times; 0 or more.
    times
        ``seconds``, or ``normalised`` by the video's duration.
    clip_references, clip_predictions
        Whether times are first clipped to [0, duration].
    nms_threshold
        Non-maximum suppression before anything else: IoU in [0, 1] above which the lower-ranked answer is dropped, or
        None.
    nms_denominator
        Form of that IoU's denominator.
    top
        Number of answers that count (after suppression), 1 or more; None for all.
    ranking
        Rank by falling ``score``, or by the order of the ``file``.
    references
        How several references count.
    missing
        A query with a reference moment and no answer (no row, or an abstention) scores the ``worst`` value, makes the
        protocol ``refuse`` the predictions, or is ``drop``-ped from the mean.
    unreadable
        The same for a query whose answer in words could not be read.
    empty
        A query without a reference moment is ``drop``-ped from measures of moments; or it scores 1 if the method
        abstains (``abstain``) and 0 if it answers. `missing` and `unreadable` apply as above.
    decimals, rounding
        Format of percentages: 0 to 15 decimals, rounded to ``nearest`` or ``truncate``-d.
    measures
        Default measures.
    read_in
        Source of single fields, or the reason for their value.
    papers
        The paper whose figures follow the convention, where it is in :mod:`truemoment.base.papers`.
    """

    name: str
    summary: str
    source: str
    comparison: Comparison = ">"
    tolerance: float | None = TIE
    precision: Precision = "float64"
    denominator: Denominator = "hull"
    ap_denominator: Denominator | None = None
    epsilon: float = 0.0
    times: Times = "seconds"
    clip_references: bool = False
    clip_predictions: bool = False
    nms_threshold: float | None = None
    nms_denominator: Denominator = "hull"
    top: int | None = None
    ranking: Ranking = "score"
    references: ReferenceRule = "nearest"
    missing: Missing = "worst"
    unreadable: Missing = "worst"
    empty: Empty = "drop"
    decimals: int = 2
    rounding: Rounding = "nearest"
    measures: str = "R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7; mIoU"
    read_in: Mapping[str, str] = field(default_factory=dict, hash=False)
    papers: tuple[Paper, ...] = ()

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        for name in CONVENTION_FIELDS:
            value = getattr(self, name)
            if not is_allowed(_HINTS[name], value):
                raise ProtocolError(f"{name}: got {value!r}, expected {expected(_HINTS[name])}")
        problems = [
            (self.tolerance is not None and not 0 <= self.tolerance < 0.5, "tolerance", "none or 0 to 0.5"),
            (not 0 <= self.epsilon < math.inf, "epsilon", "0 or more"),
            (self.nms_threshold is not None and not 0 <= self.nms_threshold <= 1, "nms_threshold", "0 to 1"),
            (self.top is not None and self.top < 1, "top", "1 or more"),
            (not 0 <= self.decimals <= 15, "decimals", "0 to 15"),
        ]
        for wrong, name, allowed in problems:
            if wrong:
                raise ProtocolError(f"{name}: got {getattr(self, name)}, expected {allowed}")

    @property
    def hit(self) -> HitRule:
        """When an IoU reaches a threshold."""
        return HitRule(self.comparison, self.tolerance)

    @property
    def needs_duration(self) -> bool:
        """Whether the convention is undefined without the videos' durations."""
        return self.times == "normalised" or self.clip_references or self.clip_predictions

    def convention(self) -> dict[str, Any]:
        """Return the fields that can change a figure, by name."""
        return {name: getattr(self, name) for name in CONVENTION_FIELDS}

    def signature(self) -> str:
        """Write every field that can change a figure on one line.

        Examples
        --------
        >>> from truemoment.evaluation.protocols import get_protocol
        >>> get_protocol("default").signature()
        'protocol:default|hit:IoU>m|tie:1e-09|iou:hull,float64|times:seconds|rank:score|ref:nearest|missing:worst'
        """
        times = self.times
        clipped = [w for w, on in (("ref", self.clip_references), ("pred", self.clip_predictions)) if on]
        iou: list[str] = [self.denominator, self.precision]
        if self.epsilon:
            iou.append(f"+{print_number(self.epsilon)}")
        if self.ap_denominator is not None:
            iou.append(f"mAP {self.ap_denominator}")
        parts = [
            f"protocol:{self.name}",
            f"hit:IoU{self.comparison}m",
            f"tie:{'plain' if self.tolerance is None else print_number(self.tolerance)}",
            f"iou:{','.join(iou)}",
            f"times:{times}" + (f",clipped {'+'.join(clipped)}" if clipped else ""),
            f"nms:{print_number(self.nms_threshold)} {self.nms_denominator}" if self.nms_threshold is not None else "",
            f"top:{self.top}" if self.top is not None else "",
            f"rank:{self.ranking}",
            f"ref:{self.references}",
            f"missing:{self.missing}",
            f"unreadable:{self.unreadable}" if self.unreadable != "worst" else "",
            f"empty:{self.empty}" if self.empty != "drop" else "",
            f"decimals:{self.decimals} {self.rounding}" if (self.decimals, self.rounding) != (2, "nearest") else "",
        ]
        return "|".join(part for part in parts if part)

    def changed(self, **fields: Any) -> Protocol:  # noqa: ANN401 - the fields have types of their own
        """Return the protocol with fields changed; its name then lists the changes."""
        changes = ",".join(f"{name}={write_value(value)}" for name, value in fields.items())
        return dataclasses.replace(self, name=f"{self.name},{changes}", **fields)

    def percent(self, fraction: float) -> str:
        """Print a fraction as the convention prints percentages.

        Examples
        --------
        >>> from truemoment.evaluation.protocols import get_protocol
        >>> get_protocol("default").percent(0.12346), get_protocol("closer-look").percent(0.12346)
        ('12.35', '12.34')
        """
        value = 100 * fraction
        if self.rounding == "truncate":
            scale = 10**self.decimals
            value = math.floor(round(value * scale, 6)) / scale  # 6: undo the last bits of 100 * fraction
        return f"{value:.{self.decimals}f}"


_NOT_CONVENTION = ("name", "summary", "source", "measures", "read_in", "papers")
CONVENTION_FIELDS: tuple[str, ...] = tuple(
    f.name for f in dataclasses.fields(Protocol) if f.name not in _NOT_CONVENTION
)


_HINTS = {name: hint for name, hint in get_type_hints(Protocol).items() if name in CONVENTION_FIELDS}


def read_fields(texts: list[str], protocol: str) -> dict[str, Any]:
    """Read changes of fields, each written as ``field=value``; errors name the protocol's text."""
    pairs = read_pairs(texts, CONVENTION_FIELDS, within=f"protocol {protocol!r}", error=ProtocolError)
    return {name: read_value(name, text, _HINTS[name], error=ProtocolError) for name, text in pairs.items()}
