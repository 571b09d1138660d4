"""truemoment reproduce: published figures beside ours, exit status, JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from truemoment import __version__
from truemoment.base.boundary.text import short_line
from truemoment.data.datasets import NO_DATA_FOLDER
from truemoment.reproduction import TABLES

HEADINGS = "source,table,dataset,split,method,measure,value,unit,note"


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Publish other figures than the package's: published(name, line...)."""
    folder = tmp_path / "published"
    folder.mkdir()
    monkeypatch.setattr("truemoment.reproduction.base.PUBLISHED", folder)

    def write(name, *lines):
        (folder / name).write_text("\n".join([HEADINGS, *lines]) + "\n")

    return write


@pytest.fixture
def data(tmp_path):
    """A data folder with a Charades-CD of 20 s videos; val: 2 videos, 3 queries about the first half."""
    folder = tmp_path / "data"
    (folder / "charades-cd").mkdir(parents=True)
    moments = {"val": {"v": [[0, 10], [0, 10]], "w": [[0, 10]]}, "train": {"t": [[0, 10], [1, 9], [2, 8], [0, 14]]}}
    for split, of_video in moments.items():
        videos = {
            name: {"video_duration": 20.0, "timestamps": times, "sentences": ["a"] * len(times)}
            for name, times in of_video.items()
        }
        (folder / "charades-cd" / f"charades_{split}.json").write_text(json.dumps(videos))
    return folder


@pytest.mark.parametrize("words", [("reproduce", "verb-engine"), ("bias", "--dataset", "charades-cd")])
def test_figures_in_place_of_a_file_are_refused_before_any_work(call, data, tmp_path, words, monkeypatch):
    """Networks of ten minutes were trained first, or datasets surveyed."""
    (tmp_path / "mine").write_text("mine")
    monkeypatch.chdir(tmp_path)
    status, out, err = call(*words, "--data-dir", data, "--figures", "mine")
    assert (status, out) == (2, "")
    assert err == "truemoment: --figures mine: is a file, expected a folder\n"


@pytest.fixture
def two_counts(published):
    """Publish the counts of that split, one of them as given."""

    def write(queries):
        published(
            "closer_look_table1.csv",
            "a paper,Table 1,Charades-CD,val,,videos,2,count,",
            f"a paper,Table 1,Charades-CD,val,,query-moment pairs,{queries},count,",
        )

    return write


def test_a_table_that_comes_out(call, data, two_counts):
    two_counts(3)
    status, out, err = call("reproduce", "closer-look-1", "--data-dir", data, "--full")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "closer-look-1  Videos and queries of the splits",
        "",
        "Closer Look (Yuan et al. 2021), Table 1",
        "measure             published  ours  difference  tolerance  status",
        "------------------  ---------  ----  ----------  ---------  --------",
        "Charades-CD, val",
        "videos                      2     2           0          0  exact",
        "query-moment pairs          3     3           0          0  exact",
        "",
        "2 exact; 0 within; 0 outside; seed 0",
    ]


def test_a_doctored_figure(call, data, two_counts):
    two_counts(4)
    status, out, err = call("reproduce", "closer-look-1", "--data-dir", data)
    assert (status, err) == (1, "")
    assert out.startswith("1 of 2 judged figures agree with the published ones. ")
    assert any(line.split()[-5:] == ["4", "3", "-1", "0", "OUTSIDE"] for line in out.splitlines())
    assert "outside: closer-look-1: Charades-CD val query-moment pairs: published 4, ours 3, tolerance 0\n" in out
    assert "1 exact; 0 within; 1 outside; " in out


@pytest.mark.parametrize("queries", [3, 4])
def test_quiet_shows_the_table_alone(call, data, two_counts, queries):
    two_counts(queries)
    status, out, err = call("reproduce", "closer-look-1", "--data-dir", data, "--quiet", "--full")
    assert (status, err) == (queries != 3, "")
    assert out.splitlines()[-1].startswith("query-moment pairs")


@pytest.mark.parametrize(
    ("style", "first"),
    [
        ("md", "Closer Look (Yuan et al. 2021), Table 1"),
        ("latex", "Closer Look (Yuan et al. 2021), Table 1"),
    ],
)
def test_styles(call, data, two_counts, style, first):
    two_counts(3)
    status, out, err = call("reproduce", "closer-look-1", "--data-dir", data, "--table", style)
    assert status == 0
    assert out.splitlines()[0] == first
    rows = [re.split(r"\s*(?:\||&|\\\\)\s*", line.strip(" |")) for line in out.splitlines()]
    assert ["videos", "2", "2", "0", "0", "exact"] in [row[:6] for row in rows]
    assert err == "2 exact; 0 within; 0 outside; seed 0\n"


def test_json(call, data, published):
    # By hand: the whole video has IoU 1/2 with its first half, so dR@1,IoU=0.3 is 1 x (1 - 0) x (1 - 1/2).
    published(
        "closer_look_table2.csv",
        'a paper,Table 2,Charades-CD,val,PredictAll,"dR@1,IoU=0.3",50.10,percent,',
        'a paper,Table 2,Charades-CD,val,CTRL,"dR@1,IoU=0.3",42.65,percent,',
    )
    status, out, err = call("reproduce", "closer-look-2", "--data-dir", data, "--seed", 5, "--json", "-")
    assert status == 1
    assert err.splitlines()[-1] == "0 exact; 0 within; 1 outside; 1 published, unchecked; seed 5"
    document = json.loads(out)  # the whole of standard output
    ours, ctrl = document["tables"][0].pop("figures")
    signature = ours.pop("signature")
    assert signature.startswith("dR@1,IoU=0.3|protocol:closer-look|")
    assert "|data:charades-cd/val#" in signature
    place = {"source": "a paper", "table": "Table 2", "dataset": "Charades-CD", "split": "val"}
    what = place | {"measure": "dR@1,IoU=0.3", "unit": "fraction"}
    found = {"published": 0.501, "ours": 0.5, "difference": -0.001, "tolerance": 0.0, "runs": 1, "status": "outside"}
    assert ours == what | found | {"method": "PredictAll"}
    no_run = {"status": "published, unchecked", "unchecked": "no run"}
    assert ctrl == what | no_run | {"method": "CTRL", "published": 0.4265}
    table = TABLES["closer-look-2"]
    assert document == {
        "schema": "truemoment/reproduction/1",
        "truemoment": __version__,
        "seed": 5,
        "runs": 100,
        "engine": "lexicon",
        "counts": {
            "exact": 0,
            "within": 0,
            "outside": 1,
            "found by search": 0,
            "ours beside ours": 0,
            "informational": 0,
            "published, unchecked": 1,
        },
        "unchecked": {"no run": 1},
        "tables": [
            {"name": table.name, "title": table.title, "source": table.source, "datasets": list(table.datasets)}
        ],
    }


def test_the_time_is_printed(call, data, published, monkeypatch):
    monkeypatch.setattr("truemoment.cli.reproduce.LONG_S", 0)
    published("closer_look_table2.csv", 'a paper,Table 2,Charades-CD,val,CTRL,"dR@1,IoU=0.3",42.65,percent,')
    status, _, err = call("reproduce", "closer-look-2", "--data-dir", data)
    assert status == 0
    assert err.splitlines()[-1].startswith("truemoment: computed in ")
    assert "computed" not in call("reproduce", "closer-look-2", "--data-dir", data, "--quiet")[2]


def test_json_to_a_file(call, data, two_counts, tmp_path):
    two_counts(4)
    path = tmp_path / "found.json"
    status, out, _ = call("reproduce", "closer-look-1", "--data-dir", data, "--json", path)
    assert status == 1
    assert "OUTSIDE" in out
    assert path.read_text() == call("reproduce", "closer-look-1", "--data-dir", data, "--json", "-")[1]


def test_every_field_of_the_json_is_explained(call, data, published):
    published(
        "closer_look_table2.csv",
        *(
            f'p,Table 2,Charades-CD,val,{method},"dR@1,IoU=0.3",50.10,percent,'
            for method in ("PredictAll", "Bias-based")
        ),
    )
    document = json.loads(call("reproduce", "closer-look-2", "--data-dir", data, "--json", "-")[1])
    (table,) = document["tables"]
    names = [*document, *(f"tables.{name}" for name in table)]
    names += [f"figures.{name}" for figure in table["figures"] for name in figure]
    page = (Path(__file__).parents[2] / "docs" / "json-models.md").read_text(encoding="utf-8")
    assert [name for name in dict.fromkeys(names) if f"`{name}`" not in page] == []


def test_list(call):
    status, out, err = call("reproduce", "--list")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 100
    rows = lines[1 + next(number for number, line in enumerate(lines) if line.startswith("---")) :]
    assert [line.split()[0] for line in rows if not line.startswith(" ")] == list(TABLES)
    shown = set(out.replace(",", " ").split())
    for table in TABLES.values():
        assert {*table.title.replace(",", " ").split(), *table.datasets} <= shown


def test_an_unknown_table(fails, data):
    said = f"unknown table 'table-2', expected one of {', '.join(TABLES)}"
    assert fails(2, "reproduce", "table-2", "--data-dir", data) == short_line(said)


def test_an_unknown_engine(fails, data):
    assert fails(2, "reproduce", "--data-dir", data, "--engine", "x").startswith("unknown language engine 'x'")


def test_no_folder(fails):
    assert fails(2, "reproduce", "closer-look-1") == (NO_DATA_FOLDER)


def test_a_table_that_needs_no_data(call, published):
    published("closer_look_tomm_table3.csv", 'p,Table 3,ActivityNet-CD,test-iid,base + EM,"R@1,IoU=0.5",50.00,percent,')
    status, out, err = call("reproduce", "closer-look-journal-3")
    assert (status, err) == (0, "")
    assert out.startswith("No figure is judged.\n")
    assert "Published, unchecked: no run" in out


@pytest.fixture
def tables_of_data(monkeypatch):
    """Leave only tables that need a dataset."""
    monkeypatch.setattr(
        "truemoment.reproduction.TABLES", {name: TABLES[name] for name in ("closer-look-1", "best-constant")}
    )


@pytest.mark.usefixtures("tables_of_data")
def test_no_table_that_needs_no_data(fails):
    assert fails(2, "reproduce").startswith("no table could be run; closer-look-1: where are the datasets? ")


def test_a_missing_dataset_asked_for_by_name(fails, data):
    said = fails(2, "reproduce", "best-constant", "--data-dir", data)
    assert said.startswith("charades-sta: ")
    assert "charades_sta_train.txt" in said


@pytest.mark.usefixtures("tables_of_data")
def test_no_dataset_at_all(fails, tmp_path):
    said = fails(2, "reproduce", "--data-dir", tmp_path)
    assert said.startswith("no table could be run; closer-look-1: charades-sta: ")


@pytest.mark.usefixtures("tables_of_data")
def test_tables_whose_data_are_missing_are_told(call, data, published):
    published("closer_look_table1.csv", "a paper,Table 1,Charades-CD,val,,videos,2,count,")
    published("best_constant.csv", 'ours,,Charades-STA,test,first 30 %,"R@1,IoU=0.5",30.65,percent,')
    status, out, err = call("reproduce", "--data-dir", data)
    assert (status, err) == (0, "")
    assert "note: 1 table was not run (best-constant): charades-sta: " in " ".join(out.split())
    assert out.startswith("1 of 1 judged figures agree with the published ones. 1 of 2 tables ")
    document = json.loads(call("reproduce", "--data-dir", data, "--json", "-")[1])
    assert [table["figures"] != [] for table in document["tables"]] == [True, False]
    assert document["tables"][1]["why_not_run"].startswith("charades-sta: ")


def test_a_mean_over_fewer_runs_than_the_papers_is_not_judged(call, data, published):
    sta = data / "charades-sta"
    sta.mkdir()
    for split in ("train", "test"):
        (sta / f"charades_sta_{split}.txt").write_text("v 0 30##person sits.\n")
        (sta / f"Charades_v1_{split}.csv").write_text("id,length\nv,30\n")
    published(
        "hidden_challenges_blind.csv",
        'a paper,text,Charades-STA,test,Uniform random,"R@1,IoU=0.5",99.00,percent,',
    )
    status, out, _ = call("reproduce", "hidden-challenges-blind", "--data-dir", data, "--repeats", 8)
    assert status == 0
    assert "informational" in out


def test_what_people_read_of_random_baselines_and_reasons(call, data, published):
    sta = data / "charades-sta"
    sta.mkdir()
    for split in ("train", "test"):
        (sta / f"charades_sta_{split}.txt").write_text("v 0 30##person sits.\n")
        (sta / f"Charades_v1_{split}.csv").write_text("id,length\nv,30\n")
    published(
        "hidden_challenges_blind.csv",
        'a paper,text,Charades-STA,test,Uniform random,"R@1,IoU=0.5",99.00,percent,',
        'a paper,text,Charades-STA,test,SCDM,"R@1,IoU=0.5",0.52,fraction,',
        'a paper,text,Charades-STA,test,SCDM,"R@1,IoU=0.7",0.31,fraction,',
    )
    status, out, _ = call("reproduce", "hidden-challenges-blind", "--data-dir", data, "--repeats", 100, "--full")
    assert status == 1
    lines = out.splitlines()
    assert "; percent, differences in points" in " ".join(lines)
    headings, row = (
        next(line.split() for line in lines if line.startswith(word)) for word in ("measure", "R@1,IoU=0.5")
    )
    assert headings[-4:] == ["runs", "difference", "tolerance", "status"]
    assert row[3:6:2] == ["99.00", "±"]
    assert row[7] == "100"
    assert row[-3:] == ["0.3", "OUTSIDE", "(a)"]
    assert "- a: drawn at random; both are means over runs" in lines
    assert ["SCDM", "52", "31"] in [line.split() for line in lines]


@pytest.mark.data
def test_real_files(call, reproduce_once, data_dir, monkeypatch):
    monkeypatch.setattr("truemoment.reproduction.reproduce", reproduce_once)
    # The quick tables; tests/reproduction looks at each figure of all of them.
    status, out, _ = call("reproduce", "closer-look-1", "closer-look-text", "best-constant", "--data-dir", data_dir)
    assert status == 0
    # 24 counts, 5 figures of PredictAll; 2 of Bias-based; 2 of the best constant; 2 of SCDM.
    assert out.splitlines()[-1] == ("29 exact; 2 within; 0 outside; 2 ours beside ours; 2 published, unchecked; seed 0")
