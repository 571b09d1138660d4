"""Reading the answers of a file, and the account of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from truemoment.io.answers.reading import VERSION, Answer, Reading
from truemoment.io.answers.sentence import parse_answer
from truemoment.io.base import AnswerRows, Parsing, PredictionRows, Sample, flatten
from truemoment.records import STATUSES

SHOWN = 20
"""How many answers are kept of those that were read, and of those that were not."""


def parse_rows(rows: AnswerRows, reading: Reading = Reading(), *, progress: bool = False) -> PredictionRows:
    """Read the answers of a file.

    Parameters
    ----------
    rows
        Answers in words, one row a query.
    reading
        How they are read.
    progress
        Show progress on standard error.

    Returns
    -------
    PredictionRows
        With a status a row, and the account of the reading in `parsing`.
    """
    answers = [
        Answer("failed", (), None, "no text") if text is None else parse_answer(text, reading)
        for text in _followed(rows.text, show=progress)
    ]
    unscored = PredictionRows(
        rows.path,
        rows.format,
        rows.line,
        rows.query_id,
        rows.video_id,
        rows.sentence,
        *flatten(rows.path, rows.line, [answer.moments for answer in answers]),
        status=[answer.status for answer in answers],
        parsing=_account(rows, answers, reading),
        axis=reading.on,
        header=rows.header,
        moments_field=rows.text_field,
    )
    return unscored


def _followed(texts: Iterable[str | None], *, show: bool) -> Iterable[str | None]:
    if not show:
        return texts
    from tqdm import tqdm  # noqa: PLC0415 - only long work needs it, and importing takes time

    return tqdm(texts, desc="reading answers", unit="answer", leave=False, delay=1.0)


def _account(rows: AnswerRows, answers: list[Answer], reading: Reading) -> Parsing:
    counts = Counter(answer.status for answer in answers)
    order = Counter(rows.text).most_common(1)
    return Parsing(
        reading=str(reading),
        version=VERSION,
        counts={status: counts[status] for status in STATUSES},
        whys=dict(Counter(f"{answer.status}: {answer.why}" for answer in answers).most_common()),
        identical=order[0][1] if order and order[0][1] > 1 else 0,
        sample=_some(rows, answers, unread=False),
        failures=_some(rows, answers, unread=True),
    )


def _some(rows: AnswerRows, answers: list[Answer], *, unread: bool) -> tuple[Sample, ...]:
    """Return some answers spread evenly over the file: those that were read, or those that were not."""
    at = [row for row, answer in enumerate(answers) if (answer.status not in ("parsed", "no answer")) == unread]
    picked = [at[k * len(at) // min(SHOWN, len(at))] for k in range(min(SHOWN, len(at)))]
    return tuple(
        Sample(rows.place(row), rows.text[row] or "", answer.status, answer.moments, answer.span, answer.why)
        for row in picked
        for answer in [answers[row]]
    )
