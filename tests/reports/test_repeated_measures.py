"""Which columns repeat others: by hand."""

from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.repeated_measures import caption_without_repeats, repeated_measures
from truemoment.report.model import Cell


def found(measures, *rows):
    """Return the columns that repeat others of a table with a column of names."""
    cells = [(Cell("name"), *map(Cell, row.split())) for row in rows]
    return repeated_measures(parse_measures(measures), cells, first=1)


def test_equal_figures_repeat_the_first_measure_that_has_them():
    assert found("R@1,IoU=0.5; mIoU; R@5,IoU=0.5; R@10,IoU=0.5", "1 2 1 1", "3 4 3 3") == (
        (3, "R@5,IoU=0.5 equals R@1,IoU=0.5 in every row"),
        (4, "R@10,IoU=0.5 equals R@1,IoU=0.5 in every row"),
    )


def test_a_measure_that_differs_in_one_row_repeats_nothing():
    assert found("R@1,IoU=0.5; R@5,IoU=0.5", "1 1", "3 4") == ()


def test_dr_repeats_r_of_the_same_depth_threshold_and_references():
    why = "dR@1,IoU=0.5 is R@1,IoU=0.5 with a discount for distant ends"
    assert found("dR@1,IoU=0.5; R@1,IoU=0.5", "1 2", "3 4") == ((1, why),)
    for other in ("R@5,IoU=0.5", "R@1,IoU=0.7", "R@1,IoU=0.5,length=short", "R@1,IoU=0.5[ref=first]"):
        assert found(f"dR@1,IoU=0.5; {other}", "1 2", "3 4") == ()


def test_figures_equal_those_of_a_folded_measure_alone_stay():
    # mIoU has the figures of dR, which is folded: its own column is the only one that shows them
    folded = found("R@1,IoU=0.5; dR@1,IoU=0.5; mIoU", "1 2 2", "3 4 4")
    assert [column for column, _ in folded] == [2]


def test_a_caption_says_so_where_a_table_leaves_measures_out():
    measures = parse_measures("R@1,IoU=0.5; R@5,IoU=0.5")
    assert caption_without_repeats("Percent.", [0, 1], measures) == "Percent."
    assert caption_without_repeats("Percent.", [0], measures) == "Percent; without measures that repeat others"
