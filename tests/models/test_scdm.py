"""SCDM: against a slow version written from its description, forward and gradient, and what the description states."""

import dataclasses
import math
from itertools import pairwise

import msgspec
import numpy as np
import pytest
import torch

from truemoment.baselines.targets import usable
from truemoment.data.datasets import load_annotations
from truemoment.learning.models.base import Batch, Inputs, ModelOutput, VideoRows
from truemoment.learning.models.scdm import Anchors, Scdm, ScdmSettings

T, H, D, E = 16, 3, 4, 5
SMALL = ScdmSettings(seconds=T, levels=2, hidden=H, head_hidden=3, dropout=0.0, hard_logit=0.0, shortest_s=0.0)


def changed(**values):
    return msgspec.structs.replace(SMALL, **values)


def built(settings=SMALL, seed=0):
    torch.manual_seed(seed)
    model = Scdm(settings, Inputs(D, E)).double()
    with torch.no_grad():  # biases that are not 0 and scales that are not 1, so that they are tested
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    words = torch.randn(3, 4, E, generator=generator, dtype=torch.float64)
    n_words = torch.tensor([4, 1, 3])
    words[torch.arange(4) >= n_words[:, None]] = 0
    video = torch.randn(3, T, D, generator=generator, dtype=torch.float64)
    duration_s = torch.tensor([16.0, 9.3, 12.5], dtype=torch.float64)
    video[torch.arange(T) >= duration_s[:, None]] = 0
    moment_s = torch.tensor([[1.0, 7.5], [0.0, 2.2], [4.1, 7.0]], dtype=torch.float64)
    return Batch(
        words=words, n_words=n_words, video=video, moment=moment_s / duration_s[:, None], duration_s=duration_s
    )


# ---- The slow version


def slow_words(encoder, words):
    """States of both directions side by side: x' = W x, gates from x alone, a squashed state, a highway of x'."""
    states = []
    for direction, order in ((0, words), (1, list(reversed(words)))):
        weight, bias = encoder.weight[direction], encoder.bias[direction]
        c, found = torch.zeros(H, dtype=torch.float64), []
        for x in order:
            w, v_f, v_r = weight[:, :H], weight[:, H : 2 * H], weight[:, 2 * H :]
            f, r = torch.sigmoid(x @ v_f + bias[:H]), torch.sigmoid(x @ v_r + bias[H:])
            c = torch.tanh(f * c + (1 - f) * (x @ w))
            found.append(r * c + (1 - r) * (x @ w))
        states.append(found if direction == 0 else found[::-1])
    return [torch.cat(pair) for pair in zip(*states, strict=True)]


def slow_convolution(layer, rows, stride):
    """Output i reads the kernel's positions around s i, more of the padding on the right."""
    n, kernel = len(rows), layer.weight.shape[2]
    n_out = math.ceil(n / stride)
    left = max((n_out - 1) * stride + kernel - n, 0) // 2
    made = []
    for i in range(n_out):
        total = layer.bias
        for k in range(kernel):
            at = i * stride + k - left
            if 0 <= at < n:
                total = total + layer.weight[:, :, k] @ rows[at]
        made.append(total)
    return made


def slow_block(block, rows, words, *, n_real=None):
    stacked = torch.stack(rows[:n_real])
    mean = stacked.mean(dim=0)
    variance = ((stacked - mean) ** 2).mean(dim=0)
    layer = block.modulate
    modulated = []
    for row in rows:
        if hasattr(layer, "attend"):
            of = layer.attend
            mixed = [torch.tanh(of.keys.weight @ s + of.context.weight @ row + of.context.bias) for s in words]
            weights = torch.softmax(torch.stack([of.score.weight[0] @ each for each in mixed]), dim=0)
            meaning = sum(weight * s for weight, s in zip(weights, words, strict=True))
        else:
            meaning = sum(words) / len(words)
        gamma = torch.tanh(layer.scale.weight @ meaning + layer.scale.bias)
        beta = torch.tanh(layer.shift.weight @ meaning + layer.shift.bias)
        modulated.append(torch.relu(gamma * (row - mean) / torch.sqrt(variance + 1e-6) + beta))
    return slow_convolution(block.convolve, modulated, block.convolve.stride[0])


def slow_levels(model, video, words, duration_s):
    sentence = sum(words) / len(words)
    rows = [torch.relu(model.fuse.weight @ torch.cat([row, sentence]) + model.fuse.bias) for row in video]
    rows = slow_convolution(model.pyramid.convolve, rows, 1)
    levels = []
    for number, block in enumerate(model.pyramid.blocks):
        masked = model.settings.statistics == "video"
        n_real = math.ceil(duration_s.item() / (T / len(rows))) if masked else None
        rows = slow_block(block, rows, words, n_real=n_real)
        if number == 0:
            rows = [torch.maximum(rows[i], rows[i + 1]) for i in range(0, len(rows), 2)]
        else:
            levels.append(rows)
    return levels


def slow_head(head, samples):
    """BN, ReLU, convolution, twice; samples of rows, with the statistics of the batch."""
    for at in (0, 3):
        norm, convolve = head[at], head[at + 2]
        everything = torch.stack([row for rows in samples for row in rows])
        mean = everything.mean(dim=0)
        deviation = torch.sqrt(((everything - mean) ** 2).mean(dim=0) + 1e-3)
        samples = [
            slow_convolution(
                convolve, [torch.relu(norm.weight * (row - mean) / deviation + norm.bias) for row in rows], 1
            )
            for rows in samples
        ]
    return samples


def slow_smooth_l1(error):
    return 0.5 * error**2 if abs(error.item()) < 1 else abs(error) - 0.5


def slow(model, batch):
    """Logits and offsets of all anchors, and the loss."""
    words = [slow_words(model.encode, list(of[:n])) for of, n in zip(batch.words, batch.n_words.tolist(), strict=True)]
    per_video = [slow_levels(model, *of) for of in zip(batch.video, words, batch.duration_s, strict=True)]
    logits, offsets, total = [], [], 0
    for level in range(model.settings.levels):
        rows = [levels[level] for levels in per_video]
        scores = slow_head(model.score[level], rows)
        moves = [[torch.tanh(row) for row in of] for of in slow_head(model.offset[level], rows)]
        logits.append(torch.stack([torch.cat(of) for of in scores]))
        offsets.append(torch.stack([torch.cat(of) for of in moves]))
        total = total + slow_loss(model.settings, batch, scores, moves)
    return torch.cat(logits, dim=1), torch.cat(offsets, dim=1), total


def slow_loss(settings, batch, scores, moves):
    """The loss of a level: anchor by anchor."""
    terms = {"positive": [], "hard": [], "easy": [], "centre": [], "width": []}
    for share, duration, of_cells, of_moves in zip(batch.moment, batch.duration_s, scores, moves, strict=True):
        start, end = (share * duration).tolist()
        cell = settings.seconds / len(of_cells)
        for j, (logit_row, move) in enumerate(zip(of_cells, of_moves, strict=True)):
            for k, width in enumerate((0.25 * cell, 0.5 * cell, 0.75 * cell, cell)):
                centre = (j + 0.5) * cell
                low, high = centre - width / 2, centre + width / 2
                both = max(0.0, min(high, end) - max(low, start))
                g = both / (width + end - start - both)
                probability = torch.sigmoid(logit_row[k])
                entropy = -(g * torch.log(probability) + (1 - g) * torch.log(1 - probability))
                if g > 0.5:
                    terms["positive"].append(entropy)
                    terms["centre"].append(slow_smooth_l1(centre + 0.1 * width * move[2 * k] - (start + end) / 2))
                    terms["width"].append(slow_smooth_l1(width * torch.exp(0.1 * move[2 * k + 1]) - (end - start)))
                elif g < settings.negative_below:
                    terms["hard" if logit_row[k] > settings.hard_logit else "easy"].append(entropy)
    weights = {"positive": 100, "hard": 50, "easy": 50, "centre": 50, "width": 20}
    return sum(weights[name] * sum(values) / len(values) for name, values in terms.items() if values)


@pytest.mark.parametrize(
    "values", [{}, {"sentence_blocks": (0, 1), "first_kernel": 5}, {"statistics": "video", "negative_below": 0.5}]
)
def test_it_is_the_slow_version_forward_and_backward(values, batch):
    model = built(changed(**values))
    logits, offsets, total = slow(model, batch)
    parameters = dict(model.named_parameters())
    expected = torch.autograd.grad(total, list(parameters.values()), allow_unused=True)
    output = model(batch)
    terms = model.losses(batch, output)
    assert all(term > 0 for term in terms.values()), "every kind of anchor is there"
    torch.testing.assert_close(output.logits, logits, rtol=0, atol=1e-9)
    torch.testing.assert_close(output.extras["offsets"].flatten(1), offsets, rtol=0, atol=1e-9)
    torch.testing.assert_close(sum(terms.values()), total, rtol=1e-9, atol=0)
    found = torch.autograd.grad(sum(terms.values()), list(parameters.values()))
    for name, one, other in zip(parameters, found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-7, msg=name)


# ---- What the description states (specification, sections 2, 3, 7 and 8)


def test_parameters_of_the_published_model():
    """I3D features of 1,024 numbers, word vectors of 300, 5 levels; counted by hand from section 2."""
    encoder = 2 * (300 * 3 * 256 + 2 * 256)
    fusion = (1024 + 512) * 512 + 512
    convolution = 512 * 512 * 3 + 512
    attention = 2 * 512 * 256 + 256 + 256
    maps = 2 * (512 * 512 + 512)
    heads = sum(2 * 512 + (512 * 64 * 3 + 64) + 2 * 64 + (64 * n * 3 + n) for n in (4, 8))
    expected = encoder + fusion + convolution + 6 * (attention + maps + convolution) + 5 * heads
    assert expected == 12_491_964
    assert Scdm(ScdmSettings(), Inputs(1024, 300)).n_parameters() == expected


def test_two_blocks_of_the_sentence_have_no_attention():
    """Blocks 0 and 1 of the published model of ActivityNet Captions are SCM."""
    model = built(changed(sentence_blocks=(0, 1)))
    assert [hasattr(block.modulate, "attend") for block in model.pyramid.blocks] == [False, False, True]


@pytest.mark.parametrize(
    ("seconds", "levels", "cells"),
    [
        (64, 5, [16, 8, 4, 2, 1]),  # section 2.5, Charades-STA
        (1024, 7, [256, 128, 64, 32, 16, 8, 4]),  # ActivityNet Captions
        (1024, 5, [256, 128, 64, 32, 16]),  # TACoS
        (256, 7, [64, 32, 16, 8, 4, 2, 1]),  # section 8, ActivityNet-CD
    ],
)
def test_lengths_of_every_map(seconds, levels, cells):
    """Section 2.5, and the totals of anchors of section 2.7: 124, 2,032 and 1,984; 508 in the table of section 8."""
    model = built(changed(seconds=seconds, levels=levels)).eval()
    lengths = []
    for block in model.pyramid.blocks:
        block.register_forward_hook(lambda _, inputs, output: lengths.append((inputs[0].shape, output.shape)))
    batch = Batch(
        words=torch.randn(2, 3, E).double(),
        n_words=torch.tensor([3, 2]),
        video=torch.randn(2, seconds, D).double(),
        duration_s=torch.tensor([20.0, 30.0]).double(),
    )
    with torch.no_grad():
        output = model(batch)
    width = 2 * H
    halved = [seconds // 2, *cells]
    expected = [((2, seconds, width), (2, seconds, width))]
    expected += [((2, n, width), (2, m, width)) for n, m in pairwise(halved)]
    assert lengths == expected
    n_anchors = {64: 124, 256: 508, 1024: 2032 if levels == 7 else 1984}[seconds]
    assert output.logits.shape == (2, n_anchors)
    assert output.extras["offsets"].shape == (2, n_anchors, 2)


def test_narrow_and_wide_anchors_are_left_out():
    """Section 2.7: on TACoS widths of 1 s and less, and of 64 s and more, do not count."""
    cells = [256, 128, 64, 32, 16]
    anchors = Anchors(1024, cells, narrowest_s=1.0, widest_s=64.0)
    assert (anchors.width_s.min(), anchors.width_s.max()) == (2.0, 48.0)
    assert len(anchors) == 1984 - 256 - 16
    everything = Anchors(1024, cells)
    assert torch.equal(everything.centre_s[anchors.number], anchors.centre_s)


def test_offsets_move_an_anchor_by_a_tenth():
    """Section 2.7: no offsets return the anchors; the width changes by 0.905 to 1.105."""
    anchors = Anchors(64, [16, 8, 4, 2, 1])
    centre_s, width_s = anchors.refined(torch.zeros(1, 124, 2))
    assert torch.equal(centre_s[0], anchors.centre_s)
    assert torch.equal(width_s[0], anchors.width_s)
    centre_s, width_s = anchors.refined(torch.tensor([[-1.0, -1.0], [1.0, 1.0]])[:, None].expand(2, 124, 2))
    torch.testing.assert_close(centre_s, anchors.centre_s + 0.1 * torch.tensor([[-1.0], [1.0]]) * anchors.width_s)
    assert (width_s / anchors.width_s)[:, 0].tolist() == pytest.approx([0.905, 1.105], abs=5e-4)


CEILINGS = [  # section 8: dataset, split, T, levels, anchors, IoU above 0.5, 0.7 and 0.9, no positive, longer than T; %
    ("charades-cd", "train", 64, 5, 124, (99.38, 78.09, 13.17), 0.62, 0.29),
    ("charades-cd", "test-iid", 64, 5, 124, (99.51, 75.21, 13.49), 0.49, 0.12),
    ("charades-cd", "test-ood", 64, 5, 124, (98.67, 72.18, 9.34), 1.33, 2.40),
    ("activitynet-cd", "test-iid", 256, 7, 508, (96.22, 75.72, 14.75), 3.78, 0.0),
    ("activitynet-cd", "test-iid", 1024, 7, 2032, (96.22, 75.72, 14.75), 3.78, 0.0),
    ("activitynet-cd", "test-ood", 256, 7, 508, (96.19, 70.15, 11.06), 3.81, 0.17),
    ("activitynet-cd", "test-ood", 1024, 7, 2032, (96.24, 70.18, 11.07), 3.76, 0.0),
]


@pytest.mark.data
@pytest.mark.parametrize("row", CEILINGS, ids=lambda row: f"{row[0]}-{row[1]}-{row[2]}")
def test_ceilings_of_the_anchors(row, data_dir):
    """The table of section 8, to the last digit, from the real annotations, clipped to their videos."""
    dataset, split, seconds, levels, n_all, ceilings, without, longer = row
    settings = ScdmSettings(seconds=seconds, levels=levels)
    assert 4 * sum(settings.cells) == n_all
    anchors = Anchors(seconds, settings.cells, narrowest_s=1.0 if dataset == "activitynet-cd" else 0.0)
    of = load_annotations(dataset, split, data_dir=data_dir)
    moments = torch.from_numpy(np.stack([np.maximum(of.start_s, 0), np.minimum(of.end_s, of.duration_s)], axis=1))
    moments = moments[torch.from_numpy(usable(of))]
    best = torch.cat([anchors.overlaps(some).amax(dim=1) for some in moments.split(2048)])
    found = [100 * (best > above).double().mean().item() for above in (0.5, 0.7, 0.9)]
    assert [round(value, 2) for value in found] == list(ceilings)
    assert round(100 * (best <= 0.5).double().mean().item(), 2) == without
    assert round(100 * float((of.duration_s > seconds).mean()), 2) == longer


def test_a_video_is_seen_second_by_second():
    """Section 8: row t is the mean of the rows whose centre lies in [t, t + 1), or the nearest one; 0 behind it."""
    model = built()
    cases = [(7, 7.0), (7, 6.4), (30, 7.3), (4, 9.8), (1, 3.0), (50, 25.0), (100, 31.7), (3, 0.4)]
    for n, duration_s in cases:
        rows = np.random.default_rng(n).standard_normal((n, D)).astype(np.float32)
        edges_s = np.linspace(0.0, duration_s, n + 1)
        expected = np.zeros((T, D))
        for t in range(min(T, math.ceil(duration_s))):
            centres = [(edges_s[i] + edges_s[i + 1]) / 2 for i in range(n)]
            inside = [i for i in range(n) if t <= centres[i] < t + 1]
            nearest = min(range(n), key=lambda i, t=t, at=centres: abs(at[i] - t - 0.5))
            expected[t] = rows[inside or [nearest]].mean(axis=0)
        found = model.see(VideoRows(rows, edges_s, duration_s), 256)
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_loss_of_a_network_without_opinion(batch):
    """Section 7, check 7: logits of 0 have no hard negatives, and terms of 0.69 a level."""
    model = built(changed(hard_logit=2.0))
    n = model.n_candidates
    level = ModelOutput(torch.zeros(3, n).double(), {"offsets": torch.zeros(3, n, 2).double()})
    terms = model.losses(batch, level)
    assert terms["hard"] == 0
    assert terms["easy"].item() == pytest.approx(2 * 50 * math.log(2))
    assert terms["positive"].item() == pytest.approx(2 * 100 * math.log(2))


def test_only_positive_anchors_learn_a_location(batch):
    """Section 7, check 8."""
    model = built()
    output = model(batch)
    offsets = output.extras["offsets"].detach().requires_grad_()
    terms = model.losses(batch, dataclasses.replace(output, extras={"offsets": offsets}))
    slope = torch.autograd.grad(terms["centre"] + terms["width"], offsets)[0].abs().amax(dim=2)
    positive = model.anchors.overlaps(batch.moment * batch.duration_s[:, None]) > 0.5
    assert torch.equal(slope > 0, positive)


def test_a_window_that_does_not_show_the_moment_has_negatives_alone(batch):
    model = built()
    without = dataclasses.replace(batch, moment=torch.full((3, 2), torch.nan, dtype=torch.float64))
    terms = model.losses(without, model(without))
    assert {name for name, term in terms.items() if term != 0} == {"hard", "easy"}


def test_a_constant_or_a_factor_of_the_channels_changes_nothing_without_attention_to_rows(batch):
    """Section 7, check 3, with W_a = 0."""
    block = built().pyramid.blocks[0].modulate
    torch.nn.init.zeros_(block.attend.context.weight)
    model = built()
    sentence = model.encode_sentence(batch)
    rows = torch.randn(3, T, 2 * H, dtype=torch.float64)
    moved = 3 * rows + torch.randn(2 * H, dtype=torch.float64)
    torch.testing.assert_close(block(moved, sentence), block(rows, sentence), rtol=0, atol=1e-5)


def test_one_word_modulates_as_the_sentence(batch):
    """Section 7, check 6."""
    model = built(changed(sentence_blocks=(0,)))
    of_sentence, of_words = model.pyramid.blocks[0].modulate, model.pyramid.blocks[1].modulate
    of_sentence.load_state_dict({k: v for k, v in of_words.state_dict().items() if not k.startswith("attend")})
    one = model.encode_sentence(dataclasses.replace(batch, n_words=torch.ones(3, dtype=torch.int64)))
    rows = torch.randn(3, T, 2 * H, dtype=torch.float64)
    torch.testing.assert_close(of_words(rows, one), of_sentence(rows, one))


def answered(model, batch, logits, offsets=None):
    offsets = torch.zeros(*logits.shape, 2).double() if offsets is None else offsets
    return model.answer(batch, ModelOutput(logits, {"offsets": offsets}))


def test_answers_longer_than_the_video_are_dropped(batch):
    """Section 4, with videos of 16, 9.3 and 12.5 s; the last level has anchors of 4, 8, 12 and 16 s."""
    model = built(changed(levels=3, clip="input"))
    found = answered(model, batch, torch.zeros(3, model.n_candidates).double())
    dropped = [model.anchors.width_s[of == -torch.inf].tolist() for of in found.score]
    assert dropped == [[], [12.0, 16.0], [16.0]]


def test_answers_are_clipped_to_the_video_or_to_the_input(batch):
    """Anchors behind the video are dropped; as published they stay, and count as wrong."""
    ends = {}
    for clip in ("video", "input"):
        model = built(changed(clip=clip))
        found = answered(model, batch, torch.zeros(3, model.n_candidates).double())
        kept = torch.where(found.score > -torch.inf, found.end, 0)
        ends[clip] = (kept * batch.duration_s[:, None]).amax(dim=1).tolist()
    assert ends == {"video": pytest.approx([16.0, 9.3, 12.5]), "input": pytest.approx([16.0] * 3)}


def test_short_answers_are_dropped_unless_there_is_no_other(batch):
    model = built(changed(shortest_s=1.5))
    found = answered(model, batch, torch.zeros(3, model.n_candidates).double())
    length_s = (found.end - found.start) * batch.duration_s[:, None]
    assert length_s[found.score > -torch.inf].min() >= 1.5
    short = dataclasses.replace(batch, duration_s=torch.full((3,), 0.7, dtype=torch.float64))
    found = answered(model, short, torch.zeros(3, model.n_candidates).double())
    assert (found.score > -torch.inf).any(dim=1).all()


@pytest.mark.parametrize(
    "change", [{"seconds": 48}, {"sentence_blocks": [6]}, {"levels": 0}, {"narrowest_s": 64}, {"widest_s": 1}]
)
def test_settings_that_do_not_fit_are_refused(change):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(change, ScdmSettings)


def test_it_learns_a_batch_by_heart():
    """Section 7, check 9: the IoU of each first answer is above 0.8, without L2."""
    torch.manual_seed(0)
    model = Scdm(changed(levels=2, hidden=16, head_hidden=16, hard_logit=2.0), Inputs(D, E))
    generator = torch.Generator().manual_seed(2)
    pick = torch.randint(model.n_candidates, (16,), generator=generator)
    start = (model.anchors.centre_s - model.anchors.width_s / 2)[pick]  # moments that an anchor can meet
    moment_s = torch.stack([start, start + model.anchors.width_s[pick]], dim=1)
    batch = Batch(
        words=torch.randn(16, 4, E, generator=generator),
        n_words=torch.full((16,), 4),
        video=torch.randn(16, T, D, generator=generator),
        moment=(moment_s / T).float(),
        duration_s=torch.full((16,), T, dtype=torch.float64),
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(40):
        optimiser.zero_grad()
        output = model(batch)
        sum(model.losses(batch, output).values()).backward()
        optimiser.step()
    found = model.answer(batch, output)
    best = found.score.argmax(dim=1, keepdim=True)
    start_s, end_s = (T * ends.gather(1, best).squeeze(1) for ends in (found.start, found.end))
    both = (torch.minimum(end_s, moment_s[:, 1]) - torch.maximum(start_s, moment_s[:, 0])).clamp(min=0)
    iou = both / (torch.maximum(end_s, moment_s[:, 1]) - torch.minimum(start_s, moment_s[:, 0]))
    assert (iou > 0.8).all()
