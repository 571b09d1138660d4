"""METEOR of many pairs of sentences at once, whose words are numbers.

Words are aligned as :func:`truemoment.data.language.meteor.meteor` does it: equal words first, then words of equal
stem, the last with the last. Unknown words count for the length and are aligned with nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from truemoment.data.language.meteor import ALPHA, BETA, GAMMA, stem


def stem_numbers(words: Sequence[str]) -> list[int]:
    """Return a number for the stem of each word.

    Examples
    --------
    >>> stem_numbers(["opens", "door", "opening"])
    [0, 1, 0]
    """
    number_of: dict[str, int] = {}
    return [number_of.setdefault(stem(word), len(number_of)) for word in words]


def meteor_scores(hypotheses: Tensor, references: Tensor, stems: Tensor) -> Tensor:
    """Return the METEOR score of each pair of sentences, (R,) float64.

    Parameters
    ----------
    hypotheses : (R, S)
        Numbers of words; 0 after the end.
    references : (R, L)
        Likewise.
    stems : (V,)
        Number of the stem of each word by its number; -1 for what is aligned with nothing.
    """
    words, others = stems[hypotheses] >= 0, stems[references] >= 0
    pairs = _aligned(hypotheses, references, words, others)
    left, left_over = words & ~pairs.any(dim=2), others & ~pairs.any(dim=1)
    pairs = pairs | _aligned(stems[hypotheses], stems[references], left, left_over)
    n_pairs = pairs.sum(dim=(1, 2)).double()
    n_chunks = n_pairs - (pairs[:, 1:, 1:] & pairs[:, :-1, :-1]).sum(dim=(1, 2))
    n_words, n_others = ((stems_of > 0).sum(dim=1).double() for stems_of in (hypotheses, references))
    penalty = GAMMA * (n_chunks / n_pairs.clamp(min=1)) ** BETA
    return (1 - penalty) * n_pairs / (ALPHA * n_others + (1 - ALPHA) * n_words).clamp(min=1e-9)


def _aligned(left: Tensor, right: Tensor, counts: Tensor, counts_right: Tensor) -> Tensor:
    """Return which places (R, S, L) of equal numbers (R, S), (R, L) are paired, the last with the last."""
    equal = (left[:, :, None] == right[:, None]) & counts[:, :, None] & counts_right[:, None]
    return equal & (_later(left, counts)[:, :, None] == _later(right, counts_right)[:, None])


def _later(numbers: Tensor, counts: Tensor) -> Tensor:
    """Return how often each number (R, S) occurs after its place, among those that count."""
    alike = (numbers[:, :, None] == numbers[:, None]) & counts[:, None]
    return alike.triu(diagonal=1).sum(dim=2)
