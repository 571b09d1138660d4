"""The contract of a method: whatever answers queries with moments.

Blind baselines, learned models, zero-shot search, served models and prediction files are all
grounders, so every check applies to every method.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from truemoment.records import Annotations, Predictions, Queries


@runtime_checkable
class Grounder(Protocol):
    """A method that grounds sentences in videos.

    A method is given :class:`~truemoment.records.Queries` when it answers, so a reference moment
    cannot leak by accident.

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
        """What to call the method in reports."""
        ...

    def fit(self, train: Annotations, val: Annotations | None = None) -> Grounder:
        """Learn what the method learns from annotations.

        Parameters
        ----------
        train
            Annotations to learn from.
        val
            Annotations to choose settings by; None where there are none.

        Returns
        -------
        Grounder
            The fitted method, which may be the same object.
        """
        ...

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Answer each query with ranked moments.

        Parameters
        ----------
        queries
            What is asked of which video; durations in seconds, NaN where not known.
        top
            Most moments a query, 1 or more.

        Returns
        -------
        Predictions
            Moments in seconds, best first; a query without a list is not answered, one with an empty list
            is abstained from.
        """
        ...
