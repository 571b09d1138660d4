"""A paper, as text and as BibTeX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Paper:
    """A publication, or software.

    Parameters
    ----------
    key
        BibTeX key: family name of the first author, year, a word of the title.
    authors
        Names as ``Family, Given``; without a comma, the name of a group.
    title
        Title in the capitals of the paper.
    venue
        Conference or journal; empty for software.
    year
        Year of publication; None if there is none.
    kind
        Type of the BibTeX entry.
    details
        Further fields of the entry: ``doi``, ``volume``, ``version`` ...

    Examples
    --------
    >>> paper = Paper("doe2020doors", ("Doe, Jane", "Roe, Ann"), "Doors", "ICCV", 2020)
    >>> paper.text()
    'Jane Doe and Ann Roe. Doors. ICCV, 2020.'
    >>> print(paper.bibtex())
    @inproceedings{doe2020doors,
      author    = {Doe, Jane and Roe, Ann},
      title     = {{Doors}},
      booktitle = {ICCV},
      year      = {2020}
    }
    """

    key: str
    authors: tuple[str, ...]
    title: str
    venue: str
    year: int | None
    kind: Literal["inproceedings", "article", "misc"] = "inproceedings"
    details: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """Return authors, title, venue and year in one line."""
        names = [" ".join(reversed(name.split(", "))) for name in self.authors]
        authors = " and ".join(name for name in (", ".join(names[:-1]), names[-1]) if name)
        details = dict(self.details)
        numbers = details.get("volume", "") + (f"({details['number']})" if "number" in details else "")
        place = " ".join(part for part in (self.venue, numbers) if part)
        year = "" if self.year is None else str(self.year)
        version = f"Version {details['version']}" if "version" in details else ""
        parts = [authors, self.title, ", ".join(part for part in (place, version, year) if part)]
        text = ". ".join(parts) + "."
        return f"{text} doi:{details['doi']}" if "doi" in details else text

    def bibtex(self) -> str:
        """Return the entry of a BibTeX file, UTF-8; braces keep the capitals of the title."""
        venue = {"inproceedings": "booktitle", "article": "journal", "misc": "howpublished"}[self.kind]
        authors = " and ".join(name if ", " in name else f"{{{name}}}" for name in self.authors)
        year = "" if self.year is None else str(self.year)
        fields = [("author", authors), ("title", f"{{{self.title}}}"), (venue, self.venue), ("year", year)]
        entries = [(name, value) for name, value in (*fields, *self.details) if value]
        width = max(len(name) for name, _ in entries)
        lines = ",\n".join(f"  {name:<{width}} = {{{value}}}" for name, value in entries)
        return f"@{self.kind}{{{self.key},\n{lines}\n}}"
