"""Run the notebooks of the docs anew: ``python tools/run_notebooks.py [NOTEBOOK...]`` writes their outputs into them.

Each runs in an empty folder. What differs from run to run (times, paths of this machine) does not belong in an output;
warnings on standard error are left out.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
LONGEST_S = 300


def executed(path: Path) -> Any:  # noqa: ANN401 - a notebook, which nbformat does not type
    """Return a notebook with the outputs of a new run."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # nbformat does not type it
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=LONGEST_S, record_timing=False, resources=resources).execute()
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _joined([output for output in cell.outputs if output.get("name") != "stderr"])
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """Return outputs with what was printed in one piece: where it is cut depends on the moment."""
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    others = [output for output in outputs if output.output_type != "stream"]
    if not printed:
        return others
    return [nbformat.v4.new_output("stream", name="stdout", text=printed), *others]  # type: ignore[no-untyped-call]  # as above


def main() -> None:
    """Run the named notebooks, or all."""
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(executed(path), path)  # type: ignore[no-untyped-call]  # as above
        print(path.name, flush=True)


if __name__ == "__main__":
    main()
