"""``truemoment.audit``: whether a model finds the moments, or guesses them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.boundary.caching import Cache
from truemoment.base.records import Predictions
from truemoment.cli.api.records import AnyAnnotations, AnyPredictions, read_annotations, source_of
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.learning.training import load_model
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.audit import Audit, AuditFinding, MethodReads, RelatedFiles, audit_predictions
from truemoment.studies.audit import report as reports


@dataclass(frozen=True, repr=False, eq=False)
class AuditResult(Result):
    """An audit that reports itself.

    Parameters
    ----------
    audit
        The findings, and all that they are computed from.
    """

    audit: Audit

    @property
    def findings(self) -> tuple[AuditFinding, ...]:
        """The findings, one a check; the first one is the verdict."""
        return self.audit.findings

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``not decided``, at the headline measure."""
        results = self.audit.results
        return results.verdict.kind(results.headline)

    @property
    def passed(self) -> bool:
        """Whether every condition of the gate passes."""
        return self.audit.passed

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.audit)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment audit --json`` writes it."""
        return reports.document(self.audit)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a system and measure: the method, every floor and every ceiling."""
        results = self.audit.results
        systems = [("method", results.setup.predictions.name, results.scores)]
        systems += [("floor", floor.title, floor.scores) for floor in results.floors]
        systems += [("ceiling", ceiling.title, ceiling.scores) for ceiling in results.ceilings]
        return [
            {"kind": kind, "system": title, "measure": figure.measure, "value": figure.value}
            for kind, title, scores in systems
            for figure in scores.measured()
        ]

    def __repr__(self) -> str:
        """Return what was audited and the verdict, in one line."""
        results = self.audit.results
        where = f"{results.scores.dataset}/{results.scores.split}"
        return (
            f"Audit of {results.setup.predictions.name} on {where}: {self.verdict} "
            f"({len(results.floors)} blind baselines, {results.measure})"
        )


def audit(
    predictions: AnyPredictions,
    annotations: AnyAnnotations | None = None,
    *,
    dataset: str | os.PathLike[str] | None = None,
    split: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    train: AnyAnnotations | None = None,
    fit_split: str | None = None,
    related: RelatedFiles | None = None,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    gate: str | None = None,
    reads: MethodReads | None = None,
    resamples: int = 1000,
    permutations: int = 10_000,
    seed: int = 0,
    on_status: Callable[[str], None] = lambda _: None,
) -> AuditResult:
    """Compare predictions with baselines that never see the video.

    Parameters
    ----------
    predictions
        A record, or a file in any format that TrueMoment reads.
    annotations
        The references of the audited split: a record, or a JSON Lines file (then with `split`, if it has several).
    dataset, split, data_dir
        Name of a dataset and a split, and the folder with the datasets (or the variable ``TRUEMOMENT_DATA``).
    train, fit_split
        Annotations, or the name of a split, that the baselines are fitted on. [default: the split ``train``, if any]
    related
        Predictions of the same model on other videos, and the model itself:
        :class:`truemoment.studies.audit.RelatedFiles`.
    measures, protocol
        What is measured, and how. [default: the dataset's own]
    gate
        Conditions separated by ``;``, as ``"better-than-guessing; shortcut-share<0.8"``; see ``passed``.
    reads
        What the method is declared to read: ``sentence`` for one sentence at a time, ``paragraph`` for all sentences
        of a video. A declaration of the first is tested, and the verdict is then against floors that do so too.
    resamples, permutations, seed
        Number of resamples of the videos and of swaps of a permutation test; seed of all draws.
    on_status
        Called with what is being done.

    Returns
    -------
    AuditResult
        Its findings, verdict and figures; it shows its report in a notebook.

    Raises
    ------
    UsageError
        If it is not clear which annotations are meant, or they cannot be audited.
    MissingFileError, InputError, MatchError
        If a file is missing or malformed, or predictions match no query.
    """
    source = source_of(annotations, dataset, split, data_dir)
    found = audit_predictions(
        predictions if isinstance(predictions, Predictions) else Path(predictions),
        read_annotations(annotations) if source is None else source,
        related=related,
        fit_split=fit_split,
        fit_annotations=None if train is None else read_annotations(train),
        measures=measures,
        protocol=protocol,
        resamples=resamples,
        permutations=permutations,
        seed=seed,
        gate=gate,
        reads=reads,
        cache=Cache.of_user(),
        load=load_model,
        on_status=on_status,
    )
    return AuditResult(found)
