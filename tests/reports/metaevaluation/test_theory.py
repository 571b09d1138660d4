"""The chapter of theory: it says what was computed, and draws it."""

import json

import numpy as np
import pytest

from truemoment.metaevaluation.theory import theory
from truemoment.reports.drawing import save_drawings
from truemoment.reports.metaevaluation import delivery
from truemoment.reports.metaevaluation.theory import chapter


def made(**words):
    return theory(np.random.default_rng(0), **({"draws": 500} | words))


@pytest.fixture(scope="module")
def found():
    return chapter(made())


def test_the_finding_comes_first(found):
    """At r = threshold = 0.5 the error of R@1 is one half, that of AxIoU@1 the noise squared: 0.5 / 0.01 = 50."""
    assert found.name == "theory"
    assert "0.500 by R@1,IoU=0.5 and of 0.0100 by AxIoU@1, 50 times less" in found.said[0]


def test_where_recall_errs_less_is_said(found):
    """P(flip) = 0.01 = AxIoU's error where the threshold is 0.1 * 2.326 off (the 99 % quantile of the normal)."""
    assert any("thresholds more than 0.23 off the true IoU" in sentence for sentence in found.said)


def test_the_bias_of_cut_noise_is_said(found):
    """0.1 / sqrt(2 pi) = 0.0399 at an IoU of 0."""
    assert any("+0.040 off at a true IoU of 0, 0.000 at 0.5 and -0.040 at 1" in sentence for sentence in found.said)


def test_large_noise_turns_the_sentence_round():
    """With noise of 1 the error of AxIoU@1 is 1, twice that of R@1, and no threshold makes R@1 the worse."""
    said = chapter(made(gammas=[1.0])).said
    assert "0.500 by R@1,IoU=0.5 and of 1.0000 by AxIoU@1, which is more" in said[0]
    assert not any("smaller error at thresholds" in sentence for sentence in said)


def test_a_list_of_one_answer_says_nothing_of_lists():
    assert not any("list" in sentence for sentence in chapter(made(ious=1)).said)


def test_the_table_has_a_group_a_level_of_noise(found):
    errors = found.tables[0]
    assert [title for title, _ in errors.groups] == ["noise 0.05", "noise 0.1", "noise 0.2"]
    rows = {row[0].text: row for row in errors.groups[1][1]}
    assert [cell.text for cell in rows["AxIoU@1"][1:4]] == ["0.000", "0.0100", "0.0100"]  # 0, gamma^2, gamma^2
    assert [cell.text for cell in rows["R@1,IoU=0.5"][1:4]] == ["-0.500", "0.2500", "0.5000"]


def test_the_document_is_json(found):
    document = delivery.document([found], scores=None, sources=[], seed=0)
    text = json.dumps(document, allow_nan=False)
    study = json.loads(text)["studies"]["theory"]
    assert study["recall@1"]["closed_form"]["mse"][1][10] == 0.5  # noise 0.1, threshold 0.5
    assert study["axiou@1"]["closed_form"]["variance"] == pytest.approx([0.0025, 0.01, 0.04])
    assert np.shape(study["lists"]["recall@k"]["simulated"]["bias"]) == (3, 3, 10, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        {},
        {"iou": 0.0},
        {"iou": 1.0, "ious": 1},
        {"gammas": [0.01, 0.05, 0.1, 0.2, 0.3, 0.5], "ious": 40},
        {"thresholds": [0.42], "gammas": [2.0]},
    ],
)
def test_every_figure_is_drawn_and_every_table_fits(words, tmp_path):
    one = chapter(made(**words))
    paths = save_drawings(one.drawings, tmp_path, ("svg",))
    assert [path.name for path in paths] == ["theory-errors.svg", "theory-cut.svg", "theory-lists.svg"]
    assert all(path.stat().st_size > 5_000 for path in paths)
    assert all(len(line) <= 100 for line in delivery.lines([one]))
