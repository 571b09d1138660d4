"""MAD: 384 thousand sentences of audio description about 650 whole films.

The files need an agreement with the authors; nothing of them is shipped. The form is that of their loaders: one JSON
object per split, query id to film, sentence, times and duration of the film.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from truemoment.base.boundary.files import read_json_mapping, read_number
from truemoment.base.boundary.tables import read_csv
from truemoment.base.errors import InputError
from truemoment.base.papers import MAD, MOVIE_DESCRIPTION
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import Dataset, SourceFile, Split, required_file


class DescribedFilm(msgspec.Struct):
    """An entry of the file; the reference is `ext_timestamps`, as in the authors' baselines."""

    movie: str
    sentence: str
    ext_timestamps: tuple[Seconds, Seconds]
    movie_duration: Seconds


def read(folder: Path, split: str) -> Annotations:
    """Read a split; references are ``ext_timestamps`` unchanged."""
    name = f"MAD_{split}.json"
    path = required_file(folder, name, f"annotations/{name}", f"annotations/MAD-v1/{name}", dataset="mad")
    return Annotations.from_rows(
        (
            (query_id, entry.movie, entry.movie_duration, entry.sentence, *entry.ext_timestamps)
            for query_id, entry in read_json_mapping(path, DescribedFilm).items()
        ),
        dataset="mad",
        split=split,
    )


METADATA = "MAD_metadata.csv"
"""Name of a file with the genres and the release year of films; MAD's release has none, its users may write it."""

GENRE_SEPARATOR = "|"
FIRST_YEAR, LAST_YEAR = 1880, 2100
"""Years that films can be released in."""


class FilmMetadata(NamedTuple):
    """Metadata of a film."""

    year: int
    genres: tuple[str, ...]


def read_metadata(folder: Path) -> dict[str, FilmMetadata]:
    """Read ``MAD_metadata.csv``, by film: columns ``movie`` (as in the annotations), ``year`` and ``genres``.

    ``genres`` are separated by ``|``, as in ``Drama|Thriller``.

    Raises
    ------
    MissingFileError, InputError
        If the file is missing, or a value is invalid.
    """
    path = required_file(folder, METADATA, f"annotations/{METADATA}", dataset="mad")
    films: dict[str, FilmMetadata] = {}
    for line, record in read_csv(path, ("movie", "year", "genres"), strict=True):
        movie, year, genres = (record[name] or "" for name in ("movie", "year", "genres"))
        number = read_number(year)
        if not FIRST_YEAR <= number <= LAST_YEAR or number != int(number):
            expected = f"expected a year from {FIRST_YEAR} to {LAST_YEAR}"
            raise InputError(f"got {year!r}, {expected}", path=path, line=line, field="year")
        named = tuple(dict.fromkeys(filter(None, (genre.strip() for genre in genres.split(GENRE_SEPARATOR)))))
        if not movie or not named:
            field = "genres" if movie else "movie"
            raise InputError("is empty, expected text", path=path, line=line, field=field)
        if movie in films:
            raise InputError(f"{movie!r} appears twice, expected each film once", path=path, line=line, field="movie")
        films[movie] = FilmMetadata(int(number), named)
    return films


DATASET = Dataset(
    name="mad",
    title="MAD",
    papers=(MAD, MOVIE_DESCRIPTION),
    homepage="https://github.com/Soldelli/MAD",
    licence="annotations and features under a non-disclosure agreement with the authors; code MIT",
    access="agreement",
    files=(SourceFile("MAD_train.json"), SourceFile("MAD_val.json"), SourceFile("MAD_test.json")),
    splits=(
        Split("train", 280_183, 488, "first release, as its first author lists it; MAD (2022), Table 4, has 280.5 K"),
        Split("val", 32_064, 50, "first release, as its first author lists it; MAD (2022), Table 4"),
        Split("test", 72_044, 112, "first release, as its first author lists it; MAD (2022), Table 4"),
    ),
    read=read,
    notes=(
        "The authors' baselines score on ext_timestamps, CONE on timestamps; figures on the two do not compare.",
        "Training moments come from aligned audio description and are noisy; val and test were checked by people.",
        "val and test are LSMDC's clips in the time of whole films; 'truemoment collect clips' converts them too.",
        "Form only: the files were not looked at.",
    ),
    steps=(
        "fill in the form linked from https://github.com/Soldelli/MAD and sign its agreement",
        "the authors answer by e-mail with a link and a password",
        "unpack annotations.tar.xz and put MAD_train.json, MAD_val.json and MAD_test.json into the folder mad/",
    ),
)
