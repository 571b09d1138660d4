"""ABLR: against a slow version written from its description, forward and gradient, and what the description states."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from truemoment.learning.models.ablr import Ablr, AblrSettings
from truemoment.learning.models.base import Batch, Inputs, VideoRows

M, H, D, E = 6, 4, 3, 5
SMALL = AblrSettings(n_clips=M, hidden=H, location_hidden=3, dropout=0.0, location_bias=0.4)


def built(settings=SMALL, seed=0):
    torch.manual_seed(seed)
    model = Ablr(settings, Inputs(D, E)).double()
    with torch.no_grad():  # biases and peepholes that are not 0, so that they are tested
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    words = torch.randn(3, 4, E, generator=generator, dtype=torch.float64)
    n_words = torch.tensor([4, 2, 3])
    words[torch.arange(4) >= n_words[:, None]] = 0
    return Batch(
        words=words,
        n_words=n_words,
        video=torch.randn(3, M, D, generator=generator, dtype=torch.float64),
        moment=torch.tensor([[0.2, 0.7], [0.0, 1.0], [0.5, 0.55]], dtype=torch.float64),
    )


# ---- The slow version


def slow_direction(lstm, direction, rows):
    """One direction of the LSTM, gate by gate: rows in the order i, j, f, o; a forget bias of 1; peepholes."""
    h = c = torch.zeros(H, dtype=torch.float64)
    p_i, p_f, p_o = lstm.peepholes[direction]
    states = []
    for row in rows:
        z = torch.cat([row, h]) @ lstm.weight[direction] + lstm.bias[direction]
        i, j, f, o = z[:H], z[H : 2 * H], z[2 * H : 3 * H], z[3 * H :]
        c = torch.sigmoid(f + 1 + p_f * c) * c + torch.sigmoid(i + p_i * c) * torch.tanh(j)
        h = torch.sigmoid(o + p_o * c) * torch.tanh(c)
        states.append(h)
    return states


def slow_encoder(encoder, rows):
    forth = slow_direction(encoder.lstm, 0, rows)
    back = slow_direction(encoder.lstm, 1, list(reversed(rows)))[::-1]
    linear = encoder.join
    return [torch.relu(linear.weight @ torch.cat(pair) + linear.bias) for pair in zip(forth, back, strict=True)]


def slow_attention(layer, keys, context):
    scores = []
    for key in keys:
        mixed = torch.tanh(layer.keys.weight @ key + layer.context.weight @ context + layer.context.bias)
        scores.append(layer.score.weight[0] @ mixed)
    exponentials = [torch.exp(score) for score in scores]
    weights = [value / sum(exponentials) for value in exponentials]
    return weights, sum(weight * key for weight, key in zip(weights, keys, strict=True))


def slow(model, batch):
    """Attention, ends and loss of each pair, one after the other."""
    found = []
    for video, words, n_words, moment in zip(batch.video, batch.words, batch.n_words, batch.moment, strict=True):
        clips = slow_encoder(model.encode_video, list(video))
        query = slow_encoder(model.encode_query, list(words[:n_words]))
        _, seen = slow_attention(model.attend_video, clips, sum(query) / len(query))
        _, sentence = slow_attention(model.attend_words, query, seen)
        weights, seen = slow_attention(model.attend_video, clips, sentence)
        evidence = torch.stack(weights) if model.settings.head == "weights" else torch.cat([seen, sentence])
        for layer in model.locate:
            evidence = layer(evidence)
        ends = torch.relu(evidence)
        errors = [abs(end - at) for end, at in zip(ends, moment, strict=True)]
        terms = [0.5 * error**2 if error.item() < 1 else error - 0.5 for error in errors]
        low, high = math.floor(M * moment[0]), min(M, math.floor(M * moment[1]))
        inside = [torch.log(weights[k]) / (high - low) for k in range(low, high)]
        found.append((torch.stack(weights), ends, sum(terms), -sum(inside) if inside else torch.tensor(0.0)))
    weights, ends, regression, calibration = zip(*found, strict=True)
    total = 100 * sum(regression) / len(batch) + 5 * sum(calibration) / len(batch)
    return torch.stack(weights), torch.stack(ends), total


@pytest.mark.parametrize("head", ["weights", "features"])
def test_it_is_the_slow_version_forward_and_backward(batch, head):
    model = built(_changed(head=head))
    weights, ends, total = slow(model, batch)
    expected = torch.autograd.grad(total, list(model.parameters()))
    output = model(batch)
    loss = sum(model.losses(batch, output).values())
    torch.testing.assert_close(output.logits.exp(), weights, rtol=0, atol=1e-10)
    torch.testing.assert_close(output.extras["location"], ends, rtol=0, atol=1e-10)
    torch.testing.assert_close(loss, total, rtol=1e-10, atol=0)
    for one, other in zip(torch.autograd.grad(loss, list(model.parameters())), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-10)


def _changed(**values):
    return AblrSettings(**{name: getattr(SMALL, name) for name in AblrSettings.__struct_fields__} | values)


# ---- What the description states (specification, sections 2 to 7)


def test_parameters_of_the_published_model():
    """Features of 500 numbers, word vectors of 300, h = 256, M = 128, ABLR-aw; counted by hand."""
    model = Ablr(AblrSettings(), Inputs(500, 300))
    lstm = {n: 2 * ((n + 256) * 1024 + 1024 + 3 * 256) for n in (500, 300)}
    attention = 2 * 256 * 256 + 256 + 256
    expected = sum(lstm.values()) + 2 * (512 * 256 + 256) + 2 * attention + (128 * 64 + 64) + (64 * 2 + 2)
    assert model.n_parameters() == expected


def test_clips_share_a_row_with_their_neighbours():
    """Section 2.1: clip i averages rows floor(i r) to floor((i + 1) r), both included, with r = (n - 1) / M."""
    model = built()
    for n in (1, 4, 6, 7, 19, 50):
        rows = np.random.default_rng(n).standard_normal((n, D)).astype(np.float32)
        r = (n - 1) / M
        bounds = [(math.floor(i * r + 1e-9), math.floor((i + 1) * r + 1e-9)) for i in range(M)]
        expected = [rows[low : high + 1].mean(axis=0) for low, high in bounds]
        found = model.see(VideoRows(rows, np.linspace(0, 9, n + 1), 9.0), 256)
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_attention_sums_to_1_and_padding_has_none(batch):
    output = built()(batch)
    words = output.extras["words"].exp()
    torch.testing.assert_close(output.logits.exp().sum(dim=1), torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(words.sum(dim=1), torch.ones(3, dtype=torch.float64))
    assert not words[torch.arange(4) >= batch.n_words[:, None]].any()


def test_the_loss_of_even_attention_is_that_of_the_number_of_clips(batch):
    """Section 7, check 6: even attention has a calibration of ln M where a clip is inside."""
    model = built()
    shown = dataclasses.replace(batch, moment=torch.tensor([[0.2, 0.7], [0.0, 1.0], [0.5, 0.9]]).double())
    output = model(shown)
    even = dataclasses.replace(output, logits=torch.full_like(output.logits, -math.log(M)))
    assert model.losses(shown, even)["calibration"].item() == pytest.approx(5 * math.log(M))


def test_a_moment_within_a_clip_has_no_target_and_the_other_rule_has_one():
    exclusive, inclusive = (built(_changed(calibration=rule)) for rule in ("exclusive", "inclusive"))
    moment = torch.tensor([[0.51, 0.6], [0.2, 0.7], [0.0, 1.0]]).double()
    assert exclusive._clips_of(moment).sum(dim=1).tolist() == pytest.approx([0, 1, 1])
    assert inclusive._clips_of(moment).sum(dim=1).tolist() == pytest.approx([1 / 2, 4 / 5, 6 / 7])


def test_the_query_attention_acts_through_the_last_step_alone(batch):
    """Section 7, check 4: with the attended words held fixed, its parameters have no gradient (ABLR-aw)."""
    model = built()
    original = model.attend_words.forward
    model.attend_words.forward = lambda *of: original(*of).detach()
    loss = sum(model.losses(batch, model(batch)).values())
    assert torch.autograd.grad(loss, model.attend_words.score.weight, allow_unused=True)[0] is None


def test_a_window_that_does_not_show_the_moment_has_no_loss(batch):
    model = built()
    without = dataclasses.replace(batch, moment=torch.full((3, 2), torch.nan, dtype=torch.float64))
    assert sum(model.losses(without, model(without)).values()).item() == 0


def test_answers_are_rounded_down_to_clips(batch):
    model = built().eval()
    output = model(batch)
    found = model.answer(batch, output)
    expected = torch.floor(output.extras["location"] * M) / M
    assert torch.equal(torch.cat([found.start, found.end], dim=1), expected)
    exact = built(_changed(quantised=False)).eval().answer(batch, output)
    assert torch.equal(torch.cat([exact.start, exact.end], dim=1), output.extras["location"])


@pytest.mark.parametrize(
    ("head", "furthest"), [("features", 0.02), pytest.param("weights", 0.1, marks=pytest.mark.thorough)]
)
@pytest.mark.slow
def test_it_learns_a_batch_by_heart(head, furthest):
    """Section 9.3: both ends of 8 samples within 0.02. ABLR-aw sees weights alone, through a map of rank 2."""
    torch.manual_seed(0)
    model = Ablr(_changed(n_clips=M, hidden=24, location_hidden=32, head=head), Inputs(D, E))
    generator = torch.Generator().manual_seed(2)
    ends = (0.2 + 0.8 * torch.rand(8, 2, generator=generator)).sort(dim=1).values  # no output is dead
    batch = Batch(
        words=torch.randn(8, 4, E, generator=generator),
        n_words=torch.full((8,), 4),
        video=torch.randn(8, M, D, generator=generator),
        moment=ends,
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(100):
        for group in optimiser.param_groups:
            group["lr"] = 0.01 * (1 - step / 100)
        optimiser.zero_grad()
        sum(model.losses(batch, model(batch)).values()).backward()
        optimiser.step()
    assert (model(batch).extras["location"] - ends).abs().max() < furthest
