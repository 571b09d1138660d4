"""What the audit says where the truth is known: in built-in worlds (issue: floors and the audit)."""

import numpy as np
import pytest


def finding(found, check):
    return next(f for f in found.findings if f.check == check)


def test_query_prior_without_perception_is_a_guesser(world_audit):
    found = world_audit(location_prior=0.5, query_prior=1, perception=0, shuffled=True)
    verdict = finding(found, "better-than-guessing")
    assert verdict.verdict.startswith("A guesser")
    assert verdict.level == "serious"
    assert verdict.holds is False
    assert finding(found, "uses-video").holds is False


@pytest.mark.parametrize(("location_prior", "query_prior"), [(0, 1), (0.5, 1), (1, 1), (0.5, 0.5), (1, 0)])
def test_without_perception_nothing_is_called_better_than_guessing(world_audit, location_prior, query_prior):
    """Even where the toy method guesses better than every floor, which only shuffled videos can show for certain."""
    found = world_audit(location_prior=location_prior, query_prior=query_prior, perception=0)
    verdict = finding(found, "better-than-guessing")
    assert verdict.verdict.startswith(("A guesser", "Mostly a guesser", "Worse than guessing"))
    assert verdict.holds is False


@pytest.mark.parametrize("seed", range(4))
def test_out_of_distribution_a_guesser_is_not_taken_for_a_method_that_sees(world_audit, seed):
    """The floor to beat falls with the split; the others need not."""
    found = world_audit(location_prior=0.4, query_prior=0.5, perception=0, split="test-ood", n_videos=400, seed=seed)
    assert finding(found, "better-than-guessing").holds is not True


def test_no_priors_and_good_perception_is_no_guesser(world_audit):
    found = world_audit(location_prior=0, query_prior=0, perception=0.9, shuffled=True)
    verdict = finding(found, "better-than-guessing")
    assert verdict.verdict.startswith("Better than guessing: ")
    assert verdict.level == "good"
    assert finding(found, "uses-video").holds is True
    assert finding(found, "shortcut-share").figure < 0.6


def test_shortcut_share_falls_as_perception_rises(world_audit):
    """Monotone within noise: a step up stays inside the two intervals; from end to end it falls for certain."""
    shares, intervals = [], []
    for perception in (0, 0.25, 0.5, 0.75, 1):
        material = world_audit(location_prior=0, query_prior=0, perception=perception).material
        shares.append(material.shortcut[material.case.headline])
        intervals.append(material.shortcut_ci95[material.case.headline])
    for before, after in zip(range(4), range(1, 5), strict=True):
        assert shares[after] <= max(shares[before], intervals[before][1])
        assert intervals[after][0] <= shares[before]
    assert intervals[-1][1] < intervals[0][0]
    assert np.all(np.diff(shares) < 0.02)


def test_shortcut_share_rises_with_the_query_prior(world_audit):
    """The more the verb tells, the more of the score comes without the video."""
    shares = [
        world_audit(location_prior=0, query_prior=query_prior, perception=0.75).material.shortcut[1]
        for query_prior in (0, 0.5, 1)
    ]
    assert shares == sorted(shares)


def test_shuffling_counts_for_a_method_that_sees(plain_audit):
    verdict = finding(plain_audit, "uses-video")
    assert verdict.holds is True
    assert plain_audit.material.shuffled.fall.ci95[1, 0] > 0


def test_a_blind_floor_falls_out_of_distribution(plain_audit):
    gap = plain_audit.material.gap
    m = plain_audit.material.case.headline
    assert gap.floor_iid[m] > 2 * plain_audit.material.floor_scores.value("R@1,IoU=0.5")
    assert "falls by" in finding(plain_audit, "iid-ood-gap").verdict
