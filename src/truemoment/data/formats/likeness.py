"""Which format an unknown JSON file looks most like, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping

from truemoment.data.formats.base import Format
from truemoment.data.formats.head import ITEM, Head, outline

MOST_SHOWN = 8


def unknown(head: Head, formats: Mapping[str, Format]) -> str:
    """Return in words what a file that is no known format looks most like."""
    if not (head.is_object or head.is_list):
        return f"looks like none of the formats {', '.join(formats)}"
    keys = _keys(head)
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


def _keys(head: Head) -> list[str]:
    """Return the keys of the first objects of a file, each once, in order, without names of videos and queries."""
    paths = outline(head.line.strip()) if head.line.strip().endswith(b"}") else head.outline
    return list(dict.fromkeys(path[-1] for path in paths if path[-1] != ITEM))
