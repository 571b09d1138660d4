"""What the checks of an audit share, computed when it is first asked for and kept.

A check computes what only it needs by a function of the results, which :meth:`Results.part` keeps as well, so that a
report shows the very numbers that a finding quotes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from truemoment.auditing.case import Case
from truemoment.auditing.floors import TEXT_ONLY, human_ceilings, run_ceilings, text_only
from truemoment.auditing.verdict import Verdict, judge_floors
from truemoment.baselines import ExpectedValue
from truemoment.caching import pack_text, unpack_text
from truemoment.evaluation import evaluate
from truemoment.exceptions import UsageError
from truemoment.floors import NETWORK, BaselineResult, Setting, answers_a_query, join_measures, run_floors
from truemoment.intervals import Bools, Floats, Ints
from truemoment.language import first_verb, get_engine, verbs_of
from truemoment.measures import Measure
from truemoment.records import Annotations, Predictions
from truemoment.scores import Scores
from truemoment.studentised import resample_ratios
from truemoment.uncertainty import (
    LEVEL,
    holm,
    minimum_detectable_difference,
    paired_permutation,
    stream,
    sums_by_video,
    videos_that_differ,
)

T = TypeVar("T")


class Paired(NamedTuple):
    """One system less another over the same queries: a row a measure, fractions, NaN where undefined.

    Parameters
    ----------
    difference : (M,)
    ci95 : (M, 2)
        By the studentised bootstrap of videos.
    p, p_holm : (M,)
        Of swapping the systems video by video; corrected over the measures.
    resolves : (M,)
        Difference that a split like this finds in 80 of 100 cases at the level of 5 %.
    n_differing : (M,)
        Videos that the two score differently.
    """

    difference: Floats
    ci95: Floats
    p: Floats
    p_holm: Floats
    resolves: Floats
    n_differing: Ints


class Results:
    """What is known of an audited method.

    Parameters
    ----------
    case
        What is audited, and what there is to hold it against.
    rng
        Generator from which all draws are seeded, each by the name of what draws: a check more changes no other.
    tell
        Told what is being done.

    Raises
    ------
    UsageError
        If no query of a split has a reference moment.
    """

    def __init__(self, case: Case, rng: np.random.Generator, tell: Callable[[str], None] = lambda _: None) -> None:
        self.split, self.answers = case.annotations, case.predictions
        self.handed, self.case = case, case.located()
        self.tell = tell
        self.seed = int(rng.integers(1 << 62))
        self._parts: dict[Callable[[Results], Any], Any] = {}

    def part(self, compute: Callable[[Results], T]) -> T:
        """Return what a function of the results gives; it is called once."""
        if compute not in self._parts:
            self._parts[compute] = compute(self)
        found: T = self._parts[compute]
        return found

    def stream(self, name: str) -> np.random.Generator:
        """Return the generator of whatever is called so; each call gives the same draws."""
        return stream(self.seed, name)

    @property
    def headline(self) -> int:
        """Number of the measure that the verdict is about."""
        return self.case.headline

    @property
    def measure(self) -> Measure:
        """The measure that the verdict is about."""
        return self.case.measures[self.case.headline]

    @property
    def annotations(self) -> Annotations:
        """The queries of the audited split that have a reference moment."""
        return self.case.annotations

    # ------------------------------------------------------------------------------------- figures

    @functools.cached_property
    def scores(self) -> Scores:
        """Scores of the method."""
        self.tell("measuring")
        return self.evaluate(self.case.predictions)

    def evaluate(self, predictions: Predictions) -> Scores:
        """Measure answers as the method's are."""
        return evaluate(self.case.annotations, predictions, self.case.measures, self.case.protocol)

    @functools.cached_property
    def _run(self) -> tuple[tuple[BaselineResult, ...], tuple[str, ...]]:
        case = self.case
        setting = Setting(
            annotations=case.annotations,
            measures=case.measures,
            protocol=case.protocol,
            headline=case.headline,
            top=answers_a_query(case.predictions, case.measures),
            train=_of_known_duration(case.train),
            validation=_of_known_duration(case.selection),
            engine=case.engine,
            seed=self.seed,
            cache=case.cache,
            tell=self.tell,
        )
        floors, left_out = run_floors(setting)
        if case.text_only is not None:
            floors.append(text_only(case.annotations, case.text_only, case.measures, case.protocol))
        return tuple(floors), (*_without_duration(case.train), *_without_duration(case.selection), *left_out)

    @property
    def floors(self) -> tuple[BaselineResult, ...]:
        """Blind baselines on the audited split, PredictAll first."""
        return self._run[0]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Floors that could not be fitted, and queries that no floor could learn from, in words."""
        return self._run[1]

    def floor(self, name: str) -> BaselineResult | None:
        """Return a floor by name; None where it was not run."""
        return next((floor for floor in self.floors if floor.name == name), None)

    @property
    def networks(self) -> tuple[ExpectedValue, ...]:
        """The fitted sentence networks, one a seed; empty without a training split."""
        network = self.floor(NETWORK)
        if network is None or network.floor is None:
            return ()
        fitted = (row[self.headline] for row in network.floor.fitted)
        return tuple(of for of in fitted if isinstance(of, ExpectedValue))

    @property
    def text_only(self) -> int | None:
        """Number of the text-only floor; None where there is none."""
        return next((number for number, floor in enumerate(self.floors) if floor.name == TEXT_ONLY), None)

    @functools.cached_property
    def _ceilings(self) -> tuple[tuple[BaselineResult, ...], int]:
        case = self.case
        top = answers_a_query(case.predictions, case.measures)
        found = run_ceilings(case.annotations, case.measures, case.protocol, top=top, tell=self.tell)
        people, n_annotated = human_ceilings(case.annotations, case.measures, case.protocol, self.scores)
        return (*found, *people), n_annotated

    @property
    def ceilings(self) -> tuple[BaselineResult, ...]:
        """The oracle, the references held to the video, and people where several annotated."""
        return self._ceilings[0]

    @property
    def n_annotated(self) -> int:
        """Queries that several annotators marked, which the ceilings of people are of."""
        return self._ceilings[1]

    def ceiling(self, name: str) -> BaselineResult:
        """Return a ceiling by name."""
        return next(ceiling for ceiling in self.ceilings if ceiling.name == name)

    @functools.cached_property
    def verdict(self) -> Verdict:
        """The method against every floor at once."""
        self.tell("resampling videos")
        return judge_floors(
            self.scores,
            [floor.scores for floor in self.floors],
            self.ceiling("oracle").scores,
            np.array([floor.standard_error for floor in self.floors]),
            self.stream("verdict"),
            resamples=self.case.resamples,
        )

    @functools.cached_property
    def strongest_scores(self) -> Scores:
        """Scores of the strongest floor on the audited split, for each measure its own."""
        return join_measures([(self.floors[f].scores, m) for m, f in enumerate(self.verdict.strongest)])

    def strongest(self, m: int) -> str:
        """Return what the strongest floor at measure m is called."""
        return self.floors[int(self.verdict.strongest[m])].called(m)

    @functools.cached_property
    def p_values(self) -> Floats:
        """Two-sided p value of the method against each floor, (F, M), by swapping the two video by video."""
        self.tell("testing differences")
        return np.array(
            [
                paired_permutation(
                    self.scores, floor.scores, self.stream(f"test {floor.name}"), permutations=self.case.permutations
                )
                for floor in self.floors
            ]
        )

    @functools.cached_property
    def p(self) -> Floats:
        """P value against all floors, (M,): the largest of those against each, as all tests must succeed."""
        return np.asarray(self.p_values.max(axis=0))

    @functools.cached_property
    def ci95(self) -> Floats:
        """95 % intervals of the method, the floors and the ceilings, (1 + F + C, M, 2)."""
        systems = [self.scores, *(of.scores for of in (*self.floors, *self.ceilings))]
        return intervals(systems, self.stream("figures"), self.case.resamples)

    @functools.cached_property
    def verbs(self) -> list[str]:
        """First verb of each sentence, "" where it has none."""
        self.tell("verbs")
        sentences = self.case.annotations.queries.sentence.tolist()
        packed = self.case.cache.arrays(
            "verbs",
            {"engine": self.case.engine, "sentences": self.case.annotations.sha256},
            lambda: {"verbs": pack_text([first_verb(of) for of in verbs_of(sentences, get_engine(self.case.engine))])},
        )
        return unpack_text(packed["verbs"])

    def paired(self, a: Scores, b: Scores, name: str) -> Paired:
        """Compare two systems; `name` seeds the draws."""
        return paired(a, b, self.stream(name), resamples=self.case.resamples, permutations=self.case.permutations)


def figures(scores: Scores) -> Floats:
    """Return the figure of each measure, (M,)."""
    return np.array([scores.value(measure) for measure in scores.measures])


def restrict(scores: Scores, counts: Bools) -> Scores:
    """Return scores in which only the queries marked in `counts`, (Q,), carry weight."""
    return replace(scores, numerator=scores.numerator * counts, weight=scores.weight * counts)


def intervals(systems: list[Scores], rng: np.random.Generator, resamples: int) -> Floats:
    """Return 95 % intervals of systems over the same queries, (S, M, 2)."""
    sums = [sums_by_video(of) for of in systems]
    numerator, weight = (np.concatenate([pair[part] for pair in sums], axis=1) for part in (0, 1))
    found = np.stack(resample_ratios(numerator, weight, rng, resamples=resamples).bounds(LEVEL), axis=-1)
    return np.asarray(np.clip(found, 0, 1).reshape(len(systems), -1, 2))


def paired(a: Scores, b: Scores, rng: np.random.Generator, *, resamples: int, permutations: int) -> Paired:
    """Compare two systems over the same queries."""
    for_draws, for_test = rng.spawn(2)
    (own, weight), (other, _) = sums_by_video(a), sums_by_video(b)
    drawn = resample_ratios(own - other, weight, for_draws, resamples=resamples)
    n_differing = videos_that_differ(a, b)
    p = paired_permutation(a, b, for_test, permutations=permutations)
    resolves = minimum_detectable_difference(drawn.drawn, n_differing=n_differing)
    ci95 = np.stack(drawn.bounds(LEVEL), axis=-1)
    return Paired(figures(a) - figures(b), ci95, p, holm(p), resolves, n_differing)


def _of_known_duration(annotations: Annotations | None) -> Annotations | None:
    """Leave out queries of videos whose duration is not known: floors can neither learn from them nor answer them."""
    if annotations is None:
        return None
    known = np.asarray(annotations.queries.duration_s > 0)
    if not known.any():
        raise UsageError(
            f"{annotations.dataset}/{annotations.split}: no video's duration is known (duration_s), and floors learn "
            "shares of the video; add durations, or fit on another split"
        )
    return annotations.select_queries(known)


def _without_duration(annotations: Annotations | None) -> list[str]:
    """Say how many queries were left out for want of a duration."""
    missing = 0 if annotations is None else int((~(annotations.queries.duration_s > 0)).sum())
    if annotations is None or not missing:
        return []
    return [
        f"{missing:,} of {annotations.n_queries:,} queries of {annotations.split} have no duration and were left out"
    ]
