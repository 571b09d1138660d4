"""A leaderboard: one comparison of all systems, an audit of each, and the ranks that the comparison supports.

A rank interval follows from the pairwise tests. Of n systems, the rank of one lies between 1 + b and n - w, where b
systems are significantly better and w significantly worse. If every test that says so is right, every interval contains
the true rank. The tests are corrected for all pairs and measures together, so this holds for all ranks together.

References
----------
Mohamad, Goeman and van Zwet (2022), Simultaneous confidence intervals for ranks with application to ranking
institutions, Biometrics 78: the intervals, from Tukey's pairwise tests. Ours are permutation tests with max-t.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines.floors import FloorResult
from truemoment.data.formats import MatchReport, Reader
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.uncertainty import DEFAULT_DRAW_SETTINGS, DrawSettings
from truemoment.studies.audit.own_answers import TITLES
from truemoment.studies.audit.reading import run as run_audit
from truemoment.studies.audit.request import AuditRequest
from truemoment.studies.audit.run import Audit
from truemoment.studies.compare.files import ComparedFiles, compare_files, training_split
from truemoment.studies.compare.ranking import rank_intervals
from truemoment.studies.leaderboard.entries import FILE, Entries, SystemEntry
from truemoment.studies.request import ReadingPredictions


@dataclass(frozen=True, eq=False)
class RankedSystem:
    """A system and the audit of each of its files."""

    entry: SystemEntry
    audits: tuple[Audit, ...]


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Systems that were measured, compared and audited.

    Parameters
    ----------
    systems
        By name in alphabetical order.
    compared
        The comparison of all systems, and of the sentence network where there is a training split.
    ranks : (S, M, 2)
        First and last rank that each system may have at each measure
        (:func:`truemoment.studies.compare.ranking.rank_intervals`).
    headline
        Row of the measure by which systems are sorted.
    """

    entries: Entries
    systems: tuple[RankedSystem, ...]
    compared: ComparedFiles
    ranks: Ints
    headline: int

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return self.compared.comparison.measures

    @property
    def order(self) -> list[int]:
        """Numbers of the systems, the largest figure at the headline measure first; equal ones by name."""
        values = np.nan_to_num(self.compared.comparison.mean[: len(self.systems), self.headline], nan=-1.0)
        return [int(at) for at in np.argsort(-values, kind="stable")]

    @property
    def shallowest(self) -> Audit:
        """The audit of the shortest lists, whose floors have the depth of the comparison."""
        audits = [audit for system in self.systems for audit in system.audits]
        return min(audits, key=lambda audit: int(audit.results.setup.predictions.lengths.max(initial=1)))

    def controls(self) -> list[tuple[FloorResult, Floats]]:
        """Return floors and ceilings with their 95 % intervals (M, 2), without those made of one system's answers."""
        results = self.shallowest.results
        rows = zip((*results.floors, *results.ceilings, *results.context), results.ci95[1:], strict=True)
        return [(floor, ci95) for floor, ci95 in rows if floor.name not in TITLES]

    @property
    def passed(self) -> bool:
        """Whether every condition of the gate holds for every system that sees the video."""
        return all(audit.passed for system in self.systems for audit in system.audits)


def run_leaderboard(
    entries: Entries,
    *,
    testing: DrawSettings = DEFAULT_DRAW_SETTINGS,
    gate: str | None = None,
    cache: Cache = NO_CACHE,
    on_status: Callable[[str], None] = lambda _: None,
) -> Leaderboard:
    """Audit every file, and compare the systems with each other and with the sentence network.

    `gate` has the conditions of an audit; they are checked for every system that sees the video.

    Raises
    ------
    UsageError, InputError
        If a file is malformed, a condition is unknown, or there is no other method to compare with.
    """
    if gate is not None and not any(system.sees_video for system in entries.systems):
        raise UsageError("--gate: no system sees the video, so there is nothing to check")
    source = entries.source
    reference = source.read()
    train = training_split(source, reference, entries.fit_split, None)
    if train is None and len(entries.systems) == 1:
        raise InputError(
            "got one system, and no training split for a blind baseline, expected two systems or more",
            path=entries.folder / FILE,
            field="systems",
        )
    # A malformed file is refused before the first audit, and the comparison reads none again.
    read = _reader(entries)
    answers = {path: read(path, reference, progress=False) for path in itertools.chain.from_iterable(entries.files)}
    systems = []
    for system, files in zip(entries.systems, entries.files, strict=True):

        def on_system(text: str, name: str = system.name) -> None:
            on_status(f"{name}: {text}" if text else "")

        audits = [
            run_audit(
                AuditRequest(
                    file,
                    dataset=source.dataset,
                    annotations=source.annotations,
                    **vars(entries.reading),
                    split=source.split,
                    data_dir=source.data_dir,
                    fit_split=entries.fit_split,
                    measures=entries.measures,
                    protocol=entries.protocol,
                    **vars(testing),
                    gate=gate if system.sees_video else None,
                    reads=system.reads,
                    axis=system.axis,
                    prediction_fields=system.prediction_fields,
                    on_status=on_system,
                ),
                cache=cache,
            )
            for file in files
        ]
        systems.append(RankedSystem(system, tuple(_named(audit, entries.folder) for audit in audits)))
    results = systems[0].audits[0].results
    names = [system.name for system in entries.systems]
    compared = compare_files(
        dict(zip(names, entries.files, strict=True)),
        reference,
        train=train,
        network=entries.fit_split != "none",
        measures=results.setup.measures,
        protocol=entries.protocol,
        reads_sentence=[system.name for system in entries.systems if system.reads == "sentence"],
        testing=testing,
        read=lambda path, _, *, progress: answers[Path(str(path))],  # noqa: ARG005 - as every reader
        cache=cache,
        on_status=on_status,
    )
    ranks = rank_intervals(compared.comparison, names)
    runs = {
        name: [
            run._replace(source={**run.source, "path": _inside(run.source["path"], entries.folder)}) for run in group
        ]
        for name, group in compared.runs.items()
    }
    return Leaderboard(entries, tuple(systems), replace(compared, runs=runs), ranks, results.headline)


def _reader(entries: Entries) -> Reader:
    """Return a reader of the files, with the axis and the fields of their system."""
    how_of = {
        path: ReadingPredictions(axis=system.axis, prediction_fields=system.prediction_fields).how
        for system, files in zip(entries.systems, entries.files, strict=True)
        for path in files
    }

    def read(path: AnyPath, annotations: Annotations, *, progress: bool) -> tuple[Predictions, MatchReport]:
        return how_of[Path(str(path))].read(path, annotations, progress=progress)

    return read


def _named(audit: Audit, folder: Path) -> Audit:
    """Name the audited file by its path in the folder: a page that is published names no folder of its author."""
    return replace(audit, sources={**audit.sources, "path": _inside(audit.sources["path"], folder)})


def _inside(path: str, folder: Path) -> str:
    return path.removeprefix(str(folder)).lstrip("/")
