"""The report of features: videos, dimensions and frame rate, and the videos of a split that are missing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from truemoment.base.boundary.documents import document_head
from truemoment.base.records import Annotations
from truemoment.media.features import FeatureAlignment, FeatureStore
from truemoment.report.model import CAUTION_LABEL, Finding, Level, Paragraph, Report, Section
from truemoment.report.words import counted
from truemoment.worlds.perception import Perception

SCHEMA = "truemoment/features-check/1"

SHOWN = 20
"""Videos of a kind that are listed; the JSON document lists all."""


@dataclass(frozen=True, eq=False)
class CheckedFeatures:
    """Features, and how they fit annotations.

    Parameters
    ----------
    store
        The features.
    reference, alignment
        The annotations, and how the features fit them; None where none are given.
    interval_share
        Share of the moments that are an interval which simulated features show; None for other features.
    seed
        Seed of simulated features; None for other features.
    written
        The folder that the features are written to, and how; "" for none.
    """

    store: FeatureStore
    reference: Annotations | None
    alignment: FeatureAlignment | None
    interval_share: float | None
    seed: int | None
    written: str = ""


def report(features: CheckedFeatures) -> Report:
    """Return what people read."""
    store = features.store
    time = "rows cover each video evenly" if store.fps is None else f"{store.fps:g} rows a second"
    facts = [
        ("features", f"{store.name}: {counted(len(store), 'video')}, {store.n_dimensions:,} numbers a row, {time}")
    ]
    if caution := getattr(store, "caution", ""):
        facts.append((CAUTION_LABEL, caution))
    if features.alignment is not None:
        facts.append(("data", _counts(features.alignment)))
    if features.written:
        facts.append(("written to", features.written))
    blocks: list[Paragraph | Finding] = []
    if features.interval_share is not None and isinstance(store, Perception):
        share = f"{100 * features.interval_share:.2f} % of the moments are an {store.interval_title}"
        blocks.append(Paragraph(f"{share} that the features show (both ends within {store.within_s:g} s)"))
    if features.alignment is not None:
        blocks += _findings(features.alignment)
    return Report(
        title=f"Features {store.name}",
        facts=tuple(facts),
        sections=(_section(blocks),) if blocks else (),
        notes=tuple(getattr(store, "notes", ())),
    )


def problems(features: CheckedFeatures) -> Report:
    """Return what people read of features that do not fit: only why."""
    findings = [] if features.alignment is None else _findings(features.alignment)
    serious = [finding for finding in findings if finding.level == "serious"]
    return Report(title=f"Features {features.store.name}", sections=(_section(serious),) if serious else ())


def _section(blocks: Iterable[Paragraph | Finding]) -> Section:
    return Section("alignment", "Features and annotations", tuple(blocks))


def _counts(alignment: FeatureAlignment) -> str:
    n_usable = len(alignment.usable)
    rate = f", {alignment.implied_fps:.4g} a second of video (median)" if n_usable else ""
    videos = f"{n_usable:,} of {len(alignment.video_ids):,} videos have features"
    return f"{alignment.annotations}: {videos}, {counted(alignment.n_rows, 'row')}{rate}"


def _findings(alignment: FeatureAlignment) -> list[Finding]:
    findings: list[Finding] = []

    def add(level: Level, text: str) -> None:
        findings.append(Finding((text,), level=level))

    if alignment.missing:
        add("serious", f"missing: {_list(alignment.missing)}")
    if alignment.damaged:
        add("serious", f"damaged: {_list(f'{name} ({why})' for name, why in alignment.damaged.items())}")
    if alignment.off:
        ends = (f"{name} ({end_s:.1f} of {length_s:.1f} s)" for name, (end_s, length_s) in alignment.off.items())
        add("serious" if alignment.mostly_off else "warning", f"rows end elsewhere than the video: {_list(ends)}")
    if alignment.mostly_off:
        add(
            "serious",
            f"wrong rows a second: stated {alignment.fps:g}, by the durations about {alignment.implied_fps:.4g}",
        )
    if alignment.zero_rows:
        zeros = (f"{name} ({count:,})" for name, count in alignment.zero_rows.items())
        add("warning", f"rows of zeros: {_list(zeros)}")
    if alignment.renamed:
        add("note", f"found under another prefix or ending: {_list(alignment.renamed)}")
    if alignment.complete:
        add("good", "every video has features")
    return findings


def _list(names: Iterable[str]) -> str:
    """Count and name the first ones; --json names all."""
    every = list(names)
    return f"{len(every):,}: " + ", ".join(every[:SHOWN]) + (", ... (--json lists all)" if len(every) > SHOWN else "")


def document(features: CheckedFeatures) -> dict[str, Any]:
    """Return what programs read."""
    store, reference, alignment = features.store, features.reference, features.alignment
    described = {
        **document_head(SCHEMA),
        "features": store.name,
        "seed": features.seed,
        "n_videos": len(store),
        "n_dimensions": store.n_dimensions,
        "fps": store.fps,
        "notes": list(getattr(store, "notes", ())),
        "caution": getattr(store, "caution", ""),
        "annotations": None,
        "interval_share": features.interval_share,
    }
    if reference is None or alignment is None:
        return described
    return described | {
        "annotations": {
            "dataset": reference.dataset,
            "split": reference.split,
            "sha256": reference.sha256,
            "n_videos": len(alignment.video_ids),
        },
        "complete": alignment.complete,
        "n_usable": len(alignment.usable),
        "n_rows": alignment.n_rows,
        "implied_fps": None if math.isnan(alignment.implied_fps) else alignment.implied_fps,
        "missing": list(alignment.missing),
        "damaged": dict(alignment.damaged),
        "off": {name: {"rows_end_s": end, "duration_s": length} for name, (end, length) in alignment.off.items()},
        "zero_rows": dict(alignment.zero_rows),
        "renamed": list(alignment.renamed),
    }
