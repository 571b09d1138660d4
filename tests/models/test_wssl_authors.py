"""WSSL against numbers of the authors' code.

github.com/XgDuan/WSDEC, commit 64abf5e, `SentenceLocalizer` and `CaptionGenerator`, run once with PyTorch 2.13 on a
processor in float64, with the same weights by formula. Four changes to run it: "cuda" does nothing, whole numbers are
divided by //, and two masks of the beam search get the shape that old versions of PyTorch gave them.
"""

import math

import pytest
import torch

from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.layers.segment_anchors import ANCHORS
from truemoment.learning.models.wssl import Wssl, WsslSettings

H, D, T = 4, 3, 7
WORDS = ("person", "opens", "door", "opening", "sits", "down")
SETTINGS = WsslSettings(
    hidden=H, dropout=0, mixer_dropout=0, noise=0, sharpness=0.8, centre_shift="answers", most_words=6
)


def filled(shape, gain):
    """gain sin(0.37 (i + sum of the shape)^1.5) / root of the fan-in."""
    number = torch.arange(math.prod(shape), dtype=torch.float64)
    fan_in = math.prod(shape[1:]) if len(shape) > 1 else shape[0]
    return (torch.sin(0.37 * (number + sum(shape)) ** 1.5) * gain / math.sqrt(fan_in)).view(shape)


def marked(tensor):
    values = tensor.detach().flatten()
    return float((values * torch.cos(torch.arange(len(values), dtype=torch.float64))).sum())


LARGE = ("generator.", "localizer.attend", "localizer.norm", "localizer.join", "localizer.mix")


@pytest.fixture
def model():
    """Rows of tables of tokens are in our order: end, unknown, words, begin."""
    model = Wssl(SETTINGS, Inputs(D, H, WORDS)).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(filled(tuple(parameter.shape), 6.0 if name.startswith(LARGE) else 2.0))
        model.localizer.score.bias.zero_()[8] = -3
        model.marks.copy_(filled((9, H), 2.0)[[0, 8]])
    return model


@pytest.fixture
def batch():
    numbers = torch.tensor([[2, 3, 4, 1], [6, 7, 0, 0], [2, 5, 4, 0], [3, 4, 0, 0]])
    table = filled((9, H), 2.0)[:8]
    video = 1.5 * torch.cos(0.53 * torch.arange(4 * T * D, dtype=torch.float64)).view(4, T, D)
    for row, n_rows in enumerate((7, 4, 5, 6)):
        video[row, n_rows:] = torch.nan
    return Batch(
        words=table[numbers],
        n_words=(numbers > 0).sum(dim=1),
        word_numbers=numbers,
        word_vectors=table.requires_grad_(),
        video=video,
    )


def test_anchors_and_answers(model, batch):
    output = model(batch)
    assert marked(output.logits) == pytest.approx(-5.498898517217703, rel=1e-10)
    assert marked(output.extras["refinements"]) == pytest.approx(-0.34292956953772813, rel=1e-10)
    assert output.logits.argmax(dim=1).tolist() == [0, 11, 8, 1]
    answers = model.answer(batch, output)
    expected = [
        [0.0017433204810582414, 0.6038187154310659],
        [0.47996598915299205, 0.611298284023149],
        [0.0, 0.3969447406651385],
        [0.18235214351742496, 0.8421796337241811],
    ]
    torch.testing.assert_close(torch.cat([answers.start, answers.end], dim=1), torch.tensor(expected).double())


GRADIENTS = {
    "localizer.encode_video.layers.0.weight_ih_l0": -0.4229932844375843,
    "localizer.encode_video.residual.weight": -0.42505998308026083,
    "localizer.encode_sentence.layers.1.weight_hh_l0": -0.11392347800735855,
    "localizer.attend_video.key.weight": 0.6272073626304969,
    "localizer.attend_sentence.key.weight": -0.02306168501539534,
    "localizer.join.weight": 0.025991248344333244,
    "localizer.mix.0.weight": -0.034055573121801845,
    "localizer.norm_sentence.weight": -0.06434154101894034,
    "refine.weight": -0.009053892725246447,
    "generator.encode_video.layers.0.weight_hh_l0": 1.5641960938853492,
    "generator.encode_video.residual.weight": 1.0440651123234896,
    "generator.decode.layers.0.weight_ih_l0": 3.3243165163527157,
    "generator.decode.layers.1.weight_hh_l0": 0.765426381919902,
    "generator.word.bias": 0.13989350101751877,
}


def test_captions_reconstruction_and_gradients(model, batch):
    model.start_stage(frozenset({"caption", "reconstruction"}))
    terms = model.losses(batch, model(batch))
    expected = {"caption": 20.039062123537768, "reconstruction": 0.00016810877845596848}
    assert {name: term.item() for name, term in terms.items()} == pytest.approx(expected, rel=1e-9)
    sum(terms.values()).backward()
    found = {name: marked(model.get_parameter(name).grad) for name in GRADIENTS}
    assert found == pytest.approx(GRADIENTS, rel=1e-8)
    of_words = torch.cat([model.marks.grad[:1], batch.word_vectors.grad[1:], model.marks.grad[1:]])
    assert marked(of_words) == pytest.approx(0.6170100542602559, rel=1e-8)


def test_captions_of_whole_videos(model, batch):
    model.start_stage(frozenset({"caption"}))
    assert model.losses(batch, model(batch))["caption"].item() == pytest.approx(23.218548980276054, rel=1e-10)


CAPTIONS = (
    "611111 111111 511111 111111 - 511111 111111 288888 111111 611111 - 111111 511111 561111 651611",
    "- - - 218818 888585 - - 818218 812585 858888 888588 - - - -",
    "- - 553333 888888 - 553333 585885 888888 888888 - - - 553535 553535 655553",
    "811111 111511 665616 661111 111511 665555 861111 611111 511111 861111 861111 151111 665556 655333 115555",
)
"""Tokens of the caption of each anchor of each video; 8 is the begin of a sentence, - a caption without words."""


def test_generated_captions(model, batch):
    n_rows = torch.tensor([7, 4, 5, 6])
    anchors = torch.tensor(ANCHORS, dtype=torch.float64).expand(4, -1, -1)
    with torch.no_grad():
        code = model.generator.code(batch.video.nan_to_num(), n_rows, anchors)
        found = model.generator.sentences(code, begin=8, end=0, width=3, max_tokens=6)
    written = ["".join(str(token) for token in row if token) or "-" for row in found.tolist()]
    assert written == " ".join(CAPTIONS).split()
