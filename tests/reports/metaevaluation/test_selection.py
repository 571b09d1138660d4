"""The report on model selection: when a best measure is claimed, when it is not, and what the tables show."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import get_protocol, parse_measures
from truemoment.base.records import as_strings
from truemoment.evaluation.scores import Scores
from truemoment.report.drawing import inline_svg
from truemoment.studies.meta.reports import selection as reports
from truemoment.studies.meta.selection import select
from truemoment.studies.meta.systems import Systems


def systems_of(values: np.ndarray, measures: str, split: str) -> Systems:
    """Variants of values (N, M, Q), a query a video."""
    parsed = parse_measures(measures)
    names = [f"{split}{at}" for at in range(values.shape[2])]
    return Systems(
        {
            f"run {number}": Scores(
                measures=parsed,
                protocol=get_protocol("default"),
                query_id=as_strings(names, "query_id"),
                video_id=as_strings(names, "video_id"),
                numerator=of_variant,
                weight=np.ones_like(of_variant),
                on_threshold=np.full(len(parsed), -1),
                split=split,
                annotations_sha256=split,
            )
            for number, of_variant in enumerate(values)
        }
    )


def flat(figures: list[list[float]]) -> np.ndarray:
    """Values of which every resample has the same figures, (N, M, 30)."""
    return np.repeat(np.array(figures)[:, :, None], 30, axis=2)


TEST = systems_of(flat([[0.5, 0.6], [0.4, 0.7], [0.1, 0.1]]), "R@1,IoU=0.5; AxIoU@5", "test")


@pytest.fixture
def told(shown):
    def of(validation, test=TEST):
        return shown(reports, select(validation, test, np.random.default_rng(0), resamples=50))

    return of


@pytest.fixture
def clear(told):
    """Of three runs R@1 chooses the last, the worst; AxIoU@5 the first: all resamples agree."""
    return told(systems_of(flat([[0.2, 0.9], [0.3, 0.5], [0.4, 0.1]]), "R@1,IoU=0.5; AxIoU@5", "val"))


def test_a_best_measure_is_named_where_every_resample_agrees(clear):
    """AxIoU@5 chooses run 0, which loses 0 points of R@1 and 10 of AxIoU@5; R@1 chooses run 2: 40 and 60.

    A random choice loses (0 + 10 + 40) / 3 of R@1 and (10 + 0 + 60) / 3 of AxIoU@5, 20 points on average.
    """
    assert clear.said == [
        "Select by AxIoU@5: on average its choices lose 5.00 points (95 % interval 5.00 to 5.00) on the test split.",
        "Choices by R@1,IoU=0.5 lose most, 50.00 points; a random choice loses 20.00 points.",
    ]


def test_no_best_is_claimed_where_resamples_do_not_agree(told):
    values = (np.random.default_rng(0).random((3, 2, 30)) < 0.5).astype(np.float64)
    said = told(systems_of(values, "R@1,IoU=0.5; AxIoU@5", "val")).said
    assert said[0].startswith("No measure selects significantly best. ")
    assert said[0].endswith("is not significantly worse.")


def test_the_tables_hold_choices_and_regret(clear):
    choices, regrets = (
        [[cell.text for cell in row] for _, group in table.groups for row in group] for table in clear.tables
    )
    assert choices == [
        ["AxIoU@5", "run 0", "5.00", "5.00", "10.00", "100 %", "-"],
        ["R@1,IoU=0.5", "run 2", "50.00", "50.00", "60.00", "100 %", "100 %"],
    ]
    assert regrets == [
        ["R@1,IoU=0.5", "40.00", "60.00", "50.00"],
        ["AxIoU@5", "0.00", "10.00", "5.00"],
        ["random choice", "16.67", "23.33", "20.00"],
    ]
    marked = [cell.marked for cell in clear.tables[1].groups[0][1][1]]
    assert marked == [False, True, False, False]  # the best of all runs by R@1


def test_ties_and_choices_that_score_alike_are_noted(told):
    made = told(systems_of(flat([[0.9, 0.9], [0.9, 0.9], [0.4, 0.1]]), "R@1,IoU=0.5; AxIoU@5", "val"))
    assert "Measures by which several variants tie as the best: R@1,IoU=0.5 (2) and AxIoU@5 (2)" in made.notes[-1]
    assert "All choices have the same figure by R@1,IoU=0.5 and AxIoU@5: Z-scores are 0 there." in made.notes


def test_selecting_on_what_judges_is_noted(told, clear):
    same = "Validation and test are the same queries: the choices were made on the test data."
    assert told(TEST).notes[0] == same
    assert same not in clear.notes


def test_the_document_is_json_with_fractions(clear):
    study = clear.document
    assert study["order"] == ["AxIoU@5", "R@1,IoU=0.5"]
    assert (study["validation_data"]["split"], study["test_data"]["split"]) == ("val", "test")
    entry = study["validation"][0]
    assert (entry["measure"], entry["chosen"], entry["tied"]) == ("R@1,IoU=0.5", "run 2", 1)
    assert [one["regret"] for one in entry["test"]] == pytest.approx([0.4, 0.6])
    assert entry["mean_regret"]["behind_first_ci95"] == pytest.approx([0.45, 0.45])


def test_an_undefined_test_measure_is_told_and_null(told):
    test = flat([[0.5, 0.6], [0.4, 0.7], [0.1, 0.1]])
    systems = systems_of(test, "R@1,IoU=0.5; AxIoU@5", "test")
    scores = dict(systems.scores)
    scores["run 2"].weight[1] = 0  # the run that R@1 chooses has no AxIoU
    made = told(systems_of(flat([[0.2, 0.9], [0.3, 0.5], [0.4, 0.1]]), "R@1,IoU=0.5; AxIoU@5", "val"), Systems(scores))
    assert made.said[-1] == "For R@1,IoU=0.5 the loss is undefined: some resamples leave a measure undefined."
    # AxIoU@5 chooses run 0, which loses 0 points of R@1 and 10 of AxIoU@5.
    assert made.said[0].startswith("Select by AxIoU@5: on average its choices lose 5.00 points")
    judged = made.document["validation"][0]["test"][1]
    assert judged["regret"] is None
    assert "why" in judged
    for drawing in made.drawings:
        assert inline_svg(drawing).startswith("<svg")


def test_figures_have_the_papers_panels_and_a_look_for_each_measure(told):
    names = "; ".join([*(f"R@{k},IoU={m}" for k in (1, 5, 10) for m in (0.3, 0.5)), "AxIoU@5", "mIoU", "DCG@5"])
    values = np.random.default_rng(0).random((6, 9, 40))
    validation, test = (systems_of(values, names, split) for split in ("val", "test"))
    z, regret = (inline_svg(drawing) for drawing in told(validation, test).drawings)
    for panel in ("R@1", "R@5", "R@10", "AxIoU", "others"):
        assert f"selected by {panel}<" in z
    assert "random choice" in regret
    assert "Ax@5" in regret


def test_it_is_read_on_the_terminal_in_a_hundred_columns(clear):
    assert max(map(len, clear.lines)) <= 100
