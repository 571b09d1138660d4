"""Models that rank clips, on the training loop: contrastive batches and loss, runs, zero-shot, towers."""

import dataclasses
import math
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError, UsageError
from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.frame_sequence import FrameSequence, FrameSequenceSettings
from truemoment.learning.models.mean_pool import MeanPool, MeanPoolSettings
from truemoment.learning.models.retrieval_model import symmetric_cross_entropy
from truemoment.learning.training.clip_pairs import contrastive_batches, make_clip_texts, vectors_of
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.network import Network
from truemoment.learning.training.performing import perform
from truemoment.learning.training.ranking import TrainedRetriever
from truemoment.learning.training.recipes import read_recipe
from truemoment.learning.training.run import Run
from truemoment.learning.training.vocabulary import NO_WORDS
from truemoment.searching.clips.clip_frames import pooled_clips
from truemoment.searching.clips.clips import clips_of
from truemoment.searching.clips.similarity_file import read_similarities
from truemoment.searching.unit_vectors import unit
from truemoment.worlds import FilmSettings, make_films

MODELS = [
    (MeanPool, MeanPoolSettings(scale=20.0)),
    (FrameSequence, FrameSequenceSettings(layers=1, heads=4, most_frames=6, scale=20.0)),
]


def made(which, n_dimensions=16, seed=0):
    torch.manual_seed(seed)
    model, settings = which
    return model(settings, Inputs(n_dimensions, 1))


def a_batch(n_pairs=5, n_frames=6, n_dimensions=16, seed=0):
    """Clips of 1 to 6 frames, padded with zeros, and sentences."""
    rng = np.random.default_rng(seed)
    frames = rng.standard_normal((n_pairs, n_frames, n_dimensions)).astype(np.float32)
    for row in range(n_pairs):
        frames[row, 1 + row % n_frames :] = 0
    sentences = rng.standard_normal((n_pairs, n_dimensions)).astype(np.float32)
    words = torch.zeros(n_pairs, 1, 1)
    n_words = torch.ones(n_pairs, dtype=torch.int64)
    return Batch(words=words, n_words=n_words, video=torch.from_numpy(frames), sentence=torch.from_numpy(sentences))


# ------------------------------------------------------------------------------------------------ loss


def test_the_loss_against_a_loop():
    # CLIP: the mean of two cross entropies, over rows and over columns.
    logits = torch.tensor(np.random.default_rng(0).normal(size=(4, 4)))
    rows = [math.log(sum(math.exp(x) for x in logits[i].tolist())) - float(logits[i, i]) for i in range(4)]
    columns = [math.log(sum(math.exp(x) for x in logits[:, i].tolist())) - float(logits[i, i]) for i in range(4)]
    assert float(symmetric_cross_entropy(logits)) == pytest.approx((sum(rows) + sum(columns)) / 8, abs=1e-12)


def test_the_loss_of_one_pair_and_of_equal_similarities():
    # Specification, section 3: 0 for a batch of 1, log B for equal similarities.
    assert float(symmetric_cross_entropy(torch.tensor([[3.0]]))) == 0
    assert float(symmetric_cross_entropy(torch.full((7, 7), 2.0))) == pytest.approx(math.log(7))


@pytest.mark.parametrize("which", MODELS)
def test_lengths_of_vectors_and_padding_change_nothing(which):
    model, batch = made(which), a_batch()
    for parameter in model.parameters():
        if parameter.ndim:
            torch.nn.init.normal_(parameter, std=0.1)
    one = model(batch).logits
    longer = dataclasses.replace(batch, video=5 * batch.video, sentence=0.5 * batch.sentence)
    assert torch.allclose(model(longer).logits, one, atol=1e-4)
    clips = model.clip_vectors(batch.video[:1])
    assert clips.tolist()[0] == pytest.approx(model.clip_vectors(batch.video)[0].tolist(), abs=1e-5)


@pytest.mark.parametrize("which", MODELS)
def test_training_starts_from_mean_pooling(which):
    model, batch = made(which), a_batch()
    for row, (frames, vector) in enumerate(zip(batch.video, model.clip_vectors(batch.video), strict=True)):
        expected = unit(frames[: 1 + row].numpy()).mean(axis=0)
        assert vector.tolist() == pytest.approx((expected / np.linalg.norm(expected)).tolist(), abs=1e-5)


@pytest.mark.parametrize("which", MODELS)
def test_a_batch_is_learned_by_heart(which):
    model, batch = made(which), a_batch(8)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(60):
        model.start_step(step)
        output = model(batch)
        loss = model.losses(batch, output)["contrastive"]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert float(loss.detach()) < 0.01
    assert (output.logits.argmax(dim=1) == torch.arange(8)).all()


def test_the_scale_is_held_at_a_hundred():
    model = made((MeanPool, MeanPoolSettings()))
    assert model.scale.item() == pytest.approx(100)
    with torch.no_grad():
        model.log_scale += 3
    assert model.scale.item() == pytest.approx(100)
    model.start_step(0)
    assert model.log_scale.item() == pytest.approx(math.log(100))
    with pytest.raises(UsageError, match=r"settings\.scale: got 200, expected 100 or less"):
        made((MeanPool, MeanPoolSettings(scale=200.0)))


GATHER = """
    import sys, torch, torch.distributed as dist
    from truemoment.learning.models.retrieval_model import gathered, symmetric_cross_entropy, unit
    rank, path = int(sys.argv[1]), sys.argv[2]
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=2)
    torch.manual_seed(0)
    texts, clips = torch.randn(6, 5), torch.randn(6, 5)
    weight = torch.eye(5, requires_grad=True)
    own = slice(3 * rank, 3 * rank + 3)
    all_texts, all_clips = gathered(unit(texts[own] @ weight)), gathered(unit(clips[own] @ weight))
    loss = symmetric_cross_entropy(10 * all_texts @ all_clips.T)
    loss.backward()
    dist.all_reduce(weight.grad)
    gradient = weight.grad / 2  # the mean over processes, as the training loop takes it
    whole = torch.eye(5, requires_grad=True)
    symmetric_cross_entropy(10 * unit(texts @ whole) @ unit(clips @ whole).T).backward()
    assert torch.allclose(gradient, whole.grad, atol=1e-6), (gradient, whole.grad)
    dist.destroy_process_group()  # its threads end before the process does
"""


@pytest.mark.thorough
def test_two_processes_take_the_step_of_one(tmp_path):
    script = tmp_path / "gather.py"
    script.write_text(textwrap.dedent(GATHER))
    words = [sys.executable, str(script)]
    started = [
        subprocess.Popen([*words, str(rank), str(tmp_path / "meet")], stderr=subprocess.PIPE, env=os.environ)
        for rank in (0, 1)
    ]
    for process in started:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()


# --------------------------------------------------------------------------------------------- batches


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6)), min_size=1, max_size=40), st.integers(1, 6))
def test_batches_contain_each_clip_and_each_text_once(pairs, size):
    clip, text = np.array(pairs).T
    order = np.random.default_rng(0).permutation(len(pairs))
    found = contrastive_batches(order, clip, text, size)
    assert len(set(found.tolist())) == len(found)
    for low in range(0, len(found), size):
        batch = found[low : low + size]
        assert len(set(clip[batch])) == len(set(text[batch])) == len(batch)
    assert len(found) % size == 0 or len(found) < size


# ------------------------------------------------------------------------------------------------ runs


@pytest.fixture(scope="module")
def films():
    """Films whose sentences have a style that a model can learn to ignore; see FilmSettings."""
    settings = FilmSettings(minutes=5, n_sentences=60, nearness=0.2, style=0.8, n_dimensions=64)
    return make_films({"train": 20, "val": 3, "test": 12}, settings, np.random.default_rng(0))


def run_on(films, *changes, name="mean-pool", tests=None):
    recipe = read_recipe(name, ["settings.scale=20", "train.batch=64", *changes])
    return Run(
        recipe=recipe,
        seed=0,
        train=films.annotations("train"),
        val=films.annotations("val"),
        tests=tests or {},
        features="films",
        store=films,
        text_sources=("films",),
        texts=films,
    )


def trained(films, folder, *changes, **more):
    return perform(run_on(films, *changes, tests={"test": films.annotations("test")}, **more), folder)


def test_training_beats_zero_shot(films, tmp_path):
    # Specification, section 8.4: held-out R@1 above zero-shot with an interval that excludes 0.
    result = trained(films, tmp_path / "run", "train.epochs=12", "train.learning_rate=0.001")
    found = {of.measure: of for of in result.beside_zero_shot}["t2c:R@1"]
    assert found.ci95[0] > 0
    test = films.annotations("test")
    clips = clips_of(test)
    vectors, _ = pooled_clips(films, clips)
    similarity = unit(films.vectors(clips.queries())) @ vectors.T
    zero_shot = (similarity.argmax(axis=1) == np.arange(len(clips))).mean()
    assert found.zero_shot == pytest.approx(zero_shot)
    written = read_similarities(tmp_path / "run" / "test.npz").similarities.block(slice(None))
    assert (written.argmax(axis=1) == np.arange(len(clips))).mean() == pytest.approx(found.value)
    with pytest.raises(UsageError, match=r"is a run of mean-pool, which ranks clips: use truemoment retrieve"):
        TrainedGrounder.load(tmp_path / "run", store=films)


def test_without_nearness_it_is_chance(tmp_path):
    # Specification, section 8.3: at nearness 0 within three standard errors of K / N.
    settings = FilmSettings(minutes=5, n_sentences=50, nearness=0.0, style=0.8, n_dimensions=64)
    films = make_films({"train": 6, "val": 2, "test": 8}, settings, np.random.default_rng(1))
    result = trained(films, tmp_path / "run", "train.epochs=3")
    n_clips = films.annotations("test").n_queries
    for of in result.beside_zero_shot:
        if of.measure.startswith("t2c:R@"):
            chance = int(of.measure.partition("@")[2]) / n_clips
            assert abs(of.value - chance) < 3 * math.sqrt(chance * (1 - chance) / n_clips)


def test_a_resumed_run_is_equal_to_the_bit(films, tmp_path):
    class StoppedError(Exception):
        pass

    def stop(epoch):
        if epoch.epoch == 2:
            raise StoppedError

    changes = ("train.epochs=3", "train.warm_up=0.3", "train.decay=cosine")
    whole = trained(films, tmp_path / "whole", *changes)
    with pytest.raises(StoppedError):
        perform(run_on(films, *changes), tmp_path / "parts", on_epoch=stop)
    parts = trained(films, tmp_path / "parts", *changes)
    assert [of.value for of in parts.beside_zero_shot] == [of.value for of in whole.beside_zero_shot]
    one, other = ((tmp_path / name / "best.safetensors").read_bytes() for name in ("whole", "parts"))
    assert one == other


def test_the_sequential_head_trains_and_is_loaded(films, tmp_path):
    changes = ("settings.heads=4", "train.epochs=1")
    result = trained(films, tmp_path / "run", *changes, name="frame-sequence")
    retriever = TrainedRetriever.load(tmp_path / "run", store=films, texts=films)
    pairs, _ = retriever.pairs(films.annotations("test"))
    texts, clips = retriever.vectors(pairs)
    hits = ((texts @ clips.T).argmax(axis=1) == np.arange(len(clips))).mean()
    assert hits == pytest.approx(result.beside_zero_shot[0].value)


def test_order_of_clips_permutes_their_vectors(films):
    test = films.annotations("test")
    model = made((MeanPool, MeanPoolSettings()), 64)
    network = Network(NO_WORDS, 1, model)
    recipe = read_recipe("mean-pool")
    turned = test.select_rows(np.arange(len(test))[::-1])
    one, other = (make_clip_texts(of, films, films, recipe, model)[0] for of in (test, turned))
    clips = [vectors_of(network, of, 32)[1] for of in (one, other)]
    assert clips[0] == pytest.approx(clips[1][::-1], abs=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["select.measure=AxIoU@10"], r"unknown measure 'AxIoU@10', expected t2c: or c2t:"),
        (["select.measure='t2c:MdR'"], r"got t2c:MdR, expected one measure of which more is better"),
        (["windows={seconds: 10}"], r"field windows: got windows, but mean-pool ranks clips"),
    ],
)
def test_a_recipe_that_does_not_fit(changes, message):
    with pytest.raises(InputError, match=message):
        read_recipe("mean-pool", changes)
