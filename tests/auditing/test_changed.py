"""The audit of a model that is asked again, on changed videos."""

import dataclasses
import re

import numpy as np
import pytest

from truemoment.base.boundary.caching import Cache
from truemoment.base.boundary.documents import as_json
from truemoment.base.errors import UsageError
from truemoment.base.records import Predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.media.features.changed import CHANGES
from truemoment.report.render.html import page
from truemoment.studies.audit import AuditSetup, Controls, Results, Splits, audit, report
from truemoment.studies.audit.checks import better_than_guessing, changed_videos, uses_video, without_right_video
from truemoment.studies.audit.shuffled import predict_on_changed
from truemoment.worlds import ToyGrounder, make_world

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_networks")]

SOURCE = {"path": "preds.jsonl", "sha256": "ab" * 32}


def asked_again(perception, n_videos=240):
    """Give the case of a toy method on a world without priors, asked on changed videos too."""
    world = make_world(n_videos, location_prior=0.0, query_prior=0.0, perception=perception, seed=0)
    train, val, test = (world.splits[name] for name in ("train", "val", "test-iid"))
    toy = ToyGrounder(world.features).fit(train, val)
    changed = predict_on_changed(toy, test.queries, top=5, seed=0)
    return AuditSetup(
        annotations=test,
        predictions=changed["original"],
        measures=parse_measures("R@1,IoU=0.5; mIoU"),
        protocol=get_protocol("default"),
        splits=Splits(train=train, validation=val),
        controls=Controls(changed=changed),
        resamples=200,
        permutations=199,
        cache=Cache.of_user(),
    )


def replaced(case, **fields):
    """The same case with other fields."""
    return dataclasses.replace(case, **fields)


def finding(found, check):
    return next((f for f in found.findings if f.check == check), None)


@pytest.fixture(scope="module")
def seeing():
    return asked_again(0.9)


@pytest.fixture(scope="module")
def audit_of_seeing(seeing):
    return audit(seeing, seed=0)


def test_a_method_that_sees_loses_on_every_kind(audit_of_seeing, seeing):
    found = finding(audit_of_seeing, "looks-at-video")
    assert (found.level, found.holds) == ("good", True)
    assert finding(audit_of_seeing, "uses-video").holds is True
    changed = audit_of_seeing.results.cached(changed_videos.changed_videos)
    assert tuple(one.change for one in changed.controls) == CHANGES[1:]
    assert (changed.n_differing, changed.agrees) == (0, True)
    for one in changed.controls:
        # Each figure is what `evaluate` gives by itself, and the fall is the difference of two.
        alone = evaluate(seeing.annotations, seeing.controls.changed[one.change], seeing.measures, seeing.protocol)
        own = evaluate(seeing.annotations, seeing.predictions, seeing.measures, seeing.protocol)
        for m, measure in enumerate(seeing.measures):
            assert one.scores.value(measure) == alone.value(measure)
            assert one.fall.difference[m] == pytest.approx(own.value(measure) - alone.value(measure), abs=1e-12)
            assert one.ci95[m, 0] <= alone.value(measure) <= one.ci95[m, 1]
        assert one.displacement.share_unchanged < 0.5
    assert found.figure == min(one.fall.difference[0] for one in changed.controls)
    assert "The smallest loss is " in found.verdict


def test_a_method_that_sees_noise_is_not_shown_to_lose():
    found = audit(asked_again(0.0), seed=0)
    verdict = finding(found, "looks-at-video")
    assert (verdict.level, verdict.holds) == ("serious", False)
    assert "No loss is shown by these changes: " in verdict.verdict


def test_shuffled_answers_come_from_the_model_unless_given(audit_of_seeing, seeing):
    assert audit_of_seeing.results.cached(changed_videos.shuffled_control).answers is not None
    shuffled = audit_of_seeing.results.cached(changed_videos.shuffled_control).scores.value("R@1,IoU=0.5")
    by_way = {
        one.change: one.scores.value("R@1,IoU=0.5")
        for one in audit_of_seeing.results.cached(changed_videos.changed_videos).controls
    }
    assert shuffled == by_way["shuffled"]
    given = audit(replaced(seeing, controls=dataclasses.replace(seeing.controls, shuffled=seeing.predictions)), seed=0)
    assert given.results.cached(changed_videos.shuffled_control).displacement.share_unchanged == 1
    assert finding(given, "uses-video").holds is False


def test_other_draws_stay_as_they_were(audit_of_seeing, seeing):
    """What changed videos draw is drawn apart: the rest of the audit has the intervals it has without them."""
    without = audit(replaced(seeing, controls=Controls(shuffled=seeing.controls.changed["shuffled"])), seed=0)
    assert without.results.cached(changed_videos.changed_videos) is None
    assert finding(without, "looks-at-video") is None
    assert np.array_equal(without.results.ci95, audit_of_seeing.results.ci95)
    assert np.array_equal(
        without.results.cached(changed_videos.shuffled_control).fall.ci95,
        audit_of_seeing.results.cached(changed_videos.shuffled_control).fall.ci95,
    )


def moved_by(predictions, seconds, n):
    """The same answers, those to the first n queries moved."""
    start, end = predictions.start_s.copy(), predictions.end_s.copy()
    rows = slice(0, int(predictions.offsets[n]))
    start[rows] += seconds
    end[rows] += seconds
    return Predictions(predictions.query_id, predictions.offsets, start, end, predictions.score, predictions.name)


def n_differing(case):
    return Results(case, 0).cached(changed_videos.changed_videos).n_differing


def test_a_file_that_is_not_the_models_is_told(seeing):
    other = replaced(seeing, predictions=moved_by(seeing.predictions, 1.0, 30))
    found = audit(other, seed=0)
    verdict = finding(found, "looks-at-video")
    assert (verdict.level, verdict.holds) == ("warning", None)
    assert "The file differs from what the model predicts now in 30 of " in verdict.verdict
    assert found.results.cached(changed_videos.changed_videos).n_differing == 30
    assert finding(found, "uses-video") is None  # answers of a model that is not the file's say nothing of the file
    assert report.document(found)["changed"]["agrees"] is False
    # One in a hundred may differ, and by less than a thousandth of the video every one.
    near = replaced(seeing, predictions=moved_by(seeing.predictions, 1e-4, 30))
    assert n_differing(near) == 0
    fewer = seeing.predictions.select_queries(np.arange(len(seeing.predictions)) >= 4)
    assert n_differing(replaced(seeing, predictions=fewer)) == 4


def test_answers_on_changed_videos_need_the_original(seeing):
    with pytest.raises(UsageError, match="those on the original ones too"):
        replaced(seeing, controls=Controls(changed={"frozen": seeing.controls.changed["frozen"]}))
    dropping = get_protocol("default,missing=drop")
    short = seeing.controls.changed["frozen"].select_queries(np.arange(len(seeing.predictions)) > 0)
    with pytest.raises(UsageError, match="on frozen videos"):
        replaced(seeing, controls=Controls(changed={**seeing.controls.changed, "frozen": short}), protocol=dropping)


def test_reports_tell_every_way(audit_of_seeing, seeing):
    document = as_json(report.document(audit_of_seeing))["changed"]
    assert document["n_differing"] == 0
    assert [way["way"] for way in document["ways"]] == list(CHANGES[1:])
    changed = audit_of_seeing.results.cached(changed_videos.changed_videos)
    (frozen,) = (one for one in changed.controls if one.change == "frozen")
    told = next(way for way in document["ways"] if way["way"] == "frozen")
    assert told["measures"][0]["value"] == frozen.scores.value("R@1,IoU=0.5")
    assert told["measures"][0]["fall"]["difference"] == frozen.fall.difference[0]
    assert told["unchanged"]["value"] == frozen.displacement.share_unchanged
    assert told["n_queries"] == seeing.annotations.n_queries
    (drawn,) = (one for one in report.report(audit_of_seeing).drawings if one.name == "changed")
    assert [row.label for row in drawn.rows] == [
        "original",
        "segments shuffled",
        "played backwards",
        "frozen",
        "another video",
    ]
    figures = [seeing.controls.changed[way] for way in CHANGES]
    expected = [
        100 * evaluate(seeing.annotations, of, seeing.measures, seeing.protocol).value("R@1,IoU=0.5") for of in figures
    ]
    assert [row.marks[0].value for row in drawn.rows] == pytest.approx(expected)


def test_without_a_model_nothing_is_told_of_changed_videos(seeing):
    found = audit(replaced(seeing, controls=Controls(changed={})), seed=0)
    document = report.document(found)
    assert (document["changed"], document["caution"], document["shuffled"]) == (None, "", None)
    assert "changed" not in {one.name for one in report.report(found).drawings}


def test_a_caution_and_the_model_stand_in_every_report(seeing):
    sources = {**SOURCE, "model": {"path": "runs/a", "name": "toy", "features": "made up"}}
    found = audit(
        replaced(seeing, controls=dataclasses.replace(seeing.controls, caution="Simulated: <b>not</b> real.")),
        seed=0,
        sources=sources,
    )
    facts = dict(report.report(found).facts)
    assert (facts["caution"], facts["model"]) == ("Simulated: <b>not</b> real.", "toy (runs/a), features made up")
    text = page(report.report(found))
    assert "Simulated: &lt;b&gt;not&lt;/b&gt; real." in text
    assert "toy (runs/a), features made up" in text
    assert 'id="figure-changed"' in text
    tables = re.findall(r"<table(?:(?!</table>).)*played backwards.*?</table>", text, re.DOTALL)
    assert tables[0].count("<tr") == 1 + 5  # headings, original and four ways
    assert report.document(found)["caution"] == "Simulated: <b>not</b> real."


# ---- What remains without the right video


@pytest.fixture(scope="module")
def asked(invented, constant, references_as_answers, with_floors):
    """Give results of a method that is always right, and on shuffled videos on the first `n` of 120 queries only."""
    test = invented("test", 60, 1)
    right = references_as_answers(test)

    def make(n, **more):
        keep = np.arange(120) < n
        shuffled = Predictions.joined([right.select_queries(keep), constant(test, 45.0, 50.0).select_queries(~keep)])
        return with_floors(
            test, right, {"floor": constant(test, 0.0, 10.0)}, controls=Controls(shuffled=shuffled), **more
        )

    return make


@pytest.mark.parametrize(
    ("n", "level", "holds"),
    [
        *[(0, "good", True), (59, "good", True), (60, "note", True), (95, "note", True)],
        *[(96, "warning", False), (113, "warning", False), (114, "serious", False), (120, "serious", False)],
    ],
)
def test_what_remains_is_a_share_of_the_score(asked, n, level, holds):
    """Good below half of the score, a note below 0.8, a warning below 0.95; the gate asks for less than 0.8."""
    results = asked(n)
    found = without_right_video.look(results)
    assert (found.level, found.holds, found.figure) == (level, holds, pytest.approx(n / 120))
    assert f"the model still has {100 * n / 120:.2f} of 100.00, 95 % interval" in found.verdict
    [remaining] = results.cached(without_right_video.remaining_shares)
    assert remaining.ci95[0] <= n / 120 <= remaining.ci95[1]
    assert (remaining.ci95[0] < remaining.ci95[1]) == (0 < n < 120)


def test_controls_are_no_blind_baselines(asked):
    """Shuffled answers that are all right neither take the title away nor are counted; that is a finding of its own."""
    results = asked(120)
    verdict = better_than_guessing.look(results)
    assert (verdict.holds, "the 1 blind baseline tried" in verdict.verdict) == (None, True)  # no training split: None
    assert results.verdict.kind(0) == "better"
    assert uses_video.look(results).holds is False
    assert (
        without_right_video.look(results)
        .evidence[-1]
        .endswith("not blind baselines, and do not count among the floors")
    )


def test_every_control_stands_beside_the_floor_and_the_worst_leads(audit_of_seeing, seeing):
    found = finding(audit_of_seeing, "without-right-video")
    remaining = audit_of_seeing.results.cached(without_right_video.remaining_shares)
    assert tuple(one.control.change for one in remaining) == CHANGES[1:]

    def value(way):
        predictions = seeing.controls.changed[way]
        return evaluate(seeing.annotations, predictions, seeing.measures, seeing.protocol).value("R@1,IoU=0.5")

    for one in remaining:
        assert one.share == pytest.approx(value(one.control.change) / value("original"))
    assert found.figure == max(one.share for one in remaining)
    strongest = audit_of_seeing.results.strongest_scores.value("R@1,IoU=0.5")
    assert f", has {100 * strongest:.2f}." in found.verdict
    assert [line.partition(":")[0] for line in found.evidence[:-1]] == [one.control.words for one in remaining]


def test_no_score_leaves_nothing_to_keep(asked, constant):
    """A method without a hit has no share to state: the check does not apply."""
    results = asked(0)
    silent = constant(results.annotations, 45.0, 50.0)
    case = dataclasses.replace(results.setup, predictions=silent)
    assert without_right_video.look(Results(case, 0)) is None
