"""The floors: blind baselines fitted on a training split and measured on another split.

A floor maximises each measure, where it can (best constant, sentence network, sentence neighbours). A floor that draws
its answers, or whose training is random, is the mean over several draws.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from truemoment.base.boundary.arrays import Array, pack_json, unpack_json
from truemoment.base.boundary.caching import NO_CACHE, Cache, say_nothing
from truemoment.base.boundary.processes import end_with_parent, processes
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions, Queries, Strings
from truemoment.baselines import (
    BASELINES,
    Choices,
    ExpectedValue,
    OrderTable,
    ParagraphNetwork,
    PredictAll,
    Reads,
    SentenceNetwork,
    make_baseline,
)
from truemoment.baselines.best_constant import best_constants
from truemoment.baselines.expected_value import answer_each
from truemoment.baselines.sentence_network import Training
from truemoment.baselines.shared_tasks import SharedTasks
from truemoment.data.language.paragraphs import OrderOfStarts, order_of_starts
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.grounders import Grounder
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import stream
from truemoment.report.words import about

MOST_ANSWERS = 100
"""Largest number of answers of a floor: the number of draws of Prior-Only Blind."""

NETWORK, PARAGRAPH, NEIGHBOURS = "sentence-network", "paragraph-network", "sentence-neighbours"

HEADLINE = "R@1,IoU=0.5"
"""Measure of a verdict, if it is among the measures; else the first measure is."""

FLOORS = tuple(name for name, baseline in BASELINES.items() if baseline.kind == "floor")
"""Names of all blind baselines."""

TRAININGS = (Training(), Training(hidden=(64, 128), members=(8, 3)))
"""Trainings of the sentence network; on a large split they differ in size, which matters more than chance there."""

DRAWS, FITS = 5, MappingProxyType({NETWORK: len(TRAININGS), PARAGRAPH: 1})
"""Draws of a floor that draws its answers; number of trainings of a network, each of several members."""

MARGIN = 2.0
"""Standard deviations between trainings that a difference from a trained floor has to exceed."""


@dataclass(frozen=True, eq=False)
class Setting:
    """Data on which every floor is fitted and measured.

    Parameters
    ----------
    headline
        Row of the measure whose answers are returned.
    top
        Largest number of answers a query: that of the method, so that R@5 compares lists of equal length.
    train
        Split on which floors are fitted; without it only the floors that learn nothing are run.
    validation
        Further split on which each floor is measured; optional.
    seed
        Seed of all draws; each floor derives its own from it by name.
    """

    annotations: Annotations
    measures: tuple[Measure, ...]
    protocol: Protocol
    headline: int = 0
    top: int = 1
    train: Annotations | None = None
    validation: Annotations | None = None
    engine: str = "lexicon"
    seed: int = 0
    cache: Cache = NO_CACHE
    on_status: Callable[[str], None] = say_nothing

    def key(self, name: str) -> dict[str, Any]:
        """Return everything on which a fitted floor depends, as JSON values."""
        return {
            "floor": name,
            "seed": self.seed if BASELINES[name].random else 0,
            "train": None if self.train is None else self.train.sha256,
            "dataset": self.annotations.dataset,
            "engine": self.engine,
        }


@dataclass(frozen=True, eq=False)
class Floor:
    """A blind baseline that is fitted when it is first needed."""

    name: str
    setting: Setting

    @functools.cached_property
    def cache(self) -> Cache:
        """Cache of the answers; none if parts of other packages compute them, whose code the cache does not know."""
        parts = (type(measure).__module__ for measure in self.setting.measures)
        is_ours = self.name in BASELINES.own and all(part.startswith("truemoment.") for part in parts)
        return self.setting.cache if is_ours else NO_CACHE

    @functools.cached_property
    def fitted(self) -> tuple[tuple[Grounder, ...], ...]:
        """The fitted methods, a row a training and a column a measure.

        Raises
        ------
        InputError
            If it cannot be fitted because the training moments have no density.
        """
        return tuple(self.training(number) for number in range(FITS.get(self.name, 1)))

    def training(self, number: int) -> tuple[Grounder, ...]:
        """Fit the floor once, or read it from the cache; a method a measure. Errors are those of :attr:`fitted`."""
        setting, train = self.setting, self.setting.train
        if self.name == "best-constant" and train is not None:  # PredictAll where a measure is undefined
            constants = best_constants(setting.measures, train, protocol=setting.protocol)
            return tuple(PredictAll() if constant is None else constant for constant in constants)
        share = functools.partial(self._share, number)
        rng = stream(setting.seed, f"floor {self.name} {number}")
        grounder = make_baseline(
            self.name, Choices(rng, protocol=setting.protocol, engine=setting.engine, on_progress=share)
        )
        if train is None:
            return (grounder,) * len(setting.measures)
        if isinstance(grounder, OrderTable):
            return grounder.for_measures(setting.measures, train)
        if isinstance(grounder, ExpectedValue):
            if isinstance(grounder.model, SentenceNetwork):
                grounder = replace(grounder, model=replace(grounder.model, training=TRAININGS[number]))
            return self._recalled(grounder, train, number).for_measures(setting.measures)
        return (grounder.fit(train),) * len(setting.measures)

    def _share(self, number: int, share: float) -> None:
        self.setting.on_status(f"floor {self.name}, {100 * (number + share) / FITS[self.name]:.0f} %")

    def _recalled(self, grounder: ExpectedValue, train: Annotations, number: int) -> ExpectedValue:
        """Fit a model of places, or read its networks from the cache."""
        model = grounder.model
        if isinstance(model, ParagraphNetwork):
            sentence = _sentence_network(self.setting)
            model = replace(model, sentence=sentence)
        elif not isinstance(model, SentenceNetwork):
            return grounder.fit(train)
        key, network = self.setting.key(self.name) | {"fit": number}, model
        packed = self.cache.arrays(self.name, key, lambda: network.fit(train).packed())
        return replace(grounder, model=network.unpacked(packed, train), protocol=self.setting.protocol)

    def answers(self, annotations: Annotations) -> list[list[Predictions]]:
        """Answer a split: a row a draw, a column a measure."""
        key = self.key_of_answers(annotations)
        packed = self.cache.arrays("answers", key, lambda: pack_answers(self._predictions(annotations)))
        return unpack_answers(packed, annotations.queries.query_id)

    def key_of_answers(self, annotations: Annotations) -> dict[str, Any]:
        """Return everything on which its answers to a split depend, as JSON values."""
        setting = self.setting
        return setting.key(self.name) | {
            "annotations": annotations.sha256,
            "measures": [str(measure) for measure in setting.measures],
            "protocol": setting.protocol.signature(),
            "top": setting.top,
        }

    def _predictions(self, annotations: Annotations) -> list[list[Predictions]]:
        setting, is_drawn = self.setting, BASELINES[self.name].random and self.name not in FITS
        if setting.train is not None:
            seconds = expected_s(self.name, len(setting.train), len(annotations))
            if seconds >= LONG_S:
                setting.on_status(f"floor {self.name}, {about(seconds)}")
        depths = [min(setting.top, measure.depth or setting.top) for measure in setting.measures]
        rows = []
        for number in range(DRAWS if is_drawn else len(self.fitted)):
            methods: Sequence[Grounder] = self.fitted[0 if is_drawn else number]
            if is_drawn:
                rng = stream(setting.seed, f"draw {number} of {self.name} on {annotations.sha256}")
                methods = [replace(methods[0], rng=rng)] * len(methods)  # type: ignore[type-var]  # all have one
            rows.append(predict_each(methods, annotations.queries, depths))
        return rows

    def training_spread(self, annotations: Annotations) -> float:
        """Return the standard deviation of the headline between single networks; 0 where none is trained."""
        return self.training_spreads(annotations, [self.setting.headline])[0]

    def training_spreads(self, annotations: Annotations, rows: Sequence[int]) -> list[float]:
        """Return the standard deviation between single networks by the measures of some rows."""
        setting = self.setting
        if self.name not in FITS or setting.train is None:
            return [0.0] * len(rows)
        key = setting.key(self.name) | {
            "annotations": annotations.sha256,
            "protocol": setting.protocol.signature(),
            "top": setting.top,
        }

        @functools.cache
        def computed() -> Floats:
            return np.reshape(list(self._figures_of_members(annotations, rows)), (-1, len(rows)))

        def column(at: int) -> dict[str, Array]:
            return {"figures": computed()[:, at]}

        spreads = []
        for at, row in enumerate(rows):
            key |= {"measure": str(setting.measures[row])}
            figures = self.cache.arrays("spread", key, functools.partial(column, at))["figures"]
            spreads.append(float(figures.std(ddof=1)) if len(figures) > 1 else 0.0)
        return spreads

    def _figures_of_members(self, annotations: Annotations, rows: Sequence[int]) -> Iterator[list[float]]:
        """Yield the figures of each single network, by the measures of some rows."""
        setting, queries = self.setting, annotations.queries
        for methods in self.fitted:
            model = methods[0].model if isinstance(methods[0], ExpectedValue) else None
            if not isinstance(model, SentenceNetwork | ParagraphNetwork):
                continue
            for probabilities in model.members(queries):
                figures = []
                for row in rows:
                    grounder, measure = methods[row], setting.measures[row]
                    assert isinstance(grounder, ExpectedValue)  # noqa: S101 - as that of the first measure
                    top = min(setting.top, measure.depth or setting.top)
                    answers = grounder.answer(queries, probabilities, top)
                    figures.append(evaluate(annotations, answers, [measure], setting.protocol).value(measure))
                yield figures


@functools.lru_cache(maxsize=1)  # the paragraph network reads the one that the sentence network has just fitted
def _sentence_network(setting: Setting) -> SentenceNetwork:
    """Return the first sentence network of a setting."""
    first, *_ = Floor(NETWORK, setting).training(0)
    if not (isinstance(first, ExpectedValue) and isinstance(first.model, SentenceNetwork)):
        raise UsageError(f"{NETWORK} has to be fitted first")
    return first.model


LONG_S = 10.0
"""Seconds above which work is announced."""

QUERY_S = MappingProxyType({"prior-only": 0.08e-3, "action-aware": 0.25e-3, NETWORK: 0.95e-3, PARAGRAPH: 0.45e-3})
PAIR_S = MappingProxyType({NEIGHBOURS: 2.5e-8})
"""Seconds of one core per training query, and per pair with an answered query (benchmarks/README.md)."""


def expected_s(name: str, n_train: int, n_queries: int) -> float:
    """Return about how many seconds a floor takes to learn from a split and to answer another."""
    return QUERY_S.get(name, 0.0) * n_train + PAIR_S.get(name, 0.0) * n_train * n_queries


def pack_answers(rows: Sequence[Sequence[Predictions]]) -> dict[str, Array]:
    """Return rows of answers to the same queries as arrays; those that occur several times are stored once."""
    distinct = {id(answers): answers for row in rows for answers in row}
    number = {key: at for at, key in enumerate(distinct)}
    packed: dict[str, Array] = {
        "names": pack_json([answers.name for answers in distinct.values()]),
        "which": np.array([[number[id(answers)] for answers in row] for row in rows]),
    }
    for at, answers in enumerate(distinct.values()):
        packed |= {
            f"offsets{at}": answers.offsets,
            f"moments{at}": np.stack([answers.start_s, answers.end_s, answers.score]),
        }
    return packed


def unpack_answers(packed: Mapping[str, Array], query_id: Strings) -> list[list[Predictions]]:
    """Return the answers of :func:`pack_answers`; the queries are in the same order."""
    names = unpack_json(packed["names"], list[str])
    distinct = []
    for at, name in enumerate(names):
        start_s, end_s, score = packed[f"moments{at}"]
        distinct.append(Predictions(query_id, packed[f"offsets{at}"], start_s, end_s, score, name=name))
    return [[distinct[at] for at in row] for row in packed["which"].tolist()]


@dataclass(frozen=True, eq=False)
class FloorResult:
    """A floor or ceiling on the audited split.

    Parameters
    ----------
    kind
        ``floor`` or ``ceiling``.
    scores
        Scores on the audited split; the mean over several draws.
    predictions
        Its answers on the audited split by the headline measure, of the first draw.
    names
        Name at each measure, as that of a best constant contains its place. Empty: its title.
    floor
        The method; None where there are only answers.
    draws
        Scores of each draw; empty where nothing is drawn.
    validated
        Its scores on the validation split; None where there is none.
    training_spread
        Standard deviation of the headline figure between single networks; 0 where none is trained.
    """

    name: str
    title: str
    kind: Literal["floor", "ceiling"]
    scores: Scores
    predictions: Predictions
    names: tuple[str, ...] = ()
    floor: Floor | None = None
    draws: tuple[Scores, ...] = ()
    validated: Scores | None = None
    training_spread: float = 0.0

    @property
    def reads(self) -> Reads:
        """Sentences of the video that it reads."""
        return BASELINES[self.name].reads if self.name in BASELINES else "sentence"

    @property
    def margin(self) -> float:
        """Difference from it that another training could explain; 0 where it is not trained."""
        return MARGIN * self.training_spread

    def name_at(self, m: int) -> str:
        """Return the name at measure m."""
        return self.names[m] if self.names else self.title

    @functools.cached_property
    def spread(self) -> Floats:
        """Standard deviation of the figures over draws, (M,); 0 where nothing is drawn."""
        if len(self.draws) < 2:
            return np.zeros(len(self.scores.measures))
        values = np.array([[scores.value(measure) for measure in scores.measures] for scores in self.draws])
        return np.asarray(values.std(axis=0, ddof=1))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean over draws, (M,)."""
        return np.asarray(self.spread / math.sqrt(max(len(self.draws), 1)))


def run_floors(setting: Setting) -> tuple[list[FloorResult], list[str]]:
    """Fit and run every floor; those that read a paragraph only where its order predicts moments.

    Returns
    -------
    floors
        PredictAll first.
    left_out
        Floors that could not be fitted because the training moments have no density, with the reason.

    Raises
    ------
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    results, left_out = {}, {}
    names = _names(setting)
    with threadpool_limits(limits=1, user_api="blas"), _tasks(setting, names) as tasks:
        for name in tasks:
            setting.on_status(f"floor {name}")
            try:
                results[name] = _run_floor(Floor(name, setting))
            except InputError as error:
                if not BASELINES[name].learns:
                    raise
                left_out[name] = f"{name} could not be fitted: {error}"
    return [results[name] for name in names if name in results], [left_out[name] for name in names if name in left_out]


def _names(setting: Setting) -> list[str]:
    """Return the floors that are run."""
    if setting.train is None:
        return [name for name in FLOORS if not BASELINES[name].learns]
    informs = order_of_starts(setting.train).informs
    return [name for name in FLOORS if informs or BASELINES[name].reads != "paragraph"]


@contextlib.contextmanager
def _tasks(setting: Setting, names: Sequence[str]) -> Iterator[SharedTasks]:
    """Share the floors with another process, if they take long.

    This process trains the first sentence network, which the paragraph network reads, and the other process the rest.
    """
    train, annotations = setting.train, setting.annotations
    seconds = {name: expected_s(name, 0 if train is None else len(train), len(annotations)) for name in names}
    in_order = sorted(names, key=seconds.__getitem__)
    floors = [Floor(name, setting) for name in names]
    missing = [floor.name for floor in floors if not floor.cache.holds("answers", floor.key_of_answers(annotations))]
    is_long = sum(seconds[name] for name in missing) >= LONG_S and any(name in FITS for name in missing)
    if not is_long or Floor(NETWORK, setting).cache.folder is None or (os.cpu_count() or 1) < 2:
        yield SharedTasks(in_order, None, str)
        return
    copy = replace(setting, cache=Cache(setting.cache.folder), on_status=say_nothing)
    with processes(1, end_with_parent) as pool:
        tasks = SharedTasks([name for name in in_order if name not in FITS], pool, functools.partial(_run_alone, copy))
        tasks.add(NETWORK, after=functools.partial(_train_alone, copy))
        with contextlib.suppress(InputError):  # raised again where it is run
            _sentence_network(setting)
        if PARAGRAPH in names:
            tasks.add_last(PARAGRAPH)
        yield tasks


def _run_alone(setting: Setting, name: str) -> None:
    with threadpool_limits(limits=1, user_api="blas"):
        _run_floor(Floor(name, setting))


def _train_alone(setting: Setting) -> None:
    with threadpool_limits(limits=1, user_api="blas"):
        for number in range(1, FITS[NETWORK]):
            Floor(NETWORK, setting).training(number)


def why_order_predicts_nothing(order: OrderOfStarts) -> str:
    """Return in words why the order of sentences does not predict moments."""
    if not order.n_pairs:
        return "no video of the training split has two sentences"
    return (
        "the order of a video's sentences in the training file does not predict their moments: the next one starts "
        f"later in {100 * order.later:.1f} % of pairs, earlier in {100 * order.earlier:.1f} %"
    )


def remeasured(floors: Sequence[FloorResult], annotations: Annotations) -> list[FloorResult]:
    """Measure fitted floors on another split.

    Raises
    ------
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    return [_measured(result.floor, annotations) for result in floors if result.floor is not None]


def _run_floor(floor: Floor) -> FloorResult:
    setting = floor.setting
    result = _measured(floor, setting.annotations)
    if setting.validation is None:
        return result
    answers = floor.answers(setting.validation)[0]
    return replace(result, validated=measure_each(setting.validation, answers, setting.measures, setting.protocol))


def _measured(floor: Floor, annotations: Annotations) -> FloorResult:
    setting, name = floor.setting, floor.name
    rows = floor.answers(annotations)
    draws = [measure_each(annotations, answers, setting.measures, setting.protocol) for answers in rows]
    return FloorResult(
        name=name,
        title="best constant" if name == "best-constant" else rows[0][0].name,
        kind="floor",
        scores=replace(draws[0], numerator=np.mean([scores.numerator for scores in draws], axis=0)),
        predictions=rows[0][setting.headline],
        names=tuple(answers.name for answers in rows[0]),
        floor=floor,
        draws=tuple(draws) if BASELINES[name].random else (),
        training_spread=floor.training_spread(annotations),
    )


def predict_each(grounders: Sequence[Grounder], queries: Queries, depths: Sequence[int]) -> list[Predictions]:
    """Predict with a method for each measure, to its depth; each method, and each model of places, runs once."""
    of_places = [grounder for grounder in grounders if isinstance(grounder, ExpectedValue)]
    if len(of_places) == len(grounders):
        return answer_each(of_places, queries, depths)
    deepest = max(depths)
    answers = {id(grounder): grounder.ground(queries, deepest) for grounder in {id(g): g for g in grounders}.values()}
    return [answers[id(grounder)] for grounder in grounders]


def measure_each(
    annotations: Annotations, answers: Sequence[Predictions], measures: Sequence[Measure], protocol: Protocol
) -> Scores:
    """Measure the answers for each measure by this measure."""
    parts: dict[int, tuple[Scores, int]] = {}
    for predictions in {id(answer): answer for answer in answers}.values():
        rows = [m for m, answer in enumerate(answers) if answer is predictions]
        scores = evaluate(annotations, predictions, [measures[m] for m in rows], protocol)
        parts |= {m: (scores, row) for row, m in enumerate(rows)}
    return join_measures([parts[m] for m in range(len(measures))])


def join_measures(parts: Sequence[tuple[Scores, int]]) -> Scores:
    """Join measures of several scores over the same queries: (scores, row), one a measure."""
    return replace(
        parts[0][0],
        measures=tuple(scores.measures[row] for scores, row in parts),
        numerator=np.stack([scores.numerator[row] for scores, row in parts]),
        weight=np.stack([scores.weight[row] for scores, row in parts]),
        on_threshold=np.array([scores.on_threshold[row] for scores, row in parts]),
    )


def headline_of(measures: Sequence[Measure]) -> int:
    """Return the row of the measure that a verdict is about."""
    names = [str(measure) for measure in measures]
    return names.index(HEADLINE) if HEADLINE in names else 0


def answers_a_query(predictions: Predictions, measures: Sequence[Measure]) -> int:
    """Return the number of predictions of a floor: those of the method's longest list that a measure reads."""
    longest = int(predictions.lengths.max(initial=1))
    depth = max(longest if measure.depth is None else measure.depth for measure in measures)
    return min(max(longest, 1), depth, MOST_ANSWERS)
