"""Every command behaves as recorded: exit status, JSON, files. `python tools/record_golden.py` records it anew."""

import importlib.util
import json
import shutil

import pytest
from commands import CASES

from golden import HERE, away_from_home, differences, merged, outcome, prepare

from ..thorough import quick_are

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """What commands read, and a cache that they share."""
    folder = tmp_path_factory.mktemp("golden")
    prepare(folder / "inputs")
    with away_from_home(folder / "cache"):
        yield folder / "inputs"


@pytest.mark.parametrize(
    "case", quick_are([of.name for of in CASES if not of.is_thorough], {of.name: of for of in CASES})
)
def test_behaves_as_recorded(case, prepared, tmp_path):
    for package in case.needs:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")
    shutil.copytree(prepared, tmp_path / "work")
    found = outcome(case, tmp_path / "work")
    expected = json.loads((HERE / f"{case.name}.json").read_text("utf-8"))
    told = sorted(differences(expected, json.loads(json.dumps(found))))
    shown = "\n".join(told[:20])
    assert not told, f"{case.name}: {len(told)} differences (python tools/record_golden.py {case.name})\n{shown}"


DRAWN = {"~drawn": 0.5, "standard_error": 0.01, "within": 0.03}


@pytest.mark.parametrize(
    ("expected", "found", "told"),
    [
        ({"a": [{"value": 0.25}]}, {"a": [{"value": 0.26}]}, "$.a[0].value: found 0.26, expected 0.25"),
        ({"status": "good"}, {"status": "note"}, '$.status: found "note", expected "good"'),
        ({"a": 1, "b": 2}, {"a": 1}, "$.b: found nothing, expected 2"),
        ({"a": 1}, {"a": 1, "b": 2}, "$.b: found 2, expected no such key"),
        ([1, 2], [1], "$: found 1 items, expected 2: [1, 2]"),
        (True, 1, "$: found 1, expected true"),
        (DRAWN, 0.54, "$: found 0.54, expected 0.5 within 0.03 (drawn)"),
        (DRAWN, None, "$: found null, expected 0.5 within 0.03 (drawn)"),
        ({"a": {"~drawn": ["list", "nothing"]}}, {"a": 1}, "$.a: found 1, expected ['list', 'nothing'] (drawn)"),
        ({"~drawn": ["null", "string"]}, 3, "$: found 3, expected ['null', 'string'] (drawn)"),
    ],
)
def test_a_difference_is_told_with_its_place(expected, found, told):
    assert list(differences(expected, found)) == [told]


def test_only_what_a_seed_changes_is_drawn():
    """Two seeds and a repeat of the first: mean 2, standard error sqrt(2), bound 3 sqrt(2) sqrt(1 + 1/2) = 5.196..."""
    runs = [{"fixed": 7, "drawn": 1, "seed": 0, "time": 5}, {"fixed": 7, "drawn": 3, "seed": 1, "time": 5, "why": ""}]
    drawn = {"~drawn": 2.0, "standard_error": 1.41421, "within": 5.19667}  # six digits, rounded upwards
    expected = {"fixed": 7, "drawn": drawn, "seed": 0, "time": "~not held", "why": {"~drawn": ["nothing", "string"]}}
    assert merged(runs, runs[0] | {"time": 6}, [0, 1]) == expected
    assert list(differences(expected, runs[0])) == []


def test_every_record_has_a_case():
    assert {path.stem for path in HERE.glob("*.json")} == {case.name for case in CASES}
