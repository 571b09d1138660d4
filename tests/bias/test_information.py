"""Mutual information of verb and location against loops, and what chance may and may not move."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import UsageError
from truemoment.studies.bias.information import _Exchange as Deal
from truemoment.studies.bias.information import equal_cells, mutual_information_bits, verb_information
from truemoment.studies.bias.locations import Locations


def located(moments, *, video=None, moment=None, query=None):
    number = np.arange(len(moments))
    return Locations(
        np.array(moments, dtype=float),
        number if query is None else np.array(query),
        number if video is None else np.array(video),
        number if moment is None else np.array(moment),
    )


def sample(n, seed):
    return np.sort(np.random.default_rng(seed).random((n, 2)), axis=1)


def told(verbs, where, *, seed=0, permutations=5, **options):
    return verb_information(verbs, where, np.random.default_rng(seed), permutations=permutations, **options)


def slow_information(labels, cells):
    """Sum of p(a, b) log2(p(a, b) / p(a) p(b)), over pairs that occur."""
    n = len(labels)
    of_label, of_cell, of_both = Counter(labels), Counter(cells), Counter(zip(labels, cells, strict=True))
    return sum(k / n * math.log2(k * n / (of_label[a] * of_cell[b])) for (a, b), k in of_both.items())


def slow_divergence(labels, cells, verb):
    """Jensen-Shannon divergence of one label's cells from all others', by the Kullback-Leibler formula."""
    ours = [cell for label, cell in zip(labels, cells, strict=True) if label == verb]
    others = [cell for label, cell in zip(labels, cells, strict=True) if label != verb]
    total = 0.0
    for cell in set(cells):
        p, q = ours.count(cell) / len(ours), others.count(cell) / len(others)
        total += sum(x * math.log2(2 * x / (p + q)) / 2 for x in (p, q) if x)
    return total


tables = (
    st.integers(1, 5)
    .flatmap(
        lambda width: st.lists(st.lists(st.integers(0, 9), min_size=width, max_size=width), min_size=1, max_size=5)
    )
    .filter(lambda rows: any(map(any, rows)))
)


@given(tables)
def test_information_of_a_table_equals_a_loop(rows):
    pairs = [(a, b) for a, row in enumerate(rows) for b, k in enumerate(row) for _ in range(k)]
    expected = slow_information(*zip(*pairs, strict=True))
    assert float(mutual_information_bits(np.array(rows, dtype=float))) == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 1000), st.lists(st.lists(st.sampled_from("abcde"), max_size=3), min_size=1, max_size=40))
def test_figures_equal_loops(seed, verbs):
    # Three labels: the two most frequent verbs by first occurrence among equals, whatever comes after in the sentence.
    where = located(sample(len(verbs), seed))
    frequent = [verb for verb, _ in Counter(verb for of_query in verbs for verb in of_query).most_common(2)]
    labels = [next((v for v in of_query if v in frequent), "other" if of_query else "none") for of_query in verbs]
    cells = equal_cells(where.start_end_norm).tolist()
    found = told(verbs, where, n_verbs=2)
    assert found.raw_bits == pytest.approx(slow_information(labels, cells), abs=1e-12)
    assert found.bits == pytest.approx(found.raw_bits - found.by_chance_bits, abs=1e-12)
    of_location = slow_information(cells, cells)  # what a cell tells about itself: its entropy
    if of_location:
        assert found.share_of_location == pytest.approx(found.bits / of_location, abs=1e-12)
    assert (found.n_verbs, found.n_cells) == (len(frequent), len(set(cells)))
    assert [one.verb for one in found.by_verb] == frequent
    for one in found.by_verb:
        assert one.n_queries == labels.count(one.verb)
        if 0 < one.n_queries < len(labels):
            assert one.raw_bits == pytest.approx(slow_divergence(labels, cells, one.verb), abs=1e-12)
        assert one.bits == pytest.approx(one.raw_bits - one.by_chance_bits, abs=1e-12)


@given(st.integers(0, 1000))
def test_renaming_verbs_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    words = rng.choice(list("abcd"), 60)
    where, other_names = located(sample(60, seed)), dict(zip("abcd", ["run", "sit", "open", "close"], strict=True))
    ours, theirs = told([(w,) for w in words], where), told([(other_names[w],) for w in words], where)
    assert (ours.bits, ours.raw_bits, ours.p_value) == (theirs.bits, theirs.raw_bits, theirs.p_value)
    assert [other_names[one.verb] for one in ours.by_verb] == [one.verb for one in theirs.by_verb]


def test_one_verb_tells_nothing():
    found = told([("open",)] * 50, located(sample(50, 0)))
    assert (found.raw_bits, found.bits, found.p_value) == (0, 0, 1)
    assert [(one.raw_bits, one.p_value) for one in found.by_verb] == [(0, 1)]


def test_a_verb_that_determines_the_cell_tells_all():
    where = located(sample(720, 1))
    cells = equal_cells(where.start_end_norm)
    assert np.bincount(cells).tolist() == [20] * 36
    found = told([(f"verb {cell}",) for cell in cells], where, permutations=19)
    assert found.raw_bits == pytest.approx(math.log2(36), abs=1e-12)
    assert found.p_value == 1 / 20
    assert all(one.raw_bits == pytest.approx(1, abs=1e-12) for one in found.by_verb)


def test_all_moments_at_one_place_leave_nothing_to_tell():
    found = told([("open",), ("close",)], located([[0.0, 0.5]] * 2))
    assert (found.raw_bits, found.n_cells) == (0, 1)
    assert math.isnan(found.share_of_location)


def test_chance_has_no_bits_and_information_has():
    # Plug-in information of A labels and B cells without any is (A - 1)(B - 1) / (2 N ln 2), for large N.
    rng = np.random.default_rng(0)
    where = located(sample(3000, 2))
    nothing = told([(w,) for w in rng.choice(list("abcde"), 3000)], where, permutations=100)
    assert nothing.by_chance_bits == pytest.approx(4 * 35 / (2 * 3000 * math.log(2)), rel=0.1)
    assert abs(nothing.bits) < 0.015  # over 40 seeds (not run here) at most 0.011
    late = where.start_end_norm[:, 0] + 0.1 * rng.random(3000) > 0.5
    something = told([("late" if word else "early",) for word in late], where, permutations=100)
    assert something.bits > 0.3
    assert something.p_value == 1 / 101


def test_sentences_that_ask_for_the_same_moment_keep_together():
    # 40 moments with a random verb each, asked for 20 times with that verb: 800 sentences, but 40 draws.
    rng = np.random.default_rng(3)
    number = np.repeat(np.arange(40), 20)
    verbs = [(word,) for word in rng.choice(list("abc"), 40)[number]]
    moments = sample(40, 4)[number]
    assert told(verbs, located(moments, moment=number, video=number), permutations=100).p_value > 0.05
    assert told(verbs, located(moments), permutations=100).p_value < 0.02


def test_what_a_video_has_in_common_stays_in_common():
    # 30 videos of 20 moments, all early or all late and all of one verb, which have nothing to do with each other.
    # Were the moments draws of their own, they would tell of a link that is none.
    video = np.repeat(np.arange(30), 20)
    of_videos, of_moments = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        start = np.where(rng.random(30) < 0.5, 0.0, 0.5)[video] + 0.3 * rng.random(600)
        moments = np.stack([start, start + 0.1], axis=1)
        verbs = [(word,) for word in rng.choice(list("ab"), 30)[video]]
        of_videos.append(told(verbs, located(moments, video=video), permutations=60).p_value)
        of_moments.append(told(verbs, located(moments), permutations=60).p_value)
    assert sum(p < 0.05 for p in of_videos) <= 2
    assert sum(p < 0.05 for p in of_moments) >= 4


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.integers(0, 100))
def test_videos_of_one_size_exchange_their_locations(sizes, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(sum(sizes))
    video = np.repeat(np.arange(len(sizes)), sizes)[order]
    where = located(sample(len(video), seed), video=video)
    dealt = Deal.of(where).draw(np.arange(len(video)), rng)
    from_video = video[dealt]
    given_to = []
    for number, size in enumerate(sizes):
        (source,) = set(from_video[video == number].tolist())  # all from one video
        assert sizes[source] == size
        given_to.append(source)
    assert sorted(given_to) == list(range(len(sizes)))
    assert sorted(dealt.tolist()) == list(range(len(video)))


def test_within_a_video_locations_are_shuffled():
    where = located(sample(6, 0), video=[0] * 6)
    orders = {tuple(Deal.of(where).draw(np.arange(6), np.random.default_rng(seed)).tolist()) for seed in range(20)}
    assert len(orders) > 10


@given(st.integers(0, 1000), st.integers(36, 400))
def test_cells_are_of_about_equal_numbers(seed, n):
    # Six parts by start of sizes that differ by 1, each divided by length: six shares of 36 cells, each rounded.
    numbers = np.bincount(equal_cells(sample(n, seed)))
    assert abs(len(numbers) - 36) <= 6 * 0.5
    assert numbers.max() <= math.ceil(math.ceil(n / 6) / 6) + 1
    assert numbers.min() >= 1


def test_equal_starts_share_their_part_and_get_cells_as_they_are_due():
    # Half of the moments start at 0, with 360 lengths: they get half of the cells, by length.
    moments = sample(720, 7)
    moments[:360, 0] = 0
    numbers = np.bincount(equal_cells(moments))
    assert numbers.max() <= 30
    assert 30 <= len(numbers) <= 40
    start_of_cell = [set(moments[equal_cells(moments) == cell, 0] == 0) for cell in range(len(numbers))]
    assert sum(one == {True} for one in start_of_cell) == 18


def test_several_moments_of_a_query_count_each_and_its_verb_once():
    where = located(sample(4, 0), query=[0, 0, 1, 3])
    found = told([("sit",), ("open", "sit"), ("never located",), ("sit",)], where, n_verbs=1)
    assert [(one.verb, one.n_queries) for one in found.by_verb] == [("sit", 3)]


def test_equal_seeds_give_equal_figures():
    verbs = [(word,) for word in np.random.default_rng(0).choice(list("abc"), 60)]
    where = located(sample(60, 0))
    assert told(verbs, where, seed=1) == told(verbs, where, seed=1)
    assert told(verbs, where, seed=1) != told(verbs, where, seed=2)


def test_wrong_usage_is_named():
    where = located(sample(3, 0))
    with pytest.raises(UsageError, match="the 0 most frequent verbs"):
        told([("a",)] * 3, where, n_verbs=0)
    with pytest.raises(UsageError, match="got 0 permutations"):
        told([("a",)] * 3, where, permutations=0)
