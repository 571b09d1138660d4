"""The report of surveys: a JSON document for programs, sentences and tables for people.

The page is made by :mod:`truemoment.reports.bias_page`, its figures by :mod:`truemoment.reports.bias_figures`.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from truemoment.bias.distances import SplitDistance
from truemoment.bias.grids import Grid
from truemoment.bias.information import VerbInformation
from truemoment.bias.statistics import Statistics
from truemoment.bias.surveys import OVER, Between, Part, SplitSurvey, Survey
from truemoment.reports.drawing import shortened
from truemoment.reports.model import Cell, Table
from truemoment.reports.render.tabular import TableStyle, escaped, render, tightened
from truemoment.reports.text import WIDTH
from truemoment.text import one_line
from truemoment.uncertainty import LEVEL
from truemoment.version import __version__ as version

SCHEMA = "truemoment/bias/1"

NO_MOMENT, NO_WORD, NO_VIDEO = "there is no moment", "there is no query", "no video's duration is known"

# ------------------------------------------------------------------------------------------- document


def document(
    surveys: Sequence[Survey], *, seed: int, sources: Sequence[Mapping[str, str] | None] = ()
) -> dict[str, Any]:
    """Return the JSON document.

    Parameters
    ----------
    surveys
        One a dataset.
    seed
        Of all draws.
    sources
        ``path`` and ``sha256`` of the file a dataset was read from, in the order of the surveys; None for one of the
        field's datasets, whose splits have a hash each.

    Returns
    -------
    dict
        Fractions, never percent. What is undefined is None, and ``why`` beside it says why.
    """
    files = list(sources) or [None] * len(surveys)
    return {
        "schema": SCHEMA,
        "truemoment": version,
        "engine": surveys[0].engine if surveys else "",
        "seed": seed,
        "permutations": surveys[0].permutations if surveys else 0,
        "draws": surveys[0].draws if surveys else 0,
        "datasets": [_dataset(survey, file) for survey, file in zip(surveys, files, strict=True)],
    }


def _dataset(survey: Survey, file: Mapping[str, str] | None) -> dict[str, Any]:
    return {
        "dataset": survey.dataset,
        "title": survey.title,
        "file": None if file is None else dict(file),
        "notes": list(survey.notes),
        "splits": [_split(split, survey.statistics.of_split[split.name]) for split in survey.splits],
        "whole": _split(survey.whole, survey.statistics.whole),
        "distances": [_distance(between) for between in survey.between],
        "verbs": _verbs(survey),
        "information": _information(survey.information),
        "long_tail": _long_tail(survey),
        "shared_words": _shared_words(survey),
        "uniqueness": _uniqueness(survey),
        "verdict": verdict(survey),
    }


def _figure(value: float, unit: str, why: str) -> dict[str, Any]:
    """A figure, or None and why."""
    if math.isfinite(value):
        return {"value": float(value), "unit": unit}
    return {"value": None, "unit": unit, "why": why}


def _tested(value: float, unit: str, by_chance: float, p: float) -> dict[str, Any]:
    """A figure with what chance gives."""
    return {"value": float(value), "unit": unit, "by_chance": float(by_chance), "p": float(p)}


def _split(split: SplitSurvey, statistics: Statistics) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "split": split.name,
        "sha256": split.sha256 or None,
        "n_queries": split.n_queries,
        "n_videos": split.n_videos,
        "n_moments": split.n_moments,
        "n_without_moment": split.n_without_moment,
        "n_unknown_duration": split.n_unknown_duration,
        "n_left_out": split.n_left_out,
        "longer": [
            {"over": over, **_figure(float(share), "fraction", split.locations.why)}
            for over, share in zip(OVER, split.longer.tolist(), strict=True)
        ],
        "grid": _grid(split.grid),
    }
    even, constant = split.evenness.value, split.constant.value
    if even is None:
        entry["evenness"] = {"value": None, "unit": "bits", "why": split.evenness.why}
    else:
        entry["evenness"] = {
            **_tested(even.below_even_bits, "bits", even.by_chance_bits, even.p_value),
            "entropy_bits": even.entropy_bits,
            "even_bits": even.even_bits,
            "shortest": even.shortest_norm,
            "n_moments": even.n_moments,
        }
    if constant is None:
        entry["constant"] = {"value": None, "unit": "fraction", "why": split.constant.why}
    else:
        entry["constant"] = {
            "measure": constant.measure,
            **_tested(constant.value, "fraction", constant.even_value, constant.p_value),
            "start": constant.start_norm,
            "end": constant.end_norm,
        }
    of_train = split.constant_of_train
    entry["constant_of_train"] = _figure(
        math.nan if of_train.value is None else of_train.value, "fraction", of_train.why
    )
    return entry | {"statistics": _statistics(statistics)}


def _grid(grid: Grid | None) -> dict[str, Any] | None:
    if grid is None:
        return None
    return {"step": grid.step, "unit": grid.unit, "to_the_end": grid.to_the_end}


def _statistics(of: Statistics) -> dict[str, Any]:
    sizes = of.sentences.vocabulary.sizes
    return {
        "total_duration": _figure(of.videos.total_h, "hours", NO_VIDEO),
        "duration_per_video": _figure(of.videos.mean_min, "minutes", NO_VIDEO),
        "duration_per_moment": _figure(of.moments.mean_s, "seconds", NO_MOMENT),
        "coverage": _figure(of.moments.coverage_mean, "fraction", NO_MOMENT),
        "coverage_median": _figure(of.moments.coverage_median, "fraction", NO_MOMENT),
        "queries_per_video": _figure(of.sentences.per_video, "queries", NO_WORD),
        "words_per_query": _figure(of.sentences.words_mean, "words", NO_WORD),
        "words_per_query_std": _figure(of.sentences.words_std, "words", NO_WORD),
        "tokens_per_query": _figure(of.sentences.tokens_mean, "tokens", NO_WORD),
        "n_words": of.sentences.n_words,
        "n_tokens": of.sentences.n_tokens,
        "vocabulary": {
            "adjectives": sizes.adjectives,
            "nouns": sizes.nouns,
            "verbs": sizes.verbs,
            "other": sizes.other,
            "total": sizes.total,
        },
        "words_histogram": of.sentences.words_histogram.tolist(),
    }


def _distance(between: Between) -> dict[str, Any]:
    entry: dict[str, Any] = {"a": between.a, "b": between.b}
    found = between.distance.value
    if found is None:
        nothing = {"value": None, "why": between.distance.why}
        return entry | {"energy": {**nothing, "unit": "fraction"}, "jensen_shannon": {**nothing, "unit": "bits"}}
    return entry | {
        "n_a": found.n_a,
        "n_b": found.n_b,
        "energy": _tested(found.energy, "fraction", found.energy_by_chance, found.energy_p),
        "jensen_shannon": _tested(
            found.jensen_shannon_bits, "bits", found.jensen_shannon_by_chance, found.jensen_shannon_p
        ),
    }


def _verbs(survey: Survey) -> dict[str, Any]:
    use = survey.verb_use.value
    if use is None:
        return {"coverage": {"value": None, "unit": "fraction", "why": survey.verb_use.why}, "top": []}
    return {
        "coverage": _figure(use.coverage, "fraction", "no sentence has a verb"),
        "per_query": _figure(use.mean_per_sentence, "verbs", NO_WORD),
        "histogram": use.per_sentence.tolist(),
        "top": [
            {"verb": verb, "counts": {split: counts[verb] for split, counts in use.counts.items()}} for verb in use.top
        ],
    }


def _information(part: Part[VerbInformation]) -> dict[str, Any]:
    found = part.value
    if found is None:
        return {"value": None, "unit": "bits", "why": part.why}
    return {
        **_tested(found.bits, "bits", found.by_chance_bits, found.p_value),
        "share_of_location": _figure(found.share_of_location, "fraction", "all moments lie in one cell"),
        "n_verbs": found.n_verbs,
        "n_cells": found.n_cells,
        "of_verb": [
            {"verb": of.verb, "n_queries": of.n_queries, **_tested(of.bits, "bits", of.by_chance_bits, of.p_value)}
            for of in found.of_verb
        ],
    }


def _long_tail(survey: Survey) -> dict[str, Any] | None:
    tail = survey.tail.value
    if tail is None:
        return None
    return {
        "n_words": tail.n_words,
        "n_occurrences": tail.n_occurrences,
        "n_once": tail.n_once,
        "at_least": {str(least): n for least, n in tail.at_least.items()},
        "covered_by_top": {str(n): share for n, share in tail.covered_by_top.items()},
    }


def _shared_words(survey: Survey) -> list[dict[str, Any]]:
    return [
        {
            "train": of.train,
            "test": of.test,
            "n_shared": of.overlap.n_shared,
            "share_of_test": of.overlap.share_of_test,
            "n_not_in_train": of.overlap.not_in_train.n_words,
            "occurrences_not_in_train": of.overlap.not_in_train.share_of_occurrences,
            "frequent_not_in_train": list(of.overlap.not_in_train.frequent),
            "n_not_in_test": of.overlap.not_in_test.n_words,
            "occurrences_not_in_test": of.overlap.not_in_test.share_of_occurrences,
        }
        for of in survey.shared
    ]


def _uniqueness(survey: Survey) -> list[dict[str, Any]]:
    return [
        {
            "threshold": of.threshold,
            **_figure(of.share, "fraction", NO_WORD),
            "n_sentences": of.n_sentences,
            "n_unique": of.n_unique,
            "n_verbatim": of.n_verbatim,
        }
        for of in survey.uniqueness.value or ()
    ]


# ------------------------------------------------------------------------------------------ sentences


def verdict(survey: Survey) -> list[str]:
    """Say in plain words what a survey found, a sentence a matter; what is not shown is not said to be none.

    Parameters
    ----------
    survey
        Of a dataset.
    """
    found = (_of_spread(survey), _of_constant(survey), _of_verbs(survey), _of_distance(survey))
    return [sentence for sentence in found if sentence]


def _of_spread(survey: Survey) -> str:
    even = survey.whole.evenness
    if even.value is None:
        return f"How evenly moments are spread cannot be told: {even.why}."
    if even.value.p_value <= LEVEL:
        bits = even.value.below_even_bits
        return (
            f"Moments lie {bits:.2f} bits below an even spread{_on(even.value.grid)} ({said_p(even.value.p_value)}), "
            f"as if they kept to one part in {2**bits:.1f} of the places there are."
        )
    return (
        f"Moments are not shown to be spread less evenly{_on(even.value.grid)} than chance gives "
        f"({said_p(even.value.p_value)})."
    )


def _on(grid: Grid | None) -> str:
    return "" if grid is None else f" on their grid of {grid.name}"


def _of_verbs(survey: Survey) -> str:
    verbs = survey.information
    if verbs.value is None:
        return f"What verbs tell about places cannot be told: {verbs.why}."
    if verbs.value.p_value <= LEVEL:
        share = verbs.value.share_of_location
        of_all = f", {_percent(share)} % of what there is to tell" if math.isfinite(share) else ""
        return (
            f"The verb of a query tells {verbs.value.bits:.2f} bits about the place of its moment beyond chance"
            f"{of_all} ({said_p(verbs.value.p_value)})."
        )
    return f"Verbs are not shown to tell more about places than chance gives ({said_p(verbs.value.p_value)})."


def _of_constant(survey: Survey) -> str:
    split = survey.tested
    found = split.constant.value
    if found is None:
        return f"What one answer to every query hits cannot be told of {named(split.name)}: {split.constant.why}."
    answer = f"{_percent(found.start_norm, 0)}-{_percent(found.end_norm, 0)} % of the video"
    hits = f"One answer to every query, {answer}, hits {_percent(found.value)} % of {named(split.name)} at IoU > 0.5"
    alone = (
        f"{_percent(found.even_value)} %, if moments as long began anywhere{_on(found.grid)}; {said_p(found.p_value)}"
    )
    if found.p_value <= LEVEL:
        return f"{hits}: more than lengths alone give ({alone})."
    return f"{hits}, which is not shown to be more than lengths alone give ({alone})."


def _of_distance(survey: Survey) -> str:
    between = next((one for one in survey.between if (one.a, one.b) == ("train", survey.tested.name)), None)
    if between is None:
        return ""
    tested = named(survey.tested.name)
    found, of_train = between.distance.value, survey.tested.constant_of_train.value
    if found is None:
        return f"How far train and {tested} lie apart cannot be told: {between.distance.why}."
    pays = "" if of_train is None else f"; the best constant answer of train hits {_percent(of_train)} % of {tested}"
    if found.energy_p <= LEVEL:
        return (
            f"Moments of train and {tested} lie further apart than chance gives (energy distance {found.energy:.4f}, "
            f"by chance {found.energy_by_chance:.4f}, {said_p(found.energy_p)}){pays}."
        )
    return (
        f"Moments of train and {tested} are not shown to lie further apart than chance gives ({said_p(found.energy_p)})"
        f"{pays}."
    )


def named(name: str) -> str:
    """Write the name of a dataset or split so that a table or sentence can hold it."""
    return shortened(one_line(name), 32)


def _percent(fraction: float, decimals: int = 1) -> str:
    return f"{100 * fraction:.{decimals}f}" if math.isfinite(fraction) else "-"


def said_p(value: float) -> str:
    """Write a p value as a sentence has it."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


# --------------------------------------------------------------------------------------------- tables


def places_table(surveys: Sequence[Survey]) -> Table:
    """Where moments lie: a row a dataset and split."""
    return Table(
        "Where moments lie: shares longer than 30, 50 and 70 % of the video, and how far below an even spread, in "
        "bits, chance's part taken off.",
        (
            *("split", "queries", "videos", "moments", "> 30 %", "> 50 %", "> 70 %"),
            *("bits below even", "chance's part", "p"),
        ),
        _by_split(surveys, _places_row),
    )


def _by_split(
    surveys: Sequence[Survey], row: Callable[[SplitSurvey], list[str]]
) -> tuple[tuple[str, tuple[tuple[Cell, ...], ...]], ...]:
    """A row a split and one of all together, under the dataset they belong to."""
    return tuple(
        (
            named(survey.title),
            tuple(
                tuple(map(Cell, (named(split.name), *row(split))))
                for split in (*survey.splits, *([survey.whole] if len(survey.splits) > 1 else []))
            ),
        )
        for survey in surveys
    )


def _places_row(split: SplitSurvey) -> list[str]:
    even = split.evenness.value
    row = [
        *(f"{n:,}" for n in (split.n_queries, split.n_videos, split.n_moments)),
        *map(_percent, split.longer.tolist()),
    ]
    if even is None:
        return [*row, "-", "-", "-"]
    return [*row, f"{even.below_even_bits:.2f}", f"{even.by_chance_bits:.2f}", _plain_p(even.p_value)]


def constants_table(surveys: Sequence[Survey]) -> Table:
    """What one answer to every query hits: a row a dataset and split."""
    return Table(
        "What one answer to every query hits at IoU > 0.5: the best one of each split, what the best one would hit if "
        "moments as long began anywhere, and what the best one of train hits.",
        ("split", "answer, % of the video", "hits, %", "by chance, %", "p", "train's hits, %"),
        _by_split(surveys, _constants_row),
    )


def _constants_row(split: SplitSurvey) -> list[str]:
    constant, of_train = split.constant.value, split.constant_of_train.value
    transferred = "-" if of_train is None else _percent(of_train)
    if constant is None:
        return ["-", "-", "-", "-", transferred]
    answer = f"{_percent(constant.start_norm, 0)}-{_percent(constant.end_norm, 0)}"
    figures = (_percent(constant.value), _percent(constant.even_value), _plain_p(constant.p_value))
    return [answer, *figures, transferred]


def _plain_p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def distances_table(surveys: Sequence[Survey]) -> Table:
    """How far splits lie apart: a row a pair."""
    headings = ("splits", "energy", "by chance", "p", "Jensen-Shannon, bits", "by chance ", "p ")
    groups = []
    for survey in surveys:
        rows = tuple(
            tuple(map(Cell, (f"{named(of.a)}, {named(of.b)}", *_distance_cells(of.distance.value))))
            for of in survey.between
        )
        groups.append((named(survey.title), rows))
    return Table(
        "How far the moments of two splits lie apart, and what splits give that hold the same videos by chance.",
        headings,
        tuple(group for group in groups if group[1]),
    )


def _distance_cells(found: SplitDistance | None) -> list[str]:
    if found is None:
        return ["-"] * 6
    return [
        *(f"{found.energy:.4f}", f"{found.energy_by_chance:.4f}", _plain_p(found.energy_p)),
        *(f"{found.jensen_shannon_bits:.3f}", f"{found.jensen_shannon_by_chance:.3f}"),
        _plain_p(found.jensen_shannon_p),
    ]


def verbs_table(surveys: Sequence[Survey]) -> Table:
    """What verbs tell: a row a dataset."""
    rows = []
    for survey in surveys:
        use, found = survey.verb_use.value, survey.information.value
        row = [named(survey.title)]
        row += ["-"] * 2 if use is None else [f"{use.mean_per_sentence:.2f}", _percent(use.coverage)]
        if found is None:
            row += ["-"] * 4 + [survey.information.why]
        else:
            telling = sorted(found.of_verb, key=lambda of: -of.bits)[:4]
            row += [f"{found.bits:.3f}", f"{found.by_chance_bits:.3f}", _plain_p(found.p_value)]
            row += [_percent(found.share_of_location), ", ".join(one_line(of.verb) for of in telling)]
        rows.append(tuple(map(Cell, row)))
    return Table(
        "What the verb of a query tells about the place of its moment, in bits, chance's part taken off.",
        (
            *("dataset", "verbs a query", "frequent ones cover, %", "bits", "chance's part", "p", "of all there is, %"),
            "verbs that tell most",
        ),
        (("", tuple(rows)),),
        text_columns=(0, 7),
    )


def statistics_table(surveys: Sequence[Survey]) -> Table:
    """Durations, queries and words, with the columns of MAD's Tables 1 and 7: a row a dataset and split."""
    return Table(
        "Durations, queries and words, as in MAD, Tables 1 and 7.",
        (
            *("split", "hours", "min a video", "s a moment", "cover, %", "words a query", "tokens"),
            *("adj.", "nouns", "verbs", "all words"),
        ),
        tuple(
            (
                named(survey.title),
                tuple(
                    tuple(map(Cell, (named(name), *_statistics_cells(of))))
                    for name, of in (
                        *survey.statistics.of_split.items(),
                        *([("all", survey.statistics.whole)] if len(survey.splits) > 1 else []),
                    )
                ),
            )
            for survey in surveys
        ),
    )


def _statistics_cells(of: Statistics) -> list[str]:
    sizes = of.sentences.vocabulary.sizes
    return [
        *(_number(of.videos.total_h, 1), _number(of.videos.mean_min, 2), _number(of.moments.mean_s, 1)),
        *(_percent(of.moments.coverage_mean), _number(of.sentences.words_mean, 1)),
        *(f"{n:,}" for n in (of.sentences.n_tokens, sizes.adjectives, sizes.nouns, sizes.verbs, sizes.total)),
    ]


def _number(value: float, decimals: int) -> str:
    return f"{value:,.{decimals}f}" if math.isfinite(value) else "-"


def words_table(surveys: Sequence[Survey]) -> Table:
    """What words train and a test share: a row a pair."""
    groups = []
    for survey in surveys:
        rows = tuple(
            (
                Cell(f"{named(of.train)}, {named(of.test)}"),
                Cell(f"{of.overlap.n_shared:,}"),
                Cell(_percent(of.overlap.share_of_test)),
                Cell(f"{of.overlap.not_in_train.n_words:,}"),
                Cell(_percent(of.overlap.not_in_train.share_of_occurrences, 2)),
                Cell(", ".join(map(one_line, of.overlap.not_in_train.frequent[:4])) or "-"),
            )
            for of in survey.shared
        )
        groups.append((named(survey.title), rows))
    return Table(
        "Words of train and of other splits (MAD, A.1.1).",
        (
            *("splits", "shared", "of the second's, %", "not in train", "of its occurrences, %"),
            "most frequent of these",
        ),
        tuple(group for group in groups if group[1]),
        text_columns=(0, 5),
    )


def unique_table(surveys: Sequence[Survey]) -> Table:
    """How many sentences are unlike all others of their video: a row a dataset."""
    thresholds = list(dict.fromkeys(of.threshold for survey in surveys for of in survey.uniqueness.value or ()))
    rows = []
    for survey in surveys:
        found = {of.threshold: of for of in survey.uniqueness.value or ()}
        shares = [_percent(found[t].share) if t in found else "-" for t in thresholds]
        verbatim = f"{found[thresholds[0]].n_verbatim:,}" if found else "-"
        once = "-" if survey.tail.value is None else f"{survey.tail.value.n_once:,}"
        rows.append(tuple(map(Cell, (named(survey.title), *shares, verbatim, once))))
    return Table(
        "Sentences whose METEOR with every other one of their video is below a threshold; those whose words another "
        "one of the video has; words that occur once.",
        ("dataset", *(f"unique at {t:g}, %" for t in thresholds), "verbatim repeats", "words that occur once"),
        (("", tuple(rows)),),
    )


def tables(surveys: Sequence[Survey]) -> list[Table]:
    """Every table of a report on several datasets that has a row."""
    made = (places_table, constants_table, distances_table, verbs_table, statistics_table, words_table, unique_table)
    return [table for table in (make(surveys) for make in made) if any(rows for _, rows in table.groups)]


# -------------------------------------------------------------------------------------------- terminal


def lines(surveys: Sequence[Survey], *, seed: int, style: TableStyle = "plain") -> list[str]:
    """Return the report for a terminal, Markdown or LaTeX: sentences, then tables, then how it was made."""
    said: list[str] = []
    for survey in surveys:
        sentences = [*verdict(survey), *(f"({note})" for note in told(survey))]
        text = one_line(f"{named(survey.title)}: {' '.join(sentences)}")
        said += [textwrap.fill(text, WIDTH) if style == "plain" else escaped(text, style), ""]
    for table in tables(surveys):
        said += [*_caption(table.caption, style), _rendered(table, style), ""]
    signature = closing(surveys, seed)
    return [*said, f"% {signature}" if style == "latex" else escaped(signature, style)]


def told(survey: Survey) -> list[str]:
    """What a reader must know of what was read: what was left out, and notes."""
    whole, notes = survey.whole, list(survey.notes)
    if whole.n_without_moment:
        notes.append(f"{whole.n_without_moment:,} queries have no moment: they count among the words only")
    if whole.n_unknown_duration:
        notes.append(f"{whole.n_unknown_duration:,} videos are of unknown duration: their moments have no place")
    if whole.n_left_out and whole.locations.value is not None:
        notes.append(
            f"{whole.n_left_out:,} of {whole.n_moments:,} moments have no place in their video: they are left "
            "out of places"
        )
    grids: dict[Grid, list[str]] = {}
    for split in (*survey.splits, *([whole] if len(survey.splits) > 1 else [])):
        if split.grid is not None:
            grids.setdefault(split.grid, []).append(named(split.name))
    for grid, names in grids.items():
        notes.append(
            f"moments of {', '.join(names)} lie on a grid of {grid.name}: in an even spread every pair of a start and "
            "a later end on the grid is as likely as any other in the same video"
        )
    return notes


def _caption(caption: str, style: TableStyle) -> list[str]:
    if style == "plain":
        return [textwrap.fill(caption, WIDTH)]
    return [escaped(caption, style), ""] if style == "md" else [f"% {caption}"]


def _rendered(table: Table, style: TableStyle) -> str:
    """Lay a table out; groups become a column of their own."""
    grouped = any(title for title, _ in table.groups)
    first = ["dataset"] if grouped else []
    headings = [*first, *(_heading(one, style) for one in table.headings)]
    rows = [
        [*([escaped(title, style)] if grouped else []), *(escaped(one_line(cell.text), style) for cell in row)]
        for title, of_group in table.groups
        for row in of_group
    ]
    words = {at + len(first) for at in table.text_columns} | {0}
    text = render(headings, rows, style=style, numbers=[at for at in range(len(headings)) if at not in words])
    return tightened(text) if style == "plain" else text


def _heading(heading: str, style: TableStyle) -> str:
    if style != "plain":
        return escaped(heading.strip(), style)
    return "\n".join(textwrap.wrap(heading, 9, break_long_words=False)) if heading.strip() else heading


def closing(surveys: Sequence[Survey], seed: int) -> str:
    """Return the signature that belongs to every figure."""
    read = "+".join(
        f"{survey.dataset}/{split.name}#{split.sha256[:8]}" for survey in surveys for split in survey.splits
    )
    first = surveys[0]
    return one_line(
        f"bias|data:{read}|engine:{first.engine}|permutations:{first.permutations} of videos|draws:{first.draws}|"
        f"seed:{seed}|truemoment:{version}"
    )
