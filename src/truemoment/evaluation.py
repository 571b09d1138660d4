"""evaluate(annotations, predictions, measures, protocol) -> Scores.

The one place where answers meet references. It lines predictions up with queries, applies the
protocol (and counts what that touches), holds answers against references block by block, and keeps
one numerator and weight a query and measure. Everything later (intervals, slices, ties, reports)
starts from :class:`Scores` and never matches again.
"""

from __future__ import annotations

import dataclasses
import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import msgspec
import numpy as np

from truemoment import __version__ as version
from truemoment.exceptions import InputError, MeasureError, ProtocolError, TrueMomentError
from truemoment.files import UNREADABLE, atomic_write, read_bytes
from truemoment.intervals import Bools, Floats, Ints, seconds_to_norm, suppress
from truemoment.measures import (
    Measure,
    OverlapMeasure,
    Overlaps,
    SaliencyMeasure,
    SaliencyPair,
    Statistic,
    parse_measure,
    parse_measures,
)
from truemoment.measures.base import TIE
from truemoment.protocols import Protocol, get_protocol, protocol_for_dataset
from truemoment.records import Annotations, Predictions, Strings, as_strings
from truemoment.references import ReferenceRule, References, all_references, apply_rule, pad

OnUnknown = Literal["refuse", "ignore"]

BLOCK_MOMENTS = 1 << 17
"""Moments held against references at a time: small enough to stay in the processor's cache."""


@dataclass(frozen=True)
class Measured:
    """One figure with what it stands on.

    Parameters
    ----------
    measure
        The measure's text.
    value
        The figure, a fraction; None where it is undefined.
    why
        Why it is undefined, else "".
    n_queries, n_videos
        Queries (and their videos) that carry weight.
    on_threshold
        Queries whose best answer stands on the threshold to within 1e-9 (5e-7 if IoUs are float32), so
        that the comparison and the last bit decide them; None for measures that no single IoU decides
        (all but R, dR and AP).
    signature
        Convention, data and version.
    ci95
        95 % interval, where one was computed.
    """

    measure: str
    value: float | None
    why: str
    n_queries: int
    n_videos: int
    on_threshold: int | None
    signature: str
    ci95: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Scores:
    """Per-query statistics of an evaluation: all later analysis starts here.

    Parameters
    ----------
    measures : M measures
    protocol
        The convention.
    query_id, video_id : (Q,) text
    numerator, weight : (M, Q)
        A measure's figure is the sum of numerators over the sum of weights; weight 0 is undefined.
    on_threshold : (M,)
        Queries standing on the threshold, -1 for measures that no single IoU decides.
    touched
        How many queries the protocol changed, by what it did to them.
    dataset, split, annotations_sha256
        What was evaluated on.
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

    def row(self, measure: str | Measure) -> int:
        """Row of a measure, given as a value or in words.

        Raises
        ------
        MeasureError
            If it cannot be read, or is not among the measures computed.
        """
        wanted = str(parse_measure(measure)) if isinstance(measure, str) else str(measure)
        for row, known in enumerate(self.measures):
            if str(known) == wanted:
                return row
        raise MeasureError(f"{wanted}: not among the measures computed: {'; '.join(map(str, self.measures))}")

    def value(self, measure: str | Measure) -> float:
        """Figure of a measure as a fraction; NaN where it is undefined.

        Raises
        ------
        MeasureError
            If it cannot be read, or is not among the measures computed.

        Examples
        --------
        >>> from truemoment import Annotations, Predictions, evaluate
        >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
        >>> evaluate(a, Predictions.from_lists({"v#0": [(2.0, 5.0)]})).value("mIoU")
        0.75
        """
        row = self.row(measure)
        total = float(self.weight[row].sum())
        return float(self.numerator[row].sum()) / total if total else float("nan")

    def signature(self) -> str:
        """Write convention, data and version on one line."""
        data = f"data:{self.dataset}/{self.split}#{self.annotations_sha256[:8]}"
        return f"{self.protocol.signature()}|{data}|truemoment:{version}"

    def measured(self, intervals: Floats | None = None) -> list[Measured]:
        """Return the figures, in the order of the measures.

        Parameters
        ----------
        intervals : (M, 2)
            95 % intervals to set beside them, as fractions; one that is not finite is left out.
        """
        figures = []
        number = {video_id: n for n, video_id in enumerate(dict.fromkeys(self.video_id))}
        video = np.array([number[video_id] for video_id in self.video_id], dtype=np.int64)
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
                    why="" if defined else "no query has a reference that counts",
                    n_queries=int(counts.sum()),
                    n_videos=int(np.count_nonzero(np.bincount(video[counts]))),
                    on_threshold=None if self.on_threshold[row] < 0 else int(self.on_threshold[row]),
                    signature=f"{measure}|{self.signature()}",
                    ci95=ci95,
                )
            )
        return figures

    def save(self, path: Path | str) -> None:
        """Write the statistics as NPZ (no pickle), complete or not at all.

        Raises
        ------
        InputError
            If the file cannot be made.
        """
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
        with atomic_write(Path(path)) as stream:
            np.savez_compressed(
                stream,
                header=np.frombuffer(msgspec.json.encode(header), dtype=np.uint8),
                numerator=self.numerator,
                weight=self.weight,
                on_threshold=self.on_threshold,
            )

    @classmethod
    def load(cls, path: Path | str) -> Scores:
        """Read what :meth:`save` wrote.

        Raises
        ------
        MissingFileError, InputError
            If there is no such file, it is not such a file, or it is damaged.
        """
        path = Path(path)
        data = read_bytes(path)
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                header = msgspec.json.decode(arrays["header"].tobytes(), type=_Saved)
                table = {name: arrays[name] for name in ("numerator", "weight", "on_threshold")}
            protocol = msgspec.convert(header.protocol, Protocol)
            measures = tuple(parse_measure(text) for text in header.measures)
        except (
            *UNREADABLE,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            NotImplementedError,
            MemoryError,
            RuntimeError,
            RecursionError,
            SyntaxError,
            zipfile.BadZipFile,
            TrueMomentError,
        ) as error:
            raise InputError(f"is not a file of saved scores ({error})", path=path) from None
        shape = (len(measures), len(header.query_id))
        right = (
            header.schema == _Saved.SCHEMA
            and len(header.video_id) == len(header.query_id)
            and table["numerator"].shape == table["weight"].shape == shape
            and table["on_threshold"].shape == shape[:1]
            and table["on_threshold"].dtype.kind == "i"
            and all(table[name].dtype == np.float64 for name in ("numerator", "weight"))
            and bool(np.all(np.isfinite(table["numerator"])))
            and bool(np.all(np.isfinite(table["weight"])) and np.all(table["weight"] >= 0))
        )
        if not right:
            raise InputError("is not a file of saved scores (its parts do not fit together)", path=path)
        return cls(
            measures=measures,
            protocol=protocol,
            query_id=as_strings(header.query_id, "query_id"),
            video_id=as_strings(header.video_id, "video_id"),
            numerator=table["numerator"],
            weight=table["weight"],
            on_threshold=table["on_threshold"],
            touched=header.touched,
            dataset=header.dataset,
            split=header.split,
            annotations_sha256=header.annotations_sha256,
        )


class _Saved(msgspec.Struct):
    """What a file of saved scores says beside its tables."""

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


def evaluate(
    annotations: Annotations,
    predictions: Predictions,
    measures: str | Sequence[Measure] | None = None,
    protocol: str | Protocol | None = None,
    *,
    on_unknown: OnUnknown = "refuse",
    progress: bool = False,
) -> Scores:
    """Hold predictions against annotations.

    Parameters
    ----------
    annotations
        The references, times as annotated.
    predictions
        Answers by query id. Queries without an answer count as the protocol says.
    measures
        In words (``"R@1,IoU=0.5; mIoU"``) or as values; the protocol's own by default.
    protocol
        A name, a name with fields changed, or a value; by default the dataset's (``default``, and
        ``moment-detr`` for QVHighlights).
    on_unknown
        What to do with predictions for queries the annotations lack: ``"refuse"`` them, or ``"ignore"``
        them.
    progress
        Show a progress bar on standard error.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        If there is no query, predictions name unknown ones, or a clip is rated that its video lacks.
    ProtocolError
        If the protocol is not known, or refuses the predictions.
    MeasureError
        If a measure cannot be read, or cannot be computed from what is there.

    Examples
    --------
    >>> from truemoment import Annotations, Predictions
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> p = Predictions.from_lists({"v#0": [(4.0, 8.0, 0.9), (2.0, 6.0, 0.8)]})
    >>> scores = evaluate(a, p, "R@1,IoU=0.5; R@5,IoU=0.5")
    >>> scores.value("R@1,IoU=0.5"), scores.value("R@5,IoU=0.5")
    (0.0, 1.0)
    """
    if protocol is None:
        protocol = protocol_for_dataset(annotations.dataset)
    if isinstance(protocol, str):
        protocol = get_protocol(protocol)
    if annotations.n_queries == 0:
        raise InputError(f"{annotations.dataset}/{annotations.split} has no query to evaluate on")
    asked = _asked_measures(measures, protocol, annotations, predictions)
    row = _rows_of_predictions(annotations, predictions, on_unknown)
    _check_durations(annotations, asked, protocol)
    task = _Task.prepare(annotations, predictions, row, protocol)
    touched = dict(task.touched)
    numerator = np.zeros((len(asked), annotations.n_queries))
    weight = np.zeros_like(numerator)
    on_threshold = np.full(len(asked), -1, dtype=np.int64)
    for rule, rows in _by_rule(asked, protocol).items():
        measures_of_rule = [asked[i] for i in rows]
        if rule == "saliency":
            pair = _saliency_pair(annotations, predictions, row)
            silent = np.asarray(np.isnan(pair.predicted).all(axis=1))
            found = _of_ratings(pair, measures_of_rule)
        else:
            silent = np.asarray(task.length == 0)
            found = _of_moments(task, rule, measures_of_rule, progress=progress)
        _settle_silence(annotations, protocol, silent, touched)
        counts = np.where(silent, protocol.missing != "drop", True)
        for at, query, statistic in found:
            block, i = slice(int(query[0]), int(query[-1]) + 1), rows[at]
            unit_counts = counts[query]
            numerator[i, block] = np.bincount(query - block.start, statistic.numerator * unit_counts)
            weight[i, block] = np.bincount(query - block.start, statistic.weight * unit_counts)
            if statistic.margin is not None:
                stands = (np.abs(statistic.margin) <= _slack(statistic.margin)) & (statistic.weight * unit_counts > 0)
                on_threshold[i] = max(on_threshold[i], 0) + len(np.unique(query[stands]))
    queries = annotations.queries
    return Scores(
        measures=asked,
        protocol=protocol,
        query_id=queries.query_id,
        video_id=queries.video_id,
        numerator=numerator,
        weight=weight,
        on_threshold=on_threshold,
        touched=touched,
        dataset=annotations.dataset,
        split=annotations.split,
        annotations_sha256=annotations.sha256,
    )


@dataclass(frozen=True, eq=False)
class _Task:
    """Answers and references in the protocol's order and unit, ready to be held against each other."""

    predictions: Predictions
    start: Floats
    end: Floats
    references: References
    duration: Floats
    first: Ints
    length: Ints
    protocol: Protocol
    touched: dict[str, int]

    @classmethod
    def prepare(cls, annotations: Annotations, predictions: Predictions, row: Ints, protocol: Protocol) -> _Task:
        if protocol.ranking == "score":
            predictions = predictions.ranked_by_score()
        present = row >= 0
        length = np.where(present, np.append(predictions.lengths, 0)[row], 0)
        first = np.where(present, predictions.offsets[row], 0)
        touched = {}
        duration = annotations.duration_s[annotations.offsets[:-1]]
        video_of_list = np.ones(len(predictions))  # lists that no query asks for keep their times
        video_of_list[row[present]] = duration[present]
        ref_start, ref_end, changed = _conform(
            annotations.start_s,
            annotations.end_s,
            annotations.duration_s,
            None,
            times=protocol.times,
            clip=protocol.clip_references,
        )
        if protocol.clip_references:
            owner = np.repeat(np.arange(annotations.n_queries), np.diff(annotations.offsets))
            touched["a clipped reference"] = len(np.unique(owner[changed]))
        start, end, changed = _conform(
            predictions.start_s,
            predictions.end_s,
            video_of_list,
            predictions.lengths,
            times=protocol.times,
            clip=protocol.clip_predictions,
        )
        if protocol.clip_predictions:
            owner = np.repeat(np.arange(len(predictions)), predictions.lengths)
            touched["a clipped answer"] = int(np.isin(np.unique(owner[changed]), row).sum())
        if protocol.times == "normalised":
            duration = np.ones_like(duration)
        dtype = np.dtype(protocol.precision)
        return cls(
            predictions,
            start.astype(dtype, copy=False),
            end.astype(dtype, copy=False),
            all_references(annotations, ref_start.astype(dtype, copy=False), ref_end.astype(dtype, copy=False)),
            duration.astype(dtype, copy=False),
            first,
            length,
            protocol,
            touched,
        )

    def blocks(self, rule: ReferenceRule | Literal["sets"], depth: int | None, *, progress: bool) -> Iterator[Overlaps]:
        """Yield the overlaps of some queries at a time, in order, under a reference rule."""
        longest = max(int(self.length.max(initial=0)), 1)
        width = longest if self.protocol.nms_threshold is not None else self._cut(longest, depth)
        n_queries = max(1, BLOCK_MOMENTS // width)
        starts = range(0, len(self.length), n_queries)
        denominator = self.protocol.denominator
        if rule == "sets" and self.protocol.ap_denominator is not None:
            denominator = self.protocol.ap_denominator
        for low in _with_progress(starts, show=progress):
            block = slice(low, low + n_queries)
            start, end, score, length = self._answers(block, width)
            if self.protocol.nms_threshold is not None:
                kept = suppress(
                    start,
                    end,
                    length,
                    threshold=self.protocol.nms_threshold,
                    denominator=self.protocol.nms_denominator,
                )
                order = np.argsort(~kept, axis=1, kind="stable")[:, : self._cut(longest, depth)]
                start, end, score = (np.take_along_axis(table, order, axis=1) for table in (start, end, score))
                length = kept.sum(axis=1)
            refs = self.references
            chosen = References(refs.start[block], refs.end[block], refs.query[block], length_s=refs.lengths_s[block])
            if rule != "sets":
                chosen = apply_rule(rule, chosen)
            length = np.minimum(length, start.shape[1])
            filled = np.arange(start.shape[1]) < length[:, None]
            if not filled.all():
                for table in (start, end, score):
                    table[~filled] = 0
            if rule == "rows":
                unit = chosen.query - low
                start, end, score, length = start[unit], end[unit], score[unit], length[unit]
            yield Overlaps(
                start=start,
                end=end,
                score=score,
                n_predicted=length,
                references=chosen,
                duration=self.duration[chosen.query],
                hit=self.protocol.hit,
                denominator=denominator,
                epsilon=self.protocol.epsilon,
            )

    def _cut(self, longest: int, depth: int | None) -> int:
        limits = [limit for limit in (depth, self.protocol.top) if limit is not None]
        return min([longest, *limits])

    def _answers(self, block: slice, width: int) -> tuple[Floats, Floats, Floats, Ints]:
        """Lay out the first `width` answers of some queries as tables (Q, width)."""
        first, length = self.first[block], np.minimum(self.length[block], width)
        index = first[:, None] + np.arange(width)
        tables = []
        for column in (self.start, self.end, self.predictions.score):
            if len(column):
                tables.append(np.take(column, index, mode="clip"))
            else:
                tables.append(np.zeros(index.shape, dtype=column.dtype))
        return tables[0], tables[1], tables[2], length


def _settle_silence(annotations: Annotations, protocol: Protocol, silent: Bools, touched: dict[str, int]) -> None:
    """Refuse queries without an answer, or count what becomes of them; `silent` has shape (Q,)."""
    if not silent.any():
        return
    if protocol.missing == "refuse":
        some = ", ".join(annotations.queries.query_id[silent][:3])
        raise ProtocolError(
            f"protocol {protocol.name} refuses predictions without an answer for {int(silent.sum())} of "
            f"{annotations.n_queries} queries ({some}, ...); add missing=worst to score them 0: "
            f"--protocol {protocol.name},missing=worst"
        )
    fate = "left out" if protocol.missing == "drop" else "worst value"
    touched[f"no answer ({fate})"] = max(int(silent.sum()), touched.get(f"no answer ({fate})", 0))


def _conform(
    start: Floats, end: Floats, duration: Floats, lengths: Ints | None, *, times: str, clip: bool
) -> tuple[Floats, Floats, Bools]:
    """Bring moments into a protocol's unit and bounds; also say which were clipped.

    `start` and `end` have shape (N,), `duration` too, or one value a list of moments whose `lengths` add
    up to N.
    """
    if times == "seconds" and not clip:
        return start, end, np.zeros(0, dtype=bool)
    limit = duration if lengths is None else np.repeat(duration, lengths)
    if times == "normalised":
        start, end = seconds_to_norm(start, limit), seconds_to_norm(end, limit)
        limit = np.ones_like(limit)
    if not clip:
        return start, end, np.zeros(0, dtype=bool)
    clipped_start, clipped_end = np.clip(start, 0, limit), np.clip(end, 0, limit)
    return clipped_start, clipped_end, (clipped_start != start) | (clipped_end != end)


def _asked_measures(
    measures: str | Sequence[Measure] | None,
    protocol: Protocol,
    annotations: Annotations,
    predictions: Predictions,
) -> tuple[Measure, ...]:
    if isinstance(measures, str):
        return parse_measures(measures)
    if measures is not None:
        return tuple(dict.fromkeys(measures))
    has_saliency = annotations.saliency is not None and predictions.saliency is not None
    return tuple(m for m in parse_measures(protocol.measures) if has_saliency or m.needs != "saliency")


def _rows_of_predictions(annotations: Annotations, predictions: Predictions, on_unknown: OnUnknown) -> Ints:
    """Row of each query's predictions, -1 where there are none, shape (Q,)."""
    row_of = {query_id: row for row, query_id in enumerate(predictions.query_id)}
    row = np.array([row_of.get(query_id, -1) for query_id in annotations.queries.query_id], dtype=np.int64)
    n_unknown = len(predictions) - int((row >= 0).sum())
    if n_unknown and on_unknown == "refuse":
        known = annotations.queries.index
        some = [query_id for query_id in predictions.query_id if query_id not in known][:3]
        raise InputError(
            f"predictions name {n_unknown} queries that {annotations.dataset}/{annotations.split} lacks "
            f"({', '.join(some)}, ...); is it the right split? on_unknown=ignore leaves them out"
        )
    return row


def _check_durations(annotations: Annotations, measures: Sequence[Measure], protocol: Protocol) -> None:
    unknown = ~(annotations.duration_s > 0)
    if not unknown.any():
        return
    needing = [str(measure) for measure in measures if measure.needs_duration]
    if needing or protocol.needs_duration:
        what = needing[0] if needing else f"protocol {protocol.name}"
        some = ", ".join(dict.fromkeys(annotations.query_id[unknown][:3]))
        raise MeasureError(
            f"{what} needs every video's duration; {len(set(annotations.video_id[unknown]))} videos have none "
            f"(queries {some}, ...); give durations or ask for other measures"
        )


_Group = ReferenceRule | Literal["sets", "saliency"]


def _by_rule(measures: Sequence[Measure], protocol: Protocol) -> dict[_Group, list[int]]:
    """Group measures that can share one pass: by reference rule, or by what they are computed from."""
    groups: dict[_Group, list[int]] = {}
    for i, measure in enumerate(measures):
        group = (measure.ref or protocol.references) if measure.needs == "overlaps" else measure.needs
        groups.setdefault(group, []).append(i)
    return groups


def _depth(measures: Sequence[Measure]) -> int | None:
    depths = [measure.depth for measure in measures]
    return None if None in depths else max(cast(list[int], depths))


def _of_moments(
    task: _Task, rule: ReferenceRule | Literal["sets"], measures: Sequence[Measure], *, progress: bool
) -> Iterator[tuple[int, Ints, Statistic]]:
    """Yield (number of the measure, query of each unit, statistic), block by block in order."""
    depth = None if rule == "pooled" else _depth(measures)
    for overlaps in task.blocks(rule, depth, progress=progress):
        for at, measure in enumerate(measures):
            yield at, overlaps.references.query, cast(OverlapMeasure, measure).per_unit(overlaps)


def _of_ratings(pair: SaliencyPair, measures: Sequence[Measure]) -> Iterator[tuple[int, Ints, Statistic]]:
    """Yield the same of clip ratings, all queries at once."""
    query = np.arange(len(pair.predicted))
    for at, measure in enumerate(measures):
        yield at, query, cast(SaliencyMeasure, measure).per_query(pair)


def _slack(margin: Floats) -> float:
    """How close to a threshold an IoU stands on it: the rounding of its type, 1e-9 at least."""
    return max(TIE, 4 * float(np.finfo(margin.dtype).eps))


def _saliency_pair(annotations: Annotations, predictions: Predictions, row: Ints) -> SaliencyPair:
    """Lay out predicted and reference clip ratings as tables."""
    reference = annotations.saliency
    if reference is None or predictions.saliency is None or predictions.saliency_offsets is None:
        side = "annotations" if reference is None else "predictions"
        raise MeasureError(f"HL-mAP and HIT@1 need clip ratings, and the {side} have none")
    duration = annotations.duration_s[annotations.offsets[:-1]]
    n_clips = (duration / reference.clip_length_s).astype(np.int64)
    rating = np.zeros((len(n_clips), int(n_clips.max()), reference.rating.shape[1]), dtype=np.int64)
    owner = np.repeat(np.arange(len(n_clips)), np.diff(reference.offsets))
    outside = reference.clip >= n_clips[owner]
    if outside.any():
        clip, query = int(reference.clip[outside][0]), int(owner[outside][0])
        raise InputError(
            f"query {annotations.queries.query_id[query]!r} rates clip {clip}, expected less than {n_clips[query]}",
            field="saliency",
        )
    rating[owner, reference.clip] = reference.rating
    table = pad(predictions.saliency_offsets, predictions.saliency)
    table = np.vstack([table, np.full((1, table.shape[1]), np.nan)])  # row -1: queries without predictions
    return SaliencyPair(table[row], rating, n_clips)


def _with_progress(blocks: range, *, show: bool) -> Iterator[int]:
    if not show or len(blocks) < 8:
        yield from blocks
        return
    from tqdm import tqdm  # noqa: PLC0415 - only long work needs it, and importing takes time

    yield from tqdm(blocks, desc="measuring", unit="block", leave=False)
