"""The three stages of DRN in a run: what each trains, and what stays (specification, sections 3.3 and 10.3)."""

import pytest
import torch

from truemoment.learning.training import checkpoints
from truemoment.learning.training.performing import perform
from truemoment.learning.training.recipes import read_recipe

pytestmark = pytest.mark.slow


FIRST = "{epochs: 2, trained: [words, queries, video, head], losses: [classification, regression]}"
SECOND = "{epochs: 1, trained: [iou], losses: [iou]}"
THIRD = "{epochs: 1, learning_rate: 0.001}"
ALL_SEGMENTS = ("settings.iou_above=null", "settings.frozen_statistics=stay")
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    """The weights of a run's best epoch after each number of stages."""
    return tmp_path_factory.mktemp("runs"), {}


@pytest.fixture
def weights(make_run, after):
    folder, known = after

    def of(n_stages, *changes):
        key = (n_stages, *changes)
        if key not in known:
            stages = f"train.stages=[{', '.join((FIRST, SECOND, THIRD)[:n_stages])}]"
            path = folder / str(len(known))
            result = perform(make_run("drn", stages, *changes), path)
            assert {epoch.stage for epoch in result.history} == set(range(n_stages))
            assert result.best.stage == n_stages - 1
            known[key] = result.history, checkpoints.read_tensors(path / "best.safetensors")
        return known[key]

    return of


def changed(one, other):
    return {name for name in one if not torch.equal(one[name], other[name])}


def test_the_first_stage_trains_all_but_the_iou_head(weights):
    history, one = weights(1, *ALL_SEGMENTS)
    _, other = weights(1, *ALL_SEGMENTS, "train.learning_rate=0.02")
    names = changed(one, other)
    learned = {name for name in one if not name.endswith((*STATISTICS, "scored_by_iou"))}
    assert {name for name in learned if not name.startswith("model.iou.")} == names & learned
    assert set(history[0].loss) == {"classification", "regression", "total"}
    assert not one["model.scored_by_iou"]


def test_the_second_stage_trains_the_iou_head_alone(weights):
    _, one = weights(1, *ALL_SEGMENTS)
    history, other = weights(2, *ALL_SEGMENTS)
    names = changed(one, other)
    assert all(name.startswith("model.iou.") for name in names - {"model.scored_by_iou"})
    assert {name for name in one if name.startswith("model.iou.")} <= names
    assert set(history[-1].loss) == {"iou", "total"}
    assert other["model.scored_by_iou"]


def test_the_third_stage_trains_everything(weights):
    _, one = weights(2, *ALL_SEGMENTS)
    history, other = weights(3, *ALL_SEGMENTS)
    assert changed(one, other) == set(one) - {"model.scored_by_iou"}
    assert set(history[-1].loss) == {"classification", "regression", "iou", "total"}


@pytest.mark.parametrize("name", ["drn", "drn-full"])
def test_the_stages_of_the_recipes(name):
    """Section 3.3: parts and losses; rates 1e-3, 1e-5 and 1e-7 and 10, 40 and 40 epochs where it is the published."""
    train = read_recipe(name).train
    first, second, third = train.every_stage
    assert first.trained == ("words", "queries", "video", "head")
    assert (set(first.losses), second.losses, third.losses) == ({"classification", "regression"}, ("iou",), ())
    assert (second.trained, third.trained) == (("iou",), ())
    assert train.clip == 0.5
    if name == "drn-full":
        assert [stage.learning_rate for stage in train.every_stage] == [1e-3, 1e-5, 1e-7]
        assert [stage.epochs for stage in train.every_stage] == [10, 40, 40]
        assert train.batch == 32
