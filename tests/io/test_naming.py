"""Videos named by files or without v_, queries numbered by the file itself: found under the annotations' names."""

import json

import pytest

from truemoment import Annotations
from truemoment.base.errors import MatchError
from truemoment.data.formats import read_predictions


def annotations(*rows):
    return Annotations.from_rows([(query_id, video, 30.0, said, 1.0, 2.0) for query_id, video, said in rows])


@pytest.fixture
def matched(tmp_path):
    """Read a text against annotations: answered ids and why it was read so."""

    def run(content, against, **options):
        path = tmp_path / "p"
        path.write_text(content)
        predictions, report = read_predictions(path, against, **options)
        return predictions.query_id.tolist(), report.recognised.partition(";")[2].strip()

    return run


def submission(*keys):
    return json.dumps({f"{key}>>>[1, 2]": "1 to 2 s" for key in keys})


FILES = "1 videos were found without the folder or ending of their file"


@pytest.mark.parametrize(
    ("named", "known", "note"),
    [
        ("v.mp4", "v", FILES),
        ("a/b/v.mp4", "v", FILES),
        ("a\\b\\v.mp4", "v", FILES),
        ("a/v.mp4", "v.mp4", FILES),
        ("v.mp4", "v.mp4", ""),  # as TACoS names them, "s13-d21.avi"
        ("v", "v", ""),
        ("x.y.mp4", "x.y", FILES),
    ],
)
def test_a_video_named_by_its_file(matched, named, known, note):
    assert matched(submission(f"{named}>>>a door"), annotations(("q", known, "a door"))) == (["q"], note)


def test_a_name_as_it_stands_goes_before_the_shortened_one(matched):
    both = annotations(("q", "v.mp4", "a door"), ("r", "v", "a door"))
    assert matched(submission("v.mp4>>>a door"), both) == (["q"], "")


def challenge(video):
    return json.dumps({"results": {video: [{"label": "a door", "segment": [1, 2], "score": 1}]}})


def test_activitynets_names_lack_v_(matched):
    note = '1 videos were found with "v_" before them'
    assert matched(challenge("abc"), annotations(("q", "v_abc", "a door"))) == (["q"], note)
    assert matched(challenge("v_abc"), annotations(("q", "v_abc", "a door"))) == (["q"], "")
    assert matched(challenge("abc"), annotations(("q", "abc", "a door"))) == (["q"], "")


def test_other_formats_are_not_helped(matched):
    with pytest.raises(MatchError, match="1 of 1 rows belong to no query"):
        matched('{"video_id": "abc", "sentence": "s", "moments": []}\n', annotations(("q", "v_abc", "s")))
    with pytest.raises(MatchError, match="1 of 1 rows belong to no query"):
        matched(challenge("abc.mp4"), annotations(("q", "v_abc", "a door")))


def line(qid, query="a door", **about):
    return json.dumps({"qid": qid, "vid": "v", "query": query, **about, "pred_relevant_windows": [[1, 2]]}) + "\n"


OWN = "its ids are not in the annotations, so rows are matched by video and sentence"


def test_numbers_of_the_files_own(matched):
    # lighthouse and UniVTG number Charades-STA's queries; the data set's ids here are VIDEO#K.
    two = annotations(("v#0", "v", "a dog"), ("v#1", "v", "a door"))
    assert matched(line(0) + line(1, "a dog"), two) == (["v#0", "v#1"], OWN)


def test_ids_of_which_the_annotations_know_one_are_ids(matched):
    two = annotations(("0", "v", "a dog"), ("v#1", "v", "a door"))
    with pytest.raises(MatchError, match="got sentence 'a door' for query '0', expected 'a dog'"):
        matched(line(0) + line(1, "a dog"), two)
    with pytest.raises(MatchError, match="the first is query '1'"):
        matched(line(0, "a dog") + line(1), two)


def test_ids_stay_where_no_row_is_known_by_its_text(matched):
    with pytest.raises(MatchError, match="the first is query '0'"):
        matched(line(0, "a cat"), annotations(("v#0", "v", "a dog")))


def test_ids_stay_where_a_row_lacks_its_sentence(matched):
    content = line(0) + '{"qid": 1, "vid": "v", "pred_relevant_windows": []}\n'
    with pytest.raises(MatchError, match="the first is query '0'"):
        matched(content, annotations(("v#0", "v", "a door"), ("v#1", "v", "a dog")))


def test_ids_that_are_bare_numbers_are_taken_and_told(tmp_path):
    # Time-R1 numbers queries in its own order (www-Ye/Time-R1, evaluate.py), and writes neither video nor sentence.
    annotations = Annotations.from_rows([("0", "v", 9.0, "s", 0.0, 1.0), ("1", "v", 9.0, "t", 2.0, 3.0)])
    path = tmp_path / "p.jsonl"
    path.write_text('{"qid": 1, "pred": [2, 3]}\n{"qid": 0, "pred": [0, 1]}\n')
    _, report = read_predictions(path, annotations, format="time-r1")
    assert report.by_id == 2
    assert "it names queries by numbers only" in report.recognised
