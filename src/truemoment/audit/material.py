"""What the checks of an audit look at: everything is computed here, once, and nothing is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from truemoment.audit.floors import (
    TEXT_ONLY,
    Rival,
    answers_a_query,
    choose,
    human_ceilings,
    join_measures,
    run,
    run_ceilings,
    run_floors,
    text_only,
)
from truemoment.datasets.faults import normalised_sentence
from truemoment.diagnosis.answers import AnswerPattern, answer_pattern
from truemoment.diagnosis.curves import Curves, SuccessByLength, recall_curves, success_by_length
from truemoment.diagnosis.errors import ErrorKinds, error_kinds
from truemoment.diagnosis.shuffled import Displacement, compare_shuffled
from truemoment.diagnosis.slices import Slice, slices
from truemoment.evaluation import evaluate
from truemoment.exceptions import MeasureError, ProtocolError, UsageError
from truemoment.intervals import Floats, Ints
from truemoment.io import MatchReport
from truemoment.language import first_verb, get_engine, verbs_of
from truemoment.measures import CorrectAbstention, DiscountedRecall, FalseAbstention, Measure, Recall
from truemoment.protocols import PROTOCOLS, Protocol
from truemoment.records import Annotations, Predictions
from truemoment.scores import Scores
from truemoment.uncertainty import (
    bootstrap,
    holm,
    interval95,
    minimum_detectable_difference,
    paired_permutation,
    resample_figures,
    videos_that_differ,
)

HEADLINE = "R@1,IoU=0.5"
"""The measure the verdicts turn on, where it is among those measured; else the first of them."""

OF_MOMENTS = ("overlaps", "sets")
"""What measures need that floors can be held to: they rate no clips, and never abstain."""

ORIGINAL = "original"
"""Among answers on changed videos: those on the videos as they are."""

SAME_PLACE_NORM = 0.001
"""A first answer whose ends lie this far from another's, as a share of the video, is taken for the same."""

MAY_DIFFER = 0.01
"""Share of the first answers that may differ while the answers are still called a model's."""

EVALUATORS = tuple(protocol for protocol in PROTOCOLS.values() if protocol.empty != "abstain")
"""Named protocols that may tell different figures where there is a moment to find."""


@dataclass(frozen=True, eq=False)
class Case:
    """What is to be audited, and what there is to hold it against.

    Parameters
    ----------
    annotations, predictions
        The audited split and the answers; the duration of every video that holds a moment asked for is known.
    measures, protocol
        What is measured, and how.
    match
        How the answers' rows found their queries; None if they came from no file.
    train, selection
        Splits the floors are fitted on, and on which the one to beat is chosen; None where there are none.
    others
        Other splits of the dataset, looked through for what they share with this one.
    iid
        Annotations and answers of the test-iid split, where this one is test-ood.
    shuffled
        Answers of the same method on shuffled videos. Where they are not given, those of `changed` stand for them,
        provided that the model answers on the original videos as `predictions` do.
    changed
        Answers of the same model on changed videos, by the way these were changed, as
        :func:`truemoment.diagnosis.randomised_video.randomised` gives them: also on the ``original`` ones.
    caution
        What must be said of every figure, for instance of what the model was shown; "" where there is nothing.
    text_only
        Answers of the same model to the same prompts without the frames.
    engine
        What finds verbs.
    resamples, permutations
        How many.

    Raises
    ------
    UsageError
        If no query has a moment, a duration is not known, floors were to be fitted or chosen on the audited split,
        there is no measure of moments, or the protocol drops queries that are not answered, or not so that it could be
        read: the method would be held against floors on other queries.
    """

    annotations: Annotations
    predictions: Predictions
    measures: tuple[Measure, ...]
    protocol: Protocol
    match: MatchReport | None = None
    train: Annotations | None = None
    selection: Annotations | None = None
    others: tuple[Annotations, ...] = ()
    iid: tuple[Annotations, Predictions] | None = None
    shuffled: Predictions | None = None
    changed: Mapping[str, Predictions] = field(default_factory=dict)
    caution: str = ""
    text_only: Predictions | None = None
    engine: str = "lexicon"
    resamples: int = 1000
    permutations: int = 10_000

    def __post_init__(self) -> None:
        """Refuse what cannot be audited."""
        object.__setattr__(self, "changed", MappingProxyType(dict(self.changed)))
        if self.changed and ORIGINAL not in self.changed:
            raise UsageError(
                f"got answers on changed videos ({', '.join(self.changed)}), expected those on the original too"
            )
        located = self.annotations.with_moments()
        queries = located.queries
        if self.annotations.n_queries and not len(queries):
            raise UsageError(
                f"{self.annotations.dataset}/{self.annotations.split}: no query has a reference moment, and an audit "
                "asks where moments are found; truemoment evaluate tells how often the method rightly abstains"
            )
        if not np.all(queries.duration_s > 0):
            q = int(np.flatnonzero(~(queries.duration_s > 0))[0])
            raise UsageError(
                f"{self.annotations.dataset}/{self.annotations.split}: got duration_s {queries.duration_s[q]:g} for "
                f"query {queries.query_id[q]!r}; an audit needs every video's duration: floors answer with shares"
            )
        for other in (self.train, self.selection):
            if other is not None and other.sha256 == self.annotations.sha256:
                raise UsageError("got the audited split to fit or choose on, expected another")
        if not self.measures or any(measure.needs not in OF_MOMENTS for measure in self.measures):
            raise UsageError("an audit needs measures of moments; floors rate no clips, and never abstain")
        for answers, which in (
            (self.predictions, ""),
            (self.shuffled, " on shuffled videos"),
            (self.text_only, " without the frames"),
            *((answers, f" on {way} videos") for way, answers in self.changed.items()),
        ):
            if answers is not None:
                self._refuse_dropped(located, answers, which)

    def _refuse_dropped(self, located: Annotations, answers: Predictions, which: str) -> None:
        """Refuse answers of which the protocol leaves some out."""
        row = answers.rows_of(located.queries.query_id)
        unread = (row >= 0) & np.append(answers.unreadable, False)[row]
        silent = ~((row >= 0) & (np.append(answers.lengths, 0)[row] > 0)) & ~unread
        for rule, dropped, words in (
            ("missing", silent, "without an answer"),
            ("unreadable", unread, "with an answer that could not be read"),
        ):
            if getattr(self.protocol, rule) == "drop" and dropped.any():
                raise UsageError(
                    f"protocol {self.protocol.name} drops the {int(dropped.sum()):,} queries {words}{which}, and "
                    f"floors answer all; say {rule}=worst in --protocol"
                )

    def located(self) -> Case:
        """Return the case without the queries that have no reference moment, in every split.

        Raises
        ------
        UsageError
            If a split has no other queries.
        """
        answers = [
            None if of is None else _answers_to_located(self.annotations, of) for of in (self.shuffled, self.text_only)
        ]
        return replace(
            self,
            annotations=_located(self.annotations),
            predictions=_answers_to_located(self.annotations, self.predictions),
            train=None if self.train is None else _located(self.train),
            selection=None if self.selection is None else _located(self.selection),
            iid=None if self.iid is None else (_located(self.iid[0]), _answers_to_located(*self.iid)),
            shuffled=answers[0],
            text_only=answers[1],
            changed={way: _answers_to_located(self.annotations, of) for way, of in self.changed.items()},
        )

    @property
    def headline(self) -> int:
        """Row of the measure the verdicts turn on."""
        names = [str(measure) for measure in self.measures]
        return names.index(HEADLINE) if HEADLINE in names else 0


def _located(annotations: Annotations) -> Annotations:
    """Return the queries that have a reference moment.

    Raises
    ------
    UsageError
        If none has.
    """
    located = annotations.with_moments()
    if annotations.n_queries and not located.n_queries:
        raise UsageError(f"{annotations.dataset}/{annotations.split}: no query has a reference moment; name another")
    return located


def _answers_to_located(annotations: Annotations, answers: Predictions) -> Predictions:
    """Leave out answers to queries that have no reference moment."""
    nothing = set(annotations.queries.query_id[annotations.without_moment])
    return answers.select_queries(np.array([query_id not in nothing for query_id in answers.query_id], dtype=bool))


class Paired(NamedTuple):
    """One system less another over the same queries: a row a measure, fractions, NaN where undefined.

    Parameters
    ----------
    difference : (M,)
    ci95 : (M, 2)
        By resampling videos, both systems alike.
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


class Leak(NamedTuple):
    """What another split shares with the audited one.

    Parameters
    ----------
    split
        The other split.
    n_videos
        Videos that are in both.
    n_sentences
        Audited queries whose sentence stands there too, but for case, outer blanks and a last full stop.
    """

    split: str
    n_videos: int
    n_sentences: int


class Gap(NamedTuple):
    """The test-iid split beside the audited test-ood one; a row a measure, fractions.

    Parameters
    ----------
    iid, floor_iid : (M,)
        Figures there: of the method, and of the floor to beat here.
    fall_ci95 : (M, 2)
        Of the method's fall from there to here; the two splits are resampled independently.
    """

    iid: Floats
    floor_iid: Floats
    fall_ci95: Floats


class ShuffledVideos(NamedTuple):
    """The same method on shuffled videos: answers, scores, how answers moved, and the original less these."""

    answers: Predictions
    scores: Scores
    displacement: Displacement
    fall: Paired


class ChangedWay(NamedTuple):
    """The same model on videos changed in one way; a row a measure.

    Parameters
    ----------
    way
        How videos were changed, as :data:`truemoment.features.changed.WAYS` calls it.
    answers, scores
        Of the model on these videos.
    ci95 : (M, 2)
        95 % intervals of its figures.
    displacement
        How first answers moved.
    fall
        Figures on the original videos less those on these.
    """

    way: str
    answers: Predictions
    scores: Scores
    ci95: Floats
    displacement: Displacement
    fall: Paired


class ChangedVideos(NamedTuple):
    """The same model on the original videos and on changed ones.

    Parameters
    ----------
    scores
        On the original videos, as the model answers now.
    ci95 : (M, 2)
        95 % intervals of its figures.
    n_differing
        Queries whose first answer now is not the audited one: elsewhere by more than 0.001 of the video, or one of the
        two is missing.
    ways
        The changes, in the order given.
    """

    scores: Scores
    ci95: Floats
    n_differing: int
    ways: tuple[ChangedWay, ...]

    @property
    def agrees(self) -> bool:
        """Whether the audited answers are the model's, but for some that another machine may round otherwise."""
        return self.n_differing <= MAY_DIFFER * len(self.scores)


class Abstaining(NamedTuple):
    """Where the method says that there is no such moment; figures are fractions, NaN where undefined.

    Parameters
    ----------
    scores
        CorrectAbstention and FalseAbstention over the whole split, queries without a moment included.
    n_rightly, n_without
        Queries without a moment on which the method abstains, and how many there are of them.
    n_wrongly, n_with
        The same of queries that have one.
    ci95 : (3, 2)
        95 % intervals: of the two, and of the first less the second.
    """

    scores: Scores
    n_rightly: int
    n_without: int
    n_wrongly: int
    n_with: int
    ci95: Floats

    @property
    def worth(self) -> float:
        """CorrectAbstention less FalseAbstention: 0 on average for one that abstains always, never or at random."""
        correct, false = _figures(self.scores)
        return float(correct - false)


@dataclass(frozen=True, eq=False)
class Material:
    """All that the checks look at.

    Parameters
    ----------
    case
        What is audited: the queries that have a reference moment, and the answers to them.
    split, answers
        The audited split and the answers as they were handed over, queries without a moment included.
    scores
        Of the method.
    floors, ceilings
        Rivals on the same split.
    chosen : (M,)
        Number of the floor to beat for each measure.
    floor_scores
        Of the floor to beat, for each measure its own.
    ci95 : (1 + F + C, M, 2)
        95 % intervals: the method, the floors, the ceilings.
    versus
        The method less the floor to beat.
    against
        The method less each floor, in their order.
    left_out
        Floors that could not be fitted, and why.
    shortcut, shortcut_ci95 : (M,), (M, 2)
        The floor's figure over the method's; NaN where the method's is 0.
    slices, floor_slices
        Class by class, of the method and of the floor to beat.
    curves
        R and dR against the threshold, each behind a name: the method, the floor to beat, PredictAll, text only.
    by_length, floor_by_length
        Hits and misses by length of the reference; None if the headline is no recall.
    errors
        Kinds of first answers, at the headline's threshold.
    pattern, reference_pattern
        What the first answers have in common, and what the references have.
    conventions
        The headline's figure under each named protocol that takes these answers.
    leaks
        What other splits share with this one.
    gap, shuffled, changed
        Where the answers for them were given.
    abstaining
        Where the method says that there is no such moment; None where all queries have one and it never does.
    loose, loose_whole : (2,)
        R@1 and dR@1 at the lowest threshold measured, and what PredictAll has there; NaN where it is undefined.
    n_annotated
        Queries that several annotators marked, which the ceilings of annotators are of.
    """

    case: Case
    split: Annotations
    answers: Predictions
    scores: Scores
    floors: tuple[Rival, ...]
    ceilings: tuple[Rival, ...]
    chosen: Ints
    floor_scores: Scores
    ci95: Floats
    versus: Paired
    against: tuple[Paired, ...]
    left_out: tuple[str, ...]
    shortcut: Floats
    shortcut_ci95: Floats
    slices: list[Slice]
    floor_slices: list[Slice]
    curves: tuple[tuple[str, Curves], ...]
    by_length: SuccessByLength | None
    floor_by_length: SuccessByLength | None
    errors: ErrorKinds
    pattern: AnswerPattern
    reference_pattern: AnswerPattern
    conventions: Mapping[str, float]
    leaks: tuple[Leak, ...]
    gap: Gap | None
    shuffled: ShuffledVideos | None
    changed: ChangedVideos | None
    abstaining: Abstaining | None
    loose: tuple[Recall, DiscountedRecall]
    loose_whole: Floats
    n_annotated: int = 0

    @property
    def floor(self) -> Rival:
        """The floor to beat at the headline measure."""
        return self.floors[int(self.chosen[self.case.headline])]

    def to_beat(self, m: int) -> str:
        """What the floor to beat at measure m is called."""
        return self.floors[int(self.chosen[m])].called(m)

    @property
    def n_candidates(self) -> int:
        """How many floors the one to beat is chosen from; text-only answers are of the audited split alone."""
        return sum(floor.name != TEXT_ONLY for floor in self.floors)

    @property
    def text_only(self) -> int | None:
        """Number of the text-only floor; None where there is none."""
        return next((number for number, floor in enumerate(self.floors) if floor.name == TEXT_ONLY), None)


def gather(case: Case, rng: np.random.Generator, tell: Callable[[str], None] = lambda _: None) -> Material:
    """Compute all that the checks look at.

    Parameters
    ----------
    case
        What is audited.
    rng
        Generator of all draws.
    tell
        Told what is being done.

    Raises
    ------
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    UsageError
        If no query of a split has a reference moment, or a known duration.
    """
    handed, case = case, case.located()
    annotations, predictions, measures, protocol = case.annotations, case.predictions, case.measures, case.protocol
    for_floors, for_draws, for_tests, for_slices, for_gap, for_shuffled, for_abstaining, for_changed = rng.spawn(8)
    tell("measuring")
    scores = evaluate(annotations, predictions, measures, protocol)
    top = answers_a_query(predictions, measures)
    train, selection = _of_known_duration(case.train), _of_known_duration(case.selection)
    floors, left_out = run_floors(
        annotations,
        measures,
        protocol,
        headline=case.headline,
        top=top,
        train=train,
        selection=selection,
        engine=case.engine,
        rng=for_floors,
        tell=tell,
    )
    ceilings = run_ceilings(annotations, measures, protocol, top=top, tell=tell)
    within_video = ceilings[-1].predictions
    of_humans, n_annotated = human_ceilings(annotations, measures, protocol, scores)
    ceilings += of_humans
    chosen = choose(floors)
    if case.text_only is not None:
        floors.append(text_only(annotations, case.text_only, measures, protocol))
    floor_scores = join_measures([(floors[f].scores, m) for m, f in enumerate(chosen)])

    tell("resampling videos")
    systems = [scores, *(rival.scores for rival in (*floors, *ceilings)), floor_scores]
    figures = resample_figures(systems, for_draws, resamples=case.resamples)
    tell("testing differences")
    versus, *against = (
        _paired(scores, of, figures[:, 0] - of_figures, child, case.permutations)
        for of, of_figures, child in zip(
            [floor_scores, *(floor.scores for floor in floors)],
            [figures[:, -1], *(figures[:, 1 + f] for f in range(len(floors)))],
            for_tests.spawn(1 + len(floors)),
            strict=True,
        )
    )

    tell("slices")
    verbs = [first_verb(verbs) for verbs in verbs_of(annotations.queries.sentence, get_engine(case.engine))]
    sentences = None if case.train is None else case.train.queries.sentence
    seed = int(for_slices.integers(1 << 62))  # the method and the floor under the same draws
    of_slices = [
        slices(
            of,
            annotations,
            np.random.default_rng(seed),
            train_sentences=sentences,
            verbs=verbs,
            resamples=case.resamples,
        )
        for of in (scores, floor_scores)
    ]

    tell("curves, errors, patterns")
    headline = measures[case.headline]
    floor = floors[chosen[case.headline]]
    whole = next(rival for rival in floors if rival.name == "predict-all")
    answered = [(predictions.name, predictions), (floor.title, floor.predictions)]
    answered += [(whole.title, whole.predictions)] if whole is not floor else []
    answered += [(of.title, of.predictions) for of in floors if of.name == TEXT_ONLY]
    loose = _loosest(measures)
    changed = _changed(case, for_changed, tell)
    threshold = headline.iou if isinstance(headline, Recall | DiscountedRecall) else 0.5
    material = Material(
        case=case,
        split=handed.annotations,
        answers=handed.predictions,
        scores=scores,
        floors=tuple(floors),
        ceilings=tuple(ceilings),
        chosen=chosen,
        floor_scores=floor_scores,
        ci95=np.stack([_interval(figures[:, s], annotations.n_videos) for s in range(len(systems) - 1)]),
        versus=versus,
        against=tuple(against),
        left_out=(*_without_duration(case.train), *_without_duration(case.selection), *left_out),
        shortcut=_ratio(_figures(floor_scores), _figures(scores)),
        shortcut_ci95=_interval(_ratio(figures[:, -1], figures[:, 0]), annotations.n_videos),
        slices=of_slices[0],
        floor_slices=of_slices[1],
        curves=tuple((name, recall_curves(annotations, of, protocol)) for name, of in answered),
        by_length=success_by_length(scores, annotations, headline) if isinstance(headline, Recall) else None,
        floor_by_length=success_by_length(floor_scores, annotations, headline)
        if isinstance(headline, Recall)
        else None,
        errors=error_kinds(annotations, predictions, threshold, protocol),
        pattern=answer_pattern(annotations, predictions, ranking=protocol.ranking),
        reference_pattern=answer_pattern(annotations, within_video),
        conventions=_conventions(case, headline),
        leaks=_leaks(handed),
        gap=_gap(case, scores, [floors[f] for f in chosen], for_gap, tell),
        shuffled=_shuffled(case, scores, changed, for_shuffled, tell),
        changed=changed,
        abstaining=_abstaining(handed, for_abstaining),
        loose=loose,
        loose_whole=np.array([_if_defined(annotations, whole.predictions, measure, protocol) for measure in loose]),
        n_annotated=n_annotated,
    )
    tell("")
    return material


def _figures(scores: Scores) -> Floats:
    """Figure of each measure, shape (M,)."""
    return np.array([scores.value(measure) for measure in scores.measures])


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.asarray(np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan))


def _of_known_duration(annotations: Annotations | None) -> Annotations | None:
    """Leave out queries of videos whose duration is not known: floors can neither learn from them nor answer them.

    Raises
    ------
    UsageError
        If no duration is known.
    """
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


def _interval(figures: Floats, n_videos: int) -> Floats:
    """95 % interval of resampled figures (N, M); undefined with a single video, which resamples to itself."""
    found = interval95(figures)
    return found if n_videos > 1 else np.full_like(found, np.nan)


def _paired(a: Scores, b: Scores, moved: Floats, rng: np.random.Generator, permutations: int) -> Paired:
    """Hold two systems against each other; `moved` (N, M) are their differences under the same draws of videos."""
    p = paired_permutation(a, b, rng, permutations=permutations)
    n_differing = videos_that_differ(a, b)
    ci95 = _interval(moved, len(set(a.video_id)))
    resolves = minimum_detectable_difference(moved, n_differing=n_differing)
    return Paired(_figures(a) - _figures(b), ci95, p, holm(p), resolves, n_differing)


def _if_defined(annotations: Annotations, predictions: Predictions, measure: Measure, protocol: Protocol) -> float:
    """Figure of a measure; NaN where the protocol does not define it."""
    try:
        return evaluate(annotations, predictions, [measure], protocol).value(measure)
    except MeasureError:
        return float("nan")


def _loosest(measures: Sequence[Measure]) -> tuple[Recall, DiscountedRecall]:
    """R@1 and dR@1 at the lowest threshold among the measures; 0.3 where there is none."""
    thresholds = [m.iou for m in measures if isinstance(m, Recall) and m.n == 1 and m.length is None]
    lowest = min(thresholds, default=0.3)
    return Recall(1, lowest), DiscountedRecall(1, lowest)


def _conventions(case: Case, headline: Measure) -> dict[str, float]:
    """Figure of the headline under the audit's protocol and each named one that takes these answers.

    One that pools all answers of a list into one is left out where lists are ranked alternatives.
    """
    found = {}
    ranked = case.predictions.lengths.max(initial=0) > 1
    for protocol in dict.fromkeys([case.protocol, *EVALUATORS]):
        if ranked and protocol.references == "pooled":
            continue
        try:
            found[protocol.name] = evaluate(case.annotations, case.predictions, [headline], protocol).value(headline)
        except (ProtocolError, MeasureError):  # it refuses missing answers, or the measure is not defined in it
            continue
    return found


def _leaks(case: Case) -> tuple[Leak, ...]:
    videos = set(case.annotations.video_id)
    sentences = [normalised_sentence(sentence) for sentence in case.annotations.queries.sentence]
    found = []
    for other in case.others:
        known = {normalised_sentence(sentence) for sentence in other.queries.sentence}
        found.append(
            Leak(other.split, len(videos & set(other.video_id)), sum(sentence in known for sentence in sentences))
        )
    return tuple(found)


def _gap(
    case: Case, scores: Scores, to_beat: Sequence[Rival], rng: np.random.Generator, tell: Callable[[str], None]
) -> Gap | None:
    """Look at test-iid; `to_beat` are the floors to beat here, one a measure."""
    if case.iid is None:
        return None
    tell("test-iid")
    annotations, predictions = case.iid
    there = evaluate(annotations, predictions, case.measures, case.protocol)
    grounders = [rival.grounders[m] for m, rival in enumerate(to_beat)]
    top = answers_a_query(case.predictions, case.measures)
    floor_there, _ = run(grounders, annotations, case.measures, case.protocol, top)
    figures = [
        bootstrap(of, child, resamples=case.resamples) for of, child in zip((there, scores), rng.spawn(2), strict=True)
    ]
    fewest = min(annotations.n_videos, case.annotations.n_videos)
    return Gap(_figures(there), _figures(floor_there), _interval(figures[0] - figures[1], fewest))


def _abstaining(case: Case, rng: np.random.Generator) -> Abstaining | None:
    """Look at who abstains where, over the whole split."""
    annotations, predictions = case.annotations, case.predictions
    row, without = predictions.rows_of(annotations.queries.query_id), annotations.without_moment
    abstains = (row >= 0) & np.append(predictions.abstains, False)[row]
    if not without.any() and not abstains.any():
        return None
    scores = evaluate(annotations, predictions, [CorrectAbstention(), FalseAbstention()], case.protocol)
    figures = bootstrap(scores, rng, resamples=case.resamples)
    return Abstaining(
        scores,
        int((abstains & without).sum()),
        int(without.sum()),
        int((abstains & ~without).sum()),
        int((~without).sum()),
        _interval(np.column_stack([figures, figures[:, 0] - figures[:, 1]]), annotations.n_videos),
    )


def _shuffled(
    case: Case,
    scores: Scores,
    changed: ChangedVideos | None,
    rng: np.random.Generator,
    tell: Callable[[str], None],
) -> ShuffledVideos | None:
    answers = case.shuffled
    if answers is None and changed is not None and changed.agrees:
        answers = case.changed.get("shuffled")
    if answers is None:
        return None
    tell("shuffled videos")
    shuffled = evaluate(case.annotations, answers, case.measures, case.protocol)
    draws, tests = rng.spawn(2)
    figures = resample_figures([scores, shuffled], draws, resamples=case.resamples)
    return ShuffledVideos(
        answers,
        shuffled,
        compare_shuffled(case.annotations, case.predictions, answers, ranking=case.protocol.ranking),
        _paired(scores, shuffled, figures[:, 0] - figures[:, 1], tests, case.permutations),
    )


def _changed(case: Case, rng: np.random.Generator, tell: Callable[[str], None]) -> ChangedVideos | None:
    """Hold the model's answers on each kind of changed videos against its own on the original ones."""
    ways = [way for way in case.changed if way != ORIGINAL]
    if not ways:
        return None
    tell("changed videos")
    annotations, measures, ranking = case.annotations, case.measures, case.protocol.ranking
    now = case.changed[ORIGINAL]
    scores = [evaluate(annotations, case.changed[way], measures, case.protocol) for way in (ORIGINAL, *ways)]
    for_draws, *for_tests = rng.spawn(1 + len(ways))
    figures = resample_figures(scores, for_draws, resamples=case.resamples)
    found = [
        ChangedWay(
            way,
            case.changed[way],
            of,
            _interval(figures[:, number], annotations.n_videos),
            compare_shuffled(annotations, now, case.changed[way], ranking=ranking),
            _paired(scores[0], of, figures[:, 0] - figures[:, number], child, case.permutations),
        )
        for number, (way, of, child) in enumerate(zip(ways, scores[1:], for_tests, strict=True), start=1)
    ]
    return ChangedVideos(
        scores[0], _interval(figures[:, 0], annotations.n_videos), _n_differing(case, now), tuple(found)
    )


def _n_differing(case: Case, now: Predictions) -> int:
    """Count the queries whose first answer is not the audited one."""
    ranking = case.protocol.ranking
    moved = compare_shuffled(case.annotations, case.predictions, now, ranking=ranking)
    stays = np.maximum(moved.d_start, moved.d_end) <= SAME_PLACE_NORM  # NaN does not
    silent = moved.left_out.get("answered on neither video", 0)
    return case.annotations.n_queries - int(stays.sum()) - silent
