"""The world of QVHighlights' form: sizes, moments without a bias of place, ratings, and features that show them."""

import numpy as np
import pytest

from truemoment.base.errors import UsageError
from truemoment.worlds.highlights import N_WITH_MOMENTS, QUERIES, make_highlights

SIZES = {"train": 1500, "val": 20, "test": 30}


@pytest.fixture(scope="module")
def world():
    return make_highlights(SIZES, seed=1)


def test_sizes(world):
    assert sum(QUERIES.values()) == 7218 + 1550 + 1542  # Lei et al. 2021, Table 1
    assert sum(N_WITH_MOMENTS) == QUERIES["train"]
    assert {name: split.n_queries for name, split in world.splits.items()} == SIZES
    assert len({video for split in world.splits.values() for video in split.video_id}) == sum(SIZES.values())
    assert {world.features[video].shape for video in world.features} == {(75, 64)}


def test_a_query_has_one_to_five_moments_that_do_not_overlap(world):
    train = world.splits["train"]
    counts = np.diff(train.offsets)
    shares = np.bincount(counts, minlength=6)[1:] / len(counts)
    np.testing.assert_allclose(shares, np.array(N_WITH_MOMENTS) / sum(N_WITH_MOMENTS), atol=0.05)  # 4 standard errors
    assert np.all((train.start_s >= 0) & (train.start_s < train.end_s) & (train.end_s <= 150))
    within = np.delete(train.start_s[1:] - train.end_s[:-1], train.offsets[1:-1] - 1)
    assert within.min() >= -0.011  # times are rounded to 0.01 s


def test_moments_have_no_bias_of_place(world):
    """Mirrored in time, the moments are the same: mean of the middle is that of the video, to four standard errors."""
    train = world.splits["train"]
    middle = (train.start_s + train.end_s) / 2
    assert abs(middle.mean() - 75) < 4 * middle.std() / np.sqrt(train.n_queries)


def test_ratings_are_quarters_of_the_share_in_moments(world):
    """By a loop over thousandths of each clip."""
    test = world.splits["test"]
    rated = test.saliency
    for query in range(test.n_queries):
        rows = slice(*test.offsets[query : query + 2])
        of_query = slice(*rated.offsets[query : query + 2])
        seconds = (np.arange(75_000) + 0.5) / 500
        inside = np.any((seconds >= test.start_s[rows, None]) & (seconds < test.end_s[rows, None]), axis=0)
        share = inside.reshape(75, 1000).mean(axis=1)
        assert rated.clip[of_query].tolist() == np.flatnonzero(share > 0).tolist()
        np.testing.assert_allclose(rated.rating[of_query, 0] / 4, share[rated.clip[of_query]], atol=0.127)


def test_clean_rows_of_a_query_are_alike(world):
    """Rows of rated clips agree with their mean more than the other rows of the video do."""
    train, gaps = world.splits["train"], []
    for query in range(200):
        rated = train.saliency.clip[slice(*train.saliency.offsets[query : query + 2])]
        rows = world.features[train.video_id[train.offsets[query]]]
        inside = np.isin(np.arange(75), rated)
        if 1 < inside.sum() < 74:
            mean = rows[inside].mean(axis=0)
            gaps.append(np.mean(rows[inside] @ mean) - np.mean(rows[~inside] @ mean))
    assert np.mean(gaps) > 10 * np.std(gaps) / np.sqrt(len(gaps))


def test_without_perception_rows_show_nothing(world):
    """The moments are the same, and the rows have no correlation with clean ones: four standard errors."""
    noise = make_highlights(SIZES, perception=0.0, seed=1)
    assert noise.splits["train"].sha256 == world.splits["train"].sha256
    clean, drawn = (np.concatenate([of.features[video] for video in of.features]).ravel() for of in (world, noise))
    assert clean.std() > 0.1
    assert abs(np.corrcoef(clean, drawn)[0, 1]) < 4 / np.sqrt(len(clean))


def test_a_perception_that_is_none_is_refused():
    with pytest.raises(UsageError, match=r"perception: got 1\.5, expected a number from 0 to 1"):
        make_highlights(SIZES, perception=1.5)
