"""What was found in videos: the table, the JSON document, the CSV file and the page with pictures."""

from __future__ import annotations

import base64
import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.reports.render.pages import render_page
from truemoment.reports.render.tabular import TableStyle, escaped, render
from truemoment.searching.building import IndexReport
from truemoment.searching.index import Index
from truemoment.searching.layout import Settings
from truemoment.searching.retrieval import FoundMoment
from truemoment.text import one_line, printable_lines
from truemoment.version import __version__ as version

SCORE_DIGITS = 3
SHORTEST_NAME = 9
"""Columns that the name of a video gets however narrow the terminal is."""


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
    found: FoundMoment
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


def table(answers: Sequence[Answer], *, style: TableStyle = "plain", width: int = 0) -> str:
    """Lay out what was found: rank, video, from, to, score.

    Parameters
    ----------
    answers
        What was found.
    style
        As for :func:`~truemoment.reports.render.tabular.render`.
    width
        Columns of the terminal: names of videos are shortened in the middle to fit; 0 for no limit.
    """
    names = [one_line(answer.found.video_id) for answer in answers]

    def laid_out(names: Sequence[str]) -> str:
        rows = [
            [
                str(answer.rank),
                escaped(name, style),
                clock(answer.found.start_s),
                clock(answer.found.end_s),
                f"{answer.found.score:.{SCORE_DIGITS}f}",
            ]
            for name, answer in zip(names, answers, strict=True)
        ]
        return render(["rank", "video", "from", "to", "score"], rows, style=style, numbers=(0, 2, 3, 4))

    if style == "plain" and width > 0 and names:
        others = len(laid_out([""] * len(names)).split("\n", 1)[0]) - len("video")
        names = [shortened(name, max(width - others, SHORTEST_NAME)) for name in names]
    return laid_out(names)


def shortened(text: str, columns: int) -> str:
    """Leave out the middle of a text that takes more columns of a terminal; East Asian characters take two.

    Examples
    --------
    >>> shortened("holidays-2019-part-1", 11), shortened("holidays", 11)
    ('holid…art-1', 'holidays')
    """
    wide = [2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text]
    if sum(wide) <= columns:
        return text
    first, last = 0, len(text)
    taken = 1  # by the sign for what is left out
    while first < last:
        at = first if first <= len(text) - last else last - 1
        if taken + wide[at] > columns:
            break
        taken += wide[at]
        first, last = (first + 1, last) if at == first else (first, last - 1)
    return f"{text[:first]}…{text[last:]}"


def as_csv(query: str, answers: Sequence[Answer]) -> str:
    """Write what was found as CSV, seconds in full; a spreadsheet takes no text for a formula."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["rank", "query", "video_id", "path", "start_s", "end_s", "score"])
    for answer in answers:
        of = answer.found
        words = (_no_formula(printable_lines(text)) for text in (query, of.video_id, str(answer.path)))
        writer.writerow([answer.rank, *words, of.start_s, of.end_s, of.score])
    return stream.getvalue()


def _no_formula(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


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


def index_lines(report: IndexReport, settings: Settings, folder: str, n_videos: int) -> list[str]:
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


def index_document(report: IndexReport, settings: Settings, folder: str, videos: Mapping[str, float]) -> dict[str, Any]:
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
