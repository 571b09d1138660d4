"""Annotations, Queries, Predictions and Saliency: what they accept, what they refuse and how they say it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from truemoment import Annotations, Predictions, Queries
from truemoment.base.errors import InputError
from truemoment.base.records import Saliency, as_strings

nan, inf = float("nan"), float("inf")

COLUMNS = {
    "query_id": ["a#0", "a#0", "b#0"],
    "video_id": ["a", "a", "b"],
    "duration_s": [30.0, 30.0, 20.0],
    "sentence": ["one", "one", "two"],
    "start_s": [1.0, 2.0, 3.0],
    "end_s": [5.0, 6.0, 7.0],
    "annotator": ["x", "y", ""],
}
ANSWERS = {
    "query_id": ["a#0", "b#0"],
    "offsets": [0, 2, 3],
    "start_s": [1.0, 2.0, 3.0],
    "end_s": [5.0, 6.0, 7.0],
    "score": [0.5, 0.9, 0.1],
}


def annotations(**changes):
    return Annotations(**(COLUMNS | changes))


def predictions(**changes):
    return Predictions(**(ANSWERS | changes))


def test_the_cases_here_start_from_sound_columns():
    assert (len(annotations()), annotations().n_queries, annotations().n_videos) == (3, 2, 2)
    assert (len(predictions()), predictions().lengths.tolist()) == (2, [2, 1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start_s": [1.0, nan, 3.0]}, "field start_s: got nan for query 'a#0', expected seconds up to 1e+08"),
        ({"end_s": [1.0, 2.0, inf]}, "field end_s: got inf for query 'b#0', expected seconds up to 1e+08"),
        ({"end_s": [-inf, 2.0, 3.0]}, "field end_s: got -inf for query 'a#0', expected seconds up to 1e+08"),
        ({"end_s": [1.0, 2.0, 1.01e8]}, "field end_s: got 101000000 for query 'b#0', expected seconds up to 1e+08"),
        ({"start_s": [-2e8, 2.0, 3.0]}, "field start_s: got -200000000 for query 'a#0', expected seconds up to 1e+08"),
        (
            {"duration_s": [2e8, 2e8, 9.0]},
            "field duration_s: got 200000000 for query 'a#0', expected seconds up to 1e+08",
        ),
        ({"query_id": [7, 7, 8]}, "field query_id: got 7 in row 0, expected text"),
        ({"sentence": ["one", "one", None]}, "field sentence: got None in row 2, expected text"),
        ({"annotator": ["x", 2.0, ""]}, "field annotator: got 2.0 in row 1, expected text"),
        # Columns handed over in the wrong order: text where seconds belong, seconds where text belongs.
        (
            {"start_s": ["one", "one", "two"], "sentence": [1.0, 2.0, 3.0]},
            "field sentence: got 1.0 in row 0, expected text",
        ),
        ({"duration_s": ["a", "a", "b"]}, "field duration_s: got something that is no number, expected seconds"),
        ({"start_s": [1.0, 2.0]}, "field start_s: got shape (2,), expected (3,)"),
        ({"end_s": [[1.0, 2.0, 3.0]]}, "field end_s: got shape (1, 3), expected (3,)"),
        ({"video_id": ["a", "a"]}, "field Annotations: expected columns of one length"),
        (
            {"query_id": ["a#0", "b#0", "a#0"]},
            "field query_id: rows of query 'a#0' are scattered, expected them together",
        ),
        ({"video_id": ["a", "c", "b"]}, "field video_id: rows of query 'a#0' disagree"),
        ({"sentence": ["one", "One", "two"]}, "field sentence: rows of query 'a#0' disagree"),
        ({"duration_s": [30.0, 31.0, 20.0]}, "field duration_s: rows of query 'a#0' disagree"),
        ({"duration_s": [30.0, nan, 20.0]}, "field duration_s: rows of query 'a#0' disagree"),
    ],
)
def test_annotations_refuse(changes, message):
    with pytest.raises(InputError) as caught:
        annotations(**changes)
    assert str(caught.value) == message


@pytest.mark.parametrize("column", ["start_s", "end_s", "duration_s"])
def test_text_that_looks_like_numbers_is_no_time(column):
    # Ids may look like numbers ("2579" is one of QVHighlights'): in the place of times they must be refused.
    with pytest.raises(InputError, match=f"field {column}"):
        annotations(**{column: ["30", "30", "20"]})


def test_an_endless_video_is_refused():
    # NaN where it is not known; an infinite duration would make every normalised time 0.
    with pytest.raises(InputError, match="field duration_s"):
        annotations(duration_s=[inf, inf, 20.0])


def test_annotations_keep_faults_and_unknown_durations():
    # Readers keep times as the file has them: negative, swapped, zero length, past the end; NaN durations agree.
    faulty = annotations(start_s=[-1.0, 6.0, 7.0], end_s=[99.0, 2.0, 7.0], duration_s=[nan, nan, 20.0])
    assert faulty.start_s.tolist() == [-1.0, 6.0, 7.0]
    assert faulty.end_s.tolist() == [99.0, 2.0, 7.0]
    assert np.isnan(faulty.queries.duration_s[0])


def test_queries_hide_the_moments():
    queries = annotations().queries
    assert {field.name for field in dataclasses.fields(queries)} == {"query_id", "video_id", "duration_s", "sentence"}
    assert queries.query_id.tolist() == ["a#0", "b#0"]
    assert queries.duration_s.tolist() == [30.0, 20.0]
    assert queries.index == {"a#0": 0, "b#0": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query_id": ["q", "q"]}, "field query_id: 'q' appears twice, expected each query once"),
        ({"sentence": ["s"]}, "field Queries: expected columns of one length"),
        ({"duration_s": [1.0]}, "field duration_s: got shape (1,), expected (2,)"),
    ],
)
def test_queries_refuse(changes, message):
    columns = {"query_id": ["q", "r"], "video_id": ["v", "v"], "duration_s": [1.0, 2.0], "sentence": ["s", "t"]}
    assert len(Queries(**columns)) == 2
    with pytest.raises(InputError) as caught:
        Queries(**(columns | changes))
    assert str(caught.value) == message


def test_no_rows_at_all():
    empty = Annotations.from_rows([])
    assert (len(empty), empty.n_queries, empty.n_videos, len(empty.queries)) == (0, 0, 0, 0)
    assert empty.offsets.tolist() == [0]


def test_from_rows_with_and_without_annotator():
    made = Annotations.from_rows(
        [("q", "v", 9.0, "s", 1.0, 2.0), ("q", "v", 9.0, "s", 3.0, 4.0, "second")], dataset="d", split="val"
    )
    assert made.annotator.tolist() == ["", "second"]
    assert (made.dataset, made.split) == ("d", "val")
    assert made.offsets.tolist() == [0, 2]


@pytest.mark.parametrize("column", ["query_id", "video_id", "start_s", "end_s", "duration_s", "annotator"])
def test_columns_are_read_only(column):
    with pytest.raises(ValueError, match="read-only"):
        getattr(annotations(), column)[0] = getattr(annotations(), column)[1]


def test_records_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        annotations().split = "test"
    with pytest.raises(dataclasses.FrozenInstanceError):
        predictions().name = "other"


CHANGES = [
    {"query_id": ["a#1", "a#1", "b#0"]},
    {"video_id": ["c", "c", "b"]},
    {"duration_s": [30.0, 30.0, 20.5]},
    {"duration_s": [30.0, 30.0, nan]},
    {"sentence": ["one", "one", "three"]},
    {"start_s": [1.0, 2.0, np.nextafter(3.0, 4.0)]},
    {"end_s": [5.0, 6.0, 8.0]},
    {"annotator": ["x", "y", "z"]},
    {"start_s": [1.0, 2.0, 7.0], "end_s": [5.0, 6.0, 3.0]},
    {"saliency": Saliency([0, 1, 1], [0], [[3]], 2.0)},
    {"saliency": Saliency([0, 1, 1], [0], [[4]], 2.0)},
    {"saliency": Saliency([0, 1, 1], [1], [[3]], 2.0)},
    {"saliency": Saliency([0, 0, 1], [0], [[3]], 2.0)},
    {"saliency": Saliency([0, 1, 1], [0], [[3]], 1.0)},  # the clip length decides which clips exist
]


def test_the_hash_follows_the_content():
    hashes = [annotations(**changes).sha256 for changes in [{}, *CHANGES]]
    assert len(set(hashes)) == len(hashes)
    assert all(len(digest) == 64 and set(digest) <= set("0123456789abcdef") for digest in hashes)


def test_the_hash_keeps_texts_apart():
    # The same letters in other cells are other content, whatever the letters are.
    one = Annotations.from_rows([("q\x1f", "v", 9.0, "s", 1.0, 2.0), ("r", "v", 9.0, "s", 1.0, 2.0)])
    two = Annotations.from_rows([("q", "v", 9.0, "s", 1.0, 2.0), ("\x1fr", "v", 9.0, "s", 1.0, 2.0)])
    assert one.sha256 != two.sha256


def test_the_hash_ignores_where_the_rows_came_from():
    assert annotations(dataset="d", split="s").sha256 == annotations().sha256
    assert annotations(start_s=np.array([1, 2, 3])).sha256 == annotations().sha256  # whole numbers are the same seconds


def test_select_queries():
    rated = annotations(saliency=Saliency([0, 2, 3], [0, 4, 1], [[1, 2], [3, 4], [0, 2]], 2.0))
    second = rated.select_queries(np.array([False, True]))
    assert second.query_id.tolist() == ["b#0"]
    assert second.end_s.tolist() == [7.0]
    assert second.saliency.offsets.tolist() == [0, 1]
    assert second.saliency.clip.tolist() == [1]
    assert second.saliency.rating.tolist() == [[0, 2]]
    assert rated.select_queries(np.array([True, True])).sha256 == rated.sha256
    assert rated.select_queries(np.array([False, False])).n_queries == 0
    first = rated.select_queries(np.array([True, False]))
    assert first.annotator.tolist() == ["x", "y"]  # both rows of the query
    assert first.saliency.clip.tolist() == [0, 4]


RATED = {"saliency": Saliency([0, 2, 3], [0, 4, 1], [[1, 2], [3, 4], [0, 2]], 2.0)}


@pytest.mark.parametrize("rows", [np.array([False, True, True]), np.array([1, 2])])
def test_select_rows_by_mask_and_position(rows):
    found = annotations(**RATED).select_rows(rows)
    assert found.annotator.tolist() == ["y", ""]
    assert (found.start_s.tolist(), found.dataset) == ([2.0, 3.0], "own")
    assert found.saliency.offsets.tolist() == [0, 2, 3]  # of a query of which a row is left


def test_select_rows_in_another_order():
    found = annotations(**RATED).select_rows(np.array([2, 1, 0]))
    assert found.annotator.tolist() == ["", "y", "x"]
    assert found.saliency.offsets.tolist() == [0, 1, 3]
    assert found.saliency.clip.tolist() == [1, 0, 4]
    assert found.saliency.rating.tolist() == [[0, 2], [1, 2], [3, 4]]
    assert len(annotations(**RATED).select_rows(np.zeros(3, dtype=bool))) == 0


def test_select_rows_refuses_to_scatter_a_query():
    with pytest.raises(InputError, match="rows of query 'a#0' are scattered"):
        annotations(**RATED).select_rows(np.array([0, 2, 1]))


def test_in_order():
    rated = annotations(**RATED)
    turned = rated.in_order(["b#0", "a#0"])
    assert turned.query_id.tolist() == ["b#0", "a#0", "a#0"]
    assert turned.annotator.tolist() == ["", "x", "y"]  # rows of a query stay as they are
    assert turned.saliency.clip.tolist() == [1, 0, 4]
    assert turned.in_order(["a#0", "b#0"]).sha256 == rated.sha256
    assert rated.in_order(["b#0"]).sha256 == rated.select_queries(np.array([False, True])).sha256
    assert rated.in_order([]).n_queries == 0


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["b#0", "c#0"], "field query_id: own/all has no query 'c#0'"),
        (["b#0", "b#0"], "field query_id: 'b#0' appears twice, expected each query once"),
    ],
)
def test_in_order_refuses(ids, message):
    with pytest.raises(InputError) as caught:
        annotations().in_order(ids)
    assert str(caught.value) == message


def renamed(of, letter, **changes):
    """Annotations of other queries that are otherwise the same."""
    named = {name: [text.replace("#", letter) for text in getattr(of, name)] for name in ("query_id",)}
    return dataclasses.replace(of, **named, **changes)


def test_joined_keeps_rows_in_order_with_their_ratings():
    rated = annotations(**RATED, split="train", dataset="mine")
    other = renamed(rated.select_rows(np.array([2, 1, 0])), "~", split="test")
    whole = Annotations.joined([rated, other])
    assert (whole.dataset, whole.split, whole.n_queries) == ("mine", "all", 4)
    assert whole.query_id.tolist() == ["a#0", "a#0", "b#0", "b~0", "a~0", "a~0"]
    assert whole.annotator.tolist() == ["x", "y", "", "", "y", "x"]
    assert whole.saliency.offsets.tolist() == [0, 2, 3, 4, 6]
    assert whole.saliency.clip.tolist() == [0, 4, 1, 1, 0, 4]
    assert whole.saliency.clip_length_s == 2.0
    for part in (rated, other):
        again = whole.select_queries(np.isin(whole.queries.query_id, part.query_id))
        assert again.sha256 == part.sha256
    assert Annotations.joined([rated], split="train").sha256 == rated.sha256


@pytest.mark.parametrize(
    "saliency",
    [
        None,
        Saliency([0, 2, 3], [0, 4, 1], [[1, 2], [3, 4], [0, 2]], 1.0),  # clips of another length
        Saliency([0, 2, 3], [0, 4, 1], [[1], [3], [0]], 2.0),  # another number of annotators
    ],
)
def test_joined_drops_ratings_that_not_all_have_alike(saliency):
    parts = [annotations(**RATED), renamed(annotations(), "~", saliency=saliency)]
    for order in (parts, parts[::-1]):
        assert Annotations.joined(order).saliency is None


def test_joined_keeps_queries_without_a_moment_and_unknown_durations():
    nan = float("nan")
    parts = [
        Annotations.from_rows([("v#0", "v", nan, "a", nan, nan)]),
        Annotations.from_rows([]),
        Annotations.from_rows([("v#1", "v", 9.0, "b", 1.0, 2.0)]),
    ]
    whole = Annotations.joined(parts)
    assert whole.without_moment.tolist() == [True, False]
    assert np.isnan(whole.duration_s).tolist() == [True, False]


def test_joined_refuses():
    with pytest.raises(InputError, match=r"^got no annotations to join, expected one or more$"):
        Annotations.joined([])
    one, other = annotations(split="train"), annotations(split="test")
    with pytest.raises(InputError) as caught:
        Annotations.joined([one, other])
    assert str(caught.value) == "field query_id: 'a#0' is in train and test, expected it in one"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 2], [0], [[1]], 2.0), "field saliency offsets: expected 2 rising positions from 0 to 1, got shape (2,)"),
        (([0, 1], [0], [1], 2.0), "field saliency: got shape (1,), expected (1, annotators)"),
        (([0, 1], [0], [[1], [2]], 2.0), "field saliency: got shape (2, 1), expected (1, annotators)"),
        (([0, 1], [-1], [[1]], 2.0), "field saliency: got a negative clip number, expected 0 or more"),
        (([0, 1], [0], [[5]], 2.0), "field saliency: got rating 5, expected 0 to 4"),
        (([0, 1], [0], [[-1]], 2.0), "field saliency: got rating -1, expected 0 to 4"),
        (([0, 1], [0.5], [[1]], 2.0), "field saliency: got something else, expected whole numbers"),
    ],
)
def test_saliency_refuses(arguments, message):
    with pytest.raises(InputError) as caught:
        Saliency(*arguments)
    assert str(caught.value) == message


def test_saliency_needs_a_list_for_each_query():
    with pytest.raises(InputError) as caught:
        annotations(saliency=Saliency([0, 1], [0], [[3]], 2.0))
    assert str(caught.value) == "field saliency: expected a list for each of 2 queries"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start_s": [1.0, -0.5, 3.0]}, "field start_s: got -0.5 for query 'a#0', expected seconds from 0 to 1e+08"),
        ({"end_s": [1.0, 2.0, nan]}, "field end_s: got nan for query 'b#0', expected seconds from 0 to 1e+08"),
        ({"end_s": [1.0, inf, 3.0]}, "field end_s: got inf for query 'a#0', expected seconds from 0 to 1e+08"),
        ({"score": [0.5, nan, 0.1]}, "field score: got nan for query 'a#0', expected a finite number"),
        ({"score": [0.5, np.inf, 0.1]}, "field score: got inf for query 'a#0', expected a finite number"),
        ({"end_s": [1.0, 1e39, 3.0]}, "field end_s: got 1e+39 for query 'a#0', expected seconds from 0 to 1e+08"),
        ({"query_id": ["a#0", "a#0"]}, "field query_id: 'a#0' appears twice, expected each query once"),
        ({"query_id": [1, 2]}, "field query_id: got 1 in row 0, expected text"),
        ({"start_s": ["x", "y", "z"]}, "field start_s: got something that is no number, expected seconds"),
        ({"score": [0.5]}, "field score: got shape (1,), expected (3,)"),
        ({"offsets": [0, 3]}, "field offsets: expected 3 rising positions from 0 to 3, got shape (2,)"),
        ({"offsets": [1, 2, 3]}, "field offsets: expected 3 rising positions from 0 to 3, got shape (3,)"),
        ({"offsets": [0, 2, 2]}, "field offsets: expected 3 rising positions from 0 to 3, got shape (3,)"),
        ({"offsets": [0, 4, 3]}, "field offsets: expected 3 rising positions from 0 to 3, got shape (3,)"),
        ({"saliency": [0.5]}, "field saliency: expected finite numbers with offsets"),
        (
            {"saliency": [0.5, nan], "saliency_offsets": [0, 1, 2]},
            "field saliency: expected finite numbers with offsets",
        ),
        (
            {"saliency": [0.5, 0.6], "saliency_offsets": [0, 1]},
            "field saliency_offsets: expected 3 rising positions from 0 to 2, got shape (2,)",
        ),
    ],
)
def test_predictions_refuse(changes, message):
    with pytest.raises(InputError) as caught:
        predictions(**changes)
    assert str(caught.value) == message


def test_the_owner_of_a_bad_moment_is_named_across_empty_lists():
    with pytest.raises(InputError, match="for query 'third'"):
        Predictions(["first", "second", "third"], [0, 1, 1, 2], [0.0, -1.0], [1.0, 1.0], [0.0, 0.0])


def test_fractions_are_no_positions():
    with pytest.raises(InputError, match="field offsets"):
        predictions(offsets=[0, 2.5, 3])


def test_swapped_and_empty_moments_are_allowed():
    kept = predictions(start_s=[5.0, 2.0, 3.0], end_s=[1.0, 2.0, 7.0])
    assert kept.end_s.tolist() == [1.0, 2.0, 7.0]


def test_from_lists():
    made = Predictions.from_lists({"q": [(1.0, 2.0, 0.5)], "empty": [], "r": [(3.0, 4.0, 0.1), (5.0, 6.0, 0.2)]})
    assert made.query_id.tolist() == ["q", "empty", "r"]
    assert made.offsets.tolist() == [0, 1, 1, 3]
    assert made.score.tolist() == [0.5, 0.1, 0.2]
    nothing = Predictions.from_lists({})
    assert (len(nothing), nothing.offsets.tolist(), nothing.start_s.tolist()) == (0, [0], [])


def test_from_lists_without_scores_keeps_the_order():
    made = Predictions.from_lists({"q": [(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]})
    assert made.ranked_by_score().start_s.tolist() == [1.0, 3.0, 5.0]


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        ((1.0,), "field moments: got (1.0,), expected (start_s, end_s, score)"),
        ((1.0, 2.0, 3.0, 4.0), "field moments: got (1.0, 2.0, 3.0, 4.0), expected (start_s, end_s, score)"),
    ],
)
def test_from_lists_refuses(moment, message):
    with pytest.raises(InputError) as caught:
        Predictions.from_lists({"q": [moment]})
    assert str(caught.value) == message


def test_from_lists_refuses_text():
    # As the constructor does: "got something that is no number, expected seconds".
    with pytest.raises(InputError, match="no number"):
        Predictions.from_lists({"q": [("one", 2.0, 0.5)]})


def test_ranked_by_score_keeps_ties_in_file_order():
    filed = Predictions.from_lists(
        {
            "q": [(1.0, 2.0, 0.5), (2.0, 3.0, 0.9), (3.0, 4.0, 0.5), (4.0, 5.0, 0.9), (5.0, 6.0, 0.5)],
            "empty": [],
            "r": [(6.0, 7.0, 0.1), (7.0, 8.0, 0.2)],
        }
    )
    ranked = filed.ranked_by_score()
    # By hand: within q first the two 0.9 in file order, then the three 0.5 in file order; r turned round.
    assert ranked.start_s.tolist() == [2.0, 4.0, 1.0, 3.0, 5.0, 7.0, 6.0]
    assert ranked.end_s.tolist() == [3.0, 5.0, 2.0, 4.0, 6.0, 8.0, 7.0]
    assert ranked.score.tolist() == [0.9, 0.9, 0.5, 0.5, 0.5, 0.2, 0.1]
    assert ranked.offsets.tolist() == filed.offsets.tolist()
    assert filed.start_s.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]  # the file's order is not lost


def test_lists_in_order_are_not_sorted_again():
    # The score may rise from one list to the next; that is no disorder.
    filed = Predictions.from_lists({"q": [(1.0, 2.0, 0.2), (3.0, 4.0, 0.1)], "r": [(5.0, 6.0, 0.9)]})
    assert not filed.rises.any()
    assert filed.ranked_by_score() is filed


def test_as_strings_takes_strings_only():
    column = as_strings(["a", "b"], "names")
    assert column.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="field names: got b'c' in row 1, expected text"):
        as_strings(["a", b"c"], "names")


def test_a_frozen_column_is_checked_like_any_other():
    # Only what the records made themselves may be trusted; anybody can freeze an array.
    frozen = np.array([1, 2, 3], dtype=object)
    frozen.flags.writeable = False
    with pytest.raises(InputError, match="field sentence: got 1 in row 0, expected text"):
        annotations(sentence=frozen)
    with pytest.raises(InputError, match="field names: got 1 in row 0, expected text"):
        as_strings(frozen, "names")


# ---- Queries without a moment


def test_a_query_may_have_no_moment():
    rows = [
        ("a", "v", 30.0, "s", 1.0, 2.0),
        ("b", "v", 30.0, "t", nan, nan),
        ("c", "w", nan, "u", 5.0, 6.0),
        ("c", "w", nan, "u", 8.0, 9.0),
        ("d", "w", nan, "x", nan, nan),
    ]
    made = Annotations.from_rows(rows)
    assert (len(made), made.n_queries) == (5, 4)
    assert made.without_moment.tolist() == [False, True, False, True]
    kept = made.with_moments()
    assert kept.query_id.tolist() == ["a", "c", "c"]
    assert kept.sha256 == Annotations.from_rows([rows[0], *rows[2:4]]).sha256
    assert kept.with_moments() is kept
    assert Annotations.from_rows([]).without_moment.shape == (0,)


@pytest.mark.parametrize(
    ("start_s", "end_s", "message"),
    [
        # The first query has two rows: one of them cannot say that there is no moment, nor can both.
        (
            [1.0, nan, 3.0],
            [5.0, nan, 7.0],
            "field start_s: got a row without a moment beside others for query 'a#0', expected it alone",
        ),
        (
            [nan, nan, 3.0],
            [nan, nan, 7.0],
            "field start_s: got a row without a moment beside others for query 'a#0', expected it alone",
        ),
        ([1.0, 2.0, nan], [5.0, 6.0, 7.0], "field start_s: got nan for query 'b#0', expected seconds up to 1e+08"),
        ([1.0, 2.0, 3.0], [5.0, 6.0, nan], "field end_s: got nan for query 'b#0', expected seconds up to 1e+08"),
    ],
)
def test_half_a_moment_and_none_beside_some_are_refused(start_s, end_s, message):
    with pytest.raises(InputError) as caught:
        annotations(start_s=start_s, end_s=end_s)
    assert str(caught.value) == message


def test_the_hash_knows_one_kind_of_nothing():
    # 0/0 gives a NaN of other bits than the one written here; both say that there is no moment.
    with np.errstate(invalid="ignore"):
        other = np.zeros(1) / np.zeros(1)
    one, two = (Annotations.from_rows([("a", "v", 30.0, "s", gone, gone)]) for gone in (nan, -other[0]))
    assert one.sha256 == two.sha256
    assert one.sha256 != Annotations.from_rows([("a", "v", 30.0, "s", 0.0, 0.0)]).sha256


def test_the_hash_of_moments_is_as_it_always_was():
    # Printed by version 0.1.0 before there were queries without a moment: published signatures begin with it.
    assert annotations().sha256 == "d02dfdfdd1bb18906637b7de5aadb480bae77515d6e1895edef54825d056eac5"
