"""How figures are drawn and saved: style, size, and the parts that figures of several reports share.

Nothing is kept in matplotlib's global state, and whatever style a user has set does not reach a figure.
"""

from __future__ import annotations

import contextlib
import html
import io
import itertools
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.files import write_bytes, write_text
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.boundary.tables import csv_of
from truemoment.base.boundary.text import one_line, printable_lines
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats
from truemoment.report.charts import Chart
from truemoment.report.density_classes import CELLS, DENSITY_BOUNDS, density_on_grid, histogram
from truemoment.report.marks import marks_of, marks_svg
from truemoment.report.model import Drawing
from truemoment.report.roles import GRID, INK, PAPER, ROLES, SCALE, SOFT, variable
from truemoment.report.venues import WIDTHS, FigureWidth, Venue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN = 4.0
"""Width of a figure: at 360 px, as on a phone, its smallest text is still 9 px high."""

METHOD, FLOOR, OTHER, CEILING = (ROLES[name].look.colour for name in ("method", "floor", "other", "ceiling"))
METHOD_FAINT, FLOOR_FAINT, OTHER_FAINT = (ROLES[name].faint for name in ("method", "floor", "other"))

TEXT, SMALL = 9.0, 8.0  # points

_RC: dict[Any, Any] = {  # matplotlib has a type of its own for each key
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so that a figure is the same everywhere
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "text.color": INK,
    "text.parse_math": False,  # names of methods are not formulas
    "axes.edgecolor": SOFT,
    "axes.facecolor": PAPER,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "figure.facecolor": PAPER,
    "figure.figsize": (WIDTH_IN, 3.0),
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "lines.linewidth": 1.5,
    "lines.markersize": 5.0,
    "savefig.facecolor": PAPER,
    "savefig.dpi": 300,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "pdf.fonttype": 42,  # TrueType, which publishers ask for
    "ps.fonttype": 42,
    "svg.hashsalt": "truemoment",
}


def import_matplotlib() -> ModuleType:
    """Import matplotlib, also where the variable ``MPLBACKEND`` names a backend that is not installed.

    A notebook passes its own backend to the commands that it starts. Figures here are drawn with Agg, see
    :func:`new_figure`. A backend that is installed is selected for the user's own figures, as matplotlib does itself.
    """
    backend = None if "matplotlib" in sys.modules else os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib as mpl  # noqa: PLC0415 - importing takes time that only figures need spend
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    if backend:
        with contextlib.suppress(ValueError):  # it is not installed
            mpl.rcParams["backend"] = backend
    return mpl


@contextlib.contextmanager
def drawing_style() -> Iterator[None]:
    """Draw in our style inside this block, whatever matplotlib's settings are; they are as before afterwards."""
    mpl = import_matplotlib()
    with mpl.rc_context(), warnings.catch_warnings():
        # A name may be in a script that the font does not have: boxes in a picture; the page has the browser's fonts.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        yield


def new_figure(height_in: float) -> Figure:
    """Make an empty figure :data:`WIDTH_IN` wide; matplotlib places its parts."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - see drawing_style
    from matplotlib.figure import Figure  # noqa: PLC0415 - see drawing_style

    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_drawings(
    drawings: Iterable[Drawing | Chart],
    folder: AnyPath,
    formats: Sequence[str] = ("png", "svg", "pdf"),
    *,
    venue: Venue | None = None,
) -> list[Path]:
    """Save figures in each format, and the numbers of a figure that has them as CSV; the same figures, the same bytes.

    Parameters
    ----------
    drawings
        The figures, each under its name.
    folder
        Made if it is not there; files of the same name are replaced.
    formats
        Any of ``png`` (300 dots an inch), ``svg`` and ``pdf`` (fonts embedded).
    venue
        Venue for whose columns or page they are; None for figures :data:`WIDTH_IN` wide.

    Returns
    -------
    list of Path
        The files, complete or not at all.
    """
    for name in formats:
        if name not in _METADATA:
            raise UsageError(f"got figure format {name!r}, expected {', '.join(_METADATA)}")
    out = OwnPath.of(folder)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", path=out) from None
    paths = []
    for drawing in drawings:
        with drawing_style():
            figure = drawing.draw()
            if venue is not None:
                _fit(figure, WIDTHS[venue])
            for name in formats:
                path = out / f"{drawing.name}.{name}"
                write_bytes(path, _saved(figure, name, dict(_METADATA[name])))
                paths.append(path.path)
        if drawing.numbers is not None:
            path = out / f"{drawing.name}.csv"
            write_text(path, csv_of(drawing.numbers()))
            paths.append(path.path)
    return paths


def _fit(figure: Figure, width: FigureWidth) -> None:
    """Give a figure the width of a column or page, and its text the size of small text there; its height stays."""
    from matplotlib.text import Text  # noqa: PLC0415 - see drawing_style

    figure.set_figwidth(width.width_in)
    for text in figure.findobj(Text):
        text.set_fontsize(float(text.get_fontsize()) * width.text_pt / TEXT)  # a number of points, once it is set


def _saved(figure: Figure, form: str, metadata: dict[str, str | None]) -> bytes:
    """Return a figure as a file; hidden characters in the text of an SVG are written as escapes."""
    stream = io.BytesIO()
    figure.savefig(stream, format=form, metadata=metadata)
    return printable_lines(stream.getvalue().decode()).encode() if form == "svg" else stream.getvalue()


_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""No dates and no versions, so that the same figure is the same bytes."""


def inline_svg(drawing: Drawing) -> str:
    """Draw a figure as SVG for a page.

    Text is text, colours are variables of the page's style sheet (:mod:`truemoment.report.roles`), and the names of
    its parts begin with the figure's, so that no two figures of a page share one. The page gives it a size. Boxes
    without colour lie over what it shows, with its values in words (:mod:`truemoment.report.marks`).
    """
    with drawing_style():
        import_matplotlib().rcParams.update({"svg.fonttype": "none", "svg.hashsalt": drawing.name})
        figure = drawing.draw()
        svg = _saved(figure, "svg", {"Date": None, "Creator": None, "Format": None, "Type": None}).decode()
        values = marks_svg(marks_of(figure))
    title = html.escape(one_line(drawing.title))
    box, body = _for_page(svg, drawing.name)
    return f'<svg viewBox="{box}" role="img" aria-label="{title}"><title>{title}</title>{body}{values}</svg>'


def _for_page(svg: str, name: str) -> tuple[str, str]:
    """The box and the content of an SVG without what matplotlib writes for a file of its own.

    Its text is escaped, so that every ``<`` begins a tag.
    """
    box = re.search(r'viewBox="([\d. ]+)"', svg)
    body = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(#|xlink:href="#)([^)"]+)', body))
    body = re.sub(r' id="([^"]+)"', lambda match: f' id="{name}-{match[1]}"' if match[1] in used else "", body)
    body = body.replace("url(#", f"url(#{name}-").replace('xlink:href="#', f'href="#{name}-')
    body = re.sub(r" font-family: [^;\"]+;| font-family: [^;\"]+(?=\")", "", body)
    body = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", body)
    body = re.sub(r' fill="(#[0-9a-f]{6})"', r' style="fill: \1"', body)
    body = re.sub(r"(?<=[: ])#[0-9a-f]{6}(?=[;\"])", lambda match: variable(match[0]), body)
    body = re.sub(r'(?<= d=")[^"]+', lambda match: _shorter(match[0]), body)
    body = re.sub(r"<[^>]+>", lambda tag: _rounded(tag[0]), body)
    body = re.sub(r"<defs>\s*</defs>", "", body)
    body = re.sub(r">\s*\n\s*<", "><", body).strip()
    return box[1] if box else "", body


def _rounded(tag: str) -> str:
    """Write the numbers of a tag in hundredths; numbers in the text of the figure do not change."""
    return re.sub(r"(?<=[ (\"])-?\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}", tag)


def _shorter(path: str) -> str:
    """Write a path in hundredths of a point, without line ends."""
    short = re.sub(r"-?\d+\.\d+", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), path)
    return re.sub(r"\s*\n\s*", "", re.sub(r" ?([MLCQz]) ?", r"\1", short)).strip()


# ----------------------------------------------------------------------------------- parts of figures


def unit_square(axes: Axes) -> None:
    """Make axes a square of shares, from 0 to 1."""
    axes.set_aspect("equal")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])


def draw_density(axes: Axes, points: Floats, *, of_duration: bool = False) -> None:
    """Draw the density of moments in the classes of :data:`DENSITY_BOUNDS`.

    Parameters
    ----------
    axes
        Where to; its limits are the caller's.
    points : (N, 2)
        Start and end of each as shares of the video.
    of_duration
        Lay them out by start and duration rather than by start and end.
    """
    density = density_on_grid(points, of_duration=of_duration)
    if density is None:  # all on one line: a constant share of the video, or one that always begins at 0
        laid_out = np.stack([points[:, 0], points[:, 1] - points[:, 0] * of_duration], axis=1)
        draw_cells(axes, histogram(laid_out), np.linspace(0, 1, CELLS + 1), DENSITY_BOUNDS)
    else:
        draw_contours(axes, density, of_duration=of_duration)


def draw_contours(
    axes: Axes, density: Floats, *, of_duration: bool = False, corner: tuple[float, float] = (0.0, 0.0)
) -> None:
    """Draw a density on a grid as filled contours, the lower left corner of its unit square at `corner`."""
    from matplotlib.patches import Polygon  # noqa: PLC0415 - see drawing_style

    middles = (np.arange(len(density)) + 0.5) / len(density)
    x, y = corner
    drawn = axes.contourf(middles + x, middles + y, density, levels=DENSITY_BOUNDS, colors=SCALE, extend="max")
    triangle = [(x, y), (x, y + 1), (x + 1, y) if of_duration else (x + 1, y + 1)]
    drawn.set_clip_path(Polygon(triangle, transform=axes.transData))


def draw_cells(axes: Axes, table: Floats, bounds: Floats, classes: Sequence[float]) -> None:
    """Draw the cells of a table, one path a class; neighbours along x join."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - see drawing_style
    from matplotlib.path import Path as Outline  # noqa: PLC0415 - see drawing_style

    of_cell = np.searchsorted(classes, table, side="right") - 1
    for number, colour in enumerate(SCALE):
        corners: list[tuple[float, float]] = []
        for column, marked in enumerate((of_cell == number).T):  # the second axis of the table goes up
            steps = np.diff(np.concatenate([[0], marked.astype(np.int8), [0]]))
            low, high = bounds[column], bounds[column + 1]
            for first, last in zip(np.flatnonzero(steps > 0), np.flatnonzero(steps < 0), strict=True):
                left, right = bounds[first], bounds[last]
                corners += [(left, low), (right, low), (right, high), (left, high), (left, low)]
        if corners:
            codes = [Outline.MOVETO, Outline.LINETO, Outline.LINETO, Outline.LINETO, Outline.CLOSEPOLY]
            outline = Outline(corners, codes * (len(corners) // 5))
            axes.add_patch(PathPatch(outline, facecolor=colour, edgecolor="none", antialiased=False))


def scale_legend(figure: Figure, classes: Sequence[float], title: str) -> None:
    """Draw the legend of the colours of densities below a figure."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - see drawing_style

    labels = [f"{low:g}-{high:g}" for low, high in pairwise(classes)] + [f"over {classes[-1]:g}"]
    handles = [
        Patch(facecolor=colour, edgecolor=SOFT, linewidth=0.4, label=label)
        for colour, label in zip(SCALE, labels, strict=True)
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=6,
        title=title,
        title_fontsize=SMALL,
        columnspacing=0.8,
        handlelength=1.0,
        handletextpad=0.3,
    )


def wrapped(text: str, width: int = 21, measure: Callable[[str], float] = len, *, most: int = 3) -> str:
    """Break a name over at most three lines: at blanks, behind signs that join words, else anywhere."""
    pieces = re.findall(rf"[^\s_/.-]{{1,{min(width, 21) - 1}}}[_/.-]*\s*|[_/.-]+\s*", one_line(text))
    lines = [""]
    for piece in pieces:
        if lines[-1] and measure((lines[-1] + piece).rstrip()) > width:
            if len(lines) > most:  # only these are looked at
                break
            lines.append("")
        lines[-1] += piece
    if len(lines) > most:
        lines = [*lines[: most - 1], shortened("".join(lines[most - 1 :]), width, measure)]
    return "\n".join(line.rstrip() for line in lines)


def shortened(text: str, width: int, measure: Callable[[str], float] = len) -> str:
    """Write a text on one line; cut one that is too long, with an ellipsis."""
    text = one_line(text)
    if measure(text) <= width:
        return text
    fits = itertools.takewhile(lambda end: measure(f"{text[:end]}…") <= width, range(1, len(text)))
    return f"{text[: max(fits, default=0)].rstrip()}…"


def width_of(text: str) -> float:
    """Return the width of a text of a figure, points."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - see drawing_style
    from matplotlib.textpath import text_to_path  # noqa: PLC0415 - as above

    return float(text_to_path.get_text_width_height_descent(text, FontProperties(), ismath=False)[0])


def write_beside(
    axes: Axes,
    text: str,
    x: float,
    y: float,
    *,
    share_of_width: bool = False,
    color: str = INK,
    fontweight: str = "normal",
) -> None:
    """Write a word to the right of a place; x is in the axes' unit, or a share of their width."""
    axes.annotate(
        text,
        (x, y),
        (3.5, 0),
        xycoords=axes.get_yaxis_transform() if share_of_width else axes.transData,
        textcoords="offset points",
        va="center",
        fontsize=SMALL,
        color=color,
        fontweight=fontweight,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.6},
    )
