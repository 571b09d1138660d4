"""Examples on the pages run in a folder of their own, in which the project's ``examples`` lie too."""

import shutil
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture(autouse=True)
def folder_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each page in an empty folder, so that what it writes goes away with it."""
    if EXAMPLES.is_dir():
        shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
