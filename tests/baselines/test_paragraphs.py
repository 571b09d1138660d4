"""The floors that read all sentences of a video: the place of each, the chain, what they learn from order alone."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.boundary.caching import Cache
from truemoment.baselines import ExpectedValue, OrderTable, ParagraphNetwork, SentenceNetwork
from truemoment.baselines.floors import Setting, run_floors
from truemoment.baselines.paragraph_network import marginals, paragraph_terms, ratios_of_pairs, steps_of
from truemoment.data.language.paragraphs import Paragraphs, order_of_starts, part_of_paragraph
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import PROTOCOLS

MEASURE = "R@1,IoU=0.5"


def paragraphs(seed, n_videos=150, *, shuffled=False):
    """Videos of four sentences of equal words whose moments follow each other, in the order of the file or shuffled."""
    rng = np.random.default_rng(seed)
    rows = []
    for v in range(n_videos):
        order = rng.permutation(4) if shuffled else np.arange(4)
        for number, k in enumerate(order.tolist()):
            start, end = 0.25 * k + rng.uniform(0, 0.03), 0.25 * (k + 1) - rng.uniform(0, 0.03)
            word = rng.choice(["man", "woman"])
            rows.append((f"{seed}v{v}#{number}", f"{seed}v{v}", 60.0, f"a {word} waits", 60 * start, 60 * end))
    return Annotations.from_rows(rows, split=f"s{seed}{shuffled}")


def figure(method, test):
    return evaluate(test, method.ground(test.queries), MEASURE).value(MEASURE)


def test_places_and_neighbours():
    # By hand: rows 0, 2 and 3 are video a, rows 1 and 4 video b.
    rows = [("0", "a"), ("1", "b"), ("2", "a"), ("3", "a"), ("4", "b")]
    starts = [5.0, 3.0, 1.0, 2.0, 4.0]
    annotations = Annotations.from_rows(
        [(q, v, 30.0, "x", start, 20.0) for (q, v), start in zip(rows, starts, strict=True)]
    )
    order = Paragraphs.of(annotations.queries)
    assert [column.tolist() for column in order.place] == [[0, 0, 1, 2, 1], [3, 2, 3, 3, 2]]
    assert [column.tolist() for column in order.neighbours] == [[-1, -1, 0, 2, 1], [2, 4, 3, -1, -1]]
    assert [column.tolist() for column in order.pairs] == [[0, 2, 1], [2, 3, 4]]
    by_start, _ = Paragraphs.by_start(annotations).place
    assert by_start.tolist() == [2, 0, 0, 1, 1]
    assert part_of_paragraph(np.array([0, 1, 2]), np.array([3, 3, 3]), 6).tolist() == [1, 3, 5]
    assert order_of_starts(annotations)[:3] == (2 / 3, 1 / 3, 3)  # a: 5 -> 1 -> 2, b: 3 -> 4


def test_no_query_and_single_sentences():
    nothing = Paragraphs.of(Annotations.from_rows([]).queries)
    assert [len(column) for column in (*nothing.place, *nothing.neighbours, *nothing.pairs)] == [0] * 6
    alone = Annotations.from_rows([(f"q{v}", f"v{v}", 30.0, "x", 1.0, 5.0) for v in range(3)])
    assert Paragraphs.of(alone.queries).place[1].tolist() == [1, 1, 1]
    assert not order_of_starts(alone).informs


def test_long_paragraphs_are_cut():
    # By hand: five sentences of one video and one of another, in parts of two.
    order = Paragraphs.of_videos(np.array(["a", "a", "b", "a", "a", "a"], dtype=object)).cut(2)
    assert order.first.tolist() == [0, 2, 4, 5, 6]
    assert order.rows.tolist() == [0, 1, 3, 4, 5, 2]


def test_steps_are_half_as_long_where_moments_are_short():
    def of_length(seconds):
        return Annotations.from_rows([(f"q{k}", f"v{k}", 100.0, "x", k, k + seconds) for k in range(9)])

    assert [steps_of(of_length(seconds)) for seconds in (9.9, 10.0)] == [40, 20]


def test_terms_of_a_paragraph():
    annotations = Annotations.from_rows(
        [("0", "a", 30.0, "a door opens", 0.0, 5.0), ("1", "a", 30.0, "He leaves", 5.0, 9.0)]
    )
    first, second = paragraph_terms(annotations.queries)
    assert {"door", "a door", "#0", "/2", "-2", "#0/2"} <= first
    assert {"leaves", "he leaves", "#1", "/2", "-1", "#1/2"} <= second


def test_the_chain_is_the_sum_over_all_paths():
    # Slow: every path of cells of every video, its product of probabilities and ratios.
    rng = np.random.default_rng(0)
    annotations = Annotations.from_rows(
        [(f"q{k}", f"v{video}", 30.0, "x", 0.0, 5.0) for k, video in enumerate([0, 1, 0, 1, 0, 2])]
    )
    probabilities, ratios, start = rng.dirichlet(np.ones(4), 6), rng.random((4, 3)), np.array([0, 0, 1, 2])
    found = marginals(probabilities, Paragraphs.of(annotations.queries), ratios, start)
    expected = np.zeros((6, 4))
    for rows in ([0, 2, 4], [1, 3], [5]):
        for path in itertools.product(range(4), repeat=len(rows)):
            weight = np.prod([probabilities[row, cell] for row, cell in zip(rows, path, strict=True)])
            weight *= np.prod([ratios[k, start[following]] for k, following in itertools.pairwise(path)])
            for row, cell in zip(rows, path, strict=True):
                expected[row, cell] += weight
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)


def test_pairs_that_follow_each_other_are_more_frequent_than_by_chance():
    # By hand: each moment ends in the step before its quarter's end, and the next one starts there.
    ratios = ratios_of_pairs(paragraphs(1), 20)
    assert ratios[4, 5] > 2
    assert ratios[4, 15] < 1


@pytest.mark.slow
@pytest.mark.parametrize("make", [OrderTable, lambda: ExpectedValue(ParagraphNetwork.of(np.random.default_rng(0)))])
def test_order_alone_tells_the_place(make):
    # Words tell nothing here: a constant finds a quarter of the moments; the order finds all, until it is shuffled.
    fitted = make().fit(paragraphs(1))
    assert figure(fitted, paragraphs(2)) > 0.95
    assert figure(fitted, paragraphs(2, shuffled=True)) < 0.4


def test_a_loader_that_sorts_gives_the_order_away():
    test = paragraphs(2, shuffled=True)
    control = OrderTable(references=test).fit(paragraphs(1, shuffled=True))
    assert figure(control, test) > 0.97


def test_the_order_table_in_figures():
    # By hand: every first sentence of two is in 0 to 50 %, every second one in 50 to 100 %.
    rows = [(f"{v}{k}", f"v{v}", 10.0, "x", 5.0 * k, 5.0 * k + 5) for v in range(20) for k in range(2)]
    table = OrderTable("mIoU").fit(Annotations.from_rows(rows))
    answers = table.ground(Annotations.from_rows(rows[:2]).queries)
    assert answers.start_s.tolist() == [0.0, 5.0]
    assert answers.end_s.tolist() == [5.0, 10.0]


@pytest.mark.slow
@pytest.mark.parametrize("shuffled", [False, True])
def test_they_are_floors_where_the_order_informs(shuffled, monkeypatch):
    names = ("sentence-network", "order-table", "paragraph-network")
    monkeypatch.setattr("truemoment.baselines.floors.FLOORS", names[shuffled:])
    train, test = paragraphs(1, shuffled=shuffled), paragraphs(2, shuffled=shuffled)
    assert order_of_starts(train).informs != shuffled
    floors, _ = run_floors(Setting(test, parse_measures(MEASURE), PROTOCOLS["default"], train=train))
    names = {floor.name: floor for floor in floors}
    if shuffled:
        assert not {"order-table", "paragraph-network"} & names.keys()
    else:
        assert names["order-table"].scores.value(MEASURE) > 0.97
        assert names["paragraph-network"].scores.value(MEASURE) > 0.95
        assert names["sentence-network"].scores.value(MEASURE) < 0.4
        assert 0 < names["sentence-network"].training_spread < 0.05
        assert names["order-table"].training_spread == 0


@pytest.fixture(scope="module")
def fitted():
    return ParagraphNetwork.of(np.random.default_rng(0)).fit(paragraphs(1, 40))


def test_a_single_member_has_the_weights_of_a_resample(fitted):
    # a = 0: the network with a memory alone; a = 1: the sentence network alone; g = 0: no chain.
    queries = paragraphs(2, 10).queries
    apart = replace(fitted, weights=np.array([[0.5, 0.0], [0.0, 0.0], [1.0, 0.0]]))
    members = apart.members(queries)
    np.testing.assert_allclose(members[0], fitted.context.members(queries)[0], rtol=1e-9)
    np.testing.assert_allclose(members[1], fitted.sentence.members(queries)[1], rtol=1e-9)
    own, context = fitted.sentence.probabilities(queries), fitted.context.probabilities(queries)
    both = np.sqrt(own * context)
    np.testing.assert_allclose(apart.probabilities(queries), both / both.sum(axis=1, keepdims=True), rtol=1e-9)
    assert fitted.weights.shape == (1 + 8, 2)


def test_a_network_that_was_kept_answers_as_before(fitted):
    train, test = paragraphs(1, 40), paragraphs(2, 10)
    again = ParagraphNetwork(np.random.default_rng(0), fitted.sentence).unpacked(fitted.packed(), train)
    assert np.array_equal(fitted.probabilities(test.queries), again.probabilities(test.queries))
    assert isinstance(fitted.sentence, SentenceNetwork)


def test_another_process_changes_nothing(tmp_path, monkeypatch):
    train, test = paragraphs(1, 40), paragraphs(2, 20)
    measures = parse_measures(f"{MEASURE}; mIoU")
    monkeypatch.setattr(
        "truemoment.baselines.floors.FLOORS", ("best-constant", "sentence-network", "paragraph-network")
    )
    alone, _ = run_floors(Setting(test, measures, PROTOCOLS["default"], train=train))
    monkeypatch.setattr("truemoment.baselines.floors.LONG_S", 0.0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    both, _ = run_floors(Setting(test, measures, PROTOCOLS["default"], train=train, cache=Cache(tmp_path)))
    assert [of.name for of in both] == [of.name for of in alone]
    for one, other in zip(alone, both, strict=True):
        assert np.array_equal(one.scores.numerator, other.scores.numerator)
        assert one.training_spread == other.training_spread
