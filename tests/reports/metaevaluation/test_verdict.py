"""The answer over all studies: the rule, the words, the table. All studies here are made up, figure by figure."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from truemoment.studies.meta.agreement import agreement
from truemoment.studies.meta.all_studies import Studies
from truemoment.studies.meta.ambiguity import Ambiguity, NoiseLevel
from truemoment.studies.meta.axioms import AxiomResult, check_axioms
from truemoment.studies.meta.power import power
from truemoment.studies.meta.reports.verdict import (
    FEWEST_CRITERIA,
    FEWEST_MEASURES,
    criteria_of,
    most_real_noise,
    verdict,
)
from truemoment.studies.meta.selection import Selection, select
from truemoment.studies.meta.stability import Stability
from truemoment.studies.meta.ties import Ties

MEASURES = "R@1,IoU=0.5; R@5,IoU=0.5; R@10,IoU=0.5; AxIoU@1; AxIoU@5; AxIoU@10"


@pytest.fixture(scope="module")
def systems(make_systems):
    return make_systems(["weak", "middling", "strong", "best"], MEASURES)


def made_up_stability(systems, mean) -> Stability:
    """Three sizes; `mean` is of the middle one, of 50 queries."""
    table = np.stack([np.zeros(6), np.asarray(mean, dtype=np.float64), np.ones(6)])
    return Stability(
        measures=systems.measures,
        n_systems=4,
        unit="query",
        overlapping=False,
        sizes=np.array([10, 50, 200]),
        queries=np.array([10.0, 50.0, 200.0]),
        trials=10_000,
        mean=table,
        variance=np.full((3, 6), 0.04),
        undefined=np.zeros((3, 6)),
    )


def made_up_ties(systems, all_tied) -> Ties:
    all_tied = np.asarray(all_tied, dtype=np.float64)
    return Ties(
        systems=systems,
        all_tied=all_tied,
        interval=np.stack([all_tied - 0.01, all_tied + 0.01], axis=1),
        at_zero=all_tied,
        at_one=np.zeros(6),
        pairs_tied=all_tied,
        n_queries=np.full(6, 80),
        resamples=10,
    )


def made_up_noise(systems, turned, *, model="published") -> Ambiguity:
    """Three levels of noise: at the middle one the first two of four systems change places in a share `turned` of the
    sets, which is one pair of six."""
    original = np.outer([0.1, 0.3, 0.5, 0.7], np.ones(6))

    def level(name, times):
        figures = np.repeat(original[None], 100, axis=0)
        for m, share in enumerate(turned):
            figures[: round(100 * times * share), :2, m] = original[[1, 0], m]
        return NoiseLevel(model, name, 0.9, 0.95, original, figures, systems.direction)

    return Ambiguity(systems.names, systems.measures, tuple(level(f"level {n}", n) for n in (0.5, 1, 2)))


def with_agreement(systems, mean) -> object:
    """Agreement as found, its tau such that each measure has about the mean that is given."""
    found = agreement(systems, np.random.default_rng(0), resamples=5)
    mean = np.asarray(mean, dtype=np.float64)
    tau = np.minimum(mean[:, None], mean[None, :])
    return dataclasses.replace(found, tau=np.where(np.eye(6, dtype=bool), 1.0, tau))


BEST_LAST = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def made_up_selection(systems, lost) -> Selection:
    """Four variants; by each measure `lost` in every resample."""
    found = select(systems, systems, np.random.default_rng(0), resamples=2)
    return dataclasses.replace(found, lost=np.tile(np.asarray(lost, dtype=np.float64), (2, 1)))


def all_for_the_last(systems, **other) -> Studies:
    """Five columns, in each of which the measures get better from the first to the last, unless there is another."""
    studies = Studies(
        systems,
        agreement=with_agreement(systems, BEST_LAST),
        stability=made_up_stability(systems, BEST_LAST),
        ties=made_up_ties(systems, BEST_LAST[::-1]),
        ambiguity=(made_up_noise(systems, np.array(BEST_LAST[::-1]) / 10),),
        selection=made_up_selection(systems, np.array(BEST_LAST[::-1]) / 10),
    )
    return dataclasses.replace(studies, **other)


def test_a_measure_in_the_best_third_of_everything_is_recommended(systems):
    """Six measures: the best third are two, AxIoU@5 and AxIoU@10 in each of five columns.

    Their mean taus, of the smaller of two each time, are equal: the mean of 0.1 to 0.5.
    """
    found = verdict(all_for_the_last(systems))
    assert len(found.document["columns"]) == FEWEST_CRITERIA
    assert found.document["recommended"] == ["AxIoU@10", "AxIoU@5"]
    assert found.headline == "AxIoU@10 and AxIoU@5 are in the best third by all 5 criteria"
    assert (
        found.answers[0].sentences[0].startswith("AxIoU@10 and AxIoU@5 are in the best third of the measures by every")
    )


def test_one_that_stands_there_alone_has_a_verb_of_its_own(systems):
    """R@1,IoU=0.5 takes a place in the best third of ties that AxIoU@5 had."""
    ties = made_up_ties(systems, [0.1, 0.5, 0.6, 0.7, 0.4, 0.2])
    found = verdict(all_for_the_last(systems, ties=ties))
    assert found.document["recommended"] == ["AxIoU@10"]
    assert found.headline == "AxIoU@10 is in the best third by all 5 criteria"


def test_nothing_is_recommended_where_no_measure_is_best_at_everything(systems):
    """Ties speak against what the four other columns are for."""
    found = verdict(all_for_the_last(systems, ties=made_up_ties(systems, BEST_LAST)))
    assert found.document["recommended"] == []
    assert found.headline == "No measure is in the best third by every criterion; AxIoU@10 comes closest"
    assert found.answers[0].sentences[0] == (
        "AxIoU@10 is in the best third of the measures by 4 of 5 criteria, but not by queries on which systems differ."
    )


def test_measures_without_figures_do_not_make_up_the_number(systems):
    """Of six measures one has no figure anywhere: the best third of five is not spoken of."""
    without = {"mean_interval": np.full((6, 2), np.nan)}
    studies = all_for_the_last(systems)
    tau = studies.agreement.tau.copy()
    tau[0], tau[:, 0] = np.nan, np.nan
    noise = studies.ambiguity[0]
    levels = tuple(
        dataclasses.replace(level, original=spoilt(level.original), figures=spoilt(level.figures))
        for level in noise.levels
    )
    found = verdict(
        dataclasses.replace(
            studies,
            agreement=dataclasses.replace(studies.agreement, tau=tau, **without),
            stability=made_up_stability(systems, [np.nan, *BEST_LAST[1:]]),
            ties=made_up_ties(systems, [np.nan, *BEST_LAST[:0:-1]]),
            ambiguity=(dataclasses.replace(noise, levels=levels),),
            selection=made_up_selection(systems, [np.nan, *BEST_LAST[:0:-1]]),
        )
    )
    assert len(found.document["columns"]) == FEWEST_CRITERIA
    assert len(systems.measures) == FEWEST_MEASURES
    assert found.document["recommended"] == []
    assert found.headline == "Too few criteria or measures to recommend a measure"


def spoilt(figures):
    """The first measure undefined, (..., M)."""
    figures = figures.copy()
    figures[..., 0] = np.nan
    return figures


def test_too_few_studies_recommend_nothing(systems):
    found = verdict(
        Studies(systems, stability=made_up_stability(systems, BEST_LAST), ties=made_up_ties(systems, BEST_LAST[::-1]))
    )
    assert len(found.document["columns"]) < FEWEST_CRITERIA
    assert found.document["recommended"] == []
    assert "select by" not in found.headline
    assert [answer.title for answer in found.answers] == ["Which are stable", "Which differences can be trusted"]


def test_without_studies_there_is_nothing_to_say(systems):
    found = verdict(Studies(systems))
    assert (found.answers, found.glance) == ((), None)
    assert "4 systems on made-up, test" in found.notes[0]


def test_measures_as_good_as_the_last_of_the_third_are_in_it(systems):
    """Place two of six is shared by three measures: none of them is left out by its place in the list."""
    (column,) = criteria_of(Studies(systems, ties=made_up_ties(systems, [0.5, 0.2, 0.2, 0.2, 0.1, 0.9])))
    assert column.in_best_third == [False, True, True, True, True, False]
    assert column.ranks.tolist() == [5, 3, 3, 3, 1, 6]


def test_label_noise_is_told_by_the_pairs_that_change_places(systems):
    """One pair of six, in 36 % of the sets and in none; two of four figures are then off by 0.2, 0.1 on average.

    The root mean square error of each of the two is 0.2 sqrt(0.36) = 0.12, and the mean over four systems 0.06.
    """
    noise = made_up_noise(systems, [0.36, 0.36, 0.36, 0.36, 0.36, 0])
    (column,) = criteria_of(Studies(systems, ambiguity=(noise,)))
    np.testing.assert_allclose(column.values, [0.06] * 5 + [0])
    assert [cell.below for cell in column.cells] == ["RMSE 6.0"] * 5 + ["RMSE 0.0"]
    assert [cell.text for cell in column.cells] == ["6.0"] * 5 + ["0.0"]


def test_noise_like_real_annotators_is_looked_at_first(systems):
    models = ("published", "annotators", "shift")
    noise = tuple(made_up_noise(systems, np.full(6, 0.01), model=model) for model in models)
    (stable, *_) = verdict(Studies(systems, ambiguity=noise)).answers
    assert stable.title == "Which are stable"
    assert "(annotators, level 2:" in stable.sentences[0]  # the last level, one annotator's own noise


def test_models_are_told_apart_by_their_whole_names(systems):
    """A model whose name holds another's is not taken for it."""
    noise = tuple(made_up_noise(systems, np.full(6, 0.01), model=model) for model in ("my annotators", "shift"))
    _, level = most_real_noise(noise)
    assert (level.model, level.level) == ("shift", "level 1")


def test_self_agreement_is_that_of_the_middle_size(systems):
    found = verdict(Studies(systems, stability=made_up_stability(systems, BEST_LAST)))
    assert found.answers[0].sentences == (
        "On two subsets of 50 queries, the self-agreement (mean tau) is 0.10 (R@1,IoU=0.5) to 0.60 (AxIoU@10).",
    )
    assert "self-agreement on 50 queries" in found.glance.headings


@pytest.mark.slow
def test_axioms_are_told_and_are_no_column(systems):
    studies = Studies(systems, axioms=check_axioms(MEASURES, np.random.default_rng(0), pairs=100))
    found = verdict(studies)
    assert found.document["columns"] == []
    assert [answer.title for answer in found.answers] == ["What they reward"]
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in found.glance.groups[0][1]}
    # AxIoU, section 5: R@K holds INV and breaks MON, AxIoU@K holds both; INV asks nothing of one answer.
    assert rows["R@5,IoU=0.5"] == ["holds", "broken"]
    assert rows["AxIoU@5"] == ["holds", "holds"]
    assert rows["AxIoU@1"] == ["-", "holds"]
    assert found.answers[0].sentences[:2] == (
        "AxIoU@5 and AxIoU@10: redundant predictions change nothing (INV); every better prediction raises the figure "
        "(MON).",
        "AxIoU@1: one prediction only, so none is redundant (INV); every better prediction raises the figure (MON).",
    )


def test_axioms_of_one_reference_and_of_two_count_together(systems):
    """A measure that breaks an axiom with two references only has broken it."""
    once = check_axioms("AxIoU@5", np.random.default_rng(0), pairs=20)
    broken = tuple(dataclasses.replace(result, broken=np.ones_like(result.broken)) for result in once)
    assert all(isinstance(result, AxiomResult) for result in once)
    found = verdict(Studies(systems, axioms=(*once, *broken)))
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in found.glance.groups[0][1]}
    assert rows["AxIoU@5"] == ["broken", "broken"]


def test_the_best_of_each_column_is_marked_and_the_best_standing_first(systems):
    studies = Studies(
        systems,
        agreement=with_agreement(systems, BEST_LAST),
        stability=made_up_stability(systems, BEST_LAST),
        ties=made_up_ties(systems, [0.2, 0.1, 0.1, 0.3, 0.3, 0.3]),
    )
    glance = verdict(studies).glance
    rows = glance.groups[0][1]
    assert rows[0][0].text == "AxIoU@10"
    marked = {heading: {row[0].text for row in rows if row[at].marked} for at, heading in enumerate(glance.headings)}
    assert marked["self-agreement on 50 queries"] == {"AxIoU@10"}
    assert marked["all-tied queries, %"] == {"R@5,IoU=0.5", "R@10,IoU=0.5"}
    assert {row[0].text: row[-1].text for row in rows}["AxIoU@10"] == "2 of 3"


def test_studies_of_other_measures_leave_gaps(systems, make_systems):
    other = make_systems(["weak", "middling", "strong", "best"], "AxIoU@5; mIoU")
    selection = select(other, other, np.random.default_rng(0), resamples=5)
    (column,) = criteria_of(Studies(systems, selection=selection))
    assert np.isfinite(column.values).tolist() == [False, False, False, False, True, False]
    assert column.cells[0].text == "-"
    assert column.in_best_third == [False, False, False, False, True, False]
    found = verdict(Studies(systems, selection=selection))
    assert found.document["recommended"] == []


def test_it_can_be_said_of_two_systems_that_score_alike(make_systems):
    """Nothing is defined: no tau, no pair apart, no spread. Nothing is claimed either."""
    systems = make_systems(["a", "b"], MEASURES)
    for scores in systems.scores.values():
        scores.numerator[:] = 1.0
    rng = np.random.default_rng(0)
    figures = np.repeat(systems.figures[None], 3, axis=0)
    level = NoiseLevel("published", "none", 1.0, 1.0, systems.figures, figures, systems.direction)
    studies = Studies(
        systems,
        agreement=agreement(systems, rng, resamples=5),
        ties=made_up_ties(systems, np.ones(6)),
        ambiguity=(Ambiguity(systems.names, systems.measures, (level,)),),
        power=power(systems, rng, repetitions=2),
        selection=select(systems, systems, rng, resamples=5),
    )
    found = verdict(studies)
    said = " ".join(sentence for answer in found.answers for sentence in answer.sentences)
    assert "measures separate 0 (every measure) of 1 pair of systems" in said
    assert "nan" not in said.lower().split()
    assert "conflict" not in said


def test_hostile_names_are_made_harmless_where_they_are_named(make_systems):
    names = ["<b>a</b>\u202e\n", "z" * 900, "c"]
    systems = make_systems(names, MEASURES)
    found = power(systems, np.random.default_rng(0), repetitions=2)
    difference = np.array([[1.0, 1, 1, -1, -1, -1]] * 3)
    whole = dataclasses.replace(found.whole, difference=difference)
    studies = Studies(systems, power=dataclasses.replace(found, whole=whole, p_holm=np.full((3, 6), 0.001)))
    sentence = verdict(studies).answers[0].sentences[2]
    assert sentence.startswith("Different measures separate 3 pairs in opposite directions, e.g. <b>a</b>")
    assert not {"\u202e", "\n"} & set(sentence)
    assert len(sentence) < 300
