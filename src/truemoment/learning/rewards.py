"""Measures as rewards for language models that answer in words, in the form of TRL's ``GRPOTrainer(reward_funcs=...)``.

The trainer calls a reward function with ``prompts``, ``completions`` and a list for each column of the training set,
all by name. The function returns a number for each completion, or None for no reward, so that a set can mix tasks (TRL
at f2cd577, ``docs/source/grpo_trainer.md``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from truemoment.base.errors import InputError, MeasureError
from truemoment.base.intervals import Floats
from truemoment.base.records import UNREADABLE_STATUSES
from truemoment.data.answers.reading import Reading
from truemoment.data.formats.base import AnswerRows, PredictionRows
from truemoment.data.formats.matching import match
from truemoment.data.formats.parsed_answers import parse_rows
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Measure, parse_measure
from truemoment.evaluation.metric.batches import BatchMoments, as_array
from truemoment.evaluation.protocols import Protocol, get_protocol

FORMAT = "format"
"""In place of a measure: can the answer be read?"""


@dataclass(frozen=True)
class Reward:
    """A reward function; made by :func:`reward`."""

    measure: Measure | None
    references: str
    durations: str
    protocol: Protocol
    reading: Reading

    @property
    def __name__(self) -> str:
        """The measure, by which the trainer logs the reward."""
        return FORMAT if self.measure is None else str(self.measure)

    def __call__(self, completions: Sequence[object], **columns: object) -> list[float | None]:
        """Return the reward of each completion: a text, or messages of which the last one is the answer."""
        n_rows = len(completions)
        references = self._column(self.references, columns, n_rows)
        reads = self.reading.on.needs_duration or self.reading.one_sided == "extend" or self.protocol.needs_duration
        needs_duration = self.measure is not None and (reads or self.measure.needs_duration)
        durations = self._column(self.durations, columns, n_rows) if needs_duration else [None] * n_rows
        rewards: list[float | None] = [None] * n_rows
        rows = [row for row, moments in enumerate(references) if moments is not None]
        if rows:
            answers = self._read([_text(completions[row]) for row in rows])
            wanted = BatchMoments.of_batch([references[row] for row in rows], self.references, (2,))
            known = [np.nan if durations[row] is None else durations[row] for row in rows]
            values = self._values(answers, wanted, as_array(known, self.durations))
            for row, value in zip(rows, values, strict=True):
                rewards[row] = value
        return rewards

    def _values(self, answers: PredictionRows, references: BatchMoments, duration_s: Floats) -> list[float | None]:
        if self.measure is None:
            return [float(status not in UNREADABLE_STATUSES) for status in answers.status or ()]
        ids = [str(query_id) for query_id in answers.query_id]
        annotations = references.as_annotations(ids, ids, duration_s)
        scores = evaluate(annotations, match(answers, annotations)[0], [self.measure], self.protocol)
        sums = zip(scores.numerator[0], scores.weight[0], strict=True)
        return [float(value / weight) if weight > 0 else None for value, weight in sums]

    def _read(self, texts: list[str]) -> PredictionRows:
        nothing = [None] * len(texts)
        ids = list(map(str, range(len(texts))))
        return parse_rows(AnswerRows(Path("completions"), None, ids, nothing, nothing, texts), self.reading)

    def _column(self, name: str, columns: Mapping[str, object], n_rows: int) -> Sequence[object]:
        column = columns.get(name)
        if isinstance(column, Sequence) and len(column) == n_rows:
            return column
        got = f"{len(column)} rows" if isinstance(column, Sequence) else f"columns {', '.join(columns) or 'none'}"
        raise InputError(f"got {got}, expected a list of {n_rows} values, one for each completion", field=name)


def reward(
    measure: str | Measure = "mIoU",
    *,
    references: str = "moments",
    durations: str = "duration_s",
    protocol: str | Protocol = "default",
    reading: Reading = Reading(),  # noqa: B008 - a frozen value
) -> Reward:
    """Return a measure as a reward function for TRL's ``GRPOTrainer``.

    Each completion gets the value that :func:`truemoment.evaluate` computes for its query. Answers are read as
    `truemoment evaluate` reads them; one that cannot be read scores 0.

    Parameters
    ----------
    measure
        A measure of moments, as ``mIoU``, ``AxIoU@5`` or ``dR@1,IoU=0.5``; or ``format``: 1 if a moment, or the
        statement that there is none, can be read from the answer, else 0.
    references
        Column of the reference moments in seconds: ``[start, end]`` or a list of them; ``[]`` if the video has no such
        moment. None: no reward for this row.
    durations
        Column of the videos' durations in seconds, read where the measure, the protocol or the axis needs them.
    protocol
        A name, a name with changed fields, or a value. ``sets`` rewards the statement that there is no such moment.
    reading
        How answers are read.

    Examples
    --------
    >>> iou, readable = reward("mIoU"), reward("format")
    >>> answers = ["From 2 to 6 seconds.", [{"role": "assistant", "content": "It is on the left."}]]
    >>> iou(completions=answers, prompts=["..."] * 2, moments=[[4.0, 6.0], [[0.0, 3.0]]])
    [0.5, 0.0]
    >>> readable(completions=answers, prompts=["..."] * 2, moments=[[4.0, 6.0], [[0.0, 3.0]]]), iou.__name__
    ([1.0, 0.0], 'mIoU')
    """
    chosen = None if measure == FORMAT else parse_measure(measure) if isinstance(measure, str) else measure
    if chosen is not None and chosen.needs == "saliency":
        raise MeasureError(f"{chosen} needs clip ratings, which answers do not have; name a measure of moments")
    convention = get_protocol(protocol) if isinstance(protocol, str) else protocol
    return Reward(chosen, references, durations, convention, reading)


def _text(completion: object) -> str:
    """Return the answer: a text, or the text of the last message of a chat, which may be in parts."""
    if isinstance(completion, str):
        return completion
    message = completion[-1] if isinstance(completion, Sequence) and completion else completion
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    raise InputError(f"got {completion!r:.80}, expected text or messages with content", field="completions")
