"""How the pages are built: ``sphinx-build -W -q -b html docs docs/_build/html``. Nothing is fetched, then or later."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

from truemoment import __version__

project = "TrueMoment"
author = "The TrueMoment authors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build", "api/_generated"]
highlight_language = "none"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: name
    for name in (
        "Bools Comparison Denominator Floats Format HitRule Ints Missing Needs OnNegative OnUnknown Precision Ranking "
        "ReferenceRule Rounding Statistic Strings TableStyle Times"
    ).split()
}
autodoc_default_options = {"members": True, "ignore-module-all": True, "show-inheritance": False}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
numpydoc_show_class_members = False
add_module_names = False

html_theme = "furo"
html_title = f"TrueMoment {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"


def show_formula(self: Any, node: nodes.Element) -> None:  # noqa: ANN401 - Sphinx's writer, which has no public type
    """Write a formula as MathML, which browsers show by themselves: no script, no network."""
    block = isinstance(node, nodes.math_block)
    formula = tex2mathml(node.astext(), as_block=block)
    self.body.append(f'<div class="formula">{formula}</div>' if block else formula)
    raise nodes.SkipNode


def trim_examples(_app: Sphinx, doctree: nodes.document) -> None:
    """Drop the empty line at the end of an example, which doctest needs and a reader does not."""
    for block in doctree.findall(nodes.literal_block):
        block.children[:] = [nodes.Text(block.astext().rstrip("\n"))]
        block.rawsource = block.astext()


def setup(app: Sphinx) -> None:
    """Tell Sphinx of the two functions above."""
    app.add_html_math_renderer("mathml", inline_renderers=(show_formula, None), block_renderers=(show_formula, None))
    app.connect("doctree-read", trim_examples)
