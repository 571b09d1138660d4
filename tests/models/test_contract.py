"""What every family of models promises, over the registry: see truemoment.models.base."""

import dataclasses

import msgspec
import numpy as np
import pytest
import torch

from truemoment.models import FAMILIES, get_family
from truemoment.models.base import Batch, Inputs
from truemoment.training.recipes import names, read_recipe

N_CLIPS, ROWS, WIDTH, VECTOR, HIDDEN = 8, 16, 6, 5, 16
SMALL = {"n_clips": N_CLIPS, "hidden": HIDDEN, "lstm_layers": 1, "kernel": 3, "layers": 1}


def make_model(name, seed=0, **changes):
    family = get_family(name)
    torch.manual_seed(seed)
    settings = msgspec.convert(SMALL | changes, family.settings)
    return family.build(settings, Inputs(WIDTH if "video" in family.needs else 0, VECTOR))


def make_batch(model, n_pairs=4, n_tokens=6, seed=1):
    rng = np.random.default_rng(seed)
    n_words = rng.integers(2, n_tokens + 1, n_pairs)
    n_words[0] = n_tokens
    words = rng.standard_normal((n_pairs, n_tokens, VECTOR)).astype(np.float32)
    words[np.arange(n_tokens)[None] >= n_words[:, None]] = 0
    verbs = np.stack([np.zeros(n_pairs), np.full(n_pairs, -1)], axis=1).astype(np.int64)
    nouns = np.stack([np.ones((n_pairs, 1)), np.full((n_pairs, 1), -1)], axis=1).astype(np.int64)
    sees = "video" in model.needs
    video = rng.standard_normal((2, n_pairs, ROWS, WIDTH)).astype(np.float32)
    return Batch(
        words=torch.from_numpy(words),
        n_words=torch.from_numpy(n_words),
        video=torch.from_numpy(video[0]) if sees else None,
        verbs=torch.from_numpy(verbs) if "phrases" in model.needs else None,
        nouns=torch.from_numpy(nouns) if "phrases" in model.needs else None,
        iou=torch.from_numpy(rng.random((n_pairs, len(model.proposals.cells[0])), dtype=np.float32)),
        other_video=torch.from_numpy(video[1]) if "other video" in model.needs else None,
    )


def rows_of(batch, keep):
    parts = {part.name: getattr(batch, part.name) for part in dataclasses.fields(batch)}
    return Batch(**{name: None if tensor is None else tensor[keep] for name, tensor in parts.items()})


@pytest.fixture(params=FAMILIES)
def model(request):
    return make_model(request.param)


def test_a_model_is_called_what_the_registry_calls_it(model):
    assert FAMILIES[model.name][2] == type(model).__name__


def test_one_score_a_candidate(model):
    output = model(make_batch(model))
    assert output.logits.shape == (4, N_CLIPS * (N_CLIPS + 1) // 2)
    assert torch.isfinite(output.logits).all()


def test_every_term_of_the_loss_is_a_finite_scalar(model):
    batch = make_batch(model)
    terms = model.losses(batch, model(batch))
    assert terms
    assert all(term.shape == () and torch.isfinite(term) for term in terms.values())


def test_every_parameter_learns_something(model):
    """Each gets a finite gradient, and none is 0 throughout over a few batches."""
    moved = {name: 0.0 for name, _ in model.named_parameters()}
    for seed in range(3):
        model.zero_grad()
        batch = make_batch(model, seed=seed)
        torch.stack(list(model.losses(batch, model(batch)).values())).sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            assert torch.isfinite(parameter.grad).all(), name
            moved[name] += float(parameter.grad.abs().sum())
    assert not [name for name, size in moved.items() if size == 0]


def test_padding_behind_a_sentence_changes_nothing(model):
    model.eval()
    batch = make_batch(model)
    longer = dataclasses.replace(batch, words=torch.nn.functional.pad(batch.words, (0, 0, 0, 3)))
    torch.testing.assert_close(model(longer).logits, model(batch).logits, rtol=0, atol=1e-6)


def test_scores_do_not_depend_on_what_else_is_in_the_batch(model):
    model.eval()
    batch = make_batch(model)
    together = model(batch).logits
    order = torch.tensor([2, 0])
    torch.testing.assert_close(model(rows_of(batch, order)).logits, together[order], rtol=0, atol=1e-5)


def test_the_same_seed_makes_the_same_model(model):
    again = make_model(model.name)
    for (name, one), (_, other) in zip(model.state_dict().items(), again.state_dict().items(), strict=True):
        assert torch.equal(one, other), name


def test_two_videos_are_told_apart_unless_the_model_is_blind(model):
    model.eval()
    batch = make_batch(model)
    if "video" not in model.needs:
        seen = dataclasses.replace(batch, video=torch.randn(4, ROWS, WIDTH))
        assert torch.equal(model(seen).logits, model(batch).logits)
    else:
        turned = dataclasses.replace(batch, video=batch.video.flip(1))
        assert not torch.allclose(model(turned).logits, model(batch).logits)


@pytest.mark.parametrize("name", names())
def test_every_recipe_of_the_package_builds_its_model(name):
    recipe = read_recipe(name)
    family = get_family(recipe.model)
    with torch.device("meta"):
        model = family.build(msgspec.convert(recipe.settings, family.settings), Inputs(1024, 300))
    assert model.n_parameters() > 0
    if "video" in family.needs:
        assert recipe.rows % model.proposals.n_clips == 0
