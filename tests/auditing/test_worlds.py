"""What the audit says where the truth is known: in built-in worlds (issue: floors and the audit)."""

import numpy as np
import pytest

from truemoment.baselines.floors import remeasured
from truemoment.studies.audit.checks import iid_ood_gap, shortcut_share
from truemoment.studies.audit.checks.changed_videos import shuffled_control

from ..thorough import quick_are

pytestmark = pytest.mark.slow


def finding(found, check):
    return next(f for f in found.findings if f.check == check)


@pytest.mark.parametrize("priors", quick_are(["both"], {"both": (0.4, 0.5), "of location": (1, 0)}))
def test_without_perception_nothing_is_called_better_than_guessing(world_audit, priors):
    found = world_audit(location_prior=priors[0], query_prior=priors[1], perception=0, n_videos=300)
    verdict = finding(found, "better-than-guessing")
    assert verdict.verdict.startswith(("Not decided", "Worse than the strongest of the "))
    assert verdict.holds is False
    assert finding(found, "skill").holds is False


@pytest.mark.thorough
def test_one_that_guesses_better_than_every_floor_is_found_out_by_shuffled_videos(world_audit):
    """Where the verb gives the place away, the toy method guesses better than all floors without looking.

    The words promise no more than that; that it does not need the right video is what the controls find.
    """
    found = world_audit(location_prior=0, query_prior=1, perception=0, shuffled=True)
    verdict = finding(found, "better-than-guessing")
    assert verdict.verdict.startswith(f"Better than the {len(found.results.floors)} blind baselines tried: ")
    assert finding(found, "uses-video").holds is False
    remaining = finding(found, "without-right-video")
    assert (remaining.level, remaining.holds) == ("serious", False)


@pytest.mark.parametrize("seed", quick_are([0], [0, 1]))
def test_out_of_distribution_a_method_that_guesses_is_not_taken_for_one_that_sees(world_audit, seed):
    """Floors that learned where moments usually are fall with the split; the others need not."""
    found = world_audit(location_prior=0.4, query_prior=0.5, perception=0, split="test-ood", n_videos=300, seed=seed)
    assert finding(found, "better-than-guessing").holds is not True


def test_a_method_that_sees_is_better(world_audit):
    found = world_audit(location_prior=0, query_prior=0, perception=0.9, shuffled=True, n_videos=450)
    verdict = finding(found, "better-than-guessing")
    assert verdict.verdict.startswith(f"Better than the {len(found.results.floors)} blind baselines tried: ")
    assert (verdict.level, verdict.holds) == ("good", True)
    assert finding(found, "skill").holds is True
    assert finding(found, "uses-video").holds is True
    assert finding(found, "shortcut-share").figure < 0.6
    assert finding(found, "excess-where-blind-misses").holds is True


@pytest.mark.thorough
def test_shortcut_share_falls_and_skill_rises_as_perception_rises(world_audit):
    """Monotone within noise: a step back stays inside the two intervals; from end to end it is certain."""
    shares, skills, of_shares, of_skills = [], [], [], []
    for perception in (0, 0.25, 0.5, 0.75, 1):
        results = world_audit(location_prior=0, query_prior=0, perception=perception).results
        m, share = results.headline, results.cached(shortcut_share.shares)
        shares.append(share.value[m])
        of_shares.append(share.ci95[m])
        skills.append(results.verdict.skill[m])
        of_skills.append(results.verdict.skill_ci95[m])
    for before, after in zip(range(4), range(1, 5), strict=True):
        assert shares[after] <= max(shares[before], of_shares[before][1])
        assert of_shares[after][0] <= shares[before]
        assert skills[after] >= of_skills[before][0]
    assert of_shares[-1][1] < of_shares[0][0]
    assert of_skills[-1][0] > of_skills[0][1]
    assert np.all(np.diff(shares) < 0.02)


@pytest.mark.thorough
def test_shortcut_share_rises_with_the_query_prior(world_audit):
    """The more the verb tells, the more of the score comes without the video."""
    without, with_it = (
        world_audit(location_prior=0, query_prior=query_prior, perception=0.75).results for query_prior in (0, 1)
    )
    assert without.cached(shortcut_share.shares).value[1] < with_it.cached(shortcut_share.shares).ci95[1, 0]


def test_shuffling_counts_for_a_method_that_sees(plain_audit):
    assert finding(plain_audit, "uses-video").holds is True
    assert plain_audit.results.cached(shuffled_control).fall.ci95[1, 0] > 0


def test_floors_fall_out_of_distribution(plain_audit):
    """The sentence network has more than twice its figure of test-ood on test-iid; the strongest floor has not."""
    results = plain_audit.results
    network = results.floor("sentence-network")
    (iid,) = remeasured([network], results.setup.iid[0])
    assert iid.scores.value("R@1,IoU=0.5") > 2 * network.scores.value("R@1,IoU=0.5")
    gap, m = results.cached(iid_ood_gap.gap), results.headline
    assert 0 < gap.floor_iid[m] < 2 * results.strongest_scores.value("R@1,IoU=0.5")
    assert "falls by" in finding(plain_audit, "iid-ood-gap").verdict
