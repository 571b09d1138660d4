"""Moments and scores of a network for all pairs of a sentence and a video."""

from __future__ import annotations

import numpy as np
import torch

from truemoment.base.errors import TrueMomentError
from truemoment.learning.models.decoding import ScoredMoments
from truemoment.learning.training.examples import Pairs
from truemoment.learning.training.network import Network


def score(network: Network, pairs: Pairs, size: int) -> ScoredMoments:
    """Return the candidate moments of all pairs and their scores, computed in batches of `size`."""
    network.eval()
    device = next(network.parameters()).device
    starts, ends, scores = [], [], []
    with torch.inference_mode():
        for low in range(0, len(pairs), size):
            examples = pairs.__getitems__(range(low, min(low + size, len(pairs))))
            found = network.answer(examples.to(device))
            starts.append(found.start.double().cpu().numpy())
            ends.append(found.end.double().cpu().numpy())
            scores.append(found.score.float().cpu().numpy())
    widest = max(of.shape[1] for of in scores)
    joined = np.concatenate([_padded(of, widest, -np.inf) for of in scores])
    if np.isnan(joined).any() or np.isposinf(joined).any():
        raise TrueMomentError("scores of the network are not finite: lower train.learning_rate, or change train.clip")
    if starts[0].ndim == 1:
        return ScoredMoments(starts[0], ends[0], joined)
    start, end = (np.concatenate([_padded(of, widest, 0.0) for of in columns]) for columns in (starts, ends))
    present = np.isfinite(joined)
    if not (np.isfinite(start[present]).all() and np.isfinite(end[present]).all()):
        raise TrueMomentError("moments of the network are not finite: lower train.learning_rate, or change train.clip")
    return ScoredMoments(np.where(present, start, 0.0), np.where(present, end, 0.0), joined)


def _padded(column: np.ndarray, width: int, value: float) -> np.ndarray:
    """Return (Q, C) as (Q, width)."""
    return np.pad(column, ((0, 0), (0, width - column.shape[1])), constant_values=value)
