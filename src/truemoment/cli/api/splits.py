"""``truemoment.resplit``: a test split on which guessing helps less."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.boundary.caching import Cache
from truemoment.base.errors import UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.records import Annotations
from truemoment.data.datasets.random_order import ORDERS, Order
from truemoment.data.datasets.resplit_folder import ResplitSource
from truemoment.data.datasets.whole import whole_dataset, whole_file
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.bias import report_resplit as reports
from truemoment.studies.bias.resplitting import MeasuredResplit, resplit_and_measure
from truemoment.studies.bias.splitting import Plan


@dataclass(frozen=True, repr=False, eq=False)
class ResplitResult(Result):
    """A new split that reports itself.

    Parameters
    ----------
    measured
        The split, its guarantees, and what every floor reaches on it.
    source
        Origin of the queries.
    folder
        The folder that was written.
    """

    measured: MeasuredResplit
    source: ResplitSource
    folder: Path

    def part(self, name: str) -> Annotations:
        """Return a split: ``train``, ``val``, ``test-iid`` or ``test-ood``."""
        return self.measured.split.part(name)

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.measured, self.source, name=self.folder.name)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment resplit --json`` writes it."""
        return reports.document(self.measured, self.source)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a split: number of queries and videos."""
        names = self.measured.split.members
        return [
            {"split": name, "n_queries": part.n_queries, "n_videos": part.n_videos}
            for name, part in ((name, self.part(name)) for name in names)
        ]

    def __repr__(self) -> str:
        """Return the folder and the sizes of the splits, in one line."""
        return f"Resplit in {self.folder}: " + ", ".join(f"{row['split']} {row['n_queries']:,}" for row in self.rows())


def resplit(
    out: str | os.PathLike[str],
    *,
    dataset: str | None = None,
    annotations: str | os.PathLike[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    plan: Plan | None = None,
    engine: str = "lexicon",
    permutations: int = 1000,
    seed: int = 0,
    order: Order = "file",
    on_status: Callable[[str], None] = lambda _: None,
) -> ResplitResult:
    """Split a dataset again, so that guessing helps less on its test split, and write the folder.

    Parameters
    ----------
    out
        A new folder, which can be used as a dataset afterwards.
    dataset, annotations
        Name of the dataset, or one's own JSON Lines file: one of them.
    data_dir
        Folder with the datasets (or the variable ``TRUEMOMENT_DATA``).
    plan
        How to split. [default: by location, 20 % of the queries in test-ood]
    engine
        Language engine that finds words.
    permutations, seed
        Number of permutations of each test between splits; seed of all draws.
    order
        Order of a video's queries: ``file``, with the ids of the source; ``random``, with new ids that hide it.
    on_status
        Called with what is being done.

    Returns
    -------
    ResplitResult
        It shows its report, the datasheet of the folder, in a notebook.

    Raises
    ------
    UsageError
        If no dataset is named, or both a dataset and a file; or the order is unknown.
    MissingFileError, InputError
        If a file is missing or malformed, or the dataset cannot be split so.
    """
    if (dataset is None) == (annotations is None):
        raise UsageError("what is to be split? give dataset or annotations, one of them")
    if order not in ORDERS:
        raise UsageError(f"got order {order!r}, expected {one_of_known(str(order), ORDERS)}")
    folder = Path(os.path.realpath(out))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{out}: exists already, expected a new or empty folder")
    if dataset is not None:
        whole = whole_dataset(dataset, data_dir=None if data_dir is None else Path(data_dir))
    else:
        whole = whole_file(Path(str(annotations)), folder)
    found = resplit_and_measure(
        whole.annotations,
        plan,
        original=whole.original,
        engine=engine,
        permutations=permutations,
        seed=seed,
        order=order,
        cache=Cache.of_user(),
        on_status=on_status,
    )
    reports.write_folder(folder, found, whole.source)
    return ResplitResult(found, whole.source, folder)
