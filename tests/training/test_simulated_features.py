"""Models train on simulated features of ActivityNet as on those of Charades, and rules stand beside them."""

import json
import shutil

import numpy as np
import pytest

pytest.importorskip("torch", exc_type=ImportError)

import truemoment as tm
from truemoment import load_annotations
from truemoment.cli import run
from truemoment.evaluation.measures import parse_measure
from truemoment.learning.training.floors import run_rules, simulate
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.searching.opening import open_features
from truemoment.worlds.concepts import CAUTION

SENTENCES = ("A man opens the box.", "The dog runs.", "A woman throws the ball.")


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    """Give an ActivityNet Captions in which the three sentences of a video have moments of whole seconds."""
    folder = tmp_path_factory.mktemp("data") / "activitynet-captions"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name, first, n_videos in (("train", 0, 24), ("val_1", 24, 6), ("val_2", 24, 6)):
        videos = {}
        for number in range(first, first + n_videos):
            starts = rng.permutation(3) * 10 + rng.integers(0, 4, 3)
            lengths = rng.integers(4, 7, 3)
            times = [[float(start), float(start + length)] for start, length in zip(starts, lengths, strict=True)]
            videos[f"v_{number}"] = {"duration": 30.0, "timestamps": times, "sentences": list(SENTENCES)}
        if name == "val_2":  # another annotation of the videos of val_1
            videos = {video_id: of | {"sentences": ["The cat sleeps."] * 3} for video_id, of in videos.items()}
        (folder / f"{name}.json").write_text(json.dumps(videos))
    return folder.parent


def test_a_run_opens_the_features_of_its_dataset(data_dir, tmp_path):
    changes = {"settings.n_clips": 8, "settings.hidden": 8, "settings.layers": 1, "train.epochs": 1, "rows": 8}
    tm.train(
        "tan2d",
        out=tmp_path / "run",
        dataset="activitynet-captions",
        data_dir=data_dir,
        features="perception:1",
        test="val_1",
        set=changes,
    )
    kept = json.loads((tmp_path / "run" / "run.json").read_text())
    assert kept["features_name"] == "perception:1 (8 concepts of activitynet-captions), seed=0"
    assert CAUTION in kept["notes"]
    grounder = TrainedGrounder.load(tmp_path / "run", data_dir=data_dir)
    assert grounder.features.name == kept["features_name"]
    test = load_annotations("activitynet-captions", "val_1", data_dir=data_dir)
    assert len(grounder.ground(test.queries, 1)) == 18


@pytest.mark.thorough
def test_a_split_anew_has_the_features_of_its_dataset(data_dir, tmp_path):
    """The folder's name says nothing of ActivityNet: its datasheet does, also where the run is read elsewhere."""
    anew = tmp_path / "anew"
    options = {"--dataset": "activitynet-captions", "--data-dir": data_dir, "--permutations": 99, "-o": anew}
    assert run(["resplit", *(str(word) for pair in options.items() for word in pair), "--quiet"]) == 0
    changes = {"settings.n_clips": 8, "settings.hidden": 8, "settings.layers": 1, "train.epochs": 1, "rows": 8}
    folder = tmp_path / "run"
    tm.train("tan2d", out=folder, dataset=str(anew), data_dir=data_dir, features="perception:1", set=changes)
    kept = json.loads((folder / "run.json").read_text())
    whole = open_features("perception:1", dataset="activitynet-captions", data_dir=data_dir)
    assert (kept["features_name"], kept["made_of"]) == (whole.name, "activitynet-captions")
    assert open_features("perception:1", dataset=str(anew), data_dir=data_dir).name == whole.name
    shutil.move(anew, tmp_path / "elsewhere")
    assert TrainedGrounder.load(folder, data_dir=data_dir).features.name == whole.name


def test_rules_stand_beside_methods(data_dir):
    """Every concept is of one sentence, so that a ceiling without errors is always right."""
    train, test = (load_annotations("activitynet-captions", name, data_dir=data_dir) for name in ("train", "val_1"))
    found = list(
        run_rules(
            {"val_1": test},
            simulated=simulate("activitynet-captions", data_dir=data_dir),
            train=train,
            qualities=(0.0, 1.0),
            seeds=(0,),
            measures=[parse_measure("R@1,IoU=0.7")],
            top=1,
        )
    )
    names = [(of.name, of.kind) for of in found[:3]]
    assert names == [("random-interval", "floor"), ("likeliest-interval", "floor"), ("concept-interval", "ceiling")]
    value = {(of.name, of.quality): of.values["val_1", "R@1,IoU=0.7"] for of in found}
    assert value["concept-interval", 1.0] == 1
    assert value["concept-interval", 0.0] < 0.5  # there is nothing but noise to pick from
    assert value["random-interval", 1.0] < 0.7  # about a third of the intervals are right
    assert found[-1].rows[0].features == "perception:1, seed=0"
