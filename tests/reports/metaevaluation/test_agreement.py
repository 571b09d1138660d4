"""The report on agreement: its sentences, tables, figures and document."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from truemoment.report.drawing import save_drawings
from truemoment.studies.meta.agreement import Agreement, agreement
from truemoment.studies.meta.reports import agreement as reports
from truemoment.studies.meta.reports.agreement import N_SHOWN, conflicts_of, order_of, sentences


@pytest.fixture(scope="module")
def found(make_systems) -> Agreement:
    return agreement(make_systems([f"system {at}" for at in range(7)], seed=3), np.random.default_rng(0), resamples=50)


def made_up_tau(found: Agreement, tau, low, high) -> Agreement:
    """Put a made-up tau between all measures, with a made-up interval, in place of what was found."""
    n = len(found.systems.measures)
    whole = np.where(np.eye(n, dtype=bool), 1.0, tau)
    interval = np.stack([np.full((n, n), low), np.full((n, n), high)], axis=-1)
    return dataclasses.replace(found, tau=whole, interval=interval)


def test_it_says_which_measure_agrees_best(found):
    """Made-up taus, drawn, so that no two measures agree equally well."""
    tau = np.random.default_rng(0).uniform(-1, 1, (12, 12))
    made_up = dataclasses.replace(found, tau=np.where(np.eye(12, dtype=bool), 1.0, (tau + tau.T) / 2))
    best = int(np.argmax(made_up.mean))
    first = sentences(made_up)[0]
    name = str(found.systems.measures[best])
    assert first.startswith(f"{name} agrees best with the other measures: mean tau {made_up.mean[best]:.2f} (")
    assert first.endswith(f"{made_up.mean_interval[best, 1]:.2f} in 95 % of the resamples).")


def test_measures_that_agree_equally_well_are_all_named(found):
    same = dataclasses.replace(found, tau=np.ones_like(found.tau))
    assert sentences(same)[0] == (
        "R@1,IoU=0.3, R@1,IoU=0.5, R@1,IoU=0.7 and 9 more agree best with the other measures: mean tau 1.00."
    )


@pytest.mark.parametrize(
    ("tau", "high", "n_conflicts"),
    [(0.3, 0.49, 66), (0.3, 0.51, 0), (0.6, 0.49, 0), (0.3, math.nan, 0)],
)
def test_a_conflict_needs_tau_and_its_whole_interval_below_a_half(found, tau, high, n_conflicts):
    """Resampling pulls tau down, so the interval alone is not enough; 12 measures are 66 pairs."""
    made_up = made_up_tau(found, tau, 0.1, high)
    assert len(conflicts_of(made_up)) == n_conflicts
    assert sentences(made_up)[1].startswith(f"{n_conflicts} of 66 pairs of measures conflict")


def test_the_conflict_that_is_named_is_one(found):
    """The lowest tau of all has an interval beyond 0.5: another pair is named."""
    made_up = made_up_tau(found, 0.3, 0.1, 0.4)
    made_up.tau[0, 1] = made_up.tau[1, 0] = -0.5
    made_up.interval[0, 1, 1] = made_up.interval[1, 0, 1] = 0.9
    sentence = sentences(made_up)[1]
    assert sentence.startswith("65 of 66 pairs of measures conflict")
    assert sentence.endswith("R@1,IoU=0.3 and R@1,IoU=0.7 (tau 0.30, 95 % interval 0.10 to 0.40).")


def test_two_measures_have_one_sentence(make_systems):
    systems = make_systems(["a", "b", "c"], "mIoU; R@1,IoU=0.5")
    made_up = made_up_tau(agreement(systems, np.random.default_rng(0), resamples=5), 0.2, 0.1, 0.4)
    assert sentences(made_up) == [
        "The rankings by mIoU and by R@1,IoU=0.5 conflict: tau 0.20, 95 % interval 0.10 to 0.40."
    ]


def test_best_systems_are_told_with_those_that_share_the_place(shown, make_systems):
    systems = make_systems(["a", "b"], "mIoU; R@1,IoU=0.5; R@5,IoU=0.5; AxIoU@5")
    a, b = systems.scores.values()
    b.numerator[:2], a.numerator[:2] = 1.0, 0.0
    b.numerator[2] = a.numerator[2]
    a.numerator[3], b.numerator[3] = 1.0, 0.0
    assert shown(reports, agreement(systems, np.random.default_rng(0), resamples=5)).said[-1] == (
        "Best system: b (by mIoU and R@1,IoU=0.5), several tie (by R@5,IoU=0.5) and a (by AxIoU@5)."
    )


def test_an_undefined_measure_is_not_said_to_tie(shown, make_systems):
    systems = make_systems(["a", "b", "c"], "mIoU; R@1,IoU=0.5; R@5,IoU=0.5")
    for scores in systems.scores.values():
        scores.weight[0], scores.numerator[0] = 0.0, 0.0
    made = shown(reports, agreement(systems, np.random.default_rng(0), resamples=5))
    assert "No tau with mIoU: undefined for all systems." in made.notes
    assert made.document["pairs"][0]["why"] == "a measure is undefined for all systems"


def test_a_system_that_every_measure_calls_best_is_named(shown, make_systems):
    systems = make_systems(["worse", "better"], "mIoU; R@1,IoU=0.5")
    systems.scores["better"].numerator[:] = 1.0
    said = shown(reports, agreement(systems, np.random.default_rng(0), resamples=5)).said
    assert said[-1] == "Best system by every measure: better."


def test_a_measure_that_ties_all_systems_has_no_tau(shown, make_systems):
    systems = make_systems(["a", "b", "c"], "mIoU; R@10,IoU=0.3")
    for scores in systems.scores.values():
        scores.numerator[1] = 1.0
    made = shown(reports, agreement(systems, np.random.default_rng(0), resamples=5))
    assert "No tau with R@10,IoU=0.3: all systems tie." in made.notes
    entry = made.document["pairs"][0]
    assert entry == {"measures": ["mIoU", "R@10,IoU=0.3"], "tau": None, "why": "a measure ties all systems"}


def test_systems_stand_in_the_order_of_the_paper(found):
    """AxIoU, Fig. 5: sorted by R@5,IoU=0.5."""
    at = [str(measure) for measure in found.systems.measures].index("R@5,IoU=0.5")
    figures = found.systems.figures[order_of(found.systems), at]
    assert (np.diff(figures) <= 0).all()


def test_of_very_many_systems_some_are_shown_and_the_rest_written_down(shown, make_systems):
    systems = make_systems([f"variant {at}" for at in range(100)], "mIoU; AxIoU@5", n_queries=40)
    made = shown(reports, agreement(systems, np.random.default_rng(0), resamples=5))
    assert len(made.tables[0].groups[0][1]) == N_SHOWN
    assert "40 of 100 systems" in made.tables[0].caption
    assert len(made.document["systems"]) == 100


def test_tables_hold_what_was_found(shown, found):
    made = shown(reports, found)
    systems, agreeing, taus = made.tables[:3]
    percent = found.systems.first.protocol.percent
    row = {row[0].text: row for row in systems.groups[0][1]}["system 3"]
    assert [cell.text for cell in row[1:]] == [percent(value) for value in found.systems.figures[3]]
    assert row[1].below == " to ".join(percent(end) for end in found.figure_interval[3, 0])
    means = [float(row[1].text) for row in agreeing.groups[0][1]]
    assert means == sorted(means, reverse=True)
    assert {row[0].text: row[1].text for row in agreeing.groups[0][1]}["AxIoU@10"] == f"{found.mean[11]:.2f}"
    assert len(taus.groups[0][1]) == 12
    assert {len(row) for row in taus.groups[0][1]} == {13}


def test_the_best_of_each_measure_is_marked(shown, found):
    rows = shown(reports, found).tables[0].groups[0][1]
    for column in range(12):
        marked = {row[0].text for row in rows if row[1 + column].marked}
        best = found.systems.figures[:, column] == found.systems.figures[:, column].max()
        assert marked == {found.systems.names[at] for at in np.flatnonzero(best)}


def test_where_less_is_better_the_least_is_marked_and_it_is_told(shown, make_systems):
    systems = make_systems(["a", "b"], "mIoU; FalseAbstention")
    systems.scores["a"].numerator[1], systems.scores["b"].numerator[1] = 0.0, 1.0
    made = shown(reports, agreement(systems, np.random.default_rng(0), resamples=5))
    assert {row[0].text: row[2].marked for row in made.tables[0].groups[0][1]} == {"a": True, "b": False}
    assert [note for note in made.notes if note == "For FalseAbstention less is better."]


def test_the_document_has_every_pair(shown, found):
    document = shown(reports, found).document
    assert len(document["pairs"]) == 66
    assert len(document["systems"]) == 7
    first = document["pairs"][0]
    assert first["tau"] == found.tau[0, 1]
    assert first["ci95"] == found.interval[0, 1].tolist()


@pytest.mark.parametrize("measures", ["mIoU", "mIoU; R@1,IoU=0.5", "DCG@3; mIoU; R@2,IoU=0.5,length=long"])
def test_few_and_unusual_measures_can_be_drawn(shown, make_systems, measures, tmp_path):
    made = shown(reports, agreement(make_systems(["a", "b", "c"], measures), np.random.default_rng(0), resamples=5))
    assert made.said
    paths = save_drawings(made.drawings, tmp_path, ("svg",))
    assert len(paths) == len(made.drawings) > 0


def test_figures_are_named_after_the_study(shown, found):
    assert [one.name for one in shown(reports, found).drawings] == [
        "agreement-systems",
        "agreement-tau",
        "agreement-mean",
    ]
