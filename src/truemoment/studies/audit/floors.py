"""The floors of an audit, including the method's own answers on other videos, and the ceilings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from truemoment.base.boundary.caching import Cache
from truemoment.base.errors import InputError, ProtocolError, UsageError
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines import Choices, make_baseline
from truemoment.baselines.floors import FloorResult, Setting, answers_a_query, pack_answers, run_floors, unpack_answers
from truemoment.evaluation.agreement import Annotators
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import stream
from truemoment.studies.audit.own_answers import own_answers_floors
from truemoment.studies.audit.setup import AuditSetup
from truemoment.studies.humans.scores import against_another, against_the_others, consensus_against_another

TEXT_ONLY = "text-only"


def fit_floors(
    setup: AuditSetup, seed: int, on_status: Callable[[str], None]
) -> tuple[tuple[FloorResult, ...], tuple[str, ...]]:
    """Return every floor, PredictAll first and the model without its frames last, and notes on what was left out."""
    train, validation = setup.splits.train, setup.splits.validation
    setting = Setting(
        annotations=setup.annotations,
        measures=setup.measures,
        protocol=setup.protocol,
        headline=setup.headline,
        top=answers_a_query(setup.predictions, setup.measures),
        train=_with_known_duration(train),
        validation=_with_known_duration(validation),
        engine=setup.engine,
        seed=seed,
        cache=setup.cache,
        on_status=on_status,
    )
    floors, left_out = run_floors(setting)
    on_status("the method's own answers on other videos")
    try:
        rng = stream(seed, "own answers")
        inputs = (setup.annotations, setup.predictions, setup.measures, setup.protocol)
        floors += own_answers_floors(*inputs, rng, cache=setup.cache)
    except InputError as error:
        left_out.append(f"own answers on other videos could not be used: {error}")
    if setup.controls.text_only is not None:
        floors.append(_text_only(setup, setup.controls.text_only))
    return tuple(floors), (*_without_duration(train), *_without_duration(validation), *left_out)


def _text_only(setup: AuditSetup, predictions: Predictions) -> FloorResult:
    """Return a model's answers to the same prompts without the frames as a floor."""
    try:
        scores = evaluate(setup.annotations, predictions, setup.measures, setup.protocol)
    except ProtocolError as error:
        raise ProtocolError(f"text-only answers: {error}") from None
    return FloorResult(TEXT_ONLY, "text only (no frames)", "floor", scores, predictions)


def _with_known_duration(annotations: Annotations | None) -> Annotations | None:
    """Leave out queries of videos of unknown duration: floors neither learn from them nor answer them."""
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
    missing = 0 if annotations is None else int((~(annotations.queries.duration_s > 0)).sum())
    if annotations is None or not missing:
        return []
    return [f"{missing:,} of {annotations.n_queries:,} queries of {annotations.split} have no duration"]


def run_ceilings(
    annotations: Annotations,
    measures: Sequence[Measure],
    protocol: Protocol,
    *,
    top: int,
    cache: Cache,
    on_status: Callable[[str], None],
) -> list[FloorResult]:
    """Run the ceilings: the best cells of 2D-TAN's map, and the references clipped to the video."""
    on_status("ceilings")
    oracle, queries = make_baseline("oracle", Choices(references=annotations)), annotations.queries
    key = {"ceiling": "oracle", "annotations": annotations.sha256, "top": top}
    best = cache.arrays("answers", key, lambda: pack_answers([[oracle.ground(queries, top)]]))
    answers = {
        "oracle": ("Oracle on 16 clips (2D-TAN's map)", unpack_answers(best, queries.query_id)[0][0]),
        "perfect": ("References clipped to the video", _references_within_video(annotations)),
    }
    return [
        FloorResult(name, title, "ceiling", evaluate(annotations, predictions, measures, protocol), predictions)
        for name, (title, predictions) in answers.items()
    ]


def human_ceilings(
    annotations: Annotations, measures: Sequence[Measure], protocol: Protocol, scores: Scores
) -> tuple[list[FloorResult], int]:
    """Measure the agreement of annotators, if the annotations name several.

    ``human-others``: a random annotator against the others, as the protocol lets several references count;
    ``human-another``: a random annotator against one other; ``human-consensus``: the consensus of the others against
    one annotator (:func:`truemoment.studies.humans.scores.consensus_scores`), which is more than one person can do.
    Moments of the others that are identical to a person's own are agreement, so they count. A person gives one answer,
    so R@5 equals R@1.

    The second value is the number of queries with several annotators; other queries have no weight. Against one
    annotator, measures of sets of moments and those that define how references count have no weight either. `scores`
    are those of any method on the split.
    """
    if not any(annotations.annotator):
        return [], 0
    try:
        annotators = Annotators.of(annotations)
    except UsageError:  # no query has several
        return [], 0
    marked = np.isin(scores.query_id.astype(str), annotators.annotations.queries.query_id.astype(str))
    systems = [("human-others", "Annotator against the others", against_the_others(annotators, measures, protocol))]
    single = [measure for measure in measures if measure.needs == "overlaps" and measure.ref is None]
    if single:
        another = against_another(annotators, single, protocol)
        systems.append(("human-another", "Annotator against one other", another))
        consensus = consensus_against_another(annotators, single, protocol)
        systems.append(("human-consensus", "Consensus against one annotator", consensus))
    answers = _references_within_video(annotators.annotations)
    ceilings = []
    for name, title, own in systems:
        numerator, weight = np.zeros((2, len(measures), len(scores)))
        for row, measure in enumerate(own.measures):
            m = measures.index(measure)
            numerator[m, marked], weight[m, marked] = own.numerator[row], own.weight[row]
        on_threshold = np.full(len(measures), -1, dtype=np.int64)
        whole = replace(scores, numerator=numerator, weight=weight, on_threshold=on_threshold, touched={})
        ceilings.append(FloorResult(name, title, "ceiling", whole, answers))
    return ceilings, len(annotators)


def _references_within_video(annotations: Annotations) -> Predictions:
    """Answer each query with its references, clipped to the video as any method's answers are."""
    start, end = (np.clip(times, 0, annotations.duration_s) for times in (annotations.start_s, annotations.end_s))
    offsets = annotations.offsets
    rank = np.arange(len(annotations)) - np.repeat(offsets[:-1], np.diff(offsets))
    return Predictions(annotations.queries.query_id, offsets, start, end, -rank.astype(np.float64), name="references")
