"""What every family of models promises, over the registry: see truemoment.learning.models.base."""

import contextlib
import dataclasses

import msgspec
import numpy as np
import pytest
import torch

from truemoment.learning.models import FAMILIES, get_family
from truemoment.learning.models.base import Batch, Inputs, VideoRows
from truemoment.learning.models.decoding import ScoredMoments, as_predictions
from truemoment.learning.training.recipes import names, read_recipe

N_CLIPS, ROWS, WIDTH, VECTOR, HIDDEN = 8, 16, 6, 5, 16
MAP = {"n_clips": N_CLIPS, "hidden": HIDDEN, "lstm_layers": 1, "kernel": 3, "layers": 1}
SMALL = {
    "tan2d": MAP,
    "blind-tan": MAP,
    "tcn-dcm": MAP,
    "mdd": MAP,
    "ablr": {"n_clips": N_CLIPS, "hidden": HIDDEN, "location_hidden": 4, "location_bias": 0.5},
    "ctrl": {"semantic": 16, "hidden": HIDDEN},
    "acrn": {"semantic": 16, "hidden": HIDDEN, "pool": 4},
    "drn": {
        "n_clips": N_CLIPS,
        "hidden": HIDDEN,
        "position": 4,
        "channels": 8,
        "pyramid": HIDDEN,
        "iou_above": None,
        "candidate_probability": 0.0,
    },
    "scdm": {"seconds": 32, "levels": 4, "hidden": 8, "head_hidden": 6},
    "vlg-net": {
        "n_clips": N_CLIPS,
        "hidden": HIDDEN,
        "video_neighbours": 3,
        "video_groups": 4,
        "matching_neighbours": 3,
        "matching_groups": 2,
        "matching_width": 4,
        "lstm_layers": 1,
        "syntactic_blocks": 2,
        "score_layers": 2,
        "sentence": "multiplied",  # with "added", as published, the graph of words learns nothing
        "iou_low": 0.1,
        "iou_high": 1.0,
    },
    "tsp-prl": {"units": 64, "hidden": HIDDEN, "alignment": 8, "steps": 6, "phase": 1, "start": "default"},
    "wssl": {"hidden": 8, "most_words": 4},
    "moment-detr": {"hidden": HIDDEN, "heads": 2, "feedforward": 24, "slots": 4},
    "qd-detr": {"hidden": HIDDEN, "heads": 2, "feedforward": 24, "slots": 4},
    "flash-vtg": {"hidden": HIDDEN, "heads": 2, "feedforward": 24, "dummies": 3, "word_layers": 2, "encoder_layers": 1},
}
"""Settings of a small model of each family."""

WITHOUT_GRADIENT = {
    "moment-detr": {
        "decoder.0.self_attention.in_proj_weight",
        "decoder.0.self_attention.out_proj.weight",  # while the biases of the attention are 0, as they start
        "decoder.0.norm_self.weight",
        "saliency.bias",  # the margin compares clips of one video
    },
    "qd-detr": {f"decoder.0.self_{part}.weight" for part in ("query", "key", "value")},
}
"""Weights on what the slots became so far, which is 0 before the first layer (specification, 8.6)."""

WORDS = ("person", "opens", "door", "opening", "sits", "down", "chair")
"""Words with the numbers 2 to 8."""


def make_model(name, seed=0, **changes):
    family = get_family(name)
    torch.manual_seed(seed)
    settings = msgspec.convert(SMALL[name] | changes, family.settings)
    return family.build(settings, Inputs(WIDTH if "video" in family.needs else 0, VECTOR, WORDS))


def make_batch(model, n_pairs=4, n_tokens=6, seed=1):
    """Pairs with every input that the model needs, drawn."""
    rng = np.random.default_rng(seed)
    n_words = rng.integers(2, n_tokens + 1, n_pairs)
    n_words[0] = n_tokens
    words = rng.standard_normal((n_pairs, n_tokens, VECTOR)).astype(np.float32)
    numbers = rng.integers(1, 9, (n_pairs, n_tokens))
    padding = np.arange(n_tokens)[None] >= n_words[:, None]
    words[padding], numbers[padding] = 0, 0
    verbs = np.stack([np.zeros(n_pairs), np.full(n_pairs, -1)], axis=1).astype(np.int64)
    nouns = np.stack([np.ones((n_pairs, 1)), np.full((n_pairs, 1), -1)], axis=1).astype(np.int64)
    duration_s = rng.uniform(20.0, 40.0, n_pairs)
    moment = np.sort(rng.random((n_pairs, 2)), axis=1).astype(np.float32)
    video = [seen(model, duration_s, rng) for _ in range(2)]
    needed = {
        "video": {"video": video[0]},
        "other video": {"other_video": video[1]},
        "phrases": {"verbs": verbs, "nouns": nouns},
        "moment": {"moment": moment},
        "moments": {
            "moments": np.stack([moment, np.where(np.arange(n_pairs)[:, None] % 2, np.nan, moment / 2)], axis=1)
        },
        "ratings": {
            "ratings": np.where(rng.random((n_pairs, ROWS)) < 0.5, np.nan, rng.integers(0, 13, (n_pairs, ROWS)))
        },
        "duration": {"duration_s": duration_s},
        "word numbers": {"word_numbers": numbers},
        "heads": {"heads": np.where(padding, -1, np.arange(n_tokens)[None] - 1)},
        "word vectors": {"word_vectors": rng.standard_normal((len(WORDS) + 2, VECTOR)).astype(np.float32)},
        "cell ious": {"iou": rng.random((n_pairs, N_CLIPS * (N_CLIPS + 1) // 2), dtype=np.float32)},
        "windows": {"windows_s": (np.array([0.25, 0.75]) * duration_s[:, None])[:, None]},
    }
    inputs = {name: torch.from_numpy(of) for need in model.needs for name, of in needed[need].items()}
    return Batch(words=torch.from_numpy(words), n_words=torch.from_numpy(n_words), **inputs)


def seen(model, duration_s, rng):
    """Drawn features of videos as the model sees them; of one window each, with its context, if it needs windows."""
    if "windows" in model.needs:
        return rng.standard_normal((len(duration_s), 1, 3, WIDTH)).astype(np.float32)
    videos = []
    for seconds in duration_s:
        rows = rng.standard_normal((int(2 * seconds), WIDTH)).astype(np.float32)
        videos.append(model.see(VideoRows(rows, np.linspace(0.0, seconds, len(rows) + 1), seconds), ROWS))
    return np.stack(videos)


def rows_of(batch, keep):
    parts = {part.name: getattr(batch, part.name) for part in dataclasses.fields(batch)}
    kept = {name: tensor[keep] for name, tensor in parts.items() if tensor is not None and name != "word_vectors"}
    return Batch(**kept, word_vectors=batch.word_vectors)


def answered(model, batch):
    """Start, end and score of each candidate, (B, 3, C)."""
    with torch.no_grad():
        found = model.answer(batch, model(batch))
    return torch.stack([column.expand_as(found.score).double() for column in found[:3]], dim=1)


GROUNDING = [name for name in FAMILIES if "sentence" not in get_family(name).needs]
"""Those that answer with moments; what ranks clips is tested in tests/training/test_retrieval_runs.py."""


@pytest.fixture(params=GROUNDING)
def model(request):
    return make_model(request.param)


def test_a_model_is_called_what_the_registry_calls_it(model):
    assert FAMILIES[model.name][2] == type(model).__name__


def test_answers_lie_in_the_video_and_no_more_than_stated(model):
    model.eval()
    found = answered(model, make_batch(model)).numpy()
    assert found.shape[2] <= model.n_candidates
    scored = ScoredMoments(found[:, 0], found[:, 1], found[:, 2].astype(np.float32))
    answers = as_predictions(np.array(list("abcd")), scored, np.full(4, 30.0), nms=0.5, top=5, name="m")
    assert answers.lengths.min() >= 1
    assert (answers.start_s >= 0).all()
    assert (answers.start_s <= answers.end_s).all()
    assert (answers.end_s <= 30).all()


def test_every_term_of_the_loss_is_a_finite_scalar(model):
    batch = make_batch(model)
    terms = model.losses(batch, model(batch))
    assert terms
    assert all(term.shape == () and torch.isfinite(term) for term in terms.values())


def test_every_parameter_learns_something(model):
    """Each gets a finite gradient, if not in every phase, and none is 0 throughout over a few batches."""
    moved = {name: 0.0 for name, _ in model.named_parameters()}
    for seed in range(4):
        model.zero_grad()
        model.start_step(seed)
        batch = make_batch(model, seed=seed)
        torch.stack(list(model.losses(batch, model(batch)).values())).sum().backward()
        for name, parameter in model.named_parameters():
            if parameter.grad is not None:
                assert torch.isfinite(parameter.grad).all(), name
                moved[name] += float(parameter.grad.abs().sum())
    assert {name for name, size in moved.items() if size == 0} == WITHOUT_GRADIENT.get(model.name, set())


def test_padding_behind_a_sentence_changes_nothing(model):
    model.eval()
    batch = make_batch(model)
    longer = {"words": torch.nn.functional.pad(batch.words, (0, 0, 0, 3))}
    if batch.word_numbers is not None:
        longer["word_numbers"] = torch.nn.functional.pad(batch.word_numbers, (0, 3))
    if batch.heads is not None:
        longer["heads"] = torch.nn.functional.pad(batch.heads, (0, 3), value=-1)
    found = answered(model, dataclasses.replace(batch, **longer))
    torch.testing.assert_close(found, answered(model, batch), rtol=0, atol=1e-6)


def test_answers_do_not_depend_on_what_else_is_in_the_batch(model):
    model.eval()
    batch = make_batch(model)
    order = torch.tensor([2, 0])
    torch.testing.assert_close(answered(model, rows_of(batch, order)), answered(model, batch)[order], rtol=0, atol=1e-5)


def test_the_order_of_a_batch_does_not_change_its_loss(model):
    model.eval()  # without dropout
    batch = make_batch(model)
    order = torch.tensor([3, 1, 0, 2])
    with torch.no_grad():
        one, other = (model.losses(of, model(of)) for of in (batch, rows_of(batch, order)))
    for name, term in one.items():
        torch.testing.assert_close(other[name], term, rtol=1e-4, atol=1e-6)


def test_the_same_seed_makes_the_same_model(model):
    again = make_model(model.name)
    for (name, one), (_, other) in zip(model.state_dict().items(), again.state_dict().items(), strict=True):
        assert torch.equal(one, other), name


def test_two_videos_have_other_answers_unless_the_model_is_blind(model):
    model.eval()
    batch = make_batch(model)
    if "video" not in model.needs:
        shown = dataclasses.replace(batch, video=torch.randn(4, ROWS, WIDTH))
        assert torch.equal(answered(model, shown), answered(model, batch))
    else:
        other = dataclasses.replace(batch, video=make_batch(model, seed=9).video)
        assert not torch.allclose(model(other).logits, model(batch).logits)


def test_windows_of_one_length_may_lie_side_by_side(model):
    """`see` treats every column of features alike, so that several videos may be seen in one call."""
    if "video" not in model.needs or "windows" in model.needs:
        return
    rng = np.random.default_rng(0)
    one, other = rng.standard_normal((2, 41, WIDTH)).astype(np.float32)
    edges_s = np.linspace(0.0, 20.0, 42)
    both = model.see(VideoRows(np.concatenate([one, other], axis=1), edges_s, 20.0), ROWS)
    alone = [model.see(VideoRows(rows, edges_s, 20.0), ROWS) for rows in (one, other)]
    np.testing.assert_allclose(both, np.concatenate(alone, axis=1), atol=1e-6)


@pytest.mark.parametrize("name", names())
def test_every_recipe_of_the_package_builds_its_model(name):
    recipe = read_recipe(name)
    if recipe.settings.get("tune") == "towers":
        pytest.skip("needs a model of the hub; test_towers.py builds one that comes along")
    family = get_family(recipe.model)
    with torch.device("meta"):
        model = family.build(msgspec.convert(recipe.settings, family.settings), Inputs(1024, 300))
    assert model.n_parameters() > 0


def test_nothing_is_left_on_another_device(model, monkeypatch):
    """On the meta device, a tensor that a model makes on the processor cannot meet those of the batch."""
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: contextlib.nullcontext())  # the meta device has none
    batch = make_batch(model)
    parts = {part.name: getattr(batch, part.name) for part in dataclasses.fields(batch)}
    meta = Batch(**{name: None if tensor is None else tensor.to("meta") for name, tensor in parts.items()})
    model.to("meta")
    output = model(meta)
    assert output.logits.device.type == "meta"
    assert all(term.device.type == "meta" for term in model.losses(meta, output).values())
    model.eval()
    found = model.answer(meta, model(meta))
    assert found.score.device.type == "meta"
