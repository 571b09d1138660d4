r"""A set of moments against the references of a query: the matching, and the losses of what is matched.

The cost of the moment of slot n for the reference m is

.. math:: 10 \, (|c_n - c_m| + |w_n - w_m|) - \text{gIoU}(n, m) - 4 \, p_n,

with centres c and widths w as shares of the video, and the probability p of being a moment. Each reference gets one
slot, so that the sum of the costs is least. The losses are those of Moment-DETR (Lei et al. 2021) and its family:
*span* and *giou* are means over the matched pairs of a batch, so that a query with more references counts more, and
*label* is the mean over all slots of a cross-entropy that counts a tenth for slots without a reference.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from truemoment.base.errors import UsageError

SPAN_WEIGHT, GIOU_WEIGHT, LABEL_WEIGHT = 10.0, 1.0, 4.0
"""Weights of the three terms, in the costs and in the loss."""

NONE_WEIGHT = 0.1
"""Weight of a slot without a reference in the cross-entropy."""

MOST_MATCHED = 8
"""Largest number of references of a query: the matching visits every set of them."""


def spans_of(moments: Tensor) -> Tensor:
    """Return centre and width of moments (..., 2) by start and end."""
    start, end = moments.unbind(-1)
    return torch.stack([(start + end) / 2, end - start], dim=-1)


def ends_of_spans(spans: Tensor) -> tuple[Tensor, Tensor]:
    """Return start and end of centres and widths (..., 2), which may lie outside of the video."""
    centre, width = spans.unbind(-1)
    return centre - width / 2, centre + width / 2


def generalised_iou(spans: Tensor, others: Tensor) -> Tensor:
    """Return IoU less the share of the hull that neither covers, of spans (..., 2) that broadcast.

    (Rezatofighi et al. 2019, Generalized Intersection over Union.)

    Examples
    --------
    >>> whole, third = torch.tensor([0.5, 1.0]), torch.tensor([[1 / 6, 1 / 3], [5 / 6, 1 / 3]])
    >>> [round(float(iou), 3) for iou in (generalised_iou(whole, third[0]), generalised_iou(*third))]
    [0.333, -0.333]
    """
    (start, end), (other_start, other_end) = ends_of_spans(spans), ends_of_spans(others)
    inside = (torch.minimum(end, other_end) - torch.maximum(start, other_start)).clamp(min=0)
    union = (end - start) + (other_end - other_start) - inside
    hull = (torch.maximum(end, other_end) - torch.minimum(start, other_start)).clamp(min=0)
    return inside / union - (hull - union) / hull


@torch.no_grad()
def costs_of(logits: Tensor, spans: Tensor, references: Tensor) -> Tensor:
    """Return the cost of each slot for each reference, (..., N, M).

    Parameters
    ----------
    logits : (..., N, 2)
        Of being a moment, and of being none.
    spans : (..., N, 2)
        Centres and widths.
    references : (..., M, 2)
        Centres and widths.
    """
    spans, references = spans[..., :, None, :], references[..., None, :, :]
    distance = (spans - references).abs().sum(dim=-1)
    is_moment = logits.softmax(dim=-1)[..., :1]
    return SPAN_WEIGHT * distance - GIOU_WEIGHT * generalised_iou(spans, references) - LABEL_WEIGHT * is_moment


@torch.no_grad()
def match(costs: Tensor, counts: Tensor) -> Tensor:
    """Return the slot of each reference, (B, M), so that the sum of costs is least; of equal sums the lower slots.

    The slots are visited once. For each set of references, the least cost of having matched exactly these is kept; the
    next slot stays free, or is matched with one of them where this costs less. Then the choices are followed back.

    Parameters
    ----------
    costs : (B, N, M)
        Cost of each slot for each reference.
    counts : (B,)
        References of each query, at most N; the slots of others are 0.

    Examples
    --------
    >>> match(torch.tensor([[[1.0, 5.0], [0.0, 1.0], [9.0, 3.0]]]), torch.tensor([2])).tolist()
    [[0, 1]]
    """
    n_queries, n_slots, most = costs.shape
    if most > min(n_slots, MOST_MATCHED):
        raise UsageError(f"got {most} references for {n_slots} slots, expected at most {min(n_slots, MOST_MATCHED)}")
    sets = torch.arange(2**most, device=costs.device)
    bits = 2 ** torch.arange(most, device=costs.device)
    contains = (sets[:, None] & bits) > 0  # (S, M)
    without = (sets[:, None] - bits).clamp(min=0)
    least = torch.full((n_queries, len(sets)), torch.inf, dtype=costs.dtype, device=costs.device)
    least[:, 0] = 0
    choices = []
    for slot in range(n_slots):
        matched = torch.where(contains, least[:, without] + costs[:, slot, None], torch.inf)  # (B, S, M)
        smallest, reference = matched.min(dim=2)
        is_less = smallest < least
        choices.append(torch.where(is_less, reference, -1))
        least = torch.where(is_less, smallest, least)
    remaining = 2**counts - 1
    slots = torch.zeros(n_queries, most, dtype=torch.int64, device=costs.device)
    for slot in reversed(range(n_slots)):
        reference = choices[slot].gather(1, remaining[:, None])  # (B, 1)
        is_matched = reference >= 0
        at = reference.clamp(min=0)
        slots.scatter_(1, at, torch.where(is_matched, slot, slots.gather(1, at)))
        remaining = torch.where(is_matched[:, 0], remaining - 2 ** at[:, 0], remaining)
    return slots


def set_losses(logits: Tensor, spans: Tensor, moments: Tensor) -> dict[str, Tensor]:
    """Return "span", "giou" and "label" of the last layer, weighted, and with a number those of the layers before.

    Parameters
    ----------
    logits : (K, B, N, 2)
        Of being a moment and of being none, of each of K layers of a decoder.
    spans : (K, B, N, 2)
        Centres and widths.
    moments : (B, M, 2)
        Start and end of each reference; NaN after the last.
    """
    n_layers, n_queries = spans.shape[:2]
    is_real = ~torch.isnan(moments[..., 0])
    references = spans_of(torch.nan_to_num(moments)).expand(n_layers, -1, -1, -1)
    counts = is_real.sum(dim=1).expand(n_layers, -1)
    costs = costs_of(logits, spans, references)
    slots = match(costs.flatten(0, 1), counts.flatten()).reshape(n_layers, n_queries, -1)
    matched = spans.gather(2, slots[..., None].expand(-1, -1, -1, 2))
    # a reference that is not there has the span of its slot, so that its terms and their gradients are finite
    references = torch.where(is_real[..., None], references, matched.detach())
    weight = is_real.to(spans.dtype) / mean_of_processes(is_real.sum()).clamp(min=1)
    distance = ((matched - references).abs().mean(dim=-1) * weight).sum(dim=(1, 2))
    overlap = ((1 - generalised_iou(matched, references)) * weight).sum(dim=(1, 2))
    n_matched = torch.zeros_like(spans[..., 0]).scatter_add(2, slots, is_real.to(spans.dtype).expand_as(slots))
    margin = logits[..., 0] - logits[..., 1]  # the cross-entropy of two classes depends on no more
    entropy = torch.where(n_matched > 0, functional.softplus(-margin), NONE_WEIGHT * functional.softplus(margin))
    label = entropy.mean(dim=(1, 2))
    names = ["", *(f"_{layer}" for layer in range(n_layers - 1))]
    terms: dict[str, Tensor] = {}
    for name, layer in zip(names, [n_layers - 1, *range(n_layers - 1)], strict=True):
        terms[f"span{name}"] = SPAN_WEIGHT * distance[layer]
        terms[f"giou{name}"] = GIOU_WEIGHT * overlap[layer]
        terms[f"label{name}"] = LABEL_WEIGHT * label[layer]
    return terms


def mean_of_processes(count: Tensor) -> Tensor:
    """Return the mean of a count over the processes that share a batch, so that they take the step of one."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return count
    total = count.float()
    torch.distributed.all_reduce(total)
    return total / torch.distributed.get_world_size()
