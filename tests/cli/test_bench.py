"""truemoment bench: a table of small methods on thirty videos; what is resumed, what is left, what is refused."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.boundary.folders import lock_folder
from truemoment.cli import run
from truemoment.data.datasets import load_annotations
from truemoment.data.formats import read_predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.learning.models.decoding import as_predictions
from truemoment.learning.training.answering import pairs_to_answer, score
from truemoment.learning.training.network import build_network
from truemoment.learning.training.progress import unseen
from truemoment.learning.training.results import read_rows
from truemoment.learning.training.sweep import read_methods
from truemoment.reproduction.bench.grid import BenchGrid
from truemoment.reproduction.bench.running import Bench
from truemoment.reproduction.bench.tables import get_bench

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", exc_type=ImportError)
torch.set_num_threads(1)

SMALL = ("train.epochs=2", "settings.hidden=8", "settings.n_clips=8", "tan2d:rows=8")
OPTIONS = [
    *("--methods", "tan2d,blind-tan", "--seeds", "0", "--threads", 1, "--perception", "0.5"),
    *(word for change in SMALL for word in ("--set", change)),
]
HEADLINE = "dR@1,IoU=0.5"


@pytest.fixture(scope="module", autouse=True)
def two_floors():
    """Leave out the floors that take seconds, but for the sentence network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truemoment.baselines.floors.FLOORS", ("uniform", "sentence-network"))
        yield


@pytest.fixture(scope="module")
def charades(tmp_path_factory):
    """Give a data folder with Charades of 30 videos and Charades-CD: each moment is an action whose class it names."""
    root = tmp_path_factory.mktemp("data")
    sta, cd = root / "charades-sta", root / "charades-cd"
    sta.mkdir()
    cd.mkdir()
    names = ("Closing a door", "Opening a book", "Holding a cup")
    sentences = ("a person closes a door.", "a person opens a book.", "a person holds a cup.")
    (sta / "Charades_v1_classes.txt").write_text("".join(f"c{k:03d} {name}\n" for k, name in enumerate(names)))
    rng = np.random.default_rng(5)
    rows = ["id,actions,length\n"]
    for part, n_videos in (("train", 12), ("val", 4), ("test_iid", 7), ("test_ood", 7)):
        entries = {}
        for n in range(n_videos):
            starts = np.sort(rng.uniform(0, 24, 3)).round(2).tolist()
            classes = rng.permutation(3).tolist()
            times = [[start, round(start + rng.uniform(3, 6), 2)] for start in starts]
            video = f"{part.replace('_', '').upper()}{n}"
            actions = [f"c{k:03d} {start} {end}" for k, (start, end) in zip(classes, times, strict=True)]
            rows.append(f"{video},{';'.join(actions)},30.0\n")
            entries[video] = {"sentences": [sentences[k] for k in classes], "timestamps": times, "video_duration": 30.0}
        (cd / f"charades_{part}.json").write_text(json.dumps(entries))
    (sta / "Charades_v1_train.csv").write_text("".join(rows))
    (sta / "Charades_v1_test.csv").write_text(rows[0])
    return root


@pytest.fixture(scope="module")
def made(charades, tmp_path_factory, empty_pictures):
    """Give a folder with a bench, bench.json, results.csv, bench.html and figures, which are empty."""
    root = tmp_path_factory.mktemp("made")
    words = [*OPTIONS, "--data-dir", charades, "-o", root / "bench", "--json", root / "bench.json"]
    words += ["--results", root / "results.csv", "--html", root / "bench.html", "--figures", root / "figures"]
    with pytest.MonkeyPatch.context() as patch, empty_pictures():
        patch.chdir(root)
        patch.setattr(sys, "argv", ["truemoment"])
        assert run([str(word) for word in ["bench", "closer-look", *words, "--quiet"]]) == 0
    return root


@pytest.fixture
def document(made):
    return json.loads((made / "bench.json").read_text())


@pytest.fixture
def bench(call, charades, made):
    """Run the bench again: bench("--json", ...) -> (status, standard output, standard error)."""
    return lambda *options, out=made / "bench": call(
        "bench", "closer-look", *OPTIONS, "--data-dir", charades, "-o", out, *options
    )


# --------------------------------------------------------------------------------------------- what comes out


def figure_of(document, name, split, measure=HEADLINE):
    [method] = [of for of in document["methods"] if of["name"] == name]
    return next(of["mean"] for of in method["figures"] if (of["split"], of["measure"]) == (split, measure))


@pytest.mark.parametrize("split", ["test-iid", "test-ood"])
def test_figures_are_those_of_the_predictions(document, made, charades, split):
    annotations = load_annotations("charades-cd", split, data_dir=charades)
    for name, features in (("tan2d", "perception=0.5"), ("blind-tan", "none")):
        path = made / "bench" / name / features / "seed-0" / f"{split}.jsonl"
        value = evaluate(annotations, read_predictions(path, annotations)[0], [HEADLINE]).value(HEADLINE)
        assert figure_of(document, name, split) == pytest.approx(value, abs=1e-6)  # kept to six decimals


def test_simulated_perception_is_labelled_and_never_judged(document, made):
    simulated = {of["name"]: of["simulated"] for of in document["methods"]}
    assert simulated["tan2d"]
    assert not simulated["blind-tan"]
    assert not simulated["sentence-network"]
    assert simulated["likeliest-interval"]
    rows = [row for table in document["published"]["tables"] for row in table["figures"] if "recipe" in row]
    assert {row["method"] for row in rows} == {"2D-TAN"}
    assert {(row["status"], row["simulated"]) for row in rows} == {("informational", True)}
    page = (made / "bench.html").read_text()
    assert "simulated perception:0.5" in page
    assert any("no figure here is a reproduction" in said for said in document["said"])


def test_published_figures_are_beside(document):
    published = {of["title"]: {one["split"]: one["value"] for one in of["published"]} for of in document["methods"]}
    assert published["2D-TAN"] == {"test-iid": 0.4346, "test-ood": 0.3077}  # Closer Look, Table 2
    assert published["Blind-TAN"] == {}  # it has none
    assert published["Sentence network"] == {}


def test_the_difference_from_the_sentence_network(document):
    for name in ("tan2d", "blind-tan"):
        [method] = [of for of in document["methods"] if of["name"] == name]
        for of in method["less_sentence_network"]:
            expected = figure_of(document, name, of["split"]) - figure_of(document, "sentence-network", of["split"])
            assert of["value"] == pytest.approx(expected, abs=2e-6)
            assert of["ci95"][0] <= of["value"] <= of["ci95"][1]
        assert [of["split"] for of in method["less_sentence_network"]] == ["test-iid", "test-ood"]


def test_floors_and_ceilings_are_beside(document, call, charades, made):
    kinds = {of["name"]: of["kind"] for of in document["methods"]}
    assert kinds == {
        **{"tan2d": "method", "blind-tan": "method", "uniform": "floor", "sentence-network": "floor"},
        **{"random-interval": "floor", "likeliest-interval": "floor", "named-interval": "ceiling"},
        "split-constant": "ceiling",
    }
    words = ["--dataset", "charades-cd", "--split", "test-ood", "--data-dir", charades]
    path = made / "constant.jsonl"
    assert call("baseline", "split-constant", *words, "--fit-measure", HEADLINE, "-o", path)[0] == 0
    annotations = load_annotations("charades-cd", "test-ood", data_dir=charades)
    value = evaluate(annotations, read_predictions(path, annotations)[0], [HEADLINE]).value(HEADLINE)
    assert figure_of(document, "split-constant", "test-ood") == pytest.approx(value)


def test_figures_are_kept(document, made):
    rows = read_rows(made / "results.csv")
    assert {row.recipe for row in rows} == {of["name"] for of in document["methods"]}
    kept = {(row.recipe, row.split): float(row.value) for row in rows if row.measure == HEADLINE}
    assert kept["tan2d", "test-ood"] == pytest.approx(figure_of(document, "tan2d", "test-ood"), abs=1e-6)
    assert {path.name for path in (made / "figures").iterdir()} == {
        f"bench-closer-look.{of}" for of in ("png", "svg", "pdf", "csv")
    }


# ---------------------------------------------------------------------------------------------- going on


def trained(err):
    return [line for line in err.splitlines() if line.endswith("left")]


def test_what_is_finished_is_not_trained_again(bench, document):
    status, out, err = bench("--json", "-")
    assert (status, trained(err)) == (0, [])
    assert err.startswith("2 of 2 runs are finished already")
    assert json.loads(out) == document


def weights(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("best.safetensors")}


def test_a_budget_ends_after_an_epoch_and_the_same_command_resumes(bench, made, tmp_path, monkeypatch, document):
    """The clock jumps by half an hour at each look: after an epoch, another would end too late."""
    looks = iter(range(10_000))
    clock = types.SimpleNamespace(time=lambda: 1800.0 * next(looks), perf_counter=lambda: 0.0)
    with monkeypatch.context() as patch:
        patch.setattr("truemoment.learning.training.trials.time", clock)
        patch.setattr("truemoment.cli.bench.time", types.SimpleNamespace(time=lambda: 0.0))
        status, out, err = bench("--budget-hours", 1.6, "--json", "-", out=tmp_path / "bench")
    assert status == 0
    left = {of["recipe"]: of["why"] for of in json.loads(out)["left"]}
    assert left == {"tan2d": "1 of 2 epochs are saved", "blind-tan": "not started"}
    assert "tan2d, seed 0: 1 of 2 epochs are saved" in err
    assert weights(tmp_path / "bench") != weights(made / "bench")
    status, out, _ = bench("--budget-hours", 1e-9, "--json", "-", out=tmp_path / "bench")
    assert {of["recipe"]: of["why"] for of in json.loads(out)["left"]} == left
    status, out, err = bench("--json", "-", out=tmp_path / "bench")
    assert (status, len(trained(err))) == (0, 2)
    assert weights(tmp_path / "bench") == weights(made / "bench")
    assert [of["figures"] for of in json.loads(out)["methods"]] == [of["figures"] for of in document["methods"]]


def test_what_is_left_is_reported_to_people(bench, tmp_path):
    status, out, _ = bench("--budget-hours", 1e-9, "--full", out=tmp_path / "bench")
    assert status == 0
    assert "0 of 2 finished" in out
    text = " ".join(out.split())
    assert "2 runs left: tan2d, seed 0 (not started) and blind-tan, seed 0 (not started); run the same command" in text


def test_a_lost_result_is_measured_again(bench, made, tmp_path, document):
    out_folder = Path(shutil.copytree(made / "bench", tmp_path / "bench"))
    next(out_folder.glob("tan2d/*/*/result.json")).unlink()
    status, out, err = bench("--json", "-", out=out_folder)
    assert (status, len(trained(err))) == (0, 1)
    assert [of["figures"] for of in json.loads(out)["methods"]] == [of["figures"] for of in document["methods"]]


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_every_engine_gives_the_same_weights(request, charades, made, tmp_path, engine):
    if engine == "ray":
        request.getfixturevalue("no_cluster")
    methods = read_methods(["tan2d", "blind-tan"], SMALL)
    grid = BenchGrid(methods, (0,), tmp_path / "bench", "charades-cd", charades, "perception:0.5")
    bench = Bench(get_bench("closer-look"), grid, (HEADLINE,))
    assert bench.start() == (0, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Ray's own
        outcomes = list(bench.train(workers=2, engine=engine))
    assert sorted((of.trial.method, len(of.rows)) for of in outcomes) == [("blind-tan", 2), ("tan2d", 2)]
    assert weights(tmp_path / "bench") == weights(made / "bench")


# ---------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("table-9",), "unknown table 'table-9', expected one of closer-look"),
        (("closer-look", "--dataset", "tacos"), "--dataset tacos: is not in this table, expected charades-cd or activ"),
        (("closer-look", "--features", "f.hdf5", "--perception", "0.3"), "expected one of them"),
        (("closer-look", "--features", "perception:0.3"), "expected --perception Q"),
        (("closer-look", "--perception", "2"), "2.0 is not in the range 0<=x<=1"),
        (("closer-look", "--methods", "tan9"), "unknown recipe 'tan9'"),
        (("closer-look", "--methods", "tan2d,tan2d"), "'tan2d' occurs twice"),
        (("closer-look", "--seeds", "x"), "--seeds: got 'x', expected whole numbers"),
        (("closer-look", "--set", "tan9:train.epochs=3"), "no recipe 'tan9', expected one of ctrl, acrn"),
        (("closer-look", "--budget-hours", "0"), "0.0 is not in the range x>0"),
        (("closer-look", "--measures", "R@1,IoU=0.5"), "--headline: dR@1,IoU=0.5 is not measured"),
        (("closer-look", "--out", "file"), "-o file: is a file"),
        (("closer-look", "--html", "no/page.html"), "is no folder"),
        (("closer-look", "--engine", "cluster"), "'cluster' is not one of 'local', 'ray'"),
    ],
)
def test_options_that_are_refused_before_any_work(fails, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    assert told in fails(2, "bench", *(() if "--out" in words else ("--out", "out")), *words)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_another_run_in_the_folder_is_refused(fails, made, charades):
    words = [*OPTIONS, "--data-dir", charades, "-o", made / "bench", "--set", "tan2d:train.epochs=3"]
    told = fails(2, "bench", "closer-look", *words)
    assert "contains another run (it differs in recipe.train.epochs); give -o another folder" in told


def test_one_command_at_a_time_writes(fails, charades, tmp_path):
    with lock_folder(tmp_path / "bench"):
        told = fails(2, "bench", "closer-look", *OPTIONS, "--data-dir", charades, "-o", tmp_path / "bench")
    assert told == f"{tmp_path / 'bench'}: is being written by another command, wait for its end"


def test_recipes_get_what_they_need_on_a_dataset():
    """The about of ctrl.yaml and acrn.yaml, and docs/methods/tsp-prl.md, name these values for ActivityNet-CD."""
    table = get_bench("closer-look")
    assert table.changes_on("charades-cd", table.recipes) == []
    methods = read_methods(
        ["ctrl", "tan2d", "tsp-prl"], table.changes_on("activitynet-cd", ["ctrl", "tan2d", "tsp-prl"])
    )
    settings = {of.name: of.recipe.settings for of in methods}
    assert settings["ctrl"]["lengths"] == [128, 256, 512, 1024, 2048]
    assert settings["tsp-prl"]["unit_s"] == 2


@pytest.mark.parametrize("recipe", ["moment-detr", "qd-detr", "flash-vtg"])
def test_methods_that_answer_with_sets_of_moments_are_read_and_measured_as_the_others(charades, tmp_path, recipe):
    """Without training: a loss of each kind on the first batch, and ranked moments for every query of test-ood."""
    assert recipe in get_bench("closer-look").recipes
    grid = BenchGrid(read_methods([recipe], ["train.batch=4"]), (0,), tmp_path, "charades-cd", charades, "perception:1")
    run = grid(grid.trials()[0]).learnable()
    run = dataclasses.replace(run, vocabulary=run.family.task.vocabulary(run, run.recipe.text))
    network = build_network(run.recipe, run.vocabulary, run.n_dimensions)
    learned = run.family.task.prepare(run, network, unseen).epoch(1)[0]
    batch = network.batch_of(learned.__getitems__(range(4)))
    losses = network.model.losses(batch, network.model(batch))
    assert all(loss.isfinite() for loss in losses.values())
    queries = run.tests["test-ood"].queries
    pairs = pairs_to_answer(queries, run.store, run.vocabulary, run.recipe, network.model)
    scored = score(network, pairs, 4)
    answers = as_predictions(queries.query_id, scored, queries.duration_s, nms=run.recipe.decode.nms, top=10, name="")
    assert answers.lengths.min() >= 1
    assert np.all((answers.start_s >= 0) & (answers.end_s <= 30.0))
    values = [evaluate(run.tests["test-ood"], answers, [measure]).value(measure) for measure in ("mIoU", HEADLINE)]
    assert np.isfinite(values).all()


def test_folders_differ_by_features(tmp_path):
    methods = read_methods(["tan2d", "blind-tan"], ["blind-tan:train.epochs=3"])
    assert [of.recipe.train.epochs for of in methods] == [8, 3]  # 8 is the recipe's own
    folders = set()
    for features in ("perception:0.3", "perception:0", "i3d.hdf5"):
        grid = BenchGrid(methods, (0, 1), tmp_path, "charades-cd", None, features)
        assert [(trial.method, trial.seed) for trial in grid.trials()] == [
            ("tan2d", 0), ("blind-tan", 0), ("tan2d", 1), ("blind-tan", 1)
        ]  # fmt: skip
        folders |= {grid.folder_of(trial) for trial in grid.trials()}
    names = {str(folder.path.relative_to(tmp_path)) for folder in folders if folder.name == "seed-0"}
    assert names == {
        "tan2d/perception=0.3/seed-0",
        "tan2d/perception=0/seed-0",
        "tan2d/features/seed-0",
        "blind-tan/none/seed-0",
    }
