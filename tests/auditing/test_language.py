"""Classes of sentences in an audit: a planted class is found, and nothing is where the method is alike everywhere."""

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.baselines.floors import NETWORK
from truemoment.evaluation.uncertainty import LEVEL
from truemoment.studies.audit.checks import language_classes as check

SENTENCES = ("a person opens a door", "a person never opens the door", "then a person sits", "two people sit")


@pytest.fixture(scope="module")
def split():
    """60 videos of four queries, with no mark, a negation, an order and a count; moments of 10 s anywhere in 40 s."""
    rng, rows = np.random.default_rng(0), []
    for v in range(60):
        for k, sentence in enumerate(SENTENCES):
            start = float(rng.uniform(0, 30))
            rows.append((f"v{v}#{k}", f"v{v}", 40.0, sentence, start, start + 10))
    return Annotations.from_rows(rows, dataset="invented", split="test")


def answers_that_hit(annotations, hits):
    rows = zip(annotations.query_id, annotations.start_s, annotations.end_s, hits, strict=True)
    return Predictions.from_lists({q: [(s, e) if hit else (39.5, 40.0)] for q, s, e, hit in rows})


@pytest.fixture(scope="module")
def planted(split, with_floors):
    """The method hits 80 %, of negations 30 %; the network hits 30 %."""
    rng = np.random.default_rng(1)
    own = rng.random(240) < np.tile([0.8, 0.3, 0.8, 0.8], 60)
    blind = rng.random(240) < 0.3
    return own, blind, with_floors(split, answers_that_hit(split, own), {NETWORK: answers_that_hit(split, blind)})


def test_a_planted_class_is_found_and_no_class_has_too_much(planted):
    own, blind, results = planted
    found = results.cached(check.language_gains)
    assert [(of.family, of.n_queries, of.n_videos) for of in found] == [
        ("temporal order", 60, 60),
        ("negation", 60, 60),
        ("counting", 60, 60),
    ]
    negation = found[1]
    inside = np.arange(240) % 4 == 1
    assert negation.contrast.q <= LEVEL
    assert (negation.value, negation.blind) == pytest.approx((own[inside].mean(), blind[inside].mean()))
    finding = check.look(results)
    assert (finding.level, finding.holds, finding.figure) == ("warning", None, negation.contrast.value)
    assert "on sentences with a negation" in finding.verdict


def test_the_document_has_every_class(planted):
    _, _, results = planted
    classes = check.document(results)["language_classes"]
    assert [of["class"] for of in classes] == ["temporal order", "negation", "counting"]
    for of in classes:
        assert of["gain"]["value"] == pytest.approx(of["method"] - of["network"])
        assert of["difference"]["value"] == pytest.approx(of["gain"]["value"] - of["gain_elsewhere"])
        assert of["difference"]["ci95"][0] <= of["difference"]["value"] <= of["difference"]["ci95"][1]


def test_alike_everywhere_is_a_note_without_a_figure(split, with_floors):
    rng = np.random.default_rng(3)
    own, blind = rng.random(240) < 0.6, rng.random(240) < 0.3
    results = with_floors(split, answers_that_hit(split, own), {NETWORK: answers_that_hit(split, blind)})
    finding = check.look(results)
    assert (finding.level, finding.holds, finding.figure) == ("note", None, None)


def test_without_such_sentences_there_is_no_finding(split, with_floors):
    plain = split.select_queries(np.arange(240) % 4 == 0)
    answers = answers_that_hit(plain, np.arange(60) < 20)
    results = with_floors(plain, answers, {NETWORK: answers})
    assert check.look(results) is None
    assert check.blocks(results) == {}
    assert check.document(results) == {"language_classes": []}
