"""``truemoment.resplit``: a test split on which guessing helps less."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.boundary.new_folder import refuse_folder
from truemoment.base.boundary.text import printable
from truemoment.base.errors import UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.records import Annotations
from truemoment.base.request import function_of, ignore, several
from truemoment.data.datasets import DATASETS
from truemoment.data.datasets.all_splits import splits_of_value
from truemoment.data.datasets.random_order import ORDERS
from truemoment.data.datasets.resplit_folder import ResplitSource
from truemoment.data.datasets.whole import WholeDataset, whole_copy, whole_dataset, whole_file
from truemoment.data.language import get_engine
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.bias import report_resplit as reports
from truemoment.studies.bias.request_resplit import ResplitRequest
from truemoment.studies.bias.resplitting import MeasuredResplit, resplit_and_measure
from truemoment.studies.request import is_file, path_of


@dataclass(frozen=True, repr=False, eq=False)
class ResplitResult(Result):
    """A new split, with report, document and rows.

    Parameters
    ----------
    measured
        The split, its guarantees, and the scores of every floor on it.
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


def run(
    request: ResplitRequest,
    *,
    command: str = "",
    note: Callable[[str], None] = ignore,
    on_complete: Callable[[ResplitResult], None] = lambda _: None,
) -> ResplitResult:
    """Split a dataset again, so that guessing helps less on its test split, and write the folder.

    `command` is named in the datasheet; `note` is called with what is left out, and `on_complete` before the folder
    appears.

    Parameters
    ----------
    out
        A new folder, which can be used as a dataset afterwards.

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
    plan = request.planned()  # mistakes in the options are reported before files are read
    get_engine(request.engine)
    if request.order not in ORDERS:
        raise UsageError(f"got order {request.order!r}, expected {one_of_known(str(request.order), ORDERS)}")
    folder = Path(os.path.realpath(request.out))  # behind a link
    if folder.name in DATASETS:
        raise UsageError(f"-o {printable(str(folder))}: is the name of a dataset, expected another one")
    refuse_folder(folder)
    whole = _read(request, folder, note)
    if whole.loses_ratings:
        note("ratings of clips are left out: the copy of the annotations in the new folder has none")
    split = resplit_and_measure(
        whole.annotations,
        plan,
        original=whole.original,
        engine=request.engine,
        permutations=request.permutations,
        seed=request.seed,
        order=request.order,
        cache=request.cache(request.on_warning),
        on_status=request.on_status,
    )
    result = ResplitResult(split, whole.source, folder)
    reports.write_folder(
        folder, split, whole.source, whole.copied, command=command, on_complete=lambda: on_complete(result)
    )
    return result


def _read(request: ResplitRequest, folder: Path, note: Callable[[str], None]) -> WholeDataset:
    """Read all queries of the dataset that is split."""
    if is_file(request.annotations):
        return whole_file(Path(request.annotations), folder, request.how_references)
    if request.annotations is not None:
        return whole_copy(splits_of_value(request.annotations, how=request.how_references).splits.values())
    if request.dataset is None:
        raise UsageError("which dataset? give --dataset NAME or --annotations FILE")
    whole = whole_dataset(request.dataset, several(request.split), data_dir=path_of(request.data_dir))
    for name in whole.missing:
        note(f"{request.dataset}: {name} is missing and is left out")
    return whole


resplit = function_of(ResplitRequest, run, "resplit")
