"""WSSL against numbers of the authors' code: anchors, answers, all losses and gradients, and the captions it writes."""

import pytest
import torch
from authors import drawn, filled, mark, recorded

from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.layers.segment_anchors import ANCHORS
from truemoment.learning.models.wssl import Wssl, WsslSettings

RECORDED = recorded("wssl")
WORDS = ("person", "opens", "door", "opening", "sits", "down")
N_ROWS = (9, 4, 6, 8)
LABELS = (3, 0, 14, 9)
SETTINGS = WsslSettings(
    hidden=8, dropout=0, mixer_dropout=0, noise=0, sharpness=0.8, centre_shift="answers", most_words=6
)


@pytest.fixture
def model():
    return filled(Wssl(SETTINGS, Inputs(5, 8, WORDS)), [("generator", 3.0), ("localizer", 2.0)])


@pytest.fixture
def batch():
    numbers = torch.tensor([[2, 3, 4, 1, 7], [6, 7, 0, 0, 0], [2, 5, 4, 0, 0], [3, 4, 5, 6, 0]])
    table = drawn("words", 8, 8)
    video = 1.5 * drawn("video", 4, 9, 5)
    for row, n_rows in enumerate(N_ROWS):
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
    expected = torch.tensor(RECORDED["logits"], dtype=torch.float64)
    torch.testing.assert_close(output.logits, expected, rtol=1e-9, atol=1e-11)
    assert mark(output.extras["refinements"]) == pytest.approx(RECORDED["refinements"], rel=1e-9)
    answers = model.answer(batch, output)
    expected = torch.tensor(RECORDED["answers"], dtype=torch.float64)
    torch.testing.assert_close(torch.cat([answers.start, answers.end], dim=1), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("stage", "learned"),
    [("whole", {"caption"}), ("cycle", {"caption", "reconstruction"}), ("anchor", {"anchor"})],
)
def test_losses_and_gradients(model, batch, stage, learned, monkeypatch):
    """Captions of whole videos; captions of the localizer's segments, and these again; the anchors of `LABELS`."""
    alike = torch.nn.functional.one_hot(torch.tensor(LABELS), len(ANCHORS))
    monkeypatch.setattr(model, "_similarities", lambda _: alike)
    model.start_stage(frozenset(learned))
    terms = model.losses(batch, model(batch))
    expected = RECORDED["stages"][stage]
    assert {name: term.item() for name, term in terms.items()} == pytest.approx(expected["losses"], rel=1e-9)
    sum(terms.values()).backward()
    found = {name: mark(of.grad) for name, of in model.named_parameters() if of.grad is not None and name != "marks"}
    if model.marks.grad is not None:  # the authors' table has both marks and the words
        marks = model.marks.grad
        found["words"] = mark(torch.cat([marks[:1], batch.word_vectors.grad[1:], marks[1:]]))
    assert found == pytest.approx(expected["gradients"], rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("width", RECORDED["captions"])
def test_captions_of_every_anchor(model, batch, width):
    """Numbers of the words of the caption of each anchor of each video; "-" for a caption without words."""
    anchors = torch.tensor(ANCHORS, dtype=torch.float64).expand(4, -1, -1)
    with torch.no_grad():
        code = model.generator.code(batch.video.nan_to_num(), torch.tensor(N_ROWS), anchors)
        found = model.generator.sentences(code, begin=model.begin, end=0, width=int(width), max_tokens=6)
    written = ["".join(str(token) for token in row if token) or "-" for row in found.tolist()]
    assert written == RECORDED["captions"][width].split()
