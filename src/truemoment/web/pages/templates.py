"""Templates of pages: those that all pages share, and those of a page's own folder."""

from __future__ import annotations

from pathlib import Path

import jinja2

from truemoment.base.boundary.text import one_line, printable_lines
from truemoment.base.version import __version__ as version

SHARED = Path(__file__).parent / "templates"


class PageTemplates:
    """Templates of a page; text from outside is escaped, and what would hide in it is written as an escape.

    Parameters
    ----------
    *folders
        Folders of the page's own templates, looked at before the shared ones.
    """

    def __init__(self, *folders: Path) -> None:
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader([*folders, SHARED]),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            finalize=_shown,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["one_line"] = one_line
        self._environment.globals["version"] = version

    def render(self, name: str, **values: object) -> str:
        """Return a template, filled."""
        return self._environment.get_template(name).render(**values)


def _shown(value: object) -> object:
    if isinstance(value, str):
        return type(value)(printable_lines(value))  # Markup stays Markup
    return value
