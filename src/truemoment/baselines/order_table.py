r"""Order table: the best constant for each place among a video's sentences, "sentence k of n", without a word.

Where a file lists a video's sentences in the order of their moments, the place of a sentence predicts that of its
moment. By R@1,IoU=0.5 on ActivityNet Captions val_2, the table is above every published method that we know and that
reads one sentence at a time.

The figure of a constant on the sentences k of n is shrunk towards its figure on all sentences in the same twentieth of
their video. The latter is shrunk towards the figure on all sentences. Each has the weight of ten sentences, and a place
with fewer than ten gets the constant of its twentieth:

.. math:: \hat f_{k,n} = \frac{\sum_{q \in (k,n)} f_q + 10 \hat f_{\lfloor 20 k / n \rfloor}}{N_{k,n} + 10}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.base import answers_by_row, grid_of_moments, locations, rank_rows_of_constants
from truemoment.data.language.paragraphs import Paragraphs, part_of_paragraph
from truemoment.evaluation.evaluate import values_of_constants
from truemoment.evaluation.measures import Measure, as_measure
from truemoment.evaluation.protocols import Protocol

STEP_NORM = 0.05
"""Grid of constants, as a share of the video."""

N_PARTS, PRIOR = 20, 10
"""Parts of a paragraph, and the sentences that a figure is shrunk with."""

BLOCK_QUERIES = 4096
"""Training sentences that are measured at a time."""


@dataclass(frozen=True, eq=False)
class OrderTable:
    """Predict the best constants for the place of each sentence among those of its video.

    Once fitted: ``ranked[row_of[k, n]]`` (R, K, 3) has start, end (shares of the video) and figure of the constants of
    sentence k of n, best first, padded with NaN; the first :data:`N_PARTS` rows are those of the parts of a paragraph.

    `references` makes it a control: the sentences are ordered by their true start, as a loader that sorts them does.
    """

    measure: str | Measure = "R@1,IoU=0.5"
    protocol: str | Protocol | None = None
    references: Annotations | None = None
    row_of: Mapping[tuple[int, int], int] | None = None
    ranked: Floats | None = None

    @property
    def name(self) -> str:
        """Name; it marks the use of the true order."""
        return "Order table" if self.references is None else "Order table, sorted by true start"

    def fit(self, train: Annotations, val: Annotations | None = None) -> OrderTable:
        """Find the constants on `train`."""
        del val
        return self.for_measures([as_measure(self.measure)], train)[0]

    def for_measures(self, measures: Sequence[Measure], train: Annotations) -> tuple[OrderTable, ...]:
        """Find the constants for each measure in one pass over `train`."""
        locations(train)  # refuses a split without moments
        order = Paragraphs.of(train.queries) if self.references is None else Paragraphs.by_start(train)
        has_moment = ~train.without_moment
        place, size = (column[has_moment] for column in order.place)
        pairs, row = np.unique(np.stack([place, size], axis=1), axis=0, return_inverse=True)
        sums = _sums(train.select_queries(has_moment), row.ravel(), len(pairs), measures, self.protocol)
        count = np.bincount(row.ravel(), minlength=len(pairs)).astype(np.float64)
        part = part_of_paragraph(pairs[:, 0], pairs[:, 1], N_PARTS)
        of_part = sums @ (part[:, None] == np.arange(N_PARTS))
        n_part = np.bincount(part, count, minlength=N_PARTS)
        whole = sums.sum(axis=2, keepdims=True) / count.sum()
        of_part = (of_part + PRIOR * whole) / (n_part + PRIOR)
        is_frequent = count >= PRIOR
        of_pair = ((sums + PRIOR * of_part[:, :, part]) / (count + PRIOR))[:, :, is_frequent]
        row_of = {(k, n): N_PARTS + number for number, (k, n) in enumerate(pairs[is_frequent].tolist())}
        tables = np.concatenate([of_part, of_pair], axis=2)
        grid = grid_of_moments(STEP_NORM)
        return tuple(
            replace(self, measure=m, row_of=row_of, ranked=rank_rows_of_constants(grid, table.T))
            for m, table in zip(measures, tables, strict=True)
        )

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Predict the constants of each query's place, best first."""
        if self.ranked is None or self.row_of is None:
            raise UsageError(f"{self.name} has to be fitted first")
        place, size = self._place(queries)
        part = part_of_paragraph(place, size, N_PARTS)
        pairs = zip(place.tolist(), size.tolist(), strict=True)
        row = np.array(
            [self.row_of.get(pair, number) for pair, number in zip(pairs, part.tolist(), strict=True)], dtype=np.int64
        )
        return answers_by_row(queries, self.ranked, row, top=top, name=self.name)

    def _place(self, queries: Queries) -> tuple[Ints, Ints]:
        """Return the place of each query in its paragraph, and the length of that, (Q,) both."""
        if self.references is None:
            return Paragraphs.of(queries).place
        row = [self.references.queries.index[query] for query in queries.query_id.tolist()]
        place, size = Paragraphs.by_start(self.references).place
        return place[row], size[row]


def _sums(
    train: Annotations, row: Ints, n_rows: int, measures: Sequence[Measure], protocol: str | Protocol | None
) -> Floats:
    """Return the sum of the values of each constant over the queries of each row of the table, (M, C, R)."""
    grid = grid_of_moments(STEP_NORM)
    sums = np.zeros((len(measures), len(grid), n_rows))
    for low in range(0, train.n_queries, BLOCK_QUERIES):
        block = np.arange(train.n_queries) // BLOCK_QUERIES == low // BLOCK_QUERIES
        values = values_of_constants(train.select_queries(block), grid[:, 0], grid[:, 1], measures, protocol)
        order = np.argsort(row[block], kind="stable")
        present, first = np.unique(row[block][order], return_index=True)
        sums[:, :, present] += np.add.reduceat(values[:, :, order], first, axis=2)
    return sums
