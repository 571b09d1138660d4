"""Verdicts on the references: those of a ``verify`` study, beside the queries of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.data.datasets.answer_file import read_answers

TASK = "verify"


def read_verdicts(path: Path, query_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return how often each verdict was given, by query.

    Parameters
    ----------
    path
        ``answers.jsonl`` of a ``verify`` study, as ``truemoment annotate export`` writes it.
    query_ids
        Queries of the page; others in the file are left out.

    Raises
    ------
    InputError
        If it is a file of another task, or has none of the queries.
    """
    study = read_answers(path)
    if study.head.task != TASK:
        raise InputError(f"got {study.head.task!r}, expected {TASK!r}: verdicts on references", path=path, field="task")
    by_query = study.by_query()
    counts = {
        query: dict(Counter(answer.verdict for answer in by_query[query])) for query in query_ids if query in by_query
    }
    if not counts:
        raise InputError(f"has none of the {len(query_ids):,} queries of this split", path=path, field="query_id")
    return counts


def shares_that_fit(verdicts: Mapping[str, Mapping[str, int]], query_ids: Sequence[str]) -> Floats:
    """Return the share of the verdicts on each query that are "fits", (Q,); NaN where there is none.

    Examples
    --------
    >>> shares_that_fit({"a": {"fits": 3, "partly": 1}}, ["a", "b"]).tolist()
    [0.75, nan]
    """
    counts = [verdicts.get(query, {}) for query in query_ids]
    return np.array([count.get("fits", 0) / sum(count.values()) if count else np.nan for count in counts])
