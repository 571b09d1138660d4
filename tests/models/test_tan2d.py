"""2D-TAN: parameter counts and the cheap checks of its specification."""

import math

import msgspec
import numpy as np
import pytest
import torch
from torch.nn import functional

from truemoment.base.errors import UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.losses import scaled_iou
from truemoment.learning.models.tan2d import Tan2D, Tan2DSettings

WIDTH, VECTOR = 6, 5


def make_model(n_clips=8, hidden=16, kernel=3, layers=2, moments="max"):
    torch.manual_seed(0)
    settings = Tan2DSettings(
        n_clips=n_clips, hidden=hidden, kernel=kernel, layers=layers, lstm_layers=1, moments=moments
    )
    return Tan2D(settings, Inputs(WIDTH, VECTOR))


def make_batch(n_clips=8, n_pairs=4, n_tokens=5, seed=0):
    rng = np.random.default_rng(seed)
    n_words = rng.integers(2, n_tokens + 1, n_pairs)
    words = rng.standard_normal((n_pairs, n_tokens, VECTOR)) * (np.arange(n_tokens) < n_words[:, None])[:, :, None]
    cell_start, cell_end = SparseMap(n_clips).moments(1.0)
    # References are candidates, so that each has one best cell.
    of_reference = rng.choice(len(cell_start), n_pairs, replace=False)
    start_s, end_s = cell_start[of_reference], cell_end[of_reference]
    iou = temporal_iou(cell_start[None], cell_end[None], start_s[:, None], end_s[:, None])
    return Batch(
        words=torch.from_numpy(words).float(),
        n_words=torch.from_numpy(n_words),
        video=torch.from_numpy(rng.standard_normal((n_pairs, 2 * n_clips, WIDTH))).float(),
        iou=torch.from_numpy(iou).float(),
    )


@pytest.mark.parametrize(
    ("settings", "inputs", "n_parameters"),
    [
        # 2D-TAN specification, section 8: Charades-STA and ActivityNet Captions, pool.
        (Tan2DSettings(layers=8), Inputs(4096, 300), 60_925_953),
        (Tan2DSettings(n_clips=64, kernel=9), Inputs(500, 300), 91_588_609),
        # The base of MDD on Charades-CD and ActivityNet-CD: the settings as they stand.
        (Tan2DSettings(), Inputs(1024, 300), 33_136_641),
        (Tan2DSettings(), Inputs(500, 300), 32_868_353),
    ],
)
def test_parameter_counts(settings, inputs, n_parameters):
    with torch.device("meta"):
        assert Tan2D(settings, inputs).n_parameters() == n_parameters


def test_equals_a_dense_map():
    # The whole model as one (N, N) map, from the specification, sections 2.2 to 2.5.
    model, batch = make_model(n_clips=20, layers=3), make_batch(n_clips=20)
    first, last = model.proposals.cells
    clips = model.encode_frames(batch.video).transpose(1, 2)
    maps = torch.zeros(4, 16, 20, 20)
    for a, b in zip(first, last, strict=True):
        maps[:, :, a, b] = clips[:, :, a : b + 1].max(dim=2).values
    mask = torch.zeros(20, 20)
    mask[first, last] = 1
    project = model.project_cells
    maps = functional.conv2d(maps, project.weight[:, :, None, None], project.bias)
    query = model.project_sentence(model.encode_query(batch.words, batch.n_words)[0])
    maps = functional.normalize(query[:, :, None, None] * maps) * mask
    active = mask[None, None]
    for layer, convolution in enumerate(model.convolutions.convolutions):
        padding = 3 if layer == 0 else 0
        count = functional.conv2d(active, torch.ones(1, 1, 3, 3), padding=padding)
        active = (count > 0).float()
        maps = functional.conv2d(maps, convolution.weight, convolution.bias, padding=padding).relu()
        maps = maps * active / count.clamp(min=1)
    scores = functional.conv2d(maps, model.score.weight[:, :, None, None], model.score.bias)[:, 0]
    torch.testing.assert_close(model(batch).logits, scores[:, first, last], rtol=0, atol=1e-5)


@pytest.mark.parametrize("moments", ["max", "conv"])
def test_every_parameter_learns(moments):
    model, batch = make_model(moments=moments), make_batch()
    sum(model.losses(batch, model(batch)).values()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_scaling_the_projected_sentence_changes_nothing():
    model, batch = make_model(), make_batch()
    with torch.no_grad():
        before = model(batch).logits
        model.project_sentence.weight *= 50
        model.project_sentence.bias *= 50
        torch.testing.assert_close(model(batch).logits, before)


def test_the_video_matters():
    model, batch = make_model(), make_batch()
    with torch.no_grad():
        logits = model(batch).logits
        moved = Batch(words=batch.words, n_words=batch.n_words, video=batch.video.flip(1))
        assert (model(moved).logits - logits).abs().max() > 1e-4


def test_a_fresh_network_costs_about_ln_2():
    model, batch = make_model(hidden=32), make_batch(n_pairs=16)
    with torch.no_grad():
        (loss,) = model.losses(batch, model(batch)).values()
    assert float(loss) == pytest.approx(math.log(2), abs=0.1)


@pytest.mark.slow
def test_learns_one_batch_by_heart():
    # Specification, check 9: down to the entropy of the soft targets, and the best cell first.
    model, batch = make_model(n_clips=5, hidden=32), make_batch(n_clips=5, n_pairs=6)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(250):
        optimiser.param_groups[0]["lr"] = 0.01 * (1 - step / 250)
        optimiser.zero_grad()
        (loss,) = model.losses(batch, model(batch)).values()
        loss.backward()
        optimiser.step()
    target = scaled_iou(batch.iou, 0.5, 1.0)
    floor = functional.binary_cross_entropy(target, target)
    assert floor - 1e-6 < loss < floor + 0.01
    with torch.no_grad():
        assert torch.equal(model(batch).logits.argmax(dim=1), batch.iou.argmax(dim=1))


def test_what_is_missing_is_said():
    model, batch = make_model(), make_batch()
    with pytest.raises(UsageError, match="without video"):
        model(Batch(words=batch.words, n_words=batch.n_words))
    with pytest.raises(UsageError, match="without iou"):
        model.losses(Batch(words=batch.words, n_words=batch.n_words), model(batch))


@pytest.mark.parametrize("wrong", [{"n_clips": 0}, {"moments": "mean"}, {"layer": 3}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, Tan2DSettings)
