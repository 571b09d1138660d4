"""Tables that the pages take from the package: ``python docs/tables.py`` writes them into the pages.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; tests/docs checks that each is as this
file makes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from truemoment.datasets import DATASETS
from truemoment.io import FORMATS
from truemoment.protocols import PROTOCOLS, Protocol

DOCS = Path(__file__).resolve().parent
_TABLE = re.compile(r"(<!-- table: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Lay out a Markdown table."""
    heads = list(headings)
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def protocols() -> str:
    """Every protocol with every field that can change a figure."""
    headings = "protocol hit ties IoU times clipped NMS top rank references missing printed".split()
    return markdown(headings, map(_protocol, PROTOCOLS.values()))


def _protocol(protocol: Protocol) -> list[str]:
    iou = protocol.denominator
    if protocol.ap_denominator is not None:
        iou += f" (mAP: {protocol.ap_denominator})"
    if protocol.epsilon:
        iou += f" + {protocol.epsilon:g}"
    if protocol.precision != "float64":
        iou += f", {protocol.precision}"
    clipped = [what for what, on in (("refs", protocol.clip_references), ("answers", protocol.clip_predictions)) if on]
    return [
        f"`{protocol.name}`",
        {">": "> m", ">=": "≥ m"}[protocol.comparison],
        "plain" if protocol.tolerance is None else f"{protocol.tolerance:g}",
        iou,
        protocol.times,
        " + ".join(clipped) or "–",
        "–" if protocol.nms_threshold is None else f"{protocol.nms_threshold:g}",
        "–" if protocol.top is None else str(protocol.top),
        protocol.ranking,
        protocol.references,
        protocol.missing,
        str(protocol.decimals) + (", cut" if protocol.rounding == "truncate" else ""),
    ]


def datasets() -> str:
    """Every dataset with its splits."""
    rows = [
        [
            f"`{dataset.name}`",
            dataset.access,
            ", ".join(f"{split.name} {_count(split.n_queries)}" for split in dataset.splits),
            ", ".join(f"{split.name} {_count(split.n_videos)}" for split in dataset.splits),
        ]
        for dataset in DATASETS.values()
    ]
    return markdown(["dataset", "access", "queries", "videos"], rows)


def _count(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


def folders() -> str:
    """The data folder, drawn."""
    lines = ["data/"]
    for dataset in DATASETS.values():
        names = [file.name + ("" if file.needed else " (may be left out)") for file in dataset.files]
        lines += [f"  {dataset.name}/", *(f"    {name}" for name in names)]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def formats() -> str:
    """Every prediction format."""
    rows = [
        [f"`{format_.name}`", format_.summary, "read" if format_.write is None else "read and written"]
        for format_ in FORMATS.values()
    ]
    return markdown(["format", "what it is", ""], rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "protocols": protocols,
    "datasets": datasets,
    "folders": folders,
    "formats": formats,
}


def filled(text: str) -> str:
    """Return a page with its tables made anew."""
    return _TABLE.sub(lambda table: table[1] + "\n" + TABLES[table["name"]]() + "\n" + table[3], text)


if __name__ == "__main__":
    for path in DOCS.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        if filled(text) != text:
            path.write_text(filled(text), encoding="utf-8")
