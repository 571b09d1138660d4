"""CTRL: against a slow version written from its description, forward and gradient, and what the description states.

Sections are those of the specification of CTRL, and come from the code of jiyanggao/TALL.
"""

import dataclasses
import math

import msgspec
import pytest
import torch
from slow_windows import (
    B,
    D,
    E,
    assert_same_gradients,
    gradients,
    kept_for_a_pair,
    learned_by_heart,
    pairs,
    sentences,
    slow_loss,
    two_layers,
    unit,
)

from truemoment.learning.models.base import Inputs
from truemoment.learning.models.ctrl import Ctrl, CtrlSettings
from truemoment.learning.models.window_model import alignment_loss

H, K = 6, 7
SMALL = CtrlSettings(semantic=H, hidden=K)


def built(settings=SMALL, seed=0):
    torch.manual_seed(seed)
    return Ctrl(settings, Inputs(D, E)).double()


@pytest.fixture
def batch():
    return pairs()


def slow(model, batch):
    """Sections 2.3 and 7: predictions [i][j] of sentence i and window j, each pair joined by itself."""
    videos = [unit(model.embed_video.weight @ slots.flatten() + model.embed_video.bias) for slots in batch.video]
    texts = [unit(model.embed_sentence.weight @ of + model.embed_sentence.bias) for of in sentences(batch)]
    return [[two_layers(model, joined(model, v, s)) for v in videos] for s in texts]


def joined(model, v, s):
    if model.settings_joint == "raw":
        return torch.cat([v * s, v + s, v, s])
    return torch.cat([v * s, v + s, model.fusion.joint.weight @ torch.cat([v, s]) + model.fusion.joint.bias])


@pytest.mark.parametrize("joint", ["raw", "layer"])
def test_it_is_the_slow_version_forward_and_backward(batch, joint):
    model = built(msgspec.structs.replace(SMALL, joint=joint))
    model.settings_joint = joint
    predicted = slow(model, batch)
    expected = gradients(slow_loss(predicted, batch), model)
    output = model(batch)
    scores = torch.stack([torch.stack([of[0] for of in row]) for row in predicted])
    torch.testing.assert_close(model.score_all(output), scores, rtol=0, atol=1e-10)
    own = torch.stack([predicted[i][i] for i in range(B)])
    torch.testing.assert_close(output.logits[:, 0], own[:, 0], rtol=0, atol=1e-10)
    torch.testing.assert_close(output.extras["offsets"][:, 0], own[:, 1:], rtol=0, atol=1e-10)
    loss = sum(model.losses(batch, output).values())
    torch.testing.assert_close(loss, slow_loss(predicted, batch), rtol=1e-10, atol=0)
    assert_same_gradients(gradients(loss, model), expected)


def test_parameters_of_the_published_model():
    """Section 2.3: 21,600,163 with features of 4,096 numbers and sentences of 4,800."""
    with torch.device("meta"):
        model = Ctrl(CtrlSettings(), Inputs(4096, 4800))
    assert model.n_parameters() == 21_600_163
    shapes = {name: tuple(of.shape) for name, of in model.named_parameters() if name.endswith("weight")}
    assert shapes == {
        "embed_video.weight": (1024, 12_288),
        "embed_sentence.weight": (1024, 4800),
        "fusion.hidden.weight": (1000, 4096),
        "score.weight": (3, 1000),
    }


def test_the_loss_of_scores_of_0():
    """Section 7, check 1: 2 ln 2 / B, 0.02476 for B = 56."""
    assert alignment_loss(torch.zeros(56, 56)).item() == pytest.approx(2 * math.log(2) / 56)


def test_gradients_of_the_alignment():
    """Section 7, check 5."""
    scores = torch.randn(B, B, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(alignment_loss(scores), scores)
    for i in range(B):
        for j in range(B):
            here = scores[i, j].detach()
            expected = torch.sigmoid(here) / B**3
            if i == j:
                expected = -(1 + 1 / B) / B**2 * torch.sigmoid(-here)
            assert found[i, j].item() == pytest.approx(expected.item(), abs=1e-12)


def test_gradients_of_the_offsets(batch):
    """Section 7, check 4: 1 / (2 B) in size, times the weight 0.01."""
    model = built()
    output = model(batch)
    (found,) = torch.autograd.grad(model.losses(batch, output)["location"], output.extras["offsets"])
    torch.testing.assert_close(found.abs(), torch.full_like(found, 0.01 / (2 * B)))


def test_smooth_distances_and_none(batch):
    for location, n_outputs in (("smooth-l1", 3), ("none", 1)):
        model = built(msgspec.structs.replace(SMALL, location=location))
        assert len(model.score.weight) == n_outputs
        output = model(batch)
        terms = model.losses(batch, output)
        if location == "none":
            assert set(terms) == {"alignment"}
            found = model.answer(batch, output)
            windows = batch.windows_s[:, 0] / 30
            torch.testing.assert_close(torch.cat([found.start, found.end], dim=1), windows)
            continue
        target = 24 * (30 * batch.moment - batch.windows_s[:, 0])
        errors = (output.extras["offsets"][:, 0] - target).abs()
        terms_of = torch.where(errors < 1, 0.5 * errors**2, errors - 0.5)
        assert terms["location"].item() == pytest.approx(0.01 * terms_of.mean().item())


def test_only_the_direction_of_features_counts(batch):
    """Section 7, check 3: with a bias of 0, features may be scaled by any positive factor."""
    model = built()
    with torch.no_grad():
        model.embed_video.bias.zero_()
    scaled = dataclasses.replace(batch, video=7 * batch.video)
    torch.testing.assert_close(model(scaled).logits, model(batch).logits)


def test_the_annotated_offsets_give_the_moment(batch):
    """Section 7, check 7: the moment again, from the window and its offsets."""
    model = built()
    output = model(batch)
    offsets = 24 * (30 * batch.moment - batch.windows_s[:, 0])
    exact = dataclasses.replace(output, extras=output.extras | {"offsets": offsets[:, None]})
    found = model.answer(batch, exact)
    torch.testing.assert_close(torch.cat([found.start, found.end], dim=1), batch.moment)


def test_windows_that_a_video_does_not_have_are_no_answers(batch):
    model = built()
    two = torch.cat([batch.windows_s, torch.full_like(batch.windows_s, torch.nan)], dim=1)
    padded = dataclasses.replace(batch, windows_s=two, video=batch.video.repeat(1, 2, 1, 1))
    found = model.answer(padded, model(padded))
    assert torch.isinf(found.score[:, 1]).all()
    assert torch.isfinite(found.start).all()
    assert torch.equal(found.score[:, :1], model.answer(batch, model(batch)).score)


def test_a_sentence_without_a_known_word_is_a_vector_of_0(batch):
    model = built()
    none = dataclasses.replace(batch, word_numbers=torch.ones_like(batch.word_numbers))
    assert not model._sentence(none).any()


def test_published_weights_have_the_published_spread():
    """Section 3.4: N(0, 1) for the embeddings, N(0, 0.01) for the layers of pairs, biases of 0."""
    torch.manual_seed(0)
    model = Ctrl(CtrlSettings(start="published", semantic=64, hidden=50), Inputs(40, 60))
    spread = {name: of.std().item() for name, of in model.named_parameters() if name.endswith("weight")}
    assert spread == pytest.approx(
        {
            "embed_video.weight": 1,
            "embed_sentence.weight": 1,
            "fusion.hidden.weight": 0.01,
            "score.weight": 0.01,
        },
        rel=0.15,
    )
    assert not any(of.any() for name, of in model.named_parameters() if name.endswith("bias"))


def test_no_more_than_products_and_hidden_numbers_of_all_pairs_are_kept():
    """B x B pairs keep H + K + 5 numbers each; the joined pair alone would have 4 H."""
    model = Ctrl(CtrlSettings(semantic=64, hidden=32), Inputs(8, E)).double()
    assert 64 + 32 <= kept_for_a_pair(model) <= 64 + 32 + 5


def test_it_learns_a_batch_by_heart():
    """Section 7, check 8: the diagonal becomes the largest score of each row and column; both losses fall to near 0."""
    torch.manual_seed(0)
    model = Ctrl(CtrlSettings(semantic=64, hidden=64), Inputs(8, E))
    scores, terms = learned_by_heart(model, 56)
    order = torch.arange(56)
    assert torch.equal(scores.argmax(dim=0), order)
    assert torch.equal(scores.argmax(dim=1), order)
    assert terms["alignment"] < 0.05 * 2 * math.log(2) / 56
    assert terms["location"] < 0.01 * 0.5  # half a frame
