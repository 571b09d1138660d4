"""Published figures through the command line, on the real files."""

import csv
import json
import re
from pathlib import Path

import pytest

from truemoment import Predictions
from truemoment.data.datasets import load_annotations
from truemoment.data.formats import read_predictions, write_predictions
from truemoment.evaluation.evaluate import evaluate

pytestmark = pytest.mark.data


@pytest.fixture
def evaluate_real(call, data_dir):
    """Evaluate a file on a split of the real data."""

    def run(path, dataset, split, *options):
        if not (data_dir / dataset).is_dir() or not path.is_file():
            pytest.skip(f"no real files: {data_dir / dataset}, {path}")
        return call("evaluate", path, "--dataset", dataset, "--split", split, "--data-dir", data_dir, *options)

    return run


def cells(table):
    """Rows of a Markdown table by their first cell."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: row[1:] for row in rows[2:]}


# Hao et al., ECCV 2022, their run on Charades-CD test-ood: recall, discounted recall and mean IoU in percent, as
# published by its authors.
HAO_2022 = {
    "R@1,IoU=0.3": "63.85",
    "R@1,IoU=0.5": "46.84",
    "R@1,IoU=0.7": "27.47",
    "dR@1,IoU=0.3": "54.36",
    "dR@1,IoU=0.5": "42.36",
    "dR@1,IoU=0.7": "25.95",
    "mIoU": "44.28",
}


class TestHao2022:
    """Their prediction file, measured by the protocol `default`."""

    @pytest.fixture
    def outcome(self, evaluate_real, data_dir):
        path = data_dir / "predictions" / "hao2022_charades_cd_test_ood.json"
        return lambda *options: evaluate_real(path, "charades-cd", "test-ood", *options)

    def test_figures(self, outcome):
        status, out, _ = outcome("--measures", "; ".join(HAO_2022), "--table", "md")
        assert status == 0
        assert {measure: row[0] for measure, row in cells(out).items()} == HAO_2022

    def test_how_the_rows_found_their_queries(self, outcome):
        status, out, err = outcome("--json", "-")
        assert status == 0
        match = json.loads(out)["match"]
        assert match["format"] == "results-by-video"
        # Counted independently from the two files: all 3,375 rows by text, 17 of them spelt otherwise; 5 answers of
        # zero length, 598 past the end of the video.
        expected = {
            "rows": 3375,
            "by_text": 3375,
            "text_differs": 17,
            "moments": 3375,
            "zero_length": 5,
            "past_end": 598,
            "coarse": 261,  # both times divisible by 5, counted in the file
        }
        counts = {name: count for name, count in match.items() if isinstance(count, int) and count}
        assert counts == expected
        assert "note: 5 of 3,375 predicted moments have zero length\n" in err
        assert "note: 598 of 3,375 predicted moments end after the end of the video\n" in err

    def test_what_people_read(self, outcome, data_dir):
        status, out, err = outcome("--full")
        assert (status, err) == (0, "")
        assert " ".join(out.split()).startswith(
            "data charades-cd/test-ood: 3,375 queries, 1,442 videos "
            f'predictions {data_dir}/predictions/hao2022_charades_cd_test_ood.json: results-by-video (it has "results" '
            'with "timestamp"); 3,375 rows, 3,375 matched by video and sentence (17 sentences differ in punctuation or '
            "case)"
        )


class TestQVHighlights:
    """moment_detr's sample predictions: every figure of the common evaluator, to the printed digit."""

    def test_all_figures(self, evaluate_real, data_dir):
        folder = data_dir / "qvhighlights"
        published = json.loads((folder / "sample_val_preds_metrics_raw.json").read_text())
        wanted = {}
        for length in ("full", "long", "middle", "short"):
            suffix = "" if length == "full" else f",length={length}"
            for threshold, value in published[length]["MR-mAP"].items():
                wanted["mAP" + ("" if threshold == "average" else f",IoU={threshold}") + suffix] = value
            for threshold, value in published[length]["MR-R1"].items():
                wanted[f"R@1,IoU={threshold}{suffix}"] = value
        for level in ("Fair", "Good", "VeryGood"):
            wanted[f"HL-mAP,min={level}"] = published[f"HL-min-{level}"]["HL-mAP"]
            wanted[f"HIT@1,min={level}"] = published[f"HL-min-{level}"]["HL-Hit1"]
        assert len(wanted) == 4 * (11 + 10) + 6
        status, out, err = evaluate_real(
            folder / "sample_val_preds.jsonl", "qvhighlights", "val",
            "--protocol", "moment-detr", "--measures", "; ".join(wanted), "--table", "md",
        )  # fmt: skip
        assert status == 0, err
        printed = {measure: row[0] for measure, row in cells(out).items()}
        assert printed == {measure: f"{value:.2f}" for measure, value in wanted.items()}

    def test_its_protocol_is_the_default_there(self, evaluate_real, data_dir):
        folder = data_dir / "qvhighlights"
        brief = json.loads((folder / "sample_val_preds_metrics_raw.json").read_text())["brief"]
        status, out, _ = evaluate_real(folder / "sample_val_preds.jsonl", "qvhighlights", "val", "--table", "md")
        assert status == 0
        assert sorted(row[0] for row in cells(out).values()) == sorted(f"{value:.2f}" for value in brief.values())


class TestPredictAll:
    """Closer Look (2021), Table 2: the whole video as the only answer."""

    @pytest.fixture
    def predict_all(self, evaluate_real, data_dir, tmp_path):
        def run(dataset, split, measures, *options):
            if not (data_dir / dataset).is_dir():
                pytest.skip(f"no real files in {data_dir / dataset}")
            annotations = load_annotations(dataset, split, data_dir=data_dir)
            queries = annotations.queries
            answers = {q: [(0.0, d)] for q, d in zip(queries.query_id, queries.duration_s.tolist(), strict=True)}
            path = tmp_path / "predict_all.jsonl"
            write_predictions(path, Predictions.from_lists(answers), annotations)
            status, out, err = evaluate_real(
                path, dataset, split, "--protocol", "closer-look", "--measures", measures, *options
            )
            assert status == 0, err
            return out

        return run

    def test_table_2(self, predict_all, data_dir):
        path = data_dir.parent / "published" / "closer_look_table2.csv"
        if not path.is_file():
            pytest.skip(f"no published figures at {path}")
        with path.open(newline="", encoding="utf-8") as stream:
            published = [row for row in csv.DictReader(stream) if row["method"] == "PredictAll"]
        assert len(published) == 20  # 2 datasets, 2 splits, 5 thresholds
        wanted, found = {}, {}
        for row in published:
            key = (row["dataset"].lower(), row["split"])
            wanted.setdefault(key, {})[row["measure"]] = row["value"]
        for (dataset, split), values in wanted.items():
            printed = cells(predict_all(dataset, split, "; ".join(values), "--table", "md"))
            found[dataset, split] = {measure: row[0] for measure, row in printed.items()}
        assert found == wanted


def test_the_readings_in_the_page_of_protocols(data_dir):
    # The table of docs/protocols.md: each protocol it names gives the figure that stands in its row.
    page = (Path(__file__).parents[2] / "docs" / "protocols.md").read_text(encoding="utf-8")
    text = page.partition("## One file, many figures\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in text.splitlines() if re.match(r"\| `[a-z0-9]", line)]
    annotations = load_annotations("charades-cd", "test-ood", data_dir=data_dir)
    path = data_dir / "predictions" / "hao2022_charades_cd_test_ood.json"
    predictions, _ = read_predictions(path, annotations)
    said = {name: float(row[-1]) for row in rows for name in re.findall(r"`([^`]+)`", row[0])}
    assert len(said) == 8
    for name, figure in said.items():
        scores = evaluate(annotations, predictions, "R@1,IoU=0.5", name)
        assert round(100 * scores.value("R@1,IoU=0.5"), 2) == figure, name
