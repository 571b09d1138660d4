"""A small file of every form of references, with the rows that it has.

Each is written after the documentation of its program or dataset; the numbers are our own.
"""

import json
import math

import pytest

from truemoment.data.references import read_annotations

NAN = math.nan

OWN = '{"video_id": "kitchen", "sentence": "a door opens", "moments": [[4, 10]], "duration_s": 60}\n'
ANSWERS = (
    '{"schema": "truemoment/answers/1", "study": "s", "truemoment": "0.1.0"}\n'
    '{"query_id": "k#0", "video_id": "kitchen", "sentence": "a door opens", "duration_s": 60.0, "annotator": "w1", '
    '"verdict": "marked", "moments": [[4.0, 10.0]]}\n'
)
QVHIGHLIGHTS = (
    '{"qid": "q1", "query": "a horn sounds", "duration": 60, "vid": "clip", "relevant_windows": [[27, 28], [30, 32]]}\n'
    '{"qid": 2, "query": "a bell", "vid": "clip", "relevant_windows": [[4, 8]], "duration": 60, '
    '"relevant_clip_ids": [2, 3], "saliency_scores": [[1, 2, 3], [4, 4, 4]]}\n'
)
ACTIVITYNET = json.dumps(
    {"v_a": {"duration": 60.5, "timestamps": [[4.0, 10.0], [20, 30.25]], "sentences": ["A door opens.", " It closes."]}}
)
CHARADES = "AAAAA 4.0 10.0##person opens the door.\nAAAAA 0.5 2##person sits.\r\n"
TACOS = json.dumps({"s1.avi": {"num_frames": 600, "fps": 30.0, "timestamps": [[60, 150]], "sentences": ["He cuts."]}})
DIDEMO = json.dumps(
    [{"annotation_id": 7, "video": "a.mov", "description": "a dog", "times": [[0, 0], [1, 2]], "num_segments": 6}]
)
TIMECHAT = json.dumps(
    {"annotations": [{"image_id": "a.mp4", "caption": "a door opens", "timestamp": [4, 10.5], "id": 7}]}
)
ET_BENCH = json.dumps(
    [
        {"idx": 0, "task": "tvg", "source": "ours", "video": "a.mp4", "duration": 60, "tgt": [4, 10.5], "q": "When?"},
        {
            "idx": 0,
            "task": "tal",
            "source": "ours",
            "video": "a.mp4",
            "duration": 60,
            "tgt": [[1, 2], [3, 4]],
            "q": "Jump?",
        },
        {
            "idx": 0,
            "task": "vhd",
            "source": "ours",
            "video": "a.mp4",
            "duration": 60,
            "tgt": [[[1, 2]], [[1.5, 4], [5, 6]]],
            "q": "Best?",
        },
    ]
)
MOMENTSEEKER = json.dumps(
    [
        {
            "qry_text": "Who falls?",
            "qry_img_path": "",
            "qry_video_path": "",
            "candidate_video_list": [
                {"output_path": f"long/kitchen/{clip}.mp4", "frame_path": f"long/kitchen/{clip}_mid_frame.png"}
                for clip in ("0.00_3.00", "3.00_9.50", "9.50_12.00")
            ],
            "gt_indices": [1, 2],
        }
    ]
)
EGO4D = json.dumps(
    {
        "videos": [
            {
                "clips": [
                    {
                        "clip_uid": "c1",
                        "video_start_sec": 10.0,
                        "video_end_sec": 70.0,
                        "annotations": [
                            {
                                "annotation_uid": "u1",
                                "language_queries": [
                                    {"clip_start_sec": 4.0, "clip_end_sec": 10.0, "query": "Where is the cup?"}
                                ],
                            }
                        ],
                    }
                ]
            }
        ]
    }
)
CSV = "video_id,duration,sentence,start,end\nkitchen,60,a door opens,4.0,10.0\nkitchen,60,it closes,20,30\n"
OBJECTS = json.dumps([{"video": "kitchen", "caption": "a door opens", "timestamp": [4.0, 10.0], "duration": 60}])
ELAN = """<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT AUTHOR="" FORMAT="3.0" VERSION="3.0">
<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds">
<MEDIA_DESCRIPTOR MEDIA_URL="file:///home/kitchen%201.wav" MIME_TYPE="audio/x-wav"/>
<MEDIA_DESCRIPTOR MEDIA_URL="file:///home/kitchen.mp4" MIME_TYPE="video/mp4"/></HEADER>
<TIME_ORDER><TIME_SLOT TIME_SLOT_ID="ts1" TIME_VALUE="4000"/>
<TIME_SLOT TIME_SLOT_ID="ts2" TIME_VALUE="10000"/></TIME_ORDER>
<TIER TIER_ID="english" ANNOTATOR="ann"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a1" TIME_SLOT_REF1="ts1"
 TIME_SLOT_REF2="ts2"><ANNOTATION_VALUE>a door opens</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>
<TIER TIER_ID="german" PARENT_REF="english"><ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a2" ANNOTATION_REF="a1">
<ANNOTATION_VALUE>eine T\u00fcr \u00f6ffnet sich</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION></TIER>
</ANNOTATION_DOCUMENT>
"""
VIA_CSV = """# Exported using VGG Image Annotator (http://www.robots.ox.ac.uk/~vgg/software/via)
# CSV_HEADER = metadata_id,file_list,flags,temporal_coordinates,spatial_coordinates,metadata
"1_abc","[""kitchen.mp4""]",0,"[4,10]","[]","{""1"":""a door opens""}"
"""
VIA = json.dumps(
    {
        "project": {"pname": "p"},
        "attribute": {"1": {"aname": "what", "type": 4, "options": {"0": "a door opens", "1": "it closes"}}},
        "file": {"5": {"fid": "5", "fname": "kitchen.mp4", "type": 4}},
        "view": {"1": {"fid_list": ["5"]}},
        "metadata": {"1_x": {"vid": "1", "flg": 0, "z": [4, 10], "xy": [], "av": {"1": "0"}}},
    }
)
LABEL_STUDIO = json.dumps(
    [
        {
            "id": 1,
            "data": {"video": "/data/upload/3/0a1b2c3d-kitchen.mp4"},
            "annotations": [
                {
                    "completed_by": 3,
                    "result": [
                        {
                            "id": "r1",
                            "type": "timelinelabels",
                            "value": {
                                "ranges": [{"start": 101, "end": 250}, {"start": 501, "end": 525}],
                                "timelinelabels": ["a door opens"],
                            },
                        },
                        {"id": "r2", "type": "labels", "value": {"start": 30.0, "end": 31.5, "labels": ["speech"]}},
                        {"id": "r2", "type": "textarea", "value": {"start": 30.0, "end": 31.5, "text": ["she sings"]}},
                    ],
                }
            ],
        }
    ]
)
CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version>
<meta><task><id>4</id><name>task</name><size>1500</size><source>kitchen.mp4</source></task></meta>
<track id="0" label="door opens" source="manual"><box frame="100" outside="0"/><box frame="101" outside="0"/>
<box frame="250" outside="1"/><box frame="300" outside="0"/></track>
<track id="1" label="person"><box frame="0" outside="0"><attribute name="description">she sits</attribute></box>
<box frame="50" outside="1"/></track>
<image id="75" name="frame_000075"><tag label="rain" source="manual"/></image>
<image id="76" name="frame_000076"><tag label="rain" source="manual"/></image>
</annotations>
"""
SRT = "1\n00:00:04,000 --> 00:00:10,500\n<i>A door</i>\nopens.\n\n2\n00:01:00.5 --> 00:01:02.25\nIt closes.\n"
VTT = "WEBVTT\n\nNOTE made by hand\n\nintro\n00:04.000 --> 00:10.500 align:start\nA door opens.\n"

FILES = {
    "own": ("a.jsonl", OWN, {}, [("kitchen#0", "kitchen", 60.0, "a door opens", 4.0, 10.0, "")]),
    "answers": ("answers.jsonl", ANSWERS, {}, [("k#0", "kitchen", 60.0, "a door opens", 4.0, 10.0, "w1")]),
    "qvhighlights": (
        "a.jsonl",
        QVHIGHLIGHTS,
        {},
        [
            ("q1", "clip", 60.0, "a horn sounds", 27.0, 28.0, ""),
            ("q1", "clip", 60.0, "a horn sounds", 30.0, 32.0, ""),
            ("2", "clip", 60.0, "a bell", 4.0, 8.0, ""),
        ],
    ),
    "activitynet": (
        "a.json",
        ACTIVITYNET,
        {},
        [
            ("v_a#0", "v_a", 60.5, "A door opens.", 4.0, 10.0, ""),
            ("v_a#1", "v_a", 60.5, " It closes.", 20.0, 30.25, ""),
        ],
    ),
    "charades-sta": (
        "a.txt",
        CHARADES,
        {},
        [
            ("AAAAA#0", "AAAAA", NAN, "person opens the door.", 4.0, 10.0, ""),
            ("AAAAA#1", "AAAAA", NAN, "person sits.", 0.5, 2.0, ""),
        ],
    ),
    "tacos": ("a.json", TACOS, {}, [("s1.avi#0", "s1.avi", 20.0, "He cuts.", 2.0, 5.0, "")]),
    "didemo": (
        "a.json",
        DIDEMO,
        {},
        [("7", "a.mov", 30.0, "a dog", 0.0, 5.0, "0"), ("7", "a.mov", 30.0, "a dog", 5.0, 15.0, "1")],
    ),
    "timechat": ("a.json", TIMECHAT, {}, [("7", "a.mp4", NAN, "a door opens", 4.0, 10.5, "")]),
    "et-bench": (
        "a.json",
        ET_BENCH,
        {},
        [
            ("tvg_ours_0", "a.mp4", 60.0, "When?", 4.0, 10.5, ""),
            ("tal_ours_0", "a.mp4", 60.0, "Jump?", 1.0, 2.0, ""),
            ("tal_ours_0", "a.mp4", 60.0, "Jump?", 3.0, 4.0, ""),
            ("vhd_ours_0", "a.mp4", 60.0, "Best?", 1.0, 2.0, "0"),
            ("vhd_ours_0", "a.mp4", 60.0, "Best?", 1.5, 4.0, "1"),
            ("vhd_ours_0", "a.mp4", 60.0, "Best?", 5.0, 6.0, "1"),
        ],
    ),
    "momentseeker": (
        "a.json",
        MOMENTSEEKER,
        {},
        [
            ("kitchen#0", "kitchen", NAN, "Who falls?", 3.0, 9.5, ""),
            ("kitchen#0", "kitchen", NAN, "Who falls?", 9.5, 12.0, ""),
        ],
    ),
    "ego4d-nlq": ("a.json", EGO4D, {}, [("u1_0", "c1", 60.0, "Where is the cup?", 4.0, 10.0, "")]),
    "csv": (
        "a.csv",
        CSV,
        {},
        [
            ("kitchen#0", "kitchen", 60.0, "a door opens", 4.0, 10.0, ""),
            ("kitchen#1", "kitchen", 60.0, "it closes", 20.0, 30.0, ""),
        ],
    ),
    "json": ("a.json", OBJECTS, {}, [("kitchen#0", "kitchen", 60.0, "a door opens", 4.0, 10.0, "")]),
    "elan": (
        "a.eaf",
        ELAN,
        {},
        [
            ("kitchen#0", "kitchen", NAN, "a door opens", 4.0, 10.0, "ann"),
            ("kitchen#1", "kitchen", NAN, "eine T\u00fcr \u00f6ffnet sich", 4.0, 10.0, ""),
        ],
    ),
    "via": ("a.json", VIA, {}, [("kitchen#0", "kitchen", NAN, "a door opens", 4.0, 10.0, "")]),
    "label-studio": (
        "a.json",
        LABEL_STUDIO,
        {"frame_rate": 25.0},
        [
            ("kitchen#0", "kitchen", NAN, "a door opens", 4.0, 10.0, ""),
            ("kitchen#0", "kitchen", NAN, "a door opens", 20.0, 21.0, ""),
            ("kitchen#1", "kitchen", NAN, "she sings", 30.0, 31.5, ""),
        ],
    ),
    "cvat": (
        "a.xml",
        CVAT,
        {"frame_rate": 25.0},
        [
            ("kitchen#0", "kitchen", 60.0, "door opens", 4.0, 10.0, ""),
            ("kitchen#0", "kitchen", 60.0, "door opens", 12.0, 12.04, ""),
            ("kitchen#1", "kitchen", 60.0, "she sits", 0.0, 2.0, ""),
            ("kitchen#2", "kitchen", 60.0, "rain", 3.0, 3.08, ""),
        ],
    ),
    "subtitles": (
        "kitchen.srt",
        SRT,
        {},
        [
            ("kitchen#0", "kitchen", NAN, "A door opens.", 4.0, 10.5, ""),
            ("kitchen#1", "kitchen", NAN, "It closes.", 60.5, 62.25, ""),
        ],
    ),
}
"""By form: name, content, options of the reader, and rows (query, video, duration, sentence, start, end, annotator)."""


def rows_of(annotations):
    """Give the rows of annotations as tuples; a duration that is unknown is None."""
    columns = (
        annotations.query_id,
        annotations.video_id,
        annotations.duration_s,
        annotations.sentence,
        annotations.start_s,
        annotations.end_s,
        annotations.annotator,
    )
    return plain(zip(*(column.tolist() for column in columns), strict=True))


def plain(rows):
    """Replace NaN, which equals nothing, by None."""
    return [tuple(None if isinstance(value, float) and math.isnan(value) else value for value in row) for row in rows]


@pytest.fixture
def put(tmp_path):
    """Write a file: text as UTF-8, bytes as they are."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def read(put):
    """Write a file and read it; return its rows."""
    return lambda name, content, **options: rows_of(read_annotations(put(name, content), **options))
