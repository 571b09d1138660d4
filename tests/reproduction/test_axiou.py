"""Quoted taus and IoUs of the AxIoU paper beside simulated systems, runs, and readings of the noise."""

import json

import numpy as np
import pytest

from truemoment.data.datasets import load_annotations
from truemoment.reproduction import TableInputs, published_figures, read_run_folders
from truemoment.reproduction.axiou import MEASURES, PAIRS, agreement, quoted_tau, six_of_runs
from truemoment.studies.compare.comparison import read_published

TAUS, IOUS = "axiou_agreement.csv", "axiou_noise.csv"
SEEN = "perception:0.3"


def test_quoted_tau():
    # By hand, of three systems: R@1,IoU=0.7 puts them in the order 1 < 2 < 3, R@5,IoU=0.3 in 1 < 3 < 2, all others in
    # 3 < 2 < 1. Of three pairs, 2 agree and 1 does not: (2 - 1) / 3; or none agrees: -1; or 1 agrees: (1 - 2) / 3.
    figures = np.tile([[0.3], [0.2], [0.1]], (1, 12))
    figures[:, MEASURES.index("R@1,IoU=0.7")] = [0.1, 0.2, 0.3]
    figures[:, MEASURES.index("R@5,IoU=0.3")] = [0.1, 0.3, 0.2]
    assert quoted_tau("R@1,IoU=0.7 and R@K, highest", figures) == pytest.approx(1 / 3)
    assert quoted_tau("R@1,IoU=0.7 and R@K, lowest", figures) == -1
    assert quoted_tau("AxIoU@10 and other R@K, lowest", figures) == pytest.approx(-1 / 3)
    assert quoted_tau("R@5,IoU=0.7 and R@1", figures) == pytest.approx((1 + 1 - 1) / 3)  # mean of three
    assert quoted_tau("AxIoU@K, lowest", figures) == 1


def test_every_quoted_tau_has_its_measures():
    figures = published_figures(TAUS)
    assert len(figures) == 17  # section 6.2: 14 for Charades-STA, 3 for ActivityNet
    assert {of.measure.removesuffix(", lowest").removesuffix(", highest") for of in figures} == set(PAIRS)


@pytest.mark.data
@pytest.mark.parametrize(("name", "n", "unit"), [(TAUS, 17, "tau"), (IOUS, 8, "fraction")])
def test_quoted_figures_are_those_written_down(data_dir, name, n, unit):
    path = data_dir.parent / "published" / "axiou_text.csv"
    if not path.is_file():
        pytest.skip(f"no published figures at {path}")
    ours = [(of.table, of.dataset, str(of.value), of.unit) for of in published_figures(name)]
    theirs = {(of.table, of.dataset, str(of.value), of.unit) for of in read_published(path)}
    assert (len(ours), set(ours) <= theirs, {of[3] for of in ours}) == (n, True, {unit})


@pytest.fixture
def six_runs(small_data, trained):
    """Write runs of SCDM and of 2D-TAN with and without suppression, each with answers on shuffled videos."""
    queries = load_annotations("charades-sta", "test", data_dir=small_data).queries.query_id.tolist()

    def write(*, unsuppressed=True):
        for name, model, nms in (("scdm", "scdm", 0.7), ("tan2d", "tan2d", 0.5), ("nonms", "tan2d", 1)):
            if name == "nonms" and not unsuppressed:
                continue
            answers = [(query, [[0.0, 30.0]]) for query in queries]
            folder = trained(
                name, model, dataset="charades-sta", split="test", answers=answers, features="perception:0.3"
            )
            lines = ({"query_id": query, "moments": [[0.0, 10.0]]} for query in queries)
            (folder / "test-shuffled.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            document = json.loads((folder / "run.json").read_text())
            document["recipe"]["decode"] = {"nms": nms}
            (folder / "run.json").write_text(json.dumps(document))
        return TableInputs(small_data, trained=read_run_folders(trained.folder))

    return write


def test_six_systems_of_runs(six_runs):
    # By hand: (0, 30) is the reference; (0, 10) has an IoU of 1/3. Action-Aware Blind comes first.
    inputs = six_runs()
    ((run, figures),) = six_of_runs("Charades-STA", inputs.load("Charades-STA", "test"), inputs)
    assert (run.recipe.model, run.recipe.decode.nms, figures.shape) == ("tan2d", 0.5, (6, 12))
    at = MEASURES.index("R@1,IoU=0.5")
    assert figures[1:, at].tolist() == [1, 1, 0, 1, 0]
    assert figures[2:4, MEASURES.index("R@1,IoU=0.3")].tolist() == [1, 1]


def test_without_one_of_the_six_there_is_none(six_runs):
    inputs = six_runs(unsuppressed=False)
    assert list(six_of_runs("Charades-STA", inputs.load("Charades-STA", "test"), inputs)) == []


def test_runs_on_simulated_perception_are_labelled(publish, six_runs):
    publish(TAUS, ("text", "Charades-STA", "test", "", "AxIoU@10 and R@5,IoU=0.5", "0.87", "tau"))
    *simulated, of_runs = agreement(published_figures(TAUS), six_runs())
    assert [row.method for row in simulated] == ["six simulated systems", "24 simulated systems"]
    assert {row.status for row in (*simulated, of_runs)} == {"informational"}
    assert (of_runs.is_simulated, of_runs.unit, of_runs.recipe.startswith("six systems, tan2d ")) == (True, "tau", True)
    assert all(-1 <= row.ours <= 1 for row in simulated)
