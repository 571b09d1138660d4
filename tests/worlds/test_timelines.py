"""Time lines: what is asked for is unambiguous, and stands among things to confuse it with."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.worlds.grammar import ACTIONS, FREQUENCY, OBJECTS
from truemoment.worlds.timelines import MOST_EVENTS, MOST_QUERIES, compose


def composed(n_videos, seed=0):
    return compose(np.random.default_rng(seed).random((n_videos, 1 + MOST_EVENTS, 4)))


@given(st.integers(1, 20), st.integers(0, 10_000))
def test_each_pair_asked_for_occurs_once(n_videos, seed):
    video, action, thing, asked = composed(n_videos, seed)
    for number in range(n_videos):
        rows = np.flatnonzero(video == number)
        pairs = list(zip(action[rows].tolist(), thing[rows].tolist(), strict=True))
        assert 4 <= len(rows) <= MOST_EVENTS
        assert 2 <= asked[rows].sum() <= MOST_QUERIES
        assert all(pairs.count(pair) == 1 for pair, is_asked in zip(pairs, asked[rows], strict=True) if is_asked)
        assert all(OBJECTS[t] in ACTIONS[a].objects for a, t in pairs)
        assert not np.any(np.diff(asked[rows].astype(int)) > 0)  # those asked for stand first
    assert np.all(np.diff(video) >= 0)


@pytest.mark.parametrize("extreme", [0.0, 1 - 2**-53])
def test_extreme_random_numbers(extreme):
    # Every draw the same: all events asked for are one action, and its objects are used up one after the other.
    video, action, thing, asked = compose(np.full((1, 1 + MOST_EVENTS, 4), extreme))
    assert len(set(action[asked].tolist())) == 1
    assert len(set(thing[asked].tolist())) == asked.sum() == (2 if extreme == 0.0 else MOST_QUERIES)
    assert len(video) == (4 if extreme == 0.0 else MOST_EVENTS)
    assert not set(zip(action[asked], thing[asked], strict=True)) & set(zip(action[~asked], thing[~asked], strict=True))


def test_structure_of_the_videos():
    video, action, thing, asked = composed(3000)
    counts = np.bincount(video)
    assert counts.mean() == pytest.approx(6.5, abs=4 * np.sqrt(35 / 12 / 3000))  # 4 to 9, equally likely
    assert asked.sum() / 3000 == pytest.approx(3, abs=4 * np.sqrt(2 / 3 / 3000))  # 2 to 4, equally likely
    shares_action = shares_object = repeats = 0
    for number in range(3000):
        rows = slice(*np.searchsorted(video, [number, number + 1]))
        a, t, q = action[rows], thing[rows], asked[rows]
        pairs = list(zip(a.tolist(), t.tolist(), strict=True))
        shares_action += any(x in a[q] for x in a[~q])
        shares_object += any(x in t[q] for x in t[~q])
        repeats += len(set(pairs)) < len(pairs)
    # Of m others each is of a kind of its own accord: none repeats an action asked for with probability 0.65^m at
    # most (no object 0.7^m), m = events less events asked for; chance adds a few. Three objects belong to one action
    # only and so cannot be shared: 0.9 of the bound is asked of objects.
    m = np.subtract.outer(np.arange(4, 10), np.arange(2, 5))
    assert shares_action / 3000 > (1 - 0.65**m).mean() - 4 * 0.5 / np.sqrt(3000)
    assert shares_object / 3000 > 0.9 * (1 - 0.7**m).mean()
    # Behind the first of them, 15 % repeat one; chance adds some.
    bound = (1 - 0.85 ** np.maximum(m - 1, 0)).mean()
    assert bound - 4 * 0.5 / np.sqrt(3000) < repeats / 3000 < bound + 0.15


def test_actions_asked_for_follow_their_frequencies():
    # Exactly independent draws, whatever else the video holds: chi-square against the stated shares.
    from scipy import stats

    _, action, _, asked = composed(20_000)
    counts = np.bincount(action[asked], minlength=len(ACTIONS))
    assert stats.chisquare(counts, FREQUENCY * counts.sum()).pvalue > 0.001
