"""VLG-Net: a slow version from its description, numbers of the authors' code, and what the description states."""

import dataclasses
import math

import msgspec
import pytest
import torch
from authors import drawn, filled, mark, recorded

from truemoment.base.errors import UsageError
from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.layers.positions import index_codes, waves
from truemoment.learning.models.vlg_net import VlgNet, VlgNetSettings

N, H, D, E, L, T = 8, 6, 5, 4, 5, 16
SMALL = VlgNetSettings(
    n_clips=N,
    diagonals=(2, 2),
    hidden=H,
    video_blocks=2,
    video_neighbours=3,
    video_groups=2,
    video_width=3,
    matching_neighbours=2,
    matching_groups=3,
    matching_width=2,
    lstm_layers=1,
    syntactic_blocks=2,
    score_layers=3,
    sentence="multiplied",
    iou_low=0.1,
    iou_high=0.9,
)


def changed(**values):
    return msgspec.structs.replace(SMALL, **values)


def built(settings=SMALL, inputs=None):
    torch.manual_seed(0)
    return VlgNet(settings, inputs or Inputs(D, E)).double()


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    n_words = torch.tensor([5, 3, 4])
    words = torch.randn(3, L, E, generator=generator, dtype=torch.float64)
    words[torch.arange(L) >= n_words[:, None]] = 0
    return Batch(
        words=words,
        n_words=n_words,
        video=torch.randn(3, T, D, generator=generator, dtype=torch.float64),
        heads=torch.tensor([[1, -1, 1, 4, 2], [-1, 0, -1, -1, -1], [1, 0, 1, -1, -1]]),  # two words of each other
        iou=torch.rand(3, len(built().proposals.cells[0]), generator=generator, dtype=torch.float64),
    )


# ---- The slow version: one pair, node by node


def slow_map(layer, rows, kernel=1):
    """Three convolutions over rows, the middle one in groups; no row is beside the first and the last."""
    rows = [torch.relu(layer.first.weight[:, :, 0] @ row + layer.first.bias) for row in rows]
    n_groups = layer.grouped.groups
    width = len(rows[0]) // n_groups
    made = []
    for i in range(len(rows)):
        total = layer.grouped.bias
        for k in range(kernel):
            at = i + k - kernel // 2
            if 0 <= at < len(rows):
                parts = [
                    layer.grouped.weight[g * width : (g + 1) * width, :, k] @ rows[at][g * width : (g + 1) * width]
                    for g in range(n_groups)
                ]
                total = total + torch.cat(parts)
        made.append(layer.last.weight[:, :, 0] @ torch.relu(total) + layer.last.bias)
    return made


def slow_nearest(rows, i, k):
    """The k nearest rows, the row itself first."""
    far = [math.dist(rows[i].tolist(), other.tolist()) for other in rows]
    return sorted(range(len(rows)), key=lambda j: far[j])[:k]


def slow_gcnext(block, rows):
    beside = slow_map(block.temporal, rows, kernel=3)
    made = []
    for i, row in enumerate(rows):
        edges = [torch.cat([rows[j], row]) for j in slow_nearest(rows, i, block.neighbours)]
        best = torch.stack(slow_map(block.semantic, edges)).amax(dim=0)
        made.append(torch.relu(row + beside[i] + best))
    return made


def slow_syntax(block, words, heads):
    edges = {(i, j) for i, j in enumerate(heads[: len(words)]) if j >= 0}
    edges |= {(j, i) for i, j in edges}
    made = []
    for i, word in enumerate(words):
        linked = [j for j in range(len(words)) if (i, j) in edges]
        total = word
        if linked:
            scores = [
                block.score.weight[0] @ torch.relu(block.pair.weight @ torch.cat([word, words[j]])) for j in linked
            ]
            beta = torch.softmax(torch.stack(scores), dim=0)
            total = word + sum(beta[n] * (block.message.weight @ words[j]) for n, j in enumerate(linked))
        made.append(torch.relu(total) + word)
    return made


def slow_update(layer, nodes, others):
    ordering = slow_map(layer.ordering, nodes, kernel=3)
    made = []
    for i, node in enumerate(nodes):
        near = slow_nearest(nodes, i, layer.neighbours)
        # The distance of a node to itself is 0 and has no slope.
        far = [node.new_zeros(()) if j == i else torch.sqrt(((node - nodes[j]) ** 2).sum()) for j in near]
        share = torch.softmax(-torch.stack(far), dim=0)
        alike = sum(share[n] * nodes[j] for n, j in enumerate(near))
        attention = torch.softmax(torch.stack([node @ other for other in others]), dim=0)
        matched = sum(attention[n] * other for n, other in enumerate(others))
        semantic = slow_map(layer.semantic, [torch.cat([node, alike])])[0]
        matching = slow_map(layer.matching, [torch.cat([node, matched])])[0]
        made.append(semantic + matching + ordering[i] + node)
    return made


def slow_wave(at, size):
    angles = [at / 10000 ** (2 * (i // 2) / size) for i in range(size)]
    return torch.tensor([math.sin(a) if i % 2 == 0 else math.cos(a) for i, a in enumerate(angles)])


def slow_logits(model, video, words, heads):
    """Scores of all cells of one pair; words (n, E) without padding."""
    settings = model.settings
    many = T // N
    parts = [video[many * i : many * (i + 1)] for i in range(N)]
    rows = [part[0] if settings.pooling == "first" else part.mean(dim=0) for part in parts]
    if settings.position == "cosine":
        rows = [row + slow_wave(i, D) for i, row in enumerate(rows)]
    nothing = torch.zeros(D).double()
    clips = []
    for i in range(N):
        beside = [rows[j] if 0 <= j < N else nothing for j in (i - 1, i, i + 1)]
        weight = model.project_clips.weight
        total = sum(weight[:, :, k] @ row for k, row in enumerate(beside)) + model.project_clips.bias
        clips.append(torch.relu(total))
    graph = list(model.video_graph)
    for block in graph * 2 if settings.blocks == "shared" else graph:
        clips = slow_gcnext(block, clips)

    states = list(model.encode_query.lstm(words[None])[0][0])
    graph = list(model.syntactic_graph)
    for block in graph * 2 if settings.blocks == "shared" else graph:
        states = slow_syntax(block, states, heads)
    nodes = [torch.relu(model.project_words.weight @ state + model.project_words.bias) for state in states]

    new_clips, new_words = (
        slow_update(model.match.of_clips, clips, nodes),
        slow_update(model.match.of_words, nodes, clips),
    )
    clips = [torch.relu(model.match.last.weight[:, :, 0] @ clip + model.match.last.bias) for clip in new_clips]

    layer = model.moments
    of_words = torch.softmax(
        torch.stack([layer.word.weight[0, :, 0] @ word + layer.word.bias[0] for word in new_words]), 0
    )
    sentence = sum(share * word for share, word in zip(of_words, new_words, strict=True))
    if settings.sentence == "added":
        clip_logits = [layer.clip.weight[0, :, 0] @ torch.cat([sentence, clip]) + layer.clip.bias[0] for clip in clips]
    else:
        clip_logits = [sentence @ clip for clip in clips]
    logits = []
    layers = [model.first_score, *list(model.further_scores) * (2 if settings.blocks == "shared" else 1)]
    for first, last in zip(*(column.tolist() for column in model.proposals.cells), strict=True):
        inside = range(first, last + 1)
        alpha = torch.softmax(torch.stack([clip_logits[t] for t in inside]), dim=0)
        cell = sum(alpha[n] * clips[t] for n, t in enumerate(inside))
        cell = cell + torch.cat([slow_wave(last, H // 2), slow_wave(first, H // 2)])
        for layer in layers:
            cell = torch.relu(layer.weight @ cell + layer.bias)
        logits.append(model.score.weight[0] @ cell + model.score.bias[0])
    return torch.stack(logits)


def slow_loss(settings, logits, iou):
    """Mean cross-entropy with the rescaled IoU of all cells."""
    total = 0
    for of_cells, of_ious in zip(logits, iou, strict=True):
        for logit, value in zip(of_cells, of_ious.tolist(), strict=True):
            target = min(max((value - settings.iou_low) / (settings.iou_high - settings.iou_low), 0), 1)
            probability = torch.sigmoid(logit)
            total = total - target * torch.log(probability) - (1 - target) * torch.log(1 - probability)
    return total / logits.numel()


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"sentence": "added", "pooling": "first", "position": "none"},
        {"blocks": "independent", "matching_neighbours": 4},
    ],
)
def test_it_is_the_slow_version_forward_and_backward(values, batch):
    """To 1e-5 in all; positions are in float32."""
    model = built(changed(**values))
    parameters = dict(model.named_parameters())
    pairs = zip(batch.video, batch.words, batch.n_words.tolist(), batch.heads.tolist(), strict=True)
    logits = torch.stack([slow_logits(model, video, words[:n], heads) for video, words, n, heads in pairs])
    total = slow_loss(model.settings, logits, batch.iou)
    expected = torch.autograd.grad(total, list(parameters.values()))
    output = model(batch)
    torch.testing.assert_close(output.logits, logits, rtol=0, atol=1e-6)
    loss = model.losses(batch, output)["cells"]
    torch.testing.assert_close(loss, total, rtol=0, atol=1e-6)
    found = torch.autograd.grad(loss, list(parameters.values()))
    for name, one, other in zip(parameters, found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6, msg=name)


# ---- Numbers of the authors' code


RECORDED = recorded("vlg_net")
"""Cases of the settings below: what the published figures use, and the variants of the code."""

PUBLISHED = VlgNetSettings(
    n_clips=16,
    diagonals=(3, 2, 2),
    hidden=8,
    video_blocks=2,
    video_neighbours=4,
    video_groups=2,
    video_width=3,
    matching_neighbours=3,
    matching_groups=3,
    matching_width=2,
    lstm_layers=2,
    syntactic_blocks=2,
    score_layers=3,
    neighbours="published",
    padding="published",
    iou_low=0.3,
    iou_high=0.7,
)
CASES = {
    "added": {},
    "multiplied": {"sentence": "multiplied", "video_blocks": 1, "syntactic_blocks": 1, "score_layers": 1},
    "first row": {"pooling": "first", "position": "none", "lstm_layers": 1, "score_layers": 2},
}


@pytest.mark.parametrize("case", CASES)
def test_scores_loss_and_gradients_of_the_authors_code(case):
    """Sentences of 7, 5 and 4 words, of which two are padded; the authors' edges are stored both ways."""
    model = filled(VlgNet(msgspec.structs.replace(PUBLISHED, **CASES[case]), Inputs(6, 5)))
    model.cell_codes, model.clip_codes = index_codes(model.proposals, 8), waves(torch.arange(16), 6).T
    n_words = torch.tensor([7, 5, 4])
    first, last = (torch.from_numpy(column) for column in model.proposals.cells)
    batch = Batch(
        words=drawn("words", 3, 7, 5) * (torch.arange(7) < n_words[:, None])[..., None],
        n_words=n_words,
        video=drawn("video", 3, 32, 6),
        heads=torch.tensor([[1, -1, 3, 1, 1, 6, 4], [2, 0, -1, 2, 3, -1, -1], [-1, 0, 1, 1, -1, -1, -1]]),
        iou=(drawn("ious", 3, 16, 16)[:, first, last] + 1) / 2,
    )
    expected = RECORDED["cases"][case]
    output = model(batch)
    assert output.logits.shape == (3, 72)
    assert mark(output.logits) == pytest.approx(expected["logits"], rel=1e-9)
    loss = model.losses(batch, output)["cells"]
    assert loss.item() == pytest.approx(expected["loss"], rel=1e-9)
    loss.backward()
    gradients = {name: 0.0 if of.grad is None else mark(of.grad) for name, of in model.named_parameters()}
    assert gradients == pytest.approx(expected["gradients"], rel=1e-8, abs=1e-10)


# ---- What the description states (specification, sections 7 to 11)

TACOS = {
    "n_clips": 256,
    "diagonals": (5, 8, 8, 8),
    "position": "none",
    "video_blocks": 4,
    "video_neighbours": 3,
    "matching_neighbours": 3,
    "matching_groups": 32,
    "matching_width": 4,
    "lstm_layers": 5,
    "syntactic_blocks": 2,
}
MAD = {
    "n_clips": 64,
    "diagonals": (5, 8, 8, 8),
    "position": "none",
    "video_blocks": 7,
    "video_neighbours": 7,
    "matching_neighbours": 5,
    "matching_groups": 32,
    "matching_width": 4,
    "lstm_layers": 1,
    "syntactic_blocks": 0,
    "score_layers": 5,
}


@pytest.mark.parametrize(
    ("values", "inputs", "shared", "independent", "cells"),
    [
        ({"n_clips": 64, "diagonals": (15, 8, 8)}, Inputs(500, 300), 11_741_699, 14_102_531, 1104),
        (TACOS, Inputs(4096, 300), 19_330_563, 21_111_299, 3101),
        (MAD, Inputs(512, 512), 5_330_435, 8_105_987, 626),
    ],
    ids=["activitynet", "tacos", "mad"],
)
def test_parameters_and_cells_of_the_published_models(values, inputs, shared, independent, cells):
    """Section 9; shared blocks and independent ones."""
    with torch.device("meta"):
        for blocks, expected in (("shared", shared), ("independent", independent)):
            model = VlgNet(VlgNetSettings(**values, blocks=blocks), inputs)
            assert model.n_parameters() == expected
            assert model.n_candidates == cells


def test_the_cells_of_16_clips_are_all():
    """Section 11.3: 136 cells."""
    with torch.device("meta"):
        assert VlgNet(VlgNetSettings(), Inputs(D, E)).n_candidates == 136


def test_a_sentence_that_is_added_has_no_effect_on_the_attention(batch):
    """A softmax does not change when one number is added to all logits; so the graph of words learns nothing."""
    clips = torch.randn(3, H, N).double()
    for kind, has_effect in (("added", False), ("multiplied", True)):
        model = built(changed(sentence=kind))
        one, other = (model.moments.weights(clips, torch.randn(3, H).double()) for _ in range(2))
        assert torch.allclose(one, other, atol=1e-12) != has_effect
        model.losses(batch, model(batch))["cells"].backward()
        slopes = [parameter.grad.abs().max().item() for parameter in model.match.of_words.parameters()]
        assert (max(slopes) > 1e-8) == has_effect


def test_one_word_of_padding_leaks_in_the_published_code(batch):
    """Section 9: through the convolution over three words, to the last word; in "masked" it does not."""
    for padding, leaks in (("published", True), ("masked", False)):
        model = built(changed(padding=padding))
        longer = {
            "words": torch.nn.functional.pad(batch.words, (0, 0, 0, 2)),
            "heads": torch.nn.functional.pad(batch.heads, (0, 2), value=-1),
        }
        difference = (model(dataclasses.replace(batch, **longer)).logits - model(batch).logits).abs().amax(dim=1)
        assert (difference[0] > 1e-6) == leaks, "the longest sentence, which had no padding"
        assert difference[1:].max() < 1e-12, "these had padding before"


def test_sentences_shorter_than_the_neighbours_are_scored(batch):
    """Section 8.7: the published code fails where k is larger than the number of words."""
    model = built(changed(matching_neighbours=7, video_neighbours=20))
    alone = dataclasses.replace(
        batch,
        words=batch.words[1:2, :1],
        n_words=torch.tensor([1]),
        video=batch.video[1:2],
        heads=torch.tensor([[-1]]),
    )
    assert torch.isfinite(model(alone).logits).all()


def test_rows_are_a_multiple_of_the_clips(batch):
    with pytest.raises(UsageError, match="multiple of 8 clips"):
        built()(dataclasses.replace(batch, video=batch.video[:, :13]))


@pytest.mark.parametrize("values", [{"hidden": 7}, {"iou_high": 0.7}, {"neighbours": "true"}, {"diagonals": [0]}])
def test_settings_that_mean_nothing_are_refused(values):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(values, VlgNetSettings)


def test_dropout_leaves_out_a_number_in_all_cells_of_a_pair():
    """Section 2.5: Dropout2d."""
    model = built(changed(dropout=0.5))
    layer = torch.nn.Linear(H, H).double()
    torch.nn.init.ones_(layer.bias)
    torch.nn.init.zeros_(layer.weight)
    dropped = model._scored(layer, torch.randn(3, 20, H).double())
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert set(dropped.flatten().tolist()) == {0.0, 2.0}
