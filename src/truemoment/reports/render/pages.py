"""What pages are made of: cells and tables, and the templates that lay them out.

Every page is one HTML file that needs no network and no scripts. What is said stands in the module of its page, how it
looks in ``templates``: ``base.html.j2`` is the frame and the style of all, ``parts.html.j2`` has tables and figures.
Whatever comes from outside is escaped there and stands in elements of its own direction.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.reports.drawing import COLOURS
from truemoment.text import one_line
from truemoment.version import __version__ as version

TEMPLATES = Path(__file__).parent / "templates"


def render_page(template: str, **words: Any) -> str:  # noqa: ANN401 - a template takes whatever it names
    """Fill a template with words, tables and figures; the versions and colours of all pages are added."""
    import jinja2  # noqa: PLC0415 - importing takes time that only pages need spend

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["one_line"] = one_line
    environment.filters["prose"] = prose
    return environment.get_template(template).render(
        colours=COLOURS,
        version=version,
        versions=f"truemoment {version}, numpy {np.__version__}, python {platform.python_version()}",
        **words,
    )


def prose(text: str) -> str:
    """Write a sentence so that no line ends between a number and its sign."""
    return one_line(text).replace(" %", "\u00a0%").replace(" = ", "\u00a0=\u00a0").replace(" > ", "\u00a0>\u00a0")
