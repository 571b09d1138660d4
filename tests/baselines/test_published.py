"""What the papers print of blind baselines, on the real files."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment.baselines import ActionAware, BestConstant, BiasBased, MeanMap, PredictAll, PriorOnly, Uniform
from truemoment.baselines.proposals import SparseMap
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def charades_sta(data_dir):
    return tuple(load_annotations("charades-sta", split, data_dir=data_dir) for split in ("train", "test"))


def percent(annotations, predictions, measure="R@1,IoU=0.5", protocol="default"):
    return 100 * evaluate(annotations, predictions, measure, protocol).value(measure)


def test_the_first_30_percent(charades_sta):
    # Issue 3, "Figures it must meet": 30.65 / 15.16 at R@1,IoU=0.5/0.7 on Charades-STA test, fitted on train.
    train, test = charades_sta
    fitted = BestConstant("R@1,IoU=0.5").fit(train)
    assert fitted.ranked[0, :2].tolist() == pytest.approx([0.0, 0.3], abs=1e-12)
    assert fitted.name == "best constant (0-30 % of the video)"
    answers = fitted.ground(test.queries)
    assert round(percent(test, answers), 2) == 30.65
    assert round(percent(test, answers, "R@1,IoU=0.7"), 2) == 15.16


def test_uniform(charades_sta):
    # Hidden Challenges, section 3.2: 10.77, mean of 100 runs; issue 3 asks for it to 0.3. The mean of 40 runs of 3,720
    # queries has a standard error of 0.5 / sqrt(40) = 0.08 points.
    _, test = charades_sta
    generators = np.random.default_rng(0).spawn(40)
    runs = [percent(test, Uniform(rng).ground(test.queries)) for rng in generators]
    assert np.mean(runs) == pytest.approx(10.77, abs=0.3)
    assert 0.3 < np.std(runs, ddof=1) < 0.7  # binomial: sqrt(0.1077 * 0.8923 / 3720) = 0.51 points


def test_prior_only(charades_sta):
    # Hidden Challenges, the authors' notebook: 23.58; issue 3 asks for it to 1.5. R@5 there is 0.67, to two digits.
    train, test = charades_sta
    answers = PriorOnly(np.random.default_rng(0)).fit(train).ground(test.queries, 10)
    assert percent(test, answers, protocol="hidden-challenges") == pytest.approx(23.58, abs=1.5)
    assert percent(test, answers, "R@5,IoU=0.5", "hidden-challenges") == pytest.approx(67, abs=1.5)


def test_action_aware(charades_sta):
    # The same: 28.06, to 2.5 since the verbs are found otherwise; R@5 0.73.
    train, test = charades_sta
    answers = ActionAware(np.random.default_rng(0)).fit(train).ground(test.queries, 10)
    assert percent(test, answers, protocol="hidden-challenges") == pytest.approx(28.06, abs=2.5)
    assert percent(test, answers, "R@5,IoU=0.5", "hidden-challenges") == pytest.approx(73, abs=2.5)


@pytest.mark.parametrize(
    ("dataset", "mode", "rows"),
    [
        (
            "charades-cd",
            (0.0, 0.19),
            {"test-iid": (31.42, 26.25, 16.87, 9.34, 2.70), "test-ood": (14.75, 9.30, 5.04, 2.21, 0.55)},
        ),
        pytest.param(
            "activitynet-cd",
            (0.0, 1.0),
            {"test-iid": (36.15, 29.31, 19.81, 12.27, 7.68), "test-ood": (21.89, 9.21, 0.26, 0.11, 0.03)},
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_bias_based(data_dir, dataset, mode, rows):
    # Closer Look, Table 2, row Bias-based: dR@1 at IoU 0.1, 0.3, 0.5, 0.7, 0.9. A search over constants comes close to
    # it with about (0.00, 0.18) and (0.00, 1.00) (papers.md); issue 3 asks for a mean absolute difference of 1.5 points
    # or less on Charades-CD with the principled default.
    fitted = BiasBased().fit(load_annotations(dataset, "train", data_dir=data_dir))
    assert tuple(fitted.ranked[0, :2].tolist()) == mode
    measures = [f"dR@1,IoU={m}" for m in (0.1, 0.3, 0.5, 0.7, 0.9)]
    differences = []
    for split, published in rows.items():
        test = load_annotations(dataset, split, data_dir=data_dir)
        scores = evaluate(test, fitted.ground(test.queries), measures, "closer-look")
        differences += [100 * scores.value(m) - p for m, p in zip(measures, published, strict=True)]
    assert np.abs(differences).mean() < 1.5


def test_predict_all(data_dir):
    # Closer Look, Table 2, row PredictAll on Charades-CD; the authors truncate to two decimals, as the protocol prints.
    test = load_annotations("charades-cd", "test-ood", data_dir=data_dir)
    measures = [f"dR@1,IoU={m}" for m in (0.1, 0.3, 0.5, 0.7, 0.9)]
    scores = evaluate(test, PredictAll().ground(test.queries), measures, "closer-look")
    printed = [scores.protocol.percent(scores.value(measure)) for measure in measures]
    assert printed == ["37.43", "27.13", "0.06", "0.00", "0.00"]


def test_the_mean_map(charades_sta):
    # specs/blind_tan.md, section 6: the top cell of the mean training map, 0 to 5 / 16 of the video.
    train, test = charades_sta
    fitted = MeanMap(SparseMap(16)).fit(train)
    assert fitted.ranked[0, :2].tolist() == [0.0, 0.3125]
    answers = fitted.ground(test.queries)
    measures = ("R@1,IoU=0.3", "R@1,IoU=0.5", "R@1,IoU=0.7", "dR@1,IoU=0.5", "dR@1,IoU=0.7")
    assert [round(percent(test, answers, measure), 2) for measure in measures] == [41.26, 30.70, 16.18, 27.72, 15.21]


@pytest.mark.thorough
def test_the_mean_map_of_activitynet(data_dir):
    # The same: trained on train, asked of val_2, 64 clips; the cell from an eighth of the video to its end.
    train, test = (load_annotations("activitynet-captions", split, data_dir=data_dir) for split in ("train", "val_2"))
    fitted = MeanMap(SparseMap(64)).fit(train)
    assert fitted.ranked[0, :2].tolist() == [0.125, 1.0]
    answers = fitted.ground(test.queries)
    measures = ("R@1,IoU=0.3", "R@1,IoU=0.5", "R@1,IoU=0.7", "dR@1,IoU=0.5", "dR@1,IoU=0.7")
    assert [round(percent(test, answers, measure), 2) for measure in measures] == [49.10, 27.15, 13.78, 20.57, 11.94]
