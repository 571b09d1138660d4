r"""Information of the verb of a query about the location of its moment, in bits.

Locations are divided into :data:`N_CELLS` cells of about equal numbers of moments: by quantiles of the start, then by
quantiles of the length. The result does not depend on how clustered locations are. The label of a query is the first of
its verbs that is frequent, as in Action-Aware (Hidden Challenges, section 3.2).

Counts in cells overestimate information, so the mean by chance is subtracted (L. Paninski, Estimation of entropy and
mutual information, Neural Computation 15, 2003). By chance means: videos with the same number of distinct moments
exchange their locations, shuffled within the video. Sentences about the same moment stay together, and so do the
moments of one video.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.data.language.verbs import verb_counts
from truemoment.studies.bias.chance import check_draws, entropy_bits, jensen_shannon_bits, p_value
from truemoment.studies.bias.locations import Locations

N_CELLS = 36
"""Number of location cells; fewer if many starts or lengths are equal."""

OTHER_VERB, NO_VERB = "other verb", "no verb"
"""Labels of queries without one of the frequent verbs."""


@dataclass(frozen=True)
class VerbDivergence:
    """Divergence between the locations of one verb and those of all others.

    Parameters
    ----------
    bits, raw_bits
        Jensen-Shannon divergence between its shares in the location cells and those of all other queries, with and
        without subtraction of the mean by chance; at most 1. (Kullback-Leibler would be infinite if the others leave a
        cell empty. Both sides have equal weight, so the value does not depend on the frequency of the verb.)
    p_value
        p value of `raw_bits`; not corrected for the number of verbs.
    """

    verb: str
    n_queries: int
    bits: float
    raw_bits: float
    by_chance_bits: float
    p_value: float


@dataclass(frozen=True)
class VerbInformation:
    """Information of the verbs of queries about the locations of their moments.

    Parameters
    ----------
    bits, raw_bits
        Mutual information of verb and location cell, with and without subtraction of the mean by chance; 0 is none
        (below 0: by chance).
    share_of_location
        `bits` as a share of the entropy of the location cells, its maximum. NaN if all moments are in one cell.
    n_verbs
        Number of verbs with their own label.
    by_verb
        Divergence of each verb, the most frequent first.
    """

    bits: float
    raw_bits: float
    by_chance_bits: float
    share_of_location: float
    p_value: float
    n_verbs: int
    n_cells: int
    by_verb: tuple[VerbDivergence, ...]


def verb_information(
    verbs_per_query: Sequence[Sequence[str]],
    locations: Locations,
    rng: np.random.Generator,
    *,
    n_verbs: int = 50,
    permutations: int = 200,
) -> VerbInformation:
    r"""Measure the information of the verb of a query about the location of its moment.

    .. math:: I = H(\text{verb}) + H(\text{cell}) - H(\text{verb}, \text{cell})

    The verbs of each query are those of :func:`truemoment.data.language.verbs_of`, for all queries of the annotations.
    The `n_verbs` most frequent ones have their own label; other queries have :data:`OTHER_VERB` or :data:`NO_VERB`.
    """
    check_draws(permutations, "permutations")
    if n_verbs < 1:
        raise UsageError(f"got the {n_verbs} most frequent verbs, expected 1 or more")
    queries, query_of_row = np.unique(locations.query, return_inverse=True)
    verbs = [verbs_per_query[query] for query in queries.tolist()]
    names = [verb for verb, _ in verb_counts(verbs).most_common(n_verbs)]
    label = _labels(verbs, names)
    cell = equal_cells(locations.start_end_norm)
    tables = islice(_tables(label[query_of_row], cell, len(names) + 2, locations, rng), 1 + permutations)
    values = [(float(mutual_information_bits(table)), _from_others(table[: len(names)], table)) for table in tables]
    raw, by_chance = values[0][0], np.array([information for information, _ in values[1:]])
    bits = raw - float(by_chance.mean())
    of_location = float(entropy_bits(np.bincount(cell).astype(np.float64)))
    n_queries = np.bincount(label, minlength=len(names))
    return VerbInformation(
        bits=bits,
        raw_bits=raw,
        by_chance_bits=float(by_chance.mean()),
        share_of_location=bits / of_location if of_location > 0 else float("nan"),
        p_value=p_value(raw, by_chance),
        n_verbs=len(names),
        n_cells=int(cell.max()) + 1,
        by_verb=_divergences(names, n_queries, np.stack([divergence for _, divergence in values])),
    )


def _tables(label: Ints, cell: Ints, n_labels: int, locations: Locations, rng: np.random.Generator) -> Iterator[Floats]:
    """Count locations by label and cell, (A, B): as they are, then after one exchange after the other."""
    n_cells = int(cell.max()) + 1
    cell_of_moment = np.empty(len(locations.multiplicity), dtype=np.int64)
    cell_of_moment[locations.moment] = cell
    exchange = _Exchange.of(locations)
    values = cell_of_moment
    while True:
        counts = np.bincount(label * n_cells + values[locations.moment], minlength=n_labels * n_cells)
        yield counts.reshape(-1, n_cells).astype(np.float64)
        values = exchange.draw(cell_of_moment, rng)


def _divergences(names: Sequence[str], n_queries: Ints, divergence: Floats) -> tuple[VerbDivergence, ...]:
    """Return the divergence of each verb; the first row of `divergence` is observed, the others are by chance."""
    raw, by_chance = divergence[0], divergence[1:]
    return tuple(
        VerbDivergence(
            verb=name,
            n_queries=int(n_queries[at]),
            bits=float(raw[at] - by_chance[:, at].mean()),
            raw_bits=float(raw[at]),
            by_chance_bits=float(by_chance[:, at].mean()),
            p_value=p_value(float(raw[at]), by_chance[:, at]),
        )
        for at, name in enumerate(names)
    )


def equal_cells(start_end_norm: Floats, n_cells: int = N_CELLS) -> Ints:
    """Divide locations, (N, 2), into about `n_cells` cells of about equal numbers: by start, then by length.

    Returns the number of the cell of each location, (N,), from 0, without gaps.
    """
    start, length = start_end_norm[:, 0], np.diff(start_end_norm, axis=1)[:, 0]
    part = _quantile_parts(start, max(1, round(n_cells**0.5)))
    cell = np.empty(len(start), dtype=np.int64)
    n_made = 0
    for number in range(int(part.max()) + 1):
        rows = np.flatnonzero(part == number)
        parts = _quantile_parts(length[rows], max(1, round(n_cells * len(rows) / len(start))))
        cell[rows] = n_made + parts
        n_made += int(parts.max()) + 1
    return cell


def mutual_information_bits(table: Floats) -> Floats:
    """Return the mutual information of rows and columns of a table of counts, (A, B) -> (), in bits."""
    of_rows, of_columns = entropy_bits(table.sum(axis=1)), entropy_bits(table.sum(axis=0))
    return np.asarray(np.maximum(of_rows + of_columns - entropy_bits(table.ravel()), 0))


def _quantile_parts(values: Floats, n_parts: int) -> Ints:
    """Return the part of each value, (N,): parts of about equal numbers, equal values together, without gaps."""
    ordered = np.sort(np.round(values, 9))
    heads = ordered[np.arange(1, n_parts) * len(ordered) // n_parts]
    part = np.searchsorted(np.unique(heads), np.round(values, 9), side="right")
    return np.asarray(np.unique(part, return_inverse=True)[1], dtype=np.int64)


def _labels(verbs: Sequence[Sequence[str]], names: Sequence[str]) -> Ints:
    """Return the label of each query: index in `names` of its first verb there, else len(names), + 1 without a verb."""
    position = {name: at for at, name in enumerate(names)}
    return np.array(
        [
            next((position[verb] for verb in of_query if verb in position), len(names) + (not of_query))
            for of_query in verbs
        ],
        dtype=np.int64,
    )


def _from_others(rows: Floats, table: Floats) -> Floats:
    """Return the divergence between each row and the sum of all others, (A, B) -> (A,); 0 if a side is empty."""
    others = table.sum(axis=0) - rows
    is_defined = (rows.sum(axis=1) > 0) & (others.sum(axis=1) > 0)
    divergence = np.zeros(len(rows))
    divergence[is_defined] = jensen_shannon_bits(rows[is_defined], others[is_defined])
    return divergence


@dataclass(frozen=True, eq=False)
class _Exchange:
    """Exchange of locations between videos with the same number of distinct moments, shuffled within the video."""

    video: Ints  # (M,), of each moment
    size: Ints  # (V,), number of moments of each video
    order: Ints  # (M,), the moments by the size of their video, then by video

    @classmethod
    def of(cls, locations: Locations) -> _Exchange:
        video = np.empty(len(locations.multiplicity), dtype=np.int64)
        video[locations.moment] = locations.video
        size = np.bincount(video)
        return cls(video, size, np.lexsort((video, size[video])))

    def draw(self, values: Ints, rng: np.random.Generator) -> Ints:
        """Exchange the values of the moments, (M,) -> (M,)."""
        rank = np.empty(len(self.size))
        rank[np.lexsort((rng.random(len(self.size)), self.size))] = np.arange(len(self.size))
        result = np.empty_like(values)
        result[self.order] = values[np.argsort(rank[self.video] + rng.random(len(values)))]
        return result
