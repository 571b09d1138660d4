"""The page of the studies of measures: one HTML file, to be opened, printed, cited, or sent.

It is made of chapters alone: a page of one study and the report of all are the same page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from truemoment.reports.drawing import inline_svg
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.delivery import names_of
from truemoment.reports.model import Drawing, Table
from truemoment.reports.render.pages import render_page
from truemoment.text import one_line
from truemoment.version import __version__ as version

if TYPE_CHECKING:
    from truemoment.reports.metaevaluation.verdict import Verdict
    from truemoment.scores import Scores

QUESTION = "Which measure should a lab select by, and which differences between systems can be trusted?"

MOST_ROWS = 16
"""Longer tables are folded, and so are all tables where an answer over all studies stands first."""

_SHORT: Mapping[str, str] = {
    "axioms": "Axioms",
    "agreement": "Agreement",
    "stability": "Stability",
    "ambiguity": "Label ambiguity",
    "ties": "Ties",
    "theory": "Theory",
    "selection": "Model selection",
    "power": "Power",
    "population": "Simulated systems",
    "claims": "The paper's findings",
}
"""What chapters are called in the list of sections; others by their name."""

_READING: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "Measures in figures",
        (),
        "Blue is R@K, orange AxIoU@K, green dR@K. Triangles stand for an IoU above 0.3, circles 0.5, squares 0.7, "
        "diamonds for no threshold; filled marks for K = 1, hollow ones for 5, half-filled for 10. R@1 .5 is "
        "R@1,IoU=0.5, and Ax@10 is AxIoU@10.",
    ),
    (
        "Intervals",
        ("agreement", "ties", "selection", "power"),
        "95 % of what resamples of the videos give: as many videos as there are, drawn with replacement, the same for "
        "all systems. They say what another set of videos of this kind would give, not what another set of systems "
        "would.",
    ),
    (
        "Kendall's tau-b",
        ("agreement", "stability"),
        "Of all pairs of systems, those that two rankings put in the same order less those they put in opposite ones, "
        "corrected for ties: 1 for equal rankings, 0 for unrelated ones, -1 for reversed ones. With few systems it "
        "takes few values.",
    ),
    (
        "INV and MON",
        ("axioms",),
        "INV: changing an answer that is not the best one seen so far leaves the figure as it is. MON: improving the "
        "best answer seen so far raises it. A counterexample settles that a measure breaks an axiom; that none was "
        "found is no proof that it holds.",
    ),
    (
        "Self-agreement",
        ("stability",),
        "Tau between the rankings of the systems on two sets of queries drawn from the split, on average over many "
        "such pairs of sets. A measure that ranks alike on both can be trusted on another test set.",
    ),
    (
        "Label noise",
        ("ambiguity", "theory"),
        "References are moved as another annotator might have set them. RMSE is how far figures move with them, in "
        "points; beside it stands how far apart the systems are, since a measure that gives all systems nearly the "
        "same figure moves little and says little.",
    ),
    (
        "All-tied queries",
        ("ties",),
        "Queries on which every system gets the same value: they tell no two systems apart.",
    ),
    (
        "Separated pairs",
        ("power",),
        "Pairs of systems whose difference is significant by a paired test, corrected for the number of pairs. A pair "
        "that is not separated is not shown to be equal.",
    ),
    (
        "Regret",
        ("selection",),
        "What choosing a variant by a measure on the validation split costs on the test split: the best figure that "
        "any variant has there less that of the one chosen, in points.",
    ),
    (
        "Sources",
        (),
        "The axioms and most studies are those of Togashi et al. (2022), AxIoU; dR is of Yuan et al. (2021), Closer "
        "Look. Figures named after theirs are drawn anew, from the systems and data named below.",
    ),
)
"""How to read a page: a term, the chapters that need it (none: all pages), and what it means."""


class Section(NamedTuple):
    """A chapter as the page lays it out.

    Parameters
    ----------
    anchor
        Name of its section.
    short
        What it is called in the list of sections.
    title
        The question it answers.
    said, notes
        Sentences.
    tables
        Its figures, as numbers, each with the line it is folded under; "" where it stands open.
    figures
        Its figures, as pictures, each drawn.
    """

    anchor: str
    short: str
    title: str
    said: tuple[str, ...]
    notes: tuple[str, ...]
    tables: list[tuple[Table, str]]
    figures: list[tuple[Drawing, str]]


def page(
    chapters: Sequence[Chapter],
    *,
    verdict: Verdict | None = None,
    scores: Scores | None = None,
    sources: Sequence[Mapping[str, str]] = (),
    seed: int = 0,
    command: str = "",
) -> str:
    """Return the page of one or more studies as HTML; the same studies give the same text.

    Parameters
    ----------
    chapters
        One a study, one or more.
    verdict
        The answer over all studies, said first; None for none.
    scores
        Of the first system: it names data and convention. None for studies without systems.
    sources
        Files of the systems: ``name``, ``path``, ``sha256``.
    seed
        Of all draws.
    command
        What makes the page again; "" where there is none.
    """
    sections = [
        Section(
            name,
            short_title(chapter.name),
            chapter.title,
            chapter.said,
            chapter.notes,
            [(table, _folded_under(table, among_others=verdict is not None)) for table in chapter.tables],
            [(drawing, inline_svg(drawing)) for drawing in chapter.drawings],
        )
        for name, chapter in zip(names_of(chapters), chapters, strict=True)
    ]
    return render_page(
        "meta.html.j2",
        question=QUESTION,
        about=_about(scores, sections),
        verdict=verdict,
        sections=sections,
        reading=_reading({_study(chapter.name) for chapter in chapters}),
        signature=signature(scores, seed),
        hashes=_hashes(scores, sources),
        command=command,
    )


def short_title(name: str) -> str:
    """Name a chapter in the list of sections.

    Examples
    --------
    >>> short_title("selection"), short_title("ambiguity-annotators"), short_title("mine")
    ('Model selection', 'Label ambiguity, annotators', 'mine')
    """
    study = _study(name)
    if study not in _SHORT:
        return name
    kind = name.removeprefix(study).lstrip("-")
    return f"{_SHORT[study]}, {kind}" if kind else _SHORT[study]


def _study(name: str) -> str:
    """Which study a chapter is of: ``ambiguity`` has one for each model of label noise."""
    return name.partition("-")[0]


def _folded_under(table: Table, *, among_others: bool) -> str:
    """Say in a line what a table shows, if it is long, or stands among those of other studies; else ""."""
    n_rows = sum(len(rows) for _, rows in table.groups)
    if n_rows <= MOST_ROWS and not among_others:
        return ""
    begin = re.split(r"[.;:](?:\s|$)", table.caption, maxsplit=1)[0]
    return f"{begin} ({n_rows} row{'' if n_rows == 1 else 's'})"


def signature(scores: Scores | None, seed: int) -> str:
    """Write convention, data, version and seed on one line.

    Examples
    --------
    >>> signature(None, 7).rpartition("|")[2]
    'seed:7'
    """
    begin = f"truemoment:{version}" if scores is None else scores.signature()
    return one_line(f"{begin}|seed:{seed}")


def _about(scores: Scores | None, sections: Sequence[Section]) -> str:
    if scores is None:
        return " and ".join(section.short for section in sections) if len(sections) < 3 else "Measures by themselves"
    queries, videos = len(scores), scores.n_videos
    return (
        f"{len(scores.measures)} measure{'' if len(scores.measures) == 1 else 's'} on {scores.dataset}, "
        f"{scores.split}: {queries:,} quer{'y' if queries == 1 else 'ies'} of {videos:,} video"
        f"{'' if videos == 1 else 's'}"
    )


def _reading(names: Iterable[str]) -> list[tuple[str, str]]:
    there = set(names)
    return [(term, meaning) for term, needed_by, meaning in _READING if not needed_by or there & set(needed_by)]


def _hashes(scores: Scores | None, sources: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    files = [(_called(source), source.get("sha256", "")) for source in sources]
    if scores is not None:
        files.append((f"{scores.dataset}, {scores.split}", scores.annotations_sha256))
    return [(what, value) for what, value in files if value]


def _called(source: Mapping[str, str]) -> str:
    """Name a system and its file, if they are not called the same."""
    name, path = source.get("name", ""), source.get("path", "")
    return f"{name}: {path}" if name and path and name not in path else path or name
