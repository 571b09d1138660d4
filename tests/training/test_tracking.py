"""What is written of a run beside its checkpoints: trackers, learning curves, parts, and a compiled model."""

import importlib.machinery
import importlib.util
import sys
import types
from pathlib import Path

import pytest

from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.data.datasets.source import AnnotationSource
from truemoment.learning.training import report as reports
from truemoment.learning.training.checkpoints import Epoch
from truemoment.learning.training.network import Network
from truemoment.learning.training.performing import perform
from truemoment.learning.training.recipes import Optimisation, TrainingStage, read_recipe
from truemoment.learning.training.report import save_curves
from truemoment.learning.training.run import Run, RunSources
from truemoment.learning.training.tracking import start_tracking, tracker_of


@pytest.mark.slow
def test_tensorboard_has_the_log_of_the_run(make_run, tmp_path):
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    result = perform(make_run("tan2d", "train.track=tensorboard"), tmp_path / "run")
    events = reading.EventAccumulator(str(tmp_path / "run" / "tracked" / "truemoment")).Reload()
    for name, values in (("loss", "loss"), ("val", "val")):
        for key in getattr(result.history[0], values):
            told = {of.step: of.value for of in events.Scalars(f"{name}/{key}")}
            assert told == pytest.approx({of.epoch: getattr(of, values)[key] for of in result.history}), key


def test_a_tracker_changes_neither_hash_nor_figures(tiny):
    assert tiny("tan2d", "train.track=wandb").hash == tiny("tan2d").hash


def test_a_recipe_of_somebody_else_sends_nothing(tmp_path, monkeypatch):
    file = tmp_path / "recipe.yaml"
    file.write_text("model: blind-tan\ntrain: {track: wandb}\n")
    with pytest.raises(InputError, match=r"field train.track: got wandb, which sends the run to a server"):
        read_recipe(file)
    file.write_text("model: blind-tan\n")
    recipe = read_recipe(file, ["train.track=wandb"])
    (tmp_path / "tracked" / "wandb").mkdir(parents=True)
    (tmp_path / "tracked" / "wandb" / "settings").write_text("[default]\nbase_url = http://elsewhere.example\n")
    monkeypatch.setitem(sys.modules, "wandb", types.ModuleType("wandb"))
    sys.modules["wandb"].__spec__ = importlib.machinery.ModuleSpec("wandb", None)
    with pytest.raises(InputError, match="wandb/settings: names a server that a run is sent to; remove it"):
        start_tracking(None, recipe, 0, tmp_path)


def test_a_missing_tracker_is_named_with_its_extra(tiny, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=r"train.track: wandb needs the package wandb: .*truemoment\[wandb\]"):
        tracker_of(tiny("tan2d", "train.track=wandb"))


@pytest.mark.parametrize("name", ["tracked", "tracked/truemoment", "curves.svg"])
def test_a_link_in_a_run_is_not_followed(make_run, tmp_path, name):
    elsewhere, run = tmp_path / "elsewhere", tmp_path / "run"
    elsewhere.mkdir()
    perform(make_run("blind-tan", "train.epochs=1"), run)
    (run / name).parent.mkdir(exist_ok=True)
    (run / name).symlink_to(elsewhere)
    with pytest.raises(InputError, match="is a link, expected a file or folder that TrueMoment has made"):
        perform(make_run("blind-tan", "train.epochs=1"), run)
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize(("keep", "marks"), [("best", [True, False]), ("last", [False, False])])
def test_an_epoch_is_called_best_only_where_one_is_chosen(keep, marks):
    settings = Optimisation(epochs=2, stages=(TrainingStage(keep=keep),))
    epochs = [Epoch(n, {"total": 1.0}, {"mIoU": 0.5}, n == 1 or keep == "last", {}, 1.0, 0.0) for n in (1, 2)]
    lines = [reports.epoch_line(epoch, settings) for epoch in epochs]
    assert [line.endswith("best") for line in lines] == marks
    assert lines[1].startswith("epoch 2/2: loss 1.0000; val mIoU 50.00")


def test_it_is_named_before_anything_is_read_or_written(tiny, monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    nowhere = RunSources(AnnotationSource(annotations=tmp_path / "absent.jsonl"))
    with pytest.raises(MissingPackageError, match="wandb"):
        Run.resolve(tiny("tan2d", "train.track=wandb"), nowhere, 0)


def test_a_tracker_that_cannot_start_is_one_line(tiny, monkeypatch, tmp_path):
    """Weights & Biases raises its own error where nobody is logged in; a stand-in for it does."""
    wandb = types.ModuleType("wandb")
    wandb.Error = type("Error", (Exception,), {})
    wandb.__spec__ = importlib.util.spec_from_loader("wandb", None)
    monkeypatch.setitem(sys.modules, "wandb", wandb)

    def refuse(_name, _settings, options):
        assert Path(options["wandb"]["dir"]).is_dir()  # else Weights & Biases 0.31 warns
        raise wandb.Error("No API key configured.")

    accelerator = types.SimpleNamespace(init_trackers=refuse)
    with pytest.raises(UsageError, match=r"wandb does not start: No API key configured; with WANDB_MODE=offline"):
        start_tracking(accelerator, tiny("tan2d", "train.track=wandb"), 0, tmp_path)


def test_curves_and_parts(make_run, tmp_path):
    made = make_run("blind-tan")
    result = perform(made, tmp_path / "run")
    assert [path.name for path in save_curves(result)] == ["curves.png", "curves.svg"]
    svg = (tmp_path / "run" / "curves.svg").read_text()
    assert svg.count("<svg") == 1
    assert sum(count for part, count in result.parts.items() if part != "words") == result.n_parameters
    assert result.parts["words"] % made.recipe.text.size == 0
    table = reports.report(result).sections[-1].blocks[0]
    assert [row[0].text for row in table.groups[0][1]] == list(result.parts)


def test_a_model_is_compiled_if_the_recipe_says_so(make_run, tmp_path, monkeypatch):
    """A stand-in for the compiler: real ones need a tool chain."""
    compiled = []
    monkeypatch.setattr("torch.nn.Module.compile", lambda self: compiled.append(type(self).__name__))
    perform(make_run("tan2d", "train.compile=true", "train.epochs=1"), tmp_path / "run")
    assert compiled == ["Tan2D"]
    assert Network.__name__ not in compiled
