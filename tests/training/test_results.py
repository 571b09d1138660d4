import pytest

from truemoment.exceptions import InputError
from truemoment.training.results import FIELDS, Row, keep, read_rows

ROW = Row(
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
    return Row(**{**{name: getattr(ROW, name) for name in FIELDS}, **values})


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
        (",".join(FIELDS) + "\n1,2\n", "2 columns"),
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
