"""Models of the hub: which are fetched, and which commit of them. The hub is a folder of the test's own."""

import json
from pathlib import Path

import pytest

from truemoment.media.video import encoders
from truemoment.searching import extraction
from truemoment.searching.layout import SETTINGS
from truemoment.searching.request import DEFAULT_MODEL

pytestmark = pytest.mark.slow


PIN = "1a25a446712ba5ee05982a381eed697ef9b435cf"
"""Of the default model; many public repositories name this commit, e.g. as the folder of their cache."""

OLD, NEW = "0" * 39 + "1", "0" * 39 + "2"


class Hub:
    """What the hub's client does: some commits are on this machine, the newest can be asked for."""

    def __init__(self, folder):
        self.folder = folder
        self.newest = OLD
        self.here = set()
        self.asked = []
        """Names and commits that were fetched."""

    def snapshot_download(self, name, *, revision, allow_patterns, local_files_only=False):
        assert not any(pattern.endswith((".py", ".bin", "*")) for pattern in allow_patterns)
        commit = revision or self.newest
        if local_files_only and (name, commit) not in self.here:
            raise FileNotFoundError(name)
        if not local_files_only:
            self.asked.append((name, revision))
            self.here.add((name, commit))
        place = self.folder / name / commit
        place.mkdir(parents=True, exist_ok=True)
        for of in ("config", "preprocessor_config", "tokenizer", "tokenizer_config"):
            (place / f"{of}.json").touch()
        (place / "model.safetensors").touch()
        return str(place)


@pytest.fixture
def hub(colours, tmp_path, tmp_path_factory, monkeypatch):
    """Models of the hub are fetched from here, and are all the encoder of mean colours."""
    import huggingface_hub

    def load_encoder(text, *, device=None):
        del device
        encoders._folder_of(text)
        return colours.Colours()

    made = Hub(tmp_path_factory.mktemp("hub"))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", made.snapshot_download)
    monkeypatch.setattr(encoders, "load_encoder", load_encoder)
    monkeypatch.chdir(tmp_path)
    extraction._load.cache_clear()
    yield made
    extraction._load.cache_clear()


@pytest.fixture
def index(call, films, hub):
    """An index of a film beside it, made with some/model; the model is not on this machine any more."""
    assert call("index", films / "a.mp4", "--model", "some/model", "--quiet")[0] == 0
    hub.here.clear()
    hub.asked.clear()
    extraction._load.cache_clear()
    return films / "a.mp4.index"


def model_of(index):
    return json.loads((index / SETTINGS).read_text())["model"]


def name_model(index, model):
    (index / SETTINGS).write_text(json.dumps(json.loads((index / SETTINGS).read_text()) | {"model": model}))


def test_an_index_names_no_model_that_is_fetched(fails, index, hub, monkeypatch):
    """Whoever sends an index with a film chooses no download."""
    monkeypatch.chdir(index.parent)  # or a long path is cut in the message
    for model in ("evil/evil", f"evil/evil@{OLD}", f"{DEFAULT_MODEL}@{OLD}"):
        name_model(index, model)
        for words in (["search", "red", "a.mp4.index"], ["search", "red", "a.mp4"], ["index", "a.mp4"]):
            assert fails(2, *words) == (
                f"{index.name}: its model {model} is not on this machine; an index can name any model: if you trust "
                f"it, give --model {model.partition('@')[0]}"
            )
    assert hub.asked == []


def test_an_index_that_names_no_model_is_named(fails, index, hub, monkeypatch):
    name_model(index, "a\0b")
    monkeypatch.chdir(index.parent)
    assert fails(2, "search", "red", index.name) == (
        f"{index.name}/{SETTINGS}: field model: got the model 'a\\x00b', expected 'scenes', a folder, or a name on the "
        "hub (OWNER/NAME or OWNER/NAME@COMMIT, 40 digits)"
    )
    assert hub.asked == []


def test_a_model_that_the_user_names_is_fetched(call, index, hub):
    assert call("search", "red", index, "--model", "some/model", "--quiet")[0] == 0
    assert [name for name, _ in hub.asked] == ["some/model"]


def test_a_model_that_is_on_this_machine_need_not_be_named(call, index, hub):
    hub.here.add(("some/model", OLD))
    assert call("search", "red", index, "--quiet")[0] == 0
    assert hub.asked == []


@pytest.mark.parametrize("named", [[], ["--model", DEFAULT_MODEL]])
def test_the_default_model_is_asked_for_by_its_commit(call, films, hub, named):
    assert call("index", films / "a.mp4", "-o", "x.index", "--quiet", *named)[0] == 0
    assert hub.asked == [(DEFAULT_MODEL, PIN)]
    assert model_of(Path("x.index")) == f"{DEFAULT_MODEL}@{PIN}"
    for model in (f"{DEFAULT_MODEL}@{PIN}", DEFAULT_MODEL):  # as before commits were recorded
        name_model(Path("x.index"), model)
        hub.here.clear()
        extraction._load.cache_clear()
        assert call("search", "red", "x.index", "--quiet")[0] == 0
        assert hub.asked.pop() == (DEFAULT_MODEL, PIN)


def test_the_commit_of_a_model_is_recorded_and_asked_for_again(call, index, hub):
    """Somebody changes the model on the hub after the index was made."""
    assert model_of(index) == f"some/model@{OLD}"
    hub.newest = NEW
    assert call("search", "red", index, "--model", "some/model", "--quiet")[0] == 0
    assert hub.asked == [("some/model", OLD)]


def test_a_commit_that_is_named_is_asked_for(call, films, hub):
    assert call("index", films / "a.mp4", "-o", "x.index", "--model", f"some/model@{NEW}", "--quiet")[0] == 0
    assert hub.asked == [("some/model", NEW)]
    assert model_of(Path("x.index")) == f"some/model@{NEW}"


@pytest.mark.parametrize("model", ["some/model@", "some/model@main", f"some/model@{OLD[:-1]}", f"some@x/model@{OLD}"])
def test_what_is_no_commit_is_refused(fails, films, hub, model):
    told = fails(2, "index", films / "a.mp4", "-o", "x.index", "--model", model)
    assert told.startswith(
        f"got the model {model!r}, expected 'scenes', a folder, or a name on the hub (OWNER/NAME or "
    )
    assert hub.asked == []
