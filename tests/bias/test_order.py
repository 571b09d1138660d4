"""The order of sentences, by split: shares that start later, and what the order table scores."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.data.datasets import load_annotations
from truemoment.studies.bias.order import orders_of_splits

NAN = float("nan")


def split_of(name, starts_of_videos, duration_s=10.0):
    """A split: the starts of the moments of each video, 5 s long."""
    rows = [
        (f"{name}{v}#{k}", f"{name}{v}", duration_s, "a door opens", start, start + 5)
        for v, starts in enumerate(starts_of_videos)
        for k, start in enumerate(starts)
    ]
    return Annotations.from_rows(rows, split=name)


@pytest.fixture(scope="module")
def train():
    return split_of("train", [(0.0, 5.0)] * 20)


def test_the_table_reads_the_order_of_the_file_and_the_control_the_true_one(train):
    # By hand: train has the first sentence of two in the first half. In test three of four videos are the other way
    # round: 1 of 4 pairs starts later, half of them by chance; the table finds both moments of 1 video of 4; sorted by
    # their true start, all.
    test = split_of("test", [(0.0, 5.0), *3 * [(5.0, 0.0)]])
    found, other = orders_of_splits({"train": train, "test": test})
    assert (found.split, found.starts.later, found.why) == ("train", 1.0, "fitted on this split")
    assert (other.split, other.starts.later, other.starts.by_chance, other.starts.n_pairs) == ("test", 0.25, 0.5, 4)
    assert (other.in_file_order, other.by_start, other.why) == (0.25, 1.0, "")


def test_queries_that_cannot_be_placed_are_left_out(train):
    # By hand: a sentence without a moment does not take a place; a video of unknown duration has a pair, but no score.
    rows = [("a#0", "a", 10.0, "x", 0.0, 5.0), ("a#1", "a", 10.0, "x", NAN, NAN), ("a#2", "a", 10.0, "x", 5.0, 10.0)]
    rows += [("b#0", "b", NAN, "x", 0.0, 5.0), ("b#1", "b", NAN, "x", 5.0, 10.0)]
    _, found = orders_of_splits({"train": train, "test": Annotations.from_rows(rows)})
    assert (found.starts.n_pairs, found.starts.later, found.in_file_order, found.by_start) == (2, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("starts", "duration_s", "n_pairs", "why"),
    [
        ([(NAN, NAN)], 10.0, 0, "no query has a moment in a video of known duration"),
        ([(0.0, 5.0)], NAN, 1, "no query has a moment in a video of known duration"),
        ([(0.0,), (5.0,)], 10.0, 0, ""),
    ],
    ids=["no moment", "no duration", "single sentences"],
)
def test_splits_with_little_to_measure(train, starts, duration_s, n_pairs, why):
    test = split_of("test", starts, duration_s)
    _, found = orders_of_splits({"train": train, "test": test})
    assert (found.starts.n_pairs, found.why, np.isnan(found.in_file_order)) == (n_pairs, why, bool(why))
    assert np.isnan(found.starts.later) == (n_pairs == 0)
    backward, _ = orders_of_splits({"test": train, "train": test})
    expected = "train has no moment in a video of known duration"
    assert backward.why == (expected if why else "")


def test_without_train_there_are_shares_only(train):
    (found,) = orders_of_splits({"all": train})
    assert (found.starts.later, found.why) == (1.0, "there is no split train")
    (alone,) = orders_of_splits({"train": train})
    assert alone.why == "fitted on this split"


# Shares that start later, in percent: the issue "How temporal is the order?" for the first four. It says 33 to 35 for
# Charades and 31 for DiDeMo, which this package makes 33.7 and 30.7 to a decimal.
SHARES = {
    ("activitynet-captions", "val_2"): 95.5,
    ("activitynet-cd", "test-ood"): 96.0,
    ("activitynet-cd", "test-iid"): 86.3,
    ("tacos", "test"): 84.8,
    ("charades-cd", "test-iid"): 33.7,
    ("didemo", "val"): 30.7,
}


@pytest.mark.data
@pytest.mark.parametrize(("dataset", "split"), SHARES)
def test_shares_of_real_files(data_dir, dataset, split):
    (found,) = orders_of_splits({split: load_annotations(dataset, split, data_dir=data_dir)})
    assert round(100 * found.starts.later, 1) == SHARES[dataset, split]
    assert found.starts.informs == (SHARES[dataset, split] > 50)


# R@1,IoU=0.5 of the order table: the same issue (59.60 on val_2, 3.25 on TACoS, 29.6 on Charades-STA). Sorted by start
# it says about 14.2 on TACoS and 38.2 on Charades-STA, without the recipe; ours are 13.22 and 37.31, within a point.
@pytest.mark.data
@pytest.mark.parametrize(
    ("dataset", "split", "in_file_order", "by_start"),
    [
        pytest.param("activitynet-captions", "val_2", 59.60, None, marks=pytest.mark.thorough),
        ("tacos", "test", 3.25, 14.2),
        ("charades-sta", "test", 29.6, 38.2),
    ],
)
def test_scores_on_real_files(data_dir, dataset, split, in_file_order, by_start):
    splits = {name: load_annotations(dataset, name, data_dir=data_dir) for name in ("train", split)}
    _, found = orders_of_splits(splits)
    assert 100 * found.in_file_order == pytest.approx(in_file_order, abs=0.1)
    if by_start is not None:
        assert 100 * found.by_start == pytest.approx(by_start, abs=1)
