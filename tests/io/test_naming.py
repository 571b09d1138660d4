"""Videos named by files or without v_, queries numbered by the file itself: found under the annotations' names."""

import json
import re

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


ROW = "1 row names its video "


@pytest.mark.parametrize(
    ("named", "known", "note"),
    [
        ("v.mp4", "v", "with '.mp4', matched without it"),
        ("a/b/v.mp4", "v", "with a folder and '.mp4', matched nevertheless"),
        ("a\\b\\v.mp4", "v", "with a folder and '.mp4', matched nevertheless"),
        ("a/v.mp4", "v.mp4", "with a folder, matched without it"),
        ("s13-d21", "s13-d21.avi", "without '.avi', matched with it"),  # as TACoS names them
        ("v.mp4", "v.mp4", ""),
        ("v", "v", ""),
        ("x.y.mp4", "x.y", "with '.mp4', matched without it"),
        ("abc", "v_abc", "without 'v_', matched with it"),  # ActivityNet's challenges
        ("v_abc", "abc", "with 'v_', matched without it"),
        ("v_abc.mp4", "abc", "with '.mp4' and 'v_', matched nevertheless"),
        ("3msza.MP4", "3MSZA", "with '.MP4', matched without it"),
        ("3msza", "3MSZA", "in other case, matched without regard to it"),
    ],
)
@pytest.mark.parametrize(
    "form", [submission, lambda *keys: challenge(keys[0].partition(">>>")[0]), "csv", "moment-detr"]
)
def test_any_unambiguous_spelling_of_a_video(matched, form, named, known, note):
    content = submission(f"{named}>>>a door")
    if form == "csv":
        content = f"video,query,start,end\n{named},a door,1,2\n"
    elif form == "moment-detr":
        content = json.dumps({"qid": 0, "vid": named, "query": "a door", "pred_relevant_windows": [[1, 2]]}) + "\n"
    elif form is not submission:
        content = form(f"{named}>>>a door")
    against = annotations(("0", known, "a door"))
    assert matched(content, against) == (["0"], f"{ROW}{note}" if note else "")


def test_rows_are_counted(matched):
    three = annotations(("p", "v", "a door"), ("q", "v", "a dog"), ("r", "v_w", "a cat"))
    content = "video,query,start,end\nv.mp4,a door,1,2\nv.mp4,a dog,1,2\nW.mp4,a cat,1,2\n"
    note = "2 rows name videos with '.mp4', matched without it; 1 row names its video with '.mp4' and without 'v_', "
    assert matched(content, three) == (["p", "q", "r"], f"{note}matched nevertheless")


def test_a_name_as_it_stands_goes_before_the_shortened_one(matched):
    both = annotations(("q", "v.mp4", "a door"), ("r", "v", "a door"))
    assert matched(submission("v.mp4>>>a door"), both) == (["q"], "")
    assert matched(submission("x/v.mp4>>>a door"), both)[0] == ["q"]


@pytest.mark.parametrize(
    ("named", "known"), [("V.avi", ("v.mp4", "v_v")), ("abc", ("ABC", "v_abc")), ("v.mov", ("v.avi", "v.mp4"))]
)
def test_a_name_that_fits_two_videos_is_refused_with_both(matched, named, known):
    first, second = sorted(known)
    both = annotations(*((name, name, "a door") for name in known))
    said = f":2: got video '{named}', which may be '{first}' or '{second}', expected one of them"
    with pytest.raises(MatchError, match=re.escape(said)):
        matched(f"video,query,start,end\n{named},a door,1,2\n", both)


def test_a_query_id_is_checked_against_the_spelling(matched):
    one = annotations(("q", "v_abc", "a door"))
    assert matched("query_id,video,start,end\nq,abc.mp4,1,2\n", one)[0] == ["q"]
    with pytest.raises(MatchError, match=r"got video 'abd\.mp4' for query 'q', expected 'v_abc'"):
        matched("query_id,video,start,end\nq,abd.mp4,1,2\n", one)


def challenge(video):
    return json.dumps({"results": {video: [{"label": "a door", "segment": [1, 2], "score": 1}]}})


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
