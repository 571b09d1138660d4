"""A small world and small films, a small recipe for each family, and what a run is made of."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
torch.set_num_threads(1)

from truemoment.base.records import Queries  # noqa: E402 - PyTorch may be missing
from truemoment.learning.training.recipes import read_recipe  # noqa: E402 - PyTorch may be missing
from truemoment.learning.training.run import Run  # noqa: E402 - as above
from truemoment.worlds import FilmSettings, make_films, make_world  # noqa: E402 - as above

MAP = ("settings.n_clips=8", "settings.hidden=16", "settings.layers=2", "settings.kernel=3")
VLG = ("settings.hidden=16", "settings.video_groups=4", "settings.matching_groups=2", "settings.matching_width=4")
SLOTS = ("settings.hidden=16", "settings.heads=2", "settings.feedforward=16")
SETTINGS = {
    "tan2d": MAP,
    "tan2d-windows": MAP,
    "blind-tan": MAP,
    "tcn-dcm": MAP,
    "mdd": MAP,
    "ablr": ("settings.n_clips=8", "settings.hidden=16", "settings.location_hidden=8", "settings.location_bias=0.5"),
    "ctrl": ("settings.semantic=16", "settings.hidden=16"),
    "acrn": ("settings.semantic=16", "settings.hidden=16", "settings.pool=4"),
    "drn": (
        *("settings.n_clips=8", "settings.hidden=8", "settings.channels=8", "settings.pyramid=16"),
        "train.stages=[{}]",  # one, with the epochs of a tiny run
    ),
    "scdm": ("settings.hidden=8", "settings.head_hidden=8"),
    "vlg-net": (*VLG, "settings.n_clips=8"),
    "vlg-net-mad": (*VLG, "settings.n_clips=8", "settings.diagonals=[7]"),
    "tsp-prl": ("settings.units=32", "settings.hidden=16", "settings.alignment=8", "settings.phase=3"),
    "wssl": (
        *("settings.hidden=8", "settings.most_words=4", "train.sentences=all"),
        "train.stages=[{}]",  # one, of all losses, with the epochs of a tiny run
    ),
    "moment-detr": SLOTS,
    "qd-detr": SLOTS,
    "flash-vtg": (*SLOTS, "settings.dummies=2", "settings.word_layers=1", "settings.score_layers=2"),
    "mean-pool": ("settings.scale=20",),
    "frame-sequence": ("settings.scale=20", "settings.heads=2", "settings.most_frames=16"),
}
"""Settings of a tiny model of each family."""

TINY = (
    "rows=16",
    "train.epochs=2",
    "train.batch=16",
    "train.learning_rate=0.01",
    "select.patience=0",
)


@pytest.fixture(scope="session")
def queries_of():
    """Make queries of a video of 9 s: queries_of("a door", "a dog")."""

    def make(*sentences):
        ids = [f"v#{number}" for number in range(len(sentences))]
        return Queries(ids, ["v"] * len(ids), np.full(len(ids), 9.0), list(sentences))

    return make


@pytest.fixture(scope="session")
def world():
    return make_world(40, location_prior=0.3, query_prior=0.3, perception=0.9, seed=0)


@pytest.fixture(scope="session")
def tiny_films():
    settings = FilmSettings(minutes=2, n_sentences=20, nearness=0.2, style=0.8, n_dimensions=16)
    return make_films({"train": 4, "val": 2, "test": 2}, settings, np.random.default_rng(0))


@pytest.fixture(scope="session")
def tiny():
    """Make a small recipe: tiny("mdd", "train.epochs=3")."""

    def make(name, *changes):
        words_learned = [] if name in ("mean-pool", "frame-sequence") else ["text.size=12"]
        return read_recipe(name, [*SETTINGS[name], *TINY, *words_learned, *changes])

    return make


@pytest.fixture
def make_run(world, tiny, tiny_films):
    """Make a run on the world, or on films for models that rank clips: make_run("tan2d", "train.epochs=3", seed=1)."""

    def make(name="tan2d", *changes, seed=0, **parts):
        recipe = tiny(name, *changes)
        if "sentence" in recipe.family.needs:
            train, val = tiny_films.annotations("train"), tiny_films.annotations("val")
            films = {"features": "films", "store": tiny_films, "text_sources": ("films",), "texts": tiny_films}
            return Run(recipe, seed, train, val, **films, **parts)
        seen = {"features": "world", "store": world.features} if recipe.family.sees_video else {}
        return Run(recipe, seed, world.splits["train"], world.splits["val"], **seen | parts)

    return make
