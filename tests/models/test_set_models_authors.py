"""Moment-DETR and QD-DETR against numbers of the authors' code: outputs, matching, losses and gradients."""

import pytest
import torch
from detr_authors import RECORDED, authors_name, batch_of, built, recorded_pairs

from truemoment.learning.models.set_matching import costs_of, match, spans_of

METHODS, SIZES = ("moment-detr", "qd-detr"), ("small", "middle", "full")
DIGITS = {torch.float64: 2e-9, torch.float32: 1e-5}
"""How near a number must be: the recorded ones have ten digits after the point."""

UNUSED = "txt_position_embed."
"""A table of the authors' code that no output depends on; our models are without it."""


def near(value, expected, kind=torch.float64):
    expected = torch.as_tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(torch.as_tensor(value).double(), expected, rtol=DIGITS[kind], atol=DIGITS[kind])


def computed(method, size, kind, monkeypatch):
    """Model, batch, output and losses with the recorded pairs of clips, with QD-DETR's mask as published."""
    model = built(method, size, kind, **({"mask": "published"} if method == "qd-detr" else {}))
    monkeypatch.setattr(model, "pairs_of", lambda _: recorded_pairs(size))
    batch = batch_of(size, kind)
    output = model(batch)
    return model, batch, output, model.losses(batch, output)


@pytest.mark.parametrize("kind", [torch.float64, torch.float32], ids=["double", "single"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_outputs_losses_and_gradients_are_those_of_the_authors_code(method, size, kind, monkeypatch):
    golden = RECORDED["golden"][f"{method} {size}"]
    model, batch, output, terms = computed(method, size, kind, monkeypatch)
    extras = output.extras
    real = ~torch.isnan(batch.video[..., 0])
    near(extras["classes"], [*golden["aux_logits"], golden["pred_logits"]], kind)
    near(extras["spans"], [*golden["aux_spans"], golden["pred_spans"]], kind)
    near(extras["rating"] * real, golden["saliency_scores"], kind)
    if method == "qd-detr":
        near(extras["other rating"] * real, golden["saliency_scores_neg"], kind)

    references = spans_of(torch.nan_to_num(batch.moments))
    counts = (~torch.isnan(batch.moments[..., 0])).sum(dim=1)
    slots = match(costs_of(extras["classes"][-1], extras["spans"][-1], references), counts)
    for row, (slot, window) in zip(slots.tolist(), golden["match"], strict=True):
        assert {m: row[m] for m in sorted(window)} == dict(sorted(zip(window, slot, strict=True)))

    losses, weights = golden["losses"], {"span": 10, "giou": 1, "label": 4, "saliency": 1}
    recorded = {name: of for name, of in losses.items() if not name.startswith("class_error")}
    rated = sum(terms.pop(name) for name in ("saliency", "margin", "rank", "negative") if name in terms)
    assert {f"loss_{name}" for name in terms} | {"loss_saliency"} == recorded.keys()
    for name, term in {**terms, "saliency": rated}.items():
        near(term / weights[name.split("_")[0]], recorded[f"loss_{name}"], kind)
    total = sum(terms.values()) + rated
    near(total, golden["total"], kind)

    total.backward()
    gradients = {authors_name(method, name): parameter.grad for name, parameter in model.named_parameters()}
    norms = {name: float(gradient.double().norm()) for name, gradient in gradients.items() if gradient is not None}
    expected = {name: norm for name, norm in golden["gradient_norms"].items() if not name.startswith(UNUSED)}
    assert norms.keys() == expected.keys()
    if kind == torch.float64:
        for name, norm in expected.items():
            assert norms[name] == pytest.approx(norm, rel=1e-8, abs=2e-9), name
