"""What is audited, and what there is to hold it against: checked here, before any work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from truemoment.caching import NO_CACHE, Cache
from truemoment.exceptions import UsageError
from truemoment.io import MatchReport
from truemoment.measures import Measure
from truemoment.protocols import Protocol
from truemoment.records import Annotations, Predictions

HEADLINE = "R@1,IoU=0.5"
"""The measure of the verdict, where it is among those measured; else the first of them."""

OF_MOMENTS = ("overlaps", "sets")
"""What measures of an audit need: floors rate no clips, and never abstain."""

ORIGINAL = "original"
"""Among answers on changed videos: those on the videos as they are."""


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
    cache
        Keeps what floors learned and answered, and the verbs of sentences.

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
    cache: Cache = NO_CACHE

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
        return headline_of(self.measures)


def headline_of(measures: Sequence[Measure]) -> int:
    """Return the row of the measure that is the headline."""
    names = [str(measure) for measure in measures]
    return names.index(HEADLINE) if HEADLINE in names else 0


def _located(annotations: Annotations) -> Annotations:
    """Return the queries that have a reference moment."""
    located = annotations.with_moments()
    if annotations.n_queries and not located.n_queries:
        raise UsageError(f"{annotations.dataset}/{annotations.split}: no query has a reference moment; name another")
    return located


def _answers_to_located(annotations: Annotations, answers: Predictions) -> Predictions:
    """Leave out answers to queries that have no reference moment."""
    nothing = set(annotations.queries.query_id[annotations.without_moment])
    return answers.select_queries(np.array([query_id not in nothing for query_id in answers.query_id], dtype=bool))
