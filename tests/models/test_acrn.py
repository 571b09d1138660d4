"""ACRN: against a slow version written from its description, forward and gradient, and what the description states.

Sections are those of the specification of ACRN, and come from the code in the mirror Naman-Bhalla/ACRN_mirror.
"""

import dataclasses
import math

import msgspec
import pytest
import torch
from authors import drawn as numbers_of
from authors import filled, mark, recorded
from slow_windows import (
    B,
    D,
    E,
    assert_same_gradients,
    gradients,
    kept_for_a_pair,
    pairs,
    sentences,
    slow_loss,
    two_layers,
    unit,
)

from truemoment.base.errors import InputError
from truemoment.learning.models.acrn import Acrn, AcrnSettings
from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.ctrl import Ctrl, CtrlFusion, CtrlSettings
from truemoment.learning.training.recipes import read_recipe

H, K, POOL = 8, 7, 2
SMALL = AcrnSettings(semantic=H, hidden=K, pool=POOL)


def built(settings=SMALL, seed=0):
    torch.manual_seed(seed)
    return Acrn(settings, Inputs(D, E)).double()


@pytest.fixture
def batch():
    return pairs()


def slow_attention(slots, q):
    """Section 2.3: memory, weights and attended slots of one window and one sentence."""
    energies, memory = [], torch.zeros(H, dtype=torch.float64)
    for x in slots:
        memory = memory + x
        energies.append((torch.tanh(memory) * torch.tanh(q)).sum())
    weights = [torch.exp(e) / sum(torch.exp(other) for other in energies) for e in energies]
    return weights, sum(weight * x for weight, x in zip(weights, slots, strict=True))


def slow_fused(v, s):
    """Section 2.4: [v; s; outer product of the pooled vectors], the index of v major."""
    pooled = [[sum(of[POOL * a : POOL * (a + 1)]) / POOL for a in range(H // POOL)] for of in (v, s)]
    return torch.cat([v, s, torch.stack([one * other for one in pooled[0] for other in pooled[1]])])


def slow(model, batch):
    """Predictions [i][j] of sentence i and window j."""
    windows = [[model.embed_video.weight @ f + model.embed_video.bias for f in of[0]] for of in batch.video]
    queries = [model.embed_sentence.weight @ of + model.embed_sentence.bias for of in sentences(batch)]
    predicted = []
    for q in queries:
        row = []
        for slots, own in zip(windows, queries, strict=True):
            _, attended = slow_attention(slots, own if model.settings.attention == "matched" else q)
            row.append(two_layers(model, slow_fused(unit(attended), unit(q))))
        predicted.append(row)
    return predicted


@pytest.mark.parametrize("attention", ["matched", "every"])
def test_it_is_the_slow_version_forward_and_backward(batch, attention):
    model = built(msgspec.structs.replace(SMALL, attention=attention))
    predicted = slow(model, batch)
    expected = gradients(slow_loss(predicted, batch), model)
    output = model(batch)
    scores = torch.stack([torch.stack([of[0] for of in row]) for row in predicted])
    torch.testing.assert_close(model.score_all(output), scores, rtol=0, atol=1e-10)
    own = torch.stack([predicted[i][i] for i in range(B)])
    torch.testing.assert_close(output.extras["offsets"][:, 0], own[:, 1:], rtol=0, atol=1e-10)
    loss = sum(model.losses(batch, output).values())
    torch.testing.assert_close(loss, slow_loss(predicted, batch), rtol=1e-10, atol=0)
    assert_same_gradients(gradients(loss, model), expected)


def test_training_and_answers_of_the_authors_code():
    """One window for each of four sentences; answers are of every sentence with every window, as in its test."""
    expected = recorded("acrn")
    model = filled(Acrn(AcrnSettings(semantic=8, hidden=7, pool=2), Inputs(5, 6)), [("embed", 2.0)])
    window = 2 + 10 * (numbers_of("start", 4, 1) + 1) + torch.tensor([0, 128 / 24], dtype=torch.float64)
    batch = Batch(
        words=numbers_of("sentence", 4, 1, 6),
        n_words=torch.ones(4, dtype=torch.long),
        word_numbers=torch.full((4, 1), 2),
        video=numbers_of("video", 4, 1, 3, 5),
        windows_s=window[:, None],
        moment=(window + 0.5 * numbers_of("offsets", 4, 2)) / 30,
        duration_s=torch.full((4,), 30.0, dtype=torch.float64),
    )
    output = model(batch)
    for found, name in ((model.score_all(output), "scores"), (output.extras["offsets"][:, 0], "offsets")):
        torch.testing.assert_close(found, torch.tensor(expected[name], dtype=torch.float64), rtol=1e-9, atol=1e-11)
    terms = model.losses(batch, output)
    assert {name: term.item() for name, term in terms.items()} == pytest.approx(expected["losses"], rel=1e-9)
    sum(terms.values()).backward()
    gradients_of = {name: mark(of.grad) for name, of in model.named_parameters()}
    assert gradients_of == pytest.approx(expected["gradients"], rel=1e-8, abs=1e-10)
    for sentence, answers in enumerate(expected["answers"]):
        words = batch.words[sentence].expand(4, -1, -1)
        output = model(dataclasses.replace(batch, words=words))
        found = torch.cat([output.logits[:, :, None], output.extras["offsets"]], dim=2)[:, 0]
        torch.testing.assert_close(found, torch.tensor(answers, dtype=torch.float64), rtol=1e-9, atol=1e-11)


def test_parameters_of_the_published_model():
    """Section 2.5: 15,259,555 with features of 4,096 numbers and sentences of 4,800."""
    with torch.device("meta"):
        model = Acrn(AcrnSettings(), Inputs(4096, 4800))
    assert model.n_parameters() == 15_259_555
    assert model.fusion.hidden.in_features == 6144


def attended(model, slots, query):
    windows, extras = model.attend(slots[None, None], query[None])
    return windows[0, 0], extras["attention"][0, 0]


def drawn(*shape, seed=3):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_three_equal_slots_give_the_slot():
    """Section 7, check 2."""
    slot = drawn(H)
    energies_do_not_matter = slot.clone().requires_grad_()
    found, weights = attended(built(), slot.expand(3, H), energies_do_not_matter)
    torch.testing.assert_close(found, slot)
    assert weights.sum().item() == pytest.approx(1)
    (gradient,) = torch.autograd.grad(found.sum(), energies_do_not_matter)
    torch.testing.assert_close(gradient, torch.zeros(H, dtype=torch.float64))


def test_the_memory_looks_back_alone():
    """Section 7, check 3: the order of contexts counts; another last slot leaves the first two energies as they are."""
    model, slots, query = built(), drawn(3, H), drawn(H, seed=4)
    _, weights = attended(model, slots, query)
    _, swapped = attended(model, slots[[2, 1, 0]], query)
    assert not torch.allclose(swapped.flip(0), weights)
    other = torch.cat([slots[:2], drawn(1, H, seed=5)])
    _, changed = attended(model, other, query)
    assert (changed[0] / changed[1]).item() == pytest.approx((weights[0] / weights[1]).item())
    assert not torch.allclose(changed, weights)


def test_a_query_of_zeros_attends_to_all_slots_alike():
    """Section 7, check 4; the entropy of even weights is ln 3."""
    _, extras = built().attend(drawn(1, 1, 3, H), torch.zeros(1, H, dtype=torch.float64))
    torch.testing.assert_close(extras["attention"], torch.full((1, 1, 3), 1 / 3, dtype=torch.float64))
    assert extras["entropy"].item() == pytest.approx(math.log(3))


@pytest.mark.parametrize(("attention", "changed"), [("matched", [0, 1, 2, 3]), ("every", [1])])
def test_a_sentence_changes_its_row_and_in_the_published_attention_its_column(batch, attention, changed):
    """Section 7, check 8."""
    model = built(msgspec.structs.replace(SMALL, attention=attention))
    words = batch.words.clone()
    words[1] = drawn(4, E, seed=6)
    scores = model.score_all(model(batch))
    others = model.score_all(model(dataclasses.replace(batch, words=words)))
    differs = ~torch.isclose(scores, others, rtol=0, atol=1e-9)
    assert differs[1].all()
    assert differs.any(dim=1).nonzero()[:, 0].tolist() == changed
    assert differs.any(dim=0).nonzero()[:, 0].tolist() == [0, 1, 2, 3]
    without = differs[[0, 2, 3]][:, [0, 2, 3]]
    assert not without.any()


def test_one_slot_and_the_fusion_of_ctrl_are_ctrl_without_context(batch):
    """Section 7, check 10."""
    model = built()
    model.fusion = CtrlFusion(H, K).double()
    ctrl = Ctrl(CtrlSettings(semantic=H, hidden=K), Inputs(D, E)).double()
    ctrl.load_state_dict(model.state_dict() | {"embed_video.weight": torch.zeros(H, 3 * D, dtype=torch.float64)})
    with torch.no_grad():
        ctrl.embed_video.weight[:, D : 2 * D] = model.embed_video.weight
    one = model(dataclasses.replace(batch, video=batch.video[:, :, 1:2]))
    other = ctrl(batch)
    torch.testing.assert_close(one.logits, other.logits)
    torch.testing.assert_close(one.extras["offsets"], other.extras["offsets"])
    torch.testing.assert_close(model.score_all(one), ctrl.score_all(other))


def test_contexts_count_where_they_are_real(batch):
    """Section 9, 4: contexts of zeros change answers."""
    model = built()
    video = batch.video.clone()
    video[:, :, [0, 2]] = 0
    assert not torch.isclose(model(dataclasses.replace(batch, video=video)).logits, model(batch).logits).any()


def test_a_width_that_cannot_be_pooled_is_refused():
    with pytest.raises(InputError, match=r"acrn.yaml: field settings: got pool 3, expected a divisor of semantic, 64"):
        read_recipe("acrn", ["settings.pool=3"])


def test_only_hidden_numbers_of_all_pairs_are_kept():
    """B x B pairs keep K + 5 numbers each; the outer products alone would have 256."""
    model = Acrn(AcrnSettings(semantic=64, hidden=32, pool=4), Inputs(8, E)).double()
    assert 32 <= kept_for_a_pair(model) <= 32 + 5
