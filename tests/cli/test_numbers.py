"""Counts in what commands print."""

import re

import pytest


@pytest.mark.parametrize(
    "words",
    [
        "convert a.csv --to native -o p.jsonl",
        "convert one.csv --references --to own -o mine.jsonl",
        "evaluate a.csv --annotations one.csv",
        "evaluate a.csv --annotations one.csv --protocol default,past_end=drop --full",
        "datasets check one.csv --full",
        "bias --annotations one.csv --permutations 99 --full",
        "audit a.csv --annotations one.csv --full",
    ],
)
def test_one_of_a_thing_is_singular(call, tmp_path, monkeypatch, words):
    """A newcomer tries a file of one line first: 1 rows, 1 queries, 1 moments."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.csv").write_text("video_id,duration_s,sentence,start_s,end_s\nv,73.1,a door opens,0.0,80.0\n")
    (tmp_path / "a.csv").write_text("video,query,start,end,score\nv,A door opens,9.0,9.0,0.9\n")
    _, out, err = call(*words.split())
    assert not re.search(
        r"(?<![\w.,-])1 (of 1 )?(\w+ )?(rows|queries|videos|moments (have|end)|sentences)\b", out + err
    )
