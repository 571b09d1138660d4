"""The VLMEvalKit dataset: its questions, its prompt, and the figures of `evaluate`.

VLMEvalKit is not installed with the tests: these modules have the names that the dataset imports, as VLMEvalKit at
e8e78f05 defines them. docs/integrations.md says how the dataset was run in VLMEvalKit itself.
"""

import importlib.util
import json
import runpy
import sys
import types
from pathlib import Path

import pandas as pd
import pytest

import truemoment as tm

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "integrations" / "vlmevalkit"
EXAMPLES = ROOT / "examples"


class VideoBaseDataset:
    """What the dataset uses of the class of that name."""

    def __init__(self, dataset, nframe=0, fps=-1):
        files = self.prepare_dataset(dataset)
        self.data_root, self.data = files["root"], pd.read_csv(files["data_file"], sep="\t")
        self.nframe, self.fps = nframe, fps

    def save_video_frames(self, video):
        return [f"{video}-{number}.jpg" for number in range(self.nframe)]


@pytest.fixture(name="module")
def module_fixture(monkeypatch, tmp_path):
    dataset = types.ModuleType("vlmeval.dataset")
    dataset.DATASET_CLASSES, dataset.SUPPORTED_DATASETS = [], []
    base = types.ModuleType("vlmeval.dataset.video_base")
    base.VideoBaseDataset = VideoBaseDataset
    config = types.ModuleType("vlmeval.dataset.video_dataset_config")
    config.supported_video_datasets = {}
    smp = types.ModuleType("vlmeval.smp")
    smp.LMUDataRoot = lambda: str(tmp_path)
    smp.dump = lambda data, path: Path(path).write_text(json.dumps(data), encoding="utf-8")
    smp.load = lambda path: pd.read_csv(path, sep="\t")
    vlmeval = types.ModuleType("vlmeval")
    vlmeval.dataset, vlmeval.smp = dataset, smp
    for of in (vlmeval, dataset, base, config, smp):
        monkeypatch.setitem(sys.modules, of.__name__, of)
    spec = importlib.util.spec_from_file_location("truemoment_grounding", FOLDER / "truemoment_grounding.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("TRUEMOMENT_ANNOTATIONS", str(EXAMPLES / "annotations.jsonl"))
    monkeypatch.setenv("TRUEMOMENT_VIDEOS", "films")
    return module


def test_figures_are_those_of_evaluate(module, tmp_path):
    annotations = tm.read_annotations(EXAMPLES / "annotations.jsonl")
    predictions, _ = tm.read_predictions(EXAMPLES / "predictions.jsonl", annotations)
    first = predictions.ranked_by_score().offsets[predictions.rows_of(annotations.queries.query_id)]
    moments = [(predictions.start_s[row], predictions.end_s[row]) for row in first]
    answers = [f"From {start} to {end} seconds." for start, end in moments]
    answers[0], moments[0] = "Failed to obtain answer via API.", None
    dataset = module.TrueMomentGrounding("TrueMoment")
    path = tmp_path / "model_TrueMoment.tsv"
    dataset.data.assign(prediction=answers).iloc[::-1].to_csv(path, sep="\t", index=False)  # in any order
    found = dataset.evaluate(str(path), model="judge")
    lists = {q: [m] if m else [] for q, m in zip(annotations.queries.query_id, moments, strict=True)}
    expected = tm.evaluate(tm.Predictions.from_lists(lists), annotations=annotations, measures=module.MEASURES)
    assert found == {str(m): expected.value(m) for m in expected.measures} | {"unreadable": 1 / 120}
    assert json.loads((tmp_path / "model_TrueMoment_score.json").read_text()) == found
    again = tm.evaluate(tmp_path / "model_TrueMoment_answers.jsonl", annotations=annotations, measures=module.MEASURES)
    assert again.value("mIoU") == found["mIoU"]


def test_the_prompt(module):
    dataset = module.TrueMomentGrounding("TrueMoment")
    assert len(dataset.data) == 120
    video, text = dataset.build_prompt(0, video_llm=True)
    assert video == {"type": "video", "value": str(Path("films", "scene_00.mp4"))}
    assert text["value"].startswith("When does this happen in the video: a child picks up the phone. Answer")
    *frames, text = module.TrueMomentGrounding("TrueMoment_8frame", nframe=8).build_prompt(
        dataset.data.iloc[0], video_llm=False
    )
    assert [of["value"] for of in frames] == [f"scene_00-{number}.jpg" for number in range(8)]
    assert text["value"].startswith("The 8 frames are spread evenly over 45 seconds. When does this happen")


def test_the_names_are_registered(module):
    module.register()
    made = sys.modules["vlmeval.dataset.video_dataset_config"].supported_video_datasets
    assert list(made) == module.TrueMomentGrounding.supported_datasets()
    assert (made["TrueMoment_64frame"]().nframe, made["TrueMoment_1fps"]().fps) == (64, 1.0)
    assert [module.TrueMomentGrounding] == sys.modules["vlmeval.dataset"].DATASET_CLASSES


def test_the_launcher_runs_the_program(module, tmp_path, monkeypatch, capsys):
    del module
    (tmp_path / "vlmeval").mkdir()
    (tmp_path / "run.py").write_text("import sys; print(sys.argv[1:])")
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "argv", ["run.py", str(tmp_path), "--data", "TrueMoment"])
    runpy.run_path(str(FOLDER / "run.py"), run_name="__main__")
    assert capsys.readouterr().out == "['--data', 'TrueMoment']\n"
    assert "TrueMoment" in sys.modules["vlmeval.dataset"].SUPPORTED_DATASETS
    monkeypatch.setattr(sys, "argv", ["run.py", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit, match=r"usage: python .* FOLDER_OF_VLMEVALKIT"):
        runpy.run_path(str(FOLDER / "run.py"), run_name="__main__")
