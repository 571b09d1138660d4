"""truemoment sweep: a real one, on a world of forty videos; what goes on, what is refused."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.boundary.folders import lock_folder
from truemoment.cli import run
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.learning.training.results import read_rows
from truemoment.worlds.interval_rules import LikeliestInterval
from truemoment.worlds.perception import perfect_perception

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", exc_type=ImportError)
torch.set_num_threads(1)  # as the sweeps here: with more threads the last digits of answers differ

SMALL = ("train.epochs=1", "settings.hidden=8", "settings.n_clips=8", "rows=8")
WORLD = "videos=40,location_prior=0.9"
FIXED = [
    *("--world", WORLD, "--dial", "perception=1,0", "--seeds", "0,1", "--threads", 1),
    *("--measures", "R@1,IoU=0.5; mIoU", "--headline", "mIoU"),
    *(word for change in SMALL for word in ("--set", change)),
]
RECIPES = ["tan2d", "blind-tan"]
FLOORS = [
    *("predict-all", "best-constant", "bias-based", "mean-map", "prior-only", "action-aware"),
    *("sentence-neighbours", "sentence-network", "uniform", "random-chance"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory, empty_pictures):
    """Give a folder that holds a sweep, sweep.json, results.csv and figures, which are empty."""
    root = tmp_path_factory.mktemp("made")
    words = [*RECIPES, *FIXED, "-o", root / "sweep", "--json", root / "sweep.json", "--results", root / "results.csv"]
    with pytest.MonkeyPatch.context() as patch, empty_pictures():
        patch.chdir(root)
        patch.setattr(sys, "argv", ["truemoment"])
        assert run([str(word) for word in ["sweep", *words, "--figures", root / "figures", "--quiet"]]) == 0
    return root


@pytest.fixture
def document(made):
    return json.loads((made / "sweep.json").read_text())


@pytest.fixture
def root(made, tmp_path):
    """Give a copy of all that at the very place it was made, which is then put back."""
    kept = Path(shutil.copytree(made, tmp_path / "kept"))
    yield made
    shutil.rmtree(made)
    shutil.copytree(kept, made)


@pytest.fixture
def sweep(call, root):
    """Go on with the sweep: sweep("--json", ...) -> (status, standard output, standard error)."""
    return lambda *options: call("sweep", *RECIPES, *FIXED, "-o", root / "sweep", *options)


def trained(err):
    """Lines of cells that were trained."""
    return [line for line in err.splitlines() if line.endswith("left")]


# --------------------------------------------------------------------------------------------- what comes out


def test_every_cell_is_told(document):
    assert document["schema"] == "truemoment/sweep/2"
    assert (document["dial"], document["values"], document["seeds"]) == ("perception", [0, 1], [0, 1])
    assert (document["splits"], document["headline"]) == (["test-iid", "test-ood"], "mIoU")
    assert document["source"]["world"] | {"n_videos": 40, "location_prior": 0.9} == document["source"]["world"]
    keys = [
        tuple(cell[of] for of in ("recipe", "dial_value", "seed", "split", "measure")) for cell in document["cells"]
    ]
    places = [("tan2d", value, seed) for value in (0, 1) for seed in (0, 1)]
    places += [("blind-tan", None, seed) for seed in (0, 1)]
    expected = {(*of, split, m) for of in places for split in document["splits"] for m in document["measures"]}
    assert len(keys) == len(expected) == 6 * 2 * 2
    assert set(keys) == expected
    assert all(0 <= cell["value"] <= 1 for cell in document["cells"])
    assert {(of["recipe"], of["sees_video"], of["level"]) for of in document["methods"]} == {
        ("tan2d", True, False),
        ("blind-tan", False, True),
    }


def test_every_floor_stands_beside_once(document):
    """Perception changes no annotations, so that each floor has one figure a split and measure."""
    keys = [(of["recipe"], of["dial_value"], of["split"], of["measure"]) for of in document["floors"]]
    assert len(keys) == len(FLOORS) * 2 * 2
    assert set(keys) == {(f, None, s, m) for f in FLOORS for s in document["splits"] for m in document["measures"]}
    assert {of["hash"] for of in document["floors"]} == {"floor"}


def test_floors_are_those_of_the_command_baseline(call, made, document):
    world = made / "sweep" / "worlds" / "perception=0" / "seed-0" / "annotations.jsonl"
    words = ["--annotations", world, "--split", "test-ood", "--fit-split", "train", "--measures", "mIoU"]
    for name in ("predict-all", "bias-based", "best-constant"):
        option = ["--fit-measure", "mIoU"] if name == "best-constant" else []
        status, out, _ = call("baseline", name, *words, *option, "--json", "-", "--quiet")
        assert status == 0
        expected = json.loads(out)["measures"][0]["value"]
        found = [
            of["value"]
            for of in document["floors"]
            if (of["recipe"], of["split"], of["measure"]) == (name, "test-ood", "mIoU")
        ]
        assert found == [pytest.approx(expected, abs=1e-12)]


def test_a_cell_is_a_run_of_its_own(call, made, document):
    """What a cell answered, evaluated by itself, gives the figure told, and so does asking the run again."""
    cell = made / "sweep" / "cells" / "tan2d" / "perception=1" / "seed-1"
    world = made / "sweep" / "worlds" / "perception=1" / "seed-0" / "annotations.jsonl"
    told = next(
        of["value"]
        for of in document["cells"]
        if (of["recipe"], of["dial_value"], of["seed"], of["split"], of["measure"])
        == ("tan2d", 1, 1, "test-iid", "mIoU")
    )
    data = ["--annotations", world, "--split", "test-iid"]
    _, out, _ = call("evaluate", cell / "test-iid.jsonl", *data, "--measures", "mIoU", "--json", "-")
    assert json.loads(out)["measures"][0]["value"] == pytest.approx(told, abs=1e-6)  # six decimals are kept
    status, _, err = call("predict", "run", cell, *data, "-o", made / "again.jsonl")
    assert (status, "synthetic world" in err) == (0, True)
    assert (made / "again.jsonl").read_bytes() == (cell / "test-iid.jsonl").read_bytes()


def test_the_figures_are_kept(made, document):
    rows = read_rows(made / "results.csv")
    assert len(rows) == len(document["cells"]) + len(document["floors"])
    assert {row.config for row in rows} == {of["hash"] for of in document["methods"]} | {"floor"}
    names = {f"sweep-{measure}.{form}" for measure in ("r1-iou-0.5", "miou") for form in ("png", "svg", "pdf")}
    assert {path.name for path in (made / "figures").iterdir()} == names


# ---------------------------------------------------------------------------------------------- going on


def test_what_is_finished_is_not_trained_again(sweep, document):
    status, out, err = sweep("--json", "-")
    assert (status, trained(err)) == (0, [])
    assert err.startswith("6 of 6 cells are finished already")
    assert json.loads(out) == document


def test_only_what_is_missing_is_trained(sweep, root, document):
    lacking = root / "sweep" / "cells" / "tan2d" / "perception=0" / "seed-1"
    shutil.rmtree(lacking)
    other = root / "sweep" / "cells" / "tan2d" / "perception=0" / "seed-0" / "result.json"
    before = other.stat().st_mtime_ns
    status, out, err = sweep("--json", "-")
    assert status == 0
    assert len(trained(err)) == 1
    assert trained(err)[0].startswith("tan2d, perception 0, seed 1: mIoU test-iid ")
    assert json.loads(out) == document
    assert other.stat().st_mtime_ns == before


def test_a_lost_result_is_measured_again_without_training(sweep, root, document):
    cell = root / "sweep" / "cells" / "blind-tan" / "perception=any" / "seed-0"
    weights = (cell / "best.safetensors").stat().st_mtime_ns
    (cell / "result.json").unlink()
    status, out, err = sweep("--json", "-")
    assert (status, len(trained(err))) == (0, 1)
    assert json.loads(out) == document
    assert (cell / "best.safetensors").stat().st_mtime_ns == weights


def test_a_value_is_added_to_a_sweep(call, root):
    words = [word if word != "perception=1,0" else "perception=0,0.5" for word in FIXED]
    words[words.index("0,1")] = "0"
    status, out, err = call("sweep", *RECIPES, *words, "-o", root / "sweep", "--json", "-")
    assert status == 0
    assert "2 of 3 cells are finished already" in err
    assert [line.split(":")[0] for line in trained(err)] == ["tan2d, perception 0.5, seed 0"]
    assert json.loads(out)["values"] == [0, 0.5]


def test_another_sweep_in_the_folder_is_refused(fails, root):
    words = [*RECIPES, *FIXED, "-o", root / "sweep"]
    told = fails(2, "sweep", *words, "--set", "train.epochs=2")
    assert "contains another run (it differs in recipe.train.epochs); give -o another folder" in told
    words[words.index(WORLD)] = "videos=41"
    assert "contains another world; give -o another folder" in fails(2, "sweep", *words)


def test_an_empty_cell_is_told_and_the_status_is_1(call, tmp_path):
    """Steps so long that nothing is finite behind them."""
    words = [
        "--dial",
        "query-prior=0",
        "--seeds",
        "0",
        "--world",
        "videos=20",
        "-o",
        tmp_path / "sweep",
        "--threads",
        1,
    ]
    changes = [*SMALL, "train.epochs=3", "train.learning_rate=1.0e+30", "train.clip=0"]
    words += [word for change in changes for word in ("--set", change)]
    status, out, err = call("sweep", "blind-tan", *words, "--full")
    assert status == 1
    assert "blind-tan, query-prior 0, seed 0: " in err
    assert "not finite" in err
    assert "note: 1 cell empty (* marks a mean of fewer seeds): Blind-TAN at query-prior 0, seed 0" in out
    assert "Action-Aware Blind (floor)" in out


@pytest.mark.usefixtures("few_floors")
def test_worlds_of_their_own_for_each_seed(call, tmp_path):
    """A prior changes annotations: floors have a figure a value and world."""
    words = ["--dial", "location-prior=0,1", "--seeds", "0,1", "--world", "videos=20,seed=5", "--world-seeds", "each"]
    words += [word for change in SMALL for word in ("--set", change)]
    out = tmp_path / "sweep"
    status, _, _ = call("sweep", "blind-tan", *words, "-o", out, "--json", out / "s.json", "--threads", 1, "--quiet")
    assert status == 0
    found = {f"{of.parent.name}/{of.name}" for of in (out / "worlds").glob("*/*")}
    assert found == {f"location-prior={value}/seed-{seed}" for value in (0, 1) for seed in (5, 6)}
    document = json.loads((out / "s.json").read_text())
    assert {(of["dial_value"], of["seed"]) for of in document["floors"]} == {(v, s) for v in (0, 1) for s in (0, 1)}
    assert {(of["dial_value"], of["seed"]) for of in document["cells"]} == {(v, s) for v in (0, 1) for s in (0, 1)}


# ------------------------------------------------------------------------- interval rules on simulated perception

RULES = ("random-interval", "likeliest-interval", "named-interval")
BRIEF = ("--seeds", "0", "--threads", 1, "--measures", "R@1,IoU=0.5", "--quiet")


@pytest.fixture(scope="module")
def charades(tmp_path_factory):
    """Give a data folder with a Charades-STA of 30 + 12 videos: each moment is an action whose class it names."""
    folder = tmp_path_factory.mktemp("data") / "charades-sta"
    folder.mkdir()
    names = ("Closing a door", "Opening a book", "Holding a cup")
    sentences = ("a person closes a door.", "a person opens a book.", "a person holds a cup.")
    (folder / "Charades_v1_classes.txt").write_text("".join(f"c{k:03d} {name}\n" for k, name in enumerate(names)))
    rng = np.random.default_rng(5)
    for part, n_videos in (("train", 30), ("test", 12)):
        lines, rows = [], ["id,actions,length\n"]
        for n in range(n_videos):
            starts = np.sort(rng.uniform(0, 24, 3)).round(2).tolist()
            klass = rng.permutation(3).tolist()
            actions = [f"c{k:03d} {start} {round(start + 5, 2)}" for k, start in zip(klass, starts, strict=True)]
            rows.append(f"{part}{n},{';'.join(actions)},30.0\n")
            lines += [
                f"{part}{n} {start} {round(start + 5, 2)}##{sentences[k]}\n"
                for k, start in zip(klass, starts, strict=True)
            ]
        (folder / f"Charades_v1_{part}.csv").write_text("".join(rows))
        (folder / f"charades_sta_{part}.txt").write_text("".join(lines))
    return folder.parent


@pytest.fixture(scope="module")
def on_charades(charades, tmp_path_factory):
    """Give the document and the rows of a sweep on it."""
    root = tmp_path_factory.mktemp("on charades")
    words = ["tan2d", "--dataset", "charades-sta", "--data-dir", charades, "--dial", "perception=0,1", *BRIEF]
    words += [word for change in SMALL for word in ("--set", change)]
    words += ["-o", root / "sweep", "--json", root / "sweep.json", "--results", root / "results.csv"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr(sys, "argv", ["truemoment"])
        assert run([str(word) for word in ["sweep", *words]]) == 0
    return json.loads((root / "sweep.json").read_text()), read_rows(root / "results.csv")


def test_interval_rules_stand_beside_methods_on_simulated_perception(on_charades, charades):
    """Point 9: at perception 1 the named interval is always right, and the others are what the rules say."""
    document, rows = on_charades
    found = {
        (of["recipe"], of["dial_value"]): of["value"]
        for of in (*document["floors"], *document["ceilings"])
        if of["recipe"] in RULES
    }
    assert set(found) == {(name, value) for name in RULES for value in (0, 1)}
    assert {of["recipe"] for of in document["ceilings"]} == {"named-interval"}
    assert {of["kind"] for of in document["summary"] if of["name"] == "named-interval"} == {"ceiling"}
    assert found["named-interval", 1] == 1
    assert found["named-interval", 0] < 0.5  # at perception 0 there is nothing but noise to pick from
    assert found["random-interval", 0] < found["random-interval", 1] < 0.6  # a third, and what overlaps
    train, test = (load_annotations("charades-sta", part, data_dir=charades) for part in ("train", "test"))
    rule = LikeliestInterval(perfect_perception(charades / "charades-sta").intervals).fit(train)
    expected = evaluate(test, rule.ground(test.queries), ["R@1,IoU=0.5"]).value("R@1,IoU=0.5")
    assert found["likeliest-interval", 1] == pytest.approx(expected, abs=1e-12)
    kept = {(row.recipe, row.features, row.split): float(row.value) for row in rows if row.recipe in RULES}
    assert kept == {
        (name, f"perception:{value:g}, seed=0", "test"): pytest.approx(figure, abs=1e-6)
        for (name, value), figure in found.items()
    }


def test_the_best_rule_can_be_the_floor_that_is_told(on_charades):
    document, _ = on_charades
    said = next(text for text in document["said"] if text.startswith("On test, rules"))
    assert said.endswith("named interval (ceiling) 100.00 %. Floors do not read the sentence.")


def test_without_simulated_features_there_are_no_rules(document, call, charades, tmp_path):
    """Neither on a world nor for methods that see no video."""
    assert document["ceilings"] == []
    words = ["--dataset", "charades-sta", "--data-dir", charades, "--dial", "perception=1", *BRIEF]
    words += [word for change in SMALL for word in ("--set", change)]
    status, out, _ = call("sweep", "blind-tan", *words, "-o", tmp_path / "sweep", "--json", "-")
    assert status == 0
    found = json.loads(out)
    assert (found["ceilings"], {of["recipe"] for of in found["floors"]} & set(RULES)) == ([], set())


# ---------------------------------------------------------------------------------------------- refusals

DIAL = ("--dial", "perception=0,1")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--world", "videos=40", *DIAL), "which recipes"),
        (("tan2d", "--world", "videos=40"), "which dial"),
        (("tan2d", *DIAL), "expected one of them"),
        (("tan2d", *DIAL, "--world", "videos=40", "--dataset", "charades-cd"), "expected one of them"),
        (("tan9", *DIAL, "--world", "videos=40"), "unknown recipe 'tan9'"),
        (("tan2d", "--dial", "colour=1", "--world", "videos=40"), "unknown dial 'colour'"),
        (("tan2d", "--dial", "perception=2", "--world", "videos=40"), "'2', expected a number from 0 to 1"),
        (("tan2d", "--dial", "perception=x", "--world", "videos=40"), "'x', expected a number from 0 to 1"),
        (("tan2d", "--dial", "perception=0,0", "--world", "videos=40"), "expected each value once"),
        (
            ("tan2d", *DIAL, "--dataset", "tacos"),
            "its features cannot be simulated, expected one of charades-sta, charades-cd, activitynet-",
        ),
        (("tan2d", "--dial", "query-prior=0", "--dataset", "charades-cd"), "needs --world"),
        (("tan2d", *DIAL, "--dataset", "charades-cd", "--world-seeds", "each"), "--world-seeds: is for --world"),
        (("tan2d", *DIAL, "--dataset", "charades-cd"), "where are the datasets?"),
        (("tan2d", *DIAL, "--world", "clouds=3"), "got the key 'clouds', expected one of videos, location_prior"),
        (("tan2d", *DIAL, "--world", "videos=40.5"), "'40.5', expected a whole number"),
        (("tan2d", *DIAL, "--world", "videos"), "got 'videos', expected KEY=VALUE"),
        (("tan2d", *DIAL, "--world", "videos=4"), "expected 10 or more"),
        (("tan2d", *DIAL, "--world", "videos=40,n_videos=41"), "got the key 'videos' twice"),
        (("tan2d", *DIAL, "--world", "query-prior=1.5"), "query_prior: got 1.5, expected a number from 0 to 1"),
        (("tan2d", *DIAL, "--world", "perception=1"), "is what --dial changes"),
        (("tan2d", *DIAL, "--world", "videos=40", "--seeds", "0,-1"), "--seeds: got '0,-1', expected whole numbers"),
        (("tan2d", *DIAL, "--world", "videos=40", "--seeds", "1,1"), "expected each seed once"),
        (("tan2d", *DIAL, "--world", "videos=40", "--measures", "R@1"), "R@1"),
        (("tan2d", *DIAL, "--world", "videos=40", "--headline", "mAP"), "--headline: mAP is not measured"),
        (("tan2d", *DIAL, "--world", "videos=40", "--set", "rows=7"), "expected a multiple of the 16 clips"),
        (("tan2d", *DIAL, "--world", "videos=40", "--results", "no/r.csv"), "is no folder"),
        (("tan2d", *DIAL, "--world", "videos=40", "--figures", "file"), "--figures file: is a file"),
        (("tan2d", *DIAL, "--world", "videos=40", "-o", "file"), "-o file: is a file"),
        (("tan2d", *DIAL, "--world", "videos=40", "-o", "no/out"), "cannot be made, no is no folder"),
    ],
)
def test_options_that_are_refused_before_any_work(fails, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    assert told in fails(2, "sweep", *(() if "-o" in words else ("-o", "out")), *words)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_finished_sweep_goes_on_with_several_jobs(sweep, root):
    """Nothing is left to train: a pool of no processes ended in status 3."""
    before = (root / "results.csv").read_bytes()
    status, _, err = sweep("--jobs", 2, "--results", root / "results.csv")
    assert (status, trained(err)) == (0, [])
    assert (root / "results.csv").read_bytes() == before


@pytest.mark.usefixtures("no_cluster")
@pytest.mark.thorough
def test_a_cluster_trains_the_same(sweep, root):
    cell = next((root / "sweep" / "cells" / "tan2d").rglob("best.safetensors"))
    expected = cell.read_bytes()
    shutil.rmtree(cell.parent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Ray's own
        status, _, err = sweep("--engine", "ray", "--jobs", 1)
    assert (status, len(trained(err))) == (0, 1), err
    assert cell.read_bytes() == expected


# ------------------------------------------------------------------------------------------ links, two at once


@pytest.mark.parametrize("link", ["cells", "cells/tan2d", "cells/tan2d/perception=1", "worlds", "worlds/perception=1"])
def test_links_in_a_sweep_are_refused(fails, tmp_path, link):
    mine = tmp_path / "mine"
    mine.mkdir()
    (tmp_path / "sweep" / link).parent.mkdir(parents=True)
    (tmp_path / "sweep" / link).symlink_to(mine)
    told = fails(2, "sweep", *RECIPES, *FIXED, "-o", tmp_path / "sweep")
    assert told.startswith(
        f"{tmp_path / 'sweep' / link}: is a link, expected a file or folder that TrueMoment has made"
    )
    assert list(mine.iterdir()) == []


def test_one_command_at_a_time_sweeps(fails, tmp_path):
    with lock_folder(tmp_path / "sweep"):
        told = fails(2, "sweep", *RECIPES, *FIXED, "-o", tmp_path / "sweep")
    assert told == f"{tmp_path / 'sweep'}: is being written by another command, wait for its end"


def test_folders_of_the_user_in_a_sweep_may_be_written(sweep, root):
    (root / "sweep" / "notes").mkdir()
    assert sweep("--json", root / "sweep" / "notes" / "sweep.json", "--quiet")[0] == 0
