"""The FiftyOne plugin: its moments have the figures of `evaluate`, and its operator adds them to samples.

FiftyOne is not installed with the tests: these modules have the names that the plugin uses, as fiftyone 1.22.1 defines
them. docs/integrations.md says what was tried in FiftyOne itself.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import yaml

import truemoment as tm

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "integrations" / "fiftyone"
EXAMPLES = ROOT / "examples"


@pytest.fixture(name="plugin")
def plugin_fixture(monkeypatch):
    fiftyone, operators, types = (ModuleType(n) for n in ("fiftyone", "fiftyone.operators", "fiftyone.operators.types"))

    def from_timestamps(timestamps, *, sample, **attributes):
        assert sample.metadata is not None
        return SimpleNamespace(timestamps=timestamps, **attributes)

    fiftyone.TemporalDetection = SimpleNamespace(from_timestamps=from_timestamps)
    fiftyone.TemporalDetections = lambda detections: detections
    fiftyone.Sample, operators.Operator, operators.OperatorConfig = dict, object, SimpleNamespace
    fiftyone.operators, operators.types = operators, types
    for of in (fiftyone, operators, types):
        monkeypatch.setitem(sys.modules, of.__name__, of)
    spec = importlib.util.spec_from_file_location(
        "truemoment_plugin", FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "truemoment_plugin", module)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("truemoment_plugin.moments", None)


class Sample(dict):
    """A sample of a dataset."""

    def __init__(self, filepath):
        super().__init__()
        self.filepath, self.metadata, self.saved = filepath, None, 0

    def compute_metadata(self):
        self.metadata = object()

    def save(self):
        self.saved += 1


def context(samples, **params):
    reload = SimpleNamespace(reload_dataset=lambda: None)
    dataset = SimpleNamespace(iter_samples=lambda progress: samples)  # noqa: ARG005 - FiftyOne's argument
    return SimpleNamespace(params=params, dataset=dataset, ops=reload, delegated=False)


FILES = {"predictions": str(EXAMPLES / "predictions.jsonl"), "annotations": str(EXAMPLES / "annotations.jsonl")}


def test_the_operator_is_the_one_that_the_file_names(plugin):
    named = yaml.safe_load((FOLDER / "fiftyone.yml").read_text("utf-8"))
    registered = []
    plugin.register(SimpleNamespace(register=registered.append))
    assert [of().config.name for of in registered] == named["operators"] == ["load_audit"]
    assert named["type"] == "plugin"


def test_moments_have_the_figures_of_evaluate(plugin):
    annotations = tm.read_annotations(FILES["annotations"])
    samples = [Sample(f"/films/{video}.mp4") for video in dict.fromkeys(annotations.video_id)]
    found = plugin.LoadAudit().execute(context([*samples[:-1], Sample("/films/other.mp4")], **FILES))
    assert found == {"videos": 39, "videos_without_sample": 1, "error": None}
    assert [sample.saved for sample in samples] == [1] * 39 + [0]
    last = annotations.video_id == samples[-1].filepath[7:-4]
    predictions, _ = tm.read_predictions(Path(FILES["predictions"]), annotations)
    scores = tm.evaluate(
        predictions, annotations=annotations.select_rows(~last), measures="R@1,IoU=0.5; mIoU", on_unknown="ignore"
    )
    first = [of for s in samples[:-1] for of in s["truemoment_predictions"] if of.rank == 1]
    by_query = {of.query_id: of for s in samples[:-1] for of in s["truemoment_references"]}
    assert len(by_query) == len(scores)
    assert np.mean([of.kind == "hit" for of in by_query.values()]) == pytest.approx(scores.value("R@1,IoU=0.5"))
    assert np.mean([of.iou for of in by_query.values()]) == pytest.approx(scores.value("mIoU"))
    assert {of.query_id: of.iou for of in first}.items() <= {q: of.iou for q, of in by_query.items()}.items()
    assert "truemoment_floor" not in samples[0]


def test_floors_are_shown_when_asked(plugin, few_floors):
    del few_floors
    sample = Sample("/films/scene_00.mp4")
    assert plugin.LoadAudit().execute(context([sample], **FILES, floors=True))["videos"] == 1
    assert len(sample["truemoment_floor"]) == 3  # a query each
    assert {of.floor_hit for of in sample["truemoment_predictions"]} <= {True, False}


def test_a_fault_is_shown(plugin, tmp_path):
    nowhere = str(tmp_path / "none.jsonl")
    found = plugin.LoadAudit().execute(context([], **FILES | {"predictions": nowhere}))
    assert found == {"error": f"{nowhere}: no such file"}
