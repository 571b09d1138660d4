"""What a metric keeps of a query, and the text in which processes exchange it: JSON Lines, a line a query."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from truemoment.exceptions import InputError
from truemoment.metric.batches import Moments
from truemoment.records import Annotations, Predictions

SAME_TIME_S = 1e-3
SAME_SHARE = 1e-5
"""Two answers to one query are equal up to this: the rounding of float32 in another batch or on another device."""


class AnsweredQuery(msgspec.Struct, frozen=True, omit_defaults=True):
    """Predicted moments of a query, and its references (n, 2); None where annotations have them."""

    query_id: str
    moments: Moments
    references: Moments | None = None
    video_id: str = ""
    duration_s: float | None = None

    def equals(self, other: AnsweredQuery) -> bool:
        """Whether another answer to the query has the same times and scores, up to rounding."""
        same = (self.video_id, self.duration_s) == (other.video_id, other.duration_s)
        return same and _close(self.moments, other.moments) and _close(self.references, other.references)


def _close(one: Moments | None, other: Moments | None) -> bool:
    if one == other:
        return True
    if one is None or other is None:
        return False
    if [len(moment) for moment in one] != [len(moment) for moment in other]:
        return False
    return bool(np.allclose(one, other, rtol=SAME_SHARE, atol=SAME_TIME_S))


def predictions_of(queries: Iterable[AnsweredQuery]) -> Predictions:
    """Return the predictions of some queries."""
    return Predictions.from_lists({of.query_id: of.moments for of in queries})


def annotations_of(queries: Iterable[AnsweredQuery]) -> Annotations:
    """Return the references of some queries; a query without one has no moment in its video."""
    nothing = float("nan")
    return Annotations.from_rows(
        (of.query_id, of.video_id, nothing if of.duration_s is None else of.duration_s, "", start_s, end_s)
        for of in queries
        for start_s, end_s in of.references or [[nothing, nothing]]
    )


def encode(queries: Iterable[AnsweredQuery]) -> bytes:
    """Return queries as JSON Lines; numbers are read back exactly."""
    return msgspec.json.Encoder().encode_lines(queries)


def decode(lines: bytes) -> list[AnsweredQuery]:
    """Return the queries that :func:`encode` wrote, of one process or of several one after the other."""
    try:
        return _DECODER.decode_lines(lines)
    except msgspec.MsgspecError as error:
        raise InputError(f"is not the state of a metric ({error})", field="state") from error


_DECODER = msgspec.json.Decoder(AnsweredQuery)
