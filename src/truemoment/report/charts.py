"""Charts that a page draws by a template, without matplotlib: strip charts, curves, and densities of moments.

A file of a chart is drawn by :mod:`truemoment.report.chart_figures`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from truemoment.report.roles import ROLES, MarkLook, RoleName

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from truemoment.base.intervals import Floats


@dataclass(frozen=True)
class Chart(ABC):
    """A chart.

    Parameters
    ----------
    name
        Name of its file, without ending.
    title
        What it shows.
    caption
        Its main point, and the source of the figure.
    """

    name: str
    title: str
    caption: str

    numbers: ClassVar[None] = None
    """The JSON document of the report has them."""

    @abstractmethod
    def draw(self) -> Figure:
        """Draw it for a file."""


class StripMark(NamedTuple):
    """A value in a row of a strip chart.

    Parameters
    ----------
    role
        Its role.
    value, ci95
        The value, and both ends of its 95 % interval; NaN where undefined.
    own_look
        Look of one of several methods; None for that of the role.
    """

    role: RoleName
    value: float
    ci95: tuple[float, float] = (math.nan, math.nan)
    own_look: MarkLook | None = None

    @property
    def look(self) -> MarkLook:
        """How it is drawn."""
        return self.own_look or ROLES[self.role].look


def percent_mark(role: RoleName, value: float, ci95: Floats, own_look: MarkLook | None = None) -> StripMark:
    """Return the mark of a fraction and its interval, in percent."""
    return StripMark(role, 100 * float(value), (100 * float(ci95[0]), 100 * float(ci95[1])), own_look)


class StripRow(NamedTuple):
    """A row of a strip chart.

    Parameters
    ----------
    label, marks
        Its name, and a mark a role.
    note
        A short note, such as a count.
    is_main
        Whether it is the main one.
    is_cut
        Whether a line separates it and the rows below it from those above.
    """

    label: str
    marks: tuple[StripMark, ...]
    note: str = ""
    is_main: bool = False
    is_cut: bool = False


@dataclass(frozen=True)
class StripChart(Chart):
    """A strip chart: rows of values with intervals on one axis. A page shows it as a table with a mark a value.

    Parameters
    ----------
    axis
        Label of the axis, with its unit.
    groups
        Rows under a heading of their own ("" for none).
    note
        Heading of the notes; "" for no notes.
    line
        Value that a line through all rows marks.
    from_zero
        Whether the axis begins at 0.
    decimals
        Decimals of the values.
    method
        Name of the method, in place of the word of its role; "" for none.
    """

    axis: str
    groups: tuple[tuple[str, tuple[StripRow, ...]], ...]
    note: str = ""
    line: StripMark | None = None
    from_zero: bool = True
    decimals: int = 1
    method: str = ""

    @property
    def rows(self) -> list[StripRow]:
        """All rows, in order."""
        return [row for _, rows in self.groups for row in rows]

    @property
    def roles(self) -> tuple[RoleName, ...]:
        """Roles of the marks where a row has several, in order; () where each has one."""
        roles = dict.fromkeys(mark.role for row in self.rows for mark in row.marks)
        return tuple(roles) if any(len(row.marks) > 1 for row in self.rows) else ()

    def word(self, role: RoleName) -> str:
        """Return the name of a role in the legend."""
        return self.method if self.method and role == "method" else ROLES[role].word

    @property
    def has_intervals(self) -> bool:
        """Whether a mark has an interval."""
        return any(math.isfinite(mark.ci95[0]) for row in self.rows for mark in row.marks)

    def draw(self) -> Figure:
        """Draw it for a file."""
        from truemoment.report.chart_figures import strip_figure  # noqa: PLC0415 - only files need matplotlib

        return strip_figure(self)


class PlotCurve(NamedTuple):
    """A curve: its name and look, its points, and whether the legend has it.

    With one more x than y it is a histogram: x are the bounds of its classes.
    """

    name: str
    look: MarkLook
    x: tuple[float, ...]
    y: tuple[float, ...]
    in_legend: bool = True

    @property
    def is_histogram(self) -> bool:
        """Whether x are bounds of classes."""
        return len(self.x) == len(self.y) + 1


@dataclass(frozen=True)
class Plot(Chart):
    """Curves on two axes that begin at 0.

    Parameters
    ----------
    x_label, y_label
        Labels of the axes, with their units.
    x_end
        End of the x axis; None for the largest x.
    """

    x_label: str
    y_label: str
    curves: tuple[PlotCurve, ...]
    x_end: float | None = None

    def draw(self) -> Figure:
        """Draw it for a file."""
        from truemoment.report.chart_figures import plot_figure  # noqa: PLC0415 - only files need matplotlib

        return plot_figure(self)


class Cloud(NamedTuple):
    """Moments as starts and ends, shares of the video, (N, 2)."""

    title: str
    points: Floats


@dataclass(frozen=True)
class Clouds(Chart):
    """Densities of moments side by side on one scale: start to the right, end upwards."""

    clouds: tuple[Cloud, ...]

    def draw(self) -> Figure:
        """Draw it for a file."""
        from truemoment.report.chart_figures import clouds_figure  # noqa: PLC0415 - only files need matplotlib

        return clouds_figure(self)
