"""Systems loaded from Python: files, folders, simulated systems and baselines in one set."""

import json

import pytest

from truemoment import read_annotations, read_predictions
from truemoment.base.errors import UsageError
from truemoment.evaluation.evaluate import evaluate
from truemoment.studies.meta.request import SystemSource, VariantSource

MEASURES = "mIoU; R@1,IoU=0.5"


@pytest.fixture
def folder(tmp_path):
    """Six test and six training queries of 40 s, and two prediction files in a folder."""
    rows = [
        {
            "video_id": f"{split}{at}",
            "sentence": "a door opens",
            "duration_s": 40,
            "moments": [[at, at + 9 + at * at % 5]],
        }
        | {"split": split}
        for split in ("test", "train")
        for at in range(6)
    ]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "runs").mkdir()
    for name, off in (("near", 1), ("far", 6)):
        lines = [json.dumps({"query_id": f"test{at}#0", "moments": [[at + off, at + 9 + off, 1.0]]}) for at in range(6)]
        (tmp_path / "runs" / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_files_and_folders_are_measured_as_evaluate_does(folder):
    data = {"annotations": folder / "mine.jsonl", "split": "test"}
    loaded = SystemSource((f"{folder}/runs", f"again={folder}/runs/far.jsonl"), **data, measures=MEASURES).load()
    assert loaded.systems.names == ("far", "near", "again")  # files of a folder by name
    annotations = read_annotations(folder / "mine.jsonl", "test")
    predictions, _ = read_predictions(folder / "runs" / "near.jsonl", annotations)
    expected = evaluate(annotations, predictions, MEASURES)
    assert loaded.systems.figures[1].tolist() == [expected.value(measure) for measure in expected.measures]
    assert [source["name"] for source in loaded.sources] == ["far", "near", "again"]
    assert set(loaded.predictions) == {"far", "near", "again"}
    assert loaded.notes == ()


def test_simulated_systems_and_baselines_are_added_and_named(folder):
    data = {"annotations": folder / "mine.jsonl", "split": "test"}
    source = SystemSource((f"{folder}/runs",), **data, measures="mIoU", population=True, baselines=True)
    seen = []
    loaded = source.load(seed=1, on_status=seen.append)
    assert loaded.systems.names == ("far", "near", *loaded.simulated, *loaded.baselines)
    assert (len(loaded.simulated), loaded.fitted_on.split) == (24, "train")
    assert {"reading near", "simulating systems", "running baselines"} <= set(seen)
    assert loaded.notes[0].startswith(f"{len(loaded.systems)} systems, of which 24 are simulated")


def test_variants_on_one_side_only_are_refused(folder):
    source = VariantSource(validation=(f"{folder}/runs",), test=(f"{folder}/runs/near.jsonl",))
    with pytest.raises(UsageError, match="--validation: far is on this side only"):
        _ = source.inputs()
