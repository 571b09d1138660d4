"""Runs on a small world: what they learn, that they go on where they were cut off, and what they refuse."""

import dataclasses
import json
import os
import shutil

import numpy as np
import pytest
import torch

from truemoment.base.errors import InputError, MissingFileError, TrueMomentError, UsageError
from truemoment.data.formats import read_predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.learning.models import FAMILIES, get_family
from truemoment.learning.training import checkpoints, hardware
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.performing import perform
from truemoment.learning.training.prediction import predict_with_run
from truemoment.learning.training.run import Run, hold_out, is_test
from truemoment.learning.training.run_options import RunOptions

from ..thorough import quick_are

pytestmark = pytest.mark.slow


def weights(folder):
    return checkpoints.read_tensors(folder / "best.safetensors")


@pytest.fixture(scope="module")
def trained(world, tiny, tmp_path_factory):
    """The folder of a run of one epoch, which is copied before it is changed."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    perform(Run(tiny("blind-tan", "train.epochs=1"), 0, world.splits["train"], world.splits["val"]), folder)
    return folder


@pytest.mark.parametrize("name", [name for name in FAMILIES if "sentence" not in get_family(name).needs])
def test_every_family_trains_answers_and_is_read_back(name, make_run, world, tmp_path):
    """Of those that answer with moments; for those that rank clips see test_retrieval_runs."""
    test = world.splits["test-iid"]
    result = perform(make_run(name, tests={"test-iid": test}), tmp_path / "run")
    assert len(result.history) == 2
    if name != "tsp-prl":  # rewards draw windows elsewhere: its loss need not fall, see test_it_learns_a_batch_by_heart
        assert result.history[1].loss["total"] < result.history[0].loss["total"]
    assert {row.measure for row in result.tests} >= {"R@1,IoU=0.5", "AxIoU@10"}
    grounder = TrainedGrounder.load(tmp_path / "run", store=world.features if name != "blind-tan" else None)
    answers = grounder.ground(test.queries, 10)
    assert answers.query_id.tolist() == test.queries.query_id.tolist()
    assert answers.lengths.max() <= 10
    kept = {row.measure: float(row.value) for row in result.tests}
    again = evaluate(test, answers, ["R@1,IoU=0.5", "mIoU"])
    assert again.value("mIoU") == pytest.approx(kept["mIoU"], abs=1e-6)


def test_the_best_epoch_by_validation_is_kept(make_run, tmp_path, world):
    result = perform(make_run("tan2d", "train.epochs=4"), tmp_path / "run")
    figures = [epoch.val["AxIoU@10"] for epoch in result.history]
    assert result.best.epoch == 1 + int(np.argmax(figures))
    grounder = TrainedGrounder.load(tmp_path / "run", store=world.features)
    val = world.splits["val"]
    assert evaluate(val, grounder.ground(val.queries, 10), ["AxIoU@10"]).value("AxIoU@10") == max(figures)


@pytest.mark.parametrize("name", quick_are(("tcn-dcm",), list(FAMILIES)))
def test_a_run_that_is_cut_off_ends_as_one_that_was_not(name, make_run, tmp_path):
    """TCN-DCM draws most: dropout, other videos, rows of the distance correlation."""
    whole = perform(make_run(name, "train.epochs=3"), tmp_path / "whole")

    def cut(epoch):
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform(make_run(name, "train.epochs=3"), tmp_path / "cut", on_epoch=cut)
    assert checkpoints.newest_epoch(tmp_path / "cut").name == "epoch-0002"
    resumed = perform(make_run(name, "train.epochs=3"), tmp_path / "cut")
    assert [epoch.loss for epoch in resumed.history] == [epoch.loss for epoch in whole.history]
    assert [epoch.val for epoch in resumed.history] == [epoch.val for epoch in whole.history]
    one, other = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert one.keys() == other.keys()
    assert not [name for name in one if not torch.equal(one[name], other[name])]


def test_a_finished_run_is_not_trained_again(make_run, trained):
    before = (trained / "best.safetensors").stat().st_mtime_ns
    told = []
    perform(make_run("blind-tan", "train.epochs=1"), trained, on_epoch=told.append)
    assert not told
    assert (trained / "best.safetensors").stat().st_mtime_ns == before


def test_seeds_differ_and_a_seed_repeats_itself(make_run, tmp_path):
    runs = [perform(make_run(seed=seed), tmp_path / str(at)) for at, seed in enumerate((0, 0, 1))]
    losses = [run.history[-1].loss["total"] for run in runs]
    assert losses[0] == losses[1] != losses[2]


def test_training_stops_when_nothing_gets_better(make_run, tmp_path):
    result = perform(
        make_run("tan2d", "train.learning_rate=1e-12", "train.epochs=9", "select.patience=2"), tmp_path / "r"
    )
    assert result.best.epoch == 1
    assert len(result.history) == 3


def test_epochs_between_validations_have_no_figures_and_are_never_chosen(make_run, tmp_path):
    """The last epoch is validated whatever its number, and a run that is cut off between validations goes on."""
    changes = ("train.epochs=5", "select.every=2")
    whole = perform(make_run("tan2d", *changes), tmp_path / "whole")
    assert [bool(epoch.val) for epoch in whole.history] == [False, True, False, True, True]
    figures = {epoch.epoch: epoch.val["AxIoU@10"] for epoch in whole.history if epoch.val}
    assert whole.best.epoch == max(figures, key=figures.get)

    def cut(epoch):
        if epoch.epoch in (1, 3):
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            perform(make_run("tan2d", *changes), tmp_path / "cut", on_epoch=cut)
    resumed = perform(make_run("tan2d", *changes), tmp_path / "cut")
    assert [epoch.val for epoch in resumed.history] == [epoch.val for epoch in whole.history]
    one, other = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert not [name for name in one if not torch.equal(one[name], other[name])]


def test_patience_counts_validations(make_run, tmp_path):
    changes = ("train.learning_rate=1e-12", "train.epochs=9", "select.patience=2", "select.every=2")
    result = perform(make_run("tan2d", *changes), tmp_path / "run")
    assert result.best.epoch == 2  # then 4 and 6 are no better
    assert len(result.history) == 6


def test_a_split_without_references_is_predicted_and_not_measured(make_run, world, tmp_path):
    test = world.splits["test-iid"]
    nan = np.full(len(test), np.nan)
    open_test = dataclasses.replace(test, start_s=nan, end_s=nan)
    result = perform(make_run("blind-tan", "decode.grid_s=50", tests={"test": open_test}), tmp_path / "run")
    assert not result.tests
    notes = " ".join(result.notes)
    assert "test: has no references, and no figures" in notes
    assert "moments are empty: their ends were rounded to 50 s" in notes
    answers, _ = read_predictions(tmp_path / "run" / "test.jsonl", open_test)
    assert answers.query_id.tolist() == test.queries.query_id.tolist()
    assert not (answers.start_s % 50).any()


def test_a_folder_of_another_run_is_refused(make_run, trained, tmp_path):
    with pytest.raises(UsageError, match="seed"):
        perform(make_run("blind-tan", "train.epochs=1", seed=1), trained)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="no training run"):
        perform(make_run(), tmp_path / "other")
    assert (tmp_path / "other" / "thesis.tex").read_text() == "mine"


def test_the_message_on_another_run_names_the_values_of_the_recipe_that_differ(make_run, trained):
    """Such as text.tokens of a full recipe, which --set puts back to resume a run of an older version."""
    told = r"differs in recipe\.text\.tokens, recipe\.decode\.nms, seed\)"
    with pytest.raises(UsageError, match=told):
        perform(make_run("blind-tan", "train.epochs=1", "text.tokens=blanks", "decode.nms=1", seed=1), trained)


def test_a_run_whose_notes_have_another_wording_is_resumed(make_run, tmp_path):
    """Point 12: a new wording of the caution on simulated features refused every run of an older version."""
    asked = make_run("tan2d", "train.epochs=3")
    older = dataclasses.replace(asked, notes=("Simulated: a wording of an older version.",))
    with pytest.raises(KeyboardInterrupt):
        perform(older, tmp_path / "run", on_epoch=cut_after(2))
    resumed = perform(dataclasses.replace(asked, notes=("Simulated: a newer wording.",)), tmp_path / "run")
    whole = perform(asked, tmp_path / "whole")
    assert [epoch.loss for epoch in resumed.history] == [epoch.loss for epoch in whole.history]


def test_a_loss_that_is_not_finite_is_told(make_run, tmp_path):
    with pytest.raises(TrueMomentError, match="learning_rate"):
        perform(make_run("tan2d", "train.learning_rate=1e30", "train.clip=0"), tmp_path / "run")


def test_a_blind_model_takes_no_features_and_a_seeing_one_asks_for_them(make_run, world):
    with pytest.raises(UsageError, match="sees no video"):
        dataclasses.replace(make_run("blind-tan"), store=world.features)
    with pytest.raises(UsageError, match="--features"):
        dataclasses.replace(make_run("tan2d"), store=None)


def test_answers_of_a_blind_model_do_not_depend_on_video_or_duration(world, trained):
    """blind_tan.md, check 1: fractions are the same whatever the duration; seconds scale with it."""
    grounder = TrainedGrounder.load(trained)
    queries = world.splits["test-iid"].queries
    one = grounder.ground(queries)
    other = grounder.ground(
        dataclasses.replace(queries, video_id=queries.video_id[::-1].copy(), duration_s=3 * queries.duration_s)
    )
    np.testing.assert_allclose(other.start_s, 3 * one.start_s, rtol=1e-12)
    assert other.score.tolist() == one.score.tolist()


def test_an_unknown_duration_is_refused(world, trained):
    queries = world.splits["test-iid"].queries
    with pytest.raises(InputError, match="duration_s"):
        TrainedGrounder.load(trained).ground(dataclasses.replace(queries, duration_s=0 * queries.duration_s))


class TestDamage:
    @pytest.fixture
    def run(self, trained, tmp_path):
        return shutil.copytree(trained, tmp_path / "run")

    def test_a_folder_that_is_no_run(self, tmp_path):
        with pytest.raises(MissingFileError, match=r"run\.json"):
            TrainedGrounder.load(tmp_path)

    @pytest.mark.parametrize("name", ["run.json", "words.json", "best.safetensors"])
    @pytest.mark.parametrize("data", [b"", b"{", b"\x80\x04.", b'{"a": 1}', b"\x00" * 64])
    def test_a_damaged_file(self, run, name, data):
        (run / name).write_bytes(data)
        with pytest.raises((InputError, MissingFileError), match=name.replace(".", r"\.")):
            TrainedGrounder.load(run)

    def test_a_cut_file_of_weights(self, run):
        path = run / "best.safetensors"
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.raises(InputError, match="safetensors"):
            TrainedGrounder.load(run)

    def test_weights_of_another_network(self, run):
        document = json.loads((run / "run.json").read_text())
        document["recipe"]["settings"]["hidden"] = 24
        (run / "run.json").write_text(json.dumps(document))
        with pytest.raises(InputError, match="does not fit"):
            TrainedGrounder.load(run)

    def test_a_number_written_as_text_is_that_number(self, run):
        document = json.loads((run / "run.json").read_text())
        hidden = document["recipe"]["settings"]["hidden"]
        document["recipe"]["settings"]["hidden"] = str(hidden)
        (run / "run.json").write_text(json.dumps(document))
        assert TrainedGrounder.load(run).network.model.settings.hidden == hidden

    @pytest.mark.parametrize("settings", [{"hidden": "wide"}, {"hidden": 10**9}, {"hiden": 3}, {"n_clips": 0}])
    def test_settings_that_no_model_has(self, run, settings):
        document = json.loads((run / "run.json").read_text())
        document["recipe"]["settings"] |= settings
        (run / "run.json").write_text(json.dumps(document))
        with pytest.raises(InputError, match=next(iter(settings))):
            TrainedGrounder.load(run)

    @pytest.mark.parametrize(
        ("part", "key", "value", "said"),
        [
            (None, "model", "tan3d", "field model: unknown model 'tan3d'"),
            ("select", "measure", "AxIuo@10", "field select.measure: 'AxIuo@10'"),
            ("settings", "kernel", 2, "field recipe.settings: got a kernel of 2"),
            (None, "rows", 1.5, ":1: field recipe.rows: got a number, expected a whole number"),
            (
                "train",
                "epochs",
                10**9,
                ":1: field recipe.train.epochs: got 1000000000, expected a whole number <= 9999",
            ),
        ],
    )
    def test_a_damaged_description_is_named(self, run, part, key, value, said):
        path = run / "run.json"
        document = json.loads(path.read_text())
        (document["recipe"][part] if part else document["recipe"])[key] = value
        path.write_text(json.dumps(document))
        with pytest.raises(InputError) as caught:
            TrainedGrounder.load(run)
        assert str(caught.value).replace("`", "").startswith(f"{path}{'' if said.startswith(':') else ': '}{said}")

    def test_a_key_twice_in_the_description_is_refused(self, run):
        path = run / "run.json"
        path.write_text(path.read_text().replace('"seed":', '"seed": 7, "seed":'))
        with pytest.raises(InputError, match=r"run\.json: field seed: 'seed' appears twice"):
            TrainedGrounder.load(run)

    def test_weights_that_are_not_finite_are_refused(self, run):
        path = run / "best.safetensors"
        tensors = checkpoints.read_tensors(path)
        name = next(iter(tensors))
        checkpoints.write_tensors(path, tensors | {name: torch.full_like(tensors[name], float("nan"))})
        with pytest.raises(InputError, match=rf"best\.safetensors: has numbers that are not finite, in {name}"):
            TrainedGrounder.load(run)

    def test_rows_of_words_that_the_recipe_does_not_read_are_refused_by_the_file_that_names_them(self, run):
        document = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps(document | {"queries": "text"}))
        told = r"run\.json: field queries: got 'text', expected none: words of its recipe are 'learned'$"
        with pytest.raises(InputError, match=told):
            TrainedGrounder.load(run)

    def test_weights_that_give_no_finite_scores_are_named(self, run, make_run):
        path = run / "best.safetensors"
        tensors = {name: torch.full_like(value, 3e38) for name, value in checkpoints.read_tensors(path).items()}
        checkpoints.write_tensors(path, tensors)
        told = r"best\.safetensors: gives scores that are not finite; is the file damaged\?$"
        with pytest.raises(InputError, match=told):
            predict_with_run(RunOptions(run), lambda: make_run("blind-tan").val, run.parent / "preds.jsonl")
        assert not (run.parent / "preds.jsonl").exists()

    @pytest.mark.parametrize(
        "log", ["[]", "{}", "[1]", '[{"epoch": 1}]', '[{"epoch": 2, "loss": {}, "val": {}, "best": true}]']
    )
    def test_a_damaged_log(self, run, make_run, log):
        (run / "epoch-0001" / "history.json").write_text(log)
        with pytest.raises(InputError, match=r"history\.json"):
            perform(make_run("blind-tan", "train.epochs=1"), run)

    @pytest.mark.parametrize("key", ["x/y", "999/step", "9" * 5000 + "/step", "0/other", "0/exp_avg"])
    def test_a_damaged_optimiser(self, make_run, key, tmp_path):
        def cut(_):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            perform(make_run("blind-tan"), tmp_path / "cut", on_epoch=cut)
        path = tmp_path / "cut" / "epoch-0001" / "optimiser.safetensors"
        checkpoints.write_tensors(path, {key: torch.zeros(2, 3, 4)})
        with pytest.raises(InputError, match=r"optimiser\.safetensors"):
            perform(make_run("blind-tan"), tmp_path / "cut")

    def test_no_epoch_ended(self, run):
        (run / "best.safetensors").unlink()
        with pytest.raises(MissingFileError, match="cut off"):
            TrainedGrounder.load(run)


def test_split_names_of_tests():
    assert all(is_test(name) for name in ("test", "test-ood", "Test", "my_test", "official test"))
    assert is_test("val_2", merged=["val_1", "val_2"])
    assert not any(is_test(name) for name in ("val", "train", "latest", "held out of train"))


def test_a_task_on_a_test_split_is_refused_unless_forced(make_run, world):
    test = world.splits["test-iid"]
    for part in ("train", "val"):
        with pytest.raises(UsageError, match="test-iid is a test split"):
            dataclasses.replace(make_run(), **{part: test})
        assert dataclasses.replace(make_run(), **{part: test}, caution="by force").caution


def test_other_words_do_not_destroy_a_finished_run(make_run, tmp_path):
    """Fixed vectors of another list of sentences: the folder keeps its words, and can still be read."""
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} {at} 1\n" for at, word in enumerate(("person", "door", "zebra", "the"))))
    asked = make_run("blind-tan", f"text.vectors={vectors}", "train.epochs=1")
    perform(dataclasses.replace(asked, sentences=("the person", "a door")), tmp_path / "run")
    before = (tmp_path / "run" / "words.json").read_bytes()
    with pytest.raises(UsageError, match="other words"):
        perform(dataclasses.replace(asked, sentences=("the person", "a zebra")), tmp_path / "run")
    assert (tmp_path / "run" / "words.json").read_bytes() == before
    assert TrainedGrounder.load(tmp_path / "run").vocabulary.words == ("door", "person", "the")


def test_names_of_splits_do_not_become_paths(make_run, world, tmp_path):
    with pytest.raises(UsageError, match="file's name"):
        perform(make_run(tests={"../away": world.splits["test-iid"]}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_held_out_videos_are_apart(world):
    train_split = world.splits["train"]
    rest, held = hold_out(train_split, seed=3)
    assert not set(rest.video_id) & set(held.video_id)
    assert rest.n_queries + held.n_queries == train_split.n_queries
    assert hold_out(train_split, seed=3)[1].query_id.tolist() == held.query_id.tolist()


def test_nothing_to_learn_from_is_told(make_run, world, tmp_path):
    train = world.splits["train"]
    swapped = dataclasses.replace(train, start_s=train.end_s, end_s=train.start_s)
    with pytest.raises(UsageError, match="no query"):
        perform(dataclasses.replace(make_run(), train=swapped), tmp_path / "run")


# ------------------------------------------------------------------- folders of the user, links, two at once


def cut_after(n_epochs):
    def tell(epoch):
        if epoch.epoch == n_epochs:
            raise KeyboardInterrupt

    return tell


def test_folders_of_the_user_that_are_called_like_epochs_stay_when_a_run_is_resumed(make_run, tmp_path):
    """Point 2: epoch-notes was deleted by the next epoch."""
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        perform(make_run("tan2d", "train.epochs=3"), run, on_epoch=cut_after(1))
    mine = ["epoch-notes/x", "epoch-00012/x", "epoch-1/x", "epoch-0009.old/x"]
    for name in mine:
        (run / name).parent.mkdir()
        (run / name).write_text("mine")
    perform(make_run("tan2d", "train.epochs=3"), run)
    assert [name for name in mine if not (run / name).is_file()] == []
    assert checkpoints.newest_epoch(run).name == "epoch-0003"
    assert not (run / "epoch-0001").exists()


@pytest.mark.parametrize(
    "name", ["run.json", "words.json", "best.safetensors", "epoch-0001", "epoch-0001/history.json", "test-iid.jsonl"]
)
def test_a_run_with_a_link_inside_is_refused(name, make_run, world, tmp_path):
    """Point 1: what a link in a foreign run leads to is neither written nor removed."""
    run, mine = tmp_path / "run", tmp_path / "mine"
    with pytest.raises(KeyboardInterrupt):
        perform(make_run("blind-tan"), run, on_epoch=cut_after(1))
    mine.mkdir()
    if (run / name).exists():
        (run / name).rename(mine / "file")
    (run / name).symlink_to(mine / "file")
    before = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=f"{name}: is a link, expected a file or folder that TrueMoment has made"):
        perform(make_run("blind-tan", tests={"test-iid": world.splits["test-iid"]}), run)
    assert {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()} == before


def test_a_run_s_folder_itself_may_be_a_link(make_run, tmp_path):
    """People link to large disks."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    perform(make_run("blind-tan", "train.epochs=1"), tmp_path / "run")
    assert (tmp_path / "disk" / "result.json").is_file()
    assert (tmp_path / "run").is_symlink()


def test_two_runs_in_one_folder_do_not_train_at_once(make_run, tmp_path):
    """Point 25: the second says so; the first is not disturbed."""
    whole = perform(make_run(), tmp_path / "whole")

    def tell(_):
        with pytest.raises(UsageError, match="run: is being written by another command, wait for its end"):
            perform(make_run(), tmp_path / "run")

    found = perform(make_run(), tmp_path / "run", on_epoch=tell)
    assert [epoch.loss for epoch in found.history] == [epoch.loss for epoch in whole.history]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "best.safetensors", "epoch-0002", "result.json", "run.json", "words.json",
    ]  # fmt: skip


@pytest.fixture
def git(tmp_path, monkeypatch):
    """Put a git of our own on the path, and the package into a checkout: git("exit 1") is what it does but for HEAD."""
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(hardware, "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "hardware.py"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def make(command):
        program = tmp_path / "git"
        program.write_text(f'#!/bin/sh\ncase "$*" in *rev-parse*) echo 0123456789ab;; *) {command};; esac\n')
        program.chmod(0o755)

    hardware.commit.cache_clear()
    yield make
    hardware.commit.cache_clear()


def test_a_git_that_does_not_answer_does_not_end_training(make_run, world, tmp_path, monkeypatch, git):
    """Point 22: after 20 s training ended in status 3, without result.json."""
    git("exec sleep 60")
    monkeypatch.setattr(hardware, "TIMEOUT_S", 0.3)
    result = perform(make_run(tests={"test-iid": world.splits["test-iid"]}), tmp_path / "run")
    assert {row.commit for row in result.tests} == {"0123456789ab?"}
    assert json.loads((tmp_path / "run" / "result.json").read_text())["commit"] == "0123456789ab?"


@pytest.mark.parametrize(
    ("command", "expected"),
    [("exit 0", "0123456789ab"), ("echo ' M src/x.py'", "0123456789ab+"), ("exit 1", "0123456789ab?")],
)
def test_a_commit_is_told_with_what_is_known_of_changes(git, command, expected):
    git(command)
    assert hardware.commit() == expected
