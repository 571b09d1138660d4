"""``truemoment.cite``: the references of what a report used."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from truemoment.base.boundary.documents import as_json
from truemoment.base.boundary.files import DATA_BYTES, read_json
from truemoment.base.errors import InputError, MeasureError, MissingFileError, UsageError
from truemoment.base.papers import TRUEMOMENT, Paper
from truemoment.baselines import BASELINES
from truemoment.data.datasets import DATASETS
from truemoment.evaluation.measures import FAMILIES, papers_of, parse_measure, parse_measures
from truemoment.evaluation.protocols import PROTOCOLS, get_protocol
from truemoment.report import citations as reports
from truemoment.report.citations import Citation
from truemoment.report.model import Report
from truemoment.report.result import Result

_COMMON = "no single paper defines it; the documentation does"


class Citations(Result):
    """References that report themselves.

    Parameters
    ----------
    cited
        What they are cited for, TrueMoment first.
    """

    def __init__(self, cited: Sequence[Citation]) -> None:
        self.cited = tuple(cited)

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers, each once."""
        return tuple(reports.by_paper(self.cited))

    def bibtex(self) -> str:
        """Return the entries of a BibTeX file."""
        return "\n\n".join(paper.bibtex() for paper in self.papers)

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.cited)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment cite --json`` writes it."""
        return reports.document(self.cited)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a paper: key, text, and what it is cited for."""
        return [
            {"key": paper.key, "text": paper.text(), "cited_for": "; ".join(map(str, uses))}
            for paper, uses in reports.by_paper(self.cited).items()
        ]

    def __repr__(self) -> str:
        """Return the keys, in one line."""
        return f"References: {', '.join(paper.key for paper in self.papers)}"


def cite(*names: str | os.PathLike[str] | Result) -> Citations:
    """Return the references of reports, or of measures, datasets, protocols and baselines by name.

    Parameters
    ----------
    names
        Results, JSON files that TrueMoment wrote, or names such as ``"dR@1,IoU=0.5"`` and ``"charades-cd"``.

    Returns
    -------
    Citations
        References that print themselves; their method ``bibtex`` returns the entries.

    Raises
    ------
    UsageError
        If a name is unknown, or nothing is named.
    MissingFileError, InputError
        If a report is missing or malformed.

    Examples
    --------
    >>> cite("dR@1,IoU=0.5", "charades-cd")
    References: truemoment, yuan2021closer, gao2017tall
    """
    if not names:
        raise UsageError("what is to be cited? give a report (JSON), or names of measures, datasets or protocols")
    citations = [Citation("tool", "TrueMoment", (TRUEMOMENT,))]
    for name in names:
        if isinstance(name, Result):
            citations += _of_document(as_json(name.document()))
        elif isinstance(name, str) and (named := _named(name)):
            citations += named
        else:
            citations += _of_file(Path(name))
    return Citations(list(dict.fromkeys(citations)))


def _of_file(path: Path) -> list[Citation]:
    if not path.exists() and path.suffix != ".json":
        raise UsageError(
            f"got {str(path)!r}, expected a report (a JSON file), or the name of a measure, dataset, "
            "protocol or baseline; 'truemoment measures list' and 'truemoment datasets list' show them"
        )
    if not path.exists():
        raise MissingFileError(f"{path}: no such file")
    document = read_json(path, dict[str, Any], most=DATA_BYTES)
    schema = document.get("schema")
    if not isinstance(schema, str) or not schema.startswith("truemoment/"):
        raise InputError(f"got {schema!r}, expected a report that TrueMoment wrote", path=path, field="schema")
    citations = _of_document(document)
    if not citations:
        raise InputError("names no measure, dataset, protocol or baseline, expected a report about some", path=path)
    return citations


def _named(text: str) -> list[Citation]:
    """Return what a name means; nothing if it is none."""
    if text in DATASETS:
        return [_dataset(text)]
    if text in BASELINES:
        return [_baseline(text)]
    if _is_protocol(text):
        return [_protocol(text)]
    if re.split(r"[@,;\[]", text.strip(), maxsplit=1)[0] in FAMILIES:
        return [_measure(str(measure)) for measure in parse_measures(text)]
    return []


def _of_document(document: Mapping[str, Any]) -> list[Citation]:
    """Return what a document names, each once: data, the protocol of its figures, measures, baselines."""
    protocol = document.get("protocol")
    make: dict[str, Callable[[str], Citation | None]] = {
        "dataset": lambda name: _dataset(name) if name in DATASETS else _own(name),
        "protocol": lambda name: _protocol(name) if name == protocol and _is_protocol(name) else None,
        "measure": _measure_of_document,
        "baseline": lambda name: _baseline(name) if name in BASELINES else None,
    }
    cited = (make[kind](name) for kind, name in _names(document))
    citations = dict.fromkeys(citation for citation in cited if citation is not None)
    return sorted(citations, key=lambda citation: list(make).index(citation.kind))


def _names(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) for each measure, dataset, protocol and baseline of a document, in its order."""
    rest: list[Any] = [document]
    while rest:
        value = rest.pop()
        if isinstance(value, list):
            rest.extend(reversed(value))
        elif isinstance(value, Mapping):
            for kind in ("dataset", "protocol", "measure", "baseline"):
                if isinstance(name := value.get(kind), str):
                    yield kind, name
            if value.get("kind") in ("floor", "ceiling") and isinstance(name := value.get("name"), str):
                yield "baseline", name
            rest.extend(reversed(list(value.values())))


def _is_protocol(text: str) -> bool:
    return text.split(",", maxsplit=1)[0].strip() in PROTOCOLS


def _measure_of_document(text: str) -> Citation | None:
    try:
        return _measure(text)
    except MeasureError:  # a study's own name for a figure
        return None


def _measure(text: str) -> Citation:
    papers = papers_of(parse_measure(text))
    return Citation("measure", text, papers, "" if papers else _COMMON)


def _dataset(name: str) -> Citation:
    dataset = DATASETS[name]
    return Citation(
        "dataset", name, dataset.papers, "" if dataset.papers else f"{dataset.citation}; {dataset.homepage}"
    )


def _own(name: str) -> Citation:
    return Citation("dataset", name, (), "TrueMoment does not know its source; cite it yourself")


def _protocol(text: str) -> Citation:
    protocol = get_protocol(text)
    ours = protocol.name.split(",")[0] == "default"
    source = "" if protocol.papers or ours else protocol.source
    return Citation("protocol", protocol.name, (TRUEMOMENT,) if ours else protocol.papers, source)


def _baseline(name: str) -> Citation:
    return Citation("baseline", name, BASELINES[name].papers or (TRUEMOMENT,))
