"""Towers that learn: the encoder that comes along, on clips that are rendered here."""

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("transformers")
av = pytest.importorskip("av")

from truemoment.base.errors import InputError, UsageError  # noqa: E402 - PyTorch may be missing
from truemoment.base.records import Queries  # noqa: E402 - as above
from truemoment.learning.models.base import Inputs  # noqa: E402 - as above
from truemoment.learning.models.mean_pool import MeanPool, MeanPoolSettings  # noqa: E402 - as above
from truemoment.learning.training.checkpoints import read_tensors  # noqa: E402 - as above
from truemoment.learning.training.performing import perform  # noqa: E402 - as above
from truemoment.learning.training.recipes import read_recipe  # noqa: E402 - as above
from truemoment.learning.training.run import Run  # noqa: E402 - as above
from truemoment.learning.training.stores import open_clip_features  # noqa: E402 - as above
from truemoment.media.video.encoders import load_encoder  # noqa: E402 - as above
from truemoment.worlds.scenes import render_video  # noqa: E402 - as above

TOWERS = ("settings.tune=towers", "settings.encoder=scenes", "rows=2", "normalise=false", "settings.scale=20")
STAGE = (
    "train.stages=[{epochs: 4, learning_rate: 0.01, slower: [towers], slower_factor: 0.05}]",
    "train.batch=8",
    "train.warm_up=0",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a short film of the test split."""
    folder = tmp_path_factory.mktemp("films")
    render_video(folder / "film-test.mp4", np.random.default_rng(3), 0.5, fps=4)
    return folder


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    """Render a short film for each split, and return their folder and annotations."""
    folder = tmp_path_factory.mktemp("films")
    splits = {
        split: dataclasses.replace(
            render_video(folder / f"film-{split}.mp4", np.random.default_rng(seed), 2.0, fps=4, n_events=16),
            split=split,
        )
        for seed, split in enumerate(("train", "val", "test"))
    }
    return folder, splits


def recipe_of(*changes):
    return read_recipe("mean-pool", [*TOWERS, *STAGE, *changes])


def run_on(videos, *changes):
    folder, splits = videos
    recipe = recipe_of(*changes)
    features = f"pictures:{folder}"
    store = open_clip_features(features, recipe, None)
    tests = {"test": splits["test"]}
    return Run(recipe, 0, splits["train"], splits["val"], tests, features=features, store=store)


def test_towers_return_what_the_encoder_does(folder):
    encoder = load_encoder("scenes", device="cpu")
    model = MeanPool(MeanPoolSettings(tune="towers"), Inputs(0, 1)).eval()
    sentences = ["a red ball rolls", "the cat sleeps on a mat under the table"]
    queries = Queries(["0", "1"], ["v", "v"], np.ones(2), sentences)
    expected = encoder.sentences(sentences)
    found = model.text_vectors(torch.from_numpy(model.see_texts(queries, None))).detach().numpy()
    assert found == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-5)
    store = open_clip_features(f"pictures:{folder}", recipe_of(), None)
    rows = store.some_rows("film-test", np.array([0, 3]))
    factor, offset = encoder.preparation.scale
    pictures = (np.moveaxis(rows.reshape(2, 3, 48, 48), 1, -1) - offset) / factor
    seen = encoder.images(pictures.round().astype(np.uint8))
    mean = (seen / np.linalg.norm(seen, axis=1, keepdims=True)).mean(axis=0)
    padded = torch.zeros(1, 3, rows.shape[1])
    padded[0, :2] = torch.from_numpy(rows)
    vector = model.clip_vectors(padded).detach().numpy()[0]
    assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


@pytest.mark.thorough
def test_both_towers_learn_more_slowly_than_the_scale(videos, tmp_path):
    losses = []
    run = run_on(videos)
    first = run.train.select_rows(run.train.offsets[:-1])  # each clip with the sentence of another: much to learn
    run = dataclasses.replace(run, train=dataclasses.replace(first, sentence=np.roll(first.sentence, 1)))
    result = perform(
        run,
        tmp_path / "run",
        on_epoch=lambda of: losses.append(of.loss["total"]),
    )
    assert losses[-1] < losses[0]
    start = MeanPool(MeanPoolSettings(tune="towers", scale=20.0), Inputs(0, 1))
    learned = read_tensors(tmp_path / "run" / "epoch-0004" / "network.safetensors")
    moved = {
        tower: max(
            float((learned[f"model.{name}"] - before).abs().max())
            for name, before in start.state_dict().items()
            if f"{tower}_model" in name
        )
        for tower in ("text", "vision")
    }
    n_steps = 4 * (videos[1]["train"].n_queries // 8)
    # Adam moves a weight by about its rate a step: 5 % of 0.01 for the towers.
    assert all(0 < change < 3 * n_steps * 0.05 * 0.01 for change in moved.values())
    assert abs(float(learned["model.log_scale"]) - np.log(20)) > 0.005
    found = {of.measure: of for of in result.beside_zero_shot}
    assert found["t2c:R@1"].zero_shot > 3 / videos[1]["test"].n_queries  # the encoder knows these scenes


def test_towers_need_pictures_and_maps_need_vectors(folder):
    with pytest.raises(UsageError, match=r"the model learns from pictures: give --features pictures:FOLDER"):
        open_clip_features("features.npz", recipe_of(), None)
    with pytest.raises(UsageError, match=r"the model learns from vectors of frames, not pictures"):
        open_clip_features(f"pictures:{folder}", read_recipe("mean-pool"), None)
    with pytest.raises(InputError, match=r"is no folder, expected one with a video file for each film or clip"):
        open_clip_features("pictures:nowhere", recipe_of(), None)
