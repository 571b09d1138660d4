"""Spans of time: how much of one lies in others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Span = tuple[float, float]


def overlap_s(a: Span, b: Span) -> float:
    """Return the seconds that two spans share.

    Examples
    --------
    >>> overlap_s((0.0, 2.0), (1.5, 3.0)), overlap_s((0.0, 1.0), (2.0, 3.0))
    (0.5, 0.0)
    """
    return max(0.0, min(a[1], b[1]) - max(a[0], b[0]))


def covered_s(span: Span, spans: Iterable[Span]) -> float:
    """Return the seconds of a span that lie in disjoint spans."""
    return sum(overlap_s(span, other) for other in spans)


def share_within(parts: Sequence[Span], spans: Sequence[Span]) -> float:
    """Return the share of the time of `parts` that lies in disjoint `spans`; parts without length count by touch."""
    length = sum(end - start for start, end in parts)
    if length <= 0:
        inside = sum(any(low <= start <= high for low, high in spans) for start, _ in parts)
        return inside / len(parts) if parts else 0.0
    return sum(covered_s(part, spans) for part in parts) / length


def touches(span: Span, spans: Iterable[Span], within_s: float) -> bool:
    """Whether a span lies within some seconds of one of the spans."""
    return any(low - within_s < span[1] and span[0] < high + within_s for low, high in spans)


def merged(spans: Iterable[Span], gap_s: float = 0.0) -> list[Span]:
    """Return disjoint spans in order; spans with a gap of at most `gap_s` are joined.

    Examples
    --------
    >>> merged([(3.0, 4.0), (0.0, 1.0), (0.5, 2.0)])
    [(0.0, 2.0), (3.0, 4.0)]
    """
    spans_s: list[Span] = []
    for start, end in sorted(spans):
        if spans_s and start <= spans_s[-1][1] + gap_s:
            spans_s[-1] = spans_s[-1][0], max(spans_s[-1][1], end)
        else:
            spans_s.append((start, end))
    return spans_s


def widened(spans: Iterable[Span], by_s: float, end_s: float) -> list[Span]:
    """Return spans that begin earlier and end later, within 0 and `end_s`, joined where they meet."""
    return merged((max(0.0, low - by_s), min(end_s, high + by_s)) for low, high in spans)
