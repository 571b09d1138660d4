"""Every format in its own style: samples/ holds the same five answers in each; what is read of them, and what is told.

The files are ours, written by hand in the form that each format's source names (see the modules of
truemoment.data.formats).
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.errors import InputError
from truemoment.data.formats import FORMATS, Reading, read_rows, sniff

SAMPLES = Path(__file__).parent / "samples"

# query id, video, sentence, moments with score; annotations.jsonl holds their references.
WORLD = [
    ("a1_0", "v_one", "a man's dog barks", [(2.5, 7.0, 0.75), (10.0, 12.5, 0.5)]),
    ("a1_1", "v_one", "a door opens", [(6.5, 9.0, 0.875), (0.0, 30.0, 0.125)]),
    ("b2_0", "v_two", "Die Tür geht auf", [(15.0, 40.5, 0.5), (1.5, 2.0, 0.25)]),
    ("b2_1", "v_two", "she pours tea, twice", [(50.0, 55.5, 0.375), (1.0, 4.0, 0.25)]),
    ("c3_0", "v_three", "nobody is there", [(0.0, 18.5, 0.625), (4.0, 8.0, 0.5)]),
]
IDS = [query_id for query_id, *_ in WORLD]
NO_IDS = [None] * len(WORLD)

# file: format, why it was recognised, ids, how a video is spelled ("" for not at all), whether there are sentences, how
# many of the moments, and whether the scores of WORLD ("world"), none ("rank"), or others
EXPECTED = {
    "native.jsonl": ("native", 'its first line says "truemoment"', IDS, "{}", True, 2, "world"),
    "moment-detr.jsonl": ("moment-detr", 'its first line has "pred_relevant_windows"', IDS, "{}", True, 2, "world"),
    "moment-detr.own-numbers.jsonl": (
        "moment-detr", 'its first line has "pred_relevant_windows"', list("01234"), "{}", True, 2, "world",
    ),
    "results-by-video.json": ("results-by-video", 'it has "results" with "timestamp"', NO_IDS, "{}", True, 1, "world"),
    "csv.csv": ("csv", "its headings are Video,Query,Start,End,Confidence", NO_IDS, "{}", True, 2, "world"),
    "csv.tab.tsv": ("csv", "its headings are qid\tstart_time\tend_time", IDS, "", False, 2, "rank"),
    "json.objects.json": (
        "json", "its objects have begin, confidence, finish, query, video", NO_IDS, "videos/{}.mp4", True, 2, "world",
    ),
    "unitime.json": (
        "unitime", 'it is a list of entries with "pred_relevant_windows"',
        ["100", "101", "102", "103", "104"], "{}", True, 2, "rank",
    ),
    "cone.jsonl": ("cone", 'its first line has "predicted_times"', IDS, "{}", False, 2, "rank"),
    "cone.scored.jsonl": ("cone", 'its first line has "predicted_times"', IDS, "", False, 2, "world"),
    "ego4d-nlq.json": (
        "ego4d-nlq", 'its "results" have "annotation_uid" and "predicted_times"', IDS, "{}", False, 2, "rank",
    ),
    "videomind.json": (
        "videomind", 'its entries have "pred" and "conf"', NO_IDS, "data/small/videos/{}.mp4", True, 2, "world",
    ),
    "videomind.verified.jsonl": ("videomind", 'its entries have "pred" and "conf"', NO_IDS, "{}", True, 2, "rank"),
    "time-r1.jsonl": ("time-r1", 'its entries have "qid" and "pred"', IDS, "", False, 1, "rank"),
    "time-r1.text.jsonl": ("time-r1", 'its entries have "qid" and "pred"', IDS, "", False, 1, "rank"),
    "tvr.json": ("tvr", 'it has "video2idx" and "desc_id"', IDS, "{}", True, 2, "world"),
    "vlmevalkit.json": (
        "vlmevalkit", 'its entries have "question" and "prediction"', list("12345"), "{}.mp4", True, 1, "rank",
    ),
    "timechat.json": ("timechat", 'its values have "timestamp" and "query"', IDS, "{}.mp4", True, 2, "rank"),
    "vtimellm.jsonl": ("vtimellm", 'its first line has "task"', NO_IDS, "{}", False, 1, "rank"),
    "timelens.jsonl": (
        "timelens", 'its keys are "video>>>query>>>span", its values objects', NO_IDS, "{}.mp4", True, 1, "rank",
    ),
    "timelens.numbers.json": (
        "timelens", 'its keys are "video>>>query>>>span", its values objects', NO_IDS, "{}.mp4", True, 1, "rank",
    ),
    "lmms-eval.jsonl": ("lmms-eval", 'its first line has "doc_id" and responses', NO_IDS, "{}.mp4", True, 1, "rank"),
    "lmms-eval.doc.jsonl": (
        "lmms-eval", 'its first line has "doc_id" and responses', NO_IDS, "{}.mp4", True, 1, "rank",
    ),
    "lmms-eval.submission.json": (
        "lmms-eval", 'its keys are "video>>>caption>>>span", its values text', NO_IDS, "{}.mp4", True, 1, "rank",
    ),
    "vlmevalkit.tsv": (
        "vlmevalkit", "its headings are index\tid\tvideo\tquestion\tanswer\tprediction",
        list("12345"), "{}.mp4", True, 1, "rank",
    ),
    "next-gqa.json": (
        "next-gqa", 'its keys are "VIDEO_QID", its values [start, end]', IDS, "", False, 1, "rank",
    ),
    "et-bench.json": (
        "et-bench", 'its entries have "task", "idx" and "a"', [f"tal_ours_{k}" for k in range(5)],
        "{}.mp4", True, 1, "rank",
    ),
    "momentseeker.json": (
        "momentseeker", 'its sentences have "gt" and "pred", lists of clips', NO_IDS, "{}", True, 2, "rank",
    ),
    "answers.jsonl": ("answers", 'its first line says "truemoment_answers"', IDS, "", False, 1, "rank"),
    "answers.object.json": ("answers", "it is an object whose values are text", IDS, "", False, 1, "rank"),
    "answers.table.csv": ("answers", "its headings are video,query,response", NO_IDS, "{}", True, 1, "rank"),
    "activitynet-challenge.json": (
        "activitynet-challenge", 'it has "results" with "segment" and "label"', NO_IDS, "without v_", True, 2, "world",
    ),
    "fiftyone.seconds.json": ("fiftyone", 'it has "labels" with "timestamps"', NO_IDS, "{}", True, 2, "world"),
    "fiftyone.samples.json": (
        "fiftyone", 'it has "samples" with detections that have "support"', NO_IDS, "data/{}.mp4", True, 2, "world",
    ),
    "fiftyone.frames.json": ("fiftyone", 'it has "labels" with "support"', NO_IDS, "{}", True, 2, "world"),
}  # fmt: skip
FRAMES = "fiftyone.frames.json"


def test_every_sample_is_expected_and_every_format_has_one():
    assert {path.name for path in SAMPLES.glob("*.*")} == {*EXPECTED, "annotations.jsonl"}
    assert {expected[0] for expected in EXPECTED.values()} | {"parquet"} == set(FORMATS)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_is_recognised_as_its_format_and_as_no_other(name):
    # sniff refuses a file that two formats claim.
    format_, why = sniff(SAMPLES / name)
    assert (format_.name, why) == EXPECTED[name][:2]


@pytest.mark.parametrize("path", sorted((SAMPLES / "references").iterdir()), ids=lambda path: path.name)
def test_references_of_datasets_are_taken_for_no_predictions(path):
    told = r"looks (like none of the formats|like references|most like)|got headings|which no format"
    with pytest.raises(InputError, match=told):
        read_rows(path)


def spelled(video_id, how):
    if not how:
        return None
    return video_id.removeprefix("v_") if how == "without v_" else how.format(video_id)


@pytest.mark.parametrize("name", EXPECTED)
def test_values(name):
    format_name, _, ids, video, sentences, count, scores = EXPECTED[name]
    reading = Reading(axis="fps=4") if name == FRAMES else Reading()
    rows, why = read_rows(SAMPLES / name, format_name, reading=reading)
    assert (rows.format, why) == (format_name, f"as asked{rows.note}")
    wanted = {
        (query_id, spelled(video_id, video), sentence if sentences else None): [
            (start, end, {"world": score, "rank": -float(rank)}[scores])
            for rank, (start, end, score) in enumerate(moments[:count])
        ]
        for query_id, (_, video_id, sentence, moments) in zip(ids, WORLD, strict=True)
    }
    start, end = rows.axis.to_seconds(rows.start, rows.end, np.full(len(rows.start), np.nan))
    columns = list(zip(start.tolist(), end.tolist(), rows.score.tolist(), strict=True))
    found = {
        (rows.query_id[row], rows.video_id[row], rows.sentence[row]): columns[rows.offsets[row] : rows.offsets[row + 1]]
        for row in range(len(rows))
    }
    assert len(rows) == len(WORLD)
    if name == "activitynet-challenge.json":  # its segments stand by score, so a video's labels come in that order
        assert found == wanted
    else:
        assert list(found.items()) == list(wanted.items())
    assert rows.scored == (scores == "world")
    assert (rows.saliency is not None) == (name == "moment-detr.jsonl")


def test_clip_ratings_of_the_sample():
    rows, _ = read_rows(SAMPLES / "moment-detr.jsonl")
    assert rows.saliency_offsets.tolist() == [0, 3, 6, 9, 12, 15]
    assert rows.saliency.tolist() == [0.5, -0.25, 1.0] * 5


# ------------------------------------------------------------------------------------------------ malformed


def entry(**changes):
    """Build an entry of each list format; None takes a key out."""
    return lambda base: {k: v for k, v in {**base, **changes}.items() if v is not ...}


UNITIME = {"qid": 1, "id": "v", "annos": [{"query": "s"}], "pred_relevant_windows": [[1, 2]]}
CONE = {"query_id": "q", "predicted_times": [[1, 2]]}
EGO4D = {"clip_uid": "c", "annotation_uid": "a", "query_idx": 0, "predicted_times": [[1, 2]]}
VIDEOMIND = {"vid": "v", "query": "s", "pred": [[1, 2]], "conf": [0.5]}
TIME_R1 = {"qid": "q", "pred": [1, 2]}
SAMPLE = {"doc_id": 0, "doc": {"video": "v", "caption": "s"}, "filtered_resps": ["1 to 2 s"]}
SEGMENT = {"label": "s", "segment": [1, 2], "score": 0.5}
DETECTION = {"label": "s", "timestamps": [1, 2], "confidence": 0.5}


def unitime(**changes):
    return json.dumps([UNITIME, entry(**changes)(UNITIME)])


def lines(base):
    return lambda **changes: json.dumps(base) + "\n" + json.dumps(entry(**changes)(base)) + "\n"


cone, videomind, time_r1, sample = lines(CONE), lines(VIDEOMIND), lines(TIME_R1), lines(SAMPLE)


def ego4d(**changes):
    return json.dumps({"version": "1.0", "results": [EGO4D, entry(**changes)(EGO4D)]})


def segment(**changes):
    return json.dumps({"results": {"v": [SEGMENT, entry(**changes)(SEGMENT)]}})


def detection(**changes):
    return json.dumps({"labels": {"v": [DETECTION, entry(**changes)(DETECTION)]}})


def timelens(**entries):
    return json.dumps({f"v>>>{query}>>>[1, 2]": value for query, value in entries.items()})


def samples(*fields, **about):
    return json.dumps({"samples": [{"filepath": "v.mp4", **about, **dict(fields)}]})


def detections(*, cls="TemporalDetections", **changes):
    moment = {"label": "s", "support": [1, 4], **changes}
    return {"_cls": cls, "detections": [moment]}


NAN = float("nan")
ANY_ID = "got null, expected a whole number or text"
THROUGHOUT = "expected [start, end] or [start, end, score] throughout"
MALFORMED = [
    # UniTime
    ("unitime", unitime(qid=...), ":1: field [1].qid: is missing"),
    ("unitime", unitime(qid=None), f":1: field [1].qid: {ANY_ID}"),
    ("unitime", unitime(pred_relevant_windows=...), ":1: field [1].pred_relevant_windows: is missing"),
    (
        "unitime", unitime(pred_relevant_windows=[["1", 2]]),
        ":1: field [1].pred_relevant_windows[0][0]: got text, expected a number",
    ),
    (
        "unitime", unitime(pred_relevant_windows=[[1]]),
        f":1: field pred_relevant_windows: got a moment of 1 values, {THROUGHOUT}",
    ),
    ("unitime", unitime(pred_relevant_windows=[[1, NAN]]), ":1: got NaN, expected a number"),
    ("unitime", unitime()[:-1], ":1: input data was truncated, expected JSON"),
    ("unitime", "[]", ": has no predictions"),
    ("unitime", '[{"qid": 1, "qid": 2}]', ": field qid: 'qid' appears twice, expected each key once"),
    ("unitime", json.dumps([UNITIME, 3], indent=1), ":17: field [1]: got a whole number, expected an object"),
    # CONE
    ("cone", cone(query_id=...), ":2: field query_id: is missing"),
    ("cone", cone(query_id=None), f":2: field query_id: {ANY_ID}"),
    ("cone", cone(predicted_times=None), ":2: field predicted_times: got null, expected a list"),
    ("cone", cone(predicted_times=[[1, "2"]]), ":2: field predicted_times[0][1]: got text, expected a number"),
    (
        "cone", cone(predicted_times=[[1, 2, 3, 4, 5], [1, 2]]),
        f":2: field predicted_times: got a moment of 5 values, {THROUGHOUT}",
    ),
    ("cone", cone(predicted_times=[[1, NAN]]), ":2: got NaN, expected a number"),
    ("cone", cone()[:-9], ":2: input data was truncated, expected JSON"),
    ("cone", "\n", ": has no predictions"),
    # Ego4D
    ("ego4d-nlq", ego4d(annotation_uid=...), ":1: field results[1].annotation_uid: is missing"),
    ("ego4d-nlq", ego4d(query_idx=-1), ":1: field results[1].query_idx: got -1, expected a whole number >= 0"),
    ("ego4d-nlq", ego4d(query_idx="0"), ":1: field results[1].query_idx: got text, expected a whole number"),
    (
        "ego4d-nlq", ego4d(predicted_times=[1, 2]),
        ":1: field results[1].predicted_times[0]: got a whole number, expected a list",
    ),
    ("ego4d-nlq", ego4d()[:-2], ":1: input data was truncated, expected JSON"),
    ("ego4d-nlq", ego4d(predicted_times=[[NAN, 1]]), ":1: got NaN, expected a number"),
    ("ego4d-nlq", '{"results": []}', ": field results: has no predictions"),
    ("ego4d-nlq", "{}", ":1: field results: is missing"),
    # VideoMind
    ("videomind", videomind(vid=...), ":2: field vid: is missing, expected it or qid"),
    ("videomind", videomind(query=...), ":2: field query: is missing, expected it or qid"),
    ("videomind", videomind(pred=[[1, 2, 3]]), ":2: field pred[0]: expected a list of length 2"),
    ("videomind", videomind(conf=[]), ":2: field conf: got 0 for 1 moments, expected one each"),
    ("videomind", videomind(conf=["x"]), ":2: field conf[0]: got text, expected a number"),
    ("videomind", videomind(conf=[NAN]), ":2: got NaN, expected a number"),
    ("videomind", videomind()[:-9], ":2: input data was truncated, expected JSON"),
    ("videomind", "[]", ": has no predictions"),
    # Time-R1
    (
        "time-r1", time_r1(pred=...),
        ":2: field pred: is missing; answer, start and end of TVGBench are the reference, not a prediction",
    ),
    ("time-r1", time_r1(qid=...), ":2: field qid: is missing, expected it or video and sentence"),
    ("time-r1", time_r1(pred=[1]), ":2: field pred: expected a list of length 2"),
    ("time-r1", time_r1(pred=3), ":2: field pred: got a whole number, expected a list or null"),
    (
        "time-r1", time_r1(output_text="1 to 2"),
        ":1: field output_text: is missing, and 1 other entries have it; expected all or none",
    ),
    ("time-r1", time_r1(pred=[NAN, 1]), ":2: got NaN, expected a number"),
    ("time-r1", time_r1()[:-9], ":2: input data was truncated, expected JSON"),
    ("time-r1", "\n", ": has no predictions"),
    (
        "time-r1", json.dumps([{"path": "v", "question": "s", "answer": "1-2", "start": None, "duration": 9}]),
        ":1: field pred: is missing; answer, start and end of TVGBench are the reference, not a prediction",
    ),
    # TimeLens
    ("timelens", '{"v>>>s": {"answers": ""}}', ":1: got key 'v>>>s', expected video>>>query>>>span"),
    ("timelens", timelens(a={}), ":1: field v>>>a>>>[1, 2].answers: is missing, expected it or timestamps"),
    (
        "timelens", timelens(a={"answers": "1 to 2"}, b={"timestamps": [[1, 2]]}),
        ":1: field v>>>b>>>[1, 2].answers: is missing, and 1 other entries have it; expected all or none",
    ),
    (
        "timelens", timelens(a={"answers": 3}),
        ":1: field v>>>a>>>[1, 2].answers: got a whole number, expected text or null",
    ),
    ("timelens", timelens(a={"timestamps": [[NAN, 1]]}), ":1: got NaN, expected a number"),
    ("timelens", timelens(a={"timestamps": [[2, 1]]})[:-3], ":1: input data was truncated, expected JSON"),
    ("timelens", "{}", ": has no predictions"),
    # lmms-eval
    ("lmms-eval", sample(doc={"video": "v"}), ":2: field doc.caption: is missing"),
    ("lmms-eval", sample(doc={"caption": "s"}), ":2: field doc.video: is missing"),
    ("lmms-eval", sample(doc={"video": 3}), ":2: field doc.video: got a whole number, expected text or null"),
    ("lmms-eval", sample(doc=...), ":2: field doc: is missing, expected it or a key video>>>caption>>>span"),
    ("lmms-eval", sample(filtered_resps=...), ":2: field filtered_resps: is missing"),
    ("lmms-eval", sample(filtered_resps=["a", "b"]), ":2: field filtered_resps: got 2 responses, expected one"),
    ("lmms-eval", sample(filtered_resps=[[3]]), ":2: field filtered_resps: got 3, expected text"),
    ("lmms-eval", sample()[:-9], ":2: input data was truncated, expected JSON"),
    ("lmms-eval", "{}", ": has no predictions"),
    ("lmms-eval", '{"v>>>s>>>[1, 2]": 3}', ":1: field v>>>s>>>[1, 2]: got a whole number, expected text or null"),
    ("lmms-eval", '{"v": "1 to 2"}', ": got key 'v', expected video>>>caption>>>span"),
    # VLMEvalKit
    (
        "vlmevalkit", "id\tvideo\tquestion\tanswer\n1\tv\ts\t[[1, 2]]\n",
        ":1: got headings id, video, question, answer, expected video_id, sentence, prediction, query_id "
        "(or video_id, sentence)",
    ),
    ("vlmevalkit", "video\tquestion\tprediction\nv\ts\n", ":2: got 2 values, expected 3 as in the headings"),
    ("vlmevalkit", "video\tquestion\tprediction\n", ": has no predictions"),
    ("vlmevalkit", 'video\tquestion\tprediction\nv\ts\t"cut', ":2: unexpected end of data, expected CSV"),
    # answers
    ("answers", '{"query_id": "q"}\n', ":1: field answer: is missing"),
    ("answers", '{"answer": "1 to 2"}\n', ":1: field query_id: is missing, expected it or video_id and sentence"),
    ("answers", '{"query_id": "q", "answer": 3}\n', ":1: field answer: got a whole number, expected text or null"),
    ("answers", '{"query_id": "q", "answer": "a"}\n{"que', ":2: input data was truncated, expected JSON"),
    ("answers", '{"truemoment_answers": 2}\n', ":1: field truemoment_answers: got version 2, expected 1"),
    ("answers", '{"truemoment_answers": 1}\n', ": has no predictions"),
    ("answers", '{"q": "a", "r": 3}', ":1: field r: got a whole number, expected text or null"),
    ("answers", '{"q": "a", "q": "b"}', ": field q: 'q' appears twice, expected each key once"),
    (
        "answers", "query_id,answer,prediction\nq,a,b\n",
        ":1: got headings answer and prediction, expected one of them",
    ),
    ("answers", "query_id,answer\n", ": has no predictions"),
    # ActivityNet
    ("activitynet-challenge", segment(label=...), ":1: field results.v[1].label: is missing"),
    ("activitynet-challenge", segment(segment=[1]), ":1: field results.v[1].segment: expected a list of length 2"),
    ("activitynet-challenge", segment(score=None), ":1: field results.v[1].score: got null, expected a number"),
    (
        "activitynet-challenge", segment(score=...),
        f": field segment: got moments with and without a score, {THROUGHOUT}",
    ),
    ("activitynet-challenge", segment(score=NAN), ":1: got NaN, expected a number"),
    ("activitynet-challenge", segment()[:-2], ":1: input data was truncated, expected JSON"),
    ("activitynet-challenge", '{"results": {"v": []}}', ": field results: has no predictions"),
    (
        "activitynet-challenge", '{"results": {"v": [], "v": []}}',
        ": field v: 'v' appears twice, expected each key once",
    ),
    # FiftyOne
    ("fiftyone", detection(label=...), ":1: field labels.v[1].label: is missing"),
    (
        "fiftyone", detection(label=3),
        ": field labels.v[1].label: got class 3, expected text or the number of a class (none are listed)",
    ),
    ("fiftyone", detection(timestamps=...), ": field labels.v[1].support: is missing, expected it or timestamps"),
    (
        "fiftyone", detection(timestamps=..., support=[0, 3]),
        ":1: field labels.v[1].support[0]: got 0, expected a whole number >= 1",
    ),
    (
        "fiftyone", detection(timestamps=..., support=[1, 3]),
        ": field labels.v[1]: counts frames of an unknown rate, and others are seconds; expected all or none",
    ),
    ("fiftyone", detection(timestamps=[NAN, 1]), ":1: got NaN, expected a number"),
    ("fiftyone", detection()[:-2], ":1: input data was truncated, expected JSON"),
    ("fiftyone", '{"labels": {"v": null}}', ": has no predictions"),
    ("fiftyone", "{}", ":1: field labels: is missing"),
    (
        "fiftyone", samples(("ground_truth", detections())),
        ": field samples: has no temporal detections, expected one, or one named predictions",
    ),
    (
        "fiftyone", samples(("a", detections()), ("b", detections())),
        ": field samples: got fields a, b of temporal detections, expected one, or one named predictions",
    ),
    (
        "fiftyone", samples(("a", detections()), metadata={"frame_rate": 0}),
        ":1: field samples[0].metadata.frame_rate: got 0, expected a number > 0.0",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("format_name", "content", "said"), MALFORMED, ids=[f"{row[0]}-{number}" for number, row in enumerate(MALFORMED)]
)
def test_malformed_files_are_told_exactly(tmp_path, format_name, content, said):
    path = tmp_path / "p"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_rows(path, format_name)
    assert str(caught.value).removeprefix(str(path)) == said


# ------------------------------------------------------------------------------------------- details of each


@pytest.fixture
def rows_of(tmp_path):
    """Give the function that reads a text in a format."""

    def read(content, format_name, **options):
        path = tmp_path / "p"
        path.write_text(content)
        return read_rows(path, format_name, **options)[0]

    return read


def moments_of(rows):
    return [
        list(zip(rows.start[low:high].tolist(), rows.end[low:high].tolist(), strict=True))
        for low, high in zip(rows.offsets, rows.offsets[1:], strict=False)
    ]


def test_unitimes_sign_that_nothing_was_found_is_no_moment(rows_of):
    # Lzq5/UniTime, inference.py: [[-1, -1]] where an answer holds no number; an empty list is an abstention.
    found = json.dumps([{**UNITIME, "pred_relevant_windows": windows} for windows in ([[-1, -1]], [], [[1, 2]])])
    rows = rows_of(found, "unitime")
    assert moments_of(rows) == [[], [], [(1.0, 2.0)]]
    assert rows.status == ["failed", "no answer", "parsed"]
    assert rows_of(unitime(), "unitime").status is None


def test_time_r1s_nulls_count_as_failed(rows_of):
    # xiaomi-research/time-r1, evaluate.py: [None, None] where an answer holds no "A to B".
    content = "".join(
        json.dumps({"qid": k, "pred": pred}) + "\n" for k, pred in enumerate([[None, None], None, [1, 2]])
    )
    rows = rows_of(content, "time-r1")
    assert moments_of(rows) == [[], [], [(1.0, 2.0)]]
    assert rows.status == ["failed", "failed", "parsed"]


def test_tvgbench_entries_with_a_prediction_name_their_query(rows_of):
    content = json.dumps([{"path": "x/v.mp4", "question": "s", "answer": "5-6", "pred": [1, 2]}])
    rows = rows_of(content, "time-r1")
    assert (rows.query_id, rows.video_id, rows.sentence) == ([None], ["x/v.mp4"], ["s"])
    assert moments_of(rows) == [[(1.0, 2.0)]]  # never the reference, 5 to 6


def test_what_the_model_said_goes_before_what_another_reader_made_of_it(rows_of):
    # TimeLens rounds to its unit and fills an unread answer with a moment behind the video's end.
    content = timelens(a={"timestamps": [[40, 50]], "answers": "I cannot tell."})
    rows = rows_of(content, "timelens")
    assert moments_of(rows) == [[]]
    assert rows.status[0] != "parsed"


def test_timelens_lines_may_repeat_a_key(rows_of):
    content = timelens(a={"answers": "1 to 2 s"}) + "\n" + timelens(a={"answers": "3 to 4 s"}) + "\n"
    assert moments_of(rows_of(content, "timelens")) == [[(1.0, 2.0)], [(3.0, 4.0)]]


def test_a_query_that_holds_the_mark_of_keys(rows_of):
    rows = rows_of('{"v.mp4>>>a >>> b>>>[1, 2]": "1 to 2 s"}', "lmms-eval")
    assert (rows.video_id, rows.sentence) == (["v.mp4"], ["a >>> b"])


@pytest.mark.parametrize("resps", ["1 to 2 s", ["1 to 2 s"], [["1 to 2 s"]], [[["1 to 2 s"]]]])
@pytest.mark.parametrize("field", ["filtered_resps", "resps"])
def test_responses_in_any_depth_of_lists(rows_of, resps, field):
    content = json.dumps({"doc_id": 0, "doc": SAMPLE["doc"], field: resps}) + "\n"
    assert moments_of(rows_of(content, "lmms-eval")) == [[(1.0, 2.0)]]


def test_no_response_counts_as_failed(rows_of):
    rows = rows_of(json.dumps({**SAMPLE, "filtered_resps": [None]}) + "\n", "lmms-eval")
    assert rows.status == ["failed"]


def test_samples_with_the_same_query_do_not_collapse(rows_of):
    # lmms-eval's own evaluation keys by video, caption and time: of two such lines it counts one (field.md, 1.7).
    content = "".join(json.dumps({**SAMPLE, "filtered_resps": f"{k} to 9 s"}) + "\n" for k in (1, 2, 3))
    rows = rows_of(content, "lmms-eval")
    assert moments_of(rows) == [[(1.0, 9.0)], [(2.0, 9.0)], [(3.0, 9.0)]]
    assert list(rows.line) == [1, 2, 3]


def test_timelens_task_of_lmms_eval(rows_of):
    doc = {"video_path": "x/v.mp4", "query": "s", "span": [[1, 2]], "duration": 9.0}
    rows = rows_of(json.dumps({"doc_id": 0, "doc": doc, "filtered_resps": "1 to 2 s"}) + "\n", "lmms-eval")
    assert (rows.video_id, rows.sentence) == (["x/v.mp4"], ["s"])


def test_videominds_order_is_the_rank_where_confidences_do_not_fall(rows_of):
    # The verifier re-orders the list, the confidences stay the grounder's (yeliudev/VideoMind, infer_auto.py).
    falling = {**VIDEOMIND, "pred": [[1, 2], [3, 4]], "conf": [0.5, 0.25]}
    rising = {**VIDEOMIND, "pred": [[1, 2], [3, 4]], "conf": [0.25, 0.5]}
    assert rows_of(json.dumps([falling]), "videomind").score.tolist() == [0.5, 0.25]
    assert rows_of(json.dumps([falling, rising]), "videomind").score.tolist() == [0.0, -1.0, 0.0, -1.0]


def test_videominds_answers_without_grounding_are_abstentions(rows_of):
    ungrounded = {"video_path": "x/v.mp4", "question": "why?", "response": "(A)"}
    rows = rows_of(json.dumps([VIDEOMIND, ungrounded]), "videomind")
    assert moments_of(rows) == [[(1.0, 2.0)], []]
    assert rows.sentence == ["s", "why?"]


def test_an_answer_beside_its_video_and_sentence(rows_of):
    rows = rows_of('{"video_id": "v", "sentence": "s", "answer": null}\n', "answers")
    assert (rows.query_id, rows.video_id, rows.sentence, rows.status) == ([None], ["v"], ["s"], ["failed"])


def test_what_a_file_of_answers_says_of_itself(rows_of):
    content = (
        '{"truemoment_answers": 1, "model": "m", "fps": 2}\n{"query_id": 7, "answer": "1 to 2 s", "seconds": 0.5}\n'
    )
    rows = rows_of(content, "answers")
    assert rows.header == {"made_by": {"truemoment_answers": 1, "model": "m", "fps": 2}}
    assert rows.query_id == ["7"]


@pytest.mark.parametrize("heading", ["answer", "prediction", "response", "output", "Output"])
def test_headings_of_answers(tmp_path, heading):
    path = tmp_path / "p"
    path.write_text(f"qid,{heading}\nq,1 to 2 s\n")
    assert sniff(path)[0].name == "answers"
    assert moments_of(read_rows(path)[0]) == [[(1.0, 2.0)]]


@pytest.mark.parametrize(
    ("frames", "seconds"), [((1, 30), (0.0, 1.0)), ((1, 1), (0.0, 1 / 30)), ((31, 60), (1.0, 2.0))]
)
def test_frames_of_fiftyone_count_from_one_and_both_ends_belong(rows_of, frames, seconds):
    # fiftyone/core/labels.py: "the [first, last] frame numbers, inclusive"; at 30 a second frame 1 is second 0 to 1/30.
    field = detections(support=list(frames))
    rows = rows_of(samples(("moments", field), metadata={"frame_rate": 30}), "fiftyone")
    assert moments_of(rows) == [[pytest.approx(seconds)]]


def test_frames_without_a_rate_are_never_taken_for_seconds():
    path = SAMPLES / FRAMES
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert str(caught.value) == (
        f"{path}: has frame numbers without a frame rate, got --axis seconds; give the rate with --axis fps=F"
    )


def test_labels_of_several_segments_are_one_ranked_list(rows_of):
    found = [{"label": name, "segment": [k, k + 1], "score": 0.5} for k, name in enumerate("abab")]
    rows = rows_of(json.dumps({"results": {"v": found}}), "activitynet-challenge")
    assert rows.sentence == ["a", "b"]
    assert moments_of(rows) == [[(0.0, 1.0), (2.0, 3.0)], [(1.0, 2.0), (3.0, 4.0)]]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('[{"qid": 1, "vid": "v", "pred_relevant_windows": [], "pred": [], "conf": []}]', ("unitime", "videomind")),
        ('{"query_id": "q", "predicted_times": [], "moments": []}\n', ("native", "cone")),
        ('{"query_id": "q", "moments": [[1, 2]], "answer": "1 to 2"}\n', ("native", "answers")),
        ("query_id,start,end,answer\n", ("csv", "answers")),
        ("video\tquestion\tprediction\tquery\n", ("vlmevalkit", "answers")),
    ],
)
def test_what_two_formats_claim_is_refused_with_both_named(tmp_path, content, names):
    path = tmp_path / "p"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        sniff(path)
    said = str(caught.value)
    assert [name for name in FORMATS if f"like {name} (" in said] == list(names)
    assert said.endswith("; name it with --format")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_cut_off_anywhere_is_read_or_refused_in_one_line(tmp_path, name):
    whole = (SAMPLES / name).read_bytes()
    path = tmp_path / "p"
    said = []
    for length in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:length])
        try:
            read_rows(path, EXPECTED[name][0])
        except InputError as error:
            said.append(str(error))
    assert said  # at least of the empty file
    assert all(text.startswith(str(path)) and len(text.splitlines()) == 1 for text in said)


@pytest.mark.parametrize("name", [name for name in EXPECTED if "json" in name])
def test_a_number_of_400_digits_is_read_or_refused_in_one_line(tmp_path, name):
    text = (SAMPLES / name).read_text(encoding="utf-8")
    path = tmp_path / name
    said = []
    for number in list(re.finditer(r"(?<=[:\[,] )\d+(\.\d+)?(?=[,\]}])", text))[:25]:
        path.write_text(text[: number.start()] + "9" * 400 + text[number.end() :], encoding="utf-8")
        try:
            read_rows(path)
        except InputError as error:
            said.append(str(error))
    assert all(line.startswith(str(path)) and len(line.splitlines()) == 1 for line in said)
