"""The lmms-eval task: its functions give the figures of `evaluate`, and the file names functions that exist."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
import yaml

import truemoment as tm

FOLDER = Path(__file__).parents[2] / "integrations" / "lmms-eval"
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module", name="utils")
def utils_fixture():
    spec = importlib.util.spec_from_file_location("lmms_eval_utils", FOLDER / "utils.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", name="task")
def task_fixture():
    class Loader(yaml.SafeLoader):
        """As lmms-eval reads a task: `!function utils.name` is a name."""

    Loader.add_constructor("!function", lambda _, node: node.value)
    return yaml.load((FOLDER / "truemoment.yaml").read_text("utf-8"), Loader)  # noqa: S506 - a safe loader


def docs():
    return [json.loads(line) for line in (EXAMPLES / "annotations.jsonl").read_text("utf-8").splitlines()]


def test_the_task_names_functions_of_its_file(task, utils):
    named = re.findall(r"utils\.(\w+)", json.dumps(task))
    assert len(named) == 9
    assert all(callable(getattr(utils, name)) for name in named)
    assert tuple(of["metric"] for of in task["metric_list"]) == utils.NAMES
    assert not any("," in name for name in utils.NAMES)  # lmms-eval splits names at commas


@pytest.mark.parametrize("protocol", ["", "lmms-eval"])
def test_figures_are_those_of_evaluate(task, utils, monkeypatch, protocol, tmp_path):
    annotations = tm.read_annotations(EXAMPLES / "annotations.jsonl")
    best, _ = tm.read_predictions(EXAMPLES / "predictions.jsonl", annotations)
    best = best.ranked_by_score()
    if protocol:
        monkeypatch.setenv("TRUEMOMENT_PROTOCOL", protocol)
    answers, lists = {}, {}
    for row, query_id in enumerate(best.query_id):
        start, end = best.start_s[best.offsets[row]], best.end_s[best.offsets[row]]
        silent = row % 10 == 0
        lists[query_id] = [] if silent else [(start, end)]
        answers[query_id] = "I cannot see it." if silent else f"From {start} to {end} seconds."
    results = [utils.process_results(doc, [answers[doc["query_id"]]]) for doc in docs()]
    expected = tm.evaluate(
        tm.Predictions.from_lists(lists),
        annotations=annotations,
        measures="; ".join(utils.RECALLS),
        protocol=protocol or None,
    )
    for of in task["metric_list"][:-1]:
        value = getattr(utils, of["aggregation"].removeprefix("utils."))([result[of["metric"]] for result in results])
        assert value == expected.value(of["metric"].replace("_", ","))
    assert utils.unreadable([result["unreadable"] for result in results]) == 12 / 120
    # The samples that lmms-eval writes are a prediction file; the line is as lmms-eval 0.7.3 writes it.
    samples = tmp_path / "samples.jsonl"
    lines = [{"doc_id": n, "filtered_resps": result["mIoU"]["answer"]} | result for n, result in enumerate(results)]
    samples.write_text("\n".join(map(json.dumps, lines)))
    scores = tm.evaluate(samples, annotations=annotations, measures="; ".join(utils.RECALLS), protocol=protocol or None)
    assert scores.value("mIoU") == expected.value("mIoU")


def test_the_prompt_and_the_video(task, utils, monkeypatch, tmp_path):
    doc = docs()[0]
    text = utils.doc_to_text(doc, task["lmms_eval_specific_kwargs"]["default"])
    assert text.startswith("When does this happen in the video: a child picks up the phone.")
    monkeypatch.setenv("TRUEMOMENT_VIDEOS", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="set TRUEMOMENT_VIDEOS to the folder of the videos"):
        utils.doc_to_visual(doc)
    (tmp_path / "scene_00.mkv").touch()
    assert utils.doc_to_visual(doc) == [str(tmp_path / "scene_00.mkv")]
