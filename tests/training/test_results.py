import threading
import time

import pytest

from truemoment.base.errors import InputError
from truemoment.learning.training import results
from truemoment.learning.training.results import FIELDS, ResultRow, keep, read_rows, write_rows

ROW = ResultRow(
    recipe="tan2d",
    config="0123456789ab",
    seed=0,
    dataset="charades-cd",
    split="test-ood",
    data="deadbeef",
    features="perception:0.3, seed=0",
    measure="R@1,IoU=0.5",
    value="0.250000",
    n_queries=3375,
    chosen_on="charades-cd/val#cafe",
    epoch=3,
    seconds=12.5,
    commit="abc",
    hardware="2 threads",
    truemoment="0.1.0",
    notes='simulated, "so to speak"\nand more',
)


def changed(**values):
    return ResultRow(**{**{name: getattr(ROW, name) for name in FIELDS}, **values})


def test_rows_come_back_as_they_were(tmp_path):
    path = tmp_path / "results.csv"
    keep(path, [ROW, changed(measure="mIoU", value="")])
    assert read_rows(path) == [ROW, changed(measure="mIoU", value="")]


def test_a_run_that_is_repeated_leaves_one_set_of_rows(tmp_path):
    path = tmp_path / "results.csv"
    keep(path, [ROW, changed(seed=1)])
    keep(path, [changed(value="0.300000", commit="def")])
    assert [(row.seed, row.value) for row in read_rows(path)] == [(1, "0.250000"), (0, "0.300000")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,2\n", "columns"),
        (",".join(FIELDS) + "\n1,2\n", "got 2 values"),
        (",".join(FIELDS) + "\n" + ",".join(["x"] * len(FIELDS)) + "\n", ":2"),
        ("", "columns"),
    ],
)
def test_another_file_is_refused_and_left_alone(tmp_path, text, told):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        keep(path, [ROW])
    assert path.read_text() == text


def test_six_runs_that_end_at_once_lose_no_row(tmp_path, monkeypatch):
    """Point 10: of 36 rows 30 were kept. Reading is slowed down, so that all six read before any of them writes."""

    def slowly(path):
        rows = read_rows(path)
        time.sleep(0.05)
        return rows

    monkeypatch.setattr(results, "read_rows", slowly)
    path, link = tmp_path / "results.csv", tmp_path / "link.csv"
    link.symlink_to(path)
    keep(path, [changed(seed=99)])
    threads = [
        threading.Thread(target=keep, args=(name, [changed(seed=seed, measure=f"R@{k},IoU=0.5") for k in range(1, 7)]))
        for seed, name in enumerate((path, link) * 3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_rows(path)) == 37
    assert sorted(of.name for of in tmp_path.iterdir()) == ["link.csv", "results.csv"]


def test_the_first_rows_of_a_file_are_not_lost_either(tmp_path, monkeypatch):
    """Nobody finds a file, and each would make it."""

    def slowly(path, rows):
        time.sleep(0.05)
        write_rows(path, rows)

    monkeypatch.setattr(results, "write_rows", slowly)
    path = tmp_path / "results.csv"
    threads = [threading.Thread(target=keep, args=(path, [changed(seed=seed)])) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row.seed for row in read_rows(path)) == [0, 1, 2, 3, 4, 5]
