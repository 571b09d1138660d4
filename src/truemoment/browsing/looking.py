"""Columns of all queries and systems, computed once: what a page filters and sorts.

Kinds of error, hits and floors are those of ``truemoment audit`` on the same files. The columns are arrays of Q rows,
the queries that have a reference moment, in the order of the annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from truemoment.auditing.checks.errors import errors
from truemoment.auditing.results import Results
from truemoment.auditing.setup import OF_MOMENTS, AuditSetup, Splits
from truemoment.caching import NO_CACHE, Cache
from truemoment.datasets.source import AnnotationSource
from truemoment.diagnosis.agreement import Annotators, agreement_by_query
from truemoment.diagnosis.answers import first_answers
from truemoment.diagnosis.errors import ErrorKinds, error_kinds
from truemoment.evaluation import resolve_measures, resolve_protocol
from truemoment.exceptions import UsageError
from truemoment.floors import FloorResult
from truemoment.intervals import Bools, Floats, Ints
from truemoment.io import MatchReport, read_predictions
from truemoment.measures import Measure
from truemoment.protocols import Protocol
from truemoment.records import Annotations, Predictions, numbers_of

FloorChoice = Literal["all", "best", "none"]

MOST_SYSTEMS = 8


@dataclass(frozen=True, eq=False)
class SystemColumns:
    """A method: its answers, and a value a query.

    Parameters
    ----------
    predictions
        Its answers, ranked as the protocol ranks them.
    errors
        Kinds of error, ranks of hits and IoUs.
    offset_s : (Q,)
        Middle of the first answer less that of its nearest reference, seconds; NaN without an answer.
    figure
        Its headline figure, a fraction.
    match
        How the rows of its file matched queries, in words; "" if it came from no file.
    """

    name: str
    path: str
    predictions: Predictions
    errors: ErrorKinds
    offset_s: Floats
    figure: float
    match: str

    @property
    def hit(self) -> Bools:
        """Whether the first answer is a hit, (Q,)."""
        return np.asarray(self.errors.kind == 0)


@dataclass(frozen=True, eq=False)
class LookedAt:
    """Everything that the page of answers shows.

    Parameters
    ----------
    annotations
        The queries that have a reference moment.
    systems
        The methods.
    measure
        The headline measure.
    floors
        Blind baselines that are shown, the strongest first; empty for none.
    floor_errors
        Kinds of error of the strongest floor; None without floors.
    floor_figures
        Headline figure of each floor.
    verbs : (Q,)
        First verb of each sentence.
    n_without_moment
        Queries that have no reference moment, which are left out.
    left_out
        Floors that could not be fitted, in words.
    """

    annotations: Annotations
    systems: tuple[SystemColumns, ...]
    measure: Measure
    protocol: Protocol
    floors: tuple[FloorResult, ...]
    floor_errors: ErrorKinds | None
    floor_figures: tuple[float, ...]
    verbs: tuple[str, ...]
    n_without_moment: int
    left_out: tuple[str, ...]

    @property
    def n_queries(self) -> int:
        """Q."""
        return self.annotations.n_queries

    @cached_property
    def duration_s(self) -> Floats:
        """Duration of the video, seconds, (Q,)."""
        return self.annotations.queries.duration_s

    @cached_property
    def length_s(self) -> Floats:
        """Length of the first reference, seconds, (Q,)."""
        rows = self.annotations.offsets[:-1]
        return np.asarray(self.annotations.end_s[rows] - self.annotations.start_s[rows])

    @cached_property
    def share(self) -> Floats:
        """Length of the first reference as a share of the video, (Q,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.length_s / self.duration_s)

    @cached_property
    def n_words(self) -> Ints:
        """Words of each sentence, (Q,)."""
        return np.array([len(of.split()) for of in self.annotations.queries.sentence], dtype=np.int64)

    @cached_property
    def lowered(self) -> tuple[str, ...]:
        """The sentences in small letters."""
        return tuple(of.casefold() for of in self.annotations.queries.sentence)

    @cached_property
    def verb_numbers(self) -> tuple[list[str], Ints]:
        """The different verbs, and the number of each query's, (Q,)."""
        return list(dict.fromkeys(self.verbs)), numbers_of(self.verbs)

    @cached_property
    def agreement(self) -> Floats:
        """Mean IoU of two annotators, (Q,); NaN where there are no two."""
        found = np.full(self.n_queries, np.nan)
        if any(self.annotations.annotator):
            try:
                annotators = Annotators.of(self.annotations)
            except UsageError:  # no query has several
                return found
            row = self.annotations.queries.index
            at = [row[of] for of in annotators.annotations.queries.query_id]
            found[at] = agreement_by_query(annotators)[:, 0]
        return found

    @cached_property
    def place(self) -> Ints:
        """Place of each query in the order by the hash of its id, (Q,)."""
        place = np.empty(self.n_queries, dtype=np.int64)
        place[self.annotations.queries.order_by_hash()] = np.arange(self.n_queries)
        return place


def look_at(
    files: Sequence[tuple[str, Path | Predictions]],
    source: AnnotationSource | Annotations,
    *,
    fit_split: str | None = None,
    fit_annotations: Path | None = None,
    protocol: str | Protocol | None = None,
    floors: FloorChoice = "best",
    engine: str = "lexicon",
    seed: int = 0,
    cache: Cache = NO_CACHE,
    read: Callable[[Path, Annotations], tuple[Predictions, MatchReport]] = read_predictions,
    on_status: Callable[[str], None] = lambda _: None,
) -> LookedAt:
    """Read annotations and predictions, and compute all columns.

    Parameters
    ----------
    files
        Name and file of each method.
    source
        The annotations.
    fit_split, fit_annotations, protocol, engine, seed, cache
        As for an audit.
    floors
        Which blind baselines are shown: all, the strongest, or none, which are not fitted then.

    Raises
    ------
    UsageError, MissingFileError, InputError
        As for an audit.
    """
    if not 1 <= len(files) <= MOST_SYSTEMS:
        raise UsageError(f"got {len(files)} prediction files, expected 1 to {MOST_SYSTEMS}")
    on_status("reading annotations")
    reference = source if isinstance(source, Annotations) else source.read()
    train = None
    if floors != "none" and isinstance(source, AnnotationSource):
        train = source.training(reference, fit_split, fit_annotations)
    resolved = resolve_protocol(protocol, reference)
    systems: list[SystemColumns] = []
    first: Results | None = None
    for name, file in files:
        on_status(f"reading {name}")
        answers, match = (file, None) if isinstance(file, Predictions) else read(file, reference)
        measures = resolve_measures(None, resolved, reference, answers)
        setup = AuditSetup(
            annotations=reference,
            predictions=answers,
            measures=tuple(of for of in measures if of.needs in OF_MOMENTS),
            protocol=resolved,
            match=match,
            splits=Splits(train),
            engine=engine,
            cache=cache,
        )
        results = Results(setup, seed, on_status)
        first = first or results
        systems.append(_columns(name, file, results, match))
    assert first is not None  # noqa: S101 - there is a file
    found, figures, left_out = _floors(first, floors)
    return LookedAt(
        annotations=first.annotations,
        systems=tuple(systems),
        measure=first.measure,
        protocol=resolved,
        floors=found,
        floor_errors=_errors_of(found[0], first, systems[0].errors) if found else None,
        floor_figures=figures,
        verbs=tuple(first.verbs),
        n_without_moment=int(reference.without_moment.sum()),
        left_out=left_out,
    )


def _columns(name: str, file: Path | Predictions, results: Results, match: MatchReport | None) -> SystemColumns:
    setup, kinds = results.setup, results.cached(errors)
    by_score = setup.protocol.ranking == "score"
    return SystemColumns(
        name=name,
        path="" if isinstance(file, Predictions) else str(file),
        predictions=setup.predictions.ranked_by_score() if by_score else setup.predictions,
        errors=kinds,
        offset_s=_offsets(results),
        figure=float(results.scores.value(results.measure)),
        match="" if match is None else "; ".join(match.notes),
    )


def _offsets(results: Results) -> Floats:
    """Return the middle of each first answer less that of its nearest reference, (Q,)."""
    annotations, setup = results.annotations, results.setup
    first = first_answers(annotations, setup.predictions, ranking=setup.protocol.ranking)
    middle = (first.start_s + first.end_s) / 2
    counts = np.diff(annotations.offsets)
    away = np.repeat(middle, counts) - (annotations.start_s + annotations.end_s) / 2
    query = np.repeat(np.arange(annotations.n_queries), counts)
    order = np.lexsort((np.abs(away), query))
    return np.asarray(away[order][annotations.offsets[:-1]])


def _floors(
    results: Results, floors: FloorChoice
) -> tuple[tuple[FloorResult, ...], tuple[float, ...], tuple[str, ...]]:
    """Return the floors that are shown, the strongest first, and the figure of each."""
    if floors == "none":
        return (), (), ()
    figures = [float(of.scores.value(results.measure)) for of in results.floors]
    order = sorted(range(len(figures)), key=lambda at: -np.nan_to_num(figures[at], nan=-1.0))
    shown = order[:1] if floors == "best" else order
    return tuple(results.floors[at] for at in shown), tuple(figures[at] for at in shown), results.left_out


def _errors_of(floor: FloorResult, results: Results, like: ErrorKinds) -> ErrorKinds:
    return error_kinds(results.annotations, floor.predictions, like.threshold, results.setup.protocol)
