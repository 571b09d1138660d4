"""MAD (Soldan et al. 2022): sizes of its splits (Table 4), training beside the others (Table 7), genres and years.

Genres and years are in no file of MAD. They come from ``mad/MAD_metadata.csv`` of the data folder, which a user may
write (:func:`truemoment.data.datasets.mad.read_metadata`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from truemoment.base.errors import MissingFileError
from truemoment.base.records import Annotations
from truemoment.data.datasets.mad import METADATA, FilmMetadata, read_metadata
from truemoment.report.drawing import METHOD, new_figure
from truemoment.report.model import Drawing
from truemoment.reproduction import mad_mixtures
from truemoment.reproduction.base import (
    PublishedTable,
    Reproduced,
    TableInputs,
    beside,
    data_signature,
    unchecked,
    with_ours,
    without_files,
)
from truemoment.reproduction.mad import EXACT, OF_ALL, OF_COLUMN, OURS, PAPER, SIMULATED, SPLITS, Judged, is_simulated
from truemoment.studies.bias.statistics import dataset_statistics
from truemoment.studies.compare.comparison import PublishedFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VAL_AND_TEST = "val+test"
NO_METADATA = f"MAD's release has no genres and years; write {METADATA} to compare them"
FROM_USERS = "not judged: genres and years are those of your file"
GENRE, DECADE = "films of a genre", "films of a decade"

OF_METADATA: Mapping[str, Callable[[Sequence[FilmMetadata]], float]] = MappingProxyType(
    {
        "genres": lambda films: len({genre for film in films for genre in film.genres}),
        "years": lambda films: max(film.year for film in films) - min(film.year for film in films) + 1,
    }
)
"""Figures of the films' metadata; "years" from the first release to the last, both counted."""
NO_READER = "LSMDC-G is in no public file"
FILMS_OF_LSMDC = "not judged: the paper has 184 films of LSMDC16 in its table and 182 in its text"


def table_7(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Table 7: MAD's training split, and its validation and test splits together."""
    engine = inputs.words
    splits = {split: inputs.load("MAD", split) for split in SPLITS["MAD"]}
    groups = {"train": ("train",), VAL_AND_TEST: ("val", "test")}
    statistics = dataset_statistics(splits, engine, groups=groups).of_group
    simulated = is_simulated(inputs)
    films, remark = _known_films(inputs, splits)
    for figure in figures:
        if figure.measure in OF_METADATA:
            yield _of_films(figure, films, f"{SIMULATED if simulated else FROM_USERS}; {remark}" if films else remark)
            continue
        judged = Judged(None, SIMULATED) if simulated else OF_COLUMN.get(figure.measure, EXACT)
        signature = f"words:{engine.name}|{data_signature(splits[split] for split in groups[figure.split])}"
        ours = OURS[figure.measure](statistics[figure.split])
        yield beside(figure, ours, tolerance=judged.tolerance, reason=judged.reason, signature=signature)
    yield from _counts(films)


def _known_films(inputs: TableInputs, splits: Mapping[str, Annotations]) -> tuple[Sequence[FilmMetadata], str]:
    """Return the metadata of the annotated films, and how many have some, or why none has."""
    try:
        metadata = read_metadata(inputs.folder / "mad")
    except MissingFileError:
        return (), NO_METADATA
    names = sorted({name for split in splits.values() for name in split.video_id.tolist()})
    records = [metadata[name] for name in names if name in metadata]
    return records, f"{METADATA} has {len(records):,} of {len(names):,} films"


def _of_films(figure: PublishedFigure, films: Sequence[FilmMetadata], reason: str) -> Reproduced:
    """Return the number of genres, or of years from the first release to the last."""
    if not films:
        return unchecked(figure, "not published", reason)
    return beside(figure, OF_METADATA[figure.measure](films), tolerance=None, reason=reason, signature=METADATA)


def _counts(films: Sequence[FilmMetadata]) -> Iterator[Reproduced]:
    """Yield the number of films of each genre, the most frequent first, and of each decade (Figure 7)."""
    genres = Counter(genre for film in films for genre in film.genres)
    decades = Counter(f"{film.year // 10 * 10}s" for film in films)
    by_count = sorted(genres.items(), key=lambda item: (-item[1], item[0]))
    for method, counts in ((GENRE, by_count), (DECADE, sorted(decades.items()))):
        for name, count in counts:
            yield with_ours(
                Reproduced("truemoment", "Figure 7", "MAD", "all", method, name, "count", signature=METADATA), count
            )


def films_by(rows: Sequence[Reproduced]) -> dict[str, dict[str, float]]:
    """Return the number of films of each genre and of each decade."""
    figures: dict[str, dict[str, float]] = {GENRE: {}, DECADE: {}}
    for row in rows:
        if row.method in figures and row.ours is not None:
            figures[row.method][row.measure] = row.ours
    return figures


def table_4(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Table 4: sizes of MAD's splits, and of LSMDC16's where its files are; those of LSMDC-G stay as published."""
    simulated = is_simulated(inputs)
    for figure in figures:
        if figure.dataset == "LSMDC-G":
            yield unchecked(figure, "not published", NO_READER)
            continue
        try:
            split = inputs.load(figure.dataset, figure.split)
        except MissingFileError:
            if figure.dataset == "MAD":
                raise
            yield without_files(figure, figure.dataset)
            continue
        ours = {"videos": split.n_videos, "annotations": split.n_queries}[figure.measure]
        judged = Judged(None, SIMULATED) if simulated else Judged("0", OF_ALL)
        if figure.dataset != "MAD":
            judged = Judged(None, FILMS_OF_LSMDC)
        signature = data_signature([split])
        yield beside(figure, ours, tolerance=judged.tolerance, reason=judged.reason, signature=signature)


def drawings(rows: Sequence[Reproduced]) -> list[Drawing]:
    """Return the figure of genres and decades, if there are any."""
    counts = films_by(rows)
    if not all(counts.values()):
        return []
    caption = "Number of films of each genre and of each decade. A film may have several genres."
    return [Drawing("mad-films", "Genres and release years of MAD's films", caption, partial(_drawn, counts))]


def _drawn(counts: Mapping[str, Mapping[str, float]]) -> Figure:
    figure = new_figure(4.6)
    axes = figure.subplots(1, 2)
    for axis, (heading, values) in zip(axes, counts.items(), strict=True):
        names = list(values)[::-1]
        axis.barh(names, [values[name] for name in names], color=METHOD)
        axis.set_title(heading)
    return figure


TABLES = (
    PublishedTable(
        "mad-4",
        "Videos and annotations of MAD beside those of LSMDC, which its validation and test splits come from",
        f"{PAPER}, Table 4",
        ("mad",),
        "mad_table4.csv",
        table_4,
    ),
    *mad_mixtures.TABLES,
    PublishedTable(
        "mad-7",
        "MAD's training split, its validation and test splits together, genres and release years",
        f"{PAPER}, Table 7 and Figure 7",
        ("mad",),
        "mad_table7.csv",
        table_7,
        drawings,
    ),
)
