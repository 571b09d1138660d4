"""Figures of an audit, for papers and for the page.

==================  ==================================================================================
``floors``          the headline measure of the method, the floors and the ceilings, as bars
``measures``        every measure: the method beside the floor to beat
``curves``          R@1 and dR@1 against the threshold (Closer Look, Fig. 8)
``by-length``       hits and misses by length of the reference (Hidden Challenges, Fig. 6)
``slices-...``      the headline measure by class of query, a figure a family
``densities``       where moments lie: train, references, answers (Closer Look, Fig. 2 and 4)
``displacement``    how answers move when the video is shuffled (Hidden Challenges, Fig. F)
``errors``          in which way first answers are wrong, and what mending adds
``conventions``     the same answers under each named protocol
==================  ==================================================================================

Each is a function of the audit's material that returns a :class:`matplotlib.figure.Figure`; nothing is kept in
matplotlib's global state, and whatever style a user has set does not reach them. Colours can be told apart by
colour-blind readers, and nothing is told by colour alone.
"""

from __future__ import annotations

import contextlib
import html
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.audit import Audit, Material
from truemoment.audit.floors import Rival
from truemoment.density import Density
from truemoment.diagnosis.answers import first_answers
from truemoment.diagnosis.curves import LengthCounts
from truemoment.exceptions import InputError, UsageError
from truemoment.files import atomic_write
from truemoment.intervals import Floats
from truemoment.records import Annotations
from truemoment.reports.audit import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN = 4.0
"""Width of a figure: at 360 px, as on a phone, its smallest text is still 9 px high."""

# On the page each colour stands for a variable of the style sheet, so that light and dark both look right.
PAPER, INK, SOFT, GRID = "#fffffe", "#26262a", "#5f6068", "#e4e1db"
METHOD, FLOOR, OTHER, CEILING = "#1f5a8e", "#b8560f", "#8b8c94", "#6f8f7a"
METHOD_FAINT, FLOOR_FAINT, OTHER_FAINT, CEILING_FAINT = "#c5d6e6", "#f1d5bd", "#d6d6da", "#dbe6de"
SCALE = ("#dce8f3", "#b3cde4", "#7fabd1", "#4a83b8", "#1f5a8f", "#0d3156")
"""Classes of density, thin to dense."""

COLOURS: MappingProxyType[str, str] = MappingProxyType(
    {
        "paper": PAPER,
        "ink": INK,
        "soft": SOFT,
        "grid": GRID,
        "method": METHOD,
        "floor": FLOOR,
        "other": OTHER,
        "ceiling": CEILING,
        "method-faint": METHOD_FAINT,
        "floor-faint": FLOOR_FAINT,
        "other-faint": OTHER_FAINT,
        "ceiling-faint": CEILING_FAINT,
        **{f"scale-{number}": colour for number, colour in enumerate(SCALE)},
    }
)
"""Name of each colour, as the page's style sheet calls it."""

FAMILIES: MappingProxyType[str, str] = MappingProxyType(
    {
        "reference length": "By length of the reference, share of the video",
        "reference length (s)": "By length of the reference, seconds",
        "position": "By place of the reference's middle in the video",
        "video length": "By length of the video",
        "sentence length": "By length of the sentence",
        "references": "By number of references",
        "shared moment": "By whether the very moment is asked for by other sentences",
        "first verb": "By first verb",
        "in train": "By whether the sentence stands in the training set",
    }
)
"""Titles of the figures of slices."""

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


class Drawing(NamedTuple):
    """A figure to be drawn.

    Parameters
    ----------
    name
        Of its file, without ending.
    title
        What it shows.
    caption
        What to see in it, and whose figure it is.
    draw
        Draws it.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure]


def drawings(audit: Audit) -> list[Drawing]:
    """List the figures of an audit, in the order of a report; those that do not apply are not there."""
    material = audit.material
    measure = material.case.measures[material.case.headline]
    listed = [
        Drawing(
            "floors",
            f"{measure}: method, floors, ceilings",
            "Floors never see the video, and what they reach is no merit of a method. Lines are 95 % intervals by "
            "resampling videos; the dashed line is the floor to beat.",
            partial(floors_figure, material),
        ),
        Drawing(
            "measures",
            "Every measure, beside the floor to beat",
            "Where a hollow diamond reaches its dot, the measure does not tell the method from a method without the "
            "video. The short stroke is the best of the ceilings.",
            partial(measures_figure, material),
        ),
        Drawing(
            "curves",
            "R@1 and dR@1 against the threshold",
            "Where a solid line (R@1) and its dashed one (dR@1) part, hits have ends far off. After Closer Look, "
            "Fig. 8.",
            partial(curves_figure, material),
        ),
    ]
    if material.by_length is not None and material.floor_by_length is not None:
        listed.append(
            Drawing(
                "by-length",
                f"{measure}: hits and misses by length of the reference",
                "A method that hits where its floor hits, and nowhere else, has learnt lengths. After Hidden "
                "Challenges, Fig. 6.",
                partial(by_length_figure, material),
            )
        )
    listed.append(
        Drawing(
            "densities",
            "Where moments lie",
            "Each place is a start and an end as shares of the video. A method that finds moments "
            "spreads its first answers as the references are spread; one that guesses, as the training moments. "
            "After Closer Look, Fig. 2 and 4.",
            partial(densities_figure, material),
        )
    )
    if material.shuffled is not None and material.shuffled.displacement.compared.any():
        listed.append(
            Drawing(
                "displacement",
                "How answers move when the video is shuffled",
                "Answers in the corner at 0 stay where they are though the video is another one. After Hidden "
                "Challenges, Fig. F.",
                partial(displacement_figure, material),
            )
        )
    listed += [
        Drawing(
            "errors",
            "In which way first answers are wrong",
            "What each measure would gain if one kind of error were mended and all else stayed; queries in brackets. "
            "'Hidden' are hits at a lower rank, brought to rank 1; they are counted among the other kinds too.",
            partial(errors_figure, material),
        ),
        Drawing(
            "conventions",
            f"{measure} under each named convention",
            "The same answers, measured as published evaluators do. Figures of different evaluators cannot be "
            "compared more finely than this.",
            partial(conventions_figure, material),
        ),
    ]
    families = Counter(one.family for one in material.slices)
    for family in (family for family, n_classes in families.items() if n_classes > 1):
        listed.append(
            Drawing(
                f"slices-{re.sub(r'[^a-z]+', '-', family).strip('-')}",
                FAMILIES.get(family, f"By {family}"),
                f"{measure} of the method (dot) and of the floor to beat (hollow diamond) with 95 % intervals, and "
                "how many queries there are.",
                partial(slices_figure, material, family),
            )
        )
    return listed


# --------------------------------------------------------------------------------------- drawing them


@contextlib.contextmanager
def drawing_style() -> Iterator[None]:
    """Draw in our style inside this block, whatever matplotlib's settings are; they are as before afterwards."""
    import matplotlib as mpl  # noqa: PLC0415 - importing takes time that only figures need spend

    with mpl.rc_context(), warnings.catch_warnings():
        # A name may be in a script that the font lacks: boxes in a picture; the page has the browser's fonts.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        yield


def _figure(height_in: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - see drawing_style
    from matplotlib.figure import Figure  # noqa: PLC0415 - see drawing_style

    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figures(audit: Audit, folder: Path, formats: Sequence[str] = ("png", "svg", "pdf")) -> list[Path]:
    """Save every figure in each format; the same audit gives the same bytes.

    Parameters
    ----------
    audit
        What was found.
    folder
        Made if it is not there; files of the same name are replaced.
    formats
        Any of ``png`` (300 dots an inch), ``svg`` and ``pdf`` (fonts embedded).

    Returns
    -------
    list of Path
        The files, complete or not at all.

    Raises
    ------
    UsageError
        If there is no such format.
    InputError
        If a file cannot be made.
    """
    for name in formats:
        if name not in _METADATA:
            raise UsageError(f"got figure format {name!r}, expected {', '.join(_METADATA)}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", path=folder) from None
    paths = []
    for drawing in drawings(audit):
        with drawing_style():
            figure = drawing.draw()
            for name in formats:
                path = folder / f"{drawing.name}.{name}"
                with atomic_write(path) as stream:
                    figure.savefig(stream, format=name, metadata=dict(_METADATA[name]))
                paths.append(path)
    return paths


_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""No dates and no versions, so that the same figure is the same bytes."""


def inline_svg(drawing: Drawing) -> str:
    """Draw a figure as SVG to stand in a page.

    Text is text, colours are variables of the page's style sheet (:data:`COLOURS`), and the names of its parts begin
    with the figure's, so that no two figures of a page share one. The page gives it a size.
    """
    import matplotlib as mpl  # noqa: PLC0415 - see drawing_style

    stream = io.BytesIO()
    with drawing_style():
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": drawing.name})
        drawing.draw().savefig(
            stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    title = html.escape(drawing.title)
    box, body = _for_page(stream.getvalue().decode("utf-8"), drawing.name)
    return f'<svg viewBox="{box}" role="img" aria-label="{title}"><title>{title}</title>{body}</svg>'


_NAMES = {colour: name for name, colour in COLOURS.items()}


def _for_page(svg: str, name: str) -> tuple[str, str]:
    """The box and the content of an SVG without what matplotlib writes for a file of its own.

    Its text is escaped, so that every ``<`` begins a tag.
    """
    box = re.search(r'viewBox="([\d. ]+)"', svg)
    body = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(#|xlink:href="#)([^)"]+)', body))
    body = re.sub(r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", body)
    body = body.replace("url(#", f"url(#{name}-").replace('xlink:href="#', f'href="#{name}-')
    body = re.sub(r" font-family: [^;\"]+;| font-family: [^;\"]+(?=\")", "", body)
    body = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", body)
    body = re.sub(r' fill="(#[0-9a-f]{6})"', r' style="fill: \1"', body)
    body = re.sub(r"(?<=[: ])#[0-9a-f]{6}(?=[;\"])", lambda found: _variable(found[0]), body)
    body = re.sub(r'(?<= d=")[^"]+', lambda found: _shorter(found[0]), body)
    body = re.sub(r"(?<=[ (\"])-?\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", body)
    body = re.sub(r"<defs>\s*</defs>", "", body)
    body = re.sub(r">\s*\n\s*<", "><", body).strip()
    return box[1] if box else "", body


def _variable(colour: str) -> str:
    return f"var(--{_NAMES[colour]})" if colour in _NAMES else colour


def _shorter(path: str) -> str:
    """Write a path in hundredths of a point, without line ends."""
    short = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), path)
    return re.sub(r"\s*\n\s*", "", re.sub(r" ?([MLCQz]) ?", r"\1", short)).strip()


# ------------------------------------------------------------------------------------------ the figures


def floors_figure(material: Material) -> Figure:
    """Draw the headline measure of the method, the floors and the ceilings as bars with 95 % intervals."""
    case, m = material.case, material.case.headline
    rivals = [*material.floors, *material.ceilings]
    floor = material.floor
    names = [_wrapped(case.predictions.name), *(_wrapped(rival.called(m)) for rival in rivals)]
    names[1 + rivals.index(floor)] += "\n(floor to beat)"
    values = 100 * np.array(
        [material.scores.value(case.measures[m]), *(r.scores.value(case.measures[m]) for r in rivals)]
    )
    with drawing_style():
        lines = np.array([name.count("\n") + 1 for name in names])
        heights = np.maximum(0.62 + 0.38 * lines, 1)
        at = np.cumsum(heights) - heights / 2
        figure = _figure(0.62 + 0.26 * float(heights.sum()))
        axes = figure.add_subplot()
        for row, value in enumerate(values):
            face, edge, hatch = _bar_look(None if row == 0 else rivals[row - 1], floor)
            end = 0.0
            if np.isfinite(value):
                axes.barh(at[row], value, height=0.62, color=face, edgecolor=edge, hatch=hatch, linewidth=0.8)
                end = max(value, _strokes(axes, at[row], 100 * material.ci95[row, m]))
            text = f"{value:.1f}" if np.isfinite(value) else "undefined"
            _beside(axes, text, end, at[row])
        to_beat = values[1 + rivals.index(floor)]
        if np.isfinite(to_beat):
            axes.axvline(to_beat, color=FLOOR, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0.5)
        axes.set_yticks(at, names)
        axes.get_yticklabels()[0].set_fontweight("bold")
        axes.set_ylim(float(heights.sum()), 0)
        axes.tick_params(axis="y", length=0, pad=7)
        _percent_axis(axes, values, material.ci95[:, m], f"{case.measures[m]}, %")
    return figure


def _bar_look(rival: Rival | None, to_beat: Rival) -> tuple[str, str, str | None]:
    """Face, edge and hatch of a bar; None is the method."""
    if rival is None:
        return METHOD, METHOD, None
    if rival is to_beat:
        return FLOOR_FAINT, FLOOR, "////"
    return (CEILING_FAINT, CEILING, "\\\\\\\\") if rival.kind == "ceiling" else (OTHER_FAINT, OTHER, None)


def measures_figure(material: Material) -> Figure:
    """Draw every measure: the method (dot), the floor to beat (hollow diamond), the best ceiling (stroke)."""
    case = material.case
    rows = range(len(case.measures))
    own = 100 * np.array([material.scores.value(measure) for measure in case.measures])
    floor = 100 * np.array([material.floor_scores.value(measure) for measure in case.measures])
    ceilings = 100 * np.array(
        [[rival.scores.value(measure) for measure in case.measures] for rival in material.ceilings]
    ).reshape(-1, len(own))
    with drawing_style():
        figure = _figure(0.95 + 0.27 * len(own))
        axes = figure.add_subplot()
        for row in rows:
            interval_of_floor = 100 * material.ci95[1 + int(material.chosen[row]), row]
            _strokes(axes, row + 0.12, interval_of_floor, colour=FLOOR)
            _strokes(axes, row - 0.12, 100 * material.ci95[0, row], colour=METHOD)
        _dots(axes, own, floor, apart=0.12)
        best = np.max(np.nan_to_num(ceilings, nan=-1.0), axis=0, initial=-1.0)
        shown = best >= 0
        axes.plot(best[shown], np.arange(len(own))[shown], "|", color=CEILING, ms=9, mew=2, label="ceiling")
        _undefined(axes, own)
        axes.set_yticks(list(rows), [_wrapped(str(measure), 22) for measure in case.measures])
        axes.set_ylim(len(own) - 0.5, -0.5)
        axes.set_xlim(-1, 104)
        axes.set_xlabel("%")
        axes.grid(axis="both")
        axes.tick_params(axis="y", length=0, pad=7)
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2, handletextpad=0.3)
    return figure


def curves_figure(material: Material) -> Figure:
    """Draw R@1 and dR@1 against the threshold m (Closer Look, Fig. 8): the method, the floor to beat, PredictAll.

    The same model without the frames is a fourth, where there are its answers.
    """
    looks = ((METHOD, "o"), (FLOOR, "D"), (OTHER, "^"), (INK, "s"))
    with drawing_style():
        figure = _figure(3.1)
        axes = figure.add_subplot()
        highest = 0.0
        for number, (name, curves) in enumerate(material.curves):
            colour, marker = looks[number]
            every = (number, len(material.curves) + 1)
            title = _short(one_line(name), 24)
            recall, discounted = 100 * curves.recall[0], 100 * curves.discounted[0]
            axes.plot(curves.thresholds, recall, color=colour, marker=marker, markevery=every, label=title)
            axes.plot(
                curves.thresholds,
                discounted,
                color=colour,
                marker=marker,
                mfc=PAPER,
                markevery=every,
                linestyle=(0, (3, 2)),
            )
            highest = max(highest, float(np.nanmax(recall, initial=0)))
        axes.plot([], [], color=SOFT, label="R@1")
        axes.plot([], [], color=SOFT, linestyle=(0, (3, 2)), mfc=PAPER, label="dR@1")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, max(highest * 1.03, 1))
        axes.set_xlabel("threshold m on the IoU")
        axes.set_ylabel("% of the queries")
        axes.grid(axis="both")
        axes.legend(loc="upper right", labelspacing=0.3)
    return figure


def by_length_figure(material: Material) -> Figure:
    """Draw hits and misses by length of the reference: the method beside the floor (Hidden Challenges, Fig. 6).

    Raises
    ------
    UsageError
        If the headline measure is no recall.
    """
    if material.by_length is None or material.floor_by_length is None:
        raise UsageError("hits and misses are counted of R@n only, and the headline measure is another")
    panels = (("the method", material.by_length.norm, METHOD), ("floor to beat", material.floor_by_length.norm, FLOOR))
    with drawing_style():
        figure = _figure(2.7)
        both = figure.subplots(1, 2, sharey=True)
        for axes, (title, counts, colour) in zip(both, panels, strict=True):
            _stacked(axes, counts, colour)
            axes.set_title(title)
            axes.set_xlim(0, 1)
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.grid(axis="y")
            axes.legend(loc="upper right", handlelength=1.2, handletextpad=0.4)
        both[0].set_ylabel("queries")
        both[0].yaxis.get_major_locator().set_params(integer=True)
        figure.supxlabel("length of the reference, share of the video", fontsize=TEXT)
    return figure


def _stacked(axes: Axes, counts: LengthCounts, colour: str) -> None:
    left, width = counts.bounds[:-1], np.diff(counts.bounds)
    axes.bar(left, counts.success, width, align="edge", color=colour, edgecolor=PAPER, linewidth=0.4, label="hits")
    axes.bar(
        left,
        counts.failure,
        width,
        counts.success,
        align="edge",
        color=PAPER,
        edgecolor=OTHER,
        hatch="/////",
        linewidth=0.5,
        label="misses",
    )


def slices_figure(material: Material, family: str) -> Figure:
    """Draw the headline measure by class of one family: the method, the floor to beat, and the number of queries.

    Raises
    ------
    UsageError
        If there is no such family.
    """
    m, measure = material.case.headline, material.case.measures[material.case.headline]
    own = [one for one in material.slices if one.family == family]
    floor = [one for one in material.floor_slices if one.family == family]
    if not own:
        raise UsageError(f"got family {family!r}, expected one of {', '.join({one.family for one in material.slices})}")
    with drawing_style():
        figure = _figure(1.05 + 0.235 * len(own))
        axes = figure.add_subplot()
        for row, (one, other) in enumerate(zip(own, floor, strict=True)):
            _strokes(axes, row + 0.14, 100 * other.ci95[m], colour=FLOOR)
            _strokes(axes, row - 0.14, 100 * one.ci95[m], colour=METHOD)
            _beside(axes, f"{one.n_queries:,}", 1, row, share_of_width=True, color=SOFT)
        values = 100 * np.array([one.value[m] for one in own])
        of_floor = 100 * np.array([one.value[m] for one in floor])
        _dots(axes, values, of_floor, apart=0.14)
        _undefined(axes, values)
        _beside(axes, "queries", 1, -0.85, share_of_width=True, color=SOFT)
        axes.set_yticks(range(len(own)), [_wrapped(one.label, 20) for one in own])
        axes.set_ylim(len(own) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, pad=7)
        intervals = np.stack([one.ci95[m] for one in (*own, *floor)])
        _percent_axis(axes, np.concatenate([values, of_floor]), intervals, f"{measure}, %")
        axes.grid(axis="y")
        figure.legend(loc="outside upper center", ncols=2, columnspacing=1.2, handletextpad=0.3)
    return figure


DENSITY_BOUNDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Classes of density, times an even spread; what is thinner than the first is left blank."""

_CELLS = 64


class _Cloud(NamedTuple):
    """Moments as shares of the video, (N, 2), under a title."""

    title: str
    points: Floats


def _clouds(material: Material) -> list[_Cloud]:
    """Collect the moments whose places are shown: train, references, first answers, the floor's."""
    case = material.case
    found = [] if case.train is None else [_Cloud(f"references of {case.train.split}", _references_norm(case.train))]
    found.append(_Cloud(f"references of {case.annotations.split}", _references_norm(case.annotations)))
    duration_s = case.annotations.queries.duration_s
    for title, answers in (
        ("first answers", case.predictions),
        ("first answers of the floor", material.floor.predictions),
    ):
        first = first_answers(case.annotations, answers, ranking=case.protocol.ranking)
        found.append(_Cloud(title, _norm(first.start_s, first.end_s, duration_s)))
    return found


def _references_norm(annotations: Annotations) -> Floats:
    return _norm(annotations.start_s, annotations.end_s, annotations.duration_s)


def _norm(start_s: Floats, end_s: Floats, duration_s: Floats) -> Floats:
    """Moments as shares of the video, held to it, (N, 2); those that are not there, empty or swapped are left out."""
    proper = (end_s > start_s) & (duration_s > 0)  # NaN is neither
    times = np.stack([start_s[proper], end_s[proper]], axis=1) / duration_s[proper, None]
    return np.asarray(np.clip(times, 0, 1))


def densities_figure(material: Material) -> Figure:
    """Draw where moments lie, (start, end) as shares of the video, all on one scale (Closer Look, Fig. 2 and 4)."""
    clouds = _clouds(material)
    with drawing_style():
        figure = _figure(4.75)
        panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
        for axes, cloud in zip(panels, clouds, strict=False):
            _cloud(axes, cloud)
        for axes in panels[len(clouds) :]:
            axes.set_axis_off()
        for axes in panels[: len(clouds)]:
            axes.set_aspect("equal")
            axes.set_xlim(0, 1)
            axes.set_ylim(0, 1)
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.plot([0, 1], [0, 1], color=SOFT, linewidth=0.7)
            axes.tick_params(labelbottom=True, labelleft=True)
        for axes in panels[[0, 2]]:
            axes.set_ylabel("end, share of the video")
        for axes in panels[[len(clouds) - 2, len(clouds) - 1]]:
            axes.set_xlabel("start, share of the video")
        _scale_legend(figure, DENSITY_BOUNDS, "times as dense as evenly spread moments")
    return figure


def _cloud(axes: Axes, cloud: _Cloud) -> None:
    from matplotlib.patches import Polygon  # noqa: PLC0415 - see drawing_style

    axes.set_title(_short(one_line(cloud.title), 28), fontsize=SMALL)
    if not len(cloud.points):
        axes.text(0.5, 0.5, "none", ha="center", va="center", color=SOFT)
        return
    middles = (np.arange(_CELLS) + 0.5) / _CELLS
    end, start = np.meshgrid(middles, middles, indexing="ij")
    try:
        places = np.stack([start.ravel(), end.ravel()], axis=1)
        density = Density.fit(cloud.points).evaluate(places).reshape(start.shape) / 2  # an even spread has density 2
    except InputError:  # all on one line: a constant share of the video, or one that always begins at 0
        _cells(axes, _histogram(cloud.points), np.linspace(0, 1, _CELLS + 1), DENSITY_BOUNDS)
    else:
        drawn = axes.contourf(middles, middles, density, levels=DENSITY_BOUNDS, colors=SCALE, extend="max")
        triangle = Polygon([(0, 0), (0, 1), (1, 1)], transform=axes.transData)
        drawn.set_clip_path(triangle)
    values, counts = np.unique(np.rint(cloud.points * 100), axis=0, return_counts=True)
    if counts.max() > 0.5 * len(cloud.points):
        place = values[counts.argmax()] / 100
        axes.plot(*place, "o", ms=11, mfc="none", mec=FLOOR, mew=1.5, clip_on=False)
        share = f"{100 * counts.max() / len(cloud.points):.0f} % at {place[0]:.2f} to {place[1]:.2f}"
        axes.text(0.97, 0.06, share, ha="right", fontsize=SMALL)


def _histogram(points: Floats) -> Floats:
    """Density on a grid (start, end), times an even spread over the half of the square above the diagonal."""
    bounds = np.linspace(0, 1, _CELLS + 1)
    counts = np.histogram2d(points[:, 0], points[:, 1], bins=(bounds, bounds))[0]
    return np.asarray(counts / len(points) * _CELLS**2 / 2)


def _cells(axes: Axes, table: Floats, bounds: Floats, classes: Sequence[float]) -> None:
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


def _scale_legend(figure: Figure, classes: Sequence[float], title: str) -> None:
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


DISPLACEMENT_BOUNDS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Classes of the displacements' density, times an even spread over the square."""


def displacement_figure(material: Material) -> Figure:
    """Draw how far start and end move when the video is shuffled, with marginals (Hidden Challenges, Fig. F).

    Raises
    ------
    UsageError
        If there are no answers on shuffled videos.
    """
    if material.shuffled is None:
        raise UsageError("there are no answers on shuffled videos to show")
    moved = material.shuffled.displacement
    density = moved.density()
    n_queries = int(density.counts.sum())
    with drawing_style():
        figure = _figure(4.3)
        grid = figure.add_gridspec(2, 2, width_ratios=(4, 1), height_ratios=(1, 4))
        axes = figure.add_subplot(grid[1, 0])
        _cells(axes, density.density, density.bounds, DISPLACEMENT_BOUNDS)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_xlabel("|s - s'|, share of the video")
        axes.set_ylabel("|e - e'|, share of the video")
        axes.grid(axis="both")
        shares = f"{100 * moved.share_unchanged:.1f} % unchanged\n{100 * moved.share_within():.1f} % within 0.1"
        axes.text(0.97, 0.97, shares, ha="right", va="top", fontsize=SMALL)
        above = figure.add_subplot(grid[0, 0], sharex=axes)
        beside = figure.add_subplot(grid[1, 1], sharey=axes)
        of_start, of_end = (100 * density.counts.sum(axis=axis) / max(n_queries, 1) for axis in (1, 0))
        above.stairs(of_start, density.bounds, fill=True, color=METHOD_FAINT, edgecolor=METHOD)
        beside.stairs(of_end, density.bounds, fill=True, color=METHOD_FAINT, edgecolor=METHOD, orientation="horizontal")
        above.set_ylabel("%")
        beside.set_xlabel("%")
        above.tick_params(labelbottom=False)
        beside.tick_params(labelleft=False)
        _scale_legend(figure, DISPLACEMENT_BOUNDS, "times as dense as evenly spread displacements")
    return figure


def errors_figure(material: Material) -> Figure:
    """Draw what mending each kind of error would add to R@1, mIoU and AxIoU."""
    kinds = material.errors
    lines = [line for line in kinds.table if line.n_queries and line.kind != "hit"]
    looks = ((METHOD, METHOD, None), (METHOD_FAINT, METHOD, "////"), (PAPER, OTHER, "\\\\\\\\"))
    with drawing_style():
        figure = _figure(1.1 + 0.42 * max(len(lines), 1))
        axes = figure.add_subplot()
        for number, (measure, (face, edge, hatch)) in enumerate(zip(kinds.measures, looks, strict=True)):
            gains = [100 * line.gain[number] for line in lines]
            at = np.arange(len(lines)) + 0.26 * (number - 1)
            label = measure.removesuffix(f"[ref={kinds.references}]")
            axes.barh(at, gains, 0.26, color=face, edgecolor=edge, hatch=hatch, linewidth=0.7, label=label)
        for row, line in enumerate(lines):
            _beside(axes, f"{100 * line.gain[0]:+.1f}", 100 * line.gain[0], row - 0.26)
        if not lines:
            axes.text(0.5, 0, "no first answer is wrong", ha="center", va="center", color=SOFT)
            axes.set_xticks([])
        axes.set_yticks(range(len(lines)), [f"{_wrapped(line.kind, 16)} ({line.n_queries:,})" for line in lines])
        axes.set_ylim(max(len(lines), 1) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0, pad=7)
        axes.set_xlim(0, max(1.0, 114 * max((float(np.max(line.gain)) for line in lines), default=0)))
        axes.set_xlabel("what mending adds, points of percent")
        axes.grid(axis="x")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.0, handlelength=1.2, handletextpad=0.4)
    return figure


def conventions_figure(material: Material) -> Figure:
    """Draw the headline measure of the same answers under each named protocol."""
    case, m = material.case, material.case.headline
    defined = {name: 100 * value for name, value in material.conventions.items() if np.isfinite(value)}
    names = sorted(defined, key=lambda name: (defined[name], name))
    with drawing_style():
        figure = _figure(0.75 + 0.185 * max(len(names), 1))
        axes = figure.add_subplot()
        for row, name in enumerate(names):
            own = name == case.protocol.name
            axes.plot(defined[name], row, "o" if own else "D", color=METHOD, mfc=METHOD if own else PAPER)
            weight = "bold" if own else "normal"
            _beside(axes, f"{defined[name]:.2f}", 1, row, share_of_width=True, fontweight=weight)
        if not names:
            axes.text(0.5, 0, "undefined under every convention", ha="center", va="center", color=SOFT)
            axes.set_xticks([])
        axes.set_yticks(range(len(names)), [_wrapped(name, 24) for name in names])
        for label, name in zip(axes.get_yticklabels(), names, strict=True):
            label.set_fontweight("bold" if name == case.protocol.name else "normal")
        axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
        axes.margins(x=0.08)
        axes.tick_params(axis="y", length=0, pad=7)
        axes.set_xlabel(f"{case.measures[m]}, %")
        axes.grid(axis="both")
    return figure


# ----------------------------------------------------------------------------------------- what they share


def _wrapped(text: str, width: int = 21) -> str:
    """Break a name over at most three lines: at blanks, behind signs that join words, else anywhere."""
    pieces = re.findall(rf"[^\s_/.-]{{1,{width - 1}}}[_/.-]*\s*|[_/.-]+\s*", one_line(text))
    lines = [""]
    for piece in pieces:
        if lines[-1] and len((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    if len(lines) > 3:
        lines = [*lines[:2], _short("".join(lines[2:]), width)]
    return "\n".join(line.rstrip() for line in lines)


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


def _strokes(axes: Axes, at: float, ci95: Floats, *, colour: str = INK) -> float:
    """Draw an interval, where there is one; returns its upper end, 0 where there is none."""
    if not np.all(np.isfinite(ci95)):
        return 0.0
    axes.hlines(at, ci95[0], ci95[1], color=PAPER, linewidth=2.4)
    axes.hlines(at, ci95[0], ci95[1], color=colour, linewidth=1.2)
    return float(ci95[1])


def _dots(axes: Axes, own: Floats, floor: Floats, *, apart: float) -> None:
    """Draw figures of the method and of the floor to beat, a row each, the one a little above the other."""
    rows = np.arange(len(own))
    axes.plot(own, rows - apart, "o", color=METHOD, label="the method", clip_on=False)
    axes.plot(floor, rows + apart, "D", color=FLOOR, mfc=PAPER, mew=1.2, ms=4.5, label="floor to beat", clip_on=False)


def _beside(
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


def _undefined(axes: Axes, values: Floats) -> None:
    """Write "undefined" where a figure has no place."""
    for row in np.flatnonzero(~np.isfinite(values)).tolist():
        _beside(axes, "undefined", 0, row, share_of_width=True, color=SOFT)


def _percent_axis(axes: Axes, values: Floats, intervals: Floats, label: str) -> None:
    """Let the axis of a figure in percent begin at 0 and leave room for a number at its end."""
    reached = np.concatenate([np.ravel(values), 100 * np.ravel(intervals)])
    highest = float(np.max(reached[np.isfinite(reached)], initial=1.0))
    axes.set_xlim(0, highest * 1.14)
    axes.set_xlabel(label)
    axes.grid(axis="x")
