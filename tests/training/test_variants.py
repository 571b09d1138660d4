"""Variants of a method: names, numbers, and what a break may not confuse."""

import pytest

from truemoment.base.errors import InputError, UsageError
from truemoment.evaluation.scores import Scores
from truemoment.learning.training.variants import VariantGrid, make_variants


@pytest.fixture
def grid():
    return VariantGrid(learning_rates=(0.01,), nms=(1.0, 0.5), shuffled=True)


def test_every_network_threshold_and_way_is_a_variant(grid):
    assert [name for name, *_ in grid.of_network(0.01, 2)] == [
        "lr0.01-epoch2-nms1",
        "lr0.01-epoch2-nms0.5",
        "lr0.01-epoch2-nms1-shuffled",
        "lr0.01-epoch2-nms0.5-shuffled",
    ]


def made(make_run, grid, folder, world):
    run = make_run("tan2d", "train.epochs=3", tests={"test-iid": world.splits["test-iid"]})
    return make_variants(run, grid, folder, measures="R@1,IoU=0.5; AxIoU@10")


def test_a_grid_that_was_cut_off_ends_as_one_that_was_not(make_run, world, grid, tmp_path):
    """Cut off between an epoch's end and the copy of its weights: none is lost, none takes another's name."""
    assert made(make_run, grid, tmp_path / "whole", world) == 12

    def cut(what):
        if "answering" in what:
            raise KeyboardInterrupt

    run = make_run("tan2d", "train.epochs=3", tests={"test-iid": world.splits["test-iid"]})
    asked = run, grid, tmp_path / "cut"
    with pytest.raises(KeyboardInterrupt):
        make_variants(*asked, measures="R@1,IoU=0.5; AxIoU@10", on_status=cut)
    weights = tmp_path / "cut" / "runs" / "lr0.01" / "weights"
    (weights / "0003.safetensors").unlink()
    assert make_variants(*asked, measures="R@1,IoU=0.5; AxIoU@10") == 12
    for path in (tmp_path / "whole" / "test-iid").glob("*.npz"):
        one, other = Scores.load(path), Scores.load(tmp_path / "cut" / "test-iid" / path.name)
        assert (one.numerator == other.numerator).all(), path.name


def test_a_lost_epoch_is_told(make_run, world, grid, tmp_path):
    made(make_run, grid, tmp_path / "grid", world)
    (tmp_path / "grid" / "runs" / "lr0.01" / "weights" / "0001.safetensors").unlink()
    with pytest.raises(InputError, match="epochs"):
        made(make_run, grid, tmp_path / "grid", world)


def test_files_of_the_user_beside_weights_are_no_weights(make_run, world, grid, tmp_path):
    """0001-mine.safetensors ended in a ValueError."""
    made(make_run, grid, tmp_path / "grid", world)
    weights = tmp_path / "grid" / "runs" / "lr0.01" / "weights"
    (weights / "0001-mine.safetensors").write_bytes((weights / "0001.safetensors").read_bytes())
    assert made(make_run, grid, tmp_path / "grid", world) == 12


@pytest.mark.parametrize("link", ["runs", "runs/lr0.01", "runs/lr0.01/weights", "val", "test-iid"])
def test_links_in_a_folder_of_variants_are_refused(make_run, world, grid, tmp_path, link):
    mine = tmp_path / "mine"
    mine.mkdir()
    (tmp_path / "grid" / link).parent.mkdir(parents=True)
    (tmp_path / "grid" / link).symlink_to(mine)
    with pytest.raises(InputError, match=f"{link}: is a link, expected"):
        made(make_run, grid, tmp_path / "grid", world)
    assert list(mine.iterdir()) == []


def test_one_command_at_a_time_makes_variants(make_run, world, grid, tmp_path):
    def tell(_):
        with pytest.raises(UsageError, match="grid: is being written by another command"):
            made(make_run, grid, tmp_path / "grid", world)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_variants(make_run(), grid, tmp_path / "grid", measures="mIoU", on_status=tell)
    assert made(make_run, grid, tmp_path / "grid", world) == 12


def test_names_of_splits_do_not_become_folders_elsewhere(make_run, world, grid, tmp_path):
    run = make_run(tests={"test/../../away": world.splits["test-iid"]})
    with pytest.raises(UsageError, match="file's name"):
        make_variants(run, grid, tmp_path / "grid", measures="mIoU")
    assert list(tmp_path.iterdir()) == []
