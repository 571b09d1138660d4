"""The notebooks of the docs, run anew: their outputs are those that the pages show."""

import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from run_notebooks import FOLDER, executed  # noqa: E402 - a file of tools/, which is no package

pytestmark = pytest.mark.thorough

NOTEBOOKS = {path.stem: path for path in sorted(FOLDER.glob("*.ipynb"))}


def outputs(notebook):
    """Texts of the outputs, cell by cell."""
    return [
        [output.get("text") or output["data"]["text/plain"] for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS.values(), ids=NOTEBOOKS)
def test_outputs_are_those_of_the_page(path):
    pytest.importorskip("torch", exc_type=ImportError)
    kept = nbformat.read(path, as_version=4)
    assert outputs(executed(path)) == outputs(kept)
