"""What a run of a served model cost and brought, for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truemoment.io.base import Parsing
from truemoment.records import Annotations
from truemoment.served.grounder import CollectedAnswers
from truemoment.served.raw import RawAnswer
from truemoment.version import __version__

SCHEMA = "truemoment/predict/1"

SHOWN = 5
"""Queries that are named; the JSON document names all."""


@dataclass(frozen=True)
class Price:
    """What tokens cost, per million.

    Parameters
    ----------
    prompt, completion
        In whatever money.
    """

    prompt: float
    completion: float

    def of(self, tokens: Mapping[str, int]) -> float:
        """Return what so many tokens cost."""
        return (tokens["prompt"] * self.prompt + tokens["completion"] * self.completion) / 1e6


@dataclass(frozen=True, eq=False)
class Told:
    """All there is to say of a run.

    Parameters
    ----------
    name
        Of the method.
    annotations
        What was asked.
    asked
        What came of it.
    parsing
        How answers were read; None where there are none.
    made_by
        By which settings.
    price
        None where it is not told.
    out, raw
        Where predictions and raw answers went.
    """

    name: str
    annotations: Annotations
    asked: CollectedAnswers
    parsing: Parsing | None
    made_by: Mapping[str, Any]
    price: Price | None
    out: str
    raw: str

    @property
    def new(self) -> list[RawAnswer]:
        """Answers of this run."""
        return [answer for query_id, answer in self.asked.answers.items() if query_id in self.asked.new]

    @property
    def counts(self) -> dict[str, int]:
        """Answers by how they were understood."""
        return {} if self.parsing is None else {str(status): n for status, n in self.parsing.counts.items()}


def tokens_of(answers: Iterable[RawAnswer]) -> dict[str, int]:
    """Count tokens: ``prompt``, ``completion``, and answers ``not_told`` by the endpoint."""
    total: Counter[str] = Counter(prompt=0, completion=0, not_told=0)
    for answer in answers:
        usage = answer.usage
        total["prompt"] += usage.prompt_tokens or 0
        total["completion"] += usage.completion_tokens or 0
        total["not_told"] += usage.prompt_tokens is None or usage.completion_tokens is None
    return dict(total)


def _times(told: Told) -> dict[str, float | None]:
    took_s = np.array([answer.took_s for answer in told.new])
    middle, most = np.quantile(took_s, [0.5, 0.95]).tolist() if len(took_s) else (None, None)
    return {"total_s": round(told.asked.took_s, 3), "median_s": middle, "p95_s": most}


def document(told: Told) -> dict[str, Any]:
    """Return the JSON document."""
    asked, everything = told.asked, tokens_of(told.asked.answers.values())
    now = tokens_of(told.new)
    price = told.price
    return {
        "schema": SCHEMA,
        "truemoment": __version__,
        "dataset": told.annotations.dataset,
        "split": told.annotations.split,
        "annotations": {
            "sha256": told.annotations.sha256,
            "n_queries": told.annotations.n_queries,
            "n_videos": told.annotations.n_videos,
        },
        "name": told.name,
        "made_by": dict(told.made_by),
        "predictions": told.out,
        "raw": told.raw,
        "queries": {
            "asked": len(asked.new),
            "from_raw": len(asked.answers) - len(asked.new),
            "unanswered": len(asked.unanswered),
        },
        "requests": asked.n_requests,
        "statuses": told.counts,
        "cut_off": _cut_off(told),
        "tokens": {"now": now, "all": everything},
        "cost": None if price is None else {"now": price.of(now), "all": price.of(everything)},
        "price_per_million": None if price is None else {"prompt": price.prompt, "completion": price.completion},
        "time": _times(told),
        "unanswered": [{"query_id": u.query_id, "video_id": u.video_id, "why": u.why} for u in asked.unanswered],
    }


def _cut_off(told: Told) -> int:
    return sum(answer.finish_reason == "length" for answer in told.asked.answers.values())


def lines(told: Told) -> list[str]:
    """Return what people read of a run."""
    asked, now = told.asked, tokens_of(told.new)
    queries = asked.queries
    found = [
        told.name,
        f"{told.annotations.dataset}/{told.annotations.split}: {len(queries)} queries, "
        f"{len(set(queries.video_id))} videos",
        f"asked now: {len(asked.new)}; answered before: {len(asked.answers) - len(asked.new)}; "
        f"not answered: {len(asked.unanswered)}",
    ]
    if told.parsing is not None:
        counted = ", ".join(f"{n} {status}" for status, n in told.counts.items() if n)
        found.append(f"read (parser {told.parsing.version}): {counted or 'nothing'}")
    if told.new:
        cost = "" if told.price is None else f"; cost {told.price.of(now):.4g}"
        unknown = f" ({now['not_told']} answers without a count)" if now["not_told"] else ""
        found.append(f"tokens: {now['prompt']:,} in, {now['completion']:,} out{unknown}{cost}")
        times = _times(told)
        again = asked.n_requests - len(asked.new)
        found.append(
            f"time: {times['total_s']:.1f} s; a query {times['median_s']:.2f} s (median), {times['p95_s']:.2f} s (95 %)"
            + (f"; {again} requests were made again" if again else "")
        )
    return [*found, f"answers: {told.out}", f"raw answers: {told.raw}"]


def notes(told: Told) -> list[str]:
    """Return what is worth a look: what could not be asked, was cut off, or does not fit."""
    asked, found = told.asked, []
    if asked.dropped_bytes:
        found.append(f"{told.raw}: a last line that was cut off ({asked.dropped_bytes} bytes) was dropped, asked again")
    if cut := _cut_off(told):
        found.append(f"answers that were cut off at --max-tokens: {cut}")
    if odd := asked.odd_durations:
        video, file_s, told_s = odd[0]
        found.append(
            f"videos that last another time than the annotations say: {len(odd)}, e.g. {video} {file_s:.1f} s in place "
            f"of {told_s:.1f} s"
        )
    if missing := asked.unanswered:
        found.append(f"{len(missing)} of {len(asked.queries)} queries are not answered, and will count as wrong:")
        found += [f"  {of.query_id}: {of.why}" for of in missing[:SHOWN]]
        if len(missing) > SHOWN:
            found.append(f"  ... and {len(missing) - SHOWN} more (--json names them)")
        found.append("the same command asks these again, and only these")
    return found
