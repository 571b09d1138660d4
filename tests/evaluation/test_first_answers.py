"""The pattern of first answers, against slow loops and methods known to guess."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions, read_predictions
from truemoment.base.errors import UsageError
from truemoment.data.datasets import load_annotations
from truemoment.studies.evaluate.first_answers import CommonAnswer, answer_pattern, first_answers, is_shared

nan = float("nan")
GRIDS = ("multiples of 5 s", "multiples of 1 s", "multiples of 10 % of the video", "multiples of 5 % of the video")


def on_grids(pattern):
    return [pattern.on_grid[name] for name in GRIDS]


@pytest.mark.parametrize("seed", range(5))
def test_pattern_against_a_slow_loop(world, seed):
    w = world(seed, n_queries=60, longest_quarters=24)
    pattern = answer_pattern(w.annotations, w.predictions)
    first = {query: w.ranked(query)[0] for query in w.references if w.ranked(query)}
    assert (pattern.n_queries, pattern.n_answered, pattern.n_normalised) == (60, len(first), len(first))
    share = dict.fromkeys(GRIDS, 0)
    comparable = repeated = references = 0
    for query, answer in first.items():
        shares = [time / w.duration[query] for time in answer]
        for name, times, step in zip(GRIDS, (answer, answer, shares, shares), (5, 1, "1/10", "1/20"), strict=True):
            share[name] += all((time / type(time)(step)).denominator == 1 for time in times)
        others = [q for q in first if q != query and q.split("#")[0] == query.split("#")[0]]
        comparable += bool(others)
        repeated += any(first[other] == answer for other in others)
        references += any(w.references[other][0] == w.references[query][0] for other in others)
    assert on_grids(pattern) == [share[name] / len(first) for name in GRIDS]
    assert pattern.n_comparable == comparable > 0
    assert pattern.repeated == repeated / comparable
    assert pattern.repeated_references == references / comparable
    cells = Counter(
        tuple(float(round(100 * time / w.duration[query])) / 100 for time in answer) for query, answer in first.items()
    )
    assert pattern.n_distinct == len(cells)
    most = [common.share for common in pattern.most_common]
    assert most == sorted((count / len(first) for count in cells.values()), reverse=True)[:5]
    assert all(cells[common.start_norm, common.end_norm] / len(first) == common.share for common in pattern.most_common)


def videos(n, durations=(31.7, 20.3, 47.9)):
    """Three queries a video, of different sentences and references."""
    return Annotations.from_rows(
        [(f"v{k}#{j}", f"v{k}", durations[k % 3], f"sentence {j}", 1.0 + j, 9.0) for k in range(n) for j in range(3)]
    )


def test_one_constant_answer():
    annotations = videos(10)
    duration_s = annotations.queries.duration_s
    answers = {q: [(0.0, round(0.3 * d, 2))] for q, d in zip(annotations.query_id, duration_s, strict=True)}
    pattern = answer_pattern(annotations, Predictions.from_lists(answers))
    # Written to a hundredth of a second, 30 % is 30 % to within 1 % of the video, but on no grid of it.
    assert pattern.most_common == (CommonAnswer(0.0, 0.3, 1.0),)
    assert (pattern.n_distinct, pattern.repeated, pattern.repeated_references) == (1, 1.0, 0.0)
    assert pattern.on_grid["multiples of 5 s"] == 0
    exact = {q: [(0.0, 0.3 * d)] for q, d in zip(annotations.query_id, duration_s, strict=True)}
    assert on_grids(answer_pattern(annotations, Predictions.from_lists(exact)))[2:] == [1, 1]


def test_a_method_that_knows_three_moments():
    # Closer Look, section 5.2: a method's answers came down to (0, 1), (0, 0.5), (0.5, 1).
    annotations = videos(12)
    three = [(0.0, 1.0), (0.0, 0.5), (0.5, 1.0)]
    answers = {
        q: [tuple(share * d for share in three[k % 3])]
        for k, (q, d) in enumerate(zip(annotations.query_id, annotations.duration_s, strict=True))
    }
    pattern = answer_pattern(annotations, Predictions.from_lists(answers))
    assert pattern.n_distinct == 3
    assert {common[:2] for common in pattern.most_common} == set(three)
    assert {common.share for common in pattern.most_common} == {1 / 3}
    assert on_grids(pattern)[2] == 1  # multiples of 10 %
    assert pattern.repeated == 0
    assert len(answer_pattern(annotations, Predictions.from_lists(answers), n_common=2).most_common) == 2


def test_answers_in_steps_of_five_seconds():
    annotations = videos(4)
    answers = {q: [(5.0 * (k % 3), 15.0 + 5 * (k % 2))] for k, q in enumerate(annotations.query_id)}
    assert on_grids(answer_pattern(annotations, Predictions.from_lists(answers)))[:2] == [1, 1]
    answers[annotations.query_id[0]] = [(5.0, 16.0)]
    assert on_grids(answer_pattern(annotations, Predictions.from_lists(answers)))[:2] == [11 / 12, 1]
    answers[annotations.query_id[1]] = [(5.0, 16.01)]
    assert on_grids(answer_pattern(annotations, Predictions.from_lists(answers)))[:2] == [10 / 12, 11 / 12]


def test_one_sentence_twice_may_have_one_answer():
    sentences = ["A door opens.", " a door OPENS", "he sits", "he stands"]
    rows = [(f"q{k}", "v", 20.0, sentence, 1, 2) for k, sentence in enumerate(sentences)]
    rows.append(("alone", "w", 20.0, "he sits", 1, 2))
    times = {"q0": (1.0, 2.0), "q1": (1.0, 2.0), "q2": (3.0, 4.0), "q3": (3.0, 4.0 + 1e-9), "alone": (1.0, 2.0)}
    answers = Predictions.from_lists({query: [moment] for query, moment in times.items()})
    pattern = answer_pattern(Annotations.from_rows(rows), answers)
    # q0 and q1 ask the same; q2 and q3 do not, and are answered alike to a billionth of a second.
    assert (pattern.n_comparable, pattern.repeated, pattern.repeated_references) == (4, 0.5, 1.0)


def test_nothing_to_count():
    annotations = videos(1)
    pattern = answer_pattern(annotations, Predictions.from_lists({"v0#0": []}))
    assert (pattern.n_queries, pattern.n_answered, pattern.n_comparable, pattern.n_distinct) == (3, 0, 0, 0)
    assert pattern.most_common == ()
    assert np.isnan([pattern.repeated, pattern.repeated_references, *on_grids(pattern)]).all()


def test_durations_that_are_not_known():
    rows = [("a", "v", nan, "s", 0, 1), ("b", "w", 20.0, "s", 0, 1)]
    pattern = answer_pattern(
        Annotations.from_rows(rows), Predictions.from_lists({"a": [(0.0, 7.0)], "b": [(2.0, 4.0)]})
    )
    assert (pattern.n_answered, pattern.n_normalised) == (2, 1)
    assert on_grids(pattern) == [0, 1, 1, 1]
    assert pattern.most_common == (CommonAnswer(0.1, 0.2, 1.0),)


def test_first_answers_by_score_and_by_file(world):
    w = world(7)
    by_score, by_file = (first_answers(w.annotations, w.predictions, ranking=ranking) for ranking in ("score", "file"))
    for row, query in enumerate(w.references):
        filed = w.filed.get(query, [])
        for found, expected in ((by_score, w.ranked(query)), (by_file, filed)):
            if expected:
                assert (found.start_s[row], found.end_s[row]) == tuple(map(float, expected[0][:2]))
            assert found.answered[row] == bool(expected)
    assert by_score.n_unknown == 0
    assert not np.array_equal(by_score.start_s, by_file.start_s, equal_nan=True)


def test_queries_of_other_splits_are_counted():
    first = first_answers(videos(1), Predictions.from_lists({"v0#1": [(0.0, 1.0)], "x": [(0.0, 1.0)], "y": []}))
    assert first.n_unknown == 2
    assert first.answered.tolist() == [False, True, False]
    assert first_answers(videos(1), Predictions.from_lists({})).answered.tolist() == [False] * 3


def test_an_unknown_ranking_is_refused():
    with pytest.raises(UsageError, match="got ranking='best', expected score or file"):
        first_answers(videos(1), Predictions.from_lists({}), ranking="best")


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=12))
def test_sharing_a_group(rows):
    group, member = (np.array([row[at] for row in rows], dtype=np.int64) for at in (0, 1))
    expected = [any(g == group_ and m != member_ for g, m in rows) for group_, member_ in rows]
    assert is_shared(group, member).tolist() == expected


@pytest.mark.data
def test_a_published_run_answers_in_whole_seconds(data_dir):
    annotations = load_annotations("charades-cd", "test-ood", data_dir=data_dir)
    answers, _ = read_predictions(data_dir / "predictions" / "hao2022_charades_cd_test_ood.json", annotations)
    pattern = answer_pattern(annotations, answers)
    # Counted in the file as it is: all 3,375 timestamps are whole numbers, 261 of them pairs of multiples of 5.
    assert on_grids(pattern)[:2] == [261 / 3375, 1]
