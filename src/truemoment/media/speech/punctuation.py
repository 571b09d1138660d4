"""Punctuation and capital letters where an engine gives none: by rules, or by a token classifier from a folder."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from truemoment.base.boundary.inputs import reading
from truemoment.base.errors import InputError
from truemoment.media.speech.base import HeardWord, require_files

MARKS = MappingProxyType(
    {
        **{mark: mark for mark in (".", ",", "?", "!", ":", ";", "-")},
        **{"period": ".", "comma": ",", "question": "?", "exclamation": "!", "colon": ":", "semicolon": ";"},
        **dict.fromkeys(("0", "o", "none", ""), ""),
    }
)
"""The mark of each label of a classifier; labels are in small letters."""

AT_ONCE = 120
"""Words that the classifier reads at a time."""


def written(words: Sequence[str], names: Collection[str] = ()) -> str:
    """Return bare words as a sentence: first letter large, names large, a full stop.

    Parameters
    ----------
    words
        Words without punctuation.
    names
        Words that are written with a capital letter.

    Examples
    --------
    >>> written(["he", "meets", "anna"], {"Anna"}), written([])
    ('He meets Anna.', '')
    """
    if not words:
        return ""
    large = {name.lower(): name for name in names}
    text = " ".join(large.get(word.lower(), word) for word in words)
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


class Punctuator(Protocol):
    """The interface of a punctuator, which adds punctuation to words."""

    def punctuate(self, words: Sequence[HeardWord]) -> list[HeardWord]:
        """Return the same words with punctuation after them."""
        ...


class ModelPunctuator:
    """A token classifier whose labels are marks (``.``, ``,``, ``?`` ... and ``0`` for none), from a folder.

    Parameters
    ----------
    folder
        Folder of a model for transformers.
    """

    def __init__(self, folder: Path) -> None:
        require_files(folder, "config.json", "model.safetensors", model="a token classifier for transformers")
        self._model, self._tokenizer = _load(folder)
        labels: dict[int, str] = self._model.config.id2label
        unknown = next((label for label in labels.values() if label.lower() not in MARKS), None)
        if unknown is not None:
            problem = f"got the label {unknown!r}, expected marks such as '.', ',', '?' and 0"
            raise InputError(problem, path=folder / "config.json", field="id2label")
        self._marks = {number: MARKS[label.lower()] for number, label in labels.items()}

    def punctuate(self, words: Sequence[HeardWord]) -> list[HeardWord]:
        """Return the same words with the marks that the model predicts after them."""
        punctuated: list[HeardWord] = []
        for low in range(0, len(words), AT_ONCE):
            part = words[low : low + AT_ONCE]
            marks = self._marks_of([word.text for word in part])
            punctuated += [word._replace(text=word.text + mark) for word, mark in zip(part, marks, strict=True)]
        return punctuated

    def _marks_of(self, texts: list[str]) -> list[str]:
        """Return the mark after each word: that of its last token."""
        import torch  # noqa: PLC0415 - only this engine needs it

        encoded = self._tokenizer(texts, is_split_into_words=True, return_tensors="pt", truncation=True)
        with torch.inference_mode():
            labels = self._model(**encoded).logits[0].argmax(dim=-1).tolist()
        marks = [""] * len(texts)
        for position, number in enumerate(encoded.word_ids(0)):
            if number is not None:
                marks[number] = self._marks[labels[position]]
        return marks


def _load(folder: Path) -> tuple[Any, Any]:
    """Return the model and the tokenizer of a folder."""
    from transformers import AutoModelForTokenClassification, AutoTokenizer  # noqa: PLC0415 - takes seconds

    try:
        reading(folder / "config.json")
        model = AutoModelForTokenClassification.from_pretrained(folder, local_files_only=True, use_safetensors=True)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, use_fast=True)
    except (OSError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise InputError(f"cannot be loaded as a token classifier ({why})", path=folder) from None
    return model.eval(), tokenizer
