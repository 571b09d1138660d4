"""Stages of a run, optimisers and schedules: what each changes, and that a run that is cut off ends the same."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from truemoment.base.errors import TrueMomentError, UsageError
from truemoment.learning.models import FAMILIES
from truemoment.learning.training import checkpoints
from truemoment.learning.training.optimisers import others_fixed, trained_parameters
from truemoment.learning.training.performing import perform
from truemoment.learning.training.recipes import Schedule, TrainingStage, read_recipe

from ..thorough import quick_are

pytestmark = pytest.mark.slow


BEFORE = json.loads((Path(__file__).parent / "before_stages.json").read_text())
"""Recorded before there were stages (commit 6d3050a): hashes of recipes, and a run of each of the four families."""

STAGES = "train.stages=[{epochs: 2}, {epochs: 2, learning_rate: 0.001, trained: [score]}]"


def weights(folder, name="best.safetensors"):
    return checkpoints.read_tensors(folder / name)


def test_recipes_keep_their_hashes():
    assert {name: read_recipe(name).hash for name in BEFORE["hashes"]} == BEFORE["hashes"]


@pytest.mark.parametrize("name", BEFORE["runs"])
def test_a_run_is_as_before_there_were_stages(name, make_run, world, tmp_path):
    assert name in FAMILIES
    expected = BEFORE["runs"][name]
    result = perform(make_run(name, tests={"test-iid": world.splits["test-iid"]}), tmp_path / "run")
    assert {key: list(of.shape) for key, of in weights(tmp_path / "run").items()} == expected["shapes"]
    assert [epoch.loss["total"] for epoch in result.history] == pytest.approx(expected["losses"], rel=1e-5)
    for epoch, val in zip(result.history, expected["val"], strict=True):
        assert epoch.val == pytest.approx(val, abs=1e-5)
    figures = {row.measure: float(row.value) for row in result.tests}
    assert figures == pytest.approx({measure: float(value) for measure, value in expected["test"].items()}, abs=1e-5)


def test_a_stage_starts_from_the_best_epoch_before_and_trains_its_part_alone(make_run, tmp_path):
    first, whole = tmp_path / "first", tmp_path / "whole"
    perform(make_run("tan2d", "train.stages=[{epochs: 2}]"), first)
    result = perform(make_run("tan2d", STAGES), whole)
    assert [epoch.stage for epoch in result.history] == [0, 0, 1, 1]
    assert result.best.stage == 1
    one, other = weights(first), weights(whole)
    assert {name for name in one if not torch.equal(one[name], other[name])} == {
        "model.score.weight",
        "model.score.bias",
    }


@pytest.mark.parametrize("after", quick_are([2], [1, 2, 3]))
def test_a_run_of_stages_that_is_cut_off_ends_as_one_that_was_not(after, make_run, tmp_path):
    whole = perform(make_run("tan2d", STAGES), tmp_path / "whole")

    def cut(epoch):
        if epoch.epoch == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform(make_run("tan2d", STAGES), tmp_path / "cut", on_epoch=cut)
    resumed = perform(make_run("tan2d", STAGES), tmp_path / "cut")
    assert [(of.loss, of.val, of.best) for of in resumed.history] == [
        (of.loss, of.val, of.best) for of in whole.history
    ]
    one, other = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert not [name for name in one if not torch.equal(one[name], other[name])]


def test_patience_ends_a_stage_and_the_next_begins(make_run, tmp_path):
    stages = "train.stages=[{epochs: 9, learning_rate: 1.0e-12}, {epochs: 1}]"
    result = perform(make_run("tan2d", stages, "select.patience=2"), tmp_path / "run")
    assert [epoch.stage for epoch in result.history] == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("train.stages=[{trained: [nothing]}]", "train.stages: got the part 'nothing', expected one of "),
        ("train.stages=[{losses: [nothing]}]", "train.stages: got the loss 'nothing', expected one of cells"),
    ],
)
def test_unknown_parts_and_losses_are_refused(change, message, make_run, tmp_path):
    with pytest.raises(UsageError, match=message):
        perform(make_run("tan2d", change), tmp_path / "run")


def test_parts_that_a_stage_does_not_train_have_no_gradient_while_it_lasts():
    """Their gradients are never set back, and would count more and more for the norm that is clipped."""
    network = torch.nn.ModuleDict({"table": torch.nn.Embedding(3, 2), "model": torch.nn.ModuleDict()})
    network["model"].update({"score": torch.nn.Linear(2, 1), "other": torch.nn.Linear(2, 2)})
    network["table"].requires_grad_(False)
    stage = TrainingStage(trained=("words", "score"))  # fixed word vectors may be named
    before = {name: of.requires_grad for name, of in network.named_parameters()}
    with others_fixed(network, stage):
        now = {name for name, of in network.named_parameters() if of.requires_grad}
        assert now == {"model.score.weight", "model.score.bias"} == set(trained_parameters(network, stage))
    assert {name: of.requires_grad for name, of in network.named_parameters()} == before


def test_the_rate_falls_after_the_stated_epochs(tiny):
    train = tiny("tan2d", "train.schedule={after: [2, 5], factor: 0.5}").train
    assert train.schedule == Schedule((2, 5), 0.5)
    stage = train.every_stage[0]
    assert [train.rate_of(stage, epoch) for epoch in (1, 2, 3, 5, 6)] == [0.01, 0.01, 0.005, 0.005, 0.0025]


RULES = ["optimiser=sgd", "optimiser=adamw", "clip_by=value", "accumulate=3", "l2=0.001"]


@pytest.mark.parametrize("change", quick_are(["optimiser=sgd", "accumulate=3"], RULES))
def test_a_run_with_another_rule_is_resumed_to_the_bit(change, make_run, tmp_path):
    changes = (f"train.{change}", "train.epochs=2", "train.schedule={after: [1]}")
    whole = perform(make_run("tan2d", *changes), tmp_path / "whole")
    assert whole.history[1].loss["total"] < whole.history[0].loss["total"]

    def cut(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform(make_run("tan2d", *changes), tmp_path / "cut", on_epoch=cut)
    perform(make_run("tan2d", *changes), tmp_path / "cut")
    one, other = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert not [name for name in one if not torch.equal(one[name], other[name])]


def test_batches_whose_gradients_are_added_make_the_step_of_one(make_run, tmp_path):
    """Two batches of 8 make a step of 16: gradients of means are averaged, and 2D-TAN's loss is a mean over pairs."""
    changes = ("train.epochs=1", "train.learning_rate=0.001", "train.optimiser=sgd", "train.clip=0")
    n_pairs = make_run().train.n_queries
    assert n_pairs % 16 == 0
    perform(make_run("tan2d", "train.batch=16", *changes), tmp_path / "one")
    perform(make_run("tan2d", "train.batch=8", "train.accumulate=2", *changes), tmp_path / "two")
    one, other = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name in one:
        np.testing.assert_allclose(one[name].numpy(), other[name].numpy(), atol=2e-5)


def test_a_loss_that_is_not_finite_names_its_queries(make_run, world, tmp_path):
    with pytest.raises(TrueMomentError, match=r"the loss is not finite \(nan\) in the batch of ") as caught:
        perform(make_run("tan2d", "train.learning_rate=1e30", "train.clip=0", "train.batch=4"), tmp_path / "run")
    named = str(caught.value).partition("batch of ")[2].partition(":")[0].split(", ")
    assert len(named) == 4
    assert set(named) <= set(world.splits["train"].queries.query_id.tolist())
