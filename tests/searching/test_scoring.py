"""Scores of spans without pooling, against pooling each span (specs/clip_zero_shot.md, 3 and 9)."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from truemoment.base.errors import MissingPackageError
from truemoment.searching import scoring
from truemoment.searching.scoring import EPSILON, join_frames, span_norms, span_scores


def pooled(frames, sentences, first, end):
    """The published way, one span and one sentence at a time: mean of the frames, then the cosine."""
    norms, scores = [], []
    for a, b in zip(first.tolist(), end.tolist(), strict=True):
        mean = frames[a:b].astype(np.float64).mean(axis=0)
        norms.append(np.sqrt((mean**2).sum()))
        lengths = np.sqrt((sentences.astype(np.float64) ** 2).sum(axis=1))
        dots = [float((mean * sentence).sum()) for sentence in sentences.astype(np.float64)]
        scores.append([dot / max(norms[-1] * length, EPSILON) for dot, length in zip(dots, lengths, strict=True)])
    return np.array(norms), np.array(scores).T


def spans_of(rng, n_frames, n_spans):
    first = rng.integers(0, n_frames, n_spans)
    return first, first + 1 + (rng.random(n_spans) * (n_frames - first)).astype(np.int64)


def both(frames, sentences, first, end):
    norms = span_norms(frames, first, end)
    return norms, span_scores(frames, sentences, first, end, norms)


# ---- Against pooling


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("n_frames", "width"), [(1, 1), (7, 3), (400, 130), (2100, 140)])
def test_against_pooling(dtype, n_frames, width):
    # More frames, dimensions and spans than one block holds; all of one sign as well as mixed.
    rng = np.random.default_rng(n_frames)
    frames = (rng.normal(size=(n_frames, width)) + rng.normal(size=width)).astype(dtype)
    sentences = rng.normal(size=(5, width)).astype(dtype)
    first, end = spans_of(rng, n_frames, 2100 if n_frames > 1 else 1)
    expected = pooled(frames, sentences, first, end)
    for found, slow in zip(both(frames, sentences, first, end), expected, strict=True):
        assert found.dtype == np.float64
        assert np.abs(found - slow).max() < 1e-10


@settings(deadline=None)
@given(data=st.data(), exponent=st.integers(-15, 15))
def test_any_frames_against_pooling(data, exponent):
    # Zero vectors, repeated ones, opposite ones that cancel, and magnitudes up to the end of float32; 1e-5 is asked.
    width, n_frames = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 12))
    elements = st.one_of(
        st.just(0.0), st.integers(-3, 3), st.floats(-8, 8, width=16), st.sampled_from([1e15, -1e15, 1e-15])
    )
    frames = data.draw(arrays(np.float32, (n_frames, width), elements=elements)) * np.float32(10.0**exponent)
    sentences = data.draw(arrays(np.float32, (2, width), elements=elements))
    first, end = np.triu_indices(n_frames)
    norms, scores = both(frames, sentences, first, end + 1)
    slow_norms, slow_scores = pooled(frames, sentences, first, end + 1)
    assert np.all(np.isfinite(norms))
    assert np.all(np.isfinite(scores))
    # Where frames cancel but for rounding, pooling itself keeps only rounding: nothing to compare with.
    mass = np.array([np.abs(frames[a : b + 1].astype(float)).max() for a, b in zip(first, end, strict=True)])
    clear = (slow_norms > 1e-9 * mass) | (mass == 0)
    assert norms[clear] == pytest.approx(slow_norms[clear], rel=1e-5)
    assert np.abs(scores - slow_scores)[:, clear].max(initial=0) < 1e-5


@pytest.mark.parametrize("huge", [1e6, 1e12, 1e30, 3e38])
def test_a_huge_frame_spoils_only_its_own_spans(huge):
    # A difference of prefix sums loses whatever is small beside what came before; pooling does not.
    rng = np.random.default_rng(1)
    frames = rng.normal(size=(200, 16)).astype(np.float32)
    frames[50] = huge
    sentences = rng.normal(size=(3, 16)).astype(np.float32)
    first, end = spans_of(rng, 200, 500)
    norms, scores = both(frames, sentences, first, end)
    slow_norms, slow_scores = pooled(frames, sentences, first, end)
    assert norms == pytest.approx(slow_norms, rel=1e-6)
    assert np.abs(scores - slow_scores).max() < 1e-6


def test_frames_that_cancel_exactly():
    frames = np.array([[1.0, 2.0], [-1.0, -2.0], [0.0, 0.0]], dtype=np.float32)
    norms, scores = both(frames, np.array([[3.0, 1.0]]), np.array([0, 2, 0]), np.array([2, 3, 3]))
    assert norms.tolist() == [0.0, 0.0, 0.0]
    assert scores.tolist() == [[0.0, 0.0, 0.0]]


def test_a_sentence_of_zeros_scores_zero():
    frames = np.ones((4, 3), dtype=np.float32)
    _, scores = both(frames, np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]), np.array([0, 1]), np.array([4, 2]))
    assert scores == pytest.approx(np.array([[0.0, 0.0], [1.0, 1.0]]))


def test_the_least_denominator():
    # <m, s> = |m| |s| = 1e-8, over 1e-6 (specs/clip_zero_shot.md, 3: eps = 1e-6 in the denominator).
    _, scores = both(np.array([[1e-4, 0.0]]), np.array([[1e-4, 0.0], [1.0, 0.0]]), np.array([0]), np.array([1]))
    assert scores == pytest.approx(np.array([[0.01], [1.0]]))


# ---- What scores keep to


@given(st.sampled_from([0.05, 0.5, 3.0, 1e4]), st.sampled_from([0.05, 0.5, 3.0, 1e4]))
def test_scale_changes_nothing(of_frames, of_sentences):
    # specs/clip_zero_shot.md, 9: as long as no product of lengths falls to the least denominator.
    rng = np.random.default_rng(2)
    frames, sentences = rng.normal(size=(60, 8)), rng.normal(size=(4, 8))
    first, end = spans_of(rng, 60, 200)
    _, plain = both(frames, sentences, first, end)
    norms, scaled = both(of_frames * frames, of_sentences * sentences, first, end)
    assert scaled == pytest.approx(plain, abs=1e-12)
    assert norms == pytest.approx(of_frames * span_norms(frames, first, end), rel=1e-12)


def test_some_sentences_at_a_time_are_all_at_once():
    rng = np.random.default_rng(3)
    frames, sentences = rng.normal(size=(500, 20)), rng.normal(size=(7, 20))
    first, end = spans_of(rng, 500, 1000)
    norms = span_norms(frames, first, end)
    whole = span_scores(frames, sentences, first, end, norms)
    for row in range(7):
        assert span_scores(frames, sentences[row : row + 1], first, end, norms)[0] == pytest.approx(
            whole[row], abs=1e-14
        )


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(4)
    frames, sentences = rng.normal(size=(90, 7)), rng.normal(size=(3, 7))
    first, end = spans_of(rng, 90, 250)
    whole = both(frames, sentences, first, end)
    monkeypatch.setattr(scoring, "BLOCK_NUMBERS", 40)
    monkeypatch.setattr(scoring, "BLOCK_COLUMNS", 3)
    for found, expected in zip(both(frames, sentences, first, end), whole, strict=True):
        assert found == pytest.approx(expected, rel=1e-13)


def test_no_span_and_no_sentence():
    frames, none = np.ones((3, 2)), np.zeros(0, dtype=np.int64)
    norms, scores = both(frames, np.ones((2, 2)), none, none)
    assert (norms.shape, scores.shape) == ((0,), (2, 0))
    assert span_scores(frames, np.ones((0, 2)), np.array([0]), np.array([2]), np.ones(1)).shape == (0, 1)


def test_what_is_handed_over_is_not_changed():
    rng = np.random.default_rng(5)
    frames, sentences = rng.normal(size=(30, 4)), rng.normal(size=(2, 4))
    first, end = spans_of(rng, 30, 40)
    kept = [array.copy() for array in (frames, sentences, first, end)]
    for array in (frames, sentences, first, end):
        array.flags.writeable = False  # as a memory-mapped index is
    both(frames, sentences, first, end)
    for array, before in zip((frames, sentences, first, end), kept, strict=True):
        assert np.array_equal(array, before)


# ---- Frames that are never parted


@pytest.mark.parametrize("together", [1, 2, 3, 64])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_joined_frames_score_the_same(together, dtype):
    rng = np.random.default_rng(together)
    first, end = spans_of(rng, 20, 100)
    first, end = together * np.append(first, 1), together * np.append(end, 2)  # no coarser than `together`
    frames, sentences = rng.normal(size=(20 * together + 1, 6)).astype(dtype), rng.normal(size=(3, 6))
    means, *spans = join_frames(frames, first, end)
    assert len(means) <= (20 if together > 1 else 21)
    for found, expected in zip(both(means, sentences, *spans), both(frames, sentences, first, end), strict=True):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_frames_that_cannot_be_joined_are_left():
    frames = np.ones((5, 2), dtype=np.float16)
    ends = np.array([1, 2]), np.array([2, 4])
    assert [a is b for a, b in zip(join_frames(frames, *ends), (frames, *ends), strict=True)] == [True] * 3
    none = np.zeros(0, dtype=np.int64)
    assert join_frames(frames, none, none)[0] is frames


# ---- Other arrays


def test_the_same_on_pytorch_tensors():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(6)
    frames, sentences = rng.normal(size=(400, 150)).astype(np.float32), rng.normal(size=(3, 150)).astype(np.float32)
    frames[100:120] = 0
    frames[200] = 1e15  # spans behind it are summed by themselves
    first, end = spans_of(rng, 400, 700)
    expected = both(frames, sentences, first, end)
    found = both(*(torch.from_numpy(array) for array in (frames, sentences)), first, end)
    for tensor, array in zip(found, expected, strict=True):
        assert isinstance(tensor, torch.Tensor)
        assert tensor.dtype == torch.float64
        assert tensor.numpy() == pytest.approx(array, abs=1e-10, rel=1e-10)
    means, *_ = join_frames(torch.from_numpy(frames), 2 * (first // 2), 2 * (first // 2) + 2)
    assert means.numpy() == pytest.approx(join_frames(frames, 2 * (first // 2), 2 * (first // 2) + 2)[0])


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(MissingPackageError) as caught:
        span_norms(np.ones((2, 2)), np.array([0]), np.array([1]))
    assert str(caught.value) == (
        "scoring of long videos needs the package array-api-compat: pip install 'truemoment[search]'"
    )
