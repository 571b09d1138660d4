"""MAD (Soldan et al. 2022), Tables 5 and 6: training on mixtures of a clean and a noisy set.

The files need agreements, so that the rows stay as published unless runs are given; those are not judged, because the
paper states neither how a share was drawn nor how many steps a row took. What can be computed without the files stands
beside: chance and ceiling, and which of the differences the test sets can resolve.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from truemoment.base.records import Annotations
from truemoment.baselines import Oracle, RandomChance
from truemoment.evaluation.evaluate import evaluate
from truemoment.report.model import Block, Cell, Finding, Table
from truemoment.reproduction.base import (
    PublishedTable,
    Reproduced,
    TableInputs,
    beside,
    published_figures,
    unchecked,
    with_ours,
)
from truemoment.reproduction.mad import PAPER, PROPOSALS, PROTOCOL
from truemoment.reproduction.run_folders import RunFolder
from truemoment.searching.clips.chance import chance
from truemoment.searching.clips.measures import parse_retrieval_measures
from truemoment.searching.clips.resolution import Resolution, design_effect
from truemoment.studies.compare.comparison import PublishedFigure
from truemoment.worlds.films import FilmSettings, make_films

HOW_MIXED = "the paper states neither how a share of MAD was drawn nor how many steps a row took"
NOT_JUDGED = f"not judged: {HOW_MIXED}"
FROM_SIZES = "no published figure: from sizes alone"

MOST_CHANCE_RUNS = 5
"""Runs of chance in films: a run takes seconds, and its figures differ by hundredths."""


@dataclass(frozen=True)
class TestSet:
    """The test split of a table.

    Parameters
    ----------
    n, n_films
        Sentences and films.
    prefix
        What the measures of a run have before those of the table.
    """

    n: int
    n_films: int
    prefix: str = ""


GROUNDING = TestSet(7600, 13)
"""LSMDC-G's test split (Table 4: 7.6 thousand sentences, 13 films)."""

RETRIEVAL = TestSet(1000, 17, "t2c:")
"""The public 1,000 clips of LSMDC16, with which the figures agree; the paper does not state the size."""

PAIRS = ((1, 2), (1, 3), (1, 6), (1, 4), (4, 5), (5, 6))
"""Rows that the text compares, and each addition."""

CORRELATIONS = (0.01, 0.03)
"""Intra-film correlations beside independent sentences."""

ROW = re.compile(r"row (\d)")


def mixture_table(
    figures: Sequence[PublishedFigure],
    inputs: TableInputs,
    test: TestSet,
    floors: Callable[[Sequence[PublishedFigure], TableInputs], Iterator[Reproduced]],
) -> Iterator[Reproduced]:
    """Yield every published figure, beside runs with its shares if there are any, then chance and ceiling."""
    for figure in figures:
        runs = _runs_of(figure, inputs.trained)
        values = [run.figure("test", test.prefix + figure.measure) for run in runs]
        defined = [value for value in values if value is not None]
        if not defined:
            yield unchecked(figure, "files under agreement", f"MAD and LSMDC; {HOW_MIXED}")
            continue
        remark = "; simulated films" if any("simulated" in run.features for run in runs) else ""
        row = beside(figure, defined, tolerance=None, reason=f"{NOT_JUDGED}{remark}", signature=runs[0].label)
        yield replace(row, features=runs[0].features, recipe=runs[0].label)
    yield from floors(figures, inputs)


def _runs_of(figure: PublishedFigure, runs: Sequence[RunFolder]) -> list[RunFolder]:
    """Return the runs of one recipe whose sources have the shares of a row: LSMDC, and MAD."""
    numbers = re.findall(r"(\d+) % \S+", figure.method)
    expected = tuple(int(number) / 100 for number in numbers)
    runs_of: dict[str, list[RunFolder]] = {}
    for run in runs:
        shares = {"lsmdc": 0.0, "mad": 0.0}
        for source in run.recipe.data or ():
            name = next((name for name in shares if name in source.title.casefold()), "")
            shares |= {name: source.share} if name else {}
        if run.recipe.data and tuple(shares.values()) == expected:
            runs_of.setdefault(run.label, []).append(run)
    return next(iter(runs_of.values()), [])


def _place(figures: Sequence[PublishedFigure], method: str, measure: str) -> Reproduced:
    first = figures[0]
    place = ("truemoment", first.table, first.dataset, first.split, method, measure)
    return Reproduced(*place, unit="percent", reason=FROM_SIZES)


def _measured(figures: Sequence[PublishedFigure]) -> list[str]:
    return list(dict.fromkeys(figure.measure for figure in figures))


def floors_of_clips(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Yield chance among 1,000 clips, in closed form."""
    del inputs
    for name in _measured(figures):
        (measure,) = parse_retrieval_measures(RETRIEVAL.prefix + name)
        value = chance(measure, RETRIEVAL.n, np.ones(RETRIEVAL.n, dtype=np.int64))
        yield with_ours(_place(figures, f"Chance, {RETRIEVAL.n:,} clips", name), value)


def floors_of_films(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Yield chance and ceiling of 13 simulated films with the lengths of MAD's and 7.6 thousand sentences."""
    films = films_like_the_test(inputs.rng)
    measures = _measured(figures)
    whole = replace(PROTOCOL, nms_threshold=None)
    runs = []
    for number, rng in enumerate(inputs.rng.spawn(min(inputs.runs, MOST_CHANCE_RUNS)), start=1):
        inputs.on_status(f"Random Chance on simulated films, run {number}")
        runs.append(evaluate(films, RandomChance(PROPOSALS, rng).ground(films.queries, 10), measures, whole))
    inputs.on_status("Oracle on simulated films")
    oracle = evaluate(films, Oracle(films, PROPOSALS).ground(films.queries), measures, PROTOCOL)
    for name in measures:
        yield with_ours(_place(figures, "Random Chance, simulated films", name), [run.value(name) for run in runs])
    for name in measures:
        yield with_ours(_place(figures, "Oracle, simulated films", name), oracle.value(name))


def films_like_the_test(rng: np.random.Generator) -> Annotations:
    """Return 13 simulated films of MAD's lengths with 7.6 thousand sentences, like LSMDC-G's test split."""
    settings = FilmSettings(n_sentences=round(GROUNDING.n / GROUNDING.n_films))
    return make_films({"test": GROUNDING.n_films}, settings, rng).annotations("test")


# -------------------------------------------------------------------------------------------- resolution


@dataclass(frozen=True)
class RowDifference:
    """A difference between two published rows by a measure."""

    row: int
    other: int
    before: str
    after: str
    measure: str
    resolution: Resolution

    @property
    def rows(self) -> str:
        """Both rows, in words."""
        return f"{self.before} to {self.after}"


def differences(rows: Sequence[Reproduced], notes: Mapping[str, int], test: TestSet) -> list[RowDifference]:
    """Return the differences that the text compares, by every measure of the table.

    Parameters
    ----------
    rows
        Figures of the table.
    notes
        Number of the row of each method.
    test
        Sizes of the test set.
    """
    values: dict[tuple[int, str], float] = {}
    shares: dict[int, str] = {}
    for row in rows:
        if row.method in notes and row.published is not None:
            values[notes[row.method], row.measure] = float(row.published) / 100
            shares[notes[row.method]] = _shares(row.method)
    measures = list(dict.fromkeys(measure for _, measure in values))
    return [
        RowDifference(
            row,
            other,
            shares[row],
            shares[other],
            measure,
            Resolution(values[row, measure], values[other, measure], test.n),
        )
        for row, other in PAIRS
        for measure in measures
        if (row, measure) in values and (other, measure) in values
    ]


def _shares(method: str) -> str:
    """Return the sources of a row in short.

    Examples
    --------
    >>> _shares("VLG-Net (trained on 100 % LSMDC-G + 32 % MAD)")
    'LSMDC-G + 32 % MAD'
    >>> _shares("VLG-Net (trained on 0 % LSMDC-G + 100 % MAD)")
    'MAD'
    """
    parts = re.findall(r"(\d+) % (\S+?)(?=\)| )", method)
    return " + ".join(name if share == "100" else f"{share} % {name}" for share, name in parts if share != "0")


def resolution_blocks(rows: Sequence[Reproduced], notes: Mapping[str, int], test: TestSet) -> list[Block]:
    """Return the table of what the differences can resolve, and what that means for the claims of the text."""
    contrasts = differences(rows, notes, test)
    effects = [design_effect(test.n, test.n_films, correlation) for correlation in CORRELATIONS]
    cells = tuple(
        tuple(
            map(
                Cell,
                (
                    contrast.before,
                    contrast.after,
                    contrast.measure,
                    f"{100 * contrast.resolution.difference:+.2f}",
                    f"{100 * contrast.resolution.standard_error:.2f}",
                    *(f"{replace(contrast.resolution, design_effect=effect).z:+.1f}" for effect in (1.0, *effects)),
                    _needed(contrast.resolution),
                ),
            )
        )
        for contrast in contrasts
    )
    headings = ("from", "to", "measure", "points", "standard error", "z", *(f"z, rho {rho:g}" for rho in CORRELATIONS))
    caption = (
        f"What {test.n:,} sentences of {test.n_films} films can resolve: unpaired, sentences independent (z), or with "
        "an intra-film correlation rho. Sentences: for 80 % power at the observed difference"
    )
    table = Table(caption, (*headings, "sentences needed"), (("", cells),), text_columns=(0, 1, 2))
    return [table, Finding(tuple(_words(contrasts)))]


def _needed(resolution: Resolution) -> str:
    return "-" if math.isinf(resolution.n_needed) else f"{resolution.n_needed:,.0f}"


def _words(contrasts: Sequence[RowDifference]) -> list[str]:
    """Return a sentence about the differences that are resolved, and one about the additions that are not."""
    first = contrasts[0].measure
    of_first = [contrast for contrast in contrasts if contrast.measure == first]
    resolved = [
        f"{contrast.rows} (z {contrast.resolution.z:+.1f})" for contrast in of_first if contrast.resolution.is_resolved
    ]
    unresolved = [
        f"{contrast.rows} (z {contrast.resolution.z:+.1f})"
        for contrast in of_first
        if not contrast.resolution.is_resolved
    ]
    words = [f"Resolved by {first}, if sentences were independent: {'; '.join(resolved) or 'none'}."]
    words += [f"Not resolved by {first}: {'; '.join(unresolved)}."] if unresolved else []
    steps = [contrast for contrast in of_first if (contrast.row, contrast.other) in ((4, 5), (5, 6))]
    if steps and not any(contrast.resolution.is_resolved for contrast in steps):
        scores = " and ".join(f"{contrast.resolution.z:.1f}" for contrast in steps)
        words.append(f'The text\'s "performance steadily increases" over these additions is within noise (z {scores}).')
    return words


def resolution_document(rows: Sequence[Reproduced], notes: Mapping[str, int], test: TestSet) -> dict[str, Any]:
    """Return the same for programs; fractions."""
    return {
        "resolution": [
            {
                "rows": [contrast.row, contrast.other],
                "from": contrast.before,
                "to": contrast.after,
                "measure": contrast.measure,
                "difference": contrast.resolution.difference,
                "standard_error": contrast.resolution.standard_error,
                "z": contrast.resolution.z,
                "n_needed": None if math.isinf(contrast.resolution.n_needed) else round(contrast.resolution.n_needed),
                "n_queries": test.n,
                "n_videos": test.n_films,
            }
            for contrast in differences(rows, notes, test)
        ]
    }


def row_numbers(file: str) -> dict[str, int]:
    """Return the number of each row of a published table by its method."""
    matches = ((figure.method, ROW.match(figure.note)) for figure in published_figures(file))
    return {method: int(match[1]) for method, match in matches if match}


def _with_resolution(file: str, test: TestSet) -> dict[str, Any]:
    return {
        "blocks": lambda rows: resolution_blocks(rows, row_numbers(file), test),
        "details": lambda rows: resolution_document(rows, row_numbers(file), test),
    }


TABLES = (
    PublishedTable(
        "mad-5",
        "Grounding on LSMDC by the share of clean and noisy training data, and what its differences resolve",
        f"{PAPER}, Table 5",
        (),
        "mad_table5.csv",
        partial(mixture_table, test=GROUNDING, floors=floors_of_films),
        **_with_resolution("mad_table5.csv", GROUNDING),
    ),
    PublishedTable(
        "mad-6",
        "Retrieval of LSMDC's clips by the share of clean and noisy training data, and what its differences resolve",
        f"{PAPER}, Table 6",
        (),
        "mad_table6.csv",
        partial(mixture_table, test=RETRIEVAL, floors=floors_of_clips),
        **_with_resolution("mad_table6.csv", RETRIEVAL),
    ),
)
