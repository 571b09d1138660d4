"""Kinds of results: each is recognised by the beginning of a file, or by the names in a folder.

A kind is one function from the beginning to the facts of its card, and a line in :data:`FILES` or :data:`FOLDERS`. The
formats of predictions and forms of references are those of the readers, also those of other packages.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from truemoment.base.boundary.files import BYTE_ORDER_MARK, UNREADABLE, decode_json, open_binary, read_bytes, read_json
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import TrueMomentError
from truemoment.data.formats import FORMATS
from truemoment.data.formats.head import Head
from truemoment.data.references import REFERENCES
from truemoment.report.words import counted
from truemoment.searching.layout import is_index, read_settings
from truemoment.searching.several_models import other_models
from truemoment.web.opening.documents import DOCUMENTS, document_facts, schema_of
from truemoment.web.opening.entries import Entry

HEAD_BYTES = 1 << 13
"""Bytes of a file by which its kind is recognised."""

MOST_DOCUMENT_BYTES = 32 << 20
"""Size of the largest document that is read whole."""

MOST_FACT = 120
"""Characters of a fact on a card."""

PICTURES = MappingProxyType({b"\x89PNG\r\n": "image/png", b"\xff\xd8\xff": "image/jpeg"})
"""Types of pictures by their first bytes."""

Opens = Literal["browse", "search", "item", ""]
"""Where the card of a kind leads: to a page of predictions or of an index, to its own page, or nowhere."""


@dataclass(frozen=True)
class Facts:
    """What the beginning of a result states.

    Parameters
    ----------
    kind
        Name of its kind: a key of :data:`TITLES`.
    lines
        Facts on its card.
    opens
        Where the card leads.
    hints
        Names by which results are put together: dataset, split, hashes, predictions.
    """

    kind: str
    lines: tuple[str, ...] = ()
    opens: Opens = "item"
    hints: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Beginning:
    """The first bytes of a file, unpacked."""

    entry: Entry
    data: bytes

    @functools.cached_property
    def head(self) -> Head:
        """The beginning as the readers of formats see it."""
        return Head(self.entry.path, self.data.removeprefix(BYTE_ORDER_MARK).lstrip())

    @property
    def is_text(self) -> bool:
        """Whether it may be a text."""
        return b"\0" not in self.data


TITLES = MappingProxyType(
    {
        "audit": "audits",
        "comparison": "comparisons",
        "leaderboard": "leaderboards",
        "report": "other reports",
        "predictions": "predictions",
        "annotations": "annotations",
        "run": "runs",
        "index": "indexes",
        "study": "studies",
        "page": "pages",
        "picture": "pictures",
        "other": "other files",
    }
)
"""Kinds, and what several results of each are called."""

OTHER = Facts("other", opens="")

PROGRAMS = frozenset({".ipynb", ".md", ".py", ".rst", ".sh", ".toml"})
"""Endings of programs and prose, which may quote lines of subtitles and other forms."""

TABLES = frozenset({"csv", "json"})
"""Formats of predictions whose columns are also those of annotations."""

OF_REFERENCES = frozenset({b"duration_s", b"duration", b"length", b"annotator", b"split"})
OF_PREDICTIONS = frozenset({b"score", b"confidence", b"conf"})
"""Columns that decide which of both a table is; a column that begins with ``pred_`` is of predictions, too."""


# ----------------------------------------------------------------------------------------------- files


def _page(beginning: Beginning) -> Facts | None:
    """Recognise a report page of TrueMoment by its generator."""
    if not re.match(rb"\s*<!DOCTYPE html>", beginning.data) or b'content="truemoment ' not in beginning.data[:4096]:
        return None
    title = re.search(rb"<title>([^<]{0,400})", beginning.data)
    return Facts("page", (fact(unescape(title[1].decode("utf-8", "replace"))),) if title else ())


def _document(beginning: Beginning) -> Facts | None:
    """Recognise a JSON document by its schema."""
    schema = schema_of(beginning.data)
    if schema is None:
        return None
    kind = DOCUMENTS.get(schema, "report")
    if beginning.entry.size > MOST_DOCUMENT_BYTES:
        return Facts("other", (f"a document of more than {MOST_DOCUMENT_BYTES >> 20} MB",), "")
    lines, hints = document_facts(schema, read_document(beginning.entry))
    return Facts(kind, tuple(map(fact, lines)), hints=hints)


def _picture(beginning: Beginning) -> Facts | None:
    """Recognise PNG, JPEG, and SVG that is its own file."""
    return Facts("picture") if picture_type(beginning.data) else None


def _predictions(beginning: Beginning) -> Facts | None:
    """Recognise a prediction file by the formats that audits read."""
    names = _recognised(beginning, FORMATS)
    if not names or (set(names) <= TABLES and _is_of_references(beginning)):
        return None
    header = _first_line(beginning) if names == ["native"] else {}
    made_by = header.get("made_by")
    texts = {name: header.get(name) for name in ("dataset", "split", "annotations_sha256")}
    hints = {name: value for name, value in texts.items() if isinstance(value, str)}
    data = [f"for {hints['dataset']}/{hints.get('split', '?')}"] if "dataset" in hints else []
    by = (
        [f"by {value}" for value in (made_by or {}).values() if isinstance(value, str)][:1]
        if isinstance(made_by, dict)
        else []
    )
    return Facts("predictions", tuple(map(fact, [*data, *by, f"format {' or '.join(names)}"])), "browse", hints)


def _is_of_references(beginning: Beginning) -> bool:
    """Whether a table, or the first object of a list, has columns of annotations and none of predictions."""
    data = beginning.head.data
    first = data.partition(b"}" if data[:1] in (b"[", b"{") else b"\n")[0]
    columns = set(re.findall(rb"\w+", first.lower()))
    is_predicted = any(column.startswith(b"pred_") for column in columns) or columns & OF_PREDICTIONS
    return bool(columns & OF_REFERENCES) and not is_predicted


def _references(beginning: Beginning) -> Facts | None:
    """Recognise annotations by the forms that are read as references."""
    names = _recognised(beginning, REFERENCES)
    return Facts("annotations", (fact(f"form {' or '.join(names)}"),)) if names else None


FILES: tuple[Callable[[Beginning], Facts | None], ...] = (_page, _document, _picture, _predictions, _references)
"""Recognisers of files, in their order."""


# --------------------------------------------------------------------------------------------- folders


def _index(entry: Entry) -> Facts | None:
    """Recognise an index of videos."""
    if "index.json" not in entry.inside or not is_index(entry.path):
        return None
    models = [read_settings(folder).model for folder in (entry.path, *other_models(entry.path))]
    n_videos = len((entry.path / "videos").folders()) if "videos" in entry.inside else 0
    return Facts("index", (counted(n_videos, "video"), *(fact(f"model {model}") for model in models)), "search")


def _run(entry: Entry) -> Facts | None:
    """Recognise a folder of a training run."""
    if "run.json" not in entry.inside:
        return None
    record = _small_json(entry, "run.json")
    recipe = record.get("recipe")
    model = recipe.get("model") if isinstance(recipe, dict) else None
    epochs = [int(name[6:]) for name in entry.inside if re.fullmatch(r"epoch-\d{1,9}", name)]
    state = "done" if "result.json" in entry.inside else f"epoch {max(epochs)}" if epochs else "begun"
    return Facts("run", tuple(map(fact, [*([f"model {model}"] if isinstance(model, str) else []), state])))


def _study(entry: Entry) -> Facts | None:
    """Recognise a study of ``annotate``, which has a site of its own."""
    if not {"study.json", "study.sqlite"} <= entry.inside:
        return None
    title = _small_json(entry, "study.json").get("title")
    return Facts("study", (fact(title),) if isinstance(title, str) else ())


FOLDERS: tuple[Callable[[Entry], Facts | None], ...] = (_index, _run, _study)
"""Recognisers of folders that are one result."""


def is_result_folder(names: Sequence[str]) -> bool:
    """Whether the names in a folder are those of one result, whose files are no results of their own."""
    known = set(names)
    return "run.json" in known or {"study.json", "study.sqlite"} <= known or {"index.json", "videos"} <= known


# ------------------------------------------------------------------------------------------ recognition


def recognise(entry: Entry) -> Facts:
    """Return the kind and the facts of an entry; what cannot be read or is nothing of ours is another file."""
    if entry.kind in ("link", "device"):
        return Facts(
            "other", (f"a {'link, not followed' if entry.kind == 'link' else 'pipe or device, not opened'}",), ""
        )
    if entry.kind == "file" and entry.path.suffix in PROGRAMS:
        return OTHER
    try:
        if entry.kind == "folder":
            return next((facts for look in FOLDERS if (facts := look(entry))), OTHER)
        beginning = read_beginning(entry)
        return next((facts for look in FILES if (facts := look(beginning))), OTHER)
    except (TrueMomentError, *UNREADABLE, ValueError, RecursionError) as error:
        return Facts("other", (fact(f"cannot be read: {_short(error)}"),), "")


def read_beginning(entry: Entry) -> Beginning:
    """Read the beginning of a file."""
    with open_binary(entry.path) as stream:
        return Beginning(entry, stream.read(HEAD_BYTES))


def read_document(entry: Entry) -> dict[str, Any]:
    """Read a JSON document whole."""
    return decode_json(read_bytes(entry.path, most=MOST_DOCUMENT_BYTES), dict[str, Any], path=entry.path)


def picture_type(data: bytes) -> str | None:
    """Return the type of a picture by its first bytes; None for no picture."""
    if re.match(rb"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE svg[^>]*>\s*)?<svg\b", data):
        return "image/svg+xml"
    return next((kind for start, kind in PICTURES.items() if data.startswith(start)), None)


def fact(text: str) -> str:
    """Return a text from outside as a fact of a card: one line, not too long."""
    line = " ".join(as_text(text).split())
    return line if len(line) <= MOST_FACT else f"{line[: MOST_FACT - 1]}…"


def _recognised(beginning: Beginning, known: Mapping[str, Any]) -> list[str]:
    """Return the names of the formats that a beginning looks like; our own go before those of other packages."""
    if not beginning.is_text and not beginning.data.startswith(b"PAR1"):
        return []
    own = getattr(known, "own", known)
    names = [name for name, form in own.items() if form.recognise(beginning.head)]
    return names or [name for name, form in known.items() if name not in own and form.recognise(beginning.head)]


def _first_line(beginning: Beginning) -> dict[str, Any]:
    """Return the JSON object on the first line; {} for none."""
    try:
        return msgspec.json.decode(beginning.head.line, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}


def _small_json(entry: Entry, name: str) -> dict[str, Any]:
    """Return a small JSON file in a folder."""
    return read_json(entry.path / name, dict[str, Any], most=1 << 20)


def _short(error: Exception) -> str:
    """Return the reason of an error, without the path that the card shows."""
    return getattr(error, "problem", "") or getattr(error, "strerror", "") or str(error)
