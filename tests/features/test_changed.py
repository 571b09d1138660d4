"""Changed features: what each way leaves, and that nothing but seed and id decides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError, UsageError
from truemoment.media.features import CHANGES, ChangedFeatures, Features, FeatureStore, resample
from truemoment.media.features.changed import N_SEGMENTS


def numbered(**lengths):
    """Videos of which every row is unique."""
    tables, first = {}, 0
    for name, n in lengths.items():
        tables[name] = np.arange(first, first + n, dtype=np.float32)[:, None] * np.ones(2, dtype=np.float32)
        first += n
    return Features(tables, fps=2.0)


STORE = numbered(a=60, b=33, c=7, d=1, e=160)


@pytest.mark.parametrize("way", CHANGES)
def test_a_changed_store_is_a_store_with_the_same_times(way):
    changed = ChangedFeatures(STORE, way, seed=3)
    assert isinstance(changed, FeatureStore)
    assert (list(changed), len(changed), changed.n_dimensions, changed.fps) == (list(STORE), 5, 2, 2.0)
    assert "a" in changed
    assert "x" not in changed
    for name in STORE:
        assert changed[name].shape == STORE[name].shape
        assert changed[name].dtype == np.float32
        assert np.array_equal(changed.edges_s(name, 9.0), STORE.edges_s(name, 9.0))
    with pytest.raises(InputError, match="no features of video 'x'"):
        changed["x"]


def test_original_is_as_it_was():
    assert np.array_equal(ChangedFeatures(STORE, "original")["a"], STORE["a"])


def test_reversed_begins_with_the_last_row():
    rows = ChangedFeatures(STORE, "reversed")["c"]
    assert rows[:, 0].tolist() == STORE["c"][:, 0].tolist()[::-1]


def test_frozen_shows_the_middle_row():
    # The middle of 7 rows is row 3, that of 60 rows row 30.
    assert np.unique(ChangedFeatures(STORE, "frozen")["c"]).tolist() == [STORE["c"][3, 0]]
    assert np.unique(ChangedFeatures(STORE, "frozen")["a"]).tolist() == [STORE["a"][30, 0]]


@given(st.integers(1, 200), st.integers(0, 50))
def test_shuffled_moves_whole_segments(n, seed):
    rows = ChangedFeatures(numbered(v=n), "shuffled", seed)["v"][:, 0].astype(int).tolist()
    size = -(-n // N_SEGMENTS)
    segments = [list(range(k, min(k + size, n))) for k in range(0, n, size)]
    assert 1 <= len(segments) <= 16
    found = []
    while rows:  # what is left begins with a whole segment
        segment = next(one for one in segments if one[0] == rows[0])
        assert rows[: len(segment)] == segment
        found.append(segment)
        rows = rows[len(segment) :]
    assert sorted(found) == segments
    assert (found != segments) == (len(segments) > 1)


@pytest.mark.parametrize("seed", range(5))
def test_another_video_is_never_the_same_one(seed):
    changed = ChangedFeatures(STORE, "other-video", seed)
    for name in STORE:
        other = changed.other_than(name)
        assert other in STORE
        assert other != name
        assert np.array_equal(changed[name], resample(STORE[other], len(STORE[name])))


def test_every_other_video_is_chosen_as_often():
    # 600 draws among 4 others: 150 each, standard deviation sqrt(600 * 1/4 * 3/4) = 10.6.
    drawn = [ChangedFeatures(STORE, "other-video", seed).other_than("c") for seed in range(600)]
    assert set(drawn) == {"a", "b", "d", "e"}
    assert all(abs(drawn.count(name) - 150) < 50 for name in "abde")


def test_a_video_that_goes_by_two_names_is_not_its_own_other():
    store = numbered(v_abc=3, abc=4, other=5)
    for seed in range(20):
        assert ChangedFeatures(store, "other-video", seed).other_than("abc") == "other"
        assert ChangedFeatures(store, "other-video", seed).other_than("v_abc.mp4") == "other"


def test_without_another_video_it_is_refused():
    with pytest.raises(InputError, match="there is no other video than 'v'"):
        ChangedFeatures(numbered(v=3), "other-video")["v"]


@pytest.mark.parametrize("way", ["shuffled", "other-video"])
def test_seed_and_id_decide_and_nothing_else(way):
    backwards = Features({name: STORE[name] for name in reversed(list(STORE))}, fps=2.0)
    one, again, other = (ChangedFeatures(of, way, seed) for of, seed in ((STORE, 1), (backwards, 1), (STORE, 2)))
    again["e"]  # asking for one video changes nothing for another
    assert all(np.array_equal(one[name], again[name]) for name in STORE)
    assert any(not np.array_equal(one[name], other[name]) for name in STORE)


def test_two_videos_of_one_length_are_shuffled_otherwise():
    changed = ChangedFeatures(numbered(a=64, b=64), "shuffled", 0)
    assert not np.array_equal(changed["a"], changed["b"] - 64)


def test_names_tell_the_way_and_the_seed_where_one_matters():
    names = [ChangedFeatures(STORE, way, 7).name for way in CHANGES]
    assert names == [
        "memory",
        "memory (shuffled, seed=7)",
        "memory (reversed)",
        "memory (frozen)",
        "memory (other-video, seed=7)",
    ]


@pytest.mark.parametrize(
    ("way", "seed", "said"), [("upside-down", 0, "expected one of original"), ("frozen", -1, "seed")]
)
def test_what_is_unknown_is_refused(way, seed, said):
    with pytest.raises(UsageError, match=said):
        ChangedFeatures(STORE, way, seed)
