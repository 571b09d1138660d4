"""Renderers of a report: terminal, Markdown, LaTeX, and HTML page."""
