"""Widths of figures in the columns and pages of venues.

cvpr.sty was read for this table; compare the other widths with the style file of your venue. Sources: cvpr.sty
(github.com/cvpr-org/author-kit; also for ICCV), llncs.cls (ECCV, 122 mm), the styles of NeurIPS and ICLR (5.5 in),
icml2024.sty, acl.sty (A4 with margins of 2.5 cm, and 0.6 cm between columns), aaai24.sty, acmart.cls as
sigconf (506.295 and 241.147 pt), and IEEE's instructions for figures (3.5 and 7.16 in). Text is a point or two smaller
than that of the paper.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal, NamedTuple

Venue = Literal[
    "cvpr-column",
    "cvpr-page",
    "eccv-page",
    "neurips-page",
    "iclr-page",
    "icml-column",
    "icml-page",
    "acl-column",
    "acl-page",
    "aaai-column",
    "aaai-page",
    "acm-column",
    "acm-page",
    "ieee-column",
    "ieee-page",
]


class FigureWidth(NamedTuple):
    """Width of a figure, inches, and size of its text, points."""

    width_in: float
    text_pt: float


_CM, _PT = 1 / 2.54, 1 / 72.27

WIDTHS: MappingProxyType[Venue, FigureWidth] = MappingProxyType(
    {
        "cvpr-column": FigureWidth((6.875 - 0.3125) / 2, 8),
        "cvpr-page": FigureWidth(6.875, 9),
        "eccv-page": FigureWidth(12.2 * _CM, 9),
        "neurips-page": FigureWidth(5.5, 9),
        "iclr-page": FigureWidth(5.5, 9),
        "icml-column": FigureWidth(3.25, 8),
        "icml-page": FigureWidth(6.75, 9),
        "acl-column": FigureWidth((16.0 - 0.6) / 2 * _CM, 8),
        "acl-page": FigureWidth(16.0 * _CM, 9),
        "aaai-column": FigureWidth((7.0 - 0.375) / 2, 8),
        "aaai-page": FigureWidth(7.0, 9),
        "acm-column": FigureWidth(241.147 * _PT, 8),
        "acm-page": FigureWidth(506.295 * _PT, 9),
        "ieee-column": FigureWidth(3.5, 8),
        "ieee-page": FigureWidth(7.16, 9),
    }
)
