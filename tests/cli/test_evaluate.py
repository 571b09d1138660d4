"""truemoment evaluate: figures, JSON, tables, notes, intervals, saved scores."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from truemoment import Scores, __version__
from truemoment.cli.outputs import write_json
from truemoment.evaluation.protocols import CONVENTION_FIELDS

MEASURES = "R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7; R@2,IoU=0.7; mIoU"
# By hand from the IoUs of the answers (see conftest.py): first answers 1, 1/2, 3/4; best of two 1, 1, 3/4. A hit is
# an IoU over the threshold (protocol default): 1/2 does not exceed 0.5.
VALUES = {"R@1,IoU=0.3": 1.0, "R@1,IoU=0.5": 2 / 3, "R@1,IoU=0.7": 2 / 3, "R@2,IoU=0.7": 1.0, "mIoU": 0.75}


def figures(document):
    return {figure["measure"]: figure["value"] for figure in document["measures"]}


def test_what_people_read(evaluate, annotations, predictions):
    status, out, err = evaluate("--measures", MEASURES, "--full")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    begin = lines.index("")
    assert " ".join(" ".join(lines[:begin]).split()) == (
        f'data mine.jsonl/test: 3 queries, 2 videos predictions {predictions}: native (its first line has "moments"); '
        "3 rows, 3 matched by id"
    )
    assert [line.split() for line in lines[begin + 1 : begin + 2] + lines[begin + 3 : begin + 8]] == [
        ["measure", "%", "queries", "ties", "at", "the", "threshold"],
        ["R@1,IoU=0.3", "100.00", "3", "0"],
        ["R@1,IoU=0.5", "66.67", "3", "1"],  # the answer of IoU 1/2 stands on it
        ["R@1,IoU=0.7", "66.67", "3", "0"],
        ["R@2,IoU=0.7", "100.00", "3", "0"],
        ["mIoU", "75.00", "3"],
    ]
    assert re.fullmatch(
        r"protocol:default\|hit:IoU>m\|.*\|data:mine\.jsonl/test#[0-9a-f]{8}\|truemoment:" + re.escape(__version__),
        lines[-1],
    )
    assert annotations.name in out


def test_the_default_measures_are_the_protocol_s(evaluate):
    _, out, _ = evaluate("--json", "-", "--protocol", "vslnet")
    from truemoment import get_protocol, parse_measures

    wanted = [str(measure) for measure in parse_measures(get_protocol("vslnet").measures)]
    assert list(figures(json.loads(out))) == wanted


class TestJSON:
    def test_pure_and_complete(self, evaluate, annotations, predictions):
        status, out, err = evaluate("--measures", MEASURES, "--json", "-")
        assert status == 0
        document = json.loads(out)  # the whole of standard output
        # The keys of DESIGN.md, command line, and what docs/json.md lists beside them.
        assert list(document) == [
            "schema",
            "truemoment",
            "dataset",
            "split",
            "annotations",
            "protocol",
            "convention",
            "predictions",
            "match",
            "touched",
            "measures",
            "resamples",
            "seed",
            "notes",
        ]
        assert document["schema"] == "truemoment/evaluation/1"
        assert document["truemoment"] == __version__
        assert (document["dataset"], document["split"]) == ("mine.jsonl", "test")
        assert document["annotations"] | {"sha256": ""} == {"sha256": "", "n_queries": 3, "n_videos": 2}
        assert re.fullmatch("[0-9a-f]{64}", document["annotations"]["sha256"])
        assert document["protocol"] == "default"
        assert set(document["convention"]) == set(CONVENTION_FIELDS)
        assert document["predictions"] == {
            "path": str(predictions),
            "sha256": hashlib.sha256(predictions.read_bytes()).hexdigest(),
        }
        assert document["match"]["rows"] == document["match"]["by_id"] == 3
        assert (document["resamples"], document["seed"], document["notes"]) == (0, 0, [])
        assert figures(document) == pytest.approx(VALUES, abs=1e-15)
        for figure in document["measures"]:
            assert (figure["unit"], figure["n_queries"], figure["n_videos"]) == ("fraction", 3, 2)
            assert figure["signature"].startswith(figure["measure"] + "|protocol:default|")
            assert "why" not in figure
            assert "ci95" not in figure
        # Only the line of the convention goes to standard error.
        assert err == document["measures"][0]["signature"].partition("|")[2] + "\n"
        assert annotations.exists()

    def test_pure_also_when_there_is_much_to_say(self, call, annotations, tmp_path):
        path = tmp_path / "odd.jsonl"
        path.write_text(
            '{"query_id": "v#0", "sentence": "A DOOR opens!", "moments": [[5, 3, 0.5], [1, 1, 0.5], [30, 50, 0.9]]}\n'
            '{"query_id": "v#1", "moments": []}\n{"query_id": "nobody", "moments": [[-1, 2, 3]]}\n'
        )
        status, out, err = call(
            "evaluate", path, "--annotations", annotations, "--on-unknown", "ignore", "--on-negative", "clip",
            "--measures", "R@5,IoU=0.5; R@1,IoU=0.5,length=short", "--json", "-",
        )  # fmt: skip
        assert status == 0
        document = json.loads(out)
        assert len(document["notes"]) >= 7
        assert err.count("note: ") == len(document["notes"])
        for note in document["notes"]:
            assert f"note: {note}\n" in err

    def test_a_file_appears_complete_or_not_at_all(self, evaluate, tmp_path, monkeypatch):
        path = tmp_path / "report.json"
        path.write_text("old")
        before = sorted(file.name for file in tmp_path.iterdir())

        def interrupt(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("truemoment.base.boundary.own_path.os.replace", interrupt)
        status, _, err = evaluate("--measures", "mIoU", "--json", path)
        assert status == 130
        assert err.split("\n")[-2] == "truemoment: interrupted; nothing half-written remains"
        assert path.read_text() == "old"
        assert sorted(file.name for file in tmp_path.iterdir()) == before

    def test_undefined_is_null_with_why_and_never_nan(self, evaluate):
        # No test reference lasts at most 10 s and more than 30: "long" is over 30 s (QVHighlights).
        status, out, _ = evaluate("--measures", "R@1,IoU=0.5,length=long; mIoU", "--json", "-")
        assert status == 0
        assert "NaN" not in out
        undefined, defined = json.loads(out)["measures"]
        assert undefined["value"] is None
        assert undefined["why"] == "no query has a reference that counts"
        assert (undefined["n_queries"], undefined["n_videos"]) == (0, 0)
        assert defined["value"] == 0.75

    def test_a_value_that_is_not_finite_never_leaves(self, tmp_path, capsys):
        # JSON has neither NaN nor infinity (RFC 8259, section 6).
        for target in (tmp_path / "x.json", Path("-")):
            write_json(target, {"value": float("nan")})
        assert json.loads((tmp_path / "x.json").read_text()) == {"value": None}
        assert json.loads(capsys.readouterr().out) == {"value": None}

    def test_names_in_any_script(self, call, annotations, predictions, tmp_path):
        path = tmp_path / "модель ü 🚪.jsonl"
        path.write_bytes(predictions.read_bytes())
        status, out, _ = call("evaluate", path, "--annotations", annotations, "--split", "test", "--json", "-")
        assert status == 0
        assert json.loads(out)["predictions"]["path"] == str(path)


class TestTables:
    def test_markdown(self, evaluate):
        status, out, err = evaluate("--measures", "R@1,IoU=0.3; mIoU", "--table", "md")
        assert status == 0
        assert [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines()] == [
            ["measure", "%", "queries", "ties at the threshold"],
            [":------------", "-------:", "----------:", "------------------------:"],
            ["R@1,IoU=0.3", "100.00", "3", "0"],
            ["mIoU", "75.00", "3", ""],
        ]
        assert err.startswith("protocol:default|")  # what belongs to the figures is said beside the table

    def test_latex(self, evaluate):
        status, out, _ = evaluate("--measures", "mIoU", "--table", "latex", "--quiet")
        assert status == 0
        lines = [" ".join(line.split()) for line in out.splitlines()]
        assert lines[0] == r"\begin{tabular}{lrrr}"
        assert r"measure & \% & queries & ties at the threshold \\" in lines
        assert r"mIoU & 75.00 & 3 & \\" in lines
        assert lines[-1] == r"\end{tabular}"

    def test_percentages_as_the_protocol_prints_them(self, evaluate):
        # closer-look truncates: 2/3 is 66.66, rounded it is 66.67.
        options = ("--measures", "R@1,IoU=0.7", "--table", "md", "--quiet")
        assert "| 66.66 |" in evaluate(*options, "--protocol", "closer-look")[1]
        assert "| 66.67 |" in evaluate(*options)[1]
        assert "| 66.7 |" in evaluate(*options, "--protocol", "default,decimals=1")[1]


class TestIntervals:
    OPTIONS = ("--measures", "mIoU; R@1,IoU=0.5,length=long", "--json", "-", "--quiet")

    def test_none_unless_asked_for(self, evaluate):
        assert "ci95" not in evaluate(*self.OPTIONS)[1]

    # One of the two videos hits half of the time and the other always: few resamples make the quantiles move.
    MOVING = ("--measures", "R@1,IoU=0.5", "--json", "-", "--quiet", "--resamples", "3")

    def test_another_seed_draws_others(self, evaluate):
        drawn = [json.loads(evaluate(*self.MOVING, "--seed", seed)[1])["measures"][0]["ci95"] for seed in range(8)]
        assert len(set(map(tuple, drawn))) > 1

    def test_values(self, evaluate):
        # Two videos with mean IoU 3/4 (two queries) and 3/4 (one): every resample has the same mean.
        figure, undefined = json.loads(evaluate(*self.OPTIONS, "--resamples", "50")[1])["measures"]
        assert figure["ci95"] == [0.75, 0.75]
        assert "ci95" not in undefined

    def test_in_the_table(self, evaluate):
        _, out, _ = evaluate("--measures", "mIoU", "--resamples", "50")
        assert "95 % interval" in out
        assert "75.00 to 75.00" in out
        assert out.splitlines()[-1].endswith("|intervals:50 resamples of videos, seed 0")


class TestSavedScores:
    def test_they_load_again(self, evaluate, tmp_path):
        path = tmp_path / "scores.npz"
        status, _, err = evaluate("--measures", MEASURES, "--save-scores", path, "--quiet")
        assert (status, err) == (0, "")
        scores = Scores.load(path)
        assert {measure: scores.value(measure) for measure in VALUES} == pytest.approx(VALUES, abs=1e-15)
        assert scores.query_id.tolist() == ["v#0", "v#1", "w#0"]
        assert scores.numerator[4].tolist() == [1.0, 0.5, 0.75]

    def test_without_pickle(self, evaluate, tmp_path):
        path = tmp_path / "scores.npz"
        evaluate("--save-scores", path, "--quiet")
        with np.load(path, allow_pickle=False) as arrays:
            assert all(arrays[name].dtype != object for name in arrays.files)

    def test_under_the_name_that_was_given(self, evaluate, tmp_path):
        evaluate("--save-scores", tmp_path / "scores", "--quiet")
        assert (tmp_path / "scores").is_file()


class TestHowRowsAreRead:
    def test_a_format_by_name(self, call, annotations, tmp_path):
        path = tmp_path / "p.txt"
        path.write_text("video,query,start,end\nv,a door opens,10,20\n")
        common = ("evaluate", path, "--annotations", annotations, "--split", "test", "--measures", "mIoU")
        status, out, _ = call(*common, "--format", "csv")
        assert status == 0
        assert f"{path}: csv (as asked); 1 row, 1 matched by video and sentence" in " ".join(out.split())
        status, out, _ = call(*common)
        assert status == 0
        assert f"{path}: csv (its headings are video,query,start,end); 1 row, " in " ".join(out.split())

    def test_unknown_rows(self, call, fails, annotations, predictions):
        words = ("evaluate", predictions, "--annotations", annotations, "--split", "train")
        assert fails(2, *words) == (
            f"{predictions}:1: 3 of 3 rows belong to no query of mine.jsonl/train, the first is query 'v#0'; is it the "
            "right dataset and split? --on-unknown ignore leaves them out"
        )
        status, out, _ = call(*words, "--on-unknown", "ignore", "--measures", "mIoU")
        assert status == 0
        assert "3 rows, none matched" in out
        assert "note: 3 rows match no query and are ignored" in out

    def test_negative_times(self, call, fails, annotations, tmp_path):
        path = tmp_path / "p.jsonl"
        path.write_text('{"query_id": "v#0", "moments": [[-5, 20]]}\n')
        words = ("evaluate", path, "--annotations", annotations, "--measures", "mIoU")
        assert fails(2, *words).startswith(f"{path}:1: field moments[0].start: got -5 for query 'v#0', expected ")
        status, out, _ = call(*words, "--on-negative", "clip", "--split", "test")
        assert status == 0
        # 0-20 against 10-20: IoU 1/2; the other two queries have no row: (1/2 + 0 + 0) / 3.
        assert "16.67" in out
        assert "note: 1 of 1 predicted moments had a negative time, which was set to 0" in out

    def test_a_protocol_with_fields_changed(self, evaluate):
        # At least 0.5: the answer on the threshold hits, too.
        _, out, _ = evaluate("--measures", "R@1,IoU=0.5", "--protocol", "default,comparison=>=", "--json", "-")
        document = json.loads(out)
        assert document["protocol"] == "default,comparison=>="
        assert document["convention"]["comparison"] == ">="
        assert figures(document) == {"R@1,IoU=0.5": 1.0}

    def test_all_splits_of_own_annotations(self, call, annotations, predictions):
        _, out, _ = call("evaluate", predictions, "--annotations", annotations, "--measures", "mIoU", "--json", "-")
        document = json.loads(out)
        assert (document["split"], document["annotations"]["n_queries"]) == ("all", 4)
        assert document["match"]["missing"] == 1
        assert figures(document) == {"mIoU": 2.25 / 4}  # the query without a row scores 0


@pytest.mark.parametrize("given", ["by start", "drawn"])
def test_the_signature_names_the_order_of_sentences_where_it_predicts_the_moments(call, tmp_path, given):
    rows = [
        {"video_id": f"v{v}", "sentence": f"door {k}", "moments": [[k, k + 2]]} for v in range(40) for k in range(4)
    ]
    if given == "drawn":
        rows = [rows[at] for at in np.random.default_rng(0).permutation(len(rows))]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [{"query_id": f"v{v}#{k}", "moments": [[0, 2]]} for v in range(40) for k in range(4)]
    (tmp_path / "preds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    words = ["evaluate", tmp_path / "preds.jsonl", "--annotations", tmp_path / "mine.jsonl"]
    words += ["--measures", "R@1,IoU=0.5", "--json", tmp_path / "out.json", "--resamples", "20"]
    status, out, _ = call(*words)
    document = json.loads((tmp_path / "out.json").read_text())
    assert status == 0
    assert ("|order:by start|intervals:" in out.splitlines()[-1]) == (given == "by start")
    assert document.get("order") == {"by start": "by start", "drawn": None}[given]
    assert "order:" not in document["measures"][0]["signature"]  # the hash of the data says it already


def test_calibration_is_in_the_document_and_on_the_page(evaluate, tmp_path):
    """The document has the calibration of the library; without the option there is none."""
    page = tmp_path / "page.html"
    status, out, _ = evaluate("--measures", "mIoU", "--calibration", "--json", "-", "--html", str(page))
    found = json.loads(out)["calibration"]
    assert (status, found["n_queries"], found["resamples"]) == (0, 3, 1000)
    assert found["coverage"][-1]["iou"] == pytest.approx(0.75)  # mIoU, by hand as above
    assert "Reliability of the scores" in page.read_text(encoding="utf-8")
    assert "calibration" not in json.loads(evaluate("--measures", "mIoU", "--json", "-")[1])
