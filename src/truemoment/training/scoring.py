"""Scores of candidate moments, for all pairs of a sentence and a video."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from truemoment.exceptions import TrueMomentError
from truemoment.training.examples import Pairs
from truemoment.training.network import Network


def score(network: Network, pairs: Pairs, size: int, device: torch.device) -> npt.NDArray[np.float32]:
    """Return the score of each candidate, the sigmoid of its logit, for all pairs; shape (Q, C)."""
    network.eval()
    found: list[npt.NDArray[np.float32]] = []
    with torch.inference_mode():
        for low in range(0, len(pairs), size):
            examples = pairs.__getitems__(range(low, min(low + size, len(pairs))))
            output, _ = network(examples.to(device))
            found.append(torch.sigmoid(output.logits.float()).cpu().numpy())
    scores = np.concatenate(found)
    if not np.isfinite(scores).all():
        raise TrueMomentError("scores of the network are not finite: lower train.learning_rate, or change train.clip")
    return scores
