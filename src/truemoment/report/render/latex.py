"""Reports as LaTeX: sentences and booktabs tables for a paper; figures and folded blocks are left to the page."""

from __future__ import annotations

from truemoment.report.render.markup import Markup

LATEX = Markup(
    "latex", section=r"\section*{{{}}}", title=r"\subsection*{{{}}}", level=r"\paragraph{{{}}}", bold=r"\textbf{{{}}}"
)

lines = LATEX.lines
