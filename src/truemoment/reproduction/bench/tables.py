"""Tables of methods that can be trained by name.

To add one: a :class:`BenchTable` in :data:`BENCHES`, with the published tables of :mod:`truemoment.reproduction` that
its figures are set beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from truemoment.base.errors import UsageError
from truemoment.base.known_names import one_of_known


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
    changes
        What recipes need on a dataset, as ``RECIPE:KEY=VALUE``, by dataset.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    recipes: tuple[str, ...]
    published: tuple[str, ...]
    headline: str
    changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def changes_on(self, dataset: str, recipes: Sequence[str]) -> list[str]:
        """Return what these recipes need on a dataset."""
        return [change for change in self.changes.get(dataset, ()) if change.partition(":")[0] in recipes]


BENCHES: Mapping[str, BenchTable] = MappingProxyType(
    {
        "closer-look": BenchTable(
            name="closer-look",
            title="methods of Closer Look, later ones, and Blind-TAN",
            datasets=("charades-cd", "activitynet-cd"),
            recipes=(
                *("ctrl", "acrn", "ablr", "scdm", "tan2d", "drn", "tsp-prl", "wssl"),  # Table 2
                *("tcn-dcm", "mdd"),  # the journal version adds them
                *("vlg-net", "blind-tan"),  # no table has them
                *("moment-detr", "qd-detr", "flash-vtg"),  # nor these, which answer with sets of moments
            ),
            published=("closer-look-2", "closer-look-journal-2"),
            headline="dR@1,IoU=0.5",
            changes={
                "activitynet-cd": (
                    "ctrl:settings.lengths=[128,256,512,1024,2048]",
                    "acrn:settings.lengths=[128,256,512,1024,2048]",
                    "tsp-prl:settings.unit_s=2",
                )
            },
        )
    }
)
"""Every table by name."""


def get_bench(name: str) -> BenchTable:
    """Return a table by name."""
    if name not in BENCHES:
        raise UsageError(f"unknown table {name!r}, expected {one_of_known(name, BENCHES)}")
    return BENCHES[name]
