r"""Sentences that are unique within their video: a repeated sentence is ambiguous.

In MAD (A.1.2), a sentence is unique if its METEOR score with every other sentence of its video is below a threshold,
0.99 or 0.9. METEOR has two directions; here a unique sentence is below the threshold in both, as hypothesis and as
reference. Words are compared without case and punctuation, see :mod:`truemoment.data.language.meteor`.

The penalty for chunks limits the score of equal sentences of m words to :math:`1 - \tfrac12 / m^3`. At 0.99, even a
verbatim repeat of up to three words counts as unique; at 0.9, one of a single word. `n_verbatim` counts all verbatim
repeats.

Exact, without scoring all pairs
--------------------------------
Let the sentences of a pair have s and l words, s <= l, with m aligned ones, and let t be the threshold.

1. *m is the number of stems they share, counted with multiplicity.* If one sentence has a words
   with a stem and the other b, e are aligned as equal words. That leaves a - e and b - e, and the lesser of these is
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

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import positions_in_lists
from truemoment.data.language.meteor import ALPHA, BETA, GAMMA, align, count_chunks, score, split_words, stem

SLACK = 1e-9
"""Tolerance of the bounds, so that rounding loses no pair."""

BLOCK = 2**20
"""Number of candidate pairs, or of their numbered stems, that are processed at a time."""


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """Sentences that are unique within their video, at one threshold.

    Parameters
    ----------
    is_unique : (N,)
        Sentences whose METEOR score with every other one of their video is below the threshold; those without a word
        are, because they score 0 with all others.
    n_verbatim
        Sentences with the same words in the same order as another sentence of the video.
    pairs, pairs_scored
        Pairs of sentences of one video, and those that had to be scored, for all thresholds together; the others are
        settled by a bound, or are verbatim.
    """

    threshold: float
    is_unique: Bools
    n_verbatim: int
    pairs: int
    pairs_scored: int

    @property
    def n_sentences(self) -> int:
        """Number of sentences."""
        return len(self.is_unique)

    @property
    def n_unique(self) -> int:
        """Number of unique sentences."""
        return int(self.is_unique.sum())

    @property
    def share(self) -> float:
        """Share of the sentences that are unique, 0 to 1; NaN without sentences."""
        return self.n_unique / self.n_sentences if self.n_sentences else float("nan")


def uniqueness(
    video_id: Sequence[str], sentences: Sequence[str], thresholds: Sequence[float] = (0.99, 0.9)
) -> tuple[Uniqueness, ...]:
    """Find which sentences are unique within their video, for each threshold above 0 and at most 1.

    Examples
    --------
    >>> sentences = ["a man opens the door", "A man opens the door.", "a dog barks", "she opens a door and leaves"]
    >>> results = uniqueness(["v"] * 4, sentences)
    >>> [(result.threshold, result.n_unique, result.share, result.pairs, result.pairs_scored) for result in results]
    [(0.99, 2, 0.5, 6, 0), (0.9, 2, 0.5, 6, 0)]
    """
    corpus = _Corpus.of(video_id, sentences)
    best, pairs_scored = _best_scores(corpus, min(thresholds))
    verbatim = corpus.copies > 1
    if_verbatim = np.array([score(n, 1, n, n) for n in corpus.n_words.tolist()], dtype=np.float64)
    best = np.maximum(best, np.where(verbatim, if_verbatim, 0))
    of_video = np.array(list(Counter(video_id).values()), dtype=np.int64)
    return tuple(
        Uniqueness(
            threshold=threshold,
            is_unique=(best < threshold)[corpus.text],
            n_verbatim=int((verbatim & (corpus.n_words > 0))[corpus.text].sum()),
            pairs=int((of_video * (of_video - 1) // 2).sum()),
            pairs_scored=pairs_scored,
        )
        for threshold in thresholds
    )


@dataclass(frozen=True, eq=False)
class _Corpus:
    """The distinct word sequences of each video, T texts, and their K numbered stems.

    The numbered stems of text t are rows ``offsets[t]:offsets[t + 1]`` of `key`, the rarest in the video first.
    """

    words: list[tuple[str, ...]]
    n_words: Ints  # (T,)
    copies: Ints  # (T,), sentences with these words
    text: Ints  # (N,), text of each sentence
    key: Ints  # (K,), number of the numbered stem
    offsets: Ints  # (T + 1,)

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

    @functools.cached_property
    def owner(self) -> Ints:
        """Text of each numbered stem, (K,)."""
        return np.repeat(np.arange(len(self.words)), self.n_words)

    @functools.cached_property
    def _owned_keys(self) -> Ints:
        """Numbers of the pairs of a text and its numbered stem, (K,), in order."""
        return np.sort(self.owner * len(self.key) + self.key)

    def count_shared(self, a: Ints, b: Ints) -> Ints:
        """Return how many numbered stems text a[i] shares with text b[i], (P,)."""
        block = np.cumsum(self.n_words[a]) // BLOCK
        parts = np.flatnonzero(np.diff(block)) + 1
        counts = []
        for first, second in zip(np.split(a, parts), np.split(b, parts), strict=True):
            pair = np.repeat(np.arange(len(first)), self.n_words[first])
            keys = second[pair] * len(self.key) + self.key[positions_in_lists(self.offsets, first)]
            at = np.minimum(np.searchsorted(self._owned_keys, keys), len(self._owned_keys) - 1)
            counts.append(np.bincount(pair[self._owned_keys[at] == keys], minlength=len(first)))
        return np.concatenate(counts, dtype=np.int64)


def _numbered_stems(videos: Sequence[str], words: Sequence[tuple[str, ...]], n_words: Ints) -> Ints:
    """Return the keys of the numbered stems of each text, (K,), text by text, the rarest of the video first."""
    numbers: dict[tuple[str, str, int], int] = {}
    key = np.empty(int(n_words.sum()), dtype=np.int64)
    row = 0
    for video, of_text in zip(videos, words, strict=True):
        counts: dict[str, int] = {}
        for word in of_text:
            root = stem(word)
            counts[root] = counts.get(root, 0) + 1
            key[row] = numbers.setdefault((video, root, counts[root]), len(numbers))
            row += 1
    frequency = np.bincount(key, minlength=len(numbers))[key]
    owner = np.repeat(np.arange(len(words)), n_words)
    return np.asarray(key[np.lexsort((key, frequency, owner))])


def _best_scores(corpus: _Corpus, threshold: float) -> tuple[Floats, int]:
    """Return the highest score of each text with another of its video, (T,), and the number of pairs scored.

    Scores below the threshold are lower bounds.
    """
    best = np.zeros(len(corpus.words))
    n_scored = 0
    for shorter, longer in _candidates(corpus, threshold):
        m = corpus.count_shared(shorter, longer)
        # The highest score that m aligned words allow has one chunk, and the shorter sentence as reference.
        words = ALPHA * corpus.n_words[shorter] + (1 - ALPHA) * corpus.n_words[longer]
        keep = (1 - GAMMA / np.maximum(m, 1) ** BETA) * m / words >= threshold - SLACK
        n_scored += int(keep.sum())
        for a, b in zip(shorter[keep].tolist(), longer[keep].tolist(), strict=True):
            pairs = align(corpus.words[b], corpus.words[a])
            # The shorter as reference: the better direction of the two, see 2.
            value = score(len(pairs), count_chunks(pairs), len(corpus.words[b]), len(corpus.words[a]))
            best[a], best[b] = max(best[a], value), max(best[b], value)
    return best, n_scored


def _candidates(corpus: _Corpus, threshold: float) -> Iterator[tuple[Ints, Ints]]:
    """Return pairs of a shorter and a longer text that may reach the threshold (3 and 4), a block at a time."""
    n, offsets = corpus.n_words, corpus.offsets
    order = np.argsort(corpus.key, kind="stable")
    owners, sorted_key = corpus.owner[order], corpus.key[order]
    probes = np.where(n > 0, n - np.ceil(threshold * n - SLACK).astype(np.int64) + 1, 0)
    longest = (n / threshold - ALPHA * n) / (1 - ALPHA) + SLACK
    probe = np.concatenate([[0], np.cumsum(probes)])
    texts = np.repeat(np.arange(len(n)), probes)
    probe_key = corpus.key[offsets[texts] + np.arange(len(texts)) - probe[texts]]
    first, last = (np.searchsorted(sorted_key, probe_key, side=side) for side in ("left", "right"))
    total = np.concatenate([[0], np.cumsum(last - first)])
    total_by_text = total[probe]
    start = 0
    while start < len(n):
        end = max(int(np.searchsorted(total_by_text, total_by_text[start] + BLOCK, side="right")) - 1, start + 1)
        rows = np.arange(probe[start], probe[end])
        lengths = (last - first)[rows]
        a = np.repeat(texts[rows], lengths)
        at = np.arange(lengths.sum()) + np.repeat(first[rows] - (total[rows] - total[probe[start]]), lengths)
        b = owners[at]
        keep = (n[b] <= longest[a]) & ((n[b] > n[a]) | ((n[b] == n[a]) & (b > a)))
        pairs = np.unique(a[keep] * len(n) + b[keep])
        yield pairs // len(n), pairs % len(n)
        start = end
