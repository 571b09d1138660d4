"""Matching rows to queries: by id, by video and sentence, by position; what is counted and what is refused."""

import dataclasses
import json

import pytest

from truemoment import Annotations
from truemoment.data.formats import MatchReport, read_predictions

SPLIT = "; is it the right dataset and split?"
IGNORE = " --on-unknown ignore leaves them out"


def row(moments=((1, 2, 3),), **about):
    return json.dumps({**about, "moments": moments}) + "\n"


def counts(report):
    """Counts of a report that are not 0, without its words."""
    return {name: value for name, value in report.as_dict().items() if value and not isinstance(value, str)}


def made(*rows):
    return Annotations.from_rows(
        [(query_id, video, 30.0, sentence, 2.0, 5.0) for query_id, video, sentence in rows], dataset="made", split="val"
    )


# --------------------------------------------------------------------------------------------- by id


def test_by_id_with_nothing_else(read):
    _, report = read(row(query_id="v#0") + row(query_id="w#0"))
    assert counts(report) == {"rows": 2, "by_id": 2, "missing": 1, "moments": 2}


@pytest.mark.parametrize(
    ("sentence", "differs"),
    [
        ("A man's dog, barking.", 0),
        ("a man's dog, barking", 1),
        ("  A MAN'S  DOG  BARKING!? ", 1),
        ("A man s dog - barking", 1),
        ("A_man's_dog_barking", 1),  # an underscore stands for a blank in file names
    ],
)
def test_punctuation_and_case_are_tolerated_and_counted(read, sentence, differs):
    _, report = read(row(query_id="v#0", video_id="v", sentence=sentence))
    assert counts(report) == {"rows": 1, "by_id": 1, "missing": 2, "moments": 1} | (
        {"text_differs": 1} if differs else {}
    )


@pytest.mark.parametrize("sentence", ["a door opens", "A man's dog, barks.", "A mans dog, barking.", ""])
def test_another_sentence_under_an_id_is_refused(refused, sentence):
    said = refused(row(query_id="v#1") + row(query_id="v#0", sentence=sentence))
    assert said == f":2: got sentence {sentence!r} for query 'v#0', expected \"A man's dog, barking.\"{SPLIT}"


def test_a_long_sentence_is_cut_in_the_message(refused):
    said = refused(row(query_id="v#1", sentence="long " * 40))
    assert said == f":1: got sentence {('long ' * 40)[:80]!r} for query 'v#1', expected 'a door opens'{SPLIT}"


def test_another_video_under_an_id_is_refused(refused):
    said = refused(row(query_id="v#0", video_id="w"))
    assert said == f":1: got video 'w' for query 'v#0', expected 'v'{SPLIT}"


def test_an_id_is_never_looked_up_by_its_text(refused):
    # The id is unknown, though video and sentence would fit: an id that is wrong is told.
    said = refused(row(query_id="v#7", video_id="v", sentence="a door opens"))
    assert said.startswith(":1: 1 of 1 rows belong to no query of small/test, the first is query 'v#7'")


@pytest.mark.parametrize(
    ("filed", "annotated"),
    [("कि", "का"), ("ที่", "ท่า"), ("צֵל", "צָל")],  # Hindi, Thai, Hebrew: the same letters under other vowel signs
)
def test_vowel_signs_are_no_punctuation(refused, filed, annotated):
    said = refused(row(query_id="q", sentence=filed), against=made(("q", "v", annotated)))
    assert said.startswith(f":1: got sentence {filed!r} for query 'q', expected {annotated!r}")


def test_letters_of_other_scripts_are_compared(read, refused):
    assert counts(read(row(query_id="w#0", sentence="die TÜR geht auf"))[1])["text_differs"] == 1
    assert "got sentence 'die Tor geht auf'" in refused(row(query_id="w#0", sentence="die Tor geht auf"))


# ------------------------------------------------------------------------------------ by video and text


def test_by_text(read):
    answers, report = read(
        row([[1, 2, 3]], video_id="v", sentence="a door opens")
        + row([[4, 5, 6]], video_id="v", sentence="a man s dog barking")
    )
    assert answers == {"v#0": [(4.0, 5.0, 6.0)], "v#1": [(1.0, 2.0, 3.0)]}
    assert counts(report) == {"rows": 2, "by_text": 2, "text_differs": 1, "missing": 1, "moments": 2}


def test_the_same_text_of_another_video_is_another_query(refused):
    said = refused(
        row(video_id="w", sentence="a door opens"),
        against=made(("a", "v", "a door opens"), ("b", "w", "x"), ("c", "w", "y")),
    )
    assert said == (
        ":1: 1 of 1 rows belong to no query of made/val, the first is video 'w', sentence 'a door opens'"
        + SPLIT
        + IGNORE
    )


def test_ids_and_texts_in_one_file(read):
    answers, report = read(row([[1, 2, 3]], query_id="v#0") + row([[4, 5, 6]], video_id="v", sentence="a door opens"))
    assert answers == {"v#0": [(1.0, 2.0, 3.0)], "v#1": [(4.0, 5.0, 6.0)]}
    assert counts(report) == {"rows": 2, "by_id": 1, "by_text": 1, "missing": 1, "moments": 2}


DOUBLES = made(("a", "v", "He sits."), ("b", "v", "he sits"), ("c", "v", "He stands."))


def test_duplicates_are_answered_in_order_when_the_counts_agree(read):
    answers, report = read(
        row([[1, 2, 3]], video_id="v", sentence="He sits.") + row([[4, 5, 6]], video_id="v", sentence="He sits."),
        against=DOUBLES,
    )
    assert answers == {"a": [(1.0, 2.0, 3.0)], "b": [(4.0, 5.0, 6.0)]}
    # The second row is spelt otherwise than its query.
    assert counts(report) == {"rows": 2, "by_text": 2, "text_differs": 1, "missing": 1, "moments": 2}


def test_one_answer_is_shared_by_duplicates(read):
    answers, report = read(row([[1, 2, 3], [4, 5, 2]], video_id="v", sentence="He sits."), against=DOUBLES)
    assert answers == {"a": [(1.0, 2.0, 3.0), (4.0, 5.0, 2.0)], "b": [(1.0, 2.0, 3.0), (4.0, 5.0, 2.0)]}
    # A row, two queries that share it, one that nobody answers; the moments of both queries.
    assert counts(report) == {
        "rows": 1, "by_text": 1, "text_differs": 1, "shared": 2, "missing": 1, "moments": 4
    }  # fmt: skip


def test_clip_ratings_are_shared_too(tmp_path):
    # A format that has ratings has ids, so sharing is tried on the matcher itself.
    from truemoment.data.formats import read_rows
    from truemoment.data.formats.matching import match

    path = tmp_path / "p.jsonl"
    path.write_text(
        '{"qid": 1, "vid": "v", "query": "He sits.", "pred_relevant_windows": [], "pred_saliency_scores": [1, 2]}\n'
    )
    rows = dataclasses.replace(read_rows(path)[0], query_id=[None])
    predictions, report = match(rows, DOUBLES)
    assert predictions.query_id.tolist() == ["a", "b"]
    assert predictions.saliency.tolist() == [1.0, 2.0, 1.0, 2.0]
    assert predictions.saliency_offsets.tolist() == [0, 2, 4]
    assert (report.shared, report.empty) == (2, 2)


# ---------------------------------------------------------------------------------------- by position


def test_by_position_when_the_counts_agree(read):
    answers, report = read(
        row([[1, 2, 3]], video_id="v", sentence="dog") + row([[4, 5, 6]], video_id="v", sentence="door")
    )
    assert answers == {"v#0": [(1.0, 2.0, 3.0)], "v#1": [(4.0, 5.0, 6.0)]}
    assert counts(report) == {"rows": 2, "by_position": 2, "missing": 1, "moments": 2}


def test_by_position_beside_a_text_that_fits(read):
    answers, report = read(
        row([[1, 2, 3]], video_id="v", sentence="dog") + row([[4, 5, 6]], video_id="v", sentence="a door opens")
    )
    assert answers == {"v#0": [(1.0, 2.0, 3.0)], "v#1": [(4.0, 5.0, 6.0)]}
    assert counts(report) == {
        "rows": 2, "by_text": 1, "by_position": 1, "missing": 1, "moments": 2
    }  # fmt: skip


@pytest.mark.parametrize("sentences", [["dog"], ["dog", "door", "cat"]])
def test_no_position_when_the_counts_differ(refused, sentences):
    n = len(sentences)
    said = refused("".join(row(video_id="v", sentence=sentence) for sentence in sentences))
    assert said == (
        f":1: {n} of {n} rows belong to no query of small/test, the first is video 'v', sentence 'dog'{SPLIT}{IGNORE}"
    )


def test_no_position_that_a_text_has_taken(refused):
    # "a door opens" is the video's second sentence and stands first: the place that is left is not its own.
    said = refused(row(video_id="v", sentence="a door opens") + row(video_id="v", sentence="dog"))
    assert said.startswith(":2: 1 of 2 rows belong to no query")


def test_a_sentence_that_is_another_query_s_is_not_matched_by_position(refused):
    # Both rows say "a door opens", the video's second sentence. As many rows as queries, but the first row is
    # no answer about the dog: it says what it answers.
    said = refused(row(video_id="v", sentence="a door opens") + row(video_id="v", sentence="a door opens"))
    assert said == ":2: answers query 'v#1' again, expected each query once (first in line 1)"


# ---------------------------------------------------------------------------------------------- twice


@pytest.mark.parametrize("again", [{"query_id": "v#1"}, {"video_id": "v", "sentence": "A DOOR OPENS"}])
@pytest.mark.parametrize("first", [{"query_id": "v#1"}, {"video_id": "v", "sentence": "a door opens"}])
@pytest.mark.parametrize("on_unknown", ["refuse", "ignore"])
def test_a_query_answered_twice_is_refused(refused, first, again, on_unknown):
    said = refused(row(query_id="w#0") + row(**first) + "\n" + row(**again), on_unknown=on_unknown)
    assert said == ":4: answers query 'v#1' again, expected each query once (first in line 2)"


def test_duplicates_answered_more_often_than_they_stand(refused):
    content = "".join(row(video_id="v", sentence="He sits.") for _ in range(3))
    said = refused(content, against=DOUBLES)
    assert "again, expected each query once" in said


# -------------------------------------------------------------------------------------------- unknown


@pytest.mark.parametrize(
    ("about", "named"),
    [
        ({"query_id": "x#0"}, "query 'x#0'"),
        ({"video_id": "x", "sentence": "s" * 90}, f"video 'x', sentence '{'s' * 60}'"),
    ],
)
def test_unknown_rows_are_refused_and_counted(refused, about, named):
    said = refused(row(query_id="v#0") + row(**about) + row(query_id="x#1"))
    assert said == f":2: 2 of 3 rows belong to no query of small/test, the first is {named}{SPLIT}{IGNORE}"


def test_unknown_rows_are_left_out_when_asked(read):
    content = row([[7, 8, 9]], query_id="x#0") + row([[1, 2, 3]], query_id="v#0") + row(video_id="x", sentence="s")
    answers, report = read(content, on_unknown="ignore")
    assert answers == {"v#0": [(1.0, 2.0, 3.0)]}
    assert counts(report) == {"rows": 3, "by_id": 1, "unmatched": 2, "missing": 2, "moments": 1}


def test_nothing_known(read):
    answers, report = read(row(query_id="x#0"), on_unknown="ignore")
    assert answers == {}
    assert counts(report) == {"rows": 1, "unmatched": 1, "missing": 3}


# --------------------------------------------------------------------------------------------- counts


def test_every_count(read):
    # v lasts 30 s, w 20 s. Past the end: later than the duration by more than 1e-6 s (datasets/faults.py).
    answers, report = read(
        row([[1, 2, 0.5], [4, 3, 0.75], [5, 5, 0.75], [29, 30.000_000_5, 0.25], [29, 30.1, 0.1]], query_id="v#0")
        + row([], query_id="v#1")
        + row([[19, 20, 0.5], [20, 25, 0.5], [0, 1, 0.25]], query_id="w#0")
    )
    assert len(answers["v#0"]) == 5
    assert counts(report) == {
        "rows": 3,
        "by_id": 3,
        "empty": 1,
        "moments": 8,
        "swapped": 1,  # 4-3
        "zero_length": 1,  # 5-5
        "past_end": 2,  # 30.1 of 30, 25 of 20; 5e-7 s is noise
        "ties": 2,  # 0.75 twice in one list, 0.5 in the other
        "reordered": 1,  # the first list rises from 0.5 to 0.75
    }


def test_equal_scores_of_two_queries_are_no_tie(read):
    _, report = read(row([[1, 2, 0.5]], query_id="v#0") + row([], query_id="v#1") + row([[1, 2, 0.5]], query_id="w#0"))
    assert report.ties == 0


def test_a_score_above_the_list_before_is_no_disorder(read):
    _, report = read(row([[1, 2, 0.1]], query_id="v#0") + row([], query_id="v#1") + row([[1, 2, 0.9]], query_id="w#0"))
    assert report.reordered == 0


def test_equal_scores_apart_in_the_file_are_a_tie(read):
    _, report = read(row([[1, 2, 0.5], [1, 2, 0.9], [3, 4, 0.5]], query_id="v#0"))
    assert (report.ties, report.reordered) == (1, 1)


def test_unknown_durations_are_never_passed(read):
    nan = float("nan")
    unknown = Annotations.from_rows([("q", "v", nan, "s", 1.0, 2.0)])
    assert read(row([[0, 1e7, 1]], query_id="q"), against=unknown)[1].past_end == 0


def test_clipped_counts_moments_of_matched_rows(read):
    # The report's other counts are of moments of matched rows; so must this be, as notes say "1 of 1 moments".
    content = row([[-1, -2, 3]], query_id="v#0") + row([[-1, 2, 3]], query_id="x#0")
    _, report = read(content, on_unknown="ignore", on_negative="clip")
    assert (report.moments, report.unmatched) == (1, 1)
    assert report.clipped == 1


def test_a_negative_time_of_an_ignored_row_is_refused_too(refused):
    # Nothing half-good of a file is used.
    content = row(query_id="v#0") + row([[-1, 2, 3]], query_id="x#0")
    assert refused(content, on_unknown="ignore").startswith(":2: field moments[0].start: got -1 for query 'x#0'")


def test_the_report_as_a_dictionary(read):
    _, report = read(row(query_id="v#0"))
    assert isinstance(report, MatchReport)
    assert list(report.as_dict()) == [
        "format", "recognised", "rows", "by_id", "by_text", "by_position", "text_differs", "shared", "unmatched",
        "missing", "empty", "refused", "ambiguous", "failed", "moments", "swapped", "zero_length", "past_end",
        "clipped", "ties", "reordered", "coarse", "axis", "signs", "parsing", "told",
    ]  # fmt: skip


# ----------------------------------------------------------------------------------------- their name


def test_predictions_are_called_as_their_file(tmp_path, annotations):
    path = tmp_path / "my-model.jsonl"
    path.write_text(row(query_id="v#0"))
    assert read_predictions(path, annotations)[0].name == "my-model"
    assert read_predictions(str(path), annotations, name="ours")[0].name == "ours"
