"""Faults of annotations, by stated definitions, with the queries concerned.

A *fault* should not occur in annotations; a *remark* is legal but changes how figures read. Readers repair nothing: a
protocol may clip or drop these.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from truemoment.base.boundary.files import read_json
from truemoment.base.intervals import Bools, temporal_iou
from truemoment.base.records import Annotations
from truemoment.evaluation.references import all_references
from truemoment.report.words import counted

KNOWN_FAULTS = Path(__file__).with_name("known_faults.json")

PAST_END_S = 1e-6
"""An end later than the duration by more than this lies past the end; less is float noise of the files."""


@dataclass(frozen=True)
class Fault:
    """A fault or remark about a split, or about two joined by an arrow.

    `counted` names what is counted (moments, queries, videos, ...). `query_ids` are the queries concerned, or the
    videos if videos are counted, in file order.
    """

    kind: str
    split: str
    count: int
    counted: str
    query_ids: tuple[str, ...]
    fault: bool
    detail: str = ""

    @property
    def amount(self) -> str:
        """The count and what is counted, such as ``1 moment``."""
        singular = "query" if self.counted == "queries" else self.counted.removesuffix("s")
        return counted(self.count, singular, self.counted)

    @property
    def digest(self) -> str:
        """Hash of the queries, to compare with the recorded one."""
        return hashlib.sha256("\n".join(sorted(self.query_ids)).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class _FaultKind:
    name: str
    fault: bool
    find: Callable[[Annotations], Bools]
    """Marks the rows (moments) concerned."""
    counted: str = "moments"


def _whole(a: Annotations) -> Bools:
    return (a.end_s - a.start_s) / a.duration_s >= 0.99


_KINDS = (
    _FaultKind("past the end", True, lambda a: a.end_s > a.duration_s + PAST_END_S),
    _FaultKind("past the end by more than 1 s", False, lambda a: a.end_s > a.duration_s + 1),
    _FaultKind("swapped", True, lambda a: a.end_s < a.start_s),
    _FaultKind("zero length", True, lambda a: a.end_s == a.start_s),
    _FaultKind("starts after the end", True, lambda a: a.start_s > a.duration_s),
    _FaultKind("negative time", True, lambda a: (a.start_s < 0) | (a.end_s < 0)),
    _FaultKind("no duration", True, lambda a: ~(a.duration_s > 0)),
    _FaultKind(
        "empty sentence", True, lambda a: np.array([not sentence.strip() for sentence in a.sentence], dtype=bool)
    ),
    _FaultKind("no moment", False, lambda a: np.isnan(a.start_s), "queries"),
    _FaultKind(
        "leading blank", False, lambda a: np.array([sentence[:1].isspace() for sentence in a.sentence], dtype=bool)
    ),
    _FaultKind("shorter than 0.5 s", False, lambda a: (a.end_s > a.start_s) & (a.end_s - a.start_s < 0.5)),
    _FaultKind("whole video (99 % or more)", False, _whole),
    _FaultKind("starts at 0", False, lambda a: a.start_s == 0),
    _FaultKind("ends within 0.5 s of the end", False, lambda a: a.end_s >= a.duration_s - 0.5),
)


def find_faults(annotations: Annotations) -> list[Fault]:
    """Return the faults and remarks of one split, faults first.

    Definitions: *past the end* = end > duration + 1e-6 s; *swapped* = end < start; *zero length* = end = start; *starts
    after the end* = start > duration; duplicates compare sentences after strip, lower case and dropping a last full
    stop, times rounded to 2 decimals; *shorter than 0.5 s* excludes zero and swapped ones. *No moment* is a remark.
    """
    findings = []
    split = annotations.split
    with np.errstate(invalid="ignore", divide="ignore"):
        for kind in _KINDS:
            marked = kind.find(annotations)
            if marked.any():
                ids = tuple(dict.fromkeys(annotations.query_id[marked]))
                detail = _clipped_detail(annotations, marked) if kind.name == "past the end" else ""
                findings.append(Fault(kind.name, split, int(marked.sum()), kind.counted, ids, kind.fault, detail))
    findings += _repeated(annotations)
    findings += _several(annotations)
    return sorted(findings, key=lambda finding: not finding.fault)


def find_shared(first: Annotations, second: Annotations, *, train: bool) -> list[Fault]:
    """Return the overlap of two splits: videos, and (if `train`) verbatim sentences."""
    arrow = f"{first.split} -> {second.split}"
    findings = []
    videos = set(first.video_id)
    shared = tuple(dict.fromkeys(video for video in second.video_id if video in videos))
    if shared:
        findings.append(Fault("videos in both splits", arrow, len(shared), "videos", shared, True))
    if train:
        sentences = set(first.queries.sentence)
        queries = second.queries
        verbatim = tuple(
            query_id for query_id, s in zip(queries.query_id, queries.sentence, strict=True) if s in sentences
        )
        if verbatim:
            share = f"{100 * len(verbatim) / len(queries):.1f} % of {len(queries):,} queries"
            findings.append(
                Fault("sentence verbatim in train", arrow, len(verbatim), "queries", verbatim, False, share)
            )
    return findings


def normalised_sentence(sentence: str) -> str:
    """Strip, lower case, drop a last full stop: the form in which duplicates are compared."""
    return sentence.strip().lower().removesuffix(".")


def _clipped_detail(annotations: Annotations, marked: Bools) -> str:
    """Describe how far moments extend past the end, and the IoU of perfect answers that are clipped to the video."""
    start_s, end_s, duration_s = (
        column[marked] for column in (annotations.start_s, annotations.end_s, annotations.duration_s)
    )
    zero = np.zeros(1)
    clipped = (np.clip(start_s, zero, duration_s), np.clip(end_s, zero, duration_s))
    iou = temporal_iou(start_s, end_s, *clipped)
    return (
        f"at most {np.max(end_s - duration_s):.2f} s; an answer clipped to the video has mean IoU {iou.mean():.3f} "
        f"(min {iou.min():.3f}, below 0.7: {int((iou < 0.7).sum())}, below 0.9: {int((iou < 0.9).sum())})"
    )


def _moments_of_queries(annotations: Annotations) -> list[tuple[tuple[float, float], ...]]:
    """Moments of each query, times rounded to 2 decimals."""
    rounded = np.round(np.stack([annotations.start_s, annotations.end_s], axis=1), 2).tolist()
    bounds = zip(itertools.pairwise(annotations.offsets.tolist()), annotations.without_moment, strict=True)
    return [
        () if without else tuple((start, end) for start, end in rounded[low:high]) for (low, high), without in bounds
    ]


def _repeated(annotations: Annotations) -> list[Fault]:
    """Find queries that occur several times, and moments that carry several queries."""
    queries = annotations.queries
    moments = _moments_of_queries(annotations)
    rows_of_text: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    rows_of_moment: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for row, (video, sentence) in enumerate(zip(queries.video_id, queries.sentence, strict=True)):
        rows_of_text[video, normalised_sentence(sentence)].append(row)
        rows_of_moment[video, moments[row]].append(row)
    duplicates: list[int] = []
    conflicting: list[int] = []
    n_conflicts = 0
    for rows in rows_of_text.values():
        seen: set[tuple[tuple[float, float], ...]] = set()
        for row in rows:
            if moments[row] in seen:
                duplicates.append(row)
            seen.add(moments[row])
        if len(seen) > 1:
            n_conflicts += 1
            conflicting += rows
    shared = [rows for (_, of_query), rows in rows_of_moment.items() if of_query and len(rows) > 1]
    several = [row for rows in shared for row in rows]
    kinds = (
        ("exact duplicate", len(duplicates), "queries", duplicates, True, ""),
        ("same query, different times", n_conflicts, "(video, sentence) pairs", conflicting, True, None),
        ("moment with several queries", len(shared), "moments", several, False, None),
    )
    return [
        Fault(
            kind,
            annotations.split,
            count,
            counted,
            tuple(queries.query_id[sorted(rows)]),
            fault,
            f"{len(rows):,} queries" if detail is None else detail,
        )
        for kind, count, counted, rows, fault, detail in kinds
        if rows
    ]


def _several(annotations: Annotations) -> list[Fault]:
    """Find queries with several references, and annotators who disagree."""
    counts = np.diff(annotations.offsets)
    if not np.any(counts > 1):
        return []
    queries, split = annotations.queries, annotations.split
    heads = annotations.offsets[:-1]
    owner = np.repeat(np.arange(len(counts)), counts)
    by_annotators = np.any(annotations.annotator != annotations.annotator[heads][owner])
    if not by_annotators:
        ids = tuple(queries.query_id[counts > 1])
        return [Fault("several moments", split, len(ids), "queries", ids, False)]
    refs = all_references(annotations, annotations.start_s, annotations.end_s)
    differ = np.zeros(len(counts), dtype=bool)
    disjoint = np.zeros(len(counts), dtype=bool)
    for r in range(1, refs.start.shape[1]):
        for earlier in range(r):
            present = ~np.isnan(refs.start[:, r])
            differ |= present & (
                (refs.start[:, r] != refs.start[:, earlier]) | (refs.end[:, r] != refs.end[:, earlier])
            )
            low = np.maximum(refs.start[:, r], refs.start[:, earlier])
            disjoint |= present & (np.minimum(refs.end[:, r], refs.end[:, earlier]) <= low)
    return [
        Fault(
            kind,
            split,
            int(marked.sum()),
            "queries",
            tuple(queries.query_id[marked]),
            False,
            f"{100 * marked.mean():.0f} % of queries",
        )
        for kind, marked in (("annotators disagree", differ), ("two annotators fully disjoint", disjoint))
        if marked.any()
    ]


class Recorded(msgspec.Struct, frozen=True):
    """A recorded fault of a split."""

    count: int
    digest: str


def known_faults(dataset: str) -> Mapping[str, Mapping[str, Recorded]]:
    """Return the recorded faults of a dataset by split and kind."""
    return read_json(KNOWN_FAULTS, dict[str, dict[str, dict[str, Recorded]]]).get(dataset, {})


def unexpected(findings: Iterable[Fault], dataset: str, splits: Iterable[str]) -> list[str]:
    """Return a line for each fault of these splits that differs from the recorded ones; remarks are not compared."""
    recorded_faults = known_faults(dataset)
    looked_at = set(splits)
    lines = []
    kinds_found: set[tuple[str, str]] = set()
    for finding in findings:
        if not finding.fault:
            continue
        kinds_found.add((finding.split, finding.kind))
        recorded = recorded_faults.get(finding.split, {}).get(finding.kind)
        place = f"{finding.split}: {finding.kind}: {finding.amount}"
        if recorded is None:
            lines.append(f"{place}, none recorded")
        elif recorded.count != finding.count:
            lines.append(f"{place}, {recorded.count} recorded")
        elif recorded.digest != finding.digest:
            lines.append(f"{place} as recorded, but in other queries")
    for split, kinds in recorded_faults.items():
        if set(split.split(" -> ")) <= looked_at:
            lines += [
                f"{split}: {kind}: none, {recorded.count} recorded"
                for kind, recorded in kinds.items()
                if (split, kind) not in kinds_found
            ]
    return lines
