"""The declaration that a method reads one sentence at a time: what the verdict is against, and what takes it back."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.base.boundary.caching import Cache
from truemoment.base.boundary.documents import as_json
from truemoment.base.errors import UsageError
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit import AuditSetup, Controls, Splits, audit
from truemoment.studies.audit import report as reports
from truemoment.studies.audit.checks import reads as check
from truemoment.studies.audit.order_following import ALONE, LEAST_SHARE, SHUFFLED, UNTESTED, OrderFollowing

pytestmark = pytest.mark.usefixtures("quick_networks")


@functools.cache
def paragraphs(seed, n_videos):
    """Videos of three to six sentences of equal words, whose moments follow each other in the order of the file."""
    rng = np.random.default_rng(seed)
    rows = []
    for v in range(n_videos):
        n = int(rng.integers(3, 7))
        starts = np.sort(rng.uniform(0, 0.9, n))
        for k, start in enumerate(starts.tolist()):
            end = min(1.0, start + rng.uniform(0.05, 0.3))
            rows.append((f"{seed}v{v}#{k}", f"{seed}v{v}", 60.0, "somebody waits", 60 * start, 60 * end))
    return Annotations.from_rows(rows, split=f"s{seed}")


def answers(test, kind):
    """Answers of a method that sees some moments, and guesses the others alone or by their place in the file."""
    rng, found, counts = np.random.default_rng(5), {}, {}
    videos = test.queries.video_id.tolist()
    for row, (query, video) in enumerate(zip(test.queries.query_id.tolist(), videos, strict=True)):
        k = counts[video] = counts.get(video, -1) + 1
        start = 60 * (k + 0.5) / videos.count(video) if kind == "order" else rng.uniform(0, 48)
        seen = kind == "sees" and rng.random() < 0.4
        moment = (test.start_s[row], test.end_s[row]) if seen else (min(start, 50.0), min(start, 50.0) + 10)
        found[query] = [tuple(map(float, moment))]
    return Predictions.from_lists(found, name=kind)


@functools.cache
def audited(kind, declared, orders=()):
    test, train = paragraphs(1, 60), paragraphs(2, 150)
    predictions = answers(test, kind)
    controls = Controls(changed={"original": predictions}, orders=dict(orders)) if orders else Controls()
    setup = AuditSetup(
        annotations=test,
        predictions=predictions,
        measures=parse_measures("R@1,IoU=0.5"),
        protocol=get_protocol("default"),
        splits=Splits(train=train),
        controls=controls,
        resamples=200,
        permutations=999,
        cache=Cache.of_user(),
        reads=declared,
    )
    return audit(setup)


CONTEXT = {"order-table", "paragraph-network"}


def of(found, name="reads"):
    return next((finding for finding in found.findings if finding.check == name), None)


def test_without_a_declaration_all_floors_count_and_the_option_is_named():
    found = audited("sees", None)
    assert {floor.name for floor in found.results.floors} >= CONTEXT
    assert "--reads sentence" in dict(reports.report(found).facts)["reads"]
    assert "2 floors that read the video's other sentences" in of(found).verdict
    assert "2 of which read" in found.findings[0].verdict


def test_a_declaration_that_stands_puts_the_context_floors_beside():
    every, found = audited("sees", None), audited("sees", "sentence")
    assert {floor.name for floor in found.results.context} == CONTEXT
    assert not {floor.name for floor in found.results.floors} & CONTEXT
    assert len(found.results.floors) == len(every.results.floors) - 2
    assert "tried that read one sentence at most, as declared" in found.findings[0].verdict
    assert (of(found).level, of(found).holds) == ("good", True)
    assert "not counted, because it reads the video's other sentences: Order table" in " ".join(
        found.findings[0].evidence
    )
    document = as_json(reports.document(found))
    assert {floor["name"] for floor in document["context_floors"]} == CONTEXT
    assert (document["reads"]["declared"], document["reads"]["stands"]) == ("sentence", True)
    assert document["reads"]["following"]["share"]["value"] < 0.15
    # The figures of the floors are those without a declaration: they only stand elsewhere.
    values = {floor["name"]: floor["measures"][0]["value"] for floor in document["context_floors"]}
    before = {floor["name"]: floor["measures"][0]["value"] for floor in as_json(reports.document(every))["floors"]}
    assert values == {name: before[name] for name in CONTEXT}


def test_answers_that_follow_the_order_take_it_back():
    found = audited("order", "sentence")
    assert {floor.name for floor in found.results.floors} >= CONTEXT
    assert found.results.context == ()
    assert (of(found).level, of(found).holds) == ("serious", False)
    assert of(found).figure > LEAST_SHARE
    assert found.findings[0].verdict == audited("order", None).findings[0].verdict
    assert "which its answers contradict" in dict(reports.report(found).facts)["reads"]
    assert as_json(reports.document(found))["reads"]["stands"] is False


@pytest.mark.parametrize("moves", [False, True])
def test_a_model_that_answers_otherwise_alone_takes_it_back(moves):
    test = paragraphs(1, 60)
    own = answers(test, "sees")
    other = answers(test, "order") if moves else own
    found = audited("sees", "sentence", ((ALONE, other), (SHUFFLED, own)))
    assert of(found).holds is not moves
    assert bool(found.results.context) is not moves
    shares = as_json(reports.document(found))["reads"]["answered_otherwise"]
    assert (shares[ALONE] > 0.5, shares[SHUFFLED]) == (moves, 0.0)
    assert "0.0 % of the queries in shuffled order" in of(found).verdict


def test_a_model_that_answers_the_same_alone_decides():
    own = answers(paragraphs(1, 60), "order")  # what the test would find
    found = audited("order", "sentence", ((ALONE, own), (SHUFFLED, own)))
    assert found.results.declaration.following.contradicts
    assert of(found).holds is True


@pytest.mark.parametrize(
    ("following", "level", "holds"),
    [
        (OrderFollowing(0.11, (0.05, 0.18), 0.002, 4001, 25), "warning", True),  # a blind network's answers on TACoS
        (OrderFollowing(0.11, (0.05, 0.18), 0.02, 4001, 25), "good", True),
        (UNTESTED, "note", None),
    ],
)
def test_what_is_not_contradicted_is_not_always_good(following, level, holds, monkeypatch):
    results = audited("sees", "sentence").results
    monkeypatch.setitem(vars(results), "declaration", results.declaration._replace(following=following))
    found = check.look(results)
    assert (found.level, found.holds) == (level, holds)


def test_it_has_no_effect_where_no_floor_reads_more(with_floors, constant):
    test = paragraphs(1, 60)
    results = with_floors(test, constant(test, 0.0, 5.0), {"other": constant(test, 0.0, 5.0)}, reads="sentence")
    assert "has no effect" in check.look(results).verdict
    assert check.look(with_floors(test, constant(test, 0.0, 5.0), {"other": constant(test, 0.0, 5.0)})) is None


def test_what_is_no_declaration_is_refused():
    test = paragraphs(1, 60)
    with pytest.raises(UsageError, match="reads: got 'words', expected "):
        AuditSetup(test, answers(test, "sees"), parse_measures("mIoU"), get_protocol("default"), reads="words")
