"""What people score: against slow loops, by properties, and the published figures on the real re-annotations."""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.errors import InputError, MeasureError, UsageError
from truemoment.data.datasets import load_annotations
from truemoment.data.datasets.reannotation import REANNOTATES
from truemoment.evaluation.agreement import Annotators, agreement_by_query
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.humans.scores import (
    REFERENCES,
    against_another,
    against_the_others,
    by_agreement,
    by_official,
    consensus_against_another,
    consensus_scores,
    draw_annotators,
    human_scores,
    measures_of_one_answer,
    same_queries,
)

MEASURES = "R@1,IoU=0.5; mIoU"


def moments_of(annotators):
    table = zip(annotators.start_s.tolist(), annotators.end_s.tolist(), strict=True)
    return [[(s, e) for s, e in zip(*row, strict=True) if not np.isnan(s)] for row in table]


def iou(a, b):
    overlap = max(min(a[1], b[1]) - max(a[0], b[0]), 0)
    return overlap / (a[1] - a[0] + b[1] - b[0] - overlap)


def best_agreeing(moments):
    means = [sum(iou(a, b) for j, b in enumerate(moments) if j != i) for i, a in enumerate(moments)]
    return next(i for i, mean in enumerate(means) if mean >= max(means) - 1e-9)


def scored(answer, references):
    best = max(iou(answer, reference) for reference in references)
    return float(best > 0.5 + 1e-9), best


def slow(way, moments, k, *, out, official=()):
    """Score of annotator k of a query as (R@1,IoU=0.5; mIoU), None if k does not answer: the rules, one by one."""
    own, others = moments[k], [m for j, m in enumerate(moments) if j != k]
    if way == "official":
        return scored(own, official)
    if way == "another":
        each = [scored(own, [other]) for other in others]
        return tuple(sum(column) / len(each) for column in zip(*each, strict=True))
    if way == "representative":
        chosen = best_agreeing(moments)
        leaves = [m == moments[chosen] if out else j == chosen for j, m in enumerate(moments)]
        if leaves[k] and not all(leaves):
            return None
        return scored(own, [moments[chosen]])
    left = [m for m in others if m != own] or others if out else others
    return scored(own, left if way == "nearest" else [left[best_agreeing(left)]] if len(left) > 1 else left)


@pytest.mark.parametrize("duplicates", ["out", "kept"])
@pytest.mark.parametrize("way", REFERENCES)
@pytest.mark.parametrize("seed", range(3))
def test_everybody_scores_as_loops_say(drawn, way, duplicates, seed):
    annotators, official = drawn(seed)
    found = human_scores(annotators, way, MEASURES, official=official, duplicates=duplicates)
    means = []
    for q, moments in enumerate(moments_of(annotators)):
        references = [(official.start_s[q], official.end_s[q])]
        expected = [slow(way, moments, k, out=duplicates == "out", official=references) for k in range(len(moments))]
        for k, score in enumerate(expected):
            assert found.eligible[k, q] == (score is not None)
            if score is not None:
                np.testing.assert_allclose(found.numerator[k, :, q], score, atol=1e-9)
                np.testing.assert_allclose(found.weight[k, :, q], 1, atol=1e-12)
        means.append(np.mean([score for score in expected if score is not None], axis=0))
    for m, measure in enumerate(found.scores.measures):
        assert found.scores.value(measure) == pytest.approx(np.mean(means, axis=0)[m], abs=1e-9)


@pytest.mark.parametrize("way", REFERENCES)
def test_published_is_kept_for_the_nearest_and_out_for_the_representative(drawn, way):
    annotators, official = drawn(7)
    asked = {"official": official} if way == "official" else {}
    same = human_scores(annotators, way, MEASURES, duplicates="published", **asked)
    like = human_scores(annotators, way, MEASURES, duplicates="out" if way == "representative" else "kept", **asked)
    np.testing.assert_array_equal(same.numerator, like.numerator)


@pytest.mark.parametrize("seed", range(5))
def test_taking_identical_moments_out_never_raises_the_nearest(drawn, seed):
    annotators, _ = drawn(seed)
    out, kept = (human_scores(annotators, "nearest", MEASURES, duplicates=d) for d in ("out", "kept"))
    assert np.all(out.numerator <= kept.numerator + 1e-12)
    assert np.any(out.numerator < kept.numerator)


def test_all_who_mark_the_same_score_as_their_own_moment():
    rows = [("v#0", "v", 30.0, "s", 2.0, 5.0, name) for name in "abc"]
    annotators = Annotators.of(Annotations.from_rows(rows))
    for way in REFERENCES[1:]:
        for duplicates in ("out", "kept"):
            assert human_scores(annotators, way, "mIoU", duplicates=duplicates).scores.value("mIoU") == 1


def test_the_order_of_annotators_matters_but_for_ties_nothing():
    rng = np.random.default_rng(0)  # continuous times of moments that all overlap: no ties
    ends = rng.random((20, 4, 2)) * 20 + np.array([0.0, 30.0])
    found = []
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        rows = [(f"v{q}#0", f"v{q}", 60.0, "s", *ends[q, k].tolist(), f"a{k}") for q in range(20) for k in order]
        annotators = Annotators.of(Annotations.from_rows(rows))
        found.append([human_scores(annotators, way, MEASURES).scores.value("mIoU") for way in REFERENCES[1:]])
    assert found[0] == pytest.approx(found[1], abs=1e-12)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"reference": "best"},
            "got references 'best', expected one of official, nearest, representative, others-representative, another",
        ),
        ({"duplicates": "bogus"}, "got duplicates 'bogus', expected one of published, out, kept"),
    ],
)
def test_choices_that_there_are_not(drawn, words, message):
    with pytest.raises(UsageError) as caught:
        human_scores(drawn(0)[0], **({"reference": "nearest"} | words))
    assert str(caught.value) == message


class TestMomentsBeforeTheVideo:
    """Two annotators and the official reference; IoUs by hand."""

    @staticmethod
    def marked(*moments):
        rows = [("v#0", "v", 10.0, "s", *moment, f"a{k}") for k, moment in enumerate(moments)]
        return Annotators.of(Annotations.from_rows(rows))

    @pytest.mark.parametrize("way", REFERENCES)
    def test_are_held_as_they_were_marked(self, way):
        same = Annotations.from_rows([("v#0", "v", 10.0, "s", -2.0, 3.0)])
        scores = human_scores(self.marked((-2.0, 3.0), (-2.0, 3.0)), way, "mIoU; dR@1,IoU=0.5", official=same).scores
        assert (scores.value("mIoU"), scores.value("dR@1,IoU=0.5")) == (1, 1)

    def test_alike_in_figures_and_in_agreement(self):
        marked = self.marked((-2.0, 3.0), (0.0, 3.0), (-4.0, -1.0))
        found = human_scores(marked, "another", "mIoU").scores.value("mIoU")
        assert found == pytest.approx((3 / 5 + 1 / 7 + 0) / 3, abs=1e-12)
        assert found == pytest.approx(agreement_by_query(marked)[0, 0], abs=1e-12)

    @pytest.mark.parametrize(
        ("protocol", "expected"),
        [
            ("default", 5 / 8),
            ("default,times=normalised", 5 / 8),
            ("default,clip_references=yes", 3 / 6),  # both from 0 s
            ("default,clip_predictions=yes", 3 / 8),  # answers from 0 s, references as marked
            ("closer-look", 3 / 6),
        ],
    )
    def test_only_a_protocol_clips(self, protocol, expected):
        found = human_scores(self.marked((-2.0, 3.0), (-2.0, 6.0)), "another", "mIoU", protocol)
        assert found.scores.value("mIoU") == pytest.approx(expected, abs=1e-12)

    def test_a_swapped_one_overlaps_nothing(self):
        assert human_scores(self.marked((3.0, -2.0), (0.0, 3.0)), "another", "mIoU").scores.value("mIoU") == 0


class TestDraws:
    def test_each_is_drawn_evenly_of_those_who_answer(self):
        eligible = np.array([[True, False, False], [True, True, False], [False, True, False], [True, True, False]])
        drawn_ = draw_annotators(eligible, np.random.default_rng(0), 6000)
        assert np.all(drawn_[:, 2] == -1)  # nobody is there
        for q in (0, 1):
            share = np.bincount(drawn_[:, q], minlength=4) / 6000
            np.testing.assert_allclose(share, eligible[:, q] / 3, atol=0.02)  # 3 standard errors: 0.018
            assert not share[~eligible[:, q]].any()

    @pytest.mark.parametrize("way", ["official", "nearest", "representative"])
    def test_draws_are_as_loops_say_and_tend_to_the_expected_figure(self, drawn, way):
        annotators, official = drawn(3)
        found = human_scores(annotators, way, MEASURES, official=official)
        picks = draw_annotators(found.eligible, np.random.default_rng(5), 400)
        figures = found.draw(np.random.default_rng(5), 400)
        for pick, figure in zip(picks[:5], figures[:5], strict=True):
            scores = [
                slow(way, moments, k, out=way == "representative", official=[(official.start_s[q], official.end_s[q])])
                for q, (moments, k) in enumerate(zip(moments_of(annotators), pick.tolist(), strict=True))
            ]
            np.testing.assert_allclose(figure, np.mean(scores, axis=0), atol=1e-9)
        error = figures.std(axis=0) / 20
        expected = [found.scores.value(measure) for measure in found.scores.measures]
        assert np.all(np.abs(figures.mean(axis=0) - expected) <= 4 * error + 1e-12)

    def test_no_draw(self):
        with pytest.raises(UsageError, match=r"^got 0 draws, expected 1 or more$"):
            draw_annotators(np.ones((2, 2), dtype=bool), np.random.default_rng(0), 0)


class TestRanks:
    def test_by_agreement_as_sorting_says(self, drawn):
        annotators, _ = drawn(4)
        ranks = by_agreement(annotators)
        for q, moments in enumerate(moments_of(annotators)):
            means = [round(sum(iou(a, b) for j, b in enumerate(moments) if j != i), 9) for i, a in enumerate(moments)]
            order = sorted(range(len(moments)), key=lambda k, means=means: -means[k])  # sorted() is stable
            assert ranks[:, q].tolist() == order + [-1] * (ranks.shape[0] - len(order))

    def test_by_the_reference_scores_fall_with_the_rank(self, drawn):
        annotators, official = drawn(5)
        found = human_scores(annotators, "official", "mIoU", official=official)
        ranks = by_official(found)
        for q, moments in enumerate(moments_of(annotators)):
            reference = (official.start_s[q], official.end_s[q])
            ious = sorted((iou(moment, reference) for moment in moments), reverse=True)
            of_rank = [found.numerator[k, 0, q] for k in ranks[: len(moments), q]]
            np.testing.assert_allclose(of_rank, ious, atol=1e-9)

    def test_queries_of_fewer_annotators_carry_no_weight_at_later_ranks(self, drawn):
        annotators, official = drawn(6)
        found = human_scores(annotators, "official", "mIoU", official=official)
        counts = [int((found.pick(rank).weight > 0).sum()) for rank in by_agreement(annotators)]
        assert counts == [int((annotators.counts >= k).sum()) for k in range(1, 6)]


class TestMeasures:
    def test_those_of_the_protocol_that_look_at_one_answer(self):
        found = measures_of_one_answer(None, get_protocol("default"))
        assert {str(measure) for measure in found} == {
            *(f"{name}@1,IoU={iou}" for name in ("R", "dR") for iou in (0.3, 0.5, 0.7)),
            "mIoU",
        }

    @pytest.mark.parametrize("text", ["R@5,IoU=0.5", "AxIoU@10", "mAP", "HIT@1,min=VeryGood", "FalseAbstention"])
    def test_those_of_several_answers_are_refused(self, text):
        with pytest.raises(MeasureError, match="an annotator gives one answer"):
            measures_of_one_answer(text, get_protocol("default"))

    def test_those_that_say_how_references_count_are_refused(self):
        with pytest.raises(MeasureError, match="measured against each kind of references"):
            measures_of_one_answer("mIoU[ref=nearest]", get_protocol("default"))

    def test_any_of_one_answer(self, drawn):
        annotators, _ = drawn(0)
        for text in ("AxIoU@1", "NCxIoU@1,p=geometric(0.5)", "dR@1,IoU=0.5", "DCG@1", "R@1,IoU=0.5,length=short"):
            assert 0 <= human_scores(annotators, "nearest", text).scores.value(text) <= 1


class TestSameQueries:
    def test_in_the_order_of_the_annotators(self, drawn):
        annotators, official = drawn(0, 6)
        turned = Annotations.from_rows(
            [
                (official.query_id[q], official.video_id[q], 60.0, official.sentence[q], official.start_s[q], 60.0)
                for q in (4, 2, 0)
            ]
        )
        here, there = same_queries(annotators, turned)
        assert here.annotations.queries.query_id.tolist() == there.queries.query_id.tolist()
        assert there.query_id.tolist() == [official.query_id[q] for q in (0, 2, 4)]
        assert there.start_s.tolist() == [official.start_s[q] for q in (0, 2, 4)]

    def test_an_id_that_asks_for_something_else_is_refused(self, drawn):
        annotators, official = drawn(0, 2)
        other = Annotations.from_rows([(official.query_id[0], official.video_id[0], 60.0, "another", 1.0, 2.0)])
        with pytest.raises(InputError, match=r"is 'sentence 0' on video 'v0', but 'another' on video 'v0'"):
            same_queries(annotators, other)

    def test_moments_and_sentences_may_differ_in_dress(self):
        rows = [("v#0", "v", 60.0, "He sits.", 1.0, 2.0, name) for name in "ab"]
        official = Annotations.from_rows([("v#0", "v", 60.0, " he sits", 1.0, 5.0)])
        _, there = same_queries(Annotators.of(Annotations.from_rows(rows)), official)
        assert there.end_s.tolist() == [5.0]

    def test_none_in_common(self, drawn):
        annotators, _ = drawn(0, 2)
        other = Annotations.from_rows([("x", "v", 60.0, "another", 1.0, 2.0)], dataset="d", split="test")
        with pytest.raises(UsageError, match=r"^d/test has none of the queries of own/all \(the first is 'v0#0'\)"):
            same_queries(annotators, other)


# ------------------------------------------------------------------------------------------- the consensus


@pytest.mark.parametrize("duplicates", ["out", "kept", "published"])
@pytest.mark.parametrize("seed", range(3))
def test_the_consensus_scores_as_loops_say(drawn, duplicates, seed):
    """The median start and end of the others, against each annotator; the mean over them."""
    annotators, _ = drawn(seed)
    found = consensus_scores(annotators, MEASURES, duplicates=duplicates)
    assert found.reference == "another"
    means = []
    for q, moments in enumerate(moments_of(annotators)):
        scores = []
        for k, own in enumerate(moments):
            others = [moment for j, moment in enumerate(moments) if j != k]
            if duplicates == "out":
                others = [moment for moment in others if moment != own] or others
            scores.append(scored(tuple(median(times) for times in zip(*others, strict=True)), [own]))
            np.testing.assert_allclose(found.numerator[k, :, q], scores[-1], atol=1e-9)
        means.append(np.mean(scores, axis=0))
    expected = np.mean(means, axis=0).tolist()
    assert [found.scores.value(measure) for measure in found.scores.measures] == pytest.approx(expected, abs=1e-9)


def test_the_consensus_of_one_other_is_that_other(drawn):
    annotators, _ = drawn(5, most=2)
    measures = parse_measures(MEASURES)
    consensus = consensus_against_another(annotators, measures, get_protocol("default"))
    another = against_another(annotators, measures, get_protocol("default"))
    np.testing.assert_allclose(consensus.numerator, another.numerator, atol=1e-12)


def test_the_consensus_is_above_one_annotator():
    # Five people mark the same moment, each off by a second or so of their own: the middle of four is nearer.
    rng = np.random.default_rng(0)
    ends = np.array([20.0, 24.0]) + rng.standard_normal((200, 5, 2))
    rows = [(f"v{q}#0", f"v{q}", 60.0, "s", *ends[q, k].tolist(), f"a{k}") for q in range(200) for k in range(5)]
    annotators = Annotators.of(Annotations.from_rows(rows))
    one, consensus = human_scores(annotators, "another", "mIoU"), consensus_scores(annotators, "mIoU")
    assert consensus.scores.value("mIoU") > one.scores.value("mIoU") + 0.03


def test_a_consensus_before_the_video_is_held_as_it_was_marked():
    # By hand: the others of a are (-2, 4) and (-4, 2), their median (-3, 3); a marked (-3, 3). A protocol that clips
    # makes (0, 3) of both.
    rows = [
        ("v#0", "v", 30.0, "s", *moment, name) for name, moment in zip("abc", ((-3, 3), (-2, 4), (-4, 2)), strict=True)
    ]
    annotators = Annotators.of(Annotations.from_rows(rows))
    for protocol in ("default", "closer-look"):
        assert consensus_scores(annotators, "mIoU", protocol).numerator[0, 0, 0] == 1, protocol
    # (-3.5, 2.5) against b's (-2, 4): 4.5 of 7.5 s; clipped, (0, 2.5) against (0, 4).
    values = [
        consensus_scores(annotators, "mIoU", protocol).numerator[1, 0, 0] for protocol in ("default", "closer-look")
    ]
    assert values == pytest.approx([4.5 / 7.5, 2.5 / 4], abs=1e-12)


def test_a_consensus_of_no_such_duplicates_is_refused(drawn):
    with pytest.raises(UsageError, match="got duplicates 'all', expected one of published, out, kept"):
        consensus_scores(drawn(0)[0], MEASURES, duplicates="all")


def test_the_authors_sums_tell_equals_apart():
    # v_hT_4wWPNYxo#0 of the re-annotations (mayu-ot/hidden-challenges-MR at e0c4546), per cent of the video: the first
    # and the last annotator have the IoUs 3/5, 1/2, 1/3 and 2/49 with the others. Added in file order, as there, the
    # last one's sum is larger in the last bit, and is taken: the one query of 1,288 by which 44.49 is not 44.4.
    moments = [(1.0, 5.0), (1.0, 99.0), (2.0, 4.0), (0.0, 12.0), (2.0, 6.0)]
    table = np.array([[hull_iou(a, b) for b in moments if b is not a] for a in moments])
    assert np.sort(table[0]) == pytest.approx(np.sort(table[4]), abs=0)
    assert int(np.argmax(table.mean(axis=1))) == 4
    rows = [("v#0", "v", 166.07, "s", *(1.6607 * t for t in moment), f"a{k}") for k, moment in enumerate(moments)]
    assert by_agreement(Annotators.of(Annotations.from_rows(rows)))[0].tolist() == [0]


def hull_iou(a, b):
    """IoU as the authors' code has it: latest end less earliest start below."""
    return max(0.0, min(a[1], b[1]) - max(a[0], b[0])) / (max(a[1], b[1]) - min(a[0], b[0]))


def test_measures_of_any_depth_against_the_others(drawn):
    annotators, _ = drawn(9)
    measures = parse_measures("R@5,IoU=0.5; R@1,IoU=0.5; F1,IoU=0.5; R@1,IoU=0.5[ref=representative]")
    found = against_the_others(annotators, measures, get_protocol("default"))
    nearest = human_scores(annotators, "nearest", "R@1,IoU=0.5", duplicates="kept").scores.value("R@1,IoU=0.5")
    other = human_scores(annotators, "others-representative", "R@1,IoU=0.5", duplicates="kept")
    assert found.value(measures[0]) == found.value(measures[1]) == nearest
    assert found.value(measures[3]) == other.scores.value("R@1,IoU=0.5")
    assert 0 < found.value(measures[2]) < nearest  # several references, one answer


def test_against_the_others_counts_as_the_protocol_says(drawn):
    annotators, _ = drawn(9)
    measures = parse_measures("mIoU")
    for rule in ("nearest", "others-representative"):
        protocol = get_protocol(f"default,references={rule.removeprefix('others-')}")
        found = against_the_others(annotators, measures, protocol)
        assert found.protocol.references == protocol.references
        expected = human_scores(annotators, rule, measures, duplicates="kept").scores.value("mIoU")
        assert found.value("mIoU") == pytest.approx(expected, abs=1e-12)
    rows = against_the_others(annotators, measures, get_protocol("default,references=rows"))
    np.testing.assert_allclose(rows.weight[0], annotators.counts - 1, atol=1e-12)  # a reference is a query of its own
    np.testing.assert_allclose(against_another(annotators, measures, get_protocol("default")).weight, 1, atol=1e-12)


@pytest.mark.data
class TestPublished:
    """Hidden Challenges, Tables 1 and 2; figures of Charades-STA and, where its files are at hand, ActivityNet."""

    @pytest.fixture(params=[("human-charades", "test"), ("human-activitynet", "val_2")])
    def marked(self, request, data_dir):
        name, split = request.param
        if not (data_dir / name).is_dir():
            pytest.skip(f"no real files in {data_dir / name}")
        annotators = Annotators.of(load_annotations(name, split, data_dir=data_dir))
        official = load_annotations(REANNOTATES[name], split, data_dir=data_dir)
        return name, *same_queries(annotators, official)

    def test_against_the_references(self, marked):
        name, annotators, official = marked
        expected = {"human-charades": (42.8, 1.05, 52.1), "human-activitynet": (35.4, 1.17, 44.4)}[name]
        found = human_scores(annotators, "official", "R@1,IoU=0.5", "hidden-challenges", official=official)
        drawn_ = 100 * found.draw(np.random.default_rng(0), 100)[:, 0]
        assert drawn_.mean() == pytest.approx(expected[0], abs=expected[1])
        assert drawn_.std() == pytest.approx(expected[1], rel=0.3)  # of 100 draws: to some 7 %, both of them
        representative = 100 * found.pick(by_agreement(annotators)[0]).value("R@1,IoU=0.5")
        assert representative == pytest.approx(expected[2], abs=0.1)

    def test_the_best_of_five(self, marked):
        # field.md, section 2.3: best of five 80.6 % / 64.8 % of queries.
        name, annotators, official = marked
        found = human_scores(annotators, "official", MEASURES, official=official)
        best = 100 * found.pick(by_official(found)[0]).value("R@1,IoU=0.5")
        assert f"{best:.1f}" == {"human-charades": "80.6", "human-activitynet": "64.8"}[name]

    def test_against_each_other(self, marked):
        name, annotators, _ = marked
        nearest, representative = {"human-charades": (83.3, 66.8), "human-activitynet": (72.4, 52.3)}[name]
        for way, published, tolerance in (("nearest", nearest, 1.0), ("representative", representative, 1.3)):
            found = human_scores(annotators, way, "R@1,IoU=0.5")
            assert 100 * found.scores.value("R@1,IoU=0.5") == pytest.approx(published, abs=tolerance)

    def test_the_consensus(self, marked):
        # Issue 19, point 11: 65.6 against 53.3, and 51.2 against 42.0.
        name, annotators, _ = marked
        one, consensus = {"human-charades": (53.3, 65.6), "human-activitynet": (42.0, 51.2)}[name]
        measure = "R@1,IoU=0.5"
        assert round(100 * human_scores(annotators, "another", measure).scores.value(measure), 1) == one
        assert round(100 * consensus_scores(annotators, measure).scores.value(measure), 1) == consensus

    def test_one_query_differs_from_the_published_representative(self, marked):
        # docs/humans.md: 573 hits for 572 of 1,288 by the authors' sums; of Charades-STA 521 by both.
        name, annotators, official = marked
        found = human_scores(annotators, "official", "R@1,IoU=0.5", "hidden-challenges", official=official)
        per_cent = [
            [(round(100 * s / d, 6), round(100 * e / d, 6)) for s, e in moments]
            for moments, d in zip(moments_of(annotators), annotators.duration_s.tolist(), strict=True)
        ]
        tables = [np.array([[hull_iou(a, b) for b in of if b is not a] for a in of]) for of in per_cent]
        theirs = np.array([int(np.argmax(table.mean(axis=1))) for table in tables])
        hits = [int(found.pick(rank).numerator.sum()) for rank in (by_agreement(annotators)[0], theirs)]
        assert hits == {"human-charades": [521, 521], "human-activitynet": [573, 572]}[name]

    def test_ties_in_plain_float64_are_worth_a_point(self, marked):
        # Times in seconds are per cent times a duration: an IoU of exactly 0.5 may come out above it.
        name, annotators, _ = marked
        figures = [
            human_scores(annotators, "nearest", "R@1,IoU=0.5", protocol).scores.value("R@1,IoU=0.5")
            for protocol in ("default", "hidden-challenges")
        ]
        assert 0.004 < figures[1] - figures[0] < 0.012, name
