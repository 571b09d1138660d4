"""FlashVTG against numbers of the authors' code, its points, and what does not depend on padding."""

import pytest
import torch
from detr_authors import FLASH_LOGITS, batch_of, fill, recorded_pairs

from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.flash_vtg import FlashVtg, FlashVtgSettings
from truemoment.learning.models.layers.clip_pyramid import point_targets, pyramid_points

UNUSED = 40 * 256 + 512
"""Numbers of a table of places of 40 words with its norm, which the authors' code has and does not use."""

LOSSES = {"ends": 0.85214593, "class": 0.18302639, "contrast": 4.41582107, "agreement": 0.26655363}
WEIGHTS = {"ends": 1, "class": 5, "contrast": 0.1, "agreement": 4}
"""Of Zhuo-Cao/FlashVTG at 25b9591, unweighted, and the weights; double precision, no dropout, made-up weights."""

DISTANCES = {0: (1.04888204, 1.28780303), 75: (1.21490111, 1.08064879), 138: (0.64421707, 1.65910551)}


def full():
    """The model of full size with the recorded weights; its mixture of two scores is exactly half."""
    model = fill(FlashVtg(FlashVtgSettings(dropout=0, input_dropout=0), Inputs(2816, 512)).double())
    with torch.no_grad():
        model.level_share.fill_(0.5)
    return model


def test_outputs_losses_and_gradients_are_those_of_the_authors_code(monkeypatch):
    model, batch = full(), batch_of("full", lengths=[75, 75, 75])
    assert model.n_parameters() + UNUSED == 10_469_400
    monkeypatch.setattr(model, "pairs_of", lambda _: recorded_pairs("full"))
    output = model(batch)
    extras = output.extras
    assert output.logits.shape == (3, 139)
    for point, logit in FLASH_LOGITS.items():
        assert output.logits[0, point].item() == pytest.approx(logit, abs=1e-8)
    for point, distances in DISTANCES.items():
        assert extras["distances"][0, point].tolist() == pytest.approx(distances, abs=1e-8)
    assert extras["rating"][0, :3].tolist() == pytest.approx([1.21669719, 0.89716867, 0.16794708], abs=1e-8)
    assert extras["attention"][0, :3].tolist() == pytest.approx([0.56833350, 0.50157361, 0.46289656], abs=1e-8)
    sums = [output.logits.sum(), *(extras[name].sum() for name in ("distances", "rating", "attention"))]
    assert [total.item() for total in sums] == pytest.approx(
        [13.25134893, 1108.04675797, -8.27835925, 80.06772657], abs=6e-9
    )
    terms = model.losses(batch, output)
    for name, value in LOSSES.items():
        assert terms[name].item() / WEIGHTS[name] == pytest.approx(value, abs=6e-9)
    assert (terms["saliency"] + terms["attention"]).item() / 0.8 == pytest.approx(98.98570027, abs=6e-9)
    total = sum(terms.values())
    assert total.item() == pytest.approx(82.46363473, abs=6e-9)
    total.backward()
    norm = sum(float(parameter.grad.square().sum()) for parameter in model.parameters()) ** 0.5
    assert norm == pytest.approx(2374.02045703, rel=1e-9)


def small():
    torch.manual_seed(0)
    settings = {"hidden": 16, "heads": 2, "feedforward": 16, "dummies": 3, "word_layers": 2, "encoder_layers": 1}
    return FlashVtg(FlashVtgSettings(dropout=0, input_dropout=0, **settings), Inputs(6, 5)).double()


def test_rows_behind_the_video_change_nothing():
    """Clips, ratings, distances and the scores by level; the second score sees all levels in a row."""
    model, batch = small().eval(), batch_of("small")
    with torch.no_grad():
        model.level_share.fill_(1.0)
    longer = Batch(
        words=batch.words,
        n_words=batch.n_words,
        video=torch.nn.functional.pad(batch.video, (0, 0, 0, 9), value=torch.nan),
        moments=batch.moments,
        ratings=torch.nn.functional.pad(batch.ratings, (0, 9), value=torch.nan),
    )
    with torch.no_grad():
        one, other = model(batch), model(longer)
        terms, of_longer = model.losses(batch, one), model.losses(longer, other)
        best, of_best = model.answer(batch, one), model.answer(longer, other)
    torch.testing.assert_close(other.extras["rating"][:, :7], one.extras["rating"])
    for name, term in terms.items():
        torch.testing.assert_close(of_longer[name], term, rtol=1e-9, atol=1e-12)
    n_points = int((best.score[1] > -torch.inf).sum())
    assert n_points == 5 + 2 + 1
    torch.testing.assert_close(of_best.start[:, :n_points], best.start[:, :n_points])
    torch.testing.assert_close(of_best.score[:, :n_points], best.score[:, :n_points])


def test_points_learn_the_shortest_moment_around_them():
    """Point by point, from the rule: in the moment, at most 1.5 strides from its middle, the range of the level."""
    moments = torch.tensor([[[1.0, 4.0], [0.0, 15.0], [torch.nan, torch.nan]]], dtype=torch.float64)
    points = pyramid_points(16, moments)
    targets = point_targets(moments, points)
    ranges = {1: (0, 2), 2: (2, 4), 4: (4, 8), 8: (8, float("inf"))}
    for p, (at, stride) in enumerate(zip(points.at.tolist(), points.stride.tolist(), strict=True)):
        fits = []
        for start, end in [(1, 4), (0, 15)]:
            near = abs(at - (start + end) / 2) <= 1.5 * stride
            low, high = ranges[int(stride)]
            if start <= at <= end and near and low <= max(at - start, end - at) <= high:
                fits.append((end - start, (at - start) / stride, (end - at) / stride))
        assert bool(targets.positive[0, p]) == bool(fits), p
        if fits:
            assert targets.distances[0, p].tolist() == pytest.approx(min(fits)[1:])
    assert targets.positive.sum() > 4
