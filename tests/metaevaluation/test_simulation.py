"""Simulated systems: their dials do what they say, and whatever is drawn hangs on the seed and the system alone."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.baselines import PriorOnly
from truemoment.evaluation.evaluate import evaluate
from truemoment.studies.meta.population import default_population
from truemoment.studies.meta.simulation import (
    COPIES,
    PLACES,
    SHORTEST_NORM,
    SimulatedSystem,
    simulate_all,
    simulate_each,
)

NAN = float("nan")
BLIND = SimulatedSystem("blind", "guesser", found_share=0.0, boundary_error=0.0, ranking=0.0, bias=1.0)
SEEING = SimulatedSystem("seeing", "one", found_share=0.8, boundary_error=0.2, ranking=0.2, bias=0.5)


def moments(n_queries, seed, split):
    """Queries of videos of 20 to 40 s, two a video, moments mostly early and about a quarter of the video."""
    rng = np.random.default_rng(seed)
    duration_s = rng.uniform(20, 40, (n_queries + 1) // 2).repeat(2)[:n_queries]
    start = np.minimum(rng.exponential(0.25, n_queries), 0.7)
    end = np.minimum(start + rng.normal(0.28, 0.06, n_queries).clip(0.05), 1.0)
    rows = [
        (
            f"{split}{k}",
            f"{split}-v{k // 2}",
            duration_s[k],
            "a door opens",
            start[k] * duration_s[k],
            end[k] * duration_s[k],
        )
        for k in range(n_queries)
    ]
    return Annotations.from_rows(rows, split=split)


TEST, TRAIN = moments(800, 1, "test"), moments(2000, 2, "train")


def answers(system, seed=0, references=TEST, fit=TRAIN, top=10):
    return simulate_all([system], references, np.random.default_rng(seed), fit=fit, top=top)[system.name]


def figure(measure, predictions, references=TEST):
    scores = evaluate(references, predictions, measure)
    return scores.value(scores.measures[0])


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("offsets", "start_s", "end_s", "score")
    )


# ------------------------------------------------------------------------------------------ seeds


def test_the_same_seed_gives_the_same_answers_and_another_does_not():
    assert same(answers(SEEING), answers(SEEING))
    assert not same(answers(SEEING), answers(SEEING, seed=1))


def test_answers_do_not_hang_on_the_other_systems():
    alone = answers(SEEING)
    others = [replace(SEEING, name="other", bias=0.1), BLIND, SEEING]
    assert same(simulate_all(others, TEST, np.random.default_rng(0), fit=TRAIN)["seeing"], alone)
    assert same(simulate_all(others[::-1], TEST, np.random.default_rng(0), fit=TRAIN)["seeing"], alone)


def places_of(predictions):
    """Start and end of the answers to each query, a set a query."""
    pairs = list(zip(predictions.start_s.tolist(), predictions.end_s.tolist(), strict=True))
    return [set(pairs[low:high]) for low, high in pairwise(predictions.offsets.tolist())]


def test_training_moments_move_the_places_drawn_from_them_and_nothing_else():
    """All is answered, and all places but the moment are drawn from the density: two systems of one seed fitted on
    different moments share the moment's COPIES where it is found, ends off by as much, and else nothing; and where
    that is, a system that leans on nothing says too. 5 standard deviations of 0.0175 as for `found` below.
    """
    all_biased = SimulatedSystem(
        "one", "one", found_share=0.6, boundary_error=0.3, ranking=0.0, bias=1.0, nms_threshold=None
    )
    unbiased = replace(all_biased, bias=0.0)
    everything = {"top": PLACES * COPIES}
    one, other = (places_of(answers(all_biased, fit=fit, **everything)) for fit in (TRAIN, moments(300, 7, "other")))
    even = places_of(answers(unbiased, fit=None, **everything))
    shared = [a & b for a, b in zip(one, other, strict=True)]
    assert {len(both) for both in shared} == {0, COPIES}
    assert np.mean([len(both) > 0 for both in shared]) == pytest.approx(0.6, abs=5 * 0.0175)
    assert all(both <= drawn for both, drawn in zip(shared, even, strict=True))


def test_an_unbiased_system_is_the_same_whatever_others_are_fitted_on():
    unbiased = replace(SEEING, bias=0.0)
    assert same(answers(unbiased, fit=None), answers(unbiased, fit=TRAIN))
    alike = replace(unbiased, lineage="map", alike=0.5)
    assert same(answers(alike, fit=None), answers(alike, fit=TRAIN))


def test_another_name_is_another_draw_and_one_model_is_one_draw():
    other = replace(SEEING, name="other")
    assert not same(answers(SEEING), answers(other))
    assert same(answers(SEEING), answers(replace(other, model="seeing")))


def test_the_generator_gives_one_number_a_call():
    rng = np.random.default_rng(0)
    simulate_all([SEEING, BLIND], TEST, rng, fit=TRAIN)
    expected = np.random.default_rng(0)
    expected.integers(1 << 62)
    assert rng.bit_generator.state == expected.bit_generator.state


def test_chance_on_one_split_is_not_that_on_another():
    """Else a variant that is lucky in validation would be lucky in the test too."""
    renamed = Annotations.from_rows(
        [
            (f"val{k}", *row)
            for k, row in enumerate(
                zip(TEST.video_id, TEST.duration_s, TEST.sentence, TEST.start_s, TEST.end_s, strict=True)
            )
        ]
    )
    assert not same(answers(SEEING), answers(SEEING, references=renamed))


def test_trainings_of_a_lineage_are_alike_on_their_share_of_the_queries():
    """Each goes the common way on half of the queries, both on a quarter: 200, give or take four deviations of 12."""
    one, other = (
        answers(replace(SEEING, name=name, lineage="map", alike=0.5)) for name in ("training 1", "training 2")
    )
    apart = answers(replace(SEEING, name="training 2"))
    equal = sum(
        np.array_equal(one.start_s[a:b], other.start_s[c:d])
        for (a, b), (c, d) in zip(pairwise(one.offsets), pairwise(other.offsets), strict=True)
    )
    both = 0.5 * 0.5 * 800
    assert abs(equal - both) < 4 * np.sqrt(800 * 0.25 * 0.75)
    assert not same(other, apart)


def test_blocks_of_queries_do_not_change_what_comes_before_them():
    """More queries than a block: the first system's answers are complete and in order."""
    many = moments(2100, 5, "many")
    got = answers(SEEING, references=many)
    assert got.query_id.tolist() == many.queries.query_id.tolist()
    assert got.lengths.min() >= 1


# ------------------------------------------------------------------------------------------ dials


def test_more_boundary_error_lowers_miou():
    found = [
        figure("mIoU", answers(replace(SEEING, found_share=1.0, ranking=0.3, boundary_error=error)))
        for error in (0.0, 0.1, 0.3, 0.6)
    ]
    assert sorted(found, reverse=True) == found


def test_without_boundary_error_what_is_found_and_ranked_by_iou_is_the_moment():
    """found = 1, no error, ranking = 1: the reference itself is among the candidates and comes first."""
    exact = SimulatedSystem("exact", "one", found_share=1.0, boundary_error=0.0, ranking=1.0, bias=0.0)
    assert figure("mIoU", answers(exact, fit=None)) == pytest.approx(1.0, abs=1e-9)


def test_ranking_by_iou_is_the_order_of_iou():
    got = answers(replace(SEEING, ranking=1.0, nms_threshold=None))
    owner = np.repeat(np.arange(len(got)), got.lengths)
    iou = temporal_iou(got.start_s, got.end_s, TEST.start_s[owner], TEST.end_s[owner])
    rises = (np.diff(iou) > 1e-9) & (np.diff(owner) == 0)
    assert not rises.any()


def test_better_ranking_raises_recall_at_one_of_equal_candidates():
    """All candidates are answered, so R@60 is that of the candidates, and it is the same."""
    systems = [replace(SEEING, ranking=ranking, nms_threshold=None) for ranking in (0.0, 0.1, 0.3, 1.0)]
    listed = [answers(system, top=PLACES * COPIES) for system in systems]
    at_one = [figure("R@1,IoU=0.5", one) for one in listed]
    assert sorted(at_one) == at_one
    assert at_one[-1] > at_one[0] + 0.2
    assert len({figure(f"R@{PLACES * COPIES},IoU=0.5", one) for one in listed}) == 1


def test_found_is_the_share_of_queries_whose_moment_is_among_the_candidates():
    """Even wrong places hardly ever lie within 1e-9 of the moment, so an IoU of 0.999 999 tells it.

    800 queries, whose difficulty is common to a video's two in part: five standard deviations of 0.0175.
    """
    for found in (0.0, 0.3, 0.75, 1.0):
        exact = SimulatedSystem("exact", "one", found, boundary_error=0.0, ranking=1.0, bias=0.0)
        got = figure("R@1,IoU=0.999999", answers(exact, fit=None))
        assert got == pytest.approx(found, abs=0.0 if found in (0.0, 1.0) else 5 * 0.0175)


def redundancy(predictions):
    """Mean IoU over pairs of answers of a query."""
    found = []
    for low, high in pairwise(predictions.offsets):
        start, end = predictions.start_s[low:high], predictions.end_s[low:high]
        first, second = np.triu_indices(high - low, k=1)
        found.append(temporal_iou(start[first], end[first], start[second], end[second]))
    return float(np.concatenate(found).mean())


def test_without_suppression_lists_are_redundant_and_the_first_answer_is_the_same():
    with_nms, without = answers(SEEING), answers(replace(SEEING, name="nonms", model="seeing", nms_threshold=None))
    assert figure("R@1,IoU=0.5", with_nms) == figure("R@1,IoU=0.5", without)
    assert redundancy(without) > redundancy(with_nms) + 0.2
    assert figure("R@5,IoU=0.5", without) < figure("R@5,IoU=0.5", with_nms)
    assert (without.lengths == 10).all()


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 1.0])
def test_no_two_answers_overlap_more_than_the_threshold(threshold):
    got = answers(replace(SEEING, nms_threshold=threshold))
    for low, high in pairwise(got.offsets):
        start, end = got.start_s[low:high], got.end_s[low:high]
        iou = temporal_iou(start[:, None], end[:, None], start, end)
        np.fill_diagonal(iou, 0)
        assert iou.max(initial=0) <= threshold + 1e-9


def test_a_blind_system_is_no_better_than_the_prior():
    """Prior-Only Blind draws 100 places and takes the densest, this one 12: it cannot do better but by chance.

    0.05 is three standard errors of the difference of two shares of 800.
    """
    floor = PriorOnly(np.random.default_rng(0)).fit(TRAIN).ground(TEST.queries)
    for measure in ("R@1,IoU=0.5", "R@1,IoU=0.7"):
        assert figure(measure, answers(BLIND)) <= figure(measure, floor) + 0.05


def test_a_blind_system_never_looks_at_the_references():
    """Other references for the same queries leave its answers as they are; those of one that sees change."""
    moved = Annotations.from_rows(
        [
            (q, v, d, s, d * 0.5, d * 0.6)
            for q, v, d, s in zip(TEST.query_id, TEST.video_id, TEST.duration_s, TEST.sentence, strict=True)
        ]
    )
    assert not BLIND.sees
    assert same(answers(BLIND), answers(BLIND, references=moved))
    assert SEEING.sees
    assert not same(answers(SEEING), answers(SEEING, references=moved))


def test_hard_queries_are_hard_for_all():
    """Per-query IoUs of unbiased systems of different names correlate; so little chance would not (p < 1e-6)."""
    systems = [replace(SEEING, name=name, bias=0.0) for name in "abcd"]
    found = simulate_all(systems, TEST, np.random.default_rng(0))
    table = [evaluate(TEST, one, "mIoU").numerator[0] for one in found.values()]
    alike = np.corrcoef(table)[np.triu_indices(4, k=1)]
    assert alike.min() > 0.18


# ------------------------------------------------------------------------------------- what comes out


@pytest.mark.parametrize("system", [*default_population()[:8], replace(SEEING, boundary_error=50.0)])
def test_answers_lie_within_the_video_and_scores_fall(system):
    got = answers(system)
    duration_s = np.repeat(TEST.queries.duration_s, got.lengths)
    assert (got.start_s >= 0).all()
    assert (got.end_s <= duration_s).all()
    assert (got.end_s - got.start_s >= SHORTEST_NORM * duration_s * (1 - 1e-9)).all()
    inside = np.ones(len(got.score), dtype=bool)
    inside[got.offsets[:-1]] = False
    assert (np.diff(got.score, prepend=np.inf)[inside] < 0).all()
    assert got.lengths.max() <= 10
    assert got.lengths.min() >= 1
    assert got.name == system.name


def test_queries_without_a_moment_are_answered_with_wrong_places():
    rows = [("a", "v", 30.0, "a door opens", NAN, NAN), ("b", "v", 30.0, "a dog barks", 3.0, 9.0)]
    got = answers(SEEING, references=Annotations.from_rows(rows))
    assert got.lengths.min() >= 1


@pytest.mark.parametrize("moment", [(35.0, 40.0), (9.0, 9.0), (9.0, 4.0)])
def test_a_moment_that_is_none_within_the_video_is_not_found(moment):
    exact = SimulatedSystem("exact", "one", found_share=1.0, boundary_error=0.0, ranking=1.0, bias=0.0)
    references = Annotations.from_rows([("a", "v", 30.0, "a door opens", *moment)])
    got = answers(exact, references=references, fit=None)
    assert got.lengths.min() >= 1
    assert got.end_s.max() <= 30.0


def test_of_several_references_each_is_seen_by_chance():
    """Of 400 queries with references at both ends about half find each: 200, four standard deviations of 10 apart."""
    rows = [
        (f"q{k}", f"v{k}", 30.0, "a door opens", *moment) for k in range(400) for moment in ((2.0, 6.0), (20.0, 28.0))
    ]
    references = Annotations.from_rows([(*row, name) for row, name in zip(rows, ["ann", "bob"] * 400, strict=True)])
    exact = SimulatedSystem("exact", "one", found_share=1.0, boundary_error=0.0, ranking=1.0, bias=0.0)
    got = answers(exact, references=references, fit=None)
    first = got.start_s[got.offsets[:-1]]
    assert set(first.round(6)) == {2.0, 20.0}
    assert abs(int((first < 10).sum()) - 200) < 40


def test_no_queries_give_no_answers():
    empty = TEST.select_queries(np.zeros(TEST.n_queries, dtype=bool))
    assert len(answers(SEEING, references=empty)) == 0


def test_systems_come_one_at_a_time():
    got = simulate_each([SEEING, BLIND], TEST, np.random.default_rng(0), fit=TRAIN)
    name, first = next(iter(got))
    assert name == "seeing"
    assert same(first, answers(SEEING))


# ------------------------------------------------------------------------------------------ refusals


def test_an_unknown_duration_is_refused():
    references = Annotations.from_rows([("a", "v", NAN, "a door opens", 2.0, 9.0)])
    with pytest.raises(InputError, match="need every video's duration, and that of query 'a' is not known"):
        answers(SEEING, references=references)


def test_a_biased_system_needs_training_moments():
    with pytest.raises(UsageError, match=r"seeing uses the locations of training moments \(bias 0.5\)"):
        answers(SEEING, fit=None)


def test_two_systems_of_one_name_are_refused_before_any_work():
    with pytest.raises(UsageError, match="two simulated systems called 'blind'"):
        simulate_each([BLIND, BLIND], TEST, np.random.default_rng(0), fit=TRAIN)


@pytest.mark.parametrize("top", [0, PLACES * COPIES + 1])
def test_answers_that_no_system_has_are_refused(top):
    with pytest.raises(UsageError, match=f"got {top} answers a query, expected 1 to 60"):
        answers(SEEING, top=top)


@pytest.mark.parametrize(
    ("dial", "value", "problem"),
    [
        ("found_share", 1.1, "got found_share 1.1, expected 0 to 1"),
        ("ranking", -0.1, "got ranking -0.1, expected 0 to 1"),
        ("bias", NAN, "got bias nan, expected 0 to 1"),
        ("boundary_error", -1.0, "got boundary_error -1, expected 0 or more"),
        ("boundary_error", float("inf"), "got boundary_error inf, expected 0 or more"),
        ("nms_threshold", 2.0, "got nms_threshold 2, expected 0 to 1 or None"),
        ("alike", 0.5, "got alike 0.5 without a lineage"),
    ],
)
def test_dials_beyond_their_ends_are_refused(dial, value, problem):
    with pytest.raises(UsageError, match=f"seeing: {problem}"):
        replace(SEEING, **{dial: value})
