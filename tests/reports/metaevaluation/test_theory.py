"""The report on theory: its sentences say what was computed, and it is drawn."""

import numpy as np
import pytest

from truemoment.report.drawing import save_drawings
from truemoment.studies.meta.reports import theory as reports
from truemoment.studies.meta.theory import theory


def made(**words):
    return theory(np.random.default_rng(0), **({"draws": 500} | words))


@pytest.fixture(scope="module")
def found(shown):
    return shown(reports, made())


def test_the_finding_comes_first(found):
    """At r = threshold = 0.5 the error of R@1 is one half, that of AxIoU@1 the noise squared."""
    assert found.said[0].endswith("is 0.500 for R@1,IoU=0.5 and 0.0100 for AxIoU@1.")


def test_the_bias_of_cut_noise_is_said(found):
    """0.1 / sqrt(2 pi) = 0.0399 at an IoU of 0."""
    assert "+0.040 at a true IoU of 0, 0.000 at 0.5 and -0.040 at 1" in found.said[1]


def test_a_list_of_one_prediction_has_no_sentence(shown, found):
    assert len(found.said) == 3
    assert len(shown(reports, made(ious=1)).said) == 2


def test_the_table_has_a_group_a_level_of_noise(found):
    errors = found.tables[0]
    assert [title for title, _ in errors.groups] == ["noise 0.05", "noise 0.1", "noise 0.2"]
    rows = {row[0].text: row for row in errors.groups[1][1]}
    assert [cell.text for cell in rows["AxIoU@1"][1:4]] == ["0.000", "0.0100", "0.0100"]  # 0, gamma^2, gamma^2
    assert [cell.text for cell in rows["R@1,IoU=0.5"][1:4]] == ["-0.500", "0.2500", "0.5000"]


def test_the_document_is_json(found):
    study = found.document
    assert study["recall@1"]["closed_form"]["mse"][1][10] == 0.5  # noise 0.1, threshold 0.5
    assert study["axiou@1"]["closed_form"]["variance"] == pytest.approx([0.0025, 0.01, 0.04])
    assert np.shape(study["lists"]["recall@k"]["simulated"]["bias"]) == (3, 3, 10, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        pytest.param({}, marks=pytest.mark.thorough),
        pytest.param({"iou": 0.0}, marks=pytest.mark.thorough),
        {"iou": 1.0, "ious": 1},
        {"gammas": [0.01, 0.05, 0.1, 0.2, 0.3, 0.5], "ious": 40},
        pytest.param({"thresholds": [0.42], "gammas": [2.0]}, marks=pytest.mark.thorough),
    ],
)
def test_every_figure_is_drawn_and_every_table_fits(shown, words, tmp_path):
    one = shown(reports, made(**words))
    paths = save_drawings(one.drawings, tmp_path, ("svg",))
    assert [path.name for path in paths] == ["theory-errors.svg", "theory-cut.svg", "theory-lists.svg"]
    assert all(path.stat().st_size > 5_000 for path in paths)
    assert all(len(line) <= 100 for line in one.lines)
