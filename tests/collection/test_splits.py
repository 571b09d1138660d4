"""Splits by film: groups stay whole, shares come out; the assignment of sentences; lists of clean films."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from truemoment.base.errors import InputError, UsageError
from truemoment.collection.matching import best_pairs
from truemoment.collection.same_film import joined
from truemoment.collection.splits import DEFAULT_SHARES, NAMES, read_clean, read_shares, split_clean, split_films


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.integers(40, 80))
def test_shares_come_within_one_percent_and_groups_are_whole(seed, n_films):
    rng = np.random.default_rng(seed)
    counts = {f"film {k}": int(n) for k, n in enumerate(rng.integers(200, 900, n_films))}  # MAD: about 590 a film
    groups = {f"film {k}": f"series {k // 3}" for k in range(0, 12)}
    found = split_films(counts, groups, DEFAULT_SHARES, rng)
    assert set(found) == set(counts)
    for name, share in zip(NAMES, DEFAULT_SHARES, strict=True):
        part = sum(counts[film] for film, split in found.items() if split == name) / sum(counts.values())
        assert part == pytest.approx(share, abs=0.01)
    for group in set(groups.values()):
        assert len({found[film] for film, of in groups.items() if of == group}) == 1


def test_too_few_groups_are_refused():
    rng = np.random.default_rng(0)
    assert sorted(split_films({"a": 1, "b": 5, "c": 2}, {}, DEFAULT_SHARES, rng).values()) == sorted(NAMES)
    with pytest.raises(InputError, match="3 films in 2 groups cannot be split into train, val, test"):
        split_films({"a": 1, "b": 5, "c": 2}, {"a": "x", "b": "x"}, DEFAULT_SHARES, rng)


@pytest.mark.parametrize("text", ["0.5,0.5", "0.5,0.5,0", "0.5,0.4,0.2", "a,b,c"])
def test_shares_that_are_none_are_refused(text):
    with pytest.raises(UsageError, match="expected three shares above 0 with a sum of 1"):
        read_shares(text)


def test_clean_films_are_val_and_test(tmp_path):
    path = tmp_path / "clean.txt"
    path.write_text("b\tval\nc\ttest\nd\n")
    counts = {"a": 10, "b": 10, "c": 10, "d": 10}
    found = split_clean(counts, {}, read_clean(path), DEFAULT_SHARES)
    assert found == {"a": "train", "b": "val", "c": "test", "d": "test"}  # test is missing more than val
    with pytest.raises(InputError, match="the group 's' lies in train and val"):
        split_clean(counts, {"a": "s", "b": "s"}, read_clean(path), DEFAULT_SHARES)
    with pytest.raises(InputError, match="got the film 'd', which the collection does not have"):
        split_clean({"a": 1, "b": 1, "c": 1}, {}, read_clean(path), DEFAULT_SHARES)
    path.write_text("b\ttrain\n")
    with pytest.raises(InputError, match=r"clean\.txt:1: got 'b\\ttrain'"):
        read_clean(path)


@given(st.integers(0, 2**31), st.integers(1, 9), st.integers(1, 9))
def test_the_assignment_is_the_best_one(seed, n_rows, n_columns):
    rng = np.random.default_rng(seed)
    weights = rng.random((n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.5)
    pairs = best_pairs(weights)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    rows, columns = linear_sum_assignment(-weights)  # SciPy's, an independent one
    assert sum(weights[pair] for pair in pairs) == pytest.approx(weights[rows, columns].sum())


def test_the_same_film_joins_groups():
    groups = {"a": "s", "b": "s", "c": "t", "d": "t", "e": ""}
    assert joined(groups, [("b", "c")]) == {"a": "s", "b": "s", "c": "s", "d": "s", "e": ""}
    assert joined({"a": "", "b": ""}, [("a", "b")]) == {"a": "same as a", "b": "same as a"}
