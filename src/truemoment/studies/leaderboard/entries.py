"""The file ``leaderboard.yaml``: data, measures and systems.

::

    title: Charades-CD, test-ood
    dataset: charades-cd        # or annotations: mine.jsonl
    split: test-ood
    systems:
      - name: ours
        files: [seed-1.jsonl, seed-2.jsonl]
        paper: Somebody et al., 2026
        date: 2026-03-01
        sees_video: true
        reads: sentence

Paths are relative to the folder of the file, and lie below it.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from truemoment.base.boundary.text import one_line
from truemoment.base.boundary.yaml_files import convert, naming, read_yaml
from truemoment.base.errors import InputError, MissingFileError
from truemoment.base.known_names import one_of_known
from truemoment.baselines.floors import NETWORK, PARAGRAPH
from truemoment.data.axes import parse_axis
from truemoment.data.datasets import DATASETS
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.fields import FieldMap, file_of
from truemoment.data.formats.objects import parse_prediction_fields
from truemoment.data.references import parse_fields
from truemoment.evaluation.measures import Measure, parse_measures
from truemoment.evaluation.protocols import Protocol, get_protocol
from truemoment.studies.audit.request import MethodReads
from truemoment.studies.request import ReadingAnnotations

FILE = "leaderboard.yaml"
AS_STATED = ReadingAnnotations()

Word = Annotated[str, Meta(min_length=1, max_length=100)]
File = Annotated[str, Meta(min_length=1, max_length=1000)]


class SystemEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A system of a leaderboard.

    Parameters
    ----------
    name
        Name in tables.
    files
        Its prediction file; several are the seeds of one method.
    sees_video
        Whether it sees the video; one that does not is a baseline, and no gate applies to it.
    paper
        Its publication, in words.
    reads
        Declared input: ``sentence`` for one sentence at a time, ``paragraph`` for all of a video.
    date
        The day of its first publication, as 2026-03-01.
    axis, prediction_fields
        Unit of the times in its files and names of their columns, as the options ``--axis`` and
        ``--prediction-fields`` take them.
    """

    name: Word
    files: File | Annotated[tuple[File, ...], Meta(min_length=1, max_length=100)]
    sees_video: bool
    paper: Annotated[str, Meta(max_length=500)] = ""
    reads: MethodReads | None = None
    date: dt.date | None = None
    axis: Word | None = None
    prediction_fields: File | None = None


class EntriesFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Fields of ``leaderboard.yaml``."""

    title: Word
    systems: Annotated[tuple[SystemEntry, ...], Meta(min_length=1, max_length=1000)]
    dataset: Word | None = None
    annotations: File | None = None
    fields: File | None = None
    durations: File | None = None
    split: Word | None = None
    fit_split: Word | None = None
    protocol: Word | None = None
    measures: Annotated[str, Meta(min_length=1, max_length=1000)] | None = None


@dataclass(frozen=True)
class Entries:
    """Content of a leaderboard.

    Parameters
    ----------
    folder
        The folder that contains everything.
    title
        Title of the leaderboard.
    source, reading
        The annotations, and how a file of them is read.
    systems
        The systems, by name in alphabetical order: the order of the file changes nothing.
    files
        The prediction files of each system, in the same order.
    fit_split
        Split that floors are fitted on; None for ``train``, ``none`` for none.
    measures, protocol
        Measures and protocol; None for those of the dataset.
    protocol_words
        Protocol as text of the file; "" for that of the dataset.
    """

    folder: Path
    title: str
    source: AnnotationSource
    systems: tuple[SystemEntry, ...]
    files: tuple[tuple[Path, ...], ...]
    fit_split: str | None = None
    measures: tuple[Measure, ...] | None = None
    protocol: Protocol | None = None
    protocol_words: str = ""
    reading: ReadingAnnotations = AS_STATED

    def inputs(self) -> list[Path]:
        """Return the files that are read."""
        return [self.folder / FILE, *self.source.files(), *(path for group in self.files for path in group)]


def read_entries(folder: Path, data_dir: Path | None = None) -> Entries:
    """Read ``leaderboard.yaml`` of a folder, and check it before any prediction file is read.

    Raises
    ------
    InputError, MissingFileError
        If the file is missing or malformed, a path leaves the folder, or a prediction file is missing.
    """
    path = folder / FILE
    values = read_yaml(path)
    if not isinstance(values, dict):
        raise InputError("is no leaderboard, expected keys with values: title, split, systems", path=path)
    content = convert(values, EntriesFile, path)
    _refuse_names(content.systems, path)
    checked = [_checked(folder, system, path, f"systems[{at}]") for at, system in enumerate(content.systems)]
    systems = tuple(sorted(checked, key=lambda system: system.name))
    fields = {system.name: f"systems[{number}].files" for number, system in enumerate(content.systems)}
    files = tuple(_files(folder, system, path, fields[system.name]) for system in systems)
    with naming(path, "measures"):
        measures = None if content.measures is None else tuple(parse_measures(content.measures))
    with naming(path, "protocol"):
        protocol = None if content.protocol is None else get_protocol(content.protocol)
    reading = _reading(folder, content, path)
    source = _source(folder, content, path, data_dir, reading)
    words = content.protocol or ""
    return Entries(folder, content.title, source, systems, files, content.fit_split, measures, protocol, words, reading)


def _refuse_names(systems: tuple[SystemEntry, ...], path: Path) -> None:
    """Refuse two systems of one name, and the name of the blind baseline."""
    names: set[str] = set()
    for number, system in enumerate(systems):
        field, name = f"systems[{number}].name", system.name
        if name != one_line(name) or not name.strip():
            raise InputError(f"got {name!r}, expected one line of printable text", path=path, field=field)
        if name in (NETWORK, PARAGRAPH):
            raise InputError(f"got {name!r}, the name of a blind baseline, expected another", path=path, field=field)
        if name in names:
            raise InputError(
                f"got {name!r} twice, expected one entry a system, with the files of its seeds", path=path, field=field
            )
        names.add(name)


def _checked(folder: Path, system: SystemEntry, path: Path, field: str) -> SystemEntry:
    """Return an entry with its mapping of fields as text; refuse an axis or a mapping that cannot be read."""
    with naming(path, f"{field}.axis"):
        parse_axis(system.axis or "seconds")
    name = f"{field}.prediction_fields"
    return replace(
        system, prediction_fields=_mapping(folder, system.prediction_fields, parse_prediction_fields, path, name)
    )


def _files(folder: Path, system: SystemEntry, path: Path, field: str) -> tuple[Path, ...]:
    names = (system.files,) if isinstance(system.files, str) else system.files
    if len(set(names)) < len(names):
        raise InputError("got a file twice, expected each run once", path=path, field=field)
    files = tuple(sorted(below(folder, name, path, field) for name in names))
    for file in files:
        _refuse_missing(file, path, field)
    return files


def _refuse_missing(file: Path, path: Path, field: str) -> None:
    if not file.is_file():
        raise MissingFileError(f"{path}, field {field}: {file}: no such file")


def below(folder: Path, name: str, path: Path, field: str) -> Path:
    """Return a path below a folder; refuse one that leaves it, also by a link."""
    target, root = os.path.realpath(folder / name) if "\0" not in name else "", os.path.realpath(folder)
    if not target.startswith(root.rstrip(os.sep) + os.sep):
        raise InputError(f"got {name!r}, expected a path below the folder of {FILE}", path=path, field=field)
    return folder / name


def _reading(folder: Path, content: EntriesFile, path: Path) -> ReadingAnnotations:
    """Return how the file of annotations is read."""
    if content.annotations is None and (content.fields or content.durations):
        field = "fields" if content.fields else "durations"
        raise InputError("got it without annotations, which it is about", path=path, field=field)
    durations = None if content.durations is None else below(folder, content.durations, path, "durations")
    if durations is not None:
        _refuse_missing(durations, path, "durations")
    return ReadingAnnotations(
        fields=_mapping(folder, content.fields, parse_fields, path, "fields"), durations=durations
    )


def _mapping(folder: Path, word: str | None, parse: Callable[[str], FieldMap], path: Path, field: str) -> str | None:
    """Return a mapping of fields as text, where a word is one or names the file of one below the folder."""
    if word is None:
        return None
    with naming(path, field):
        file = file_of(word)
        return str(parse(f"@{below(folder, file, path, field)}" if file else word))


def _source(
    folder: Path, content: EntriesFile, path: Path, data_dir: Path | None, reading: ReadingAnnotations
) -> AnnotationSource:
    """Return the annotations: a dataset by name, a folder that ``resplit`` made, or a file."""
    if (content.dataset is None) == (content.annotations is None):
        raise InputError("expected dataset or annotations, one of them", path=path)
    if content.annotations is not None:
        file = below(folder, content.annotations, path, "annotations")
        _refuse_missing(file, path, "annotations")
        return AnnotationSource(None, file, content.split, data_dir, reading.how_references)
    if content.split is None:
        raise InputError("expected the split of the dataset", path=path, field="split")
    name = content.dataset or ""
    if name not in DATASETS:
        subfolder = below(folder, name, path, "dataset")
        if not subfolder.is_dir():
            names = one_of_known(name, DATASETS)
            raise InputError(f"got {name!r}, expected {names}, or a folder below", path=path, field="dataset")
        name = str(subfolder)
    return AnnotationSource(name, None, content.split, data_dir)
