"""The AxIoU paper's claims: each is decided by the figures it is about, and by nothing else.

Studies are made up here, a table a study; what must come out follows from the numbers put in.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from truemoment.evaluation.measures import parse_measures
from truemoment.studies.meta.claims import CLAIMS, claims
from truemoment.studies.meta.systems import RECALLS

NAMES = [*RECALLS, "AxIoU@1", "AxIoU@5", "AxIoU@10"]
MEASURES = parse_measures("; ".join(NAMES))
AT = {name: at for at, name in enumerate(NAMES)}
SECTIONS = [section for section, *_ in CLAIMS]


def made_up(**parts):
    empty = {"agreement": None, "stability": None, "ambiguity": (), "ties": None, "selection": None}
    return SimpleNamespace(**(empty | parts))


def agreement(tau):
    return SimpleNamespace(systems=SimpleNamespace(measures=MEASURES), tau=tau)


def tau_of(value, **pairs):
    tau = np.full((12, 12), value)
    for (one, other), of in pairs.items():
        tau[AT[one], AT[other]] = tau[AT[other], AT[one]] = of
    np.fill_diagonal(tau, 1.0)
    return tau


def per_measure(default, **changed):
    row = np.full(12, default)
    for name, value in changed.items():
        row[AT[name]] = value
    return row


def stability(row):
    return SimpleNamespace(measures=MEASURES, mean=np.stack([row - 0.1, row + 0.1]))


def outcome(number, **parts):
    return claims(made_up(**parts))[number]


def test_what_was_not_studied_is_not_looked_at():
    found = claims(made_up())
    assert [claim.outcome for claim in found] == ["not looked at"] * len(CLAIMS)
    assert found[0].evidence == "agreement was not studied"
    assert [claim.section for claim in found] == SECTIONS


def test_a_measure_that_is_missing_is_named():
    few = SimpleNamespace(systems=SimpleNamespace(measures=parse_measures("mIoU; R@1,IoU=0.5")), tau=np.eye(2))
    assert claims(made_up(agreement=few))[0].evidence == "AxIoU@10 was not measured"


def test_agreement_with_all_recalls_counts_cases():
    assert outcome(0, agreement=agreement(tau_of(0.5))).outcome == "holds"
    tau = tau_of(0.5, **{})
    tau[AT["AxIoU@10"], AT["R@10,IoU=0.3"]] = 0.35
    found = outcome(0, agreement=agreement(tau))
    assert found.outcome == "holds in part"
    assert found.evidence == "8 of 9 cases; tau 0.35 to 0.50 (paper: 0.36 to 0.87)"
    assert outcome(0, agreement=agreement(tau_of(0.1))).outcome == "does not hold"


def test_axiou_must_agree_with_itself_better_than_recalls_do():
    tau = tau_of(0.4)
    ax = [AT[f"AxIoU@{k}"] for k in (1, 5, 10)]
    tau[np.ix_(ax, ax)] = 0.6
    assert outcome(1, agreement=agreement(tau)).outcome == "holds"
    assert (
        outcome(1, agreement=agreement(tau_of(0.4))).outcome == "holds in part"
    )  # 0.4, but no better than the recalls


def test_undefined_tau_is_left_out():
    tau = tau_of(0.5)
    tau[AT["AxIoU@10"], AT["R@10,IoU=0.3"]] = np.nan
    assert outcome(0, agreement=agreement(tau)).evidence.startswith("8 of 8 cases")


@pytest.mark.parametrize(("value", "said"), [(0.2, "holds"), (0.3, "does not hold")])
def test_ten_answers_rank_otherwise_than_one(value, said):
    assert outcome(2, agreement=agreement(tau_of(value))).outcome == said


def test_the_strictest_recall_is_alone_only_if_it_agrees_with_none():
    assert outcome(3, agreement=agreement(tau_of(0.38))).outcome == "holds"
    assert outcome(3, agreement=agreement(tau_of(0.39))).outcome == "does not hold"


def test_stability_of_strict_recalls():
    strict = {name: 0.9 for name in NAMES if name.endswith("IoU=0.7")}
    found = outcome(4, stability=stability(per_measure(0.5, **strict)))
    assert found.outcome == "holds"
    assert "K = 1: 0.50, 0.50, 0.90" in found.evidence
    assert outcome(4, stability=stability(per_measure(0.5))).outcome == "does not hold"


def test_stability_of_axiou_is_held_against_the_same_k():
    better = {f"AxIoU@{k}": 0.8 for k in (1, 5, 10)}
    assert outcome(5, stability=stability(per_measure(0.5, **better))).outcome == "holds"
    better["AxIoU@5"] = 0.4
    found = outcome(5, stability=stability(per_measure(0.5, **better)))
    assert found.outcome == "holds in part"
    assert found.evidence.startswith("6 of 9 cases")


def test_error_lies_between_loose_and_strict_recalls_at_the_highest_level():
    between = {name: 0.01 if "0.3" in name else 0.09 if "0.7" in name else 0.05 for name in NAMES}
    rmse = np.stack([per_measure(0.5, **between)] * 2)
    turned = np.stack([per_measure(0.5)] * 2)
    study = SimpleNamespace(
        measures=MEASURES, model="shift", levels=(SimpleNamespace(rmse=turned), SimpleNamespace(rmse=rmse))
    )
    found = outcome(6, ambiguity=(study,))
    assert found.outcome == "holds"
    assert found.evidence.endswith("shift, K = 10: 1.0, 5.0, 9.0 points")
    study.levels = study.levels[::-1]
    assert outcome(6, ambiguity=(study,)).outcome == "does not hold"


def test_ties_of_axiou_and_of_recalls():
    systems = SimpleNamespace(measures=MEASURES)
    few = per_measure(0.3, **{"AxIoU@1": 0.1, "AxIoU@5": 0.1, "AxIoU@10": 0.1, "R@10,IoU=0.3": 0.8, "R@1,IoU=0.7": 0.7})
    found = claims(made_up(ties=SimpleNamespace(systems=systems, all_tied=few)))
    assert found[7].outcome == "holds"
    assert found[7].evidence.endswith("K = 10: 10.0 % of the queries against 30.0 to 80.0 %")
    assert found[8].outcome == "holds"
    assert found[8].evidence.endswith("most tied: R@10,IoU=0.3 80.0 %, R@1,IoU=0.7 70.0 %, R@1,IoU=0.3 30.0 %")


def test_selection_asks_for_every_test_measure_and_for_no_other_choice():
    tests = parse_measures("R@1,IoU=0.5; R@5,IoU=0.7; R@10,IoU=0.3; mIoU")
    z = np.full((12, 4), -0.5)
    z[AT["AxIoU@10"]] = [0.1, 0.2, -9.0, -9.0]  # the saturated recall and other measures do not count
    selection = SimpleNamespace(validation=MEASURES, test=tests, z=z)
    assert outcome(9, selection=selection).outcome == "holds"
    z[AT["R@5,IoU=0.5"]] = 1.0
    found = outcome(9, selection=selection)
    assert found.outcome == "holds in part"
    assert "R@5,IoU=0.5, AxIoU@10" in found.evidence
    z[AT["AxIoU@10"], 0] = -0.1
    assert outcome(9, selection=selection).outcome == "does not hold"


def test_what_is_undefined_decides_nothing():
    nowhere = {"R@5,IoU=0.3": np.nan}
    found = claims(
        made_up(
            agreement=agreement(np.full((12, 12), np.nan)),
            stability=stability(per_measure(0.5, **nowhere)),
            ties=SimpleNamespace(systems=SimpleNamespace(measures=MEASURES), all_tied=per_measure(0.5, **nowhere)),
        )
    )
    assert [claim.outcome for claim in found] == ["not looked at"] * len(CLAIMS)
    assert found[0].evidence == "tau is undefined: a measure ties all systems"
    assert found[4].evidence == "R@5,IoU=0.3 is undefined here"


def test_a_test_measure_by_which_all_choices_tie_judges_none():
    z = np.full((12, 2), -0.5)
    z[:, 1] = 0
    z[AT["AxIoU@10"], 0] = 0.5
    selection = SimpleNamespace(validation=MEASURES, test=parse_measures("R@1,IoU=0.5; R@5,IoU=0.7"), z=z)
    assert outcome(9, selection=selection).outcome == "holds"
