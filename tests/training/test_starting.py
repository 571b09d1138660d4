"""Runs that start from the weights of another (train --from): detr.md, 12.13."""

import dataclasses

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

from truemoment.base.errors import InputError, UsageError  # noqa: E402 - PyTorch may be missing
from truemoment.learning.training import checkpoints  # noqa: E402 - as above
from truemoment.learning.training.performing import perform  # noqa: E402 - as above
from truemoment.learning.training.starting import StartWeights  # noqa: E402 - as above

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def first(world, tiny, tmp_path_factory):
    """A run of two epochs."""
    from truemoment.learning.training.run import Run

    folder = tmp_path_factory.mktemp("runs") / "first"
    splits = world.splits
    perform(Run(tiny("tan2d"), 0, splits["train"], splits["val"], features="world", store=world.features), folder)
    return folder


def test_it_starts_from_the_weights_and_says_so(first, make_run, tmp_path):
    """At a learning rate of nearly 0 the weights stay, although the seed is another."""
    start = StartWeights.read(first, "tan2d")
    run = make_run("tan2d", "train.learning_rate=1e-12", "train.optimiser=sgd", seed=7, start=start)
    result = perform(run, tmp_path / "run")
    assert result.run.started_from == checkpoints.read_run(tmp_path / "run").started_from == start.name
    assert start.name.startswith("first#")
    assert f"started from the weights of {start.name}" in result.notes
    before, after = (checkpoints.read_tensors(folder / "best.safetensors") for folder in (first, _own(tmp_path)))
    for name, tensor in before.items():
        torch.testing.assert_close(after[name], tensor)
    with pytest.raises(UsageError, match="started_from"):
        perform(make_run("tan2d", "train.learning_rate=1e-12", "train.optimiser=sgd", seed=7), tmp_path / "run")


def _own(tmp_path):
    from truemoment.base.boundary.own_path import OwnPath

    return OwnPath(tmp_path / "run")


def test_weights_that_do_not_fit_are_refused_before_anything_is_written(first, make_run, world, tmp_path):
    start = StartWeights.read(first, "tan2d")
    with pytest.raises(InputError, match=r"does not fit this recipe \(.*got .*, expected"):
        perform(make_run("tan2d", "settings.hidden=8", start=start), tmp_path / "run")
    other = dataclasses.replace(
        make_run("tan2d", start=start), train=world.splits["test-ood"], caution="by force: a test"
    )
    few = dataclasses.replace(other, train=other.train.select_rows(slice(0, 5)))
    with pytest.raises(UsageError, match="expected the same words, or fixed vectors"):
        perform(few, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(UsageError, match="is a run of tan2d, expected one of mdd"):
        StartWeights.read(first, "mdd")
