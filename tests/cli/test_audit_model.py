"""truemoment audit --model: the model is asked again, on changed videos."""

import json
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import pytest

from truemoment.data.formats import write_predictions
from truemoment.media.features.changed import CHANGES
from truemoment.worlds import ToyGrounder, make_world
from truemoment.worlds.export import write_world


@dataclass(frozen=True)
class Careful:
    """Features that come with a caution."""

    of: object
    name: str = "made up"
    caution: str = "Simulated: these features are made up."

    def __getattr__(self, attribute):
        return getattr(self.of, attribute)

    def __getitem__(self, video_id):
        return self.of[video_id]

    def __iter__(self):
        return iter(self.of)

    def __contains__(self, video_id):
        return video_id in self.of

    def __len__(self):
        return len(self.of)


@pytest.fixture(scope="module")
def world():
    return make_world(200, location_prior=0.0, query_prior=0.0, perception=0.9, seed=1)


@pytest.fixture(scope="module")
def toy(world):
    return ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"])


@pytest.fixture
def loads(monkeypatch, toy):
    """Put a stand-in in the place of what loads a model; returns the calls it gets."""
    calls = []

    def load(folder, *, features=None, queries=None, data_dir=None):
        assert queries is None
        calls.append((folder, features, data_dir))
        return toy.with_features(Careful(toy.features))

    module = types.ModuleType("truemoment.learning.training.grounding")
    module.TrainedGrounder = types.SimpleNamespace(load=load)
    monkeypatch.setitem(sys.modules, "truemoment.learning.training.grounding", module)
    return calls


@pytest.fixture
def files(tmp_path, world, toy):
    """Write the world, and the answers of the toy method on its test-iid split."""
    write_world(world, tmp_path / "world")
    test = world.splits["test-iid"]
    write_predictions(tmp_path / "preds.jsonl", toy.ground(test.queries, 5), test)
    return tmp_path


def words(files, *more):
    few = ["--measures", "R@1,IoU=0.5", "--resamples", "200", "--permutations", "99", "--quiet", "--json", "-"]
    data = ["--annotations", files / "world" / "annotations.jsonl", "--split", "test-iid"]
    return ["audit", files / "preds.jsonl", *data, *few, *more]


@pytest.mark.slow
@pytest.mark.usefixtures("quick_networks")
def test_the_model_is_asked_again(call, files, loads):
    status, out, err = call(*words(files, "--model", "runs/toy", "--features", "f.npz", "--gate", "looks-at-video"))
    assert (status, err.count("passes")) == (0, 1), err
    assert loads == [(Path("runs/toy"), "f.npz", None)]
    document = json.loads(out)
    assert document["predictions"]["model"] == {"path": "runs/toy", "name": "toy", "features": "made up"}
    assert document["caution"] == "Simulated: these features are made up."
    assert (document["changed"]["n_differing"], document["changed"]["agrees"]) == (0, True)
    assert [way["way"] for way in document["changed"]["ways"]] == list(CHANGES[1:])
    assert document["changed"]["original"][0]["value"] == document["measures"][0]["value"]
    assert {"uses-video", "looks-at-video"} <= {one["check"] for one in document["findings"]}


@pytest.mark.slow
@pytest.mark.usefixtures("loads")
def test_the_model_is_asked_where_moments_move(call, files):
    moves = ["--change", "prepended-noise:5", "--change", "truncated", "--gate", "follows-moments"]
    status, out, err = call(*words(files, "--model", "runs/toy", *moves))
    assert (status, err.count("passes")) == (0, 1), err
    document = json.loads(out)
    assert [one["change"] for one in document["moved"]] == ["prepended-noise:5", "truncated"]
    assert document["changed"]["n_differing"] == 0


def test_features_need_a_model(fails, files):
    said = fails(2, *words(files, "--features", "perception:0.3"))
    assert said.startswith("--features: ")
    assert "--model" in said
