"""What tests of CTRL and ACRN share: a batch, and the loss pair by pair as ctrl.md states it."""

import dataclasses

import torch

from truemoment.learning.models.base import Batch

B, D, E = 4, 3, 5


def pairs(n_pairs=B, seed=1, width=D):
    """A batch of pairs with one window each, in double precision; two words of four have no vector."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randint(2, 9, (n_pairs, 4), generator=generator)
    numbers[:, 2] = 1
    numbers[0, 3] = 0
    start = 2 + 20 * torch.rand(n_pairs, 1, generator=generator, dtype=torch.float64)
    window = torch.cat([start, start + 128 / 24], dim=1)
    moment = (window + torch.rand(n_pairs, 2, generator=generator, dtype=torch.float64) - 0.5) / 30
    return Batch(
        words=torch.randn(n_pairs, 4, E, generator=generator, dtype=torch.float64),
        n_words=torch.tensor([3] + [4] * (n_pairs - 1)),
        word_numbers=numbers,
        video=torch.randn(n_pairs, 1, 3, width, generator=generator, dtype=torch.float64),
        windows_s=window[:, None],
        moment=moment,
        duration_s=torch.full((n_pairs,), 30.0, dtype=torch.float64),
    )


def sentences(batch):
    """Section 8: mean of the vectors of the known words."""
    means = []
    for words, numbers in zip(batch.words, batch.word_numbers.tolist(), strict=True):
        known = [word for word, number in zip(words, numbers, strict=True) if number > 1]
        means.append(sum(known) / len(known))
    return means


def slow_loss(predicted, batch):
    """Section 3.3, from predictions [i][j] = (score, start offset, end offset) of sentence i and window j."""
    n_pairs = len(batch)
    alignment = location = 0.0
    for i in range(n_pairs):
        for j in range(n_pairs):
            sign = -1 if i == j else 1
            weight = (1 if i == j else 0) + 1 / n_pairs
            alignment = alignment + weight * torch.log(1 + torch.exp(sign * predicted[i][j][0]))
        for end in (0, 1):
            annotated = 24 * (batch.moment[i, end] * batch.duration_s[i] - batch.windows_s[i, 0, end])
            location = location + abs(predicted[i][i][1 + end] - annotated)
    return alignment / n_pairs**2 + 0.01 * location / (2 * n_pairs)


def unit(vector):
    return vector / torch.sqrt((vector**2).sum())


def two_layers(model, fused):
    hidden = torch.relu(model.fusion.hidden.weight @ fused + model.fusion.hidden.bias)
    return model.score.weight @ hidden + model.score.bias


def learned_by_heart(model, n_pairs, steps=200):
    """Train a model for features of 8 numbers on one batch, at a falling rate; return its scores and losses."""
    batch = pairs(n_pairs, width=8)
    batch = dataclasses.replace(batch, words=batch.words.float(), video=batch.video.float())
    optimiser = torch.optim.Adam(model.parameters())
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 0.03 * (1 - step / steps)
        optimiser.zero_grad()
        sum(model.losses(batch, model(batch)).values()).backward()
        optimiser.step()
    with torch.no_grad():
        output = model(batch)
        return model.score_all(output), model.losses(batch, output)


def kept_for_a_pair(model):
    """Numbers that the backward pass needs for each of B x B pairs: a of a B^2 + b B + c, from three batches."""
    few, more, most = (_kept_numbers(model, pairs(n_pairs, width=8)) for n_pairs in (40, 80, 120))
    return (few - 2 * more + most) / (40**2 - 2 * 80**2 + 120**2)


def _kept_numbers(model, batch):
    """Numbers in all tensors that the backward pass of the loss needs."""
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes() // tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        terms = model.losses(batch, model(batch))
    assert terms  # alive until all tensors are counted
    return sum(kept.values())


def gradients(loss, model):
    return torch.autograd.grad(loss, list(model.parameters()))


def assert_same_gradients(one, other):
    for found, expected in zip(one, other, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-7, atol=1e-10)
