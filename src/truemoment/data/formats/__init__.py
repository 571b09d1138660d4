"""Reading and writing predictions.

``read_predictions(path, annotations)`` recognises the format, reads the file and matches its rows to queries;
``write_predictions`` writes native or other formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from truemoment.base.boundary.own_path import AnyPath, any_path
from truemoment.base.errors import InputError, UsageError
from truemoment.base.known_names import SWAPPED, one_of_known
from truemoment.base.records import Annotations, Predictions
from truemoment.base.registry import Registry
from truemoment.base.rules import OnNegative, OnUnknown
from truemoment.data.answers.reading import Reading
from truemoment.data.axes import SECONDS, Axis
from truemoment.data.fields import FieldMap
from truemoment.data.formats import (
    activitynet_challenge,
    cone,
    ego4d_nlq,
    et_bench,
    fiftyone,
    lmms_eval,
    moment_detr,
    momentseeker,
    native,
    next_gqa,
    objects,
    parquet,
    plain_answers,
    results_by_video,
    table,
    time_r1,
    timechat,
    timelens,
    tvr,
    unitime,
    videomind,
    vlmevalkit,
    vtimellm,
)
from truemoment.data.formats.base import AnswerRows, Format, Parsing, PredictionRows, checked_times, refuse_loss
from truemoment.data.formats.head import ITEM, Head, outline
from truemoment.data.formats.matching import MatchReport, match
from truemoment.data.formats.naming import as_annotated

__all__ = [
    "FORMATS",
    "Format",
    "MatchReport",
    "Parsing",
    "PredictionRows",
    "Reader",
    "Reading",
    "match",
    "match_rows",
    "read_predictions",
    "read_rows",
    "write_predictions",
    "write_rows",
]

MODULES = (
    native,
    moment_detr,
    results_by_video,
    table,
    objects,
    parquet,
    unitime,
    cone,
    ego4d_nlq,
    tvr,
    videomind,
    time_r1,
    timechat,
    timelens,
    lmms_eval,
    vlmevalkit,
    vtimellm,
    next_gqa,
    et_bench,
    momentseeker,
    plain_answers,
    activitynet_challenge,
    fiftyone,
)
FORMATS = Registry[Format]("formats", {module.FORMAT.name: module.FORMAT for module in MODULES}, Format)
"""Every format by name."""

MOST_STATED = 80
"""Characters of a statement of a file that are shown."""
MOST_SHOWN = 8


def get_format(name: str) -> Format:
    """Return a format by name."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}, expected {one_of_known(name, FORMATS)}")
    return FORMATS[name]


def sniff(path: AnyPath) -> tuple[Format, str]:
    """Return a file's format by its beginning, and why."""
    head = Head.read(path)
    if not head.data:
        raise InputError("is empty, expected predictions", path=path)
    candidates = _recognised(head, FORMATS.own) or _recognised(head, FORMATS)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise InputError(
            f"looks like {' and like '.join(f'{f.name} ({why})' for f, why in candidates)}",
            path=path,
            hint="name it with --format",
        )
    if path.suffix.lower() in (".csv", ".tsv") and table.lacks_headings(head):  # whose error names them
        return table.FORMAT, f"its name ends in {path.suffix}"
    hint = "name it with --format" + f", or its columns with {objects.OPTION}" * bool(head.entry_keys)
    from truemoment.data.references import REFERENCES  # noqa: PLC0415 - needed for a refusal only

    forms = REFERENCES.own.items() if head.is_object or head.is_list else ()
    form = next((name for name, form in forms if form.recognise(head)), None)
    if form is not None:
        problem = f"looks like references ({form}), expected predictions"
        raise InputError(problem, path=path, line=1, hint=f"{SWAPPED} If it has predictions, {hint}")
    raise InputError(unknown(head, FORMATS), path=path, line=1, hint=hint)


def _recognised(head: Head, formats: Mapping[str, Format]) -> list[tuple[Format, str]]:
    return [(format_, why) for format_ in formats.values() if (why := format_.recognise(head))]


def read_rows(
    path: str | AnyPath,
    format: str | None = None,  # noqa: A002 - the CLI's word
    *,
    reading: Reading | None = None,
    fields: FieldMap | None = None,
    progress: bool = False,
) -> tuple[PredictionRows, str]:
    """Read a file's rows without matching them; also return how the format was recognised.

    Parameters
    ----------
    path
        The file; a name ending in ``.gz`` is unpacked on the way (not for Parquet).
    format
        Name of the format. Default: recognised from the file.
    reading
        How answers in words are read, and the axis of numbers. None: as the file states, else seconds.
    fields
        Columns of a table, of a list of objects or of Parquet, as the user maps them; such a file has no format.
    progress
        Show progress on standard error while a large file is read.
    """
    path = any_path(path)
    if fields is not None:
        if format is not None:
            raise UsageError(f"got --format {format} and {fields.option}, expected one of them")
        head = Head.read(path)
        of_text = objects.FORMAT if head.is_object or head.is_list else table.FORMAT
        format_ = parquet.FORMAT if head.data.startswith(b"PAR1") else of_text
        why = "as its fields are mapped"
        read = objects.mapped_reader(fields)
    elif format is None:
        format_, why = sniff(path)
        read = format_.read
    else:
        format_, why = get_format(format), "as asked"
        read = format_.read
        Head.read(path)  # a file that is not text gets its own message
    rows = replace(read(path, progress), format=format_.name)
    why += rows.note
    if isinstance(rows, AnswerRows):
        from truemoment.data.formats.parsed_answers import parse_rows, reading_of  # noqa: PLC0415 - its patterns take time

        stated = reading_of(rows)
        note = f"; read as its first line states ({stated})" if reading is None and stated is not None else ""
        return parse_rows(rows, reading or stated or Reading(), progress=progress), why + note
    axis = (reading or Reading()).on
    if rows.counts_frames:
        return replace(rows, axis=_frame_rate(rows, axis), counts_frames=False), why
    if rows.axis is not None and axis not in (SECONDS, rows.axis):
        raise UsageError(f"{path}: {rows.format} states the axis {rows.axis}, got --axis {axis}")
    return replace(rows, axis=rows.axis or axis), why


def _frame_rate(rows: PredictionRows, axis: Axis) -> Axis:
    """Return the axis that frame numbers are on, which must be given."""
    if axis.kind != "fps":
        raise InputError(
            f"has frame numbers without a frame rate, got --axis {axis}",
            path=rows.path,
            hint="give the rate with --axis fps=F",
        )
    return axis


def read_predictions(
    path: str | AnyPath,
    annotations: Annotations,
    *,
    format: str | None = None,  # noqa: A002 - the CLI's word
    reading: Reading | None = None,
    fields: FieldMap | None = None,
    on_unknown: OnUnknown = "refuse",
    on_negative: OnNegative = "refuse",
    name: str | None = None,
    progress: bool = False,
) -> tuple[Predictions, MatchReport]:
    """Read a prediction file and match its rows to the queries of the annotations.

    Parameters
    ----------
    path, format, reading, fields, progress
        See :func:`read_rows`.
    annotations
        Annotations of the queries.
    on_unknown, on_negative, name
        See :func:`truemoment.data.formats.matching.match`.

    Raises
    ------
    MissingFileError, InputError, MatchError, UsageError
        In one line: file, line, field, what was found, what was expected.
    """
    rows, why = read_rows(path, format, reading=reading, fields=fields, progress=progress)
    return match_rows(rows, why, annotations, on_unknown=on_unknown, on_negative=on_negative, name=name)


class Reader(Protocol):
    """Reads a prediction file, as :func:`read_predictions` does by default."""

    def __call__(
        self,
        path: Any,  # noqa: ANN401 - or a value that has predictions
        annotations: Annotations,
        /,
        *,
        progress: bool,
    ) -> tuple[Predictions, MatchReport]:
        """Return the predictions, and how the rows matched the queries."""
        ...


def match_rows(
    rows: PredictionRows,
    why: str,
    annotations: Annotations,
    *,
    on_unknown: OnUnknown = "refuse",
    on_negative: OnNegative = "refuse",
    name: str | None = None,
) -> tuple[Predictions, MatchReport]:
    """Match rows of :func:`read_rows` to the queries of the annotations: :func:`.matching.match`."""
    made_for = _check_header(rows, annotations, on_unknown)
    rows, note = as_annotated(rows, get_format(rows.format), annotations.queries)
    recognised = why + made_for + note
    answers, report = match(
        rows, annotations, recognised=recognised, on_unknown=on_unknown, on_negative=on_negative, name=name
    )
    made_by = rows.header.get("made_by")
    stated = made_by if isinstance(made_by, dict) else {}
    notes, windows = stated.get("notes"), stated.get("windows")
    texts = [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []
    return answers, replace(
        report,
        notes=tuple(" ".join(note.split()) for note in texts),
        windows=" ".join(windows.split())[:MOST_STATED] if isinstance(windows, str) else "",
    )


def _check_header(rows: PredictionRows, annotations: Annotations, on_unknown: OnUnknown) -> str:
    """Refuse a file made for other annotations, or return a note on it where rows may be of other queries."""
    stated = rows.header.get("annotations_sha256")
    if stated is None or stated == annotations.sha256:
        return ""
    made_for = f"{rows.header.get('dataset', '?')}/{rows.header.get('split', '?')}"
    if on_unknown == "ignore":
        return f", made for {made_for}"
    raise InputError(
        f"was made for annotations {str(stated)[:8]} ({made_for}), these are {annotations.sha256[:8]} "
        f"({annotations.dataset}/{annotations.split})",
        path=rows.path,
        field="annotations_sha256",
        hint="evaluate on those, or take the rows whose ids are known (--on-unknown ignore)",
    )


def write_rows(
    path: str | AnyPath,
    rows: PredictionRows,
    *,
    format: str = "native",  # noqa: A002 - the CLI's word
    on_negative: OnNegative = "refuse",
) -> None:
    """Write rows in a format, complete or not at all; negative times are refused or clipped to 0."""
    target = get_format(format)
    if target.write is None:
        raise UsageError(f"format {format} is read only")
    if any_path(path).suffix.lower() == ".gz":
        raise UsageError(f"{path}: files are written unpacked, expected a name without .gz")
    start, end = checked_times(rows, on_negative=on_negative)
    refuse_loss(rows, target, any_path(path))
    target.write(any_path(path), replace(rows, start=start, end=end, axis=SECONDS))


def write_predictions(
    path: str | AnyPath,
    predictions: Predictions,
    annotations: Annotations,
    *,
    format: str = "native",  # noqa: A002 - the CLI's word
    made_by: Mapping[str, object] | None = None,
) -> None:
    """Write predictions, complete or not at all.

    Parameters
    ----------
    path, predictions
        File, and predictions to write.
    annotations
        Source of ids, videos and sentences.
    format
        Name of the format.
    made_by
        How the predictions were made, for the first line of native files.

    Raises
    ------
    UsageError
        If there is no such format, or it is read only.
    InputError
        If the format cannot represent these predictions, or the file cannot be made.
    MissingPackageError
        If the format needs a package that is not installed.
    """
    queries = annotations.queries
    stranger = next((query_id for query_id in predictions.query_id if query_id not in queries.index), None)
    if stranger is not None:
        raise InputError(f"predictions answer query {stranger!r}, which is not in the annotations", path=path)
    row = [queries.index[query_id] for query_id in predictions.query_id]
    header: dict[str, object] = {
        "dataset": annotations.dataset,
        "split": annotations.split,
        "annotations_sha256": annotations.sha256,
    }
    if made_by is not None:
        header["made_by"] = dict(made_by)
    rows = PredictionRows(
        any_path(path),
        None,
        predictions.query_id.tolist(),
        queries.video_id[row].tolist(),
        queries.sentence[row].tolist(),
        predictions.offsets,
        predictions.start_s,
        predictions.end_s,
        predictions.score,
        predictions.scored,
        saliency_offsets=predictions.saliency_offsets,
        saliency=predictions.saliency,
        status=None if predictions.status is None else predictions.status.tolist(),
        header=header,
        format=format,
    )
    write_rows(path, rows, format=format)


def unknown(head: Head, formats: Mapping[str, Format]) -> str:
    """Return in words what a file that is no known format looks most like."""
    if not (head.is_object or head.is_list):
        return f"looks like none of the formats {', '.join(formats)}"
    paths = outline(head.line.strip()) if head.line.strip().endswith(b"}") else head.outline
    keys = list(dict.fromkeys(path[-1] for path in paths if path[-1] != ITEM))  # of the first objects, each once
    best = max(
        formats.values(),
        key=lambda form: len(form.needs & set(keys)) / len(form.needs | set(keys)) if form.needs else 0.0,
    )
    shown = ", ".join(f'"{key[:40]}"' for key in keys[:MOST_SHOWN]) + (", ..." if len(keys) > MOST_SHOWN else "")
    has = f"has the keys {shown}" if keys else "is JSON without keys"
    if not best.needs & set(keys):
        return f"{has}, which no format of predictions has; expected for example {formats['native'].summary}"
    missing = ", ".join(f'"{key}"' for key in sorted(best.needs - set(keys)))
    what = f"{missing} is missing" if missing else f"has its keys in another layout, expected {best.summary}"
    return f"looks most like {best.name}: {what} ({has})"
