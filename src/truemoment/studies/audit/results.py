"""Values that the checks of an audit share, each computed when it is first needed.

A check computes its own values by a function of the results. :meth:`Results.cached` keeps them too, so that a report
shows the same numbers as the finding.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from truemoment.base.boundary.arrays import pack_json, unpack_json
from truemoment.base.boundary.caching import Cache
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines import ExpectedValue
from truemoment.baselines.floors import NETWORK, FloorResult, answers_a_query, join_measures
from truemoment.data.language import first_verb, get_engine, verbs_of
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import permutation_p_values, stream, sums_by_video
from truemoment.studies.audit.declaration import Declaration, check_declaration
from truemoment.studies.audit.floors import TEXT_ONLY, fit_floors, human_ceilings, run_ceilings
from truemoment.studies.audit.resampling import PairedDifference, intervals, paired
from truemoment.studies.audit.setup import AuditSetup
from truemoment.studies.audit.training_data import TrainingCoverage, training_coverage
from truemoment.studies.audit.verdict import Verdict, judge_floors

T = TypeVar("T")


class Results:
    """Values computed about an audited method.

    Each draw has a random stream of its own, seeded by its name, so that a new check changes no other. `whole` is the
    original setup, `setup` the same without the queries that have no reference moment. A UsageError means that a split
    has no other query.
    """

    def __init__(self, setup: AuditSetup, seed: int = 0, on_status: Callable[[str], None] = lambda _: None) -> None:
        self.whole, self.setup = setup, setup.located()
        self.on_status = on_status
        self.seed = seed
        self._cache: dict[Callable[[Results], Any], Any] = {}

    def cached(self, compute: Callable[[Results], T]) -> T:
        """Return the value of a function of the results, which is called once."""
        if compute not in self._cache:
            self._cache[compute] = compute(self)
        value: T = self._cache[compute]
        return value

    def stream(self, name: str) -> np.random.Generator:
        """Return a new random generator, seeded by the name: each call for a name gives the same draws."""
        return stream(self.seed, name)

    @property
    def headline(self) -> int:
        """Row of the measure that the verdict is about."""
        return self.setup.headline

    @property
    def measure(self) -> Measure:
        """The measure that the verdict is about."""
        return self.setup.measures[self.setup.headline]

    @property
    def annotations(self) -> Annotations:
        """The queries of the audited split that have a reference moment."""
        return self.setup.annotations

    @functools.cached_property
    def scores(self) -> Scores:
        """Scores of the method."""
        self.on_status("measuring")
        return self.evaluate(self.setup.predictions)

    def evaluate(self, predictions: Predictions) -> Scores:
        """Measure other predictions for the same queries."""
        return evaluate(self.setup.annotations, predictions, self.setup.measures, self.setup.protocol)

    @functools.cached_property
    def _floors(self) -> tuple[tuple[FloorResult, ...], tuple[str, ...]]:
        return fit_floors(self.setup, self.seed, self.on_status)

    @functools.cached_property
    def declaration(self) -> Declaration | None:
        """The tested declaration that the method reads one sentence at a time; None without one."""
        if self.setup.reads != "sentence":
            return None
        floors = self._floors[0]
        self.on_status("the declaration")
        return check_declaration(self.setup, floors, self.stream("declaration"))

    @functools.cached_property
    def floors(self) -> tuple[FloorResult, ...]:
        """Blind baselines that the verdict counts, PredictAll first; all but those of `context`."""
        return tuple(floor for floor in self._floors[0] if floor not in self.context)

    @functools.cached_property
    def context(self) -> tuple[FloorResult, ...]:
        """Floors that the verdict leaves out, because the method is declared to read less than they do."""
        return self.declaration.context if self.declaration is not None and self.declaration.holds else ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """Floors that could not be fitted, and the number of queries without a duration, in words."""
        return self._floors[1]

    def floor(self, name: str) -> FloorResult | None:
        """Return a floor by name, also one of `context`; None if it was not run."""
        return next((floor for floor in self._floors[0] if floor.name == name), None)

    @property
    def networks(self) -> tuple[ExpectedValue, ...]:
        """The fitted sentence networks, one per seed; empty without a training split."""
        network = self.floor(NETWORK)
        if network is None or network.floor is None:
            return ()
        fitted = (row[self.headline] for row in network.floor.fitted)
        return tuple(network for network in fitted if isinstance(network, ExpectedValue))

    @property
    def text_only(self) -> int | None:
        """Row of the text-only floor; None if there is none."""
        return next((number for number, floor in enumerate(self.floors) if floor.name == TEXT_ONLY), None)

    @functools.cached_property
    def _ceilings(self) -> tuple[tuple[FloorResult, ...], int]:
        setup = self.setup
        top = answers_a_query(setup.predictions, setup.measures)
        ceilings = run_ceilings(
            setup.annotations, setup.measures, setup.protocol, top=top, cache=setup.cache, on_status=self.on_status
        )
        people, n_annotated = human_ceilings(setup.annotations, setup.measures, setup.protocol, self.scores)
        return (*ceilings, *people), n_annotated

    @property
    def ceilings(self) -> tuple[FloorResult, ...]:
        """The oracle, the references clipped to the video, and people if several annotated."""
        return self._ceilings[0]

    @property
    def n_annotated(self) -> int:
        """Number of queries that several people annotated; only they count for the ceilings of people."""
        return self._ceilings[1]

    def ceiling(self, name: str) -> FloorResult:
        """Return a ceiling by name."""
        return next(ceiling for ceiling in self.ceilings if ceiling.name == name)

    @functools.cached_property
    def verdict(self) -> Verdict:
        """The verdict on the method, compared with every floor at once."""
        self.on_status("resampling videos")
        return judge_floors(
            self.scores,
            [floor.scores for floor in self.floors],
            self.ceiling("perfect").scores,
            np.array([floor.standard_error for floor in self.floors]),
            self.stream("verdict"),
            resamples=self.setup.resamples,
            margin=np.array([floor.margin for floor in self.floors]),
            training_faults=() if self.training is None else self.training.faults,
        )

    @functools.cached_property
    def training(self) -> TrainingCoverage | None:
        """How well the training split covers the audited one; None without a training split."""
        splits = self.setup.splits
        if splits.train is None:
            return None
        return training_coverage(splits.train, self.setup.annotations, foreign=splits.foreign, cache=self.setup.cache)

    @functools.cached_property
    def strongest_scores(self) -> Scores:
        """Scores of the strongest floor of each measure on the audited split."""
        return join_measures([(self.floors[f].scores, m) for m, f in enumerate(self.verdict.strongest)])

    def strongest(self, m: int) -> str:
        """Return the name of the strongest floor at measure m."""
        return self.floors[int(self.verdict.strongest[m])].name_at(m)

    @functools.cached_property
    def p_values(self) -> Floats:
        """Two-sided p-value of the method against each floor, (F, M), by swapping the two video by video."""
        self.on_status("testing differences")
        systems = [self.scores, *(floor.scores for floor in self.floors)]
        numerator, weight = (np.stack(parts) for parts in zip(*map(sums_by_video, systems), strict=True))
        pairs = [(0, f) for f in range(1, len(systems))]
        rng = self.stream("tests")
        return permutation_p_values(numerator, weight, pairs, rng, permutations=self.setup.permutations)

    @functools.cached_property
    def p(self) -> Floats:
        """P value against all floors, (M,): the largest over the floors, because all tests must succeed."""
        return np.asarray(self.p_values.max(axis=0))

    @functools.cached_property
    def ci95(self) -> Floats:
        """95 % intervals of the method, the floors, the ceilings and the floors of `context`, (1 + F + C + B, M, 2)."""
        systems = [self.scores, *(baseline.scores for baseline in (*self.floors, *self.ceilings, *self.context))]
        return intervals(systems, self.stream("figures"), self.setup.resamples)

    @functools.cached_property
    def verbs(self) -> list[str]:
        """First verb of each sentence, "" if it has none."""
        self.on_status("verbs")
        return first_verbs(self.setup.annotations, self.setup.engine, self.setup.cache)

    def paired(self, a: Scores, b: Scores, name: str) -> PairedDifference:
        """Compare two systems; `name` seeds the draws."""
        return paired(a, b, self.stream(name), resamples=self.setup.resamples, permutations=self.setup.permutations)


def first_verbs(annotations: Annotations, engine: str, cache: Cache) -> list[str]:
    """Return the first verb of each sentence, "" if it has none."""
    sentences = annotations.queries.sentence.tolist()
    packed = cache.arrays(
        "verbs",
        {"engine": engine, "sentences": annotations.sha256},
        lambda: {"verbs": pack_json([first_verb(verbs) for verbs in verbs_of(sentences, get_engine(engine))])},
    )
    return unpack_json(packed["verbs"], list[str])
