"""How a report is shown: in the terminal, as Markdown, as LaTeX, and as a page."""
