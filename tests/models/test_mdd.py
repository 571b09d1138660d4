import dataclasses
import math

import msgspec
import pytest
import torch

from truemoment.base.errors import UsageError
from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.mdd import MDD, Confounder, LocationDictionary, MDDSettings, Unobserved
from truemoment.learning.models.tan2d import Tan2D, Tan2DSettings

pytestmark = pytest.mark.slow

N_CLIPS, N_CELLS = 8, 36
SMALL = MDDSettings(n_clips=N_CLIPS, hidden=16, kernel=3, layers=2, n_actions=7, n_unobserved=5)
BASE = {"phrases": False, "reconstruct": False, "branches": ()}
INPUTS = Inputs(n_dimensions=6, n_vector=5)

OF_BASE, OF_PHRASES, OF_RECONSTRUCTION, OF_BRANCH, OF_80_ENTRIES = 33_136_641, 525_312, 262_656, 1_312_256, 40_960
OF_ACTIONS = 80 * 300 + 300 * 512 + 512
"""Word vectors of 80 actions, and the linear map that brings them to the width."""


def changed(settings, **changes):
    return msgspec.structs.replace(settings, **changes)


def built(settings=SMALL, seed=0):
    """A model in double precision: fresh ones hardly tell cells apart, so little must not pass for equal."""
    torch.manual_seed(seed)
    return MDD(settings, INPUTS).double()


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    n_words = torch.tensor([3, 5, 1, 4])
    words = (
        torch.randn(4, 5, 5, generator=generator, dtype=torch.float64)
        * (torch.arange(5) < n_words[:, None])[:, :, None]
    )
    return Batch(
        words=words,
        n_words=n_words,
        video=torch.randn(4, 2 * N_CLIPS, 6, generator=generator, dtype=torch.float64),
        verbs=torch.tensor([[1, -1], [2, 4], [-1, -1], [0, -1]]),
        nouns=torch.tensor([[[0, 2], [-1, -1]], [[1, -1], [3, 1]], [[-1, -1], [-1, -1]], [[-1, -1], [-1, -1]]]),
        iou=torch.rand(4, N_CELLS, generator=generator, dtype=torch.float64),
    )


def copy_weights(source, target):
    """Give a smaller model the weights of the larger one that it has too."""
    kept = target.state_dict().keys()
    target.load_state_dict({name: value for name, value in source.state_dict().items() if name in kept})


@pytest.mark.parametrize(
    ("changes", "n_dimensions", "expected"),
    [
        (BASE, 1024, OF_BASE),
        (BASE, 500, 32_868_353),
        (BASE | {"phrases": True}, 1024, OF_BASE + OF_PHRASES),
        (BASE | {"reconstruct": True}, 1024, OF_BASE + OF_RECONSTRUCTION),
        ({"branches": ()}, 1024, OF_BASE + OF_PHRASES + OF_RECONSTRUCTION),
        (BASE | {"branches": ("L",)}, 1024, OF_BASE + OF_BRANCH),
        (BASE | {"branches": ("U",)}, 1024, OF_BASE + OF_BRANCH + OF_80_ENTRIES),
        (BASE | {"branches": ("A",)}, 1024, OF_BASE + OF_BRANCH + OF_ACTIONS),
        ({}, 1024, 37_943_297),
        ({}, 500, 37_675_009),
    ],
)
def test_number_of_weights(changes, n_dimensions, expected):
    # mdd.md, section 8.
    with torch.device("meta"):
        model = MDD(MDDSettings(**changes), Inputs(n_dimensions, 300))
    assert model.n_parameters() == expected
    assert len(model.proposals.cells[0]) == 136


ROWS = [
    BASE,  # Table 3
    {"branches": ()},
    {"branches": ("L", "U", "U")},
    {"branches": ("L",)},  # Table 4
    {"branches": ("A",)},
    {"branches": ("U",)},
    {"branches": ("L", "A")},
    {"branches": ("L", "U")},
    {"branches": ("A", "U")},
    {"branches": ("L", "A", "U")},
    {"phrases": False},  # and what the paper leaves open
    {"reconstruct": False},
    {"asks": "sentence"},
    {"project": False},
    {"normalise": False},
]


@pytest.mark.parametrize("changes", ROWS, ids=str)
def test_every_variant_scores_and_every_weight_has_a_finite_slope(batch, changes):
    model = built(changed(SMALL, **changes))
    output = model(batch)
    assert output.logits.shape == (4, N_CELLS)
    sum(model.losses(batch, output).values()).backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.isfinite().all(), name


def test_slopes_reach_every_weight_of_the_final_model(batch):
    model = built()
    for branch in model.confounders:  # larger entries, for the product of three is small at the start
        for part in (branch.value.weight, *branch.dictionary.parameters()):
            torch.nn.init.normal_(part)
    sum(model.losses(batch, model(batch)).values()).backward()
    assert all(weight.grad.abs().max() > 0 for weight in model.parameters())


def test_branches_that_find_nothing_are_base_and_enhanced_modalities(batch):
    model, enhanced = built().eval(), built(changed(SMALL, branches=()), seed=1).eval()
    copy_weights(model, enhanced)
    for branch in model.confounders:
        torch.nn.init.normal_(branch.value.weight)
    assert not torch.allclose(model(batch).logits, enhanced(batch).logits)
    torch.nn.init.zeros_(model.confounders[0].value.weight)  # one factor of 0 is enough
    assert torch.equal(model(batch).logits, enhanced(batch).logits)


def test_without_verbs_and_reconstruction_it_is_the_base(batch):
    enhanced = built(changed(SMALL, branches=(), reconstruction_weight=0.0)).eval()
    base = built(changed(SMALL, **BASE), seed=1).eval()
    copy_weights(enhanced, base)
    assert not torch.allclose(enhanced(batch).logits, base(batch).logits)
    mute = dataclasses.replace(batch, verbs=torch.full((4, 1), -1), nouns=torch.full((4, 1, 1), -1))
    outputs = enhanced(mute), base(mute)
    assert torch.equal(outputs[0].logits, outputs[1].logits)
    assert torch.equal(sum(enhanced.losses(mute, outputs[0]).values()), base.losses(mute, outputs[1])["cells"])


def test_the_base_is_2d_tan(batch):
    base = built(changed(SMALL, **BASE)).eval()
    torch.manual_seed(1)
    tan2d = Tan2D(Tan2DSettings(n_clips=N_CLIPS, hidden=16, kernel=3, layers=2), INPUTS).double()
    tan2d.load_state_dict(base.state_dict())
    outputs = base(batch), tan2d(batch)
    assert torch.equal(outputs[0].logits, outputs[1].logits)
    assert base.losses(batch, outputs[0]) == tan2d.losses(batch, outputs[1])


def test_deconfounder_adds_the_product_of_its_branches(batch):
    # mdd.md, eqs. 10 to 12: W_y conv(u * (M + M^L * M^A * M^U)), a cell at a time, with the base's linear maps.
    model = built(changed(SMALL, branches=("L", "A", "U"))).eval()
    for branch in model.confounders:
        torch.nn.init.normal_(branch.value.weight)
    output = model(batch)
    sentence, tokens = model.encode_query(batch.words, batch.n_words)
    query = model.gate(sentence, tokens, batch.verbs, batch.nouns)
    for b in range(4):
        clips = model.encode_frames.linear(batch.video[b]).relu().view(N_CLIPS, 2, 16).mean(dim=1)
        fused = []
        for first, last in zip(*model.proposals.cells, strict=True):
            cell = clips[first : last + 1].amax(dim=0)
            product = torch.ones(16)
            for branch in model.confounders:
                asked = branch.of_both(branch.of_query(query[b]) + branch.of_cells(cell))
                entries = branch.dictionary()
                keys, values = branch.key(entries), branch.value(entries)
                heads = [slice(h * 4, h * 4 + 4) for h in range(4)]
                found = [(keys[:, part] @ asked[part] / 2).softmax(0) @ values[:, part] for part in heads]
                product = product * torch.cat(found)
            joined = model.project_sentence(query[b]) * model.project_cells(cell + product)
            fused.append(joined / joined.norm())
        expected = model.score(model.convolutions(torch.stack(fused)[None]))[0, :, 0]
        torch.testing.assert_close(output.logits[b], expected)


def test_switches_of_the_base():
    # mdd.md, section 2.1: the paper writes the bare product of query and map.
    words, video = torch.randn(2, 3, 5).double(), torch.randn(2, 8, 6).double()
    batch = Batch(words=words, n_words=torch.tensor([3, 3]), video=video)
    model = built(changed(SMALL, **BASE, project=False, normalise=False))
    sentence, _ = model.encode_query(batch.words, batch.n_words)
    cells = model.moments(model.encode_frames(batch.video))
    expected = model.score(model.convolutions(sentence[:, None] * cells)).squeeze(2)
    torch.testing.assert_close(model(batch).logits, expected)


def test_confounders_are_asked_with_the_query_that_is_chosen(batch):
    gated, plain = (built(changed(SMALL, branches=("L",), asks=asks)).eval() for asks in ("gated", "sentence"))
    for model in (gated, plain):
        torch.nn.init.eye_(model.confounders[0].value.weight)
    assert not torch.equal(gated(batch).logits, plain(batch).logits)
    mute = dataclasses.replace(batch, verbs=torch.full((4, 1), -1), nouns=torch.full((4, 1, 1), -1))
    assert torch.equal(gated(mute).logits, plain(mute).logits)


class TestDictionary:
    def test_locations_are_all_cells_of_the_map_and_not_learnt(self):
        dictionary = LocationDictionary(16, 512)
        assert dictionary().shape == (256, 512)
        assert not list(dictionary.parameters())

    def test_what_is_unobserved_starts_as_far_apart_as_is_asked(self):
        for spread in (MDDSettings().dictionary_spread, 0.5):
            branch = built(changed(SMALL, n_unobserved=1000, dictionary_spread=spread)).confounders[1]
            assert branch.dictionary().shape == (1000, 16)
            assert float(branch.dictionary().detach().std()) == pytest.approx(spread, rel=0.05)

    def test_each_branch_has_its_own(self):
        first, second = built(changed(SMALL, branches=("U", "U"))).confounders
        assert not torch.equal(first.dictionary(), second.dictionary())

    def test_order_of_its_entries_does_not_count(self):
        model = built().eval()
        cells, query = torch.randn(2, 9, 16).double(), torch.randn(2, 16).double()
        branch = model.confounders[1]
        expected = branch(query, cells)
        with torch.no_grad():
            branch.dictionary.vectors.copy_(branch.dictionary.vectors.flip(0))
        torch.testing.assert_close(branch(query, cells), expected)

    def test_weights_of_its_entries_sum_to_one(self):
        torch.manual_seed(0)
        branch = Confounder(Unobserved(6, 8, 1.0), 8, 2)
        torch.nn.init.ones_(branch.dictionary.vectors)
        torch.testing.assert_close(branch(torch.randn(2, 8), torch.randn(2, 5, 8)), branch.value(torch.ones(2, 5, 8)))

    def test_actions_start_from_what_is_given(self):
        model = built(changed(SMALL, branches=("A", "L", "A")))
        vectors = torch.randn(7, 5).double()
        model.start_actions(vectors)
        for number in (0, 2):
            branch = model.confounders[number]
            assert torch.equal(branch.dictionary.vectors, vectors)
            assert branch.dictionary.vectors.requires_grad
            torch.testing.assert_close(branch.dictionary(), branch.dictionary.linear(vectors))

    def test_actions_that_do_not_fit_are_refused(self):
        with pytest.raises(UsageError, match=r"shape \(3, 5\), expected \(7, 5\)"):
            built(changed(SMALL, branches=("A",))).start_actions(torch.randn(3, 5))
        with pytest.raises(UsageError, match="expected an 'A'"):
            built().start_actions(torch.randn(7, 5))


def test_share_of_the_deconfounder_is_told(batch):
    model = built(changed(SMALL, branches=("L",))).eval()
    cells = model.moments(model.encode_frames(batch.video))
    query = model.gate(*model.encode_query(batch.words, batch.n_words), batch.verbs, batch.nouns)
    expected = model.confounders[0](query, cells).std() / cells.std()
    torch.testing.assert_close(model(batch).extras["confounder_share"], expected)
    assert "confounder_share" not in built(changed(SMALL, branches=()))(batch).extras


def test_padding_and_company_do_not_change_a_score(batch):
    model = built().eval()
    expected = model(batch).logits
    padded = dataclasses.replace(
        batch,
        words=torch.cat([batch.words, torch.full((4, 3, 5), 9.0, dtype=torch.float64)], dim=1),
        verbs=torch.nn.functional.pad(batch.verbs, (0, 2), value=-1),
        nouns=torch.nn.functional.pad(batch.nouns, (0, 1, 0, 2), value=-1),
    )
    torch.testing.assert_close(model(padded).logits, expected)
    for pair in range(4):
        one = slice(pair, pair + 1)
        tree = {"verbs": batch.verbs[one], "nouns": batch.nouns[one]}
        alone = Batch(words=batch.words[one], n_words=batch.n_words[one], video=batch.video[one], **tree)
        torch.testing.assert_close(model(alone).logits, expected[one])


class TestLosses:
    """Section 3 of mdd.md."""

    def test_terms_are_the_formulas(self, batch):
        model = built(changed(SMALL, reconstruction_weight=0.5))
        output = model(batch)
        terms = model.losses(batch, output)
        assert list(terms) == ["cells", "reconstruction"]
        target = (2 * batch.iou - 1).clamp(0, 1)
        p = output.logits.sigmoid()
        torch.testing.assert_close(terms["cells"], -(target * p.log() + (1 - target) * (1 - p).log()).mean())
        cells = model.moments(model.encode_frames(batch.video))
        away = (model.locate(cells).tanh() - model.codes).norm(dim=2).mean()
        torch.testing.assert_close(terms["reconstruction"], 0.5 * away, rtol=1e-4, atol=0)

    def test_reconstruction_alone_does_not_change_a_score(self, batch):
        model, without = built().eval(), built(changed(SMALL, reconstruct=False), seed=1).eval()
        copy_weights(model, without)
        assert torch.equal(model(batch).logits, without(batch).logits)

    def test_a_fresh_model_knows_nothing(self, batch):
        model = built()
        assert float(model.losses(batch, model(batch))["cells"].detach()) == pytest.approx(math.log(2), abs=0.1)

    def test_where_the_iou_is_not_known_nothing_is_reconstructed(self, batch):
        assert "positions" not in built()(dataclasses.replace(batch, iou=None)).extras


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
    batch = Batch(
        words=torch.randn(8, 3, 5, generator=generator),
        n_words=torch.full((8,), 3),
        video=torch.randn(4, N_CLIPS, 6, generator=generator).repeat_interleave(2, dim=0),
        verbs=torch.tensor([[1, -1]] * 4 + [[0, 2]] * 4),
        nouns=torch.tensor([[[0, 2], [-1, -1]]] * 4 + [[[1, -1], [-1, -1]]] * 4),
        iou=iou,
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(150):
        optimiser.zero_grad()
        sum(model.losses(batch, model(batch)).values()).backward()
        optimiser.step()
    return model.eval(), batch


def test_it_learns_a_batch_by_heart(learnt):
    model, batch = learnt
    output = model(batch)
    assert (batch.iou[torch.arange(8), output.logits.argmax(dim=1)] > 0.7).all()
    target = (2 * batch.iou - 1).clamp(0, 1)
    floor = -(torch.xlogy(target, target) + torch.xlogy(1 - target, 1 - target)).mean()
    assert floor < model.losses(batch, output)["cells"] < floor + 0.05


def test_it_answers_the_sentence_and_not_the_video_alone(learnt):
    model, batch = learnt
    swapped = batch.words.view(4, 2, 3, 5).flip(1).reshape(8, 3, 5)  # both sentences of a video have the same tree
    best = model(dataclasses.replace(batch, words=swapped)).logits.argmax(dim=1)
    assert (batch.iou[torch.arange(8), best] < 0.5).all()


@pytest.mark.parametrize(
    ("part", "message"),
    [("video", "without video"), ("verbs", "without verbs and nouns"), ("nouns", "without verbs")],
)
def test_a_batch_without_what_it_needs_is_refused(batch, part, message):
    with pytest.raises(UsageError, match=message):
        built()(dataclasses.replace(batch, **{part: None}))


def test_a_batch_without_iou_has_no_loss(batch):
    model = built()
    with pytest.raises(UsageError, match="without iou"):
        model.losses(dataclasses.replace(batch, iou=None), model(batch))


def test_unknown_settings_are_refused():
    with pytest.raises(msgspec.ValidationError, match="n_unobserved"):
        msgspec.convert({"n_unobserved": 0}, MDDSettings)
    with pytest.raises(msgspec.ValidationError, match="X"):
        msgspec.convert({"branches": ["L", "X"]}, MDDSettings)
    assert msgspec.convert({"branches": ["L", "A", "U"]}, MDDSettings).branches == ("L", "A", "U")
