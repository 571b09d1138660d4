"""evaluate(annotations, predictions, measures, protocol) -> Scores.

Predictions are aligned with queries, the protocol is applied, predictions are compared with references block by block,
and one numerator and weight per query and measure are kept. Later steps (intervals, slices, reports) use
:class:`Scores`; predictions are compared with references only here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

import numpy as np

from truemoment.base.errors import InputError, MeasureError, ProtocolError, UsageError
from truemoment.base.intervals import TIE, Bools, Floats, Ints, seconds_to_norm, suppress
from truemoment.base.known_names import GIVES_DURATIONS
from truemoment.base.records import Annotations, Predictions
from truemoment.base.rules import OnUnknown
from truemoment.evaluation.measures import (
    AbstentionMeasure,
    Abstentions,
    Measure,
    OverlapMeasure,
    Overlaps,
    SaliencyMeasure,
    SaliencyPair,
    Statistic,
    as_measure,
    as_measures,
    parse_measures,
)
from truemoment.evaluation.progress import with_progress
from truemoment.evaluation.protocols import Protocol, get_protocol, protocol_for_dataset
from truemoment.evaluation.references import ReferenceRule, References, all_references, apply_rule, pad
from truemoment.evaluation.scores import Scores
from truemoment.report.words import counted

BLOCK_MOMENTS = 1 << 17
"""Moments compared with references at a time: small enough for the processor's cache."""


def evaluate(
    annotations: Annotations,
    predictions: Predictions,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    *,
    on_unknown: OnUnknown = "refuse",
    progress: bool = False,
) -> Scores:
    """Evaluate predictions against annotations.

    Parameters
    ----------
    annotations
        References, times as annotated.
    predictions
        Predictions by query id. The protocol decides how queries without one, or without a reference, count.
    measures
        Texts (``"R@1,IoU=0.5; mIoU"``) or values. Default: those of the protocol.
    protocol
        A name, a name with changed fields, or a value. Default: ``moment-detr`` for QVHighlights, else ``default``.
    on_unknown
        ``"refuse"`` or ``"ignore"`` predictions for queries that are not in the annotations.

    Raises
    ------
    InputError
        If there are no queries, predictions name unknown ones, or a rated clip is outside its video.
    ProtocolError
        If the protocol is unknown or refuses the predictions.
    MeasureError
        If a measure cannot be read, or computed from these data.

    Examples
    --------
    >>> from truemoment import Annotations, Predictions
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> p = Predictions.from_lists({"v#0": [(4.0, 8.0, 0.9), (2.0, 6.0, 0.8)]})
    >>> scores = evaluate(a, p, "R@1,IoU=0.5; R@5,IoU=0.5")
    >>> scores.value("R@1,IoU=0.5"), scores.value("R@5,IoU=0.5")
    (0.0, 1.0)
    """
    measure_list, pairing = _prepare(annotations, predictions, measures, protocol, on_unknown)
    sums = _MeasureSums.zeros(len(measure_list), annotations.n_queries)
    touched = dict(pairing.touched)
    for rule, numbers in _by_rule(measure_list, pairing.protocol).items():
        of_rule = [measure_list[number] for number in numbers]
        silent, statistics = _statistics(annotations, pairing, rule, of_rule, progress=progress)
        touched |= {words: max(n, touched.get(words, 0)) for words, n in _touched_by_group(pairing, rule).items()}
        counts = _settle_silence(annotations, pairing, silent, touched)
        for at, query, statistic in statistics:
            sums.add(numbers[at], query, statistic, counts, silent)
    return sums.scores(annotations, measure_list, pairing.protocol, touched)


def _prepare(
    annotations: Annotations,
    predictions: Predictions,
    measures: str | Sequence[Measure | str] | None,
    protocol: str | Protocol | None,
    on_unknown: OnUnknown,
) -> tuple[tuple[Measure, ...], _Pairing]:
    """Return the measures, each once, and the predictions with their references; refuse what cannot be evaluated."""
    protocol = resolve_protocol(protocol, annotations)
    if on_unknown not in get_args(OnUnknown):
        raise UsageError(f"got on_unknown={on_unknown!r}, expected refuse or ignore")
    if annotations.n_queries == 0:
        raise InputError(f"{annotations.dataset}/{annotations.split} has no query to evaluate on")
    measure_list = resolve_measures(measures, protocol, annotations, predictions)
    row = _rows_of_predictions(annotations, predictions, on_unknown)
    _check_durations(annotations, measure_list, protocol)
    return measure_list, _Pairing.prepare(annotations, predictions, row, protocol)


@dataclass(frozen=True, eq=False)
class _MeasureSums:
    """Numerator and weight by measure and query (M, Q), and queries on a threshold by measure (M,)."""

    numerator: Floats
    weight: Floats
    on_threshold: Ints

    @classmethod
    def zeros(cls, n_measures: int, n_queries: int) -> _MeasureSums:
        shape = n_measures, n_queries
        return cls(np.zeros(shape), np.zeros(shape), np.full(n_measures, -1, dtype=np.int64))

    def add(self, measure: int, query: Ints, statistic: Statistic, counts: Bools, silent: Bools) -> None:
        """Add the units of some queries; `counts` and `silent` (Q,) mark those that count, or have no answer."""
        block = slice(int(query[0]), int(query[-1]) + 1)
        weight = statistic.weight * counts[query]
        self.numerator[measure, block] = np.bincount(query - block.start, statistic.numerator * counts[query])
        self.weight[measure, block] = np.bincount(query - block.start, weight)
        if statistic.margin is not None:
            slack = TIE if statistic.slack is None else statistic.slack
            is_tie = (np.abs(statistic.margin) <= slack) & (weight > 0) & ~silent[query]
            self.on_threshold[measure] = max(self.on_threshold[measure], 0) + len(np.unique(query[is_tie]))

    def scores(
        self, annotations: Annotations, measures: tuple[Measure, ...], protocol: Protocol, touched: dict[str, int]
    ) -> Scores:
        return Scores(
            measures=measures,
            protocol=protocol,
            query_id=annotations.queries.query_id,
            video_id=annotations.queries.video_id,
            numerator=self.numerator,
            weight=self.weight,
            on_threshold=self.on_threshold,
            touched=touched,
            dataset=annotations.dataset,
            split=annotations.split,
            annotations_sha256=annotations.sha256,
        )


def _statistics(
    annotations: Annotations, pairing: _Pairing, rule: _Group, measures: Sequence[Measure], *, progress: bool
) -> tuple[Bools, Iterator[tuple[int, Ints, Statistic]]]:
    """Return which queries have no answer (Q,), and the statistics of a group of measures."""
    if rule == "saliency":
        pair = _saliency_pair(annotations, pairing)
        silent = np.isnan(pair.predicted).all(axis=1) & ~pairing.without_moment
        counted = ~pairing.without_moment  # without a moment no clip counts
        statistics = (cast(SaliencyMeasure, measure).per_query(pair) for measure in measures)
        return silent, (
            (at, np.arange(len(counted)), Statistic(of_one.numerator * counted, of_one.weight * counted))
            for at, of_one in enumerate(statistics)
        )
    return pairing.silent_for(rule), _found(pairing, rule, measures, progress=progress)


def resolve_protocol(protocol: str | Protocol | None, annotations: Annotations) -> Protocol:
    """Return a protocol by its text or value; None is the default of the dataset."""
    if protocol is None:
        return protocol_for_dataset(annotations.dataset)
    return get_protocol(protocol) if isinstance(protocol, str) else protocol


def resolve_measures(
    measures: str | Sequence[Measure | str] | None,
    protocol: Protocol,
    annotations: Annotations,
    predictions: Predictions,
) -> tuple[Measure, ...]:
    """Return the distinct requested measures.

    None: those of the protocol that can be computed, without clip ratings and durations where there are none.
    """
    if measures is not None:
        return as_measures(measures)
    has_saliency = annotations.saliency is not None and predictions.saliency is not None
    standard = tuple(m for m in parse_measures(protocol.measures) if has_saliency or m.needs != "saliency")
    return tuple(m for m in standard if m not in _without_durations(standard, protocol, annotations)) or standard


def _without_durations(measures: Sequence[Measure], protocol: Protocol, annotations: Annotations) -> list[Measure]:
    """Return the measures that need durations, where some are unknown and others of the protocol need none."""
    if protocol.needs_duration or not _unknown_durations(annotations, measures).any():
        return []
    return [measure for measure in measures if measure.needs_duration]


def note_on_durations(protocol: Protocol, annotations: Annotations, measures: Sequence[Measure]) -> str:
    """Return which measures of a protocol are not among `measures` as durations are unknown; "" for none."""
    standard = [measure for measure in parse_measures(protocol.measures) if measure.needs != "saliency"]
    missing = [m for m in _without_durations(standard, protocol, annotations) if m not in measures]
    if not missing:
        return ""
    n_videos = len(set(annotations.video_id[_unknown_durations(annotations, standard)]))
    videos = counted(n_videos, "video has", "videos have")
    return f"without {', '.join(map(str, missing))}, as {videos} no duration; {GIVES_DURATIONS}"


def evaluate_constants(
    annotations: Annotations,
    start_norm: Floats,
    end_norm: Floats,
    measures: Sequence[Measure | str],
    protocol: str | Protocol | None = None,
) -> Floats:
    """Evaluate C answers that are the same fraction of the video for every query, by M measures: (C, M).

    Every duration is known. NaN where a measure is undefined. A constant never abstains.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment import Annotations
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 0.0, 6.0)])
    >>> evaluate_constants(a, np.array([0.0, 0.0]), np.array([0.2, 0.4]), ["mIoU"])
    array([[1. ],
           [0.5]])
    """
    protocol = resolve_protocol(protocol, annotations)
    measure_list = _measures_of_constants(measures, protocol, annotations)
    figures, groups = np.empty((len(start_norm), len(measure_list))), _by_rule(measure_list, protocol)
    for some, answered in _constants(annotations, start_norm, end_norm, protocol):
        n_constants = len(start_norm[some])
        numerator, weight = np.zeros((2, n_constants, len(measure_list)))
        for rule, rows in groups.items():
            for at, _, statistic in _found(answered, rule, [measure_list[i] for i in rows]):
                numerator[:, rows[at]] += statistic.numerator.reshape(n_constants, -1).sum(axis=1)
                weight[:, rows[at]] += statistic.weight.reshape(n_constants, -1).sum(axis=1)
        figures[some] = numerator / np.where(weight > 0, weight, np.nan)
    return figures[:, _as_listed(measures, measure_list)]


def values_of_constants(
    annotations: Annotations,
    start_norm: Floats,
    end_norm: Floats,
    measures: Sequence[Measure | str],
    protocol: str | Protocol | None = None,
) -> Floats:
    """Return the value of each constant answer on each query, (M, C, Q), which :func:`evaluate_constants` sums.

    0 where a query has no weight.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment import Annotations
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 0.0, 6.0)])
    >>> values_of_constants(a, np.array([0.0, 0.0]), np.array([0.2, 0.4]), ["mIoU"]).tolist()
    [[[1.0], [0.5]]]
    """
    protocol = resolve_protocol(protocol, annotations)
    measure_list = _measures_of_constants(measures, protocol, annotations)
    values = np.zeros((len(measure_list), len(start_norm), annotations.n_queries))
    groups = _by_rule(measure_list, protocol)
    for some, answered in _constants(annotations, start_norm, end_norm, protocol):
        of_some = values[:, some]
        for rule, rows in groups.items():
            for at, query, statistic in _found(answered, rule, [measure_list[i] for i in rows]):
                table = of_some[rows[at]]
                table += np.bincount(query, statistic.numerator, minlength=table.size).reshape(table.shape)
    return values[_as_listed(measures, measure_list)]


def _measures_of_constants(
    measures: Sequence[Measure | str], protocol: Protocol, annotations: Annotations
) -> tuple[Measure, ...]:
    """Return the measures, each once; constants rate no clips."""
    measure_list = resolve_measures(measures, protocol, annotations, _empty_answers(annotations))
    if any(measure.needs == "saliency" for measure in measure_list):
        raise MeasureError("a constant answer rates no clips; ask for measures of moments")
    return measure_list


def _empty_answers(annotations: Annotations) -> Predictions:
    """One answer a query, from 0 to 0 s."""
    nothing = np.zeros(annotations.n_queries)
    offsets = np.arange(annotations.n_queries + 1)
    return Predictions(annotations.queries.query_id, offsets, nothing, nothing, nothing)


def _constants(
    annotations: Annotations, start_norm: Floats, end_norm: Floats, protocol: Protocol
) -> Iterator[tuple[slice, _Pairing]]:
    """Yield some constant answers at a time, as lists of each query, with the references, which are laid out once."""
    queries, duration_s = annotations.queries, _durations(annotations)
    if len(queries) == 0:
        raise InputError(f"{annotations.dataset}/{annotations.split} has no query to evaluate on")
    if not np.all(duration_s > 0):
        unknown = queries.query_id[~(duration_s > 0)][0]
        raise MeasureError(
            f"a constant share of the video needs every video's duration; that of query {unknown!r} of "
            f"{annotations.dataset}/{annotations.split} is not known; give durations: --durations FILE or --videos DIR"
        )
    pairing = _Pairing.prepare(annotations, _empty_answers(annotations), np.arange(len(queries)), protocol)
    n_at_a_time = max(1, BLOCK_MOMENTS // len(queries))
    for low in range(0, len(start_norm), n_at_a_time):
        some = slice(low, low + n_at_a_time)
        start, end = (np.outer(shares[some], duration_s) for shares in (start_norm, end_norm))
        start, end, _ = _conform(
            start.ravel(),
            end.ravel(),
            np.tile(duration_s, len(start)),
            None,
            times=protocol.times,
            clip=protocol.clip_predictions,
        )
        yield some, pairing.repeated(start, end)


def evaluate_relabelled(
    annotations: Annotations,
    predictions: Predictions,
    start_s: Floats,
    end_s: Floats,
    measures: Sequence[Measure | str],
    *,
    protocol: str | Protocol | None = None,
    on_unknown: OnUnknown = "refuse",
) -> Floats:
    """Evaluate the same predictions against N other sets of references: (N, M), NaN if undefined.

    `start_s` and `end_s`, (N, A), have one reference per row of the annotations; NaN where that row has no moment.
    Other parameters are as for :func:`evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment import Annotations, Predictions
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> p = Predictions.from_lists({"v#0": [(2.0, 6.0)]})
    >>> evaluate_relabelled(a, p, np.array([[2.0], [4.0]]), np.array([[6.0], [8.0]]), ["mIoU"]).round(3)
    array([[1.   ],
           [0.333]])
    """
    measure_list, pairing = _prepare(annotations, predictions, measures, protocol, on_unknown)
    _check_relabelled(annotations, start_s, end_s, measure_list)
    groups = _by_rule(measure_list, pairing.protocol)
    counts = {rule: _settle_silence(annotations, pairing, pairing.silent_for(rule), {}) for rule in groups}
    figures = np.empty((len(start_s), len(measure_list)))
    for n in range(len(start_s)):
        relabelled = pairing.with_references(annotations, start_s[n], end_s[n])
        sums = np.zeros((len(measure_list), 2))
        for rule, numbers in groups.items():
            for at, query, statistic in _found(relabelled, rule, [measure_list[number] for number in numbers]):
                unit_counts = counts[rule][query]
                sums[numbers[at]] += statistic.numerator @ unit_counts, statistic.weight @ unit_counts
        figures[n] = sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], np.nan)
    return figures[:, _as_listed(measures, measure_list)]


def _check_relabelled(annotations: Annotations, start_s: Floats, end_s: Floats, measures: Sequence[Measure]) -> None:
    """Refuse references that do not fit the annotations, and measures that use no references."""
    if any(measure.needs == "saliency" for measure in measures):
        raise MeasureError("other references have no clip ratings; ask for measures of moments")
    if start_s.ndim != 2 or start_s.shape != end_s.shape or start_s.shape[1] != len(annotations):
        raise InputError(
            f"got other references of shapes {start_s.shape} and {end_s.shape}, expected (N, {len(annotations)})"
        )
    without = np.isnan(annotations.start_s)
    if any((np.isnan(times) != without).any() for times in (start_s, end_s)):
        raise InputError("other references need a moment wherever the annotations have one, and nowhere else")


def _as_listed(measures: Sequence[Measure | str], ordered: Sequence[Measure]) -> list[int]:
    """Return the position of each requested measure among the distinct ones."""
    return [ordered.index(as_measure(measure)) for measure in measures]


def _found(
    pairing: _Pairing, rule: _Group, measures: Sequence[Measure], *, progress: bool = False
) -> Iterator[tuple[int, Ints, Statistic]]:
    """Yield (number of the measure, query of each unit, statistic) of measures of moments and abstentions."""
    if rule == "abstentions":
        abstentions = Abstentions(pairing.abstains, ~pairing.without_moment)
        queries = np.arange(len(pairing.abstains))
        return (
            (at, queries, cast(AbstentionMeasure, measure).per_query(abstentions))
            for at, measure in enumerate(measures)
        )
    return _of_moments(pairing, cast(_OfMoments, rule), measures, progress=progress)


@dataclass(frozen=True, eq=False)
class _Pairing:
    """Predictions and references in the protocol's order and unit; `row` is the list of each query, -1 without one."""

    predictions: Predictions
    row: Ints
    start: Floats
    end: Floats
    references: References
    duration: Floats
    first: Ints
    length: Ints
    protocol: Protocol
    touched: dict[str, int]
    without_moment: Bools
    abstains: Bools
    unreadable: Bools

    @functools.cached_property
    def all_have_moments(self) -> bool:
        """Whether every query has a reference moment."""
        return not self.without_moment.any()

    @property
    def silent(self) -> Bools:
        """Which queries that count have no answer; where there is no moment, an abstention is one."""
        if self.all_have_moments:
            return np.asarray(self.length == 0)
        counted = ~self.without_moment if self.protocol.empty == "drop" else ~(self.without_moment & self.abstains)
        return np.asarray((self.length == 0) & counted)

    def silent_for(self, rule: _Group) -> Bools:
        """Return which queries have no answer for a group of measures of moments or abstentions, (Q,)."""
        return (self.row < 0) | self.unreadable if rule == "abstentions" else self.silent

    @classmethod
    def prepare(cls, annotations: Annotations, predictions: Predictions, row: Ints, protocol: Protocol) -> _Pairing:
        if protocol.ranking == "score":
            predictions = predictions.ranked_by_score()
        present = row >= 0
        length = np.where(present, np.append(predictions.lengths, 0)[row], 0)
        first = np.where(present, predictions.offsets[row], 0)
        unreadable = present & np.append(predictions.unreadable, False)[row]
        touched = {}
        duration = _durations(annotations)
        video_of_list = np.ones(len(predictions))  # lists that match no query keep their times
        video_of_list[row[present]] = duration[present]
        references, changed = _references(annotations, annotations.start_s, annotations.end_s, protocol)
        if protocol.clip_references:
            owner = annotations.query_of_row
            touched["a clipped reference"] = len(np.unique(owner[changed & ~np.isnan(annotations.start_s)]))
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
            touched["a clipped answer"] = int(
                np.isin(np.unique(owner[changed]), row[~annotations.without_moment]).sum()
            )
        if protocol.times == "normalised":
            duration = np.ones_like(duration)
        dtype = np.dtype(protocol.precision)
        return cls(
            predictions,
            row,
            start.astype(dtype, copy=False),
            end.astype(dtype, copy=False),
            references,
            duration.astype(dtype, copy=False),
            first,
            length,
            protocol,
            touched,
            annotations.without_moment,
            present & (length == 0) & ~unreadable,
            unreadable,
        )

    def with_references(self, annotations: Annotations, start_s: Floats, end_s: Floats) -> _Pairing:
        """Return the same predictions with other references, one per row of the annotations."""
        return replace(self, references=_references(annotations, start_s, end_s, self.protocol)[0])

    def repeated(self, start: Floats, end: Floats) -> _Pairing:
        """Return the queries as often as there is one answer for each: all of them, then all again."""
        times, number, dtype = len(start) // len(self.row), np.arange(len(start)), self.start.dtype
        refs_start, refs_end, length_s = (
            np.tile(table, (times, 1))
            for table in (self.references.start, self.references.end, self.references.lengths_s)
        )
        return replace(
            self,
            row=number,
            first=number,
            start=start.astype(dtype, copy=False),
            end=end.astype(dtype, copy=False),
            references=References(refs_start, refs_end, number, length_s=length_s),
            duration=np.tile(self.duration, times),
            length=np.tile(self.length, times),
            without_moment=np.tile(self.without_moment, times),
            abstains=np.tile(self.abstains, times),
            unreadable=np.tile(self.unreadable, times),
        )

    def judged(self, query: Ints, statistic: Statistic) -> Statistic:
        """Return a statistic in which queries without a moment count as the protocol defines.

        With ``empty=abstain`` such a query scores 1 if the method abstains and 0 if not (a missing row or an unreadable
        answer is no abstention); else it has no weight. `query` is the query of each unit, (U,).
        """
        if self.all_have_moments:
            return statistic
        nothing = self.without_moment[query]
        counts = (statistic.weight > 0) & (self.protocol.empty == "abstain")
        return Statistic(
            np.where(nothing, counts & self.abstains[query], statistic.numerator),
            np.where(nothing, counts, statistic.weight),
            None if statistic.margin is None else np.where(nothing, np.inf, statistic.margin),  # on no threshold
        )

    def blocks(self, rule: _OfMoments, depth: int | None, *, progress: bool) -> Iterator[Overlaps]:
        """Yield the overlaps of some queries at a time, in order, under a reference rule."""
        longest = max(int(self.length.max(initial=0)), 1)
        width = longest if self.protocol.nms_threshold is not None else self._cut(longest, depth)
        n_queries = max(1, BLOCK_MOMENTS // width)
        starts = range(0, len(self.length), n_queries)
        denominator = self.protocol.denominator
        if rule == "sets" and self.protocol.ap_denominator is not None:
            denominator = self.protocol.ap_denominator
        for low in with_progress(starts, "measuring", show=progress, unit="block", fewest=8):
            block = slice(low, low + n_queries)
            start, end, score, length = self._answers(block, width)
            if self.protocol.nms_threshold is not None:
                keep = suppress(
                    start, end, length, threshold=self.protocol.nms_threshold, denominator=self.protocol.nms_denominator
                )
                order = np.argsort(~keep, axis=1, kind="stable")[:, : self._cut(longest, depth)]
                start, end, score = (np.take_along_axis(table, order, axis=1) for table in (start, end, score))
                length = keep.sum(axis=1)
            refs = self.references
            selected = References(refs.start[block], refs.end[block], refs.query[block], length_s=refs.lengths_s[block])
            if rule != "sets":
                selected = apply_rule(rule, selected)
            length = np.minimum(length, start.shape[1])
            filled = np.arange(start.shape[1]) < length[:, None]
            if not filled.all():
                for table in (start, end, score):
                    table[~filled] = 0
            if rule == "rows":
                unit = selected.query - low
                start, end, score, length = start[unit], end[unit], score[unit], length[unit]
            yield Overlaps(
                start=start,
                end=end,
                score=score,
                n_predicted=length,
                references=selected,
                duration=self.duration[selected.query],
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


def _settle_silence(annotations: Annotations, pairing: _Pairing, silent: Bools, touched: dict[str, int]) -> Bools:
    """Return which queries count (Q,); queries without an answer are refused or counted in `touched`."""
    protocol, unreadable = pairing.protocol, pairing.unreadable
    counts = np.ones(len(silent), dtype=bool)
    for field, fate, queries, words in (
        ("missing", protocol.missing, silent & ~unreadable, "no answer"),
        ("unreadable", protocol.unreadable, silent & unreadable, "no answer that could be read"),
    ):
        if not queries.any():
            continue
        if fate == "refuse":
            some = ", ".join(annotations.queries.query_id[queries][:3])
            lacking = "without an answer" if field == "missing" else "with an answer that could not be read"
            raise ProtocolError(
                f"protocol {protocol.name} refuses predictions {lacking} for {int(queries.sum())} of "
                f"{annotations.n_queries} queries ({some}, ...); add {field}=worst to score them 0: "
                f"--protocol {protocol.name},{field}=worst"
            )
        note = f"{words} ({'left out' if fate == 'drop' else 'worst value'})"
        touched[note] = max(int(queries.sum()), touched.get(note, 0))
        if fate == "drop":
            counts &= ~queries
    return counts


def _touched_by_group(pairing: _Pairing, rule: _Group) -> dict[str, int]:
    """Count queries without a reference moment by their effect on a group of measures, in words."""
    n_queries = int(pairing.without_moment.sum())
    if n_queries == 0 or rule == "abstentions":
        return {}
    if rule == "saliency" or pairing.protocol.empty == "drop":
        return {"no reference moment (left out)": n_queries}
    abstained = int((pairing.without_moment & pairing.abstains).sum())
    return {
        "no reference moment (right if abstained)": n_queries,
        "no reference moment and an abstention (right)": abstained,
    }


def _durations(annotations: Annotations) -> Floats:
    """Duration of each query's video, (Q,); 1 s where it is unknown and no moment needs it."""
    duration_s = annotations.queries.duration_s
    if not annotations.without_moment.any():
        return duration_s
    return np.where(annotations.without_moment & ~(duration_s > 0), 1.0, duration_s)


def _references(
    annotations: Annotations, start_s: Floats, end_s: Floats, protocol: Protocol
) -> tuple[References, Bools]:
    """References in the protocol's unit, bounds and precision, one a row of the annotations; and which were clipped."""
    start, end, clipped = _conform(
        start_s, end_s, annotations.duration_s, None, times=protocol.times, clip=protocol.clip_references
    )
    dtype = np.dtype(protocol.precision)
    start, end = start.astype(dtype, copy=False), end.astype(dtype, copy=False)
    return all_references(annotations, start, end, end_s - start_s), clipped


def _conform(
    start: Floats, end: Floats, duration: Floats, lengths: Ints | None, *, times: str, clip: bool
) -> tuple[Floats, Floats, Bools]:
    """Convert moments to a protocol's unit and bounds; also return which were clipped.

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


def _rows_of_predictions(annotations: Annotations, predictions: Predictions, on_unknown: OnUnknown) -> Ints:
    """Row of each query's predictions, -1 where there are none, shape (Q,)."""
    row = predictions.rows_of(annotations.queries.query_id)
    n_unknown = len(predictions) - int((row >= 0).sum())
    if n_unknown and on_unknown == "refuse":
        index = annotations.queries.index
        some = [query_id for query_id in predictions.query_id if query_id not in index][:3]
        raise InputError(
            f"predictions name {n_unknown} queries that are not in {annotations.dataset}/{annotations.split} "
            f"({', '.join(some)}, ...); is it the right split? on_unknown=ignore leaves them out"
        )
    return row


def _unknown_durations(annotations: Annotations, measures: Sequence[Measure]) -> Bools:
    """Return the moments (N,) with a needed duration that is unknown."""
    unknown = ~(annotations.duration_s > 0)
    if all(measure.needs != "saliency" for measure in measures):
        unknown &= ~np.isnan(annotations.start_s)  # where there is no moment, nothing is measured in the video
    return unknown


def _check_durations(annotations: Annotations, measures: Sequence[Measure], protocol: Protocol) -> None:
    unknown = _unknown_durations(annotations, measures)
    if not unknown.any():
        return
    names = [str(measure) for measure in measures if measure.needs_duration]
    if names or protocol.needs_duration:
        name = names[0] if names else f"protocol {protocol.name}"
        some = ", ".join(dict.fromkeys(annotations.query_id[unknown][:3]))
        videos = counted(len(set(annotations.video_id[unknown])), "video has", "videos have")
        raise MeasureError(
            f"{name} needs every video's duration; {videos} none "
            f"(queries {some}, ...); give durations (--durations FILE or --videos DIR) or ask for other measures"
        )


_OfMoments = ReferenceRule | Literal["sets"]
_Group = _OfMoments | Literal["abstentions", "saliency"]


def _by_rule(measures: Sequence[Measure], protocol: Protocol) -> dict[_Group, list[int]]:
    """Group measures that can share one pass: by reference rule, or by what they are computed from."""
    groups: dict[_Group, list[int]] = {}
    for i, measure in enumerate(measures):
        group = (measure.ref or protocol.references) if measure.needs == "overlaps" else measure.needs
        groups.setdefault(group, []).append(i)
    return groups


def _of_moments(
    pairing: _Pairing, rule: _OfMoments, measures: Sequence[Measure], *, progress: bool
) -> Iterator[tuple[int, Ints, Statistic]]:
    """Yield (number of the measure, query of each unit, statistic), block by block in order."""
    depths = [measure.depth for measure in measures]
    needs_all = rule == "pooled" or None in depths
    depth = None if needs_all else max(cast(list[int], depths))
    for overlaps in pairing.blocks(rule, depth, progress=progress):
        query = overlaps.references.query
        slack = _slack(overlaps.references)
        for at, measure in enumerate(measures):
            statistic = pairing.judged(query, cast(OverlapMeasure, measure).per_unit(overlaps))
            yield at, query, statistic._replace(slack=slack)


def _slack(references: References) -> Floats | None:
    """Distance up to which rounding may move an IoU, (U,); None for float64, where it is below 1e-9.

    A time t has a rounding error of eps * t / 2. The IoU with a reference of length L is then off by up to
    2 eps * t / L; its own computation adds 4 eps.
    """
    if references.start.dtype == np.float64:
        return None
    eps = float(np.finfo(references.start.dtype).eps)
    start, end = (np.nan_to_num(time.astype(np.float64)) for time in (references.start, references.end))
    length = np.where(end > start, end - start, np.inf)
    times = np.maximum(np.abs(start), np.abs(end))
    return np.asarray(eps * (4 + 2 * (times / length).max(axis=1, initial=0)))


def _saliency_pair(annotations: Annotations, pairing: _Pairing) -> SaliencyPair:
    predictions = pairing.predictions
    reference = annotations.saliency
    if reference is None or predictions.saliency is None or predictions.saliency_offsets is None:
        side = "annotations" if reference is None else "predictions"
        raise MeasureError(f"HL-mAP and HIT@1 need clip ratings, and the {side} have none")
    duration = annotations.duration_s[annotations.offsets[:-1]]
    n_clips = (duration / reference.clip_length_s).astype(np.int64)
    rating = np.zeros((len(n_clips), max(int(n_clips.max()), 1), reference.rating.shape[1]), dtype=np.int64)
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
    return SaliencyPair(table[pairing.row], rating, n_clips)
