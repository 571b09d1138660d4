"""TVR on small files of its form."""

import json

import pytest


def line(**more):
    about = {"vid_name": "s01e01_seg02_clip_20", "duration": 61.46, "ts": [16.48, 33.87], "desc": "He waves. "}
    return json.dumps(about | {"type": "vt", "desc_id": 90200} | more) + "\n"


@pytest.mark.parametrize("split", ["train", "val"])
def test_rows(put, load, rows, split):
    put("tvr", f"tvr_{split}_release.jsonl", line() + line(desc_id=5, ts=[0, 2], desc="She sits."))
    assert rows(load("tvr", split)) == [
        ("90200", "s01e01_seg02_clip_20", 61.46, "He waves. ", 16.48, 33.87, ""),
        ("5", "s01e01_seg02_clip_20", 61.46, "She sits.", 0.0, 2.0, ""),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (line(ts=[1]), ":2: field ts: expected a list of length 2"),
        (line(ts=None), ":2: field ts: got null, expected a list"),
        (line(duration="61"), ":2: field duration: got text, expected a number"),
        (line(desc_id=None), ":2: field desc_id: got null, expected a whole number or text"),
        (line()[:-3] + "\n", None),
        # A line of the released test file, which has no moment.
        (json.dumps({"desc": "x", "desc_id": 2}), ":2: field vid_name: is missing"),
        (line(desc_id=1), ": field desc_id: '1' appears twice, expected each query once"),
    ],
)
def test_malformed(put, refused, text, said):
    put("tvr", "tvr_val_release.jsonl", line(desc_id=1) + text)
    found = refused("tvr", "val")
    assert found == f"tvr/tvr_val_release.jsonl{said}" if said else found.startswith("tvr/tvr_val_release.jsonl:2: ")
