"""How the pages are built: ``sphinx-build -W -q -j auto -b html docs docs/_build/html``. Nothing is ever fetched."""

from __future__ import annotations

import functools
import re
from types import SimpleNamespace
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.environment.adapters import toctree
from sphinx.util import logging

from truemoment import __version__

LONGEST_VALUE = 60
"""Longest value of a constant that is shown, in characters."""

project = "TrueMoment"
author = "The TrueMoment authors"
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc"]
nb_execution_mode = "off"  # tools/run_notebooks.py runs them, and a test does
exclude_patterns = ["_build", "api/_generated"]
highlight_language = "none"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_use_type_comments = False
# Types that have a name of their own in the source are written by that name.
ALIASES = (
    *("Bools", "Floats", "Ints", "Moments", "Strings"),
    *("Comparison", "Denominator", "Missing", "Needs", "Precision", "Ranking", "ReferenceRule", "Rounding", "Times"),
    *("OnNegative", "OnUnknown", "TableStyle"),
)
autodoc_type_aliases = {name: name for name in ALIASES}
autodoc_default_options = {"members": True, "ignore-module-all": True}
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
numpydoc_show_class_members = False
autosummary_generate = False  # numpydoc loads it, and no page has a summary
add_module_names = False

html_theme = "furo"
html_title = f"TrueMoment {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"

# Sphinx and numpydoc repeat what takes most of the build.
_environments: dict[type, SandboxedEnvironment] = {}  # numpydoc compiles its template anew for each docstring
docscrape_sphinx.SandboxedEnvironment = lambda loader: _environments.setdefault(
    type(loader), SandboxedEnvironment(loader=loader)
)
_find_obj, _toctree_standard_entry = PythonDomain.find_obj, toctree._toctree_standard_entry


@functools.cache
def namesakes(domain: PythonDomain) -> dict[str, dict[str, Any]]:
    """Return the thousands of objects by the last part of their names. All are known when the first is looked for."""
    by_last: dict[str, dict[str, Any]] = {}
    for name, entry in domain.objects.items():
        by_last.setdefault(name.rpartition(".")[2], {})[name] = entry
    return by_last


def find_obj(domain: PythonDomain, env: Any, module: str, of_class: str, name: str, *how: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - what Sphinx hands over
    """Look for a cross-reference among its namesakes, where Sphinx looks through all objects each time."""
    few = namesakes(domain).get(name.removesuffix("()").rpartition(".")[2])
    if few is None:
        return []
    among = SimpleNamespace(objects=few, object_types=domain.object_types, objtypes_for_role=domain.objtypes_for_role)
    return _find_obj(among, env, module, of_class, name, *how)


PythonDomain.find_obj = find_obj


@functools.cache
def titles(contents: nodes.bullet_list) -> nodes.bullet_list:
    """Return the title and the toctrees of a page's contents."""
    kept = contents.deepcopy()
    for entry in kept:
        if len(entry) > 1:
            below = list(entry[1].findall(addnodes.toctree))
            entry[1:] = [nodes.bullet_list("", *below)] if below else []
    return kept


def show_titles(title: str, page: str, depth: int, contents: nodes.bullet_list, *how: Any) -> tuple[nodes.Node, str]:  # noqa: ANN401 - what Sphinx hands over
    """Enter a page into the navigation, which shows titles only; Sphinx copies each page's contents for each page."""
    return _toctree_standard_entry(title, page, depth, titles(contents), *how)


toctree._toctree_standard_entry = show_titles


def show_formula(self: Any, node: nodes.Element) -> None:  # noqa: ANN401 - Sphinx's writer, which has no public type
    """Write a formula as MathML, which browsers show by themselves: no script, no network."""
    block = isinstance(node, nodes.math_block)
    try:
        formula = tex2mathml(node.astext(), as_block=block)
    except (MathError, AttributeError) as error:
        logging.getLogger(__name__).warning("cannot show %r (%s)", node.astext(), error, location=node)
        raise nodes.SkipNode from None
    self.body.append(f'<div class="formula">{formula}</div>' if block else formula)
    raise nodes.SkipNode


def trim(_app: Sphinx, doctree: nodes.document) -> None:
    """Drop what a page does not need: an example's last empty line (doctest needs it), and long values of constants."""
    for block in doctree.findall(nodes.literal_block):
        block.children[:] = [nodes.Text(block.astext().rstrip("\n"))]
        block.rawsource = block.astext()
    for text in list(doctree.findall(addnodes.desc_annotation)):
        if text.astext().startswith(" = ") and len(text.astext()) > LONGEST_VALUE:
            text.parent.remove(text)


def prepare_docstring(_app: Sphinx, what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Make of a module's docstring what reStructuredText understands.

    Its section "References" becomes a caption, since sections of several modules on one page must not share a name.
    """
    for number, line in enumerate(lines):
        if what == "module" and line == "References" and lines[number + 1].startswith("---"):
            lines[number : number + 2] = [".. rubric:: References", ""]


def prepare_signature(*event: Any) -> tuple[str | None, str | None]:  # noqa: ANN401 - what Sphinx hands over, seven values
    """Write named types as their names, also in a union, and a default that is made anew as dots."""
    arguments, result = event[-2:]
    arguments, result = (
        text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (arguments, result)
    )
    return arguments and arguments.replace("<factory>", "..."), result


def setup(app: Sphinx) -> None:
    """Tell Sphinx of the functions above."""
    app.connect("autodoc-process-docstring", prepare_docstring)
    app.connect("autodoc-process-signature", prepare_signature)
    app.add_html_math_renderer("mathml", inline_renderers=(show_formula, None), block_renderers=(show_formula, None))
    app.connect("doctree-read", trim)
