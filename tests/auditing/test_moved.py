"""The audit of a method on videos in which the moments move: figures by hand, and worlds whose truth is known."""

import dataclasses

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.base.errors import InputError, UsageError
from truemoment.data.references import write_annotations
from truemoment.media.features.moving import MOVES
from truemoment.studies.audit import AuditSetup, Controls
from truemoment.studies.audit.checks import follows_moments
from truemoment.studies.audit.moved import (
    FROM_END,
    FROM_START,
    OF_VIDEO,
    Moved,
    place_answers,
    predict_on_moved,
    read_moved,
)
from truemoment.worlds import ToyGrounder, make_world

# 60 videos of 40 s, the moment at 10 to 20 s of each; 10 s of noise before them, so it is at 20 to 30 of 50 s then.
VIDEOS = range(60)


def split(duration_s, start_s):
    return Annotations.from_rows(
        [(f"v{v}#0", f"v{v}", duration_s, "a person opens a door", start_s, start_s + 10.0) for v in VIDEOS]
    )


BEFORE, AFTER = split(40.0, 10.0), split(50.0, 20.0)


@pytest.fixture
def audited(with_floors, constant):
    """Give results of a method that answers 10 to 20 s on the original videos, and some moment on the changed ones."""

    def make(start_s, end_s, **controls):
        moved = {"noise": Moved(AFTER, constant(AFTER, start_s, end_s))}
        return with_floors(
            BEFORE,
            constant(BEFORE, 10.0, 20.0),
            {"floor": constant(BEFORE, 30.0, 40.0)},
            measures="R@1,IoU=0.5; mIoU",
            controls=Controls(moved=moved, **controls),
        )

    return make


@pytest.mark.parametrize(
    ("answer", "guess"), [((10.0, 20.0), FROM_START), ((12.5, 25.0), OF_VIDEO), ((33.0, 34.0), None)]
)
def test_a_guess_stays(audited, answer, guess):
    """At the same seconds the IoU is 0, at the same share of the video 5 of 17.5 s: 12.5 to 25 beside 20 to 30 s.

    The seconds from the end are those of the moved moment, so they show nothing. The two other places are 20 and 12.5 s
    from it, more than a fifth of 50 s, and an answer counts within a tenth of it.
    """
    results = audited(*answer)
    finding = follows_moments.look(results)
    (moved,) = results.cached(follows_moments.moved_results)
    assert [(one.guess, one.n_queries) for one in moved.against] == [(FROM_START, 60), (OF_VIDEO, 60), (FROM_END, 0)]
    for one in moved.against[:2]:
        stays = float(one.guess == guess)
        assert (one.follow, one.stay, one.difference, *one.ci95) == (0.0, stays, -stays, -stays, -stays)
    assert np.isnan(moved.against[2].difference)
    assert (finding.level, finding.holds, finding.figure) == ("serious", False, -1.0 if guess else 0.0)
    assert finding.verdict.endswith("Answers are not shown to follow the moments on these videos: noise.")
    assert (moved.floor.value("mIoU"), moved.floor_names[1]) == (pytest.approx(5 / 17.5), f"own answers {OF_VIDEO}")
    assert moved.scores.value("mIoU") == pytest.approx(5 / 17.5 if guess == OF_VIDEO else 0)


def test_answers_that_follow_hold_their_score(audited):
    results = audited(20.0, 30.0)
    finding = follows_moments.look(results)
    assert (finding.level, finding.holds, finding.figure) == ("good", True, 1.0)
    (moved,) = results.cached(follows_moments.moved_results)
    assert (moved.scores.value("R@1,IoU=0.5"), moved.floor.value("R@1,IoU=0.5")) == (1.0, 0.0)
    assert (moved.fall.difference.tolist(), moved.n_moved) == ([0.0, 0.0], 60)
    assert finding.evidence[:3] == (
        f"noise: 100.0 % of 60 answers follow, 0.0 % stay {FROM_START}: +100.0 points, 95 % interval +100.0 to +100.0",
        f"noise: 100.0 % of 60 answers follow, 0.0 % stay {OF_VIDEO}: +100.0 points, 95 % interval +100.0 to +100.0",
        f"noise: an answer that follows differs from one that stays {FROM_END} in 0 videos; 10 are needed",
    )


def test_half_of_the_answers_follow(with_floors, constant):
    """30 answers move, 20 stay, 10 are elsewhere: 50 % less 33.3 %."""
    parts = [(constant(AFTER, 20.0, 30.0), 30), (constant(AFTER, 10.0, 20.0), 20), (constant(AFTER, 40.0, 50.0), 10)]
    together = zip(parts, np.cumsum([n for _, n in parts]), strict=True)
    answers = Predictions.joined(
        [part.select_queries((np.arange(60) < end) & (np.arange(60) >= end - n)) for (part, n), end in together]
    )
    controls = Controls(moved={"noise": Moved(AFTER, answers)})
    results = with_floors(BEFORE, constant(BEFORE, 10.0, 20.0), {}, controls=controls)
    (moved,) = results.cached(follows_moments.moved_results)
    least = moved.least
    assert (least.guess, least.follow, least.stay) == (FROM_START, 0.5, pytest.approx(1 / 3))
    assert least.difference == pytest.approx(1 / 6)
    # Of 60 videos of a query each: the standard error is sqrt((50/60 - 1/36) / 59) = 0.117.
    assert least.ci95 == pytest.approx([1 / 6 - 1.96 * 0.117, 1 / 6 + 1.96 * 0.117], abs=0.05)


def test_too_few_videos_show_nothing(audited, constant):
    """Nine videos change: a share of nine has an interval that means little, and of one none."""
    moved = AFTER.select_queries(np.arange(60) < 9), BEFORE.select_queries(np.arange(60) >= 9)
    results = audited(20.0, 30.0)
    few = Annotations.joined(moved)
    controls = Controls(moved={"few": Moved(few, constant(few, 20.0, 30.0))})
    results.setup = dataclasses.replace(results.setup, controls=controls)
    finding = follows_moments.look(results)
    assert (finding.level, finding.holds, finding.figure) == ("note", None, None)
    (result,) = results.cached(follows_moments.moved_results)
    assert [(one.n_queries, one.n_videos) for one in result.against] == [(9, 9), (9, 9), (0, 0)]
    assert result.n_moved == 9


def test_answers_of_a_model_that_is_not_the_files_decide_nothing(audited, constant):
    almost = constant(BEFORE, 10.0, 19.0)
    results = audited(20.0, 30.0, changed={"original": almost, "frozen": almost})
    by_model = dataclasses.replace(results.setup.controls.moved["noise"], is_model=True)
    controls = dataclasses.replace(results.setup.controls, moved={"noise": by_model})
    results.setup = dataclasses.replace(results.setup, controls=controls)
    finding = follows_moments.look(results)
    assert (finding.level, finding.holds) == ("warning", None)
    assert "The file differs from what the model predicts now in 60 of 60 first answers" in finding.verdict


def test_answers_are_placed_to_rounding_and_cut_to_the_video():
    before, after = split(40.0, 10.0), split(24.0, 4.0)  # 6 s cut away in front, 10 s behind
    answers = Predictions.from_lists({"v0#0": [(2.0, 8.0), (30.0, 38.0)], "v1#0": [], "of no query": [(1.0, 2.0)]})
    placed = place_answers(before, after, answers)
    shown = [placed.following, *(placed.staying[guess] for guess in (FROM_START, OF_VIDEO, FROM_END))]
    starts = [[0, 24, 1], [2, 24, 1], [1.2, 18, 1], [0, 14, 1]]
    ends = [[2, 24, 2], [8, 24, 2], [4.8, 22.8, 2], [0, 22, 2]]
    for answer, start_s, end_s in zip(shown, starts, ends, strict=True):
        assert (answer.start_s.tolist(), answer.end_s.tolist()) == (pytest.approx(start_s), pytest.approx(end_s))
    assert not place_answers(before, before, answers).has_moved.any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.select_queries(np.arange(60) > 0), "found other queries than own/all, expected the same"),
        (lambda a: dataclasses.replace(a, duration_s=np.full(60, np.nan)), "found a video without a duration"),
        (lambda a: dataclasses.replace(a, end_s=a.end_s + 0.1), "query 'v0#0': start and end of its moments move by"),
    ],
)
def test_other_references_are_refused(tmp_path, change, message):
    write_annotations(tmp_path / "annotations.jsonl", change(AFTER))
    with pytest.raises(InputError) as caught:
        read_moved(tmp_path, BEFORE)
    assert message in str(caught.value)
    assert "annotations.jsonl" in str(caught.value)


def test_answers_of_a_model_need_those_on_the_original_videos(audited):
    controls = audited(20.0, 30.0).setup.controls
    moved = {"noise": dataclasses.replace(controls.moved["noise"], is_model=True)}
    with pytest.raises(UsageError, match="those on the original ones too"):
        Controls(moved=moved)


def test_a_protocol_that_drops_missing_answers_is_refused_there_too(audited):
    setup = audited(20.0, 30.0).setup
    few = setup.predictions.select_queries(np.arange(60) > 0)
    moved = {"noise": dataclasses.replace(setup.controls.moved["noise"], predictions=few)}
    dropping = setup.protocol.changed(missing="drop")
    with pytest.raises(UsageError, match="on noise videos"):
        AuditSetup(BEFORE, setup.predictions, setup.measures, dropping, controls=Controls(moved=moved))


# ---- Worlds whose truth is known: the figures of docs/features.md


@pytest.fixture(scope="module")
def in_world(with_floors, references_as_answers):
    """Give the finding and the results, by change, of the toy method on a world of 400 videos."""

    def make(perception, location_prior, query_prior):
        priors = {"location_prior": location_prior, "query_prior": query_prior}
        world = make_world(400, perception=perception, seed=0, **priors)
        train, val, test = (world.splits[name] for name in ("train", "val", "test-iid"))
        toy = ToyGrounder(world.features).fit(train, val)
        moved = {
            change: dataclasses.replace(one, is_model=False)
            for change, one in predict_on_moved(toy, test, MOVES, top=5, seed=0).items()
        }
        answers, floors = toy.ground(test.queries, 5), {"floor": references_as_answers(test)}
        results = with_floors(test, answers, floors, controls=Controls(moved=moved), resamples=1000)
        return follows_moments.look(results), results

    return make


def percents(results, value):
    return [round(100 * value(one), 1) for one in results.cached(follows_moments.moved_results)]


def test_answers_of_a_method_that_sees_follow(in_world):
    finding, results = in_world(0.9, 0.0, 0.0)
    assert (finding.level, finding.holds) == ("good", True)
    assert round(100 * results.scores.value("R@1,IoU=0.5"), 1) == 85.0
    assert percents(results, lambda one: one.scores.value("R@1,IoU=0.5")) == [84.4, 86.7, 70.6]
    assert percents(results, lambda one: one.least.follow) == [80.8, 85.4, 78.9]
    assert percents(results, lambda one: one.least.stay) == [7.2, 0.0, 0.0]
    noise, truncated, _ = results.cached(follows_moments.moved_results)
    for one in (noise, truncated):  # the score holds, within its interval
        assert one.fall.ci95[0, 0] <= 0 <= one.fall.ci95[0, 1]


def test_answers_of_a_method_that_knows_places_stay_at_their_share_of_the_video(in_world):
    finding, results = in_world(0.0, 0.5, 0.5)
    assert (finding.level, finding.holds) == ("serious", False)
    assert finding.verdict.endswith(f"on these videos: {', '.join(MOVES)}.")
    assert round(100 * results.scores.value("R@1,IoU=0.5"), 1) == 57.8
    assert percents(results, lambda one: one.scores.value("R@1,IoU=0.5")) == [15.0, 42.8, 5.0]
    assert [one.least.guess for one in results.cached(follows_moments.moved_results)] == [OF_VIDEO] * 3
    assert percents(results, lambda one: one.least.follow) == [0.0, 0.0, 0.0]
    assert percents(results, lambda one: one.least.stay) == [99.3, 98.2, 98.2]


@pytest.mark.thorough
def test_answers_of_a_method_that_knows_the_places_of_verbs_stay_too(in_world):
    finding, results = in_world(0.0, 0.0, 1.0)
    assert (finding.level, finding.holds) == ("serious", False)
    assert min(percents(results, lambda one: one.least.stay)) > 98
