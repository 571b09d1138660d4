"""What location_prior and query_prior mean, measured.

Samples are drawn from fixed seeds, so no test here passes or fails by chance; where a figure is compared with its
expectation, the bound is given in standard errors.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from truemoment.worlds.grammar import ACTIONS, FREQUENCY
from truemoment.worlds.locations import SHORTEST_NORM, cells, locate, moved, places

from ..thorough import quick_are

DIAL = (0.0, 0.25, 0.5, 0.75, 1.0)
N = 40_000


def drawn(query_prior, *, location_prior=0.0, clump="beginning", seed=0):
    """Verb, place and moment of N events."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(ACTIONS))
    cell = cells(FREQUENCY, order if clump == "beginning" else moved(order))
    verb = rng.choice(len(ACTIONS), N, p=FREQUENCY)
    place = places(rng.random((N, 2)), cell[verb], rng.random(N) < query_prior)
    return verb, place, cell, locate(place, location_prior, clump)


def entropy(*columns, bins=20):
    """Entropy in nats of a histogram over [0, 1] in each column."""
    counts = np.histogramdd(np.stack(columns, axis=1), bins=bins, range=[(0, 1)] * len(columns))[0].ravel()
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())


def information(verb, start, end, bins=12):
    """Mutual information in nats of verb and location, of counts (the plug-in estimate)."""
    code = (np.minimum(start * bins, bins - 1)).astype(int) * bins + np.minimum(end * bins, bins - 1).astype(int)
    table = np.zeros((len(ACTIONS), bins * bins))
    np.add.at(table, (verb, code), 1)
    joint = table / table.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    filled = joint > 0
    return float((joint[filled] * np.log(joint[filled] / apart[filled])).sum())


@given(st.lists(st.floats(0.01, 1), min_size=4, max_size=40), st.integers(0, 1000))
def test_cells_cut_the_square_into_the_frequencies(weights, seed):
    frequency = np.array(weights) / sum(weights)
    order = np.random.default_rng(seed).permutation(len(frequency))
    for filled in (order, moved(order)):
        assert sorted(filled.tolist()) == list(range(len(frequency)))
        cell = cells(frequency, filled)
        area = (cell[:, 1] - cell[:, 0]) * (cell[:, 3] - cell[:, 2])
        assert area == pytest.approx(frequency, rel=0, abs=1e-12)
        # Areas that add up to 1 and no point in two cells: nothing is left out, nothing is covered twice.
        points = np.random.default_rng(seed).random((50, 2))
        u, v = points[:, :1], points[:, 1:]
        covering = (cell[:, 0] <= u) & (u < cell[:, 1]) & (cell[:, 2] <= v) & (v < cell[:, 3])
        assert (covering.sum(axis=1) <= 1).all()


def test_every_cell_moves():
    # Half of the rows further on: 4 rows of nearly equal height, so each cell's middle moves by 0.35 to 0.65 in v.
    order = np.arange(32)
    here, there = (cells(np.full(32, 1 / 32), filled) for filled in (order, moved(order)))
    shift = np.abs(here - there)
    assert shift[:, 2] == pytest.approx(np.full(32, 0.5))
    assert shift[:, 0] == pytest.approx(np.full(32, 0.5))
    order = np.random.default_rng(3).permutation(32)
    here, there = (cells(FREQUENCY, filled) for filled in (order, moved(order)))
    apart = (np.maximum(here[:, 2], there[:, 2]) >= np.minimum(here[:, 3], there[:, 3])) | (
        np.maximum(here[:, 0], there[:, 0]) >= np.minimum(here[:, 1], there[:, 1])
    )
    assert apart.all()  # no verb's cell overlaps where it was


@pytest.mark.parametrize("query_prior", DIAL)
def test_the_verb_leaves_the_overall_distribution_as_it_is(query_prior):
    # Cells as large as verbs are frequent: the place is uniform over all verbs together. Expected: N / 100 in each of
    # 100 squares; chi-square, 99 degrees of freedom.
    _, place, _, _ = drawn(query_prior)
    counts = np.histogram2d(place[:, 0], place[:, 1], bins=10, range=[(0, 1), (0, 1)])[0].ravel()
    assert stats.chisquare(counts).pvalue > 0.001


@pytest.mark.parametrize("query_prior", DIAL)
def test_share_of_events_in_their_verbs_cell(query_prior):
    # q of them are put there, of the others a share as large as the cell falls there: q + (1 - q) sum f^2.
    verb, place, cell, _ = drawn(query_prior)
    own = cell[verb]
    inside = ((own[:, [0, 2]] <= place) & (place <= own[:, [1, 3]])).all(axis=1)
    expected = query_prior + (1 - query_prior) * float((FREQUENCY**2).sum())
    error = np.sqrt(expected * (1 - expected) / N)
    assert abs(inside.mean() - expected) <= 4 * error + 1e-12


@pytest.mark.parametrize("location_prior", quick_are([0.5], [0.0, 0.5, 1.0]))
@pytest.mark.parametrize("clump", ["beginning", "end"])
def test_information_of_the_verb_rises_with_query_prior(location_prior, clump):
    known = []
    for query_prior in DIAL:
        verb, _, _, (start, end) = drawn(query_prior, location_prior=location_prior, clump=clump)
        known.append(information(verb, start, end))
    assert np.all(np.diff(known) > 0)
    # At 0 nothing but the bias of counting is left, the same as with verbs dealt out anew.
    verb, _, _, (start, end) = drawn(0.0, location_prior=location_prior, clump=clump)
    dealt = [information(np.random.default_rng(s).permutation(verb), start, end) for s in range(20)]
    assert min(dealt) <= known[0] <= max(dealt)


def test_information_at_1_is_the_verbs_own():
    # Cells do not overlap, so the place tells the verb: I(verb; place) = H(verb), and the map is one to one.
    verb, place, cell, _ = drawn(1.0)
    u, v = place[:, :1], place[:, 1:]
    covering = (cell[:, 0] <= u) & (u < cell[:, 1]) & (cell[:, 2] <= v) & (v < cell[:, 3])
    assert (covering.argmax(axis=1) == verb).mean() > 0.9999  # all but roundings at a cell's edge


@given(st.floats(0, 1), st.sampled_from(["beginning", "end"]), st.floats(0, 0.999), st.floats(0, 0.999))
def test_the_map_rises_in_each_variable_so_it_is_one_to_one(location_prior, clump, u, v):
    step = 1e-3
    place = np.array([[u, v], [u + step, v], [u, v + step]])
    start, end = locate(place, location_prior, clump)
    length = end - start
    assert length[1] == pytest.approx(length[0], abs=1e-12)  # the length is a function of v alone
    assert length[2] > length[0]
    assert start[1] > start[0]


@given(st.floats(0, 1), st.sampled_from(["beginning", "end"]), st.floats(0, 1, exclude_max=True), st.floats(0, 1))
def test_moments_lie_in_the_video(location_prior, clump, u, v):
    start, end = locate(np.array([[u, v]]), location_prior, clump)
    assert start[0] >= 0
    assert end[0] <= 1
    assert end[0] - start[0] >= SHORTEST_NORM - 1e-12


def test_an_even_world_is_uniform_over_valid_moments():
    # Squares of side 0.05 in (start, end) that lie wholly in {end - start >= 0.05}: equally many in each.
    _, _, _, (start, end) = drawn(0.5)
    counts = np.histogram2d(start, end, bins=20, range=[(0, 1), (0, 1)])[0]
    first, last = np.triu_indices(20, k=2)
    assert stats.chisquare(counts[first, last]).pvalue > 0.001
    # The triangle has area 0.95^2 / 2, a square 0.05^2.
    share = counts[first, last].sum() / N
    assert share == pytest.approx(len(first) * 0.05**2 / (0.95**2 / 2), abs=4 * np.sqrt(share * (1 - share) / N))


def test_a_clumped_world():
    _, _, _, (start, end) = drawn(0.5, location_prior=1.0)
    length = end - start
    assert (length.min(), length.max()) == pytest.approx((0.15, 0.25), abs=1e-4)
    # Start = 0.2 u^2: its quartiles are 0.2 (1/16, 1/4, 9/16).
    assert np.quantile(start, [0.25, 0.5, 0.75]) == pytest.approx([0.0125, 0.05, 0.1125], abs=0.002)
    _, _, _, (late_start, late_end) = drawn(0.5, location_prior=1.0, clump="end")
    assert np.quantile(1 - late_end, [0.25, 0.5, 0.75]) == pytest.approx([0.0125, 0.05, 0.1125], abs=0.002)
    assert late_start.min() > 0.5


@pytest.mark.parametrize("clump", ["beginning", "end"])
@pytest.mark.parametrize("query_prior", quick_are([0.5], [0.0, 0.5, 1.0]))
def test_entropy_falls_with_location_prior(clump, query_prior):
    found = [entropy(*drawn(query_prior, location_prior=p, clump=clump)[3]) for p in DIAL]
    assert np.all(np.diff(found) < 0)
    starts, lengths = [], []
    for p in DIAL:
        start, end = drawn(query_prior, location_prior=p, clump=clump)[3]
        starts.append(entropy(start))
        lengths.append(entropy(end - start))
    assert np.all(np.diff(starts) < 0)
    assert np.all(np.diff(lengths) < 0)
