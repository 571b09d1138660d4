"""truemoment leaderboard: figures are those of compare and audit, ranks follow the tests, bad files are one line."""

import csv
import json

import numpy as np
import pytest

import truemoment
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, MissingFileError
from truemoment.cli import run
from truemoment.studies.compare.ranking import rank_intervals
from truemoment.studies.leaderboard.entries import read_entries
from truemoment.studies.leaderboard.run import _replace_files

HEAD = "title: Doors\nannotations: mine.jsonl\nfit_split: none\nmeasures: R@1,IoU=0.5; mIoU\nsystems:\n"
SYSTEMS = (
    "  - {name: best, files: all.jsonl, sees_video: true, paper: A paper of 2024, date: 2024-05-01}\n",
    "  - {name: seeds, files: [run1.jsonl, run2.jsonl], sees_video: true, date: 2023-05-01}\n",
    "  - {name: half, files: half.jsonl, sees_video: false}\n",
)
DRAWS = ("--resamples", "200", "--permutations", "999")
GATE = "R@1,IoU=0.5>=0.9"


def make_board(folder):
    """Forty queries, one a video: a file that answers all rightly, two that answer 34 and 36, one that answers 20."""
    folder.mkdir()
    row = {"sentence": "a door opens", "duration_s": 40, "moments": [[10, 20]]}
    (folder / "mine.jsonl").write_text("".join(json.dumps({"video_id": f"v{i}", **row}) + "\n" for i in range(40)))
    for name, right in (("all", 40), ("run1", 34), ("run2", 36), ("half", 20)):
        moments = ([[10, 20, 1.0] if i < right else [30, 40, 1.0]] for i in range(40))
        lines = (json.dumps({"query_id": f"v{i}#0", "moments": of}) + "\n" for i, of in enumerate(moments))
        (folder / f"{name}.jsonl").write_text("".join(lines))
    write(folder, HEAD + "".join(SYSTEMS))
    return folder


@pytest.fixture
def board(tmp_path):
    return make_board(tmp_path / "board")


def write(folder, text):
    (folder / "leaderboard.yaml").write_text(text)


@pytest.fixture(scope="module")
def site(tmp_path_factory, empty_pictures):
    """Write a site once, without drawing its figures: its pages take seconds."""
    board = make_board(tmp_path_factory.mktemp("made") / "board")
    with empty_pictures():
        assert run(["leaderboard", str(board), *DRAWS, "--quiet", "--gate", GATE]) == 1  # a seed of seeds has 34 of 40
    return board / "site"


class TestSite:
    def test_figures_are_those_of_compare_and_audit(self, site, call, monkeypatch):
        monkeypatch.chdir(site.parent)
        found = json.loads((site / "leaderboard.json").read_text())
        files = [
            f"{name}={file}.jsonl"
            for name, file in (("best", "all"), ("half", "half"), ("seeds", "run1"), ("seeds", "run2"))
        ]
        options = ("--annotations", "mine.jsonl", "--measures", "R@1,IoU=0.5; mIoU", "--fit-split", "none")
        compared = json.loads(call("compare", *files, *options, *DRAWS, "--json", "-")[1])
        assert found["comparison"]["methods"] == compared["methods"]
        assert found["comparison"]["comparisons"] == compared["comparisons"]
        audit = json.loads(call("audit", "all.jsonl", *options, *DRAWS, "--json", "-")[1])
        best = next(of for of in found["systems"] if of["name"] == "best")
        assert best["skill"] == audit["verdict"][0]["skill"]
        own = {"own-answers", "own-answers-similar"}  # floors that are made of the answers of one system
        shared = [of for of in audit["floors"] if of["name"] not in own]
        figures = {of["name"]: [m["value"] for m in of["measures"]] for of in (*shared, *audit["ceilings"])}
        assert {of["name"]: [m["value"] for m in of["measures"]] for of in found["beside"]} == figures

    def test_pages_need_no_network_and_lead_to_each_other(self, site):
        index = (site / "index.html").read_text()
        found = json.loads((site / "leaderboard.json").read_text())
        pages = [page for system in found["systems"] for page in system["pages"]]
        assert len(set(pages)) == 4  # a page a file
        for page in pages:
            assert f'href="{page}"' in index
            text = (site / page).read_text()
            assert "truemoment browse" in text
            assert str(site.parent) not in text
        assert "truemoment browse all.jsonl --annotations mine.jsonl" in index
        assert "<script src" not in index
        assert str(site.parent) not in index

    def test_table_of_figures(self, site):
        with (site / "leaderboard.csv").open() as stream:
            rows = list(csv.DictReader(stream))
        first = {row["system"]: row for row in rows if row["measure"] == "R@1,IoU=0.5"}
        assert float(first["seeds"]["value"]) == pytest.approx(35 / 40)  # 34 and 36 of 40
        assert first["best"]["kind"] == "system"
        assert {row["kind"] for row in rows} == {"system", "floor", "ceiling"}
        # 40 against 35 and 20 hits on 40 videos: only half differs significantly from both (sign test: p < 0.001)
        assert [first["half"]["rank_first"], first["half"]["rank_last"]] == ["3", "3"]
        assert first["seeds"]["rank_last"] == "2"

    def test_the_order_of_the_file_changes_nothing(self, site, board):
        write(board, HEAD + "".join(reversed(SYSTEMS)))
        found = truemoment.leaderboard(board, gate=GATE, resamples=200, permutations=999)
        assert repr(found) == "Leaderboard Doors: 3 systems"
        assert json.loads(found.to_json()) == json.loads((site / "leaderboard.json").read_text())


def test_gate_holds_for_systems_that_see_the_video(site, board):
    found = json.loads((site / "leaderboard.json").read_text())
    gate = {of["name"]: [outcome["passed"] for outcome in of["gate"]] for of in found["systems"]}
    assert gate == {"best": [True], "seeds": [False, True], "half": []}  # 40; 34 and 36; 20 of 40, without the video
    assert truemoment.leaderboard(board, gate="R@1,IoU=0.5>=0.8", resamples=200, permutations=99).passed


def test_ranks_follow_the_verdicts():
    verdicts = {("a", "b"): (0, 0), ("a", "c"): (1, 1), ("b", "c"): (0, 1)}

    class Three:
        """a is above c at both measures; b is above c at the second."""

        measures = ("one", "two")

        def above(self, method, other):
            key = (method, other)
            return np.array(verdicts[key]) if key in verdicts else -np.array(verdicts[other, method])

    # 1 + better to 3 - worse, by hand
    expected = [[[1, 2], [1, 2]], [[1, 3], [1, 2]], [[2, 3], [3, 3]]]
    assert rank_intervals(Three(), ("a", "b", "c")).tolist() == expected


ENTRY = "{name: a, files: all.jsonl, sees_video: true}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 1\n", "is no leaderboard"),
        ("title: [", "is not YAML"),
        ("title: !!python/object/apply:os.system [ls]\nsystems: []\n", "is not YAML"),
        ("title: &a T\nannotations: *a\n", "alias"),
        ("title: T\nannotations: mine.jsonl\nsystems: []\n", "systems"),
        ("title: T\nannotations: mine.jsonl\nsystem: []\nsystems: [" + ENTRY + "]\n", "expected one of title, systems"),
        (HEAD + "  - {name: a, files: all.jsonl}\n", "sees_video"),
        (HEAD + "  - {name: a, files: all.jsonl, sees_video: true, date: soon}\n", "date"),
        (HEAD + f"  - {ENTRY}\n  - {ENTRY}\n", "twice"),
        (HEAD + "  - {name: a, files: [all.jsonl, all.jsonl], sees_video: true}\n", "file twice"),
        (HEAD + '  - {name: "a\\e[2J", files: all.jsonl, sees_video: true}\n', "printable"),
        (HEAD + "  - {name: sentence-network, files: all.jsonl, sees_video: true}\n", "blind baseline"),
        (HEAD + "  - {name: a, files: ../out.jsonl, sees_video: true}\n", "path below the folder"),
        (HEAD + "  - {name: a, files: /etc/passwd, sees_video: true}\n", "path below the folder"),
        (HEAD + "  - {name: a, files: link.jsonl, sees_video: true}\n", "path below the folder"),
        (HEAD + '  - {name: a, files: "a\\0b", sees_video: true}\n', "path below the folder"),
        (HEAD + "  - {name: a, files: none.jsonl, sees_video: true}\n", "no such file"),
        (f"title: T\nannotations: none.jsonl\nsystems: [{ENTRY}]\n", "field annotations"),
        (f"title: T\nsystems: [{ENTRY}]\n", "dataset or annotations"),
        (f"title: T\ndataset: charades-cd\nsystems: [{ENTRY}]\n", "split"),
        (f"title: T\ndataset: ..\nsplit: test\nsystems: [{ENTRY}]\n", "path below the folder"),
        (f"title: T\ndataset: charade\nsplit: test\nsystems: [{ENTRY}]\n", "expected one of"),
        (HEAD.replace("mIoU", "wIoU") + f"  - {ENTRY}\n", "measures"),
    ],
)
def test_bad_files_are_one_line(board, fails, text, words):
    (board.parent / "out.jsonl").touch()
    (board / "link.jsonl").symlink_to(board.parent / "out.jsonl")
    write(board, text)
    with pytest.raises((InputError, MissingFileError)) as raised:
        read_entries(board)
    assert words in str(raised.value)
    assert "leaderboard.yaml" in fails(2, "leaderboard", board)


def test_a_full_disk_leaves_no_half_site(tmp_path, monkeypatch):
    """The same command was refused, once there was space again: the folder "contains other files"."""

    def write(path, text):
        if path.name == "b":
            raise InputError("cannot be written (No space left on device)", path=path)
        path.path.write_text(text)

    monkeypatch.setattr("truemoment.studies.leaderboard.run.write_text", write)
    (tmp_path / "a").write_text("earlier")
    with pytest.raises(InputError, match="No space"):
        _replace_files(OwnPath(tmp_path), {"a": "new", "b": "new"})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "earlier"


def test_a_folder_of_something_else_is_left_alone(board, fails):
    assert "contains other files" in fails(2, "leaderboard", board, "-o", board)
    assert "no such file" in fails(2, "leaderboard", board.parent)
    write(board, HEAD + SYSTEMS[2])
    assert "no system sees the video" in fails(2, "leaderboard", board, "--gate", "better-than-guessing")
    assert "leaderboard.yaml: field systems: got one system, and no training split" in fails(2, "leaderboard", board)


def test_a_malformed_file_is_refused_before_the_first_audit(board, monkeypatch):
    (board / "half.jsonl").write_text('{"query_id": "v0#0", "mom')
    monkeypatch.setattr("truemoment.studies.leaderboard.running.run_audit", pytest.fail)
    with pytest.raises(InputError, match=r"half\.jsonl:1"):
        truemoment.leaderboard(board)
