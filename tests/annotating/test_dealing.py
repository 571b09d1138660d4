"""Queries are dealt evenly, and each person's order keeps videos apart."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.web.annotating.controls import absent_pairs, content_words, moved_moment, with_controls
from truemoment.web.annotating.dealing import deal, forced_repeats, order
from truemoment.web.annotating.study import ControlShares


@st.composite
def deals(draw):
    people = draw(st.integers(1, 12))
    per_query = draw(st.integers(1, people))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=40))
    return np.repeat(np.arange(len(sizes)), sizes), people, per_query, draw(st.integers(0, 1 << 30))


@given(deals())
def test_each_query_goes_to_different_people_and_loads_are_even(case):
    video, people, per_query, seed = case
    dealt = deal(video, people, per_query, np.random.default_rng(seed))
    assert dealt.shape == (len(video), per_query)
    assert all(len(set(row)) == per_query for row in dealt.tolist())
    load = np.bincount(dealt.ravel(), minlength=people)
    assert load.max() - load.min() <= 4
    assert (dealt == deal(video, people, per_query, np.random.default_rng(seed))).all()


def repeats(video, dealt, people):
    count = np.zeros((int(video.max()) + 1, people), int)
    for query, chosen in enumerate(dealt):
        count[video[query], chosen] += 1
    return int(np.maximum(0, count - 1).sum())


def test_repeats_of_a_video_are_at_the_arithmetic_minimum():
    rng = np.random.default_rng(1)
    video = np.repeat(np.arange(300), rng.integers(1, 8, 300))  # up to 7 queries a video, 4 answers, 12 people
    dealt = deal(video, 12, 4, np.random.default_rng(0))
    assert forced_repeats(video, 12, 4) > 0
    assert repeats(video, dealt, 12) == forced_repeats(video, 12, 4)


def test_the_test_split_of_charades_sta_is_dealt_evenly(data_dir):
    from truemoment.base.records import numbers_of
    from truemoment.data.datasets import load_annotations

    queries = load_annotations("charades-sta", "test", data_dir=data_dir).queries
    video = numbers_of(queries.video_id)
    start = time.process_time()
    dealt = deal(video, 20, 5, np.random.default_rng(0))
    assert time.process_time() - start < 2.0  # the specification's limit; about half of it here
    assert len(video) == 3720
    load = np.bincount(dealt.ravel())
    assert load.max() - load.min() <= 4
    assert repeats(video, dealt, 20) == forced_repeats(video, 20, 5) == 2220  # the specification's figure
    met = np.zeros((20, 20), int)
    for chosen in dealt:
        met[np.ix_(chosen, chosen)] += 1
    pairs = met[np.triu_indices(20, 1)]
    assert pairs.min() >= 190
    assert pairs.max() <= 202  # even would be 3720 * 10 / 190 = 195.8


@given(st.lists(st.integers(1, 4), min_size=1, max_size=60), st.integers(0, 1 << 30))
def test_an_order_has_every_query_once(sizes, seed):
    video = np.repeat(np.arange(len(sizes)), sizes)
    for apart in (True, False):
        assert sorted(order(video, np.random.default_rng(seed), spread=apart)) == list(range(len(video)))


def test_queries_of_a_video_stand_apart():
    video = np.repeat(np.arange(60), 3)  # 180 tasks, thirds are 60 apart
    ordered = video[order(video, np.random.default_rng(0), spread=True)]
    places = [np.flatnonzero(ordered == number) for number in range(60)]
    assert min(np.diff(of).min() for of in places) >= 20


def test_controls_stand_at_seeded_places():
    queries = list(range(200))
    pools = {"gold": [1000 + k for k in range(30)], "absent": [2000 + k for k in range(30)]}
    shares = ControlShares(gold=0.05, repeat=0.02, absent=0.03)
    tasks = with_controls(queries, pools, shares, np.random.default_rng(0))
    kinds = [task.control for task in tasks]
    assert {kind: kinds.count(kind) for kind in ("gold", "repeat", "absent")} == {"gold": 10, "repeat": 4, "absent": 6}
    assert [task.query for task in tasks if not task.control] == queries
    first = {task.query: at for at, task in enumerate(tasks) if not task.control}
    assert all(at - first[task.query] >= 30 for at, task in enumerate(tasks) if task.control == "repeat")
    assert tasks == with_controls(queries, pools, shares, np.random.default_rng(0))
    assert tasks != with_controls(queries, pools, shares, np.random.default_rng(1))


def test_absent_sentences_share_no_content_word():
    sentences = {0: ["a person opens the door"], 1: ["she drinks coffee", "he opened a window"], 2: ["doors close"]}
    found = absent_pairs(sentences, 20, np.random.default_rng(0))
    assert found
    for video, sentence in found:
        assert not any(content_words(sentence) & content_words(own) for own in sentences[video])
        assert sentence not in sentences[video]


@given(st.floats(0, 20), st.floats(0.5, 20), st.integers(0, 1 << 30))
def test_a_moved_moment_does_not_overlap(start, length, seed):
    end, duration = start + length, 30.0
    found = moved_moment(start, min(end, duration), duration, np.random.default_rng(seed))
    if found is None:
        assert start < length - 1e-6 or end >= duration or start + 2 * length > duration - 1e-6
    else:
        low, high = found
        assert high - low == pytest.approx(min(end, duration) - start)
        assert -1e-9 <= low <= high <= duration + 1e-9
        assert high <= start + 1e-9 or low >= min(end, duration) - 1e-9
