"""Export of a study: what people marked, every answer, and a datasheet."""

from __future__ import annotations

import math
import sqlite3
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from truemoment.base.boundary.documents import write_document
from truemoment.base.boundary.files import write_bytes, write_json_lines, write_text
from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.tables import csv_text
from truemoment.base.records import Queries
from truemoment.base.version import __version__ as version
from truemoment.data.datasets.answer_file import SCHEMA, AnswersHead, StudyAnswers, one_moment
from truemoment.data.datasets.own import OwnQuery
from truemoment.data.datasets.random_order import Order, random_order
from truemoment.studies.humans.answer_agreement import answer_agreement
from truemoment.web.annotating.control_scores import person_scores
from truemoment.web.annotating.datasheet import datasheet_document, datasheet_text
from truemoment.web.annotating.events import last_change
from truemoment.web.annotating.instructions import read_instructions
from truemoment.web.annotating.practice import hidden_moments
from truemoment.web.annotating.reading import StudyFrameTables, read_study_answers
from truemoment.web.annotating.results import Exported, read_state
from truemoment.web.annotating.store import opened
from truemoment.web.annotating.study import StudyFolder

MomentRule = Literal["all", "longest", "hull"]

ANNOTATIONS, ANSWERS, PER_CENT = "annotations.jsonl", "answers.jsonl", "hidden-challenges.csv"
VERDICTS, SHEET, SHEET_JSON = "verdicts.jsonl", "datasheet.md", "datasheet.json"


class VerdictLine(msgspec.Struct, frozen=True):
    """A line of ``verdicts.jsonl``: the verdicts on a sentence and the moment shown with it."""

    query_id: str
    video_id: str
    sentence: str
    start_s: float
    end_s: float
    verdicts: dict[str, int]
    reasons: dict[str, int]


def export_study(
    study: StudyFolder,
    connection: sqlite3.Connection,
    out: Path,
    *,
    moments: MomentRule = "all",
    order: Order | None = None,
) -> Exported:
    """Write the files of a study into a folder, each complete or not at all.

    Parameters
    ----------
    moments
        What becomes of several moments of one answer: all are kept, the longest, or their hull.
    order
        ``random``: a video's queries are in random order and have new ids, in every file. None is ``file`` where the
        queries had moments before, whose ids others use, and ``random`` for a new dataset.
    """
    settings = study.settings()
    exported_change = last_change(connection)
    rows = read_study_answers(connection, StudyFrameTables(study))
    state = read_state(study, connection)
    head = AnswersHead(SCHEMA, settings.name, version, settings.seed, settings.task)
    answers = StudyAnswers(head, tuple(row.line for row in rows), ANSWERS)
    agreement = answer_agreement(answers.by_query(), np.random.default_rng(settings.seed))
    people = person_scores(rows, agreement.queries, state.references, settings.gold_iou)
    if not order:  # queries with moments before the study are those of a dataset, which people annotate again
        stored = connection.execute("SELECT hidden FROM queries WHERE kind = 'query'")
        order = "file" if any(hidden_moments(query["hidden"]) for query in stored) else "random"
    new_id = random_order(_queries(answers), settings.seed) if order == "random" else {}
    if order == "random":
        place = {old: at for at, old in enumerate(new_id)}
        ordered = sorted(answers.answers, key=lambda answer: place[answer.query_id])
        renamed = (msgspec.structs.replace(answer, query_id=new_id[answer.query_id]) for answer in ordered)
        answers = replace(answers, answers=tuple(renamed))
    with lock_folder(out):
        folder = OwnPath(out)
        files = {ANSWERS: write_json_lines(folder / ANSWERS, [head, *answers.answers]) - 1}
        if settings.task == "mark":
            queries = _own_queries(answers, moments)
            files[ANNOTATIONS] = write_json_lines(folder / ANNOTATIONS, queries)
            files[PER_CENT] = _write_per_cent(folder / PER_CENT, queries)
        else:
            files[VERDICTS] = write_json_lines(folder / VERDICTS, _verdicts(answers))
        exported = Exported(settings, answers, people, agreement, files, _several(answers, moments), order)
        document = datasheet_document(study, exported, state, moments, _decisions(connection, new_id))
        write_document(folder / SHEET_JSON, document)
        write_text(folder / SHEET, datasheet_text(document, read_instructions(study.instructions)))
        study.record_export(exported_change)
    return exported


def write_archive(study: Path, path: Path) -> None:
    """Write an export of a study as a ZIP file, `path`: the work of a process."""
    folder = StudyFolder(study)
    with (
        tempfile.TemporaryDirectory() as files,
        opened(folder.database) as connection,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        export_study(folder, connection, Path(files))
        for file in sorted(Path(files).iterdir()):
            archive.write(file, file.name)


def _queries(answers: StudyAnswers) -> Queries:
    """Return the queries that were answered, controls included, in the order of the study."""
    entries = {answer.query_id: answer for answer in answers.answers}.values()
    return Queries(
        np.array([entry.query_id for entry in entries], dtype=object),
        np.array([entry.video_id for entry in entries], dtype=object),
        np.array([math.nan if entry.duration_s is None else entry.duration_s for entry in entries]),
        np.array([entry.sentence for entry in entries], dtype=object),
    )


def _several(answers: StudyAnswers, moments: MomentRule) -> int:
    if moments != "all":
        return 0
    return sum(any(len(answer.moments) > 1 for answer in all_of) for all_of in answers.by_query().values())


def _own_queries(answers: StudyAnswers, moments: MomentRule) -> list[OwnQuery]:
    """Return the annotations: marked moments with their annotators; what all call absent has no moments.

    A query that some call absent and others mark has the moments of those who mark it.
    """
    queries = []
    for query_id, group in answers.by_query().items():
        rows = [
            (moment, answer.annotator)
            for answer in group
            if answer.verdict == "marked"
            for moment in one_moment(answer.moments, moments)
        ]
        if not rows and {answer.verdict for answer in group} != {"absent"}:
            continue
        queries.append(
            OwnQuery(
                query_id=query_id,
                video_id=group[0].video_id,
                duration_s=group[0].duration_s,
                sentence=group[0].sentence,
                moments=[moment for moment, _ in rows],
                annotators=[name for _, name in rows] or None,
            )
        )
    return queries


def _write_per_cent(path: OwnPath, queries: Sequence[OwnQuery]) -> int:
    """Write the table of Hidden Challenges: a row per moment, in per cent of the video."""
    rows = [
        (
            *(query.query_id, query.video_id, query.sentence),
            *(f"{min(100.0, 100 * time_s / query.duration_s):.9g}" for time_s in moment),
        )
        for query in queries
        if query.duration_s
        for moment in query.moments
    ]
    write_bytes(path, csv_text(("HITId", "video_id", "description", "start", "end"), rows).encode())
    return len(rows)


def _verdicts(answers: StudyAnswers) -> list[VerdictLine]:
    lines = []
    for query_id, group in answers.by_query().items():
        start_s, end_s = group[0].shown or (0.0, 0.0)
        reasons = Counter(reason for answer in group for reason in answer.reasons)
        verdicts = Counter(answer.verdict for answer in group)
        line = VerdictLine(
            query_id,
            group[0].video_id,
            group[0].sentence,
            start_s,
            end_s,
            dict(verdicts),
            dict(sorted(reasons.items())),
        )
        lines.append(line)
    return lines


class _OwnerDecision(msgspec.Struct):
    """What is stored of a decision; fields that are not read are left out."""

    name: str | None = None
    why: str = ""


def _decisions(connection: sqlite3.Connection, new_id: Mapping[str, str]) -> list[dict[str, object]]:
    """Return what the owner decided: who was revoked, replaced, and which tasks were set aside, and why."""
    rows = connection.execute(
        "SELECT e.kind, e.body, p.name, q.query_id FROM events e LEFT JOIN tasks t ON t.id = e.task "
        "LEFT JOIN people p ON p.id = coalesce(t.person, e.person) LEFT JOIN queries q ON q.id = t.query "
        "WHERE e.kind IN ('revoke', 'replace', 'set aside', 'close') ORDER BY e.seq"
    ).fetchall()
    decisions = []
    for row in rows:
        body = msgspec.json.decode(row["body"], type=_OwnerDecision)
        entry = {"what": row["kind"], "person": body.name or row["name"]}
        entry["query_id"] = new_id.get(row["query_id"], row["query_id"])
        decisions.append({**entry, "why": body.why})
    return decisions
