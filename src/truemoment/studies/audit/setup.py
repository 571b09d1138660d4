"""The inputs of an audit, checked before any work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.errors import UsageError
from truemoment.base.known_names import GIVES_DURATIONS, one_of_known
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines.floors import headline_of
from truemoment.data.formats import MatchReport
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.report.words import counted
from truemoment.studies.audit.moved import Moved
from truemoment.studies.audit.request import MethodReads

OF_MOMENTS = ("overlaps", "sets")
"""Input that measures of an audit read: floors rate no clips, and never abstain."""

FEWEST_RESAMPLES = 200
"""Minimum number of resamples of the videos: with fewer, the interval of the verdict depends on luck."""

ORIGINAL = "original"
"""Name of the original videos among the changes."""


@dataclass(frozen=True)
class Splits:
    """Other splits of the dataset.

    Parameters
    ----------
    train, validation
        The floors are fitted on the first, and also measured on the second.
    foreign
        Whether the training split comes from another file or dataset, which the user named.
    others
        Splits that are searched for videos and sentences of the audited one.
    """

    train: Annotations | None = None
    validation: Annotations | None = None
    others: tuple[Annotations, ...] = ()
    foreign: bool = False

    def located(self) -> Splits:
        """Return the training and validation splits without the queries that have no moment."""
        train, validation = (None if split is None else _located(split) for split in (self.train, self.validation))
        return replace(self, train=train, validation=validation)


@dataclass(frozen=True)
class Controls:
    """Predictions of the same model with other inputs: shuffled or changed videos, no frames, other orders.

    Parameters
    ----------
    shuffled
        Predictions on shuffled videos. If None, those of `changed` are used, if the model's predictions on the
        original videos are the audited ones.
    text_only
        Predictions for the same prompts without the frames.
    changed
        Predictions on changed videos and on the ``original`` ones, by change, as
        :func:`truemoment.studies.audit.shuffled.predict_on_changed` returns them.
    moved
        References and predictions on videos in which the moments move, by change.
    orders
        Predictions for the same queries alone and in shuffled order, as
        :func:`truemoment.studies.audit.order_following.in_other_orders` returns them.
    caution
        A warning about every figure, for instance about the features of the model; "" for none.
    """

    shuffled: Predictions | None = None
    text_only: Predictions | None = None
    changed: Mapping[str, Predictions] = field(default_factory=dict)
    moved: Mapping[str, Moved] = field(default_factory=dict)
    orders: Mapping[str, Predictions] = field(default_factory=dict)
    caution: str = ""

    def __post_init__(self) -> None:
        """Refuse changed videos without the original ones."""
        of_model = self.changed or self.orders or any(moved.is_model for moved in self.moved.values())
        if of_model and ORIGINAL not in self.changed:
            raise UsageError(
                f"found predictions on changed videos ({', '.join(self.changed)}), expected those on the original ones "
                "too"
            )

    def predictions(self) -> Iterator[tuple[Predictions, str]]:
        """Return all predictions, each with words for their input."""
        if self.shuffled is not None:
            yield self.shuffled, " on shuffled videos"
        if self.text_only is not None:
            yield self.text_only, " without the frames"
        yield from ((predictions, f" on {kind} videos") for kind, predictions in self.changed.items())
        yield from ((moved.predictions, f" on {kind} videos") for kind, moved in self.moved.items())
        yield from ((predictions, f" for queries {order}") for order, predictions in self.orders.items())

    def located(self, annotations: Annotations) -> Controls:
        """Return the controls without the queries that have no moment."""
        shuffled, text_only = (
            None if predictions is None else _to_located(annotations, predictions)
            for predictions in (self.shuffled, self.text_only)
        )
        changed = {kind: _to_located(annotations, predictions) for kind, predictions in self.changed.items()}
        orders = {order: _to_located(annotations, predictions) for order, predictions in self.orders.items()}
        moved = {
            kind: replace(
                answered,
                annotations=_located(answered.annotations),
                predictions=_to_located(answered.annotations, answered.predictions),
            )
            for kind, answered in self.moved.items()
        }
        return replace(self, shuffled=shuffled, text_only=text_only, changed=changed, moved=moved, orders=orders)


@dataclass(frozen=True, eq=False)
class AuditSetup:
    """The inputs of an audit.

    Parameters
    ----------
    annotations, predictions
        The audited split and the predictions; the duration of every video with a moment is known.
    match
        Match of the rows of the predictions with queries; None if they come from no file.
    iid
        Annotations and predictions of the test-iid split, if the audited one is test-ood.
    engine
        Engine that finds verbs.
    resamples, permutations
        Number of resamples of the videos, and of swaps of a permutation test.
    cache
        Cache of fitted floors, of their predictions and of verbs.
    reads
        Declaration of what the method reads: ``sentence`` for one sentence at a time; None for no declaration.

    Raises
    ------
    UsageError
        If no query has a moment, a duration is unknown, floors would be fitted or chosen on the audited split, no
        measure is one of moments, or the protocol drops queries without a prediction, or with one that cannot be read:
        the method would be compared with floors on other queries.
    """

    annotations: Annotations
    predictions: Predictions
    measures: tuple[Measure, ...]
    protocol: Protocol
    match: MatchReport | None = None
    splits: Splits = field(default_factory=Splits)
    iid: tuple[Annotations, Predictions] | None = None
    controls: Controls = field(default_factory=Controls)
    engine: str = "lexicon"
    resamples: int = 1000
    permutations: int = 10_000
    cache: Cache = NO_CACHE
    reads: MethodReads | None = None

    def __post_init__(self) -> None:
        """Refuse inputs that cannot be audited."""
        name = f"{self.annotations.dataset}/{self.annotations.split}"
        located = self.annotations.with_moments()
        queries = located.queries
        if self.annotations.n_queries and not len(queries):
            raise UsageError(
                f"{name}: no query has a reference moment, which an audit needs; truemoment evaluate measures how "
                "often the method rightly abstains"
            )
        if not np.all(queries.duration_s > 0):
            q = int(np.flatnonzero(~(queries.duration_s > 0))[0])
            raise UsageError(
                f"{name}: found duration_s {queries.duration_s[q]:g} for query {queries.query_id[q]!r}; an audit needs "
                f"every video's duration: floors predict shares of it; {GIVES_DURATIONS}"
            )
        for other in (self.splits.train, self.splits.validation):
            if other is not None and other.sha256 == self.annotations.sha256:
                raise UsageError("found the audited split as the one to fit or choose on, expected another")
        if self.reads not in (None, *get_args(MethodReads)):
            raise UsageError(
                f"reads: got {self.reads!r}, expected {one_of_known(str(self.reads), get_args(MethodReads))}"
            )
        if self.resamples < FEWEST_RESAMPLES:
            raise UsageError(f"--resamples: got {self.resamples}, a verdict needs {FEWEST_RESAMPLES} or more")
        if not self.measures or any(measure.needs not in OF_MOMENTS for measure in self.measures):
            raise UsageError("an audit needs measures of moments; floors rate no clips, and never abstain")
        self._refuse_dropped(located, self.predictions, "")
        for predictions, words in self.controls.predictions():
            self._refuse_dropped(located, predictions, words)

    def _refuse_dropped(self, located: Annotations, predictions: Predictions, condition: str) -> None:
        """Refuse predictions if the protocol leaves some of them out."""
        row = predictions.rows_of(located.queries.query_id)  # -1, the appended value, where a query has none
        unread = np.append(predictions.unreadable, False)[row]
        silent = (np.append(predictions.lengths, 0)[row] == 0) & ~unread
        for rule, dropped, words in (
            ("missing", silent, "without a prediction"),
            ("unreadable", unread, "with an answer that could not be read"),
        ):
            if getattr(self.protocol, rule) == "drop" and dropped.any():
                queries = counted(int(dropped.sum()), "query", "queries")
                raise UsageError(
                    f"protocol {self.protocol.name} drops the {queries} {words}{condition}, but "
                    f"floors answer all of them; set {rule}=worst in --protocol"
                )

    def located(self) -> AuditSetup:
        """Return the setup without the queries that have no reference moment, in every split."""
        return replace(
            self,
            annotations=_located(self.annotations),
            predictions=_to_located(self.annotations, self.predictions),
            splits=self.splits.located(),
            iid=None if self.iid is None else (_located(self.iid[0]), _to_located(*self.iid)),
            controls=self.controls.located(self.annotations),
        )

    @property
    def headline(self) -> int:
        """Row of the measure that the verdict is about."""
        return headline_of(self.measures)


def _located(annotations: Annotations) -> Annotations:
    """Return the queries that have a reference moment."""
    located = annotations.with_moments()
    if annotations.n_queries and not located.n_queries:
        raise UsageError(
            f"{annotations.dataset}/{annotations.split}: no query has a reference moment; name another split"
        )
    return located


def _to_located(annotations: Annotations, predictions: Predictions) -> Predictions:
    """Leave out predictions for queries that have no reference moment."""
    nothing = set(annotations.queries.query_id[annotations.without_moment])
    return predictions.select_queries(
        np.array([query_id not in nothing for query_id in predictions.query_id], dtype=bool)
    )
