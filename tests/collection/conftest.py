"""A simulated described film, a collection of it, and the command line; the tests of a process share the first two."""

import pytest

from truemoment.cli import run
from truemoment.collection import pipeline
from truemoment.collection.layout import CollectSettings
from truemoment.collection.pipeline import CollectRecipe, collect_films
from truemoment.collection.tasks import make_task
from truemoment.worlds.described.film import DescribedSettings, make_described


@pytest.fixture(scope="session")
def described(tmp_path_factory):
    """A film of two minutes without pictures, its described track and subtitles."""
    out = tmp_path_factory.mktemp("described")
    return make_described(out, minutes=2, seed=3, settings=DescribedSettings(pictures=False))


@pytest.fixture(scope="session")
def collected(described, tmp_path_factory):
    """A collection of this film, which tests only read."""
    out = tmp_path_factory.mktemp("collections") / "one"
    task = make_task(str(described.film), str(described.track), described.subtitles)
    collect_films([task], CollectRecipe(CollectSettings(), "tones", None, out))
    return out


@pytest.fixture
def aligned(collected, monkeypatch):
    """Films are taken to be aligned as that of the collection is: for tests of what follows."""
    (path,) = collected.glob("films/*/alignment.json")
    stages = {**pipeline.STAGES, "alignment.json": lambda _: path.read_bytes()}
    monkeypatch.setattr(pipeline, "STAGES", stages)


@pytest.fixture
def call(capfd):
    """Run the command line: call("collect", ...) -> (status, standard output, standard error)."""

    def run_words(*words):
        capfd.readouterr()
        status = run([str(word) for word in words])
        return status, *capfd.readouterr()

    return run_words
