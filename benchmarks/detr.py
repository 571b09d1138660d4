"""A training step of Moment-DETR and QD-DETR at the size of QVHighlights, beside a step of the authors' code.

32 queries of 75 clips with 2,816 numbers and 5 to 20 words with 512, one to three references each, random; the
published sizes, with dropout: forward and backward pass with losses, clipping and AdamW, without reading features.
Steps of both take turns in one process. An epoch of QVHighlights has 7,218 queries, 225.6 steps. Times are those of the
process, one thread. The memory is the largest so far. That the losses are equal is a test
(tests/models/test_set_models_authors.py).

Run: OMP_NUM_THREADS=1 python benchmarks/detr.py [FOLDER]

FOLDER has checkouts of the authors' code, `moment_detr` of github.com/jayleicn/moment_detr at b7e553a and `QD-DETR` of
github.com/wjun0830/QD-DETR at 56c63b2, which needs SciPy; without FOLDER ours is measured alone.
"""

from __future__ import annotations

import importlib
import os
import resource
import statistics
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import msgspec
import torch
from torch import Tensor

from truemoment.learning.models import get_family
from truemoment.learning.models.base import Batch, Inputs

N_QUERIES, N_PAIRS, N_CLIPS, WIDTH, VECTOR = 7218, 32, 75, 2816, 512
AUTHORS = {"moment-detr": ("moment_detr", "moment_detr"), "qd-detr": ("QD-DETR", "qd_detr")}
"""Folder and package of the authors' code."""

OPTIONS = {
    **{"device": "cpu", "hidden_dim": 256, "nheads": 8, "dim_feedforward": 1024, "enc_layers": 2, "dec_layers": 2},
    **{"dropout": 0.1, "input_dropout": 0.5, "pre_norm": False, "position_embedding": "sine", "max_q_l": 32},
    **{"max_v_l": N_CLIPS, "t_feat_dim": VECTOR, "v_feat_dim": WIDTH + 2, "a_feat_dir": None, "num_queries": 10},
    **{"aux_loss": True, "contrastive_align_loss": False, "contrastive_hdim": 64, "span_loss_type": "l1"},
    **{"use_txt_pos": False, "n_input_proj": 2, "set_cost_span": 10, "set_cost_giou": 1, "set_cost_class": 4},
    **{"span_loss_coef": 10, "giou_loss_coef": 1, "label_loss_coef": 4, "lw_saliency": 1, "eos_coef": 0.1},
    **{"temperature": 0.07, "saliency_margin": 0.2, "dset_name": "hl", "clip_length": 2},
}
"""Options of the authors' code, as in its scripts."""


def made(seed: int) -> Batch:
    """Queries with random features, words and references; clips in a reference are rated."""
    generator = torch.Generator().manual_seed(seed)
    n_words = torch.randint(5, 21, (N_PAIRS,), generator=generator)
    words = torch.nn.functional.normalize(torch.randn(N_PAIRS, int(n_words.max()), VECTOR, generator=generator), dim=2)
    words[torch.arange(words.shape[1]) >= n_words[:, None]] = 0
    start = 25 * torch.arange(3) + torch.randint(15, (N_PAIRS, 3), generator=generator)
    end = start + torch.randint(2, 11, (N_PAIRS, 3), generator=generator)
    counts = torch.randint(1, 4, (N_PAIRS, 1), generator=generator)
    moments = torch.stack([start, end], dim=2) / N_CLIPS
    moments[torch.arange(3) >= counts] = torch.nan
    clip = torch.arange(N_CLIPS)
    inside = ((start[..., None] <= clip) & (clip < end[..., None]) & (torch.arange(3) < counts)[..., None]).any(dim=1)
    ratings = torch.randint(1, 13, (N_PAIRS, N_CLIPS), generator=generator).float().masked_fill(~inside, torch.nan)
    video = torch.nn.functional.normalize(torch.randn(N_PAIRS, N_CLIPS, WIDTH, generator=generator), dim=2)
    return Batch(words=words, n_words=n_words, video=video, moments=moments, ratings=ratings)


def our_step(method: str) -> Callable[[Batch], float]:
    """Return a step of ours, which returns the loss."""
    family = get_family(method)
    model = family.build(msgspec.convert({}, family.settings), Inputs(WIDTH, VECTOR)).train()

    def loss(batch: Batch) -> Tensor:
        return torch.stack(list(model.losses(batch, model(batch)).values())).sum()

    return stepped(model, loss, fused=True)


def authors_step(method: str, folder: Path) -> Callable[[Batch], float]:
    """Return a step of the authors' code, which moves its slots to a GPU; here they stay."""
    checkout, package = AUTHORS[method]
    sys.path.insert(0, str(folder / checkout))
    setattr(torch.Tensor, "cuda", lambda tensor: tensor)  # noqa: B010 - a line moves the slots to a GPU
    model, criterion = importlib.import_module(f"{package}.model").build_model(Namespace(**OPTIONS))
    model.train()
    criterion.train()

    def loss(batch: Batch) -> Tensor:
        row = torch.arange(N_CLIPS + 1) / N_CLIPS
        edges = torch.stack([row[:-1], row[1:]], dim=1).expand(N_PAIRS, -1, -1)
        video = torch.cat([batch.require("video"), edges], dim=2)
        mask = (torch.arange(batch.words.shape[1]) < batch.n_words[:, None]).float()
        output = model(batch.words, mask, video, torch.ones(N_PAIRS, N_CLIPS))
        ratings = torch.nan_to_num(batch.require("ratings"))
        order = ratings.argsort(dim=1)
        targets = {
            "span_labels": [
                {"spans": torch.stack([of_query.mean(dim=1), of_query[:, 1] - of_query[:, 0]], dim=1)}
                for moments in batch.require("moments")
                for of_query in [moments[~torch.isnan(moments[:, 0])]]
            ],
            "saliency_pos_labels": order[:, -2:],
            "saliency_neg_labels": order[:, :2],
            "saliency_all_labels": ratings,
        }
        losses = criterion(output, targets)
        weights = criterion.weight_dict
        return torch.stack([weights[name] * torch.as_tensor(losses[name]) for name in losses if name in weights]).sum()

    return stepped(model, loss, fused=False)


def stepped(model: torch.nn.Module, loss_of: Callable[[Batch], Tensor], *, fused: bool) -> Callable[[Batch], float]:
    """Return a step that learns from a batch, as each training does it."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=1e-4, fused=fused)

    def step(batch: Batch) -> float:
        loss = loss_of(batch)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimiser.step()
        return float(loss.detach())

    return step


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    n_steps = int(os.environ.get("STEPS", "9"))
    torch.set_num_threads(1)
    print(f"{N_PAIRS} queries a step, load of the machine {os.getloadavg()[0]:.1f}")
    for method in AUTHORS:
        steps = {"ours": our_step(method)} | ({"theirs": authors_step(method, folder)} if folder else {})
        seconds: dict[str, list[float]] = {name: [] for name in steps}
        for number in range(n_steps + 1):
            batch = made(number)
            for name, step in steps.items():
                began = time.process_time()
                step(batch)
                if number:  # the first one is for warming up
                    seconds[name].append(time.process_time() - began)
        medians = {name: statistics.median(values) for name, values in seconds.items()}
        shown = ", ".join(
            f"{name} {value:.3f} s a step, {value * N_QUERIES / N_PAIRS:.0f} s an epoch"
            for name, value in medians.items()
        )
        ratio = f", {medians['theirs'] / medians['ours']:.2f} times as fast" if folder else ""
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{method}: {shown}{ratio}; {peak_mb:,.0f} MB")


if __name__ == "__main__":
    main()
