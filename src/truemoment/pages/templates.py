"""Templates of pages: those that all pages share, and those of a page's own folder."""

from __future__ import annotations

from pathlib import Path

import jinja2

from truemoment.text import one_line
from truemoment.version import __version__ as version

SHARED = Path(__file__).parent / "templates"


class PageTemplates:
    """Templates of a page; text from outside is escaped.

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
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["one_line"] = one_line
        self._environment.globals["version"] = version

    def render(self, name: str, **values: object) -> str:
        """Return a template, filled."""
        return self._environment.get_template(name).render(**values)
