"""Which clips a query compares, and the losses of their ratings (specification, sections 5.4 to 5.6 and 14.6)."""

import math

import pytest
import torch

from truemoment.learning.models.clip_ratings import (
    ComparedClips,
    clip_labels,
    draw_pairs,
    margin_loss,
    negative_loss,
    next_is_other_video,
    rank_loss,
)

NAN = math.nan


def labels(ratings, moments, n_rows):
    return clip_labels(torch.tensor(ratings), torch.tensor(moments), torch.tensor(n_rows))


def test_pairs_of_rated_clips():
    """The hard pair: of equal ratings the last clip is the higher and the first the lower one. A rating may be 0."""
    rated = labels([[NAN, 0.0, 5.0, 0.0, 5.0, 9.0], [3.0, 4.0, NAN, NAN, NAN, NAN]], [[[0.2, 1.0]]] * 2, [5, 2])
    for seed in range(20):
        torch.manual_seed(seed)
        pairs = draw_pairs(rated, drawn=True)
        assert (pairs.higher[0, 0], pairs.lower[0, 0]) == (4, 1)
        assert pairs.higher[0, 1] in (1, 2, 3, 4)
        assert pairs.lower[0, 1] == 0
        assert pairs.higher[1].tolist() == [1, 1]  # no clip is unrated: the hard pair twice
        assert pairs.lower[1].tolist() == [0, 0]
        assert pairs.counts.all()


def test_easy_pairs_are_drawn_evenly():
    torch.manual_seed(0)
    many = labels([[1.0, 2.0, 3.0, NAN, NAN]] * 3000, [[[0.0, 0.6]]] * 3000, [5] * 3000)
    pairs = draw_pairs(many, drawn=True)
    share = torch.bincount(pairs.higher[:, 1], minlength=5) / 3000
    torch.testing.assert_close(share, torch.tensor([1 / 3, 1 / 3, 1 / 3, 0, 0]), atol=0.03, rtol=0)
    share = torch.bincount(pairs.lower[:, 1], minlength=5) / 3000
    torch.testing.assert_close(share, torch.tensor([0, 0, 0, 0.5, 0.5]), atol=0.03, rtol=0)


def test_pairs_of_a_query_without_ratings():
    """Rows int(start) to int(end) - 1 of the first reference, at least one; two of them, one that is alone twice."""
    nobody = [[NAN] * 6] * 3
    rows = labels(nobody, [[[1.9 / 6, 4.9 / 6], [0.0, 1.0]], [[2.1 / 6, 2.4 / 6]] * 2, [[0.0, 5 / 6]] * 2], [6, 6, 6])
    assert rows.label.tolist() == [[0, 1, 1, 1, 0, 0], [0, 0, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]]
    for seed in range(20):
        torch.manual_seed(seed)
        pairs = draw_pairs(rows, drawn=True)
        assert len({*pairs.higher[0].tolist()} & {1, 2, 3}) == 2
        assert len({*pairs.lower[0].tolist()} & {0, 4, 5}) == 2
        assert pairs.higher[1].tolist() == [2, 2]
        assert pairs.counts.tolist() == [True, True, False]  # one clip outside is not enough


def test_a_window_without_the_moment_compares_nothing():
    rows = labels([[NAN] * 4], [[[NAN, NAN]]], [4])
    pairs = draw_pairs(rows, drawn=True)
    assert not rows.label.any()
    assert margin_loss(torch.randn(1, 4), pairs).item() == 0


def test_the_margin_of_equal_scores():
    """Section 14.6: 0.4, 0.2 for each of two pairs."""
    pairs = ComparedClips(torch.tensor([[0, 1]]), torch.tensor([[2, 3]]), torch.tensor([True]))
    assert margin_loss(torch.zeros(1, 4), pairs).item() == pytest.approx(0.4)
    assert margin_loss(torch.tensor([[0.2, 0.5, 0.0, 0.2]]), pairs).item() == pytest.approx(0, abs=1e-7)


def test_the_rank_loss_is_its_formula():
    generator = torch.Generator().manual_seed(0)
    score = torch.randn(3, 6, generator=generator, dtype=torch.float64)
    label = torch.tensor([[0.0, 3, 12, 1, 0, 0], [0, 0, 0, 0, 0, 0], [11, 2, 2, 0, 0, 0]], dtype=torch.float64)
    counts = torch.ones(3, 6, dtype=torch.bool)
    counts[2, 5] = False
    expected = 0.0
    for k in range(1, 12):
        for b in range(3):
            z = [s / 0.5 for s, real in zip(score[b].tolist(), counts[b].tolist(), strict=True) if real]
            z = [s - max(z) for s in z]
            rest = math.log(sum(math.exp(s) for s in z) + 1e-6)
            higher = [s - rest for s, y in zip(z, label[b].tolist(), strict=False) if y >= k]
            expected -= sum(higher) / (len(higher) + 1e-6) / 3
    loss = rank_loss(score, label, counts)
    assert loss.item() == pytest.approx(expected / 12, rel=1e-12)
    moved = rank_loss(score + 5, label, counts)
    assert moved.item() == pytest.approx(loss.item(), rel=1e-9)
    assert negative_loss(score, counts).item() == pytest.approx(
        sum(math.log1p(math.exp(s)) for s in score[counts].tolist()) / 3
    )


def test_clips_behind_the_video_change_nothing():
    torch.manual_seed(0)
    score, label = torch.randn(2, 5), torch.tensor([[1.0, 0, 0, 2, 0], [4, 0, 1, 0, 0]])
    counts = torch.tensor([[True] * 4 + [False]] * 2)
    other = torch.where(counts, score, 99.0)
    assert torch.equal(rank_loss(score, label, counts), rank_loss(other, label, counts))
    assert torch.equal(negative_loss(score, counts), negative_loss(other, counts))


def test_videos_that_begin_alike_are_others():
    """The first numbers of all rows are equal; the last video is followed by the first, which is the same."""
    video = torch.zeros(3, 4, 2)
    video[1, 2, 1] = 1.0
    assert next_is_other_video(video).tolist() == [True, True, False]
