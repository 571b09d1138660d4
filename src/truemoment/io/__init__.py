"""Predictions in and out.

``read_predictions(path, annotations)`` recognises the format, reads the whole file or refuses it in one
line, and matches its rows to queries; ``write_predictions`` writes natively or in a format that can
hold them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from truemoment.exceptions import InputError, MissingFileError, UsageError
from truemoment.files import BYTE_ORDER_MARK, UNREADABLE, open_binary
from truemoment.io import moment_detr, native, parquet, results_by_video, table
from truemoment.io.base import Format, OnNegative, PredictionRows
from truemoment.io.matching import MatchReport, OnUnknown, match
from truemoment.records import Annotations, Predictions

__all__ = [
    "FORMATS",
    "Format",
    "MatchReport",
    "PredictionRows",
    "match",
    "read_predictions",
    "read_rows",
    "write_predictions",
]

FORMATS: Mapping[str, Format] = MappingProxyType(
    {module.FORMAT.name: module.FORMAT for module in (native, moment_detr, results_by_video, table, parquet)}
)
"""Every format by name."""

HEAD_BYTES = 1 << 16
_PICKLE = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def get_format(name: str) -> Format:
    """Return a format by name.

    Raises
    ------
    UsageError
        Naming the formats there are.
    """
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}, expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


def sniff(path: Path) -> tuple[Format, str]:
    """Recognise a file's format by its beginning; also say why.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InputError
        If it cannot be read, or no format, or more than one, fits.
    """
    if path.is_dir():
        raise InputError("is a folder, expected a file", path=path)
    try:
        with open_binary(path) as stream:
            head = stream.read(HEAD_BYTES).removeprefix(BYTE_ORDER_MARK)
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file") from None
    except UNREADABLE as error:
        raise InputError(f"cannot be read ({error})", path=path) from None
    if not head.strip():
        raise InputError("is empty, expected predictions", path=path)
    if head.startswith(_PICKLE):
        raise InputError(
            "is a pickle, which can run code when loaded, and is not read", path=path, hint="write it as JSON Lines"
        )
    if head.startswith(b"\x1f\x8b"):
        raise InputError("is packed by gzip, expected a name that ends in .gz", path=path, hint="rename it")
    found = [(format_, why) for format_ in FORMATS.values() if (why := format_.recognise(path, head))]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            f"looks like {' and like '.join(f'{f.name} ({why})' for f, why in found)}",
            path=path,
            hint="say which with --format",
        )
    raise InputError(
        f"looks like none of the formats {', '.join(FORMATS)}", path=path, line=1, hint="say which with --format"
    )


def read_rows(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - the CLI's word
    *,
    progress: bool = False,
) -> tuple[PredictionRows, str]:
    """Read a file's rows without matching them; also say why the format was taken.

    Parameters
    ----------
    path
        The file; a name ending in ``.gz`` is unpacked on the way (not for Parquet).
    format
        A format's name; recognised from the file by default.
    progress
        Show progress on standard error while a large file is read.

    Raises
    ------
    MissingFileError, InputError, UsageError
        If there is no such file, it is not as it must be, or there is no such format.
    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError("is a pipe or device, which can be read only once", path=path, hint="write it to a file first")
    if format is None:
        chosen, why = sniff(path)
    else:
        chosen, why = get_format(format), "as asked"
    return chosen.read(path, progress), why


def read_predictions(
    path: str | Path,
    annotations: Annotations,
    *,
    format: str | None = None,  # noqa: A002 - the CLI's word
    on_unknown: OnUnknown = "refuse",
    on_negative: OnNegative = "refuse",
    name: str | None = None,
    progress: bool = False,
) -> tuple[Predictions, MatchReport]:
    """Read a prediction file and match its rows to the queries of the annotations.

    Parameters
    ----------
    path, format, progress
        See :func:`read_rows`.
    annotations
        Whose queries are answered.
    on_unknown, on_negative, name
        See :func:`truemoment.io.matching.match`.

    Raises
    ------
    MissingFileError, InputError, MatchError, UsageError
        In one line: file, line, field, what came, what was expected.
    """
    rows, why = read_rows(path, format, progress=progress)
    _check_header(rows, annotations)
    return match(rows, annotations, recognised=why, on_unknown=on_unknown, on_negative=on_negative, name=name)


def _check_header(rows: PredictionRows, annotations: Annotations) -> None:
    """Refuse a file that says it was made for other annotations."""
    said = rows.header.get("annotations_sha256")
    if said is not None and said != annotations.sha256:
        made_for = f"{rows.header.get('dataset', '?')}/{rows.header.get('split', '?')}"
        raise InputError(
            f"was made for annotations {str(said)[:8]} ({made_for}), these are {annotations.sha256[:8]} "
            f"({annotations.dataset}/{annotations.split})",
            path=rows.path,
            field="annotations_sha256",
            hint="evaluate on those, or remove what the file says of itself to have its rows matched by id",
        )


def write_predictions(
    path: str | Path,
    predictions: Predictions,
    annotations: Annotations,
    *,
    format: str = "native",  # noqa: A002 - the CLI's word
) -> None:
    """Write predictions, complete or not at all.

    Raises
    ------
    UsageError
        If there is no such format, or it cannot be written.
    InputError
        If the format cannot hold these predictions, or the file cannot be made.
    MissingPackageError
        If the format needs a package that is not installed.
    """
    chosen = get_format(format)
    if chosen.write is None:
        raise UsageError(f"format {format} is read only")
    if predictions.saliency is not None:
        raise InputError(f"format {format} cannot hold clip ratings", path=path)
    known = annotations.queries.index
    stranger = next((query_id for query_id in predictions.query_id if query_id not in known), None)
    if stranger is not None:
        raise InputError(f"predictions answer query {stranger!r}, which the annotations lack", path=path)
    chosen.write(Path(path), predictions, annotations)
