"""truemoment collect statistics: the figures of a collection beside the published ones of MAD."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.request import In, Request, argument
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.parts import Output


@dataclass(frozen=True, kw_only=True)
class StatisticsRequest(Request):
    """The collection."""

    out: In[Path] = argument(metavar="OUT")


@binder.command("statistics")
def command(request: StatisticsRequest, output: Output) -> None:
    """Print the statistics of a collection beside Tables 1 and 7 of MAD.

    \b
    truemoment collect statistics OUT
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report_statistics as reports

    statistics = reports.statistics_of(request.out)
    deliver(reports.report(statistics), lambda: reports.document(statistics), output)
