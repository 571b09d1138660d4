"""Figures as they stand in a page."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from truemoment.base.errors import InputError
from truemoment.report.drawing import inline_svg, new_figure, save_drawings
from truemoment.report.model import Drawing

pytestmark = pytest.mark.slow


def test_numbers_that_a_figure_says_are_not_rounded():
    """Coordinates are written in hundredths to save room; what stands in the text is what was found."""

    def draw():
        figure = new_figure(1.0)
        figure.subplots().set_title("goes from 0.7163 to 0.6999")
        return figure

    svg = inline_svg(Drawing("said", "What is said", "", draw))
    assert "goes from 0.7163 to 0.6999" in svg
    tags = re.sub(r">[^<]*<", "><", svg)
    assert not re.search(r'[ ("]-?\d+\.\d{3,}', tags)


DRAW = """
import sys
from pathlib import Path
from truemoment.report.drawing import (inline_svg, new_figure, save_drawings)
from truemoment.report.model import Drawing

drawing = Drawing("line", "A line", "", lambda: new_figure(1.0))
assert inline_svg(drawing).startswith("<svg ")
assert [path.name for path in save_drawings([drawing], Path(sys.argv[1]))] == ["line.png", "line.svg", "line.pdf"]
import matplotlib, os
print(os.environ["MPLBACKEND"], matplotlib.get_backend(auto_select=False))
"""


@pytest.mark.parametrize(
    ("asked", "selected"),
    [
        ("no-such-backend", "None"),  # as a notebook's, module://matplotlib_inline.backend_inline
        ("svg", "svg"),  # one that is installed stays the user's, as matplotlib.get_backend() says
    ],
)
def test_a_figure_needs_no_backend_of_the_environment(tmp_path, asked, selected):
    words = [sys.executable, "-c", DRAW, str(tmp_path)]
    environment = {**os.environ, "MPLBACKEND": asked}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == asked
    assert done.stdout.split()[1] == selected


def test_figures_are_not_written_through_links(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "said.svg").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match=r"said\.svg: is a link, expected"):
        save_drawings([Drawing("said", "", "", lambda: new_figure(1.0))], tmp_path / "figures", ("svg",))
    assert (tmp_path / "mine").read_text() == "mine"
