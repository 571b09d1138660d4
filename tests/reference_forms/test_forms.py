"""Every form of references: read right, recognised as itself only, and refused in one line where it is malformed."""

import contextlib
import json
import random
import re
import warnings

import pytest

from truemoment.base.errors import DataWarning, InputError, MissingFileError, TrueMomentError, UsageError
from truemoment.data.references import REFERENCES, losses, read_annotations, recognise, write_annotations
from truemoment.data.references.base import ReferenceOptions

from .conftest import (
    ACTIVITYNET,
    CHARADES,
    CVAT,
    ELAN,
    FILES,
    LABEL_STUDIO,
    MOMENTSEEKER,
    QVHIGHLIGHTS,
    VIA,
    VIA_CSV,
    VTT,
    plain,
    rows_of,
)


@pytest.mark.parametrize("form", FILES)
def test_a_form_is_read(read, form):
    name, content, options, rows = FILES[form]
    assert read(name, content, **options) == plain(rows)


@pytest.mark.parametrize("form", FILES)
def test_a_form_is_recognised_as_itself_only(put, form):
    name, content, _, _ = FILES[form]
    path = put(name, content)
    assert recognise(path)[0].name == form
    assert recognise(put(f"{name}.txt", content))[0].name == form, "by the content, not by the name"


def test_every_form_has_a_file_here():
    assert set(FILES) | {"parquet"} == set(REFERENCES)


def test_ratings_of_clips_are_read(put):
    saliency = read_annotations(put("a.jsonl", QVHIGHLIGHTS)).saliency
    assert (saliency.offsets.tolist(), saliency.clip.tolist()) == ([0, 0, 2], [2, 3])
    assert saliency.rating.tolist() == [[1, 2, 3], [4, 4, 4]]


def test_a_list_of_that_form_is_read_as_its_lines_are(read):
    as_list = "[" + ",".join(QVHIGHLIGHTS.splitlines()) + "]"
    assert read("a.json", as_list) == plain(FILES["qvhighlights"][3])


def test_the_csv_of_the_vgg_annotator(read):
    assert read("via.csv", VIA_CSV) == plain(FILES["via"][3])


def test_webvtt(read):
    assert read("kitchen.vtt", VTT) == [("kitchen#0", "kitchen", None, "A door opens.", 4.0, 10.5, "")]


def test_a_cue_keeps_text_after_a_blank_line(read):
    text = "1\n00:00:01,000 --> 00:00:02,000\none\n\ntwo\n\n2\n00:00:03,000 --> 00:00:04,000\nthree\n"
    assert [row[3] for row in read("v.srt", text)] == ["one two", "three"]


# Case 01 of the inputs on which the project failed: milliseconds of 2, 1, 0 and 6 digits, a dot, a full-width comma.
@pytest.mark.parametrize(
    ("clock", "seconds"),
    [("00:00:04,25", 4.25), ("00:00:04,5", 4.5), ("00:00:04", 4.0), ("00:00:04.250000", 4.25), ("00:00:04，250", 4.25)],
)
def test_times_of_subtitles_as_programs_write_them(read, clock, seconds):
    assert read("v.srt", f"1\n{clock} --> 00:00:09,000\ntext\n")[0][4] == seconds


def test_several_annotators_of_one_task_are_kept(read):
    second = LABEL_STUDIO.replace('"completed_by": 3, ', '"completed_by": {"email": "a@b.c"}, ')
    both = f"[{LABEL_STUDIO[1:-1]}, {second[1:-1]}]"
    # Two tasks of one annotator each; a task with two names them.
    assert {row[6] for row in read("a.json", both, frame_rate=25.0)} == {""}
    task = LABEL_STUDIO.replace('"annotations": [', '"annotations": [' + '{"completed_by": 9, "result": []}, ')
    assert {row[6] for row in read("b.json", task, frame_rate=25.0)} == {"3"}


MALFORMED = {
    "charades-sta: a line without times": ("a.txt", CHARADES + "AAAAA##x\n", ":3: got 'AAAAA##x', expected"),
    "charades-sta: a time that is none": ("a.txt", "A x 2##y\n", ":1: field start: got 'x', expected seconds"),
    "activitynet: fewer sentences": (
        "a.json",
        ACTIVITYNET.replace(', " It closes."', ""),
        "got 1 sentences and 2 timestamps, expected as many",
    ),
    "qvhighlights: no windows": (
        "a.jsonl",
        QVHIGHLIGHTS + '{"qid": 3, "query": "x", "vid": "v"}\n',
        ":3: field relevant_",
    ),
    "qvhighlights: a rating too high": ("a.jsonl", QVHIGHLIGHTS.replace("[4, 4, 4]", "[4, 5, 4]"), "got rating 5"),
    "qvhighlights: an id twice": (
        "a.jsonl",
        QVHIGHLIGHTS.replace('"qid": 2', '"qid": "q1"'),
        ":2: field query_id: got 'q1'",
    ),
    "elan: a slot that is not there": (
        "a.eaf",
        ELAN.replace('REF2="ts2"', 'REF2="ts9"'),
        ":8: got the time slot 'ts9'",
    ),
    "elan: a time that is none": ("a.eaf", ELAN.replace('"10000"', '"ten"'), ":7: field TIME_VALUE: got 'ten'"),
    "elan: a reference to nothing": (
        "a.eaf",
        ELAN.replace('REF="a1"', 'REF="a7"'),
        ":10: got an annotation that refers",
    ),
    "elan: cut off": ("a.eaf", ELAN[:300], "expected XML"),
    "elan: entities": (
        "a.eaf",
        ELAN.replace("<ANNOTATION_DOCUMENT", '<!DOCTYPE a [<!ENTITY b "x">]>\n<ANNOTATION_DOCUMENT', 1),
        ":2: got a document type (<!DOCTYPE), expected XML without one",
    ),
    "elan: nested": ("a.eaf", "<ANNOTATION_DOCUMENT>" + "<a>" * 100_000, ":1: is nested deeper than 64"),
    "via: a file that is not there": (
        "a.json",
        VIA.replace('["5"]', '["6"]'),
        "field metadata.1_x.vid: got the view '1'",
    ),
    "via: times that are none": ("v.csv", VIA_CSV.replace("[4,10]", "[4,x]"), ":3: field temporal_coordinates"),
    "label-studio: no rate": (
        "a.json",
        LABEL_STUDIO,
        "counts frames and states no frame rate; give the rate: --frame-rate",
    ),
    "cvat: no rate": ("a.xml", CVAT, "counts frames and states no frame rate"),
    "subtitles: a time that is none": (
        "a.srt",
        "1\n00:00:01,0 --> soon\nx\n",
        ":2: got the time 'soon', expected HH:MM:SS.mmm",
    ),
    "csv: a number that is none": (
        "a.csv",
        "video,query,start,end\nv,x,1,two\n",
        ":2: field end: got 'two', expected a number",
    ),
    "csv: half a moment": (
        "a.csv",
        "video,query,start,end\nv,x,1,\n",
        ":2: field end: got nothing, expected a number, or",
    ),
    "csv: no video": ("a.csv", "video,query,start,end\n,x,1,2\n", ":2: field video: got nothing, expected text"),
    "csv: too few cells": ("a.csv", "video,query,start,end\nv,x,1\n", ":2: got 3 values, expected 4"),
    "csv: two columns for one field": (
        "a.csv",
        "video,query,caption,start,end\nv,x,y,1,2\n",
        ':1: got columns query and caption, expected one of them; name it: --fields "sentence=query"',
    ),
    "csv: unknown columns": (
        "a.csv",
        "clip,words,from,to\nv,x,1,2\n",
        ":1: has no column for video_id, sentence, start_s, end_s, got clip, words, from, to; name them: --fields",
    ),
    "json: a time that is none": (
        "a.json",
        '[{"video": "v", "query": "x", "start": true, "end": 2}]',
        ":1: field start: got True, expected a number",
    ),
    "json: three times": (
        "a.json",
        '[{"video": "v", "query": "x", "span": [1, 2, 3]}]',
        "field span: got [1, 2, 3], expected",
    ),
    "didemo: no moment": (
        "a.json",
        '[{"video": "v", "description": "x", "times": []}]',
        ":1: field times: got no moment, expected at least one",
    ),
    "predictions": (
        "p.jsonl",
        '{"qid": 1, "query": "x", "vid": "v", "pred_relevant_windows": [[1, 2, 0.5]]}\n',
        "looks like predictions, expected references; are predictions and annotations swapped?",
    ),
    "a wrong column": (
        "a.csv",
        "video_id,sentense,start_s,end_s\nv,x,1,2\n",
        "are predictions and annotations swapped? If it has references, --fields",
    ),
    "predictions over lines": (
        "p.json",
        '{\n "1": {"timestamp": [], "query": "x", "vid": "v"},\n "2": {"timestamp": [[1, 2]]}}',
        "looks like predictions, expected references; are predictions and annotations swapped?",
    ),
    "JSON over lines": ("a.json", '{\n "a": {"x": 1},\n "b": 2\n}', ":1: looks like none of the forms of references"),
    "text": ("a.txt", "once upon a time\n", ":1: looks like none of the forms of references own, answers,"),
    "an archive": ("a.zip", b"PK\x03\x04abc", "is packed by zip"),
}


@pytest.mark.parametrize("fault", MALFORMED)
def test_a_malformed_file_is_one_line(put, fault):
    name, content, said = MALFORMED[fault]
    path = put(name, content)
    with pytest.raises(InputError) as caught:
        read_annotations(path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        read_annotations(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        (
            "a.eaf",
            ELAN.replace('TIME_VALUE="10000"/>', 'TIME_VALUE="10000"/><TIME_SLOT TIME_SLOT_ID="ts3"/>').replace(
                "</TIER>",
                '<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a3" TIME_SLOT_REF1="ts2" TIME_SLOT_REF2="ts3">'
                "<ANNOTATION_VALUE>x</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>",
                1,
            ),
            "left out 1 annotations without times",
        ),
        ("a.eaf", ELAN.replace("a door opens", " "), "left out 1 annotations without text"),
        (
            "a.json",
            VIA.replace("[4, 10]", "[4]").replace(
                '"metadata": {', '"metadata": {"2": {"vid": 1, "z": [1, 2], "av": {"1": "x"}}, '
            ),
            "left out 1 marks without a start and an end",
        ),
        ("a.xml", CVAT.replace("</image>", '<box label="x"/></image>', 1), "left out 1 shapes of single images"),
        (
            "a.json",
            LABEL_STUDIO.replace('"labels": ["speech"]', '"labels": []').replace('["she sings"]', "[]"),
            "left out 2 results",
        ),
        ("a.srt", "1\n00:00:01,0 --> 00:00:02,0\n\n2\n00:00:03,0 --> 00:00:04,0\nx\n", "left out 1 cues without text"),
    ],
)
def test_what_is_left_out_is_reported(read, name, content, note):
    with pytest.warns(DataWarning, match=note):
        read(name, content, frame_rate=25.0)


def test_two_files_of_one_name_are_refused(put):
    twice = VIA_CSV + '"2","[""other/kitchen.mov""]",0,"[1,2]","[]","{""1"":""x""}"\n'
    with pytest.raises(InputError, match=r"got kitchen.mp4 and other/kitchen.mov, expected files of different names"):
        read_annotations(put("v.csv", twice))


def test_a_step_of_frames_is_refused(put):
    path = put("a.xml", CVAT.replace("<size>", "<frame_filter>step=5</frame_filter><size>"))
    with pytest.raises(InputError, match="got step=5, expected every frame"):
        read_annotations(path, frame_rate=25.0)


# ------------------------------------------------------------------------------------------------- damaged files


@pytest.mark.parametrize("form", FILES)
def test_damage_is_refused_in_words_or_read(put, form):
    name, content, options, _ = FILES[form]
    rng = random.Random(form)  # noqa: S311 - damage, no secret
    for _ in range(60):
        data = bytearray(content.encode())
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            data[at : at + rng.randint(0, 3)] = rng.choice(
                [b"", b"\xff", b"{", b'"', b"1e999", b"-->", b"<!DOCTYPE a>"]
            )
        with warnings.catch_warnings(), contextlib.suppress(TrueMomentError):  # whose text is always one line
            warnings.simplefilter("ignore", DataWarning)
            read_annotations(put(name, bytes(data)), **options)


# ------------------------------------------------------------------------------------------------- writing

WRITTEN = ["own", "qvhighlights", "activitynet", "charades-sta", "csv"]


def test_these_forms_are_written():
    assert [form.name for form in REFERENCES.values() if form.write is not None] == [
        "own",
        "qvhighlights",
        "activitynet",
        "charades-sta",
        "csv",
    ]


@pytest.mark.parametrize("target", WRITTEN)
@pytest.mark.parametrize("form", FILES)
def test_a_round_trip_loses_only_what_it_says(put, tmp_path, form, target):
    name, content, options, _ = FILES[form]
    annotations = read_annotations(put(name, content), **options)
    lost = " ".join(write_annotations(tmp_path / "out", annotations, target))
    again = read_annotations(tmp_path / "out")
    assert recognise(tmp_path / "out")[0].name == target

    def kept(annotations):
        rows = [list(row) for row in rows_of(annotations)]
        for row in rows:
            for place, word in ((0, "query ids"), (0, "several moments"), (2, "durations"), (6, "annotators")):
                if word in lost:
                    row[place] = None
        return rows

    assert sorted(map(str, kept(again))) == sorted(map(str, kept(annotations)))
    assert ("ratings" in lost) == (annotations.saliency is not None and again.saliency is None)
    # Nothing is said to be lost that is there after all.
    assert ("durations are lost" in lost) <= (not (again.duration_s > 0).any())
    assert ("annotators are lost" in lost) <= (not any(again.annotator))


def test_samples_of_e_t_bench_that_are_no_moments(put):
    sample = {"idx": 3, "task": "tvg", "source": "ours", "video": "a.mp4", "q": "When?", "tgt": [4, 9]}
    with pytest.warns(DataWarning, match="samples of the tasks rar are left out: their answer is no moment"):
        assert read_annotations(put("a.json", json.dumps([sample, sample | {"task": "rar"}]))).n_queries == 1
    for wrong in ([], [4], ["4", "9"], None):
        with pytest.raises(InputError, match=r"a\.json:1: field .?tgt.?: expected \[start, end\] or a list of them"):
            read_annotations(put("a.json", json.dumps([sample | {"tgt": wrong}])))


def test_vid_morp_as_videomind_publishes_it(read):
    # Keys: yeliudev/VideoMind 6721d25, videomind/dataset/sub_classes/vid_morp.py, of anno_vid_morp.jsonl.
    line = '{"vid": "kitchen", "duration": 60.0, "query": "a door opens", "span": [4.0, 10.5]}\n'
    assert read("anno_vid_morp.jsonl", line) == [("kitchen#0", "kitchen", 60.0, "a door opens", 4.0, 10.5, "")]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gt_indices": [3]}, "indices: got 3, expected the number of one of the 3 candidates, from 0"),
        ({"gt_indices": []}, "got no clip, expected clips of one video"),
        ({"candidate_video_list": [{"frame_path": "a/0_1.png"}, {"output_path": "b/0_1.mp4"}]}, "got 'a' and 'b', exp"),
        ({"candidate_video_list": [{}, {}]}, "got the clip '', expected .../VIDEO/START_END.mp4, in seconds"),
    ],
)
def test_clips_of_momentseeker_that_are_no_moments(put, change, says):
    query = json.loads(MOMENTSEEKER)[0] | {"gt_indices": [0, 1]} | change
    with pytest.raises(InputError, match=rf"a\.json:1: field .*{re.escape(says)}"):
        read_annotations(put("a.json", json.dumps([query])))


def test_a_picture_of_a_query_is_reported(put):
    query = json.loads(MOMENTSEEKER)[0] | {"qry_img_path": "cup.png"}
    with pytest.warns(DataWarning, match="1 query has a picture or a video besides the sentence"):
        assert read_annotations(put("a.json", json.dumps([query]))).n_queries == 1


def test_a_window_of_nothing_is_no_moment_where_its_clips_are_none(read):
    # Moment of Untruth: keflanagan/MomentofUntruth ac2adcd, UniVTG-NA/negative_aware_results.py line 35.
    line = '{"qid": 1, "query": "x", "vid": "v", "duration": 9, "relevant_windows": [[0, 0]]%s}\n'
    none = ', "relevant_clip_ids": [], "saliency_scores": [[]]'
    assert read("a.jsonl", line % none) == [("1", "v", 9.0, "x", None, None, "")]
    assert read("b.jsonl", line % "") == [("1", "v", 9.0, "x", 0.0, 0.0, "")]


def test_a_query_without_a_moment(put, tmp_path):
    path = put("a.jsonl", '{"video_id": "v", "sentence": "x", "moments": [], "duration_s": 9}\n')
    annotations = read_annotations(path)
    for target in ("own", "qvhighlights", "csv"):
        write_annotations(tmp_path / target, annotations, target)
        assert read_annotations(tmp_path / target).without_moment.tolist() == [True]
    for target in ("activitynet", "charades-sta"):
        with pytest.raises(InputError, match="cannot represent a query without a moment"):
            write_annotations(tmp_path / target, annotations, target)


def test_a_form_that_is_read_only(put, tmp_path):
    annotations = read_annotations(put("a.txt", CHARADES))
    with pytest.raises(UsageError, match="the form elan is read only, expected one of own, qvhighlights, activitynet"):
        write_annotations(tmp_path / "x", annotations, "elan")
    with pytest.raises(UsageError, match=r"unknown form of references 'qvhighlight'.*did you mean qvhighlights"):
        write_annotations(tmp_path / "x", annotations, "qvhighlight")


def test_losses_in_words(put):
    annotations = read_annotations(put("a.json", FILES["didemo"][1]))
    assert losses(annotations, REFERENCES["charades-sta"]) == (
        "query ids are lost: they become VIDEO#K",
        "durations are lost",
        "annotators are lost",
        "1 query with several moments: each moment becomes a query",
    )
    assert losses(annotations, REFERENCES["own"]) == ()


def test_options_are_remembered_for_commands():
    assert ReferenceOptions(given=(("--frame-rate", "25"),)).words() == {"--frame-rate": "25"}


def test_durations_of_videos_with_another_spelling(put):
    """TimeChat names files of videos, and lists of durations their ids; a name that fits two is refused."""
    name, content, _, _ = FILES["timechat"]
    file = put(name, content)
    assert read_annotations(file, durations={"a": 60.0}).duration_s.tolist() == [60.0]
    with pytest.raises(InputError) as refused:
        read_annotations(file, durations={"v_a": 60.0, "A": 61.0})
    assert str(refused.value) == f"{file}: got durations of 'A' and 'v_a' for video 'a.mp4', expected one of them"
