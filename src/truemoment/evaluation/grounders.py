"""The contract of a method that answers queries with moments.

Blind baselines, learned models, zero-shot search, served models and prediction files are all grounders, so every check
applies to every method.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from truemoment.base.records import Annotations, Predictions, Queries


@runtime_checkable
class Grounder(Protocol):
    """A method that grounds sentences in videos.

    Its input is :class:`~truemoment.base.records.Queries`, so that a reference moment cannot leak by accident.

    Examples
    --------
    >>> class WholeVideo:
    ...     name = "whole video"
    ...     def fit(self, train, val=None): return self
    ...     def ground(self, queries, top=1):
    ...         return Predictions.from_lists(
    ...             {q: [(0.0, d, 1.0)] for q, d in zip(queries.query_id, queries.duration_s)})
    >>> isinstance(WholeVideo(), Grounder)
    True
    """

    @property
    def name(self) -> str:
        """Name in reports."""
        ...

    def fit(self, train: Annotations, val: Annotations | None = None) -> Grounder:
        """Return the method fitted on `train`, which may be the same object; `val` serves to choose settings."""
        ...

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Predict ranked moments for each query.

        Parameters
        ----------
        queries
            Sentences and videos; durations in seconds, NaN where unknown.
        top
            Maximum number of moments per query, 1 or more.

        Returns
        -------
        Predictions
            Moments in seconds, best first; an empty list is an abstention, a missing list no answer.
        """
        ...
