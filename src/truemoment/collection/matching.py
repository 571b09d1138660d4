"""Pairs of two lists with the highest sum of weights: the assignment problem, by shortest augmenting paths.

Kuhn's Hungarian method with potentials (Jonker and Volgenant 1987), on each group of entries that belong together.
"""

from __future__ import annotations

import numpy as np

from truemoment.base.intervals import Floats


def best_pairs(weights: Floats) -> list[tuple[int, int]]:
    """Return the pairs (row, column) with weights above 0 whose sum is largest, one to one, in order of rows.

    Examples
    --------
    >>> best_pairs(np.array([[0.9, 0.8], [0.8, 0.0], [0.0, 0.0]]))
    [(0, 1), (1, 0)]
    """
    pairs = []
    for rows, columns in _groups(weights > 0):
        part = weights[np.ix_(rows, columns)]
        pairs += [(rows[r], columns[c]) for r, c in _assign(part) if part[r, c] > 0]
    return sorted(pairs)


def _groups(linked: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """Return rows and columns that are connected."""
    open_rows, groups = set(range(len(linked))), []
    while open_rows:
        rows, columns, new = set[int](), set[int](), {min(open_rows)}
        while new:
            rows |= new
            columns |= set(np.flatnonzero(linked[sorted(new)].any(axis=0)).tolist())
            new = set(np.flatnonzero(linked[:, sorted(columns)].any(axis=1)).tolist()) - rows if columns else set()
        open_rows -= rows
        if columns:
            groups.append((sorted(rows), sorted(columns)))
    return groups


def _assign(weights: Floats) -> list[tuple[int, int]]:
    """Return the assignment of the shorter side with the highest sum."""
    if weights.shape[0] > weights.shape[1]:
        return [(row, column) for column, row in _assign(weights.T)]
    cost = weights.max() - weights
    n_rows, n_columns = cost.shape
    row_price, column_price = np.zeros(n_rows + 1), np.zeros(n_columns + 1)
    row_of = np.zeros(n_columns + 1, int)  # 0 is free; rows and columns count from 1
    for row in range(1, n_rows + 1):
        row_of[0], column = row, 0
        least, before = np.full(n_columns + 1, np.inf), np.zeros(n_columns + 1, int)
        used = np.zeros(n_columns + 1, bool)
        while True:
            used[column] = True
            at = row_of[column]
            reduced = cost[at - 1] - row_price[at] - column_price[1:]
            better = ~used[1:] & (reduced < least[1:])
            least[1:][better], before[1:][better] = reduced[better], column
            column = 1 + int(np.argmin(np.where(used[1:], np.inf, least[1:])))
            step = least[column]
            row_price[row_of[used]] += step
            column_price[used] -= step
            least[~used] -= step
            if row_of[column] == 0:
                break
        while column:
            row_of[column] = row_of[before[column]]
            column = int(before[column])
    return [(int(row_of[column]) - 1, column - 1) for column in range(1, n_columns + 1) if row_of[column]]
