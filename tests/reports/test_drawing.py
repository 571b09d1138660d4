"""Figures as they stand in a page."""

from __future__ import annotations

import re

import pytest

from truemoment.exceptions import InputError
from truemoment.reports.drawing import Drawing, inline_svg, new_figure, save_drawings


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


def test_figures_are_not_written_through_links(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "said.svg").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match=r"said\.svg: is a link, expected"):
        save_drawings([Drawing("said", "", "", lambda: new_figure(1.0))], tmp_path / "figures", ("svg",))
    assert (tmp_path / "mine").read_text() == "mine"
