"""Templates of pages: those that all pages share, and those of a page's own folder."""

from __future__ import annotations

from pathlib import Path

from truemoment.base.version import __version__ as version
from truemoment.report.render.html import page_environment

SHARED = Path(__file__).parent / "templates"


class PageTemplates:
    """Templates of a page; text from outside is escaped, and what would hide in it is written as an escape.

    Parameters
    ----------
    *folders
        Folders of the page's own templates, looked at before the shared ones.
    """

    def __init__(self, *folders: Path) -> None:
        self._environment = page_environment(*folders, SHARED)
        self._environment.globals["version"] = version

    def render(self, name: str, **values: object) -> str:
        """Return a template, filled."""
        return self._environment.get_template(name).render(**values)
