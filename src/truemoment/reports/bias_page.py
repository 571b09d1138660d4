"""The page of surveys: one HTML file that sets datasets side by side, to be opened, printed, cited, or sent.

How it looks stands in ``templates/bias.html.j2``; see :mod:`truemoment.reports.render.pages`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from truemoment.bias.surveys import OVER, Survey
from truemoment.reports import bias as report
from truemoment.reports.bias_figures import (
    FEW,
    dataset_drawings,
    names_of,
    together_drawings,
)
from truemoment.reports.drawing import inline_svg, shortened
from truemoment.reports.model import Cell, Drawing, Table
from truemoment.reports.render.pages import render_page


class Chapter(NamedTuple):
    """What the page says of one dataset.

    Parameters
    ----------
    anchor
        Name of its section.
    title
        What it is called.
    said, notes
        Sentences on what was found, and on what was read.
    tables
        By split.
    figures
        Figures of places, of verbs, and of words, each drawn, under what they are about.
    """

    anchor: str
    title: str
    said: list[str]
    notes: list[str]
    tables: list[Table]
    figures: list[tuple[str, list[tuple[Drawing, str]]]]


def page(
    surveys: Sequence[Survey],
    *,
    seed: int,
    top_verbs: int = 30,
    sources: Sequence[Mapping[str, str] | None] = (),
    command: str = "",
) -> str:
    """Return the page of surveys as HTML; the same surveys give the same text.

    Parameters
    ----------
    surveys
        One a dataset, one or more.
    seed
        Of all draws.
    top_verbs
        Frequent verbs that are shown.
    sources
        ``path`` and ``sha256`` of the file each was read from; None for one of the field's datasets.
    command
        What makes the page again; "" where there is none.
    """
    names = names_of(surveys)
    chapters = [
        Chapter(
            name,
            survey.title,
            report.verdict(survey),
            report.told(survey),
            [_ungrouped(table) for table in report.tables([survey])],
            _figures(dataset_drawings(survey, name, top_verbs=top_verbs), name),
        )
        for survey, name in zip(surveys, names, strict=True)
    ]
    together = together_drawings(surveys) if len(surveys) > 1 else []
    return render_page(
        "bias.html.j2",
        titles=[survey.title for survey in surveys],
        chapters=chapters,
        comparison=comparison(surveys),
        together=[(drawing, inline_svg(drawing)) for drawing in together],
        permutations=surveys[0].permutations,
        draws=surveys[0].draws,
        engine=surveys[0].engine,
        few=FEW,
        signature=report.closing(surveys, seed),
        hashes=_hashes(surveys, sources),
        command=command,
    )


def _figures(drawings: Sequence[Drawing], name: str) -> list[tuple[str, list[tuple[Drawing, str]]]]:
    """Draw the figures, in groups."""
    groups: dict[str, list[tuple[Drawing, str]]] = {"Where moments lie": [], "Verbs": [], "Words": []}
    for drawing in drawings:
        kind = drawing.name.removeprefix(f"{name}-")
        about = "Verbs" if kind.startswith("verb") else "Words" if kind in ("words-a-query", "ranks") else ""
        groups[about or "Where moments lie"].append((drawing, inline_svg(drawing)))
    return [(about, drawn) for about, drawn in groups.items() if drawn]


def _ungrouped(table: Table) -> Table:
    """The table of one dataset, without its name over the rows."""
    rows = tuple(row for _, of_group in table.groups for row in of_group)
    return Table(table.caption, table.headings, (("", rows),), table.text_columns)


def _hashes(surveys: Sequence[Survey], sources: Sequence[Mapping[str, str] | None]) -> list[tuple[str, str]]:
    files = [(file["path"], file["sha256"]) for file in sources if file is not None]
    return files + [
        (f"{shortened(survey.dataset, 40)}, {shortened(split.name, 40)}", split.sha256)
        for survey in surveys
        for split in survey.splits
    ]


# ---------------------------------------------------------------------------------- datasets side by side


def comparison(surveys: Sequence[Survey]) -> Table:
    """Set datasets side by side: a column each, a row a figure, smaller text saying what chance gives."""
    groups = (
        (
            "Size",
            (
                ("splits", lambda survey: Cell(", ".join(report.named(split.name) for split in survey.splits))),
                ("queries", lambda survey: Cell(f"{survey.statistics.whole.sentences.n:,}")),
                ("videos", lambda survey: Cell(f"{survey.statistics.whole.videos.n:,}")),
                ("hours of video", lambda survey: _number(survey.statistics.whole.videos.total_h, 1)),
                ("minutes a video", lambda survey: _number(survey.statistics.whole.videos.mean_min, 2)),
                ("queries a video", lambda survey: _number(survey.statistics.whole.sentences.per_video, 1)),
            ),
        ),
        (
            "Moments",
            (
                ("seconds a moment", lambda survey: _number(survey.statistics.whole.moments.mean_s, 1)),
                (
                    "share of the video covered, %",
                    lambda survey: _number(100 * survey.statistics.whole.moments.coverage_mean, 1),
                ),
                *((f"longer than {100 * over:.0f} % of the video, %", _longer(at)) for at, over in enumerate(OVER)),
            ),
        ),
        (
            "Places, all splits",
            (
                ("bits below an even spread", _evenness),
                ("hit by one answer, % at IoU > 0.5", _constant),
                ("hit by train's best answer in the test, %", _of_train),
                ("train to test, energy distance", _distance),
            ),
        ),
        (
            "Verbs",
            (
                ("bits that the verb tells of the place", _information),
                ("verbs a query", _verbs_a_query),
                ("frequent verbs cover, %", _coverage),
            ),
        ),
        (
            "Words",
            (
                ("words a query", lambda survey: _number(survey.statistics.whole.sentences.words_mean, 1)),
                ("tokens", lambda survey: Cell(f"{survey.statistics.whole.sentences.n_tokens:,}")),
                *((f"vocabulary, {part}", _vocabulary(part)) for part in ("adjectives", "nouns", "verbs", "total")),
                ("sentences unique in their video, % (METEOR < 0.99)", _unique),
                ("test's words not in train, %", _new_words),
            ),
        ),
    )
    return Table(
        "Smaller text: what chance gives, with p, or what was taken off for it; and which split is meant.",
        ("", *(report.named(survey.title) for survey in surveys)),
        tuple(
            (title, tuple((Cell(what), *(find(survey) for survey in surveys)) for what, find in rows))
            for title, rows in groups
        ),
    )


def _number(value: float, decimals: int) -> Cell:
    return Cell(f"{value:,.{decimals}f}") if math.isfinite(value) else Cell("undefined")


def _longer(at: int) -> Callable[[Survey], Cell]:
    return lambda survey: _number(100 * float(survey.whole.longer[at]), 1)


def _vocabulary(part: str) -> Callable[[Survey], Cell]:
    return lambda survey: Cell(f"{getattr(survey.statistics.whole.sentences.vocabulary.sizes, part):,}")


def _undefined(why: str) -> Cell:
    return Cell("undefined", why)


def _chance(by_chance: str, p: float) -> str:
    return f"chance {by_chance}, {report.said_p(p)}"


def _less_chance(by_chance_bits: float, p: float) -> str:
    return f"after chance's {by_chance_bits:.2f}, {report.said_p(p)}"


def _evenness(survey: Survey) -> Cell:
    found = survey.whole.evenness.value
    if found is None:
        return _undefined(survey.whole.evenness.why)
    grid = "" if found.grid is None else f"on a grid of {found.grid.name}; "
    return Cell(f"{found.below_even_bits:.2f}", grid + _less_chance(found.by_chance_bits, found.p_value))


def _constant(survey: Survey) -> Cell:
    found = survey.whole.constant.value
    if found is None:
        return _undefined(survey.whole.constant.why)
    return Cell(f"{100 * found.value:.1f}", _chance(f"{100 * found.even_value:.1f}", found.p_value))


def _of_train(survey: Survey) -> Cell:
    found = survey.tested.constant_of_train
    if found.value is None:
        return _undefined(found.why)
    return Cell(f"{100 * found.value:.1f}", report.named(survey.tested.name))


def _distance(survey: Survey) -> Cell:
    tested = survey.tested.name
    between = next((one for one in survey.between if (one.a, one.b) == ("train", tested)), None)
    if between is None or between.distance.value is None:
        return _undefined("no split train and a test" if between is None else between.distance.why)
    found = between.distance.value
    return Cell(
        f"{found.energy:.4f}",
        f"{report.named(tested)}; {_chance(f'{found.energy_by_chance:.4f}', found.energy_p)}",
    )


def _information(survey: Survey) -> Cell:
    found = survey.information.value
    if found is None:
        return _undefined(survey.information.why)
    return Cell(f"{found.bits:.2f}", _less_chance(found.by_chance_bits, found.p_value))


def _verbs_a_query(survey: Survey) -> Cell:
    use = survey.verb_use.value
    return _undefined(survey.verb_use.why) if use is None else _number(use.mean_per_sentence, 2)


def _coverage(survey: Survey) -> Cell:
    use = survey.verb_use.value
    if use is None:
        return _undefined(survey.verb_use.why)
    return Cell(f"{100 * use.coverage:.1f}", f"the first {len(use.top)}")


def _unique(survey: Survey) -> Cell:
    found = survey.uniqueness.value
    return _undefined(survey.uniqueness.why) if not found else _number(100 * found[0].share, 1)


def _new_words(survey: Survey) -> Cell:
    found = next((of for of in survey.shared if of.test == survey.tested.name), None)
    if found is None:
        return _undefined("no split train and a test")
    lacking = found.overlap.not_in_train
    return Cell(
        f"{100 * lacking.share_of_vocabulary:.1f}",
        f"{report.named(found.test)}; {100 * lacking.share_of_occurrences:.2f} % of its occurrences",
    )
