r"""Ratings of the clips of a video: which clips a query compares, and the losses of their scores.

*Margin* (Lei et al. 2021, Moment-DETR): two pairs of clips a query, of which one should score 0.2 more than the other.
The hard pair is the rated clip of the highest and that of the lowest rating, the easy pair a rated and an unrated clip,
drawn. A query without ratings has the rows of its first reference in their place.

*Rank* and *negative* (Moon et al. 2023, QD-DETR): clips with a rating of k or more against all others, for k from 1 to
11, where the clips of the video with the sentence of another query are others; and the scores of these clips alone.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

MARGIN = 0.2
N_RANKS = 12
"""Divides the losses of the ratings k from 1 to 11, as published."""

TEMPERATURE = 0.5
SCORE_OF_PADDING = -1000.0
SMALLEST_SUM = 1e-6
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Whole numbers of as many bytes."""

ROUNDING = 1e-4
"""Share of a row by which an end of a moment may miss the edge of the row."""


class ComparedClips(NamedTuple):
    """Two pairs of clips for each query: numbers of clips that score more, and less, (B, 2); and which queries count.

    `counts` (B,) is false for a query with fewer than two clips to compare with.
    """

    higher: Tensor
    lower: Tensor
    counts: Tensor


class ClipLabels(NamedTuple):
    """Labels of rows (B, T): a number from 0, which rows are relevant, and which others may be drawn.

    `by_people` (B,) marks queries whose labels are ratings of people, not the rows of a reference.
    """

    label: Tensor
    relevant: Tensor
    other: Tensor
    by_people: Tensor

    @property
    def real(self) -> Tensor:
        """Which rows there are, (B, T)."""
        return self.relevant | self.other


def clip_labels(ratings: Tensor, moments: Tensor, n_rows: Tensor) -> ClipLabels:
    """Return the labels of rows: ratings where a query has some, else 1 in its first reference.

    Parameters
    ----------
    ratings : (B, T)
        NaN where nobody rated a row.
    moments : (B, M, 2)
        Shares of the video; NaN after the last.
    n_rows : (B,)
        Rows of each video.

    Examples
    --------
    >>> nobody, half = torch.full((1, 6), torch.nan), torch.tensor([[[0.25, 0.75]]])
    >>> clip_labels(nobody, half, torch.tensor([4])).label.tolist()
    [[0.0, 1.0, 1.0, 0.0, 0.0, 0.0]]
    """
    row = torch.arange(ratings.shape[1], device=ratings.device)
    is_real = row < n_rows[:, None]
    rated = ~torch.isnan(ratings) & is_real
    by_people = rated.any(dim=1)
    start, end = (torch.nan_to_num(moments[:, 0]) * n_rows[:, None] + ROUNDING).floor().unbind(1)
    start = torch.minimum(start, n_rows - 1.0)
    inside = (row >= start[:, None]) & (row < torch.maximum(end, start + 1)[:, None]) & is_real
    inside = inside & ~torch.isnan(moments[:, :1, 0])  # a window of a video may not show the moment
    relevant = torch.where(by_people[:, None], rated, inside)
    label = torch.where(by_people[:, None], torch.nan_to_num(ratings), 1.0) * relevant
    return ClipLabels(label, relevant, is_real & ~relevant, by_people)


def draw_pairs(labels: ClipLabels, *, drawn: bool) -> ComparedClips:
    """Return the pairs of clips of each query; if they are not `drawn`, the first clips of each kind."""
    keys = (_keys(labels.label, drawn=drawn) for _ in range(2))
    relevant, other = (_two_of(mask, key) for mask, key in zip((labels.relevant, labels.other), keys, strict=True))
    length = labels.label.shape[1]
    rated = labels.label + 0.0
    last_first = rated.masked_fill(~labels.relevant, -1.0).flip(1)
    highest = length - 1 - last_first.argmax(dim=1)
    lowest = rated.masked_fill(~labels.relevant, torch.inf).argmin(dim=1)
    has_other = labels.other.any(dim=1)
    hard = torch.stack([highest, lowest])
    easy = torch.where(has_other, torch.stack([relevant[:, 0], other[:, 0]]), hard)
    by_people = torch.stack([hard, easy], dim=2)  # (2, B, 2)
    by_reference = torch.stack([relevant, other])
    higher, lower = torch.where(labels.by_people[:, None], by_people, by_reference)
    enough = labels.relevant.any(dim=1) & (labels.other.sum(dim=1) >= 2)
    return ComparedClips(higher, lower, labels.by_people | enough)


def _keys(like: Tensor, *, drawn: bool) -> Tensor:
    """Return the order in which clips are drawn, as numbers that fall."""
    if drawn:
        return torch.rand_like(like)
    return torch.linspace(1, 0, like.shape[1], dtype=like.dtype, device=like.device).expand_as(like)


def _two_of(mask: Tensor, key: Tensor) -> Tensor:
    """Return two clips of each row of a mask (B, T), those of the largest keys; one that is alone twice, (B, 2)."""
    value, clip = torch.where(mask, key, -1.0).topk(min(2, mask.shape[1]), dim=1)
    return torch.where(value >= 0, clip, clip[:, :1]).expand(-1, 2)


def margin_loss(score: Tensor, pairs: ComparedClips) -> Tensor:
    """Return the mean over queries of the sum over pairs of max(0, 0.2 + lower - higher)."""
    excess = (MARGIN + score.gather(1, pairs.lower) - score.gather(1, pairs.higher)).clamp(min=0)
    return torch.where(pairs.counts, excess.sum(dim=1), 0.0).sum() / len(score)


def negative_loss(score: Tensor, counts: Tensor) -> Tensor:
    """Return the mean over queries of minus the sum of ln(1 - sigmoid) of the scores (B, T) that count."""
    return torch.where(counts, functional.softplus(score), 0.0).sum() / len(score)


def rank_loss(score: Tensor, label: Tensor, counts: Tensor) -> Tensor:
    r"""Return the rank-contrastive loss: the sum over k of the means over queries with a label of k or more, / 12.

    .. math:: -\frac{1}{|y \ge k|} \sum_{y_t \ge k} z_t - \ln \sum_t \exp z_t

    Parameters
    ----------
    score, label : (B, S)
    counts : (B, S)
        Which clips there are.
    """
    scaled = score.masked_fill(~counts, SCORE_OF_PADDING) / TEMPERATURE
    shifted = scaled - scaled.amax(dim=1, keepdim=True)
    log_share = shifted - (shifted.exp().sum(dim=1, keepdim=True) + SMALLEST_SUM).log()
    at_least = (label[:, None] >= torch.arange(1, N_RANKS, device=label.device)[:, None]).to(score.dtype)  # (B, K, S)
    means = (at_least * log_share[:, None]).sum(dim=2) / (at_least.sum(dim=2) + SMALLEST_SUM)
    return -means.sum() / (N_RANKS * len(score))


def contrast_losses(rating: Tensor, other: Tensor, labels: ClipLabels, has_negative: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rank loss of clips, with those of negative pairs among the others.

    Also returns the mask of the clips of negative pairs.

    Parameters
    ----------
    rating, other : (B, T)
        Scores of the clips, and with the sentence of another query.
    labels
        Labels of the clips.
    has_negative : (B,)
        Queries that have a negative pair.
    """
    is_negative = labels.real & has_negative[:, None]
    scores, counts = torch.cat([rating, other], dim=1), torch.cat([labels.real, is_negative], dim=1)
    return rank_loss(scores, functional.pad(labels.label, (0, other.shape[1])), counts), is_negative


def next_is_other_video(video: Tensor) -> Tensor:
    """Return for which videos (B, T, D) of a batch the next one, or for the last the first, is another, (B,)."""
    bits = video.flatten(1).view(BITS[video.element_size()])  # NaN equals NaN
    return (bits != bits.roll(-1, dims=0)).any(dim=1)
