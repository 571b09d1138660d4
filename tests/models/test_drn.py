"""DRN: against a slow version of its description, against numbers of the authors' code, and what both state."""

import dataclasses
import math

import msgspec
import numpy as np
import pytest
import torch
from authors import drawn, filled, mark, recorded
from torch import nn

from truemoment.learning.models import drn
from truemoment.learning.models.base import Batch, Inputs, VideoRows
from truemoment.learning.models.drn import Drn, DrnSettings, conv_block

T, H, D, E = 8, 3, 4, 5
SMALL = DrnSettings(
    n_clips=T, hidden=H, position=2, channels=2, pyramid=4, iou_above=0.2, clipped="all", candidate_probability=0.3
)
RANGES = [(-1, 6), (5.6, 11), (11, math.inf)]
"""Specification, section 3.1: in clips, for 32 clips."""


def changed(**values):
    return msgspec.structs.replace(SMALL, **values)


def built(settings=SMALL, seed=0):
    torch.manual_seed(seed)
    model = Drn(settings, Inputs(D, E)).double()
    with torch.no_grad():  # scales, biases and factors of norms that differ from where they start
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    words = torch.randn(4, 4, E, generator=generator, dtype=torch.float64)
    n_words = torch.tensor([4, 2, 3, 1])
    words[torch.arange(4) >= n_words[:, None]] = 0
    return Batch(
        words=words,
        n_words=n_words,
        video=torch.randn(4, T, D, generator=generator, dtype=torch.float64),
        moment=torch.tensor([[0.1, 0.9], [0.0, 0.4], [0.3, 0.75], [0.5, 0.56]], dtype=torch.float64),
    )


# ---- The slow version, position by position


def slow_convolution(conv, rows):
    """`rows` are the positions of a map, each (B, C)."""
    kernel, stride = conv.weight.shape[2], conv.stride[0]
    found = []
    for middle in range(0, len(rows), stride):
        total = 0 if conv.bias is None else conv.bias
        for tap in range(kernel):
            at = middle + tap - kernel // 2
            if 0 <= at < len(rows):
                total = total + rows[at] @ conv.weight[:, :, tap].T
        found.append(total)
    return found


def slow_block(block, rows):
    """Convolution, batch norm over pairs and positions, ReLU."""
    conv, norm, _ = block
    rows = slow_convolution(conv, rows)
    values = torch.cat(rows)
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    return [torch.relu((row - mean) / torch.sqrt(variance + 1e-5) * norm.weight + norm.bias) for row in rows]


def slow_states(lstm, words):
    """One direction of an LSTM with gates in the order i, f, g, o."""
    h = c = torch.zeros(H, dtype=torch.float64)
    states = []
    for word in words:
        gates = lstm.weight_ih_l0 @ word + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ h + lstm.bias_hh_l0
        i, f, g, o = gates.reshape(4, H)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    return states


def slow_queries(layer, words):
    """The three sentence vectors of a sentence without padding."""
    forth = slow_states(layer.lstm.forth, words)
    back = slow_states(layer.lstm.back, list(reversed(words)))[::-1]
    states = [torch.cat(pair) for pair in zip(forth, back, strict=True)]
    common = torch.relu(layer.shared(torch.cat([states[0], states[-1]])))
    vectors = []
    for level in layer.levels:
        command = level(common)
        weights = torch.exp(torch.stack([layer.score(command * state)[0] for state in states]))
        vectors.append(sum(weight * state for weight, state in zip(weights / weights.sum(), states, strict=True)))
    return vectors


def slow_forward(model, batch):
    """Logits, distances and IoU logits of each pair and location."""
    queries = [slow_queries(model.queries, list(of[:n])) for of, n in zip(batch.words, batch.n_words, strict=True)]
    video, maps = model.video, []
    rows = [video.project(batch.video[:, k]) for k in range(T)]
    for level in range(3):
        factor = torch.stack([video.modulate[level](of[level]) for of in queries])
        rows = [factor * row for row in rows]
        if level == 0:
            ends = [torch.tensor([k / T, (k + 1) / T, 1 / T], dtype=torch.float64) for k in range(T)]
            rows = [
                torch.cat([row, video.place(of).expand(len(row), -1)], dim=1)
                for row, of in zip(rows, ends, strict=True)
            ]
        rows = slow_block(video.convolve[level], rows)
        maps.append(rows)
    above, levels = None, []
    for level in (2, 1, 0):
        joined = slow_block(video.pyramid.lateral[level], maps[level])
        if above is not None:
            joined = [row + above[k // 2] for k, row in enumerate(joined)]
        levels.insert(0, slow_block(video.pyramid.smooth[level], joined))
        above = joined
    logits, distances, ious = [], [], []
    for level, rows in enumerate(levels):
        match, regress = slow_block(model.head.match_tower, rows), slow_block(model.head.regress_tower, rows)
        logits += slow_convolution(model.head.match, match)
        of_level = slow_convolution(model.head.regress, regress)
        distances += [torch.exp(model.head.scales[level] * row) for row in of_level]
        mixed = [torch.cat(pair, dim=1) for pair in zip(match, regress, strict=True)]
        hidden = slow_block(model.iou[1], slow_block(model.iou[0], mixed))
        ious += slow_convolution(model.iou[2], hidden)
    return torch.cat(logits, dim=1), torch.stack(distances, dim=1), torch.cat(ious, dim=1)


def slow_losses(model, batch, logits, distances, ious):
    """The three terms, location by location."""
    settings = model.settings
    focal, n_positive, regression, errors = 0.0, 0, [], []
    for b, (start, end) in enumerate((T * batch.moment).tolist()):
        p = 0
        for level in range(3):
            for k in range(T // 2**level):
                t = k * 2**level + 2**level / 2
                probability = torch.sigmoid(logits[b, p])
                low, high = (bound * T / 32 for bound in RANGES[level])
                if min(t - start, end - t) > 0 and low <= max(t - start, end - t) <= high:
                    focal -= 0.25 * (1 - probability) ** 2 * torch.log(probability)
                    n_positive += 1
                    inside = torch.minimum(distances[b, p], torch.tensor([t - start, end - t]).double()).sum()
                    union = distances[b, p].sum() + (end - start) - inside
                    regression.append(-torch.log((inside + 1e-8) / (union + 1e-8)))
                else:
                    focal -= 0.75 * probability**2 * torch.log(1 - probability)
                s, e = (t - distances[b, p, 0]) / T, (t + distances[b, p, 1]) / T
                if settings.clipped == "all" or p == 0:
                    s, e = s.clamp(0, 1), e.clamp(0, 1)
                inside = (e.clamp(max=end / T) - s.clamp(min=start / T)).clamp(min=0)
                iou = inside / (e.clamp(min=end / T) - s.clamp(max=start / T) + 1e-6)
                if settings.iou_above is None or iou > settings.iou_above:
                    errors.append(0.5 * (torch.sigmoid(ious[b, p]) - iou) ** 2)
                p += 1
    return focal / (n_positive + len(batch)), sum(regression) / len(regression), sum(errors) / len(errors)


@pytest.mark.parametrize(("clipped", "iou_above"), [("all", 0.2), ("first", None)])
def test_it_is_the_slow_version_forward_and_backward(batch, clipped, iou_above):
    model = built(changed(clipped=clipped, iou_above=iou_above))
    expected = slow_forward(model, batch)
    of_loss = slow_losses(model, batch, *expected)
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(sum(of_loss), parameters)
    output = model(batch)
    found = (output.logits, output.extras["distances"], output.extras["iou"])
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-10)
    terms = model.losses(batch, output)
    assert list(terms) == ["classification", "regression", "iou"]
    for one, other in zip(terms.values(), of_loss, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-9)
    for one, other in zip(torch.autograd.grad(sum(terms.values()), parameters), gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-8)


def test_answers_are_the_segments_of_the_candidates(batch):
    """Section 4: (t - d, t + d') / n where the probability is above the threshold, scored by the root of a product."""
    model = built()
    with torch.no_grad():
        model.head.match.bias.add_(3.5)
    output = model(batch)
    for by_iou in (False, True):
        model.start_stage(frozenset({"classification", "iou"} if by_iou else {"classification"}))
        answer = model.answer(batch, output)
        at = [*(k + 0.5 for k in range(8)), *(2 * k + 1 for k in range(4)), 2, 6]
        n_candidates = 0
        for b in range(4):
            for p, t in enumerate(at):
                d, e = output.extras["distances"][b, p].tolist()
                assert answer.start[b, p].item() == pytest.approx((t - d) / T)
                assert answer.end[b, p].item() == pytest.approx((t + e) / T)
                probability = output.logits[b, p].sigmoid().item()
                quality = output.extras["iou"][b, p].sigmoid().item() if by_iou else 1.0
                score = math.sqrt(probability * quality) if probability > 0.3 else -math.inf
                n_candidates += probability > 0.3
                assert answer.score[b, p].item() == pytest.approx(score)
        assert 0 < n_candidates < 4 * len(at)


# ---- Numbers of the authors' code

RECORDED = recorded("drn")


@pytest.fixture
def published():
    """The model and the batch of the recorded numbers, of which 11 segments have an IoU above 0.9."""
    model = filled(Drn(DrnSettings(hidden=3, position=3, channels=4, pyramid=6), Inputs(5, 4)))
    for name, buffer in model.named_buffers():
        if name in ("least", "most"):
            buffer.copy_(buffer.mul(10).round().div(10))  # 5.6 was rounded to float32
    with torch.no_grad():  # segments of about 24 clips
        model.head.regress.bias.fill_(2.5)
        model.head.regress.weight.mul_(0.1)
        model.head.scales.copy_(torch.tensor([0.98, 1.02, 1.0]))
    table = drawn("words", 10, 4)
    table[0] = 0
    tokens = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 8, 1, 0], [2, 9, 3, 0, 0], [9, 1, 0, 0, 0]])
    batch = Batch(
        words=table[tokens].requires_grad_(),
        n_words=torch.tensor([5, 4, 3, 2]),
        video=2 * drawn("video", 4, 32, 5),
        moment=torch.tensor([[0.0, 0.4], [0.02, 0.78], [0.11, 0.87], [0.2, 0.97]], dtype=torch.float64),
    )
    return model, batch, tokens


@pytest.mark.parametrize("learned", ["iou", "all"])
def test_outputs_losses_and_gradients_of_the_authors_code(published, learned):
    """Gradients of the IoU loss alone, which reach the distances through the IoU, and of all three losses."""
    model, batch, tokens = published
    output = model(batch)
    found = {"logits": output.logits, **output.extras}
    assert {name: mark(of) for name, of in found.items()} == pytest.approx({n: RECORDED[n] for n in found}, rel=1e-9)
    terms = model.losses(batch, output)
    assert {name: term.item() for name, term in terms.items()} == pytest.approx(RECORDED["losses"], rel=1e-9)
    (terms["iou"] if learned == "iou" else sum(terms.values())).backward()
    gradients = {name: 0.0 if of.grad is None else mark(of.grad) for name, of in model.named_parameters()}
    of_words = torch.zeros(10, 4, dtype=torch.float64).index_add(0, tokens.flatten(), batch.words.grad.reshape(-1, 4))
    of_words[0] = 0
    gradients["words"] = mark(of_words)
    assert gradients == pytest.approx(RECORDED["gradients"][learned], rel=1e-8, abs=1e-10)


def test_the_iou_loss_learns_from_the_segments_that_match(published, monkeypatch):
    model, batch, _ = published
    seen = []
    monkeypatch.setattr(drn, "iou_loss", lambda *columns: seen.extend(columns))
    model.losses(batch, model(batch))
    _, _, matching = seen
    assert matching.sum(dim=1).tolist() == RECORDED["matching"]
    assert matching[0, 0], "the one segment that the code clips to the video before its IoU"


def test_answers_of_the_authors_code(published):
    model, batch, _ = published
    model(batch)  # running statistics of one step
    model.eval()
    for stage, learned in (("first stage", {"classification"}), ("third stage", {"classification", "iou"})):
        model.start_stage(frozenset(learned))
        answer = model.answer(batch, model(batch))
        segments = torch.stack([answer.start, answer.end], dim=2)[:, :-1].clamp(0, 1)
        found = {"scores": mark(answer.score[:, :-1]), "segments": mark(segments)}
        assert found == pytest.approx(RECORDED["answers"][stage], rel=1e-9)


# ---- What the description states (specification, sections 2 to 8)


@pytest.mark.parametrize(("n_dimensions", "expected"), [(4096, 38_823_688), (1024, 17_583_880)])
def test_parameters_of_the_published_model(n_dimensions, expected):
    """Section 8; the IoU head has 920,065 of them."""
    with torch.device("meta"):
        model = Drn(DrnSettings(), Inputs(n_dimensions, 300))
    assert model.n_parameters() == expected
    assert sum(parameter.numel() for parameter in model.iou.parameters()) == 920_065


def test_shapes_of_the_published_model():
    """Section 2, for 32 clips with 1,024 features."""
    with torch.device("meta"):
        model = Drn(DrnSettings(), Inputs(1024, 300))
    model.to_empty(device="cpu")
    batch = Batch(words=torch.zeros(2, 7, 300), n_words=torch.tensor([7, 2]), video=torch.zeros(2, 32, 1024))
    seen = {}
    watched = {
        "queries.lstm": (2, 7, 1024),
        "queries": (3, 2, 1024),
        "video.project": (2, 32, 1024),
        "video.place": (32, 256),
        **{f"video.modulate.{level}": (2, width) for level, width in enumerate((1024, 256, 512))},
        **{f"video.convolve.{k}": (2, 256 * 2**k, 32 // 2**k) for k in range(3)},
        **{f"video.pyramid.lateral.{k}": (2, 512, 32 // 2**k) for k in range(3)},
        **{f"video.pyramid.smooth.{k}": (2, 512, 32 // 2**k) for k in range(3)},
        "head.match_tower": (2, 512, 8),  # of the last level
        "head.regress": (2, 2, 8),
        "iou.0": (2, 512, 8),
        "iou.1": (2, 256, 8),
        "iou.2": (2, 1, 8),
    }
    for name in watched:
        model.get_submodule(name).register_forward_hook(lambda *of, name=name: seen.update({name: tuple(of[-1].shape)}))
    output = model(batch)
    assert seen == watched
    assert output.logits.shape == output.extras["iou"].shape == (2, 56)
    assert output.extras["distances"].shape == (2, 56, 2)
    assert model.n_candidates == 57  # and the video as a whole


def test_clips_are_maxima_of_the_rows_that_overlap_them():
    """Section 9: rows that overlap a clip by a positive time, or the row at its middle."""
    model = built()
    rng = np.random.default_rng(0)
    for n, covered_s in ((1, 9.0), (3, 9.0), (8, 9.0), (16, 9.0), (21, 9.0), (50, 7.0), (8, 12.0)):
        rows = rng.standard_normal((n, D)).astype(np.float32)
        edges_s = np.linspace(0.0, covered_s, n + 1)
        expected = []
        for k in range(T):
            low, high = 9.0 * k / T, 9.0 * (k + 1) / T
            overlaps = [min(high, edges_s[j + 1]) - max(low, edges_s[j]) for j in range(n)]
            chosen = [j for j in range(n) if overlaps[j] > 1e-6]
            if not chosen:
                chosen = [max(j for j in range(n) if j == 0 or edges_s[j] <= (low + high) / 2)]
            expected.append(rows[chosen].max(axis=0))
        found = model.see(VideoRows(rows, edges_s, 9.0), 256)
        np.testing.assert_array_equal(found, expected)


def test_a_new_model_answers_with_the_whole_video(batch):
    """Section 8: every location starts near a probability of 0.01, which is below the threshold of 0.05."""
    torch.manual_seed(0)
    model = Drn(changed(candidate_probability=0.05), Inputs(D, E)).double().eval()
    output = model(batch)
    assert output.logits.sigmoid().detach().numpy() == pytest.approx(0.01, rel=0.2)
    answer = model.answer(batch, output)
    assert answer.score.tolist() == [[-math.inf] * 14 + [0.0]] * 4  # below every candidate, also of another window
    assert (answer.start[:, -1].tolist(), answer.end[:, -1].tolist()) == ([0.0] * 4, [1.0] * 4)


def test_a_window_that_does_not_show_the_moment_teaches_that_it_does_not(batch):
    model = built()
    without = dataclasses.replace(batch, moment=torch.full((4, 2), torch.nan, dtype=torch.float64))
    terms = model.losses(without, model(without))
    assert terms["classification"].item() > 0
    assert terms["regression"].item() == terms["iou"].item() == 0
    gradients = torch.autograd.grad(sum(terms.values()), list(model.parameters()), allow_unused=True)
    assert all(torch.isfinite(gradient).all() for gradient in gradients if gradient is not None)


def test_without_a_segment_above_the_threshold_the_iou_head_learns_nothing(batch):
    model = built(changed(iou_above=0.999))
    term = model.losses(batch, model(batch))["iou"]
    gradients = torch.autograd.grad(term, list(model.iou.parameters()))
    assert term.item() == 0
    assert not any(gradient.any() for gradient in gradients)


@pytest.mark.parametrize("statistics", ["move", "stay"])
def test_statistics_of_the_frozen_part_move_as_set(batch, statistics):
    """Section 7, item 4; the towers of the IoU head are in training in either case."""
    model = built(changed(frozen_statistics=statistics))
    model.start_stage(frozenset({"iou"}))
    model.train()
    before = {name: of.clone() for name, of in model.named_buffers() if name.endswith("running_mean")}
    model(batch)
    moved = {name for name, of in model.named_buffers() if name in before and not torch.equal(of, before[name])}
    of_head = {name for name in before if name.startswith("iou.")}
    assert of_head
    assert moved == (set(before) if statistics == "move" else of_head)
    model.start_stage(frozenset())
    assert all(part.training for part in model.train().modules())


def test_the_next_stage_starts_with_the_same_scores(batch):
    """Section 10.3: after the second stage, and as loaded from its checkpoint."""
    model = built()
    model.start_stage(frozenset({"iou"}))
    before = model.eval().answer(batch, model(batch))
    other = built(seed=1).eval()
    other.start_stage(frozenset({"classification"}))
    other.load_state_dict(model.state_dict())
    for next_stage in (False, True):
        if next_stage:
            other.start_stage(frozenset())
        after = other.answer(batch, other(batch))
        assert all(torch.equal(one, of) for one, of in zip(after[:3], before[:3], strict=True))


@pytest.mark.parametrize("value", [0, 6, 30])
def test_clips_are_a_multiple_of_4(value):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"n_clips": value}, DrnSettings)


def test_a_block_starts_with_the_scale_of_a_linear_layer():
    """Kaiming-uniform with a = 1: bounds of sqrt(3 / fan-in), for 16 channels and a kernel of 3."""
    torch.manual_seed(0)
    conv = conv_block(16, 64, kernel=3)[0]
    assert isinstance(conv, nn.Conv1d)
    bound = math.sqrt(3 / 48)
    assert conv.bias is None
    assert conv.weight.abs().max().item() == pytest.approx(bound, rel=0.01)
