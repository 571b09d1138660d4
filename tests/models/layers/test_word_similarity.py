"""METEOR of numbers: against the METEOR of words."""

import numpy as np
import pytest
import torch

from truemoment.data.language.meteor import meteor
from truemoment.learning.models.layers.word_similarity import meteor_scores, stem_numbers

WORDS = ("open", "opens", "opening", "door", "doors", "a", "the", "sit")


def test_it_is_the_meteor_of_words():
    """300 pairs of sentences with words of equal stem, repeated words and unknown ones, which equal no other."""
    rng = np.random.default_rng(0)
    pairs = [[rng.integers(1, 10, rng.integers(1, 8)).tolist() for _ in range(2)] for _ in range(300)]
    spelt = [
        [[WORDS[n - 2] if n > 1 else f"unknown{side}" for n in sentence] for side, sentence in enumerate(pair)]
        for pair in pairs
    ]
    expected = [meteor(*pair) for pair in spelt]
    numbers = torch.zeros(2, 300, 9, dtype=torch.long)
    for row, pair in enumerate(pairs):
        for side, sentence in enumerate(pair):
            numbers[side, row, : len(sentence)] = torch.tensor(sentence)
    stems = torch.tensor([-1, -1, *stem_numbers(WORDS)])
    assert meteor_scores(*numbers, stems).tolist() == pytest.approx(expected, abs=1e-12)
    assert 50 < sum(score > 0 for score in expected) < 300


def test_an_empty_sentence_scores_0():
    stems = torch.tensor([-1, -1, 0])
    assert meteor_scores(torch.tensor([[0, 0]]), torch.tensor([[2]]), stems).tolist() == [0]
