"""The API that a newcomer sees: every name is there and is a function, and every result reports itself."""

import csv
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import truemoment as tm
from truemoment.base.boundary.documents import as_json
from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.cli.group import cli
from truemoment.studies.audit.checks import excess_where_blind_misses
from truemoment.worlds import make_world
from truemoment.worlds.export import write_world

pytestmark = pytest.mark.usefixtures("undrawn", "quick_networks")

EXAMPLES = Path(__file__).parents[2] / "examples"
OLD = Path(__file__).parents[1] / "golden" / "old"
FUNCTIONS = (
    *("load_annotations", "read_predictions", "evaluate", "audit", "compare", "baseline", "bias", "resplit"),
    *("open_features", "index", "search", "train", "predict", "predict_endpoint", "humans"),
)


def test_no_module_takes_the_place_of_a_function():
    """As ``truemoment.audit`` once was both; importing a module sets it as a name of its package."""
    assert not {module.name for module in pkgutil.iter_modules(tm.__path__)} & set(FUNCTIONS)
    assert set(FUNCTIONS) <= set(tm.__all__)
    for name in tm.__all__:
        assert hasattr(tm, name)
    for name in FUNCTIONS:
        assert callable(getattr(tm, name)), name


def test_importing_is_light_and_a_number_needs_no_pytorch():
    code = (
        "import sys, truemoment as tm; before = 'numpy' in sys.modules;"
        f"tm.evaluate({str(EXAMPLES / 'predictions.jsonl')!r}, annotations={str(EXAMPLES / 'annotations.jsonl')!r},"
        "measures='mIoU');"
        "print(before, 'torch' in sys.modules, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False"]


def check(result, first):
    """Hold what every result promises; `first` is the name of the first column."""
    assert "\n" not in repr(result)
    assert len(repr(result)) < 200
    columns = result.table()
    assert next(iter(columns)) == first
    assert len({len(column) for column in columns.values()}) == 1
    assert json.loads(result.to_json()) == as_json(result.document())
    assert result.document()["schema"].startswith("truemoment/")
    html = result._repr_html_()
    assert html.lstrip().startswith('<div class="truemoment">')
    assert result.report().signature in str(result) or not result.report().signature
    return columns


class TestEvaluate:
    def test_files_and_records_give_the_same(self):
        files = EXAMPLES / "annotations.jsonl", EXAMPLES / "predictions.jsonl"
        annotations = tm.read_annotations(str(files[0]))
        predictions, _ = tm.read_predictions(str(files[1]), annotations)
        a = tm.evaluate(files[1], annotations=str(files[0]), measures="R@1,IoU=0.5; mIoU", resamples=50)
        b = tm.evaluate(predictions, annotations=annotations, measures="R@1,IoU=0.5; mIoU", resamples=50)
        # By hand in README: the figures of examples/.
        assert round(a.value("mIoU"), 4) == 0.5787
        assert a.table() == b.table() == check(a, "measure")
        assert isinstance(a, tm.Scores)

    def test_a_dataset_by_name(self, data_dir):
        found = tm.baseline("predict-all", dataset="charades-sta", split="test", data_dir=data_dir, measures="mIoU")
        scores = tm.evaluate(
            found.predictions, dataset="charades-sta", split="test", data_dir=data_dir, measures="mIoU"
        )
        assert scores.value("mIoU") == found.scores.value("mIoU")

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({}, "which annotations"),
            ({"dataset": "charades-sta"}, "which split"),
            ({"annotations": EXAMPLES / "annotations.jsonl", "dataset": "charades-sta"}, "expected one of them"),
        ],
    )
    def test_what_is_missing_is_named(self, options, why):
        with pytest.raises(UsageError, match=why):
            tm.evaluate(EXAMPLES / "predictions.jsonl", **options)


VERBS = (
    "audit, baseline, bias, compare, evaluate, humans, index, leaderboard, predict run, predict endpoint, resplit, "
    "search, train"
)


@pytest.mark.parametrize("words", VERBS.split(", "))
def test_the_keywords_of_a_function_are_the_options_of_its_command(words):
    command = cli
    for word in words.split():
        command = command.get_command(click.Context(command), word)
    command = getattr(command, "own", command)  # index and search have commands below them
    options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
    function = getattr(tm, words.replace(" ", "_"), None) or getattr(tm, words.split()[0])
    parameters = inspect.signature(function).parameters.values()
    keywords = {f"--{one.name.replace('_', '-')}" for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    keywords = {"--from" if name == "--from-run" else name for name in keywords}  # "from" is a word of Python
    assert keywords - {"--on-status", "--on-warning", "--progress", "--plan"} <= options
    assert len(keywords & options) > 3


@pytest.mark.parametrize(
    ("word", "ours"), [("metrics", "measures"), ("gt", "annotations"), ("anotations", "annotations")]
)
def test_a_keyword_of_another_program_is_answered_with_ours(word, ours):
    with pytest.raises(TypeError, match=rf"evaluate\(\) got an unexpected keyword argument '{word}'.*'{ours}'"):
        tm.evaluate(EXAMPLES / "predictions.jsonl", **{word: "x"})


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tm.evaluate("p.jsonl", "a.jsonl"), TypeError, r"as in evaluate\(predictions, annotations=...\)"),
        (lambda: tm.bias("a.jsonl"), TypeError, r"expected none; the others have one, as in bias\(annotations=...\)"),
        (tm.bias, UsageError, "which datasets"),
        (lambda: tm.resplit(dataset="tacos"), TypeError, r"resplit\(\) is missing out, as in resplit\(out=...\)"),
        (lambda: tm.eval, AttributeError, "Did you mean 'evaluate'"),
        (lambda: tm.resplit("new", annotations=[{}]), InputError, "annotations: has no column for video_id, start_s"),
        (lambda: tm.predict("http://host/v1", out="p.jsonl"), UsageError, "expected the folder of a run"),
        (
            lambda: tm.evaluate(EXAMPLES / "annotations.jsonl", annotations=EXAMPLES / "predictions.jsonl"),
            InputError,
            "predictions.jsonl:1: .*are predictions and annotations swapped",
        ),
    ],
)
def test_a_wrong_call_is_answered_with_the_right_one(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    ("ending", "start"),
    [(".html", "<!doctype html>"), (".json", "{"), (".md", "|"), (".tex", "\\begin"), (".npz", "pk")],
)
def test_a_result_is_saved_by_the_ending_of_the_name(ending, start, tmp_path):
    file = tmp_path / f"result{ending}"
    scores = tm.evaluate(EXAMPLES / "predictions.jsonl", annotations=EXAMPLES / "annotations.jsonl", measures="mIoU")
    scores.save(file)
    assert start in file.read_bytes()[:400].decode(errors="replace").lower()
    with pytest.raises(UsageError, match=r"got .*result.doc, expected a name that ends in .html, .json, .md, .tex"):
        scores.save(tmp_path / "result.doc")


def test_frames_of_data():
    scores = tm.evaluate(
        EXAMPLES / "predictions.jsonl", annotations=EXAMPLES / "annotations.jsonl", measures="R@1,IoU=0.5; mIoU"
    )
    assert pytest.importorskip("pandas").DataFrame(scores.table()).equals(scores.to_pandas())
    assert pytest.importorskip("polars").DataFrame(scores.table()).equals(scores.to_polars())


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_of_data_without_their_package_name_the_install_line(monkeypatch, package):
    scores = tm.evaluate(EXAMPLES / "predictions.jsonl", annotations=EXAMPLES / "annotations.jsonl", measures="mIoU")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"^to_{package}\(\) needs .* pip install 'truemoment\[tables\]'$"):
        getattr(scores, f"to_{package}")()


@pytest.mark.slow
@pytest.mark.usefixtures("few_floors")
def test_audit_takes_a_file_and_reports_itself(monkeypatch):
    monkeypatch.setattr(excess_where_blind_misses, "N_FOLDS", 2)  # fewer networks out of fold, which is quicker
    found = tm.audit(
        EXAMPLES / "predictions.jsonl",
        annotations=EXAMPLES / "annotations.jsonl",
        measures="R@1,IoU=0.5",
        resamples=200,
        permutations=99,
        gate="R@1,IoU=0.5>=0.99",
    )
    columns = check(found, "kind")
    assert columns["kind"][0] == "method"
    assert found.verdict in {"better", "worse", "not decided"}
    assert found.findings[0].check == "better-than-guessing"
    assert not found.passed


def test_compare_takes_files_by_method():
    annotations = tm.read_annotations(EXAMPLES / "annotations.jsonl")
    found = tm.compare(
        {"a": EXAMPLES / "predictions.jsonl", "b": [EXAMPLES / "predictions.jsonl"]},
        annotations=annotations,
        measures="mIoU",
        resamples=20,
        permutations=99,
    )
    assert check(found, "method")["difference"] == [0.0]


def test_baseline_has_predictions_and_scores():
    found = tm.baseline("uniform", annotations=EXAMPLES / "annotations.jsonl", measures="mIoU", repeats=2)
    assert check(found, "measure")["value"] == [pytest.approx(found.run.figures.mean())]
    assert len(found.predictions.query_id) == 120


@pytest.mark.slow
def test_biases_of_records_and_files():
    annotations = tm.read_annotations(EXAMPLES / "annotations.jsonl")
    found = tm.bias(annotations=[annotations, EXAMPLES / "annotations.jsonl"], permutations=20, draws=5)
    assert check(found, "dataset")["n_queries"] == [120, 120]


@pytest.mark.slow
@pytest.mark.usefixtures("few_floors")
def test_resplit_writes_a_folder_that_is_a_dataset(tmp_path):
    write_world(make_world(120), tmp_path / "world")
    annotations = tmp_path / "world" / "annotations.jsonl"
    found = tm.resplit(tmp_path / "anew", annotations=annotations, permutations=99)
    assert sum(check(found, "split")["n_queries"]) > 0
    ood = tm.load_annotations(str(tmp_path / "anew"), "test-ood")
    assert ood.n_queries == found.part("test-ood").n_queries
    with pytest.raises(UsageError, match="is there already"):
        tm.resplit(tmp_path / "anew", annotations=annotations)


@pytest.mark.slow
@pytest.mark.usefixtures("few_floors")
def test_resplit_of_values_and_of_other_forms_has_the_queries_in_its_folder(tmp_path):
    """A table, a record and a CSV file with a train and a test split: the same new split, which is a dataset."""
    write_world(make_world(120), tmp_path / "world")
    whole = tm.read_annotations(tmp_path / "world" / "annotations.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "world" / "annotations.jsonl").read_text().splitlines()]
    assert {line["split"] for line in lines} >= {"train", "test-ood"}
    names = ("query_id", "video_id", "duration_s", "sentence", "split")
    rows = [
        {**{name: line[name] for name in names}, "start_s": start_s, "end_s": end_s}
        for line in lines
        for start_s, end_s in line["moments"]
    ]
    table = tmp_path / "mine.csv"
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*names, "start_s", "end_s"])
        writer.writeheader()
        writer.writerows(rows)
    ood = {}
    for name, annotations in {"table": rows, "file": table, "record": whole}.items():
        found = tm.resplit(tmp_path / name, annotations=annotations, permutations=99)
        ood[name] = tm.load_annotations(str(tmp_path / name), "test-ood")
        assert ood[name].sha256 == found.part("test-ood").sha256
        assert "which are read from annotations.jsonl" in (tmp_path / name / "datasheet.md").read_text()
    assert ood["table"].sha256 == ood["file"].sha256
    assert set(ood["record"].query_id) | set(ood["file"].query_id) <= set(whole.query_id)


def test_search_of_an_index():
    pytest.importorskip("torch")
    found = tm.search("a white ring", OLD / "film.index", top=2)
    assert check(found, "rank")["rank"] == [1, 2]
    assert re.search(r"to \d+\.\d s of ", repr(found))


def test_train_by_a_recipe(tmp_path):
    pytest.importorskip("torch")
    write_world(make_world(60), tmp_path / "world")
    annotations = tmp_path / "world" / "annotations.jsonl"
    small = {"train.epochs": 1, "settings.n_clips": 8, "settings.hidden": 8, "text.size": 8}
    found = tm.train("blind-tan", out=tmp_path / "run", annotations=annotations, set=small, measures="mIoU")
    assert set(check(found, "split")["split"]) == {"test-iid", "test-ood"}
    assert (tmp_path / "run" / "run.json").is_file()
    out = tmp_path / "predictions.jsonl"
    answers = tm.predict(tmp_path / "run", out=out, annotations=annotations, split="test-iid")
    test = tm.read_annotations(annotations, "test-iid")
    assert set(check(answers, "query_id")["query_id"]) == set(test.queries.query_id)
    of_file, of_record = (tm.evaluate(of, annotations=test, measures="mIoU") for of in (out, answers.predictions))
    assert of_file.value("mIoU") == of_record.value("mIoU")
    check_other_forms(tmp_path, small)


def check_other_forms(folder, small):
    """A list of dicts, and a table with columns of other names, train the same model; one split does not."""
    rows = [json.loads(line) for line in (folder / "world" / "annotations.jsonl").read_text().splitlines()]
    with (folder / "mine.csv").open("w") as stream:
        mine = csv.writer(stream)
        mine.writerow(["clip", "text", "first", "last", "part"])
        mine.writerows([row["video_id"], row["sentence"], *row["moments"][0], row["split"]] for row in rows)
    (folder / "long.json").write_text(json.dumps({row["video_id"]: row["duration_s"] for row in rows}))
    fields = "video_id=clip, sentence=text, start_s=first, end_s=last, split=part"
    columns = {"annotations": folder / "mine.csv", "fields": fields, "durations": folder / "long.json"}
    runs = {"list": {"annotations": rows}, "table": columns}
    losses = set()
    for name, annotations in runs.items():
        run = tm.train("blind-tan", out=folder / name, set=small, measures="mIoU", **annotations)
        losses.add(run.result.history[-1].loss["total"])
        predicted = tm.predict(folder / name, out=folder / f"{name}.jsonl", split="test-iid", **annotations)
        assert len(predicted.predictions) == sum(row["split"] == "test-iid" for row in rows)
    assert len(losses) == 1
    with pytest.raises(UsageError, match="found annotations of one split"):
        tm.train("blind-tan", annotations=tm.read_annotations(folder / "world" / "annotations.jsonl"))
