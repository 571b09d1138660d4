"""Hidden Challenges, Tables 1 and 2: people beside the published figures."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.errors import MissingFileError
from truemoment.data.datasets import load_annotations
from truemoment.reproduction import read_run_folders, reproduce

SUBSET = "re-annotated subset of test"
HEAD = "HITId,video_id,description,start,end\n"


@pytest.fixture
def marked_data(small_data):
    """Two test queries of the small Charades-STA (the whole of a video of 30 s), marked anew by three workers."""
    lines = (small_data / "charades-sta" / "charades_sta_test.txt").read_text().splitlines()[:2]
    rows = ""
    for line, moments in zip(lines, (((0, 100), (0, 100), (0, 40)), ((0, 60), (0, 60), (0, 60))), strict=True):
        video, sentence = line.split()[0], line.split("##")[1]
        rows += "".join(f"h,{video}.mp4,{sentence},{start},{end}\n" for start, end in moments)
    folder = small_data / "human-charades"
    folder.mkdir()
    for name in ("test_00.csv", "test_01.csv", "test_02.csv"):
        (folder / name).write_text(HEAD + (rows if name == "test_00.csv" else ""))
    return small_data


def row(method, value, *, dataset="Charades-STA", measure="R@1,IoU=0.5"):
    return ("Table", dataset, SUBSET, method, measure, value, "percent")


def test_people_against_the_references(publish, marked_data):
    # By hand: the reference is the whole video, so the first query is hit by two of three, the second (0.6) by all.
    publish(
        "hidden_challenges_table1.csv",
        row("Rep. Human", "100.0"),
        row("Random Human", "83.3"),
        row("2D-TAN", "39.7"),
        row("Rep. Human", "44.4", dataset="ActivityNet Captions"),
    )
    representative, random, system, elsewhere = reproduce("hidden-challenges-1", marked_data, runs=400)
    assert (representative.status, representative.printed) == ("exact", Decimal("100.0"))
    assert random.ours == pytest.approx(100 * 5 / 6, abs=4)  # of 400 draws: standard error 1.2
    assert (random.runs, random.tolerance) == (400, Decimal("1.05"))
    assert (system.unchecked, elsewhere.unchecked) == ("no run", "public files missing")
    assert elsewhere.reason == "fetch them with truemoment datasets fetch human-activitynet --data-dir DIR"


def test_reproduce_and_the_page_explain_the_one_query_alike(publish, marked_data):
    # The page said that the authors take the first of equals, too, and that all published figures come out; reproduce,
    # that one query differs as theirs is not the first. Here that query alone: ours is a hit, theirs (0.0) is none.
    moments = [(1, 5), (1, 99), (2, 4), (0, 12), (2, 6)]
    (marked_data / "human-activitynet").mkdir()
    rows = "".join(f"h,hT_4wWPNYxo,a,{start},{end}\n" for start, end in moments)
    for number in range(5):
        path = marked_data / "human-activitynet" / f"test_0{number}.csv"
        path.write_text(HEAD + (rows if number == 0 else ""))
    (marked_data / "activitynet-captions").mkdir()
    video = {"v_hT_4wWPNYxo": {"duration": 166.07, "timestamps": [[0, 7.47]], "sentences": ["a"]}}
    (marked_data / "activitynet-captions" / "val_2.json").write_text(json.dumps(video))
    publish("hidden_challenges_table1.csv", row("Rep. Human", "0.0", dataset="ActivityNet Captions"))
    (found,) = reproduce("hidden-challenges-1", marked_data)
    assert found.ours == 100
    page = (Path(__file__).resolve().parents[2] / "docs" / "humans.md").read_text(encoding="utf-8")
    for fact in ("v_hT_4wWPNYxo#0", "573", "572", "44.49 is right"):
        assert fact in found.reason
        assert fact in page


def test_people_against_each_other(publish, marked_data):
    # First query: who marked the whole finds another who did; the third has IoU 0.4 with both. Second: all alike.
    # Representative: the first; only the third answers it (a miss), and in the second query everybody (hits).
    publish(
        "hidden_challenges_table2.csv",
        row("Human", "83.3", measure="R@1,IoU=0.5,ref=nearest"),
        row("Human", "50.0", measure="R@1,IoU=0.5,ref=representative"),
        row("SCDM", "59.48", measure="R@1,IoU=0.5,ref=nearest"),
    )
    nearest, representative, system = reproduce("hidden-challenges-2", marked_data, runs=400)
    assert nearest.ours == pytest.approx(100 * 5 / 6, abs=4)
    assert (representative.ours, representative.spread) == (50, 0)
    assert system.status == "published, unchecked"


def test_a_system_that_was_trained(publish, marked_data, trained):
    # By hand: the reference is (0, 30) for both, the annotators of the second query mark (0, 18). (0, 12) misses the
    # reference (IoU 0.4) and hits the annotators (IoU 2/3); (0, 30) hits both in the first query.
    first, second = load_annotations("charades-sta", "test", data_dir=marked_data).queries.query_id[:2]
    answers = [(first, [[0.0, 30.0]]), (second, [[0.0, 12.0]])]
    trained("tan2d", "tan2d", dataset="charades-sta", split="test", answers=answers)
    runs = read_run_folders(trained.folder)
    publish("hidden_challenges_table1.csv", row("2D-TAN", "39.7"), row("SCDM", "51.7"))
    published = {f"R@1,IoU=0.5,ref={rule}": "51.70" for rule in ("nearest", "representative")}
    publish("hidden_challenges_table2.csv", *(row("2D-TAN", value, measure=of) for of, value in published.items()))
    system, other = reproduce("hidden-challenges-1", marked_data, trained=runs)
    assert (system.ours, system.status, other.unchecked) == (50, "outside", "no run")
    against_annotators = reproduce("hidden-challenges-2", marked_data, trained=runs)
    assert [found.ours for found in against_annotators] == [100, 100]
    assert "ref:nearest" in against_annotators[0].signature


def test_more_answers_of_a_system_count_as_in_the_notebooks(publish, marked_data, trained):
    # By hand: of six answers, the sixth of the first query and the fifth of the second are the reference, (0, 30). The
    # notebook keeps five of 2D-TAN's, so that R@10 is R@5, and more of SCDM's on Charades-STA.
    queries = load_annotations("charades-sta", "test", data_dir=marked_data).queries.query_id[:2]
    lists = [[[0.0, 30.0] if at == right else [0.0, 3.0] for at in range(6)] for right in (5, 4)]
    answers = [
        (query, [[*moment, 1 - at / 10] for at, moment in enumerate(of)])
        for query, of in zip(queries, lists, strict=True)
    ]
    for model in ("tan2d", "scdm"):
        trained(model, model, dataset="charades-sta", split="test", answers=answers)
    table = "Compare SOTA and Human"
    rows = [row(name, "50.0", measure=f"R@{n},IoU=0.5") for name in ("2D-TAN", "SCDM") for n in (1, 5, 10)]
    publish("hidden_challenges_notebooks.csv", *((table, *of[1:]) for of in rows))
    found = reproduce("hidden-challenges-people", marked_data, trained=read_run_folders(trained.folder))
    assert [of.ours for of in found] == [0, 50, 50, 0, 50, 100]


def test_few_draws_are_not_judged(publish, marked_data):
    publish("hidden_challenges_table1.csv", row("Random Human", "42.8"))
    (random,) = reproduce("hidden-challenges-1", marked_data, np.random.default_rng(1), runs=5)
    assert random.status == "informational"


def test_the_re_annotations_are_needed(publish, small_data):
    publish("hidden_challenges_table1.csv", row("Random Human", "42.8"))
    with pytest.raises(MissingFileError, match="human-charades"):
        reproduce("hidden-challenges-1", small_data)


@pytest.mark.thorough
@pytest.mark.data
def test_the_published_figures(reproduce_once, data_dir):
    # Issue 4 of 7: representative 52.1, random within a published deviation, 83.3 +- 1 and 66.8 +- 1.3, Action-Aware
    # within 3 points of 36.50 and 18.70.
    if not (data_dir / "human-charades").is_dir():
        pytest.skip(f"no real files in {data_dir / 'human-charades'}")
    of_charades = {
        (found.method, found.measure.removeprefix("R@1,IoU=0.5")): found
        for name in ("hidden-challenges-1", "hidden-challenges-2")
        for found in reproduce_once(name, data_dir)
        if found.dataset == "Charades-STA"
    }
    judged = {
        ("Rep. Human", ""): ("52.1", "0"),
        ("Random Human", ""): ("42.8", "1.05"),
        ("Human", ",ref=nearest"): ("83.3", "1.0"),
        ("Human", ",ref=representative"): ("66.8", "1.3"),
        ("Action-Aware Blind", ",ref=nearest"): ("36.50", "3.0"),
        ("Action-Aware Blind", ",ref=representative"): ("18.70", "3.0"),
    }
    for key, (published, tolerance) in judged.items():
        found = of_charades.pop(key)
        assert (found.published, found.tolerance) == (Decimal(published), Decimal(tolerance))
        assert found.status in ("exact", "within")
    assert {found.status for found in of_charades.values()} == {"published, unchecked"}
