r"""What the verb of a query tells about where its moment lies, in bits.

Locations are cut into :data:`N_CELLS` cells of about equal numbers of moments: by quantiles of the start, and each of
these by quantiles of the length, in as many parts as its share is due. So the figure does not depend on how clumped
locations are. Queries are labelled with the first of their verbs that is among the most frequent ones, as Action-Aware
does (Hidden Challenges, section 3.2).

Counting in cells finds information where there is none: each figure is told less its mean under chance (L. Paninski,
Estimation of entropy and mutual information, Neural Computation 15, 2003). Chance deals the locations anew: videos with
the same number of distinct moments exchange their locations, shuffled within the video. So sentences that ask for the
very same moment keep together, and what the moments of one video have in common stays in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.bias.chance import check_draws, entropy_bits, jensen_shannon_bits, p_value
from truemoment.bias.locations import Locations
from truemoment.exceptions import UsageError
from truemoment.intervals import Floats, Ints
from truemoment.language.verbs import verb_counts

N_CELLS = 36
"""Location cells that are aimed at; many equal starts or lengths make them fewer."""

OTHER_VERB, NO_VERB = "other verb", "no verb"
"""Labels of queries without one of the frequent verbs."""


@dataclass(frozen=True)
class VerbDivergence:
    """How far the locations of one verb's queries lie from all others'.

    Parameters
    ----------
    verb
        Its lemma.
    n_queries
        Queries labelled with it.
    bits
        Jensen-Shannon divergence of its shares in the location cells from those of all other queries, less what chance
        gives; at most 1. (Not Kullback-Leibler: that is infinite where the others leave a cell empty. Both sides weigh
        the same, so the figure does not depend on how frequent the verb is.)
    raw_bits
        Before that correction, from 0 to 1.
    by_chance_bits
        Mean under chance.
    p_value
        Of `raw_bits`; not corrected for the number of verbs.
    """

    verb: str
    n_queries: int
    bits: float
    raw_bits: float
    by_chance_bits: float
    p_value: float


@dataclass(frozen=True)
class VerbInformation:
    """What the verbs of queries tell about the locations of their moments.

    Parameters
    ----------
    bits
        Mutual information of verb and location cell, less what chance gives: 0 is none (below 0: by chance).
    raw_bits
        Before that correction.
    by_chance_bits
        Mean under chance.
    share_of_location
        `bits` as a share of the entropy of the location cells: how much of what there is to know the verb tells. NaN if
        all moments lie in one cell.
    p_value
        Of `raw_bits`.
    n_verbs
        Verbs that are labels of their own.
    n_cells
        Location cells.
    by_verb
        Each of the verbs, the most frequent first.
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
    r"""Measure what the verb of a query tells about the location of its moment.

    .. math:: I = H(\text{verb}) + H(\text{cell}) - H(\text{verb}, \text{cell})

    Parameters
    ----------
    verbs_per_query
        Verbs of each of the Q queries of the annotations, as :func:`truemoment.language.verbs_of` gives them.
    locations
        Of the same annotations; each location counts, under the verb of its query.
    rng
        Generator of the permutations; the same seed gives the same figures.
    n_verbs
        The most frequent verbs, each a label of its own, 1 or more; queries with none of them are labelled
        :data:`OTHER_VERB`, those without any verb :data:`NO_VERB`.
    permutations
        How many, 1 or more.

    Raises
    ------
    UsageError
        If `n_verbs` or `permutations` is less than 1, or a location's query has no entry among the verbs.
    """
    check_draws(permutations, "permutations")
    if n_verbs < 1:
        raise UsageError(f"got the {n_verbs} most frequent verbs, expected 1 or more")
    if locations.query.max() >= len(verbs_per_query):
        raise UsageError(f"got verbs of {len(verbs_per_query)} queries, expected those of all the annotations' queries")
    queries, query_of_row = np.unique(locations.query, return_inverse=True)
    verbs = [verbs_per_query[query] for query in queries.tolist()]
    names = [verb for verb, _ in verb_counts(verbs).most_common(n_verbs)]
    label_of_query = _labels(verbs, names)
    label, cell = label_of_query[query_of_row], equal_cells(locations.start_end_norm)
    n_cells = int(cell.max()) + 1
    cell_of_moment = np.empty(len(locations.multiplicity), dtype=np.int64)
    cell_of_moment[locations.moment] = cell
    deal = _Deal.of(locations)

    def table(of_moment: Ints) -> Floats:
        joint = label * n_cells + of_moment[locations.moment]
        counts = np.bincount(joint, minlength=(len(names) + 2) * n_cells)
        return counts.reshape(-1, n_cells).astype(np.float64)

    observed = table(cell_of_moment)
    by_chance = np.empty(permutations)
    verb_by_chance = np.empty((permutations, len(names)))
    for draw in range(permutations):
        dealt = table(deal.draw(cell_of_moment, rng))
        by_chance[draw] = mutual_information_bits(dealt)
        verb_by_chance[draw] = _from_others(dealt[: len(names)], dealt)
    raw = float(mutual_information_bits(observed))
    raw_of_verb = _from_others(observed[: len(names)], observed)
    of_location = float(entropy_bits(observed.sum(axis=0)))
    n_queries = np.bincount(label_of_query, minlength=len(names))
    bits = raw - float(by_chance.mean())
    return VerbInformation(
        bits=bits,
        raw_bits=raw,
        by_chance_bits=float(by_chance.mean()),
        share_of_location=bits / of_location if of_location > 0 else float("nan"),
        p_value=p_value(raw, by_chance),
        n_verbs=len(names),
        n_cells=n_cells,
        by_verb=tuple(
            VerbDivergence(
                verb=name,
                n_queries=int(n_queries[at]),
                bits=float(raw_of_verb[at] - verb_by_chance[:, at].mean()),
                raw_bits=float(raw_of_verb[at]),
                by_chance_bits=float(verb_by_chance[:, at].mean()),
                p_value=p_value(float(raw_of_verb[at]), verb_by_chance[:, at]),
            )
            for at, name in enumerate(names)
        ),
    )


def equal_cells(start_end_norm: Floats, n_cells: int = N_CELLS) -> Ints:
    """Cut locations into cells of about equal numbers: by start, and within each part by length.

    Parameters
    ----------
    start_end_norm : (N, 2)
        0 <= start < end <= 1.
    n_cells
        How many cells are aimed at, 1 or more. Equal locations share a cell, so there may be fewer; or a few more, as
        each part by start has one at least.

    Returns
    -------
    array, shape (N,)
        From 0, without a gap.

    Examples
    --------
    >>> import numpy as np
    >>> equal_cells(np.array([[0.0, 0.2], [0.0, 0.4], [0.6, 0.7], [0.5, 0.9]]), 4).tolist()
    [0, 1, 2, 3]
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
    """Mutual information of the rows and the columns of a table of counts, (A, B) -> (), in bits; 0 or more."""
    of_rows, of_columns = entropy_bits(table.sum(axis=1)), entropy_bits(table.sum(axis=0))
    return np.asarray(np.maximum(of_rows + of_columns - entropy_bits(table.ravel()), 0))


def _quantile_parts(values: Floats, n_parts: int) -> Ints:
    """Number of the part of each value, (N,): parts of about equal numbers, equal values together, without a gap."""
    ordered = np.sort(np.round(values, 9))
    heads = ordered[np.arange(1, n_parts) * len(ordered) // n_parts]
    part = np.searchsorted(np.unique(heads), np.round(values, 9), side="right")
    return np.asarray(np.unique(part, return_inverse=True)[1], dtype=np.int64)


def _labels(verbs: Sequence[Sequence[str]], names: Sequence[str]) -> Ints:
    """Label of each query: position in `names` of its first verb there, len(names) if none is, + 1 if it has none."""
    position = {name: at for at, name in enumerate(names)}
    return np.array(
        [
            next((position[verb] for verb in of_query if verb in position), len(names) + (not of_query))
            for of_query in verbs
        ],
        dtype=np.int64,
    )


def _from_others(rows: Floats, table: Floats) -> Floats:
    """Jensen-Shannon divergence of each row from the sum of all others, (A, B) -> (A,); 0 where a side is empty."""
    others = table.sum(axis=0) - rows
    compared = (rows.sum(axis=1) > 0) & (others.sum(axis=1) > 0)
    found = np.zeros(len(rows))
    found[compared] = jensen_shannon_bits(rows[compared], others[compared])
    return found


@dataclass(frozen=True, eq=False)
class _Deal:
    """How locations are dealt anew to distinct moments: videos of one size exchange theirs, shuffled within.

    Parameters
    ----------
    video : (M,)
        Of each distinct moment.
    size : (V,)
        How many distinct moments each video has.
    order : (M,)
        The moments by the size of their video, then by video.
    """

    video: Ints
    size: Ints
    order: Ints

    @classmethod
    def of(cls, locations: Locations) -> _Deal:
        video = np.empty(len(locations.multiplicity), dtype=np.int64)
        video[locations.moment] = locations.video
        size = np.bincount(video)
        return cls(video, size, np.lexsort((video, size[video])))

    def draw(self, values: Ints, rng: np.random.Generator) -> Ints:
        """Deal the values of the moments, (M,) -> (M,)."""
        rank = np.empty(len(self.size))
        rank[np.lexsort((rng.random(len(self.size)), self.size))] = np.arange(len(self.size))
        dealt = np.empty_like(values)
        dealt[self.order] = values[np.argsort(rank[self.video] + rng.random(len(values)))]
        return dealt
