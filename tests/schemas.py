"""Schemas of the JSON documents: every document that a test makes, and every answer of a page, is held to its own.

The schemas in ``golden/schemas/`` are made from documents: ``TRUEMOMENT_DOCUMENTS=FOLDER pytest`` keeps those of all
tests in a folder, and ``python tools/record_schemas.py FOLDER`` makes the schemas of them.
"""

import functools
import hashlib
import json
import os
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).parent / "golden" / "schemas"
KEPT = "TRUEMOMENT_DOCUMENTS"
"""The environment variable that names the folder in which documents are kept."""


def path_of(kind):
    """Return the file of the schema of a kind of document, as ``truemoment/audit/2``."""
    return SCHEMAS / f"{kind.removeprefix('truemoment/').replace('/', '-').replace(' ', '-')}.json"


@functools.cache
def _validator(kind):
    path = path_of(kind)
    return jsonschema.Draft202012Validator(json.loads(path.read_text("utf-8"))) if path.is_file() else None


def kind_of(document):
    """Return the kind that a document says it is; "" for one without."""
    kind = document.get("schema") if isinstance(document, dict) else None
    return kind if isinstance(kind, str) else ""


def kind_of_page(handler, request):
    """Return the kind of what a page of ours answers: its part of the package, method and path without values."""
    if not handler.__module__.startswith("truemoment."):
        return ""
    names = {str(value): f"{{{name}}}" for name, value in request.path_params.items()}
    own = request.url.path.removeprefix(request.scope.get("root_path", ""))  # of a page that another one contains
    parts = [names.get(part, part) for part in own.strip("/").split("/")]
    return f"{handler.__module__.split('.')[-2]} {request.method} {' '.join(parts)}"


def fault_of(kind, document):
    """Return what is wrong with a document, in words; "" for nothing, and for one that has no kind."""
    if not kind:
        return ""
    if folder := os.environ.get(KEPT):
        text = json.dumps(document)
        path = Path(folder) / path_of(kind).stem / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return ""
    validator = _validator(kind)
    if validator is None:
        return f"{kind}: has no schema (tools/record_schemas.py)"
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    return "" if error is None else f"{kind}: {error.json_path}: {error.message[:300]}"
