"""Tables of methods that can be trained by name.

To add one: a :class:`BenchTable` in :data:`BENCHES`, with the published tables of :mod:`truemoment.reproduction` that
its figures are set beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from truemoment.exceptions import UsageError


@dataclass(frozen=True)
class BenchTable:
    """A table of methods.

    Parameters
    ----------
    name, title
        What it is called.
    datasets
        Where it can be trained; the first is the default.
    recipes
        Its methods, in the order of the paper.
    published
        Names of the published tables. A method that several tables have is taken from the first of them.
    headline
        The measure of its figure.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    recipes: tuple[str, ...]
    published: tuple[str, ...]
    headline: str


BENCHES: Mapping[str, BenchTable] = MappingProxyType(
    {
        "closer-look": BenchTable(
            name="closer-look",
            title="methods of Closer Look, with TCN-DCM, MDD, VLG-Net and Blind-TAN",
            datasets=("charades-cd", "activitynet-cd"),
            recipes=(
                *("ctrl", "acrn", "ablr", "scdm", "tan2d", "drn", "tsp-prl", "wssl"),  # Table 2
                *("tcn-dcm", "mdd"),  # the journal version adds them
                *("vlg-net", "blind-tan"),  # no table has them
            ),
            published=("closer-look-2", "closer-look-journal-2"),
            headline="dR@1,IoU=0.5",
        )
    }
)
"""Every table by name."""


def get_bench(name: str) -> BenchTable:
    """Return a table by name."""
    if name not in BENCHES:
        raise UsageError(f"unknown table {name!r}, expected one of {', '.join(BENCHES)}")
    return BENCHES[name]
