"""WSSL: against a slow version written from its description, forward and gradient, and what the description states."""

import dataclasses
import math
from itertools import pairwise

import msgspec
import numpy as np
import pytest
import torch

from truemoment.data.language.meteor import meteor
from truemoment.learning.models.base import TIMES, Batch, Inputs, VideoRows
from truemoment.learning.models.layers.segment_anchors import ANCHORS
from truemoment.learning.models.wssl import Wssl, WsslSettings

T, H, D, E = 5, 3, 4, 2
WORDS = ("person", "opens", "door", "opening", "sits", "down")
BEGIN = len(WORDS) + 2
SMALL = WsslSettings(hidden=H, dropout=0.0, mixer_dropout=0.0, sharpness=0.8, noise=0.0, most_words=4)


def changed(**values):
    return msgspec.structs.replace(SMALL, **values)


def built(settings=SMALL, seed=0):
    torch.manual_seed(seed)
    model = Wssl(settings, Inputs(D, E, WORDS)).double()
    with torch.no_grad():  # factors and biases of norms that differ from where they start
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    table = torch.randn(len(WORDS) + 2, E, generator=generator, dtype=torch.float64)
    table[0] = 0
    numbers = torch.tensor([[2, 3, 4, 1], [6, 7, 0, 0], [2, 5, 4, 0], [3, 4, 0, 0]])
    video = torch.randn(4, T, D, generator=generator, dtype=torch.float64)
    video[1, 3:] = torch.nan
    video[2, 4:] = torch.nan
    return Batch(
        words=table[numbers],
        n_words=(numbers > 0).sum(dim=1),
        word_numbers=numbers,
        word_vectors=table,
        video=video,
    )


def rows_of(video):
    return [row for row in video if not torch.isnan(row).any()]


def words_of(numbers):
    return [BEGIN, *(n for n in numbers.tolist() if n > 0), 0]


# ---- The slow version, step by step


def slow_cell(layer, x, h):
    """A GRU in PyTorch's form: r, z, n in this order."""
    i = layer.weight_ih_l0 @ x + layer.bias_ih_l0
    j = layer.weight_hh_l0 @ h + layer.bias_hh_l0
    r, z = (torch.sigmoid(i[k * H : (k + 1) * H] + j[k * H : (k + 1) * H]) for k in (0, 1))
    n = torch.tanh(i[2 * H :] + r * j[2 * H :])
    return (1 - z) * n + z * h


def slow_gru(gru, rows, before=None):
    """Outputs of each step, and the states of both layers at each step."""
    one, two = (torch.zeros(H, dtype=torch.float64),) * 2 if before is None else before
    outputs, states = [], []
    for row in rows:
        one = slow_cell(gru.layers[0], row, one)
        two = slow_cell(gru.layers[1], one, two)
        outputs.append(two if gru.residual is None else two + gru.residual.weight @ row)
        states.append((one, two))
    return outputs, states


def slow_attention(layer, rows, state):
    scores = [(layer.key.weight @ row) @ state / math.sqrt(2 * H) for row in rows]
    weights = [torch.exp(score) for score in scores]
    return sum(weight * row for weight, row in zip(weights, rows, strict=True)) / sum(weights)


def slow_norm(norm, rows):
    """Batch norm over the pairs."""
    mean = sum(rows) / len(rows)
    variance = sum((row - mean) ** 2 for row in rows) / len(rows)
    return [(row - mean) / torch.sqrt(variance + 1e-5) * norm.weight + norm.bias for row in rows]


def slow_localizer(model, batch, sentences):
    """Logits and refinements of each pair, for sentences as lists of tokens."""
    part, seen, read = model.localizer, [], []
    for video, tokens in zip(batch.video, sentences, strict=True):
        vectors = [
            model.marks[0] if n == 0 else model.marks[1] if n == BEGIN else batch.word_vectors[n] for n in tokens
        ]
        of_video, video_states = slow_gru(part.encode_video, rows_of(video))
        of_words, word_states = slow_gru(part.encode_sentence, vectors)
        read.append(slow_attention(part.attend_sentence, of_words, torch.cat(video_states[-1])))
        seen.append(slow_attention(part.attend_video, of_video, torch.cat(word_states[-1])))
    read, seen = slow_norm(part.norm_sentence, read), slow_norm(part.norm_video, seen)
    mixed = [torch.cat([part.join(torch.cat([t, v])), t * v, t + v]) for t, v in zip(read, seen, strict=True)]
    for linear, norm in ((part.mix[0], part.mix[1]), (part.mix[4], part.mix[5])):
        mixed = [torch.relu(of) for of in slow_norm(norm, [linear.weight @ of for of in mixed])]
    logits = [part.score(of) for of in mixed]
    return logits, [0.3 * torch.sigmoid(model.refine(of)).reshape(15, 2) for of in mixed]


def slow_segment(logits, refinement, *, shift):
    k = max(range(15), key=lambda at: logits[at].item())
    return ANCHORS[k][0] + refinement[k, 0] - shift, ANCHORS[k][1] + refinement[k, 1]


def slow_code(part, rows, centre, width, sharpness):
    """Contexts before, inside and after a segment, and the states at its end."""
    outputs, states = slow_gru(part.encode_video, rows)
    n = len(rows)
    contexts = []
    for name in ("before", "inside", "after"):
        weights = []
        for t in range(n):
            start = torch.sigmoid(sharpness * (t - torch.as_tensor(centre * n - width * n / 2)))
            end = torch.sigmoid(sharpness * (t - torch.as_tensor(centre * n + width * n / 2)))
            weights.append({"before": 1 - start, "inside": start - end, "after": end}[name])
        contexts.append(sum(w * row for w, row in zip(weights, outputs, strict=True)) / (sum(weights) + 1e-4))
    end = float(torch.as_tensor(centre + width / 2).detach())
    return torch.cat(contexts), states[math.floor(min(end, 1 - 1e-4) * n)]


def slow_next(part, context, states, token):
    """Log probabilities of the next token, and the states after a token."""
    outputs, after = slow_gru(part.decode, [torch.cat([part.embed.weight[token], context])], states)
    logits = part.word(outputs[0])
    return logits - torch.log(torch.exp(logits).sum()), after[0]


def slow_caption(model, rows, segment, tokens):
    """Minus the log probability of a sentence, and the token that is expected at each place."""
    context, states = slow_code(model.generator, rows, *segment, model.settings.sharpness)
    total, expected = 0.0, [BEGIN]
    for token, following in pairwise(tokens):
        log_probability, states = slow_next(model.generator, context, states, token)
        total = total - log_probability[following]
        expected.append(int(log_probability.argmax()))
    return total, expected


def slow_losses(model, batch, *, shift=0.15, whole=False):
    """Terms of the caption stages."""
    sentences = [words_of(numbers) for numbers in batch.word_numbers]
    logits, refinements = slow_localizer(model, batch, sentences)
    segments = [slow_segment(*of, shift=shift) for of in zip(logits, refinements, strict=True)]
    if whole:
        segments = [(torch.tensor(0.5).double(), torch.tensor(1.0).double())] * len(batch)
    found = [
        slow_caption(model, rows_of(video), segment, tokens)
        for video, segment, tokens in zip(batch.video, segments, sentences, strict=True)
    ]
    caption = sum(total for total, _ in found) / len(batch)
    if whole:
        return [caption]
    of_others = zip(*slow_localizer(model, batch, [expected for _, expected in found]), strict=True)
    others = [slow_segment(*of, shift=shift) for of in of_others]
    distances = [
        (a - b.detach()) ** 2
        for one, other in zip(others, segments, strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    return [caption, 0.01 * sum(distances) / len(distances)]


def slow_beams(model, rows, anchor):
    """The most probable caption that three beams find: a sentence that ends leaves its beam."""
    context, states = slow_code(model.generator, rows, *anchor, model.settings.sharpness)
    running, ended = [(0.0, [], states)], []
    for _ in range(model.settings.most_words):
        longer = []
        for score, tokens, before in running:
            log_probability, after = slow_next(model.generator, context, before, tokens[-1] if tokens else BEGIN)
            longer += [(score + p, [*tokens, n], after) for n, p in enumerate(log_probability.tolist())]
        best = sorted(longer, key=lambda of: -of[0])[:3]
        ended += [of for of in best if of[1][-1] == 0]
        running = [of for of in best if of[1][-1] != 0]
    tokens = max(ended + running, key=lambda of: of[0])[1]
    return [n for n in tokens if n != 0]


def slow_labels(model, batch):
    """The first anchor whose caption has the highest METEOR; unknown words are all different."""
    spelt = dict(enumerate(WORDS, start=2)) | {1: "<unknown>", BEGIN: "<begin>"}
    labels, captions = [], []
    for video, numbers in zip(batch.video, batch.word_numbers, strict=True):
        of_video = [slow_beams(model, rows_of(video), anchor) for anchor in ANCHORS]
        reference = [spelt[n] if n != 1 else "<nothing>" for n in numbers.tolist() if n > 0]
        scores = [meteor([spelt[n] for n in caption], reference) for caption in of_video]
        labels.append(scores.index(max(scores)))
        captions.append(of_video)
    return labels, captions


LEARNED = ("generator", "localizer", "refine", "marks")


@pytest.mark.parametrize(("centre_shift", "shift"), [("both", 0.15), ("answers", 0.0)])
def test_captions_and_reconstruction_are_the_slow_version_forward_and_backward(batch, centre_shift, shift):
    batch = dataclasses.replace(batch, word_vectors=batch.word_vectors.requires_grad_())
    model = built(changed(centre_shift=centre_shift))
    model.start_stage(frozenset({"caption", "reconstruction"}))
    expected = slow_losses(model, batch, shift=shift)
    output = model(batch)
    logits, refinements = slow_localizer(model, batch, [words_of(numbers) for numbers in batch.word_numbers])
    torch.testing.assert_close(output.logits, torch.stack(logits), rtol=0, atol=1e-10)
    torch.testing.assert_close(output.extras["refinements"], torch.stack(refinements), rtol=0, atol=1e-10)
    terms = model.losses(batch, output)
    assert list(terms) == ["caption", "reconstruction"]
    for one, other in zip(terms.values(), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)
        _same_gradients(one, other, [*model.parameters(), batch.word_vectors])


def test_captions_of_whole_videos_are_the_slow_version_forward_and_backward(batch):
    model = built()
    model.start_stage(frozenset({"caption"}))
    expected = slow_losses(model, batch, whole=True)
    terms = model.losses(batch, model(batch))
    assert list(terms) == ["caption"]
    torch.testing.assert_close(terms["caption"], expected[0], rtol=1e-10, atol=0)
    _same_gradients(terms["caption"], expected[0], list(model.parameters()))
    assert not any(model.localizer.norm_video.running_mean)  # the localizer does not run: its statistics do not move


def _same_gradients(one, other, parameters):
    found, expected = (torch.autograd.grad(of, parameters, retain_graph=True, allow_unused=True) for of in (one, other))
    for gradient, slow in zip(found, expected, strict=True):
        if slow is None:
            assert gradient is None or not gradient.any()
        else:
            torch.testing.assert_close(gradient, slow, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("seed", [3, 4, 7])
def test_labels_are_the_slow_version(batch, seed):
    """Captions of a beam search, their METEOR, the first of the best, and the cross-entropy of it."""
    model = built(seed=seed)
    with torch.no_grad():  # so that captions of different anchors differ
        model.generator.embed.weight.mul_(2)
        for parameter in (*model.generator.decode.parameters(), *model.generator.encode_video.parameters()):
            parameter.mul_(3)
    model.start_stage(frozenset({"anchor"}))
    labels, captions = slow_labels(model, batch)
    assert len({tuple(caption) for of_video in captions for caption in of_video}) > 3
    assert len(set(labels)) > 1
    output = model(batch)
    terms = model.losses(batch, output)
    expected = -sum(torch.log_softmax(of, 0)[k] for of, k in zip(output.logits, labels, strict=True)) / len(batch)
    assert list(terms) == ["anchor"]
    assert terms["anchor"].item() == pytest.approx(expected.item(), rel=1e-10)
    shares = [output.extras[f"label {number}"].item() for number in range(1, 16)]
    assert shares == pytest.approx([labels.count(k) / len(batch) for k in range(15)])


def test_the_refinement_learns_nothing_from_labels(batch):
    """Section 3.2: the refinement head gets no gradient in localizer epochs, and the generator none."""
    model = built()
    model.start_stage(frozenset({"anchor"}))
    loss = model.losses(batch, model(batch))["anchor"]
    parameters = [*model.refine.parameters(), *model.generator.parameters()]
    assert all(of is None for of in torch.autograd.grad(loss, parameters, allow_unused=True, retain_graph=True))
    assert torch.autograd.grad(loss, model.localizer.score.weight)[0].any()


def test_captions_reach_the_segment_but_not_the_choice_of_the_anchor(batch):
    """Section 9: d L_cap / d (c, w) is not 0, and d / d (anchor logits) is."""
    model = built()
    model.start_stage(frozenset({"caption", "reconstruction"}))
    loss = model.losses(batch, model(batch))["caption"]
    assert all(of.any() for of in torch.autograd.grad(loss, model.refine.parameters(), retain_graph=True))
    assert torch.autograd.grad(loss, model.localizer.score.weight, allow_unused=True)[0] is None


# ---- What the description states (specification, sections 2 to 10)


def test_parameters_of_the_published_model():
    """Section 9: 15,982,637 and 15,050,608 for features of 500 and 6,000 tokens.

    Of the 6,000 vectors of the localizer, begin and end are `marks` and the others lie in the table of the network.
    """
    words = tuple(str(number) for number in range(6000 - 3))  # begin, end and unknown words beside
    with torch.device("meta"):
        model = Wssl(WsslSettings(), Inputs(500, 512, words))
    count = {name: sum(of.numel() for of in part.parameters()) for name, part in model.named_children()}
    assert count["generator"] == 15_050_608
    assert count["localizer"] + count["refine"] + 6000 * 512 == 15_982_637
    assert model.n_parameters() == 15_050_608 + 15_982_637 - 5998 * 512


def test_shapes_of_the_published_model():
    """Section 2, for 20 rows of 500 features."""
    model = Wssl(WsslSettings(most_words=2), Inputs(500, 512, WORDS)).eval()
    numbers = torch.tensor([[2, 3, 4, 5, 6], [3, 4, 0, 0, 0]])
    batch = Batch(
        words=torch.zeros(2, 5, 512),
        n_words=torch.tensor([5, 2]),
        word_numbers=numbers,
        word_vectors=torch.zeros(BEGIN, 512),
        video=torch.zeros(2, 20, 500),
    )
    watched = {
        "localizer.attend_video": (2, 512),
        "localizer.attend_sentence": (2, 512),
        "localizer.mix": (2, 1536),
        "localizer.score": (2, 15),
        "refine": (2, 30),
        "generator": (2, 6, BEGIN + 1),  # the sentence without its begin, over all tokens
    }
    seen = {}
    for name in watched:
        model.get_submodule(name).register_forward_hook(lambda _, __, out, name=name: seen.update({name: out.shape}))
    with torch.no_grad():
        output = model(batch)
        model.losses(batch, output)
    assert {name: tuple(shape) for name, shape in seen.items()} == watched
    assert output.extras["refinements"].shape == (2, 15, 2)
    assert model.answer(batch, output).score.shape == (2, 1)


def test_no_time_is_among_its_needs():
    assert not Wssl.needs & TIMES
    assert Wssl.needs == {"video", "word numbers", "word vectors"}


def test_answers_are_the_refined_anchor(batch):
    """Section 2.4: c = c_k + dc - 0.15 and w = w_k + dw, clipped to 0 and 1 - 1e-4; of the best anchor, or of all."""
    one, every = built().eval(), built(changed(answers="all")).eval()
    output = one(batch)
    found, ranked = one.answer(batch, output), every.answer(batch, output)
    assert (one.n_candidates, every.n_candidates) == (1, 15)
    for b in range(4):
        for k, (centre, width) in enumerate(ANCHORS):
            dc, dw = output.extras["refinements"][b, k].tolist()
            start = max(centre + dc - 0.15 - (width + dw) / 2, 0)
            end = min(centre + dc - 0.15 + (width + dw) / 2, 1 - 1e-4)
            score = torch.softmax(output.logits[b], 0)[k].item()
            assert [column[b, k].item() for column in ranked[:3]] == pytest.approx([start, end, score], abs=1e-6)
            if k == int(output.logits[b].argmax()):
                assert [column[b, 0].item() for column in found[:3]] == pytest.approx([start, end, score], abs=1e-6)


@pytest.mark.parametrize(("centre_shift", "difference"), [("both", 0.0), ("answers", 0.15)])
def test_training_and_answers_decode_alike_unless_the_published_shift_is_chosen(batch, centre_shift, difference):
    """Section 8.1: with the published code, answers lie 0.15 of the video earlier than what was trained."""
    model = built(changed(centre_shift=centre_shift)).eval()
    output = model(batch)
    trained = model._trained_segment(output.logits, output.extras["refinements"])
    answered = model._segments(output.extras["refinements"], 0.15)[torch.arange(4), output.logits.argmax(dim=1)]
    torch.testing.assert_close(trained - answered, torch.tensor([[difference, 0.0]]).double().expand(4, 2))


def test_padding_behind_a_video_changes_nothing(batch):
    model = built().eval()
    longer = dataclasses.replace(
        batch, video=torch.cat([batch.video, torch.full((4, 3, D), torch.nan, dtype=torch.float64)], dim=1)
    )
    one, other = model(batch), model(longer)
    torch.testing.assert_close(other.logits, one.logits)
    for name, term in model.losses(batch, one).items():
        torch.testing.assert_close(model.losses(longer, other)[name], term)


def test_a_video_keeps_its_rows():
    """Section 10: every stride-th row, padded; more rows than there is room for are averaged."""
    rows = np.arange(10, dtype=np.float32)[:, None]
    video = VideoRows(rows, np.arange(11.0), 10.0)
    see = Wssl(changed(stride=2), Inputs(1, E, WORDS)).see
    np.testing.assert_array_equal(see(video, 7).ravel(), [0, 2, 4, 6, 8, np.nan, np.nan])
    np.testing.assert_array_equal(see(video, 5).ravel(), [0, 2, 4, 6, 8])
    assert np.isfinite(see(video, 3)).all()


def test_equal_captions_have_the_first_anchor_as_label_or_any_of_them(batch):
    """Section 8.5: an untrained generator writes the same for all anchors, and the label is (0, 0.5)."""
    alike = torch.zeros(4, 15, dtype=torch.float64)
    first, drawn = built(), built(changed(ties="random"))
    first._similarities = drawn._similarities = lambda _: alike
    labels, watched = first._labels(batch)
    assert labels.tolist() == [0] * 4
    assert (watched["label 1"], watched["captions as good"], watched["labels with ties"]) == (1, 1, 1)
    torch.manual_seed(0)
    assert len({label for _ in range(20) for label in drawn._labels(batch)[0].tolist()}) > 10


@pytest.mark.thorough
def test_with_labels_from_the_moments_it_learns_to_ground():
    """Section 9: METEOR replaced by the IoU of anchor and moment (cheating): far better than the whole video.

    The moment is where a video shows the word of the sentence; the whole video has an IoU of 0.3 with it on average.
    """
    generator = torch.Generator().manual_seed(3)
    anchors = torch.tensor(ANCHORS)
    starts, ends = anchors[:, 0] - anchors[:, 1] / 2, anchors[:, 0] + anchors[:, 1] / 2
    torch.manual_seed(0)
    model = Wssl(WsslSettings(hidden=16, refinement=0.0), Inputs(4, 4, WORDS))
    model.start_stage(frozenset({"anchor"}))
    table = torch.eye(4).repeat(2, 1)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)

    def pairs(n):
        chosen = torch.randint(0, 6, (n,), generator=generator)  # a half or a third of the video
        word = torch.randint(2, 6, (n,), generator=generator)
        at = (torch.arange(24) + 0.5) / 24
        shown = (at > starts[chosen, None]) & (at < ends[chosen, None])
        other = torch.randint(0, 4, (n, 24), generator=generator)
        video = torch.where(shown[:, :, None], table[word][:, None], 0.5 * torch.eye(4)[other])
        moment = torch.stack([starts[chosen], ends[chosen]], dim=1)
        batch = Batch(words=table[word][:, None], n_words=torch.ones(n, dtype=torch.long), word_numbers=word[:, None])
        return dataclasses.replace(batch, word_vectors=table, video=video), moment

    def ious(moment):
        inside = torch.minimum(ends, moment[:, 1:]) - torch.maximum(starts, moment[:, :1])
        union = torch.maximum(ends, moment[:, 1:]) - torch.minimum(starts, moment[:, :1])
        return (inside.clamp(min=0) / union).double()

    for _ in range(150):
        batch, moment = pairs(64)
        model._similarities = lambda _, moment=moment: ious(moment)
        optimiser.zero_grad()
        model.losses(batch, model(batch))["anchor"].backward()
        optimiser.step()
    model.eval()
    batch, moment = pairs(256)
    with torch.no_grad():
        best = model(batch).logits.argmax(dim=1)
    assert ious(moment)[torch.arange(256), best].mean() > 0.6
    assert ious(moment)[:, -1].mean() < 0.5  # of the whole video
