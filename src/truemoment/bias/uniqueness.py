r"""Sentences that are unique within their video: a repeated sentence is ambiguous.

In MAD (A.1.2), a sentence is unique if its METEOR score with every other sentence of its film is below a threshold,
0.99 or 0.9. METEOR has two directions; here a unique sentence is below the threshold in both, as hypothesis and as
reference. Words are compared without case and punctuation, see :mod:`truemoment.language.meteor`.

The penalty for chunks limits the score of equal sentences of m words to :math:`1 - \tfrac12 / m^3`. At 0.99, even a
verbatim repeat of up to three words counts as unique; at 0.9, one of a single word. `n_verbatim` counts all verbatim
repeats.

Exact, without scoring all pairs
--------------------------------
Let the sentences of a pair have s and l words, s <= l, with m aligned ones, and let t be the threshold.

1. *m is the number of stems they share, counted with multiplicity.* In a class of words with one stem, of which one
   sentence has a and the other b, e are aligned as equal words. That leaves a - e and b - e, and the lesser of these is
   aligned as stems: min(a, b) in all. Equal words have equal stems, so no pair of words spans two classes.
2. *The score is at most* :math:`(1 - \tfrac12 / m^3) \cdot m / (0.9 s + 0.1 l)`: there is one chunk or more, and the
   better direction has the shorter sentence as reference, since then the lesser number has the greater weight.
3. So a pair that reaches t has m >= t (0.9 s + 0.1 l) >= t s, and s >= m >= t (0.9 s + 0.1 l) bounds l.
4. Number the occurrences of each stem in a sentence: *open* 1, *open* 2. The pair shares m of these numbered stems. If
   m is to be need = ceil(t s) or more, at most s - need of the shorter sentence's are not shared, so **of any
   s - need + 1 of them one is shared**.

So each sentence looks for its s - need + 1 numbered stems that are rarest in the video in the other sentences, as long
or longer. For each candidate, m is counted and bound 2 applied; only pairs that can reach t are scored. Sentences with
the same words are merged first, because their score is known. The tests compare the result with scores of all pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.bias.statistics import each_query_once
from truemoment.exceptions import UsageError
from truemoment.intervals import Bools, Floats, Ints
from truemoment.language.meteor import ALPHA, BETA, GAMMA, align, count_chunks, score, split_words, stem
from truemoment.records import Annotations

SLACK = 1e-9
"""Tolerance of the bounds, so that rounding loses no pair."""

BLOCK = 2**20
"""Number of candidate pairs, or of their numbered stems, that are processed at a time."""


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """Sentences that are unique within their video, at one threshold.

    Parameters
    ----------
    threshold
        A sentence is unique if its METEOR score with every other one of its video is below it.
    is_unique : (N,)
        Which sentences are, in the order given.
    n_without_words
        Sentences without a word: they count as unique, for they score 0 with all others.
    n_verbatim
        Sentences whose words, in their order, are those of another sentence of the video.
    n_verbatim_unique
        Those of them that count as unique, because they are so short.
    pairs_scored
        Pairs that had to be scored, for all thresholds together; the others are settled by a bound, or are verbatim.
    """

    threshold: float
    is_unique: Bools
    n_without_words: int
    n_verbatim: int
    n_verbatim_unique: int
    pairs: int
    pairs_scored: int

    @property
    def n_sentences(self) -> int:
        """How many sentences there are."""
        return len(self.is_unique)

    @property
    def n_unique(self) -> int:
        """How many are unique."""
        return int(self.is_unique.sum())

    @property
    def share(self) -> float:
        """Share of the sentences that are unique, 0 to 1; NaN without sentences."""
        return self.n_unique / self.n_sentences if self.n_sentences else float("nan")


def uniqueness(
    annotations: Annotations | Sequence[Annotations],
    thresholds: Sequence[float] = (0.99, 0.9),
    *,
    on_progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> tuple[Uniqueness, ...]:
    """Find which queries are unique within their video, among the sentences of all splits, for each threshold up to 1.

    A query in several splits (same id, video and sentence) counts once. `on_progress` is called with the number of
    sentences that are done, and of all.

    Examples
    --------
    >>> sentences = ["a man opens the door", "A man opens the door.", "a dog barks", "she opens a door and leaves"]
    >>> rows = [(f"v#{i}", "v", 30.0, sentence, 0.0, 6.0) for i, sentence in enumerate(sentences)]
    >>> found = uniqueness(Annotations.from_rows(rows))
    >>> [(one.threshold, one.n_unique, one.share, one.pairs, one.pairs_scored) for one in found]
    [(0.99, 2, 0.5, 6, 0), (0.9, 2, 0.5, 6, 0)]
    """
    splits, _ = each_query_once([annotations] if isinstance(annotations, Annotations) else annotations)
    return uniqueness_of(
        [video for split in splits for video in split.queries.video_id],
        [sentence for split in splits for sentence in split.queries.sentence],
        thresholds,
        on_progress=on_progress,
    )


def uniqueness_of(
    video_id: Sequence[str],
    sentences: Sequence[str],
    thresholds: Sequence[float] = (0.99, 0.9),
    *,
    on_progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> tuple[Uniqueness, ...]:
    """Find which sentences are unique within their video; :func:`uniqueness` for columns."""
    if len(video_id) != len(sentences):
        raise UsageError(f"got {len(video_id)} videos for {len(sentences)} sentences, expected one each")
    if not thresholds or not all(0 < threshold <= 1 for threshold in thresholds):
        raise UsageError(f"got thresholds {tuple(thresholds)}, expected one or more above 0 and at most 1")
    corpus = _Corpus.of(video_id, sentences)
    best, pairs_scored = _best_scores(corpus, min(thresholds), on_progress)
    verbatim = corpus.copies > 1
    best = np.maximum(best, np.where(verbatim, _verbatim_score(corpus.n_words), 0))
    of_video = np.array(list(Counter(video_id).values()), dtype=np.int64)
    text = corpus.text
    return tuple(
        Uniqueness(
            threshold=threshold,
            is_unique=(best < threshold)[text],
            n_without_words=int((corpus.n_words == 0)[text].sum()),
            n_verbatim=int((verbatim & (corpus.n_words > 0))[text].sum()),
            n_verbatim_unique=int((verbatim & (corpus.n_words > 0) & (best < threshold))[text].sum()),
            pairs=int((of_video * (of_video - 1) // 2).sum()),
            pairs_scored=pairs_scored,
        )
        for threshold in thresholds
    )


def _verbatim_score(n_words: Ints) -> Floats:
    """Return the score of two sentences with the same words."""
    return np.array([score(n, 1, n, n) for n in n_words.tolist()], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Corpus:
    """The distinct word sequences of each video, T of them, and their K numbered stems.

    Parameters
    ----------
    words
        The words of each, by its number.
    n_words, copies : (T,)
        How many words it has, and how many sentences have them.
    text : (N,)
        Which of them a sentence is.
    key : (K,)
        Numbered stem of a video, as a whole number: the numbered stems of text t are rows
        ``offsets[t]:offsets[t + 1]``, the rarest in the video first.
    offsets : (T + 1,)
        See `key`.
    """

    words: list[tuple[str, ...]]
    n_words: Ints
    copies: Ints
    text: Ints
    key: Ints
    offsets: Ints

    @classmethod
    def of(cls, video_id: Sequence[str], sentences: Sequence[str]) -> _Corpus:
        split: dict[str, tuple[str, ...]] = {}
        texts: dict[tuple[str, tuple[str, ...]], int] = {}
        text = np.empty(len(sentences), dtype=np.int64)
        for row, (video, sentence) in enumerate(zip(video_id, sentences, strict=True)):
            if sentence not in split:
                split[sentence] = tuple(split_words(sentence))
            text[row] = texts.setdefault((video, split[sentence]), len(texts))
        words = [of_text for _, of_text in texts]
        n_words = np.array([len(of_text) for of_text in words], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(n_words)]).astype(np.int64)
        key = _numbered_stems([video for video, _ in texts], words, n_words)
        copies = np.bincount(text, minlength=len(words))
        return cls(words, n_words, copies, text, key, offsets)


def _numbered_stems(videos: Sequence[str], words: Sequence[tuple[str, ...]], n_words: Ints) -> Ints:
    """Keys of the numbered stems of each text, (K,), text by text, the rarest of the video first."""
    numbers: dict[tuple[str, str, int], int] = {}
    key = np.empty(int(n_words.sum()), dtype=np.int64)
    row = 0
    for video, of_text in zip(videos, words, strict=True):
        seen: dict[str, int] = {}
        for word in of_text:
            stemmed = stem(word)
            seen[stemmed] = seen.get(stemmed, 0) + 1
            key[row] = numbers.setdefault((video, stemmed, seen[stemmed]), len(numbers))
            row += 1
    frequency = np.bincount(key, minlength=len(numbers))[key]
    owner = np.repeat(np.arange(len(words)), n_words)
    return np.asarray(key[np.lexsort((key, frequency, owner))])


def _best_scores(corpus: _Corpus, threshold: float, on_progress: Callable[[int, int], None]) -> tuple[Floats, int]:
    """Highest score of each text with another of its video, (T,), right where it reaches the threshold, else less.

    Returned with the number of pairs scored.
    """
    best = np.zeros(len(corpus.words))
    scored = 0
    sharing = _Sharing(corpus)
    for shorter, longer, n_done in _meetings(corpus, threshold):
        m = sharing.count(shorter, longer)
        ok = _bound(m, corpus.n_words[shorter], corpus.n_words[longer]) >= threshold - SLACK
        scored += int(ok.sum())
        for a, b in zip(shorter[ok].tolist(), longer[ok].tolist(), strict=True):
            pairs = align(corpus.words[b], corpus.words[a])
            # The shorter as reference: the better direction of the two, see 2.
            found = score(len(pairs), count_chunks(pairs), len(corpus.words[b]), len(corpus.words[a]))
            best[a], best[b] = max(best[a], found), max(best[b], found)
        on_progress(int(corpus.copies[:n_done].sum()), len(corpus.text))
    return best, scored


def _bound(m: Ints, shorter: Ints, longer: Ints) -> Floats:
    """Highest score that m aligned words allow: one chunk, the shorter sentence as reference."""
    at_least_1 = np.maximum(m, 1)
    best = (1 - GAMMA / at_least_1**BETA) * m / (ALPHA * shorter + (1 - ALPHA) * longer)
    return np.asarray(best, dtype=np.float64)


def _meetings(corpus: _Corpus, threshold: float) -> Iterator[tuple[Ints, Ints, int]]:
    n, offsets = corpus.n_words, corpus.offsets
    owner = np.repeat(np.arange(len(n)), n)
    order = np.argsort(corpus.key, kind="stable")
    holders, sorted_key = owner[order], corpus.key[order]
    probes = np.where(n > 0, n - np.ceil(threshold * n - SLACK).astype(np.int64) + 1, 0)
    longest = (n / threshold - ALPHA * n) / (1 - ALPHA) + SLACK
    probe = np.concatenate([[0], np.cumsum(probes)])
    asks = np.repeat(np.arange(len(n)), probes)
    probe_key = corpus.key[offsets[asks] + np.arange(len(asks)) - probe[asks]]
    first, last = (np.searchsorted(sorted_key, probe_key, side=side) for side in ("left", "right"))
    met = np.concatenate([[0], np.cumsum(last - first)])
    met_by_text = met[probe]
    start = 0
    while start < len(n):
        end = max(int(np.searchsorted(met_by_text, met_by_text[start] + BLOCK, side="right")) - 1, start + 1)
        rows = np.arange(probe[start], probe[end])
        lengths = (last - first)[rows]
        a = np.repeat(asks[rows], lengths)
        at = np.arange(lengths.sum()) + np.repeat(first[rows] - (met[rows] - met[probe[start]]), lengths)
        b = holders[at]
        keep = (n[b] <= longest[a]) & ((n[b] > n[a]) | ((n[b] == n[a]) & (b > a)))
        pairs = np.unique(a[keep] * len(n) + b[keep])
        yield pairs // len(n), pairs % len(n), end
        start = end


class _Sharing:
    """Counts the numbered stems that pairs of texts share."""

    def __init__(self, corpus: _Corpus) -> None:
        owner = np.repeat(np.arange(len(corpus.n_words)), corpus.n_words)
        self.corpus = corpus
        self.n_keys = int(corpus.key.max(initial=0)) + 1
        self.owned_keys = np.sort(owner * self.n_keys + corpus.key)

    def count(self, a: Ints, b: Ints) -> Ints:
        """Numbered stems that text a[i] shares with text b[i], (P,)."""
        block = np.cumsum(self.corpus.n_words[a]) // BLOCK
        parts = np.flatnonzero(np.diff(block)) + 1
        return np.concatenate(
            [self._count(*of) for of in zip(np.split(a, parts), np.split(b, parts), strict=True)], dtype=np.int64
        )

    def _count(self, a: Ints, b: Ints) -> Ints:
        n = self.corpus.n_words[a]
        pair = np.repeat(np.arange(len(a)), n)
        start = np.concatenate([[0], np.cumsum(n)])[:-1]
        key = self.corpus.key[np.repeat(self.corpus.offsets[a] - start, n) + np.arange(len(pair))]
        wanted = b[pair] * self.n_keys + key
        at = np.minimum(np.searchsorted(self.owned_keys, wanted), len(self.owned_keys) - 1)
        return np.bincount(pair[self.owned_keys[at] == wanted], minlength=len(a))
