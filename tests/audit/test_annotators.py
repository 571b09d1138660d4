"""Ceilings of annotators in an audit: where several are named, and nowhere else."""

from itertools import pairwise

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.audit import Case, audit
from truemoment.audit.floors import human_ceilings
from truemoment.diagnosis.agreement import Annotators
from truemoment.diagnosis.humans import consensus_scores, human_scores
from truemoment.evaluation import evaluate
from truemoment.measures import parse_measures
from truemoment.protocols import get_protocol
from truemoment.reports import audit as report
from truemoment.worlds import ToyGrounder, make_world

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
def audited(world):
    humans = mixed(world.humans["test-iid"])
    toy = ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"])
    case = Case(humans, toy.ground(humans.queries), MEASURES, DEFAULT, resamples=20, permutations=20)
    return audit(case, np.random.default_rng(0))


def test_they_are_of_the_queries_that_several_marked(audited):
    material = audited.material
    names = [rival.name for rival in material.ceilings]
    assert names == ["oracle", "perfect", "human-others", "human-another", "human-consensus"]
    others, another, consensus = material.ceilings[2:]
    annotators = Annotators.of(material.case.annotations)
    assert material.n_annotated == len(annotators) == material.case.annotations.n_queries // 2
    for rival, way in ((others, "nearest"), (another, "another")):
        alone = human_scores(annotators, way, "R@1,IoU=0.5; mIoU", DEFAULT, duplicates="kept").scores
        for measure in ("R@1,IoU=0.5", "mIoU"):
            assert rival.scores.value(measure) == pytest.approx(alone.value(measure), abs=1e-12)
            assert rival.scores.value("R@5,IoU=0.5") == rival.scores.value("R@1,IoU=0.5")  # one answer a person
        assert int((rival.scores.weight[0] > 0).sum()) == len(annotators)
        assert rival.scores.query_id.tolist() == material.scores.query_id.tolist()
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
    lines = report.lines(audited, source={"path": "preds.jsonl", "sha256": ""}, seed=0)
    n = audited.material.n_annotated
    assert f"ceilings of annotators: over {n} of {2 * n} queries, which several marked" in lines
    heading = " ".join(lines[lines.index("") :])
    assert (heading.count("Annotator"), heading.count("Consensus")) == (2, 1)
    document = report.document(audited, source={"path": "preds.jsonl", "sha256": ""}, seed=0)
    names = [ceiling["name"] for ceiling in document["ceilings"]]
    assert names[2:] == ["human-others", "human-another", "human-consensus"]
    undefined = document["ceilings"][3]["measures"][3]
    assert (undefined["measure"], undefined["value"]) == ("F1,IoU=0.5", None)


def test_the_references_pattern_is_still_that_of_the_references(audited, world):
    plain = mixed(world.humans["test-iid"])
    nameless = Annotations.from_rows(
        zip(plain.query_id, plain.video_id, plain.duration_s, plain.sentence, plain.start_s, plain.end_s, strict=True),
        dataset=plain.dataset,
        split=plain.split,
    )
    case = Case(nameless, audited.material.case.predictions, MEASURES, DEFAULT, resamples=20, permutations=20)
    without = audit(case, np.random.default_rng(0)).material
    assert [rival.name for rival in without.ceilings] == ["oracle", "perfect"]
    assert without.n_annotated == 0
    assert without.reference_pattern == audited.material.reference_pattern
    np.testing.assert_array_equal(without.ci95, audited.material.ci95[:-3])  # nothing else is drawn otherwise


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
