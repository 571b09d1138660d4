"""The queries of one or more batches: predictions, and references unless annotations have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations, Predictions
from truemoment.evaluation.metric.batches import BatchMoments

SAME_S = 1e-3
SAME_SHARE = 1e-5
"""Two answers to a query are equal up to this: the rounding of float32 in another batch or on another device."""


@dataclass(frozen=True, eq=False)
class SeenQueries:
    """Queries with their predictions and references, rows of both in the same order."""

    predictions: Predictions
    annotations: Annotations | None

    def __len__(self) -> int:
        return len(self.predictions)

    def select_queries(self, keep: Bools) -> SeenQueries:
        """Return the queries marked True; `keep` has shape (Q,)."""
        annotations = None if self.annotations is None else self.annotations.select_queries(keep)
        return SeenQueries(self.predictions.select_queries(keep), annotations)

    @classmethod
    def joined(cls, parts: Sequence[SeenQueries]) -> SeenQueries:
        """Return the queries of all parts, which have no query in common."""
        annotations = [part.annotations for part in parts if part.annotations is not None]
        predictions = Predictions.joined([part.predictions for part in parts])
        return cls(predictions, Annotations.joined(annotations) if annotations else None)

    def of_query(self, row: int) -> tuple[str, Floats, Floats]:
        """Return video, and predictions (n, 3) and references (m, 2), of a query, for a comparison."""
        answers = self.predictions
        rows = slice(*answers.offsets[row : row + 2])
        moments = np.stack([answers.start_s[rows], answers.end_s[rows], answers.score[rows]], axis=1)
        if self.annotations is None:
            return "", moments, np.zeros((0, 2))
        rows = slice(*self.annotations.offsets[row : row + 2])
        references = np.stack([self.annotations.start_s[rows], self.annotations.end_s[rows]], axis=1)
        return str(self.annotations.video_id[rows][0]), moments, references


def same_answer(first: tuple[str, Floats, Floats], second: tuple[str, Floats, Floats]) -> bool:
    """Whether two answers to a query, as of :meth:`SeenQueries.of_query`, are equal up to rounding."""
    return first[0] == second[0] and all(
        a.shape == b.shape and np.allclose(a, b, rtol=SAME_SHARE, atol=SAME_S, equal_nan=True)
        for a, b in zip(first[1:], second[1:], strict=True)
    )


class _Sent(msgspec.Struct):
    """Queries as they are sent: text, and columns of little-endian numbers of 8 bytes."""

    query_id: list[str]
    lengths: bytes
    moments: bytes
    scored: bool
    video_id: list[str] | None = None
    duration_s: bytes = b""
    reference_lengths: bytes = b""
    references: bytes = b""


def encode(parts: Iterable[SeenQueries]) -> bytes:
    """Return queries as bytes, which :func:`decode` reads; the bytes of several processes may follow each other."""
    bodies = [msgspec.msgpack.encode(_sent(part)) for part in parts]
    return b"".join(len(body).to_bytes(8, "little") + body for body in bodies)


def _sent(part: SeenQueries) -> _Sent:
    answers, annotations = part.predictions, part.annotations
    moments = np.stack([answers.start_s, answers.end_s, answers.score], axis=1)
    sent = _Sent(answers.query_id.tolist(), _bytes(answers.lengths, "<i8"), _bytes(moments, "<f8"), answers.scored)
    if annotations is not None:
        references = np.stack([annotations.start_s, annotations.end_s], axis=1)
        sent.video_id = annotations.queries.video_id.tolist()
        sent.duration_s = _bytes(annotations.queries.duration_s, "<f8")
        sent.reference_lengths = _bytes(np.diff(annotations.offsets), "<i8")
        sent.references = _bytes(references, "<f8")
    return sent


def decode(state: bytes) -> list[SeenQueries]:
    """Return the queries that :func:`encode` wrote; together, unless one comes twice."""
    sent, at = [], 0
    try:
        while at < len(state):
            body = at + 8
            at = body + int.from_bytes(state[at:body], "little")
            sent.append(msgspec.msgpack.decode(state[body:at], type=_Sent))
        names = [name for part in sent for name in part.query_id]
        if len(set(names)) == len(names) and len({part.video_id is None for part in sent}) == 1:
            return [_received(sent)]
        return [_received([part]) for part in sent]
    except (msgspec.MsgspecError, ValueError) as error:
        raise InputError(f"is not the state of a metric ({error})", field="state") from error


def _received(sent: Sequence[_Sent]) -> SeenQueries:
    def column(name: str) -> Floats:
        return np.frombuffer(b"".join(getattr(part, name) for part in sent), "<f8")

    query_id = [name for part in sent for name in part.query_id]
    answers = BatchMoments(column("lengths").view("<i8"), column("moments").reshape(-1, 3)).as_predictions(query_id)
    if not any(part.scored for part in sent):
        answers = replace(answers, scored=False)
    video_id = [name for part in sent if part.video_id is not None for name in part.video_id]
    if not video_id:
        return SeenQueries(answers, None)
    table = BatchMoments(column("reference_lengths").view("<i8"), column("references").reshape(-1, 2))
    return SeenQueries(answers, table.as_annotations(query_id, video_id, column("duration_s")))


def _bytes(column: Floats | Ints, dtype: str) -> bytes:
    return column.astype(dtype).tobytes()
