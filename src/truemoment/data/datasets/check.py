"""Checking a dataset: files against checksums, splits against published counts and recorded faults."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from truemoment.base.errors import MissingFileError
from truemoment.base.records import Annotations
from truemoment.data.datasets.base import Dataset
from truemoment.data.datasets.faults import Fault, find_faults, find_shared, unexpected


@dataclass(frozen=True)
class CheckReport:
    """Result of a check.

    `splits` are the annotations as read, by name. `findings` are faults and remarks. `unexpected` has a line for each
    difference from published counts and recorded faults, and `missing` one for each split whose file is missing.
    """

    dataset: str
    splits: dict[str, Annotations]
    findings: tuple[Fault, ...]
    unexpected: tuple[str, ...]
    missing: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """Number of queries and of videos, by split."""
        return {name: (split.n_queries, split.n_videos) for name, split in self.splits.items()}

    @property
    def sha256(self) -> dict[str, str]:
        """Hash of the annotations, by split."""
        return {name: split.sha256 for name, split in self.splits.items()}


def check_dataset(
    dataset: Dataset, data_dir: Path, *, on_status: Callable[[str], None] = lambda _: None
) -> CheckReport:
    """Check the splits of a dataset whose files exist; `on_status` is called with a line before each step."""
    folder = data_dir / dataset.name
    problems = []
    for file in dataset.files:
        path = folder / file.name
        if path.is_file() and file.agrees(path) is False:
            problems.append(f"{path}: content differs from the published file (checksum)")
    read: dict[str, Annotations] = {}
    missing: list[str] = []
    for split in dataset.splits:
        on_status(f"reading {dataset.name} {split.name}")
        try:
            annotations = read[split.name] = dataset.read(folder, split.name)
        except MissingFileError as error:
            missing.append(f"{split.name}: {error}")
            continue
        for unit, published, counted in (
            ("queries", split.n_queries, annotations.n_queries),
            ("videos", split.n_videos, annotations.n_videos),
        ):
            if published is not None and counted != published:
                problems.append(f"{split.name}: {counted:,} {unit}, published {published:,} ({split.counted_in})")
    if not read:
        raise MissingFileError(missing[0].partition(": ")[2])
    findings = [finding for annotations in read.values() for finding in find_faults(annotations)]
    for first, second in itertools.combinations(read.values(), 2):
        if first.split not in dataset.split(second.split).merges:
            on_status(f"comparing {first.split} with {second.split}")
            findings += find_shared(first, second, train=first.split == "train")
    problems += unexpected(findings, dataset.name, read)
    return CheckReport(dataset.name, read, tuple(findings), tuple(problems), tuple(missing))


def check_annotations(annotations: Annotations) -> CheckReport:
    """Check your own annotations: no faults are recorded for them, so every fault is unexpected."""
    findings = find_faults(annotations)
    lines = tuple(f"{f.split}: {f.kind}: {f.amount}" for f in findings if f.fault)
    return CheckReport(annotations.dataset, {annotations.split: annotations}, tuple(findings), lines)
