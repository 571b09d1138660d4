"""The work is done when a file of each format is scored by one command, with no option but the data set."""

import json
from pathlib import Path

import pytest

from truemoment.cli import run
from truemoment.data.formats import read_rows, write_rows

SAMPLES = Path(__file__).parent / "samples"
UNAMBIGUOUS = sorted(
    path.name for path in SAMPLES.glob("*.*") if path.name not in ("annotations.jsonl", "fiftyone.frames.json")
)

# By hand, of the first moments: IoU 2.5/5, 2.5/3, 20/25.5, 0 and 18.5/20, and the sign is "more than".
WANTED = {
    "R@1,IoU=0.5": 3 / 5,
    "R@1,IoU=0.7": 3 / 5,
    "mIoU": (2.5 / 5 + 2.5 / 3 + 20 / 25.5 + 0 + 18.5 / 20) / 5,
}


ANNOTATIONS = str(SAMPLES / "annotations.jsonl")


@pytest.fixture
def scored(capfd):
    """Score a file by one command; return what it found."""

    def score(path):
        words = ["evaluate", str(path), "--annotations", ANNOTATIONS, "--measures", "; ".join(WANTED)]
        assert run([*words, "--json", "-", "--quiet"]) == 0
        return json.loads(capfd.readouterr().out)

    return score


@pytest.mark.parametrize("name", UNAMBIGUOUS)
def test_a_file_of_each_format_is_scored_by_one_command(scored, name):
    found = scored(SAMPLES / name)
    assert found["match"]["rows"] == 5
    assert found["match"]["missing"] == found["match"]["unmatched"] == 0
    assert {figure["measure"]: figure["value"] for figure in found["measures"]} == pytest.approx(WANTED, abs=1e-12)


def test_parquet_too(scored, tmp_path):
    write_rows(tmp_path / "p.parquet", read_rows(SAMPLES / "native.jsonl")[0], format="parquet")
    found = scored(tmp_path / "p.parquet")
    assert {figure["measure"]: figure["value"] for figure in found["measures"]} == pytest.approx(WANTED, abs=1e-12)


def test_what_is_ambiguous_is_refused_with_the_candidates_named(tmp_path, capfd):
    path = tmp_path / "p.jsonl"
    path.write_text('{"query_id": "a1_0", "moments": [[1, 2]], "answer": "1 to 2"}\n')
    words = ["evaluate", str(path), "--annotations", ANNOTATIONS]
    assert run(words) == 2
    assert capfd.readouterr().err == (
        f'truemoment: {path}: looks like native (its first line has "moments") and like answers (its first line has '
        '"answer"); name it with --format\n'
    )
    assert run([*words, "--format", "native"]) == 0
