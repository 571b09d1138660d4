"""Predictions of a served model for the queries of a split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.errors import MissingFileError
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.data.formats import write_predictions
from truemoment.data.formats.base import Parsing
from truemoment.learning.served.grounder import CollectedAnswers, ServedModel
from truemoment.learning.served.raw import RawAnswer
from truemoment.media.video import find_videos

ALL_MOMENTS = 1000
"""Moments of an answer that are read."""

SHOWN = 5
"""Videos without a file that a message names."""


@dataclass(frozen=True)
class Price:
    """Price of a million tokens, in any currency."""

    prompt: float
    completion: float

    def cost(self, tokens: Mapping[str, int]) -> float:
        """Return the price of a number of tokens."""
        return (tokens["prompt"] * self.prompt + tokens["completion"] * self.completion) / 1e6


@dataclass(frozen=True, eq=False)
class ServedPrediction:
    """Predictions of a served model, and what they cost.

    Parameters
    ----------
    answers
        All answers, of this run and of earlier ones.
    predictions
        The moments that were read from them.
    out, raw
        Files of predictions and of raw answers.
    """

    name: str
    annotations: Annotations
    answers: CollectedAnswers
    predictions: Predictions
    parsing: Parsing | None
    made_by: Mapping[str, Any]
    out: Path
    raw: Path

    @property
    def new(self) -> list[RawAnswer]:
        """Answers of this run."""
        return [answer for query_id, answer in self.answers.answers.items() if query_id in self.answers.new]

    @property
    def statuses(self) -> dict[str, int]:
        """Number of answers by how they were read."""
        return {} if self.parsing is None else {str(status): n for status, n in self.parsing.counts.items()}

    @property
    def cut_off(self) -> int:
        """Number of answers that ended at the limit of tokens."""
        return sum(answer.finish_reason == "length" for answer in self.answers.answers.values())

    @property
    def times(self) -> dict[str, float | None]:
        """Total seconds, and the median and 95 % quantile of a query."""
        took_s = np.array([answer.took_s for answer in self.new])
        median_s, p95_s = np.quantile(took_s, [0.5, 0.95]).tolist() if len(took_s) else (None, None)
        return {"total_s": round(self.answers.took_s, 3), "median_s": median_s, "p95_s": p95_s}


def tokens_of(answers: Iterable[RawAnswer]) -> dict[str, int]:
    """Count tokens: ``prompt``, ``completion``, and answers ``not_told`` by the endpoint."""
    total: Counter[str] = Counter(prompt=0, completion=0, not_told=0)
    for answer in answers:
        usage = answer.usage
        total["prompt"] += usage.prompt_tokens or 0
        total["completion"] += usage.completion_tokens or 0
        total["not_told"] += usage.prompt_tokens is None or usage.completion_tokens is None
    return dict(total)


def predict_with_endpoint(
    model: ServedModel, annotations: Annotations, queries: Queries, out: Path
) -> ServedPrediction:
    """Ask a served model about some queries of a split, and write its predictions."""
    answers = model.ask(queries)
    predictions, parsing = model.read(answers, ALL_MOMENTS)
    made_by = model.made_by
    write_predictions(out, predictions, annotations, made_by=made_by)
    return ServedPrediction(model.name, annotations, answers, predictions, parsing, made_by, out, model.raw)


def files_of_videos(folder: Path, queries: Queries, *, skip_missing: bool) -> dict[str, Path]:
    """Find the file of each video of some queries, by its id."""
    videos = list(dict.fromkeys(queries.video_id))
    file_of = find_videos(folder, videos)
    missing = [video for video in videos if video not in file_of]
    if missing and not (skip_missing and file_of):
        named = ", ".join(missing[:SHOWN]) + (", ..." if len(missing) > SHOWN else "")
        raise MissingFileError(
            f"{folder}: {len(missing)} of {len(videos)} videos are missing ({named}), expected a "
            f"video file named by each id; --on-missing-video skip leaves their queries unanswered"
        )
    return file_of
