"""What is counted as a fault or a remark, each kind on annotations where it occurs exactly once."""

import hashlib

import pytest

from truemoment import Annotations
from truemoment.data.datasets.faults import Fault, find_faults, find_shared, normalised_sentence, unexpected

NAN = float("nan")


def made(*rows, split="test"):
    """Annotations of rows (query, video, duration, sentence, start, end[, annotator])."""
    return Annotations.from_rows(rows, dataset="made", split=split)


# Clean: within the video, not short, not whole, not at its ends.
CLEAN = ("clean", "w", 100.0, "Nothing is wrong here.", 10.0, 20.0)


def found(annotations):
    return {finding.kind: finding for finding in find_faults(annotations)}


def test_clean_annotations():
    assert find_faults(made(CLEAN)) == []


ONCE = {
    # kind: (a fault?, the row in which it occurs, other kinds that its row must have too)
    "past the end": (True, (30.0, "a", 10.0, 30.5), {"ends within 0.5 s of the end"}),
    "past the end by more than 1 s": (False, (30.0, "a", 10.0, 31.5), {"past the end", "ends within 0.5 s of the end"}),
    "swapped": (True, (30.0, "a", 20.0, 10.0), set()),
    "zero length": (True, (30.0, "a", 10.0, 10.0), set()),
    "starts after the end": (True, (30.0, "a", 31.0, 20.0), {"swapped"}),
    "negative time": (True, (30.0, "a", -1.0, 10.0), set()),
    "no duration": (True, (NAN, "a", 1.0, 10.0), set()),
    "empty sentence": (True, (30.0, "", 1.0, 10.0), set()),
    "leading blank": (False, (30.0, " a", 1.0, 10.0), set()),
    "shorter than 0.5 s": (False, (30.0, "a", 1.0, 1.25), set()),
    "whole video (99 % or more)": (False, (100.0, "a", 0.5, 99.5), {"ends within 0.5 s of the end"}),
    "starts at 0": (False, (30.0, "a", 0.0, 10.0), set()),
    "ends within 0.5 s of the end": (False, (30.0, "a", 1.0, 29.5), set()),
}


@pytest.mark.parametrize("kind", ONCE)
def test_each_kind_of_moment(kind):
    fault, (duration, sentence, start, end), others = ONCE[kind]
    findings = found(made(CLEAN, ("q", "v", duration, sentence, start, end)))
    assert set(findings) == {kind} | others
    finding = findings[kind]
    assert (finding.count, finding.counted, finding.query_ids) == (1, "moments", ("q",))
    assert (finding.fault, finding.split) == (fault, "test")


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("past the end", (30.0, "a", 1.0, 30.0 + 1e-6)),  # float noise; more than 1e-6 s counts
        ("past the end", (30.0, "a", 1.0, 30.0)),
        ("past the end by more than 1 s", (30.0, "a", 1.0, 31.0)),
        ("past the end", (NAN, "a", 1.0, 1e7)),  # unknown durations are never passed
        ("starts after the end", (30.0, "a", 30.0, 40.0)),
        ("shorter than 0.5 s", (30.0, "a", 1.0, 1.5)),
        ("shorter than 0.5 s", (30.0, "a", 1.0, 1.0)),  # zero and swapped ones are counted as such
        ("shorter than 0.5 s", (30.0, "a", 1.25, 1.0)),
        ("whole video (99 % or more)", (100.0, "a", 0.5, 99.25)),
        ("starts at 0", (30.0, "a", 0.01, 10.0)),
        ("ends within 0.5 s of the end", (30.0, "a", 1.0, 29.49)),
        ("empty sentence", (30.0, ".", 1.0, 10.0)),
        ("leading blank", (30.0, "a b ", 1.0, 10.0)),
        ("negative time", (30.0, "a", -0.0, 10.0)),
    ],
)
def test_the_edge_of_each_kind(kind, row):
    duration, sentence, start, end = row
    assert kind not in found(made(("q", "v", duration, sentence, start, end)))


def test_no_moment_is_a_kind_of_its_own():
    # A remark, counted in queries: no fault of times, and no moment shared with the other such query of the video.
    (finding,) = find_faults(made(CLEAN, ("p", "v", 30.0, "a", NAN, NAN), ("q", "v", 30.0, "b", NAN, NAN)))
    assert finding == Fault("no moment", "test", 2, "queries", ("p", "q"), False)


def test_queries_without_a_moment_that_stand_twice():
    twice = found(made(("p", "v", 30.0, "a", NAN, NAN), ("q", "v", 30.0, "A.", NAN, NAN)))
    assert twice["exact duplicate"].query_ids == ("q",)
    torn = found(made(("p", "v", 30.0, "a", NAN, NAN), ("q", "v", 30.0, "A.", 1.0, 9.0)))
    assert torn["same query, different times"].query_ids == ("p", "q")
    assert "exact duplicate" not in torn


@pytest.mark.parametrize("duration", [0.0, -3.0])
def test_a_duration_of_nothing(duration):
    assert found(made(("q", "v", duration, "a", 1.0, 2.0)))["no duration"].count == 1


@pytest.mark.parametrize("sentence", ["", " ", "\n\t"])
def test_sentences_of_blanks(sentence):
    assert "empty sentence" in found(made(("q", "v", 30.0, sentence, 1.0, 2.0)))


def test_how_far_past_the_end():
    # Two moments held to 10 s: 5-12 becomes 5-10, IoU 5/7; 8-10.5 becomes 8-10, IoU 4/5. Mean (5/7 + 4/5) / 2 = 0.757.
    findings = found(made(("a", "v", 10.0, "x", 5.0, 12.0), ("b", "v", 10.0, "y", 8.0, 10.5)))
    assert findings["past the end"].detail == (
        "at most 2.00 s; an answer clipped to the video has mean IoU 0.757 (min 0.714, below 0.7: 0, below 0.9: 2)"
    )


def test_faults_come_first():
    findings = find_faults(made(("a", "v", 10.0, " x", 0.0, 12.0), ("b", "v", 10.0, "y", 3.0, 2.0)))
    assert [finding.fault for finding in findings] == sorted((f.fault for f in findings), reverse=True)
    assert {finding.fault for finding in findings} == {True, False}


# ------------------------------------------------------------------------- queries that stand several times


def test_normalised_sentences():
    # field.md, section 2.1: strip, lower case, dropping a last full stop.
    assert normalised_sentence(" He Sits. ") == "he sits"
    assert normalised_sentence("He sits..") == "he sits."
    assert normalised_sentence("he, sits") == "he, sits"


def test_an_exact_duplicate():
    findings = found(
        made(
            ("a", "v", 30.0, "He sits.", 1.0, 5.0),
            ("b", "v", 30.0, "he sits", 1.004, 5.0),  # the same to 2 decimals
            ("c", "w", 30.0, "He sits.", 1.0, 5.0),  # another video
            ("d", "v", 30.0, "She sits.", 8.0, 9.0),
        )
    )
    assert set(findings) == {"exact duplicate", "moment with several queries"}
    duplicate = findings["exact duplicate"]
    assert (duplicate.count, duplicate.counted, duplicate.query_ids, duplicate.fault) == (1, "queries", ("b",), True)


def test_three_times_the_same_are_two_duplicates():
    # Rows less distinct rows (field.md, section 2.1).
    rows = [(query_id, "v", 30.0, "He sits.", 1.0, 5.0) for query_id in "abc"]
    finding = found(made(*rows))["exact duplicate"]
    assert (finding.count, finding.query_ids) == (2, ("b", "c"))


def test_the_same_query_at_different_times():
    findings = found(
        made(
            ("a", "v", 30.0, "He sits.", 1.0, 5.0),
            ("b", "v", 30.0, " he sits", 1.0, 6.0),
            ("c", "v", 30.0, "He sits.", 1.0, 5.0),
            ("d", "w", 30.0, "He sits.", 2.0, 3.0),
        )
    )
    different = findings["same query, different times"]
    assert (different.count, different.counted) == (1, "(video, sentence) pairs")
    assert different.query_ids == ("a", "b", "c")
    assert different.detail == "3 queries"
    assert findings["exact duplicate"].query_ids == ("c",)


def test_a_moment_with_several_queries():
    findings = found(
        made(
            ("a", "v", 30.0, "He sits.", 1.0, 5.0),
            ("b", "v", 30.0, "He is sitting down.", 1.0, 5.0),
            ("c", "w", 30.0, "He sits.", 1.0, 5.0),
        )
    )
    assert set(findings) == {"moment with several queries"}
    several = findings["moment with several queries"]
    assert (several.count, several.counted, several.query_ids, several.fault) == (1, "moments", ("a", "b"), False)
    assert several.detail == "2 queries"


def test_several_moments_of_one_query():
    findings = found(made(CLEAN, ("q", "v", 30.0, "a", 1.0, 5.0), ("q", "v", 30.0, "a", 10.0, 15.0)))
    assert set(findings) == {"several moments"}
    assert (findings["several moments"].count, findings["several moments"].query_ids) == (1, ("q",))


def annotated(*moments, query_id="q"):
    return [(query_id, "v" + query_id, 30.0, "a", start, end, str(i)) for i, (start, end) in enumerate(moments)]


def test_annotators_who_agree():
    assert find_faults(made(*annotated((5.0, 10.0), (5.0, 10.0)))) == []


@pytest.mark.parametrize(
    ("moments", "disjoint"),
    [
        (((5.0, 10.0), (5.0, 15.0)), False),
        (((5.0, 10.0), (5.0, 10.0), (9.0, 15.0)), False),
        (((5.0, 10.0), (10.0, 15.0)), True),  # they touch and share no time
        (((5.0, 10.0), (7.0, 20.0), (15.0, 20.0)), True),  # the first and the last
    ],
)
def test_annotators_who_disagree(moments, disjoint):
    findings = found(made(*annotated(*moments), *annotated((1.0, 9.0), (1.0, 9.0), query_id="r")))
    assert findings["annotators disagree"].query_ids == ("q",)
    assert findings["annotators disagree"].detail == "50 % of queries"  # one of two
    assert ("two annotators fully disjoint" in findings) or not disjoint
    if "two annotators fully disjoint" in findings:
        assert findings["two annotators fully disjoint"].count == int(disjoint)


def test_a_kind_that_does_not_occur_is_left_out():
    findings = find_faults(made(*annotated((5.0, 10.0), (5.0, 15.0))))
    assert all(finding.count > 0 for finding in findings)


# ------------------------------------------------------------------------------------------ shared by splits


def test_what_two_splits_share():
    train = made(("a", "v", 30.0, "He sits.", 1.0, 5.0), ("b", "w", 30.0, "x", 1.0, 5.0), split="train")
    test = made(
        ("c", "w", 30.0, "He sits.", 1.0, 5.0),
        ("d", "w", 30.0, "he sits.", 1.0, 5.0),  # verbatim means to the letter
        ("e", "z", 30.0, "He sits.", 1.0, 5.0),
        split="test",
    )
    videos, sentences = find_shared(train, test, train=True)
    assert (videos.kind, videos.split, videos.fault) == ("videos in both splits", "train -> test", True)
    assert (videos.count, videos.counted, videos.query_ids) == (1, "videos", ("w",))
    assert (sentences.kind, sentences.fault) == ("sentence verbatim in train", False)
    assert (sentences.count, sentences.counted, sentences.query_ids) == (2, "queries", ("c", "e"))
    assert sentences.detail == "66.7 % of 3 queries"


def test_sentences_are_compared_with_training_only():
    one = made(("a", "v", 30.0, "He sits.", 1.0, 5.0), split="val")
    other = made(("b", "w", 30.0, "He sits.", 1.0, 5.0), split="test")
    assert find_shared(one, other, train=False) == []
    assert [finding.kind for finding in find_shared(one, other, train=True)] == ["sentence verbatim in train"]


def test_splits_that_share_nothing():
    assert find_shared(made(CLEAN), made(("b", "v", 30.0, "x", 1.0, 5.0)), train=True) == []


# ----------------------------------------------------------------------------------------------- the record


def finding(kind="swapped", split="train", count=2, ids=("b", "a"), *, fault=True):
    return Fault(kind, split, count, "moments", ids, fault)


def test_the_digest_names_the_queries_whatever_their_order():
    # By hand: the first 16 figures of the SHA-256 of the sorted ids, one a line.
    assert finding().digest == hashlib.sha256(b"a\nb").hexdigest()[:16]
    assert finding(ids=("a", "b")).digest == finding().digest
    assert finding(ids=("a", "c")).digest != finding().digest


@pytest.fixture
def recorded(monkeypatch):
    """Put a record of two splits and of their pair in the place of the real one."""
    from truemoment.data.datasets import faults

    record = {
        "train": {"swapped": faults.Recorded(2, finding().digest)},
        "test": {"zero length": faults.Recorded(1, finding(ids=("z",)).digest)},
        "train -> test": {"videos in both splits": faults.Recorded(1, finding(ids=("v",)).digest)},
    }
    monkeypatch.setattr(faults, "known_faults", lambda name: record if name == "made" else {})


ALL_OF_IT = (
    finding(),
    finding("zero length", "test", 1, ("z",)),
    finding("videos in both splits", "train -> test", 1, ("v",)),
)


@pytest.mark.usefixtures("recorded")
class TestUnexpected:
    def test_as_recorded(self):
        assert unexpected(ALL_OF_IT, "made", ["train", "test"]) == []

    def test_remarks_are_not_compared(self):
        remark = finding("starts at 0", "train", 99, ("q",), fault=False)
        assert unexpected([*ALL_OF_IT, remark], "made", ["train", "test"]) == []

    def test_more(self):
        assert unexpected([finding(count=3, ids=("a", "b", "c")), *ALL_OF_IT[1:]], "made", ["train", "test"]) == [
            "train: swapped: 3 moments, 2 recorded"
        ]

    def test_fewer(self):
        assert unexpected([finding(count=1, ids=("a",)), *ALL_OF_IT[1:]], "made", ["train", "test"]) == [
            "train: swapped: 1 moment, 2 recorded"
        ]

    def test_as_many_in_other_queries(self):
        assert unexpected([finding(ids=("a", "c")), *ALL_OF_IT[1:]], "made", ["train", "test"]) == [
            "train: swapped: 2 moments as recorded, but in other queries"
        ]

    def test_a_kind_that_is_not_recorded(self):
        new = finding("negative time", "test", 1, ("z",))
        assert unexpected([*ALL_OF_IT, new], "made", ["train", "test"]) == [
            "test: negative time: 1 moment, none recorded"
        ]

    def test_a_recorded_kind_that_is_gone(self):
        assert unexpected(ALL_OF_IT[1:], "made", ["train", "test"]) == ["train: swapped: none, 2 recorded"]

    def test_splits_that_were_not_looked_at_are_not_missed(self):
        assert unexpected([finding()], "made", ["train"]) == []
        assert unexpected(ALL_OF_IT[1:2], "made", ["test"]) == []

    def test_another_dataset(self):
        assert unexpected([finding()], "other", ["train"]) == ["train: swapped: 2 moments, none recorded"]
