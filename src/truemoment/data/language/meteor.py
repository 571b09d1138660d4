r"""METEOR: similarity of two sentences by their words, stems and order.

Equal words are aligned first, then words of equal stem, each with one at most. With m aligned words in c *chunks* (runs
in both sentences without a gap, in the same order), a hypothesis of h words and a reference of r score

.. math:: \left(1 - \tfrac12 (c / m)^3\right) \cdot \frac{m}{0.9\, r + 0.1\, h}

or 0 if m is 0. The parameters (alpha 0.9, beta 3, gamma 0.5) are those of NLTK's ``meteor_score``, which MAD used.
**Two equal sentences do not score 1**: one word scores 0.5, two 0.9375, three 0.9815, four 0.9922.

Differences from others, and from the paper:

- Synonyms are not aligned, because this needs WordNet. NLTK's with an empty WordNet gives the same but for:
- Stems are Porter's as published (``snowballstemmer``, "porter"), words of one or two letters unchanged. NLTK's stemmer
  has extensions: *dying* and *dies* are *dy* and *di* here, *die* there.
- Equal words are aligned from the end, the last of one sentence with the last of the other, as in NLTK; the paper asks
  for the alignment with fewest crossings, which this mostly is.

References
----------
Banerjee, Lavie (2005), "METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with Human Judgments";
parameters: NLTK 3.10, ``nltk.translate.meteor_score``; Porter (1980), "An algorithm for suffix stripping".
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from truemoment.data.language.lexicon import TOKEN

ALPHA, BETA, GAMMA = 0.9, 3, 0.5
"""Weight of recall, steepness and weight of the penalty for chunks."""


def split_words(sentence: str) -> list[str]:
    """Return the words of a sentence as METEOR compares them: in lower case, without punctuation.

    Examples
    --------
    >>> split_words("She doesn't open the T-shirt... ")
    ['she', 'does', "n't", 'open', 'the', 't-shirt']
    """
    return [text for text in TOKEN.findall(sentence.lower()) if any(character.isalnum() for character in text)]


@functools.lru_cache(maxsize=2**17)
def stem(word: str) -> str:
    """Return the stem of a word in lower case, by Porter's rules; a word of one or two letters is its own.

    Examples
    --------
    >>> [stem(word) for word in ("opens", "opening", "doors", "as")]
    ['open', 'open', 'door', 'as']
    """
    if len(word) <= 2:
        return word
    import snowballstemmer  # type: ignore[import-untyped]  # noqa: PLC0415 - without types; loads many languages

    stemmed: str = snowballstemmer.stemmer("porter").stemWord(word)
    return stemmed


def meteor(hypothesis: Sequence[str], reference: Sequence[str]) -> float:
    """Return the METEOR score of two lists of words (:func:`split_words`), 0 to 1; 0 if no word is aligned.

    Examples
    --------
    By hand: 4 of 4 words are aligned, "opens" with "opened" by their stem, in one chunk: 1 - 0.5 / 64.

    >>> meteor("a man opens doors".split(), "a man opened doors".split())
    0.9921875

    By hand: 2 words in one chunk, (1 - 0.5 / 8) * 2 / (0.9 * 4 + 0.1 * 2), and the other way 0.9 * 2 + 0.1 * 4.

    >>> short, long = "the door".split(), "the door closes slowly".split()
    >>> round(meteor(short, long), 4), round(meteor(long, short), 4)
    (0.4934, 0.8523)
    """
    pairs = align(hypothesis, reference)
    return score(len(pairs), count_chunks(pairs), len(hypothesis), len(reference))


def score(n_aligned: int, n_chunks: int, n_hypothesis: int, n_reference: int) -> float:
    """Score an alignment by its counts: aligned words, chunks, and the words of either sentence.

    Examples
    --------
    >>> score(4, 1, 4, 4), score(1, 1, 1, 1), score(0, 0, 3, 2)
    (0.9921875, 0.5, 0.0)
    """
    if n_aligned == 0:
        return 0.0
    penalty = GAMMA * (n_chunks / n_aligned) ** BETA
    return (1 - penalty) * n_aligned / (ALPHA * n_reference + (1 - ALPHA) * n_hypothesis)


def align(hypothesis: Sequence[str], reference: Sequence[str]) -> list[tuple[int, int]]:
    """Align equal words, then the remaining words by equal stems."""
    pairs = _from_the_end(enumerate(hypothesis), enumerate(reference))
    done, done_in_reference = {i for i, _ in pairs}, {j for _, j in pairs}
    left = [(i, stem(word)) for i, word in enumerate(hypothesis) if i not in done]
    if left and len(done_in_reference) < len(reference):
        right = [(j, stem(word)) for j, word in enumerate(reference) if j not in done_in_reference]
        pairs += _from_the_end(left, right)
    return sorted(pairs)


def _from_the_end(left: Iterable[tuple[int, str]], right: Iterable[tuple[int, str]]) -> list[tuple[int, int]]:
    """Pair the positions of equal texts, the last with the last."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for j, text in right:
        places[text].append(j)
    return [(i, places[text].pop()) for i, text in reversed(list(left)) if places.get(text)]


def count_chunks(pairs: Sequence[tuple[int, int]]) -> int:
    """Count the runs of an alignment without a gap in both sentences; see :func:`align` for `pairs`."""
    breaks = sum((b[0] - a[0], b[1] - a[1]) != (1, 1) for a, b in pairwise(pairs))
    return breaks + 1 if pairs else 0
