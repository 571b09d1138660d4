"""Columns of all queries and systems, computed once: what a page filters and sorts.

Kinds of error, hits and floors are those of ``truemoment audit`` on the same files. The columns are arrays of Q rows,
the queries that have a reference moment, in the order of the annotations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations, Predictions, numbers_of
from truemoment.baselines.floors import FloorResult, headline_of
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.formats import MatchReport, read_predictions
from truemoment.evaluation.agreement import Annotators, agreement_by_query
from truemoment.evaluation.error_kinds import ErrorKinds, error_kinds
from truemoment.evaluation.evaluate import evaluate, resolve_measures, resolve_protocol
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.studies.audit.checks.errors import threshold_of
from truemoment.studies.audit.results import Results, first_verbs
from truemoment.studies.audit.setup import OF_MOMENTS, AuditSetup, Splits
from truemoment.studies.evaluate.first_answers import first_answers
from truemoment.web.browsing.verdicts import read_verdicts, shares_that_fit

FloorChoice = Literal["all", "best", "none"]

MOST_SYSTEMS = 8


@dataclass(frozen=True, eq=False)
class SystemColumns:
    """A method: its answers, and a value a query.

    Parameters
    ----------
    predictions
        Its answers, ranked as the protocol ranks them.
    row : (Q,)
        Row of each query in them; -1 for none.
    errors
        Kinds of error, ranks of hits and IoUs.
    offset_s : (Q,)
        Middle of the first answer less that of its nearest reference, seconds; NaN without an answer.
    confidence : (Q,)
        Score that the method gives its first answer; NaN without an answer, and where the file states no scores.
    figure
        Its headline figure, a fraction.
    match
        How the rows of its file matched queries, in words; "" if it came from no file.
    """

    name: str
    path: str
    predictions: Predictions
    row: Ints
    errors: ErrorKinds
    offset_s: Floats
    confidence: Floats
    figure: float
    match: str

    @property
    def hit(self) -> Bools:
        """Whether the first answer is a hit, (Q,)."""
        return np.asarray(self.errors.kind == 0)


@dataclass(frozen=True, eq=False)
class AnswerColumns:
    """The content of the page of answers.

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
    verdicts
        Counts of the verdicts of a ``verify`` study, by query.
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
    verdicts: Mapping[str, Mapping[str, int]]

    @property
    def n_queries(self) -> int:
        """Q."""
        return self.annotations.n_queries

    @cached_property
    def floor_rows(self) -> tuple[Ints, ...]:
        """Row of each query in the answers of each floor, (Q,) each; -1 for none."""
        return tuple(floor.predictions.rows_of(self.annotations.queries.query_id) for floor in self.floors)

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
        return np.array([len(sentence.split()) for sentence in self.annotations.queries.sentence], dtype=np.int64)

    @cached_property
    def _text(self) -> tuple[str, Ints]:
        """All sentences in small letters, a line each, and where each begins, (Q,)."""
        lines = [sentence.casefold().replace("\n", " ") for sentence in self.annotations.queries.sentence]
        lengths = np.array([len(line) + 1 for line in lines], dtype=np.int64)
        return "\n".join(lines), np.cumsum(lengths) - lengths

    def contains(self, word: str) -> Bools:
        """Return which sentences contain a word, in small or capital letters, also as a part of another, (Q,)."""
        text, begins = self._text
        at = [match.start() for match in re.finditer(re.escape(word.casefold()), text)]
        mask = np.zeros(self.n_queries, dtype=bool)
        mask[np.searchsorted(begins, np.array(at, dtype=np.int64), "right") - 1] = True
        return mask

    @cached_property
    def verb_numbers(self) -> tuple[list[str], Ints]:
        """The different verbs, and the number of each query's, (Q,)."""
        return list(dict.fromkeys(self.verbs)), numbers_of(self.verbs)

    @cached_property
    def agreement(self) -> Floats:
        """Mean IoU of two annotators, (Q,); NaN where there are no two."""
        values = np.full(self.n_queries, np.nan)
        if any(self.annotations.annotator):
            try:
                annotators = Annotators.of(self.annotations)
            except UsageError:  # no query has several
                return values
            row = self.annotations.queries.index
            at = [row[query_id] for query_id in annotators.annotations.queries.query_id]
            values[at] = agreement_by_query(annotators)[:, 0]
        return values

    @cached_property
    def fits(self) -> Floats:
        """Share of the verdicts of a ``verify`` study that are "fits", (Q,); NaN where there is none."""
        return shares_that_fit(self.verdicts, self.annotations.queries.query_id.tolist())

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
    verdicts: Path | None = None,
    seed: int = 0,
    cache: Cache = NO_CACHE,
    read: Callable[[Path, Annotations], tuple[Predictions, MatchReport]] = read_predictions,
    on_status: Callable[[str], None] = lambda _: None,
) -> AnswerColumns:
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
    verdicts
        Answers of a ``verify`` study, see :func:`~truemoment.web.browsing.verdicts.read_verdicts`.

    Raises
    ------
    UsageError, MissingFileError, InputError
        As for an audit.
    """
    if not 1 <= len(files) <= MOST_SYSTEMS:
        raise UsageError(f"got {len(files)} prediction files, expected 1 to {MOST_SYSTEMS}")
    on_status("reading annotations")
    reference = source if isinstance(source, Annotations) else source.read()
    located = reference.with_moments()
    if not located.n_queries:
        raise UsageError(f"{reference.dataset}/{reference.split}: no query has a reference moment; name another")
    of_study = read_verdicts(verdicts, located.queries.query_id.tolist()) if verdicts else {}
    train = None
    if floors != "none" and isinstance(source, AnnotationSource):
        train = source.training(reference, fit_split, fit_annotations)
    convention = resolve_protocol(protocol, reference)
    systems: list[SystemColumns] = []
    first: AuditedFile | None = None
    for name, file in files:
        on_status(f"reading {name}")
        answers, match = (file, None) if isinstance(file, Predictions) else read(file, reference)
        resolved = resolve_measures(None, convention, reference, answers)
        measures = tuple(measure for measure in resolved if measure.needs in OF_MOMENTS)
        if not measures:
            raise UsageError(f"{name}: the protocol has no measure of moments")
        first = first or AuditedFile(answers, match, measures)
        of_moments = answers.select_queries(
            ~np.isin(answers.query_id, reference.queries.query_id[reference.without_moment])
        )
        systems.append(_columns(name, file, located, of_moments, first.headline, convention, match))
    assert first is not None  # noqa: S101 - there is a file
    on_status("verbs")
    verbs = first_verbs(located, engine, cache)
    setup = {"splits": Splits(train), "engine": engine, "cache": cache}
    best, figures, left_out = _floors(reference, first, convention, floors, setup, seed, on_status)
    errors = systems[0].errors
    return AnswerColumns(
        annotations=located,
        systems=tuple(systems),
        measure=first.headline,
        protocol=convention,
        floors=best,
        floor_errors=error_kinds(located, best[0].predictions, errors.threshold, convention) if best else None,
        floor_figures=figures,
        verbs=tuple(verbs),
        n_without_moment=int(reference.without_moment.sum()),
        left_out=left_out,
        verdicts=of_study,
    )


@dataclass(frozen=True, eq=False)
class AuditedFile:
    """The predictions beside which floors are run, how they matched, and the measures of the audit."""

    predictions: Predictions
    match: MatchReport | None
    measures: tuple[Measure, ...]

    @property
    def headline(self) -> Measure:
        """The measure that a verdict is about."""
        return self.measures[headline_of(self.measures)]


def _columns(  # noqa: PLR0917 - private
    name: str,
    file: Path | Predictions,
    annotations: Annotations,
    predictions: Predictions,
    headline: Measure,
    protocol: Protocol,
    match: MatchReport | None,
) -> SystemColumns:
    ranked = predictions.ranked_by_score() if protocol.ranking == "score" else predictions
    row = predictions.rows_of(annotations.queries.query_id)
    return SystemColumns(
        name=name,
        path="" if isinstance(file, Predictions) else str(file),
        predictions=ranked,
        row=row,
        errors=error_kinds(annotations, predictions, threshold_of(headline), protocol),
        offset_s=_offsets(annotations, predictions, protocol),
        confidence=_confidence(ranked, row),
        figure=float(evaluate(annotations, predictions, (headline,), protocol).value(headline)),
        match="" if match is None else "; ".join(match.notes),
    )


def _confidence(predictions: Predictions, row: Ints) -> Floats:
    """Return the score of each first answer, (Q,)."""
    confidence = np.full(len(row), np.nan)
    if predictions.scored:
        answered = (row >= 0) & (np.append(predictions.lengths, 0)[row] > 0)
        confidence[answered] = predictions.score[predictions.offsets[row[answered]]]
    return confidence


def _offsets(annotations: Annotations, predictions: Predictions, protocol: Protocol) -> Floats:
    """Return the middle of each first answer less that of its nearest reference, (Q,)."""
    first = first_answers(annotations, predictions, ranking=protocol.ranking)
    middle = (first.start_s + first.end_s) / 2
    counts = np.diff(annotations.offsets)
    away = np.repeat(middle, counts) - (annotations.start_s + annotations.end_s) / 2
    query = np.repeat(np.arange(annotations.n_queries), counts)
    order = np.lexsort((np.abs(away), query))
    return np.asarray(away[order][annotations.offsets[:-1]])


def _floors(  # noqa: PLR0917 - private
    reference: Annotations,
    first: AuditedFile,
    protocol: Protocol,
    floors: FloorChoice,
    settings: Mapping[str, Any],
    seed: int,
    on_status: Callable[[str], None],
) -> tuple[tuple[FloorResult, ...], tuple[float, ...], tuple[str, ...]]:
    """Return the floors that are shown, the strongest first, the figure of each, and what is left out."""
    if floors == "none":
        return (), (), ()
    unknown = int((~(reference.with_moments().queries.duration_s > 0)).sum())
    if unknown:
        return (), (), (f"floors need the duration of every video; {unknown:,} queries have none",)
    setup = AuditSetup(reference, first.predictions, first.measures, protocol, match=first.match, **settings)
    results = Results(setup, seed, on_status)
    figures = [float(floor.scores.value(first.headline)) for floor in results.floors]
    order = sorted(range(len(figures)), key=lambda at: -np.nan_to_num(figures[at], nan=-1.0))
    places = order[:1] if floors == "best" else order
    return tuple(results.floors[at] for at in places), tuple(figures[at] for at in places), results.left_out
