"""The vocabulary of a trained method, and the initial vectors of its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import UNSET, UnsetType

from truemoment.base.boundary.files import read_json, write_json
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import MissingFileError, UsageError
from truemoment.base.intervals import Ints
from truemoment.data.datasets import data_folder
from truemoment.data.language.tokens import How, tokenise
from truemoment.data.language.vectors import WordVectors, read_glove
from truemoment.learning.training.query_rows import HIDDEN, QueryRows
from truemoment.learning.training.recipes import Text
from truemoment.media.video.encoders import load_encoder, pinned

ENCODER = "encoder:"
"""Prefix of the name of a text encoder."""

PADDING, UNKNOWN = 0, 1
"""Numbers of "no word" and of words that are not known; words count from 2."""


@dataclass(frozen=True, eq=False)
class TokenVocabulary:
    """Words by number.

    Parameters
    ----------
    words
        Word w has number w + 2.
    vectors : (W + 2, E) float32 or None
        Fixed vectors, the first two 0; None where vectors are learned.
    rows
        Rows of the words of each query in place of vectors; there are no words then.
    """

    words: tuple[str, ...]
    vectors: npt.NDArray[np.float32] | None = None
    rows: QueryRows | None = None

    def __post_init__(self) -> None:
        """Number the words."""
        object.__setattr__(self, "_number", {word: at + 2 for at, word in enumerate(self.words)})

    def __len__(self) -> int:
        return len(self.words) + 2

    def numbers(self, tokens: Sequence[str]) -> list[int]:
        """Return a number for each token."""
        number: dict[str, int] = getattr(self, "_number")  # noqa: B009 - a private field of a frozen class
        return [number.get(token, UNKNOWN) for token in tokens]


NO_WORDS = TokenVocabulary((), np.zeros((2, 1), dtype=np.float32))
"""Vocabulary of a model that compares whole sentences."""


def vocabulary_of_rows(rows: QueryRows) -> TokenVocabulary:
    """Return a vocabulary without words, for sentences whose words are rows of each query."""
    return TokenVocabulary((), np.zeros((2, rows.store.n_dimensions), dtype=np.float32), rows)


def write_vocabulary(path: AnyPath, vocabulary: TokenVocabulary) -> None:
    """Write the words known; their vectors lie with the network."""
    write_json(path, list(vocabulary.words))


def read_vocabulary(path: AnyPath) -> TokenVocabulary:
    """Read the words known, without their vectors."""
    return TokenVocabulary(tuple(read_json(path, list[str])))


def make_vocabulary(
    text: Text, train_sentences: Iterable[str], all_sentences: Iterable[str], data_dir: Path | None, *, seed: int = 0
) -> TokenVocabulary:
    """Collect the words that a run knows.

    Parameters
    ----------
    text
        How sentences become vectors.
    train_sentences
        Sentences that vectors are learned from.
    all_sentences
        Sentences whose words are looked up where vectors are fixed: nothing is learned from them.
    data_dir
        Folder that contains ``glove``.
    seed
        Seed of the vectors of words that a file does not contain.
    """
    if text.vectors == "learned":
        counts = Counter(word for sentence in train_sentences for word in set(tokenise(sentence, text.tokens)))
        return TokenVocabulary(tuple(sorted(word for word, count in counts.items() if count >= text.least_count)))
    words = {word for sentence in all_sentences for word in tokenise(sentence, text.tokens)}
    if text.vectors.startswith(ENCODER):
        return _encoded(sorted(words), text.vectors.removeprefix(ENCODER))
    read: WordVectors = read_glove(_vector_file(text.vectors, data_dir), keep=words)
    order = sorted(range(len(read.words)), key=read.words.__getitem__)
    vectors = np.zeros((len(order) + 2, read.vectors.shape[1]), dtype=np.float32)
    vectors[2:] = read.vectors[order]
    vocabulary = TokenVocabulary(tuple(read.words[at] for at in order), vectors)
    return (
        _with_absent(vocabulary, sorted(words - set(vocabulary.words)), seed)
        if text.absent == "uniform"
        else vocabulary
    )


ABSENT = 3.0
"""Largest size of numbers of the vectors that words absent from a file start from (SCDM and ABLR, authors' code)."""


def _with_absent(vocabulary: TokenVocabulary, words: list[str], seed: int) -> TokenVocabulary:
    """Return a vocabulary with further words, whose vectors are drawn from U(-3, 3)."""
    if vocabulary.vectors is None or not words:
        return vocabulary
    rng = np.random.default_rng([seed, len(words)])
    vectors = rng.uniform(-ABSENT, ABSENT, (len(words), vocabulary.vectors.shape[1])).astype(np.float32)
    return TokenVocabulary((*vocabulary.words, *words), np.concatenate([vocabulary.vectors, vectors]))


def text_encoder_of(text: Text) -> str:
    """Return the name and commit of the text encoder that makes vectors, if it is one of the hub; "" if not."""
    beginning = _beginning_of(text)
    name = pinned(text.vectors.removeprefix(beginning)) if beginning else ""
    return name if "@" in name else ""


def with_commit(text: Text, text_encoder: str) -> Text:
    """Return how sentences become vectors, by the commit of the text encoder that a run has recorded.

    Parameters
    ----------
    text
        As the recipe has it.
    text_encoder
        As :func:`text_encoder_of` returned it when the run began.
    """
    beginning = _beginning_of(text)
    if not text_encoder or text.vectors != beginning + text_encoder.partition("@")[0]:
        return text
    return msgspec.structs.replace(text, vectors=beginning + text_encoder)


def _beginning_of(text: Text) -> str:
    """Return what stands before the name of a text encoder; "" for vectors that none makes."""
    return next((beginning for beginning in (ENCODER, HIDDEN) if text.vectors.startswith(beginning)), "")


def _encoded(tokens: Sequence[str], name: str) -> TokenVocabulary:
    """Make the vectors of tokens with a text encoder, each of length 1."""
    encoder = load_encoder(name)
    vectors = np.zeros((len(tokens) + 2, encoder.n_dimensions), dtype=np.float32)
    if tokens:
        vectors[2:] = encoder.sentences(tokens)
        vectors[2:] /= np.maximum(np.linalg.norm(vectors[2:], axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return TokenVocabulary(tuple(tokens), vectors)


def _vector_file(name: str, data_dir: Path | None) -> Path:
    if name != "glove":
        return Path(name)
    folder = data_folder(data_dir) / "glove"
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise MissingFileError(f"{folder}: contains no file of vectors (*.txt); expected GloVe's text format")
    if len(files) > 1:
        raise UsageError(f"text.vectors: {len(files)} files lie in {folder}, name the one to use")
    return files[0]


def word_numbers(
    sentences: Iterable[str], vocabulary: TokenVocabulary, tokens: How, max_tokens: int | UnsetType = UNSET
) -> tuple[Ints, Ints]:
    """Number the words of sentences, the first `max_tokens` of each if set.

    Returns
    -------
    numbers : (Q, L)
        Padded after each sentence's end with 0.
    n_words : (Q,)
        1 or more: a sentence without words counts as one unknown word.
    """
    cut = slice(None if max_tokens is UNSET else max_tokens)
    lists = [vocabulary.numbers(tokenise(sentence, tokens)[cut]) or [UNKNOWN] for sentence in sentences]
    n_words = np.array([len(numbered) for numbered in lists], dtype=np.int64)
    numbers = np.full((len(lists), int(n_words.max(initial=1))), PADDING, dtype=np.int64)
    for row, numbered in enumerate(lists):
        numbers[row, : len(numbered)] = numbered
    return numbers, n_words
