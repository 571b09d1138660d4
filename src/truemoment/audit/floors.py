"""The floors and ceilings of an audit.

Floors are fitted on the fit split. For each measure the one that scores best *on the selection split* is the floor to
beat; the audited split has no say, or the floor would be picked with the test's help. The same model's answers without
its frames (text only) are a floor too, of the audited split alone, so that it is never chosen: the method is held
against it as against the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from truemoment.baselines import Choices, PredictAll, make_baseline
from truemoment.baselines.best_constant import best_constants
from truemoment.diagnosis.agreement import Annotators
from truemoment.diagnosis.humans import against_another, against_the_others
from truemoment.evaluation import evaluate
from truemoment.exceptions import InputError, ProtocolError, UsageError
from truemoment.grounders import Grounder
from truemoment.intervals import Floats, Ints
from truemoment.measures import Measure
from truemoment.protocols import Protocol
from truemoment.records import Annotations, Predictions
from truemoment.scores import Scores

MOST_ANSWERS = 100
"""Most answers a floor gives: as many as Prior-Only Blind draws."""

TEXT_ONLY = "text-only"
UNFITTED = ("predict-all", "uniform", "random-chance")
FITTED = ("best-constant", "bias-based", "prior-only", "action-aware")


@dataclass(frozen=True, eq=False)
class Rival:
    """A floor or ceiling on the audited split.

    Parameters
    ----------
    name, title
        As ``truemoment baseline`` calls it, and as reports do.
    kind
        ``floor`` or ``ceiling``.
    grounders
        The fitted method for each measure: one and the same, but for the best constants. Empty where there are answers
        and no method that gives them.
    scores
        On the audited split.
    selection : (M,)
        Figures on the selection split; NaN where there is none.
    predictions
        Its answers on the audited split, at the headline measure.
    """

    name: str
    title: str
    kind: Literal["floor", "ceiling"]
    grounders: tuple[Grounder, ...]
    scores: Scores
    selection: Floats
    predictions: Predictions

    def called(self, m: int) -> str:
        """What it is called at measure m: a best constant says which."""
        return self.grounders[m].name if self.grounders else self.title


def run_floors(
    annotations: Annotations,
    measures: Sequence[Measure],
    protocol: Protocol,
    *,
    headline: int,
    top: int,
    train: Annotations | None,
    selection: Annotations | None,
    engine: str,
    rng: np.random.Generator,
    tell: Callable[[str], None],
) -> tuple[list[Rival], list[str]]:
    """Fit and run every floor.

    Parameters
    ----------
    annotations
        The audited split.
    measures, protocol
        M measures, and how they are measured.
    headline
        Which of them the floors' answers are kept for.
    top
        Most answers a query: as many as the method gives, or R@5 would hold one answer against several.
    train
        Split to fit on; without one only the floors that learn nothing are run.
    selection
        Split the floor to beat is chosen on; `train` where there is none.
    engine
        What finds verbs.
    rng
        Generator; each floor gets a child of its own.
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
    selection = train if selection is None else selection
    names = UNFITTED if train is None else (*UNFITTED, *FITTED)
    rivals, left_out = [], []
    for name, child in zip(names, rng.spawn(len(names)), strict=True):
        tell(f"floor {name}")
        try:
            choices = Choices(child, protocol=protocol, engine=engine)
            grounders = _fitted(name, choices, measures, train)
        except InputError as error:
            if name in UNFITTED:
                raise
            left_out.append(f"{name} could not be fitted: {error}")
            continue
        selected = np.full(len(measures), np.nan)
        if selection is not None:
            on_selection, _ = run(grounders, selection, measures, protocol, top)
            selected = np.array([on_selection.value(measure) for measure in measures])
        title = "best constant" if name == "best-constant" else grounders[0].name
        scores, answers = run(grounders, annotations, measures, protocol, top)
        rivals.append(Rival(name, title, "floor", grounders, scores, selected, answers[headline]))
    return rivals, left_out


def _fitted(
    name: str, choices: Choices, measures: Sequence[Measure], train: Annotations | None
) -> tuple[Grounder, ...]:
    """Return the fitted method for each measure; PredictAll where it is undefined, so that no constant is best."""
    if name == "best-constant" and train is not None:
        constants = best_constants(measures, train, protocol=choices.protocol)
        return tuple(PredictAll() if constant is None else constant for constant in constants)
    grounder = make_baseline(name, choices)
    return (grounder if train is None else grounder.fit(train),) * len(measures)


def text_only(
    annotations: Annotations, predictions: Predictions, measures: Sequence[Measure], protocol: Protocol
) -> Rival:
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
    undefined = np.full(len(measures), np.nan)
    return Rival(TEXT_ONLY, "text only (no frames)", "floor", (), scores, undefined, predictions)


def run_ceilings(
    annotations: Annotations, measures: Sequence[Measure], protocol: Protocol, *, top: int, tell: Callable[[str], None]
) -> list[Rival]:
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
    undefined = np.full(len(measures), np.nan)
    return [
        Rival(name, title, "ceiling", (), evaluate(annotations, of, measures, protocol), undefined, of)
        for name, (title, of) in answers.items()
    ]


def human_ceilings(
    annotations: Annotations, measures: Sequence[Measure], protocol: Protocol, scores: Scores
) -> tuple[list[Rival], int]:
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
    undefined = np.full(len(measures), np.nan)
    rivals = []
    for name, title, of in found:
        numerator, weight = np.zeros((2, len(measures), len(scores)))
        for row, measure in enumerate(of.measures):
            m = measures.index(measure)
            numerator[m, marked], weight[m, marked] = of.numerator[row], of.weight[row]
        on_threshold = np.full(len(measures), -1, dtype=np.int64)
        whole = replace(scores, numerator=numerator, weight=weight, on_threshold=on_threshold, touched={})
        rivals.append(Rival(name, title, "ceiling", (), whole, undefined, answers))
    return rivals, len(annotators)


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
    parts: dict[int, tuple[Scores, int]] = {}
    answers: dict[int, Predictions] = {}
    for grounder in {id(grounder): grounder for grounder in grounders}.values():
        rows = [m for m, of_measure in enumerate(grounders) if of_measure is grounder]
        answered = grounder.ground(annotations.queries, top)
        scores = evaluate(annotations, answered, [measures[m] for m in rows], protocol)
        parts |= {m: (scores, row) for row, m in enumerate(rows)}
        answers |= dict.fromkeys(rows, answered)
    return join_measures([parts[m] for m in range(len(measures))]), [answers[m] for m in range(len(measures))]


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


def choose(floors: Sequence[Rival]) -> Ints:
    """Number of the floor to beat for each measure, shape (M,): the best on the selection split, first on a tie.

    Without a selection split it is the first floor, PredictAll.
    """
    table = np.stack([np.nan_to_num(floor.selection, nan=-np.inf) for floor in floors])
    return np.asarray(table.argmax(axis=0), dtype=np.int64)
