"""Reports as pages: one HTML file that needs no network, and the same for a notebook without its frame.

The look is in ``templates``: ``report.html.j2`` is the page, ``fragment.html.j2`` the report in a notebook, and
``blocks.html.j2`` shows each kind of block in both. A page has all its content without a script. Its own script,
``framed.js``, ``leaving.js`` and ``page.js``, adds a link to the queries inside ``truemoment open``, menus to copy and
save, sorting, filters, values of figures and a contents list that follows the reader. Templates escape text from
outside, and put it into elements of its own direction.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import math
import platform
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape

from truemoment.base.boundary.files import read_text
from truemoment.base.boundary.text import printable_lines
from truemoment.base.version import __version__ as version
from truemoment.report.chart_axis import interval_text, strip_axis
from truemoment.report.charts import Clouds, Plot, StripChart
from truemoment.report.drawing import inline_svg
from truemoment.report.model import (
    LEVELS,
    Bar,
    Block,
    Details,
    Drawing,
    Example,
    Examples,
    Finding,
    Gallery,
    KeyFigures,
    Level,
    Paragraph,
    Remarks,
    Report,
    Section,
    Table,
)
from truemoment.report.render.plots import placed_clouds, placed_plot
from truemoment.report.render.short_paths import ShortPaths
from truemoment.report.roles import MARKERS, ROLES, stylesheet, variable
from truemoment.report.words import counted, number

if TYPE_CHECKING:
    import jinja2
    from jinja2.bccache import Bucket

TEMPLATES = Path(__file__).parent / "templates"

LEVEL_TITLES: dict[Level, str] = {"serious": "Serious", "warning": "Warnings", "note": "Notes", "good": "Passed"}
"""Title of each level of findings on a page."""

MOST_ROWS = 16
"""Longer tables are folded."""

WIDE = 8
"""Tables of more columns are set smaller, and their columns that repeat others are folded."""

BEYOND = 1.3
"""A time line ends at this multiple of the video's duration at the latest."""


def page(report: Report, *, command: str = "") -> str:
    """Return the page of a report; the same report gives the same text.

    Parameters
    ----------
    report
        Report to show.
    command
        The command that makes the page again; "" for none.
    """
    return _filled("report.html.j2", report, command)


def page_script() -> str:
    """Return the script of every page."""
    return "\n".join(read_text(TEMPLATES / name) for name in ("framed.js", "leaving.js", "page.js"))


def script_hash(script: str) -> str:
    """Return the SHA-256 of a script, as the policy of a page names it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def fragment(report: Report) -> str:
    """Return a report without the frame of a page, as notebooks show it."""
    return _filled("fragment.html.j2", report)


def page_environment(*folders: Path) -> jinja2.Environment:
    """Return the templates in folders, which escape all text and refuse unknown names.

    Hidden characters in a text are written as escapes.
    """
    import jinja2  # noqa: PLC0415 - importing takes time that only pages need

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders or [TEMPLATES]),
        bytecode_cache=_compiled(),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@functools.cache
def _compiled() -> jinja2.BytecodeCache:
    """Return where templates stay compiled for all pages of a process; compiling takes longer than filling them."""
    import jinja2  # noqa: PLC0415 - as above

    codes: dict[tuple[str, str], CodeType | None] = {}

    class Compiled(jinja2.BytecodeCache):
        def load_bytecode(self, bucket: Bucket) -> None:
            bucket.code = codes.get((bucket.key, bucket.checksum))

        def dump_bytecode(self, bucket: Bucket) -> None:
            codes[bucket.key, bucket.checksum] = bucket.code

    return Compiled()


def _clean(value: object) -> object:
    return type(value)(printable_lines(value)) if isinstance(value, str) else value  # Markup stays Markup


def _filled(template: str, report: Report, command: str = "") -> str:
    """Fill a template with a report, and with the versions and colours of all pages."""
    words = [word for line in (command, report.browse) for word in shlex.split(line)]
    paths = ShortPaths.among([*words, *report.files, *(label for label, _ in report.hashes)])

    def as_written(value: object) -> object:
        return _clean(paths.in_text(value) if type(value) is str else value)

    environment = page_environment()
    environment.finalize = as_written
    environment.filters |= {
        "prose": _prose,
        "sentence": _sentence,
        "value": _value,
        "interval": interval_text,
        "breakable": _breakable,
        "colour": variable,
    }
    sections = [
        (name, section, list(_runs(section.blocks, name)))
        for name, section in zip(report.anchors, report.sections, strict=True)
    ]
    script = page_script()
    return environment.get_template(template).render(
        report=report,
        command=paths.in_command(command),
        browse=paths.in_command(report.browse),
        has_short_paths=bool(paths.names),
        headline=_split(report.headline),
        level_titles=LEVEL_TITLES,
        sections=sections,
        overview=_overview(report, sections),
        roles=ROLES,
        markers=MARKERS,
        colours=stylesheet(".truemoment" if template.startswith("fragment") else ":root"),
        script=script,
        script_hash=script_hash(script),
        version=version,
        versions=f"truemoment {version}, numpy {np.__version__}, python {platform.python_version()}",
    )


def _value(value: float, decimals: int) -> str:
    """Write a value of a strip chart."""
    return number(value, decimals) if math.isfinite(value) else "undefined"


def _breakable(text: str) -> Markup:
    """Write a name, or a measure, so that a line may end after each sign that joins its words."""
    parts = re.split(r"(?<=[_/-])(?=[^\s_/-])|(?<=,)(?=[A-Za-z])", printable_lines(text))
    return Markup("<wbr>").join(map(escape, parts))


def _prose(text: str) -> str:
    """Write a sentence so that no line ends between a number and its sign."""
    return (
        text.replace(" %", "\u00a0%")
        .replace(" = ", "\u00a0=\u00a0")
        .replace(" > ", "\u00a0>\u00a0")
        .replace(" < ", "\u00a0<\u00a0")
    )


def _sentence(note: str) -> str:
    """Write a note as a sentence: with a capital, unless it begins with the name of a file or of a measure."""
    return re.sub(r"^[a-z]+(?= )", lambda word: word[0].capitalize(), note)


HEADLINE_CHARACTERS = 130
"""Longest words that a headline has before its figures; with longer ones, all of it is the headline."""


def _split(finding: Finding | None) -> tuple[str, str]:
    """Return the few words of a headline before its figures, and the figures."""
    if finding is None:
        return "", ""
    sentences = " ".join(finding.sentences)
    words, colon, figures = sentences.partition(": ")
    return (
        (words, figures[:1].upper() + figures[1:]) if colon and len(words) <= HEADLINE_CHARACTERS else (sentences, "")
    )


N_FIRST = 3
"""Findings that the beginning of a page names."""


class _Overview(NamedTuple):
    """What the beginning of a page says of the findings.

    Parameters
    ----------
    blocks
        Blocks below the headline.
    counts
        Each level, the number of its findings in words, and the name of their place.
    first
        The most serious findings, each with the name of its place.
    """

    blocks: list[_BlockGroup]
    counts: list[tuple[Level, str, str]]
    first: list[tuple[Finding, str]]


def _overview(report: Report, sections: Sequence[tuple[str, Section, list[_BlockGroup]]]) -> _Overview:
    """Count the findings and the headline by level."""
    groups = [group for _, _, groups in sections for group in groups if group.kind == "finding" and group.level]
    headline = report.headline.level if report.headline is not None else None
    counts: list[tuple[Level, str, str]] = []
    for level in LEVELS:
        named = [pair for group in groups if group.level == level for pair in group.blocks]
        if count := len(named) + (level == headline):
            words = counted(count, level) if level in ("warning", "note") else f"{count} {_LEVEL_WORDS[level]}"
            counts.append((level, words, f"{named[0][1]}-group" if named else "verdict"))
    asked = [
        pair for level in ("serious", "warning") for group in groups if group.level == level for pair in group.blocks
    ]
    return _Overview(list(_runs(report.lead, "lead")), counts, asked[:N_FIRST])


_LEVEL_WORDS: dict[Level, str] = {"serious": "serious", "good": "passed"}

# --------------------------------------------------------------------------------------------- blocks


class _BlockGroup(NamedTuple):
    """Blocks of one kind that follow each other, as the template shows them together."""

    kind: str
    level: Level | None
    blocks: list[Any]


def _runs(blocks: Iterable[Block], name: str) -> Iterable[_BlockGroup]:
    """Put neighbours of one kind together: figures into columns, findings of a level under its title."""
    numbered = list(enumerate(blocks, start=1))
    for (kind, level), of_kind in groupby(numbered, key=lambda pair: _kind(pair[1])):
        yield _BlockGroup(kind, level, [_shown(block, f"{name}-{number}") for number, block in of_kind])


def _kind(block: Block) -> tuple[str, Level | None]:
    return _KINDS[type(block)], block.level if isinstance(block, Finding) else None


_KINDS: dict[type, str] = {
    Finding: "finding",
    Remarks: "remarks",
    Table: "table",
    Drawing: "drawing",
    StripChart: "strip",
    Plot: "drawing",
    Clouds: "drawing",
    KeyFigures: "key_figures",
    Paragraph: "paragraph",
    Examples: "examples",
    Gallery: "gallery",
    Details: "details",
}
"""The macro of the template that shows each kind of block."""


def _shown(block: Block, name: str) -> Any:  # noqa: ANN401 - what the macro of its kind takes
    """Return what the template's macro shows of a block."""
    if type(block) in _DRAWN:
        kind, drawn = _DRAWN[type(block)]
        return kind, block, drawn(block)
    if isinstance(block, StripChart | Finding) and not isinstance(block, Remarks):
        return block, strip_axis(block) if isinstance(block, StripChart) else name
    if isinstance(block, Table):
        folded = _first_words(block.caption) if block.n_rows > MOST_ROWS else ""
        folded = f"{folded} ({counted(block.n_rows, 'row')})" if folded else ""
        parts = [(part, f"table-{name}{end}", bool(end) or len(part.headings) > WIDE) for part, end in _parts(block)]
        return parts[0], folded, parts[1:], f"{counted(len(block.repeats), 'more measure')} that repeat these"
    if isinstance(block, Examples):
        return [_time_line(example) for example in block.examples]
    if isinstance(block, Gallery):
        return [
            (picture, None if picture.jpeg is None else base64.b64encode(picture.jpeg).decode("ascii"))
            for picture in block.pictures
        ]
    return (block.summary, list(_runs(block.blocks, name))) if isinstance(block, Details) else block


_DRAWN: dict[type, tuple[str, Callable[[Any], object]]] = {
    Drawing: ("drawing", inline_svg),
    Plot: ("plot", placed_plot),
    Clouds: ("clouds", placed_clouds),
}
"""The macro inside a figure, and what it shows, of each kind of figure."""


def _parts(table: Table) -> list[tuple[Table, str]]:
    """Return a table and the end of its name; of a wide one the columns that repeat no other, and those that do."""
    repeats = dict(table.repeats) if len(table.headings) > WIDE else {}
    if not repeats:
        return [(table, "")]
    main = table.only([at for at in range(len(table.headings)) if at not in repeats])
    begin = f"{_first_words(table.caption)}: " if table.caption else ""
    more = replace(table.only([0, *repeats]), caption=f"{begin}{'; '.join(repeats.values())}.")
    return [(main, ""), (more, "-more")]


def _first_words(caption: str) -> str:
    """Return a caption up to its first stop.

    Examples
    --------
    >>> _first_words("Closer Look (Yuan et al. 2021), Table 2; percent. Differences in points.")
    'Closer Look (Yuan et al. 2021), Table 2'
    """
    return re.split(r"(?<!\bal)\. |[;:] ", caption.rstrip("."), maxsplit=1)[0]


# ----------------------------------------------------------------------------------------- time lines


class _PlacedBar(NamedTuple):
    """A moment on a time line, in percent of the line.

    Parameters
    ----------
    kind, label, times, note
        Kind, label, times and remarks in words.
    left, width
        Its place; None if it lies beyond the line.
    past_left, past_width
        Its part after the end of the video; None if there is none.
    """

    kind: str
    label: str
    times: str
    note: str
    left: float | None
    width: float
    past_left: float | None
    past_width: float


class _TimeLine(NamedTuple):
    """An example and its bars, and where the video ends in percent of the line."""

    example: Example
    end_of_video: float
    bars: list[_PlacedBar]


def _time_line(example: Example) -> _TimeLine:
    ends = [end for bar in example.bars for end in (bar.start_s, bar.end_s)]
    line_s = float(np.clip(max(ends, default=0.0), example.duration_s, BEYOND * example.duration_s))
    bars = [_bar(bar, example.duration_s, line_s) for bar in example.bars]
    return _TimeLine(example, 100 * example.duration_s / line_s, bars)


def _bar(bar: Bar, duration_s: float, line_s: float) -> _PlacedBar:
    """Lay a moment out on a line of `line_s` seconds; a swapped one lies between its ends, with a remark."""
    low, high = min(bar.start_s, bar.end_s), max(bar.start_s, bar.end_s)
    past_end = high > duration_s + 1e-6
    remarks = [
        (bar.end_s < bar.start_s, "ends before it starts"),
        (bar.end_s == bar.start_s, "has no length"),
        (past_end, "past the end of the video"),
        (low < 0, "begins before the video"),
        (high > line_s, "further than is drawn"),
    ]

    def place(seconds: float) -> float:
        return 100 * min(max(seconds, 0.0), line_s) / line_s

    left, right, end_of_video = place(low), place(high), place(duration_s)
    past_left = max(left, end_of_video)
    is_beyond = low > line_s
    return _PlacedBar(
        kind=bar.kind,
        label=bar.label,
        times=f"{bar.start_s:,.1f}\u2013{bar.end_s:,.1f} s".replace("-", "\u2212"),
        note=", ".join(filter(None, [bar.note, *(words for applies, words in remarks if applies)])),
        left=None if is_beyond else left,
        width=right - left,
        past_left=past_left if past_end and not is_beyond else None,
        past_width=right - past_left,
    )
