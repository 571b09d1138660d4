"""Base class of results of the API: a result prints its report, shows it in a notebook, and returns its figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from truemoment.base.boundary.documents import json_text
from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.own_path import AnyPath, any_path
from truemoment.base.boundary.text import printable
from truemoment.base.errors import MissingPackageError, UsageError
from truemoment.report.model import Report
from truemoment.report.render import latex, markdown, terminal

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Result(ABC):
    """A result that reports itself.

    ``print(result)`` shows what the command line prints, a notebook shows the report with its figures,
    ``result.save("report.html")`` writes the page, and :meth:`to_pandas` returns the main figures as numbers.
    """

    @abstractmethod
    def report(self) -> Report:
        """Return the report for people."""

    @abstractmethod
    def document(self) -> Mapping[str, Any]:
        """Return the document for programs, as the option ``--json`` writes it."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the main figures, a dict a row: fractions and counts, None where undefined."""

    @abstractmethod
    def __repr__(self) -> str:
        """Return what it is, in one line."""

    def __str__(self) -> str:
        """Return the report as the terminal shows it."""
        report = self.report()
        return "\n".join([*terminal.body(report), "", *terminal.closing(report)])

    def _repr_html_(self) -> str:
        from truemoment.report.render import html  # noqa: PLC0415 - only pages need it, and it loads contourpy

        return html.fragment(self.report())

    def save(self, path: AnyPath | str) -> None:
        """Write the result to a file, by the ending of its name, complete or not at all.

        ``.html`` is the page of the report, ``.json`` the document, ``.md`` and ``.tex`` the tables.
        """
        texts: dict[str, Callable[[], str]] = {
            ".html": self.to_html,
            ".json": lambda: json_text(self.document()),
            ".md": lambda: "\n".join(markdown.lines(self.report())) + "\n",
            ".tex": lambda: "\n".join(latex.lines(self.report())) + "\n",
        }
        file = any_path(path)
        if (text := texts.get(file.suffix.lower())) is None:
            raise UsageError(f"save: got {printable(str(path))}, expected a name that ends in {', '.join(texts)}")
        write_text(file, text())

    def to_json(self) -> str:
        """Return the document as JSON text."""
        return json_text(self.document()).rstrip("\n")

    def to_html(self) -> str:
        """Return the page of the report: one HTML file that needs no network."""
        from truemoment.report.render import html  # noqa: PLC0415 - only pages need it, and it loads contourpy

        return html.page(self.report())

    def table(self) -> dict[str, list[Any]]:
        """Return the main figures as columns of equal length, by name."""
        rows = self.rows()
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}

    def to_pandas(self) -> pd.DataFrame:
        """Return the main figures as a pandas data frame; pandas has to be installed."""
        try:
            import pandas as pd  # noqa: PLC0415 - an optional package
        except ModuleNotFoundError:
            raise MissingPackageError("pandas", "tables", "to_pandas()") from None
        return pd.DataFrame(self.table())

    def to_polars(self) -> pl.DataFrame:
        """Return the main figures as a polars data frame; polars has to be installed."""
        try:
            import polars as pl  # noqa: PLC0415 - an optional package
        except ModuleNotFoundError:
            raise MissingPackageError("polars", "tables", "to_polars()") from None
        return pl.DataFrame(self.table())
