r"""CorrectAbstention and FalseAbstention: shares of queries on which a method predicts no moment.

Convention
    A method *abstains* on a query if it answers with an empty list. A query without any row, and an unreadable answer
    in words, are no abstentions (the protocol may drop or refuse them). Read the two together: a method that always
    abstains has both at 1.

CorrectAbstention
    The share of the queries *without* a reference moment on which the method abstains. Higher is better.

FalseAbstention
    The share of the queries *with* a reference moment on which the method abstains. **Lower is better.**

Formula
    :math:`|A \cap N| / |N|` and :math:`|A \setminus N| / |Q \setminus N|` with Q the queries, N those without
    a reference moment and A those on which the method abstains.

Source
    The two rates of any detector: specificity, and the rate of misses. In the field, Moment of Untruth (Flanagan
    et al. 2025) asks for the rejection of queries that the video does not answer; none of its figures is claimed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.intervals import Bools
from truemoment.base.papers import UNTRUTH, Paper
from truemoment.evaluation.measures.base import Abstentions, Needs, Statistic


@dataclass(frozen=True)
class CorrectAbstention:
    """``CorrectAbstention``, over the queries without a reference moment.

    Examples
    --------
    >>> sees = Abstentions(abstains=np.array([True, False, True]), has_reference=np.array([False, False, True]))
    >>> CorrectAbstention().per_query(sees).numerator, CorrectAbstention().per_query(sees).weight
    (array([1., 0., 0.]), array([1., 1., 0.]))
    """

    needs: ClassVar[Needs] = "abstentions"
    needs_duration: ClassVar[bool] = False
    depth: ClassVar[None] = None
    ref: ClassVar[None] = None
    undefined: ClassVar[str] = "no query that counts is without a reference moment"
    papers: ClassVar[tuple[Paper, ...]] = (UNTRUTH,)

    def __str__(self) -> str:
        return "CorrectAbstention"

    def per_query(self, abstentions: Abstentions) -> Statistic:
        """Return 1 where the method rightly abstains; weight 0 where there is a reference moment."""
        return _share(abstentions.abstains, ~abstentions.has_reference)


@dataclass(frozen=True)
class FalseAbstention:
    """``FalseAbstention``, over the queries with a reference moment; lower is better.

    Examples
    --------
    >>> sees = Abstentions(abstains=np.array([True, False, True]), has_reference=np.array([False, False, True]))
    >>> FalseAbstention().per_query(sees).numerator, FalseAbstention().per_query(sees).weight
    (array([0., 0., 1.]), array([0., 0., 1.]))
    """

    needs: ClassVar[Needs] = "abstentions"
    needs_duration: ClassVar[bool] = False
    depth: ClassVar[None] = None
    ref: ClassVar[None] = None
    lower_is_better: ClassVar[bool] = True
    papers: ClassVar[tuple[Paper, ...]] = (UNTRUTH,)

    def __str__(self) -> str:
        return "FalseAbstention"

    def per_query(self, abstentions: Abstentions) -> Statistic:
        """Return 1 where the method wrongly abstains; weight 0 where there is no reference moment."""
        return _share(abstentions.abstains, abstentions.has_reference)


def _share(marked: Bools, among: Bools) -> Statistic:
    """Share of the marked queries among some queries."""
    return Statistic((marked & among).astype(np.float64), among.astype(np.float64))
