"""References of anybody: files of annotations in the forms of the field, of annotation tools and of spreadsheets.

``read_annotations(path)`` recognises the form by the content. A form without durations takes them from
``durations``; columns with other names are mapped by ``fields``. :func:`write_annotations` writes some of the forms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from truemoment.base.boundary.own_path import AnyPath, any_path
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.base.known_names import SWAPPED, one_of_known, spelled_alike
from truemoment.base.records import Annotations
from truemoment.base.registry import Registry
from truemoment.data.datasets import own as own_file
from truemoment.data.datasets.base import numbered
from truemoment.data.datasets.entries import (
    ReferenceEntry,
    as_annotations,
    splits_in,
    with_durations,
    without_duration,
)
from truemoment.data.fields import FieldMap
from truemoment.data.formats.head import Head
from truemoment.data.formats.naming import videos_meant
from truemoment.data.formats.table import headings
from truemoment.data.references import (
    activitynet,
    answers,
    charades_sta,
    cvat,
    didemo,
    ego4d_nlq,
    elan,
    et_bench,
    label_studio,
    momentseeker,
    objects,
    own,
    parquet,
    qvhighlights,
    subtitles,
    table,
    tacos,
    timechat,
    via,
)
from truemoment.data.references.base import Property, ReferenceForm, ReferenceOptions, warn
from truemoment.data.references.durations import read_durations
from truemoment.data.references.records import parse_fields
from truemoment.report.words import counted

NO_SPLIT = "no split"
"""Name of the split of entries that name none, where other entries of the file do."""

__all__ = [
    "AS_STATED",
    "NO_SPLIT",
    "REFERENCES",
    "ReferenceForm",
    "ReferenceOptions",
    "get_form",
    "losses",
    "parse_fields",
    "read_annotations",
    "read_durations",
    "read_entries",
    "read_references",
    "recognise",
    "splits_of",
    "with_given_durations",
    "write_annotations",
    "write_splits",
]

MODULES = (
    own,
    answers,
    qvhighlights,
    activitynet,
    charades_sta,
    tacos,
    didemo,
    ego4d_nlq,
    timechat,
    et_bench,
    momentseeker,
    table,
    objects,
    parquet,
    elan,
    via,
    label_studio,
    cvat,
    subtitles,
)
REFERENCES = Registry[ReferenceForm]("references", {module.FORM.name: module.FORM for module in MODULES}, ReferenceForm)
"""Every form of references by name."""

AS_STATED = ReferenceOptions()
"""No mapping, and nothing that the file does not state."""


def read_annotations(
    path: str | AnyPath,
    split: str | None = None,
    *,
    fields: FieldMap | str | None = None,
    durations: Mapping[str, float] | str | Path | None = None,
    frame_rate: float | None = None,
) -> Annotations:
    """Read a file of references in any form that TrueMoment knows, recognised by its content.

    Parameters
    ----------
    path
        The file.
    split
        Read the queries of this split and those without one. Default: all.
    fields
        Columns of a table or of a list of objects, e.g. ``"sentence=caption, start_s=frame/25"``.
    durations
        Seconds by video, or a file of them, for a form without durations.
    frame_rate
        Frames per second, for a form that counts frames.

    Raises
    ------
    MissingFileError, InputError, UsageError
        In one line: file, line, field, what was found, what was expected.
    """
    by_video = read_durations(Path(durations)) if isinstance(durations, str | Path) else durations
    how = ReferenceOptions(
        parse_fields(fields) if isinstance(fields, str) else fields,
        frame_rate,
        None if by_video is None else lambda _: by_video,
    )
    return read_references(path, split, how)


def read_references(path: str | AnyPath, split: str | None = None, how: ReferenceOptions = AS_STATED) -> Annotations:
    """Read a file of references with options that were read before."""
    path = any_path(path)
    return as_annotations(path, read_entries(path, how), split)


def splits_of(path: str | AnyPath, how: ReferenceOptions = AS_STATED) -> set[str]:
    """Return the names of the splits in a file."""
    return splits_in(read_entries(any_path(path), replace(how, durations=None, save_fields=None)))


def read_entries(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    """Return the entries of a file, with durations from elsewhere where it states none; save the mapping of fields."""
    form, _ = recognise(path, how)
    entries = with_given_durations(path, form.read(path, how), how)
    if how.fields is not None and how.save_fields is not None:
        how.fields.save(how.save_fields)
    return entries


def with_given_durations(path: AnyPath, entries: list[ReferenceEntry], how: ReferenceOptions) -> list[ReferenceEntry]:
    """Return entries, those without a duration with that of the options; `path` names their source in messages."""
    without = without_duration(entries) if how.durations is not None else []
    if how.durations is not None and not without:
        how.durations([])  # a file that is given is read, so that a wrong one is refused
    if how.durations is None or not without:
        return entries
    durations = _spelled_as(without, how.durations(without), path)
    missing = [video_id for video_id in without if not durations.get(video_id, math.nan) > 0]
    if len(missing) == len(without):
        problem = f"got no duration of its {len(without):,} videos, such as {without[0]!r}"
        raise InputError(problem, path=path, hint="do --durations or --videos name them as the file does?")
    if missing:
        warn(f"{path}: {len(missing):,} of {len(without):,} videos have no duration, such as {missing[0]!r}")
    return with_durations(entries, durations)


def _spelled_as(video_ids: Sequence[str], durations: Mapping[str, float], path: AnyPath) -> Mapping[str, float]:
    """Return durations of videos that are named as the annotations name them."""
    meant = videos_meant(video_ids, durations)
    several = next((name for name, fitting in meant.items() if len(fitting) > 1), None)
    if several is not None:
        first, second = sorted(meant[several])[:2]
        problem = f"got durations of {first!r} and {second!r} for video {several!r}, expected one of them"
        raise InputError(problem, path=path)
    return {**durations, **{name: durations[fitting.pop()] for name, fitting in meant.items() if fitting}}


def recognise(path: AnyPath, how: ReferenceOptions = AS_STATED) -> tuple[ReferenceForm, str]:
    """Return the form of a file by its beginning, and why."""
    head = _beginning(path)
    if how.fields is not None:  # the user names the columns, so the file is a table
        form = parquet if head.data.startswith(b"PAR1") else objects if head.is_object or head.is_list else table
        return form.FORM, "as its fields are mapped"
    candidates = _recognised(head, REFERENCES.own) or _recognised(head, REFERENCES)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise InputError(
            f"looks like {' and like '.join(f'{form.name} ({why})' for form, why in candidates)}", path=path
        )
    columns = list(head.entry_keys) or headings(head)
    if (head.line.strip() == b"{}") or not head.data or head.line_keys & {"video_id", "sentence", "moments"}:
        return own.FORM, "it has lines of JSON"  # whose reader names what is missing
    from truemoment.data.formats import FORMATS  # noqa: PLC0415 - needed for a refusal only

    if not head.data.startswith(b"PAR1") and any(format_.recognise(head) for format_ in FORMATS.own.values()):
        hint = SWAPPED + " If it has references, --fields names their columns" * (len(columns) > 1)
        raise InputError("looks like predictions, expected references", path=path, hint=hint)
    if len(columns) > 1 and not head.data.startswith(b"<"):
        form = objects if head.is_object or head.is_list else table
        return form.FORM, "it has columns"  # whose reader names those that are missing
    raise InputError(
        f"looks like none of the forms of references {', '.join(REFERENCES)}",
        path=path,
        line=1,
        hint="columns of a table are named by --fields",
    )


def _beginning(path: AnyPath) -> Head:
    """Read the beginning of a file; refuse the name of a dataset with the word that names datasets."""
    try:
        return Head.read(path)
    except MissingFileError as error:
        from truemoment.data.datasets import DATASETS  # noqa: PLC0415 - needed for a refusal only

        if (name := spelled_alike(path.name, DATASETS)) is None:
            raise
        raise MissingFileError(f"{error}; a dataset is named by --dataset {name} (dataset={name!r})") from None


def _recognised(head: Head, forms: Mapping[str, ReferenceForm]) -> list[tuple[ReferenceForm, str]]:
    return [(form, why) for form in forms.values() if (why := form.recognise(head))]


def get_form(name: str) -> ReferenceForm:
    """Return a form that can be written, by name."""
    if name not in REFERENCES:
        raise UsageError(f"unknown form of references {name!r}, expected {one_of_known(name, REFERENCES)}")
    form = REFERENCES[name]
    if form.write is None:
        written = ", ".join(form.name for form in REFERENCES.values() if form.write is not None)
        raise UsageError(f"the form {name} is read only, expected one of {written}")
    return form


def write_annotations(path: str | AnyPath, annotations: Annotations, form: str = "own") -> tuple[str, ...]:
    """Write references in a form, complete or not at all; return what the form cannot represent, in words."""
    target = get_form(form)
    lost = losses(annotations, target)
    if "no moment" not in target.holds and annotations.without_moment.any():
        query_id = annotations.query_id[np.flatnonzero(annotations.without_moment)[0]]
        problem = f"form {form} cannot represent a query without a moment ({query_id!r})"
        raise InputError(problem, path=path, hint="write own, qvhighlights or csv")
    assert target.write is not None  # noqa: S101 - get_form refuses others
    target.write(any_path(path), annotations)
    return lost


def write_splits(path: str | AnyPath, splits: Iterable[Annotations]) -> None:
    """Write splits into one file in our own form; queries without a split belong to all."""
    parts = [replace(part, split="all") if part.split == NO_SPLIT else part for part in splits]
    own_file.write(any_path(path), parts)


def losses(annotations: Annotations, form: ReferenceForm) -> tuple[str, ...]:
    """Return what a form cannot represent of some annotations, in words."""
    queries = annotations.queries
    several = int((np.diff(annotations.offsets) > 1).sum())
    saliency = annotations.saliency
    present: tuple[tuple[Property, bool, str], ...] = (
        (
            "ids",
            queries.query_id.tolist() != numbered(queries.video_id),
            "query ids are lost: they become VIDEO#K",
        ),
        ("durations", bool((queries.duration_s > 0).any()), "durations are lost"),
        ("annotators", any(annotations.annotator), "annotators are lost"),
        ("ratings", saliency is not None, "ratings of clips are lost"),
        (
            "several moments",
            several > 0,
            f"{counted(several, 'query', 'queries')} with several moments: each moment becomes a query",
        ),
        ("split", annotations.split != "all", f"the name of the split is lost: {annotations.split}"),
    )
    return tuple(text for name, is_there, text in present if is_there and name not in form.holds)
