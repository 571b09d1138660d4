"""WSSL in a run: no time is read, what each stage trains, which epoch is kept, and what its answers look like."""

import dataclasses

import numpy as np
import pytest
import torch

from truemoment import read_predictions
from truemoment.base.errors import UsageError
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.learning.models.layers.segment_anchors import ANCHORS
from truemoment.learning.training import checkpoints
from truemoment.learning.training.optimisers import make_optimiser, set_rate
from truemoment.learning.training.performing import perform
from truemoment.learning.training.recipes import Optimisation, TrainingStage, read_recipe
from truemoment.studies.audit import AuditSetup, Results
from truemoment.studies.audit.checks.answer_pattern import look

from ..thorough import quick_are

pytestmark = pytest.mark.slow

LOCALIZER = "[words, marks, localizer]"
FIRST = "{epochs: 1, trained: [generator], losses: [caption], keep: last}"
SECOND = f"{{epochs: 1, batch: 8, trained: {LOCALIZER}, losses: [anchor], keep: last}}"
THIRD = f"{{epochs: 1, slower: {LOCALIZER}, losses: [caption, reconstruction], keep: last}}"


def stages(n):
    return f"train.stages=[{', '.join((FIRST, SECOND, THIRD)[:n])}]"


def noise(annotations, seed=0):
    """The same queries with times that mean nothing: ends before starts, outside the video, or missing."""
    rng = np.random.default_rng(seed)
    start, end = rng.uniform(-50.0, 200.0, (2, len(annotations)))
    missing = rng.random(len(annotations)) < 0.3
    start[missing] = end[missing] = np.nan
    return dataclasses.replace(annotations, start_s=start, end_s=end)


def weights(folder):
    return checkpoints.read_tensors(folder / "best.safetensors")


def changed(one, other):
    return {name for name in one if not torch.equal(one[name], other[name])}


@pytest.mark.parametrize("split", quick_are(["train"], ["train", "val"]))
def test_weights_do_not_depend_on_any_time(split, make_run, tmp_path):
    """Specification, section 10: equal to the bit with noise in place of every reference time."""
    one = make_run("wssl", stages(3))
    other = dataclasses.replace(one, **{split: noise(getattr(one, split))})
    for name, of in (("one", one), ("other", other)):
        perform(of, tmp_path / name)
    assert not changed(weights(tmp_path / "one"), weights(tmp_path / "other"))


def test_a_model_that_needs_times_does_depend_on_them(make_run, tmp_path):
    """The test above can fail."""
    one = make_run("ablr", "train.epochs=1")
    for name, of in (("one", one), ("other", dataclasses.replace(one, train=noise(one.train)))):
        perform(of, tmp_path / name)
    assert changed(weights(tmp_path / "one"), weights(tmp_path / "other"))


def test_each_stage_trains_its_parts(make_run, tmp_path):
    """Section 3: the generator on whole videos; the localizer without its refinement; everything."""
    after = []
    for n in (1, 2, 3):
        result = perform(make_run("wssl", stages(n)), tmp_path / str(n))
        after.append(weights(tmp_path / str(n)))
    assert [set(epoch.loss) for epoch in result.history] == [
        {"caption", "total"},
        {"anchor", "total"},
        {"caption", "reconstruction", "total"},
    ]
    one, two, three = after
    parts = {name: name.removeprefix("model.").split(".")[0] for name in one}
    assert {parts[name] for name in changed(one, two)} == {"table", "marks", "localizer"}
    assert {parts[name] for name in changed(two, three)} == {"table", "marks", "localizer", "refine", "generator"}
    assert sum(share for name, share in result.history[1].watched.items() if name.removeprefix("label ").isdigit()) == (
        pytest.approx(1)
    )


def test_the_last_epoch_is_kept_and_the_result_says_so(make_run, tmp_path):
    last = FIRST.replace("epochs: 1", "epochs: 3")
    result = perform(make_run("wssl", f"train.stages=[{last}]", "select.patience=1"), tmp_path / "last")
    assert result.best.epoch == len(result.history) == 3  # every epoch has the same figure: the first would be the best
    assert result.run.notes[-1].endswith("its last epoch is kept: no reference was used")
    assert result.run.made_by["chosen_on"] == "nothing: the last epoch"
    best = perform(make_run("wssl", f"train.stages=[{last.replace(', keep: last', '')}]"), tmp_path / "best")
    assert best.best.epoch == 1
    assert best.run.notes[-1].endswith("but its epoch was chosen with those of val")


def test_an_epoch_has_one_sentence_a_video_and_each_sentence_has_its_turn(make_run, world, tmp_path):
    """Section 10: drawn from a stream of seed and epoch."""
    drawn = []

    def track(items, name):
        if name.startswith("epoch"):
            drawn.append([])
            return _kept(items, drawn[-1])
        return items

    perform(make_run("wssl", "train.sentences=one a video", "train.epochs=3"), tmp_path / "run", track=track)
    videos = world.splits["train"].queries.video_id
    for pairs in drawn:
        assert sorted(videos[pairs]) == sorted(set(videos.tolist()))
    assert len({tuple(sorted(pairs)) for pairs in drawn}) == 3


def _kept(batches, pairs):
    for batch in batches:
        pairs += batch.pair.tolist()
        yield batch


def test_slower_parts_have_a_tenth_of_the_rate_and_clipped_parts_are_named(make_run, tmp_path):
    network = torch.nn.ModuleDict({"model": torch.nn.ModuleDict({"one": torch.nn.Linear(2, 1)})})
    network["model"]["two"] = torch.nn.Linear(2, 1)
    rule = Optimisation(optimiser="sgd", momentum=0.8, learning_rate=0.5)
    optimiser = make_optimiser(rule, TrainingStage(slower=("two",)), network)
    rates = {id(of): group["lr"] for group in optimiser.param_groups for of in group["params"]}
    assert rates[id(network["model"]["one"].bias)] == 0.5
    assert rates[id(network["model"]["two"].bias)] == pytest.approx(0.05)
    assert {group["momentum"] for group in optimiser.param_groups} == {0.8}
    set_rate(optimiser, 0.1)
    assert [group["lr"] for group in optimiser.param_groups] == pytest.approx([0.1, 0.01])
    with pytest.raises(UsageError, match=r"train\.clipped: got the part 'nothing', expected one of "):
        perform(make_run("wssl", "train.clipped=[nothing]"), tmp_path / "run")


@pytest.mark.thorough
def test_only_the_clipped_parts_are_clipped(make_run, tmp_path):
    """With a largest norm of almost 0 and plain SGD, the clipped part stays and the others move."""
    rule = ("train.optimiser=sgd", "train.clip=1e-12", "train.learning_rate=0.01", "train.epochs=1")
    for name, parts in (("none", "[generator]"), ("localizer", "[localizer]")):
        perform(make_run("wssl", *rule, f"train.clipped={parts}"), tmp_path / name)
    one, other = weights(tmp_path / "none"), weights(tmp_path / "localizer")
    perform(make_run("wssl", *rule, "train.learning_rate=1e-12"), tmp_path / "start")
    before = weights(tmp_path / "start")

    def moved(after, part):
        return max(
            float((after[name] - before[name]).abs().max()) for name in before if name.startswith(f"model.{part}.word.")
        )

    assert moved(one, "generator") < 1e-9
    assert moved(other, "generator") > 1e-4


@pytest.mark.parametrize("name", ["wssl", "wssl-full"])
def test_the_stages_of_the_recipes(name):
    """Section 3: captions of whole videos, then localizer and captions by turns; the last epoch; no time."""
    train = read_recipe(name).train
    assert train.keeps_last
    assert train.sentences == "one a video"
    kinds = [stage.losses for stage in train.every_stage]
    first = kinds.index(("anchor",))
    assert set(kinds[:first]) == {("caption",)}
    assert set(kinds[first:]) == {("anchor",), ("caption", "reconstruction")}
    if name == "wssl":
        return
    of_epochs = [
        (train.rate_of(stage, 1), stage.batch, stage.losses) for stage in train.every_stage for _ in range(stage.epochs)
    ]
    assert len(of_epochs) == 125
    for epoch, (rate, batch, losses) in enumerate(of_epochs[:100]):
        falls = sum(epoch >= at for at in (20, 50, 70))
        assert (rate, batch, losses) == (pytest.approx(1e-2 * 0.1**falls), 36, ("caption",))
    for epoch, (rate, batch, losses) in enumerate(of_epochs[100:]):
        falls = sum(epoch >= at for at in (1, 2, 20))
        assert rate == pytest.approx(1e-2 * 0.1**falls)
        localizes = epoch % 5 == 0
        assert (batch, losses) == ((6, ("anchor",)) if localizes else (32, ("caption", "reconstruction")))
    assert (train.optimiser, train.momentum, train.weight_decay, train.clip) == ("sgd", 0.8, 1e-4, 5)


@pytest.mark.thorough
def test_its_answers_collapse_and_the_audit_says_so(make_run, world, tmp_path):
    """Sections 7 and 8.5: alike captions make the first anchor, (0, 0.5), the label of almost every sentence."""
    changes = (
        "settings.refinement=0",
        "train.stages=[{epochs: 1, trained: [generator], losses: [caption], keep: last}, "
        f"{{epochs: 8, trained: {LOCALIZER}, losses: [anchor], keep: last}}]",
    )
    test = world.splits["test-iid"]
    result = perform(make_run("wssl", *changes, tests={"test-iid": test}), tmp_path / "run")
    labels = result.history[-1].watched
    assert labels["label 1"] + labels["label 3"] + labels["label 15"] > 0.8
    assert ANCHORS[0] == (0.25, 0.5)
    predictions, _ = read_predictions(tmp_path / "run" / "test-iid.jsonl", test)
    setup = AuditSetup(test, predictions, parse_measures("R@1,IoU=0.5"), get_protocol("default"))
    finding = look(Results(setup, 0))
    assert (finding.check, finding.level, finding.holds) == ("answer-pattern", "warning", False)
    assert "of the first answers are" in finding.verdict
