"""Prediction files compared from Python, without the command line."""

from __future__ import annotations

import hashlib
import json

import pytest

from truemoment import read_annotations
from truemoment.base.errors import UsageError
from truemoment.evaluation.uncertainty import DrawSettings
from truemoment.studies.compare.files import compare_files


@pytest.fixture
def files(tmp_path):
    """Twelve queries, one a video, and files that answer 9 and 3 of them with the reference."""
    queries = [
        {"video_id": f"v{i}", "sentence": "a door opens", "duration_s": 40, "moments": [[10, 20]]} for i in range(12)
    ]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    paths = {}
    for name, right in (("more", 9), ("less", 3)):
        answers = ({"query_id": f"v{i}#0", "moments": [[10, 20] if i < right else [30, 40]]} for i in range(12))
        paths[name] = [tmp_path / f"{name}.jsonl"]
        paths[name][0].write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return read_annotations(tmp_path / "mine.jsonl"), paths


def test_files_are_compared_by_the_share_they_hit(files):
    annotations, paths = files
    found = compare_files(paths, annotations, measures="R@1,IoU=0.5", testing=DrawSettings(20, 4096))
    assert found.comparison.mean.ravel().tolist() == [9 / 12, 3 / 12]
    assert found.comparison.p.item() == pytest.approx(2 / 2**6, abs=0.01)  # they differ on 6 videos, all one way
    (run,) = found.runs["less"]
    assert run.source["sha256"] == hashlib.sha256(paths["less"][0].read_bytes()).hexdigest()
    (remark,) = found.remarks
    assert remark.startswith("sentence-network is not compared: there is no training split")
    assert not compare_files(paths, annotations, network=False, testing=DrawSettings(20, 20)).remarks


def test_a_method_to_compare_with_that_is_none_is_refused(files):
    annotations, paths = files
    with pytest.raises(UsageError, match="expected one of more, less or sentence-network"):
        compare_files(paths, annotations, against="most")
