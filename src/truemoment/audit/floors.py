"""The floors and ceilings of an audit: fitted on the training split, measured on the audited one.

A floor answers each measure with what is worth most by it, where it can (best constant, sentence network, sentence
neighbours). One that draws its answers, or is trained by chance, is the mean over several draws. The same model's
answers without its frames (text only) are a floor too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from truemoment.baselines import BASELINES, Choices, ExpectedValue, PredictAll, make_baseline
from truemoment.baselines.best_constant import best_constants
from truemoment.baselines.expected_value import answer_each
from truemoment.diagnosis.agreement import Annotators
from truemoment.diagnosis.humans import against_another, against_the_others
from truemoment.evaluation import evaluate
from truemoment.exceptions import InputError, ProtocolError, UsageError
from truemoment.grounders import Grounder
from truemoment.intervals import Floats
from truemoment.measures import Measure
from truemoment.protocols import Protocol
from truemoment.records import Annotations, Predictions, Queries
from truemoment.scores import Scores

MOST_ANSWERS = 100
"""Most answers a floor gives: as many as Prior-Only Blind draws."""

TEXT_ONLY, NETWORK = "text-only", "sentence-network"

FLOORS = tuple(name for name, of in BASELINES.items() if of.kind == "floor")
"""Every blind baseline there is."""

DRAWS, FITS = 5, 2
"""Draws of a floor that draws its answers; trainings of one that is trained by chance."""


@dataclass(frozen=True, eq=False)
class BaselineResult:
    """A floor or ceiling on the audited split.

    Parameters
    ----------
    name, title
        As ``truemoment baseline`` calls it, and as reports do.
    kind
        ``floor`` or ``ceiling``.
    scores
        On the audited split; of several draws, the mean.
    predictions
        Its answers on the audited split by the headline measure, of the first draw.
    names
        What it is called at each measure: a best constant says which. Empty for its title.
    fitted
        The fitted methods of the first draw, one a measure; empty where there are answers and no method.
    trained
        One fitted method a draw, by the headline measure.
    draws
        Scores of each draw; empty where nothing is drawn.
    validated
        Its scores on the validation split; None where there is none.
    """

    name: str
    title: str
    kind: Literal["floor", "ceiling"]
    scores: Scores
    predictions: Predictions
    names: tuple[str, ...] = ()
    fitted: tuple[Grounder, ...] = ()
    trained: tuple[Grounder, ...] = ()
    draws: tuple[Scores, ...] = ()
    validated: Scores | None = None

    def called(self, m: int) -> str:
        """Return what it is called at measure m."""
        return self.names[m] if self.names else self.title

    @property
    def spread(self) -> Floats:
        """Standard deviation of the figures over draws, (M,); 0 where nothing is drawn."""
        return _figures(self.draws).std(axis=0, ddof=1) if len(self.draws) > 1 else np.zeros(len(self.scores.measures))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean over draws, (M,)."""
        return np.asarray(self.spread / math.sqrt(max(len(self.draws), 1)))


def _figures(draws: Sequence[Scores]) -> Floats:
    return np.array([[scores.value(measure) for measure in scores.measures] for scores in draws])


@dataclass(frozen=True, eq=False)
class Setting:
    """What every floor is fitted and measured on.

    Parameters
    ----------
    annotations
        The audited split.
    measures, protocol
        M measures, and how they are measured.
    headline
        Which of them the floors' answers are kept for.
    top
        Most answers a query: as many as the method gives, or R@5 would compare lists of different lengths.
    train
        Split to fit on; without one only the floors that learn nothing are run.
    validation
        Split on which each floor is measured too; None for none.
    engine
        What finds verbs.
    """

    annotations: Annotations
    measures: tuple[Measure, ...]
    protocol: Protocol
    headline: int = 0
    top: int = 1
    train: Annotations | None = None
    validation: Annotations | None = None
    engine: str = "lexicon"


def run_floors(
    setting: Setting, stream: Callable[[str], np.random.Generator], tell: Callable[[str], None]
) -> tuple[list[BaselineResult], list[str]]:
    """Fit and run every floor.

    Parameters
    ----------
    setting
        What they are fitted and measured on.
    stream
        Gives the generator of each floor by its name.
    tell
        Told what is being done.

    Returns
    -------
    floors
        PredictAll first.
    left_out
        Floors that could not be fitted, and why: training moments that have no density.

    Raises
    ------
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    found, left_out = [], []
    for name in FLOORS:
        if BASELINES[name].learns and setting.train is None:
            continue
        tell(f"floor {name}")
        try:
            found.append(_run_floor(name, setting, stream(name), tell))
        except InputError as error:
            if not BASELINES[name].learns:
                raise
            left_out.append(f"{name} could not be fitted: {error}")
    return found, left_out


def _run_floor(name: str, setting: Setting, rng: np.random.Generator, tell: Callable[[str], None]) -> BaselineResult:
    of = setting.measures, setting.protocol, setting.top
    drawn = list(_draws(name, setting, rng, tell))
    ran = [run(methods, setting.annotations, *of) for methods in drawn]
    draws, fitted = [scores for scores, _ in ran], drawn[0]
    return BaselineResult(
        name=name,
        title="best constant" if name == "best-constant" else fitted[0].name,
        kind="floor",
        scores=mean_scores(draws),
        predictions=ran[0][1][setting.headline],
        names=tuple(grounder.name for grounder in fitted),
        fitted=fitted,
        trained=tuple(methods[setting.headline] for methods in drawn),
        draws=tuple(draws) if BASELINES[name].random else (),
        validated=None if setting.validation is None else run(fitted, setting.validation, *of)[0],
    )


def _draws(
    name: str, setting: Setting, rng: np.random.Generator, tell: Callable[[str], None]
) -> Iterator[tuple[Grounder, ...]]:
    """Yield the fitted method of each measure, as often as it is drawn; learned floors only with a training split."""
    n_measures, train = len(setting.measures), setting.train
    if name == "best-constant" and train is not None:  # PredictAll where a measure is undefined, so that none is best
        constants = best_constants(setting.measures, train, protocol=setting.protocol)
        yield tuple(PredictAll() if constant is None else constant for constant in constants)
        return
    for number, child in enumerate(rng.spawn(FITS if name == NETWORK else 1)):

        def told(share: float, number: int = number) -> None:
            tell(f"floor {name}, {100 * (number + share) / FITS:.0f} %")

        choices = Choices(child, protocol=setting.protocol, engine=setting.engine, on_progress=told)
        grounder = make_baseline(name, choices)
        grounder = grounder if train is None else grounder.fit(train)
        if isinstance(grounder, ExpectedValue):
            yield grounder.for_measures(setting.measures)
        else:
            for _ in range(DRAWS if BASELINES[name].random else 1):
                yield (grounder,) * n_measures


def mean_scores(draws: Sequence[Scores]) -> Scores:
    """Return the mean of several draws' scores, query by query."""
    return replace(draws[0], numerator=np.mean([scores.numerator for scores in draws], axis=0))


def text_only(
    annotations: Annotations, predictions: Predictions, measures: Sequence[Measure], protocol: Protocol
) -> BaselineResult:
    """Make a floor of a model's answers to the same prompts without the frames.

    Raises
    ------
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    try:
        scores = evaluate(annotations, predictions, measures, protocol)
    except ProtocolError as error:
        raise ProtocolError(f"text-only answers: {error}") from None
    return BaselineResult(TEXT_ONLY, "text only (no frames)", "floor", scores, predictions)


def run_ceilings(
    annotations: Annotations, measures: Sequence[Measure], protocol: Protocol, *, top: int, tell: Callable[[str], None]
) -> list[BaselineResult]:
    """Run the ceilings: the best cells of 2D-TAN's map, and the references held to the video's length.

    Raises
    ------
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    tell("ceilings")
    oracle = make_baseline("oracle", Choices(references=annotations))
    answers = {
        "oracle": ("Oracle on 16 clips (2D-TAN's map)", oracle.ground(annotations.queries, top)),
        "perfect": ("References held to the video", _references_within_video(annotations)),
    }
    return [
        BaselineResult(name, title, "ceiling", evaluate(annotations, of, measures, protocol), of)
        for name, (title, of) in answers.items()
    ]


def human_ceilings(
    annotations: Annotations, measures: Sequence[Measure], protocol: Protocol, scores: Scores
) -> tuple[list[BaselineResult], int]:
    """Hold annotators against each other, where several are named: what is left to agree on.

    ``human-others``: a random annotator against the others, as the protocol lets several references count;
    ``human-another``: a random annotator against one other. Moments identical to a person's own stay among the others':
    they are agreement. A person gives one answer, which is all that R@5 finds.

    Parameters
    ----------
    annotations
        The audited split.
    measures, protocol
        M measures of moments, and how they are measured.
    scores
        Any of the split by these, for what figures are told with.

    Returns
    -------
    ceilings
        None where no query has several annotators. Other queries carry no weight; nor do measures against one other
        that look at sets of moments or say themselves how references count. Their answers are all annotators' moments.
    n_queries
        Queries that several annotators marked.

    Raises
    ------
    MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    if not any(annotations.annotator):
        return [], 0
    try:
        annotators = Annotators.of(annotations)
    except UsageError:  # no query has several
        return [], 0
    marked = np.isin(scores.query_id.astype(str), annotators.annotations.queries.query_id.astype(str))
    found = [("human-others", "Annotator against the others", against_the_others(annotators, measures, protocol))]
    single = [measure for measure in measures if measure.needs == "overlaps" and measure.ref is None]
    if single:
        another = against_another(annotators, single, protocol)
        found.append(("human-another", "Annotator against one other", another))
    answers = _references_within_video(annotators.annotations)
    ceilings = []
    for name, title, of in found:
        numerator, weight = np.zeros((2, len(measures), len(scores)))
        for row, measure in enumerate(of.measures):
            m = measures.index(measure)
            numerator[m, marked], weight[m, marked] = of.numerator[row], of.weight[row]
        on_threshold = np.full(len(measures), -1, dtype=np.int64)
        whole = replace(scores, numerator=numerator, weight=weight, on_threshold=on_threshold, touched={})
        ceilings.append(BaselineResult(name, title, "ceiling", whole, answers))
    return ceilings, len(annotators)


def _references_within_video(annotations: Annotations) -> Predictions:
    """Answer each query with its references, clipped to the video as any method's answers are."""
    start, end = (np.clip(times, 0, annotations.duration_s) for times in (annotations.start_s, annotations.end_s))
    offsets = annotations.offsets
    rank = np.arange(len(annotations)) - np.repeat(offsets[:-1], np.diff(offsets))
    return Predictions(annotations.queries.query_id, offsets, start, end, -rank.astype(np.float64), name="references")


def run(
    grounders: Sequence[Grounder], annotations: Annotations, measures: Sequence[Measure], protocol: Protocol, top: int
) -> tuple[Scores, list[Predictions]]:
    """Let a method (or one for each measure) answer a split with `top` answers a query.

    Returns
    -------
    scores
        Of each measure, by its own method.
    answers : M predictions
        Those that each measure was computed from.

    Raises
    ------
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    answers = _answers(grounders, annotations.queries, top)
    parts: dict[int, tuple[Scores, int]] = {}
    for one in {id(answered): answered for answered in answers}.values():
        rows = [m for m, answered in enumerate(answers) if answered is one]
        scores = evaluate(annotations, one, [measures[m] for m in rows], protocol)
        parts |= {m: (scores, row) for row, m in enumerate(rows)}
    return join_measures([parts[m] for m in range(len(measures))]), answers


def _answers(grounders: Sequence[Grounder], queries: Queries, top: int) -> list[Predictions]:
    """Ask each method once, and the models of places for their probabilities once."""
    of_places = [grounder for grounder in grounders if isinstance(grounder, ExpectedValue)]
    if len(of_places) == len(grounders):
        return answer_each(of_places, queries, top)
    answers = {id(grounder): grounder.ground(queries, top) for grounder in {id(g): g for g in grounders}.values()}
    return [answers[id(grounder)] for grounder in grounders]


def join_measures(parts: Sequence[tuple[Scores, int]]) -> Scores:
    """Scores over the same queries that take each measure from elsewhere: (scores, row), a measure each."""
    return replace(
        parts[0][0],
        measures=tuple(scores.measures[row] for scores, row in parts),
        numerator=np.stack([scores.numerator[row] for scores, row in parts]),
        weight=np.stack([scores.weight[row] for scores, row in parts]),
        on_threshold=np.array([scores.on_threshold[row] for scores, row in parts]),
    )


def answers_a_query(predictions: Predictions, measures: Sequence[Measure]) -> int:
    """How many answers a rival gives: as many as the method's longest list holds and a measure looks at."""
    longest = int(predictions.lengths.max(initial=1))
    depth = max(longest if measure.depth is None else measure.depth for measure in measures)
    return min(max(longest, 1), depth, MOST_ANSWERS)
