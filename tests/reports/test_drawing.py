"""Figures as they stand in a page."""

from __future__ import annotations

import re

from truemoment.reports.drawing import Drawing, inline_svg, new_figure


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
