"""What was found in videos: the table, the JSON document, the CSV file and the page with pictures."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.reports.tables import TableStyle, escaped, render
from truemoment.reports.template import render_page
from truemoment.reports.text import one_line
from truemoment.search.extraction import Report
from truemoment.search.index import Index, Settings
from truemoment.search.retrieval import Found
from truemoment.version import __version__ as version

SCORE_DIGITS = 3


@dataclass(frozen=True)
class Answer:
    """A moment that was found, and where it can be looked at.

    Parameters
    ----------
    rank
        From 1.
    found
        The moment.
    path
        File of its video.
    thumbnail, clip
        Files that were written of it; None if none was.
    picture
        A JPEG of it, for the page; None if there is none.
    """

    rank: int
    found: Found
    path: Path
    thumbnail: Path | None = None
    clip: Path | None = None
    picture: bytes | None = None


def clock(time_s: float) -> str:
    """Write seconds as a player shows them.

    Examples
    --------
    >>> clock(75.26), clock(3599.96), clock(7.0)
    ('0:01:15.3', '1:00:00.0', '0:00:07.0')
    """
    tenths = round(time_s * 10)
    return f"{tenths // 36000}:{tenths // 600 % 60:02}:{tenths // 10 % 60:02}.{tenths % 10}"


def table(answers: Sequence[Answer], *, style: TableStyle = "plain") -> str:
    """Lay out what was found: rank, video, from, to, score."""
    rows = [
        [
            str(answer.rank),
            escaped(one_line(answer.found.video_id), style),
            clock(answer.found.start_s),
            clock(answer.found.end_s),
            f"{answer.found.score:.{SCORE_DIGITS}f}",
        ]
        for answer in answers
    ]
    return render(["rank", "video", "from", "to", "score"], rows, style=style, numbers=(0, 2, 3, 4))


def as_csv(query: str, answers: Sequence[Answer]) -> str:
    """Write what was found as CSV, seconds in full."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["rank", "query", "video_id", "path", "start_s", "end_s", "score"])
    for answer in answers:
        of = answer.found
        writer.writerow([answer.rank, query, of.video_id, answer.path, of.start_s, of.end_s, of.score])
    return stream.getvalue()


def document(query: str, answers: Sequence[Answer], index: Index, scored: int) -> dict[str, Any]:
    """Return what was found as a JSON document.

    Parameters
    ----------
    query, answers
        What was asked, and what was found.
    index
        Where.
    scored
        Videos that were scored exactly.
    """
    return {
        "schema": "truemoment/search/1",
        "truemoment": version,
        "query": query,
        "index": index.name,
        **_of_settings(index.settings),
        "n_videos": len(index),
        "n_scored": scored,
        "seed": None,
        "moments": [
            {
                "rank": answer.rank,
                "video_id": answer.found.video_id,
                "path": str(answer.path),
                "start_s": answer.found.start_s,
                "end_s": answer.found.end_s,
                "score": answer.found.score,
                "thumbnail": None if answer.thumbnail is None else str(answer.thumbnail),
                "clip": None if answer.clip is None else str(answer.clip),
            }
            for answer in answers
        ],
    }


def _of_settings(settings: Settings) -> dict[str, Any]:
    return {
        "model": settings.model,
        "encoder": settings.encoder,
        "fingerprint": settings.fingerprint,
        "n_dimensions": settings.n_dimensions,
        "fps": settings.fps,
        "proposals": settings.proposals,
    }


def page(query: str, answers: Sequence[Answer], index: Index, *, command: str = "") -> str:
    """Return the page of what was found as HTML: pictures stand in it, so that it can be sent."""
    shown = [
        {
            "rank": answer.rank,
            "video": answer.found.video_id,
            "start": clock(answer.found.start_s),
            "end": clock(answer.found.end_s),
            "score": f"{answer.found.score:.{SCORE_DIGITS}f}",
            "path": str(answer.path),
            "picture": None if answer.picture is None else base64.b64encode(answer.picture).decode("ascii"),
        }
        for answer in answers
    ]
    about = index.settings
    facts = [
        ("Index", index.name),
        ("Videos", f"{len(index):,}"),
        ("Model", f"{about.encoder}#{about.fingerprint[:8]}"),
        ("Frames a second", f"{about.fps:g}"),
    ]
    return render_page("search.html.j2", query=query, shown=shown, facts=facts, command=command, hashes=())


# ------------------------------------------------------------------------------------------------- indexing


def index_lines(report: Report, settings: Settings, folder: str, n_videos: int) -> list[str]:
    """Say what building an index came to."""
    plan = report.plan
    hours = sum(report.indexed.values())
    counts = [
        (len(report.indexed), "read now"),
        (len(plan.unchanged), "there before"),
        (plan.moved, "of these moved"),
        (len(plan.copies), "left out as copies"),
        (len(report.failed), "not readable"),
    ]
    told = ", ".join(f"{many:,} {what}" for many, what in counts if many)
    lines = [
        f"{folder}: {n_videos:,} {'video' if n_videos == 1 else 'videos'} ({told})",
        f"{settings.fps:g} frames a second, {settings.n_dimensions:,} numbers each by {one_line(settings.encoder)}",
    ]
    if report.n_frames:
        rates = ", ".join(f"{name} {rate:,.0f}" for name, rate in report.rates.items())
        overall = report.n_frames / max(report.wall_s, 1e-9)
        lines.append(
            f"{clock(hours)} of video, {report.n_frames:,} frames in {report.wall_s:,.1f} s: {overall:,.0f} a second"
        )
        lines.append(f"frames a second of a worker: {rates}; {report.bound_by} is what the others wait for")
    if report.parts_kept:
        were = "part was" if report.parts_kept == 1 else "parts were"
        lines.append(f"{report.parts_kept:,} {were} done by an earlier command")
    return lines


def index_document(report: Report, settings: Settings, folder: str, videos: Mapping[str, float]) -> dict[str, Any]:
    """Return what building an index came to as a JSON document.

    Parameters
    ----------
    report, settings, folder
        What was done, how, and where.
    videos
        Duration of each video of the index.
    """
    plan = report.plan
    return {
        "schema": "truemoment/index-report/1",
        "truemoment": version,
        "index": folder,
        **_of_settings(settings),
        "seed": None,
        "videos": [{"video_id": name, "duration_s": duration_s} for name, duration_s in videos.items()],
        "new": [film.video_id for film in plan.new if film.video_id in report.indexed],
        "changed": [film.video_id for film in plan.changed if film.video_id in report.indexed],
        "unchanged": [film.video_id for film in plan.unchanged],
        "moved": plan.moved,
        "copies": [str(path) for path in plan.copies],
        "failed": dict(report.failed),
        "notes": dict(report.notes),
        "parts_kept": report.parts_kept,
        "n_frames": report.n_frames,
        "frames_a_second": report.rates,
        "bound_by": report.bound_by,
        "seconds": report.wall_s,
    }
