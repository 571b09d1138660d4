"""Unique sentences: the pruned search against all pairs scored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import truemoment.studies.bias.uniqueness as module
from truemoment.data.language.meteor import meteor, split_words
from truemoment.studies.bias.uniqueness import uniqueness

WORDS = ("open", "opens", "opened", "door", "doors", "man", "men", "the", "a")


def all_pairs(videos, sentences, threshold):
    """Which sentences are unique, by the definition."""
    words = [split_words(sentence) for sentence in sentences]
    return [
        all(
            max(meteor(words[i], words[j]), meteor(words[j], words[i])) < threshold
            for j in range(len(words))
            if j != i and videos[i] == videos[j]
        )
        for i in range(len(words))
    ]


def near_duplicates(rng, n_videos=2):
    """Sentences that vary three others by some words."""
    base = [list(rng.choice(WORDS, rng.choice([0, 1, 2, 3, 5, 9, 14, 30]))) for _ in range(3)]
    videos, sentences = [], []
    for _ in range(int(rng.integers(0, 12))):
        words = list(base[rng.integers(3)])
        for _ in range(int(rng.choice([0, 0, 1, 1, 2, 4]))):
            at = int(rng.integers(len(words) + 1))
            kind = rng.integers(3)
            if kind == 0:
                words.insert(at, str(rng.choice(WORDS)))
            elif kind == 1:
                words[at : at + 1] = []
            else:
                words[at : at + 2] = words[at : at + 2][::-1]
        videos.append(f"v{rng.integers(n_videos)}")
        sentences.append(str(rng.choice(["{}", " {}.", "{} !"])).format(" ".join(words).capitalize()))
    return videos, sentences


@given(st.integers(0, 2**32 - 1), st.sampled_from([(0.99, 0.9), (0.9375,), (1.0, 0.8), (0.5, 0.3), (0.01,)]))
def test_as_all_pairs_scored(seed, thresholds):
    # 0.9375 is the very score of two equal sentences of two words, 1 is never reached.
    videos, sentences = near_duplicates(np.random.default_rng(seed))
    for found in uniqueness(videos, sentences, thresholds):
        assert found.is_unique.tolist() == all_pairs(videos, sentences, found.threshold)
        assert found.n_unique == sum(found.is_unique)
        assert found.pairs_scored <= found.pairs


def test_many_near_duplicates_are_found():
    # The property above is true of a world without any: here a third are not unique, and many of them not verbatim.
    counts = np.zeros(3, dtype=int)
    for seed in range(60):
        _, found = uniqueness(*near_duplicates(np.random.default_rng(seed)), (0.99, 0.8))
        not_unique = found.n_sentences - found.n_unique
        counts += [found.n_sentences, not_unique, not_unique - found.n_verbatim]
    assert counts[1] > counts[0] / 3
    assert counts[2] > 20


def test_small_blocks_give_the_same(monkeypatch):
    videos, sentences = zip(
        *(pair for s in range(20) for pair in zip(*near_duplicates(np.random.default_rng(s)), strict=True)), strict=True
    )
    whole = uniqueness(videos, sentences, (0.9, 0.5))
    monkeypatch.setattr(module, "BLOCK", 3)
    for a, b in zip(whole, uniqueness(videos, sentences, (0.9, 0.5)), strict=True):
        assert a.is_unique.tolist() == b.is_unique.tolist()
        assert (a.pairs, a.pairs_scored) == (b.pairs, b.pairs_scored)


@given(st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(seed, random):
    videos, sentences = near_duplicates(np.random.default_rng(seed))
    order = random.sample(range(len(videos)), len(videos))
    (found,) = uniqueness(videos, sentences, (0.9,))
    (shuffled,) = uniqueness([videos[i] for i in order], [sentences[i] for i in order], (0.9,))
    assert shuffled.is_unique.tolist() == [bool(found.is_unique[i]) for i in order]
    assert shuffled.n_verbatim == found.n_verbatim


@pytest.mark.parametrize(
    ("n_words", "unique"),
    # 1 - 0.5 / m^3: 0.5, 0.9375, 0.9815, 0.9922.
    [(1, (True, True)), (2, (True, False)), (3, (True, False)), (4, (False, False))],
)
def test_verbatim_repeats_of_few_words(n_words, unique):
    sentence = " ".join(["a", "man", "opens", "doors"][:n_words])
    for found, expected in zip(uniqueness(["v", "v"], [sentence, f"{sentence}."]), unique, strict=True):
        assert found.is_unique.tolist() == [expected] * 2
        assert found.n_verbatim == 2


def test_other_videos_do_not_count():
    found, _ = uniqueness(["v", "w"], ["a man opens the door"] * 2)
    assert (found.n_unique, found.share, found.pairs) == (2, 1.0, 0)


def test_either_direction_is_enough():
    # By hand, 10 of the 13 words aligned: (1 - 0.5 / 10^3) 10 / (0.9 10 + 0.1 13) is 0.9704, the other way 0.7869.
    short = "one two three four five six seven eight nine ten"
    for sentences in ([short, f"{short} red green blue"], [f"{short} red green blue", short]):
        for found, unique in zip(uniqueness(["v", "v"], sentences, (0.99, 0.971, 0.97)), (2, 2, 0), strict=True):
            assert found.n_unique == unique


def test_sentences_without_words():
    found, _ = uniqueness(["v"] * 4, ["", "", "🚪", "...\x00"])
    assert (found.n_unique, found.n_verbatim) == (4, 0)


def test_nothing():
    found, _ = uniqueness([], [])
    assert (found.n_sentences, found.n_unique, found.pairs) == (0, 0, 0)
    assert np.isnan(found.share)


def test_ten_thousand_words():
    long = "door opens " * 5000
    found, _ = uniqueness(["v"] * 3, [long, long + "again", "a door opens"])
    assert found.is_unique.tolist() == [False, False, True]
