"""truemoment demo --search: a rendered film is indexed and searched by the model that comes along, and measured."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("transformers")
pytest.importorskip("av")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Run it once, for three minutes of film: (status, standard output, folder)."""
    from click.testing import CliRunner

    from truemoment.cli import cli

    folder = tmp_path_factory.mktemp("demo") / "shapes"
    result = CliRunner().invoke(cli, ["demo", "--search", "--minutes", "3", "--out", str(folder), "--no-open"])
    return result.exit_code, result.stdout, folder


def figures_of(out):
    """Figures by method, in per cent."""
    lines = [line for line in out.splitlines() if line.startswith(("search with", "Random Chance", "Oracle"))]
    return {line.split("  ")[0].split(" ")[0]: [float(x) for x in re.findall(r"\d+\.\d\d", line)] for line in lines}


def test_what_is_written(demo):
    status, out, folder = demo
    assert status == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "film.jsonl", "film.mp4", "film.mp4.index", "found.html", "found.jsonl",
    ]  # fmt: skip
    n_sentences = len((folder / "film.jsonl").read_text().splitlines())
    assert n_sentences >= 3
    assert len(out.split("\n\n")[0].splitlines()) == 2 + n_sentences
    assert (folder / "found.html").read_text().count("data:image/jpeg") == 5


def test_the_figures_are_those_of_evaluate(demo, call):
    _, out, folder = demo
    measures = "R@1,IoU=0.1; R@1,IoU=0.3; R@5,IoU=0.5; mIoU"
    words = ["evaluate", folder / "found.jsonl", "--annotations", folder / "film.jsonl", "--measures", measures]
    status, printed, _ = call(*words, "--json", "-", "--quiet")
    assert status == 0
    values = [of["value"] for of in json.loads(printed)["measures"]]
    assert figures_of(out)["search"] == pytest.approx([100 * value for value in values], abs=0.006)


def test_it_finds_far_more_than_chance(demo):
    figures = figures_of(demo[1])
    for found, chance, best in zip(figures["search"], figures["Random"], figures["Oracle"], strict=True):
        assert 4 * chance < found <= best
    assert min(figures["Oracle"]) > 80


def test_it_can_be_searched(demo, call):
    sentence = json.loads((demo[2] / "film.jsonl").read_text().splitlines()[0])["sentence"]
    status, out, err = call("search", sentence, demo[2] / "film.mp4.index", "--top", "2")
    assert (status, err) == (0, "")
    assert len(out.splitlines()) == 4
    status, out, err = call("search", sentence, demo[2] / "film.mp4", "--top", "2")  # its index is beside it
    assert (status, err) == (0, "")


def test_impossible_lengths_are_refused(fails):
    assert fails(2, "demo", "--search", "--minutes", "0.1") == "--minutes: got 0.1, expected 1 to 120"
    assert not Path("truemoment-demo").exists()
