"""Every command behaves as recorded: exit status, JSON, files. `python tools/record_golden.py` records it anew."""

import importlib.util
import json
import shutil

import pytest
from commands import CASES

from golden import HERE, away_from_home, differences, outcome, prepare


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """What commands read, and a cache that they share."""
    folder = tmp_path_factory.mktemp("golden")
    prepare(folder / "inputs")
    with away_from_home(folder / "cache"):
        yield folder / "inputs"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
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


def test_every_record_has_a_case():
    assert {path.stem for path in HERE.glob("*.json")} == {case.name for case in CASES}
