"""The moments that a search lists: those that stand out, without those of avoided sentences, near copies once.

The ranked moments go through these steps, in this order. Each is exact: it sees as much of the ranking as it needs.

1. *Every*, *first*: a moment stays if its match is :data:`~truemoment.searching.unrelated.STANDS_OUT` or more.
2. *Avoid*: a moment goes if its match with an avoided sentence, or that of one of its parts, is that or more.
3. *First*: of each video the earliest moment stays.
4. *Fold*: a moment is a near copy of a better one if the cosine of their mean frames, which are all that a search sees,
   reaches a limit; a sequence, if each of its moments is. Copies of a listed moment are counted as far as they rank
   before the first moment that is not listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.media.features.base import Frames
from truemoment.searching.index import Index
from truemoment.searching.listing import MomentListing
from truemoment.searching.median_scores import median_scores
from truemoment.searching.moment_rows import vectors_of
from truemoment.searching.retrieval import FoundMoment
from truemoment.searching.searcher import ALL, IndexSearcher
from truemoment.searching.stopping import RetrievedMoments
from truemoment.searching.unit_vectors import unit
from truemoment.searching.unrelated import STANDS_OUT, Unrelated, with_matches

ROUNDING = 1e-6
"""How far the cosine of two equal vectors may be below 1."""

DEEPER = 4
"""How much further the ranking is read at a time."""


def find_listed(
    searcher: IndexSearcher,
    unrelated: Unrelated | None,
    listing: MomentListing,
    sentence_vectors: Frames,
    avoided_vectors: Frames | None = None,
) -> RetrievedMoments:
    """Return the moments that a search lists, best first, with their matches.

    Parameters
    ----------
    searcher
        Searches the index.
    unrelated
        How unrelated sentences fit the index.
    listing
        Which moments are listed.
    sentence_vectors : (S, D)
        Vector of the sentence, or of the sentences of a sequence.
    avoided_vectors : (A, D)
        Vectors of the avoided sentences.

    Raises
    ------
    UsageError
        If moments must stand out, and the index is too short to say whether they do.
    """
    index, top = searcher.index, searcher.ranking.top
    if unrelated is None and (listing.must_stand_out or listing.avoided):
        name = "--every" if listing.every else "--first" if listing.first else "--avoid"
        raise UsageError(f"{name}: expected two minutes of video or more, in less it is unknown what stands out")
    medians = median_scores(index, sentence_vectors)
    avoided_medians = [] if avoided_vectors is None else median_scores(index, avoided_vectors)

    def find(n: int) -> RetrievedMoments:
        if len(sentence_vectors) == 1:
            return searcher.find(sentence_vectors, medians, n)[0]
        return searcher.find_sequences(sentence_vectors, medians, listing.gap, n)

    def keep(moments: Sequence[FoundMoment], most: int) -> list[FoundMoment]:
        matched = _matched(index, unrelated, sentence_vectors, medians, moments)
        if listing.must_stand_out:
            matched = [moment for moment in matched if _stands_out(moment)]
        for vector, median in zip(() if avoided_vectors is None else avoided_vectors, avoided_medians, strict=True):
            parts = [part for moment in matched for part in moment.parts or (moment,)]
            bad = {part[:3] for part in with_matches(index, unrelated, vector, median, parts) if _stands_out(part)}
            matched = [m for m in matched if not any(part[:3] in bad for part in m.parts or (m,))]
        if listing.first:
            earliest = {m.video_id: m for m in sorted(matched, key=lambda m: (m.start_s, m.end_s), reverse=True)}
            matched = [moment for moment in matched if moment is earliest[moment.video_id]]
        return matched if listing.fold is None else folded(index, matched, listing.fold, most)

    if listing.must_stand_out:
        answer = find(ALL)
        return replace(answer, moments=keep(answer.moments, ALL))
    n = top if listing.fold is None and not listing.avoided else DEEPER * top
    while True:
        answer = find(n)
        kept = keep(answer.moments, top + 1)
        if len(kept) > top or len(answer.moments) < n or n == top:
            return replace(answer, moments=kept[:top])
        n *= DEEPER


def _stands_out(moment: FoundMoment) -> bool:
    return moment.match is not None and moment.match >= STANDS_OUT


def _matched(
    index: Index,
    unrelated: Unrelated | None,
    vectors: Frames,
    medians: Sequence[float],
    moments: Sequence[FoundMoment],
) -> list[FoundMoment]:
    """Return moments with their matches, sequences with those of their parts and the least of them."""
    if len(vectors) == 1 or unrelated is None:
        return with_matches(index, unrelated, vectors[0], medians[0], moments)
    columns = zip(*(moment.parts for moment in moments), strict=True)
    matched = [
        with_matches(index, unrelated, vector, median, column)
        for vector, median, column in zip(vectors, medians, columns, strict=False)  # no columns without moments
    ]
    return [
        moment._replace(match=min(part.match or 0.0 for part in parts), parts=parts)
        for moment, parts in zip(moments, zip(*matched, strict=True), strict=True)
    ]


def folded(index: Index, moments: Iterable[FoundMoment], limit: float, most: int) -> list[FoundMoment]:
    """Return the first `most` moments that are no near copies of a better one, with the number of their copies.

    Parameters
    ----------
    index
        The index.
    moments
        Best first.
    limit
        Cosine of two mean frames from which a moment is a near copy.
    most
        Number of moments.
    """
    kept: list[FoundMoment] = []
    vectors: list[Frames] = []
    for moment in moments:
        parts = moment.parts or (moment,)
        vector = unit(vectors_of(index, [part[:3] for part in parts]))
        cosines = np.einsum("ksd,sd->ks", np.stack(vectors), vector).min(axis=1) if vectors else np.zeros(0)
        is_copy = cosines >= limit - ROUNDING
        if is_copy.any():
            best = int(is_copy.argmax())
            kept[best] = kept[best]._replace(copies=kept[best].copies + 1)
        elif len(kept) == most - 1:
            return [*kept, moment]
        else:
            kept.append(moment)
            vectors.append(vector)
    return kept
