"""Scores: the per-query statistics of an evaluation, from which all later analysis starts.

The value of a measure is the sum of its numerators over the sum of its weights, so intervals, slices, comparisons and
tables never compare predictions with references again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec
import numpy as np

from truemoment.base.boundary.arrays import pack_json, read_npz, refusing_damage, unpack_json, write_npz
from truemoment.base.boundary.documents import Measured
from truemoment.base.boundary.own_path import AnyPath, any_path
from truemoment.base.errors import InputError, MeasureError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Strings, as_strings, numbers_of
from truemoment.base.version import __version__ as version
from truemoment.evaluation.measures import Measure, parse_measure, why_undefined
from truemoment.evaluation.protocols import Protocol


@dataclass(frozen=True, eq=False)
class Scores:
    """Per-query statistics of an evaluation.

    Parameters
    ----------
    measures : M measures
    protocol
        The convention.
    query_id, video_id : (Q,) text
    numerator, weight : (M, Q)
        A measure's value is the sum of numerators over the sum of weights; weight 0 is undefined.
    on_threshold : (M,)
        Queries exactly on the threshold, -1 for measures that no single IoU decides.
    touched
        Number of queries that the protocol changed, by kind of change.
    dataset, split, annotations_sha256
        The evaluated annotations.
    """

    measures: tuple[Measure, ...]
    protocol: Protocol
    query_id: Strings
    video_id: Strings
    numerator: Floats
    weight: Floats
    on_threshold: Ints
    touched: dict[str, int] = field(default_factory=dict)
    dataset: str = "own"
    split: str = "all"
    annotations_sha256: str = ""

    def __len__(self) -> int:
        return len(self.query_id)

    @property
    def n_videos(self) -> int:
        """Number of distinct videos."""
        return len(set(self.video_id))

    def row(self, measure: str | Measure) -> int:
        """Row of a measure, given as a value or a text."""
        names = [str(measure) for measure in self.measures]
        wanted = str(measure)
        if wanted not in names and isinstance(measure, str):
            wanted = str(parse_measure(measure))  # in another spelling, as "AxIoU@010"
        if wanted in names:
            return names.index(wanted)
        raise MeasureError(f"{wanted}: not among the measures computed: {'; '.join(map(str, self.measures))}")

    def value(self, measure: str | Measure) -> float:
        """Value of a measure as a fraction; NaN if undefined.

        Examples
        --------
        >>> from truemoment import Annotations, Predictions
        >>> from truemoment.evaluation.evaluate import evaluate
        >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
        >>> scores = evaluate(a, Predictions.from_lists({"v#0": [(2.0, 5.0)]}))
        >>> scores.value("mIoU"), scores.value("R@1,IoU=0.50")  # the second in another spelling
        (0.75, 1.0)
        """
        row = self.row(measure)
        total = float(self.weight[row].sum())
        return float(self.numerator[row].sum()) / total if total else float("nan")

    def only(self, measures: Sequence[Measure]) -> Scores:
        """Keep some of the measures, in this order."""
        rows = [self.row(measure) for measure in measures]
        return dataclasses.replace(
            self,
            measures=tuple(self.measures[row] for row in rows),
            numerator=self.numerator[rows],
            weight=self.weight[rows],
            on_threshold=self.on_threshold[rows],
        )

    def signature(self) -> str:
        """Write convention, data and version on one line."""
        data = f"data:{self.dataset}/{self.split}#{self.annotations_sha256[:8]}"
        return f"{self.protocol.signature()}|{data}|truemoment:{version}"

    def measured(self, intervals: Floats | None = None) -> list[Measured]:
        """Return the values in the order of the measures, with 95 % `intervals` (M, 2) as fractions where finite."""
        figures = []
        video = numbers_of(self.video_id)
        for row, measure in enumerate(self.measures):
            counts = self.weight[row] > 0
            value = self.value(measure)
            defined = bool(counts.any())
            ci95 = None
            if intervals is not None and np.all(np.isfinite(intervals[row])):
                ci95 = (float(intervals[row, 0]), float(intervals[row, 1]))
            figures.append(
                Measured(
                    measure=str(measure),
                    value=value if defined else None,
                    why="" if defined else why_undefined(measure),
                    n_queries=int(counts.sum()),
                    n_videos=int(np.count_nonzero(np.bincount(video[counts]))),
                    on_threshold=None if self.on_threshold[row] < 0 else int(self.on_threshold[row]),
                    signature=f"{measure}|{self.signature()}",
                    ci95=ci95,
                )
            )
        return figures

    def save(self, path: AnyPath | str) -> None:
        """Write the statistics as NPZ (no pickle), complete or not at all."""
        for measure in self.measures:
            if parse_measure(str(measure)) != measure:
                raise MeasureError(f"{measure}: cannot be saved, since the grammar does not read it back as itself")
        protocol = {f.name: getattr(self.protocol, f.name) for f in dataclasses.fields(self.protocol)}
        header = _Saved(
            schema=_Saved.SCHEMA,
            truemoment=version,
            protocol=protocol | {"read_in": dict(self.protocol.read_in)},
            measures=[str(measure) for measure in self.measures],
            touched=self.touched,
            dataset=self.dataset,
            split=self.split,
            annotations_sha256=self.annotations_sha256,
            query_id=self.query_id.tolist(),
            video_id=self.video_id.tolist(),
        )
        write_npz(
            path,
            packed=True,
            header=pack_json(header),
            numerator=self.numerator,
            weight=self.weight,
            on_threshold=self.on_threshold,
        )

    @classmethod
    def load(cls, path: AnyPath | str) -> Scores:
        """Read what :meth:`save` wrote."""
        path = any_path(path)
        with refusing_damage(path, "is not a file of saved scores"):
            head, numerator, weight, on_threshold = read_npz(path, "header", "numerator", "weight", "on_threshold")
            header = unpack_json(head, _Saved)
            protocol = msgspec.convert(header.protocol, Protocol)
            measures = tuple(parse_measure(text) for text in header.measures)
        shape = (len(measures), len(header.query_id))
        right = (
            header.schema == _Saved.SCHEMA
            and len(header.video_id) == len(header.query_id)
            and numerator.shape == weight.shape == shape
            and on_threshold.shape == shape[:1]
            and on_threshold.dtype.kind == "i"
            and numerator.dtype == weight.dtype == np.float64
            and bool(np.all(np.isfinite(numerator)))
            and bool(np.all(np.isfinite(weight)) and np.all(weight >= 0))
        )
        if not right:
            raise InputError("is not a file of saved scores (its parts do not fit together)", path=path)
        return cls(
            measures=measures,
            protocol=protocol,
            query_id=as_strings(header.query_id, "query_id"),
            video_id=as_strings(header.video_id, "video_id"),
            numerator=numerator,
            weight=weight,
            on_threshold=on_threshold,
            touched=header.touched,
            dataset=header.dataset,
            split=header.split,
            annotations_sha256=header.annotations_sha256,
        )


class _Saved(msgspec.Struct):
    """Metadata of a file of saved scores."""

    SCHEMA: ClassVar[str] = "truemoment/scores/1"

    schema: str
    truemoment: str
    protocol: dict[str, Any]
    measures: list[str]
    touched: dict[str, int]
    dataset: str
    split: str
    annotations_sha256: str
    query_id: list[str]
    video_id: list[str]
