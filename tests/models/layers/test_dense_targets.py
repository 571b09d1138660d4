"""Targets of a pyramid's locations: the specification's examples, and its table on the real annotations."""

import math

import pytest
import torch

from truemoment.baselines.targets import moment_shares, usable
from truemoment.data.datasets import load_annotations
from truemoment.learning.models.layers.dense_targets import dense_targets, pyramid_locations, segments_at

LEVELS = (slice(0, 32), slice(32, 48), slice(48, 56))


def test_locations_lie_in_the_middle_of_their_clips():
    """Specification of DRN, section 8."""
    at = pyramid_locations(32).at
    assert len(at) == 56
    assert [at[level][0].item() for level in LEVELS] == [0.5, 1.0, 2.0]
    assert [at[level][-1].item() for level in LEVELS] == [31.5, 31.0, 30.0]


def test_half_a_video_has_six_positive_locations():
    """Specification of DRN, section 8, for the moment (0.25, 0.75)."""
    locations = pyramid_locations(32)
    positive = dense_targets(torch.tensor([[8.0, 24.0]]), locations).positive[0]
    assert [locations.at[level][positive[level]].tolist() for level in LEVELS] == [[], [13, 15, 17, 19], [10, 22]]


@pytest.mark.parametrize("n_clips", [32, 64])
def test_targets_are_those_of_a_loop(n_clips):
    """The rule of the specification, section 3.1, with ranges in proportion to the clips."""
    locations = pyramid_locations(n_clips)
    moments = n_clips * torch.rand(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).sort().values
    found = dense_targets(moments, locations)
    ranges = [(-1, 6), (5.6, 11), (11, math.inf)]
    for b, (start, end) in enumerate(moments.tolist()):
        p = 0
        for level, (low, high) in enumerate(ranges):
            for k in range(n_clips // 2**level):
                t = (k + 0.5) * 2**level
                furthest = max(t - start, end - t) * 32 / n_clips
                assert found.positive[b, p].item() == (start < t < end and low <= furthest <= high)
                assert found.distances[b, p].tolist() == pytest.approx([t - start, end - t])
                p += 1


def test_positive_locations_give_the_moment_back():
    locations = pyramid_locations(32)
    moments = 32 * torch.rand(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).sort().values
    targets = dense_targets(moments, locations)
    segments = segments_at(targets.distances, locations.at)
    torch.testing.assert_close(segments, moments[:, None].expand_as(segments))


def test_a_moment_that_is_not_shown_has_no_positive_location():
    assert not dense_targets(torch.full((1, 2), torch.nan), pyramid_locations(8)).positive.any()


@pytest.mark.parametrize(
    ("dataset", "split", "without", "by_level"),
    [
        ("charades-cd", "train", 0.0, [3.49, 2.30, 0.16]),
        ("charades-cd", "test-iid", 0.0, [3.49, 2.30, 0.14]),
        ("charades-cd", "test-ood", 0.0, [1.99, 2.93, 0.56]),
        ("activitynet-cd", "test-iid", 2.96, [1.73, 1.57, 1.66]),
        ("activitynet-cd", "test-ood", 2.84, [2.80, 1.44, 0.15]),
    ],
)
def test_positive_locations_a_query(dataset, split, without, by_level, data_dir):
    """The table of the specification, section 9: per cent of queries without one, and means by level."""
    annotations = load_annotations(dataset, split, data_dir=data_dir)
    shares = torch.from_numpy(moment_shares(annotations)[usable(annotations)]).double()
    positive = dense_targets(32 * shares, pyramid_locations(32)).positive
    assert [positive[:, level].sum(dim=1).double().mean().item() for level in LEVELS] == pytest.approx(
        by_level, abs=0.005
    )
    assert 100 * (~positive.any(dim=1)).double().mean().item() == pytest.approx(without, abs=0.005)
