"""Whether the method loses when its videos are shuffled."""

from __future__ import annotations

import numpy as np

from truemoment.auditing.checks.base import Check
from truemoment.auditing.checks.changed_videos import shuffled
from truemoment.auditing.findings import Finding
from truemoment.auditing.results import Results
from truemoment.auditing.words import detectable, interval, p_value, points

NAME = "uses-video"


def look(results: Results) -> Finding | None:
    """State what shuffling the videos costs."""
    control = results.part(shuffled)
    if control is None:
        return None
    case, m = results.case, results.headline
    measure, percent = results.measure, case.protocol.percent
    moved, fall = control.displacement, control.fall
    if not np.isfinite(moved.share_unchanged) or not np.isfinite(fall.difference[m]):
        return Finding(NAME, "note", "No query is answered on both videos, so shuffling shows nothing.")
    falls = bool(fall.ci95[m, 0] > 0)
    before, after = results.scores.value(measure), control.scores.value(measure)
    verdict = (
        f"Shuffling the video changes {100 * (1 - moved.share_unchanged):.0f} % of the first answers; "
        f"{100 * moved.share_within():.0f} % stay or move by less than a tenth of the video, at start and end. "
        f"{measure} changes from {percent(before)} to {percent(after)}: {points(after - before, sign=True)} points, "
        f"{interval(-fall.ci95[m][::-1], sign=True)}"
        + ("." if falls else f". No loss is shown; {detectable(float(fall.resolves[m]))}.")
    )
    lines = [
        f"{name}: {points(-fall.difference[i], sign=True)}, {interval(-fall.ci95[i][::-1], sign=True)}, "
        f"{p_value(fall.p_holm[i])} (Holm)"
        for i, name in enumerate(case.measures)
        if np.isfinite(fall.difference[i])
    ]
    unread = int(control.answers.unreadable.sum())
    if unread:
        lines.append(
            f"answers on shuffled videos that could not be read, which count as wrong: {unread:,} (on the original "
            f"ones: {int(case.predictions.unreadable.sum()):,})"
        )
    lines += [f"left out: {count:,} {why}" for why, count in moved.left_out.items() if count]
    lines.append(
        "2D-TAN: 67.9 % of first answers unchanged on ActivityNet Captions (Hidden Challenges, section 4), 41.9 % on "
        "Charades-STA (its authors' notebook)"
    )
    return Finding(NAME, "good" if falls else "serious", verdict, tuple(lines), float(fall.difference[m]), falls)


CHECK = Check(
    NAME,
    look,
    "the same method on shuffled videos (`--shuffled`, `--model`)",
    "its figure falls: the 95 % interval of the fall lies above 0",
    "the fall",
)
