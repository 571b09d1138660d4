import dataclasses
import math

import msgspec
import pytest
import torch

from truemoment.base.errors import UsageError
from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.layers.distance_correlation import distance_correlation
from truemoment.learning.models.tcn_dcm import TCNDCM, LocationAdjustment, TCNDCMSettings

pytestmark = pytest.mark.slow

N_CLIPS, N_CELLS = 8, 36
SMALL = TCNDCMSettings(n_clips=N_CLIPS, hidden=16, kernel=3, layers=2)
INPUTS = Inputs(n_dimensions=6, n_vector=5)


def changed(settings, **changes):
    return msgspec.structs.replace(settings, **changes)


def built(settings=SMALL, seed=0):
    """A model in double precision: fresh ones hardly tell cells apart, so little must not pass for equal."""
    torch.manual_seed(seed)
    return TCNDCM(settings, INPUTS).double()


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    n_words = torch.tensor([3, 5, 1, 4])
    words = (
        torch.randn(4, 5, 5, generator=generator, dtype=torch.float64)
        * (torch.arange(5) < n_words[:, None])[:, :, None]
    )
    video, other_video = (torch.randn(4, 2 * N_CLIPS, 6, generator=generator, dtype=torch.float64) for _ in range(2))
    iou = torch.rand(4, N_CELLS, generator=generator, dtype=torch.float64)
    return Batch(words=words, n_words=n_words, video=video, iou=iou, other_video=other_video)


@pytest.mark.parametrize(
    ("location", "n_dimensions", "expected"),
    [
        ("adjusted", 1024, 28_420_096),
        ("adjusted", 500, 28_151_808),
        ("none", 1024, 26_845_184),
        ("added", 1024, 26_845_184 + 512 * 512 + 512),
    ],
)
def test_number_of_weights(location, n_dimensions, expected):
    # tcn_dcm.md, section 8; without the adjustment only the map of the location is left.
    with torch.device("meta"):
        model = TCNDCM(TCNDCMSettings(location=location), Inputs(n_dimensions, 300))
    assert model.n_parameters() == expected
    assert len(model.proposals.cells[0]) == 136


@pytest.mark.parametrize("location", ["adjusted", "added", "none"])
def test_shapes_and_range(batch, location):
    output = built(changed(SMALL, location=location))(batch)
    assert output.logits.shape == (4, N_CELLS)
    assert output.extras["negative_logits"].shape == (4, N_CELLS)
    if location == "none":
        assert set(output.extras) == {"negative_logits"}
    else:
        assert output.extras["content"].shape == output.extras["location"].shape == (4, N_CELLS, 16)
        assert output.extras["location"].abs().max() < 1


class TestAdjustment:
    """Section 2.3 of tcn_dcm.md."""

    @pytest.fixture
    def layer(self):
        torch.manual_seed(0)
        return LocationAdjustment(TCNDCMSettings(hidden=8, heads=2, own_weight=0.5)).eval()

    @pytest.fixture
    def parts(self):
        generator = torch.Generator().manual_seed(1)
        sentence, content, location = (torch.randn(s, generator=generator) for s in [(2, 8), (2, 5, 8), (2, 5, 8)])
        return sentence, content, location.tanh()

    def test_it_is_the_formula(self, layer, parts):
        sentence, content, location = parts
        found = layer(*parts)
        for b in range(2):
            values = [layer.value(p).relu() for p in location[b]]
            for c in range(5):
                asked = layer.query(layer.of_sentence(sentence[b].relu()) + layer.of_content(content[b, c].relu()))
                heads = []
                for part in (slice(0, 4), slice(4, 8)):
                    logits = [asked[part] @ layer.key(p)[part] / math.sqrt(4) for p in location[b]]
                    alpha = torch.stack(logits).softmax(0)
                    heads.append(sum(a * value[part] for a, value in zip(alpha, values, strict=True)))
                torch.testing.assert_close(found[b, c], (torch.cat(heads) + 0.5 * values[c]).relu())

    def test_weights_of_the_locations_sum_to_one(self, layer, parts):
        torch.nn.init.zeros_(layer.value.weight)
        torch.nn.init.ones_(layer.value.bias)  # every location has value 1, the own one again by half
        torch.testing.assert_close(layer(*parts), torch.full((2, 5, 8), 1.5))

    def test_order_of_the_locations_counts_by_the_own_one_alone(self, layer, parts):
        sentence, content, location = parts
        turned = location.flip(1)
        own = 0.5 * (layer.value(turned).relu() - layer.value(location).relu())
        torch.testing.assert_close(layer(sentence, content, turned) - layer(*parts), own)
        layer.own_weight = 0.0
        torch.testing.assert_close(layer(sentence, content, turned), layer(*parts))


@pytest.mark.parametrize(("location", "silenced"), [("adjusted", "adjust.value"), ("added", "location")])
def test_without_what_the_location_gives_it_is_the_baseline(batch, location, silenced):
    # tcn_dcm.md, section 8: W_v = 0 and b_v = 0; where P is added itself, P = tanh(0).
    model = built(changed(SMALL, location=location)).eval()
    baseline = built(changed(SMALL, location="none"), seed=1).eval()
    kept = baseline.state_dict().keys()
    baseline.load_state_dict({name: value for name, value in model.state_dict().items() if name in kept})
    assert not torch.allclose(model(batch).logits, baseline(batch).logits)
    for weight in model.get_submodule(silenced).parameters():
        torch.nn.init.zeros_(weight)
    assert torch.equal(model(batch).logits, baseline(batch).logits)


def test_baseline_is_the_formula_around_its_convolutions(batch):
    # tcn_dcm.md, sections 2.1, 2.2 and 2.4, a cell at a time.
    model = built(changed(SMALL, location="none"))
    logits = model(batch).logits
    sentence, _ = model.encode_query(batch.words, batch.n_words)
    for b in range(4):
        clips = model.encode_frames.linear(batch.video[b]).relu().view(N_CLIPS, 2, 16).mean(dim=1)
        fused = []
        for first, last in zip(*model.proposals.cells, strict=True):
            content = model.content(clips[first : last + 1].amax(dim=0))
            product = model.project_sentence(sentence[b]) * content
            fused.append(product / product.norm())
        fused = torch.stack(fused)
        result = model.convolutions(fused[None])[0] + model.around(fused).relu()
        torch.testing.assert_close(logits[b], result @ model.score.weight[0])


def test_score_starts_as_the_authors_vector_does():
    weight = TCNDCM(TCNDCMSettings(kernel=1, layers=1, location="none"), INPUTS).score.weight
    assert weight.shape == (1, 512)
    assert 0.9 < weight.abs().max() * math.sqrt(512) <= 1  # uniform within 1 / sqrt(512)


def test_padding_and_company_do_not_change_a_score(batch):
    model = built().eval()
    expected = model(batch)
    longer = torch.cat([batch.words, torch.full((4, 3, 5), 9.0, dtype=torch.float64)], dim=1)
    padded = model(dataclasses.replace(batch, words=longer))
    torch.testing.assert_close(padded.logits, expected.logits)
    alone = model(Batch(words=batch.words[1:2], n_words=batch.n_words[1:2], video=batch.video[1:2]))
    torch.testing.assert_close(alone.logits, expected.logits[1:2])


def test_another_video_does_not_change_the_score(batch):
    model = built().eval()
    assert torch.equal(model(batch).logits, model(dataclasses.replace(batch, other_video=None)).logits)


def test_negatives_are_scores_of_the_sentence_in_the_other_video(batch):
    model = built().eval()
    there = model(dataclasses.replace(batch, video=batch.other_video, other_video=None))
    assert torch.equal(model(batch).extras["negative_logits"], there.logits)


@pytest.mark.parametrize("location", ["adjusted", "added", "none"])
def test_every_weight_has_a_finite_slope(batch, location):
    model = built(changed(SMALL, location=location))
    terms = model.losses(batch, model(batch))
    sum(terms.values()).backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.isfinite().all(), name
        assert weight.grad.abs().max() > 0, name


class TestLosses:
    """Section 3.2 of tcn_dcm.md."""

    def test_terms_are_the_formulas(self, batch):
        model = built().eval()
        output = model(batch)
        terms = model.losses(batch, output)
        content, location = output.extras["content"], output.extras["location"]
        assert list(terms) == ["cells", "negatives", "location", "independence", "size"]

        target = (2 * batch.iou - 1).clamp(0, 1)
        p = output.logits.sigmoid()
        cells = -(target * p.log() + (1 - target) * (1 - p).log()).mean()
        torch.testing.assert_close(terms["cells"], cells)
        torch.testing.assert_close(terms["negatives"], -(1 - output.extras["negative_logits"].sigmoid()).log().mean())
        torch.testing.assert_close(terms["location"], (location - model.codes).norm(dim=2).mean(), rtol=1e-4, atol=0)
        dependence = distance_correlation(content.reshape(-1, 16), location.reshape(-1, 16))
        torch.testing.assert_close(terms["independence"], 0.001 * dependence)
        torch.testing.assert_close(
            terms["size"], 1e-5 * (content.square().sum().sqrt() + location.square().sum().sqrt())
        )

    def test_weights_multiply(self, batch):
        once = built().eval()
        twice = built(
            changed(SMALL, negatives_weight=2.0, location_weight=2.0, independence_weight=0.002, size_weight=2e-5)
        ).eval()
        expected, terms = (model.losses(batch, model(batch)) for model in (once, twice))
        torch.testing.assert_close(terms.pop("cells"), expected.pop("cells"))
        torch.testing.assert_close(terms, {name: 2 * term for name, term in expected.items()})

    @pytest.mark.parametrize(
        ("option", "term"),
        [
            ("negatives_weight", "negatives"),
            ("location_weight", "location"),
            ("independence_weight", "independence"),
            ("size_weight", "size"),
        ],
    )
    def test_a_weight_of_nothing_leaves_the_term_out(self, batch, option, term):
        model = built(changed(SMALL, **{option: 0.0}))
        assert {"cells", "negatives", "location", "independence", "size"} - set(model.losses(batch, model(batch))) == {
            term
        }

    def test_the_baseline_has_no_loss_on_locations(self, batch):
        model = built(changed(SMALL, location="none"))
        assert set(model.losses(batch, model(batch))) == {"cells", "negatives"}

    def test_without_another_video_there_are_no_negatives(self, batch):
        model = built()
        alone = dataclasses.replace(batch, other_video=None)
        assert "negatives" not in model.losses(alone, model(alone))

    def test_fewer_rows_are_drawn_by_the_generator_of_dropout(self, batch):
        model = built(changed(SMALL, distance_rows=20)).eval()
        output = model(batch)
        torch.manual_seed(5)
        term = model.losses(batch, output)["independence"]
        content, location = (output.extras[name].reshape(-1, 16) for name in ("content", "location"))
        expected = distance_correlation(content, location, rows=20, generator=torch.Generator().manual_seed(5))
        torch.testing.assert_close(term, 0.001 * expected)

    def test_a_fresh_model_knows_nothing(self, batch):
        model = built()
        nothing_counts = dataclasses.replace(batch, iou=torch.zeros(4, N_CELLS, dtype=torch.float64))
        terms = model.losses(nothing_counts, model(nothing_counts))
        assert float(terms["cells"].detach()) == pytest.approx(math.log(2), abs=0.1)
        assert float(terms["negatives"].detach()) == pytest.approx(math.log(2), abs=0.1)


@pytest.fixture(scope="module")
def learnt():
    """A model that was shown two sentences about each of four videos many times, and what it was shown."""
    generator = torch.Generator().manual_seed(3)
    model = built(changed(SMALL, hidden=32, lstm_layers=1)).float()
    first, last = (torch.as_tensor(clip) for clip in model.proposals.cells)
    start = torch.tensor([0, 4, 2, 6, 1, 5, 0, 3])  # two moments of each video, that do not meet
    end = torch.tensor([2, 6, 3, 7, 3, 7, 1, 6])
    shared = (torch.minimum(last, end[:, None]) - torch.maximum(first, start[:, None]) + 1).clamp(min=0)
    iou = shared / (torch.maximum(last, end[:, None]) - torch.minimum(first, start[:, None]) + 1)
    video = torch.randn(4, N_CLIPS, 6, generator=generator).repeat_interleave(2, dim=0)
    batch = Batch(
        words=torch.randn(8, 3, 5, generator=generator),
        n_words=torch.full((8,), 3),
        video=video,
        iou=iou,
        other_video=torch.randn(8, N_CLIPS, 6, generator=generator),
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    history = []
    for _ in range(100):
        optimiser.zero_grad()
        terms = model.losses(batch, model(batch))
        sum(terms.values()).backward()
        optimiser.step()
        history.append({name: float(term.detach()) for name, term in terms.items()})
    return model.eval(), batch, history


def test_it_learns_a_batch_by_heart(learnt):
    model, batch, _ = learnt
    best = model(batch).logits.argmax(dim=1)
    assert (batch.iou[torch.arange(8), best] > 0.7).all()


def test_it_learns_that_another_video_shows_something_else(learnt):
    model, batch, _ = learnt
    assert model(batch).extras["negative_logits"].sigmoid().mean() < 0.05


def test_it_learns_where_cells_lie(learnt):
    *_, history = learnt
    assert history[-1]["location"] < 0.5 * history[0]["location"]


def test_it_answers_the_sentence_and_not_the_video_alone(learnt):
    # tcn_dcm.md, section 8: queries are swapped between the two moments of each video.
    model, batch, _ = learnt
    swapped = batch.words.view(4, 2, 3, 5).flip(1).reshape(8, 3, 5)
    before = model(batch).logits.argmax(dim=1)
    after = model(dataclasses.replace(batch, words=swapped)).logits.argmax(dim=1)
    assert (before != after).sum() >= 6
    assert (batch.iou[torch.arange(8), after] < 0.5).all()


def test_a_batch_without_features_or_iou_is_refused(batch):
    model = built()
    with pytest.raises(UsageError, match="without video"):
        model(dataclasses.replace(batch, video=None))
    with pytest.raises(UsageError, match="without iou"):
        model.losses(dataclasses.replace(batch, iou=None), model(batch))


@pytest.mark.parametrize("setting", [{"dropout": 1.0}, {"negatives_weight": -1.0}, {"distance_rows": 0}])
def test_impossible_settings_are_refused(setting):
    with pytest.raises(msgspec.ValidationError, match=next(iter(setting))):
        msgspec.convert(setting, TCNDCMSettings)


def test_unknown_settings_are_refused():
    with pytest.raises(msgspec.ValidationError, match="gama"):
        msgspec.convert({"gama": 1.0}, TCNDCMSettings)
    with pytest.raises(msgspec.ValidationError, match="location"):
        msgspec.convert({"location": "somewhere"}, TCNDCMSettings)
