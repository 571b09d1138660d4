"""Vectors of words and of whole sentences, made by a text encoder that is named."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("transformers", exc_type=ImportError)

from truemoment.exceptions import UsageError  # noqa: E402 - PyTorch may be missing
from truemoment.training.examples import read_sentences  # noqa: E402 - as above
from truemoment.training.recipes import Text, read_recipe  # noqa: E402 - as above
from truemoment.training.vocabulary import UNKNOWN, Vocabulary, make_vocabulary, word_numbers  # noqa: E402 - as above
from truemoment.video.encoders import load_encoder  # noqa: E402 - as above

SENTENCES = ["A red ring on water.", "a blue star at night", "  "]


def alike(one, other):
    return np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other)


def test_a_sentence_is_one_token_with_the_vector_that_the_encoder_makes_of_it():
    text = Text(vectors="encoder:scenes", tokens="sentence")
    vocabulary = make_vocabulary(text, SENTENCES, SENTENCES, None)
    assert vocabulary.words == ("a blue star at night", "a red ring on water.")
    numbers, n_words = word_numbers([*SENTENCES, "a red ring"], vocabulary, "sentence")
    assert (numbers.ravel().tolist(), n_words.tolist()) == ([3, 2, UNKNOWN, UNKNOWN], [1, 1, 1, 1])
    expected = load_encoder("scenes").sentences(list(vocabulary.words))
    np.testing.assert_allclose(np.linalg.norm(vocabulary.vectors[2:], axis=1), 1, rtol=1e-6)
    assert (vocabulary.vectors[:2] == 0).all()
    for row, vector in enumerate(expected):
        assert alike(vocabulary.vectors[row + 2], vector) == pytest.approx(1, abs=1e-5)


def test_words_have_vectors_of_their_own():
    vocabulary = make_vocabulary(Text(vectors="encoder:scenes"), [], ["a red ring", "a ring"], None)
    assert vocabulary.words == ("a", "red", "ring")
    assert vocabulary.vectors.shape == (5, load_encoder("scenes").n_dimensions)


def test_no_sentence_at_all():
    assert make_vocabulary(Text(vectors="encoder:scenes"), [], [], None).words == ()


def test_a_model_that_listens_to_phrases_refuses_whole_sentences():
    recipe = read_recipe("mdd", ["text.tokens=sentence"])
    with pytest.raises(UsageError, match=r"text\.tokens: got sentence, expected words: mdd listens to phrases"):
        read_sentences(["he runs"], Vocabulary(("he runs",)), recipe, frozenset({"phrases"}))
