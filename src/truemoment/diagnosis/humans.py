"""What people score: annotators held against the references, and against each other; and what that does to verdicts.

An annotator is held against references in these ways:

============================  =============================================================================
``official``                  the dataset's own references
``nearest``                   the nearest of the other annotators' moments
``representative``            the representative moment of all annotators; the answers are those of the others
``others-representative``     the representative moment of the other annotators
``another``                   one other annotator; the mean over all of them
============================  =============================================================================

*Identical moments.* Hidden Challenges holds a person against what others marked, and what of it counts where others
marked the very same moment is a choice, ``duplicates``:

* ``"out"``: moments identical to the person's own are taken out first, as if they were copies of it: of the references
  (``nearest``, ``others-representative``), or of those who answer (``representative``: whoever marked the
  representative moment itself does not). Where all marked the same, everybody scores as their own moment does.
* ``"kept"``: only the person's own moment is taken out.
* ``"published"``: as the authors' notebook does: kept for ``nearest`` and ``others-representative``, out for
  ``representative``. This yields the published figures of both datasets, see :mod:`truemoment.reproduction`.

Where moments lie on a coarse grid (DiDeMo: 5-second segments), identical moments are agreement; to take them out holds
people against those who disagree with them. ``another`` never takes them out.

*Which person.* ``random``: one drawn for each query; mean and deviation over many draws. By agreement: the k-th by mean
IoU with the others, of whom the first is the *representative* human. ``best``: the k-th by IoU with the official
references, which looks at the answer.

Read in the paper and in the authors' notebooks (mayu-ot/hidden-challenges-MR at e0c4546, notebooks/report):
"[Human performance]" draws and ranks people, the k-th best by IoU with the official moment; "Multi-ref metric" holds
them against each other, in whole per cent, so that an IoU of exactly 0.5 is no hit: plain float64 on seconds (the
protocol ``hidden-challenges``) makes hits of some of these ties, the default protocol of none.

References
----------
Hidden Challenges (Otani et al. 2020), sections 5 and 6, Tables 1 and 2.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from truemoment.diagnosis.agreement import Annotators
from truemoment.evaluation import chosen_protocol, evaluate
from truemoment.exceptions import InputError, MeasureError, UsageError
from truemoment.intervals import TIE, Bools, Floats, Ints
from truemoment.measures import MeanIoU, Measure, parse_measure, parse_measures
from truemoment.protocols import Protocol
from truemoment.records import Annotations, Predictions, as_strings
from truemoment.references import ReferenceRule, pad, representative
from truemoment.scores import Scores
from truemoment.uncertainty import bootstrap, holm, interval95, permutation_p_values, sums_by_video

Way = Literal["official", "nearest", "representative", "others-representative", "another"]
WAYS: tuple[Way, ...] = get_args(Way)
Duplicates = Literal["published", "out", "kept"]

LEVEL = 0.05
"""Level of significance of a verdict."""

ENOUGH_DRAWS = 0.95
"""Share of draws of one annotator a query in which a conclusion must hold."""


# ------------------------------------------------------------------------------------------------ measuring


def measures_of_one_answer(measures: str | Sequence[Measure | str] | None, protocol: Protocol) -> tuple[Measure, ...]:
    """Return the measures that are asked for, or those of the protocol that look at the first answer alone.

    Raises
    ------
    MeasureError
        If one cannot be read, looks at more than the first answer, or says itself how references count.
    """
    if measures is None:
        return tuple(measure for measure in parse_measures(protocol.measures) if _of_one_answer(measure))
    if isinstance(measures, str):
        asked = parse_measures(measures)
    else:
        asked = tuple(parse_measure(measure) if isinstance(measure, str) else measure for measure in measures)
    for measure in asked:
        if not _of_one_answer(measure):
            raise MeasureError(
                f"{measure}: an annotator gives one answer, expected measures of the first answer, such as "
                "R@1,IoU=0.5, dR@1,IoU=0.5, mIoU or AxIoU@1"
            )
        if measure.ref is not None:
            raise MeasureError(f"{measure}: annotators are held against references in every way; leave out [ref=...]")
    return tuple(dict.fromkeys(asked))


def _of_one_answer(measure: Measure) -> bool:
    return measure.needs == "overlaps" and measure.depth == 1


@dataclass(frozen=True, eq=False)
class HumanScores:
    """What each annotator scores, held against references in one way.

    Parameters
    ----------
    way
        How references were chosen.
    scores
        Of a random annotator, as expected: the mean over those of each query.
    numerator, weight : (A, M, Q)
        Of each annotator.
    eligible : (A, Q)
        Which annotators answer.
    """

    way: Way
    scores: Scores
    numerator: Floats
    weight: Floats
    eligible: Bools

    def drawn(self, rng: np.random.Generator, draws: int = 100) -> Floats:
        """Figures of the random human: in each draw one annotator answers each query; (draws, M), fractions."""
        picks = draw_annotators(self.eligible, rng, draws)
        return np.stack([_figures(*self._of(pick)) for pick in picks])

    def picked(self, annotator: Ints) -> Scores:
        """Scores if `annotator` (Q,) answered each query; queries with -1 carry no weight."""
        numerator, weight = self._of(annotator)
        return dataclasses.replace(self.scores, numerator=numerator, weight=weight)

    def _of(self, annotator: Ints) -> tuple[Floats, Floats]:
        query = np.arange(len(annotator))
        asked = (annotator >= 0) & self.eligible[annotator, query]
        return tuple(np.where(asked, table[annotator, :, query].T, 0.0) for table in (self.numerator, self.weight))  # type: ignore[return-value]  # two of them


def draw_annotators(eligible: Bools, rng: np.random.Generator, draws: int) -> Ints:
    """Draw an annotator for each query, evenly of those eligible; -1 where nobody is.

    Parameters
    ----------
    eligible : (A, Q)
    rng
        Generator of the draws.
    draws
        How many, 1 or more.

    Returns
    -------
    int array, shape (draws, Q)
    """
    if draws < 1:
        raise UsageError(f"got {draws} draws, expected 1 or more")
    first = np.argsort(~eligible, axis=0, kind="stable")  # those eligible stand in front, in file order
    n_eligible = eligible.sum(axis=0)
    place = (rng.random((draws, eligible.shape[1])) * n_eligible).astype(np.int64)
    drawn = np.take_along_axis(first, np.minimum(place, np.maximum(n_eligible - 1, 0)), axis=0)
    return np.where(n_eligible > 0, drawn, -1)


def _figures(numerator: Floats, weight: Floats) -> Floats:
    """Figure of each measure of (M, Q) tables, shape (M,)."""
    total = weight.sum(axis=1)
    return np.asarray(np.where(total > 0, numerator.sum(axis=1) / np.where(total > 0, total, 1), np.nan))


def human_scores(
    annotators: Annotators,
    way: Way,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    *,
    official: Annotations | None = None,
    duplicates: Duplicates = "published",
) -> HumanScores:
    """Hold every annotator against references.

    Parameters
    ----------
    annotators
        Queries with two or more.
    way
        Which references, see the top of this module.
    measures, protocol
        Measures of the first answer, by default the protocol's; and how they are measured, by default the dataset's
        way. How several references count is said by `way`; for ``official`` by the protocol.
    official
        For ``official``: the dataset's own references of the same queries, in the same order (:func:`same_queries`).
    duplicates
        What becomes of moments identical to a person's own, see the top of this module.

    Raises
    ------
    MeasureError, ProtocolError, UsageError
        As for :func:`truemoment.evaluate`; or if a measure looks at more than the first answer, or the official
        references are missing, or are of other queries.

    Examples
    --------
    >>> ends = {"a": 6.0, "b": 6.0, "c": 4.0}
    >>> rows = [("v#0", "v", 30.0, "a door opens", 2.0, end, name) for name, end in ends.items()]
    >>> marked = Annotators.of(Annotations.from_rows(rows))
    >>> human_scores(marked, "nearest", "mIoU").scores.value("mIoU")  # 1, 1 and 0.5
    0.8333333333333334
    >>> human_scores(marked, "nearest", "mIoU", duplicates="out").scores.value("mIoU")
    0.5
    """
    protocol = chosen_protocol(protocol, annotators.annotations)
    asked = measures_of_one_answer(measures, protocol)
    if way == "official":
        if official is None:
            raise UsageError("which official references? got none")
        _check_same_queries(annotators.annotations, official)
        tables = pad(official.offsets, official.start_s), pad(official.offsets, official.end_s)
        counts = np.broadcast_to(~np.isnan(tables[0])[:, None], (*annotators.present.shape, tables[0].shape[1]))
        trial = _Trial(annotators.present, counts, *tables, None, official)
    else:
        eligible, counts = _ELIGIBLE[way](annotators, duplicates)
        trial = _Trial(eligible, counts, annotators.start_s, annotators.end_s, _RULES[way], annotators.annotations)
    return _tried(way, annotators, trial, asked, protocol)


def against_the_others(annotators: Annotators, measures: Sequence[Measure], protocol: Protocol) -> Scores:
    """Scores of a random annotator against the others' moments, of which the protocol (or measure) says what counts.

    What a method's answers to the same annotations can be held to: any measure of moments, of one answer a query.

    Parameters
    ----------
    annotators
        Queries with two or more.
    measures, protocol
        M measures of moments, and how they are measured.

    Raises
    ------
    MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    eligible, counts = _against_others(annotators, "kept")
    trial = _Trial(eligible, counts, annotators.start_s, annotators.end_s, None, annotators.annotations)
    return _tried("nearest", annotators, trial, tuple(measures), protocol).scores


def against_another(annotators: Annotators, measures: Sequence[Measure], protocol: Protocol) -> Scores:
    """Scores of a random annotator against one other, as expected: the mean over all ordered pairs of a query.

    Parameters
    ----------
    annotators
        Queries with two or more.
    measures, protocol
        M measures of ranked moments, and how they are measured.

    Raises
    ------
    MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    eligible, counts = _against_another(annotators, "kept")
    trial = _Trial(eligible, counts, annotators.start_s, annotators.end_s, "rows", annotators.annotations)
    return _tried("another", annotators, trial, tuple(measures), protocol).scores


_RULES: Mapping[Way, ReferenceRule] = {
    "nearest": "nearest",
    "representative": "first",  # there is but one
    "others-representative": "representative",
    "another": "rows",
}


@dataclass(frozen=True, eq=False)
class _Trial:
    """Who answers (Q, A), and which of the references (Q, R) count for whom (Q, A, R)."""

    eligible: Bools
    counts: Bools
    start_s: Floats
    end_s: Floats
    rule: ReferenceRule | None
    of: Annotations


def _tried(
    way: Way, annotators: Annotators, trial: _Trial, measures: tuple[Measure, ...], protocol: Protocol
) -> HumanScores:
    """Let everybody answer: each (query, annotator) is a query of its own for one evaluation."""
    queries = annotators.annotations.queries
    query, annotator = np.nonzero(trial.eligible)
    owner, reference = np.nonzero(trial.counts[query, annotator])
    ids = as_strings((f"{k}/{queries.query_id[q]}" for q, k in zip(query, annotator, strict=True)), "query_id")
    row = query[owner]
    references = Annotations(
        query_id=ids[owner],
        video_id=queries.video_id[row],
        duration_s=queries.duration_s[row],
        sentence=queries.sentence[row],
        start_s=trial.start_s[row, reference],
        end_s=trial.end_s[row, reference],
        annotator=as_strings([""] * len(row), "annotator"),
        dataset=trial.of.dataset,
        split=trial.of.split,
    )
    start_s, end_s = (np.maximum(times[query, annotator], 0) for times in (annotators.start_s, annotators.end_s))
    answers = Predictions(ids, np.arange(len(ids) + 1), start_s, end_s, np.zeros(len(ids)), name="annotators")
    judged = protocol if trial.rule is None else dataclasses.replace(protocol, references=trial.rule)
    scores = evaluate(references, answers, measures, judged)
    shape = (annotators.start_s.shape[1], len(measures), len(queries))
    numerator, weight = np.zeros(shape), np.zeros(shape)
    n_units = np.bincount(owner, minlength=len(ids)) if trial.rule == "rows" else np.ones(len(ids))
    numerator[annotator, :, query] = (scores.numerator / n_units).T
    weight[annotator, :, query] = (scores.weight / n_units).T
    n_eligible = np.maximum(trial.eligible.sum(axis=1), 1)
    expected = Scores(
        measures=measures,
        protocol=judged,
        query_id=queries.query_id,
        video_id=queries.video_id,
        numerator=numerator.sum(axis=0) / n_eligible,
        weight=weight.sum(axis=0) / n_eligible,
        on_threshold=np.full(len(measures), -1, dtype=np.int64),
        dataset=trial.of.dataset,
        split=trial.of.split,
        annotations_sha256=trial.of.sha256,
    )
    return HumanScores(way, expected, numerator, weight, trial.eligible.T)


def _apart(annotators: Annotators, *, out: bool) -> Bools:
    """Whose moments count for whom: the others', without those identical to one's own where these are out; (Q, A, A).

    Where nobody else marked anything else, the others' (identical) moments count.
    """
    present = annotators.present
    others: Bools = present[:, :, None] & present[:, None] & ~np.eye(present.shape[1], dtype=bool)
    if not out:
        return others
    different = others & ~annotators.identical()
    return np.asarray(np.where(different.any(axis=2, keepdims=True), different, others))


def _against_others(annotators: Annotators, duplicates: Duplicates) -> tuple[Bools, Bools]:
    return annotators.present, _apart(annotators, out=duplicates == "out")


def _against_another(annotators: Annotators, duplicates: Duplicates) -> tuple[Bools, Bools]:
    del duplicates  # one other annotator is one that agrees, too
    return annotators.present, _apart(annotators, out=False)


def _against_representative(annotators: Annotators, duplicates: Duplicates) -> tuple[Bools, Bools]:
    """Those who answer: all but who marked the representative moment; everybody where all did."""
    chosen = representative(annotators.start_s, annotators.end_s)
    is_chosen = np.arange(annotators.start_s.shape[1]) == chosen[:, None]
    query = np.arange(len(chosen))
    out = is_chosen if duplicates == "kept" else annotators.identical()[query, chosen]
    left = annotators.present & ~out
    eligible = np.where(left.any(axis=1, keepdims=True), left, annotators.present)
    return eligible, np.broadcast_to(is_chosen[:, None], (*eligible.shape, eligible.shape[1]))


_ELIGIBLE: Mapping[Way, Callable[[Annotators, Duplicates], tuple[Bools, Bools]]] = {
    "nearest": _against_others,
    "representative": _against_representative,
    "others-representative": _against_others,
    "another": _against_another,
}


def same_queries(annotators: Annotators, official: Annotations) -> tuple[Annotators, Annotations]:
    """Return the queries that both hold and that have an official moment, in the annotators' order.

    Raises
    ------
    InputError
        If a query's sentence or video differs.
    UsageError
        If there is none.
    """
    official = official.with_moments()
    queries, known = annotators.annotations.queries, official.queries.index
    keep = np.array([query_id in known for query_id in queries.query_id], dtype=bool)
    if not keep.any():
        marked = annotators.annotations
        raise UsageError(
            f"{official.dataset}/{official.split} has none of the queries of {marked.dataset}/{marked.split} "
            f"(the first is {queries.query_id[0]!r}); is it the right official split?"
        )
    annotators = annotators.select_queries(keep) if not keep.all() else annotators
    official = in_order(official, annotators.annotations)
    for q, (query_id, here, there) in enumerate(
        zip(queries.query_id[keep], annotators.annotations.queries.sentence, official.queries.sentence, strict=True)
    ):
        if _plain(here) != _plain(there) or annotators.annotations.queries.video_id[q] != official.queries.video_id[q]:
            raise InputError(
                f"query {query_id!r} asks for {here[:60]!r} of video {annotators.annotations.queries.video_id[q]!r}, "
                f"and for {there[:60]!r} of video {official.queries.video_id[q]!r} in "
                f"{official.dataset}/{official.split}",
                field="query_id",
            )
    return annotators, official


def _plain(sentence: str) -> str:
    return " ".join(sentence.split()).casefold().removesuffix(".")


def in_order(annotations: Annotations, wanted: Annotations) -> Annotations:
    """Return the queries that `wanted` holds, in its order; every one of them must be there."""
    query = np.array([annotations.queries.index[query_id] for query_id in wanted.queries.query_id], dtype=np.int64)
    lengths = np.diff(annotations.offsets)[query]
    first = np.repeat(annotations.offsets[query] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    rows = first + np.arange(lengths.sum())
    names = ("query_id", "video_id", "duration_s", "sentence", "start_s", "end_s", "annotator")
    return dataclasses.replace(annotations, **{name: getattr(annotations, name)[rows] for name in names}, saliency=None)


def _check_same_queries(annotations: Annotations, official: Annotations) -> None:
    if not np.array_equal(annotations.queries.query_id, official.queries.query_id):
        raise UsageError("the official references are of other queries, or in another order")


# -------------------------------------------------------------------------------------------- which person


def by_agreement(annotators: Annotators) -> Ints:
    """Annotators of each query by falling mean IoU with the others, the first on a tie; (A, Q), -1 behind the last.

    Row 0 is the representative human of Hidden Challenges.
    """
    iou = annotators.pairwise_iou()
    total = np.nansum(np.where(np.eye(iou.shape[1], dtype=bool), np.nan, iou), axis=2)
    return _ranked(np.where(annotators.present, total, -np.inf))


def by_official(official: HumanScores) -> Ints:
    """Annotators of each query by falling IoU with the official references; (A, Q), -1 behind the last.

    Parameters
    ----------
    official
        Scores of ``mIoU`` by the way ``official``.
    """
    iou = official.numerator[:, official.scores.row(MeanIoU()), :].T
    return _ranked(np.where(official.eligible.T, iou, -np.inf))


def _ranked(value: Floats) -> Ints:
    """Columns of (Q, A) by falling value, the first on a tie; (A, Q), -1 for those of minus infinity."""
    value = value.copy()
    ranks = np.full(value.T.shape, -1, dtype=np.int64)
    query = np.arange(len(value))
    for rank in range(value.shape[1]):
        best = value.max(axis=1)
        chosen = np.argmax(value >= best[:, None] - TIE, axis=1)
        ranks[rank] = np.where(best > -np.inf, chosen, -1)
        value[query, chosen] = -np.inf
    return ranks


# --------------------------------------------------------------------------------------------- conclusions

Fate = Literal["survives", "not confirmed", "contradicted", "nothing to confirm"]


@dataclass(frozen=True)
class Held:
    """A difference of two systems under one way of referring; fractions.

    Parameters
    ----------
    way
        ``official``, ``nearest``, ``representative`` or ``another`` (the mean over annotators).
    difference
        First less second system.
    p_holm
        Paired permutation test by video, corrected over the pairs of systems.
    """

    way: Way
    difference: float
    p_holm: float

    @property
    def significant(self) -> bool:
        """Whether the two differ at the level of 5 %."""
        return bool(self.p_holm <= LEVEL)  # NaN is not


@dataclass(frozen=True, eq=False)
class Conclusion:
    """What becomes of a difference between two systems when others mark the moments.

    Parameters
    ----------
    measure, first, second
        What is compared.
    ways
        The difference under each way, the one that the conclusion is drawn from first.
    drawn : (D,)
        Differences with one annotator drawn for each query as the reference.
    drawn_p : (D,)
        Their p values, corrected as the others.
    """

    measure: str
    first: str
    second: str
    ways: tuple[Held, ...]
    drawn: Floats
    drawn_p: Floats

    @property
    def drawn_alike(self) -> float:
        """Share of draws with a significant difference of the same sign as the conclusion's."""
        same = np.sign(self.drawn) == np.sign(self.ways[0].difference)
        return float(np.mean(same & (self.drawn_p <= LEVEL)))

    @property
    def fate(self) -> Fate:
        """Whether the conclusion survives: the same sign and significant under every way, and in 95 % of draws."""
        base, *others = self.ways
        if not base.significant:
            return "nothing to confirm"
        same = [np.sign(held.difference) == np.sign(base.difference) for held in others]
        if any(held.significant and not alike for held, alike in zip(others, same, strict=True)):
            return "contradicted"
        if all(held.significant for held in others) and self.drawn_alike >= ENOUGH_DRAWS:
            return "survives"
        return "not confirmed"


def conclusions(
    annotators: Annotators,
    systems: Mapping[str, SystemScores],
    rng: np.random.Generator,
    *,
    draws: int = 100,
    permutations: int = 10_000,
) -> list[Conclusion]:
    """Compare systems under the official references and under each way of referring to annotators.

    Conclusions are those drawn under the official references; where there are none, under the nearest annotator.

    Parameters
    ----------
    annotators
        Queries with two or more.
    systems
        Two or more by name, see :func:`system_scores`.
    rng
        Generator of draws and swaps.
    draws
        Draws of one annotator a query.
    permutations
        Swaps of each test.

    Returns
    -------
    list
        Measure by measure, pair by pair.

    Raises
    ------
    UsageError
        If there are fewer than two systems.
    """
    if len(systems) < 2:
        raise UsageError(f"got {len(systems)} system(s), expected two or more to compare")
    names, scored = list(systems), list(systems.values())
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    first = scored[0]
    for_picks, for_picked, *for_ways = rng.spawn(2 + len(first.ways))
    tested = {
        way: _compared([of.ways[way] for of in scored], pairs, child, permutations)
        for way, child in zip(first.ways, for_ways, strict=True)
    }
    picks = draw_annotators(annotators.present.T, for_picks, draws)
    drawn, drawn_p = _compared_in_draws(scored, pairs, picks, for_picked, permutations)
    return [
        Conclusion(
            str(measure),
            names[i],
            names[j],
            tuple(Held(way, float(off[row, m]), float(p[row, m])) for way, (off, p) in tested.items()),
            drawn[:, row, m],
            drawn_p[:, row, m],
        )
        for m, measure in enumerate(first.measures)
        for row, (i, j) in enumerate(pairs)
    ]


@dataclass(frozen=True, eq=False)
class SystemScores:
    """What a system scores on the queries that were marked anew.

    Parameters
    ----------
    ways
        Scores by way: ``official`` where there are such references, ``nearest``, ``representative``, ``another`` (the
        mean over annotators).
    numerator, weight : (A, M, Q)
        With each annotator's moment as the only reference.
    """

    ways: Mapping[Way, Scores]
    numerator: Floats
    weight: Floats

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return self.ways["nearest"].measures


def system_scores(
    annotators: Annotators,
    predictions: Predictions,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    *,
    official: Annotations | None = None,
) -> SystemScores:
    """Hold a system's answers against the official references, and against annotators in each way.

    Parameters
    ----------
    annotators
        Queries with two or more.
    predictions
        Answers; those to other queries are not looked at.
    measures, protocol, official
        As for :func:`human_scores`.

    Raises
    ------
    UsageError
        If the answers are to other queries, or the official references are.
    MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    marked = annotators.annotations
    protocol = chosen_protocol(protocol, marked)
    asked = measures_of_one_answer(measures, protocol)
    if np.all(predictions.rows_of(marked.queries.query_id) < 0):
        raise UsageError(
            f"{predictions.name}: answers none of the {marked.n_queries:,} queries of {marked.dataset}/{marked.split} "
            "that several annotators marked"
        )
    ways: dict[Way, Scores] = {}
    if official is not None:
        _check_same_queries(marked, official)
        ways["official"] = evaluate(official, predictions, asked, protocol, on_unknown="ignore")
    for way in ("nearest", "representative"):
        by_rule = dataclasses.replace(protocol, references=way)
        ways[way] = evaluate(marked, predictions, asked, by_rule, on_unknown="ignore")
    shape = (annotators.start_s.shape[1], len(asked), len(annotators))
    numerator, weight = np.zeros(shape), np.zeros(shape)
    column = np.concatenate([np.arange(count) for count in annotators.counts])
    for k in range(shape[0]):
        rows = column == k
        names = ("query_id", "video_id", "duration_s", "sentence", "start_s", "end_s", "annotator")
        alone = dataclasses.replace(marked, **{name: getattr(marked, name)[rows] for name in names}, saliency=None)
        scores = evaluate(alone, predictions, asked, protocol, on_unknown="ignore")
        here = annotators.present[:, k]
        numerator[k][:, here], weight[k][:, here] = scores.numerator, scores.weight
    template = ways["nearest"]
    ways["another"] = dataclasses.replace(
        template,
        protocol=dataclasses.replace(protocol, references="rows"),
        numerator=numerator.sum(axis=0) / annotators.counts,
        weight=weight.sum(axis=0) / annotators.counts,
        on_threshold=np.full(len(asked), -1, dtype=np.int64),
    )
    return SystemScores(ways, numerator, weight)


def _compared(
    scores: Sequence[Scores], pairs: Sequence[tuple[int, int]], rng: np.random.Generator, permutations: int
) -> tuple[Floats, Floats]:
    """Differences of pairs and their corrected p values, each (P, M)."""
    numerator, weight = (np.stack(part) for part in zip(*map(sums_by_video, scores), strict=True))
    p = permutation_p_values(numerator, weight, pairs, rng, permutations=permutations)
    return _differences(numerator, weight, pairs), holm(p)


def _compared_in_draws(
    systems: Sequence[SystemScores],
    pairs: Sequence[tuple[int, int]],
    picks: Ints,
    rng: np.random.Generator,
    permutations: int,
) -> tuple[Floats, Floats]:
    """Differences and corrected p values in each draw of annotators, each (D, P, M).

    Every draw makes a system of its own of each system, so that one test of many pairs serves all draws.
    """
    template = systems[0].ways["nearest"]
    query = np.arange(picks.shape[1])
    sums = [
        sums_by_video(
            dataclasses.replace(template, numerator=of.numerator[pick, :, query].T, weight=of.weight[pick, :, query].T)
        )
        for of in systems
        for pick in picks
    ]
    numerator, weight = (np.stack(part) for part in zip(*sums, strict=True))
    draws = len(picks)
    in_draws = [(i * draws + d, j * draws + d) for i, j in pairs for d in range(draws)]
    p = permutation_p_values(numerator, weight, in_draws, rng, permutations=permutations)
    shape = (len(pairs), draws, -1)
    difference = _differences(numerator, weight, in_draws).reshape(shape)
    return difference.transpose(1, 0, 2), holm(p.reshape(shape)).transpose(1, 0, 2)


def _differences(numerator: Floats, weight: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    """Differences of pairs of systems, given sums by video (S, V, M); shape (P, M)."""
    total = weight.sum(axis=1)
    figure = np.where(total > 0, numerator.sum(axis=1) / np.where(total > 0, total, 1), np.nan)
    first, second = np.array(pairs).T
    return np.asarray(figure[first] - figure[second])


# --------------------------------------------------------------------------------------------------- study

Person = Literal["random", "by agreement", "best"]


@dataclass(frozen=True, eq=False)
class Performance:
    """What people score, held against references in one way.

    Parameters
    ----------
    way
        How references were chosen.
    person, rank
        Who answers: a ``random`` annotator (rank 0), or the k-th ``by agreement`` or ``best`` for the reference.
    scores
        Per-query statistics; of a random annotator the mean over those of each query.
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
        What people score; those of a random annotator are the label-noise ceilings.
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
        """What a random annotator scores in one way.

        Raises
        ------
        UsageError
            If it was not looked at.
        """
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

    Raises
    ------
    MeasureError, ProtocolError, UsageError
        As for :func:`human_scores` and :func:`system_scores`.
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
        for person, rank, scores in people:
            figures = bootstrap(scores, np.random.default_rng(seed), resamples=resamples)
            ci95 = interval95(figures) if scores_n_videos(scores) > 1 else np.full((len(asked), 2), np.nan)
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


def scores_n_videos(scores: Scores) -> int:
    """How many videos scores are of."""
    return len(set(scores.video_id))
