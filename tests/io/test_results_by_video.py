"""results-by-video JSON of Hao et al. 2022: values, and the exact line said of a bad file."""

import gzip
import json

import pytest

BY_VIDEO = {"format": "results-by-video"}


def answer(sentence="a door opens", timestamp=(1, 2), **more):
    return {"sentence": sentence, "timestamp": list(timestamp), **more}


def file(**results):
    return json.dumps({"version": "VERSION 1.0", "results": results})


def test_values(read):
    # Fields as field.md, section 3, lists them; the reference inside the file is not used.
    reference = {"gt_timestamp": [0.0, 9.9], "video_duration": 30.0}
    answers, report = read(
        file(
            w=[answer("die tür geht auf", (0.5, 1), score=0.25, **reference)],
            v=[answer(timestamp=(6, 9.5), score=0.75, **reference), answer("a man's dog barking", (3, 4))],
        )
    )
    # Without a score, 0: it stands alone in its list.
    assert answers == {"v#0": [(3.0, 4.0, 0.0)], "v#1": [(6.0, 9.5, 0.75)], "w#0": [(0.5, 1.0, 0.25)]}
    assert (report.format, report.recognised) == ("results-by-video", 'it has "results" with "timestamp"')
    assert (report.rows, report.by_text, report.text_differs, report.missing) == (3, 3, 2, 0)


@pytest.mark.parametrize("name", ["p.json", "p.json.gz"])
def test_marks_and_packing(read, name):
    content = file(v=[answer(score=0.5)]).encode()
    packed = gzip.compress(content) if name.endswith(".gz") else content
    assert read(packed, name)[0] == {"v#1": [(1.0, 2.0, 0.5)]}


def test_a_byte_order_mark(read):
    # The mark is allowed for when the format is recognised, so it must not stop the reading.
    assert read(b"\xef\xbb\xbf" + file(v=[answer(score=0.5)]).encode())[0] == {"v#1": [(1.0, 2.0, 0.5)]}


def test_laid_out_over_lines(read):
    assert read(json.dumps(json.loads(file(v=[answer()])), indent=2))[0] == {"v#1": [(1.0, 2.0, 0.0)]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (file(v=[answer(timestamp=(1, 2, 3))]), "[0].timestamp: expected a list of length 2"),
        (file(v=[answer(timestamp=("1", 2))]), "[0].timestamp[0]: got text, expected a number"),
        (file(v=[answer(), {"timestamp": [1, 2]}]), "[1].sentence: is missing"),
        (file(v=[{"sentence": "s"}, answer()]), "[0].timestamp: is missing"),
        (file(v=[answer(score=None)]), "[0].score: got null, expected a number"),
        (file(v=[answer(score="0.5")]), "[0].score: got text, expected a number"),
        (file(v=[answer(5)]), "[0].sentence: got a whole number, expected text"),
        (file(v=answer()), ": got an object, expected a list"),
    ],
)
def test_a_bad_answer_names_its_video(refused, content, said):
    # In a file of 1,442 videos (Hao et al.) "results[...]" alone finds nothing.
    assert refused(content, **BY_VIDEO).endswith(f"v{said}")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", ":1: input data was truncated, expected JSON"),
        ("[]", ":1: got a list, expected an object"),
        ('{"version": 1}', ":1: field results: is missing"),
        ('{"results": []}', ":1: field results: got a list, expected an object"),
        ('{"results": {}}', ": field results: has no predictions"),
        ('{"results": {"v": [], "w": []}}', ": field results: has no predictions"),
        (file(v=[answer()])[:-2], ":1: input data was truncated, expected JSON"),
    ],
)
def test_bad_files(refused, content, said):
    assert refused(content, **BY_VIDEO) == said


def test_nan(refused):
    assert refused(file(v=[answer(timestamp=(float("nan"), 1))])) == ":1: got NaN, expected a number"


def test_bytes_that_are_not_utf8(refused):
    said = refused(file(v=[answer("a door XX opens")]).encode().replace(b"XX", b"\xff"))
    assert "utf-8" in said.lower()


def test_a_video_that_stands_twice_is_refused(refused):
    # One of the two lists would be lost, as read_json_mapping says of annotations.
    first, second = json.dumps([answer()]), json.dumps([answer("A man's dog, barking.")])
    said = refused(f'{{"results": {{"v": {first}, "v": {second}}}}}')
    assert "'v' appears twice, expected each key once" in said


def test_negative_time(refused):
    said = refused(file(v=[answer("A man's dog, barking."), answer(timestamp=(1, -2))]))
    assert "got -2 for video 'v', sentence 'a door opens', expected seconds from 0 to 1e+08" in said
    assert said.endswith("; --on-negative clip lifts negative times to 0")


def test_an_unknown_video(refused):
    said = refused(file(v=[answer()], nobody=[answer(), answer("it rains")]))
    assert said.endswith(
        ": 2 of 3 rows belong to no query of small/test, the first is video 'nobody', sentence 'a door opens'; "
        "is it the right dataset and split? --on-unknown ignore leaves them out"
    )


def test_two_answers_to_one_sentence_are_refused(refused):
    # The file answers "a door opens" twice and the dog never; it must not become an answer about the dog.
    said = refused(file(v=[answer(timestamp=(1, 2)), answer(timestamp=(5, 6))]))
    assert "answers query 'v#1' again, expected each query once" in said
