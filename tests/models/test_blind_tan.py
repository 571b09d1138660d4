"""Blind-TAN: parameter counts and the cheap checks of its specification."""

import dataclasses
import math

import msgspec
import numpy as np
import pytest
import torch

from truemoment.base.errors import UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.blind_tan import BlindTan, BlindTanSettings
from truemoment.learning.models.losses import scaled_iou
from truemoment.learning.training.recipes import read_recipe

from ..thorough import quick_are

pytestmark = pytest.mark.slow

VECTOR = 5
SMALL = {"n_clips": 8, "hidden": 16, "kernel": 3, "layers": 2, "lstm_layers": 1}


def make_model(**changes):
    torch.manual_seed(0)
    return BlindTan(BlindTanSettings(**(SMALL | changes)), Inputs(0, VECTOR))


def make_batch(n_pairs=6, seed=0, *, n_clips=8, same_sentence=False):
    rng = np.random.default_rng(seed)
    words = rng.standard_normal((n_pairs, 4, VECTOR))
    if same_sentence:
        words[:] = words[:1]
    cell_start, cell_end = SparseMap(n_clips).moments(1.0)
    # References are candidates, so that each has one best cell.
    of_reference = rng.choice(len(cell_start), n_pairs, replace=False)
    start, end = cell_start[of_reference], cell_end[of_reference]
    iou = temporal_iou(cell_start[None], cell_end[None], start[:, None], end[:, None])
    return Batch(
        words=torch.from_numpy(words).float(),
        n_words=torch.full((n_pairs,), 4),
        iou=torch.from_numpy(iou).float(),
    )


def train(model, batch, steps, rate=0.01):
    optimiser = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=rate)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = rate * (1 - step / steps)
        optimiser.zero_grad()
        (loss,) = model.losses(batch, model(batch)).values()
        loss.backward()
        optimiser.step()
    return loss.item()


def test_parameter_count_of_the_variant_comparable_with_2d_tan():
    # Specification, check 9: Charades-STA, with a linear map of the prior.
    with torch.device("meta"):
        assert BlindTan(BlindTanSettings(layers=8), Inputs(0, 300)).n_parameters() == 58_959_361


@pytest.mark.parametrize(
    ("changes", "numbers"),
    [((), 33_554_432), (("settings.hidden=128", "settings.kernel=9", "settings.layers=4"), 8_388_608)],
    ids=["Charades-STA", "ActivityNet Captions"],
)
def test_the_map_of_256_clips_has_the_stated_size(changes, numbers):
    # Specification, section 2.1: N = 256 with d = 512 and d = 128.
    settings = msgspec.convert(read_recipe("blind-tan-256", changes).settings, BlindTanSettings)
    with torch.device("meta"):
        assert BlindTan(settings, Inputs(0, 300)).prior.numel() == numbers


def test_the_video_cannot_matter():
    model, batch = make_model(), make_batch()
    torch.manual_seed(1)
    shown = dataclasses.replace(batch, video=torch.randn(6, 16, 3))
    with torch.no_grad():
        assert torch.equal(model(shown).logits, model(batch).logits)
    assert "video" not in model.needs


def test_the_same_sentence_gets_the_same_answer():
    model, batch = make_model(), make_batch(same_sentence=True)
    with torch.no_grad():
        logits = model(batch).logits
    assert torch.equal(logits, logits[:1].expand_as(logits))


def test_query_by_query_gives_the_same_and_the_same_gradients():
    at_once, one_by_one, batch = make_model(), make_model(one_by_one=True), make_batch()
    for model in (at_once, one_by_one):
        (loss,) = model.losses(batch, model(batch)).values()
        loss.backward()
    torch.testing.assert_close(one_by_one(batch).logits, at_once(batch).logits, rtol=1e-5, atol=1e-6)
    for ours, theirs in zip(one_by_one.parameters(), at_once.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-7)


def test_only_candidates_of_the_prior_learn():
    # Specification, check 4: what is no candidate is not seen.
    model, batch = make_model(), make_batch()
    (loss,) = model.losses(batch, model(batch)).values()
    loss.backward()
    moved = model.prior.grad.view(8, 8, -1).any(dim=-1)
    assert torch.equal(moved, torch.ones(8, 8).triu().bool())


def test_every_parameter_learns():
    model, batch = make_model(), make_batch()
    (loss,) = model.losses(batch, model(batch)).values()
    loss.backward()
    assert all(parameter.grad.isfinite().all() and parameter.grad.any() for parameter in model.parameters())


def test_a_sentence_of_zeros_leaves_the_place_alone():
    # Specification, check 5.
    model, batch = make_model(), make_batch()
    with torch.no_grad():
        model.project_sentence.weight.zero_()
        model.project_sentence.bias.zero_()
        before = model(batch).logits
        model.prior.normal_()
        assert torch.equal(model(batch).logits, before)
    assert torch.equal(before, before[:1].expand_as(before))
    assert before[0].std() > 0


def test_a_fresh_network_costs_about_ln_2():
    model, batch = make_model(hidden=32), make_batch(16)
    with torch.no_grad():
        (loss,) = model.losses(batch, model(batch)).values()
    assert float(loss) == pytest.approx(math.log(2), abs=0.1)


@pytest.mark.parametrize("prior", quick_are(["frozen"], ["learnt", "frozen"]))
def test_one_sentence_for_all_learns_the_mean_map(prior):
    # Specification, checks 2 and 3, and the ablation of section 7: the map need not be learnt for this.
    model, batch = make_model(prior=prior, n_clips=5), make_batch(n_clips=5, same_sentence=True)
    start = model.prior.detach().clone()
    loss = train(model, batch, 250)
    mean = scaled_iou(batch.iou, 0.5, 1.0).mean(dim=0)
    floor = torch.nn.functional.binary_cross_entropy(mean, mean)
    assert float(floor) - 1e-6 < loss < float(floor) + 0.003
    with torch.no_grad():
        told = model(batch).logits[0].sigmoid()
    assert (told - mean).abs().max() < 0.06
    assert torch.equal(model.prior, start) == (prior == "frozen")


def test_a_frozen_prior_is_not_counted():
    assert make_model().n_parameters() - make_model(prior="frozen").n_parameters() == 8 * 8 * 16


def test_learns_distinct_queries_by_heart():
    # Specification, check 7.
    model, batch = make_model(n_clips=5), make_batch(n_clips=5)
    train(model, batch, 250)
    with torch.no_grad():
        assert torch.equal(model(batch).logits.argmax(dim=1), batch.iou.argmax(dim=1))


def test_a_batch_without_references_has_no_loss():
    model, batch = make_model(), make_batch()
    with pytest.raises(UsageError, match="without iou"):
        model.losses(Batch(words=batch.words, n_words=batch.n_words), model(batch))
