"""Whole worlds: sizes, splits, references, annotators, and what each dial leaves alone."""

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.base.records import Annotations
from truemoment.worlds import World, WorldSettings, make_world
from truemoment.worlds.grammar import ACTIONS, OBJECTS
from truemoment.worlds.world import SPLITS, videos_by_split

dials = st.floats(0, 1)


def joined(world: World) -> Annotations:
    """All splits, one behind the other."""
    rows = [
        row
        for part in world.splits.values()
        for row in zip(
            part.query_id, part.video_id, part.duration_s, part.sentence, part.start_s, part.end_s, strict=True
        )
    ]
    return Annotations.from_rows(rows)


def same_features(one: World, other: World) -> bool:
    return list(one.features) == list(other.features) and all(
        np.array_equal(one.features[video_id], other.features[video_id]) for video_id in one.features
    )


def same_events(one: World, other: World, *names: str) -> bool:
    return all(np.array_equal(getattr(one.events, name), getattr(other.events, name)) for name in names)


@given(
    st.fixed_dictionaries(
        {
            "n_videos": st.integers(1, 12),
            "location_prior": dials,
            "query_prior": dials,
            "perception": dials,
            "n_annotators": st.integers(1, 4),
            "annotator_noise": dials,
            "fps": st.sampled_from([0.5, 2, 3.7]),
            "seed": st.integers(0, 2**32),
        }
    )
)
def test_invariants(asked_for):
    world = make_world(**asked_for)
    n_videos, n_annotators, fps = (asked_for[name] for name in ("n_videos", "n_annotators", "fps"))
    assert list(world.splits) == ["train", "val", "test-iid", "test-ood"]
    everything = joined(world)
    assert sorted(set(everything.video_id)) == sorted(world.video_ids)
    assert sum(part.n_videos for part in world.splits.values()) == n_videos  # no video in two splits
    for name, part in world.splits.items():
        assert (part.dataset, part.split) == ("world", name)
        assert len(part) == part.n_queries  # one reference a query
        assert np.all((part.start_s >= 0) & (part.start_s < part.end_s) & (part.end_s <= part.duration_s))
        assert np.all((part.duration_s >= 20) & (part.duration_s <= 120))
        assert all(re.fullmatch(r"world\d{5}#\d", query_id) for query_id in part.query_id)
    events, asked = world.events, world.events.queried
    assert everything.start_s.tolist() == events.start_s[asked].tolist()
    assert everything.end_s.tolist() == events.end_s[asked].tolist()
    assert everything.video_id.tolist() == [world.video_ids[number] for number in events.video[asked]]
    for sentence, action, thing in zip(everything.sentence, events.action[asked], events.thing[asked], strict=True):
        verbs = {form for verb in ACTIONS[action].verbs for form in (verb.base, verb.third, verb.gerund)}
        assert verbs & set(sentence[:-1].split())
        assert OBJECTS[thing] in sentence
    duration_of = dict(zip(everything.video_id, everything.duration_s, strict=True))
    assert set(world.features) == set(world.video_ids)
    for video_id in world.features:
        frames = world.features[video_id]
        assert frames.dtype == np.float32
        assert frames.shape[1] == 32
        assert len(frames) - 1 < duration_of[video_id] * fps + 1e-6
        assert duration_of[video_id] * fps <= len(frames) + 1e-6
    for name, marked in world.humans.items():
        part = world.splits[name]
        assert marked.queries.query_id.tolist() == part.query_id.tolist()
        assert marked.annotator.tolist() == [f"annotator-{k + 1}" for k in range(n_annotators)] * len(part)
        assert np.all((marked.start_s >= 0) & (marked.start_s < marked.end_s) & (marked.end_s <= marked.duration_s))
    assert set(world.humans) == {"test-iid", "test-ood"}


def test_same_seed_same_world():
    one, other = (make_world(30, n_annotators=2, seed=5) for _ in range(2))
    assert [one.splits[name].sha256 for name in SPLITS] == [other.splits[name].sha256 for name in SPLITS]
    assert [part.sha256 for part in one.humans.values()] == [part.sha256 for part in other.humans.values()]
    assert same_features(one, other)
    assert one.settings == other.settings
    third = make_world(30, n_annotators=2, seed=6)
    assert third.splits["train"].sha256 != one.splits["train"].sha256
    assert not same_features(one, third)


def test_a_dial_changes_what_it_is_about_and_nothing_else():
    base = make_world(30, seed=1)
    unseen = make_world(30, seed=1, perception=0.1)
    assert [unseen.splits[name].sha256 for name in SPLITS] == [base.splits[name].sha256 for name in SPLITS]
    assert not same_features(unseen, base)
    for changed in (make_world(30, seed=1, location_prior=0.9), make_world(30, seed=1, query_prior=0.9)):
        assert same_events(changed, base, "video", "action", "thing", "queried")
        assert not same_events(changed, base, "start_s")
        one, other = joined(changed), joined(base)
        assert one.sentence.tolist() == other.sentence.tolist()
        assert one.duration_s.tolist() == other.duration_s.tolist()
    more = make_world(30, seed=1, n_annotators=3, annotator_noise=0.2)
    assert [more.splits[name].sha256 for name in SPLITS] == [base.splits[name].sha256 for name in SPLITS]
    assert same_features(more, base)


def test_without_priors_the_ood_split_is_like_the_others():
    # Nothing to shift: mean start, end and their spread agree within four standard errors.
    world = make_world(2000, location_prior=0.0, query_prior=0.0, fps=0.1, n_dimensions=1)
    means = {}
    for name in ("test-iid", "test-ood"):
        part = world.splits[name]
        means[name] = np.stack([part.start_s / part.duration_s, part.end_s / part.duration_s], axis=1)
    one, other = means["test-iid"], means["test-ood"]
    error = np.sqrt(one.var(axis=0) / len(one) + other.var(axis=0) / len(other))
    assert np.all(np.abs(one.mean(axis=0) - other.mean(axis=0)) < 4 * error)


def test_the_ood_split_shifts_both_priors():
    clumped = make_world(200, location_prior=1.0, query_prior=0.0, fps=0.1, n_dimensions=1).splits
    assert np.max(clumped["test-iid"].end_s / clumped["test-iid"].duration_s) < 0.46  # 0.2 + 0.25, rounded times
    assert np.min(clumped["test-ood"].start_s / clumped["test-ood"].duration_s) > 0.54
    told = make_world(2000, location_prior=0.0, query_prior=1.0, fps=0.1, n_dimensions=1)
    action = told.events.action[told.events.queried]
    everything = joined(told)
    first_ood = told.splits["train"].n_queries + told.splits["val"].n_queries + told.splits["test-iid"].n_queries
    start, end = everything.start_s / everything.duration_s, everything.end_s / everything.duration_s
    for number in range(len(ACTIONS)):
        here, there = action[:first_ood] == number, action[first_ood:] == number
        where = [np.median(column[:first_ood][here]) for column in (start, end)]
        moved_to = [np.median(column[first_ood:][there]) for column in (start, end)]
        assert np.linalg.norm(np.subtract(where, moved_to)) > 0.15


def test_events_overlap_and_several_happen_at_once():
    world = make_world(100, location_prior=0.0, query_prior=0.0, fps=0.1, n_dimensions=1)
    events = world.events
    overlapping = 0
    for number in range(100):
        rows = np.flatnonzero(events.video == number)
        iou = temporal_iou(
            events.start_s[rows, None], events.end_s[rows, None], events.start_s[rows], events.end_s[rows]
        )
        overlapping += np.any(np.triu(iou, k=1) > 0)
    assert overlapping > 90


def test_annotators_noise_is_as_stated():
    world = make_world(600, n_annotators=5, annotator_noise=0.1, fps=0.1, n_dimensions=1, location_prior=0.2)
    part, marked = world.splits["test-iid"], world.humans["test-iid"]
    rows = np.repeat(np.arange(len(part)), 5)
    length = (part.end_s - part.start_s)[rows]
    for name in ("start_s", "end_s"):
        true, drawn = getattr(part, name)[rows], getattr(marked, name)
        free = (true > length * 0.45 + 0.01) & (true < part.duration_s[rows] - length * 0.45 - 0.01)  # none is clipped
        shift = ((drawn - true) / length)[free]
        assert abs(shift.mean()) < 4 * 0.1 / np.sqrt(len(shift))
        assert abs(shift.std() - 0.1) < 4 * 0.1 / np.sqrt(2 * len(shift)) + 0.002  # times are rounded to 0.01 s
        # Annotators err on their own: shifts of two of them do not go together.
        pair = (((drawn - true) / length).reshape(-1, 5)[:, :2])[free.reshape(-1, 5)[:, 0]]
        assert abs(np.corrcoef(pair.T)[0, 1]) < 4 / np.sqrt(len(pair))
    still = make_world(20, n_annotators=2, annotator_noise=0.0)
    assert still.humans["test-iid"].start_s[::2].tolist() == still.splits["test-iid"].start_s.tolist()
    wild = make_world(100, n_annotators=5, annotator_noise=1.0).humans["test-iid"]
    assert np.all(wild.end_s > wild.start_s)


@given(st.integers(1, 50_000))
def test_sizes_of_the_splits(n_videos):
    counts = videos_by_split(n_videos)
    assert counts.sum() == n_videos
    assert counts[0] >= 1
    if n_videos >= 4:
        assert counts.min() >= 1
    # Rounding moves a boundary by half a video, lending to an empty split by three more.
    assert np.abs(counts - n_videos * np.array(list(SPLITS.values()))).max() <= 4


def test_a_world_of_one_video():
    world = make_world(1)
    assert [part.n_videos for part in world.splits.values()] == [1, 0, 0, 0]
    assert [len(marked) for marked in world.humans.values()] == [0, 0]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"location_prior": 1.01}, "location_prior: got 1.01, expected a number from 0 to 1"),
        ({"query_prior": -0.1}, "query_prior: got -0.1, expected a number from 0 to 1"),
        ({"perception": float("nan")}, "perception: got nan, expected a number from 0 to 1"),
        ({"annotator_noise": 2}, "annotator_noise: got 2, expected a number from 0 to 1"),
        ({"n_videos": 0}, "n_videos: got 0, expected a whole number, 1 or more"),
        ({"n_videos": 2.5}, "n_videos: got 2.5, expected a whole number, 1 or more"),
        ({"n_annotators": 0}, "n_annotators: got 0, expected a whole number, 1 or more"),
        ({"n_dimensions": 0}, "n_dimensions: got 0, expected a whole number, 1 or more"),
        ({"seed": -1}, "seed: got -1, expected a whole number, 0 or more"),
        ({"fps": 0}, "fps: got 0, expected 0.1 to 100 frames a second"),
    ],
)
def test_refused_settings(changed, said):
    for make in (make_world, WorldSettings):
        with pytest.raises(UsageError) as caught:
            make(**changed)
        assert str(caught.value) == said


def test_settings_are_kept():
    world = make_world(4, location_prior=0.1, query_prior=0.2, perception=0.3, n_annotators=2, seed=9)
    assert world.settings == WorldSettings(4, 0.1, 0.2, 0.3, 2, seed=9)
    with pytest.raises(dataclasses.FrozenInstanceError):
        world.settings = None
    with pytest.raises(TypeError):
        world.splits["train"] = None
