"""``truemoment.MomentMetric``: the measures of an epoch, from its batches."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from truemoment.base.errors import InputError, MeasureError, UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Measure, as_measures, parse_measures
from truemoment.evaluation.metric.batches import BatchMoments, as_array, first_rows, ids_of_batch
from truemoment.evaluation.metric.seen import SeenQueries, decode, encode, same_answer
from truemoment.evaluation.protocols import Protocol, get_protocol, protocol_for_dataset


class MissingQueriesWarning(UserWarning):
    """Measures are computed over a part of the expected queries."""


class MomentMetric:
    """Measures of an epoch, fed batch by batch; the same figures as :func:`truemoment.evaluate`.

    Parameters
    ----------
    measures
        Text (``"R@1,IoU=0.5; mIoU"``) or values. [default: those of the protocol]
    protocol
        A name, a name with changed fields, or a value. [default: that of the dataset of `expected`, else ``default``]
    expected
        The queries of a full epoch: annotations, which then are the references too, or ids. Other queries are refused,
        and :attr:`n_missing` is the number of those not seen.

    Examples
    --------
    >>> metric = MomentMetric("R@1,IoU=0.5; mIoU", expected=["v#0", "v#1"])
    >>> metric.update([[(2.0, 5.0, 0.9)], [(0.0, 4.0, 0.3)]], [(2.0, 6.0), (0.0, 9.0)], ["v#0", "v#1"])
    >>> metric.compute()
    {'R@1,IoU=0.5': 0.5, 'mIoU': 0.5972222222222222}
    >>> metric.reset()
    """

    def __init__(
        self,
        measures: str | Sequence[Measure | str] | None = None,
        protocol: str | Protocol | None = None,
        *,
        expected: Annotations | Iterable[Any] | None = None,
    ) -> None:
        """Check measures, protocol and ids before the first epoch."""
        self.annotations = expected if isinstance(expected, Annotations) else None
        if protocol is None:
            protocol = protocol_for_dataset("own" if self.annotations is None else self.annotations.dataset)
        self.protocol = get_protocol(protocol) if isinstance(protocol, str) else protocol
        self.measures = _measures(measures, self.protocol)
        self._expected: dict[str, None] | None = None
        if expected is not None:
            named = expected.queries.query_id if isinstance(expected, Annotations) else expected
            self._expected = dict.fromkeys(ids_of_batch(named, "expected"))
        self._parts: list[SeenQueries] = []
        self._place: dict[str, tuple[int, int]] = {}

    def update(
        self,
        predictions: Any,  # noqa: ANN401 - tensors, arrays or lists
        references: Any = None,  # noqa: ANN401 - tensors, arrays or lists
        query_ids: Iterable[Any] | None = None,
        *,
        video_ids: Iterable[Any] | None = None,
        durations_s: Iterable[Any] | None = None,
    ) -> None:
        """Add the B queries of a batch. A query that was seen counts once if it is equal, and is an error if not.

        Parameters
        ----------
        predictions
            Moments in seconds, per query (n, 2) or (n, 3) with the score last; higher is better, and without scores
            the order is the rank. A tensor or array (B, n, 2 or 3) or (B, 2 or 3), or B tensors, arrays or lists.
            n = 0 is an abstention. Rows of NaN are padding.
        references
            Reference moments in seconds, per query (m, 2), in the same forms. m = 0: there is no such moment.
            Omit them if `expected` is annotations.
        query_ids
            B texts, or whole numbers such as the rows of the dataset, also as a tensor. They are required: several
            processes may see the same query, because samplers repeat queries to fill the last batch.
        video_ids
            B texts or numbers; intervals resample videos. [default: each query has its own video]
        durations_s
            B durations of the videos in seconds, for measures and protocols that need them, as ``dR@1,IoU=0.5``.
        """
        if query_ids is None:
            raise UsageError("query_ids are missing; give ids, or the rows of the dataset as whole numbers")
        if (references is None) == (self.annotations is None):
            fault = "missing; give references, or annotations as expected" if references is None else "given twice"
            raise UsageError(f"references are {fault}" + ("" if references is None else ": expected= contains them"))
        if references is not None and durations_s is None:
            needing = [str(measure) for measure in self.measures if measure.needs_duration]
            needing += [f"protocol {self.protocol.name}"] if self.protocol.needs_duration else []
            if needing:
                raise MeasureError(f"{needing[0]} needs durations_s; give them, or name measures that need none")
        ids = ids_of_batch(query_ids, "query_ids")
        answers = BatchMoments.of_batch(predictions, "predictions", (2, 3))
        moments = None if references is None else BatchMoments.of_batch(references, "references", (2,))
        videos = ids if video_ids is None else ids_of_batch(video_ids, "video_ids")
        durations = np.full(len(ids), np.nan) if durations_s is None else as_array(durations_s, "durations_s")
        columns = {"predictions": answers, "references": moments, "video_ids": videos, "durations_s": durations}
        for name, column in columns.items():
            if column is not None and len(column) != len(ids):
                raise InputError(f"got {len(column)}, expected {len(ids)}, one for each query id", field=name)
        for rows in first_rows(ids):
            names = [ids[row] for row in rows]
            annotations = None
            if moments is not None:
                annotations = moments[rows].as_annotations(names, [videos[row] for row in rows], durations[rows])
            self._add(SeenQueries(answers[rows].as_predictions(names), annotations))

    def _add(self, part: SeenQueries) -> None:
        """Add queries that are expected; one that was seen counts once."""
        if (part.annotations is None) != (self.annotations is not None):
            raise UsageError("one metric has annotations as expected and the other has not; expected the same settings")
        new = np.ones(len(part), dtype=bool)
        for row, name in enumerate(part.predictions.query_id):
            if self._expected is not None and name not in self._expected:
                n_expected = len(self._expected)
                raise InputError(f"{name!r} is not among the {n_expected:,} expected queries", field="query_ids")
            if name in self._place:
                new[row] = False
                number, place = self._place[name]
                earlier, later = self._parts[number].of_query(place), part.of_query(row)
                if not same_answer(earlier, later):
                    raise InputError(
                        f"query {name!r} came twice and differs: {_brief(earlier)}, then {_brief(later)}",
                        hint="call reset() before each epoch, and give each query its own id",
                    )
        part = part.select_queries(new) if not new.all() else part
        for row, name in enumerate(part.predictions.query_id):
            self._place[name] = len(self._parts), row
        self._parts.append(part)

    @property
    def n_queries(self) -> int:
        """Number of queries seen."""
        return len(self._place)

    @property
    def n_missing(self) -> int | None:
        """Number of expected queries that were not seen; None if it is not known which are expected."""
        return None if self._expected is None else len(self._expected) - len(self._place)

    def records(self) -> tuple[Annotations, Predictions]:
        """Return the queries seen as records, in the order of `expected`, else in that in which they came.

        ``annotations, predictions = metric.records()``, then ``evaluate(predictions, annotations=annotations,
        resamples=1000)`` computes intervals.
        """
        if not self._place:
            raise UsageError("the metric has seen no query; call update before compute")
        if len(self._parts) > 1:
            self._parts = [SeenQueries.joined(self._parts)]
            self._place = {name: (0, row) for row, name in enumerate(self._parts[0].predictions.query_id)}
        predictions, references = self._parts[0].predictions, self._parts[0].annotations or self.annotations
        assert references is not None  # noqa: S101 - update requires them
        if self._expected is not None:
            names = [name for name in self._expected if name in self._place]
            references = references.in_order(names)
        return references, predictions

    def compute(self) -> dict[str, float]:
        """Return the value of each measure over the queries seen, as a fraction; NaN if undefined.

        If expected queries are missing, a :class:`MissingQueriesWarning` has their number: they do not count as misses.
        """
        annotations, predictions = self.records()
        if self.n_missing and self._expected is not None:
            some = ", ".join([name for name in self._expected if name not in self._place][:3])
            warnings.warn(
                f"{self.n_missing:,} of {len(self._expected):,} expected queries are missing ({some}, ...): "
                f"the measures are over the {self.n_queries:,} queries seen",
                MissingQueriesWarning,
                stacklevel=2,
            )
        scores = evaluate(annotations, predictions, self.measures, self.protocol)
        return {str(measure): scores.value(measure) for measure in scores.measures}

    def reset(self) -> None:
        """Remove the queries seen; measures, protocol and expected queries stay."""
        self._parts, self._place = [], {}

    def state(self) -> bytes:
        """Return the queries seen as bytes, to send them to another process."""
        return encode(self._parts)

    def merge(self, other: MomentMetric | bytes) -> None:
        """Add the queries of another metric, or of its :meth:`state`."""
        for part in decode(other) if isinstance(other, bytes) else other._parts:
            self._add(part)

    def gather(self) -> None:
        """Add the queries of all processes of ``torch.distributed``; each process must call it.

        Without several processes, nothing changes. Queries are then in the same order everywhere.
        """
        from torch import distributed  # noqa: PLC0415 - only training over several processes needs it

        if not (distributed.is_available() and distributed.is_initialized()):
            return
        states = [b""] * distributed.get_world_size()
        distributed.all_gather_object(states, self.state())
        self.reset()
        for state in states:
            self.merge(state)


def _measures(measures: str | Sequence[Measure | str] | None, protocol: Protocol) -> tuple[Measure, ...]:
    """Return the measures as values; None are those of the protocol, without clip ratings."""
    if measures is None:
        return tuple(measure for measure in parse_measures(protocol.measures) if measure.needs != "saliency")
    parsed = as_measures(measures)
    rating = next((measure for measure in parsed if measure.needs == "saliency"), None)
    if rating is not None:
        raise MeasureError(f"{rating} needs clip ratings, which a metric does not take; use evaluate")
    return parsed


def _brief(answer: tuple[str, Floats, Floats]) -> str:
    """Return the video, the first predicted moment and the references of a query in words."""
    video, moments, references = answer
    first = f"first moment {moments[0, :2].tolist()}" if len(moments) else "no moment"
    return f"video {video!r}, {first} of {len(moments)}, references {references.tolist()}"
