"""The queries of a new study: those of a file, whose moments may be missing; practice, and the pools of controls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from truemoment.base.boundary.files import read_json_lines
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import numbered
from truemoment.data.datasets.own import OwnQuery
from truemoment.data.references import REFERENCES, read_annotations, recognise
from truemoment.web.annotating.controls import absent_pairs, moved_moment
from truemoment.web.annotating.plan import StudyPlan


@dataclass(frozen=True)
class StudyQuery:
    """A query of a study.

    Parameters
    ----------
    kind
        ``query`` for a query of the study; ``practice``; or the kind of control that it is.
    hidden
        What no annotator sees: `moments`, the references, and `shown`, the moment of a ``verify`` task.
    """

    query_id: str
    video_id: str
    sentence: str
    kind: str
    hidden: Mapping[str, Any]


def study_queries(annotations: Annotations, plan: StudyPlan, rng: np.random.Generator) -> list[StudyQuery]:
    """Return all queries of a study: those to be answered, practice, and the pools of controls."""
    entries = _entries(annotations)
    if plan.only is not None:
        unknown = sorted(plan.only - {entry.query_id for entry in entries})
        if unknown:
            where = f"{annotations.dataset}/{annotations.split}"
            raise InputError(f"--only names the query id {unknown[0]!r}, which {where} does not have", field="query_id")
        entries = [entry for entry in entries if entry.query_id in plan.only]
    if plan.n_queries is not None and plan.n_queries < len(entries):
        places = sorted(rng.choice(len(entries), plan.n_queries, replace=False).tolist())
        entries = [entries[at] for at in places]
    gold = [] if plan.gold is None else _entries(plan.gold)
    golden = [
        StudyQuery(
            f"gold/{entry.query_id}", entry.video_id, entry.sentence, "gold", {"moments": entry.hidden["moments"]}
        )
        for entry in gold
    ]
    n_practice = min(plan.practice, len(golden) // 2)
    lot = rng.permutation(len(golden)).tolist()
    practice = [
        StudyQuery(f"practice/{at}", golden[at].video_id, golden[at].sentence, "practice", golden[at].hidden)
        for at in sorted(lot[:n_practice])
    ]
    golden = [golden[at] for at in sorted(lot[n_practice:])]
    if plan.task == "verify":
        entries = [entry for entry in entries if entry.hidden["moments"]]
        verify = [
            replace(entry, hidden={**entry.hidden, "shown": list(entry.hidden["moments"][0])})
            for entry in [*practice, *entries, *golden]
            if entry.hidden["moments"]
        ]
        return [*verify, *_wrong_pairs(entries, plan, annotations, rng)]
    return [*practice, *entries, *golden, *_absent(entries, plan, rng)]


def _entries(annotations: Annotations) -> list[StudyQuery]:
    """Return the queries of annotations with their references."""
    queries = []
    for low, high in pairwise(annotations.offsets.tolist()):
        moments = list(zip(annotations.start_s[low:high].tolist(), annotations.end_s[low:high].tolist(), strict=True))
        hidden = {"moments": [] if math.isnan(moments[0][0]) else moments}
        row = (annotations.query_id[low], annotations.video_id[low], annotations.sentence[low])
        queries.append(StudyQuery(*row, "query", hidden))
    return queries


def _pool_size(n_queries: int, share: float, plan: StudyPlan) -> int:
    """Return how many controls a person may get at most."""
    load = n_queries * plan.per_query / plan.people if plan.people else n_queries
    return math.ceil(share * load) + 1 if share else 0


def _by_video(entries: list[StudyQuery]) -> tuple[dict[int, str], dict[int, list[str]]]:
    """Return the name and the sentences of each video, by number."""
    number: dict[str, int] = {}
    sentences: dict[int, list[str]] = {}
    for entry in entries:
        sentences.setdefault(number.setdefault(entry.video_id, len(number)), []).append(entry.sentence)
    return {number_of_video: name for name, number_of_video in number.items()}, sentences


def _absent(entries: list[StudyQuery], plan: StudyPlan, rng: np.random.Generator) -> list[StudyQuery]:
    names, sentences = _by_video(entries)
    pairs = absent_pairs(sentences, _pool_size(len(entries), plan.controls.absent, plan), rng)
    return [
        StudyQuery(f"absent/{number}", names[video], sentence, "absent", {"moments": []})
        for number, (video, sentence) in enumerate(pairs)
    ]


def _wrong_pairs(
    entries: list[StudyQuery], plan: StudyPlan, annotations: Annotations, rng: np.random.Generator
) -> list[StudyQuery]:
    """Return controls of a ``verify`` study: moved moments, and sentences of other videos."""
    duration = dict(zip(annotations.video_id.tolist(), annotations.duration_s.tolist(), strict=True))
    size = _pool_size(len(entries), plan.controls.absent, plan)
    moved: list[StudyQuery] = []
    for at in rng.permutation(len(entries)).tolist():
        entry = entries[at]
        start_s, end_s = entry.hidden["moments"][0]
        place = moved_moment(start_s, end_s, duration.get(entry.video_id, math.nan), rng)
        if len(moved) < size and len(entry.hidden["moments"]) == 1 and place is not None:
            hidden = {"moments": [], "shown": list(place)}
            moved.append(StudyQuery(f"moved/{len(moved)}", entry.video_id, entry.sentence, "moved", hidden))
    names, sentences = _by_video(entries)
    moment_of = {entry.video_id: entry.hidden["moments"][0] for entry in entries}
    other = [
        StudyQuery(
            f"other/{at}", names[video], sentence, "other", {"moments": [], "shown": list(moment_of[names[video]])}
        )
        for at, (video, sentence) in enumerate(absent_pairs(sentences, size, rng))
    ]
    return [*moved, *other]


class QueryLine(OwnQuery, forbid_unknown_fields=True):
    """A line of the file: as annotations, but moments may be missing."""

    moments: list[tuple[Seconds, Seconds]] = msgspec.field(default_factory=list)


def read_queries(path: Path, split: str | None = None) -> Annotations:
    """Read the queries to be marked, those of `split` and those without one: JSON Lines may leave moments out."""
    if recognise(path)[0] is not REFERENCES["own"]:
        return read_annotations(path, split)
    lines = [
        (number, query)
        for number, query in read_json_lines(path, QueryLine)
        if split in (None, query.split) or not query.split
    ]
    if not lines:
        raise InputError("has no queries", path=path)
    named = all(query.query_id is not None for _, query in lines)
    ids = [str(query.query_id) for _, query in lines] if named else list(numbered(query.video_id for _, query in lines))
    rows: list[tuple[str, str, float, str, float, float, str]] = []
    query_ids: set[str] = set()
    for query_id, (number, query) in zip(ids, lines, strict=True):
        if query_id in query_ids:
            problem = f"got {query_id!r} again, expected each query once"
            raise InputError(problem, path=path, line=number, field="query_id")
        if not query.sentence.strip():
            raise InputError("is empty, expected a sentence", path=path, line=number, field="sentence")
        query_ids.add(query_id)
        duration_s = math.nan if query.duration_s is None else query.duration_s
        moments = query.moments or [(math.nan, math.nan)]
        rows += [(query_id, query.video_id, duration_s, query.sentence, start, end, "") for start, end in moments]
    return Annotations.from_rows(rows, dataset=as_text(path.name), split=split or "all")
