r"""Predictions of the highest expected value, given only the probability of each location.

A blind method that learns gives each query probabilities of *cells*, squares of 5 % of the video in start and end. The
best prediction depends on the measure: the one that most often has an IoU above 0.7 is shorter than the one with the
highest mean IoU. So each measure has its own predictions. With V(c, m) the value of the constant prediction c for the
reference m, and training moments m that represent their cell, the first prediction is

.. math:: \arg\max_c \sum_k p_k \frac{1}{|S_k|} \sum_{m \in S_k} V(c, m)

with S_k up to 16 training moments of cell k. Further predictions are added one by one, each with the largest gain: the
value of a list is that of its best prediction, so a prediction gains only on moments that no earlier one covers
(Nemhauser, Wolsey and Fisher 1978: within 37 % of the best list). V is computed by the measure itself, under the
protocol of the evaluation.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol as TypingProtocol

import numpy as np

from truemoment.base.cells import cell_of
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.base import answers, grid_of_moments, locations
from truemoment.evaluation.evaluate import values_of_constants
from truemoment.evaluation.measures import Measure, as_measure, is_of_sets
from truemoment.evaluation.protocols import Protocol, get_protocol, protocol_for_dataset

CELLS = 20
"""Steps of a video: a cell is 5 % of the video in start and end."""

FIRST_STEP_NORM, NEXT_STEP_NORM = 0.025, 0.05
"""Grids of the first prediction and of further ones, as shares of the video."""

SAMPLES, NEXT_SAMPLES = 16, 4
"""Number of training moments that represent a cell: for the first prediction, and for further ones."""

LEVELS = 4
"""Number of steps of values between 0 and 1."""

DECIMALS, TIE_BREAK = 9, 1e-10
"""Decimals of equal expected values; ties: the earliest, then shortest first prediction, the further prediction with
the highest value alone."""

BLOCK_NUMBERS = 1 << 22
"""Numbers of a table in memory at a time."""


@dataclass(frozen=True, eq=False)
class Places:
    """The K occupied cells of a training split, and the S training moments that represent them.

    `cells` are their numbers, ascending (:func:`truemoment.base.cells.cell_of`), and `prior` their shares of the
    training moments. `rows` of the training split represent the cells, cell by cell; `samples` are these moments, each
    the only reference of a query of its own, and `cell` is the position in `cells` of each.
    """

    cells: Ints
    prior: Floats
    rows: Ints
    samples: Annotations
    cell: Ints

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Places) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[object, ...]:
        return self.samples.sha256, self.cells.tobytes(), self.prior.tobytes(), self.cell.tobytes()

    @classmethod
    def of(cls, train: Annotations, n_steps: int = CELLS) -> tuple[Places, Ints, Ints]:
        """Find the occupied cells of `train`, and samples that are evenly spaced in the moments of each cell.

        Also return the cell of each moment that has a place, as a position in ``places.cells``, and its row of `train`.
        """
        start_end_norm, row = locations(train)
        cells, target = np.unique(cell_of(start_end_norm, n_steps), return_inverse=True)
        in_order = np.lexsort((start_end_norm[:, 1], start_end_norm[:, 0], target))
        selected = in_order[_evenly(target[in_order], SAMPLES)]
        places = cls(
            cells, np.bincount(target) / len(target), row[selected], alone(train, row[selected]), target[selected]
        )
        return places, target, row


def _evenly(group: Ints, most: int) -> Bools:
    """Mark `most` items of each group, evenly spaced, or all if there are fewer; groups are contiguous and ascending.

    Examples
    --------
    >>> _evenly(np.array([0, 0, 0, 0, 0, 1]), 2).astype(int).tolist()
    [0, 0, 1, 0, 1, 1]
    """
    rank = np.arange(len(group)) - np.searchsorted(group, group)
    size = np.bincount(group)[group]
    count = np.minimum(size, most)
    return np.asarray((rank + 1) * count // size > rank * count // size)


def alone(annotations: Annotations, rows: Ints) -> Annotations:
    """Return reference moments as queries of their own."""
    return Annotations(
        query_id=np.arange(len(rows)).astype(str).astype(object),
        video_id=annotations.video_id[rows],
        duration_s=annotations.duration_s[rows],
        sentence=annotations.sentence[rows],
        start_s=annotations.start_s[rows],
        end_s=annotations.end_s[rows],
        annotator=np.full(len(rows), "", dtype=object),
        dataset=annotations.dataset,
        split=annotations.split,
    )


class PlaceModel(TypingProtocol):
    """A model that gives each query probabilities of places, without its video."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    @property
    def places(self) -> Places | None:
        """The places; None until it is fitted."""
        ...

    def fit(self, train: Annotations) -> PlaceModel:
        """Learn from annotations."""
        ...

    def probabilities(self, queries: Queries) -> Floats:
        """Return the probability of each occupied cell for each query, (Q, K)."""
        ...


@dataclass(frozen=True, eq=False)
class Values:
    """Values of the C constant answers of a grid by one measure.

    `mean` is the mean value in each cell, (C, K). `reaches` is whether a value reaches each of L levels on R of the
    samples, (L, C, R), and `level_weight` what a level adds to the value. `cell` and `share` are the cell of each of
    these samples and its share in it, (R,). `is_of_sets`: the measure rates all answers as a set, so that a list of one
    answer has the highest value.
    """

    mean: Floats
    reaches: Bools
    level_weight: Floats
    cell: Ints
    share: Floats
    is_of_sets: bool


@functools.lru_cache(maxsize=2)  # models of one split need the same: to choose an epoch, and to answer
def values_of(places: Places, measures: tuple[Measure, ...], protocol: Protocol) -> tuple[Values, ...]:
    """Measure every constant answer on the samples, for several measures in one pass."""
    grid = grid_of_moments(FIRST_STEP_NORM)
    tables = values_of_constants(places.samples, grid[:, 0], grid[:, 1], measures, protocol)
    share = 1 / np.bincount(places.cell)[places.cell]
    subset = _evenly(places.cell, NEXT_SAMPLES)
    cell = places.cell[subset]
    values = []
    for measure, table in zip(measures, tables, strict=True):
        level, threshold = _levels(table)
        mean = np.add.reduceat(table * share, np.searchsorted(places.cell, np.arange(len(places.cells))), axis=1)
        values.append(
            Values(
                mean=mean,
                reaches=table[None, :, subset] >= threshold[:, None, None],
                level_weight=np.diff(level, prepend=0.0),
                cell=cell,
                share=1 / np.bincount(cell)[cell],
                is_of_sets=is_of_sets(measure) or (measure.ref is None and protocol.references == "pooled"),
            )
        )
    return tuple(values)


def _levels(values: Floats) -> tuple[Floats, Floats]:
    """Return levels that represent values, ascending, and the lowest value of each; (L,) both."""
    highest = float(values.max())
    if np.isin(values, (0.0, highest)).all():  # a hit or none
        return np.array([highest]), np.array([highest])
    level = highest * np.arange(1, LEVELS + 1) / LEVELS
    return level, level - level[0] / 2


@dataclass(frozen=True, eq=False)
class ExpectedValue:
    """Predict the list of the highest expected value by a measure, given a model's probabilities of places.

    Parameters
    ----------
    model
        Model of the probabilities.
    measure
        Measure, in words or as a value.
    protocol
        Protocol of the evaluation; None for that of the training split's dataset.
    values
        Values of the answers, once fitted.
    """

    model: PlaceModel
    measure: str | Measure = "R@1,IoU=0.5"
    protocol: str | Protocol | None = None
    values: Values | None = None

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    def fit(self, train: Annotations, val: Annotations | None = None) -> ExpectedValue:
        """Fit the model, and measure every constant answer on training moments."""
        del val
        protocol = protocol_for_dataset(train.dataset) if self.protocol is None else self.protocol
        protocol = get_protocol(protocol) if isinstance(protocol, str) else protocol
        measure = as_measure(self.measure)
        return replace(self, model=self.model.fit(train), protocol=protocol).for_measures([measure])[0]

    def for_measures(self, measures: Sequence[Measure]) -> tuple[ExpectedValue, ...]:
        """Return a grounder for each measure, all with the same fitted model."""
        if self.model.places is None or not isinstance(self.protocol, Protocol):
            raise UsageError(f"{self.name} has to be fitted first")
        tables = values_of(self.model.places, tuple(measures), self.protocol)
        return tuple(replace(self, measure=m, values=values) for m, values in zip(measures, tables, strict=True))

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Answer each query with the list of the highest expected value.

        The score of an answer is what it adds to the expected value of the list: for R@1, that of the first answer is
        the probability of a hit.
        """
        return answer_each([self], queries, [top])[0]

    def answer(self, queries: Queries, probabilities: Floats, top: int) -> Predictions:
        """Answer queries given the probabilities of their cells, (Q, K)."""
        if self.values is None:
            raise UsageError(f"{self.name} has to be fitted first")
        return best_answers(queries, probabilities, self.values, top=top, name=self.name)


def best_answers(queries: Queries, probabilities: Floats, values: Values, *, top: int, name: str) -> Predictions:
    """Answer each query with the list of the highest expected value, given probabilities of cells, (Q, K).

    The score of an answer is what it adds to the expected value of the list.
    """
    count = 1 if values.is_of_sets else top
    grid = grid_of_moments(FIRST_STEP_NORM)
    selected = np.zeros((len(queries), count), dtype=np.int64)
    score = np.zeros((len(queries), count))
    step = max(1, BLOCK_NUMBERS // len(values.mean))
    for low in range(0, len(queries), step):
        block = slice(low, low + step)
        selected[block, 0], score[block, 0] = _best(probabilities[block] @ values.mean.T)
    alike = np.argsort(selected[:, 0], kind="stable")  # gains are updated together where the last answer is the same
    for low in range(0, len(queries) if count > 1 else 0, step):
        rows = alike[low : low + step]
        further, gained = selected[rows], score[rows]
        _add_further(further, gained, probabilities[rows], values)
        selected[rows], score[rows] = further, gained
    start, end = grid[selected].transpose(2, 0, 1)
    return answers(queries, start, end, score, np.ones((1, count), dtype=bool), top=top, name=name)


def first_answers(probabilities: Floats, values: Values) -> Floats:
    """Return the one answer of the highest expected value for each row of probabilities, (Q, K) -> (Q, 2)."""
    return np.asarray(grid_of_moments(FIRST_STEP_NORM)[_best(probabilities @ values.mean.T)[0]])


def _best(expected: Floats) -> tuple[Ints, Floats]:
    """Return the best answer of each row of (Q, C), and its value."""
    best = np.round(expected, DECIMALS).argmax(axis=1)
    return best, expected[np.arange(len(best)), best]


def _add_further(selected: Ints, score: Floats, probabilities: Floats, values: Values) -> None:
    """Fill the columns after the first of `selected` and `score`, (Q, top), in place.

    An answer removes the gain of others on the samples that it covers and no earlier answer does. These samples are the
    same for all queries with this last answer, so gains are updated group by group.
    """
    steps = np.rint(grid_of_moments(FIRST_STEP_NORM) / FIRST_STEP_NORM).astype(np.int64)
    on_coarser = steps % round(NEXT_STEP_NORM / FIRST_STEP_NORM) == 0
    further = np.flatnonzero(on_coarser.all(axis=1))  # positions of the coarser grid in that of first answers
    n_levels = len(values.level_weight)
    weight = (values.level_weight[:, None] * values.share).ravel()  # of levels times samples, (L R,)
    worth = weight[:, None] * values.reaches[:, further].transpose(0, 2, 1).reshape(len(weight), -1)
    cell, is_left = np.tile(values.cell, n_levels), np.ones((len(selected), len(weight)), dtype=bool)
    by_cell = np.add.reduceat(
        worth.reshape(n_levels, len(values.cell), -1).sum(axis=0), np.flatnonzero(np.diff(values.cell, prepend=-1))
    )
    gain, prefer = probabilities @ by_cell, probabilities @ values.mean[further].T * TIE_BREAK
    is_used = np.zeros(gain.shape, dtype=bool)
    for k in range(1, selected.shape[1]):
        last = selected[:, k - 1]
        order = np.argsort(last, kind="stable")
        answers, first = np.unique(last[order], return_index=True)
        for answer, rows in zip(answers.tolist(), np.split(order, first[1:]), strict=True):
            covered = np.flatnonzero(values.reaches[:, answer])
            at = np.ix_(rows, covered)
            gain[rows] -= (probabilities[np.ix_(rows, cell[covered])] * is_left[at]) @ worth[covered]
            is_left[at] = False
        is_used |= further == last[:, None]
        ranked = np.where(is_used, -1.0, np.round(gain, DECIMALS) + prefer)
        best = ranked.argmax(axis=1)
        selected[:, k] = further[best]
        score[:, k] = np.clip(ranked[np.arange(len(best)), best], 0, score[:, k - 1])


def answer_each(grounders: Sequence[ExpectedValue], queries: Queries, tops: Sequence[int]) -> list[Predictions]:
    """Answer queries by several measures, with lists of several lengths; each model computes its probabilities once."""
    models = {id(grounder.model): grounder.model for grounder in grounders}
    probabilities = {key: model.probabilities(queries) for key, model in models.items()}
    return [
        grounder.answer(queries, probabilities[id(grounder.model)], top)
        for grounder, top in zip(grounders, tops, strict=True)
    ]
