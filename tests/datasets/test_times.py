"""Times and numbers that no video has: every reader names file, line and field, whatever the number."""

import json

import pytest

from truemoment import read_annotations
from truemoment.base.errors import InputError

CAPTIONS = {"v": {"duration": 30.0, "sentences": ["x"], "timestamps": [[1.0, 2.0]]}}
CHARADES = {"v": {"video_duration": 30.0, "sentences": ["x"], "timestamps": [[1.0, 2.0]]}}
TACOS = {"v": {"fps": 2.0, "num_frames": 60, "sentences": ["x"], "timestamps": [[1, 2]]}}
DIDEMO = {"annotation_id": 5, "video": "v", "description": "x", "num_segments": 6, "times": [[0, 1]]}
HIGHLIGHTS = {"qid": 5, "query": "x", "vid": "v", "duration": 150.0, "relevant_windows": [[0, 2]]}
MAD = {"7": {"movie": "m", "sentence": "x", "ext_timestamps": [1.0, 2.0], "movie_duration": 30.0}}
OWN = {"video_id": "v", "sentence": "x", "moments": [[1.0, 2.0]], "duration_s": 30.0}

FAR = "100000001"
"""One second more than records.MAX_TIME_S, 1e8."""

UP_TO = "expected a number <= 100000000.0"
TEXT_UP_TO = "expected seconds up to 1e+08"
SEGMENTS = "expected a whole number <= 19999999"  # of 5 s each

PLACES = {
    # case: (dataset, split, file, content, where the time stands, what is said behind the file's name)
    "a moment of ActivityNet Captions": (
        "activitynet-captions", "val_1", "val_1.json", CAPTIONS, "2.0",
        f":1: field v.timestamps[0][1]: got {FAR}, {UP_TO}",
    ),
    "a duration of ActivityNet Captions": (
        "activitynet-captions", "val_1", "val_1.json", CAPTIONS, "30.0", f":1: field v.duration: got {FAR}, {UP_TO}",
    ),
    "a moment of ActivityNet-CD": (
        "activitynet-cd", "val", "anet_val.json", CAPTIONS, "1.0", f":1: field v.timestamps[0][0]: got {FAR}, {UP_TO}",
    ),
    "a moment of Charades-CD": (
        "charades-cd", "val", "charades_val.json", CHARADES, "2.0", f":1: field v.timestamps[0][1]: got {FAR}, {UP_TO}",
    ),
    "a duration of Charades-CD": (
        "charades-cd", "val", "charades_val.json", CHARADES, "30.0", f":1: field v.video_duration: got {FAR}, {UP_TO}",
    ),
    "a frame of TACoS": (
        "tacos", "val", "val.json", TACOS, "[[1, 2]]",
        ":1: field v: got frame 200000002 at 2 frames a second, expected seconds up to 1e+08",
    ),
    "a number of frames of TACoS": (
        "tacos", "val", "val.json", TACOS, "60",
        f":1: field v: got frame {2 * int(FAR)} at 2 frames a second, expected seconds up to 1e+08",
    ),
    "a segment of DiDeMo": (
        "didemo", "val", "val_data.json", [DIDEMO], "[0, 1]", f":1: field [0].times[0][1]: got 20000000, {SEGMENTS}",
    ),
    "a number of segments of DiDeMo": (
        "didemo", "val", "val_data.json", [DIDEMO], "6", f":1: field [0].num_segments: got 20000000, {SEGMENTS}",
    ),
    "a window of QVHighlights": (
        "qvhighlights", "val", "highlight_val_release.jsonl", HIGHLIGHTS, "[0, 2]",
        f":1: field relevant_windows[0][1]: got {FAR}, {UP_TO}",
    ),
    "a duration of QVHighlights": (
        "qvhighlights", "val", "highlight_val_release.jsonl", HIGHLIGHTS, "150.0",
        f":1: field duration: got {FAR}, {UP_TO}",
    ),
    "a moment of MAD": (
        "mad", "test", "MAD_test.json", MAD, "2.0", f":1: field 7.ext_timestamps[1]: got {FAR}, {UP_TO}",
    ),
    "a duration of MAD": (
        "mad", "test", "MAD_test.json", MAD, "30.0", f":1: field 7.movie_duration: got {FAR}, {UP_TO}",
    ),
}  # fmt: skip
FAR_HERE = {
    "[[1, 2]]": f"[[1, {2 * int(FAR)}]]",
    "60": str(2 * int(FAR)),
    "[0, 1]": "[0, 20000000]",
    "6": "20000000",
    "[0, 2]": f"[0, {FAR}]",
}
"""What is put in the place of a time where FAR itself would be none too late: frames and segments."""


@pytest.mark.parametrize("case", PLACES)
def test_a_time_that_no_video_has_names_its_place(put, refused, case):
    dataset, split, file, content, time, said = PLACES[case]
    text = json.dumps(content)
    assert text.count(time) == 1
    put(dataset, file, text.replace(time, FAR_HERE.get(time, FAR)))
    assert refused(dataset, split) == f"{dataset}/{file}{said}"


@pytest.mark.parametrize(
    ("line", "length", "said"),
    [
        (f"3MSZA {FAR} 2##a.", "30", f"charades_sta_test.txt:1: field start: got '{FAR}', {TEXT_UP_TO}"),
        (f"3MSZA 1 -{FAR}##a.", "30", f"charades_sta_test.txt:1: field end: got '-{FAR}', {TEXT_UP_TO}"),
        ("3MSZA 1 2##a.", FAR, f"Charades_v1_test.csv:2: field length: got '{FAR}', {TEXT_UP_TO}"),
    ],
)
def test_a_time_of_charades_sta_that_no_video_has_names_its_place(put, refused, line, length, said):
    put("charades-sta", "charades_sta_test.txt", line)
    put("charades-sta", "Charades_v1_test.csv", f"id,length\n3MSZA,{length}\n")
    assert refused("charades-sta", "test") == f"charades-sta/{said}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"moments": [[1.0, int(FAR)]]}, f"field moments[0][1]: got {FAR}, {UP_TO}"),
        (
            {"moments": [[1.0, 2.0], [-1e9, 3.0]]},
            "field moments[1][0]: got -1000000000, expected a number >= -100000000.0",
        ),
        ({"duration_s": 1.5e8}, f"field duration_s: got 150000000, {UP_TO}"),
    ],
)
def test_a_time_of_own_annotations_that_no_video_has_names_its_place(tmp_path, change, said):
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(OWN)}\n{json.dumps({**OWN, **change})}\n")
    with pytest.raises(InputError) as caught:
        read_annotations(path)
    assert str(caught.value) == f"{path}:2: {said}"


HUGE = ["1e400", "-1e400", "9" * 400, "-" + "9" * 400, "9" * 5000, str(2**63), str(-(2**63) - 1), "1e308", "-1e308"]


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize("case", PLACES)
def test_a_huge_number_is_refused_wherever_it_stands(put, refused, case, number):
    dataset, split, file, content, time, _ = PLACES[case]
    huge = time.replace("2]", f"{number}]").replace("1]", f"{number}]") if "[" in time else number
    put(dataset, file, json.dumps(content).replace(time, huge))
    assert refused(dataset, split).startswith(f"{dataset}/{file}:1: ")


@pytest.mark.parametrize("zero", ["-0", "-0.0", "1e-400"])
def test_a_zero_is_a_time_however_it_is_written(put, load, zero):
    put("didemo", "val_data.json", json.dumps([DIDEMO]).replace("[0, 1]", f"[{zero if zero == '-0' else 0}, 1]"))
    assert load("didemo", "val").start_s.tolist() == [0.0]
    put("mad", "MAD_test.json", json.dumps(MAD).replace("1.0", zero))
    assert load("mad", "test").start_s.tolist() == [0.0]
