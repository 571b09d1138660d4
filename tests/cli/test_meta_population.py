"""truemoment meta population: files of simulated systems that every verb reads."""

import json

import numpy as np
import pytest

from truemoment import read_annotations, read_predictions
from truemoment.cli.meta import population
from truemoment.studies.meta import simulation
from truemoment.studies.meta.population import default_population
from truemoment.studies.meta.simulation import simulate_all


@pytest.fixture
def mine(tmp_path):
    """24 queries to fit on and 12 to ask about, of videos of 30 s."""
    rng = np.random.default_rng(0)
    path = tmp_path / "mine.jsonl"
    rows = []
    for k in range(36):
        start = round(float(20 * rng.random()), 1)
        row = {"video_id": f"v{k // 2}", "sentence": f"a door opens {k}", "duration_s": 30, "split": "train"}
        rows.append(row | {"moments": [[start, round(start + 2 + float(8 * rng.random()), 1)]]})
        rows[-1]["split"] = "train" if k < 24 else "test"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_each_system_is_a_file_that_says_how_it_was_made(call, mine, tmp_path):
    out = tmp_path / "systems"
    status, said, err = call("meta", "population", "--annotations", mine, "--split", "test", "-o", out, "--full")
    assert (status, err) == (0, "")
    names = [system.name for system in default_population()]
    assert {path.name for path in out.iterdir()} == {f"{name}.jsonl" for name in names}
    assert all(name in said for name in names)
    header = json.loads((out / "map nonms.jsonl").read_text().splitlines()[0])
    assert header["made_by"]["seed"] == 0
    assert header["made_by"]["simulated"]["nms_threshold"] is None
    assert header["made_by"]["simulated"]["model"] == "map"


def test_files_hold_what_the_function_gives(call, mine, tmp_path):
    """The population's generator is the first child of the seed, as for --population of the other studies."""
    out = tmp_path / "systems"
    call("meta", "population", "--annotations", mine, "--split", "test", "--seed", 3, "--top", 4, "-o", out)
    test, train = (read_annotations(mine, split) for split in ("test", "train"))
    rng = np.random.default_rng(3).spawn(1)[0]
    expected = simulate_all(default_population(), test, rng, fit=train, top=4)["ranker"]
    got, _ = read_predictions(out / "ranker.jsonl", test)
    assert np.array_equal(got.start_s, expected.start_s)
    assert np.array_equal(got.score, expected.score)


def test_variants_have_the_same_recipes_on_every_split(call, mine, tmp_path):
    recipes = []
    for split in ("test", "train"):
        other = "test" if split == "train" else "train"
        words = ("--annotations", mine, "--split", split, "--fit-split", other)
        status, out, _ = call("meta", "population", *words, "--variants", 6, "-o", tmp_path / split, "--json", "-")
        assert status == 0
        recipes.append([{**one, "figures": None} for one in json.loads(out)["systems"]])
    assert recipes[0] == recipes[1]
    assert len(recipes[0]) == len(list((tmp_path / "test").iterdir())) == 6


def test_the_document_holds_recipes_figures_and_correlation(call, mine, tmp_path):
    words = ("--annotations", mine, "--split", "test", "--measures", "R@1,IoU=0.5", "-o", tmp_path / "systems")
    _, out, _ = call("meta", "population", *words, "--json", "-")
    document = json.loads(out)
    assert document["schema"] == "truemoment/population/1"
    assert [one["measure"] for one in document["systems"][0]["figures"]] == ["R@1,IoU=0.5", "mIoU"]
    assert document["correlation"]["pairs"] <= 24 * 23 // 2 - 8  # but those of one model
    assert -1 <= document["correlation"]["lowest"] <= document["correlation"]["mean"] <= 1
    assert document["fitted_on"] == "mine.jsonl/train"


def test_variants_of_one_model_are_not_told_to_be_alike(call, mine, tmp_path):
    words = ("--annotations", mine, "--split", "test", "--variants", 4, "-o", tmp_path / "systems")
    _, out, _ = call("meta", "population", *words, "--json", "-")
    assert json.loads(out)["correlation"] is None


def test_the_limits_of_the_command_are_those_of_the_simulation():
    assert simulation.TOP == population.TOP
    assert simulation.PLACES * simulation.COPIES == population.MOST_PREDICTIONS


def test_nothing_is_written_over_or_left_half_written(fails, mine, tmp_path):
    out = tmp_path / "systems"
    out.mkdir()
    (out / "mine.jsonl").write_text("kept")
    words = ("--annotations", mine, "--split", "test")
    said = fails(2, "meta", "population", *words, "-o", out)
    assert "is there already, expected a new or empty folder" in said
    assert (out / "mine.jsonl").read_text() == "kept"
    said = fails(2, "meta", "population", *words, "-o", tmp_path / "no" / "folder")
    assert "cannot be made" in said
    said = fails(2, "meta", "population", *words, "--fit-split", "none", "-o", tmp_path / "blind")
    assert "uses the locations of training moments" in said
    assert not (tmp_path / "blind").exists()
    assert not list(tmp_path.glob(".writing-*"))
