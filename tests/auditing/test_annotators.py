"""Ceilings of annotators in an audit: where several are named, and nowhere else."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.base.boundary.caching import Cache
from truemoment.base.boundary.documents import as_json
from truemoment.baselines.floors import NETWORK, FloorResult
from truemoment.evaluation.agreement import Annotators
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit import AuditSetup, Splits, audit, report
from truemoment.studies.audit.checks import answer_pattern, skill
from truemoment.studies.audit.floors import human_ceilings
from truemoment.studies.humans.scores import consensus_scores, human_scores
from truemoment.worlds import ToyGrounder, make_world

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_networks")]

MEASURES = parse_measures("R@1,IoU=0.5; R@5,IoU=0.5; mIoU; F1,IoU=0.5")
DEFAULT = get_protocol("default")


@pytest.fixture(scope="module")
def world():
    return make_world(100, perception=0.6, n_annotators=3, annotator_noise=0.15, seed=3)


def mixed(annotations):
    """Leave every second query one annotator."""
    rows = []
    for q, (first, last) in enumerate(pairwise(annotations.offsets.tolist())):
        for row in range(first, last if q % 2 else first + 1):
            names = ("query_id", "video_id", "duration_s", "sentence", "start_s", "end_s", "annotator")
            rows.append(tuple(getattr(annotations, name)[row] for name in names))
    return Annotations.from_rows(rows, dataset=annotations.dataset, split=annotations.split)


@pytest.fixture(scope="module")
def audit_of(world):
    def make(annotations, predictions):
        more = {"splits": Splits(world.splits["train"]), "resamples": 200, "permutations": 20, "cache": Cache.of_user()}
        return audit(AuditSetup(annotations, predictions, MEASURES, DEFAULT, **more), seed=0)

    return make


@pytest.fixture(scope="module")
def audited(world, audit_of):
    humans = mixed(world.humans["test-iid"])
    toy = ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"])
    return audit_of(humans, toy.ground(humans.queries))


def test_they_are_of_the_queries_that_several_marked(audited):
    results = audited.results
    names = [rival.name for rival in results.ceilings]
    assert names == ["oracle", "perfect", "human-others", "human-another", "human-consensus"]
    others, another, consensus = results.ceilings[2:]
    annotators = Annotators.of(results.setup.annotations)
    assert results.n_annotated == len(annotators) == results.setup.annotations.n_queries // 2
    for rival, way in ((others, "nearest"), (another, "another")):
        alone = human_scores(annotators, way, "R@1,IoU=0.5; mIoU", DEFAULT, duplicates="kept").scores
        for measure in ("R@1,IoU=0.5", "mIoU"):
            assert rival.scores.value(measure) == pytest.approx(alone.value(measure), abs=1e-12)
            assert rival.scores.value("R@5,IoU=0.5") == rival.scores.value("R@1,IoU=0.5")  # one answer a person
        assert int((rival.scores.weight[0] > 0).sum()) == len(annotators)
        assert rival.scores.query_id.tolist() == results.scores.query_id.tolist()
    assert others.scores.value("F1,IoU=0.5") > 0
    assert np.isnan(another.scores.value("F1,IoU=0.5"))  # of one other, sets of moments are no matter
    alone = consensus_scores(annotators, "R@1,IoU=0.5; mIoU", DEFAULT, duplicates="kept").scores
    for measure in ("R@1,IoU=0.5", "mIoU"):
        assert consensus.scores.value(measure) == pytest.approx(alone.value(measure), abs=1e-12)
        assert consensus.scores.value("R@5,IoU=0.5") == consensus.scores.value("R@1,IoU=0.5")
    assert np.isnan(consensus.scores.value("F1,IoU=0.5"))
    assert another.scores.value("mIoU") < consensus.scores.value("mIoU")  # the middle of two is nearer than one
    assert another.scores.value("mIoU") < others.scores.value("mIoU") < 1


def test_they_are_shown(audited):
    shown, n = report.report(audited), audited.results.n_annotated
    assert f"on {n} of {2 * n} queries, which several people annotated" in dict(shown.facts)["ceilings"]
    titles = [row[0].text.split()[0] for _, rows in shown.tables[0].groups for row in rows]
    assert (titles.count("Annotator"), titles.count("Consensus")) == (2, 1)
    document = as_json(report.document(audited))
    names = [ceiling["name"] for ceiling in document["ceilings"]]
    assert names[2:] == ["human-others", "human-another", "human-consensus"]
    of_people = [entry["ceiling"] for entry in document["human_skill"]]
    assert of_people == [ceiling["title"] for ceiling in document["ceilings"][2:]]
    undefined = document["ceilings"][3]["measures"][3]
    assert (undefined["measure"], undefined["value"]) == ("F1,IoU=0.5", None)


def test_the_references_pattern_is_still_that_of_the_references(audited, audit_of, world):
    plain = mixed(world.humans["test-iid"])
    nameless = Annotations.from_rows(
        zip(plain.query_id, plain.video_id, plain.duration_s, plain.sentence, plain.start_s, plain.end_s, strict=True),
        dataset=plain.dataset,
        split=plain.split,
    )
    without = audit_of(nameless, audited.results.setup.predictions).results
    assert [rival.name for rival in without.ceilings] == ["oracle", "perfect"]
    assert without.n_annotated == 0
    pattern = answer_pattern.reference_pattern
    assert without.cached(pattern) == audited.results.cached(pattern)
    # Nothing else is drawn otherwise; but floors that draw their answers draw them for the split, names included.
    drawn = [1 + number for number, floor in enumerate(without.floors) if floor.draws and floor.name != NETWORK]
    assert {without.floors[row - 1].name for row in drawn} == {
        *("prior-only", "action-aware", "uniform", "random-chance", "own-answers"),
    }
    np.testing.assert_array_equal(
        np.delete(without.ci95, drawn, axis=0), np.delete(audited.results.ci95[:-3], drawn, axis=0)
    )


def test_none_without_several_annotators(world):
    annotations = world.splits["test-iid"]
    answers = ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"]).ground(annotations.queries)
    scores = evaluate(annotations, answers, MEASURES)
    assert human_ceilings(annotations, MEASURES, DEFAULT, scores) == ([], 0)
    one = Annotations.from_rows(
        (q, v, d, s, start, end, "ann")
        for q, v, d, s, start, end in zip(
            *(getattr(annotations, name) for name in ("query_id", "video_id", "duration_s", "sentence")),
            *(annotations.start_s, annotations.end_s),
            strict=True,
        )
    )
    assert human_ceilings(one, MEASURES, DEFAULT, scores) == ([], 0)


# ---- Skill with people as the ceiling


@pytest.fixture(scope="module")
def of_people(with_floors):
    """Give the skill against people of a method, a floor and people that hit these queries of 120 in 40 videos.

    Only the first 90 queries have several annotators.
    """
    rows = [(f"v{v}#{k}", f"v{v}", 40.0, "a door opens", 0.0, 10.0) for v in range(40) for k in range(3)]
    annotations = Annotations.from_rows(rows)

    def answers(hits):
        moments = zip(annotations.query_id, hits, strict=True)
        return Predictions.from_lists({q: [(0.0, 10.0) if hit else (30.0, 40.0)] for q, hit in moments})

    def make(own, floor, people):
        results = with_floors(annotations, answers(own), {"floor": answers(floor)})
        of = answers(people)
        scores = results.evaluate(of)
        scores = dataclasses.replace(scores, weight=scores.weight * (np.arange(120) < 90))
        scores = dataclasses.replace(scores, numerator=scores.numerator * scores.weight)
        ceiling = FloorResult("human-another", "Annotator against one other", "ceiling", scores, of)
        results.__dict__["_ceilings"] = (*results.ceilings, ceiling), 90
        return results, skill.against_people(results)

    return make


def test_skill_with_people_is_over_the_queries_that_several_marked(of_people):
    """The floor hits one in five, the method two, people four, alike in every fifth of the first 90 queries.

    So (2 - 1) / (4 - 1); on the other 30 queries, where all differ from that, nobody is looked at.
    """
    fifth, last = np.arange(120) % 5, np.arange(120) >= 90
    results, [found] = of_people(np.where(last, False, fifth < 2), np.where(last, True, fifth < 1), fifth < 4)
    assert found.title == "Annotator against one other"
    assert (found.value, found.why) == (pytest.approx(1 / 3), "")
    assert found.ci95[0] <= 1 / 3 <= found.ci95[1]
    [line] = [line for line in skill.look(results).evidence if line.startswith("with people")]
    assert line.startswith("with people as the ceiling (Annotator against one other): 0.33, 95 % interval ")


def test_skill_with_people_is_undefined_unless_they_are_shown_to_be_above_the_floor(of_people):
    """People and floor hit queries drawn apart, each every second one: nothing is shown."""
    people, floor = (np.random.default_rng(seed).random(120) < 0.5 for seed in (0, 1))
    results, [found] = of_people(np.ones(120, dtype=bool), floor, people)
    assert np.isnan(found.value)
    assert found.why == "people are not shown to be above the strongest floor"
    assert f"with people as the ceiling (Annotator against one other): {found.why}" in skill.look(results).evidence
