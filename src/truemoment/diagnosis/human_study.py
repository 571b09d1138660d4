"""All there is to find out of queries that several annotators marked: what people score, and systems beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from truemoment.diagnosis.agreement import Annotators
from truemoment.diagnosis.conclusions import Conclusion, SystemScores, conclusions, system_scores
from truemoment.diagnosis.humans import (
    WAYS,
    Duplicates,
    Way,
    by_agreement,
    by_official,
    consensus_scores,
    human_scores,
    measures_of_one_answer,
)
from truemoment.evaluation import chosen_protocol
from truemoment.exceptions import UsageError
from truemoment.intervals import Floats, Ints
from truemoment.measures import MeanIoU, Measure
from truemoment.protocols import Protocol
from truemoment.records import Annotations, Predictions
from truemoment.scores import Scores
from truemoment.uncertainty import bootstrap, interval95

Person = Literal["random", "by agreement", "best", "consensus"]


@dataclass(frozen=True, eq=False)
class Performance:
    """What people score, held against references in one way.

    Parameters
    ----------
    way
        How references were chosen.
    person, rank
        Who answers: a ``random`` annotator or the ``consensus`` of the others (rank 0), or the k-th ``by agreement`` or
        ``best`` for the reference.
    scores
        Per-query statistics; of a random annotator, and of the consensus, the mean over the annotators of each query.
    ci95 : (M, 2)
        By resampling videos, fractions; NaN where there is one video.
    drawn : (draws, M) or None
        Figures in each draw of a random annotator.
    """

    way: Way
    person: Person
    rank: int
    scores: Scores
    ci95: Floats
    drawn: Floats | None = None


@dataclass(frozen=True, eq=False)
class HumanStudy:
    """What annotators make of the queries that several of them marked.

    Parameters
    ----------
    annotators
        The queries.
    official
        The dataset's own references of the same queries; None where there are none.
    protocol, measures
        How everybody was measured.
    performances
        What people score: one annotator in every way, and the consensus of the others against one annotator.
    systems
        What systems score, by name.
    conclusions
        What becomes of differences between systems.
    duplicates
        What became of moments identical to a person's own.
    """

    annotators: Annotators
    official: Annotations | None
    protocol: Protocol
    measures: tuple[Measure, ...]
    performances: tuple[Performance, ...]
    systems: Mapping[str, SystemScores]
    conclusions: tuple[Conclusion, ...]
    duplicates: Duplicates

    def ceiling(self, way: Way) -> Performance:
        """What a random annotator scores in one way."""
        for of in self.performances:
            if (of.way, of.person) == (way, "random"):
                return of
        raise UsageError(f"nobody was held against {way!r} references here")


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
    """Hold annotators against the references and against each other, and systems beside them.

    Parameters
    ----------
    annotators
        Queries with two or more.
    rng
        Generator of all draws.
    measures, protocol, official, duplicates
        As for :func:`human_scores`.
    systems
        Answers by name, if any.
    draws
        Draws of a random annotator.
    resamples, permutations
        Of intervals and of tests between systems.
    """
    protocol = chosen_protocol(protocol, annotators.annotations)
    asked = measures_of_one_answer(measures, protocol)
    ways = WAYS if official is not None else WAYS[1:]
    children = dict(zip((*WAYS, "conclusions"), rng.spawn(len(WAYS) + 1), strict=True))
    performances: list[Performance] = []
    for way in ways:
        for_draws, for_resamples = children[way].spawn(2)
        of_way = human_scores(annotators, way, asked, protocol, official=official, duplicates=duplicates)
        seed = int(for_resamples.integers(1 << 62))  # everybody under the same resamples
        people: list[tuple[Person, int, Scores]] = [("random", 0, of_way.scores)]
        if way == "official":
            iou = human_scores(annotators, way, (MeanIoU(),), protocol, official=official)
            ranks: tuple[tuple[Person, Ints], ...] = (
                ("by agreement", by_agreement(annotators)),
                ("best", by_official(iou)),
            )
            people += [
                (person, rank, of_way.picked(annotator))
                for person, table in ranks
                for rank, annotator in enumerate(table, start=1)
            ]
        if way == "another":
            people.append(("consensus", 0, consensus_scores(annotators, asked, protocol, duplicates=duplicates).scores))
        for person, rank, scores in people:
            figures = bootstrap(scores, np.random.default_rng(seed), resamples=resamples)
            ci95 = interval95(figures) if scores.n_videos > 1 else np.full((len(asked), 2), np.nan)
            drawn = of_way.drawn(for_draws, draws) if person == "random" else None
            performances.append(Performance(way, person, rank, scores, ci95, drawn))
    systems = systems or {}
    of_systems = {
        name: system_scores(annotators, answers, asked, protocol, official=official)
        for name, answers in systems.items()
    }
    compared = (
        conclusions(annotators, of_systems, children["conclusions"], draws=draws, permutations=permutations)
        if len(systems) > 1
        else []
    )
    return HumanStudy(
        annotators, official, protocol, asked, tuple(performances), of_systems, tuple(compared), duplicates
    )
