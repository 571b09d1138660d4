"""What a split promises: kept on a good one, and seen to be broken on one that was spoiled."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.errors import UsageError
from truemoment.data.datasets.resplit_folder import ASIDE, SPLITS
from truemoment.studies.bias.guarantees import FEWEST_VIDEOS, inspect_split
from truemoment.studies.bias.shifts import LocationShift, WordShift
from truemoment.studies.bias.splitting import Plan, resplit
from truemoment.worlds import make_world

pytestmark = pytest.mark.slow


BY_LOCATION = ("no-shared-video", "every-query-once", "fractions", "iid-alike", "ood-differs")


def whole(n_videos=700, seed=0):
    world = make_world(n_videos, location_prior=0.8, seed=seed)
    return Annotations.joined([world.splits[name] for name in ("train", "val", "test-iid")])


def inspected(found, permutations=199):
    return inspect_split(found, np.random.default_rng(0), permutations=permutations)


def promise(found, name):
    return next(one for one in inspected(found).promises if one.name == name)


@pytest.fixture(scope="module")
def good():
    """Give a split by location."""
    return resplit(whole(), np.random.default_rng(0))


@pytest.fixture(scope="module")
def looked_at(good):
    return inspected(good)


@pytest.fixture(scope="module")
def worded():
    """Give a split by location and new words."""
    plan = Plan(ood=0.05, shifts=(LocationShift(), WordShift()))
    return resplit(rare_words(), np.random.default_rng(0), plan)


def rare_words():
    """The world, with a noun in each sentence that a few videos alone use."""
    of = whole(300)
    nouns = ("apple", "basket", "candle", "drum", "eagle", "fork", "guitar", "hammer", "iron", "jacket", "kettle")
    nouns += ("lamp", "mirror", "needle", "orange", "pencil")
    number = {video: at for at, video in enumerate(sorted(set(of.video_id)))}
    sentence = [
        f"A man holds the {nouns[number[v] % len(nouns)]}." if number[v] < 160 else "He runs." for v in of.video_id
    ]
    return replace(of, sentence=sentence)


def spoiled(found, **members):
    return replace(found, members={**found.members, **members})


def moved(found, rows, to):
    """Put queries into another split."""
    taken = np.zeros(found.annotations.n_queries, dtype=bool)
    taken[rows] = True
    return replace(found, members={name: (of & ~taken) | (taken & (name == to)) for name, of in found.members.items()})


def test_a_good_split_keeps_all_its_promises(good, looked_at):
    assert {one.name: one.is_kept for one in looked_at.promises} == dict.fromkeys(BY_LOCATION, True)
    assert set(looked_at.distances) == {(a, b) for at, a in enumerate(SPLITS) for b in SPLITS[at + 1 :]}
    of = looked_at.distances["train", "test-ood"]
    assert (of.n_a, of.n_b) == tuple(good.part(name).n_queries for name in ("train", "test-ood"))  # one moment each
    findings = {one.name: one.finding for one in looked_at.promises}
    assert findings["every-query-once"] == f"Each of {good.annotations.n_queries:,} queries is in one split."
    for name, planned in zip(SPLITS, (70, 5, 5, 20), strict=True):
        share = 100 * good.part(name).n_queries / good.annotations.n_queries
        assert f"{name} {share:.1f} % (planned {planned} %)" in findings["fractions"]


def test_the_same_seed_gives_the_same_inspection(good, looked_at):
    again = inspected(good)
    assert again.promises == looked_at.promises
    assert again.warnings == looked_at.warnings


def test_a_shared_video_is_seen(good):
    # One query of a video of train that has several goes to test-iid.
    queries, train = good.annotations.queries, good.members["train"]
    sizes = Counter(queries.video_id[train])
    row = next(at for at in np.flatnonzero(train) if sizes[queries.video_id[at]] > 1)
    found = promise(moved(good, [row], "test-iid"), "no-shared-video")
    assert found.is_kept is False
    assert found.finding == "1 video is in two splits."


def test_a_query_in_two_splits_or_in_none_is_seen(good):
    first, second = np.flatnonzero(good.members["train"])[:2]
    val, train = good.members["val"].copy(), good.members["train"].copy()
    val[first], train[second] = True, False
    found = promise(spoiled(good, val=val, train=train), "every-query-once")
    assert found.is_kept is False
    assert found.finding == "2 queries are not in one split."


def test_another_share_than_asked_for_is_seen(good):
    # 2 % are allowed: 200 of the 20 %'s queries to test-iid are more.
    ood = np.flatnonzero(good.members["test-ood"])
    n_allowed = int(0.02 * good.annotations.n_queries)
    n_over = int(good.members["test-iid"].sum() - 0.05 * good.annotations.n_queries)
    assert promise(moved(good, ood[: n_allowed - n_over - 1], "test-iid"), "fractions").is_kept is True
    assert promise(moved(good, ood[: n_allowed + 2], "test-iid"), "fractions").is_kept is False


def test_test_iid_that_lies_elsewhere_is_seen(good):
    swapped = spoiled(good, **{"test-iid": good.members["test-ood"], "test-ood": good.members["test-iid"]})
    found = promise(swapped, "iid-alike")
    assert found.is_kept is False
    assert "train and test-iid" in found.finding
    assert "train and val" not in found.finding


def test_a_random_test_ood_is_seen(good):
    # Whole videos dealt anew in place of those that lie elsewhere.
    video = good.annotations.queries.video_id
    names = np.random.default_rng(5).permutation(sorted(set(video)))
    ood = np.isin(video.astype(str), names[: len(names) // 5])
    rest = {name: good.members[name] & ~ood for name in ("val", "test-iid")}
    train = ~ood & ~rest["val"] & ~rest["test-iid"]
    found = promise(spoiled(good, **rest, **{"train": train, "test-ood": ood}), "ood-differs")
    assert found.is_kept is False
    assert found.finding.startswith("Moments of test-ood are not shown to differ from those of train")


def test_with_few_videos_it_cannot_be_told():
    found = resplit(whole(60), np.random.default_rng(0))
    assert found.part("val").n_videos < FEWEST_VIDEOS
    alike = promise(found, "iid-alike")
    assert alike.is_kept is None
    assert f"{found.part('val').n_videos} videos in val" in alike.finding
    # One video of train in place of test-ood: too few to say that it does not differ.
    lone = found.part("train").video_id[0]
    ood = found.annotations.queries.video_id == lone
    train = ~ood & ~found.members["val"] & ~found.members["test-iid"]
    assert promise(spoiled(found, **{"train": train, "test-ood": ood}), "ood-differs").is_kept is None


def test_without_moments_there_is_nothing_to_compare(good):
    of = good.annotations
    ood = np.repeat(good.members["test-ood"], np.diff(of.offsets))
    without = replace(of, start_s=np.where(ood, math.nan, of.start_s), end_s=np.where(ood, math.nan, of.end_s))
    looked = inspected(replace(good, annotations=without), permutations=9)
    assert {one.name: one.is_kept for one in looked.promises}["ood-differs"] is None
    assert looked.distances["train", "test-ood"] is None


# --------------------------------------------------------------------------------------------------- new words


def test_new_words_are_promised_and_kept(worded):
    looked = inspected(worded, permutations=99)
    kept = {one.name: one.is_kept for one in looked.promises}
    assert list(kept) == [*BY_LOCATION, "new-words"]
    assert kept["new-words"] is True
    assert kept["every-query-once"] is True
    aside = int(worded.members[ASIDE].sum())
    assert f"put aside ({aside:,})" in promise(worded, "every-query-once").finding
    share = 100 * aside / worded.annotations.n_queries
    assert looked.warnings[0].startswith(f"{share:.0f} % of the queries are put aside, in no split; train has ")


def test_by_words_alone_nothing_is_promised_of_locations():
    found = resplit(rare_words(), np.random.default_rng(0), Plan(ood=0.1, shifts=(WordShift(),)))
    assert [one.name for one in inspected(found, 9).promises] == [*BY_LOCATION[:4], "new-words"]


def test_a_new_word_that_leaks_is_seen(worded):
    # A query of test-ood's words that was put aside comes back into train.
    holds = [not set(worded.terms).isdisjoint(terms) for terms in worded.ranking.terms]
    row = np.flatnonzero(worded.members[ASIDE] & holds)[0]
    found = promise(moved(worded, [row], "train"), "new-words")
    assert found.is_kept is False
    assert found.finding == "0 queries of test-ood have none of the new words; 1 of other splits has one."


def test_a_query_of_test_ood_without_a_new_word_is_seen(worded):
    row = np.flatnonzero(worded.members["train"])[0]
    found = promise(moved(worded, [row], "test-ood"), "new-words")
    assert found.is_kept is False
    assert found.finding == "1 query of test-ood has none of the new words; 0 of other splits have one."


def test_a_new_composition_of_a_word_that_training_lost_is_seen():
    of, number = whole(300), {}
    pairs = [(verb, noun) for verb in ("holds", "washes", "opens", "throws") for noun in ("lamp", "box", "cup", "door")]
    pairs += [(verb, noun) for verb in ("holds", "washes", "opens", "throws") for noun in ("bag", "towel", "shoe")]
    for video in of.video_id:
        number.setdefault(video, len(number))
    sentence = ["A man {} the {}.".format(*pairs[number[video] % len(pairs)]) for video in of.video_id]
    plan = Plan(ood=0.1, shifts=(WordShift("compositions"),))
    found = resplit(replace(of, sentence=sentence), np.random.default_rng(0), plan)
    kept = promise(found, "new-words")
    assert kept.is_kept is True
    assert kept.finding.endswith("; both words of the composition occur there in other compositions.")
    ood = np.flatnonzero(found.members["test-ood"])
    noun = found.ranking.terms[ood[0]][0].split()[1]
    says = np.array([any(term.endswith(noun) for term in terms) for terms in found.ranking.terms])
    lost = promise(moved(found, says & ~found.members["test-ood"], ASIDE), "new-words")
    assert lost.is_kept is False
    n_lost = int(says[ood].sum())
    assert (
        lost.finding
        == f"{n_lost:,} queries of test-ood have only new compositions of words that no other split composes."
    )


# ------------------------------------------------------------------------------------------------ by the way


def test_what_is_being_done_is_told(good):
    told = []
    inspect_split(good, np.random.default_rng(0), permutations=1, on_status=told.append)
    assert told == [f"distance between {a} and {b}" for at, a in enumerate(SPLITS) for b in SPLITS[at + 1 :]]


def test_no_permutation_is_refused(good):
    with pytest.raises(UsageError, match="permutations"):
        inspected(good, permutations=0)
