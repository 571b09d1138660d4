"""An audit of files and of records: the same findings; what records cannot give is refused."""

import json

import pytest

from truemoment import write_predictions
from truemoment.base.errors import UsageError
from truemoment.data.references import read_annotations
from truemoment.studies.audit.reading import run
from truemoment.studies.audit.request import AuditRequest

FEW = {"measures": "R@1,IoU=0.5; mIoU", "resamples": 200, "permutations": 99}


@pytest.fixture
def files(tmp_path, invented, constant, monkeypatch):
    """Write annotations of one split and predictions; no network is trained."""
    monkeypatch.setattr("truemoment.studies.audit.checks.excess_where_blind_misses.network_answers", lambda *_: None)
    test = invented("test", 8, 0)
    rows = zip(test.query_id, test.video_id, test.sentence, test.start_s.tolist(), test.end_s.tolist(), strict=True)
    lines = [
        {"query_id": q, "video_id": v, "duration_s": 50, "sentence": text, "moments": [[start, end]]}
        for q, v, text, start, end in rows
    ]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    write_predictions(tmp_path / "answers.jsonl", constant(test, 0.0, 10.0), test)
    return tmp_path


def test_files_and_records_give_the_same_audit(files, constant):
    """But for what only a file has: its hash, and how its rows matched."""
    path = files / "answers.jsonl"
    of_files = run(AuditRequest(path, annotations=files / "test.jsonl", gate="mIoU<0.01", **FEW))
    assert (set(of_files.sources), of_files.sources["path"]) == ({"path", "sha256"}, str(path))
    assert of_files.passed is False
    annotations = read_annotations(files / "test.jsonl")
    of_records = run(AuditRequest(constant(annotations, 0.0, 10.0), annotations=annotations, **FEW))
    assert set(of_records.sources) == {"path"}
    assert of_records.passed is True  # there is no gate
    assert [of for of in of_files.findings if of.check != "validity"] == list(of_records.findings)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"fit_split": "train"}, "--fit-split train: other splits are read from a dataset or a file"),
        ({"select_split": "val"}, "--select-split val: other splits"),
        ({"iid": "iid.jsonl"}, "--iid-split test-iid: other splits"),
        ({"model": "runs/tan2d"}, "got the model runs/tan2d, expected a function that opens it"),
    ],
)
def test_records_of_one_split_have_no_other(files, constant, more, message):
    annotations = read_annotations(files / "test.jsonl")
    with pytest.raises(UsageError, match=message):
        run(AuditRequest(constant(annotations, 0.0, 10.0), annotations=annotations, **FEW, **more))


def test_features_without_a_model_are_refused():
    with pytest.raises(UsageError, match=r"--features: .*--model"):
        AuditRequest("preds.jsonl", features="f.npz")
