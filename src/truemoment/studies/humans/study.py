"""Studies of queries that several annotators marked: their agreement, their scores, and systems beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Predictions
from truemoment.data.datasets.answer_file import StudyAnswers
from truemoment.data.formats import MatchReport, Reader, read_predictions
from truemoment.evaluation.agreement import Alpha, Annotators, PairwiseIoU, boundary_alpha, moment_alpha, pairwise_iou
from truemoment.evaluation.evaluate import resolve_protocol
from truemoment.evaluation.measures import MeanIoU, Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import bootstrap, interval95
from truemoment.studies.humans.answer_agreement import AnswerAgreement, answer_agreement
from truemoment.studies.humans.conclusions import Conclusion, SystemScores, conclusions, system_scores
from truemoment.studies.humans.scores import (
    REFERENCES,
    Duplicates,
    HumanScores,
    Reference,
    by_agreement,
    by_official,
    consensus_scores,
    human_scores,
    measures_of_one_answer,
    same_queries,
)
from truemoment.studies.request import NamedValue, source_of_predictions

Person = Literal["random", "by agreement", "best", "consensus"]


@dataclass(frozen=True, eq=False)
class Performance:
    """Scores of people against one kind of references.

    Parameters
    ----------
    person, rank
        Who answers: a ``random`` annotator or the ``consensus`` of the others (rank 0), or the k-th ``by agreement`` or
        ``best`` for the reference.
    scores
        Per-query statistics; of a random annotator, and of the consensus, the mean over the annotators of each query.
    ci95 : (M, 2)
        95 % interval by resampling videos, fractions; NaN where there is one video.
    draws : (draws, M) or None
        Figures in each draw of a random annotator.
    """

    reference: Reference
    person: Person
    rank: int
    scores: Scores
    ci95: Floats
    draws: Floats | None = None


@dataclass(frozen=True, eq=False)
class HumanStudy:
    """Scores of annotators and systems on queries that several annotators marked.

    Parameters
    ----------
    official
        The dataset's own references of the same queries; None where there are none.
    performances
        Scores of people: one annotator against all references, and the consensus of the others against one annotator.
    conclusions
        Differences between systems, and whether annotators confirm them.
    duplicates
        Which moments identical to a person's own count.
    """

    annotators: Annotators
    official: Annotations | None
    protocol: Protocol
    measures: tuple[Measure, ...]
    performances: tuple[Performance, ...]
    systems: Mapping[str, SystemScores]
    conclusions: tuple[Conclusion, ...]
    duplicates: Duplicates

    def ceiling(self, reference: Reference) -> Performance:
        """Return the scores of a random annotator."""
        for performance in self.performances:
            if (performance.reference, performance.person) == (reference, "random"):
                return performance
        raise UsageError(f"nobody was measured against {reference!r} references here")


def study_humans(
    annotators: Annotators,
    rng: np.random.Generator,
    *,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    official: Annotations | None = None,
    systems: Mapping[str, Predictions] | None = None,
    duplicates: Duplicates = "published",
    draws: int = 100,
    resamples: int = 1000,
    permutations: int = 10_000,
) -> HumanStudy:
    """Measure annotators against the references and against each other, and systems beside them.

    `measures`, `protocol`, `official` and `duplicates` are as for :func:`human_scores`.
    """
    protocol = resolve_protocol(protocol, annotators.annotations)
    measure_list = measures_of_one_answer(measures, protocol)
    children = dict(zip((*REFERENCES, "conclusions"), rng.spawn(len(REFERENCES) + 1), strict=True))
    performances: list[Performance] = []
    for reference in REFERENCES if official is not None else REFERENCES[1:]:
        for_draws, for_resamples = children[reference].spawn(2)
        of_each = human_scores(annotators, reference, measure_list, protocol, official=official, duplicates=duplicates)
        people = _people(annotators, of_each, measure_list, protocol, official=official, duplicates=duplicates)
        seed = int(for_resamples.integers(1 << 62))  # everybody under the same resamples
        for person, rank, scores in people:
            figures = bootstrap(scores, np.random.default_rng(seed), resamples=resamples)
            ci95 = interval95(figures) if scores.n_videos > 1 else np.full((len(measure_list), 2), np.nan)
            sample = of_each.draw(for_draws, draws) if person == "random" else None
            performances.append(Performance(reference, person, rank, scores, ci95, sample))
    of_systems = {
        name: system_scores(annotators, answers, measure_list, protocol, official=official)
        for name, answers in (systems or {}).items()
    }
    results: list[Conclusion] = []
    if len(of_systems) > 1:
        results = conclusions(annotators, of_systems, children["conclusions"], draws=draws, permutations=permutations)
    return HumanStudy(
        annotators, official, protocol, measure_list, tuple(performances), of_systems, tuple(results), duplicates
    )


def _people(
    annotators: Annotators,
    of_each: HumanScores,
    measures: tuple[Measure, ...],
    protocol: Protocol,
    *,
    official: Annotations | None,
    duplicates: Duplicates,
) -> Iterator[tuple[Person, int, Scores]]:
    """Yield the people that are measured against one kind of references, with rank and scores."""
    yield "random", 0, of_each.scores
    if of_each.reference == "official":
        iou = human_scores(annotators, "official", (MeanIoU(),), protocol, official=official)
        ranked: tuple[tuple[Person, Ints], ...] = (
            ("by agreement", by_agreement(annotators)),
            ("best", by_official(iou)),
        )
        for person, table in ranked:
            for rank, annotator in enumerate(table, start=1):
                yield person, rank, of_each.pick(annotator)
    if of_each.reference == "another":
        consensus = consensus_scores(annotators, measures, protocol, duplicates=duplicates)
        yield "consensus", 0, consensus.scores


# ------------------------------------------------------------------------------------------------ with files


class AnnotatorAgreement(NamedTuple):
    """Agreement of annotators; alphas are None where durations are unknown."""

    overlap: PairwiseIoU
    moments: Alpha | None
    starts: Alpha | None
    ends: Alpha | None

    @classmethod
    def of(cls, annotators: Annotators, rng: np.random.Generator, *, resamples: int = 1000) -> AnnotatorAgreement:
        """Measure the agreement of annotators, with intervals by resampling videos."""
        for_overlap, for_moments, for_ends = rng.spawn(3)
        overlap = pairwise_iou(annotators, for_overlap, resamples=resamples)
        if not np.all(annotators.duration_s > 0):
            return cls(overlap, None, None, None)
        moments = moment_alpha(annotators, for_moments, resamples=resamples)
        return cls(overlap, moments, *boundary_alpha(annotators, for_ends, resamples=resamples))


@dataclass(frozen=True, eq=False)
class AnnotatedFiles:
    """A study of annotators, with prediction files beside them.

    Parameters
    ----------
    predictions
        Path and hash of the file of each system, and how its rows matched queries.
    answers
        Predictions of each system.
    n_without_official
        Number of queries of several annotators that the official references do not contain; they are left out.
    presence
        Agreement of all answers, those without a moment and with several included; None where only moments are known.
    """

    study: HumanStudy
    agreement: AnnotatorAgreement
    predictions: Mapping[str, tuple[dict[str, str], MatchReport]]
    n_without_official: int
    draws: int
    resamples: int
    permutations: int
    seed: int
    answers: Mapping[str, Predictions] = field(default_factory=dict)
    presence: AnswerAgreement | None = None

    @property
    def scores(self) -> Scores:
        """Scores of a random annotator, with the requested protocol: they name data and convention."""
        return replace(self.study.ceiling("nearest").scores, protocol=self.study.protocol)


def study_files(
    annotations: Annotations,
    files: Mapping[str, Path | NamedValue],
    *,
    official: Annotations | None = None,
    measures: str | None = None,
    protocol: str | Protocol | None = None,
    duplicates: Duplicates = "published",
    draws: int = 100,
    resamples: int = 1000,
    permutations: int = 10_000,
    seed: int = 0,
    read: Reader = read_predictions,
    progress: bool = False,
    answers: StudyAnswers | None = None,
) -> AnnotatedFiles:
    """Study the annotators of a split, with prediction files by the name of the system.

    The files may answer all queries of `official`, the dataset's own references of these queries. `annotations` has the
    moments of `answers`. Other parameters are as for :func:`study_humans`.
    """
    annotators = Annotators.of(annotations)
    inputs = {name: _answers(path, official, annotations, read, progress=progress) for name, path in files.items()}
    n_queries = len(annotators)
    if official is not None:
        annotators, official = same_queries(annotators, official)
    rng = np.random.default_rng(seed)
    agreement = AnnotatorAgreement.of(annotators, rng, resamples=resamples)
    study = study_humans(
        annotators,
        *rng.spawn(1),
        measures=measures,
        protocol=resolve_protocol(protocol, annotations),
        official=official,
        systems={name: replace(answers, name=name) for name, (answers, _) in inputs.items()},
        duplicates=duplicates,
        draws=draws,
        resamples=resamples,
        permutations=permutations,
    )
    return AnnotatedFiles(
        study=study,
        agreement=agreement,
        predictions={
            name: (source_of_predictions(files[name], answers), match) for name, (answers, match) in inputs.items()
        },
        n_without_official=n_queries - len(annotators),
        draws=draws,
        resamples=resamples,
        permutations=permutations,
        seed=seed,
        answers={name: answers for name, (answers, _) in inputs.items()},
        presence=None
        if answers is None
        else answer_agreement(answers.by_query(), np.random.default_rng(seed), resamples=resamples),
    )


def _answers(
    file: Path | NamedValue, official: Annotations | None, annotations: Annotations, read: Reader, *, progress: bool
) -> tuple[Predictions, MatchReport]:
    """Read predictions of the official references, or of those that people marked."""
    try:
        return read(file, official or annotations, progress=progress)
    except InputError as error:
        if official is None or error.field != "annotations_sha256":
            raise
        return read(file, annotations, progress=progress)
