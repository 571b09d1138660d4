"""Reading the answers in words of a file, with counts of the results."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields

import msgspec

from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import STATUSES, UNREADABLE_STATUSES
from truemoment.data.answers.reading import VERSION, ParsedAnswer, Reading
from truemoment.data.answers.sentence import parse_answer
from truemoment.data.formats.base import AnswerRows, Parsing, PredictionRows, Sample, flatten

SHOWN = 20
"""How many answers are kept of those that were read, spread over the file."""
FAILURES = 1000
"""How many are kept of those that were not, the first of them."""
CHARACTERS = 400
"""How much is kept of a text, around what was read of it."""


def parse_rows(rows: AnswerRows, reading: Reading = Reading(), *, progress: bool = False) -> PredictionRows:  # noqa: B008 - a frozen value
    """Read the answers in words of a file; the result has a status per row, and counts in `parsing`."""
    answers = [
        ParsedAnswer("failed", (), None, "no text") if text is None else parse_answer(text, reading)
        for text in _with_progress(rows.text, show=progress)
    ]
    return PredictionRows(
        rows.path,
        rows.line,
        rows.query_id,
        rows.video_id,
        rows.sentence,
        *flatten(rows.path, rows.line, [answer.moments for answer in answers], field=rows.text_field),
        status=[answer.status for answer in answers],
        parsing=_account(rows, answers, reading),
        axis=reading.on,
        header={"made_by": rows.header} if rows.header else {},
        moments_field=rows.text_field,
        format=rows.format,
        number=rows.number,
        note=rows.note,
    )


def reading_of(rows: AnswerRows) -> Reading | None:
    """Return the options that a file of ``truemoment predict endpoint`` states for reading its answers, or None."""
    prompt = rows.header.get("prompt")
    if not isinstance(prompt, dict) or not prompt.keys() & {field.name for field in fields(Reading)}:
        return None
    try:
        return msgspec.convert(prompt, Reading)
    except (msgspec.ValidationError, UsageError) as error:
        raise InputError(f"{error}, expected how answers are read", path=rows.path, line=1, field="prompt") from None


def _with_progress(texts: Iterable[str | None], *, show: bool) -> Iterable[str | None]:
    if not show:
        return texts
    from tqdm import tqdm  # noqa: PLC0415 - only long work needs it, and importing takes time

    return tqdm(texts, desc="reading answers", unit="answer", leave=False, delay=1.0)


def _account(rows: AnswerRows, answers: list[ParsedAnswer], reading: Reading) -> Parsing:
    counts = Counter(answer.status for answer in answers)
    most_frequent = Counter(rows.text).most_common(1)
    unread = [row for row, answer in enumerate(answers) if answer.status in UNREADABLE_STATUSES]
    at = sorted(set(range(len(answers))) - set(unread))
    return Parsing(
        reading=str(reading),
        version=VERSION,
        counts={status: counts[status] for status in STATUSES},
        whys=dict(Counter(f"{answer.status}: {answer.why}" for answer in answers).most_common()),
        identical=most_frequent[0][1] if most_frequent and most_frequent[0][1] > 1 else 0,
        sample=_kept(rows, answers, [at[k * len(at) // min(SHOWN, len(at))] for k in range(min(SHOWN, len(at)))]),
        failures=_kept(rows, answers, unread[:FAILURES]),
    )


def _kept(rows: AnswerRows, answers: list[ParsedAnswer], picked: list[int]) -> tuple[Sample, ...]:
    """Return some answers with their texts, shortened around what was read."""
    samples = []
    for row in picked:
        status, moments, span, why = answers[row]
        text = rows.text[row] or ""
        end = min(len(text), max(CHARACTERS, CHARACTERS // 4 + (len(text) if span is None else span[1])))
        begin = max(0, end - CHARACTERS)
        if span is not None:
            span = max(span[0] - begin, 0), span[1] - begin
        times = tuple((start, None if math.isinf(stop) else stop) for start, stop in moments)
        samples.append(Sample(rows.place(row), text[begin:end], status, times, span, why))
    return tuple(samples)
