"""Grids of runs: what is in them, what is read again, and that processes do not matter."""

from __future__ import annotations

import dataclasses
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from truemoment.base.errors import InputError, TrueMomentError, UsageError
from truemoment.learning.training.sweep import Dial, SweepGrid, dial_text, read_methods
from truemoment.learning.training.sweep_data import SweepData
from truemoment.learning.training.trials import Trainer, TrainingTrial, read_finished, train_trials
from truemoment.worlds import WorldSettings

pytestmark = pytest.mark.slow


SMALL = ["train.epochs=1", "settings.hidden=8", "settings.n_clips=8", "rows=8"]
MEASURES = "R@1,IoU=0.5; mIoU"


def grid_of(folder, dial="perception=0,1", seeds=(0, 1), recipes=("tan2d", "blind-tan")):
    return SweepGrid(read_methods(recipes, SMALL), Dial.read(dial), seeds, folder)


def data_of(grid):
    return SweepData(grid, None, None, WorldSettings(n_videos=40), each_seed=False)


def trained(grid, cells, prepare, jobs=1):
    return list(train_trials(cells, Trainer(grid, prepare, MEASURES), workers=jobs))


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """Give a grid of two methods, two values and one seed, and what came of its cells."""
    grid = grid_of(tmp_path_factory.mktemp("sweep"), seeds=(0,))
    data = data_of(grid)
    data.write_worlds(lambda _: None)
    return grid, data, trained(grid, grid.cells(), data)


# ------------------------------------------------------------------------------------------------ the grid


def test_a_dial_is_read_and_sorted():
    assert Dial.read(" perception = 1, 0,0.30") == Dial("perception", (0.0, 0.3, 1.0))
    assert Dial.read("query-prior=-0").values == (0.0,)
    assert [dial_text(value) for value in (0.0, 0.3, 1.0, None)] == ["0", "0.3", "1", "any"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("volume=0,1", "unknown dial 'volume', expected one of perception, location-prior, query-prior"),
        ("perception", "expected perception=V1,V2"),
        ("perception=", "expected perception=V1,V2"),
        ("perception=0,1.1", "'1.1', expected a number from 0 to 1"),
        ("perception=-0.1", "'-0.1', expected a number"),
        ("perception=0,nan", "'nan', expected a number"),
        ("perception=0,,1", "'', expected a number"),
        ("perception=0,0x1", "'0x1', expected a number"),
        ("perception=0.3,0.30", "expected each value once"),
        ("perception=0,-0", "expected each value once"),
    ],
)
def test_other_dials_are_refused(text, told):
    with pytest.raises(UsageError, match="--dial") as refused:
        Dial.read(text)
    assert told in str(refused.value)


def test_perception_does_not_reach_a_method_that_is_blind(tmp_path):
    cells = grid_of(tmp_path, "perception=0,0.5,1", (3, 4)).cells()
    assert len(cells) == len(set(cells)) == 2 * 3 + 2
    assert {cell for cell in cells if cell.method == "blind-tan"} == {
        TrainingTrial("blind-tan", None, s) for s in (3, 4)
    }
    # Seed by seed: the first half of the list is a whole sweep of one seed.
    assert [cell.seed for cell in cells] == [3] * 4 + [4] * 4


def test_a_prior_reaches_every_method(tmp_path):
    cells = grid_of(tmp_path, "query-prior=0,1", (0,)).cells()
    assert set(cells) == {TrainingTrial(m, v, 0) for m in ("tan2d", "blind-tan") for v in (0.0, 1.0)}


def test_every_cell_has_its_own_folder(tmp_path):
    grid = grid_of(tmp_path, "perception=0,0.25,1", (0, 1))
    folders = [grid.folder_of(cell) for cell in grid.cells()]
    assert len(set(folders)) == len(folders)
    assert (
        grid.folder_of(TrainingTrial("tan2d", 0.25, 1)).path
        == tmp_path / "cells" / "tan2d" / "perception=0.25" / "seed-1"
    )
    assert (
        grid.folder_of(TrainingTrial("blind-tan", None, 1)).path
        == tmp_path / "cells" / "blind-tan" / "perception=any" / "seed-1"
    )


@pytest.mark.parametrize(
    ("recipes", "changes", "told"),
    [
        ([], [], "which recipes"),
        (["tan2d", "tan2d"], [], "'tan2d' occurs twice"),
        (["tan9"], [], "unknown recipe 'tan9'"),
        (["tan2d"], ["select.split=test-ood"], "expected no test split"),
        (["tan2d"], ["train.epochs"], "expected KEY=VALUE"),
    ],
)
def test_other_recipes_are_refused(recipes, changes, told):
    with pytest.raises(UsageError, match=told):
        read_methods(recipes, changes)


def test_a_file_is_called_by_its_stem(tmp_path):
    (tmp_path / "wide.yaml").write_text("{model: tan2d, settings: {hidden: 64}, train: {precision: bf16}}")
    (tmp_path / "a b.yaml").write_text("model: tan2d")
    method = read_methods([str(tmp_path / "wide.yaml")])[0]
    assert (method.name, method.recipe.family.title) == ("wide", "2D-TAN")
    with pytest.raises(UsageError, match="becomes a folder's"):
        read_methods([str(tmp_path / "a b.yaml")])
    with pytest.raises(UsageError, match=r"differ in train.precision \(bf16, no\)"):
        read_methods([str(tmp_path / "wide.yaml"), "tan2d"])


# --------------------------------------------------------------------------------------------- what comes out


def test_a_cell_is_what_train_would_make(swept):
    grid, _, done = swept
    assert [outcome.trial for outcome in done] == grid.cells()
    for outcome in done:
        rows = outcome.rows
        assert {(row.split, row.measure) for row in rows} == {
            (split, measure) for split in ("test-iid", "test-ood") for measure in MEASURES.split("; ")
        }
        assert {row.config for row in rows} == {grid.recipe_of(outcome.trial).hash}
        assert all("synthetic world: n_videos=40" in row.notes for row in rows)
        assert (grid.folder_of(outcome.trial) / "test-ood.jsonl").is_file()
    blind = [outcome for outcome in done if outcome.trial.method == "blind-tan"]
    assert len(blind) == 1
    assert all("perception=any" in row.notes and row.features == "none" for row in blind[0].rows)


@pytest.mark.thorough
def test_processes_change_nothing(swept, tmp_path):
    """Same threads a process, same figures: whatever trains a cell, it draws from its own seed alone."""
    grid, _, done = swept
    shutil.copytree(grid.folder / "worlds", tmp_path / "worlds")
    other = grid_of(tmp_path, seeds=(0,))
    again = trained(other, other.cells(), data_of(other), jobs=2)

    def plain(outcomes):
        return {of.trial: [msgspec.structs.replace(row, seconds=0.0) for row in of.rows] for of in outcomes}

    assert plain(again) == plain(done)
    for cell in grid.cells():
        name = "best.safetensors"
        assert (grid.folder_of(cell) / name).read_bytes() == (other.folder_of(cell) / name).read_bytes()


@pytest.mark.thorough  # the contract of imports, tests/test_house.py
def test_a_worker_imports_no_command(swept):
    """What is sent to a process that trains is unpickled and read there, without the command line."""
    grid, data, _ = swept
    script = (
        "import pickle, sys\n"
        "import truemoment.learning.training.trials\n"
        "data, cell = pickle.load(sys.stdin.buffer)\n"
        "run = data(cell)\n"
        "assert sorted(run.tests) == ['test-iid', 'test-ood'] and run.train.n_queries\n"
        "heavy = ('truemoment.cli', 'truemoment.report.', 'click')\n"
        "print([name for name in sys.modules if name.startswith(heavy) and name != 'truemoment.report.words'])\n"
    )
    sent = pickle.dumps((data, grid.cells()[0]))
    done = subprocess.run([sys.executable, "-c", script], input=sent, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


def finished(grid, data, cell, **changed):
    splits = data.read(data.place_of(cell))
    asked = {
        "recipe": grid.recipe_of(cell),
        "seed": cell.seed,
        "features": data.features(cell),
        "learned": {(of.dataset, of.split): of.sha256 for of in splits.values()},
        "figures": [
            (split, splits[split].sha256[:8], measure)
            for split in ("test-iid", "test-ood")
            for measure in MEASURES.split("; ")
        ],
    } | changed
    return read_finished(grid.folder_of(cell), asked.pop("recipe"), **asked)


def test_finished_cells_are_read(swept):
    grid, data, done = swept
    for outcome in done:
        assert finished(grid, data, outcome.trial) == outcome.rows


def test_what_is_not_finished_is_not_read(swept, tmp_path):
    grid, data, _ = swept
    cell = grid.cells()[0]
    assert finished(grid, data, cell, figures=[("test-iid", "00000000", "mIoU")]) is None  # other data
    assert finished(grid, data, TrainingTrial("tan2d", 0.5, 0)) is None  # nothing there
    copy = SweepGrid(grid.methods, grid.dial, grid.seeds, Path(shutil.copytree(grid.folder, tmp_path / "copy")))
    (copy.folder_of(cell) / "result.json").unlink()
    assert finished(copy, data, cell) is None
    (copy.folder_of(cell) / "result.json").checked().write_bytes(b'{"figures": [{"recipe": 3}]}')
    with pytest.raises(InputError, match=r"result.json.*recipe"):
        finished(copy, data, cell)


def test_another_run_is_refused(swept):
    grid, data, _ = swept
    cell = grid.cells()[0]
    other = read_methods(["tan2d"], [*SMALL, "train.epochs=2"])[0].recipe
    for changed, told in (
        ({"recipe": other}, r"recipe\.train\.epochs"),
        ({"seed": 7}, "seed"),
        ({"features": "other.npz"}, "features"),
        ({"learned": {("annotations.jsonl", "train"): "00", ("annotations.jsonl", "val"): "00"}}, "train, val"),
    ):
        with pytest.raises(UsageError, match=rf"contains another run \(it differs in {told}\)"):
            finished(grid, data, cell, **changed)


def test_a_loss_that_is_not_finite_leaves_its_cell_empty_and_others_go_on(swept, tmp_path):
    shutil.copytree(swept[0].folder / "worlds", tmp_path / "worlds")
    grid = grid_of(tmp_path, seeds=(0,), recipes=("tan2d",))
    data = data_of(grid)
    steps = ["train.epochs=3", "train.learning_rate=1.0e+30", "train.clip=0"]
    wild = read_methods(["tan2d"], [*SMALL, *steps])[0].recipe

    def spoiled(cell):
        """At perception 0 each step is so long that nothing is finite behind it."""
        run = data(cell)
        return dataclasses.replace(run, recipe=wild) if cell.value == 0 else run

    empty, whole = trained(grid, grid.cells(), spoiled)
    assert (empty.trial.value, empty.rows) == (0, ())
    assert "not finite" in empty.failed
    assert (whole.failed, len(whole.rows)) == ("", 4)
    assert finished(grid, data, empty.trial, recipe=wild) is None
    assert finished(grid, data, whole.trial) == whole.rows


def test_a_wrong_file_stops_all(tmp_path):
    grid = grid_of(tmp_path, seeds=(0,), recipes=("tan2d",))
    with pytest.raises(TrueMomentError, match=r"annotations\.jsonl: no such file"):
        trained(grid, grid.cells(), data_of(grid))  # its world was never built
